"""A defect in the middle of a document costs that document alone.

Nothing of it stays behind in its reader, and the books balance.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from ingest.agents.base import AgentReader
from ingest.agents.claude_code.transcript import ClaudeTranscript
from ingest.pipeline import IngestReport, Options, ingest
from ingest.reading.read_source import read_source
from ingest.sources.files import Source
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from tests.claude_lines import SESSION_LOG
from tests.conftest import fetched, ingest_paths, record
from tests.documents import lines, rejects_of
from tests.fuzz.seeds import NAMES, seed

_AGENTS = str(Path("ingest/agents/"))
LOGS = [name for name in NAMES if name not in ("Antigravity", "Cline")]
"""Those of one record, or of a record a line."""


class Fault:
    """Raises once for each log, at the given line of code that its reader runs for a document.

    `places`: by log, the ordinal of its document and its event. Counts these lines, too.
    """

    def __init__(self, places: Mapping[str, tuple[int, Any]], at: Mapping[str, int]) -> None:
        self.places, self.at = places, at
        self.lines = Counter[str]()
        self.raised = set[str]()
        self._log = ""
        self._inside: FrameType | None = None

    def read(self, source: Source, *others: Any, **named: Any) -> Any:
        """In place of `read_source`: what raises in a trace is traced no longer."""
        self._log, self._inside, before = Path(source.name).name, None, sys.gettrace()
        sys.settrace(self.trace)
        try:
            return read_source(source, *others, **named)
        finally:
            sys.settrace(before)

    def trace(self, frame: FrameType, kind: str, _: object) -> Any:
        if self._log in self.raised or _AGENTS not in frame.f_code.co_filename:
            return None
        if kind == "call" and self._inside is None and self._is_theirs(frame):
            self._inside = frame
        elif kind == "return" and frame is self._inside:
            self._inside = None
        elif kind == "line" and self._inside is not None:
            self.lines[self._log] += 1
            if self.lines[self._log] == self.at.get(self._log):
                self.raised.add(self._log)
                raise RuntimeError("a defect")
        return self.trace

    def _is_theirs(self, frame: FrameType) -> bool:
        name, found = frame.f_code.co_name, frame.f_locals
        if not isinstance(found.get("self"), AgentReader):
            return False
        ordinal, event = self.places[self._log]
        return (name == "feed" and found["document"].ordinal == ordinal) or (
            name == "note" and found.get("event") == event
        )


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
        parse_filename(name), run_id, agent, outcome, num_turns, duration_ms, active_ms,
        cost_own_usd, input_tokens, output_tokens, cache_read_tokens, models,
        (select list({'tool': tool, 'calls': calls, 'errors': errors} order by tool)
        from tool_calls as t where t.run_id = runs.run_id)
    from runs join sources using (source_id)
    order by all"""


def figures(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """By log the figures of its runs."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    for log, *rest in fetched(store, _FIGURES):
        found.setdefault(log, []).append(tuple(rest))
    return found


@pytest.mark.slow
def test_a_document_that_fails_midway_is_as_if_it_had_not_been_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside a run of another agent in front of it and one behind.

    An event that failed to be noted is fed again, and then whole.
    """
    places = dict[str, tuple[int, Any]]()
    for number, name in enumerate(LOGS):
        log, text = f"{number}-{name}", seed(name).decode()
        parts = text.splitlines() if text.startswith('{"') and "\n" in text.strip() else [text]
        place = len(parts) // 2
        front, back = (
            [json.dumps(record(uuid=f"{letter}-{log}", session_id=f"{letter}-{log}"))]
            if text.startswith("{")
            else []
            for letter in "ab"
        )
        event = json.loads(parts[place]) if front else None
        places[log] = (place + len(front), event)
        for kind, some in (("whole", parts), ("without", parts[:place] + parts[place + 1 :])):
            (folder := tmp_path / kind / str(number)).mkdir(parents=True)
            (folder / log).write_text("".join(f"{part}\n" for part in (*front, *some, *back)))

    def read(kind: str, at: Mapping[str, int]) -> tuple[Store, Fault]:
        store, fault = Store(tmp_path / f"{len(at)}-{kind}-{sum(at.values())}"), Fault(places, at)
        monkeypatch.setattr("ingest.reading.read_source.read_source", fault.read)
        balanced(ingest(read_paths([tmp_path / kind]), store, Options(jobs=1)))
        return store, fault

    complete, counted = read("whole", {})
    expected = {True: figures(read("without", {})[0]), False: figures(complete)}
    assert counted.lines.keys() == places.keys()
    for at in ({log: many // 2 for log, many in counted.lines.items()}, counted.lines):
        store, fault = read("whole", at)
        assert fault.raised == places.keys()
        rejected = "select parse_filename(name), rejected > 0 from sources"
        found = figures(store)
        assert {
            log: (found.get(log), at[log])
            for log, is_rejected in fetched(store, rejected)
            if found.get(log) != expected[is_rejected].get(log)
        } == {}


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
