"""The kind of a file in which nothing looks like a run: by its content; the suffix of its name only tells kinds of text apart."""

from __future__ import annotations

import json
import re

from ingest.sources.decoding import PARQUET, decoded, is_binary
from schemas.file_kinds import FileKind

_PICTURES = re.compile(
    rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|RIFF....WEBP|BM....\x00\x00\x00\x00|\x00\x00\x01\x00|II\*\x00|MM\x00\*|....ftyp(?:avif|heic)",
    re.DOTALL,
)
_DRAWN = re.compile(r"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,1000}?-->\s*)?(?:<!DOCTYPE svg[^>]{0,300}>\s*)?<svg[\s>]", re.DOTALL)
_PATCH = re.compile(r"^(?:diff --git |Index: \S|--- \S.*\n\+\+\+ \S|From [0-9a-f]{40} )", re.MULTILINE)
_PATCH_WITHIN = 2000
"""Characters within which a patch begins; a mail may precede it."""

_SOURCE_SUFFIXES = frozenset(
    "bash bat bazel c cc cfg cjs clj cmake cpp cs css cu cuh cxx dart el erl ex f90 go gradle graphql h hpp hs htm html ini ipynb "  # noqa: SIM905 - a list reads worse
    "java jl js jsx kt less lua m make mjs mk ml mm nim nix php pl proto ps1 pxd py pyi pyx r rb rs s sass scala scss sh sol sql "
    "svelte swift tcl tex tf toml ts tsx v vue xml yaml yml zig zsh".split()
)
_SOURCE_NAMES = frozenset(("dockerfile", "makefile", "justfile", "procfile", "cmakelists.txt", ".gitignore", ".dockerignore"))
_TABLE_SUFFIXES = frozenset(("csv", "tsv", "psv"))
_JSON_SUFFIXES = frozenset(("json", "jsonl", "ndjson", "json5", "jsonc"))
_LEAST_ROWS, _SNIFFED_ROWS = 3, 10


def kind_of(head: bytes, name: str, *, is_json: bool = False) -> FileKind:
    """The kind of a file that begins with these bytes. `is_json`: nothing but JSON was found in it."""
    if _PICTURES.match(head):
        return FileKind.PICTURE
    if head.startswith(PARQUET):
        return FileKind.PARQUET
    if is_binary(head) or (head and not head.strip(b"\0")):
        return FileKind.BINARY
    text = decoded(head).replace("\0", "")
    if not text.strip():
        return FileKind.EMPTY
    return FileKind.JSON if is_json else _kind_of_text(text, name)


def _kind_of_text(text: str, name: str) -> FileKind:
    name = re.split(r"[/\\!]", name)[-1].lower()
    suffix = name.rpartition(".")[2]
    if _DRAWN.match(text):
        return FileKind.PICTURE
    if _PATCH.search(text, 0, _PATCH_WITHIN):
        return FileKind.PATCH
    if text.startswith("#!") or suffix in _SOURCE_SUFFIXES or name in _SOURCE_NAMES:
        return FileKind.SOURCE
    if suffix in _JSON_SUFFIXES or _is_json(text):
        return FileKind.JSON
    return FileKind.CSV if suffix in _TABLE_SUFFIXES or _is_table(text) else FileKind.TEXT


def _is_json(text: str) -> bool:
    """Whether it is JSON, or the beginning of it."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        is_cut = error.msg.startswith("Unterminated") or error.pos >= len(text.rstrip()) - 1
        return is_cut and error.pos > 0 and text.lstrip()[:1] in ("{", "[")
    except (ValueError, RecursionError):
        pass
    return True


def _is_table(text: str) -> bool:
    """Whether its first lines (without the last, which may be cut) have the same number of commas, semicolons or tabs."""
    lines = text.split("\n")[:_SNIFFED_ROWS][:-1]
    counts = ({line.count(separator) for line in lines} for separator in ",;\t")
    return len(lines) >= _LEAST_ROWS and not text.lstrip().startswith("{") and any(len(count) == 1 and 0 not in count for count in counts)
