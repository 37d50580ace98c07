"""The list of ingests, and what each removed, so that undoing it can bring it back."""

from __future__ import annotations

import getpass
import hashlib
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

import duckdb

from ingest.store.statements import run

if TYPE_CHECKING:
    from ingest.store.database import Writer
    from schemas.rows.source import IngestRow

UPLOAD = "upload"
"""The command of an ingest from a dashboard."""

LONGEST_COMMAND = 500
"""Characters of a command that are kept: a shell may have replaced a pattern by a thousand paths."""


def whoami() -> str:
    """`user@host` of this process."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # an account without a name, as in a container
        user = "unknown"
    return f"{user}@{platform.node() or 'unknown'}"


@dataclass(frozen=True)
class Origin:
    """Who ingests and by what: the command, or UPLOAD. Nobody named: the user of this process."""

    who: str = ""
    command: str = ""


def next_ingest(connection: duckdb.DuckDBPyConnection) -> int:
    """The number of a new ingest. Numbers are never used again, so that nobody undoes another ingest than he has seen."""
    [(last,)] = run(connection, "select max(last_ingest) from store_meta").fetchall()
    return int(last) + 1


def note_ingest(writer: Writer, ingest: IngestRow) -> None:
    """Write the row of an ingest, in place of that of a part of it."""
    run(writer.connection, "delete from ingests where ingest_id = $number", {"number": ingest.ingest_id})
    writer.insert("ingests", [ingest])
    run(writer.connection, "update store_meta set last_ingest = $number", {"number": ingest.ingest_id})


def ingest_row(
    ingest_id: int,
    started_at: datetime,
    origin: Origin,
    counts: dict[str, int],
    labels: dict[str, str],
    paths: tuple[str | None, str | None],
    price: str | None,
) -> IngestRow:
    """The row of an ingest that ends now. `paths`: the template of paths and the zone of times in them.

    `price`: the text of the price file that it gave the store.
    """
    command = origin.command if len(origin.command) <= LONGEST_COMMAND else f"{origin.command[: LONGEST_COMMAND - 1]}…"
    from schemas.rows.source import IngestRow  # a row model, which only a writer needs

    return IngestRow(
        ingest_id=ingest_id,
        started_at=started_at,
        finished_at=datetime.now(UTC),
        who=origin.who or whoami(),
        tool_version=version("tachograph"),
        command=command,
        labels=dict(sorted(labels.items())),
        path_template=paths[0],
        path_tz=paths[1],
        price_file=None if price is None else price_id(price),
        **counts,
    )


def price_id(text: str) -> str:
    """What tells one price file from another."""
    return hashlib.sha256(text.encode()).hexdigest()


def supersede(connection: duckdb.DuckDBPyConnection, sources: str, ingest_id: int) -> None:
    """Keep sources and their rejects as they are, before an ingest changes them (`sources`: SQL that selects their ids)."""
    for table in ("sources", "rejects"):
        run(
            connection,
            f"insert into superseded_{table} by name select *, $ingest_id as superseded_by from {table} where source_id in ({sources})",
            {"ingest_id": ingest_id},
        )
