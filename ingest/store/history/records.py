"""Every record of a run: the one it is made of, and its copies, each with what is needed to make the run of it.

A copy keeps its context as JSON. It keeps its text only where that differs from the kept record's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb

from ingest.agents.base import CONTEXT_COLUMNS, Context
from ingest.store.database import run_step

_OWN_COLUMNS = ("source_id", "labels", "repo", "task", "experiment", "context_rank")
"""Columns of the context that `run_records` has of every record."""

_TIMES = ("started_at", "ended_at")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KEYS = "reading, portion, document"

_COPIES = """
insert into run_records by name
select
    spooled.run_id, copies.source_id, copies.ordinal, $ingest_id as ingest_id, spooled.record_kind, false as is_kept, labels, repo,
    task, experiment, record_rank, context_rank, {context} as context,
    case when sha256(spooled.raw) <> kept_hashes.hash then spooled.raw end as raw
from spool_runs as spooled
join copies using (run_id, reading, portion, document)
join kept_hashes using (run_id)
{around}
"""

_REPLACED = """
update run_records
set
    is_kept = false,
    context = case when run_records.is_kept then earlier.context else run_records.context end,
    raw = case
        when sha256(coalesce(run_records.raw, earlier.raw)) <> earlier.hash then coalesce(run_records.raw, earlier.raw)
    end
from (
    select run_id, spooled.raw, kept_hashes.hash, {context} as context
    from runs as spooled
    join kept_hashes using (run_id)
    {around}
    where run_id in (select run_id from winners where replaces is not null)
) as earlier
where run_records.run_id = earlier.run_id
"""
"""Of a run that gets another record: its record before becomes a copy, which keeps its text where the new one has another."""


def note_records(connection: duckdb.DuckDBPyConnection, ingest_id: int) -> None:
    """Write the records of a commit. The runs that `winners` replaces must not be deleted yet."""
    run_step(connection, "records/copies")
    if connection.execute("select 1 from affected limit 1").fetchone():
        run_step(connection, "records/kept_hashes")
        connection.execute(_REPLACED.format(context=_context("spooled"), around=_around("", "run_id")))
        copies = _COPIES.format(context=_context("spooled"), around=_around("spool_", _KEYS))
        connection.execute(copies, {"ingest_id": ingest_id})
    run_step(connection, "records/kept", {"ingest_id": ingest_id})


def relabel(connection: duckdb.DuckDBPyConnection, runs: str) -> None:
    """Give some runs the labels of all their records (`runs`: SQL that selects their ids)."""
    connection.execute(f"create or replace temp table relabelled as {runs}")
    if connection.execute("select 1 from relabelled limit 1").fetchone():
        run_step(connection, "records/labels")


def recount(connection: duckdb.DuckDBPyConnection, sources: str) -> None:
    """Count the runs and duplicates of some sources again (`sources`: SQL that selects their ids)."""
    connection.execute(f"create or replace temp table recounted as {sources}")
    run_step(connection, "records/counts")


def context(row: Mapping[str, Any]) -> Context:
    """The context of a copy, from its row of `run_records`."""
    kept = json.loads(row["context"])
    own = {name: row[name] for name in _OWN_COLUMNS} | {"labels": dict(row["labels"] or ())}
    times = {name: None if kept[name] is None else _EPOCH + timedelta(microseconds=kept[name]) for name in _TIMES}
    calls = tuple((call["tool"], call["calls"], call["errors"]) for call in kept.pop("tool_calls") or ())
    changes = tuple((one["path"], one["insertions"], one["deletions"]) for one in kept.pop("patch_changes") or ())
    return Context(**kept | own | times | {"tools": tuple(kept["tools"] or ()), "tool_calls": calls, "patch_changes": changes})


def _context(table: str) -> str:
    """SQL for the context of a row of `runs` as JSON."""
    named = [name for name in CONTEXT_COLUMNS if name not in _OWN_COLUMNS]
    fields = {name: f"epoch_us({table}.{name})" if name in _TIMES else f"{table}.{name}" for name in named}
    fields |= {"tool_calls": "calls.listed", "patch_changes": "changes.listed"}
    return f"to_json(struct_pack({', '.join(f'{name} := {value}' for name, value in fields.items())}))::varchar"


def _around(prefix: str, keys: str) -> str:
    """SQL that joins the tool calls and the files in the patch of each record."""
    call, change = "{'tool': tool, 'calls': calls, 'errors': errors}", "{'path': path, 'insertions': insertions, 'deletions': deletions}"
    semi = f"semi join {'copies' if prefix else 'affected'} using ({keys})"
    return (
        f"left join (select {keys}, list({call} order by tool) as listed from {prefix}tool_calls {semi} group by {keys})"
        f" as calls using ({keys})"
        f" left join (select {keys}, list({change} order by path) as listed from {prefix}patch_files {semi} group by {keys})"
        f" as changes using ({keys})"
    )
