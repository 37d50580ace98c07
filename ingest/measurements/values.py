"""Numbers, names and times as files of measuring tools write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import TypeGuard

_EDGES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NO_NAME = re.compile(r"[^a-z0-9]+")


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a JSON value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def number(value: object) -> float | None:
    """A JSON number; None for anything else, such as true, a text or null, and for a whole number that is larger than any float."""
    try:
        return float(value) if is_number(value) else None
    except OverflowError:
        return None


def numbers(values: object) -> tuple[float, ...]:
    """A JSON list of numbers; empty for anything else, and where one value is no number."""
    found = [number(value) for value in values] if isinstance(values, list) else []
    return () if None in found else tuple(value for value in found if value is not None)


def metric_name(name: str) -> str:
    """A quantity's name in a tool as the name of a metric: `auxMetricUnits` → `aux_metric_units`, `text-bytes` → `text_bytes`."""
    return _NO_NAME.sub("_", _EDGES.sub("_", name).lower()).strip("_")


def written_time(text: object) -> datetime | None:
    """A time in ISO 8601, with a zone only where the text has one. None for anything else."""
    try:
        return datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None


def joined(parts: Iterable[object]) -> str | None:
    """The texts that are known, with commas, such as host and processor of a machine. None where none is."""
    return ", ".join(part for part in parts if isinstance(part, str) and part) or None
