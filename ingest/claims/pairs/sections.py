"""Pairs across two sections: `### Before` / `- First launch: 10 min` and, further down, `### After` / `- First launch: 2 min`.

A section may also have the output of a measuring tool: `time`, hyperfine, pytest, wrk, `go test -bench`. Criterion and asv print the
comparison themselves. The words of the headings are in `words/labels.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from ingest.claims.judge.ratios import agrees
from ingest.claims.numbers.effect import Effect
from ingest.claims.numbers.measure import MeasureSource
from ingest.claims.numbers.quantities import CLOCK, Kind, Quantity, quantities
from ingest.claims.numbers.units import unit
from ingest.claims.patterns import lowered, pattern
from ingest.claims.words.vocabulary import DECORATION, HEDGE, Sense
from ingest.claims.words.word_tables import alternation, heading_ends
from schemas.rows.claim import ClaimMetric

_MARKED_HEADING = (
    r"[ \t]{0,8}(?:#{1,6}[ \t]+|={2,5}[ \t]+|-{3,5}[ \t]+|\*\*|__|[-*•][ \t]+\*\*)(?:\W{1,4})?(?:%s)(?![A-Za-z])"
    r"[^\n:|\d]{0,40}?[:：]?(?:\*\*|__)?[:：]?[ \t]*$"
)
_BARE_HEADING_LINE = (
    r"^[ \t]*(?:(?:results?|numbers|timings?|output|performance|benchmarks?(?: results?)?)[ \t])?(?:%s)(?:[ \t]branch)?"
    r"(?:[ \t]\([^()\n]{1,90}\)|[ \t](?:this|the|my) [a-z]{1,12}|[ \t][a-z]{3,20}(?=[:：]))?"
    r"[:：]?(?:[ \t]`[^`\n]{1,80}`)?[ \t]*$"
)
"""`Before:`, `After this patch:`, `Before optimization:`"""
_FLAGS = re.IGNORECASE | re.MULTILINE


def _words(*sections: str) -> str:
    """The words of sections of `words/labels.toml`, as a piece of a regular expression."""
    return "|".join(alternation("labels", section) for section in sections)


def _section_heading(words: str) -> re.Pattern[str]:
    """The heading of a section with one of the words: marked, `### Before`, or alone on its line, `Before:`."""
    return pattern(f"{_MARKED_HEADING % words}|{_BARE_HEADING_LINE % words}", _FLAGS)


_BEFORE = _section_heading(_words("baseline_heading", "baseline_version_heading"))
_AFTER = _section_heading(_words("candidate_heading", "candidate_version_heading"))
_LINE = pattern(
    r"^[ \t]{0,40}(?:[-*•+◦][ \t]{1,40})?[*_`]{0,3}(?P<label>[^:：\n|]{2,60}?)[*_`]{0,3}"
    r"(?:[:：][*_`]{0,3}[ \t]{0,40}|[ \t]{1,40}(?=[~<≈]?\d[\d.,]{0,9}[ \t]?[A-Za-zµ/]{1,8}[ \t]*(?:\(|$)))(?=[^\n]*\d)(?P<rest>[^\n]+)$",
    re.MULTILINE,
)
Span = tuple[int, int]
_REACH = 2400
"""Characters of a section that are read."""

_MOST_HEADINGS = 100
"""The most headings of a text whose sections are read; a text with more is data, not a summary."""

_ENDS = tuple(heading_ends())
_LAST_CHARACTERS = frozenset(end[-1] for end in _ENDS)
"""Cheaper to test than the ends: most triggers end with a digit, which no heading does."""


def heading_lines(text: str, triggers: list[int]) -> list[Span]:
    """The lines with a trigger, given by the offset of its last character, that can be in a heading such as `### Before`; in order."""
    lasts = (last for last in triggers if text[last] in _LAST_CHARACTERS and text.endswith(_ENDS, 0, last + 1))
    starts = {text.rfind("\n", 0, last) + 1: last for last in lasts}
    ends = (text.find("\n", last) for last in starts.values())
    return [(start, end if end >= 0 else len(text)) for start, end in zip(starts, ends, strict=True)]


def section_effects(text: str, lines: list[Span]) -> Iterator[Effect]:
    """The pairs of labelled lines with the same label below `Before` and `After`; without labels, of the only figures of a metric.

    `lines` are those that `heading_lines` gives.
    """
    headings = (heading for line in lines if (heading := _BEFORE.search(text, *line)))
    for first_span, second_span in _sections_below(text, headings, _AFTER, _REACH):
        first, second = _labelled_figures(text, *first_span), _labelled_figures(text, *second_span)
        matched = [
            (before, figure)
            for label, figure in second.items()
            if (before := _figure_labelled(label, first)) and before.has_metric_of(figure)
        ]
        if not matched and _names_only_a_side(text, first_span[0]) and _names_only_a_side(text, second_span[0]):
            matched = _pairs_by_metric(_unlabelled_figures(text, *first_span), _unlabelled_figures(text, *second_span))
        yield from (_at_candidate(text, before, after) for before, after in matched)


_BARE_HEADING = pattern(r"\W*\w+(?: (?:this|the|my) \w+)?\W*$")


def _names_only_a_side(text: str, end: int) -> bool:
    """Whether the heading that ends at that offset names only the side: `Before:`, `After this patch:`, not `Before the merge, on CI`."""
    return _BARE_HEADING.match(text[text.rfind("\n", 0, end) + 1 : end]) is not None


def _figure_labelled(label: str, figures: dict[str, Quantity]) -> Quantity | None:
    """The figure with that label, else with the only label that extends it or is extended by it: `Cold start`, `Cold start to import`."""
    if label in figures:
        return figures[label]
    longer = [figure for other, figure in figures.items() if other.startswith(f"{label} ") or label.startswith(f"{other} ")]
    return longer[0] if len(longer) == 1 else None


_LINES_BELOW_HEADING = pattern(
    r"\s*(?:```(?:te?xt|console|bash|sh|shell\S*|log|plain\S*)?[ \t]*\n)?(?!```)"
    r"(?P<lines>(?:[ \t`]*[^\s`][^\n]*(?:\n|$)){1,4})(?=\s*(?:\n|```|$))"
)
"""Up to four lines right below a heading, fenced or not. A fence with the name of a programming language is skipped: it has code."""

_RATE_PARTS = (ClaimMetric.TIME, ClaimMetric.MEMORY)


def _unlabelled_figures(text: str, start: int, end: int) -> list[Quantity]:
    """The figures of the lines below a heading; of a line with a rate, only the rate: `500 MB in 2 s (250 MB/s)`."""
    block = _LINES_BELOW_HEADING.match(text, start, end)
    if block is None:
        return []
    found: list[Quantity] = []
    for line in re.finditer(r"[^\n]+", block["lines"]):
        figures = [one for one in quantities(text, *(block.start("lines") + side for side in line.span())) if one.kind is Kind.VALUE]
        has_rate = any(one.metric is ClaimMetric.THROUGHPUT for one in figures)
        found += [one for one in figures if one.unit and one.unit is not CLOCK and not (has_rate and one.metric in _RATE_PARTS)]
    return found


def _pairs_by_metric(first: list[Quantity], second: list[Quantity]) -> list[tuple[Quantity, Quantity]]:
    """The pairs of the metrics of which each section has one figure: `2 s, 40 MB` and `1 s, 10 MB` give two, `2 s, 3 s` none."""
    once = [{one.metric: one for one in found if [other.metric for other in found].count(one.metric) == 1} for found in (first, second)]
    return [(once[0][metric], after) for metric, after in once[1].items() if metric in once[0]]


_LABELLED_LINE = r"^[ \t]*(?:[-*•+][ \t]+)?[*_`]{0,3}(?:%s)\b[^\n:]{0,30}:(?P<rest>[^\n]+)$"
_BASE_LINE = pattern(_LABELLED_LINE % r"(?:\w{1,30}[ \t]){0,2}(?:baseline|before)", _FLAGS)
_SUMMED_LINE = pattern(_LABELLED_LINE % "median|mean|average|avg", _FLAGS)
_SUMS = ("median", "mean", "average", "avg")
"""Words of that line: cheaper to test, and most texts have none."""

_CLOSES = pattern(r"[^()\n]{0,20}\)")


def baseline_then_summary(text: str) -> Iterator[Effect]:
    """`Baseline: 500 s`, single runs, `Median: 200 s (60% faster)`: the pair of first and last line, if the change agrees with it."""
    lower = lowered(text)
    for base in islice(_BASE_LINE.finditer(text), _MOST_HEADINGS) if any(word in lower for word in _SUMS) else ():
        later = _SUMMED_LINE.search(text, base.end() + 1, base.end() + _REACH)
        before = next(quantities(text, *base.span("rest")), None)
        figures = list(quantities(text, *later.span("rest"))) if later else []
        if len(figures) < 2 or before is None:
            continue
        after, change = figures[:2]
        if change.kind is not Kind.VALUE and before.has_metric_of(after):
            pair = Effect(before.start, change.end, before, after, change)
            end_of_bracket = _CLOSES.match(text, change.end)
            if agrees(pair, change):
                yield pair._replace(end=end_of_bracket.end() if end_of_bracket else change.end)


_HEADING_WITH_FIGURE = r"^[ \t]*(?:#{1,6}[ \t]+|\*\*|__|[-*•][ \t]+\*\*|\*(?=\w))\W{0,4}(?:%s)\b(?P<rest>[^\n]{1,100})$"
_HEADING_BEFORE = pattern(_HEADING_WITH_FIGURE % _words("baseline_heading"), _FLAGS)
_HEADING_AFTER = pattern(_HEADING_WITH_FIGURE % _words("candidate_heading"), _FLAGS)


def figures_in_headings(text: str) -> Iterator[Effect]:
    """`### Before: 4.2 s` and, below a picture or output, `### After: 1.1 s`."""
    for heading in islice(_HEADING_BEFORE.finditer(text), _MOST_HEADINGS):
        later = _HEADING_AFTER.search(text, heading.end(), heading.end() + _REACH)
        if later is None or later.start() < heading.end() + 2:  # on the next line: those are labelled lines
            continue
        before = next(quantities(text, *heading.span("rest")), None)
        after = next(quantities(text, *later.span("rest")), None)
        if before and after and before.has_metric_of(after):
            yield Effect(before.start, after.end, before, after)


def _sections_below(text: str, headings: Iterable[re.Match[str]], after: re.Pattern[str], reach: int) -> Iterator[tuple[Span, Span]]:
    """The spans below each of the headings and below the next heading `after`, searched and read `reach` characters far."""
    for heading in islice(headings, _MOST_HEADINGS):
        if later := after.search(text, heading.end(), heading.end() + reach):
            yield (heading.end(), later.start()), (later.end(), later.end() + reach)


_UNIT_OF_LABEL = pattern(r"\((?P<unit>[A-Za-zµμ/]{1,12})\)\s*$")
"""`Mean TTFT (ms): 312.45`, as vLLM and SGLang print their results."""

_AHEAD = pattern(rf".{{0,3}}|{DECORATION}{HEDGE}{DECORATION}", re.IGNORECASE)
"""What may be between a label and its figure: `1 day: about **1,200 s**`."""

_RATE_LABELS = ("/s", "/sec")
"""`Transfer/sec: 20 MB`: a rate whose unit looks like a size."""


def _labelled_figures(text: str, start: int, end: int) -> dict[str, Quantity]:
    """The first figure of each labelled line, by its label: `- First launch: 10 min` by `first launch`. A blank line ends the section."""
    blank = text.find("\n\n", start + 2, end)
    found: dict[str, Quantity] = {}
    for line in _LINE.finditer(text, start, blank if blank >= 0 else end):
        figure = next(quantities(text, *line.span("rest")), None)
        if figure and figure.unit is None and (named := _UNIT_OF_LABEL.search(line["label"])):
            figure = figure.in_unit(unit(named["unit"]), MeasureSource.LABEL)
        if figure and figure.unit and _AHEAD.fullmatch(text, line.start("rest"), figure.start) and not line["label"].endswith(_RATE_LABELS):
            found.setdefault(line["label"].strip().lower(), figure)
    return found


_CHANGE_REACH = 160
"""Characters behind a figure, on its line, in which its change is searched."""


def _at_candidate(text: str, before: Quantity, after: Quantity) -> Effect:
    """The pair, with the span of the candidate figure and the change behind it: `2 min (80% faster)`."""
    end = text.find("\n", after.end, after.end + _CHANGE_REACH)
    pair = Effect(after.start, after.end, before, after)
    behind = quantities(text, after.end, end if end >= 0 else min(len(text), after.end + _CHANGE_REACH))
    change = next((one for one in behind if one.kind is not Kind.VALUE and agrees(pair, one)), None)
    return pair._replace(end=change.end, change=change) if change else pair


_OUTPUT_HEADING = (
    r"^[ \t]*(?:#{1,6}[ \t]+|[*_]{2})?(?:%s)\b(?!-)[^\n|\d]{0,30}?[*_]{0,2}:?[*_]{0,2}[ \t]*\n(?=[ \t]*(?:\n|```|[$>] |[^\n]{0,80}\d))"
)
_OUTPUT_BEFORE = pattern(_OUTPUT_HEADING % _words("baseline_output"), _FLAGS)
_OUTPUT_AFTER = pattern(_OUTPUT_HEADING % _words("candidate_output"), _FLAGS)
_OUTPUT_REACH = 1500
"""Characters below a heading in which output is searched."""

_ELAPSED = pattern(
    r"\bcpu (?P<shell>\d+(?:\.\d+)?(?=\s+total\b)|\d{1,2}:\d\d\.\d+(?=\s+total\b))"
    r"|^[ \t]*real[ \t]+(?P<real>\d{1,4}m ?\d{1,2}[.,]\d{1,4}s|\d+[.,]\d+(?=s?$))"
    r"|\bTime \(mean ± σ\):[ \t]+(?P<hyperfine>\d[\d.]*[ \t]m?s)"
    r"|\b\d+ passed\b[^\n]{0,60}? in (?P<tests>\d[\d.]*s)\b"
    r"|\btime:[ \t]+\[\d[\d.]* \S{1,3} (?P<criterion>\d[\d.]* \S{1,3}) \d[\d.]* \S{1,3}\]"
    r"|\bbest of \d+: (?P<timeit>\d[\d.]* [nuµμm]?s) per loop|^(?P<timeit_mean>\d[\d.]* [nuµμm]?s) ± [^\n]{1,40} per loop"
    r"|\b(?:Finished|Done|Completed|Built|Compiled|Ran)\b[^\n\d]{0,40}?\bin (?P<stated>\d[\d.]*[ \t]?(?:ms|s|sec|seconds|m))\b",
    re.MULTILINE,
)
"""The elapsed time in the output of `time`, hyperfine, criterion, `%timeit`, pytest and build tools."""

_CRITERION = pattern(r"\bchange:\s+\[[+−-]\d[\d.]*% (?P<middle>[+−-]\d[\d.]*%) [+−-]\d[\d.]*%\]")


def output_effects(text: str) -> Iterator[Effect]:
    """The pairs of tool outputs below `Before` and `After`, and the changes that criterion and asv print."""
    if "change:" in text:
        yield from _criterion_changes(text)
    if "±" in text:
        yield from _asv_effects(text)
    sections = list(_sections_below(text, _OUTPUT_BEFORE.finditer(text), _OUTPUT_AFTER, _OUTPUT_REACH))
    if not sections:  # the candidate comes first
        sections = [(one, other) for other, one in _sections_below(text, _OUTPUT_AFTER.finditer(text), _OUTPUT_BEFORE, _OUTPUT_REACH)]
    for first_span, second_span in sections:
        first, second = _elapsed(text, *first_span), _elapsed(text, *second_span)
        if first and second:
            yield Effect(min(first.start, second.start), max(first.end, second.end), first, second)
        yield from _wrk_effects(text, first_span, second_span)
        yield from _go_benchmark_effects(text, first_span, second_span)


_LATENCY = pattern(r"^[ \t]*Latency[ \t]+(?P<figure>\d[\d.]*[mu]?s)[ \t]+\d", re.MULTILINE)
_RATE = pattern(r"^[ \t]*(?P<name>Requests/sec):[ \t]+(?P<figure>\d[\d.]*)", re.MULTILINE)


def _wrk_effects(text: str, first: Span, second: Span) -> Iterator[Effect]:
    """The pairs of mean latency and rate in two outputs of wrk: `Latency  2.10ms  1.0ms`, `Requests/sec: 4000.00`."""
    for line in (_LATENCY, _RATE):
        runs = [line.search(text, *span) for span in (first, second)]
        before, after = (next(quantities(text, *run.span("figure")), None) if run else None for run in runs)
        if before and after:
            rate = unit("requests/sec") if line is _RATE else None
            before, after = (one if one.unit else one.in_unit(rate, MeasureSource.LABEL) for one in (before, after))
            yield Effect(after.start, after.end, before, after)


_GO_BENCHMARK = pattern(
    r"^(?P<name>Benchmark\S+)[ \t]+\d+[ \t]+(?P<time>\d[\d.]* ns/op)"
    r"(?:[ \t]+\d[\d.]* MB/s)?(?:[ \t]+(?P<memory>\d+ B/op))?(?:[ \t]+(?P<count>\d+ allocs/op))?",
    re.MULTILINE,
)
_GO_FIGURES = ("time", "memory", "count")


def _go_benchmark_effects(text: str, first: Span, second: Span) -> Iterator[Effect]:
    """The pairs of time, memory and allocations in two outputs of `go test -bench`, matched by benchmark name."""
    known = {run["name"]: run for run in _GO_BENCHMARK.finditer(text, *first)}
    for run in _GO_BENCHMARK.finditer(text, *second):
        baseline_run = known.pop(run["name"], None)
        for part in _GO_FIGURES if baseline_run else ():
            before, after = (next(quantities(text, *one.span(part)), None) if one and one[part] else None for one in (baseline_run, run))
            if before and after:
                yield Effect(after.start, after.end, before, after)


_ASV_ROW = pattern(
    r"^[ \t]{0,20}[-+!x]?[ \t]{1,40}(?P<before>\d[\d.]*±[\d.]+[nµμm]?s)[ \t]+(?P<after>\d[\d.]*±[\d.]+[nµμm]?s)"
    r"[ \t]+~?(?P<ratio>\d+\.\d\d)[ \t]+[A-Za-z]",
    re.MULTILINE,
)
"""A row of asv: `-  149±3μs  104±2μs  0.70  bench.x`."""


def _asv_effects(text: str) -> Iterator[Effect]:
    """The pairs of the rows that asv prints: `-  149±3μs  104±2μs  0.70  bench.x`."""
    for row in _ASV_ROW.finditer(text):
        before, after = (next(quantities(text, *row.span(side)), None) for side in ("before", "after"))
        if before and after:
            yield Effect(before.start, row.end("ratio"), before, after)


def _elapsed(text: str, start: int, end: int) -> Quantity | None:
    """The first elapsed time between `start` and `end`; seconds where the tool prints no unit."""
    found = _ELAPSED.search(text, start, end)
    if found is None or found.lastgroup is None:
        return None
    figure = next(quantities(text, *found.span(found.lastgroup)), None)
    return figure.in_unit(unit("s"), MeasureSource.OUTPUT) if figure and figure.unit is None else figure


def _criterion_changes(text: str) -> Iterator[Effect]:
    """The changes that criterion prints: `change: [-12.1% -11.4% -10.8%]`, of which the middle is the estimate."""
    for found in _CRITERION.finditer(text):
        change = next(quantities(text, *found.span("middle")), None)
        if change and change.low:
            sense = Sense.LOSS if change.sign == "+" else Sense.FALL
            yield Effect(found.start(), found.end(), change=change, sense=sense, word="change", labels="time")
