"""Numbers with their units, and the effects that are made of them.

Examples: `~1.2 s`, `10-50x`, `1,234 allocs`, `46 chunks/min`, `1m30s`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from re import IGNORECASE, VERBOSE, Match
from typing import NamedTuple

from ingest.claims.words import Sense
from ingest.literals import pattern
from schemas.claims import ClaimMetric


class ClaimUnit(NamedTuple):
    """A unit as written: what it measures, and its size in seconds, bytes, per second or pieces."""

    name: str
    metric: ClaimMetric
    size: float


def _each(metric: ClaimMetric, sizes: dict[str, float]) -> dict[str, tuple[ClaimMetric, float]]:
    return {name: (metric, size) for names, size in sizes.items() for name in names.split()}


_SIZES = {
    **_each(
        ClaimMetric.TIME,
        {
            "ns nsec nanosecond nanoseconds": 1e-9,
            "µs μs us usec microsecond microseconds": 1e-6,
            "ms msec msecs millisecond milliseconds": 1e-3,
            "s sec secs second seconds": 1.0,
            "m min mins minute minutes": 60.0,
            "h hr hrs hour hours": 3600.0,
            "d day days": 86400.0,
        },
    ),
    **_each(
        ClaimMetric.MEMORY,
        {
            "b byte bytes": 1.0,
            "kb kilobytes": 1e3,
            "mb megabyte megabytes": 1e6,
            "gb gigabyte gigabytes": 1e9,
            "tb terabyte terabytes": 1e12,
            "kib ki": 1024.0,
            "mib mi": 1024.0**2,
            "gib gi": 1024.0**3,
            "tib ti": 1024.0**4,
        },
    ),
    **_each(
        ClaimMetric.THROUGHPUT,
        {
            "rps qps tps fps nps ips iops flops": 1.0,
            "kflops kbps": 1e3,
            "mflops mbps": 1e6,
            "gflops gbps": 1e9,
            "tflops": 1e12,
        },
    ),
    **_each(ClaimMetric.OTHER, {"ma mw mah": 1e-3, "w j wh watts joules": 1.0, "kw kj kwh": 1e3}),
    **_each(ClaimMetric.TOKENS, {"token tokens": 1.0}),
    **_each(ClaimMetric.COST, {"usd dollars": 1.0, "cents": 0.01}),
    **_each(
        ClaimMetric.OPERATIONS,
        {
            (
                "alloc allocs allocation allocations realloc reallocs reallocations query "
                "queries call calls request requests"
            ): 1.0,
            (
                "syscall syscalls launch launches sync syncs copies memcpy memcpys dispatches "
                "lookups roundtrips round-trips"
            ): 1.0,
            (
                "renders re-renders rerenders encodes instructions cycles passes misses spawns "
                "forks reads writes fetches"
            ): 1.0,
            (
                "scans hits invocations transactions subprocesses compilations round-trip "
                "kernels barriers flushes fsyncs"
            ): 1.0,
        },
    ),
}
_PER_TIME = {
    name: size
    for size, names in (
        (1.0, "s sec second"),
        (60.0, "min minute"),
        (3600.0, "h hr hour"),
        (86400.0, "day night"),
    )
    for name in names.split()
}
SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9}


@lru_cache(maxsize=1024)
def unit(words: str) -> ClaimUnit | None:
    """Return the unit named by the words behind a number.

    `ms`, `req/s`, `ms/step`, `tokens per second`; None for other words.

    A quantity per time is a throughput, even of an unknown thing; a unit per anything else is
    itself.
    """
    name = " ".join(words.split())
    counted, _, per = name.replace(" per ", "/").replace(" / ", "/").partition("/")
    known = _SIZES.get(counted.strip().lower())
    # Not a throughput: `3 GB/day` is the volume of a log.
    is_volume = per in ("day", "night") and known is not None and known[0] is ClaimMetric.MEMORY
    if per in _PER_TIME and counted in ("m", "km", "px"):  # per second: how fast something moves
        return None
    if per in _PER_TIME and not is_volume:
        size = known[1] if known and known[0] is ClaimMetric.MEMORY else 1.0
        return ClaimUnit(name, ClaimMetric.THROUGHPUT, size / _PER_TIME[per])
    return ClaimUnit(name, *known) if known else None


class Kind(Enum):
    """What a number is by itself."""

    VALUE = "a value, with a unit or bare"
    TIMES = "a multiplier"
    PERCENT = "a percentage"


class Quantity(NamedTuple):
    """A number or range of a text; `low` and `high` are as written, in `unit`.

    `sign` is that of a signed number, else an empty string.
    """

    start: int
    end: int
    kind: Kind
    low: float
    high: float
    unit: ClaimUnit | None
    hedged: bool
    sign: str

    @property
    def metric(self) -> ClaimMetric | None:
        """The metric of the unit; None without a unit."""
        return self.unit.metric if self.unit else None

    @property
    def is_range(self) -> bool:
        """Whether it is a range, as `10-50x`."""
        return self.low != self.high

    def within(self, low: float, high: float) -> bool:
        """Return whether the number as written is between both."""
        return low <= self.low <= self.high <= high

    def scaled(self) -> tuple[float, float]:
        """Return both ends in base units (seconds, bytes, per second, pieces)."""
        size = self.unit.size if self.unit else 1.0
        return self.low * size, self.high * size


NUMBER_WORDS = {
    word: float(number)
    for number, word in enumerate(
        ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 2
    )
}
"""Numbers written out before `times` and `fold`."""

_WORDS = NUMBER_WORDS | {"zwei": 2.0, "drei": 3.0, "vier": 4.0, "fünf": 5.0}
_SPREAD = r"(?:\s{0,2}±\s{0,2}[\d.]{1,9}(?:\s?%|\s?[a-zµμ]{1,2}(?![A-Za-z0-9_]))?)"
"""The uncertainty of a measured number, which is skipped."""

_NUMBER = (
    r"(?:\d{1,3}(?:,\d{3}){1,5}(?:\.\d{1,15})?|\d{1,4},\d{1,2}(?![\d,])|\d{1,15}(?:\.\d{1,"
    r"15})?(?:e[+-]?\d{1,2}(?!\w))?)(?!\.?\d)"
)
_QUANTITY = pattern(
    rf"""
    (?<![A-Za-z0-9_./\#,\\])
    (?P<mark>[~≈≤≥∼]\s?|(?<![-=<>])[<>]\s?)?
    (?P<sign>[+\-−–])?
    (?P<money>\$)?
    (?:
      (?P<word>{"|".join(_WORDS)})(?:[\s-]times|-?fold|mal)\b
    |
      sub-(?P<below>milli|micro)?second
    |
      (?P<hours>\d{{1,3}})\s?h\s?(?P<hour_minutes>\d{{1,2}})\s?m(?:in)?\b
    |
      (?P<minutes>\d{{1,4}})\s?(?:m|min)\s?(?P<seconds>\d{{1,2}}(?:\.\d+)?)\s?s(?:ec(?:ond)?s?)?\b
    |
      (?P<low>{_NUMBER})(?P<low_scale>(?-i:[kKMG](?![\w])|B(?=\s\w+/s)))?(?P<low_plus>\+(?!\d))?(?:{_SPREAD}(?=\s?[x×]|\s+times\b))?
      (?:(?P<low_unit>[a-zµμ%×]{{1,2}}|[KMG]i?B)?(?:--?|[–—]|\s[–—]\s|(?<=[x×%])\s-\s(?=[\d.]{{1,9}}\s?[x×%])|(?<!from\s\d)(?<!from\s\d\d)(?<!from\s\d[x×%])(?<!from\s\d\d[x×%])(?<!from\s\d\.\d[x×%])\sto\s(?=~?[\d.,]{{1,9}}\s?(?:[x×%]|times\b|-?fold)))[~]?\$?(?P<high>{_NUMBER})(?P<high_scale>(?-i:[kKMG](?![\w])|B(?=\s\w+/s)))?(?P<high_plus>\+(?!\d))?)?
      (?P<unit>\s?[%×٪](?!\d)|x(?![A-Za-z0-9_])|\sx(?=\s(?:fast|slow|speed|small|less|low|few|more|high|improv))|\s?-?fold\b|\s?-?(?:times|mal)\b|\sPercent\b|\sProzent\b
        |/(?:s|sec|min|h)(?![\w/])
        |(?:[\s-]{{0,2}}|\n[ \t]{{1,12}})[A-Za-zµμ]{{1,14}}(?:-trips?)?(?:(?:\s?/\s?|\ per\ )[A-Za-z]{{1,12}})?(?![A-Za-z0-9_])
      )?
      {_SPREAD}?
    )
    (?P<plus>\+(?![\d\w]))?
    """,  # noqa: E501
    VERBOSE | IGNORECASE,
)
_GOES_ON = pattern(r"[^\W_]|/\d")
"""`3rd`, `1/60`: the number is part of a word or a fraction."""

_MOST_MINUTES = 240
"""Larger is memory: `512m`."""

_MODEL_NUMBER = 1000
"""Larger is a model number: `7950X`."""


def quantities(text: str, start: int, end: int) -> Iterator[Quantity]:
    """Yield the quantities of that part of the text, in order."""
    for match in _matches(text, start, end):
        found = _quantity(match) if match["low"] else _in_words(match)
        if found is not None:
            yield found


_DIGIT = pattern(r"[0-9](?<![A-Za-z0-9_./#,\\][0-9])")
"""A digit that no quantity's lookbehind excludes."""

_SIGNS = {"+": "+", "-": "-", "−": "-", "–": "-"}


def _matches(text: str, start: int, end: int) -> Iterator[Match[str]]:
    """Yield the matches of `_QUANTITY`.

    In a text without number words it is tried only around digits, which is four times as fast.
    """
    part = text[start:end]
    if [word for word in ("times", "fold", "mal", "sub-", "Times", "Sub-") if word in part]:
        yield from _QUANTITY.finditer(text, start, end)
        return
    floor, match = start, _QUANTITY.match
    while digit := _DIGIT.search(text, floor, end):
        begin = at = digit.start()
        while begin > floor and begin > at - 4 and text[begin - 1] in "~≈≤≥∼<>+-−–$ ":
            begin -= 1
        floor = at + 1
        for first in range(begin, floor):
            if found := match(text, first, end):
                yield found
                floor = max(floor, found.end())
                break


def _in_words(match: Match[str]) -> Quantity | None:
    """Return the quantity of `1m30s`, `2h10m`, `three times`, `sub-second`."""
    sign, start, end = _SIGNS.get(match["sign"] or "", ""), match.start(), match.end()
    if match["minutes"]:
        seconds = float(match["minutes"]) * 60 + float(match["seconds"])
        return Quantity(
            start, end, Kind.VALUE, seconds, seconds, unit("s"), bool(match["mark"]), sign
        )
    if match["hours"]:
        hours = float(match["hours"]) + float(match["hour_minutes"]) / 60
        return Quantity(start, end, Kind.VALUE, hours, hours, unit("h"), bool(match["mark"]), sign)
    if match["word"]:
        if (
            factor := _WORDS.get(match["word"].lower())
        ) is None:  # `ſix`, which has the letters of `six` by Unicode's rules of case
            return None
        return Quantity(start, end, Kind.TIMES, factor, factor, None, bool(match["mark"]), sign)
    return Quantity(
        start, end, Kind.VALUE, 1.0, 1.0, unit(f"{match['below'] or ''}second"), True, sign
    )


def _quantity(match: Match[str]) -> Quantity | None:
    """Return the matched quantity; None if the number is part of a word: `5x100`, `3rd`."""
    low = _number(match["low"], match["low_scale"])
    high = _number(match["high"], match["high_scale"]) if match["high"] else low
    if match["high"] and match["high_scale"] and not match["low_scale"]:
        low *= SCALES[match["high_scale"]]  # 5-10k
    kind, named, end = _unit(match)
    if match["unit"] is None and _GOES_ON.match(match.string, match.end()):
        return None
    hedged = bool(match["mark"] or match["plus"] or match["low_plus"] or match["high_plus"])
    high = max(low, high)  # 2026-01, lines 47-12: no range
    return Quantity(
        match.start(), end, kind, low, high, named, hedged, _SIGNS.get(match["sign"] or "", "")
    )


def _number(digits: str, scale: str | None) -> float:
    """Return the number.

    Commas group thousands in threes; one before one or two digits is a decimal comma.
    """
    head, comma, tail = digits.rpartition(",")
    plain = (
        f"{head}.{tail}" if comma and len(tail) < 3 and "." not in tail else digits.replace(",", "")
    )
    return float(plain) * (SCALES[scale] if scale else 1.0)


def _unit(match: Match[str]) -> tuple[Kind, ClaimUnit | None, int]:
    """Return the kind, the unit and the end of a quantity; words that are no unit stay outside."""
    written = match["unit"]
    bare = written.strip() if written else ""
    if bare in {"x", "X", "×", "fold", "-fold", "times", "mal", "-mal"} and not (
        bare == "X" and float(match["low"].replace(",", "")) >= _MODEL_NUMBER
    ):
        return Kind.TIMES, None, match.end()
    if bare in {"%", "٪", "percent", "Percent", "Prozent"}:
        return Kind.PERCENT, None, match.end()
    if match["money"]:
        return (
            Kind.VALUE,
            ClaimUnit("$", ClaimMetric.COST, 1.0),
            match.start("unit") if written else match.end(),
        )
    named = (
        unit(bare.lstrip("-"))
        if bare and not (bare == "m" and float(match["low"].replace(",", "")) > _MOST_MINUTES)
        else None
    )
    if named is None:
        return Kind.VALUE, None, match.start("unit") if written else match.end()
    return Kind.VALUE, named, match.end()


class Effect(NamedTuple):
    """One expression of a change before it is judged.

    A pair of figures, a factor or percentage, or both.

    `before` is the baseline figure, `after` the candidate figure; a candidate figure alone is an
    absolute saving. `sense` is that of `word`, the word of comparison. `is_order_open`: the words
    do not say which figure is the baseline (`46 ms vs 51 ms`). Offsets are code points.
    """

    start: int
    end: int
    before: Quantity | None = None
    after: Quantity | None = None
    change: Quantity | None = None
    sense: Sense | None = None
    word: str = ""
    is_order_open: bool = False
    is_idiom: bool = False
    labels: str = ""
    """Words that name the metric, if they are not right before the effect."""

    @property
    def is_pair(self) -> bool:
        """Whether it has both figures."""
        return self.before is not None and self.after is not None

    @property
    def unit(self) -> ClaimUnit | None:
        """The unit of a pair: that of the candidate figure, else that of the baseline figure."""
        if self.before is None or self.after is None:
            return None
        return self.after.unit or self.before.unit

    @property
    def rises(self) -> bool:
        """Whether the candidate figure is the larger one; a unit given once applies to both."""
        before, after = (
            (figure.low, figure.unit or self.unit) for figure in (self.before, self.after) if figure
        )
        return after[0] * (after[1].size if after[1] else 1) > before[0] * (
            before[1].size if before[1] else 1
        )

    def reversed(self) -> Effect:
        """Return the pair with its figures exchanged."""
        return self._replace(before=self.after, after=self.before)
