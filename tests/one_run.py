"""A document that is a run by itself → its rows, as its reader makes them."""

from __future__ import annotations

from ingest.agents.base import Rows
from ingest.agents.readers import SourceReaders
from ingest.facts import NO_FACTS, Facts
from ingest.sources.document import Document
from ingest.store.record_rows import Read, made


def rows_of(document: Document, facts: Facts = NO_FACTS) -> Rows | None:
    """None where no reader recognises it, or for an event. Raises InvalidRecord."""
    readers = SourceReaders(facts)
    fed = [
        *(readers.feed(document) or ()),
        *(one for reader in readers.met() for one in reader.end()),
    ]
    read = [made(one, lambda *_: facts, document) for one in fed]
    return next((one.rows for one in read if isinstance(one, Read)), None)
