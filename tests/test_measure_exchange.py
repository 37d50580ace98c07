"""Formats that carry values of any benchmark.

What a file does not say stays unknown, and ordinary files are no measurements.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.measurements.base import MeasuredFile
from ingest.measurements.tools import read_measurements
from ingest.measurements.words import VARIANTS
from tests.measuring import column_values, measured, refusals, rows_read

LONG = """\
Repo,Commit,Variant,Agent,Model,Task,Benchmark,Metric,Unit,Statistic,Better,Value,N,Std
lib,0123abcd,before,,,speed up sort,sort,wall time,s,mean,,2.5,5,0.25
lib,0123abcd,Expert,,,speed up sort,sort,wall time,s,mean,lower,1.25,5,0.125
lib,0123abcd,patched,codex,gpt-5,speed up sort,sort,Hit Rate,%,,higher is better,75,1,
"""
_VALUES = ("variant", "metric", "statistic", "value_raw", "unit_raw", "better")


def test_a_long_table_has_one_value_in_each_row(tmp_path: Path) -> None:
    rows = measured(tmp_path, table=LONG)
    assert column_values(rows, *_VALUES, "n", "spread_kind", "spread_lo", "spread_hi") == [
        ("baseline", "time", "mean", 2.5, "s", "lower", 5, "std", 2250.0, 2750.0),
        ("reference", "time", "mean", 1.25, "s", "lower", 5, "std", 1125.0, 1375.0),
        ("candidate", "hit_rate", None, 75.0, "%", "higher", 1, "none", None, None),
    ]
    assert column_values(
        rows, "repo", "commit_full", "task", "benchmark", "agent", "model", "format"
    ) == [
        ("lib", "0123abcd", "speed up sort", "sort", None, None, "csv_table"),
        ("lib", "0123abcd", "speed up sort", "sort", None, None, "csv_table"),
        ("lib", "0123abcd", "speed up sort", "sort", "codex", "gpt-5", "csv_table"),
    ]
    assert {row["batch"] for row in rows} == {f"{tmp_path}/table"}


def test_a_wide_table_has_a_column_for_each_variant(tmp_path: Path) -> None:
    table = (
        "metric\tbase_ms\thuman_ms\tagent_ms\tagent_std\n"
        "ttft_mean\t10.5\t9.5\t\t\n"
        "p99_itl\t4\t3\t2.5\t0.5\n"
    )
    rows = measured(tmp_path, table=table)
    assert column_values(rows, *_VALUES) == [
        ("baseline", "ttft", "mean", 10.5, "ms", "lower"),
        ("reference", "ttft", "mean", 9.5, "ms", "lower"),
        ("baseline", "itl", "p99", 4.0, "ms", "lower"),
        ("reference", "itl", "p99", 3.0, "ms", "lower"),
        ("candidate", "itl", "p99", 2.5, "ms", "lower"),
    ]


def test_the_spread_of_a_wide_table_stands_beside_its_variant(tmp_path: Path) -> None:
    table = "name,before,before_std,after,after_std,runs\nsort,4.0,0.5,2.0,0.25,10\n"
    rows = measured(tmp_path, table=table)
    assert column_values(
        rows, "benchmark", "variant", "metric", "unit", "value", "spread_lo", "spread_hi", "n"
    ) == [
        ("sort", "baseline", "value", None, 4.0, 3.5, 4.5, 10),
        ("sort", "candidate", "value", None, 2.0, 1.75, 2.25, 10),
    ]


def test_other_columns_are_parameters_but_remarks_and_derived_values_are_not(
    tmp_path: Path,
) -> None:
    table = (
        "metric;before (ms);after (ms);batch "
        "size;speedup;notes\nlatency;4.0;2.0;16;2.0;fast\nlatency;8.0;6.0;32;1.3;\n"
    )
    rows = measured(tmp_path, table=table)
    assert [row["params"] for row in rows] == ['{"batch_size": "16"}'] * 2 + [
        '{"batch_size": "32"}'
    ] * 2
    assert len({row["workload_fp"] for row in rows}) == 2


@pytest.mark.parametrize(
    ("value", "status", "found"),
    [
        ("timeout", "", ("failed", "timeout", None)),
        ("", "failed: out of memory", ("failed", "unknown", None)),
        ("", "not run", ("not_run", None, None)),
        ("3.5", "ok", ("ok", None, 3.5)),
    ],
)
def test_a_failure_in_a_table_is_no_value(
    tmp_path: Path, value: str, status: str, found: tuple[Any, ...]
) -> None:
    table = (
        f"variant,metric,value,unit,status\nbaseline,latency,5.0,ms,ok\nagent,latency,{value},ms,"
        f"{status}\n"
    )
    rows = measured(tmp_path, table=table)
    assert column_values(rows, "status", "failure", "value") == [("ok", None, 5.0), found]


@pytest.mark.parametrize("cell", ["", "N/A", "nan", "-"])
def test_an_empty_cell_has_no_row(tmp_path: Path, cell: str) -> None:
    rows = measured(tmp_path, table=f"metric,baseline,agent\nlatency,5.0,4.0\ntime,{cell},3.0\n")
    assert [(row["metric"], row["variant"]) for row in rows] == [
        ("latency", "baseline"),
        ("latency", "candidate"),
        ("time", "candidate"),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("agent,latency,4 ms,", "line 3: '4 ms' in the column value is no number"),
        (
            "fast,latency,4,",
            (
                f"line 3: the variant 'fast' is unknown; write one of {', '.join(VARIANTS)}, or "
                "leave it empty"
            ),
        ),
        (
            "agent,latency,4,left",
            (
                "line 3: 'left' does not say which way is better; write one of lower, smaller, "
                "less, higher, bigger, more, unknown"
            ),
        ),
        ("agent,latency,4,lower,5", "line 3 has 5 cells, and the header 4"),
    ],
)
def test_a_wrong_cell_is_rejected_with_its_line(tmp_path: Path, line: str, reason: str) -> None:
    assert not measured(
        tmp_path, table=f"variant,metric,value,better\nbaseline,latency,5.0,lower\n{line}\n"
    )
    [detail] = refusals(tmp_path)
    assert detail == f"csv_table: {reason}"


@pytest.mark.parametrize(
    "table",
    [
        "date,value\n2026-01-01,5\n2026-01-02,6\n",
        "name,value,unit\nsalt,5,g\nsugar,6,g\n",
        "variant,value\nred,5\nblue,6\n",
        "variant,metric,value\nA,clicks,5\nB,clicks,6\n",
        "metric,value\nclicks,5\nviews,6\n",
        "name,before,after\nstep one,open,closed\nstep two,open,open\n",
        "metric,agent,count\nclicks,5,6\nviews,6,7\n",
        "agent,human,score\n1,2,3\n2,3,4\n",
        "name,agent_min,agent_speedup\nsort,2,3\nfind,3,4\n",
    ],
)
def test_an_ordinary_table_is_no_measurement(tmp_path: Path, table: str) -> None:
    assert not measured(tmp_path, table=table)
    assert not refusals(tmp_path)


_VARIANTS = st.sampled_from(["baseline", "human", "agent"])
_NUMBERS = st.floats(min_value=0.001, max_value=1e6, allow_nan=False)
_ROWS = st.lists(st.tuples(_VARIANTS, _NUMBERS), min_size=1, max_size=20)


def stored_values(table: str) -> list[tuple[str, float]]:
    rows = rows_read(read_measurements(MeasuredFile("table.csv", table), "source"))
    return [(str(row.variant), row.value or 0.0) for row in rows]


@pytest.mark.slow
@given(_ROWS, st.sampled_from([("s", 1e3), ("us", 1e-3), ("ns", 1e-6), ("min", 6e4)]))
def test_the_unit_of_a_table_does_not_change_what_was_measured(
    rows: list[tuple[str, float]], unit: tuple[str, float]
) -> None:
    head = "variant,metric,value,unit\n"
    in_ms = stored_values(
        head + "".join(f"{variant},time,{number},ms\n" for variant, number in rows)
    )
    in_unit = stored_values(
        head
        + "".join(f"{variant},time,{number / unit[1]!r},{unit[0]}\n" for variant, number in rows)
    )
    assert [variant for variant, _ in in_ms] == [variant for variant, _ in in_unit]
    assert [number for _, number in in_unit] == pytest.approx([number for _, number in in_ms])


@pytest.mark.slow
@given(
    _ROWS,
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.randoms(use_true_random=False),
)
def test_order_separators_and_line_ends_of_a_table_change_nothing(
    rows: list[tuple[str, float]], separator: str, end: str, random: Any
) -> None:
    def table(cells: list[tuple[str, float]]) -> str:
        lines = [
            "variant,metric,value",
            *(f"{variant},time,{number!r}" for variant, number in cells),
        ]
        return "".join(line.replace(",", separator) + end for line in lines)

    mixed = random.sample(rows, len(rows))
    assert sorted(stored_values(table(mixed))) == sorted(
        (f"{_NAMED[variant]}", number) for variant, number in rows
    )


_NAMED = {"baseline": "baseline", "human": "reference", "agent": "candidate"}

BENCHES = [
    {"name": "encode", "unit": "us", "value": 12.5, "range": "± 3 %"},
    {"name": "decode", "unit": "req/s", "value": 40, "range": "±1.5", "extra": "25 samples"},
    {"name": "free memory", "unit": "Megabytes", "value": 150, "range": 5},
    {"name": "load", "unit": "Percent", "value": 50, "range": "5%"},
    {"name": "calls", "unit": "calls", "value": 7, "range": "stddev: 0.2"},
]


def test_only_the_unit_says_which_way_is_better_in_the_array_of_github_action_benchmark(
    tmp_path: Path,
) -> None:
    rows = measured(tmp_path, output=json.dumps(BENCHES))
    assert column_values(
        rows,
        "benchmark",
        "metric",
        "value_raw",
        "unit_raw",
        "better",
        "spread_lo",
        "spread_hi",
        "n",
    ) == [
        (
            "encode",
            "time",
            12.5,
            "us",
            "lower",
            pytest.approx(0.012125),
            pytest.approx(0.012875),
            None,
        ),
        ("decode", "throughput", 40.0, "req/s", "higher", 38.5, 41.5, 25),
        ("free memory", "value", 150.0, "Megabytes", "unknown", 145e6, 155e6, None),
        ("load", "value", 50.0, "Percent", "unknown", None, None, None),
        ("calls", "value", 7.0, "calls", "unknown", None, None, None),
    ]
    assert {row["spread_kind"] for row in rows} == {"none"}


def history(tool: str) -> str:
    entry = {
        "commit": {"id": "0123456789abcdef0123456789abcdef01234567"},
        "date": 1_700_000_000_000,
        "tool": tool,
        "benches": BENCHES,
    }
    suites = {
        "repoUrl": "https://github.com/org/lib",
        "entries": {"unit": [entry], "load": [entry]},
    }
    return f"window.BENCHMARK_DATA = {json.dumps(suites, indent=2)};\n"


@pytest.mark.parametrize(
    ("tool", "better", "statistic", "kind"),
    [
        ("customBiggerIsBetter", "higher", None, "none"),
        ("customSmallerIsBetter", "lower", None, "none"),
        ("benchmarkjs", "higher", "mean", "ci"),
        ("catch2", "lower", "mean", "std"),
        ("cargo", "lower", "median", "none"),
    ],
)
def test_the_tool_of_a_history_says_which_way_is_better(
    tmp_path: Path, tool: str, better: str, statistic: str | None, kind: str
) -> None:
    rows = measured(tmp_path, **{"data.js": history(tool)})
    assert {(row["better"], row["statistic"], row["repo"]) for row in rows} == {
        (better, statistic, "org/lib")
    }
    assert rows[0]["spread_kind"] == kind
    assert rows[0]["commit_full"] == "0123456789abcdef0123456789abcdef01234567"
    assert (rows[0]["measured_at"].replace(tzinfo=None), rows[0]["tz_known"]) == (
        datetime(2023, 11, 14, 22, 13, 20),  # noqa: DTZ001
        True,
    )
    assert len({row["workload_fp"] for row in rows}) == 2  # a suite's own


def test_a_cut_history_is_rejected_as_what_it_is(tmp_path: Path) -> None:
    assert not measured(tmp_path, **{"data.js": history("go")[:-30]})
    [detail] = refusals(tmp_path)
    assert detail == (
        "github_action_benchmark: what follows window.BENCHMARK_DATA is no valid JSON, and "
        "may be cut off"
    )


def test_measures_of_bencher_have_its_own_units_and_others_none(tmp_path: Path) -> None:
    report = {
        "lib::sort": {
            "latency": {"value": 88.5, "lower_value": 80.0, "upper_value": 95.0},
            "throughput": {"value": 5.5},
        },
        "build": {
            "build-time": {"value": 12.0},
            "file-size": {"value": 2048.0},
            "Cache Misses": {"value": 3.0},
        },
        "odd": {"latency": {"value": 50.0, "lower_value": 4.0, "upper_value": 4.0}},
    }
    rows = measured(tmp_path, report=json.dumps(report))
    assert column_values(
        rows,
        "benchmark",
        "metric",
        "value_raw",
        "unit_raw",
        "better",
        "spread_kind",
        "spread_lo",
        "spread_hi",
    ) == [
        (
            "lib::sort",
            "latency",
            88.5,
            "ns",
            "lower",
            "none",
            pytest.approx(80e-6),
            pytest.approx(95e-6),
        ),
        ("lib::sort", "throughput", 5.5, "ops/s", "higher", "none", None, None),
        ("build", "build_time", 12.0, "s", "lower", "none", None, None),
        ("build", "size", 2048.0, "B", "lower", "none", None, None),
        ("build", "cache_misses", 3.0, None, "unknown", "none", None, None),
        ("odd", "latency", 50.0, "ns", "lower", "none", None, None),
    ]


@pytest.mark.parametrize(
    "value",
    [
        {"colour": {"red": {"value": 3}}},
        {"latency": {"value": 3.0}},
        [{"name": "salt", "unit": "g", "value": 3, "shop": "x"}],
        [{"name": "salt", "unit": None, "value": 3}],
        {"name": "salt", "unit": "g", "value": 3},
        [],
        {},
        {"metrics": {"vus_max": 3}},
        {"hardware": {}, "device": {}, "num_trials": {}},
    ],
)
def test_ordinary_json_is_no_measurement(tmp_path: Path, value: Any) -> None:
    assert not measured(tmp_path, file=json.dumps(value))
    assert not refusals(tmp_path)
