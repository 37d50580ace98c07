"""Axes: scale and ticks. Linear, or logarithmic where values differ by orders of magnitude."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from app.text.formatting import human
from schemas.catalogue.entry import Entry
from schemas.units import Unit

WIDE = 100
"""The ratio of largest to smallest value from which an axis is logarithmic: on a linear one most points would overlap near zero."""

_SECOND, _MINUTE, _HOUR = 1_000, 60_000, 3_600_000
_STEPS = [factor * unit for unit in (1, 10, 100) for factor in (1, 2, 5)] + [
    factor * unit for unit, factors in ((_SECOND, (1, 2, 5, 10, 20, 30)), (_MINUTE, (1, 2, 5, 10, 20, 30))) for factor in factors
]
_HOURS = [factor * 10**power * _HOUR for power in range(8) for factor in (1, 2, 5)]
_POWERS = (1, 10, 100, _SECOND, 10 * _SECOND, _MINUTE, 10 * _MINUTE, _HOUR, 10 * _HOUR, 100 * _HOUR, 1000 * _HOUR, 10_000 * _HOUR)
_MOST_TICKS = 6
_FEW_DECADES, _MANY_DECADES = 3, 6


@dataclass(frozen=True)
class Axis:
    """One axis: the column it shows, its title and its unit."""

    column: str
    title: str
    unit: Unit


def axis_of(entry: Entry) -> Axis:
    """The axis of a column of the catalogue."""
    return Axis(entry.key, f"{entry.label} (USD)" if entry.unit is Unit.USD else entry.label, entry.unit)


def is_wide(values: Sequence[float]) -> bool:
    """Whether the values need a logarithmic axis."""
    positive = [value for value in values if value > 0]
    return bool(positive) and max(positive) / min(positive) >= WIDE


def axis_layout(axis: Axis, values: Sequence[float], *, logarithmic: bool) -> dict[str, Any]:
    """Plotly's layout of the axis for these values."""
    title = f"{axis.title} (log scale)" if logarithmic else axis.title
    layout: dict[str, Any] = {"title": {"text": title}, "type": "log" if logarithmic else "linear", "automargin": True}
    if not logarithmic:
        layout["rangemode"] = "tozero"
    return layout | _ticks(axis.unit, values, logarithmic=logarithmic)


def count_axis(title: str, largest: float) -> dict[str, Any]:
    """Plotly's layout of an axis of counts: ticks at integers only, even for small counts."""
    return {"title": {"text": title}, "rangemode": "tozero", "tickformat": ",d", "dtick": 1 if largest <= _MOST_TICKS else None}


def _ticks(unit: Unit, values: Sequence[float], *, logarithmic: bool) -> dict[str, Any]:
    if unit is Unit.MILLISECONDS:
        places = list(_POWERS) if logarithmic else _even(max(values, default=0))
        steps = places if logarithmic else [places[1]] * len(places)
        return {"tickvals": places, "ticktext": [_clock(place, step) for place, step in zip(places, steps, strict=True)]}
    if logarithmic:
        round_values = _round_values(values)
        return {"tickvals": round_values, "ticktext": [_tick(value, unit) for value in round_values]}
    if unit is Unit.USD:
        return {"tickprefix": "$", "tickformat": ",~f"}
    if unit is Unit.TOKENS:
        return {"exponentformat": "B", "minexponent": 3}
    return {"tickformat": {Unit.SHARE: ",.0%"}.get(unit, ",~f")}


def _round_values(values: Sequence[float]) -> list[float]:
    """1, 2, 5, 10, … over the values; over many orders of magnitude the powers of ten only, or every second of them."""
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    factors = (1, 2, 5) if last - first <= _FEW_DECADES else (1,)
    step = 1 if last - first <= _MANY_DECADES else 2
    return [float(f"{factor}e{power}") for power in range(first, last + 1, step) for factor in factors]


def _tick(value: float, unit: Unit) -> str:
    if unit is Unit.USD:
        return f"${Decimal(repr(value)).normalize():,f}"
    return human(value, unit)


def _even(largest: float) -> list[float]:
    """Ticks at round durations from zero to beyond the largest value."""
    step = next((step for step in [*_STEPS, *_HOURS] if largest / step <= _MOST_TICKS), _HOURS[-1])
    return [step * place for place in range(int(largest // step) + 2)]


def _clock(milliseconds: float, step: float) -> str:
    """`500ms`, `80s`, `1.5m`, `1,000h`: in the largest unit of which the step between ticks is a multiple of one half."""
    for unit, name in ((_HOUR, "h"), (_MINUTE, "m"), (_SECOND, "s")):
        if milliseconds >= unit and (2 * step / unit).is_integer():
            return f"{milliseconds / unit:,g}{name}"
    return f"{milliseconds:g}ms" if milliseconds else "0"
