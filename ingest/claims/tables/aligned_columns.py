"""Figures in columns separated by blanks, as tools print them: `2226 ms   1159 ms   (48% faster)`, `29.91n ± 2%   8.09n ± 1%   -72.93%`."""

from __future__ import annotations

import math
import re
from functools import lru_cache

from ingest.claims.judge.ratios import agrees
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.measure import MeasureSource
from ingest.claims.numbers.quantities import Kind, Quantity
from ingest.claims.numbers.units import unit
from ingest.claims.patterns import pattern
from ingest.claims.tables.cells import with_unit
from ingest.claims.tables.header_cells import role_of
from ingest.claims.words.vocabulary import ARROW, BEGINS, METRICS

_SPREAD = r"(?P<size>[nuµμm])?(?:[ \t]{0,2}±[ \t]{0,3}[\d.∞]{1,5}[ \t]?%)?(?:[ \t]\(\d{1,3}\)|(?P<parts>\([\d.]{1,9}\+[\d.]{1,9}\)))?"
"""Behind a figure: a one-letter unit, its uncertainty, and the number of measurements, `29.91n ± 2% (10)`; or the parts of a time."""

_GAP = pattern(rf"{_SPREAD}[ \t]+")
_WIDE_GAP = pattern(rf"{_SPREAD}(?:[ \t]{{2,}}|\t+)")
_LAST_COLUMN = pattern(r"[ \t]*[↓↑▼▲]?[ \t]*(?:$|\||[^\n(]{0,24}\))", re.MULTILINE)
_BEHIND_A_SIGN = pattern(r"[ \t]*(?:\)?$|\||\(p=|x \d)", re.MULTILINE)
_ROW_ENDS = pattern(r"[ \t]*$", re.MULTILINE)

_ONE_LETTER_UNITS = {"n": unit("ns"), "u": unit("µs"), "µ": unit("µs"), "μ": unit("µs"), "m": unit("ms")}

_NUMBERS_AHEAD = 6
"""The numbers of a row read behind the first figure: second figure, change, and the numbers between them."""


def aligned_pair(text: str, found: list[Quantity], index: int) -> Effect | None:
    """The pair of two figures of a row, `found[index]` and the next, with the change in a third column.

    The change must agree with the figures, and have a sign or be last in its row. Without a change, header cells above must name the sides.
    """
    first = found[index]
    ahead = found[index + 1 : index + 1 + _NUMBERS_AHEAD]
    following = [quantity for quantity in ahead if quantity.kind is not Kind.VALUE or not _is_part(text, quantity)]
    if not following or not first.kind is following[0].kind is Kind.VALUE:
        return None
    if text.startswith("  ", first.end):
        if len(following) > 1 and _is_difference(first, *following[:2]):
            if of_size := _function_sizes(text, first, following[0]):
                return of_size
            del following[1]
        if len(following) < 2 or text.find("\n", following[0].end, following[1].start) >= 0:
            return _row_without_change(text, first, following[0])
    if len(following) < 2 or following[1].kind is Kind.VALUE:
        return None
    return _row_with_change(text, first, following[0], following[1])


def _is_part(text: str, quantity: Quantity) -> bool:
    """Whether the quantity is in the bracket behind a figure: `0.57(0.53+0.07)`, user and system time."""
    return text[quantity.start - 1] == "(" or (text[quantity.start - 2 : quantity.start - 1].isdigit() and text[quantity.start - 1] == "+")


_FUNCTION_LIST = pattern(r"bloat-o-meter|\badd/remove: \d|^Total: Before=\d", re.IGNORECASE | re.MULTILINE)


@lru_cache(maxsize=2)
def _lists_functions(text: str) -> bool:
    """Whether the text has output of bloat-o-meter."""
    return _FUNCTION_LIST.search(text) is not None


def _function_sizes(text: str, first: Quantity, second: Quantity) -> Effect | None:
    """`push_node_left   1112   1044   -68`: a pair of function sizes in bytes, as the kernel's bloat-o-meter prints them."""
    if not _lists_functions(text):
        return None
    before, after = (figure.in_unit(unit("bytes"), MeasureSource.OUTPUT) for figure in (first, second))
    return Effect(first.start, second.end, before, after, labels="size of the function ")


def _is_difference(first: Quantity, second: Quantity, third: Quantity) -> bool:
    """Whether the third is the difference of the first two: `4,000   2,000   -2,000`."""
    return third.kind is Kind.VALUE and bool(third.sign) and math.isclose(abs(second.low - first.low), third.low, rel_tol=0.01)


def _row_without_change(text: str, first: Quantity, second: Quantity) -> Effect | None:
    """`load   30 ms   10 ms` below `case   before   after`: a pair at the end of a line; None without such header cells."""
    is_row = first.has_metric_of(second) and _ROW_ENDS.match(text, second.end) and _WIDE_GAP.fullmatch(text, first.end, second.start)
    if not is_row:
        return None
    return _under_headers(text, Effect(first.start, second.end, first, second))


def _row_with_change(text: str, first: Quantity, second: Quantity, change: Quantity) -> Effect | None:
    """`2226 ms   1159 ms   (48% faster)`: a pair with its change; None if they disagree or anything else is between them."""
    signed = bool(change.sign) and bool(_BEHIND_A_SIGN.match(text, change.end))
    gap = (_GAP if signed else _WIDE_GAP).fullmatch(text, first.end, second.start)
    if gap is None and signed and _ARROW.fullmatch(text, first.end, second.start) and first.unit is second.unit is None:
        return _under_metric_title(text, Effect(first.start, change.end, first, second, change))
    behind = _GAP.match(text, second.end, change.start)
    if gap is None or not (signed or _LAST_COLUMN.match(text, change.end)):
        return None
    before, after = _with_one_letter_unit(first, gap), _with_one_letter_unit(second, behind)
    if before.unit and after.unit and before.unit.metric is not after.unit.metric:
        return None
    whole = Effect(first.start, change.end, before, after, change)
    if not agrees(whole, change):
        return None
    is_change = signed or (first.unit and (after.low < before.low or "(" in text[second.end : change.start]))  # growth needs a sign
    if is_change and whole.before and whole.before.unit:
        return whole
    return _below_units(text, whole) or _under_headers(text, whole) or (whole if is_change else None)


_UNITS = pattern(r"[ │|](?P<unit>(?:sec|B|allocs)/op|B/s)[ │|][^\n]*\bvs base\b")
_LAST_HEADER = "vs base"
_UNITS_REACH = 4000
"""Characters above a row that are searched for the line with the unit of its section."""


def _below_units(text: str, effect: Effect) -> Effect | None:
    """`Parse-8   32.0 ± 0%   8.0 ± 0%   -75.00%` below `B/op   B/op   vs base`: benchstat prints the unit once for a section."""
    at = text.rfind(_LAST_HEADER, max(0, effect.start - _UNITS_REACH), effect.start)
    if at < 0 or "\n\n" in text[at : effect.start]:
        return None
    above = _UNITS.search(text, text.rfind("\n", 0, at) + 1, at + len(_LAST_HEADER))
    if not above or not effect.before or not effect.after:
        return None
    named = unit("s" if above["unit"] == "sec/op" else above["unit"])
    before, after = (figure.in_unit(named, MeasureSource.OUTPUT) for figure in (effect.before, effect.after))
    return effect._replace(before=before, after=after)


_MOST_LINES_ABOVE = 30
"""The most lines above a row in which its header cells are searched."""

_LONGEST_HEADER = 400
"""The most characters of a line of header cells: a longer line is data."""

_LABEL = 60
"""The most characters of a row label."""

_ARROW = pattern(rf"[ \t]{{0,3}}{ARROW}[ \t]{{0,3}}")
_METRIC_TITLE = pattern(rf"[^\n]*{BEGINS}(?:{'|'.join(METRICS.values())})[^\n]*:[*_ \t]*$", re.IGNORECASE)
_TITLE_LINES_ABOVE = 12
"""The most lines above a row in which the title of the list is searched."""


def _under_metric_title(text: str, effect: Effect) -> Effect | None:
    """`alpha 4000 -> 5000 +25%` below `Compile time:`: a pair of bare numbers with the title as label, if the percentage agrees."""
    start = text.rfind("\n", 0, effect.start) + 1
    row = text[start : effect.start].strip(" -*:")[:_LABEL]
    for _ in range(_TITLE_LINES_ABOVE if effect.change and agrees(effect, effect.change) else 0):
        end, start = start - 1, text.rfind("\n", 0, max(start - 1, 0)) + 1
        if end <= 0:
            return None
        if end - start <= _LONGEST_HEADER and _METRIC_TITLE.match(text, start, end):
            return effect._replace(labels=f"{text[start:end]} {row} ")
    return None


_COLUMN = pattern(r"\S+(?: \S+)*")


def _under_headers(text: str, effect: Effect) -> Effect | None:
    """The effect with units and labels from the header cells, if a line above names both sides; else None."""
    end = text.rfind("\n", 0, effect.start)
    for _ in range(_MOST_LINES_ABOVE):
        start = text.rfind("\n", 0, max(end, 0)) + 1
        headers = _COLUMN.findall(text[start : max(end, 0)]) if end - start <= _LONGEST_HEADER else []
        if not headers:
            return None
        roles = [role_of(header) for header in headers]
        if "before" in roles and "after" in roles:
            of_before, of_after = roles.index("before"), roles.index("after")
            pair = effect if of_before < of_after else effect._replace(before=effect.after, after=effect.before)
            if pair.before and pair.after:
                pair = pair._replace(before=with_unit(pair.before, headers[of_before]), after=with_unit(pair.after, headers[of_after]))
            words = [header for header, role in zip(headers, roles, strict=True) if role != "change"]
            row = text[text.rfind("\n", 0, effect.start) + 1 : effect.start].strip()[:_LABEL]
            return pair._replace(labels=" | ".join([row, *words]))
        end = start - 1
    return None


def _with_one_letter_unit(figure: Quantity, behind: re.Match[str] | None) -> Quantity:
    """The figure with the one-letter unit behind it, `29.91n`; user and system time in brackets mean seconds."""
    if behind is None or figure.unit is not None:
        return figure
    if behind["parts"]:  # user time + system time
        return figure.in_unit(unit("s"), MeasureSource.OUTPUT)
    return figure.in_unit(_ONE_LETTER_UNITS[behind["size"]], MeasureSource.FIGURE) if behind["size"] else figure
