"""Bytes → documents: where JSON lies in a source, judged by content and never by the source's name.

A *source* is named bytes. A *document* is one JSON object at event level: the file itself, an element of an array, a line of a
stream, a record in running text or in a wrapper. What cannot be read comes out as `Unreadable`, so that nothing disappears here.
Sources are streamed: however big one is, only a window of it is in memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

from ingest.archives import archive_kind, members, names
from ingest.context.times import time_of_line
from ingest.decoding import SNIFFED_BYTES, Allowance, Broken, Opened, Utf8, is_binary
from ingest.document import Document, is_whole_record
from ingest.identity import Passing
from ingest.nesting import event_in, is_event, is_record, nested
from ingest.portions import Limited, Portion, portions
from ingest.relayed import Relayed, relay_of
from ingest.scanner import EXCERPT_CHARACTERS, LONGEST_LINE, Scanner, Span
from ingest.sources import Source, Unreadable
from ingest.walking import find_files, read_paths
from ingest.window import WINDOW_BYTES, Window
from schemas.errors import RejectReason

__all__ = [
    "Contents",
    "Document",
    "Portion",
    "Source",
    "Unreadable",
    "archive_kind",
    "excerpt",
    "find_files",
    "members",
    "names",
    "portions",
    "read",
    "read_paths",
]

Show = Callable[[bytes], None]
_BEGINNING = "line 1, byte 0"
_MARK = r'(?:\\"|""|&quot;|&#34;|\x27)'
_QUOTED = re.compile(rf"{_MARK}total_cost_usd{_MARK}|\bResultMessage\([^\n]{{0,2000}}?total_cost_usd=")
"""How a field of a record looks in the quoted text of a log, in CSV, in HTML, and as Python prints a dict or the object of its SDK."""

_LEFT_OUT = "journalctl left long messages out, {} in all, and a record may be one of them: with --all it writes them too"
_CUT = "objects that hold the log's lines are cut off, {} in all, and a record may be in one of them"
_LINE_END = b" \t\r\n"
_KINDS = {str: "string", list: "array", bool: "truth value", type(None): "null"}
_JSON_BLANK = " \t\r\n\x0b\x0c\ufeff"


def read(source: Source, start: Portion | None = None, window_bytes: int = WINDOW_BYTES, show: Show = lambda _: None) -> Contents:
    """Every document of a source (or of a portion of it), in order, and what could not be read. Read while iterated.

    All bytes of it are shown to `show`, in order, as they are read.
    """
    return Contents(source, start, window_bytes, show)


def excerpt(text: str) -> str:
    """The beginning of a text, for a reject row."""
    return text if len(text) <= EXCERPT_CHARACTERS else text[: EXCERPT_CHARACTERS - 1] + "…"


class Contents:
    """What a source holds; to be iterated once.

    `kind`, once that is done: object, array, jsonl (one a line), concatenated (without line breaks), mixed (with text between), none.
    Raises OSError where the file itself cannot be read, InputUnreadable where it does not stay as long as it was.
    """

    def __init__(self, source: Source, portion: Portion | None, window_bytes: int, show: Show) -> None:
        self.kind = "none"
        self._source = source
        self._portion = portion
        self._window_bytes = window_bytes
        self._show = show
        self._ordinal = 0
        self._documents = 0
        self._mere_objects = 0
        self._one_a_line = True
        self._last_line = 0
        self._relayed: Relayed | None = None

    def __iter__(self) -> Iterator[Document | Unreadable]:
        if record := self._one_record():
            self.kind = "object"
            self._show(self._source.data or b"")
            yield Document(0, _BEGINNING, record)
            return
        with self._source.open() as stream:
            passing = Passing(self._limited(stream), self._show)
            try:
                yield from self._parts(Opened(cast("BinaryIO", passing), Allowance(self._source.size)))
            except Broken as error:
                yield self._stopped(error)
            passing.pass_rest()

    def _one_record(self) -> bytes:
        """The source, where it is in memory and nothing but one record on one line, as most small files are: no scanner is needed."""
        data = (self._source.data or b"").rstrip(_LINE_END) if self._portion is None else b""
        return data if len(data) <= LONGEST_LINE and is_whole_record(data) and b"\n" not in data and b"\0" not in data else b""

    def _limited(self, stream: BinaryIO) -> BinaryIO:
        return cast("BinaryIO", Limited(stream, self._portion)) if self._portion else stream

    def _parts(self, opened: Opened) -> Iterator[Document | Unreadable]:
        head = opened.head
        if is_binary(head):
            yield self._refused(RejectReason.BINARY, "the file holds binary data, not text", repr(head[:40]))
            return
        text = Utf8(opened)
        kept_by = relay_of(head)
        self._relayed = Relayed(text, kept_by) if kept_by else None
        window = Window(self._relayed or text, self._window_bytes)
        scanner = Scanner(window)
        for span in scanner.spans():
            if span.reason:
                yield self._unreadable(span)
            else:
                yield from self._found(span, noise=scanner.noise)
        self.kind = self._judged(scanner)
        if self._relayed and self._relayed.left_out:
            yield self._refused(RejectReason.TRUNCATED, _LEFT_OUT.format(self._relayed.left_out), "")
        if window.broken:
            yield self._stopped(window.broken)
        elif self._relayed and self._relayed.cut:
            yield self._refused(RejectReason.TRUNCATED, _CUT.format(self._relayed.cut), "")
        elif not self._ordinal:
            yield self._nothing(scanner, head)

    def _found(self, span: Span, *, noise: bool) -> Iterator[Document | Unreadable]:
        """The documents that an object is: itself, or the records in it; none, where it is a part of running text."""
        self._one_a_line = self._one_a_line and span.line > self._last_line
        self._last_line = span.line
        if span.value is None:
            yield self._document(span)
        elif is_event(span.value) or is_record(span.value):
            yield self._document(span).parsed_as(span.value)
        elif inner := self._inside(span):
            yield from inner
        elif event := event_in(span.value):
            yield self._document(span).parsed_as(event)
        elif noise:
            self._mere_objects += 1
        else:
            yield self._document(span).parsed_as(span.value)

    def _inside(self, span: Span) -> list[Document | Unreadable]:
        """The records in a wrapper, parsed here: one at the limit of nesting may be too deep once it stands alone."""
        found: list[Document | Unreadable] = []
        try:
            for text, value in nested(span.text, span.value):
                document = Document(self._ordinal + len(found), f"{self._position(span)}, inside", text)
                found.append(document.parsed_as(document.value if value is None else value))
        except (ValueError, RecursionError):
            return [self._unreadable(span._replace(reason=RejectReason.NOT_JSON, error="a record inside is nested too deep"))]
        self._ordinal += len(found)
        self._documents += len(found)
        return found

    def _document(self, span: Span) -> Document:
        self._ordinal += 1
        self._documents += 1
        return Document(self._ordinal - 1, self._position(span), span.line_bytes or span.text, time_of_line(span.line_before))

    def _unreadable(self, span: Span) -> Unreadable:
        assert span.reason
        self._ordinal += 1
        return Unreadable(self._ordinal - 1, self._position(span), span.reason, span.error, excerpt(span.text))

    def _position(self, span: Span) -> str:
        if self._portion and self._portion.offset:
            return f"byte {self._portion.offset + span.start}"
        return f"line {span.line}, byte {span.start}{' of the log inside' if self._relayed else ''}"

    def _judged(self, scanner: Scanner) -> str:
        if not self._documents:
            return "none"
        if scanner.noise:
            return "mixed"
        if scanner.array:
            return "array"
        if scanner.objects == 1 and self._ordinal == self._documents:
            return "object"
        return "jsonl" if self._one_a_line else "concatenated"

    def _stopped(self, broken: Broken) -> Unreadable:
        """The end of what could be decompressed."""
        reason = RejectReason.TRUNCATED if broken.early else RejectReason.BINARY
        self._ordinal += 1
        position = _BEGINNING if self._ordinal == 1 else f"after line {self._last_line}"
        return Unreadable(self._ordinal - 1, position, reason, str(broken))

    def _nothing(self, scanner: Scanner, head: bytes) -> Unreadable:
        """The one reject of a source in which nothing was found."""
        text = head.decode("utf-8", "replace").replace("\0", "").lstrip(_JSON_BLANK)
        broken = scanner.first_broken
        if broken and (broken.reason is not RejectReason.NOT_JSON or not _QUOTED.search(text)):
            return self._unreadable(broken)
        if head and not head.strip(b"\0"):
            return self._refused(RejectReason.BINARY, "the file holds zeros and no JSON object", "")
        return self._refused(*self._why_nothing(scanner, text, whole=len(head) < SNIFFED_BYTES), excerpt(text))

    def _why_nothing(self, scanner: Scanner, text: str, *, whole: bool) -> tuple[RejectReason, str]:
        if scanner.blank:
            return RejectReason.EMPTY, "the file is empty"
        if _QUOTED.search(text):
            return RejectReason.NOT_JSON, "a record seems to stand in it, but not as JSON: in quotes, or as a program prints objects"
        if self._mere_objects:
            return RejectReason.NO_RECORD, "text with JSON objects in it, none of them a record"
        if self._relayed:
            return RejectReason.NO_RECORD, "lines of a log, none of them a record"
        return _verdict(text, whole=whole)

    def _refused(self, reason: RejectReason, detail: str, beginning: str) -> Unreadable:
        self._ordinal += 1
        return Unreadable(self._ordinal - 1, _BEGINNING, reason, detail, beginning)


def _verdict(text: str, *, whole: bool) -> tuple[RejectReason, str]:
    """Why a text without any object is none of ours. `whole` where it is not only the beginning of it."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return _verdict_on_broken(text, error, whole=whole)
    kind = _KINDS.get(type(value[0] if isinstance(value, list) and value else value), "number")
    detail = f"a JSON {kind}, not an object: no agent writes that as a record" if value != [] else "the JSON array is empty"
    return RejectReason.NO_RECORD, detail


def _verdict_on_broken(text: str, error: Exception, *, whole: bool) -> tuple[RejectReason, str]:
    at_end = isinstance(error, json.JSONDecodeError) and (error.pos >= len(text.rstrip()) - 1 or "Unterminated" in error.msg)
    if text.startswith("[") and at_end:
        if whole:
            return RejectReason.TRUNCATED, "the JSON ends in the middle"
        return RejectReason.NO_RECORD, "a JSON array without an object"
    return RejectReason.NOT_JSON, "the text holds no JSON object" + (f", and as JSON it is broken: {error}" if text.startswith("[") else "")
