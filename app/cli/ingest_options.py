"""How logs are ingested: the options that `ingest` and `watch` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from app.cli.commands.reprice import prices_option
from app.cli.options import Whole, known_zone_name, utf8

Command = Callable[..., Any]

NO_TEXT = "no prompts, titles, summaries, error messages and excerpts of rejects, and so no claims"
"""What `--no-text` leaves out."""

exclude_option = click.option(
    "--exclude",
    "excludes",
    multiple=True,
    metavar="GLOB",
    callback=utf8,
    help="Leave out files and folders, as a line of .gitignore does: '*.tmp', cache/, /old. Repeatable. So does a file .tachographignore.",
)

_OPTIONS = (
    click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", callback=utf8, help="Label for all ingested runs. Repeatable."),
    click.option(
        "--path-template",
        metavar="TEMPLATE",
        callback=utf8,
        help="Extract fields from the end of each path: {repo}, {task}, {experiment}, {timestamp}; other names become labels.",
    ),
    click.option(
        "--path-tz",
        "path_zone",
        metavar="ZONE",
        callback=known_zone_name,
        help="IANA time zone of times in file and folder names.  [default: UTC]",
    ),
    click.option(
        "--measure",
        "measures",
        multiple=True,
        metavar="KEY=VALUE,...",
        callback=utf8,
        help="What benchmark results do not say themselves: variant, unit, better, task, commit, agent, run ... See docs/measured.md.",
    ),
    click.option(
        "--trust-file-times", is_flag=True, help="Date runs without another date by their file: the agent wrote it there, as in CI."
    ),
    exclude_option,
    click.option("--no-text", is_flag=True, help=f"Keep figures only: {NO_TEXT}."),
    click.option("--jobs", type=Whole(min=0), default=0, metavar="N", help="Number of worker processes.  [default: CPU count]"),
    prices_option,
)


def with_ingest_options(command: Command) -> Command:
    """Labels, template, zone and the like, handed on by the names of `app.cli.ingest_paths.How`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
