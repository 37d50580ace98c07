"""One source → rows in the spool, and a result that says what became of its documents.

This is the part of the path of data that runs in worker processes: it opens files, but never the store.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ingest.agents.base import Found, Rows
from ingest.agents.iso_bench import item_run
from ingest.agents.readers import SourceReaders
from ingest.agents.trial_records import alone, of_trial
from ingest.context.gather import TRUSTED_FILE, SourceContext, gather
from ingest.context.path_template import PathReading
from ingest.context.sidecars import Sidecars, error_beside, is_lone_journal
from ingest.context.small_files import MEASURE_FILE, split
from ingest.measurements.given import error_in
from ingest.reading.known_bytes import SMALL_BYTES, known_source
from ingest.reading.read_archive import read_archive
from ingest.reading.settings import Beginning, Settings
from ingest.sources import contents
from ingest.sources.archives import DISK_FULL, archive_kind
from ingest.sources.decoding import Allowance
from ingest.sources.document import Document, Events
from ingest.sources.files import Source, Unreadable
from ingest.sources.identity import Checksum, Fingerprint, identify
from ingest.sources.portions import Portion, PortionStream
from ingest.store.read_result import PortionKey, ReadResult
from ingest.store.record_rows import reason_of, runs_at_end, runs_with
from ingest.store.spool import SpoolWriter
from ingest.system.bounds import TooMuch, bounded
from schemas.errors import InputUnreadable, InvalidRecord, RejectReason
from schemas.file_kinds import FileKind
from schemas.rows.kept_run import KeptRun
from schemas.rows.run import RecordKind
from schemas.wire.roll_ups import is_roll_up

ItemError = Callable[[], str | None]
"""What the process of an item's agent wrote to its standard error."""


def read_members(
    source: Source, name: str, settings: Settings, spool: SpoolWriter, allowance: Allowance | None = None
) -> Iterator[ReadResult]:
    """Read a file, or all members of an archive. `name`: unique for this reading in the ingest. Raises nothing of the source.

    `allowance`: of the archive, where the source is a member of one.
    """
    key = PortionKey(name)
    try:
        source = source.loaded() if source.size <= SMALL_BYTES else source
        if result := known_source(source, name, settings):
            yield result
            return
        if kind := archive_kind(source):
            yield from read_archive(source, kind, name, settings, spool, read_members, read_item)
        else:
            yield read_source(source, key, settings, spool, allowance=allowance)
    except Exception as error:
        yield _failed(source, key, settings, spool, error)


def read_item(source: Source, key: PortionKey, settings: Settings, spool: SpoolWriter, *, item_error: ItemError | None) -> ReadResult:
    """Read the journal of an item in an archive: as its run, or as a sidecar."""
    try:
        return known_source(source, key.reading, settings) or read_source(source, key, settings, spool, item_error=item_error)
    except Exception as error:
        return _failed(source, key, settings, spool, error)


def read_portion(source: Source, key: PortionKey, portion: Portion, settings: Settings, spool: SpoolWriter) -> ReadResult:
    """Read a portion of a big file."""
    try:
        return read_source(source, key, settings, spool, portion)
    except Exception as error:
        return _failed(source, key, settings, spool, error)


def read_on(source: Source, key: PortionKey, beginning: Beginning, settings: Settings, spool: SpoolWriter) -> ReadResult | None:
    """Read what was appended to a transcript. None: it must be read from its start, because it does not begin with what was read before."""
    try:
        with bounded(lambda: source.size):
            return _appended(source, key, beginning, settings, spool)
    except (OSError, InputUnreadable) as error:
        return _unreadable(source, key, error)
    except (Exception, TooMuch):  # reading it from its start says what is wrong with it
        return None


def _appended(source: Source, key: PortionKey, beginning: Beginning, settings: Settings, spool: SpoolWriter) -> ReadResult | None:
    portion = Portion(beginning.resume_at, source.size - beginning.resume_at)
    result = ReadResult(key, "", source.name, source.size, portion.length, modified_ns=source.modified_ns, resume_at=beginning.resume_at)
    context = _context_of(source, source.path, settings)
    reader = _SourceReader(result, context, spool, settings.sidecars)
    if context.harness.trial_id or not reader.resume(beginning):
        return None
    fingerprint = Fingerprint((beginning.source, *(one for one in settings.earlier(source) if one != beginning.source)))
    with source.open() as stream:
        before = PortionStream(stream, Portion(0, beginning.resume_at))
        while block := before.read(SMALL_BYTES):
            fingerprint.update(block)
            last = block[-1:]
        if last + stream.read(1) != b"\n{":
            return None
    reader.read(source, portion, fingerprint.update, Allowance(source.size))
    result.identify(fingerprint.identity())
    if beginning.source.source_id not in result.begins_with:
        return None
    if result.source_id in settings.known:
        return replace(result, known=True, records=0, rejected=0, ignored=0)
    result.goes_on = beginning.source.source_id
    return result


def _context_of(source: Source, path: Path | None, settings: Settings) -> SourceContext:
    paths = PathReading(settings.template, settings.zone_of(source.name))
    context = gather("", source.name, path, source.modified_at, settings.labels, paths, settings.sidecars)
    return replace(context, file_origin=TRUSTED_FILE) if settings.trust_file_times else context


def _failed(source: Source, key: PortionKey, settings: Settings, spool: SpoolWriter, error: Exception) -> ReadResult:
    """The result of a source that could not be opened, or at which the reading failed: a reject then."""
    if isinstance(error, (OSError, InputUnreadable)):
        return _unreadable(source, key, error)
    result = ReadResult(key, "", source.name, source.size, modified_ns=source.modified_ns)
    try:
        result.identify(identify(source, settings.earlier(source)))
    except Exception as gone:
        unreadable = gone if isinstance(gone, (OSError, InputUnreadable)) else InputUnreadable(f"cannot read {source.name}: {gone!r}")
        return _unreadable(source, key, unreadable)
    spool.reject(result, Unreadable(0, "line 1, byte 0", *reason_of("files", error)))
    return result


def _unreadable(source: Source, key: PortionKey, error: OSError | InputUnreadable) -> ReadResult:
    if isinstance(error, InputUnreadable):
        return ReadResult(key, "", source.name, 0, unreadable=error)
    said = InputUnreadable(f"cannot read {source.name}: {error.strerror or error}")
    if error.errno in DISK_FULL:
        said.hint = f"Archives are unpacked in {tempfile.gettempdir()}: make room there, or set $TMPDIR to another folder."
    return ReadResult(key, "", source.name, 0, unreadable=said)


def read_source(
    source: Source,
    key: PortionKey,
    settings: Settings,
    spool: SpoolWriter,
    portion: Portion | None = None,
    allowance: Allowance | None = None,
    item_error: ItemError | None = None,
) -> ReadResult:
    """Read one source or one portion of it. The result of a portion has no source_id yet. Raises OSError, InputUnreadable.

    Whatever else a reader raises, and too much time or memory, ends the reading of this source with a reject; what was read before stays.
    `item_error`: given for the journal of an item without any other record, which is the run of the item then.
    """
    bytes_read = portion.length if portion else source.size
    result = ReadResult(key, "", source.name, source.size, bytes_read, modified_ns=source.modified_ns)
    path = None if source.temporary else source.path  # the path of a temporary file says nothing
    is_sidecar = settings.sidecars.has(path, source.name)
    if is_sidecar and path and is_lone_journal(path):
        item_error = partial(error_beside, path)
    if is_sidecar and not item_error:
        result.kind = FileKind.SIDECAR
        result.identify(identify(source, settings.earlier(source)))
        said = settings.sidecars.neighbour(path, source.name, MEASURE_FILE) if split(source.name)[1] == MEASURE_FILE else None
        if said and (wrong := error_in(said, source.name)):
            spool.reject(result, Unreadable(0, "line 1, byte 0", RejectReason.INVALID_RECORD, wrong))
        else:
            result.ignored = 1
        return result
    allowance = allowance or Allowance(source.size)
    before = allowance.spent
    fingerprint, checksum = Fingerprint(settings.earlier(source)), Checksum()
    show = checksum.update if portion else fingerprint.update
    parts = result, _context_of(source, path, settings), spool, settings.sidecars
    reader = _JournalReader(item_error, *parts) if item_error else _SourceReader(*parts)
    try:
        with bounded(lambda: max(bytes_read, allowance.spent - before)):
            reader.read(source, portion, show, allowance)
    except (OSError, InputUnreadable):
        raise
    except (Exception, TooMuch) as error:
        reader.stopped(error)
        fingerprint, checksum = Fingerprint(settings.earlier(source)), Checksum()
        show = checksum.update if portion else fingerprint.update
        with source.open() as stream:
            read = PortionStream(stream, portion or Portion(0, source.size)).read
            while block := read(SMALL_BYTES):
                show(block)
    result.checksum = checksum.value
    if not portion:
        result.identify(fingerprint.identity())
    return result


class _SourceReader:
    """Reads the documents of one source in order: runs go into the spool, all else is context of them or ignored."""

    def __init__(self, result: ReadResult, context: SourceContext, spool: SpoolWriter, sidecars: Sidecars) -> None:
        self._result = result
        self._spool = spool
        self._sidecars = sidecars
        self._readers = SourceReaders(context.for_run)
        self._has_records = False
        self._has_roll_ups = False
        self._doubtful: list[Unreadable] = []
        self._more = 0
        self._of_trial: list[Found] = []
        self._is_of_trial = True
        self._next = 0
        self._offset = 0

    def resume(self, beginning: Beginning) -> bool:
        """Go on with the run of an earlier reading. False where its reader cannot, or where that kept no text and this one does."""
        self._offset = beginning.resume_at
        kept = KeptRun.model_validate_json(beginning.raw)
        return not (kept.is_textless and self._spool.keeps_text) and self._readers.resume(kept)

    def _lines(self) -> int:
        """How many lines the reader of a transcript has read."""
        return reader.lines if (reader := self._readers.only) else 0

    def _settle(self, first: int, starts: Sequence[int]) -> None:
        """Note from where a later reading may go on. `first`: the number of the first line that was just read; `starts`: their bytes.

        What is rejected will be read again: it may be whole then.
        """
        reader = self._readers.only
        if reader and reader.settled_at is not None and reader.settled_at >= first and not self._result.rejected:
            self._result.resume_at = self._offset + starts[reader.settled_at - first]
            reader.settle()

    def read(self, source: Source, portion: Portion | None, show: Callable[[bytes], None], allowance: Allowance | None) -> None:
        self._is_of_trial = portion is None
        found = contents.read(source, portion, show=show, allowance=allowance)
        for part in found.parts():
            if isinstance(part, Events):
                self._events(part)
            elif isinstance(part, Unreadable):
                self._unreadable(replace(part, ordinal=part.ordinal + self._more))
            else:
                self._document(part)
            found.taker = self._readers.last.passing if self._readers.last else None
        self._result.container = found.kind
        without_run = self._end()
        self._add_all(of_trial)
        if portion or self._has_records or self._result.rejected or without_run:
            self._as_log([] if portion else without_run)
        elif self._has_roll_ups:
            self._result.kind, self._result.ignored = FileKind.SIDECAR, 1
        else:
            from ingest.reading.read_measurements import read_as_measurements  # noqa: PLC0415  all measuring tools: few logs need them

            read_as_measurements(source, found.file_kind, self._result, self._spool, self._sidecars)

    def stopped(self, error: BaseException) -> None:
        """Reject the source from the place on where its reading failed. Complete runs before it stay."""
        self._add_all(alone)
        self._result.kind = FileKind.LOG
        position = f"after document {self._next}" if self._next else "line 1, byte 0"
        self._spool.reject(self._result, Unreadable(self._next, position, *reason_of(self._readers.agent, error)))

    def _as_log(self, without_run: list[Unreadable]) -> None:
        """Reject the doubtful parts, since the source is a log; and events without a run, where nothing else was found."""
        for part in self._doubtful:
            self._spool.reject(self._result, part)
        if not self._has_records and not self._result.rejected:
            for part in without_run:
                self._result.ignored -= 1
                self._spool.reject(self._result, part)

    def _unreadable(self, part: Unreadable) -> None:
        self._next = part.ordinal + 1
        if part.certain:
            self._spool.reject(self._result, part)
        else:
            self._doubtful.append(part)

    def _events(self, events: Events) -> None:
        """Events that their reader took, or only notes, are ignored together; any other is a document by itself."""
        place, parsed = 0, len(events.values)
        while place < parsed:
            lines, first = self._lines(), place
            if noted := self._readers.note(events, place, self._more):
                self._result.ignored += noted
                place += noted
                self._settle(lines, events.starts[first:place])
            if place < parsed:
                lines = self._lines()
                self._document(events.document(place))
                self._settle(lines, events.starts[place : place + 1])
                place += 1
        self._result.ignored += events.count - parsed
        if taken := events.last_taken():
            self._readers.passed(taken.moved(self._more))
        self._next = events.ordinal + events.count + self._more

    def _document(self, document: Document) -> None:
        """A document that ends a run becomes its rows, or a reject; any other is ignored.

        One that holds several runs counts as so many documents, and those behind it have higher numbers.
        """
        if self._more:
            document = document.moved(self._more)
        self._next = document.ordinal + 1
        try:
            found = runs_with(self._readers, document)
        except InvalidRecord as error:
            self._spool.reject(self._result, document.refused(error.reason, error.detail))
            return
        if not found:
            self._result.ignored += 1
            self._has_roll_ups = self._has_roll_ups or (found is None and is_roll_up(document.value))
            return
        for place, one in enumerate(found):
            if isinstance(one, Found):
                self._add(_at(document.ordinal, one, place))
            else:
                self._spool.reject(self._result, one)
        self._more += len(found) - 1
        self._next += len(found) - 1

    def _end(self) -> list[Unreadable]:
        """Runs that end with the source: their last event, ignored before, is their record. Returns the events that make no run.

        A run whose last event was refused is a document more.
        """
        without_run = []
        found, failed = runs_at_end(self._readers)
        for one in found:
            if isinstance(one, Found):
                self._result.ignored -= not one.document.is_refused
                self._add(_at(self._next, one, 0))
                self._next += one.document.is_refused
            else:
                without_run.append(one)
        if failed:
            raise failed
        return without_run

    def _add(self, run: Found) -> None:
        """Spool the run. The first one of a log in a trial's folder waits: a log with several runs is not the log of the trial's run."""
        self._has_records = True
        is_transcript = run.rows.run.record_kind == RecordKind.TRANSCRIPT
        if run.rows.response_copies and is_transcript and self._result.resume_at is None:
            self._result.resume_at = 0
        if run.rows.run.trial_id is None:
            self._spool.add(self._result, run.document, run.rows)
        elif self._is_of_trial:
            self._of_trial.append(run)
            if len(self._of_trial) > 1:
                self._is_of_trial = False
                self._add_all(alone)
        else:
            self._spool.add(self._result, run.document, alone(run.rows))

    def _add_all(self, changed: Callable[[Rows], Rows]) -> None:
        """Spool the runs that wait."""
        for run in self._of_trial:
            self._spool.add(self._result, run.document, changed(run.rows))
        self._of_trial.clear()


def _at(ordinal: int, run: Found, place: int) -> Found:
    """A run with the number of its document: its own and as many higher as runs before it share it, or where that is a reject, another."""
    own = run.document
    return run._replace(document=own.moved((ordinal - own.ordinal if own.is_refused else 0) + place))


class _JournalReader(_SourceReader):
    """Reads the journal of a harness whose agent left no record: it is the run."""

    def __init__(self, error: ItemError, result: ReadResult, context: SourceContext, spool: SpoolWriter, sidecars: Sidecars) -> None:
        super().__init__(result, context, spool, sidecars)
        self._error = error
        self._context = context

    def _document(self, document: Document) -> None:
        try:
            run = item_run(document, self._error(), self._context.for_run)
        except InvalidRecord as error:
            self._spool.reject(self._result, document.refused(error.reason, error.detail))
        else:
            self._add(run)
