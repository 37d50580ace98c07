"""Causes of a difference between reported cost and list cost: a closed list, each with its meaning.

A cause is found by recomputation and never guessed: the same tokens at the prices of the cause give
the reported cost.
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
    LONG_CONTEXT = "long_context"
    FAST_MODE = "fast_mode"
    SERVICE_TIER = "service_tier"
    HELPER_MODEL_MISSING = "helper_model_missing"
    OUTSIDE_TRANSCRIPT = "outside_transcript"
    PRICE_CHANGED_SINCE = "price_changed_since"
    PRICE_FILE = "price_file"
    GATEWAY = "gateway"
    UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True)
class CauseMeaning:
    """The presentation of a cause.

    `label` in tables, `meaning` in one sentence, `severity` of its findings.
    """

    label: str
    severity: Literal["info", "warning"]
    meaning: str


CAUSES = {
    CostCause.SAME: CauseMeaning(
        "matches list",
        "info",
        "The reported cost equals the list-price cost, to a millionth of a dollar.",
    ),
    CostCause.ONE_HOUR_CACHE_WRITES: CauseMeaning(
        "1-hour cache pricing",
        "info",
        "The agent priced 1-hour cache writes at the 5-minute rate, or the other way round.",
    ),
    CostCause.REGIONAL_ENDPOINT: CauseMeaning(
        "regional endpoint",
        "info",
        "One side includes the surcharge of a regional endpoint, the other uses the global price.",
    ),
    CostCause.FALLBACK_PRICE: CauseMeaning(
        "fallback pricing",
        "warning",
        "The agent did not know the model and used the price of another one.",
    ),
    CostCause.LONG_CONTEXT: CauseMeaning(
        "long context",
        "info",
        (
            "The list-price cost prices long requests at the long-context tier; the reported "
            "cost uses base rates."
        ),
    ),
    CostCause.FAST_MODE: CauseMeaning(
        "fast mode",
        "info",
        "One side includes the premium of fast mode, the other uses base rates.",
    ),
    CostCause.SERVICE_TIER: CauseMeaning(
        "service tier",
        "info",
        "One side uses another service tier (batch, flex, priority), the other uses base rates.",
    ),
    CostCause.HELPER_MODEL_MISSING: CauseMeaning(
        "missing model usage",
        "warning",
        "The reported total is higher than the sum of its models: the record leaves a model out.",
    ),
    CostCause.OUTSIDE_TRANSCRIPT: CauseMeaning(
        "outside the transcript",
        "info",
        (
            "The agent reports more than the responses of its transcript cost: some of its "
            "requests are in no transcript."
        ),
    ),
    CostCause.PRICE_CHANGED_SINCE: CauseMeaning(
        "price changed", "info", "The reported cost uses the model's price of another date."
    ),
    CostCause.PRICE_FILE: CauseMeaning(
        "price file",
        "info",
        "The reported cost uses public list prices; your price file has other prices.",
    ),
    CostCause.GATEWAY: CauseMeaning(
        "gateway",
        "info",
        (
            "The model was used behind a gateway, whose price is not the list price of the "
            "model's maker."
        ),
    ),
    CostCause.UNEXPLAINED: CauseMeaning(
        "unexplained", "warning", "No known price explains the reported cost."
    ),
}

UNPRICED_RULE = "cost_unpriced"
SHORT_RULE = "output_too_short"


def rule_of(cause: CostCause) -> str:
    """Return the name of the rule (`findings.rule`) of a cause."""
    return f"cost_{cause}"


COST_RULES = {
    rule_of(cause): meaning for cause, meaning in CAUSES.items() if cause is not CostCause.SAME
} | {
    UNPRICED_RULE: CauseMeaning(
        "no list price",
        "warning",
        (
            "Neither the price library nor a price file has a price for the model, or the record "
            "has no token counts."
        ),
    ),
    SHORT_RULE: CauseMeaning(
        "output too short",
        "warning",
        (
            "The final text has more words than all output tokens that are recorded: tokens and "
            "list-price cost are lower bounds."
        ),
    ),
}
