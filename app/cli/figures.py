"""Commands for what people hand on: pictures of charts, and pages to mail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from app.cli import terminal
from app.cli.options import Asked, Word, answering, cost_option, examples, utf8
from schemas.errors import UsageError

PICTURES = ("svg", "png", "pdf")
"""The words of `app.charts.images.FORMATS`, repeated because that imports Plotly; a test compares
them.
"""

_FILE: Any = click.Path(dir_okay=False, readable=False, path_type=Path)
_GROUPS = (
    "A group of a chart or page that compares, as filters: 'agent=codex model=gpt-5'. "
    "Repeatable; the first is the baseline."
)


@click.command(
    epilog=examples(
        "chart",
        "chart cost-per-run -o cost.pdf",
        "chart claimed-beside-measured --agent claude-code -o claims.svg",
        "chart compare-cost --group agent=claude-code --group agent=codex -o compare.png",
        "chart session --of 5e0c031e -o session.svg",
    )
)
@click.argument("name", required=False, callback=utf8)
@click.option(
    "-o",
    "--output",
    "path",
    type=_FILE,
    metavar="FILE",
    help=f"Output file: {', '.join(f'.{one}' for one in PICTURES)}.",
)
@click.option(
    "--format", "format_", type=Word(PICTURES), help="Default: from the extension, else svg."
)
@click.option(
    "--of",
    "of",
    default="",
    metavar="RUN|LOOP",
    callback=utf8,
    help="The run of a chart of one run, or the loop of `loop`.",
)
@click.option("--group", "groups", multiple=True, metavar="FILTERS", callback=utf8, help=_GROUPS)
@click.option("--dark", is_flag=True, help="For a dark page.")
@click.option("--with-text", is_flag=True, help="Name runs by the titles of their sessions.")
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

    Without NAME: list the charts.

    A picture is drawn by Kaleido and the Chromium or Chrome of the system: docs/handed-on.md.
    """
    from app.charts.images import image
    from app.charts.registry import CHARTS
    from app.cli.output import write_file
    from app.queries.reading import read_transaction
    from app.queries.run_page import run_id_of
    from app.reports.shared import question
    from schemas.text import did_you_mean

    if name is None:
        longest = max(map(len, CHARTS))
        terminal.put(
            "".join(f"{one.name:<{longest}}  {one.about}\n" for one in CHARTS.values()).encode()
        )
        return
    if name not in CHARTS:
        raise UsageError(
            f"no chart is called {name!r}.",
            f"{did_you_mean(name, list(CHARTS))}Choose from: {', '.join(CHARTS)}.",
        )
    wanted, of = CHARTS[name], options["of"]
    if wanted.needs == "run" and not of:
        raise UsageError(f"the chart {name} is about one run.", "Name it: --of ID")
    kind = format_ or (path.suffix[1:].lower() if path and path.suffix else PICTURES[0])
    if kind not in PICTURES:
        raise UsageError(
            f"unknown file extension of {path}.",
            f"Use {', '.join(f'.{one}' for one in PICTURES)}, or give --format.",
        )
    if path is not None and asked.store.owns(path):
        raise UsageError(
            f"cannot write to {path}: it is the store or one of its files.",
            "Choose another file with -o.",
        )
    if not with_text:
        asked.store.leave_out_texts()
    with read_transaction(asked.store) as transaction:
        run = run_id_of(transaction, of) if wanted.needs == "run" else of
        about = question(transaction, asked.filters, options["cost"], run, options["groups"])
        about.page = "dark" if options["dark"] else "light"
        drawn = wanted.draw(about)
    if drawn is None or not drawn.n:
        raise UsageError(
            f"there is nothing to draw: no data for {wanted.about}.",
            "Widen the filters, or ingest more.",
        )
    body = image(drawn, kind, about.page)
    if path is not None:
        write_file(path, body)
        terminal.note(f"Wrote {path}: {len(body):,} bytes")
    else:
        terminal.put(body, is_binary=kind != PICTURES[0])


@click.command(
    epilog=examples(
        "share overview -o overview.html",
        "share cost --agent codex --since 30d -o cost.html",
        "share 5e0c031e -o run.pdf",
    )
)
@click.argument("what", metavar="RUN|SCREEN", callback=utf8)
@click.option(
    "-o",
    "--output",
    "path",
    type=_FILE,
    metavar="FILE",
    help="Output file, .html or .pdf.  [default: named after the page, .html]",
)
@click.option("--group", "groups", multiple=True, metavar="FILTERS", callback=utf8, help=_GROUPS)
@click.option(
    "--with-text",
    is_flag=True,
    help="Include prompts, titles, summaries, claims and patches of sessions.",
)
@cost_option
@answering(output=False)
def share(
    what: str,
    asked: Asked,
    *,
    path: Path | None,
    groups: tuple[str, ...],
    with_text: bool,
    cost: str,
) -> None:
    """Write a screen with its filters, or a run, as PDF or as one HTML file to mail.

    The HTML file opens without a network, by day and night.

    Screens: overview, cost, speedups, tasks, failures, compare, loops. The page has the answer,
    figures, tables and charts of the screen.
    """
    from app.charts.images import printed
    from app.cli.output import write_file
    from app.queries.reading import read_transaction
    from app.reports.exports.page import html_shared
    from app.reports.shared import question, shared

    if not with_text:
        asked.store.leave_out_texts()
    with read_transaction(asked.store, copy_at=1) as transaction:
        made = shared(
            what, question(transaction, asked.filters, cost, "", groups), with_text=with_text
        )
    path = path or Path(f"{made.file_name}.html")
    if path.suffix.lower() not in ("", ".html", ".htm", ".pdf"):
        raise UsageError(f"unknown file extension of {path}.", "Use .html or .pdf.")
    if asked.store.owns(path):
        raise UsageError(
            f"cannot write to {path}: it is the store or one of its files.",
            "Choose another file with -o.",
        )
    body = printed(html_shared(made)) if path.suffix.lower() == ".pdf" else html_shared(made)
    write_file(path, body)
    terminal.note(f"Wrote {path}: {len(body):,} bytes")
