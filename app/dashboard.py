"""The dashboard's entry point, which `app.server` passes to Streamlit.

TACHOGRAPH_DB is the store's location.
"""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Literal

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from app.screens import cache, sign_in_page
from app.screens.parts import filter_bar, widgets
from app.server.guard import MENUS
from app.text import html_parts

ASSETS = Path(__file__).parent / "assets"

st.set_page_config(page_title="Tachograph", page_icon=str(ASSETS / "icon.svg"), layout="wide")
st.html(ASSETS / "dashboard.css")
st.html(MENUS, unsafe_allow_javascript=True)
st.logo(str(ASSETS / "wordmark.svg"), size="large")
with widgets.told_errors():
    sign_in_page.require_sign_in()
filter_bar.follow_address()
html_parts.KEPT.set({})
widgets.DOUBTS.set(())
widgets.PICKED.set({})

holds = cache.contents()


def screen(
    file: str, title: str, icon: str, question: str, *, shown: bool = True, default: bool = False
) -> StreamlitPage:
    """Return a screen.

    Without data it is only hidden from the menu, so that links to it still work.
    """
    visibility: Literal["visible", "hidden"] = "visible" if shown or default else "hidden"
    path = (
        "first" if default else file
    )  # the default page is at the root, and keeps a path of its own from others
    icon = f":material/{icon}:"
    return st.Page(
        f"screens/{file}.py",
        title=title,
        icon=icon,
        url_path=path,
        help=question,
        default=default,
        visibility=visibility,
    )


OVERVIEW = screen("overview", "Overview", "speed", "Which agent was worth it?", default=True)
RUNS = screen(
    "runs", "Runs", "list", "Which runs are these, and why did some fail?", shown=holds.runs > 0
)
TASKS = screen("tasks", "Tasks", "grid_on", "Who solved what?", shown=holds.tasks > 0)
SPEEDUPS = screen(
    "speedups",
    "Speedups",
    "balance",
    "Were the claims true?",
    shown=holds.claims + holds.measured > 0,
)
COMPARE = screen(
    "compare", "Compare", "compare_arrows", "What differs on the same tasks?", shown=holds.runs > 1
)
COST = screen(
    "cost", "Cost & time", "payments", "Where did money and hours go?", shown=holds.runs > 0
)
LOOPS = screen(
    "loops", "Loops", "autorenew", "What did each improvement cost?", shown=holds.loops > 0
)
REPORTS = screen("reports", "Reports", "summarize", "What do I hand on?", shown=holds.runs > 0)
DATA = screen(
    "data", "Data", "fact_check", "What was read, what is missing, and how do I add to it?"
)
RUN = st.Page(
    "screens/run.py", title="Run", visibility="hidden"
)  # opened from a link or a list, as /run?run=ID

OF_RUNS = (OVERVIEW, RUNS, TASKS, SPEEDUPS, COMPARE, COST, REPORTS)


def moved(path: str, to: StreamlitPage, view: str = "") -> StreamlitPage:
    """Return an address that redirects with its filters.

    One of earlier versions, or what people would type.
    """

    def lead_on() -> None:
        st.switch_page(
            to, query_params={**widgets.filters_kept(), **({"view": [view]} if view else {})}
        )

    lead: Callable[[], None] = lead_on
    return st.Page(
        lead, title=path.capitalize(), url_path=path, visibility="hidden"
    )  # a page has no title in a process that reads files


OTHER_ADDRESSES = (
    moved("overview", OVERVIEW),
    moved("failures", RUNS, "Failures"),
    moved("sources", DATA),
    moved("claims", SPEEDUPS),
    moved("verdicts", SPEEDUPS),
    moved("duration", COST, "Time"),
    moved("sessions", COST, "Sessions"),
    moved("quality", DATA),
    moved("upload", DATA, "Upload"),
)

page = st.navigation([*OF_RUNS[:-1], LOOPS, REPORTS, DATA, RUN, *OTHER_ADDRESSES], position="top")
for left in (widgets.RUN_ID, widgets.CLAIM_NO):
    if page is not RUN and left in st.query_params:  # left behind by the way back from a run
        del st.query_params[left]
if page is not LOOPS and widgets.LOOP in st.query_params:
    del st.query_params[widgets.LOOP]
view = str(
    st.session_state.get("view") or st.query_params.get("view", "")
).lower()  # a click writes it as it is called
is_upload = page is DATA and view == "upload"
if not is_upload:
    cache.let_upload(allowed=False)
with (
    nullcontext() if is_upload else widgets.following(),
    widgets.told_errors(),
    cache.request(),
):
    if page in OF_RUNS or (page is DATA and not is_upload and holds.runs):
        forced = str(st.session_state.get(widgets.FORCED_BY, "")) if page is COMPARE else ""
        filter_bar.show(
            page.url_path or "overview",
            by_responses=page is COST and view == "sessions",
            of_money=page in (OVERVIEW, COST, REPORTS),
            may_be_empty=page is OVERVIEW,
            forced_cost=forced,
        )
    elif page is LOOPS and holds.loops:
        filter_bar.show_share("loops")
    page.run()
sign_in_page.offer_sign_out()
