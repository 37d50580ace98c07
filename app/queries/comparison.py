"""Compare groups of runs with a baseline.

Cost, wall time, turns and measured speedup, task by task.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from app.queries import Row, measured
from app.queries import measured as measured_queries
from app.queries import runs as run_queries
from app.queries.cost import COST_FACTS, is_comparable
from app.queries.filters import FILTERS, NO_FILTERS, UNCOUNTED, FilterKind, Filters, where
from app.queries.ratios import FEWEST, Bounded, Ratio, Spans, Verdict, paired, sign_of, unpaired
from app.queries.reading import ReadTransaction, fetch, fetch_rows, read_transaction
from app.queries.runs import KNOWN_SUFFIX, summary
from ingest.store.database import Store
from ingest.system.command_lines import command_line
from schemas.catalogue.columns import METRICS_COMPARED
from schemas.catalogue.cost_measures import BEST, BOUNDS, COST_MEASURES, LIST, REPORTED, CostMeasure

MOST_GROUPS = 6

TASK, NOTHING = "task", "nothing"
PAIRS = (TASK, NOTHING)

MOST_OFFERED = 30

COUNTS_PROMPTS = "codex"
"""The agent that counts its user's prompts as turns; others count requests of the model."""


@dataclass(frozen=True)
class Known:
    """A metric over the runs of a group that have it.

    Median (with ≤ or ≥ if it is a bound), least and largest.
    """

    runs: int = 0
    median: Decimal | float | None = None
    sign: str = ""
    least: Decimal | float | None = None
    most: Decimal | float | None = None


@dataclass(frozen=True)
class ComparedGroup:
    """A group of runs. `filters`: None if they contradict the filters of all groups.

    `tasks`: those that its started runs worked on; `completed_tasks`: completed at least once;
    `open_tasks`: not known to be completed, but some outcomes are unknown. `unknown_ends`,
    `taskless`, `with_tokens`: started runs.
    """

    filters: Filters | None
    agents: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    runs: int = 0
    started: int = 0
    completed: int = 0
    unknown_ends: int = 0
    taskless: int = 0
    with_tokens: int = 0
    tasks: int = 0
    completed_tasks: int = 0
    open_tasks: int = 0
    known: Mapping[str, Known] | None = None

    def of(self, metric: str) -> Known:
        """Return the metric over its runs."""
        return (self.known or {}).get(metric, Known())


@dataclass(frozen=True)
class SharedTasks:
    """Tasks of the baseline and a group: how many, and how many each completed.

    `is_open`: an unknown end may be one more. `only`: how many the other is known to have failed.
    """

    tasks: int
    completed: tuple[int, int] = (0, 0)
    is_open: tuple[bool, bool] = (False, False)
    only: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Comparison:
    """The baseline, and the other groups with their ratios against it by metric.

    `basis`: the measure of cost for all groups; `is_forced`: best-known costs would have mixed
    several kinds. `shared`: tasks that a group has in common with the baseline. `overlap`: its runs
    that are also in the baseline.
    """

    baseline: ComparedGroup
    others: tuple[ComparedGroup, ...]
    ratios: tuple[Mapping[str, Ratio], ...]
    basis: CostMeasure
    is_forced: bool
    pair: str
    shared: tuple[SharedTasks, ...]
    overlap: tuple[int, ...]

    @property
    def groups(self) -> tuple[ComparedGroup, ...]:
        """All groups, the baseline first."""
        return self.baseline, *self.others

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics to show: measured speedups only if two groups have enough of them."""
        measured = sum(group.of("speedup").runs >= FEWEST for group in self.groups) > 1
        return tuple(key for key in METRICS_COMPARED if key != "speedup" or measured)

    def is_paired(self, place: int) -> bool:
        """Return whether the other group at this place is compared task by task."""
        return self.pair == TASK and self.shared[place].tasks > 0


@dataclass(frozen=True)
class PairOffered:
    """Two groups to compare, the baseline first. `known`: metrics that both have.

    `is_bound`: most of their costs are bounds. `rank`: larger if more can be compared.
    """

    groups: tuple[Filters, Filters]
    shared: int
    known: tuple[str, ...]
    is_bound: bool
    rank: tuple[int, ...]


@dataclass(frozen=True)
class Offer:
    """Groups that can be compared, the largest first, and pairs of them, the best first."""

    groups: tuple[Filters, ...]
    pairs: tuple[PairOffered, ...]

    @property
    def opening(self) -> tuple[Filters, ...]:
        """The pair that knows most, or the only group."""
        return self.pairs[0].groups if self.pairs else self.groups


def narrowed(filters: Filters, group: Filters) -> Filters | None:
    """Return the group's filters combined with those of all groups.

    None if they contradict each other.
    """
    found = filters
    for key, values in group.chosen:
        both = filters.values(key)
        if both and FILTERS[key].kind is FilterKind.NAMES:
            values = tuple(value for value in values if value in both)  # noqa: PLW2901
            if not values:
                return None
        elif key not in UNCOUNTED:
            values = (*both, *values)  # noqa: PLW2901
        found = found.with_values(key, values)
    return found


def offered(store: Store, filters: Filters = NO_FILTERS) -> Offer:
    """Return the groups of an agent's runs with a model, and the pairs of them. Raises StoreError.

    A group is named by its agent alone if that has one model.
    """
    rows, parameters = _from(store, filters, LIST)
    of_tasks = {
        "exact": "cost is not null and cost_low = cost_high",
        "cost": "cost is not null",
        "reported": "is_reported",
    } | {metric: f"{metric} is not null" for metric in METRICS_COMPARED if metric != "cost"}
    sides = ", ".join(
        f"coalesce(list(distinct task_key) filter ({sql} and task_key is not null), []) as {key}, "
        f"count(*) filter ({sql}) as {key}_runs"
        for key, sql in of_tasks.items()
    )
    sql = f"""
        select agent, model, count(*) as started,
            count(distinct task_key) filter (is_completed) as completed,
            coalesce(list(distinct task_key) filter (task_key is not null), []) as tasks,
            count(*) over (partition by agent) as models,
            count(model) over (partition by agent) as named, {sides}
        from {rows} where is_started and agent is not null group by agent, model
        qualify model is not null or named = 0
        order by started desc, agent, model limit {MOST_OFFERED}"""
    found = fetch_rows(store, sql, parameters)
    for row in found:
        row |= {key: {*row[key]} for key in ("tasks", *of_tasks)}
        chosen = NO_FILTERS.with_values("agent", [row["agent"]])
        is_only = row["models"] == 1 or not row["model"]
        row["filters"] = chosen if is_only else chosen.with_values("main-model", [row["model"]])
    pairs = [_pair(one, two) for one, two in combinations(found, 2)]
    pairs.sort(key=lambda pair: pair.rank, reverse=True)
    return Offer(tuple(row["filters"] for row in found), tuple(pairs))


def _pair(one: dict[str, Any], two: dict[str, Any]) -> PairOffered:
    """Return a pair of groups, the one first that logs costs, else completed more tasks."""
    first, second = sorted(
        (one, two),
        key=lambda row: (row["cost_runs"] + row["reported_runs"] > 0, row["completed"]),
        reverse=True,
    )
    shared = len(one["tasks"] & two["tasks"])
    is_paired = shared >= FEWEST

    def both(key: str) -> int:
        runs = min(one[f"{key}_runs"], two[f"{key}_runs"])
        return len(one[key] & two[key]) if is_paired else runs

    has_cost = max(both("cost"), both("reported")) >= FEWEST
    is_exact = has_cost and max(2 * both("exact"), both("reported")) > both("cost")
    unlike = {"cost"} if _count_alike([one["agent"], two["agent"]]) else {"cost", "turns"}
    known = [key for key in METRICS_COMPARED if key not in unlike and both(key) >= FEWEST]
    return PairOffered(
        (first["filters"], second["filters"]),
        shared,
        ("cost", *known) if has_cost else tuple(known),
        has_cost and not is_exact,
        (
            is_paired,
            first["cost_runs"] + first["reported_runs"] > 0,
            len(known) + is_exact,
            has_cost,
            shared,
            min(one["started"], two["started"]),
        ),
    )


def compare(
    store: Store,
    chosen: Sequence[Filters | None],
    pair: str = TASK,
    cost: CostMeasure = BEST,
    base: Store | None = None,
) -> Comparison:
    """Compare groups of runs, each chosen by filters, with the first.

    `base`: the store of the first group, if it is another.

    Raises StoreError.
    """
    with (
        read_transaction(store) as candidate,
        read_transaction(base) if base else nullcontext(candidate) as other,
    ):
        places = [other, *[candidate] * (len(chosen) - 1)]
        sides = [
            (place, None if one is None else place.searched(one))
            for place, one in zip(places, chosen, strict=True)
        ]
        counted = _counted(sides)
        basis, is_forced = _basis(counted, cost)
        found = [_group(place, filters, basis) for place, filters in sides]
        groups = [
            replace(group, filters=filters)
            for (group, _), filters in zip(found, chosen, strict=True)
        ]
        tasks = [{row["task"]: row for row in rows if row["started"]} for _, rows in found]
        shared = tuple(_shared(tasks[0], one) for one in tasks[1:])
        runs = [
            {}
            if filters is None or (pair == TASK and all(one.tasks for one in shared))
            else _runs(place, filters, basis)
            for place, filters in sides
        ]
        ratios = []
        for number, (group, common) in enumerate(zip(groups[1:], shared, strict=True), 1):
            ratios.append(found_ratios := dict[str, Ratio]())
            for metric in METRICS_COMPARED:
                if not group.of(metric).runs or not groups[0].of(metric).runs:
                    found_ratios[metric] = Ratio(Verdict.UNRECORDED)
                elif metric == "turns" and not _count_alike(groups[0].agents, group.agents):
                    found_ratios[metric] = Ratio(Verdict.UNLIKE)
                elif pair == TASK and common.tasks:
                    found_ratios[metric] = paired(
                        _spans(tasks[number], metric), _spans(tasks[0], metric)
                    )
                else:
                    found_ratios[metric] = unpaired(runs[number][metric], runs[0][metric])
        overlap = tuple(one.get("shared", 0) for one in counted[1:])
    return Comparison(
        groups[0], tuple(groups[1:]), tuple(ratios), basis, is_forced, pair, shared, overlap
    )


def _count_alike(*groups: Sequence[str]) -> bool:
    """Return whether the turns of all agents are the same thing."""
    return len({agent == COUNTS_PROMPTS for agents in groups for agent in agents}) < 2


def _shared(baseline: Row, group: Row) -> SharedTasks:
    """Return the tasks of both from their rows by task."""
    common = baseline.keys() & group.keys()
    pairs = [(baseline[task], group[task]) for task in common]
    ends = [
        tuple(
            None if not row["completed"] and row["unknown_ends"] else row["completed"] > 0
            for row in pair
        )
        for pair in pairs
    ]
    return SharedTasks(
        len(ends),
        (sum(one is True for one, _ in ends), sum(two is True for _, two in ends)),
        (any(one is None for one, _ in ends), any(two is None for _, two in ends)),
        (ends.count((True, False)), ends.count((False, True))),
    )


def _counted(sides: Sequence[tuple[ReadTransaction, Filters | None]]) -> list[dict[str, int]]:
    """Return for each group how many started runs have each measure of cost.

    `shared` is how many of them are also in the first group.
    """
    found: list[dict[str, int]] = [{} for _ in sides]
    for store in dict.fromkeys(store for store, _ in sides):
        parts, parameters = list[str](), dict[str, Any]()
        chosen = {
            number: where(filters, f"g{number}_")
            for number, (place, filters) in enumerate(sides)
            if place is store and filters is not None
        }
        for number, condition in chosen.items():
            counted = [
                f"count({measure.column}) filter (is_started and {condition.sql}) as "
                f"{measure.prefix}known"
                for measure in COST_MEASURES.values()
            ]
            shared = (
                f"count(*) filter (({condition.sql}) and ({chosen[0].sql}))" if 0 in chosen else "0"
            )
            parts += [f"{sql}{number}" for sql in (*counted, f"{shared} as shared")]
            parameters |= condition.parameters
        row = (
            fetch_rows(store, f"select {', '.join(parts)} from v_runs", parameters)[0]
            if parts
            else {}
        )
        for number in chosen:
            found[number] = {"shared": row[f"shared{number}"]} | {
                key: row[f"{measure.prefix}known{number}"] for key, measure in COST_MEASURES.items()
            }
    first, filters = sides[0]
    for number, (store, other) in enumerate(sides):
        if store is not first and filters is not None and other is not None:
            found[number]["shared"] = len(
                {*run_queries.ids(first, filters)} & {*run_queries.ids(store, other)}
            )
    return found


def _basis(known: Sequence[Mapping[str, int]], wanted: CostMeasure) -> tuple[CostMeasure, bool]:
    """Return the measure of cost for all groups and whether it was forced.

    Best-known costs must all be reported, or all at list prices.
    """
    if wanted is not BEST:
        return wanted, False
    known = [row for row in known if row.get("best")]
    if all(row["reported"] == row["best"] for row in known):
        return (REPORTED if known else LIST), False
    if not any(row["reported"] for row in known):
        return LIST, False
    only_reported = not all(row["list"] for row in known) and all(row["reported"] for row in known)
    return (REPORTED if only_reported else LIST), True


def _values(basis: CostMeasure, *, has_measured: bool) -> dict[str, tuple[str, str, str]]:
    """Return the SQL of each metric: a run's value and its least and largest possible value.

    Failed runs never count as fast.
    """
    usd = f"case when is_started then {basis.column} end"
    has_bounds = basis is LIST
    low = (
        f"case when tokens_basis in ('upper_bound', 'estimate') then 0 * ({usd}) else {usd} end"
        if has_bounds
        else usd
    )
    high = (
        f"case when tokens_basis in ('lower_bound', 'estimate') then ({usd}) * 0 + 'inf'::double "
        f"else ({usd})::double end"
    )
    exact = {
        "wall": "case when is_started and is_completed then duration_ms end",
        "turns": "case when is_started then num_turns end",
        "speedup": "measured_speedup" if has_measured else "null",
    }
    return {"cost": (usd, low, high if has_bounds else usd)} | {
        key: (value, value, value) for key, value in exact.items()
    }


def _from(store: Store, filters: Filters, basis: CostMeasure) -> tuple[str, dict[str, Any]]:
    """Return the SQL of the group's runs with the values of each metric."""
    condition, has_measured = where(filters), bool(measured.count(store))
    listed = ", ".join(
        f"({sql})::{'decimal(38, 9)' if key == 'cost' and not end else 'double'} as {key}{end}"
        for key, ends in _values(basis, has_measured=has_measured).items()
        for end, sql in zip(("", "_low", "_high"), ends, strict=True)
    )
    rows = measured.with_verdicts(store) if has_measured else "v_runs"
    columns = (
        "task_key, agent, model_group as model, is_started, is_completed, total_tokens, "
        f"is_started and {REPORTED.column} is not null as is_reported"
    )
    return f"(select {columns}, {listed} from {rows} where {condition.sql})", condition.parameters


def _group(
    store: ReadTransaction, filters: Filters | None, basis: CostMeasure
) -> tuple[ComparedGroup, list[dict[str, Any]]]:
    """Return the group, and a row per task.

    How many runs `started`, and the median of each metric with its bounds.
    """
    if filters is None:
        return ComparedGroup(None), []
    rows, parameters = _from(store, filters, basis)
    figures = ", ".join(
        f"count({key}) as {key}_known, median({key}) as {key}, median({key}_low) as {key}_low, "
        f"median({key}_high) as {key}_high, min({key}) as {key}_least, max({key}) as {key}_most"
        for key in METRICS_COMPARED
    )
    sql = f"""
        select task_key as task, grouping(task_key) = 1 as is_whole, count(*) as runs, count(*)
            filter (is_started) as started,
            count(*) filter (is_started and is_completed) as completed,
            count(*) filter (is_started and is_completed is null) as unknown_ends,
            count(total_tokens) filter (is_started) as with_tokens,
            list_sort(list(distinct agent) filter (agent is not null)) as agents,
            list_sort(list(distinct model) filter (model is not null)) as models, {figures}
        from {rows} group by grouping sets ((task_key), ())"""
    found = fetch_rows(store, sql, parameters)
    whole = next(row for row in found if row["is_whole"])
    tasks = [row for row in found if not row["is_whole"] and row["task"] is not None]
    group = ComparedGroup(
        filters,
        tuple(whole["agents"] or ()),
        tuple(whole["models"] or ()),
        whole["runs"],
        whole["started"],
        whole["completed"],
        whole["unknown_ends"],
        whole["started"] - sum(row["started"] for row in tasks),
        whole["with_tokens"],
        sum(row["started"] > 0 for row in tasks),
        sum(row["completed"] > 0 for row in tasks),
        sum(row["completed"] == 0 < row["unknown_ends"] for row in tasks),
        {
            key: Known(
                whole[f"{key}_known"],
                whole[key],
                "" if whole[key] is None else sign_of(whole[f"{key}_low"], whole[f"{key}_high"]),
                whole[f"{key}_least"],
                whole[f"{key}_most"],
            )
            for key in METRICS_COMPARED
        },
    )
    return group, tasks


def _spans(tasks: Mapping[str, Row], key: str) -> dict[str, Bounded]:
    return {
        task: Bounded(float(row[key]), row[f"{key}_low"], row[f"{key}_high"])
        for task, row in tasks.items()
        if row[key] is not None
    }


def _runs(store: ReadTransaction, filters: Filters, basis: CostMeasure) -> dict[str, Spans]:
    """Return each metric over all runs that have it."""
    rows, parameters = _from(store, filters, basis)
    listed = ", ".join(f"{key}{end}" for key in METRICS_COMPARED for end in ("", "_low", "_high"))
    table = fetch(store, f"select {listed} from {rows}", parameters)
    found = {}
    for key in METRICS_COMPARED:
        columns = (
            table[f"{key}{end}"].combine_chunks().cast(pa.float64()).drop_null()
            for end in ("", "_low", "_high")
        )
        # not by `to_numpy`, with which pyarrow imports pandas: 0.3 s
        found[key] = Spans(*(np.asarray(np.from_dlpack(column), np.float64) for column in columns))
    return found


def command(groups: Sequence[Filters], pair: str, location: str) -> str:
    """Return the shell command for the same comparison of the store at `location`."""
    words = [
        "compare",
        *(shlex.quote(as_text(filters)) for filters in groups),
        *(["--pair", pair] if pair != TASK else []),
    ]
    return command_line(" ".join(words), location)


def as_text(filters: Filters) -> str:
    """Return `main-model=claude-opus-4-6 repo=vllm`, which `app.queries.filters.parse` reads."""
    return " ".join(
        shlex.quote(f"{key}={value}") for key, values in filters.chosen for value in values
    )


@dataclass(frozen=True)
class CohortTotals:
    """Totals of one cohort. `known`: the number of runs with a cost, including the `bounds`.

    `faster`: runs measured so; None if no run was compared.
    """

    runs: int
    cost_usd: Decimal | None
    known: int
    faster: int | None
    bounds: str | None = None


@dataclass(frozen=True)
class TwoTotals:
    """Totals of both cohorts by one `measure` of cost."""

    baseline: CohortTotals
    candidate: CohortTotals
    measure: CostMeasure
    is_comparable: bool

    @property
    def change(self) -> Decimal | None:
        """Relative change of the cost.

        None if the sums differ in kind, rest on fewer than five values, or the baseline cost
        nothing.
        """
        before, after = self.baseline.cost_usd, self.candidate.cost_usd
        return None if not self.is_comparable or after is None or not before else after / before - 1


def two_totals(baseline: tuple[Store, Filters], candidate: tuple[Store, Filters]) -> TwoTotals:
    """Return totals of two cohorts, each in its store, by best-known cost.

    If only list prices compare, the totals are by list prices. Raises StoreError.
    """
    is_same = baseline[0].location == candidate[0].location
    with (
        read_transaction(candidate[0]) as second,
        nullcontext(second) if is_same else read_transaction(baseline[0]) as first,
    ):
        sides = ((first, baseline[1]), (second, candidate[1]))
        facts = [
            summary(store, filters, metrics=COST_FACTS).to_pylist()[0] for store, filters in sides
        ]
        # one basis on both sides: list prices where the best-known costs are of different kinds
        measure = (
            BEST
            if is_comparable(facts[0], facts[1], BEST)
            else LIST
            if is_comparable(facts[0], facts[1], LIST)
            else BEST
        )
        measured = [measured_queries.totals(store, filters) for store, filters in sides]
    one, two = (
        CohortTotals(
            row["runs"],
            row[measure.total],
            row[f"{measure.total}{KNOWN_SUFFIX}"] or 0,
            found["runs_faster"] if found and found["runs_compared"] else None,
            row[BOUNDS[measure.total][0]] if measure.total in BOUNDS else None,
        )
        for row, found in zip(facts, measured, strict=True)
    )
    return TwoTotals(one, two, measure, is_comparable(facts[0], facts[1], measure))
