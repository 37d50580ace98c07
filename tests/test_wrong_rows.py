"""A reader that builds a wrong row.

Its record is rejected with column and value, and every other record goes on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pyarrow as pa
import pytest

import ingest.agents.readers
from app.queries import quality as quality_queries
from ingest.agents.base import CHILD_TABLES, FACTS, AgentReader, Found, Rows
from ingest.agents.claude_code.results import ClaudeCode
from ingest.facts import NO_FACTS, Facts
from ingest.findings.rules import Finding
from ingest.findings.summary_facts import complete
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.store.database import Store
from ingest.store.rebuild import RebuildReport, rebuild
from ingest.store.record_rows import checked_tables, read_record
from schemas.errors import RejectReason
from schemas.rows.row import LARGEST_INT, Row
from schemas.rows.run import PatchFileRow, PatchRow, ToolCallRow
from schemas.rows.source import Severity
from schemas.rows.tables import TABLES, arrow_schema
from tests.conftest import ingest_paths, record, record_text
from tests.examples import a_share

SUMMARY = """Committed as 1a2b3c4. Benchmarks show that the query is 3x faster (90 ms → 30 ms).

Files modified:
- `a/b.py` (3 insertions, 1 deletion)"""

LAST_TIME = datetime.max.replace(tzinfo=timezone(timedelta(hours=-9)))
"""In UTC it is of the year 10,000."""

FIRST_TIME = datetime.min.replace(tzinfo=timezone(timedelta(hours=9)))

WRONG: dict[pa.DataType, tuple[Any, ...]] = {
    pa.string(): (7, 1.5, True, b"\xff\xfe", ("a",)),
    pa.bool_(): (1, "true", 0.0),
    pa.int64(): (1.5, "7", True, -1, LARGEST_INT + 1, 10**5000),
    pa.float64(): ("1.5", float("nan"), float("inf"), True),
    pa.date32(): ("2026-01-01", 7, LAST_TIME),
    pa.timestamp("us", tz="UTC"): (
        "2026-01-01T00:00:00Z",
        7,
        datetime(2026, 1, 1),  # noqa: DTZ001
        FIRST_TIME,
        LAST_TIME,
    ),
    pa.decimal128(18, 9): (0.1, 1, "0.1", Decimal("NaN"), Decimal(10**12), Decimal("1e-12")),
    pa.list_(pa.string()): (("a", 1), "a", ["a"], (None,)),
    pa.list_(pa.decimal128(18, 9)): ((0.1,), (Decimal(10**12),), Decimal(1)),
    pa.map_(pa.string(), pa.string()): ({"a": 1}, {1: "a"}, {"a": None}, "a"),
}
"""By the type of a column: values that it does not take."""

GIVEN_LATER = ("claims", "claimed_", "findings", "error_findings", "title")
"""Columns of runs that follow from the summary, whatever the reader puts there."""


class Wrong(NamedTuple):
    """A value that a column of a table does not take."""

    table: str
    column: str
    value: Any


def wrong_values(table: str) -> list[Wrong]:
    """Of every column of a table."""
    nulls = [
        Wrong(table, field.name, None)
        for field in arrow_schema(TABLES[table])
        if not field.nullable
    ]
    values = (
        Wrong(table, field.name, value)
        for field in arrow_schema(TABLES[table])
        for value in (object(), *WRONG[field.type])
    )
    return nulls + [
        one for one in values if not (one.column == "record_rank" and one.value == -1)
    ]  # telemetry ranks below all others


def one_of_each(wrongs: list[Wrong]) -> list[Wrong]:
    """One of each column, and one of each kind that is wrong in columns of a type.

    The same in other columns is left out.
    """
    kept, columns, kinds = [], set(), set()
    for wrong in wrongs:
        of = WRONG[arrow_schema(TABLES[wrong.table]).field(wrong.column).type]
        kind = id(of), next((place for place, value in enumerate(of) if value is wrong.value), None)
        if wrong.column not in columns or kind not in kinds:
            kept.append(wrong)
        columns.add(wrong.column)
        kinds.add(kind)
    return kept


def full_rows(document: Document) -> Rows:
    """The rows of a record of Claude Code, with calls and a patch."""
    reader = ClaudeCode()
    [found] = (*reader.feed(document), *reader.end())
    assert isinstance(found, Found)
    rows = found.rows(NO_FACTS)
    run_id = rows.run.run_id
    calls = (ToolCallRow(run_id=run_id, tool="Bash", calls=2, errors=1),)
    patch = (PatchFileRow(run_id=run_id, path="a/b.py", insertions=3, deletions=1),)
    text = (PatchRow(run_id=run_id, file_name="a.diff", bytes=3, is_cut=False, text="+1\n"),)
    return rows._replace(
        run=rows.run.completed({"agent": Careless.agent}),
        tool_calls=calls,
        patch_files=patch,
        patches=text,
    )


def with_value(rows: Rows, wrong: Wrong) -> Rows:
    """The rows with the wrong value in one of them."""
    table, column, value = wrong
    if table == "runs":
        return rows._replace(run=rows.run.completed({column: value}))
    first, *others = getattr(rows, table)
    changed: dict[str, Any] = {table: (_changed(first, table, column, value), *others)}
    return rows._replace(**changed)


def _changed(
    row: Row | tuple[Any, ...], table: str, column: str, value: Any
) -> Row | tuple[Any, ...]:
    if isinstance(row, Row):
        return row.completed({column: value})
    names = [name for name in TABLES[table].columns if name not in ("run_id", FACTS[table])]
    return tuple(
        value if name == column else former for name, former in zip(names, row, strict=True)
    )


class Careless(AgentReader):
    """An agent whose records are `{"type": "careless", "wrong": n, "record": …}`.

    Its reader puts the n-th wrong value into a row.
    """

    agent: ClassVar[str] = "careless-agent"
    build: ClassVar[Callable[[Rows, int], Rows]]

    @staticmethod
    def recognises(document: Document) -> bool:
        return bool(document.value.get("type") == "careless")

    def feed(self, document: Document) -> Iterable[Found]:
        inner = Document(document.ordinal, document.position, json.dumps(document.value["record"]))
        rows = type(self).build(full_rows(inner), document.value["wrong"])
        return (Found(document, NO_FACTS, None, lambda _: rows),)


def registered(monkeypatch: pytest.MonkeyPatch, build: Callable[[Rows, int], Rows]) -> None:
    monkeypatch.setattr(Careless, "build", staticmethod(build), raising=False)
    monkeypatch.setitem(ingest.agents.readers.BY_TYPE, "careless", (Careless,))


def careless_log(path: Path, count: int, **good: Any) -> Path:
    """A log of so many records of the careless agent, and between them records of Claude Code."""
    lines = []
    for number in range(count):
        broken = record(uuid=f"wrong-{number}", session_id=f"wrong-{number}", result=SUMMARY)
        lines += [record_text(uuid=f"right-{number}", session_id=f"right-{number}", **good)]
        lines += [json.dumps({"type": "careless", "wrong": number, "record": broken})]
    path.write_text("\n".join(lines))
    return path


TABLES_OF_READERS = ("runs", "model_usage", "tool_calls", "patch_files", "patches")


def test_a_wrong_value_costs_its_record_alone(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong value in each column in turn.

    Of every kind, as they follow one another, in one of the columns of a type.

    Every kind in every column: `test_every_wrong_value_is_found_wherever_it_is`.
    """
    every = (wrong_values(table) for table in TABLES_OF_READERS)
    wrongs = [
        one
        for wrongs in every
        for one in one_of_each([one for one in wrongs if not _is_given_later(one)])
    ]
    registered(monkeypatch, lambda rows, number: with_value(rows, wrongs[number]))
    report = ingest_paths(store, careless_log(tmp_path / "log.jsonl", len(wrongs)))
    count = len(wrongs)
    assert [
        report.total(name)
        for name in ("documents", "accepted", "duplicates", "rejected", "ignored")
    ] == [
        2 * count,
        count,
        0,
        count,
        0,
    ]
    rejects = sorted(
        quality_queries.every_reject(store).to_pylist(),
        key=lambda reject: int(reject["position"].split(",")[0].split()[1]),
    )
    for (table, column, _), reject in zip(wrongs, rejects, strict=True):
        assert reject["reason"] == RejectReason.READER_DEFECT
        assert reject["detail"].startswith(f"{table}.{column}: "), reject["detail"]
        assert "please report it" in reject["detail"]
        assert reject["excerpt"].startswith('{"type": "careless"')
        assert len(reject["detail"]) < 500
    with store.reading() as connection:
        assert connection.execute(
            "select count(*) from runs where run_id not like 'right-%'"
        ).fetchone() == (0,)


def _is_given_later(wrong: Wrong) -> bool:
    return wrong.table == "runs" and wrong.column.startswith(GIVEN_LATER)


@pytest.mark.slow
@pytest.mark.parametrize("table", ["runs", *CHILD_TABLES])
def test_every_wrong_value_is_found_wherever_it_is(table: str) -> None:
    """Also in the tables of what our own rules find in a summary.

    Of the columns that follow from their places none can be wrong.
    """
    read = read_record(Document(0, "line 1", record_text(result=SUMMARY)), NO_FACTS)
    assert read
    [good] = complete([read])
    full = full_rows(Document(0, "line 1", record_text(uuid="full", result=SUMMARY)))
    full = good._replace(
        run=good.run.completed({"run_id": "full"}),
        tool_calls=full.tool_calls,
        patch_files=full.patch_files,
        patches=full.patches,
    )
    full = full._replace(
        claims=good.claims, file_changes=good.file_changes, statements=good.statements
    )
    full = full._replace(findings=(Finding("rule", Severity.INFO, "message"),))
    own = ("run_id", FACTS.get(table)) if table in FACTS else ()
    wrongs = a_share((wrong for wrong in wrong_values(table) if wrong.column not in own), 4)
    made = [rows for wrong in wrongs for rows in (good, with_value(full, wrong))]
    tables, refused = checked_tables(made)
    assert sorted(refused) == list(range(1, len(made), 2))
    assert [str(refused[2 * number + 1]).partition(": ")[0] for number in range(len(wrongs))] == [
        f"{table}.{w.column}" for w in wrongs
    ]
    [runs] = [made for made in tables if made.name == "runs"]
    assert (runs.rows.num_rows, list(runs.records)) == (len(wrongs), list(range(len(wrongs))))


DEFECTS: dict[str, Callable[[Any], Any]] = {
    "a column that is not there": lambda rows: rows.run.completed({"turns": 1}),
    "a row of another table": lambda rows: rows._replace(patch_files=rows.tool_calls),
    "no row": lambda rows: rows._replace(run=None),
    "rows that are none": lambda rows: rows._replace(model_usage=5),
    "an exception": lambda _: int("seven"),
    "nothing at all": lambda _: None,
}


def test_a_reader_that_breaks_costs_its_record_alone(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    defects = [*DEFECTS.values()]
    registered(monkeypatch, lambda rows, number: defects[number](rows))
    report = ingest_paths(store, careless_log(tmp_path / "log.jsonl", len(defects)))
    assert (report.total("accepted"), report.total("rejected")) == (len(defects), len(defects))
    for reject in quality_queries.every_reject(store).to_pylist():
        assert reject["reason"] == RejectReason.READER_DEFECT
        assert "bug in Tachograph's reader for careless-agent" in reject["detail"]


def test_the_value_is_said_as_it_was_given(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered(
        monkeypatch, lambda rows, _: rows._replace(run=rows.run.completed({"num_turns": 1.5}))
    )
    ingest_paths(store, careless_log(tmp_path / "log.jsonl", 1))
    [reject] = quality_queries.every_reject(store).to_pylist()
    assert reject["detail"] == (
        "runs.num_turns: Input should be a valid integer (found 1.5); this is a bug in "
        "Tachograph's reader for careless-agent, not in the record: please report it"
    )


def test_a_rebuild_goes_on_past_a_wrong_row(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Worse(ClaudeCode):
        """A newer reader, which makes something wrong of one record."""

        def feed(self, document: Document) -> Iterable[Found | Unreadable]:
            return map(self._worse, super().feed(document))

        def end(self) -> Iterator[Found | Unreadable]:
            return map(self._worse, super().end())

        def _worse(self, found: Found | Unreadable) -> Found:
            assert isinstance(found, Found)
            wrong = Wrong("model_usage", "input_tokens", 0.5)

            def make(facts: Facts) -> Rows:
                rows = found.rows(facts)
                return with_value(rows, wrong) if rows.run.run_id == "right-1" else rows

            return found._replace(make=make)

    log = tmp_path / "log.jsonl"
    log.write_text(
        "\n".join(
            record_text(uuid=f"right-{number}", session_id=f"right-{number}") for number in range(3)
        )
    )
    ingest_paths(store, log)
    monkeypatch.setattr(ingest.agents.readers, "ClaudeCode", Worse)
    monkeypatch.setitem(ingest.agents.readers.BY_TYPE, "result", (Worse,))
    assert rebuild(store) == RebuildReport(runs=2, rejects=1)
    [reject] = quality_queries.every_reject(store).to_pylist()
    assert reject["detail"].startswith("model_usage.input_tokens: ")
    [source] = quality_queries.every_source(store).to_pylist()
    assert (source["documents"], source["accepted"], source["rejected"]) == (3, 2, 1)


WORDS = ("outcome", "cost_cause", "price_status", "record_kind", "tokens_basis")
"""Columns that take but a few words."""

LARGEST: dict[pa.DataType, Any] = {
    pa.string(): "\0" + "ü" * 10_000,
    pa.bool_(): True,
    pa.int64(): LARGEST_INT,
    pa.float64(): 1e308,
    pa.timestamp("us", tz="UTC"): datetime.max.replace(tzinfo=timezone.utc),  # noqa: UP017
    pa.decimal128(18, 9): Decimal("999999999.999999999"),
    pa.list_(pa.string()): ("a",) * 1000,
    pa.list_(pa.decimal128(18, 9)): (Decimal("999999999.999999999"),) * 1000,
    pa.map_(pa.string(), pa.string()): {"a": "b" * 10_000},
}


def test_the_largest_value_that_a_column_takes_ends_no_ingest(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does it make a view that cannot be read.

    In each column in turn, and in all numbers of a table at once.
    """
    cases: list[list[tuple[str, pa.Field]]] = []
    for table in TABLES_OF_READERS:
        fields = [
            (table, one)
            for one in arrow_schema(TABLES[table])
            if one.type in LARGEST and one.name not in (*WORDS, "run_id")
        ]
        cases += [
            *([one] for one in fields),
            [one for one in fields if not pa.types.is_string(one[1].type)],
        ]

    def build(rows: Rows, number: int) -> Rows:
        for table, field in cases[number]:
            rows = with_value(rows, Wrong(table, field.name, LARGEST[field.type]))
        return rows

    registered(monkeypatch, build)
    report = ingest_paths(store, careless_log(tmp_path / "log.jsonl", len(cases)))
    assert (quality_queries.every_reject(store).to_pylist(), report.total("accepted")) == (
        [],
        2 * len(cases),
    )
    with store.reading() as connection:
        for (view,) in connection.execute(
            "select view_name from duckdb_views() where not internal"
        ).fetchall():
            connection.sql(f"select * from {view}").to_arrow_table().to_pylist()
