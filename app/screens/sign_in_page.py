"""The sign-in page, which stops all who are not on the list if a sign-in is required."""

from __future__ import annotations

import os
from pathlib import Path

import streamlit as st

from app.screens import cache
from app.server.access import is_allowed, read_guests
from app.text.html_parts import plain


def require_sign_in() -> None:
    """End the screen for visitors who are not signed in and allowed.

    Raises UsageError if the settings have become invalid.
    """
    path = os.environ.get("TACHOGRAPH_SIGN_IN")
    if not path:
        return
    may_enter = False
    try:
        guests = read_guests(Path(path))
        may_enter = bool(st.user.get("is_logged_in", False)) and is_allowed(
            st.user.to_dict(), guests
        )
    finally:
        if not may_enter:
            cache.let_upload(allowed=False)
    if not st.user.get("is_logged_in", False):
        _ask()
    elif not may_enter:
        _refuse(str(st.user.get("email") or "an account without an address"))


def offer_sign_out() -> None:
    """Show who is signed in and a sign-out; nothing without a sign-in."""
    if os.environ.get("TACHOGRAPH_SIGN_IN"):
        with st.container(
            horizontal=True, horizontal_alignment="right", vertical_alignment="center"
        ):
            st.caption(plain(f"Signed in as {st.user.get('email')}"), width="content")
            st.button("Sign out", type="tertiary", on_click=st.logout)


def _ask() -> None:
    with st.container(border=True):
        st.header("Sign in to see the runs", anchor=False)
        st.markdown("Access is restricted.")
        st.button("Sign in", type="primary", on_click=st.login)
    st.stop()


def _refuse(who: str) -> None:
    with st.container(border=True):
        st.header("Access denied", anchor=False)
        st.markdown(
            plain(
                f"You are signed in as {who}, who has no access to this dashboard. Ask its "
                "owner, or sign in with another account."
            )
        )
        st.button("Sign out", on_click=st.logout)
    st.stop()
