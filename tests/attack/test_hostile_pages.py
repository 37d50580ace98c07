"""Hostile records and links in a real browser: nothing runs, nothing is asked, nothing fails.

D5, D13. A script that runs sets `window.pwned`; whatever loads something asks the canary.
"""

from __future__ import annotations

import csv
import io
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import openpyxl
import pytest
from markdown_it import MarkdownIt
from playwright.sync_api import Dialog, Page, Request

from ingest.store.database import Store
from tests.conftest import ingest_paths, record
from tests.forks import Forks
from tests.serving import PATIENCE_SECONDS, served

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("browser")]

PAYLOADS = {
    "script": "<script>pwned=1;fetch('CANARY')</script>",
    "end of a script": "</script></title></style></textarea>--><script>pwned=1</script>",
    "image": '<img src=x onerror="pwned=1"><img src="CANARY/image.png">',
    "svg": '<svg onload="pwned=1"><image href="CANARY/svg.png"/></svg>',
    "frame": '<iframe src="CANARY"></iframe><iframe srcdoc="<script>parent.pwned=1</script>">',
    "form": '<form action="CANARY"><button autofocus formaction="javascript:pwned=1">x</button>',
    "style": '<style>@import "CANARY/a.css";</style><p style="background:url(CANARY/b.png)">x',
    "page": '<base href="CANARY/"><meta http-equiv="refresh" content="0;url=CANARY">',
    "attribute": "\" autofocus onfocus=\"pwned=1\" x=\"' autofocus onfocus='pwned=1' x='",
    "markdown": "![x](CANARY/m.png) ![x][r]\n\n[r]: CANARY/r.png\n\n[c](javascript:pwned=1)",
    "directive": "$\\href{javascript:pwned=1}{x}$ $\\includegraphics{CANARY/t.png}$ :red[x]",
    "code": "```\n</code></pre><script>pwned=1</script>\n```",
    "plotly": '<a href="javascript:pwned=1">x</a>%{customdata}<extra></extra>',
    "formula": '=HYPERLINK("CANARY","x")',
    "formula behind a line end": "\r\n\t+cmd|' /C calc'!A0",
    "formula at": "@SUM(1+1)*cmd|' /C calc'!A0",
    "controls": "\x1b[2J\x1b]0;owned\x07\x08\x9b31m \u202egpj.exe\u2066 a\u2028b\x85c",
    "half of a pair": "\ud800 \udfff",
    "pipes": "a|b `c` *d* _e_ [f] # g\n| h |\n|---|",
    "sql": "'); drop table runs; --",
}
SUMMARY = """TEXT

**3.2x speedup** of TEXT: 100 ms → 31 ms (measured). Modified `TEXT`.

| TEXT | before | after |
|------|--------|-------|
| TEXT | 2 s    | 1 s   |"""
SCREENS = (
    *("", "runs", "tasks", "speedups", "compare", "cost", "cost?view=time"),
    *("cost?view=sessions", "reports", "data", "data?view=upload"),
)
PARAMETERS = (
    *tuple("repo task agent model outcome label since until min-cost".split()),
    *tuple("evidence min-claim session search run order columns page by".split()),
    *tuple("tz view grouping reprice groups pair rule measure embed".split()),
)
VALUES = ("%FF%FE", "%00", "%", "x" * 300, "9" * 400, "-1", "NaN", "1e999", "9999-99-99T99", "=")
COMMANDS = ("report --by model,repo", "runs", "claims", "verdicts", "measurements", "rejects")
SIDES = ("before", "after")
FORMATS = ("html", "md", "csv", "xlsx", "table")
CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
NUMBER = re.compile(r"[-+]?[\d.,]+([eE][-+]?\d+)?%?")
DANGEROUS_LINKS = """links => links.map(link => link.getAttribute("href") || "")
    .filter(href => /^[\\s\\0-\\x20]*(javascript|vbscript|file|data:text)/i.test(href))"""


@pytest.fixture
def asked() -> Iterator[tuple[str, list[str]]]:
    """The address of a canary, and what was asked of it."""
    found: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.append(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", found
        server.shutdown()
    assert found == []


def hostile_stream(text: str, number: int) -> str:
    """A stream with a record, in which every text is hostile."""
    identity = f"{number} {text}"
    call = {"type": "tool_use", "id": text, "name": text, "input": {text: text}}
    events = (
        {"type": "system", "subtype": "init", "session_id": identity, "cwd": text, "model": text},
        {
            "type": "assistant",
            "session_id": identity,
            "message": {"model": text, "content": [call]},
        },
        record(
            uuid=identity,
            session_id=identity,
            result=SUMMARY.replace("TEXT", text),
            stop_reason=text,
            terminal_reason=text,
            permission_denials=[{"tool_name": text, "tool_input": {text: text}}],
            modelUsage={text: record()["modelUsage"]["claude-opus-4-6"]},
        ),
    )
    return "\n".join(map(json.dumps, events))


@pytest.fixture
def hostile(asked: tuple[str, list[str]], tmp_path: Path) -> Path:
    """A store with a run, a reject and measured values of each payload."""
    columns = ("variant", "metric", "unit", "value", "benchmark", "machine", "task")
    for number, payload in enumerate(PAYLOADS.values()):
        text = payload.replace("CANARY", asked[0])
        name = text.encode("utf-8", "replace").decode().translate({ord("/"): "∕", 0: "?"})[:60]
        folder = tmp_path / "logs" / f"{number} {name}"
        folder.mkdir(parents=True)
        (folder / f"{name}.json").write_text(hostile_stream(text, number))
        (folder / f"cut {name}.json").write_text(hostile_stream(text, number)[-600:-100])
        values = [(side, "latency", "ms", side == "after", text, text, name) for side in SIDES]
        with (folder / f"measured {name}").open("w", errors="replace", newline="") as file:
            csv.writer(file).writerows([columns, *values])
    label = PAYLOADS["image"].replace("CANARY", asked[0])
    report = ingest_paths(
        Store(tmp_path / "runs.duckdb"), tmp_path / "logs", repo=label, task=label, team=label
    )
    assert report.total("accepted") == len(PAYLOADS)
    return tmp_path / "runs.duckdb"


def harmless(page: Page) -> None:
    """No script of a text ran, no link would run one, no traceback is shown."""
    for frame in page.frames:
        assert frame.evaluate("window.pwned") is None, frame.url[:200]
    links = page.eval_on_selector_all("a[href], area[href], form[action]", DANGEROUS_LINKS)
    assert not links, links
    assert not page.get_by_test_id("stException").count()
    assert "Traceback (most recent call last)" not in page.inner_text("body")


def test_d5_d13_no_screen_run_or_link_does_what_a_text_wants(
    hostile: Path, page: Page, tmp_path: Path
) -> None:
    with Store(hostile).reading() as connection:
        ids = [run for (run,) in connection.execute("select run_id from runs").fetchall()]
    runs = (f"run?run={quote(run, safe='')}" for run in ids)
    values = (
        *VALUES,
        *(quote(text, safe="", errors="surrogatepass") for text in PAYLOADS.values()),
    )
    links = (
        f"{SCREENS[number % 6]}?{'&'.join(f'{name}={value}' for name in PARAMETERS)}"
        for number, value in enumerate(values)
    )
    offences: list[str] = []
    with served(hostile, tmp_path / "log") as (address, _):
        harmless_places = (f"{address}/", "data:", "blob:", "about:")

        def dismiss(dialog: Dialog) -> None:
            offences.append(dialog.message)
            dialog.dismiss()

        def note(request: Request) -> None:
            if not request.url.startswith(harmless_places):
                offences.append(request.url)

        page.on("dialog", dismiss)
        page.on("request", note)
        page.on("popup", lambda opened: offences.append(opened.url))
        for path in (*SCREENS, *runs, *links):
            answer = page.goto(f"{address}/{path}")
            if answer is None or answer.ok:
                shown = page.get_by_role("heading").or_(page.get_by_role("dialog"))
                shown.first.wait_for(timeout=PATIENCE_SECONDS * 1000)
                page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
            harmless(page)
            assert offences == [], path
    assert "Traceback" not in (tmp_path / "log").read_text()


@pytest.mark.parametrize("format_", FORMATS)
def test_d13_no_export_does_what_a_text_wants(
    hostile: Path, page: Page, forks: Forks, tmp_path: Path, format_: str
) -> None:
    """As a page, as the page of a lenient Markdown renderer, as a spreadsheet, in a terminal."""
    file = tmp_path / f"export.{format_}"
    for command in COMMANDS:
        words = [*command.split(), "--format", format_, "-o"]
        forks.succeed(tmp_path, *words, file, "--db", hostile)
        if format_ in ("md", "table"):
            assert not CONTROL.search(file.read_text())
        if format_ == "md":
            rendered = MarkdownIt("commonmark", {"html": True}).enable("table")
            file.with_suffix(".html").write_text(
                f"<meta charset=utf-8>{rendered.render(file.read_text())}"
            )
        if format_ in ("html", "md"):
            page.goto(f"file://{file.with_suffix('.html')}")
            harmless(page)
        if format_ == "csv":
            rows = csv.reader(io.StringIO(file.read_text("utf-8-sig"), newline=""))
            assert not [cell for row in rows for cell in row if is_formula(cell)]
        if format_ == "xlsx":
            cells = [
                cell
                for sheet in openpyxl.load_workbook(file)
                for row in sheet.iter_rows()
                for cell in row
            ]
            assert not [cell for cell in cells if cell.data_type == "f"]
            assert not [cell for cell in cells if cell.hyperlink and cell.hyperlink.target]


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet would compute a cell after dropping leading blanks and controls."""
    bare = re.sub(r"^[\s\0-\x20\x7f-\xa0\ufeff]+", "", cell)
    return bare[:1] in ("=", "+", "-", "@") and bool(bare[1:]) and not NUMBER.fullmatch(bare)
