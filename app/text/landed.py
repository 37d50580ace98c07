"""Words about what landed of runs' changes, and at what cost."""

from __future__ import annotations

from app.queries.filters import Filters
from app.queries.landed import LandedMoney
from app.text.formatting import percent, usd
from app.text.html_parts import anchor, link
from schemas.text import plural


def landed_words(found: LandedMoney) -> str:
    """Return `3 changes landed, ≥ $34.18 each for all 8 runs that a checkout shows; …`."""
    runs = f"{plural(found.runs, 'run')} that a checkout shows"
    if not found.changes:
        return f"No change of the {runs} landed"
    each = f" at {usd(found.usd_per_change, found.bounds)}" if found.usd_per_change else ""
    each += " each" if each and found.changes > 1 else ""
    words = f"{plural(found.changes, 'change')} landed{each}, by the cost of all {runs}"
    if found.unknown_share:
        words += f"; {percent(found.unknown_share)} of it is of runs with unknown changes"
    if found.usd_per_percent:
        words += f"; {usd(found.usd_per_percent, found.bounds)} per landed percent"
    return words


def landed_line(found: LandedMoney | None, filters: Filters) -> str:
    """Return `landed_words` as a line of a screen, with a link; "" without a checkout."""
    if found is None:
        return ""
    runs = anchor(link("runs", filters.with_values("landed", ["landed"])), "Runs that landed")
    return f'<p class="t-cap t-line">{landed_words(found)}. {runs}</p>'
