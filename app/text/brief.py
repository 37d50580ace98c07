"""Figures as sentences and screens give them: `$0.84`, `≤ $1,873`, `3m 04s`, `2.00×`, `9%`.

Tables for accounts use `formatting`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from app.queries.agents import ENOUGH, AgentFigures
from app.queries.measured import Spread
from app.text import formatting
from app.text.formatting import sign_of
from schemas.catalogue.metrics import MEASURED_CLASSES

NOT_RECORDED = "not recorded"
NOT_MEASURED = "not measured"
NO_VALUE = "–"

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True, slots=True)
class Said:
    """The first lines of a screen.

    The answer with an `**emphasised**` part, the second most important fact, and the data behind
    both.
    """

    heading: str
    second: str = ""
    coverage: str = ""


def usd(amount: Any, bounds: str | None = "") -> str:
    """Return money: whole dollars from $1,000 on, three decimals below 10¢.

    `≤` before an upper bound.
    """
    value = Decimal(str(amount))
    decimals = 0 if abs(value) >= 1000 else 2 if abs(value) >= Decimal("0.0995") or not value else 3
    written = (
        f"{abs(value):,.{decimals}f}"
        if abs(value) > Decimal("0.0005") or not value
        else f"{abs(value).normalize():.1g}"
    )
    if "e" in written.lower():
        written = f"{Decimal(written):f}"
    return f"{sign_of(bounds)}{'−' if value < 0 else ''}${written}"


def usd_or(lacks: str, amount: Any, bounds: str | None = "") -> str:
    """Return money, or the words `lacks` for an unknown cost."""
    return lacks if amount is None else usd(amount, bounds)


def duration(milliseconds: float) -> str:
    """Return a time in its two largest units: `0.9s`, `45s`, `3m 04s`, `1h 12m`, `2d 3h`."""
    seconds = milliseconds / 1000
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}m {rest:02d}s" if minutes else f"{rest}s"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours}h {minutes:02d}m"
    days, hours = divmod(hours, 24)
    return f"{days:,}d {hours}h"


def ratio(value: float) -> str:
    """Return a factor with two decimals; a whole one from 100 on."""
    return f"{value:,.0f}×" if abs(value) >= 99.995 else formatting.ratio(value)


def share(part: int, of: int) -> str:
    """Return a whole per cent; never 0% of some, nor 100% of almost all."""
    per_cent = round(100 * part / of)
    return (
        "<1%"
        if part and not per_cent
        else ">99%"
        if part < of and per_cent == 100
        else f"{per_cent}%"
    )


def number(count: int) -> str:
    """Return a count within a sentence: in words up to nine."""
    return _WORDS[count] if 0 <= count < len(_WORDS) else f"{count:,}"


def runs(count: int) -> str:
    """Return `one run`, `26 runs`."""
    return "one run" if count == 1 else f"{number(count)} runs"


def others(count: int) -> str:
    """Return `one other`, `three others`."""
    return "one other" if count == 1 else f"{number(count)} others"


def none_or(count: int) -> str:
    """Return `None`, `12`: the first word of a sentence."""
    return f"{count:,}" if count else "None"


def upper_first(sentence: str) -> str:
    """Return the sentence with a capital letter at its beginning; the rest is left alone."""
    return f"{sentence[:1].upper()}{sentence[1:]}"


def joined(parts: Sequence[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1]))) if parts else ""


def cost_cell(row: AgentFigures) -> tuple[str, str]:
    """Return the cost of a row's runs and how many of them have one.

    `≤ $1,873`, `$0.14` · `1 of 15`, `not recorded`.
    """
    if row.cost_usd is None:
        return (NOT_RECORDED if row.started else NO_VALUE), ""
    return usd(
        row.cost_usd, row.bounds
    ), "" if row.is_cost_known else f"{row.cost.known:,} of {row.started:,}"


def median_cost(row: AgentFigures) -> str:
    """Return the median cost of a run if at least ENOUGH runs have one."""
    return (
        NO_VALUE
        if row.cost.known < ENOUGH or row.cost.median is None
        else usd(row.cost.median, row.median_bounds)
    )


def median(values: Spread, write: Any) -> tuple[str, str]:
    """Return the median, or the range and `n` if there are fewer than ENOUGH values.

    `3m 04s`, `4m 10s–14m 02s` · `n 4`.
    """
    if not values.known:
        return NO_VALUE, ""
    low, middle, high = (write(value or 0.0) for value in (values.low, values.median, values.high))
    if values.known >= ENOUGH:
        return middle, ""
    return (low if low == high else f"{low}–{high}"), f"n {values.known}"


def median_words(values: Spread, write: Any) -> str:
    """Return `a median of 1.80×`, or the range of few values: `1.50×–3.00×`."""
    written, few = median(values, write)
    return written if few else f"a median of {written}"


def completed_words(row: AgentFigures) -> tuple[str, str]:
    """Return the completed runs and the words behind.

    `178` ` completed · 98%`, `33` ` completed of 77 known`, `6` ` of 17 completed`.

    Only runs that started count: the others do not depend on the agent.
    """
    if not row.started:
        return "", "none started"
    if row.unknown_ends:
        return (
            f"{row.completed:,}",
            f" completed of {row.known_ends:,} known"
            if row.known_ends
            else " known to be completed",
        )
    if row.started < 20:
        return f"{row.completed:,}", f" of {row.started:,} completed"
    return f"{row.completed:,}", f" completed · {share(row.completed, row.started)}"


def measured_words(row: AgentFigures) -> tuple[str, str]:
    """Return a number and the words behind it.

    `12` ` faster · 52 same · 7 slower · 2 break`, "" `0 of 96 comparable · 9 break`.
    """
    if not row.runs_measured:
        return "", NOT_MEASURED
    broken = (
        [f"{row.measured['breaks']:,} {'breaks' if row.measured['breaks'] == 1 else 'break'}"]
        if row.measured["breaks"]
        else []
    )
    if not row.comparable:
        return "", " · ".join([f"0 of {row.runs_measured:,} comparable", *broken])
    other = [
        f"{row.measured[name]:,} {MEASURED_CLASSES[name]}"
        for name in ("same", "inside_noise", "slower")
        if row.measured[name]
    ]
    return f"{row.faster:,}", " · ".join([" faster", *other, *broken])


def doubts(faster: int, disputed: int, not_by_median: int, noise_unknown: int) -> str:
    """Return how far to trust the runs measured faster, "" without a doubt.

    Example: `Of the 12 measured faster, 8 are not so by every value of the measurement (4 not by
    the median) and 11 are single measurements of unknown noise.`
    """
    if faster == 1:
        said = ["is not so by every value of the measurement"] if disputed else []
        said[:1] = ["is not so by the median"] if not_by_median else said
        said += ["is a single measurement of unknown noise"] if noise_unknown else []
        return f"The one measured faster {' and '.join(said)}." if said else ""
    median = f" ({number(not_by_median)} not by the median)" if not_by_median else ""
    kinds = (
        (disputed, "not so by every value of the measurement" + median),
        (noise_unknown, "single measurements of unknown noise"),
    )
    said = [
        f"{'all' if count == faster else number(count)} {'is' if count == 1 else 'are'} {kind}"
        for count, kind in kinds
        if count
    ]
    return f"Of the {number(faster)} measured faster, {' and '.join(said)}." if said else ""
