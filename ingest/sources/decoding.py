"""Raw bytes → a stream of UTF-8 bytes.

Decompressed, transcoded and unwrapped as the content asks for, in bounded memory. Kinds of files.

Own decompression, since it is bounded: every byte counts against an allowance, and all bytes before
an error are given.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import json
import lzma
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple, Protocol, cast

from ingest.sources.files import Source, object_of
from ingest.sources.times import unix_time
from schemas.errors import RejectReason
from schemas.file_kinds import FileKind

SNIFFED_BYTES = 8192
MOST_BYTES = 16 << 30
"""Decompressed bytes after which reading a source stops."""

SUSPECT_BYTES = 1 << 30
SUSPECT_RATIO = 1000
"""A source that exceeds both limits when decompressed is a bomb and no log."""

DECOMPRESSION_ERRORS = (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError, MemoryError)
_UTF_8_BOM = b"\xef\xbb\xbf"


class Broken(Exception):
    """Compressed data cannot be read any further; the message and `reason` say why."""

    def __init__(self, message: str, reason: RejectReason = RejectReason.NOT_UNPACKED) -> None:
        super().__init__(message)
        self.reason = reason


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes; none at the end. Raises Broken."""


class Allowance:
    """The bound on the decompressed bytes of a source, shared by everything inside it.

    `spent`: decompressed bytes so far.
    """

    def __init__(self, compressed: int) -> None:
        self._compressed = max(compressed, 1)
        self.spent = 0

    @property
    def exhausted(self) -> bool:
        return self.spent > MOST_BYTES or (
            self.spent > SUSPECT_BYTES and self.spent > SUSPECT_RATIO * self._compressed
        )

    def spend(self, count: int) -> None:
        """Count decompressed bytes. Raises Broken if the bound is exceeded."""
        self.spent += count
        if self.spent > MOST_BYTES:
            raise Broken(
                f"decompresses to more than {MOST_BYTES >> 30} GB, the maximum for one source",
                RejectReason.TOO_MUCH,
            )
        if self.exhausted:
            raise Broken(
                f"decompresses to more than {SUSPECT_RATIO} times its size: a decompression bomb",
                RejectReason.TOO_MUCH,
            )


class _Zstandard:
    """Raises EOFError if the data ends early, and OSError for the package's own error.

    The reader of the package does not raise at an early end.
    """

    def __init__(self, stream: BinaryIO) -> None:
        import zstandard  # 25 ms, and most ingests have no such file

        self._stream = stream
        self._open, self._error = zstandard.ZstdDecompressor().decompressobj, zstandard.ZstdError
        self._frame = self._open()

    def read1(self, _: int, /) -> bytes:
        while True:
            # of compressed data: a hostile one holds 30,000 times as much
            data = (self._frame.unused_data if self._frame.eof else b"") or self._stream.read(
                1 << 12
            )
            if not data and not self._frame.eof:
                raise EOFError("a frame is not complete")
            if not data:
                return b""
            if self._frame.eof:
                self._frame = self._open()
            try:
                if text := self._frame.decompress(data):
                    return text
            except self._error as error:
                raise OSError(str(error)) from error


_DECOMPRESSORS: dict[str, tuple[bytes, Callable[[BinaryIO], Any]]] = {
    "gz": (b"\x1f\x8b\x08", lambda stream: gzip.GzipFile(fileobj=stream)),
    "zst": (b"\x28\xb5\x2f\xfd", _Zstandard),
    "bz2": (b"BZh", bz2.BZ2File),
    "xz": (b"\xfd7zXZ\0", lzma.LZMAFile),
}


class Opened:
    """A stream, decompressed if its content is compressed, up to three times.

    `head`: the first bytes, which `read` still gives. `compression`: the suffix of the format, such
    as ".gz"; "" for none.
    """

    def __init__(self, stream: BinaryIO, allowance: Allowance) -> None:
        self.compression = ""
        self.head = _fill(stream, SNIFFED_BYTES)
        self._stream: Readable = stream
        for _ in range(3):
            found = next(
                (
                    (suffix, make)
                    for suffix, (magic, make) in _DECOMPRESSORS.items()
                    if self.head.startswith(magic)
                ),
                None,
            )
            if found is None:
                break
            suffix, make = found
            self._stream = _Decompressed(
                make(cast("BinaryIO", _Rejoined(self.head, self._stream))), suffix, allowance
            )
            self.head = _fill(self._stream, SNIFFED_BYTES)
            self.compression = f".{suffix}{self.compression}"

    def read(self, size: int) -> bytes:
        if self.head:
            given, self.head = self.head[:size], self.head[size:]
            return given
        return self._stream.read(size)

    def beginning(self, size: int) -> bytes:
        """Return the first `size` bytes, or fewer at the end, without consuming them.

        Raises Broken.
        """
        return _fill(self, size)


class _Rejoined:
    """A stream with bytes put back in front. Without a size, `read` returns a block."""

    def __init__(self, head: bytes, stream: Readable) -> None:
        self._head = head
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        size = size if size >= 0 else 1 << 20
        if self._head:
            given, self._head = self._head[:size], self._head[size:]
            return given
        return self._stream.read(size)


class _Decompressed:
    """A decompressor that raises Broken for every error, after giving all bytes before it."""

    def __init__(self, stream: Any, kind: str, allowance: Allowance) -> None:
        self._stream = stream
        self._kind = kind
        self._allowance = allowance
        self._broken: Broken | None = None
        self._waiting = b""

    def read(self, size: int) -> bytes:
        if not self._waiting:
            if self._broken:
                raise self._broken
            try:
                # a fixed size, so that the bytes before a break do not depend on the reader
                self._waiting = self._stream.read1(1 << 16)
            except DECOMPRESSION_ERRORS as error:
                is_cut = isinstance(error, EOFError)
                message = (
                    f"the .{self._kind} data {'is truncated' if is_cut else 'is damaged'}: "
                    f"{str(error) or type(error).__name__}"
                )
                self._broken = Broken(
                    message, RejectReason.TRUNCATED if is_cut else RejectReason.NOT_UNPACKED
                )
                raise self._broken from error
            self._allowance.spend(len(self._waiting))
        given, self._waiting = self._waiting[:size], self._waiting[size:]
        return given


def _fill(stream: Readable, size: int) -> bytes:
    """Return `size` bytes, fewer at the end or before an error, which the next read raises."""
    read = b""
    try:
        while len(read) < size and (block := stream.read(size - len(read))):
            read += block
    except Broken:
        if not read:
            raise
    return read


class Utf8:
    """A stream of UTF-8, UTF-16 or UTF-32 text, transcoded to UTF-8 bytes."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        encoding = _encoding(opened.head)
        self._decoder = codecs.getincrementaldecoder(encoding)("replace") if encoding else None
        if opened.head.startswith(_UTF_8_BOM):
            opened.read(len(_UTF_8_BOM))

    def read(self, size: int) -> bytes:
        """Return roughly `size` bytes; none at the end. Raises Broken."""
        if self._decoder is None:
            return self._opened.read(size)
        while data := self._opened.read(size):
            if text := self._decoder.decode(data):
                return text.encode("utf-8", "replace")
        rest = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        return rest.encode("utf-8", "replace")


def decoded(head: bytes) -> str:
    """Return the beginning of a file as text."""
    return head.decode(_encoding(head) or "utf-8", "replace")


def _encoding(head: bytes) -> str | None:
    """Return the encoding if it is not UTF-8: by byte order mark, or NULs beside `{` or `[`."""
    for mark, encoding in (
        (b"\xff\xfe\0\0", "utf-32"),
        (b"\0\0\xfe\xff", "utf-32"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if head.startswith(mark):
            return encoding
    if (
        head[:1] in (b"{", b"[")
        and head[1:2] == b"\0"
        and head[2:3] not in (b"\0", b"")
        and head[3:4] == b"\0"
    ):
        return "utf-16-le"
    if head[:1] == b"\0" and head[1:2] in (b"{", b"[") and head[2:3] == b"\0":
        return "utf-16-be"
    return None


LONGEST_LINE = 1 << 24
"""Bytes. A longer line of a wrapped log is split; so are all begun lines once they exceed it
together.
"""

_CRI = re.compile(rb"(20\d\d-\d\d-\d\dT\S{9,40}) (stdout|stderr) ([FP])(?::\S+)? (.*)", re.DOTALL)


class Piece(NamedTuple):
    """A line, or a piece of one.

    `stream`: who wrote it; `ended`: the line ends with it; `left_out`: the log lacks its text.
    """

    stream: str
    time: str
    text: bytes
    ended: bool
    left_out: bool = False


def _docker(line: bytes) -> Piece | None:
    value = object_of(line)
    text, time = value.get("log"), value.get("time")
    if (
        not isinstance(text, str)
        or not isinstance(time, str)
        or not value.keys() <= {"log", "stream", "attrs", "time"}
    ):
        return None
    return Piece(
        str(value.get("stream")),
        time,
        text.removesuffix("\n").encode("utf-8", "replace"),
        text.endswith("\n"),
    )


def _journal(line: bytes) -> Piece | None:
    value = object_of(line)
    text, stamp = value.get("MESSAGE"), value.get("__REALTIME_TIMESTAMP")
    left_out = text is None and "MESSAGE" in value
    try:  # what is no plain text is written as a list of bytes
        data = (
            text.encode("utf-8", "replace")
            if isinstance(text, str)
            else bytes(text)
            if isinstance(text, list)
            else None
        )
    except (TypeError, ValueError, OverflowError):
        data = None
    if data is None and not left_out:
        return None
    time = (
        unix_time(int(stamp) / 1_000_000)
        if isinstance(stamp, str) and re.fullmatch(r"\d{1,18}", stamp, re.ASCII)
        else None
    )
    stream = str(value.get("_STREAM_ID") or value.get("_PID"))
    return Piece(
        stream,
        time.isoformat() if time else "",
        data or b"",
        value.get("_LINE_BREAK") != "line-max",
        left_out,
    )


def _cri(line: bytes) -> Piece | None:
    found = _CRI.fullmatch(line)
    if not found:
        return None
    time, stream, tag, text = found.groups()
    return Piece(
        stream.decode(), time.decode("ascii", "replace"), text.removesuffix(b"\n"), tag == b"F"
    )


ReadPiece = Callable[[bytes], Piece | None]
_WRAPPERS: tuple[tuple[bytes, re.Pattern[bytes], ReadPiece], ...] = (
    (
        b'"log"',
        re.compile(rb'\{"log": ?"(?:[^"\\]|\\.)*+(?:\Z|", ?"(?:stream|attrs|time)")'),
        _docker,
    ),
    (
        b'"MESSAGE"',
        re.compile(rb'\{(?=[^\n]*"MESSAGE" ?:)[^\n]*"__REALTIME_TIMESTAMP" ?:'),
        _journal,
    ),
    (b" std", _CRI, _cri),
)
"""Docker's json-file, `journalctl -o json`, and the CRI log files of Kubernetes: (literal in the
beginning, cheap to search; pattern of the beginning; line reader).
"""


def wrapper_of(head: bytes) -> ReadPiece | None:
    """Return the line reader for a log whose writer wraps each line.

    None for a log without wrappers.
    """
    return next(
        (read for mark, begins, read in _WRAPPERS if mark in head and begins.match(head)), None
    )


class WrappedLog:
    """The original lines of a wrapped log as a stream, each prefixed with its time.

    All wrappers split long lines.

    A line without a wrapper is passed on unchanged. Counts so far: `left_out`, lines whose text is
    not in the log; `cut`, wrappers that were cut off.
    """

    def __init__(self, stream: Readable, read_piece: ReadPiece) -> None:
        self.left_out = 0
        self.cut = 0
        self._stream = stream
        self._piece = read_piece
        self._begun: dict[str, list[Piece]] = defaultdict(list)
        self._waiting = 0
        self._given = filter(None, self._texts())

    def read(self, _: int, /) -> bytes:
        return next(self._given, b"")

    def _texts(self) -> Iterator[bytes]:
        rest = b""
        broken = None
        try:
            while block := self._stream.read(1 << 20):
                *whole, rest = (rest + block).split(b"\n")
                yield from (self._text(line + b"\n") for line in whole)
                if len(rest) > LONGEST_LINE:
                    yield self._text(rest)
                    rest = b""
        except Broken as error:
            broken = error
        if rest or broken:
            yield self._text(rest + b"\n")
        yield self._begun_lines()
        if broken:
            raise broken

    def _text(self, line: bytes) -> bytes:
        """Return the text of a line; empty while more pieces of it are to come."""
        piece = self._piece(line)
        if piece is None:
            self.cut += line.startswith(b'{"') and not object_of(line)
            return line
        self.left_out += piece.left_out
        self._begun[piece.stream].append(piece)
        if piece.ended:
            return _joined(self._begun.pop(piece.stream))
        self._waiting += len(line)
        return self._begun_lines() if self._waiting > LONGEST_LINE else b""

    def _begun_lines(self) -> bytes:
        """Return the text of all lines without an end so far."""
        begun, self._begun, self._waiting = self._begun, defaultdict(list), 0
        return b"".join(map(_joined, begun.values()))


def _joined(pieces: list[Piece]) -> bytes:
    time = pieces[0].time
    return b"".join(
        [
            f"{time} ".encode("utf-8", "replace") if time else b"",
            *(piece.text for piece in pieces),
            b"\n",
        ]
    )


DATABASE_START = b"SQLite format 3\0"
WRITE_AHEAD_STARTS = (b"7\x7f\x06\x82", b"7\x7f\x06\x83")
"""Beginnings of SQLite's `…-wal`, by the byte order of its checksums."""


def is_database(source: Source) -> bool:
    """Return whether a source is an SQLite database, or its `…-wal`. Raises OSError."""
    with source.open() as stream:
        head = stream.read(len(DATABASE_START))
    return head.startswith((DATABASE_START, *WRITE_AHEAD_STARTS))


_OTHER_PROGRAMS = re.compile(
    rb"PAR1[\x15-\x1c]|ARROW1\0|SQLite format "
    rb"3\0|7\x7f\x06[\x82\x83]|.{8}DUCK|\x93NUMPY|\x89HDF\r\n|GGUF[\x01-\x09]\0"
    rb"|\x80[\x02-\x05][^ -~]|\x7fELF|%PDF-\d|OggS\0|wOF[F2]\0",
    re.DOTALL,
)
"""Beginnings of files that may contain long texts but are not text: tables, databases (and SQLite's
`-wal`), arrays, models, programs.
"""

_PATCH = re.compile(
    r"^(?:diff --git |Index: \S|--- \S.*\n\+\+\+ \S|From [0-9a-f]{40} )", re.MULTILINE
)
_SOURCE_SUFFIXES = frozenset(
    "bash bat bazel c cc cfg cjs clj cmake cpp cs css cu cuh cxx dart el erl ex f90 go "
    "gradle graphql h hpp hs htm html ini ipynb "
    "java jl js jsx kt less lua m make mjs mk ml mm nim nix php pl proto ps1 pxd py pyi pyx "
    "r rb rs s sass scala scss sh sol sql "
    "svelte swift tcl tex tf toml ts tsx v vue xml yaml yml zig zsh".split()
)
_SOURCE_NAMES = frozenset(
    (
        "dockerfile",
        "makefile",
        "justfile",
        "procfile",
        "cmakelists.txt",
        ".gitignore",
        ".dockerignore",
    )
)


def is_binary(head: bytes) -> bool:
    """Return whether a file with this beginning is binary.

    A known format, or more than a tenth of it NULs or invalid UTF-8.

    A log may hold single NULs. NULs at the beginning do not count (a log that was truncated under
    its writer has as many as it had bytes before), nor do long runs of them (a crash leaves blocks
    of NULs).
    """
    if _encoding(head):
        return False
    if _OTHER_PROGRAMS.match(head):
        return True
    if head.isascii() and b"\0" not in head:
        return False
    body = re.sub(rb"\0{256,}", b"", head.lstrip(b"\0")) if b"\0" in head else head
    text = body.decode("utf-8", "replace")
    return text.count("\ufffd") + text.count("\0") > len(text) // 10


def kind_of(head: bytes, name: str, *, is_json: bool = False) -> FileKind:
    """Return the kind of a file by its first bytes.

    The suffix of its name only distinguishes kinds of text.

    `is_json`: nothing but JSON was found in it.
    """
    if re.match(
        rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|RIFF....WEBP|BM....\x00\x00\x00\x00|\x00\x00\x01\x00|II\*\x00|MM\x00\*|....ftyp(?:avif|heic)",
        head,
        flags=re.DOTALL,
    ):
        return FileKind.PICTURE
    if head.startswith(b"PAR1"):
        return FileKind.PARQUET
    if is_binary(head) or (head and not head.strip(b"\0")):
        return FileKind.BINARY
    text = decoded(head).replace("\0", "")
    if not text.strip():
        return FileKind.EMPTY
    return FileKind.JSON if is_json else _kind_of_text(text, re.split(r"[/\\!]", name)[-1].lower())


def _kind_of_text(text: str, name: str) -> FileKind:
    suffix = name.rpartition(".")[2]
    if re.match(
        r"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,1000}?-->\s*)?(?:<!DOCTYPE svg[^>]{0,"
        r"300}>\s*)?<svg[\s>]",
        text,
        flags=re.DOTALL,
    ):
        return FileKind.PICTURE
    if _PATCH.search(text, 0, 2000):  # a mail may precede it
        return FileKind.PATCH
    if text.startswith("#!") or suffix in _SOURCE_SUFFIXES or name in _SOURCE_NAMES:
        return FileKind.SOURCE
    if suffix in ("json", "jsonl", "ndjson", "json5", "jsonc") or _begins_json(text):
        return FileKind.JSON
    lines = text.split("\n")[:10][:-1]  # the last one may be cut
    is_table = len(lines) >= 3 and not text.lstrip().startswith("{")
    counts = [{line.count(separator) for line in lines} for separator in ",;\t"]
    if suffix in ("csv", "tsv", "psv") or (
        is_table and any(len(count) == 1 and 0 not in count for count in counts)
    ):
        return FileKind.CSV
    return FileKind.TEXT


def _begins_json(text: str) -> bool:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        is_cut = error.msg.startswith("Unterminated") or error.pos >= len(text.rstrip()) - 1
        return is_cut and error.pos > 0 and text.lstrip()[:1] in ("{", "[")
    except (ValueError, RecursionError):
        pass
    return True
