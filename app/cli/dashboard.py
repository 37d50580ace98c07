"""`tachograph dashboard`: the store served to people."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from app.cli.ingest_options import exclude_option, label_option
from app.cli.options import (
    ANY_PATH,
    FILE,
    Whole,
    budget_options,
    db_option,
    flag,
    text_option,
    with_examples,
)
from app.cli.watch import watch_command
from app.queries.filters import night
from app.reports.budgets import to_environment
from app.server.access import Access
from app.server.serve import serve
from ingest.store.database import Store


@with_examples(
    "dashboard",
    "dashboard --watch logs/",
    "dashboard --db runs.duckdb --port 8600 --headless",
    "dashboard --max-total-usd 500 --max-day-usd 50",
)
@db_option
@click.option(
    "--port", type=Whole(1, 65535), default=8501, show_default=True, help="Port to serve on."
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to serve on. 0.0.0.0: all interfaces.",
)
@text_option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Host name used by a proxy. Repeatable.",
)
@flag("--read-only", "Disable uploads and changes.")
@click.option(
    "--sign-in",
    type=FILE,
    metavar="FILE",
    help="Require OIDC sign-in (TOML config).",
)
@click.option(
    "--watch",
    "watched",
    multiple=True,
    type=ANY_PATH,
    metavar="PATH",
    help="Also ingest what is written there, as `tachograph watch` does. Repeatable.",
)
@label_option("Label for all runs of --watch. Repeatable.")
@exclude_option
@click.option(
    "--browser/--headless", default=True, help="Open a browser or not.  [default: --browser]"
)
@budget_options
def dashboard(
    db: str,
    port: int,
    host: str,
    hosts: tuple[str, ...],
    watched: tuple[Path, ...],
    budgets: Any,
    **how: Any,
) -> None:
    """Serve the dashboard on this machine until Ctrl-C.

    Screens follow the store: they show new runs by themselves.

    It answers only to the names localhost, --host and --allow-host. Budgets show on the screens
    Cost & time and Reports.
    """
    os.environ |= to_environment(budgets)
    shown = Store(db)
    shown.exists()  # raises for a folder: better now than on every page
    night()  # raises for other words than hours
    location = os.path.realpath(db) if shown.is_file else db
    access = Access(how["read_only"], how["sign_in"] and how["sign_in"].resolve(), hosts)
    serve(
        location,
        host,
        port,
        access,
        browser=how["browser"],
        watcher=watch_command(location, watched, how["excludes"], how["labels"]),
    )
