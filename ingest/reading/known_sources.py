"""Sources that the store has already, which are not read again.

And files with rejects, which are re-read on request.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ingest.reading.settings import last_part
from ingest.sources.files import Earlier, Source
from ingest.store.database import Store, Writer, run_step
from ingest.store.ingests import supersede
from ingest.store.read_result import PortionKey, ReadResult
from schemas.errors import StoreMissing
from schemas.file_kinds import MAY_HOLD_RUNS, FileKind

_ZONES = """
    select name, arg_max(path_tz, ingest_id)
    from (
        select name, ingest_id from sources union all
        select name, ingest_id from superseded_sources
    ) join ingests using (ingest_id)
    where path_tz is not null group by name"""

_GROWING = """
    select name, bytes, source_id from sources
    where
        rejected > 0
        or (
            (
                resume_at is not null or kind in ('measurement', 'loop') or map is not null
                or source_id in (select source_id from run_records where record_kind = 'telemetry')
            )
            and source_id not in (select goes_on from sources where goes_on is not null)
        )
    order by ingest_id"""
"""Of a file that grew before, only the last reading is needed."""

_STAMPS = """
    select found_files.name, bytes, found_files.modified_ns, source_id
    from found_files join sources using (source_id) order by file_no"""

_MEMBERS = """
    select reading, source_id, archive_members.name, bytes
    from (select unnest($readings::varchar[]) as reading, unnest($ids::varchar[]) as archive_id) as archives
    join archive_members using (archive_id)
    join sources using (source_id)"""  # noqa: E501


class Stamp(NamedTuple):
    """A file as it was found: the same size and time mean the same bytes."""

    bytes: int
    modified_ns: int | None
    source_id: str


@dataclass(frozen=True)
class KnownSources:
    """`kinds`: sources that were read, and their kinds.

    `rows`: by name, the row in the `columns` of Stamp of the file found last.

    `archives`: those of them that are archives with files inside. `growing`: sources with rejects,
    transcripts, telemetry and measured results, whose files may have grown since, by the last part
    of their names: a folder may have been renamed meanwhile. `zones`: name → time zone given at the
    ingest for times in the path. `mapped`: source_id → hash of the map it was read by.
    """

    store: Store
    kinds: Mapping[str, str] = field(default_factory=dict)
    archives: frozenset[str] = frozenset()
    growing: dict[str, tuple[Earlier, ...]] = field(default_factory=dict)
    zones: dict[str, str] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    columns: Sequence[
        Sequence[Any]
    ] = ()  # not one tuple each: of 100,000 sources they would take longer than a small ingest
    mapped: Mapping[str, str] = field(default_factory=dict)

    def stamp(self, name: str) -> Stamp | None:
        """Return the stamp of the source of this name, or None."""
        row = self.rows.get(name)
        return None if row is None else Stamp(*[column[row] for column in self.columns])

    def unchanged(self, source: Source) -> str | None:
        """Return the source_id of a file not modified since it was read, else None.

        The file is not opened.

        A relative name may mean another file than it did then.
        """
        if source.modified_ns is None or source.temporary or not os.path.isabs(source.name):  # noqa: PTH117  for every file
            return None
        stamp = self.stamp(source.name)
        return (
            stamp.source_id
            if stamp and (stamp.bytes, stamp.modified_ns) == (source.size, source.modified_ns)
            else None
        )

    def members(self, results: Iterable[ReadResult]) -> list[ReadResult]:
        """Return a result for each file inside of known archives, which are not opened.

        Raises StoreError.
        """
        archives = {
            result.key.reading: result
            for result in results
            if result.known and result.source_id in self.archives
        }
        if not archives:
            return []
        columns = {
            "readings": list(archives),
            "ids": [archive.source_id for archive in archives.values()],
        }
        with self.store.reading() as connection:
            rows = connection.execute(_MEMBERS, columns).fetchall()
        return [
            ReadResult(
                PortionKey(f"{reading}.member-{number}"),
                source_id,
                f"{archives[reading].name}{name}",
                size,
                known=True,
            )
            for number, (reading, source_id, name, size) in enumerate(rows)
        ]

    def restamped(self, results: Iterable[ReadResult]) -> dict[tuple[str, str], int]:
        """Return (source_id, name) → time of known files that had to be opened.

        They were opened only because their time changed or could not be trusted.
        """
        found = {}
        for result in results:
            now = result.modified_ns if result.known else None
            if (
                now
                and (stamp := self.stamp(result.name))
                and stamp.source_id == result.source_id
                and stamp.modified_ns != now
            ):
                found[stamp.source_id, result.name] = now
        return found


def known_sources(store: Store, *, without_rejects: bool = False) -> KnownSources:
    """Return the sources of the store; none if there is no store. Raises StoreError.

    `without_rejects`: only sources without rejects, without archives (a member may have rejects)
    and without files in which a later version may find a run; and no stamps, so that files are
    opened.
    """
    sql = "select source_id, kind, sha256(map) from sources"
    parameters = {}
    if without_rejects:
        sql += " where rejected = 0 and not list_contains($retried, kind)"
        parameters = {"retried": [*map(str, (FileKind.ARCHIVE, *MAY_HOLD_RUNS))]}
    try:
        with store.reading() as connection:
            # no slower than by Arrow, which would have to be imported
            sources = connection.execute(sql, parameters).fetchall()
            files = [] if without_rejects else connection.execute(_STAMPS).fetchall()
            growing = connection.execute(_GROWING).fetchall()
            zones = connection.execute(_ZONES).fetchall()
            archives = connection.execute(
                "select distinct archive_id from archive_members"
            ).fetchall()
    except StoreMissing:
        return KnownSources(store)
    by_name: dict[str, list[Earlier]] = defaultdict(list)
    for name, size, source_id in growing:
        by_name[last_part(name)].append(Earlier(int(size), str(source_id)))
    names, *columns = zip(*files, strict=True) if files else [()] * 4
    return KnownSources(
        store,
        {source_id: kind for source_id, kind, _ in sources},
        frozenset(archive_id for (archive_id,) in archives),
        # a file is compared with so many sources of its name
        {name: tuple(found[-16:]) for name, found in by_name.items()},
        dict(zones),
        dict(zip(names, range(len(names)), strict=True)),
        columns,
        {source_id: how for source_id, _, how in sources if how},
    )


@dataclass(frozen=True)
class Retried:
    """Files with rejects, or in which a later version may find a run.

    `there`: files that exist; `gone`: names of files with rejects that are missing, at least from
    this folder.
    """

    there: tuple[Path, ...]
    gone: tuple[str, ...]


def retried(store: Store) -> Retried:
    """Return the files to read again. A relative name is resolved in the working folder.

    Raises StoreError.

    The file of a source is itself, or the archive it is a member of (`a.zip!b.json`); the name of a
    file may contain a `!`, too.
    """
    with store.reading() as connection:
        rows = connection.execute(
            (
                "select name, bool_or(rejected > 0) from sources where rejected > 0 or "
                "list_contains($kinds, kind) group by name order by name"
            ),
            {"kinds": [*map(str, MAY_HOLD_RUNS)]},
        ).fetchall()
    there: dict[Path, None] = {}
    gone: list[str] = []
    for name, has_rejects in rows:
        parts = str(name).split("!")
        candidates = ("!".join(parts[:count]) for count in range(len(parts), 0, -1))
        path = next((Path(path) for path in candidates if os.path.isfile(path)), None)  # noqa: PTH113  Path.is_file() may raise
        if path:
            there[path] = None
        elif has_rejects:
            gone.append(str(name))
    return Retried(tuple(there), tuple(gone))


@dataclass(frozen=True)
class Superseded:
    """Names of sources whose old rejects were removed: `changed` and `grown` files."""

    changed: tuple[str, ...] = ()
    grown: tuple[str, ...] = ()


def drop_superseded(
    writer: Writer, results: Collection[ReadResult], ingest_id: int, *, retried: bool
) -> Superseded:
    """Remove the rejects of re-read sources.

    Of grown files, since their beginning was read again with the rest.

    `retried`: also of files whose content was changed in any other way. Runs of the old content
    stay; a source without documents is removed too. All of it is kept for an undo of this ingest.
    """
    now = {
        "names": sorted({result.name for result in results}) if retried else [],
        "grown": sorted({source_id for result in results for source_id in result.begins_with}),
        "source_ids": sorted({result.source_id for result in results}),
    }
    if not (now["names"] or now["grown"]):
        return Superseded()
    run_step(writer.connection, "retry/01_superseded", now)
    removed = writer.connection.execute(
        "select name, has_grown from superseded order by name"
    ).fetchall()
    if removed:
        supersede(writer.connection, "select source_id from superseded", ingest_id)
        run_step(writer.connection, "retry/02_dropped")
    grown = tuple(str(name) for name, has_grown in removed if has_grown)
    return Superseded(tuple(str(name) for name, has_grown in removed if not has_grown), grown)
