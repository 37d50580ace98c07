"""Answers: rows, their visible columns, their subject, and notes on what they leave out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import groupby
from typing import TYPE_CHECKING

from app.queries.filters import NO_FILTERS, Filters
from app.text.formatting import UNKNOWN, agent_name, usd
from schemas.agents import AGENTS
from schemas.catalogue.cost_measures import KINDS, REPORTED
from schemas.catalogue.entry import Columns
from schemas.text import agreeing, join_known, plural

if TYPE_CHECKING:
    import pyarrow as pa

    from app.queries.reading import CheckedStore, Undated

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
"""Metric of a group → the column of runs that it adds up. An agent that never reports the column
has no such metric.
"""

_FOLLOWS = {
    "cost_per_turn_usd": "cost_own_usd",
    "cost_delta_usd": "cost_own_usd",
    "parallelism": "duration_api_own_ms",
}


@dataclass(frozen=True)
class Answer:
    """An answer: rows, and the columns that people see of them.

    `shown` names the columns for people, most important first (none: all of them). `total` is the
    row of all groups together, from its own query, since medians and shares do not add up. `about`
    says how many rows or runs of which store, under which filters. `of` has labels, units and
    aggregation of the columns. Columns in `kept` get room first. `note` says what the rows leave
    out, `hidden` what an option would show, in every format. `available` is the number of rows
    before the limit, `order` which of them are here: `{} most expensive`.
    """

    table: pa.Table
    about: str
    shown: tuple[str, ...] = ()
    total: pa.Table | None = None
    of: Columns = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    note: str = ""
    hidden: str = ""
    available: int | None = None
    order: str = "first {}"

    @property
    def heading(self) -> str:
        """Return what the rows are about, and whether they are all.

        `the 50 most expensive of 1,487 runs · tachograph.duckdb`.
        """
        rows = self.table.num_rows
        return (
            f"the {self.order.format(f'{rows:,}')} of {self.about}"
            if rows < (self.available or 0)
            else self.about
        )

    def first(self, most: int | None) -> Answer:
        """Return the answer with at most so many of its rows (None: all)."""
        return replace(self, table=self.table.slice(0, most), available=self.table.num_rows)


def heading(what: str, location: str, filters: Filters = NO_FILTERS) -> str:
    """Return `57 runs · --model claude-opus-4-6 · tachograph.duckdb`."""
    return join_known(" · ", what, filters.as_words(), location)


NO_RUN_ENDED = "no run ended in the period"


def only_spent(usd_then: Decimal | None, bounds: str | None) -> str:
    """Return the money of a period that has responses but no end of a run."""
    return f"**{usd(usd_then, bounds)}** was spent by runs that ended at another time."


SPENT_THEN = (
    "Money and tokens are what was spent in the period, by the times of the responses; numbers "
    "and medians are of the runs that ended in it."
)


def undated_cost(undated: Undated) -> str:
    """Return the best-known cost of runs without a date, ` (≥ $76.19)`, or "" if unknown."""
    return "" if undated.usd is None else f" ({usd(undated.usd, undated.bounds)})"


def whole_runs_words(runs: int) -> str:
    """Return `52 runs without responses count when they ended`, "" for no run."""
    ended = "counts when it ended" if runs == 1 else "count when they ended"
    return f"{plural(runs, 'run')} without responses {ended}" if runs else ""


def undated_words(undated: Undated) -> str:
    """Return `52 runs without a recorded date ($76.19) are in no period and left out.`, or ""."""
    verb = agreeing(undated.runs, "is")
    cost = undated_cost(undated)
    return (
        (
            f"{plural(undated.runs, 'run')} without a recorded date{cost} {verb} in no period "
            "and left out."
        )
        if undated.runs
        else ""
    )


def uncounted_words(excluded: int, copies: int, option: str = "") -> str:
    """Return `3 excluded runs and 1 probably copied run are not counted.`, or "" for none.

    `option` says how to count them: `--{}=all`.
    """
    groups = {"excluded": (excluded, "excluded run"), "copies": (copies, "probably copied run")}
    left_out = {key: plural(runs, noun) for key, (runs, noun) in groups.items() if runs}
    if not left_out:
        return ""
    advice = (
        f" Count them with {' '.join(option.format(key) for key in left_out)}." if option else ""
    )
    return (
        f"{' and '.join(left_out.values())} {'is' if excluded + copies == 1 else 'are'} not "
        f"counted.{advice}"
    )


def uncounted_notes(store: CheckedStore, option: str) -> list[str]:
    """Return the notes on runs without a date in a period, and on runs that are not counted.

    The note on runs that are not counted names the option that counts them.
    """
    return [
        *filter(None, (undated_words(store.left_out), uncounted_words(*store.uncounted, option)))
    ]


def unattributed_words(cost: Decimal, runs: int) -> str:
    """Return `$3.75 of 2 runs has no model attribution.`, or "" if models have all of the cost."""
    return f"{usd(cost)} of {plural(runs, 'run')} has no model attribution." if cost > 0 else ""


def never_reported(agent: str) -> frozenset[str]:
    """Return the columns of runs that no record of the agent fills, and those derived from them."""
    never = AGENTS[agent].unrecorded if agent in AGENTS else frozenset[str]()
    return never | {key for key, source in _FOLLOWS.items() if source in never}


def unreported_note(table: pa.Table, shown: Iterable[str], of: Columns) -> str:
    """Return why cells show a dash, or "" if every dash has another reason.

    Example: `–: not reported by Codex, TRAE (Reported cost, API / wall), SWE-agent (Wall time).`

    `table` has a column `agent` and one row per run. Columns without any value are not shown and
    not named.
    """
    return _unreported(table, {key: key for key in shown if key in table.column_names}, of)


def unreported_groups_note(table: pa.Table, shown: Iterable[str], of: Columns) -> str:
    """Return the same note for a table with a row per agent."""
    return _unreported(
        table,
        {key: COLUMN_OF[key] for key in shown if key in COLUMN_OF and key in table.column_names},
        of,
    )


def _unreported(table: pa.Table, keys: Mapping[str, str], of: Columns) -> str:
    if "agent" not in table.column_names:
        return ""
    agents = table["agent"].to_pylist()
    headers: dict[str, list[str]] = {
        agent: [] for agent in sorted({agent for agent in agents if agent}, key=agent_name)
    }
    for key, column in keys.items():
        if 0 < table[key].null_count < table.num_rows:
            silent = {
                agent
                for agent, value in zip(agents, table[key].to_pylist(), strict=True)
                if agent and value is None
            }
            for agent in silent:
                headers[agent] += [of[key].header] if column in never_reported(agent) else []
    found = [(tuple(mine), agent_name(agent)) for agent, mine in headers.items() if mine]
    parts = [
        f"{', '.join(name for _, name in same)} ({', '.join(mine)})"
        for mine, same in groupby(
            sorted(found, key=lambda one: (-len(one[0]), *one)), key=lambda one: one[0]
        )
    ]
    return f"{UNKNOWN}: not reported by {', '.join(parts)}." if parts else ""
