"""Raw bytes → a stream of UTF-8 bytes: decompressed and transcoded as the content asks for, in bounded memory."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import re
import zlib
from collections.abc import Callable
from typing import BinaryIO, Protocol, cast

from schemas.errors import RejectReason

SNIFFED_BYTES = 8192
MOST_BYTES = 16 << 30
"""The most that is read of a source, decompressed."""

SUSPECT_BYTES = 1 << 30
SUSPECT_RATIO = 1000
"""A source that exceeds both when decompressed is a bomb and no log."""

_COMPRESSION_DEPTH = 3
_BLOCK = 1 << 20
_DECOMPRESSED_BLOCK = 1 << 16  # a fixed size, so that the bytes before a break do not depend on the reader
_HOLE = re.compile(rb"\0{256,}")
_DATABASE = b"SQLite format 3\0"
PARQUET = b"PAR1"
_MAGIC = re.compile(
    rb"PAR1[\x15-\x1c]|ARROW1\0|SQLite format 3\0|.{8}DUCK|\x93NUMPY|\x89HDF\r\n|GGUF[\x01-\x09]\0|\x80[\x02-\x05][^ -~]|\x7fELF|%PDF-\d"
    rb"|OggS\0|wOF[F2]\0",
    re.DOTALL,
)
"""How files of other programs begin that may hold long texts, but are not text: tables, databases, arrays, models, programs, documents."""
_UTF_8_BOM = b"\xef\xbb\xbf"


class _Decompressor(Protocol):
    def read1(self, size: int, /) -> bytes:
        """Some bytes, none only at the end; an error only after all before it was given."""


class _Zstandard:
    """Raises EOFError where the data ends early, which the reader of the package does not, and OSError for its own error.

    The package is imported with the first compressed file: most ingests have none, and it takes 25 ms.
    """

    def __init__(self, stream: BinaryIO) -> None:
        import zstandard

        self._stream = stream
        self._open, self._error = zstandard.ZstdDecompressor().decompressobj, zstandard.ZstdError
        self._frame = self._open()

    def read1(self, _: int, /) -> bytes:
        """The next decompressed bytes; none at the end."""
        while data := self._next():
            try:
                text = self._frame.decompress(data)
            except self._error as error:
                raise OSError(str(error)) from error
            if text:
                return text
        return b""

    def _next(self) -> bytes:
        rest = self._frame.unused_data if self._frame.eof else b""
        data = rest or self._stream.read(_ZSTANDARD_BLOCK)
        if self._frame.eof and data:
            self._frame = self._open()
        elif not data and not self._frame.eof:
            raise EOFError("a frame is not complete")
        return data


_ZSTANDARD_BLOCK = 1 << 12  # of compressed data: a hostile one holds 30,000 times as much
_BOMS = ((b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_DECOMPRESSORS: dict[str, tuple[bytes, Callable[[BinaryIO], _Decompressor]]] = {
    "gz": (b"\x1f\x8b\x08", lambda stream: gzip.GzipFile(fileobj=stream)),
    "zst": (
        b"\x28\xb5\x2f\xfd",
        _Zstandard,
    ),
    "bz2": (b"BZh", bz2.BZ2File),
    "xz": (b"\xfd7zXZ\0", lzma.LZMAFile),
}
DECOMPRESSION_ERRORS = (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError, MemoryError)


class Broken(Exception):
    """Compressed data cannot be read any further; the message and `reason` say why."""

    def __init__(self, message: str, reason: RejectReason = RejectReason.NOT_UNPACKED) -> None:
        super().__init__(message)
        self.reason = reason


def _reason_of(error: Exception) -> RejectReason:
    return RejectReason.TRUNCATED if isinstance(error, EOFError) else RejectReason.NOT_UNPACKED


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end. Raises Broken."""


class Allowance:
    """The bound on the decompressed bytes of a source, shared by everything inside it."""

    def __init__(self, compressed: int) -> None:
        self._compressed = max(compressed, 1)
        self._spent = 0

    @property
    def spent(self) -> int:
        """Decompressed bytes so far."""
        return self._spent

    @property
    def exhausted(self) -> bool:
        """Whether the bound was exceeded."""
        return self._spent > MOST_BYTES or (self._spent > SUSPECT_BYTES and self._spent > SUSPECT_RATIO * self._compressed)

    def spend(self, count: int) -> None:
        """Count decompressed bytes. Raises Broken where the bound is exceeded."""
        self._spent += count
        if self._spent > MOST_BYTES:
            raise Broken(f"decompresses to more than {MOST_BYTES >> 30} GB, the maximum for one source", RejectReason.TOO_MUCH)
        if self.exhausted:
            raise Broken(f"decompresses to more than {SUSPECT_RATIO} times its size: a decompression bomb", RejectReason.TOO_MUCH)


class Opened:
    """A stream, decompressed if its content is compressed. `compression`: the suffix of that format, such as ".gz"; "" for none."""

    def __init__(self, stream: BinaryIO, allowance: Allowance) -> None:
        self.compression = ""
        self._allowance = allowance
        self._stream: Readable = stream
        self._head = _fill(stream, SNIFFED_BYTES)
        for _ in range(_COMPRESSION_DEPTH):
            if not self._unwrap():
                break

    @property
    def head(self) -> bytes:
        """The first bytes; `read` still gives them."""
        return self._head

    def read(self, size: int) -> bytes:
        """The next bytes. Raises Broken."""
        if self._head:
            given, self._head = self._head[:size], self._head[size:]
            return given
        return self._stream.read(size)

    def beginning(self, size: int) -> bytes:
        """The first `size` bytes, or fewer at the end; `read` gives those behind them. Raises Broken."""
        return _fill(self, size)

    def _unwrap(self) -> bool:
        for suffix, (magic, decompress) in _DECOMPRESSORS.items():
            if self._head.startswith(magic):
                inner = _Decompressed(decompress(cast("BinaryIO", _Rejoined(self._head, self._stream))), suffix, self._allowance)
                self._head, self._stream = _fill(inner, SNIFFED_BYTES), inner
                self.compression = f".{suffix}{self.compression}"
                return True
        return False


class _Rejoined:
    """A stream with the bytes in front that were already read from it."""

    def __init__(self, head: bytes, stream: Readable) -> None:
        self._head = head
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        if self._head:
            given, self._head = self._head[: size if size >= 0 else None], self._head[size if size >= 0 else len(self._head) :]
            return given
        return self._stream.read(size if size >= 0 else _BLOCK)


class _Decompressed:
    """A decompressor that raises Broken for every error, and only after it gave all bytes before the error."""

    def __init__(self, stream: _Decompressor, kind: str, allowance: Allowance) -> None:
        self._stream = stream
        self._kind = kind
        self._allowance = allowance
        self._broken: Broken | None = None
        self._waiting = b""

    def read(self, size: int) -> bytes:
        if not self._waiting:
            self._waiting = self._block()
        given, self._waiting = self._waiting[:size], self._waiting[size:]
        return given

    def _block(self) -> bytes:
        if self._broken:
            raise self._broken
        try:
            data = self._stream.read1(_DECOMPRESSED_BLOCK)
        except DECOMPRESSION_ERRORS as error:
            what = "is truncated" if isinstance(error, EOFError) else "is damaged"
            said = str(error) or type(error).__name__
            self._broken = Broken(f"the .{self._kind} data {what}: {said}", _reason_of(error))
            raise self._broken from error
        self._allowance.spend(len(data))
        return data


class Utf8:
    """A stream of text in UTF-8, UTF-16 or UTF-32 → UTF-8 bytes."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        encoding = _encoding(opened.head)
        self._decoder = codecs.getincrementaldecoder(encoding)("replace") if encoding else None
        if opened.head.startswith(_UTF_8_BOM):
            opened.read(len(_UTF_8_BOM))

    def read(self, size: int) -> bytes:
        """At most about `size` bytes; none at the end. Raises Broken."""
        if self._decoder is None:
            return self._opened.read(size)
        while data := self._opened.read(size):
            if text := self._decoder.decode(data):
                return text.encode("utf-8", "replace")
        rest = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        return rest.encode("utf-8", "replace")


def is_database(head: bytes) -> bool:
    """Whether bytes that begin like this are a SQLite database."""
    return head.startswith(_DATABASE)


def is_binary(head: bytes) -> bool:
    """Whether bytes that begin like this are no text: a known binary format, or more than a tenth of them NULs or no UTF-8.

    A log may hold single NULs.

    NULs at the beginning do not count (a log that was truncated under its writer has as many as it had bytes before), nor do long runs of
    them (a crash leaves blocks of NULs).
    """
    if _encoding(head):
        return False
    if _MAGIC.match(head):
        return True
    if head.isascii() and b"\0" not in head:
        return False
    text = _HOLE.sub(b"", head.lstrip(b"\0")).decode("utf-8", "replace")
    return text.count("\ufffd") + text.count("\0") > len(text) // 10


def decoded(head: bytes) -> str:
    """The beginning of a file as text."""
    return head.decode(_encoding(head) or "utf-8", "replace")


def _encoding(head: bytes) -> str | None:
    """The encoding, where it is not UTF-8: by its byte order mark, or by the NULs beside `{` or `[`."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding
    if head[:1] in (b"{", b"[") and head[1:2] == b"\0" and head[2:3] not in (b"\0", b"") and head[3:4] == b"\0":
        return "utf-16-le"
    if head[:1] == b"\0" and head[1:2] in (b"{", b"[") and head[2:3] == b"\0":
        return "utf-16-be"
    return None


def _fill(stream: Readable, size: int) -> bytes:
    """`size` bytes, or fewer at the end or before an error. Bytes before an error are returned; the next read raises the error again."""
    read = b""
    try:
        while len(read) < size and (block := stream.read(size - len(read))):
            read += block
    except Broken:
        if not read:
            raise
    return read
