"""Reports and tables as text and as columns: CSV, JSON, JSON Lines, Markdown and Parquet.

Programs get every value exactly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import chain, islice
from json.encoder import encode_basestring
from math import isfinite
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import simplejson

from app.text.answers import Answer
from app.text.table import TextTable
from app.text.text_tables import shown_table, totals_table
from schemas.text import first_shown, in_json, one_line, visible

if TYPE_CHECKING:
    from app.reports.cost_report import CostReport


_SIGNS = tuple("=+-@＝＋－＠")  # those of full width too, which a spreadsheet takes for the others
_BLANKS = ("\t", "\r", "\n")


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet may run a text as a formula.

    Its first character, after invisible ones and blanks, starts a formula.

    Leading apostrophes are skipped, so that readers can remove the added one: `'` and then such a
    text.
    """
    if text[:1].isalnum():  # nearly always, in a fifth of the time
        return False
    bare = text.lstrip("'")
    return bare.startswith(_BLANKS) or first_shown(bare).startswith(_SIGNS)


BATCH_ROWS = 1_000
"""Rows that are Python objects at once: some kilobytes each."""


def rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield rows as dicts, a batch at a time; a map (pairs, in Arrow) becomes a dict."""
    maps = [field.name for field in table.schema if pa.types.is_map(field.type)]
    for batch in table.to_batches(max_chunksize=BATCH_ROWS):
        for row in batch.to_pylist():
            yield row | {name: dict(row[name]) for name in maps if row[name] is not None}


def _cells(
    table: pa.Table, writers: Mapping[type, Callable[[Any], str]], unknown: str
) -> Iterator[tuple[str, ...]]:
    """Yield the texts of each row.

    Each column of a batch is written by the function for its values: five times as fast as rows.
    """
    for batch in table.to_batches(max_chunksize=BATCH_ROWS):
        texts = []
        for column in batch.columns:
            values, kind = _values(column)
            write = writers.get(kind, writers[object])
            texts.append([unknown if value is None else write(value) for value in values])
        yield from zip(*texts, strict=True)


def _values(column: pa.Array) -> tuple[list[Any], type]:
    """Return the values of a column and their type; Arrow itself writes times and decimals."""
    if pa.types.is_timestamp(column.type):  # in UTC, as every time of the store
        return column.cast(pa.timestamp("us")).cast(pa.string()).to_pylist(), datetime
    if pa.types.is_decimal(column.type):
        return column.cast(pa.string()).to_pylist(), Decimal
    values = column.to_pylist()
    if pa.types.is_map(column.type):
        values = [None if value is None else dict(value) for value in values]
    return values, next((type(value) for value in values if value is not None), type(None))


def _written_bool(value: bool) -> str:
    return "true" if value else "false"


def _written_decimal(text: str) -> str:
    return text if "E" not in text else decimal_text(Decimal(text))


def _written_time(text: str) -> str:
    """Return what `time_text` does of a time in UTC: `2026-11-01 10:00:00.000000`."""
    return f"{text[:10]}T{text[11:].removesuffix('.000000')}Z"


def _encoded(texts: Iterable[str]) -> Iterator[bytes]:
    """Yield the texts of many rows together."""
    left = iter(texts)
    while part := "".join(islice(left, BATCH_ROWS)):
        yield part.encode()


def decimal_text(value: Decimal) -> str:
    """Return all digits without an exponent: `0.000000015`, where str() gives `1.5E-8`."""
    return f"{value:f}"


def time_text(value: datetime) -> str:
    """Return ISO 8601 in UTC. A naive time is UTC, as everywhere in the store."""
    time = value if value.tzinfo else value.replace(tzinfo=UTC)
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")


def json_text(value: Any) -> str:
    """Return one value on one line.

    Decimals are numbers with all their digits; NaN and infinities, which JSON lacks, are null.

    Control characters of terminals are escaped.
    """
    return in_json(simplejson.dumps(_plain(value), ensure_ascii=False, ignore_nan=True))


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return simplejson.RawJSON(decimal_text(value))
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


_CSV_QUOTED = frozenset(',"\r\n')


def csv_table(answer: Answer) -> Iterator[bytes]:
    """Yield CSV as RFC 4180 quotes it, with a header.

    NULL and NaN are an empty cell, empty text is `""`; lists and maps are JSON.

    Lines end in LF instead of the RFC's CRLF: a carriage return would end up in the last column of
    every shell pipeline.
    """
    head = [_csv_text(name) for name in answer.table.column_names]
    lines = chain([head], _cells(answer.table, _CSV_WRITERS, ""))
    blank = '""'  # for a line of one empty cell: readers skip a line without anything
    yield from _encoded(f"{','.join(line) or blank}\n" for line in lines)


def _csv_json(value: Any) -> str:
    return _csv_quoted(json_text(value))


def _csv_text(text: str) -> str:
    """Return text with an apostrophe if a spreadsheet would run it as a formula, else unchanged.

    Numbers never get one.
    """
    return _csv_quoted(f"'{text}" if is_formula(text) else text)


def _csv_quoted(text: str) -> str:
    if text and _CSV_QUOTED.isdisjoint(text):
        return text
    return '"' + text.replace('"', '""') + '"'


_CSV_WRITERS: dict[type, Callable[[Any], str]] = {
    str: _csv_text,
    int: str,
    float: lambda number: repr(number) if isfinite(number) else "",
    bool: _written_bool,
    Decimal: _written_decimal,
    datetime: _written_time,
    object: _csv_json,
}
"""Type → function that writes its values; all other types (lists, maps) are JSON."""


def _json_string(text: str) -> str:
    quoted = encode_basestring(text)
    return quoted if quoted.isprintable() else json_text(text)


_JSON_WRITERS: dict[type, Callable[[Any], str]] = {
    str: _json_string,
    int: str,
    float: lambda number: repr(number) if isfinite(number) else "null",
    bool: _written_bool,
    Decimal: _written_decimal,
    datetime: lambda text: f'"{_written_time(text)}"',
    object: json_text,
}


def _json_objects(table: pa.Table) -> Iterator[str]:
    """Yield a line of `json_text` for each row."""
    keys = (json_text(name).replace("%", "%%") for name in table.column_names)
    form = f"{{{', '.join(f'{key}: %s' for key in keys)}}}"
    return (form % cells for cells in _cells(table, _JSON_WRITERS, "null"))


def json_table(answer: Answer) -> Iterator[bytes]:
    """Yield an array of objects, one per line so that `diff` can compare two exports."""
    yield from _encoded(chain(_json_rows(answer.table), ["\n"]))


def json_rows(table: pa.Table) -> str:
    """Return the rows as such an array."""
    return "".join(_json_rows(table))


def _json_rows(table: pa.Table) -> Iterator[str]:
    if not table.num_rows:
        yield "[]"
        return
    for place, row in enumerate(_json_objects(table)):
        yield f"{',' if place else '['}\n{row}"
    yield "\n]"


def jsonl_table(answer: Answer) -> Iterator[bytes]:
    """Yield one object per line; no rows give no bytes."""
    yield from _encoded(f"{row}\n" for row in _json_objects(answer.table))


def json_report(report: CostReport) -> Iterator[bytes]:
    """Yield one object with `report`, `summary`, `totals` and other sections, a row a line.

    `report` is the coverage, `summary` the first page, `totals` an object; other sections are
    arrays.
    """
    yield from _encoded(_report_lines(report))


def _report_lines(report: CostReport) -> Iterator[str]:
    yield f'{{\n"report": {json_text(report.header.as_dict())}'
    yield f',\n"summary": {json_text(report.first.as_dict())}'
    [totals] = _json_objects(report.section("totals").table)
    yield f',\n"totals": {totals}'
    for section in report.sections:
        if section.key != "totals":
            yield f',\n"{section.key}": '
            yield from _json_rows(section.table)
    yield "\n}\n"


_MARKUP = re.compile(r"[\\`*\[\]|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
"""Characters that Markdown acts on. An underscore within a word is plain text, so `limit_reached`
stays readable.
"""


def md_table(answer: Answer) -> bytes:
    """Return a Markdown table for people."""
    return markdown(shown_table(answer)).encode()


def markdown(table: TextTable) -> str:
    """Return a table in Markdown; a figure that rests on only some runs states their number."""
    sides = ["---:" if column.is_figure else "---" for column in table.columns]
    lines = ([escaped(cell.in_brackets) for cell in cells] for cells in table.cells)
    heads = [escaped(one_line(column.label)) for column in table.columns]
    return "".join(map(_line, [heads, sides, *lines]))


def md_report(report: CostReport) -> bytes:
    """Return the first page, a table per section below Details, and the coverage.

    Fit for the summary of a CI job.
    """
    page = report.first
    parts = [f"# {escaped(page.title)}\n\n{_list(page.lines)}\n**{escaped(page.answer)}**\n"]
    parts += ["\n", *(f"{escaped(text)}\n\n" for text in page.more if page.agents)]
    parts.append("\n".join(map(markdown, page.tables(page.figures))))
    parts += ["\n", *(f"- {escaped(note)}\n" for note in page.notes), "\n## Details\n"]
    for section in report.shown:
        note = f"{escaped(section.note)}\n\n" if section.note else ""
        parts.append(f"\n### {escaped(section.title)}\n\n{note}")
        is_totals = section.key == "totals"
        parts.append(markdown((totals_table if is_totals else shown_table)(section.answer)))
    return "".join([*parts, "\n### About this report\n\n", _list(report.header.lines())]).encode()


def _list(lines: Iterable[tuple[str, str]]) -> str:
    return "".join(f"- **{word}:** {escaped(text)}\n" for word, text in lines)


def escaped(text: str) -> str:
    """Return the text as one literal cell: no markup, no HTML, no end of the cell or line."""
    html = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "<br>".join(_MARKUP.sub(r"\\\g<0>", html).splitlines())


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


ABOUT = b"tachograph"


def parquet_table(answer: Answer) -> bytes:
    """Return the table, compressed with zstd. Without rows it keeps its columns."""
    import pyarrow.parquet as pq

    about = {ABOUT: answer.heading.encode()} if answer.heading else {}
    sink = pa.BufferOutputStream()
    pq.write_table(answer.table.replace_schema_metadata(about), sink, compression="zstd")
    return bytes(sink.getvalue())
