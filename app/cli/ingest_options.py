"""Options of commands that ingest: `ingest`, `watch` and `dashboard --watch`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import click

from app.cli import terminal
from app.cli.options import NO_TEXT, Command, Whole, dollars, flag, text_option, utf8
from app.queries.grouping import known_zone
from ingest.agents.homes import only_sessions, session_folders
from schemas.agents import is_folder
from schemas.errors import UsageError
from schemas.text import one_line


def label_option(help_: str) -> Callable[[Command], Command]:
    """Add `--label KEY=VALUE`, passed as `labels`."""
    return text_option("--label", "labels", multiple=True, metavar="KEY=VALUE", help=help_)


prices_option = click.option(
    "--prices",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=(
        "Price file (TOML) that overrides list prices: contracts, discounts, local models. Kept "
        "in the store."
    ),
)


def _zone_name(ctx: click.Context, param: click.Parameter, value: str | None) -> str:
    """Return the IANA name of a time zone, or "" for none (callback)."""
    name = utf8(ctx, param, value) or ""
    try:
        return known_zone(name).key if name else ""
    except UsageError as error:
        raise click.BadParameter(f"{error.message} {error.hint}", ctx, param) from error


exclude_option = text_option(
    "--exclude",
    "excludes",
    multiple=True,
    metavar="GLOB",
    help=(
        "Leave out files and folders, as a line of .gitignore does: '*.tmp', cache/, /old. "
        "Repeatable. So does a file .tachographignore."
    ),
)


_OPTIONS = (
    label_option("Label for all ingested runs. Repeatable."),
    text_option(
        "--path-template",
        metavar="TEMPLATE",
        help=(
            "Extract fields from the end of each path: {repo}, {task}, {experiment}, {effort}, "
            "{timestamp}; other names become labels."
        ),
    ),
    click.option(
        "--path-tz",
        "path_zone",
        metavar="ZONE",
        callback=_zone_name,
        help="IANA time zone of times in file and folder names.  [default: UTC]",
    ),
    text_option(
        "--measure",
        "measures",
        multiple=True,
        metavar="KEY=VALUE,...",
        help=(
            "What benchmark results do not say themselves: variant, unit, better, task, commit, "
            "agent, run ... See docs/measured.md."
        ),
    ),
    click.option(
        "--map",
        "map_files",
        type=click.Path(path_type=Path),
        multiple=True,
        metavar="FILE",
        help=(
            "Map of result files that no reader knows, instead of the tachograph-map.toml in "
            "their folders. Repeatable. See docs/map.md."
        ),
    ),
    flag(
        "--trust-file-times",
        "Date runs without another date by their file: the agent wrote it there, as in CI.",
    ),
    exclude_option,
    flag("--no-text", f"Keep figures only: {NO_TEXT}."),
    click.option(
        "--jobs",
        type=Whole(min=0),
        default=0,
        metavar="N",
        help="Number of worker processes.  [default: CPU count]",
    ),
    prices_option,
    click.option(
        "--machine-rate",
        callback=dollars,
        metavar="USD",
        help=(
            "USD per hour of the machine that the ingested runs held: the label machine-rate. "
            "Rates by label or host are in the price file."
        ),
    ),
)


def ingest_options(command: Command) -> Command:
    """Add labels, template, zone and the like, passed by the names of `pipeline_options`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def paths_to_read(
    paths: Sequence[Path], *, retries: bool = False, follows: bool = False
) -> Sequence[Path]:
    """Return the paths to read.

    By default the sessions on this machine, unless rejects are retried. `follows`: without
    databases, which are read whole at each change. Raises UsageError without any.
    """
    if paths or retries:
        return only_sessions(paths)
    if not (found := [each for each in session_folders() if not follows or is_folder(each)]):
        raise UsageError(
            "Nothing to ingest: Claude Code, Codex, OpenCode, Cline, Roo Code and Kilo Code have "
            "no sessions on this machine.",
            "Name a file or a folder: tachograph ingest PATH. Sessions elsewhere: set "
            "$CLAUDE_CONFIG_DIR, $CODEX_HOME, $OPENCODE_DB or $CLINE_DATA_DIR.",
        )
    terminal.note(f"reading sessions in {', '.join(one_line(str(folder)) for folder in found)}")
    return found
