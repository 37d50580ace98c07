"""Commands for what people hand on: pictures of charts, and pages to mail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from app.charts.images import FORMATS, image, mark_table, printed
from app.charts.registry import CHARTS
from app.cli import terminal
from app.cli.answering import Asked, answering, require_no_store_file
from app.cli.options import (
    FOLDER,
    Word,
    cost_option,
    flag,
    path_option,
    text_option,
    utf8,
    with_examples,
)
from app.cli.output import put_or_write
from app.queries.comparison import PAIRS
from app.queries.grouping import SIDES
from app.queries.reading import read_transaction
from app.queries.run_page import run_id_of
from app.reports.exports import EXPORTS
from app.reports.exports.page import html_shared
from app.reports.shared import CHOICES, question, shared
from app.reports.site import write_site
from app.text.answers import Answer
from schemas.errors import UsageError
from schemas.text import choices_for, plural

CSV = "csv"
KINDS = (*FORMATS, CSV)
"""Formats of a chart: pictures, and its figures as a table."""

groups_option = text_option(
    "--group",
    "groups",
    multiple=True,
    metavar="FILTERS",
    help=(
        "A group of a chart or page that compares, as filters: 'agent=codex model=gpt-5'. "
        "Repeatable; the first is the baseline."
    ),
)


@with_examples(
    "chart",
    "chart cost-per-run -o cost.pdf",
    "chart claimed-beside-measured --agent claude-code -o claims.svg",
    "chart compare --group agent=claude-code --group agent=codex -o compare.png",
    "chart cost-and-success --by effort -o value.svg",
    "chart session --of 5e0c031e -o session.svg",
)
@click.argument("name", required=False, callback=utf8)
@path_option(f"Output file: {', '.join(f'.{one}' for one in KINDS)}.", dir_okay=False)
@click.option(
    "--format", "format_", type=Word(KINDS), help="Default: from the extension, else svg."
)
@text_option(
    "--of",
    "of",
    default="",
    metavar="RUN|LOOP",
    help="The run of a chart of one run, or the loop of `loop`.",
)
@groups_option
@click.option("--by", type=Word(tuple(SIDES)), help="Rows by agent and model, or also by effort.")
@text_option(
    "--value",
    help="cost-and-success: faster, completed, or a measured metric such as roofline_share.",
)
@flag("--dark", "For a dark page.")
@flag("--with-text", "Name runs by the titles of their sessions.")
@cost_option
@answering(output=False)
def chart(
    name: str | None,
    asked: Asked,
    *,
    path: Path | None,
    format_: str | None,
    with_text: bool,
    **options: Any,
) -> None:
    """Draw a chart of a screen as SVG, PNG or PDF, with title, n and source in the picture.

    As CSV: its figures, a row per mark.

    Without NAME: list the charts.

    A picture is drawn by Kaleido and the Chromium or Chrome of the system: docs/handed-on.md.
    """
    if name is None:
        longest = max(map(len, CHARTS))
        terminal.put(
            "".join(f"{one.name:<{longest}}  {one.about}\n" for one in CHARTS.values()).encode()
        )
        return
    if name not in CHARTS:
        raise UsageError(f"no chart is called {name!r}.", choices_for(name, CHARTS))
    wanted, of = CHARTS[name], options["of"]
    if wanted.needs == "run" and not of:
        raise UsageError(f"the chart {name} is about one run.", "Name it: --of ID")
    kind = format_ or (path.suffix[1:].lower() if path and path.suffix else FORMATS[0])
    if kind not in KINDS:
        raise UsageError(
            f"unknown file extension of {path}.",
            f"Use {', '.join(f'.{one}' for one in KINDS)}, or give --format.",
        )
    require_no_store_file(asked.store, path)
    if not with_text:
        asked.store.leave_out_texts()
    with read_transaction(asked.store) as transaction:
        run = run_id_of(transaction, of) if wanted.needs == "run" else of
        choices = {key: options[key] for key in ("by", "value") if options[key]}
        about = question(
            transaction, asked.filters, options["cost"], run, options["groups"], choices
        )
        about.page = "dark" if options["dark"] else "light"
        drawn = wanted.draw(about)
    if drawn is None or not drawn.n:
        raise UsageError(
            f"there is nothing to draw: no data for {wanted.about}.",
            "Widen the filters, or ingest more.",
        )
    body = (
        EXPORTS["csv"].write(Answer(mark_table(drawn), drawn.title))
        if kind == CSV
        else image(drawn, kind, about.page)
    )
    if path is None:
        terminal.put(body, is_binary=kind not in (FORMATS[0], CSV))
    else:
        put_or_write(body, path)


def _words(option: str) -> tuple[str, ...]:
    """Return the words of an option on any page."""
    pages = (options.get(option, ()) for options in CHOICES.values())
    return tuple(dict.fromkeys(word for words in pages for word in words))


@with_examples(
    "share overview -o overview.html",
    "share cost --agent codex --since 30d -o cost.html",
    "share cost --month 2026-03 --by person -o march.pdf",
    "share 5e0c031e -o run.pdf",
    "share --site study",
)
@click.argument("what", metavar="[RUN|SCREEN]", default="", callback=utf8)
@click.option(
    "--site",
    metavar="FOLDER",
    type=FOLDER,
    help="Write all screens and runs as linked pages: a site that needs no server.",
)
@path_option("Output file, .html or .pdf.  [default: named after the page, .html]", dir_okay=False)
@groups_option
@text_option(
    "--month",
    metavar="YYYY-MM|all",
    help="cost: this month in detail, by default the last one with money.",
)
@click.option("--by", type=Word(_words("by")), help="What the tables divide by.")
@click.option("--show", type=Word(_words("show")), help="tasks, loops, speedups: what is listed.")
@click.option("--pair", type=Word(PAIRS), help="compare: task by task, or all runs with all runs.")
@flag("--with-text", "Include prompts, titles, summaries, claims and patches of sessions.")
@flag("--notes", "with_notes", "PDF of a screen: *How sure?* as a second page.")
@cost_option
@answering(output=False)
def share(
    what: str,
    asked: Asked,
    *,
    site: Path | None,
    path: Path | None,
    groups: tuple[str, ...],
    with_text: bool,
    **options: Any,
) -> None:
    """Write a screen with its filters, or a run, as PDF or as one HTML file to mail.

    Or all of them as a site (--site): the screens, the list of runs and a page per run, for GitHub
    Pages, a zip or a folder on disk. Filters choose its runs. It loads nothing from elsewhere.

    A screen is one page A4 landscape, printed by Chromium or Chrome: what has no room on it is
    left out and counted. The HTML file opens without a network, by day and night.

    Screens: overview, cost, speedups, tasks, failures, compare, loops. The page has the answer,
    figures, tables and charts of the screen.
    """
    given = {key: options[key] for key in ("month", "by", "show", "pair")}
    choices = {key: one for key, one in given.items() if one is not None}
    if bool(what) == bool(site) or (site and (path or choices or options["with_notes"])):
        raise UsageError(
            "share takes a RUN or SCREEN with -o FILE, or --site FOLDER.",
            "For example: tachograph share overview, tachograph share --site study",
        )
    if not with_text:
        asked.store.leaves_out_every = bool(site)  # what is published is read by strangers
        asked.store.leave_out_texts(asked.filters)
    with read_transaction(asked.store, copy_at=1) as transaction:
        about = question(transaction, asked.filters, options["cost"], "", groups, choices)
        if site:
            with terminal.progress("Pages of runs") as on_progress:
                done = write_site(site, about, on_progress, with_text=with_text)
            pages = f"{plural(done.pages, 'page')}, {done.runs:,} of them of runs"
            terminal.note(f"{site}: {pages}, {done.size / 1e6:,.1f} MB. Open index.html.")
            return
        made = shared(what, about, with_text=with_text)
    path = path or Path(f"{made.file_name}.html")
    if path.suffix.lower() not in ("", ".html", ".htm", ".pdf"):
        raise UsageError(f"unknown file extension of {path}.", "Use .html or .pdf.")
    require_no_store_file(asked.store, path)
    is_print = path.suffix.lower() == ".pdf"
    page = html_shared(made, is_print=is_print, with_notes=options["with_notes"])
    body = printed(page) if is_print else page
    put_or_write(body, path)
