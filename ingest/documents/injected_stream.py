"""Objects of a stream that can be read once what a log wrote into them is taken out."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from ingest.documents.broken_json import Failure
from ingest.documents.byte_window import Window, bytes_of, clean
from ingest.documents.document import parse
from ingest.documents.injected_text import MENDED_CHARACTERS, Mended, decoded_without, mended, near_injection, prefix_of_lines

_ALLOWED_BYTES = 1 << 24
"""What may be looked at again in vain, beside four times what was read. So hostile text cannot make itself dear."""

_LINE_BYTES = 1 << 10
_PREFIXED_BYTES = (1 << 12, 1 << 15, 1 << 18, 1 << 20)
_TOKEN_CHARACTERS = 160


class Found(NamedTuple):
    """An object from byte `start` to `end` of the window; `text` is as it was logged, but without the prefix of its lines."""

    start: int
    end: int
    text: str
    value: Any


class Mender:
    """Mends the objects of one stream, while that costs no more than it may."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._spent = 0

    def mend(self, start: int, failure: Failure, line_before: bytes) -> Found | None:
        """The object that starts here and could not be decoded; None where it stays broken."""
        if self._spent > 4 * (self._window.base + start) + _ALLOWED_BYTES:
            return None
        if (
            line_before.strip()
            and "\n" in failure.text[: failure.at + 1]
            and (found := self._without_prefix(start, line_before, failure.text))
        ):
            return found
        return self._without_injection(start) if near_injection(failure.text, failure.at) else None

    def hidden(self, start: int, line_before: bytes) -> Found | None:
        """The object whose brace is here, and the next line does not begin as one in an object does."""
        text = self._window.text(start, _LINE_BYTES)
        return self.mend(start, Failure(text, text.find("\n"), ""), line_before)

    def _without_injection(self, start: int) -> Found | None:
        text = self._window.text(start, MENDED_CHARACTERS)
        found = mended(text)
        self._spent += 0 if found else len(text)
        return _found(start, text, found) if found and isinstance(found.value, dict) else None

    def _without_prefix(self, start: int, line_before: bytes, text: str) -> Found | None:
        """The object on lines that all begin as its first one does."""
        prefix = prefix_of_lines(line_before.decode("utf-8", "replace"), text)
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


def _found(start: int, text: str, object_: Mended, prefix: re.Pattern[str] | None = None) -> Found:
    own = text[: object_.end]
    kept = clean(own)
    without = prefix.sub("", kept) if prefix else kept
    return Found(start, start + bytes_of(own), without, object_.value if kept == own else parse(without))
