"""`tachograph landed`: which changes of runs are on the main branch, and what each cost."""

from __future__ import annotations

from pathlib import Path

import click

from app.cli.answering import Asked, answering
from app.cli.options import ANY_PATH, text_option, with_examples
from app.cli.output import deliver
from app.reports import results
from ingest.landings import RunChanges, read_landings
from ingest.store.landings import keep_landings, recorded_changes


@with_examples(
    "landed --repo .",
    "landed --repo ~/src/vllm --branch main",
    r"landed --repo . --ticket 'ABC-\d+'",
    "report --by pull-request --metrics runs,cost_best_usd,changes_landed,cost_per_landed_usd",
)
@click.option(
    "--repo",
    "checkout",
    required=True,
    type=ANY_PATH,
    metavar="PATH",
    help="A checkout of the repository that the runs worked in, or a clone of it.",
)
@text_option(
    "--branch", default="", metavar="NAME", help="The main branch.  [default: the remote's]"
)
@text_option(
    "--ticket",
    default="",
    metavar="PATTERN",
    help="What a ticket looks like in branches, titles and commit messages: a regular expression.",
)
@answering(filters=False)
def landed(checkout: Path, branch: str, ticket: str, asked: Asked) -> None:
    """Read from a checkout which changes of runs landed, and what each cost.

    A commit landed if the branch has it, or a commit with the same patch; a pull request by its
    merge, or by the number in the subject of its squashed commit; a branch also if one commit has
    all its changes. Runs are landed, open (on another branch), abandoned (reverted, or on no
    branch any more) or unknown, as for commits that the checkout does not have. Only git reads the
    checkout, and nothing of it runs. What is found is kept in the store, for `--landed`, `--by
    pull-request` and cost per landed change; call it again to renew it.
    """
    runs = [RunChanges(**run) for run in recorded_changes(asked.store)]
    reading = read_landings(checkout, runs, branch, ticket)
    keep_landings(asked.store, reading.repository, reading.rows)
    deliver(results.landed(asked.store, reading), asked.output)
