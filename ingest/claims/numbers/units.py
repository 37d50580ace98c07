"""Units of performance quantities: what they measure and how large they are."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from schemas.rows.claim import ClaimMetric


class Unit(NamedTuple):
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
            "ms msec msecs millisecond milliseconds 毫秒 밀리초": 1e-3,
            "s sec secs second seconds 秒 초": 1.0,
            "m min mins minute minutes 分钟 분": 60.0,
            "h hr hrs hour hours 小时 시간": 3600.0,
            "d day days 天": 86400.0,
        },
    ),
    **_each(
        ClaimMetric.MEMORY,
        {
            "b byte bytes 字": 1.0,
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
    **_each(ClaimMetric.TOKENS, {"token tokens tok toks": 1.0}),
    **_each(ClaimMetric.COST, {"usd dollar dollars": 1.0, "cent cents": 0.01}),
    **_each(
        ClaimMetric.OPERATIONS,
        {
            "alloc allocs allocation allocations realloc reallocs reallocations query queries call calls request requests": 1.0,
            "syscall syscalls launch launches sync syncs copies memcpy memcpys dispatches lookups roundtrips round-trips": 1.0,
            "renders re-renders rerenders encodes instructions cycles passes misses spawns forks reads writes fetches": 1.0,
            "cpb scans hits invocations transactions subprocesses compilations round-trip kernels 次 barriers flushes fsyncs": 1.0,
            "statement statements selects cyc": 1.0,
        },
    ),
}
_WHOSE = ("SQL ", "DB ", "API ", "HTTP ", "sql ", "db ", "api ", "http ")
"""`40 SQL queries`: words before what is counted."""

_PER_TIME = {
    "s": 1.0,
    "sec": 1.0,
    "second": 1.0,
    "秒": 1.0,
    "min": 60.0,
    "minute": 60.0,
    "h": 3600.0,
    "hr": 3600.0,
    "hour": 3600.0,
    "day": 86400.0,
    "night": 86400.0,
}
_LONG_TIMES = ("h", "hr", "hour", "day", "night")
"""`3 GB/day` is the volume of a log, `12 MB/hour` a leak: no throughput."""

SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "万": 1e4}
"""Suffixes of a number."""


@lru_cache(maxsize=1024)
def unit(words: str) -> Unit | None:
    """The unit that the words after a number name: `ms`, `req/s`, `ms/step`, `tokens per second`; None where they name none.

    A quantity per time is a throughput, also where nobody has heard of what is counted; a unit per anything else is itself.
    """
    name = " ".join(words.split()).replace(" / ", "/")
    name = name.partition(" ")[2] if name.startswith(_WHOSE) else name
    counted, _, per = name.replace(" per ", "/").partition("/")
    known = _SIZES.get(counted.strip().lower())
    is_volume = per in _LONG_TIMES and known is not None and known[0] is ClaimMetric.MEMORY
    if per in _PER_TIME and counted in ("m", "km", "px"):  # per second: how fast something moves
        return None
    if per in _PER_TIME and not is_volume:
        size = known[1] if known and known[0] is ClaimMetric.MEMORY else _prefixed(counted, _COUNTABLE)
        return Unit(name, ClaimMetric.THROUGHPUT, size / _PER_TIME[per])
    if known is None and not per and _prefixed(counted, _RATES) > 1:
        return Unit(name, ClaimMetric.THROUGHPUT, _prefixed(counted, _RATES))
    return Unit(name, *known) if known else None


_RATES = frozenset(["rps", "qps", "tps", "nps", "ips", "iops"])
_COUNTABLE = frozenset(
    [
        "op",
        "ops",
        "req",
        "reqs",
        "request",
        "requests",
        "tok",
        "toks",
        "token",
        "tokens",
        "row",
        "rows",
        "msg",
        "msgs",
        "item",
        "items",
        "it",
        "rec",
        "records",
        "events",
    ]
)


def _prefixed(counted: str, known: frozenset[str]) -> float:
    """The size of the prefix before a known word: that of the `M` of `Mnps` and `Mops`; 1 where there is none."""
    return SCALES.get(counted[:1], 1.0) if counted[1:] in known else 1.0
