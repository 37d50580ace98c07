"""A large store for benchmarks of the screens, made by SQL.

A million runs with claims and prices, where reading them takes minutes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

from ingest.pipeline import ingest
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from ingest.store.pricing import reprice
from schemas.rows.tables import TABLES, arrow_schema

SAMPLES = Path(__file__).parents[2] / "sample_logs"
"""Summaries are made of lines of real ones, with a name and figures that few others have: as long
as these, and with as many rare words.
"""

MODELS = """
select run_id, used as model_id, used as model, if(used = 'glm-5.1', 'zhipuai', 'anthropic') as provider,
       input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, 0 as web_search_requests,
       input_tokens as own_input_tokens, output_tokens as own_output_tokens, cache_read_tokens as own_cache_read_tokens,
       cache_write_tokens as own_cache_write_tokens, cache_write_tokens as cache_write_5m_tokens, 0 as cache_write_1h_tokens,
       (cost_own_usd * rate[used] / list_sum([rate[one] for one in models]))::decimal(18, 9) as cost_own_usd,
       cost_own_usd as cost_reported_usd
from (select *, map {'claude-opus-4-6': 5, 'claude-sonnet-4-5': 3, 'claude-haiku-4-5': 1, 'glm-5.1': 1, 'claude-opus-4-5': 5} as rate,
      unnest(models) as used from runs)
"""  # noqa: E501

CLAIMS = """
select run_id, claim_no, 10 * claim_no as start, 10 * claim_no + 14 as end, '12 ms to 9 ms' as quote,
       if(claim_no <= claims, 'quantified', 'qualitative') as kind, coalesce(claimed_metric, 'time') as metric,
       if(claim_no % 7 = 0, 'worse', 'better') as direction,
       if(claim_no <= claims, claimed_speedup * (0.75 + claim_no / 4.0), null) as ratio,
       coalesce(claimed_evidence, 'stated') as evidence, coalesce(claimed_scope, 'unspecified') as scope,
       claim_no % 5 = 0 as hedged, 'own' as origin, 'decoding' as subject,
       if(claim_no <= claims, claimed_confidence, null) as confidence
from (select run_id, claims, claimed_metric, claimed_speedup, claimed_evidence, claimed_scope, claimed_confidence,
             unnest(range(1, claims + 1 + (hash(run_id) % 4)::bigint)) as claim_no from runs)
"""  # noqa: E501

FILE_CHANGES = """
select run_id, 'src/file_' || unnest(range((hash(run_id) % 4)::bigint)) || '.py' as path, 10 as insertions, 2 as deletions from runs
"""  # noqa: E501

STATEMENTS = """
select run_id, 1 as statement_no, 'tests_passed' as kind, 0 as start, 14 as end, 'all tests pass' as quote from runs
"""  # noqa: E501

SOURCES = """
select source_id, 'logs/' || source_id || '.jsonl' as name, 4000000 as bytes, 'log' as kind, 'jsonl' as container, count(*) as documents,
       timestamptz '2026-11-01' + to_seconds(replace(source_id, 's', '')::bigint) as received_at,
       count(*) as accepted, 0 as duplicates, 0 as rejected, 0 as ignored
from runs group by source_id
"""  # noqa: E501

FINDINGS = """
with kinds as (select run_id, 1 + (hash(run_id) % 3)::bigint as kind from runs where hash(run_id) % 10 = 0)
select run_id, ['count_mismatch', 'micro_benchmark_only', 'implausible_speedup'][kind] as rule,
       ['info', 'warning', 'error'][kind] as severity,
       'Something does not add up.' as message, '1' as expected, '2' as actual
from kinds
"""  # noqa: E501

ROWS_OF = {
    "model_usage": MODELS,
    "sources": SOURCES,
    "findings": FINDINGS,
    "claims": CLAIMS,
    "file_changes": FILE_CHANGES,
    "statements": STATEMENTS,
}
"""Table → the rows that belong to the runs."""

BATCH = 250_000


def make(location: Path, runs: int) -> Store:
    """The store with so many runs at the location; one that is there already is used as it is."""
    store = Store(location)
    if location.exists():
        return store
    lines = _lines()
    with store.writing() as writer:
        for first in range(0, runs, BATCH):
            _add_runs(writer.connection, first, min(first + BATCH, runs), lines)
        for table, select in ROWS_OF.items():
            _insert(writer.connection, table, select)
    reprice(store)
    return store


def _lines() -> list[str]:
    """The lines of the summaries of the sample logs."""
    with tempfile.TemporaryDirectory() as folder:
        samples = Store(Path(folder) / "samples.duckdb")
        ingest(list(read_paths([SAMPLES])), samples)
        with samples.reading() as connection:
            rows = connection.execute(
                "select distinct unnest(string_split(result, chr(10))) as line from runs "
                "order by line"
            ).fetchall()
    return [line for (line,) in rows if line.strip()]


def _add_runs(
    connection: duckdb.DuckDBPyConnection, first: int, last: int, lines: Sequence[str]
) -> None:
    """Runs of these numbers."""
    made = Path(__file__).with_suffix(".sql").read_text()
    connection.execute(made, {"first": first, "last": last, "lines": lines})
    _insert(connection, "runs", "select * from made")


def _insert(connection: duckdb.DuckDBPyConnection, table: str, select: str) -> None:
    """Insert the rows.

    A column of the table that they do not have, and that must not be NULL, gets the default of its
    row model.
    """
    row = TABLES[table]
    given = {str(column[0]) for column in connection.execute(f"describe {select}").fetchall()}
    defaults = {
        field.name: pa.array([_stored(row.columns[field.name].default)], field.type)
        for field in arrow_schema(row)
        if field.name not in given and not field.nullable
    }
    connection.register("defaults", pa.table({"one": [1]} | defaults))
    connection.execute(
        f"insert into {table} by name select made.*, defaults.* exclude (one) from "
        f"({select}) as made cross join defaults"
    )
    connection.unregister("defaults")


def _stored(default: object) -> object:
    """A default as Arrow takes it: a map as its items."""
    return list(default.items()) if isinstance(default, dict) else default
