"""A field of a map and a row → the value that it has there, as its column takes it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from ingest.mapped.rows import FoundRow
from ingest.measurements.words import NO_VALUE
from ingest.sources.times import lenient_time, unix_time
from schemas.rows.row import usd
from schemas.rows.run import Outcome
from schemas.rows.tables import shown
from schemas.wire.result_map import MILLISECONDS, USD, MapField

OUTCOMES = {
    **{str(outcome): outcome for outcome in Outcome},
    **dict.fromkeys(
        "complete done ok success passed pass true 1".split(),
        Outcome.COMPLETED,
    ),
    **dict.fromkeys(("error", "crash"), Outcome.EXECUTION_ERROR),
    "timeout": Outcome.INTERRUPTED,
}
"""Words for how a run ended, without a choice of words in the map. Any other is `unknown`: a run
that failed its test may have ended well.
"""


class Unfit(ValueError):
    """A value that its field does not take. The text names field, place in the row and value."""


def value_of(field: MapField, row: FoundRow) -> Any:
    """Return what a field has in a row, after its pattern and choice of words; None if nothing."""
    found = _raw(field, row)
    if field.pattern is not None and found is not None:
        found = _group(re.search(field.pattern, word_of(found)))
    if field.words is None:
        return None if found == "" else found
    word = "" if found is None else word_of(found)
    for key in (word, word.lower(), *(("*",) if word else ())):
        if key in field.words:
            return found if field.words[key] == "*" else field.words[key]
    if not word:
        return None
    raise ValueError(f"{shown(word)} is none of its words: {', '.join(field.words)}")


def _raw(field: MapField, row: FoundRow) -> Any:
    if field.path is not None:
        found = (row.at(path) for path in field.path)
        return next((value for value in found if value not in (None, "")), None)
    if field.file is not None:
        return _group(re.search(field.file, "/".join(row.file.parts)))
    if field.search is not None:
        return _group(re.search(field.search, row.file.text, re.MULTILINE))
    if field.folder is not None:
        parts = row.file.parts[::-1]
        name = parts[field.folder] if field.folder < len(parts) else None
        return name.partition(".")[0] if name and field.folder == 0 else name
    if field.key is not None:
        return row.around[-field.key][1] if field.key <= len(row.around) else None
    return field.value


def _group(found: re.Match[str] | None) -> str | None:
    return found and found[1 if found.re.groups else 0]


def word_of(value: Any) -> str:
    """Return a value as the word that it is in a choice: `true`, `1`, `passed`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, str | int | float) else ""


def text(value: Any, _: MapField) -> str:
    if isinstance(value, dict | list):
        raise ValueError(f"{shown(value)} is no text")
    return (str(value) if isinstance(value, str) else word_of(value)).strip()


TRUTHS = dict.fromkeys("true yes pass passed".split(), 1) | dict.fromkeys(
    "false no fail failed".split(), 0
)


def number(value: Any, _: MapField) -> float:
    """Return a number; true, yes and passed are 1, false, no and failed 0."""
    if isinstance(value, str):
        value = TRUTHS.get(value.lower(), value)
    try:
        found = float(value) if isinstance(value, str | int | float) else math.nan
    except (ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f"{shown(value)} is no number")
    return found


def whole(value: Any, field: MapField) -> int:
    found = number(value, field)
    if not found.is_integer():
        raise ValueError(f"{shown(value)} is no whole number")
    return value if isinstance(value, int) else int(found)


def milliseconds(value: Any, field: MapField) -> int:
    found = number(value, field) * MILLISECONDS[field.unit or "ms"]
    return round(number(found, field))


def dollars(value: Any, field: MapField) -> Decimal:
    written = value.strip().removeprefix("$") if isinstance(value, str) else value
    number(written, field)
    try:
        return usd(Decimal(str(written)) * Decimal(USD[field.unit or "$"]))
    except InvalidOperation as error:
        raise ValueError(f"{shown(value)} is no amount of money") from error


def time(value: Any, _: MapField) -> datetime:
    """Return a time in ISO 8601, in the form of file names, or Unix time."""
    found = lenient_time(value) if isinstance(value, str) else unix_time(value)
    if found is None:
        raise ValueError(f"{shown(value)} is no time")
    return found


def outcome(value: Any, field: MapField) -> Outcome:
    """Return how a run ended. A choice of words has to name outcomes."""
    word = "_".join(word_of(value).lower().replace("-", " ").split())
    if field.words and word not in set(Outcome):
        raise ValueError(f"{shown(value)} is no outcome: {', '.join(Outcome)}")
    return OUTCOMES.get(word, Outcome.UNKNOWN)


def as_written(field: MapField) -> MapField:
    """Return the field without its choice of words."""
    return field.model_copy(update={"words": None})


Made = Callable[[Any, MapField], Any]


def taken(name: str, field: MapField | None, row: FoundRow, made: Made = text) -> Any:
    """Return the value of a field as its column takes it, or None. Raises Unfit."""
    if field is None:
        return None
    try:
        value = value_of(field, row)
        is_number = made not in (text, outcome)
        if is_number and isinstance(value, str | float) and str(value).strip().lower() in NO_VALUE:
            return None
        return None if value is None else made(value, field)
    except ValueError as error:
        places = "/".join(field.path or ())
        raise Unfit(f"{name}{f' ({places})' if places else ''}: {error}") from error
