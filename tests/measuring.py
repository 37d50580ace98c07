"""Files of measuring tools, ingested into a store, and their rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ingest.measurements.tools import Reading
from ingest.store.database import Store
from schemas.rows.measurement import MeasurementRow
from tests.conftest import ingest_paths

Row = dict[str, Any]


def _rows(store: Store) -> list[Row]:
    """The rows of `measurements`, each with the name of its `file`, in the order of files and lines."""
    with store.reading() as connection:
        table = connection.sql(
            "select name as file, measurements.* from measurements join sources using (source_id) order by name, measurement_no"
        )
        rows: list[Row] = table.to_arrow_table().to_pylist()
    return rows


def measured(store: Store, folder: Path, **files: str) -> list[Row]:
    """The rows of `measurements` after files with these texts were ingested. The names have no suffix: content decides."""
    for name, text in files.items():
        (folder / name).write_text(text)
    ingest_paths(store, *(folder / name for name in files))
    return _rows(store)


def column_values(rows: list[Row], *columns: str) -> list[tuple[Any, ...]]:
    """These columns of every row."""
    return [tuple(row[column] for column in columns) for row in rows]


def by_quantity(rows: list[Row], *columns: str) -> dict[tuple[str, str | None], tuple[Any, ...]]:
    """(metric, statistic) of every row → these columns. No quantity has two rows."""
    found = {(row["metric"], row["statistic"]): tuple(row[column] for column in columns) for row in rows}
    assert len(found) == len(rows)
    return found


def measured_in(store: Store, folder: Path, files: Mapping[str, Any]) -> list[Row]:
    """The rows of files with these texts, or these values as JSON, in the order of their paths and lines. `file`: path below the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    ingest_paths(store, folder)
    rows = _rows(store)
    for row in rows:
        row["file"] = Path(row["file"]).relative_to(folder).as_posix()
        row["params"] = json.loads(row["params"] or "{}")
    return rows


def rows_read(reading: Reading | None) -> tuple[MeasurementRow, ...]:
    """The rows of a file that its tool could read."""
    assert reading is not None
    assert not reading.refused
    return tuple(MeasurementRow.model_validate(row, strict=False) for row in reading.rows.to_pylist())


def values(rows: list[Row]) -> list[tuple[Any, ...]]:
    """(benchmark, metric, statistic, value as written, unit as written, value, unit, runs) of each."""
    columns = ("benchmark", "metric", "statistic", "value_raw", "unit_raw", "value", "unit", "n")
    return [tuple(row[column] for column in columns) for row in rows]


def spread(row: Row) -> tuple[Any, ...]:
    """(kind, from, to, samples) of a row, in its stored unit."""
    return row["spread_kind"], row["spread_lo"], row["spread_hi"], row["samples"]
