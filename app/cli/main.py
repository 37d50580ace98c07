"""The command line. stdout is data, stderr narration, exit codes are in `schemas.errors`.

A command is imported when it is called, so that the list of commands and the first completion are
immediate.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module

import click

from app.cli import terminal
from ingest.system.arrow import import_arrow_alone
from ingest.system.defects import DEBUG

COMMANDS = {
    "ingest": ("app.cli.ingest", "Ingest logs into the store, in one transaction."),
    "watch": ("app.cli.watch", "Ingest logs as they are written, until Ctrl-C."),
    "run": ("app.cli.run", "Run an agent's command, record it and ingest its record."),
    "measure": (
        "app.cli.measure",
        "Measure a change: run its benchmark on baseline and candidate, in turns, until decided.",
    ),
    "report": ("app.cli.report", "Report what runs cost: one page for who pays, then groups."),
    "runs": ("app.cli.lists", "List runs, most expensive first."),
    "show": (
        "app.cli.show",
        (
            "Show one run: where its money went, models, claims, findings, tools, files, summary, "
            "source."
        ),
    ),
    "models": ("app.cli.lists", "Show cost and tokens per model, helper models included."),
    "usage": ("app.cli.usage", "Show what sessions used."),
    "claims": (
        "app.cli.claims",
        "List improvements that agents claim, quantified ones first, then by ratio, largest first.",
    ),
    "findings": (
        "app.cli.lists",
        "List findings: what does not add up in a record, its summary or its patch.",
    ),
    "failures": ("app.cli.lists", "Count why runs did not complete."),
    "verdicts": (
        "app.cli.verdicts",
        "Show what runs claimed beside what benchmarks measured, per run, or with --by per group.",
    ),
    "measurements": (
        "app.cli.verdicts",
        "List measured values of benchmarks, each with the run that it measured.",
    ),
    "loops": ("app.cli.loops", "List optimization loops."),
    "tasks": (
        "app.cli.lists",
        "Show tasks beside those who worked on them: a row per task, a column per agent (or --by).",
    ),
    "chart": (
        "app.cli.figures",
        "Draw a chart of a screen as SVG, PNG or PDF, with title, n and source in the picture.",
    ),
    "share": (
        "app.cli.figures",
        "Write a screen with its filters, or a run, as PDF or as one HTML file to mail.",
    ),
    "check": ("app.cli.check", "Fail if a budget is exceeded: exit code 1, else 0."),
    "budget": (
        "app.cli.budget",
        "Keep budgets of a month in the store; without arguments list them.",
    ),
    "compare": (
        "app.cli.compare",
        (
            "Compare groups of runs with the first of them: cost, wall time and turns on the same "
            "tasks."
        ),
    ),
    "new": (
        "app.cli.new",
        "Show what is new since the last look: runs, money, failures, measurements, budgets.",
    ),
    "landed": (
        "app.cli.landed",
        "Read from a checkout which changes of runs landed, and what each cost.",
    ),
    "label": ("app.cli.annotate", "Label runs, or remove labels."),
    "note": ("app.cli.annotate", "Note a text on runs; an empty text removes the note."),
    "star": ("app.cli.annotate", "Star runs. `--starred` then filters by it."),
    "exclude": (
        "app.cli.annotate",
        "Exclude runs from every number, list, chart, check and export.",
    ),
    "ingests": (
        "app.cli.lists",
        "List ingests: when, by whom, and what came in. Each can be undone.",
    ),
    "undo": ("app.cli.undo", "Take an ingest back, by default the last one."),
    "rejects": ("app.cli.lists", "List rejected records, and why they were rejected."),
    "sources": ("app.cli.lists", "List ingested files and their results, the newest first."),
    "dashboard": ("app.cli.dashboard", "Serve the dashboard on this machine until Ctrl-C."),
    "mcp": (
        "app.cli.mcp",
        (
            "Serve the store to an agent by the Model Context Protocol, over standard input and "
            "output."
        ),
    ),
    "map": (
        "app.cli.map",
        "Propose a map for result files that no reader knows.",
    ),
    "rebuild": ("app.cli.rebuild", "Rebuild all tables from the raw records."),
    "reprice": (
        "app.cli.rebuild",
        "Reprice all runs: after an upgrade of the price library, or with other prices.",
    ),
    "lake": (
        "app.cli.lake",
        "Make and keep up a lake: a store that many machines write to at once.",
    ),
    "copy": (
        "app.cli.copying",
        "Copy a store to a new or empty one, or its runs to a file for other tools.",
    ),
    "doctor": ("app.cli.doctor", "Check the installation and the store."),
    "completion": (
        "app.cli.completion",
        "Print the script that completes commands, options and values in a shell.",
    ),
}
"""Command → its module, in which it has its own name, and its summary. In the order of use."""

WITHOUT_ARROW = ("app.cli.ingest", "app.cli.watch", "app.cli.completion")
"""Modules of commands that mostly need no pyarrow."""


class Commands(click.Group):
    """Commands that are listed by their summaries and imported when they are called."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names in the order of use, not sorted."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the name of the command that is called, the command, and its arguments."""
        name, entry, rest = super().resolve_command(ctx, args)
        return name, entry and load(str(name)), rest


def load(name: str) -> click.Command:
    """Import a command."""
    module, _ = COMMANDS[name]
    if module not in WITHOUT_ARROW:
        import_arrow_alone()  # before all that import it
    command: click.Command = getattr(import_module(module), name)
    return command


def _debug(_ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        os.environ[DEBUG] = "1"  # also for processes that are started


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog=(  # \b makes click leave the lines as they are
        "\b\nExamples:\n  tachograph ingest logs/\n  tachograph report --by model\n"
        "  tachograph dashboard"
    ),
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


for listed, (_, summary) in COMMANDS.items():
    cli.add_command(click.Command(listed, help=summary))


def main() -> int:
    """Run the command line and return its exit code."""
    # With Python's 700 new objects between two collections, finding nothing new in 15,000 files
    # takes a fifth longer. What a short command imports is fewer than this.
    gc.set_threshold(200_000)
    code = terminal.run(cli)
    # Python looks through all that is imported before it ends, which takes a twentieth of a short
    # command
    gc.freeze()
    return code


if __name__ == "__main__":
    sys.exit(main())
