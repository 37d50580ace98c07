"""D5, D13: text that deceives or commands is escaped for people and exact for programs.

See `schemas.text`.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Dataframe

from app.reports.cost_report import CostReport, ReportRequest, report
from app.reports.exports import EXPORTS
from app.reports.exports.text import is_formula
from app.text.answers import Answer
from app.text.html_parts import code_span
from app.text.text_tables import draw, shown_table
from ingest.store.database import Store
from schemas.text import one_line, paired, visible
from tests.attack.commands import tachograph
from tests.attack.hostile import HOSTILE, NASTY, found_in, nasty_store
from tests.conftest import MadeOnce
from tests.examples import examples

FOR_PEOPLE = ("table", "md", "html", "xlsx")
SCREENS = (
    ("overview", ""),
    ("runs", ""),
    ("runs", "failures"),
    ("tasks", ""),
    ("speedups", ""),
    ("compare", ""),
    ("cost", ""),
    ("cost", "time"),
    ("cost", "sessions"),
    ("reports", ""),
    ("data", ""),
    ("data", "upload"),
)
"""Each screen and its views."""

STORABLE = [one for one in HOSTILE if not "\ud800" <= one <= "\udfff"]
OURS = re.compile(r"\x1b\[[012;]*m")
"""Bold, faint and neither, as tables are drawn."""

texts = st.text(
    st.sampled_from([*STORABLE, *"\u200c\u200d\t\n\r =+-@＝＋－＠'\"<&|*aZ0é"]), max_size=8
)


def unzipped(body: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return "".join(archive.read(name).decode() for name in archive.namelist())


def without_scripts(page: str) -> str:
    """A page without the program that draws its charts, which is not a stranger's.

    Their figures stay.
    """
    return re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)


def written(table: pa.Table, name: str) -> str:
    """A table in a format, as text."""
    if name == "table":
        return draw(shown_table(Answer(table, "")), 200).body.decode()
    body = EXPORTS[name].write(Answer(table, "runs"))
    return unzipped(body) if name == "xlsx" else body.decode()


def unmarked(cell: str) -> str:
    """A cell of CSV without the apostrophe in front of a formula."""
    return cell[1:] if cell.startswith("'") and is_formula(cell[1:]) else cell


@given(st.lists(texts, min_size=1, max_size=4), texts)
@examples(25)
@example(["\n=1+1", "\t@x", " \u200b=x", "＝x", "'=x", "''+", "\x1b=x", "\x00-x"], "=head")
@example(["\ufffe\uffff", "_x001B_", "<r>\x1b</r>", "a\r\nb"], "")
def test_d13_each_format_is_harmless_to_people_and_exact_to_programs(
    cells: list[str], head: str
) -> None:
    name = f"n{head}"
    table = pa.table({name: pa.array(cells), "names": pa.array([cells] * len(cells))})
    for format_ in FOR_PEOPLE:
        assert not found_in(written(table, format_)), format_
    for format_ in ("json", "jsonl"):
        assert not found_in(written(table, format_)), format_
    rows = [{name: cell, "names": cells} for cell in cells]
    assert json.loads(written(table, "json")) == rows
    assert [json.loads(line) for line in written(table, "jsonl").split("\n") if line] == rows
    [header, *lines] = csv.reader(io.StringIO(written(table, "csv"), newline=""))
    assert [unmarked(cell) for cell, _ in lines] == cells
    assert [json.loads(names) for _, names in lines] == [cells] * len(cells)
    assert unmarked(header[0]) == name
    assert (
        pq.read_table(pa.BufferReader(EXPORTS["parquet"].write(Answer(table, ""))))[
            name
        ].to_pylist()
        == cells
    )


@given(st.text(max_size=20) | texts)
def test_signs_take_the_place_of_characters_one_for_one(text: str) -> None:
    assert len(visible(text)) == len(one_line(text)) == len(text)
    assert not found_in(visible(text))
    assert "\n" not in one_line(text)
    assert visible(visible(text)) == visible(text)


@given(st.text(alphabet="`ab \n\r\t[]()!:*$<>/.~#-_", max_size=40))
@example("![x][ref]\n\n[ref]: http://canary.example/reference.png")
@example("``\n\n# x `")
def test_d13_text_in_a_code_span_is_code_and_nothing_else(text: str) -> None:
    """A link's filter value is shown so.

    A blank line in it would end the code, and what follows would be Markdown.
    """
    tokens = MarkdownIt("commonmark").parse(f"Run {code_span(text)}.")
    codes = [child for token in tokens for child in token.children or () if child.type != "text"]
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert [(child.type, child.content.strip()) for child in codes] == (
        [("code_inline", one_line(text).strip())] if text.strip() else []
    )


@pytest.fixture(scope="module")
def nasty(made_once: MadeOnce, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A copy for this process, since some commands write."""
    mine = tmp_path_factory.mktemp("nasty")
    shutil.copytree(made_once("nasty", nasty_store), mine, dirs_exist_ok=True)
    return Store(mine / "runs.duckdb")


def test_d5_every_record_is_kept_with_its_raw_text_and_its_rows_can_be_encoded(
    nasty: Store, tmp_path: Path
) -> None:
    with nasty.reading() as connection:
        [(runs, kept)] = connection.execute(
            "select count(*), count(*) filter (contains(raw, '\\ud800')) from runs"
        ).fetchall()
        [(cwd, tools)] = connection.execute(
            "select cwd, tools from runs where in_stream"
        ).fetchall()
    assert (runs, kept) == (6, 5)  # one is written with the bytes of a half, which are no UTF-8
    assert cwd == tools[0] == paired(f"{NASTY}1")
    done = tachograph("rebuild --db", nasty.location, cwd=tmp_path)
    assert (done.code, found_in(done.stderr), found_in(done.stdout.decode())) == (0, set(), set())
    with nasty.reading() as connection:
        assert connection.execute("select count(*) from runs").fetchall() == [(6,)]


COMMANDS = {
    "report": ("report", "--by", f"label:team,session,{'task'}", "--reprice", "claude-opus-4-6"),
    "report by model": ("report", "--by", "model,outcome"),
    "runs": ("runs",),
    "models": ("models",),
    "claims": ("claims",),
    "findings": ("findings",),
    "verdicts": ("verdicts", "--all"),
    "measurements": ("measurements",),
    "rejects": ("rejects",),
    "sources": ("sources",),
    "compare": (
        "compare",
        "model=claude-opus-4-6",
        f"'label=team={NASTY.translate(dict.fromkeys((0, 0xD800, 0xDFFF)))}'",
    ),
}


TEXT_FORMATS = ("table", *(name for name, export in EXPORTS.items() if not export.is_binary))
EACH_COMMAND = tuple(
    (command, format_, True)
    for command, format_ in zip(COMMANDS, cycle(TEXT_FORMATS), strict=False)
)
TO_A_FILE = tuple((command, format_, False) for command, format_, _ in EACH_COMMAND[1::3])


@pytest.mark.parametrize(("command", "format_", "is_terminal"), EACH_COMMAND + TO_A_FILE)
def test_d13_no_command_sends_a_terminal_what_it_would_obey(
    nasty: Store, tmp_path: Path, command: str, format_: str, *, is_terminal: bool
) -> None:
    """On a terminal everything is harmless; in a file json reads back, and csv alone is raw."""
    done = tachograph(
        *COMMANDS[command],
        "--format",
        format_,
        "--db",
        nasty.location,
        cwd=tmp_path,
        is_terminal=is_terminal,
    )
    assert done.code == 0, done.stderr
    shown = done.stdout.decode()
    assert not found_in(done.stderr)
    if is_terminal:
        assert not found_in(OURS.sub("", shown))
    elif format_ != "csv":
        assert not found_in(without_scripts(shown))


BAD = "a\x1b[31m\u202e"


@pytest.mark.parametrize(
    "words",
    [
        ("check", "--max-total-usd", "1", "--format", "md"),
        ("doctor",),
        ("reprice",),
        ("ingest", NASTY.translate(dict.fromkeys((0, 0xD800, 0xDFFF)))),
        ("runs", "--repo", BAD),
        ("runs", f"--{BAD}"),
        (BAD,),
        ("report", "--by", BAD),
        ("report", "--tz", BAD),
        ("runs", "-o", f"no{BAD}/file.csv"),
        ("runs", "-o", f"{BAD}.csv"),
        ("ingest", "--label", BAD, "x"),
        ("compare", f"{BAD}=1", "x=2"),
        ("runs", "--search", "\udcff"),
    ],
    ids=ascii,
)
def test_d13_what_is_said_beside_the_data_is_harmless(
    nasty: Store, tmp_path: Path, words: tuple[str, ...]
) -> None:
    done = tachograph(*words, "--db", nasty.location, cwd=tmp_path)
    assert done.code in (0, 1, 2, 3, 4)
    assert not found_in(done.stderr)
    assert not found_in(done.stdout.decode())


@pytest.fixture(scope="module")
def reported(nasty: Store) -> CostReport:
    return report(nasty, ReportRequest(by=("label:team", "session"), runs=100))


@pytest.mark.parametrize("name", ["html", "md", "json", "xlsx", "parquet", "csv", "jsonl"])
def test_d5_a_report_of_such_runs_is_written_in_every_format(
    reported: CostReport, name: str
) -> None:
    body = EXPORTS[name].write_report(reported)
    if name in ("html", "md", "json", "xlsx"):
        assert not found_in(unzipped(body) if name == "xlsx" else without_scripts(body.decode()))


def shown_on(app: AppTest) -> Iterator[str]:
    """Every text that a screen shows.

    Of each element all that it sends to the browser, tables cell by cell.
    """
    for element in app.main:
        if element.type == "plotly_chart":
            figure = json.loads(element.proto.spec)
            yield from _strings({key: value for key, value in figure.items() if key == "layout"})
            yield from (
                text
                for trace in figure["data"]
                for key, value in trace.items()
                if key != "customdata"
                for text in _strings(value)
            )
        elif isinstance(element, Dataframe):
            yield from (str(cell) for column in element.value for cell in element.value[column])
        elif hasattr(element, "proto") and hasattr(element.proto, "ListFields"):
            yield from _fields(element.proto)


def _fields(proto: object) -> Iterator[str]:
    for field, value in proto.ListFields():  # type: ignore[attr-defined]
        if field.name not in ("id", "page_script_hash", "query_string", "url"):
            for one in value if field.is_repeated else [value]:
                yield from (
                    _fields(one)
                    if hasattr(one, "ListFields")
                    else [one]
                    if isinstance(one, str)
                    else []
                )


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for item in value.values() for text in _strings(item))
    elif isinstance(value, list):
        yield from (text for item in value for text in _strings(item))


def flawless(app: AppTest) -> None:
    assert not app.error
    assert not [text for text in shown_on(app) if found_in(text)]


@pytest.mark.parametrize(("screen", "view"), SCREENS)
def test_d13_every_screen_shows_such_text_harmlessly(
    nasty: Store, screens: Callable[..., AppTest], screen: str, view: str
) -> None:
    flawless(screens(nasty.location, f"screens/{screen}.py", **({"view": view} if view else {})))
