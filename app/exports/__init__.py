"""Formats a table can be written in, once. The command line's choices, the dashboard's menus and the tests read EXPORTS.

A new format is one function from an Arrow table to bytes and one line below. A module is imported when its format is first
written: the registry itself costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Export:
    """One format. `write` is pure.

    `is_for_people` asks for what a terminal would show (chosen columns, a total row); programs get every column, exactly.
    """

    name: str
    suffix: str
    mime: str
    write: Callable[[pa.Table], bytes]
    is_for_people: bool = False


def _csv(table: pa.Table) -> bytes:
    from app.exports.delimited import write_csv

    return write_csv(table)


def _json(table: pa.Table) -> bytes:
    from app.exports.json_text import write_json

    return write_json(table)


def _jsonl(table: pa.Table) -> bytes:
    from app.exports.json_text import write_jsonl

    return write_jsonl(table)


def _markdown(table: pa.Table) -> bytes:
    from app.exports.markdown import write_markdown

    return write_markdown(table)


EXPORTS = {
    export.name: export
    for export in (
        Export("csv", ".csv", "text/csv; charset=utf-8", _csv),
        Export("json", ".json", "application/json", _json),
        Export("jsonl", ".jsonl", "application/jsonl", _jsonl),
        Export("md", ".md", "text/markdown; charset=utf-8", _markdown, is_for_people=True),
    )
}
