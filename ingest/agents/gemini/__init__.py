"""Gemini CLI: the object of `-o json`, the events of `-o stream-json`, and chat files."""
