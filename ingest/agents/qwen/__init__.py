"""Qwen Code: messages like Claude Code's, and chat files with Google's names."""
