"""JSON: an array of objects, one to a line, and JSON Lines. Every column, NULL as null."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from app.reports.exports.values import json_text, rows
from schemas.catalogue.entry import UNNAMED, Columns

if TYPE_CHECKING:
    from app.reports.cost_report import Report


def write_json(table: pa.Table, _heading: str = "", _of: Columns = UNNAMED) -> bytes:
    """An array of objects, one to a line so that two exports can be compared by `diff`."""
    objects = ",\n".join(map(json_text, rows(table)))
    return (f"[\n{objects}\n]\n" if objects else "[]\n").encode()


def write_jsonl(table: pa.Table, _heading: str = "", _of: Columns = UNNAMED) -> bytes:
    """One object per line; no rows give no bytes."""
    return "".join(f"{json_text(row)}\n" for row in rows(table)).encode()


def write_report(report: Report) -> bytes:
    """One object: `report` says what it covers, `summary` is the first page, `totals` an object, other sections arrays, a row a line."""
    [totals] = rows(report.section("totals").table)
    sections = [(section.key, write_json(section.table).decode().rstrip()) for section in report.sections if section.key != "totals"]
    about = [("report", json_text(report.header.as_dict())), ("summary", json_text(report.first.as_dict()))]
    parts = [*about, ("totals", json_text(totals)), *sections]
    return ("{\n" + ",\n".join(f'"{key}": {text}' for key, text in parts) + "\n}\n").encode()


def write_report_lines(report: Report) -> bytes:
    """The report's groups, or its totals, one object per line."""
    return write_jsonl(report.main.table)
