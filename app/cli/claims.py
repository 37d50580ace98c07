"""`tachograph claims`: what agents claim, and the claims in texts of one's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import click

from app.cli.answering import Asked, answering
from app.cli.options import ANY_PATH, TABLE, Word, examples, flag
from app.cli.output import deliver
from app.cli.terminal import put
from app.queries.filters import FILTERS, MIN_CONFIDENCE
from app.reports import results
from ingest.sources.walking import is_device, standard_input
from schemas.claims import ClaimKind
from schemas.errors import InputUnreadable
from schemas.rows.confidence import SHOWN_FROM
from schemas.text import in_json

KINDS = tuple(map(str, ClaimKind))

MOST_BYTES = 128 << 20

"""Longest line of texts: a longer one would fill the memory."""


_LINE = 'Each line is {"id": "…", "text": "…"}.'


@click.group(
    invoke_without_command=True,
    epilog=examples(
        "claims",
        "claims --all",
        "claims --evidence benchmarked --min-claim 2",
        "claims --min-confidence 0",
        "claims --project vllm -o claims.csv",
        "claims extract texts.jsonl",
    ),
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=Word(KINDS),
    help="Filter by kind. Repeatable (OR).  [default: quantified in a table, all in other formats]",
)
@flag("--all", "every", "List claims without a number, too.")
@answering(limit="claims")
@click.pass_context
def claims(ctx: click.Context, kinds: tuple[str, ...], asked: Asked, *, every: bool) -> None:
    """List improvements that agents claim, quantified ones first, then by ratio, largest first.

    Claims are extracted from the agents' summaries and not checked. --evidence, --min-claim and
    --min-confidence filter claims, all other filters filter runs.
    """
    if ctx.invoked_subcommand is not None:
        return
    chosen = KINDS if every else kinds or (KINDS[:1] if asked.output.format == TABLE else KINDS)
    deliver(results.claims(asked.store, asked.filters, chosen, asked.limit), asked.output)


@claims.command(epilog=examples("claims extract texts.jsonl", "claims extract - < texts.jsonl"))
@click.argument("texts", type=ANY_PATH, metavar="TEXTS.JSONL")
@click.option(
    f"--{MIN_CONFIDENCE}",
    "least_confidence",
    default=str(SHOWN_FROM),
    show_default=True,
    metavar="P",
    callback=lambda _ctx, _param, value: FILTERS[MIN_CONFIDENCE].read(value),
    help="Minimum confidence of claims with a number, 0 to 1 or a percentage. 0 lists all.",
)
def extract(texts: Path, least_confidence: float) -> None:
    """Extract claims from your own texts, without a store.

    TEXTS.JSONL has a line {"id": ..., "text": ...} per text; - is standard input. The output has a
    line {"id": ..., "claims": [...]} for each; start and end of a claim are in Unicode code points,
    and confidence is the probability that it is read rightly.
    """
    from ingest.claims import extract as extracted  # its patterns take longer than a list of claims

    name = "standard input" if str(texts) == "-" else str(texts)
    for number, line in enumerate(_lines(texts, name), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputUnreadable(f"{name}, line {number} is not JSON: {error}.", _LINE) from error
        if not isinstance(row, dict) or "id" not in row or not isinstance(row.get("text"), str):
            raise InputUnreadable(
                f"{name}, line {number} has no id, or its text is not a string.", _LINE
            )
        found = {
            "id": row["id"],
            "claims": [claim._asdict() for claim in extracted(row["text"], least_confidence)],
        }
        put(f"{in_json(json.dumps(found, ensure_ascii=False, separators=(',', ':')))}\n".encode())


def _lines(path: Path, name: str) -> Iterator[bytes]:
    """Yield the lines of the file; `-` is the standard input. Raises InputUnreadable."""
    hint = "Give a file of JSON lines, or - for standard input."
    try:
        with ExitStack() as stack:
            stream = standard_input() if str(path) == "-" else stack.enter_context(path.open("rb"))
            if is_device(stream):
                raise InputUnreadable(f"cannot read {name}: it is a device.", hint)
            while line := stream.readline(MOST_BYTES + 1):
                if len(line) > MOST_BYTES:
                    raise InputUnreadable(
                        f"{name} has a line of more than {MOST_BYTES >> 20} MiB.", _LINE
                    )
                yield line
    except OSError as error:
        raise InputUnreadable(f"cannot read {name}: {error.strerror or error}.", hint) from error
