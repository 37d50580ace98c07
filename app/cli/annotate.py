"""`tachograph label`, `note`, `star` and `exclude`: what people say of runs."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from typing import Any

import click

from app.cli import terminal
from app.cli.answering import Asked, answering
from app.cli.options import (
    Command,
    chosen_filters,
    filter_options,
    flag,
    text_option,
    utf8,
    with_examples,
)
from app.queries.filters import EXCLUDED, Filters, parse_label
from app.queries.run_page import FoundRuns, named, run_id_of, with_whole_ids
from app.queries.runs import ids
from ingest.store.annotations import Change, annotate
from ingest.store.database import Store
from schemas.errors import UsageError
from schemas.text import one_line, plural


def _with_runs(command: Command) -> Command:
    """Add the filters and `--yes`, passed as `chosen` and `yes`."""

    @functools.wraps(command)
    def packed(*arguments: Any, **options: Any) -> Any:
        return command(*arguments, chosen=chosen_filters(options), **options)

    asks = flag("--yes", "Do not ask before changing the runs that filters choose.")
    return answering(filters=False, output=False)(asks(filter_options(packed)))


@with_examples(
    "label 5e0c031e team=kernels",
    "label 5e0c031e --remove team",
    "label 5e0c031e date=2026-11-01",
    "label --project vllm quarter=Q4 --yes",
)
@click.argument("words", nargs=-1, metavar="RUN... KEY=VALUE...", callback=utf8)
@text_option(
    "--remove", "removed", multiple=True, metavar="KEY", help="Remove this label. Repeatable."
)
@_with_runs
def label(
    words: tuple[str, ...], removed: tuple[str, ...], asked: Asked, *, chosen: Filters, yes: bool
) -> None:
    """Label runs, or remove labels.

    RUN is the id of a run, or its first characters; filters choose runs instead. A label given here
    takes the place of an ingested one, also as project, task or experiment; it stays through
    rebuild, re-ingest and undo. date=2026-11-01 dates runs, also against their logs, for every
    period and price; date= takes that back.
    """
    labels = dict(parse_label(word) for word in words if "=" in word)
    if not labels and not removed:
        raise click.UsageError(
            "No label. Give KEY=VALUE or --remove KEY, e.g. tachograph label 5e0c031e team=kernels"
        )
    runs = [word for word in words if "=" not in word]
    _apply(asked.store, runs, chosen, Change(labels=labels, removed=removed), "Labelled", yes=yes)


@with_examples('note 5e0c031e "warm cache, not comparable"', 'note 5e0c031e ""')
@click.argument("words", nargs=-1, required=True, metavar="RUN... TEXT", callback=utf8)
@_with_runs
def note(words: tuple[str, ...], asked: Asked, *, chosen: Filters, yes: bool) -> None:
    """Note a text on runs; an empty text removes the note.

    RUN is the id of a run, or its first characters; filters choose runs instead.
    """
    *runs, text = words
    done = "Noted on" if text else "Removed the note of"
    _apply(asked.store, runs, chosen, Change(note=text), done, yes=yes)


@with_examples("star 5e0c031e", "star 5e0c031e --remove", "runs --starred")
@click.argument("words", nargs=-1, metavar="RUN...", callback=utf8)
@flag("--remove", "Remove the star.")
@_with_runs
def star(words: tuple[str, ...], asked: Asked, *, remove: bool, chosen: Filters, yes: bool) -> None:
    """Star runs. `--starred` then filters by it.

    RUN is the id of a run, or its first characters; filters choose runs instead.
    """
    _apply(
        asked.store,
        words,
        chosen,
        Change(starred=not remove),
        "Removed the star of" if remove else "Starred",
        yes=yes,
    )


@with_examples(
    'exclude 5e0c031e --reason "wrong model"', "exclude 5e0c031e --remove", "runs --excluded only"
)
@click.argument("words", nargs=-1, metavar="RUN...", callback=utf8)
@text_option("--reason", default="", metavar="TEXT", help="Why.")
@flag("--remove", "Count the runs again.")
@_with_runs
def exclude(
    words: tuple[str, ...], asked: Asked, *, reason: str, remove: bool, chosen: Filters, yes: bool
) -> None:
    """Exclude runs from every number, list, chart, check and export.

    Each of these says how many runs are not counted; `--excluded all` counts them, `--excluded
    only` shows them. RUN is the id of a run, or its first characters; filters choose runs instead.
    """
    if remove and chosen and not chosen.values(EXCLUDED):
        chosen = chosen.with_values(EXCLUDED, ["only"])
    change = Change(excluded=not remove, reason=reason)
    _apply(asked.store, words, chosen, change, "Counting again:" if remove else "Excluded", yes=yes)


def _apply(
    store: Store, words: Sequence[str], chosen: Filters, change: Change, done: str, *, yes: bool
) -> None:
    """Change the annotations of runs chosen by ids or filters. Raises UsageError, StoreError."""
    if words and chosen:
        raise click.UsageError("Give ids of runs or filters, not both.")
    if not words and not chosen:
        raise click.UsageError(
            "No run. Give the id of a run or its first characters, or filters such as --task sort"
        )
    run_ids = (
        list(dict.fromkeys(run_id_of(store, word) for word in words))
        if words
        else ids(store, with_whole_ids(store, chosen))
    )
    if not run_ids:
        raise UsageError(f"no run matches {chosen.as_words()}.", "Nothing was changed.")
    if chosen and not yes:
        confirm(
            f"This changes {plural(len(run_ids), 'run')} ({one_line(chosen.as_words())}).",
            "change them",
        )
    with terminal.reported_interrupts(store):
        changed = annotate(store, run_ids, change)
    same = len(run_ids) - changed
    unchanged = f" ({same:,} unchanged)" if same else ""
    silent = " (no reason given)" if change.excluded and not change.reason else ""
    terminal.note(f"{done} {plural(len(run_ids), 'run')}{silent}{unchanged}")
    for line in FoundRuns(len(run_ids), tuple(named(store, run_ids[:5]))).lines():
        terminal.note(f"  {line}")


def confirm(question: str, does: str) -> None:
    """Ask whether to go on.

    Raises UsageError if nobody can be asked, click.Abort if the answer is no. `does`: `undo it`.
    """
    if not sys.stdin.isatty():
        terminal.note(question)
        raise UsageError(f"add --yes to {does}.", "Nothing was changed.")
    click.confirm(f"{question} Continue?", abort=True, err=True)
