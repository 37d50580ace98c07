"""Statements of a summary beside its claims: changed files, commits, artefacts, tests.

Exact and conservative: only explicit, unambiguous words count, with their offsets. For speed, each
kind reads only lines with certain short words (`ingest.findings.lines`), and many patterns begin
with the first letter or digit and use a lookbehind, so that a search skips from one to the next.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from ingest.findings.lines import NO_LINES, Lines, Span, list_below, marked_lines
from ingest.literals import pattern
from schemas.claims import StatementKind

_QUOTED = pattern(r"`([^`\n]{1,300})`")


class Statement(NamedTuple):
    """Values of a `schemas.rows.claim.StatementRow`, without run and number.

    Offsets are code points, the end exclusive.
    """

    kind: StatementKind
    start: int
    end: int
    quote: str
    subject: str | None = None
    count: int | None = None  # type: ignore[assignment]  # named like the column; hides tuple.count, which is not used


class FileChange(NamedTuple):
    """Values of a `schemas.rows.run.FileChangeRow`."""

    path: str
    insertions: int | None = None
    deletions: int | None = None


class Statements(NamedTuple):
    """All statements of a text.

    `lines`: its marked lines, which some rules read too; None if no text was read.
    """

    file_changes: tuple[FileChange, ...] = ()
    statements: tuple[Statement, ...] = ()
    lines: Lines | None = None


_NOTHING = Statements(lines=NO_LINES)


def read_statements(texts: Sequence[str]) -> list[Statements]:
    """Return the statements of each text in order; a file that is named twice is one change.

    One kind after the other for all texts, for the reason that `ingest.claims.extraction` gives.
    """
    marked = [(text, marked_lines(text)) for text in texts]
    read = [(text, lines) for text, lines in marked if lines is not NO_LINES]
    files = [_files(text, lines) for text, lines in read]
    commits = [[*_commits(text, lines.commits)] if lines.commits else [] for text, lines in read]
    artefacts = [
        [*_artefacts(text, lines)] if lines.artefacts or lines.deliverables else []
        for text, lines in read
    ]
    tests = [
        [*_tests(text, lines)] if lines.tests_passed or lines.tests_failed else []
        for text, lines in read
    ]
    stated = (
        Statements(changes, _in_order([*made, *left, *tested, *totals]), lines)
        for (_, lines), (changes, totals), made, left, tested in zip(
            read, files, commits, artefacts, tests, strict=True
        )
    )
    return [_NOTHING if lines is NO_LINES else next(stated) for _, lines in marked]


def _in_order(found: list[Statement]) -> tuple[Statement, ...]:
    """Return statements by their places.

    Windows of a long line overlap: of two readings of one statement, the longer one is kept.
    """
    if len(found) > 1:
        found.sort(key=attrgetter("start", "end"))
        return tuple({(one.kind, one.start): one for one in found}.values())
    return tuple(found)


def _whole_number(digits: str) -> int | None:
    """Return the number without thousands separators; None if it is implausibly large."""
    plain = digits.replace(",", "")
    return int(plain) if len(plain) <= 12 else None


def _counted(kind: StatementKind, found: re.Match[str]) -> Statement:
    """Return the statement of a match whose groups, if any, are its digits."""
    digits = next(filter(None, found.groups()), None)
    return Statement(
        kind, found.start(), found.end(), found[0], None, _whole_number(digits) if digits else None
    )


# Paths: `torch.empty` and `np.float32` are none.

_ENDINGS = frozenset(
    "adoc astro bash bat c cc cfg cjs clj cls cmake conf cpp cs css csv cu cuh cxx dart diff "
    "el erl ex exs f90 fish fs go "
    "gradle graphql groovy h hbs hcl hh hpp hrl hs html hxx icns ini ino ipynb java jl js "
    "json jsonc jsonl jsx kt kts lean "
    "less lock log lua m md mdx mjs mk ml mm mod mts nim nix patch php pl plist png proto "
    "ps1 pxd py pyi pyx qml r rb rs "
    "rst s sass scala scss sh sol sql sum svelte svg swift tcl tex tf toml ts tsx txt v vue "
    "wgsl xml yaml yml zig zsh".split(" ")
)
"""Suffixes of files in projects. With any other suffix, the dot may join a module and its function.
"""

_NAMES = frozenset(
    (
        "dockerfile",
        "makefile",
        "justfile",
        "procfile",
        "license",
        "readme",
        ".env",
        ".gitignore",
        ".gitattributes",
        ".dockerignore",
    )
)
_SHAPE = pattern(r"[\w.@+~()\[\]/-]{1,300}")
_FILE_NAME = pattern(r"[^/]{0,100}\.[A-Za-z]\w{0,9}")


@lru_cache(maxsize=4096)  # the runs of one repository name the same files
def _is_path(text: str) -> bool:
    """Return whether the text is the path of a folder (`src/x/`), or of a file.

    With folders, or with a known suffix.
    """
    if not _SHAPE.fullmatch(text) or "//" in text:
        return False
    folder, _, name = text.rpartition("/")
    if name.rpartition(".")[2].lower() in _ENDINGS and "." in name:
        return True
    return name.lower() in _NAMES or (
        bool(folder) and (not name or _FILE_NAME.fullmatch(name) is not None)
    )


# Changed files, and the totals of the work. A path counts below a heading ("Files modified:"),
# behind a verb ("Created a/b.py"), or in
# front of counts of lines ("a/b.py (37 insertions, 20 deletions)"). Any other mention of a path
# does not.

FILES_LISTED = 1000

_NUMBER = r"(\d[\d,]{0,11})"
_ALONE = r"(\d(?<![\w.,]\d)[\d,]{0,11})"
_DONE = "modified|changed|created|added|updated|edited|touched|deleted|removed"
_GAP = r"[^\S\n]"
# with an emoji behind it, or none
_BULLET = rf"(?:[-*+•]|\d{{1,3}}[.)]){_GAP}+(?:[^\w\s`/.]{{1,4}}{_GAP}+)?"
_FILES_HEADING = pattern(
    rf"""[^\w\n]{{0,12}} (?:\d{{1,2}}[.)]\s)? (?:(?:key|new|all|main|the)\s)?
    (?: files?\ (?:{_DONE})(?:[/,&]\s?(?:and\s)?\w+)? | (?:{_DONE}|new)\ files )\b
    (?!\ (?:by|in|that|to|since|from|are|is|were|was)\b)""",  # a sentence about them
    re.IGNORECASE | re.VERBOSE,
)
_LIST_LINE = pattern(
    rf"""\n(?: {_GAP}{{0,12}}{_BULLET} (?:(?:[A-Z][a-z]+ed|NEW|New)\b:?{_GAP}+)?\*{{0,2}} (?:`([^`\n]{{1,300}})`|([^\s`:,*]{{1,300}}))
    # an item with a name, a blank line, a part of an item, or none
    | ({_GAP}*(?![^\n])) | ([ \t]|{_GAP}{{0,12}}{_BULLET}) |)""",  # noqa: E501
    re.VERBOSE,
)
_VERB = pattern(
    r"[^\w`]{0,16}(?:\d{1,3}[.)]\W{0,"
    r"4})?(?:Modified|Created|Updated|Changed|Edited|Rewrote|Deleted)\s+\*{0,2}`([^`\n]{1,"
    r"300})`"
)
_LEADING = pattern(rf"\s{{0,12}}(?:\|\s)?(?:{_BULLET})?[`*]{{0,4}}([^\s`*:|]{{3,300}})")
_WORDED = pattern(
    rf"{_ALONE} (?:line )?(?:(insertions?|(?:new )?lines "
    r"(?:added|inserted))|deletions?|lines (?:removed|deleted))\b"
)
_SIGNED = pattern(
    rf"(\+(?<=[(\s`]\+){_NUMBER})\s?[/,\s]\s?([-−–]{_NUMBER})(?=\slines|[)\s`,]|$)"
)  # +120/-30
_DIGIT = pattern("[0-9]")
_FILES_DONE = pattern(r"[fF](?i:iles?[\s_](?:modified|changed))")
_FILES_CHANGED = pattern(
    rf"""\bfiles_modified:\s(\d{{1,6}})\b
    | (?<![\w.,#]){_NUMBER}\sfiles?\schanged\b
    | \bfiles\s(?:modified|changed):?\*{{0,2}}:?\s\*{{0,2}}(\d{{1,6}})\b(?!\s?/)""",
    re.IGNORECASE | re.VERBOSE,
)


def _files(text: str, lines: Lines) -> tuple[tuple[FileChange, ...], list[Statement]]:
    """Return each file once, in the order of first mention, with its first numbers.

    And the totals of the work.

    A bare name that ends exactly one path is the same file: `main.py` beside `app/cli/main.py`.
    """
    totals = [
        _counted(StatementKind.FILES_CHANGED, found)
        for line in lines.files
        if _DIGIT.search(text, *line) and _FILES_DONE.search(text, *line)
        for found in _FILES_CHANGED.finditer(text, *line)
    ]
    changes: dict[str, FileChange] = {}
    for line in lines.lines_changed:
        inserted, deleted = _lines_changed(text, line)
        leading = _LEADING.match(text, *line) if inserted or deleted else None
        if leading and _is_path(leading[1]):
            counts = inserted and _whole_number(inserted[1]), deleted and _whole_number(deleted[1])
            changes.setdefault(leading[1], FileChange(leading[1], *counts))
            continue
        for kind, count in (
            (StatementKind.LINES_INSERTED, inserted),
            (StatementKind.LINES_DELETED, deleted),
        ):
            if count:
                (start, end), digits = count
                totals.append(
                    Statement(kind, start, end, text[start:end], None, _whole_number(digits))
                )
    for path in _paths_beneath_headings(text, lines.files):
        changes.setdefault(path, FileChange(path))
    for line in lines.verbs:
        found = _VERB.match(text, *line)
        if found and _is_path(found[1]):
            changes.setdefault(found[1], FileChange(found[1]))
    if not changes:
        return (), totals
    ends = Counter(path.rpartition("/")[2] for path in changes if "/" in path)
    return tuple(
        change for path, change in changes.items() if "/" in path or ends[path] != 1
    ), totals


def _lines_changed(
    text: str, line: Span
) -> tuple[tuple[Span, str] | None, tuple[Span, str] | None]:
    """Return place and digits of the line's first count of insertions, and of deletions."""
    if signed := _SIGNED.search(text, *line):
        return (signed.span(1), signed[2]), (signed.span(3), signed[4])
    inserted = deleted = None
    for found in _WORDED.finditer(text, *line):
        if found[2]:
            inserted = inserted or (found.span(), found[1])
        else:
            deleted = deleted or (found.span(), found[1])
    return inserted, deleted


def _paths_beneath_headings(text: str, lines: Sequence[Span]) -> Iterator[str]:
    """Yield the paths on the line of a heading, else those at the beginning of the items below it.

    A list ends at a line that is no part of an item. In backticks an item may be any name with a
    file's suffix.
    """
    read_to = 0
    for start, end in lines:
        heading = _FILES_HEADING.match(text, start, end) if start >= read_to else None
        if heading is None:
            continue
        inline = [
            found[1] for found in _QUOTED.finditer(text, heading.end(), end) if _is_path(found[1])
        ]
        yield from inline
        if inline:
            continue
        listed = blanks = 0
        read_to = end
        for line in _LIST_LINE.finditer(text, end) if text.startswith("\n", end) else ():
            quoted, bare, blank, part = line.groups()
            if not (quoted or bare or part or blank is not None):
                break
            blanks = 0 if blank is None else blanks + 1
            name = quoted or bare
            if name and (_is_path(name) or (quoted and _FILE_NAME.fullmatch(quoted))):
                yield name
                listed += 1
            read_to = line.end()
            if blanks == 2 or listed == FILES_LISTED:
                break


# Commits: "Commit created: b0655066a", "committed as 1a2b3c4", a list below a heading "Commits".

COMMITS_LISTED = 50

_COMMIT = pattern(r"[cC](?<=\b[cC])(?i:ommit(?:s|ted)?)\b")
# a letter and a digit: neither a word nor a count
_MIXED = r"(?=[0-9]{0,39}[a-f])(?=[a-f]{0,39}[0-9])[0-9a-f]{7,40}"
_HASH = pattern(
    rf"(?<![\w#.@/-])({_MIXED})(?![\w/@]|[.-]\w)|(?<=/commit/)({_MIXED})\b|`([0-9a-f]{{7,40}})`"
)
_SIGN = pattern(
    r"[0-9`](?:(?<=[0-9])[a-f]|(?<=[a-f][0-9])|(?<=`)[0-9a-f]{7})"
)  # of a hash: a digit beside a letter, or a backtick
_COMMITS_HEADING = pattern(
    r"[^\w\n]*(?:(?:git|new|the|all) )?commits?(?: (?:created|made|history|hash(?:es)?))?[^\w\n]*",
    re.IGNORECASE,
)
_HASH_ITEM = pattern(r"\s{0,8}(?:[-*+•]|\d{1,3}[.)])?[\s*`]{0,6}(?=[0-9a-f]{7})")


def _commits(text: str, lines: Sequence[Span]) -> Iterator[Statement]:
    """Yield hashes after the word `commit` on a line, and hashes that begin the lines below.

    Hashes below count only if the line is a heading.

    A list ends at a line without a hash; a blank line may come first.
    """
    read_to = 0
    for start, end in lines:
        word = _COMMIT.search(text, max(start, read_to), end)
        if word is None:
            continue
        hashes = (
            list(_HASH.finditer(text, word.end(), end))
            if _SIGN.search(text, word.end(), end)
            else []
        )
        read_to = end
        for line in (
            islice(list_below(text, end), COMMITS_LISTED)
            if _COMMITS_HEADING.fullmatch(text, start, end)
            else ()
        ):
            item = _HASH_ITEM.match(text, *line)
            found = _HASH.search(text, max(line[0], item.end() - 1), line[1]) if item else None
            if not item or not found or found.start() > item.end():
                break
            hashes.append(found)
            read_to = found.end()
        for found in hashes:
            at, behind = found.span(found.lastindex or 0)
            yield Statement(StatementKind.COMMIT, at, behind, text[at:behind], text[at:behind])


# Artefacts: patch files with their line counts, and the list below a heading `Deliverables`.

HEADINGS = 10

ARTEFACTS_LISTED = 50

_LINE_COUNT = r"(?:`?\*{0,2}\s{0,2}[(\[:–—-]\s{0,2}(\d[\d,]{0,14}) lines\b)?"
_PATCH = pattern(rf"(?<![\w/.~+@-])([\w/.~+@-]{{1,200}}\.(?:patch|diff)\b){_LINE_COUNT}")
_PATCH_ENDING = pattern(r"\.(?:patch|diff)\b")
_MADE_VERBS = (
    "generated",
    "created",
    "saved",
    "written",
    "produced",
    "exported",
    "stored",
    "wrote",
)
_MADE = pattern("|".join((*_MADE_VERBS, *map(str.capitalize, _MADE_VERBS))))
_UNMADE = pattern(r"(?:not|n't|will|should|would|lease|to be|if|If)\b")
_DELIVERABLES = pattern(r"[^\w\n]*(?:\w+ )?[Dd]eliverables(?: \w+)?[^\w\n]*")
_ITEM = pattern(r"\s{0,8}(?:[-*+•]|\d{1,3}[.)])\s")
_QUOTED_WITH_COUNT = pattern(rf"`([^`\n]{{1,300}})(?=`){_LINE_COUNT}")


def _artefacts(text: str, lines: Lines) -> Iterator[Statement]:
    """Yield each artefact once, at its first mention.

    Patch files in lines that say that they were made, then deliverables.
    """
    named = set()
    for found in (*_patches(text, lines.artefacts), *_deliverables(text, lines.deliverables)):
        path, count = found.groups()
        start, end = found.start(1), found.end()
        if path not in named:
            named.add(path)
            yield Statement(
                StatementKind.ARTEFACT,
                start,
                end,
                text[start:end],
                path,
                _whole_number(count) if count else None,
            )


def _patches(text: str, lines: Sequence[Span]) -> Iterator[re.Match[str]]:
    """Yield the paths of patch files, searched backwards from the suffix.

    Twice as fast as from the start of the line.
    """
    for start, end in lines:
        made = _MADE.search(text, start, end)
        if not made or _UNMADE.search(text, start, made.start()):
            continue
        at = start
        while ending := _PATCH_ENDING.search(text, at, end):
            path = _PATCH.search(text, max(at, text.rfind(" ", at, ending.start())), end)
            if path is None:
                break
            yield path
            at = path.end(1)


def _deliverables(text: str, lines: Sequence[Span]) -> Iterator[re.Match[str]]:
    """Yield the first path in backticks of each list item below a heading of deliverables."""
    for start, end in lines[:HEADINGS]:
        for line in (
            islice(list_below(text, end), ARTEFACTS_LISTED)
            if _DELIVERABLES.fullmatch(text, start, end)
            else ()
        ):
            if not _ITEM.match(text, *line):
                break
            quoted = _QUOTED_WITH_COUNT.search(text, *line)
            if quoted and _is_path(quoted[1]):
                yield quoted


# Tests that pass or fail: `199 tests passed`, `pytest: 1834 passed, 1 skipped`, `All tests pass`,
# `3 failed`.

_COUNT = r"(\d(?<![\w.,/$#:-]\d)[\d,]{0,11})"
_OF = r"(?: (?:\s?/\s?|\s+(?:out\s)?of\s+(?:the\s)?) \d[\d,]{0,11} )?"
_ARE = r"(?:(?:are|is|now|all|still)\s+){0,3}"
_KINDS = r"(?:[A-Za-z][\w-]{0,20}\s+){0,3}?"  # of tests: `37 server API tests`
_PLACES = "on|in|through|to|the|a|an|it|as|by|over|along|around|down"
# `3 tests pass the id on`
_PASSED = rf"pass(?:ed|es|ing)?\b(?!\s(?:{_PLACES})\b(?!\s(?:ci|all|the\saffected|affected)\b))"
_OTHERS = r"\d[\d,]*\s(?:skipped|failed|failing|pending|deselected|xfailed|warnings?|ignored)\b"
_COUNTED_TESTS = (
    pattern(
        rf"""{_COUNT} (?: {_OF}\*{{0,2}}\s+{_KINDS}(?:tests?|specs?|test\scases?)\*{{0,2}}[,:]?\s+{_ARE}{_PASSED}  # 199 tests passed
        | \s+pass(?:ed|ing)(?=[\s*`]*[,(;]\s*{_OTHERS})  # 1834 passed, 1 skipped
        | \s+passing\s+(?:(?:unit|integration|e2e)\s)?tests?\b )""",  # noqa: E501
        re.IGNORECASE | re.VERBOSE,
    ),
    pattern(
        rf"""[tT](?<=\b[tT])(?i:ests?(?: (?:\sresults?|\sstatus)?[:\s*=–—]{{1,5}}{_COUNT}{_OF}\*{{0,2}}\s+(?:tests?\s+)?{_PASSED}
        # Tests: 9/9 passed; Tests passed: 575
        | \spass(?:ed)?[:\s*=(]{{1,5}}{_COUNT}{_OF}(?!\s*(?:%|ms\b|s\b|min|sec|\|)) ))""",  # noqa: E501
        re.VERBOSE,
    ),
)
_UNCOUNTED = pattern(
    rf"""[tTaAeE](?<=\b[tTaAeE])(?i:(?<=t)ests_status:\spassing\b
    | (?:(?<=a)ll\s(?:of\s)?(?:the\s|our\s)?|(?<=e)very\s)(?:[a-z][\w-]{{0,20}}\s+){{0,2}}?tests?\s+{_ARE}{_PASSED})""",  # noqa: E501
    re.VERBOSE,
)
_FAILED = pattern(
    (
        rf"{_COUNT}\s+(?:(?:tests?\s+)?(?:failed|failing|failures?) | "
        rf"{_KINDS}tests?\s+{_ARE}fail(?:s|ed|ing)?)\b(?!\s+\w)"
    ),
    re.IGNORECASE | re.VERBOSE,
)
_SPECS = pattern(r"specs?\b")
_COUNTED_PASS = pattern(r" pass(?<=[0-9] pass)(?:ed|ing)")
_UNREAL = pattern(
    r"""\b(?:if|when|once|until|unless|after|before|only|ensures?|make\ssure|verify|verifies|check|should|must|would|will|whether|not
    |expects?|requires?|wants?)\W+(?:\w+\W+){0,3}$""",
    re.IGNORECASE | re.VERBOSE,
)
_BEFORE = 60


def _tests(text: str, lines: Lines) -> Iterator[Statement]:
    """Yield tests that pass, then tests that fail, even `0 failed`.

    Passing tests are counts, or `all tests pass` on lines without a count.
    """
    for line in filter(lambda line: _is_of_tests(text[slice(*line)]), lines.tests_passed):
        taken: list[Span] = []
        for counted in _COUNTED_TESTS if _DIGIT.search(text, *line) else ():
            for found in counted.finditer(text, *line):
                if not any(
                    start < found.end() and found.start() < end for start, end in taken
                ) and _is_real(text, line[0], found):
                    taken.append(found.span())
                    yield _counted(StatementKind.TESTS_PASSED, found)
        for found in _UNCOUNTED.finditer(text, *line) if not taken else ():
            if _is_real(text, line[0], found):
                yield _counted(StatementKind.TESTS_PASSED, found)
    for line in filter(lambda line: _is_of_tests(text[slice(*line)]), lines.tests_failed):
        for found in _FAILED.finditer(text, *line):
            if _is_real(text, line[0], found):
                yield _counted(StatementKind.TESTS_FAILED, found)


def _is_of_tests(line: str) -> bool:
    is_named = "test" in line or "Test" in line or "TESTS_STATUS" in line
    return is_named or _SPECS.search(line) is not None or _COUNTED_PASS.search(line) is not None


def _is_real(text: str, line_start: int, found: re.Match[str]) -> bool:
    """Return whether it is a statement, and not a condition, plan or quotation."""
    start = found.start()
    is_quoted = start > line_start and text[start - 1] in "\"'“‘«"
    return not is_quoted and _UNREAL.search(text, max(line_start, start - _BEFORE), start) is None
