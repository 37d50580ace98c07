"""The Share menu: a link, the page as one file, and how charts are saved."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from app.charts.images import browser, printed
from app.queries import filter_inputs as filter_urls
from app.queries.filters import Filters
from app.queries.reading import exported, read_transaction
from app.screens import cache
from app.screens.parts import widgets

SHARED = ("overview", "daily", "cost", "speedups", "tasks", "failures", "compare", "loops")
"""Keys of `app.reports.shared.SCREENS`, which no page needs to load before it is shared; a test
compares them.
"""

OPTIONS = {
    "month": "month",
    "by": "by",
    "per": "by",
    "pair": "pair",
    "show": "show",
    "known": "show",
    "tab": "show",
}
"""Key of a choice on a screen → the option of `tachograph share` for it."""


def show(what: str) -> None:
    """Place the menu of a screen, or of the run whose id it is."""
    run = st.query_params.get(widgets.RUN_ID, "") if what == "run" else ""
    view = str(st.session_state.get("view") or st.query_params.get("view", "")).lower()
    views = {("runs", "failures"): "failures", ("overview", "daily"): "daily"}
    of = run or views.get((what, view), what)
    with (
        st.container(width=86, key="box-Share"),
        st.popover("Share", icon=":material/ios_share:", key="popover-Share", width="stretch"),
        st.container(gap="xsmall", width=280, key="menu-Share"),
    ):
        address = (st.context.url or "").partition("?")[0]
        kept = {widgets.RUN_ID: run} if run else st.query_params.to_dict()
        words = urlencode(kept, doseq=True)
        st.code(f"{address}?{words}" if words else address, language=None)
        if run or of in SHARED:
            _files(of, of[:8] if run else of)
        st.segmented_control(
            "Charts save as",
            widgets.IMAGES,
            format_func=str.upper,
            key=widgets.IMAGE,
            default=widgets.IMAGES[0],
            required=True,
            help="What the camera above a chart saves: a picture with title, n and source.",
        )


def _files(of: str, name: str) -> None:
    filters = filter_urls.read_link(widgets.filters_kept()).filters
    picked = widgets.PICKED.get()  # filled when the screen below is drawn
    groups = st.query_params.get_all("groups")
    asked = (of, filters, widgets.cost_in_force().key, groups, picked)
    lacks = "" if browser() else "A PDF needs Chromium or Chrome: apt install chromium"
    st.download_button(
        "PDF, one page" if of in SHARED else "PDF",
        partial(_written, *asked, is_print=True),
        f"{name}.pdf",
        "application/pdf",
        key="share-pdf",
        icon=":material/picture_as_pdf:",
        type="tertiary",
        on_click="ignore",
        disabled=bool(lacks),
        help=lacks or None,
    )
    st.download_button(
        "HTML, one file to mail",
        partial(_written, *asked),
        f"{name}.html",
        "text/html",
        key="share-html",
        icon=":material/mail:",
        type="tertiary",
        on_click="ignore",
        help="With tables and charts, without texts of sessions: "
        "`tachograph share --with-text` has them.",
    )


def _written(
    of: str,
    filters: Filters,
    measure: str,
    groups: list[str],
    picked: Mapping[str, str],
    *,
    is_print: bool = False,
) -> bytes:
    from app.reports.exports.page import html_shared  # and every screen's texts, which few ask for
    from app.reports.shared import CHOICES, question, shared

    offered, choices = CHOICES.get(of, {}), dict[str, str]()
    for key, chosen in picked.items():
        words = offered.get(option := OPTIONS.get(key, ""))
        if words is not None and (not words or chosen in words):
            choices[option] = chosen
    with read_transaction(exported(cache.store(), filters), copy_at=1) as transaction:
        made = shared(of, question(transaction, filters, measure, "", groups, choices))
    return printed(html_shared(made, is_print=True)) if is_print else html_shared(made)
