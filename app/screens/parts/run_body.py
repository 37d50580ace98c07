"""The page of a run: its result, or why it was dear; everything else is folded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import streamlit as st

from app.charts import registry as charts
from app.queries import Row, run_money, run_page
from app.queries import claims as claim_queries
from app.queries import loops as loop_queries
from app.queries import measured as measured_queries
from app.queries import runs as run_queries
from app.queries import sessions as session_queries
from app.queries.claims import RunFacts
from app.queries.filters import NO_FILTERS
from app.queries.run_money import RunMoney
from app.screens import cache
from app.screens.parts import annotate, filter_bar, widgets
from app.text import grids, html_parts, loop_html, run_html, summary
from app.text import run_money as money_words
from app.text import usage as words
from app.text.claims import all_claims_of, claim_title, hidden_words
from app.text.formatting import short, short_id
from app.text.html_parts import code_span, plain, shown, shown_record
from schemas.catalogue.cost_measures import BEST
from schemas.text import join_known, plural
from schemas.units import Unit

SUMMARY_WIDTH = 820  # pixels; longer lines are hard to read
SHORT_PROMPT = 600

LISTED = 10_000
"""Responses listed."""


def show_run(run_id: str, *, alone: bool = False) -> None:
    """Place the run below its title: its result if it claims or was measured, else why it was dear.

    `alone`: it is the store's only run, with a sentence as heading.
    """
    run = cache.ask(run_queries.run, run_id)
    if run is None:
        return
    facts = cache.ask(claim_queries.of_run, run_id, filter_bar.chosen())
    verdict = cache.ask(measured_queries.verdict_of, run_id)
    money = cache.ask(run_money.money_of_run, run_id)
    answered = cache.ask(session_queries.timeline, run_id)
    has_result = verdict is not None or run["claimed_speedup"] is not None
    _uncounted(run)
    head = f'<h1 class="t-h1">{html_parts.text(run["title"])}</h1>'
    if alone or not has_result:
        said = run_html.only_run(run, verdict) if alone else money_words.why_dear(run, money)
        head = html_parts.heading(said)
    head += run_html.header_html(run, answered.num_rows, has_title=has_result or alone)
    head += run_html.failure_html(run)
    if has_result:
        head += run_html.strip_html(run, verdict) + run_html.warning_html(run, verdict)
    else:
        head += money_words.strip(run, money, answered)
    st.html(head + _loops_of(run_id))
    _asked_claim(run, facts)
    patch = cache.ask(run_page.patch_of, run_id)
    if has_result:
        _result(run, facts, verdict, patch, alone=alone)
    else:
        _money(run, money, answered)
    if alone:
        commands = {
            "results": cache.command("ingest RESULTS"),
            "runs": cache.command("ingest ~/.claude/projects"),
        }
        st.html(
            run_html.more_html(
                commands,
                has_claim=run["claimed_speedup"] is not None,
                has_patch=patch is not None,
                is_measured=verdict is not None,
            )
        )
    with st.container(gap="xsmall"):
        if has_result:
            about = run_html.cost_basis(run)
            with _lazily("Where the money went", about, "money") as fold:
                if fold.open:
                    _money(run, money, answered)
        _session(run_id)
        _tool_calls(run["tool_calls"])
        more = _more_words(run, facts, verdict, patch)
        if more or not has_result:
            about = "what it says it did, what it changed, what was measured"
            with _lazily("Result", more if has_result else about, "result") as fold:
                if fold.open and not has_result:
                    _result(run, facts, verdict, patch, alone=alone)
                if fold.open:
                    _more_of_result(run, facts, verdict, patch)
        _origin(run)
        _record(run, facts, patch)


def _uncounted(run: Row) -> None:
    """Place why the run is not counted, if so."""
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


def _lazily(title: str, about: str, key: str) -> Any:
    """Place a fold with its contents in its label; `open` says whether they are wanted."""
    return st.expander(f"**{title}** {plain(about)}", key=key, on_change="rerun")


def _asked_claim(run: Row, facts: RunFacts) -> None:
    """Place the claim that the link asks for, within the sentence around it."""
    asked = st.query_params.get(widgets.CLAIM_NO)
    claims = (*facts.claims.to_pylist(), *facts.hidden_claims.to_pylist())
    if claim := next((row for row in claims if str(row["claim_no"]) == asked), None):
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


def _money(run: Row, money: RunMoney, answered: pa.Table) -> None:
    """Place where the money went, and the turning points of a run with responses."""
    spent, along = st.columns([1.36, 1], gap="medium")
    spent.html(run_html.part("Where the money went") + money_words.money_html(run, money))
    with along:
        if answered.num_rows:
            question = widgets.question(NO_FILTERS, BEST, run["run_id"])
            widgets.titled(charts.session(question), "session-timeline")
        elif run["total_tokens"]:
            command = cache.command("ingest ~/.claude/projects")
            said = money_words.totals_only(run, code_span(command))
            st.html(run_html.part("Turning points"))
            st.caption(said)
    if answered.num_rows:
        st.html(run_html.part("Turning points") + money_words.turning_html(answered))


def _result(
    run: Row,
    facts: RunFacts,
    verdict: Row | None,
    patch: Row | None,
    *,
    alone: bool,
) -> None:
    """Place what the run claims and says, what it changed, and what was measured."""
    claims, hidden = facts.claims.to_pylist(), facts.hidden_claims.to_pylist()
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
        files = cache.ask(run_page.patch_files_of, run["run_id"])
        files = files if files.num_rows else facts.file_changes
        if not alone or patch or files.num_rows:
            _changes(run, patch, files)
        if verdict:
            values = cache.ask(measured_queries.of_run, run["run_id"]).to_pylist()
            about = run_html.measured_about(verdict, values)
            measured = run_html.measured_html(run, verdict, values)
            st.html(run_html.part("What was measured", about) + measured)
        elif command := run_page.measure_command(run, patch, cache.location()):
            st.html(run_html.part("Not measured yet"))
            st.caption(f"{run_html.MEASURE_IT}:")
            st.code(command, language=None, wrap_lines=True)


def _more_words(
    run: Row,
    facts: RunFacts,
    verdict: Row | None,
    patch: Row | None,
) -> str:
    """Return `63 measured values, 2 other patches, 4 other statements`, "" for none."""
    counts = {
        "measured value": verdict["values_measured"] if verdict else 0,
        "other patch": len(cache.ask(run_page.patched_beside, run["run_id"])) if patch else 0,
        "other statement": facts.statements.num_rows + facts.file_changes.num_rows,
    }
    return ", ".join(plural(count, name) for name, count in counts.items() if count)


def _more_of_result(
    run: Row,
    facts: RunFacts,
    verdict: Row | None,
    patch: Row | None,
) -> None:
    """Place every measured value, the patches of other runs, and what else the summary states."""
    values = cache.ask(measured_queries.of_run, run["run_id"]) if verdict else None
    if values is not None and values.num_rows:
        widgets.table(
            grids.value_grid(values),
            "Each measured value beside that of the baseline or reference",
        )
    if patch and (others := cache.ask(run_page.patched_beside, run["run_id"])):
        _side_by_side(run, patch, others)
    if facts.statements.num_rows + facts.file_changes.num_rows:
        st.html(
            run_html.part("Other statements")
            + summary.statements_html(facts.statements.to_pylist())
        )
        if facts.file_changes.num_rows:
            rows = grids.grid(facts.file_changes, grids.FILE_CHANGES)
            widgets.table(rows, "Files changed according to the summary, with lines")


def _loops_of(run_id: str) -> str:
    """Return links to the loops that the run ran."""
    if not cache.contents().loops:
        return ""
    return loop_html.ran_html(cache.ask(loop_queries.loops), run_id, filter_bar.chosen())


def _changes(run: Row, patch: Row | None, files: pa.Table) -> None:
    """Place the patch, or the files known to have changed."""
    base = f"from {run['base_commit'][:8]}" if run["base_commit"] else ""
    cut = (
        f"the first part of {short(patch['bytes'], Unit.BYTES)}"
        if patch and patch["is_cut"]
        else ""
    )
    about = join_known(" · ", patch["file_name"] if patch else "", base, cut)
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


def _side_by_side(run: Row, patch: Row, others: Sequence[Row]) -> None:
    """Place the patch beside that of another run of the same task, if one is chosen."""
    names = {row["run_id"]: run_html.patch_name(row) for row in others}
    chosen = st.selectbox(
        f"Patches of {plural(len(others), 'other run')} of the same task",
        list(names),
        None,
        format_func=names.__getitem__,
        key="other-patch",
        placeholder="Choose one to see it beside this one",
    )
    if chosen is None:
        return
    mine, theirs = st.columns(2, gap="small")
    for column, name, drawn in (
        (mine, f"{run_html.patch_name(run)}, this run", patch),
        (theirs, names[chosen], cache.ask(run_page.patch_of, chosen)),
    ):
        column.html(run_html.part(name) + (run_html.diff_html(drawn["text"]) if drawn else ""))


def _session(run_id: str) -> None:
    """Place the lanes and the responses of the session of a run, folded."""
    lanes = cache.ask(session_queries.lanes, run_id)
    if not lanes.num_rows:
        return
    with _lazily("Session", words.session_words(lanes), "session") as fold:
        if not fold.open:
            return
        if lanes.num_rows > 1:
            question = widgets.question(NO_FILTERS, BEST, run_id)
            widgets.titled(charts.session_lanes(question), "session-lanes")
            alt = (
                "Responses, tokens, cost and tool calls of the main conversation and each sub-agent"
            )
            widgets.table(grids.grid(lanes, grids.LANES), alt)
        listed = cache.ask(session_queries.timeline, run_id)
        widgets.table(
            grids.response_grid(listed.slice(0, LISTED)),
            "Each response with its tokens, cost, tools and whether its output count is final",
        )
        if listed.num_rows > LISTED:
            st.caption(f"Showing the first {LISTED:,} of {listed.num_rows:,} responses.")


def _tool_calls(calls: pa.Table) -> None:
    """Place the tools that the run called, folded."""
    if calls.num_rows:
        with st.expander(f"**Tool calls** {plain(run_html.calls_words(calls.to_pylist()))}"):
            widgets.table(grids.grid(calls, grids.TOOL_CALLS), "Calls and errors of each tool")


def _origin(run: Row) -> None:
    """Place how the run ended, where its figures were read, and its models, folded."""
    with st.expander("**Origin** where each figure was read"):
        ending, origin = st.columns(2)
        ending.html(
            run_html.facts_html(run, (*run_html.RUN_ENDING, *run_html.RUN_COST))
            + f'<p class="t-cap">{html_parts.text(run_html.cause_sentence(run))}</p>'
        )
        origin.html(run_html.facts_html(run, run_html.origin_keys(run), run["labels"]))
        st.html(run_html.facts_html(run, run_html.RUN_CARDS[1:]))
        if run["model_usage"].num_rows:
            widgets.table(
                grids.grid(run["model_usage"], grids.MODELS_OF_RUN),
                "Tokens and reported cost of each model of this run",
            )
        if run["records"].num_rows:
            widgets.table(
                grids.grid(run_html.record_rows(run["records"]), grids.RECORDS),
                "Each record of this run and what it tells",
            )
        if prompt := shown(run["prompt"] or "").text:
            st.code(
                prompt,
                language=None,
                height=200 if len(prompt) > SHORT_PROMPT else "content",
                wrap_lines=True,
            )


def _record(run: Row, facts: RunFacts, patch: Row | None) -> None:
    """Place the record as it was ingested, its findings, and what people say of it, folded."""
    findings = facts.findings.to_pylist()
    is_said = bool(run["note"] or run["starred"] or run["excluded"])
    about = "JSON as ingested, labels, notes"
    about += f", {plural(len(findings), 'finding')}" if findings else ""
    with st.expander(f"**Record and notes** {plain(about)}", expanded=is_said):
        annotate.run_block(run)
        if findings:
            st.markdown(summary.finding_lines(findings))
        record = shown_record(run["raw"])
        widgets.cut_note(record)
        with st.container(horizontal=True):
            name = run_html.file_name_of(run["run_id"])
            st.download_button(
                "Download the whole record", run["raw"], name, "application/json", on_click="ignore"
            )
            if patch:
                st.download_button(
                    "Download the patch",
                    patch["text"],
                    f"{short_id(run['run_id'])}.diff",
                    "text/x-diff",
                    on_click="ignore",
                )
        st.code(record.text, language="json", height=520, wrap_lines=True)
