"""The maps of a file: those given for the ingest, else the nearest in a folder above it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.context.small_files import MAP_FILE, split
from ingest.system.files import read_small_text
from schemas.errors import UsageError

if TYPE_CHECKING:
    from ingest.mapped.found import KnownMap


@dataclass
class Maps:
    """The maps of an ingest. `given`: for all of its files.

    `unpacked`: folder in an archive or upload → the temporary folder of its sidecars.
    """

    given: Sequence[KnownMap] = ()
    unpacked: Mapping[str, Path] = field(default_factory=dict)
    _of_folders: dict[str, KnownMap | None] = field(default_factory=dict)

    def of(self, name: str, path: Path | None) -> tuple[KnownMap, ...]:
        """Return the maps that people wrote for a file: the given ones, else the nearest above it.

        `path`: the file on disk, None for a member of an archive or upload. Never raises.
        """
        if self.given:
            found: Iterable[KnownMap] = self.given
        else:
            place = os.path.abspath(path) if path else name  # noqa: PTH100
            found = filter(None, [self._above(split(place.replace("\\", "/"))[0])])
            name = place
        return tuple(one for one in found if any(one.forms_for(name)))

    def _above(self, folder: str) -> KnownMap | None:
        """Return the nearest valid map in a folder or above it; each folder is searched once."""
        if folder not in self._of_folders:
            upper = split(folder[:-1])[0] if len(folder) > 1 else ""
            if folder.endswith("!"):  # the outside of an archive
                upper = split(os.path.abspath(folder[:-1]))[0]  # noqa: PTH100
            own = _map_in(self._place(folder), folder)
            self._of_folders[folder] = own or (self._above(upper) if upper else None)
        return self._of_folders[folder]

    def _place(self, folder: str) -> Path | None:
        if folder in self.unpacked:
            return Path(self.unpacked[folder], MAP_FILE)
        return Path(folder, MAP_FILE) if os.path.isabs(folder) and "!" not in folder else None  # noqa: PTH117


def _map_in(place: Path | None, folder: str) -> KnownMap | None:
    try:
        if place and place.is_file():
            from ingest.mapped.found import KnownMap, parse_map  # few folders have a map

            text = read_small_text(place)
            return KnownMap(parse_map(str(place), text), text, folder)
    except (OSError, ValueError, UsageError):  # the file itself is a reject, with the reason
        pass
    return None
