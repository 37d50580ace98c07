"""The path of data: source → documents → format → wire record → strict rows → one transaction.

Holds at every stop: documents = accepted + duplicates + rejected + ignored, for each source and in total. The same bytes or
the same record again change nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from ingest import containers
from ingest.containers import Document, Source, Unreadable
from ingest.formats import recognise
from ingest.formats.base import Context, Rows
from ingest.store import Store, Writer
from schemas.errors import InputUnreadable, InvalidRecord, RejectReason
from schemas.source import RejectRow, SourceRow

CHILD_TABLES = ("model_usage", "claims", "file_changes", "findings")
"""The tables whose rows come and go with their run; each is a field of `Rows`."""


@dataclass(frozen=True)
class SourceReport:
    """What became of one source. `run_ids` are its runs in the store, new or known; `known` if its bytes had been read before."""

    name: str
    source_id: str
    documents: int = 0
    accepted: int = 0
    duplicates: int = 0
    rejected: int = 0
    ignored: int = 0
    known: bool = False
    run_ids: tuple[str, ...] = ()
    rejects: tuple[RejectRow, ...] = ()


@dataclass(frozen=True)
class IngestReport:
    """What became of all sources of one ingest; `seconds` is wall time."""

    sources: tuple[SourceReport, ...]
    unreadable: tuple[InputUnreadable, ...]
    seconds: float

    def total(self, count: str) -> int:
        """Sum of one of the counts over the sources."""
        return sum(int(getattr(source, count)) for source in self.sources)

    def as_dict(self) -> dict[str, float]:
        """The figures `tachograph ingest --json` prints."""
        counts = ("documents", "accepted", "duplicates", "rejected", "ignored")
        return {"sources": len(self.sources)} | {name: self.total(name) for name in counts} | {"seconds": round(self.seconds, 3)}


@dataclass
class Reading:
    """A source, read but not yet written."""

    source: Source
    container: str = "none"
    rows: list[Rows] = field(default_factory=list)
    rejects: list[RejectRow] = field(default_factory=list)
    ignored: list[Document] = field(default_factory=list)


def ingest(
    sources: Iterable[Source | InputUnreadable],
    store: Store,
    labels: dict[str, str] | None = None,
    on_read: Callable[[Reading], None] | None = None,
) -> IngestReport:
    """Read the sources and write what is new in one transaction. `on_read` is called after each source was read.

    What could not be opened is reported and the others go on; where nothing could be opened no store is made.
    """
    started = time.monotonic()
    readings: list[Reading] = []
    unreadable: list[InputUnreadable] = []
    for source in sources:
        if isinstance(source, InputUnreadable):
            unreadable.append(source)
            continue
        readings.append(read_source(source, labels or {}))
        if on_read:
            on_read(readings[-1])
    reports = write(readings, store) if readings else ()
    return IngestReport(reports, tuple(unreadable), time.monotonic() - started)


def read_source(source: Source, labels: dict[str, str]) -> Reading:
    """Everything in a source as rows, rejects and ignored events. Pure; raises nothing about the content."""
    contents = containers.read(source)
    reading = Reading(source, contents.kind)
    context = Context(source.source_id, labels)
    for part in contents.parts:
        _file(reading, part, context)
    return _without_silence(reading)


def _file(reading: Reading, part: Document | Unreadable, context: Context) -> None:
    """Put one part of a source where it belongs."""
    if isinstance(part, Unreadable):
        reading.rejects.append(_reject(context.source_id, part))
        return
    format_ = recognise(part)
    if format_ is None:
        reading.ignored.append(part)
        return
    try:
        reading.rows.append(format_.rows(part, context))
    except InvalidRecord as error:
        reading.rejects.append(reject(context.source_id, part, error.reason, error.detail))


def _without_silence(reading: Reading) -> Reading:
    """A source with nothing but ignored events gets a reject that says so: its last event."""
    if reading.ignored and not reading.rows and not reading.rejects:
        count = len(reading.ignored)
        last = reading.ignored.pop()
        reading.rejects.append(reject(reading.source.source_id, last, RejectReason.NO_RECORD, _no_record_detail(last, count)))
    return reading


def _no_record_detail(last: Document, count: int) -> str:
    if count > 1 and "type" in last.value:
        return f"{count} events, but no result record: the run was killed or the log cut short"
    return "a JSON object, but no result record of an agent" if count == 1 else f"no result record among {count} JSON objects"


def reject(source_id: str, document: Document, reason: RejectReason, detail: str) -> RejectRow:
    """The reject row of a document that is JSON, but no run."""
    excerpt = containers.excerpt(document.text)
    return _reject(source_id, Unreadable(document.ordinal, document.position, reason, detail, excerpt))


def _reject(source_id: str, part: Unreadable) -> RejectRow:
    return RejectRow(
        source_id=source_id,
        ordinal=part.ordinal,
        position=part.position,
        reason=part.reason,
        detail=part.detail,
        excerpt=part.excerpt,
    )


def write(readings: list[Reading], store: Store) -> tuple[SourceReport, ...]:
    """Write what is new, in one transaction."""
    with store.writing() as writer:
        known_sources = writer.known("sources", "source_id", [reading.source.source_id for reading in readings])
        run_ids = [rows.run.run_id for reading in readings for rows in reading.rows]
        known_runs = writer.known("runs", "run_id", run_ids)
        return tuple(_write_all(writer, readings, known_sources, known_runs))


def _write_all(writer: Writer, readings: list[Reading], known_sources: set[str], known_runs: set[str]) -> Iterator[SourceReport]:
    accepted: list[Rows] = []
    rejects: list[RejectRow] = []
    cards: list[SourceRow] = []
    for reading in readings:
        report, new = _sorted_out(reading, known_runs)
        if reading.source.source_id in known_sources:
            yield replace(report, known=True)
            continue
        known_sources.add(reading.source.source_id)
        accepted += new
        rejects += reading.rejects
        cards.append(_card(reading, report))
        yield report
    writer.insert("sources", cards)
    writer.insert("rejects", rejects)
    insert_runs(writer, accepted)


def insert_runs(writer: Writer, accepted: list[Rows]) -> None:
    """Write runs with everything that hangs on them."""
    writer.insert("runs", [rows.run for rows in accepted])
    for table in CHILD_TABLES:
        writer.insert(table, [row for rows in accepted for row in getattr(rows, table)])


def _sorted_out(reading: Reading, known_runs: set[str]) -> tuple[SourceReport, list[Rows]]:
    """The source's report and its new runs; adds them to the known ones."""
    new: list[Rows] = []
    for rows in reading.rows:
        if rows.run.run_id not in known_runs:
            known_runs.add(rows.run.run_id)
            new.append(rows)
    report = SourceReport(
        name=reading.source.name,
        source_id=reading.source.source_id,
        documents=len(reading.rows) + len(reading.rejects) + len(reading.ignored),
        accepted=len(new),
        duplicates=len(reading.rows) - len(new),
        rejected=len(reading.rejects),
        ignored=len(reading.ignored),
        run_ids=tuple(rows.run.run_id for rows in reading.rows),
        rejects=tuple(reading.rejects),
    )
    return report, new


def _card(reading: Reading, report: SourceReport) -> SourceRow:
    return SourceRow(
        source_id=report.source_id,
        name=report.name,
        bytes=len(reading.source.data),
        container=reading.container,
        received_at=datetime.now(UTC),
        documents=report.documents,
        accepted=report.accepted,
        duplicates=report.duplicates,
        rejected=report.rejected,
        ignored=report.ignored,
    )
