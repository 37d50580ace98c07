"""`tachograph watch`: ingests logs as agents write them.

On a terminal it shows a status line, else it prints a line per ingest.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from app.cli import terminal
from app.cli.ingest_options import ingest_options, paths_to_read
from app.cli.options import ANY_PATH, Seconds, db_option, flag, wait_option, with_examples
from ingest.system.command_lines import on_disk
from ingest.system.defects import what_failed, written_down
from ingest.system.signals import put_off
from schemas.errors import (
    InputUnreadable,
    NotAStore,
    StoreError,
    StoreVersionMismatch,
    TachographError,
    UsageError,
    WorkerDied,
)
from schemas.text import join_known, one_line, plural

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

    from ingest.store.opening import OwnFiles

HOPELESS = (UsageError, NotAStore, StoreVersionMismatch, InputUnreadable)
NOTES = 5
IDLE_SECONDS = 60.0
PATIENCE_SECONDS = 10.0


@with_examples(
    "watch",
    "watch logs/",
    "watch logs/ --label team=kernels --db runs.duckdb",
    "watch /mnt/share/logs --poll 5",
    "watch logs/ --json",
)
@click.argument("paths", nargs=-1, type=ANY_PATH, metavar="PATH...")
@db_option
@wait_option
@ingest_options
@click.option(
    "--poll",
    type=Seconds(min=0.1),
    metavar="SECONDS",
    help="Look at all files this often.  [default: only where the file system has no events]",
)
@flag("--json", "as_json", "Print a JSON line for each ingest.")
def watch(
    paths: tuple[Path, ...], db: str, wait: float, poll: float | None, *, as_json: bool, **how: Any
) -> None:
    """Ingest logs as they are written, until Ctrl-C.

    PATH is a file or a folder. Without PATH: the sessions that Claude Code, Codex, Cline, Roo Code
    and Kilo Code keep on this machine. All that is there is ingested first; then whatever is new or
    grows, within a second, as `ingest` would do it. A run without a date that is written meanwhile
    has that of its file. A store has one watcher.
    """
    from ingest.sources.walking import Excluding
    from ingest.watching import polled, sole_watcher

    for path in paths:
        if not os.path.exists(path):  # noqa: PTH110
            raise InputUnreadable(f"cannot watch {path}: there is no such file or folder.")
    Excluding(how["excludes"])  # raises for a pattern that cannot be read
    roots = [os.path.abspath(path) for path in paths_to_read(paths, follows=True)]  # noqa: PTH100  links stay
    why = "as asked" if poll else polled(roots)
    poll = poll or (5.0 if why else None)
    named = ", ".join(map(one_line, roots))
    shown = _Shown(named + (f" · polling every {poll:g} s ({why})" if poll else ""), as_json)
    location = on_disk(db)
    settings = WatchSettings(location, wait, how, datetime.now(UTC), tuple(sys.argv))
    with (
        shown,
        sole_watcher(location, ", ".join(roots)),
        suppress(KeyboardInterrupt),
        closing(Worker(settings)) as worker,
    ):
        _watched(roots, poll, worker, shown)
    terminal.note("Stopped watching.")


def _watched(roots: list[str], poll: float | None, worker: Worker, shown: _Shown) -> None:
    """Ingest changes until interrupted.

    An interrupted ingest writes nothing; its files are read with the next start.
    """
    from ingest.sources.walking import Excluding
    from ingest.store.opening import OwnFiles
    from ingest.watching import NET_SECONDS, UNSETTLED_SECONDS, Pending, changes, our_outputs

    pending, outputs, net_at = Pending(), our_outputs(), float("inf")
    own_files = OwnFiles(os.path.realpath(worker.settings.db))
    for found in changes(roots, poll):
        now = time.monotonic()
        pending.changed(found)
        if now >= net_at:
            net_at = float("inf")
            pending.changed(roots)
        taken = pending.take(now)
        excluding = Excluding(
            worker.settings.how["excludes"]
        )  # anew, since ignore files may have changed
        wanted = _wanted(taken, roots, own_files, outputs, excluding) if taken else []
        if not wanted:
            worker.rest(now)
            continue
        net_at = min(net_at, now + NET_SECONDS)
        try:
            shown.does("ingesting")
            batch = worker.ingest(wanted)
        except HOPELESS:
            raise
        except TachographError as error:
            pending.failed(time.monotonic(), taken)
            shown.failed(error)
            continue
        pending.ingested(time.monotonic(), batch.seconds, batch.unread)
        if poll:
            recent = time.time() - UNSETTLED_SECONDS
            pending.changed(
                (str(path) for path in wanted if path.is_file() and path.stat().st_mtime > recent),
                now + UNSETTLED_SECONDS,
            )
        shown.ingested(batch, len(pending))


def _wanted(
    taken: list[str],
    roots: list[str],
    own_files: OwnFiles,
    outputs: list[os.stat_result],
    excluding: Any,
) -> list[Path]:
    """Return the paths to ingest: existing files, and folders, which include what is below.

    The store, our own output and excluded files are left out.
    """
    folders = {path for path in taken if os.path.isdir(path)}  # noqa: PTH112
    found = []
    for path in map(Path, taken):
        above = [root for root in roots if path.is_relative_to(root)]
        if str(path) not in folders and (
            not path.is_file() or any(os.path.samestat(path.stat(), output) for output in outputs)
        ):
            continue
        if (
            path in own_files
            or not folders.isdisjoint(map(str, path.parents))
            or path.name == ".tachographignore"
        ):
            continue
        if not above or not all(excluding.leaves_out_below(root, str(path)) for root in above):
            found.append(path)
    return found


@dataclass(frozen=True)
class WatchSettings:
    """How a watcher ingests.

    Its store and wait, the values of `ingest_options`, the start, and the command for `ingests`.
    """

    db: str
    wait: float
    how: Mapping[str, Any]
    since: datetime
    argv: tuple[str, ...]


@dataclass(frozen=True)
class Batch:
    """One ingest of changed paths.

    `ingest_id`: None if it changed nothing; `unread`: files to try again; `notes`: for people.
    """

    ingest_id: int | None
    counts: dict[str, float]
    seconds: float
    files: int
    unread: list[str]
    notes: list[str]


class Worker:
    """A process that ingests, and ends when nothing has changed for IDLE_SECONDS.

    What it has imported and read would stay in memory: a waiting watcher keeps some 40 MB instead
    of 160.
    """

    def __init__(self, settings: WatchSettings) -> None:
        self.settings = settings
        self._process: BaseProcess | None = None
        self._rests_at = 0.0

    def ingest(self, paths: list[Path]) -> Batch:
        """Ingest the paths.

        Raises TachographError as `ingest` does, and WorkerDied if the process was killed.
        """
        if self._process is None:
            context = get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs,), daemon=False)
            with put_off():
                self._process.start()
            theirs.close()
        try:
            self._pipe.send((self.settings, paths))
            answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            self.close()
            raise WorkerDied("the process that ingests was killed: memory may be short.") from error
        if isinstance(answer, TachographError):
            raise answer
        self.settings = replace(
            self.settings, how={**self.settings.how, "prices": None}
        )  # a price file is read only once
        self._rests_at = time.monotonic() + IDLE_SECONDS
        return cast("Batch", answer)

    def rest(self, now: float) -> None:
        """End the process if it has been idle for long."""
        if self._process and now > self._rests_at:
            self.close()

    def close(self) -> None:
        """End the process; an ingest longer than PATIENCE_SECONDS is ended, and writes nothing."""
        if self._process:
            self._pipe.close()
            self._process.join(PATIENCE_SECONDS)
            self._process.kill()
            self._process.join()
        self._process = None


def _serve(pipe: Connection) -> None:
    """Ingest what the watcher sends until it ends.

    Ctrl-C is for the watcher, which lets the ingest end.
    """
    for number in (getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)):
        signal.signal(number, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        while True:
            settings, paths = pipe.recv()
            try:
                answer: Batch | TachographError = _ingested(settings, paths)
            except TachographError as error:
                answer = error
            except Exception as error:  # a defect of ours: the watcher goes on with the next change
                answer = StoreError(f"{what_failed(error)}.", f"Details: {written_down(error)}")
            pipe.send(answer)


def _ingested(settings: WatchSettings, paths: list[Path]) -> Batch:
    from app.cli.ingest import pipeline_options  # in the worker only: see there
    from ingest.pipeline import ingest
    from ingest.sources.walking import Excluding, read_paths
    from ingest.store.database import Store

    sys.argv = list(settings.argv)  # the command in `ingests`
    options = replace(pipeline_options(**settings.how), trusted_since=settings.since)
    report = ingest(
        read_paths(paths, Excluding(settings.how["excludes"])),
        Store(settings.db, settings.wait),
        options,
    )
    read = {source.name for source in report.sources}
    rejects = [
        f"{source.name}, {reject.position}: {reject.reason}: {reject.detail}"
        for source in report.sources
        if not source.known
        for reject in source.rejects
    ]
    more = [f"… and {len(rejects) - NOTES:,} more rejects"] if len(rejects) > NOTES else []
    return Batch(
        report.ingest_id,
        report.as_dict(),
        report.seconds,
        len(report.sources),
        [str(path) for path in paths if str(path) not in read and path.is_file()],
        [*(error.message for error in report.unreadable[:NOTES]), *rejects[:NOTES], *more],
    )


@dataclass
class _Shown:
    """What the watcher shows.

    A status line on a terminal, elsewhere a line per ingest, and JSON lines if asked for.
    """

    what: str
    json_lines: bool
    runs: int = 0
    errors: int = 0
    last: datetime | None = None

    def __enter__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        has_status = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._live = (
            Live(console=Console(stderr=True), auto_refresh=False, transient=True)
            if has_status
            else None
        )
        if self._live:
            self._live.start()
        else:
            terminal.note(f"Watching {self.what}")

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def does(self, what: str, waiting: int = 0) -> None:
        if self._live:
            from rich.text import Text

            parts = (
                f"Watching {self.what}",
                f"{plural(self.runs, 'run')} ingested",
                f"last ingest {self.last:%H:%M:%S}" if self.last else "",
                plural(self.errors, "error") if self.errors else "",
                f"{waiting:,} waiting" if waiting else "",
                one_line(what),
            )
            self._live.update(
                Text(join_known(" · ", *parts), no_wrap=True, overflow="ellipsis"),
                refresh=True,
            )

    def ingested(self, batch: Batch, waiting: int) -> None:
        """Show one ingest, unless it changed nothing, with unreadable files and rejects."""
        self.runs, self.errors = (
            self.runs + int(batch.counts["accepted"]),
            self.errors + len(batch.unread),
        )
        self.last = datetime.now().astimezone() if batch.files else self.last
        notes = list(batch.notes)
        if batch.ingest_id is not None and self.last:
            if self.json_lines:
                at = self.last.isoformat(timespec="milliseconds")
                self._put(
                    {"at": at, "ingest": batch.ingest_id, **batch.counts, "unread": batch.unread}
                )
            counts = ", ".join(
                f"{batch.counts[name]:,} {name}"
                for name in ("accepted", "duplicates", "rejected", "ignored")
            )
            files = plural(batch.files, "file")
            notes.insert(
                0,
                (
                    f"{self.last:%H:%M:%S} ingest {batch.ingest_id}: {files}, {counts} "
                    f"({batch.seconds:.1f} s)"
                ),
            )
        for note in notes if not self.json_lines else ():
            terminal.note(one_line(note))
        self.does("", waiting)

    def failed(self, error: TachographError) -> None:
        """Tell an ingest that wrote nothing."""
        self.errors += 1
        if self.json_lines:
            self._put({"error": one_line(error.message), "hint": error.hint})
        else:
            terminal.note(
                (
                    f"Not ingested: {one_line(error.message)} {error.hint.partition(chr(10))[0]}"
                ).strip()
                + " Trying again."
            )

    def _put(self, line: dict[str, Any]) -> None:
        terminal.put(f"{json.dumps(line)}\n".encode())


def watch_command(
    location: str, paths: Sequence[Path], excludes: Sequence[str] = (), labels: Sequence[str] = ()
) -> list[str]:
    """Return the command line of a separate watcher process, empty without paths.

    Raises what would keep it from watching.
    """
    from app.queries.filters import parse_label
    from ingest.watching import sole_watcher

    if not paths:
        return []
    for text in labels:
        parse_label(text)
    for path in paths:
        if not os.path.exists(path):  # noqa: PTH110
            raise InputUnreadable(f"cannot watch {path}: there is no such file or folder.")
    with sole_watcher(
        location, ""
    ):  # held by the watcher itself from then on; raises before anything is served
        left_out = [
            *(f"--exclude={pattern}" for pattern in excludes),
            *(f"--label={label}" for label in labels),
        ]
        return [
            sys.executable,
            "-P",
            "-m",
            "app.cli.main",
            "watch",
            "--db",
            location,
            *left_out,
            "--",
            *map(os.fspath, paths),
        ]
