"""What the registry says of agents, for SQL: a macro for each property, `has_whole_files(agent)`."""

from __future__ import annotations

from schemas.agents import AGENTS


def agents_with(flag: str) -> str:
    """The keys of the agents that have a property, as SQL texts. `flag`: a field of `schemas.agents.Agent` that is true or false."""
    return ", ".join(f"'{agent.key}'" for agent in AGENTS.values() if getattr(agent, flag))


def macro(flag: str) -> str:
    """The statement that makes the macro of a property, for this connection."""
    return f"create or replace temp macro {flag}(agent) as agent in ({agents_with(flag)});"
