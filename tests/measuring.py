"""Measured results as an ingest stores them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ingest.store.database import Store
from tests.conftest import ingest_paths

Row = dict[str, Any]


def measured(store: Store, folder: Path, **files: str) -> list[Row]:
    """The rows of `measurements` after files with these texts were ingested. The names have no suffix: content decides."""
    for name, text in files.items():
        (folder / name).write_text(text)
    ingest_paths(store, *(folder / name for name in files))
    with store.reading() as connection:
        table = connection.sql("select m.* from measurements m join sources s using (source_id) order by s.name, m.measurement_no")
        rows: list[Row] = table.to_arrow_table().to_pylist()
    return rows


def column_values(rows: list[Row], *columns: str) -> list[tuple[Any, ...]]:
    """These columns of every row."""
    return [tuple(row[column] for column in columns) for row in rows]


def by_quantity(rows: list[Row], *columns: str) -> dict[tuple[str, str | None], tuple[Any, ...]]:
    """(metric, statistic) of every row → these columns. No quantity has two rows."""
    found = {(row["metric"], row["statistic"]): tuple(row[column] for column in columns) for row in rows}
    assert len(found) == len(rows)
    return found
