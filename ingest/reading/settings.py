"""What reading a source depends on: the settings of an ingest, and the sources it has already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.context.path_template import PathTemplate
from ingest.mapped.of_folders import Maps
from ingest.sources.files import Earlier, Identity, Source, identify
from ingest.sources.times import zone_of
from ingest.store.read_result import PortionKey, ReadResult
from schemas.file_kinds import NO_LOGS, FileKind

if TYPE_CHECKING:
    from ingest.context.sidecars import Sidecars
    from ingest.mapped.found import KnownMap

SMALL_BYTES = 1 << 20
"""A file of this size is read into memory at once, and hashed before a worker gets it."""


@dataclass(frozen=True)
class Settings:
    """The settings of an ingest that reading depends on.

    `known`: source_ids in the store, which are skipped, and their kinds.

    `growing`: file name → sources in the store with rejects, transcripts and measured results.
    `zone`: the time zone of times in paths; if none is named, that of the earlier ingest of the
    source (`zones`, by name), else UTC. `unpacked`: sidecars that do not lie beside their logs
    (`ingest.context.sidecars`). `keeps_text`: as in `ingest.pipeline.Options`. `given_maps`: for
    all files of the ingest; `mapped`: source_id → hash of the map that it was read by.
    """

    template: PathTemplate | None = None
    known: Mapping[str, str] = field(default_factory=dict)
    growing: Mapping[str, Sequence[Earlier]] = field(default_factory=dict)
    unpacked: Mapping[str, Path] = field(default_factory=dict)
    trust_file_times: bool = False
    trusted_since: datetime | None = None
    zone: str = ""
    zones: Mapping[str, str] = field(default_factory=dict)
    keeps_text: bool = True
    given_maps: tuple[KnownMap, ...] = ()
    mapped: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def sidecars(self) -> Sidecars:
        """Files beside the sources.

        Imported with the first source that is read, which saves 0.1 s if nothing is new.
        """
        from ingest.context.sidecars import Sidecars

        return Sidecars(self.unpacked)

    @cached_property
    def maps(self) -> Maps:
        """Maps of the sources' folders, or those given."""
        return Maps(self.given_maps, self.unpacked)

    def is_known(self, source: Source, source_id: str) -> bool:
        """Return whether the store has the source, and nothing more can be read of it.

        A file in which nothing was found is read again once it has a map.
        """
        if source_id not in self.known:
            return False
        if source_id in self.mapped or FileKind(self.known[source_id]) not in NO_LOGS:
            return True
        return not self.maps_of(source)

    def maps_of(self, source: Source) -> tuple[KnownMap, ...]:
        """Return the maps that people wrote for a source."""
        return self.maps.of(source.name, None if source.temporary else source.path)

    def zone_of(self, name: str) -> tzinfo:
        return zone_of(self.zone or self.zones.get(name, ""))

    def earlier(self, source: Source) -> Sequence[Earlier]:
        """Return earlier sources that may be the beginning of this one (see `growing`)."""
        return self.growing.get(last_part(source.name), ()) if self.growing else ()


def last_part(name: str) -> str:
    return name.replace("\\", "/").rpartition("/")[2]


def known_source(source: Source, reading: str, settings: Settings) -> ReadResult | None:
    """Return the result of a source in the store, else None. Reads nothing for a new store.

    Raises OSError, InputUnreadable.
    """
    if not settings.known:
        return None
    identity = identify(source, settings.earlier(source))
    if not settings.is_known(source, identity.source_id):
        return None
    return known_result(source, reading, identity, settings)


def known_result(
    source: Source, reading: str, identity: Identity, settings: Settings
) -> ReadResult:
    """Return the result of a source that the store has."""
    read_by = settings.mapped.get(identity.source_id)
    maps = settings.maps_of(source) if read_by else ()
    return ReadResult(
        PortionKey(reading),
        identity.source_id,
        source.name,
        source.size,
        source.size,
        kind=FileKind(settings.known[identity.source_id]),
        known=True,
        has_other_map=bool(maps) and maps[0].digest != read_by,
        begins_with=identity.begins_with,
        modified_ns=source.modified_ns,
    )
