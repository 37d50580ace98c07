"""How fast `tachograph ingest` is, against the least that could be done with the same bytes, run beside it.

    python -m tests.bench.ingest 100000 [1000000 …]

(a) one JSONL file of N records against `duckdb.read_json` that writes the same columns, unvalidated, into a DuckDB file (long text
with zstd in both); (b) a folder of N files (at most 100,000) against a plain loop of `json.loads`. Prints seconds, ratios and the peak
memory of the process tree. Everything is run twice and the better time taken; the page cache is warm.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from tests.bench.logs import write_folder, write_lines

FILES_AT_MOST = 100_000
REPEATS = 2

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
"""

JSON_LOADS = """
import json, os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            json.loads(file.read())
"""


def timed(command: Sequence[str], target: Path) -> tuple[float, float]:
    """Seconds of the better of two runs, and the peak memory of the process tree in GiB."""
    best, peak = float("inf"), 0.0
    for _ in range(REPEATS):
        target.unlink(missing_ok=True)
        started = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            peak = max(peak, watched(process))
            if process.returncode:
                raise SystemExit((process.stderr.read() if process.stderr else b"").decode())
        best = min(best, time.perf_counter() - started)
    return best, peak


def watched(process: subprocess.Popen[bytes]) -> float:
    """Peak of the memory of the process and its children, in GiB, until it ends."""
    peak = 0
    root = psutil.Process(process.pid)
    while process.poll() is None:
        peak = max(peak, sum(_memory(one) for one in [root, *_children(root)]))
        time.sleep(0.05)
    return peak / 2**30


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return list(process.children(recursive=True))
    except psutil.Error:
        return []


def _memory(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def main() -> None:
    """Run the benchmark for each number of records given."""
    print(f"{os.cpu_count()} cores\n{'what':46}{'seconds':>9}{'ratio':>8}{'GiB':>7}")
    for count in map(int, sys.argv[1:] or ["100000"]):
        with tempfile.TemporaryDirectory() as folder:
            lines(Path(folder), count)
            if count <= FILES_AT_MOST:
                files(Path(folder), count)


def lines(folder: Path, count: int) -> None:
    """Benchmark (a)."""
    source, target = folder / "logs.jsonl", folder / "store.duckdb"
    write_lines(source, count)
    print(f"(a) {count:,} records, {source.stat().st_size / 1e6:,.0f} MB on lines of one file")
    plain = timed([sys.executable, "-c", READ_JSON, str(source), str(target), "plain"], target)
    row("    duckdb.read_json, unvalidated", plain, plain[0])
    row("    the same, raw records kept too", timed([sys.executable, "-c", READ_JSON, str(source), str(target), "raw"], target), plain[0])
    row("    tachograph ingest", ours(source, target, count), plain[0])
    source.unlink()


def files(folder: Path, count: int) -> None:
    """Benchmark (b)."""
    source, target = folder / "logs", folder / "store.duckdb"
    write_folder(source, count)
    print(f"(b) {count:,} files")
    loop = timed([sys.executable, "-c", JSON_LOADS, str(source)], target)
    row("    a loop of json.loads", loop, loop[0])
    row("    tachograph ingest", ours(source, target, count), loop[0])
    row("    tachograph ingest, the second time", timed(ingest_command(source, target), folder / "nothing"), loop[0])


def ours(source: Path, target: Path, count: int) -> tuple[float, float]:
    """Our time and memory; makes sure that every record arrived."""
    measured = timed(ingest_command(source, target), target)
    found = subprocess.run(
        [sys.executable, "-m", "app.cli.main", "report", "--metrics", "runs", "--format", "jsonl", "--db", str(target)],
        check=True,
        capture_output=True,
    )
    assert json.loads(found.stdout)["runs"] == count, found.stdout
    return measured


def ingest_command(source: Path, target: Path) -> list[str]:
    """`tachograph ingest`, as a user would call it."""
    return [sys.executable, "-m", "app.cli.main", "ingest", str(source), "--db", str(target)]


def row(what: str, measured: tuple[float, float], base: float) -> None:
    """One line of the table: seconds, their ratio to the baseline, peak memory."""
    seconds, memory = measured
    print(f"{what:46}{seconds:9.2f}{seconds / base:8.2f}{memory:7.2f}", flush=True)


if __name__ == "__main__":
    main()
