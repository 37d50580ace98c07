"""Files read anew because something was rejected of them: where they are now, and what of their former rejects no longer holds."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from ingest.store import Store, Writer
from schemas.source import MAY_HOLD_RUNS

MEMBER = "!"
"""What stands between an archive and its member in a name (`ingest.archives`)."""

_STEPS = resources.files("ingest") / "sql" / "retry"


@dataclass(frozen=True)
class Retried:
    """The files that hold rejects, or in which a later version may find a run: those that are `there`.

    `gone`: the names of those with rejects that are no longer there, or in another folder.
    """

    there: tuple[Path, ...]
    gone: tuple[str, ...]


def retried(store: Store) -> Retried:
    """What there is to read anew. A relative name is looked for in the working folder. Raises StoreError."""
    with store.reading() as connection:
        rows = connection.execute(
            "select name, bool_or(rejected > 0) from sources where rejected > 0 or list_contains($kinds, kind) group by name order by name",
            {"kinds": [*map(str, MAY_HOLD_RUNS)]},
        ).fetchall()
    found = [(str(name), _file(str(name)), has_rejects) for name, has_rejects in rows]
    there = dict.fromkeys(path for _, path, _ in found if path)
    return Retried(tuple(there), tuple(name for name, path, has_rejects in found if has_rejects and not path))


def _file(name: str) -> Path | None:
    """The file a source was read from: itself, or the archive it is a member of. A file's own name may hold the sign between them."""
    parts = name.split(MEMBER)
    candidates = (MEMBER.join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((Path(path) for path in candidates if os.path.isfile(path)), None)  # noqa: PTH113  Path.is_file() may raise


def drop_superseded(writer: Writer, names: Collection[str], source_ids: Collection[str]) -> tuple[str, ...]:
    """Remove the rejects of what once stood under these names and was changed since. Returns whose rejects went.

    `source_ids` are what stands there now. The runs that a former content gave stay; a source of which nothing is left goes too.
    """
    writer.connection.execute((_STEPS / "01_superseded.sql").read_text(), {"names": list(names), "source_ids": list(source_ids)})
    went = writer.connection.execute("select name from superseded order by name").fetchall()
    if went:
        writer.connection.execute((_STEPS / "02_dropped.sql").read_text())
    return tuple(str(name) for (name,) in went)
