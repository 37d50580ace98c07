"""A patch as HTML: its files with line numbers and marked words. A patch is a stranger's text: all of it is escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from app.text.formatting import MINUS
from ingest.context.patches import Hunk, parts_of
from schemas.text import plural, visible

FOLDED_FROM = 400
"""Lines of a file from which on it is folded."""

MOST_LINES, LONGEST_LINE = 4_000, 1_000
"""Lines that are shown of a patch, and characters of a line: a browser is no place for all of a large one."""

_TEST = re.compile(
    r"(?:^|/)(?:tests?|testing|specs?|__tests__|testdata)/|(?:^|/)(?:test_|conftest\.)[^/]*$|[._-](?:test|spec)\.\w+$", re.IGNORECASE
)
_TOKEN = re.compile(r"\w+|\s+|.")
_LEAST_ALIKE = 0.4
"""The part that two lines share before the difference between them is marked; of others all is."""


@dataclass
class _File:
    path: str
    notes: list[str] = field(default_factory=list)
    hunks: list[Hunk] = field(default_factory=list)

    def count(self, mark: str) -> int:
        return sum(line.startswith(mark) for hunk in self.hunks for line in hunk.lines)


def diff_html(text: str) -> str:
    """A unified diff, source files before tests; empty for text that is no diff."""
    files: dict[str, _File] = {}
    for path, part in parts_of(text.split("\n")):
        file = files.setdefault(path, _File(path))
        if isinstance(part, Hunk):
            file.hunks.append(part)
        elif part:
            file.notes.append(part)
    left, drawn = MOST_LINES, []
    for file in sorted(files.values(), key=lambda file: _TEST.search(file.path) is not None):
        lines = sum(len(hunk.lines) for hunk in file.hunks)
        drawn.append(_file_html(file, lines, min(lines, left)))
        left = max(left - lines, 0)
    return f'<div class="t-diff">{"".join(drawn)}</div>' if drawn else ""


def _file_html(file: _File, lines: int, shown: int) -> str:
    """A file with its first lines."""
    counts = f'<span class="t-diff-plus">+{file.count("+"):,}</span> <span class="t-diff-minus">{MINUS}{file.count("-"):,}</span>'
    folded = f" · {plural(lines, 'line')}" if lines >= FOLDED_FROM else ""
    notes = "".join(f'<div class="t-diff-h">{_text(note)}</div>' for note in file.notes)
    body = "".join(_rows(file.hunks, shown))
    if shown < lines:
        body += f'<div class="t-diff-h">{lines - shown:,} more lines are not shown.</div>'
    is_open = "" if lines >= FOLDED_FROM else " open"
    head = f"<summary><b>{_text(file.path)}</b><span>{folded}</span><span>{counts}</span></summary>"
    return f'<details{is_open}>{head}<div class="t-diff-code"><div>{notes}{body}</div></div></details>'


def _rows(hunks: Sequence[Hunk], most: int) -> Iterator[str]:
    for hunk in hunks:
        if most <= 0:
            return
        yield f'<div class="t-diff-h"><i></i><i></i>{_text(hunk.heading) or "…"}</div>'
        old, new = hunk.old_start, hunk.new_start
        lines = hunk.lines[:most]
        most -= len(lines)
        for line, changed in zip(lines, _marked(lines), strict=True):
            mark = line[:1] or " "
            look = {"+": " t-diff-a", "-": " t-diff-d"}.get(mark, "")
            left, right = ("" if mark in "+\\" else f"{old}"), ("" if mark in "-\\" else f"{new}")
            yield f'<div class="t-diff-l{look}"><i>{left}</i><i>{right}</i>{html.escape(mark)} {changed}</div>'
            old, new = old + (mark in "- "), new + (mark in "+ ")


def _marked(lines: Sequence[str]) -> list[str]:
    """The lines without their marks as HTML. Of a deleted line and the one inserted in its place, what differs is marked."""
    shown = [_text(line[1:]) for line in lines]
    place = 0
    while place < len(lines):
        removed = place
        while removed < len(lines) and lines[removed].startswith("-"):
            removed += 1
        added = removed
        while added < len(lines) and lines[added].startswith("+"):
            added += 1
        for old, new in zip(range(place, removed), range(removed, added), strict=False):
            shown[old], shown[new] = _words(lines[old][1:], lines[new][1:])
        place = max(added, place + 1)
    return shown


def _words(old: str, new: str) -> tuple[str, str]:
    """Two lines with their difference marked: what is between the words that both begin and end with."""
    ours, theirs = _TOKEN.findall(old[:LONGEST_LINE]), _TOKEN.findall(new[:LONGEST_LINE])
    most = min(len(ours), len(theirs))
    first = next((number for number in range(most) if ours[number] != theirs[number]), most)
    last = next((number for number in range(most - first) if ours[-1 - number] != theirs[-1 - number]), most - first)
    same = "".join((*ours[:first], *ours[len(ours) - last :])).strip()
    if len(same) < _LEAST_ALIKE * max(len(old.strip()), len(new.strip())):
        return _text(old), _text(new)
    return _between(ours, first, last), _between(theirs, first, last)


def _between(tokens: Sequence[str], first: int, last: int) -> str:
    end = len(tokens) - last
    parts = ("".join(tokens[:first]), "".join(tokens[first:end]), "".join(tokens[end:]))
    before, changed, behind = (html.escape(visible(part)) for part in parts)
    return f"{before}<s>{changed}</s>{behind}" if changed else before + behind


def _text(text: str) -> str:
    return html.escape(visible(text[:LONGEST_LINE])) + ("…" if len(text) > LONGEST_LINE else "")
