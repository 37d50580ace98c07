"""What the tests of reports share.

A store full of awkward text and amounts, and readers that take the totals out of each format.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import simplejson

from ingest.pipeline import ingest
from ingest.sources.files import Source
from ingest.store.annotations import Change, annotate
from ingest.store.database import Store
from schemas.catalogue.metrics import RUN_METRICS
from schemas.units import Unit
from tests.conftest import record_text

FORMULAS = ("=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1")
HOSTILE = (
    *FORMULAS,
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
    "<r>x</r>",
    'naïve → 1.21×, a|b `x` *y*; "q"',
)
EXACT = frozenset({Unit.USD, Unit.COUNT, Unit.TOKENS, Unit.MILLISECONDS})
"""Units whose figures every format shows to the last digit."""

SUMMED = ("runs", "cost_usd", "duration_ms", "turns", "completed")
"""Columns of groups that add up to their total."""

Totals = dict[str, Decimal]


def fill(store: Store) -> Store:
    """A run per hostile text with tiny amounts, one without cost, and one that failed.

    Amounts go down to a billionth of a dollar.
    """
    logs = []
    for number, text in enumerate(HOSTILE):
        cost = f"{number * 12345.678901234 + 0.000000001:.9f}"
        usage = {
            "inputTokens": 1,
            "outputTokens": 2,
            "cacheReadInputTokens": 3,
            "cacheCreationInputTokens": 4,
            "costUSD": "COST",
        }
        models = {text: usage, "claude-opus-4-6": usage | {"costUSD": 0}}
        turns, wall = number + 1, 10_000_019 * number + 1
        body = record_text(
            uuid=f"u{number}",
            session_id=text,
            total_cost_usd="COST",
            num_turns=turns,
            duration_ms=wall,
            modelUsage=models,
        ).replace('"COST"', cost)
        logs.append(Source(f"log {number}", body.encode()))
    silent = record_text(
        uuid="silent", total_cost_usd=..., modelUsage={}, num_turns=..., duration_ms=...
    )
    failed = record_text(
        uuid="failed",
        is_error=True,
        result="API Error: 500",
        total_cost_usd=0.000000007,
        modelUsage=...,
    )
    ingest([*logs, Source("others", f"{silent}\n{failed}".encode())], store)
    for number, text in enumerate(HOSTILE):
        annotate(store, [f"u{number}"], Change({"task": text, "team": text}))
    return store


def _number(text: str) -> Decimal:
    """`$1,234.5` and `58.8s (58,844 ms)` as numbers."""
    text = (text.partition("(")[2] or text).lstrip("≤≥≈\u00a0")  # `4m 14s (253,963 ms)`, `≤ $1.50`
    return Decimal(
        text.split(" ", maxsplit=1)[0].replace("$", "").replace(",", "").replace("−", "-")
    )


def _by_label(pairs: list[tuple[str, str]]) -> Totals:
    keys = {metric.label: metric for metric in RUN_METRICS.values()}
    return {
        keys[label].key: _number(text)
        for label, text in pairs
        if keys[label].unit in EXACT and text != "–"
    }


def _of_row(row: dict[str, object]) -> Totals:
    exact = [key for key, metric in RUN_METRICS.items() if metric.unit in EXACT]
    return {key: Decimal(str(row[key])) for key in exact if row.get(key) not in (None, "")}


def from_csv(body: bytes) -> Totals:
    [row] = csv.DictReader(io.StringIO(body.decode(), newline=""))
    return _of_row(dict(row))


def from_json(body: bytes) -> Totals:
    return _of_row(simplejson.loads(body, use_decimal=True)["totals"])


def from_jsonl(body: bytes) -> Totals:
    return _of_row(simplejson.loads(body, use_decimal=True))


def from_parquet(body: bytes) -> Totals:
    [row] = pq.read_table(pa.BufferReader(body)).to_pylist()
    return _of_row(row)


def from_md(body: bytes) -> Totals:
    """As people read them, so that only whole numbers are exact."""
    table = body.decode().split("\n### Totals\n\n")[1].split("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    return _by_label([(row[0], row[1]) for row in rows if re.fullmatch(r"[\d,]+", row[1])])


def from_latex(body: bytes) -> Totals:
    """A line for each figure, `Completed & 313 (1,301 of 1,487)`; whole numbers are exact."""
    found = re.findall(r"^([^&\n]+) & ([\d,]+)(?: \(.*\))? \\\\$", body.decode(), re.MULTILINE)
    return _by_label(found)


def from_html(body: bytes) -> Totals:
    """The exact figure is the title of the one for people."""
    found = re.findall(r'<span>(.*?)</span><strong title="(.*?)">', body.decode())
    return _by_label([(html.unescape(label), html.unescape(exact)) for label, exact in found])


def from_xlsx(body: bytes) -> Totals:
    sheet = openpyxl.load_workbook(io.BytesIO(body))["Totals"]
    labels = {metric.label: metric for metric in RUN_METRICS.values()}
    totals = {}
    for label, value in sheet.iter_rows(min_col=1, max_col=2, values_only=True):
        metric = labels.get(str(label).removesuffix(" (h:mm:ss)"))
        if metric and metric.unit in EXACT and value is not None and not isinstance(value, str):
            totals[metric.key] = Decimal(
                repr(value / timedelta(milliseconds=1) if isinstance(value, timedelta) else value)
            )
    return totals


def from_table(body: bytes) -> Totals:
    upright = body.decode().split("\nTotals\n")[1].split("\n\n")[0]
    return _by_label(
        [
            (row[1], row[2])
            for line in upright.splitlines()
            if (row := re.match(r"(.*?)\s{2,}(\S.*?)(?:\s{2,}.*)?$", line))
        ]
    )


READERS: dict[str, Callable[[bytes], Totals]] = {
    "table": from_table,
    "csv": from_csv,
    "json": from_json,
    "jsonl": from_jsonl,
    "md": from_md,
    "html": from_html,
    "xlsx": from_xlsx,
    "parquet": from_parquet,
    "latex": from_latex,
}
