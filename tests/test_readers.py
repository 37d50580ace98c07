"""What all readers of agents have in common.

JSON of other programs that uses the same words is no run.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from ingest.agents.base import Found
from ingest.agents.readers import SourceReaders, reader_types
from ingest.sources.document import Document
from schemas.errors import InvalidRecord

TYPES = sorted({kind for _, types in reader_types() for kind in types if kind} - {"result"})
"""`result` is apart: with figures it is a record of Claude Code, whatever else it lacks."""

BODIES: tuple[dict[str, Any], ...] = (
    {"message": "disk is full"},
    {"message": {"role": "user", "content": "hi"}},
    {"role": "user", "content": "hi"},
    {"data": {"a": 1}},
    {"payload": {"a": 1}},
    {"text": "x"},
    {"error": {"message": "x"}},
    {"session_id": "s1"},
    {"sessionId": "s1", "message": "x"},
    {"id": "1", "timestamp": "2026-01-01T00:00:00Z"},
    {"payload": {"a": 1}, "timestamp": "2026-01-01T00:00:00Z"},
    {"name": "n", "input": {}},
    {"status": "success"},
    {"event": "x", "level": "info"},
    {"usage": {"cpu": 1}},
    {"content": "x", "timestamp": "2026-01-01T00:00:00Z"},
    {"kind": "x", "source": "agent", "timestamp": "2026-01-01T00:00:00"},
)


@pytest.mark.parametrize("kind", TYPES)
def test_events_of_other_programs_are_no_run(kind: str) -> None:
    for body in BODIES:
        assert not runs_in({"type": kind, **body}), body


def test_logs_of_other_programs_are_no_run() -> None:
    every = [
        {"type": kind, **body}
        for kind, body in itertools.product(("error", "message", "log", "item.completed"), BODIES)
    ]
    assert not runs_in(*every)


def runs_in(*values: dict[str, Any]) -> list[Found]:
    readers = SourceReaders()
    found: list[Any] = []
    for number, value in enumerate(values):
        try:
            found += readers.feed(Document(number, "line", json.dumps(value))) or ()
        except InvalidRecord:
            continue
    return [
        one
        for one in (*found, *(one for reader in readers.met() for one in reader.end()))
        if isinstance(one, Found)
    ]
