"""Sentences and tables of the months on Cost & time. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple

from app.queries.filters import TIME, UNDATED, Filters
from app.queries.grouping import SIDES
from app.queries.months import (
    GROUPS_OF,
    MonthBudget,
    MonthCost,
    Months,
    Names,
    bounds_of_month,
    sum_of,
)
from app.queries.spending import Spend, together
from app.text.agents import SIDE_HEADS, SIDE_NAMES
from app.text.answers import NO_RUN_ENDED, only_spent
from app.text.formatting import (
    NAMELESS,
    UNKNOWN,
    agent_name,
    date_words,
    multiple,
    ordinal,
    percent,
    sign_of,
    usd,
    whole_usd,
    with_sign,
)
from app.text.html_parts import agent_and_model, anchor, link, look_list, text
from app.text.sentences import Doubt, Said, upper_first
from app.text.table import NO_DATE, Col, TextCell, TextTable, agent_and_model_cell, money_cell
from schemas.catalogue.cost_measures import NEARLY_ALL
from schemas.text import one_line, plural

MOST_ROWS, MOST_MONTHS, PHONE_MONTHS = 10, 6, 3
"""Rows with a name of their own in a table, and its columns of months; on a phone."""

BY = dict(zip(GROUPS_OF, ("Project", "Person", *SIDE_NAMES.values()), strict=True))


def month_name(month: str, *, pattern: str = "%B", now: str = "") -> str:
    """Return `March`, or `March 2025` if it is not in the year of `now`."""
    begin, _ = bounds_of_month(month)
    return f"{begin:{pattern}}" if month[:4] == now[:4] else f"{begin:{pattern} %Y}"


def group_name(by: str, names: Names) -> str:
    """Return a group's name, `no project` for none."""
    if by in SIDES:
        return agent_and_model(*names)
    return names[0] or NAMELESS.get(by, f"no {by}")


def months_said(found: Months, filters: Filters) -> Said:
    """Return what the month cost against the one before it, and the budget that needs a look."""
    total = sum_of(found.chosen)
    known = f"**{min(total.known, total.runs):,}** of {plural(total.runs, 'run')}"
    covers = [f"cost known for {known}"] if total.runs or total.usd is None else [NO_RUN_ENDED]
    covers.append("spend counts when it was billed")
    undated = found.of(None)
    if undated.runs and found.month:
        money = "" if undated.usd is None else f" ({usd(undated.usd, undated.bounds)})"
        covers.append(f"{plural(undated.runs, 'run')}{money} have no date")
    if found.month:
        covers.insert(0, _period(found))
    coverage = upper_first(" · ".join(covers))
    return Said(_heading(found, total), _second(found), coverage, _doubts(found, filters))


def _period(found: Months) -> str:
    if found.is_running:
        return f"1–{found.now:%-d %B %Y, %H:%M} UTC"
    last = bounds_of_month(found.month)[1] - timedelta(days=1)
    return f"1–{last:%-d %B %Y} UTC"


def _heading(found: Months, total: Spend) -> str:
    now = f"{found.now:%Y-%m}"
    if total.usd is None:
        when = f" in {month_name(found.month, now=now)}" if found.month else ""
        return f"What {plural(total.runs, 'run')} cost{when} **is not recorded**."
    money = f"**{usd(total.usd, total.bounds)}**"
    if not found.month:
        none = " and has no date" if total.runs == 1 else "; none of them has a date"
        undated = none if not found.months else ""
        if not total.runs:
            return only_spent(total.usd, total.bounds)
        return f"{plural(total.runs, 'run')} cost {money}{undated}{_largest(found, total)}."
    name = month_name(found.month, now=now)
    before = found.of(found.before)
    against = ""
    if before.usd:
        last = month_name(found.before, now=found.month)
        more = total.usd / before.usd
        times = f"{percent(more)} of" if more < 1 else multiple(more)
        against = f", {times} {'all of ' if found.is_running and more >= 1 else ''}{last}"
    if not found.is_running:
        return f"{name} cost {money}{against}{_largest(found, total)}."
    by = f"by the {ordinal(found.now.day)}"
    return f"{name} has cost {money} {by}{against}{_largest(found, total)}."


def _largest(found: Months, total: Spend) -> str:
    """Return `; codeharness took two thirds`, "" if one group took all or its part is unknown."""
    first, *others = sorted(found.chosen, key=lambda row: -(row.spend.usd or 0))
    if not others or not first.spend.usd or not total.usd or not any(first.names):
        return ""
    share = first.spend.usd / total.usd
    named = {Decimal("0.6667"): "two thirds", Decimal("0.5"): "half", Decimal("0.3333"): "a third"}
    near = next((word for part, word in named.items() if abs(share - part) < Decimal("0.02")), "")
    part = near or ("nearly all" if share > NEARLY_ALL else percent(share))
    return f"; {group_name(found.by, first.names)} took {part}"


def _second(found: Months) -> str:
    """Return the first budget that is or will be passed, that all hold, or the dearest run."""
    passed = sorted((one.left, name) for name, one in found.budgets.items() if one.left < 0)
    if passed:
        left, name = passed[0]
        has = "has passed" if found.is_running else "passed"
        return f"{name} {has} its {whole_usd(found.budgets[name].budget)} budget by {usd(-left)}."
    passes = [(at, name) for name in found.budgets if (at := found.passes_at([(name,)]))]
    if passes:
        at, name = min(passes)
        budget = f"its {whole_usd(found.budgets[name].budget)} budget"
        of_month, of_week = found.paces([(name,)]) or (0, 0)
        pace = (
            "of the last 7 days"
            if of_week >= of_month
            else f"of {month_name(found.month, now=found.month)}"
        )
        return f"At the pace {pace} {name} passes {budget} on {at:%-d %B}."
    if not found.budgets:
        run = found.dearest
        if run is None or not run["cost_best_usd"] or sum_of(found.chosen).runs < 2:
            return ""
        project = f" on {run['repo']}" if run["repo"] else ""
        cost = usd(run["cost_best_usd"], run["cost_best_bounds"])
        return f"The dearest run, {agent_name(run['agent'])}{project}, cost {cost}."
    holds = "holds at the present pace" if found.is_running else "held"
    if len(found.budgets) == 1:
        return f"The budget of {next(iter(found.budgets))} {holds}."
    return f"All {len(found.budgets)} budgets {holds.replace('holds', 'hold')}."


def _doubts(found: Months, filters: Filters) -> tuple[Doubt, ...]:
    """Return what is not in the figures, each with a link."""
    total, made = sum_of(found.chosen), list[Doubt]()
    of = f" of {month_name(found.month, now=f'{found.now:%Y-%m}')}" if found.month else ""
    inside = filters
    if found.month:
        begin, end = (f"{one:%F}" for one in bounds_of_month(found.month))
        inside = filters.with_values("since", [begin]).with_values("until", [end])
    undated = found.of(None)
    if undated.runs and found.months:
        known = f": {usd(undated.usd, undated.bounds)} known for {undated.known:,}"
        said = f"{plural(undated.runs, 'run')} without a date{known if undated.known else ''}"
        made.append(Doubt(said, "date them", link("runs", filters.with_values(TIME, [UNDATED]))))
    lacks = [
        (row.spend.runs - row.spend.known, agent_name(row.names[0]))
        for row in found.agents
        if row.spend.runs > row.spend.known
    ]
    if lacks:
        count = sum(number for number, _ in lacks)
        named = ", ".join(f"{name} {number:,}" for number, name in sorted(lacks, reverse=True)[:4])
        logs = "logs" if count == 1 else "log"
        said = f"{plural(count, 'run')}{of} {logs} no cost ({named})"
        made.append(Doubt(said, "runs", link("runs", inside)))
    if sign := sign_of(total.bounds).strip():
        said = f"{sign}: some logs do not record all tokens"
        made.append(Doubt(said, "runs", link("runs", inside)))
    return tuple(made)


def left_out(found: Months, filters: Filters) -> str:
    """Return what is not in the figures as a list, "" if nothing is missing."""
    lines = (
        f"<span>{text(one.text)}</span>{anchor(one.address, text(one.label))}"
        for one in _doubts(found, filters)
    )
    return look_list(lines, "What is not in here")


def _name_cell(found: Months, row: MonthCost, filters: Filters) -> TextCell:
    if found.by in SIDES and len(row.names) > 1:
        agent, model, *efforts = row.names
        effort = (efforts[0] or "") if efforts else None
        return agent_and_model_cell(agent, model, filters, effort)
    name = group_name(found.by, row.names)
    if not row.names[0]:
        return TextCell(note=name)
    key, value = ("label", f"person={name}") if found.by == "person" else (found.by, name)
    address = link("cost", filters.with_values(key, [value]))
    return TextCell(strong=name, kind="t-plain", address=address)


class MonthLine(NamedTuple):
    """A row of a table: rows of one group, or of several under a `label`; `kind`: its class."""

    rows: Sequence[MonthCost]
    label: str = ""
    kind: str = ""

    @property
    def names(self) -> list[Names]:
        return [row.names for row in self.rows]


def _lines(found: Months, groups: Sequence[Sequence[MonthCost]]) -> list[MonthLine]:
    """Return a line per group, the smaller ones in one, and their sum."""
    noun = {"project": "projects", "person": "persons"}.get(found.by, "agents and models")
    lines = [MonthLine(rows) for rows in groups]
    if len(lines) > MOST_ROWS + 1:
        rest = [row for line in lines[MOST_ROWS:] for row in line.rows]
        label = f"{len(lines) - MOST_ROWS:,} smaller {noun}"
        lines = [*lines[:MOST_ROWS], MonthLine(rest, label, "m")]
    if len(groups) > 1:
        every = [row for rows in groups for row in rows]
        lines.append(MonthLine(every, f"All {noun}", "sum"))
    return lines


def _line_name(found: Months, line: MonthLine, filters: Filters) -> TextCell:
    if not line.label:
        return _name_cell(found, line.rows[0], filters)
    return TextCell(strong=line.label) if line.kind == "sum" else TextCell(note=line.label)


def month_table(found: Months, filters: Filters) -> TextTable:
    """Return what each group cost in the month, against the one before and its budget.

    Groups that spent only in the one before come last, so that its column adds up, too.
    """
    rows = list(found.chosen)
    if found.month:
        names = {row.names for row in rows}
        gone = [row for row in found.costs if row.month == found.before and row.spend.usd]
        rows += [MonthCost(one.names, found.month) for one in gone if one.names not in names]
    lines = _lines(found, [[row] for row in rows])

    def runs(line: MonthLine) -> str:
        started = sum_of(line.rows).runs
        return f"{started:,}" if started else UNKNOWN

    def spent(line: MonthLine) -> TextCell:
        cell = money_cell(sum_of(line.rows))
        return cell if str(cell) else TextCell("$0")

    def before(line: MonthLine) -> TextCell:
        of = [found.of(found.before, one) for one in line.names]
        cell = money_cell(found.of(found.before) if line.kind == "sum" else together(of))
        return cell if str(cell) else TextCell(UNKNOWN)

    def allowed(line: MonthLine) -> MonthBudget | None:
        return None if line.kind else found.budgets.get(line.rows[0].names[0] or "")

    def budget(line: MonthLine) -> TextCell:
        one = allowed(line)
        if one is None:
            return TextCell(note="" if line.kind else "no budget")
        return TextCell(
            mark=budget_bar(one), hint=f"{whole_usd(one.budget)}; an even pace: {usd(one.pace)}"
        )

    def left(line: MonthLine) -> str:
        one = allowed(line)
        return usd(one.left) if one else ""

    columns = [
        Col((BY | SIDE_HEADS)[found.by], lambda line: _line_name(found, line, filters)),
        Col("Runs", runs, "r"),
    ]
    if not found.month:
        columns.append(Col("Spent", spent, "r"))
        return TextTable(columns, lines, lambda line: line.kind)
    last = bounds_of_month(found.month)[1] - timedelta(days=1)
    columns += [
        Col(f"Spent in {month_name(found.month, now=f'{found.now:%Y-%m}')}", spent, "r"),
        Col(f"All of {month_name(found.before, now=found.month)}", before, "r"),
    ]
    if found.budgets:
        title = "Budget, today’s pace marked" if found.is_running else "Budget"
        columns += [Col(title, budget), Col("Left", left, "r")]
    if found.is_running:
        title = f"Forecast, {last:%-d %B}"
        columns.append(Col(title, lambda line: forecast(found, line.names), "r"))
    if found.budgets:
        columns.append(Col("", lambda line: _verdict(found, line.rows[0], line.kind)))
    return TextTable(columns, lines, lambda line: line.kind)


def budget_bar(one: MonthBudget) -> str:
    """Return the spent share of a budget as a bar, with a stroke at an even pace (HTML)."""
    share, passed = (one.spent or 0) / one.budget, one.pace / one.budget
    over = ' class="over"' if share > 1 else ""
    stroke = f'<u style="left:{passed:.0%}"></u>' if passed < 1 else ""
    return f'<span class="t-budget"><i{over} style="width:{min(share, 1):.0%}"></i>{stroke}</span>'


def forecast(found: Months, names: Sequence[Names]) -> TextCell:
    """Return `$93–154`, from the month's pace to that of the last 7 days."""
    at_both = found.forecast(names)
    if at_both is None:
        return TextCell("")
    low, high = at_both
    if high < 1:
        written = "<$1"
    else:
        first, last = f"{low:,.0f}", f"{high:,.0f}"
        written = f"${first}" if first == last else f"${first}–{last}"
    bounds = together(found.of(found.month, one) for one in names).bounds
    return TextCell(with_sign(sign_of(bounds), written), hint=f"{low:.2f} to {high:.2f}")


def _verdict(found: Months, row: MonthCost, kind: str) -> TextCell:
    """Return in words whether a budget holds."""
    one = found.budgets.get(row.names[0] or "")
    if one is None or kind:
        return TextCell("")
    if one.left < 0:
        return TextCell("passed", kind="t-bad")
    if not found.is_running:
        return TextCell(note="stayed within")
    at, at_both = found.passes_at([row.names]), found.forecast([row.names])
    if at and at_both:
        is_sure = at_both[0] > one.budget
        return TextCell(f"may pass it on {at:%-d %B}", kind="t-bad" if is_sure else "t-warned")
    return TextCell(note="stays within")


def along_table(found: Months, filters: Filters, columns: int = MOST_MONTHS) -> TextTable:
    """Return what each group cost month by month, runs without a date in the last row."""
    months = found.months[-columns:]
    earlier = [one for one in found.months if one not in months]
    by_name: dict[Names, list[MonthCost]] = {}
    for row in found.costs:
        if row.month:
            by_name.setdefault(row.names, []).append(row)
    ranked = sorted(by_name.values(), key=lambda rows: -(sum_of(rows).usd or 0))
    lines = _lines(found, ranked)
    if undated := [row for row in found.costs if not row.month]:
        lines.append(MonthLine(undated, NO_DATE))

    def in_months(months: Sequence[str]) -> Callable[[MonthLine], str]:
        return lambda line: money_cell(sum_of(row for row in line.rows if row.month in months)).text

    running = f"{found.now:%Y-%m}"
    shown = [Col((BY | SIDE_HEADS)[found.by], lambda line: _line_name(found, line, filters))]
    if earlier and columns > PHONE_MONTHS:
        shown.append(Col("Earlier", in_months(earlier), "r"))
    for month in months:
        label = month_name(month, pattern="%b", now=running)
        shown.append(Col(f"{label}{'*' if month == running else ''}", in_months([month]), "r"))
    total = Col("Sum", lambda line: TextCell(strong=money_cell(sum_of(line.rows)).text), "r")
    return TextTable([*shown, total], lines, lambda line: line.kind)


def along_title(found: Months) -> str:
    """Return the title of the table of months."""
    return "Month by month" if found.by != "person" else "By person"


def along_caption(found: Months) -> str:
    """Return how to read the table of months."""
    now = found.now
    until = f" * to {date_words(now)}, {now:%H:%M}." if f"{now:%Y-%m}" in found.months else ""
    return f"In an empty cell nothing was spent.{until}"


def tab_separated(table: TextTable) -> str:
    """Return a table to paste into a spreadsheet."""
    rows = [[column.label for column in table.columns]]
    rows += [[cell.plain or cell.note for cell in row] for row in table.cells]
    return "\n".join("\t".join(map(one_line, row)) for row in rows)


def spend_title(found: Months) -> tuple[str, str]:
    """Return the title and the caption of the chart of a month."""
    name = month_name(found.month, now=f"{found.now:%Y-%m}")
    if not found.budgets:
        days = len({row.month for row in found.days if row.spend.usd})
        caption = f"{name}, added up"
        if found.is_running:
            caption += "; band: pace of the month to pace of the last 7 days"
        return f"{plural(days, 'day')} with spend in {name}", caption
    names = [(one,) for one in found.budgets]
    allowed = sum((one.budget for one in found.budgets.values()), Decimal(0))
    spent = sum((one.spent or Decimal(0) for one in found.budgets.values()), Decimal(0))
    the = "the budgets together are" if len(names) > 1 else "the budget is"
    title = f"{upper_first(the)} not spent"
    if spent > allowed:
        title = f"{upper_first(the)} spent"
    elif found.is_running:
        at = found.passes_at(names)
        when = f"spent on {at:%-d %B}" if at else f"not spent in {name}"
        title = f"At the {'faster' if at else 'present'} pace {the} {when}"
    caption = f"{plural(len(names), found.by)} with a budget"
    band = "; band: pace of the month to pace of the last 7 days" if found.is_running else ""
    return title, upper_first(caption + band)
