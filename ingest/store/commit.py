"""The spool → the store, in one transaction.

One reading of each source, one copy of each record, and no cost counted twice.

The content of the store afterwards does not depend on the order, the batches or the repetition of
logs. Each step that is more than an insert is a file in `sql/commit/`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from ingest.agents.base import CHILD_TABLES, RESPONSES
from ingest.store.annotations import LABEL_COLUMNS
from ingest.store.chains import RECHAINED, define_processes, rechain
from ingest.store.cross_checks import note_carried_over, note_cross_checks
from ingest.store.database import WRITING_MEGABYTES, Writer, registered, run_step
from ingest.store.ingests import supersede, whoami
from ingest.store.opening import MANY_BYTES, use_all_cores
from ingest.store.pricing import PRICED, WORDS, keep_price_file, price, price_touched
from ingest.store.read_result import ReadResult
from ingest.store.records import merge, name_projects, note_records, recount, relabel
from ingest.store.sessions import bill, fold, keep_last_copies, note_sessions
from ingest.store.spool import FILE_TABLES, KEYS, SPOOLED
from schemas.catalogue.figures import IS_DATED_BY_LABEL
from schemas.rows.price import PriceFileRow
from schemas.rows.tables import TABLES, arrow_schema

_PROCESSES = """
select process from winners union select earlier_process from winners
union
select process_of(agent, session_id, in_stream, source_id)
from runs
where in_stream and source_id in (select source_id from winners union select replaces from winners)
"""
"""Processes whose chains may have changed: of new runs, of the runs they replace, and of all runs
in the same streams.
"""

_BILLED_ANEW = f"""
select session_id from {RESPONSES}
where source_id in (select source_id from chosen) or stream_id in (select run_id from folding)
union
select session_id from joined_sessions
union select session_id from runs semi join affected using (run_id) semi join {RESPONSES} using
    (session_id)
"""
"""Sessions with new copies of responses, with responses that may now belong to another run, or with
a run that got another record.
"""

_RECOUNTED = """
select source_id from chosen
union select replaces from winners where replaces is not null
union select source_id from folding
"""
_RELABELLED = """
select run_id from affected
union
select run_id from run_records semi join given_labels using (source_id)
union
select run_id from run_records semi join (select source_id from chosen semi join found_files using
    (source_id)) as again using (source_id)
"""
"""Runs with several records, and those whose files got labels now or had them before they were
read.
"""

_KNOWN_LATER = ("source_id", "ordinal", "project", "repo_source", *PRICED)
_WINNERS = "select run_id from winners"
_RECHAINED = f"select run_id from {RECHAINED}"
_BILLED = "select run_id from summed union select run_id from run_of_session"
_MADE_AGAIN = (
    "select run_id from winners semi join responses using (run_id) where replaces is not null"
)


@dataclass(frozen=True)
class Committed:
    """Result of a commit.

    `accepted`: number of new runs by reading; `changed`: whether the store has anything new.
    """

    accepted: Mapping[str, int]
    changed: bool
    has_new_prices: bool


def commit(
    writer: Writer,
    spool: Path,
    results: Sequence[ReadResult],
    ingest_id: int,
    *,
    labels: Mapping[str, str] = MappingProxyType({}),
    replace: bool = False,
    prices: PriceFileRow | None = None,
) -> Committed:
    """Write what the spool holds, as the ingest of this number.

    `labels` are also given to runs of sources that the store has already. `replace`: such sources
    are written again. `prices`: a price file for the whole store from now on.
    """
    connection = writer.connection
    connection.register(
        "read_results", _results_table([result for result in results if not result.known])
    )
    again = [result.source_id for result in results if replace or result.is_again]
    if again:
        connection.execute("set variable again = $ids", {"ids": again})
        _take_out(connection, ingest_id)
    _fit_to(connection, spool, sum(result.records for result in results))
    spooled = _view_spool(connection, spool)
    define_processes(connection)
    for step in ("01_chosen", "02_records", "03_incoming", "04_winners"):
        run_step(connection, f"commit/{step}")
    has_new_prices = prices is not None and keep_price_file(writer, prices)
    is_replaced = (
        connection.execute("select 1 from winners where replaces is not null limit 1").fetchone()
        is not None
    )
    note_records(connection, ingest_id)
    run_step(connection, "grown/going_on")
    if is_replaced:
        for table in ("runs", *CHILD_TABLES):
            connection.execute(
                f"delete from {table} where run_id in (select run_id from winners where "
                "replaces is not null)"
            )
    _write(connection, ingest_id, spooled, writer.who or whoami(), labels)
    _note_members(connection, results)
    is_folded = fold(connection, _WINNERS)
    if is_folded:
        connection.execute("insert into affected select run_id from refolded")
    if again or is_folded or is_replaced:  # otherwise all runs of the sources are new, and counted
        recount(connection, _RECOUNTED)
    is_labelled = _label(connection, results, labels)
    is_merged = merge(writer, "select run_id from affected")
    name_projects(connection, _RELABELLED)
    is_billed = (RESPONSES in spooled or is_folded or is_merged) and note_sessions(
        connection, _BILLED_ANEW
    )
    if is_billed:
        keep_last_copies(connection, ingest_id)
        bill(connection)
    is_rechained = rechain(connection, _PROCESSES)
    priced_again = {
        _RECHAINED: is_rechained,
        "select run_id from repriced": is_merged,
        _BILLED: is_billed,
        "select run_id from runs anti join winners using (run_id)": has_new_prices,
        _MADE_AGAIN: connection.execute(f"{_MADE_AGAIN} limit 1").fetchone() is not None,
    }
    if stale := " union ".join(runs for runs, is_so in priced_again.items() if is_so):
        price(writer, stale)
    checked = {
        _WINNERS: True,
        _RECHAINED: is_rechained,
        _BILLED: is_billed,
        "select run_id from affected": is_billed or is_merged,
    }
    note_cross_checks(connection, " union ".join(runs for runs, is_so in checked.items() if is_so))
    accepted = (
        "select reading, count(*) from winners anti join folding using (run_id) where replaces "
        "is null group by reading"
    )
    found = connection.execute(accepted).fetchall()
    [(read,)] = connection.execute("select count(*) from chosen").fetchall()
    connection.unregister("read_results")
    return Committed(dict(found), bool(read) or is_labelled or has_new_prices, has_new_prices)


def _take_out(connection: duckdb.DuckDBPyConnection, ingest_id: int) -> None:
    """Remove what was read of the sources in the variable `again`, kept for an undo.

    Runs stay, and are duplicates of those that are read now.
    """
    these = "select unnest(getvariable('again')::varchar[])"
    supersede(connection, these, ingest_id)
    for table in ("rejects", "sources", RESPONSES, *FILE_TABLES):
        connection.execute(f"delete from {table} where source_id in ({these})")


def _results_table(results: Sequence[ReadResult]) -> pa.Table:
    """One row per result.

    `first_ordinal`: the number of its first document; a portion continues the numbering of the one
    before.
    """
    read: dict[str, int] = defaultdict(int)
    first = {}
    for result in sorted(results, key=lambda result: result.key.portion):
        first[result.key] = read[result.key.reading]
        read[result.key.reading] += result.documents
    types = dict.fromkeys(("source_id", "name", "kind", "container", "map"), pa.string())
    types |= dict.fromkeys(
        ("bytes", "documents", "rejected", "ignored", "modified_ns", "resume_at"), pa.int64()
    )
    columns = {
        name: pa.array([getattr(result, name) for result in results], type_)
        for name, type_ in types.items()
    }
    keys = [result.key for result in results]
    return pa.table(
        {
            "reading": pa.array([key.reading for key in keys], pa.string()),
            "portion": pa.array([key.portion for key in keys], pa.int64()),
            "first_ordinal": pa.array([first[key] for key in keys], pa.int64()),
            "begins_with": pa.array(
                [result.begins_with for result in results], pa.list_(pa.string())
            ),
        }
        | columns
    )


def _fit_to(connection: duckdb.DuckDBPyConnection, spool: Path, records: int) -> None:
    """Set DuckDB's threads and memory limit by the spool's number of records and text length.

    The usual limit is for a million records (900 MB suffice, 650 do not), and for texts of a
    hundred megabytes. One longer text is copied once more outside the limit: a lower limit. Several
    are written by one statement, which keeps all of them in memory: a higher limit.
    """
    sizes = []
    for path in spool.glob("runs-*.parquet"):
        metadata = pq.read_metadata(path)
        sizes.append(
            sum(
                int(metadata.row_group(number).total_byte_size)
                for number in range(metadata.num_row_groups)
            )
        )
    if sum(sizes) >= 4 * MANY_BYTES:  # compressed in a store
        use_all_cores(connection)
    long = [
        size for size in sizes if size > 1 << 27
    ]  # such a file has one long text: otherwise files are closed at a quarter of it
    of_texts = WRITING_MEGABYTES
    if long:
        of_texts = (
            max(450, 2 * max(long) >> 20) if len(long) == 1 else max(1000, 4 * sum(long) >> 20)
        )
    connection.execute(
        f"set memory_limit = '{max(WRITING_MEGABYTES * records // 1_000_000, of_texts)}MB'"
    )


def _view_spool(connection: duckdb.DuckDBPyConnection, spool: Path) -> Set[str]:
    """Make a view `spool_<table>` of each spooled table, also of empty ones that steps read.

    Returns the tables that have rows.
    """
    filled = set()
    for table in SPOOLED:
        if files := sorted(map(str, spool.glob(f"{table}-*.parquet"))):
            filled.add(table)
            listed = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
            connection.execute(
                f"create or replace temp view spool_{table} as select * from "
                f"read_parquet([{listed}])"
            )
        elif table in ("runs", "model_usage", "tool_calls", "patch_files", "patches"):
            keys = "null::varchar as reading, null::bigint as portion, null::bigint as document"
            connection.execute(
                f"create or replace temp view spool_{table} as select *, {keys} from {table} "
                "limit 0"
            )
    return filled


def _write(
    connection: duckdb.DuckDBPyConnection,
    ingest_id: int,
    spooled: Set[str],
    who: str,
    labels: Mapping[str, str],
) -> None:
    """Write sources, rejects, measurements, loops, runs and their child rows.

    `spooled`: the tables with rows in the spool. Each skipped statement saves an ingest of one log
    a hundredth of its time. Runs come last and with their prices: an update of rows of the same
    transaction took six times as long as everything else.
    """
    connection.execute(
        "insert into sources by name select chosen.source_id, name, bytes, kind, container, "
        "$now as received_at, documents, coalesce(runs, 0) as accepted, documents - rejected - "
        "ignored - accepted as duplicates, rejected, ignored, $ingest_id as ingest_id, "
        "modified_ns, $who as ingested_by, $version as tool_version, chosen.map, goes_on, "
        f"{'resume_at' if RESPONSES in spooled else 'null'} as resume_at from chosen left join "
        "going_on using (source_id) left join (select source_id, count(*) as runs from winners "
        "group by source_id) using (source_id)",
        {
            "now": datetime.now(UTC),
            "ingest_id": ingest_id,
            "who": who,
            "version": version("tachograph"),
        },
    )
    if "rejects" in spooled:
        connection.execute(
            f"insert into rejects by name select {_columns('rejects', 'source_id', 'ordinal')}, "
            "chosen.source_id, first_ordinal + document as ordinal from spool_rejects as "
            "spooled join chosen using (reading) join read_results using (reading, portion)"
        )
    for table in filter(spooled.__contains__, (*FILE_TABLES, RESPONSES)):
        connection.execute(
            f"insert into {table} by name select {_columns(table, 'source_id')}, chosen.source_id"
            f" from spool_{table} as spooled join chosen using (reading)"
        )
    of_winners = f"as spooled join winners using ({', '.join(KEYS)})"
    for table in filter(spooled.__contains__, CHILD_TABLES):
        connection.execute(
            f"insert into {table} by name select {_columns(table)} from spool_{table} {of_winners}"
        )
    if "runs" not in spooled:
        return
    note_carried_over(connection, f"spool_runs semi join winners using ({', '.join(KEYS)})")
    price_touched(
        connection,
        "select spooled.run_id, cost_own_usd, false as continues, tokens_basis as run_basis, "
        f"{WORDS}, cast(coalesce(case when {IS_DATED_BY_LABEL} then given_at end, started_at, "
        f"ended_at, received_at) as date) as day from spool_runs {of_winners} join sources on "
        "sources.source_id = winners.source_id left join annotations on annotations.run_id = "
        "spooled.run_id",
        # new runs have none yet, and a run that is made again is priced again (`_MADE_AGAIN`)
        has_responses=False,
    )
    priced = ", ".join(f"priced_runs.{column}" for column in PRICED)
    run_step(connection, "projects/macros")
    runs, given = "spool_runs", {}
    if labels:
        given = {"keys": list(labels), "values": list(labels.values())}
        new = "map($keys::varchar[], $values::varchar[])"
        columns = ", ".join(
            f"coalesce(nullif({new}['{name}'], ''), {name}) as {name}" for name in LABEL_COLUMNS
        )
        all_labels = f"map_from_entries(list_sort(map_entries(map_concat(labels, {new}))))"
        runs = f"(select * replace ({all_labels} as labels, {columns}) from spool_runs)"
    connection.execute(
        "insert into runs by name select * exclude (named), named.name as project, named.origin "
        f"as repo_source from (select {_columns('runs', *_KNOWN_LATER)}, winners.source_id, "
        f"winners.ordinal, {priced}, project_of(spooled.labels, repo, cwd, sources.name) as named "
        f"from {runs} {of_winners} join priced_runs on priced_runs.run_id = spooled.run_id join "
        "sources on sources.source_id = winners.source_id)",
        given,
    )


def _note_members(connection: duckdb.DuckDBPyConnection, results: Sequence[ReadResult]) -> None:
    """Note which files are in the archives that were read."""
    rows = [
        (result.source_id, *member)
        for result in results
        if not result.known
        for member in result.members
    ]
    if rows:
        columns = zip(("archive_id", "source_id", "name"), zip(*rows, strict=True), strict=True)
        with registered(
            connection,
            members=pa.table({name: pa.array(values, pa.string()) for name, values in columns}),
        ):
            connection.execute(
                "delete from archive_members where archive_id in (select archive_id from members)"
            )
            connection.execute("insert into archive_members by name select distinct * from members")


def _label(
    connection: duckdb.DuckDBPyConnection, results: Sequence[ReadResult], labels: Mapping[str, str]
) -> bool:
    """Give the labels of a record's copies to the kept one, and `labels` to known sources' runs.

    Returns whether a source that was there before got labels. Leaves what the ingest found, in the
    table `seen_files`.
    """
    found = pa.table(
        {
            "reading": pa.array([result.key.reading for result in results], pa.string()),
            "source_id": pa.array([result.source_id for result in results], pa.string()),
            "name": pa.array([result.name for result in results], pa.string()),
            "modified_ns": pa.array([result.modified_ns for result in results], pa.int64()),
        }
    )
    with registered(connection, results=found):
        run_step(
            connection,
            "commit/05_seen_files",
            {"keys": list(labels), "values": list(labels.values())},
        )
    run_step(connection, "commit/05_given_labels")
    [(given,)] = connection.execute("select count(*) from given_labels").fetchall()
    relabel(connection, _RELABELLED)
    return bool(given)


def _columns(table: str, *known_later: str) -> str:
    """Return the spooled columns of a table: all but those that only the commit knows."""
    names = [name for name in arrow_schema(TABLES[table]).names if name not in known_later]
    return ", ".join(f'spooled."{name}"' for name in names)
