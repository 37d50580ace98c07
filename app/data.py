"""What the screens know of the store: cached answers, fresh as long as the store has not changed. The only `st.cache_*`.

Every answer is keyed by a `Snapshot` of the store, so that a run ingested by another process shows on the next rerun.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import streamlit as st

from app import queries, queries_screens
from app.filters import Filters
from app.held import HeldStore
from app.uploads import Upload
from ingest.containers import Source, read_paths
from ingest.context.unpacked import unpacked
from ingest.pipeline import IngestReport, Options, Progress, ingest
from ingest.store import Store
from schemas.errors import UsageError
from schemas.text import paired

DEFAULT_LOCATION = "tachograph.duckdb"
WAIT_SECONDS = 10.0
"""How long a screen waits for a store that another process writes: a reader at a screen loses patience before a script does."""

REMOTE_SECONDS = 10
"""How long an answer about a store without a file holds: nothing tells us that it changed."""

MARKS = 3_000
"""The most runs a chart draws one by one; more are drawn as bins."""

PAGE, PAGES = 500, 20
"""Runs on a page of the list, and how many pages there are at most."""

MOST_OPTIONS = 300
"""The most values a filter offers to choose from, the most frequent first; a link may name any."""

SHOWN = 200
"""How many findings, rejects and sources a screen lists; the command line lists all."""

P = ParamSpec("P")
T = TypeVar("T")

_held: ContextVar[HeldStore | None] = ContextVar("held", default=None)


@dataclass(frozen=True)
class Snapshot:
    """A store at one moment: where it is, and marks of its file that change with every write."""

    location: str
    marks: tuple[int, ...]


def store() -> Store:
    """The store the dashboard was started on."""
    return Store(os.environ.get("TACHOGRAPH_DB") or DEFAULT_LOCATION, wait_seconds=WAIT_SECONDS)


def is_read_only() -> bool:
    """Whether visitors may only look."""
    return os.environ.get("TACHOGRAPH_READ_ONLY", "") not in ("", "0")


@contextmanager
def one_look() -> Iterator[None]:
    """All queries of one run of a screen share a connection, made by the first that no cache answers."""
    held = HeldStore(store().location, WAIT_SECONDS)
    token = _held.set(held)
    try:
        yield
    finally:
        _held.reset(token)
        held.release()


def snapshot() -> Snapshot:
    """The store as it is now. Asks the file system, never the store."""
    here = store()
    if not here.is_file:
        return Snapshot(here.location, (int(time.time()) // REMOTE_SECONDS,))
    files = (Path(here.location), Path(f"{here.location}.wal"))
    return Snapshot(str(files[0].absolute()), tuple(mark for file in files for mark in _marks(file)))


def _marks(file: Path) -> tuple[int, ...]:
    try:
        found = file.stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino


def ask(question: Callable[Concatenate[Store, P], T], *arguments: P.args, **named: P.kwargs) -> T:
    """The answer of a query function (`app.queries` and its kin), asked once as long as the store does not change. Raises StoreError."""
    answer: T = _answer(snapshot(), f"{question.__module__}.{question.__qualname__}", arguments, named, question)
    return answer


@st.cache_data(max_entries=512, show_spinner=False)
def _answer(at: Snapshot, name: str, arguments: tuple[Any, ...], named: dict[str, Any], _question: Callable[..., Any]) -> Any:  # noqa: ARG001
    """`name` stands for the question in the cache's key."""
    store = _store(at)
    if isinstance(store, HeldStore):
        arguments = tuple(store.looked_up(value) if isinstance(value, Filters) else value for value in arguments)
    return _question(store, *arguments, **named)


def count(filters: Filters) -> int:
    """How many runs the filters choose. Raises StoreError."""
    return int(ask(queries.summary, filters, (), ("runs",))["runs"][0].as_py())


def options() -> dict[str, dict[str, int]]:
    """What each filter can be set to, with the number of runs, most frequent first: at most MOST_OPTIONS. Raises StoreError."""
    return ask(queries_screens.options_by_filter, MOST_OPTIONS)


def samples() -> list[Path]:
    """The sample logs that come with the program, none where they are not installed."""
    here = Path(__file__).parent
    found = next((folder for folder in (here / "sample_logs", here.parent / "sample_logs") if folder.is_dir()), None)
    return sorted(found.glob("*/*.txt")) if found else []


def ingest_samples() -> IngestReport:
    """Read the sample logs into the store. Raises StoreError, UsageError."""
    return _ingest(list(read_paths(samples())), None, Options())


def ingest_uploads(uploads: Sequence[Upload], on_progress: Callable[[float, str], object]) -> IngestReport:
    """Ingest the files, telling `on_progress` the share read and the name of each. Raises StoreError, UsageError."""
    done = 0

    def read(progress: Progress) -> None:
        nonlocal done
        done += progress.bytes
        on_progress(min(1.0, done / size), progress.name)

    sources = [Source(paired(upload.name), upload.getvalue()) for upload in uploads]
    size = sum(source.size for source in sources) or 1
    with unpacked(sources) as folders:
        return _ingest(sources, read, Options(unpacked=folders))


def _ingest(sources: Sequence[Any], on_progress: Callable[[Progress], None] | None, options: Options) -> IngestReport:
    if is_read_only():
        raise UsageError("this dashboard is read-only.", "Ask whoever serves it to ingest the logs, or to leave --read-only out.")
    if held := _held.get():
        held.release()  # who reads shuts out who writes, also in one process
    return ingest(sources, store(), options, on_progress)


def _store(at: Snapshot) -> Store:
    held = _held.get()
    if held is not None and Path(held.location).absolute() == Path(at.location).absolute():
        return held
    return Store(at.location, wait_seconds=WAIT_SECONDS)
