"""One archive → a result for each member, with the sidecars beside it, and one for the archive itself."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

from ingest.context.sidecars import Items, named_as_sidecars, unpacked
from ingest.reading.settings import Settings
from ingest.sources.archives import members, names
from ingest.sources.decoding import Allowance
from ingest.sources.files import CHANGED, Source, Unreadable, changed
from ingest.sources.identity import identify
from ingest.store.read_result import PortionKey, ReadResult
from ingest.store.spool import SpoolWriter
from schemas.file_kinds import FileKind


class ReadMember(Protocol):
    """Reads a member, which may be an archive itself."""

    def __call__(self, source: Source, name: str, settings: Settings, spool: SpoolWriter, allowance: Allowance) -> Iterator[ReadResult]:
        """The results. `name` is unique in the ingest."""


class ReadItem(Protocol):
    """Reads a journal as the run of its item."""

    def __call__(
        self, source: Source, key: PortionKey, settings: Settings, spool: SpoolWriter, *, item_error: Callable[[], str | None] | None
    ) -> ReadResult:
        """The result. `item_error`: what the agent's process wrote at its end; None where the journal is only a sidecar."""


def read_archive(
    source: Source, kind: str, name: str, settings: Settings, spool: SpoolWriter, read: ReadMember, read_item: ReadItem
) -> Iterator[ReadResult]:
    """Read an archive. Its own documents are the members that cannot be opened. Raises OSError, InputUnreadable."""
    archive = ReadResult(PortionKey(name), "", source.name, source.size, kind=FileKind.ARCHIVE, container=kind)
    archive.modified_ns = source.modified_ns
    archive.identify(before := identify(source, settings.earlier(source)))
    folders: dict[str, Path] = {}
    items, held = Items(folders), list[ReadResult]()
    inside = replace(settings, unpacked=folders)

    def read_held(folders: Container[str]) -> None:
        for journal, error in items.held(folders):
            held.append(read_item(journal, PortionKey(f"{name}.journal-{len(held)}"), inside, spool, item_error=error))

    around = partial(_sidecars_in, folders, Allowance(source.size), read_held)
    allowance = Allowance(source.size)
    for number, member in enumerate(members(source, around, allowance=allowance)):
        if isinstance(member, Unreadable):
            spool.reject(archive, member)
        elif not items.hold(member):
            for result in read(member, f"{name}.{number}", inside, spool, allowance):
                items.note(result)
                yield result
    yield from held
    if source.path and not source.temporary and identify(source, settings.earlier(source)) != before:
        raise changed(source.name, CHANGED)
    yield archive


@contextmanager
def _sidecars_in(
    folders: dict[str, Path], allowance: Allowance, at_end: Callable[[Container[str]], None], archive: Source, kind: str
) -> Iterator[None]:
    """Unpack the members named as sidecars into `folders`, since a sidecar may come after its record. Most archives have none.

    `at_end` is called with these folders after the last member of this archive, while the sidecars are there.
    """
    named = named_as_sidecars(names(archive, kind, allowance))
    if not named:
        yield
        return
    found = members(archive, only=named.__contains__, allowance=allowance)
    with unpacked(member for member in found if isinstance(member, Source)) as more:
        folders.update(more)
        yield
        at_end(more)
