"""Archives → their members, also those of archives inside them. Streamed, with a bound: a bomb fills neither memory nor disk."""

from __future__ import annotations

import contextlib
import errno
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import IO, BinaryIO, Self, cast

from ingest.sources.decoding import DECOMPRESSION_ERRORS, Allowance, Broken, Opened
from ingest.sources.files import Source, Unreadable, spooled
from ingest.sources.zipped_logs import Joined, opened_member, parts_of_log
from schemas.errors import RejectReason

DEPTH = 3
"""How deep archives inside archives are opened."""

MOST_NAMED = 1000
"""Members that are not read and get a reject of their own; further ones are only counted."""

_BEHIND_A_BOMB = "a member before it expands like a decompression bomb"
_SHARES_BYTES = "it overlaps another member, like a decompression bomb"
_LEAST_HEADER = 30
_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
_JSON_STARTS = (b"{", b"[")
_ENCRYPTED = 1
_TAR_BLOCK = 512
_PIECE = 1 << 20
_LONGEST_HEADER = 1 << 20
_TEXT_HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
_ERRORS = (*DECOMPRESSION_ERRORS, Broken, zipfile.BadZipFile, tarfile.TarError, NotImplementedError, RuntimeError, zlib.error, LookupError)

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a full disk: nothing is wrong with the archive."""

Member = Source | Unreadable
Opener = Callable[[], AbstractContextManager[IO[bytes]]]
Around = Callable[[Source, str], AbstractContextManager[object]]
"""(archive, its kind) → a context that is open while its members are read."""


def archive_kind(source: Source) -> str | None:
    """The kind: "zip", "tar", "tar.gz" …; None for a source that is no archive. Raises OSError where it cannot be read."""
    if source.data is not None and source.data.startswith(_JSON_STARTS) and b"\0" not in source.data[:_TAR_BLOCK]:
        return None  # as nearly all small files are JSON; the header of a tar has zeros, whatever its first name begins with
    with source.open() as stream:
        try:
            opened = Opened(stream, Allowance(source.size))
        except Broken:
            return None
        if not opened.compression and opened.head.startswith(_ZIP_MAGIC):
            return "zip"
        return f"tar{opened.compression}" if _is_tar(opened.head) else None


def members(
    source: Source,
    around: Around = lambda *_: contextlib.nullcontext(),
    only: Callable[[str], bool] = lambda _: True,
    allowance: Allowance | None = None,
) -> Iterator[Member]:
    """The members of an archive and of archives inside it (`a.zip!b.tar!c.json`). A source that is no archive is its only member.

    A member can be used until the next one is requested. A member that cannot be opened comes out as Unreadable; their ordinals count
    from 0. `around` is entered for the archive and for each archive inside it; `only` chooses members by name.
    Raises OSError where there is no room to unpack.
    """
    yield from _Archive(allowance or Allowance(source.size), around, only).members(source, 0)


def names(source: Source, kind: str, allowance: Allowance) -> list[str]:
    """The names of the members of an archive as sources, as far as it can be read; none is unpacked, and no inner archive opened."""
    found: list[str] = []
    with contextlib.suppress(*_ERRORS), source.open() as stream:
        if kind == "zip":
            with zipfile.ZipFile(stream) as archive:
                return [_inner(source.name, name) for name in archive.namelist()]
        opened = cast("BinaryIO", Opened(stream, allowance))
        with tarfile.open(fileobj=opened, mode="r|", errorlevel=0, tarinfo=_Header) as archive:
            found.extend(_inner(source.name, entry.name) for entry in archive)
    return found


@dataclass
class _Archive:
    """Reads one archive. Names of members are only names: nothing is ever written to the paths they say."""

    allowance: Allowance
    around: Around
    only: Callable[[str], bool]
    refused: int = 0
    named: int = 0

    def members(self, source: Source, depth: int) -> Iterator[Member]:
        kind = archive_kind(source)
        if kind is None:
            yield source
        elif depth >= DEPTH:
            yield self._unreadable(source.name, f"nested archives: max. {DEPTH} levels")
        else:
            with self.around(source, kind):
                yield from self._opened(source, kind, depth)

    def _opened(self, source: Source, kind: str, depth: int) -> Iterator[Member]:
        try:
            with source.open() as stream:
                yield from self._in_zip(stream, source.name, depth) if kind == "zip" else self._in_tar(stream, source, kind, depth)
        except _ERRORS as error:
            yield self._unreadable(source.name, "the archive is damaged or incomplete", error)

    def _in_zip(self, stream: BinaryIO, name: str, depth: int) -> Iterator[Member]:
        if not zipfile.is_zipfile(stream):  # it looks for the directory, which is at the end
            raise Broken("truncated zip: no central directory", RejectReason.TRUNCATED)
        with zipfile.ZipFile(stream) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir() and self.only(_inner(name, entry.filename))]
            apart, overlapping = _parted(entries)
            if log := parts_of_log(apart):
                yield from self._joined(archive, stream, log, name)
                joined = set(log)
                apart = [entry for entry in apart if entry not in joined]
            for number, entry in enumerate(apart):
                if self.allowance.exhausted:
                    yield from self._unread(name, [_inner(name, entry.filename) for entry in apart[number:]], _BEHIND_A_BOMB)
                    break
                inner = _inner(name, entry.filename)
                if entry.flag_bits & _ENCRYPTED:
                    yield self._unreadable(inner, "it is encrypted")
                else:
                    yield from self._member(partial(opened_member, archive, stream, entry), inner, _zip_time(entry), depth)
            yield from self._unread(name, [_inner(name, entry.filename) for entry in overlapping], _SHARES_BYTES)

    def _joined(self, archive: zipfile.ZipFile, stream: BinaryIO, parts: Sequence[zipfile.ZipInfo], name: str) -> Iterator[Member]:
        """Members that are one log, one behind the other as one source; those that cannot be unpacked are left out of it."""
        refused: list[Unreadable] = []
        pieces = cast("BinaryIO", Joined(self._pieces(archive, stream, parts, name, refused)))
        with spooled(pieces, _inner(name, "log"), _zip_time(parts[0])) as source:
            yield source
        yield from refused

    def _pieces(
        self, archive: zipfile.ZipFile, stream: BinaryIO, parts: Sequence[zipfile.ZipInfo], name: str, refused: list[Unreadable]
    ) -> Iterator[bytes]:
        for number, entry in enumerate(parts):
            if self.allowance.exhausted:
                refused.extend(self._unread(name, [_inner(name, entry.filename) for entry in parts[number:]], _BEHIND_A_BOMB))
                return
            inner = _inner(name, entry.filename)
            if entry.flag_bits & _ENCRYPTED:
                refused.append(self._unreadable(inner, "it is encrypted"))
                continue
            try:
                with opened_member(archive, stream, entry) as member:
                    unpacked = Opened(cast("BinaryIO", _Counted(member, self.allowance)), self.allowance)
                    with spooled(cast("BinaryIO", unpacked), inner) as source, source.open() as data:
                        yield from iter(partial(data.read, _PIECE), b"")
            except _ERRORS as error:
                refused.append(self._unreadable(inner, "cannot be unpacked", error))
            yield b"\n"

    def _in_tar(self, stream: BinaryIO, source: Source, kind: str, depth: int) -> Iterator[Member]:
        opened = Opened(stream, self.allowance)
        seen = 0
        try:
            with tarfile.open(fileobj=cast("BinaryIO", opened), mode="r|", errorlevel=0, tarinfo=_Header) as archive:
                for entry in archive:
                    if self.allowance.exhausted:
                        break
                    seen += 1
                    yield from self._tar_entry(archive, entry, source.name, depth)
        except Broken as error:
            if error.reason is not RejectReason.TOO_MUCH:
                raise
            yield self._unreadable(source.name, "the archive is damaged or incomplete", error)
        if self.allowance.exhausted:
            behind = names(source, kind, Allowance(source.size))[seen:]
            yield from self._unread(source.name, [name for name in behind if self.only(name)], _BEHIND_A_BOMB)

    def _tar_entry(self, archive: tarfile.TarFile, entry: tarfile.TarInfo, of: str, depth: int) -> Iterator[Member]:
        name = _inner(of, entry.name)
        if not self.only(name):
            return
        if entry.issparse():
            yield self._unreadable(name, "sparse files are not supported")
        elif file := archive.extractfile(entry) if entry.isreg() else None:
            yield from self._member(partial(_given, file), name, _tar_time(entry), depth)

    def _unread(self, archive: str, names: Sequence[str], why: str) -> Iterator[Unreadable]:
        """Members of an archive that are not read, by their names as sources: the first ones named, the others counted."""
        room = max(0, MOST_NAMED - self.named)
        self.named += len(names[:room])
        for name in names[:room]:
            yield self._unreadable(name, f"skipped: {why}", reason=RejectReason.TOO_MUCH)
        if further := len(names[room:]):
            said = f"{further:,} more members skipped, not listed here: {why}"
            yield self._unreadable(archive, said, reason=RejectReason.TOO_MUCH)

    def _member(self, open_: Opener, name: str, changed: datetime | None, depth: int) -> Iterator[Member]:
        with contextlib.ExitStack() as stack:
            try:
                stream = _Counted(stack.enter_context(open_()), self.allowance)
                source = stack.enter_context(spooled(cast("BinaryIO", stream), name, changed))
            except _ERRORS as error:
                yield self._unreadable(name, "cannot be unpacked", error)
                return
            yield from self.members(source, depth + 1)

    def _unreadable(
        self, name: str, why: str, error: Exception | None = None, reason: RejectReason = RejectReason.NOT_UNPACKED
    ) -> Unreadable:
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            raise error
        self.refused += 1
        said = f": {str(error) or type(error).__name__}" if error else ""
        if isinstance(error, EOFError | Broken):
            reason = error.reason if isinstance(error, Broken) else RejectReason.TRUNCATED
        return Unreadable(self.refused - 1, name, reason, f"{name}: {why}{said}")


def _parted(entries: Sequence[zipfile.ZipInfo]) -> tuple[list[zipfile.ZipInfo], list[zipfile.ZipInfo]]:
    """The members of a zip that overlap no other, and those that begin within the bytes of another one. Both in their order."""
    end, apart = 0, set[int]()
    for place, entry in sorted(enumerate(entries), key=lambda item: (item[1].header_offset, item[0])):
        if entry.header_offset >= end:
            apart.add(place)
            end = entry.header_offset + _LEAST_HEADER + entry.compress_size
    return [entry for place, entry in enumerate(entries) if place in apart], [
        entry for place, entry in enumerate(entries) if place not in apart
    ]


def _inner(archive: str, name: str) -> str:
    """The name of a member as a source."""
    return f"{archive}!{_printable(name)}"


def _given(stream: IO[bytes]) -> IO[bytes]:
    return stream


class _Counted:
    """A member; its bytes count against the allowance."""

    def __init__(self, stream: IO[bytes], allowance: Allowance) -> None:
        self._stream = stream
        self._allowance = allowance

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._allowance.spend(len(data))
        return data


class _Header(tarfile.TarInfo):
    """A tar header. A broken one is an error (tarfile takes it for the end), and so is one with a very long text."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        try:
            header = super().frombuf(buf, encoding, errors)
        except tarfile.InvalidHeaderError as error:  # type: ignore[attr-defined]
            raise tarfile.ReadError(f"a member's header is broken: {error}") from error
        if header.type in _TEXT_HEADERS and header.size > _LONGEST_HEADER:
            raise tarfile.ReadError("a member's header is too long")
        return header


def _is_tar(head: bytes) -> bool:
    if len(head) < _TAR_BLOCK:
        return False
    try:
        tarfile.TarInfo.frombuf(head[:_TAR_BLOCK], "utf-8", "surrogateescape")
    except (tarfile.TarError, ValueError):
        return False
    return True


def _printable(name: str) -> str:
    return name.encode("utf-8", "replace").decode("utf-8")


def _zip_time(entry: zipfile.ZipInfo) -> datetime | None:
    """A zip has no time zone; UTC is what machines mostly write."""
    try:
        return datetime(*entry.date_time, tzinfo=UTC)
    except ValueError:
        return None


def _tar_time(entry: tarfile.TarInfo) -> datetime | None:
    try:
        return datetime.fromtimestamp(entry.mtime, UTC)
    except (ValueError, OverflowError, OSError):
        return None
