"""Questions that only screens ask: what a filter can be set to, and figures drawn as bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa

from app.queries.filters.chosen import Filters, where
from app.queries.filters.registry import FILTERS, SEARCHED
from app.queries.read_transaction import read_transaction
from app.queries.runs import RUN_COLUMNS, at_places, cost_columns, fetch
from ingest.store.database import Store
from schemas.catalogue.cost_measures import BEST, LIST
from schemas.catalogue.figures import RUN_FIGURES

MOST_OPTIONS = 300
"""The most values that a filter offers to choose from, and the most models that have a colour of their own."""

BEFORE, EXCERPT = 24, 160
"""Characters of a text before a match, and in all."""


@dataclass(frozen=True)
class Order:
    """One way to order runs: by columns, the first that differs; those without it come last."""

    label: str
    columns: tuple[str, ...]
    direction: str = "desc"

    @property
    def sql(self) -> str:
        """What `order by` takes; runs that are alike follow their ids."""
        return ", ".join([*(f"{column} {self.direction} nulls last" for column in self.columns), "run_id"])

    @property
    def sort_key(self) -> str:
        """SQL of a value by which runs have the same order: to compare all with one is cheaper than to sort them."""
        modified = (f"{column}, '{self.direction} nulls last'" for column in self.columns)
        return f"create_sort_key({', '.join(modified)}, run_id, 'asc nulls last')"


ORDERS = {
    "most-expensive": Order("Cost, high to low", cost_columns(BEST)),
    "least-expensive": Order("Cost, low to high", cost_columns(BEST), "asc"),
    "list-high": Order("List-price cost, high to low", cost_columns(LIST)),
    "list-low": Order("List-price cost, low to high", cost_columns(LIST), "asc"),
    "longest": Order("Duration, long to short", ("duration_ms",)),
    "turns": Order("Turns, high to low", ("num_turns",)),
    "newest": Order("Date, newest first", ("coalesce(ended_at, started_at)",)),
    "received": Order("Recently ingested", ("received_at", "ordinal")),
    "findings": Order("Findings, high to low", ("findings",)),
    "speedup": Order("Claimed speedup, high to low", ("claimed_speedup",)),
} | {figure.word: Order(figure.order, (figure.key,)) for figure in RUN_FIGURES.values() if figure.order}
"""Orders of the list of runs."""


class Contents(NamedTuple):
    """How many runs the store holds, tasks, runs that claim a speedup, measured values, and responses of sessions."""

    runs: int
    tasks: int
    claims: int
    measured: int
    responses: int


def contents(store: Store) -> Contents:
    """What there is to show. Raises StoreError."""
    sql = """
        select count(*) as runs, count(distinct task_key) as tasks, count(claimed_speedup) as claims,
               (select count(*) from measurements) as measured, (select count(*) from responses) as responses
        from v_runs where not excluded"""
    return Contents(**fetch(store, sql).to_pylist()[0])


def saved_views(store: Store) -> dict[str, str]:
    """Name → address of the saved views, by name. Raises StoreError."""
    found = fetch(store, "select name, address from saved_views order by name").to_pylist()
    return {row["name"]: row["address"] for row in found}


def options_by_filter(store: Store, limit: int) -> dict[str, dict[str, int]]:
    """What each filter can be set to: filter → value → runs; at most `limit` values of a filter, the most frequent first."""
    listed = {key: _counted(store, Filters(), key, limit) for key, filter_ in FILTERS.items() if filter_.options}
    return {key: values for key, values in listed.items() if values}


def ranked_models(store: Store) -> list[str]:
    """All models of the store, the most expensive first: the order of colours and legends."""
    order = "sum(cost_own_usd) desc nulls last, sum(cost_list_usd) desc nulls last, model"
    sql = f"select model from model_usage where model is not null group by model order by {order}"
    return [str(model) for model in fetch(store, sql)["model"].to_pylist()]


def _counted(store: Store, filters: Filters, key: str, limit: int) -> dict[str, int]:
    """The same with the number of runs."""
    condition = where(filters)
    sql = f"""
        select value, count(*) as runs from (select {FILTERS[key].options} as value from v_runs where {condition.sql})
        where value is not null group by value order by runs desc, value limit {int(limit)}"""
    table = fetch(store, sql, condition.parameters)
    return dict(zip(map(str, table["value"].to_pylist()), table["runs"].to_pylist(), strict=True))


def runs(store: Store, filters: Filters, order: str, limit: int, offset: int = 0) -> pa.Table:
    """Runs with RUN_COLUMNS in one of ORDERS, `limit` of them from the `offset`th on."""
    condition = where(filters)
    in_order = f"order by {ORDERS[order].sql}"
    chosen = f"select place from v_runs where {condition.sql} {in_order} limit {int(limit)} offset {int(offset)}"
    with read_transaction(store) as transaction:
        places = fetch(transaction, chosen, condition.parameters)["place"].to_pylist()
        return at_places(transaction, RUN_COLUMNS, places, in_order)


class Neighbours(NamedTuple):
    """The runs before and after one in a list, by their ids; its place in the list, from 1, and the length of the list."""

    previous: str | None
    following: str | None
    place: int
    total: int


def neighbours(store: Store, filters: Filters, order: str, run_id: str) -> Neighbours | None:
    """What is around the run in the list that `runs` gives; None where the filters leave it out."""
    condition = where(filters)
    sql = f"""
        with listed as (select run_id, {ORDERS[order].sort_key} as key from v_runs where {condition.sql}),
        mine as (select key as my_key from listed where run_id = $run_id)
        select arg_max(run_id, key) filter (key < my_key) as previous, arg_min(run_id, key) filter (key > my_key) as following,
               1 + count(*) filter (key < my_key) as place, count(*) as total
        from listed cross join mine having count(*) > 0"""
    rows = fetch(store, sql, condition.parameters | {"run_id": run_id}).to_pylist()
    return Neighbours(**rows[0]) if rows else None


def excerpts(store: Store, run_ids: Sequence[str], text: str) -> dict[str, tuple[str, str]]:
    """Run id → where the text stands in it first, a column of SEARCHED or `path`, and the part of that text around it."""
    found = " ".join(f"when contains(lower({column}), lower($text)) then ['{column}', {column}]" for column in SEARCHED)
    sql = f"""
        with changed as (
            select run_id, min(path) as path from file_changes
            where run_id in (select unnest($run_ids)) and contains(lower(path), lower($text)) group by run_id
        ),
        matches as (
            select run_id, case {found} when path is not null then ['path', path] end as match
            from v_runs left join changed using (run_id) where run_id in (select unnest($run_ids))
        ),
        placed as (select run_id, match[1] as place, match[2] as said, strpos(lower(match[2]), lower($text)) as first from matches)
        select run_id, place, regexp_replace(substr(said, greatest(1, first - {BEFORE}), {EXCERPT}), '\\s+', ' ', 'g') as excerpt,
               first <= {BEFORE} as is_start
        from placed where place is not null"""
    rows = fetch(store, sql, {"text": text, "run_ids": list(run_ids)}).to_pylist()
    return {row["run_id"]: (row["place"], _from_a_word(row["excerpt"].rstrip(), is_start=row["is_start"])) for row in rows}


def _from_a_word(excerpt: str, *, is_start: bool) -> str:
    """Without the half word that it begins with, unless the text itself begins there."""
    half, blank, rest = excerpt.partition(" ")
    return excerpt.lstrip() if is_start else f"… {rest}" if blank and len(half) < BEFORE // 2 else f"…{excerpt}"
