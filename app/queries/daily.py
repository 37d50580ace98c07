"""Daily work: the cost of a period by project, its usual cost, and the runs that need a look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import chain
from statistics import median
from typing import Any, NamedTuple

from app.queries.filters import (
    NO_FILTERS,
    TIME,
    TIMES,
    Filters,
    has_period,
    moment,
    period,
    where,
    without_period,
)
from app.queries.measured import measured_in
from app.queries.reading import fetch, fetch_value
from app.queries.run_money import UsualRun, money_by_id, usual_runs
from app.queries.runs import bound_of
from app.queries.spending import Spend, spent, together
from ingest.store.database import Store
from schemas.catalogue.cost_measures import ALL_IN, BEST, CostMeasure
from schemas.catalogue.figures import kinds_in

DAY, NIGHT, WEEK, LAST_WEEK, MONTH = "day", "night", "this week", "last week", "this month"
CHOSEN, SEVEN_DAYS, LAST_DAY = "period", "7 days", "last 24 hours"
DAYS, ENOUGH_DAYS, ENOUGH_WEEKDAYS, RECENT = 30, 5, 3, 50
"""Days that are looked back, those with spend that make a usual day, or a usual weekday, and runs
read one by one.
"""
FAR = Decimal(2)
"""Times its usual cost, from which on a run needs a look."""

_DAYLIKE = {"today": DAY, "yesterday": DAY, LAST_DAY: DAY, "last night": NIGHT}
"""Periods that are compared with a usual day or night."""

_WAITS, _BEFORE = timedelta(hours=1), "before "
_EVER = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)


class NewName(NamedTuple):
    """A project, agent or model (`kind`) that was not seen for DAYS before, and its runs."""

    kind: str
    name: str
    runs: int
    first_at: datetime


@dataclass(frozen=True)
class Daily:
    """A period of daily work.

    `name`: one of PERIODS, "" for other times. `spends`: project (None: without one) → name of a
    period → money. `total`: the same of all projects. `days`: midnights of the last days, the
    present one last. `earlier`: money of the days or nights with spend before, which `usual_of`
    names ("" for longer periods). `ends`: runs of the period by project, end and reason. `recent`:
    the latest runs, with `is_in_period`; `usual`: their usual runs by id. `new_since`: when the
    names in `new` appeared at the earliest. `waiting`: runs without an end, of agents that record
    one. `measured`: results measured in the period (`app.queries.measured.measured_in`). `causes`:
    of runs of the period that cost FAR times their usual run, the part of the cost that grew most,
    and by how much.
    """

    name: str
    begin: datetime
    end: datetime
    now: datetime
    spends: Mapping[str | None, Mapping[str, Spend]]
    total: Mapping[str, Spend]
    days: Sequence[datetime]
    usual_of: str
    earlier: Sequence[Decimal]
    ends: Sequence[Mapping[str, Any]]
    recent: Sequence[Mapping[str, Any]]
    usual: Mapping[str, UsualRun]
    new: Sequence[NewName]
    new_since: datetime
    waiting: Sequence[Mapping[str, Any]]
    measured: Sequence[Mapping[str, Any]] = ()
    causes: Mapping[str, tuple[str, Decimal]] = field(default_factory=dict)

    def of(self, project: str | None, key: str) -> Spend:
        """Return what a project spent in a period of that name."""
        return self.spends.get(project, {}).get(key, Spend())

    @property
    def with_spend(self) -> list[Decimal]:
        """Money of the days with spend before the period; if it has no usual day, before today."""
        if self.usual_of == DAY:
            return list(self.earlier)
        days = (self.total[f"{day:%F}"].usd for day in self.days[:-1])
        return [usd for usd in days if usd]

    @property
    def usual_weekdays_usd(self) -> Decimal | None:
        """What the days of the period usually cost, each by the median of its weekday before.

        Of the first and the last day only their part in the period. None for periods over a week,
        and for a weekday with too few days with spend.
        """
        end, day = min(self.end, self.now), timedelta(days=1)
        shown = [at for at in self.days if at < end and at + day > self.begin]
        if not shown or end - self.begin > timedelta(days=7):
            return None
        usual = Decimal(0)
        for at in shown:
            alike = (one for one in self.days if one.weekday() == at.weekday() and one < shown[0])
            spent_usd = [usd for one in alike if (usd := self.total[f"{one:%F}"].usd)]
            if len(spent_usd) < ENOUGH_WEEKDAYS:
                return None
            part = (min(end, at + day) - max(self.begin, at)) / day
            usual += median(spent_usd) * Decimal(part)
        return usual

    @property
    def usual_usd(self) -> Decimal | None:
        """Median of the days or nights with spend; None if they are fewer than ENOUGH_DAYS."""
        return _usual(self.earlier)

    @property
    def usual_day_usd(self) -> Decimal | None:
        """Median of the days with spend."""
        return _usual(self.with_spend)


def _usual(spent_usd: Sequence[Decimal]) -> Decimal | None:
    return median(spent_usd) if len(spent_usd) >= ENOUGH_DAYS else None


def is_daily(store: Store, now: datetime) -> bool | None:
    """Return whether the store is of daily work; None if no run has a date.

    Less than half of its runs belong to a task, and one is dated within DAYS.
    """
    sql = f"""
        select case when count(dated_at) = 0 then null else 2 * count(task_key) < count(*)
            and count(*) filter (dated_at between $since and $now) > 0 end
        from v_runs where {where(NO_FILTERS).sql}"""
    found: bool | None = fetch_value(store, sql, {"since": now - timedelta(days=DAYS), "now": now})
    return found


def daily(store: Store, filters: Filters, now: datetime, measure: CostMeasure = BEST) -> Daily:
    """Return the work of the filters' period, by default of the last 24 hours.

    Raises StoreError.
    """
    name, _, zone = (filters.values(TIME) or (LAST_DAY,))[0].partition(" in ")
    within = f" in {zone}" if zone else ""
    begin, end = _named(name + within, now)
    if any(map(filters.values, TIMES)):
        name, (begin, end) = "", _between(filters, now)
    chosen = without_period(filters)
    usual_of = _DAYLIKE.get(name, "")
    midnight = _named("today" + within, now)[0]
    days = [midnight - timedelta(days=ago) for ago in reversed(range(DAYS))]
    week, month = (_named(key + within, now)[0] for key in (WEEK, MONTH))
    windows = {
        CHOSEN: (begin, min(end, max(begin, now))),
        WEEK: (week, now),
        LAST_WEEK: (week - timedelta(days=7), week),
        MONTH: (month, now),
        SEVEN_DAYS: (now - timedelta(days=7), now),
        **{f"{day:%F}": (day, min(day + timedelta(days=1), now)) for day in days},
        **_before(usual_of, begin.astimezone(midnight.tzinfo), end),
    }
    total, spends = _spends(store, chosen, windows, measure)
    earlier = (spend.usd for key, spend in total.items() if key.startswith(_BEFORE))
    shown = (begin, min(end, now)) if has_period(filters) else (_EVER[0], now)
    found = _recent(store, chosen, shown, measure)
    new_since = min(begin, week)
    usual = usual_runs(store, [run["run_id"] for run in found])
    return Daily(
        name=name,
        begin=begin,
        end=end,
        now=now,
        total=total,
        spends=spends,
        days=days,
        usual_of=usual_of,
        earlier=[usd for usd in earlier if usd],
        ends=_ends(store, chosen, begin, min(end, now)),
        recent=[run | {"is_in_period": begin <= run["dated_at"] < end} for run in found],
        usual=usual,
        new=_new(store, chosen, new_since, min(end, now)),
        new_since=new_since,
        waiting=_waiting(store, chosen, begin, min(end, now - _WAITS)),
        measured=measured_in(store, chosen, begin, min(end, now)),
        causes=_causes(store, [run for run in found if begin <= run["dated_at"] < end], usual),
    )


def spent_since(
    store: Store, filters: Filters, begin: datetime, now: datetime, measure: CostMeasure = BEST
) -> Spend:
    """Return what was spent since a moment, and how many runs ended. Raises StoreError."""
    windows = {CHOSEN: (begin, now)}
    return _spends(store, without_period(filters), windows, measure)[0][CHOSEN]


def _causes(
    store: Store, runs: Sequence[Mapping[str, Any]], usual: Mapping[str, UsualRun]
) -> dict[str, tuple[str, Decimal]]:
    """Return of each run far beyond its usual cost the part that grew most, and by how much."""
    far = [
        run["run_id"]
        for run in runs
        if run["run_id"] in usual
        and (run["cost_best_usd"] or 0) >= FAR * usual[run["run_id"]].cost_usd > 0
    ]
    found = {}
    for run_id, money in (money_by_id(store, far) if far else {}).items():
        before = money.usual.usd if money.usual else {}
        grown = [
            (part.key, part.usd - before[part.key])
            for part in money.parts
            if part.usd is not None and part.key in before
        ]
        if grown and (most := max(grown, key=lambda one: one[1]))[1] > 0:
            found[run_id] = most
    return found


def _named(words: str, now: datetime) -> tuple[datetime, datetime]:
    begin, end = period(words, now) or (None, None)
    return begin or _EVER[0], end or _EVER[1]


def _between(filters: Filters, now: datetime) -> tuple[datetime, datetime]:
    """Return the times that the filters `since` and `until` leave."""
    since, until = ([moment(text, now) for text in filters.values(key)] for key in TIMES)
    return max(filter(None, since), default=_EVER[0]), min(filter(None, until), default=_EVER[1])


def _before(usual_of: str, begin: datetime, end: datetime) -> dict[str, tuple[datetime, datetime]]:
    """Return the DAYS days before the one of the begin, or the nights before this one."""
    first, last = begin, end.astimezone(begin.tzinfo)
    if usual_of == DAY:
        first = begin.replace(hour=0, minute=0, second=0, microsecond=0)
        last = first + timedelta(days=1)
    shifts = map(timedelta, range(1, DAYS + 1) if usual_of else ())
    return {f"{_BEFORE}{ago.days}": (first - ago, last - ago) for ago in shifts}


def _spends(
    store: Store,
    filters: Filters,
    windows: Mapping[str, tuple[datetime, datetime]],
    measure: CostMeasure,
) -> tuple[dict[str, Spend], dict[str | None, dict[str, Spend]]]:
    """Return what was spent in each window, in all and by project."""
    moments = chain.from_iterable(windows.values())
    of = spent(store, filters, moments=moments, all_in=measure is ALL_IN)
    condition = where(filters)
    sql = f"""
        with moved as (
            select repo, dated_at, {measure.column} as usd,
                if(usd is null, null, {bound_of(measure)}) as bound, 0 as run, 0 as known,
                null as credit
            from {of.sql} where is_started
            union all
            select repo, dated_at, null, null, 1, if({measure.column} is null, 0, 1),
                if({measure.column} is null and credits > 0,
                    (coalesce(credits_unit, 'credits'), credits), null)
            from v_runs where {condition.sql} and is_started
        ),
        windows as (
            select unnest($keys) as key, unnest($begins::timestamptz[]) as begins,
                unnest($ends::timestamptz[]) as ends
        )
        select key, repo, grouping(repo) = 1 as is_all, sum(usd)::decimal(18, 9) as usd,
            coalesce({kinds_in("bound")}, '') as bounds,
            sum(run)::bigint as runs, sum(known)::bigint as known,
            coalesce(list(credit) filter (credit is not null), []) as credits
        from moved join windows on dated_at >= begins and dated_at < ends
        group by grouping sets ((key), (key, repo))"""
    begins, ends = zip(*windows.values(), strict=True)
    values = {"keys": [*windows], "begins": [*begins], "ends": [*ends]}
    total, by_project = dict[str, Spend](), dict[str | None, dict[str, Spend]]()
    for row in fetch(store, sql, of.parameters | condition.parameters | values).to_pylist():
        of_rows = total if row["is_all"] else by_project.setdefault(row["repo"], {})
        paid = together(Spend(credits=(tuple(one.values()),)) for one in row["credits"]).credits
        of_rows[row["key"]] = Spend(row["usd"], row["bounds"], row["runs"], row["known"], paid)
    return {key: total.get(key, Spend()) for key in windows}, by_project


def _ends(store: Store, filters: Filters, begin: datetime, end: datetime) -> list[dict[str, Any]]:
    """Return how runs ended, by project and reason: the most first, with the latest run of each.

    `is_new`: no run of the project failed for the reason in the DAYS before, in which some ran.
    """
    condition = where(filters)
    sql = f"""
        with chosen as (select * from v_runs where {condition.sql} and dated_at < $end),
        earlier as (
            select coalesce(repo, '') as repo, list(distinct reason) as reasons
            from chosen where dated_at >= $least and dated_at < $begin group by 1
        )
        select repo, is_started, is_completed, reason, count(*) as runs,
            arg_max(run_id, dated_at) as run_id, max(dated_at) as dated_at,
            coalesce(not list_contains(any_value(reasons), reason), false) as is_new
        from (
            select chosen.*, reasons from chosen
            left join earlier on earlier.repo = coalesce(chosen.repo, '')
            where dated_at >= $begin
        )
        group by repo, is_started, is_completed, reason order by runs desc, repo, reason"""
    values = condition.parameters | {"begin": begin, "end": end, "least": _days_before(begin)}
    found: list[dict[str, Any]] = fetch(store, sql, values).to_pylist()
    return found


def _days_before(begin: datetime) -> datetime:
    return max(begin, _EVER[0] + timedelta(days=DAYS)) - timedelta(days=DAYS)


def _recent(
    store: Store, filters: Filters, within: tuple[datetime, datetime], measure: CostMeasure
) -> list[dict[str, Any]]:
    """Return the latest runs that ended within these times."""
    condition = where(filters)
    sql = f"""
        select run_id, repo, agent, model, dated_at, is_started, is_completed, outcome, reason,
            duration_ms, num_turns, {measure.column} as cost_usd, cost_best_usd, is_carried_over,
            {bound_of(measure)} as bounds, credits, credits_unit
        from v_runs where {condition.sql} and dated_at >= $begin and dated_at < $end
        order by dated_at desc, run_id limit {RECENT}"""
    values = condition.parameters | dict(zip(("begin", "end"), within, strict=True))
    found: list[dict[str, Any]] = fetch(store, sql, values).to_pylist()
    return found


def _new(store: Store, filters: Filters, since: datetime, until: datetime) -> list[NewName]:
    """Return the names that appeared in between, none if nothing ran in the DAYS before."""
    condition = where(filters)
    sql = f"""
        select kind, name, count(*) filter (is_started) as runs, min(dated_at) as first_at
        from (
            select unnest(['project', 'agent', 'model']) as kind,
                unnest([repo, agent, model_group]) as name, is_started, dated_at
            from v_runs
            where {condition.sql} and dated_at >= $least and dated_at <= $until
        )
        where name is not null group by kind, name order by runs desc, name"""
    values = {"least": _days_before(since), "until": until}
    found = [NewName(**row) for row in fetch(store, sql, condition.parameters | values).to_pylist()]
    had = {one.kind for one in found if one.first_at < since}
    return [one for one in found if one.first_at >= since and one.kind in had and one.runs]


def _waiting(
    store: Store, filters: Filters, begin: datetime, end: datetime
) -> list[dict[str, Any]]:
    """Return the runs without an end, of agents that record one, the latest first."""
    condition = where(filters)
    sql = f"""
        select run_id, repo, agent, dated_at from v_runs
        where {condition.sql} and dated_at >= $begin and dated_at < $end and is_started
            and outcome = 'unknown' and (agent, record_kind) in (
                select (agent, record_kind) from runs where outcome = 'completed')
        order by dated_at desc, run_id limit {RECENT}"""
    values = condition.parameters | {"begin": begin, "end": end}
    found: list[dict[str, Any]] = fetch(store, sql, values).to_pylist()
    return found
