"""Pages to mail: the answer, figures, tables and charts of a screen with filters, or of one run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.charts import registry as charts
from app.charts.images import Drawn
from app.charts.registry import Question
from app.queries import agents as agent_queries
from app.queries import claims as claim_queries
from app.queries import comparison as comparison_queries
from app.queries import cost as cost_queries
from app.queries import daily as daily_queries
from app.queries import failures as failure_queries
from app.queries import loops as loop_queries
from app.queries import measured as measured_queries
from app.queries import run_money, run_page
from app.queries import runs as run_queries
from app.queries import sessions as session_queries
from app.queries import tasks as task_queries
from app.queries.filters import (
    FILTERS,
    NO_FILTERS,
    SEARCH,
    Filters,
    has_period,
    parse,
    this_moment,
)
from app.queries.grouping import SIDES, UTC_ZONE
from app.queries.months import (
    ALL_MONTHS,
    GROUPS_OF,
    PROJECT,
    Months,
    bounds_of_month,
    budgets_of_month,
    months,
)
from app.queries.reading import ReadTransaction, undated
from app.text import compare as compare_words
from app.text import costs, html_parts, loop_html, overview, run_html, speedups, summary
from app.text import daily as daily_words
from app.text import failures as failure_words
from app.text import months as month_words
from app.text import run_money as money_words
from app.text import tasks as task_words
from app.text.agents import agent_legend, agent_table
from app.text.columns import value_words
from app.text.filter_words import with_known_words
from app.text.formatting import id_in_command, short_id
from app.text.html_parts import shown, without_links
from app.text.loops import NO_LOOPS, heading_of
from app.text.sentences import Doubt, Said
from schemas.catalogue.cost_measures import BEST, COST_MEASURES
from schemas.catalogue.metrics import NOBODY
from schemas.errors import UsageError
from schemas.text import choices_for, join_known, plural

Part = str | Drawn | Callable[[], Drawn | None] | None
"""HTML, or a function that draws a chart on the page of the question."""
ScreenParts = tuple[Said, list[Part]]
"""The first lines of a screen, and what follows."""

SHEET_ENDS = '<hr class="t-ends">'
"""What follows is on a page to mail, but on no sheet."""

LISTED, FARTHEST, MOST_FILES = 200, 20, 50
"""Runs of a list, slow runs, and files of a run."""

CHOICES: Mapping[str, Mapping[str, Sequence[str]]] = {
    "overview": {"by": tuple(SIDES)},
    "cost": {"month": (), "by": tuple(GROUPS_OF)},
    "speedups": {"show": tuple(key for key in measured_queries.LISTS if key != "claims")},
    "tasks": {"by": tuple(SIDES), "show": (NOBODY, *task_words.KNOWN, "faster", "all")},
    "failures": {"by": failure_queries.COLUMNS},
    "compare": {"pair": comparison_queries.PAIRS},
    "loops": {"show": tuple(map(str, loop_html.CLASSES))},
}
"""Screen → its options of `tachograph share` with their words, none for months."""

PLACES = ("source_name", "cwd", "received_at")
"""Facts about the machine that has the store, which are not for those who get the page."""


@dataclass(frozen=True)
class Shared:
    """A page to mail: its title, filters in words, the command that makes it, and parts.

    Each chart is drawn twice, for light and dark pages. `is_screen`: of many runs, on one sheet.
    `notes`: what is not sure, as a list, for a second sheet.
    """

    file_name: str
    title: str
    filters: str
    command: str
    parts: Sequence[str | tuple[Drawn, Drawn]]
    is_screen: bool
    notes: str


def question(
    transaction: ReadTransaction,
    filters: Filters,
    cost: str = "",
    of: str = "",
    groups: Sequence[str] = (),
    choices: Mapping[str, str] | None = None,
) -> Question:
    """Return the question of charts and pages to a store.

    `cost`: the key of a measure, `groups`: filters as text, `choices`: of CHOICES. Raises
    UsageError.
    """

    def ask(asked: Callable[..., Any], *arguments: Any) -> Any:
        return asked(
            transaction,
            *(transaction.searched(one) if isinstance(one, Filters) else one for one in arguments),
        )

    chosen = [with_known_words(parse(text)) for text in groups]
    measure = COST_MEASURES[cost] if cost else BEST
    return Question(ask, filters, measure, of=of, groups=chosen, choices=choices or {})


def shared(
    what: str,
    asked: Question,
    *,
    with_text: bool = False,
    links: Callable[[str], str] = without_links,
) -> Shared:
    """Return the page of a screen, or of the run whose id begins with `what`.

    `with_text`: with what the agent wrote. `links`: what becomes of links to other screens in its
    HTML. Raises UsageError.
    """
    _require_choices(what, asked.choices)
    if what in SCREENS:
        said, parts = SCREENS[what](asked)
        title, name = what.capitalize(), what
    else:
        asked = replace(asked, of=asked.ask(run_page.run_id_of, what))
        said, parts = _run(asked, with_text=with_text)
        title, name = "Run", f"run-{re.sub(r'[^A-Za-z0-9-]+', '-', short_id(asked.of))}"
    made: list[str | tuple[Drawn, Drawn]] = [links(html_parts.heading(said))]
    for one in parts:
        if isinstance(one, str):
            made.append(links(one))
        elif callable(one):
            pages = []
            for page in ("light", "dark"):
                asked.page = page
                pages.append(one())
            if pages[0] and pages[1] and pages[0].n:
                made.append((pages[0], pages[1]))
    is_screen = what in SCREENS
    return Shared(
        name,
        re.sub(r"\*\*", "", said.heading) or title,
        filters_in_words(asked) if is_screen else "",
        command_of(
            asked, what if is_screen else id_in_command(asked.of), f"-o {name}.pdf", with_text
        ),
        [one for one in made if one],
        is_screen,
        html_parts.look_list((html_parts.said(one.text) for one in said.doubts), "How sure?"),
    )


def _require_choices(what: str, choices: Mapping[str, str]) -> None:
    """Raise UsageError for a choice that a page does not offer."""
    offered = CHOICES.get(what, {})
    for option, chosen in choices.items():
        if option not in offered:
            pages = [page for page, options in CHOICES.items() if option in options]
            raise UsageError(
                f"--{option} is no choice of the page {what}.",
                f"Pages with it: {', '.join(pages)}.",
            )
        if offered[option] and chosen not in offered[option]:
            raise UsageError(
                f"--{option} {chosen} is no choice of the page {what}.",
                choices_for(chosen, offered[option]),
            )


def filters_in_words(asked: Question) -> str:
    """Return `Claude Code · Last night · best-known cost`."""
    words = [
        value_words(key, value) if key != SEARCH else f"“{value}”"
        for key, values in asked.filters.chosen
        if key in FILTERS
        for value in values
    ]
    return " · ".join([*(words or ["All runs"]), asked.measure.name])


def command_of(asked: Question, what: str, to: str, with_text: bool) -> str:
    """Return the command that makes the page of `what` again, "" for the site."""
    groups = [f"--group {shlex.quote(one.as_words())}" for one in asked.groups]
    words = (
        f"tachograph share {what}".strip(),
        asked.filters.as_words() if not what or what in SCREENS else "",
        *groups,
        *(f"--{option} {chosen}" for option, chosen in asked.choices.items()),
        "" if asked.measure is BEST else f"--cost {asked.measure.key}",
        "--with-text" if with_text else "",
        to,
    )
    return join_known(" ", *words)


def overview_doubts(asked: Question) -> list[Doubt]:
    """Return the reservations about the figures of the Overview, each with a link to details."""
    rows, why = asked.rows, []
    if rows[0].never_started:
        why = asked.ask(failure_queries.never_started_because, asked.filters)
    another = asked.ask(cost_queries.at_another_price, asked.filters)
    return overview.doubts_about(
        rows,
        why,
        asked.ask(undated, asked.filters),
        overview.another_price(another, asked.measure),
        asked.filters,
    )


def _overview(asked: Question) -> ScreenParts:
    rows, total = asked.rows, asked.rows[0]
    agents = overview.agents_of(rows)
    if total.runs <= charts.FEW and len(agents) == 1:
        said = overview.few_runs(rows, asked.few, asked.measure)
        table = overview.runs_table(total, asked.few, asked.filters).on_any_screen()
        return replace(said, doubts=overview_doubts(asked)), [table]
    shown = agent_queries.shown_rows(rows)
    said = replace(overview.overview(rows, asked.measure), doubts=overview_doubts(asked))
    return said, [
        agent_table(shown, asked.filters).on_any_screen(legend=agent_legend(shown)),
        lambda: charts.cost_per_run(asked),
        lambda: charts.time_per_run(asked),
        lambda: charts.measured(asked),
    ]


def _daily(asked: Question) -> ScreenParts:
    filters = asked.filters
    found = asked.ask(daily_queries.daily, filters, this_moment(), asked.measure)
    kept = "", PROJECT, NO_FILTERS, UTC_ZONE, asked.measure
    budgets = asked.ask(budgets_of_month, *kept)
    doubts = daily_words.doubts(found, asked.ask(undated, filters), filters)
    rows = daily_words.project_rows(found)
    return replace(daily_words.daily(found, filters), doubts=doubts), [
        daily_words.project_table(found, rows, budgets, filters).on_any_screen(),
        daily_words.looks_html(daily_words.looks(found, budgets, filters)),
        lambda: charts.spend_per_day(asked, found),
        run_html.part("Last runs") + daily_words.run_rows(found, filters).on_any_screen(),
    ]


def _months(asked: Question) -> Months:
    """Return the chosen month by the chosen groups. Raises UsageError if it has no runs."""
    by, month = asked.choices.get("by", PROJECT), asked.choices.get("month", "")
    found: Months = asked.ask(months, asked.filters, by, month, asked.measure)
    if month not in ("", ALL_MONTHS, found.month):
        bounds_of_month(month)
        if has_period(asked.filters):
            raise UsageError(
                "--month does not go with a period.", "Give --month, or --since and --until."
            )
        known = f"Months with runs: {', '.join(found.months)}." if found.months else ""
        raise UsageError(f"no run is of {month}.", known or "No run has a date.")
    return found


def _cost(asked: Question) -> ScreenParts:
    filters, found = asked.filters, _months(asked)
    times = asked.ask(cost_queries.times, filters)
    prices, far = (
        asked.ask(cost_queries.list_prices, filters),
        asked.ask(cost_queries.slow, filters, FARTHEST),
    )
    shown = [found]
    if found.by == PROJECT:
        people = asked.ask(months, filters, "person", found.month or ALL_MONTHS, asked.measure)
        shown += [people] if any(row.names[0] for row in people.costs) else []
    along = "".join(
        run_html.part(month_words.along_title(one)) + month_words.along_table(one, filters).html()
        for one in shown
        if one.months
    )
    return month_words.months_said(found, filters), [
        month_words.month_table(found, filters).html(),
        f'<div class="t-half">{along}</div>' if along else None,
        lambda: charts.month_so_far(asked, found),
        SHEET_ENDS,
        lambda: charts.cost_per_run(asked),
        run_html.part(html_parts.text(costs.list_title(prices)))
        + costs.price_table(prices, filters)
        if prices
        else None,
        run_html.part("Wall time") + costs.time_table(times, filters) if times[0].known else None,
        lambda: charts.wall_time(asked) if times[0].known else None,
        run_html.part("Slow outliers") + costs.slow_table(far, filters) if far else None,
    ]


def _speedups(asked: Question) -> ScreenParts:
    filters, total = asked.filters, asked.rows[0]
    again = asked.ask(measured_queries.to_measure_again, filters) if total.faster else []
    said = speedups.speedups(asked.rows, again, filters)
    counts = {
        key: number for key, number in asked.ask(measured_queries.counts, filters).items() if number
    }
    parts: list[Part] = []
    if again:
        table = speedups.again_table(again, filters, lambda words: f"tachograph {words}")
        parts.append(run_html.part("Measure again first") + table)
    if total.checked:
        checks = asked.ask(measured_queries.checks, filters)
        divided = run_html.part("Divide a claim by") + speedups.divide_table(checks).html()
        parts += [lambda: charts.claimed_beside_measured(asked), divided]
    else:
        parts.append(lambda: charts.claims(asked, "What is claimed"))
    if total.runs_measured:
        became = speedups.became_table(asked.rows, filters).html()
        parts.append(run_html.part("What became of the measurements") + became)
    counts.pop("claims", None)  # a list of sentences
    if counts:
        chosen = asked.choices.get("show", "")
        key = chosen if chosen in counts else next(iter(counts))
        number = counts[key]
        found = asked.ask(measured_queries.runs, filters, key, LISTED, asked.measure)
        cut = f", the first {LISTED:,}" if number > LISTED else ""
        title = f"{measured_queries.LISTS[key][0]}: {plural(number, 'run')}{cut}"
        parts.append(
            run_html.part(html_parts.text(title)) + speedups.run_table(found, key, filters)
        )
    return said, parts


def _tasks(asked: Question) -> ScreenParts:
    verdict, filters = task_queries.without_verdict(asked.filters)
    found, taskless = asked.ask(task_queries.standings, filters, asked.measure)
    if not found:
        return task_words.no_tasks(taskless), []
    cells = asked.ask(task_queries.few_columns, filters, SIDES[asked.by], asked.measure)
    is_measured = any(one.verdict != "not_measured" for one in found)
    known = (one for one in task_words.KNOWN if task_queries.having(found, one))
    usual = next(known, NOBODY) if is_measured else ""  # as the screen opens
    chosen = asked.choices.get("show", usual)
    verdict = verdict or ("" if chosen == "all" else chosen)
    made = task_words.matrix(cells, task_queries.having(found, verdict))
    show = verdict if verdict in ("", "faster") else NOBODY
    return task_words.tasks(found, show, taskless, filters), [
        task_words.task_table(made, filters),
        task_words.unjudged_table(found) if is_measured else "",
    ]


def _failures(asked: Question) -> ScreenParts:
    by = asked.choices.get("by", "agent")
    table, whole = asked.ask(failure_queries.failures, asked.filters, by)
    facts, reasons = asked.ask(failure_queries.totals, asked.filters), table.to_pylist()
    said = failure_words.failures(facts, reasons, asked.rows)
    if not reasons:
        return said, []
    return said, [
        failure_words.reason_table(reasons, whole.to_pylist()[0], facts, by, asked.filters)
    ]


def _compare(asked: Question) -> ScreenParts:
    groups = asked.groups or asked.ask(comparison_queries.offered, asked.filters).opening
    if len(groups) < 2:
        raise UsageError(
            "a comparison needs two groups.",
            "Name them: --group 'agent=codex' --group 'agent=claude-code'",
        )
    narrowed = [comparison_queries.narrowed(asked.filters, one) for one in groups]
    pair = asked.choices.get("pair", comparison_queries.TASK)
    found = asked.ask(comparison_queries.compare, narrowed, pair, asked.measure)
    called = compare_words.names(found.groups, groups)
    return compare_words.compare(found, called, asked.filters), [
        lambda: charts.compared(asked, found, called),
        compare_words.comparison_table(found, called),
    ]


def _loops(asked: Question) -> ScreenParts:
    answers = asked.ask(loop_queries.loops)
    if not answers:
        return Said("No optimization loop is in the store.", NO_LOOPS), []
    answers = [one for one in answers if asked.of in ("", one.row["loop_id"])]
    answers = loop_queries.ordered(answers, "gain")
    if len(answers) > 1:
        chosen, labels = asked.choices.get("show", ""), loop_html.classes(answers)
        (_, first), *others = (
            (labels[key], [one for one in answers if one.gain_class == key])
            for key in sorted(labels, key=lambda key: key != chosen)
        )
        return loop_html.loops_said(answers, asked.filters), [
            loop_html.loop_list(first, asked.filters),
            lambda: charts.loop_gains(asked, first),
            *(
                run_html.part(label) + loop_html.loop_list(listed, asked.filters)
                for label, listed in others
            ),
        ]
    [only] = answers
    return Said(heading_of(only)), [
        loop_html.strip(only),
        lambda: charts.loop(asked, only),
        loop_html.about_html(only),
    ]


def _run(asked: Question, *, with_text: bool) -> ScreenParts:
    run = asked.ask(run_queries.run, asked.of)
    facts, verdict = (
        asked.ask(claim_queries.of_run, asked.of, asked.filters),
        asked.ask(measured_queries.verdict_of, asked.of),
    )
    patch = asked.ask(run_page.patch_of, asked.of) if with_text else None
    files = asked.ask(run_page.patch_files_of, asked.of)
    claims = facts.claims.to_pylist()
    head = (
        run_html.header_html(run),
        run_html.failure_html(run),
        run_html.strip_html(run, verdict),
        run_html.warning_html(run, verdict),
    )
    money = asked.ask(run_money.money_of_run, asked.of)
    why = money_words.why_dear(run, money)
    parts: list[Part] = ["".join(head)]
    listed = run_html.claims_html(claims, run) if with_text else ""
    if listed:
        parts.append(run_html.part("What it claims") + listed)
    if run["result"] and with_text:
        prose = summary.summary_html(shown(run["result"]).text, summary.marks_of(claims))
        parts.append(
            f"{run_html.part('What it says it did')}{summary.legend_html(claims)}<div "
            f'class="t-run-prose">{prose}</div>'
        )
    changed = run_html.diff_html(patch["text"]) if patch else ""
    if not changed and (files.num_rows or facts.file_changes.num_rows):
        named = (files if files.num_rows else facts.file_changes).to_pylist()
        items = "".join(
            f"<li><code>{html_parts.text(one['path'])}</code></li>" for one in named[:MOST_FILES]
        )
        changed = f'<ul class="t-run-files">{items}</ul>'
    parts.append(run_html.part("What it changed") + changed if changed else None)
    if verdict:
        values = asked.ask(measured_queries.of_run, asked.of).to_pylist()
        parts.append(
            run_html.part("What was measured", run_html.measured_about(verdict, values))
            + run_html.measured_html(run, verdict, values)
        )
    title = run_html.part("Where the money went")
    said = f'<p class="t-cap">{html_parts.said(f"{why.heading} {why.second}")}</p>'
    parts.append(title + said + money_words.money_html(run, money))
    if asked.ask(session_queries.lanes, asked.of).num_rows:
        parts += [lambda: charts.session(asked), lambda: charts.session_lanes(asked)]
    for title, keys in (
        ("Cost", run_html.RUN_COST),
        ("Figures", run_html.RUN_CARDS),
        ("Origin", [key for key in run_html.origin_keys(run) if key not in PLACES]),
    ):
        if run_html.run_facts(run, keys):
            parts.append(run_html.part(title) + run_html.facts_html(run, keys))
    return Said(run["title"]), parts


SCREENS: dict[str, Callable[[Question], ScreenParts]] = {
    "overview": _overview,
    "daily": _daily,
    "cost": _cost,
    "speedups": _speedups,
    "tasks": _tasks,
    "failures": _failures,
    "compare": _compare,
    "loops": _loops,
}
"""Screen → its heading and its parts."""
