"""Formats of agents' logs, one file per agent.

Lax and complete: unknown fields are kept, enumerations are open.
"""
