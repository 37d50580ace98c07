"""JSON that is broken: repaired where a log wrote into it, else explained.

Logs write a prefix, a comment, a colour or a line of another program into the middle of an object, or a prefix in front of each of its
lines. The rest is read without that text. For an object that stays broken the reason is given, with the figures that can still be read,
and the object behind it on its line is found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ingest.sources.byte_window import Window, bytes_of, clean
from schemas.errors import RejectReason
from schemas.marks import EVENT_START, LEGIBLE_FIELDS

MARK_SEARCHED = 4096
"""Characters of a broken object that are searched for its fields."""

_MOST_TRIED = 1000
"""Beginnings of objects on one line that are tried."""

_ESCAPE = 6
"""Characters of an escape (`\\u1234`). JSON errors name the place where it begins, also where it is cut off."""

_TYPED = re.compile(rf"(?<!:){EVENT_START.pattern}")
_BLANK = b" \t\r"
_DECODER = json.JSONDecoder()
_READABLE_FIELD = re.compile(rf'"({"|".join(LEGIBLE_FIELDS)})"\s*:\s*("[^"\n]*"|[^\s,{{}}\[\]"]+)(?=[,}}\s])')

REPAIRED_CHARACTERS = 1 << 20
"""Characters of a text that are repaired at most."""

ParseFloat = Callable[[str], Any] | None
"""Makes a number from its digits, and from NaN and the infinities. None: `float`."""

_BROKE_IN = re.compile(
    r"\r?\n\[\d{4}-\d\d-\d\dT[^\]\n]{0,40}\](?: ?\[\w{1,20}\])? ?"  # a log prefix that broke a line in two
    r"|^[ \t]{0,100}//[^\n]*\n"  # a comment on a line of its own
    r"|(?<=[,\[{\d])[ \t]{0,100}//[^\n\"]{0,300}(?=\n)",  # a comment behind a value
    re.MULTILINE,
)
_LINE_BETWEEN = re.compile(r"^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\n]*\n", re.MULTILINE)  # by another program that writes to the same log
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[mK]")  # escape codes for a terminal, as `jq` writes them
_INJECTED = (_BROKE_IN, _LINE_BETWEEN, _COLOUR)
_NEAR = 80
"""Characters before and behind an error in which injected text is looked for."""

_SPACE = re.compile(r"[ \t]+")
_DIGITS = re.compile(r" *[0-9]+")  # with the blanks of a number that is aligned to the right

_ALLOWED_BYTES = 1 << 24
"""Bytes that may be parsed again without success, in addition to four times the bytes read: a bound on the work for hostile text."""

_LINE_BYTES = 1 << 10
_PREFIXED_BYTES = (1 << 12, 1 << 15, 1 << 18, 1 << 20)
_TOKEN_CHARACTERS = 160


class Failure(NamedTuple):
    """Why an object could not be decoded: `message`, at character `at` of `text`. `cut` where the text ended too early."""

    text: str
    at: int
    message: str
    cut: bool = False


class Repaired(NamedTuple):
    """A value, and the character of the text, before anything was taken out, at which its object ends."""

    value: Any
    end: int


class Found(NamedTuple):
    """An object from byte `start` to `end` of the window. `text` is the logged text without the prefixes of its lines."""

    start: int
    end: int
    text: str
    value: Any


def parse(text: str, parse_float: ParseFloat = None) -> Any:
    """The JSON value of a text, repaired where a comment or a log prefix was injected. Raises ValueError.

    A string may hold a line break only where nothing was injected: otherwise a log prefix inside a name would become a part of the name.
    """
    try:
        return json.loads(text, parse_float=parse_float, parse_constant=parse_float)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deep") from error
    except json.JSONDecodeError as error:
        if near_injection(text, error.pos) and (found := _repaired_whole(text, parse_float)):
            return found.value
    try:
        return json.loads(text, parse_float=parse_float, parse_constant=parse_float, strict=False)
    except ValueError:
        if found := _repaired_whole(text, parse_float):
            return found.value
        raise


def _repaired_whole(text: str, parse_float: ParseFloat) -> Repaired | None:
    found = repaired(text, parse_float)
    return None if found is None or text[found.end :].strip() else found


def near_injection(text: str, at: int) -> bool:
    """Whether injected text is found near character `at`."""
    return any(injected.search(text, max(0, at - _NEAR), at + _NEAR) for injected in _INJECTED)


def repaired(text: str, parse_float: ParseFloat = None) -> Repaired | None:
    """The JSON value at the beginning of a text, without one kind of injected text; None where that is no JSON either."""
    region = text[:REPAIRED_CHARACTERS]
    for injected in _INJECTED:
        try:
            return decoded_without(injected, region, parse_float)
        except (ValueError, RecursionError):
            continue
    return None


def decoded_without(injected: re.Pattern[str], text: str, parse_float: ParseFloat = None) -> Repaired:
    """The JSON value at the beginning of a text, without all that matches `injected`. Raises ValueError or RecursionError."""
    value, end = json.JSONDecoder(parse_float=parse_float, parse_constant=parse_float, strict=False).raw_decode(injected.sub("", text))
    for one in injected.finditer(text):
        if one.start() >= end:
            break
        end += len(one.group())
    return Repaired(value, end)


def line_prefix(before: str, text: str) -> re.Pattern[str] | None:
    """A pattern of the line prefix: all of `before` (the text in front of an object on its line), or the beginning of it up to a blank.

    The next line must have the same prefix, apart from digits. None where it does not.
    """
    feed = text.find("\n")
    if feed < 0 or not (before[0].isdecimal() or text.startswith(before[0], feed + 1)):
        return None
    following = _DIGITS.sub("0", text[feed + 1 : feed + 1 + 4 * len(before)])
    for end in (len(before), *(space.start() for space in reversed(list(_SPACE.finditer(before))))):
        if before[:end].strip() and following.startswith(_DIGITS.sub("0", before[:end])):
            shape = _DIGITS.pattern.join(map(re.escape, _DIGITS.split(before[:end])))
            return re.compile(rf"(?<=\n){shape}")
    return None


class JsonRepair:
    """Repairs the broken objects of one stream, up to a bound on the work."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._spent = 0

    def repair(self, start: int, failure: Failure, line_before: bytes) -> Found | None:
        """The object at `start`, which could not be decoded; None where it stays broken."""
        if self._spent > 4 * (self._window.base + start) + _ALLOWED_BYTES:
            return None
        if (
            line_before.strip()
            and "\n" in failure.text[: failure.at + 1]
            and (found := self._without_prefix(start, line_before, failure.text))
        ):
            return found
        return self._without_injection(start) if near_injection(failure.text, failure.at) else None

    def repair_hidden(self, start: int, line_before: bytes) -> Found | None:
        """The object whose brace is at `start`, with injected text between the brace and the first name; None where it stays broken."""
        text = self._window.text(start, _LINE_BYTES)
        return self.repair(start, Failure(text, text.find("\n"), ""), line_before)

    def _without_injection(self, start: int) -> Found | None:
        text = self._window.text(start, REPAIRED_CHARACTERS)
        found = repaired(text)
        self._spent += 0 if found else len(text)
        return _found(start, text, found) if found and isinstance(found.value, dict) else None

    def _without_prefix(self, start: int, line_before: bytes, text: str) -> Found | None:
        """The object whose lines all have the same log prefix."""
        prefix = line_prefix(line_before.decode("utf-8", "replace"), text)
        if prefix is None:
            return None
        for size in _PREFIXED_BYTES:
            text = self._window.text(start, size)
            try:
                return _found(start, text, decoded_without(prefix, text), prefix)
            except json.JSONDecodeError as error:
                self._spent += len(text)
                if not error.msg.startswith("Unterminated") and error.pos < len(error.doc) - _TOKEN_CHARACTERS:
                    return None
            except (ValueError, RecursionError):
                self._spent += len(text)
                return None
        return None


def _found(start: int, text: str, object_: Repaired, prefix: re.Pattern[str] | None = None) -> Found:
    own = text[: object_.end]
    kept = clean(own)
    without = prefix.sub("", kept) if prefix else kept
    return Found(start, start + bytes_of(own), without, object_.value if kept == own else parse(without))


def reject_reason(failure: Failure) -> tuple[RejectReason, str]:
    """The reason for a reject, and its detail: with the figures that can still be read."""
    text, at, message, cut = failure
    fields = _READABLE_FIELD.findall(text, 0, min(at + 1, MARK_SEARCHED))
    before = "; readable before that: " + ", ".join(f"{name} {value}" for name, value in fields) if fields else ""
    if message.startswith(("Unterminated", "Invalid control")) or _ended(text, at, cut=cut):
        return RejectReason.TRUNCATED, f"truncated JSON{before}"
    return RejectReason.NOT_JSON, f"invalid JSON at character {at}: {message}{before}"


def _ended(text: str, at: int, *, cut: bool) -> bool:
    """Whether an object broke because its text ended. A closing bracket at the break means that it ended in another way."""
    return not text.startswith(("}", "]"), at) and ((cut and at >= len(text.rstrip()) - 1) or _ends_with_line(text, at))


def last_object_of_line(line: bytes) -> int:
    """The byte of a line at which a whole object with a type begins that ends with the line; 0 where there is none.

    There is one at most: objects inside it end before it does. An object that is the value of a key belongs to the broken object, and in
    the output of a tool quotes are escaped.
    """
    if not line.rstrip(_BLANK).endswith(b"}"):
        return 0
    text = line.rstrip(_BLANK).decode("utf-8", "surrogateescape")
    for tried, match in enumerate(_TYPED.finditer(text, 1)):
        if tried == _MOST_TRIED:
            break
        if _end_of_object(text, match.start()) == len(text):
            return bytes_of(text[: match.start()])
    return 0


def object_at_break(failure: Failure) -> int:
    """The byte at which an object with a type begins, exactly where the other one broke off; 0 where none does."""
    text, at, *_ = failure
    begin = text.find("{", max(1, at - 2), at + _ESCAPE)  # its first quote has ended the string that was cut off
    return bytes_of(text[:begin]) if begin > 0 and _TYPED.match(text, begin) else 0


def _end_of_object(text: str, at: int) -> int:
    try:
        return _DECODER.raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        return -1


def _ends_with_line(text: str, at: int) -> bool:
    """Whether the object is on one line, and was found broken at the end of that line."""
    object_ = text[:at].rstrip()
    return "\n" in text[len(object_) : at] and "\n" not in object_
