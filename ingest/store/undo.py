"""Take an ingest back: afterwards the store holds what the other ingests alone would have brought.

A file that another ingest found too stays, as that ingest's: with its name and labels. A run that
another file also brought stays: it is rebuilt from the best remaining copy. Annotations stay in any
case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from ingest.agents.base import CHILD_TABLES
from ingest.context.path_template import PathReading, PathTemplate
from ingest.facts import NO_FACTS, Facts
from ingest.sources.times import zone_of
from ingest.store.annotations import LABEL_COLUMNS
from ingest.store.chains import RECHAINED, define_processes, rechain
from ingest.store.cross_checks import note_cross_checks
from ingest.store.database import Store, Writer, arrow, made, registered, run_step
from ingest.store.ingests import price_id
from ingest.store.pricing import price
from ingest.store.records import (
    batches,
    merge,
    name_projects,
    note_alone,
    read_batch,
    recount,
    relabel,
)
from ingest.store.sessions import bill, fold, note_sessions, unfold
from ingest.store.spool import FILE_TABLES
from ingest.system.command_lines import command_line
from schemas.errors import UsageError

_PROCESSES_OF = """
select process_of(agent, session_id, in_stream, source_id) as process
from runs
where
    run_id in (select run_id from {0})
    or (in_stream and source_id in (select source_id from runs where in_stream and run_id in (select
        run_id from {0})))
"""
"""Processes whose chains may change: of some runs, and of all runs in the same streams."""

_UNREAD_FILES = """
delete from {}
where
    source_id in (select source_id from sources where ingest_id = getvariable('undone'))
    and source_id not in (
        select source_id from superseded_sources
        where superseded_by = getvariable('undone') and map is not null
    )
"""
"""A file that a map had read before keeps what the last reading found in it."""

_RESTORED = "select run_id from restored"
_SESSIONS = "select run_id from runs where session_id in (select session_id from touched_sessions)"

_OWN_SESSIONS = """
select session_id from response_copies where source_id in (select source_id from sources where
    ingest_id = getvariable('undone'))
union
select session_id from response_copies semi join touched_sessions using (session_id)
union
select session_id from runs semi join touched_runs using (run_id) semi join response_copies using
    (session_id)
union
select session_id from restored_copies
"""
"""Sessions that lose copies of responses, or whose responses may then belong to another run."""

_DATED_ANEW = """
select run_id
from runs
where started_at is null and ended_at is null and run_id in (select run_id from run_records semi
    join heirs using (source_id))
"""
"""Runs without a time of their own are priced by the day on which they came in."""

_OF_AGENTS = (
    "select run_id from runs where has_other_ids(agent) and agent in (select agent from "
    "touched_agents)"
)
"""Runs whose session may lose its other log, or a copy of that."""


@dataclass(frozen=True)
class Undone:
    """What an undo removes.

    `gone`: runs of no other ingest; `staying`: runs that another ingest brought too.

    `files`: different ones; `read_files`: also copies and those that an earlier ingest had read.
    """

    ingest_id: int
    gone: int
    staying: int
    files: int
    read_files: int
    rejects: int
    labelled_files: int
    measurements: int
    loops: int


def preview(store: Store, ingest_id: int | None = None) -> tuple[Undone, Mapping[str, Any]]:
    """Return what undoing the ingest would remove, and the row of the ingest.

    The default is the last ingest. Raises StoreError, UsageError.
    """
    with store.reading() as connection:
        row = _ingest(connection, ingest_id, store.location)
        return _counted(connection, row["ingest_id"]), row


def undo(store: Store, ingest_id: int) -> Undone:
    """Undo the ingest in one transaction.

    Raises StoreError, and UsageError if it cannot be undone now.
    """

    def undone(writer: Writer) -> Undone:
        connection = writer.connection
        row = _ingest(connection, ingest_id, store.location)
        done = _counted(connection, ingest_id)
        later = max(
            found or 0
            for (found,) in connection.execute(_LATER_READINGS, {"ingest_id": ingest_id}).fetchall()
        )
        if later:
            raise UsageError(
                f"ingest {later} read files of ingest {ingest_id} again.",
                f"Undo ingest {later} first: `{command_line(f'undo {later}', store.location)}`",
            )
        stored = [
            price_id(text)
            for (text,) in connection.execute("select text from price_files").fetchall()
        ]
        if row["price_file"] in stored:  # what runs cost without it is for the user to say
            prices = (
                f"`{command_line('reprice --no-price-file', store.location)}`, or `reprice "
                "--prices FILE`."
            )
            raise UsageError(
                f"ingest {row['ingest_id']} set the price file, and all runs are priced by it.",
                f"First set the prices that shall hold: {prices}",
            )
        _take_back(writer)
        return done

    return store.write(undone, make=False)


_LATER_READINGS = """
select max(later.superseded_by)
from superseded_sources as mine
join superseded_sources as later using (source_id)
where mine.superseded_by = $ingest_id and later.superseded_by > mine.superseded_by
union all
select max(part.ingest_id)
from sources as part
join sources as mine on mine.source_id = part.goes_on
where
    mine.ingest_id = $ingest_id and part.ingest_id > $ingest_id
    and part.ingest_id <= coalesce((select heir from heirs where heirs.source_id = mine.source_id),
        part.ingest_id)
"""
"""Re-readings of a file (--retry-rejects, or growth) must be undone in reverse order, and so must
the parts of a transcript: a later part lacks what earlier ones have.
"""


def _ingest(
    connection: duckdb.DuckDBPyConnection, ingest_id: int | None, location: str
) -> dict[str, Any]:
    sql = (
        "select * from ingests where ingest_id = coalesce($ingest_id, (select max(ingest_id) "
        "from ingests))"
    )
    rows: list[dict[str, Any]] = arrow(connection, sql, {"ingest_id": ingest_id}).to_pylist()
    if rows:
        return rows[0]
    listed = (
        f"List them: `{command_line('ingests', location)}`. Ingests before version 6 of the "
        "tables cannot be undone."
    )
    raise UsageError(
        "there is no ingest to undo." if ingest_id is None else f"there is no ingest {ingest_id}.",
        listed,
    )


def _counted(connection: duckdb.DuckDBPyConnection, ingest_id: int) -> Undone:
    """Return what an undo removes. Leaves the variable `undone` and the table `heirs`."""
    connection.execute(
        f"set variable undone = {int(ingest_id)}"
    )  # files of several statements take no parameters
    run_step(connection, "undo/heirs")
    [counts] = run_step(connection, "undo/preview")
    return Undone(ingest_id, *counts)


_FOUND_OTHERWISE = """
select source_id, sources.name, mine.path_template, mine.path_tz, heirs.name, other.path_template,
    other.path_tz
from heirs
join sources using (source_id)
join ingests as mine on mine.ingest_id = sources.ingest_id
join ingests as other on other.ingest_id = heir
where
    mine.ingest_id = getvariable('undone')
    and (sources.name, mine.path_template, mine.path_tz) is distinct from (heirs.name,
        other.path_template, other.path_tz)
"""


def _rename(connection: duckdb.DuckDBPyConnection) -> None:
    """Give inherited records the facts of the paths under which their heirs found them.

    The templates and time zones are those of these ingests.

    Leaves the files with other facts in their new paths in the table `paths`.
    """
    rows = []
    for source_id, *found in connection.execute(_FOUND_OTHERWISE).fetchall():
        both = []
        for name, template, zone in (found[:3], found[3:]):
            reading = PathReading(
                PathTemplate.parse(template) if template else None, zone_of(zone or "")
            )
            both.append(reading.facts(name, Path(name)))
        if both[0] != both[1]:
            rank = both[1].context_rank - both[0].context_rank
            rows.append(
                {
                    "source_id": source_id,
                    "rank_added": rank,
                    **_columns("", both[0]),
                    **_columns("new_", both[1]),
                }
            )
    types = {name: pa.string() for name in _columns("", NO_FACTS)} | {
        "labels": pa.map_(pa.string(), pa.string()),
        "began": pa.int64(),
    }
    both_types = {
        f"{prefix}{name}": type_ for prefix in ("", "new_") for name, type_ in types.items()
    }
    schema = pa.schema({"source_id": pa.string(), "rank_added": pa.int64()} | both_types)
    with registered(connection, rows_of_paths=pa.Table.from_pylist(rows, schema)):
        if made(connection, "paths", "select * from rows_of_paths"):
            note_alone(
                connection, "(select run_id from run_records semi join paths using (source_id))"
            )
            run_step(connection, "undo/paths")


def _columns(prefix: str, facts: Facts) -> dict[str, Any]:
    """Return the facts of a path by the names of columns, its time in microseconds since 1970."""
    began = None if facts.started_at is None else round(facts.started_at.timestamp() * 1_000_000)
    values = {
        "labels": sorted(facts.labels.items()),
        **{name: getattr(facts, name) for name in LABEL_COLUMNS},
        "began": began,
    }
    return {f"{prefix}{name}": value for name, value in values.items()}


def _take_back(writer: Writer) -> None:
    connection = writer.connection
    define_processes(connection)
    _rename(connection)
    run_step(connection, "undo/00_inherited")
    run_step(connection, "undo/01_touched")
    run_step(
        connection, "grown/restored"
    )  # the copies of responses that the ingest took the place of
    has_responses = note_sessions(connection, _OWN_SESSIONS)
    made(connection, "touched_processes", _PROCESSES_OF.format("unkept"))
    unfold(connection)
    run_step(connection, "undo/02_restored")
    for table in CHILD_TABLES:
        connection.execute(f"delete from {table} where run_id in (select run_id from unkept)")
    for table in FILE_TABLES:
        connection.execute(_UNREAD_FILES.format(table))
    run_step(connection, "undo/03_removed")
    for batch in batches(connection, "restored"):
        tables, rejects = read_batch(batch)
        for read in tables:
            writer.insert_table(read.name, read.rows)
        writer.insert("rejects", rejects)  # of copies that can no longer be read
        for row in rejects:
            lost = {"source_id": row.source_id, "ordinal": row.ordinal}
            connection.execute(
                "update sources set rejected = rejected + 1 where source_id = $source_id",
                {"source_id": row.source_id},
            )
            connection.execute(
                (
                    "delete from run_records where is_kept and source_id = $source_id and "
                    "ordinal = $ordinal"
                ),
                lost,
            )
    if fold(connection, f"{_RESTORED} union {_SESSIONS}"):
        connection.execute("insert into touched_runs select run_id from refolded")
    recount(
        connection,
        " union ".join(
            f"select source_id from {table}"
            for table in ("touched_sources", "restored", "brought_back", "folding")
        ),
    )
    made(connection, "seen_files", "select source_id, labels, copy_labels from found_files limit 0")
    relabel(connection, "select run_id from touched_runs")
    is_merged = merge(writer, "select run_id from touched_runs")
    name_projects(connection, "select run_id from touched_runs")
    if has_responses:
        made(connection, "affected", "select run_id from touched_runs")
        bill(connection)
    is_rechained = rechain(
        connection,
        f"select process from touched_processes union {_PROCESSES_OF.format('restored')}",
    )
    changed = f"{_RESTORED} union select run_id from {RECHAINED}" if is_rechained else _RESTORED
    changed += " union select run_id from repriced" if is_merged else ""
    changed += (
        " union select run_id from summed union select run_id from run_of_session"
        if has_responses
        else ""
    )
    price(writer, f"{changed} union {_DATED_ANEW}")
    note_cross_checks(connection, f"{changed} union {_SESSIONS} union {_OF_AGENTS}")
