"""Commands about claims of agents, measurements, findings, and failures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from app.cli.options import TABLE, Asked, Word, answering, by_option, examples, utf8, zone_option
from app.queries.filters import FILTERS, MIN_CONFIDENCE
from app.queries.grouping import filters_in
from schemas.catalogue.failures import REASONS
from schemas.errors import InputUnreadable
from schemas.numbers import share
from schemas.rows.confidence import SHOWN_FROM
from schemas.text import in_json

KINDS = ("quantified", "qualitative")
SEVERITIES = ("error", "warning", "info")
RULE_KEYS = (
    "baseline",
    "iso",
    "gso",
    "swe-fficiency",
    "algotune",
    "kernelbench",
    "geometric",
    "harmonic",
)
"""Keys of `app.queries.rules.RULES`, which a command line need not load."""
"""The words of ClaimKind and Severity in `schemas.rows`, repeated because these import pydantic; a
test compares them.
"""

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
        "claims --repo vllm -o claims.csv",
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
@click.option("--all", "every", is_flag=True, help="List claims without a number, too.")
@answering(limit="claims")
@click.pass_context
def claims(ctx: click.Context, kinds: tuple[str, ...], asked: Asked, *, every: bool) -> None:
    """List improvements that agents claim, quantified ones first, then by ratio, largest first.

    Claims are extracted from the agents' summaries and not verified. --evidence, --min-claim and
    --min-confidence filter claims, all other filters filter runs.
    """
    if ctx.invoked_subcommand is not None:
        return
    from app.cli.output import deliver
    from app.reports import results

    chosen = KINDS if every else kinds or (KINDS[:1] if asked.output.format == TABLE else KINDS)
    deliver(results.claims(asked.store, asked.filters, chosen, asked.limit), asked.output)


@claims.command(epilog=examples("claims extract texts.jsonl", "claims extract - < texts.jsonl"))
@click.argument("texts", type=click.Path(readable=False, path_type=Path), metavar="TEXTS.JSONL")
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
    from app.cli.terminal import put
    from ingest.claims import extract as extracted

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
    from ingest.sources.walking import is_device, standard_input

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


@click.command(
    epilog=examples(
        "failures",
        "failures --by model",
        "failures --texts conversation",
        "failures -o failures.csv",
    )
)
@click.option(
    "--by",
    metavar="DIMENSION",
    default="agent",
    show_default=True,
    callback=utf8,
    help="What has a column each, as of `report`.",
)
@click.option(
    "--texts",
    type=Word(tuple(REASONS)),
    metavar="REASON",
    help="List the error texts of a reason instead, numbers masked.",
)
@answering()
def failures(by: str, texts: str | None, asked: Asked) -> None:
    """Count why runs did not complete.

    A row per reason, a column per agent (or --by), lost wall time and best-known cost.

    Reasons follow from the outcome, from whether the run got to work, and from the words of its
    error; docs/failures.md has the rules.
    """
    from app.cli.output import deliver
    from app.reports import results

    store, filters = asked.store, asked.filters
    deliver(
        results.failure_texts(store, filters, texts)
        if texts
        else results.failures(store, filters, by),
        asked.output,
    )


@click.command(
    epilog=examples(
        "findings", "findings --severity error", "findings --rule count_mismatch --format jsonl"
    )
)
@click.option(
    "--severity",
    "severities",
    multiple=True,
    type=Word(SEVERITIES),
    help="Filter by severity. Repeatable (OR).",
)
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="RULE",
    callback=utf8,
    help="Filter by rule. Repeatable (OR).",
)
@answering(limit="findings")
def findings(severities: tuple[str, ...], rules: tuple[str, ...], asked: Asked) -> None:
    """List findings: what does not add up in a record, its summary or its patch.

    error: a number that cannot be right; warning: needs review; info: background, e.g. the evidence
    of a claim. Findings are hints for review, not verdicts.
    """
    from app.cli.output import deliver
    from app.reports import results

    deliver(
        results.findings(asked.store, asked.filters, severities, rules, asked.limit), asked.output
    )


def _share(ctx: click.Context, param: click.Parameter, value: str) -> float:
    """Parse `5%` or `0.05` as a number between 0 and 1 (callback)."""
    number = share(value.strip())
    if number is None or not 0 <= number < 1:
        raise click.BadParameter(f"a share such as 0.05 or 5%, not {value!r}.", ctx, param)
    return float(number)


@click.command(
    epilog=examples(
        "verdicts",
        "verdicts --by agent,model",
        "verdicts --by evidence -o verdicts.csv",
        "verdicts --by repo,agent --pivot agent -o table.tex",
        "verdicts --published",
        "verdicts --rule iso",
        "verdicts --rule gso --steps",
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
@zone_option("IANA time zone for days and times, also of --since and --until.")
@click.option("--all", "every", is_flag=True, help="List runs that were not measured, too.")
@click.option(
    "--published",
    is_flag=True,
    help="Count published judgements by repository, agent and model; needs no runs.",
)
@click.option(
    "--rule",
    type=Word(RULE_KEYS),
    help="Score agents by the rule of a benchmark, over everything measured; needs no runs.",
)
@click.option(
    "--steps",
    is_flag=True,
    help="With --rule: what leads from its score to that of the rule baseline, step by step.",
)
@click.option(
    "--band",
    default="5%",
    show_default=True,
    metavar="SHARE",
    callback=_share,
    help="Call ratios within this distance from 1 the same.",
)
@answering(limit="runs")
def verdicts(
    by: tuple[str, ...],
    zone: str,
    band: float,
    rule: str | None,
    asked: Asked,
    *,
    every: bool,
    **options: Any,
) -> None:
    """Show what runs claimed beside what benchmarks measured, per run, or with --by per group.

    Groups have the cost per verified speedup and how far claims hold. A ratio is only made between
    values of the same metric, workload, model, machine and set-up; the note says why there is none.
    """
    from app.cli.output import deliver
    from app.reports import results

    store, filters = asked.store, filters_in(asked.filters, zone)
    published, pivot = options["published"], options["pivot"]
    if rule:
        if by or filters or published:
            raise click.UsageError(
                "--rule counts everything measured, and --by, --published and filters "
                "choose. Use one of them."
            )
        deliver(
            (results.rule_path if options["steps"] else results.rules)(store, rule), asked.output
        )
    elif options["steps"]:
        raise click.UsageError("--steps needs --rule: the rule whose score they begin at.")
    elif published:
        if by or filters:
            raise click.UsageError(
                "--published counts judgements, and --by and filters choose runs. Use one of them."
            )
        deliver(results.published(store), asked.output)
    elif by or pivot:
        deliver(results.verdict_groups(store, filters, by, zone, band, pivot), asked.output)
    else:
        deliver(results.verdicts(store, filters, asked.limit, every=every, band=band), asked.output)


@click.command(
    epilog=examples(
        "measurements",
        "measurements --unjoined",
        "measurements --task vllm_core-0000 -o values.csv",
    )
)
@click.option(
    "--unjoined",
    "lonely",
    is_flag=True,
    help="List measured values that belong to no run, and why.",
)
@answering(limit="values")
def measurements(asked: Asked, *, lonely: bool) -> None:
    """List measured values of benchmarks, each with the run that it measured.

    Results are ingested like logs: content decides. What a file does not say is told with `ingest
    --measure`.
    """
    from app.cli.output import deliver
    from app.reports import results

    store, filters = asked.store, asked.filters
    if lonely and filters:
        raise click.UsageError(
            "--unjoined lists values without a run, and filters choose runs. Use one of them."
        )
    deliver(
        results.unjoined(store) if lonely else results.measurements(store, filters, asked.limit),
        asked.output,
    )
