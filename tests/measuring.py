"""Files of measuring tools and their rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ingest.measurements.base import MeasuredFile
from ingest.measurements.tools import MARKED_BYTES, Reading, possible_tools, read_measurements
from schemas.rows.measurement import MeasurementRow

Row = dict[str, Any]


def read_in(folder: Path) -> list[tuple[Path, Reading]]:
    """What the tools read in the files below a folder, in the order of their paths.

    As an ingest does, without a store.

    An ingest of each tool's files: `tests/test_samples_measured.py`.
    """
    found = []
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        text = path.read_text(encoding="utf-8")
        file = MeasuredFile(str(path), text, path.parent.joinpath)
        if possible_tools(text[:MARKED_BYTES]) and (reading := read_measurements(file, "source")):
            found.append((path, reading))
    return found


def refusals(folder: Path) -> list[str]:
    """Why files below a folder could not be read."""
    return sorted(
        f"{reading.tool}: {reading.refused}" for _, reading in read_in(folder) if reading.refused
    )


def measured(folder: Path, **files: str) -> list[Row]:
    """The rows of files with these texts. The names have no suffix: content decides."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [row for _, reading in read_in(folder) for row in reading.rows.to_pylist()]


def rows_read(reading: Reading | None) -> tuple[MeasurementRow, ...]:
    """The rows of a file that its tool could read."""
    assert reading is not None
    assert not reading.refused
    rows = reading.rows.to_pylist()
    return tuple(
        MeasurementRow(
            **{key: tuple(one) if isinstance(one, list) else one for key, one in row.items()}
        )
        for row in rows
    )
