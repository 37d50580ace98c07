"""Files and folders that are ours: locks that end with their process, temporary folders, and small files that people wrote.

The system releases a lock however its process ends. Other containers and hosts that share the disk see it, where a process id would mean
nothing.
"""

from __future__ import annotations

import atexit
import glob
import os
import shutil
import stat
import tempfile
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from decimal import DecimalException
from pathlib import Path
from typing import Any

from ingest.system.signals import put_off

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PREFIX = "tachograph-"
"""Prefix of the names of folders for temporary files."""

LARGEST_BYTES = 1 << 20
"""A larger file was not written by hand; and a device could be read without end."""


class NoLocks(OSError):
    """Files cannot be locked here."""


def lock(file: Path) -> int | None:
    """The descriptor of the file, locked until it is closed; None where another process holds the lock or the folder is gone.

    Raises NoLocks where there are no locks or the file may not be opened.
    """
    if fcntl is None:
        raise NoLocks
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC | os.O_CREAT, 0o666)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NoLocks from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            return None
        raise NoLocks from error
    return descriptor


@contextmanager
def held_folder(within: Path, prefix: str) -> Iterator[Path]:
    """A new folder `<prefix><process id>-<random>`, locked by this process and removed at the end of the block. Raises OSError.

    Folders of killed processes with the same prefix are removed.
    """
    for left in within.glob(f"{glob.escape(prefix)}[0-9]*-*"):
        clear(left)
    with ExitStack() as stack:
        with put_off():
            folder = _made(within, prefix, stack)
        yield folder


def clear(folder: Path) -> None:
    """Remove a folder of this user that no living process holds. A link is left alone: everybody may write to the system's folder."""
    with suppress(OSError):
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or (hasattr(os, "geteuid") and status.st_uid != os.geteuid()):
            return
        with ExitStack() as stack:
            is_ours = _hold(folder, stack)
            if is_ours or (is_ours is None and is_old(folder)):
                shutil.rmtree(folder, ignore_errors=True)


def is_old(path: Path) -> bool:
    """Whether nothing was written to it for a day: where files cannot be locked, it is taken as abandoned."""
    with suppress(OSError):
        return time.time() - path.stat().st_mtime > 86_400
    return False


def _made(within: Path, prefix: str, stack: ExitStack) -> Path:
    """A new locked folder, removed at the end of the stack. If another process clears it before it is locked, one more is made."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=within))
        with ExitStack() as mine:
            mine.callback(shutil.rmtree, folder, ignore_errors=True)
            if _hold(folder, mine) is not False and folder.exists():
                stack.push(mine.pop_all())
                return folder


def _hold(folder: Path, stack: ExitStack) -> bool | None:
    """Hold the folder's lock to the end of the stack. False where another process holds it, None where there are no locks."""
    try:
        descriptor = lock(folder / "lock")
    except NoLocks:
        return None
    if descriptor is None:
        return False
    stack.callback(os.close, descriptor)
    return True


_making = threading.Lock()
_folders: dict[tuple[int, str], Path] = {}
"""By process id, since a forked process has a copy of this, and by the folder they are in."""


def temporary_folder() -> Path:
    """The folder for the temporary files of this process, in $TMPDIR or the system's own folder, made on first use. Raises OSError."""
    place = tempfile.gettempdir()
    with _making:
        folder = _folders.get((os.getpid(), place))
        if folder is None or not folder.is_dir():  # some systems remove files that are days old
            stack = ExitStack()
            folder = _folders[os.getpid(), place] = stack.enter_context(held_folder(Path(place), PREFIX))
            atexit.register(_remove, stack, os.getpid())
    return folder


def _remove(stack: ExitStack, maker: int) -> None:
    if os.getpid() == maker:
        stack.close()


def use_folder_of_parent(folder: Path) -> None:
    """In a worker process: use the folder of its parent."""
    _folders[os.getpid(), tempfile.gettempdir()] = folder


def read_small_text(path: Path) -> str:
    """The text of a file that people wrote. Raises OSError where it cannot be read, ValueError where it is no text or too large."""
    with path.open("rb") as file:
        body = file.read(LARGEST_BYTES + 1)
    if len(body) > LARGEST_BYTES:
        raise ValueError(f"it is larger than {LARGEST_BYTES:,} bytes")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError("it is not UTF-8 text") from error


def parse_toml(text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """The tables of a text. Raises ValueError that says what is wrong and where."""
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise ValueError("its values are nested too deep") from None
    except DecimalException:
        raise ValueError("a number has an exponent that is too large") from None
