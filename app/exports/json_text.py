"""JSON: an array of objects, one to a line, and JSON Lines. Every column, NULL as null."""

from __future__ import annotations

import pyarrow as pa

from app.exports.values import json_text, rows


def write_json(table: pa.Table) -> bytes:
    """An array of objects, one to a line so that two exports can be compared by `diff`."""
    objects = ",\n".join(map(json_text, rows(table)))
    return (f"[\n{objects}\n]\n" if objects else "[]\n").encode()


def write_jsonl(table: pa.Table) -> bytes:
    """One object per line; no rows give no bytes."""
    return "".join(f"{json_text(row)}\n" for row in rows(table)).encode()
