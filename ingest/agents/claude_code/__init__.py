"""Claude Code's result records, streams and transcripts."""
