"""Exports: the bytes of every format, laws that hold for any table, and one report in every format.

`TACHOGRAPH_UPDATE_GOLDEN=1 pytest tests/test_exports.py` writes the golden files anew, to be read
in the diff before they are kept.
"""

from __future__ import annotations

import csv
import io
import itertools
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import simplejson
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser

from app.cli.options import OUTPUT_FORMATS
from app.cli.output import report_text
from app.queries.reading import read_transaction
from app.reports.cost_report import CostReport, ReportRequest, report
from app.reports.exports import EXPORTS
from app.reports.exports.text import ABOUT, is_formula, json_text, rows
from app.reports.exports.workbook import LONGEST_TEXT, xlsx_table
from app.text.answers import Answer
from app.text.columns import columns
from ingest.pipeline import ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from schemas.catalogue.columns import RUNS
from schemas.catalogue.metrics import RUN_METRICS
from schemas.rows.cost import CAUSES, CostCause
from schemas.text import one_line
from tests.conftest import StoreOnce, record_text
from tests.examples import examples
from tests.reporting import HOSTILE, READERS, SUMMED, Totals, fill

GOLDEN = Path(__file__).parent / "golden"
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def literal_table() -> pa.Table:
    """Everything that ever broke an export, in three rows."""
    return pa.table(
        {
            "model": ["claude-opus-4-6", '=HYPERLINK("http://x","y")', None],
            "result": [
                "naïve → 1.21×\nsecond | line",
                'said "no", <b>twice</b> \\ `x` *y* _z_ limit_reached',
                "",
            ],
            "runs": pa.array([3, 1, None], pa.int64()),
            "cost_usd": pa.array(
                [Decimal("2.825104150"), Decimal("-0.000000015"), None], pa.decimal128(18, 9)
            ),
            "cost_usd_known": pa.array([2, 1, 0], pa.int64()),
            "parallelism": [1.25, float("nan"), None],
            "is_error": [True, False, None],
            "labels": pa.array(
                [[("branch", "main"), ("who", "a|b")], [], None], pa.map_(pa.string(), pa.string())
            ),
            "models": pa.array(
                [["claude-opus-4-6", "claude-haiku-4-5"], [], None], pa.list_(pa.string())
            ),
            "ended_at": pa.array(
                [
                    datetime(2026, 11, 20, 14, 30, tzinfo=timezone(timedelta(hours=1))),
                    datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC),
                    None,
                ],
                pa.timestamp("us", tz="UTC"),
            ),
        }
    )


TEXTS = [name for name, export in EXPORTS.items() if not export.is_binary]
"""Formats whose bytes are ours alone; those of a workbook or of Parquet also change with their
library, so tests read them back.
"""


@pytest.mark.parametrize("name", TEXTS)
def test_every_format_writes_its_golden_bytes(name: str) -> None:
    """Any change of a format is a change of a file that a reviewer reads."""
    golden = GOLDEN / f"table{EXPORTS[name].suffix}"
    written = EXPORTS[name].write(Answer(literal_table(), "", of={**RUNS, **RUN_METRICS}))
    if os.environ.get("TACHOGRAPH_UPDATE_GOLDEN"):
        golden.write_bytes(written)
    assert written == golden.read_bytes()


def test_no_golden_file_is_left_behind() -> None:
    assert {file.name for file in GOLDEN.glob("table.*")} == {
        f"table{EXPORTS[name].suffix}" for name in TEXTS
    }


def test_golden_files_were_checked_out_as_they_are() -> None:
    """Git may turn LF into CRLF on Windows; .gitattributes forbids it here."""
    files = (path for path in GOLDEN.rglob("*") if path.is_file())
    assert not [file.name for file in files if b"\r\n" in file.read_bytes()]


@pytest.mark.parametrize(("name", "lines"), {"csv": 1, "json": 1, "jsonl": 0, "md": 2}.items())
def test_a_table_without_rows_is_a_file_and_no_error(name: str, lines: int) -> None:
    assert EXPORTS[name].write(Answer(literal_table().slice(0, 0), "")).count(b"\n") == lines


def test_suffixes_are_unique() -> None:
    assert len({export.suffix for export in EXPORTS.values()}) == len(EXPORTS)


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
    """What a cell reads back as.

    NULL as empty, and the apostrophe before what a spreadsheet would run.
    """
    return "" if text is None else f"'{text}" if is_formula(text) else text


@pytest.mark.slow
@given(tables)
def test_any_csv_reads_back_cell_by_cell(table: pa.Table) -> None:
    text = EXPORTS["csv"].write(Answer(table, "")).decode()
    [header, *rows] = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert header == ["text", "amount"]
    assert [row[0] for row in rows] == [as_csv_cell(value) for value in table["text"].to_pylist()]
    assert [Decimal(row[1]) if row[1] else None for row in rows] == table["amount"].to_pylist()
    assert not any(row[0].startswith(FORMULA_STARTS) for row in rows)


@given(st.lists(texts, max_size=5))
def test_a_csv_of_one_column_loses_no_row(values: list[str | None]) -> None:
    """A blank line is no row to most readers."""
    text = (
        EXPORTS["csv"].write(Answer(pa.table({"text": pa.array(values, pa.string())}), "")).decode()
    )
    assert [row[0] for row in csv.reader(io.StringIO(text, newline=""))][1:] == [
        as_csv_cell(value) for value in values
    ]


@pytest.mark.slow
@given(tables)
def test_any_json_and_its_lines_read_back_exactly(table: pa.Table) -> None:
    whole, lines = (EXPORTS[name].write(Answer(table, "")).decode() for name in ("json", "jsonl"))
    *rows, end = lines.split("\n")
    read = [simplejson.loads(line, use_decimal=True) for line in rows]
    assert simplejson.loads(whole, use_decimal=True) == read == table.to_pylist()
    assert not end


@pytest.mark.slow
@given(tables)
def test_a_markdown_table_keeps_its_shape(table: pa.Table) -> None:
    """One line per row and two cells in each, whatever the text."""
    lines = EXPORTS["md"].write(Answer(table, "")).decode().removesuffix("\n").split("\n")
    assert len(lines) == table.num_rows + 2
    assert {line.replace("\\\\", "").replace("\\|", "").count("|") for line in lines} == {3}


def test_the_registry_costs_nothing_to_import() -> None:
    """The command line reads it for its help texts."""
    code = (
        "import sys, app.reports.exports; print(*sorted({'pyarrow', 'simplejson', 'streamlit', "
        "'plotly', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


@pytest.fixture(scope="module")
def awkward(read_once: StoreOnce) -> Store:
    return read_once("awkward", fill)


@pytest.fixture(scope="module")
def whole(awkward: Store) -> CostReport:
    return report(awkward, ReportRequest())


@pytest.fixture(scope="module")
def grouped(awkward: Store) -> CostReport:
    """By what is worst: text of records."""
    return report(awkward, ReportRequest(by=("label:team", "task"), runs=100))


def written(made: CostReport, name: str) -> bytes:
    return (
        report_text(made, 300, exact=True) if name == "table" else EXPORTS[name].write_report(made)
    )


def test_every_format_is_read_back() -> None:
    assert set(READERS) == set(OUTPUT_FORMATS), (
        "every format has a reader in READERS of tests/reporting.py"
    )


@pytest.mark.slow
def test_the_totals_are_the_same_to_the_last_digit_in_every_pair_of_formats(
    whole: CostReport,
) -> None:
    totals: dict[str, Totals] = {name: read(written(whole, name)) for name, read in READERS.items()}
    for first, second in itertools.combinations(totals, 2):
        both = {
            key
            for key in totals[first].keys() & totals[second].keys()
            if key != "duration_median_ms"
        }  # half a millisecond
        assert {key: totals[first][key] for key in both} == {
            key: totals[second][key] for key in both
        }, (first, second)
        assert {"runs", "completed"} <= both
    assert totals["html"].keys() >= {"runs", "cost_best_usd", "duration_ms"}, (
        "the most important ones"
    )
    assert totals["csv"]["cost_usd"] == sum(
        Decimal(f"{n * 12345.678901234 + 0.000000001:.9f}") for n in range(len(HOSTILE))
    ) + Decimal("7e-9")
    assert totals["csv"]["runs"] == len(HOSTILE) + 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["csv", "json", "jsonl"])
def test_many_rows_are_written_in_parts_of_whole_lines(name: str) -> None:
    """A quarter of a million runs took two gigabytes as one text."""
    answer = Answer(pa.table({"n": range(5_000)}), "")
    parts = list(EXPORTS[name].parts(answer))
    assert len(parts) >= 5
    assert b"".join(parts) == EXPORTS[name].write(answer)
    read: dict[str, Callable[[str], list[Any]]] = {
        "csv": lambda text: [int(line) for line in text.split()[1:]],
        "json": lambda text: [row["n"] for row in simplejson.loads(text)],
        "jsonl": lambda text: [simplejson.loads(line)["n"] for line in text.splitlines()],
    }
    assert read[name](b"".join(parts).decode()) == list(range(5_000))


@pytest.mark.parametrize("name", ["csv", "jsonl", "parquet"])
def test_groups_add_up_to_the_totals_in_formats_of_one_table(
    grouped: CostReport, whole: CostReport, name: str, tmp_path: Path
) -> None:
    """As anybody would add them: DuckDB over the file, money as DECIMAL."""
    (file := tmp_path / f"cost.{name}").write_bytes(written(grouped, name))
    source = {
        "csv": f"read_csv('{file}', types={{'cost_usd': 'decimal(38, 9)'}})",
        "jsonl": (
            f"read_json('{file}', "
            f"columns={{{', '.join(f'{key}: ' + chr(39) + 'decimal(38, 9)' + chr(39) for key in SUMMED)}}})"  # noqa: E501
        ),
        "parquet": f"read_parquet('{file}')",
    }[name]
    with duckdb.connect() as connection:
        [sums] = connection.execute(
            f"select {', '.join(f'sum({key})' for key in SUMMED)} from {source}"
        ).fetchall()
    totals = READERS["json"](written(whole, "json"))
    assert dict(zip(SUMMED, map(Decimal, sums), strict=True)) == {
        key: totals[key] for key in SUMMED
    }


def test_parquet_says_what_it_covers(grouped: CostReport) -> None:
    metadata = pq.read_metadata(pa.BufferReader(written(grouped, "parquet"))).metadata
    assert simplejson.loads(metadata[ABOUT])["by"] == ["label:team", "task"]


def test_json_has_every_section_and_the_header(grouped: CostReport) -> None:
    answer = simplejson.loads(written(grouped, "json"), use_decimal=True)
    assert list(answer) == ["report", "summary", *(section.key for section in grouped.sections)]
    assert {row["task"] for row in answer["groups"]} == {*HOSTILE, None}
    assert len(answer["runs"]) == len(HOSTILE) + 2


def book(made: CostReport) -> openpyxl.Workbook:
    return openpyxl.load_workbook(io.BytesIO(written(made, "xlsx")))


def test_a_workbook_has_its_sheets_headers_filters_and_a_chart(grouped: CostReport) -> None:
    workbook = book(grouped)
    assert (
        workbook.sheetnames == "Summary Totals Groups Models Runs Unpriced Findings About".split()
    )
    for name in workbook.sheetnames[2:-1]:
        assert workbook[name].freeze_panes == ("D2" if name == "Runs" else "A2")
        assert workbook[name].auto_filter.ref
    assert (
        "xl/charts/chart1.xml" in zipfile.ZipFile(io.BytesIO(written(grouped, "xlsx"))).namelist()
    )


def test_a_workbook_has_money_as_numbers_and_text_as_text(grouped: CostReport) -> None:
    sheet = book(grouped)["Groups"]
    header = [cell.value for cell in sheet[1]]
    cells = list(sheet.iter_rows(min_row=2))
    assert {cell.data_type for row in cells for cell in row} <= {"n", "s", "d"}
    costs = [row[header.index("Reported cost")] for row in cells]
    assert all("$" in cell.number_format for cell in costs if cell.value is not None)
    groups = [Decimal(repr(cell.value)) for cell in costs[:-1] if cell.value is not None]
    assert (
        sum(groups)
        == Decimal(repr(costs[-1].value))
        == grouped.section("totals").table["cost_usd"][0].as_py()
    )
    assert {row[0].value for row in cells} >= {
        text for text in HOSTILE if text.isprintable() and not text.startswith("<r>")
    }


def test_a_workbook_has_days_and_months_as_dates_and_causes_as_words(store: Store) -> None:
    undated = record_text(uuid="undated", session_id="undated", total_cost_usd=2)
    run = record_text(uuid="dated", session_id="dated", total_cost_usd=1)
    dated = f'{{"type":"user","timestamp":"2026-03-05T12:00:00Z","session_id":"dated"}}\n{run}'
    ingest([Source("undated", undated.encode()), Source("dated", dated.encode())], store)
    with read_transaction(store) as transaction:
        made = {
            by: book(report(transaction, ReportRequest(by=(by,))))["Groups"]
            for by in ("day", "month", "cause")
        }
    for by, number_format, day in (("day", "yyyy-mm-dd", 5), ("month", "yyyy-mm", 1)):
        column = [row[0] for row in made[by].iter_rows(min_row=2)]
        assert (column[0].value, column[0].number_format) == (datetime(2026, 3, day), number_format)  # noqa: DTZ001  a workbook has no zones
        assert [cell.value for cell in column[1:]] == ["no date", "Total"]
    causes = [row[0].value for row in made["cause"].iter_rows(min_row=2)]
    assert (
        {CAUSES[CostCause.HELPER_MODEL_MISSING].label}
        <= set(causes)
        <= {*(cause.label for cause in CAUSES.values()), "unknown", "Total"}
    )


def test_the_sheet_of_runs_has_what_people_open_and_a_table_of_runs_has_all(
    grouped: CostReport,
) -> None:
    header = [cell.value for cell in book(grouped)["Runs"][1]]
    assert header[:4] == ["Title", "Task", "Main model", "Outcome"]
    assert len(header) <= 18
    assert {"Reported cost", "Run"} <= set(header)
    whole = openpyxl.load_workbook(
        io.BytesIO(EXPORTS["xlsx"].write(grouped.section("runs").answer))
    )
    every = {cell.value for cell in whole["Table"][1]}
    assert every > {*header, "Cache reads", "Agent version"}


def test_a_workbook_leads_with_the_figures_of_the_first_page_as_numbers(
    grouped: CostReport,
) -> None:
    rows = {row[0]: row for row in book(grouped)["Summary"].iter_rows(values_only=True)}
    assert Decimal(repr(rows["Total best-known cost"][1])) == grouped.first.totals["cost_best_usd"]
    assert rows["Failure rate"][1] == grouped.first.totals["error_rate"]
    assert list(rows).index("Total best-known cost") < 12


def test_no_cell_of_a_workbook_is_a_formula_not_even_when_it_is_edited(grouped: CostReport) -> None:
    for sheet in book(grouped).worksheets:
        for row in sheet.iter_rows():
            for cell in row:
                assert cell.data_type != "f"
                assert not (
                    isinstance(cell.value, str)
                    and cell.value.startswith(("=", "+", "-", "@"))
                    and not cell.quotePrefix
                ), cell.value


@given(tables)
@examples(6)
def test_any_workbook_reads_back(table: pa.Table) -> None:
    """Amounts to the last digit: below four million dollars a double holds nine places."""
    small = table.filter(
        pa.array(
            [value is None or abs(value) < 4_000_000 for value in table["amount"].to_pylist()],
            pa.bool_(),
        )
    )
    sheet = openpyxl.load_workbook(io.BytesIO(xlsx_table(Answer(small, "")))).worksheets[0]
    rows = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2, max_col=2)]
    assert [
        round(Decimal(repr(row[1])), 9) if row[1] is not None else None
        for row in rows[: small.num_rows]
    ] == small["amount"].to_pylist()
    assert not [cell for row in sheet.iter_rows() for cell in row if cell.data_type == "f"]


def test_a_total_of_more_digits_than_a_cell_holds_stands_beside_it(store: Store) -> None:
    runs = [
        record_text(uuid=cost, session_id=cost, total_cost_usd=float(cost), modelUsage=...)
        for cost in ("87654321", "0.123456789")
    ]
    ingest([Source("two", "\n".join(runs).encode())], store)
    rows = {
        row[0]: row
        for row in book(report(store, ReportRequest()))["Totals"].iter_rows(values_only=True)
    }
    assert rows["Reported cost"][3] == "$87,654,321.123456789"
    assert rows["Turns"][3] is None


def test_a_text_longer_than_a_cell_is_cut_and_says_so() -> None:
    sheet = openpyxl.load_workbook(
        io.BytesIO(xlsx_table(Answer(pa.table({"text": ["x" * 40_000]}), "")))
    ).worksheets[0]
    assert (len(str(sheet["A2"].value)), str(sheet["A2"].value)[-1]) == (LONGEST_TEXT - 1, "…")


class Tags(HTMLParser):
    """Which elements and attributes a page has, and the text of its cells."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.cells: list[str] = []
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "span":  # a cell may be muted, or have a hint
            self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "td":
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] == ["td"]:
            self.cells[-1] += data


@pytest.mark.slow
@given(tables)
@examples(25)
def test_no_text_is_markup_in_a_page(table: pa.Table) -> None:
    page = Tags(EXPORTS["html"].write(Answer(table, "")))
    assert (
        len(page.tags)
        == len(Tags(EXPORTS["html"].write(Answer(table.slice(0, 0), ""))).tags) + 3 * table.num_rows
    )
    assert page.attributes <= {
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
        "title",
        "scope",
    }
    column = columns(table)[0]
    shown = [one_line(column.text(row)) for row in table.to_pylist()]
    assert [cell.strip("\n") for cell in page.cells[::2]] == [text.strip("\n") for text in shown]


@pytest.mark.xdist_group("browser")
def test_a_page_draws_its_charts_without_a_network_a_complaint_or_a_strangers_script(
    grouped: CostReport, browser: Browser, tmp_path: Path
) -> None:
    (file := tmp_path / "cost.html").write_bytes(written(grouped, "html"))
    with browser.new_page() as page:
        said: list[str] = []
        asked: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file.as_uri())
        page.wait_for_function("document.querySelectorAll('.chart .main-svg').length >= 2")
        drawn = page.locator(".chart").count()
    assert (drawn, said, asked) == (2, [], [file.as_uri()])


def test_columns_of_json_are_written_as_values() -> None:
    """A column writer that words a time, a decimal or a text otherwise than `json_text`."""
    sql = r"""
        select unnest([0.000000015, -12.3, null]::decimal(18, 9)[]) as "usd 100%s",
            unnest(['2026-11-01 10:00:00Z', '1969-12-31 23:59:59.5Z', null]::timestamptz[]) as at,
            unnest(['a "b"', chr(8232) || chr(127) || chr(27), null]) as text,
            unnest([1e22, 'nan', -0.0]::double[]) as number, unnest([true, false, null]) as is_so,
            unnest([map {'%s': null}, map {}, null]::map(varchar, varchar)[]) as labels
    """
    table = duckdb.connect().execute(sql).to_arrow_table()
    lines = EXPORTS["jsonl"].write(Answer(table, "")).decode().splitlines()
    assert lines == [json_text(row) for row in rows(table)]
