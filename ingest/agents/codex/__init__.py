"""OpenAI's Codex: events of `codex exec --json`, rollout files, and the text log of `codex exec`."""
