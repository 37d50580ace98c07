"""Sidecars in archives and uploads: written to a temporary folder while their records are read, so that sidecars are always files."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ingest.context.neighbours import NEIGHBOURS
from ingest.context.sidecars import SIDECAR_NAMES, Unpacked
from ingest.context.small_files import LARGEST_READ, split
from ingest.context.trials import named_by_harness
from ingest.sources.files import Source
from ingest.system.temporary import temporary_folder

_LONGEST = 100
_NAMES = frozenset(SIDECAR_NAMES) | NEIGHBOURS
_UNSAFE = re.compile(r"[^\w.-]")


def named_as_sidecars(names: Sequence[str]) -> frozenset[str]:
    """Those files or members that are named like sidecars; only their content shows whether they are."""
    named = frozenset(name for name in names if split(name)[1] in _NAMES)
    return named | frozenset(named_by_harness(names)).intersection(names)


def sidecars_among(sources: Sequence[Source]) -> list[Source]:
    """The sources of an upload that are named like sidecars."""
    named = named_as_sidecars([source.name for source in sources])
    return [source for source in sources if source.name in named]


@contextmanager
def unpacked(sources: Iterable[Source]) -> Iterator[Unpacked]:
    """Write sidecars to temporary folders. Yields these by the name of the folder that the sidecar is in. Raises OSError."""
    with tempfile.TemporaryDirectory(dir=temporary_folder()) as place:
        folders: dict[str, Path] = {}
        for source in sources:
            folder, name = split(source.name)
            if source.size <= LARGEST_READ:
                into = folders.setdefault(folder, Path(place, str(len(folders)), _safe(folder)))
                into.mkdir(parents=True, exist_ok=True)
                with source.open() as stream:
                    (into / name).write_bytes(stream.read())
        yield folders


def _safe(folder: str) -> str:
    """The last part of a folder's name, which may name the item, without characters that are unsafe in a path."""
    name = _UNSAFE.sub("_", split(folder.rstrip("/!"))[1])[:_LONGEST]
    return name if name.strip(".") else "_"
