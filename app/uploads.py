"""What a visitor uploaded: files as the browser hands them over, and what became of those of this session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from ingest.pipeline import IngestReport, SourceReport

LINKED_RUNS = 24
"""How many of the uploaded runs get a link of their own."""

SHOWN_REJECTS = 200
"""How many rejected documents of an uploaded file are shown; the store keeps all."""


class Upload(Protocol):
    """A file as the browser hands it over; the same file uploaded again has another `file_id`."""

    name: str
    file_id: str

    def getvalue(self) -> bytes:
        """The file's bytes."""


U = TypeVar("U", bound=Upload)


@dataclass(frozen=True)
class Arrived:
    """What a visitor uploaded in this session, newest first. Screens run again with every click; nothing is read twice."""

    file_ids: frozenset[str] = frozenset()
    reports: tuple[SourceReport, ...] = ()

    def fresh(self, uploads: Sequence[U]) -> list[U]:
        """Those not ingested yet."""
        return [upload for upload in uploads if upload.file_id not in self.file_ids]

    def with_report(self, uploads: Sequence[Upload], report: IngestReport) -> Arrived:
        """With a batch that was ingested. Long lists are cut: a session is kept in memory."""
        light = (replace(source, run_ids=source.run_ids[:LINKED_RUNS], rejects=source.rejects[:SHOWN_REJECTS]) for source in report.sources)
        return Arrived(self.file_ids | {upload.file_id for upload in uploads}, (*light, *self.reports))

    @property
    def runs(self) -> int:
        """How many records of these files are in the store, those that came before included."""
        return sum(report.accepted + report.duplicates for report in self.reports)

    @property
    def run_ids(self) -> list[str]:
        """The first runs in the files, each once."""
        return list(dict.fromkeys(run_id for report in self.reports for run_id in report.run_ids))[:LINKED_RUNS]
