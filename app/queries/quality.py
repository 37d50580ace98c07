"""Questions about how far figures can be trusted: what is known of runs, what was rejected and why, what became of sources."""

from __future__ import annotations

import pyarrow as pa

from app.queries.filters.chosen import Filters, where
from app.queries.runs import SAID_KIND, WITH_UNREAD, fetch, unread_details
from ingest.store.database import Store
from schemas.catalogue.columns import RUNS
from schemas.file_kinds import NO_LOGS, FileKind

OWN_TIME, ANY_TIME = "Recorded timestamp", "Timestamp incl. file date"
"""What a file's date says may be when the file was copied."""

_TIMES = {
    OWN_TIME: "case when time_source is distinct from 'file' then coalesce(started_at, ended_at) end",
    ANY_TIME: "coalesce(started_at, ended_at)",
}
_COLUMNS = ("cost_own_usd", "duration_ms", "duration_api_own_ms", "num_turns", "input_tokens", "model", "result")
_MORE_COLUMNS = ("repo", "task", "experiment", "agent_version", "ttft_ms")

FACTS = {RUNS[key].label: key for key in _COLUMNS} | _TIMES | {RUNS[key].label: key for key in _MORE_COLUMNS}
"""What a run may tell of itself or not, and the SQL that tells it."""


def known(store: Store, filters: Filters) -> pa.Table:
    """For each of FACTS the `fact`, how many of the runs that started tell it (`known`), and their `share`: other figures rest on these."""
    condition = where(filters)
    counts = ", ".join(f"count({column})" for column in FACTS.values())
    sql = f"select unnest([{counts}]) as known, count(*) as runs from v_runs where {condition.sql} and is_started"
    found = fetch(store, f"select known, known / runs as share from ({sql})", condition.parameters)
    return found.add_column(0, "fact", pa.array(list(FACTS), pa.string()))


def rejects_by_reason(store: Store) -> pa.Table:
    """How many documents were rejected for each reason, of how many sources, with one of the details."""
    sql = """select reason, count(*) as rejected, count(distinct source_id) as sources, min(detail) as detail
             from rejects group by reason order by rejected desc, reason"""
    return fetch(store, sql)


def rejects(store: Store, limit: int) -> pa.Table:
    """The first rejects of the newest sources: source, position, reason, detail and beginning."""
    sql = f"""select sources.name as source_name, rejects.position, rejects.reason, rejects.detail, rejects.excerpt
              from rejects left join sources using (source_id)
              order by sources.received_at desc, sources.name, rejects.ordinal limit {int(limit)}"""
    return fetch(store, sql)


def sources(store: Store, limit: int) -> pa.Table:
    """The newest sources and what became of their documents."""
    sql = f"""select name, {SAID_KIND}, documents, accepted, duplicates, rejected, ignored, bytes, container, received_at
              from sources {WITH_UNREAD} order by received_at desc, name limit {int(limit)}"""
    return fetch(store, sql, unread_details())


def unread(store: Store) -> dict[str, int]:
    """How many sources are logs of agents that are not read, by agent."""
    sql = f"select unread, count(*) as files from sources {WITH_UNREAD} where unread is not null group by unread"
    return {row["unread"]: int(row["files"]) for row in fetch(store, sql, unread_details()).to_pylist()}


def documents(store: Store) -> dict[str, int]:
    """All sources added up: `sources`, `documents` and what became of these."""
    sums = ", ".join(
        f"coalesce(sum({name}), 0)::bigint as {name}" for name in ("documents", "accepted", "duplicates", "rejected", "ignored")
    )
    [row] = fetch(store, f"select count(*) as sources, {sums} from sources").to_pylist()
    return {str(name): int(count) for name, count in row.items()}


def no_logs(store: Store) -> dict[FileKind, int]:
    """How many sources are no logs, by kind."""
    sql = "select kind, count(*) as files from sources where list_contains($kinds, kind) group by kind"
    table = fetch(store, sql, {"kinds": [*map(str, NO_LOGS)]})
    return {FileKind(row["kind"]): int(row["files"]) for row in table.to_pylist()}
