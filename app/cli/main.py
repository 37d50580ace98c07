"""The command line. stdout is data, stderr narration, exit codes are in `schemas.errors`.

Heavy imports wait until a command runs, so that `--help` and completion are immediate.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import Any

import click
from click.shell_completion import get_completion_class

from app.cli import (
    annotate,
    answers,
    claims,
    figures,
    ingest,
    loops,
    measure,
    run,
    store,
    terminal,
    watch,
)
from app.cli.options import WAITS, Seconds, Whole, Word, budget_options, db_option, examples, utf8
from ingest.system.command_lines import extra_command
from ingest.system.defects import DEBUG
from schemas.errors import UsageError

NAME, VARIABLE = "tachograph", "_TACHOGRAPH_COMPLETE"
SHELLS = ("bash", "zsh", "fish")

FEW_COLLECTIONS = 50_000
"""New objects between two garbage collections. With Python's 700, finding nothing new in 15,000
files takes a fifth longer.
"""


class Commands(click.Group):
    """Commands in the order of their definition below, which is the order of use."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names in order of definition, not sorted."""
        return list(self.commands)


def _debug(_ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        os.environ[DEBUG] = "1"  # also for processes that are started


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog=examples("ingest logs/", "report --by model", "dashboard"),
)
@click.version_option(package_name="tachograph", message="tachograph %(version)s")
@click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=_debug,
    help="Show the traceback of an error that nobody expected.",
)
def cli() -> None:
    """Show what runs of coding agents cost, how long they took, and what they claim.

    Ingests the result records that agents write, into a DuckDB store.
    """


@click.command(
    epilog=examples(
        "dashboard",
        "dashboard --watch logs/",
        "dashboard --db runs.duckdb --port 8600 --headless",
        "dashboard --max-total-usd 500 --max-day-usd 50",
    )
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
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    callback=utf8,
    help="Host name used by a proxy. Repeatable.",
)
@click.option("--read-only", is_flag=True, help="Disable uploads and changes.")
@click.option(
    "--sign-in",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Require OIDC sign-in (TOML config).",
)
@click.option(
    "--watch",
    "watched",
    multiple=True,
    type=click.Path(readable=False, path_type=Path),
    metavar="PATH",
    help="Also ingest what is written there, as `tachograph watch` does. Repeatable.",
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="KEY=VALUE",
    callback=utf8,
    help="Label for all runs of --watch. Repeatable.",
)
@ingest.exclude_option
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
    from app.reports.budgets import to_environment
    from app.server.access import Access
    from app.server.serve import serve
    from ingest.store.database import Store

    os.environ |= to_environment(budgets)
    shown = Store(db)
    shown.exists()  # raises for a folder: better now than on every page
    location = os.path.realpath(db) if shown.is_file else db
    access = Access(how["read_only"], how["sign_in"] and how["sign_in"].resolve(), hosts)
    serve(
        location,
        host,
        port,
        access,
        browser=how["browser"],
        watcher=watch.watch_command(location, watched, how["excludes"], how["labels"]),
    )


@click.command(epilog=examples("mcp", "mcp --db /data/runs.duckdb"))
@db_option
@click.option(
    "--wait", type=Seconds(min=0), default=10, show_default=True, metavar="SECONDS", help=WAITS
)
@click.option(
    "--with-text",
    is_flag=True,
    help="Include prompts, titles, summaries and claims of session transcripts.",
)
def mcp(db: str, wait: float, *, with_text: bool) -> None:
    """Serve the store to an agent by the Model Context Protocol, over standard input and output.

    The tools search_runs, get_run, cost_report, claims, verdicts, loops and compare only read. An
    agent starts this command itself: see docs/mcp.md for its configuration, and for the SDK that it
    needs.
    """
    from ingest.system.arrow import import_arrow_alone

    try:
        from app.mcp_server import serve
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise UsageError(
            "the MCP SDK (mcp 2 or newer) is not installed.", f"Install it: {extra_command('mcp')}"
        ) from error
    from app.library.store import Store
    from ingest.store import database

    import_arrow_alone()
    if sys.stdin.isatty():
        terminal.note(
            "Waiting for an agent on standard input, which starts this command itself "
            "(docs/mcp.md). Ctrl-C stops it."
        )
    database.Store(db).exists()  # raises for a folder
    serve(Store(db, wait, with_text=with_text))


@click.command(epilog=examples("completion bash", "completion zsh", "completion fish"))
@click.argument("shell", type=Word(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands, options and values in a shell.

    Bash (4.4 or newer), zsh or fish.

    \b
    bash:  echo 'eval "$(tachograph completion bash)"' >> ~/.bashrc
    zsh:   echo 'eval "$(tachograph completion zsh)"' >> ~/.zshrc
    fish:  tachograph completion fish > ~/.config/fish/completions/tachograph.fish
    """  # noqa: D301  it is a backspace, which tells click to leave the lines as they are
    kind = get_completion_class(shell)
    assert kind is not None
    made = kind(ctx.find_root().command, {}, NAME, VARIABLE)
    terminal.put((made.source_template % made.source_vars()).encode())


for command in (
    ingest.ingest,
    watch.watch,
    run.run,
    measure.measure,
    answers.report,
    answers.runs,
    answers.show,
    answers.models,
    answers.usage,
    claims.claims,
    claims.findings,
    claims.failures,
    claims.verdicts,
    claims.measurements,
    loops.loops,
    answers.tasks,
    figures.chart,
    figures.share,
    answers.check,
    answers.compare,
    annotate.label,
    annotate.note,
    annotate.star,
    annotate.exclude,
    answers.ingests,
    annotate.undo,
    answers.rejects,
    answers.sources,
    dashboard,
    mcp,
    store.rebuild,
    store.reprice,
    store.lake,
    store.copy,
    store.doctor,
    completion,
):
    cli.add_command(command)


def main() -> int:
    """Run the command line and return its exit code."""
    gc.set_threshold(FEW_COLLECTIONS)
    code = terminal.run(cli)
    # Python looks through all that is imported before it ends, which takes a twentieth of a short
    # command
    gc.freeze()
    return code


if __name__ == "__main__":
    sys.exit(main())
