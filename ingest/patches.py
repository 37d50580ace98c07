"""A unified diff → its changed files with their numbers of lines, and the stored text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import unified_diff
from itertools import islice
from typing import Any, NamedTuple

from ingest.facts import PatchText

FILES_KEPT = 10_000
"""Maximum number of files of one patch that are listed; the totals count all of them."""

KEPT_BYTES = 1 << 20

FileChange = tuple[str, int, int]
"""(path, insertions, deletions)"""

_GIT = re.compile(r'diff --git (?:"?a/.*"? )("?)b/(.*?)\1$')
_SIDE = re.compile(r"^[ab]/")
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NOTE = re.compile(
    r"(?:new|deleted) file mode|old mode|new mode|(?:rename|copy) from|Binary files|GIT "
    r"binary patch"
)
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_ESCAPED = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


class Hunk(NamedTuple):
    """Adjacent lines of a file, each with its mark.

    `heading`: the line of code that git prints to locate the hunk.
    """

    old_start: int
    new_start: int
    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Patch:
    """The size of a patch. `sha256`: of its bytes, hex; None if it is empty."""

    files: int
    insertions: int
    deletions: int
    changes: tuple[FileChange, ...]
    sha256: str | None = None
    kept: PatchText | None = None


def patch_in(file_name: str, content: bytes) -> Patch:
    """Read a whole patch. A blank one has neither hash nor text: nothing was changed."""
    text = content.decode("utf-8", "replace")
    found = read_patch(text.split("\n"))
    if not content.strip():
        return found
    encoded = text.encode()
    if is_cut := len(encoded) > KEPT_BYTES:
        text = encoded[: encoded.rfind(b"\n", 0, KEPT_BYTES) + 1 or KEPT_BYTES].decode(
            "utf-8", "ignore"
        )
    kept = PatchText(file_name, len(content), is_cut, text)
    return replace(found, sha256=hashlib.sha256(content).hexdigest(), kept=kept)


def patch_facts(patch: Patch) -> dict[str, Any]:
    """Return the facts of a patch, by their names in `Facts`."""
    return {
        "patch_files": patch.files,
        "patch_insertions": patch.insertions,
        "patch_deletions": patch.deletions,
        "patch_sha256": patch.sha256,
        "patch_changes": patch.changes,
        "patch": patch.kept,
    }


def diff_of(files: Iterable[tuple[str, str, str]]) -> str:
    """Return the unified diff of files: (path, content before, content after)."""
    parts: list[str] = []
    for path, before, after in files:
        if before == after:
            continue
        parts.append(f"diff --git a/{path} b/{path}\n")
        if not before or not after:
            parts.append(f"{'deleted' if before else 'new'} file mode 100644\n")
        old, new = (_ENDED.findall(text) for text in (before, after))
        names = (f"a/{path}" if before else "/dev/null", f"b/{path}" if after else "/dev/null")
        parts += [
            line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}"
            for line in unified_diff(old, new, *names)
        ]
    return "".join(parts)


_ENDED = re.compile(r"[^\n]*\n|[^\n]+")
_NO_NEWLINE = "\\ No newline at end of file\n"


def read_patch(lines: Iterable[str]) -> Patch:
    """Count the changes of a diff.

    Text that is no diff counts nothing; a file changed twice counts once.
    """
    changes: dict[str, list[int]] = {}
    for path, part in parts_of(lines):
        total = changes.setdefault(path, [0, 0])
        if isinstance(part, Hunk):
            total[0] += sum(line.startswith("+") for line in part.lines)
            total[1] += sum(line.startswith("-") for line in part.lines)
    listed = tuple(
        (path, inserted, deleted)
        for path, (inserted, deleted) in islice(changes.items(), FILES_KEPT)
    )
    return Patch(
        len(changes),
        sum(each[0] for each in changes.values()),
        sum(each[1] for each in changes.values()),
        listed,
    )


def parts_of(lines: Iterable[str]) -> Iterator[tuple[str, Hunk | str]]:
    """Yield the parts of a diff with the path of their file.

    Hunks, and git's notes on a file, which starts with an empty note.

    A hunk states its length, so its lines are never mistaken for headers.
    """
    rest = (line.rstrip("\r\n") for line in lines)
    path = old = None
    for line in rest:
        if found := _GIT.match(line):
            path = _plain(found[2], found[1])
            yield path, ""
        elif line.startswith("--- "):
            old = _named(line)
        elif line.startswith("+++ "):
            path = _named(line) or old
        elif path and (hunk := _HUNK.match(line)):
            body = tuple(_body(rest, _number(hunk[2], 1), _number(hunk[4], 1)))
            yield (
                path,
                Hunk(_number(hunk[1], 0), _number(hunk[3], 0), line[hunk.end() :].strip(), body),
            )
        elif path and _NOTE.match(line):
            yield path, line


def _body(lines: Iterator[str], old: int, new: int) -> Iterator[str]:
    """Yield the lines of a hunk with so many old and new lines."""
    while old > 0 or new > 0:
        line = next(lines, "end")
        if (mark := line[:1]) not in ("+", "-", " ", "", "\\"):
            return
        yield line
        old -= mark in ("-", " ", "")
        new -= mark in ("+", " ", "")


def _number(text: str | None, usual: int) -> int:
    """Return a number in the header of a hunk; `usual` if git omitted it or it is far too long."""
    return int(text) if text and len(text) < 10 else usual


def _named(line: str) -> str | None:
    """Return the path in a line `--- a/x` or `+++ b/x`.

    None for /dev/null. diff appends a time behind a tab.
    """
    name = line[4:].partition("\t")[0].strip()
    if name == "/dev/null":
        return None
    quote = '"' if name.startswith('"') else ""
    return _plain(_SIDE.sub("", name.strip('"')), quote) or None


def _plain(path: str, quote: str) -> str:
    """Return a path without git's quoting, which writes non-ASCII bytes as three octal digits."""
    if not quote:
        return path
    raw = _ESCAPE.sub(
        lambda found: (
            chr(int(found[1], 8) & 255) if found[1].isdigit() else _ESCAPED.get(found[1], found[1])
        ),
        path,
    )
    return raw.encode("latin-1", "replace").decode("utf-8", "replace")
