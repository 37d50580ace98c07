"""Factors that no word of comparison stands beside: `gave 1.6x on q64`, `(33× for that stage)`, `decode 1.03×`.

But for the first they are claims only in a text whose title is about speed; `metrics` sees to that.
"""

from __future__ import annotations

import re

from ingest.claims.changes.coordinated import APPLIED
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Kind
from ingest.claims.numbers.quantity_context import Place
from ingest.claims.words.change_words import UNNAMED, Sense
from ingest.claims.words.regex_parts import DECOR, HEDGE

_GAVE = re.compile(rf"\b(?:gave|gives?|got|yield(?:s|ed)?|achiev(?:es|ed)|delivers?|reach(?:es|ed))\s+(?:an?\s+)?{HEDGE}$", re.IGNORECASE)


def given(place: Place) -> Effect | None:
    """`memoising it gave 1.6x on q64`."""
    found = _GAVE.search(place.left) if place.quantity.kind is Kind.TIMES and place.behind(APPLIED) else None
    return place.effect(place.before, place.quantity.end, Sense.GAIN, "gave") if found else None


_OPENS = re.compile(rf"[\w`*]\s\({HEDGE}$")
_BESIDE = re.compile(
    rf"(?:^|[\s(,;:—–-])(?:[A-Z][\w/.-]{{1,20}}|prefill|decod(?:e|ing)|encod(?:e|ing)|generation|inference)\s{HEDGE}{DECOR}$"
)
_ENDS = re.compile(r"[*_`]*(?:[,;)](?!\d)|\.?[ \t]*$|\s(?:on|at|with|for|in|across|over|@)\s|\s[A-Za-z]{1,3}=)", re.MULTILINE)


def bracketed(place: Place) -> Effect | None:
    """`the blocks stay on the card (33× for that stage)`, `prefill 2.1×, decode 1.03×`."""
    found = place.quantity.kind is Kind.TIMES and _OPENS.search(place.left) and place.behind(APPLIED)
    found = found or (
        place.quantity.kind is Kind.TIMES
        and place.text[place.quantity.start] not in "x×"
        and _BESIDE.search(place.left)
        and place.behind(_ENDS)
    )
    return place.effect(place.before, place.quantity.end, Sense.GAIN, UNNAMED) if found else None


def bare(place: Place) -> Effect | None:
    """A factor alone, `1.4x on long inputs`: a claim in a text about speed only, as its word tells."""
    if place.quantity.kind is not Kind.TIMES or place.quantity.high <= 1.005 or place.text[place.quantity.end - 1] not in "xX×0123456789":
        return None
    stands_alone = not _COUNTS.search(place.left) and place.behind(_ENDS)
    return place.effect(place.before, place.quantity.end, Sense.GAIN, UNNAMED) if stands_alone else None


_COUNTS = re.compile(
    r"(?:[x×],?\s(?:and\s)?|\b(?:called|timed|built|ran|run|repeated|done|executed|invoked|burst|retr(?:y|ied)|fan-?out|up to|by|zoom"
    r"|scale[sd]?|points|stacked|loaded|tried)"
    rf"\s|(?<!speedup )factor:\W{{0,3}}){HEDGE}{DECOR}$",
    re.IGNORECASE,
)
