"""Temporary folders, each locked by its process, the user's cache, and small files of people."""

from __future__ import annotations

import atexit
import glob
import hashlib
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

from ingest.system.locks import LockFile
from ingest.system.signals import put_off

PREFIX = "tachograph-"

LARGEST_BYTES = 1 << 20
"""A larger file was not written by hand, and a device may be endless."""


@contextmanager
def held_folder(within: Path, prefix: str) -> Iterator[Path]:
    """Yield a new locked folder `<prefix><process id>-<random>`. Raises OSError.

    This process locks it, and it is removed after the block.

    Folders of killed processes with the same prefix are removed.
    """
    for left in within.glob(f"{glob.escape(prefix)}[0-9]*-*"):
        clear(left)
    with ExitStack() as stack:
        with put_off():
            folder = _made(within, prefix, stack)
        yield folder


def clear(folder: Path) -> None:
    """Remove a folder of this user that no living process holds.

    Links are skipped, since everybody may write to the system's folder.
    """
    with suppress(OSError):
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or (
            hasattr(os, "geteuid") and status.st_uid != os.geteuid()
        ):
            return
        with ExitStack() as stack:
            is_ours = _hold(folder, stack)
            if not (is_ours or (is_ours is None and is_old(folder))):
                return
            shutil.rmtree(folder, ignore_errors=True)
        folder.rmdir()  # Windows keeps the lock file in it until that is closed


def is_old(path: Path) -> bool:
    """Return whether nothing was written to it for a day.

    Without file locks, it then counts as abandoned.
    """
    with suppress(OSError):
        return time.time() - path.stat().st_mtime > 86_400
    return False


def _made(within: Path, prefix: str, stack: ExitStack) -> Path:
    """Make a locked folder, removed when the stack closes.

    Retries if another process clears it before it is locked.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=within))
        with ExitStack() as mine:
            mine.callback(shutil.rmtree, folder, ignore_errors=True)
            if _hold(folder, mine) is not False and folder.exists():
                stack.push(mine.pop_all())
                return folder


def _hold(folder: Path, stack: ExitStack) -> bool | None:
    """Hold the folder's lock until the stack closes.

    False if another process holds it, None if there are no locks.
    """
    lock = LockFile(folder / "lock")
    stack.callback(lock.leave)
    try:
        return lock.take()
    except OSError:
        return None


_making = threading.Lock()
_folders: dict[tuple[int, str], Path] = {}
"""Key: process id (a forked process has a copy of this) and parent folder."""


def temporary_folder() -> Path:
    """Return this process's folder for temporary files, made on first use. Raises OSError.

    It is in $TMPDIR or the system's own folder.
    """
    place = tempfile.gettempdir()
    with _making:
        folder = _folders.get((os.getpid(), place))
        if folder is None or not folder.is_dir():  # some systems remove files that are days old
            stack = ExitStack()
            folder = _folders[os.getpid(), place] = stack.enter_context(
                held_folder(Path(place), PREFIX)
            )
            atexit.register(_remove, stack, os.getpid())
    return folder


def _remove(stack: ExitStack, maker: int) -> None:
    if os.getpid() == maker:
        stack.close()


def use_folder_of_parent(folder: Path) -> None:
    """Use the parent's folder, in a worker process."""
    _folders[os.getpid(), tempfile.gettempdir()] = folder


def cache_file(name: str, *made_of: str | bytes) -> Path:
    """Return the place of a file in the user's cache: its name has the hash of its inputs.

    Raises OSError for a user without a home.
    """
    default = os.environ.get("LOCALAPPDATA") or "~/.cache"
    folder = Path(os.environ.get("XDG_CACHE_HOME") or default).expanduser() / "tachograph"
    if not folder.is_absolute():
        raise FileNotFoundError(f"no cache in {folder}")
    digest = hashlib.sha256(b"\0".join(os.fsencode(one) for one in made_of)).hexdigest()
    return folder / f"{name}-{digest[:16]}"


def write_cache(place: Path, write: Callable[[Path], object]) -> None:
    """Let `write` make a file of the cache; it is there when it is whole. Raises OSError.

    Files of the same name that other versions made over a day ago are removed.
    """
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with held_folder(place.parent, PREFIX) as folder:
        made = folder / place.name
        write(made)
        with made.open("rb+") as file:
            os.fsync(file.fileno())
        made.replace(place)
    for other in place.parent.glob(f"{place.name.rpartition('-')[0]}-*"):
        if other != place and is_old(other):
            other.unlink(missing_ok=True)


def read_small_text(path: Path) -> str:
    """Return the text of a small file that people wrote.

    Raises OSError if it cannot be read, ValueError if it is no text or too large.
    """
    with path.open("rb") as file:
        body = file.read(LARGEST_BYTES + 1)
    if len(body) > LARGEST_BYTES:
        raise ValueError(f"it is larger than {LARGEST_BYTES:,} bytes")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError("it is not UTF-8 text") from error


def parse_toml(text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """Parse TOML. Raises ValueError that says what is wrong and where."""
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise ValueError("its values are nested too deep") from None
    except DecimalException:
        raise ValueError("a number has an exponent that is too large") from None
