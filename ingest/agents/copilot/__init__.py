"""The logs of GitHub's Copilot CLI."""
