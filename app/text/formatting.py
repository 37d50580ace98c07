"""Values as people read them, by unit: `short` in terminal, screens, reports and charts.

`exact` is for hover texts and for places whose purpose is the exact value.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from app.queries import Row
from app.queries.filters import this_moment
from schemas.agents import AGENTS
from schemas.catalogue.cost_measures import BOUNDS
from schemas.text import visible
from schemas.units import Unit

UNKNOWN, NOT_RECORDED, NOT_MEASURED = "–", "not recorded", "not measured"

UNKNOWN_NAME = "unknown"
NAMELESS = dict.fromkeys(("hour", "day", "week", "month"), "no date")
NAMELESS |= {"project": "no project", "repo": "no project", "landed": "not read"}
NAMELESS |= {key: f"no {key.replace('-', ' ')}" for key in ("branch", "pull-request", "ticket")}
NAMELESS |= {"task": "no task", "experiment": "no experiment"}
NAMELESS |= dict.fromkeys(("model", "model-id"), "model not recorded")
NAMELESS |= {"effort": "effort not recorded"}
_NAMELESS_AGENT = "Unnamed agent"
NAMELESS |= {"agent": _NAMELESS_AGENT}
"""Grouping → name of the group without a value, unless that is UNKNOWN_NAME."""

MINUS = "−"
AT_LEAST, _AT_MOST = "≥\u00a0", "≤\u00a0"
_BELOW_CENT = "<1¢"

FEWEST_RUNS = 20
"""Fewest runs for a rate in percent."""

BOUND_NAMES = {
    "upper_bound": "upper bounds",
    "lower_bound": "lower bounds",
    "estimate": "estimates",
}
"""Basis of a run's tokens → plural noun for inexact costs."""


def short(value: Any, unit: Unit = Unit.TEXT, bounds: str | None = "", lacks: str = UNKNOWN) -> str:
    """Return the value for a reader: `$2.83`, `4m 14s`, `4.0M`, `1.21×`, `25%`, `≥ $7.94`.

    `bounds`: kinds of bounds as in `sign_of`. `lacks`: the words for an unknown value.
    """
    return (
        lacks
        if value is None or value == ""
        else with_sign(sign_of(bounds), FORMS[unit].short(value))
    )


def exact(value: Any, unit: Unit = Unit.TEXT) -> str:
    """Return the value without rounding sums: `$1.21176`, `4m 14s (253,963 ms)`, `1,565,905`."""
    write = FORMS[unit].exact
    return short(value, unit) if value is None or write is None else write(value)


def rate_words(share: float, known: int, runs: int) -> str:
    """Return `25%`, or `49 of 82 known` if some ends are unknown, or `1 of 4` for few runs.

    Few runs are too few for a percentage.
    """
    if known == runs >= FEWEST_RUNS:
        return percent(share)
    return f"{round(share * known):,} of {known:,}{' known' if known < runs else ''}"


def known_of(known: int, total: int) -> str:
    """Return `based on 41 of 57`, or "" if all are known."""
    return "" if known == total else f"based on {known:,} of {total:,}"


def short_id(run_id: str) -> str:
    """Return the short form of a run's id, which every command and link accepts."""
    return run_id if len(run_id) <= 12 else f"{run_id[:8]}…"


def id_in_command(run_id: str) -> str:
    """Return the short form of a run's id as a word of a shell's command."""
    return shlex.quote(short_id(run_id).removesuffix("…"))


def model_name(model: str | None, lacks: str = NAMELESS["model"], effort: str | None = None) -> str:
    """Return the short name of a model, without its maker: `sonnet-4-5`, `gpt-5`.

    `effort`: also the effort, `gpt-5 · xhigh`; "" if it is not recorded.
    """
    name = visible(model).removeprefix("claude-") if model else lacks
    return name if effort is None else f"{name} · {visible(effort) or NOT_RECORDED}"


def model_words(run: Row) -> str:
    """Return the run's model, or what was asked for if its record names none, or ""."""
    return run["model"] or (f"{run['asked_model']} asked for" if run["asked_model"] else "")


IS_LASTING: ContextVar[bool] = ContextVar("is_lasting", default=False)
"""Whether what is written is read in later years: dates have their year, and none is a weekday."""


def date_words(time: datetime | None, *, clock: bool = False, lacks: str = "no date") -> str:
    """Return `19 March`, with `clock` `19 March, 01:17`, `Wed 23:24` or `Today 01:17`, in UTC.

    Weekdays are those of the last six days. A year is named if it is not the present one, and on
    lasting pages.
    """
    if time is None:
        return lacks
    at, now = time.astimezone(UTC), this_moment().astimezone(UTC)
    days = (now.date() - at.date()).days
    if 0 <= days < 7 and clock and not IS_LASTING.get():
        return f"{at:%a %H:%M}" if days else f"Today {at:%H:%M}"
    is_plain = at.year == now.year and not IS_LASTING.get()
    day = f"{at:%-d %B}" if is_plain else f"{at:%-d %B %Y}"
    return f"{day}, {at:%H:%M}" if clock else day


def agent_name(agent: str | None) -> str:
    """Return the display name of an agent; `Unnamed agent` for one that no log names."""
    if agent in AGENTS:
        return AGENTS[agent].label
    return visible(agent) if agent and agent != UNKNOWN_NAME else _NAMELESS_AGENT


def sign_of(bases: str | None) -> str:
    """Return the sign before a figure with these bounds (`upper_bound, estimate`).

    `≤ `, `≥ `, `≈ ` (with a no-break space) for upper, lower, and several kinds or estimates.
    """
    if not any(base in BOUND_NAMES for base in (bases or "").split(", ")):
        return ""
    return {"upper_bound": _AT_MOST, "lower_bound": AT_LEAST}.get(bases or "", "≈\u00a0")


def with_sign(sign: str, text: str) -> str:
    """Return a figure behind the sign of its bound: `≥ $7.94`, `≥ $0` for a part of a cent."""
    if text != _BELOW_CENT or not sign:
        return sign + text
    return {AT_LEAST: f"{AT_LEAST}$0", _AT_MOST: text}.get(sign, sign + text)


def bound_sign(row: Row, key: str, bounds: str | None = None) -> str:
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


_SIZE = re.compile(r"(<?)(\d[\d,]*)[.\d]*(\w?)")
_WIDEST = 18


def sortable(value: Any, unit: Unit, bounds: str | None = "") -> str:
    """Return the short form with leading blanks, so that such texts sort by size in a grid.

    Grids have no format like `21m 19s` or `<1¢`. Larger values have fewer blanks.
    """
    text = short(value, unit, bounds)
    is_below, number, letter = _SIZE.search(text).groups()  # type: ignore[union-attr]
    size = 0
    if value:
        place = 3 * ("smhd".find(letter) if unit is Unit.MILLISECONDS else " kMB".find(letter))
        size = 1 if is_below or text.startswith(">") else 2 + len(number) + max(place, 0)
    return " " * (_WIDEST + size if value < 0 else _WIDEST - size) + text


def usd(amount: Any, bounds: str | None = "", lacks: str = UNKNOWN) -> str:
    """Return money: `$0.84`, `≤ $1,873`, `<1¢`, `$0`, or the words `lacks` for an unknown amount.

    Whole dollars from $1,000 on.
    """
    if amount is None:
        return lacks
    value = Decimal(str(amount))
    size, minus = abs(value), MINUS if value < 0 else ""
    written = f"${size:,.{0 if size >= Decimal('999.995') else 2}f}" if size else "$0"
    if 0 < size < Decimal("0.01"):
        written = _BELOW_CENT
    return with_sign(sign_of(bounds), minus + written)


def whole_usd(amount: Decimal, bounds: str | None = "") -> str:
    """Return money without cents if it has none, as budgets have: `$100`, `$12.50`, `≤ $48`."""
    return usd(amount, bounds).removesuffix(".00")


def duration(milliseconds: Any) -> str:
    """Return a time in its two largest units: `<1s`, `47s`, `3m 04s`, `1h 12m`, `3d 4h`."""
    seconds = float(milliseconds) / 1000
    if 0 < seconds < 1:
        return "<1s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days:,}d {hours}h"
    if hours:
        return f"{hours}h {minutes:02d}m"
    return f"{minutes}m {rest:02d}s" if minutes else f"{rest}s"


def ratio(value: Any) -> str:
    """Return a factor with three digits, at most two decimals: `0.47×`, `12.3×`, `6,194×`.

    Below 0.1 three significant digits, as the scores of some benchmarks have.
    """
    number = float(value)
    size = abs(number)
    if 0 < size < 0.0995:
        return f"{Decimal(f'{number:.3g}'):f}×"
    return f"{number:,.{2 if size < 9.995 else 1 if size < 99.95 else 0}f}×"


def gain(value: Any) -> str:
    """Return a ratio as percent below 2, from there on as it is: `+2.9%`, `5.84×`, `6,194×`."""
    return _change(100 * (float(value) - 1)) if float(value) < 2 else ratio(value)


def multiple(times: Any) -> str:
    """Return how many times as much as usual or as before: `2.2×`, `58×`."""
    number = float(times)
    return f"{number:,.{1 if number < 9.95 else 0}f}×"


def ordinal(number: int) -> str:
    """Return `1st`, `12th`, `71st`."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{'th' if 10 < number % 100 < 14 else ending}"


def interval(low: Any, high: Any) -> str:
    """Return the ends of a ratio's interval: `1.10–1.36`."""
    return f"{ratio(low)[:-1]}–{ratio(high)[:-1]}"


def percent(share: Any) -> str:
    """Return a share as a whole per cent; never 0% of some, nor 100% of almost all."""
    size = abs(float(share))
    whole = round(100 * size)
    written = (
        "<1%" if size and not whole else ">99%" if size < 1 and whole == 100 else f"{whole:,}%"
    )
    return f"{MINUS if share < 0 else ''}{written}"


def _text(value: Any) -> str:
    return _time(value) if isinstance(value, datetime) else visible(str(value))


def _time(value: Any) -> str:
    return (
        value.astimezone(UTC).strftime("%Y-%m-%d %H:%M")
        if isinstance(value, datetime)
        else str(value)
    )


def _count(value: Any) -> str:
    return f"{float(value):,.1f}".removesuffix(".0")


def _quantity(value: Any) -> str:
    """Return a number with three digits, a whole one from 1,000 on: `0.97`, `4.12`, `10,970`."""
    number = float(value)
    return f"{number:,.0f}" if number.is_integer() or abs(number) >= 999.5 else f"{number:.3g}"


def _noise(share: Any) -> str:
    """Return the half-width of an interval or a noise: `<0.1%`, `8.2%`, `44%`."""
    size = float(share) * 100
    if 0 < size < 0.1:
        return "<0.1%"
    return f"{size:,.{0 if size >= 9.95 else 1}f}%"


def _change(value: Any) -> str:
    """Return a change in percent with its sign: `+0.04%`, `+2.9%`, `−34%`, `+46,460%`.

    Never +100% for a little less, since a time cannot become 0.
    """
    number = float(value)
    size = abs(number)
    written = (
        f"{number:+.1g}%"
        if 0 < size < 0.095
        else f"{max(min(number, 99.9), -99.9):+.1f}%"
        if size < 9.95 or 99.5 <= size < 100
        else f"{number:+,.0f}%"
    )
    return written.replace("-", MINUS)


def _exact_usd(value: Any) -> str:
    amount = Decimal(value)
    if amount < 0:
        return f"{MINUS}{_exact_usd(-amount)}"
    return f"${amount.normalize():,f}" if amount else "$0"


def _exact_number(value: Any) -> str:
    return (
        f"{int(value):,}" if value == int(value) else f"{value:,}"
    )  # a median is a float, also if it is whole


def _in_thousands(value: Any, suffixes: Sequence[str] = ("", "k", "M", "B")) -> str:
    """Return a number with one decimal below ten of its thousands: `812`, `83k`, `6.0M`."""
    number, place = float(value), 0
    while number >= 999.5 and place < len(suffixes) - 1:
        number, place = number / 1000, place + 1
    return f"{number:,.{1 if place and number < 9.95 else 0}f}{suffixes[place]}"


@dataclass(frozen=True, slots=True)
class Form:
    """How figures of a unit are written.

    `short`: for a reader. `exact`: unrounded, if that differs. `is_number`: aligned right, and a
    number in JSON. `workbook`: number format of cells; `header`: suffix of headers, for a unit that
    numbers do not show. `grid`: number format in a browser; "" if cells are `sortable` texts.
    `tick`: a value on a logarithmic axis. `ticks`: Plotly's layout of a linear axis; `axis`: suffix
    of its title.
    """

    short: Callable[[Any], str]
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
    Unit.MEASURED: Form(
        lambda value: f"{float(value):,.6g}", _exact_number, workbook="General", grid="%.6g"
    ),
    Unit.PERCENT: Form(
        _change,
        lambda value: f"{value:+,.6g}%".replace("-", MINUS),
        workbook='+0.00"%";-0.00"%"',
        grid="%+.2f%%",
    ),
    Unit.USD: Form(
        *(usd, _exact_usd),
        workbook="[>=1]$#,##0.00;[<=-1]-$#,##0.00;$#,##0.0000",
        tick=lambda value: f"{value * 100:g}¢" if value < 0.995 else f"${value:,.0f}",
        ticks={"tickformat": ",~f", "tickprefix": "$"},
        axis=" (USD)",
    ),
    Unit.MILLISECONDS: Form(
        *(duration, lambda value: f"{duration(value)} ({_exact_number(value)} ms)"),
        workbook="[h]:mm:ss",
        header=" (h:mm:ss)",
    ),
    Unit.TOKENS: Form(
        *(_in_thousands, _exact_number),
        workbook="#,##0",
        ticks={"exponentformat": "B", "minexponent": 3},
    ),
    Unit.RATIO: Form(
        *(ratio, lambda value: f"{float(value):,.6g}×"),
        workbook='0.00"×"',
        tick="{:,g}×".format,
    ),
    Unit.GAIN: Form(
        *(gain, lambda value: f"{float(value):,.6g}×"),
        workbook='0.00"×"',
        tick=lambda value: gain(value).lstrip("+"),
    ),
    Unit.SHARE: Form(
        *(percent, lambda value: f"{float(value) * 100:,.6g}%".replace("-", MINUS)),
        workbook="0.0%",
        grid="%.0f%%",
    ),
    Unit.NOISE: Form(_noise, workbook="0.0%", grid="%.1f%%"),
    Unit.SCORE: Form(lambda value: f"{float(value) * 100:.2f}%", workbook="0.00%", grid="%.2f%%"),
    Unit.POINTS: Form(
        lambda value: f"{float(value):+.2f}".replace("-", MINUS),
        workbook="+0.00;-0.00",
        grid="%+.2f",
    ),
    Unit.BYTES: Form(
        lambda value: _in_thousands(value, (" B", " kB", " MB", " GB")), workbook="#,##0"
    ),
    Unit.TIME: Form(_time, is_number=False, workbook="yyyy-mm-dd hh:mm:ss", header=" (UTC)"),
}
"""The one table of units. A new unit is an entry here and in `schemas.units`."""
