"""The settings of an ingest that reading depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.context.path_template import PathTemplate
from ingest.sources.files import Source
from ingest.sources.identity import Earlier, last_part
from ingest.sources.times import zone_of

if TYPE_CHECKING:
    from ingest.context.sidecars import Sidecars


@dataclass(frozen=True)
class Beginning:
    """What was read of a transcript that has grown since: its source, from which byte on a reader goes on, and the record of its run."""

    source: Earlier
    resume_at: int
    raw: bytes


@dataclass(frozen=True)
class Settings:
    """The settings of an ingest. `known`: source_ids that are in the store already and are not read.

    `growing`: by the last part of the name, sources in the store with rejects, transcripts and measured results. `zone` is the time zone of
    times in paths; where none is named, it is that of the earlier ingest of the source (`zones`, by name), else UTC. `unpacked`: sidecars
    that do not lie beside their logs (`ingest.context.sidecars`). `keeps_text`: as in `ingest.pipeline.Options`.
    """

    labels: dict[str, str] = field(default_factory=dict)
    template: PathTemplate | None = None
    known: frozenset[str] = frozenset()
    growing: Mapping[str, Sequence[Earlier]] = field(default_factory=dict)
    unpacked: Mapping[str, Path] = field(default_factory=dict)
    trust_file_times: bool = False
    zone: str = ""
    zones: Mapping[str, str] = field(default_factory=dict)
    keeps_text: bool = True

    @cached_property
    def sidecars(self) -> Sidecars:
        """What lies beside the sources. It is imported with the first source that is read: where nothing is new, that saves 0.1 s."""
        from ingest.context.sidecars import Sidecars

        return Sidecars(self.unpacked)

    def zone_of(self, name: str) -> tzinfo:
        """The zone of times in the path of a source."""
        return zone_of(self.zone or self.zones.get(name, ""))

    def earlier(self, source: Source) -> Sequence[Earlier]:
        """Earlier sources that may be the beginning of this one, where it matters: see `growing`."""
        return self.growing.get(last_part(source.name), ())
