"""Bytes → documents: the JSON objects of a source, found by content and never by the source's name.

A *source* is named bytes. A *document* is one JSON object at event level: the file itself, an element of an array, a line of a
stream, a record in running text or in a wrapper. A part that cannot be read comes out as `Unreadable`, so that nothing is lost here.
Sources are streamed: however big one is, only a window of it is in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

from pydantic_core import from_json

from ingest.sources.byte_window import WINDOW_BYTES, Window
from ingest.sources.decoding import Allowance, Broken, Opened, Utf8, decoded, is_binary, is_database
from ingest.sources.document import Document, Events, TakesLines, TextDocument, excerpt, is_whole_record, text_lines
from ingest.sources.file_kinds import kind_of
from ingest.sources.files import Source, Unreadable
from ingest.sources.identity import TeeStream
from ingest.sources.log_wrappers import WrappedLog, wrapper_of
from ingest.sources.nested_records import event_in, is_event, is_record, nested
from ingest.sources.portions import Portion, PortionStream
from ingest.sources.scanner import LONGEST_LINE, MOST_BROKEN, Scanner
from ingest.sources.spans import EventLines, Span
from ingest.sources.times import time_of_line
from schemas.errors import RejectReason
from schemas.file_kinds import FileKind
from schemas.marks import QUOTED_RECORD, RECORD_MARK, TEXT_LINE, TEXT_STARTS, is_agents_object
from schemas.unread_logs import SCHEMA_BYTES, unread_database

Show = Callable[[bytes], None]
_BEGINNING = "line 1, byte 0"
_SEEMS_QUOTED = "looks like a record but is not valid JSON: it is quoted, or printed as a program's object"
_LEFT_OUT = "journalctl omitted {} long messages, which may hold records; export the log with journalctl --all"
_PASSED_OVER = (
    "more than {:,} broken JSON objects: after these only objects on a line of their own were read, and {:,} other lines that begin"
    " like an object were skipped"
)
_CUT = "{} objects that wrap log lines are truncated, and may have held records"
_CODE = (FileKind.SOURCE, FileKind.PATCH)
"""Files in which a broken object is program code, whatever names it has."""

_LINE_END = b" \t\r\n"
_JSON_BLANK = " \t\r\n\x0b\x0c\ufeff"


def read(
    source: Source,
    start: Portion | None = None,
    window_bytes: int = WINDOW_BYTES,
    show: Show = lambda _: None,
    allowance: Allowance | None = None,
) -> Contents:
    """Every document and every unreadable part of a source (or of a portion of it), in order. Read while iterated.

    `show` is called with all bytes of it, in order, as they are read. `allowance`: the bound on its decompressed size; by default its own.
    """
    return Contents(source, start, window_bytes, show, allowance or Allowance(source.size))


class Contents:
    """The documents of a source; to be iterated once.

    `kind`, after the iteration: object, array, jsonl (one a line), concatenated (without line breaks), mixed (with text between),
    text (a log that is no JSON), none.
    `file_kind`: the kind of the source, for one in which nothing looked like a run.
    `taker`: from when it is set on, it is offered lines before they are parsed.
    Raises OSError where the file itself cannot be read, InputUnreadable where it does not stay as long as it was.
    """

    def __init__(self, source: Source, portion: Portion | None, window_bytes: int, show: Show, allowance: Allowance) -> None:
        self.kind = "none"
        self.file_kind = FileKind.BINARY
        self.taker: TakesLines | None = None
        self._source = source
        self._portion = portion
        self._window_bytes = window_bytes
        self._show = show
        self._allowance = allowance
        self._ordinal = 0
        self._documents = 0
        self._one_a_line = True
        self._last_line = 0
        self._wrapped: WrappedLog | None = None

    def __iter__(self) -> Iterator[Document | Unreadable]:
        for part in self.parts():
            if isinstance(part, Events):
                yield from map(part.document, range(len(part.values)))
            else:
                yield part

    def parts(self) -> Iterator[Document | Events | Unreadable]:
        """The same, with events that are lines in portions."""
        if record := self._one_record():
            self.kind = "object"
            self._show(self._source.data or b"")
            yield Document(0, _BEGINNING, record)
            return
        if value := self._one_object():
            self.kind, self.file_kind = "object", FileKind.JSON
            data = self._source.data or b""
            self._show(data)
            yield Document(0, _BEGINNING, data).parsed_as(value)
            return
        with self._source.open() as stream:
            tee = TeeStream(self._limited(stream), self._show)
            try:
                yield from self._parts(Opened(cast("BinaryIO", tee), self._allowance))
            except Broken as error:
                yield self._stopped(error)
            tee.read_rest()

    def _one_record(self) -> bytes:
        """The bytes of a source that is in memory and is one record on one line, as most small files are: it needs no scanner."""
        data = (self._source.data or b"").rstrip(_LINE_END) if self._portion is None else b""
        return data if len(data) <= LONGEST_LINE and is_whole_record(data) and b"\n" not in data and b"\0" not in data else b""

    def _one_object(self) -> dict[str, Any] | None:
        """The value of a source that is in memory and is one object of an agent, written over many lines: it needs no scanner either."""
        data = self._source.data if self._portion is None else None
        if not data or not data.startswith(b"{") or b"\n" not in data:
            return None
        try:
            value = from_json(data, cache_strings="keys")
        except ValueError:
            return None
        return value if isinstance(value, dict) and is_agents_object(value) else None

    def _limited(self, stream: BinaryIO) -> BinaryIO:
        return cast("BinaryIO", PortionStream(stream, self._portion)) if self._portion else stream

    def _parts(self, opened: Opened) -> Iterator[Document | Events | Unreadable]:
        head = opened.head
        self.file_kind = kind_of(head, self._source.name)
        if is_binary(head):
            if is_database(head) and (log := unread_database(opened.beginning(SCHEMA_BYTES))):
                yield self._refused(RejectReason.LOOK_ALIKE, str(log), "")
            elif self.file_kind is FileKind.BINARY and RECORD_MARK.search(decoded(head)):
                yield self._refused(RejectReason.NOT_JSON, "binary data that contains text of a record", "")
            return
        text = Utf8(opened)
        if head.startswith(TEXT_STARTS) or TEXT_LINE.search(head):
            self.kind = "text"
            yield TextDocument(0, _BEGINNING, head, lines=text_lines(text))
        else:
            yield from self._objects(text, head)

    def _objects(self, text: Utf8, head: bytes) -> Iterator[Document | Events | Unreadable]:
        wrapper = wrapper_of(head)
        self._wrapped = WrappedLog(text, wrapper) if wrapper else None
        window = Window(self._wrapped or text, self._window_bytes)
        scanner = Scanner(window)
        for span in scanner.spans():
            if isinstance(span, EventLines):
                yield self._events(span)
            elif span.reason:
                yield self._unreadable(span)
            else:
                yield from self._found(span, noise=scanner.noise)
            scanner.taker = self.taker
        self.kind = self._judged(scanner)
        if scanner.objects and not scanner.noise:
            self.file_kind = kind_of(head, self._source.name, is_json=True)
        elif self._wrapped or (self.file_kind is FileKind.EMPTY and not scanner.blank):
            self.file_kind = FileKind.TEXT
        yield from self._left_unread(scanner, window)
        if not self._ordinal:
            yield from self._nothing(scanner, head)

    def _events(self, events: EventLines) -> Events:
        """The documents of events that are lines, as most documents are."""
        ordinal = self._ordinal
        self._ordinal += events.count
        self._documents += events.count
        self._last_line = events.line + events.count - 1
        found = events.numbers, events.starts, events.texts, events.values
        return Events(ordinal, events.line, events.count, *found, events.taken, self._place)

    def _left_unread(self, scanner: Scanner, window: Window) -> Iterator[Unreadable]:
        """The parts of the source that could not be examined."""
        if scanner.passed_over:
            yield self._refused(RejectReason.TOO_MUCH, _PASSED_OVER.format(MOST_BROKEN, scanner.passed_over), "")
        if self._wrapped and self._wrapped.left_out:
            yield self._refused(RejectReason.TRUNCATED, _LEFT_OUT.format(self._wrapped.left_out), "")
        if window.broken:
            yield self._stopped(window.broken)
        elif self._wrapped and self._wrapped.cut:
            yield self._refused(RejectReason.TRUNCATED, _CUT.format(self._wrapped.cut), "")

    def _found(self, span: Span, *, noise: bool) -> Iterator[Document | Unreadable]:
        """The documents of an object: itself, or the records inside it; none where it is a part of running text."""
        self._one_a_line = self._one_a_line and span.line > self._last_line
        self._last_line = span.line
        if span.value is None:
            yield self._document(span)
        elif is_event(span.value) or is_record(span.value) or is_agents_object(span.value):
            yield self._document(span).parsed_as(span.value)
        elif inner := self._inside(span):
            yield from inner
        elif event := event_in(span.value):
            yield self._document(span).parsed_as(event)
        elif not noise:
            yield self._document(span).parsed_as(span.value)

    def _inside(self, span: Span) -> list[Document | Unreadable]:
        """The records inside an object that wraps them. They are parsed here: one at the limit of nesting may be too deep by itself."""
        found: list[Document | Unreadable] = []
        try:
            for text, value in nested(span.text, span.value):
                document = Document(self._ordinal + len(found), f"{self._position(span)}, inside", text)
                found.append(document.parsed_as(document.value if value is None else value))
        except (ValueError, RecursionError):
            too_deep = "a record inside is nested too deep"
            return [self._unreadable(span._replace(reason=RejectReason.NOT_JSON, error=too_deep, has_marks=True))]
        self._ordinal += len(found)
        self._documents += len(found)
        return found

    def _document(self, span: Span) -> Document:
        self._ordinal += 1
        self._documents += 1
        logged_at = time_of_line(span.line_before) if span.line_before else None
        return Document(self._ordinal - 1, self._position(span), span.line_bytes or span.text, logged_at)

    def _unreadable(self, span: Span) -> Unreadable:
        assert span.reason
        self._ordinal += 1
        is_code = self.file_kind in _CODE and span.reason is RejectReason.NOT_JSON
        certain = span.has_marks and not is_code
        return Unreadable(self._ordinal - 1, self._position(span), span.reason, span.error, excerpt(span.text), certain)

    def _position(self, span: Span) -> str:
        return self._place(span.line, span.start)

    def _place(self, line: int, start: int) -> str:
        if self._portion and self._portion.offset:
            return f"byte {self._portion.offset + start}"
        return f"line {line}, byte {start}{' of the log inside' if self._wrapped else ''}"

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
        """The reject at the place where decompression failed."""
        self._ordinal += 1
        position = _BEGINNING if self._ordinal == 1 else f"after line {self._last_line}"
        return Unreadable(self._ordinal - 1, position, broken.reason, str(broken))

    def _nothing(self, scanner: Scanner, head: bytes) -> Iterator[Unreadable]:
        """The reject of a source without documents, if any: a broken object at its beginning, or a record in quotes."""
        text = head.decode("utf-8", "replace").replace("\0", "").lstrip(_JSON_BLANK)
        is_quoted = QUOTED_RECORD.search(text) is not None
        if (broken := scanner.first_broken) and not (is_quoted and broken.reason is RejectReason.NOT_JSON):
            yield self._unreadable(broken)
        elif is_quoted:
            yield self._refused(RejectReason.NOT_JSON, _SEEMS_QUOTED, excerpt(text))

    def _refused(self, reason: RejectReason, detail: str, beginning: str) -> Unreadable:
        self._ordinal += 1
        return Unreadable(self._ordinal - 1, _BEGINNING, reason, detail, beginning)
