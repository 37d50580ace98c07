"""Which claims are shown: those with enough confidence. Apart from the rows, so that help texts need no pydantic."""

from __future__ import annotations

SHOWN_FROM = 0.8
"""Claims of less confidence are kept, but hidden: they count for no figure, and only a list that asks for less shows them."""


def is_shown(confidence: float | None, least: float = SHOWN_FROM) -> bool:
    """Whether a claim of this confidence is shown and counted. A claim without a number has no confidence, and is."""
    return confidence is None or confidence >= least
