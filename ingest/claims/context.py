"""What the words around an effect say of it: metric, evidence, scope, hedge, whose number it is, and its subject."""

from __future__ import annotations

import re
from typing import NamedTuple

from ingest.claims.effect import Effect
from ingest.claims.lexicon import CITED, ESTIMATES, HEDGES, INPUTS, MEASURED, METRICS, NOT_PERFORMANCE, SCOPES, SETTINGS, SWITCH, WHOLE, Sense
from ingest.claims.passages import Passage
from schemas.claim import ClaimMetric, Evidence, Origin, Scope

_FLAGS = re.IGNORECASE
_NOUNS = re.compile(
    "(?<![A-Za-z])(?:" + "|".join(f"(?P<{metric.name}>{words})" for metric, words in METRICS.items()) + f"|(?P<NONE>{NOT_PERFORMANCE}))",
    _FLAGS,
)
_SETTINGS = re.compile(SETTINGS, _FLAGS)
_ESTIMATES = re.compile(ESTIMATES, _FLAGS)
_MEASURED = re.compile(MEASURED, _FLAGS)
_HEDGED = re.compile(rf"(?:\b(?:{HEDGES})\s+|[~≈]\s?)[*_`(]*(?:\w+\s)?$", _FLAGS)
_HEDGED_AFTER = re.compile(r"\s*(?:\+|or (?:more|better|less))", _FLAGS)
_SENTENCE = re.compile(r"[.;!?]\s|\n[ \t]*(?:[-*•]|\d+[.)])[ \t]|\n[ \t]*\n")


class Setting(NamedTuple):
    """Where an effect stands: the text, its passage, its own neighbourhood there, and the title of the text."""

    text: str
    passage: Passage
    low: int
    high: int
    title: str
    caption: str = ""

    def left(self, effect: Effect, reach: int) -> str:
        """The words of the sentence before the effect."""
        part = self.caption + self.text[max(self.low, effect.start - reach) : effect.start]
        ends = [match.end() for match in _SENTENCE.finditer(part)]
        return part[ends[-1] :] if ends else part

    def right(self, effect: Effect, reach: int) -> str:
        """The words of the sentence behind the effect."""
        part = self.text[effect.end : min(self.high, effect.end + reach)]
        end = _SENTENCE.search(part)
        return part[: end.start()] if end else part


def metric_of(effect: Effect, setting: Setting) -> ClaimMetric | None:
    """What changed; None where it is no performance quantity."""
    figure = effect.before or effect.after
    named = (effect.before and effect.before.metric) or (effect.after and effect.after.metric)
    if figure is not None and _is_a_setting(effect, setting):
        return None
    if named is ClaimMetric.MEMORY:
        return _of_bytes(effect, setting)
    if named is ClaimMetric.THROUGHPUT and _BURDEN.search(setting.left(effect, 40)):
        return ClaimMetric.OPERATIONS
    if named:
        return named
    nearest = _nearest_noun(effect, setting)
    return None if nearest == "NONE" else ClaimMetric[nearest] if nearest else _unnamed(effect, setting)


_BURDEN = re.compile(r"wake-?ups?|syscalls?|alloc\w*|interrupts?|context switches|faults|polls|collections|misses|evictions", _FLAGS)
"""What is done per second without being of use to anybody."""

_CORRECTED = re.compile(r"[\s(\[]*fixed\b", _FLAGS)
_BRACKET = re.compile(r"\([^()]{0,80}\)")


def _is_a_setting(effect: Effect, setting: Setting) -> bool:
    whole = setting if setting.passage.is_table else setting._replace(low=setting.passage.start)
    sentence = whole.left(effect, 120)
    before = f"{sentence} {setting.text[effect.start : effect.end]}"
    return bool(_CORRECTED.match(setting.text, effect.end) or _SETTINGS.search(_BRACKET.sub("", before)) or _SETTINGS.search(setting.right(effect, 25)))


def _of_bytes(effect: Effect, setting: Setting) -> ClaimMetric:
    for part in (setting.right(effect, 40), setting.left(effect, 100), setting.text[effect.start : effect.end], setting.title):
        for match in _NOUNS.finditer(part):
            if match.lastgroup in ("MEMORY", "SIZE"):
                return ClaimMetric[match.lastgroup]
            if match.lastgroup == "OPERATIONS" and "alloc" in match[0].lower():
                return ClaimMetric.MEMORY
    return ClaimMetric.MEMORY


_OF_TIME = ("fast", "quick", "slow", "speed", "高速", "快", "schnell", "so schnell", "langsam", "plus rapide", "más", "mas", "mais", "plus lent")
"""Comparisons that are of time by themselves."""


def _nearest_noun(effect: Effect, setting: Setting) -> str | None:
    """The name of the group of the noun that is nearest: inside, right behind, before, farther behind."""
    inside = [match.lastgroup for match in _NOUNS.finditer(setting.text, effect.start, effect.end)]
    if effect.sense in (Sense.GAIN, Sense.LOSS) and effect.word.startswith(_OF_TIME):
        return "NONE" if _PEOPLE_AND_FILMS.match(setting.right(effect, 40)) else "THROUGHPUT" if "THROUGHPUT" in inside else "TIME"
    behind = list(_NOUNS.finditer(setting.right(effect, 60)))
    if inside and inside[0]:
        return inside[0]
    if effect.word in ("+", "-", "−"):
        return _adjacent_noun(effect, setting)
    if behind and behind[0].start() <= 25 and not (effect.change is None and _AWAY.search(behind[0].string[: behind[0].start()])):
        return behind[0].lastgroup
    before = list(_NOUNS.finditer(setting.left(effect, 80)))
    nearest = before[-1:] or behind[:1]
    return nearest[0].lastgroup if nearest else None


def _adjacent_noun(effect: Effect, setting: Setting) -> str | None:
    """The noun that a signed percentage touches: `-30% latency`, `latency: -30%`."""
    if behind := _NOUNS.match(setting.text, min(effect.end + 1, setting.high), setting.high):
        return behind.lastgroup
    left = setting.left(effect, 60).rstrip(" *_`:(")
    named = list(_NOUNS.finditer(left))
    return named[-1].lastgroup if named and named[-1].end() >= len(left) and named[-1][0].lower() not in ("speed", "size") else None


_PEOPLE_AND_FILMS = re.compile(r"[\s*_]*(?:\w+ )?(?:playback|develop\w*|onboarding|iteration|deliver\w*|than real[- ]time)\b", _FLAGS)
"""What is also said to be faster."""

_AWAY = re.compile(r"[,;(]|\b(?:to|for|and|in|with|by|when|while)\b")
"""What keeps a noun behind a pair of bare numbers from being what they count."""


def _unnamed(effect: Effect, setting: Setting) -> ClaimMetric | None:
    """The metric of `40% better` in a text about speed; a pair of bare numbers is of nothing."""
    if effect.is_pair and effect.change is None:
        return None
    if effect.word.startswith(("small", "shr")):
        return ClaimMetric.SIZE
    if effect.sense in (Sense.GAIN, Sense.LOSS):
        found = _NOUNS.search(setting.title)
        return ClaimMetric[found.lastgroup] if found and found.lastgroup and found.lastgroup != "NONE" else None
    return None


def is_hedged(effect: Effect, setting: Setting) -> bool:
    """Whether a sign or word makes a number inexact."""
    if any(quantity.hedged for quantity in (effect.before, effect.after, effect.change) if quantity):
        return True
    inside = setting.text[effect.start : effect.end]
    if re.search(rf"[~≈]|\b(?:{HEDGES})\s+[\d~]|\d\+", inside, _FLAGS):
        return True
    return bool(_HEDGED.search(setting.text[max(0, effect.start - 24) : effect.start]) or _HEDGED_AFTER.match(setting.text, effect.end))


def evidence_of(effect: Effect, setting: Setting, figures: Evidence | None) -> Evidence:
    """What the number rests on. `figures` is the evidence of the pairs elsewhere in the text: a headline has that of its figures."""
    sentence = f"{setting.left(effect, 160)} {setting.text[effect.start : effect.end]} {setting.right(effect, 30)}"
    if _ESTIMATES.search(sentence):
        return Evidence.ESTIMATED
    if effect.is_pair:
        return Evidence.BENCHMARKED if setting.passage.is_table or _is_measured(effect, setting, 700) else Evidence.FIGURES
    if figures and _is_headline(effect, setting):
        return figures
    return Evidence.BENCHMARKED if not setting.passage.is_table and _is_measured(effect, setting, 160) else Evidence.STATED


def _is_headline(effect: Effect, setting: Setting) -> bool:
    return effect.start <= setting.text.find(setting.title) + len(setting.title)


def _is_measured(effect: Effect, setting: Setting, reach: int) -> bool:
    """Whether the text says near the number, or in its title, how it came about, or on what input of which size."""
    near = setting.text[max(0, effect.start - reach) : effect.end + reach]
    beside = setting.text[max(0, effect.start - 120) : effect.end + 100] if effect.is_pair else ""
    return bool(_MEASURED.search(near) or _MEASURED.search(setting.title) or _INPUTS.search(beside))


_INPUTS = re.compile(INPUTS, _FLAGS)
_SCOPES = re.compile("|".join(f"(?P<{scope.name}>{words})" for scope, words in SCOPES.items()), _FLAGS)
_COMMAND = re.compile(r"`[\w./-]+ [^`\n]{1,50}`")
_WHOLE = re.compile(WHOLE, _FLAGS)
_NAME = re.compile(r"`[\w.:/]+(?:\(\))?`|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b|\b\w+\(\)|\b[a-z]+_[a-z_]+\b|\b\w+\.\w+\.\w+\b")


def scope_of(effect: Effect, setting: Setting) -> Scope:
    """How much of the software it covers: a word for the whole, a name as in code, else the nearest word that says so."""
    left, right = setting.left(effect, 120), setting.right(effect, 60)
    inside = setting.text[effect.start : effect.end]
    if _WHOLE.search(left[-60:]) or _WHOLE.search(right[:30]) or _WHOLE.search(inside):
        return Scope.END_TO_END
    if _COMMAND.search(left[-60:]):
        return Scope.END_TO_END
    if _NAME.search(left[-50:]) or _NAME.match(right.lstrip(" *for")):
        return Scope.MICRO
    found = list(_SCOPES.finditer(left))[-1:] or [match for part in (right, inside, setting.title) if (match := _SCOPES.search(part))]
    if found and found[0].lastgroup:
        return Scope[found[0].lastgroup]
    return Scope.MICRO if _NAME.search(setting.title) else _by_size(effect)


_INSTANT, _NOTICEABLE = 1e-3, 1.0
"""Seconds: below the one only a piece of code is timed, from the other on somebody waits."""


def _by_size(effect: Effect) -> Scope:
    """What a time tells of its subject where no word does."""
    if effect.before is None or effect.before.metric is not ClaimMetric.TIME:
        return Scope.UNSPECIFIED
    seconds = effect.before.sized()[1]
    return Scope.MICRO if seconds < _INSTANT else Scope.END_TO_END if seconds >= _NOTICEABLE else Scope.UNSPECIFIED


_CITED = re.compile(CITED, _FLAGS)
_SWITCH = re.compile(SWITCH, _FLAGS)


def origin_of(effect: Effect, setting: Setting) -> Origin:
    """Whose number it is: one's own unless the sentence quotes another's or takes up another's tool for it."""
    left = setting.left(effect, 160)
    if effect.is_pair:
        return Origin.OWN
    return Origin.CITED if _CITED.search(left) or _SWITCH.match(left.lstrip("-*# ")) else Origin.OWN


_LABEL = re.compile(r"[\s\-*•#>|]*(?:\d+[.)]\s+)?[*_`✅⚡🚀✓]*\s*(?P<label>[^:\n|]{2,80}?)[*_`]*:")
_FOR = re.compile(r"[\s*_`]*(?:for|of|in|on)\s+(?P<thing>[^.,;:()\n]{2,80})")


def subject_of(effect: Effect, setting: Setting) -> str | None:
    """What the claim is about, in the words of the text: the label of its line, what follows `for`, or the words before."""
    if behind := _FOR.match(setting.text, effect.end, min(setting.high, effect.end + 90)):
        return _tidy(behind["thing"])
    left = setting.left(effect, 100)
    if label := _LABEL.match(left):
        return _tidy(label["label"])
    return _tidy(left[-80:].partition(" ")[2] if len(left) > 80 else left) or _tidy(setting.title)


def _tidy(words: str) -> str | None:
    return " ".join(words.split()).strip(" \t*_`-–—•:|#>([,.~") or None
