"""Files that are read again because they have rejects: where they are, and which of the old rejects no longer hold."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from ingest.store.database import Store, Writer, run_step
from ingest.store.ingests import supersede
from ingest.store.read_result import ReadResult
from schemas.file_kinds import MAY_HOLD_RUNS

MEMBER = "!"
"""The separator between an archive and its member in a name (`ingest.sources.archives`)."""


@dataclass(frozen=True)
class Retried:
    """The files with rejects, or in which a later version may find a run.

    `there`: files that exist; `gone`: names of those with rejects that do not, or not in this folder.
    """

    there: tuple[Path, ...]
    gone: tuple[str, ...]


def retried(store: Store) -> Retried:
    """The files to read again. A relative name is taken from the working folder. Raises StoreError."""
    with store.reading() as connection:
        rows = connection.execute(
            "select name, bool_or(rejected > 0) from sources where rejected > 0 or list_contains($kinds, kind) group by name order by name",
            {"kinds": [*map(str, MAY_HOLD_RUNS)]},
        ).fetchall()
    found = [(str(name), _file(str(name)), has_rejects) for name, has_rejects in rows]
    there = dict.fromkeys(path for _, path, _ in found if path)
    return Retried(tuple(there), tuple(name for name, path, has_rejects in found if has_rejects and not path))


def _file(name: str) -> Path | None:
    """The file of a source: itself, or the archive it is a member of. The name of a file may contain the separator too."""
    parts = name.split(MEMBER)
    candidates = (MEMBER.join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((Path(path) for path in candidates if os.path.isfile(path)), None)  # noqa: PTH113  Path.is_file() may raise


@dataclass(frozen=True)
class Superseded:
    """Names of sources whose old rejects were removed: files that were `changed`, and files that have `grown`."""

    changed: tuple[str, ...] = ()
    grown: tuple[str, ...] = ()


def drop_superseded(writer: Writer, results: Collection[ReadResult], ingest_id: int, *, retried: bool) -> Superseded:
    """Remove the rejects of sources that were read again: of files that have grown, since their beginning was read again with the rest.

    `retried`: also of files whose content was changed in any other way. Runs of the old content stay; a source without documents is
    removed too. All of it is kept for an undo of this ingest.
    """
    now = {
        "names": sorted({result.name for result in results}) if retried else [],
        "grown": sorted({source_id for result in results for source_id in result.begins_with}),
        "source_ids": sorted({result.source_id for result in results}),
    }
    if not (now["names"] or now["grown"]):
        return Superseded()
    run_step(writer.connection, "retry/01_superseded", now)
    removed = writer.connection.execute("select name, has_grown from superseded order by name").fetchall()
    if removed:
        supersede(writer.connection, "select source_id from superseded", ingest_id)
        run_step(writer.connection, "retry/02_dropped")
    grown = tuple(str(name) for name, has_grown in removed if has_grown)
    return Superseded(tuple(str(name) for name, has_grown in removed if not has_grown), grown)
