"""Kimi Code and Kimi CLI: one agent with two kinds of logs."""
