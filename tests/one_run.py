"""A document that is a run by itself → its rows, as its reader makes them."""

from __future__ import annotations

from ingest.agents.base import Context, Found, Rows
from ingest.agents.readers import SourceReaders
from ingest.sources.document import Document


def rows_of(document: Document, context: Context) -> Rows | None:
    """None where no reader recognises it, or for an event. Raises InvalidRecord."""
    readers = SourceReaders(lambda *_: context)
    fed = [
        *(readers.feed(document) or ()),
        *(one for reader in readers.met() for one in reader.end()),
    ]
    found = [one for one in fed if isinstance(one, Found)]
    return found[0].rows if found else None
