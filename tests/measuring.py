"""Files of measuring tools, ingested into a store, and their rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ingest.store.database import Store
from tests.conftest import ingest_paths

Row = dict[str, Any]


def measured(store: Store, folder: Path, files: Mapping[str, Any]) -> list[Row]:
    """The rows of files with these texts, or these values as JSON, in the order of their paths and lines. `file`: path below the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    ingest_paths(store, folder)
    with store.reading() as connection:
        table = connection.sql(
            "select name as file, measurements.* exclude (source_id) from measurements join sources using (source_id)"
            " order by name, measurement_no"
        )
        rows: list[Row] = table.to_arrow_table().to_pylist()
    for row in rows:
        row["file"] = Path(row["file"]).relative_to(folder).as_posix()
        row["params"] = json.loads(row["params"] or "{}")
    return rows


def values(rows: list[Row]) -> list[tuple[Any, ...]]:
    """(benchmark, metric, statistic, value as written, unit as written, value, unit, runs) of each."""
    columns = ("benchmark", "metric", "statistic", "value_raw", "unit_raw", "value", "unit", "n")
    return [tuple(row[column] for column in columns) for row in rows]


def spread(row: Row) -> tuple[Any, ...]:
    """(kind, from, to, samples) of a row, in its stored unit."""
    return row["spread_kind"], row["spread_lo"], row["spread_hi"], row["samples"]
