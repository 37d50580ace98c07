"""A large store for benchmarks of reading, made by SQL: a million runs in ten seconds, where reading a million records takes minutes."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa

from ingest.store import Store
from schemas.tables import TABLES, arrow_schema

WORDS = """the kernel now reads pages once instead of per head and the measured latency of decoding fell from 12 ms to 9 ms on the bench
 while all tests pass; files changed: model_runner.py scheduler.py cache.py; I could not verify the effect on throughput end to end and
 recommend a run on real hardware before merging. summary of optimisation batch size cuda graph stream overlap allocator"""

MODELS = """
insert into model_usage by name
select run_id, used as model_id, used as model, provider, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
       input_tokens as own_input_tokens, output_tokens as own_output_tokens, cache_read_tokens as own_cache_read_tokens,
       cache_write_tokens as own_cache_write_tokens, (cost_own_usd / len(models))::decimal(18, 9) as cost_own_usd,
       (cost_own_usd / len(models))::decimal(18, 9) as cost_reported_usd
from (select *, unnest(models) as used from runs)
"""

SOURCES = """
insert into sources by name
select source_id, 'logs/' || source_id || '.jsonl' as name, 4000000 as bytes, 'jsonl' as container, count(*) as documents,
       timestamptz '2026-11-01' + to_seconds(replace(source_id, 's', '')::bigint) as received_at,
       count(*) as accepted, 0 as duplicates, 0 as rejected, 0 as ignored
from runs group by source_id
"""

FINDINGS = """
insert into findings by name
with kinds as (select run_id, 1 + (hash(run_id) % 3)::bigint as kind from runs where hash(run_id) % 10 = 0)
select run_id, ['headline_count', 'micro_only', 'cost_sum'][kind] as rule, ['info', 'warning', 'alarm'][kind] as severity,
       'Something does not add up.' as message, '1' as expected, '2' as actual
from kinds
"""
BATCH = 250_000


def make(location: Path, runs: int) -> Store:
    """The store with so many runs at the location; one that is there already is used as it is."""
    store = Store(location)
    if location.exists():
        return store
    with store.writing() as writer:
        for first in range(0, runs, BATCH):
            _add_runs(writer.connection, first, min(first + BATCH, runs))
        for statement in (MODELS, SOURCES, FINDINGS):
            writer.connection.execute(statement)
    return store


def _add_runs(connection: duckdb.DuckDBPyConnection, first: int, last: int) -> None:
    """Runs of these numbers. Columns that must not be NULL, and that no benchmark has an opinion on, hold nothing."""
    made = Path(__file__).with_suffix(".sql").read_text()
    connection.execute(made, {"first": first, "last": last, "words": WORDS})
    given = {str(row[0]) for row in connection.execute("describe made").fetchall()}
    missing = [field for field in arrow_schema(TABLES["runs"]) if field.name not in given and not field.nullable]
    defaults = "".join(f", {_nothing(field.type)} as {field.name}" for field in missing)
    connection.execute(f"insert into runs by name select *{defaults} from made")


def _nothing(type_: pa.DataType) -> str:
    if pa.types.is_list(type_):
        return "[]"
    return "false" if pa.types.is_boolean(type_) else "0" if pa.types.is_integer(type_) else "''"
