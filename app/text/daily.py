"""Words of the Overview of daily work: its first lines, projects, what needs a look, last runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from app.queries.daily import (
    CHOSEN,
    DAY,
    DAYS,
    FAR,
    LAST_WEEK,
    MONTH,
    SEVEN_DAYS,
    WEEK,
    Daily,
)
from app.queries.filters import TIME, TIMES, Filters
from app.queries.months import MonthBudget, passes_at
from app.queries.reading import Undated
from app.queries.run_money import UsualRun
from app.queries.spending import Spend, together
from app.text import html_parts
from app.text.answers import undated_cost
from app.text.claims import beyond_words
from app.text.columns import fact_words
from app.text.formatting import (
    AT_LEAST,
    NAMELESS,
    NOT_RECORDED,
    UNKNOWN,
    agent_name,
    date_words,
    duration,
    model_name,
    multiple,
    percent,
    usd,
    whole_usd,
)
from app.text.html_parts import anchor, link, mark
from app.text.months import budget_bar
from app.text.run_money import PAID_FOR
from app.text.sentences import Doubt, Said, joined, lower_first, spelled, upper_first
from app.text.table import Col, TextCell, TextTable, agent_cell, credit_words, money_cell
from schemas.catalogue.failures import REASONS
from schemas.catalogue.metrics import MEASURED_CLASSES
from schemas.text import agreeing, plural

Row = Mapping[str, Any]

SHOWN = {
    "": "24 hours",
    "last night": "Last night",
    "this week": "This week",
    "this month": "This month",
}
"""Periods of the control above the table; "" is that without a filter on time."""

MOST_PROJECTS, MOST_CARDS, MOST_LOOKS, MOST_BEYOND, MOST_RUNS, MOST_COLOURS = 10, 3, 6, 3, 8, 3
VERY_FAR, MARKED = Decimal(10), Decimal("1.5")
"""Times the usual cost: from MARKED on it is red, from FAR on the dearest run of a project
needs a look, from VERY_FAR on each.
"""

_SUBJECTS = {"": "The chosen time", "last 24 hours": "The last 24 hours"}
_SUBJECTS |= {days: f"The last {days}" for days in ("7 days", "30 days")}
_BY_HAND = "interrupted"


class ProjectRow(NamedTuple):
    """A row of the table: a project, all smaller ones together, or the sum (`kind`)."""

    label: str
    project: str | None
    spends: Mapping[str, Spend]
    kind: str = ""

    def of(self, key: str) -> Spend:
        return self.spends.get(key, Spend())


class Look(NamedTuple):
    """What needs a look: a word for its kind, a sentence, and a link."""

    kind: str
    sentence: str
    label: str = ""
    address: str = ""


def named(project: str | None) -> str:
    """Return the name of a project, or that there is none."""
    return project or NAMELESS["project"]


def daily(found: Daily, filters: Filters) -> Said:
    """Return what the period cost, of which projects, against a usual day or night."""
    spend, subject = found.total[CHOSEN], _SUBJECTS.get(found.name, upper_first(found.name))
    goes_on = found.name == "today" or found.name.startswith("this")
    if not found.name and found.end > found.now:
        since = date_words(found.begin, clock=True).replace("Today", "today")
        subject = f"The time since {since}"
        goes_on = True
    has = "has cost" if goes_on else "cost"
    covers = _coverage(found)
    if not spend.runs and spend.usd is None:
        return Said(_nothing(found, subject), "", covers)
    if spend.usd is None and spend.credits:
        cost = f"{subject} {has} **{credit_words(spend.credits)}**"
    elif spend.usd is None:
        cost = f"What {lower_first(subject)} cost is **not recorded**"
    else:
        cost = f"{subject} {has} **{usd(spend.usd, spend.bounds)}**"
    if not spend.runs:
        return Said(f"{cost}; no run ended.", "", covers)
    agents = filters.values("agent")
    by = f" by {agent_name(agents[0])}" if len(agents) == 1 else ""
    against = ""
    usual = found.usual_usd
    if spend.usd is not None and spend.known < spend.runs:
        against = f", cost known for {spend.known:,}"
    elif usual and spend.usd is not None:
        against = f", {multiple(spend.usd / usual)} a usual {found.usual_of} ({usd(usual)})"
    heading = f"{cost}: {plural(spend.runs, 'run')}{_whose(found)}{by}{against}."
    return Said(heading, _second(found), covers)


def since_look(spend: Spend, looked: datetime, filters: Filters) -> str:
    """Return what came in since this browser's last look, with a link to its page."""
    cost = f" for {usd(spend.usd, spend.bounds)}" if spend.usd is not None else ""
    what = f"{plural(spend.runs, 'run')}{cost}" if spend.runs or cost else "nothing"
    more = anchor(link("", filters, view="daily"), "What is new") if spend.runs or cost else ""
    when = date_words(looked, clock=True)
    return f'<p class="t-cap t-line">Since your last look ({when}): {what}. {more}</p>'


def _whose(found: Daily) -> str:
    """Return ` of codeharness`, or ` of 3 projects, most for codeharness ($31.00)`."""
    spends = {one: of[CHOSEN] for one, of in found.spends.items() if CHOSEN in of}
    names = [one for one in spends if one]
    if len(spends) == 1 or not names:
        return f" of {names[0]}" if names else ""
    first = max(names, key=lambda one: spends[one].usd or 0)
    most = spends[first]
    of = f" of {len(names):,} projects" if len(names) > 1 else ""
    return f"{of}, most for {first} ({usd(most.usd, most.bounds)})" if most.usd else of


def _nothing(found: Daily, subject: str) -> str:
    when = lower_first(subject)
    begin = f"**Nothing ran** {'in ' if subject.startswith('The') else ''}{when}"
    for key in (WEEK, MONTH):
        spend = found.total[key]
        if key != found.name and spend.usd is not None:
            return f"{begin}; {key} has cost {usd(spend.usd, spend.bounds)}."
    if found.recent:
        return f"{begin}; the last run ended on {date_words(found.recent[0]['dated_at'])}."
    return f"{begin}."


def _coverage(found: Daily) -> str:
    spend, now = found.total[CHOSEN], found.now
    when = f"{now:%a %-d %B %Y, %H:%M} UTC"
    if found.name != "last 24 hours":
        last = min(found.end, found.now.astimezone(found.end.tzinfo))
        when = f"{found.begin:%-d %B %H:%M} – {last:%-d %B %H:%M} {last:%Z}"
    known = f"cost known for **{spend.known:,}** of {plural(spend.runs, 'run')}"
    return " · ".join((when, *([known] if spend.runs else []), "spend counts when it was billed"))


def _second(found: Daily) -> str:
    """Return how the runs of the period ended, and the one item that matters most."""
    runs = found.total[CHOSEN].runs
    started = [row for row in found.ends if row["is_started"]]
    done, failed = (
        sum(row["runs"] for row in started if row["is_completed"] is end) for end in (True, False)
    )
    never = sum(row["runs"] for row in found.ends if not row["is_started"])
    ended = ""
    if failed:
        ended = f"{failed:,} of {runs:,} failed: {_reasons(started)}."
    elif done < runs:
        ends = f"how {f'{runs - done:,}' if runs > 1 else 'it'} ended is not recorded"
        ended = f"{done:,} of {runs:,} completed; {ends}." if done else f"{upper_first(ends)}."
    elif usual := _few_earlier(found):
        ended = usual
    else:
        ended = f"All {runs:,} completed." if runs > 1 else "It completed."
    if never:
        reasons = _reasons([row for row in found.ends if not row["is_started"]])
        ended = f"{ended} {never:,} more never started: {reasons}."
    return ended if failed or never else f"{ended} {_one_look(found)}".strip()


def _few_earlier(found: Daily) -> str:
    """Return what the days or nights before cost if they are too few for a usual one."""
    if not found.earlier or found.usual_usd is not None:
        return ""
    costs = dict.fromkeys(usd(one) for one in (min(found.earlier), max(found.earlier)))
    before = spelled(len(found.earlier), f"{found.usual_of}") + " with spend before it cost"
    return f"The {before} {' to '.join(costs)}."


def _reasons(ends: Iterable[Row]) -> str:
    found = dict.fromkeys(_reason(row["reason"]) for row in ends if row["reason"])
    most = list(found)[:2]
    return joined([*most, *([f"{len(found) - 2:,} other reasons"] if len(found) > 3 else [])])


def _reason(reason: str | None) -> str:
    return lower_first(REASONS[reason].label) if reason in REASONS else NOT_RECORDED


def _one_look(found: Daily) -> str:
    begin = "One needs a look"
    for run in _odd(found):
        worked = duration(run["duration_ms"])
        return f"{begin}: it reports {worked} of work for {usd(run['cost_usd'])}."
    for run, times in _beyond(found, "cost_best_usd")[:1]:
        money = usd(run["cost_best_usd"], run["bounds"])
        return f"{begin}: it cost {money}, {multiple(times)} {_its_usual(found.usual, run)}."
    return ""


def _odd(found: Daily) -> list[Row]:
    """Return the runs of the period that an earlier process is in, as their times contradict."""
    runs = [run for run in found.recent if run["is_in_period"] and run["is_carried_over"]]
    return sorted(runs, key=lambda run: -(run["cost_usd"] or 0))


def times_usual(found: Daily, run: Row, column: str = "cost_best_usd") -> Decimal | None:
    """Return how many times its usual run a run cost or took; None if either is unknown."""
    usual = found.usual.get(run["run_id"])
    of = usual and (usual.duration_ms if column == "duration_ms" else usual.cost_usd)
    return Decimal(run[column]) / Decimal(of) if of and run[column] is not None else None


def _beyond(found: Daily, column: str) -> list[tuple[Row, Decimal]]:
    """Return the dearest or slowest run of each project from FAR on, and each from VERY_FAR on.

    They have the multiple of their usual run; at most MOST_BEYOND.
    """
    far, projects = list[tuple[Row, Decimal]](), set[str | None]()
    runs = [run for run in found.recent if run["is_in_period"] and not run["is_carried_over"]]
    for run in sorted(runs, key=lambda run: -(run[column] or 0)):
        times = times_usual(found, run, column) or Decimal(0)
        if times >= (VERY_FAR if run["repo"] in projects else FAR):
            far.append((run, times))
            projects.add(run["repo"])
    return far[:MOST_BEYOND]


def _its_usual(usual: Mapping[str, UsualRun], run: Row) -> str:
    by = usual[run["run_id"]].by
    if "repo" in by:
        return "its usual run"
    agent = f"{agent_name(run['agent'])} " if "agent" in by else ""
    return f"the usual run of {agent}{model_name(run['model'])}"


def looks(found: Daily, budgets: Mapping[str, MonthBudget], filters: Filters) -> list[Look]:
    """Return what needs a look, the gravest first, at most MOST_LOOKS."""
    failed, waiting = _failed(found, filters), _waiting(found, filters)
    made = [*failed, *_beyond_usual(found, filters)]
    for run in _odd(found):
        turns = f" and {plural(run['num_turns'], 'turn')}" if run["num_turns"] is not None else ""
        for_what = f"{usd(run['cost_usd'])} for {duration(run['duration_ms'])}{turns}"
        what = f"{_begin(run)}: {for_what}; an earlier process is in it"
        made.append(Look("odd", what, "open", _run(run, filters)))
    made += [*_over_pace(found, budgets, filters), *_new(found, filters)]
    made += [*_measured(found, filters), *waiting]
    if not failed and not waiting:
        stopped = any(row["reason"] == _BY_HAND for row in found.ends)
        nothing = "Only interrupted runs failed" if stopped else "Nothing failed"
        made = [*made[: MOST_LOOKS - 1], Look("waiting", f"{nothing}, nothing waits")]
    return made[:MOST_LOOKS]


def _begin(run: Row) -> str:
    """Return `01:17 codeharness`, `Wed 23:24 polez`, or the agent of a run without a project."""
    when = date_words(run["dated_at"], clock=True).removeprefix("Today ")
    return f"{when} {run['repo'] or agent_name(run.get('agent'))}"


def _run(run: Row, filters: Filters) -> str:
    return link("run", filters, run=run["run_id"])


def _failed(found: Daily, filters: Filters) -> list[Look]:
    rows = [row for row in found.ends if row["is_completed"] is False or not row["is_started"]]
    made = []
    for row in (row for row in rows if row["reason"] != _BY_HAND):
        what, reason = "failed" if row["is_started"] else "never started", _reason(row["reason"])
        reason += f", for the first time in {DAYS} days" if row["is_new"] else ""
        if row["runs"] == 1:
            when = date_words(row["dated_at"], clock=True).removeprefix("Today ")
            sentence = f"{when} {named(row['repo'])} {what}: {reason}"
            made.append(Look("failed", sentence, "open", _run(row, filters)))
            continue
        chosen = filters.with_values("failure", [row["reason"]] if row["reason"] else [])
        chosen = of_project(in_period(chosen, found), row["repo"])
        sentence = f"{plural(row['runs'], 'run')} of {named(row['repo'])} {what}: {reason}"
        made.append(Look("failed", sentence, "runs", link("runs", chosen, view="Failures")))
    return made


def _beyond_usual(found: Daily, filters: Filters) -> list[Look]:
    """Return the runs that are dearer or slower than their usual run."""
    made = []
    for run, times in _beyond(found, "cost_best_usd"):
        cost, usual = usd(run["cost_best_usd"], run["bounds"]), found.usual[run["run_id"]]
        against = f"{multiple(times)} {_its_usual(found.usual, run)} ({usd(usual.cost_usd)})"
        if cause := found.causes.get(run["run_id"]):
            against += f": {usd(cause[1])} more for {PAID_FOR[cause[0]]}"
        made.append(
            Look("dearer", f"{_begin(run)} cost {cost}, {against}", "why", _run(run, filters))
        )
    for run, times in _beyond(found, "duration_ms"):
        took, usual = duration(run["duration_ms"]), found.usual[run["run_id"]]
        against = (
            f"{multiple(times)} {_its_usual(found.usual, run)} ({duration(usual.duration_ms)})"
        )
        made.append(
            Look("slower", f"{_begin(run)} took {took}, {against}", "open", _run(run, filters))
        )
    return made


def _over_pace(found: Daily, budgets: Mapping[str, MonthBudget], filters: Filters) -> list[Look]:
    """Return the budgets of this month that are passed, or will be (`months.passes_at`)."""
    made, day = [], timedelta(days=1)
    begin = found.days[-1].replace(day=1)
    passed = Decimal((found.now - begin) / day)
    left = Decimal(((begin + 32 * day).replace(day=1) - found.now) / day)
    for project, one in budgets.items():
        spent, week = one.spent or Decimal(0), found.of(project, SEVEN_DAYS).usd or Decimal(0)
        paces = (spent / passed, week / 7) if passed else ()
        at_end = passes_at(one.left, paces, found.now, left)
        if not spent or (at_end is None and one.left >= 0):
            continue
        spending = [at for at in found.days if at >= begin and found.of(project, f"{at:%F}").usd]
        share = f"{percent(spent / one.budget)} of its {begin:%B} budget"
        ends = f"ends about {at_end:%-d %B} at this pace" if at_end else "is passed"
        sentence = f"{project} spent {share} in {plural(len(spending), 'day')}: it {ends}"
        made.append(
            Look("over pace", sentence, "budget", link("cost", of_project(filters, project)))
        )
    return made


def _new(found: Daily, filters: Filters) -> list[Look]:
    """Return the most frequent new project, agent and model."""
    week = found.now - found.new_since <= timedelta(days=7)
    made = dict[str, Look]()
    for one in found.new:
        since = f"{one.first_at:%A}" if week else date_words(one.first_at)
        name = {"agent": agent_name(one.name), "model": model_name(one.name)}.get(
            one.kind, one.name
        )
        sentence = f"{name} is new{' this week' if week else ''}: {plural(one.runs, 'run')}"
        key = "main-model" if one.kind == "model" else one.kind
        chosen = filters.with_values(key, [one.name])
        address = link("runs", chosen)
        made.setdefault(one.kind, Look("new", f"{sentence} since {since}", "runs", address))
    return list(made.values())


def _measured(found: Daily, filters: Filters) -> list[Look]:
    """Return how many runs of each project were measured, and how many of them faster."""
    made = []
    for row in found.measured:
        of = plural(row["runs"], "run") + (f" of {row['repo']}" if row["repo"] else "")
        faster = f"{row['faster']:,} faster, {beyond_words(row['faster'], row['beyond_noise'])}"
        became = faster if row["faster"] else "none faster"
        sentence = f"{of} {agreeing(row['runs'], 'was')} measured: {became}"
        if changed := row["changed"]:
            old, now = (MEASURED_CLASSES[one] for one in changed[0])
            which = f", from {old} to {now}" if len({*changed}) == 1 else ""
            sentence += f"; {plural(len(changed), 'verdict')} changed{which}"
        address = link("speedups", of_project(filters, row["repo"]))
        if row["runs"] == 1:
            address = _run(row, filters)
        made.append(Look("measured", sentence, "results", address))
    return made


def _waiting(found: Daily, filters: Filters) -> list[Look]:
    return [
        Look("waiting", f"{_begin(run)} has recorded no end", "open", _run(run, filters))
        for run in found.waiting[:1]
    ]


def looks_html(found: Sequence[Look]) -> str:
    """Return what needs a look as a list."""
    lines = (
        f'<b class="t-k-{one.kind.replace(" ", "-") if one.address else "n"}">{one.kind}</b>'
        f"<span>{html_parts.text(one.sentence)}</span>"
        f"{anchor(one.address, one.label) if one.address else ''}"
        for one in found
    )
    return html_parts.look_list(lines, "Needs a look", "t-daily")


def in_period(filters: Filters, found: Daily) -> Filters:
    """Return the filters with the period that is shown."""
    is_chosen = any(map(filters.values, (TIME, *TIMES)))
    return filters if is_chosen else filters.with_values(TIME, [found.name])


def of_project(filters: Filters, project: str | None) -> Filters:
    """Return the filters with a project; unchanged without one, which no filter can name."""
    return filters.with_values("project", [project]) if project else filters


def project_rows(found: Daily) -> list[ProjectRow]:
    """Return the projects by the money of the period, then of the month, and their sum."""

    def order(project: str | None) -> tuple[Decimal, ...]:
        money = (found.of(project, key).usd or Decimal(0) for key in (CHOSEN, MONTH, LAST_WEEK))
        return tuple(-one for one in money)

    keys = (CHOSEN, WEEK, LAST_WEEK, MONTH)
    with_any = [one for one, spends in found.spends.items() if any(key in spends for key in keys)]
    shown = sorted(with_any, key=lambda one: (*order(one), one or ""))
    rows = [ProjectRow(named(one), one, found.spends[one]) for one in shown]
    if rest := rows[MOST_PROJECTS:]:
        smaller = {key: together(row.of(key) for row in rest) for key in keys}
        label = f"{plural(len(rest), 'more project')}"
        rows = [*rows[:MOST_PROJECTS], ProjectRow(label, None, smaller, "m")]
    if len(with_any) > 1:
        rows.append(ProjectRow("All projects", None, found.total, "sum"))
    return rows


def project_table(
    found: Daily, rows: Sequence[ProjectRow], budgets: Mapping[str, MonthBudget], filters: Filters
) -> TextTable:
    """Return what each project cost in the period, this and last week, this month.

    It has no columns for weeks and a month in which nothing ran.
    """
    month = f"{found.days[-1]:%B}"
    name = SHOWN[""] if found.name == "last 24 hours" else upper_first(found.name) or "Chosen time"
    keys = {CHOSEN: name, WEEK: "This week", LAST_WEEK: "Last week", MONTH: f"{month} so far"}
    keys = {
        key: label
        for key, label in keys.items()
        if key == CHOSEN or (key != found.name and found.total[key] != Spend())
    }

    def project(row: ProjectRow) -> TextCell:
        address = link("", of_project(filters, row.project)) if row.project else ""
        return TextCell(strong=row.label, address=address, kind="t-plain")

    def runs(row: ProjectRow) -> str:
        return f"{row.of(MONTH).runs:,}" if row.of(MONTH).runs else UNKNOWN

    def spent(key: str) -> Callable[[ProjectRow], TextCell]:
        return lambda row: money_cell(row.of(key), UNKNOWN)

    columns = [Col("Project", project)]
    columns += [Col(label, spent(key), "r") for key, label in keys.items()]
    if budgets:
        columns.append(Col(f"Budget for {month}", lambda row: budget_cell(rows, row, budgets)))
    if found.total[MONTH].runs:
        columns.append(Col(f"Runs in {month}", runs, "r"))
    return TextTable(columns, rows, lambda row: row.kind)


def budget_cell(
    rows: Sequence[ProjectRow], row: ProjectRow, budgets: Mapping[str, MonthBudget]
) -> TextCell:
    """Return what is left of a project's budget, with a bar and a stroke at an even pace."""
    if row.kind:
        projects = [one.project for one in rows if one.project]
        count = sum(one in budgets for one in projects)
        of = plural(len(projects), "project")
        return TextCell(note=f"set for {count:,} of {of}" if row.kind == "sum" else "")
    one = budgets.get(row.project or "")
    if not one:
        return TextCell(note="no budget")
    left = f"{usd(one.left)} of {whole_usd(one.budget)} left"
    left = f"passed by {usd(-one.left)}" if one.left < 0 else left
    return TextCell(note=left, mark=budget_bar(one))


def project_cards(
    found: Daily, rows: Sequence[ProjectRow], budgets: Mapping[str, MonthBudget], filters: Filters
) -> str:
    """Return the first projects as cards for a phone, and what the others cost this month."""
    single = [row for row in rows if not row.kind]
    cards = project_table(found, single[:MOST_CARDS], budgets, filters).cards
    rest = [*single[MOST_CARDS:], *(row for row in rows if row.kind == "m")]
    if not rest:
        return cards
    key, when = MONTH, f" in {found.days[-1]:%B}"
    if found.total[MONTH] == Spend():
        key, when = CHOSEN, ""
    spend = together(row.of(key) for row in rest)
    count = sum(
        any(key in of for key in (CHOSEN, WEEK, LAST_WEEK, MONTH)) for of in found.spends.values()
    )
    said = f"{plural(count - MOST_CARDS, 'more project')}: {money_cell(spend, UNKNOWN)}{when}"
    return f"{cards}{html_parts.muted(said)}"


def run_rows(found: Daily, filters: Filters) -> TextTable:
    """Return the last runs, each against its usual run."""
    dearer = {run["run_id"] for run, _ in _beyond(found, "cost_best_usd")}

    def ended(run: Row) -> TextCell:
        when = date_words(run["dated_at"], clock=True)
        return TextCell(when, address=_run(run, filters), kind="t-plain")

    def agent(run: Row) -> TextCell:
        model = model_name(run["model"], "")
        return agent_cell(run["agent"], model, filters, run["model"] or "")

    def note(run: Row) -> TextCell:
        if run["is_carried_over"]:
            return TextCell("time and turns contradict the cost", kind="t-k-odd")
        if run["run_id"] in dearer:
            return TextCell("dearer than usual", kind="t-k-dearer")
        return TextCell(note=REASONS[run["reason"]].label if run["reason"] else "")

    columns = (
        Col("Ended (UTC)", ended),
        Col("Project", lambda run: TextCell(run["repo"] or UNKNOWN)),
        Col("Agent, model", agent),
        Col("Outcome", _outcome),
        Col("Wall time", _wall, "r"),
        Col(
            "Turns",
            lambda run: UNKNOWN if run["num_turns"] is None else f"{run['num_turns']:,}",
            "r",
        ),
        Col("Cost", _cost, "r"),
        Col("Against\nusual", lambda run: against_usual(found, run), "r"),
        Col("", note),
    )
    return TextTable(columns, found.recent[:MOST_RUNS])


def _outcome(run: Row) -> str:
    if not run["is_started"]:
        return "never started"
    return NOT_RECORDED if run["outcome"] == "unknown" else fact_words(run["outcome"], "outcome")


def _wall(run: Row) -> TextCell:
    if run["duration_ms"] is None:
        return TextCell(UNKNOWN)
    took = duration(run["duration_ms"])
    return TextCell(note=f"{took}?") if run["is_carried_over"] else TextCell(took)


def _cost(run: Row) -> str:
    paid = [(run["credits_unit"] or "credits", run["credits"])] if run["credits"] else ()
    return usd(run["cost_usd"], run["bounds"], credit_words(paid) or NOT_RECORDED)


def against_usual(found: Daily, run: Row) -> TextCell:
    """Return the multiple of the usual run, red from MARKED on."""
    times = times_usual(found, run)
    if times is None:
        return TextCell(UNKNOWN)
    return TextCell(multiple(times), kind="t-bad" if times >= MARKED else "t-n")


def run_lines(found: Daily, filters: Filters) -> str:
    """Return the last runs for a phone, two lines each."""
    drawn = []
    for run in found.recent[:MOST_RUNS]:
        turns = "" if run["num_turns"] is None else plural(run["num_turns"], "turn")
        about = " · ".join(filter(None, (_wall(run).html if run["duration_ms"] else "", turns)))
        what = f"{mark(run['agent'])} {html_parts.text(named(run['repo']))}<br>"
        when = html_parts.text(date_words(run["dated_at"], clock=True))
        drawn.append(
            f"<span>{anchor(_run(run, filters), when)}</span>"
            f'<span>{what}<span class="t-n">{about}</span></span>'
            f"<b>{html_parts.text(_cost(run))}</b>"
            f"<span>{against_usual(found, run).html}</span>"
        )
    return html_parts.look_list(drawn, kind="t-last")


def runs_note(found: Daily, filters: Filters) -> str:
    """Return a link to the runs of the month or else the period, and what the usual run is."""
    chosen = in_period(filters, found)
    month = chosen.with_values(TIME, [MONTH])
    for key in TIMES:
        month = month.with_values(key, [])
    all_of = anchor(link("runs", month), f"All runs of {found.days[-1]:%B}")
    if not found.total[MONTH].runs:
        all_of = anchor(link("runs", chosen), "All runs of this period")
    usual = "usual run: median of earlier runs, from five on, of the same project, agent and model"
    return f'<p class="t-cap">{all_of} · {usual}, else of fewer of these</p>'


def per_day_title(found: Daily) -> tuple[str, str]:
    """Return the title and the caption of the chart of the last days."""
    days, usual = found.with_spend, found.usual_day_usd
    spent = together(found.total[f"{day:%F}"] for day in found.days)
    known = f"; all {usd(spent.usd, spent.bounds)} known" if spent.usd else ""
    caption = f"Spend per day, last {len(found.days)} days{known}"
    if usual is None:
        count = sum(bool(found.total[f"{day:%F}"].usd) for day in found.days)
        why = f"{caption}; a usual {DAY} needs five earlier ones"
        return f"{plural(count, 'day')} with spend", why
    return (
        f"A usual day costs {usd(usual)}",
        f"{caption}; line: median of {len(days)} days with spend",
    )


def doubts(found: Daily, undated: Undated, filters: Filters) -> tuple[Doubt, ...]:
    """Return what is not sure of the figures of the period, each with a link."""
    spend, chosen, made = found.total[CHOSEN], in_period(filters, found), list[Doubt]()
    if lacks := spend.runs - spend.known:
        text = f"The cost of {plural(lacks, 'run')} is not recorded"
        made.append(Doubt(text, "Data", link("data", chosen)))
    if spend.bounds:
        kind = "a lower bound" if usd(spend.usd, spend.bounds).startswith(AT_LEAST) else "inexact"
        text = f"The sum is {kind}: some logs do not record exact tokens"
        made.append(Doubt(text, "Cost & time", link("cost", chosen)))
    open_ends = sum(row["runs"] for row in found.ends if row["is_completed"] is None)
    if open_ends:
        text = (
            f"{plural(open_ends, 'log')} {agreeing(open_ends, 'does')} not record how the run ended"
        )
        made.append(Doubt(text, "Runs", link("runs", chosen)))
    if undated.runs:
        have = (
            f"{plural(undated.runs, 'run')}{undated_cost(undated)} {agreeing(undated.runs, 'has')}"
        )
        made.append(
            Doubt(
                f"{have} no date and {agreeing(undated.runs, 'is')} in no period",
                "Date them",
                link("data", filters),
            )
        )
    return tuple(made)
