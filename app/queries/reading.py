"""How a request reads the store.

In one transaction, with each search run once, and without private texts in exports.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import chain, groupby
from mmap import ACCESS_READ, mmap
from operator import itemgetter
from threading import RLock
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from app.queries import Row, Rows
from app.queries.filters import (
    COPIES,
    EVERY_RUN,
    EXCLUDED,
    FILTERS,
    SEARCH,
    SEARCHED,
    TIME,
    UNCOUNTED,
    UNDATED,
    Filters,
    has_period,
    where,
    with_found,
    without_period,
)
from ingest.store.database import Store, arrow
from ingest.store.opening import ALIAS, VIEWS, bound_late, sql_of
from ingest.system.files import temporary_folder
from schemas.catalogue.failures import ERROR_SQL, STAND_IN_SQL, TOLD_SQL
from schemas.catalogue.figures import kinds_in
from schemas.catalogue.rules import FINDING_RULES
from schemas.errors import UsageError
from schemas.text import did_you_mean, one_line


class Undated(NamedTuple):
    """Runs without a recorded date.

    Their number, best-known cost, and the kinds of bounds in it (`lower_bound, upper_bound`).
    """

    runs: int = 0
    usd: Decimal | None = None
    bounds: str = ""

    @classmethod
    def of(cls, facts: Row, name: str) -> Undated:
        """Return it from its facts."""
        return cls(*(facts[f"{name}_{key}"] for key in cls._fields))

    @property
    def costs(self) -> dict[str, Any]:
        """Return its cost by the names of columns."""
        return {"cost_best_usd": self.usd, "cost_best_bounds": self.bounds}

    def facts(self, name: str) -> dict[str, Any]:
        """Return the same for programs, each key after the name: `undated_runs`."""
        return {f"{name}_{key}": value for key, value in self._asdict().items()}


ALL_DATED = Undated()


def undated(store: Store, filters: Filters) -> Undated:
    """Return the matching runs that spent at no recorded time, none with a period.

    Raises StoreError.
    """
    condition = where(filters)
    sql = f"""
        select count(*) as runs, sum(cost_best_usd) as usd,
            coalesce({kinds_in("cost_best_bounds")}, '') as bounds
        from v_runs where {condition.sql} and dated_at is null
            and run_id not in (select run_id from responses where "at" is not null)"""
    [row] = fetch_rows(store, sql, condition.parameters)
    return Undated(**row)


def left_out(store: Store, filters: Filters) -> Undated:
    """Return the runs without a recorded date that a period leaves out, none without a period.

    Raises StoreError.
    """
    is_cut = has_period(filters) and UNDATED not in filters.values(TIME)
    return undated(store, without_period(filters)) if is_cut else ALL_DATED


def uncounted(store: Store, filters: Filters) -> tuple[int, int]:
    """Return how many matching runs are not counted: (excluded ones, probable copies of others).

    Raises StoreError.
    """
    some = "select exists (from annotations where excluded) or exists (from runs where is_copy)"
    if not fetch_value(store, some):
        return 0, 0  # at once, mostly: `v_runs` takes 20 ms to plan
    leave_out = {key: not filters.values(key) for key in UNCOUNTED}
    for key in filter(leave_out.get, leave_out):
        filters = filters.with_values(key, ["all"])
    condition = where(filters)
    sql = f"""
        with left_out as (select excluded and {leave_out[EXCLUDED]} as excluded, is_copy and
            {leave_out[COPIES]} as is_copy
            from v_runs where {condition.sql})
        select count(*) filter (excluded) as excluded, count(*) filter (is_copy and not excluded) as
            copies from left_out"""
    [row] = fetch_rows(store, sql, condition.parameters)
    return row["excluded"], row["copies"]


def fetch(store: Store, sql: str, parameters: dict[str, Any] | None = None) -> pa.Table:
    """Return the rows of a query on the current store. Raises StoreError."""
    with store.reading() as connection:
        return arrow(connection, sql, parameters)


def fetch_rows(store: Store, sql: str, parameters: dict[str, Any] | None = None) -> Rows:
    """Return the same as Python's values. Raises StoreError."""
    rows: Rows = fetch(store, sql, parameters).to_pylist()
    return rows


def fetch_value(store: Store, sql: str, parameters: dict[str, Any] | None = None) -> Any:
    """Return the only value of a query. Raises StoreError."""
    return fetch(store, sql, parameters).column(0)[0].as_py()


def fetch_by_run(
    store: Store, sql: str, run_ids: Sequence[str], parameters: Mapping[str, Any] | None = None
) -> dict[str, pa.Table]:
    """Return the rows of a query by run, without its first column; a run may have none.

    That column is the run's id, `$chosen` the condition on it, and the rows are ordered by it
    first. Raises StoreError.
    """
    chosen, bound = "run_id in (select unnest($run_ids))", dict(parameters or {})
    if len(run_ids) == 1:  # planned in half the time
        chosen, bound["run_id"] = "run_id = $run_id", run_ids[0]
    else:
        bound["run_ids"] = [*run_ids]
    table = fetch(store, sql.replace("$chosen", chosen), bound)
    rows, place = table.select(range(1, table.num_columns)), 0
    found = dict.fromkeys(run_ids, rows.slice(0, 0))
    for run_id, same in groupby(table.column(0).to_pylist()):
        count = len(list(same))
        found[run_id] = rows.slice(place, count)
        place += count
    return found


def limited(sql: str, limit: int | None) -> str:
    """Return a query that gives at most `limit` rows; None: all."""
    return sql if limit is None else f"{sql} limit {int(limit)}"


PART_ROWS = 25_000
"""Rows of a long list that are read at once: sorting 250,000 runs with all columns takes 0.5 GB."""

_BEHIND_ALL = b"\xff"
"""Greater than any sort key."""


def parts(
    transaction: ReadTransaction,
    table: str,
    key: str,
    chosen: str,
    parameters: Mapping[str, Any],
    limit: int | None,
) -> list[tuple[str, dict[str, bytes]]]:
    """Return conditions that split a list of rows of the table: SQL from `and` on, its parameters.

    `key`: SQL of the sort key of a row, `chosen`: SQL of the listed rows behind `from`. A short
    list has one condition without effect.
    """
    rows = fetch_value(transaction, f"select count(*) from {table}")
    most = rows if limit is None else min(limit, rows)
    ends = list[bytes]()
    if most > PART_ROWS:  # of the first row of each part, and of the first one behind the limit
        is_end = f"place <= {most} and place % {PART_ROWS} = 1 or place = {most + 1}"
        numbered = f"select {key} as key, row_number() over (order by key) as place from {chosen}"
        sql = f"select key from ({numbered}) where {is_end} order by key"
        ends = fetch(transaction, sql, dict(parameters))["key"].to_pylist()
    if len(ends) < 2:
        return [("", {})]
    within = f" and {key} >= $first and {key} < $next"
    bounds = zip(ends, [*ends[1:], _BEHIND_ALL], range(0, most, PART_ROWS), strict=False)
    return [(within, {"first": first, "next": following}) for first, following, _ in bounds]


def on_disk(tables: Iterator[pa.Table]) -> pa.Table:
    """Return tables of the same columns as one; several lie in a temporary file.

    Raises UsageError.
    """
    first, second = next(tables), next(tables, None)
    if second is None:
        return first
    try:
        with tempfile.TemporaryFile(dir=temporary_folder()) as file:
            with pa.ipc.new_file(file, first.schema) as writer:
                for table in chain([first, second], tables):
                    writer.write_table(table)
            file.flush()
            mapped = mmap(file.fileno(), 0, access=ACCESS_READ)
            return pa.ipc.open_file(pa.py_buffer(mapped)).read_all()
    except OSError as error:
        reason = f"cannot write a temporary file: {error.strerror or error}."
        raise UsageError(reason, "Make room there, or set $TMPDIR to another folder.") from error


def in_order(places: pa.ChunkedArray, read: Callable[[Sequence[int]], pa.Table]) -> pa.Table:
    """Return the rows of the row numbers `places` in their order, without their `place`.

    `read` returns rows, in any order. It is asked for parts as they lie in the store: parts of the
    sorted list lie everywhere, and each would take nearly as long as the whole list.
    """
    lying = sorted(places.to_pylist())
    firsts = range(0, len(lying) or 1, PART_ROWS)
    rows = on_disk(read(lying[first : first + PART_ROWS]) for first in firsts)
    found = {place: row for row, place in enumerate(rows["place"].to_pylist())}
    at = pa.array([found[place] for place in places.to_pylist()], pa.int64())
    rows = rows.drop_columns("place")
    return on_disk(rows.take(at.slice(first, PART_ROWS)) for first in firsts)


_FOUND = f"""
create or replace temp table found as
from found
union all
select $text, place from v_runs where
    {" or ".join(f"contains(lower({column}), lower($text))" for column in SEARCHED)}
union all
select $text, rowid from runs where run_id in (select run_id from file_changes where
    contains(lower(path), lower($text)))
"""
"""Results of the filter `search`, read once: 100,000 texts take less than a second. The table is
recreated each time, since DuckDB 2.0 does not read rows that follow an empty insert in the same
transaction.
"""


def note_found(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    """Add the row numbers of runs with the text to the table `found`.

    A run may occur several times.
    """
    connection.execute("create temp table if not exists found (text varchar, place bigint)")
    connection.execute(_FOUND, {"text": text})


class ExportedStore(Store):
    """A store that can leave texts of sessions out of its queries."""

    leaves_out_every = False
    """Whether the texts of all runs are left out, and not only those of sessions."""

    searched: frozenset[str] | None = None
    """Texts of the filter `search`; they are looked up in `found` before the texts are left out.
    None: nothing is left out.
    """

    def leave_out_texts(self, *filters: Filters) -> None:
        """Leave out texts of sessions from the next reading on.

        `filters`: those of the queries, which still choose the same runs.
        """
        self.searched = (self.searched or frozenset()) | {
            text for one in filters for text in one.values(SEARCH)
        }

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the store for reading. Raises StoreError."""
        with super().reading() as connection:
            if self.searched is not None:
                _leave_out_texts(connection, self.searched, is_every=self.leaves_out_every)
            yield connection


def exported(store: Store, *filters: Filters) -> ExportedStore:
    """Return the same store without texts of sessions, on its own connections."""
    made = ExportedStore(store.location)
    made.leave_out_texts(*filters)
    return made


def _leave_out_texts(
    connection: duckdb.DuckDBPyConnection, searched: Collection[str], *, is_every: bool
) -> None:
    for text in sorted(searched):
        note_found(connection, text)
    meanings = {name: rule.meaning for name, rule in FINDING_RULES.items() if not rule.is_of_record}
    # not registered as a table of Arrow: DuckDB would import pyarrow.dataset, 0.2 s
    rules = (
        "create or replace temp table summary_rules as select unnest($names) as rule, "
        "unnest($meanings) as meaning"
    )
    connection.execute(rules, {"names": list(meanings), "meanings": list(meanings.values())})
    script = sql_of("reading/textless")
    for name, text in (
        ("$every", str(is_every)),
        ("$stand_in", STAND_IN_SQL),
        ("$error_text", ERROR_SQL),
        ("$error_told", TOLD_SQL),
    ):
        script = script.replace(name, text)
    for view in VIEWS:  # the same views, over those that stand in
        script += _temporary(sql_of(f"views/{view}"))
    connection.execute(script)


def _temporary(view: str) -> str:
    return bound_late(view).replace("create or replace view", "create or replace temp view")


@contextmanager
def with_rows(
    store: Store, table: str, condition: str, values: Mapping[str, object]
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection to a store as if a table had only some of its rows, for views as well.

    Raises StoreError.
    """
    with Store(store.location).reading() as connection:
        some = f"select * from {ALIAS}.{table} where {condition}"
        connection.execute(f"create temp table {table} as {some}", values)
        for view in VIEWS:
            connection.execute(_temporary(sql_of(f"views/{view}")))
        yield connection


_FEW_RUNS, _SHORT_BYTES = 5_000, 32 << 20

_SHORT_TEXTS = (
    "select coalesce(sum(strlen(prompt)), 0) + coalesce(sum(strlen(result)), 0) < $bytes from "
    f"{ALIAS}.runs"
)
"""Whether the texts of runs fit into memory: those that repeat themselves compress well in the
store but not there.
"""

_AT_HAND = """
create temp table at_hand as select {columns} from {view};
drop view if exists temp.{view};
alter table at_hand rename to {view}
"""
"""A temporary table hides the view of the same name, also from other views, and has the same rows.
Planning `v_runs` takes ten times as long as reading few rows: of 1,500 runs a query takes 1 ms
instead of 14, the table 75 ms once. The views without texts of sessions take three times as long: a
report into a file took twice as long without this.
"""

_COMMON = re.compile(r"^(?:with )?(\w+) as (\(\n.*?\n\)),?\n", re.MULTILINE | re.DOTALL)
"""A common table expression of a view: its name, its SQL in brackets."""

_ANNOTATIONS = "annotations on annotations.run_id = runs.run_id"
_ANNOTATED = "select runs.rowid as place, annotations.* from annotations join runs using (run_id)"


def _runs_by_place() -> str:
    """Return SQL that makes `v_runs` for one read transaction of a larger store.

    Its common tables are worked out once, and annotations joined by row numbers: a simple query
    over a million runs takes 9 ms of CPU instead of 42, because it neither reads nor joins ids.
    """
    view = sql_of("views/v_runs")
    tables = [*_COMMON.findall(view), ("annotated", _ANNOTATED)]
    made = "".join(f"create temp table {name} as {sql};\n" for name, sql in tables)
    joined = "annotated as annotations on annotations.place = runs.place"
    return made + _temporary(_COMMON.sub("", view).replace(_ANNOTATIONS, joined))


class ReadTransaction(Store):
    """A store whose queries share one connection and one transaction.

    The first query begins it, `end` ends it.

    Writers wait from `begin` to `end`, as for any reader. Threads take turns, because a DuckDB
    connection mixes up concurrent answers. `copy_at`: the number of the query from which on
    `v_runs` is a temporary copy, which costs as much as five queries of the view. `without`:
    columns that the copy leaves out.
    """

    def __init__(
        self, store: Store, copy_at: int | None = None, without: Sequence[str] = ()
    ) -> None:
        super().__init__(store.location)
        self._store = store
        self._copy_at = copy_at
        self._without = without
        self._open = ExitStack()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._searched: set[str] = set()
        self._at_hand: set[str] = set()
        self._kept: dict[tuple[str, str], str] = {}
        self._turn = RLock()
        self._queries = 0
        self.has_few_runs = False

    @property
    def _has_other_views(self) -> bool:
        """Whether the store has its own views without texts of sessions."""
        return isinstance(self._store, ExportedStore) and self._store.searched is not None

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield the connection of the transaction. Raises StoreError."""
        with self._turn:
            connection = self._connection or self.begin(self._store)
            self._queries += 1
            self._prepare(connection)
            yield connection

    def _prepare(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Replace `v_runs` by a cheaper stand-in.

        At once for many runs, for few where many queries are expected.
        """
        if self._queries == 1:
            [(runs,)] = connection.execute(f"select count(*) from {ALIAS}.runs").fetchall()
            self.has_few_runs = runs <= _FEW_RUNS
            if not self._has_other_views:
                self._place.stand_in_for_empty(connection)
            if not self.has_few_runs and not self._has_other_views:
                connection.execute(_runs_by_place())
        if self._queries == self._copy_at and self.has_few_runs:
            short = {"bytes": _SHORT_BYTES}
            if self._without:
                columns = f"* exclude ({', '.join(self._without)})"
                connection.execute(_AT_HAND.format(view="v_runs", columns=columns))
            elif connection.execute(_SHORT_TEXTS, short).fetchall() == [(True,)]:
                connection.execute(_AT_HAND.format(view="v_runs", columns="*"))

    def copy_next(self) -> None:
        """Make the temporary copy with the next query, unless it is there or never wanted."""
        if self._queries < (self._copy_at or 0):
            self._copy_at = self._queries + 1

    def begin(self, store: Store) -> duckdb.DuckDBPyConnection:
        """Open the store, waiting for it as `store` does. Raises StoreError."""
        self._connection = self._open.enter_context(store.reading()).begin()
        return self._connection

    def end(self) -> None:
        """Close the connection. A later query begins another transaction."""
        self._connection = None
        self._queries = 0
        self._searched.clear()
        self._at_hand.clear()
        self._kept.clear()
        self._open.close()

    def searched(self, filters: Filters) -> Filters:
        """Return the filters with each search replaced by the runs it found.

        So texts are read once. Raises StoreError.
        """
        found_before = self._store.searched if isinstance(self._store, ExportedStore) else None
        for text in filters.values(SEARCH):
            if text not in self._searched and text not in (found_before or ()):
                with self.reading() as connection:
                    note_found(connection, text)
                self._searched.add(text)
        return with_found(filters)

    def judge_within(self, band: float) -> None:
        """Treat ratios of measured values up to this distance from 1 as the same (0.05).

        Call it before the first query on verdicts.
        """
        with self.reading() as connection:
            connection.execute(f"set variable band = {float(band)!r}")

    def have_at_hand(self, view: str) -> None:
        """Read a slow view once into a temporary table for all queries. Raises StoreError."""
        if view not in self._at_hand:
            with self.reading() as connection:
                connection.execute(_AT_HAND.format(view=view, columns="*"))
            self._at_hand.add(view)

    def keep(self, sql: str, parameters: Mapping[str, Any]) -> str:
        """Return the name of a temporary table with the answer to a query.

        So the query runs once for several questions. Raises StoreError.
        """
        question = sql, repr(sorted(parameters.items()))
        with self._turn:
            if question not in self._kept:
                name = f"kept_{len(self._kept)}"
                with self.reading() as connection:
                    connection.execute(f"create temp table {name} as {sql}", dict(parameters))
                self._kept[question] = name
            return self._kept[question]


def choose_anew(store: Store, _filters: Filters) -> None:
    """Prepare for the many questions of a screen that has not been drawn with these filters."""
    if isinstance(store, ReadTransaction):
        store.copy_next()


@contextmanager
def read_transaction(
    store: Store, copy_at: int | None = None, without: Sequence[str] = ()
) -> Iterator[ReadTransaction]:
    """Yield a transaction on the store until the end of the block.

    If `store` is a transaction already, it is yielded itself. Raises StoreError.

    `copy_at`, `without`: as of ReadTransaction.
    """
    if isinstance(store, ReadTransaction):
        yield store
        return
    transaction = ReadTransaction(store, copy_at, without)
    with transaction._open:  # so that an error of DuckDB in the block becomes a StoreError there
        yield transaction


MOST_KNOWN = 10_000


@dataclass(frozen=True)
class Unmatched:
    """A filter's value that no run has, and the values that runs have, most frequent first."""

    key: str
    value: str
    known: list[str]

    def __str__(self) -> str:
        return one_line(
            f"No run has {self.key} {self.value!r}. {did_you_mean(self.value, self.known)}"
        ).strip()


def unmatched(store: Store, key: str, value: str) -> Unmatched | None:
    """Return a name or label of a filter that no run has, else None. Raises StoreError."""
    # a screen does not list sessions to choose from, but a mistyped one is like any name
    column = "session_id" if key == "session" else FILTERS[key].options
    if not FILTERS[key].kind.is_many or not column:
        return None
    condition = where(Filters(((key, (value,)), *EVERY_RUN.chosen)))
    having = f"select 1 from v_runs where {condition.sql} limit 1"
    if fetch(store, having, condition.parameters).num_rows:
        return None
    known = f"""
        select value from (select {column} as value from v_runs)
        where value is not null group by value order by count(*) desc, value limit {MOST_KNOWN}"""
    return Unmatched(key, value, [str(row["value"]) for row in fetch_rows(store, known)])


class CheckedStore(ExportedStore):
    """A store that collects notes on filters at the end of the first reading, in its transaction.

    `unmatched`: the names that no run has. `uncounted`: the runs that are not counted. `left_out`:
    the runs that a period leaves out because they have no date. For several filters, the largest
    numbers.
    """

    def __init__(
        self,
        location: str,
        wait_seconds: float,
        on_wait: Callable[[str], object],
        *filters: Filters,
        at: datetime | None = None,
    ) -> None:
        super().__init__(location, wait_seconds, on_wait, at)
        self.unmatched: list[Unmatched] = []
        self.uncounted = (0, 0)
        self.left_out = ALL_DATED
        self._filters = filters

    def look_up(self, *filters: Filters) -> None:
        """Look up these filters instead at the end of the next reading."""
        self._filters = filters
        if self.searched is not None:
            self.leave_out_texts(*filters)

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the store for reading. Raises StoreError."""
        with super().reading() as connection:
            yield connection
            filters, self._filters = self._filters, ()
            if filters:
                self._answer(connection, filters)

    def _answer(self, connection: duckdb.DuckDBPyConnection, filters: Sequence[Filters]) -> None:
        opened = _OpenStore(self.location, connection)
        chosen = [(key, value) for one in filters for key, values in one.chosen for value in values]
        found = (unmatched(opened, key, value) for key, value in dict.fromkeys(chosen))
        self.unmatched = [one for one in found if one]
        counted = filters if self.searched is None else [with_found(one) for one in filters]
        self.uncounted = max((uncounted(opened, one) for one in counted), key=sum)
        self.left_out = max((left_out(opened, one) for one in counted), key=itemgetter(0))


class _OpenStore(Store):
    """A store with an open connection."""

    def __init__(self, location: str, connection: duckdb.DuckDBPyConnection) -> None:
        super().__init__(location)
        self._connection = connection

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield that connection."""
        yield self._connection
