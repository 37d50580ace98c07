"""JSON that is broken: repaired if a log wrote into it, else explained.

Logs write a prefix, a comment, a colour or a line of another program into the middle of an object, or a prefix in front of each of its
lines. The rest is read without that text. Nothing else is repaired: a guess at a truncated figure would be counted as a fact.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from schemas.errors import RejectReason
from schemas.marks import EVENT_START, LEGIBLE_FIELDS

MARK_SEARCHED = 4096
"""Characters of a broken object that are searched for its fields."""

REPAIRED_CHARACTERS = 1 << 20

ParseFloat = Callable[[str], Any] | None
"""Makes a number from its digits, NaN and the infinities. None: `float`."""

_INJECTED = (
    re.compile(
        r"\r?\n\[\d{4}-\d\d-\d\dT[^\]\n]{0,40}\](?: ?\[\w{1,20}\])? ?"  # a log prefix that broke a line in two
        r"|^[ \t]{0,100}//[^\n]*\n"  # a comment on a line of its own
        r"|(?<=[,\[{\d])[ \t]{0,100}//[^\n\"]{0,300}(?=\n)",  # a comment behind a value
        re.MULTILINE,
    ),
    re.compile(r"^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\n]*\n", re.MULTILINE),  # a line of another program that writes to the same log
    re.compile(r"\x1b\[[0-9;]{0,20}[mK]"),  # colours of a terminal, as `jq` writes them
)
_NEAR = 80  # characters before and behind an error in which injected text is looked for
_DIGITS = re.compile(r" *[0-9]+")  # with the blanks of a number that is aligned to the right
_TYPED = re.compile(rf"(?<!:){EVENT_START.pattern}")
_READABLE_FIELD = re.compile(rf'"({"|".join(LEGIBLE_FIELDS)})"\s*:\s*("[^"\n]*"|[^\s,{{}}\[\]"]+)(?=[,}}\s])')
_DECODER = json.JSONDecoder()


class Failure(NamedTuple):
    """Why an object could not be decoded: `message`, at character `at` of `text`. `cut`: the text ended too early."""

    text: str
    at: int
    message: str
    cut: bool = False


class Repaired(NamedTuple):
    """A value, and the character of the original text at which its object ends."""

    value: Any
    end: int


def parse(text: str, parse_float: ParseFloat = None) -> Any:
    """Return the JSON value of a text, repaired if a comment or a log prefix was injected. Raises ValueError.

    A string may hold a line break only if nothing was injected: otherwise a log prefix inside a name would become a part of the name.
    """
    try:
        return json.loads(text, parse_float=parse_float, parse_constant=parse_float)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deep") from error
    except json.JSONDecodeError as error:
        if near_injection(text, error.pos) and (found := repaired(text, parse_float)) and not text[found.end :].strip():
            return found.value
    try:
        return json.loads(text, parse_float=parse_float, parse_constant=parse_float, strict=False)
    except ValueError:
        if (found := repaired(text, parse_float)) and not text[found.end :].strip():
            return found.value
        raise


def near_injection(text: str, at: int) -> bool:
    """Return whether injected text is near character `at`."""
    return any(injected.search(text, max(0, at - _NEAR), at + _NEAR) for injected in _INJECTED)


def repaired(text: str, parse_float: ParseFloat = None) -> Repaired | None:
    """Return the JSON value at the beginning of a text after removing one kind of injected text; None if that is no JSON either."""
    for injected in _INJECTED:
        try:
            return decoded_without(injected, text[:REPAIRED_CHARACTERS], parse_float)
        except (ValueError, RecursionError):
            continue
    return None


def decoded_without(injected: re.Pattern[str], text: str, parse_float: ParseFloat = None) -> Repaired:
    """Return the JSON value at the beginning of a text after removing all matches of `injected`. Raises ValueError or RecursionError."""
    value, end = json.JSONDecoder(parse_float=parse_float, parse_constant=parse_float, strict=False).raw_decode(injected.sub("", text))
    for one in injected.finditer(text):
        if one.start() >= end:
            break
        end += len(one.group())
    return Repaired(value, end)


def line_prefix(before: str, text: str) -> re.Pattern[str] | None:
    """Return a pattern of the prefix of all lines: `before` (the text in front of an object on its line), or its beginning up to a blank.

    The next line must have the same prefix, apart from digits. None if it does not.
    """
    feed = text.find("\n")
    if feed < 0 or not (before[0].isdecimal() or text.startswith(before[0], feed + 1)):
        return None
    following = _DIGITS.sub("0", text[feed + 1 : feed + 1 + 4 * len(before)])
    for end in (len(before), *(space.start() for space in reversed(list(re.finditer(r"[ \t]+", before))))):
        if before[:end].strip() and following.startswith(_DIGITS.sub("0", before[:end])):
            shape = _DIGITS.pattern.join(map(re.escape, _DIGITS.split(before[:end])))
            return re.compile(rf"(?<=\n){shape}")
    return None


def reject_reason(failure: Failure) -> tuple[RejectReason, str]:
    """Return the reason of a reject and its detail, which quotes the figures that are still readable."""
    text, at, message, cut = failure
    fields = _READABLE_FIELD.findall(text, 0, min(at + 1, MARK_SEARCHED))
    before = "; readable before that: " + ", ".join(f"{name} {value}" for name, value in fields) if fields else ""
    whole = text[:at].rstrip()
    ends_with_line = "\n" in text[len(whole) : at] and "\n" not in whole
    has_ended = (cut and at >= len(text.rstrip()) - 1) or ends_with_line
    is_closed = text.startswith(("}", "]"), at)  # then it ended in another way
    if message.startswith(("Unterminated", "Invalid control")) or (has_ended and not is_closed):
        return RejectReason.TRUNCATED, f"truncated JSON{before}"
    return RejectReason.NOT_JSON, f"invalid JSON at character {at}: {message}{before}"


def last_object_of_line(line: bytes) -> int:
    """Return the byte at which the last object of a line begins, if it is whole and has a type; else 0.

    There is one at most: objects inside it end before it does. An object that is the value of a key belongs to the broken object, and in
    the output of a tool quotes are escaped. A thousand beginnings are tried.
    """
    line = line.rstrip(b" \t\r")
    if not line.endswith(b"}"):
        return 0
    text = line.decode("utf-8", "surrogateescape")
    for _, match in zip(range(1000), _TYPED.finditer(text, 1), strict=False):
        try:
            end = _DECODER.raw_decode(text, match.start())[1]
        except (ValueError, RecursionError):
            continue
        if end == len(text):
            return len(text[: match.start()].encode("utf-8", "surrogateescape"))
    return 0


def object_at_break(failure: Failure) -> int:
    """Return the byte where the broken object breaks off if another object with a type begins there, else 0.

    JSON errors name the place where an escape of six characters begins, also if it is cut off.
    """
    text, at, *_ = failure
    begin = text.find("{", max(1, at - 2), at + 6)  # its first quote has ended the string that was cut off
    return len(text[:begin].encode("utf-8", "surrogateescape")) if begin > 0 and _TYPED.match(text, begin) else 0
