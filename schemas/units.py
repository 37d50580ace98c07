"""Units of figures, units of measured values as written in files, and doubts about such values."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Unit(StrEnum):
    """The unit of a figure. `FORMS` in `app.text.formatting` has the written form of each."""

    TEXT = "text"
    COUNT = "count"

    QUANTITY = "quantity"
    """A number in whatever unit its row names."""

    MEASURED = "measured"
    """The same beside others that differ in their last digits."""

    PERCENT = "percent"
    """A change that is in percent already: 1.02 for +1.02 %."""

    USD = "usd"
    MILLISECONDS = "milliseconds"
    TOKENS = "tokens"
    RATIO = "ratio"
    SHARE = "share"

    GAIN = "gain"
    """A ratio that is written as percent below 2: 1.029 as +2.9%."""

    NOISE = "noise"
    """The half-width of an interval, or a noise, as a share."""

    SCORE = "score"
    """A share as benchmarks publish it: in percent with two decimals."""

    POINTS = "points"
    """A difference of two shares: 3.68 for +3.68 percentage points."""

    BYTES = "bytes"
    TIME = "time"


class Better(StrEnum):
    """The direction in which a measured quantity improves."""

    LOWER = "lower"
    HIGHER = "higher"
    UNKNOWN = "unknown"


class StoredUnit(NamedTuple):
    """The unit in which values are stored. `factor`: stored value = written value × factor."""

    unit: str
    factor: float
    better: Better


def _units(unit: str, better: Better, **factors: float) -> dict[str, StoredUnit]:
    return {
        name.replace("_per_", "/"): StoredUnit(unit, factor, better)
        for name, factor in factors.items()
    }


_LOWER, _HIGHER, _UNKNOWN = Better.LOWER, Better.HIGHER, Better.UNKNOWN
_KIB = 1024.0

UNITS: dict[str, StoredUnit] = {
    **_units(
        "ms",
        _LOWER,
        h=3.6e6,
        min=6e4,
        minutes=6e4,
        s=1e3,
        sec=1e3,
        secs=1e3,
        second=1e3,
        seconds=1e3,
    ),
    **_units(
        "ms",
        _LOWER,
        ms=1,
        msec=1,
        millisecond=1,
        milliseconds=1,
        us=1e-3,
        usec=1e-3,
        microsecond=1e-3,
        microseconds=1e-3,
    ),
    **_units("ms", _LOWER, ns=1e-6, nsec=1e-6, nanosecond=1e-6, nanoseconds=1e-6, ps=1e-9),
    **_units(
        "ms", _LOWER, ns_per_op=1e-6, us_per_op=1e-3, ms_per_op=1, s_per_op=1e3, sec_per_op=1e3
    ),
    **_units("ms", _LOWER, ns_per_iter=1e-6, us_per_iter=1e-3, ms_per_iter=1, s_per_iter=1e3),
    "µs": StoredUnit("ms", 1e-3, _LOWER),  # U+00B5, and U+03BC below
    "μs": StoredUnit("ms", 1e-3, _LOWER),
    **_units(
        "B",
        _LOWER,
        b=1,
        byte=1,
        bytes=1,
        b_per_op=1,
        kib=_KIB,
        mib=_KIB**2,
        gib=_KIB**3,
        kb=1e3,
        mb=1e6,
        gb=1e9,
    ),
    **_units("B", _LOWER, tb=1e12, pb=1e15, kilobytes=1e3, megabytes=1e6, gigabytes=1e9),
    **_units("count", _LOWER, allocs=1, allocs_per_op=1, allocations=1),
    **_units(
        "B/s",
        _HIGHER,
        b_per_s=1,
        bytes_per_s=1,
        kb_per_s=1e3,
        mb_per_s=1e6,
        gb_per_s=1e9,
        tb_per_s=1e12,
    ),
    **_units(
        "B/s", _HIGHER, kib_per_s=_KIB, mib_per_s=_KIB**2, gib_per_s=_KIB**3, tib_per_s=_KIB**4
    ),
    **_units("tok", _UNKNOWN, tok=1, token=1, tokens=1),
    **_units(
        "tok/s",
        _HIGHER,
        tok_per_s=1,
        toks_per_s=1,
        token_per_s=1,
        tokens_per_s=1,
        tokens_per_sec=1,
        tps=1,
    ),
    **_units(
        "req/s", _HIGHER, req_per_s=1, reqs_per_s=1, request_per_s=1, requests_per_s=1, rps=1, qps=1
    ),
    **_units(
        "req/s", _HIGHER, req_per_sec=1, reqs_per_sec=1, request_per_sec=1, requests_per_sec=1
    ),
    **_units(
        "op/s",
        _HIGHER,
        op_per_s=1,
        ops_per_s=1,
        ops_per_sec=1,
        ops=1,
        iter_per_s=1,
        iter_per_sec=1,
        items_per_s=1,
        hz=1,
    ),
    **_units("op/s", _HIGHER, elem_per_s=1, kelem_per_s=1e3, melem_per_s=1e6, gelem_per_s=1e9),
    **_units("ratio", _HIGHER, ratio=1, x=1, speedup=1),
    "%": StoredUnit("%", 1, _UNKNOWN),
    "percent": StoredUnit("%", 1, _UNKNOWN),
    "% failed": StoredUnit("%", 1, _LOWER),
}
"""Written unit in lower case → stored unit. Other names are kept as they are, and have no better
direction.
"""


def stored_unit(written: str | None) -> StoredUnit | None:
    """Return the stored unit for a written one, ignoring case and spaces. None: not given."""
    if written is None or not written.strip():
        return None
    if known := UNITS.get(written):
        return known
    name = written.strip()
    return (
        UNITS.get(" ".join(name.lower().split()))
        or UNITS.get(name.lower().replace(" ", ""))
        or StoredUnit(name, 1.0, Better.UNKNOWN)
    )


class Flagged(StrEnum):
    """A doubt about one measured value."""

    ZERO = "zero"
    """Nothing was measured, such as the time per output token of answers with one token. No ratio.
    """

    EMPTY_METRICS = "empty_metrics"
    """The file says success and has no values: the row is a failure."""

    QUANTISED = "quantised"
    """All values are whole multiples of one step, such as a rate from a log window: too coarse for
    a ratio.
    """

    PERCENT_OF_TWO_KINDS = "percent_of_two_kinds"
    """The column mixes changes in percent with percent of the reference. No ratio."""

    SET_POINT = "set_point"
    """The rate was set, not measured. No ratio."""

    MERGED = "merged"
    """The row joins values that were measured on several set-ups. No ratio."""

    SAME_AS_BASELINE = "same_as_baseline"
    """Every value is exactly that of the baseline: the patch was probably not in the measured code.
    No ratio.
    """

    MODEL_SUBSTITUTED = "model_substituted"
    """The benchmark ran another model than its command names. A warning."""

    ERRORS = "errors"
    """The benchmark reports errors of its own requests. A warning."""
