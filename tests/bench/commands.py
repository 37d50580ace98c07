"""CPU seconds of commands that people wait for, beside the least that could be done.

Each command runs in a fresh process.

    python -m tests.bench.commands STORE [--folder FOLDER] [--beside CHECKOUT]

The floor of a command that reads is its main query by DuckDB alone. Of three records in a new store
it is the imports, of a FOLDER one pass of `json.loads` over its JSON files, and of a folder with
nothing new `os.walk` and a stat per file. CHECKOUT: another version of the program with its
`.venv`, measured beside this one. The best of five runs counts; a folder is ingested once.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import duckdb

from tests.bench.ingest import timed
from tests.bench.logs import records_of, write_folder
from tests.conftest import ROOT

REPEATS = 5

QUERY = """
import sys, duckdb
store, sql = sys.argv[1:]
connection = duckdb.connect(config={"threads": 1})
connection.execute(f"attach '{store}' as store (read_only); use store")
connection.execute(sql).fetchall()
"""
WALK = """
import os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        os.stat(os.path.join(folder, name))
"""
JSON_LOADS = """
import contextlib, json, os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        if name.endswith(".json"):
            with contextlib.suppress(ValueError), open(os.path.join(folder, name), "rb") as file:
                json.loads(file.read())
"""
IMPORTS = "import duckdb, pyarrow, pydantic"

RUNS = (
    "select title, dated_at, model, outcome, cost_best_usd, duration_ms, run_id from v_runs "
    "order by cost_best_usd desc nulls last limit 50"
)
COSTS = (
    "select count(*), sum(cost_best_usd), median(cost_best_usd), median(duration_ms) from v_runs "
    "where is_started"
)
READING = {
    "runs": RUNS,
    "report": COSTS,
    "verdicts": "from v_verdicts where values_measured > 0",
    "findings": "from findings join v_runs using (run_id) limit 50",
    "claims": "from claims join v_runs using (run_id) limit 50",
    "show": "from v_runs where run_id = (select min(run_id) from runs)",
    "check --max-total-usd 1000000": COSTS,
    "compare": "select agent, model, median(cost_best_usd) from v_runs group by all",
}
"""Command → its main query."""


def measured(
    what: str,
    floor: Sequence[str],
    ours: Sequence[str],
    checkouts: Sequence[Path],
    target: Path,
    repeats: int = REPEATS,
) -> None:
    """Print a line: CPU seconds of the floor and of the command in each checkout, and a ratio.

    The ratio is of this version to the floor.
    """
    least = timed([sys.executable, "-c", *floor], target, repeats).cpu
    found = [
        timed([str(one / ".venv/bin/tachograph"), *ours], target, repeats).cpu for one in checkouts
    ]
    print(
        f"{what:40}{least:8.2f}{''.join(f'{seconds:8.2f}' for seconds in found)}{found[0] / least:8.1f}",  # noqa: E501
        flush=True,
    )


def main(arguments: Sequence[str]) -> None:
    """Measure them all."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.commands",
        description="CPU seconds of commands beside their floors.",
    )
    parser.add_argument("store", metavar="STORE", type=Path, help="the store that is read")
    parser.add_argument("--folder", metavar="FOLDER", type=Path, help="logs to ingest, twice")
    parser.add_argument(
        "--beside", metavar="CHECKOUT", type=Path, help="another version of the program"
    )
    options = parser.parse_args(arguments)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed is compiled
    store, checkouts = str(options.store.resolve()), [ROOT, *filter(None, [options.beside])]
    with duckdb.connect(store, read_only=True) as connection:
        [(runs, run_id)] = connection.execute("select count(*), min(run_id) from runs").fetchall()
    print(
        f"{f'{runs:,} runs':40}{'floor':>8}{'ours':>8}{'beside' if options.beside else '':>8}{'ratio':>8}"  # noqa: E501
    )
    with tempfile.TemporaryDirectory() as name:
        target, few = Path(name, "new.duckdb"), Path(name, "few")
        measured("--help", ["import click"], ["--help"], checkouts, target)
        for command, sql in READING.items():
            words = [*command.split(), *([run_id] if command == "show" else []), "--db", store]
            measured(command, [QUERY, store, sql], words, checkouts, target)
        write_folder(few, records_of(None), 3)
        measured(
            "ingest: 3 records, new store",
            [IMPORTS],
            ["ingest", str(few), "--db", str(target)],
            checkouts,
            target,
        )
        if options.folder:
            folder, kept = str(options.folder.resolve()), str(Path(name, "kept.duckdb"))
            measured(
                "ingest: the folder",
                [JSON_LOADS, folder],
                ["ingest", folder, "--db", kept],
                checkouts[:1],
                target,
                1,
            )
            measured(
                "ingest: nothing new in it",
                [WALK, folder],
                ["ingest", folder, "--db", kept],
                checkouts,
                target,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
