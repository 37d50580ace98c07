"""One source → rows in the spool, and a result that counts its documents.

Opens files, but never the store.
"""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.agents.base import Rows
from ingest.agents.distilled import of_trial, without_end, without_trial
from ingest.agents.iso_bench import item_run
from ingest.agents.readers import SourceReaders
from ingest.context.gather import TRUSTED_FILE, SourceContext, gather
from ingest.context.path_template import PathReading
from ingest.context.sidecars import (
    JOURNAL,
    Items,
    Sidecars,
    named_as_sidecars,
    unpacked,
)
from ingest.context.small_files import MAP_FILE, MEASURE_FILE, split
from ingest.facts import Facts
from ingest.mapped.found import error_in as error_in_map
from ingest.measurements.base import columns_of
from ingest.measurements.given import error_in
from ingest.reading.settings import SMALL_BYTES, Settings, known_source
from ingest.sources import contents
from ingest.sources.archives import DISK_FULL, archive_kind, members, names
from ingest.sources.databases import session_documents
from ingest.sources.decoding import Allowance, is_database
from ingest.sources.document import Document, Events
from ingest.sources.files import (
    CHANGED,
    Fingerprint,
    Portion,
    PortionStream,
    Source,
    Unreadable,
    changed,
    identify,
)
from ingest.store.read_result import PortionKey, ReadResult
from ingest.store.record_rows import Read, made, reason_of, runs_at_end, runs_with
from ingest.store.spool import SpoolWriter
from ingest.system.bounds import TooMuch, bounded
from ingest.system.databases import WRITE_AHEAD
from schemas.errors import InputUnreadable, InvalidRecord, RejectReason
from schemas.file_kinds import NO_LOGS, FileKind
from schemas.marks import are_of_runs, rows_in
from schemas.rows.run import RecordKind
from schemas.wire.roll_ups import is_roll_up

if TYPE_CHECKING:
    from ingest.mapped.found import KnownMap

_BEGINNING = "line 1, byte 0"


ItemError = Callable[[], str | None]
"""Returns the standard error of an item's agent process."""


def read_members(
    source: Source,
    name: str,
    settings: Settings,
    spool: SpoolWriter,
    allowance: Allowance | None = None,
) -> Iterator[ReadResult]:
    """Read a file, or all members of an archive. `name` identifies the reading within the ingest.

    Errors of the source are never raised.

    `allowance`: that of the enclosing archive, if any.
    """
    try:
        source = source.loaded() if source.size <= SMALL_BYTES else source
        if known := known_source(source, name, settings):
            yield known
        elif kind := archive_kind(source):
            yield from _read_archive(source, kind, name, settings, spool)
        else:
            yield read_source(source, PortionKey(name), settings, spool, allowance=allowance)
    except Exception as error:  # a bulkhead around each file
        yield _failed(source, PortionKey(name), settings, spool, error)


def _read_archive(
    source: Source, kind: str, name: str, settings: Settings, spool: SpoolWriter
) -> Iterator[ReadResult]:
    """Read an archive: a result for each member, with its sidecars, and one for the archive.

    The archive's own documents are the members that cannot be opened. Raises OSError,
    InputUnreadable.
    """
    archive = ReadResult(
        PortionKey(name), "", source.name, source.size, kind=FileKind.ARCHIVE, container=kind
    )
    archive.modified_ns = source.modified_ns
    archive.identify(before := identify(source, settings.earlier(source)))
    folders: dict[str, Path] = {}
    items, held, found = Items(folders), list[ReadResult](), list[ReadResult]()
    inside = replace(settings, unpacked=folders)
    allowance, allowance_of_sidecars = Allowance(source.size), Allowance(source.size)

    @contextmanager
    def sidecars_in(packed: Source, kind: str) -> Iterator[None]:
        """Unpack sidecars for the block, since a sidecar may come after its record.

        Most archives have none.

        Journals of items are read last, while their sidecars are there.
        """
        named = named_as_sidecars(names(packed, kind, allowance_of_sidecars))
        if not named:
            yield
            return
        found = members(packed, only=named.__contains__, allowance=allowance_of_sidecars)
        with unpacked(member for member in found if isinstance(member, Source)) as more:
            folders.update(more)
            yield
            for journal, error in items.held(more):
                key = PortionKey(f"{name}.journal-{len(held)}")
                held.append(read_or_failed(journal, key, inside, spool, item_error=error))

    for number, member in enumerate(members(source, sidecars_in, allowance=allowance)):
        if isinstance(member, Unreadable):
            spool.reject(archive, member)
        elif not items.hold(member):
            for result in read_members(member, f"{name}.{number}", inside, spool, allowance):
                items.note(result)
                found.append(result)
                yield result
    yield from held
    archive.members = tuple(
        (one.source_id, one.name[len(source.name) :]) for one in (*found, *held) if one.source_id
    )
    if (
        source.path
        and not source.temporary
        and identify(source, settings.earlier(source)) != before
    ):
        raise changed(source.name, CHANGED)
    yield archive


def read_or_failed(
    source: Source,
    key: PortionKey,
    settings: Settings,
    spool: SpoolWriter,
    portion: Portion | None = None,
    item_error: ItemError | None = None,
) -> ReadResult:
    """Read a source or a portion of it; its failure is a result, too."""
    try:
        known = None if portion else known_source(source, key.reading, settings)
        return known or read_source(source, key, settings, spool, portion, item_error=item_error)
    except Exception as error:
        return _failed(source, key, settings, spool, error)


def _failed(
    source: Source, key: PortionKey, settings: Settings, spool: SpoolWriter, error: Exception
) -> ReadResult:
    """Return the result of a source that could not be opened or read; the failure is a reject."""
    if not isinstance(error, (OSError, InputUnreadable)):
        result = ReadResult(key, "", source.name, source.size, modified_ns=source.modified_ns)
        try:
            result.identify(identify(source, settings.earlier(source)))
        except Exception as gone:
            error = gone
        else:
            spool.reject(result, Unreadable(0, _BEGINNING, *reason_of("files", error)))
            return result
    if isinstance(error, OSError):
        unreadable = InputUnreadable(f"cannot read {source.name}: {error.strerror or error}")
        if error.errno in DISK_FULL:
            unreadable.hint = (
                f"Archives are unpacked in {tempfile.gettempdir()}: make room there, or set "
                "$TMPDIR to another folder."
            )
    else:
        unreadable = (
            error
            if isinstance(error, InputUnreadable)
            else InputUnreadable(f"cannot read {source.name}: {error!r}")
        )
    return ReadResult(key, "", source.name, 0, unreadable=unreadable)


def _context_of(source: Source, path: Path | None, settings: Settings) -> SourceContext:
    paths = PathReading(settings.template, settings.zone_of(source.name))
    written_at, since = source.modified_at, settings.trusted_since
    trusts = settings.trust_file_times or bool(
        path and written_at and since and written_at >= since
    )
    modified_at = (
        written_at if path or trusts else None
    )  # in an archive, people's tools set it anew
    context = gather(source.name, path, modified_at, paths, settings.sidecars)
    return replace(context, file_origin=TRUSTED_FILE) if trusts else context


def read_source(
    source: Source,
    key: PortionKey,
    settings: Settings,
    spool: SpoolWriter,
    portion: Portion | None = None,
    allowance: Allowance | None = None,
    item_error: ItemError | None = None,
) -> ReadResult:
    """Read one source or one portion of it. Raises OSError, InputUnreadable.

    Any other error of a reader, or too much time or memory, ends the reading with a reject; what
    was read before stays. `item_error`: given for an item's journal that is its only record, and so
    its run, and for the prompt of an item without a journal, which has none.
    """
    bytes_read = portion.length if portion else source.size
    result = ReadResult(
        key, "", source.name, source.size, bytes_read, modified_ns=source.modified_ns
    )
    path = None if source.temporary else source.path  # the path of a temporary file says nothing
    is_sidecar = settings.sidecars.has(path, source.name)
    if is_sidecar and path and settings.sidecars.is_alone(path):
        item_error = partial(settings.sidecars.error_beside, path)
    if is_sidecar and not (item_error and split(source.name)[1] == JOURNAL):
        result.kind, result.without_run = FileKind.SIDECAR, int(item_error is not None)
        result.identify(identify(source, settings.earlier(source)))
        name = split(source.name)[1]
        checks = {MEASURE_FILE: error_in, MAP_FILE: error_in_map}
        own = settings.sidecars.neighbour(path, source.name, name) if name in checks else None
        if own and (wrong := checks[name](own, source.name)):
            spool.reject(result, Unreadable(0, _BEGINNING, RejectReason.INVALID_RECORD, wrong))
        else:
            result.ignored = 1
        return result
    allowance = allowance or Allowance(source.size)
    before = allowance.spent
    fingerprint, checksum = Fingerprint(settings.earlier(source)), 0
    if portion and portion.whole:
        result.identify(portion.whole)

    def show(block: bytes) -> None:
        nonlocal checksum
        if portion:
            checksum = zlib.crc32(block, checksum)
        else:
            fingerprint.update(block)

    reader = _SourceReader(
        result,
        _context_of(source, path, settings),
        spool,
        settings.sidecars,
        item_error,
        settings.maps_of(source),
    )
    try:
        with bounded(lambda: max(bytes_read, allowance.spent - before)):
            reader.read(source, portion, show, allowance)
    except (OSError, InputUnreadable):
        raise
    except (Exception, TooMuch) as error:
        reader.stopped(error)
        fingerprint, checksum = Fingerprint(settings.earlier(source)), 0
        with source.open() as stream:
            rest = PortionStream(stream, portion or Portion(0, source.size))
            while block := rest.read(SMALL_BYTES):
                show(block)
    if not portion:
        result.identify(fingerprint.identity())
        result.is_again = result.source_id in settings.known
    elif checksum != portion.checksum:
        raise changed(source.name, CHANGED)
    return result


class _SourceReader:
    """Reads the documents of one source in order.

    Runs go into the spool, everything else is context of them or ignored.
    """

    def __init__(
        self,
        result: ReadResult,
        context: SourceContext,
        spool: SpoolWriter,
        sidecars: Sidecars,
        item_error: ItemError | None = None,
        maps: Sequence[KnownMap] = (),
    ) -> None:
        self._maps = maps
        self._held: list[Unreadable] = []  # rejects of a file that a map may read
        self._result = result
        self._context = context
        self._spool = spool
        self._sidecars = sidecars
        self._item_error = item_error
        self._readers = SourceReaders(context.source)
        self._is_cut = (
            False  # it ends in the middle of a line, and so does every run that is open then
        )
        self._has_records = False
        self._has_roll_ups = False
        self._rows = 0  # with costs or tokens, of no known agent
        self._of_trial: list[
            Read
            # runs of a log in a trial's folder wait: a log with several is not the log of the
            # trial's
            # run
        ] = []
        self._is_of_trial = True
        self._number = 0  # of the next document; one with several runs counts as so many
        self._again: Callable[[], contents.Documents] | None = None
        self._failed: set[int] = (
            set()
        )  # numbers of documents that a reader refused or failed to read
        self._restored = 0

    def _facts_of(self, log: Facts, duration_ms: int | None) -> Facts:
        facts = self._context.for_run(log, duration_ms)
        return replace(facts, is_cut=True) if self._is_cut else facts

    def read(
        self,
        source: Source,
        portion: Portion | None,
        show: Callable[[bytes], object],
        allowance: Allowance | None,
    ) -> None:
        """Read all of it. Raises the reader's errors."""
        self._is_of_trial = portion is None
        self._again = partial(contents.read, source, portion)
        doubtful: list[Unreadable] = []
        found = contents.read(source, portion, show=show, allowance=allowance)
        part: Events | Document | Unreadable | None = None
        for part in chain(found.parts(), self._sessions_in(source, found)):
            if isinstance(part, Events):
                self._events(part)
            elif isinstance(part, Document):
                self._document(part)
            else:
                unreadable = replace(part, ordinal=self._number)
                self._number += 1
                if part.certain:
                    self._reject(unreadable)
                else:
                    doubtful.append(unreadable)
        self._result.container = found.kind
        self._is_cut = isinstance(part, Unreadable) and part.reason is RejectReason.TRUNCATED
        without_run = self._end()
        self._add_all(of_trial)
        is_log = bool(portion or self._has_records or self._result.rejected)
        if not is_log:
            from ingest.reading.without_runs import read_without_runs, sniffed  # all formats: 50 ms

            start, own = sniffed(source, found), self._maps
            if self._read_mapped(source, own or start.map_for(source.name)):
                return
        self._let_go()
        if is_log or self._result.rejected or without_run:
            for part in doubtful:
                self._spool.reject(self._result, part)
            if not portion and not self._has_records and not self._result.rejected:
                for part in without_run:
                    self._result.ignored -= 1
                    self._spool.reject(self._result, part)
        elif self._has_roll_ups:
            self._result.kind, self._result.ignored = FileKind.SIDECAR, 1
        else:
            read_without_runs(source, found, start, self._result, self._spool, self._sidecars)
            if self._result.kind in NO_LOGS and not (
                own and self._read_mapped(source, start.map_for(source.name))
            ):
                self._note_rows(source)

    def _note_rows(self, source: Source) -> None:
        """Note the rows of a file that a map could read: of JSON, or of a table by its header."""
        if self._result.kind is FileKind.CSV:
            with source.open() as stream:
                table = stream.read(SMALL_BYTES).decode("utf-8", "replace")
            if are_of_runs(columns_of(table)):
                self._rows = max(1, table.count("\n") - 1)
        if self._rows:
            self._result.kind, self._result.rows = FileKind.ROWS, self._rows

    def _reject(self, part: Unreadable) -> None:
        if self._maps and not self._has_records:
            self._held.append(part)
        else:
            self._spool.reject(self._result, part)

    def _let_go(self) -> None:
        """Write the rejects that waited for a map."""
        for part in self._held:
            self._spool.reject(self._result, part)
        self._held.clear()

    def _read_mapped(self, source: Source, maps: Sequence[KnownMap]) -> bool:
        """Read the rows of a file by maps. Return whether they brought anything, or a reject."""
        if not maps:
            return False
        from ingest.mapped.reading import read_by_maps  # few files have a map

        result = self._result
        self._maps = ()
        read = read_by_maps(source, maps)
        result.map = read.map
        if read.is_empty:
            return False
        self._held.clear()
        for run in read.runs:
            one = made(run, self._facts_of)
            if isinstance(one, Read):
                self._add(one)
            else:
                self._spool.reject(result, one)
        for part in read.rejects:
            self._spool.reject(result, part)
        self._add_all(of_trial)
        result.kind, result.ignored = FileKind.LOG, read.ignored
        if not (read.runs or read.rejects):
            result.kind = FileKind.LOOP if read.loops else FileKind.MEASUREMENT
            result.ignored = 1
        if read.loop_tables:
            self._spool.loop(result, *read.loop_tables)
        if read.measurements is not None and read.published is not None:
            self._spool.measure(result, read.measurements, read.published)
        return True

    def _sessions_in(
        self, source: Source, found: contents.Documents
    ) -> Iterator[Document | Unreadable]:
        """Yield the sessions of an agent's database, in a file or unpacked beside its archive."""
        if self._number or found.file_kind is not FileKind.BINARY or not is_database(source):
            return
        path, name = None if source.temporary else source.path, split(self._result.name)[1]
        place = self._sidecars.neighbour(path, self._result.name, name)
        if not (place and place.is_file()) and not name.endswith(WRITE_AHEAD):
            place = source.path  # of an archive, and too large to be unpacked beside it
        if place:
            yield from session_documents(place, name)

    def stopped(self, error: BaseException) -> None:
        """Reject the source from the point of failure on. Complete runs before it stay."""
        self._let_go()
        self._add_all(without_trial)
        self._result.kind = FileKind.LOG
        position = f"after document {self._number}" if self._number else _BEGINNING
        self._spool.reject(
            self._result, Unreadable(self._number, position, *reason_of(self._readers.agent, error))
        )

    def _events(self, events: Events) -> None:
        """Ignore events together that their reader took or only notes.

        Any other event is a document of its own.
        """
        place = 0
        while place < len(events.values):
            noted = self._readers.note(events, place, self._number)
            self._result.ignored += noted
            self._number += noted
            place += noted
            if self._readers.is_torn:
                self._restore(self._number)
            if place < len(events.values):
                self._document(events.document(place))
                place += 1

    def _document(self, document: Document) -> None:
        """Turn a document that ends a run into its rows, or a reject; ignore any other."""
        document.ordinal = self._number
        self._number += 1
        found: Sequence[Read | Unreadable] | None
        try:
            if self._item_error:
                found = (made(item_run(document, self._item_error()), self._facts_of, document),)
            else:
                found = runs_with(self._readers, document, self._facts_of)
        except InvalidRecord as error:
            self._reject(document.refused(error.reason, error.detail))
            self._failed.add(document.ordinal)
            if error.reason is RejectReason.READER_DEFECT:
                self._restore(document.ordinal)
            return
        if not found:
            self._result.ignored += 1
            self._has_roll_ups = self._has_roll_ups or (
                found is None and is_roll_up(document.value)
            )
            if not (self._has_records or document.is_result):
                self._rows += rows_in(document.value)
            return
        for place, one in enumerate(found):
            if isinstance(one, Read):
                self._add(_at(document.ordinal, one, place))
            else:
                self._reject(one)
        self._number += len(found) - 1

    def _restore(self, until: int) -> None:
        """Make the readers anew from the documents before one that a reader failed to read.

        The reader may have kept a part of that one.
        """
        self._readers.is_torn = False
        # Defects of readers in a source after which its documents before them are read again: each
        # time takes as long as reading those.
        if self._again is None or not self._readers.keeps_state or self._restored == 4:
            return
        self._restored += 1
        readers, number = SourceReaders(self._context.source), 0
        for part in self._again():
            if number >= until:
                break
            runs = 1
            if isinstance(part, Document) and number not in self._failed:
                part.ordinal = number
                with suppress(InvalidRecord):
                    runs = max(1, len(runs_with(readers, part, self._facts_of) or ()))
            number += runs
        self._readers = readers

    def _end(self) -> list[Unreadable]:
        """Add the runs that end with the source; their last event, ignored so far, is their record.

        Returns the events that make no run.

        If that event was rejected, the run counts as one more document.
        """
        without_run = []
        found, failed = runs_at_end(self._readers, self._facts_of)
        for one in found:
            if isinstance(one, Read):
                one.document.is_refused |= one.document.ordinal in self._failed
                self._result.ignored -= not one.document.is_refused
                self._add(
                    _at(
                        self._number,
                        one._replace(rows=without_end(one.rows)) if self._is_cut else one,
                        0,
                    )
                )
                self._number += one.document.is_refused
            else:
                without_run.append(one)
        if failed:
            raise failed
        return without_run

    def _add(self, run: Read) -> None:
        self._has_records = True
        is_transcript = run.rows.run.record_kind == RecordKind.TRANSCRIPT
        if run.rows.response_copies and is_transcript:
            self._result.resume_at = 0
        if run.rows.run.trial_id is None:
            self._spool.add(self._result, run.document, run.rows)
        elif self._is_of_trial:
            self._of_trial.append(run)
            if len(self._of_trial) > 1:
                self._is_of_trial = False
                self._add_all(without_trial)
        else:
            self._spool.add(self._result, run.document, without_trial(run.rows))

    def _add_all(self, changed_by: Callable[[Rows], Rows]) -> None:
        for run in self._of_trial:
            self._spool.add(self._result, run.document, changed_by(run.rows))
        self._of_trial.clear()


def _at(ordinal: int, run: Read, place: int) -> Read:
    """Number a run by its document, counted up for runs that share it.

    If that document is a reject, the run gets a new one.
    """
    own = run.document
    places = (ordinal - own.ordinal if own.is_refused else 0) + place
    return run._replace(document=own.moved(places)) if places else run
