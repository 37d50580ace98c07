"""Pairs whose figures are tagged: `4.8 s on main, 1.2 s with this PR`, `without cache: 4.8 s; with cache: 1.2 s`."""

from __future__ import annotations

import re

from ingest.claims.find.column_legends import FORMER_FIRST, LATTER_FIRST, is_told
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.pair_candidate import Candidate
from ingest.claims.words.regex_parts import ARROW, DECOR, HEDGE

_FORMER = (
    r"before(?: \w+ing)?|previously|originally|formerly|earlier|(?:the )?old(?: \w+)?|main|master|base|baseline|stock|upstream|unpatched"
    r"|un(?:cached|batched|optimi[sz]ed|indexed|fused)|sequential(?:ly)?|serial(?:ly)?|naive"
)
_LATTER = (
    r"after(?:wards)?|now|here|(?:the )?new(?: \w+)?|(?:this|the) (?:pr|branch|patch|change|commit|fix)|patched|optimi[sz]ed"
    r"|cached|batched|indexed|fused|parallel|concurrent(?:ly)?"
)
_LABEL = (
    r"[`*_]*(?:\s?[:=]|\s[—–]|(?:,?\s(?:it|this|that))?(?:\s(?:only|just))?\s(?:is|was|takes|took|at|uses|used|needs|does|reaches|hits|sustains|holds|handles|gets"
    r"|(?:runs|finishes|completes) in))?\s*"
)
_WITH = r"(?:\s[\w./`-]+){0,3}"

_FORMER_LABEL = re.compile(rf"\b(?:{_FORMER}|without{_WITH}){_LABEL}{DECOR}{HEDGE}$", re.IGNORECASE)
_LATTER_LABEL = re.compile(rf"\b(?:{_LATTER}|pr|branch|head|with(?!out){_WITH}){_LABEL}{DECOR}{HEDGE}$", re.IGNORECASE)
_SEPARATES = re.compile(
    rf"[`*_)]*(?:\s[A-Za-z/-]{{2,12}})?(?:\s?[,;./|]|\s(?:and|vs\.?|versus)|\s{ARROW})\s+(?:and |vs\.? )?(?:on "
    rf"|in )?(?P<label>[^,;.\d]{{2,30}})$"
)

_FORMER_BEHIND = re.compile(rf"[`*_]*\s\(?(?:(?:on|in|at|with) )?(?:{_FORMER}|without{_WITH})\b[`*_]*", re.IGNORECASE)
_WITHOUT_BEHIND = re.compile(r"[*_`]*\swithout\b", re.IGNORECASE)
_LATTER_BEHIND = re.compile(
    rf"[`*_]*\s\(?(?:(?:(?:on|in|at|with) )?(?:{_LATTER})|(?:on|in|at|for) [^.,;()\n\d]{{1,30}}? afterwards?)\b", re.IGNORECASE
)
_AND = re.compile(rf"\)?[,;]?\s+(?:and |vs\.? |to |{ARROW} |/ )?{DECOR}{HEDGE}")
_ASIDE = re.compile(rf"[`*_]*(?:\s[a-z]+){{0,2}}(?:\s?\(|[,;]\s){DECOR}{HEDGE}", re.IGNORECASE)
_BEFORE_AFTER = rf"\(?(?:before|old|main)\s?(?:/|{ARROW}|\bvs\.?)\s?(?:after|new|branch|pr|now)\)?"
_BOTH_BEFORE = re.compile(rf"{_BEFORE_AFTER}{_LABEL}{DECOR}{HEDGE}$", re.IGNORECASE)
_BOTH_BEHIND = re.compile(rf"[`*_]*\s?{_BEFORE_AFTER}", re.IGNORECASE)
_SLASH = re.compile(rf"[`*_]*\s?/\s?{DECOR}{HEDGE}")


def by_tags(candidate: Candidate) -> Effect | None:
    """Like figures, each with a word for the former or the latter before it, or behind it; or the former alone in a bracket."""
    if not candidate.has_units:
        return None
    if _SLASH.fullmatch(candidate.glue):
        told = _BOTH_BEFORE.search(candidate.left) or _BOTH_BEHIND.match(candidate.text, candidate.second.end)
        if told or is_told(candidate, FORMER_FIRST):
            return candidate.whole
        return _swapped(candidate) if is_told(candidate, LATTER_FIRST) else None
    return _by_labels(candidate) or _by_words_behind(candidate)


def _swapped(candidate: Candidate) -> Effect:
    return Effect(candidate.first.start, candidate.second.end, candidate.second, candidate.first)


def _by_labels(candidate: Candidate) -> Effect | None:
    parted = _SEPARATES.match(candidate.glue)
    if parted is None:
        return None
    if _FORMER_LABEL.search(candidate.left) and _LATTER_LABEL.fullmatch(parted["label"]):
        return candidate.whole
    return _swapped(candidate) if _LATTER_LABEL.search(candidate.left) and _FORMER_LABEL.fullmatch(parted["label"]) else None


def _by_words_behind(candidate: Candidate) -> Effect | None:
    text, end = candidate.text, candidate.second.end
    if (former := _FORMER_BEHIND.match(candidate.glue)) and _AND.fullmatch(candidate.glue, former.end()):
        return candidate.whole if _LATTER_BEHIND.match(text, end) else None
    latter = _LATTER_BEHIND.match(candidate.glue)
    if latter is None and _WITHOUT_BEHIND.match(text, end) and candidate.second.sized() < candidate.first.sized():
        return None  # `10 s (5 s without the checks)`: what one can save
    joins = _AND.fullmatch(candidate.glue, latter.end()) if latter else _ASIDE.fullmatch(candidate.glue)
    return _swapped(candidate) if joins and _FORMER_BEHIND.match(text, end) else None
