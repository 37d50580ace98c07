"""Commands that show what a store holds.

Reports, lists, one run, comparisons, and the check of budgets.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from app.cli import terminal
from app.cli.options import (
    PDF,
    TABLE,
    WITH_TEXT,
    Asked,
    Output,
    Rows,
    Whole,
    Word,
    answering,
    budget_options,
    by_option,
    cost_option,
    examples,
    keys_option,
    utf8,
    zone_option,
)
from app.queries.filters import NO_FILTERS, parse
from app.queries.grouping import groups as groups_of
from app.reports.exports import EXPORTS
from app.text.filter_words import with_known_words
from ingest.system.command_lines import command_line
from schemas.catalogue.cost_measures import BEST, COST_MEASURES
from schemas.catalogue.metrics import RUN_METRICS
from schemas.catalogue.usage import USAGE_DIMENSIONS
from schemas.errors import ExitCode, UsageError
from schemas.text import one_line, plural
from schemas.units import Unit

# Words of lists whose own modules cost an import of pyarrow; tests compare them.
PAIRS = ("task", "nothing")
TASK_VALUES = ("result", "outcome", "measured", "claimed", "cost", "duration")
WEEK_STARTS = ("monday", "sunday")
BLOCK_HOURS = 5
FOCUS_VERSIONS = ("1.2", "1.3")

JSON = "json"
FOCUS = "focus"
CHECK_FORMATS = (TABLE, "md", JSON)


@click.command(
    epilog=examples(
        "report",
        "report --by model,outcome --since 2026-11-01",
        "report --by day --tz Europe/Berlin -o cost.html",
        "report --by label:team -o cost.xlsx",
        "report --since 2026-03 --until 2026-04 --owner Finance --max-total-usd 500 -o cost.html",
        "report --by repo --metrics cost_usd,turns --format csv",
        "report --by agent --cost list",
        "report --by task,agent --pivot agent --metrics cost_best_usd --format csv",
        "report --since 2026-03 --until 2026-04 --format focus -o focus.csv",
        "report --by repo,agent --pivot agent -o table.tex",
    )
)
@by_option
@click.option(
    "--pivot",
    default="",
    metavar="DIMENSION",
    callback=utf8,
    help="One of --by whose values become columns.",
)
@keys_option("--metrics", RUN_METRICS, "metric", (), "Metrics to show (replaces the defaults)")
@zone_option("IANA time zone for days and times, also of --since and --until.")
@click.option(
    "--runs",
    "listed",
    type=Rows(min=0),
    metavar="N",
    help="Number of runs to list.  [default: 10; in xlsx 10,000]",
)
@cost_option
@click.option(
    "--reprice",
    default="",
    metavar="MODEL",
    callback=utf8,
    help="Also price the same tokens as MODEL[@PROVIDER].",
)
@click.option(
    "--title",
    default="",
    metavar="TEXT",
    callback=utf8,
    help="Title of the report.  [default: Cost report]",
)
@click.option(
    "--owner", default="", metavar="TEXT", callback=utf8, help="Who the report is prepared for."
)
@budget_options
@click.option(
    "--all",
    "whole",
    is_flag=True,
    help="In a table: all metrics, models, most expensive runs and findings, too.",
)
@click.option("--brief", is_flag=True, help="Groups table only (totals without --by).")
@click.option(
    "--focus-version", type=Word(FOCUS_VERSIONS), help="Version of FOCUS.  [default: 1.3]"
)
@answering(at=True, formats=(FOCUS, PDF))
def report(
    by: tuple[str, ...],
    metrics: tuple[str, ...],
    asked: Asked,
    *,
    whole: bool,
    brief: bool,
    **options: Any,
) -> None:
    """Report what runs cost: one page for who pays, then groups.

    With --all and in files all metrics, models, runs and findings.

    The first page has the period, the total, the change against the period before, the failure
    rate, top models and repositories, and what is left of a budget.

    A metric that is unknown for some runs says how many runs it is based on. csv, jsonl and parquet
    have one table: the groups, or the totals without --by. They have no total row, so a column adds
    up to its total. latex is their table for a paper. focus is the FinOps schema FOCUS, as csv or
    parquet: a row per run, model, token class and day, which add up to the best-known cost. pdf is
    the html on A4, printed by the Chromium that draws charts: docs/handed-on.md.
    """
    if asked.output.format == FOCUS:
        _report_focus(asked, options["zone"], options["focus_version"] or FOCUS_VERSIONS[-1])
        return
    if options["focus_version"]:
        raise UsageError("--focus-version belongs to the format focus.", "Add --format focus.")
    from app.cli.output import deliver, deliver_report, printed_sections
    from app.reports import cost_report
    from app.reports.first_page import Request as FirstPage

    listed = asked.output.runs if options["listed"] is None else options["listed"]
    first = FirstPage(options["title"], options["owner"], options["budgets"])
    request = cost_report.Request(
        asked.filters,
        by,
        metrics,
        options["zone"],
        listed,
        options["reprice"],
        options["cost"],
        first,
        options["pivot"],
    )
    if brief or asked.output.format == "latex":
        answer, note = cost_report.brief(asked.store, request)
        if note:
            terminal.note(note)
        deliver(replace(answer, shown=()) if whole else answer, asked.output)
        return
    made = cost_report.report(
        asked.store, replace(request, sections=printed_sections(asked.output, whole=whole))
    )
    if made.header.undated and any(group.in_order for group in groups_of(by)):
        terminal.note(made.header.undated)
    deliver_report(made, asked.output, whole=whole)


def _report_focus(asked: Asked, zone: str, focus_version: str) -> None:
    """Write the costs in FOCUS, and say which runs have no row."""
    from app.cli.output import write_file
    from app.queries.grouping import filters_in
    from app.reports.exports import EXPORTS
    from app.reports.focus import as_csv, focus
    from app.text.answers import Answer, undated_words
    from app.text.formatting import exact, sign_of

    made = focus(asked.store, filters_in(asked.filters, zone), focus_version)
    path = asked.output.path
    if path is not None and path.suffix.lower() not in (".csv", ".parquet"):
        raise UsageError(
            f"FOCUS is written as csv or parquet, not as {path.name}.",
            "Give -o FILE.csv or FILE.parquet.",
        )
    is_parquet = path is not None and path.suffix.lower() == ".parquet"
    body = EXPORTS["parquet"].write(Answer(made.table, "")) if is_parquet else as_csv(made.table)
    if path is None:
        terminal.put_text(body)
    else:
        write_file(path, body)
        terminal.note(
            f"Wrote {one_line(str(path))}: {plural(made.table.num_rows, 'row')}, FOCUS "
            f"{focus_version}"
        )
    whole = f"{sign_of(made.bounds)}{exact(made.total_usd, Unit.USD)} in all"
    terminal.note(
        f"{plural(made.runs, 'run')} in {plural(made.table.num_rows, 'row')}, {whole}; "
        "showback, no invoice"
    )
    if made.undated.runs:
        terminal.note(undated_words(made.undated))
    for left_out, why in ((made.unpriced, "a known cost"), (made.costless, "cost and tokens")):
        if left_out:
            terminal.note(f"{plural(left_out, 'run')} without {why} left out")


@click.command(
    epilog=examples(
        "runs", "runs --model claude-opus-4-6 --limit 10", "runs --outcome api_error --format jsonl"
    )
)
@cost_option
@answering(limit="runs", at=True)
def runs(cost: str, asked: Asked) -> None:
    """List runs, most expensive first."""
    from app.cli.output import deliver
    from app.reports import results

    deliver(results.runs(asked.store, asked.filters, asked.limit, cost), asked.output)


@click.command(
    epilog=examples("show", "show 5e0c031e", "show 5e0c031e --format json", "show 5e0c031e --patch")
)
@click.argument(
    "run",
    required=False,
    metavar="[ID]",
    callback=lambda ctx, param, value: utf8(ctx, param, value or ""),
)
@click.option(
    "--format",
    "format_",
    type=Word((TABLE, JSON)),
    default=TABLE,
    show_default=True,
    help="json has all columns and exact numbers.",
)
@click.option(
    "-o",
    "--output",
    "path",
    type=click.Path(readable=False, path_type=Path),
    metavar="FILE",
    help="Output file.",
)
@click.option("--with-text", is_flag=True, help=WITH_TEXT)
@click.option(
    "--patch",
    "only_patch",
    is_flag=True,
    help="Print the patch of the run, exactly as it was kept, and nothing else.",
)
@answering(filters=False, output=False)
def show(
    run: str, format_: str, path: Path | None, asked: Asked, *, with_text: bool, only_patch: bool
) -> None:
    """Show one run: title, cost, cause, models, claims, findings, tools, files, summary, source.

    ID is the id of a run or its first 4 or more characters, as lists show it. Without ID: the run
    that was ingested last.
    """
    from app.cli.output import FILE_WIDTH, width, write_file
    from app.queries.reading import read_transaction
    from app.queries.run_page import latest, run_id_of, run_page
    from app.reports.exports.text import json_text
    from app.text.run_text import run_text

    if only_patch and format_ == JSON:
        raise UsageError(
            "--patch prints the patch alone.",
            "Leave out one of --patch and --format json, which has the patch too.",
        )
    if not (only_patch or Output(format_, path, with_text).keeps_text):
        asked.store.leave_out_texts()
    with read_transaction(asked.store) as transaction:
        run_id = run_id_of(transaction, run) if run else latest(transaction)
        page = run_page(transaction, run_id) if run_id else None
    if page is None:
        terminal.note(f"No runs. Ingest with: {command_line('ingest PATH', asked.store.location)}")
        return
    if only_patch:
        if page.patch_text is None:
            raise UsageError(
                f"the store has no patch of run {run_id}.",
                (
                    "A patch is read from the folder of the run, as model_patch.diff; --no-text "
                    "drops it."
                ),
            )
        body = page.patch_text["text"].encode()
        if page.patch_text["is_cut"]:
            terminal.note(
                f"Only its first {len(body):,} of {page.patch_text['bytes']:,} bytes were kept."
            )
    if format_ == JSON:  # one object, a column to a line
        lines = ",\n".join(
            f"{json_text(key)}: {json_text(value)}" for key, value in page.as_dict().items()
        )
        body = f"{{\n{lines}\n}}\n".encode()
    if path is not None:
        body = body if only_patch or format_ == JSON else run_text(page, FILE_WIDTH)
        write_file(path, body)
        terminal.note(f"Wrote {path}: {len(body):,} bytes")
    elif only_patch or format_ == JSON:
        terminal.put_text(body)
    else:
        terminal.put(
            run_text(page, width(), sys.stdout.encoding or "utf-8", color=sys.stdout.isatty())
        )


@click.command(epilog=examples("models", "models --since 2026-11-01 --format md"))
@cost_option
@answering(at=True)
def models(cost: str, asked: Asked) -> None:
    """Show cost and tokens per model, helper models included."""
    from app.cli.output import deliver
    from app.reports import results

    deliver(results.models(asked.store, asked.filters, cost), asked.output)


@click.command(
    epilog=examples(
        "usage",
        "usage --by month,model --since 2026-01",
        "usage --by day --tz Europe/Berlin --json",
        "usage --by block --since yesterday",
        "usage --by session --agent claude-code -o sessions.csv",
        "usage --by tool",
    )
)
@keys_option("--by", USAGE_DIMENSIONS, "dimension", ("day",), "Group by; day if it is not given")
@zone_option("IANA time zone for days, weeks, months and hours, also of --since and --until.")
@click.option(
    "--week-starts",
    type=Word(WEEK_STARTS),
    default=WEEK_STARTS[0],
    show_default=True,
    help="First day of a week.",
)
@click.option(
    "--session-length",
    "hours",
    type=Whole(1, 24 * 7),
    default=BLOCK_HOURS,
    show_default=True,
    metavar="HOURS",
    help="Length of a block, in hours.",
)
@click.option("--compact", is_flag=True, help="Few columns, for narrow terminals.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object: rows, totals and notes."
)
@answering()
def usage(
    by: tuple[str, ...],
    zone: str,
    week_starts: str,
    hours: int,
    asked: Asked,
    *,
    compact: bool,
    as_json: bool,
) -> None:
    """Show what sessions used.

    Responses, tokens and cost per day, week, month, hour, session, block, project, model, tool or
    agent.

    Each billed response of a transcript counts once, at its own time. Runs without responses count
    with their totals, at the time they started. A block is a window of 5 hours, as subscriptions
    have it.

    --since and --until choose responses by their own time; all other filters choose runs.
    """
    from app.cli.output import deliver, write_file
    from app.queries.filters import without_period
    from app.queries.usage import Request
    from app.reports.usage import document
    from app.reports.usage import usage as answer

    asked.store.look_up(
        without_period(asked.filters)
    )  # what a period leaves out is told with the answer
    request = Request(asked.filters, by, zone, week_starts, hours)
    if not as_json:
        deliver(answer(asked.store, request, compact=compact), asked.output)
        return
    if asked.output.format not in (TABLE, JSON):
        raise UsageError(
            f"--json and the format {asked.output.format} exclude each other.",
            "Leave one of them out.",
        )
    body = document(asked.store, request)
    if asked.output.path is None:
        terminal.put_text(body)
    else:
        write_file(asked.output.path, body)
        terminal.note(f"Wrote {asked.output.path}: {len(body):,} bytes")


@click.command(
    epilog=examples(
        "tasks", "tasks --by agent,model --value cost", "tasks --value measured -o tasks.tex"
    )
)
@by_option
@click.option(
    "--value",
    type=Word(TASK_VALUES),
    default=TASK_VALUES[0],
    show_default=True,
    help="What the cells show.",
)
@answering()
def tasks(by: tuple[str, ...], value: str, asked: Asked) -> None:
    """Show tasks beside those who worked on them: a row per task, a column per agent (or --by).

    A task is repository and commit where a benchmark names it, else repository and name. Several
    runs in a cell are counted: their median, or how many are done.
    """
    from app.cli.output import deliver
    from app.reports.results import tasks as matrix

    deliver(matrix(asked.store, asked.filters, by or ("agent",), value), asked.output)


@click.command(
    epilog=examples(
        "check --max-total-usd 50 --max-run-usd 5",
        "check --budgets budgets.toml",
        "check --max-day-usd 20 --tz Europe/Berlin --since 2026-11-01",
        'check --max-error-rate 10% --min-runs 1 --format md >> "$GITHUB_STEP_SUMMARY"',
    )
)
@budget_options
@zone_option("IANA time zone for days, also of --since and --until.")
@click.option(
    "--cost",
    type=Word(tuple(COST_MEASURES)),
    default=BEST.key,
    show_default=True,
    help=(
        "What budgets count: cost as reported, at list prices, or as best known (reported, else "
        "list)."
    ),
)
@click.option("--allow-empty", is_flag=True, help="Pass if no run matches.")
@click.option(
    "--format",
    "format_",
    type=Word(CHECK_FORMATS),
    default=CHECK_FORMATS[0],
    show_default=True,
    help="md: for the summary of a CI job.",
)
@answering(output=False)
def check(
    asked: Asked,
    format_: str,
    zone: str,
    cost: str,
    budgets: tuple[tuple[str, Decimal], ...],
    *,
    allow_empty: bool,
) -> ExitCode:
    """Fail if a budget is exceeded: exit code 1, else 0.

    Unknown is never 0: a metric that is unknown for all runs fails its budget; if unknown for some,
    the note says for how many. No matching run fails the check, because a mistyped filter would
    pass it; --allow-empty lets it pass.
    """
    if not budgets:
        raise click.UsageError("Nothing to check. Give a budget, e.g. --max-total-usd 50")
    from app.cli.output import budget_table
    from app.reports.budgets import check as judge_runs
    from app.reports.exports.text import escaped, json_text, md_table
    from app.text.text_tables import draw

    done = judge_runs(
        asked.store,
        asked.filters,
        dict(budgets),
        zone,
        allow_empty=allow_empty,
        measure=COST_MEASURES[cost],
    )
    terminal.note(one_line(done.covers))
    if format_ == JSON:
        body = f"{json_text(done.as_dict())}\n".encode()
    elif format_ == "md":
        covers = " ".join(filter(None, (done.covers, done.left_out)))
        head = f"### {'✅' if done.passed else '❌'} {done.headline}\n\n{escaped(covers)}\n\n"
        body = head.encode() + md_table(budget_table(done.verdicts))
    else:  # a log of CI has no width of its own
        body = draw(budget_table(done.verdicts), 120, sys.stdout.encoding or "utf-8").body
    terminal.put(body)
    terminal.note(done.headline, fg="green" if done.passed else "red", bold=True)
    return ExitCode.OK if done.passed else ExitCode.CHECK_FAILED


@click.command(
    epilog=examples(
        "compare",
        "compare main-model=claude-opus-4-6 main-model=claude-sonnet-4-5",
        "compare agent=claude-code 'agent=codex main-model=gpt-5' agent=openhands",
        "compare experiment=baseline experiment=cached --format json",
        "compare --base main.duckdb --brief",
    )
)
@click.argument("groups", metavar="['BASELINE' 'GROUP'...]", nargs=-1, callback=utf8)
@click.option(
    "--pair",
    type=Word(PAIRS),
    show_default="task",
    help="Compare task by task, or all runs with all runs.",
)
@click.option(
    "--cost",
    type=Word(tuple(COST_MEASURES)),
    default=BEST.key,
    show_default=True,
    help="As reported, at list prices, or best known.",
)
@click.option(
    "--base",
    metavar="STORE",
    callback=utf8,
    help="Take the baseline from another store. Without filters: all runs of both.",
)
@click.option(
    "--brief",
    is_flag=True,
    help="Only what the runs cost and which were measured faster, in a sentence.",
)
@answering(filters=False)
def compare(
    groups: tuple[str, ...],
    pair: str | None,
    cost: str,
    base: str | None,
    asked: Asked,
    *,
    brief: bool,
) -> None:
    """Compare groups of runs with the first of them: cost, wall time and turns on the same tasks.

    A group is filters, key=value; quote several: 'model=glm-5.1 repo=vllm'. Keys are the filter
    options of `runs`. Without groups, the largest of an agent with a model are compared. A ratio is
    the median, over tasks that both have, of the group's median divided by the baseline's, with a
    95% interval (bootstrap with a fixed seed). Costs are on one basis: list prices where reported
    and list prices would mix. With --base, the first group chooses in that store; the second may be
    left out, if it is the same.
    """
    from app.cli.output import deliver
    from app.queries.comparison import two_totals
    from app.queries.reading import read_transaction
    from app.queries.run_page import with_whole_ids
    from app.reports.comparison import compare as compare_groups
    from app.text.costs import totals_words
    from ingest.store.database import Store

    if len(groups) == 1 and not base:
        raise click.UsageError(
            "Give two filters or more, such as model=a model=b, or a store to compare with: "
            "--base STORE."
        )
    if brief and not (len(groups) == 2 or (base and len(groups) < 2)):
        raise click.UsageError("--brief compares two groups.")
    store, other = asked.store, Store(base) if base else None
    if other:
        groups = (*groups, *[groups[0] if groups else ""] * (2 - len(groups)))
    chosen = [
        with_whole_ids(store if number or not other else other, with_known_words(parse(text)))
        for number, text in enumerate(groups)
    ]
    store.look_up(*(chosen[1 if other else 0 :] or [NO_FILTERS]))
    baselines = read_transaction(other, copy_at=1) if other else None
    with (
        read_transaction(store, copy_at=1) as candidate,
        baselines or nullcontext(candidate) as baseline,
    ):
        if brief:
            terminal.put(
                f"{totals_words(two_totals((baseline, chosen[0]), (candidate, chosen[1])))}\n".encode()  # noqa: E501
            )
            return
        made = compare_groups(
            candidate, chosen, pair or "", COST_MEASURES[cost], baseline if other else None
        )
    is_for_people = asked.output.format == TABLE or EXPORTS[asked.output.format].is_for_people
    deliver(made.words if is_for_people else made.figures, asked.output)
    for note in made.notes:
        terminal.note(note)


@click.command(epilog=examples("rejects", "rejects --format csv -o rejects.csv"))
@answering(filters=False)
def rejects(asked: Asked) -> None:
    """List rejected records, and why they were rejected."""
    from app.cli.output import deliver
    from app.reports import results

    deliver(results.rejects(asked.store), asked.output)


@click.command(epilog=examples("sources", "sources --format json"))
@answering(filters=False, limit="files")
def sources(asked: Asked) -> None:
    """List ingested files and their results, the newest first."""
    from app.cli.output import deliver
    from app.reports import results

    deliver(results.sources(asked.store, asked.limit), asked.output)


@click.command(epilog=examples("ingests", "ingests --format json"))
@answering(filters=False)
def ingests(asked: Asked) -> None:
    """List ingests: when, by whom, and what came in. Each can be undone."""
    from app.cli.output import deliver
    from app.reports import results

    deliver(results.ingests(asked.store), asked.output)
