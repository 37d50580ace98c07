"""What tools print about functions: `go test -bench`, `cargo bench` and `asv run`."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.measurements.base import MeasuredFile
from ingest.measurements.tools import read_measurements
from schemas.rows.measurement import MeasurementRow
from tests.measuring import measured_in, rows_read, spread, values

GO = """\
?   	example.org/codec/cmd	[no test files]
goos: linux
goarch: amd64
pkg: example.org/codec
cpu: Fast CPU @ 3 GHz
commit: 0123456789abcdef
Unit hits/op better=higher assume=exact
BenchmarkEncode
BenchmarkEncode/size=64-8         	 5000000	       300 ns/op	  20.00 MB/s	      48 B/op	       2 allocs/op
BenchmarkEncode/size=64-8         	 5000000	       500 ns/op	  12.00 MB/s	      48 B/op	       2 allocs/op
BenchmarkEncode/size=64-8         	 4999999	       310.5 ns/op	  19.32 MB/s	      64 B/op	       3 allocs/op
BenchmarkHit-8	100	1.5e3 ns/op	7 hits/op	3 auxMetricUnits
--- SKIP: BenchmarkGPU
    bench_test.go:12: no device
--- FAIL: BenchmarkBroken-8
    bench_test.go:20: wrong answer
FAIL
PASS
ok  	example.org/codec	3.614s
goos: linux
goarch: amd64
pkg: example.org/codec/fast
BenchmarkHit-8   	     100	      25 ns/op
panic: index out of range [3] with length 3
FAIL	example.org/codec/slow [build failed]
"""  # noqa: E501


def test_go_runs_of_one_name_are_samples_of_one_row(tmp_path: Path) -> None:
    rows = measured_in(tmp_path, {"bench.txt": GO})
    encode, hit = "example.org/codec.BenchmarkEncode/size=64-8", "example.org/codec.BenchmarkHit-8"
    assert values(rows) == [
        (encode, "time", "median", 310.5, "ns/op", pytest.approx(310.5e-6), "ms", 3),
        (encode, "throughput", "median", 19.32, "MB/s", pytest.approx(19.32e6), "B/s", 3),
        (encode, "allocated_bytes", "median", 48, "B/op", 48, "B", 3),
        (encode, "allocations", "median", 2, "allocs/op", 2, "count", 3),
        (hit, "time", "median", 1500, "ns/op", pytest.approx(0.0015), "ms", 1),
        (hit, "hits_op", "median", 7, "hits/op", 7, "hits/op", 1),
        (hit, "aux_metric_units", "median", 3, "auxMetricUnits", 3, "auxMetricUnits", 1),
        (
            "example.org/codec/fast.BenchmarkHit-8",
            "time",
            "median",
            25,
            "ns/op",
            pytest.approx(25e-6),
            "ms",
            1,
        ),
        ("example.org/codec.BenchmarkGPU", *[None] * 7),
        ("example.org/codec.BenchmarkBroken-8", *[None] * 7),
        ("example.org/codec/fast", *[None] * 7),
        ("example.org/codec/slow", *[None] * 7),
    ]
    assert [row["better"] for row in rows[:8]] == [
        "lower",
        "higher",
        "lower",
        "lower",
        "lower",
        "higher",
        "unknown",
        "lower",
    ]
    assert spread(rows[0]) == ("samples", None, None, pytest.approx([300e-6, 500e-6, 310.5e-6]))
    assert spread(rows[4])[:3] == ("none", None, None)
    assert (rows[0]["machine"], rows[0]["commit_full"], rows[0]["params"]) == (
        "linux/amd64, Fast CPU @ 3 GHz",
        "0123456789abcdef",
        {},
    )
    assert [(row["status"], row["failure"]) for row in rows[8:]] == [
        ("not_run", None), ("failed", "unknown"), ("failed", "crash"), ("failed", "unknown"),
    ]  # fmt: skip


def test_go_runs_under_another_configuration_are_another_row() -> None:
    """Two halves of a file, before and after a change, must not be averaged."""
    rows = read(
        "note: before\nBenchmarkX 1 100 ns/op\nBenchmarkX 1 102 ns/op\nnote: "
        "after\nBenchmarkX 1 50 ns/op\nnote:\nBenchmarkX 1 9 ns/op\n"
    )
    assert [(row.value_raw, row.n, row.params) for row in rows] == [
        (101, 2, '{"note": "before"}'),
        (50, 1, '{"note": "after"}'),
        (9, 1, None),
    ]


QUOTING = {
    "markdown": "# Results\n\n```\n{}```\n",
    "python": 'OUTPUT = """\\\n{}"""\n',
    "reST": ".. code-block:: text\n\n{}\nThat is all.\n",
}


@pytest.mark.parametrize("page", QUOTING.values(), ids=QUOTING)
@pytest.mark.parametrize("name", ["GO", "CRITERION", "LIBTEST", "ASV"])
def test_a_page_or_source_code_that_quotes_an_output_is_none(page: str, name: str) -> None:
    output = globals()[name]
    assert read_measurements(MeasuredFile("x", output), "s") is not None
    assert read_measurements(MeasuredFile("x", page.format(output)), "s") is None


@pytest.mark.parametrize(
    "text",
    [
        (
            "We ran\nBenchmarkX-8 100 25 ns/op\nand were pleased.\nThen we ran another "
            "one\nBenchmarking 3 files took 5 s\n"
        ),
        "Benchmark 3 5.5 s\nBenchmarks 3 5.5 s\n",
        "pkg: example.org\nBenchmarkX-8\nBenchmarkY-8 100\nPASS\n",
    ],
)
def test_words_about_benchmarks_are_no_output_of_go(text: str) -> None:
    assert read_measurements(MeasuredFile("notes.txt", text), "s") is None


CRITERION = """\
     Running benches/codec.rs (target/release/deps/codec-f36c88332bd25d23)
Benchmarking encode
Benchmarking encode: Warming up for 3.0000 s
Benchmarking encode: Collecting 50 samples in estimated 5.0000 s (3.3B iterations)
Benchmarking encode: Analyzing
\x1b[1mencode\x1b[0m                  time:   [999.50 ns \x1b[1m1.0010 µs\x1b[0m 1.0020 µs]
                        thrpt:  [952.00 MiB/s 1.0000 GiB/s 1.1000 GiB/s]
                        change:
                        time:   [-2.0565% -0.2521% +1.6377%] (p = 0.79 > 0.05)
                        thrpt:  [-1.6113% +0.2528% +2.0997%]
                        No change in performance detected.
Found 8 outliers among 50 measurements (16.00%)
  6 (12.00%) high mild

Encoder: a name with spaces
                        time:   [16.652 ms 18.019 ms 19.562 ms]
                        thrpt:  [1.5000 Kelem/s 2.0000 Kelem/s 2.5000 Kelem/s]
thread 'main' panicked at benches/codec.rs:42:5:
explicit panic
error: bench failed
"""


def test_criterion_prints_an_estimate_between_two_bounds(tmp_path: Path) -> None:
    rows = measured_in(tmp_path, {"bench.log": CRITERION})
    spaces = "Encoder: a name with spaces"
    assert values(rows) == [
        ("encode", "time", "mean", 1.001, "µs", pytest.approx(0.001001), "ms", 50),
        ("encode", "throughput", "mean", 1.0, "GiB/s", 2.0**30, "B/s", 50),
        (spaces, "time", "mean", 18.019, "ms", 18.019, "ms", None),
        (spaces, "throughput", "mean", 2.0, "Kelem/s", 2000, "op/s", None),
        (None, *[None] * 7),
    ]
    assert [spread(row) for row in rows[:3]] == [
        ("ci", pytest.approx(0.0009995), pytest.approx(0.001002), []),
        ("ci", 952 * 2.0**20, pytest.approx(1.1 * 2.0**30), []),
        ("ci", 16.652, 19.562, []),
    ]
    assert (rows[0]["format"], rows[0]["scope"], rows[3]["better"]) == (
        "criterion-text",
        "micro",
        "higher",
    )
    assert (rows[4]["status"], rows[4]["failure"]) == ("failed", "crash")
    assert rows[4]["failure_detail"] == "thread 'main' panicked at benches/codec.rs:42:5:"


LIBTEST = """\
running 3 tests
test codec::checks ... ignored
test codec::encode ... bench:   1,672,496 ns/iter (+/- 10,166) = 38 MB/s
test codec::decode ... bench:         329.25 ns/iter (+/- 4.50)
"""
LIBTEST_END = (
    "test codec::broken ... FAILED\n\ntest result: FAILED. 0 passed; 1 failed; 1 ignored; 2 "
    "measured; 0 filtered out; finished in 6.1s\n"
)


@pytest.mark.parametrize(
    ("text", "around"),
    [
        (LIBTEST, ("std", pytest.approx(1.66233), pytest.approx(1.682662))),
        (LIBTEST + LIBTEST_END, ("none", None, None)),
    ],
)
def test_libtest_prints_medians(text: str, around: tuple[object, ...]) -> None:
    """`+/-` is a standard deviation only where criterion prints this form.

    Libtest's is the distance of the two extremes.
    """
    rows = read(text)
    assert [
        (row.benchmark, row.metric, row.statistic, row.value_raw, row.unit_raw, row.unit)
        for row in rows
        if row.metric
    ] == [
        ("codec::encode", "time", "median", 1_672_496, "ns/iter", "ms"),
        ("codec::encode", "throughput", "median", 38, "MB/s", "B/s"),
        ("codec::decode", "time", "median", 329.25, "ns/iter", "ms"),
    ]
    assert (rows[0].spread_kind, rows[0].spread_lo, rows[0].spread_hi) == around
    assert [(row.benchmark, row.status) for row in rows[3:]] == [
        ("codec::broken", "failed")
    ] * text.endswith(LIBTEST_END)


ASV = """\
· Running 8 total benchmarks (1 commits * 2 environments * 4 benchmarks)
[  0.00%] · For codec commit 4238c44d <main>:
[  0.00%] ·· Building for virtualenv-py3.11.
[  0.00%] ·· Benchmarking virtualenv-py3.11
[ 10.00%] ··· Running (suite.time_encode--)....
[ 30.00%] ··· suite.mem_table                                          2.42k
[ 35.00%] ··· suite.mem_small                                            344
[ 40.00%] ··· suite.time_encode                                  11.1±0.25μs
[ 45.00%] ··· suite.track_hits                                          0.75
[ 50.00%] ··· suite.Cases.time_sort                                       ok
[ 50.00%] ··· ====== ============ ======== ============
              --                         module
              ------------------- ---------------------
               size   contiguous    fast       slow
              ====== ============ ======== ============
                20      contig     2±1ms    3±0.5ms
                20      nocont      n/a      failed
              ====== ============ ======== ============

[ 50.00%] ·· Benchmarking virtualenv-py3.12
[ 70.00%] ··· suite.peakmem_table                                      1.50M
[ 80.00%] ··· suite.time_broken                                       failed
[100.00%] ··· suite.time_n                                       1/2 failed
[100.00%] ··· ===== ========
                n
              ----- --------
                1    1.50m
                2    failed
              ===== ========
"""


def test_asv_prints_values_and_tables(tmp_path: Path) -> None:
    rows = measured_in(tmp_path, {"asv.log": ASV})
    sort = "suite.Cases.time_sort"
    assert values(rows) == [
        ("suite.mem_table", "memory", None, 2.42, "kB", 2420, "B", None),
        ("suite.mem_small", "memory", None, 344, "B", 344, "B", None),
        ("suite.time_encode", "time", "median", 11.1, "μs", pytest.approx(0.0111), "ms", None),
        ("suite.track_hits", "track_hits", None, 0.75, None, 0.75, None, None),
        (sort, "time", "median", 2, "ms", 2, "ms", None),
        (sort, "time", "median", 3, "ms", 3, "ms", None),
        (sort, *[None] * 7),
        (sort, *[None] * 7),
        ("suite.peakmem_table", "memory", None, 1.5, "MB", 1.5e6, "B", None),
        ("suite.time_broken", *[None] * 7),
        ("suite.time_n", "time", None, 1.5, "min", 90_000, "ms", None),
        ("suite.time_n", *[None] * 7),
    ]
    assert [row["status"] for row in rows[4:]] == [
        "ok",
        "ok",
        "not_run",
        "failed",
        "ok",
        "failed",
        "ok",
        "failed",
    ]
    assert spread(rows[2])[:3] == ("iqr", pytest.approx(0.01085), pytest.approx(0.01135))
    assert rows[5]["params"] == {
        "environment": "virtualenv-py3.11",
        "size": "20",
        "contiguous": "contig",
        "module": "slow",
    }
    assert rows[10]["params"] == {"environment": "virtualenv-py3.12", "n": "1"}
    assert {row["commit_full"] for row in rows} == {"4238c44d"}


def read(text: str) -> tuple[MeasurementRow, ...]:
    return rows_read(read_measurements(MeasuredFile("log.txt", text), "s"))
