"""Months: what each cost by project, person or agent and model, and the budgets that are kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from app.queries import Row
from app.queries import runs as run_queries
from app.queries.filters import (
    NO_FILTERS,
    TIME,
    UNDATED,
    Filters,
    has_period,
    moment,
    this_moment,
    without_period,
)
from app.queries.grouping import SIDES, UTC_ZONE, groups, known_zone
from app.queries.reading import fetch_rows, unmatched
from app.queries.runs import KNOWN_SUFFIX, aggregate
from app.queries.spending import Spend, together
from ingest.store.annotations import Budgeted
from ingest.store.database import Store
from schemas.catalogue.cost_measures import BEST, BOUNDS, CostMeasure
from schemas.catalogue.entry import Metric
from schemas.catalogue.metrics import RUN_METRICS
from schemas.errors import UsageError

MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")
PROJECT = "project"


class MonthBudget(NamedTuple):
    """A kept budget of a month and what was `spent` of it (None: unknown).

    `left` is negative if it is passed. `pace`: what an even pace would have spent by now. `known`
    of `runs` have a cost; `bounds` are the kinds of bounds in it.
    """

    budget: Decimal
    spent: Decimal | None
    left: Decimal
    pace: Decimal
    bounds: str = ""
    runs: int = 0
    known: int = 0


def this_month(zone: str = UTC_ZONE) -> str:
    """Return the present month as `2026-03`."""
    return f"{this_moment().astimezone(known_zone(zone)):%Y-%m}"


def part_passed(month: str, zone: str = UTC_ZONE) -> Decimal:
    """Return how much of a month has passed, from 0 to 1. Raises UsageError."""
    begin, end = bounds_of_month(month, zone)
    second = timedelta(seconds=1)
    passed = Decimal((this_moment() - begin) // second) / ((end - begin) // second)
    return min(max(passed, Decimal(0)), Decimal(1))


def within_month(filters: Filters, month: str, zone: str = UTC_ZONE) -> Filters:
    """Return the filters with a month (`2026-03`), up to now, in place of their period.

    A wrong clock or date puts a run into the future. Raises UsageError.
    """
    begin, end = bounds_of_month(month, zone)
    return _between(filters, begin, min(end, this_moment()))


def _between(filters: Filters, begin: datetime, end: datetime) -> Filters:
    found = without_period(filters).with_values("since", [begin.isoformat()])
    return found.with_values("until", [end.isoformat()])


def bounds_of_month(month: str, zone: str = UTC_ZONE) -> tuple[datetime, datetime]:
    """Return the begin of a month (`2026-03`) and of the next one. Raises UsageError."""
    begin = moment(month, zone=known_zone(zone)) if MONTH.fullmatch(month) else None
    if begin is None:
        raise UsageError(f"{month!r} is no month.", "A month is written 2026-03.")
    return begin, (begin + timedelta(days=32)).replace(day=1)


def kept_budgets(store: Store) -> dict[Budgeted, Decimal]:
    """Return all budgets that the store keeps, by what they limit. Raises StoreError."""
    sql = "select * from budgets order by dimension desc, name, month nulls first"
    return {
        Budgeted(row["dimension"], row["name"], row["month"]): row["usd"]
        for row in fetch_rows(store, sql)
    }


def mistyped_budgets(store: Store) -> dict[Budgeted, str]:
    """Return the kept budgets of names that no run has, with a sentence for each.

    Raises StoreError.
    """
    found = dict[Budgeted, str]()
    for of in kept_budgets(store):
        key, value = (PROJECT, of.name) if of.dimension == PROJECT else ("label", of.written)
        if one := unmatched(store, key, value):
            found[of] = str(one)
    return found


def budgets_of_month(
    store: Store,
    month: str = "",
    dimension: str = PROJECT,
    filters: Filters = NO_FILTERS,
    zone: str = UTC_ZONE,
    measure: CostMeasure = BEST,
) -> dict[str, MonthBudget]:
    """Return the kept budgets of a month (`2026-03`; "": the present one) by project.

    `dimension`: the budgets of another label, as `label:KEY`. A budget of that month precedes one
    of every month. Raises StoreError, UsageError.
    """
    month = month or this_month(zone)
    found = {
        of.name: allowed  # those of every month come first
        for of, allowed in kept_budgets(store).items()
        if of.dimension == dimension and of.month in (None, month)
    }
    if not found:
        return {}
    kinds = BOUNDS.get(measure.total, ())[:1]
    chosen, metrics = within_month(filters, month, zone), ("runs", measure.total, *kinds)
    rows = run_queries.summary(store, chosen, (dimension,), metrics, zone, measure).to_pylist()
    money = {row[dimension]: row for row in rows}
    made = {}
    for name, allowed in found.items():
        row = money.get(name) or {}
        spent, runs = row.get(measure.total), row.get("runs", 0)
        made[name] = MonthBudget(
            allowed,
            spent if runs or spent else Decimal(0),
            allowed - (spent or 0),
            allowed * part_passed(month, zone),
            next((row.get(kind) or "" for kind in kinds), ""),
            runs,
            row.get(f"{measure.total}{KNOWN_SUFFIX}", 0),
        )
    return made


def passes_at(
    left: Decimal, paces: Iterable[Decimal], now: datetime, days_left: Decimal
) -> datetime | None:
    """Return when the fastest pace, in USD a day, uses up what is left of a month's budget.

    None if it does not within the month, or the budget is passed already.
    """
    pace = max(paces, default=Decimal(0))
    if left < 0 or left >= pace * days_left:
        return None
    return now + timedelta(days=float(left / pace))


PERSON = "label:person"
GROUPS_OF = {"project": (PROJECT,), "person": (PERSON,), **SIDES}
"""What months are divided by: a word of addresses → words of `app.queries.grouping`."""

Names = tuple[str | None, ...]


class MonthCost(NamedTuple):
    """What the runs of one group (`names`) cost in a month (`2026-03`, None without a date)."""

    names: Names
    month: str | None
    spend: Spend = Spend()


def by_month(
    store: Store,
    filters: Filters,
    measure: CostMeasure = BEST,
    by: Sequence[str] = GROUPS_OF["agent"],
    period: str = "month",
) -> list[MonthCost]:
    """Return cost by month (UTC) and group: in order, the largest of a month first.

    Runs without a date come last. `period`: `day` instead of months.
    """
    cost = RUN_METRICS[measure.total]
    kinds, *_ = BOUNDS.get(measure.total, (None,))
    figures = [cost, Metric("started", "", sql="count(*) filter (is_started)", known="count(*)")]
    figures += [RUN_METRICS[kinds]] if kinds else []
    rows = aggregate(store, filters, groups((period, *by)), figures, measure).to_pylist()
    return [
        MonthCost(
            tuple(row[word] for word in by),
            row[period],
            Spend(
                row[cost.key],
                (row[kinds] if kinds else "") or "",
                row["started"],
                row[f"{cost.key}{KNOWN_SUFFIX}"],
            ),
        )
        for row in rows
        if row["started"] or row[cost.key] is not None
    ]


def sum_of(rows: Iterable[MonthCost]) -> Spend:
    """Return what these rows cost together."""
    return together(row.spend for row in rows)


@dataclass(frozen=True)
class Months:
    """Costs of all months by group (`by`: a key of GROUPS_OF), and one of them in detail.

    `month`: `2026-03`, or "" for all that the filters choose. `days`: costs of its days. `week`:
    costs of the last 7 days by group, none if the month is over. `budgets`: of the month by name,
    none if the filters choose only some runs of a project. `agents`: its costs by agent, `dearest`:
    its dearest run, as in `app.queries.runs`.
    """

    by: str
    month: str
    now: datetime
    costs: Sequence[MonthCost]
    days: Sequence[MonthCost]
    week: Mapping[Names, Decimal]
    budgets: Mapping[str, MonthBudget]
    agents: Sequence[MonthCost]
    dearest: Row | None

    @property
    def months(self) -> list[str]:
        """All months with runs or costs, in order."""
        return sorted({row.month for row in self.costs if row.month})

    @property
    def before(self) -> str:
        """The month before the one in detail."""
        begin, _ = bounds_of_month(self.month)
        return f"{begin - timedelta(days=1):%Y-%m}"

    @property
    def is_running(self) -> bool:
        return self.month == f"{self.now:%Y-%m}"

    def of(self, month: str | None, names: Names | None = None) -> Spend:
        """Return what a month cost, also of one group."""
        return sum_of(
            row for row in self.costs if row.month == month and names in (None, row.names)
        )

    @property
    def chosen(self) -> list[MonthCost]:
        """A row per group of the month in detail, the dearest first; also groups with a budget."""
        if self.month:
            rows = [row for row in self.costs if row.month == self.month]
            missing = self.budgets.keys() - {row.names[0] for row in rows}
            rows += [MonthCost((name,), self.month) for name in sorted(missing)]
            return rows
        names = dict.fromkeys(row.names for row in self.costs)
        rows = [
            MonthCost(one, None, sum_of(row for row in self.costs if row.names == one))
            for one in names
        ]
        return sorted(rows, key=lambda row: (-(row.spend.usd or 0), -row.spend.runs))

    def forecast(self, names: Sequence[Names]) -> tuple[Decimal, Decimal] | None:
        """Return what groups cost at the end of the month, at its pace and at that of 7 days.

        The lower one comes first. None if the month is over or nothing is known.
        """
        spent, paces = self._spent(names), self.paces(names)
        if spent is None or not paces:
            return None
        at_both = [spent + pace * self.days_left for pace in paces]
        return min(at_both), max(at_both)

    def _spent(self, names: Sequence[Names]) -> Decimal | None:
        costs = [row for row in self.costs if row.month == self.month and row.names in names]
        return sum_of(costs).usd

    def paces(self, names: Sequence[Names]) -> tuple[Decimal, Decimal] | None:
        """Return what groups cost a day, in the month and in the last 7 days.

        None if the month is over or nothing is known.
        """
        spent = self._spent(names)
        if not self.is_running or spent is None or not part_passed(self.month):
            return None
        begin, end = bounds_of_month(self.month)
        passed = (end - begin).days - self.days_left
        week = sum((self.week.get(one, Decimal(0)) for one in names), Decimal(0))
        return spent / passed, week / 7

    @property
    def days_left(self) -> Decimal:
        """Days until the month ends."""
        begin, end = bounds_of_month(self.month)
        return (1 - part_passed(self.month)) * (end - begin).days

    def passes_at(self, names: Sequence[Names]) -> datetime | None:
        """Return when the faster of both paces passes the budgets of groups, None if never.

        It does so if the upper forecast is above the budgets.
        """
        left = sum((self.budgets[str(name)].left for name, *_ in names), Decimal(0))
        return passes_at(left, self.paces(names) or (), self.now, self.days_left)


ALL_MONTHS = "all"


def months(
    store: Store,
    filters: Filters,
    by: str = "project",
    month: str = "",
    measure: CostMeasure = BEST,
) -> Months:
    """Return what months cost up to now, with one in detail, by default the last one with money.

    `month`: `2026-03`, or ALL_MONTHS, which a period of the filters implies. Raises StoreError.
    """
    words, now = GROUPS_OF[by], this_moment()
    times = [filters]
    if not has_period(filters):
        until_now = filters.with_values("until", [now.isoformat()])
        times = [until_now, filters.with_values(TIME, [UNDATED])]
    costs = [row for one in times for row in by_month(store, one, measure, words)]
    dated = sorted({row.month for row in costs if row.month})
    known = [one for one in dated if any(row.spend.usd for row in costs if row.month == one)]
    chosen = month if month in dated else next(iter((known or dated)[-1:]), "")
    if month == ALL_MONTHS or has_period(filters):
        chosen = ""
    days, week, budgets = list[MonthCost](), dict[Names, Decimal](), dict[str, MonthBudget]()
    if chosen:
        within = within_month(filters, chosen)
        days = by_month(store, within, measure, words, "day")
        others = without_period(filters).with_values("project", ())
        if by not in SIDES and not others:
            budgets = budgets_of_month(store, chosen, words[0], filters, measure=measure)
            kept = filters.values("project")
            is_now = chosen == this_month()
            budgets = {
                key: one
                for key, one in budgets.items()
                if (not kept or key in kept) and (is_now or one.spent)
            }
    if chosen == this_month():
        recent = _between(filters, now - timedelta(days=7), now)
        week = {
            names: sum_of(row for row in rows if row.names == names).usd or Decimal(0)
            for rows in [by_month(store, recent, measure, words)]
            for names in {row.names for row in rows}
        }
    within = within_month(filters, chosen) if chosen else filters
    agents = by_month(store, within, measure, ("agent",))
    dearest = next(iter(run_queries.runs(store, within, 1, measure).to_pylist()), None)
    return Months(by, chosen, now, costs, days, week, budgets, agents, dearest)
