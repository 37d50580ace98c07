"""A document that is a run by itself → its rows, as its reader makes them."""

from __future__ import annotations

from ingest.agents.base import Context, Found, Rows
from ingest.agents.readers import SourceReaders
from ingest.documents.document import Document


def rows_of(document: Document, context: Context) -> Rows | None:
    """None where no reader recognises it, or for an event. Raises InvalidRecord."""
    readers = SourceReaders(lambda *_: context)
    found = [one for one in (*(readers.feed(document) or ()), *readers.end()) if isinstance(one, Found)]
    return found[0].rows if found else None
