"""Figures that are not performance: timeouts, limits and intervals that were set, conditions, corrected errors, prices, dates."""

from __future__ import annotations

import re

from ingest.claims.judge.surroundings import Surroundings
from ingest.claims.numbers.effect import NAMED_SIDES, Effect
from ingest.claims.numbers.quantities import Kind, is_round
from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import METRICS, SETTINGS
from schemas.rows.claim import ClaimMetric

_SETTINGS = pattern(SETTINGS)
_WORD_REACH = 25
"""Characters behind a figure in which a word belongs to the figure."""

_BRACKET = pattern(r"\([^()]{0,80}\)|`[^`=\n]{1,40}=[^`\n]{1,40}`|`[^`\s]{1,30} [^`\n]{1,80}`")
"""Brackets, arguments and commands: their words are not about the figures."""

_BELOW_LIMIT = pattern(r"[\s*_`]*\((?:[\d.,]+\s?\w+ )?(?:still |now |well )?(?:under|below|within|over|above|exceed)[^()\n]{0,60}\)")
"""`24 kB (under the limit by 287 bytes)`: compared with a limit, not a limit."""

_ASIDE = pattern(r"[,;:—–]\s")
"""The end of the clause: words behind it are not about the figures."""

_CASE = pattern(r"\b(?:where|when|if|with) the [^,;.()\d]{1,40}\b(?:is|are|at|of|=) [^,;]{1,15},")
"""`in the case where the interval is 1, …`: the condition of a measurement."""

_COMPOUND = pattern(
    r"(?<![\w-])[a-z]+[ -](?:trees?|wheels?|queues?|kernels?|matri(?:x|ces)|lookups?|inserts?|redraws?|decod\w+|drains?|pushdown|filters?"
    r"|alloc\w*|paths?|layouts?|scans?|search(?:es)?|pars\w+|render\w*|comput\w+|calculations?|joins?|sort(?:ing|s)?|fixtures?"
    r"|handling|handlers?|lines?)\b"
)
"""`interval-tree lookup`, `retry path`: named after a setting, but not one."""

_NAMED_SUBJECT = pattern(
    r"\b(?:latenc(?:y|ies)|throughput|run ?time|p50|p9[059]|rss|wall[- ]?(?:clock|time)|startup|build time|response time|ttft|tpot"
    r"|memory)\b"
    r"[^.;:]{0,30}\b(?:fell|falls?|drop\w*|went|goes|rose|rises|improv\w*|reduced|decreased|from)\s(?:from\s)?[*_`~]*$"
)
"""`latency fell from 98 ms to 31 ms in the retry path`: the subject is named, so the words behind do not matter."""

_CORRECTED = pattern(r"[\s(\[]*fixed\b")
_EVERY = pattern(r"\b(?:every|each|once per|kept|keeps?|for up to)\s+[*_`~]*$")
_CONDITION = pattern(r"\b(?:if|whenever|once|as soon as)\s+(?:the\s+|an?\s+)?(?:\w+\s+){1,3}$")
_THRESHOLD = pattern(
    r"\b(?:if|when|whenever|unless)\b[^.,;]{0,50}\b(?:more than|at least|over|above|beyond)\s+[*_`]*$"
    r"|\b(?:warn\w*|fail\w*|alert\w*|thresholds?)\b[^.;]{0,60}\b(?:at|from|over|above|beyond)\s+[*_`]*$"
)
_COMPLETE = pattern(r"[*_`]*\s(?:[^().;\n]{0,50}\s)?(?:complete|completed|done|migrated|finished)\b")
"""`(~90% of the migration complete)`: a state, no change."""

_DIFFSTAT = pattern(r"\| bin $")
_RAISED = pattern(r"\b(?:rais|bump|extend|widen|enlarg)\w*\s+(?:[\w./`-]+\s+){0,4}$|^\W*(?:\[[^\]]*\]\s*)?increas\w*\b")
_TIME = pattern(
    rf"(?<![a-z])(?:{METRICS[ClaimMetric.TIME]})|measur|bench|millis|_perf_|regress|cost|grow|grew|\bgoes\b|\bwent\b|scans?\b|quer(?:y|ies)\b"
)
_TIME_SPENT = pattern(r"latenc|run ?time|duration|took|takes|elapsed|wall|faster|slower|startup|regress|build|suite")
_BYTES = pattern(r"peak|rss|usage|uses?\b|using|footprint|resident|binary|bundle|grow|grew|regress|cost|needs?\b|takes?\b|churn|worse")
_SPENT = {ClaimMetric.TIME: _TIME, ClaimMetric.MEMORY: _BYTES}
"""Words beside a time or amount of bytes that is spent, not allowed."""

_MONEY = pattern(r"\bcosts?\b|cheaper|spen[dt]|\bbills?\b|invoice|token|/mo\b|\bper (?:run|call|request|month|mo\b|day|1k|review|restart)")
_SAVING = pattern(r"\bcosts?\b|cheaper|sav(?:e|ing)|spend")
COMPARING = ("vs", "vs.", "versus", "against", "compared to", "compared with", NAMED_SIDES)
"""Words between two measurements; settings have none of them."""

_DAY_UNITS = frozenset({"d", "day", "days"})
_REDUCED = pattern(r"(?:reduc|lower|decreas|shorten)\w*[\s*_`]*$")


def is_other_than_performance(effect: Effect, nearby: Surroundings) -> bool:
    """Whether the figures certainly are no performance: a diffstat, corrected errors, points in time, days of retention, prices, people."""
    if _DIFFSTAT.search(nearby.just_before) or _CORRECTED.match(_words_behind(nearby)):
        return True
    if effect.change and not effect.is_pair and effect.change.kind is Kind.PERCENT and _COMPLETE.match(nearby.right):
        return True
    return effect.is_pair and (
        _is_of_points_in_time(effect, nearby)
        or _is_in_days(effect, nearby)
        or _is_a_price(effect, nearby)
        or _is_growth_in_time(effect, nearby)
        or (effect.unit is None and _OF_FILE_MODES.search(nearby.left) is not None)
        or (effect.unit is None and nearby.is_table and _ROW_OF_OTHERS.search(nearby.left) is not None)
    )


_ROW_OF_OTHERS = pattern(
    r"\| (?:[\w-]+ ){0,2}(?:layers?|heads|learning rate|lr|dropout|batch size|epochs?|hidden (?:size|dim\w*)|param(?:eter)?s|users|clients"
    r"|(?:success|adaptation|error|failure|hit|win|conversion|detection) rate|auc|mrr|map(?:@\d+)?|ndcg(?:@\d+)?|efficiency|stability"
    r"|confidence|diversity|index usage|stories|features|endpoints) \|"
)
"""The label of a row of bare numbers that are settings of a model, people, rates and marks."""

_CONSTANT = pattern(r"(?<![A-Za-z0-9_])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+[`*_]{0,3}\s?[:=]\s?[`*_]{0,3}$")
"""`STRIPE_HEIGHT: 8 → 16`: a constant of the code."""

_ACTUALLY = pattern(r"[*_`]*\s\((?:actual|actually|currently|measured|in use)\b")
"""`190 kB → 165 kB (actual: ~160 kB)`: a limit."""


def _cell_before(effect: Effect, nearby: Surroundings) -> str:
    """The words before the figures in their cell, `beforeEach timeout 10s -> 30s`, in lower case; without compounds and brackets."""
    text = nearby.text
    cell = text[max(text.rfind("|", 0, effect.start), text.rfind("\n", 0, effect.start)) + 1 : effect.start].lower()
    return _COMPOUND.sub("", _BRACKET.sub("", cell))


def is_a_setting(effect: Effect, nearby: Surroundings) -> bool:
    """Whether the figures seem to belong to a setting, limit or condition: `timeout 30s → 60s`."""
    if _SETTINGS.search(_words_behind(nearby)) and not _NAMED_SUBJECT.search(nearby.left):
        return True
    if _EVERY.search(nearby.left) or _grows_like_a_setting(effect, nearby) or (effect.is_pair and _is_a_set_pair(effect, nearby)):
        return True
    if nearby.is_table and _SETTINGS.search(_cell_before(effect, nearby)):
        return True
    before = f"{_COMPOUND.sub('', _CASE.sub('', _words_before(nearby)))} {nearby.inside}"
    return bool(_SETTINGS.search(_BRACKET.sub("", before) if "(" in before or "`" in before else before))


def _is_a_set_pair(effect: Effect, nearby: Surroundings) -> bool:
    """Whether the words around a pair say that it was set: raised, a constant, a limit of what is used, the time of a timeout."""
    if _CONDITION.search(nearby.left) or _CONSTANT.search(nearby.raw_left) or _ACTUALLY.match(nearby.right):
        return True
    is_raised = _RAISED.search(nearby.left) is not None and _is_of_setting(effect, nearby)
    return is_raised or _is_of_set_times(effect, nearby) or _changes_what_is_above(effect, nearby)


def _words_behind(nearby: Surroundings) -> str:
    """The words right behind the figures, without brackets, code and compounds that are named after a setting."""
    behind = _BRACKET.sub("", nearby.right.lstrip("`")) if "`" in nearby.right else nearby.right
    behind = _BELOW_LIMIT.sub("", behind, 1) if "(" in behind else behind
    return _COMPOUND.sub("", _ASIDE.split(behind[:_WORD_REACH], maxsplit=1)[0])


def is_a_threshold(nearby: Surroundings) -> bool:
    """Whether the change is a condition: `fails only when it is more than 5 percent slower`."""
    return _THRESHOLD.search(nearby.sentence) is not None


def _words_before(nearby: Surroundings) -> str:
    """The words before the figures; for a table, without the line above if that is a sentence and no caption."""
    caption, bar, labels = nearby.sentence.partition(" | ")
    return labels[-120:] if bar and nearby.is_table and caption.rstrip().endswith((".", "!")) else nearby.sentence[-120:]


_WAITS = pattern(r"\bwait(?:ing)? time\b")
"""`increases the wait time from 2 s to 5 s`: how long something may take."""


def _is_of_setting(effect: Effect, nearby: Surroundings) -> bool:
    """Whether they are bare numbers or times without a word for time spent: to raise those is to change a setting."""
    if _TIME.search(nearby.left) and not _WAITS.search(nearby.left):
        return False
    return all(figure.metric in (None, ClaimMetric.TIME) for figure in (effect.before, effect.after) if figure)


_MEASURED_SIDES = pattern(r"\b(?:un)?optimi[sz]ed\b|\bbaseline\b|\bpatched\b")
"""`Baseline: 12 ms`, `Optimized: 24 ms`: nobody calls the values of a setting so."""


def _grows_like_a_setting(effect: Effect, nearby: Surroundings) -> bool:
    """Whether a time was "reduced" to a longer one, or a round time or size was raised and no word says that it is spent."""
    before, after = effect.before, effect.after
    if before is None or after is None or before.metric not in _SPENT or after.scaled()[0] <= before.scaled()[1]:
        return False
    if before.metric is ClaimMetric.TIME and _REDUCED.search(nearby.left):  # `reduced from 1s to 5s`: an interval
        return True
    is_spent = (
        nearby.is_table
        or effect.change
        or effect.is_order_open
        or effect.word in COMPARING
        or _has_near(_MEASURED_SIDES, nearby)
        or _has_near(_SPENT[before.metric], nearby)
    )
    return not is_spent and is_round(before) and is_round(after)


_TIMEOUT_TITLE = pattern(r"time-?outs?\b|\bintervals?\b|\bttls?\b|\bdeadlines?\b|\bback-?off")


_OFFSET_TITLE = pattern(r"\b(?:timing |time |clock |a/v |audio )?(?:offsets?|drift|skew|desync|timestamps?|out of sync|lip-?sync)\b")


def _is_of_points_in_time(effect: Effect, nearby: Surroundings) -> bool:
    """Whether the title is about offsets or timestamps, and no word says that the times are spent."""
    is_time = effect.before is not None and effect.before.metric is ClaimMetric.TIME
    return is_time and bool(_OFFSET_TITLE.search(nearby.title.lower)) and not effect.change and not _has_near(_TIME_SPENT, nearby)


def _is_of_set_times(effect: Effect, nearby: Surroundings) -> bool:
    """Whether the title is about timeouts or intervals, the times are round, and no word says that they are spent."""
    if nearby.is_table or effect.change or not _TIMEOUT_TITLE.search(_COMPOUND.sub("", nearby.title.lower)) or _has_near(_TIME, nearby):
        return False
    return all(figure is not None and figure.metric is ClaimMetric.TIME and is_round(figure) for figure in (effect.before, effect.after))


_CHANGED_FROM = pattern(r"\W*(?:changed|increased|raised|bumped|extended|adjusted|set)\s(?:it\s|this\s)?(?:from\s)?[\s*_`]*$")
_ABOVE = 200
"""Characters above a sentence without a subject in which the setting is named that it changes."""


def _changes_what_is_above(effect: Effect, nearby: Surroundings) -> bool:
    """Whether the sentence says only `Changed from 60 s to 180 s`, and a setting is named above it."""
    above = nearby.text[max(0, effect.start - _ABOVE) : effect.start]
    return _CHANGED_FROM.fullmatch(nearby.left) is not None and _SETTINGS.search(above.lower()) is not None


_OF_FILE_MODES = pattern(r"\b(?:mode|modes|permissions?|chmod)\b[^.;\n]{0,60}$")
"""`changes the mode of the script from 644 to 755`"""

_GROWS = pattern(r"\b(?:climb\w*|gr[eo]ws?|growing|ris(?:es|ing)|rose|leak\w*|balloon\w*|increas(?:es|ing))\b[^.;]{0,40}$")
_IN_TIME = pattern(
    r"[*_`]*,? (?:in|within|after|over|every|per) (?:about |just |the |~)?"
    r"(?:\d[\d.]*|an?|one|two|three|five|ten|a few) ?(?:sec|min|hour|day|h\b)"
)


def _is_growth_in_time(effect: Effect, nearby: Surroundings) -> bool:
    """`Memory climbs from 2 GB to 3 GB in ten minutes`: what was observed while something ran, not what a change did."""
    before, after = effect.before, effect.after
    grows = before is not None and after is not None and after.scaled()[0] > before.scaled()[1]
    return grows and not effect.change and bool(_IN_TIME.match(nearby.right) and _GROWS.search(nearby.left))


def _is_a_price(effect: Effect, nearby: Surroundings) -> bool:
    """Whether it is an amount of money, and no word says that it is spent."""
    is_money = effect.before is not None and effect.before.metric is ClaimMetric.COST
    return is_money and not _has_near(_MONEY, nearby) and not _SAVING.search(nearby.title.lower)


def _has_near(words: re.Pattern[str], nearby: Surroundings) -> bool:
    """Whether one of the words is before, inside or behind the effect."""
    return any(map(words.search, (nearby.left[-100:], nearby.inside, nearby.right)))


def _is_in_days(effect: Effect, nearby: Surroundings) -> bool:
    """Whether it is a number of days of retention or validity: no word says that they are spent."""
    units = {figure.unit.name for figure in (effect.before, effect.after) if figure and figure.unit}
    return bool(units) and units <= _DAY_UNITS and not _has_near(_TIME, nearby)
