"""OpenAI's Codex: events of `codex exec --json`, rollout files, and text logs of `codex exec`."""
