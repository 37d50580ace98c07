"""OpenCode's logs."""
