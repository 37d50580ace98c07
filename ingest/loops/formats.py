"""All formats of loops' logs, and reading the loops of a file.

A file is read as a loop's log if it contains no agent's run. Content decides, not its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ingest.loops.aide import AIDE_JOURNAL, AIDE_RUN
from ingest.loops.base import LoopFormat, LoopTables, loop_tables
from ingest.loops.json_lines import JSON_LINES
from ingest.loops.openevolve import OPENEVOLVE_CHECKPOINT, OPENEVOLVE_LOG
from ingest.loops.pi_loop import HILL_CLIMBING, PI_EVENTS, PI_LOG
from ingest.loops.shinka import SHINKA
from ingest.loops.tables import ITERATION_TABLE, RESULTS_TABLE
from ingest.measurements.base import MarkedReaders, MeasuredFile, refusal
from schemas.errors import RejectReason

FORMATS: tuple[LoopFormat, ...] = (
    OPENEVOLVE_LOG,
    OPENEVOLVE_CHECKPOINT,
    AIDE_JOURNAL,
    AIDE_RUN,
    SHINKA,
    PI_LOG,
    PI_EVENTS,
    HILL_CLIMBING,
    JSON_LINES,
    ITERATION_TABLE,
    RESULTS_TABLE,
)
"""In order: the first that finds a loop in a file reads it."""


@dataclass(frozen=True)
class LoopReading:
    """The loops of a file, or why its log cannot be read (`refused`)."""

    format: str
    tables: LoopTables | None
    refused: str = ""
    reason: RejectReason = RejectReason.INVALID_RECORD


possible_formats = MarkedReaders(FORMATS).possible


def read_loops(
    file: MeasuredFile, source_id: str, formats: Sequence[LoopFormat]
) -> LoopReading | None:
    """Return the loops in a file, or None if it has none. `formats`: the possible ones.

    Never raises: a reader that fails refuses the file.
    """
    for each in formats:
        try:
            if loops := list(each.read(file)):
                return LoopReading(each.name, loop_tables(loops, source_id, each.name))
        except Exception as error:  # a bulkhead: one reader's defect costs one file
            return LoopReading(each.name, None, *refusal(error))
    return None
