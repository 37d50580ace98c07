"""Sources that the store has already, which are not read again."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from ingest.sources.identity import Earlier
from ingest.store.database import Store
from schemas.errors import StoreMissing
from schemas.rows.source import MAY_HOLD_RUNS, FileKind

_ZONES = """
    select name, arg_max(path_tz, ingest_id)
    from (select name, ingest_id from sources union all select name, ingest_id from superseded_sources) join ingests using (ingest_id)
    where path_tz is not null group by name"""


@dataclass(frozen=True)
class KnownSources:
    """`source_ids`: sources that were read. `rejected`: by name, sources with rejects, whose files may have grown since.

    `zones`: by name, the zone of times in the paths of sources whose ingest named one.
    """

    source_ids: frozenset[str] = frozenset()
    rejected: dict[str, tuple[Earlier, ...]] = field(default_factory=dict)
    zones: dict[str, str] = field(default_factory=dict)


def known_sources(store: Store, *, without_rejects: bool = False) -> KnownSources:
    """The sources of the store; none where there is no store. Raises StoreError.

    `without_rejects`: only sources without rejects, without archives (a member may have rejects) and without files in which a later
    version may find a run.
    """
    condition = "where rejected = 0 and not list_contains($retried, kind)" if without_rejects else ""
    retried = {"retried": [*map(str, (FileKind.ARCHIVE, *MAY_HOLD_RUNS))]} if without_rejects else {}
    try:
        with store.reading() as connection:
            sources = connection.execute(f"select source_id from sources {condition}", retried).fetchall()
            rejected = connection.execute("select name, bytes, source_id from sources where rejected > 0").fetchall()
            zones = connection.execute(_ZONES).fetchall()
    except StoreMissing:
        return KnownSources()
    by_name: dict[str, list[Earlier]] = defaultdict(list)
    for name, size, source_id in rejected:
        by_name[str(name)].append(Earlier(int(size), str(source_id)))
    return KnownSources(frozenset(str(found) for (found,) in sources), {name: tuple(found) for name, found in by_name.items()}, dict(zones))
