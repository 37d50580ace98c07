"""Sidecars in archives and uploads: written to a temporary folder while their records are read, so that sidecars are always files."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ingest.context.sidecars import LARGEST_READ, SIDECAR_NAMES, Unpacked, split
from ingest.sources.files import Source
from ingest.system.temporary import temporary_folder

_LONGEST = 100
_UNSAFE = re.compile(r"[^\w.-]")


def is_named_as_sidecar(name: str) -> bool:
    """Whether a file or member is named like a sidecar; only its content shows whether it is one."""
    return split(name)[1] in SIDECAR_NAMES


@contextmanager
def unpacked(sources: Iterable[Source]) -> Iterator[Unpacked]:
    """Write the sources that are named like sidecars to temporary folders. Yields them by the name of their folder. Raises OSError."""
    with tempfile.TemporaryDirectory(dir=temporary_folder()) as place:
        folders: dict[str, Path] = {}
        for source in sources:
            folder, name = split(source.name)
            if name in SIDECAR_NAMES and source.size <= LARGEST_READ:
                into = folders.setdefault(folder, Path(place, str(len(folders)), _safe(folder)))
                into.mkdir(parents=True, exist_ok=True)
                with source.open() as stream:
                    (into / name).write_bytes(stream.read())
        yield folders


def _safe(folder: str) -> str:
    """The last part of a folder's name, which may name the item, without characters that are unsafe in a path."""
    name = _UNSAFE.sub("_", split(folder.rstrip("/!"))[1])[:_LONGEST]
    return name if name.strip(".") else "_"
