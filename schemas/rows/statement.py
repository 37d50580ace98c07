"""The statements of a summary, as they are stored: commits, artefacts, tests, totals of its changes."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import pyarrow as pa
from pydantic import Field

from schemas.rows.row import Row
from schemas.rows.units import ArrowType, Count, LongText, Offset, Text


class StatementKind(StrEnum):
    """What a statement says. A closed list."""

    COMMIT = "commit"
    ARTEFACT = "artefact"
    TESTS_PASSED = "tests_passed"
    TESTS_FAILED = "tests_failed"
    FILES_CHANGED = "files_changed"
    LINES_INSERTED = "lines_inserted"
    LINES_DELETED = "lines_deleted"


class StatementRow(Row):
    """One fact that a summary states beside its claims. Offsets are Unicode code points into runs.result, the end exclusive."""

    run_id: Text = Field(description="Id of the run.")
    statement_no: Count = Field(description="Number of the statement in its summary, from 1.")
    kind: Annotated[StatementKind, ArrowType(pa.string())] = Field(
        description="commit, artefact, tests_passed, tests_failed, files_changed, lines_inserted or lines_deleted."
    )
    start: Offset = Field(description="Position in the summary where the statement starts.")
    end: Offset = Field(description="Position in the summary where the statement ends.")
    quote: LongText = Field(description="The words that say it.")
    subject: Text | None = Field(default=None, description="The commit's hash or the artefact's path, as the text gives it.")
    count: Count | None = Field(
        default=None, description="Tests, files or lines, as the text counts them; of an artefact, its lines. NULL: not said."
    )
