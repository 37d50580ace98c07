"""`tachograph doctor`: checks of the installation and the store, with advice on problems.

A new check is a function of a store that yields findings, and an entry of CHECKS.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import duckdb
from packaging.requirements import Requirement

from app.cli import terminal
from app.cli.answering import Asked, answering
from app.cli.options import with_examples
from app.queries import models as model_queries
from app.queries.filters import EVERY_RUN
from app.queries.reading import read_transaction
from app.text.answers import unattributed_words
from app.text.formatting import short
from ingest.prices.genai import newest_price
from ingest.store.database import Store
from ingest.system.command_lines import command_line, install_command
from schemas.errors import ExitCode, StoreError, StoreMissing, TachographError
from schemas.store_version import SCHEMA_VERSION
from schemas.text import one_line, plural
from schemas.units import Unit

PACKAGES = ("tachograph", "duckdb", "streamlit", "plotly", "pydantic", "pyarrow")
"""Packages that `doctor` always lists with their versions; others only if something is wrong."""

OLD_PRICES_DAYS = 120
"""Providers change prices and add models every few weeks, so a library without news for this long
is out of date.
"""


@dataclass(frozen=True)
class Checked:
    """One line of the output: what was checked, the result and, for a problem, advice."""

    subject: str
    found: str
    advice: str = ""
    exit_code: ExitCode = ExitCode.OK


@dataclass(frozen=True)
class Balance:
    """A consistency check: `sql` counts the violating rows. `command` belongs to the advice."""

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
        """select count(*) from sources
           where documents <> accepted + duplicates + rejected + ignored or least(accepted,
               duplicates, rejected, ignored) < 0""",
        "in every file, documents = accepted + duplicates + rejected + ignored",
        (
            "files where documents ≠ accepted + duplicates + rejected + ignored, or one of these "
            "is negative"
        ),
        _REREAD,
        "rebuild",
    ),
    Balance(
        "runs",
        """select count(*) from sources where accepted <> (
               select count(*) from runs where runs.source_id = sources.source_id)""",
        "every accepted document is a run",
        "files whose accepted documents do not match their runs",
        _REREAD,
        "rebuild",
    ),
    Balance(
        "rejects",
        """select count(*) from sources
           where rejected <> (select count(*) from rejects where rejects.source_id =
               sources.source_id)""",
        "every rejected document is kept with its reason",
        "files whose rejected documents are not all kept",
        _REREAD,
        "rebuild",
    ),
    Balance(
        "cost",
        # a microdollar: the agent adds floats, the store exact decimals
        """select count(*) from runs
           join (select run_id, sum(cost_reported_usd) as over_models from model_usage group by
               run_id) using (run_id)
           where abs(cost_reported_usd - over_models) > 0.000001""",
        "in every run with costs per model, they add up to the reported total",
        "runs whose costs per model do not add up to the reported total",
        "The agents reported it so. The runs are among the findings:",
        "findings",
    ),
)


def examine(store: Store) -> Iterator[Checked]:
    """Yield all findings in order."""
    for check in CHECKS:
        yield from check(store)


def _interpreter(_store: Store) -> Iterator[Checked]:
    yield Checked(
        "python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    )


def _packages(_store: Store) -> Iterator[Checked]:
    """Yield the main packages with versions, and all others that are missing or not as required."""
    needed = {
        one.name: one
        for one in map(Requirement, requires("tachograph") or ())
        if one.marker is None or one.marker.evaluate()
    }
    for name in dict.fromkeys((*PACKAGES, *needed)):
        found = _package(name, needed.get(name, Requirement(name)))
        if name in PACKAGES or found.advice:
            yield found


def _package(name: str, needed: Requirement) -> Checked:
    install = f"Install it: {install_command(f'{needed.name}{needed.specifier}')}"
    try:
        found = version(name)
    except PackageNotFoundError:
        return Checked(name, "not installed", install)
    if needed.specifier.contains(found, prereleases=True):
        return Checked(name, found)
    return Checked(name, f"{found}, but tachograph needs {needed.specifier}", install)


def _prices(_store: Store) -> Iterator[Checked]:
    yield price_age(newest_price(_today()), _today())


def price_age(newest: date, today: date) -> Checked:
    """Return a finding on the age of the price library, from its newest dated price."""
    days = (today - newest).days
    found = (
        f"genai-prices {version('genai-prices')}; its newest price is of {newest}, "
        f"{plural(days, 'day')} ago"
    )
    upgrade = (
        f"Newer models have no list price: {install_command('--upgrade', 'genai-prices')}, then "
        "tachograph reprice."
    )
    return Checked("prices", found, upgrade if days > OLD_PRICES_DAYS else "")


def _today() -> date:
    return datetime.now(UTC).date()


def _store(store: Store) -> Iterator[Checked]:
    """Yield findings on the store; ends early if it cannot be used."""
    location = os.path.realpath(store.location) if store.is_file else store.location
    try:
        with read_transaction(store) as transaction, transaction.reading() as connection:
            yield Checked("store", f"{location}, {_size(store)}tables of version {SCHEMA_VERSION}")
            yield Checked("holds", _counts(connection))
            yield from (_balance(connection, balance, store.location) for balance in BALANCES)
            yield from _unattributed(transaction)
    except StoreMissing as error:
        yield Checked("store", f"{location} does not exist yet. {error.hint}")
    except (StoreError, duckdb.Error) as error:
        yield _unusable(error)


def _size(store: Store) -> str:
    return f"{short(Path(store.location).stat().st_size, Unit.BYTES)}, " if store.is_file else ""


def _counts(connection: duckdb.DuckDBPyConnection) -> str:
    tables = {"sources": "file", "runs": "run", "model_usage": "model row", "rejects": "reject"}
    counts = {
        table: connection.sql(f"select count(*) from {table}").fetchall()[0][0] for table in tables
    }
    return ", ".join(plural(counts[table], noun) for table, noun in tables.items())


def _balance(connection: duckdb.DuckDBPyConnection, balance: Balance, location: str) -> Checked:
    [(broken,)] = connection.sql(balance.sql).fetchall()
    if not broken:
        return Checked(balance.subject, balance.holds)
    return Checked(
        balance.subject,
        f"{broken:,} {balance.broken}",
        f"{balance.advice} {command_line(balance.command, location)}",
    )


def _unattributed(store: Store) -> Iterator[Checked]:
    """Yield a finding on the cost that runs attribute to no model, including excluded runs."""
    if words := unattributed_words(*model_queries.unattributed(store, EVERY_RUN)):
        yield Checked("cost", words.rstrip("."))


def _unusable(error: Exception) -> Checked:
    if isinstance(error, TachographError):
        return Checked(
            "store",
            error.message,
            error.hint or "Choose another with --db.",
            ExitCode.STORE_UNUSABLE,
        )
    reason = str(error).partition("\n")[0]
    return Checked(
        "store",
        reason,
        "The file is damaged: ingest the logs into a new store.",
        ExitCode.STORE_UNUSABLE,
    )


Check = Callable[[Store], Iterator[Checked]]

CHECKS: tuple[Check, ...] = (_interpreter, _packages, _prices, _store)


@with_examples("doctor", "doctor --db runs.duckdb")
@answering(filters=False, output=False)
def doctor(asked: Asked) -> ExitCode:
    """Check the installation and the store.

    Each problem comes with advice. A store that does not exist yet is not a problem.
    """
    findings = list(examine(asked.store))
    lines = []
    for finding in findings:
        state = "problem" if finding.advice else "ok"
        lines.append(f"{state:<8} {finding.subject:<11} {one_line(finding.found)}\n")
        lines += [f"{'':8} {'':11} → {one_line(finding.advice)}\n"] if finding.advice else []
    terminal.put("".join(lines).encode(sys.stdout.encoding or "utf-8", errors="replace"))
    return max(finding.exit_code for finding in findings)
