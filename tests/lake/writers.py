"""Many processes that write to one lake at once, and logs for them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from ingest.store.database import Store
from tests.conftest import environment, record_text
from tests.forks import command

COST = "0.25"
"""Reported cost of each run in the logs."""


def write_logs(folder: Path, first: int, runs: int, per_file: int = 10) -> Path:
    """A folder with logs of some runs, numbered from `first`.

    Runs of one number are the same record.
    """
    folder.mkdir(parents=True)
    for begin in range(first, first + runs, per_file):
        numbers = range(begin, min(begin + per_file, first + runs))
        lines = (
            record_text(
                uuid=f"run-{number:06}",
                session_id=f"session-{number:06}",
                result=f"Made it {number}.5x faster.",
            )
            for number in numbers
        )
        (folder / f"log-{begin:06}.jsonl").write_text("\n".join(lines))
    return folder


def begin(store: Store, *words: str | Path) -> subprocess.Popen[str]:
    """A command on the store in an interpreter of its own, that runs beside others."""
    full = [*command(*words), "--db", store.location]
    return subprocess.Popen(
        full, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def end(processes: Sequence[subprocess.Popen[str]]) -> list[tuple[int, str, str]]:
    """(exit code, output, errors) of each process, when all have ended."""
    return [
        (process.returncode, *said)
        for process, said in [(process, process.communicate(timeout=300)) for process in processes]
    ]


def totals(store: Store) -> dict[str, object]:
    """What must be the same whoever wrote it, and how often it was tried.

    Counts without doubles, and sums.
    """
    sql = """select count(*), count(distinct run_id), sum(cost_own_usd), sum(cost_list_usd), sum(input_tokens) from v_runs
             union all select count(*), count(distinct run_id), sum(cost_list_usd), null, sum(output_tokens) from model_usage
             union all select count(*), count(distinct (run_id, claim_no)), null, null, null from claims
             union all select count(*), count(distinct source_id), sum(accepted), sum(documents), sum(rejected) from sources
             union all select count(*), count(distinct (run_id, source_id, ordinal)), null, null, null from run_records"""  # noqa: E501
    with store.reading() as connection:
        found = connection.execute(sql).fetchall()
    names = ("runs", "model_usage", "claims", "sources", "run_records")
    sums = [tuple(None if value is None else Decimal(str(value)) for value in row) for row in found]
    return dict(zip(names, sums, strict=True))


def runs(store: Store) -> int:
    """How many runs a store has."""
    with store.reading() as connection:
        return int(connection.execute("select count(*) from runs").fetchall()[0][0])
