"""Bytes → documents: where JSON lies in a file, judged by content and never by the file's name.

A *source* is named bytes. A *document* is one JSON object at event level: the file itself, an element of an array, or a
line of a stream. What cannot be read comes out as `Unreadable`, so that nothing disappears here.
"""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from schemas.errors import InputUnreadable, RejectReason

EXCERPT_CHARACTERS = 300
_SNIFFED_BYTES = 8192
_BLANK = b" \t\r\n\x0b\x0c"
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True)
class Source:
    """Named bytes: a file, an upload, a stream. `source_id` is the sha256 of the bytes, hex."""

    name: str
    data: bytes

    @cached_property
    def source_id(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True)
class Document:
    """One JSON object as text. `position` says where in the source it starts, in words."""

    ordinal: int
    position: str
    text: str

    @cached_property
    def value(self) -> Any:
        """The parsed JSON. Raises ValueError where the text is none."""
        return _DECODER.decode(self.text)


@dataclass(frozen=True)
class Unreadable:
    """A part of a source that is no document: becomes a row of `rejects`."""

    ordinal: int
    position: str
    reason: RejectReason
    detail: str
    excerpt: str = ""


@dataclass
class Contents:
    """What a source holds. `kind`: object, array, jsonl, concatenated, mixed or none."""

    kind: str
    parts: list[Document | Unreadable] = field(default_factory=list)


def read_paths(paths: Iterable[Path]) -> Iterator[Source | InputUnreadable]:
    """The files at and under the given paths, folders in name order, each folder once (links may loop).

    A path that cannot be read comes out as the error that says so; the others go on.
    """
    for path in find_files(paths):
        yield path if isinstance(path, InputUnreadable) else read_file(path)


def find_files(paths: Iterable[Path]) -> Iterator[Path | InputUnreadable]:
    """The paths of the same files, none read yet."""
    seen: set[tuple[int, int]] = set()
    for path in paths:
        yield from _walk(path, seen)


def read_file(path: Path) -> Source | InputUnreadable:
    """The file's bytes."""
    try:
        return Source(bytes(path).decode(errors="replace"), path.read_bytes())  # a name need not be UTF-8
    except OSError as error:
        return _unreadable(path, error)


def read(source: Source) -> Contents:
    """Every document of a source, in order, and what could not be read."""
    if not source.data.strip(_BLANK):
        return _refused(RejectReason.EMPTY, "the file is empty", "")
    text = _decode(source.data)
    if text is None:
        return _refused(RejectReason.BINARY, "the file holds binary data, not text", repr(source.data[:40]))
    return _whole(text) or _lines(text)


def excerpt(text: str) -> str:
    """The beginning of a text, for a reject row."""
    return text if len(text) <= EXCERPT_CHARACTERS else text[: EXCERPT_CHARACTERS - 1] + "…"


def _walk(path: Path, seen: set[tuple[int, int]]) -> Iterator[Path | InputUnreadable]:
    try:
        status = path.stat()
        if not stat.S_ISDIR(status.st_mode):
            yield path
            return
        if (status.st_dev, status.st_ino) in seen:
            return
        seen.add((status.st_dev, status.st_ino))
        children = sorted(path.iterdir())
    except OSError as error:
        yield _unreadable(path, error)
        return
    for child in children:
        if not child.is_symlink() or child.exists():  # a dangling link is nobody's log
            yield from _walk(child, seen)


def _unreadable(path: Path, error: OSError) -> InputUnreadable:
    return InputUnreadable(f"cannot read {path}: {error.strerror or error}", "Check the path and its permissions.")


def _decode(data: bytes) -> str | None:
    """The text of the bytes, or None where they are binary."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    if b"\0" in data[:_SNIFFED_BYTES]:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("utf-8-sig", errors="replace")
        damaged = text.count("�", 0, _SNIFFED_BYTES)
        return None if damaged > min(len(text), _SNIFFED_BYTES) // 10 else text


def _refused(reason: RejectReason, detail: str, beginning: str) -> Contents:
    return Contents("none", [Unreadable(0, "line 1, byte 0", reason, detail, beginning)])


def _whole(text: str) -> Contents | None:
    """The text as one JSON value, or None where it is not one."""
    start = len(text) - len(text.lstrip("\ufeff \t\r\n\x0b\x0c"))
    if text[start : start + 1] not in ("{", "["):
        return None
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    if text[end:].strip():
        return None
    if isinstance(value, list):
        return Contents("array", list(_elements(text, start)))
    return Contents("object", [Document(0, "line 1, byte 0", text[start:end])])


def _elements(text: str, start: int) -> Iterator[Document | Unreadable]:
    """The objects of a JSON array that is known to be valid; other elements are no records."""
    at, ordinal = start + 1, 0
    while (at := _skip(text, at, " \t\r\n,")) < len(text) and text[at] != "]":
        value, end = _DECODER.raw_decode(text, at)
        yield _element(value, ordinal, f"element {ordinal}", text[at:end])
        at, ordinal = end, ordinal + 1
    if not ordinal:
        yield Unreadable(0, "line 1, byte 0", RejectReason.NO_RECORD, "the JSON array is empty", "[]")


def _element(value: Any, ordinal: int, position: str, text: str) -> Document | Unreadable:
    if isinstance(value, dict):
        return Document(ordinal, position, text)
    detail = f"a JSON {type(value).__name__}, not an object: no agent writes that as a record"
    return Unreadable(ordinal, position, RejectReason.NO_RECORD, detail, excerpt(text))


def _skip(text: str, at: int, characters: str) -> int:
    while at < len(text) and text[at] in characters:
        at += 1
    return at


def _lines(text: str) -> Contents:
    """The objects that stand on lines of their own; the lines between are no documents."""
    parts: list[Document | Unreadable] = []
    other, offset = 0, 0
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if stripped.startswith("{"):
            parts.extend(_objects(stripped, len(parts), f"line {number}, character {offset}"))
        elif stripped:
            other += 1
        offset += len(line) + 1
    if not parts:
        return _no_json(text)
    return Contents("mixed" if other else "jsonl", parts)


def _objects(line: str, ordinal: int, position: str) -> Iterator[Document | Unreadable]:
    """The objects of one line that begins with `{`; several may follow each other without a break."""
    at = 0
    while at < len(line):
        try:
            _, end = _DECODER.raw_decode(line, at)
        except (ValueError, RecursionError) as error:
            yield _broken(line[at:], ordinal, position, error)
            return
        yield Document(ordinal, position, line[at:end])
        at, ordinal = _skip(line, end, " \t"), ordinal + 1
        if at < len(line) and line[at] != "{":
            return


def _broken(text: str, ordinal: int, position: str, error: Exception) -> Unreadable:
    cut = isinstance(error, json.JSONDecodeError) and (error.pos >= len(text) - 1 or "Unterminated" in error.msg)
    reason = RejectReason.TRUNCATED if cut else RejectReason.NOT_JSON
    detail = "the JSON ends in the middle" if cut else f"the JSON is broken: {error}"
    return Unreadable(ordinal, position, reason, detail, excerpt(text))


def _no_json(text: str) -> Contents:
    beginning = text.lstrip()
    if beginning[:1] in ("{", "["):
        try:
            _DECODER.raw_decode(beginning)
        except (ValueError, RecursionError) as error:
            return Contents("none", [_broken(beginning, 0, "line 1, byte 0", error)])
    return _refused(RejectReason.NOT_JSON, "the text holds no JSON object on a line of its own", excerpt(beginning))
