"""A lake as DuckDB sees it: attached for reading or writing, as it is now or as it was."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from datetime import UTC, datetime

import duckdb

from ingest.store.lake import errors, extensions, settings
from ingest.store.opening.waiting import StoreHeld, holder_in, is_held
from ingest.system.locations import LAKE

METADATA = "__ducklake_metadata_"
"""With the name of an attached lake: the name of the database that its catalog is."""


class Lake:
    """The lake at one location. `given`: the location as somebody gave it, maybe with a password; `location`: as it may be shown.

    `at`: the time whose snapshot is read; None: the last one.
    """

    def __init__(self, given: str, location: str, at: datetime | None = None) -> None:
        self.location = location
        self.at = at
        self._given = given

    @property
    def catalog(self) -> str:
        """Where the catalog is: `postgres:…`, `sqlite:…` or a file."""
        return self._given.removeprefix(LAKE)

    @property
    def is_in_postgresql(self) -> bool:
        """Whether the catalog is in PostgreSQL: only there many write at once."""
        return self.catalog.startswith("postgres:")

    @property
    def kept_as(self) -> str:
        """The name by which an engine keeps the lake attached for other readers.

        Empty where it must not: a catalog that is a file would be held, and a snapshot is of its time.
        """
        return self._given if self.is_in_postgresql and self.at is None else ""

    @property
    def catalog_file(self) -> str | None:
        """The whole path of a catalog that is a file; None in a database server."""
        return None if self.is_in_postgresql else os.path.realpath(self.catalog.removeprefix("sqlite:"))

    def attach(self, connection: duckdb.DuckDBPyConnection, alias: str, *, read_only: bool) -> None:
        """Attach the lake, which must exist. Raises StoreError, and StoreHeld where its catalog is a file that another process holds.

        A reader finds it attached already where the engine kept it (`kept_as`) and its catalog still answers.
        """
        if read_only and self.kept_as and self._is_attached(connection, alias):
            if settings.has_keys():
                self._use_storage(connection)
            return
        options = ["create_if_not_exists false", *(["read_only"] if read_only else [])]
        if self.at:
            options.append(f"snapshot_time '{self.at.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}+00'")
        self._attach(connection, alias, options)

    def make(self, connection: duckdb.DuckDBPyConnection, alias: str, data_path: str) -> None:
        """Attach the lake, and make one without tables where there is none. Raises StoreError."""
        if extensions.is_remote(data_path):
            self._use_storage(connection)
            with self.told():  # so that a bucket that is not there is missed now
                connection.execute(f"from glob('{_quoted(data_path)}*')")
        self._attach(connection, alias, [f"data_path '{_quoted(data_path)}'"])

    def told(self) -> AbstractContextManager[None]:
        """A block in which errors of DuckDB become errors for people."""
        return errors.told(self.location, self._given)

    def _attach(self, connection: duckdb.DuckDBPyConnection, alias: str, options: list[str]) -> None:
        extensions.load(connection, *extensions.needed(self.catalog))
        settings.give_to_postgresql()
        if settings.has_keys():
            self._use_storage(connection)
        attach = f"attach '{_quoted(self._given)}' as {alias} ({', '.join(options)})"
        with self.told():
            try:
                connection.execute(attach)
            except duckdb.Error as error:
                if self.catalog_file and is_held(error):
                    raise StoreHeld(holder_in(error, read_only="read_only" in options)) from None
                if extensions.OBJECT_STORAGE not in str(error):
                    raise
                self._use_storage(connection)
                connection.execute(attach)

    def _is_attached(self, connection: duckdb.DuckDBPyConnection, alias: str) -> bool:
        """Whether the lake is attached and its catalog answers. Otherwise it is detached: the server may have ended the connection."""
        if not connection.execute(f"select 1 from duckdb_databases() where database_name = '{alias}'").fetchall():
            return False  # a new engine does not know the function yet, and would look for it in the network
        try:
            connection.execute(f"from postgres_query('{METADATA}{alias}', 'select 1')").fetchall()
        except duckdb.Error:
            connection.execute(f"detach database if exists {alias}")
            return False
        return True

    def _use_storage(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Let DuckDB read and write an object storage. Raises StoreError."""
        extensions.load(connection, extensions.OBJECT_STORAGE)
        settings.make_secret(connection)


def _quoted(text: str) -> str:
    return text.replace("'", "''")
