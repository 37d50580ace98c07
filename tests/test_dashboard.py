"""Every screen through the entry file, over real stores.

With runs, without, and with what a stranger writes into a link.
"""

from __future__ import annotations

import io
import itertools
import re
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from app.queries.filters import FILTERS
from app.server.guard import MENUS
from app.text import grids
from app.text.html_parts import SHOWN_CHARACTERS, plain, shown, shown_record
from app.text.ingests import nothing_new, upload_words
from app.text.run_html import RUN_ORIGIN, facts_html, origin_keys, run_id_of
from ingest.pipeline import ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from tests.conftest import (
    FILE,
    ROOT,
    SAMPLES,
    MadeOnce,
    StoreOnce,
    command_of,
    ingest_paths,
    page_text,
    record_text,
    said,
)

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

NO_SCREENS = ("__init__", "cache", "sign_in_page")
SCREENS = sorted(
    f"screens/{path.name}"
    for path in (ROOT / "app" / "screens").glob("*.py")
    if path.stem not in NO_SCREENS
)
FEW = ("screens/overview.py", "screens/data.py")
"""What the entry does before any screen is the same for all."""
RUN = "5e0c031e-eef9-49db-91be-235c0b535201"
HOSTILE = {
    "sql": "'; drop table runs; --",
    "html": "<script>alert(1)</script>",
    "path": "../../etc/passwd",
    "nul": "\x00",
    "long": "x" * 100_000,
    "markdown": ":red[x] $y$ ![p](http://e.x/p)",
    "empty": "",
}

Open = Callable[..., "AppTest"]


@pytest.fixture
def open_screen(store: Store, screens: Open) -> Open:
    """A screen as a visitor of the store sees it."""

    def open_(screen: str, location: str | Path = store.location, **query: str) -> AppTest:
        return screens(location, screen, **query)

    return open_


def add(store: Store, *texts: str) -> None:
    ingest([Source(f"{number}.json", text.encode()) for number, text in enumerate(texts)], store)


SPARSE: tuple[dict[str, object], ...] = (
    {"result": ...},
    {"result": ""},
    {"modelUsage": {}},
    {"usage": ..., "modelUsage": ..., "num_turns": ...},
)


@pytest.fixture(scope="module")
def sparse(store_once: StoreOnce) -> Store:
    """A store of runs of which little is known."""
    texts = [
        record_text(uuid=f"sparse-{number}", **changes) for number, changes in enumerate(SPARSE)
    ]
    return store_once("sparse", lambda store: add(store, *texts))


@pytest.mark.parametrize("screen", FEW)
def test_without_a_store_a_screen_says_what_to_do(
    screen: str, store: Store, open_screen: Open
) -> None:
    app = open_screen(screen)
    assert "No runs yet." in said(app)
    assert command_of(app) == f"tachograph ingest ~/.claude --db {store.location}"
    assert not Path(store.location).exists(), "looking makes no store"


@pytest.mark.parametrize("screen", [*FEW, "screens/run.py"])
def test_a_store_without_runs_is_no_error(
    screen: str, store_once: StoreOnce, open_screen: Open
) -> None:
    app = open_screen(
        screen, store_once("no-record", lambda store: add(store, "no record")).location
    )
    assert not app.error
    assert not app.metric


@pytest.mark.parametrize("screen", FEW)
def test_a_file_that_is_no_store_is_told(
    screen: str, made_once: MadeOnce, open_screen: Open
) -> None:
    def make(folder: Path) -> None:
        duckdb.connect(str(folder / FILE)).execute("create table t (x int)").close()

    app = open_screen(screen, made_once("no-store", make) / FILE, run=RUN)
    assert "not a Tachograph store" in app.error[0].value


@pytest.mark.parametrize("screen", SCREENS)
def test_a_hostile_link_does_nothing_also_where_little_is_known_of_the_runs(
    screen: str, sparse: Store, open_screen: Open
) -> None:
    keys = (
        "cells tab sort per groups pair order page columns rule reason text usage-per usage-show"
    ).split()
    query = dict(zip(keys, itertools.cycle(HOSTILE.values()), strict=False))
    app = open_screen(screen, sparse.location, **query | {"run": HOSTILE["html"]})
    assert (
        app.title[0].value == "Run not found"
        if screen.endswith("run.py")
        else "t-h1" in html_of(app)
    )
    assert not acting(app)


CODE = re.compile(r"(?<!`)(`+) .*? \1(?!`)")


def acting(app: AppTest) -> list[str]:
    """Texts that a page would read as markup; code is shown as it is."""
    told = [CODE.sub("", element.value) for element in (*app.markdown, *app.caption, *app.header)]
    acting = [text for text in told if "<script" in text.replace("\\<", "") or ":red[" in text]
    return [
        *acting,
        *(["HTML"] if "<script" in html_of(app) or "<img src=x" in html_of(app) else []),
    ]


def html_of(app: AppTest) -> str:
    """The HTML of a screen, without the script that all have."""
    return "".join(one.proto.body for one in app.get("html") if one.proto.body != MENUS)


@pytest.mark.parametrize("screen", [*FEW, "screens/cost.py"])
def test_hostile_filters_in_a_link_choose_no_run_and_do_nothing(
    screen: str, read_samples: Store, open_screen: Open
) -> None:
    query = dict(zip(FILTERS, itertools.cycle(HOSTILE.values()), strict=False))
    app = open_screen(screen, read_samples.location, **query | {"search": "", "session": ""})
    assert (
        app.title
        or "t-h1" in html_of(app)
        or "No runs match" in [header.value for header in app.header]
    )
    assert not acting(app)


@pytest.mark.parametrize(
    "value", [HOSTILE["sql"], HOSTILE["nul"], HOSTILE["long"]], ids=["sql", "nul", "long"]
)
def test_a_hostile_run_id_is_no_run(value: str, read_samples: Store, open_screen: Open) -> None:
    assert (
        open_screen("screens/run.py", read_samples.location, run=value).title[0].value
        == "Run not found"
    )


def test_a_run_that_another_process_reads_in_shows_on_the_next_look(
    sample_store: Store, open_screen: Open
) -> None:
    app = open_screen("screens/overview.py")
    add(sample_store, record_text(duration_ms=..., num_turns=...))
    app.run()
    assert "Four runs of Claude Code cost $3.08" in said(app)
    assert "not recorded" in said(app), "the wall time of one of them"


def test_a_run_shows_its_figures_its_summary_and_its_record(
    sample_store: Store, open_screen: Open
) -> None:
    app = open_screen("screens/run.py", run=RUN)
    assert (
        "Cost $1.21 reported · list price $1.33 Wall time 4m 14s API 5m 11s, 1.23× Turns 48 "
        "$0.03 each"
    ) in page_text(app)
    assert "Claimed 3.17× micro-benchmark, method stated" in page_text(app)
    assert "No patch in its folder." in page_text(app)
    assert [one.label for one in app.expander][:2] == [
        r"**Where the money went** cost reported, list price \$1.33\: regional endpoint",
        "**Result** 6 other statements",
    ]
    html = html_of(app)
    assert "90350c2d-57e4-4edc-80f1-f92c9188c37a" in html
    assert ">Summary</h4>" in html
    assert '"total_cost_usd": 1.2117599999999997' in app.code[-1].value


def test_a_strangers_texts_stay_text_on_the_run_screen(store: Store, open_screen: Open) -> None:
    evil = "<script>x</script> ![p](https://e.example/p.png) :red[x] $y$"
    add(
        store,
        record_text(
            result=evil, session_id=evil, stop_reason=evil, uuid="evil-1", terminal_reason=evil
        ),
    )
    app = open_screen("screens/run.py", run="evil-1")
    html = html_of(app)
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html
    assert not [element for element in app.markdown if "script" in element.value]


def test_the_patch_of_a_run_stands_beside_its_summary_and_does_nothing(
    tmp_path: Path, store: Store, open_screen: Open
) -> None:
    evil = "<script>x</script></div><img src=x onerror=x>"
    patch = (
        f"diff --git a/{evil}.py b/{evil}.py\n--- a/{evil}.py\n+++ b/{evil}.py\n@@ -1 +1 @@ "
        f"{evil}\n-old {evil}\n+new {evil}\n"
    )
    (tmp_path / "item").mkdir()
    (tmp_path / "item/model_patch.diff").write_text(patch)
    (tmp_path / "item/claude_code_stdout.txt").write_text(record_text(uuid="patched"))
    ingest_paths(store, tmp_path / "item")
    app = open_screen("screens/run.py", run="patched")
    assert "Input outside the cache" in page_text(app), "without a claim it opens with its cost"
    assert "old" not in page_text(app)
    app.session_state["result"] = True
    app.run()
    shown_html = html_of(app)
    assert "<script" not in shown_html
    assert "<img" not in shown_html
    assert f"1 - old {evil} 1 + new {evil}" in page_text(app)
    assert "<s>old</s>" in shown_html


@pytest.mark.parametrize("number", range(len(SPARSE)))
def test_a_run_of_which_little_is_known_is_no_error(
    number: int, sparse: Store, open_screen: Open
) -> None:
    assert "Run not found" not in [
        title.value
        for title in open_screen("screens/run.py", sparse.location, run=f"sparse-{number}").title
    ]


def test_a_huge_record_is_cut_and_can_be_downloaded(store: Store, open_screen: Open) -> None:
    add(store, record_text(uuid="huge", result="word " * 21_000))
    app = open_screen("screens/run.py", run="huge")
    assert len(app.code[-1].value) == SHOWN_CHARACTERS
    assert [caption for caption in app.caption if "first 100,000 of" in caption.value]
    assert app.get("download_button")


def test_an_upload_is_read_once_and_its_fate_is_told(store: Store, open_screen: Open) -> None:
    app = open_screen("screens/data.py", view="upload")
    sample = next(SAMPLES.glob("002*"))
    uploader = app.file_uploader(key="logs")
    uploader.upload(sample.name, sample.read_bytes()).upload("x.json", b'{"type": "result"').run()
    assert not app.exception
    fates, rejects = (frame.value for frame in app.dataframe)
    assert list(fates["became"]) == ["1 new run", "1 record rejected"]
    assert list(rejects["detail"]) == ["truncated JSON"]
    before = Path(store.location).stat().st_mtime_ns
    app.run()
    assert not app.exception
    assert Path(store.location).stat().st_mtime_ns == before, "a rerun reads nothing again"
    assert list(app.dataframe[0].value["became"]) == ["1 new run", "1 record rejected"]
    said = html_of(app)
    assert "<em>1 of 2 records</em> is a new run; 1 could not be read." in said
    assert (
        "2 documents</em> in 2 files = 1 accepted + 0 duplicates + 1 rejected + 0 ignored" in said
    )
    assert "1 run has no date: its log has none" in said


def test_an_archive_is_uploaded_as_it_is(open_screen: Open) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in SAMPLES.iterdir():
            archive.write(path, path.name)
    app = open_screen("screens/data.py", view="upload")
    app.file_uploader(key="logs").upload("logs.zip", packed.getvalue()).run()
    assert not app.exception
    became = app.dataframe[0].value
    assert list(became["became"]) == ["1 new run"] * 3


def test_uploading_to_where_no_store_can_be_is_told(tmp_path: Path, open_screen: Open) -> None:
    app = open_screen("screens/data.py", tmp_path / "no" / "folder.duckdb", view="upload")
    app.file_uploader(key="logs").upload("a.json", record_text().encode()).run()
    assert not app.exception
    assert "does not exist" in app.error[0].value


@pytest.mark.parametrize("value", [None, "", "\ud800", "x" * 201])
def test_what_can_be_no_run_is_not_asked_for(value: str | None) -> None:
    assert run_id_of(value) is None


@pytest.mark.parametrize(
    "text",
    [
        "**x**",
        "a_b_c",
        "[x](http://y)",
        ":red[x]",
        "$x$ $y$",
        "# h",
        "- x",
        "1. x",
        "<b>",
        "`x`",
        "a@b.c",
        "see https://x.y",
        "www.x.y",
    ],
)
def test_plain_text_has_no_mark_left_to_read(text: str) -> None:
    assert plain(text) != text
    assert plain(text).replace(":small[]", "").replace("\\", "") == text


def test_a_record_is_laid_out_with_its_numbers_as_written() -> None:
    assert (
        shown_record('{"a": 0.8494599499999997, "b": 12345678901234567890}').text
        == '{\n  "a": 0.8494599499999997,\n  "b": 12345678901234567890\n}'
    )
    assert shown_record('{"a": NaN}').text
    assert (
        shown("x" * (SHOWN_CHARACTERS + 1)).note
        == "Showing the first 100,000 of 100,001 characters."
    )


@pytest.mark.parametrize(
    ("ended", "left_out"),
    [(None, "ended_at"), (datetime(2026, 11, 20, 9, 36, tzinfo=UTC), "started_at")],
)
def test_the_date_of_a_file_is_not_told_as_the_start_or_end_of_a_run(
    ended: datetime | None, left_out: str
) -> None:
    run = dict.fromkeys(RUN_ORIGIN) | {
        "time_source": "file",
        "started_at": datetime(2026, 11, 20, 9, 15, tzinfo=UTC),
        "ended_at": ended,
    }
    html = facts_html(run, origin_keys(run))
    assert html.count("File modified at (UTC)") == 1
    assert "Started at" not in html
    assert "Ended at" not in html
    assert left_out not in origin_keys(run)
    told = run | {"time_source": "stream"}
    assert "Started at (UTC)" in facts_html(told, origin_keys(told))


def test_the_fate_of_a_file_in_words(store: Store) -> None:
    log = Source("log", "\n".join([record_text(), '{"type": "system"}', '{"cut": ']).encode())
    assert (
        upload_words(ingest([log], store).sources[0])
        == "1 new run, 1 record rejected, 1 ignored (events and other JSON that is no run)"
    )
    again = Source("again", f"\n{record_text()}".encode())
    table = Source("table", b"variant,metric,value,unit\nbefore,latency,2,ms\nafter,latency,1,ms\n")
    assert {
        source.name: upload_words(source) for source in ingest([again, table], store).sources
    } == {
        "again": "1 duplicate",
        "table": "benchmark result, 2 measured values",
    }
    text = Source("logs.zip!a/long/folder/of/notes/readme.md", b"A text.")
    reports = ingest(
        [
            log,
            text,
            Source("logs.zip!a/long/folder/of/notes/x.md", f"\n\n{record_text()}".encode()),
        ],
        store,
    )
    shown = grids.upload_grid(reports.sources)
    assert shown.rows.to_pylist() == [
        {"name": "…/notes/x.md", "became": "1 duplicate", "duplicates": 1}
    ]
    assert nothing_new(reports.sources) == "2 files with nothing new: ingested before 1, no log 1."
