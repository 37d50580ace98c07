"""Reads the word tables: one TOML file per kind of word, its sections lists of entries."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """A word of a table, with its proof.

    `match` is a piece of a regular expression, in which `{HEDGES}` means all hedges. `example` is a text with the word, and `claim` the
    first claim of that text: the fields that the head of the file names, or `none`.
    """

    match: str
    example: str
    claim: str


@cache
def table(kind: str) -> dict[str, Any]:
    """The sections of the table of that kind, as written."""
    return tomllib.loads(files(__package__).joinpath(f"{kind}.toml").read_text(encoding="utf-8"))


def entries(kind: str, section: str) -> list[Entry]:
    """The entries of a section, in the order in which they are tried."""
    return [Entry(*row) for row in table(kind)[section]]


def words(kind: str, section: str) -> list[str]:
    """What the entries of a section match, in order."""
    return [row[0] for row in table(kind)[section]]


def alternation(kind: str, section: str) -> str:
    """The words of a section as one piece of a regular expression; the first that matches wins."""
    return "|".join(words(kind, section))
