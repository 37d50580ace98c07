"""Uploaded files on the side of a screen: as sources to ingest, their problems, and the reports of this session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from app.server import received
from ingest.pipeline import IngestReport, SourceReport
from ingest.sources.files import Source
from schemas.errors import UsageError
from schemas.text import paired

LINKED_RUNS = 24
"""The most uploaded runs that are linked."""

SHOWN_REJECTS = 200
"""The most rejected documents of an uploaded file that are shown; the store has all."""


NAMED_PROBLEMS = 3
"""The most files with the same problem that are named."""


class Upload(Protocol):
    """A file of `st.file_uploader`; the same file uploaded again has another `file_id`."""

    name: str
    file_id: str

    def getvalue(self) -> bytes:
        """The bytes of the file, if a screen runs without this server."""


U = TypeVar("U", bound=Upload)


@contextmanager
def as_sources(uploads: Sequence[Upload]) -> Iterator[list[Source]]:
    """The files as sources, for the duration of the block; deleted afterwards, unless it raised. Raises UsageError if files are gone."""
    here = received.current()
    if here is None:
        yield [Source(paired(upload.name), upload.getvalue()) for upload in uploads]
        return
    ids = [upload.file_id for upload in uploads]
    with here.in_use(ids):
        paths = [here.path_of(file_id) for file_id in ids]
        if None in paths:
            raise UsageError("some of the uploaded files are no longer available.", "Upload them again.")
        yield [Source(paired(upload.name), path=path, temporary=True) for upload, path in zip(uploads, paths, strict=True)]
    here.remove(ids)


def not_received(uploads: Sequence[Upload]) -> dict[str, str]:
    """Why files could not be received, by their `file_id`."""
    here = received.current()
    found = {upload.file_id: here.problem_of(upload.file_id) for upload in uploads} if here else {}
    return {file_id: problem for file_id, problem in found.items() if problem}


def problem_words(uploads: Sequence[Upload], problems: dict[str, str]) -> list[str]:
    """A sentence for each problem, with how many files have it and the names of the first."""
    return [
        _problem_words([upload.name for upload in uploads if problems.get(upload.file_id) == problem], problem)
        for problem in dict.fromkeys(problems.values())
    ]


def _problem_words(names: Sequence[str], problem: str) -> str:
    named = ", ".join(names[:NAMED_PROBLEMS]) + (" …" if len(names) > NAMED_PROBLEMS else "")
    return f"{named} was not uploaded: {problem}" if len(names) == 1 else f"{len(names):,} files were not uploaded ({named}): {problem}"


@dataclass(frozen=True)
class Arrived:
    """The ingested uploads of a session, newest report first. Screens rerun with every click; no file is ingested twice."""

    file_ids: frozenset[str] = frozenset()
    reports: tuple[SourceReport, ...] = ()

    def fresh(self, uploads: Sequence[U]) -> list[U]:
        """The uploads that are not ingested yet."""
        return [upload for upload in uploads if upload.file_id not in self.file_ids]

    def with_report(self, uploads: Sequence[Upload], report: IngestReport) -> Arrived:
        """This with the report of an ingested batch. Long lists are cut, since a session is kept in memory."""
        light = (replace(source, run_ids=source.run_ids[:LINKED_RUNS], rejects=source.rejects[:SHOWN_REJECTS]) for source in report.sources)
        return Arrived(self.file_ids | {upload.file_id for upload in uploads}, (*light, *self.reports))

    @property
    def counts(self) -> dict[str, int]:
        """The files and what became of their documents: `documents` is the sum of the parts."""
        parts = {name: sum(getattr(one, name) for one in self.reports) for name in ("accepted", "duplicates", "rejected", "ignored")}
        return {"sources": len(self.reports), "documents": sum(parts.values())} | parts

    @property
    def new_runs(self) -> int:
        """The number of runs that these files brought into the store."""
        return sum(report.accepted for report in self.reports)

    @property
    def run_ids(self) -> list[str]:
        """The first runs in the files, each once."""
        return list(dict.fromkeys(run_id for report in self.reports for run_id in report.run_ids))[:LINKED_RUNS]
