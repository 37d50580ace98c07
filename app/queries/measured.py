"""Measured results: verdicts with claims, values, and values without a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

import pyarrow as pa

from app.queries import Rows
from app.queries.claims import claims
from app.queries.filters import MIN_CONFIDENCE, NO_FILTERS, RUN, Filters, where
from app.queries.grouping import UTC_ZONE, groups
from app.queries.reading import (
    ReadTransaction,
    fetch,
    fetch_by_run,
    fetch_rows,
    fetch_value,
    limited,
    with_rows,
)
from app.queries.runs import aggregate, bound_of
from ingest.store.database import Store
from ingest.store.opening import ALIAS
from schemas.catalogue.cost_measures import BEST, CostMeasure
from schemas.catalogue.metrics import BEYOND_NOISE, IS_BEYOND_NOISE, PAIR, VERDICT_METRICS

_OF_RUN = "run_id, title, agent, model, repo, task, dated_at, outcome, cost_own_usd, cost_list_usd"
_OF_CLAIM = "claimed_speedup, claimed_metric, claimed_evidence, claimed_scope, claimed_quote"
_OF_VERDICT = (
    "format",
    "benchmark",
    "metric",
    "statistic",
    "unit",
    "measured_scope",
    "measured_baseline",
    "measured_reference",
    "measured_candidate",
    "measured_speedup",
    "measured_low",
    "measured_high",
    "measured_noise_floor",
    "verdict",
    "measured_class",
    "measured_vs_reference",
    "measured_vs_reference_low",
    "reference_verdict",
    "hard",
    "hard_published",
    "judged",
    "judged_by",
    "target",
    "quadrant",
    "failure",
    "failure_detail",
    "not_comparable",
    "warnings",
    "is_single_run",
    "disagreeing",
    "values_measured",
    "values_comparable",
    "scope_differs",
    "claim_verdict",
    "overclaim_factor",
    "measurement_source_id",
    "measurement_no",
)

WHY = """concat_ws('; ',
    failure_detail, nullif(not_comparable, ''),
    case when scope_differs
        then 'scope differs: claimed ' || replace(claimed_scope, '_', ' ')
            || ', measured ' || replace(measured_scope, '_', ' ') end,
    nullif(array_to_string(warnings, '; '), '')
)"""

AGREEMENT = (
    "case when len(disagreeing) = 0 then 'agree' else 'not ' || array_to_string(disagreeing, ', "
    "') end"
)
"""What the other values of the measurement say of its verdict: `agree`, `not median, itl`; null if
nothing else was measured.
"""


def _sure(verdict: str, low: str, floor: str = "measured_noise_floor") -> str:
    """Return SQL of whether a faster or slower ratio is beyond noise; null for other verdicts."""
    is_beyond = BEYOND_NOISE.format(low=low, floor=floor)
    return f"case when {verdict} in ('faster', 'slower') then {is_beyond} end"


_OF_VALUES = (
    AGREEMENT + " as other_values" if key == "disagreeing" else key for key in _OF_VERDICT[:-2]
)
_MEASURED = f"""
    {", ".join(_OF_VALUES)},
    {_sure("verdict", "measured_low")} as is_beyond_noise,
    {_sure("reference_verdict", "measured_vs_reference_low")} as is_reference_beyond_noise,
    nullif({WHY}, '') as why"""

_ORDER = (
    "list_position(['faster', 'slower', 'same', 'inside_noise', 'not_comparable', 'failed', "
    "'not_measured'], verdict)"
)


EVERY, MEASURED = "every", "measured"
CHOICES = {
    EVERY: "true",
    MEASURED: "values_measured > 0",
}


def with_verdicts(store: Store) -> str:
    """Return SQL of `v_runs` joined with `v_verdicts`.

    A transaction reads these views once for all its queries.
    """
    if isinstance(store, ReadTransaction):
        for view in ("v_measured_runs", "v_speedups"):  # each reads the one before
            store.have_at_hand(view)
        if store.has_few_runs or fetch_value(store, "select exists (from v_speedups)"):
            store.have_at_hand("v_verdicts")  # else the copy of all runs takes as long as 8 queries
    return (
        f"v_runs join (select run_id, {', '.join(_OF_VERDICT)} from v_verdicts) as measured "
        "using (run_id)"
    )


def verdicts(
    store: Store, filters: Filters, choice: str = MEASURED, limit: int | None = None
) -> pa.Table:
    """Return runs of one of CHOICES with their claims and measurements."""
    condition = where(filters)
    sql = f"""
        select {_OF_RUN}, {_OF_CLAIM}, {_MEASURED}, sources.name as
            source_name
        from (select * from {with_verdicts(store)} where {condition.sql} and {CHOICES[choice]}) left
            join
            (select source_id as measurement_source_id, name from sources) as sources using
                (measurement_source_id)
        order by {_ORDER}, claimed_speedup is null, measured_speedup desc nulls last, run_id"""
    return fetch(store, limited(sql, limit), condition.parameters)


def classes_of(store: Store, run_ids: Sequence[str]) -> dict[str, tuple[str, float | None]]:
    """Return run id → (class of its measurement from MEASURED_CLASSES, comparable speedup).

    Unmeasured runs are left out.
    """
    if not count(store):
        return {}
    sql = f"""
        select run_id, measured_class, measured_speedup from {with_verdicts(store)}
        where run_id in (select unnest($run_ids)) and measured_class <> 'not_measured'"""
    rows = fetch_rows(store, sql, {"run_ids": list(run_ids)})
    return {row["run_id"]: (row["measured_class"], row["measured_speedup"]) for row in rows}


def measured_in(store: Store, filters: Filters, begin: datetime, end: datetime) -> Rows:
    """Return the results of these times by project, the most first.

    `runs` were measured, `faster` of them faster, `beyond_noise` of these beyond noise; the latest
    is `run_id`. `changed`: (class before, class now) of each run that was measured before, too, and
    became something else (MEASURED_CLASSES). A measurement without a time has that of its ingest.
    """
    at = "coalesce(measured_at, received_at)"
    measured = f"measurements join sources using (source_id) where {at} >= $begin and {at} < $end"
    times = {"begin": begin, "end": end}
    if not fetch_value(store, f"select exists (from {measured})", times):
        return []
    condition = where(filters)
    sql = f"""
        select run_id, repo, measured_class, is_beyond_noise, measured_at
        from (
            select run_id, repo, measured_class, {_sure("verdict", "measured_low")} as
                is_beyond_noise, measurement_source_id as source_id, measurement_no
            from {with_verdicts(store)}
            where {condition.sql} and measured_class <> 'not_measured'
        )
        join (select source_id, measurement_no, {at} as measured_at from {measured})
            using (source_id, measurement_no)
        order by repo, measured_at desc, run_id"""
    rows = fetch_rows(store, sql, condition.parameters | times)
    earlier = (
        f"(source_id, measurement_no) in (select (source_id, measurement_no) from {ALIAS}."
        f"measurements join {ALIAS}.sources using (source_id) where {at} < $begin)"
    )
    before = "select run_id, measured_class from v_verdicts where run_id in (select unnest($ids))"
    with with_rows(store, "measurements", earlier, {"begin": begin}) as connection:
        ids = {"ids": [row["run_id"] for row in rows]}
        was = dict(connection.execute(before, ids).fetchall())
    made = []
    for repo, of_repo in groupby(rows, lambda row: row["repo"]):
        several = [*of_repo]
        faster = [row for row in several if row["measured_class"] == "faster"]
        pairs = ((was.get(row["run_id"]), row["measured_class"]) for row in several)
        made.append(
            {
                "repo": repo,
                "runs": len(several),
                "faster": len(faster),
                "beyond_noise": sum(bool(row["is_beyond_noise"]) for row in faster),
                "run_id": several[0]["run_id"],
                "measured_at": several[0]["measured_at"],
                "changed": [
                    (old, now) for old, now in pairs if old not in (None, "not_measured", now)
                ],
            }
        )
    return sorted(made, key=lambda row: -row["runs"])


DECIDING = {
    "a comparable baseline": "coalesce(is_comparable, false)",
    "a comparable reference": "coalesce(is_reference_comparable, false)",
    "no failure": "status = 'ok'",
    "measuring in turns": "noise_floor is not null",
    "end to end before a part": (
        "list_position(['end_to_end', 'component', 'micro', 'unspecified'], scope)"
    ),
    "the metric that the benchmark judges by": "is_primary",
    "the kind that the run claims": (
        "case claimed_metric when 'time' then unit = 'ms' when 'throughput' then "
        "contains(unit, '/s') when 'memory' then unit = 'B' end"
    ),
    "time to first token before throughput before latency": (
        "list_position( ['ttft', 'output_throughput', 'throughput', 'total_throughput', "
        "'request_throughput', 'latency', 'e2el', 'time'], metric )"
    ),
    "the mean before other statistics": (
        "list_position(['mean', 'total', 'rate', 'median', 'p90', 'p95', 'p99', 'min', 'max'], "
        "statistic)"
    ),
    "fewest warnings": "len(warnings)",
    "the latest": "measured_at",
    "the order of files": "(source_id, measurement_no)",
}
"""What goes before when `v_verdicts` chooses the value that decides, in words and in its SQL."""


_VALUE = "[benchmark, metric, statistic, unit, candidate_value::varchar, base_value::varchar]"
"""SQL that is equal for copies of a measured value in several files."""


def _decided_by(store: Store, decides: Mapping[str, tuple[str, int]]) -> dict[str, list[str]]:
    """Return the words of DECIDING that put other values of each run behind, in their order.

    `decides`: run id → source and number of the value that decides.
    """
    keys = [f"{sql} as k{number}" for number, sql in enumerate(DECIDING.values())]
    sql = f"""
        select run_id, {_VALUE} as value, source_id, measurement_no, {", ".join(keys)}
        from (
            select baseline.*, is_reference_comparable, claimed_metric
            from v_speedups as baseline
            join (
                select source_id, measurement_no, is_comparable as is_reference_comparable
                from v_speedups where base = 'reference' and $chosen
            ) as reference using (source_id, measurement_no)
            join (select run_id, claimed_metric from runs) as runs using (run_id)
            where base = 'baseline' and $chosen
        )
        order by run_id"""
    found = {}
    for run_id, table in fetch_by_run(store, sql, [*decides]).items():
        rows = [tuple(row.values()) for row in table.to_pylist()]
        [mine] = [row for row in rows if row[1:3] == decides[run_id]]
        found[run_id] = list[str]()
        for place, name in enumerate(DECIDING, 3):
            left = [row for row in rows if row[place] == mine[place]]
            # copies of the value that decides, in other files, are no other values
            if any(row[0] != mine[0] for row in rows if row[place] != mine[place]):
                found[run_id].append(name)
            rows = left
    return found


def verdict_of(store: Store, run_id: str) -> dict[str, Any] | None:
    """Return claim and measurement of one run as in `verdicts`; None if it was not measured."""
    return verdicts_of(store, [run_id]).get(run_id)


def verdicts_of(store: Store, run_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return `verdict_of` by run, of the measured ones. `decided_by`: words of DECIDING."""
    if not count(store):
        return {}
    sql = f"""
        select run_id, {_OF_CLAIM}, claimed_low, claimed_high, claimed_caveat, {_MEASURED},
            measurement_source_id, measurement_no
        from {with_verdicts(store)} where $chosen and {CHOICES[MEASURED]} order by run_id"""
    found = fetch_by_run(store, sql, run_ids)
    rows = {run_id: table.to_pylist()[0] for run_id, table in found.items() if table.num_rows}
    places = {
        run_id: (row.pop("measurement_source_id"), row.pop("measurement_no"))
        for run_id, row in rows.items()
    }
    by = _decided_by(store, places) if places else {}
    return {run_id: row | {"decided_by": by[run_id]} for run_id, row in rows.items()}


def summary(
    store: Store,
    filters: Filters,
    by: Sequence[str] = (),
    metrics: Sequence[str] = tuple(VERDICT_METRICS),
    zone: str = UTC_ZONE,
    having: str = "runs",
) -> pa.Table:
    """Return VERDICT_METRICS, one row per group, most expensive first; one row without `by`.

    `having`: drop groups with 0 of this count.
    """
    found = aggregate(
        store,
        filters,
        groups(by, zone),
        [VERDICT_METRICS[key] for key in metrics],
        BEST,
        with_verdicts(store),
    )
    # not `found.filter`: it imports numpy, 0.1 s
    return (
        pa.Table.from_pylist([row for row in found.to_pylist() if row[having] > 0], found.schema)
        if by
        else found
    )


def totals(store: Store, filters: Filters) -> dict[str, Any] | None:
    """Return VERDICT_METRICS of all the runs; None if nothing was measured."""
    if not count(store):
        return None
    row: dict[str, Any] = summary(store, filters).to_pylist()[0]
    return row if row["runs_measured"] else None


def measurements(store: Store, filters: Filters, limit: int | None = None) -> pa.Table:
    """Return every measured value with its run.

    Filters choose runs; without filters, values without a run are included.
    """
    condition = where(filters)
    chosen = (
        f"where joined_run_id in (select run_id from v_runs where {condition.sql})"
        if filters
        else ""
    )
    sql = f"""
        select measured.* exclude (subject), name as source_name
        from (
            select v_measurements.*, found.run_id as joined_run_id, joined_by, unjoined
            from v_measurements left join v_measured_runs as found using (subject)
        ) as measured
        join (select source_id, name from sources) as sources using (source_id)
        {chosen}
        order by source_name, measurement_no"""
    return fetch(store, limited(sql, limit), condition.parameters if filters else {})


def unjoined(store: Store) -> pa.Table:
    """Return values without a run, one row per file and subject, and the reason.

    A candidate without a run, or a file without a variant.
    """
    sql = """
        select
            sources.name as source_name, format, variant, agent, model, commit_full,
                v_measurements.task, run_path, count(*) as rows,
            coalesce(
                unjoined,
                'the file does not say what it measured: say it with '
                    || '--measure variant=baseline, reference or candidate'
            ) as unjoined
        from v_measurements
        left join v_measured_runs as found using (subject)
        join sources using (source_id)
        where (variant = 'candidate' and found.run_id is null) or variant is null
        group by all
        order by unjoined, source_name"""
    return fetch(store, sql)


def published(store: Store) -> pa.Table:
    """Return published judgements by repository, agent and model.

    Quadrants, and the shares that reached the reference.

    Labels for one task, agent and model count once, even if several files repeat them. They need no
    run.
    """
    sql = """
        with labels as (
            select
                repo, agent, model, coalesce(commit_full, task, instance) as about,
                max(label) filter (metric = 'hard') as hard,
                max(label) filter (metric = 'target') as target,
                max(label) filter (metric = 'quadrant') as quadrant
            from v_measurements
            where label is not null
            group by all
        ),
        judged as (
            select
                repo, agent, model, hard, hard in ('beats', 'similar') as is_reached,
                coalesce(labels.quadrant, v_quadrants.quadrant) as in_quadrant
            from labels
            left join v_quadrants using (hard, target)
        )
        select
            repo, agent, model, count(*) as tasks,
            count_if(in_quadrant = 'Q1') as runs_q1, count_if(in_quadrant = 'Q2') as runs_q2,
            count_if(in_quadrant = 'Q3') as runs_q3, count_if(in_quadrant = 'Q4') as runs_q4,
            count_if(in_quadrant = 'Q1') / nullif(count(in_quadrant), 0) as true_success_share,
            count_if(is_reached) / nullif(count(hard), 0) as reached_share
        from judged
        group by all
        order by repo, agent, model"""
    return fetch(store, sql)


def of_run(store: Store, run_id: str) -> pa.Table:
    """Return every measured value of a run with baseline and reference, comparable ones first.

    Equal values of several files are one row; `files` is their number.
    """
    return of_runs(store, [run_id])[run_id]


def of_runs(store: Store, run_ids: Sequence[str]) -> dict[str, pa.Table]:
    """Return `of_run` by run."""
    sql = f"""
        select * exclude (is_comparable, is_primary)
        from (
            select
                run_id, base, benchmark, metric, statistic, unit, better, scope, base_value,
                    candidate_value, ratio, ratio_low, ratio_high, verdict,
                    {_sure("verdict", "ratio_low", "noise_floor")} as is_beyond_noise,
                string_agg(distinct format, ', ' order by format) as format, max(n) as n,
                max(base_n) as base_n, max(measured_at) as measured_at,
                min(sources.name) as source_name, count(distinct source_id) as files,
                min(nullif(concat_ws(
                    '; ', failure_detail, nullif(array_to_string(reasons, '; '), ''),
                        nullif(array_to_string(warnings, '; '), '')
                ), '')) as why,
                is_comparable, bool_or(is_primary) as is_primary
            from v_speedups
            join sources using (source_id)
            where $chosen and (base_source_id is not null or (base = 'baseline' and status
                <> 'ok'))
            group by all
        )
        order by run_id, is_comparable desc, base, is_primary desc, benchmark, metric, statistic,
            source_name"""
    return fetch_by_run(store, sql, run_ids)


def count(store: Store, filters: Filters = NO_FILTERS) -> int:
    """Return the number of measured values, with filters of those of the chosen runs."""
    condition, sql = where(filters), "select count(*) from v_measurements"
    if filters:
        sql += (
            " join v_measured_runs as found using (subject) where found.run_id in (select "
            f"run_id from v_runs where {condition.sql})"
        )
    return int(fetch_value(store, sql, condition.parameters if filters else {}))


UNCOMPARED = ("no_baseline", "other_setup", "failed_unknown", "machine")
"""Classes of measurements that cannot be compared."""

_LARGEST_CLAIM = "claimed_speedup desc nulls last, run_id"
LISTS = {
    "moved": (
        "Faster or slower",
        "measured_class in ('faster', 'slower')",
        "measured_speedup desc, run_id",
    ),
    "pairs": ("Claimed and measured", PAIR, _LARGEST_CLAIM),
    "comparable": ("Comparable", "measured_speedup is not null", "measured_speedup desc, run_id"),
    "breaks": ("Breaks", "measured_class = 'breaks'", _LARGEST_CLAIM),
    "uncompared": (
        "Not comparable",
        f"measured_class in {UNCOMPARED}",
        "ratio_published is null, " + _LARGEST_CLAIM,
    ),
    "claims": (
        "Claims only",
        "claimed_speedup is not null and measured_speedup is null",
        _LARGEST_CLAIM,
    ),
}
"""Lists of runs: name, condition and order."""


@dataclass(frozen=True, slots=True)
class Range:
    """Median, least and greatest of `known` values of a group's runs; None if no value is known."""

    known: int = 0
    median: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Checks:
    """Results of an agent's `checked` claims against benchmarks of the same part, or another one.

    With `is_all`, the agent is None: results of all agents.

    `factor` is claimed ÷ measured; its median is that of the logarithms.
    """

    agent: str | None
    is_all: bool
    is_other_part: bool
    checked: int
    held: int
    more: int
    less: int
    wrong: int
    factor: Range


def checks(store: Store, filters: Filters) -> list[Checks]:
    """Return checked claims by part, for all agents and for each one, most claims first.

    Raises StoreError.
    """
    condition = where(filters)
    sql = f"""
        select agent, grouping(agent) = 1 as is_all, scope_differs as is_other_part, count(*) as
            checked,
               count(*) filter (claim_verdict = 'kept') as held, count(*) filter (claim_verdict =
                   'over_claimed') as more,
               count(*) filter (claim_verdict = 'under_claimed') as less, count(*) filter
                   (claim_verdict = 'wrong_sign') as wrong,
               exp(median(ln(factor))) as middle, min(factor) as low, max(factor) as high
        from (select *, claimed_speedup / measured_speedup as factor from {with_verdicts(store)}
            where {condition.sql} and {PAIR})
        group by grouping sets ((scope_differs), (agent, scope_differs))
        order by is_all desc, sum(count(*)) over (partition by is_all, agent) desc, agent,
            is_other_part"""
    found = fetch_rows(store, sql, condition.parameters)
    return [
        Checks(
            factor=Range(row["checked"], row.pop("middle"), row.pop("low"), row.pop("high")), **row
        )
        for row in found
    ]


def pairs(store: Store, filters: Filters, most: int) -> pa.Table:
    """Return at most `most` runs with claimed and measured speedup, the smallest claim first.

    They are every k-th by rank. `found` counts all.

    Raises StoreError.
    """
    condition = where(filters)
    sql = f"""
        select run_id, title, agent, claimed_speedup, measured_speedup, scope_differs, found
        from (
            select *, row_number() over (order by claimed_speedup, run_id) - 1 as rank, count(*)
                over () as found
            from {with_verdicts(store)} where {condition.sql} and {PAIR}
        )
        where rank % ceil(found / {int(most)})::bigint = 0 order by rank"""
    return fetch(store, sql, condition.parameters)


def counts(store: Store, filters: Filters) -> Mapping[str, int]:
    """Return the number of runs in each of LISTS. Raises StoreError."""
    condition = where(filters)
    listed = ", ".join(
        f"count(*) filter ({which}) as {key}" for key, (_, which, _) in LISTS.items()
    )
    [row] = fetch_rows(
        store,
        f"select {listed} from {with_verdicts(store)} where {condition.sql}",
        condition.parameters,
    )
    counted: dict[str, int] = row
    return counted


def runs(
    store: Store,
    filters: Filters,
    key: str,
    limit: int,
    measure: CostMeasure = BEST,
) -> Rows:
    """Return the runs of one of LISTS.

    `ratio_published` is for values without a comparable baseline. Raises StoreError.
    """
    condition, (_, which, order) = where(filters), LISTS[key]
    sql = f"""
        with judged as (select * from {with_verdicts(store)} where {condition.sql}),
        directions as (
            select source_id as measurement_source_id, measurement_no, better from v_measurements
        )
        select
            run_id, title, agent, model, task_key, claimed_speedup, claimed_quote, claimed_evidence,
                claimed_scope, measured_speedup,
            measured_vs_reference, measured_class, benchmark, metric, statistic, claim_verdict,
                measured_scope, scope_differs, failure,
            {AGREEMENT} as other_values, {WHY} as why,
            {_sure("verdict", "measured_low")} as is_beyond_noise,
            {measure.column} as cost_usd, {bound_of(measure)} as bound,
            case when measured_speedup is null then case better
                when 'lower' then measured_baseline / nullif(measured_candidate, 0)
                when 'higher' then measured_candidate / nullif(measured_baseline, 0)
            end end as ratio_published
        from judged left join directions using (measurement_source_id, measurement_no)
        where {which} order by {order} limit {int(limit)}"""
    return fetch_rows(store, sql, condition.parameters)


_CLIENTS = r"\bbench serve\b|\bbench_serving\b|\bbenchmark_serving\b"
"""Commands of benchmarks that ask a running server, of vLLM and SGLang."""


def to_measure_again(store: Store, filters: Filters) -> Rows:
    """Return the runs measured faster once: by what their benchmark needs, then the largest first.

    A command that runs alone comes first, then the client of a server (`needs_server`), then an
    unknown command. Raises StoreError.
    """
    condition = where(filters)
    sql = f"""
        select run_id, title, agent, measured_speedup, values_comparable, values_measured,
            benchmark, metric, {AGREEMENT} as other_values, command, machine,
            coalesce(regexp_matches(command, $client), false) as needs_server
        from (
            select * from {with_verdicts(store)}
            where {condition.sql} and measured_class = 'faster' and not ({IS_BEYOND_NOISE})
        )
        left join (
            select source_id as measurement_source_id, measurement_no, command, machine
            from v_measurements
        ) using (measurement_source_id, measurement_no)
        order by command is null, needs_server, measured_speedup desc, run_id"""
    return fetch_rows(store, sql, condition.parameters | {"client": _CLIENTS})


def with_sentences(store: Store, found: Rows) -> Rows:
    """Return the runs with the number of their top claim, `claim_no`, and its whole `sentence`.

    Raises StoreError.
    """
    chosen = (
        Filters()
        .with_values(RUN, [row["run_id"] for row in found])
        .with_values(MIN_CONFIDENCE, ["0"])
    )
    listed = (
        {(row["run_id"], row["quote"]): row for row in claims(store, chosen).to_pylist()}
        if found
        else {}
    )
    return [
        row
        | {
            name: listed.get((row["run_id"], row["claimed_quote"]), {}).get(name)
            for name in ("claim_no", "sentence")
        }
        for row in found
    ]
