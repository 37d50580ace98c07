"""Sums over a run's models, and its reported cost.

Which $0 means unknown, and which of two totals counts.

- $0 for tokens is unknown: agents write it for a model without a price, behind a gateway, or under
  a subscription. It is a cost only if
nothing was used, or if the model's name marks it as free.
- If the models cost more than the record's total (which misses background agents that were killed),
  the models' sum counts. If the total
is higher, it counts, and the difference belongs to no model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from operator import attrgetter
from typing import Any

from ingest.agents.base import Rows
from ingest.agents.shared.tokens import in_range, known_sum
from ingest.prices.model_ids import ModelId, is_free
from schemas.rows.row import LARGEST_INT, LARGEST_USD
from schemas.rows.run import TOKEN_CLASSES, ModelUsageRow, Outcome, RunRow

COST_TOLERANCE = Decimal("0.000001")
"""Costs that differ by less are equal: agents add in binary floats."""

_MODEL_ROW = ModelUsageRow()
_tokens = attrgetter(*TOKEN_CLASSES)
_main_loop_tokens = attrgetter(*(f"usage_{name}" for name in TOKEN_CLASSES))


def model_row(
    run_id: str, parsed: ModelId | None, logged: Any, others: Mapping[str, Any]
) -> ModelUsageRow:
    """Return the row of a model from its logged counts and cost. `others`: its other columns."""
    given, answered, read, written = _tokens(logged)
    return _MODEL_ROW.completed(
        {
            "run_id": run_id,
            "model": parsed.model if parsed else None,
            "provider": parsed.provider if parsed else None,
            "region": parsed.region if parsed else None,
            "input_tokens": given,
            "output_tokens": answered,
            "cache_read_tokens": read,
            "cache_write_tokens": written,
            "own_input_tokens": given,
            "own_output_tokens": answered,
            "own_cache_read_tokens": read,
            "own_cache_write_tokens": written,
            "cost_reported_usd": logged.cost_usd,
            "cost_own_usd": logged.cost_usd,
            **others,
        }
    )


def model_columns(usage: Sequence[ModelUsageRow]) -> dict[str, Any]:
    """Return the columns of `runs` derived from its models: the cost of each, tokens by class.

    Its main model follows from its prices.

    One model may be logged under several ids. Sums are over the known values, None if none is
    known. Raises InvalidRecord for sums out of range.
    """
    if len(usage) == 1 and usage[0].model:  # as in most records
        costs: dict[str, Decimal | None] = {usage[0].model: usage[0].cost_own_usd}
        totals: Iterable[int | None] = _tokens(usage[0])
    else:
        costs = {}
        for row in usage:
            if row.model:
                earlier, cost = costs.get(row.model), row.cost_own_usd
                costs[row.model] = (
                    earlier if cost is None else in_range(cost + (earlier or 0), LARGEST_USD, "USD")
                )
        costs = dict(sorted(costs.items()))
        sums = (
            map(known_sum, zip(*map(_tokens, usage), strict=True))
            if usage
            else [None] * len(TOKEN_CLASSES)
        )
        totals = [
            None if total is None else in_range(total, LARGEST_INT, "tokens") for total in sums
        ]
    return {
        "models": tuple(costs),
        "model_costs_usd": tuple(costs.values()),
        **dict(zip(TOKEN_CLASSES, totals, strict=True)),
    }


def settled(rows: Rows) -> Rows:
    """Return the rows of a run with the effective costs.

    Findings are about the costs as logged, so they come first.
    """
    run, usage = rows.run, rows.model_usage
    changes: dict[str, Any] = {}
    if any(map(is_unpaid, usage)):
        usage = tuple(
            row.completed({"cost_reported_usd": None, "cost_own_usd": None})
            if is_unpaid(row)
            else row
            for row in usage
        )
        costs = {
            name: known_sum(row.cost_own_usd for row in usage if row.model == name)
            for name in run.models
        }
        changes["model_costs_usd"] = tuple(costs[name] for name in run.models)
    total = None if is_unknown(run, usage) else run.cost_reported_usd
    cost = counted(total, [row.cost_own_usd for row in usage])
    if cost != total or total != run.cost_reported_usd:
        beyond = Decimal() if cost is None or total is None else cost - total
        changes |= {
            "cost_reported_usd": total,
            "cost_own_usd": cost,
            "cost_beyond_total_usd": beyond if beyond > COST_TOLERANCE else None,
        }
    return rows._replace(run=run.completed(changes), model_usage=usage) if changes else rows


def is_unpaid(row: ModelUsageRow) -> bool:
    """Return whether a model's reported cost is $0 although it may have cost something."""
    return row.cost_reported_usd == 0 and _may_cost(row)


def is_unknown(run: RunRow, usage: Sequence[ModelUsageRow]) -> bool:
    """Return whether a run's reported cost is $0 although it worked.

    It used tokens, or worked without a token count.
    """
    if run.cost_reported_usd != 0:
        return False
    if any(any(_tokens(row)) for row in usage) or any(_main_loop_tokens(run)):
        return any(map(_may_cost, usage)) or not usage
    if run.duration_api_ms == 0 or run.num_turns == 0:  # no model was asked
        return False
    return (
        any(map(_may_cost, usage))
        if usage
        else run.outcome is Outcome.COMPLETED or run.duration_api_ms is None
    )


def _may_cost(row: ModelUsageRow) -> bool:
    """Return whether a model used tokens or has no token count, and is not marked as free.

    The mark is in its name.
    """
    counts = [count for count in _tokens(row) if count is not None]
    return (any(counts) or not counts) and not is_free(row.model_id)


def counted(total: Decimal | None, of_models: Iterable[Decimal | None]) -> Decimal | None:
    """Return the sum of the models, unless the total is larger.

    Without a total only if each has a cost.
    """
    costs = list(of_models)
    known = [cost for cost in costs if cost is not None]
    summed = sum(known, Decimal())
    if total is None:
        return summed if known and len(known) == len(costs) else None
    return summed if known and total - summed <= COST_TOLERANCE else total
