"""Sources that the store has already, which are not read again."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import duckdb

from ingest.reading.settings import Beginning
from ingest.sources.files import Source
from ingest.sources.identity import Earlier, last_part
from ingest.store.database import Store, arrow
from ingest.store.read_result import ReadResult
from schemas.errors import StoreMissing
from schemas.file_kinds import MAY_HOLD_RUNS, FileKind

if TYPE_CHECKING:
    import pyarrow as pa

_ZONES = """
    select name, arg_max(path_tz, ingest_id)
    from (select name, ingest_id from sources union all select name, ingest_id from superseded_sources) join ingests using (ingest_id)
    where path_tz is not null group by name"""
MOST_ALIKE = 16
"""Sources with one last part of their names that a file is compared with."""

_GROWING = """
    select name, bytes, source_id from sources
    where
        rejected > 0
        or (
            (resume_at is not null or kind = 'measurement')
            and source_id not in (select goes_on from sources where goes_on is not null)
        )
    order by ingest_id"""
"""Of a file that has grown before, only the last part: the next one goes on with it."""

_STAMPS = "select name, bytes, modified_ns, source_id, resume_at from sources"
MANY_STAMPS = 1_000
"""Of so many stamps it is faster to make lists of all values than single ones."""

FEW_SOURCES = 10_000
"""Of so many sources the rows are fetched in the time that it takes to import pyarrow."""

LEAST_LEFT_OUT = 1 << 17
"""A transcript of which fewer bytes could be left out is read whole, which takes a few milliseconds."""

_RECORDS = """
    select records.source_id, coalesce(any_value(records.raw), any_value(runs.raw)) as raw
    from run_records as records
    left join runs using (run_id)
    where records.source_id in (select unnest($source_ids::varchar[]))
    group by records.source_id
    having count(*) = 1"""


class Stamp(NamedTuple):
    """What the system says of a file as it was read: as long as it says the same, the file has the same bytes."""

    bytes: int
    modified_ns: int | None
    source_id: str
    resume_at: int | None


class Stamps:
    """The stamps of sources by name, of several with one name the last.

    Each is made when it is asked for, since mostly few are: all of 100,000 take longer to make than a small ingest.
    """

    def __init__(self, names: Sequence[str] = (), columns: Sequence[pa.ChunkedArray] = (), lists: Sequence[Sequence[Any]] = ()) -> None:
        """The fields of Stamp, row for row: as columns of Arrow or as lists."""
        self._rows = dict(zip(names, range(len(names)), strict=True))
        self._columns = columns
        self._lists = lists
        self._asked = 0

    def get(self, name: str) -> Stamp | None:
        """The stamp of a source; None where there is none of this name."""
        row = self._rows.get(name)
        if row is None:
            return None
        self._asked += 1
        if self._asked == MANY_STAMPS and not self._lists:
            self._lists = [column.to_pylist() for column in self._columns]
        return Stamp(*(values[row] for values in self._lists)) if self._lists else Stamp(*(column[row].as_py() for column in self._columns))


@dataclass(frozen=True)
class KnownSources:
    """`source_ids`: sources that were read.

    `growing`: sources with rejects, transcripts and measured results, whose files may have grown since, by the last part of their names: a
    folder may have been renamed meanwhile. `zones`: by name, the zone of times in the paths of sources whose ingest named one. `stamps`: by
    name, the source read last.
    """

    source_ids: frozenset[str] = frozenset()
    growing: dict[str, tuple[Earlier, ...]] = field(default_factory=dict)
    zones: dict[str, str] = field(default_factory=dict)
    stamps: Stamps = field(default_factory=Stamps)

    def unchanged(self, source: Source) -> str | None:
        """The source_id of a file that has not been modified since it was read, without opening it; None for any other.

        A relative name may mean another file than it did then.
        """
        if source.modified_ns is None or source.temporary or not os.path.isabs(source.name):  # noqa: PTH117  for every file
            return None
        stamp = self.stamps.get(source.name)
        return stamp.source_id if stamp and stamp[:2] == (source.size, source.modified_ns) else None

    def left_off(self, source: Source) -> Stamp | None:
        """Of a transcript that may have grown: what was read of it, where it pays to go on from there."""
        stamp = self.stamps.get(source.name)
        return stamp if stamp and (stamp.resume_at or 0) >= LEAST_LEFT_OUT and stamp.bytes < source.size and not source.temporary else None

    def restamped(self, results: Iterable[ReadResult]) -> dict[str, int]:
        """source_id → time of known files that were opened only for another time, or for none that could be trusted."""
        opened = ((result, self.stamps.get(result.name)) for result in results if result.known and result.modified_ns is not None)
        return {
            stamp.source_id: result.modified_ns
            for result, stamp in opened
            if stamp and result.modified_ns and stamp.source_id == result.source_id and stamp.modified_ns != result.modified_ns
        }


def beginnings(store: Store, stamps: Mapping[str, Stamp]) -> dict[str, Beginning]:
    """By name, what was read of some transcripts that may have grown. Raises StoreError."""
    with store.reading() as connection:
        rows = connection.execute(_RECORDS, {"source_ids": [stamp.source_id for stamp in stamps.values()]}).fetchall()
    raw = {str(source_id): str(text).encode() for source_id, text in rows}
    return {
        name: Beginning(Earlier(stamp.bytes, stamp.source_id), stamp.resume_at or 0, raw[stamp.source_id])
        for name, stamp in stamps.items()
        if stamp.source_id in raw
    }


def known_sources(store: Store, *, without_rejects: bool = False) -> KnownSources:
    """The sources of the store; none where there is no store. Raises StoreError.

    `without_rejects`: only sources without rejects, without archives (a member may have rejects) and without files in which a later
    version may find a run.
    """
    condition = "where rejected = 0 and not list_contains($retried, kind)" if without_rejects else ""
    retried = {"retried": [*map(str, (FileKind.ARCHIVE, *MAY_HOLD_RUNS))]} if without_rejects else {}
    try:
        with store.reading() as connection:
            source_ids, stamps = _sources(connection, condition, retried)
            growing = connection.execute(_GROWING).fetchall()
            zones = connection.execute(_ZONES).fetchall()
    except StoreMissing:
        return KnownSources()
    by_name: dict[str, list[Earlier]] = defaultdict(list)
    for name, size, source_id in growing:
        by_name[last_part(name)].append(Earlier(int(size), str(source_id)))
    return KnownSources(
        frozenset(source_ids),
        {name: tuple(found[-MOST_ALIKE:]) for name, found in by_name.items()},
        dict(zones),
        Stamps() if without_rejects else stamps,
    )


def _sources(connection: duckdb.DuckDBPyConnection, condition: str, parameters: Mapping[str, object]) -> tuple[Sequence[str], Stamps]:
    """The ids of all sources, and their stamps."""
    [(count,)] = connection.execute("select count(*) from sources").fetchall()
    sql = f"{_STAMPS} {condition} order by ingest_id"
    if count <= FEW_SOURCES:
        names, *lists = list(zip(*connection.execute(sql, parameters).fetchall(), strict=True)) or [()] * 5
        return lists[Stamp._fields.index("source_id")], Stamps(names, lists=lists)
    table = arrow(connection, sql, parameters)
    return table["source_id"].to_pylist(), Stamps(table["name"].to_pylist(), [table[name] for name in Stamp._fields])
