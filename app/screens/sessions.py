"""Usage of sessions: along time, in blocks of five hours, and session by session."""

import streamlit as st

from app.charts import looks
from app.charts.periods import is_sparse
from app.charts.usage import bars
from app.queries.usage import sessions as session_queries
from app.queries.usage.along import PERIODS, along
from app.queries.usage.totals import Request, usage
from app.screens import cache
from app.screens.parts import filter_bar, live, widgets
from app.text import usage_grids
from app.text.presentation import plain
from app.text.words import usage as words
from schemas.catalogue.usage import BLOCK, USAGE_DIMENSIONS

LISTED = 1_000

st.title("Sessions", anchor=False)
st.caption("Billed responses of models, each at its own time, from the transcripts that agents keep. Times are UTC.")
filters, page = filter_bar.chosen(), st.context.theme.type
listed = cache.ask(session_queries.sessions, filters, LISTED)
if not listed.num_rows:
    is_empty = not cache.ask(session_queries.has_responses)
    st.info(words.NO_RESPONSES if is_empty else words.NOTHING_MATCHES, icon=":material/info:")
    if is_empty:
        st.markdown(words.READ_SESSIONS)
        st.code(cache.command("ingest"), language=None)
    live.end_page()
used = cache.ask(usage, Request(filters, (BLOCK,)), cache.this_minute())
[total] = used.total.to_pylist()
widgets.card_grid(usage_grids.usage_cards(used))

with st.container(border=True):
    with st.container(horizontal=True, gap="small"):
        by = widgets.choice("Per", {key: USAGE_DIMENSIONS[key].label for key in PERIODS}, "usage-per")
        choices = words.choices(total)
        shown = choices[widgets.choice("Show", {key: one.label for key, one in choices.items()}, "usage-show")]
    found = cache.ask(along, filters, by)
    note = words.along_note(found, is_sparse=is_sparse(words.periods(found)))
    widgets.drawing(words.along_finding(found, shown), words.OWN_PERIOD, bars(found, shown, looks(cache.models()), page), "usage", note)
if said := " ".join(words.limits(used)):
    st.caption(f":material/info: {plain(said)}")

if active := words.active_row(used):
    st.header("Active block", anchor=False, help=words.BLOCKS)
    widgets.card_grid(usage_grids.active_cards(active))
st.header("All sessions", anchor=False, help="The latest first. Click a row to open its run.")
alt = "Sessions with tokens, cost, peak of the context and tool calls"
if widgets.is_phone():
    widgets.compact_run_table(usage_grids.session_grid(listed, usage_grids.COMPACT_SESSIONS), listed, "sessions", alt)
else:
    widgets.run_table(usage_grids.session_grid(listed), listed, "sessions", alt)
if note := words.listed(listed):
    st.caption(note)
st.header("Blocks of five hours", anchor=False, help=words.BLOCKS)
widgets.table(usage_grids.block_grid(used.table), "Blocks of five hours with responses, tokens, cost and burn rate, the latest first")
