"""Make every derived table again from the raw records in the store: after an upgrade, or to check the store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import duckdb

from ingest.agents.base import CONTEXT_COLUMNS, Context
from ingest.agents.left_out import NOT_KEPT, TEXTS, raw_without_text
from ingest.sources.document import Document
from ingest.store.database import PREVIOUS, Store, Writer, made, run_step
from ingest.store.doubts import note_doubts
from ingest.store.history.merging import merge
from ingest.store.history.read_again import read_batch
from ingest.store.history.records import BATCH, batches, complete_kept, note_told, recount
from ingest.store.opening.attaching import ALIAS
from ingest.store.pricing.repricing import price
from ingest.store.sessions.chains import ALL_PROCESSES, rechain
from ingest.store.sessions.folding import fold
from ingest.store.sessions.responses import bill, note_sessions
from ingest.store.statements import run
from ingest.store.text_index import index_texts
from ingest.system.secrets import scrubbed_command
from schemas.file_kinds import MAY_HOLD_RUNS
from schemas.rows.source import RejectRow

_KEPT_TABLES = (
    "sources", "rejects", "tool_calls", "patch_files", "patches", "price_files", "ingests", "run_records", "source_labels",
    "superseded_sources", "superseded_rejects", "annotations", "saved_views", "measurements", "source_measures", "response_copies",
    "superseded_response_copies",
)  # fmt: skip
"""Tables that do not follow from the raw records and are copied."""

_COLUMNS = """
select column_name, not is_nullable and column_default is null as is_required
from duckdb_columns()
where database_name = $database and table_name = $table
order by column_index"""
_KIND = (
    "case when container = 'zip' or starts_with(container, 'tar') then 'archive' when container = 'sidecar' then 'sidecar' else 'log' end"
)
"""The kind of a source, from the columns of version 3."""

_UNREAD = "select count(*) from sources where rejected > 0 or list_contains($kinds, kind)"
"""The files that `ingest --retry-rejects` reads again."""

_TEXTLESS = """
update run_records set raw = $raw, context = $context, told = $told
where run_id = $run_id and source_id = $source_id and ordinal = $ordinal"""

_KEPT_OF_A_RUN = ("ordinal", "raw", *CONTEXT_COLUMNS)


@dataclass(frozen=True)
class RebuildReport:
    """`runs`: records that were read again; `rejects`: records that were runs before and can no longer be read.

    `unread`: files in which another version found nothing, or something that it could not read; `left`: tables of a form that cannot be
    taken over, with the number of their rows.
    """

    runs: int
    rejects: int
    unread: int = 0
    left: Mapping[str, int] = field(default_factory=dict)


def rebuild(store: Store, on_progress: Callable[[int, int], None] | None = None, *, keeps_text: bool = True) -> RebuildReport:
    """Make a new store beside the old one and replace it. `on_progress` is called with (records done, all records).

    `keeps_text`: otherwise what was said in the records goes (`ingest.agents.left_out`); what people noted of runs stays.
    """
    runs, refused = 0, 0
    with store.replacing() as (previous, writer):
        left = _copy_kept(writer)
        [(unread,)] = run(writer.connection, _UNREAD, {"kinds": [*map(str, MAY_HOLD_RUNS)]}).fetchall()
        _hide_secrets(writer.connection)
        [(total,)] = previous.execute("select count(*) from previous.runs").fetchall()
        if not keeps_text:
            _drop_texts(writer.connection)
        for batch in _batches(previous):
            tables, rejects = read_batch(batch, keeps_text=keeps_text)
            for table in tables:
                writer.insert_table(table.name, table.rows)
            _move_to_rejects(writer, rejects)
            runs, refused = runs + len(batch) - len(rejects), refused + len(rejects)
            if on_progress:
                on_progress(runs + refused, total)
        _complete_history(writer)
        _merge_records(writer)
        rechain(writer.connection, ALL_PROCESSES)
        price(writer, "select run_id from runs")
        note_doubts(writer.connection, "select run_id from runs")
    index_texts(store)
    return RebuildReport(runs, refused, unread, left)


def _previous_tables(writer: Writer) -> set[str]:
    rows = writer.connection.execute("select table_name from duckdb_tables() where database_name = 'previous'").fetchall()
    return {str(name) for (name,) in rows}


def _copy_kept(writer: Writer) -> dict[str, int]:
    """Copy the columns that both versions have. Returns the tables that lack one that must be there, with their rows: they are left out."""
    known, left = _previous_tables(writer), dict[str, int]()
    for table in [table for table in _KEPT_TABLES if table in known]:  # an older store does not have the newer tables
        before, now = (
            dict(run(writer.connection, _COLUMNS, {"database": database, "table": table}).fetchall()) for database in (PREVIOUS, ALIAS)
        )
        columns = {name: f'"{name}"' for name in now if name in before}
        if table == "sources":
            columns = {"kind": _KIND} | columns
        if all(name in columns for name, is_required in now.items() if is_required):
            listed = ", ".join(f'{value} as "{name}"' for name, value in columns.items())
            writer.connection.execute(f"insert into {table} by name select {listed} from {PREVIOUS}.{table}")
        elif rows := writer.connection.execute(f"select count(*) from {PREVIOUS}.{table}").fetchall()[0][0]:
            left[table] = rows
    return left


def _hide_secrets(connection: duckdb.DuckDBPyConnection) -> None:
    """Older versions kept command lines as they were."""
    for (command,) in run(connection, "select distinct command from ingests").fetchall():
        if command and (shown := scrubbed_command(command)) != command:
            run(connection, "update ingests set command = $shown where command = $command", {"shown": shown, "command": command})


def _drop_texts(connection: duckdb.DuckDBPyConnection) -> None:
    """Remove the texts of what was copied: of rejects, and of what was noted of the records of runs with several."""
    connection.execute("delete from patches")
    for table in ("response_copies", "superseded_response_copies"):
        run(connection, f"update {table} set agent_description = null")
    for table in ("rejects", "superseded_rejects"):
        run(connection, f"update {table} set detail = $detail, excerpt = ''", {"detail": NOT_KEPT})
    noted = "select run_id, source_id, ordinal, raw, context, told from run_records where coalesce(raw, context, told) is not null"
    for *key, raw, context, told in run(connection, noted).fetchall():
        textless = {"raw": raw and raw_without_text(raw, key[0])[0], "context": _without_texts(context), "told": _without_texts(told)}
        where = dict(zip(("run_id", "source_id", "ordinal"), key, strict=True))
        run(connection, _TEXTLESS, where | textless)


def _without_texts(noted: str | None) -> str | None:
    """Columns of a record as JSON, without texts."""
    without = TEXTS | {"patch": None}
    return noted and json.dumps({name: without.get(name, value) for name, value in json.loads(noted).items()}, separators=(",", ":"))


def _complete_history(writer: Writer) -> None:
    """Records and annotations keep to their runs, which another version may call otherwise; an older store has only the kept records."""
    has_records = "run_records" in _previous_tables(writer)
    for step in ("renamed", *([] if has_records else ["kept_before"])):
        run_step(writer.connection, f"rebuild/{step}")
    run_step(writer.connection, "rebuild/ingested_by")
    if has_records:
        writer.connection.execute("update store_meta set last_ingest = (select max(last_ingest) from previous.store_meta)")


def _merge_records(writer: Writer) -> None:
    """Of runs with several records: the figures of each record as this version reads them, and the run of all of them."""
    complete_kept(writer.connection)
    run_step(writer.connection, "rebuild/several")
    for batch in batches(writer.connection, "several"):
        tables, _ = read_batch(batch)
        note_told(writer, tables)
    if fold(writer.connection, "select run_id from runs"):
        recount(writer.connection, "select source_id from folding")
    merge(writer, "select run_id from run_records")
    if note_sessions(writer.connection, "select distinct session_id from response_copies"):
        made(writer.connection, "affected", "select null::varchar as run_id where false")
        bill(writer.connection)


def _batches(previous: duckdb.DuckDBPyConnection) -> Iterator[list[tuple[Document, Context]]]:
    known = previous.sql("select * from previous.runs limit 0").columns  # an older store does not have the newer columns
    kept = ", ".join(column for column in _KEPT_OF_A_RUN if column in known)
    records = previous.sql(f"select {kept} from previous.runs order by source_id, ordinal").to_arrow_reader(BATCH)
    for batch in records:
        yield [(Document(row.pop("ordinal"), "kept record", row.pop("raw")), _context(row)) for row in batch.to_pylist()]


def _context(row: dict[str, Any]) -> Context:
    lists = {name: tuple(row.get(name) or ()) for name in ("tools", "part_ids")}
    return Context(**row | lists | {"labels": dict(row["labels"] or ())})


def _move_to_rejects(writer: Writer, rejects: list[RejectRow]) -> None:
    """Write the rejects of records that were runs, and correct the counts of their sources."""
    writer.insert("rejects", rejects)
    for row in rejects:
        writer.connection.execute(
            "update sources set accepted = accepted - 1, rejected = rejected + 1 where source_id = $source_id",
            {"source_id": row.source_id},
        )
