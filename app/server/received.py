"""Uploaded files on disk, from their first byte until they were read or their session ended, and the limits of sessions.

One process serves all visitors: the route that receives a file and the screen that reads it share one `Received`.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from ingest.system.command_lines import DEFAULT_STORE, command_line

SESSION_BYTES = 2 << 30
"""The most bytes on disk of one session; a file is deleted when it was read."""

TOTAL_BYTES = 8 << 30
"""The most bytes on disk of all sessions."""

SESSION_FILES = 100_000
"""The most files of a session in all: each leaves its name in memory."""

GRACE_SECONDS = 30.0
"""How long files are kept after their page lost its connection, which it may restore."""

_COMING = "it is still being uploaded."
_GONE = "it was removed because the connection to this page was lost for too long. Upload it again."


class NoRoom(Exception):
    """A limit is reached; the message says which."""


@dataclass
class File:
    """One upload. `problem` says why it cannot be read; empty if it can."""

    session_id: str
    path: Path
    size: int = 0
    problem: str = _COMING


@dataclass
class Received:
    """The uploads of all sessions, in a folder of this process. Safe to call from any thread."""

    folder: Path
    session_bytes: int = SESSION_BYTES
    total_bytes: int = TOTAL_BYTES
    session_files: int = SESSION_FILES
    grace_seconds: float = GRACE_SECONDS
    _files: dict[str, File] = field(init=False, default_factory=dict)
    _bytes: Counter[str] = field(init=False, default_factory=Counter)
    _counts: Counter[str] = field(init=False, default_factory=Counter)
    _admitted: set[str] = field(init=False, default_factory=set)
    _lost_at: dict[str, float] = field(init=False, default_factory=dict)
    _in_use: set[str] = field(init=False, default_factory=set)
    _lock: threading.RLock = field(init=False, default_factory=threading.RLock)

    def admit(self, session_id: str) -> None:
        """Allow a session to upload: its visitor is signed in, and its screen offers the upload."""
        with self._lock:
            self._admitted.add(session_id)

    def dismiss(self, session_id: str) -> None:
        """Stop allowing a session to upload."""
        with self._lock:
            self._admitted.discard(session_id)

    def is_admitted(self, session_id: str) -> bool:
        """Whether the session may upload."""
        with self._lock:
            return session_id in self._admitted

    def is_of(self, session_id: str, file_id: str) -> bool:
        """Whether the session may write a file with that id: the id is new, or of one of its files."""
        with self._lock:
            file = self._files.get(file_id)
            return file is None or file.session_id == session_id

    def begin(self, session_id: str, file_id: str) -> File:
        """A new file to be received, which replaces one with the same id. Raises NoRoom if the session has sent too many."""
        with self._lock:
            if self._counts[session_id] >= self.session_files:
                raise NoRoom(f"at most {self.session_files:,} files per page. Reload the page for more.")
            self._counts[session_id] += 1
            self.remove([file_id])
            file = self._files[file_id] = File(session_id, self.folder / uuid4().hex)
            return file

    def write(self, file: File, data: bytes) -> None:
        """Append bytes to a file. Beyond a limit or on a full disk the file gets a `problem`, and further bytes are dropped."""
        if file.problem != _COMING:
            return
        try:
            self._reserve(file, len(data))
            with file.path.open("ab") as stream:
                stream.write(data)
            if file.problem != _COMING:  # removed meanwhile
                file.path.unlink(missing_ok=True)
        except NoRoom as error:
            self._fail(file, str(error))
        except OSError as error:
            why = f"it cannot be written to the temporary folder: {error.strerror or error}"
            self._fail(file, f"{why}. The owner of this dashboard must free disk space.")

    def finish(self, file: File) -> None:
        """Mark a file as complete: it may be read, unless it has a problem."""
        with self._lock:
            if file.problem == _COMING:
                file.problem = ""

    def path_of(self, file_id: str) -> Path | None:
        """The path of a file; None if it cannot be read."""
        with self._lock:
            file = self._files.get(file_id)
            return file.path if file and not file.problem else None

    def problem_of(self, file_id: str) -> str:
        """Why a file cannot be read, as a clause behind its name; empty if it can."""
        with self._lock:
            file = self._files.get(file_id)
            return file.problem if file else _GONE

    @contextmanager
    def in_use(self, file_ids: Iterable[str]) -> Iterator[None]:
        """Keep files while they are read, even if their session ends."""
        ids = set(file_ids)
        with self._lock:
            self._in_use |= ids
        try:
            yield
        finally:
            with self._lock:
                self._in_use -= ids

    def remove(self, file_ids: Iterable[str]) -> None:
        """Delete files that were read, or that the visitor removed."""
        with self._lock:
            for file_id in set(file_ids) & self._files.keys():
                self._fail(self._files.pop(file_id), _GONE)

    def forget_lost(self, is_connected: Callable[[str], bool]) -> None:
        """Delete the files of sessions without a connection for `grace_seconds`. Called every few seconds."""
        now = time.monotonic()
        with self._lock:
            sessions = self._admitted | self._counts.keys()
            self._lost_at = {session: self._lost_at.get(session, now) for session in sessions if not is_connected(session)}
            for session in [session for session, since in self._lost_at.items() if now - since >= self.grace_seconds]:
                self._forget(session)

    def _forget(self, session_id: str) -> None:
        self._admitted.discard(session_id)
        files = {file_id for file_id, file in self._files.items() if file.session_id == session_id}
        self.remove(files - self._in_use)
        if not files & self._in_use:
            self._counts.pop(session_id, None)
            self._bytes.pop(session_id, None)

    def _reserve(self, file: File, more: int) -> None:
        with self._lock:
            if self._bytes[file.session_id] + more > self.session_bytes:
                use = command_line("ingest PATH", os.environ.get("TACHOGRAPH_DB") or DEFAULT_STORE)
                raise NoRoom(f"at most {_gigabytes(self.session_bytes)} per page at a time. Upload less at once, or use: {use}")
            if self._bytes.total() + more > self.total_bytes:
                raise NoRoom(f"the uploads of all visitors have reached {_gigabytes(self.total_bytes)}. Try again later.")
            self._bytes[file.session_id] += more
            file.size += more

    def _fail(self, file: File, problem: str) -> None:
        """Delete the bytes and keep the problem, which the screen shows."""
        with self._lock:
            file.problem = problem
            self._free(file)

    def _free(self, file: File) -> None:
        self._bytes[file.session_id] -= file.size
        file.size = 0
        file.path.unlink(missing_ok=True)


def _gigabytes(size: int) -> str:
    return f"{size / (1 << 30):g} GB"


_current: Received | None = None


def current() -> Received | None:
    """The uploads of the server in this process; None if it accepts none, or if a screen runs without this server."""
    return _current


@contextmanager
def opened(folder: Path) -> Iterator[Received]:
    """Accept uploads into the folder for the duration of the block."""
    global _current  # noqa: PLW0603  one server per process
    _current = Received(folder)
    try:
        yield _current
    finally:
        _current = None
