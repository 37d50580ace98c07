"""Pairs of figures that are no performance: timeouts, limits and intervals that were set, conditions, and errors that were corrected."""

from __future__ import annotations

import re

from ingest.claims.judge.surroundings import Around
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Quantity
from ingest.claims.words.change_words import METRICS, SETTINGS
from schemas.rows.claim import ClaimMetric

_SETTINGS = re.compile(SETTINGS)
_AFTERWARDS = 25
"""Characters behind a figure in which a word is taken to be that of the figure."""

_BRACKET = re.compile(r"\([^()]{0,80}\)|`[^`=\n]{1,40}=[^`\n]{1,40}`|`[^`\s]{1,30} [^`\n]{1,80}`")
"""What stands in brackets, arguments and commands: none of it says what the figures are of."""

_BELOW_LIMIT = re.compile(r"[\s*_`]*\((?:[\d.,]+\s?\w+ )?(?:still |now |well )?(?:under|below|within|over|above|exceed)[^()\n]{0,60}\)")
"""`24 kB (under the limit by 287 bytes)` compares with a limit and is none."""

_ASIDE = re.compile(r"[,;:—–]\s")
"""What stands behind one of these is told of something else."""

_CASE = re.compile(r"\b(?:where|when|if|with) the [^,;.()\d]{1,40}\b(?:is|are|at|of|=) [^,;]{1,15},")
"""`in the case where the interval is 1, …`: where it was seen."""

_COMPOUND = re.compile(
    r"(?<![\w-])[a-z]+[ -](?:trees?|wheels?|queues?|kernels?|matri(?:x|ces)|lookups?|inserts?|redraws?|decod\w+|drains?|pushdown|filters?"
    r"|alloc\w*|paths?|layouts?|scans?|search(?:es)?|pars\w+|render\w*|comput\w+|calculations?|joins?|sort(?:ing|s)?|fixtures?"
    r"|handling|handlers?|lines?)\b"
)
"""`interval-tree lookup`, `retry path`: what is named after a setting is none."""

_SUBJECT = re.compile(
    r"\b(?:latenc(?:y|ies)|throughput|run ?time|p50|p9[059]|rss|wall[- ]?(?:clock|time)|startup|build time|response time|ttft|tpot"
    r"|memory)\b"
    r"[^.;:]{0,30}\b(?:fell|falls?|drop\w*|went|goes|rose|rises|improv\w*|reduced|decreased|from)\s(?:from\s)?[*_`~]*$"
)
"""`latency fell from 98 ms to 31 ms in the retry path`: what changed is said, whatever stands behind."""

_CORRECTED = re.compile(r"[\s(\[]*fixed\b")
_EVERY = re.compile(r"\b(?:every|each|once per|kept|keeps?|for up to)\s+[*_`~]*$")
_CONDITION = re.compile(r"\b(?:if|whenever|once|as soon as)\s+(?:the\s+|an?\s+)?(?:\w+\s+){1,3}$")
_THRESHOLD = re.compile(r"\b(?:if|when|whenever|unless)\b[^.,;]{0,50}\b(?:more than|at least|over|above|beyond)\s+[*_`]*$")
_DIFFSTAT = re.compile(r"\| bin $")
_RAISED = re.compile(r"\b(?:rais|bump|extend|widen|enlarg)\w*\s+(?:[\w./`-]+\s+){0,4}$|^\W*(?:\[[^\]]*\]\s*)?increas\w*\b")
_TIME = re.compile(rf"(?<![a-z])(?:{METRICS[ClaimMetric.TIME]})|regress|cost|grow|grew|\bgoes\b|\bwent\b|scans?\b|quer(?:y|ies)\b")
_TIME_SPENT = re.compile(r"latenc|run ?time|duration|took|takes|elapsed|wall|faster|slower|startup|regress|build|suite")
_BYTES = re.compile(r"peak|rss|usage|uses?\b|using|footprint|resident|binary|bundle|grow|grew|regress|cost|needs?\b|takes?\b|churn|worse")
_TOLD = {ClaimMetric.TIME: _TIME, ClaimMetric.MEMORY: _BYTES}
"""Words that tell that a time or so many bytes are spent, and not allowed."""

_MONEY = re.compile(
    r"\bcosts?\b|cheaper|spen[dt]|\bbills?\b|invoice|token|/mo\b|\bper (?:run|call|request|month|mo\b|day|1k|review|restart)"
)
_SAVING = re.compile(r"\bcosts?\b|cheaper|sav(?:e|ing)|spend")
COMPARING = ("vs", "vs.", "versus", "against", "compared to", "compared with")
"""Words between two figures that compare what is, and set nothing."""

_DAYS = frozenset({"d", "day", "days"})
_SMALL = 10
_REDUCED = re.compile(r"(?:reduc|lower|decreas|shorten)\w*[\s*_`]*$")


def is_a_setting(effect: Effect, around: Around) -> bool:
    """Whether the figures are of a setting, a condition or a corrected error."""
    behind = _BRACKET.sub("", around.right.lstrip("`")) if "`" in around.right else around.right
    behind = _BELOW_LIMIT.sub("", behind, 1) if "(" in behind else behind
    behind = _COMPOUND.sub("", _ASIDE.split(behind[:_AFTERWARDS], maxsplit=1)[0])
    if _CORRECTED.match(behind) or (_SETTINGS.search(behind) and not _SUBJECT.search(around.left)):
        return True
    if _DIFFSTAT.search(around.near) or (effect.is_pair and _RAISED.search(around.left) and _is_of_setting(effect, around)):
        return True
    if _EVERY.search(around.left) or (effect.is_pair and _CONDITION.search(around.left)) or _grows_like_a_setting(effect, around):
        return True
    if effect.is_pair and (_is_of_set_times(effect, around) or _is_of_places(effect, around)):
        return True
    if effect.is_pair and (_is_in_days(effect, around) or _is_a_price(effect, around)):
        return True
    before = f"{_COMPOUND.sub('', _CASE.sub('', _said_before(around)))} {around.inside}"
    return bool(_SETTINGS.search(_BRACKET.sub("", before) if "(" in before or "`" in before else before))


def is_a_threshold(around: Around) -> bool:
    """`fails only when it is more than 5 percent slower`: nothing became slower."""
    return _THRESHOLD.search(around.left) is not None


def _said_before(around: Around) -> str:
    """What stands before the figures; of a sentence above a table, which is none of its captions, nothing."""
    caption, bar, labels = around.sentence.partition(" | ")
    return labels[-120:] if bar and around.is_table and caption.rstrip().endswith((".", "!")) else around.sentence[-120:]


def _is_of_setting(effect: Effect, around: Around) -> bool:
    """Whether it is bare numbers, or a time that nobody says is spent: who raises those changes a setting."""
    if _TIME.search(around.left):
        return False
    return all(figure.metric in (None, ClaimMetric.TIME) for figure in (effect.before, effect.after) if figure)


def _grows_like_a_setting(effect: Effect, around: Around) -> bool:
    """Whether a time was reduced to more, or a time or size went from one round figure to another above it and no word tells of use."""
    before, after = effect.before, effect.after
    if before is None or after is None or before.metric not in _TOLD or after.sized()[0] <= before.sized()[1]:
        return False
    if before.metric is ClaimMetric.TIME and _REDUCED.search(around.left):  # `reduced from 1s to 5s` is of how often something happens
        return True
    is_told = around.is_table or effect.change or effect.swaps or effect.word in COMPARING or _is_told(_TOLD[before.metric], around)
    return not is_told and _is_round(before) and _is_round(after)


_OF_SET_TIMES = re.compile(r"time-?outs?\b|\bintervals?\b|\bttls?\b|\bdeadlines?\b|\bback-?off")


_OF_PLACES = re.compile(r"\b(?:timing |time |clock |a/v |audio )?(?:offsets?|drift|skew|desync|timestamps?|out of sync|lip-?sync)\b")


def _is_of_places(effect: Effect, around: Around) -> bool:
    """Whether the text is of when something happens, as its title says, and nobody says that the time is spent."""
    is_time = effect.before is not None and effect.before.metric is ClaimMetric.TIME
    return is_time and bool(_OF_PLACES.search(around.title.lower)) and not effect.change and not _is_told(_TIME_SPENT, around)


def _is_of_set_times(effect: Effect, around: Around) -> bool:
    """Whether the text is of timeouts, as its title says, the times are round and nobody says that they are spent."""
    if around.is_table or effect.change or not _OF_SET_TIMES.search(_COMPOUND.sub("", around.title.lower)) or _is_told(_TIME, around):
        return False
    return all(figure is not None and figure.metric is ClaimMetric.TIME and _is_round(figure) for figure in (effect.before, effect.after))


def _is_a_price(effect: Effect, around: Around) -> bool:
    """Whether it is money that nobody says is spent."""
    is_money = effect.before is not None and effect.before.metric is ClaimMetric.COST
    return is_money and not _is_told(_MONEY, around) and not _SAVING.search(around.title.lower)


def _is_told(words: re.Pattern[str], around: Around) -> bool:
    return any(map(words.search, (around.left[-100:], around.inside, around.right)))


def _is_round(figure: Quantity) -> bool:
    """Whether it is a number that people set, and seldom one that is measured."""
    if figure.low != figure.high or figure.low != int(figure.low):
        return False
    whole = int(figure.low)
    return whole < _SMALL or whole % 5 == 0 or whole % 12 == 0 or whole.bit_count() == 1


def _is_in_days(effect: Effect, around: Around) -> bool:
    """Whether it is days that are kept or valid, and not days that something takes."""
    units = {figure.unit.name for figure in (effect.before, effect.after) if figure and figure.unit}
    return bool(units) and units <= _DAYS and not _is_told(_TIME, around)
