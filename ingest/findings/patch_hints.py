"""Hints in a patch that a gain may not be one.

A weakened test, a constant result, a changed timer.

A hint is no verdict: it names a line that a reader should look at, and honest patches have such
lines too. So each rule needs more than a word, and tells at most one line of a patch. The rules see
lines, not syntax: a patch has any language, and files only in part.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
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

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())


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


def hints(
    patch: str,
    claimed_files: Iterable[str] = (),
    patch_files: Sequence[str] = (),
    speedup: float | None = None,
) -> list[Finding]:
    """Return the hints in a patch, at most one per rule.

    `claimed_files`: files that the summary lists as changed; `patch_files`: all files of the patch,
    if its text may be cut. `speedup`: the claimed factor, unless it is that of a micro-benchmark.
    """
    files, lowered = files_of(patch), patch.lower()
    possible = {
        name: check
        for name, (words, check) in CHECKS.items()
        if not words or any(word in lowered for word in words)
    }
    found = {name: next(check(files), None) for name, check in possible.items()}
    found["claimed_file_missing"] = next(
        _missing_files(claimed_files, patch_files or [file.path for file in files]), None
    )
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


def _figures(text: str, expression: re.Pattern[str] = _FIGURE) -> list[float]:
    return [float(figure.replace("_", "")) for figure in expression.findall(text)]


def _paired(block: Block) -> Iterator[tuple[Line, Line]]:
    """Yield each removed line with the first added one that differs from it only in its figures."""
    added = {_FIGURE.sub("0", line.code): line for line in reversed(block.added)}
    for line in block.removed:
        other = added.pop(_FIGURE.sub("0", line.code), None)
        if other is not None and other.code != line.code:
            yield line, other


def _less(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' if count > 1 else ''} fewer"


# What judges the patch: tests, benchmarks, clocks, seeds

_SKIP = pattern(
    r"\bpytest\.(?:skip|mark\.(?:skip|skipif|xfail))\b|\bunittest\.(?:skip|expectedFailure)|\bt\.Skip|#\[ignore"
    r"|\b(?:it|test|describe)\.(?:skip|todo)\b|\bx(?:it|describe)\(|\bGTEST_SKIP|@(?:Ignore|Disabled)\b"
)
_ASSERTION = pattern(
    r"\b(?:debug_)?assert\w*\b|\bexpect\(|\b(?:EXPECT|ASSERT|CHECK|REQUIRE)_?\w*\(|\bt\.(?:Error|Fatal)|\bself\.(?:assert|fail)|pytest\.raises"
)
_TOLERANCE = pattern(
    r"\b(?:rtol|atol|rel|abs|tol\w*|rel_tol|abs_tol|eps\w*|delta)\s*[=:]\s*(\d[\d_]{0,"
    r"20}(?:\.\d+)?(?:[eE][-+]?\d+)?)"
)
_AMOUNT = pattern(
    r"size|len|iter|repeat|sample|step|count|round|range\(|\bnum|\b[nN]\s*=|parametrize|limit|tokens|batch|prompts|requests",
    re.I,
)


@_rule("test", "spec")
def tests_weakened(files: Sequence[File]) -> Iterator[Hint]:
    """Tests that were there check less.

    They are skipped, allow larger differences, have smaller inputs or fewer assertions.
    """
    tests = [file for file in files if file.kind == "test" and not file.is_new]
    for file in tests:
        skips, before = (
            [line for line in file.lines(mark) if _SKIP.search(line.text)] for mark in "+-"
        )
        if len(skips) > len(before):
            yield Hint("A test is skipped that ran before", file.path, skips[0])
        for block in _blocks(file):
            for old, new in _paired(block):
                tolerances = zip(
                    _figures(old.text, _TOLERANCE), _figures(new.text, _TOLERANCE), strict=False
                )
                if any(now > was for was, now in tolerances):
                    yield Hint("A test allows larger differences", file.path, new)
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
        is_judged = _ASSERTION.search(new.text) or _TOLERANCE.search(new.text)
        if _AMOUNT.search(new.text) and not is_judged and all(now < was for was, now in changed):
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


_TIMER = pattern(
    r"perf_counter|time\.time\(|time\.monotonic|process_time|default_timer|elapsed|Event\w*Record|event\.record|Instant::now|_clock::now"
    r"|performance\.now|time\.Now\(|clock_gettime|nanoTime"
)
_CLOCK_REPLACED = pattern(
    r"(?:^|[^\w.])(?:time\.(?:perf_counter|time|monotonic|process_time)(?:_ns)?|timeit\.default_timer|performance\.now|Date\.now)\s*=(?!=)"
    r"|setattr\(\s*time\b|patch\(\s*[\"']time\."
)
_WAIT = pattern(
    r"(?:cuda|xpu|hpu|npu|mps)\.synchronize\(|\b(?:cuda|hip)(?:Device|Stream|Event)Synchronize|block_until_ready|[eE]vent\.synchronize\("
)


@_rule("time", "elapsed", "event", "instant::now", "clock", "performance.now", "date.now")
def timing_changed(files: Sequence[File]) -> Iterator[Hint]:
    """A clock is replaced, timed code no longer waits for the device, or a timer moves.

    A timer moves if it starts or stops at another place.
    """
    for file in files:
        for line in file.lines("+"):
            if _CLOCK_REPLACED.search(line.text):
                yield Hint("A clock is replaced", file.path, line)
        waits_anew = any(_WAIT.search(line.text) for line in file.lines("+"))
        for hunk in file.hunks:
            waited = next(
                (line for line in hunk if line.mark == "-" and _WAIT.search(line.text)), None
            )
            if (
                waited
                and not waits_anew
                and any(line.mark != "-" and _TIMER.search(line.text) for line in hunk)
            ):
                yield Hint(
                    "Code that measures time no longer waits for the device to finish",
                    file.path,
                    waited,
                )
            if moved := _moved_timer(hunk):
                yield Hint(
                    "A timer starts or stops at another place: other work is timed",
                    file.path,
                    moved,
                )


def _moved_timer(hunk: Sequence[Line]) -> Line | None:
    """Return the line of a timer that moved past code that stayed.

    Code that is only indented anew keeps its order.
    """
    removed = {line.code for line in hunk if line.mark == "-" and _TIMER.search(line.text)}
    timers = [line for line in hunk if line.mark == "+" and line.code in removed] if removed else []
    if not timers:
        return None
    old, new = ([line.code for line in hunk if line.mark != mark] for mark in "+-")
    in_old, in_new = Counter(old), Counter(new)
    stayed = {
        code for code, count in in_old.items() if count == in_new[code] == 1 and len(code) > 3
    }
    for line in islice(timers, 20):
        if line.code in stayed:
            before, after = (
                stayed.intersection(codes[: codes.index(line.code)]) for codes in (old, new)
            )
            if before != after:
                return line
    return None


_SEED = pattern(
    r"(?:seed\w*|default_rng|NewSource|RandomState|mt19937\w*(?:\s+\w+)?|srand|Random)\s*[=:(]\s*(?:\w+\s*=\s*)?\d",
    re.IGNORECASE,
)


@_rule("seed", "default_rng", "newsource", "randomstate", "mt19937", "srand", "random(")
def seed_changed(files: Sequence[File]) -> Iterator[Hint]:
    """A fixed seed of random numbers has another value, or is gone."""
    for file in files:
        if not file.is_new and file.kind != "other":
            kept = {line.code for line in file.lines("+")}
            for line in file.lines("-"):
                if _SEED.search(line.text) and line.code not in kept:
                    yield Hint(
                        "A fixed seed of random numbers is changed or removed: the data are others",
                        file.path,
                        line,
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

_LITERAL = (
    r"(?:None|null|nullptr|nil|undefined|True|False|true|false|[-+]?(?:0x[\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?)\w{0,"
    r"3}"
    r"|\"[^\"]*\"|'[^']*'|\[\]|\{\}|\(\))"
)
_RETURN = pattern(rf"return\s+{_LITERAL}\s*;?$")
_ANSWER = pattern(
    r"return\s+[\"'([]?(?:0x[\da-fA-F_]{4,}|[-+]?\d[\d_]{2,}(?:\.\d+)?|[-+]?\d+\.\d{3,"
    r"}|[\"'][^\"']+[\"'])"
)
_KNOWN_INPUT = pattern(r"\bif\b.*?(?:==|\.equals\(|\bin [\[({])\s*=?\s*[\"']?\d[\d_]{3,}")
_BLOCK_END = pattern(
    r"[})\]#@]|(?:case|default|else|elif|except|finally|def|class|end|pub|fn|func)\b|\"\"\"|'''"
)
_FUNCTION = pattern(r"(?:async )?(?:def|class|fn|func|function|impl|pub|template|static|@)\b")


@_rule("return")
def constant_result(files: Sequence[File]) -> Iterator[Hint]:
    """A function returns a constant before its work or instead of it.

    Or the code has the answer for one input.
    """
    for file in files:
        if file.kind != "code":
            continue
        for hunk in file.hunks:
            lines = [line for line in hunk if line.mark != "-" and not _COMMENT.match(line.text)]
            for before, line, after in zip((None, *lines), lines, (*lines[1:], None), strict=False):
                if line.mark != "+" or "return" not in line.text:
                    continue
                if (
                    _RETURN.match(line.code)
                    and after
                    and after.indent == line.indent
                    and not _BLOCK_END.match(after.code)
                ):
                    yield Hint(
                        "A constant is returned, and the code after it is never reached",
                        file.path,
                        line,
                    )
                condition = (
                    line.text
                    if before is None or before.mark != "+" or _KNOWN_INPUT.search(line.text)
                    else before.text
                )
                if _ANSWER.search(line.code) and _KNOWN_INPUT.search(condition):
                    yield Hint("The answer for one input is written in the code", file.path, line)
        for removed, added in _blocks(file):
            if (
                len(added) == 1
                and _RETURN.match(added[0].code)
                and len(removed) >= 3
                and not _has_functions(removed)
            ):
                yield Hint(
                    f"A constant is returned instead of {len(removed)} lines of work",
                    file.path,
                    added[0],
                )


def _has_functions(lines: Sequence[Line]) -> bool:
    return any(_FUNCTION.match(line.code) for line in lines)


_CALL = pattern(r"(?<![\w.])(?<!def )([a-z_]\w*)\(")
_AT_IMPORT = pattern(r"(?:\w+\s*(?::[^=]+)?=\s*)?([a-z_]\w*)\(")
_CHEAP = {
    "bool",
    "dict",
    "float",
    "frozenset",
    "int",
    "len",
    "list",
    "max",
    "min",
    "print",
    "range",
    "set",
    "sorted",
    "str",
    "super",
    "tuple",
    "type",
}


@_rule("=")
def work_at_import(files: Sequence[File]) -> Iterator[Hint]:
    """A call moved from a function to the level of a module, where it runs before any timer."""
    for file in files:
        if file.kind == "code" and not file.is_new and file.path.endswith(".py"):
            moved = {
                name for line in file.lines("-") if line.indent for name in _CALL.findall(line.text)
            } - _CHEAP
            for line in file.lines("+") if moved else ():
                if not line.indent and (found := _AT_IMPORT.match(line.text)) and found[1] in moved:
                    yield Hint(
                        "Work moved from a function to the import of the module", file.path, line
                    )


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
            is_rewritten = (
                len(removed) > REWRITTEN_LINES or _has_functions(removed) or _has_functions(added)
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


_SOURCE = pattern(
    r"\.(?:py|pyi|pyx|c|cc|cpp|cxx|cu|cuh|h|hpp|rs|go|js|jsx|mjs|ts|tsx|java|kt|scala|cs|swift|rb|php|sh|sql|lua|zig)$"
)


def _missing_files(claimed: Iterable[str], patch_files: Sequence[str]) -> Iterator[Hint]:
    """Yield the claimed files of code that are not in the patch.

    Either path may be the end of the other.

    Tests, benchmarks and hidden folders do not count: agents write files of their own there, which
    are no part of the change.
    """
    known = [f"/{path}" for path in patch_files]
    for path in claimed if known else ():
        name = "/" + path.replace("\\", "/").removeprefix("./").strip("/")
        is_code = _SOURCE.search(name) and kind_of(name) == "code" and "/." not in name
        if is_code and not any(each.endswith(name) or name.endswith(each) for each in known):
            yield Hint(
                f"The summary lists {name[1:]} as changed; it is not in the patch",
                "",
                None,
                "a file of the patch",
                name[1:],
            )
