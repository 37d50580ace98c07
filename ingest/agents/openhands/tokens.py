"""Totals of OpenHands → tokens in disjoint classes, and cost.

litellm counts cache reads inside the input, and cache writes inside or beside it by version: inside in 1.65 and since 1.78, beside in
1.70 to 1.74. More cached than input proves that they are beside. Under an ACP agent (Claude Code, Codex, Gemini) reads are beside, and
the tokens, summed on another path than the cost, do not match it (OpenHands/benchmarks #583).
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from schemas.rows.row import LARGEST_USD, usd
from schemas.rows.run import TokensBasis
from schemas.wire.openhands import LlmMetrics, TokenUsage

_CLASSES = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
_NO_NAME = ("default", "unknown", "")
_ACP = "The tokens are those that another agent told OpenHands turn by turn; they do not match its cost."
_ASSUMED_INSIDE = "Cache writes are taken to be a part of the input, as litellm counts them in most versions."
_LAST_UNREAD = "Later token counts of the log could not be read."


def models_of(totals: Iterable[LlmMetrics], *, is_acp: bool = False, stale: bool = False, model: str | None = None) -> list[dict[str, Any]]:
    """Values of a `KeptModel` for each model of these totals. `stale`: counts after them were unreadable. `model`: where none is named."""
    usages: dict[str | None, list[TokenUsage]] = {}
    costs: dict[str | None, list[float]] = {}
    for total in totals:
        used = total.accumulated_token_usage
        name = _name(total.model_name) or _name(used.model if used else None) or model
        for each, usage in _by_model(total, name):
            usages.setdefault(each, []).append(usage)
        for each, cost in _costs_by_model(total, name):
            costs.setdefault(each, []).append(cost)
    found = ((name, _summed(usages.get(name, ())), cost_of(costs.get(name, ()))) for name in dict.fromkeys((*usages, *costs)))
    return [_model(name, usage, cost, is_acp=is_acp, stale=stale) for name, usage, cost in found if any(usage.values()) or cost]


def cost_of(amounts: Iterable[float | None]) -> Decimal | None:
    """A sum in USD; None where no amount is known."""
    known = [Decimal(repr(float(amount))) for amount in amounts if amount is not None]
    total = sum(known, Decimal())
    return None if not known else usd(total) if total <= LARGEST_USD else total


def _name(name: str | None) -> str | None:
    return None if name is None or name in _NO_NAME else name


def _by_model(total: LlmMetrics, name: str | None) -> list[tuple[str | None, TokenUsage]]:
    """The calls where they add up to the total and name their models; else the total, as that of its model."""
    whole, calls = total.accumulated_token_usage, total.token_usages or []
    if calls and (whole is None or _summed(calls) == _summed([whole])):
        return [(_name(call.model) or name, call) for call in calls]
    return [(name, whole)] if whole else []


def _costs_by_model(total: LlmMetrics, name: str | None) -> list[tuple[str | None, float]]:
    """The costs of calls where they add up to the total, and the total else."""
    parts = [(_name(part.model) or name, part.cost) for part in total.costs or () if part.cost]
    whole = total.accumulated_cost
    if parts and whole is not None and abs(sum(cost for _, cost in parts) - whole) < 1e-6:
        return parts
    return [] if whole is None else [(name, whole)]


def _summed(usages: Iterable[TokenUsage]) -> dict[str, int | None]:
    sums: dict[str, int | None] = dict.fromkeys(_CLASSES)
    for usage in usages:
        for each in _CLASSES:
            count: int | None = getattr(usage, each)
            sums[each] = sums[each] if count is None else (sums[each] or 0) + count
    return sums


def _model(name: str | None, usage: dict[str, int | None], cost: Decimal | None, *, is_acp: bool, stale: bool) -> dict[str, Any]:
    given: dict[str, Any] = {"model_id": name, "cost_usd": cost}
    if not any(usage.values()):  # zeros beside a cost: not recorded
        return given
    uncached, basis = _uncached(usage, is_acp=is_acp)
    return (
        given
        | {
            "input_tokens": uncached,
            "output_tokens": usage["completion_tokens"],
            "reasoning_tokens": usage["reasoning_tokens"],
            "cache_read_tokens": usage["cache_read_tokens"],
            "cache_write_tokens": usage["cache_write_tokens"],
        }
        | (_basis(TokensBasis.LOWER_BOUND, _LAST_UNREAD) if stale else basis)
    )


def _uncached(usage: dict[str, int | None], *, is_acp: bool) -> tuple[int, dict[str, Any]]:
    """Input outside the cache, and how far it can be trusted."""
    given, read, written = usage["prompt_tokens"] or 0, usage["cache_read_tokens"] or 0, usage["cache_write_tokens"] or 0
    if is_acp:
        return given, _basis(TokensBasis.ESTIMATE, _ACP)
    if read > given:
        return given, {}
    if written and given >= read + written:
        return given - read - written, _basis(TokensBasis.LOWER_BOUND, _ASSUMED_INSIDE)
    return given - read, {}


def _basis(basis: TokensBasis, reason: str) -> dict[str, Any]:
    return {"basis": basis, "basis_reason": reason}
