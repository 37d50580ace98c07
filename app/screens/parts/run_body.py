"""All that there is to see of one run: what it is, what it claims and changed, what was measured; all else folded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import streamlit as st

from app.queries import claims as claim_queries
from app.queries import measured as measured_queries
from app.queries import run_page
from app.queries import runs as run_queries
from app.queries.claims import RunFacts
from app.screens import cache
from app.screens.parts import annotate, evidence, filter_bar, session, widgets
from app.text import claim_marks, diff_html, grid_columns, html_parts, run_html, verdict_grids
from app.text.formatting import human, short_id
from app.text.presentation import (
    RUN_CARDS,
    RUN_COST,
    RUN_ENDING,
    cause_sentence,
    code_span,
    facts_html,
    file_name_of,
    origin_facts,
    plain,
    record_rows,
    shown,
    shown_record,
)
from app.text.sentences.run import only_run
from app.text.summary_html import summary_html
from app.text.words.claims import all_claims_of, hidden_words
from schemas.text import plural
from schemas.units import Unit

SUMMARY_WIDTH = 820  # pixels; longer lines are hard to read
SHORT_PROMPT = 600
"""Characters of a prompt that is shown whole."""


def show_run(run_id: str, *, alone: bool = False) -> bool:
    """The run below its title. `alone`: it is the only one of the store, and its heading is a sentence. False: there is no such run."""
    run = cache.ask(run_queries.run, run_id)
    if run is None:
        return False
    facts = cache.ask(claim_queries.of_run, run_id, filter_bar.chosen())
    verdict = cache.ask(measured_queries.verdict_of, run_id)
    values = cache.ask(measured_queries.of_run, run_id) if verdict else None
    if alone:
        widgets.heading(only_run(run, verdict), missing=False)
    else:
        st.html(f'<h1 class="t-h1">{html_parts.text(run["title"])}</h1>')
    annotate.excluded_note(run)
    head = (run_html.header_html(run), run_html.failure_html(run), run_html.strip_html(run, verdict), run_html.warning_html(run, verdict))
    st.html("".join(head))
    claims, hidden = facts.claims.to_pylist(), facts.hidden_claims.to_pylist()
    evidence.show(run["result"] or "", [*claims, *hidden], SUMMARY_WIDTH)
    patch = cache.ask(run_page.patch_of, run_id)
    said, done = st.columns([1, 1.16] if patch else [1.45, 1], gap="medium")
    with said:
        _claims(run, facts)
        _summary(run, claims)
    with done:
        files = cache.ask(run_page.patch_files_of, run_id)
        listed = files if files.num_rows else facts.file_changes
        if not alone or patch or listed.num_rows:
            _changes(run, patch, listed)
        if verdict and values is not None:
            about = run_html.measured_about(verdict, values.to_pylist())
            st.html(run_html.part("What was measured", about) + run_html.measured_html(run, verdict, values.to_pylist()))
        if alone:
            commands = {"results": cache.command("ingest RESULTS"), "runs": cache.command("ingest ~/.claude/projects")}
            st.html(run_html.more_html(commands, has_patch=patch is not None, is_measured=verdict is not None))
    with st.container(gap="xsmall"):
        _details(run, facts, values, patch)
    return True


def _claims(run: Mapping[str, Any], facts: RunFacts) -> None:
    """The claims with figures, and how many are hidden."""
    if listed := run_html.claims_html(facts.claims.to_pylist(), run):
        st.html(run_html.part("What it claims") + listed)
    if facts.hidden_claims.num_rows:
        st.caption(hidden_words(facts.hidden_claims.num_rows, code_span(cache.command(all_claims_of(run["run_id"])))))


def _summary(run: Mapping[str, Any], claims: list[dict[str, Any]]) -> None:
    """What the agent wrote at the end, its claims marked."""
    summary = shown(run["result"] or "")
    written = summary_html(summary.text, claim_marks.marks_of(claims)) or "<p>No summary.</p>"
    legend = claim_marks.legend_html(claims) if claims else ""
    st.html(f'{run_html.part("What it says it did")}{legend}<div class="t-run-prose">{written}</div>', width=SUMMARY_WIDTH)
    widgets.cut_note(summary)


def _changes(run: Mapping[str, Any], patch: Mapping[str, Any] | None, files: pa.Table) -> None:
    """The patch, or the files that are known to have changed."""
    base = f"from {run['base_commit'][:8]}" if run["base_commit"] else ""
    cut = f"the first part of {human(patch['bytes'], Unit.BYTES)}" if patch and patch["is_cut"] else ""
    about = " · ".join(filter(None, (patch["file_name"] if patch else "", base, cut)))
    drawn = diff_html.diff_html(patch["text"]) if patch else ""
    told = drawn or run_html.changed_html(run, files.to_pylist(), has_text=patch is not None)
    st.html(run_html.part("What it changed", about) + told)
    if patch and not drawn:
        text = shown(patch["text"])
        st.code(text.text, language="diff", height=420)
        widgets.cut_note(text)


def _details(run: Mapping[str, Any], facts: RunFacts, values: pa.Table | None, patch: Mapping[str, Any] | None) -> None:
    """Everything else, folded: each part says in its label what is in it."""
    run_id, usage, records, calls = run["run_id"], run["model_usage"], run["records"], run["tool_calls"]
    findings = facts.findings.to_pylist()

    def cost() -> None:
        st.html(facts_html(run, RUN_COST))
        if cause := cause_sentence(run):
            st.caption(plain(cause))

    def tokens() -> None:
        widgets.table(grid_columns.grid(usage, grid_columns.USAGE), "Tokens and reported cost of each model of this run")

    def figures() -> None:
        st.html(facts_html(run, RUN_CARDS))

    def measured() -> None:
        assert values is not None
        widgets.table(
            verdict_grids.verdict_grid(values, verdict_grids.VALUES), "Each measured value beside that of the baseline or reference"
        )

    def tools() -> None:
        widgets.table(grid_columns.grid(calls, grid_columns.TOOL_CALLS), "Calls and errors of each tool")

    def all_records() -> None:
        widgets.table(grid_columns.grid(record_rows(records), grid_columns.RECORDS), "Each record of this run and what it tells")

    def origin() -> None:
        ending, details = st.columns(2)
        ending.html(facts_html(run, RUN_ENDING))
        details.html(facts_html(run, origin_facts(run), run["labels"]))
        if prompt := shown(run["prompt"] or "").text:
            st.code(prompt, language=None, height=200 if len(prompt) > SHORT_PROMPT else "content", wrap_lines=True)

    def found() -> None:
        st.markdown(claim_marks.finding_lines(findings))

    def statements() -> None:
        st.html(claim_marks.statements_html(facts.statements.to_pylist()))
        if facts.file_changes.num_rows:
            rows = grid_columns.grid(facts.file_changes, grid_columns.FILE_CHANGES)
            widgets.table(rows, "Files changed according to the summary, with lines")

    def raw() -> None:
        record = shown_record(run["raw"])
        widgets.cut_note(record)
        with st.container(horizontal=True):
            st.download_button("Download the whole record", run["raw"], file_name_of(run_id), "application/json", on_click="ignore")
            if patch:
                st.download_button("Download the patch", patch["text"], f"{short_id(run_id)}.diff", "text/x-diff", on_click="ignore")
        st.code(record.text, language="json", height=520, wrap_lines=True)

    _folded("Cost", run_html.cost_words(run), cost, is_there=run["cost_best_usd"] is not None)
    _folded("Tokens", run_html.token_words(run), tokens, is_there=usage.num_rows > 0)
    _folded("Figures", "its time, turns and tokens, and what each costs", figures)
    if values is not None:
        _folded("Measured values", f"{values.num_rows:,}", measured, is_there=values.num_rows > 0)
    session.show(run_id)
    errors = sum(filter(None, calls["errors"].to_pylist()))
    told = plural(sum(calls["calls"].to_pylist()), "call") + (f", {plural(errors, 'error')}" if errors else "")
    _folded("Tool calls", told, tools, is_there=calls.num_rows > 0)
    _folded("Records", f"{records.num_rows:,} logs tell of this run, which counts once", all_records, is_there=records.num_rows > 0)
    _folded("Origin", "how it ended, where its figures were read, the task’s prompt", origin)
    _folded("Findings", _finding_words(findings), found, is_there=bool(findings))
    stated = facts.statements.num_rows + facts.file_changes.num_rows
    _folded("Other statements", f"{stated:,} in the summary", statements, is_there=stated > 0)
    _folded("Raw record", "JSON as ingested" + (", and the patch" if patch else ""), raw)
    annotate.run_block(run)


def _folded(title: str, about: str, body: Callable[[], None], *, is_there: bool = True) -> None:
    if is_there:
        with st.expander(f"**{title}** {plain(about)}"):
            body()


def _finding_words(findings: list[dict[str, Any]]) -> str:
    """`1 warning, 2 notes`."""
    names = {"error": "error", "warning": "warning", "info": "note"}
    counts = {name: sum(row["severity"] == severity for row in findings) for severity, name in names.items()}
    return ", ".join(plural(count, name) for name, count in counts.items() if count)
