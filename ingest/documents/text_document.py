"""A log that is text and not JSON: one document, whose lines are read one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ingest.documents.document import EXCERPT_CHARACTERS, Document
from ingest.sources.decoding import Readable

_BLOCK = 1 << 20
_LONGEST_LINE = 1 << 20
"""Characters of a line that are given; the rest of a longer line is left out."""


@dataclass
class TextDocument(Document):
    """`content` is the beginning of the log; `lines` reads it to its end, once."""

    lines: Iterator[str] = field(default_factory=lambda: iter(()))

    @property
    def value(self) -> Any:
        """No JSON: an object without fields."""
        return {}

    def beginning(self) -> TextDocument:
        """The same without its lines."""
        return TextDocument(self.ordinal, self.position, self.content[: 4 * EXCERPT_CHARACTERS + 4])


def text_lines(stream: Readable) -> Iterator[str]:
    """The lines of a stream, without more than a block of it in memory. Raises Broken."""
    rest = b""
    while block := stream.read(_BLOCK):
        *lines, rest = (rest + block).split(b"\n")
        rest = rest[:_LONGEST_LINE]
        for line in lines:
            yield line[:_LONGEST_LINE].decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")
