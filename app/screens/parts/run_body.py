"""The page of a run: facts, claims, changes and measurements; everything else is folded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import streamlit as st

from app.charts import registry as charts
from app.queries import claims as claim_queries
from app.queries import loops as loop_queries
from app.queries import measured as measured_queries
from app.queries import run_page
from app.queries import runs as run_queries
from app.queries import sessions as session_queries
from app.queries.claims import RunFacts
from app.queries.filters import NO_FILTERS
from app.screens import cache
from app.screens.parts import annotate, filter_bar, widgets
from app.text import grids, html_parts, loop_html, run_html, summary
from app.text import usage as words
from app.text.claims import all_claims_of, claim_title, hidden_words
from app.text.formatting import short, short_id
from app.text.html_parts import code_span, plain, shown, shown_record
from schemas.catalogue.cost_measures import BEST
from schemas.text import plural
from schemas.units import Unit

SUMMARY_WIDTH = 820  # pixels; longer lines are hard to read
SHORT_PROMPT = 600

LISTED, FEW = 10_000, 300
"""Responses listed, and listed without asking."""


def show_run(run_id: str, *, alone: bool = False) -> None:
    """Place the run below its title.

    `alone`: it is the store's only run, with a sentence as heading.
    """
    run = cache.ask(run_queries.run, run_id)
    if run is None:
        return
    facts = cache.ask(claim_queries.of_run, run_id, filter_bar.chosen())
    verdict = cache.ask(measured_queries.verdict_of, run_id)
    values = cache.ask(measured_queries.of_run, run_id) if verdict else None
    if alone:
        widgets.heading(run_html.only_run(run, verdict), missing=False)
    else:
        st.html(f'<h1 class="t-h1">{html_parts.text(run["title"])}</h1>')
    if run["excluded"]:
        st.warning(
            f"Excluded: this run is not counted. {plain(run['excluded_reason'] or '')}",
            icon=":material/block:",
        )
    elif run["is_copy"]:
        st.warning(
            "Probably a copy of another run, which is counted in its place: see its findings.",
            icon=":material/content_copy:",
        )
    head = (
        run_html.header_html(run),
        run_html.failure_html(run),
        run_html.strip_html(run, verdict),
        run_html.warning_html(run, verdict),
    )
    st.html("".join(head) + _loops_of(run_id))
    claims, hidden = facts.claims.to_pylist(), facts.hidden_claims.to_pylist()
    asked = st.query_params.get(widgets.CLAIM_NO)
    if claim := next((row for row in (*claims, *hidden) if str(row["claim_no"]) == asked), None):
        text, marks = summary.around(run["result"] or "", claim)
        with st.container(border=True):
            st.header(
                "Claim in the summary",
                anchor=False,
                help="The sentence of the claim is highlighted. The whole summary is below.",
            )
            st.caption(plain(claim_title(claim)))
            st.html(
                f'<div style="overflow-x:auto">{summary.summary_html(text, marks)}</div>',
                width=SUMMARY_WIDTH,
            )
    patch = cache.ask(run_page.patch_of, run_id)
    said, done = st.columns([1, 1.16] if patch else [1.45, 1], gap="medium")
    with said:
        if listed := run_html.claims_html(claims, run):
            st.html(run_html.part("What it claims") + listed)
        if hidden:
            st.caption(
                hidden_words(len(hidden), code_span(cache.command(all_claims_of(run["run_id"]))))
            )
        prose = shown(run["result"] or "")
        written = summary.summary_html(prose.text, summary.marks_of(claims)) or "<p>No summary.</p>"
        legend = summary.legend_html(claims)
        st.html(
            (
                f"{run_html.part('What it says it did')}{legend}<div "
                f'class="t-run-prose">{written}</div>'
            ),
            width=SUMMARY_WIDTH,
        )
        widgets.cut_note(prose)
    with done:
        files = cache.ask(run_page.patch_files_of, run_id)
        files = files if files.num_rows else facts.file_changes
        if not alone or patch or files.num_rows:
            _changes(run, patch, files)
        if verdict and values is not None:
            about = run_html.measured_about(verdict, values.to_pylist())
            st.html(
                run_html.part("What was measured", about)
                + run_html.measured_html(run, verdict, values.to_pylist())
            )
        elif command := run_page.measure_command(run, patch, cache.location()):
            st.html(run_html.part("Not measured yet"))
            st.caption(f"{run_html.MEASURE_IT}:")
            st.code(command, language=None, wrap_lines=True)
        if alone:
            commands = {
                "results": cache.command("ingest RESULTS"),
                "runs": cache.command("ingest ~/.claude/projects"),
            }
            st.html(
                run_html.more_html(
                    commands, has_patch=patch is not None, is_measured=verdict is not None
                )
            )
    with st.container(gap="xsmall"):
        if patch:
            _other_patches(run, patch)
        _details(run, facts, values, patch)


def _loops_of(run_id: str) -> str:
    """Return links to the loops that the run ran."""
    if not cache.contents().loops:
        return ""
    return loop_html.ran_html(cache.ask(loop_queries.loops), run_id, filter_bar.chosen())


def _changes(run: Mapping[str, Any], patch: Mapping[str, Any] | None, files: pa.Table) -> None:
    """Place the patch, or the files known to have changed."""
    base = f"from {run['base_commit'][:8]}" if run["base_commit"] else ""
    cut = (
        f"the first part of {short(patch['bytes'], Unit.BYTES)}"
        if patch and patch["is_cut"]
        else ""
    )
    about = " · ".join(filter(None, (patch["file_name"] if patch else "", base, cut)))
    drawn = (
        run_html.diff_html(patch["text"])
        if patch
        else run_html.changed_html(run, files.to_pylist())
    )
    st.html(run_html.part("What it changed", about) + drawn)
    if patch and not drawn:
        text = shown(patch["text"])
        st.code(text.text, language="diff", height=420)
        widgets.cut_note(text)


def _other_patches(run: Mapping[str, Any], patch: Mapping[str, Any]) -> None:
    """Place the patch of the run beside that of another run of the same task, if any, folded."""
    others = cache.ask(run_page.patched_beside, run["run_id"])
    if not others:
        return
    about = f"**Other patches** of {plural(len(others), 'run')} of the same task"
    with st.expander(about, key="patches", on_change="rerun") as beside:
        if beside.open:
            _side_by_side(run, patch, others)


def _side_by_side(
    run: Mapping[str, Any], patch: Mapping[str, Any], others: Sequence[Mapping[str, Any]]
) -> None:
    """Place two patches beside each other; the other one is chosen."""
    names = {row["run_id"]: run_html.patch_name(row) for row in others}
    chosen = st.selectbox(
        "Beside",
        list(names),
        format_func=names.__getitem__,
        label_visibility="collapsed",
        key="other-patch",
    )
    mine, theirs = st.columns(2, gap="small")
    for column, name, drawn in (
        (mine, f"{run_html.patch_name(run)}, this run", patch),
        (theirs, names[chosen], cache.ask(run_page.patch_of, chosen)),
    ):
        column.html(run_html.part(name) + (run_html.diff_html(drawn["text"]) if drawn else ""))


def _details(
    run: Mapping[str, Any],
    facts: RunFacts,
    values: pa.Table | None,
    patch: Mapping[str, Any] | None,
) -> None:
    """Place everything else folded, each part with its contents in its label."""
    run_id, usage, records, calls = (
        run["run_id"],
        run["model_usage"],
        run["records"],
        run["tool_calls"],
    )
    findings = facts.findings.to_pylist()

    def folded(title: str, about: str) -> Any:
        return st.expander(f"**{title}** {plain(about)}")

    if run["cost_best_usd"] is not None:
        with folded("Cost", run_html.cost_words(run)):
            st.html(run_html.facts_html(run, run_html.RUN_COST))
            if cause := run_html.cause_sentence(run):
                st.caption(plain(cause))
    if usage.num_rows:
        with folded("Tokens", run_html.token_words(run)):
            widgets.table(
                grids.grid(usage, grids.MODELS_OF_RUN),
                "Tokens and reported cost of each model of this run",
            )
    with folded("Figures", "its time, turns and tokens, and what each costs"):
        st.html(run_html.facts_html(run, run_html.RUN_CARDS))
    if values is not None and values.num_rows:
        with folded("Measured values", f"{values.num_rows:,}"):
            widgets.table(
                grids.value_grid(values),
                "Each measured value beside that of the baseline or reference",
            )
    lanes = cache.ask(session_queries.lanes, run_id)
    if lanes.num_rows:
        with st.expander(
            f"**Session** {words.session_words(lanes)}", key="session", on_change="rerun"
        ) as details:
            if details.open:
                _session(run_id, lanes)
    if calls.num_rows:
        errors = sum(filter(None, calls["errors"].to_pylist()))
        counts = plural(sum(calls["calls"].to_pylist()), "call") + (
            f", {plural(errors, 'error')}" if errors else ""
        )
        with folded("Tool calls", counts):
            widgets.table(grids.grid(calls, grids.TOOL_CALLS), "Calls and errors of each tool")
    if records.num_rows:
        with folded("Records", f"{records.num_rows:,} logs tell of this run, which counts once"):
            widgets.table(
                grids.grid(run_html.record_rows(records), grids.RECORDS),
                "Each record of this run and what it tells",
            )
    with folded("Origin", "how it ended, where its figures were read, the task’s prompt"):
        ending, origin = st.columns(2)
        ending.html(run_html.facts_html(run, run_html.RUN_ENDING))
        origin.html(run_html.facts_html(run, run_html.origin_keys(run), run["labels"]))
        if prompt := shown(run["prompt"] or "").text:
            st.code(
                prompt,
                language=None,
                height=200 if len(prompt) > SHORT_PROMPT else "content",
                wrap_lines=True,
            )
    if findings:
        names = {"error": "error", "warning": "warning", "info": "note"}
        severities = {
            name: sum(row["severity"] == severity for row in findings)
            for severity, name in names.items()
        }
        with folded(
            "Findings",
            ", ".join(plural(count, name) for name, count in severities.items() if count),
        ):
            st.markdown(summary.finding_lines(findings))
    if stated := facts.statements.num_rows + facts.file_changes.num_rows:
        with folded("Other statements", f"{stated:,} in the summary"):
            st.html(summary.statements_html(facts.statements.to_pylist()))
            if facts.file_changes.num_rows:
                rows = grids.grid(facts.file_changes, grids.FILE_CHANGES)
                widgets.table(rows, "Files changed according to the summary, with lines")
    with folded("Raw record", "JSON as ingested" + (", and the patch" if patch else "")):
        record = shown_record(run["raw"])
        widgets.cut_note(record)
        with st.container(horizontal=True):
            name = run_html.file_name_of(run_id)
            st.download_button(
                "Download the whole record", run["raw"], name, "application/json", on_click="ignore"
            )
            if patch:
                st.download_button(
                    "Download the patch",
                    patch["text"],
                    f"{short_id(run_id)}.diff",
                    "text/x-diff",
                    on_click="ignore",
                )
        st.code(record.text, language="json", height=520, wrap_lines=True)
    annotate.run_block(run)


def _session(run_id: str, lanes: pa.Table) -> None:
    """Place the session of a run along time.

    Its context, cost and tool calls, its sub-agents, and its responses.
    """
    asked = widgets.question(NO_FILTERS, BEST, run_id)
    with st.container(border=True):
        axes = words.axes(asked.session)
        axis = widgets.choice("Along", axes, "session-along") if len(axes) > 1 else next(iter(axes))
        widgets.titled(charts.session(asked, axis), "session-timeline")
    if lanes.num_rows > 1:
        with st.container(border=True):
            widgets.titled(charts.session_lanes(asked, axis), "session-lanes")
            alt = (
                "Responses, tokens, cost and tool calls of the main conversation and each sub-agent"
            )
            widgets.table(grids.grid(lanes, grids.LANES), alt)
    count = sum(lanes["responses"].to_pylist())
    label, key = f"Responses · {count:,}", "session-responses"
    with st.expander(
        label, icon=":material/table:", expanded=count <= FEW, key=key, on_change="rerun"
    ) as details:
        if details.open:
            listed = cache.ask(session_queries.timeline, run_id, LISTED)
            widgets.table(
                grids.response_grid(listed),
                "Each response with its tokens, cost, tools and whether its output count is final",
            )
            if listed.num_rows < count:
                st.caption(f"Showing the first {listed.num_rows:,} of {count:,} responses.")
