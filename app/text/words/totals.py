"""What two cohorts of runs cost together, in a sentence."""

from __future__ import annotations

from app.queries.comparison import CohortTotals, TwoTotals
from app.text.formatting import MINUS, human
from app.text.words.measures import sign_of
from schemas.catalogue.cost_measures import LIST
from schemas.text import plural
from schemas.units import Unit


def totals_words(found: TwoTotals) -> str:
    """The sentence, such as: 4 runs cost $2.36, +18% vs. $2.00 of 4 runs in the baseline; 2 verified speedups, 1 in the baseline."""
    before, after = found.baseline, found.candidate
    by = " at list prices" if found.measure is LIST else ""
    compared = f"{_change(found)} {_cost(before)} of {plural(before.runs, 'run')} in the baseline"
    return f"{plural(after.runs, 'run')} cost {_cost(after)}{by}{compared}{_verified(before, after)}."


def _change(found: TwoTotals) -> str:
    if found.change is None:
        return " vs."
    return f", {'+' if found.change >= 0 else MINUS}{human(abs(found.change), Unit.SHARE)} vs."


def _cost(totals: CohortTotals) -> str:
    partly = f" (known for {totals.known:,} of {totals.runs:,})" if 0 < totals.known < totals.runs else ""
    return sign_of(totals.bounds) + human(totals.cost_usd, Unit.USD) + partly


def _verified(before: CohortTotals, after: CohortTotals) -> str:
    """Empty where nothing was measured."""
    if before.verified is None and after.verified is None:
        return ""
    return f"; {_speedups(after.verified)}, {'unknown' if before.verified is None else f'{before.verified:,}'} in the baseline"


def _speedups(count: int | None) -> str:
    return "verified speedups unknown" if count is None else plural(count, "verified speedup")
