"""How much of the software a claim covers: micro, component, end to end, or unspecified.

A softmax over the features below: each scope has a sum of weights, and the largest wins. The weights are in `scope.toml`, fitted to
labelled texts by `python -m tests.labelled.fitting`; docs/claims-confidence.md is their model card. The words are in `words/scope.toml`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from itertools import islice

from ingest.claims.find.multi_search import WordSearch, whole_word
from ingest.claims.judge.features import Candidate, Feature, Weights, is_, is_in_code, line, lower, section, tables_of, weights_of
from ingest.claims.patterns import pattern
from ingest.claims.words.vocabulary import SCOPES, WHOLE, whole_words
from ingest.claims.words.word_tables import words as listed
from schemas.rows.claim import ClaimMetric, Direction, Evidence, Scope

_WORDS = WordSearch(
    whole_words(*(f"(?P<{scope.name}>{words})" for scope, words in SCOPES.items())),
    [word for scope in SCOPES for word in listed("scope", scope.value)],
)
_WHOLE = pattern(WHOLE)
_COMMAND = pattern(r"`[\w./-]+ [^`\n]{1,50}`")
_NAME = pattern(r"`[\w.:/]+(?:\(\))?`|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b|\b\w+\(\)|\b[a-z]+_[a-z_]+\b|\b\w+\.\w+\.\w+\b")
"""A name of code: `parse_row`, `parseRow`, `ParseRow`, `parse()`."""

_OF_MICRO_BENCHMARKS = (
    r"micro-?\s?bench|bench_scratch|per[- ]?iter|/iter|\biters?\b|iterations|tight loop|synthetic|standalone script|standalone bench"
    "|scratch bench"
)
_MICRO_BENCHMARK = WordSearch(_OF_MICRO_BENCHMARKS, _OF_MICRO_BENCHMARKS.split("|"))

_KINDS = {
    "piece of code": whole_word(
        r"tensors?|alloc\w*|kernels?|op(?:erator)?s?|dict(?:ionary)?|list|loop|function|method|lookup|hash\w*|copy|memcpy|clone|init\w*"
        r"|parser?|regex|string|array|buffer|cache|queue|lock|vector\w*|softmax|matmul|slice|append|insert|sort",
    ),
    "part": whole_word(
        r"stage|phase|module|query|queries|layer|subsystem|pipeline|cache|loading|parsing|prefill|decode|denois\w*|encod\w*|render\w*"
        r"|index\w*|search|upload|resize|step",
    ),
    "whole": whole_word(
        r"start-?up|cold start|build|test suite|ci|page|request|response|end[- ]to[- ]end|total|overall|server|serving|command|cli"
        r"|app|bundle|install|training|inference|throughput|ttft|tpot|latency|compile|load time|whole|full|deploy|bootstrap"
        r"|first paint|frame|fps",
    ),
}
"""Words for what each scope is mostly said of."""

_PHRASES = {
    "page": r"\bpages?\b|\blcp\b|\bfcp\b|\btti\b|first (?:contentful )?paint|lighthouse",
    "request": r"\bapi (?:latency|response|calls?|p\d+)|response times?|endpoints?\b|\bget /|\bpost /|req(?:uest)?s?/s(?:ec)?\b"
    r"|requests? per second|\brps\b",
    "suite": r"test suite|\bsuites?\b|\bci\b|\bjobs?\b|pipeline time|workflow",
    "training": r"training|\bepochs?\b|steps?/s(?:ec)?\b|ms/step|per step\b|/step\b|step time",
    "memory of the process": r"\brss\b|\bvram\b|gpu memory|memory usage|peak memory|memory footprint",
}
"""Phrases beside a claim that leave little doubt of its scope, by what they are of."""


def _seconds(candidate: Candidate) -> float | None:
    """The baseline time in seconds, its upper end; None for another metric and without figures."""
    before = candidate.effect.before
    return before.scaled()[1] if before is not None and before.metric is ClaimMetric.TIME else None


def _nearest(candidate: Candidate) -> str | None:
    """The name of the scope of the nearest word: the last one before the claim, else the first behind, inside, or in the title."""
    if before := words_in(_PLACES["before"](candidate)):
        return before[-1]
    others = (words_in(_PLACES[place](candidate)) for place in ("behind", "inside", "title"))
    return next((words[0] for words in others if words), None)


@lru_cache(maxsize=32)
def words_in(part: str) -> tuple[str, ...]:
    """The names of the scopes of the words in a part of the text, in order; cached, since several features ask."""
    return tuple(found.lastgroup for found in _WORDS.finditer(part) if found.lastgroup)


@lru_cache(maxsize=16)
def _share(kind: str, text: str) -> float:
    """How many words of that kind the text has, 20 at most, divided by 20; cached, since every claim of a text asks."""
    return sum(1 for _ in islice(_KINDS[kind].finditer(lower(text)), 20)) / 20


_DURATIONS = (
    ("below 1 µs", 0, 1e-6), ("1 µs to 1 ms", 1e-6, 1e-3), ("1 to 100 ms", 1e-3, 0.1), ("0.1 to 1 s", 0.1, 1), ("1 to 5 s", 1, 5),
    ("5 to 60 s", 5, 60), ("1 min and more", 60, float("inf")),
)  # fmt: skip
"""Lengths of the baseline time: name, from, to in seconds."""

_PLACES: dict[str, Callable[[Candidate], str]] = {
    "before": lambda it: it.nearby.left[-120:],
    "behind": lambda it: it.nearby.right,
    "inside": lambda it: it.nearby.inside,
    "title": lambda it: it.nearby.title.lower,
    "heading": lambda it: it.nearby.list_heading(),
    "section": section,
    "line": lambda it: line(it).lower(),
}
"""Where words of scope are searched."""


@lru_cache(maxsize=16)
def _speaks_of_micro_benchmark(lower: str) -> bool:
    """Whether a part of the text, in lower case, speaks of a micro-benchmark; cached, since every claim of a text asks."""
    return _MICRO_BENCHMARK.search(lower) is not None


@lru_cache(maxsize=16)
def _has_name(part: str) -> bool:
    """Whether a part of the text has a name of code; cached, since several claims share a line or the title."""
    return _NAME.search(part) is not None


def _of_duration(name: str, low: float, high: float) -> Feature:
    return is_(f"time {name}", "the length of the baseline time", lambda it: low <= (_seconds(it) or -1) < high)


def _nearest_is(scope: Scope) -> Feature:
    return is_(f"nearest word: {scope}", "the scope of the nearest word", lambda it: _nearest(it) == scope.name)


def _word_of(scope: Scope, place: str) -> Feature:
    part = _PLACES[place]
    return is_(f"{scope} {place}", "a word of that scope there", lambda it: scope.name in words_in(part(it)))


def _kind_in(kind: str, place: str) -> Feature:
    words, part = _KINDS[kind], _PLACES[place]
    return is_(f"{kind} in the {place}", "such a word there", lambda it: words.search(part(it)))


def _share_of(kind: str) -> Feature:
    return Feature(
        f"{kind} in the text", "how many such words the text has, 20 at most, divided by 20", lambda it: _share(kind, it.nearby.text)
    )


def _of_metric(metric: ClaimMetric) -> Feature:
    return is_(f"metric {metric}", f"the metric is {metric}", lambda it: it.measure.metric is metric)


def _beside(candidate: Candidate) -> str:
    """The words right around a claim; in a table, its row label and header cells."""
    nearby = candidate.nearby
    left = " ".join(nearby.left.split(" | ")[2:]) if nearby.is_table else nearby.left[-60:]
    return f"{left} {nearby.inside} {nearby.right[:25]}"


def _phrase_of(name: str, phrase: str) -> Feature:
    words = pattern(phrase)
    return is_(f"beside: {name}", "such a phrase beside it", lambda it: words.search(_beside(it)))


def _has_whole(candidate: Candidate) -> bool:
    nearby = candidate.nearby
    return any(map(_WHOLE.search, (nearby.left[-60:], nearby.right[:30], nearby.inside)))


PHRASE_FEATURES = tuple(_phrase_of(*phrase) for phrase in _PHRASES.items())
"""One feature for each of `_PHRASES`, newer than the others.

`python -m tests.labelled.fitting --go-on` fits their weights and leaves those of the others.
"""

FEATURES: tuple[Feature, ...] = (
    is_("whole", "a word for the whole beside the claim: `end-to-end`", _has_whole),
    is_("command", "a command in backticks before it", lambda it: _COMMAND.search(it.nearby.raw_left[-60:])),
    is_("name before", "a name of code before it", lambda it: _NAME.search(it.nearby.raw_left[-50:])),
    is_("name behind", "a name of code right behind it", lambda it: _NAME.match(it.nearby.raw_right.lstrip(" *for"))),
    is_("name in the line", "a name of code in its line", lambda it: _has_name(line(it))),
    is_("name in the title", "a name of code in the title", lambda it: _has_name(it.nearby.title.raw)),
    is_("micro-benchmark in the text", "the text speaks of one", lambda it: _speaks_of_micro_benchmark(lower(it.nearby.text))),
    is_(
        "micro-benchmark in the section",
        "the section does",
        lambda it: _speaks_of_micro_benchmark(lower(it.nearby.text)) and _speaks_of_micro_benchmark(section(it)),
    ),
    is_("no time", "the figures are no times", lambda it: _seconds(it) is None),
    *(_of_duration(*duration) for duration in _DURATIONS),
    *map(_nearest_is, SCOPES),
    *(_word_of(scope, place) for scope in SCOPES for place in ("before", "behind", "inside", "title", "heading", "section")),
    *(_kind_in(kind, place) for kind in _KINDS for place in ("line", "title", "heading")),
    *map(_share_of, _KINDS),
    *map(_of_metric, ClaimMetric),
    is_("named reading", "labels of lines or header cells name the figures", lambda it: it.effect.labels),
    is_("table", "a row of a table", lambda it: it.nearby.is_table),
    is_("title", "in the first line of the text", lambda it: it.effect.start <= it.nearby.title.end),
    is_("figures", "baseline and candidate", lambda it: it.effect.is_pair),
    is_("change", "a factor or percentage", lambda it: it.effect.change),
    is_("code", "inside backticks or a fenced block", is_in_code),
    is_("worse", "it became worse", lambda it: it.direction is Direction.WORSE),
    is_("benchmarked", "the text says how the figures came about", lambda it: it.evidence is Evidence.BENCHMARKED),
    *PHRASE_FEATURES,
)
"""All features of a scope."""


_OF_THE_CLAIM = frozenset(
    {"no time", "title", "figures", "change", "code", "worse", "benchmarked", "table", *(f"metric {metric}" for metric in ClaimMetric)}
)
"""Features that say nothing of what the claim is about."""


@cache
def _weights() -> tuple[tuple[Feature, ...], dict[Scope, Weights]]:
    """The features that weigh anything, and the weights of each scope."""
    of_scopes = {Scope(name): weights_of(table, FEATURES) for name, table in tables_of("scope.toml").items()}
    used = {feature.name for weights in of_scopes.values() for feature, _ in weights.of_features}
    return tuple(feature for feature in FEATURES if feature.name in used), of_scopes


def scope_of(candidate: Candidate) -> Scope:
    """The scope with the largest sum; unspecified, if nothing but the claim itself is there: `3x faster`."""
    features, of_scopes = _weights()
    present = {feature.name: value for feature in features if (value := feature.value(candidate))}
    if present.keys() <= _OF_THE_CLAIM:
        return Scope.UNSPECIFIED
    sums = {scope: weights.total_of(present) for scope, weights in of_scopes.items()}
    return max(sums, key=sums.__getitem__)
