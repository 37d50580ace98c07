"""The command line. stdout is data, stderr narration, exit codes are in `schemas.errors`.

Nothing heavy is imported before a command runs: `--help` and completion must feel immediate.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.cli import terminal
from app.cli.commands.annotate import exclude, label, note, star
from app.cli.commands.check import check
from app.cli.commands.claims import claims, failures, findings
from app.cli.commands.compare import compare
from app.cli.commands.completion import completion
from app.cli.commands.copy import copy
from app.cli.commands.lake import lake
from app.cli.commands.mcp import mcp
from app.cli.commands.measured import measurements, verdicts
from app.cli.commands.reprice import reprice
from app.cli.commands.run import run
from app.cli.commands.show import show
from app.cli.commands.tasks import tasks
from app.cli.commands.undo import ingests, undo
from app.cli.commands.usage import usage
from app.cli.commands.watch import watch, watch_command
from app.cli.ingest_options import NO_TEXT, exclude_option, with_ingest_options
from app.cli.options import (
    Output,
    Rows,
    Whole,
    at_option,
    budgets_on_screens,
    by_option,
    cost_option,
    db_option,
    examples,
    keys_option,
    utf8,
    with_budgets,
    with_filters,
    with_limit,
    with_output,
    with_store,
    with_store_to_fill,
    zone_option,
)
from app.queries.filters import Filters
from app.queries.grouping import groups
from ingest.system.command_lines import command_line
from ingest.system.defects import DEBUG
from schemas.catalogue.metrics import RUN_METRICS
from schemas.errors import ExitCode
from schemas.text import one_line, plural

if TYPE_CHECKING:
    from ingest.store.database import Store


class Commands(click.Group):
    """Commands in the order they are written below, which is the order of use."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Not by name."""
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
@click.option("--debug", is_flag=True, expose_value=False, callback=_debug, help="Show the traceback of an error that nobody expected.")
def cli() -> None:
    """Show what runs of coding agents cost, how long they took, and what they claim.

    Ingests the result records that agents write, into a DuckDB store.
    """


@cli.command(
    epilog=examples(
        "ingest logs/",
        "ingest nightly/*.json --label branch=main --strict",
        "ingest runs/ --path-template 'runs/{repo}/{agent}/{timestamp}/{task}/*'",
        "ingest nightly/ --path-tz America/New_York",
        "ingest logs.tar.gz --json",
        "ingest ~/.claude ~/.codex",
        "ingest after.json --measure variant=candidate,run=6f9c2b",
        "ingest --retry-rejects --label branch=main",
        "ingest runs/ --exclude '*.tmp' --exclude cache/",
    )
)
@click.argument("paths", nargs=-1, type=click.Path(readable=False, path_type=Path), metavar="PATH...")
@with_store_to_fill
@with_ingest_options
@click.option(
    "--retry-rejects",
    is_flag=True,
    help="Re-ingest files with rejects, e.g. after an upgrade. Repeat --label and --path-template for the new runs.",
)
@click.option("--strict", is_flag=True, help="Exit 1 if anything was rejected or nothing was found.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON summary.")
def ingest(paths: tuple[Path, ...], store: Store, *, strict: bool, as_json: bool, **how: Any) -> int:
    """Ingest logs into the store, in one transaction.

    PATH is a file, a folder or an archive; - is the standard input. Without PATH: the sessions that Claude Code and Codex keep on this
    machine. Content decides, not the file name. Ingesting again changes
    nothing. Records that cannot be read are kept as rejects, with the reason; files that are not logs are ignored.
    """
    with terminal.told_interrupts(store):
        from app.cli.ingest_paths import How, ingest_paths, paths_to_read
        from ingest.sources.walking import Excluding

        excluding = Excluding(how["excludes"])
        report = ingest_paths(paths_to_read(paths, retries=how["retry_rejects"]), store, How(**how), excluding)
        terminal.tell_ingest(report, store.location, excluding.count)
        if as_json:
            terminal.put(f"{json.dumps(report.as_dict(), separators=(',', ':'))}\n".encode())
    if report.unreadable:
        return ExitCode.INPUT_UNREADABLE
    return ExitCode.CHECK_FAILED if strict and (report.total("rejected") or not report.has_results) else ExitCode.OK


cli.add_command(watch)
cli.add_command(run)


@cli.command(
    epilog=examples(
        "report",
        "report --by model,outcome --since 2026-11-01",
        "report --by day --tz Europe/Berlin -o cost.html",
        "report --by label:team -o cost.xlsx",
        "report --since 2026-03 --until 2026-04 --owner Finance --max-total-usd 500 -o cost.html",
        "report --by repo --metrics cost_usd,turns --format csv",
        "report --by agent --cost list",
        "report --by task,agent --pivot agent --metrics cost_best_usd --format csv",
    )
)
@by_option
@click.option("--pivot", default="", metavar="DIMENSION", callback=utf8, help="One of --by whose values become columns.")
@keys_option("--metrics", RUN_METRICS, "metric", (), "Metrics to show (replaces the defaults)")
@zone_option("IANA time zone for days and times, also of --since and --until.")
@click.option("--runs", "listed", type=Rows(min=0), metavar="N", help="Number of runs to list.  [default: 10; in xlsx 10,000]")
@cost_option
@click.option("--reprice", default="", metavar="MODEL", callback=utf8, help="Also price the same tokens as MODEL[@PROVIDER].")
@click.option("--title", default="", metavar="TEXT", callback=utf8, help="Title of the report.  [default: Cost report]")
@click.option("--owner", default="", metavar="TEXT", callback=utf8, help="Who the report is prepared for.")
@with_budgets
@click.option("--all", "whole", is_flag=True, help="In a table: all metrics, models, most expensive runs and findings, too.")
@click.option("--brief", is_flag=True, help="Groups table only (totals without --by).")
@with_filters
@with_output
@at_option
@with_store
def report(by: tuple[str, ...], metrics: tuple[str, ...], output: Output, store: Store, **options: Any) -> None:
    """Report what runs cost: one page for who pays, then groups; with --all and in files all metrics, models, runs and findings.

    The first page has the period, the total, the change against the period before, the failure rate, top models and repositories, and
    what is left of a budget.

    A metric that is unknown for some runs says how many runs it is based on. csv, jsonl and parquet have one table: the groups,
    or the totals without --by. They have no total row, so a column adds up to its total.
    """
    from app.cli.output import deliver
    from app.cli.report_output import deliver_report, printed_sections
    from app.reports import cost_report
    from app.reports.first_page import Request as FirstPage

    listed, whole = options["listed"], options["whole"]
    runs = output.runs if listed is None else listed
    first = FirstPage(options["title"], options["owner"], options["budgets"])
    request = cost_report.Request(
        options["filters"], by, metrics, options["zone"], runs, options["reprice"], options["cost"], first, options["pivot"]
    )
    if options["brief"]:
        answer, note = cost_report.brief(store, request)
        if note:
            terminal.note(note)
        deliver(replace(answer, shown=()) if whole else answer, output)
        return
    made = cost_report.report(store, replace(request, sections=printed_sections(output, whole=whole)))
    if made.header.undated and any(group.in_order for group in groups(by)):
        terminal.note(made.header.undated)
    deliver_report(made, output, whole=whole)


@cli.command(epilog=examples("runs", "runs --model claude-opus-4-6 --limit 10", "runs --outcome api_error --format jsonl"))
@cost_option
@with_filters
@with_output
@with_limit("runs")
@at_option
@with_store
def runs(limit: int | None, cost: str, filters: Filters, output: Output, store: Store) -> None:
    """List runs, most expensive first."""
    from app.cli.output import deliver
    from app.reports import results

    deliver(results.runs(store, filters, limit, cost), output)


cli.add_command(show)


@cli.command(epilog=examples("models", "models --since 2026-11-01 --format md"))
@cost_option
@with_filters
@with_output
@at_option
@with_store
def models(cost: str, filters: Filters, output: Output, store: Store) -> None:
    """Show cost and tokens per model, helper models included."""
    from app.cli.output import deliver
    from app.reports import results

    deliver(results.models(store, filters, cost), output)


cli.add_command(usage)
cli.add_command(claims)
cli.add_command(findings)
cli.add_command(failures)
cli.add_command(verdicts)
cli.add_command(measurements)
cli.add_command(tasks)
cli.add_command(check)
cli.add_command(compare)
cli.add_command(label)
cli.add_command(note)
cli.add_command(star)
cli.add_command(exclude)
cli.add_command(ingests)
cli.add_command(undo)


@cli.command(epilog=examples("rejects", "rejects --format csv -o rejects.csv"))
@with_output
@with_store
def rejects(output: Output, store: Store) -> None:
    """List rejected records, and why they were rejected."""
    from app.cli.output import deliver
    from app.reports import results

    deliver(results.rejects(store), output)


@cli.command(epilog=examples("sources", "sources --format json"))
@with_output
@with_limit("files")
@with_store
def sources(limit: int | None, output: Output, store: Store) -> None:
    """List ingested files and their results, the newest first."""
    from app.cli.output import deliver
    from app.reports import results

    deliver(results.sources(store, limit), output)


@cli.command(
    epilog=examples(
        "dashboard",
        "dashboard --watch logs/",
        "dashboard --db runs.duckdb --port 8600 --headless",
        "dashboard --max-total-usd 500 --max-day-usd 50",
    )
)
@db_option
@click.option("--port", type=Whole(1, 65535), default=8501, show_default=True, help="Port to serve on.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to serve on. 0.0.0.0: all interfaces.")
@click.option("--allow-host", "hosts", multiple=True, metavar="NAME", callback=utf8, help="Host name used by a proxy. Repeatable.")
@click.option("--read-only", is_flag=True, help="Disable uploads and changes.")
@click.option("--sign-in", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Require OIDC sign-in (TOML config).")
@click.option(
    "--watch",
    "watched",
    multiple=True,
    type=click.Path(readable=False, path_type=Path),
    metavar="PATH",
    help="Also ingest what is written there, as `tachograph watch` does. Repeatable.",
)
@exclude_option
@click.option("--browser/--headless", default=True, help="Open a browser or not.  [default: --browser]")
@budgets_on_screens
def dashboard(db: str, port: int, host: str, hosts: tuple[str, ...], watched: tuple[Path, ...], **how: Any) -> None:
    """Serve the dashboard on this machine until Ctrl-C. Screens follow the store: they show new runs by themselves.

    It answers only to the names localhost, --host and --allow-host. Budgets show on the screens Cost & time and Reports.
    """
    from app.server.access import Access
    from app.server.serve import serve
    from ingest.store.database import Store

    store = Store(db)
    store.exists()  # raises for a folder: better now than on every page
    location = os.path.realpath(db) if store.is_file else db
    access = Access(how["read_only"], how["sign_in"] and how["sign_in"].resolve(), hosts)
    serve(location, host, port, access, browser=how["browser"], watcher=watch_command(location, watched, how["excludes"]))


cli.add_command(mcp)


@cli.command(epilog=examples("rebuild", "rebuild --db runs.duckdb", "rebuild --no-text"))
@click.option("--no-text", is_flag=True, help=f"Remove from the store what ingests kept: {NO_TEXT}.")
@with_store
def rebuild(store: Store, *, no_text: bool) -> None:
    """Rebuild all tables from the raw records.

    The store keeps the records, so no file is needed. Do this after an upgrade that changes the tables or reads records better.
    The old store is replaced only when the new one is complete.
    """
    with terminal.told_interrupts(store):
        from ingest.store.rebuild import rebuild as rebuild_store

        with terminal.progress("Rebuilding") as on_progress:
            done = rebuild_store(store, on_progress, keeps_text=not no_text)
        terminal.note(f"Rebuilt {plural(done.runs, 'run')} in {one_line(store.location)}")
        if done.rejects:
            listed = one_line(command_line("rejects", store.location))
            terminal.note(f"{plural(done.rejects, 'record')} can no longer be read and became rejects: {listed}")
        for table, rows in done.left.items():
            terminal.note(
                f"{plural(rows, 'row')} of the table {table} could not be taken over from that version. Ingest their files again."
            )
        if done.unread:
            again = one_line(command_line("ingest --retry-rejects", store.location))
            verb = "has" if done.unread == 1 else "have"
            terminal.note(f"{plural(done.unread, 'file')} {verb} rejects or no results, in which this version may find some: {again}")


cli.add_command(reprice)
cli.add_command(lake)
cli.add_command(copy)


@cli.command(epilog=examples("doctor", "doctor --db runs.duckdb"))
@with_store
def doctor(store: Store) -> ExitCode:
    """Check the installation and the store.

    Each problem comes with advice. A store that does not exist yet is not a problem.
    """
    from app.cli.doctor import examine

    findings = list(examine(store))
    lines = []
    for finding in findings:
        state = "problem" if finding.advice else "ok"
        lines.append(f"{state:<8} {finding.subject:<11} {one_line(finding.found)}\n")
        lines += [f"{'':8} {'':11} → {one_line(finding.advice)}\n"] if finding.advice else []
    terminal.put("".join(lines).encode(sys.stdout.encoding or "utf-8", errors="replace"))
    return max(finding.exit_code for finding in findings)


cli.add_command(completion)


def main() -> int:
    """Run the command line and return its exit code."""
    return terminal.run(cli)


if __name__ == "__main__":
    sys.exit(main())
