"""Figures of each agent, of each of its models, and of all runs together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, NamedTuple

import pyarrow as pa

from app.queries import Row, Rows, measured
from app.queries.filters import Filters, where
from app.queries.grouping import EFFORT
from app.queries.measured import Range
from app.queries.reading import fetch, fetch_rows
from app.queries.runs import bound_of
from app.queries.spending import is_split, spent
from ingest.store.database import Store
from schemas.catalogue.cost_measures import ALL_IN, BEST, NEARLY_ALL, CostMeasure
from schemas.catalogue.figures import kinds_in
from schemas.catalogue.metrics import IS_BEYOND_NOISE, MEASURED_CLASSES, VERDICT_METRICS

ENOUGH = 5
"""Fewest values for a median; fewer are given as a range."""

_DOUBTS = {
    "disputed": "runs_disputed",
    "not_by_median": "runs_not_by_median",
    "beyond_noise": "runs_beyond_noise",
    "hacks": "runs_hacked",
}

COMPARABLE = ("faster", "same", "inside_noise", "slower")
"""Classes of runs measured against a comparable baseline."""

LIMITS = "('limit_reached', 'max_turns', 'max_budget', 'max_structured_output_retries')"


Side = tuple[str | None, str | None, str | None, bool]
"""Agent, its model, its effort, and whether it is a model; an agent alone has neither."""


@dataclass(frozen=True, slots=True)
class AgentFigures:
    """Figures of an agent, of one of its models (`is_model`), or of all runs (`is_all`).

    `model` of an agent is its most frequent one. `effort` of a model: "" if it is not recorded,
    None if the rows are not divided by it; `efforts` of a model count both.

    `tasks`, `started`: counts. `comparable_tasks`, `faster_tasks` and `beyond_tasks` (faster beyond
    noise) count tasks, and runs of unknown tasks one by one. `asked` runs only name the model that
    was asked for. The ends of started runs are `completed`,
    `limited`, `failed` and `unknown_ends`. `cost_usd` is the sum by the measure over the
    `cost.known` started runs with a cost; `bounds` names the kinds of bounds in it (`upper_bound,
    estimate`), `bounded` counts their runs and `bounded_usd` adds them up. `wall` is in
    milliseconds, of completed runs, `wall_ms` of all started ones. `measured` counts runs by
    MEASURED_CLASSES; of the faster ones, `disputed`, `not_by_median`, `beyond_noise` and
    `hacks` (VERDICT_METRICS). `checked` claims have a comparable measurement. `other_part` of them
    cover another part of the software; the others `held`, promised `more` or `less`, or went in
    the `wrong` direction.
    """

    agent: str | None
    model: str | None
    is_all: bool
    is_model: bool
    runs: int
    tasks: int
    models: int
    started: int
    completed: int
    limited: int
    failed: int
    unknown_ends: int
    undated: int
    cost_usd: Decimal | None
    cost: Range
    bounds: str
    bounded: int
    bounded_usd: Decimal | None
    wall: Range
    wall_ms: int | None
    claimed: Range
    measured: dict[str, int]
    checked: int
    held: int
    more: int
    less: int
    wrong: int
    other_part: int
    asked: int = 0
    disputed: int = 0
    not_by_median: int = 0
    at_end: int | None = None
    beyond_noise: int = 0
    hacks: int = 0
    comparable_tasks: int = 0
    faster_tasks: int = 0
    beyond_tasks: int = 0
    efforts: int = 1
    effort: str | None = None

    @property
    def side(self) -> Side:
        return self.agent, self.model if self.is_model else None, self.effort, self.is_model

    @property
    def shown_effort(self) -> str | None:
        """Its effort, None where no effort of the model is recorded."""
        return self.effort or (self.effort if self.efforts > 1 else None)

    @property
    def never_started(self) -> int:
        """Runs that never started; no cost, time or rate includes them."""
        return self.runs - self.started

    @property
    def known_ends(self) -> int:
        """Started runs with a known outcome."""
        return self.started - self.unknown_ends

    @property
    def runs_measured(self) -> int:
        """Runs that a benchmark measured or tried to measure."""
        return sum(number for name, number in self.measured.items() if name != "not_measured")

    @property
    def comparable(self) -> int:
        """Runs measured against a comparable baseline."""
        return sum(self.measured[name] for name in COMPARABLE)

    @property
    def same_part(self) -> int:
        """Checked claims about the part of the software that was measured.

        Only these can hold or not.
        """
        return self.checked - self.other_part

    @property
    def faster(self) -> int:
        """Runs measured faster than their baseline, once or beyond noise."""
        return self.measured["faster"]

    @property
    def median_bounds(self) -> str:
        """The kinds of bounds of the median cost.

        Those of the runs if more than half of these have bounds.
        """
        return self.bounds if 2 * self.bounded > self.cost.known else ""

    @property
    def cost_per_faster_usd(self) -> Decimal | None:
        """Cost of all started runs per task measured faster.

        None without any, or if the cost is unknown for one run in ten.
        """
        if not self.faster_tasks or self.cost_usd is None or not self.is_cost_known:
            return None
        return self.cost_usd / self.faster_tasks

    @property
    def is_cost_known(self) -> bool:
        """Whether the cost of nine in ten started runs is known."""
        return bool(self.started) and self.cost.known >= NEARLY_ALL * self.started


def sides_of(by: str) -> tuple[str, str]:
    """Return SQL that groups runs by one of SIDES, each agent whole as well, and its columns."""
    last = ", coalesce(effort, '')" if by == EFFORT else ""
    sets = f"grouping sets ((), (agent), (agent, model_group{last}))"
    of_model = "grouping(agent, model_group) = 0"
    effort = f"case when {of_model} then {last[2:]} end" if last else "null"
    return sets, (
        f"grouping(agent) = 1 as is_all, {of_model} as is_model, agent, model_group as model, "
        f"{effort} as effort"
    )


def agents(
    store: Store, filters: Filters, measure: CostMeasure = BEST, by: str = "agent"
) -> list[AgentFigures]:
    """Return all runs in one row, then each agent followed by its models, `by` one of SIDES.

    Agents with a run measured faster come first, then those that complete most; models by cost.

    Raises StoreError.
    """
    condition, cost = where(filters), measure.column
    spreads = {
        "cost": (cost, "is_started"),
        "wall": ("duration_ms", "is_completed"),
        "claimed": ("claimed_speedup", "true"),
    }
    medians, ranges = (
        ", ".join(
            f"{function}({column}) filter ({which}) as {name}_{end}"
            for name, (column, which) in spreads.items()
            for function, end in functions
        )
        for functions in (
            (("median", "median"),),
            (("count", "known"), ("min", "low"), ("max", "high")),
        )
    )
    classes = ", ".join(
        f"count(*) filter (measured_class = '{name}') as {name}" for name in MEASURED_CLASSES
    )
    doubts = ", ".join(f"{VERDICT_METRICS[key].sql} as {name}" for name, key in _DOUBTS.items())
    turns = {"held": "kept", "more": "over_claimed", "less": "under_claimed", "wrong": "wrong_sign"}
    turned = ", ".join(
        f"count(*) filter (is_checked and not scope_differs and claim_verdict = '{kind}') as {name}"
        for name, kind in turns.items()
    )
    money = f"""
            sum({cost}) filter (is_started) as cost_usd,
            coalesce({kinds_in("bound", f"is_started and {cost} is not null")}, '') as bounds,
            sum({cost}) filter (is_started and bound is not null) as bounded_usd"""
    is_cut, (sets, columns) = is_split(store, filters), sides_of(by)
    judged = measured.with_verdicts(store)

    def grouped(figures: str, rows: str) -> dict[tuple[Any, ...], dict[str, Any]]:
        sql = f"""
            with chosen as (
                select *, {bound_of(measure)} as bound from {rows} where {condition.sql}
            )
            select {columns}, {figures} from chosen group by {sets}
            order by count(*) desc, agent nulls last, model nulls last, effort"""
        return {_group(row): row for row in fetch_rows(store, sql, condition.parameters)}

    # medians and distinct values apart: together with the counts they take twice as long
    distinct = "count(distinct task_key) as tasks, count(distinct coalesce(effort, '')) as efforts"
    spread = grouped(f"{medians}, {distinct}", "v_runs")
    counted = grouped(
        f"""count(*) as runs,
            count(*) filter (is_started) as started, count(*) filter (is_started and is_completed)
                as completed,
            count(*) filter (is_started and outcome in {LIMITS}) as limited,
            count(*) filter (is_started and is_completed is null) as unknown_ends,
            count(*) filter (is_started) - completed - limited - unknown_ends as failed,
            count(*) filter (dated_at is null) as undated, count(asked_model) as asked,
            count(*) filter (is_started and bound is not null and {cost} is not null) as bounded,
            sum(duration_ms) filter (is_started) as wall_ms,
            {ranges}, {"" if is_cut else f"{money},"} {classes}, {doubts}, {turned},
            count(*) filter (is_checked) as checked,
            count(*) filter (is_checked and scope_differs) as other_part""",
        f"(select *, coalesce(claimed_speedup > 0 and measured_speedup > 0, false) as is_checked "
        f"from {judged})",
    )
    if any(row[name] for row in counted.values() for name in COMPARABLE):
        task = "distinct coalesce(task_key, run_id)"
        is_faster = "measured_class = 'faster'"
        tasks = grouped(
            f"""count({task}) as comparable_tasks,
                count({task}) filter ({is_faster}) as faster_tasks,
                count({task}) filter ({is_faster} and {IS_BEYOND_NOISE}) as beyond_tasks""",
            f"(from {judged} where measured_class in {COMPARABLE})",
        )
    else:
        tasks = {}
    rows = [row | spread[key] | tasks.get(key, {}) for key, row in counted.items()]
    pairs = [(row["agent"], row["model"]) for row in rows if row["is_model"]]
    for row in rows:
        mine = {model for agent, model in pairs if row["is_all"] or agent == row["agent"]}
        row["models"] = 1 if row["is_model"] else len(mine)
    if is_cut:
        rows = _with_spent(store, filters, measure, money, rows, by)
    main_model = {  # the first counts
        row["agent"]: row["model"] for row in reversed(rows) if row["is_model"] and row["model"]
    }
    found, of_models = [], Counter((row["agent"], row["model"]) for row in rows if row["is_model"])
    for row in rows:
        if row["effort"] is not None:
            row["efforts"] = of_models[row["agent"], row["model"]]
        figures: dict[str, Any] = {
            field.name: row[field.name] for field in fields(AgentFigures) if field.name in row
        }
        if not row["is_model"]:
            figures["model"] = main_model.get(row["agent"])
        for name in spreads:
            ends = (row[f"{name}_{end}"] for end in ("median", "low", "high"))
            figures[name] = Range(
                row[f"{name}_known"], *(None if end is None else float(end) for end in ends)
            )
        found.append(
            AgentFigures(**figures, measured={name: row[name] for name in MEASURED_CLASSES})
        )
    ordered = [row for row in found if row.is_all]
    for agent in sorted(
        (row for row in found if not row.is_all and not row.is_model),
        key=lambda row: (not row.faster, -_completed_share(row), *_by_cost(row)),
    ):
        models = [row for row in found if row.is_model and row.agent == agent.agent]
        ordered += [agent, *sorted(models, key=lambda row: (row.model is None, *_by_cost(row)))]
    return ordered


def _with_spent(
    store: Store,
    filters: Filters,
    measure: CostMeasure,
    money: str,
    rows: Rows,
    by: str,
) -> Rows:
    """Return the rows with what was spent in the period of the filters.

    An agent or model that spent then, and ended no run, has a row of its own.
    """
    of = spent(store, filters, moments=(), all_in=measure is ALL_IN)
    sets, columns = sides_of(by)
    sql = f"""
        select {columns}, {money},
            count(*) filter (response_id is null) as at_end
        from (select *, {bound_of(measure)} as bound from {of.sql})
        group by {sets}
        order by cost_usd desc nulls last, agent nulls last, model nulls last, effort"""
    found = {_group(row): row for row in fetch_rows(store, sql, of.parameters)}
    nothing = {"cost_usd": None, "bounds": "", "bounded_usd": None, "at_end": 0}
    [none] = [
        {name: 0 if isinstance(value, int) else None for name, value in row.items()}
        for row in rows
        if row["is_all"]
    ]
    had = [row | found.pop(_group(row), nothing) for row in rows]
    return [*had, *(none | row for row in found.values())]


def _group(row: Row) -> tuple[Any, ...]:
    """Return what tells the group of a row from others."""
    return tuple(row[name] for name in ("is_all", "is_model", "agent", "model", "effort"))


def _completed_share(row: AgentFigures) -> float:
    """Return the completed share of the started runs, 0 for too few to say."""
    return row.completed / row.started if row.started >= ENOUGH else 0.0


def _by_cost(row: AgentFigures) -> tuple[Decimal, int]:
    return -(row.cost_usd or Decimal(0)), -row.runs


def shown_rows(rows: Sequence[AgentFigures]) -> list[AgentFigures]:
    """Return the rows for a table of agents; those that never started only if no other did.

    An agent's models get rows if at least two of them have ENOUGH runs.
    """
    shown: list[AgentFigures] = []
    for row in (row for row in rows if not row.is_all and (row.started or not rows[0].started)):
        siblings = [
            other
            for other in rows
            if other.is_model and other.agent == row.agent and other.runs >= ENOUGH
        ]
        if not row.is_model or len(siblings) > 1:
            shown.append(row)
    return shown


def hidden_rows(rows: Sequence[AgentFigures]) -> list[AgentFigures]:
    """Return the agents and models that the table leaves out since none of their runs started."""
    shown = shown_rows(rows)
    parents = {row.agent for row in shown if row.is_model}
    return [
        row
        for row in rows
        if not row.started
        and row not in shown
        and not row.is_all
        and row.is_model is (row.agent in parents)
    ]


def points(
    store: Store, filters: Filters, limit: int, measure: CostMeasure = BEST, known: str = "run_id"
) -> pa.Table:
    """Return runs as points of charts.

    Agent, model, cost by the measure with its bound, wall time, claimed and measured speedup.

    At most `limit` runs that have the column `known`, by id. Raises StoreError.
    """
    condition = where(filters)
    sql = f"""
        select run_id, title, agent, model_group as model, coalesce(effort, '') as effort,
            is_started, coalesce(is_completed, false) as is_completed,
               {measure.column} as cost_usd, {bound_of(measure)} as bound, duration_ms,
                   claimed_speedup, measured_speedup, scope_differs,
                   outcome, num_turns, output_tokens, measured_class, cost_list_usd, cost_cause
        from {measured.with_verdicts(store)} where {condition.sql} and {known} is not null
        order by run_id limit {int(limit)}"""
    return fetch(store, sql, condition.parameters)


def spent_by_run(store: Store, filters: Filters, measure: CostMeasure) -> dict[str, Decimal | None]:
    """Return what each run spent in the period of the filters; empty where all is of whole runs."""
    if not is_split(store, filters):
        return {}
    of = spent(store, filters, moments=(), all_in=measure is ALL_IN)
    sql = f"select run_id, sum({measure.column}) as usd from {of.sql} group by run_id"
    found = fetch(store, sql, of.parameters)
    return dict(zip(found["run_id"].to_pylist(), found["usd"].to_pylist(), strict=True))


def quantiles(
    store: Store, filters: Filters, column: str, which: str, by: str = "agent"
) -> dict[Side, list[float]]:
    """Return quantiles (5, 25, 50, 75, 95 %) of a column, `by` one of SIDES.

    They are for runs that match the condition `which`.

    `column` and `which` are SQL of ours, never text from outside. Raises StoreError.
    """
    condition, (sets, columns) = where(filters), sides_of(by)
    sql = f"""
        select {columns},
               quantile_cont({column}::double, [0.05, 0.25, 0.5, 0.75, 0.95]) as quantiles
        from v_runs where {condition.sql} and {which} and {column} > 0 group by {sets}"""
    rows = fetch_rows(store, sql, condition.parameters)
    return {_side(row): row["quantiles"] for row in rows if not row["is_all"]}


def _side(row: Row) -> Side:
    return row["agent"], row["model"], row["effort"], row["is_model"]


class Valued(NamedTuple):
    """Values of a metric without a baseline, on a scale that all tasks share.

    `of`: 25 %, 50 % and 75 % of the values of each side with ENOUGH. `hacks`: values that others
    judged a hack, which do not count.
    """

    metric: str
    unit: str
    is_less_better: bool
    of: Mapping[Side, Sequence[float]]
    hacks: int


def values(store: Store, filters: Filters, by: str = "agent") -> list[Valued]:
    """Return the measured values that no baseline makes a speedup, the most frequent metric first.

    Shares of a whole (of a roofline, of tests) of any tasks; other values only of a single task.
    `by`: one of SIDES. Raises StoreError.
    """
    condition, (sets, columns) = where(filters), sides_of(by)
    sql = f"""
        select {columns}, metric, measured_unit as unit, better,
            count(*) filter (is_honest) as known, count(*) - known as hacks,
            quantile_cont(measured_candidate, [0.25, 0.5, 0.75]) filter (is_honest) as quantiles,
            count(distinct row(task_key, benchmark)) as tasks
        from (
            select *, unit as measured_unit, judged is distinct from 'hack' as is_honest
            from {measured.with_verdicts(store)} where {condition.sql}
        )
        join (
            select source_id as measurement_source_id, measurement_no, better from v_measurements
        ) using (measurement_source_id, measurement_no)
        where measured_class = 'no_baseline' and measured_candidate is not null
        group by metric, measured_unit, better, {sets}
        order by is_all desc, known desc, metric"""
    rows = fetch_rows(store, sql, condition.parameters)
    return [
        Valued(
            whole["metric"],
            whole["unit"],
            whole["better"] == "lower",
            {
                _side(row): row["quantiles"]
                for row in rows
                if all(row[key] == whole[key] for key in ("metric", "unit", "better"))
                and row["known"] >= ENOUGH
                and not row["is_all"]
            },
            whole["hacks"],
        )
        for whole in rows
        if whole["is_all"]
        and whole["better"] in ("lower", "higher")
        and (whole["unit"] == "share" or whole["tasks"] == 1)
    ]


def comparable(store: Store, filters: Filters, limit: int) -> pa.Table:
    """Return at most `limit` runs with a comparable result, the smallest speedup first.

    Id, title, agent, speedup, class of the measurement, and whether it is beyond noise. Raises
    StoreError.
    """
    condition = where(filters)
    sql = f"""
        select run_id, title, agent, measured_speedup, measured_class,
            coalesce({IS_BEYOND_NOISE}, false) as is_beyond_noise, count(*) over () as found
        from {measured.with_verdicts(store)}
        where {condition.sql} and measured_class in {COMPARABLE} and measured_speedup > 0
        order by measured_speedup, run_id limit {int(limit)}"""
    return fetch(store, sql, condition.parameters)
