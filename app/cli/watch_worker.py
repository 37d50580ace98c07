"""The process that ingests for `tachograph watch`: `python -m app.cli.watch_worker`. Speaks lines of JSON (`ingest.watching`).

It ends when its standard input closes, also if the watcher was killed, after finishing the current batch.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.cli import terminal
from app.cli.ingest import paths_to_read, pipeline_options
from app.text.ingests import looped
from ingest.pipeline import IngestReport, Options, Progress, ingest
from ingest.sources.walking import IGNORE_FILE, Excluding, read_paths
from ingest.store.database import Store
from ingest.store.ingests import Origin
from ingest.system.arrow import import_arrow_alone
from ingest.system.signals import interruptible
from schemas.errors import InputUnreadable, NotAStore, StoreVersionMismatch, TachographError, UsageError
from schemas.text import one_line

HOPELESS = (UsageError, NotAStore, StoreVersionMismatch, InputUnreadable)

TOLD_SECONDS = 0.5

NOTES = 5


def main() -> int:
    """Ingest batches until the input ends. The watcher handles Ctrl-C on the terminal, so that this process can finish."""
    import_arrow_alone()
    for number in (getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)):
        signal.signal(number, signal.SIG_IGN)
    lines = sys.stdin.buffer
    try:
        with suppress(KeyboardInterrupt, BrokenPipeError), interruptible():
            order = json.loads(lines.readline() or b"null")
            if order:
                _serve(order, lines)
    except Exception as error:
        return terminal.tell_defect(error)
    return 0


def _serve(order: dict[str, Any], lines: Any) -> None:
    store = Store(order["db"], order["wait"], lambda said: _say(waited=one_line(said)))
    try:
        options = pipeline_options(**order["how"], prices=Path(order["prices"]) if order["prices"] else None)
        since = datetime.fromtimestamp(order["since"], UTC)
        options = replace(options, origin=Origin(command=order["command"]), trusted_since=since)
        Excluding(order["how"]["excludes"])  # raises for a pattern that cannot be read
        _say(folders=(roots := _folders(order["paths"])))
    except TachographError as error:
        _tell_error(error)
        return
    for line in lines:
        options = _ingested(json.loads(line)["paths"], roots, order["how"]["excludes"], store, options)


def _folders(paths: Sequence[str]) -> list[str]:
    """Return the files and folders to watch. Raises InputUnreadable, UsageError."""
    for path in paths:
        if not os.path.exists(path):  # noqa: PTH110
            raise InputUnreadable(f"cannot watch {path}: there is no such file or folder.")
    return [os.path.abspath(path) for path in paths_to_read([Path(path) for path in paths], retries=False)]  # noqa: PTH100


def _ingested(paths: Sequence[str], roots: Sequence[str], excludes: Sequence[str], store: Store, options: Options) -> Options:
    """Ingest a batch and report its result. Returns the options of the next batch, since a price file is read only once.

    `roots`: the watched files and folders, which ignore files and patterns are relative to.
    """
    excluding = Excluding(excludes)  # anew, since ignore files may have changed
    try:
        there = [Path(path) for path in paths if (os.path.isfile(path) or os.path.isdir(path)) and not _is_out(path, roots, excluding)]  # noqa: PTH112, PTH113
        there = [path for path in there if not store.owns(path)]
        if not there:  # else the files of this ingest beside the store would be the next change
            _say(counts=IngestReport().as_dict())
            return options
        report = ingest(read_paths(there, excluding), store, options, _told_progress())
    except TachographError as error:
        _tell_error(error)
        return options
    except Exception as error:  # a mistake of ours: the watcher tries fewer files
        _say(error=one_line(f"nothing of this batch was written ({type(error).__name__}: {error})."), gone=True)
        return options
    read = {source.name for source in report.sources}
    unread = [path for path in map(str, there) if path not in read and os.path.isfile(path)]  # noqa: PTH113
    _say(counts=report.as_dict(), ingest=report.ingest_id, unread=unread, notes=_notes(report))
    return replace(options, prices=None)


def _is_out(path: str, roots: Sequence[str], excluding: Excluding) -> bool:
    """Return whether a path is excluded in all watched folders that contain it."""
    above = [root for root in roots if path == root or path.startswith(f"{root.rstrip('/')}/")]
    is_ignore_file = os.path.basename(path) == IGNORE_FILE  # noqa: PTH119
    return is_ignore_file or (bool(above) and all(excluding.leaves_out_below(root, path) for root in above))


def _notes(report: IngestReport) -> list[str]:
    """Return what was read of loops, the first unreadable files and the first rejects."""
    read = looped(report)
    unreadable = [one_line(error.message) for error in report.unreadable[:NOTES]]
    rejects = [
        one_line(f"{source.name}, {reject.position}: {reject.reason}: {reject.detail}")
        for source in report.sources
        if not source.known
        for reject in source.rejects
    ]
    more = [f"… and {len(rejects) - NOTES:,} more rejects"] if len(rejects) > NOTES else []
    return [*filter(None, [read]), *unreadable, *rejects[:NOTES], *more]


def _told_progress() -> Any:
    """Return a function that reports the number of files read now and then."""
    sources, told = 0, time.monotonic()

    def on_progress(progress: Progress) -> None:
        nonlocal sources, told
        sources += progress.sources
        if time.monotonic() - told > TOLD_SECONDS:
            told = time.monotonic()
            _say(read=sources)

    return on_progress


def _tell_error(error: TachographError) -> None:
    code = int(error.exit_code) if isinstance(error, HOPELESS) else 0
    _say(error=one_line(error.message), hint=error.hint, exit_code=code)


def _say(**what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
