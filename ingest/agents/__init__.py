"""The agents whose records are read, in the order they are asked."""

from __future__ import annotations

from ingest.agents.base import Format
from ingest.agents.claude_code.reader import ClaudeCode
from ingest.documents.document import Document

FORMATS: tuple[Format, ...] = (ClaudeCode(),)


def recognise(document: Document) -> Format | None:
    """The first format that knows the document."""
    return next((format_ for format_ in FORMATS if format_.recognises(document)), None)
