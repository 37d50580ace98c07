"""`tachograph tasks`: who solved what."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from app.cli.options import LATEX, Output, Word, by_option, examples, with_filters, with_output, with_store
from app.queries.filters import Filters

if TYPE_CHECKING:
    from ingest.store.database import Store

VALUES = ("result", "outcome", "measured", "claimed", "cost", "duration")
"""Those of `app.queries.tasks`, which costs an import of pyarrow; a test compares them."""


@click.command(epilog=examples("tasks", "tasks --by agent,model --value cost", "tasks --value measured --format latex -o tasks.tex"))
@by_option
@click.option("--value", type=Word(VALUES), default=VALUES[0], show_default=True, help="What the cells show.")
@with_filters
@partial(with_output, more=(LATEX,))
@with_store
def tasks(by: tuple[str, ...], value: str, filters: Filters, output: Output, store: Store) -> None:
    """Show tasks beside those who worked on them: a row per task, a column per agent (or --by).

    A task is repository and commit where a benchmark names it, else repository and name. Several runs in a cell are counted: their median,
    or how many are done.
    """
    from app.cli.output import deliver, deliver_body
    from app.reports.exports.text import write_latex
    from app.reports.results import tasks as matrix

    answer = matrix(store, filters, by or ("agent",), value)
    if output.format == LATEX:
        deliver_body(write_latex(answer), answer, output)
    else:
        deliver(answer, output)
