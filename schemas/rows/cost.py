"""Causes of a difference between reported cost and list cost: a closed list, each with its meaning.

A cause is found by recomputation and never guessed: the same tokens at the prices of the cause give the reported cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class CostCause(StrEnum):
    """Why the reported cost differs from the list cost of the same tokens."""

    SAME = "same"
    ONE_HOUR_CACHE_WRITES = "1h_cache_writes"
    REGIONAL_ENDPOINT = "regional_endpoint"
    FALLBACK_PRICE = "fallback_price"
    FAST_MODE = "fast_mode"
    SERVICE_TIER = "service_tier"
    HELPER_MODEL_MISSING = "helper_model_missing"
    PRICE_CHANGED_SINCE = "price_changed_since"
    PRICE_FILE = "price_file"
    UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True)
class CauseMeaning:
    """How a cause is shown: `label` in tables, `meaning` in one sentence, `severity` of its findings."""

    label: str
    severity: Literal["info", "warning"]
    meaning: str


CAUSES = {
    CostCause.SAME: CauseMeaning("same", "info", "The reported cost is the list cost, to a millionth of a dollar."),
    CostCause.ONE_HOUR_CACHE_WRITES: CauseMeaning(
        "1-hour cache writes",
        "info",
        "The agent priced cache writes kept for 1 hour at the rate of those kept for 5 minutes, or the reverse of what was assumed here.",
    ),
    CostCause.REGIONAL_ENDPOINT: CauseMeaning(
        "regional endpoint", "info", "One side has the surcharge of a regional endpoint, the other the global price."
    ),
    CostCause.FALLBACK_PRICE: CauseMeaning(
        "fallback price", "warning", "The agent did not know the model and took the price of another one."
    ),
    CostCause.FAST_MODE: CauseMeaning("fast mode", "info", "The reported cost has the premium of fast mode; list cost is at base rates."),
    CostCause.SERVICE_TIER: CauseMeaning(
        "service tier", "info", "The reported cost is that of another service tier (batch, flex, priority); list cost is at base rates."
    ),
    CostCause.HELPER_MODEL_MISSING: CauseMeaning(
        "helper model missing", "warning", "The record's total is more than its models cost: a model is missing from its list."
    ),
    CostCause.PRICE_CHANGED_SINCE: CauseMeaning(
        "price changed", "info", "The reported cost is at the price that the model had at another date."
    ),
    CostCause.PRICE_FILE: CauseMeaning(
        "price file", "info", "The reported cost is at public list prices, or the agent's own idea of them; your price file says otherwise."
    ),
    CostCause.UNEXPLAINED: CauseMeaning(
        "unexplained", "warning", "No price that is known here, nor any of the above, gives the reported cost."
    ),
}
"""Every cause, in the order in which lists show them."""

UNPRICED_RULE = "cost_unpriced"
"""Finding on models without a price."""


def rule_of(cause: CostCause) -> str:
    """Name of the rule (`findings.rule`) that a cause is found by."""
    return f"cost_{cause}"


COST_RULES = {rule_of(cause): meaning for cause, meaning in CAUSES.items() if cause is not CostCause.SAME} | {
    UNPRICED_RULE: CauseMeaning("no list price", "warning", "Neither the price library nor a price file knows the model, or its tokens.")
}
"""The rules of findings on cost."""
