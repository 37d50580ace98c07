"""One claim of a run in its context: the part of the summary around it, its sentence highlighted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app.text.claim_marks import around
from app.text.presentation import plain
from app.text.summary_html import summary_html
from app.text.words.claims import claim_title

CLAIM_NO = "claim"
"""The parameter of the address that names a claim of the run, by its number."""


def show(summary: str, claims: Sequence[Mapping[str, Any]], width: int) -> None:
    """The claim that the address names, at the top of its run's page; nothing where it names none."""
    asked = st.query_params.get(CLAIM_NO)
    claim = next((row for row in claims if str(row["claim_no"]) == asked), None)
    if claim is None:
        return
    text, marks = around(summary, claim)
    with st.container(border=True):
        st.header("Claim in the summary", anchor=False, help="The sentence of the claim is highlighted. The whole summary is below.")
        st.caption(plain(claim_title(claim)))
        st.html(f'<div style="overflow-x:auto">{summary_html(text, marks)}</div>', width=width)
