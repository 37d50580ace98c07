"""Changed files in a summary, with their insertions and deletions, and the totals of the work.

A path counts below a heading ("Files modified:"), behind a verb ("Created a/b.py"), or in front of counts of lines
("a/b.py (37 insertions, 20 deletions)"). Any other mention of a path does not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from ingest.findings.statements.lines import Lines, Span
from ingest.findings.statements.paths import is_file_name, is_path
from ingest.findings.statements.statement import FileChange, Statement, whole_number
from schemas.rows.claim import StatementKind

_Count = tuple[int, int, str]
"""Start, end and digits."""

FILES_LISTED = 1000
"""Most files read from the list below one heading."""

_NUMBER = r"(\d[\d,]{0,11})"
_ALONE = r"(\d(?<![\w.,]\d)[\d,]{0,11})"  # the first digit first: a search then goes from digit to digit
_DONE = "modified|changed|created|added|updated|edited|touched|deleted|removed"
_GAP = r"[^\S\n]"
_BULLET = rf"(?:[-*+•]|\d{{1,3}}[.)]){_GAP}+(?:[^\w\s`/.]{{1,4}}{_GAP}+)?"  # with an emoji behind it, or none

_HEADING = re.compile(
    rf"""[^\w\n]{{0,12}} (?:\d{{1,2}}[.)]\s)? (?:(?:key|new|all|main|the)\s)?
    (?: files?\ (?:{_DONE})(?:[/,&]\s?(?:and\s)?\w+)? | (?:{_DONE}|new)\ files )\b
    (?!\ (?:by|in|that|to|since|from|are|is|were|was)\b)""",  # a sentence about them
    re.IGNORECASE | re.VERBOSE,
)
_LIST_LINE = re.compile(
    rf"""\n(?: {_GAP}{{0,12}}{_BULLET} (?:(?:[A-Z][a-z]+ed|NEW|New)\b:?{_GAP}+)?\*{{0,2}} (?:`([^`\n]{{1,300}})`|([^\s`:,*]{{1,300}}))
    | ({_GAP}*(?![^\n])) | ([ \t]|{_GAP}{{0,12}}{_BULLET}) |)""",  # an item with a name, a blank line, a part of an item, or none
    re.VERBOSE,
)
_VERB = re.compile(
    r"[^\w`]{0,16}(?:\d{1,3}[.)]\W{0,4})?(?:Modified|Created|Updated|Changed|Edited|Rewrote|Deleted)\s+\*{0,2}`([^`\n]{1,300})`"
)
_QUOTED = re.compile(r"`([^`\n]{1,300})`")
_LEADING = re.compile(rf"\s{{0,12}}(?:\|\s)?(?:{_BULLET})?[`*]{{0,4}}([^\s`*:|]{{3,300}})")
_WORDED = re.compile(rf"{_ALONE} (?:line )?(?:(insertions?|(?:new )?lines (?:added|inserted))|deletions?|lines (?:removed|deleted))\b")
_SIGNED = re.compile(rf"(\+(?<=[(\s`]\+){_NUMBER})\s?[/,\s]\s?([-−–]{_NUMBER})(?=\slines|[)\s`,]|$)")  # +120/-30
_DIGIT = re.compile("[0-9]")
_FILES_DONE = re.compile(r"[fF](?i:iles?[\s_](?:modified|changed))")
_FILES = re.compile(
    rf"""\bfiles_modified:\s(\d{{1,6}})\b
    | (?<![\w.,#]){_NUMBER}\sfiles?\schanged\b
    | \bfiles\s(?:modified|changed):?\*{{0,2}}:?\s\*{{0,2}}(\d{{1,6}})\b(?!\s?/)""",
    re.IGNORECASE | re.VERBOSE,
)


def read_files(text: str, lines: Lines) -> tuple[tuple[FileChange, ...], list[Statement]]:
    """Each file once, in the order of first mention, with its first numbers; and the totals of the work."""
    counted, totals = _counted(text, lines.lines_changed)
    headed = lines.files
    found: dict[str, FileChange] = {}
    for change in (*counted, *_beneath_headings(text, headed), *_behind_verbs(text, lines.verbs)):
        found.setdefault(change.path, change)
    return _each_once(found.values()), [*_totals_of_files(text, headed), *totals]


def _each_once(changes: Collection[FileChange]) -> tuple[FileChange, ...]:
    """The files without bare names that are the end of exactly one path: `main.py` beside `app/cli/main.py` is the same file."""
    if all("/" in change.path for change in changes):
        return tuple(changes)
    ends = Counter(change.path.rpartition("/")[2] for change in changes if "/" in change.path)
    return tuple(change for change in changes if "/" in change.path or ends[change.path] != 1)


def _totals_of_files(text: str, lines: Sequence[Span]) -> Iterator[Statement]:
    for line in lines:
        for found in _FILES.finditer(text, *line) if _DIGIT.search(text, *line) and _FILES_DONE.search(text, *line) else ():
            yield _statement(StatementKind.FILES_CHANGED, found)


def _counted(text: str, lines: Sequence[Span]) -> tuple[list[FileChange], list[Statement]]:
    """Insertions and deletions: of the path at the beginning of their line, else of the whole work."""
    changes: list[FileChange] = []
    totals: list[Statement] = []
    for line in lines:
        inserted, deleted = _lines_changed(text, line)
        if not inserted and not deleted:
            continue
        if path := _leading_path(text, line):
            changes.append(FileChange(path, inserted and whole_number(inserted[2]), deleted and whole_number(deleted[2])))
            continue
        for kind, count in ((StatementKind.LINES_INSERTED, inserted), (StatementKind.LINES_DELETED, deleted)):
            if count:
                at, end, digits = count
                totals.append(Statement(kind, at, end, text[at:end], None, whole_number(digits)))
    return changes, totals


def _statement(kind: StatementKind, found: re.Match[str]) -> Statement:
    digits = next(filter(None, found.groups()))
    return Statement(kind, found.start(), found.end(), found[0], None, whole_number(digits))


def _lines_changed(text: str, line: Span) -> tuple[_Count | None, _Count | None]:
    """The first count of insertions and the first count of deletions in the line."""
    if signed := _SIGNED.search(text, *line):
        return (*signed.span(1), signed[2]), (*signed.span(3), signed[4])
    inserted = deleted = None
    for found in _WORDED.finditer(text, *line):
        count = (*found.span(), found[1])
        if found[2]:
            inserted = inserted or count
        else:
            deleted = deleted or count
    return inserted, deleted


def _leading_path(text: str, line: Span) -> str | None:
    """The path at the beginning of the line."""
    found = _LEADING.match(text, *line)
    return found[1] if found and is_path(found[1]) else None


def _beneath_headings(text: str, lines: Sequence[Span]) -> Iterator[FileChange]:
    """The paths on the line of a heading, else those at the beginning of the items below it."""
    read_to = 0
    for start, end in lines:
        heading = _HEADING.match(text, start, end) if start >= read_to else None
        if heading is None:
            continue
        inline = [FileChange(found[1]) for found in _QUOTED.finditer(text, heading.end(), end) if is_path(found[1])]
        if inline:
            yield from inline
            continue
        paths, read_to = _listed(text, end)
        yield from map(FileChange, paths)


def _listed(text: str, end: int) -> tuple[list[str], int]:
    """The paths of the items after the line that ends at `end`, and where the list ends: at a line that is neither item nor part of one."""
    paths: list[str] = []
    blanks = 0
    for line in _LIST_LINE.finditer(text, end) if text.startswith("\n", end) else ():
        quoted, bare, blank, part = line.groups()
        if not (quoted or bare or part or blank is not None):
            break
        blanks = 0 if blank is None else blanks + 1
        if path := _path_of(quoted, bare):
            paths.append(path)
        end = line.end()
        if blanks == 2 or len(paths) == FILES_LISTED:
            break
    return paths, end


def _path_of(quoted: str | None, bare: str | None) -> str | None:
    """The path of an item: in backticks any name with a suffix of a file, else only text that is surely a path."""
    if quoted:
        return quoted if is_path(quoted) or is_file_name(quoted) else None
    return bare if bare and is_path(bare) else None


def _behind_verbs(text: str, lines: Sequence[Span]) -> Iterator[FileChange]:
    """Files in lines or items that begin with a verb and a path in backticks."""
    for line in lines:
        found = _VERB.match(text, *line)
        if found and is_path(found[1]):
            yield FileChange(found[1])
