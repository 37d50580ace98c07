"""Bytes of text → the JSON objects at event level: on lines, in arrays, Markdown fences or log text, or one after the other.

A record that is only *quoted* inside a string of an event is not at event level, and an object that is the value of a key
belongs to the object around it. A broken object is reported only if it has the marks of a result record, or begins a line as
an event does, or if only objects came before; any other brace in running text is text. Work is bounded: every step moves forward, and
the bytes that may be parsed twice are limited. The outcome depends on the text alone, not on the windows in which it is read.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Generator, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from pydantic_core import from_json

from ingest.sources.broken_json import (
    MARK_SEARCHED,
    REPAIRED_CHARACTERS,
    Failure,
    Repaired,
    decoded_without,
    last_object_of_line,
    line_prefix,
    near_injection,
    object_at_break,
    parse,
    reject_reason,
    repaired,
)
from ingest.sources.decoding import Broken, Readable
from ingest.sources.document import EXCERPT_CHARACTERS, RESULT_BYTES, Events, TakesLines, is_whole_record
from schemas.errors import RejectReason
from schemas.marks import EVENT_START, RECORD_MARK, foreign_names, has_marks

WINDOW_BYTES = 4 << 20
LOOK_BACK = 128
"""Bytes before the current offset that stay in the window."""

LONGEST_OBJECT = 256 << 20

LONGEST_LINE = 1 << 20
"""Bytes. An object on a longer line is decoded as an object on many lines is."""

MOST_BROKEN = 100_000
"""Broken objects of a source that are examined individually; after that only objects that are whole lines are read."""

_EVENTS_BYTES = 1 << 15  # events on lines are given out together until they have so many bytes
_ALLOWED_BYTES = 1 << 24  # bytes that may be parsed again, in addition to four times the bytes read: a bound for hostile text
_DECODED_BYTES = (1 << 12, 1 << 15, 1 << 18, 1 << 21, 1 << 24, 1 << 26, LONGEST_OBJECT)
_PREFIXED_BYTES = (1 << 12, 1 << 15, 1 << 18, 1 << 20)
_TOKEN_CHARACTERS = 160  # an error so near the end of a text may be that of a token that is cut off
_DEEP_NESTING_SKIPPED = 4096
_BLANK = b" \t\r\n\x0b\x0c\x1e"
_DECODER = json.JSONDecoder()
_LENIENT_DECODER = json.JSONDecoder(strict=False)
_EVENT = re.compile(EVENT_START.pattern.encode())
_LINE_START = re.compile(rb"(?<=\n)\{")
_OBJECT_START = re.compile(
    rb'\{(?:(?<![^ \t\r\n\x0b\x0c\x1e,[]\{)[ \t\r\n]{0,1000}+["}]'
    rb'|(?<=[^ \t\r\n\x0b\x0c\x1e,[]\{)[ \t\r\n]{0,1000}+(?:\}|"(?![^"\\\x00-\x1f]{0,128}+"[^ \t\r\n:/\x1b])))'
)
"""A brace and a name in quotes, or an empty object. Inside running text, no character may follow that cannot follow a name: `{"{"{"`.

It begins with the brace, for which `re` has a fast search: otherwise a text without objects takes sixty times as long."""

_START_BYTES = 1002
_HIDDEN_START = re.compile(
    rb'\{(?:\x1b\[[0-9;]{0,20}[mK]){0,9}+(?:(?<=[mK])"|[ \t\r]{0,100}+\n(?:[^\n"{}]{1,128}"|\[?20\d\d-\d\d-\d\d[T ][^\n{}]{1,400}\n))'
)
"""A brace and the text a log inserted before the first name: a colour, a prefix, a line."""

_LEAST_HIDDEN = 8
_KEY_BEFORE = re.compile(rb'"[ \t\r\n]*:[ \t\r\n]*$')
_KEY_BYTES = 80
_UNDECODED = re.compile("[\udc80-\udcff]")


class Span(NamedTuple):
    """An object from byte `start` to `end` of the stream.

    `value` is None if it is broken (`reason` and `error` say how, `text` is its beginning), and if it is a result record that is a whole
    line (`line_bytes`), which is neither decoded nor parsed here: its reader validates it. `line_before`: the end of the text before it on
    its line, mostly a log prefix. `has_marks`: a broken object has marks of a record or of an agent's event.
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


def scan(text: str) -> Iterator[Span]:
    """Yield every object at event level of a text, and every broken object that is reported, in order. Raises nothing."""
    data = text.encode("utf-8", "replace")
    for span in Scanner(Window(io.BytesIO(data), len(data) + 1), lines_together=False).spans():
        assert isinstance(span, Span)
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
        """Return the text of `size` bytes, or of all there are. Invalid UTF-8 becomes lone surrogates."""
        self._reach(start + size)
        return str(memoryview(self.data)[start : start + size], "utf-8", "surrogateescape")

    def line_at(self, place: int) -> int:
        """Return the number of the line at an offset. Offsets must not decrease: an earlier one gets the last number returned."""
        if place > self._counted:
            self._line += self.data.count(b"\n", self._counted, place)
            self._counted = place
        return self._line

    def pass_line(self, start: int, end: int) -> int:
        """Return the number of the line at `start`. There is no line feed up to `end`, so these bytes are not searched again."""
        self.line_at(start)
        self._counted = end
        return self._line

    def line_end(self, start: int, most: int) -> int:
        """Return the offset where the line at `start` ends (line feed or end of the stream); -1 if it is longer than `most`."""
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
            self._reach(searched + max(1, searched - start))  # twice as much each time: every read copies the whole window

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

    `blank`: nothing yet; `array`: the stream begins with `[`; `noise`: there is text outside objects; `objects`: number of whole objects;
    `first_broken`: the object at the beginning of the stream, if it is broken and was not reported; `passed_over`: lines that begin as an
    object does and were not examined, because too many objects before were broken. `taker` is offered lines before they are parsed.
    `lines_together`: events on lines are yielded in batches.
    """

    def __init__(self, window: Window, *, lines_together: bool = True) -> None:
        self.blank = True
        self.array = False
        self.noise = False
        self.objects = 0
        self.first_broken: Span | None = None
        self.passed_over = 0
        self.taker: TakesLines | None = None
        self._window = window
        self._lines_together = lines_together
        self._shown: tuple[TakesLines, bytes] | None = None  # what the taker looks at
        self._broken_count = 0
        self._examined_again = 0
        self._repaired_in_vain = 0
        self._line_without_object = -1
        self._torn: tuple[frozenset[str], ...] | None = None  # names of records of the agent whose indented document broke before

    def spans(self) -> Iterator[Span | Events]:
        """Yield whole and broken objects, in order; `start` and `end` count from the beginning of the stream."""
        at = yield from self._one_by_one()
        yield from self._whole_lines(at)

    def _one_by_one(self) -> Generator[Span | Events, None, int]:
        """Yield the objects up to the end, or until too many are broken. Returns the offset where it stops."""
        window = self._window
        at = window.move(0)
        while self._broken_count <= MOST_BROKEN:
            if self._lines_together:
                at = yield from self._whole_on_lines(at)
            match, ended = _OBJECT_START.search(window.data, at), window.ended
            if match:
                start = match.start()
            else:  # a brace at the end of the window may still become the start of an object
                brace = -1 if ended else window.data.rfind(b"{", max(at, len(window.data) - _START_BYTES))
                start = brace if brace >= 0 else len(window.data)
            if start - at > _LEAST_HIDDEN and (at := (yield from self._hidden(at, start))) > start:
                continue
            at, span = self._between(at, start)
            if not span and match:
                at, span = self._object_at(start)
            elif not span and ended:
                return len(window.data)
            elif not span:
                at = window.move(start)
            if span:
                yield span
            if at > len(window.data) // 2 and not window.ended:
                at = window.move(at)
        return at

    def _whole_on_lines(self, at: int) -> Generator[Span | Events, None, int]:
        """Yield consecutive result records, or events, that are whole lines, as in nearly all logs, without a search for objects.

        Returns the offset of the first other line.
        """
        window = self._window
        first = at + (window.data[at : at + 1] == b"\n")
        if window.data[first : first + 1] != b"{" or not self._begins_line(first):
            return at
        data, at = window.data, first
        while data.startswith(RESULT_BYTES, at) and (end := data.find(b"\n", at, at + LONGEST_LINE)) >= 0:
            if not is_whole_record(text := data[at:end]):
                return at
            self.blank, self._torn = False, None
            self.objects += 1
            yield Span(window.base + at, window.base + end, window.pass_line(at, end), "", line_bytes=text)
            at = end + 1
        if at > first:
            return at
        line = window.line_at(first)
        while (events := self._events_at(at, line)).count:
            self.blank, self._torn = False, None
            self.objects += events.count
            at = events.end - window.base + 1
            line += events.count
            yield events
        return at

    def _events_at(self, at: int, line: int) -> Events:
        """Return the batch of events on the lines from `at` on."""
        base, data, taker = self._window.base, self._window.data, self.taker
        if taker and (self._shown is None or self._shown[0] is not taker or self._shown[1] is not data):
            self._shown = taker, data
            taker.look_at(data)
        takes = taker.takes if taker else None
        numbers: list[int] = []
        starts: list[int] = []
        texts: list[bytes] = []
        values: list[dict[str, Any]] = []
        count, last, until = 0, at, at + _EVENTS_BYTES
        with suppress(ValueError):
            while at < until and (end := data.find(b"\n", at)) >= 0:
                if takes and takes(at, end):
                    count, last = count + 1, at
                    until += end + 1 - at
                    at = end + 1
                    continue
                text = data[at:end]
                if not _may_be_event(text):
                    break
                value = from_json(text, cache_strings="keys")
                if type(value) is not dict or type(value.get("type")) is not str:
                    break
                numbers.append(count)
                starts.append(base + at)
                texts.append(text)
                values.append(value)
                count, last = count + 1, at
                at = end + 1
        taken = (base + last, data[last : at - 1]) if count > len(numbers) and numbers[-1:] != [count - 1] else None
        return Events(line, count, numbers, starts, texts, values, taken, base + at - 1)

    def _whole_lines(self, at: int) -> Iterator[Span]:
        window = self._window
        while True:
            while not (match := _LINE_START.search(window.data, at)) and not window.ended:
                at = window.move(len(window.data))
            if not match:
                return
            if span := self._on_a_line(match.start()):
                yield span
            self.passed_over += span is None
            at = match.end()
            if at > len(window.data) // 2 and not window.ended:
                at = window.move(at)

    def _hidden(self, at: int, until: int) -> Generator[Span, None, int]:
        """Yield the objects from `at` to `until` with log text before their first name. Returns where the last one ends."""
        window = self._window
        brace = _HIDDEN_START.search(window.data, at, until)
        while brace:
            start = brace.start()
            found = None
            if not _KEY_BEFORE.search(window.data, max(0, start - _KEY_BYTES), start) and not self._is_inside(start):
                text = window.text(start, 1 << 10)
                found = self._repaired(start, Failure(text, text.find("\n"), ""))
            if found is None:
                brace = _HIDDEN_START.search(window.data, brace.end(), until)
                continue
            at, span = self._between(at, start)
            if span:
                yield span
            else:
                at = found.end - window.base
                self.objects += 1
                yield found._replace(line=window.line_at(start), line_before=self._line_before(start))
            brace = _HIDDEN_START.search(window.data, at, until)
        return at

    def _between(self, at: int, until: int) -> tuple[int, Span | None]:
        """Record the text between objects.

        If only objects came before, a line is reported as a broken object that begins with a brace, or has lost its beginning.
        """
        window = self._window
        content = b"" if self.noise else window.data[at:until].lstrip(_BLANK)
        if not content:
            return until, None
        was_blank, self.blank = self.blank, False
        self.array = self.array or (was_blank and content.startswith(b"["))
        rest = content.lstrip(_BLANK + b",[]") if self.array else content
        start = until - len(rest)
        if self.objects and rest and not self._line_before(start).strip(_BLANK) and (lost := self._lost_beginning(start)):
            failure = Failure(window.text(start, _DECODED_BYTES[0]), 0, lost)
            return window.line_end(start, LONGEST_LINE), self._complaint(start, failure)
        if rest.startswith(b"{") and self._begins_line(start):
            text = window.text(start, _DECODED_BYTES[0])
            cut = window.ended and len(window.data) <= start + _DECODED_BYTES[0]
            failure = Failure(text, 1, "expected a quoted name after the brace", cut)
            go_on, span = self._broken(start, failure, was_blank=was_blank and rest == content)
            if span:
                return go_on, span
        self.noise = self.noise or bool(rest)
        return until, None

    def _lost_beginning(self, start: int) -> str:
        """Return why the line at `start` is the end of an object that lost its beginning, as when power fails; "" if it is other text."""
        window = self._window
        end = window.line_end(start, LONGEST_LINE)
        line = window.data[start : max(start, end)].rstrip(_BLANK)
        if b"\0" in line and (line.strip(b"\0") or not window.ended or end < len(window.data)):  # NULs at the end: space that was reserved
            return "NUL bytes in place of text"
        is_rest = line.endswith(b"}") and not line.startswith(b"{") and b'":' in line and line.count(b"}") > line.count(b"{")
        return "the line has lost its beginning" if is_rest else ""

    def _object_at(self, start: int) -> tuple[int, Span | None]:
        """Return the offset to continue from, and the object at `start`: good, repaired or broken; None for plain text."""
        window = self._window
        was_blank, self.blank = self.blank, False
        if begins_line := self._begins_line(start):
            self._torn = None
            if span := self._on_a_line(start):
                return span.end - window.base, span
        elif _KEY_BEFORE.search(window.data, max(0, start - _KEY_BYTES), start):
            return self._plain_text(start + 1)
        elif self._is_inside(start):  # it is a record of that agent, or nothing, whatever it looks like
            found = self._decoded(start)
            if isinstance(found, Failure):
                return self._plain_text(self._after_line(start, start + max(1, _bytes_of(found.text[: found.at]))))
            is_record = any(names <= found.value.keys() for names in self._torn or ())
            return found.end - window.base, found if is_record else None
        found = self._decoded(start)
        if isinstance(found, Span):
            go_on, span = found.end - window.base, found
        else:
            go_on, span = self._broken(start, found, was_blank=was_blank)
        return go_on, span if begins_line or span is None else span._replace(line_before=self._line_before(start))

    def _begins_line(self, start: int) -> bool:
        window = self._window
        return window.data[start - 1 : start] == b"\n" if start else window.base == 0

    def _line_before(self, start: int) -> bytes:
        return self._window.data[max(0, start - LOOK_BACK) : start].rpartition(b"\n")[2]

    def _on_a_line(self, start: int) -> Span | None:
        """Return the object if it is a whole line, as nearly all are. A result record is not parsed if its braces show that it is whole.

        An event of a megabyte or more is parsed from its bytes and dropped from the window, so that it is in memory once.
        """
        window = self._window
        end = window.line_end(start, LONGEST_OBJECT if _EVENT.match(window.data, start) else LONGEST_LINE)
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
            value, decoded = _LENIENT_DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            return None
        return self._whole(start, start + len(line), text, value) if decoded == len(text) else None

    def _decoded(self, start: int) -> Span | Failure:
        """Decode the object at `start` from ever longer text, so that an early error does not cost reading the whole stream."""
        failure = Failure("", 0, "")
        for size in _DECODED_BYTES:
            text = self._window.text(start, size)
            cut = self._window.ended and len(self._window.data) <= start + size
            try:
                value, end = _DECODER.raw_decode(text)
                text = text[:end]
                own = _clean(text)
                value = value if own is text or own == text else _DECODER.decode(own)
                return self._whole(start, start + _bytes_of(text), own, value)
            except RecursionError:
                return Failure(text, _DEEP_NESTING_SKIPPED, "it is nested too deep")
            except json.JSONDecodeError as error:
                if cut or not (error.msg.startswith("Unterminated") or error.pos >= len(text) - _TOKEN_CHARACTERS):
                    return Failure(text, error.pos, error.msg, cut)
                failure = Failure(text[: _DECODED_BYTES[0]], error.pos, error.msg)
                text = ""
            except ValueError as error:  # a number of thousands of digits
                return Failure(text, 1, str(error))
        return failure._replace(at=1, message=f"it is longer than {LONGEST_OBJECT >> 20} MB")

    def _repaired(self, start: int, failure: Failure) -> Span | None:
        """Return the undecodable object at `start` without the text a log wrote into it; None if it stays broken. Counts no lines."""
        window, before = self._window, self._line_before(start)
        if self._repaired_in_vain > 4 * (window.base + start) + _ALLOWED_BYTES:
            return None
        is_prefixed = before.strip() and "\n" in failure.text[: failure.at + 1]
        prefix = line_prefix(before.decode("utf-8", "replace"), failure.text) if is_prefixed else None
        for size in _PREFIXED_BYTES if prefix else ():
            text = window.text(start, size)
            try:
                return self._from_repair(start, text, decoded_without(prefix, text), prefix)  # type: ignore[arg-type]
            except (ValueError, RecursionError) as error:
                self._repaired_in_vain += len(text)
                is_cut = isinstance(error, json.JSONDecodeError) and (
                    error.msg.startswith("Unterminated") or error.pos >= len(error.doc) - _TOKEN_CHARACTERS
                )
                if not is_cut:
                    break
        if near_injection(failure.text, failure.at):
            text = window.text(start, REPAIRED_CHARACTERS)
            if found := repaired(text):
                return self._from_repair(start, text, found, None) if isinstance(found.value, dict) else None
            self._repaired_in_vain += len(text)
        return None

    def _from_repair(self, start: int, text: str, found: Repaired, prefix: re.Pattern[str] | None) -> Span:
        """Return the repaired object. Its `text` is the logged text without line prefixes. Raises ValueError."""
        logged = text[: found.end]
        own = _clean(logged)
        without = prefix.sub("", own) if prefix else own
        at = self._window.base + start
        return Span(at, at + _bytes_of(logged), 0, without, found.value if own == logged else parse(without))

    def _broken(self, start: int, failure: Failure, *, was_blank: bool) -> tuple[int, Span | None]:
        """Return the offset to continue from, and the object: repaired, or reported as broken; None for plain text."""
        window = self._window
        if found := self._repaired(start, failure):
            self.objects += 1
            return found.end - window.base, found._replace(line=window.line_at(start))
        self._broken_count += 1
        text, at = failure.text, failure.at
        stopped = start + max(1, _bytes_of(text[:at]))
        begins_line = self._begins_line(start)
        if begins_line and "\n" in text[:at] and (names := foreign_names(text, at)) is not None:
            self._torn = names
            torn = self._complaint(start, failure)._replace(has_marks=True)
            line = window.data.rfind(b"\n", start, stopped) + 1  # go on behind the first line, or with an object behind the break
            end = window.line_end(line, LONGEST_LINE)
            if end >= 0 and (behind := last_object_of_line(window.data[line:end])):
                self._torn = None
                return line + behind, torn
            return self._after_line(start, stopped), torn
        certain = begins_line and (EVENT_START.match(text) or (self.objects and not self.noise))
        reported = certain or RECORD_MARK.search(text, 0, min(at + 2, MARK_SEARCHED))
        behind = self._last_on_line(start, failure) if reported or text.endswith('{"', 0, at) else 0
        span = None
        if reported or was_blank:
            if behind:  # it is cut off where the other object begins
                own = window.text(start, behind - start)
                failure = Failure(own, len(own), "", cut=True)
            span = self._complaint(start, failure)
        if reported:
            return behind or self._after_line(start, stopped), span
        self.first_broken = self.first_broken or span
        return self._plain_text(behind or (self._after_line(start, stopped) if "\n" in text[:at] else stopped))

    def _is_inside(self, start: int) -> bool:
        """Return whether an object is inside the broken multi-line document before it, which its indentation shows."""
        if self._torn is None:
            return False
        before = self._line_before(start)
        if len(before) < LOOK_BACK and not before.startswith((b" ", b"\t")):
            self._torn = None
        return self._torn is not None

    def _complaint(self, start: int, failure: Failure) -> Span:
        reason, error = reject_reason(failure)
        window, text = self._window, _clean(failure.text[:EXCERPT_CHARACTERS])
        place, marked = window.base + start, has_marks(failure.text[: min(failure.at + 2, MARK_SEARCHED)])
        return Span(place, place, window.line_at(start), text, None, reason, _clean(error), has_marks=marked)

    def _last_on_line(self, start: int, failure: Failure) -> int:
        """Return the offset of a whole object after the broken one at `start`, on the same line; 0 if there is none.

        A file looks like this if a process was killed while it wrote and the next one appended to it. A line too long to be searched is
        only examined exactly at the break.
        """
        window = self._window
        end = window.line_end(start, LONGEST_LINE)
        if end < 0:
            if not (behind := object_at_break(failure)) or not isinstance(found := self._decoded(start + behind), Span):
                return 0
            self.objects -= 1  # this was only a test
            after = found.end - window.base
            is_last = not window.data[after : window.line_end(after, LONGEST_LINE)].strip()
            return start + behind if is_last else 0
        if window.base + end == self._line_without_object:
            return 0
        behind = last_object_of_line(window.data[start:end])
        self._line_without_object = -1 if behind else window.base + end
        return start + behind if behind else 0

    def _after_line(self, start: int, stopped: int) -> int:
        """Return the offset after a reported object: the next line, or the break if too many bytes were examined twice."""
        end = self._window.line_end(start, LONGEST_LINE)
        if end < 0 or self._examined_again > 4 * (self._window.base + start) + _ALLOWED_BYTES:
            return max(end + 1, stopped)
        self._examined_again += max(0, stopped - end)
        return min(end + 1, len(self._window.data))

    def _plain_text(self, go_on: int) -> tuple[int, None]:
        self.noise = True
        return min(go_on, len(self._window.data)), None

    def _whole(self, start: int, end: int, text: str, value: Any, line_bytes: bytes = b"") -> Span:
        self.objects += 1
        window = self._window
        return Span(window.base + start, window.base + end, window.line_at(start), text, value, line_bytes=line_bytes)


def _may_be_event(line: bytes) -> bool:
    return line[-1:] == b"}" and not line.startswith(RESULT_BYTES) and len(line) <= LONGEST_LINE


def _bytes_of(text: str) -> int:
    """Return the number of bytes of a window's text, counted in parts so that a hundred megabytes are not copied."""
    if text.isascii():
        return len(text)
    return sum(len(text[at : at + (1 << 20)].encode("utf-8", "surrogateescape")) for at in range(0, len(text), 1 << 20))


def _clean(text: str) -> str:
    """Return a window's text with U+FFFD for bytes that were no UTF-8."""
    if text.isascii() or not _UNDECODED.search(text):
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
