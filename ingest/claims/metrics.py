"""Which performance quantity an effect is of, and whether it is of any."""

from __future__ import annotations

import re
from functools import lru_cache

from ingest.claims.around import Around
from ingest.claims.effect import Effect
from ingest.claims.lexicon import BEGINS, HEDGES, METRICS, NOT_PERFORMANCE, OTHER_SPEEDS, UNNAMED, Sense
from ingest.claims.quantities import Kind, Quantity
from ingest.claims.settings import is_a_setting
from ingest.claims.spelled import NUMBER_WORDS
from schemas.claim import ClaimMetric

_GROUPS = "|".join(f"(?P<{metric.name}>{words})" for metric, words in METRICS.items())
_NOUNS = re.compile(f"{BEGINS}(?:{_GROUPS}|(?P<NONE>{NOT_PERFORMANCE}))")
_BURDEN = re.compile(
    r"(?:disk|block|page) (?:reads|writes|hits|faults)|seeks|wake-?ups?|syscalls?|alloc\w*|interrupts?|context switches|faults|polls|collections|misses|evictions"
)
"""What is done per second without being of use to anybody."""

_SIGNED = ("+", "-")
"""Words of effects that are but a sign."""

_AFTERWARDS = 25
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

_BY_THEMSELVES = ((("small", "shr", "light", "lean"), ClaimMetric.SIZE), (("shorter", "longer"), ClaimMetric.TIME))
"""Comparisons that say of what they are where no noun does."""

_OF_FACTORS = (
    ("improvement", ClaimMetric.TIME),
    ("boost", ClaimMetric.TIME),
    ("gain", ClaimMetric.TIME),
)
"""Comparisons that say it of a multiplier."""

_AWAY = re.compile(r"[,;(]|\b(?:to|for|and|in|with|by|when|while)\b|(?<!\w)(?!vs)(?:[\w-]+\s+){3}")
"""What keeps a noun behind a pair of bare numbers from being what they count."""


def metric_of(effect: Effect, around: Around) -> ClaimMetric | None:
    """What changed; None where it is no performance quantity."""
    if (effect.before or effect.after) and is_a_setting(effect, around):
        return None
    if effect.word == UNNAMED and not effect.is_pair:
        return _of_title(around) if _nearest_noun(effect, around) != "NONE" else None
    named = _unit_metric(effect)
    return _named(named, effect, around) if named else _by_nouns(effect, around)


def is_signed_alone(effect: Effect, around: Around) -> bool:
    """Whether it is a signed percentage of which no noun says of what it is."""
    is_bare = effect.word in _SIGNED and effect.change is not None and not effect.is_pair and not around.is_table
    return is_bare and _nearest_noun(effect, around) is None and not _NOUNS.search(around.left[-_SUBJECT:])


_OF_MAKING_FAST = re.compile(
    r"\b(?:perf\b|performance|optimi[sz]|faster|speed[- ]?ups?\b|speed(?:s|ing)? up|accelerat|benchmark|throughput|latency|simd|avx|neon\b"
    r"|vectori[sz]|fus(?:e|ed|ion)\b)"
)
_SPEED = frozenset({"TIME", "THROUGHPUT"})


def _of_title(around: Around) -> ClaimMetric | None:
    """Time, if the title is of speed or of making something fast."""
    is_told = _OF_MAKING_FAST.search(around.title.lower) is not None
    return ClaimMetric.TIME if is_told or any(match.lastgroup in _SPEED for match in _NOUNS.finditer(around.title.lower)) else None


def _named(named: ClaimMetric, effect: Effect, around: Around) -> ClaimMetric | None:
    """The metric of figures whose unit tells it."""
    if named is ClaimMetric.MEMORY:
        return _of_bytes(around)
    if named is ClaimMetric.THROUGHPUT and effect.before and effect.before.low == 0:  # what was not there before
        return None
    if named is ClaimMetric.THROUGHPUT and _BURDEN.search(around.left[-40:]):
        return ClaimMetric.OPERATIONS
    return named


def _by_nouns(effect: Effect, around: Around) -> ClaimMetric | None:
    is_other = OTHER_SPEEDS.match(around.right) or (around.is_table and _SCORED.search(around.left))
    nearest = "NONE" if is_other else _nearest_noun(effect, around)
    is_of_size = nearest != "SIZE" or not effect.is_pair or _OF_SIZE.search(around.left) or _OF_SIZE.search(around.right)
    if nearest == "NONE" or (not is_of_size and (not around.is_table or _COUNTED_ROW.search(around.left))):
        return None
    return ClaimMetric[nearest] if nearest else _unnamed(effect, around)


def _unit_metric(effect: Effect) -> ClaimMetric | None:
    figures = (figure.metric for figure in (effect.before, effect.after) if figure)
    return next(filter(None, figures), None)


def _of_bytes(around: Around) -> ClaimMetric:
    """Bytes in memory or bytes of a file, by the nearest noun that tells."""
    for part in (around.right[:40], around.left[-100:], around.inside, around.title.lower):
        for match in _NOUNS.finditer(part):
            if match.lastgroup in ("MEMORY", "SIZE"):
                return ClaimMetric[match.lastgroup]
            if match.lastgroup == "OPERATIONS" and "alloc" in match[0]:
                return ClaimMetric.MEMORY
    return ClaimMetric.MEMORY


def _nearest_noun(effect: Effect, around: Around) -> str | None:
    """The name of the group of the noun that is nearest: inside, right behind, before, farther behind."""
    if effect.sense in (Sense.GAIN, Sense.LOSS) and effect.word.startswith(_OF_TIME):
        told = around.left if around.is_table else around.inside
        return "THROUGHPUT" if any(match.lastgroup == "THROUGHPUT" for match in _NOUNS.finditer(told)) else "TIME"
    if inside := _head_noun(_TIMES.sub("", around.inside), effect.word):
        return inside.lastgroup
    if effect.word in _SIGNED and not effect.is_pair:
        return _adjacent_noun(around)
    if first := _named_first(effect, around):
        return first.lastgroup
    behind = _NOUNS.search(around.right)
    if behind and (_NEXT.match(around.right) if effect.change else _AWAY.search(around.right, 0, behind.start())):
        is_other = effect.is_pair or effect.change is None or behind.lastgroup == "NONE" or _before(effect, around)
        behind = None if is_other else behind
    if behind and behind.start() <= _AFTERWARDS:
        return behind.lastgroup
    nearest = (_in_labels(around) if around.is_table else _before(effect, around)) or behind
    return nearest.lastgroup if nearest else None


def _head_noun(part: str, compared: str) -> re.Match[str] | None:
    """The first noun, or the last of those it is compounded with: `boot time memory` is memory, and `query time` is time.

    The word of comparison, `memory compression`, is none of them.
    """
    head = None
    for match in _NOUNS.finditer(part):
        if head is not None and (
            match.start() - head.end() != 1 or part[head.end()] not in " -" or match.lastgroup == "NONE" or match[0] == compared
        ):
            break
        head = match
    return head


_NEXT = re.compile(r"[*_`]*[,;]")
"""`throughput up 35%, latency down 20%`: what follows is of another number, if a noun stands before this one."""

_NUMBER_OF = re.compile(r"\b(?:number|count) of (?P<counted>(?:[\w-]+ ){1,3})")
_TOUCHES = 12


def _named_first(effect: Effect, around: Around) -> re.Match[str] | None:
    """What the number of is told, or what touches a word of Chinese or Japanese, which say of what before how much."""
    if effect.word and not effect.word.isascii():
        return _last_noun(around.left[-_TOUCHES:])
    counted = _NUMBER_OF.search(around.left) if effect.is_pair and "of " in around.left else None
    return _NOUNS.search(counted["counted"]) if counted else None


def _before(effect: Effect, around: Around) -> re.Match[str] | None:
    """The noun before it; the word of a title `perf: …` says nothing of bare figures."""
    left = _PREFIX.sub("", around.left) if effect.is_pair else around.left
    return _last_noun(left[-80:])


def _in_labels(around: Around) -> re.Match[str] | None:
    """The noun of the labels of a row, else one of performance in the line above the table, if that is not the title of the text."""
    caption, _, labels = around.left.partition(" | ")
    above = _last_noun(caption[-80:]) if caption != around.title.lower else None
    return _last_noun(labels[-80:]) or (above if above and above.lastgroup != "NONE" else None)


def _last_noun(part: str) -> re.Match[str] | None:
    last = None
    for match in _NOUNS.finditer(part):
        if last is None or match.start() - last.end() > 1 or not match[0].startswith(_PERCENTILES):  # `TPS p50` is of TPS
            last = match
    return last


_OWN = re.compile(
    r"[\s*_`]+(?!(?:on|in|for|at|with|from|vs|over|to|of|and|or|when|by|across|compared|against|under|per|after|via)\b)"
    r"(?:[a-z][\w/-]*(?: (?=[a-z])|(?![\w/-]))){1,3}"
)
"""The words right behind a signed percentage that say of what it is: `-4% inference time`."""


_PER_PIECE = re.compile(r"\sper\s")
"""`-34% tokens per request` is of tokens."""

_HEDGED_LAST = re.compile(rf"\s(?:{HEDGES})$")
_BRACKET_LAST = re.compile(r" ?\([^()]{1,20}\)$")
"""`latency (p50): −30 %`"""


def _adjacent_noun(around: Around) -> str | None:
    """The noun that a signed percentage touches: `-30% latency`, `latency: -30%`."""
    if own := _OWN.match(around.right):
        if behind := _last_noun(_PER_PIECE.split(own[0], 1)[0]):
            return behind.lastgroup
        if around.left.endswith("("):  # `kernels (+4.1% decode)` is not of kernels
            return None
    left = _HEDGED_LAST.sub("", around.left[-60:].rstrip(" *_`:|~≈"))
    left = _BRACKET_LAST.sub("", left.rstrip(" *_`:|")).rstrip(" *_`:(|")
    named = _last_noun(left)
    return named.lastgroup if named and named.end() >= len(left) and named[0] not in ("speed", "size") else None


def _unnamed(effect: Effect, around: Around) -> ClaimMetric | None:
    """The metric of `40% better` in a text about speed; a pair of bare numbers is of nothing."""
    if effect.is_pair and effect.change is None:
        return None
    if effect.change is not None and effect.change.sign and not effect.word.startswith(_BETTERMENTS):
        return _of_speed(effect.change, around) or _of_lead(effect, around)
    if (metric := _by_word(effect)) is not None:
        return metric
    if effect.sense in (Sense.GAIN, Sense.LOSS) or effect.is_pair:
        found = _NOUNS.search(around.title.lower)
        if found is None and effect.word.startswith(_BETTERMENTS) and _speaks_of_speed(around.text):
            return ClaimMetric.TIME
        return ClaimMetric[found.lastgroup] if found and found.lastgroup and found.lastgroup != "NONE" else None
    return None


_BETTERMENTS = ("improv", "boost", "gain")
_OF_SPEED = re.compile(
    r"\b(?:faster|slower|speed(?:s|ing|up|ups)?|throughput|latency|run ?time|cycles|performance|tok/s|ns/op|simd|avx\w*|neon|prefill)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=2)
def _speaks_of_speed(text: str) -> bool:
    """Whether the text is about speed, wherever it says so: `AES improves by 35%` does not say what of it improves."""
    return _OF_SPEED.search(text) is not None


def _by_word(effect: Effect) -> ClaimMetric | None:
    """What the word of comparison is of, where it says so by itself."""
    for words, metric in _BY_THEMSELVES:
        if effect.word.startswith(words):
            return metric
    if effect.word.startswith("fewer"):
        return ClaimMetric.OPERATIONS
    if effect.change is not None and effect.change.kind is Kind.TIMES:
        return next((metric for word, metric in _OF_FACTORS if effect.word.startswith(word)), None)
    return None


_GENERATION = re.compile(r"(?<![a-z])(?:prefill|decod(?:e|ing)|generation|pp ?\d+|tg ?\d+|inference|imgs?)\b")
_PREFIX = re.compile(r"^\W*perf(?:\([^)]*\))?!?:")
_PERF = re.compile(r"\W*(?:\w+: )?perf\b")


def _of_speed(change: Quantity, around: Around) -> ClaimMetric | None:
    """The metric of a signed percentage of nothing that is named.

    More of what generates, or of what a title `perf: …` is about, is more speed; in that title less is less time.
    """
    if change.sign == "+":
        near = f"{around.title.lower if around.is_table else ''} {around.left} {around.right[:_AFTERWARDS]}"
        told = _GENERATION.search(near) or _PERF.match(around.title.lower)
        return ClaimMetric.THROUGHPUT if told else None
    is_told = change.end <= around.title.end or _LABEL_ALONE.fullmatch(around.left)
    return ClaimMetric.TIME if is_told and _PERF.match(around.title.lower) else None


_GAINS = re.compile(r"\b(?:gains?|speed[- ]?ups?|improvements?|faster)\b")


def _of_lead(effect: Effect, around: Around) -> ClaimMetric | None:
    """The metric of `- Richards: +24%` below `Median gains:`, which says that more is better."""
    is_listed = effect.word == "+" and _LABEL_ALONE.fullmatch(around.left)
    return ClaimMetric.THROUGHPUT if is_listed and _GAINS.search(around.lead()) else None


_LABEL_ALONE = re.compile(r"[\s*_`-]*[\w`./()-]{1,40}(?: [\w`./()-]{1,40}){0,3}[*_`]*:[\s*_`]*")
"""`- parse: −42%`"""


_SCORED = re.compile(r"\| (?:\w+ )?(?:scores?|grade|rating) \|")
"""The head of a column of marks, whatever the row is called."""

_COUNTED_ROW = re.compile(r"\| (?:(?:number|count) of )?(?:\w+ )?(?:files|images|packages|chunks|logs|responses|downloads) \|")
_OF_SIZE = re.compile(r"\b(?:size|bytes?|[kmg]i?b|large|big|small)")
"""Without one of these words, bare numbers beside a file or an image are versions of it, or how many there are."""

_BETTER_IF_MORE = re.compile(r"\b(?:speeds?|performance|perf|efficiency|parallel scaling)\b")


_LOST = ("loss", "hit", "penalty", "regress", "degrad")
"""`20% throughput loss`: so much is gone, and not so much slower."""

_SUBJECT = 60
"""Characters before a verb in which its subject is looked for."""


def sense_of(effect: Effect, metric: ClaimMetric, around: Around) -> Sense | None:
    """What the change means: more time is worse, more speed and more performance, which are of time too, are better."""
    if metric is ClaimMetric.THROUGHPUT and effect.sense is Sense.LOSS and effect.word.startswith(_LOST) and not effect.is_pair:
        return Sense.FALL
    if metric is not ClaimMetric.TIME or effect.sense not in (Sense.RISE, Sense.FALL) or effect.is_pair:
        return effect.sense
    told = f"{around.inside} {around.right[:_AFTERWARDS].partition('(')[0]}"
    if effect.word in _SIGNED:
        nearest = _NOUNS.match(around.right, 1) or _last_noun(_PREFIX.sub("", around.left)[-_SUBJECT:])
        told = nearest[0] if nearest else ""
    elif not any(match.lastgroup == "TIME" for match in _NOUNS.finditer(told)):
        told = around.left[-_SUBJECT:]
    if not _BETTER_IF_MORE.search(told):
        return effect.sense
    return Sense.GAIN if effect.sense is Sense.RISE else Sense.LOSS
