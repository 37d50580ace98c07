"""Records inside other objects (wrappers): in their values, lists and strings.

An object with a string `type` is an event, and a record inside it is only quoted. One exception: a list with a record among its elements
is a stream, and its other events belong to the record. Records in messages of other agents (a `role` with a content) are only quoted too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from ingest.sources.broken_json import parse
from ingest.sources.scanner import scan
from schemas.marks import FIGURES, WRAPPED_FIELDS

DEPTH = 8
"""Levels of values, lists and strings that are searched."""

_SAID = ("content", "parts")
"""The fields of a message that hold its content: in the APIs of OpenAI and Anthropic, and of Google."""


class Nested(NamedTuple):
    """A record, or an event beside one, found in a wrapper. `value` is None where it is not parsed yet."""

    text: str
    value: Any = None


def is_event(value: Any) -> bool:
    """Whether a value is an object with a string `type`."""
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def is_record(value: Any) -> bool:
    """Whether a value has the marks of a result record, with a type or (older versions, some wrappers) without."""
    if not isinstance(value, dict) or value.get("type", "result") != "result":
        return False
    return "duration_ms" in value and not FIGURES.isdisjoint(value)


def event_in(value: dict[str, Any]) -> dict[str, Any] | None:
    """The event inside a wrapper, if there is one: an event that names its session and is no result."""
    events = (item for item in value.values() if is_event(item) and item["type"] != "result")
    return next((event for event in events if isinstance(event.get("session_id"), str)), None)


def nested(text: str, value: dict[str, Any]) -> list[Nested]:
    """Every record inside an object that is no record itself. `text` is the text of the object."""
    if not any(mark in text for mark in WRAPPED_FIELDS):
        return []
    if not any(True for _ in _search(value, 0)):
        return []
    return list(_search(_exact(text, value), 0))


def _exact(text: str, value: Any) -> Any:
    """The value of a text with all digits of its numbers; `value` as it was parsed before where the text alone is no JSON."""
    try:
        return parse(text, _all_digits)
    except (ValueError, RecursionError):
        return value


def _all_digits(written: str) -> Decimal | float:
    try:
        return Decimal(written)
    except InvalidOperation:  # an exponent of twenty digits
        return float(written)


def _search(value: Any, depth: int) -> Iterator[Nested]:
    if depth > DEPTH:
        return
    if isinstance(value, str):
        yield from _in_text(value, depth)
    elif isinstance(value, list):
        stream = any(map(is_record, value))
        for item in value:
            yield from _in_value(item, depth, stream=stream)
    elif isinstance(value, dict):
        for item in _own_values(value):
            yield from _in_value(item, depth, stream=False)


def _own_values(value: dict[str, Any]) -> Iterable[Any]:
    """The values of an object without the content of a message."""
    if not isinstance(value.get("role"), str) or not any(key in value for key in _SAID):
        return value.values()
    return [item for key, item in value.items() if key not in _SAID and not isinstance(item, str)]


def _in_value(value: Any, depth: int, *, stream: bool) -> Iterator[Nested]:
    if is_record(value) or (stream and is_event(value)):
        import simplejson  # here: few logs have such values

        yield Nested(simplejson.dumps(value, use_decimal=True, allow_nan=True))  # in ASCII: a text may hold a lone surrogate
    elif not is_event(value):
        yield from _search(value, depth + 1)


def _in_text(text: str, depth: int) -> Iterator[Nested]:
    if "{" not in text or not any(mark in text for mark in WRAPPED_FIELDS):
        return
    for span in scan(text):
        if is_record(span.value):
            yield Nested(span.text, span.value)
        elif isinstance(span.value, dict) and not is_event(span.value):
            yield from _search(_exact(span.text, span.value), depth + 1)
