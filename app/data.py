"""What the screens know of the store: cached answers, fresh as long as the store has not changed. The only `st.cache_*`.

Every answer is keyed by a `Snapshot` of the store, so that a run ingested by another process shows on the next rerun.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pyarrow as pa
import streamlit as st

from app import queries
from app.filters import Filters
from ingest.containers import Source
from ingest.pipeline import IngestReport, Progress, SourceReport, ingest
from ingest.store import Store

DEFAULT_LOCATION = "tachograph.duckdb"
WAIT_SECONDS = 10.0
"""How long a screen waits for a store that another process writes: a reader at a screen loses patience before a script does."""

REMOTE_SECONDS = 10
"""How long an answer about a store without a file holds: nothing tells us that it changed."""

SHOWN_RUNS = 20_000
"""The most runs a chart or table shows, dearest first; figures always rest on all runs."""

LINKED_RUNS = 24
"""How many of the uploaded runs get a link of their own."""

SHOWN_REJECTS = 200
"""How many rejected documents of an uploaded file are shown; the store keeps all."""

NO_FILTERS = Filters()


@dataclass(frozen=True)
class Snapshot:
    """A store at one moment: where it is, and marks of its file that change with every write."""

    location: str
    marks: tuple[int, ...]


class Upload(Protocol):
    """A file as the browser hands it over; the same file uploaded again has another `file_id`."""

    name: str
    file_id: str

    def getvalue(self) -> bytes:
        """The file's bytes."""


U = TypeVar("U", bound=Upload)


@dataclass(frozen=True)
class Arrived:
    """What a visitor uploaded in this session, newest first. Screens run again with every click; nothing is read twice."""

    file_ids: frozenset[str] = frozenset()
    reports: tuple[SourceReport, ...] = ()

    def fresh(self, uploads: Sequence[U]) -> list[U]:
        """Those not ingested yet."""
        return [upload for upload in uploads if upload.file_id not in self.file_ids]

    def with_report(self, uploads: Sequence[Upload], report: IngestReport) -> Arrived:
        """With a batch that was ingested. Long lists are cut: a session is kept in memory."""
        light = (replace(source, run_ids=source.run_ids[:LINKED_RUNS], rejects=source.rejects[:SHOWN_REJECTS]) for source in report.sources)
        return Arrived(self.file_ids | {upload.file_id for upload in uploads}, (*light, *self.reports))

    @property
    def run_ids(self) -> list[str]:
        """The first runs in the files, each once."""
        return list(dict.fromkeys(run_id for report in self.reports for run_id in report.run_ids))[:LINKED_RUNS]


def store() -> Store:
    """The store the dashboard was started on."""
    return Store(os.environ.get("TACHOGRAPH_DB") or DEFAULT_LOCATION, wait_seconds=WAIT_SECONDS)


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


@st.cache_data(max_entries=32, show_spinner=False)
def summary(at: Snapshot, metrics: tuple[str, ...], filters: Filters = NO_FILTERS) -> pa.Table:
    """One row of figures over all runs, each with its known-of count. Raises StoreError."""
    return queries.summary(_store(at), filters, (), metrics)


@st.cache_data(max_entries=32, show_spinner=False)
def models(at: Snapshot, by: tuple[str, ...] = ("model", "provider", "region"), filters: Filters = NO_FILTERS) -> pa.Table:
    """Figures per model. Raises StoreError."""
    return queries.models(_store(at), filters, by)


@st.cache_data(max_entries=8, show_spinner=False)
def runs(at: Snapshot, filters: Filters = NO_FILTERS) -> pa.Table:
    """The SHOWN_RUNS dearest runs. Raises StoreError."""
    return queries.runs(_store(at), filters, SHOWN_RUNS)


@st.cache_data(max_entries=8, show_spinner=False)
def model_rows(at: Snapshot, filters: Filters = NO_FILTERS) -> pa.Table:
    """One row per model of the SHOWN_RUNS dearest runs. Raises StoreError."""
    return queries.model_rows(_store(at), filters, SHOWN_RUNS)


@st.cache_data(max_entries=8, show_spinner=False)
def run(at: Snapshot, run_id: str) -> dict[str, Any] | None:
    """Everything about one run, `model_usage` as a table. None where there is none. Raises StoreError."""
    return queries.run(_store(at), run_id)


def ingest_uploads(uploads: Sequence[Upload], on_progress: Callable[[float, str], object]) -> IngestReport:
    """Ingest the files, telling `on_progress` the share read and the name of each. Raises StoreError."""
    done = 0

    def read(progress: Progress) -> None:
        nonlocal done
        done += progress.bytes
        on_progress(min(1.0, done / size), progress.name)

    sources = [Source(upload.name, upload.getvalue()) for upload in uploads]
    size = sum(source.size for source in sources) or 1
    return ingest(sources, store(), on_progress=read)


def _store(at: Snapshot) -> Store:
    return Store(at.location, wait_seconds=WAIT_SECONDS)
