"""Tests that a summary says pass or fail: `199 tests passed`, `pytest: 1834 passed, 1 skipped`, `All tests pass`, `3 failed`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ingest.findings.statements.lines import Span
from ingest.findings.statements.statement import Statement, whole_number
from schemas.rows.claim import StatementKind

_COUNT = r"(\d(?<![\w.,/$#:-]\d)[\d,]{0,11})"  # the first digit first: a search then goes from digit to digit
_OF = r"(?: (?:\s?/\s?|\s+(?:out\s)?of\s+(?:the\s)?) \d[\d,]{0,11} )?"
_ARE = r"(?:(?:are|is|now|all|still)\s+){0,3}"
_KINDS = r"(?:[A-Za-z][\w-]{0,20}\s+){0,3}?"  # of tests: `37 server API tests`
_PLACES = "on|in|through|to|the|a|an|it|as|by|over|along|around|down"
_PASSED = rf"pass(?:ed|es|ing)?\b(?!\s(?:{_PLACES})\b(?!\s(?:ci|all|the\saffected|affected)\b))"  # `3 tests pass the id on`
_OTHERS = r"\d[\d,]*\s(?:skipped|failed|failing|pending|deselected|xfailed|warnings?|ignored)\b"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.VERBOSE)


def _words(letters: str, rest: str) -> re.Pattern[str]:
    """A pattern for words that begin with one of the letters in either case: the search then goes from letter to letter, which is fast."""
    return re.compile(rf"[{letters}](?<=\b[{letters}])(?i:{rest})", re.VERBOSE)


_COUNTED = (
    _pattern(
        rf"""{_COUNT} (?: {_OF}\*{{0,2}}\s+{_KINDS}(?:tests?|specs?|test\scases?)\*{{0,2}}[,:]?\s+{_ARE}{_PASSED}  # 199 tests passed
        | \s+pass(?:ed|ing)(?=[\s*`]*[,(;]\s*{_OTHERS})  # 1834 passed, 1 skipped
        | \s+passing\s+(?:(?:unit|integration|e2e)\s)?tests?\b )"""
    ),
    _words(
        "tT",
        rf"""ests?(?: (?:\sresults?|\sstatus)?[:\s*=–—]{{1,5}}{_COUNT}{_OF}\*{{0,2}}\s+(?:tests?\s+)?{_PASSED}  # Tests: 9/9 passed
        | \spass(?:ed)?[:\s*=(]{{1,5}}{_COUNT}{_OF}(?!\s*(?:%|ms\b|s\b|min|sec|\|)) )""",  # Tests passed: 575
    ),
)
_DIGIT = re.compile("[0-9]")
_UNCOUNTED = _words(
    "tTaAeE",
    rf"""(?<=t)ests_status:\spassing\b
    | (?:(?<=a)ll\s(?:of\s)?(?:the\s|our\s)?|(?<=e)very\s)(?:[a-z][\w-]{{0,20}}\s+){{0,2}}?tests?\s+{_ARE}{_PASSED}""",
)
_FAILED = _pattern(rf"{_COUNT}\s+(?:(?:tests?\s+)?(?:failed|failing|failures?) | {_KINDS}tests?\s+{_ARE}fail(?:s|ed|ing)?)\b(?!\s+\w)")
_SPECS = re.compile(r"specs?\b")
_COUNTED_PASS = re.compile(r" pass(?<=[0-9] pass)(?:ed|ing)")
_UNREAL = _pattern(
    r"""\b(?:if|when|once|until|unless|after|before|only|ensures?|make\ssure|verify|verifies|check|should|must|would|will|whether|not
    |expects?|requires?|wants?)\W+(?:\w+\W+){0,3}$"""
)
_BEFORE = 60


def tests(text: str, passing: Sequence[Span], failing: Sequence[Span]) -> Iterator[Statement]:
    """Tests that pass, and tests that fail. A condition, a plan or a quotation states neither."""
    for line in passing:
        if _is_of_tests(text[slice(*line)]):
            yield from _passed(text, line)
    for line in failing:
        if _is_of_tests(text[slice(*line)]):
            yield from _failed(text, line)


def _is_of_tests(line: str) -> bool:
    is_named = "test" in line or "Test" in line or "TESTS_STATUS" in line
    return is_named or _SPECS.search(line) is not None or _COUNTED_PASS.search(line) is not None


def _passed(text: str, line: Span) -> Iterator[Statement]:
    """Passed tests: counts first. A line with a count is not read for `all tests pass` as well."""
    taken: list[Span] = []
    for pattern in _COUNTED if _DIGIT.search(text, *line) else ():
        for found in pattern.finditer(text, *line):
            if not any(start < found.end() and found.start() < end for start, end in taken) and _is_real(text, line[0], found):
                taken.append(found.span())
                yield _statement(StatementKind.TESTS_PASSED, found)
    if not taken:
        yield from (
            _statement(StatementKind.TESTS_PASSED, found) for found in _UNCOUNTED.finditer(text, *line) if _is_real(text, line[0], found)
        )


def _failed(text: str, line: Span) -> Iterator[Statement]:
    """Failed tests with a count. `0 failed` is a statement too."""
    yield from (_statement(StatementKind.TESTS_FAILED, found) for found in _FAILED.finditer(text, *line) if _is_real(text, line[0], found))


def _is_real(text: str, line_start: int, found: re.Match[str]) -> bool:
    start = found.start()
    is_quoted = start > line_start and text[start - 1] in "\"'“‘«"
    return not is_quoted and _UNREAL.search(text, max(line_start, start - _BEFORE), start) is None


def _statement(kind: StatementKind, found: re.Match[str]) -> Statement:
    digits = next(filter(None, found.groups()), None)
    return Statement(kind, found.start(), found.end(), found[0], None, whole_number(digits) if digits else None)
