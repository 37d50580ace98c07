"""The choice by which rule results are judged: strictly, or by a benchmark's own rule."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.queries import rules
from app.queries.filters import Filters
from app.queries.rules import OwnRule
from app.screens import cache
from app.screens.parts import widgets
from schemas.catalogue.cost_measures import CostMeasure

STRICT, JUDGED = "strict", "judged-by"


def studies(filters: Filters) -> list[str]:
    """Return the benchmarks with a rule of their own; none with filters, which it disregards."""
    return [] if filters else cache.ask(rules.studies)


def own_rule(studies: Sequence[str], measure: CostMeasure) -> OwnRule | None:
    """Return the chosen rule of a benchmark; None if judged strictly."""
    return cache.ask(rules.own_rule, judged_by(), measure) if judged_by() in studies else None


def judged_by() -> str:
    """Return STRICT, or the benchmark whose rule is chosen."""
    return str(st.session_state.get(JUDGED) or st.query_params.get(JUDGED) or STRICT)


def choose(studies: Sequence[str]) -> None:
    """Place the choice."""
    st.html('<span class="t-n">Judged by</span>', width="content")
    options = {STRICT: "Strict"} | {study: f"{study}'s own rule" for study in studies}
    widgets.choice("Judged by", options, JUDGED, label_visibility="collapsed")
