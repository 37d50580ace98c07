"""Tachograph in Python: cost, duration, claims and measured results of coding agents' runs.

    import tachograph

    store = tachograph.open("tachograph.duckdb")
    store.ingest("logs/", labels={"branch": "main"})
    store.runs(model="claude-opus-4-6", since="7d").df()
    store.report(by="model")                        # a table in Jupyter, .export("html") for a file
    tachograph.extract_claims("Parsing is now 3.2x faster (8.1 s → 2.5 s).")

Filters and figures are those of the command line. Money is Decimal in US dollars, durations are in
milliseconds, and unknown values are None, never 0. All errors are a TachographError with advice.
"""

from __future__ import annotations

from importlib.metadata import version

from app.library.store import Ingested, Store, extract_claims
from app.library.store import open_store as open  # noqa: A004  as `gzip.open`: it is only ever called by its module
from app.library.tables import Report, Row, Table
from app.queries.filter_inputs import FilterWords
from ingest.claims import Claim
from schemas.errors import (
    InputUnreadable,
    InvalidRecord,
    NotAStore,
    StoreBusy,
    StoreError,
    StoreMissing,
    StoreVersionMismatch,
    TachographError,
    UsageError,
    WorkerDied,
)

__version__ = version("tachograph")

__all__ = [
    "Claim",
    "FilterWords",
    "Ingested",
    "InputUnreadable",
    "InvalidRecord",
    "NotAStore",
    "Report",
    "Row",
    "Store",
    "StoreBusy",
    "StoreError",
    "StoreMissing",
    "StoreVersionMismatch",
    "Table",
    "TachographError",
    "UsageError",
    "WorkerDied",
    "extract_claims",
    "open",
]
