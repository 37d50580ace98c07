"""Locks on files.

The system releases a lock however its process ends. Other containers and hosts that share the disk see it, where a process id would mean
nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class NoLocks(OSError):
    """Files cannot be locked here."""


def lock(file: Path, flags: int = os.O_CREAT) -> int | None:
    """The descriptor of the file, locked until it is closed; None where another process holds the lock or the folder is gone.

    Raises NoLocks where there are no locks or the file may not be opened.
    """
    if fcntl is None:
        raise NoLocks
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC | flags, 0o666)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NoLocks from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError as error:
        os.close(descriptor)
        raise NoLocks from error
    return descriptor


def is_locked(file: Path) -> bool:
    """Whether a living process holds the file's lock. A file that may not be looked into counts as locked, one that is gone as free."""
    if fcntl is None:
        return True
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared, so that two processes that ask do not see each other as the holder
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


def sole_use(file: Path) -> int | None:
    """A descriptor with the lock that DuckDB takes on a database (a POSIX record lock): until it is closed, no engine can open the file.

    None where an engine has the file open. Closing any descriptor of a file releases all such locks of this process on it: never call this
    for a file that may be attached in this process.
    """
    descriptor = os.open(file, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
    if fcntl is None:
        return descriptor
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        os.close(descriptor)
        return None
    except OSError:  # no locks here
        pass
    return descriptor
