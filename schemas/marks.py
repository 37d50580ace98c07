"""The marks of all agents' records together.

Used to find records in text, to say why a record is broken, and to distinguish logs from other
files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from schemas.agents import AGENTS, CLAUDE_CODE, CLAUDE_EVENT_TYPES, NO_TYPE, agent_key, words
from schemas.unread_logs import unread_log
from schemas.wire.roll_ups import is_roll_up

_MARKS = tuple(agent.marks for agent in AGENTS.values())
_FORMATS = tuple(form for agent in AGENTS.values() for form in agent.formats)

FIGURES = frozenset(
    ("total_cost_usd", "cost_usd", "total_cost", "num_turns", "modelUsage", "usage")
)
"""Every result record has at least one of these fields, and its wall time. So do rows about runs
and calls that other programs write.
"""

_OF_RESULTS = words("duration_api_ms modelUsage subtype permission_denials")
"""Fields of result records: every version writes the first."""

_COSTS = words("cost cost_usd total_cost total_cost_usd usage tokens input_tokens prompt_tokens")
_DOERS = words("agent cli duration_ms harness model model_id model_name")

_DECISIONS = frozenset(("kept", "accepted", "decision", "verdict"))

WRAPPED_FIELDS = ("duration_ms", "total_cost_usd", "num_turns")
"""Every text that wraps a result record has at least one of these names."""

LEGIBLE_FIELDS = tuple(dict.fromkeys(name for marks in _MARKS for name in marks.legible))
"""Fields of a broken record that its reject quotes if still readable."""

RESULT_START = '{"type":"result"'

RECORD_MARK = re.compile(
    rf'"(?:type"\s*:\s*"result|{"|".join(name for marks in _MARKS for name in marks.fields)})"'
)
"""A field of a record in an object's text."""

FIRST_NAMES = "|".join(("type", *(name for marks in _MARKS for name in marks.first_names)))
"""Pattern source of the first names of events."""

EVENT_START = re.compile(rf'\{{"(?:{FIRST_NAMES})"\s*:')

COMMON_TYPES = words(
    "abort ask attachment compaction custom end error forked info journal label message metadata "
    "mode plan progress reasoning relocated result say session started summary tag text "
    "tool_result tool_use usage warning"
)
"""Types of agents' events that JSON of other programs has as well: a broken object with one of them
proves nothing.
"""

TEXT_STARTS = tuple(form.text_start.encode() for form in _FORMATS if form.text_start)
"""Beginnings of text logs (not JSON)."""

TEXT_LINE = re.compile(
    "|".join(rf"^{re.escape(form.text_line)}" for form in _FORMATS if form.text_line).encode(),
    re.MULTILINE,
)
"""A line near the beginning of text logs."""

ZIPPED_LOGS = tuple((form.zip_heads, form.zip_parts) for form in _FORMATS if form.zip_heads)
"""Zips whose members form one log: (names of the header member, prefix of the other names)."""

_NAMES = (words("tachograph_run"), *(names for form in _FORMATS for names in form.names))

_LOOKS = tuple(form.looks for form in _FORMATS if form.looks)

_QUOTE = r'(?:\\"|""|&quot;|&#34;|\x27)'
QUOTED_RECORD = re.compile(
    rf"{_QUOTE}total_cost_usd{_QUOTE}\s{{0,3}}:\s{{0,3}}(?:[\d.]|null|None)|\bResultMessage\([^\n]{{0,2000}}?total_cost_usd=(?:[\d.]|None)"
)
"""A field of a record with its figure, quoted in JSON strings, CSV, HTML, a Python dict or an
object of the SDK.
"""

_SESSIONS = ("session_id", "sessionId", "thread_id")
_TELLING_TYPES = sorted(
    frozenset[str]().union(*(form.types for form in _FORMATS)) - COMMON_TYPES - {NO_TYPE}
)
_TYPE = '{"type":'
_BEGINNINGS = tuple(f'{_TYPE}"{kind}"' for kind in ("result", *_TELLING_TYPES))
_LONGEST_BEGINNING = 40
_LINE_NAMES = "|".join(name for marks in _MARKS for name in marks.first_names)
_EVENT_BEGINNING = re.compile(
    rf'\{{"(?:type"\s*:\s*"(?:result|{"|".join(map(re.escape, _TELLING_TYPES))})"|(?:{_LINE_NAMES})"\s*:)'  # noqa: E501
)


def is_agents_object(value: dict[str, Any]) -> bool:
    """Return whether an object is a log of an agent, read or not, or a benchmark's file.

    Then nothing inside it is a record of its own.
    """
    if any(names <= value.keys() for names in _NAMES) or any(looks(value) for looks in _LOOKS):
        return True
    return is_roll_up(value) or unread_log(value) is not None


def is_claudes_result(value: dict[str, Any]) -> bool:
    """Return whether an object has marks of Claude Code's result records.

    Time and cost alone are no marks: any program's rows have them.
    """
    agent = value.get("agent")
    is_named = (
        isinstance(agent, str) and agent_key(agent) == CLAUDE_CODE.key
    )  # in a row with the figures of a record
    return not _OF_RESULTS.isdisjoint(value) or (is_named and "num_turns" in value)


def is_row(value: dict[str, Any]) -> bool:
    """Return whether an object has cost or tokens of a run, step or call, or lists such rows."""
    return rows_in(value) > 0


def rows_in(value: dict[str, Any]) -> int:
    """Return how many rows with cost or tokens of a run, step or call an object is or lists."""
    if are_of_runs(value):
        return 1
    lists = (item for item in value.values() if isinstance(item, list))
    return sum(isinstance(row, dict) and are_of_runs(row) for rows in lists for row in rows)


def are_of_runs(names: Iterable[str]) -> bool:
    """Return whether names of fields or columns have costs or tokens, and whose they are."""
    return not _COSTS.isdisjoint(names) and not _DOERS.isdisjoint(names)


def is_agents_event(value: dict[str, Any]) -> bool:
    """Return whether an object is an event of Claude Code's stream or a similar one.

    It has a known type or names its session.
    """
    kind = value.get("type")
    if not isinstance(kind, str):
        return False
    if any(isinstance(value.get(name), str) for name in _SESSIONS):
        return True
    return kind in CLAUDE_EVENT_TYPES and (
        isinstance(value.get("message"), dict) or isinstance(value.get("subtype"), str)
    )


def has_marks(text: str) -> bool:
    """Return whether a broken object's text has marks of a record or event, or ends in its `type`.

    It ends in its `type` if it was cut off there.
    """
    if RECORD_MARK.search(text) is not None or _EVENT_BEGINNING.match(text) is not None:
        return True
    text = text.rstrip()
    return len(_TYPE) <= len(text) < _LONGEST_BEGINNING and any(
        start.startswith(text.replace(" ", "")) for start in _BEGINNINGS
    )


def is_experiment(value: dict[str, Any]) -> bool:
    """Return whether an object logs an experiment of an optimization loop.

    Such an object has cost and duration, as a result record has.
    """
    return not _DECISIONS.isdisjoint(value) or value.get("status") in (
        "keep",
        "discard",
        "crash",
        "baseline",
    )
