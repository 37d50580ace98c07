"""All that the store knows of one run: what its page and `tachograph show` tell."""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow as pa

from app.queries import claims as claim_queries
from app.queries import measured as measured_queries
from app.queries import runs as run_queries
from app.queries.claims import RunFacts
from app.queries.read_transaction import read_transaction
from ingest.store.database import Store


class RunPage(NamedTuple):
    """`run` as of `queries.runs.run`; `patch` has the files of the patch beside the record, with their lines, and `patch_text` its text.

    `verdict` as of `queries.measured.verdict_of`, None where nothing was measured. `location` is that of the store.
    """

    run: dict[str, Any]
    facts: RunFacts
    patch: pa.Table
    verdict: dict[str, Any] | None
    location: str
    patch_text: dict[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """All of it for programs: the columns of the run, and its tables as lists of objects."""
        tables = self.facts._asdict() | {"patch_files": self.patch}
        counts = {f"{name}_count": self.run[name] for name in tables if name in self.run}
        of_run = {name: value.to_pylist() if isinstance(value, pa.Table) else value for name, value in self.run.items()}
        return (
            of_run
            | counts
            | {name: table.to_pylist() for name, table in tables.items()}
            | {"patch": self.patch_text, "measured": self.verdict}
        )


def patch_of(store: Store, run_id: str) -> dict[str, Any] | None:
    """The patch of a run: `file_name`, `bytes`, `is_cut` and `text`; None where none is kept."""
    rows = run_queries.fetch(store, "select * exclude (run_id) from patches where run_id = $run_id", {"run_id": run_id}).to_pylist()
    return rows[0] if rows else None


def patch_files_of(store: Store, run_id: str) -> pa.Table:
    """The files of the patch beside the run's record, with their lines."""
    sql = "select path, insertions, deletions from patch_files where run_id = $run_id order by path"
    return run_queries.fetch(store, sql, {"run_id": run_id})


def run_page(store: Store, run_id: str) -> RunPage | None:
    """The page of a run, None where there is none. Raises StoreError."""
    with read_transaction(store) as transaction:
        run = run_queries.run(transaction, run_id)
        if run is None:
            return None
        facts, verdict = claim_queries.of_run(transaction, run_id), measured_queries.verdict_of(transaction, run_id)
        files = patch_files_of(transaction, run_id)
        return RunPage(run, facts, files, verdict, store.location, patch_of(transaction, run_id))
