"""Logs of optimization loops that are tables: columns, words, damage, and tables that are none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.loops.base import Loop
from ingest.loops.formats import possible_formats
from ingest.loops.tables import ITERATION_TABLE, RESULTS_TABLE
from ingest.measurements.base import MeasuredFile
from schemas.rows.loop import CostBasis
from schemas.units import Better

RESULTS = """commit\tval_bpb\tmemory_gb\tstatus\tdescription
a1b2c3d\t0.997900\t44.0\tkeep\tbaseline
b2c3d4e\t0.986041\t43.9\tkeep\thalve the batch
c3d4e5f\t0.991200\t43.9\tdiscard\tmore warm-up
d4e5f6a\t0.000000\t0.0\tcrash\tdouble the width (OOM)
e5f6a7b\t0.981773\t60.2\tkeep\tone more layer
"""


def loops(
    text: str, beside: dict[str, str] | None = None, folder: Path | None = None
) -> list[Loop]:
    for name, content in (beside or {}).items():
        assert folder
        (folder / name).write_text(content)
    file = MeasuredFile(
        "results.tsv", text, (lambda name: folder / name) if folder else (lambda _: None)
    )
    for each in (ITERATION_TABLE, RESULTS_TABLE):
        if each.may_hold(text) and (found := list(each.read(file))):
            return found
    return []


def loop(text: str, beside: dict[str, str] | None = None, folder: Path | None = None) -> Loop:
    [found] = loops(text, beside, folder)
    return found


def states(found: Loop) -> list[str]:
    return [str(one.state) for one in found.experiments]


def test_results() -> None:
    found = loop(RESULTS)
    assert (found.metric, found.better, found.better_from) == (
        "val_bpb",
        Better.LOWER,
        "the metric's name",
    )
    assert states(found) == ["baseline", "kept", "discarded", "crashed", "kept"]
    assert [one.value for one in found.experiments] == [0.9979, 0.986041, 0.9912, None, 0.981773]
    assert found.experiments[1].commit == "b2c3d4e"
    assert found.experiments[1].secondary == {"memory_gb": 43.9}
    assert found.no_gain is None


def test_a_total_of_energy_is_no_metric() -> None:
    head, *rows = RESULTS.splitlines()
    spent = [f"{row}\t{500 + place}\t{place * 7 % 4}50000.5" for place, row in enumerate(rows)]
    lines = [f"{head}\twatts\ttotal_energy_joules", *spent]
    assert loop("\n".join(lines)).metric == "val_bpb"


@pytest.mark.parametrize(
    "changed",
    [
        RESULTS.replace("\n", "\r\n"),
        "\ufeff" + RESULTS,
        RESULTS.replace("\t", ","),
        "Experiments of the night\n\n" + RESULTS,
        RESULTS + "✻ Baked for 36m 12s\nSUMMARY: after 5 experiments val_bpb fell, so keep going\n",
        RESULTS.replace("c3d4e5f", ("2026-03-26 "
"13:10:21\t20274\t112.63\t180.0011\ttrue\tnull\t\nc3d4e5f")),
        RESULTS + RESULTS.splitlines()[0] + "\n",
        RESULTS.replace("\tcrash", "\tOOM").replace("\tkeep", "\t**KEEP** ✅"),
        RESULTS.replace("commit\tval_bpb\tmemory_gb", '"commit"\t"val_bpb"\t"memory_gb"'),
        RESULTS + "f6a7b8c\t0.98",
        RESULTS.replace("memory_gb\tstatus", "memory_gb\tmfu\tstatus"),
        RESULTS.replace("\tkeep", ("\tkeep; promoted, since it is better on every one of the ten graphs that were "  # noqa: E501
"checked")),
    ],
    ids=["crlf", "bom", "commas", "prose", "summary", "benchmark-rows", "headings-again", "words",
         "quotes", "half-a-line", "column-that-rows-lack",
         "long-decision"],
)  # fmt: skip
def test_damaged_results_have_the_same_experiments(changed: str) -> None:
    def told(found: Loop) -> list[tuple[object, ...]]:
        return [(one.state, one.value, one.commit, one.description) for one in found.experiments]

    assert told(loop(changed)) == told(loop(RESULTS))


def test_no_headings() -> None:
    found = loop("".join(RESULTS.splitlines(keepends=True)[1:]))
    assert (found.metric, found.better) == (None, Better.LOWER)
    assert [one.value for one in found.experiments] == [0.9979, 0.986041, 0.9912, None, 0.981773]
    assert any("headings" in note for note in found.notes)


def test_no_headings_and_the_number_of_the_iteration_before_the_commit() -> None:
    """A part of a log whose beginning is lost.

    Most tries have no commit, and the first row is no baseline.
    """
    found = loop(
        "8\t-\t35261\t+14\t-\tdiscard\ttwo checks in one\n"
        "4\t-\t-\t-\t-\tcrash\tvalues on the stack\n"
        "6\tab12cd345\t9546\t-1924\tpass*\tkeep\ta flat event\n"
        "7\tbc23de456\t9194\t-352\tpass\tkeep\tone path inline\n"
    )
    assert states(found) == ["discarded", "crashed", "kept", "kept"]
    assert [one.value for one in found.experiments] == [35261.0, None, 9546.0, 9194.0]
    assert [one.label for one in found.experiments] == ["8", "4", "6", "7"]
    assert [one.commit for one in found.experiments] == [None, None, "ab12cd345", "bc23de456"]
    assert (found.better, found.no_gain) == (Better.LOWER, None)
    assert loops("8\t1234567\t35261\tkeep\tno commit\n9\t1234568\t35260\tkeep\tno commit\n") == []


@given(order=st.permutations(range(5)))
def test_columns_in_any_order(order: list[int]) -> None:
    shuffled = "".join(
        "\t".join(line.split("\t")[at] for at in order) + "\n" for line in RESULTS.splitlines()
    )
    assert loop(shuffled).experiments == loop(RESULTS).experiments
    assert loop(shuffled).metric == "val_bpb"


@given(rows=st.integers(1, 5))
def test_the_beginning_of_a_log_has_the_first_experiments(rows: int) -> None:
    beginning = "".join(RESULTS.splitlines(keepends=True)[: rows + 1])
    assert list(loop(beginning).experiments) == list(loop(RESULTS).experiments)[:rows]


ITERATIONS = """# metric_direction: lower_is_better
# goal: fewer allocations
iteration\tcommit\tmetric\tdelta\tguard\tstatus\tdescription
0\ta1b2c3d\t1061\t0.0\tpass\tbaseline\tinitial
1\tb2c3d4e\t1002\t-59.0\tpass\tkeep (reworked)\ttype switches
2\t-\t1002\t0\t-\tno-op\tno changes made
3\t-\t-\t-\tfail\tcrash\tdoes not build
4\t-\t1010\t+8\tpass\tkeep-candidate\tundecided
"""


def test_iterations() -> None:
    found = loop(ITERATIONS)
    assert (found.metric, found.better, found.better_from, found.name) == (
        "metric",
        Better.LOWER,
        "the log",
        "fewer allocations",
    )
    assert states(found) == ["baseline", "kept", "other", "crashed", "other"]
    assert [one.value for one in found.experiments] == [1061, 1002, None, None, 1010]
    assert [one.label for one in found.experiments] == ["0", "1", "2", "3", "4"]


def test_rows_on_one_line_are_two_experiments() -> None:
    """An editor wrote no end of the last line, and the next row was appended to it."""
    glued = ITERATIONS.replace("initial\n1\t", "initial 5 ms1\t")
    assert glued != ITERATIONS
    found, whole = loop(glued), loop(ITERATIONS)
    assert [(one.label, one.value, one.state) for one in found.experiments] == [
        (one.label, one.value, one.state) for one in whole.experiments
    ]
    assert found.experiments[0].description == "initial 5 ms"
    found = loop(RESULTS.replace("halve the batch\n", "halve the batch"))
    assert [(one.commit, one.description) for one in found.experiments[1:3]] == [
        ("b2c3d4e", "halve the batch"),
        ("c3d4e5f", "more warm-up"),
    ]


def test_a_log_that_begins_behind_its_baseline_has_none() -> None:
    begun = (
        "timestamp\titeration\tdecision\tmetric_value\tnote\n2026-05-06T13:24:50Z\t1\tkeep\t61\tunused "  # noqa: E501
        "assignment\n"
    )
    assert states(loop(begun)) == ["kept"]
    assert states(loop(begun.replace("\t1\tkeep", "\t0\tkeep"))) == ["baseline"]


def test_what_is_the_same_in_all_rows_of_a_model_is_its_parameter() -> None:
    found = loop(
        "commit\tmodel\tactive_B\ttok_sec\tstatus\tdescription\n"
        "a1b2c3d\t122B-A10B\t10.0\t0.9\tkeep\tbaseline\n"
        "b2c3d4e\t122B-A10B\t10.0\t1.1\tkeep\tcache\n"
        "c3d4e5f\t397B-A17B\t17.0\t0.5\tkeep\tcache\n"
        "d4e5f6a\t397B-A17B\t17.0\t0.6\tkeep\tfewer copies\n"
    )
    assert (found.metric, found.no_gain and "model" in found.no_gain) == ("tok_sec", True)


def test_a_text_beside_tells_the_direction_before_the_name(tmp_path: Path) -> None:
    program = {
        "program.md": (
            "# Matching engine\nGet the lowest score you can. Higher throughput is not the goal.\n"
        )
    }
    text = RESULTS.replace("val_bpb", "score")
    assert (loop(text, program, tmp_path).better, loop(text, program, tmp_path).better_from) == (
        Better.LOWER,
        "program.md",
    )


def test_decisions_tell_the_direction_of_a_bare_score() -> None:
    assert loop(RESULTS.replace("val_bpb", "score")).better == Better.LOWER
    one_row = "".join(RESULTS.splitlines(keepends=True)[:2])
    assert loop(one_row.replace("val_bpb", "points")).better == Better.UNKNOWN


def test_two_columns_that_may_be_the_metric() -> None:
    text = """experiment\tprecision\trecall\tstatus\tdescription
1\t0.60\t0.70\tkeep\tbaseline
2\t0.55\t0.75\tkeep\twider net
3\t0.65\t0.69\tkeep\tstricter
4\t0.62\t0.72\tkeep\tmiddle
"""
    found = loop(text)
    assert found.metric is None
    assert "precision, recall" in (found.no_gain or "")
    assert states(found) == ["kept"] * 4


def test_kernels_make_no_common_series() -> None:
    text = """experiment\ttag\tkernel_type\tthroughput_tflops\tcorrectness\tdescription
0\tbaseline\tmatmul\t15.1\tPASS\tfirst
1\ttiled\tmatmul\t136.8\tPASS\ttiles
2\tswizzle\tmatmul\t120.0\tREVERT\tslower
3\tbaseline\tsoftmax\t1.7\tPASS\tfirst
4\twide\tsoftmax\t1.6\tFAIL\twrong
"""
    found = loop(text)
    assert states(found) == ["kept", "kept", "discarded", "kept", "checks_failed"]
    assert "matmul" in (found.no_gain or "")


def test_baselines_between_tries_make_no_common_series() -> None:
    rows = [
        "0\t2678.8\tbaseline\tas it is",
        "0\t2692.5\tbaseline\tagain",
        "1\t2539.5\tkeep\tunrolled",
        "2\t2277.3\tkeep\tinlined",
    ]
    head = "iteration\tmetric\tresult\tdescription"
    found = loop("\n".join((head, *rows)))
    assert (states(found), found.no_gain) == (
        ["baseline", "baseline", "kept", "kept"],
        None,
    )  # measured twice before anything was tried
    found = loop(
        "\n".join((head, *rows, "new\t3557\tbaseline\tanother benchmark", "3\t1515\tkeep\tcached"))
    )
    assert (
        loop("\n".join((head, *rows, "end\t2280.1\tbaseline\tfinal average of five"))).no_gain
        is None
    )
    assert found.no_gain == (
        "It has 3 baselines: what the values are compared with was measured anew or changed "
        "again and again."
    )


def test_a_sweep_keeps_nothing() -> None:
    rows = "".join(f"{n}\t{10 + n / 10}\tb{n // 2}_r{n % 2}\tok\tx\n" for n in range(6))
    found = loop(
        f"exp_id\ttok_s\tlabel\tstatus\tnotes\n{rows}7\t0.000\tbig\tcrash\tdoes not "
        "load\n8\t0.000\tbig2\tcrash\tx\n"
    )
    assert (found.metric, found.better) == ("tok_s", Better.HIGHER)
    assert states(found) == ["other"] * 6 + ["crashed"] * 2
    assert "kept" in (found.no_gain or "")
    assert [one.repeats for one in found.experiments] == [None, 1, None, 3, None, 5, None, None]


def test_changes_have_no_baseline() -> None:
    text = """iter\timprovement_pct\tp_value\tstatus\tdescription
1\t+0.15\t0.66\tdiscard\tno effect
2\t+1.89\t0.03\tkeep\tfused
NOTE: iterations 1 and 2 ran without the native target. Do not keep comparing them with 3.
3\t-\t-\tcorrectness_fail\twrong
"""
    found = loop(text)
    assert (found.metric, found.better, states(found)) == (
        "improvement_pct",
        Better.HIGHER,
        ["discarded", "kept", "other"],
    )
    assert found.no_gain


@pytest.mark.parametrize("failure", ["-999.000", "-1", "999999"])
def test_values_that_stand_for_a_failure(failure: str) -> None:
    text = f"commit\tsharpe\tstatus\tdescription\nexp0\t0.41\tBASELINE\tx\nexp1\t1.079\tKEEP\ty\nexp2\t{failure}\tREVERT\tz\n"  # noqa: E501
    assert [one.value for one in loop(text).experiments] == [0.41, 1.079, None]


def test_zeros_that_measured_nothing() -> None:
    text = "commit\tlatency_ms\tstatus\tdescription\na1b2c3d\t0\tkeep\trefactor\nb2c3d4e\t12.5\tkeep\tbase\nc3d4e5f\t11.0\tkeep\tbetter\n"  # noqa: E501
    assert [one.value for one in loop(text).experiments] == [None, 12.5, 11.0]
    failures = (
        text.replace("latency_ms", "failing_tests").replace("\t0\t", "\t40\t").replace("11.0", "0")
    )
    assert loop(failures).experiments[-1].value == 0


def test_costs_times_and_more() -> None:
    text = """commit\tavg_score\tpassed\tcost_usd\ttokens\twall_s\ttimestamp\tstatus\tdescription
a1b2c3d\t0.50\t5/10\t$1.25\t1,200\t90\t2026-03-19T00:49:23-04:00\tkeep\tbaseline
b2c3d4e\t0.60\t6/10\t1.5\t-\t80\t2026-03-19T01:49:23-04:00\tkeep\tbetter prompt
"""
    first = loop(text).experiments[0]
    assert (str(first.cost_usd), first.tokens, first.duration_ms) == ("1.25", 1200, 90_000)
    assert first.at is not None
    assert first.at.isoformat() == "2026-03-19T00:49:23-04:00"
    assert loop(text).cost_basis is CostBasis.EVALUATED
    assert loop(text).metric == "avg_score"


def test_new_headings_begin_a_new_loop() -> None:
    found = loops(RESULTS + RESULTS.replace("val_bpb", "tok_per_sec"))
    assert [(one.metric, one.segment, len(one.experiments)) for one in found] == [
        ("val_bpb", 0, 5),
        ("tok_per_sec", 1, 5),
    ]


def test_a_cell_of_a_megabyte() -> None:
    assert (
        len(loop(RESULTS.replace("more warm-up", "x" * (1 << 20))).experiments[2].description or "")
        == 1 << 20
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        RESULTS.splitlines()[0],
        "iteration\tcommit\tfinding\tseverity\tstatus\n1\ta1b2c3d\tsql\thigh\tkeep\n2\t-\txss\tlow\tdiscard\n",
        "name,status,seconds\ntest_a,passed,0.1\ntest_b,failed,0.2\ntest_c,error,0.3\n",
        "paper\tauthors\trating\tdecision\nOn loops\tA, B\t6.5\treject\nOn loss\tC\t7.5\taccept\n",
        "patient,visit,score\n1,baseline,3.1\n1,week 4,2.9\n2,baseline,4.0\n",
        "step,energy,accepted\n1,-3.2,1\n2,-3.1,0\n3,-3.4,1\n",
        "variant,metric,value\nbaseline,latency_ms,12\ncandidate,latency_ms,11\n",
        "sample\tmz\tintensity\tkept\nA\t1.2\t100\tx\nB\t1.3\t90\tz\n",
        "Keep the status of every commit in the description, and discard 3 of 5.\nWe keep 4.\n",
        '{"status": "keep", "metric": 3, "commit": "a1b2c3d"}\n',
    ],
)
def test_other_tables_are_no_logs_of_loops(text: str) -> None:
    assert loops(text) == []


def test_other_texts_are_not_asked() -> None:
    assert not possible_formats("def f(x):\n    return x\n")
