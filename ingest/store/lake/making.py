"""A new lake: its catalog, the place of its data, its tables and its options."""

from __future__ import annotations

import os

import duckdb

from ingest.store.database import create_schema, stored_version
from ingest.store.lake.attaching import Lake
from ingest.store.lake.extensions import is_remote
from ingest.store.lake.settings import DATA_VARIABLE, settings
from ingest.store.lake.tables import as_lake_sql, set_options
from ingest.store.opening.attaching import ALIAS
from ingest.store.opening.engines import connected
from ingest.system.locations import is_lake, without_secrets
from schemas.errors import StoreMissing, UsageError


def make_lake(location: str, data_path: str = "") -> bool:
    """Make the lake at a location, with its data in a folder or an object storage. Returns whether it is new: an existing one stays.

    Raises UsageError, StoreError.
    """
    if not is_lake(location):
        raise UsageError(
            f"{without_secrets(location)} is not a lake.",
            "A lake's location begins with ducklake:, e.g. --db 'ducklake:postgres:dbname=runs'.",
        )
    lake = Lake(location, without_secrets(location))
    with connected(ALIAS) as connection:
        try:
            lake.attach(connection, ALIAS, read_only=False)
        except StoreMissing:
            lake.make(connection, ALIAS, _place_of_data(lake, data_path))
        with lake.told():
            connection.execute(f"use {ALIAS}")
            return _fill(connection, lake.location)


def _fill(connection: duckdb.DuckDBPyConnection, location: str) -> bool:
    """Make the tables where there are none: a lake without them was begun by somebody who was interrupted."""
    try:
        stored_version(connection, location)
    except StoreMissing:
        set_options(connection, ALIAS)
        connection.begin()
        create_schema(connection, as_lake_sql)
        connection.commit()
        return True
    return False


def _place_of_data(lake: Lake, given: str) -> str:
    """Where the data shall lie, ending in a slash: a folder for all machines is named by its whole path."""
    place = given or settings().get(DATA_VARIABLE, "")
    if not place and lake.is_in_postgresql:
        raise UsageError(
            "where shall the data of the lake lie?",
            f"Give --data s3://BUCKET/PREFIX, or a folder that all machines share; or set ${DATA_VARIABLE}.",
        )
    if not place:
        place = f"{lake.catalog.removeprefix('sqlite:')}.files"
    return f"{place if is_remote(place) else os.path.realpath(place)}".rstrip("/") + "/"
