"""Names in filters that no run has: what was mistyped, and what there is to choose from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb

from app.queries.filters import EXCLUDED, FILTERS, Filters, Kind, where
from app.queries.run_ids import SESSION
from ingest.store.database import Store

MOST_KNOWN = 10_000
"""Names that are compared with a mistyped one."""


@dataclass(frozen=True)
class Unmatched:
    """A value of a filter that no run has, and the values that runs have, the most frequent first."""

    key: str
    value: str
    known: list[str]


class CheckedStore(Store):
    """A store that looks for the names in filters when it is read: at the end of the first reading, in its transaction.

    `unmatched`: the names that no run has.
    """

    def __init__(self, location: str, wait_seconds: float, on_wait: Callable[[str], object], filters: Filters) -> None:
        super().__init__(location, wait_seconds, on_wait)
        self.unmatched: list[Unmatched] = []
        self.look_for(filters)

    def look_for(self, filters: Filters) -> None:
        """Look for the names in these filters instead, at the end of the next reading."""
        self._names = [(key, value) for key, values in filters.chosen if _is_of_names(key) for value in values]

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """As that of any store. Raises StoreError."""
        with super().reading() as connection:
            yield connection
            names, self._names = self._names, []
            missing = [(key, value) for key, value in names if not _is_there(connection, key, value)]
            self.unmatched += [Unmatched(key, value, _known(connection, key)) for key, value in missing]


def _is_of_names(key: str) -> bool:
    return FILTERS[key].kind is Kind.NAMES and bool(_options(key))


def _options(key: str) -> str:
    """What there is to choose from. A screen does not list sessions, but a mistyped one is like any name."""
    return "session_id" if key == SESSION else FILTERS[key].options


def _is_there(connection: duckdb.DuckDBPyConnection, key: str, value: str) -> bool:
    condition = where(Filters(((key, (value,)), (EXCLUDED, ("all",)))))
    return bool(connection.execute(f"select 1 from v_runs where {condition.sql} limit 1", condition.parameters).fetchall())


def _known(connection: duckdb.DuckDBPyConnection, key: str) -> list[str]:
    values = f"select {_options(key)} as value from v_runs"
    ranked = "group by value order by count(*) desc, value limit $most"
    found = connection.execute(f"select value from ({values}) where value is not null {ranked}", {"most": MOST_KNOWN})
    return [str(value) for (value,) in found.fetchall()]
