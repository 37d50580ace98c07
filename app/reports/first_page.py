"""The first page of a report, for who pays: title, owner, period, total, change, failures, top models and repositories, budgets, notes.

It is data; the formats lay it out. A new caveat is an entry of `notes_of`.
"""

from __future__ import annotations

from calendar import month_name
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from app.queries import agents as agent_queries
from app.queries import measured as measured_queries
from app.queries import runs as run_queries
from app.queries.agents import AgentFigures
from app.queries.cost import COST_FACTS, is_comparable, model_costs
from app.queries.filters import Filters, moment
from app.queries.grouping import UTC_ZONE, known_zone
from app.queries.runs import KNOWN_SUFFIX
from app.reports.budgets import Budgets, Verdict, verdicts
from app.text import brief
from app.text.answers import excluded_words, undated_words
from app.text.formatting import MINUS, UNKNOWN_NAME, human, known_of, rate_words
from app.text.html_parts import agent_name
from app.text.sentences import Said
from app.text.sentences.overview import overview
from app.text.words import measures as measure_words
from app.text.words.costs import base_words
from ingest.store.database import Store
from schemas.catalogue.columns import GROUPS
from schemas.catalogue.cost_measures import BEST, LIST, REPORTED, CostMeasure
from schemas.text import plural
from schemas.units import Unit

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Period:
    """From `start` to before `end`, in UTC; None where nothing is known. `is_chosen`: its start is that of the filter."""

    start: datetime | None
    end: datetime | None
    is_chosen: bool = False

    def words(self, zone: str = UTC_ZONE) -> str:
        """`March 2026`, `2026-03-01 to 2026-03-15`, or with hours where it does not begin or end with a day of the zone."""
        if self.start is None or self.end is None:
            return UNKNOWN_NAME
        start, end = (_in_zone(time, zone) for time in (self.start, self.end))
        if not self.is_chosen:
            return _days(start, end)
        if not (_is_midnight(start) and _is_midnight(end)):
            return f"{start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} {zone}"
        if _months(start, end) == 1:
            return f"{month_name[start.month]} {start.year}"
        return _days(start, end - timedelta(microseconds=1))

    def before(self) -> Period | None:
        """The period before it: the same number of months, else the same length. None where the report begins with the first run."""
        if not self.is_chosen or self.start is None or self.end is None:
            return None
        months = _months(self.start, self.end)
        try:
            start = _earlier(self.start, months) if months else self.start - (self.end - self.start)
        except (OverflowError, ValueError):  # before the year 1
            return None
        return Period(start, self.start, is_chosen=True)

    def filters(self, others: Filters) -> Filters:
        """The filters of the runs of this period."""
        start, end = ([time.astimezone(UTC).isoformat()] if time else [] for time in (self.start, self.end))
        return others.with_values("since", start).with_values("until", end)

    def as_dict(self) -> dict[str, Any]:
        """The period for programs."""
        return {"from": self.start, "to": self.end}


def period_of(filters: Filters, covers: Mapping[str, Any], made_at: datetime, zone: str = UTC_ZONE) -> Period:
    """The period of the filters, open ends closed by the runs (`covers` is `app.queries.cost.coverage`). Its days are those of the zone.

    Since a date means until today: a week without runs costs nothing, and is a part of the period.
    """
    since, until = (_moment(filters, key, zone) for key in ("since", "until"))
    if since is None:
        return Period(covers["first_at"], until or covers["last_at"])
    if until is None:
        until = _end_of_day(max(filter(None, (since, made_at, covers["last_at"]))), zone)
    return Period(since, until, is_chosen=since < until)


def _moment(filters: Filters, key: str, zone: str) -> datetime | None:
    value = next(iter(filters.values(key)), None)
    time = moment(value, zone=known_zone(zone)) if value else None
    return None if time is None else _in_zone(time, zone)


def _end_of_day(time: datetime, zone: str) -> datetime:
    try:
        return time.astimezone(known_zone(zone)).replace(hour=0, minute=0, second=0, microsecond=0) + _DAY
    except OverflowError:  # the last day of the year 9999
        return datetime.max.replace(tzinfo=UTC)


def _in_zone(time: datetime, zone: str) -> datetime:
    try:
        return time.astimezone(known_zone(zone))
    except OverflowError:  # beyond the years 1 to 9999 there
        return time


def _days(first: datetime, last: datetime) -> str:
    return f"{first:%Y-%m-%d}" if first.date() == last.date() else f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"


def _is_midnight(time: datetime) -> bool:
    return time.time() == datetime.min.time()


def _months(start: datetime, end: datetime) -> int:
    """How many whole calendar months lie between two moments; 0 where they are no beginnings of months."""
    is_whole = all(_is_midnight(time) and time.day == 1 for time in (start, end))
    return (end.year - start.year) * 12 + end.month - start.month if is_whole else 0


def _earlier(start: datetime, months: int) -> datetime:
    """The beginning of the month that is so many months earlier."""
    year, month = divmod(start.year * 12 + start.month - 1 - months, 12)
    return start.replace(year=year, month=month + 1)


TITLE = "Cost report"
TOP = 5
"""Models and repositories that are named; the others are one line."""

OTHER = "other"
REPOSITORIES = "top_repositories"
CHANGE = "Change vs. previous period"
METRICS = (*COST_FACTS, "completed", "error_rate", "cost_delta_usd", "cost_delta_share", "cost_compared_usd", "unpriced_runs")
MEASURED = (
    "runs_measured", "runs_compared", "runs_faster", "runs_same", "runs_slower", "runs_failed", "cost_per_faster_usd",
    "cost_per_faster_compared_usd", "cost_best_bounds",
)  # fmt: skip
"""Figures of what was measured, for programs."""

TOTAL_BUDGET = "max-total-usd"

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Request:
    """What the first page is asked for. `title` empty: the usual one; `owner`: whom the report is prepared for; `measure`: its costs."""

    title: str = ""
    owner: str = ""
    budgets: Budgets = ()
    measure: CostMeasure = REPORTED


@dataclass(frozen=True)
class Figure:
    """A figure of the page: `value` as people read it, `number` in its unit for a workbook.

    `number` is None where it is unknown, and a text where there is none, which says why. `verdict` is PASS or FAIL where there is a
    budget for it.
    """

    label: str
    value: str
    number: Any
    unit: Unit
    note: str = ""
    verdict: str = ""


@dataclass(frozen=True)
class Share:
    """What one of several accounts for. `share` is of the total cost."""

    name: str
    usd: Decimal
    share: Decimal | None


@dataclass(frozen=True)
class TopList:
    """The most expensive of a kind, then other, then unknown; they add up to the total cost.

    `sign`: `≤ ` where the total includes an upper bound. Then nothing has a share: a part of a bound is no part.
    """

    key: str
    title: str
    column: str
    shares: tuple[Share, ...]
    sign: str = ""

    @property
    def is_named(self) -> bool:
        """Whether any of it has a name."""
        return any(one.name != UNKNOWN_NAME for one in self.shares)


@dataclass(frozen=True)
class Basis:
    """What notes are written from: METRICS of all runs, the coverage of the report, its filters, and what its costs are."""

    totals: Row
    covers: Row
    filters: Filters
    measure: CostMeasure = REPORTED


AGENTS = (
    "Agent, model", "Runs", "Outcome", "Never started", "Cost", "Per run (median)", "Wall time (completed)", "Claimed (median)", "Measured",
    "Per verified speedup",
)  # fmt: skip
"""The columns of the table of agents."""


def agent_cells(row: AgentFigures) -> tuple[str, ...]:
    """The figures of an agent or of one of its models under AGENTS, as the Overview has them."""
    name = f"– {row.model or 'model not recorded'}" if row.is_model else agent_name(row.agent)
    if not row.is_model:
        name += f" ({row.model}{f', +{row.models - 1}' if row.models > 1 else ''})" if row.model else ""
    joined = ((" · ".join(filter(None, pair))) for pair in (brief.cost_cell(row), brief.median(row.wall, brief.duration)))
    cost, wall = joined
    claimed, few = brief.median(row.claimed, brief.ratio)
    of = few or (f"n {row.claimed.known:,}" if row.claimed.known else "")
    per = row.cost_per_faster_usd
    return (
        name, f"{row.runs:,}", "".join(brief.completed_words(row)), f"{row.never_started:,}" if row.never_started else brief.NO_VALUE, cost,
        brief.median_cost(row), wall, " · ".join(filter(None, (claimed, of))), "".join(brief.measured_words(row)),
        brief.NO_VALUE if per is None else brief.usd(per, row.bounds),
    )  # fmt: skip


@dataclass(frozen=True)
class FirstPage:
    """The page: `said` and `agents` are the sentence and the table of the Overview.

    `totals` has METRICS of its runs, `earlier` those of the period before; None where there is no such period.

    `measured` has VERDICT_METRICS of the runs, None where nothing was measured.
    """

    title: str
    owner: str
    said: Said
    agents: tuple[AgentFigures, ...]
    zone: str
    filters: Filters
    period: Period
    undated: int
    totals: Row
    before: Period | None
    earlier: Row | None
    tops: tuple[TopList, ...]
    budgets: tuple[Verdict, ...]
    notes: tuple[str, ...]
    measure: CostMeasure = REPORTED
    measured: Row | None = None

    @property
    def answer(self) -> str:
        """The sentence of the Overview, in plain text."""
        return self.said.heading.replace("**", "")

    @property
    def more(self) -> list[str]:
        """The second most important fact, and what both rest on."""
        return [text.replace("**", "") for text in (self.said.second, self.said.coverage) if text]

    @property
    def agent_table(self) -> list[tuple[str, ...]]:
        """The table of agents in words, its header first; columns without any value are left out."""
        lines = [AGENTS, *map(agent_cells, self.agents)]
        empty = (brief.NO_VALUE, brief.NOT_MEASURED)
        kept = [place for place in range(len(AGENTS)) if any(line[place] not in empty for line in lines[1:])]
        return [tuple(line[place] for place in kept) for line in lines]

    @property
    def cost(self) -> Decimal | None:
        """What all runs cost by the measure."""
        found: Decimal | None = self.totals[self.measure.total]
        return found

    @property
    def named_tops(self) -> tuple[TopList, ...]:
        """The top lists for people: one in which everything is unknown says nothing."""
        return tuple(top for top in self.tops if top.is_named)

    @property
    def lacks_repositories(self) -> bool:
        """Whether something was spent, and nothing of it in a repository that has a name."""
        return bool(self.cost) and all(top.key != REPOSITORIES for top in self.named_tops)

    @property
    def lines(self) -> list[tuple[str, str]]:
        """The lines below the title, each a label and its text: owner, period and filters."""
        undated = f"; {plural(self.undated, 'run')} without a date" if self.undated else ""
        others = self.filters.with_values("since", ()).with_values("until", ())
        lines = [("Prepared for", self.owner), ("Period", self.period.words(self.zone) + undated), ("Filters", others.as_words())]
        return [(label, text) for label, text in lines if text]

    @property
    def figures(self) -> list[Figure]:
        """The figures, most important first."""
        runs, cost, failures = self.totals["runs"], self.cost, self.totals["error_rate"]
        ended = self.totals[f"error_rate{KNOWN_SUFFIX}"]
        change, before = self._change
        failed = f"{ended - self.totals['completed']:,} of {plural(ended, 'run')}{' with a known outcome' if ended < runs else ''}"
        return [
            Figure(
                f"Total {self.measure.name}",
                measure_words.bound_sign(self.totals, self.measure.total) + human(cost, Unit.USD),
                cost,
                Unit.USD,
                self._known,
            ),
            Figure(CHANGE, change, change if self.change_usd is None else self.change_usd, Unit.USD, before),
            Figure("Runs", human(runs, Unit.COUNT), runs, Unit.COUNT),
            Figure(
                "Failure rate", rate_words(failures, ended, runs) if ended else human(None), failures, Unit.SHARE, failed if ended else ""
            ),
            *self._budget_left,
        ]

    @property
    def numbers(self) -> list[Figure]:
        """The figures for a workbook: the change as a share has a line of its own."""
        cost, change, *others = self.figures
        share = self.change_share
        shares = [] if share is None else [Figure("Change, %", human(share, Unit.SHARE), share, Unit.SHARE)]
        return [cost, change, *shares, *others]

    @property
    def change_usd(self) -> Decimal | None:
        """What the period cost more than the period before; None where that is unknown."""
        now, then = self.cost, self.earlier[self.measure.total] if self.earlier else None
        return None if now is None or then is None else now - then

    @property
    def change_share(self) -> Decimal | None:
        """The same as a share of the cost before; None where the sums do not compare (`is_comparable`) or there was none."""
        then = self.earlier[self.measure.total] if self.earlier else None
        is_share = self.earlier is not None and is_comparable(self.earlier, self.totals, self.measure)
        return self.change_usd / then if self.change_usd is not None and then and is_share else None

    @property
    def budget(self) -> Verdict | None:
        """The verdict on the budget for all runs together, None where there is no such budget."""
        return next((verdict for verdict in self.budgets if verdict.limit.key == TOTAL_BUDGET), None)

    def as_dict(self) -> dict[str, Any]:
        """The page for programs."""
        about = {
            "title": self.title,
            "answer": [self.answer, *self.more],
            "owner": self.owner or None,
            "period": self.period.as_dict() | {"undated_runs": self.undated},
        }
        figures = {"cost": self.measure.key} | {
            key: self.totals[key] for key in dict.fromkeys(("cost_usd", LIST.total, self.measure.total, "runs", "error_rate"))
        }
        cost, part = self.measure.total, self.measure.share
        earlier = self.earlier or {"runs": None, cost: None}
        before = (self.before.as_dict() if self.before else {"from": None, "to": None}) | {
            "runs": earlier["runs"],
            cost: earlier[cost],
        }
        change = {"before": before, "change_usd": self.change_usd, "change_share": _float(self.change_share)}
        tops = {top.key: [{"name": one.name, cost: one.usd, part: _float(one.share)} for one in top.shares] for top in self.tops}
        left = {"budget_left_usd": self.budget.left if self.budget else None}
        measured = {"measured": {key: self.measured[key] for key in MEASURED}} if self.measured else {}
        judged = {"budgets": [verdict.as_dict() for verdict in self.budgets]}
        return about | figures | change | measured | tops | left | judged | {"notes": list(self.notes)}

    @property
    def _known(self) -> str:
        known = known_of(int(self.totals[f"{self.measure.total}{KNOWN_SUFFIX}"]), int(self.totals["runs"]))
        bounded = "" if self.measure is REPORTED else measure_words.bounds_note(self.totals, self.measure)
        return ", ".join(filter(None, (known and f"{known} runs", bounded)))

    @property
    def _change(self) -> tuple[str, str]:
        if self.before is None or self.earlier is None or not self.earlier["runs"]:
            return "no runs before", f"in {self.before.words(self.zone)}" if self.before else ""
        cost = self.earlier[self.measure.total]
        sign = measure_words.bound_sign(self.earlier, self.measure.total)
        then = f"{self.before.words(self.zone)}: {sign}{human(cost, Unit.USD)}, {plural(self.earlier['runs'], 'run')}"
        if self.change_usd is None:
            return UNKNOWN_NAME, then
        share = f" ({signed(self.change_share, Unit.SHARE)})" if self.change_share is not None else ""
        return f"{signed(self.change_usd, Unit.USD)}{share}", then

    @property
    def _budget_left(self) -> list[Figure]:
        verdict = self.budget
        if verdict is None:
            return []
        of = f"of {human(verdict.allowed, Unit.USD)}"
        return [Figure("Budget left", human(verdict.left, Unit.USD), verdict.left, Unit.USD, f"{verdict.word}, {of}", verdict.word)]


def first_page(
    store: Store, request: Request, filters: Filters, totals: Row, covers: Row, made_at: datetime, zone: str = UTC_ZONE
) -> FirstPage:
    """The first page of a report over the runs that the filters leave.

    `totals` has METRICS of these runs, `covers` is `app.queries.cost.coverage`. Raises StoreError.
    """
    period, measure = period_of(filters, covers, made_at, zone), request.measure
    before = period.before()
    earlier = run_queries.summary(store, before.filters(filters), (), METRICS).to_pylist()[0] if before else None
    cost, rows = totals[measure.total], agent_queries.agents(store, filters, measure)
    basis = Basis(totals, covers, filters, measure)
    return FirstPage(
        request.title or TITLE,
        request.owner,
        overview(rows, measure),
        tuple(agent_queries.shown_rows(rows)),
        zone,
        filters,
        period,
        covers["undated_runs"],
        totals,
        before,
        earlier,
        tuple(_bounded_top(top(store, filters, cost, measure), totals, measure) for top in (_top_models, _top_repositories)),
        verdicts(store, filters, dict(request.budgets), zone),
        tuple(filter(None, (note(basis) for note in NOTES))),
        measure,
        measured_queries.totals(store, filters),
    )


def _float(share: Decimal | None) -> float | None:
    return None if share is None else float(share)


def signed(value: Decimal | None, unit: Unit) -> str:
    """`+$12.30`, `−4.1%`."""
    if value is None:
        return human(None)
    return f"{'+' if value >= 0 else MINUS}{human(abs(value), unit)}"


def _top_models(store: Store, filters: Filters, spent: Decimal | None, measure: CostMeasure) -> TopList:
    rows = model_costs(store, filters, measure).to_pylist()
    return TopList(
        "top_models", "Top models (by the tokens of each)", "Model", _shares([(row["model"], row["cost_usd"]) for row in rows], spent)
    )


def _top_repositories(store: Store, filters: Filters, spent: Decimal | None, measure: CostMeasure) -> TopList:
    rows = run_queries.summary(store, filters, ("repo",), (measure.total,), measure=measure).to_pylist()
    return TopList(
        REPOSITORIES, "Top repositories", GROUPS["repo"].label, _shares([(row["repo"], row[measure.total]) for row in rows], spent)
    )


def _bounded_top(top: TopList, totals: Row, measure: CostMeasure) -> TopList:
    """The list with the sign of the total."""
    sign = measure_words.bound_sign(totals, measure.total)
    return replace(top, sign=sign, shares=tuple(replace(one, share=None) for one in top.shares)) if sign else top


def _shares(costs: list[tuple[str | None, Decimal | None]], spent: Decimal | None) -> tuple[Share, ...]:
    """The first TOP of the named, the others together, and what is attributed to none."""
    whole = spent or Decimal(0)
    named = [(name, usd) for name, usd in costs if name is not None and usd]
    first, others = named[:TOP], named[TOP:]
    lines = [*first, (f"{OTHER} ({len(others):,})", sum((usd for _, usd in others), Decimal(0)))] if others else first
    rest = whole - sum((usd for _, usd in lines), Decimal(0))
    lines = [*lines, (UNKNOWN_NAME, rest)] if rest > 0 else lines
    return tuple(Share(name, usd, usd / whole if whole else None) for name, usd in lines)


def _estimates(basis: Basis) -> str:
    if basis.measure is LIST:
        return "Costs are those of the tokens at list prices, not invoices."
    if basis.measure is BEST and basis.totals[f"unreported_list_usd{KNOWN_SUFFIX}"]:
        return "Costs are the agents' own estimates, else those of the tokens at list prices, not invoices."
    return "Reported costs are the agents' own estimates, not invoices."


def _list_prices(basis: Basis) -> str:
    """The difference with its base: the reported cost of the runs that have both."""
    totals = basis.totals
    if totals["cost_delta_usd"] is None:
        return "List-price difference: unknown, no run has both a reported and a list-price cost." if totals["runs"] else ""
    share = f" ({signed(totals['cost_delta_share'], Unit.SHARE)})" if totals["cost_delta_share"] is not None else ""
    return f"List-price difference (list − reported): {signed(totals['cost_delta_usd'], Unit.USD)}{share} {base_words(totals)}."


def _unpriced(basis: Basis) -> str:
    unpriced = basis.totals["unpriced_runs"]
    return f"No list price is known for {plural(unpriced, 'run')}; their list-price cost is not included." if unpriced else ""


def _left_out_by_measure(basis: Basis) -> str:
    """Runs whose cost is unknown by this measure, and what they cost by the other."""
    return measure_words.left_out(basis.totals, basis.measure)


def _bounded(basis: Basis) -> str:
    """Bounds in the list-price cost; where costs are reported ones, the note on runs without one has said it."""
    return measure_words.bounds(basis.totals, basis.measure)


def _undated(basis: Basis) -> str:
    """How many runs count on no day, week or month, and what they cost."""
    return unknown_date_words(basis.covers)


def _left_out(basis: Basis) -> str:
    """Runs without a date, which no period includes."""
    return undated_words(basis.covers["left_out_runs"], basis.covers["left_out_usd"])


def _copies(basis: Basis) -> str:
    """Runs that are probably copies of others, and what they add to the total."""
    runs, usd = basis.covers["copied_runs"], basis.covers["copied_usd"]
    if not runs:
        return ""
    said = f"{plural(runs, 'run')} {'is' if runs == 1 else 'are'} probably {'a copy' if runs == 1 else 'copies'} of others"
    return f"{said}: {human(usd, Unit.USD)} may be counted twice (finding possible_duplicate)."


def _carried(basis: Basis) -> str:
    """Runs whose figures seem to include an earlier process."""
    runs, usd = basis.covers["carried_runs"], basis.covers["carried_usd"]
    cost = f" ({human(usd, Unit.USD)})" if usd is not None else ""
    return f"The cost of {plural(runs, 'run')}{cost} may include an earlier process (finding api_time_beyond_wall)." if runs else ""


def _beyond(basis: Basis) -> str:
    """What models cost more than the totals of their records: it is in the cost."""
    runs, usd = basis.covers["beyond_runs"], basis.covers["beyond_usd"]
    if not runs or basis.measure is LIST:
        return ""
    said = f"The models of {plural(runs, 'run')} cost {human(usd, Unit.USD)} more than {'its total' if runs == 1 else 'their totals'}"
    return f"{said}, which counts (finding cost_sum)."


def _zero(basis: Basis) -> str:
    """Runs whose agents report $0 for tokens that cost something."""
    runs, part = basis.covers["zero_runs"], basis.covers["part_zero_runs"]
    whose = "its cost is" if runs == 1 else "their cost is"
    said = f"{plural(runs, 'run')} report{'s' if runs == 1 else ''} $0 for tokens that cost something: {whose} unknown (finding zero_cost)."
    more = f"{plural(part, 'run')} cost more than reported: $0 for the tokens of some models (finding zero_cost)."
    return " ".join((*([said] if runs else []), *([more] if part else [])))


def _gateways(basis: Basis) -> str:
    """Runs at the list prices of makers of models behind a gateway."""
    runs, usd = basis.covers["gateway_runs"], basis.covers["gateway_usd"]
    said = f"{plural(runs, 'run')} used a model behind a gateway: {human(usd, Unit.USD)} of the list-price cost"
    return f"{said} are at the prices of the models' makers." if runs and usd is not None else ""


def _cut_off(basis: Basis) -> str:
    """Runs of which only the beginning is known."""
    runs = basis.covers["cut_runs"]
    said = f"{plural(runs, 'run')} {'was' if runs == 1 else 'were'} cut off before the result"
    return f"{said}: tokens and cost are lower bounds, or not known (finding cut_off)." if runs else ""


def _excluded(basis: Basis) -> str:
    return excluded_words(basis.covers["excluded_runs"])


NOTES: tuple[Callable[[Basis], str], ...] = (
    _undated, _left_out, _estimates, _beyond, _zero, _left_out_by_measure, _list_prices, _gateways, _unpriced, _bounded, _cut_off, _copies,
    _carried, _excluded,
)  # fmt: skip
"""The caveats in their order; one that has nothing to say is empty."""


TO_DATE = "Where the files are as the agents wrote them, undo their ingest and read them again with --trust-file-times."
"""How runs get the dates of their files."""


def unknown_date_words(covers: Row) -> str:
    """How many runs have no date, and what they cost; empty where all have one."""
    if not covers["undated_runs"]:
        return ""
    cost = f" ({human(covers['undated_usd'], Unit.USD)})" if covers["undated_usd"] is not None else ""
    source = " They have only the modification time of a file, which may be the copy date." if covers["file_dated_runs"] else ""
    return f"Date unknown: {plural(covers['undated_runs'], 'run')}{cost}. No day, week or month includes them.{source} {TO_DATE}"
