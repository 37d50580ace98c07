"""Names in filters that no run has: what was mistyped, and what there is to choose from."""

from __future__ import annotations

from dataclasses import dataclass

from app.queries.filters import EXCLUDED, FILTERS, Filters, Kind, where
from app.queries.read_transaction import read_transaction
from app.queries.runs import fetch
from ingest.store.database import Store

MOST_KNOWN = 10_000
"""Names that are compared with a mistyped one."""


@dataclass(frozen=True)
class Unmatched:
    """A value of a filter that no run has, and the values that runs have, the most frequent first."""

    key: str
    value: str
    known: list[str]


def unmatched(store: Store, filters: Filters) -> list[Unmatched]:
    """The names in the filters that no run of the store has. Raises StoreError."""
    names = [(key, value) for key, values in filters.chosen if FILTERS[key].kind is Kind.NAMES and FILTERS[key].options for value in values]
    if not names:
        return []
    with read_transaction(store) as transaction:
        missing = [(key, value) for key, value in names if not _is_there(transaction, key, value)]
        return [Unmatched(key, value, _known(transaction, key)) for key, value in missing]


def _is_there(store: Store, key: str, value: str) -> bool:
    condition = where(Filters(((key, (value,)), (EXCLUDED, ("all",)))))
    found = fetch(store, f"select 1 from v_runs where {condition.sql} limit 1", condition.parameters)
    return bool(found.num_rows)


def _known(store: Store, key: str) -> list[str]:
    values = f"select {FILTERS[key].options} as value from v_runs"
    ranked = "group by value order by count(*) desc, value limit $most"
    found = fetch(store, f"select value from ({values}) where value is not null {ranked}", {"most": MOST_KNOWN})
    return [str(value) for value in found["value"].to_pylist()]
