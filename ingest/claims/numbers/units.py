"""Units of performance quantities: what they measure and how large they are."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ingest.claims.words.word_tables import table
from schemas.rows.claim import ClaimMetric


class Unit(NamedTuple):
    """A unit as written: what it measures, and its size in seconds, bytes, per second or pieces."""

    name: str
    metric: ClaimMetric
    size: float


_KNOWN_UNITS = {
    name: (ClaimMetric(metric), size) for metric, rows in table("units").items() for names, size, *_ in rows for name in names.split()
}
"""What each spelling of a unit measures, and its size."""

_QUALIFIERS = ("SQL ", "DB ", "API ", "HTTP ", "sql ", "db ", "api ", "http ")
"""`40 SQL queries`: words before what is counted."""

_PER_TIME = {
    name: seconds
    for names, seconds in (("s sec second 秒", 1.0), ("min minute", 60.0), ("h hr hour", 3600.0), ("day night", 86400.0))
    for name in names.split()
}
"""Seconds of a time behind `/` or `per`."""

_LONG_TIMES = ("h", "hr", "hour", "day", "night")
"""`3 GB/day` is the volume of a log, `12 MB/hour` a leak: no throughput."""

SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "万": 1e4}
"""Suffixes of a number."""


@lru_cache(maxsize=1024)
def unit(words: str) -> Unit | None:
    """The unit that the words after a number name: `ms`, `req/s`, `ms/step`, `tokens per second`; None where they name none.

    Anything per time is a throughput, also where what is counted is unknown; a unit per anything else is the unit itself.
    """
    name = " ".join(words.split()).replace(" / ", "/")
    name = name.partition(" ")[2] if name.startswith(_QUALIFIERS) else name
    counted, _, per = name.replace(" per ", "/").partition("/")
    known = _KNOWN_UNITS.get(counted.strip().lower())
    is_volume = per in _LONG_TIMES and known is not None and known[0] is ClaimMetric.MEMORY
    if per in _PER_TIME and counted in ("m", "km", "px"):  # per second: how fast something moves
        return None
    if per in _PER_TIME and not is_volume:
        size = known[1] if known and known[0] is ClaimMetric.MEMORY else _prefix_size(counted, _COUNTABLE)
        return Unit(name, ClaimMetric.THROUGHPUT, size / _PER_TIME[per])
    if known is None and not per and _prefix_size(counted, _RATES) > 1:
        return Unit(name, ClaimMetric.THROUGHPUT, _prefix_size(counted, _RATES))
    return Unit(name, *known) if known else None


_RATES = frozenset(["rps", "qps", "tps", "nps", "ips", "iops"])
_COUNTABLE = frozenset(
    "op ops req reqs request requests tok toks token tokens row rows msg msgs item items it rec records events".split()  # noqa: SIM905
)


def _prefix_size(counted: str, known: frozenset[str]) -> float:
    """The size of the prefix of a known word, as the `M` of `Mnps` and `Mops`; 1 without one."""
    return SCALES.get(counted[:1], 1.0) if counted[1:] in known else 1.0
