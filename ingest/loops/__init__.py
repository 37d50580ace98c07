"""Logs of optimization loops → loops and their experiments."""
