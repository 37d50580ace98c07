"""Other ways to write the labelled texts that leave every claim as it is.

Arrows, units, signs, bullets and words of the same meaning.

An extractor that knows `→` and not `=>`, or `~8 s` and not `roughly 8 s`, has learnt texts and no
language.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

from tests.labelled.texts import Label, LabelledText

Replacement = str | Callable[[re.Match[str]], str]


class Variant(NamedTuple):
    """What is written otherwise.

    Every match of the pattern becomes the replacement, as in `re.sub`.
    """

    name: str
    pattern: str
    replacement: Replacement


def _like(word: str) -> Callable[[re.Match[str]], str]:
    """The word, with a capital where the one it stands for had one."""
    return lambda match: word.capitalize() if match[0][0].isupper() else word


_ARROW_BEFORE_FIGURE = r"(?<=[\w%)]) *(?:→|->) *(?=[~\d$<])"

VARIANTS = (
    Variant("arrow of two characters", "→", "->"),
    Variant("arrow of three characters", "→", "-->"),
    Variant("double arrow", r"→|->(?=\s*[~\d])", "=>"),
    Variant("heavy arrow", "→", "➔"),
    Variant("long arrow", "→", "⟶"),
    Variant("arrow without blanks", _ARROW_BEFORE_FIGURE, "→"),
    Variant("milliseconds in full", r"(?<=\d) ?ms\b", " milliseconds"),
    Variant("milliseconds with a blank", r"(?<=\d)ms\b", " ms"),
    Variant("msec", r"(?<=\d) ?ms\b", "msec"),
    Variant("seconds in full", r"(?<=\d) ?s\b", " seconds"),
    Variant("secs", r"(?<=\d) ?s\b", " secs"),
    Variant("megabytes in full", r"(?<=\d) ?MB\b", " megabytes"),
    Variant("bytes with a blank", r"(?<=\d)([GMK]B)\b", r" \1"),
    Variant("no separators of thousands", r"(?<=\d),(?=\d{3}\b)", ""),
    Variant("no-break spaces", r"(?<=\d) (?=[a-zA-Z])", "\u00a0"),
    Variant("times sign", r"(?<=\d)x\b(?! ?\d)", "×"),
    Variant("capital X", r"(?<=\d)x\b(?! ?\d)", "X"),
    Variant("times in full", r"(?<=\d)x (?=faster|slower|smaller|less|fewer)", " times "),
    Variant("fold", r"(?<=\d)x (?=speedup|improvement|reduction)", "-fold "),
    Variant("per cent after a blank", r"(?<=\d)%", " %"),
    Variant("minus sign", r"(?<=[\s|(*])-(?=\d+(?:\.\d+)?%)", "−"),
    Variant("dash for a minus sign", r"(?<=[\s|(*])[-−](?=\d+(?:\.\d+)?%)", "–"),
    Variant("about equal", r"~(?=\d)", "≈"),
    Variant("approximately", r"~(?=\d)", "approximately "),
    Variant("roughly", r"~(?=\d)", "roughly "),
    Variant("bullets of stars", r"(?m)^( *)- ", r"\1* "),
    Variant("bullets of dots", r"(?m)^( *)[-*] ", r"\1• "),
    Variant("numbered bullets", r"(?m)^( *)[-*] ", r"\g<1>1. "),
    Variant("check marks for bullets", r"(?m)^( *)[-*] ", r"\1✅ "),
    Variant("nothing bold", r"\*\*", ""),
    Variant("quicker", r"\b[Ff]aster\b", _like("quicker")),
    Variant("speed-up", r"\b[Ss]peedup\b", _like("speed-up")),
    Variant("speed up as a noun", r"\b[Ss]peedup\b", _like("speed up")),
    Variant("gain", r"\b[Ii]mprovement\b", _like("gain")),
    Variant("boost", r"\b[Ii]mprovement\b", _like("boost")),
    Variant("lowers", r"\b[Rr]educes\b", _like("lowers")),
    Variant("trims", r"\b[Rr]educes\b", _like("trims")),
    Variant("lowered", r"\b[Rr]educed\b", _like("lowered")),
    Variant("versus", r"\bvs\b\.?", "versus"),
    Variant(
        "original and optimized",
        r"\b(Before|After)\b",
        lambda match: {"Before": "Original", "After": "Optimized"}[match[1]],
    ),
    Variant(
        "was and now",
        r"\b(Before|After)\b",
        lambda match: {"Before": "Was", "After": "Now"}[match[1]],
    ),
)


def written_as(variant: Variant, text: LabelledText) -> LabelledText | None:
    """The text as the variant writes it, with its labels where they now stand.

    None where nothing is written otherwise.
    """
    pieces: list[str] = []
    ends, shifts = [0], [0]
    done = 0
    for match in re.finditer(variant.pattern, text.text):
        new = (
            match.expand(variant.replacement)
            if isinstance(variant.replacement, str)
            else variant.replacement(match)
        )
        pieces += text.text[done : match.start()], new
        done = match.end()
        ends.append(done)
        shifts.append(shifts[-1] + len(new) - len(match[0]))
    if not pieces:
        return None

    def moved(label: Label) -> Label:
        start, end = (
            place + shifts[bisect_right(ends, place) - 1] for place in (label.start, label.end)
        )
        return label.model_copy(update={"start": start, "end": max(end, start + 1)})

    return text.model_copy(
        update={
            "text": "".join([*pieces, text.text[done:]]),
            "claims": tuple(map(moved, text.claims)),
        }
    )
