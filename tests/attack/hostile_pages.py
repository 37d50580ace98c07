"""Hostile texts in every field of a record, on every screen, in every format, in a real browser."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import openpyxl
from markdown_it import MarkdownIt
from playwright.sync_api import Browser

from tests.attack.browsing import Canary, Log, Tab, canary
from tests.attack.kills import STORE
from tests.attack.lab import Lab
from tests.attack.payloads import hostile_stream, payloads
from tests.serving import served

SCREENS = (
    "",
    "runs",
    "tasks",
    "speedups",
    "compare",
    "cost",
    "cost?view=time",
    "cost?view=sessions",
    "reports",
    "data",
    "data?view=upload",
)
"""Every screen that the menu leads to; a test of the menu says if one is missing. A run has its
own.
"""

COMMANDS = (
    "report",
    "runs",
    "models",
    "usage",
    "claims",
    "findings",
    "verdicts",
    "measurements",
    "rejects",
    "sources",
)
FORMATS = ("html", "md", "csv", "xlsx", "table")
HALVES = "half of a pair"
PAGE_CHECKED = (
    "no script ran, no request but to the dashboard, no dialog or window, no link that runs, no "
    "traceback on page or in log"
)
EXPORT_CHECKED = (
    "html and md: the same in Chromium; csv and xlsx: no formula; md and table: no control or "
    "bidi character"
)
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_NUMBER = re.compile(r"[-+]?[\d.,]+([eE][-+]?\d+)?%?")


@dataclass(frozen=True)
class Dashboard:
    """A dashboard over a store of hostile records. `log` is what its server logs."""

    address: str
    store: Path
    bird: Canary
    log: Log


@contextmanager
def dashboard(lab: Lab) -> Iterator[Dashboard]:
    """Serve a store with a run for each payload."""
    with canary() as bird:
        store = _hostile_store(lab, bird)
        log = store.parent / "dashboard.log"
        with served(store, log) as (address, _):
            yield Dashboard(address, store, bird, Log(log))


def _hostile_store(lab: Lab, bird: Canary) -> Path:
    """A store with a run for each payload.

    In all texts of its stream, in file names, as labels, repository and task.
    """
    room = lab.room("hostile")
    texts = payloads(bird.address)
    for number, text in enumerate(texts.values()):
        name = text.encode("utf-8", "replace").decode().translate({ord("/"): "∕", 0: "?"})[:60]
        folder = room / "logs" / f"{number} {name}" / name / name
        folder.mkdir(parents=True)
        (folder / f"{name}.json").write_bytes(hostile_stream(text, number))
        (folder / f"cut {name}.json").write_bytes(hostile_stream(text, number)[-600:-100])
        _write_measured(folder / f"measured {name}", text, name)
    labels = [
        word
        for name in ("script", "image", "formula")
        for word in ("--label", f"{texts[name].replace('=', '≈')}={texts[name]}")
    ]
    template = ["--path-template", "{repo}/{task}/{team}/*"]
    ended = lab.forks.succeed(
        room, "ingest", room / "logs", *labels, *template, "--jobs", "1", "--db", room / STORE
    )
    assert f"{len(texts)} accepted" in ended.err, ended.story
    assert f"{2 * len(texts)} measured values" in ended.err, ended.story
    return room / STORE


def _write_measured(place: Path, text: str, task: str) -> None:
    """Measured values of the task with the text as benchmark and machine.

    The reason against a ratio has the text too.
    """
    rows = [("before", 2.0, f"{text} A"), ("after", 1.0, text)]
    with place.open("w", encoding="utf-8", errors="replace", newline="") as file:
        table = csv.writer(file)
        table.writerow(
            ("variant", "metric", "unit", "value", "bench_model", "benchmark", "machine", "task")
        )
        table.writerows(
            (variant, "latency", "ms", value, model, text, text, task)
            for variant, value, model in rows
        )


def attack_screens(lab: Lab, tab: Tab, shown: Dashboard, runs: int) -> None:
    """Show every screen, and `runs` runs on their own page.

    Always that with halves of characters, which no encoding can write.
    """
    tally = lab.tally("hostile records on every screen", PAGE_CHECKED)
    tab.open("upload")
    for path in (
        *SCREENS,
        *(f"run?run={quote(run, safe='')}" for run in _chosen_runs(lab, shown, runs)),
    ):
        with tally.attempt(f"a dashboard of {shown.store}, /{path}"):
            tab.move(path)
            tab.unfold()
            check(tab, shown)
    with tally.attempt("files with hostile names are uploaded"):
        tab.move("upload")
        _upload(tab, shown.bird)
        check(tab, shown)
        _require_all_screens(tab)


def check(tab: Tab, shown: Dashboard) -> None:
    """Raise AssertionError if page, server or canary has a problem with what was just opened."""
    asked, logged = shown.bird.take(), shown.log.take()
    tab.check()
    assert "Traceback" not in logged, f"the server logged an exception: …{logged[-3000:]}"
    assert not asked, f"the canary was asked for {asked}"


def _chosen_runs(lab: Lab, shown: Dashboard, runs: int) -> list[str]:
    sql = "select run_id from runs order by cast(split_part(run_id, ' ', 1) as int)"
    every = [run_id for (run_id,) in lab.hasher.rows(shown.store, sql)]
    first = list(payloads("")).index(HALVES)
    others = [run_id for number, run_id in enumerate(every) if number != first]
    return [every[first], *lab.chance("pages").sample(others, min(runs, len(every)) - 1)]


def _upload(tab: Tab, bird: Canary) -> None:
    """Three files, each with a hostile name and a hostile record."""
    texts = payloads(bird.address)
    files = [
        {"name": texts[name], "mimeType": "text/plain", "buffer": hostile_stream(texts[name], 0)}
        for name in ("script", "image", "bidi")
    ]
    tab.page.locator("input[type=file]").set_input_files(files)  # type: ignore[arg-type]
    tab.page.get_by_role("heading", name="Upload results").wait_for()


def _require_all_screens(tab: Tab) -> None:
    """Raise AssertionError where the menu leads to a screen that is not attacked."""
    links = tab.page.eval_on_selector_all(
        "[data-testid=stTopNavLink]", "links => links.map(link => new URL(link.href).pathname)"
    )
    missing = {link.strip("/") for link in links} - {*SCREENS, "overview"}
    assert not missing, f"screens that are not attacked: {missing}"


def attack_exports(
    lab: Lab, browser: Browser, shown: Dashboard, commands: Sequence[str] = COMMANDS
) -> None:
    """Write what each command tells in each format, and open it as whoever gets it would."""
    tally = lab.tally("hostile records in every export", EXPORT_CHECKED)
    for command in commands:
        for suffix in FORMATS:
            words = [
                command,
                "--format",
                suffix,
                *(["--by", "model,repo"] if command == "report" else []),
            ]
            with tally.attempt(f"tachograph {' '.join(words)} of {shown.store}") as folder:
                ended = lab.forks.succeed(
                    folder, *words, "-o", folder / f"export.{suffix}", "--db", shown.store
                )
                assert "Traceback" not in ended.err, ended.story
                CHECKS[suffix](folder / f"export.{suffix}", browser)
                assert not (asked := shown.bird.take()), f"the canary was asked for {asked}"


def _check_html(path: Path, browser: Browser) -> None:
    """Open the page and look whether it does anything."""
    with browser.new_page() as page, closing(Tab(page, f"file://{path.parent}")) as tab:
        tab.page.goto(f"file://{path}")
        tab.page.wait_for_load_state("load")
        tab.check()


def _check_md(path: Path, browser: Browser) -> None:
    """As text, and as the page that a lenient renderer makes of it."""
    text = path.read_text(encoding="utf-8")
    _require_no_controls(text)
    page = path.with_suffix(".rendered.html")
    page.write_text(
        (
            "<meta "
            f"charset=utf-8>{MarkdownIt('commonmark', {'html': True}).enable('table').render(text)}"
        ),
        encoding="utf-8",
    )
    _check_html(page, browser)


def _check_table(path: Path, _: Browser) -> None:
    _require_no_controls(path.read_text(encoding="utf-8"))


def _require_no_controls(text: str) -> None:
    found = _CONTROL.search(text)
    assert not found, f"{found[0]!r} in {text[max(0, found.start() - 60) : found.end() + 20]!r}"


def _check_csv(path: Path, _: Browser) -> None:
    rows = csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline=""))
    formulas = [cell for row in rows for cell in row if is_formula(cell)]
    assert not formulas, (
        f"{len(formulas)} cells that a spreadsheet takes for formulas: {formulas[:2]!r}"
    )


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet would compute a cell after dropping leading blanks and controls."""
    bare = re.sub(r"^[\s\0-\x20\x7f-\xa0\ufeff]+", "", cell)
    return bare[:1] in ("=", "+", "-", "@") and bool(bare[1:]) and not _NUMBER.fullmatch(bare)


def _check_xlsx(path: Path, _: Browser) -> None:
    book = openpyxl.load_workbook(path)
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    formulas = [f"{cell.coordinate}: {cell.value}" for cell in cells if cell.data_type == "f"]
    assert not formulas, f"{len(formulas)} formulas: {formulas[:2]}"
    links = [cell.hyperlink.target for cell in cells if cell.hyperlink and cell.hyperlink.target]
    assert not links, f"{len(links)} links out: {links[:2]}"


CHECKS: dict[str, Callable[[Path, Browser], None]] = {
    "html": _check_html,
    "md": _check_md,
    "csv": _check_csv,
    "xlsx": _check_xlsx,
    "table": _check_table,
}
