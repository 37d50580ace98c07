"""One run, as /run?run=ID: its figures, its tokens, its summary and the raw record."""

import streamlit as st

from app.charts import looks
from app.queries import claims as claim_queries
from app.queries import measured as measured_queries
from app.queries import run_ids
from app.queries import runs as run_queries
from app.screens import cache
from app.screens.parts import annotate, evidence, filter_bar, live, session, widgets
from app.text import claim_marks, grid_columns, verdict_grids
from app.text.formatting import short_id
from app.text.presentation import (
    RUN_COST,
    RUN_ENDING,
    cause_sentence,
    code_span,
    facts_html,
    file_name_of,
    origin_facts,
    pairs_html,
    plain,
    record_rows,
    run_cards,
    run_id_of,
    shown,
    shown_record,
)
from app.text.summary_html import summary_html
from app.text.words.claims import all_claims_of, headline, hidden_words
from app.text.words.measured import claim_facts, measured_facts
from schemas.text import one_line

SUMMARY_WIDTH = 820  # pixels; longer lines are hard to read

asked = run_id_of(st.query_params.get(widgets.RUN_ID))
found = cache.ask(run_ids.find, asked) if asked else None
run_id = found.run_id if found else None
if found and found.total > 1:
    st.title("Several runs", anchor=False)
    st.markdown(f"The link has the beginning of {found.total:,} ids. Choose a run:")
    for one in found.candidates:
        st.page_link("screens/run.py", label=f"{plain(one.title)} · {plain(one.run_id)}", query_params={widgets.RUN_ID: one.run_id})
    live.end_page()
run = cache.ask(run_queries.run, run_id) if run_id else None
if run is None or run_id is None:
    st.title("Run not found", anchor=False)
    st.markdown("The link may be incomplete or belong to another store.")
    st.page_link("screens/runs.py", label="See all runs", icon=":material/list:")
    live.end_page()
usage = run["model_usage"]
with st.container(horizontal=True, vertical_alignment="center", gap="small"):
    ordered = {widgets.ORDER: st.query_params.get_all(widgets.ORDER)}
    kept = widgets.filters_kept() | (ordered if ordered[widgets.ORDER] else {})
    st.page_link("screens/runs.py", label="All runs", icon=":material/list:", query_params=kept)
    widgets.neighbours(run_id, filter_bar.chosen())
st.title(plain(one_line(run["title"])), anchor=False)
st.caption(f"Run {plain(short_id(run_id))}")
if not run["is_started"]:
    st.info("This run never started: no cost, no API time, no model usage.", icon=":material/info:")
summary, facts = shown(run["result"] or ""), cache.ask(claim_queries.of_run, run_id, filter_bar.chosen())
claims, hidden = facts.claims.to_pylist(), facts.hidden_claims.to_pylist()
evidence.show(run["result"] or "", [*claims, *hidden], SUMMARY_WIDTH)
widgets.card_grid(run_cards(run))
with st.container(border=True):
    st.header("Cost", anchor=False)
    st.html(facts_html(run, RUN_COST))
    if cause := cause_sentence(run):
        st.caption(plain(cause))
if verdict := cache.ask(measured_queries.verdict_of, run_id):
    st.header("Claimed and measured", anchor=False, help="What the run claims beside what benchmarks measured of its change.")
    claimed, measured = st.columns(2)
    with claimed.container(border=True, height="stretch"):
        st.subheader("Claimed", anchor=False)
        st.html(pairs_html(claim_facts(verdict)))
    with measured.container(border=True, height="stretch"):
        st.subheader("Measured", anchor=False)
        st.html(pairs_html(measured_facts(verdict)))
    values = cache.ask(measured_queries.of_run, run_id)
    widgets.table(verdict_grids.verdict_grid(values, verdict_grids.VALUES), "Each measured value beside that of the baseline or reference")
annotate.run_block(run)
ending, origin = st.columns(2)
with ending.container(border=True, height="stretch"):
    st.header("Result", anchor=False)
    st.html(facts_html(run, RUN_ENDING))
with origin.container(border=True, height="stretch"):
    st.header("Details", anchor=False)
    st.html(facts_html(run, origin_facts(run), run["labels"]))
session.show(run_id)
if usage.num_rows:
    with st.container(border=True):
        widgets.chart("run-tokens", usage, looks(cache.models()))
        widgets.table(grid_columns.grid(usage, grid_columns.USAGE), "Tokens and reported cost of each model of this run")
if run["records"].num_rows:
    with st.container(border=True):
        st.header("Records", anchor=False, help="Several logs tell of this run. It is counted once.")
        widgets.table(grid_columns.grid(record_rows(run["records"]), grid_columns.RECORDS), "Each record of this run and what it tells")
if run["tool_calls"].num_rows:
    with st.container(border=True):
        st.header("Tool calls", anchor=False, help="Counted in the event stream of the run.")
        widgets.table(grid_columns.grid(run["tool_calls"], grid_columns.TOOL_CALLS), "Calls and errors of each tool")
record = shown_record(run["raw"])
st.header("Summary", anchor=False, help="Written by the agent at the end of the run. Damaged characters are repaired.")
with st.container(border=True):
    if claims:
        st.markdown(plain(headline(run)) or "No quantified speedup claim.")
        st.html(claim_marks.legend_html(claims), width=SUMMARY_WIDTH)
    html = summary_html(summary.text, claim_marks.marks_of(claims)) or "<p>No summary.</p>"
    st.html(f'<div style="overflow-x:auto">{html}</div>', width=SUMMARY_WIDTH)
    widgets.cut_note(summary)
if claims or hidden:
    st.header("Claims", anchor=False, help="Extracted from the summary. Not verified.")
if claims:
    widgets.table(grid_columns.claim_grid(facts.claims), "Each claim of the summary with its ratio, evidence, scope and confidence")
if hidden:
    st.caption(hidden_words(len(hidden), code_span(cache.command(all_claims_of(run_id)))))
if facts.findings.num_rows:
    st.header("Findings", anchor=False, help="Hints for review, from rules that check the record and its summary.")
    with st.container(border=True):
        st.markdown(claim_marks.finding_lines(facts.findings.to_pylist()))
stated, changed = st.columns(2)
if facts.statements.num_rows:
    with stated.container(border=True, height="stretch"):
        st.header("Other statements", anchor=False)
        st.html(claim_marks.statements_html(facts.statements.to_pylist()))
if facts.file_changes.num_rows:
    with changed.container(border=True, height="stretch"):
        st.header("Files changed (per summary)", anchor=False)
        widgets.table(
            grid_columns.grid(facts.file_changes, grid_columns.FILE_CHANGES), "Files changed according to the summary, with lines"
        )
with st.expander("Raw record", icon=":material/data_object:"):
    widgets.cut_note(record)
    st.download_button("Download the whole record", run["raw"], file_name_of(run_id), "application/json", on_click="ignore")
    st.code(record.text, language="json", height=520, wrap_lines=True)
