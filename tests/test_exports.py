"""Exports: the bytes of every format, and laws that hold for any table.

`TACHOGRAPH_UPDATE_GOLDEN=1 pytest tests/test_exports.py` writes the golden files anew, to be read in the diff before they are kept.
"""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
import simplejson
from hypothesis import given
from hypothesis import strategies as st

from app.reports.exports import EXPORTS
from app.reports.exports.text import is_formula
from schemas.catalogue.columns import RUNS
from schemas.catalogue.metrics import RUN_METRICS

GOLDEN = Path(__file__).parent / "golden"
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def literal_table() -> pa.Table:
    """Everything that ever broke an export, in three rows."""
    return pa.table(
        {
            "model": ["claude-opus-4-6", '=HYPERLINK("http://x","y")', None],
            "result": ["naïve → 1.21×\nsecond | line", 'said "no", <b>twice</b> \\ `x` *y* _z_ limit_reached', ""],
            "runs": pa.array([3, 1, None], pa.int64()),
            "cost_usd": pa.array([Decimal("2.825104150"), Decimal("-0.000000015"), None], pa.decimal128(18, 9)),
            "cost_usd_known": pa.array([2, 1, 0], pa.int64()),
            "parallelism": [1.25, float("nan"), None],
            "is_error": [True, False, None],
            "labels": pa.array([[("branch", "main"), ("who", "a|b")], [], None], pa.map_(pa.string(), pa.string())),
            "models": pa.array([["claude-opus-4-6", "claude-haiku-4-5"], [], None], pa.list_(pa.string())),
            "ended_at": pa.array(
                [datetime(2026, 11, 20, 14, 30, tzinfo=timezone(timedelta(hours=1))), datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC), None],
                pa.timestamp("us", tz="UTC"),
            ),
        }
    )


TEXTS = [name for name, export in EXPORTS.items() if not export.is_binary]
"""Formats whose bytes are ours alone; those of a workbook or of Parquet also change with their library, so tests read them back."""


@pytest.mark.parametrize("name", TEXTS)
def test_every_format_writes_its_golden_bytes(name: str) -> None:
    """Any change of a format is a change of a file that a reviewer reads."""
    golden = GOLDEN / f"table{EXPORTS[name].suffix}"
    written = EXPORTS[name].write(literal_table(), of={**RUNS, **RUN_METRICS})
    if os.environ.get("TACHOGRAPH_UPDATE_GOLDEN"):
        golden.write_bytes(written)
    assert written == golden.read_bytes()


def test_no_golden_file_is_left_behind() -> None:
    assert {file.name for file in GOLDEN.iterdir()} == {f"table{EXPORTS[name].suffix}" for name in TEXTS}


def test_golden_files_were_checked_out_as_they_are() -> None:
    """Git may turn LF into CRLF on Windows; .gitattributes forbids it here."""
    assert not [file.name for file in GOLDEN.iterdir() if b"\r\n" in file.read_bytes()]


@pytest.mark.parametrize(("name", "lines"), {"csv": 1, "json": 1, "jsonl": 0, "md": 2}.items())
def test_a_table_without_rows_is_a_file_and_no_error(name: str, lines: int) -> None:
    assert EXPORTS[name].write(literal_table().slice(0, 0)).count(b"\n") == lines


def test_names_and_suffixes_are_unique() -> None:
    assert len({export.suffix for export in EXPORTS.values()}) == len(EXPORTS)
    assert [export.name for export in EXPORTS.values()] == list(EXPORTS)


texts = st.none() | st.text() | st.text(alphabet="=+-@\t\r\n,\"' a|é")
amounts = st.none() | st.decimals(min_value=-(10**8), max_value=10**8, places=9)
tables = st.lists(st.tuples(texts, amounts), max_size=8).map(
    lambda rows: pa.table(
        {
            "text": pa.array([text for text, _ in rows], pa.string()),
            "amount": pa.array([amount for _, amount in rows], pa.decimal128(18, 9)),
        }
    )
)


def as_csv_cell(text: str | None) -> str:
    """What a cell reads back as: NULL as empty, and the apostrophe before what a spreadsheet would run."""
    return "" if text is None else f"'{text}" if is_formula(text) else text


@pytest.mark.slow
@given(tables)
def test_any_csv_reads_back_cell_by_cell(table: pa.Table) -> None:
    text = EXPORTS["csv"].write(table).decode()
    [header, *rows] = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert header == ["text", "amount"]
    assert [row[0] for row in rows] == [as_csv_cell(value) for value in table["text"].to_pylist()]
    assert [Decimal(row[1]) if row[1] else None for row in rows] == table["amount"].to_pylist()


@given(st.lists(texts, max_size=5))
def test_a_csv_of_one_column_loses_no_row(values: list[str | None]) -> None:
    """A blank line is no row to most readers."""
    text = EXPORTS["csv"].write(pa.table({"text": pa.array(values, pa.string())})).decode()
    assert [row[0] for row in csv.reader(io.StringIO(text, newline=""))][1:] == [as_csv_cell(value) for value in values]


@pytest.mark.slow
@given(tables)
def test_no_cell_of_a_csv_is_a_formula(table: pa.Table) -> None:
    """A number may begin with a minus; text may not."""
    text = EXPORTS["csv"].write(table).decode()
    assert not [row[0] for row in list(csv.reader(io.StringIO(text, newline="")))[1:] if row[0].startswith(FORMULA_STARTS)]


@pytest.mark.slow
@given(tables)
def test_any_json_reads_back_exactly(table: pa.Table) -> None:
    assert simplejson.loads(EXPORTS["json"].write(table), use_decimal=True) == table.to_pylist()


@pytest.mark.slow
@given(tables)
def test_jsonl_is_the_rows_of_json(table: pa.Table) -> None:
    lines = EXPORTS["jsonl"].write(table).decode().split("\n")
    assert lines.pop() == ""
    assert [simplejson.loads(line, use_decimal=True) for line in lines] == table.to_pylist()


@pytest.mark.slow
@given(tables)
def test_a_markdown_table_keeps_its_shape(table: pa.Table) -> None:
    """One line per row and two cells in each, whatever the text."""
    lines = EXPORTS["md"].write(table).decode().removesuffix("\n").split("\n")
    assert len(lines) == table.num_rows + 2
    assert {line.replace("\\\\", "").replace("\\|", "").count("|") for line in lines} == {3}


def test_the_registry_costs_nothing_to_import() -> None:
    """The command line reads it for its help texts."""
    code = "import sys, app.reports.exports; print(*sorted({'pyarrow', 'simplejson', 'streamlit', 'plotly', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
