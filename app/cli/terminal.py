"""Everything on stderr, bytes on stdout, and the exit code of the command.

stdout is data only. Text from logs is shown without control characters of terminals
(`schemas.text`).
"""

from __future__ import annotations

import errno
import io
import os
import re
import signal
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ingest.system.signals import interruptible, received, was_interrupted
from schemas.errors import ExitCode, TachographError, UsageError
from schemas.text import did_you_mean, one_line, plural, visible

if TYPE_CHECKING:
    from ingest.pipeline import Progress
    from ingest.store.database import Store

AnyStore = TypeVar("AnyStore", bound="Store")

LONGEST_MESSAGE = 4_000

_WORKFLOW_COMMAND = re.compile(r"^[^\S\n]*+:(?=:)|##(?=\[)", re.MULTILINE)
"""Beginnings of workflow commands: `::error::` at the beginning of a line, `##[error]` anywhere."""


def run(command: click.Command) -> int:
    """Run the command line and return its exit code; a traceback is shown only with `--debug`."""
    _stand_in_for_closed_streams()
    stores: list[Store] = []
    try:
        with interruptible():
            return int(command.main(prog_name="tachograph", standalone_mode=False, obj=stores) or 0)
    except click.ClickException as error:
        _show(error)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return report_interrupt()
    except TachographError as error:
        fail(error)
        return error.exit_code
    except OSError as error:
        if error.errno not in (
            errno.EBADF,
            errno.EPIPE,
        ):  # a closed stdout, while click prints help
            return report_defect(error, stores)
        _silence_stdout()
        fail(_cannot_put(error))
        return UsageError.exit_code
    except Exception as error:
        return report_interrupt() if was_interrupted() else report_defect(error, stores)


def report_defect(error: Exception, stores: Sequence[Store] = ()) -> int:
    """Report an unexpected error, what the stores have saved, and where its traceback is.

    Returns the exit code.
    """
    from ingest.system.defects import DEBUG, traceback_of, what_failed, written_down

    if os.environ.get(DEBUG):
        echo(visible(traceback_of(error)), nl=False)
    places = [one_line(store.location) for store in stores]
    became = [
        f"{place} has what was written before."
        if store.has_written
        else f"Nothing was written to {place}."
        for place, store in zip(places, stores, strict=True)
    ]
    file = written_down(error)
    report = (
        f"The details for a report of this defect are in {file}"
        if file
        else "See the details with `tachograph --debug …`."
    )
    with suppress(OSError):
        fail(
            TachographError(
                f"Tachograph failed: {what_failed(error)}", "\n".join([*became, report])
            )
        )
    return ExitCode.INTERNAL_ERROR


def echo(text: str, *, nl: bool = True) -> None:
    """Write to stderr. Every message of the command goes through here."""
    click.echo(without_commands(text), nl=nl, err=True)


def without_commands(text: str) -> str:
    """Return the text without commands to GitHub Actions, which reads them in a step's output.

    They may even be in names of files.
    """
    return _WORKFLOW_COMMAND.sub(r"\g<0> ", text) if "GITHUB_ACTIONS" in os.environ else text


def note(message: str, **style: Any) -> None:
    """Print a message next to the data, in a style of `click.style`."""
    echo(click.style(visible(message), **style))


def note_once() -> Callable[[str], None]:
    """Return a function that notes its first message only: a long queue has one per process."""
    was_noted = False

    def once(message: str) -> None:
        nonlocal was_noted
        if not was_noted:
            note(one_line(message))
        was_noted = True

    return once


def opened(store: AnyStore) -> AnyStore:
    """Register a store that the command opens, so that an error can say what was written there."""
    context = click.get_current_context(silent=True)
    if context and isinstance(context.obj, list):
        context.obj.append(store)
    return store


def fail(error: TachographError) -> None:
    """Print an error and what to do next."""
    echo(f"{click.style('Error:', fg='red', bold=True)} {short(one_line(error.message))}")
    for line in error.hint.split("\n") if error.hint else ():
        note(short(one_line(line)))


def _show(error: click.ClickException) -> None:
    """Print click's error about a command line, which repeats its words unchanged."""
    if isinstance(error, click.NoSuchOption) and error.ctx:
        known = [name for param in error.ctx.command.params for name in param.opts]
        meant = f"{error.message} {did_you_mean(error.option_name, known)}".rstrip()
        if isinstance(error.ctx.command, click.Group) and error.option_name == "--db":
            meant = (
                f"{error.option_name} stands after the command: `tachograph COMMAND "
                f"{error.option_name} …`."
            )
        error = click.UsageError(meant, error.ctx)
    message = io.StringIO()
    error.show(message)
    echo(short(visible(message.getvalue())), nl=False)


def short(text: str) -> str:
    """Return the text cut in the middle.

    A megabyte of an argument keeps its beginning, and the end says what to do.
    """
    half = LONGEST_MESSAGE // 2
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:half]} … {text[-half:]}"


def put_text(body: bytes | Iterable[bytes]) -> None:
    """Write a text format to stdout: exactly, but without control characters on a terminal."""
    parts = (body,) if isinstance(body, bytes) else body
    put((visible(part.decode()).encode() for part in parts) if sys.stdout.isatty() else parts)


def report_interrupt(what_became: str = "") -> int:
    """Report the interrupt and, for a command that writes, what was saved.

    Returns the exit code as in shells: 128 + signal.
    """
    number = received()
    ended = "Interrupted" if number == signal.SIGINT else f"Stopped by {number.name}"
    with suppress(OSError):  # after SIGHUP there is often no terminal any more
        note(f"{ended}: {what_became}." if what_became else f"{ended}.")
    return 128 + number


@contextmanager
def reported_interrupts(store: Store) -> Iterator[None]:
    """If a writing command is interrupted, report what was saved and end with its exit code."""
    try:
        yield
    except (KeyboardInterrupt, Exception) as error:
        if not isinstance(error, KeyboardInterrupt) and not was_interrupted():
            raise
        became = "everything was written" if store.has_written else "nothing was written"
        raise click.exceptions.Exit(report_interrupt(became)) from None


def put(body: bytes | Iterable[bytes], *, is_binary: bool = False) -> None:
    """Write data, whole or in parts, to stdout. A closed reader (`| head`) is no error.

    Raises UsageError if stdout takes no more.

    Text is exact, except where GitHub Actions may read it.
    """
    parts = (body,) if isinstance(body, bytes) else body
    try:
        if (
            not is_binary
            and "GITHUB_ACTIONS" in os.environ
            and not stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
        ):
            texts = (part.decode(errors="surrogateescape") for part in parts)
            parts = (without_commands(text).encode(errors="surrogateescape") for text in texts)
        for part in parts:
            sys.stdout.buffer.write(part)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _silence_stdout()
    except OSError as error:
        _silence_stdout()
        raise _cannot_put(error) from error


def _cannot_put(error: OSError) -> UsageError:
    return UsageError(f"cannot write to standard output: {error.strerror}.")


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on stderr, moved by calling it with (done, total).

    Does nothing if stderr is no terminal.
    """
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    parts: Any = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*parts, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class ReadingBar:
    """A bar on stderr while logs are read: bytes, rate, documents, rejects.

    Silent if stderr is no terminal.
    """

    def __init__(self, bar: Any = None) -> None:
        self._bar = bar
        self._task = bar.add_task("Reading", total=None, documents=0, rejected=0) if bar else None

    def expect(self, sources: int, size: int) -> None:
        """Set the total to read."""
        if self._bar:
            self._bar.update(
                self._task,
                description=f"Reading {plural(sources, 'file')}",
                total=size,
                refresh=True,
            )

    def advance(self, done: Progress) -> None:
        """Add what was just read."""
        if self._bar:
            fields = self._bar.tasks[0].fields
            counts = {
                name: fields[name] + getattr(done, name) for name in ("documents", "rejected")
            }
            self._bar.update(self._task, advance=done.bytes, refresh=True, **counts)


@contextmanager
def reading_progress() -> Iterator[ReadingBar]:
    """Yield the bar of `tachograph ingest`."""
    if not sys.stderr.isatty():
        yield ReadingBar()
        return
    from rich import progress as rich
    from rich.console import Console

    counts = rich.TextColumn(
        "{task.fields[documents]:,} documents, {task.fields[rejected]:,} rejected"
    )
    parts: Any = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.DownloadColumn(),
        rich.TransferSpeedColumn(),
        counts,
    )
    alone: Any = {
        "console": Console(stderr=True),
        "transient": True,
        "auto_refresh": False,
    }  # a thread of its own would prevent forks
    with rich.Progress(*parts, rich.TimeRemainingColumn(), **alone) as bar:
        yield ReadingBar(bar)


def _stand_in_for_closed_streams() -> None:
    """Replace streams that the shell closed (`>&-`).

    Python has None for them, and the next open file would get their number.

    Messages to a closed stderr are lost; data for a closed stdout fails as on a full disk.
    """
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def _silence_stdout() -> None:
    """Redirect stdout to nothing, so that the interpreter's flush at exit does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
