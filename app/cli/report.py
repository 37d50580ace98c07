"""`tachograph report`: what runs cost, as a page for people, as tables, or in FOCUS."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from app.cli import terminal
from app.cli.answering import Asked, answering
from app.cli.options import (
    PDF,
    RowCount,
    Word,
    budget_options,
    by_option,
    cost_option,
    flag,
    keys_option,
    pivot_option,
    text_option,
    with_examples,
    zone_option,
)
from app.cli.output import deliver, deliver_report, printed_sections, write_file
from app.queries.grouping import filters_in, groups
from app.reports import cost_report
from app.reports.exports import EXPORTS
from app.reports.first_page import FirstPageRequest
from app.reports.focus import NEWEST, VERSIONS, as_csv, focus
from app.text.answers import Answer, undated_words
from app.text.formatting import exact, sign_of
from schemas.catalogue.metrics import RUN_METRICS
from schemas.errors import UsageError
from schemas.text import one_line, plural
from schemas.units import Unit

FOCUS = "focus"


@with_examples(
    "report",
    "report --by model,outcome --since 2026-11-01",
    "report --by day --tz Europe/Berlin -o cost.html",
    "report --by label:team -o cost.xlsx",
    "report --since 2026-03 --until 2026-04 --owner Finance --max-total-usd 500 -o cost.html",
    "report --by project --metrics cost_usd,turns --format csv",
    "report --by agent --cost list",
    "report --by task,agent --pivot agent --metrics cost_best_usd --format csv",
    "report --since 2026-03 --until 2026-04 --format focus -o focus.csv",
    "report --by project,agent --pivot agent -o table.tex",
)
@by_option
@pivot_option
@keys_option("--metrics", RUN_METRICS, "metric", (), "Metrics to show (replaces the defaults)")
@zone_option("IANA time zone for days and times, also of --since and --until.")
@click.option(
    "--runs",
    "listed",
    type=RowCount(min=0),
    metavar="N",
    help="Number of runs to list.  [default: 10; in xlsx 10,000]",
)
@cost_option
@text_option(
    "--reprice", default="", metavar="MODEL", help="Also price the same tokens as MODEL[@PROVIDER]."
)
@text_option(
    "--title", default="", metavar="TEXT", help="Title of the report.  [default: Cost report]"
)
@text_option("--owner", default="", metavar="TEXT", help="Who the report is prepared for.")
@budget_options
@flag("--all", "whole", "In a table: all metrics, models, most expensive runs and findings, too.")
@flag("--brief", "Groups table only (totals without --by).")
@click.option(
    "--focus-version", type=Word(VERSIONS), help=f"Version of FOCUS.  [default: {NEWEST}]"
)
@answering(at=True, formats=(FOCUS, PDF))
def report(
    by: tuple[str, ...],
    metrics: tuple[str, ...],
    asked: Asked,
    *,
    listed: int | None,
    whole: bool,
    brief: bool,
    focus_version: str | None,
    **options: Any,
) -> None:
    """Report what runs cost: one page for who pays, then groups.

    With --all and in files all metrics, models, runs and findings.

    The first page has the period, the total, the change against the period before, the failure
    rate, top models and projects, and what is left of a budget.

    A metric that is unknown for some runs says how many runs it is based on. csv, jsonl and parquet
    have one table: the groups, or the totals without --by. They have no total row, so a column adds
    up to its total. latex is their table for a paper. focus is the FinOps schema FOCUS, as csv or
    parquet: a row per run, model, token class and day, which add up to the best-known cost. pdf is
    the html on A4, printed by the Chromium that draws charts: docs/handed-on.md.
    """
    if asked.output.format == FOCUS:
        _report_focus(asked, options["zone"], focus_version or NEWEST)
        return
    if focus_version:
        raise UsageError("--focus-version belongs to the format focus.", "Add --format focus.")
    request = cost_report.ReportRequest(
        asked.filters,
        by,
        metrics,
        options["zone"],
        asked.output.runs if listed is None else listed,
        options["reprice"],
        options["cost"],
        FirstPageRequest(options["title"], options["owner"], options["budgets"]),
        options["pivot"],
    )
    if brief or asked.output.format == "latex":
        answer, note = cost_report.brief(asked.store, request)
        if note:
            terminal.note(note)
        deliver(replace(answer, shown=()) if whole else answer, asked.output)
        return
    sections = printed_sections(asked.output, whole=whole)
    is_page = asked.output.is_drawn and not whole
    made = cost_report.report(
        asked.store, replace(request, sections=sections, has_key_totals=is_page)
    )
    if made.header.undated and any(group.in_order for group in groups(by)):
        terminal.note(made.header.undated)
    deliver_report(made, asked.output, whole=whole)


def _report_focus(asked: Asked, zone: str, version: str) -> None:
    """Write the costs in FOCUS, and note which runs have no row."""
    path, made = asked.output.path, focus(asked.store, filters_in(asked.filters, zone), version)
    suffix = ".csv" if path is None else path.suffix.lower()
    if path is not None and suffix not in (".csv", ".parquet"):
        raise UsageError(
            f"FOCUS is written as csv or parquet, not as {path.name}.",
            "Give -o FILE.csv or FILE.parquet.",
        )
    is_parquet = suffix == ".parquet"
    body = EXPORTS["parquet"].write(Answer(made.table, "")) if is_parquet else as_csv(made.table)
    rows = plural(made.table.num_rows, "row")
    if path is None:
        terminal.put_text(body)
    else:
        write_file(path, body)
        terminal.note(f"Wrote {one_line(str(path))}: {rows}, FOCUS {version}")
    total = f"{sign_of(made.bounds)}{exact(made.total_usd, Unit.USD)} in all"
    terminal.note(f"{plural(made.runs, 'run')} in {rows}, {total}; showback, no invoice")
    if made.undated.runs:
        terminal.note(undated_words(made.undated))
    for left_out, why in ((made.unpriced, "a known cost"), (made.costless, "cost and tokens")):
        if left_out:
            terminal.note(f"{plural(left_out, 'run')} without {why} left out")
