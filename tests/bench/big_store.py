"""A large store for benchmarks of reading, made by SQL in about a minute: runs of every outcome, of known and unknown time, task and cost."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pyarrow as pa

from ingest.store import Store
from schemas.run import RunRow
from schemas.tables import TABLES, arrow_schema

WORDS = """the kernel now reads pages once instead of per head and the measured latency of decoding fell from 12 ms to 9 ms on the bench
 while all tests pass; files changed: model_runner.py scheduler.py cache.py; I could not verify the effect on throughput end to end and
 recommend a run on real hardware before merging. summary of optimisation batch size cuda graph stream overlap allocator"""

RUNS = """
insert into runs by name
with numbers as (select i, (hash(i) >> 2)::bigint as h, (hash(i + 7919) >> 2)::bigint as g, (hash(i + 104729) >> 2)::bigint as k from range($first, $last) t(i))
select
    md5(i::varchar) as run_id, 's' || (i // 1000) as source_id, i % 1000 as ordinal, 'claude-code' as agent, '2.' || (h % 40) as agent_version,
    md5((i // 3)::varchar) as session_id,
    case when h % 5 > 0 then timestamptz '2026-01-01' + to_seconds(i * 25 + h % 900) end as started_at,
    case when h % 5 > 0 then timestamptz '2026-01-01' + to_seconds(i * 25 + h % 900) + to_milliseconds(20000 + g % 900000) end as ended_at,
    case when h % 5 > 0 then 'stream' end as time_source,
    'success' as subtype, g % 20 = 0 as is_error,
    ['completed', 'completed', 'completed', 'completed', 'completed', 'limit_reached', 'api_error', 'max_turns'][1 + g % 8] as outcome,
    20000 + g % 900000 as duration_ms,
    case when h % 50 > 0 then ((20000 + g % 900000) * (0.3 + (k % 1700) / 1000.0))::bigint end as duration_api_ms, duration_api_ms as duration_api_own_ms,
    case when h % 3 = 0 then 300 + k % 4000 end as ttft_ms,
    1 + k % 120 as num_turns,
    case when h % 40 > 0 then (exp((k % 10000) / 2500.0) / 10)::decimal(18, 9) end as cost_reported_usd, cost_reported_usd as cost_own_usd,
    ['claude-opus-4-6', 'claude-sonnet-4-5', 'claude-haiku-4-5', 'glm-5.1', 'claude-opus-4-5'][1 + h % 5] as model,
    'anthropic' as provider, null as region,
    case when h % 2 = 0 then ['claude-haiku-4-5', model] else [model] end as models,
    k % 9000 as input_tokens, g % 30000 as output_tokens, h % 4000000 as cache_read_tokens, g % 200000 as cache_write_tokens,
    run_id as chain_id, 1 as chain_position,
    ['vllm', 'sglang', 'llama.cpp'][1 + g % 3] as repo, 'task-' || (k % 200) as task,
    case when h % 4 > 0 then 'exp-' || (i // 100000) end as experiment,
    map {'branch': ['main', 'next', 'old'][1 + h % 3], 'night': (i // 5000)::varchar} as labels,
    g % 4 as permission_denials,
    substr($words, (1 + h % 200)::bigint, 200) || substr($words, (1 + g % 200)::bigint, 200) || ' ' || i as result,
    '{"type": "result", "uuid": "' || run_id || '"}' as raw, true as in_stream, 1 as context_rank, false as result_repaired, []::varchar[] as tools
    {defaults}
from numbers
"""

MODELS = """
insert into model_usage by name
select run_id, model as model_id, model, 'anthropic' as provider, null as region, input_tokens, output_tokens, cache_read_tokens,
       cache_write_tokens, input_tokens as own_input_tokens, output_tokens as own_output_tokens, cache_read_tokens as own_cache_read_tokens,
       cache_write_tokens as own_cache_write_tokens, (cost_own_usd / len(models))::decimal(18, 9) as cost_own_usd, cost_own_usd as cost_reported_usd, 0 as web_search_requests
from (select * exclude (model), unnest(models) as model, models from runs)
"""

SOURCES = """
insert into sources by name
select source_id, 'logs/' || source_id || '.jsonl' as name, 4000000 as bytes, 'jsonl' as container,
       timestamptz '2026-11-01' + to_seconds(replace(source_id, 's', '')::bigint) as received_at,
       count(*) as documents, count(*) as accepted, 0 as duplicates, 0 as rejected, 0 as ignored
from runs group by source_id
"""

FINDINGS = """
insert into findings by name
select run_id, ['headline_count', 'micro_only', 'cost_sum'][1 + (hash(run_id) % 3)::bigint] as rule, ['info', 'warning', 'alarm'][1 + (hash(run_id) % 3)::bigint] as severity,
       'Something does not add up.' as message, '1' as expected, '2' as actual
from runs where hash(run_id) % 10 = 0
"""
BATCH = 250_000


def make(location: Path, runs: int) -> Store:
    """The store with so many runs at the location; one that is there already is used as it is."""
    store = Store(location)
    if location.exists():
        return store
    with store.writing() as writer:
        given = writer.connection.execute(f"describe select {RUNS[RUNS.index('md5'):RUNS.index('{defaults}')]} from (select 1 as i, 1 as h, 1 as g, 1 as k)",
                                          {"words": WORDS}).fetchall()
        sql = RUNS.replace("{defaults}", _defaults({str(row[0]) for row in given}))
        for first in range(0, runs, BATCH):
            writer.connection.execute(sql, {"first": first, "last": min(first + BATCH, runs), "words": WORDS})
        for statement in (MODELS, SOURCES, FINDINGS):
            writer.connection.execute(statement)
    return store


def _defaults(given: set[str]) -> str:
    """Something for each column that must not be NULL and that a benchmark has no opinion on."""
    missing = [field for field in arrow_schema(TABLES["runs"]) if field.name not in given and not field.nullable]
    return "".join(f", {_zero(field.type)} as {field.name}" for field in missing)


def _zero(type_: pa.DataType) -> str:
    if pa.types.is_list(type_):
        return "[]"
    return "false" if pa.types.is_boolean(type_) else "0" if pa.types.is_integer(type_) else "''"


if __name__ == "__main__":
    began = time.monotonic()
    make(Path(sys.argv[1]), int(sys.argv[2]))
    print(f"{time.monotonic() - began:.1f} s")
