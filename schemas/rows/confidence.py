"""The confidence from which claims are shown.

Separate from the rows, so that help texts need no pydantic.
"""

from __future__ import annotations

SHOWN_FROM = 0.8
"""Claims of lower confidence are stored but hidden: they count for no figure, and only a list that
asks for less shows them.
"""


def is_shown(confidence: float | None, least: float = SHOWN_FROM) -> bool:
    """Return whether a claim of this confidence is shown and counted.

    A claim without a number has no confidence, and is always shown.
    """
    return confidence is None or confidence >= least
