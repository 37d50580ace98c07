"""Options that commands share: which store, which runs, which format. Each decorator hands its command one value."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from app.cli.completion import completer, list_completer, values_of, zone_names
from app.cli.terminal import note, short
from app.queries.filters import FILTERS, Filter, Kind, choose
from app.queries.grouping import UTC_ZONE, groups
from app.reports.exports import EXPORTS, REPORT_RUNS
from app.text.words.closed_lists import shown_words, with_known_words
from ingest.system.command_lines import DEFAULT_STORE, on_disk
from schemas.catalogue.cost_measures import COST_MEASURES
from schemas.catalogue.dimensions import DIMENSIONS, LABEL_PREFIX
from schemas.catalogue.metrics import LIMITS
from schemas.errors import UsageError
from schemas.text import did_you_mean, one_line

if TYPE_CHECKING:
    from app.queries.reading import CheckedStore, Unmatched
    from ingest.store.database import Store

AnyStore = TypeVar("AnyStore", bound="Store")
Command = Callable[..., Any]

TABLE = "table"
"""The format for a terminal; the others are EXPORTS."""

OUTPUT_FORMATS = (TABLE, *EXPORTS)
LATEX = "latex"
"""A format of tables for papers, for commands that ask for it."""

ROWS_IN_A_TABLE = 50
"""Rows a list in a terminal has unless --limit says otherwise; files and programs get all."""

MOST_ROWS = 2**63 - 1
"""What a number of rows may be to DuckDB."""

WAITS = "Seconds to wait while another process locks the store."

_METAVARS = {
    Kind.NAMES: "NAME",
    Kind.LABELS: "KEY=VALUE",
    Kind.TIME: "TIME",
    Kind.USD: "USD",
    Kind.FACTOR: "FACTOR",
    Kind.PROBABILITY: "P",
    Kind.TEXT: "TEXT",
}
"""CHOICE and FLAG have none."""


class Whole(click.IntRange):
    """A whole number within bounds."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            bounds = f"from {self.min} to {self.max}" if self.max is not None else f"of {self.min} or more"
            self.fail(f"{value!r} is not a whole number {bounds}.", param, ctx)


class Seconds(click.FloatRange):
    """A number of seconds."""

    name = "number"


class Word(click.Choice[str]):
    """One of a closed list; an error names the nearest word."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            self.fail(f"{error.message} {did_you_mean(str(value), list(self.choices))}".strip(), param, ctx)


class Rows(Whole):
    """A number of rows. More than a store can count are all of them."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, at most MOST_ROWS."""
        return min(super().convert(value, param, ctx), MOST_ROWS)


@dataclass(frozen=True)
class Output:
    """Where data goes and as what. `path` None is stdout. `with_text`: with prompts, titles, summaries and claims of sessions."""

    format: str = TABLE
    path: Path | None = None
    with_text: bool = False

    @property
    def keeps_text(self) -> bool:
        """Whether texts of sessions are in it: where they are asked for, and in a terminal."""
        return self.with_text or (self.format == TABLE and self.path is None)

    @property
    def runs(self) -> int:
        """How many runs a report lists in it."""
        return EXPORTS[self.format].runs if self.format in EXPORTS else REPORT_RUNS


def utf8(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Callback of options whose values reach the store, which holds UTF-8 only; a shell passes any bytes."""
    for text in (value,) if isinstance(value, str) else value or ():
        if not text.isprintable() and any("\ud800" <= character <= "\udfff" for character in text):
            raise click.BadParameter(f"{text!r} is not UTF-8 text.", ctx, param)
    return value


def zone_option(help_: str) -> Callable[[Command], Command]:
    """`--tz ZONE`, passed on as `zone`."""
    how: dict[str, Any] = {"callback": utf8, "shell_complete": completer(zone_names)}
    return click.option("--tz", "zone", default=UTC_ZONE, show_default=True, metavar="ZONE", help=help_, **how)


def examples(*commands: str) -> str:
    """The end of a help text."""
    heading = "Example" if len(commands) == 1 else "Examples"
    unjoined = "\b\n"  # tells click to leave the lines as they are
    return unjoined + "\n".join([f"{heading}:", *(f"  tachograph {command}" for command in commands)])


def noted(store: AnyStore) -> AnyStore:
    """Note a store that the command opens: if it fails, it says what was written there."""
    context = click.get_current_context(silent=True)
    if context and isinstance(context.obj, list):
        context.obj.append(store)
    return store


def with_store(command: Command) -> Command:
    """`--db` and `--wait`, handed on as `store`."""

    @functools.wraps(command)
    def packed(*arguments: Any, db: str, wait: float, **options: Any) -> Any:
        from app.queries.reading import CheckedStore
        from ingest.reading.tasks import spare_pandas

        spare_pandas()
        store = noted(CheckedStore(on_disk(db), wait, told_once(), at=_as_of(options.pop("at", ""))))
        target = options["output"].path if "output" in options else None
        if target is not None and store.owns(target):
            raise UsageError(f"cannot write to {target}: it is the store or one of its files.", "Choose another file with -o.")
        if "filters" in options:
            from app.queries.run_page import with_whole_ids

            options["filters"] = with_whole_ids(store, options["filters"])
        if "output" in options and not options["output"].keeps_text:
            store.leave_out_texts()
        if "filters" in options:
            store.look_up(options["filters"])
        done = command(*arguments, store=store, **options)
        _tell_uncounted(store)
        _tell_unmatched(store.unmatched)
        return done

    return db_option(wait_option(packed))


def with_store_to_fill(command: Command) -> Command:
    """The same for a command that asks nothing about runs: without imports for questions, which take longer than to find nothing new."""

    @functools.wraps(command)
    def packed(*arguments: Any, db: str, wait: float, **options: Any) -> Any:
        from ingest.store.database import Store

        return command(*arguments, store=noted(Store(on_disk(db), wait, told_once())), **options)

    return db_option(wait_option(packed))


def at_option(command: Command) -> Command:
    """`--at`, which chooses the store that `with_store` hands on: as it was at that time."""
    help_ = "Read a lake as it was at TIME (UTC; a day means its beginning), which gives the same bytes again."
    return click.option("--at", default="", metavar="TIME", callback=utf8, help=help_)(command)


def _as_of(text: str) -> datetime | None:
    """The time that `--at` means, which is then what this command takes for now: `--since 7d` are the days before it."""
    if not text:
        return None
    from app.queries.filters import EXAMPLES, moment, this_moment

    if (at := moment(text)) is None:
        raise UsageError(f"--at takes a date or time, not {text!r}.", f"For example: {EXAMPLES}.")
    if at > this_moment():
        raise UsageError(f"--at {text!r} is not over yet.", "Choose a time before now.")
    os.environ["SOURCE_DATE_EPOCH"] = str(int(at.timestamp()))
    return at


def wait_option(command: Command) -> Command:
    """`--wait` alone."""
    return click.option("--wait", type=Seconds(min=0), default=30, show_default=True, metavar="SECONDS", help=WAITS)(command)


def _tell_unmatched(unmatched: Sequence[Unmatched]) -> None:
    """Note each name in the filters that no run has, with those that come near: more often a typing mistake than a question."""
    for found in unmatched:
        note(short(str(found)))


def _tell_uncounted(store: CheckedStore) -> None:
    """Note how many runs are not counted because somebody excluded them, or because a period leaves out runs without a date."""
    from app.text.words.filters import uncounted_notes

    for words in uncounted_notes(store, "Count them with --excluded all."):
        note(words)


def told_once() -> Callable[[str], None]:
    """A function that notes the first message alone: in a long queue there is one for each process before us."""
    told: list[str] = []

    def tell(message: str) -> None:
        if not told:
            note(one_line(message))
        told.append(message)

    return tell


def db_option(command: Command) -> Command:
    """`--db` alone."""
    where = "The store.  [default: $TACHOGRAPH_DB, else tachograph.duckdb]"
    return click.option("--db", envvar="TACHOGRAPH_DB", default=DEFAULT_STORE, metavar="STORE", callback=utf8, help=where)(command)


def keys_option(flag: str, registry: Mapping[str, object], noun: str, default: tuple[str, ...], help_: str) -> Callable[[Command], Command]:
    """An option that takes comma-separated keys of a registry and hands on each once; it lists them all in its help."""
    metavar = f"{noun.upper()}[,{noun.upper()}]"

    def checked(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...]:
        keys = tuple(dict.fromkeys(key.strip() for key in value.split(","))) if value is not None else default
        unknown = next((key for key in keys if key not in registry), None)
        if unknown is not None:
            meant = did_you_mean(unknown, list(registry))
            raise click.BadParameter(f"unknown {noun} {unknown!r}. {meant}Choose from: {', '.join(registry)}.", ctx, param)
        return keys

    return click.option(
        flag, metavar=metavar, callback=checked, help=f"{help_}: {', '.join(registry)}.", shell_complete=list_completer(registry)
    )


def by_option(command: Command) -> Command:
    """`--by`, handed on as `by`: comma-separated words of `app.queries.grouping`, each once."""

    def checked(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...]:
        words = tuple(dict.fromkeys(word.strip() for word in (utf8(ctx, param, value) or "").split(",") if word.strip()))
        try:
            groups(words)
        except UsageError as error:
            raise click.BadParameter(f"{error.message} {error.hint}", ctx, param) from error
        return words

    listed = f"Group by: {', '.join(DIMENSIONS)}, {LABEL_PREFIX}KEY."
    how: dict[str, Any] = {"callback": checked, "shell_complete": list_completer((*DIMENSIONS, LABEL_PREFIX))}
    return click.option("--by", metavar="DIMENSION[,DIMENSION]", help=listed, **how)(command)


def cost_option(command: Command) -> Command:
    """`--cost`, handed on as `cost`: the key of a measure of cost, empty for the usual one."""
    listed = "Count cost as reported by the agents, at list prices, or as best known: reported, else list.  [default: best]"
    return click.option("--cost", type=Word(tuple(COST_MEASURES)), callback=lambda _ctx, _param, value: value or "", help=listed)(command)


def known_zone_name(ctx: click.Context, param: click.Parameter, value: str | None) -> str:
    """Callback of options that take a time zone: its IANA name, empty for none."""
    from app.queries.grouping import known_zone

    name = utf8(ctx, param, value) or ""
    try:
        return known_zone(name).key if name else ""
    except UsageError as error:
        raise click.BadParameter(f"{error.message} {error.hint}", ctx, param) from error


def with_budgets(command: Command) -> Command:
    """One option per limit and `--budgets FILE`, handed on as `budgets` (`app.reports.budget_file`)."""

    @functools.wraps(command)
    def packed(*arguments: Any, budget_file: Path | None, **options: Any) -> Any:
        given = {key: text for key in LIMITS if (text := options.pop(key.replace("-", "_"))) is not None}
        return command(*arguments, budgets=_budgets(given, budget_file), **options)

    file = "TOML file of budgets, e.g. max-total-usd = 50. Options replace its values."
    packed = click.option("--budgets", "budget_file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help=file)(packed)
    for limit in reversed(LIMITS.values()):
        packed = click.option(f"--{limit.key}", limit.key.replace("-", "_"), metavar="X", help=limit.help, callback=utf8)(packed)
    return packed


def budgets_on_screens(command: Command) -> Command:
    """The same options, handed on to the dashboard's process in the environment."""

    @functools.wraps(command)
    def packed(*arguments: Any, budgets: Any, **options: Any) -> Any:
        from app.reports.budgets import to_environment

        os.environ |= to_environment(budgets)
        return command(*arguments, **options)

    return with_budgets(packed)


def _budgets(given: Mapping[str, str], file: Path | None) -> Any:
    if not given and file is None:
        return ()
    from app.reports.budgets import budgets_of

    return budgets_of(given, file)


def with_filters(command: Command) -> Command:
    """One option per filter, handed on as `filters`."""

    @functools.wraps(command)
    def chosen(*arguments: Any, **options: Any) -> Any:
        words = {key: options.pop(_parameter(key)) for key in FILTERS}
        return command(*arguments, filters=with_known_words(choose(words)), **options)

    return filter_options(chosen)


def filter_options(command: Command) -> Command:
    """One option per filter, each handed on by itself."""
    for filter_ in reversed(FILTERS.values()):
        command = _filter_option(filter_)(command)
    return command


WITH_TEXT = "In files and formats for programs: include prompts, titles, summaries and claims of session transcripts."


def with_output(command: Command, more: tuple[str, ...] = ()) -> Command:
    """`--format`, `-o` and `--with-text`, handed on as `output`. `more`: formats beside OUTPUT_FORMATS."""

    @functools.wraps(command)
    def packed(*arguments: Any, format_: str | None, path: Path | None, with_text: bool, **options: Any) -> Any:
        return command(*arguments, output=replace(_output(format_, path), with_text=with_text), **options)

    packed = click.option("--with-text", is_flag=True, help=WITH_TEXT)(packed)

    to = "Output file; format from the extension."
    packed = click.option("-o", "--output", "path", type=click.Path(readable=False, path_type=Path), metavar="FILE", help=to)(packed)
    kinds = f"Default: {TABLE}. All formats but {TABLE}, md and html have all columns and exact numbers."
    return click.option("--format", "format_", type=Word((*OUTPUT_FORMATS, *more)), help=kinds)(packed)


def with_limit(noun: str) -> Callable[[Command], Command]:
    """`--limit`, handed on as `limit`: None for all. Beneath `with_output`, since what is usual depends on where the rows go."""
    words = f"Maximum number of {noun}; 0: all.  [default: {ROWS_IN_A_TABLE} in a table, else all]"

    def limited(command: Command) -> Command:
        @functools.wraps(command)
        def packed(*arguments: Any, limit: int | None, output: Output, **options: Any) -> Any:
            usual = ROWS_IN_A_TABLE if limit is None and output.format == TABLE and output.path is None else limit
            return command(*arguments, limit=usual or None, output=output, **options)

        return click.option("--limit", type=Rows(min=0), metavar="N", help=words)(packed)

    return limited


def _filter_option(filter_: Filter) -> Callable[[Command], Command]:
    if filter_.kind is Kind.FLAG:
        return click.option(f"--{filter_.key}", _parameter(filter_.key), flag_value=filter_.words[0], help=filter_.help)
    if filter_.kind is Kind.CHOICE:
        return click.option(f"--{filter_.key}", _parameter(filter_.key), type=Word(filter_.words), help=filter_.help)
    is_repeatable = filter_.kind in (Kind.NAMES, Kind.LABELS)
    more = {Kind.NAMES: " Repeatable (OR).", Kind.LABELS: " Repeatable (AND)."}.get(filter_.kind, "")
    return click.option(
        f"--{filter_.key}",
        _parameter(filter_.key),
        multiple=is_repeatable,
        metavar=_METAVARS[filter_.kind],
        callback=utf8,
        help=f"{filter_.help}{shown_words(filter_.key)}{more}",
        shell_complete=values_of(filter_.key),
    )


def _parameter(key: str) -> str:
    return f"filter_{key.replace('-', '_')}"


def _output(format_: str | None, path: Path | None) -> Output:
    if path is None or str(path) == "-":
        if format_ in EXPORTS and EXPORTS[format_].is_binary and sys.stdout.isatty():
            raise UsageError(f"{format_} is binary.", f"Write it to a file: -o FILE{EXPORTS[format_].suffix}")
        return Output(format_ or TABLE)
    if os.path.isdir(path):  # noqa: PTH112  False, where Path.is_dir() fails over a folder that may not be looked into
        raise UsageError(f"cannot write to {path}: it is a folder.", "Give a file in it.")
    if not os.path.isdir(path.parent):  # noqa: PTH112
        raise UsageError(f"cannot write to {path}: the folder {path.parent} does not exist.", "Create the folder first.")
    return Output(format_ or _format_of(path), path)


def _format_of(path: Path) -> str:
    for export in EXPORTS.values():
        if path.suffix.lower() == export.suffix:
            return export.name
    suffixes: Sequence[str] = [export.suffix for export in EXPORTS.values()]
    raise UsageError(f"unknown file extension of {path}.", f"Use {', '.join(suffixes)}, or give --format.")
