"""The table of agents in docs/inputs.md, from the list of agents.

`python -m tests.agents_table --write` writes it; a test compares it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from schemas.agents import AGENTS, Agent
from schemas.catalogue.columns import RUNS

INPUTS = Path(__file__).parents[1] / "docs" / "inputs.md"
_TABLE = re.compile(r"(?<=<!-- agents -->\n).*?(?=<!-- /agents -->)", re.DOTALL)


def table() -> str:
    """A row per agent: what is read, the versions seen, and what none of its records contains."""
    lines = ["| agent | what is read (versions seen) | not told |", "|---|---|---|"]
    return "\n".join([*lines, *map(_line, AGENTS.values())]) + "\n"


def _line(agent: Agent) -> str:
    read = "; ".join(f"{kind} ({versions})" for kind, versions, *_ in agent.formats)
    untold = ", ".join(
        dict.fromkeys(
            RUNS[key].label.lower() for key in RUNS if key in agent.unrecorded and key not in _TWICE
        )
    )
    return f"| [{agent.label}]({agent.url}) | {read} | {untold or '–'} |"


_TWICE = frozenset(("cost_reported_usd", "duration_api_ms"))
"""Columns as logged, which are told where those of the run are told."""


def written(text: str) -> str:
    """The page with the table."""
    assert _TABLE.search(text), "the page has no place for the table of agents"
    return _TABLE.sub(lambda _: table(), text)


if __name__ == "__main__" and "--write" in sys.argv:
    INPUTS.write_text(written(INPUTS.read_text()))
