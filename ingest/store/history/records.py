"""Every record of a run: the one it is made of, and the others, each with what is needed to make the run of it.

Each record of a run with several keeps its context and the figures that it tells, as JSON, so that the run has what any of them tells
(`merging`). A record that is not kept has its text only where that differs from the kept record's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import pyarrow as pa

from ingest.agents.base import CONTEXT_COLUMNS, Context, PatchText
from ingest.sources.document import Document
from ingest.store.database import Writer, made, run_step
from ingest.store.record_rows import RowTable
from ingest.store.statements import run
from schemas.rows.run import TOKEN_CLASSES, ModelUsageRow
from schemas.rows.tables import arrow_schema

BATCH = 1000
"""Records that are read again and written at a time."""

_OWN_COLUMNS = ("source_id", "labels", "repo", "task", "experiment", "context_rank")
"""Columns of the context that `run_records` has of every record."""

_FIGURES = (
    "agent", "session_id", "title", "outcome", "score", "duration_ms", "num_turns", "cost_reported_usd", "terminal_reason", "errors",
    "tokens_basis", *TOKEN_CLASSES,
)  # fmt: skip
"""Columns of a run that are no context, of which each record keeps its own."""

_TIMES = ("started_at", "ended_at")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KEYS = "reading, portion, document"

_AFFECTED = """
select run_id
from records
anti join winners using (reading, portion, document)
union
select run_id from winners where replaces is not null
"""
"""Runs that get another record."""

_NOTED = """
insert into run_records by name
select
    spooled.run_id, noted.source_id, noted.ordinal, $ingest_id as ingest_id, spooled.record_kind, noted.is_kept, labels, repo, task,
    experiment, record_rank, context_rank, {context} as context, {told} as told,
    case when sha256(spooled.raw) <> kept_hashes.hash then spooled.raw end as raw
from spool_runs as spooled
join noted using (run_id, reading, portion, document)
join kept_hashes using (run_id)
{around}
"""

_USAGE = f"""
left join (
    select run_id, {", ".join(f"sum({name})::bigint as {name}" for name in TOKEN_CLASSES)}
    from own_model_usage
    semi join {{among}} using (run_id)
    group by run_id
) as usage using (run_id)
"""
"""All tokens that the kept record of a run tells: those of `runs` may be the difference to an earlier record."""

_EARLIER = """
update run_records
set
    is_kept = run_records.is_kept and not earlier.is_replaced,
    context = coalesce(run_records.context, earlier.context),
    told = coalesce(run_records.told, earlier.told),
    raw = case
        when sha256(coalesce(run_records.raw, earlier.raw)) <> earlier.hash then coalesce(run_records.raw, earlier.raw)
    end
from (
    select
        run_id, spooled.raw, kept_hashes.hash, {context} as context, {told} as told,
        run_id in (select run_id from winners where replaces is not null) as is_replaced
    from own_runs as spooled
    join kept_hashes using (run_id)
    {usage}
    {around}
) as earlier
where run_records.run_id = earlier.run_id
"""
"""Of runs in the store that get another record: the records they had. One that is replaced keeps its text where the new one has another."""


_ALONE = """
update run_records
set context = coalesce(run_records.context, alone.context), told = coalesce(run_records.told, alone.told)
from (
    select run_id, {context} as context, {told} as told
    from own_runs as spooled
    {usage}
    {around}
    where run_id in (select run_id from {among})
) as alone
where run_records.run_id = alone.run_id and is_kept
"""
"""Of runs in the store: the record that they had alone until now."""


def note_records(connection: duckdb.DuckDBPyConnection, ingest_id: int) -> None:
    """Write the records of a commit. The runs that `winners` replaces must not be deleted yet."""
    if made(connection, "affected", _AFFECTED):
        run_step(connection, "records/noted")
        run_step(connection, "records/kept_hashes")
        run_step(connection, "records/own")
        told = _told("spooled", "usage")
        usage = _USAGE.format(among="affected")
        run(connection, _EARLIER.format(context=_context("spooled"), told=told, usage=usage, around=_around("own_", "run_id")))
        noted = _NOTED.format(context=_context("spooled"), told=_told("spooled", "spooled"), around=_around("spool_", _KEYS))
        run(connection, noted, {"ingest_id": ingest_id})
    run_step(connection, "records/kept", {"ingest_id": ingest_id})


def note_alone(connection: duckdb.DuckDBPyConnection, among: str) -> None:
    """Note context and figures of the kept records of some runs that had no other record (`among`: a table with their ids)."""
    run_step(connection, "records/own")
    usage, around = _USAGE.format(among=among), _around("own_", "run_id", among)
    told = _told("spooled", "usage")
    run(connection, _ALONE.format(context=_context("spooled"), told=told, usage=usage, around=around, among=among))


def complete_kept(connection: duckdb.DuckDBPyConnection) -> None:
    """Note context and figures of kept records that have none although their run has several records: so did version 6 of the tables."""
    run_step(connection, "records/own")
    run(
        connection,
        "create or replace temp table affected as"
        " select run_id from run_records group by run_id having count(*) > 1 and count(*) filter (is_kept and context is null) > 0",
    )
    run(
        connection,
        f"update run_records set context = earlier.context from (select run_id, {_context('spooled')} as context"
        f" from own_runs as spooled"
        f" {_around('own_', 'run_id')} where run_id in (select run_id from affected)) as earlier"
        " where run_records.run_id = earlier.run_id and is_kept",
    )


def note_told(writer: Writer, read: Sequence[RowTable]) -> None:
    """Note what some records tell that were read again."""
    tables = {table.name: table.rows.append_column("record", pa.array(table.records, pa.int64())) for table in read}
    if "runs" not in tables:
        return
    none = arrow_schema(ModelUsageRow).append(pa.field("record", pa.int64())).empty_table()
    writer.connection.register("again", tables["runs"])
    writer.connection.register("usage_again", tables.get("model_usage", none))
    run(
        writer.connection,
        "update run_records set told = noted.told"
        f" from (select source_id, ordinal, {_told('again', 'again')} as told from again {_only_model('usage_again', 'record')}) as noted"
        " where run_records.source_id = noted.source_id and run_records.ordinal = noted.ordinal and context is not null",
    )
    writer.connection.unregister("again")
    writer.connection.unregister("usage_again")


def batches(connection: duckdb.DuckDBPyConnection, records: str) -> Iterator[list[tuple[Document, Context]]]:
    """Records to read again, some at a time. `records`: a table like `run_records` with `raw` in every row and `number` from 1."""
    [(last,)] = run(connection, f"select coalesce(max(number), 0) from {records}").fetchall()
    for first in range(1, last + 1, BATCH):
        rows = connection.sql(f"select * from {records} where number between {first} and {first + BATCH - 1} order by number")
        yield [(Document(row["ordinal"], "kept record", row["raw"]), context(row)) for row in rows.to_arrow_table().to_pylist()]


def relabel(connection: duckdb.DuckDBPyConnection, runs: str) -> None:
    """Give some runs the labels of all their records (`runs`: SQL that selects their ids)."""
    if made(connection, "relabelled", runs):
        run_step(connection, "records/labels")


def recount(connection: duckdb.DuckDBPyConnection, sources: str) -> None:
    """Count the runs and duplicates of some sources again (`sources`: SQL that selects their ids)."""
    made(connection, "recounted", sources)
    run_step(connection, "records/counts")


def context(row: Mapping[str, Any]) -> Context:
    """The context of a record of a run with several, from its row of `run_records`."""
    kept = json.loads(row["context"])
    own = {name: row[name] for name in _OWN_COLUMNS} | {"labels": dict(row["labels"] or ())}
    times = {name: None if kept[name] is None else _EPOCH + timedelta(microseconds=kept[name]) for name in _TIMES}
    calls = tuple((call["tool"], call["calls"], call["errors"]) for call in kept.pop("tool_calls") or ())
    changes = tuple((one["path"], one["insertions"], one["deletions"]) for one in kept.pop("patch_changes") or ())
    lists = {name: tuple(kept.get(name) or ()) for name in ("tools", "part_ids")}
    patch = PatchText(**kept["patch"]) if kept.get("patch") else None
    return Context(**kept | own | times | lists | {"tool_calls": calls, "patch_changes": changes, "patch": patch})


def _context(table: str) -> str:
    """SQL for the context of a row of `runs` as JSON."""
    named = [name for name in CONTEXT_COLUMNS if name not in _OWN_COLUMNS]
    fields = {name: f"epoch_us({table}.{name})" if name in _TIMES else f"{table}.{name}" for name in named}
    return _json(fields | {"tool_calls": "calls.listed", "patch_changes": "changes.listed", "patch": "patch.kept"})


def _told(table: str, usage: str) -> str:
    """SQL for the figures of a row of `runs` as JSON. `usage`: the table with all tokens that the record tells.

    `has_text`: whether it has a summary; `model_id`: the only model that it names, as logged, from the table `named`.
    """
    figures = {name: f"{usage if name in TOKEN_CLASSES else table}.{name}" for name in _FIGURES}
    return _json(figures | {"has_text": f"coalesce({table}.result, '') <> ''", "model_id": "named.model_id"})


def _json(fields: Mapping[str, str]) -> str:
    return f"to_json(struct_pack({', '.join(f'{name} := {value}' for name, value in fields.items())}))::varchar"


def _around(prefix: str, keys: str, among: str = "affected") -> str:
    """SQL that joins the tool calls, the patch with its files and the only model of each record."""
    call, change = "{'tool': tool, 'calls': calls, 'errors': errors}", "{'path': path, 'insertions': insertions, 'deletions': deletions}"
    patch = "{'file_name': file_name, 'bytes': bytes, 'is_cut': is_cut, 'text': text}"
    semi = f"semi join {'noted' if prefix == 'spool_' else among} using ({keys})"
    return (
        f"left join (select {keys}, list({call} order by tool) as listed from {prefix}tool_calls {semi} group by {keys})"
        f" as calls using ({keys})"
        f" left join (select {keys}, list({change} order by path) as listed from {prefix}patch_files {semi} group by {keys})"
        f" as changes using ({keys})"
        f" left join (select {keys}, any_value({patch}) as kept from {prefix}patches {semi} group by {keys}) as patch using ({keys})"
        f" {_only_model(f'{prefix}model_usage {semi}', keys)}"
    )


def _only_model(usage: str, keys: str) -> str:
    """SQL that joins the model of each record that names one alone."""
    return (
        f" left join (select {keys}, min(model_id) as model_id from {usage} group by {keys} having count(distinct model_id) = 1)"
        f" as named using ({keys})"
    )
