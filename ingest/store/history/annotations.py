"""What people say of runs: labels, notes, stars, exclusions. Written by the ids of runs; nothing of a record changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import duckdb
import pyarrow as pa

from ingest.store.database import Store, Writer
from ingest.store.history.ingests import whoami
from schemas.rows.annotation import AnnotationRow

HIDDEN = ""
"""The value of a label that hides an ingested one."""

LABEL_COLUMNS = ("repo", "task", "experiment")
"""Labels that are columns of a run too, which may come from its path or a sidecar file."""


@dataclass(frozen=True)
class Change:
    """What to change; None leaves it as it is. `labels`: to set; `removed`: keys to remove; an empty `note` removes the note.

    `reason`: why the run is excluded.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    removed: Sequence[str] = ()
    note: str | None = None
    starred: bool | None = None
    excluded: bool | None = None
    reason: str | None = None


def annotate(store: Store, run_ids: Sequence[str], change: Change, who: str = "") -> int:
    """Change what is said of runs, in one transaction. Returns how many annotations changed.

    `who` changes it, by default the user of this process. Raises StoreError.
    """

    def annotated(writer: Writer) -> int:
        writer.connection.register("wanted", pa.table({"run_id": pa.array(run_ids, pa.string())}))
        changed = dict(_changed(writer.connection, change, who or whoami()))
        connection = writer.connection
        connection.execute("delete from annotations where run_id in (select unnest($run_ids))", {"run_ids": list(changed)})
        writer.insert("annotations", [row for row in changed.values() if _says_anything(row)])
        connection.unregister("wanted")
        return len(changed)

    return store.write(annotated, make=False)


def _changed(connection: duckdb.DuckDBPyConnection, change: Change, who: str) -> Iterator[tuple[str, AnnotationRow]]:
    """The annotations that differ from what they were, by run."""
    sql = """select distinct runs.run_id, runs.labels as ingested, repo, task, experiment,
                    annotations.* exclude (run_id, changed_at, changed_by)
             from runs semi join wanted using (run_id) left join annotations on annotations.run_id = runs.run_id"""
    now = datetime.now(UTC)
    for run in connection.sql(sql).to_arrow_table().to_pylist():
        before = _annotation(run)
        after = _applied(before, change, run)
        if after != before:
            yield run["run_id"], AnnotationRow(run_id=run["run_id"], **after, changed_at=now, changed_by=who)


def _annotation(run: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "labels": dict(run["labels"] or ()),
        "note": run["note"],
        "starred": bool(run["starred"]),
        "excluded": bool(run["excluded"]),
        "excluded_reason": run["excluded_reason"],
    }


def _applied(before: Mapping[str, Any], change: Change, run: Mapping[str, Any]) -> dict[str, Any]:
    """The annotation after the change. A removed label that was ingested is hidden."""
    ingested = dict(run["ingested"] or ()).keys() | {key for key in LABEL_COLUMNS if run[key] is not None}
    removed = {*change.removed, *(key for key, value in change.labels.items() if not value)}
    labels = {key: value for key, value in (before["labels"] | dict(change.labels)).items() if key not in removed}
    labels |= {key: HIDDEN for key in removed if key in ingested}
    after = dict(before) | {"labels": dict(sorted(labels.items()))}
    after |= {} if change.note is None else {"note": change.note or None}
    after |= {} if change.starred is None else {"starred": change.starred}
    if change.excluded is not None:
        after |= {"excluded": change.excluded, "excluded_reason": change.reason or None if change.excluded else None}
    return after


def _says_anything(row: AnnotationRow) -> bool:
    return bool(row.labels or row.note or row.starred or row.excluded)
