"""Every record of a run.

The kept one, which the run is made of, and the others, each complete enough to make the run from
it.

If a run has several records, each saves its context and figures as JSON, and the run merges them.
The run is made again whenever a record comes or goes, so the order of records changes nothing. A
record that is not kept has its text only if it differs from the kept record's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

import duckdb
import pyarrow as pa

from ingest.agents.base import CHILD_TABLES, FACT_COLUMNS, FACTS, Rows
from ingest.agents.shared.telemetry import joined
from ingest.agents.textless import reject_without_text, without_text
from ingest.facts import Facts, PatchText
from ingest.sources.document import Document
from ingest.store.annotations import LABEL_COLUMNS
from ingest.store.database import Writer, arrow, made, registered, run_step
from ingest.store.record_rows import RowTable, checked_tables, completed_tables, read_record
from schemas.catalogue.rules import FINDING_RULES
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.run import TOKEN_CLASSES, ModelUsageRow, Outcome
from schemas.rows.source import RejectRow
from schemas.rows.tables import arrow_schema
from schemas.wire.launch import EXIT_CODE

BATCH = 1000

_OWN_COLUMNS = ("source_id", "labels", "repo", "task", "experiment", "effort", "context_rank")
"""Columns of facts that `run_records` has for every record."""

_FIGURES = (
    "agent",
    "session_id",
    "title",
    "outcome",
    "score",
    "duration_ms",
    "num_turns",
    "cost_reported_usd",
    "terminal_reason",
    "errors",
    "tokens_basis",
    *TOKEN_CLASSES,
)
"""Columns of a run that are not context: each record keeps its own values."""

_TIMES = ("started_at", "ended_at")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_AFFECTED = """
select run_id
from records
anti join winners using (reading, portion, document)
union
select run_id from winners where replaces is not null
"""

_NOTED = """
insert into run_records by name
select
    spooled.run_id, noted.source_id, noted.ordinal, $ingest_id as ingest_id, spooled.record_kind,
        noted.is_kept, labels, repo, task,
    experiment, effort, record_rank, context_rank, {context} as context, {figures} as told,
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
"""All tokens of a run's kept record; those in `runs` may be the difference to an earlier record."""

_EARLIER = """
update run_records
set
    is_kept = run_records.is_kept and not earlier.is_replaced,
    context = coalesce(run_records.context, earlier.context),
    told = coalesce(run_records.told, earlier.told),
    raw = case
        when sha256(coalesce(run_records.raw, earlier.raw)) <> earlier.hash then
            coalesce(run_records.raw, earlier.raw)
    end
from (
    select
        run_id, spooled.raw, kept_hashes.hash, {context} as context, {figures} as told,
        run_id in (select run_id from winners where replaces is not null) as is_replaced
    from own_runs as spooled
    join kept_hashes using (run_id)
    {usage}
    {around}
) as earlier
where run_records.run_id = earlier.run_id
"""
"""Existing records of runs that get another one. A replaced record keeps its text if the new one's
differs.
"""


_ALONE = """
update run_records
set context = coalesce(run_records.context, alone.context), told = coalesce(run_records.told,
    alone.told)
from (
    select run_id, {context} as context, {figures} as told
    from own_runs as spooled
    {usage}
    {around}
    where run_id in (select run_id from {among})
) as alone
where run_records.run_id = alone.run_id and is_kept
"""


def note_records(connection: duckdb.DuckDBPyConnection, ingest_id: int) -> None:
    """Write the records of a commit. Call it before the runs replaced by `winners` are deleted."""
    if made(connection, "affected", _AFFECTED):
        run_step(connection, "records/noted")
        run_step(connection, "records/kept_hashes")
        run_step(connection, "records/own")
        context, figures, usage = (
            _context("spooled"),
            _figures("spooled", "usage"),
            _USAGE.format(among="affected"),
        )
        connection.execute(
            _EARLIER.format(
                context=context, figures=figures, usage=usage, around=_around("own_", "run_id")
            )
        )
        around = _around("spool_", "reading, portion, document", "noted")
        noted = _NOTED.format(
            context=context, figures=_figures("spooled", "spooled"), around=around
        )
        connection.execute(noted, {"ingest_id": ingest_id})
    run_step(connection, "records/kept", {"ingest_id": ingest_id})


def note_alone(connection: duckdb.DuckDBPyConnection, among: str) -> None:
    """Save context and figures of the kept records of runs that had no other record.

    `among`: a table with their ids.
    """
    run_step(connection, "records/own")
    usage, around = _USAGE.format(among=among), _around("own_", "run_id", among)
    connection.execute(
        _ALONE.format(
            context=_context("spooled"),
            figures=_figures("spooled", "usage"),
            usage=usage,
            around=around,
            among=among,
        )
    )


def complete_kept(connection: duckdb.DuckDBPyConnection) -> None:
    """Add the missing context of kept records of runs with several records.

    Version 6 of the tables left them so.
    """
    run_step(connection, "records/own")
    several = (
        "select run_id from run_records group by run_id having count(*) > 1 and count(*) filter "
        "(is_kept and context is null) > 0"
    )
    made(connection, "affected", several)
    connection.execute(
        f"""
        update run_records set context = earlier.context
        from (
            select run_id, {_context("spooled")} as context
            from own_runs as spooled
            {_around("own_", "run_id")}
            where run_id in (select run_id from affected)
        ) as earlier
        where run_records.run_id = earlier.run_id and is_kept
        """
    )


def note_figures(writer: Writer, read: Sequence[RowTable]) -> None:
    """Save the figures of re-read records."""
    tables = {
        table.name: table.rows.append_column("record", pa.array(table.records, pa.int64()))
        for table in read
    }
    if "runs" not in tables:
        return
    none = arrow_schema(ModelUsageRow).append(pa.field("record", pa.int64())).empty_table()
    with registered(
        writer.connection, again=tables["runs"], usage_again=tables.get("model_usage", none)
    ):
        writer.connection.execute(
            f"""
            update run_records set told = noted.told
            from (
                select source_id, ordinal, {_figures("again", "again")} as told from again
                    {_only_model("usage_again", "record")}
            ) as noted
            where run_records.source_id = noted.source_id and run_records.ordinal = noted.ordinal
                and context is not null
            """
        )


def _context(table: str) -> str:
    """Return SQL for the context columns of a row of `runs` as JSON."""
    named = [name for name in FACT_COLUMNS if name not in _OWN_COLUMNS]
    fields = {
        name: f"epoch_us({table}.{name})" if name in _TIMES else f"{table}.{name}" for name in named
    }
    return _json(
        fields
        | {"tool_calls": "calls.listed", "patch_changes": "changes.listed", "patch": "patch.kept"}
    )


def _figures(table: str, usage: str) -> str:
    """Return SQL for the figures of a row of `runs` as JSON.

    `usage`: the table with the tokens of the record.

    `has_text`: whether it has a summary; `model_id`: its model as logged, if it names exactly one,
    from the table `named`.
    """
    figures = {name: f"{usage if name in TOKEN_CLASSES else table}.{name}" for name in _FIGURES}
    return _json(
        figures | {"has_text": f"coalesce({table}.result, '') <> ''", "model_id": "named.model_id"}
    )


def _json(fields: Mapping[str, str]) -> str:
    packed = ", ".join(f"{name} := {value}" for name, value in fields.items())
    return f"to_json(struct_pack({packed}))::varchar"


def _around(prefix: str, keys: str, among: str = "affected") -> str:
    """Return SQL that joins each record's tool calls, patch with files, and only model."""
    semi = f"semi join {among} using ({keys})"
    return f"""
    left join (
        select {keys}, list({{'tool': tool, 'calls': calls, 'errors': errors}} order by tool) as
            listed
        from {prefix}tool_calls {semi} group by {keys}
    ) as calls using ({keys})
    left join (
        select {keys}, list({{'path': path, 'insertions': insertions, 'deletions': deletions}} order
            by path) as listed
        from {prefix}patch_files {semi} group by {keys}
    ) as changes using ({keys})
    left join (
        select {keys}, any_value({{
            'file_name': file_name, 'bytes': bytes, 'is_cut': is_cut, 'text': text
        }}) as kept
        from {prefix}patches {semi} group by {keys}
    ) as patch using ({keys})
    {_only_model(f"{prefix}model_usage {semi}", keys)}
    """


def _only_model(usage: str, keys: str) -> str:
    """Return SQL that joins the model of each record that names exactly one."""
    return f"""
    left join (
        select {keys}, min(model_id) as model_id from {usage} group by {keys} having count(distinct
            model_id) = 1
    ) as named using ({keys})
    """


def relabel(connection: duckdb.DuckDBPyConnection, runs: str) -> None:
    """Give runs the labels of all their records (`runs`: SQL that selects their ids)."""
    if made(connection, "relabelled", runs):
        run_step(connection, "records/labels")


def name_projects(connection: duckdb.DuckDBPyConnection, runs: str) -> None:
    """Name the projects of runs from all their records (`runs`: SQL that selects their ids)."""
    if made(connection, "named_again", runs):
        run_step(connection, "projects/macros")
        run_step(connection, "projects/renamed")


def recount(connection: duckdb.DuckDBPyConnection, sources: str) -> None:
    """Recount the runs and duplicates of some sources (`sources`: SQL that selects their ids)."""
    made(connection, "recounted", sources)
    run_step(connection, "records/counts")


# Kept records, read once more: for a rebuild, an undo, and a run with several records


def batches(
    connection: duckdb.DuckDBPyConnection, records: str
) -> Iterator[list[tuple[Document, Facts]]]:
    """Yield records to re-read in batches.

    `records`: a table like `run_records` with `raw` in every row and `number` from 1.
    """
    for rows in _numbered(connection, records, "number"):
        yield [(Document(row["ordinal"], "kept record", row["raw"]), context(row)) for row in rows]


def _numbered(
    connection: duckdb.DuckDBPyConnection, table: str, order: str
) -> Iterator[list[dict[str, Any]]]:
    [(last,)] = connection.execute(f"select coalesce(max(number), 0) from {table}").fetchall()
    for first in range(1, last + 1, BATCH):
        sql = (
            f"select * from {table} where number between {first} and {first + BATCH - 1} order "
            f"by {order}"
        )
        yield arrow(connection, sql).to_pylist()


def context(row: Mapping[str, Any]) -> Facts:
    """Return the facts about a record from its row of `run_records`."""
    kept = json.loads(row["context"])
    own = {name: row[name] for name in _OWN_COLUMNS} | {"labels": dict(row["labels"] or ())}
    times = {
        name: None if kept.get(name) is None else _EPOCH + timedelta(microseconds=kept[name])
        for name in _TIMES
    }
    calls = tuple(
        (call["tool"], call["calls"], call["errors"]) for call in kept.pop("tool_calls") or ()
    )
    changes = tuple(
        (one["path"], one["insertions"], one["deletions"])
        for one in kept.pop("patch_changes") or ()
    )
    lists = {name: tuple(kept.get(name) or ()) for name in ("tools", "part_ids")}
    patch = PatchText(**kept["patch"]) if kept.get("patch") else None
    return Facts(
        **kept
        | own
        | times
        | lists
        | {"tool_calls": calls, "patch_changes": changes, "patch": patch}
    )


def read_one(document: Document, facts: Facts) -> Rows:
    """Return the rows of one record, before `complete`, with unchecked values.

    Raises InvalidRecord.
    """
    rows = read_record(document, facts)
    if rows is None:
        raise InvalidRecord(RejectReason.NO_RECORD, "this record's format is no longer supported")
    return rows


def read_batch(
    batch: Iterable[tuple[Document, Facts]], *, keeps_text: bool = True
) -> tuple[list[RowTable], list[RejectRow]]:
    """Return tables of readable records and rejects of others, without texts.

    Texts are kept if `keeps_text`.
    """
    read: list[tuple[Document, Facts, Rows]] = []
    refused: list[tuple[Document, Facts, InvalidRecord]] = []
    for document, around in batch:
        try:
            rows = read_one(document, around)
            read.append((document, around, rows if keeps_text else without_text(rows)))
        except InvalidRecord as error:
            refused.append((document, around, error))
    tables, wrong = checked_tables([rows for _, _, rows in read], completed_tables)
    refused += [(*read[place][:2], error) for place, error in wrong.items()]
    rejects = []
    for document, around, reason in refused:
        part = document.refused(reason.reason, reason.detail)
        rejects.append((part if keeps_text else reject_without_text(part)).row(around.source_id))
    return tables, rejects


# The run that several records make together


def merge(writer: Writer, runs: str) -> bool:
    """Merge what all records of some runs say into the runs (`runs`: SQL that selects their ids).

    Returns whether there are any. `repriced` has those that must be priced again: with another
    cost, day, model or findings.
    """
    connection = writer.connection
    several = (
        f"select distinct run_id from run_records semi join ({runs}) using (run_id) where told "
        "is not null"
    )
    if not made(connection, "merging", several):
        return False
    _join_telemetry(writer)
    for step in ("telling", "lent", "counted_cost", "merged"):
        run_step(connection, f"records/{step}")
    connection.execute("insert into repriced select run_id from joined where is_remade")
    _read_merged(writer)
    run_step(connection, "records/cleared")
    return True


def _join_telemetry(writer: Writer) -> None:
    """Join the parts of telemetry in `merging`.

    `joined` has what all parts of a run tell `together`, as JSON like `told`.

    A run that is made of telemetry is written again. A part that cannot be read stays by itself.
    """
    connection = writer.connection
    run_step(connection, "records/parts_of_telemetry")
    together: list[dict[str, Any]] = []
    for records in _numbered(
        connection,
        "parts_of_telemetry",
        "number, is_kept desc, record_rank desc, source_id, ordinal",
    ):
        remade: list[Rows] = []
        for run_id, of_run in groupby(records, key=lambda row: row["run_id"]):
            with suppress(
                Exception
            ):  # whatever a kept record is, the commit goes on without what it would add
                [first, *others] = of_run
                run = joined([row["raw"] for row in (first, *others)], run_id)
                if run is None:
                    continue
                own: dict[str, Any] = {
                    "started_at": run.started_at,
                    "ended_at": run.ended_at,
                    "time_source": "stream" if run.started_at else None,
                }
                own |= {
                    name: getattr(run, name)
                    for name in (
                        "agent_version",
                        "requested_model",
                        "prompt",
                        "part_ids",
                        "tool_calls",
                    )
                }
                rows = read_one(
                    Document(first["ordinal"], "kept record", run.as_json()),
                    replace(context(first), **own),
                )
                figures = {name: getattr(rows.run, name) for name in _FIGURES} | {
                    "has_text": bool(rows.run.result)
                }
                times = {
                    name: own[name] and (own[name] - _EPOCH) // timedelta(microseconds=1)
                    for name in _TIMES
                }
                calls = [
                    {"tool": tool, "calls": count, "errors": errors}
                    for tool, count, errors in run.tool_calls
                ]
                figures |= own | times | {"tool_calls": calls}
                together.append(
                    {
                        "run_id": run_id,
                        "together": json.dumps(figures, default=str),
                        "is_remade": first["is_kept"],
                    }
                )
                if first["is_kept"]:
                    shown = {name: first[f"run_{name}"] for name in LABEL_COLUMNS}
                    shown |= {name: first[name] for name in ("record_rank", "context_rank", "raw")}
                    shown |= {"labels": dict(first["run_labels"] or ())}
                    remade.append(rows._replace(run=rows.run.completed(shown)))
        tables = checked_tables(remade, completed_tables)[0]
        again = {table.name: table.rows for table in tables}
        if "runs" not in again:
            continue
        with registered(connection, again=again["runs"]):
            for table in ("runs", *CHILD_TABLES):
                connection.execute(
                    f"delete from {table} where run_id in (select run_id from again)"
                )
        for name, rows_again in again.items():
            writer.insert_table(name, rows_again)
    schema = pa.schema({"run_id": pa.string(), "together": pa.string(), "is_remade": pa.bool_()})
    with registered(connection, joined_rows=pa.Table.from_pylist(together, schema)):
        made(connection, "joined", "select * from joined_rows")


def _read_merged(writer: Writer) -> None:
    """Re-read the kept records of the runs in `borrowing`, with values of another record.

    These values are its summary or model name.

    So claims, statements and findings are those of the run as it is shown. They are added to
    `repriced`. A record that cannot be read stays as it is.
    """
    connection = writer.connection
    run_step(connection, "records/borrowed")
    for records in _numbered(connection, "borrowed", "number, is_kept desc"):
        merged: list[Rows] = []
        for _, of_run in groupby(records, key=lambda row: row["run_id"]):
            with suppress(
                Exception
            ):  # whatever a kept record is, the commit goes on without what it would add
                read = []
                for row in of_run:
                    around = context(row)
                    if row["is_kept"]:
                        around = replace(around, harness_model=row["model_id"])
                    read.append(
                        (row, read_one(Document(row["ordinal"], "kept record", row["raw"]), around))
                    )
                (row, rows), *others = read
                text = (
                    {
                        name: getattr(others[0][1].run, name)
                        for name in ("result", "result_repaired")
                    }
                    if others
                    else {}
                )
                code = row["exit_code"] or ""  # a rule compares it with what the kept record says
                outcome = rows.run.outcome if code else Outcome(row["merged"]["outcome"])
                run = rows.run.completed(
                    row["merged"] | text | {"outcome": outcome, "labels": {EXIT_CODE: code}}
                )
                merged.append(rows._replace(run=run))
        tables = {table.name: table.rows for table in checked_tables(merged, completed_tables)[0]}
        if "runs" not in tables:
            continue
        with registered(
            connection,
            completed_runs=tables["runs"],
            summary_rules=pa.table({"rule": list(FINDING_RULES)}),
        ):
            run_step(connection, "records/completed")
        for name in FACTS.keys() & tables.keys():
            writer.insert_table(name, tables[name])
        with registered(
            connection, usage=tables.get("model_usage", arrow_schema(ModelUsageRow).empty_table())
        ):
            connection.execute(
                "insert into model_usage by name select * from usage semi join nameless "
                "using (run_id)"
            )
