"""What tools that measure print: the time of a command below `Before` and below `After`, and the change that criterion tells."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.claims.find.sections import Span, below
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.quantities import Quantity, quantities
from ingest.claims.numbers.units import unit
from ingest.claims.words.change_words import Sense

_HEAD = r"^[ \t]*(?:#{1,6}[ \t]+|[*_]{2})?(?:%s)\b(?!-)[^\n|\d]{0,30}?[*_]{0,2}:?[*_]{0,2}[ \t]*\n(?=[ \t]*(?:\n|```|[$>] |[^\n]{0,80}\d))"
_BEFORE = re.compile(_HEAD % "before|old|baseline|main|master|base", re.IGNORECASE | re.MULTILINE)
_AFTER = re.compile(_HEAD % "after|new|now|this (?:pr|branch|change|patch)|branch|with this \\w+", re.IGNORECASE | re.MULTILINE)
_REACH = 1500
"""Characters in which the output below a head is looked for."""

_ELAPSED = re.compile(
    r"\bcpu (?P<shell>\d+(?:\.\d+)?(?=\s+total\b)|\d{1,2}:\d\d\.\d+(?=\s+total\b))"
    r"|^[ \t]*real[ \t]+(?P<real>\d{1,4}m ?\d{1,2}[.,]\d{1,4}s|\d+[.,]\d+(?=s?$))"
    r"|\bTime \(mean ± σ\):[ \t]+(?P<hyperfine>\d[\d.]*[ \t]m?s)"
    r"|\b\d+ passed\b[^\n]{0,60}? in (?P<tests>\d[\d.]*s)\b"
    r"|\btime:[ \t]+\[\d[\d.]* \S{1,3} (?P<criterion>\d[\d.]* \S{1,3}) \d[\d.]* \S{1,3}\]"
    r"|\b(?:Finished|Done|Completed|Built|Compiled|Ran)\b[^\n\d]{0,40}?\bin (?P<told>\d[\d.]*[ \t]?(?:ms|s|sec|seconds|m))\b",
    re.MULTILINE,
)
"""The elapsed time in the output of `time`, hyperfine, builds and runners of tests."""

_CRITERION = re.compile(r"\bchange:\s+\[[+−-]\d[\d.]*% (?P<middle>[+−-]\d[\d.]*%) [+−-]\d[\d.]*%\]")


def output_effects(text: str) -> Iterator[Effect]:
    """The first elapsed time below `Before` against that below `After`, and the changes of criterion."""
    if "change:" in text:
        yield from _changes(text)
    if "±" in text:
        yield from _compared(text)
    for first_span, second_span in below(text, _BEFORE, _AFTER, _REACH):
        first, second = _elapsed(text, *first_span), _elapsed(text, *second_span)
        if first and second:
            yield Effect(first.start, second.end, first, second)
        yield from _of_wrk(text, first_span, second_span)
        yield from _of_go(text, first_span, second_span)


_LATENCY = re.compile(r"^[ \t]*Latency[ \t]+(?P<figure>\d[\d.]*[mu]?s)[ \t]+\d", re.MULTILINE)
_RATE = re.compile(r"^[ \t]*(?P<name>Requests/sec):[ \t]+(?P<figure>\d[\d.]*)", re.MULTILINE)


def _of_wrk(text: str, first: Span, second: Span) -> Iterator[Effect]:
    """The mean latency and the rate that wrk prints, below both heads."""
    for line in (_LATENCY, _RATE):
        runs = [line.search(text, *span) for span in (first, second)]
        before, after = (next(quantities(text, *run.span("figure")), None) if run else None for run in runs)
        if before and after:
            rate = unit("requests/sec") if line is _RATE else None
            before, after = (one._replace(unit=one.unit or rate) for one in (before, after))
            yield Effect(after.start, after.end, before, after)


_GO = re.compile(
    r"^(?P<name>Benchmark\S+)[ \t]+\d+[ \t]+(?P<time>\d[\d.]* ns/op)"
    r"(?:[ \t]+\d[\d.]* MB/s)?(?:[ \t]+(?P<memory>\d+ B/op))?(?:[ \t]+(?P<count>\d+ allocs/op))?",
    re.MULTILINE,
)
_OF_GO = ("time", "memory", "count")


def _of_go(text: str, first: Span, second: Span) -> Iterator[Effect]:
    """The benchmarks of Go below both heads, each with that of its name."""
    known = {run["name"]: run for run in _GO.finditer(text, *first)}
    for run in _GO.finditer(text, *second):
        former = known.pop(run["name"], None)
        for part in _OF_GO if former else ():
            before, after = (next(quantities(text, *one.span(part)), None) if one and one[part] else None for one in (former, run))
            if before and after:
                yield Effect(after.start, after.end, before, after)


_ASV = re.compile(
    r"^[ \t]{0,20}[-+!x]?[ \t]{1,40}(?P<before>\d[\d.]*±[\d.]+[nµμm]?s)[ \t]+(?P<after>\d[\d.]*±[\d.]+[nµμm]?s)"
    r"[ \t]+~?(?P<ratio>\d+\.\d\d)[ \t]+[A-Za-z]",
    re.MULTILINE,
)
"""A row of asv: `-  149±3μs  104±2μs  0.70  bench.x`."""


def _compared(text: str) -> Iterator[Effect]:
    for row in _ASV.finditer(text):
        before, after = (next(quantities(text, *row.span(side)), None) for side in ("before", "after"))
        if before and after:
            yield Effect(before.start, row.end("ratio"), before, after)


def _elapsed(text: str, start: int, end: int) -> Quantity | None:
    found = _ELAPSED.search(text, start, end)
    if found is None or found.lastgroup is None:
        return None
    figure = next(quantities(text, *found.span(found.lastgroup)), None)
    return figure._replace(unit=unit("s")) if figure and figure.unit is None else figure


def _changes(text: str) -> Iterator[Effect]:
    for found in _CRITERION.finditer(text):
        change = next(quantities(text, *found.span("middle")), None)
        if change and change.low:
            sense = Sense.LOSS if change.sign == "+" else Sense.FALL
            yield Effect(found.start(), found.end(), change=change, sense=sense, word="change", heads="time")
