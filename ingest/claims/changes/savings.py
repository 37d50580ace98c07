"""What a single figure tells: `saves 12 ms per call`, `unchanged at 23.5 ms`, `1374.9M trits/sec (+23.2%)`."""

from __future__ import annotations

import re
from collections.abc import Callable

from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import CLOCK, quantities
from ingest.claims.numbers.quantity_context import Place
from ingest.claims.words.change_words import Sense
from ingest.claims.words.regex_parts import DECOR, HEDGE

_DELTA = re.compile(r"[\s*_`]*(?:(?:mean|median|avg|average|geomean|p\d\d|total|wall)\s)?\((?P<percent>[+−–-]\d[\d.]*\s?%)\)")


def _with_delta(place: Place) -> Effect | None:
    """`1374.9M trits/sec (+23.2%)`: the figure after, and its change."""
    found = place.behind(_DELTA, 24)
    if found is None or place.quantity.unit is None:
        return None
    percent = next(quantities(place.text, found.start("percent"), found.end("percent")), None)
    if percent is None:  # `(+2.3000000000000003%)`: more digits than anybody reads
        return None
    sense = Sense.RISE if percent.sign == "+" else Sense.FALL
    return Effect(place.quantity.start, found.end(), after=place.quantity, change=percent, sense=sense, word=percent.sign)


_UNMOVED = re.compile(
    r"\b(?:unchanged at|no (?:measurable |significant |observable )?(?:change|difference|improvement|regression)[^.;\n\d]{0,30}\()"
    rf"\s*{HEDGE}$",
    re.IGNORECASE,
)


def _unmoved(place: Place) -> Effect | None:
    """`unchanged at 23.5 ms`."""
    found = _UNMOVED.search(place.left) if place.quantity.unit else None
    return Effect(place.base + found.start(), place.quantity.end, place.quantity, place.quantity) if found else None


_SAVED = re.compile(
    r"[\s*_`]*(?:(?!and\b|or\b|to\b|but\b)[\w-]+\s+){0,2}?(?:saved|savings?|faster|less|fewer|shorter)\b(?! than \d)", re.IGNORECASE
)
_SAVES = re.compile(
    rf"\b(?:sav(?:es|ing|ed)|shav(?:es|ing|ed)(?: off)?|eliminates|avoids|removes)\s+{HEDGE}{DECOR}$",
    re.IGNORECASE,
)

_LACKS = re.compile(rf"\b(?:needs?|must|want|require[sd]?|short of|missing)\s+(?:to save\s+)?{HEDGE}$", re.IGNORECASE)
"""`needs 2 MB more savings`: what is not saved yet."""


def _saved(place: Place) -> Effect | None:
    """`saves 12 ms per call`, `150 ms saved`: an absolute saving told as an outcome."""
    if place.quantity.unit is None or place.quantity.unit is CLOCK or _LACKS.search(place.left):
        return None
    if behind := place.behind(_SAVED, 40):
        return Effect(place.quantity.start, behind.end(), after=place.quantity, sense=Sense.FALL, word="saved")
    if found := _SAVES.search(place.left[-40:]):
        start = place.quantity.start - len(place.left[-40:]) + found.start()
        return Effect(start, place.quantity.end, after=place.quantity, sense=Sense.FALL, word="saves")
    return None


OF_VALUES: tuple[Callable[[Place], Effect | None], ...] = (_with_delta, _unmoved, _saved)
"""What makes an effect of a single figure, in the order asked."""
