"""Checks of the installation and the store: what is there, whether its books balance, and what to do where they do not."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import duckdb

from app.queries import runs as run_queries
from app.queries.filters.chosen import Filters
from app.queries.filters.registry import EXCLUDED
from app.queries.read_transaction import read_transaction
from app.text.answers import unattributed_words
from app.text.formatting import human
from ingest.store.database import Store
from ingest.system.command_lines import command_line
from schemas.errors import ExitCode, StoreError, StoreMissing, TachographError
from schemas.rows.tables import SCHEMA_VERSION
from schemas.text import plural
from schemas.unit_names import Unit

PACKAGES = ("tachograph", "duckdb", "streamlit", "plotly", "pydantic", "pyarrow")


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's: what was looked at, what was found and, where it is a problem, what to do."""

    subject: str
    found: str
    advice: str = ""
    exit_code: ExitCode = ExitCode.OK


@dataclass(frozen=True)
class Balance:
    """Books that must balance: `sql` counts the rows that do not. `command` belongs to the advice."""

    subject: str
    sql: str
    holds: str
    broken: str
    advice: str
    command: str


_REREAD = "Rebuild the store; if it persists, ingest the logs into a new store:"

BALANCES = (
    Balance(
        "documents",
        "select count(*) from sources where documents <> accepted + duplicates + rejected + ignored",
        "in every file, documents = accepted + duplicates + rejected + ignored",
        "files where documents ≠ accepted + duplicates + rejected + ignored",
        _REREAD,
        "rebuild",
    ),
    Balance(
        "runs",
        """select count(*) from sources
           where accepted <> (select count(*) from runs where runs.source_id = sources.source_id)""",
        "every accepted document is a run",
        "files whose accepted documents do not match their runs",
        _REREAD,
        "rebuild",
    ),
    Balance(
        "rejects",
        """select count(*) from sources
           where rejected <> (select count(*) from rejects where rejects.source_id = sources.source_id)""",
        "every rejected document is kept with its reason",
        "files whose rejected documents are not all kept",
        _REREAD,
        "rebuild",
    ),
    Balance(
        "cost",
        # a microdollar: the agent adds floats, the store exact decimals
        """select count(*) from runs
           join (select run_id, sum(cost_reported_usd) as over_models from model_usage group by run_id) using (run_id)
           where abs(cost_reported_usd - over_models) > 0.000001""",
        "in every run with costs per model, they add up to the reported total",
        "runs whose costs per model do not add up to the reported total",
        "The agents reported it so. The runs are among the findings:",
        "findings",
    ),
)


def examine(store: Store) -> Iterator[Finding]:
    """Everything there is to say, in order; ends early where the store cannot be used."""
    yield Finding("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    yield from (_package(name) for name in PACKAGES)
    location = os.path.realpath(store.location) if store.is_file else store.location
    try:
        with read_transaction(store) as transaction, transaction.reading() as connection:
            yield Finding("store", f"{location}, {_size(store)}tables of version {SCHEMA_VERSION}")
            yield Finding("holds", _counts(connection))
            yield from (_balance(connection, balance, store.location) for balance in BALANCES)
            yield from _unattributed(transaction)
    except StoreMissing as error:
        yield Finding("store", f"{location} does not exist yet. {error.hint}")
    except (StoreError, duckdb.Error) as error:
        yield _unusable(error)


def _package(name: str) -> Finding:
    try:
        return Finding(name, version(name))
    except PackageNotFoundError:
        return Finding(name, "not installed", f"Install it: pip install {name}")


def _size(store: Store) -> str:
    return f"{human(Path(store.location).stat().st_size, Unit.BYTES)}, " if store.is_file else ""


def _counts(connection: duckdb.DuckDBPyConnection) -> str:
    tables = {"sources": "file", "runs": "run", "model_usage": "model row", "rejects": "reject"}
    counts = {table: connection.sql(f"select count(*) from {table}").fetchall()[0][0] for table in tables}
    return ", ".join(plural(counts[table], noun) for table, noun in tables.items())


def _balance(connection: duckdb.DuckDBPyConnection, balance: Balance, location: str) -> Finding:
    [(broken,)] = connection.sql(balance.sql).fetchall()
    if not broken:
        return Finding(balance.subject, balance.holds)
    return Finding(balance.subject, f"{broken:,} {balance.broken}", f"{balance.advice} {command_line(balance.command, location)}")


def _unattributed(store: Store) -> Iterator[Finding]:
    """The cost that runs attribute to no model, of excluded runs too."""
    if said := unattributed_words(*run_queries.unattributed(store, Filters(((EXCLUDED, ("all",)),)))):
        yield Finding("cost", said.rstrip("."))


def _unusable(error: Exception) -> Finding:
    if isinstance(error, TachographError):
        return Finding("store", error.message, error.hint or "Choose another with --db.", ExitCode.STORE_UNUSABLE)
    reason = str(error).partition("\n")[0]
    return Finding("store", reason, "The file is damaged: ingest the logs into a new store.", ExitCode.STORE_UNUSABLE)
