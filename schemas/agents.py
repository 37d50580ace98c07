"""The agents whose records are read: how each is called, how it is drawn, and how its records are told from other text.

A new agent is one entry here, its wire models in `schemas/wire/`, and one reader in `ingest/agents/`.
"""

from __future__ import annotations

from dataclasses import dataclass

from schemas.wire import claude_code, codex, inspect_ai, openhands, trae
from schemas.wire.marks import Marks


@dataclass(frozen=True)
class Agent:
    """One agent. `key` is the value of `runs.agent`. `reads`: kinds of its records that are read, with the versions that were seen.

    `untold`: columns of `runs` that none of its records can fill. `colour` and `marker` are those of charts.
    """

    key: str
    label: str
    home: str
    colour: str
    marker: str
    marks: Marks
    reads: tuple[tuple[str, str], ...]
    untold: frozenset[str] = frozenset()


CLAUDE_CODE = Agent(
    "claude-code",
    "Claude Code",
    "https://code.claude.com",
    "#d97757",
    "circle",
    claude_code.MARKS,
    (("result record, stream-json", "0.2–2.1"),),
)
CODEX = Agent(
    "codex",
    "Codex",
    "https://github.com/openai/codex",
    "#0f9d78",
    "square",
    codex.MARKS,
    (("exec --json", "2026"), ("rollout", "0.39–0.104"), ("text log", "0.58–0.87")),
    untold=frozenset(("cost_reported_usd", "cost_own_usd", "duration_api_ms", "duration_api_own_ms")),
)
TRAE = Agent(
    "trae-agent",
    "TRAE",
    "https://github.com/bytedance/trae-agent",
    "#4c6fff",
    "diamond",
    trae.MARKS,
    (("trajectory", "2025-09 to 2025-12"),),
    untold=frozenset(("cost_reported_usd", "cost_own_usd", "duration_api_ms", "duration_api_own_ms", "session_id", "agent_version")),
)
OPENHANDS = Agent(
    "openhands",
    "OpenHands",
    "https://github.com/OpenHands/OpenHands",
    "#c2a01e",
    "cross",
    openhands.MARKS,
    (("events", "SDK 1.x"), ("output.jsonl of evaluations", "0.59, SDK 1.x")),
    untold=frozenset(("duration_ms",)),
)
INSPECT_AI = Agent(
    "inspect-ai",
    "Inspect AI",
    "https://inspect.aisi.org.uk",
    "#3a8fb7",
    "x",
    inspect_ai.MARKS,
    (("log", "0.3.41–0.3.154"),),
    untold=frozenset(("session_id",)),
)
"""A framework of evaluations, most of them not of coding: its runs are told apart by their task."""

AGENTS = {agent.key: agent for agent in (CLAUDE_CODE, CODEX, TRAE, OPENHANDS, INSPECT_AI)}
"""Every agent by its key."""
