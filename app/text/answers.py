"""Answers: rows, the columns people see of them, and what they are about."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from app.queries.filters import NO_FILTERS, Filters
from app.text.formatting import human
from schemas.catalogue.entry import Columns
from schemas.text import plural
from schemas.units import Unit

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Answer:
    """What a command found. `shown` names the columns for people, most important first (none: all of them).

    `total` is the row of all groups together, from a query of its own: medians and shares do not add up. `heading` says how
    many runs are covered, of which store, under which filters. `of` says what the columns are called, count and mean. Columns that are
    `kept` get room before all others, also in a narrow terminal. `note` says what the rows leave out, `hidden` what is hidden of the answer
    until it is asked for: that is told with every format. `available` is how many rows there are, where a limit may have cut them.
    """

    table: pa.Table
    heading: str
    shown: tuple[str, ...] = ()
    total: pa.Table | None = None
    of: Columns = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    note: str = ""
    hidden: str = ""
    available: int | None = None


def undated_words(runs: int, usd: Decimal | None) -> str:
    """`52 runs without a recorded date ($76.19) are in no period and left out.`; empty for none."""
    cost = f" ({human(usd, Unit.USD)})" if usd is not None else ""
    verb = "is" if runs == 1 else "are"
    return f"{plural(runs, 'run')} without a recorded date{cost} {verb} in no period and left out." if runs else ""


def excluded_words(runs: int) -> str:
    """`3 excluded runs are not counted.`; empty for none."""
    return f"{plural(runs, 'excluded run')} {'is' if runs == 1 else 'are'} not counted." if runs else ""


def unattributed_words(usd: Decimal, runs: int) -> str:
    """`$3.75 of 2 runs has no model attribution.`; empty where models account for all of the cost."""
    return f"{human(usd, Unit.USD)} of {plural(runs, 'run')} has no model attribution." if usd > 0 else ""


def heading(what: str, location: str, filters: Filters = NO_FILTERS) -> str:
    """`57 runs · --model claude-opus-4-6 · tachograph.duckdb`."""
    return " · ".join(filter(None, (what, filters.as_words(), location)))
