"""What runs spent, and when: their cost and tokens at the times of their responses.

The cost of a run's machine is split by the output tokens of its responses.

A run that has responses spends its cost and tokens along them, each in proportion to what it cost
or held. A response without a time, and a run without responses, count when the run ended, a run
that was dated by hand at that date, since its log's times are wrong. The parts of a run add up to
its own figures in `v_runs` exactly, so that sums over any periods that follow one another add up to
the total. Every sum of money over a period or by one comes from here.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from app.queries.filters import Filters, Where, has_period, of_period, where, without_period
from app.queries.grouping import Grouping
from app.queries.reading import ReadTransaction, fetch_value
from ingest.store.database import Store


class Spend(NamedTuple):
    """Money spent in a period; the started `runs` that ended in it, `known` of them with a cost.

    `credits`: (unit, number) of what the others report instead of dollars.
    """

    usd: Decimal | None = None
    bounds: str = ""
    runs: int = 0
    known: int = 0
    credits: tuple[tuple[str, float], ...] = ()


def together(spends: Iterable[Spend]) -> Spend:
    """Return the sum of several, with all kinds of bounds in it."""
    several = list(spends)
    known = [one.usd for one in several if one.usd is not None]
    bounds = {kind for one in several for kind in one.bounds.split(", ")} - {""}
    paid = dict[str, float]()
    for unit, number in (each for one in several for each in one.credits):
        paid[unit] = paid.get(unit, 0) + number
    return Spend(
        sum(known, Decimal(0)) if known else None,
        ", ".join(sorted(bounds)),
        sum(one.runs for one in several),
        sum(one.known for one in several),
        tuple(sorted(paid.items())),
    )


_WEIGHTS = {
    "cost_own_usd": "coalesce(cost_reported_usd, cost_list_usd)",
    "cost_list_usd": "cost_list_usd",
    **{
        key: key
        for key in ("input_tokens", "cache_write_tokens", "cache_read_tokens", "output_tokens")
    },
}
"""Figure of a run → SQL of the weight of a response in it; NULL if unknown."""

_OTHERS = {
    "tokens": " + ".join(f"coalesce({key}, 0)" for key in _WEIGHTS if key.endswith("tokens")),
    "one": "1",
}
"""SQL of the weights in a figure that no response of a run has."""

_SLOT_SECONDS = 15 * 60
"""A day, week or month of any time zone begins where a quarter of an hour does."""


def _each(sql: str, joint: str = ", ") -> str:
    types = {key: "decimal(18, 9)" if key.endswith("usd") else "bigint" for key in _WEIGHTS}
    return joint.join(sql.format(key=key, type=type_) for key, type_ in types.items())


def _parts(slots: str) -> str:
    """Return SQL of the parts of runs in their responses, or in those of each slot together.

    If the responses add up to the figures of the run, as nearly always, each has its own. Else they
    are weighed by the figure, by all tokens if none has it, or equally; if only others have it, the
    part is unknown. Such a part is the difference of two rounded running sums, so that all add up.
    Those of slots are the same sums, because the responses of a slot follow one another.
    """
    weights = {**_WEIGHTS, **_OTHERS}
    to_sum, grouped = ("sum({})", f"group by run_id, {slots}") if slots else ("{}", "")
    shown = "run_id as spending_run, response_id, spent_at, last_at"
    weighed = [
        f"case when all_{{key}} > 0 then {of}_{{key}} when all_tokens > 0 then {of}_tokens "
        f"else {of}_one end as {of}_{{key}}"
        for of in ("w", "all")
    ]
    part = " - ".join(
        f"cast({{key}} * ({so_far} / all_{{key}}) as {{type}})"
        for so_far in ("to_{key}", "(to_{key} - w_{key})")
    )
    return f"""
        with rows as (
            select run_id, {"''" if slots else "response_id"} as response_id,
                {to_sum.replace("sum", "max").format('"at"')} as spent_at,
                {", ".join(f"{to_sum.format(sql)} as w_{key}" for key, sql in weights.items())}
            from responses {grouped}
        ),
        sums as (
            select *, {_each("({key} is null or {key} = all_{key})", " and ")} as are_parts
            from (
                select run_id, max(spent_at) as last_at,
                    {", ".join(f"sum(w_{key}) as all_{key}" for key in weights)}
                from rows group by run_id
            ) join (select run_id, {", ".join(_WEIGHTS)} from runs) using (run_id)
        )
        select {shown}, {_each("cast(w_{key} as {type}) as part_{key}")}
        from rows join sums using (run_id) where are_parts
        union all
        select {shown}, {_each(f"{part} as part_{{key}}")}
        from (
            select *, {_each("sum(w_{key}) over so_far as to_{key}")}
            from (
                select * replace ({", ".join(map(_each, weighed))})
                from rows join sums using (run_id) where not are_parts
            )
            window so_far as (partition by run_id order by spent_at nulls last, response_id
                rows between unbounded preceding and current row)
        )"""


_SPENT = {key: f"if(spending_run is null or {key} is null, {key}, part_{key})" for key in _WEIGHTS}
_SPENT["cost_best_usd"] = (
    f"if(cost_own_usd is null, {_SPENT['cost_list_usd']}, {_SPENT['cost_own_usd']})"
)
_SPENT["cost_delta_usd"] = f"{_SPENT['cost_list_usd']} - {_SPENT['cost_own_usd']}"
_SO_FAR, _OF_RUN = "sum(part_output_tokens) over so_far", "sum(part_output_tokens) over of_run"
_HELD = " - ".join(
    f"cast(cost_machine_usd * (({until}) / {_OF_RUN}) as decimal(18, 9))"
    for until in (_SO_FAR, f"{_SO_FAR} - coalesce(part_output_tokens, 0)")
)
_SPENT["cost_machine_usd"] = (
    f"case when spending_run is null or cost_machine_usd is null then cost_machine_usd when "
    f"{_OF_RUN} > 0 then coalesce({_HELD}, 0) when row_number() over so_far = count(*) over of_run "
    "then cost_machine_usd else 0 end"
)
"""By output tokens; without any it is spent with the last response."""
_WINDOWS = """window of_run as (partition by spending_run), so_far as (partition by spending_run
    order by spent_at nulls last, parts.response_id
    rows between unbounded preceding and current row)"""
_SPENT["cost_all_usd"] = (
    f"if(cost_all_usd is null, null, coalesce({_SPENT['cost_best_usd']}, 0) + "
    f"{_SPENT['cost_machine_usd']})"
)


def spent(
    store: Store,
    filters: Filters,
    chosen: str = "",
    moments: Iterable[datetime] | None = None,
    *,
    all_in: bool = True,
) -> Where:
    """Return SQL of what the runs spent in the period of the filters, one row per response.

    A row is one of `v_runs`, with the response's part of the run's figures and the response's time
    as `dated_at`; `response_id` is NULL in the only row of a run without responses. `chosen`: name
    of a relation with the columns of `v_runs` and the runs that the filters choose at any time.

    With `moments`, the responses between two of them have one row, at most those of a quarter of an
    hour: its time is that of the last one, its `response_id` is empty. Without `all_in` the cost of
    machines is not divided, which saves a third of the time to plan.
    """
    condition, period = where(without_period(filters), "s"), of_period(filters)
    slots, cuts = "", dict[str, datetime]()
    if moments is not None:
        bounds = {*moments}
        for value in period.parameters.values():
            bounds |= {*value} if isinstance(value, tuple) else {value}
        within = sorted(one for one in bounds if one and one.timestamp() % _SLOT_SECONDS)
        cuts = {f"cut{number}": one for number, one in enumerate(within)}
        later = (f'"at" >= ${name}' for name in cuts)
        slots = ", ".join([f'epoch_us("at") // {_SLOT_SECONDS}000000', *later])
    left_out = () if all_in else ("cost_machine_usd", "cost_all_usd")
    figures = ", ".join(f"{sql} as {key}" for key, sql in _SPENT.items() if key not in left_out)
    parts = _parts(slots)
    if isinstance(store, ReadTransaction):
        parts, cuts = store.keep(parts, cuts), {}
    else:
        parts = f"({parts})"
    spenders = chosen or f"(select * from v_runs where {condition.sql})"
    sql = f"""(
        select * from (
            select * replace (
                case when time_source = 'label' then dated_at
                    else coalesce(spent_at, dated_at, last_at) end as dated_at, {figures})
            from {spenders} as spenders left join {parts} as parts on spending_run = run_id
            {_WINDOWS if all_in else ""}
        )
        where {period.sql}
    )"""
    return Where(sql, period.parameters | cuts | ({} if chosen else condition.parameters))


def is_split(store: Store, filters: Filters, by: Iterable[Grouping] = ()) -> bool:
    """Return whether the figures need `spent`: they are cut by time, and there are responses."""
    return (has_period(filters) or any(group.in_order for group in by)) and bool(
        fetch_value(store, "select exists (from responses)")
    )


def spent_in(store: Store, filters: Filters) -> Where:
    """Return `spent`, or a row for each whole run where that is the same and costs less."""
    if is_split(store, filters):
        return spent(store, filters)
    condition = where(filters)
    sql = f"(select *, null::varchar as response_id from v_runs where {condition.sql})"
    return Where(sql, condition.parameters)
