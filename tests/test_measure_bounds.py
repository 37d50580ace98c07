"""No file of a measuring tool raises, hangs or eats memory.

What cannot be read is refused, with the bound or the place in the code.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ingest.measurements import measured as measured_rows
from ingest.measurements.base import MOST_JSON_VALUES, MeasuredFile, lines_of
from ingest.measurements.measured import MOST_CHARACTERS, MOST_VALUES, Spread, log_error
from ingest.measurements.tools import TOOLS, Reading, possible_tools, read_measurements
from schemas.errors import RejectReason
from schemas.rows.measurement import SpreadKind
from tests.fuzz.measured_seeds import MEASURED
from tests.measuring import measured, refusals, rows_read

LONG = 50_000
"""Characters of which a quadratic pattern takes minutes."""

pytestmark = pytest.mark.slow  # files at the bounds are large


def read(text: str) -> Reading:
    reading = read_measurements(MeasuredFile("results/x", text), "s")
    assert reading is not None
    return reading


@pytest.mark.parametrize("filler", [" ", "1", "a ", "="])
@pytest.mark.parametrize(
    "tool", ["wrk", "go-bench", "criterion-text", "libtest", "asv-text", "iso_bench_result"]
)
def test_no_pattern_of_a_tool_is_quadratic(tool: str, filler: str) -> None:
    """Every line of its output, cut behind each word, goes on with the same text for ever."""
    whole, long = MEASURED[tool], filler * (LONG // len(filler))
    if tool == "iso_bench_result":
        cut = "".join(f"{start}{long}\n" for start in _STARTS)
        text = json.dumps(json.loads(whole) | {"raw_output": cut, "note": cut, "status": "error"})
    else:
        starts = {line[: end.start()] for line in whole.split("\n") for end in _WORD.finditer(line)}
        text = whole + "".join(f"{start}{long}x\n" for start in sorted(starts))
    reading = read_measurements(MeasuredFile("results/x", text), "s")
    assert reading is None or reading.tool == tool


_WORD = re.compile(r"$|(?<=\S)\s|(?<=\s)\S")
_STARTS = (
    *("model ", "a Error", "Tokenizer", "1 out of ", "--model='", "patching file a"),
    *("Total input tokens: ", "Throughput: ", "cannot import name a from '"),
)
"""Beginnings of what the patterns for ISO-Bench's logs look for."""


@pytest.mark.parametrize("text", ["x", "_", " ", '"x"', '"\n"'])
def test_a_long_cell_or_heading_of_a_table_is_read_in_no_time(text: str) -> None:
    cell, heading = text[:1] + text[1:2] * LONG + text[2:], text[:1] * LONG
    for table in (
        f"metric,variant,value,note\na,baseline,1,{cell}\n",
        f"metric,variant,value,{heading}\na,baseline,1,2\n",
    ):
        reading = read_measurements(MeasuredFile("results/x", table), "s")
        assert reading is None or reading.tool == "csv_table"


@pytest.mark.parametrize("key", ["range", "extra"])
def test_a_long_range_of_a_result_is_read_in_no_time(key: str) -> None:
    for one in (" ", "1", "1.", "1 ", "rounds: "):
        bench = {"name": "a", "unit": "ms", "value": 1, key: one * (LONG // len(one)) + "x"}
        assert read(json.dumps([bench])).tool == "github_action_benchmark"


def _asv(**changes: Any) -> str:
    document = json.loads(MEASURED["asv"]) | {"results": {"b": [[], [["1", "2"]] * 30, "v"]}}
    return json.dumps(document | changes)


_WIDE = (
    "metric,"
    + ",".join(
        f"{word}_{unit}" for word in ("base", "agent", "human") for unit in ("ms", "s", "us", "ns")
    )
    + "\n"
)
TOO_MUCH: dict[str, Callable[[], str]] = {
    "combinations of parameters": _asv,
    "a long parameter in each row": lambda: _asv(
        requirements={"a": "x" * 400_000}, results={"b": [[], [["1", "2"]] * 10, "v"]}
    ),
    "lines": lambda: "metric,variant,value\n" + "a,baseline,1\n" * (MOST_VALUES + 1),
    "columns of values": lambda: _WIDE + "a,1,2\n" * (MOST_VALUES // 12 + 1),
    "keys of a configuration": lambda: (
        "".join(f"k{number}: v\nBenchmarkA 1 1 ns/op\n" for number in range(100)) + "ok x 1s\n"
    ),
    "JSON values": lambda: (
        MEASURED["hyperfine"][:-1] + ', "a": [' + "1," * MOST_JSON_VALUES + "1]}"
    ),
    "JSON documents": lambda: MEASURED["sglang_serving"] + "{}\n" * (MOST_VALUES + 1),
}


@pytest.mark.parametrize("text", TOO_MUCH.values(), ids=TOO_MUCH)
def test_a_file_beyond_a_bound_is_refused_with_the_bound(text: Callable[[], str]) -> None:
    reading = read(text())
    assert (reading.reason, len(reading.rows)) == (RejectReason.TOO_MUCH, 0)
    assert "more than" in reading.refused


def test_a_file_with_more_values_than_the_bound_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured_rows, "MOST_VALUES", 5000)
    assert len(read(_benches(5000)).rows) == 5000
    reading = read(_benches(5001))
    assert (reading.reason, reading.refused) == (
        RejectReason.TOO_MUCH,
        "it holds more than 5,000 values",
    )


def _benches(count: int) -> str:
    return json.dumps(
        [{"name": str(number), "unit": "ms", "value": number} for number in range(count)]
    )


@pytest.mark.parametrize(
    "error", [RecursionError, OverflowError, ArithmeticError, RuntimeError, ValueError, KeyError]
)
@pytest.mark.parametrize("place", ["recognises", "read"])
def test_whatever_a_tool_raises_is_a_refusal_with_its_place(
    place: str, error: type[Exception]
) -> None:
    """Only an error about a file's form, at the check of its form, leaves it to other tools."""

    def broken(_file: MeasuredFile) -> Any:
        raise error

    [tool] = [tool for tool in TOOLS if tool.name == "wrk"]
    failing = (
        replace(tool, recognises=broken) if place == "recognises" else replace(tool, read=broken)
    )
    reading = read_measurements(MeasuredFile("x", MEASURED["wrk"]), "s", [failing])
    if place == "recognises" and issubclass(error, ValueError | LookupError):
        assert reading is None
    else:
        assert reading is not None
        assert f"{error.__name__} in test_measure_bounds.py, line " in reading.refused


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_a_table_has_the_line_ends_of_any_system_and_cells_of_any_length(ends: str) -> None:
    log = "x" * LONG
    rows = rows_read(
        read(
            ends.join(
                ("metric,variant,value,error", f"a,baseline,1,{log}", f"a,agent,timeout,{log}", "")
            )
        )
    )
    assert [(row.variant, row.status, row.failure_detail) for row in rows] == [
        ("baseline", "ok", None),
        ("candidate", "failed", log),
    ]
    [judged] = rows_read(
        read(ends.join(("commit,agent,hard,note", f"a1b2c3d4,codex,beats,{log}", "")))
    )
    assert judged.label == "beats"
    assert possible_tools(ends.join(("a,b", "")))


def test_a_number_with_hundreds_of_digits_is_no_value_and_too_many_runs_are_refused(
    tmp_path: Path,
) -> None:
    labels = json.dumps({"commit": "a1b2c3d4", "agent": "codex", "primary_pct": 0}).replace(
        "0}", f"{10**400}}}"
    )
    [row] = rows_read(read(labels))
    assert (row.value, row.status) == (None, "failed")
    table = f"metric,variant,value,n\na,baseline,1,{10**30}\n"
    assert not measured(tmp_path, table=table)
    [detail] = refusals(tmp_path)
    assert "measurements.n: " in detail


def test_times_outside_of_2000_to_2100_are_unknown() -> None:
    for written in (
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "1970-01-01",
        "2100-01-01T00:00:00",
    ):
        document = json.loads(MEASURED["pytest-benchmark"]) | {"datetime": written}
        assert {
            (row.measured_at, row.tz_known) for row in rows_read(read(json.dumps(document)))
        } == {(None, False)}


def test_rows_are_numbered_across_the_chunks_that_become_arrow() -> None:
    reading = read(_benches(9000))
    numbers = reading.rows["measurement_no"].to_pylist()
    assert numbers[0] == 1
    assert all(second == first + 1 for first, second in pairwise(numbers))
    assert reading.rows["value"].to_pylist() == list(range(9000))
    assert reading.rows.nbytes < MOST_CHARACTERS


def test_lines_end_as_on_any_system() -> None:
    text = "a\r\nb\n\n\rc\x0bd"
    assert list(lines_of(text)) == ["a", "b", "", "", "c\x0bd"]
    assert [line.number for line in MeasuredFile("x", "\n\na,b\n1,2\n").rows] == [4]


LOGS = [math.exp(step) for step in (-0.1, 0.0, 0.1)]


@pytest.mark.parametrize(
    ("value", "spread", "samples", "n", "error", "degrees"),
    [
        (1.0, Spread(kind=SpreadKind.SAMPLES), LOGS, 3, 0.1 / math.sqrt(3), 2),
        (200.0, Spread.around(200.0, 10.0), [], 11, 0.05 / math.sqrt(11), 10),
        (200.0, Spread.around(200.0, 10.0, SpreadKind.SEM), [], 11, 0.05, 10),
        (
            10.0,
            Spread(kind=SpreadKind.CI, low=10 / math.exp(0.03), high=10 * math.exp(0.03)),
            [],
            None,
            0.03 / 1.959964,
            None,
        ),
        (
            10.0,
            Spread(
                kind=SpreadKind.CI, low=10 / math.exp(0.03), high=10 * math.exp(0.03), level=0.99
            ),
            [],
            None,
            0.03 / 2.575829,
            None,
        ),
        (10.0, Spread.around(10.0, 1.0), [], 1, None, None),
        (0.0, Spread.around(0.0, 1.0), [], 9, None, None),
        (1.0, Spread(kind=SpreadKind.SAMPLES), [1.0, 0.0], 2, None, None),
        (1.0, Spread(kind=SpreadKind.CI, low=-1.0, high=2.0), [], None, None, None),
        (1.0, Spread(kind=SpreadKind.NONE), [], 9, None, None),
    ],
)
def test_the_error_of_a_logarithm_comes_from_samples_a_deviation_or_an_interval(
    value: float,
    spread: Spread,
    samples: list[float],
    n: int | None,
    error: float | None,
    degrees: int | None,
) -> None:
    found = log_error(value, spread, samples, n)
    assert found == ((None, None) if error is None else (pytest.approx(error, rel=1e-5), degrees))
