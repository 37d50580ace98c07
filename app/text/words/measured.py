"""Measured results in words, for terminal, screens and charts. Everywhere *claimed* and *measured* stand beside the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.text.formatting import human
from schemas.text import plural
from schemas.unit_names import Unit

Row = Mapping[str, Any]

VERDICT_NAMES = {
    "faster": "faster",
    "same": "same",
    "slower": "slower",
    "failed": "failed",
    "not_measured": "not measured",
    "not_comparable": "not comparable",
}
"""What people call a verdict."""

CLAIM_VERDICT_NAMES = {
    "kept": "kept",
    "over_claimed": "over-claimed",
    "under_claimed": "under-claimed",
    "wrong_sign": "wrong sign",
    "no_claim": "no claim",
}
"""What people call the comparison of a claim with the measurement."""

NAMES = VERDICT_NAMES | CLAIM_VERDICT_NAMES

VERDICT_COLUMNS = ("verdict", "reference_verdict", "claim_verdict")

BAND = "Faster and slower mean beyond ±5% of the baseline; where a ratio rests on single runs that band is a convention, not noise."
"""What verdicts mean, for notes."""


def measured(row: Row) -> str:
    """`measured 0.98× (0.95× to 1.01×)`; the verdict where there is no ratio."""
    if row["measured_speedup"] is None:
        return VERDICT_NAMES[row["verdict"]]
    ends = [human(row[key], Unit.RATIO) for key in ("measured_low", "measured_high") if row[key] is not None]
    interval = f" ({' to '.join(ends)})" if len(ends) == 2 else ""
    return f"measured {human(row['measured_speedup'], Unit.RATIO)}{interval}"


def cost_per(usd: Any, cost: Any, counted: int, judged: int) -> str:
    """`$2.50`, or `none for $7.79` where none of the runs that were judged counts; `–` where none was judged or the cost is unknown."""
    if usd is not None and judged:
        return human(usd, Unit.USD)
    return f"none for {human(cost, Unit.USD)}" if cost is not None and judged and not counted else human(None)


def overview_line(row: Row) -> str:
    """What was measured of all runs, from a row of `app.queries.measured.summary`; empty where nothing was."""
    if not row["runs_measured"]:
        return ""
    compared = row["runs_compared"]
    said = f"Measured: {plural(row['runs_measured'], 'run')}, {compared:,} against a comparable baseline"
    if compared:
        said += f": {row['runs_faster']:,} faster, {row['runs_same']:,} same, {row['runs_slower']:,} slower"
    cost = cost_per(row["cost_per_faster_usd"], row["cost_usd"], row["runs_faster"], compared)
    return f"{said}. Cost per verified speedup: {cost}"
