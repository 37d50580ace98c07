"""Make every derived table again from the raw records in the store.

After an upgrade, or to check the store.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import duckdb

from ingest.agents.base import FACT_COLUMNS
from ingest.agents.textless import (
    NOT_KEPT,
    TEXTS,
    TEXTS_OF_EXPERIMENTS,
    TEXTS_OF_RESPONSES,
    raw_without_text,
)
from ingest.facts import Facts
from ingest.sources.document import Document
from ingest.store.chains import ALL_PROCESSES, rechain
from ingest.store.cross_checks import note_cross_checks
from ingest.store.database import Store, Writer, made, run_step
from ingest.store.opening import ALIAS, PREVIOUS
from ingest.store.pricing import price
from ingest.store.records import (
    BATCH,
    batches,
    complete_kept,
    merge,
    name_projects,
    note_figures,
    read_batch,
    recount,
)
from ingest.store.sessions import bill, fold, note_sessions
from ingest.system.secrets import scrubbed_command
from schemas.file_kinds import MAY_HOLD_RUNS

_KEPT_TABLES = (
    "sources",
    "rejects",
    "tool_calls",
    "patch_files",
    "patches",
    "price_files",
    "ingests",
    "run_records",
    "found_files",
    "sightings",
    "archive_members",
    "superseded_sources",
    "superseded_rejects",
    "annotations",
    "landings",
    "saved_views",
    "budgets",
    "measurements",
    "published",
    "loops",
    "experiments",
    "source_measures",
    "response_copies",
    "superseded_response_copies",
)
"""Tables that are copied, since they cannot be derived from the raw records."""


@dataclass(frozen=True)
class RebuildReport:
    """`runs`: records that were read again; `rejects`.

    Records that were runs before and can no longer be read.

    `unread`: files in which the old version found nothing or something unreadable; `left`: tables
    that could not be copied, with their number of rows.
    """

    runs: int
    rejects: int
    unread: int = 0
    left: Mapping[str, int] = field(default_factory=dict)


def rebuild(
    store: Store, on_progress: Callable[[int, int], None] | None = None, *, keeps_text: bool = True
) -> RebuildReport:
    """Make a new store beside the old one and replace it.

    `on_progress` is called with (records done, all records).

    Without `keeps_text`, texts of records are dropped (`ingest.agents.textless`); annotations stay.
    """
    runs, refused = 0, 0
    with store.replacing() as (previous, writer):
        connection = writer.connection
        tables_before = "select table_name from duckdb_tables() where database_name = 'previous'"
        known = {str(name) for (name,) in connection.execute(tables_before).fetchall()}
        left = _copy_kept(connection, known)
        # what --retry-rejects reads again
        unread_sql = (
            "select count(*) from sources where rejected > 0 or list_contains($kinds, kind)"
        )
        [(unread,)] = connection.execute(
            unread_sql, {"kinds": [*map(str, MAY_HOLD_RUNS)]}
        ).fetchall()
        _hide_secrets(connection)
        [(total,)] = previous.execute("select count(*) from previous.runs").fetchall()
        if not keeps_text:
            _drop_texts(connection)
        columns = {
            name for (name, *_) in previous.execute("describe previous.runs").fetchall()
        }  # an older store lacks the newer ones
        kept = ", ".join(
            column for column in ("ordinal", "raw", *FACT_COLUMNS) if column in columns
        )
        for batch in previous.sql(
            f"select {kept} from previous.runs order by source_id, ordinal"
        ).to_arrow_reader(BATCH):
            records = [
                (Document(row.pop("ordinal"), "kept record", row.pop("raw")), _facts(row))
                for row in batch.to_pylist()
            ]
            tables, rejects = read_batch(records, keeps_text=keeps_text)
            for table in tables:
                writer.insert_table(table.name, table.rows)
            writer.insert("rejects", rejects)
            for row in rejects:
                moved = (
                    "update sources set accepted = accepted - 1, rejected = rejected + 1 where "
                    "source_id = $source_id"
                )
                connection.execute(moved, {"source_id": row.source_id})
            runs, refused = runs + len(records) - len(rejects), refused + len(rejects)
            if on_progress:
                on_progress(runs + refused, total)
        run_step(
            connection, "rebuild/renamed"
        )  # records and annotations keep to their runs, which another version may call otherwise
        if "run_records" not in known:  # an older store has only the kept records
            run_step(connection, "rebuild/kept_before")
        if "published" not in known:
            run_step(connection, "rebuild/judged_before")
        run_step(connection, "rebuild/ingested_by")
        if "sightings" not in known:
            _note_found(connection, has_labels="source_labels" in known)
        if "run_records" in known:
            connection.execute(
                "update store_meta set last_ingest = (select max(last_ingest) from "
                "previous.store_meta)"
            )
        _merge_records(writer)
        name_projects(connection, "select run_id from runs")
        rechain(connection, ALL_PROCESSES)
        price(writer, "select run_id from runs")
        note_cross_checks(connection, "select run_id from runs")
    return RebuildReport(runs, refused, unread, left)


def _copy_kept(connection: duckdb.DuckDBPyConnection, known: set[str]) -> dict[str, int]:
    """Copy the columns that both versions have.

    Returns the tables skipped for lack of a required column, with their number of rows.

    `known`: the tables of the previous store.
    """
    columns_sql = """
        select column_name, not is_nullable and column_default is null as is_required
        from duckdb_columns()
        where database_name = $database and table_name = $table
        order by column_index"""
    left = dict[str, int]()
    for table in [table for table in _KEPT_TABLES if table in known]:
        before, now = (
            dict(connection.execute(columns_sql, {"database": database, "table": table}).fetchall())
            for database in (PREVIOUS, ALIAS)
        )
        columns = {name: f'"{name}"' for name in now if name in before}
        if table == "sources":  # of version 3, which had no kind
            kind = "case when container = 'zip' or starts_with(container, 'tar') then 'archive'"
            columns = {
                "kind": f"{kind} when container = 'sidecar' then 'sidecar' else 'log' end"
            } | columns
        if all(name in columns for name, is_required in now.items() if is_required):
            listed = ", ".join(f'{value} as "{name}"' for name, value in columns.items())
            connection.execute(
                f"insert into {table} by name select {listed} from {PREVIOUS}.{table}"
            )
        elif rows := connection.execute(f"select count(*) from {PREVIOUS}.{table}").fetchall()[0][
            0
        ]:
            left[table] = rows
    return left


def _note_found(connection: duckdb.DuckDBPyConnection, *, has_labels: bool) -> None:
    """Note what the ingests of an older store found, as far as it is known.

    What they read, and known files that they labelled.
    """
    labelled = (
        "select source_id, ingest_id, labels from previous.source_labels"
        if has_labels
        else "select null as source_id, null as ingest_id, map {} as labels limit 0"
    )
    made(connection, "labelled", labelled)
    run_step(connection, "rebuild/found_before")


def _hide_secrets(connection: duckdb.DuckDBPyConnection) -> None:
    """Mask secrets in command lines, which older versions stored as they were."""
    for (command,) in connection.execute("select distinct command from ingests").fetchall():
        if command and (shown := scrubbed_command(command)) != command:
            connection.execute(
                "update ingests set command = $shown where command = $command",
                {"shown": shown, "command": command},
            )


def _drop_texts(connection: duckdb.DuckDBPyConnection) -> None:
    """Remove the texts of copied rows: of rejects, and of saved context and figures of records."""
    connection.execute("delete from patches")
    connection.execute(
        f"update experiments set {', '.join(f'{name} = null' for name in TEXTS_OF_EXPERIMENTS)}"
    )
    for table in ("response_copies", "superseded_response_copies"):
        connection.execute(
            f"update {table} set {', '.join(f'{name} = null' for name in TEXTS_OF_RESPONSES)}"
        )
    for table in ("rejects", "superseded_rejects"):
        connection.execute(
            f"update {table} set detail = $detail, excerpt = ''", {"detail": NOT_KEPT}
        )

    def without_texts(text: str | None) -> str | None:
        """Return a record's columns (JSON) without texts."""
        without = TEXTS | {"patch": None}
        return text and json.dumps(
            {name: without.get(name, value) for name, value in json.loads(text).items()},
            separators=(",", ":"),
        )

    kept = (
        "select run_id, source_id, ordinal, raw, context, told from run_records where "
        "coalesce(raw, context, told) is not null"
    )
    for run_id, source_id, ordinal, raw, context, told in connection.execute(kept).fetchall():
        connection.execute(
            "update run_records set raw = $raw, context = $context, told = $told"
            " where run_id = $run_id and source_id = $source_id and ordinal = $ordinal",
            {
                "run_id": run_id,
                "source_id": source_id,
                "ordinal": ordinal,
                "raw": raw and raw_without_text(raw, run_id)[0],
                "context": without_texts(context),
                "told": without_texts(told),
            },
        )


def _merge_records(writer: Writer) -> None:
    """Re-read the figures of each record of runs with several records; merge them into the run."""
    complete_kept(writer.connection)
    run_step(writer.connection, "rebuild/several")
    for batch in batches(writer.connection, "several"):
        tables, _ = read_batch(batch)
        note_figures(writer, tables)
    if fold(writer.connection, "select run_id from runs"):
        recount(writer.connection, "select source_id from folding")
    merge(writer, "select run_id from run_records")
    if note_sessions(writer.connection, "select distinct session_id from response_copies"):
        made(writer.connection, "affected", "select null::varchar as run_id where false")
        bill(writer.connection)


def _facts(row: dict[str, Any]) -> Facts:
    lists = {name: tuple(row.get(name) or ()) for name in ("tools", "part_ids")}
    return Facts(**row | lists | {"labels": dict(row["labels"] or ())})
