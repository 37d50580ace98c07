"""The version of the store's tables, separate from their models, which a reader does not need."""

SCHEMA_VERSION = 26
"""Incremented with every change of a written table or a view. Other versions are refused, never
migrated: `rebuild` writes a new store from the old one's records.
"""

INCOMPLETE = 1_000_000_000
"""The version of an unfinished copy (`ingest.store.copying`): higher than any program's."""
