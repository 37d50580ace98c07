"""JSON that a log broke: a prefix or a comment was written into the middle of it, and is taken out again."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

MENDED_CHARACTERS = 1 << 20
"""No more of a text than this is mended."""

_LENIENT_DECODER = json.JSONDecoder(strict=False)
_INJECTED = re.compile(
    r"\r?\n\[\d{4}-\d\d-\d\dT[^\]\n]{0,40}\](?: ?\[\w{1,20}\])? ?"  # a log prefix that broke a line in two
    r"|^[ \t]{0,100}//[^\n]*\n"  # a comment on a line of its own
    r"|(?<=[,\[{\d])[ \t]{0,100}//[^\n\"]{0,300}(?=\n)",  # a comment behind a value
    re.MULTILINE,
)
_NEAR = 80


class Mended(NamedTuple):
    """The value, and where in the text as it was its object ends."""

    value: Any
    end: int


def near_injection(text: str, at: int) -> bool:
    """Whether something was written into the text about there."""
    return _INJECTED.search(text, max(0, at - _NEAR), at + _NEAR) is not None


def mended(text: str) -> Mended | None:
    """The JSON value the text begins with once what was injected is taken out, or None."""
    region = text[:MENDED_CHARACTERS]
    try:
        value, end = _LENIENT_DECODER.raw_decode(_INJECTED.sub("", region))
    except (ValueError, RecursionError):
        return None
    for injected in _INJECTED.finditer(region):
        if injected.start() >= end:
            break
        end += len(injected.group())
    return Mended(value, end)
