"""Bytes of text → the JSON objects at event level: on lines, in arrays, Markdown fences or log text, or one after the other.

A record that is only *quoted* inside a string of an event is not at event level, and an object that is the value of a key
belongs to the object around it. A broken object is reported only where it has the marks of a result record, or begins a line as
an event does, or where only objects came before; any other brace in running text is text. Work is bounded: every step moves forward, and
the bytes that may be parsed twice are limited. The outcome depends on the text alone, not on the windows in which it is read.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import Any

from pydantic_core import from_json

from ingest.sources.broken_json import MARK_SEARCHED, Failure, Found, JsonRepair, last_object_of_line, object_at_break, parse, reject_reason
from ingest.sources.byte_window import LOOK_BACK, Window, bytes_of, clean
from ingest.sources.document import EXCERPT_CHARACTERS, TakesLines, is_whole_record
from ingest.sources.spans import EventLines, Span
from schemas.marks import EVENT_START, RECORD_MARK, RESULT_START, foreign_names, has_marks

LONGEST_OBJECT = 256 << 20
"""Bytes. A longer object is refused."""

_EVENTS_BYTES = 1 << 15
"""Events on lines are given out together, until they have so many bytes."""

LONGEST_LINE = 1 << 20
"""Bytes. An object on a longer line is decoded as an object on many lines is."""

_BLANK = b" \t\r\n\x0b\x0c\x1e"
_BETWEEN = _BLANK + b",[]"
_DECODER = json.JSONDecoder()
_LENIENT_DECODER = json.JSONDecoder(strict=False)
_OBJECT_START = re.compile(
    rb'(?<![^ \t\r\n\x0b\x0c\x1e,[])\{[ \t\r\n]{0,1000}+["}]'
    rb'|(?<=[^ \t\r\n\x0b\x0c\x1e,[])\{[ \t\r\n]{0,1000}+(?:\}|"(?![^"\\\x00-\x1f]{0,128}+"[^ \t\r\n:/\x1b]))'
)
"""A brace and a name in quotes, or an empty object. Inside running text a character that cannot follow a name must not follow: `{"{"{"`."""

_START_BYTES = 1002
_HIDDEN_START = re.compile(
    rb'\{(?:\x1b\[[0-9;]{0,20}[mK]){0,9}+(?:(?<=[mK])"|[ \t\r]{0,100}+\n(?:[^\n"{}]{1,128}"|\[?20\d\d-\d\d-\d\d[T ][^\n{}]{1,400}\n))'
)
_LEAST_HIDDEN = 8
_KEY_BEFORE = re.compile(rb'"[ \t\r\n]*:[ \t\r\n]*$')
_KEY_BYTES = 80
_DECODED_BYTES = (1 << 12, 1 << 15, 1 << 18, 1 << 21, 1 << 24, 1 << 26, LONGEST_OBJECT)
_TOKEN_CHARACTERS = 160
_DEEP_NESTING_SKIPPED = 4096
_ALLOWED_BYTES = 1 << 24
_EVENT = re.compile(EVENT_START.pattern.encode())
_LINE_START = re.compile(rb"(?<=\n)\{")

MOST_BROKEN = 100_000
"""Broken objects of a source that are examined one by one. After that only objects that are whole lines are read."""


_RESULT_BEGINNING = RESULT_START.encode()
_BEGINNING_BYTES = len(_RESULT_BEGINNING)


def scan(text: str) -> Iterator[Span]:
    """Every object at event level of a text, and every broken object that is reported, in order. Raises nothing."""
    data = text.encode("utf-8", "replace")
    for found in Scanner(Window(io.BytesIO(data), len(data) + 1)).spans():
        for span in found.spans() if isinstance(found, EventLines) else (found,):
            yield _parsed(span) if span.line_bytes else span


class Scanner:
    """Finds the objects of a stream. Its attributes say what was found so far.

    `blank`: nothing yet; `array`: the stream begins with `[`; `noise`: there is text outside objects; `objects`: number of whole objects;
    `first_broken`: the object at the beginning of the stream, where it is broken and was not reported; `passed_over`: lines that begin as
    an object does and were not examined, because too many objects before were broken. `taker`: is offered lines before they are parsed.
    """

    def __init__(self, window: Window) -> None:
        self.blank = True
        self.array = False
        self.noise = False
        self.objects = 0
        self.first_broken: Span | None = None
        self.passed_over = 0
        self.taker: TakesLines | None = None
        self._looking: TakesLines | None = None
        self._looked_at = b""
        self._broken_count = 0
        self._window = window
        self._examined_again = 0
        self._repair = JsonRepair(window)
        self._line_without_object = -1
        self._torn: tuple[frozenset[str], ...] | None = None

    def spans(self) -> Iterator[Span | EventLines]:
        """Whole and broken objects, in order; `start` and `end` count from the beginning of the stream."""
        at = yield from self._one_by_one()
        yield from self._whole_lines(at)

    def _one_by_one(self) -> Generator[Span | EventLines, None, int]:
        """The objects up to the end, or until too many are broken. Returns the place where it stops."""
        window = self._window
        at = window.move(0)
        while self._broken_count <= MOST_BROKEN:
            at = yield from self._event_lines(at)
            match, ended = _OBJECT_START.search(window.data, at), window.ended
            start = match.start() if match else self._undecided(at)
            if start - at > _LEAST_HIDDEN and (at := (yield from self._hidden(at, start))) > start:
                continue
            at, span = self._between(at, start)
            if span:
                yield span
            elif match:
                at, span = self._object_at(start)
                if span:
                    yield span
            elif ended:
                return len(window.data)
            else:
                at = window.move(start)
            if at > len(window.data) // 2 and not window.ended:
                at = window.move(at)
        return at

    def _event_lines(self, at: int) -> Generator[EventLines, None, int]:
        """The events that are whole lines, one behind the other, as in every stream: parsed from their bytes, without a search for objects.

        Returns the place of the first line that is anything else.
        """
        window = self._window
        first = at + (window.data[at : at + 1] == b"\n")
        if window.data[first : first + 1] != b"{" or not self._begins_line(first):
            return at
        if window.data.startswith(_RESULT_BEGINNING, first):  # the next line of most logs that are no streams
            return first
        at, line = first, window.line_at(first)
        while (events := self._events_at(at, line)).count:
            self.blank, self._torn = False, None
            self.objects += events.count
            at = events.end - window.base + 1
            line += events.count
            yield events
        return at

    def _events_at(self, at: int, line: int) -> EventLines:
        """The events on the lines from `at` on, as many as are given out together."""
        base, data, takes = self._window.base, self._window.data, self._taking()
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
        return EventLines(line, count, numbers, starts, texts, values, taken, base + at - 1)

    def _taking(self) -> Callable[[int, int], bool] | None:
        """How lines of the window are offered, where they are."""
        taker, data = self.taker, self._window.data
        if taker is None:
            return None
        if taker is not self._looking or data is not self._looked_at:
            self._looking, self._looked_at = taker, data
            taker.look_at(data)
        return taker.takes

    def _whole_lines(self, at: int) -> Iterator[Span]:
        """The objects that are whole lines, from `at` on."""
        window = self._window
        while match := self._line_start(at):
            if span := self._on_a_line(match.start()):
                yield span
            self.passed_over += span is None
            at = match.end()
            if at > len(window.data) // 2 and not window.ended:
                at = window.move(at)

    def _line_start(self, at: int) -> re.Match[bytes] | None:
        """The next line that begins with a brace."""
        while not (match := _LINE_START.search(self._window.data, at)) and not self._window.ended:
            at = self._window.move(len(self._window.data))
        return match

    def _hidden(self, at: int, until: int) -> Generator[Span, None, int]:
        """The objects from `at` to `until` in which a log wrote something in front of the first name. Returns where the last one ends."""
        while found := self._first_hidden(at, until):
            at, span = self._between(at, found.start)
            if span:
                yield span
            else:
                at = found.end
                yield self._whole(*found)._replace(line_before=self._line_before(found.start))
        return at

    def _first_hidden(self, at: int, until: int) -> Found | None:
        for brace in _HIDDEN_START.finditer(self._window.data, at, until):
            start = brace.start()
            of_key = _KEY_BEFORE.search(self._window.data, max(0, start - _KEY_BYTES), start)
            if not of_key and not self._is_inside(start) and (found := self._repair.repair_hidden(start, self._line_before(start))):
                return found
        return None

    def _undecided(self, at: int) -> int:
        """The place up to which no object starts. A brace at the end of the window may still become the start of one."""
        data = self._window.data
        brace = -1 if self._window.ended else data.rfind(b"{", max(at, len(data) - _START_BYTES))
        return brace if brace >= 0 else len(data)

    def _between(self, at: int, until: int) -> tuple[int, Span | None]:
        """Note the text between objects. Where only objects came before, a line that begins with a brace is reported as a broken object."""
        content = b"" if self.noise else self._window.data[at:until].lstrip(_BLANK)
        if not content:
            return until, None
        was_blank, self.blank = self.blank, False
        self.array = self.array or (was_blank and content.startswith(b"["))
        rest = content.lstrip(_BETWEEN) if self.array else content
        start = until - len(rest)
        if rest.startswith(b"{") and self._begins_line(start):
            go_on, span = self._begun(start, was_blank and rest == content)
            if span:
                return go_on, span
        self.noise = self.noise or bool(rest)
        return until, None

    def _begun(self, start: int, was_blank: bool) -> tuple[int, Span | None]:
        """A line that begins with a brace, but not as a JSON object does."""
        text = self._window.text(start, _DECODED_BYTES[0])
        cut = self._window.ended and len(self._window.data) <= start + _DECODED_BYTES[0]
        return self._broken(start, Failure(text, 1, "expected a quoted name after the brace", cut), was_blank)

    def _object_at(self, start: int) -> tuple[int, Span | None]:
        """The place to go on from, and the object at `start`: good, repaired or broken; None for plain text."""
        was_blank, self.blank = self.blank, False
        begins_line = self._begins_line(start)
        self._torn = None if begins_line else self._torn
        if begins_line and (span := self._on_a_line(start)):
            return span.end - self._window.base, span
        if not begins_line and _KEY_BEFORE.search(self._window.data, max(0, start - _KEY_BYTES), start):
            return self._plain_text(start + 1)
        if not begins_line and self._is_inside(start):
            return self._part_of_torn(start)
        found = self._decoded(start)
        go_on, span = (found.end - self._window.base, found) if isinstance(found, Span) else self._broken(start, found, was_blank)
        return go_on, span if begins_line or span is None else span._replace(line_before=self._line_before(start))

    def _begins_line(self, start: int) -> bool:
        window = self._window
        return window.data[start - 1 : start] == b"\n" if start else window.base == 0

    def _line_before(self, start: int) -> bytes:
        return self._window.data[max(0, start - LOOK_BACK) : start].rpartition(b"\n")[2]

    def _on_a_line(self, start: int) -> Span | None:
        """The object that is a whole line, as nearly all are. A result record is not parsed where its braces show that it is whole."""
        window = self._window
        end = window.line_end(start, LONGEST_OBJECT if _EVENT.match(window.data, start) else LONGEST_LINE)
        line = window.data[start:end].rstrip(b" \t\r") if end >= 0 else b""
        if not line.endswith(b"}"):
            return None
        if len(line) > LONGEST_LINE:
            return self._on_a_long_line(start, end, line)
        if is_whole_record(line):
            window.pass_line(start, end)
            return self._whole(start, start + len(line), "", None, line)
        if event := _event_of(line):
            return self._whole(start, start + len(line), "", event, line)
        text = line.decode("utf-8", "replace")
        try:
            value, decoded = _LENIENT_DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            return None
        return self._whole(start, start + len(line), text, value) if decoded == len(text) else None

    def _on_a_long_line(self, start: int, end: int, line: bytes) -> Span | None:
        """The same for an event of a megabyte or more, which is parsed from its bytes and dropped from the window: it is in memory once."""
        value = None
        if not is_whole_record(line):
            try:
                value = from_json(line)
            except ValueError:
                return None
            if not isinstance(value, dict) or not isinstance(value.get("type"), str):
                return None
        self._window.pass_line(start, end)
        span = self._whole(start, start + len(line), "", value, line)
        self._window.move(end)
        return span

    def _decoded(self, start: int) -> Span | Failure:
        """The object at `start`. Ever longer text is decoded, so that an error near the start does not cost reading the whole stream."""
        failure = Failure("", 0, "")
        for size in _DECODED_BYTES:
            text = self._window.text(start, size)
            cut = self._window.ended and len(self._window.data) <= start + size
            try:
                value, end = _DECODER.raw_decode(text)
                text = text[:end]
                own = clean(text)
                value = value if own is text or own == text else _DECODER.decode(own)
                return self._whole(start, start + bytes_of(text), own, value)
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

    def _broken(self, start: int, failure: Failure, was_blank: bool) -> tuple[int, Span | None]:
        """The place to go on from, and the object: repaired, or reported as broken; None for plain text."""
        if found := self._repair.repair(start, failure, self._line_before(start)):
            return found.end, self._whole(*found)
        self._broken_count += 1
        text, at = failure.text, failure.at
        stopped = start + max(1, bytes_of(text[:at]))
        begins_line = self._begins_line(start)
        if begins_line and "\n" in text[:at] and (names := foreign_names(text, at)) is not None:
            self._torn = names
            torn = self._complaint(start, failure)._replace(has_marks=True)
            return self._behind_break(start, stopped), torn
        certain = begins_line and (EVENT_START.match(text) or (self.objects and not self.noise))
        reported = certain or RECORD_MARK.search(text, 0, min(at + 2, MARK_SEARCHED))
        behind = self._last_on_line(start, failure) if reported or text.endswith('{"', 0, at) else 0
        span = self._complaint(start, self._cut_off(start, behind) if behind else failure) if reported or was_blank else None
        if reported:
            return behind or self._after_line(start, stopped), span
        self.first_broken = self.first_broken or span
        return self._plain_text(behind or (self._after_line(start, stopped) if "\n" in text[:at] else stopped))

    def _behind_break(self, start: int, stopped: int) -> int:
        """The place to go on from after an indented object: the line behind its first one, or an object behind the break, on its line."""
        window = self._window
        line = window.data.rfind(b"\n", start, stopped) + 1
        end = window.line_end(line, LONGEST_LINE)
        if end >= 0 and (behind := last_object_of_line(window.data[line:end])):
            self._torn = None
            return line + behind
        return self._after_line(start, stopped)

    def _is_inside(self, start: int) -> bool:
        """Whether an object stands inside the broken document before it, which was written over many lines: it is indented then."""
        if self._torn is None:
            return False
        before = self._line_before(start)
        if len(before) < LOOK_BACK and not before.startswith((b" ", b"\t")):
            self._torn = None
        return self._torn is not None

    def _part_of_torn(self, start: int) -> tuple[int, Span | None]:
        """An object inside a broken document of another agent: a record of that agent, or nothing, whatever it looks like."""
        found = self._decoded(start)
        if isinstance(found, Failure):
            return self._plain_text(self._after_line(start, start + max(1, bytes_of(found.text[: found.at]))))
        is_record = any(names <= found.value.keys() for names in self._torn or ())
        return found.end - self._window.base, found if is_record else None

    def _complaint(self, start: int, failure: Failure) -> Span:
        reason, error = reject_reason(failure)
        window, text = self._window, clean(failure.text[:EXCERPT_CHARACTERS])
        place, marked = window.base + start, has_marks(failure.text[: min(failure.at + 2, MARK_SEARCHED)])
        return Span(place, place, window.line_at(start), text, None, reason, clean(error), has_marks=marked)

    def _last_on_line(self, start: int, failure: Failure) -> int:
        """The place of a whole object behind the broken one at `start`, on the same line; 0 where there is none.

        A file looks like this where a process was killed while it wrote and the next one appended to it. A line too long to be
        searched is only examined exactly at the break.
        """
        end = self._window.line_end(start, LONGEST_LINE)
        if end < 0:
            behind = object_at_break(failure)
            return start + behind if behind and self._ends_a_line(start + behind) else 0
        if self._window.base + end == self._line_without_object:
            return 0
        behind = last_object_of_line(self._window.data[start:end])
        self._line_without_object = -1 if behind else self._window.base + end
        return start + behind if behind else 0

    def _ends_a_line(self, start: int) -> bool:
        """Whether a whole object starts here and ends with its line."""
        found = self._decoded(start)
        if not isinstance(found, Span):
            return False
        self.objects -= 1  # this was only a test
        behind = found.end - self._window.base
        return not self._window.data[behind : self._window.line_end(behind, LONGEST_LINE)].strip()

    def _cut_off(self, start: int, end: int) -> Failure:
        """The failure of an object that is cut off where another begins."""
        text = self._window.text(start, end - start)
        return Failure(text, len(text), "", cut=True)

    def _after_line(self, start: int, stopped: int) -> int:
        """The place to go on from after a reported object: the next line, or the break if too many bytes were examined twice."""
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
    return line[-1:] == b"}" and line[:_BEGINNING_BYTES] != _RESULT_BEGINNING and len(line) <= LONGEST_LINE


def _event_of(line: bytes) -> dict[str, Any] | None:
    """The event that a line is; None for anything else, and for a result record, which its reader validates."""
    if not _may_be_event(line):
        return None
    try:
        value = from_json(line, cache_strings="keys")
    except ValueError:
        return None
    return value if type(value) is dict and type(value.get("type")) is str else None


def _parsed(span: Span) -> Span:
    """A result record that was left as bytes, with its text and its value. The value is None where it is no JSON."""
    text = span.line_bytes.decode("utf-8", "replace")
    try:
        return span._replace(text=text, value=parse(text))
    except ValueError:
        return span._replace(text=text)
