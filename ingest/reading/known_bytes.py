"""Sources whose bytes the store has already. Workers ask too, without DuckDB."""

from __future__ import annotations

from ingest.reading.settings import Settings
from ingest.sources.files import Source
from ingest.sources.identity import identify
from ingest.store.read_result import PortionKey, ReadResult

SMALL_BYTES = 1 << 20
"""A file up to this size is loaded into memory at once."""


def known_source(source: Source, name: str, settings: Settings) -> ReadResult | None:
    """The result of a source that the store has, None for any other. Reads nothing for a new store. Raises OSError, InputUnreadable."""
    if not settings.known:
        return None
    identity = identify(source, settings.earlier(source))
    if identity.source_id not in settings.known:
        return None
    result = ReadResult(PortionKey(name), "", source.name, source.size, source.size, known=True, modified_ns=source.modified_ns)
    result.identify(identity)
    return result
