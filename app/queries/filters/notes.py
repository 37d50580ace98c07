"""What an answer notes about its filters: names that no run has, probably mistyped, and runs that are not counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from operator import itemgetter

import duckdb

from app.queries.filters.chosen import Filters, where, with_found
from app.queries.filters.registry import EXCLUDED, FILTERS, Kind
from app.queries.run_ids import SESSION
from app.queries.runs import excluded, undated
from app.queries.textless import ExportedStore
from ingest.store.database import Store
from schemas.text import did_you_mean, one_line

MOST_KNOWN = 10_000
"""Names that are compared with a mistyped one."""


@dataclass(frozen=True)
class Unmatched:
    """A value of a filter that no run has, and the values that runs have, the most frequent first."""

    key: str
    value: str
    known: list[str]

    def __str__(self) -> str:
        return one_line(f"No run has {self.key} {self.value!r}. {did_you_mean(self.value, self.known)}").strip()


class CheckedStore(ExportedStore):
    """A store that answers what there is to note about filters: at the end of the first reading, in its transaction.

    `unmatched`: the names that no run has. `excluded`: how many runs are not counted because somebody excluded them. `undated`: how many
    runs, at which cost, are left out by a period because they have no date. Of several filters, the largest numbers.
    """

    def __init__(
        self, location: str, wait_seconds: float, on_wait: Callable[[str], object], *filters: Filters, at: datetime | None = None
    ) -> None:
        super().__init__(location, wait_seconds, on_wait, at)
        self.unmatched: list[Unmatched] = []
        self.excluded = 0
        self.undated: tuple[int, Decimal | None] = (0, None)
        self._filters = filters

    def look_up(self, *filters: Filters) -> None:
        """Look these filters up instead, at the end of the next reading."""
        self._filters = filters
        if self.searched is not None:
            self.leave_out_texts(*filters)

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """As that of any store. Raises StoreError."""
        with super().reading() as connection:
            yield connection
            filters, self._filters = self._filters, ()
            if filters:
                self._answer(connection, filters)

    def _answer(self, connection: duckdb.DuckDBPyConnection, filters: Sequence[Filters]) -> None:
        names = dict.fromkeys((key, value) for one in filters for key, values in one.chosen if _is_of_names(key) for value in values)
        missing = [(key, value) for key, value in names if not _is_there(connection, key, value)]
        self.unmatched = [Unmatched(key, value, _known(connection, key)) for key, value in missing]
        opened = _OpenStore(self.location, connection)
        counted = filters if self.searched is None else [with_found(one) for one in filters]
        self.excluded = max(excluded(opened, one) for one in counted)
        self.undated = max((undated(opened, one) for one in counted), key=itemgetter(0))


class _OpenStore(Store):
    """A store that is read by a connection that is open already."""

    def __init__(self, location: str, connection: duckdb.DuckDBPyConnection) -> None:
        super().__init__(location)
        self._connection = connection

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """That connection."""
        yield self._connection


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
