"""What the readers find in bytes, with and without a store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ingest.agents.readers import SourceReaders
from ingest.agents.shared.costs import settled
from ingest.context.gather import SourceContext
from ingest.sources.contents import read
from ingest.sources.document import Document
from ingest.sources.files import Source, Unreadable
from ingest.store.database import Store
from ingest.store.record_rows import Read, runs_at_end, runs_with
from schemas.errors import InvalidRecord
from schemas.rows.distilled import Run
from schemas.rows.run import RunRow
from tests.conftest import fetched, ingest_paths


def runs_in(data: bytes) -> tuple[list[RunRow], list[str]]:
    """The runs in these bytes, and the details of rejects."""
    runs, rejects = [], []
    for one in _read(data):
        if isinstance(one, Read):
            runs.append(settled(one.rows).run)
        elif isinstance(one, InvalidRecord) or one.certain:
            rejects.append(one.detail)
    return runs, rejects


def _read(data: bytes) -> Iterator[Read | Unreadable | InvalidRecord]:
    readers, facts_of = SourceReaders(), SourceContext().for_run
    for part in read(Source("log", data)):
        if isinstance(part, Unreadable):
            yield part
        elif isinstance(part, Document):
            try:
                yield from runs_with(readers, part, facts_of) or ()
            except InvalidRecord as error:
                yield error
    yield from runs_at_end(readers, facts_of)[0]


def kept_in(data: bytes | str) -> list[Run]:
    """The runs in this text as their readers distilled them. Nothing in it is rejected."""
    runs, rejects = runs_in(data if isinstance(data, bytes) else data.encode())
    assert not rejects
    return [Run.model_validate_json(run.raw) for run in runs]


def read_log(log: str | dict[str, Any]) -> list[dict[str, Any]]:
    """The runs of one log as an ingest reads them, without a store.

    Columns of `runs`, and `cost`, what was paid in USD, as a float.
    """
    data = (log if isinstance(log, str) else json.dumps(log, indent=2)).encode()
    runs = [settled(one.rows).run for one in _read(data) if isinstance(one, Read)]
    rows = [{name: getattr(run, name) for name in RunRow.columns} for run in runs]
    return sorted(
        (
            row | {"cost": None if row["cost_own_usd"] is None else float(row["cost_own_usd"])}
            for row in rows
        ),
        key=lambda row: str(row["run_id"]),
    )


def lines(*events: dict[str, Any]) -> str:
    """The events as lines of JSON."""
    return "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events)


def ingested(store: Store, folder: Path, **files: str | dict[str, Any]) -> list[dict[str, Any]]:
    """The runs in the store after files with these texts or records were ingested."""
    for name, content in files.items():
        (folder / f"{name}.jsonl").write_text(
            content if isinstance(content, str) else json.dumps(content, indent=2)
        )
    ingest_paths(store, *(folder / f"{name}.jsonl" for name in files))
    return runs_in_store(store)


def runs_in_store(store: Store) -> list[dict[str, Any]]:
    """Every run without the place it was read from.

    What a list of runs shows, and `cost`, what was paid in USD, as a float.
    """
    with store.reading() as connection:
        table = connection.sql(
            "select v_runs.* exclude (place, source_id, source_name, ordinal, received_at), "
            "v_runs.cost_own_usd::double as cost, runs.credits, runs.credits_unit from v_runs "
            "join runs using (run_id) order by run_id"
        )
        rows: list[dict[str, Any]] = table.to_arrow_table().to_pylist()
    return rows


def rejects_of(store: Store) -> list[tuple[str, str]]:
    """(reason, detail) of every reject, by detail."""
    return fetched(store, "select reason, detail from rejects order by detail")
