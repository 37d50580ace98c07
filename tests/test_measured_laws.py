"""What holds for every measuring tool. What each reads of a file: `tests/logs/measured`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.iso_bench_outcomes import STEP, is_quantised
from ingest.measurements.tools import TOOLS, read_measurements
from tests.fuzz.measured_seeds import MEASURED
from tests.measuring import rows_read

QUOTING = {
    "markdown": "# Results\n\n```\n{}```\n",
    "python": 'OUTPUT = """\\\n{}"""\n',
    "reST": ".. code-block:: text\n\n{}\nThat is all.\n",
}


@pytest.mark.parametrize("page", QUOTING.values(), ids=QUOTING)
@pytest.mark.parametrize("tool", ["go-bench", "criterion-text", "libtest", "asv-text"])
def test_a_page_or_source_code_that_quotes_an_output_is_none(page: str, tool: str) -> None:
    assert read_measurements(MeasuredFile("x", page.format(MEASURED[tool])), "s") is None


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_no_tool_takes_what_only_has_its_words(tool: Tool) -> None:
    words = " ".join(tool.marks)
    for text in ("", "[]", "{}", "null", "1", '{"results": 1}', "Benchmark", "[[1]]"):
        reading = read_measurements(MeasuredFile("x.json", words + text), "s")
        assert reading is None or not len(reading.rows)
    if not tool.marks_suffice:
        assert read_measurements(MeasuredFile("notes.json", f'{{"text": "{words}'), "s") is None


_VARIANTS = {"baseline": "baseline", "human": "reference", "agent": "candidate"}
_NUMBERS = st.floats(min_value=0.001, max_value=1e6, allow_nan=False)
_ROWS = st.lists(st.tuples(st.sampled_from([*_VARIANTS]), _NUMBERS), min_size=1, max_size=20)


def table(rows: list[tuple[str, float]], unit: str, factor: float, separator: str, end: str) -> str:
    lines = ["variant,metric,value,unit"]
    lines += [f"{variant},time,{number / factor!r},{unit}" for variant, number in rows]
    return "".join(line.replace(",", separator) + end for line in lines)


@pytest.mark.slow
@given(
    _ROWS,
    st.sampled_from([("s", 1e3), ("us", 1e-3), ("ns", 1e-6), ("min", 6e4), ("ms", 1)]),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.randoms(use_true_random=False),
)
def test_unit_order_separators_and_line_ends_of_a_table_change_nothing(
    rows: list[tuple[str, float]], unit: tuple[str, float], separator: str, end: str, random: Any
) -> None:
    text = table(random.sample(rows, len(rows)), *unit, separator, end)
    found = rows_read(read_measurements(MeasuredFile("table.csv", text), "source"))
    expected = sorted((_VARIANTS[variant], number) for variant, number in rows)
    in_ms = sorted((str(row.variant), row.value or 0.0) for row in found)
    assert [variant for variant, _ in in_ms] == [variant for variant, _ in expected]
    assert [value for _, value in in_ms] == pytest.approx([value for _, value in expected])


@pytest.mark.slow
@given(st.lists(st.integers(1, 24), min_size=1, max_size=3), st.floats(1.0, 1.005))
def test_whole_steps_of_a_log_window_are_found_whatever_its_length(
    steps: list[int], longer: float
) -> None:
    assert is_quantised(round(count * STEP / longer, 1) for count in steps)


@given(st.lists(st.integers(1, 24), max_size=3), st.integers(1, 60), st.floats(0.1, 0.6))
def test_one_rate_between_two_steps_is_enough_to_clear_them(
    steps: list[int], count: int, part: float
) -> None:
    assert not is_quantised([*(one * STEP for one in steps), (count + part) * STEP])


def test_many_steps_are_no_evidence() -> None:
    assert not is_quantised([9819.5, 9822.4])
    assert not is_quantised([2635.1])
    assert not is_quantised([])
