"""The list of ingests: who ingested what, and what each replaced, so that undo can restore it."""

from __future__ import annotations

import getpass
import hashlib
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import duckdb

if TYPE_CHECKING:
    from ingest.store.database import Writer

UPLOAD = "upload"

LONGEST_COMMAND = 500
"""Kept characters of a command: a shell may have expanded a pattern to a thousand paths."""


def whoami() -> str:
    """Return `user@host` of this process."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # an account without a name, as in a container
        user = "unknown"
    return f"{user}@{platform.node() or 'unknown'}"


@dataclass(frozen=True)
class IngestOrigin:
    """Who ingests, and by which command (or UPLOAD). `who` defaults to the user of this process."""

    who: str = ""
    command: str = ""


def next_ingest(connection: duckdb.DuckDBPyConnection) -> int:
    """Return the number of a new ingest.

    Numbers are never reused, so that an undo always means the ingest that was seen.
    """
    [(last,)] = connection.execute("select max(last_ingest) from store_meta").fetchall()
    return int(last) + 1


def note_ingest(
    writer: Writer,
    ingest_id: int,
    started_at: datetime,
    origin: IngestOrigin,
    counts: dict[str, Any],
    **columns: Any,
) -> None:
    """Write the row of an ingest that ends now, replacing the row of a part of it.

    `columns`: its other columns, as `labels`, `path_template`, `path_tz` and `price_file` (see
    `price_id`).
    """
    from schemas.rows.source import IngestRow  # a row model, which only a writer needs

    command = (
        origin.command
        if len(origin.command) <= LONGEST_COMMAND
        else f"{origin.command[: LONGEST_COMMAND - 1]}…"
    )
    row = IngestRow(
        ingest_id=ingest_id,
        started_at=started_at,
        finished_at=datetime.now(UTC),
        who=origin.who or whoami(),
        tool_version=version("tachograph"),
        command=command,
        **columns,
        **counts,
    )
    writer.connection.execute(
        "delete from ingests where ingest_id = $number", {"number": ingest_id}
    )
    writer.insert("ingests", [row])
    writer.connection.execute("update store_meta set last_ingest = $number", {"number": ingest_id})


def price_id(text: str) -> str:
    """Return the key that identifies a price file by its text."""
    return hashlib.sha256(text.encode()).hexdigest()


def supersede(connection: duckdb.DuckDBPyConnection, sources: str, ingest_id: int) -> None:
    """Keep copies of sources and their rejects before an ingest changes them.

    `sources`: SQL that selects their ids.
    """
    for table in ("sources", "rejects"):
        connection.execute(
            (
                f"insert into superseded_{table} by name select *, $ingest_id as superseded_by "
                f"from {table} where source_id in ({sources})"
            ),
            {"ingest_id": ingest_id},
        )


def measures_are_new(
    connection: duckdb.DuckDBPyConnection, measures: Mapping[str, Mapping[str, str]]
) -> bool:
    """Return whether an ingest states anything new about measurements.

    Source_id → value by key (`ingest.measurements.given` has the keys).

    Leaves all of it in the table `given_measures`.
    """
    from ingest.store.database import run_step

    properties = [
        (source, key, value) for source, given in measures.items() for key, value in given.items()
    ]
    if not properties:
        return False
    columns = dict(
        zip(("sources", "keys", "values"), map(list, zip(*properties, strict=True)), strict=True)
    )
    run_step(connection, "commit/11_given_measures", columns)
    return (
        connection.execute("select 1 from given_measures where is_new limit 1").fetchone()
        is not None
    )


def note_found(
    connection: duckdb.DuckDBPyConnection, ingest_id: int, *, has_measures: bool
) -> None:
    """Write which files an ingest found, and what it states about measurements.

    Files (`seen_files`) may be new or known. Statements are written even if not new.

    So an undo of another ingest leaves what this one alone would have brought.
    """
    from ingest.store.database import run_step

    connection.execute(
        f"set variable ingest = {int(ingest_id)}"
    )  # files of several statements take no parameters
    run_step(connection, "commit/12_found")
    if has_measures:
        connection.execute(
            "insert into source_measures select getvariable('ingest'), source_id, given from "
            "given_measures"
        )
