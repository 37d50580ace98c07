"""The spool → the store, in one transaction: one reading of each source, one copy of each record, and no cost counted twice.

The content of the store afterwards does not depend on the order, the batches or the repetition of logs.
Each step that is more than an insert is a file in `sql/commit/`.
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
from ingest.store.database import WRITING_MEGABYTES, Writer, run_step
from ingest.store.doubts import note_carried_over, note_doubts
from ingest.store.history.ingests import supersede, whoami
from ingest.store.history.merging import merge
from ingest.store.history.records import note_records, recount, relabel
from ingest.store.opening.engines import MANY_BYTES, use_all_cores
from ingest.store.pricing.repricing import PRICED, keep_price_file, price, price_touched
from ingest.store.read_result import ReadResult
from ingest.store.sessions.chains import RECHAINED, define_processes, rechain
from ingest.store.sessions.folding import fold
from ingest.store.sessions.growth import note_growth, require_beginnings, settle
from ingest.store.sessions.responses import bill, note_sessions
from ingest.store.spool import KEYS, SPOOLED
from ingest.store.statements import run
from schemas.rows.price import PriceFileRow
from schemas.rows.tables import TABLES, arrow_schema

_RESULT_COLUMNS = dict.fromkeys(("source_id", "name", "kind", "container"), pa.string()) | dict.fromkeys(
    ("bytes", "documents", "rejected", "ignored", "modified_ns", "resume_at"), pa.int64()
)

_READ_ALWAYS = ("runs", "model_usage", "tool_calls", "patch_files", "patches")
"""The tables of the spool that steps read although there may be no rows in them."""

MANY_RECORDS = 1_000_000
"""So many records are written within the usual limit of memory (900 MB suffice, 650 do not); a commit keeps something of each in memory."""

LONG_BYTES = 1 << 27
"""A larger file of the spool has a text of that size: otherwise files are closed at a quarter of it."""

_PROCESSES = """
select process from winners union select earlier_process from winners
union
select process_of(agent, session_id, in_stream, source_id)
from runs
where in_stream and source_id in (select source_id from winners union select replaces from winners)
"""
"""The processes of new runs, of the runs they replace, and of all runs in the same streams: their chains may have changed."""


@dataclass(frozen=True)
class Committed:
    """What a commit did. `accepted`: the number of new runs by reading; `changed`: whether the store has anything new."""

    accepted: Mapping[str, int]
    changed: bool
    has_new_prices: bool


_IS_REPLACED = "select 1 from winners where replaces is not null limit 1"
_RECOUNTED = """
select source_id from chosen
union select replaces from winners where replaces is not null
union select source_id from folding
"""
_ACCEPTED = "select reading, count(*) from winners anti join folding using (run_id) where replaces is null group by reading"

_BILLED_ANEW = f"""
select session_id from {RESPONSES}
where source_id in (select source_id from chosen) or stream_id in (select run_id from folding)
union
select session_id from joined_sessions
union select session_id from runs semi join affected using (run_id) semi join {RESPONSES} using (session_id)
"""
"""Sessions with new copies of responses, or whose responses may belong to another run now, or whose run has another record."""

_WINNERS = "select run_id from winners"
_RECHAINED = f"select run_id from {RECHAINED}"
_REPRICED = "select run_id from repriced"
_BILLED = "select run_id from summed union select run_id from run_of_session"
_MADE_AGAIN = "select run_id from winners semi join responses using (run_id) where replaces is not null"
_PRICED_BEFORE = "select run_id from runs anti join winners using (run_id)"
"""Runs that are priced again: their chain or their responses changed, or the store got other prices."""


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

    `labels` are also given to runs of sources that the store has already. `replace`: such sources are written again. `prices`: a price file
    for the whole store from now on.
    """
    connection = writer.connection
    require_beginnings(connection, [result.goes_on for result in results if result.goes_on])
    connection.register("read_results", _results_table([result for result in results if not result.known]))
    if replace:
        supersede(connection, "select source_id from read_results", ingest_id)
        for table in ("rejects", "sources", RESPONSES):
            run(connection, f"delete from {table} where source_id in (select source_id from read_results)")
    _fit_to(connection, spool, sum(result.records for result in results))
    spooled = _view_spool(connection, spool)
    define_processes(connection)
    for step in ("01_chosen", "02_records", "03_incoming", "04_winners"):
        run_step(connection, f"commit/{step}")
    has_new_prices = prices is not None and keep_price_file(writer, prices)
    _write(connection, ingest_id, spooled, writer.who or whoami())
    if is_folded := fold(connection, "select run_id from winners"):
        run(connection, "insert into affected select run_id from refolded")
    if replace or is_folded or run(connection, _IS_REPLACED).fetchone():  # otherwise all runs of the sources are new, and counted
        recount(connection, _RECOUNTED)
    is_labelled = _label(connection, [result.source_id for result in results if result.known] if labels else [], labels, ingest_id)
    is_merged = merge(writer, "select run_id from affected")
    is_billed = (RESPONSES in spooled or is_folded or is_merged) and _bill(connection, ingest_id)
    is_rechained = rechain(connection, _PROCESSES)
    changed = {_RECHAINED: is_rechained, _REPRICED: is_merged, _BILLED: is_billed, _PRICED_BEFORE: has_new_prices}
    if stale := _stale(connection, changed):
        price(writer, stale)
    doubtful = [_WINNERS, *([_RECHAINED] if is_rechained else []), *([_BILLED, "select run_id from affected"] if is_billed else [])]
    note_doubts(connection, " union ".join(doubtful))
    found = run(connection, _ACCEPTED).fetchall()
    [(read,)] = run(connection, "select count(*) from chosen").fetchall()
    connection.unregister("read_results")
    return Committed(dict(found), bool(read) or is_labelled or has_new_prices, has_new_prices)


def _bill(connection: duckdb.DuckDBPyConnection, ingest_id: int) -> bool:
    """Decide the responses of all sessions that the new readings are of. Returns whether there are any."""
    if not note_sessions(connection, _BILLED_ANEW):
        return False
    settle(connection, ingest_id)
    bill(connection)
    return True


def _stale(connection: duckdb.DuckDBPyConnection, changed: dict[str, bool]) -> str:
    """SQL for the runs to be priced again, empty where there are none. `changed`: SQL for runs, and whether there may be such."""
    is_made_again = run(connection, f"{_MADE_AGAIN} limit 1").fetchone() is not None
    return " union ".join(runs for runs, is_so in (changed | {_MADE_AGAIN: is_made_again}).items() if is_so)


def _results_table(results: Sequence[ReadResult]) -> pa.Table:
    columns = {name: pa.array([getattr(result, name) for result in results], type_) for name, type_ in _RESULT_COLUMNS.items()}
    keys = [result.key for result in results]
    reading, portion = pa.array([key.reading for key in keys], pa.string()), pa.array([key.portion for key in keys], pa.int64())
    begins_with = pa.array([result.begins_with for result in results], pa.list_(pa.string()))
    first_ordinal = pa.array(_first_ordinals(results), pa.int64())
    return pa.table({"reading": reading, "portion": portion, "first_ordinal": first_ordinal, "begins_with": begins_with} | columns)


def _first_ordinals(results: Sequence[ReadResult]) -> list[int]:
    """The number of the first document of each result: a portion goes on where the one before it of its reading ends."""
    read: dict[str, int] = defaultdict(int)
    first = {}
    for result in sorted(results, key=lambda result: result.key.portion):
        first[result.key] = read[result.key.reading]
        read[result.key.reading] += result.documents
    return [first[result.key] for result in results]


def _fit_to(connection: duckdb.DuckDBPyConnection, spool: Path, records: int) -> None:
    """Set DuckDB's threads and its memory limit for the number of records and the texts in the spool.

    The limit is for a million records, and for texts of a hundred megabytes. One longer text is copied once more outside the limit: a lower
    limit. Several are written by one statement, which keeps all of them in memory: a higher limit.
    """
    sizes = [_uncompressed_bytes(path) for path in spool.glob("runs-*.parquet")]
    if sum(sizes) >= MANY_BYTES:
        use_all_cores(connection)
    long = [size for size in sizes if size > LONG_BYTES]
    of_records = WRITING_MEGABYTES * records // MANY_RECORDS
    of_texts = WRITING_MEGABYTES
    if long:
        of_texts = max(450, 2 * max(long) >> 20) if len(long) == 1 else max(1000, 4 * sum(long) >> 20)
    connection.execute(f"set memory_limit = '{max(of_records, of_texts)}MB'")


def _uncompressed_bytes(path: Path) -> int:
    metadata = pq.read_metadata(path)
    return sum(int(metadata.row_group(number).total_byte_size) for number in range(metadata.num_row_groups))


def _view_spool(connection: duckdb.DuckDBPyConnection, spool: Path) -> Set[str]:
    """Make a view `spool_<table>` of each table in the spool. Returns the tables of which it has rows."""
    files = {table: sorted(map(str, spool.glob(f"{table}-*.parquet"))) for table in SPOOLED}
    filled = {table for table in SPOOLED if files[table]}
    for table in filled.union(_READ_ALWAYS):
        connection.execute(_spool_view(table, files[table]))
    return filled


def _spool_view(table: str, files: Sequence[str]) -> str:
    """SQL for a view on the files of a table in the spool; empty where there are none."""
    if files:
        listed = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
        return f"create or replace temp view spool_{table} as select * from read_parquet([{listed}])"
    keys = "null::varchar as reading, null::bigint as portion, null::bigint as document"
    return f"create or replace temp view spool_{table} as select *, {keys} from {table} limit 0"


def _write(connection: duckdb.DuckDBPyConnection, ingest_id: int, spooled: Set[str], who: str) -> None:
    """Write sources, rejects, records, runs and their child rows. A better known copy of a run replaces the old one.

    `spooled`: the tables of which the spool has rows. Each statement that is left out saves an ingest of one log a hundredth of its time.
    """
    note_records(connection, ingest_id)
    note_growth(connection)
    if run(connection, _IS_REPLACED).fetchone():
        for table in ("runs", *CHILD_TABLES):
            run(connection, f"delete from {table} where run_id in (select run_id from winners where replaces is not null)")
    run(
        connection,
        "insert into sources by name select chosen.source_id, name, bytes, kind, container, $now as received_at, documents,"
        " coalesce(runs, 0) as accepted, documents - rejected - ignored - accepted as duplicates, rejected, ignored,"
        " $ingest_id as ingest_id, modified_ns, $who as ingested_by, $version as tool_version, goes_on,"
        f" {'resume_at' if RESPONSES in spooled else 'null'} as resume_at from chosen left join going_on using (source_id)"
        " left join (select source_id, count(*) as runs from winners group by source_id) using (source_id)",
        {"now": datetime.now(UTC), "ingest_id": ingest_id, "who": who, "version": version("tachograph")},
    )
    if "rejects" in spooled:
        placed = _columns("rejects", "source_id", "ordinal")
        run(
            connection,
            f"insert into rejects by name select {placed}, chosen.source_id, first_ordinal + document as ordinal"
            " from spool_rejects as spooled join chosen using (reading) join read_results using (reading, portion)",
        )
    if "measurements" in spooled:
        columns = _columns("measurements", "source_id")
        run(
            connection,
            f"insert into measurements by name select {columns}, chosen.source_id"
            " from spool_measurements as spooled join chosen using (reading)",
        )
    if RESPONSES in spooled:
        columns = _columns(RESPONSES, "source_id")
        run(
            connection,
            f"insert into {RESPONSES} by name select {columns}, chosen.source_id"
            f" from spool_{RESPONSES} as spooled join chosen using (reading)",
        )
    for table in filter(spooled.__contains__, CHILD_TABLES):
        run(connection, f"insert into {table} by name select {_columns(table)} {_from_winners(table)}")
    if "runs" in spooled:
        _write_runs(connection)


def _write_runs(connection: duckdb.DuckDBPyConnection) -> None:
    """Write runs last and with their prices: an update of rows of the same transaction took six times as long as everything else."""
    note_carried_over(connection, f"spool_runs semi join winners using ({', '.join(KEYS)})")
    price_touched(
        connection,
        "select spooled.run_id, cost_own_usd, false as continues, cast(coalesce(started_at, ended_at, received_at) as date) as day"
        f" {_from_winners('runs')} join sources on sources.source_id = winners.source_id",
        has_responses=False,  # new runs have none yet, and a run that is made again is priced again (`_MADE_AGAIN`)
    )
    placed = _columns("runs", "source_id", "ordinal", *PRICED)
    priced = ", ".join(f"priced_runs.{column}" for column in PRICED)
    run(
        connection,
        f"insert into runs by name select {placed}, winners.source_id, winners.ordinal, {priced} {_from_winners('runs')}"
        " join priced_runs on priced_runs.run_id = spooled.run_id",
    )


def _label(connection: duckdb.DuckDBPyConnection, known: Sequence[str], labels: Mapping[str, str], ingest_id: int) -> bool:
    """Add the labels of all copies of a record to the kept one, and `labels` to the runs of known sources.

    Returns whether a source that was there before got labels.
    """
    changed = "select run_id from affected"
    if is_given := bool(known or run(connection, "select 1 from read_results anti join chosen using (reading) limit 1").fetchall()):
        connection.register("known", pa.table({"source_id": pa.array(known, pa.string())}))
        run_step(connection, "commit/05_given_labels", {"keys": list(labels), "values": list(labels.values())})
        insert = "insert into source_labels by name select $ingest_id as ingest_id, * from given_labels"
        run(connection, insert, {"ingest_id": ingest_id})
        connection.unregister("known")
        changed += " union select run_id from run_records semi join given_labels using (source_id)"
    relabel(connection, changed)
    return is_given and bool(run(connection, "select 1 from given_labels limit 1").fetchone())


def _columns(table: str, *known_later: str) -> str:
    """The columns of a table in the spool, without those that only the commit knows."""
    names = [name for name in arrow_schema(TABLES[table]).names if name not in known_later]
    return ", ".join(f'spooled."{name}"' for name in names)


def _from_winners(table: str) -> str:
    return f"from spool_{table} as spooled join winners using ({', '.join(KEYS)})"
