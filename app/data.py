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
from typing import Any

import pyarrow as pa
import streamlit as st

from app import cohorts, queries, queries_claims, queries_measures, queries_quality, queries_screens, report_queries
from app.filters import Filters
from app.held import HeldStore
from app.uploads import Upload
from ingest.audit import RULES
from ingest.containers import Source
from ingest.pipeline import IngestReport, Progress, ingest
from ingest.store import Store
from schemas.cost import CAUSES
from schemas.measures import MEASURES

DEFAULT_LOCATION = "tachograph.duckdb"
WAIT_SECONDS = 10.0
"""How long a screen waits for a store that another process writes: a reader at a screen loses patience before a script does."""

REMOTE_SECONDS = 10
"""How long an answer about a store without a file holds: nothing tells us that it changed."""

SHOWN_RUNS = 20_000
"""The most runs a chart or table shows, dearest first; figures always rest on all runs."""

MOST_OPTIONS = 300
"""The most values a filter offers to choose from, the most frequent first; a link may name any."""

FAR_TIMES, SHOWN_OUTLIERS = 5.0, 50
"""From how many times its model's median on a run is an outlier, and how many of them are shown."""

SHOWN_FINDINGS, SHOWN_REJECTS, SHOWN_SOURCES = 200, 200, 500
"""How many of each a screen lists; the command line lists all."""

NO_FILTERS = Filters()

_held: ContextVar[HeldStore | None] = ContextVar("held", default=None)


@dataclass(frozen=True)
class Snapshot:
    """A store at one moment: where it is, and marks of its file that change with every write."""

    location: str
    marks: tuple[int, ...]


def store() -> Store:
    """The store the dashboard was started on."""
    return Store(os.environ.get("TACHOGRAPH_DB") or DEFAULT_LOCATION, wait_seconds=WAIT_SECONDS)


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


@st.cache_data(max_entries=4, show_spinner=False)
def options(at: Snapshot) -> dict[str, dict[str, int]]:
    """What each filter can be set to, with the number of runs, most frequent first: at most MOST_OPTIONS. Raises StoreError."""
    found: dict[str, dict[str, int]] = {}
    for row in queries_screens.options(_store(at), MOST_OPTIONS).to_pylist():
        found.setdefault(row["key"], {})[row["value"]] = row["runs"]
    return found


@st.cache_data(max_entries=64, show_spinner=False)
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


@st.cache_data(max_entries=64, show_spinner=False)
def scale(at: Snapshot, measure: str, filters: Filters = NO_FILTERS) -> queries_measures.Scale | None:
    """Where the bins of a measure lie; None where no run has it. Raises StoreError."""
    return queries_measures.scale(_store(at), filters, MEASURES[measure])


@st.cache_data(max_entries=64, show_spinner=False)
def bins(at: Snapshot, measure: str, on: queries_measures.Scale, filters: Filters = NO_FILTERS) -> pa.Table:
    """How many runs lie in each bin. Raises StoreError."""
    return queries_measures.bins(_store(at), filters, MEASURES[measure], on)


@st.cache_data(max_entries=64, show_spinner=False)
def quantiles(at: Snapshot, measure: str, by: str | None = None, filters: Filters = NO_FILTERS) -> pa.Table:
    """Quantiles of a measure, per group or over all runs. Raises StoreError."""
    return queries_measures.quantiles(_store(at), filters, MEASURES[measure], by)


@st.cache_data(max_entries=32, show_spinner=False)
def compare(at: Snapshot, first: Filters, second: Filters, paired: str) -> cohorts.Cohorts:
    """Two cohorts measure by measure, one of them also task by task. Raises StoreError."""
    return cohorts.compare_cohorts(_store(at), first, second, (paired,))


def joint_scale(at: Snapshot, measure: str, first: Filters, second: Filters) -> queries_measures.Scale | None:
    """Where the bins of a measure lie that two cohorts share. Raises StoreError."""
    return queries_measures.joined([found for filters in (first, second) if (found := scale(at, measure, filters))])


@st.cache_data(max_entries=16, show_spinner=False)
def outliers(at: Snapshot, measure: str, filters: Filters = NO_FILTERS) -> pa.Table:
    """The runs furthest above the median of their model. Raises StoreError."""
    return queries_measures.outliers(_store(at), filters, MEASURES[measure], FAR_TIMES, SHOWN_OUTLIERS)


@st.cache_data(max_entries=32, show_spinner=False)
def findings_by_rule(at: Snapshot, filters: Filters = NO_FILTERS) -> pa.Table:
    """How often each rule found something, the gravest first. Raises StoreError."""
    return report_queries.findings_by_rule(_store(at), filters)


@st.cache_data(max_entries=16, show_spinner=False)
def findings(at: Snapshot, rule: str, filters: Filters = NO_FILTERS) -> pa.Table:
    """What one rule found. Raises StoreError."""
    return queries_claims.findings(_store(at), filters, rules=(rule,), limit=SHOWN_FINDINGS)


def rule_meaning(rule: str) -> str:
    """What a rule looks for, in a sentence; empty for one that is not known here."""
    causes = {f"cost_{cause}": cause_.meaning for cause, cause_ in CAUSES.items()}
    return RULES[rule].meaning if rule in RULES else causes.get(rule, "")


@st.cache_data(max_entries=32, show_spinner=False)
def known(at: Snapshot, filters: Filters = NO_FILTERS) -> pa.Table:
    """How many runs tell each fact. Raises StoreError."""
    return queries_quality.known(_store(at), filters)


@st.cache_data(max_entries=2, show_spinner=False)
def documents(at: Snapshot) -> dict[str, int]:
    """What became of all documents. Raises StoreError."""
    return queries_quality.documents(_store(at))


@st.cache_data(max_entries=2, show_spinner=False)
def rejects_by_reason(at: Snapshot) -> pa.Table:
    """Rejected documents by reason. Raises StoreError."""
    return queries_quality.rejects_by_reason(_store(at))


@st.cache_data(max_entries=2, show_spinner=False)
def rejects(at: Snapshot) -> pa.Table:
    """The rejected documents of the newest sources. Raises StoreError."""
    return queries_quality.rejects(_store(at), SHOWN_REJECTS)


@st.cache_data(max_entries=2, show_spinner=False)
def sources(at: Snapshot) -> pa.Table:
    """The newest sources. Raises StoreError."""
    return queries_quality.sources(_store(at), SHOWN_SOURCES)


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

    if held := _held.get():
        held.release()  # who reads shuts out who writes, also in one process
    sources = [Source(upload.name, upload.getvalue()) for upload in uploads]
    size = sum(source.size for source in sources) or 1
    return ingest(sources, store(), on_progress=read)


def _store(at: Snapshot) -> Store:
    held = _held.get()
    if held is not None and Path(held.location).absolute() == Path(at.location).absolute():
        return held
    return Store(at.location, wait_seconds=WAIT_SECONDS)
