"""Commands that show data of a store: what they are asked, and the store that they read."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from app.cli.options import (
    Command,
    Output,
    RowCount,
    chosen_filters,
    chosen_output,
    db_option,
    filter_options,
    output_options,
    text_option,
    wait_option,
)
from app.cli.terminal import note, note_once, opened, short
from app.queries.filters import (
    EXAMPLES,
    NO_FILTERS,
    RUN,
    SESSION,
    Filters,
    moment,
    taken_as_now,
    this_moment,
)
from app.queries.reading import CheckedStore
from app.text.answers import uncounted_notes
from ingest.store.database import Store
from ingest.system.command_lines import on_disk
from schemas.errors import UsageError

ROWS_IN_A_TABLE = 50
"""Rows of a list in a terminal without --limit; files and programs get all."""


@dataclass(frozen=True)
class Asked:
    """The request of a command: store, filters, number of rows (None: all), and output."""

    store: CheckedStore
    filters: Filters
    output: Output
    limit: int | None


def answering(
    *,
    filters: bool = True,
    output: bool = True,
    limit: str = "",
    at: bool = False,
    formats: tuple[str, ...] = (),
) -> Callable[[Command], Command]:
    """Add the options of a command that shows data of a store, passed as `asked`.

    `limit`: the noun of its rows, if --limit cuts them. `formats`: see `output_options`.

    Afterwards it notes runs that were not counted, and names in the filters that no run has.
    """

    def decorated(command: Command) -> Command:
        @functools.wraps(command)
        def answered(
            *arguments: Any,
            db: str,
            wait: float,
            at: str = "",
            count: int | None = None,
            **options: Any,
        ) -> Any:
            chosen = chosen_filters(options) if filters else NO_FILTERS
            shown = chosen_output(options, formats) if output else Output()
            if limit and count is None and shown.is_drawn:
                count = ROWS_IN_A_TABLE
            as_of = _as_of(at)
            with taken_as_now(as_of):
                store = opened(CheckedStore(on_disk(db), wait, note_once(), at=as_of))
                require_no_store_file(store, shown.path)
                if chosen.values(RUN) or chosen.values(SESSION):
                    from app.queries.run_page import with_whole_ids

                    chosen = with_whole_ids(store, chosen)
                if not shown.keeps_text:
                    store.leave_out_texts()
                if filters:
                    store.look_up(chosen)
                asked = Asked(store, chosen, shown, count or None)
                done = command(*arguments, asked=asked, **options)
                for line in uncounted_notes(store, "--{} all"):
                    note(line)
                for name in store.unmatched:  # more often a typing mistake than a question
                    note(short(str(name)))
            return done

        packed = db_option(wait_option(answered))
        if at:
            packed = text_option(
                "--at",
                default="",
                metavar="TIME",
                help="Query a lake as of TIME (UTC; a day means its beginning).",
            )(packed)
        if limit:
            packed = click.option(
                "--limit",
                "count",
                type=RowCount(min=0),
                metavar="N",
                help=(
                    f"Maximum number of {limit}; 0: all.  "
                    f"[default: {ROWS_IN_A_TABLE} in a table, else all]"
                ),
            )(packed)
        if output:
            packed = output_options(packed, formats)
        return filter_options(packed) if filters else packed

    return decorated


def require_no_store_file(store: Store, path: Path | None) -> None:
    """Raise UsageError if the output file is the store or one of its files."""
    if path is not None and store.owns(path):
        raise UsageError(
            f"cannot write to {path}: it is the store or one of its files.",
            "Choose another file with -o.",
        )


def _as_of(text: str) -> datetime | None:
    if not text:
        return None
    if (at := moment(text)) is None:
        raise UsageError(f"--at takes a date or time, not {text!r}.", f"For example: {EXAMPLES}.")
    if at > this_moment():
        raise UsageError(f"--at {text!r} is in the future.", "Choose a time before now.")
    return at
