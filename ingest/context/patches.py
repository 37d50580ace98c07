"""A unified diff → the files it changes and by how many lines, and the text that is kept of it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from ingest.agents.base import PatchText

FILES_KEPT = 10_000
"""Files of one patch that are listed; the totals count all of them."""

KEPT_BYTES = 1 << 20
"""Most bytes of a patch that are kept."""

FileChange = tuple[str, int, int]
"""(path, insertions, deletions)"""

_GIT = re.compile(r'diff --git (?:"?a/.*"? )("?)b/(.*?)\1$')
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_ESCAPED = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


@dataclass(frozen=True)
class Patch:
    """The size of a patch. `sha256`: of its bytes, hex; None for one without any."""

    files: int
    insertions: int
    deletions: int
    changes: tuple[FileChange, ...]
    sha256: str | None = None
    kept: PatchText | None = None


def patch_in(file_name: str, content: bytes) -> Patch:
    """Read a whole patch. One that is blank has neither hash nor text: nothing was changed."""
    text = content.decode("utf-8", "replace")
    found = read_patch(text.split("\n"))
    if not content.strip():
        return found
    encoded = text.encode()
    if is_cut := len(encoded) > KEPT_BYTES:
        text = encoded[: encoded.rfind(b"\n", 0, KEPT_BYTES) + 1 or KEPT_BYTES].decode("utf-8", "ignore")
    kept = PatchText(file_name, len(content), is_cut, text)
    return replace(found, sha256=hashlib.sha256(content).hexdigest(), kept=kept)


def read_patch(lines: Iterable[str]) -> Patch:
    """Count the changes of a diff. Text that is no diff counts nothing; a file that is changed twice is one file."""
    changes: dict[str, list[int]] = {}
    for path, inserted, deleted in _changes(line.rstrip("\r\n") for line in lines):
        total = changes.setdefault(path, [0, 0])
        total[0] += inserted
        total[1] += deleted
    listed = tuple((path, inserted, deleted) for path, (inserted, deleted) in islice(changes.items(), FILES_KEPT))
    return Patch(len(changes), sum(each[0] for each in changes.values()), sum(each[1] for each in changes.values()), listed)


def _changes(lines: Iterator[str]) -> Iterator[FileChange]:
    """One change of no lines per file header, and one per hunk. A hunk says its length, so its lines are never taken for headers."""
    path = old = None
    for line in lines:
        if found := _GIT.match(line):
            path = _plain(found[2], found[1])
            yield path, 0, 0
        elif line.startswith("--- "):
            old = _named(line)
        elif line.startswith("+++ "):
            path = _named(line) or old
        elif path and (hunk := _HUNK.match(line)):
            yield path, *_hunk(lines, _length(hunk[1]), _length(hunk[2]))


def _hunk(lines: Iterator[str], old: int, new: int) -> tuple[int, int]:
    """Insertions and deletions of a hunk with so many old and new lines."""
    inserted = deleted = 0
    while old > 0 or new > 0:
        mark = next(lines, "end")[:1]
        if mark not in ("+", "-", " ", "", "\\"):
            break
        inserted, deleted = inserted + (mark == "+"), deleted + (mark == "-")
        old -= mark in ("-", " ", "")
        new -= mark in ("+", " ", "")
    return inserted, deleted


def _length(text: str | None) -> int:
    """Lines of a hunk; 1 where the number is left out, as git does, or is impossibly long."""
    return int(text) if text and len(text) < 10 else 1


def _named(line: str) -> str | None:
    """The path in a line `--- a/x` or `+++ b/x`; None for /dev/null. diff writes a time behind a tab."""
    name = line[4:].partition("\t")[0].strip()
    if name == "/dev/null":
        return None
    quote = '"' if name.startswith('"') else ""
    return _plain(name.strip('"').removeprefix("a/").removeprefix("b/"), quote) or None


def _plain(path: str, quote: str) -> str:
    """A path without git's quoting, which writes bytes beyond ASCII as three octal digits."""
    if not quote:
        return path
    raw = _ESCAPE.sub(lambda found: chr(int(found[1], 8) & 255) if found[1].isdigit() else _ESCAPED.get(found[1], found[1]), path)
    return raw.encode("latin-1", "replace").decode("utf-8", "replace")
