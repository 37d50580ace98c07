"""Hints in a patch that a gain may not be one.

A weakened test, a changed benchmark, fewer checks.

A hint is no verdict: it names a line that a reader should look at, and honest patches have such
lines too. So each rule needs more than a word, and tells at most one line of a patch. The rules see
lines, not syntax: a patch has any language, and files only in part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from ingest.findings.rules import Finding
from ingest.literals import pattern
from ingest.patches import Hunk, parts_of
from schemas.catalogue.rules import PATCH_HINTS

LONGEST_LINE = 300
"""Longer lines are data, and no rule reads them: the time of some expressions grows with the square
of the length.
"""

LARGE_SPEEDUP = 10.0
"""Above this factor, a claim about more than a single function deserves a look."""

_LONGEST_QUOTE = 160


class Line(NamedTuple):
    """A line of a hunk. `number`: its number in the new file, or in the old one if removed."""

    mark: str
    number: int
    text: str

    @property
    def code(self) -> str:
        return self.text.strip()


class File(NamedTuple):
    """A file of a patch.

    `kind`: `test`, `benchmark`, `code`, or `other` for documentation and settings; `hunks`: without
    blank lines.
    """

    path: str
    kind: str
    is_new: bool
    hunks: Sequence[Sequence[Line]]

    def lines(self, mark: str) -> list[Line]:
        """Return the added (+) or removed (-) lines without comments."""
        return [
            line
            for hunk in self.hunks
            for line in hunk
            if line.mark == mark and not _COMMENT.match(line.text)
        ]


class Block(NamedTuple):
    """Adjacent changed lines of a hunk, without comments."""

    removed: Sequence[Line]
    added: Sequence[Line]


class Hint(NamedTuple):
    """What a rule noticed, with the line that shows it; None if it is about the whole patch."""

    message: str
    path: str = ""
    line: Line | None = None
    expected: str | None = None
    actual: str | None = None


Check = Callable[[Sequence[File]], Iterator[Hint]]

CHECKS: dict[str, tuple[tuple[str, ...], Check]] = {}
"""Rule → words in lower case, one of which a patch must have (none: any patch), and its function.
"""


def _rule(*words: str) -> Callable[[Check], Check]:
    """Register a function as the rule of its name, which is an entry of `PATCH_HINTS`."""

    def register(check: Check) -> Check:
        CHECKS[check.__name__] = words, check
        return check

    return register


def hints(patch: str, speedup: float | None = None) -> list[Finding]:
    """Return the hints in a patch, at most one per rule.

    `speedup`: the claimed factor, unless it is that of a micro-benchmark.
    """
    files, lowered = files_of(patch), patch.lower()
    possible = {
        name: check
        for name, (words, check) in CHECKS.items()
        if not words or any(word in lowered for word in words)
    }
    found = {name: next(check(files), None) for name, check in possible.items()}
    if speedup is not None and speedup > LARGE_SPEEDUP:
        said = f"{speedup:,.1f}".removesuffix(".0") + "×"
        found["large_speedup"] = Hint(
            f"The summary claims {said}: look at what was timed",
            "",
            None,
            f"at most {LARGE_SPEEDUP:.0f}×",
            said,
        )
    return [_finding(name, hint) for name in PATCH_HINTS if (hint := found.get(name))]


def _finding(name: str, hint: Hint) -> Finding:
    place, actual = "", hint.actual
    if line := hint.line:
        place = (
            f" ({_short(hint.path)}, line "
            f"{line.number}{' before the patch' if line.mark == '-' else ''})"
        )
        actual = f"{line.mark} {_short(line.code)}"
    return Finding(
        name, PATCH_HINTS[name].severity, f"{hint.message}{place}.", hint.expected, actual
    )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 1]}…"


# Reading a patch

_OTHER = pattern(
    r"(?<!CMakeLists)\.(?:md|rst|txt|adoc|jsonl?|csv|ya?ml|toml|ini|cfg|conf|lock|svg|png|gif|jpe?g|ipynb|html|xml|diff|patch|log)$"
    r"|(?:^|/)(?:LICENSE|CHANGELOG|NOTICE|AUTHORS|CODEOWNERS|\.git\w+|\.editorconfig)[^/]*$",
    re.IGNORECASE,
)
_BENCHMARK = pattern(
    r"(?:^|/)(?:bench|benches|benchmarks?|perf)/|(?:^|[/_.-])bench(?:mark)?s?(?:[_.-][^/]*)?$",
    re.IGNORECASE,
)
_TEST = pattern(
    r"(?:^|/)(?:tests?|testing|specs?|__tests__)/|(?:^|/)(?:test_[^/]*|conftest|[^/]*[_.](?:tests?|spec))\.\w+$|Tests?\.(?:java|kt|cs|swift)$"
)
_COMMENT = pattern(
    r"\s*(?:#(?!\[|include|define|if|el|endif|undef|pragma)|//|/\*|\*(?:\s|/|$)|--\s|\"\"\"|''')"
)


def files_of(patch: str) -> list[File]:
    """Read a diff. Text that is no diff has no files."""
    files: dict[str, tuple[list[Sequence[Line]], list[bool]]] = {}
    for path, part in parts_of(patch.split("\n")):
        hunks, new = files.setdefault(path, ([], []))
        if isinstance(part, Hunk):
            hunks.append(list(_numbered(part)))
            new.append(part.old_start == 0)
        else:
            new.append(part.startswith("new file"))
    return [File(path, kind_of(path), any(new), hunks) for path, (hunks, new) in files.items()]


def kind_of(path: str) -> str:
    """Return what a file is for, by its path (`File.kind`)."""
    if _OTHER.search(path):
        return "other"
    return "benchmark" if _BENCHMARK.search(path) else "test" if _TEST.search(path) else "code"


def _numbered(hunk: Hunk) -> Iterator[Line]:
    old, new = hunk.old_start, hunk.new_start
    for text in hunk.lines:
        mark = text[:1] or " "
        if len(text) <= LONGEST_LINE and mark != "\\" and text[1:].strip():
            yield Line(mark, old if mark == "-" else new, text[1:])
        old += mark in "- "
        new += mark in "+ "


def _blocks(file: File) -> Iterator[Block]:
    for hunk in file.hunks:
        removed: list[Line] = []
        added: list[Line] = []
        for line in chain(hunk, (Line(" ", 0, ""),)):
            if line.mark != " ":
                if not _COMMENT.match(line.text):
                    (added if line.mark == "+" else removed).append(line)
            elif removed or added:
                yield Block(removed, added)
                removed, added = [], []


_FIGURE = pattern(r"(?<![\w.])\d[\d_]{0,20}(?:\.\d+)?(?:[eE][-+]?\d+)?")


def _figures(text: str) -> list[float]:
    return [float(figure.replace("_", "")) for figure in _FIGURE.findall(text)]


def _paired(block: Block) -> Iterator[tuple[Line, Line]]:
    """Yield each removed line with the first added one that differs from it only in its figures."""
    added = {_FIGURE.sub("0", line.code): line for line in reversed(block.added)}
    for line in block.removed:
        other = added.pop(_FIGURE.sub("0", line.code), None)
        if other is not None and other.code != line.code:
            yield line, other


def _less(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' if count > 1 else ''} fewer"


# What judges the patch: tests and benchmarks

_SKIP = pattern(
    r"\bpytest\.(?:skip|mark\.(?:skip|skipif|xfail))\b|\bunittest\.(?:skip|expectedFailure)|\bt\.Skip|#\[ignore"
    r"|\b(?:it|test|describe)\.(?:skip|todo)\b|\bx(?:it|describe)\(|\bGTEST_SKIP|@(?:Ignore|Disabled)\b"
)
_ASSERTION = pattern(
    r"\b(?:debug_)?assert\w*\b|\bexpect\(|\b(?:EXPECT|ASSERT|CHECK|REQUIRE)_?\w*\(|\bt\.(?:Error|Fatal)|\bself\.(?:assert|fail)|pytest\.raises"
)
_AMOUNT = pattern(
    r"size|len|iter|repeat|sample|step|count|round|range\(|\bnum|\b[nN]\s*=|parametrize|limit|tokens|batch|prompts|requests",
    re.I,
)


@_rule("test", "spec")
def tests_weakened(files: Sequence[File]) -> Iterator[Hint]:
    """Tests that were there check less.

    They are skipped, have smaller inputs or fewer assertions.
    """
    tests = [file for file in files if file.kind == "test" and not file.is_new]
    for file in tests:
        skips, before = (
            [line for line in file.lines(mark) if _SKIP.search(line.text)] for mark in "+-"
        )
        if len(skips) > len(before):
            yield Hint("A test is skipped that ran before", file.path, skips[0])
        for block in _blocks(file):
            if line := _smaller(block):
                yield Hint("A test has smaller inputs", file.path, line)
    gone = [
        (file.path, line)
        for file in tests
        for line in file.lines("-")
        if _ASSERTION.search(line.text)
    ]
    come = sum(
        _ASSERTION.search(line.text) is not None
        for file in files
        if file.kind == "test"
        for line in file.lines("+")
    )
    if len(gone) > come:
        yield Hint(f"Tests have {_less(len(gone) - come, 'assertion')}", *gone[0])


def _smaller(block: Block) -> Line | None:
    """Return the first added line with smaller amounts or fewer parameters than before.

    It is compared with the line that it replaces.
    """
    for old, new in _paired(block):
        changed = [
            (was, now)
            for was, now in zip(_figures(old.text), _figures(new.text), strict=False)
            if was != now
        ]
        is_amount = _AMOUNT.search(new.text) and not _ASSERTION.search(new.text)
        if is_amount and all(now < was for was, now in changed):
            return new
    parameters = {
        line.code.partition("[")[0]: line for line in block.added if "parametrize" in line.text
    }
    for line in block.removed:
        other = parameters.get(line.code.partition("[")[0])
        if (
            other
            and other.code.count(",") < line.code.count(",")
            and set(_figures(other.text)) <= set(_figures(line.text))
        ):
            return other
    return None


_IMPORT = pattern(r"import\b|from\b|#include\b|use\b")
_LAYOUT = pattern(r"[\s,]+")


@_rule("bench", "perf/")
def benchmark_changed(files: Sequence[File]) -> Iterator[Hint]:
    """The code of a benchmark is another than before.

    A benchmark that comes with the patch, or has other line breaks, is no hint.
    """
    for file in files:
        if file.kind == "benchmark" and not file.is_new:
            kept = {line.code for line in file.lines("+")}
            for block in _blocks(file):
                removed, added = (
                    _LAYOUT.sub("", "".join(line.code for line in lines)) for lines in block
                )
                gone = [
                    line
                    for line in block.removed
                    if line.code not in kept and not _IMPORT.match(line.code)
                ]
                if gone and removed != added:
                    yield Hint(
                        "A benchmark is changed: times before and after may be of different work",
                        file.path,
                        gone[0],
                    )


_ASKS = pattern(
    r"[\"'](?:pytest\w*|\w*bench\w*|unittest)[\"']\s+in\s+sys\.modules|(?:environ|getenv|process\.env|env::var)\W{0,"
    r"3}[\w.(\"'\[]*(?:BENCH|PYTEST)"
    r"|sys\.argv.{0,40}(?:bench|pytest)|(?:bench|pytest).{0,40}sys\.argv|inspect\.stack\(.*bench",
    re.IGNORECASE,
)
_READS = pattern(
    r"(?:open|read\w*|load\w*|include_\w+!?|Path)\(\s*[rbf]?[\"'](?:[^\"']*[/_])?bench[^\"']*[/_.][^\"']*[\"']",
    re.IGNORECASE,
)


@_rule("bench", "pytest", "unittest")
def measuring_detected(files: Sequence[File]) -> Iterator[Hint]:
    """The code asks whether it is tested or timed, or reads a file of the benchmark."""
    for file in files:
        for line in file.lines("+") if file.kind == "code" else ():
            if _ASKS.search(line.text):
                yield Hint("The code asks whether it is tested or timed", file.path, line)
            if _READS.search(line.text):
                yield Hint("The code reads a file of the benchmark", file.path, line)


# Code that does less than it seems to do

_FUNCTION = pattern(r"(?:async )?(?:def|class|fn|func|function|impl|pub|template|static|@)\b")


_GUARD = pattern(
    r"assert\b(?!.* is not "
    r"None)|raise\s+(?!NotImplementedError)\w|(?:debug_)?assert(?:_eq|_ne)?!|return\s+Err\(|ensure!|bail!"
    r"|panic(?:!|\()|return\s+-E[A-Z]+|(?:TORCH_)?CHECK(?!_NOT_IMPL)\w*\(|throw\b|return\s.*(?:errors\.New|fmt\.Errorf|\bErr[A-Z])"
)
"""Begins a check. `assert x is not None` is mostly for a type checker."""

_CONDITION = pattern(r"\bif\b")

REWRITTEN_LINES = 15
"""Where more adjacent lines are removed, code is rewritten, and its checks with it."""


@_rule("assert", "raise", "ensure!", "bail!", "panic", "return -e", "check", "throw", "err")
def checks_removed(files: Sequence[File]) -> Iterator[Hint]:
    """The code checks less: checks are removed without a condition in their place.

    More checks are removed than the patch adds elsewhere.
    """
    code = [file for file in files if file.kind == "code"]
    kept = {line.code for file in code for line in file.lines("+")}
    gone: list[tuple[str, Line]] = []
    come = 0
    for file in code:
        for removed, added in _blocks(file):
            checks = [line for line in removed if _GUARD.match(line.code) and line.code not in kept]
            new = sum(_GUARD.match(line.code) is not None for line in added)
            come += max(0, new - len(checks))
            is_rewritten = len(removed) > REWRITTEN_LINES or any(
                _FUNCTION.match(line.code) for line in (*removed, *added)
            )
            if (
                not new
                and not is_rewritten
                and not any(_CONDITION.search(line.text) for line in added)
            ):
                gone += [(file.path, line) for line in checks]
    if len(gone) > come:
        yield Hint(f"The code has {_less(len(gone) - come, 'check')}", *gone[0])


# The patch as a whole


@_rule()
def no_code(files: Sequence[File]) -> Iterator[Hint]:
    """Only documentation, settings or comments are changed."""
    if files and all(
        file.kind == "other" or (file.hunks and not file.lines("+") and not file.lines("-"))
        for file in files
    ):
        changed = (
            (file.path, line)
            for file in files
            for hunk in file.hunks
            for line in hunk
            if line.mark != " "
        )
        yield Hint(
            "No code is changed, only documentation, settings or comments",
            *next(changed, ("", None)),
        )
