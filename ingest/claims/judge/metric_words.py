"""The noun that says what an effect is of: inside it, touching it, or nearest to it."""

from __future__ import annotations

import re

from ingest.claims.judge.surroundings import Around
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.spelled import NUMBER_WORDS
from ingest.claims.words.change_words import BEGINS, HEDGES, METRICS, NOT_PERFORMANCE, Sense

_GROUPS = "|".join(f"(?P<{metric.name}>{words})" for metric, words in METRICS.items())
NOUNS = re.compile(f"{BEGINS}(?:{_GROUPS}|(?P<NONE>{NOT_PERFORMANCE}))")
PREFIX = re.compile(r"^\W*(?:[\w-]+ )?perf(?:\([^)]*\))?!?:")
"""The word of a title, which says nothing of the figures behind it."""

SIGNED = ("+", "-")
"""Words of effects that are but a sign."""

AFTERWARDS = 25
"""Characters behind a figure in which a noun is taken to be that of the figure."""

_OF_TIME = (
    "fast", "quick", "slow", "speed", "schnell", "so schnell", "langsam", "plus rapide", "más", "mas", "mais", "plus lent",
    "高速", "快", "加速", "加快", "提速", "速い", "速く", "速か", "遅", "低速", "慢", "빠르", "빨라", "느리", "느려",
)  # fmt: skip
"""Comparisons that are of time by themselves."""

_PERCENTILES = ("p50", "p90", "p95", "p99")
"""Of time, unless they touch another noun: `TPS p50`."""

_TIMES = re.compile(rf"(?:\d|{'|'.join(NUMBER_WORDS)})[\s-]+times\b")
"""`3 times` is no time."""

_AWAY = re.compile(r"[,;(]|\b(?:to|for|and|in|with|by|when|while)\b|(?<!\w)(?!vs)(?:[\w-]+\s+){3}")
"""What keeps a noun behind a pair of bare numbers from being what they count."""


def nearest_noun(effect: Effect, around: Around) -> str | None:
    """The name of the group of the noun that is nearest: inside, right behind, before, farther behind."""
    if effect.sense in (Sense.GAIN, Sense.LOSS) and effect.word.startswith(_OF_TIME):
        told = around.left if around.is_table else around.inside
        return "THROUGHPUT" if any(match.lastgroup == "THROUGHPUT" for match in NOUNS.finditer(told)) else "TIME"
    if inside := _head_noun(_TIMES.sub("", around.inside), effect.word):
        last = last_noun(around.inside) if inside.lastgroup == "NONE" and " by " in around.inside else inside
        return (last or inside).lastgroup
    if effect.word in SIGNED and not effect.is_pair:
        return _adjacent_noun(around)
    if first := _named_first(effect, around):
        return first.lastgroup
    behind = NOUNS.search(around.right)
    if behind and behind.lastgroup == "NONE" and _APART.match(around.right):
        behind = None
    if behind and (_NEXT.match(around.right) if effect.change else _AWAY.search(around.right, 0, behind.start())):
        is_other = effect.is_pair or effect.change is None or behind.lastgroup == "NONE" or _before(effect, around)
        behind = None if is_other else behind
    if behind and behind.start() <= AFTERWARDS:
        return behind.lastgroup
    nearest = (_in_labels(around) if around.is_table else _before(effect, around)) or behind
    return nearest.lastgroup if nearest else None


def _head_noun(part: str, compared: str) -> re.Match[str] | None:
    """The first noun, or the last of those it is compounded with: `boot time memory` is memory, and `query time` is time.

    The word of comparison, `memory compression`, is none of them.
    """
    head = None
    for match in NOUNS.finditer(part):
        if head is not None and (
            match.start() - head.end() != 1 or part[head.end()] not in " -" or match.lastgroup == "NONE" or match[0] == compared
        ):
            break
        head = match
    return head


_NEXT = re.compile(r"[*_`]*[,;]")
"""`throughput up 35%, latency down 20%`: what follows is of another number, if a noun stands before this one."""

_APART = re.compile(r"[*_`]*\s(?:\(|(?:at|on|for|across|under|when|while|with)\s)")
"""`by about 12% (using the tests)`, `5-10% at all batch sizes`: where it was seen is no quality that the percentage is of."""

_NUMBER_OF = re.compile(r"\b(?:number|count) of (?P<counted>(?:[\w-]+ ){1,3})")
_TOUCHES = 12


def _named_first(effect: Effect, around: Around) -> re.Match[str] | None:
    """What the number of is told, or what touches a word of Chinese or Japanese, which say of what before how much."""
    if effect.word and not effect.word.isascii():
        return last_noun(around.left[-_TOUCHES:])
    counted = _NUMBER_OF.search(around.left) if effect.is_pair and "of " in around.left else None
    return NOUNS.search(counted["counted"]) if counted else None


def _before(effect: Effect, around: Around) -> re.Match[str] | None:
    """The noun before it; the word of a title `perf: …` says nothing of bare figures."""
    left = PREFIX.sub("", around.left) if effect.is_pair else around.left
    return last_noun(_PER_ONE.sub(" ", left[-80:]))


def _in_labels(around: Around) -> re.Match[str] | None:
    """The noun of the labels of a row, else one of performance in the line above the table, if that is not the title of the text."""
    caption, _, labels = around.left.partition(" | ")
    above = last_noun(caption[-80:]) if caption != around.title.lower else None
    return last_noun(labels[-80:]) or (above if above and above.lastgroup != "NONE" else None)


def last_noun(part: str) -> re.Match[str] | None:
    last = None
    for match in NOUNS.finditer(part):
        if last is None or match.start() - last.end() > 1 or not match[0].startswith(_PERCENTILES):  # `TPS p50` is of TPS
            last = match
    return last


_OWN = re.compile(
    r"[\s*_`]+(?!(?:on|in|for|at|with|from|vs|over|to|of|and|or|when|by|across|compared|against|under|per|after|via)\b)"
    r"(?:[a-z][\w/-]*(?: (?=[a-z])|(?![\w/-]))){1,3}"
)
"""The words right behind a signed percentage that say of what it is: `-4% inference time`."""


_PER_ONE = re.compile(r"\sper (?!(?:sec|s|second|min|minute)\b)[\w-]+(?=[\s*_`]*[:|])")
"""`kernel launches per token: 79 → 53` is of launches."""

_PER_PIECE = re.compile(r"\sper\s")
"""`-34% tokens per request` is of tokens."""

_HEDGED_LAST = re.compile(rf"\s(?:{HEDGES})$")
_BRACKET_LAST = re.compile(r" ?\([^()]{1,20}\)$")
"""`latency (p50): −30 %`"""


def _adjacent_noun(around: Around) -> str | None:
    """The noun that a signed percentage touches: `-30% latency`, `latency: -30%`."""
    if own := _OWN.match(around.right):
        if behind := last_noun(_PER_PIECE.split(own[0], 1)[0]):
            return behind.lastgroup
        if around.left.endswith("("):  # `kernels (+4.1% decode)` is not of kernels
            return None
    left = _HEDGED_LAST.sub("", PREFIX.sub("", around.left)[-60:].rstrip(" *_`:|~≈"))
    left = _BRACKET_LAST.sub("", left.rstrip(" *_`:|")).rstrip(" *_`:(|")
    named = last_noun(left)
    return named.lastgroup if named and named.end() >= len(left) and named[0] not in ("speed", "size") else None
