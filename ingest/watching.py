"""Watching files: changes of the file system → batches of paths → the process that ingests.

`watchfiles` listens to the file system, polls where that has no events, and gathers changes until they pause. The watcher ingests nothing
itself and imports nothing heavy: an ingest needs some 250 MB, a waiting watcher a tenth of that. One thread decides; others
only put into its queue.
"""

from __future__ import annotations

import json
import os
import platform
import queue
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from watchfiles import Change, watch

from ingest.system.files import NoLocks, lock
from ingest.system.signals import put_off
from schemas.errors import ExitCode, StoreBusy, StoreError, TachographError

INFINITY = float("inf")
WATCHING = ".watching"
"""Suffix of the watcher's lock file. Defined here too, since importing it from the store would load DuckDB."""

QUIET_MS, LONGEST_MS = 100, 400
"""A batch is due after so long without changes, and at the latest so long after its first one: half of the second a row may take."""

BACK_OFF_SECONDS = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Pauses after one, two … consecutive failures."""

LONGEST_REST_SECONDS = 10.0

MOST_TRIES = 5
"""Attempts at an unreadable file before its next change."""

MOST_PATHS = 5_000

NET_SECONDS = 600.0
"""Interval at which everything is re-ingested if anything changed: a full queue of the kernel loses events."""

IDLE_SECONDS, MANY_SOURCES = 600.0, 2_000
"""The ingesting process ends after so long without a batch, or right after a batch of so many files: Python never returns memory."""

UNSETTLED_SECONDS = 2.5
"""Delay for re-ingesting recent changes, since polling compares modification times by the second."""

WITHOUT_EVENTS = frozenset((
    "9p", "afs", "ceph", "cifs", "coda", "davfs", "drvfs", "fuse", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2",
    "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs",
))  # fmt: skip
"""Types of file systems that another machine, or a host outside this one, may write to without an event for our kernel."""

_PATIENCE_SECONDS = 10.0  # how long a process may take to end; then it is interrupted, and nothing of its batch is written


@dataclass
class Batches:
    """Changed paths that wait for their ingest. One batch is under way at a time: `take` it, then report how it ended.

    Times are seconds on any monotonic clock.
    """

    taken: tuple[str, ...] = ()  # the batch that is under way
    _paths: dict[str, None] = field(default_factory=dict)
    _later: dict[str, float] = field(default_factory=dict)
    _tries: dict[str, int] = field(default_factory=dict)
    _not_before: float = 0.0
    _failures: int = 0
    _limit: int = MOST_PATHS

    def changed(self, paths: Iterable[str]) -> None:
        """Add paths that were created, changed or moved here."""
        for path in paths:
            self._paths[path] = None
            self._tries.pop(path, None)

    def again(self, path: str, at: float) -> None:
        """Add a path at that time, too."""
        self._later[path] = at

    @property
    def waiting(self) -> int:
        return len(self._paths.keys() | self._later.keys())

    def due_at(self) -> float:
        """Return when the next batch can be taken; infinity if nothing waits or a batch is under way."""
        if self.taken:
            return INFINITY
        return self._not_before if self._paths else max(self._not_before, min(self._later.values(), default=INFINITY))

    def take(self, at: float) -> tuple[str, ...]:
        """Return the paths of the due batch, oldest change first; none if it is not due."""
        if at < self.due_at():
            return ()
        for path in [path for path, due in self._later.items() if due <= at]:
            del self._later[path]
            self._paths.setdefault(path)
        self.taken = tuple(islice(self._paths, self._limit))
        for path in self.taken:
            del self._paths[path]
        return self.taken

    def ingested(self, at: float, seconds: float, unread: Iterable[str] = ()) -> None:
        """Record that the batch is stored, except the files `unread`, which are retried. `seconds`: its duration.

        A long ingest is followed by a pause as long: each reading of an ever-growing transcript may take seconds.
        """
        self.taken, self._failures, self._limit = (), 0, MOST_PATHS
        self._not_before = at + (min(seconds, LONGEST_REST_SECONDS) if seconds >= 1.0 else 0.0)
        for path in unread:
            tries = self._tries[path] = self._tries.get(path, 0) + 1
            if tries < MOST_TRIES:
                self.again(path, at + BACK_OFF_SECONDS[tries - 1])

    def failed(self, at: float) -> None:
        """Record that nothing was stored: the same paths wait again, longer after each failure."""
        self._paths = {**dict.fromkeys(self.taken), **self._paths}
        self.taken = ()
        self._not_before = at + BACK_OFF_SECONDS[min(self._failures, len(BACK_OFF_SECONDS) - 1)]
        self._failures += 1

    def crashed(self, at: float) -> str:
        """Record that the ingesting process died within the batch: the next batch has half of its paths.

        A path that was alone is given up until it changes, and returned; otherwise returns "".
        """
        alone = self.taken[0] if len(self.taken) == 1 and self._failures else ""
        self._limit = max(1, len(self.taken) // 2)
        if alone:
            self.taken = ()
        self.failed(at)
        return alone


@dataclass(frozen=True)
class Answer:
    """An answer of the process: `folders` to watch, number of files `read` so far, holder `waited` for, or the end of a batch.

    At that end `counts` are those of `ingest --json`, `ingest` its number (None if nothing changed), `unread` files that could not be read,
    `notes` for people, `error` and `hint` if nothing was written. `exit_code`: set if a retry makes no sense. `gone`: the process ended,
    too.
    """

    folders: tuple[str, ...] = ()
    read: int = 0
    waited: str = ""
    counts: dict[str, float] = field(default_factory=dict)
    ingest: int | None = None
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    error: str = ""
    hint: str = ""
    exit_code: int = 0
    gone: bool = False

    @property
    def is_end(self) -> bool:
        """Whether the message ends the batch."""
        return bool(self.counts or self.error or self.gone)


class Ingester:
    """The process that ingests, started with the first batch. It gets `{"paths": […]}` for each batch, and answers in JSON lines.

    `tell` gets each answer, in a thread of its own.
    """

    def __init__(self, command: Sequence[str], order: dict[str, Any], tell: Callable[[Answer], object]) -> None:
        self._command, self._order, self._tell = command, order, tell
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process unless it runs; it answers with the folders to watch."""
        if self.process is None:
            with put_off():
                self.process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603  our own
            threading.Thread(target=self._listen, args=(self.process,), name="ingester", daemon=True).start()
            self._say(self._order)

    def ingest(self, paths: Sequence[str]) -> None:
        self.start()
        self._say({"paths": list(paths)})

    def stop(self) -> None:
        """Let the process finish its work, then end it. If that takes too long, it is interrupted and writes nothing."""
        process, self.process = self.process, None
        if process is None or process.stdin is None:
            return
        with suppress(OSError):
            process.stdin.close()
        ways: tuple[Callable[[], object], ...] = (process.poll, process.terminate, process.kill)
        for end in ways:
            end()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_PATIENCE_SECONDS)
                return

    def _say(self, what: dict[str, Any]) -> None:
        if self.process and self.process.stdin:
            with suppress(OSError):  # it is gone, and will be told by its last answer
                self.process.stdin.write(json.dumps(what).encode() + b"\n")
                self.process.stdin.flush()

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        for line in process.stdout or ():
            with suppress(ValueError):
                said: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in json.loads(line).items()}
                self._tell(Answer(**said))
        process.wait()
        for pipe in filter(None, (process.stdin, process.stdout)):
            with suppress(OSError):
                pipe.close()
        if self.process is process:
            self.process = None
            code = process.returncode
            how = f"was killed by {signal.Signals(-code).name}: memory may be short" if code < 0 else f"ended with exit code {code}"
            self._tell(Answer(error=f"the process that ingests {how}." if code else "", gone=True))


@dataclass
class State:
    """The contents of the status line. `how`: events or polling, and why."""

    places: tuple[str, ...] = ()
    how: str = ""
    files: int = 0
    runs: int = 0
    ingests: int = 0
    errors: int = 0
    waiting: int = 0
    last: datetime | None = None
    does: str = ""


class Watcher:
    """Watches the folders that the process of `command` names, and has it ingest the changes.

    `order`: the first line for the process. `poll_seconds`: poll all files at this interval instead of listening to events. `tell` gets
    each answer and the state after it. Raises TachographError if the first ingest shows that none will succeed.
    """

    def __init__(
        self,
        command: Sequence[str],
        order: dict[str, Any],
        location: str,
        poll_seconds: float | None,
        tell: Callable[[Answer, State], object],
    ) -> None:
        self.state = State()
        self._queue: queue.SimpleQueue[list[tuple[Change, str]] | Answer] = queue.SimpleQueue()
        self._ingester = Ingester(command, order, self._queue.put)
        self._store = os.path.realpath(location)
        self._outputs: list[os.stat_result] = []  # where our own output goes: each line would be a change, which makes a line
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                self._outputs.append(os.fstat(stream.fileno()))
        self._poll_seconds, self._tell = poll_seconds, tell
        self._batches = Batches()
        self._ending = threading.Event()
        self._poll_pause = 0.0
        self._net_at = self._busy_until = INFINITY

    def run(self) -> None:
        """Watch until interrupted: ends with KeyboardInterrupt, and leaves no ingest half done."""
        try:
            self._ingester.start()
            while True:
                self._step()
        finally:
            self._ending.set()
            self._ingester.stop()

    def _step(self) -> None:
        """Receive messages, then do what is due."""
        retires_at = self._busy_until if self._ingester.process else INFINITY
        due = min(self._batches.due_at(), retires_at, self._net_at, time.monotonic() + 3600)
        with suppress(queue.Empty):
            came = self._queue.get(timeout=max(0.0, due - time.monotonic()))
            while True:
                self._take(came)
                came = self._queue.get_nowait()
        now = time.monotonic()
        if now >= self._net_at:
            self._net_at = INFINITY
            self._batches.changed(self.state.places)
        if now >= self._batches.due_at():
            self._begin(now)
        if self._ingester.process and now >= self._busy_until:
            self._ingester.stop()

    def _take(self, came: list[tuple[Change, str]] | Answer) -> None:
        now = time.monotonic()
        if isinstance(came, list):
            if not self._batches.waiting:
                self._ingester.start()  # what takes longest: it comes up while the batch fills
                self._busy_until = now + IDLE_SECONDS
            self._batches.changed(path for change, path in came if change is not Change.deleted)
            self.state.files += sum((change is Change.added) - (change is Change.deleted) for change, _ in came)
            if any(not os.path.realpath(path).startswith(self._store) for _, path in came):  # the store's own files change with each ingest
                self._net_at = min(self._net_at, now + NET_SECONDS)
        elif came.folders and not self.state.places:
            self._watch(came.folders)
        elif came.read or came.waited:
            self.state.does = came.waited or f"reading: {came.read:,} files"
            self._tell(came, self.state)
        elif came.is_end:
            self._end(came, now)

    def _watch(self, paths: Sequence[str]) -> None:
        """Watch folders, and the parent folders of single files, which may be replaced."""
        self.state.places = tuple(map(os.path.abspath, paths))  # links stay in the names of files
        folders = [place for place in self.state.places if os.path.isdir(place)]  # noqa: PTH112
        began = time.monotonic()
        self.state.files = sum(len(names) for place in folders for _, _, names in os.walk(place)) + len(paths) - len(folders)
        self._poll_pause = max(2.0, 20 * (time.monotonic() - began))
        mounts: list[str] = []
        with suppress(OSError):
            mounts = Path("/proc/self/mountinfo").read_text(errors="replace").splitlines()
        if self._poll_seconds is not None:
            self._poll("as asked")
        for place in self.state.places:
            kind = file_system(os.path.realpath(place), mounts)
            if self._poll_seconds is None and kind.partition(".")[0] in WITHOUT_EVENTS:
                self._poll(f"{place} is on a file system ({kind}) without events")
        for deep in (True, False):
            if places := [place for place in self.state.places if (place in folders) == deep]:
                threading.Thread(target=self._listen, args=(places, deep), daemon=True).start()

    def _poll(self, why: str) -> None:
        """Poll all files; without a given interval, each pass is followed by a pause of twenty times its length."""
        self._poll_seconds = self._poll_pause if self._poll_seconds is None else self._poll_seconds
        self.state.how = f"polling every {self._poll_seconds:.3g} s ({why})"

    def _listen(self, places: Sequence[str], deep: bool) -> None:
        """Queue changes, first the places themselves, to cover what was written before listening began.

        Restarts when a watched folder was replaced, since the old one's events do not include the new one's changes.
        """
        tops = {place: place if deep else os.path.dirname(place) for place in places}  # noqa: PTH120
        before: dict[str, tuple[int, int] | None] = {}
        while not self._ending.is_set():
            marks = {top: _mark(top) for top in tops.values()}
            fresh = [(Change.modified, place) for place, top in tops.items() if marks[top] and marks[top] != before.get(top)]
            before, polls = marks, self._poll_seconds is not None
            real = {os.path.realpath(top): top for top in marks}
            try:
                for changes in watch(
                    *(top for top, mark in marks.items() if mark),
                    watch_filter=None, debounce=LONGEST_MS, step=QUIET_MS, rust_timeout=2 * QUIET_MS, yield_on_timeout=True,
                    stop_event=self._ending, raise_interrupt=False, recursive=deep, ignore_permission_denied=True,
                    force_polling=polls, poll_delay_ms=int((self._poll_seconds or 0) * 1000),
                ):  # fmt: skip
                    heard = fresh
                    for change, path in changes:
                        inside = next((top for top in (*marks, *real) if path.startswith(f"{top.rstrip('/')}/")), "")
                        named = real.get(inside, inside) + path[len(inside) :]  # macOS names files without links
                        is_told_by_its_files = change is Change.modified and os.path.isdir(path)  # noqa: PTH112
                        if named in tops or (deep and not is_told_by_its_files):
                            heard = [*heard, (change, named)]
                    if heard:
                        self._queue.put(heard)
                        fresh = []
                    if {top: _mark(top) for top in marks} != marks:
                        break
            except Exception as error:
                if polls or isinstance(error, FileNotFoundError):
                    self._ending.wait(1.0)
                else:
                    before = {}
                    self._poll(f"no events: {getattr(error, 'strerror', None) or error}")

    def _begin(self, now: float) -> None:
        taken = self._batches.take(now)
        folders = {path for path in taken if os.path.isdir(path)}  # noqa: PTH112
        wanted = [path for path in taken if self._is_wanted(path) and folders.isdisjoint(map(str, Path(path).parents))]
        if self._poll_seconds is not None:
            for path in wanted:
                with suppress(OSError):
                    if path not in folders and os.stat(path).st_mtime > time.time() - UNSETTLED_SECONDS:  # noqa: PTH116
                        self._batches.again(path, now + UNSETTLED_SECONDS)
        if not wanted:
            self._batches.ingested(now, 0.0)
            return
        self.state.does = "ingesting"
        self._busy_until = INFINITY
        self._ingester.ingest(wanted)

    def _is_wanted(self, path: str) -> bool:
        """Return whether it is an existing file or folder that this process does not write to. Files of the store are excluded later."""
        try:
            status = os.stat(path)  # noqa: PTH116
        except (OSError, ValueError):
            return False
        is_read = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
        return is_read and not any(os.path.samestat(status, output) for output in self._outputs)

    def _end(self, answer: Answer, now: float) -> None:
        """Handle the end of a batch, or of the process, within a batch or without one."""
        self.state.does = ""
        self._busy_until = now + IDLE_SECONDS
        if answer.exit_code:
            error = TachographError(answer.error, answer.hint)
            error.exit_code = ExitCode(answer.exit_code)
            raise error
        if answer.gone:
            if not self.state.places:
                raise StoreError("the process that ingests did not start.", "See the output above.")
            if not self._batches.taken:  # somebody ended it while it waited: it is started with the next batch
                return
            alone = self._batches.crashed(now)
            hint = f"It is left out until it changes: {alone}" if alone else "The next try has half of these files."
            if alone and os.path.isdir(alone):  # noqa: PTH112
                hint = "The next tries have its files one by one."
                self._batches.changed(os.path.join(top, name) for top, _, names in os.walk(alone) for name in names)  # noqa: PTH118
            answer = Answer(error=answer.error or "the process that ingests ended before it was done.", hint=hint, gone=True)
        elif answer.error:
            self._batches.failed(now)
        else:
            self._batches.ingested(now, answer.counts["seconds"], answer.unread)
            self.state.errors += len(answer.unread)
            if answer.counts["sources"]:
                self.state.last = datetime.now().astimezone()
            self.state.runs += int(answer.counts["accepted"])
            self.state.ingests += answer.ingest is not None
            if answer.counts["sources"] >= MANY_SOURCES:
                self._busy_until = now
        self.state.errors += bool(answer.error)
        self.state.waiting = self._batches.waiting
        self._tell(answer, self.state)


def _mark(folder: str) -> tuple[int, int] | None:
    """Return the identity of the folder at a path, which changes when it is replaced; None if there is none."""
    try:
        status = os.stat(folder)  # noqa: PTH116
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISDIR(status.st_mode) else None


def file_system(path: str, mounts: Iterable[str]) -> str:
    """Return the file system type of a real path, from the lines of /proc/self/mountinfo; "" if unknown."""
    found, longest = "", -1
    for line in mounts:
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ", 1)[0]
        mount = fields[4].encode().decode("unicode_escape") if len(fields) > 4 else ""
        if mount and len(mount) >= longest and (path == mount or path.startswith(mount.rstrip("/") + "/")):
            found, longest = kind, len(mount)
    return found


@contextmanager
def sole_watcher(location: str, watched: str) -> Iterator[None]:
    """Be the only watcher of the store at `location` for the block. `watched`: written into the locked file, for others to read.

    The lock of a killed watcher is released at once. Raises StoreBusy if there is another one, StoreError if no file can be made.
    """
    file = Path(f"{os.path.realpath(location)}{WATCHING}")
    if not file.parent.is_dir():
        raise StoreError(f"cannot watch for a store at {location}: the folder {file.parent} does not exist.", "Create it first.")
    try:
        while True:
            if (descriptor := lock(file)) is None and file.exists():
                who = whose = ""
                with suppress(OSError, UnicodeDecodeError):
                    who, _, whose = file.read_text(encoding="utf-8").partition("\n")
                said = f": {who}, of {whose}." if who else "."
                raise StoreBusy(f"{location} has a watcher already{said}", "Stop it, or let it watch these paths, too.")
            if descriptor is not None:
                with suppress(OSError):  # a file that was removed meanwhile is made again
                    if os.path.samestat(os.fstat(descriptor), file.stat()):
                        break
                os.close(descriptor)
    except NoLocks as error:
        if isinstance(error.__cause__, PermissionError):
            raise StoreError(f"cannot watch for {location}: no file can be made beside it.", "Check the permissions.") from error
        yield
        return
    try:
        told = f"pid {os.getpid()} on {platform.node()}, since {datetime.now().astimezone():%Y-%m-%d %H:%M}\n{watched}"
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, told.encode(errors="replace")[:4096], 0)
        yield
    finally:
        with suppress(OSError):
            file.unlink()
        os.close(descriptor)
