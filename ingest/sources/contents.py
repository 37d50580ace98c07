"""Bytes → documents: the JSON objects of a source, found by content and never by the source's name.

A *source* is named bytes. A *document* is one JSON object at event level: the file itself, an
element of an array, a line of a stream, a record in running text or in a wrapper. A part that
cannot be read is yielded as `Unreadable`, so that nothing is lost. Sources are streamed: only a
window is in memory, whatever their size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, BinaryIO, cast

from pydantic_core import from_json

from ingest.sources.decoding import (
    DATABASE_START,
    SNIFFED_BYTES,
    Allowance,
    Broken,
    Opened,
    Utf8,
    WrappedLog,
    decoded,
    is_binary,
    kind_of,
    wrapper_of,
)
from ingest.sources.document import (
    Document,
    Events,
    TextDocument,
    excerpt,
    is_whole_record,
    parse,
    text_lines,
)
from ingest.sources.files import Portion, PortionStream, Source, Unreadable
from ingest.sources.scanner import LONGEST_LINE, WINDOW_BYTES, FoundObject, Scanner, Window, scan
from ingest.sources.times import time_of_line
from schemas.errors import RejectReason
from schemas.file_kinds import FileKind
from schemas.marks import (
    FIGURES,
    QUOTED_RECORD,
    RECORD_MARK,
    TEXT_LINE,
    TEXT_STARTS,
    WRAPPED_FIELDS,
    is_agents_object,
    is_claudes_result,
)
from schemas.unread_logs import SCHEMA_BYTES, unread_database

_BEGINNING = "line 1, byte 0"


def read(
    source: Source,
    portion: Portion | None = None,
    window_bytes: int = WINDOW_BYTES,
    show: Callable[[bytes], object] = lambda _: None,
    allowance: Allowance | None = None,
) -> Documents:
    """Return every document and unreadable part of a source (or a portion of it), in order.

    Reads while iterated.

    `show` is called with all bytes of it, in order, as they are read. `allowance`: the bound on its
    decompressed size; by default its own.
    """
    return Documents(source, portion, window_bytes, show, allowance or Allowance(source.size))


class Documents:
    """The documents of a source; to be iterated once.

    `kind`, after the iteration: object, array, jsonl (one a line), concatenated (without line
    breaks), mixed (with text between), text (a log that is no JSON), none. `file_kind`: the kind of
    the source, for one in which nothing looked like a run. `value`: the source as JSON, if it was
    parsed as a whole. Raises OSError if the file itself cannot be read, InputUnreadable if it was
    shortened meanwhile.
    """

    def __init__(
        self,
        source: Source,
        portion: Portion | None,
        window_bytes: int,
        show: Callable[[bytes], object],
        allowance: Allowance,
    ) -> None:
        self.kind = "none"
        self.file_kind = FileKind.BINARY
        self.value: dict[str, Any] | None = None
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
        """Yield the same, with events on lines grouped in batches."""
        if (
            self._portion is None
            and (data := self._source.data)
            and (document := _only_document(data))
        ):
            self.kind = "object"
            if (value := document.__dict__.get("value")) is not None:
                self.file_kind, self.value = FileKind.JSON, value
            self._show(data)
            yield document
            return
        with self._source.open() as stream:
            tee = _Tee(
                PortionStream(stream, self._portion) if self._portion else stream, self._show
            )
            try:
                yield from self._parts(Opened(cast("BinaryIO", tee), self._allowance))
            except Broken as error:
                yield self._stopped(error)
            while tee.read(1 << 20):
                pass

    def _parts(self, opened: Opened) -> Iterator[Document | Events | Unreadable]:
        head = opened.head
        self.file_kind = kind_of(head, self._source.name)
        # The attribute that every export of OpenTelemetry begins with or soon after, in protobuf.
        if (
            b"\n" in head[0:5:4] and b"\n\x0cservice.name\x12" in head
        ):  # a file exporter writes the length of each export in front of it
            yield self._refused(
                RejectReason.LOOK_ALIKE,
                "OpenTelemetry in protobuf is not read: let the exporter write `format: json`",
                "",
            )
            return
        if is_binary(head):
            if head.startswith(DATABASE_START) and (
                log := unread_database(opened.beginning(SCHEMA_BYTES))
            ):
                yield self._refused(RejectReason.LOOK_ALIKE, str(log), "")
            elif self.file_kind is FileKind.BINARY and RECORD_MARK.search(decoded(head)):
                yield self._refused(
                    RejectReason.NOT_JSON, "binary data that contains text of a record", ""
                )
            return
        text = Utf8(opened)
        if head.startswith(TEXT_STARTS) or TEXT_LINE.search(head):
            self.kind = "text"
            yield TextDocument(0, _BEGINNING, head, lines=text_lines(text))
            return
        wrapper = wrapper_of(head)
        self._wrapped = WrappedLog(text, wrapper) if wrapper else None
        window = Window(self._wrapped or text, self._window_bytes)
        scanner = Scanner(window)
        for found in scanner.spans():
            if isinstance(found, Events):
                found.ordinal, found.place_of = self._ordinal, self._place
                self._ordinal += len(found.values)
                self._documents += len(found.values)
                self._last_line = found.line + len(found.values) - 1
                yield found
            elif found.reason:
                yield self._unreadable(found)
            else:
                yield from self._found(found, noise=scanner.noise)
        self._judge(scanner, head)
        yield from self._left_unread(window)
        if not self._ordinal:
            yield from self._nothing(scanner, head)

    def _judge(self, scanner: Scanner, head: bytes) -> None:
        if scanner.objects and not scanner.noise:
            self.file_kind = kind_of(head, self._source.name, is_json=True)
        elif self._wrapped or (self.file_kind is FileKind.EMPTY and not scanner.blank):
            self.file_kind = FileKind.TEXT
        if not self._documents:
            self.kind = "none"
        elif scanner.noise:
            self.kind = "mixed"
        elif scanner.array:
            self.kind = "array"
        elif scanner.objects == 1 and self._ordinal == self._documents:
            self.kind = "object"
        else:
            self.kind = "jsonl" if self._one_a_line else "concatenated"

    def _left_unread(self, window: Window) -> Iterator[Unreadable]:
        """Yield rejects of the parts of the source that could not be examined."""
        if self._wrapped and self._wrapped.left_out:
            yield self._refused(
                RejectReason.TRUNCATED,
                f"journalctl omitted {self._wrapped.left_out} long messages, which may hold "
                "records; export the log with journalctl --all",
                "",
            )
        if window.broken:
            yield self._stopped(window.broken)
        elif self._wrapped and self._wrapped.cut:
            yield self._refused(
                RejectReason.TRUNCATED,
                f"{self._wrapped.cut} objects that wrap log lines are truncated, and may have held "
                "records",
                "",
            )

    def _nothing(self, scanner: Scanner, head: bytes) -> Iterator[Unreadable]:
        """Yield the reject of a source without documents, if any.

        A broken object at its beginning, or a quoted record.
        """
        text = head.decode("utf-8", "replace").replace("\0", "").lstrip(" \t\r\n\x0b\x0c\ufeff")
        is_quoted = (
            "total_cost_usd" in text and QUOTED_RECORD.search(text) is not None
        )  # a word is found a hundred times as fast
        if (broken := scanner.first_broken) and not (
            is_quoted and broken.reason is RejectReason.NOT_JSON
        ):
            yield self._unreadable(broken)
        elif is_quoted:
            yield self._refused(
                RejectReason.NOT_JSON,
                "looks like a record, but is quoted or not JSON",
                excerpt(text),
            )

    def _found(self, span: FoundObject, *, noise: bool) -> Iterator[Document | Unreadable]:
        """Yield the documents of an object: itself, or the records inside it.

        None if it is a part of running text.
        """
        self._one_a_line = self._one_a_line and span.line > self._last_line
        self._last_line = span.line
        value = span.value
        if value is None:
            yield self._document(span)
        elif _is_event(value) or _is_record(value) or is_agents_object(value):
            yield self._document(span).parsed_as(value)
        elif inner := self._inside(span):
            yield from inner
        else:
            event = _wrapped_event(value)
            if event or not noise:
                yield self._document(span).parsed_as(event or value)

    def _inside(self, span: FoundObject) -> list[Document | Unreadable]:
        """Return the records inside a wrapping object.

        They are parsed here, since one at the limit of nesting may be too deep by itself.
        """
        found: list[Document | Unreadable] = []
        try:
            for text, value in nested(span.text, span.value):
                document = Document(
                    self._ordinal + len(found),
                    f"{self._place(span.line, span.start)}, inside",
                    text,
                )
                found.append(document.parsed_as(document.value if value is None else value))
        except (ValueError, RecursionError):
            too_deep = "a record inside is nested too deep"
            return [
                self._unreadable(
                    span._replace(reason=RejectReason.NOT_JSON, error=too_deep, has_marks=True)
                )
            ]
        self._ordinal += len(found)
        self._documents += len(found)
        return found

    def _document(self, span: FoundObject) -> Document:
        self._ordinal += 1
        self._documents += 1
        logged_at = time_of_line(span.line_before) if span.line_before else None
        return Document(
            self._ordinal - 1,
            self._place(span.line, span.start),
            span.line_bytes or span.text,
            logged_at,
        )

    def _place(self, line: int, start: int) -> str:
        if self._portion and self._portion.offset:
            return f"byte {self._portion.offset + start}"
        return f"line {line}, byte {start}{' of the log inside' if self._wrapped else ''}"

    def _unreadable(self, span: FoundObject) -> Unreadable:
        assert span.reason
        self._ordinal += 1
        # in these a broken object is program code, whatever names it has
        is_code = (
            self.file_kind in (FileKind.SOURCE, FileKind.PATCH)
            and span.reason is RejectReason.NOT_JSON
        )
        certain = span.has_marks and not is_code
        return Unreadable(
            self._ordinal - 1,
            self._place(span.line, span.start),
            span.reason,
            span.error,
            excerpt(span.text),
            certain,
        )

    def _stopped(self, broken: Broken) -> Unreadable:
        """Return the reject at the place where decompression failed."""
        self._ordinal += 1
        position = _BEGINNING if self._ordinal == 1 else f"after line {self._last_line}"
        return Unreadable(self._ordinal - 1, position, broken.reason, str(broken))

    def _refused(self, reason: RejectReason, detail: str, beginning: str) -> Unreadable:
        self._ordinal += 1
        return Unreadable(self._ordinal - 1, _BEGINNING, reason, detail, beginning)


class _Tee:
    """A stream that calls `show` with all bytes that are read from it."""

    def __init__(self, stream: BinaryIO | PortionStream, show: Callable[[bytes], object]) -> None:
        self._stream = stream
        self._show = show

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._show(data)
        return data


def _only_document(data: bytes) -> Document | None:
    """Return the document of a source in memory with just one record or object.

    It is a record on one line, an object of an agent, or one without a record inside. Most small
    files are, and need no scanner.
    """
    line = data.rstrip(b" \t\r\n")
    if (
        len(line) <= LONGEST_LINE
        and is_whole_record(line)
        and b"\n" not in line
        and b"\0" not in line
    ):
        return Document(0, _BEGINNING, line)
    if not data.startswith(b"{") or wrapper_of(data[:SNIFFED_BYTES]):
        return None
    try:
        value = from_json(data, cache_strings="keys")
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    if is_agents_object(value):
        return Document(0, _BEGINNING, data).parsed_as(value)
    if (
        _is_event(value)
        or _is_record(value)
        or any(name.encode() in data for name in WRAPPED_FIELDS)
    ):
        return None
    return Document(0, _BEGINNING, line).parsed_as(_wrapped_event(value) or value)


def _wrapped_event(value: dict[str, Any]) -> dict[str, Any] | None:
    """Return the event in an object that wraps one: it names its session and is no result."""
    events = (item for item in value.values() if _is_event(item) and item["type"] != "result")
    return next((event for event in events if isinstance(event.get("session_id"), str)), None)


Nested = tuple[str, Any]
"""Text and value of a wrapped record or of an event; the value is None until parsed."""


def nested(text: str, value: dict[str, Any]) -> list[Nested]:
    """Return every record inside an object that is no record itself.

    In its values, lists and strings. `text` is the text of the object.

    An object with a string `type` is an event, and a record inside it is only quoted. One
    exception: a list with a record among its elements is a stream, and its other events belong to
    the record. Records in messages of other agents (a `role` with a content) are only quoted, too.
    """
    if not any(mark in text for mark in WRAPPED_FIELDS) or not any(True for _ in _search(value, 0)):
        return []
    return list(_search(_exact(text, value), 0))


def _search(value: Any, depth: int) -> Iterator[Nested]:
    if depth > 8:
        return
    if isinstance(value, str):
        if "{" in value and any(mark in value for mark in WRAPPED_FIELDS):
            for span in scan(value):
                if _is_record(span.value):
                    yield span.text, span.value
                elif isinstance(span.value, dict) and not _is_event(span.value):
                    yield from _search(_exact(span.text, span.value), depth + 1)
        return
    if isinstance(value, dict):
        items = list(value.values())
        if isinstance(value.get("role"), str) and (
            "content" in value or "parts" in value
        ):  # OpenAI's and Anthropic's, and Google's
            items = [
                item
                for key, item in value.items()
                if key not in ("content", "parts") and not isinstance(item, str)
            ]
    else:
        items = value if isinstance(value, list) else []
    is_stream = isinstance(value, list) and any(map(_is_record, value))
    for item in items:
        if _is_record(item) or (is_stream and _is_event(item)):
            import simplejson  # few logs have such values

            yield (
                simplejson.dumps(item, use_decimal=True, allow_nan=True),
                None,
            )  # in ASCII: a text may hold a lone surrogate
        elif not _is_event(item):
            yield from _search(item, depth + 1)


def _exact(text: str, value: Any) -> Any:
    """Return the value of a text with all digits of its numbers.

    `value` (parsed before) if the text alone is no JSON.
    """

    def all_digits(written: str) -> Decimal | float:
        try:
            return Decimal(written)
        except InvalidOperation:  # an exponent of twenty digits
            return float(written)

    try:
        return parse(text, all_digits)
    except (ValueError, RecursionError):
        return value


def _is_event(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def _is_record(value: Any) -> bool:
    """Return whether a value has the marks of a result record, with or without a type.

    Older versions and some wrappers have no type.
    """
    if not isinstance(value, dict) or value.get("type", "result") != "result":
        return False
    return (
        "duration_ms" in value
        and not FIGURES.isdisjoint(value)
        and ("type" in value or is_claudes_result(value))
    )
