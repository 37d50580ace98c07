"""All measuring tools, and reading the measurements of a file.

A file is read as measurements if it contains no agent's run. Content decides, not its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from ingest.measurements import (
    asv,
    continuous,
    criterion,
    csv_table,
    go_bench,
    google_benchmark,
    harbor,
    http_load,
    hyperfine,
    iso_bench,
    iso_bench_labels,
    paired_benchmark,
    published,
    pyperf,
    pytest_benchmark,
    serving,
)
from ingest.measurements.base import MarkedReaders, MeasuredFile, Tool, refusal
from ingest.measurements.measured import (
    MOST_VALUES,
    Judgement,
    Measured,
    TooManyValues,
    measured_table,
    published_table,
)
from schemas.errors import RejectReason
from schemas.rows.measurement import MeasurementRow
from schemas.rows.published import PublishedRow
from schemas.rows.tables import arrow_schema

TOOLS: tuple[Tool, ...] = (
    paired_benchmark.TOOL,
    *iso_bench.TOOLS,
    iso_bench_labels.TOOL,
    *published.TOOLS,
    *asv.TOOLS,
    *criterion.TOOLS,
    go_bench.TOOL,
    google_benchmark.TOOL,
    harbor.TOOL,
    hyperfine.TOOL,
    *http_load.TOOLS,
    pyperf.TOOL,
    pytest_benchmark.TOOL,
    *serving.TOOLS,
    # whose marks are common words
    *continuous.TOOLS,
    csv_table.TOOL,
)
"""In order: the first that recognises a file reads it."""

LARGEST_BYTES = 64 << 20

MARKED_BYTES = 1 << 20
"""Bytes at the beginning of a file that contain the marks of its tool."""


@dataclass(frozen=True)
class Reading:
    """The measurements of a file, as rows of `measurements` and `published`.

    `refused`: why its own tool could not read it; there are no rows then. `reason`: that of the
    resulting reject.
    """

    tool: str
    rows: pa.Table = field(default_factory=lambda: arrow_schema(MeasurementRow).empty_table())
    published: pa.Table = field(default_factory=lambda: arrow_schema(PublishedRow).empty_table())
    refused: str = ""
    reason: RejectReason = RejectReason.INVALID_RECORD


def read_measurements(
    file: MeasuredFile, source_id: str, tools: Sequence[Tool] | None = None
) -> Reading | None:
    """Return the measurements in a file, or None if no tool recognises it.

    Never raises: a tool that fails refuses the file.

    `tools`: its `possible_tools`, if known.
    """
    for tool in possible_tools(file.text[:MARKED_BYTES]) if tools is None else tools:
        try:
            if _recognises(tool, file):
                judged: list[Judgement] = []
                values = _without_judgements(tool.read(file), judged)
                rows = measured_table(values, source_id, tool.name)
                if len(rows) or judged:
                    published = published_table(judged, source_id, tool.name)
                    return Reading(tool.name, rows, published)
                return Reading(tool.name, refused="it holds no values")
            if tool.marks_suffice and file.is_json and not file.documents:
                return Reading(tool.name, refused="it is no valid JSON, and may be cut off")
        except Exception as error:  # a bulkhead: one tool's defect costs one file
            refused, cause = refusal(error)
            return Reading(tool.name, refused=refused, reason=cause)
    return None


def _without_judgements(
    found: Iterable[Measured | Judgement], judged: list[Judgement]
) -> Iterator[Measured]:
    """Yield the measured values, and put the judgements between them into `judged`."""
    for one in found:
        if isinstance(one, Measured):
            yield one
            continue
        judged.append(one)
        if len(judged) > MOST_VALUES:
            raise TooManyValues(f"it holds more than {MOST_VALUES:,} judgements")


def _recognises(tool: Tool, file: MeasuredFile) -> bool:
    """Return whether the file is the tool's own; False on an unexpected form.

    Raises TooManyValues if its marks suffice.
    """
    try:
        return tool.recognises(file)
    except TooManyValues:
        if tool.marks_suffice:
            raise
    except (ValueError, TypeError, AttributeError, LookupError):
        pass
    return False


possible_tools = MarkedReaders(TOOLS).possible
