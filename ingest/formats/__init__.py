"""The agents whose records are read, in the order they are asked."""

from __future__ import annotations

from ingest.document import Document
from ingest.formats.base import Format
from ingest.formats.claude_code import ClaudeCode

FORMATS: tuple[Format, ...] = (ClaudeCode(),)


def recognise(document: Document) -> Format | None:
    """The first format that knows the document."""
    return next((format_ for format_ in FORMATS if format_.recognises(document)), None)
