"""`tachograph mcp`: the store served to agents."""

from __future__ import annotations

import sys

import click

from app.cli import terminal
from app.cli.options import WAITS, Seconds, db_option, flag, with_examples
from app.library.store import Store
from ingest.store import database
from ingest.system.command_lines import extra_command
from schemas.errors import UsageError


@with_examples("mcp", "mcp --db /data/runs.duckdb")
@db_option
@click.option(
    "--wait", type=Seconds(min=0), default=10, show_default=True, metavar="SECONDS", help=WAITS
)
@flag("--with-text", "Include prompts, titles, summaries and claims of session transcripts.")
def mcp(db: str, wait: float, *, with_text: bool) -> None:
    """Serve the store to an agent by the Model Context Protocol, over standard input and output.

    Its tools only read (docs/mcp.md lists them). An agent starts this command itself: see
    docs/mcp.md for its configuration, and for the SDK that it needs.
    """
    try:
        from app.mcp_server import serve  # its SDK is optional
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise UsageError(
            "the MCP SDK (mcp 2 or newer) is not installed.", f"Install it: {extra_command()}"
        ) from error
    if sys.stdin.isatty():
        terminal.note(
            "Waiting for an agent on standard input, which starts this command itself "
            "(docs/mcp.md). Ctrl-C stops it."
        )
    database.Store(db).exists()  # raises for a folder
    serve(Store(db, wait, with_text=with_text))
