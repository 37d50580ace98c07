"""A search for a text in all that names a run: which runs have it, found out once for all queries of a read transaction.

What it finds is what the filter `search` says (`app.queries.filters.registry`), which reads every text of every run. Here the long texts
are looked up by their words; only those that the index lacks, or where a needle of several words may be, are read.
"""

from __future__ import annotations

import re

import duckdb

from app.queries.filters.registry import SEARCHED
from ingest.store.statements import run
from schemas.rows.word import WHITE_SPACE

_LONG = ("prompt", "result")


def _contain(columns: tuple[str, ...]) -> str:
    return f"({' or '.join(f'contains(lower({column}), lower($text))' for column in columns)})"


_IN_TEXTS = _contain(_LONG)
_BY_READING = f"select place from v_runs where {_contain(SEARCHED)}"
_IN_NAMES = f"select place from v_runs where {_contain(tuple(column for column in SEARCHED if column not in _LONG))}"
_IN_FILES = "select rowid from runs where run_id in (select run_id from file_changes where contains(lower(path), lower($text)))"
_NOT_INDEXED = f"select rowid from runs where text_no is null and {_IN_TEXTS}"
_HAVE_WORD = """text_no in (
    select unnest(text_nos) from common_words where contains(word, {word})
    union all select text_no from rare_words where contains(words, {word})
)"""
_IN_CANDIDATES = f"select place from candidates join runs on runs.rowid = place where case when is_indexed then {_IN_TEXTS} end"
"""The condition is on both tables, so that no text is looked at before the join."""

_NOTED = "create or replace temp table found as from found union all select $text, place from ({}) as places(place)"
"""The table is made again each time. DuckDB 2.0 does not read rows that follow an empty insert in the same transaction."""

_FEWEST = 2
"""Characters of a needle that is looked up: nearly all words have any one character, and nearly all names of runs, which tell it sooner."""


def note_found(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    """Add the row numbers of the runs that have the text to the table `found`; a run may be there several times."""
    connection.execute("create temp table if not exists found (text varchar, place bigint)")
    looked_up, words = _look_up(connection, text) if len(text) >= _FEWEST else ("", {})
    places = (_IN_NAMES, _IN_FILES, _NOT_INDEXED, looked_up) if looked_up else (_BY_READING, _IN_FILES)
    connection.execute(_NOTED.format(" union all ".join(places)), {"text": text} | words)


def _look_up(connection: duckdb.DuckDBPyConnection, text: str) -> tuple[str, dict[str, str]]:
    """A query for the runs in whose indexed texts it is, and what is bound in it.

    Where the text is several words, the texts that have each of them are read.
    """
    [(needle,)] = run(connection, "select lower($text)", {"text": text}).fetchall()
    words = {f"word{number}": word for number, word in enumerate(filter(None, re.split(WHITE_SPACE, needle)))}
    have_words = " and ".join(["text_no is not null", *(_HAVE_WORD.format(word=f"${name}") for name in words)])
    if list(words.values()) == [needle]:
        return f"select rowid from runs where {have_words}", words
    candidates = f"select rowid as place, true as is_indexed from runs where {have_words}"
    connection.execute(f"create or replace temp table candidates as {candidates}", words)
    return _IN_CANDIDATES, {}
