"""The list of all measuring tools, and the measurements of a file that one of them wrote.

A file is read as measurements where no run of an agent was found in it. Content decides, not its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from ingest.measurements import iso_bench
from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.comma_separated import columns
from ingest.measurements.exchange import bencher, csv_table, github_action
from ingest.measurements.load import k6, sglang, vllm, wrk
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
from schemas.rows.measurement import MeasurementRow

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

LARGEST_BYTES = 64 << 20
"""Bytes of the largest file that is read as measurements."""

MARKED_BYTES = 1 << 20
"""The marks of a tool are within this beginning of a file."""


@dataclass(frozen=True)
class Reading:
    """The measurements of a file. `refused`: why its own tool could not read it; there are no rows then."""

    tool: str
    rows: tuple[MeasurementRow, ...] = ()
    refused: str = ""


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
    if not _recognises(tool, file):
        return Reading(tool.name, refused=_CUT) if tool.marks_suffice and _is_cut(file) else None
    try:
        found = tuple(one.row(source_id, number, tool.name) for number, one in enumerate(tool.read(file), 1))
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, ArithmeticError, RecursionError) as error:
        return Reading(tool.name, refused=_reason(error))
    return Reading(tool.name, found) if found else Reading(tool.name, refused="it holds no values")


def _recognises(tool: Tool, file: MeasuredFile) -> bool:
    """Whether the file is the tool's own. One of an unexpected form is not."""
    with suppress(ValueError, TypeError, KeyError, AttributeError, IndexError):
        return tool.recognises(file)
    return False


def _is_cut(file: MeasuredFile) -> bool:
    """Whether a file with the tool's marks begins like JSON and is none."""
    return file.text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[") and not file.documents


def _reason(error: Exception) -> str:
    return str(error) if type(error) is ValueError and str(error) else f"a value has an unexpected form ({type(error).__name__}: {error})"


def tool_names() -> Iterable[str]:
    """The values of `measurements.format`."""
    return (tool.name for tool in TOOLS)
