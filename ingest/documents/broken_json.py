"""What can be said of JSON that is broken, and what stands behind it on its line."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from ingest.agents.marks import LEGIBLE_FIELDS
from ingest.documents.byte_window import bytes_of
from schemas.errors import RejectReason

MARK_SEARCHED = 4096
"""Characters of a broken object in which its fields are looked for."""

_MOST_TRIED = 1000
_ESCAPE = 6
"""Characters that an escape has: one that was cut off is told at its beginning."""

_TYPED = re.compile(r'(?<!:)\{"type"\s*:')
_BLANK = b" \t\r"
_DECODER = json.JSONDecoder()
_READABLE_FIELD = re.compile(rf'"({"|".join(LEGIBLE_FIELDS)})"\s*:\s*("[^"\n]*"|[^\s,{{}}\[\]"]+)(?=[,}}\s])')


class Failure(NamedTuple):
    """Why an object could not be decoded: `message`, at character `at` of `text`. `cut` where the text ended too early."""

    text: str
    at: int
    message: str
    cut: bool = False


def verdict(failure: Failure) -> tuple[RejectReason, str]:
    """Why an object is refused, in words; with the figures that can still be read."""
    text, at, message, cut = failure
    fields = _READABLE_FIELD.findall(text, 0, min(at + 1, MARK_SEARCHED))
    before = "; before the break stand " + ", ".join(f"{name} {value}" for name, value in fields) if fields else ""
    if message.startswith(("Unterminated", "Invalid control")) or _ended(text, at, cut=cut):
        return RejectReason.TRUNCATED, f"the JSON ends in the middle{before}"
    return RejectReason.NOT_JSON, f"the JSON is broken at character {at}: {message}{before}"


def _ended(text: str, at: int, *, cut: bool) -> bool:
    """Whether an object broke because nothing more came. A bracket that closes it comes too early, but it does come."""
    return not text.startswith(("}", "]"), at) and ((cut and at >= len(text.rstrip()) - 1) or _ends_with_line(text, at))


def begin_of_last(line: bytes) -> int:
    """The byte of a line at which an object with a type begins that goes whole to the line's end; 0 where there is none.

    There is one at most: what is inside it ends before it. The value of a key belongs to what is broken, and in the text of a tool
    quotes are escaped.
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


def begin_at_break(failure: Failure) -> int:
    """The byte at which an object with a type begins exactly where another one broke, as if that had been cut off; 0 where none does."""
    text, at, *_ = failure
    begin = text.find("{", max(1, at - 2), at + _ESCAPE)  # from a text's first quote on, which ended the text that was cut off
    return bytes_of(text[:begin]) if begin > 0 and _TYPED.match(text, begin) else 0


def _end_of_object(text: str, at: int) -> int:
    try:
        return _DECODER.raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        return -1


def _ends_with_line(text: str, at: int) -> bool:
    """Whether an object that began on this line had come to the line's end where it was found broken."""
    object_ = text[:at].rstrip()
    return "\n" in text[len(object_) : at] and "\n" not in object_
