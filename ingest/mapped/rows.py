"""The rows of a file: JSON, JSON lines, a table, YAML, Parquet, SQLite, or matches in a text."""

from __future__ import annotations

import csv
import json
import re
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from ingest.measurements.base import MOST_JSON_VALUES, begins_json, columns_of, lines_of
from ingest.measurements.measured import MOST_VALUES, TooManyValues
from ingest.sources.decoding import DATABASE_START
from ingest.sources.document import excerpt
from ingest.sources.files import Unreadable
from ingest.system.databases import DatabaseTable, read_tables
from ingest.system.files import temporary_folder
from schemas.errors import RejectReason
from schemas.wire.result_map import RowsMap, steps

_YAML = (".yaml", ".yml")


@dataclass(frozen=True)
class RowsFile:
    """A file that a map reads. `data`: its bytes, decompressed; `name`: its path."""

    name: str
    data: bytes

    @cached_property
    def text(self) -> str:
        return self.data.decode("utf-8-sig", "replace")

    @cached_property
    def json(self) -> Sequence[tuple[Any, str] | Unreadable]:
        """Return its JSON documents. Raises ValueError, TooManyValues."""
        return [*_of_json(self)]

    @cached_property
    def yaml(self) -> Sequence[tuple[Any, str] | Unreadable]:
        """Return its YAML documents. Raises ValueError."""
        return [*_of_yaml(self)]

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """Return the names of its folders and itself, those inside an archive included."""
        return tuple(self.name.replace("!", "/").replace("\\", "/").split("/"))


class FoundRow(NamedTuple):
    """A row, and what is around it.

    `around`: objects and lists from the outside in, each with the name or place that leads on.
    """

    file: RowsFile
    value: Any
    position: str
    around: tuple[tuple[Any, str | int], ...] = ()

    @property
    def place(self) -> tuple[str | int, ...]:
        """Return where in its file it is, by however written a path it was found."""
        return self.position, *(name for _, name in self.around)

    def at(self, path: str) -> Any:
        """Return the value at a path, or None."""
        first, *rest = names = steps(path)
        if first == "$":
            return _inside(self.around[0][0] if self.around else self.value, rest)
        if first == "^":
            objects = [outer for outer, _ in reversed(self.around)]
            found = (_inside(outer, rest) for outer in objects)
            return next((value for value in found if value is not None), None)
        return _inside(self.value, names)


def _inside(value: Any, names: Sequence[str | int]) -> Any:
    for name in names:
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and isinstance(name, int) and name < len(value):
            value = value[name]
        else:
            return None
    return value


def rows_of(file: RowsFile, form: RowsMap) -> Iterator[FoundRow | Unreadable]:
    """Yield the rows of a file, and a reject for each part that cannot be parsed.

    Raises ValueError for a file that cannot be parsed at all, TooManyValues for one too large.
    """
    count = 0
    for document in documents_of(file, form):
        if isinstance(document, Unreadable):
            yield document
            continue
        value, position = document
        for row in _each(FoundRow(file, value, position), form):
            count += 1
            if count > MOST_VALUES:
                raise TooManyValues(f"it holds more than {MOST_VALUES:,} rows")
            yield row


def _each(document: FoundRow, form: RowsMap) -> Iterator[FoundRow]:
    """Yield the rows of a document: by the path, else the elements of a list, else itself."""
    path = steps(form.each) if form.each else ("*",) if isinstance(document.value, list) else ()
    return _walked(document, path[1:] if path[:1] == ("$",) else path)


def _walked(row: FoundRow, path: Sequence[str | int]) -> Iterator[FoundRow]:
    if not path:
        yield row
        return
    step, *rest = path
    value = row.value
    inner: Mapping[Any, Any] = {}
    if step != "*":
        found = _inside(value, [step])
        inner = {} if found is None else {step: found}
    elif isinstance(value, dict | list):
        inner = value if isinstance(value, dict) else dict(enumerate(value))
    for name, found in inner.items():
        place = f"{row.position}, {name}" if step == "*" else row.position
        around = (*row.around, (value, name))
        yield from _walked(FoundRow(row.file, found, place, around), rest)


Documents = Iterator[tuple[Any, str] | Unreadable]


def documents_of(file: RowsFile, form: RowsMap) -> Documents:
    """Yield (value, place) of the documents of a file, which its content tells the form of."""
    if form.line:
        found = _matches(file, form.line)
        if form.take == "last":
            return iter(deque(found, 1))
        return islice(found, 1) if form.take == "first" else found
    if file.data.startswith(b"PAR1"):
        return _of_parquet(file)
    if file.data.startswith(DATABASE_START):
        return _of_database(file, form.table)
    if file.name.lower().endswith(_YAML):
        return iter(file.yaml)
    return iter(file.json) if begins_json(file.text) else _of_table(file)


def _matches(file: RowsFile, line: str) -> Documents:
    text, number, begin, counted = file.text, 1, 0, 0
    for match in re.finditer(line, text, re.MULTILINE):
        number += text.count("\n", counted, match.start())
        begin = text.rfind("\n", counted, match.start()) + 1 or begin
        counted = match.start()
        yield match.groupdict(), f"line {number}, column {counted - begin + 1}"


def _of_json(file: RowsFile) -> Documents:
    """Yield the only value of a file, else those of its lines."""
    if sum(map(file.text.count, "[{,")) > MOST_JSON_VALUES:
        raise TooManyValues(f"it may hold more than {MOST_JSON_VALUES:,} values")
    try:
        yield _parsed(file.text), "the file"
        return
    except ValueError as error:
        whole = error
    lines = [(number, line) for number, line in enumerate(lines_of(file.text), 1) if line.strip()]
    found: list[tuple[Any, str] | Unreadable] = []
    for number, line in lines:
        try:
            found.append((_parsed(line), f"line {number}"))
        except ValueError as error:
            detail = f"the line is no JSON ({error})"
            reason = RejectReason.NOT_JSON
            found.append(Unreadable(0, f"line {number}", reason, detail, excerpt(line)))
    if not any(isinstance(one, tuple) and isinstance(one[0], dict | list) for one in found):
        raise ValueError(f"it is no valid JSON, and may be cut off ({whole})")
    yield from found


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def _of_table(file: RowsFile) -> Documents:
    """Yield the rows below a header, by the names in it in snake_case."""
    names = columns_of(file.text if "\n" in file.text else f"{file.text}\n")
    if len(names) < 2:
        raise ValueError("it is neither JSON nor a table with a header")
    lines = lines_of(file.text)
    header = next(line for line in lines if line.strip())
    separator = max(",;\t", key=header.count)
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=separator, skipinitialspace=True)
    above = file.text.lstrip("\r\n")
    first = file.text.count("\n", 0, len(file.text) - len(above)) + 1
    for cells in reader:
        position = f"line {first + reader.line_num}"
        if any(cells[len(names) :]):
            detail = f"it has {len(cells)} cells, and the header {len(names)}"
            reason = RejectReason.INVALID_RECORD
            yield Unreadable(0, position, reason, detail, excerpt(separator.join(cells)))
        elif any(cells):
            pairs = zip(names, cells, strict=False)
            yield {name: cell.strip() for name, cell in pairs if cell.strip()}, position


def _of_yaml(file: RowsFile) -> Documents:
    import yaml  # few files need it

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(file.text, loader)):
            raise ValueError("its YAML has aliases, which may be unfolded without end")
        for number, value in enumerate(yaml.load_all(file.text, loader), 1):
            if value is not None:
                yield _plain(value), f"document {number}"
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"it is no valid YAML ({' '.join(str(error).split())[:200]})") from error


def _of_parquet(file: RowsFile) -> Documents:
    try:
        table = pq.ParquetFile(pa.BufferReader(file.data))
        number = 0
        for batch in table.iter_batches(batch_size=1000):
            for row in batch.to_pylist():
                number += 1
                yield _plain(row), f"row {number}"
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"it is no readable Parquet ({error})") from error


def _of_database(file: RowsFile, table: str | None) -> Documents:
    if not table:
        raise ValueError("it is an SQLite database: the map has to name the `table` of the rows")
    found = database_tables(file.data, table).get(table)
    if not found:
        raise ValueError(f"the database has no table {table!r}")
    for number, row in enumerate(found.rows, 1):
        yield dict(zip(found.columns, row, strict=True)), f"{table}, row {number}"


def database_tables(data: bytes, *wanted: str) -> Mapping[str, DatabaseTable | None]:
    """Return the wanted tables of an SQLite database, or all. Raises ValueError, TooMuch."""
    with tempfile.TemporaryDirectory(dir=temporary_folder()) as folder:
        place = Path(folder, "copy.db")
        place.write_bytes(data)
        return read_tables([place], dict.fromkeys(wanted, ()), MOST_VALUES)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: names and values of other types as text."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    is_json = value is None or isinstance(value, str | int | float | bool)
    return value if is_json else value.hex() if isinstance(value, bytes) else str(value)
