"""How fast `tachograph ingest` is, beside the least possible with the same bytes.

    python -m tests.bench.ingest 100000 [1000000 …] [--from STORE]

(a) one JSONL file of N records against `duckdb.read_json` that writes the same columns,
unvalidated, into a DuckDB file (long text with zstd in both), and against our own floor: each line
validated by the wire model, and its figures and texts as Arrow into DuckDB; (b) a folder of N files
(at most 100,000) against a plain loop of `json.loads`. Prints seconds of wall time and of CPU, the
ratios of both, that of CPU to the floor, and the peak memory of the process tree. Everything is run
twice and the better time taken; the page cache is warm. On a machine with other work the ratio of
CPU counts. Then: how long three records take in a fresh process. The records are made of those
of STORE, else of the sample logs (`tests.bench.logs`).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from tests.bench.logs import Record, records_of, write_folder, write_lines

FILES_AT_MOST = 100_000
REPEATS = 2
FEW, FEW_REPEATS = 3, 5

READ_JSON = """
import duckdb, sys
source, target, raw = sys.argv[1:]
usage = ("struct(inputTokens bigint, outputTokens bigint, cacheReadInputTokens bigint, cacheCreationInputTokens bigint,"
         " webSearchRequests bigint, costUSD decimal(18, 9), contextWindow bigint)")
columns = {"type": "varchar", "subtype": "varchar", "is_error": "boolean", "duration_ms": "bigint", "duration_api_ms": "bigint",
           "num_turns": "bigint", "result": "varchar", "session_id": "varchar", "total_cost_usd": "decimal(18, 9)", "uuid": "varchar",
           "usage": "json", "modelUsage": f"map(varchar, {usage})", "permission_denials": "json"}
text = "{'raw': 'varchar'}, delim = chr(1), quote = '', escape = '', header = false, max_line_size = 100000000"
con = duckdb.connect(target)
con.execute("create table runs (type varchar, subtype varchar, is_error boolean, duration_ms bigint, duration_api_ms bigint,"
            " num_turns bigint, result varchar using compression zstd, session_id varchar, total_cost_usd decimal(18, 9), uuid varchar,"
            " usage json, permission_denials json" + (", raw varchar using compression zstd)" if raw == "raw" else ")"))
con.execute("create table model_usage (uuid varchar, model varchar, input bigint, output bigint, read bigint, write bigint,"
            " cost decimal(18, 9))")
con.execute(f"create temp view logs as select * from read_json({source!r}, format = 'newline_delimited', columns = {columns!r})")
if raw == "raw":
    con.execute("insert into runs by name select l.* exclude (modelUsage), r.raw from logs l positional join"
                f" read_csv({source!r}, columns = {text}) r")
else:
    con.execute("insert into runs by name select * exclude (modelUsage) from logs")
con.execute("insert into model_usage select uuid, m.key, m.value.inputTokens, m.value.outputTokens, m.value.cacheReadInputTokens,"
            " m.value.cacheCreationInputTokens, m.value.costUSD from (select uuid, unnest(map_entries(modelUsage)) as m from logs)")
con.close()
"""  # noqa: E501

FLOOR = """
import sys
from itertools import islice
import duckdb, pyarrow as pa
from schemas.wire.claude_code import ResultRecord
source, target = sys.argv[1:]
types = {"subtype": pa.string(), "is_error": pa.bool_(), "duration_ms": pa.float64(), "duration_api_ms": pa.float64(),
         "num_turns": pa.int64(), "stop_reason": pa.string(), "total_cost_usd": pa.decimal128(18, 9), "session_id": pa.string(),
         "uuid": pa.string(), "result": pa.string()}
texts = "result varchar using compression zstd, raw varchar using compression zstd"
con = duckdb.connect(target)
con.execute("create table runs (subtype varchar, is_error boolean, duration_ms double, duration_api_ms double, num_turns bigint,"
            f" stop_reason varchar, total_cost_usd decimal(18, 9), session_id varchar, uuid varchar, {texts})")
con.execute("create table model_usage (uuid varchar, model varchar, input bigint, output bigint, read bigint, write bigint,"
            " cost decimal(18, 9))")
con.begin()
with open(source, "rb") as file:
    while lines := list(islice(file, 4096)):
        records = [ResultRecord.model_validate_json(line) for line in lines]
        runs = {name: pa.array([getattr(record, name) for record in records], type_) for name, type_ in types.items()}
        used = [(record.uuid, model, one.input_tokens, one.output_tokens, one.cache_read_tokens, one.cache_write_tokens, one.cost_usd)
                for record in records for model, one in (record.model_usage or {}).items()]
        con.register("given", pa.table(runs | {"raw": pa.array(lines, pa.string())}))
        con.execute("insert into runs by name from given")
        if used:
            con.register("given", pa.table(list(map(pa.array, zip(*used))), list("abcdefg")))
            con.execute("insert into model_usage from given")
con.commit()
con.close()
"""  # noqa: E501

JSON_LOADS = """
import json, os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            json.loads(file.read())
"""


class Measured(NamedTuple):
    """Seconds of wall time, seconds of CPU of the process tree, and its peak memory in GiB."""

    seconds: float
    cpu: float
    memory: float


def timed(command: Sequence[str], target: Path, repeats: int = REPEATS) -> Measured:
    """The best times of several runs, each with a new target, and the highest peak.

    Raises SystemExit where a run fails.
    """
    runs = [_timed(command, target) for _ in range(repeats)]
    return Measured(
        min(run.seconds for run in runs),
        min(run.cpu for run in runs),
        max(run.memory for run in runs),
    )


def _timed(command: Sequence[str], target: Path) -> Measured:
    target.unlink(missing_ok=True)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed is compiled
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        peak = watched(process)
        if process.returncode:
            raise SystemExit((process.stderr.read() if process.stderr else b"").decode())
    seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Measured(
        seconds, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, peak
    )


def watched(process: subprocess.Popen[bytes]) -> float:
    """Peak of the memory of the process and its children, in GiB, until it ends."""
    peak, root = 0, psutil.Process(process.pid)
    while process.poll() is None:
        with suppress(psutil.Error):
            tree = (root, *root.children(recursive=True))
            peak = max(peak, sum(one.memory_info().rss for one in tree))
        time.sleep(0.05)
    return peak / 2**30


def main(arguments: Sequence[str]) -> None:
    """Run the benchmark for each number of records given."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.ingest", description="How fast ingest is."
    )
    parser.add_argument(
        "counts",
        metavar="N",
        type=int,
        nargs="*",
        default=[100_000],
        help="records to ingest (100000)",
    )
    parser.add_argument(
        "--from",
        dest="store",
        metavar="STORE",
        type=Path,
        help="a store whose result records are used (the sample logs)",
    )
    options = parser.parse_args(arguments)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed is compiled
    records = records_of(options.store)
    print(f"{os.cpu_count()} cores; made of {len(records):,} records")
    print(f"{'what':42}{'seconds':>9}{'ratio':>8}{'CPU s':>9}{'ratio':>8}{'floor':>8}{'GiB':>7}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for count in options.counts:
            lines(folder, records, count)
            if count <= FILES_AT_MOST:
                files(folder / f"{count}", records, count)
        few(folder, records)


def lines(folder: Path, records: Sequence[Record], count: int) -> None:
    """Benchmark (a)."""
    source, target = folder / "logs.jsonl", folder / "store.duckdb"
    write_lines(source, records, count)
    print(f"(a) {count:,} records, {source.stat().st_size / 1e6:,.0f} MB on lines of one file")
    plain = timed([sys.executable, "-c", READ_JSON, str(source), str(target), "plain"], target)
    row("    duckdb.read_json, unvalidated", plain, plain)
    row(
        "    the same, raw records kept too",
        timed([sys.executable, "-c", READ_JSON, str(source), str(target), "raw"], target),
        plain,
    )
    floor = timed([sys.executable, "-c", FLOOR, str(source), str(target)], target)
    row("    validate_json, Arrow into DuckDB", floor, plain, floor)
    row("    tachograph ingest", ours(source, target, count), plain, floor)
    source.unlink()


def files(folder: Path, records: Sequence[Record], count: int) -> None:
    """Benchmark (b)."""
    source, target = folder / "logs", folder / "store.duckdb"
    write_folder(source, records, count)
    print(f"(b) {count:,} files")
    loop = timed([sys.executable, "-c", JSON_LOADS, str(source)], target)
    row("    a loop of json.loads", loop, loop)
    row("    tachograph ingest", ours(source, target, count), loop)
    row(
        "    tachograph ingest, the second time",
        timed(ingest_command(source, target), folder / "nothing"),
        loop,
    )


def few(folder: Path, records: Sequence[Record]) -> None:
    """What a small ingest takes: mostly the start of the process and the making of a store."""
    source, target = folder / "few.jsonl", folder / "few.duckdb"
    write_lines(source, records, FEW)
    found = timed(ingest_command(source, target), target, FEW_REPEATS)
    print(
        f"{FEW} records in a fresh process, best of {FEW_REPEATS}: {found.seconds:.2f} s, "
        f"{found.cpu:.2f} s of CPU"
    )


def ours(source: Path, target: Path, count: int) -> Measured:
    """Our time and memory; makes sure that every record arrived."""
    measured = timed(ingest_command(source, target), target)
    words = ["report", "--metrics", "runs", "--format", "jsonl", "--db", str(target)]
    program = [sys.executable, "-m", "app.cli.main"]
    found = subprocess.run([*program, *words], check=True, capture_output=True)
    assert json.loads(found.stdout)["runs"] == count, found.stdout
    return measured


def ingest_command(source: Path, target: Path) -> list[str]:
    """`tachograph ingest`, as a user would call it."""
    return [sys.executable, "-m", "app.cli.main", "ingest", str(source), "--db", str(target)]


def row(what: str, measured: Measured, base: Measured, floor: Measured | None = None) -> None:
    """One line of the table.

    Wall time, CPU time, the ratios of both to the baseline, that of CPU to the floor, and peak
    memory.
    """
    seconds, cpu, memory = measured
    least = f"{cpu / floor.cpu:8.2f}" if floor else f"{'':8}"
    print(
        f"{what:42}{seconds:9.2f}{seconds / base.seconds:8.2f}{cpu:9.2f}{cpu / base.cpu:8.2f}{least}{memory:7.2f}",  # noqa: E501
        flush=True,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
