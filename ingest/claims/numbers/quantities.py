"""Numbers with their units: `2822`, `~1.2 s`, `10-50x`, `+8%`, `1,234 allocs`, `46 chunks/min`, `1m30s`, `$0.12`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from ingest.claims.numbers.measure import MeasureSource
from ingest.claims.numbers.spelled import BEGINNINGS, SPELLED, SPELLED_COUNT, SPELLED_TIME, has_number_words, spelled
from ingest.claims.numbers.units import SCALES, Unit, unit
from ingest.claims.patterns import pattern
from schemas.rows.claim import ClaimMetric


class Kind(Enum):
    """Kinds of quantities."""

    VALUE = "a value, with a unit or bare"
    TIMES = "a multiplier"
    PERCENT = "a percentage"


class Quantity(NamedTuple):
    """A number or range of a text. `low` and `high` are as written, in `unit`; `sign` is `+`, `-` or empty."""

    start: int
    end: int
    kind: Kind
    low: float
    high: float
    unit: Unit | None
    hedged: bool
    sign: str
    source: MeasureSource = MeasureSource.FIGURE
    """Where the unit was found; without a unit it has no meaning."""

    def in_unit(self, stated: Unit | None, source: MeasureSource) -> Quantity:
        """The bare number with a unit stated elsewhere in the text; unchanged, if `stated` is None."""
        return self._replace(unit=stated, source=source) if stated else self

    @property
    def metric(self) -> ClaimMetric | None:
        """The metric of the unit, if it has one."""
        return self.unit.metric if self.unit else None

    @property
    def is_range(self) -> bool:
        """Whether it is a range: `10-50x`."""
        return self.low != self.high

    def has_metric_of(self, other: Quantity) -> bool:
        """Whether both are values with units of the same metric: `2 s` and `300 ms`."""
        return self.kind is other.kind is Kind.VALUE and self.metric is not None and self.metric is other.metric

    def within(self, low: float, high: float) -> bool:
        """Whether the number, as written, is between the bounds, both inclusive."""
        return low <= self.low <= self.high <= high

    def scaled(self) -> tuple[float, float]:
        """Lower and upper end, scaled to base units: seconds, bytes, per second, pieces."""
        size = self.unit.size if self.unit else 1.0
        return self.low * size, self.high * size


CLOCK = Unit("s", ClaimMetric.TIME, 1.0)
"""The unit of `3:15`, which may also be a time of day, a ratio or a line number: a pair only beside a word for a timed task."""

_SPREAD = r"(?:\s{0,2}±\s{0,4}[\d.]{1,9}(?:\s?%|\s?[a-zµμ]{1,3}(?:/s)?(?![A-Za-z0-9_]))?)"
"""The uncertainty of a measured number, `± 10 ms`; it is skipped."""

_SPREAD_UNIT = pattern(r".*±[\s\d.]*", re.DOTALL)
"""A number and its uncertainty, in `840 ± 10 ms`: the unit that follows belongs to both."""

_NAMES_WITH_X = r"(?:86|64|32|16|509|26[45]|11|25)\b"
"""`x86`, `x509`: names of machines and formats, no factors."""

_GROUPED = (
    r"(?:(?<=from\s)|(?<=\sto\s))\d{1,3}(?:\ \d{3}){1,5}(?!\d)|\d{1,3}(?:[,\u00a0\u2009\u202f']\d{3}){1,5}(?:\.\d{1,15})?"
    r"|\d{1,3}(?:\ \d{3}){1,5}(?=[*_`]{0,3}\s*(?:[|(]|$))"
    r"|(?:(?<=\|\ )|(?<=\|\ \*\*))\d{1,3}(?:\ \d{3}){1,5}(?=\s(?:[mnµμ]?s|sec|[kKMG]i?B|bytes)\b)"
)
"""Grouped thousands: `1,234`; `1 234` only in `from … to`, at the end of a cell or before a bracket, or in a cell with a unit."""

_RATIO = r"~?[\d.,]{1,9}\s?(?:[x×%]|times\b|-?fold|percent\b)"
"""The upper end of a range of factors or percentages, looked at ahead of it."""

_RANGE_DASH = (
    r"(?:--?|[–—]|~(?=\d)|\.{2,3}(?=\d)|(?<=[\dx×%])\s[–—]\s|(?<![\dx×%])\s[–—]\s(?!~?[\d.,]{1,9}\s?[x×%])"
    r"|(?<=[\dx×%])\s-\s(?=~?[\d.,]{1,9}\s?(?:[x×%]|times\b))"
    rf"|(?(between)[*_`]{{0,2}}\sand\s[*_`]{{0,2}}(?={_RATIO})|(?!))"
    rf"|(?(from)(?!)|[*_`]{{0,2}}\sto\s[*_`]{{0,2}}(?=(?P=sign)?{_RATIO})))"
)
"""Between the ends of a range. The word `to` only between factors and percentages, and not in `from … to`, which is a pair; `and` only
between those behind `between`."""

_NUMBER = (
    rf"(?:{_GROUPED}|\d{{1,4}},\d{{1,2}}(?![\d,])|\d{{1,3}}[½¼¾]|\d{{1,15}}(?:\.\d{{1,20}})?(?:e[+-]?\d{{1,2}}(?!\w))?|\.\d{{1,6}})"
    r"(?!\.?\d)"
)
_SCALE = r"(?-i:[kKMG万]|B(?=\s(?:ops?|operations|req\w*|rows|records|events|tok\w*|msgs|messages|items|keys|elements)\b))(?!\w)"
"""Right behind a number; `B` for billions only before things that are counted: `4.9B ops/sec`, but `4.9B` of memory."""

_BEFORE_DIGITS = r"~≈≤≥∼<>+\-−–↓↑⬇⬆▼▲$×÷xX"
_FIGURE = rf"(?-i:\d|\.\d|[{_BEFORE_DIGITS}][{_BEFORE_DIGITS}\ufe0f\s]{{0,8}}\d)"
"""The beginning of a number in digits: a digit, or signs right before one."""


def _quantity_that_begins(beginning: str) -> re.Pattern[str]:
    """The expression of a quantity whose beginning is of that kind: tested first, it skips most places of a text."""
    return pattern(
        rf"""
    (?={beginning})(?<![A-Za-z0-9_.\#,\\])(?<![^x×%]/)(?<![A-Za-z]\+)(?<![A-Z]-)(?<![a-z]\d-)(?<![a-z]{{4}}-)(?<!\d{{4}}-\d\d)(?<!\d{{4}}-\d\d-)
    (?P<from>(?<=from\s))?(?P<between>(?:(?<=between\s)|(?<=between\s`)|(?<=between\s\*\*)))?
    (?P<mark>(?:(?<!~)~(?!~)|[≈≤≥∼])\s?|(?<![-=<>])[<>]\s?)?
    (?P<sign>[+\-−–]|minus\s(?=[~\d])|[↓↑⬇⬆▼▲]\ufe0f?[\ \t]?)?
    (?P<money>\$)?
    (?:
      (?=[a-z])(?:(?P<word>{SPELLED})(?:\s(?:to|or)\s(?P<most>{SPELLED}))?|(?P<article>(?:(?<=than\s|nder\s|from\s|over\s)|(?<=\sto\s))an?|half\san?(?=\s[smh])))
      (?:(?:[\s-]times|-?fold|mal)\b|[\s-](?P<spelled_unit>{SPELLED_TIME})\b(?P<and_half>\sand\sa\shalf\b)?)
    |
      (?<=from\s)(?P<counted>{SPELLED})\s(?P<counted_unit>{SPELLED_COUNT})\b
    |
      (?<=\sto\s)(?P<target>{SPELLED}|a\ssingle)(?![\w'’-]|\s(?:or|of|x|times|more|other|another|way|side)\b)
    |
      sub-(?P<below>milli|micro)?second
    |
      (?P<hours>\d{{1,3}})\s?h(?:rs?|ours?)?\s?(?:and\s)?(?P<hour_minutes>\d{{1,2}})\s?m(?:in(?:ute)?s?)?\b
    |
      (?P<minutes>\d{{1,4}})\s?(?:m|min(?:ute)?s?)(?:\s|\sand\s|,\s)?(?P<seconds>\d{{1,2}}(?:\.\d+)?)\s?s(?:ec(?:ond)?s?)?\b(?:/[a-z]{{2,12}}\b)?
      (?:\s?[-–—]\s?(?P<most_minutes>\d{{1,4}})\s?m(?:in)?\s?(?P<most_seconds>\d{{1,2}}(?:\.\d+)?)\s?s\b)?
    |
      (?P<short_minutes>\d{{1,3}})m(?P<short_seconds>[0-5]\d)(?:\s?[-–—]\s?(?P<short_most>\d{{1,3}}m[0-5]\d))?(?![\w:]|\.\d)
    |
      (?<!\d\s)(?:[×÷]|x(?!{_NAMES_WITH_X}))(?P<prefixed>\d{{1,4}}(?:\.\d{{1,2}})?)(?![\w./-]|\s?[x×])
    |
      (?P<clock>\d{{1,3}}:[0-5]\d(?::[0-5]\d)?(?:\.\d{{1,3}})?)(?P<timed>\s?min(?:ute)?s?\b)?(?![\w:]|\s?[ap]\.?m\b)
    |
      (?P<low>{_NUMBER})(?P<low_scale>{_SCALE})?(?P<low_plus>\+(?!\d))?(?:{_SPREAD}(?=\s?[x×]|\s+times\b))?
      (?:(?P<low_unit>[a-zµμ%×]{{1,2}}|[KMG]i?B)?{_RANGE_DASH}(?P=sign)?~?\$?(?P<high>{_NUMBER})(?P<high_scale>{_SCALE})?(?P<high_plus>\+(?!\d))?)?
      (?P<unit>\s?[%٪](?!\d)|\s?×(?![\dA-Z])|x(?![A-Za-z0-9_])|\sx(?=\s(?:fast|slow|speed|small|less|low|few|more|high|improv))|\s?-?fold\b|\s?倍|\s?-?(?:times|mal)\b|\sPercent\b|\s?pct\b|\sProzent\b
        |\s?(?:毫秒|秒|分钟|小时|次|字|밀리초|초|분|시간)
        |\s?/\s?(?:s|sec|min|h)(?![\w/])
        |(?:(?:\*\*)?[\s-]{{0,2}}|\n[ \t]{{1,12}})
          (?:(?:SQL|DB|API|HTTP)\s(?=quer|call|request|hit|round|statement)|(?:total|output|input|prompt|generated)\s(?=tok))?[A-Za-zµμ]{{1,14}}(?:-trips?)?
          (?:(?:/|\ per\ |\s/\s(?=(?:s|sec|min|h|hour)\b))[A-Za-z]{{1,12}})?(?![A-Za-z0-9_])
      )?
      {_SPREAD}?
    )
    (?P<plus>\+(?![\d\w])|~(?![~\d\w]))?
    """,
        re.VERBOSE | re.IGNORECASE,
    )


OF_FIGURES = _quantity_that_begins(_FIGURE)
OF_FIGURES_OR_WORDS = _quantity_that_begins(rf"(?-i:[\d{_BEFORE_DIGITS}])|{BEGINNINGS}")
_NUMBER_GOES_ON = pattern(r"[^\W_]|/\d")
"""`3rd`, `1/60`: the number is part of a word or fraction."""

_SECOND_LENGTH = pattern(r"(?<=\s[x×X])\s?\d")
"""`1024 x 768` is a size."""

_DATE = pattern(r"(?:19|20)\d\d-[01]\d$")
"""The beginning of `2026-02-16`."""

_MULTIPLIERS = {"x", "X", "×", "fold", "-fold", "times", "mal", "-mal", "倍"}
_PERCENT = {"%", "٪", "pct", "percent", "Percent", "Prozent"}
_MOST_MINUTES = 240
"""`512m` is memory, not minutes."""

_MODEL_NUMBER = 1000
"""`7950X` is a processor, not a factor."""

_SPEED_BEHIND = pattern(r"[\s*_`]{0,4}(?:speed|fast|quick|improv|fewer|less\b|smaller|lower|higher|better|reduc)", re.IGNORECASE)


def quantities(text: str, start: int, end: int) -> Iterator[Quantity]:
    """The quantities of the text between `start` and `end`, in order."""
    expression = OF_FIGURES_OR_WORDS if has_number_words(text[start:end]) else OF_FIGURES
    for match in expression.finditer(text, start, end):
        found = _quantity(match) if match["low"] else _composed_quantity(match)
        if found is not None:
            yield found


_ROUND_BELOW = 10


def is_round(figure: Quantity) -> bool:
    """Whether it is a number that people set and seldom measure: below 10, a multiple of 5 or 12, or a power of two."""
    if figure.low != figure.high or figure.low != int(figure.low):
        return False
    whole = int(figure.low)
    return whole < _ROUND_BELOW or whole % 5 == 0 or whole % 12 == 0 or whole.bit_count() == 1


_SIGNS = {"m": "-", "M": "-", "−": "-", "–": "-", "↓": "-", "⬇": "-", "▼": "-", "↑": "+", "⬆": "+", "▲": "+"}


def _sign(written: str | None) -> str:
    """`+`, `-` or empty for a sign as written: `−`, `minus`, `↓`."""
    return _SIGNS.get(written[0], written) if written else ""


def _composed_quantity(match: re.Match[str]) -> Quantity:
    """The quantity of several numbers or of words: `1m30s`, `2h10m`, `three times`, `ten seconds`, `sub-second`."""
    kind, is_below = Kind.VALUE, False
    if duration := _duration(match):
        low, high, named = duration
    elif match["prefixed"]:
        low = high = float(match["prefixed"])
        kind, named = Kind.TIMES, None
    elif worded := match["word"] or match["article"]:
        low = spelled(worded) + (0.5 if match["and_half"] else 0.0)
        high = max(low, spelled(match["most"])) if match["most"] else low
        kind, named = (Kind.VALUE, unit(match["spelled_unit"])) if match["spelled_unit"] else (Kind.TIMES, None)
    elif counted := match["counted"] or match["target"]:
        low = high = spelled(counted)
        named = unit(match["counted_unit"] or "")
    else:
        low, high, named, is_below = 1.0, 1.0, unit(f"{match['below'] or ''}second"), True
    return Quantity(match.start(), match.end(), kind, low, high, named, bool(match["mark"]) or is_below, _sign(match["sign"]))


def _duration(match: re.Match[str]) -> tuple[float, float, Unit | None] | None:
    """Lower end, upper end and unit of `1m30s`, `3m10-3m50`, `2h10m`, `3:15`; None for anything else."""
    if match["minutes"]:
        low = _seconds(match["minutes"], match["seconds"])
        return low, max(low, _seconds(match["most_minutes"], match["most_seconds"])), unit("s")
    if match["short_minutes"]:
        low = _seconds(match["short_minutes"], match["short_seconds"])
        return low, max(low, _seconds(*(match["short_most"] or "0m0").split("m"))), unit("s")
    if match["hours"]:
        hours = float(match["hours"]) + float(match["hour_minutes"]) / 60
        return hours, hours, unit("h")
    if match["clock"]:
        seconds = 0.0
        for part in match["clock"].split(":"):
            seconds = seconds * 60 + float(part)
        return seconds, seconds, unit("s") if match["timed"] else CLOCK
    return None


def _seconds(minutes: str | None, seconds: str | None) -> float:
    """`1`, `30` of `1m30s` are 90."""
    return float(minutes or 0) * 60 + float(seconds or 0)


def _quantity(match: re.Match[str]) -> Quantity | None:
    """The quantity of a match; None if the number is part of a word or date: `5x100`, `3rd`, `2026-02-16`."""
    low = _number(match["low"], match["low_scale"])
    high = _number(match["high"], match["high_scale"]) if match["high"] else low
    if match["high"] and match["high_scale"] and not match["low_scale"]:
        low *= SCALES[match["high_scale"]]  # 5-10k
    kind, named, end = _kind_and_unit(match, low)
    if named is None and (match["unit"] == "N" or (match["high"] and _DATE.match(match[0]))):  # `2N`
        return None
    is_length = kind is Kind.TIMES and _SECOND_LENGTH.match(match.string, match.end())
    if is_length or (match["unit"] is None and _NUMBER_GOES_ON.match(match.string, match.end())):
        return None
    hedged = bool(match["mark"] or match["plus"] or match["low_plus"] or match["high_plus"])
    low *= _relative_size(match["low_unit"], named)
    high = max(low, high)  # 2026-01, lines 47-12: no range
    return Quantity(match.start(), end, kind, low, high, named, hedged, _sign(match["sign"]))


def _relative_size(low_unit: str | None, named: Unit | None) -> float:
    """The unit of the lower end relative to that of the range: 0.001 for `800 ms-1.5 s`, 1 where both are the same."""
    own = unit(low_unit) if low_unit and named else None
    return own.size / named.size if own and named and own.metric is named.metric else 1.0


_FRACTIONS = {"½": 0.5, "¼": 0.25, "¾": 0.75}
_THOUSANDS_SEPARATORS = pattern("[,' \u00a0\u2009\u202f]")


def _number(digits: str, scale: str | None) -> float:
    """The number as written: `1,234` is 1234, `2,5` is 2.5 (a decimal comma before one or two digits), `5k` is 5000, `1½` is 1.5."""
    try:
        return float(digits) * (SCALES[scale] if scale else 1.0)
    except ValueError:
        return _with_separators(digits) * (SCALES[scale] if scale else 1.0)


def _with_separators(digits: str) -> float:
    """The number of digits with separators or a fraction behind them."""
    if digits[-1] in _FRACTIONS:
        return float(digits[:-1]) + _FRACTIONS[digits[-1]]
    head, comma, tail = digits.rpartition(",")
    plain = f"{head}.{tail}" if comma and len(tail) < 3 and "." not in tail else _THOUSANDS_SEPARATORS.sub("", digits)
    return float(plain)


def _kind_and_unit(match: re.Match[str], number: float) -> tuple[Kind, Unit | None, int]:
    """Kind, unit and end of the quantity. A word behind the number that is no known unit is not part of the quantity."""
    written = match["unit"]
    bare = written.strip() if written else ""
    if bare in _MULTIPLIERS and not (
        bare in "xX" and number >= _MODEL_NUMBER and "," not in match["low"] and not _SPEED_BEHIND.match(match.string, match.end())
    ):
        return Kind.TIMES, None, match.end()
    if bare in _PERCENT:
        return Kind.PERCENT, None, match.end()
    if match["money"]:
        return Kind.VALUE, Unit("$", ClaimMetric.COST, 1.0), match.start("unit") if written else match.end()
    named = unit(bare.lstrip("-")) if bare and not (bare == "m" and number > _MOST_MINUTES) else None
    if named is None and not written and "±" in match[0]:  # `840 ± 10 ms`
        named = unit(_SPREAD_UNIT.sub("", match[0]))
    if named is None:
        return Kind.VALUE, None, match.start("unit") if written else match.end()
    return Kind.VALUE, named, match.end()
