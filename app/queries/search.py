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


_IN_NAMES = f"select $text, place from v_runs where {_contain(tuple(column for column in SEARCHED if column not in _LONG))}"
_IN_FILES = """
select $text, rowid from runs where run_id in (select run_id from file_changes where contains(lower(path), lower($text)))
"""
_NOT_INDEXED = f"select $text, rowid from runs where text_no is null and {_contain(_LONG)}"
_HAVE_WORD = """text_no in (
    select unnest(text_nos) from common_words where contains(word, {word})
    union all select text_no from rare_words where contains(words, {word})
)"""


def note_found(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    """Add the row numbers of the runs that have the text to the table `found`; a run may be there several times."""
    for query in (_IN_NAMES, _IN_FILES, _NOT_INDEXED):
        connection.execute(f"insert into found {query}", {"text": text})
    query, words = _indexed(connection, text)
    connection.execute(f"insert into found {query}", {"text": text} | words)


def _indexed(connection: duckdb.DuckDBPyConnection, text: str) -> tuple[str, dict[str, str]]:
    """The query for texts in the index and what is bound in it: they have each word; a needle with white space is looked for in them."""
    [(needle,)] = run(connection, "select lower($text)", {"text": text}).fetchall()
    words = {f"word{number}": word for number, word in enumerate(filter(None, re.split(WHITE_SPACE, needle)))}
    conditions = [_HAVE_WORD.format(word=f"${name}") for name in words]
    if [*words.values()] != [needle]:
        conditions.append(f"text_no is not null and {_contain(_LONG)}")
    return f"select $text, rowid from runs where {' and '.join(conditions)}", words
