"""An SQLite database whose real table takes minutes to read.

Each of its rows is the same one, behind a column of megabytes.
"""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path

_PAGE = 512
_CHILDREN = 60
_SCHEMA, _ROOT, _LEAF, _OVERFLOW, _UPPER, _LOWER = range(1, 7)
"""Pages, by number."""


def make_endless(path: Path, megabytes: int = 4) -> None:
    """Write the database: 216,000 rows, each a walk over so many megabytes.

    Most of the file is a hole.
    """
    size = megabytes << 20
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"pragma page_size = {_PAGE}")
        database.execute("create table programs (id, code, generation, combined_score, correct)")
        database.execute(
            "insert into programs values ('a', zeroblob(?), 7, 1.5, 3)", [size - (1 << 16)]
        )
        database.commit()
    schema, leaf = (
        bytearray(page)
        for page in (path.read_bytes()[:_PAGE], path.read_bytes()[_PAGE : 2 * _PAGE])
    )
    schema[28:32] = struct.pack(">I", size // _PAGE)
    # the row ends with the number of the page that it goes on in, and that page with its own
    [begins] = struct.unpack(">H", leaf[8:10])
    assert leaf.count(struct.pack(">I", 3), begins) == 1
    ends = leaf.index(struct.pack(">I", 3), begins)
    leaf[ends : ends + 4] = struct.pack(">I", _OVERFLOW)
    pages: dict[int, bytes] = {
        _SCHEMA: bytes(schema),
        _ROOT: _interior(_UPPER),
        _LEAF: bytes(leaf),
        _OVERFLOW: struct.pack(">I", _OVERFLOW),
        _UPPER: _interior(_LOWER),
        _LOWER: _interior(_LEAF),
    }
    with path.open("wb") as file:
        for number, page in pages.items():
            file.seek((number - 1) * _PAGE)
            file.write(page)
        file.truncate(size)


def _interior(child: int) -> bytes:
    """Return a page of a table's tree, all of whose children are one page."""
    page = bytearray(_PAGE)
    first = _PAGE - 5 * _CHILDREN
    struct.pack_into(">BHHHBI", page, 0, 5, 0, _CHILDREN, first, 0, child)
    for number in range(_CHILDREN):
        struct.pack_into(">IB", page, first + 5 * number, child, 1)
        struct.pack_into(">H", page, 12 + 2 * number, first + 5 * number)
    return bytes(page)
