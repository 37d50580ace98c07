"""The outcome of `tachograph check` as a table for a terminal, as Markdown for the summary of a CI job, and as JSON."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from app.reports.budgets import Check, cells
from app.reports.exports.text import escaped, json_text, md_table
from app.text.answers import Answer
from app.text.text_tables import draw
from schemas.catalogue.columns import CHECKS

WIDTH = 120
"""A log of CI has no width of its own."""


def write_check(check: Check, format_: str, encoding: str = "utf-8") -> bytes:
    """The check as bytes of a format."""
    return _WRITERS[format_](check, encoding)


def _table(check: Check) -> pa.Table:
    lines = [cells(verdict) for verdict in check.verdicts]
    return pa.table({name: pa.array([line[name] for line in lines], pa.string()) for name in lines[0]})


def _markdown(check: Check, _encoding: str) -> bytes:
    sign = "✅" if check.passed else "❌"
    covers = " ".join(filter(None, (check.covers, check.left_out)))
    return f"### {sign} {check.headline}\n\n{escaped(covers)}\n\n".encode() + md_table(_table(check), of=CHECKS)


_WRITERS: dict[str, Callable[[Check, str], bytes]] = {
    "table": lambda check, encoding: draw(Answer(_table(check), "", of=CHECKS), WIDTH, encoding).body,
    "md": _markdown,
    "json": lambda check, _encoding: f"{json_text(check.as_dict())}\n".encode(),
}
