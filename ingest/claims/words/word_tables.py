"""Reads the word tables: one TOML file for each kind of word, with a section for each group of words."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """A word of a table, with the example that proves it.

    `match` is a piece of a regular expression, in which `{HEDGES}` means all hedges. `example` is a text with the word. `claim` is the
    first claim of that text: the fields that the head of the file names, or `none`.
    """

    match: str
    example: str
    claim: str


KINDS = sorted(file.name.removesuffix(".toml") for file in files(__package__).iterdir() if file.name.endswith(".toml"))
"""The kinds of words: the names of the TOML files."""


@cache
def table(kind: str) -> dict[str, list[Any]]:
    """The sections of the table of that kind, each a list of rows as written."""
    return {name: rows for name, rows in _document(kind).items() if isinstance(rows, list)}


@cache
def _document(kind: str) -> dict[str, Any]:
    """The TOML file of that kind, parsed once."""
    return tomllib.loads(files(__package__).joinpath(f"{kind}.toml").read_text(encoding="utf-8"))


def trigger_tables() -> dict[str, dict[str, Any]]:
    """The tables of triggers in all files, by name: each has `triggers`, a list of strings, an `example` and its `claim`."""
    return {name: section for kind in KINDS for name, section in _document(kind).get("triggers", {}).items()}


def heading_ends() -> list[str]:
    """How the text up to a trigger ends where the trigger can be in the heading of a section with baseline figures."""
    return list(_document("labels")["headings"]["ends"])


def entries(kind: str, section: str) -> list[Entry]:
    """The entries of a section, in the order in which they are tried."""
    return [Entry(*row) for row in table(kind)[section]]


def words(kind: str, section: str) -> list[str]:
    """What the entries of a section match, in order."""
    return [row[0] for row in table(kind)[section]]


def alternation(kind: str, section: str) -> str:
    """The words of a section as one piece of a regular expression; the first that matches wins."""
    return "|".join(words(kind, section))
