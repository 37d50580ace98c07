"""`tachograph watch`: ingests logs as agents write them.

It shows a status line on a terminal, else a line per ingest; `--json` writes these to standard output. `watch_worker` ingests.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.cli import terminal
from app.cli.ingest import ingest_options
from app.cli.options import Seconds, db_option, examples, wait_option
from ingest.system.command_lines import on_disk
from ingest.system.secrets import command_of
from schemas.errors import InputUnreadable
from schemas.text import one_line, plural

if TYPE_CHECKING:
    from ingest.watching import Answer, State


@click.command(
    epilog=examples(
        "watch", "watch logs/", "watch logs/ --label team=kernels --db runs.duckdb", "watch /mnt/share/logs --poll 5", "watch logs/ --json"
    )
)
@click.argument("paths", nargs=-1, type=click.Path(readable=False, path_type=Path), metavar="PATH...")
@db_option
@wait_option
@ingest_options
@click.option(
    "--poll",
    type=Seconds(min=0.1),
    metavar="SECONDS",
    help="Look at all files this often.  [default: only where the file system has no events]",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON line for each ingest.")
def watch(paths: tuple[Path, ...], db: str, wait: float, poll: float | None, *, as_json: bool, prices: Path | None, **how: Any) -> None:
    """Ingest logs as they are written, until Ctrl-C.

    PATH is a file or a folder. Without PATH: the sessions that Claude Code and Codex keep on this machine. All that is there is ingested
    first; then whatever is new or grows, within a second, as `ingest` would do it. A run without a date that is written meanwhile has that
    of its file. A store has one watcher.
    """
    from ingest.watching import Watcher, sole_watcher

    order = {
        "db": (location := on_disk(db)),
        "wait": wait,
        "paths": [os.fspath(path) for path in paths],
        "how": how,
        "since": time.time(),
        "prices": prices and os.fspath(prices),
        "command": command_of(sys.argv[1:]),
    }
    watched = ", ".join(map(os.path.abspath, paths)) or "the sessions of this machine"
    worker = [sys.executable, "-P", "-m", "app.cli.watch_worker"]  # -P: a folder `app` where we were started is not ours
    with _shown(json_lines=as_json) as tell, sole_watcher(location, watched), suppress(KeyboardInterrupt):
        Watcher(worker, order, location, poll, tell).run()
    terminal.note("Stopped watching.")


def watch_command(location: str, paths: Sequence[Path], excludes: Sequence[str] = (), labels: Sequence[str] = ()) -> list[str]:
    """Return the command line of a separate watcher process, empty without paths.

    Raises InputUnreadable, UsageError for a label that is none, and StoreError if the store has a watcher already or can have none.
    """
    from ingest.watching import sole_watcher

    if not paths:
        return []
    from app.queries.filters import parse_label

    for text in labels:
        parse_label(text)
    for path in paths:
        if not os.path.exists(path):  # noqa: PTH110
            raise InputUnreadable(f"cannot watch {path}: there is no such file or folder.")
    with sole_watcher(location, ""):  # held by the watcher itself from then on: what is wrong is said before anything is served
        left_out = [*(f"--exclude={pattern}" for pattern in excludes), *(f"--label={label}" for label in labels)]
        return [sys.executable, "-P", "-m", "app.cli.main", "watch", "--db", location, *left_out, "--", *map(os.fspath, paths)]


@contextmanager
def _shown(*, json_lines: bool) -> Iterator[Callable[[Answer, State], None]]:
    """Yield a function that shows an answer and its state."""
    with _status_line() as update:

        def tell(answer: Answer, state: State) -> None:
            if answer.is_end:
                if json_lines and (record := _as_json(answer, state)):
                    terminal.put(f"{record}\n".encode())
                for note in (_told(answer, state), *answer.notes):
                    if note and not json_lines:
                        terminal.note(note)
            update(_line(state), answer.is_end and state.ingests + state.errors <= 1)

        yield tell


@contextmanager
def _status_line() -> Iterator[Callable[[str, bool], None]]:
    """Yield a function that shows a line: always on a terminal, elsewhere only the first with `is_news`."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        said: list[str] = []

        def plain(text: str, is_news: bool) -> None:
            if is_news and not said:
                said.append(text)
                terminal.note(text)

        yield plain
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as live:
        yield lambda text, _is_news: live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)


def _line(state: State) -> str:
    parts = [
        f"Watching {', '.join(map(one_line, state.places))}" if state.places else "Starting",
        state.how,
        plural(state.files, "file") if state.files else "",
        f"{plural(state.runs, 'run')} ingested" if state.ingests else "",
        f"last ingest {state.last:%H:%M:%S}" if state.last else "",
        plural(state.errors, "error") if state.errors else "",
        f"{state.waiting:,} waiting" if state.waiting else "",
        state.does,
    ]
    return " · ".join(filter(None, parts))


def _told(answer: Answer, state: State) -> str:
    """Return one line on the end of a batch, or "" if it changed nothing."""
    at = f"{state.last:%H:%M:%S} " if state.last and not answer.error else ""
    if answer.error:
        again = "" if answer.gone else " Trying again."  # the hint says what is tried then
        return f"Not ingested: {answer.error} {answer.hint.partition(chr(10))[0]}".strip() + again
    if answer.ingest is None:
        return ""
    counts = ", ".join(f"{int(answer.counts[name]):,} {name}" for name in ("accepted", "duplicates", "rejected", "ignored"))
    return f"{at}ingest {answer.ingest}: {plural(int(answer.counts['sources']), 'file')}, {counts} ({answer.counts['seconds']:.1f} s)"


def _as_json(answer: Answer, state: State) -> str:
    """Return one line on a batch that changed the store or failed, else ""."""
    if answer.error:
        return json.dumps({"error": answer.error, "hint": answer.hint})
    if answer.ingest is None:
        return ""
    at = state.last.isoformat(timespec="milliseconds") if state.last else None
    return json.dumps({"at": at, "ingest": answer.ingest, **answer.counts, "unread": list(answer.unread)})
