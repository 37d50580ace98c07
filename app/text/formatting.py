"""Values as people read them, by unit: terminal tables, Markdown, cards and hover texts alike.

Machines get exact values.

One format for each unit: money with two decimals, four below $1; percent with one; durations in
their two largest units; an unknown value is `–` in a cell of figures and `unknown` among names; a
bound has `≤`, `≥` or `≈` before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from schemas.agents import AGENTS
from schemas.catalogue.cost_measures import BOUNDS
from schemas.text import visible
from schemas.units import Unit

UNKNOWN = "–"

UNKNOWN_NAME = "unknown"
MINUS = "−"

FEWEST_RUNS = 20
"""Fewest runs for a rate in percent."""

BOUND_NAMES = {
    "upper_bound": "upper bounds",
    "lower_bound": "lower bounds",
    "estimate": "estimates",
}
"""Basis of a run's tokens → plural noun for inexact costs."""


def human(value: Any, unit: Unit = Unit.TEXT) -> str:
    """Return the value for a reader: `$2.83`, `4m 14s`, `3.95M`, `1.21×`, `25.0%`.

    `–` for an unknown one.
    """
    return UNKNOWN if value is None or value == "" else FORMS[unit].human(value)


def exact(value: Any, unit: Unit = Unit.TEXT) -> str:
    """Return the value without rounding sums: `$1.21176`, `4m 14s (253,963 ms)`, `1,565,905`."""
    write = FORMS[unit].exact
    return human(value, unit) if value is None or write is None else write(value)


def rate_words(share: float, known: int, runs: int) -> str:
    """Return `25.0%`, or `49 of 82 known` if some ends are unknown, or `1 of 4` for few runs.

    Few runs are too few for a percentage.
    """
    if known == runs >= FEWEST_RUNS:
        return human(share, Unit.SHARE)
    return f"{round(share * known):,} of {known:,}{' known' if known < runs else ''}"


def known_of(known: int, total: int) -> str:
    """Return `based on 41 of 57`, or "" if all are known."""
    return "" if known == total else f"based on {known:,} of {total:,}"


def short_id(run_id: str) -> str:
    """Return the short form of a run's id, which every command and link accepts."""
    return run_id if len(run_id) <= 12 else f"{run_id[:8]}…"


def model_words(run: Mapping[str, Any]) -> str:
    """Return the run's model, or what was asked for if its record names none, or ""."""
    return run["model"] or (f"{run['asked_model']} asked for" if run["asked_model"] else "")


def agent_name(agent: str | None) -> str:
    """Return the display name of an agent; `Unnamed agent` for one that no log names."""
    if agent in AGENTS:
        return AGENTS[agent].label
    return visible(agent) if agent and agent != UNKNOWN_NAME else "Unnamed agent"


def sign_of(bases: str | None) -> str:
    """Return the sign before a figure with these bounds (`upper_bound, estimate`).

    `≤ `, `≥ `, `≈ ` for several kinds or estimates.
    """
    if not any(base in BOUND_NAMES for base in (bases or "").split(", ")):
        return ""
    return {"upper_bound": "≤ ", "lower_bound": "≥ "}.get(bases or "", "≈ ")


def bound_sign(row: Mapping[str, Any], key: str, bounds: str | None = None) -> str:
    """Return the sign before a list-price or best-known cost of a row.

    `bounds` overrides the row's own.
    """
    bases = bounds or next((row[name] for name in BOUNDS.get(key, ()) if row.get(name)), "")
    return "" if row.get(key) is None else sign_of(bases)


def bound_words(bases: str | None) -> str:
    """Return `upper bounds or estimates`."""
    return " or ".join(
        BOUND_NAMES[base] for base in (bases or "").split(", ") if base in BOUND_NAMES
    )


def one_bound(tokens_basis: str) -> str:
    """Return `an upper bound`, or "" for exact tokens."""
    return (
        f"{'a' if tokens_basis == 'lower_bound' else 'an'} {BOUND_NAMES[tokens_basis][:-1]}"
        if tokens_basis in BOUND_NAMES
        else ""
    )


_NUMBER_AND_UNIT = re.compile(r"(?P<number>[\d.,]+)(?P<unit>ms|s|m|h)")
_BLANKS = {"h": 14, "m": 16, "s": 20, "ms": 23}


def sortable_duration(milliseconds: Any) -> str:
    """Return a duration with leading blanks, so that durations as texts sort by length.

    Grids have no format like `21m 19s`.

    Hours have the fewest blanks, milliseconds the most; within a unit, longer numbers have fewer.
    """
    text = human(milliseconds, Unit.MILLISECONDS)
    found = _NUMBER_AND_UNIT.match(text)
    return " " * (_BLANKS[found["unit"]] - len(found["number"])) + text if found else text


def _text(value: Any) -> str:
    return _time(value) if isinstance(value, datetime) else visible(str(value))


def _time(value: Any) -> str:
    return (
        value.astimezone(UTC).strftime("%Y-%m-%d %H:%M")
        if isinstance(value, datetime)
        else str(value)
    )


def _count(value: Any) -> str:
    number = float(value)
    return f"{number:,.0f}" if number.is_integer() else f"{number:,.1f}"


def _quantity(value: Any) -> str:
    """Return a number with up to six significant digits: `0.969686`, `59,394.0`, `4,713.26`."""
    number = float(value)
    return f"{number:,.0f}" if number.is_integer() and abs(number) < 1e15 else f"{number:,.6g}"


def _percent(value: Any) -> str:
    """Return a change in percent with its sign: `+1.02%`, `−3.4%`, `+46,460%`."""
    number = float(value)
    digits = 0 if abs(number) >= 100 else 1 if abs(number) >= 10 else 2
    return f"{number:+,.{digits}f}%".replace("-", MINUS)


def _usd(value: Any) -> str:
    amount = Decimal(str(value))
    if amount < 0:
        return f"{MINUS}{_usd(-amount)}"
    if amount and amount < Decimal("0.0001"):
        return f"${amount.normalize():f}"
    return f"${amount:,.4f}" if amount < Decimal("0.99995") else f"${amount:,.2f}"


def _exact_usd(value: Any) -> str:
    amount = Decimal(value)
    if amount < 0:
        return f"{MINUS}{_exact_usd(-amount)}"
    return f"${amount.normalize():,f}" if amount else "$0"


def _exact_number(value: Any) -> str:
    return (
        f"{int(value):,}" if value == int(value) else f"{value:,}"
    )  # a median is a float, also if it is whole


def ratio(value: float) -> str:
    """Return a factor with two decimals.

    With three digits below 0.1, as the scores of some benchmarks are.
    """
    return f"{value:.3g}×" if 0 < abs(value) < 0.1 else f"{value:.2f}×"


def _duration(milliseconds: Any) -> str:
    seconds = float(milliseconds) / 1000
    if seconds < 0.9995:
        return f"{float(milliseconds):.0f}ms"
    if seconds < 59.95:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}m {rest:02d}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,}h {minutes:02d}m"


def _in_thousands(number: float, suffixes: tuple[str, str, str] = ("B", "M", "k")) -> str:
    """Return three significant figures: `812`, `12.7k`, `3.95M`."""
    for size, suffix in zip((1e9, 1e6, 1e3), suffixes, strict=True):
        if number >= size * 0.9995:
            return (
                f"{number / size:.3g}{suffix}"
                if number < size * 999.5
                else f"{number / size:,.0f}{suffix}"
            )
    return f"{number:.0f}"


def _bytes(value: Any) -> str:
    return (
        _in_thousands(float(value), (" GB", " MB", " kB"))
        if float(value) >= 999.5
        else f"{int(value)} B"
    )


@dataclass(frozen=True, slots=True)
class Form:
    """How figures of a unit are written.

    `human`: for a reader. `exact`: unrounded, if that differs. `is_number`: aligned right, and a
    number in JSON. `workbook`: number format of cells; `header`: suffix of headers, for a unit that
    numbers do not show. `grid`: number format in a browser. `tick`: a value on a logarithmic axis.
    `ticks`: Plotly's layout of a linear axis; `axis`: suffix of its title.
    """

    human: Callable[[Any], str]
    exact: Callable[[Any], str] | None = None
    is_number: bool = True
    workbook: str = "General"
    header: str = ""
    grid: str = ""
    tick: Callable[[float], str] = "{:,g}".format
    ticks: Mapping[str, Any] = field(default_factory=lambda: {"tickformat": ",~f"})
    axis: str = ""


FORMS = {
    Unit.TEXT: Form(_text, is_number=False),
    Unit.COUNT: Form(_count, _exact_number, workbook="#,##0.##", grid="localized"),
    Unit.QUANTITY: Form(_quantity, _exact_number, workbook="General", grid="%.6g"),
    Unit.PERCENT: Form(_percent, workbook='+0.00"%";-0.00"%"', grid="%+.2f%%"),
    Unit.USD: Form(
        *(_usd, _exact_usd),
        workbook="[>=1]$#,##0.00;[<=-1]-$#,##0.00;$#,##0.0000",
        grid="dollar",
        tick=lambda value: f"{value * 100:g}¢" if value < 0.995 else f"${value:,.0f}",
        ticks={"tickformat": ",~f", "tickprefix": "$"},
        axis=" (USD)",
    ),
    Unit.MILLISECONDS: Form(
        *(_duration, lambda value: f"{_duration(value)} ({_exact_number(value)} ms)"),
        workbook="[h]:mm:ss",
        header=" (h:mm:ss)",
    ),
    Unit.TOKENS: Form(
        *(lambda value: _in_thousands(float(value)), _exact_number),
        workbook="#,##0",
        grid="localized",
        ticks={"exponentformat": "B", "minexponent": 3},
    ),
    Unit.RATIO: Form(
        lambda value: ratio(float(value)), workbook='0.00"×"', grid="%.2f×", tick="{:,g}×".format
    ),
    Unit.SHARE: Form(
        lambda value: f"{float(value) * 100:.1f}%".replace("-", MINUS),
        workbook="0.0%",
        grid="%.1f%%",
    ),
    Unit.SCORE: Form(lambda value: f"{float(value) * 100:.2f}%", workbook="0.00%", grid="%.2f%%"),
    Unit.POINTS: Form(
        lambda value: f"{float(value):+.2f}".replace("-", MINUS),
        workbook="+0.00;-0.00",
        grid="%+.2f",
    ),
    Unit.BYTES: Form(_bytes, workbook="#,##0"),
    Unit.TIME: Form(_time, is_number=False, workbook="yyyy-mm-dd hh:mm:ss", header=" (UTC)"),
}
"""The one table of units. A new unit is an entry here and in `schemas.units`."""
