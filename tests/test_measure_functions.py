"""What tools write as JSON about functions and commands.

Every value, its unit, spread, samples, origin and failures.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ingest.measurements.base import MeasuredFile
from ingest.measurements.tools import TOOLS, read_measurements
from tests.measuring import measured_in, refusals, spread, values

HASH = "0123456789abcdef0123456789abcdef01234567"


def stats(**changes: Any) -> dict[str, Any]:
    return {
        "min": 0.25,
        "max": 1.0,
        "mean": 0.5,
        "stddev": 0.125,
        "rounds": 4,
        "median": 0.375,
        "iqr": 0.25,
        "q1": 0.25,
        "q3": 0.5,
        "iqr_outliers": 0,
        "stddev_outliers": 1,
        "outliers": "1;0",
        "ops": 2.0,
        "total": 2.0,
        "iterations": 1,
    } | changes


def pytest_json(*tests: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "machine_info": {
            "node": "box",
            "machine": "x86_64",
            "cpu": {"brand_raw": "Fast CPU @ 3 GHz"},
        },
        "commit_info": {
            "id": HASH,
            "time": "2026-01-02T03:04:05+00:00",
            "dirty": False,
            "project": "codec",
            "branch": "main",
        },
        "benchmarks": list(tests),
        "datetime": "2026-01-02T03:05:00.500000+01:00",
        "version": "5.1.0",
    } | changes


def test_pytest_benchmark(tmp_path: Path) -> None:
    test = {
        "group": None,
        "name": "test_pack[8]",
        "fullname": "bench.py::test_pack[8]",
        "params": {"size": 8},
        "param": "8",
        "extra_info": {},
    }
    rows = measured_in(
        tmp_path,
        {
            "a.json": pytest_json(test | {"stats": stats(data=[0.25, 0.25, 0.5, 1.0])}),
            "b.json": pytest_json(
                test | {"params": None, "stats": stats(rounds=1, stddev=0)},
                commit_info={"id": HASH, "dirty": True},
                machine_info={"node": "box"},
                datetime="2026-01-02T03:05:00",
            ),
        },
    )
    name = "bench.py::test_pack[8]"
    assert values(rows) == [
        (name, "time", statistic, seconds, "s", seconds * 1000, "ms", n)
        for n in (4, 1)
        for statistic, seconds in (("mean", 0.5), ("median", 0.375), ("min", 0.25), ("max", 1.0))
    ]
    times = [250, 250, 500, 1000]
    assert [spread(row) for row in rows] == [
        ("std", 375, 625, times), ("iqr", 250, 500, times), *[("none", None, None, [])] * 6,
    ]  # fmt: skip
    first, once = rows[0], rows[4]
    told = {
        "format": "pytest-benchmark",
        "repo": "codec",
        "commit_full": HASH,
        "parent_full": None,
        "machine": "box, Fast CPU @ 3 GHz",
        "scope": "micro",
        "tz_known": True,
        "params": {"size": 8},
        "better": "lower",
    }
    assert {name: first[name] for name in told} == told
    assert first["measured_at"] == datetime(2026, 1, 2, 2, 5, 0, 500000, tzinfo=UTC)
    assert (once["commit_full"], once["parent_full"], once["machine"], once["tz_known"]) == (
        None,
        HASH,
        "box",
        False,
    )
    assert first["workload_fp"] != once["workload_fp"]


def test_where_an_object_lay_in_memory_is_no_workload_of_pytest_benchmark(tmp_path: Path) -> None:
    def saved(build: str, address: str) -> dict[str, Any]:
        case = f"UNSERIALIZABLE[Case(build=<function {build} at {address}>)]"
        test = {"name": "test_pack", "params": {"case": case}, "stats": stats()}
        return pytest_json(test)

    files = [saved("one", "0x77ea67c07110"), saved("one", "0x7f00A0"), saved("two", "0x7f00A0")]
    rows = measured_in(tmp_path, {f"{at}.json": file for at, file in enumerate(files)})
    one, again, two = (row["workload_fp"] for row in rows[::4])
    assert one == again != two


def test_hyperfine(tmp_path: Path) -> None:
    result = {
        "command": "run 8",
        "mean": 0.5,
        "stddev": 0.25,
        "median": 0.5,
        "user": 0.125,
        "system": 0.25,
        "min": 0.25,
        "max": 0.75,
    }
    rows = measured_in(
        tmp_path,
        {
            "h.json": {
                "results": [
                    result
                    | {
                        "times": [0.25, 0.75],
                        "exit_codes": [0, None],
                        "parameters": {"size": "8"},
                        "memory_usage_byte": [1000, 3000],
                    },
                    result | {"command": "once", "stddev": None, "times": [0.5], "exit_codes": [0]},
                    result
                    | {"command": "bad", "times": [0.25, 0.75, 0.1], "exit_codes": [0, 139, 1]},
                ]
            },
        },
    )
    times = [
        (statistic, seconds, "s", seconds * 1000, "ms")
        for statistic, seconds in (("mean", 0.5), ("median", 0.5), ("min", 0.25), ("max", 0.75))
    ]
    assert values(rows) == [
        *(("run 8", "time", *one, 2) for one in times),
        ("run 8", "cpu_time", "mean", 0.375, "s", 375, "ms", 2),
        ("run 8", "memory", "mean", 2000, "byte", 2000, "B", 2),
        *(("once", "time", *one, 1) for one in times),
        ("once", "cpu_time", "mean", 0.375, "s", 375, "ms", 1),
        ("bad", *[None] * 7),
    ]
    assert [spread(rows[place]) for place in (0, 1, 5, 6)] == [
        ("std", 250, 750, [250, 750]), ("samples", None, None, [250, 750]),
        ("samples", None, None, [1000, 3000]), ("none", None, None, [500]),
    ]  # fmt: skip
    assert (rows[0]["params"], rows[0]["command"], rows[0]["scope"]) == (
        {"size": "8"},
        "run 8",
        "end_to_end",
    )
    assert (rows[-1]["status"], rows[-1]["failure"], rows[-1]["failure_detail"]) == (
        "failed", "crash", "2 of 3 runs of the command failed: exit code 1, 139",
    )  # fmt: skip


def entry(name: str, real: float, **changes: Any) -> dict[str, Any]:
    fields = {
        "name": name,
        "run_name": name,
        "run_type": "iteration",
        "repetitions": 2,
        "repetition_index": 0,
        "threads": 1,
        "iterations": 100,
    }
    return fields | {"real_time": real, "cpu_time": real / 2, "time_unit": "us"} | changes


def aggregate(name: str, kind: str, real: float, **changes: Any) -> dict[str, Any]:
    return entry(
        f"{name}_{kind}", real, run_name=name, run_type="aggregate", aggregate_name=kind, **changes
    )


CONTEXT = {
    "date": "2026-01-02T03:04:05+00:00",
    "host_name": "box",
    "num_cpus": 8,
    "mhz_per_cpu": 3000,
    "library_build_type": "release",
}


def test_google_benchmark_repetitions_and_aggregates(tmp_path: Path) -> None:
    """Aggregates as published, with the repetitions as samples; without repetitions.

    Without aggregates, and alone.
    """
    both = [
        entry("both", 8),
        entry("both", 16),
        aggregate("both", "mean", 12),
        aggregate("both", "median", 12),
        aggregate("both", "stddev", 4),
        aggregate("both", "cv", 0.3, aggregate_unit="percentage"),
        aggregate("both", "max", 16),
    ]
    rows = measured_in(
        tmp_path,
        {
            "g.json": {
                "context": CONTEXT,
                "benchmarks": [
                    *both,
                    aggregate("sums", "mean", 12),
                    aggregate("sums", "stddev", 4),
                    entry("runs", 8),
                    entry("runs", 16),
                    entry("alone", 8),
                    {
                        "name": "alone_BigO",
                        "run_name": "alone",
                        "run_type": "aggregate",
                        "aggregate_name": "BigO",
                        "cpu_coefficient": 4.5,
                        "big_o": "N",
                        "real_coefficient": 6.5,
                        "time_unit": "ns",
                    },
                    {
                        "name": "alone_RMS",
                        "run_name": "alone",
                        "run_type": "aggregate",
                        "aggregate_name": "RMS",
                        "rms": 0.5,
                    },
                ],
            }
        },
    )
    assert values([row for row in rows if row["metric"] == "time"]) == [
        ("both", "time", "mean", 12, "us", 0.012, "ms", 2),
        ("both", "time", "median", 12, "us", 0.012, "ms", 2),
        ("both", "time", "max", 16, "us", 0.016, "ms", 2),
        ("sums", "time", "mean", 12, "us", 0.012, "ms", 2),
        ("runs", "time", "mean", 12, "us", 0.012, "ms", 2),
        ("runs", "time", "median", 12, "us", 0.012, "ms", 2),
        ("alone", "time", "mean", 8, "us", 0.008, "ms", 1),
    ]
    assert [
        (row["benchmark"], row["statistic"], row["value_raw"])
        for row in rows
        if row["metric"] == "cpu_time"
    ][-1] == (
        "alone",
        "mean",
        4,
    )
    time = {
        (row["benchmark"], row["statistic"]): spread(row) for row in rows if row["metric"] == "time"
    }
    assert time["both", "mean"] == ("std", 0.008, 0.016, [0.008, 0.016])
    assert time["both", "median"] == ("samples", None, None, [0.008, 0.016])
    assert time["sums", "mean"] == ("std", 0.008, 0.016, [])
    assert time["runs", "mean"][:3] == (
        "std",
        pytest.approx(0.012 - 0.032**0.5 / 1000**0.5),
        pytest.approx(0.012 + 0.032**0.5 / 1000**0.5),
    )
    assert time["alone", "mean"] == ("none", None, None, [0.008])
    assert (rows[0]["machine"], rows[0]["scope"], rows[0]["tz_known"]) == (
        "box, 8 CPUs",
        "micro",
        True,
    )


@pytest.mark.parametrize(
    ("said", "commit"),
    [
        (
            {"GIT_COMMIT_HASH": "A1B2C3D", "GIT_BRANCH": "main", "GIT_CLEAN_STATUS": "CLEAN"},
            "a1b2c3d",
        ),
        ({"git_sha": "a1b2c3d4", "git_describe": "v1.2-3-ga1b2c3d4"}, "a1b2c3d4"),
        ({"GIT_COMMIT_HASH": "a1b2c3d", "GIT_CLEAN_STATUS": "DIRTY"}, None),
        ({"git_commit": "a1b2c3d", "git_dirty": "true"}, None),
        ({"git_commit": "a1b2c3d", "engine git commit": "b2c3d4e"}, None),
        ({"git_sha": "unknown"}, None),
    ],
)
def test_google_benchmark_names_the_commit_in_its_context(
    tmp_path: Path, said: dict[str, str], commit: str | None
) -> None:
    """Changes that were not committed are of no commit."""
    rows = measured_in(
        tmp_path, {"g.json": {"context": CONTEXT | said, "benchmarks": [entry("alone", 8)]}}
    )
    assert {row["commit_full"] for row in rows} == {commit}


def test_google_benchmark_rates_counters_and_failures(tmp_path: Path) -> None:
    rows = measured_in(
        tmp_path,
        {
            "g.json": {
                "context": CONTEXT,
                "benchmarks": [
                    entry(
                        "all",
                        8,
                        bytes_per_second=4e6,
                        items_per_second=250.0,
                        allocs_per_iter=3,
                        max_bytes_used=2048,
                        CacheMisses=7,
                        label="b",
                    ),
                    entry("broken", 0, error_occurred=True, error_message="no device"),
                    entry("left", 0, skipped=True, skip_message="needs AVX"),
                ],
            }
        },
    )
    assert values(rows)[2:] == [
        ("all", "throughput", "mean", 4e6, "bytes/s", 4e6, "B/s", 1),
        ("all", "throughput", "mean", 250, "items/s", 250, "op/s", 1),
        ("all", "allocations", "mean", 3, "allocs", 3, "count", 1),
        ("all", "memory", "mean", 2048, "bytes", 2048, "B", 1),
        ("all", "cache_misses", "mean", 7, None, 7, None, 1),
        ("broken", *[None] * 7),
        ("left", *[None] * 7),
    ]
    assert [row["better"] for row in rows] == [
        "lower",
        "lower",
        "higher",
        "higher",
        "lower",
        "lower",
        "unknown",
        "unknown",
        "unknown",
    ]
    assert [(row["status"], row["failure"], row["failure_detail"]) for row in rows[-2:]] == [
        ("failed", "unknown", "no device"), ("not_run", None, "needs AVX"),
    ]  # fmt: skip


def test_aggregates_of_old_versions_are_told_by_their_names(tmp_path: Path) -> None:
    """Without `run_type`; `take_mean` is its own benchmark, since there is no `take_stddev`."""
    old = [
        {"name": name, "iterations": 1, "real_time": real, "cpu_time": 1, "time_unit": "ns"}
        for name, real in (
            ("copy", 2),
            ("copy", 4),
            ("copy_mean", 3),
            ("copy_stddev", 1.5),
            ("take_mean", 9),
        )
    ]
    rows = measured_in(
        tmp_path, {"g.json": {"context": {"date": "2016-08-02 17:44:46"}, "benchmarks": old}}
    )
    time = [row for row in rows if row["metric"] == "time"]
    assert [one[:4] for one in values(time)] == [
        ("copy", "time", "mean", 3),
        ("copy", "time", "median", 3),
        ("take_mean", "time", "mean", 9),
    ]
    assert spread(time[0])[:3] == ("std", 1.5e-6, 4.5e-6)
    assert not time[0]["tz_known"]


def test_pyperf(tmp_path: Path) -> None:
    def run(*found: float, **more: Any) -> dict[str, Any]:
        return {
            "metadata": {"date": f"2026-01-02 03:04:0{len(found)}", "duration": 0.5},
            "warmups": [[64, 99.0]],
            "values": list(found),
        } | more

    calibration = {
        "metadata": {"calibrate_loops": 64, "date": "2026-01-01 00:00:00"},
        "warmups": [[1, 50.0], [64, 60.0]],
    }
    rows = measured_in(
        tmp_path,
        {
            "p.json": {
                "benchmarks": [
                    {
                        "metadata": {"name": "sum", "timeit_stmt": "sum(x)"},
                        "runs": [calibration, run(0.25, 0.5), run(0.75)],
                    },
                    {"metadata": {"name": "peak", "unit": "byte"}, "runs": [run(4096)]},
                    {"metadata": {"name": "calls", "unit": "integer"}, "runs": [run(7)]},
                    {"metadata": {"name": "never"}, "runs": [calibration]},
                ],
                "metadata": {
                    "hostname": "box",
                    "cpu_model_name": "Fast",
                    "python_version": "3.13",
                    "loops": 64,
                },
                "version": "1.0",
            },
        },
    )
    assert values(rows) == [
        ("sum", "time", "mean", 0.5, "second", 500, "ms", 3),
        ("sum", "time", "median", 0.5, "second", 500, "ms", 3),
        ("peak", "memory", "mean", 4096, "byte", 4096, "B", 1),
        ("peak", "memory", "median", 4096, "byte", 4096, "B", 1),
        ("calls", "value", "mean", 7, None, 7, None, 1),
        ("calls", "value", "median", 7, None, 7, None, 1),
    ]
    assert spread(rows[0]) == ("std", 250, 750, [250, 500, 750])
    assert spread(rows[2]) == ("none", None, None, [4096])
    assert (rows[0]["params"], rows[0]["machine"]) == ({"timeit_stmt": "sum(x)"}, "box, Fast")
    assert rows[0]["measured_at"] == datetime(2026, 1, 2, 3, 4, 1, tzinfo=UTC)


ASV = {
    "commit_hash": HASH,
    "env_name": "venv-py3.12",
    "date": 1386688801000,
    "python": "3.12",
    "requirements": {"numpy": "2.0"},
    "env_vars": {},
    "params": {
        "machine": "box",
        "cpu": "Fast",
        "os": "Linux",
        "ram": "8G",
        "numpy": "2.0",
        "python": "3.12",
    },
}
COLUMNS = [
    "result",
    "params",
    "version",
    "started_at",
    "duration",
    "stats_ci_99_a",
    "stats_ci_99_b",
    "stats_q_25",
    "stats_q_75",
    "stats_number",
    "stats_repeat",
    "samples",
    "profile",
]
STARTED = 1767323045000
"""2026-01-02 03:04:05 UTC, in ms."""


def asv_results(version: str) -> dict[str, Any]:
    return ASV | {
        "version": 2,
        "result_columns": COLUMNS,
        "results": {
            "suite.time_sort": [
                [0.5, None, float("nan"), 0.25],
                [["'a'", "'b'"], ["10", "20"]],
                version,
                STARTED,
                9.5,
                [0.25, None, None, float("-inf")],
                [0.75, None, None, float("inf")],
                [0.375, None, None, 0.125],
                [0.625, None, None, 0.375],
                [1, None, None, 1],
                [10, None, None, 2],
            ],
            "suite.mem_table": [[2048], [], version],
            "suite.track_hits": [[0.75], [], version],
            "suite.time_gone": [None, [["1", "2"]], version],
            "suite.time_kept": [
                [0.5],
                [],
                version,
                STARTED,
                None,
                None,
                None,
                None,
                None,
                None,
                None,
                [[0.5, 0.75]],
            ],
        },
    }


def asv_definitions() -> dict[str, Any]:
    def benchmark(kind: str, unit: str, *names: str) -> dict[str, Any]:
        return {
            "type": kind,
            "unit": unit,
            "param_names": list(names),
            "version": "v1",
            "code": "...",
        }

    return {
        "suite.time_sort": benchmark("time", "seconds", "order", "n"),
        "suite.mem_table": benchmark("memory", "bytes"),
        "suite.track_hits": benchmark("track", "unit"),
        "suite.time_gone": benchmark("time", "seconds", "n"),
        "suite.time_kept": benchmark("time", "seconds"),
        "version": 2,
    }


def test_asv_version_2_with_its_definitions(tmp_path: Path) -> None:
    rows = measured_in(
        tmp_path,
        {
            "results/benchmarks.json": asv_definitions(),
            "results/box/0123abcd-py.json": asv_results("v1"),
        },
    )
    assert values(rows) == [
        ("suite.time_sort", "time", "median", 0.5, "seconds", 500, "ms", 10),
        ("suite.time_sort", *[None] * 7),
        ("suite.time_sort", *[None] * 7),
        ("suite.time_sort", "time", "median", 0.25, "seconds", 250, "ms", 2),
        ("suite.mem_table", "memory", None, 2048, "bytes", 2048, "B", None),
        ("suite.track_hits", "track_hits", None, 0.75, None, 0.75, None, None),
        ("suite.time_gone", *[None] * 7),
        ("suite.time_gone", *[None] * 7),
        ("suite.time_kept", "time", None, 0.5, "seconds", 500, "ms", 2),
    ]
    assert [row["status"] for row in rows] == [
        "ok",
        "failed",
        "not_run",
        "ok",
        "ok",
        "ok",
        "failed",
        "failed",
        "ok",
    ]
    assert [row["better"] for row in rows if row["status"] == "ok"] == [
        "lower",
        "lower",
        "lower",
        "unknown",
        "lower",
    ]
    assert [spread(rows[place]) for place in (0, 3, 8)] == [
        ("ci", 250, 750, []), ("iqr", 125, 375, []), ("samples", None, None, [500, 750]),
    ]  # fmt: skip
    environment = {"python": "3.12", "numpy": "2.0", "benchmark_version": "v1"}
    assert [row["params"] for row in rows[:4]] == [
        environment | {"order": order, "n": n}
        for order, n in (("'a'", "10"), ("'a'", "20"), ("'b'", "10"), ("'b'", "20"))
    ]
    assert (rows[0]["commit_full"], rows[0]["machine"], rows[0]["measured_at"]) == (
        HASH,
        "box, Fast",
        datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    )
    assert rows[4]["measured_at"] is None, "the date of the commit is not that of the run"


@pytest.mark.parametrize("beside", [{}, {"results/benchmarks.json": asv_definitions()}])
def test_asv_without_definitions_or_with_those_of_another_version(
    tmp_path: Path, beside: dict[str, Any]
) -> None:
    """The name of a benchmark gives its type, and that its unit, as in asv itself."""
    rows = measured_in(tmp_path, beside | {"results/box/0123abcd-py.json": asv_results("v2")})
    assert values(rows)[0] == ("suite.time_sort", "time", "median", 0.5, "seconds", 500, "ms", 10)
    assert {row["benchmark"]: (row["unit"], row["better"]) for row in rows if row["value"]} == {
        "suite.time_sort": ("ms", "lower"),
        "suite.mem_table": ("B", "lower"),
        "suite.track_hits": (None, "unknown"),
        "suite.time_kept": ("ms", "lower"),
    }
    assert rows[0]["params"].items() >= {"param1": "'a'", "param2": "10"}.items()


@pytest.mark.parametrize(("machine", "values_read"), [("box", 9), ("van", 0)])
def test_asv_of_another_machine_than_its_folder_is_refused(
    tmp_path: Path, machine: str, values_read: int
) -> None:
    """As asv does with results that were copied into the folder of another machine."""
    beside = {"results/box/machine.json": {"machine": "box", "version": 1}}
    result = asv_results("v1") | {"params": {"machine": machine}}
    assert (
        len(measured_in(tmp_path, beside | {"results/box/0123abcd-py.json": result})) == values_read
    )
    assert [detail.rpartition(": ")[2] for detail in refusals(tmp_path)] == [
        f"its machine is {machine!r}, machine.json beside it says 'box'; asv ignores it"
    ][values_read:]


def test_asv_version_1(tmp_path: Path) -> None:
    definitions = {"time_a": {"type": "time", "unit": "seconds"}}
    rows = measured_in(
        tmp_path,
        {
            "results/benchmarks.json": definitions,
            "results/box/a.json": ASV
            | {
                "version": 1,
                "started_at": {"time_a": STARTED},
                "results": {
                    "time_a": 0.5,
                    "time_b": None,
                    "time_c": {"params": [["1", "2"]], "result": [0.25, float("nan")]},
                    "time_d": {
                        "result": 1,
                        "stats": [{"ci_99": [0.5, 1.5], "q_25": 0.75, "q_75": 1.25, "repeat": 5}],
                    },
                },
            },
        },
    )
    assert [one[:4] for one in values(rows)] == [
        ("time_a", "time", None, 0.5),
        ("time_b", None, None, None),
        ("time_c", "time", None, 0.25),
        ("time_c", None, None, None),
        ("time_d", "time", "median", 1),
    ]
    assert [row["status"] for row in rows] == ["ok", "failed", "ok", "not_run", "ok"]
    assert (spread(rows[4])[:3], rows[4]["n"]) == (("ci", 500, 1500), 5)
    assert rows[0]["measured_at"] == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def estimates(mean: float, slope: float | None) -> dict[str, Any]:
    def estimate(value: float) -> dict[str, Any]:
        interval = {"confidence_level": 0.95, "lower_bound": value - 2, "upper_bound": value + 4}
        return {"confidence_interval": interval, "point_estimate": value, "standard_error": 1.5}

    found = {
        name: estimate(value)
        for name, value in (
            ("mean", mean),
            ("median", mean - 1),
            ("median_abs_dev", 1.0),
            ("std_dev", 3.0),
        )
    }
    return found | {"slope": None if slope is None else estimate(slope)}


def test_criterion(tmp_path: Path) -> None:
    """The folders say which benchmark and which variant.

    `sample.json` beside has the runs, `benchmark.json` the name.
    """
    folder = "target/criterion/codec/encode/64"
    rows = measured_in(
        tmp_path,
        {
            f"{folder}/base/estimates.json": estimates(200, 190),
            f"{folder}/base/sample.json": {
                "sampling_mode": "Linear",
                "iters": [1, 2, 4],
                "times": [200, 420, 760],
            },
            f"{folder}/change/estimates.json": {
                "mean": estimates(1, 1)["mean"],
                "median": estimates(1, 1)["mean"],
            },
            f"{folder}/new/estimates.json": estimates(100, None),
            f"{folder}/new/benchmark.json": {
                "group_id": "codec",
                "function_id": "encode",
                "value_str": "64",
                "full_id": "codec/encode/64",
            },
            f"{folder}/report/sample.json": {"iters": [2, 2], "times": [100, 200]},
        },
    )
    name = "codec/encode/64"
    assert values(rows) == [
        (name, "time", "mean", 200, "ns", pytest.approx(200e-6), "ms", 3),
        (name, "time", "median", 199, "ns", pytest.approx(199e-6), "ms", 3),
        (name, "time", "slope", 190, "ns", pytest.approx(190e-6), "ms", 3),
        (name, "time", "mean", 100, "ns", pytest.approx(100e-6), "ms", None),
        (name, "time", "median", 99, "ns", pytest.approx(99e-6), "ms", None),
        (name, "time", "mean", 75, "ns", pytest.approx(75e-6), "ms", 2),
    ]
    assert [row["variant"] for row in rows] == ["baseline"] * 3 + ["candidate"] * 2 + [None]
    assert len({row["batch"] for row in rows[:5]}) == 1
    assert rows[0]["batch"].endswith(folder)
    assert spread(rows[0]) == (
        "ci",
        *map(pytest.approx, (198e-6, 204e-6)),
        pytest.approx([200e-6, 210e-6, 190e-6]),
    )
    assert spread(rows[2])[3] == []
    assert not refusals(tmp_path)


ALIKE: dict[str, Any] = {
    "package.json": {
        "name": "benchmarks",
        "version": "1.0",
        "runs": 3,
        "benchmarks": {"real_time": 1, "cpu_time": 2},
    },
    "machine.json": {"machine": "box", "cpu": "Fast", "version": 1},
    "commits.json": [{"commit_hash": HASH, "requirements": {}, "results": []}],
    "results.json": {"results": [{"command": "x"}], "mean": 1},
    "iterations.json": {"iters": [1, 2], "times": ["a", "b"]},
    "pyperf-like.json": {
        "version": "1.0",
        "benchmarks": [{"runs": [{"metadata": {}}], "values": []}],
    },
}
"""JSON with a tool's words, which is none of its results."""


def test_ordinary_json_is_neither_read_nor_rejected(tmp_path: Path) -> None:
    assert measured_in(tmp_path, ALIKE) == []
    assert not refusals(tmp_path)


def test_a_cut_result_is_rejected_with_its_tool(tmp_path: Path) -> None:
    whole = (
        '{"machine_info": {}, "commit_info": {}, "benchmarks": [{"name": "a", "stats": {"mean": 1'
    )
    assert (
        measured_in(
            tmp_path,
            {
                "cut.json": whole,
                "empty.json": '{"machine_info": {}, "commit_info": {}, "benchmarks": []}',
            },
        )
        == []
    )
    assert refusals(tmp_path) == [
        "pytest-benchmark: it holds no values",
        "pytest-benchmark: it is no valid JSON, and may be cut off",
    ]


def test_a_number_larger_than_any_float_is_no_value(tmp_path: Path) -> None:
    huge = json.dumps({"results": [{"command": "x", "mean": 1, "max": 0, "times": [1]}]}).replace(
        '"max": 0', f'"max": {10**400}'
    )
    rows = measured_in(
        tmp_path, {"h.json": huge, "sample.json": f'{{"iters": [{10**400}], "times": [1]}}'}
    )
    assert [one[:4] for one in values(rows)] == [("x", "time", "mean", 1)]


@pytest.mark.parametrize(
    "tool", [tool for tool in TOOLS if not tool.marks_suffice], ids=lambda tool: tool.name
)
def test_broken_json_with_the_words_of_a_text_is_no_result(tool: Any) -> None:
    assert (
        read_measurements(MeasuredFile("notes.json", '{"text": "' + " ".join(tool.marks)), "s")
        is None
    )


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", "1", '{"results": 1}', "Benchmark", "[[1]]"]
)
def test_no_tool_takes_what_is_not_its_own(tool: Any, text: str) -> None:
    reading = read_measurements(MeasuredFile("x.json", " ".join(tool.marks) + text), "s")
    assert reading is None or not len(reading.rows)
