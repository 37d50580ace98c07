"""One source → rows in the spool and a card that says what became of its documents.

This is the part of the path of data that runs in worker processes: it opens files, but never the store.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from ingest.agents import recognise
from ingest.agents.base import Context
from ingest.agents.marks import is_agents_event
from ingest.context.gather import SourceContext, gather
from ingest.context.path_template import PathTemplate
from ingest.context.sidecars import Sidecars
from ingest.context.stream import StreamContext
from ingest.context.temporary_sidecars import is_named_as_sidecar, unpacked
from ingest.documents import contents
from ingest.documents.contents import Portion, Source, Unreadable
from ingest.documents.document import Document
from ingest.findings.summary_facts import complete
from ingest.sources.archives import NO_ROOM
from ingest.sources.decoding import Allowance
from ingest.sources.files import CHANGED, changed
from ingest.sources.identity import Checksum, Earlier, Fingerprint, Identity, identify
from ingest.store.spool import Key, SpoolWriter
from schemas.errors import InputUnreadable, InvalidRecord, RejectReason
from schemas.rows.source import FileKind, RejectRow

SMALL_BYTES = 1 << 20
"""Up to this size a file is read into memory at once: it is hashed, sniffed and read from there."""

SHOWN = 100
"""Runs and rejects of a source that its card names; the store has all."""


@dataclass(frozen=True)
class Settings:
    """What an ingest was asked for. `known`: source_ids that are in the store already and need no reading.

    `rejected`: by name, the sources in the store of which something was rejected.
    """

    labels: dict[str, str] = field(default_factory=dict)
    template: PathTemplate | None = None
    known: frozenset[str] = frozenset()
    rejected: Mapping[str, Sequence[Earlier]] = field(default_factory=dict)
    sidecars: Sidecars = field(default_factory=Sidecars)

    def earlier(self, source: Source) -> Sequence[Earlier]:
        """What the source may have been, shorter and with something rejected, when it was read before."""
        return self.rejected.get(source.name, ())


@dataclass
class Card:
    """What became of one reading of one source (or one portion of it). documents = records + rejected + ignored.

    `begins_with`: source_ids of what it was, shorter, when it was read before. `checksum`: of a portion.
    """

    key: Key
    source_id: str
    name: str
    bytes: int
    bytes_read: int = 0
    kind: FileKind = FileKind.LOG
    container: str = "none"
    records: int = 0
    rejected: int = 0
    ignored: int = 0
    known: bool = False
    begins_with: tuple[str, ...] = ()
    checksum: int = 0
    unreadable: InputUnreadable | None = None
    run_ids: list[str] = field(default_factory=list)
    rejects: list[RejectRow] = field(default_factory=list)

    @property
    def documents(self) -> int:
        """Documents found."""
        return self.records + self.rejected + self.ignored

    def identify(self, identity: Identity) -> None:
        """Put on it what the source is known by."""
        self.source_id, self.begins_with = identity.source_id, identity.begins_with


def read_members(source: Source, name: str, settings: Settings, spool: SpoolWriter, allowance: Allowance | None = None) -> Iterator[Card]:
    """Read a file, or everything in an archive. `name` tells this reading from all others of the ingest.

    `allowance`: that of the archive it is a member of.
    """
    try:
        source = source.loaded() if source.size <= SMALL_BYTES else source
        if card := known_card(source, name, settings):
            yield card
            return
        if kind := contents.archive_kind(source):
            yield from _read_archive(source, kind, name, settings, spool)
        else:
            yield read_source(source, Key(name), settings, spool, allowance=allowance)
    except (OSError, InputUnreadable) as error:
        yield _unreadable(source, Key(name), error)


def known_card(source: Source, name: str, settings: Settings) -> Card | None:
    """The card of a source that the store has, None for any other. Of a new store it asks nothing. Raises OSError, InputUnreadable."""
    if not settings.known:
        return None
    identity = identify(source, settings.earlier(source))
    if identity.source_id not in settings.known:
        return None
    card = Card(Key(name), "", source.name, source.size, source.size, known=True)
    card.identify(identity)
    return card


def read_portion(source: Source, key: Key, portion: Portion, settings: Settings, spool: SpoolWriter) -> Card:
    """Read a portion of a big file."""
    try:
        return read_source(source, key, settings, spool, portion)
    except (OSError, InputUnreadable) as error:
        return _unreadable(source, key, error)


def _unreadable(source: Source, key: Key, error: OSError | InputUnreadable) -> Card:
    if isinstance(error, InputUnreadable):
        return Card(key, "", source.name, 0, unreadable=error)
    said = InputUnreadable(f"cannot read {source.name}: {error.strerror or error}")
    if error.errno in NO_ROOM:
        said.hint = f"Archives are unpacked in {tempfile.gettempdir()}: make room there, or name another folder in $TMPDIR."
    return Card(key, "", source.name, 0, unreadable=said)


def _read_archive(source: Source, kind: str, name: str, settings: Settings, spool: SpoolWriter) -> Iterator[Card]:
    """A card for the archive itself, whose own documents are only the members that cannot be opened, and one for each other."""
    archive = Card(Key(name), "", source.name, source.size, kind=FileKind.ARCHIVE, container=kind)
    archive.identify(before := identify(source, settings.earlier(source)))
    folders: dict[str, Path] = {}
    inside = replace(settings, sidecars=Sidecars(folders))
    around = partial(_sidecars_in, folders, Allowance(source.size))
    allowance = Allowance(source.size)
    for number, member in enumerate(contents.members(source, around, allowance=allowance)):
        if isinstance(member, Unreadable):
            _reject(archive, spool, member)
        else:
            yield from read_members(member, f"{name}.{number}", inside, spool, allowance)
    if source.path and not source.temporary and identify(source, settings.earlier(source)) != before:
        raise changed(source.name, CHANGED)
    yield archive


@contextmanager
def _sidecars_in(folders: dict[str, Path], allowance: Allowance, archive: Source, kind: str) -> Iterator[None]:
    """Puts the members named as sidecars, which may stand behind the records they tell of, into `folders`. Most archives have none."""
    if not any(map(is_named_as_sidecar, contents.names(archive, kind, allowance))):
        yield
        return
    found = contents.members(archive, only=is_named_as_sidecar, allowance=allowance)
    with unpacked(member for member in found if isinstance(member, Source)) as more:
        folders.update(more)
        yield


def read_source(
    source: Source,
    key: Key,
    settings: Settings,
    spool: SpoolWriter,
    portion: Portion | None = None,
    allowance: Allowance | None = None,
) -> Card:
    """Read one source, or one portion of it (whose source_id is not known yet, and empty)."""
    card = Card(key, "", source.name, source.size, portion.length if portion else source.size)
    path = None if source.temporary else source.path  # a temporary file's place says nothing
    if settings.sidecars.has(path, source.name):
        card.kind, card.ignored = FileKind.SIDECAR, 1
        card.identify(identify(source, settings.earlier(source)))
        return card
    context = gather(card.source_id, source.name, path, source.modified_at, settings.labels, settings.template, settings.sidecars)
    fingerprint, checksum = Fingerprint(settings.earlier(source)), Checksum()
    _Reader(card, context, spool).read(source, portion, checksum.update if portion else fingerprint.update, allowance)
    card.checksum = checksum.value
    if not portion:
        card.identify(fingerprint.identity())
    return card


class _Reader:
    """Reads the documents of one source in order, with the events among them as context of the records."""

    def __init__(self, card: Card, context: SourceContext, spool: SpoolWriter) -> None:
        self._card = card
        self._context = context
        self._spool = spool
        self._stream = StreamContext()
        self._streaming = False
        self._last_event: Document | None = None
        self._doubtful: list[Unreadable] = []

    def read(self, source: Source, portion: Portion | None, show: Callable[[bytes], None], allowance: Allowance | None) -> None:
        found = contents.read(source, portion, show=show, allowance=allowance)
        for part in found:
            if not isinstance(part, Unreadable):
                self._document(part)
            elif part.certain:
                _reject(self._card, self._spool, part)
            else:
                self._doubtful.append(part)
        self._card.container = found.kind
        if portion or self._card.records or self._card.rejected or self._last_event:
            self._as_log(is_whole=portion is None)
        else:
            self._card.kind, self._card.ignored = found.file_kind, 1

    def _as_log(self, *, is_whole: bool) -> None:
        """What did not look like a run by itself was a part of one: of this log. Of a stream without any record its last event is told."""
        for part in self._doubtful:
            _reject(self._card, self._spool, part)
        if is_whole and self._last_event and not self._card.records and not self._card.rejected:
            count, last = self._card.ignored, self._last_event
            self._card.ignored -= 1
            _reject(self._card, self._spool, refused(last, RejectReason.NO_RECORD, _no_record_detail(count)))

    def _document(self, document: Document) -> None:
        """Put a document where it belongs: a record becomes rows, an event context."""
        format_ = recognise(document)
        if format_ is None:
            self._ignore(document)
            return
        try:
            rows = complete(format_.rows(document, partial(self._context_of, document.logged_at)))
        except InvalidRecord as error:
            _reject(self._card, self._spool, refused(document, error.reason, error.detail))
            return
        self._spool.add(self._card.key, rows)
        self._card.records += 1
        if len(self._card.run_ids) < SHOWN:
            self._card.run_ids.append(rows.run.run_id)

    def _context_of(self, logged_at: datetime | None, session_id: str | None, duration_ms: int | None) -> Context:
        facts = self._stream.at_result(session_id, logged_at) if self._streaming or logged_at else None
        return self._context.for_record(facts, duration_ms)

    def _ignore(self, document: Document) -> None:
        self._card.ignored += 1
        if is_agents_event(document.value):
            self._last_event = document
        if isinstance(document.value.get("type"), str):
            self._streaming = True
            self._stream.see(document.value, document.logged_at)


def refused(document: Document, reason: RejectReason, detail: str) -> Unreadable:
    """A document that is JSON, but no run."""
    return Unreadable(document.ordinal, document.position, reason, detail, contents.excerpt(document.text))


def reject_row(source_id: str, part: Unreadable) -> RejectRow:
    """The row of `rejects` for a part that could not be read."""
    return RejectRow(
        source_id=source_id, ordinal=part.ordinal, position=part.position, reason=part.reason, detail=part.detail, excerpt=part.excerpt
    )


def _reject(card: Card, spool: SpoolWriter, part: Unreadable) -> None:
    row = reject_row(card.source_id, part)
    card.rejected += 1
    spool.reject(card.key, row)
    if len(card.rejects) < SHOWN:
        card.rejects.append(row)


def _no_record_detail(count: int) -> str:
    events = "an agent's event" if count == 1 else f"{count:,} events"
    return f"{events}, but no result record: the run was killed or the log cut short"
