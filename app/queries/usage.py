"""Usage along time: per period, session, block of hours, project, model, tool or agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from operator import itemgetter
from typing import Any

import pyarrow as pa

from app.queries.filters import NO_FILTERS, Filters, Where, has_period, without_period
from app.queries.grouping import UTC_ZONE, Grouping, bound, known_zone
from app.queries.reading import ALL_DATED, Undated, fetch, fetch_rows, read_transaction, undated
from app.queries.runs import KNOWN_SUFFIX, bound_of
from app.queries.spending import spent, spent_in
from ingest.store.database import Store
from schemas.catalogue.cost_measures import LIST
from schemas.catalogue.usage import (
    BLOCK,
    BLOCK_ENTRIES,
    RESETS,
    SUNDAY_WEEK,
    TOOL,
    TOOL_METRICS,
    TOOL_TOTALS,
    USAGE_DIMENSIONS,
    USAGE_METRICS,
    WEEK,
    WHOLE_RUNS,
)
from schemas.errors import unknown_word

_MAIN = "if(is_sidechain, 'side chain', 'main')"
SUBAGENT = f"coalesce(if(agent_id is null, null, agent_type), agent_id, {_MAIN})"
"""SQL of who asked for a response: a type of sub-agents, one of unknown type, a side question, or
the main conversation.
"""

_ALIKE = "partition by agent_type, agent_description"
LANE = f"""case
    when agent_id is null then {_MAIN}
    when agent_type is null then agent_id
    else concat_ws(': ', agent_type, agent_description)
        || if(min(agent_id) over ({_ALIKE}) = max(agent_id) over ({_ALIKE}), '',
            ' ' || left(agent_id, 8))
end"""
"""SQL of the same within a session: each sub-agent by type and task. The beginning of its id
distinguishes equal names.
"""

_OF_RESPONSE = (
    "run_id, response_id, model, model_id, agent_id, agent_type, is_sidechain, tools, "
    "failed_tools, limit_resets_at, output_is_final, tokens_basis"
)
_TOKENS = ("input_tokens", "cache_write_tokens", "cache_read_tokens", "output_tokens")
_OF_MODELS = {key: f"model_usage.own_{key}" for key in _TOKENS} | {
    "cost_list_usd": "model_usage.cost_list_usd",
    "cost_own_usd": "model_usage.cost_own_usd",
    "cost_best_usd": "if(whole.cost_own_usd is null, model_usage.cost_list_usd, "
    "model_usage.cost_own_usd)",
}
"""Figure of a run → SQL of the part of one of its models."""


def _each(sql: str, joint: str = ", ") -> str:
    return joint.join(sql.format(key=key, of_model=_OF_MODELS[key]) for key in _OF_MODELS)


_PARTS = f"""
spendings as materialized (
    select
        run_id, response_id, coalesce(session_id, run_id) as session, agent, effort,
        repo as project,
        dated_at as used_at, {bound_of(LIST)} as cost_list_bounds, cost_best_bounds,
        {", ".join(_OF_MODELS)}
    from {{spent}}
),
of_responses as (
    select
        'response' as part, spendings.*, model, model_id, {SUBAGENT} as subagent, tools,
        failed_tools, limit_resets_at,
        cost_list_bounds = 'lower_bound'
            and (not output_is_final or tokens_basis = 'lower_bound') as is_bound
    from spendings
    join (select {_OF_RESPONSE} from responses) as responses using (run_id, response_id)
),
whole as (
    select *, cost_list_bounds = 'lower_bound' as is_bound from spendings where response_id is null
),
of_models as (
    select
        'run' as part, whole.* exclude ({", ".join(_OF_MODELS)}), model_usage.model,
        model_usage.model_id,
        {_each("if(whole.{key} is null, null, {of_model}) as {key}")}
    from whole join model_usage using (run_id)
),
rests as (
    -- what is left of a run beyond its models: all of it, if it names none
    select
        if(named.run_id is null, 'run', 'rest') as part, whole.* exclude ({", ".join(_OF_MODELS)}),
        {_each("whole.{key} - coalesce(named.{key}, 0) as {key}")}
    from whole
    left join (
        select run_id, {_each("sum({key}) as {key}")} from of_models group by run_id
    ) as named using (run_id)
),
parts as (
    select *, case when coalesce({", ".join(_TOKENS)}) is not null
        then {" + ".join(f"coalesce({key}, 0)" for key in _TOKENS)} end as total_tokens
    from (
        select * from of_responses
        union all by name select * from of_models
        union all by name select * from rests where part = 'run' or {_each("{key} <> 0", " or ")}
    )
)
"""


def parts(store: Store, filters: Filters, *, by_time: bool = True) -> Where:
    """Return SQL of common tables that end with `parts`, and their values.

    A row is a part of what the runs of the filters spent in their period
    (`schemas.catalogue.usage`). Without `by_time` runs are divided only if a period cuts them.
    """
    of = spent(store, filters) if by_time else spent_in(store, filters)
    return Where(_PARTS.format(spent=of.sql).strip(), of.parameters)


HOURS = 5
"""Usual length of a block, that of the usage windows of Claude's subscriptions."""

_NANODOLLAR = Decimal("1e-9")


@dataclass(frozen=True, slots=True)
class Hour:
    """The responses of one hour (UTC).

    Its start, the first response, the first one after its start (None: none), and the last.
    """

    start: datetime
    first: datetime
    first_behind: datetime | None
    last: datetime


@dataclass(frozen=True, slots=True)
class UsageBlock:
    """One block: its start and end, with the times of its first and last response."""

    start: datetime
    end: datetime
    first: datetime
    last: datetime

    def is_active(self, now: datetime) -> bool:
        """Return whether it is active.

        It has not ended, and its last response is no older than the length of a block.
        """
        return self.start <= now < self.end and now - self.last < self.end - self.start


@dataclass(frozen=True, slots=True)
class Burn:
    """Usage of a block per minute and hour, and its projection to the end of the block.

    The rates are between its first and last response.
    """

    tokens_per_minute: float
    usd_per_hour: Decimal | None
    minutes_left: float
    projected_tokens: int
    projected_usd: Decimal | None


def blocks(hours: Iterable[Hour], length: timedelta) -> list[UsageBlock]:
    """Return the blocks of the hours, which are in order; `length` is a whole number of hours.

    It loops over hours, since there are few: a response at the last moment of a block still belongs
    to it.
    """
    found: list[UsageBlock] = []
    for hour in hours:
        if not found or hour.first > found[-1].end:
            found.append(UsageBlock(hour.start, hour.start + length, hour.first, hour.last))
        elif hour.start == found[-1].end and hour.first_behind:
            found[-1] = replace(found[-1], last=hour.first)
            found.append(UsageBlock(hour.start, hour.start + length, hour.first_behind, hour.last))
        else:
            found[-1] = replace(found[-1], last=hour.last)
    return found


def gaps(found: Sequence[UsageBlock]) -> list[tuple[datetime, datetime]]:
    """Return (start, end) of each gap without responses between blocks, if longer than a block."""
    pairs = pairwise(found)
    return [
        (one.last + (one.end - one.start), two.first)
        for one, two in pairs
        if two.first - one.last > one.end - one.start
    ]


def burn(block: UsageBlock, tokens: int | None, usd: Decimal | None, now: datetime) -> Burn | None:
    """Return the burn rate and projection of a block with these tokens and this list-price cost.

    None for a single moment or no tokens.
    """
    minutes = _minutes(block.last - block.first)
    if minutes <= 0 or tokens is None:
        return None
    left = max(Decimal(0), _minutes(block.end - now))
    per_hour = None if usd is None else (usd / minutes * 60).quantize(_NANODOLLAR)
    projected = None if usd is None else (usd + usd / minutes * left).quantize(_NANODOLLAR)
    return Burn(
        float(tokens / minutes),
        per_hour,
        float(left),
        round(tokens + tokens / minutes * left),
        projected,
    )


def _minutes(time: timedelta) -> Decimal:
    return Decimal(time // timedelta(microseconds=1)) / 60_000_000


MONDAY, SUNDAY = "monday", "sunday"
WEEK_STARTS = (MONDAY, SUNDAY)


@dataclass(frozen=True)
class UsageRequest:
    """A request for usage.

    `by`: keys of USAGE_DIMENSIONS; days are in the zone, and the times of the filters are already
    moments.
    """

    filters: Filters = NO_FILTERS
    by: tuple[str, ...] = ("day",)
    zone: str = UTC_ZONE
    week_starts: str = MONDAY
    block_hours: int = HOURS

    @property
    def of_tools(self) -> bool:
        """Whether it asks for tool calls, with TOOL_METRICS instead of USAGE_METRICS."""
        return TOOL in self.by


@dataclass(frozen=True)
class UsageTable:
    """The figures of a request per group, and their total row.

    Of TOOL_METRICS, `total` knows only TOOL_TOTALS. `undated`: the `responses` and `runs` without a
    time. `undated_runs`: the whole runs without a date. `left_out`: whether a period leaves these
    out. `active`: the active block, with its burn rate if known.
    """

    table: pa.Table
    total: pa.Table
    undated: Mapping[str, int]
    undated_runs: Undated
    left_out: bool
    active: tuple[UsageBlock, Burn | None] | None = None


_CALLS = """
calls as (
    select * from parts, (select unnest(list_distinct(parts.tools)) as tool)
),
used as (
    select
        calls.*, len(list_filter(tools, lambda name: name = tool)) as calls,
        len(list_filter(failed_tools, lambda name: name = tool)) as failed
    from calls
    union all by name
    select runs.*, tool, tool_calls.calls, tool_calls.errors as failed
    from (
        select distinct on (run_id) run_id, session, agent, project, used_at from parts where part
            in ('run', 'rest') order by run_id
    ) as runs
    join tool_calls using (run_id)
)
"""
"""SQL of rows of calls: a response and a tool it called, or a run without responses and a tool."""

_IN_BLOCKS = """
starts as (select unnest($block_starts::timestamptz[]) as block_start,
    unnest($block_firsts::timestamptz[]) as first_at),
placed as (select {of}.*, block_start from {of} asof left join starts on used_at >= starts.first_at)
"""


def usage(store: Store, request: UsageRequest, now: datetime | None = None) -> UsageTable:
    """Return the usage that the request asks for.

    Raises UsageError for an unknown dimension, and StoreError.
    """
    known = USAGE_DIMENSIONS | ({WEEK: SUNDAY_WEEK} if request.week_starts == SUNDAY else {})
    for word in request.by:
        if word not in known:
            raise unknown_word("dimension", word, known)
    words, values = dict.fromkeys(request.by), {"zone": request.zone}
    groups = [
        bound(known[word], word, known[word].label, values, number)
        for number, word in enumerate(words)
    ]
    with read_transaction(store) as transaction:
        request = replace(request, filters=transaction.searched(request.filters))
        found = _blocks(transaction, request) if BLOCK in request.by else []
        rows, total = _summed(transaction, groups, request, found)
        whole = rows
        if request.by == (BLOCK,) and has_period(request.filters):
            at_any_time = replace(request, filters=without_period(request.filters))
            whole, _ = _summed(transaction, groups, at_any_time, found)
        chosen = parts(transaction, without_period(request.filters))
        of_no_time = f"""
            with {chosen.sql}
            select count(*) filter (part = 'response') as responses, count(distinct run_id) filter
                (part = 'run') as runs
            from parts where used_at is null"""
        [lost] = fetch_rows(transaction, of_no_time, chosen.parameters)
        undated_runs = (
            undated(transaction, without_period(request.filters))
            if any(lost.values())
            else ALL_DATED
        )
    made = UsageTable(rows, total, lost, undated_runs, has_period(request.filters))
    is_of_blocks = BLOCK in request.by and not request.of_tools
    if not is_of_blocks:
        return made
    return _with_blocks(made, request, found, whole, now or datetime.now(UTC))


def _summed(
    store: Store, by: Sequence[Grouping], request: UsageRequest, found: Sequence[UsageBlock]
) -> tuple[pa.Table, pa.Table]:
    """Return (groups, total row) in one pass over the parts.

    Groups are called g0, g1, … within the query.
    """
    metrics = TOOL_METRICS if request.of_tools else USAGE_METRICS
    names = [f"g{number}" for number in range(len(by))]
    chosen = parts(store, request.filters)
    tables, of = [chosen.sql], "parts"
    values: dict[str, Any] = chosen.parameters | {
        name: value for group in by for name, value in group.parameters.items()
    }
    figures = [f"{metric.sql} as {key}" for key, metric in metrics.items()]
    figures += [
        f"{metric.known} as {key}{KNOWN_SUFFIX}" for key, metric in metrics.items() if metric.known
    ]
    if request.of_tools:
        tables, of = [*tables, _CALLS], "used"
    if BLOCK in request.by:
        tables, of = [*tables, _IN_BLOCKS.format(of=of)], "placed"
        values |= {
            "block_starts": [block.start for block in found],
            "block_firsts": [block.first for block in found],
        }
        if not request.of_tools:
            values["block_hours"] = request.block_hours
            # a limit of a week resets later than any block
            resets = (
                f"max({RESETS}) filter ({RESETS} <= used_at + to_hours($block_hours)) as {RESETS}"
            )
            figures = ["min(block_start) as block_start", resets, *figures]
    # periods by time, all else by what it cost, then by name
    order = [f"{name} nulls last" for group, name in zip(by, names, strict=True) if group.in_order]
    order += (
        ["tool_calls desc"]
        if request.of_tools
        else ["cost_best_usd desc nulls last", "total_tokens desc nulls last"]
    )
    order += [f"{name} nulls last" for name in names]
    keys = ", ".join(f"{group.sql} as {name}" for group, name in zip(by, names, strict=True))
    sql = f"""
        with {", ".join([*tables, f"keyed as (select *, {keys} from {of})"])}
        select grouping(g0) = 1 as is_total, {", ".join([*names, *figures])}
        from keyed group by grouping sets (({", ".join(names)}), ())
        order by is_total, {", ".join(order)}"""
    table = fetch(store, sql, values)
    words = dict(zip(names, (group.word for group in by), strict=True))
    rows = table.rename_columns(
        [words.get(name, name) for name in table.column_names]
    ).drop_columns(["is_total"])
    place = table["is_total"].to_pylist().index(True)
    total = rows.slice(place, 1).drop_columns(
        [*words.values(), *({"block_start", RESETS} & set(rows.column_names))]
    )
    if request.of_tools:  # of calls, the row of all knows only the figures that add up
        columns = {
            name: total[name] if name in TOOL_TOTALS else pa.nulls(1, total[name].type)
            for name in total.column_names
        }
        total = pa.table(columns)
    return rows.slice(0, place), total


def _blocks(store: Store, request: UsageRequest) -> list[UsageBlock]:
    """Return the blocks of everything that matches the filters at any time.

    A period chooses blocks but does not move them.
    """
    chosen = parts(store, without_period(request.filters))
    sql = f"""
        with {chosen.sql}
        select
            time_bucket(interval 1 hour, used_at) as start, min(used_at) as first, max(used_at) as
                last,
            min(used_at) filter (used_at > time_bucket(interval 1 hour, used_at)) as first_behind
        from parts where used_at is not null group by start order by start"""
    hours = fetch_rows(store, sql, chosen.parameters)
    return blocks((Hour(**hour) for hour in hours), timedelta(hours=request.block_hours))


def _with_blocks(
    made: UsageTable,
    request: UsageRequest,
    found: Sequence[UsageBlock],
    whole: pa.Table,
    now: datetime,
) -> UsageTable:
    """Return the table with the columns of BLOCK_ENTRIES.

    If rows are blocks alone, also with the gaps between them. `whole`: the figures of the blocks
    at any time, because a period does not shorten the block of a rate.
    """
    figures = {row["block_start"]: row for row in whole.to_pylist()}
    by_start, is_alone = {block.start: block for block in found}, request.by == (BLOCK,)
    rows: list[dict[str, Any]] = []
    active: tuple[UsageBlock, Burn | None] | None = None
    for row in made.table.to_pylist():
        block, of = by_start.get(row["block_start"]), figures[row["block_start"]]
        rate = (
            burn(block, of["total_tokens"], of["cost_list_usd"], now)
            if block and is_alone
            else None
        )
        is_active = block is not None and block.is_active(now)
        if block and is_active and is_alone:
            active = block, rate
        ahead = rate if is_active else None
        rows.append(
            row
            | {
                "block_end": block and block.end,
                "block_state": block and ("active" if is_active else "complete"),
                "tokens_per_minute": rate and rate.tokens_per_minute,
                "usd_per_hour": rate and rate.usd_per_hour,
                "minutes_left": ahead and ahead.minutes_left,
                "projected_tokens": ahead and ahead.projected_tokens,
                "projected_usd": ahead and ahead.projected_usd,
            }
        )
    dated = [row for row in rows if row["block_start"]]
    if is_alone and dated:
        first, last, there = (
            dated[0]["block_start"],
            dated[-1]["block_end"],
            known_zone(request.zone),
        )
        for start, end in gaps(found):
            if first < start and end < last:
                gap = {
                    BLOCK: start.astimezone(there).strftime("%Y-%m-%d %H:%M"),
                    "block_start": start,
                    "block_end": end,
                }
                dated.append(
                    gap | {"block_state": "gap", "responses": 0, WHOLE_RUNS: 0, "sessions": 0}
                )
        # what has no time stays last
        rows = sorted(dated, key=itemgetter("block_start")) + [
            row for row in rows if not row["block_start"]
        ]
    time, usd = pa.timestamp("us", tz="UTC"), pa.decimal128(38, 9)
    types = (time, time, time, pa.string(), pa.float64(), usd, pa.float64(), pa.int64(), usd)
    schema = made.table.schema
    for name, type_ in zip(BLOCK_ENTRIES, types, strict=True):
        schema = schema.append(pa.field(name, type_)) if name not in schema.names else schema
    return replace(made, table=pa.Table.from_pylist(rows, schema), active=active)


PERIODS = ("day", "hour", "week", "month")
"""Dimensions of usage for charts along time, in UTC."""


@dataclass(frozen=True)
class Along:
    """`table`: USAGE_METRICS per `period` (its name) and `model`, in order; `earlier`.

    Number of periods with usage before the table.
    """

    by: str
    table: pa.Table
    earlier: int


def along(store: Store, filters: Filters = NO_FILTERS, by: str = "day", most: int = 120) -> Along:
    """Return the usage of the last `most` periods that have any. Usage without a time is left out.

    Raises StoreError.
    """
    rows = usage(store, UsageRequest(filters, (by, "model"))).table
    rows = rows.filter(
        pa.array([name is not None for name in rows[by].to_pylist()], pa.bool_())
    ).sort_by([(by, "ascending")])
    names = list(dict.fromkeys(rows[by].to_pylist()))
    last = {*names[-most:]}
    shown = rows.filter(pa.array([name in last for name in rows[by].to_pylist()], pa.bool_()))
    return Along(
        by,
        shown.rename_columns(["period" if name == by else name for name in shown.column_names]),
        max(0, len(names) - most),
    )
