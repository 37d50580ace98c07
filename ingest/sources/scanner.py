"""Bytes of text → the JSON objects at event level.

On lines, in arrays, Markdown fences or log text, or one after the other.

A record that is only *quoted* inside a string of an event is not at event level, and an object that
is the value of a key belongs to the object around it. A broken object is reported only if it has
the marks of a result record, or begins a line as an event does, or if only objects came before; any
other brace in running text is text. The bytes that may be parsed twice are limited.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Generator, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from pydantic_core import from_json

from ingest.sources.decoding import Broken, Readable
from ingest.sources.document import (
    EXCERPT_CHARACTERS,
    RESULT_BYTES,
    Events,
    is_whole_record,
    parse,
)
from schemas.errors import RejectReason
from schemas.marks import EVENT_START, LEGIBLE_FIELDS, RECORD_MARK, has_marks

WINDOW_BYTES = 4 << 20
LOOK_BACK = 128
"""Bytes before the current offset that stay in the window."""

LONGEST_OBJECT = 256 << 20

LONGEST_LINE = 1 << 20
"""Bytes. An object on a longer line is decoded as an object on many lines is."""

MARK_SEARCHED = 4096
"""Characters of a broken object that are searched for its fields."""

_DECODED_BYTES = (1 << 12, 1 << 15, 1 << 18, 1 << 21, 1 << 24, 1 << 26, LONGEST_OBJECT)
_BLANK = b" \t\r\n\x0b\x0c\x1e"
_DECODER = json.JSONDecoder()
_EVENT = re.compile(EVENT_START.pattern.encode())
_PREFIX = (
    r'(?:[\w.-]{1,80} *\| |[^\n{"]{0,80}?\d{4}-\d\d-\d\dT\d\d:\d\d:[\d.]{1,12}(?:Z|[+-]\d\d:\d\d) )'
)
"""What `docker compose logs` and GitHub Actions write before each line."""
_LINE_PREFIX = re.compile(rf"^{_PREFIX}", re.MULTILINE)
_OBJECT_START = re.compile(rf'\{{(?:[ \t\r\n]{{0,1000}}+["}}]|\r?\n{_PREFIX}[ \t]*["}}])'.encode())
_KEY_BEFORE = re.compile(rb'"[ \t\r\n]*:[ \t\r\n]*$')
_OUTDENTED = re.compile(rb"\n[^ \t\r\n}\]]")
_READABLE_FIELD = re.compile(
    rf'"({"|".join(LEGIBLE_FIELDS)})"\s*:\s*("[^"\n]*"|[^\s,{{}}\[\]"]+)(?=[,}}\s])'
)


class ScanFailure(NamedTuple):
    """Why an object could not be decoded: `message`, at character `at` of `text`.

    `cut`: the text ended too early.
    """

    text: str
    at: int
    message: str
    cut: bool = False


class FoundObject(NamedTuple):
    """An object from byte `start` to `end` of the stream.

    `value` is None if it is broken (`reason` and `error` say how, `text` is its beginning), and if
    it is a result record that is a whole line (`line_bytes`), which is neither decoded nor parsed
    here: its reader validates it. `line_before`: the end of the text before it on its line, mostly
    a log prefix. `has_marks`: a broken object has marks of a record or of an agent's event.
    """

    start: int
    end: int
    line: int
    text: str
    value: Any = None
    reason: RejectReason | None = None
    error: str = ""
    line_bytes: bytes = b""
    line_before: bytes = b""
    has_marks: bool = False


def scan(text: str) -> Iterator[FoundObject]:
    """Yield each object at event level of a text and each reported broken one, in order.

    Raises nothing.
    """
    data = text.encode("utf-8", "replace")
    for span in Scanner(Window(io.BytesIO(data), len(data) + 1), lines_together=False).spans():
        assert isinstance(span, FoundObject)
        if span.line_bytes:
            text = span.line_bytes.decode("utf-8", "replace")
            value = None
            with suppress(ValueError):
                value = parse(text)
            yield span._replace(text=text, value=value)
        else:
            yield span


class Window:
    """The part of a stream in memory: earlier bytes are dropped, later ones are read on demand.

    Places are offsets into `data`; `base` is the offset of `data` in the stream.
    """

    def __init__(self, stream: Readable, size: int = WINDOW_BYTES) -> None:
        self.data = b""
        self.base = 0
        self.ended = False
        self.broken: Broken | None = None
        self._stream = stream
        self._size = max(size, 1)
        self._line = 1
        self._counted = 0

    def move(self, at: int) -> int:
        """Drop the bytes before `at` and read more. Returns the new offset of `at`."""
        gone = max(0, at - LOOK_BACK)
        self.line_at(max(gone, self._counted))
        self._counted -= gone
        self.data = self.data[gone:]
        self.base += gone
        self._read(self._size)
        return at - gone

    def text(self, start: int, size: int) -> str:
        """Return the text of `size` bytes, or of all there are.

        Invalid UTF-8 becomes lone surrogates.
        """
        self._reach(start + size)
        return str(memoryview(self.data)[start : start + size], "utf-8", "surrogateescape")

    def line_at(self, place: int) -> int:
        """Return the number of the line at an offset.

        Offsets must not decrease: an earlier one gets the last number returned.
        """
        if place > self._counted:
            self._line += self.data.count(b"\n", self._counted, place)
            self._counted = place
        return self._line

    def pass_line(self, start: int, end: int) -> int:
        """Return the number of the line at `start`.

        There is no line feed up to `end`, so these bytes are not searched again.
        """
        self.line_at(start)
        self._counted = end
        return self._line

    def line_end(self, start: int, most: int) -> int:
        """Return the offset where the line at `start` ends (line feed or end of the stream).

        -1 if it is longer than `most`.
        """
        searched = start
        while True:
            found = self.data.find(b"\n", searched, start + most)
            if found >= 0:
                return found
            searched = len(self.data)
            if searched >= start + most:
                return -1
            if self.ended:
                return searched
            self._reach(
                searched + max(1, searched - start)
            )  # twice as much each time: every read copies the whole window

    def _reach(self, until: int) -> None:
        if until > len(self.data) and not self.ended:
            self._read(max(until - len(self.data), self._size))

    def _read(self, count: int) -> None:
        blocks = [self.data]
        try:
            while count > 0 and (block := self._stream.read(count)):
                blocks.append(block)
                count -= len(block)
        except Broken as error:
            self.broken = error
        self.ended = count > 0
        self.data = b"".join(blocks)


class Scanner:
    """Finds the objects of a stream. Its attributes say what was found so far.

    `blank`: nothing yet; `array`: the stream begins with `[`; `noise`: there is text outside
    objects; `objects`: number of whole objects; `first_broken`: the object at the beginning of the
    stream, if it is broken and was not reported.
    `lines_together`: events on lines are yielded in batches.
    """

    def __init__(self, window: Window, *, lines_together: bool = True) -> None:
        self.blank = True
        self.array = False
        self.noise = False
        self.objects = 0
        self.first_broken: FoundObject | None = None
        self._in_torn = (
            False  # within a torn document of several lines, until a line without indent
        )
        self._window = window
        self._lines_together = lines_together
        self._examined_again = 0

    def spans(self) -> Iterator[FoundObject | Events]:
        """Yield whole and broken objects, in order.

        `start` and `end` count from the beginning of the stream.
        """
        window = self._window
        at = window.move(0)
        while True:
            if self._lines_together:
                at = yield from self._whole_on_lines(at)
            match = _OBJECT_START.search(window.data, at)
            # a brace near the end of the window may become the start of an object
            brace = -1 if match else window.data.rfind(b"{", max(at, len(window.data) - 1002))
            is_last = window.ended and not match
            until = match.start() if match else len(window.data) if is_last or brace < 0 else brace
            if lost := self._text(at, until):
                yield lost
                at = window.line_end(lost.start - window.base, LONGEST_LINE)
            elif match:
                at, span = self._object_at(until)
                if span:
                    yield span
            elif is_last:
                return
            else:
                at = window.move(until)
            if at > len(window.data) // 2 and not window.ended:
                at = window.move(at)

    def _text(self, at: int, until: int) -> FoundObject | None:
        """Note the text between objects.

        Return a broken object of it, a line that lost its beginning.
        """
        window = self._window
        if self._in_torn and _OUTDENTED.search(window.data, max(0, at - 1), until):
            self._in_torn = False
        content = window.data[at:until].lstrip(_BLANK)
        if not content:
            return None
        self.array = self.array or (self.blank and content.startswith(b"["))
        self.blank = False
        rest = content.lstrip(_BLANK + b",[]") if self.array else content
        if (
            rest
            and self.objects
            and not self.noise
            and (lost := self._lost_beginning(until - len(rest)))
        ):
            return lost
        self.noise = self.noise or bool(rest)
        return None

    def _lost_beginning(self, start: int) -> FoundObject | None:
        """Return the end of an object that lost its beginning; None for other text.

        An object may lose its beginning when power fails.
        """
        window = self._window
        end = window.line_end(start, LONGEST_LINE)
        line = window.data[start : max(start, end)].rstrip(_BLANK)
        error = ""
        if b"\0" in line and (line.strip(b"\0") or not window.ended or end < len(window.data)):
            # at the end of a file they are space that was reserved
            error = "NUL bytes in place of text"
        elif line.endswith(b"}") and b'":' in line and line.count(b"}") > line.count(b"{"):
            error = "the line has lost its beginning"
        if not error or self._line_before(start).strip(_BLANK):
            return None
        return self._complaint(start, ScanFailure(window.text(start, _DECODED_BYTES[0]), 0, error))

    def _whole_on_lines(self, at: int) -> Generator[FoundObject | Events, None, int]:
        """Yield consecutive result records, or events, without a search for objects.

        They are whole lines, as in nearly all logs.

        Returns the offset of the first other line.
        """
        window = self._window
        first = at + (window.data[at : at + 1] == b"\n")
        if window.data[first : first + 1] != b"{" or not self._begins_line(first):
            return at
        data, at = window.data, first
        while (
            data.startswith(RESULT_BYTES, at)
            and (end := data.find(b"\n", at, at + LONGEST_LINE)) >= 0
        ):
            if not is_whole_record(text := data[at:end]):
                return at
            self.blank = False
            self.objects += 1
            yield FoundObject(
                window.base + at, window.base + end, window.pass_line(at, end), "", line_bytes=text
            )
            at = end + 1
        if at > first:
            return at
        line = window.line_at(first)
        while count := len((events := self._events_at(at, line)).values):
            self.blank = False
            self.objects += count
            at = events.end - window.base + 1
            line += count
            yield events
        return at

    def _events_at(self, at: int, line: int) -> Events:
        """Return the batch of events on the lines from `at` on."""
        # events on lines are given out together until they have so many bytes
        base, data, until = self._window.base, self._window.data, at + (1 << 15)
        starts: list[int] = []
        texts: list[bytes] = []
        values: list[dict[str, Any]] = []
        with suppress(ValueError):
            while at < until and (end := data.find(b"\n", at)) >= 0:
                text = data[at:end]
                if not _may_be_event(text):
                    break
                value = from_json(text, cache_strings="keys")
                if type(value) is not dict or type(value.get("type")) is not str:
                    break
                starts.append(base + at)
                texts.append(text)
                values.append(value)
                at = end + 1
        return Events(line, starts, texts, values, base + at - 1)

    def _object_at(self, start: int) -> tuple[int, FoundObject | None]:
        """Return the offset to continue from, and the object at `start`: whole, or broken.

        None for plain text.
        """
        window = self._window
        was_blank, self.blank = self.blank, False
        begins_line = self._begins_line(start)
        self._in_torn = self._in_torn and not begins_line
        if begins_line and (span := self._on_a_line(start)):
            return span.end - window.base, span
        if not begins_line and _KEY_BEFORE.search(window.data, max(0, start - 80), start):
            self.noise = True
            return start + 1, None
        found = self._decoded(start)
        before = b"" if begins_line else self._line_before(start)
        if (
            isinstance(found, ScanFailure)
            and "\n" in found.text[: found.at + 1]
            and _LINE_PREFIX.match(before.decode("utf-8", "replace"))
        ):
            bare = self._decoded(start, has_prefixes=True)
            found = bare if isinstance(bare, FoundObject) else found
        if isinstance(found, FoundObject):
            self.objects += not self._in_torn
            return found.end - window.base, None if self._in_torn else found._replace(
                line_before=before
            )
        text, at = found.text, found.at
        stopped = start + max(1, _bytes_of(text[:at]))
        if self._in_torn:
            return self._after_line(start, stopped), None
        self._in_torn = begins_line and "\n" in text[:at]
        # the marks of a document of several lines may be behind a long text
        marked_to = at + 2 if self._in_torn else min(at + 2, MARK_SEARCHED)
        certain = begins_line and (EVENT_START.match(text) or (self.objects and not self.noise))
        has_mark = RECORD_MARK.search(text, 0, marked_to) is not None
        is_reported = certain or has_mark
        span = self._complaint(start, found) if is_reported or was_blank else None
        if span and has_mark:
            span = span._replace(has_marks=True)
        if not is_reported:
            self.first_broken, span, self.noise = self.first_broken or span, None, True
        return self._after_line(start, stopped) if is_reported or "\n" in text[:at] else min(
            stopped, len(window.data)
        ), span

    def _complaint(self, start: int, failure: ScanFailure) -> FoundObject:
        reason, error = reject_reason(failure)
        window, text = self._window, _clean(failure.text[:EXCERPT_CHARACTERS])
        place, marked = (
            window.base + start,
            has_marks(failure.text[: min(failure.at + 2, MARK_SEARCHED)]),
        )
        return FoundObject(
            place, place, window.line_at(start), text, None, reason, _clean(error), has_marks=marked
        )

    def _begins_line(self, start: int) -> bool:
        window = self._window
        return window.data[start - 1 : start] == b"\n" if start else window.base == 0

    def _line_before(self, start: int) -> bytes:
        return self._window.data[max(0, start - LOOK_BACK) : start].rpartition(b"\n")[2]

    def _on_a_line(self, start: int) -> FoundObject | None:
        """Return the object if it is a whole line, as nearly all are.

        A result record is not parsed if its braces show that it is whole.

        An event of a megabyte or more is parsed from its bytes and dropped from the window, so that
        it is in memory once.
        """
        window = self._window
        end = window.line_end(
            start, LONGEST_OBJECT if _EVENT.match(window.data, start) else LONGEST_LINE
        )
        line = window.data[start:end].rstrip(b" \t\r") if end >= 0 else b""
        if not line.endswith(b"}"):
            return None
        is_long, is_record = len(line) > LONGEST_LINE, is_whole_record(line)
        value = None
        if not is_record and (is_long or _may_be_event(line)):
            with suppress(ValueError):
                value = from_json(line) if is_long else from_json(line, cache_strings="keys")
            if type(value) is not dict or type(value.get("type")) is not str:
                value = None
        if is_record or value is not None:
            if is_record or is_long:
                window.pass_line(start, end)
            span = self._whole(start, start + len(line), "", value, line)
            if is_long:
                window.move(end)
            return span
        if is_long:
            return None
        text = line.decode("utf-8", "replace")
        try:
            value, decoded = json.JSONDecoder(strict=False).raw_decode(text)
        except (ValueError, RecursionError):
            return None
        return self._whole(start, start + len(line), text, value) if decoded == len(text) else None

    def _decoded(self, start: int, *, has_prefixes: bool = False) -> FoundObject | ScanFailure:
        """Decode the object at `start` from ever longer text.

        Thus an early error does not cost reading the whole stream.

        `has_prefixes`: each of its lines has a prefix, which is left out.
        """
        failure = ScanFailure("", 0, "")
        for size in _DECODED_BYTES:
            logged = self._window.text(start, size)
            text = _LINE_PREFIX.sub("", logged) if has_prefixes else logged
            cut = self._window.ended and len(self._window.data) <= start + size
            try:
                value, end = _DECODER.raw_decode(text)
                logged = _with_prefixes(logged, text[:end]) if has_prefixes else logged[:end]
                own = _clean(text[:end])
                value = value if own == text[:end] else _DECODER.decode(own)
                return self._span(start, start + _bytes_of(logged), own, value)
            except RecursionError:
                return ScanFailure(text, 4096, "it is nested too deep")
            except json.JSONDecodeError as error:
                # an error so near the end of a text may be that of a token that is cut off
                if cut or not (
                    error.msg.startswith("Unterminated") or error.pos >= len(text) - 160
                ):
                    return ScanFailure(text, error.pos, error.msg, cut)
                failure = ScanFailure(text[: _DECODED_BYTES[0]], error.pos, error.msg)
                text = ""
            except ValueError as error:  # a number of thousands of digits
                return ScanFailure(text, 1, str(error))
        return failure._replace(at=1, message=f"it is longer than {LONGEST_OBJECT >> 20} MB")

    def _after_line(self, start: int, stopped: int) -> int:
        """Return the offset after a reported object.

        The next line, or the break if too many bytes were examined twice.
        """
        end = self._window.line_end(start, LONGEST_LINE)
        # a bound on what hostile text lets us parse again
        if end < 0 or self._examined_again > 4 * (self._window.base + start) + (1 << 24):
            return max(end + 1, stopped)
        self._examined_again += max(0, stopped - end)
        return min(end + 1, len(self._window.data))

    def _whole(
        self, start: int, end: int, text: str, value: Any, line_bytes: bytes = b""
    ) -> FoundObject:
        self.objects += 1
        return self._span(start, end, text, value, line_bytes)

    def _span(
        self, start: int, end: int, text: str, value: Any, line_bytes: bytes = b""
    ) -> FoundObject:
        window = self._window
        return FoundObject(
            window.base + start,
            window.base + end,
            window.line_at(start),
            text,
            value,
            line_bytes=line_bytes,
        )


def _with_prefixes(logged: str, bare: str) -> str:
    """Return the beginning of a logged text that becomes `bare` without its line prefixes."""
    lines = logged.split("\n", bare.count("\n") + 1)[: bare.count("\n") + 1]
    last = bare.rpartition("\n")[2]
    lines[-1] = lines[-1][: len(lines[-1]) - len(_LINE_PREFIX.sub("", lines[-1])) + len(last)]
    return "\n".join(lines)


def _may_be_event(line: bytes) -> bool:
    return line[-1:] == b"}" and not line.startswith(RESULT_BYTES) and len(line) <= LONGEST_LINE


def _bytes_of(text: str) -> int:
    """Return the number of bytes of a window's text.

    They are counted in parts so that a hundred megabytes are not copied.
    """
    if text.isascii():
        return len(text)
    return sum(
        len(text[at : at + (1 << 20)].encode("utf-8", "surrogateescape"))
        for at in range(0, len(text), 1 << 20)
    )


def _clean(text: str) -> str:
    """Return a window's text with U+FFFD for bytes that were no UTF-8."""
    if text.isascii() or not re.search("[\udc80-\udcff]", text):
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def reject_reason(failure: ScanFailure) -> tuple[RejectReason, str]:
    """Return the reason of a reject and its detail, which quotes the figures still readable."""
    text, at, message, cut = failure
    fields = _READABLE_FIELD.findall(text, 0, min(at + 1, MARK_SEARCHED))
    before = (
        "; readable before that: " + ", ".join(f"{name} {value}" for name, value in fields)
        if fields
        else ""
    )
    whole = text[:at].rstrip()
    ends_with_line = "\n" in text[len(whole) : at] and "\n" not in whole
    has_ended = (cut and at >= len(text.rstrip()) - 1) or ends_with_line
    is_closed = text.startswith(("}", "]"), at)  # then it ended in another way
    if message.startswith(("Unterminated", "Invalid control")) or (has_ended and not is_closed):
        return RejectReason.TRUNCATED, f"truncated JSON{before}"
    return RejectReason.NOT_JSON, f"invalid JSON at character {at}: {message}{before}"
