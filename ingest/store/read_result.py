"""The result of reading a source: identity and counts. The rows are in the spool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest.sources.files import Identity, Unreadable
from schemas.errors import InputUnreadable
from schemas.file_kinds import FileKind

if TYPE_CHECKING:
    from schemas.rows.source import RejectRow

SHOWN = 100
"""Limit of the runs and rejects that a result lists; the store has all."""


@dataclass(frozen=True)
class PortionKey:
    """A portion of one reading of a source.

    `reading` is unique in an ingest; a source that is read whole has portion 0 only.
    """

    reading: str
    portion: int = 0


@dataclass
class ReadResult:
    """The result for one source or a part of it: documents = records + rejected + ignored.

    `measurements`: measured rows; `without_variant`: those of them that do not say which code was
    measured. `measures`: their properties as stated by the source's archive. `without_run`: 1 for
    an item of a benchmark that is no run. `loops`, `experiments`: rows of a loop's log. `bytes`: of
    the whole source; `bytes_read`: of this portion. `known`: the store has the source already.
    `begins_with`: source_ids of earlier sources that are a beginning of it. `modified_ns`:
    `Source.modified_ns` of a file that was opened. `resume_at`: 0 for a session transcript.
    `members`: of an archive, the source_id of each file inside and its name behind that of the
    archive. `rows`: those with costs or tokens of no known agent. `map`: the map by which its rows
    were read (TOML). `is_again`: the store has it, as it was read without one; `has_other_map`: as
    it was read by another one.
    """

    key: PortionKey
    source_id: str
    name: str
    bytes: int
    bytes_read: int = 0
    kind: FileKind = FileKind.LOG
    container: str = "none"
    records: int = 0
    rejected: int = 0
    ignored: int = 0
    measurements: int = 0
    judgements: int = 0
    without_variant: int = 0
    without_run: int = 0
    loops: int = 0
    experiments: int = 0
    measures: Mapping[str, str] = field(default_factory=dict)
    known: bool = False
    rows: int = 0
    map: str | None = None
    is_again: bool = False
    has_other_map: bool = False
    begins_with: tuple[str, ...] = ()
    modified_ns: int | None = None
    resume_at: int | None = None
    members: tuple[tuple[str, str], ...] = ()
    unreadable: InputUnreadable | None = None
    run_ids: list[str] = field(default_factory=list)
    rejects: list[RejectRow] = field(default_factory=list)

    @property
    def documents(self) -> int:
        return self.records + self.rejected + self.ignored

    def identify(self, identity: Identity) -> None:
        """Save the source's hash, and the earlier sources that it begins with."""
        self.source_id, self.begins_with = identity.source_id, identity.begins_with

    def accept(self, run_id: str) -> None:
        self.records += 1
        if len(self.run_ids) < SHOWN:
            self.run_ids.append(run_id)

    def reject(self, part: Unreadable) -> RejectRow:
        self.rejected += 1
        row = part.row(self.source_id)
        if len(self.rejects) < SHOWN:
            self.rejects.append(row)
        return row
