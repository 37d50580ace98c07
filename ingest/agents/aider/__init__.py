"""Aider: its analytics log, results of its benchmark, and its chat history."""
