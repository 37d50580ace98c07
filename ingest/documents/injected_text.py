"""JSON that a log broke: a prefix, a comment or a line was written into the middle of it, and is taken out again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

MENDED_CHARACTERS = 1 << 20
"""No more of a text than this is mended."""

ParseFloat = Callable[[str], Any] | None
"""What makes a number of its digits, or of NaN and the infinities; None is `float`."""

_BROKE_IN = re.compile(
    r"\r?\n\[\d{4}-\d\d-\d\dT[^\]\n]{0,40}\](?: ?\[\w{1,20}\])? ?"  # a log prefix that broke a line in two
    r"|^[ \t]{0,100}//[^\n]*\n"  # a comment on a line of its own
    r"|(?<=[,\[{\d])[ \t]{0,100}//[^\n\"]{0,300}(?=\n)",  # a comment behind a value
    re.MULTILINE,
)
_LINE_BETWEEN = re.compile(r"^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\n]*\n", re.MULTILINE)  # of another writer to the same log
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[mK]")  # of a terminal, as `jq` writes them
_INJECTED = (_BROKE_IN, _LINE_BETWEEN, _COLOUR)
_NEAR = 80
_SPACE = re.compile(r"[ \t]+")
_DIGITS = re.compile(r" *[0-9]+")  # a number may stand on the right of its column


class Mended(NamedTuple):
    """The value, and where in the text as it was its object ends."""

    value: Any
    end: int


def near_injection(text: str, at: int) -> bool:
    """Whether something was written into the text about there."""
    return any(injected.search(text, max(0, at - _NEAR), at + _NEAR) for injected in _INJECTED)


def mended(text: str, parse_float: ParseFloat = None) -> Mended | None:
    """The JSON value the text begins with once what was injected is taken out, or None."""
    region = text[:MENDED_CHARACTERS]
    for injected in _INJECTED:
        try:
            return decoded_without(injected, region, parse_float)
        except (ValueError, RecursionError):
            continue
    return None


def decoded_without(injected: re.Pattern[str], text: str, parse_float: ParseFloat = None) -> Mended:
    """The JSON value the text begins with once all of a kind is taken out. Raises ValueError or RecursionError where it is none."""
    value, end = json.JSONDecoder(parse_float=parse_float, parse_constant=parse_float, strict=False).raw_decode(injected.sub("", text))
    for one in injected.finditer(text):
        if one.start() >= end:
            break
        end += len(one.group())
    return Mended(value, end)


def prefix_of_lines(before: str, text: str) -> re.Pattern[str] | None:
    """What stands `before` the text on its line, or a beginning of that, if the next line begins so too; but for its digits."""
    feed = text.find("\n")
    if feed < 0 or not (before[0].isdecimal() or text.startswith(before[0], feed + 1)):
        return None
    following = _DIGITS.sub("0", text[feed + 1 : feed + 1 + 4 * len(before)])
    for end in (len(before), *(space.start() for space in reversed(list(_SPACE.finditer(before))))):
        if before[:end].strip() and following.startswith(_DIGITS.sub("0", before[:end])):
            shape = _DIGITS.pattern.join(map(re.escape, _DIGITS.split(before[:end])))
            return re.compile(rf"(?<=\n){shape}")
    return None
