"""Broken logs and results of every reader and measuring tool, a few of each.

`python -m tests.fuzz.fuzz_ingest` tries thousands.
"""

from __future__ import annotations

import random
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

from ingest.agents.base import Rows
from ingest.agents.readers import BY_TYPE, SourceReaders, UnreadLogs, reader_types
from ingest.measurements.base import MeasuredFile
from ingest.measurements.tools import TOOLS, read_measurements
from ingest.reading.read_source import read_source
from ingest.reading.settings import Settings
from ingest.sources.document import Document
from ingest.sources.files import Source, Unreadable
from ingest.store.read_result import PortionKey, ReadResult
from schemas.agents import AGENTS
from schemas.errors import RejectReason
from schemas.rows.run import TOKEN_CLASSES
from schemas.rows.source import RejectRow
from tests.conftest import ROOT
from tests.fuzz import seeds
from tests.fuzz.fuzz_ingest import Wrong, fuzz, ingested, made, our_seeds
from tests.fuzz.measured_seeds import MEASURED

INPUTS = 60
LOGS = 6
CUTS = 8


def test_every_reader_agent_and_tool_has_a_seed() -> None:
    readers = {reader for _, types in reader_types() for kind in types for reader in BY_TYPE[kind]}
    named = {name.partition(",")[0] for name in seeds.NAMES}
    assert named == {reader.__name__ for reader in readers if reader is not UnreadLogs}, (
        "every reader has an intact log in tests/fuzz/seeds.py"
    )
    forks = {"trae-cli", "roo-code", "kilo-code"}  # of Codex, and of Cline
    assert {reader.agent for reader in readers} >= AGENTS.keys() - forks
    read_by = [read_measurements(MeasuredFile("x", text), "s") for text in MEASURED.values()]
    assert [reading and (reading.tool, reading.refused) for reading in read_by] == [
        (name.partition(",")[0], "") for name in MEASURED
    ]
    assert {reading.tool for reading in read_by if reading} == {tool.name for tool in TOOLS}, (
        "every tool has an intact file, tests/logs/measured/TOOL/whole.*"
    )


@pytest.mark.slow
def test_broken_inputs_are_rows_and_rejects_and_every_sum_holds(tmp_path: Path) -> None:
    """Others with each commit. A reader's defect costs only its record: the command lists them."""
    head = ""
    with suppress(OSError):  # no git
        head = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
        ).stdout.strip()

    def run(inputs: Any) -> list[Wrong]:
        with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
            return ingested(inputs, Path(folder))

    tally = fuzz(INPUTS, head, our_seeds(), run, tmp_path / "wrong")
    wrong = [told for told in tally.told if not told.startswith("reader defect")]
    assert not wrong, f"seed {head}; the inputs are in {tally.folder}: {wrong}"


class Kept:
    """What a spool would write: runs with their documents, and rejects."""

    def __init__(self) -> None:
        self.runs: list[tuple[Document, Rows]] = []
        self.rejects: list[RejectRow] = []

    def add(self, result: ReadResult, document: Document, rows: Rows) -> None:
        """A run."""
        result.accept(rows.run.run_id)
        self.runs.append((document, rows))

    def reject(self, result: ReadResult, part: Unreadable) -> None:
        """A reject."""
        self.rejects.append(result.reject(part))

    def measure(self, result: ReadResult, rows: pa.Table) -> None:
        """Measured values of a file without a run."""
        result.measurements += len(rows)

    def told(self) -> Any:
        """Everything, to be compared."""
        return [
            (one.ordinal, one.position, one.text, repr(rows)) for one, rows in self.runs
        ], self.rejects

    def tokens(self) -> int:
        """The tokens of all runs."""
        return sum(getattr(rows.run, name) or 0 for _, rows in self.runs for name in TOKEN_CLASSES)


def read(data: bytes) -> tuple[ReadResult, Kept]:
    """All that becomes of a log."""
    kept = Kept()
    return read_source(Source("log", data), PortionKey("log"), Settings(), kept), kept  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("reader", seeds.NAMES)
def test_a_broken_log_is_the_same_where_each_event_is_a_document(reader: str) -> None:
    result, kept = read(seeds.seed(reader))
    assert result.run_ids, "the log that is right"
    assert not kept.rejects
    for number in range(LOGS):
        data = made(
            seeds.seed(reader), list(our_seeds().values()), random.Random(f"{reader} {number}")
        )
        result, kept = read(data)
        assert all(row.reason is not RejectReason.READER_DEFECT for row in kept.rejects), (
            kept.rejects,
            data,
        )
        with patch.object(SourceReaders, "note", lambda *_: 0):
            other, fed = read(data)
        assert (other.documents, other.kind, fed.told()) == (
            result.documents,
            result.kind,
            kept.told(),
        ), data


@pytest.mark.parametrize("reader", seeds.NAMES)
def test_a_log_that_is_cut_is_part_of_its_runs_and_at_most_one_reject(reader: str) -> None:
    """Never a run that is not there, nor a greater sum; and what is rejected is what was cut."""
    data = seeds.seed(reader)
    whole = read(data)[1]
    for number in range(1, CUTS):
        kept = read(data[: len(data) * number // CUTS])[1]
        assert len(kept.runs) <= len(whole.runs)
        assert kept.tokens() <= whole.tokens()
        assert len(kept.rejects) <= 1
