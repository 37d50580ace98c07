"""A defect in the middle of a document costs that document alone.

Nothing of it stays behind in its reader, and the books balance.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from ingest.agents.base import AgentReader
from ingest.agents.claude_code.transcript import ClaudeTranscript
from ingest.pipeline import IngestReport
from ingest.store.database import Store
from tests.claude_lines import SESSION_LOG
from tests.conftest import fetched, ingest_paths, record
from tests.documents import lines, rejects_of
from tests.examples import a_share
from tests.fuzz.seeds import NAMES, seed

_AGENTS = str(Path("ingest/agents/"))


class Fault:
    """Raises in a reader, at the given line of code that it runs for one document; None.

    Counts these lines only.
    """

    def __init__(self, ordinal: int, event: object, at: int | None) -> None:
        self.ordinal, self.event, self.at = ordinal, event, at
        self.lines, self.is_raised = 0, False
        self._inside: FrameType | None = None

    def trace(self, frame: FrameType, kind: str, _: object) -> Any:
        if self.is_raised or _AGENTS not in frame.f_code.co_filename:
            return None
        if kind == "call" and self._inside is None and self._is_theirs(frame):
            self._inside = frame
        elif kind == "return" and frame is self._inside:
            self._inside = None
        elif kind == "line" and self._inside is not None:
            self.lines += 1
            if self.lines == self.at:
                self.is_raised = True
                raise RuntimeError("a defect")
        return self.trace

    def _is_theirs(self, frame: FrameType) -> bool:
        name, told = frame.f_code.co_name, frame.f_locals
        if not isinstance(told.get("self"), AgentReader):
            return False
        return (name == "feed" and told["document"].ordinal == self.ordinal) or (
            name == "note" and told.get("event") == self.event
        )


@contextmanager
def traced(fault: Fault) -> Iterator[Fault]:
    before = sys.gettrace()
    sys.settrace(fault.trace)
    try:
        yield fault
    finally:
        sys.settrace(before)


def balanced(report: IngestReport) -> dict[str, int]:
    counts = {
        name: report.total(name)
        for name in ("documents", "accepted", "duplicates", "rejected", "ignored")
    }
    assert min(counts.values()) >= 0, counts
    assert counts["documents"] == sum(counts.values()) - counts["documents"], counts
    return counts


_FIGURES = """
    select
        run_id, agent, outcome, num_turns, duration_ms, active_ms, cost_own_usd, input_tokens, output_tokens, cache_read_tokens, models,
        (select list({'tool': tool, 'calls': calls, 'errors': errors} order by tool) from tool_calls as t where t.run_id = runs.run_id)
    from runs
    order by all"""  # noqa: E501


def figures(store: Store) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = fetched(store, _FIGURES)
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("name", a_share(NAMES, 3))
def test_a_document_that_fails_midway_is_as_if_it_had_not_been_there(
    name: str, tmp_path: Path
) -> None:
    """Beside a run of another agent in front of it and one behind.

    An event that failed to be noted is fed again, and then whole.
    """
    text = seed(name).decode()
    parts = text.splitlines() if text.startswith('{"') and "\n" in text.strip() else [text]
    place = len(parts) // 2
    front, back = (
        [json.dumps(record(uuid=letter * 8, session_id=letter * 8))] if text.startswith("{") else []
        for letter in "ab"
    )
    for file, some in (("whole", parts), ("without", parts[:place] + parts[place + 1 :])):
        (tmp_path / file).write_text("".join(f"{part}\n" for part in (*front, *some, *back)))
    expected = Store(tmp_path / "without.duckdb")
    ingest_paths(expected, tmp_path / "without")
    event = json.loads(parts[place]) if front else None
    complete = Store(tmp_path / "whole.duckdb")
    with traced(Fault(place + len(front), event, None)) as counted:
        ingest_paths(complete, tmp_path / "whole")
    for at in sorted({counted.lines // 2, counted.lines} - {0}):
        store = Store(tmp_path / f"{at}.duckdb")
        with traced(Fault(place + len(front), event, at)) as fault:
            report = ingest_paths(store, tmp_path / "whole")
        assert fault.is_raised
        right = expected if balanced(report)["rejected"] else complete
        assert figures(store) == figures(right), f"line {at} of {counted.lines}"


def test_many_defects_balance(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time the documents before are read again, but not without end."""
    log = tmp_path / "log.jsonl"
    log.write_text(lines(*SESSION_LOG))

    def fail(*_: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(ClaudeTranscript, "_read", fail)
    assert balanced(ingest_paths(store, log))["rejected"] == len(SESSION_LOG)
    assert {reason for reason, _ in rejects_of(store)} == {"reader_defect"}
