"""Rates that are whole steps of a log window: too coarse to compare.

vLLM's latency benchmark prints no rate, so the harness takes one from the engine's log. That line is written every 10 s and counts the
tokens of batches that began in this time: with 512 tokens per batch, 1, 2, 3, … batches are 51.2, 102.4, 153.6, … tok/s. One step more
or less looks like a speedup of 5 % at 20 steps and of 2x at one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

STEP = 51.2
"""tok/s: 512 tokens in a window of 10 s."""

_LONGER = 0.005
"""A window lasts up to this share longer than 10 s, and its rate is as much lower: seen 10.00 to 10.05 s."""

_ROUNDING = 0.05
"""The log has one decimal."""

_MOST_STEPS = 100
"""With more, one step is below 1 % of the value, and no longer too coarse."""

_CHANCE = 0.12
"""How likely it may be that other rates look like steps by chance: one rate of up to 24 steps may, or two of up to 69."""


def is_quantised(rates: Iterable[float]) -> bool:
    """Whether all rates of a latency benchmark, in tok/s, are whole steps, and that is no chance. False for none."""
    counted = [(rate, round(rate * (1 + _LONGER / 2) / STEP)) for rate in rates]
    if not counted or not all(_is_step(rate, steps) for rate, steps in counted):
        return False
    return math.prod(steps * _LONGER for _, steps in counted) <= _CHANCE


def _is_step(rate: float, steps: int) -> bool:
    return 0 < steps <= _MOST_STEPS and steps * STEP / (1 + _LONGER) - _ROUNDING <= rate <= steps * STEP + _ROUNDING
