"""Every table of a lake made again, in one transaction: what was is copied to a file of this machine first, and stays in the snapshots."""

from __future__ import annotations

import duckdb

from ingest.store.lake.errors import Overtaken
from ingest.store.statements import run

_SNAPSHOT = "select id from ducklake_current_snapshot('{0}')"


def copy_aside(connection: duckdb.DuckDBPyConnection, alias: str, aside: str) -> int:
    """Copy every table of a lake to another database. Returns the snapshot of the lake that was copied."""
    connection.begin()
    [(snapshot,)] = run(connection, _SNAPSHOT.format(alias)).fetchall()
    for name in _names(connection, alias, "table"):
        connection.execute(f'create table {aside}."{name}" as from {alias}."{name}"')
    connection.commit()
    return int(snapshot)


def require_unchanged(connection: duckdb.DuckDBPyConnection, alias: str, snapshot: int, location: str) -> None:
    """Raise Overtaken where somebody committed since that snapshot."""
    [(now,)] = run(connection, _SNAPSHOT.format(alias)).fetchall()
    if now != snapshot:
        raise Overtaken(f"another writer of {location} committed meanwhile: nothing was changed.", "Run the command again.")


def drop_all(connection: duckdb.DuckDBPyConnection, alias: str) -> None:
    """Drop every table and view of ours; the snapshots before keep them."""
    for kind in ("view", "table"):
        for name in _names(connection, alias, kind):
            connection.execute(f'drop {kind} {alias}."{name}"')


def _names(connection: duckdb.DuckDBPyConnection, alias: str, kind: str) -> list[str]:
    listed = f"select {kind}_name from duckdb_{kind}s() where database_name = $alias and not internal order by 1"
    return [str(name) for (name,) in run(connection, listed, {"alias": alias}).fetchall()]
