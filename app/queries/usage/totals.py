"""Usage per period, session, block, project, model, tool or agent, and in all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any

import pyarrow as pa

from app.queries.filters.chosen import NO_FILTERS, Filters, Where
from app.queries.grouping import UTC_ZONE, Group, bound, known_zone
from app.queries.read_transaction import read_transaction
from app.queries.runs import KNOWN_SUFFIX, fetch
from app.queries.usage.blocks import HOURS, Block, Burn, Hour, blocks, burn, gaps
from app.queries.usage.parts import every_part, has_period, parts, undated, unexplained
from ingest.store.database import Store
from schemas.catalogue.entry import Metric
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
from schemas.errors import UsageError
from schemas.text import did_you_mean

MONDAY, SUNDAY = "monday", "sunday"
WEEK_STARTS = (MONDAY, SUNDAY)


@dataclass(frozen=True)
class Request:
    """What to add up. `by`: keys of USAGE_DIMENSIONS; days are those of the zone, and the times of the filters are moments already."""

    filters: Filters = NO_FILTERS
    by: tuple[str, ...] = ("day",)
    zone: str = UTC_ZONE
    week_starts: str = MONDAY
    block_hours: int = HOURS

    @property
    def of_tools(self) -> bool:
        """Whether it is about calls of tools: TOOL_METRICS instead of USAGE_METRICS."""
        return TOOL in self.by


@dataclass(frozen=True)
class Usage:
    """The figures of a request per group, and the row of all of them.

    Of TOOL_METRICS, `total` knows only TOOL_TOTALS. `undated`: the `responses` and `runs` without a time.
    `left_out`: whether a period leaves these out. `unexplained`: sessions of which the part outside the transcript is unknown.
    `active`: the block that goes on, with its burn rate where that is known.
    """

    table: pa.Table
    total: pa.Table
    undated: Mapping[str, int]
    left_out: bool
    unexplained: int
    active: tuple[Block, Burn | None] | None = None


def usage(store: Store, request: Request, now: datetime | None = None) -> Usage:
    """What the request asks for. Raises UsageError for a dimension that does not exist, and StoreError."""
    groups = _groups(request)
    with read_transaction(store) as transaction:
        request = replace(request, filters=transaction.searched(request.filters))
        chosen = parts(request.filters)
        found = _blocks(transaction, request) if BLOCK in request.by else []
        rows, total = _summed(transaction, chosen, groups, request, found)
        missing, unknown = (counts(request.filters) for counts in (undated, unexplained))
        [lost] = fetch(transaction, missing.sql, missing.parameters).to_pylist()
        [sessions] = fetch(transaction, unknown.sql, unknown.parameters)["sessions"].to_pylist()
    made = Usage(rows, total, lost, has_period(request.filters), sessions)
    is_of_blocks = BLOCK in request.by and not request.of_tools
    return _with_blocks(made, request, found, now or datetime.now(UTC)) if is_of_blocks else made


def _groups(request: Request) -> list[Group]:
    known = USAGE_DIMENSIONS | ({WEEK: SUNDAY_WEEK} if request.week_starts == SUNDAY else {})
    for word in request.by:
        if word not in known:
            raise UsageError(f"unknown dimension {word!r}.", f"{did_you_mean(word, list(known))}Choose from: {', '.join(known)}.")
    values = {"zone": request.zone}
    return [bound(known[word], word, known[word].label, values, number) for number, word in enumerate(dict.fromkeys(request.by))]


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
        select distinct on (run_id) run_id, session, agent, project, used_at from parts where part in ('run', 'rest') order by run_id
    ) as runs
    join tool_calls using (run_id)
)
"""
"""Rows of calls: a response and a tool it called, or a run without responses and a tool."""

_IN_BLOCKS = """
starts as (select unnest($block_starts::timestamptz[]) as block_start, unnest($block_firsts::timestamptz[]) as first_at),
placed as (select {of}.*, block_start from {of} asof left join starts on used_at >= starts.first_at)
"""


_OF_BLOCKS = (
    "min(block_start) as block_start",
    f"max({RESETS}) filter ({RESETS} <= used_at + to_hours($block_hours)) as {RESETS}",
)
"""What groups of blocks have besides figures. A limit of a week resets later than any block."""


def _summed(store: Store, chosen: Where, by: Sequence[Group], request: Request, found: Sequence[Block]) -> tuple[pa.Table, pa.Table]:
    """The groups and the row of all: one pass over the parts. Groups are called g0, g1, … within the query."""
    metrics = TOOL_METRICS if request.of_tools else USAGE_METRICS
    names = [f"g{number}" for number in range(len(by))]
    tables, of = [chosen.sql], "parts"
    bound_values: dict[str, Any] = dict(chosen.parameters)
    if request.of_tools:
        tables, of = [*tables, _CALLS], "used"
    if BLOCK in request.by:
        tables, of = [*tables, _IN_BLOCKS.format(of=of)], "placed"
        bound_values |= {"block_starts": [block.start for block in found], "block_firsts": [block.first for block in found]}
        bound_values |= {} if request.of_tools else {"block_hours": request.block_hours}
    keyed = f"keyed as (select *, {', '.join(f'{group.sql} as {name}' for group, name in zip(by, names, strict=True))} from {of})"
    start = list(_OF_BLOCKS) if BLOCK in request.by and not request.of_tools else []
    sql = f"""
        with {", ".join([*tables, keyed])}
        select grouping(g0) = 1 as is_total, {", ".join([*names, *start, *_figures(metrics)])}
        from keyed group by grouping sets (({", ".join(names)}), ())
        order by is_total, {", ".join(_order(by, names, request))}"""
    bound_values |= {name: value for group in by for name, value in group.parameters.items()}
    table = fetch(store, sql, bound_values)
    words = dict(zip(names, (group.word for group in by), strict=True))
    table = table.rename_columns([words.get(name, name) for name in table.column_names])
    return _parted(table, list(words.values()), request)


def _figures(metrics: Mapping[str, Metric]) -> list[str]:
    sums = [f"{metric.sql} as {key}" for key, metric in metrics.items()]
    return sums + [f"{metric.known} as {key}{KNOWN_SUFFIX}" for key, metric in metrics.items() if metric.known]


def _order(by: Sequence[Group], names: Sequence[str], request: Request) -> list[str]:
    """Periods by time, all else by what it cost, then by name."""
    in_order = [f"{name} nulls last" for group, name in zip(by, names, strict=True) if group.in_order]
    costs = ["tool_calls desc"] if request.of_tools else ["cost_list_usd desc nulls last", "total_tokens desc nulls last"]
    return [*in_order, *costs, *(f"{name} nulls last" for name in names)]


def _parted(table: pa.Table, words: Sequence[str], request: Request) -> tuple[pa.Table, pa.Table]:
    """(groups, the row of all). Of calls, the row of all knows only the figures that add up."""
    is_total = table["is_total"].to_pylist()
    rows = table.drop_columns(["is_total"])
    total = rows.slice(is_total.index(True), 1).drop_columns([*words, *({"block_start", RESETS} & set(rows.column_names))])
    if request.of_tools:
        adds_up = {name: name in TOOL_TOTALS for name in total.column_names}
        total = pa.table({name: total[name] if adds else pa.nulls(1, total[name].type) for name, adds in adds_up.items()})
    return rows.slice(0, is_total.index(True)), total


def _blocks(store: Store, request: Request) -> list[Block]:
    """The blocks of everything that matches the filters at any time: a period chooses among them and does not move them."""
    chosen = every_part(request.filters)
    sql = f"""
        with {chosen.sql}
        select
            time_bucket(interval 1 hour, used_at) as start, min(used_at) as first, max(used_at) as last,
            min(used_at) filter (used_at > time_bucket(interval 1 hour, used_at)) as first_behind
        from every_part where used_at is not null and part <> 'outside' group by start order by start"""
    hours = fetch(store, sql, chosen.parameters).to_pylist()
    return blocks((Hour(**hour) for hour in hours), timedelta(hours=request.block_hours))


def _with_blocks(made: Usage, request: Request, found: Sequence[Block], now: datetime) -> Usage:
    """The table with the columns of BLOCK_ENTRIES; where the rows are blocks alone, also with the gaps between them."""
    by_start = {block.start: block for block in found}
    rows: list[dict[str, Any]] = []
    active: tuple[Block, Burn | None] | None = None
    for row in made.table.to_pylist():
        block = by_start.get(row["block_start"])
        is_alone = block is not None and request.by == (BLOCK,)
        rate = burn(block, row["total_tokens"], row["cost_list_usd"], now) if block and is_alone else None
        if block and is_alone and block.is_active(now):
            active = block, rate
        rows.append(row | _of_block(block, rate, now))
    if request.by == (BLOCK,):
        rows = _with_gaps(rows, found, request.zone)
    schema = made.table.schema
    for name, type_ in _BLOCK_TYPES.items():
        schema = schema.append(pa.field(name, type_)) if name not in schema.names else schema
    return replace(made, table=pa.Table.from_pylist(rows, schema), active=active)


_TIME, _USD = pa.timestamp("us", tz="UTC"), pa.decimal128(38, 9)
_BLOCK_TYPES = dict(zip(BLOCK_ENTRIES, (_TIME, _TIME, _TIME, pa.string(), pa.float64(), _USD, pa.float64(), pa.int64(), _USD), strict=True))


def _of_block(block: Block | None, rate: Burn | None, now: datetime) -> dict[str, Any]:
    """The values of BLOCK_ENTRIES; what remains and is projected is known of the active block only."""
    is_active = block is not None and block.is_active(now)
    ahead = rate if is_active else None
    return {
        "block_end": block and block.end,
        "block_state": block and ("active" if is_active else "complete"),
        "tokens_per_minute": rate and rate.tokens_per_minute,
        "usd_per_hour": rate and rate.usd_per_hour,
        "minutes_left": ahead and ahead.minutes_left,
        "projected_tokens": ahead and ahead.projected_tokens,
        "projected_usd": ahead and ahead.projected_usd,
    }


def _with_gaps(rows: Sequence[dict[str, Any]], found: Sequence[Block], zone: str) -> list[dict[str, Any]]:
    """The blocks with the gaps between those that are shown, in order; what has no time stays last."""
    dated = [row for row in rows if row["block_start"]]
    shown = [row["block_start"] for row in dated]
    between = [(start, end) for start, end in gaps(found) if shown and shown[0] < start and end < dated[-1]["block_end"]]
    there = known_zone(zone)
    for start, end in between:
        name = start.astimezone(there).strftime("%Y-%m-%d %H:%M")
        dated.append(
            {BLOCK: name, "block_start": start, "block_end": end, "block_state": "gap", "responses": 0, WHOLE_RUNS: 0, "sessions": 0}
        )
    return sorted(dated, key=itemgetter("block_start")) + [row for row in rows if not row["block_start"]]
