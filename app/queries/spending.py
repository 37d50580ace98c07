"""What runs spent, and when: their cost and tokens at the times of their responses.

A run that has responses spends its cost and tokens along them, each in proportion to what it cost
or held. A response without a time, and a run without responses, count when the run ended, a run
that was dated by hand at that date, since its log's times are wrong. The parts of a run add up to
its own figures in `v_runs` exactly, so that sums over any periods that follow one another add up to
the total. Every sum of money over a period or by one comes from here.
"""

from __future__ import annotations

from collections.abc import Iterable
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

_TOKENS = " + ".join(f"coalesce({key}, 0)" for key in _WEIGHTS if key.endswith("tokens"))


def _share(key: str, until: str) -> str:
    """Return SQL of the share of a run's figure in its responses up to one.

    The responses are weighed by the figure, else by all tokens, else each is one. If only others
    are known, it is unknown. `until` is the SQL of what to take off the sum: that of the response
    itself, for the share before it.
    """
    kinds = [
        f"when all_{kind} > 0 then (to_{kind}{until.format(kind=kind)}) / all_{kind}"
        for kind in (key, "tokens", "one")
    ]
    return f"case when all_{key} > 0 and w_{key} is null then null {' '.join(kinds)} end"


def _shares() -> str:
    weights = {**_WEIGHTS, "tokens": _TOKENS, "one": "1"}
    weighed = ", ".join(f"{sql} as w_{kind}" for kind, sql in weights.items())
    sums = ", ".join(
        f"sum(w_{kind}) over of_run as all_{kind}, sum(w_{kind}) over so_far as to_{kind}"
        for kind in weights
    )
    shares = ", ".join(
        f"{_share(key, '')} as to_share_{key}, {_share(key, ' - w_{kind}')} as from_share_{key}"
        for key in _WEIGHTS
    )
    return f"""
        select run_id as spending_run, response_id, "at" as spent_at, last_at, {shares}
        from (
            select *, max("at") over of_run as last_at, {sums}
            from (select run_id, response_id, "at", {weighed} from responses)
            window of_run as (partition by run_id),
                so_far as (partition by run_id order by "at" nulls last, response_id
                    rows between unbounded preceding and current row)
        )"""


def _part(key: str, along: str = "") -> str:
    """Return SQL of a response's part of a run's figure, in proportion to `along` or itself.

    It is the difference of two rounded running sums, so that the parts add up.
    """
    type_ = "decimal(18, 9)" if key.endswith("usd") else "bigint"
    first, last = (f"cast({key} * {end}_share_{along or key} as {type_})" for end in ("from", "to"))
    return f"cast(if(spending_run is null, {key}, {last} - {first}) as {type_})"


_SHARES = _shares()
_PARTS = {key: _part(key) for key in _WEIGHTS}
_PARTS["cost_best_usd"] = (
    f"if(cost_own_usd is null, {_PARTS['cost_list_usd']}, {_PARTS['cost_own_usd']})"
)
_PARTS["cache_saved_usd"] = _part("cache_saved_usd", "cost_list_usd")
_PARTS["cost_delta_usd"] = f"{_PARTS['cost_list_usd']} - {_PARTS['cost_own_usd']}"


def spent(store: Store, filters: Filters, chosen: str = "") -> Where:
    """Return SQL of what the runs spent in the period of the filters, one row per response.

    A row is one of `v_runs`, with the response's part of the run's figures and the response's time
    as `dated_at`; `response_id` is NULL in the only row of a run without responses. `chosen`: name
    of a relation with the columns of `v_runs` and the runs that the filters choose at any time.
    """
    condition, period = where(without_period(filters), "s"), of_period(filters)
    parts = ", ".join(f"{sql} as {key}" for key, sql in _PARTS.items())
    shares = store.keep(_SHARES, {}) if isinstance(store, ReadTransaction) else f"({_SHARES})"
    spenders = chosen or f"(select * from v_runs where {condition.sql})"
    sql = f"""(
        select * from (
            select * replace (
                case when time_source = 'label' then dated_at
                    else coalesce(spent_at, dated_at, last_at) end as dated_at, {parts})
            from {spenders} as spenders left join {shares} as shares on spending_run = run_id
        )
        where {period.sql}
    )"""
    return Where(sql, period.parameters | ({} if chosen else condition.parameters))


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
