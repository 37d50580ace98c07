"""Names, numbers and times in the files of measuring tools.

Variants, quantities, statistics, units.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple, TypeGuard

from schemas.rows.measurement import Variant
from schemas.units import stored_unit

VARIANTS: dict[str, Variant] = {
    **dict.fromkeys(("baseline", "before", "base"), Variant.BASELINE),
    **dict.fromkeys(("reference", "human", "expert"), Variant.REFERENCE),
    **dict.fromkeys(("candidate", "agent", "after", "patched"), Variant.CANDIDATE),
}

NO_VALUE = frozenset(("", "-", "n/a", "na", "nan", "none", "null"))
"""Words in place of a number that is missing."""

_METRICS = {
    "e2e_latency": "e2el",
    "runtime": "time",
    "run_time": "time",
    "wall_time": "time",
    "duration": "time",
    "elapsed_time": "time",
    "request_goodput": "goodput",
    "output_token_throughput": "output_throughput",
    "total_token_throughput": "total_throughput",
    "requests_per_second": "request_throughput",
}
_STATISTICS = {
    "avg": "mean",
    "average": "mean",
    "med": "median",
    "p50": "median",
    "stdev": "std",
    "stddev": "std",
} | {name: name for name in ("mean", "median", "min", "max", "std")}
_PERCENTILE = re.compile(r"p\d{1,2}(?:\.\d+)?")
_HASH = re.compile(r"[0-9a-f]{7,64}", re.IGNORECASE)
_UNITS = ("ns", "us", "ms", "s", "sec", "seconds", "bytes", "kb", "mb", "gb", "kib", "mib", "gib")
UNNAMED = "value"
"""The metric of a value if neither name nor unit determines it."""

_METRIC_OF_UNIT = {"ms": "time"} | dict.fromkeys(("op/s", "req/s", "tok/s", "B/s"), "throughput")
_EDGES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class NamedQuantity(NamedTuple):
    """A quantity, as named by `p99_ttft_ms`. None: not part of the name."""

    metric: str
    statistic: str | None = None
    unit: str | None = None


def snake_case(name: str) -> str:
    """Return a name in lower case, with one underscore per run of other characters.

    The same for `Mean TTFT` and `mean_ttft`.
    """
    return re.sub(r"[^\w./%]+", "_", name.strip().lower()).strip("_")


def metric_name(name: str) -> str:
    """Return a tool's name of a quantity as a metric name.

    `auxMetricUnits` → `aux_metric_units`, `text-bytes` → `text_bytes`.
    """
    return re.sub(r"[^a-z0-9]+", "_", _EDGES.sub("_", name).lower()).strip("_")


def is_hash(text: str | None) -> bool:
    """Return whether a text is a commit's hash, short or full."""
    return _HASH.fullmatch(text or "") is not None


def variant_named(word: object) -> Variant | None:
    """Return the variant for a word, or None for any other word."""
    return VARIANTS.get(snake_case(word)) if isinstance(word, str) else None


def statistic_named(word: str) -> str | None:
    """Return the statistic for a word: mean, median, min, max, std or a percentile such as p99.

    None for any other word.
    """
    name = snake_case(word)
    return _STATISTICS.get(name) or (name if _PERCENTILE.fullmatch(name) else None)


def quantity(name: str) -> NamedQuantity:
    """Return a name's canonical metric, statistic (first or last) and unit.

    The unit is one of time or size (last).
    """
    words, statistic, unit = snake_case(name).split("_"), None, None
    for _ in range(2):
        if unit is None and len(words) > 1 and words[-1] in _UNITS and words[-2] != "per":
            unit = words.pop()
        elif statistic is None and len(words) > 1:
            place = next((place for place in (0, -1) if statistic_named(words[place])), None)
            statistic = None if place is None else statistic_named(words.pop(place))
    metric = "_".join(words)
    return NamedQuantity(_METRICS.get(metric, metric), statistic, unit)


def metric_of_unit(unit: str | None) -> str:
    """Return the metric of a nameless value.

    A time, a throughput, or, for any other unit, `UNNAMED`.
    """
    stored = stored_unit(unit)
    return _METRIC_OF_UNIT.get(stored.unit, UNNAMED) if stored else UNNAMED


def batch_of(file_name: str, variants: Iterable[Variant | None]) -> str | None:
    """Return the batch of a file's values.

    The file, if it has several variants, since they were measured to be compared.
    """
    return file_name if len(set(variants) - {None}) > 1 else None


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a JSON value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def number(value: object) -> float | None:
    """Return a JSON number, or None for anything else.

    This may be true, a text, null, or a whole number larger than any float.
    """
    try:
        return float(value) if is_number(value) else None
    except OverflowError:
        return None


def numbers(values: object) -> tuple[float, ...]:
    """Return a JSON list of numbers; empty for anything else, or if one value is no number."""
    found = [number(value) for value in values] if isinstance(values, list) else []
    return () if None in found else tuple(value for value in found if value is not None)


def written_time(text: object) -> datetime | None:
    """Return a time in ISO 8601, with a zone only if the text has one. None for anything else."""
    try:
        return datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None


def joined(*parts: object) -> str | None:
    """Return the known texts joined by commas, such as host and processor of a machine.

    None without any.
    """
    return ", ".join(part for part in parts if isinstance(part, str) and part) or None
