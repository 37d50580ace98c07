"""Options that commands share, and the types of their values."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import available_timezones

import click
from click.shell_completion import CompletionItem

from app.queries.filters import FILTERS, PERIODS, SYNONYMS, TIME_WORDS, FilterKind, Filters, choose
from app.queries.grouping import UTC_ZONE, groups
from app.reports import REPORT_RUNS
from app.reports.exports import EXPORTS, REPORTS
from app.text.filter_words import CLOSED, shown_words, with_known_words
from ingest.system.command_lines import DEFAULT_STORE
from schemas.agents import AGENTS
from schemas.catalogue.cost_measures import COST_MEASURES
from schemas.catalogue.dimensions import DIMENSIONS, LABEL_PREFIX
from schemas.catalogue.metrics import LIMITS
from schemas.errors import UsageError
from schemas.numbers import amount
from schemas.text import choices_for, did_you_mean

Command = Callable[..., Any]
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

TABLE = "table"

ANY_PATH: click.Path = click.Path(readable=False, path_type=Path)
FILE: click.Path = click.Path(dir_okay=False, path_type=Path)
FOLDER: click.Path = click.Path(file_okay=False, path_type=Path)

OUTPUT_FORMATS = (TABLE, *EXPORTS)
PDF = "pdf"

WAITS = "Seconds to wait while another process locks the store."
NO_TEXT = "no prompts, titles, summaries, error messages and excerpts of rejects, and so no claims"

WITH_TEXT = (
    "In files and formats for programs: include prompts, titles, summaries and claims of session "
    "transcripts."
)


class Whole(click.IntRange):
    """A whole number within bounds."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            bounds = (
                f"from {self.min} to {self.max}"
                if self.max is not None
                else f"of {self.min} or more"
            )
            self.fail(f"{value!r} is not a whole number {bounds}.", param, ctx)


class Seconds(click.FloatRange):
    """A number of seconds."""

    name = "number"


class Word(click.Choice[str]):
    """One of a closed list; an error suggests the nearest word."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the word."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            self.fail(
                f"{error.message} {did_you_mean(str(value), list(self.choices))}".strip(),
                param,
                ctx,
            )


class RowCount(Whole):
    """A number of rows. Numbers beyond what DuckDB can count mean all rows."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, at most the largest that a store can count to."""
        return min(super().convert(value, param, ctx), sys.maxsize)


@dataclass(frozen=True)
class Output:
    """Destination and format of data. `path` None is stdout.

    `with_text`: with prompts, titles, summaries and claims of sessions.
    """

    format: str = TABLE
    path: Path | None = None
    with_text: bool = False

    @property
    def is_drawn(self) -> bool:
        """Whether it is a table in the terminal."""
        return self.format == TABLE and self.path is None

    @property
    def keeps_text(self) -> bool:
        """Whether it includes texts of sessions: if wanted, or in a terminal."""
        return self.with_text or self.is_drawn

    @property
    def runs(self) -> int:
        """The number of runs that a report lists in it."""
        return REPORTS[self.format].runs if self.format in REPORTS else REPORT_RUNS


def db_option(command: Command) -> Command:
    where = "The store.  [default: $TACHOGRAPH_DB, else tachograph.duckdb]"
    return text_option(
        "--db", envvar="TACHOGRAPH_DB", default=DEFAULT_STORE, metavar="STORE", help=where
    )(command)


def wait_option(command: Command) -> Command:
    return click.option(
        "--wait", type=Seconds(min=0), default=30, show_default=True, metavar="SECONDS", help=WAITS
    )(command)


def filter_options(command: Command) -> Command:
    """Add one option per filter, each passed as `filter_KEY`."""
    for one in reversed(FILTERS.values()):
        how: dict[str, Any] = {"help": one.help}
        if one.kind is FilterKind.FLAG:
            how |= {"flag_value": one.words[0]}
        elif one.kind is FilterKind.CHOICE:
            how |= {"type": Word(one.words)}
        else:
            more = {
                FilterKind.NAMES: " Repeatable (OR).",
                FilterKind.LABELS: " Repeatable (AND).",
            }.get(one.kind, "")
            how |= {
                "multiple": bool(more),
                "metavar": one.kind.metavar,
                "callback": utf8,
                "shell_complete": _completer_of(one.key),
            }
            how["help"] = f"{one.help}{shown_words(one.key)}{more}"
        words = (one.key, *(word for word, key in SYNONYMS.items() if key == one.key))
        flags = (f"--{word}" for word in words)
        command = click.option(*flags, _parameter(one.key), **how)(command)
    return command


def chosen_filters(options: dict[str, Any]) -> Filters:
    """Return the filters among the values of `filter_options`, which are removed.

    Raises UsageError.
    """
    return with_known_words(choose({key: options.pop(_parameter(key)) for key in FILTERS}))


def output_options(command: Command, formats: tuple[str, ...] = ()) -> Command:
    """Add `--format`, `-o` and `--with-text` for `chosen_output`.

    `formats`: those besides OUTPUT_FORMATS.
    """
    command = flag("--with-text", WITH_TEXT)(command)
    command = path_option("Output file; format from the extension.")(command)
    people = ", ".join((TABLE, "md", *([PDF] if PDF in formats else []), "latex"))
    kinds = (
        f"Default: {TABLE}. All formats but {people} and html have all columns and exact numbers."
    )
    return click.option("--format", "format_", type=Word((*OUTPUT_FORMATS, *formats)), help=kinds)(
        command
    )


def format_option(help_: str, *formats: str) -> Callable[[Command], Command]:
    """Add `--format` with the table of the terminal, its default, and `formats`, as `format_`."""
    kind = Word((TABLE, *formats))
    return click.option(
        "--format", "format_", type=kind, default=TABLE, show_default=True, help=help_
    )


def path_option(help_: str, *, dir_okay: bool = True) -> Callable[[Command], Command]:
    """Add `-o FILE`, passed as `path`. A folder is an error of click unless `dir_okay`."""
    kind: Any = click.Path(dir_okay=dir_okay, readable=False, path_type=Path)
    return click.option("-o", "--output", "path", type=kind, metavar="FILE", help=help_)


def pivot_option(command: Command) -> Command:
    """Add `--pivot`, passed as `pivot`."""
    return text_option(
        "--pivot", default="", metavar="DIMENSION", help="One of --by whose values become columns."
    )(command)


def chosen_output(options: dict[str, Any], formats: tuple[str, ...] = ()) -> Output:
    """Return the destination in the values of `output_options`, which are removed.

    `formats`: see there. Raises UsageError.
    """
    format_, path, with_text = options.pop("format_"), options.pop("path"), options.pop("with_text")
    if path is None or str(path) == "-":
        if format_ in REPORTS and REPORTS[format_].is_binary and sys.stdout.isatty():
            raise UsageError(
                f"{format_} is binary.", f"Write it to a file: -o FILE{REPORTS[format_].suffix}"
            )
        return Output(format_ or TABLE, None, with_text)
    if os.path.isdir(path):  # noqa: PTH112  False, where Path.is_dir() fails over a folder that may not be looked into
        raise UsageError(f"cannot write to {path}: it is a folder.", "Give a file in it.")
    if not os.path.isdir(path.parent):  # noqa: PTH112
        raise UsageError(
            f"cannot write to {path}: the folder {path.parent} does not exist.",
            "Create the folder first.",
        )
    suffixes = {REPORTS[name].suffix: name for name in (*EXPORTS, *formats) if name in REPORTS}
    format_ = format_ or suffixes.get(path.suffix.lower())
    if not format_:
        raise UsageError(
            f"unknown file extension of {path}.", f"Use {', '.join(suffixes)}, or give --format."
        )
    return Output(format_, path, with_text)


def zone_option(help_: str) -> Callable[[Command], Command]:
    """Add `--tz ZONE`, passed as `zone`."""
    how: dict[str, Any] = {
        "callback": utf8,
        "shell_complete": _completer(lambda: sorted(available_timezones())),
    }
    return click.option(
        "--tz", "zone", default=UTC_ZONE, show_default=True, metavar="ZONE", help=help_, **how
    )


def keys_option(
    flag: str, registry: Mapping[str, object], noun: str, default: tuple[str, ...], help_: str
) -> Callable[[Command], Command]:
    """Add an option for comma-separated keys of a registry, each passed once; help lists all."""

    def checked(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...]:
        keys = (
            tuple(dict.fromkeys(key.strip() for key in value.split(",")))
            if value is not None
            else default
        )
        unknown = next((key for key in keys if key not in registry), None)
        if unknown is not None:
            hint = choices_for(unknown, registry)
            raise click.BadParameter(f"unknown {noun} {unknown!r}. {hint}", ctx, param)
        return keys

    metavar, complete = f"{noun.upper()}[,{noun.upper()}]", _list_completer(registry)
    return click.option(
        flag,
        metavar=metavar,
        callback=checked,
        help=f"{help_}: {', '.join(registry)}.",
        shell_complete=complete,
    )


def by_option(command: Command) -> Command:
    """Add `--by`, passed as `by`: comma-separated words of `app.queries.grouping`, each once."""

    def checked(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...]:
        words = tuple(
            dict.fromkeys(
                word.strip() for word in (utf8(ctx, param, value) or "").split(",") if word.strip()
            )
        )
        try:
            groups(words)
        except UsageError as error:
            raise click.BadParameter(f"{error.message} {error.hint}", ctx, param) from error
        return words

    listed = f"Group by: {', '.join(DIMENSIONS)}, {LABEL_PREFIX}KEY."
    how: dict[str, Any] = {
        "callback": checked,
        "shell_complete": _list_completer((*DIMENSIONS, LABEL_PREFIX)),
    }
    return click.option("--by", metavar="DIMENSION[,DIMENSION]", help=listed, **how)(command)


def dollars(ctx: click.Context, param: click.Parameter, value: str | None) -> Decimal | None:
    """Parse an amount (callback)."""
    if value is None:
        return None
    found = amount(value)
    if found is None or found <= 0:
        raise click.BadParameter(f"{value!r} is not an amount of US dollars above 0.", ctx, param)
    return found


def cost_option(command: Command) -> Command:
    """Add `--cost`, passed as `cost`: the key of a measure of cost, "" for the usual one."""
    listed = (
        "Count cost as reported by the agents, at list prices, as best known: reported, else "
        "list, or all-in: best known and machine.  [default: best]"
    )
    return click.option(
        "--cost",
        type=Word(tuple(COST_MEASURES)),
        callback=lambda _ctx, _param, value: value or "",
        help=listed,
    )(command)


def budget_options(command: Command) -> Command:
    """Add an option per limit and `--budgets FILE`, passed as `budgets` (`app.reports.budgets`)."""

    @functools.wraps(command)
    def packed(*arguments: Any, budget_file: Path | None, **options: Any) -> Any:
        budgets: Any = ()
        given = {
            key: text for key in LIMITS if (text := options.pop(key.replace("-", "_"))) is not None
        }
        if given or budget_file is not None:
            from ingest.system.arrow import import_arrow_alone

            import_arrow_alone()
            from app.reports.budgets import budgets_of

            budgets = budgets_of(given, budget_file)
        return command(*arguments, budgets=budgets, **options)

    file = "TOML file of budgets, e.g. max-total-usd = 50. Options replace its values."
    added: Command = click.option("--budgets", "budget_file", type=FILE, metavar="FILE", help=file)(
        packed
    )
    for limit in reversed(LIMITS.values()):
        names = f"--{limit.key}", limit.key.replace("-", "_")
        added = text_option(*names, metavar="X", help=limit.help)(added)
    return added


def utf8(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Check options whose values reach the store, which holds UTF-8 only.

    A shell passes any bytes (callback).
    """
    for text in (value,) if isinstance(value, str) else value or ():
        if not text.isprintable() and any("\ud800" <= character <= "\udfff" for character in text):
            raise click.BadParameter(f"{text!r} is not UTF-8 text.", ctx, param)
    return value


def text_option(*names: str, **how: Any) -> Callable[[Command], Command]:
    """Add an option with a text that reaches the store."""
    return click.option(*names, callback=utf8, **how)


def flag(*names_and_help: str) -> Callable[[Command], Command]:
    """Add an option without a value, by its names and its help."""
    *names, help_ = names_and_help
    return click.option(*names, is_flag=True, help=help_)


def with_examples(*commands: str) -> Callable[[Command], click.Command]:
    """Make a function a command with these examples in its help."""
    return click.command(epilog=examples(*commands))


def examples(*commands: str) -> str:
    """Return the examples at the end of a help text."""
    heading = "Example" if len(commands) == 1 else "Examples"
    unjoined = "\b\n"  # makes click leave the lines as they are
    return unjoined + "\n".join(
        [f"{heading}:", *(f"  tachograph {command}" for command in commands)]
    )


def _parameter(key: str) -> str:
    return f"filter_{key.replace('-', '_')}"


def _completer(words: Callable[[], Iterable[str]]) -> Completer:
    """Return a completer for one word of a list that is made on demand."""
    return lambda _context, _parameter, begun: [
        CompletionItem(word) for word in words() if word.startswith(begun)
    ]


def _list_completer(words: Iterable[str]) -> Completer:
    """Return a completer for the last of several comma-separated words.

    `model,out` → `model,outcome`.
    """

    def complete(
        _context: click.Context, _parameter: click.Parameter, begun: str
    ) -> list[CompletionItem]:
        before, comma, last = begun.rpartition(",")
        return [
            CompletionItem(f"{before}{comma}{word}")
            for word in words
            if word.startswith(last) and word not in before.split(",")
        ]

    return complete


def _completer_of(key: str) -> Completer | None:
    """Return a completer for the values of a filter; None if they are names from a store."""
    times = ("7d", "30d", *(word.replace(" ", "-") for word in TIME_WORDS))
    values = {**CLOSED, "agent": lambda: AGENTS, "time": lambda: PERIODS}
    values |= dict.fromkeys(("since", "until"), lambda: times)
    return _completer(values[key]) if key in values else None
