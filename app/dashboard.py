"""The dashboard's entry, which `app.server` has Streamlit run; the store's location is in TACHOGRAPH_DB."""

from contextlib import nullcontext
from pathlib import Path

import streamlit as st

from app.screens import cache, sign_in_page
from app.screens.parts import evidence, filter_bar, live, widgets

ASSETS = Path(__file__).parent / "assets"

st.set_page_config(page_title="Tachograph", page_icon=str(ASSETS / "icon.svg"), layout="wide")
st.html(ASSETS / "dashboard.css")
st.logo(str(ASSETS / "wordmark.svg"), size="large")
with widgets.told_errors():
    sign_in_page.require_sign_in()
filter_bar.follow_address()

SESSIONS = st.Page(
    "screens/sessions.py", title="Sessions", icon=":material/forum:", help="Responses, tokens and cost of sessions along time"
)
OF_RUNS = (
    st.Page("screens/overview.py", title="Overview", icon=":material/speed:", default=True, help="Cost, time and outcome of all runs"),
    st.Page("screens/runs.py", title="Runs", icon=":material/list:", help="List of all runs"),
    SESSIONS,
    st.Page("screens/cost.py", title="Cost", icon=":material/payments:", help="Spending, list prices and cache savings"),
    st.Page("screens/duration.py", title="Duration", icon=":material/timer:", help="How long runs take"),
    st.Page("screens/claims.py", title="Claims", icon=":material/campaign:", help="Performance claims of agents and their evidence"),
    st.Page("screens/verdicts.py", title="Verdicts", icon=":material/balance:", help="What was claimed beside what was measured"),
    st.Page("screens/compare.py", title="Compare", icon=":material/compare_arrows:", help="Two groups of runs side by side"),
    st.Page("screens/quality.py", title="Quality", icon=":material/fact_check:", help="Findings, data completeness and rejected records"),
    st.Page("screens/reports.py", title="Reports", icon=":material/summarize:", help="Cost reports to view and download"),
)
"""Screens about many runs, below the filter bar."""

RUN = st.Page("screens/run.py", title="Run", visibility="hidden")  # opened from a link or the table, as /run?run=ID
UPLOAD = st.Page("screens/upload.py", title="Upload", icon=":material/upload_file:", help="Add logs to the store")
OTHERS = (RUN,) if cache.is_read_only() else (RUN, UPLOAD)

page = st.navigation([*OF_RUNS, *OTHERS], position="top")
for left in (widgets.RUN_ID, evidence.CLAIM_NO):
    if page is not RUN and left in st.query_params:  # left behind by the way back from a run
        del st.query_params[left]
with nullcontext() if page is UPLOAD else live.following(), widgets.told_errors(), cache.request():
    if page in OF_RUNS:
        filter_bar.show(by_responses=page is SESSIONS)
    page.run()
sign_in_page.offer_sign_out()
