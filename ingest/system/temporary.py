"""The folder for the temporary files of this process: copies of pipes and of archive members, and sidecars out of archives.

One for each process, made on first use. Worker processes use the folder of their parent.
"""

from __future__ import annotations

import atexit
import os
import tempfile
import threading
from contextlib import ExitStack
from pathlib import Path

from ingest.system.held_folder import held_folder

PREFIX = "tachograph-"
"""Prefix of the names of these folders."""

_making = threading.Lock()
_folders: dict[tuple[int, str], Path] = {}
"""By process id, since a forked process has a copy of this, and by the folder they are in."""


def temporary_folder() -> Path:
    """The folder, in $TMPDIR or the system's own folder for temporary files. Raises OSError."""
    place = tempfile.gettempdir()
    with _making:
        folder = _folders.get((os.getpid(), place))
        if folder is None or not folder.is_dir():  # some systems remove files that are days old
            folder = _folders[os.getpid(), place] = _made(Path(place))
    return folder


def use_folder_of_parent(folder: Path) -> None:
    """In a worker process: use the folder of its parent."""
    _folders[os.getpid(), tempfile.gettempdir()] = folder


def _made(place: Path) -> Path:
    stack = ExitStack()
    folder = stack.enter_context(held_folder(place, PREFIX))
    atexit.register(_remove, stack, os.getpid())
    return folder


def _remove(stack: ExitStack, maker: int) -> None:
    if os.getpid() == maker:
        stack.close()
