"""Figures of a single run whose distribution is worth a look: what screens draw, and what `tachograph compare` compares.

A metric (`schemas.catalogue.metrics`) adds up many runs; a measure is one run's own value.
"""

from __future__ import annotations

from dataclasses import dataclass

from schemas.catalogue.metric import Better
from schemas.catalogue.unit_names import Unit


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of a run: `column` of `v_runs`, NULL where it is not known."""

    key: str
    column: str
    label: str
    unit: Unit
    better: Better
    meaning: str


MEASURES = {
    measure.key: measure
    for measure in (
        Measure(
            "cost",
            "cost_own_usd",
            "Reported cost",
            Unit.USD,
            "lower",
            "What the agent says the run cost: its own estimate, without what earlier records of the session cost already.",
        ),
        Measure("wall", "duration_ms", "Wall time", Unit.MILLISECONDS, "lower", "Time from start to end of the run."),
        Measure(
            "api",
            "duration_api_own_ms",
            "API time",
            Unit.MILLISECONDS,
            "lower",
            "Time in API calls; above the wall time where calls ran in parallel.",
        ),
        Measure(
            "parallelism",
            "parallelism",
            "API ÷ wall time",
            Unit.RATIO,
            "neither",
            "API time divided by wall time: above 1 where calls ran in parallel.",
        ),
        Measure("turns", "num_turns", "Turns", Unit.COUNT, "neither", "Round trips to the model, as the agent counts them."),
        Measure("turn-time", "duration_per_turn_ms", "Wall time per turn", Unit.MILLISECONDS, "lower", "Wall time divided by turns."),
        Measure("turn-cost", "cost_per_turn_usd", "Reported cost per turn", Unit.USD, "lower", "Reported cost divided by turns."),
        Measure(
            "first-token",
            "ttft_ms",
            "Time to first token",
            Unit.MILLISECONDS,
            "lower",
            "Time until the first token, where the record has it.",
        ),
        Measure("output", "output_tokens", "Output tokens", Unit.TOKENS, "lower", "Output tokens, thinking included."),
        Measure("cached", "cache_read_share", "Input from cache", Unit.SHARE, "higher", "Share of the input that was read from the cache."),
    )
}
"""Every measure by its key, in the order in which they are shown."""

TIMES = ("wall", "api", "turn-time", "first-token", "parallelism")
"""The measures of the screen on durations."""
