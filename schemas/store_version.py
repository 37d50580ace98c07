"""The version of the store's tables, apart from their models: who only reads a store needs none of these."""

SCHEMA_VERSION = 14
"""Raised with every change of a table that is written, or of a view. A store of another version is refused, never migrated: `rebuild`
writes a new store from the records of the old one."""

INCOMPLETE = 1_000_000_000
"""The version of the tables of a store that is being copied to (`ingest.store.copying`): later than any program knows."""
