"""A store as a site: every screen, the list of runs and a page per run, linked, without a server.

A link of the dashboard leads to the same page of the site, with filters to the list of runs with
these filters. A link without such a page is plain text.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode

import pyarrow as pa

from app.charts.registry import Ask, Question
from app.queries import claims as claim_queries
from app.queries import daily as daily_queries
from app.queries import loops as loop_queries
from app.queries import measured as measured_queries
from app.queries import run_money, run_page
from app.queries import runs as run_queries
from app.queries import sessions as session_queries
from app.queries.filter_inputs import LINK_WORDS, read_link, write_link
from app.queries.filters import (
    FILTERS,
    NO_FILTERS,
    PERIODS,
    TIME,
    VERDICT,
    FilterKind,
    Filters,
    this_moment,
)
from app.reports.exports.page import Frame, html_shared, site_assets
from app.reports.folders import file_stem, replaced
from app.reports.shared import SCREENS, Shared, command_of, filters_in_words, shared
from app.text import failures as failure_words
from app.text import html_parts
from app.text.claims import words
from app.text.columns import value_words
from app.text.formatting import IS_LASTING, NOT_RECORDED, UNKNOWN, date_words, short, usd
from app.text.grids import measured_cell
from app.text.html_parts import link, with_links
from app.text.table import Col, TextCell, TextTable, agent_and_model_cell, run_cell
from schemas.catalogue.cost_measures import BOUNDS
from schemas.catalogue.failures import REASONS
from schemas.errors import UsageError
from schemas.units import Unit

MENU = {
    "overview": ("Overview", "index.html"),
    "daily": ("Daily work", "daily.html"),
    "runs": ("Runs", "runs.html"),
    "failures": ("Failures", "failures.html"),
    "tasks": ("Tasks", "tasks.html"),
    "speedups": ("Speedups", "speedups.html"),
    "compare": ("Compare", "compare.html"),
    "cost": ("Cost & time", "cost.html"),
    "loops": ("Loops", "loops.html"),
}
"""Screen → its name in the menu, and its file."""

OFFERED = ("project", "agent", "main-model", "task", "outcome", "failure", VERDICT, TIME)
"""Filters of the list with a box of their own."""

RUNS = MENU["runs"][1]
FILES = "assets/files.txt"
"""The list of all files of a site, by which a later one knows what it may replace."""

MOST_OPTIONS, BATCH = 300, 250
"""Values that a box offers, and runs whose pages are read at once."""

Run = Mapping[str, Any]


class Site(NamedTuple):
    """The numbers of pages and of runs among them, and the bytes of all files."""

    pages: int
    runs: int
    size: int


def write_site(
    folder: Path,
    asked: Question,
    on_progress: Callable[[int, int], object],
    *,
    with_text: bool = False,
) -> Site:
    """Write the site of the question's runs, or nothing. Raises UsageError and StoreError."""
    listed = folder / FILES
    ours = {*listed.read_bytes().decode(errors="replace").splitlines()} if listed.is_file() else ()

    def is_ours(path: Path) -> bool:
        files = [path] if not path.is_dir() else [one for one in path.rglob("*") if one.is_file()]
        return all(one.relative_to(folder).as_posix() in ours for one in files)

    sizes, before = dict[str, int](), IS_LASTING.set(True)
    with ExitStack() as stack:
        stack.callback(IS_LASTING.reset, before)
        aside = stack.enter_context(replaced(folder, is_ours, "site"))
        command = command_of(asked, "", f"--site {shlex.quote(folder.resolve().name)}", with_text)
        pages = _pages(asked, command, on_progress, with_text=with_text)
        for name, body in (*site_assets().items(), *pages):
            path = aside / name
            path.parent.mkdir(exist_ok=True)
            sizes[name] = path.write_bytes(body)
        text = "".join(f"{name}\n" for name in sorted([*sizes, FILES]))
        sizes[FILES] = (aside / FILES).write_bytes(text.encode())
    of_runs = sum(name.startswith("runs/") for name in sizes)
    return Site(sum(name.endswith(".html") for name in sizes), of_runs, sum(sizes.values()))


def _pages(
    asked: Question, command: str, on_progress: Callable[[int, int], object], *, with_text: bool
) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the pages with their contents."""
    answers = asked.ask(loop_queries.loops)
    asked = replace(asked, ask=_knowing(asked.ask, {loop_queries.loops: {None: answers}}))
    screens = _screens(asked)
    loops = [one.row["loop_id"] for one in answers] if "loops" in screens else []
    runs = _listed(asked)
    menu = dict(title_and_file for key, title_and_file in MENU.items() if key in {*screens, "runs"})
    links = _Links(asked, runs, loops, menu.values())

    def page(file: str, made: Shared, *scripts: str) -> tuple[str, bytes]:
        frame = Frame(file, menu, scripts)

        def to(address: str) -> str | None:
            target = links.to(address)
            return None if target is None else frame.root + target

        parts = [with_links(one, to) if isinstance(one, str) else one for one in made.parts]
        for drawn in (one for part in parts if not isinstance(part, str) for one in part):
            for trace in drawn.figure.data:  # a click on a run opens its page
                if "customdata" in trace and trace.customdata is not None:
                    files = (links.runs.get(one[0]) for one in trace.customdata)
                    trace.customdata = [[file and frame.root + file] for file in files]
        made = replace(made, parts=parts, command=command)
        return file, html_shared(made, site=frame)

    for key, made in screens.items():
        yield page(MENU[key][1], made)
    for loop in loops if len(loops) > 1 else ():
        yield page(links.loops[loop], shared("loops", replace(asked, of=loop), links=str))
    done = 0
    for start in range(0, len(runs), BATCH):
        batch = runs[start : start + BATCH]
        ask = _read_at_once(asked, [run["run_id"] for run in batch])
        for run in batch:
            one = shared(run["run_id"], replace(asked, ask=ask), with_text=with_text, links=str)
            yield page(links.runs[run["run_id"]], one)
            done += 1
            on_progress(done, len(runs))
    yield page(RUNS, _list_page(asked, runs, links), "runs.js")


def _screens(asked: Question) -> dict[str, Shared]:
    """Return the screens that have something to show."""
    made = dict[str, Shared]()
    for key in SCREENS:
        if key == "daily" and not asked.ask(daily_queries.is_daily, this_moment()):
            continue
        if key == "loops" and asked.filters:  # filters choose runs, and loops are none
            continue
        try:
            one = shared(key, asked, links=str)
        except UsageError:  # nothing to compare
            continue
        if len(one.parts) > 1 or key == "overview":
            made[key] = one
    return made


def _read_at_once(asked: Question, run_ids: Sequence[str]) -> Ask:
    """Return `ask` with the answers of the pages of these runs, which are read at once."""
    runs, no_rows = asked.ask(run_queries.several, run_ids), pa.table({})
    in_sessions = asked.ask(session_queries.runs_with_responses)
    ready: dict[Callable[..., Any], Mapping[str | None, Any]] = {
        run_page.run_id_of: dict(zip(run_ids, run_ids, strict=True)),
        run_queries.run: runs,
        claim_queries.of_run: asked.ask(claim_queries.of_runs, run_ids, asked.filters),
        measured_queries.verdict_of: dict.fromkeys(run_ids)
        | asked.ask(measured_queries.verdicts_of, run_ids),
        measured_queries.of_run: asked.ask(measured_queries.of_runs, run_ids),
        run_page.patch_files_of: asked.ask(run_page.patch_files_of_runs, run_ids),
        run_money.money_of_run: asked.ask(run_money.money_of_runs, runs.values()),
        session_queries.lanes: {one: no_rows for one in run_ids if one not in in_sessions},
    }
    return _knowing(asked.ask, ready)


def _knowing(ask: Ask, ready: Mapping[Callable[..., Any], Mapping[str | None, Any]]) -> Ask:
    """Return `ask` with known answers: question → first argument (None without one) → answer."""

    def known(question: Callable[..., Any], *arguments: Any) -> Any:
        answers, about = ready.get(question, {}), arguments[0] if arguments else None
        if isinstance(about, str | None) and about in answers:
            return answers[about]
        return ask(question, *arguments)

    return known


class _Links:
    """Where a link of the dashboard leads in the site; addresses are from its folder."""

    def __init__(
        self, asked: Question, runs: Sequence[Run], loops: Sequence[str], files: Iterable[str]
    ) -> None:
        self.asked = asked
        self.places = {run["run_id"]: place for place, run in enumerate(runs)}
        self.runs = {run_id: f"runs/{file_stem(run_id)}.html" for run_id in self.places}
        self.loops = dict.fromkeys(loops, MENU["loops"][1])  # the page of an only one
        if len(loops) > 1:
            self.loops = {loop: f"loops/{file_stem(loop)}.html" for loop in loops}
        self.files = {MENU[key][1] for key in MENU} & {*files}
        self.chosen = dict[tuple[str, str], set[int]]()
        self._known = dict[str, str | None]()

    def to(self, address: str) -> str | None:
        """Return where an address of the dashboard leads, None if no page answers it."""
        if address not in self._known:
            self._known[address] = self._to(address)
        return self._known[address]

    def _to(self, address: str) -> str | None:
        page, _, query = address.partition("?")
        named = parse_qs(query)
        others = {key: values[0] for key, values in named.items() if key not in LINK_WORDS}
        if page == "run":
            return self.runs.get(others.get("run", ""))
        if page == "loops" and "loop" in others:
            return self.loops.get(others["loop"])
        read = read_link(named)
        filters = read.filters
        if page == "runs" and not filters and others == {"view": "Failures"}:
            page, others = "failures", {}
        elif others.keys() == {"view", "reason"}:
            filters, others = filters.with_values("failure", [others["reason"]]), {}
        own = {*self.asked.filters.chosen}
        more = Filters(tuple(one for one in filters.chosen if one not in own))
        _, file = MENU.get(page or "overview", ("", ""))
        if others or read.left_out or not file:
            return None
        if not more and filters == self.asked.filters:
            return file if file in self.files else None
        if self.of(more) != {self.places.get(one) for one in self._ids(filters)}:
            return None
        return f"{RUNS}?{urlencode(write_link(more), doseq=True)}"

    def _ids(self, filters: Filters) -> list[str]:
        found: list[str] = self.asked.ask(run_queries.ids, filters)
        return found

    def of(self, filters: Filters) -> set[int]:
        """Return the places of the runs that filters choose, from what each value chooses."""
        left = {*self.places.values()}
        for key, values in filters.chosen:
            each = [self.of_value(key, value) for value in values]
            left &= set().union(*each) if is_any(key) else left.intersection(*each)
        return left

    def of_value(self, key: str, value: str) -> set[int]:
        """Return the places of the runs that one value of a filter chooses."""
        if (key, value) not in self.chosen:
            ids = self._ids(Filters(((key, (value,)),)))
            self.chosen[key, value] = {self.places[one] for one in ids if one in self.places}
        return self.chosen[key, value]

    def as_json(self) -> dict[str, Any]:
        """Return the filters of the list and of links: words and runs of each value."""
        known = self.asked.ask(run_queries.options_by_filter, MOST_OPTIONS, self.asked.filters)
        known |= {VERDICT: FILTERS[VERDICT].words[1:], TIME: PERIODS}
        made = {}
        for key in (*OFFERED, *(key for key, _ in [*self.chosen] if key not in OFFERED)):
            offered = [one for one in known.get(key, ()) if self.of_value(key, one)]
            if key == "task":  # each has a name without its repository, too
                by_runs = {tuple(sorted(self.of_value(key, one))): one for one in offered}
                offered = [*by_runs.values()]
            values = {
                value: {"words": words_of(key, value), "runs": sorted(runs)}
                for (of, value), runs in self.chosen.items()
                if of == key
            }
            shown = offered if key in OFFERED else []
            name = "Model" if key == "main-model" else FILTERS[key].name
            made[FILTERS[key].link or key] = {
                "name": name,
                "any": is_any(key),
                "offered": shown,
                "values": values,
            }
        return made


def is_any(key: str) -> bool:
    """Return whether any of several values of a filter suffices."""
    return FILTERS[key].kind is FilterKind.NAMES


def words_of(key: str, value: str) -> str:
    """Return a value of a filter without the filter's name."""
    return value_words(key, value).removeprefix(f"{FILTERS[key].name} ")


def _listed(asked: Question) -> list[Run]:
    """Return the runs of the list, dearest first, with their measured classes and speedups."""
    total: int = asked.rows[0].runs
    runs = asked.ask(run_queries.page_of_runs, asked.filters, next(iter(run_queries.ORDERS)), total)
    found = asked.ask(measured_queries.classes_of, runs["run_id"].to_pylist())
    nothing = "not_measured", None
    return [run | {"measured": found.get(run["run_id"], nothing)} for run in runs.to_pylist()]


def _list_page(asked: Question, runs: Sequence[Run], links: _Links) -> Shared:
    """Return the list of runs with the order of each column and the runs of each filter."""
    bound = BOUNDS.get(asked.measure.column, ("",))[-1]

    def model(run: Run) -> str:
        return str(run["model"] or run["asked_model"] or "")

    def task(run: Run) -> TextCell:
        key = run["task_key"] or ""
        address = link("runs", NO_FILTERS.with_values("task", [key])) if key else ""
        return TextCell(key or UNKNOWN, address=address, kind="t-plain")

    def outcome(run: Run) -> TextCell:
        reason = REASONS[run["reason"]].label if run["reason"] else ""
        return TextCell(words(run["outcome"] or "unknown"), reason)

    columns: list[tuple[Col, Callable[[Run], Any]]] = [
        (Col("Run", lambda run: run_cell(run, NO_FILTERS)), lambda run: run["title"].lower()),
        (
            Col(
                "Agent, model",
                lambda run: agent_and_model_cell(run["agent"], model(run), NO_FILTERS),
            ),
            lambda run: (run["agent"] or "", model(run)),
        ),
        (Col("Task", task), lambda run: run["task_key"]),
        (Col("Outcome", outcome), lambda run: (run["outcome"] or "", run["reason"] or "")),
        (
            Col(
                "Cost",
                lambda run: usd(run[asked.measure.column], bound and run[bound], NOT_RECORDED),
                "r",
            ),
            itemgetter(asked.measure.column),
        ),
        (
            Col("Wall time", lambda run: short(run["duration_ms"], Unit.MILLISECONDS), "r"),
            itemgetter("duration_ms"),
        ),
        (
            Col("Claimed", lambda run: short(run["claimed_speedup"], Unit.RATIO), "r"),
            itemgetter("claimed_speedup"),
        ),
        (
            Col("Measured", lambda run: measured_cell(*run["measured"]) or UNKNOWN, "r"),
            lambda run: run["measured"][1],
        ),
        (
            Col("Date", lambda run: date_words(run["dated_at"], lacks=UNKNOWN), "r"),
            itemgetter("dated_at"),
        ),
    ]
    table = TextTable([column for column, _ in columns], runs).filled
    ranks = []
    for column, of in columns:
        if any(column is kept for kept in table.columns):
            values = [of(run) for run in runs]
            places = {value: place for place, value in enumerate(sorted({*values} - {None}))}
            ranks.append({"places": [*map(places.get, values)], "isFigure": column.is_figure})
    drawn = table.html(kind="t-runs")
    with_links(drawn, links.to)  # so that the data know what each link chooses
    data = json.dumps({"filters": links.as_json(), "ranks": ranks}, separators=(",", ":"))
    bar = (
        '<div class="t-filters" role="search"></div><p class="t-chosen" role="status"></p>'
        "<noscript>The filters need a script, which this program does not run.</noscript>"
    )
    parts = (
        html_parts.heading(failure_words.listed(asked.rows, asked.measure)),
        bar,
        drawn,
        '<script type="application/json" id="list">' + data.replace("<", r"\u003c") + "</script>",
    )
    return Shared("runs", "Runs", filters_in_words(asked), "", parts, is_screen=False, notes="")
