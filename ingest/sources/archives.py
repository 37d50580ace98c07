"""Archives → their members, also those of archives inside them.

Streamed, with a bound: a bomb fills neither memory nor disk.
"""

from __future__ import annotations

import contextlib
import errno
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import partial
from typing import BinaryIO, Self, cast

from ingest.sources.decoding import DECOMPRESSION_ERRORS, Allowance, Broken, Opened, Readable
from ingest.sources.files import Source, Unreadable, spooled
from schemas.errors import RejectReason
from schemas.marks import ZIPPED_LOGS

DEPTH = 3

MOST_NAMED = 1000
"""Members that are not read and get a reject of their own; further ones are only counted."""

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a full disk: nothing is wrong with the archive."""

_BEHIND_A_BOMB = "a member before it expands like a decompression bomb"
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_ERRORS = (
    *DECOMPRESSION_ERRORS,
    Broken,
    zipfile.BadZipFile,
    tarfile.TarError,
    NotImplementedError,
    RuntimeError,
    zlib.error,
    LookupError,
)

Member = Source | Unreadable
Around = Callable[[Source, str], AbstractContextManager[object]]
"""(archive, its kind) → a context that is open while its members are read."""


def archive_kind(source: Source) -> str | None:
    """Return the kind: "zip", "tar", "tar.gz" …; None for a source that is no archive.

    Raises OSError if it cannot be read.
    """
    if (
        source.data is not None
        and source.data.startswith((b"{", b"["))
        and b"\0" not in source.data[: tarfile.BLOCKSIZE]
    ):
        # as nearly all small files are JSON; the header of a tar has zeros, whatever its first name
        # begins with
        return None
    with source.open() as stream:
        try:
            opened = Opened(stream, Allowance(source.size))
        except Broken:
            return None
        if not opened.compression and opened.head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            return "zip"
        if len(opened.head) < tarfile.BLOCKSIZE:
            return None
        try:
            tarfile.TarInfo.frombuf(opened.head[: tarfile.BLOCKSIZE], "utf-8", "surrogateescape")
        except (tarfile.TarError, ValueError):
            return None
        return f"tar{opened.compression}"


def members(
    source: Source,
    around: Around = lambda *_: contextlib.nullcontext(),
    only: Callable[[str], bool] = lambda _: True,
    allowance: Allowance | None = None,
) -> Iterator[Member]:
    """Yield the members of an archive and of archives inside it (`a.zip!b.tar!c.json`).

    A source that is no archive is its only member.

    A member can be used until the next one is requested. A member that cannot be opened is yielded
    as Unreadable; their ordinals count from
    0. `around` is entered for the archive and for each archive inside it; `only` chooses members by
      name. Raises OSError if there is no
    room to unpack.
    """
    yield from _Archive(allowance or Allowance(source.size), around, only).members(source, 0)


def names(source: Source, kind: str, allowance: Allowance) -> list[str]:
    """Return the names of the members as sources, as far as readable.

    Inner archives are not unpacked or opened.
    """
    found: list[str] = []
    with contextlib.suppress(*_ERRORS), source.open() as stream:
        if kind == "zip":
            with zipfile.ZipFile(stream) as archive:
                return [_inner(source.name, name) for name in archive.namelist()]
        opened = cast("BinaryIO", Opened(stream, allowance))
        with tarfile.open(fileobj=opened, mode="r|", errorlevel=0, tarinfo=_Header) as archive:
            found.extend(_inner(source.name, entry.name) for entry in archive)
    return found


class _Archive:
    """Reads one archive. Nothing is ever written to the paths that members name."""

    def __init__(self, allowance: Allowance, around: Around, only: Callable[[str], bool]) -> None:
        self.allowance, self.around, self.only = allowance, around, only
        self.refused = 0
        self.named = 0

    def members(self, source: Source, depth: int) -> Iterator[Member]:
        kind = archive_kind(source)
        if kind is None:
            yield source
        elif depth >= DEPTH:
            yield self._unreadable(source.name, f"nested archives: max. {DEPTH} levels")
        else:
            with self.around(source, kind):
                try:
                    with source.open() as stream:
                        yield from (
                            self._in_zip(stream, source.name, depth)
                            if kind == "zip"
                            else self._in_tar(stream, source, kind, depth)
                        )
                except _ERRORS as error:
                    yield self._unreadable(
                        source.name, "the archive is damaged or incomplete", error
                    )

    def _in_zip(self, stream: BinaryIO, name: str, depth: int) -> Iterator[Member]:
        if not zipfile.is_zipfile(stream):  # it looks for the directory, which is at the end
            raise Broken("truncated zip: no central directory", RejectReason.TRUNCATED)
        with zipfile.ZipFile(stream) as archive:
            entries = [
                entry
                for entry in archive.infolist()
                if not entry.is_dir() and self.only(_inner(name, entry.filename))
            ]
            apart, overlapping = _parted(entries)
            if log := _parts_of_log(apart):
                refused: list[Unreadable] = []
                joined = cast(
                    "BinaryIO", _Joined(self._pieces(archive, stream, log, name, refused))
                )
                with spooled(joined, _inner(name, "log"), _zip_time(log[0])) as source:
                    yield source
                yield from refused
                joined_parts = set(log)
                apart = [entry for entry in apart if entry not in joined_parts]
            for number, entry in enumerate(apart):
                if self.allowance.exhausted:
                    yield from self._unread(
                        name,
                        [_inner(name, entry.filename) for entry in apart[number:]],
                        _BEHIND_A_BOMB,
                    )
                    break
                inner = _inner(name, entry.filename)
                if entry.flag_bits & 1:
                    yield self._unreadable(inner, "it is encrypted")
                else:
                    yield from self._member(
                        partial(_opened_member, archive, stream, entry),
                        inner,
                        _zip_time(entry),
                        depth,
                    )
            yield from self._unread(
                name,
                [_inner(name, entry.filename) for entry in overlapping],
                "it overlaps another member, like a decompression bomb",
            )

    def _pieces(
        self,
        archive: zipfile.ZipFile,
        stream: BinaryIO,
        parts: Sequence[zipfile.ZipInfo],
        name: str,
        refused: list[Unreadable],
    ) -> Iterator[bytes]:
        """Yield the concatenated bytes of members that form one log.

        Members that cannot be unpacked go to `refused`.
        """
        for number, entry in enumerate(parts):
            if self.allowance.exhausted:
                refused.extend(
                    self._unread(
                        name,
                        [_inner(name, entry.filename) for entry in parts[number:]],
                        _BEHIND_A_BOMB,
                    )
                )
                return
            inner = _inner(name, entry.filename)
            if entry.flag_bits & 1:
                refused.append(self._unreadable(inner, "it is encrypted"))
                continue
            try:
                with _opened_member(archive, stream, entry) as member:
                    unpacked = Opened(
                        cast("BinaryIO", _Counted(member, self.allowance)), self.allowance
                    )
                    with (
                        spooled(cast("BinaryIO", unpacked), inner) as source,
                        source.open() as data,
                    ):
                        yield from iter(partial(data.read, 1 << 20), b"")
            except _ERRORS as error:
                refused.append(self._unreadable(inner, "cannot be unpacked", error))
            yield b"\n"

    def _in_tar(self, stream: BinaryIO, source: Source, kind: str, depth: int) -> Iterator[Member]:
        opened = cast("BinaryIO", Opened(stream, self.allowance))
        seen = 0
        try:
            with tarfile.open(fileobj=opened, mode="r|", errorlevel=0, tarinfo=_Header) as archive:
                for entry in archive:
                    if self.allowance.exhausted:
                        break
                    seen += 1
                    name = _inner(source.name, entry.name)
                    if not self.only(name):
                        continue
                    if entry.issparse():
                        yield self._unreadable(name, "sparse files are not supported")
                    elif file := archive.extractfile(entry) if entry.isreg() else None:
                        yield from self._member(
                            partial(_given, file), name, _tar_time(entry), depth
                        )
        except Broken as error:
            if error.reason is not RejectReason.TOO_MUCH:
                raise
            yield self._unreadable(source.name, "the archive is damaged or incomplete", error)
        if self.allowance.exhausted:
            behind = names(source, kind, Allowance(source.size))[seen:]
            yield from self._unread(
                source.name, [name for name in behind if self.only(name)], _BEHIND_A_BOMB
            )

    def _member(
        self,
        open_: Callable[[], AbstractContextManager[Readable]],
        name: str,
        changed: datetime | None,
        depth: int,
    ) -> Iterator[Member]:
        with contextlib.ExitStack() as stack:
            try:
                stream = _Counted(stack.enter_context(open_()), self.allowance)
                source = stack.enter_context(spooled(cast("BinaryIO", stream), name, changed))
            except _ERRORS as error:
                yield self._unreadable(name, "cannot be unpacked", error)
                return
            yield from self.members(source, depth + 1)

    def _unread(self, archive: str, names: Sequence[str], why: str) -> Iterator[Unreadable]:
        """Yield rejects of unread members, given by their names as sources.

        The first ones are named, the others counted.
        """
        room = max(0, MOST_NAMED - self.named)
        self.named += len(names[:room])
        for name in names[:room]:
            yield self._unreadable(name, f"skipped: {why}", reason=RejectReason.TOO_MUCH)
        if further := len(names[room:]):
            message = f"{further:,} more members skipped, not listed here: {why}"
            yield self._unreadable(archive, message, reason=RejectReason.TOO_MUCH)

    def _unreadable(
        self,
        name: str,
        why: str,
        error: Exception | None = None,
        reason: RejectReason = RejectReason.NOT_UNPACKED,
    ) -> Unreadable:
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            raise error
        self.refused += 1
        cause = f": {str(error) or type(error).__name__}" if error else ""
        if isinstance(error, EOFError | Broken):
            reason = error.reason if isinstance(error, Broken) else RejectReason.TRUNCATED
        return Unreadable(self.refused - 1, name, reason, f"{name}: {why}{cause}")


def _inner(archive: str, name: str) -> str:
    """Return the name of a member as a source. The name may have lone surrogates."""
    return f"{archive}!{name.encode('utf-8', 'replace').decode('utf-8')}"


def _parted(
    entries: Sequence[zipfile.ZipInfo],
) -> tuple[list[zipfile.ZipInfo], list[zipfile.ZipInfo]]:
    """Split a zip's members into those that overlap no other, and those that begin in another.

    These begin within the bytes of another member.

    Both keep their order.
    """
    end, apart = 0, set[int]()
    for place, entry in sorted(
        enumerate(entries), key=lambda item: (item[1].header_offset, item[0])
    ):
        if entry.header_offset >= end:
            apart.add(place)
            end = entry.header_offset + 30 + entry.compress_size  # 30: the least header
    placed = list(enumerate(entries))
    return [entry for place, entry in placed if place in apart], [
        entry for place, entry in placed if place not in apart
    ]


def _parts_of_log(entries: Sequence[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    """Return the members of a zip that is one log, its header first; none if the zip is no log.

    Of members with one name the last one counts, as in any zip.
    """
    last = {entry.filename: entry for entry in entries}
    for heads, beginning in ZIPPED_LOGS:
        head = next((last[name] for name in heads if name in last), None)
        parts = [entry for name, entry in last.items() if name.startswith(beginning)]
        if head and parts:
            return [head, *parts]
    return []


@contextlib.contextmanager
def _opened_member(
    archive: zipfile.ZipFile, stream: BinaryIO, entry: zipfile.ZipInfo
) -> Iterator[Readable]:
    """Yield the bytes of a member. Zstandard data stays compressed, since `Opened` unpacks it.

    Raises as `zipfile` does.
    """
    # Zstandard, which Python reads from 3.14 on only
    if entry.compress_type != 93:
        with archive.open(entry) as member:
            yield member
        return
    stream.seek(entry.header_offset)
    header = stream.read(_LOCAL_HEADER.size)
    if len(header) < _LOCAL_HEADER.size or not header.startswith(b"PK\x03\x04"):
        raise zipfile.BadZipFile("a member does not begin with its header")
    _, name, extra = _LOCAL_HEADER.unpack(header)
    yield _Slice(
        stream, entry.header_offset + _LOCAL_HEADER.size + name + extra, entry.compress_size
    )


@contextlib.contextmanager
def _given(stream: Readable) -> Iterator[Readable]:
    yield stream


class _Slice:
    """A range of a stream's bytes, with its own position."""

    def __init__(self, stream: BinaryIO, start: int, length: int) -> None:
        self._stream = stream
        self._at = start
        self._end = start + length

    def read(self, size: int) -> bytes:
        self._stream.seek(self._at)
        data = self._stream.read(min(size, self._end - self._at))
        self._at += len(data)
        return data


class _Joined:
    """Chunks of bytes as one stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = b""

    def read(self, size: int) -> bytes:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._rest = piece
        data, self._rest = self._rest[:size], self._rest[size:]
        return data


class _Counted:
    """A member whose bytes count against the allowance."""

    def __init__(self, stream: Readable, allowance: Allowance) -> None:
        self._stream = stream
        self._allowance = allowance

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._allowance.spend(len(data))
        return data


class _Header(tarfile.TarInfo):
    """A tar header.

    A broken one is an error (tarfile takes it for the end), and so is one with a very long text.
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        try:
            header = super().frombuf(buf, encoding, errors)
        except tarfile.InvalidHeaderError as error:  # type: ignore[attr-defined]
            raise tarfile.ReadError(f"a member's header is broken: {error}") from error
        if header.type in (
            tarfile.XHDTYPE,
            tarfile.XGLTYPE,
            tarfile.SOLARIS_XHDTYPE,
            tarfile.GNUTYPE_LONGNAME,
            tarfile.GNUTYPE_LONGLINK,
        ) and header.size > (1 << 20):
            raise tarfile.ReadError("a member's header is too long")
        return header


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
