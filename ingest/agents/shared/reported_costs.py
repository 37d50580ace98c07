"""What a run cost by its agent: which $0 is no cost, and which of two totals counts. Pure; the same for every agent.

- $0 for tokens is unknown: agents write it for a model without a price, behind a gateway, or under a subscription. It is a cost only where
  nothing was used, or where the model's name says that it is free.
- A record whose models cost more than its total (background agents that were killed are missing from the total) cost what its models did;
  one whose total is higher cost its total, and the difference is of no model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from operator import attrgetter
from typing import Any

from ingest.agents.base import Rows
from ingest.prices.model_ids import is_free
from schemas.rows.run import TOKEN_CLASSES, ModelUsageRow, Outcome, RunRow

COST_TOLERANCE = Decimal("0.000001")
"""Costs that differ by less are the same: agents add in binary floats."""

_tokens = attrgetter(*TOKEN_CLASSES)
_main_loop_tokens = attrgetter(*(f"usage_{name}" for name in TOKEN_CLASSES))


def settled(rows: Rows) -> Rows:
    """The rows of a run with the costs that count. Findings are about the costs as logged, so they come first."""
    run, usage = rows.run, rows.model_usage
    told: dict[str, Any] = {}
    if any(map(is_unpaid, usage)):
        usage = tuple(row.completed({"cost_reported_usd": None, "cost_own_usd": None}) if is_unpaid(row) else row for row in usage)
        told["model_costs_usd"] = tuple(_cost_of(name, usage) for name in run.models)
    total = None if is_unknown(run, usage) else run.cost_reported_usd
    cost = counted(total, [row.cost_own_usd for row in usage])
    if cost != total or total != run.cost_reported_usd:
        beyond = Decimal() if cost is None or total is None else cost - total
        told |= {"cost_reported_usd": total, "cost_own_usd": cost, "cost_beyond_total_usd": beyond if beyond > COST_TOLERANCE else None}
    return rows._replace(run=run.completed(told), model_usage=usage) if told else rows


def is_unpaid(row: ModelUsageRow) -> bool:
    """Whether the reported cost of a model is $0 although it may have cost something."""
    return row.cost_reported_usd == 0 and _may_cost(row)


def is_unknown(run: RunRow, usage: Sequence[ModelUsageRow]) -> bool:
    """Whether the reported cost of a run is $0 although it used tokens, or worked without a count of them."""
    if run.cost_reported_usd != 0:
        return False
    if any(any(_tokens(row)) for row in usage) or any(_main_loop_tokens(run)):
        return any(map(_may_cost, usage)) or not usage
    if run.duration_api_ms == 0 or run.num_turns == 0:  # no model was asked
        return False
    return any(map(_may_cost, usage)) if usage else run.outcome is Outcome.COMPLETED or run.duration_api_ms is None


def _may_cost(row: ModelUsageRow) -> bool:
    """Whether a model used tokens, or has no count of them, and is not free by its name."""
    counts = [count for count in _tokens(row) if count is not None]
    return (any(counts) or not counts) and not is_free(row.model_id)


def counted(total: Decimal | None, of_models: Iterable[Decimal | None]) -> Decimal | None:
    """The sum of the models, unless the total is larger; without a total only where each has a cost."""
    costs = list(of_models)
    known = [cost for cost in costs if cost is not None]
    summed = sum(known, Decimal())
    if total is None:
        return summed if known and len(known) == len(costs) else None
    return summed if known and total - summed <= COST_TOLERANCE else total


def _cost_of(model: str, usage: Sequence[ModelUsageRow]) -> Decimal | None:
    costs = [row.cost_own_usd for row in usage if row.model == model and row.cost_own_usd is not None]
    return sum(costs, Decimal()) if costs else None
