"""Logarithmic axes of cost, time and ratios, with ticks at 1-2-5 words: `10¢`, `$1`, `10m`, `2×`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from schemas.units import Unit

_TIMES: tuple[tuple[float, str], ...] = (
    (1, "1ms"), (10, "10ms"), (100, "0.1s"), (1_000, "1s"), (10_000, "10s"), (60_000, "1m"), (600_000, "10m"), (3_600_000, "1h"),
    (36_000_000, "10h"), (360_000_000, "100h"),
)  # fmt: skip
_FEW_TIMES: tuple[tuple[float, str], ...] = (
    (1_000, "1s"), (2_000, "2s"), (5_000, "5s"), (10_000, "10s"), (20_000, "20s"), (30_000, "30s"), (60_000, "1m"), (120_000, "2m"),
    (300_000, "5m"), (600_000, "10m"), (1_200_000, "20m"), (1_800_000, "30m"), (3_600_000, "1h"), (7_200_000, "2h"), (18_000_000, "5h"),
    (36_000_000, "10h"),
)  # fmt: skip


def log_axis(values: Sequence[float], unit: Unit, *, narrow: bool = False) -> dict[str, Any]:
    """Plotly's layout of the axis for positive values. `narrow`: ticks have room for five words only."""
    positive = [value for value in values if value > 0] or [1.0]
    low, high = min(positive), max(positive)
    pad = max(math.log10(high / low) * 0.05, 0.06)
    first, last = math.log10(low) - pad, math.log10(high) + pad
    span = last - first
    if unit is Unit.MILLISECONDS:
        ticks = list(_TIMES if span > 1.6 else _FEW_TIMES)
    else:
        factors = (1,) if span > 2.5 else (1, 2, 5)
        powers = range(math.floor(first), math.ceil(last) + 1)
        ticks = [(factor * 10**power, _word(factor * 10**power, unit)) for power in powers for factor in factors]
        if unit is Unit.RATIO and span < 0.7:
            ticks += [(at, _word(at, unit)) for at in (0.7, 1.5, 3.0)]
    shown = [(at, word) for at, word in sorted(ticks) if first <= math.log10(at) <= last]
    most = 5 if narrow else 9
    shown = shown[:: -(-len(shown) // most)] if len(shown) > most else shown
    return {
        "type": "log", "range": [first, last], "tickvals": [at for at, _ in shown], "ticktext": [word for _, word in shown],
        "showgrid": True, "zeroline": False, "fixedrange": True,
    }  # fmt: skip


def _word(value: float, unit: Unit) -> str:
    if unit is Unit.USD:
        return f"{value * 100:g}¢" if value < 0.995 else f"${value:,.0f}"
    if unit is Unit.RATIO:
        return f"{value:,g}×"
    return f"{value:,g}"
