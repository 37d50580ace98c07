"""What `tachograph watch` shows: a status line on a terminal, else a line for each ingest; with `--json` that on standard output."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from app.cli import terminal
from ingest.watching import Answer, State
from schemas.text import one_line, plural


def line(state: State) -> str:
    """The status line."""
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


def told(answer: Answer, state: State) -> str:
    """One line on the end of a batch; empty where it changed nothing."""
    at = f"{state.last:%H:%M:%S} " if state.last and not answer.error else ""
    if answer.error:
        again = "" if answer.gone else " Trying again."  # the hint says what is tried then
        return f"Not ingested: {answer.error} {answer.hint.partition(chr(10))[0]}".strip() + again
    if answer.ingest is None:
        return ""
    counts = ", ".join(f"{int(answer.counts[name]):,} {name}" for name in ("accepted", "duplicates", "rejected", "ignored"))
    return f"{at}ingest {answer.ingest}: {plural(int(answer.counts['sources']), 'file')}, {counts} ({answer.counts['seconds']:.1f} s)"


def as_json(answer: Answer, state: State) -> str:
    """One line on the end of a batch that changed the store, or on its error; empty for others."""
    if answer.error:
        return json.dumps({"error": answer.error, "hint": answer.hint})
    if answer.ingest is None:
        return ""
    at = state.last.isoformat(timespec="milliseconds") if state.last else None
    return json.dumps({"at": at, "ingest": answer.ingest, **answer.counts, "unread": list(answer.unread)})


@contextmanager
def shown(*, json_lines: bool) -> Iterator[Callable[[Answer, State], None]]:
    """A function that shows an answer and the state behind it."""
    with _status_line() as update:

        def tell(answer: Answer, state: State) -> None:
            if answer.is_end:
                if json_lines and (record := as_json(answer, state)):
                    terminal.put(f"{record}\n".encode())
                for note in (told(answer, state), *answer.notes):
                    if note and not json_lines:
                        terminal.note(note)
            update(line(state), answer.is_end and state.ingests + state.errors <= 1)

        yield tell


@contextmanager
def _status_line() -> Iterator[Callable[[str, bool], None]]:
    """A function that shows a line: always on a terminal, elsewhere only where it `is_news`."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        said: set[str] = set()

        def plain(text: str, is_news: bool) -> None:
            if is_news and "Watching" not in said:
                said.add("Watching")
                terminal.note(text)

        yield plain
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as live:
        yield lambda text, _is_news: _drawn(live, Text(text, no_wrap=True, overflow="ellipsis"))


def _drawn(live: Any, text: Any) -> None:
    live.update(text, refresh=True)
