"""The page of a run in a terminal.

Texts of agents are never read as markup and shown without control characters.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import pyarrow as pa
from rich.cells import cell_len

from app.queries.run_page import RunPage
from app.text import run_money
from app.text.answers import Answer
from app.text.claims import (
    all_claims_of,
    claim_facts,
    claim_title,
    expectation,
    hidden_words,
    measured_facts,
    statement,
)
from app.text.columns import fact_words
from app.text.formatting import model_words, short
from app.text.run_html import (
    MEASURE_IT,
    RUN_COST,
    RUN_ENDING,
    RUN_ORIGIN,
    cause_sentence,
    ending_words,
    origin_keys,
    record_rows,
    run_facts,
    run_figures,
)
from app.text.text_tables import SPELLED, draw, shown_table
from ingest.system.command_lines import command_line
from schemas.catalogue.columns import FILE_CHANGES, RECORDS, TOOL_CALLS, USES
from schemas.catalogue.entry import Columns
from schemas.text import join_known, one_line, quoted, visible

MODELS = (
    "model",
    "cost_own_usd",
    "cost_list_usd",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "tokens_basis",
    "tokens_basis_reason",
    "provider",
    "region",
    "cost_cause",
    "web_search_requests",
    "model_id",
)
SAID = ("starred", "note", "excluded", "excluded_reason")

RECORDS_SHOWN = (
    "record_kind",
    "source_name",
    "gives",
    "cost_reported_usd",
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "output_tokens",
    "duration_ms",
    "num_turns",
    "outcome",
    "score",
)
CALLS, CHANGES = ("tool", "calls", "errors"), ("path", "insertions", "deletions")
LONGEST_PROMPT = 1_000
"""Characters shown of a prompt; the record of the run and `--format json` have all of it."""

_INDENT = "  "


def run_text(page: RunPage, width: int, encoding: str = "utf-8", *, color: bool = False) -> bytes:
    """Return the page in lines of at most `width` columns; only longer words exceed it."""

    def bold(said: str) -> str:
        return f"\x1b[1m{said}\x1b[0m" if color else said

    run = page.run
    ended = ending_words(run, fact_words(run["outcome"], "outcome"))
    about = (
        run["run_id"],
        short(run["dated_at"]) if run["dated_at"] else "",
        model_words(run),
        ended,
    )
    parts = [
        f"{bold(one_line(run['title']))}\n{' · '.join(one_line(said) for said in about if said)}\n"
    ]
    for title, body in _sections(page, width, encoding, color=color):
        if body.strip():
            parts.append(f"\n{bold(title)}\n{body.rstrip()}\n")
    return "".join(parts).encode(encoding, errors=SPELLED)


def _sections(
    page: RunPage, width: int, encoding: str, *, color: bool
) -> Iterator[tuple[str, str]]:
    run, facts = page.run, page.facts

    def table(rows: pa.Table, shown: tuple[str, ...], of: Columns) -> str:
        if not rows.num_rows:
            return ""
        drawn = draw(shown_table(Answer(rows, "", shown, of=of)), width, encoding, color=color)
        return drawn.body.decode(encoding)

    labels = [(key, value) for key, value in run["labels"].items() if key not in RUN_ORIGIN]
    figures = [
        (label, f"{value}{note and f' ({note})'}") for label, value, note in run_figures(run)
    ]
    claims = [(claim_title(row), quoted(row["quote"])) for row in facts.claims.to_pylist()]
    hidden = hidden_words(
        facts.hidden_claims.num_rows, command_line(all_claims_of(run["run_id"]), page.location)
    )
    yield (
        "Star, note and exclusion",
        _pairs(run_facts(run, [key for key in SAID if run[key]]), width),
    )
    yield "Figures", _pairs(figures, width)
    yield "Where the money went", _money(page, width, encoding, color=color)
    yield "Cost", _pairs(run_facts(run, RUN_COST), width) + _wrapped(cause_sentence(run), width)
    yield (
        "Claimed and measured",
        _pairs(claim_facts(page.verdict)[:1] + measured_facts(page.verdict), width)
        if page.verdict
        else "",
    )
    yield (
        "Not measured yet",
        _wrapped(f"{MEASURE_IT}: {page.measure_command}", width) if page.measure_command else "",
    )
    yield "Models", table(run["model_usage"], MODELS, USES)
    yield "Result", _pairs(run_facts(run, RUN_ENDING), width)
    yield "Details", _pairs([*run_facts(run, origin_keys(run)), *labels], width)
    yield (
        "Prompt",
        _wrapped(textwrap.shorten(run["prompt"] or "", LONGEST_PROMPT, placeholder=" …"), width),
    )
    yield (
        "Claims (from the summary, not checked)",
        _entries(claims, width) + _wrapped(hidden, width),
    )
    yield (
        "Findings",
        _entries(
            [
                (f"{row['severity']}: {row['message']}", expectation(row))
                for row in facts.findings.to_pylist()
            ],
            width,
        ),
    )
    yield (
        "Other statements",
        _pairs([statement(row) for row in facts.statements.to_pylist()], width),
    )
    yield "Records", table(record_rows(run["records"]), RECORDS_SHOWN, RECORDS)
    yield "Tool calls", table(run["tool_calls"], CALLS, TOOL_CALLS)
    yield "Files changed (per summary)", table(facts.file_changes, CHANGES, FILE_CHANGES)
    yield "Files changed (patch)", table(page.patch, CHANGES, FILE_CHANGES)
    yield "Summary", visible(run["result"] or "No summary.")


def _money(page: RunPage, width: int, encoding: str, *, color: bool) -> str:
    """Return the parts of the cost as a table, below what they say."""
    parts = draw(run_money.money_table(page.money), width, encoding, color=color).body
    rows = parts.decode(encoding) if page.money.parts else ""
    said = run_money.why_dear(page.run, page.money)
    notes = run_money.money_notes(page.money, page.run)
    above = join_known(" ", said.heading.replace("**", ""), said.second)
    return _wrapped(above, width) + rows + _wrapped(" ".join(notes), width)


def _pairs(pairs: Sequence[tuple[str, str]], width: int) -> str:
    """Return a name and its value per line; long values are wrapped with an indent."""
    left = max((cell_len(name) for name, _ in pairs), default=0) + 2 * len(_INDENT)
    lines = ""
    for name, value in pairs:
        start = f"{_INDENT}{one_line(name)}"
        lines += _wrapped(value, width, start + " " * (left - cell_len(start)), " " * left)
    return lines


def _entries(entries: Sequence[tuple[str, str]], width: int) -> str:
    """Return each entry on its own line, with its explanation indented below."""
    lines = ""
    for first, second in entries:
        lines += _wrapped(first, width, f"{_INDENT}- ", _INDENT * 2)
        lines += _wrapped(second, width, _INDENT * 2, _INDENT * 2) if second else ""
    return lines


def _wrapped(text: str, width: int, first: str = _INDENT, following: str = _INDENT) -> str:
    lines = textwrap.wrap(
        one_line(text),
        max(width, 40),
        initial_indent=first,
        subsequent_indent=following,
        break_on_hyphens=False,
    )
    return "".join(f"{line}\n" for line in lines)
