"""Keeps a screen at what the store holds: looks twice a second whether the store changed, and draws the page again only then.

A look asks the file system for the marks of the store's file. Filters, tabs, open rows and the place on the page stay as they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import datetime
from typing import NoReturn
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from app.queries.filter_inputs import LINK_WORDS
from app.screens import cache

LOOK_SECONDS = float(os.environ.get("TACHOGRAPH_LOOK_SECONDS") or 0.5)
"""Seconds from look to look; 0 for none."""

MOST_WAITS = 10
"""Looks for which a page waits until whoever writes to the store is done with it."""

_DRAWN, _WAITED = "live-drawn", "live-waited"

_IS_FOLLOWING: ContextVar[bool] = ContextVar("is_following", default=False)


class _Ended(BaseException):
    """Nothing more of the page is drawn."""


def end_page() -> NoReturn:
    """Draw nothing more of the page but the line that follows the store: after `st.stop`, Streamlit would draw nothing at all."""
    if _IS_FOLLOWING.get():
        raise _Ended
    st.stop()


@contextmanager
def following() -> Iterator[None]:
    """Draw a page in the block, then say when the store last changed: also on a page that ends early."""
    if not LOOK_SECONDS or not (marks := cache.marks()):
        yield
        return
    st.session_state[_DRAWN] = marks
    token = _IS_FOLLOWING.set(True)
    try:
        with suppress(_Ended):
            yield
    finally:
        _IS_FOLLOWING.reset(token)
    _place()


def _place() -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="small", key="live"):
        _look()
        if cache.contents().runs:
            kept = {word: st.query_params.get_all(word) for word in st.query_params if word in LINK_WORDS}
            st.page_link("screens/reports.py", label="Report of these runs (HTML, PDF, CSV)", icon=":material/download:", query_params=kept)


@st.fragment(run_every=LOOK_SECONDS or None)
def _look() -> None:
    drawn = st.session_state[_DRAWN]
    has_changed = cache.marks() != drawn
    if has_changed and not is_ticked() and not _is_written():
        st.rerun()
    waits = "new runs are ready" if has_changed else "follows the store"
    st.caption(f"{_updated(drawn[0])} · {waits}", width="content")


def _updated(modified_ns: int) -> str:
    """When the store that is shown was written: the time of a change of today, else the day; nothing of a store that is not there yet."""
    zone = _zone()
    at, now = datetime.fromtimestamp(modified_ns / 1e9, zone), datetime.now(zone)
    return f"Updated {at:%H:%M:%S}" if at.date() == now.date() else f"Updated {at:%Y-%m-%d}" if modified_ns else "No store yet"


def _is_written() -> bool:
    """Whether somebody is about to finish a write, for which it pays to wait."""
    waited = st.session_state.get(_WAITED, 0)
    is_written = cache.is_written() and waited < MOST_WAITS
    st.session_state[_WAITED] = waited + 1 if is_written else 0
    return is_written


def is_ticked() -> bool:
    """Whether rows of a list are ticked: new runs would move others under the ticks."""
    grids = (
        value.get("selection") for key, value in st.session_state.items() if str(key).startswith("runs-") and isinstance(value, Mapping)
    )
    return any(selection and selection.get("rows") for selection in grids)


def _zone() -> ZoneInfo:
    """The visitor's time zone."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")
