"""`tachograph watch`: ingests what agents write, as they write it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from app.cli import terminal
from app.cli.ingest_options import with_ingest_options
from app.cli.options import Seconds, db_option, examples, wait_option
from ingest.system.command_lines import on_disk
from ingest.system.secrets import command_of
from schemas.errors import InputUnreadable

Command = Callable[..., Any]


@click.command(
    epilog=examples(
        "watch", "watch logs/", "watch logs/ --label team=kernels --db runs.duckdb", "watch /mnt/share/logs --poll 5", "watch logs/ --json"
    )
)
@click.argument("paths", nargs=-1, type=click.Path(readable=False, path_type=Path), metavar="PATH...")
@db_option
@wait_option
@with_ingest_options
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
    first; then whatever is new or grows, within a second, as `ingest` would do it. A store has one watcher.
    """
    from app.cli.watching.status import shown
    from ingest.watching import Watcher, sole_watcher

    order = {
        "db": (location := on_disk(db)),
        "wait": wait,
        "paths": [os.fspath(path) for path in paths],
        "how": how,
        "prices": prices and os.fspath(prices),
        "command": command_of(sys.argv[1:]),
    }
    watched = ", ".join(map(os.path.abspath, paths)) or "the sessions of this machine"
    with shown(json_lines=as_json) as tell, sole_watcher(location, watched), suppress(KeyboardInterrupt):
        Watcher(worker_command(), order, location, poll, tell).run()
    terminal.note("Stopped watching.")


def watch_command(location: str, paths: Sequence[Path], excludes: Sequence[str] = ()) -> list[str]:
    """The command line of a watcher in a process of its own; none without paths.

    Raises InputUnreadable, and StoreError where the store has a watcher already or can have none.
    """
    from ingest.watching import sole_watcher

    if not paths:
        return []
    for path in paths:
        if not os.path.exists(path):  # noqa: PTH110
            raise InputUnreadable(f"cannot watch {path}: there is no such file or folder.")
    with sole_watcher(location, ""):  # held by the watcher itself from then on: what is wrong is said before anything is served
        left_out = [f"--exclude={pattern}" for pattern in excludes]
        return [sys.executable, "-P", "-m", "app.cli.main", "watch", "--db", location, *left_out, "--", *map(os.fspath, paths)]


def worker_command() -> list[str]:
    """The command line of the process that ingests. -P: a folder `app` where we were started is not ours."""
    return [sys.executable, "-P", "-m", "app.cli.watching.worker"]
