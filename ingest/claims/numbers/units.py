"""Units of performance quantities: their metrics and sizes, from `words/units.toml`."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ingest.claims.words.word_tables import table
from schemas.rows.claim import ClaimMetric


class Unit(NamedTuple):
    """A unit as written, its metric, and its size in base units: seconds, bytes, per second or pieces."""

    name: str
    metric: ClaimMetric
    size: float


_KNOWN_UNITS = {
    name: (ClaimMetric(metric), size) for metric, rows in table("units").items() for names, size, *_ in rows for name in names.split()
}
"""Metric and size of each spelling of a unit."""

_QUALIFIERS = ("SQL ", "DB ", "API ", "HTTP ", "sql ", "db ", "api ", "http ", "total ", "output ", "input ", "prompt ", "generated ")
"""`40 SQL queries`, `3020 total tokens/s`: words before the unit that are skipped."""

_PER_TIME = {
    name: seconds
    for names, seconds in (("s sec second 秒", 1.0), ("min minute", 60.0), ("h hr hour", 3600.0), ("day night", 86400.0))
    for name in names.split()
}
"""Length in seconds of a time behind `/` or `per`."""

_LONG_TIMES = ("h", "hr", "hour", "day", "night")
"""`3 GB/day` is the volume of a log, `12 MB/hour` a leak: memory, not throughput."""

SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "万": 1e4}
"""Multipliers of suffixes: `40k`."""


@lru_cache(maxsize=1024)
def unit(words: str) -> Unit | None:
    """The unit in the words behind a number: `ms`, `req/s`, `ms/step`, `tokens per second`; None if they name none.

    Anything per time is a throughput, even of an unknown noun: `widgets/s`. A unit per anything else is the unit: `ms/step` is a time.
    """
    name = " ".join(words.split()).replace(" / ", "/")
    name = name.partition(" ")[2] if name.startswith(_QUALIFIERS) else name
    counted, _, per = name.replace(" per ", "/").partition("/")
    known = _KNOWN_UNITS.get(counted.strip().lower())
    is_volume = per in _LONG_TIMES and known is not None and known[0] is ClaimMetric.MEMORY
    if per in _PER_TIME and counted in ("m", "km", "px"):  # metres per second: a speed of motion
        return None
    if per in _PER_TIME and not is_volume:
        size = known[1] if known and known[0] is ClaimMetric.MEMORY else _prefix_size(counted, _COUNTABLE)
        return Unit(name, ClaimMetric.THROUGHPUT, size / _PER_TIME[per])
    if known is None and not per and _prefix_size(counted, _RATES) > 1:
        return Unit(name, ClaimMetric.THROUGHPUT, _prefix_size(counted, _RATES))
    return Unit(name, *known) if known else None


_REQUESTS = frozenset(["req", "reqs", "request", "requests"])
_TOKENS = frozenset(["tok", "toks", "token", "tokens"])


def are_of_one_measure(first: Unit, second: Unit) -> bool:
    """Whether figures in both units can be compared: of one metric, and not requests and tokens per second."""
    counted = {unit.name.partition("/")[0] for unit in (first, second)}
    return first.metric is second.metric and not (counted & _REQUESTS and counted & _TOKENS)


_RATES = frozenset(["rps", "qps", "tps", "nps", "ips", "iops"])
_COUNTABLE = frozenset(
    "op ops req reqs request requests tok toks token tokens row rows msg msgs item items it rec records events".split()  # noqa: SIM905
)


def _prefix_size(counted: str, known: frozenset[str]) -> float:
    """The multiplier of a prefix before a known word, 1e6 for `Mnps` and `Mops`; 1 without a prefix."""
    return SCALES.get(counted[:1], 1.0) if counted[1:] in known else 1.0
