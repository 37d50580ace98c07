"""The first page of a report.

Title, owner, period, total, change, failures, top models and projects, budgets, notes.

It is data that formats lay out. A new caveat is an entry of `notes_of`.
"""

from __future__ import annotations

from calendar import month_name
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from app.queries import Row
from app.queries import agents as agent_queries
from app.queries import runs as run_queries
from app.queries.agents import AgentFigures
from app.queries.cost import COST_FACTS, is_comparable
from app.queries.filters import Filters, has_period, midnight, moment
from app.queries.grouping import UTC_ZONE, known_zone
from app.queries.models import model_costs
from app.queries.reading import Undated
from app.queries.runs import KNOWN_SUFFIX
from app.reports.budgets import Budgets, BudgetVerdict, budget_table, kept_verdicts, verdicts
from app.text import costs
from app.text.agents import (
    agent_table,
)
from app.text.answers import (
    NO_RUN_ENDED,
    SPENT_THEN,
    uncounted_words,
    undated_cost,
    undated_words,
)
from app.text.costs import base_words
from app.text.formatting import (
    MINUS,
    NAMELESS,
    UNKNOWN,
    UNKNOWN_NAME,
    bound_sign,
    known_of,
    rate_words,
    short,
    usd,
    with_sign,
)
from app.text.overview import another_price, overview
from app.text.sentences import Said
from app.text.table import Col, TextCell, TextTable
from ingest.store.database import Store
from schemas.catalogue.columns import GROUPS
from schemas.catalogue.cost_measures import (
    ALL_IN,
    BEST,
    BOUNDS,
    LIST,
    REPORTED,
    CostMeasure,
)
from schemas.text import join_known, plural
from schemas.units import Unit


@dataclass(frozen=True)
class ReportPeriod:
    """From `start` to before `end`, in UTC; None if unknown.

    `is_chosen`: its start comes from the filter.
    """

    start: datetime | None
    end: datetime | None
    is_chosen: bool = False

    def words(self, zone: str = UTC_ZONE) -> str:
        """Return `March 2026`, `2026-03-01 to 2026-03-15`, or a period with hours.

        Hours are shown if the period does not begin and end with a day of the zone.
        """
        if self.start is None or self.end is None:
            return UNKNOWN_NAME
        start, end = (_in_zone(time, zone) for time in (self.start, self.end))
        if self.is_chosen:
            if start.time() != datetime.min.time() or end.time() != datetime.min.time():
                return f"{start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} {zone}"
            if _months(start, end) == 1:
                return f"{month_name[start.month]} {start.year}"
            end -= timedelta(microseconds=1)
        return (
            f"{start:%Y-%m-%d}"
            if start.date() == end.date()
            else f"{start:%Y-%m-%d} to {end:%Y-%m-%d}"
        )

    def month(self, made_at: datetime, zone: str = UTC_ZONE) -> str:
        """Return the last month of a chosen period, else the present one, as `2026-03`."""
        end = min(self.end or made_at, made_at) if self.is_chosen else made_at
        return _in_zone(end - timedelta(microseconds=1), zone).isoformat()[:7]

    def before(self) -> ReportPeriod | None:
        """Return the previous period: the same number of months, else the same length.

        None if the report begins with the first run.
        """
        if not self.is_chosen or self.start is None or self.end is None:
            return None
        try:
            if months := _months(self.start, self.end):
                year, month = divmod(self.start.year * 12 + self.start.month - 1 - months, 12)
                start = self.start.replace(year=year, month=month + 1)
            else:
                start = self.start - (self.end - self.start)
        except (OverflowError, ValueError):  # before the year 1
            return None
        return ReportPeriod(start, self.start, is_chosen=True)

    def filters(self, others: Filters) -> Filters:
        """Return the filters for the runs of this period."""
        start, end = (
            [time.astimezone(UTC).isoformat()] if time else [] for time in (self.start, self.end)
        )
        return others.with_values("since", start).with_values("until", end)

    def as_dict(self) -> dict[str, Any]:
        """Return the period for programs."""
        return {"from": self.start, "to": self.end}


def period_of(
    filters: Filters, covers: Row, made_at: datetime, zone: str = UTC_ZONE
) -> ReportPeriod:
    """Return the period of the filters in the zone, with open ends taken from the runs.

    `covers` is `app.queries.cost.coverage`.

    A period since a date ends today: a week without runs costs nothing, but is part of it.
    """
    times = []
    for key in ("since", "until"):
        value = next(iter(filters.values(key)), None)
        time = moment(value, zone=known_zone(zone)) if value else None
        times.append(None if time is None else _in_zone(time, zone))
    since, until = times
    if since is None:
        return ReportPeriod(covers["first_at"], until or covers["last_at"])
    if until is None:
        last = max(filter(None, (since, made_at, covers["last_at"])))
        try:
            until = midnight(last.astimezone(known_zone(zone))) + timedelta(days=1)
        except OverflowError:  # the last day of the year 9999
            until = datetime.max.replace(tzinfo=UTC)
    return ReportPeriod(since, until, is_chosen=since < until)


def _in_zone(time: datetime, zone: str) -> datetime:
    try:
        return time.astimezone(known_zone(zone))
    except OverflowError:  # beyond the years 1 to 9999 there
        return time


def _months(start: datetime, end: datetime) -> int:
    """Return the number of whole calendar months between two moments.

    0 if these are not beginnings of months.
    """
    is_whole = all(time.day == 1 and time.time() == datetime.min.time() for time in (start, end))
    return (end.year - start.year) * 12 + end.month - start.month if is_whole else 0


TITLE = "Cost report"
TOP = 5

OTHER = "other"
REPOSITORIES = "top_repositories"
CHANGE = "Change vs. previous period"
METRICS = (
    *COST_FACTS,
    "completed",
    "error_rate",
    "cost_delta_usd",
    "cost_delta_share",
    "cost_compared_usd",
    "unpriced_runs",
    "never_started_runs",
)
MEASURED = (
    "runs_measured",
    "runs_compared",
    "runs_faster",
    "runs_same",
    "runs_slower",
    "runs_failed",
    "cost_per_faster_usd",
    "cost_per_faster_compared_usd",
    "cost_best_bounds",
)

TOTAL_BUDGET = "max-total-usd"


@dataclass(frozen=True)
class FirstPageRequest:
    """A request for the first page.

    `title`: "" for the usual one; `owner`: the recipient of the report; `measure`: that of its
    costs.
    """

    title: str = ""
    owner: str = ""
    budgets: Budgets = ()
    measure: CostMeasure = REPORTED


@dataclass(frozen=True)
class FirstPageFigure:
    """A figure of the page: `value` for people, `number` in its unit for a workbook.

    `number` is None if unknown, or a text that explains why there is none. `verdict` is PASS or
    FAIL if there is a budget for it.
    """

    label: str
    value: str
    number: Any
    unit: Unit
    note: str = ""
    verdict: str = ""


def figure_table(figures: Sequence[FirstPageFigure]) -> TextTable:
    """Return figures of the page as a table."""

    def value(one: FirstPageFigure) -> TextCell:
        return TextCell(strong=one.value, number=(one.number, one.unit))

    shown = (
        Col("Summary", lambda one: one.label),
        Col("Value", value, "r"),
        Col("Note", lambda one: TextCell(note=one.note)),
    )
    return TextTable(shown, figures)


@dataclass(frozen=True)
class Share:
    """The part of one item.

    `share` is of the total cost; `bounds` names the kinds of bounds in the part.
    """

    name: str
    usd: Decimal
    share: Decimal | None
    bounds: str = ""

    @property
    def cost(self) -> str:
        return usd(self.usd, self.bounds)


@dataclass(frozen=True)
class TopList:
    """The most expensive items of a kind, then other, then unknown; they sum to the total cost."""

    key: str
    title: str
    column: str
    shares: tuple[Share, ...]

    @property
    def is_named(self) -> bool:
        """Whether any item has a name."""
        return any(one.name != NAMELESS[self.column.lower()] for one in self.shares)


@dataclass(frozen=True)
class FirstPage:
    """The page: `said` and `agents` are the sentence and the table of the Overview.

    `totals` has METRICS of its runs, `earlier` those of the period before; None without such a
    period.

    `measured` has VERDICT_METRICS of the runs, None without measurements or if nobody asked.
    """

    title: str
    owner: str
    said: Said
    agents: tuple[AgentFigures, ...]
    zone: str
    filters: Filters
    period: ReportPeriod
    undated: int
    totals: Row
    before: ReportPeriod | None
    earlier: Row | None
    tops: tuple[TopList, ...]
    budgets: tuple[BudgetVerdict, ...]
    notes: tuple[str, ...]
    measure: CostMeasure = REPORTED
    measured: Row | None = None

    @property
    def answer(self) -> str:
        return self.said.heading.replace("**", "")

    @property
    def more(self) -> list[str]:
        """The second most important fact, and the data behind both."""
        return [text.replace("**", "") for text in (self.said.second, self.said.coverage) if text]

    @property
    def agent_table(self) -> TextTable:
        """The table of agents without empty columns."""
        return agent_table(self.agents, self.filters)

    @property
    def top_tables(self) -> list[TextTable]:
        """The lists of the most expensive items."""

        def share(one: Share) -> TextCell:
            return TextCell(short(one.share, Unit.SHARE), number=(one.share, Unit.SHARE))

        shown = (
            Col(
                self.measure.label,
                lambda one: TextCell(one.cost, number=(one.usd, Unit.USD)),
                "r",
            ),
            Col("Share", share, "r"),
        )
        return [
            TextTable((Col(top.title, lambda one: one.name), *shown), top.shares)
            for top in self.named_tops
        ]

    def tables(self, figures: Sequence[FirstPageFigure]) -> list[TextTable]:
        """Return all tables of the page in order, with `figures` or `numbers`."""
        agents = [self.agent_table] if self.agents else []
        budgets = [budget_table(self.budgets)] if self.budgets else []
        return [*agents, figure_table(figures), *self.top_tables, *budgets]

    @property
    def cost(self) -> Decimal | None:
        """Cost of all runs by the measure."""
        found: Decimal | None = self.totals[self.measure.total]
        return found

    @property
    def named_tops(self) -> tuple[TopList, ...]:
        """The top lists for people, without lists of unknowns only."""
        return tuple(top for top in self.tops if top.is_named)

    @property
    def lacks_repositories(self) -> bool:
        """Whether there are costs, and none in a repository with a name."""
        return bool(self.cost) and all(top.key != REPOSITORIES for top in self.named_tops)

    @property
    def lines(self) -> list[tuple[str, str]]:
        """The lines below the title as labels and texts: owner, period and filters."""
        undated = f"; {plural(self.undated, 'run')} without a date" if self.undated else ""
        others = self.filters.with_values("since", ()).with_values("until", ())
        lines = [
            ("Prepared for", self.owner),
            ("Period", self.period.words(self.zone) + undated),
            ("Filters", others.as_words()),
        ]
        return [(label, text) for label, text in lines if text]

    @property
    def figures(self) -> list[FirstPageFigure]:
        totals, measure, cost = self.totals, self.measure, self.cost
        runs, ended = totals["runs"], totals[f"error_rate{KNOWN_SUFFIX}"]
        known = known_of(int(totals[f"{measure.total}{KNOWN_SUFFIX}"]), int(runs))
        bounded = "" if measure is REPORTED else costs.bounds_note(totals, measure)
        based_on = join_known(", ", known and f"{known} runs", bounded)
        unstarted = (
            f", {totals['never_started_runs']:,} of them never started"
            if totals["never_started_runs"]
            else ""
        )
        failed = (
            f"{ended - totals['completed']:,} of "
            f"{plural(ended, 'run')}{' with a known outcome' if ended < runs else ''}{unstarted}"
        )
        rate = rate_words(totals["error_rate"], ended, runs) if ended else UNKNOWN
        spent_before = self.earlier and self.earlier[measure.total]
        if not self.before or not self.earlier or not (self.earlier["runs"] or spent_before):
            change, then = (
                "no runs before",
                f"in {self.before.words(self.zone)}" if self.before else "",
            )
        else:
            sign = bound_sign(self.earlier, measure.total)
            spent = with_sign(sign, usd(self.earlier[measure.total]))
            runs_then = (
                plural(self.earlier["runs"], "run") if self.earlier["runs"] else NO_RUN_ENDED
            )
            then = f"{self.before.words(self.zone)}: {spent}, {runs_then}"
            share = (
                f" ({signed(self.change_share, Unit.SHARE)})"
                if self.change_share is not None
                else ""
            )
            change = (
                UNKNOWN_NAME
                if self.change_usd is None
                else f"{signed(self.change_usd, Unit.USD)}{share}"
            )
        sign = bound_sign(totals, measure.total)
        figures = [
            FirstPageFigure(
                f"Total {measure.name}", with_sign(sign, usd(cost)), cost, Unit.USD, based_on
            ),
            FirstPageFigure(
                CHANGE,
                change,
                change if self.change_usd is None else self.change_usd,
                Unit.USD,
                then,
            ),
            FirstPageFigure(
                "Runs",
                short(runs, Unit.COUNT),
                runs,
                Unit.COUNT,
                NO_RUN_ENDED if cost is not None and not runs else "",
            ),
            FirstPageFigure(
                "Failure rate", rate, totals["error_rate"], Unit.SHARE, failed if ended else ""
            ),
        ]
        if verdict := self.budget:
            of = f"{verdict.word}, of {usd(verdict.allowed)}"
            figures.append(
                FirstPageFigure(
                    "Budget left",
                    usd(verdict.left),
                    verdict.left,
                    Unit.USD,
                    of,
                    verdict.word,
                )
            )
        return figures

    @property
    def numbers(self) -> list[FirstPageFigure]:
        """The figures for a workbook, with the change as a share in its own line."""
        cost, change, *others = self.figures
        share = self.change_share
        shares = (
            []
            if share is None
            else [FirstPageFigure("Change, %", short(share, Unit.SHARE), share, Unit.SHARE)]
        )
        return [cost, change, *shares, *others]

    @property
    def change_usd(self) -> Decimal | None:
        """Increase of the cost against the previous period; None if unknown."""
        now, then = self.cost, self.earlier[self.measure.total] if self.earlier else None
        return None if now is None or then is None else now - then

    @property
    def change_share(self) -> Decimal | None:
        """The increase as a share of the previous cost.

        None if the sums are not comparable (`is_comparable`) or there was none.
        """
        then = self.earlier[self.measure.total] if self.earlier else None
        is_share = self.earlier is not None and is_comparable(
            self.earlier, self.totals, self.measure
        )
        return self.change_usd / then if self.change_usd is not None and then and is_share else None

    @property
    def budget(self) -> BudgetVerdict | None:
        """The verdict on the budget for all runs together, or None."""
        return next(
            (verdict for verdict in self.budgets if verdict.limit.key == TOTAL_BUDGET), None
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the page for programs."""
        about = {
            "title": self.title,
            "answer": [self.answer, *self.more],
            "owner": self.owner or None,
            "period": self.period.as_dict() | {"undated_runs": self.undated},
        }
        cost, part = self.measure.total, self.measure.share
        figures = {"cost": self.measure.key}
        figures |= {
            key: self.totals[key]
            for key in dict.fromkeys(("cost_usd", LIST.total, cost, "runs", "error_rate"))
        }
        earlier = self.earlier or {"runs": None, cost: None}
        before = self.before.as_dict() if self.before else {"from": None, "to": None}
        share = None if self.change_share is None else float(self.change_share)
        change = {
            "before": before | {"runs": earlier["runs"], cost: earlier[cost]},
            "change_usd": self.change_usd,
            "change_share": share,
        }
        tops = {
            top.key: [
                {
                    "name": one.name,
                    cost: one.usd,
                    part: None if one.share is None else float(one.share),
                }
                for one in top.shares
            ]
            for top in self.tops
        }
        measured = (
            {"measured": {key: self.measured[key] for key in MEASURED}} if self.measured else {}
        )
        left = {
            "budget_left_usd": self.budget.left if self.budget else None,
            "budgets": [verdict.as_dict() for verdict in self.budgets],
        }
        return about | figures | change | measured | tops | left | {"notes": list(self.notes)}


def first_page(
    store: Store,
    request: FirstPageRequest,
    filters: Filters,
    totals: Row,
    covers: Row,
    made_at: datetime,
    zone: str = UTC_ZONE,
) -> FirstPage:
    """Return the first page of a report over the runs that match the filters.

    `totals` has METRICS of these runs, `covers` is `app.queries.cost.coverage`. Raises StoreError.
    """
    period, measure = period_of(filters, covers, made_at, zone), request.measure
    before = period.before()
    earlier = (
        run_queries.summary(store, before.filters(filters), (), METRICS).to_pylist()[0]
        if before
        else None
    )
    rows, cost = agent_queries.agents(store, filters, measure), totals[measure.total]
    models = [
        (row["model"], row["cost_usd"], row["bounds"])
        for row in model_costs(store, filters, measure).to_pylist()
    ]
    bounds = BOUNDS.get(measure.total, ())[:1]
    repos = run_queries.summary(
        store, filters, ("repo",), (measure.total, *bounds), measure=measure
    ).to_pylist()
    spent = [(row["repo"], row[measure.total], row[bounds[0]] if bounds else None) for row in repos]
    tops = (
        TopList(
            "top_models",
            "Top models (by the tokens of each)",
            "Model",
            top_shares(models, cost, NAMELESS["model"]),
        ),
        TopList(
            REPOSITORIES,
            "Top projects",
            GROUPS["repo"].label,
            top_shares(spent, cost, NAMELESS["repo"]),
        ),
    )
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
        tops,
        (
            *verdicts(store, filters, dict(request.budgets), zone, measure),
            *kept_verdicts(store, filters, zone, measure, period.month(made_at, zone)),
        ),
        tuple(notes_of(totals, covers, measure, has_period=has_period(filters))),
        measure,
    )


def signed(value: Decimal | None, unit: Unit) -> str:
    """Return `+$12.30`, `−4.1%`."""
    if value is None:
        return UNKNOWN
    return f"{'+' if value >= 0 else MINUS}{short(abs(value), unit)}"


def top_shares(
    costs: list[tuple[str | None, Decimal | None, str | None]],
    spent: Decimal | None,
    nameless: str,
) -> tuple[Share, ...]:
    """Return the first TOP items with a name, the others together, and the `nameless` rest.

    `costs`: name, cost, kinds of its bounds.
    """

    def bounds(items: list[Any]) -> str:
        return ", ".join(
            sorted({kind for _, _, kinds in items for kind in (kinds or "").split(", ") if kind})
        )

    whole = spent or Decimal(0)
    named = [(name, usd, kinds) for name, usd, kinds in costs if name is not None and usd]
    first, others = named[:TOP], named[TOP:]
    if others:
        money = sum((usd for _, usd, _ in others), Decimal(0))
        first.append((f"{OTHER} ({len(others):,})", money, bounds(others)))
    rest = whole - sum((usd for _, usd, _ in first), Decimal(0))
    if rest > 0:
        first.append((nameless, rest, bounds([item for item in costs if item[0] is None])))
    return tuple(
        Share(name, usd, usd / whole if whole else None, kinds or "") for name, usd, kinds in first
    )


def notes_of(totals: Row, covers: Row, measure: CostMeasure, *, has_period: bool) -> list[str]:
    """Return the caveats in order.

    `totals` has METRICS of all runs, `covers` is the coverage of the report.
    """
    if measure is LIST:
        source = "Costs are those of the tokens at list prices, not invoices."
    elif measure in (BEST, ALL_IN) and totals["unreported_list_usd"] is not None:
        source = (
            "Costs are the agents' own estimates, else those of the tokens at list prices, not "
            "invoices."
        )
    else:
        source = "Reported costs are the agents' own estimates, not invoices."
    if measure is ALL_IN:
        source += " The cost of a machine is wall time times its rate."
    difference = ""
    if totals["cost_delta_usd"] is not None:
        share = (
            f" ({signed(totals['cost_delta_share'], Unit.SHARE)})"
            if totals["cost_delta_share"] is not None
            else ""
        )
        delta = signed(totals["cost_delta_usd"], Unit.USD)
        difference = (
            f"List-price difference (list − reported): {delta}{share} {base_words(totals)}."
        )
    elif totals["runs"]:
        difference = (
            "List-price difference: unknown, no run has both a reported and a list-price cost."
        )
    unlisted, unpriced = totals[LIST.lacks], totals["unpriced_runs"]
    why = (
        f" ({unpriced:,} have tokens without a price, the others no tokens)"
        if 0 < unpriced < unlisted
        else ""
    )
    found = {name: text for name, runs, text in _doubts(covers) if runs}
    notes = (
        SPENT_THEN if has_period else "",
        unknown_date_words(covers),
        undated_words(Undated.of(covers, "left_out")),
        source,
        f"{another} (finding cost_fallback_price)."
        if (another := another_price(covers, measure))
        else "",
        found.get("beyond", "") if measure is not LIST else "",
        " ".join(found[name] for name in ("zero", "part_zero") if name in found),
        costs.missing_costs(totals, measure),
        difference,
        found.get("gateway", "") if covers["gateway_usd"] is not None else "",
        (
            f"No list-price cost is known for {plural(unlisted, 'run')}{why}, which list-price "
            "totals leave out."
        )
        if unlisted
        else "",
        costs.bounds_sentence(totals, measure),
        found.get("cut", ""),
        found.get("copied", ""),
        found.get("carried", ""),
        uncounted_words(covers["excluded_runs"], covers["uncounted_copies"]),
    )
    return [note for note in notes if note]


def _doubts(covers: Row) -> Iterator[tuple[str, int, str]]:
    """Yield (name, runs, note) of findings that put costs in doubt, also for no runs."""
    for name in ("beyond", "zero", "part_zero", "gateway", "cut", "copied", "carried"):
        runs = covers[f"{name}_runs"]
        count, cost, is_one = plural(runs, "run"), usd(covers.get(f"{name}_usd")), runs == 1
        yield (
            name,
            runs,
            {
                "beyond": f"The models of {count} cost {cost} more than "
                f"{'its total' if is_one else 'their totals'}, which counts (finding "
                "cost_sum).",
                "zero": f"{count} report{'s' if is_one else ''} $0 for tokens that cost something:"
                f" {'its cost is' if is_one else 'their cost is'} unknown (finding zero_cost).",
                "part_zero": (
                    f"{count} cost more than reported: $0 for the tokens of some models (finding "
                    "zero_cost)."
                ),
                "gateway": (
                    f"{count} used a model behind a gateway: {cost} of the list-price cost are "
                    "at the prices of the models' makers."
                ),
                "cut": f"{count} {'was' if is_one else 'were'} cut off before the result: tokens "
                "and cost are lower bounds, or not known (finding cut_off).",
                "copied": f"{count} {'is probably a copy' if is_one else 'are probably copies'} of "
                f"others: {cost} may be counted twice (finding possible_duplicate).",
                "carried": f"The cost of {count}{f' ({cost})' if usd is not None else ''} may include "  # noqa: E501
                "an earlier process (finding api_time_beyond_wall).",
            }[name],
        )


def unknown_date_words(covers: Row) -> str:
    """Return a note on the number and cost of runs without a date, or "" if all have one."""
    undated = Undated.of(covers, "undated")
    if not undated.runs:
        return ""
    source = (
        " They have only the modification time of a file, which may be the copy date."
        if covers["file_dated_runs"]
        else ""
    )
    advice = (
        "Date them with tachograph label RUN date=2026-11-01. Where the files are as the agents "
        "wrote them, undo their ingest and read them again with --trust-file-times."
    )
    return (
        f"No date: {plural(undated.runs, 'run')}{undated_cost(undated)}. No day, week or "
        f"month includes them.{source} {advice}"
    )
