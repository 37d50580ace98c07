"""What agents do not report, said beside a table in which it is a dash: a dash alone could be anything. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

import pyarrow as pa

from app.text.columns import agent_name, untold
from app.text.formatting import UNKNOWN
from schemas.catalogue.cost_measures import KINDS, REPORTED
from schemas.catalogue.entry import Columns

COLUMN_OF = {f"{REPORTED.prefix}{kind}": REPORTED.column for kind in KINDS} | {
    "cost_delta_usd": REPORTED.column,
    "cost_compared_usd": REPORTED.column,
    "duration_ms": "duration_ms",
    "duration_median_ms": "duration_ms",
    "duration_api_ms": "duration_api_own_ms",
    "parallelism": "duration_api_own_ms",
    "sessions": "session_id",
    "turns": "num_turns",
    "turns_median": "num_turns",
}
"""The column of runs that a metric adds up: of a group of one agent's runs it is unknown where the agent does not tell that."""


def untold_note(table: pa.Table, shown: Iterable[str], of: Columns) -> str:
    """`–: not reported by Codex, TRAE (Reported cost, API / wall), SWE-agent (Wall time).`; empty where no dash is for that reason.

    `table` has a column `agent` and one row per run. Columns in which nothing is known are not shown, so that nothing is said of them.
    """
    if "agent" not in table.column_names:
        return ""
    return _words(_silent(table, {key: key for key in shown if key in table.column_names}, of))


def untold_groups_note(table: pa.Table, shown: Iterable[str], of: Columns) -> str:
    """The same for a row per agent with metrics of its runs."""
    keys = {key: COLUMN_OF[key] for key in shown if key in COLUMN_OF and key in table.column_names}
    return _words(_silent(table, keys, of)) if "agent" in table.column_names else ""


def _silent(table: pa.Table, keys: Mapping[str, str], of: Columns) -> dict[str, tuple[str, ...]]:
    """Agent → headers of the columns with an unknown value that it cannot tell; `keys` are columns by what they rest on."""
    agents = table["agent"].to_pylist()
    missing: dict[str, list[str]] = {agent: [] for agent in sorted({agent for agent in agents if agent}, key=agent_name)}
    for key, column in keys.items():
        if 0 < table[key].null_count < table.num_rows:
            silent = {agent for agent, value in zip(agents, table[key].to_pylist(), strict=True) if agent and value is None}
            for agent in silent:
                missing[agent] += [of[key].header] if column in untold(agent) else []
    return {agent: tuple(headers) for agent, headers in missing.items() if headers}


def _words(silent: Mapping[str, tuple[str, ...]]) -> str:
    by_headers = sorted(silent.items(), key=lambda item: (-len(item[1]), item[1], agent_name(item[0])))
    parts = [
        f"{', '.join(agent_name(agent) for agent, _ in agents)} ({', '.join(headers)})"
        for headers, agents in groupby(by_headers, key=lambda item: item[1])
    ]
    return f"{UNKNOWN}: not reported by {', '.join(parts)}." if parts else ""
