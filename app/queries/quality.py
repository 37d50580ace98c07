"""Quality of the data: known facts of runs, rejects with reasons, and results of sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from app.queries.filters import Filters, where
from app.queries.reading import fetch, fetch_rows
from ingest.store.database import Store
from schemas.file_kinds import NO_LOGS, FileKind
from schemas.unread_logs import AGENT_BY_DETAIL

FACTS = {
    "cost": ("Cost", "cost_best_usd", "cost_own_usd"),
    "wall": ("Wall time", "duration_ms", "duration_ms"),
    "end": ("How it ended", "is_completed", "outcome"),
    "date": ("Date", "dated_at", "started_at"),
    "task": ("Task", "task_key", "task"),
    "model": ("Model", "model", "model"),
    "turns": ("Turns", "num_turns", "num_turns"),
    "tokens": ("Tokens", "input_tokens", "input_tokens"),
    "api": ("API time", "duration_api_own_ms", "duration_api_own_ms"),
    "summary": ("Summary", "result", "result"),
}
"""Fact → its label, its column, and the column that shows whether an agent never logs it."""

WHOLE = "cost_best_usd is not null and duration_ms is not null and is_completed is not null"


@dataclass(frozen=True, slots=True)
class Told:
    """Known facts of the started runs of an agent, or of all (`is_all`).

    `known` by FACTS, and `whole` runs with all of them (WHOLE).
    """

    agent: str | None
    is_all: bool
    runs: int
    started: int
    whole: int
    known: dict[str, int]


def by_agent(store: Store, filters: Filters) -> list[Told]:
    """Return all runs in the first row, then each agent, the most frequent first.

    Raises StoreError.
    """
    condition = where(filters)
    counts = ", ".join(
        f"count({column}) filter (is_started) as {key}" for key, (_, column, _) in FACTS.items()
    )
    sql = f"""
        select agent, grouping(agent) = 1 as is_all, count(*) as runs, count(*) filter (is_started)
            as started,
               count(*) filter (is_started and {WHOLE}) as whole, {counts}
        from v_runs where {condition.sql} group by grouping sets ((), (agent)) order by is_all desc,
            runs desc, agent"""
    rows = fetch_rows(store, sql, condition.parameters)
    return [
        Told(
            row["agent"],
            row["is_all"],
            row["runs"],
            row["started"],
            row["whole"],
            {key: row[key] for key in FACTS},
        )
        for row in rows
    ]


def without_date(store: Store, source_ids: Sequence[str]) -> list[str]:
    """Return the ids of the runs of these sources that have no date. Raises StoreError."""
    sql = (
        "select run_id from v_runs where source_id in (select unnest($ids)) and dated_at is null "
        "order by run_id"
    )
    return [
        str(run_id) for run_id in fetch(store, sql, {"ids": list(source_ids)})["run_id"].to_pylist()
    ]


def rejects_by_reason(store: Store) -> pa.Table:
    """Return the rejected documents per reason: number, sources, and an example detail."""
    sql = """select reason, count(*) as rejected, count(distinct source_id) as sources,
                 min(detail) as detail
             from rejects group by reason order by rejected desc, reason"""
    return fetch(store, sql)


def rejects(store: Store, limit: int) -> pa.Table:
    """Return the first rejects of the newest sources.

    Source, position, reason, detail and beginning.
    """
    sql = f"""select sources.name as source_name, rejects.position, rejects.reason, rejects.detail,
                  rejects.excerpt
              from rejects left join sources using (source_id)
              order by sources.received_at desc, sources.name, rejects.ordinal limit {int(limit)}"""
    return fetch(store, sql)


def sources(store: Store, limit: int) -> pa.Table:
    """Return the newest sources and the results of their documents."""
    sql = f"""select name, {SAID_KIND}, documents, accepted, duplicates, rejected, ignored, bytes,
                  container, received_at
              from sources {WITH_UNREAD} order by received_at desc, name limit {int(limit)}"""
    return fetch(store, sql, unread_details())


def unread(store: Store) -> dict[str, int]:
    """Return the number of sources from unsupported agents, by agent."""
    sql = (
        f"select unread, count(*) as files from sources {WITH_UNREAD} where unread is not null "
        "group by unread"
    )
    return {row["unread"]: int(row["files"]) for row in fetch_rows(store, sql, unread_details())}


def documents(store: Store) -> dict[str, int]:
    """Return what `ingest` counted: files read (`sources`), their documents and results.

    `copies`: files with the bytes of another one. Their runs are duplicates.
    """
    sql = """
        with files as (
            select source_id, count(distinct name) as files from found_files group by source_id
        )
        select
            coalesce(sum(files), 0)::bigint as sources,
            coalesce(sum(files - 1), 0)::bigint as copies,
            coalesce(sum(files * documents), 0)::bigint as documents,
            coalesce(sum(accepted), 0)::bigint as accepted,
            coalesce(sum(files * (accepted + duplicates) - accepted), 0)::bigint as duplicates,
            coalesce(sum(files * rejected), 0)::bigint as rejected,
            coalesce(sum(files * ignored), 0)::bigint as ignored
        from files join sources using (source_id)"""
    [row] = fetch_rows(store, sql)
    return {str(name): int(count) for name, count in row.items()}


def no_logs(store: Store) -> dict[FileKind, int]:
    """Return the number of sources that are not logs, by kind."""
    sql = (
        "select kind, count(*) as files from sources where list_contains($kinds, kind) group by "
        "kind"
    )
    table = fetch(store, sql, {"kinds": [*map(str, NO_LOGS)]})
    return {FileKind(row["kind"]): int(row["files"]) for row in table.to_pylist()}


def ingests(store: Store) -> pa.Table:
    """Return every ingest that changed the store, newest first."""
    return fetch(store, "select * exclude (price_file) from ingests order by ingest_id desc")


def every_reject(store: Store) -> pa.Table:
    """Return every reject with the name of its source."""
    sql = """select sources.name as source_name, rejects.position, rejects.reason, rejects.detail,
                 rejects.excerpt, rejects.ordinal, rejects.source_id
             from rejects left join sources using (source_id)
             order by sources.name, rejects.ordinal"""
    return fetch(store, sql)


def every_source(store: Store) -> pa.Table:
    """Return every source with the results of its documents, newest first."""
    sql = f"""select sources.* exclude (modified_ns, resume_at, goes_on) replace ({SAID_KIND})
              from sources {WITH_UNREAD} order by received_at desc, name"""
    return fetch(store, sql, unread_details())


SAID_KIND = "coalesce('not read: ' || unread, kind) as kind"
"""SQL of a source's kind, or its agent if that is not supported."""


WITH_UNREAD = """left join (
    select source_id, min($agents[list_position($details, detail)]) as unread
    from rejects where list_contains($details, detail) group by all
) using (source_id)"""
"""SQL of a source's unsupported agent, from the details of its rejects."""


def unread_details() -> dict[str, list[str]]:
    """Return the parameters of WITH_UNREAD."""
    return {"details": list(AGENT_BY_DETAIL), "agents": list(AGENT_BY_DETAIL.values())}
