"""The list of all measuring tools, and the measurements of a file that one of them wrote.

A file is read as measurements where no run of an agent was found in it. Content decides, not its name.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from ingest.measurements import iso_bench
from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.bounds import TooManyValues
from ingest.measurements.comma_separated import columns
from ingest.measurements.exchange import bencher, csv_table, github_action
from ingest.measurements.load import k6, sglang, vllm, wrk
from ingest.measurements.measured import measured_table
from ingest.measurements.published import algotune, gso, kernelbench, swefficiency
from ingest.measurements.timing import (
    asv,
    asv_text,
    cargo_bench,
    criterion,
    go_bench,
    google_benchmark,
    hyperfine,
    pyperf,
    pytest_benchmark,
)
from schemas.errors import RejectReason
from schemas.rows.measurement import MeasurementRow
from schemas.rows.tables import WrongValue, arrow_schema

TOOLS: tuple[Tool, ...] = (
    *iso_bench.TOOLS,
    algotune.BASELINE,
    algotune.SUMMARY,
    asv.TOOL,
    asv_text.TOOL,
    cargo_bench.CRITERION,
    cargo_bench.LIBTEST,
    criterion.ESTIMATES,
    criterion.SAMPLES,
    go_bench.TOOL,
    google_benchmark.TOOL,
    gso.MANIFEST,
    gso.REPORT,
    hyperfine.TOOL,
    k6.TOOL,
    kernelbench.TOOL,
    pyperf.TOOL,
    pytest_benchmark.TOOL,
    sglang.OFFLINE,
    sglang.ONE_BATCH,
    sglang.SERVING,
    swefficiency.TOOL,
    vllm.LATENCY,
    vllm.SERVE,
    vllm.THROUGHPUT,
    wrk.TOOL,
    # whose marks are common words
    bencher.TOOL,
    github_action.TOOL,
    csv_table.TOOL,
)
"""Every measuring tool. The first that recognises a file reads it."""

_CUT = "it is no valid JSON, and may be cut off"
_LONGEST_REASON = 300

LARGEST_BYTES = 64 << 20
"""Bytes of the largest file that is read as measurements."""

MARKED_BYTES = 1 << 20
"""The marks of a tool are within this beginning of a file."""


@dataclass(frozen=True)
class Reading:
    """The measurements of a file, as rows of `measurements`.

    `refused`: why its own tool could not read it; there are no rows then. `reason`: of the reject that it becomes.
    """

    tool: str
    rows: pa.Table = field(default_factory=lambda: arrow_schema(MeasurementRow).empty_table())
    refused: str = ""
    reason: RejectReason = RejectReason.INVALID_RECORD


def read_measurements(file: MeasuredFile, source_id: str) -> Reading | None:
    """The measurements in a file; None where no tool recognises it. Raises nothing: a defect is a refusal too."""
    for tool in _tools_of(file.text[:MARKED_BYTES]):
        if reading := _read(tool, file, source_id):
            return reading
    return None


def may_measure(beginning: str) -> bool:
    """Whether a file that begins like this may be one of a tool: it has all marks of one, or the header of a table."""
    return any(tool.marks for tool in _tools_of(beginning)) or len(columns(beginning)) > 1


def _tools_of(beginning: str) -> Iterator[Tool]:
    return (tool for tool in TOOLS if all(mark in beginning for mark in tool.marks))


def _read(tool: Tool, file: MeasuredFile, source_id: str) -> Reading | None:
    """None where the file is not the tool's own, or may as well be another program's."""
    try:
        if not _recognises(tool, file):
            return Reading(tool.name, refused=_CUT) if tool.marks_suffice and file.is_json and not file.documents else None
        rows = measured_table(tool.read(file), source_id, tool.name)
    except TooManyValues as error:
        return Reading(tool.name, refused=str(error), reason=RejectReason.TOO_MUCH)
    except MemoryError:
        return Reading(tool.name, refused="it takes more memory than there is", reason=RejectReason.TOO_MUCH)
    except Exception as error:  # any kind, since it may be a defect
        return Reading(tool.name, refused=_in_words(error))
    return Reading(tool.name, rows) if len(rows) else Reading(tool.name, refused="it holds no values")


def _recognises(tool: Tool, file: MeasuredFile) -> bool:
    """Whether the file is the tool's own. One of an unexpected form is not. Raises TooManyValues for a file whose marks say that it is."""
    try:
        return tool.recognises(file)
    except TooManyValues:
        if tool.marks_suffice:
            raise
    except (ValueError, TypeError, AttributeError, LookupError):
        pass
    return False


def _in_words(error: Exception) -> str:
    """A reason written for people as it is; anything else with its place in the code."""
    if type(error) in (ValueError, WrongValue) and str(error):
        said = str(error)
    else:
        [*_, place] = traceback.extract_tb(error.__traceback__)
        said = f"a value has an unexpected form ({type(error).__name__} in {Path(place.filename).name}, line {place.lineno}: {error})"
    return said if len(said) <= _LONGEST_REASON else f"{said[:_LONGEST_REASON]}…"


def tool_names() -> Iterable[str]:
    """The values of `measurements.format`."""
    return (tool.name for tool in TOOLS)
