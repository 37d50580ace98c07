"""Loops whose logs are JSON lines.

Pi's, its ports', and those that write one object per experiment.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.loops.base import Loop
from ingest.loops.formats import FORMATS, possible_formats
from ingest.loops.json_lines import JSON_LINES
from ingest.loops.pi_loop import HILL_CLIMBING, PI_EVENTS, PI_LOG
from ingest.loops.words import better_said
from ingest.measurements.base import MeasuredFile
from ingest.store.database import Store
from schemas.rows.loop import CostBasis, State
from schemas.units import Better
from tests.conftest import ingest_paths

B, K, D, C, F, O = (  # noqa: E741
    State.BASELINE,
    State.KEPT,
    State.DISCARDED,
    State.CRASHED,
    State.CHECKS_FAILED,
    State.OTHER,
)

Entry = dict[str, Any]

OURS = (PI_LOG, PI_EVENTS, HILL_CLIMBING, JSON_LINES)


def text_of(*entries: dict[str, Any] | str) -> str:
    return "".join(
        f"{entry if isinstance(entry, str) else json.dumps(entry)}\n" for entry in entries
    )


def loops_in(
    *entries: dict[str, Any] | str,
    name: str = "log.jsonl",
    neighbour: Callable[[str], Path | None] = lambda _: None,
) -> list[Loop]:
    """Read a log as the ingest does: the first format that finds a loop reads it."""
    text = text_of(*entries)
    for each in OURS:
        if each.may_hold(text) and (found := list(each.read(MeasuredFile(name, text, neighbour)))):
            return found
    return []


def states(loop: Loop) -> list[State]:
    return [one.state for one in loop.experiments]


def values(loop: Loop) -> list[float | None]:
    return [one.value for one in loop.experiments]


def config(
    name: str = "Parser", metric: str = "parse_ms", unit: str = "ms", **more: Any
) -> dict[str, Any]:
    return {
        "type": "config",
        "name": name,
        "metricName": metric,
        "metricUnit": unit,
        "bestDirection": "lower",
        **more,
    }


def run(
    number: int, metric: float, status: str = "keep", segment: int = 0, **more: Any
) -> dict[str, Any]:
    at = 1_779_097_559_000 + 60_000 * number
    return {
        "run": number,
        "commit": f"{number:07x}",
        "metric": metric,
        "status": status,
        "timestamp": at,
        "segment": segment,
        **more,
    }


def test_every_format_is_registered() -> None:
    assert set(OURS) <= set(FORMATS)


# Pi's log


def test_a_pi_log_tells_metric_direction_and_states() -> None:
    [loop] = loops_in(
        config(noiseFloor=0.02, workingDir="/home/ann/parser"),
        run(
            1,
            40.0,
            asi={"hypothesis": "where we are", "evidence": "three runs"},
            metrics={"allocs": 12, "note": "cold"},
        ),
        {"type": "hook", "stage": "before", "exit_code": 0, "duration_ms": 12},
        run(2, 0, "crash"),
        run(3, 38.5, "checks_failed"),
        run(4, 39.5, "discard"),
        run(5, 36.0, description="faster lookup", iterationTokens=1200),
        run(6, 35.0, "parked"),
    )
    assert (loop.name, loop.metric, loop.unit, loop.better, loop.better_from) == (
        "Parser",
        "parse_ms",
        "ms",
        Better.LOWER,
        "the log",
    )
    assert (loop.folder, loop.noise_floor, loop.no_gain) == ("/home/ann/parser", 0.02, None)
    assert states(loop) == [B, C, F, D, K, O]
    assert values(loop) == [40.0, None, 38.5, 39.5, 36.0, 35.0]
    first, *_, last, _ = loop.experiments
    assert (first.label, first.word, first.secondary) == (
        "run 1",
        "keep",
        {"allocs": 12, "note": "cold"},
    )
    assert first.hypothesis == "where we are\nevidence: three runs"
    assert first.at is not None
    assert first.at.isoformat() == "2026-05-18T09:46:59+00:00"
    assert (last.tokens, last.description) == (1200, "faster lookup")


def test_a_configuration_behind_runs_begins_a_segment_with_its_own_baseline() -> None:
    loops = loops_in(
        config("old name"),
        config("Latency"),
        run(1, 9.0),
        run(2, 8.0),
        config("Latency", "rps", "req/s", bestDirection="higher"),
        run(3, 100.0, "discard", segment=1),
        run(4, 120.0, segment=1),
        config("never run"),
    )
    assert [(loop.segment, loop.name, loop.metric, loop.better) for loop in loops] == [
        (0, "Latency", "parse_ms", Better.LOWER),
        (1, "Latency", "rps", Better.HIGHER),
    ]
    assert [states(loop) for loop in loops] == [
        [B, K],
        [B, K],
    ]  # Pi judges by the first run, whatever its decision


def test_the_baseline_is_the_first_measured_run() -> None:
    [loop] = loops_in(
        config(), run(1, 0, "crash"), run(2, 5.0, "checks_failed"), run(3, 6.0), run(4, 5.5)
    )
    assert states(loop) == [C, F, B, K]


def test_two_sessions_in_one_log_make_no_series_from_there_on() -> None:
    loops = loops_in(
        config("green"),
        run(1, 4.0),
        config("beam"),
        run(2, 60.0, segment=1),
        run(3, 5.0),
        config("later"),
        run(4, 61.0, segment=2),
        run(5, 62.0),
    )
    assert [bool(loop.no_gain) for loop in loops] == [False, True, True]
    assert [states(loop) for loop in loops] == [[B], [K, K], [K, K]]


def test_without_its_configuration_the_metric_of_a_log_is_unknown() -> None:
    [loop] = loops_in(run(2, 1331), run(3, 0, "crash"), run(4, 1339))
    assert (loop.metric, loop.unit, loop.better, loop.baseline) == (
        None,
        None,
        Better.UNKNOWN,
        None,
    )
    assert loop.no_gain is not None
    assert states(loop) == [K, C, K]
    assert (
        loops_in(
            {"run": 1, "metric": 0.5, "status": "ok"}, {"run": 2, "metric": 0.5, "status": "ok"}
        )
        == []
    )


@pytest.mark.parametrize(
    ("metric", "unit", "direction", "expected"),
    [
        ("error_rate", "", "lower", [0.5, 0.0, 0.0]),  # it can be 0
        ("parse_ms", "ms", "lower", [0.5, None, None]),  # nothing was measured
        ("open_gaps", "gaps", "lower", [0.5, 0.0, 0.0]),
    ],
)
def test_zero_is_no_time_but_may_be_a_count(
    metric: str, unit: str, direction: str, expected: list[float | None]
) -> None:
    [loop] = loops_in(
        config("x", metric, unit, bestDirection=direction),
        run(1, 0.5),
        run(2, 0, "discard"),
        run(3, 0),
    )
    assert values(loop) == expected


def test_a_direction_that_is_not_said_follows_the_name_then_the_decisions_then_pi() -> None:
    unsaid = {key: value for key, value in config().items() if key != "bestDirection"}
    [loop] = loops_in({**unsaid, "metricName": "tok_per_sec"}, run(1, 1.0), run(2, 2.0))
    assert (loop.better, loop.better_from) == (Better.HIGHER, "the metric's name")
    [loop] = loops_in({**unsaid, "metricName": "points"}, run(1, 1.0), run(2, 2.0), run(3, 3.0))
    assert (loop.better, loop.better_from) == (Better.HIGHER, "the decisions")
    [loop] = loops_in({**unsaid, "metricName": "points"}, run(1, 1.0))
    assert (loop.better, loop.better_from) == (Better.LOWER, "the default of Pi")


def test_ports_write_other_keys() -> None:
    [loop] = loops_in(
        {"metric_name": "words", "metric_unit": "", "direction": "minimize", "name": "Skill"},
        {
            "run": 1,
            "metrics": {"words": 900, "files": 3},
            "status": "KEEP",
            "timestamp": 1_779_097_559,
        },
        {
            "run": 2,
            "metrics": {"words": 800},
            "status": "keep",
            "timestamp": "2026-05-18T09:50:00Z",
            "durationSeconds": 2.5,
            "metricEligible": False,
        },
    )
    assert (loop.metric, loop.better, values(loop), states(loop)) == (
        "words",
        Better.LOWER,
        [900.0, None],
        [B, K],
    )
    assert loop.experiments[1].secondary == {"words": 800.0}
    assert loop.experiments[1].duration_ms == 2500
    assert [one.at.year for one in loop.experiments if one.at] == [2026, 2026]


def test_kept_runs_without_commits_of_their_own_are_not_the_same_code() -> None:
    [loop] = loops_in(
        config(), *(run(number, 10.0 - number, commit="cd7845c61d65") for number in range(1, 6))
    )
    assert [one.repeats for one in loop.experiments] == [None] * 5
    [loop] = loops_in(
        config(),
        run(1, 10.0),
        run(2, 9.0),
        run(3, 9.1, commit=f"{2:07x}"),
        run(4, 8.8, "discard", description="Noise check"),
    )
    assert [one.repeats for one in loop.experiments] == [None, None, 2, 2]


def test_a_line_logged_twice_is_one_experiment() -> None:
    [loop] = loops_in(config(), run(1, 10.0), run(2, 9.0), run(2, 9.0), run(2, 9.5))
    assert values(loop) == [10.0, 9.0, 9.5]
    assert loop.notes == ["1 line is logged twice and counted once"]


def test_settings_beside_a_log_say_where_pi_worked(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"maxIterations": 5, "workingDir": "/home/ann/parser"}')
    beside = tmp_path / "config.json"
    [loop] = loops_in(
        config(),
        run(1, 2.0),
        name="x/.auto/log.jsonl",
        neighbour=lambda name: beside if name == "config.json" else None,
    )
    assert loop.folder == "/home/ann/parser"
    [loop] = loops_in(
        config(),
        run(1, 2.0),
        name="x/autoresearch.jsonl",
        neighbour=lambda name: beside if name == ".auto/log.jsonl" else None,
    )
    assert (loop.folder, loop.notes) == (None, ["`.auto/log.jsonl` beside it goes on in its place"])
    [loop] = loops_in(
        config(), run(1, 2.0), name="x/autoresearch.jsonl", neighbour=lambda name: tmp_path / name
    )
    assert loop.notes == []  # where it would be, nothing is


def test_lines_of_an_agents_own_behind_a_configuration_are_runs() -> None:
    own = {
        "event": "result",
        "iteration": 0,
        "decision": "keep",
        "description": "as it is",
        "metrics": {"parse_ms": 12.0, "files": 3},
    }
    [loop] = loops_in(config(), own, run(1, 10.0), run(2, 11.0, "discard"))
    assert (states(loop), values(loop)) == ([B, K, D], [12.0, 10.0, 11.0])
    assert [one.label for one in loop.experiments] == ["iteration 0", "run 1", "run 2"]
    assert loop.experiments[0].secondary == {"files": 3}


@given(cut=st.integers(min_value=2, max_value=20), more=st.data())
def test_a_beginning_of_a_log_has_the_first_of_its_experiments(
    cut: int, more: st.DataObject
) -> None:
    drawn = more.draw(
        st.lists(
            st.tuples(st.sampled_from(["keep", "discard", "crash"]), st.integers(1, 99)),
            min_size=20,
            max_size=20,
        )
    )
    lines = [
        config(),
        *(run(place, value, status) for place, (status, value) in enumerate(drawn, 1)),
    ]
    [whole], part = loops_in(*lines), loops_in(*lines[:cut])
    assert [one.fingerprint() for loop in part for one in loop.experiments] == [
        one.fingerprint() for one in whole.experiments[: cut - 1]
    ]


# Events, and measurements without decisions


def test_events_are_joined_to_experiments() -> None:
    def result(
        number: int, kept: bool, value: float | None = 2.0, checks: bool = True
    ) -> dict[str, Any]:
        told = {
            "kind": "result",
            "run_id": f"r{number}",
            "kept": kept,
            "metric_value": value,
            "checks_passed": checks,
        }
        return {
            "id": f"e{number}",
            "timestamp": 1_777_278_300 + number,
            "commit_after": f"{number:07x}",
            **told,
        }

    def begun(number: int) -> dict[str, Any]:
        return {
            "id": f"r{number}",
            "timestamp": 1_777_278_200 + number,
            "kind": "run",
            "idea": f"idea {number}",
            "commit_before": "0de50f8",
        }

    init = {
        "id": "i",
        "timestamp": 1,
        "kind": "init",
        "config": {
            "name": "start",
            "metric": "us",
            "unit": "µs",
            "direction": "lower",
            "working_dir": "/w",
        },
    }
    [loop] = loops_in(
        init,
        begun(1),
        begun(2),
        result(2, True),
        begun(3),
        result(3, False, 3.0, False),
        begun(4),
        result(9, False),
    )
    assert states(loop) == [
        O,
        K,
        F,
        O,
        D,
    ]  # the first and the fourth are open; the last has lost its run
    assert (loop.metric, loop.better, loop.folder, loop.no_gain) == (
        "us",
        Better.LOWER,
        "/w",
        "Its baseline has no result.",
    )
    assert [one.description for one in loop.experiments] == [
        "idea 1",
        "idea 2",
        "idea 3",
        "idea 4",
        None,
    ]
    [loop] = loops_in(init, begun(1), result(1, True), begun(2), result(2, True, 1.0))
    assert (states(loop), loop.no_gain) == ([B, K], None)


def test_measurements_of_one_commit_repeat_each_other_unless_there_were_changes() -> None:
    def measured(
        commit: str, value: float | None, dirty: bool, passed: bool = True
    ) -> dict[str, Any]:
        git = {"branch": "b", "commit": commit, "dirty": dirty}
        named = {
            "type": "run",
            "id": "bold-fox",
            "metric_name": "p99_ms",
            "metric_unit": "ms",
            "direction": "lower",
        }
        measure = {"duration_seconds": 4.5, "exit_code": 0 if value else 1}
        return {
            **named,
            "primary": value,
            "git": git,
            "passed": passed,
            "measure": measure,
            "checks": {},
            "timestamp": "2026-06-15T00:36:47Z",
        }

    [loop] = loops_in(
        measured("aaaaaaa", 2.0, False),
        measured("aaaaaaa", 2.1, False),
        measured("aaaaaaa", 1.5, True),
        measured("bbbbbbb", None, False),
        measured("bbbbbbb", 1.0, False, passed=False),
    )
    assert [one.repeats for one in loop.experiments] == [None, 1, None, None, None]
    assert states(loop) == [O, O, O, C, F]
    assert (loop.metric, loop.unit, loop.better, bool(loop.no_gain)) == (
        "p99_ms",
        "ms",
        Better.LOWER,
        True,
    )
    assert loop.experiments[0].duration_ms == 4500


# One object per experiment


def tried(
    iteration: int, kept: bool, score: float | None, reason: str = "improvement", **more: Any
) -> dict[str, Any]:
    at = f"2026-04-10T15:{iteration:02}:00+00:00"
    return {
        "iteration": iteration,
        "timestamp": at,
        "kept": kept,
        "reason": reason,
        "score_ns": score,
        **more,
    }


def test_a_log_of_flags_reasons_and_costs() -> None:
    commit = "a2a0d2645a20a167cf5a9e250b133b876b4dc8ce"
    shared: Entry = {
        "project_commit": commit,
        "input_tokens": 1000,
        "output_tokens": 20,
        "cost_usd": 0.25,
    }
    patch = "diff --git a/x b/x\n-1\n+2\n"
    [loop] = loops_in(
        tried(
            1,
            False,
            990,
            "weak_signal",
            baseline_ns=1000,
            agent_idea="fuse layers",
            diff=patch,
            agent_time_s=12.5,
            **shared,
        ),
        tried(2, True, 950, baseline_ns=1000, **shared),
        tried(3, False, None, "tests_failed", baseline_ns=950, **shared),
        tried(4, False, 980, "regression", baseline_ns=950, **shared),
        tried(5, False, None, "build_failed", baseline_ns=950, **shared),
    )
    assert (loop.metric, loop.unit, loop.better, loop.better_from) == (
        "score_ns",
        "ns",
        Better.LOWER,
        "the metric's name",
    )
    assert (loop.baseline, loop.baseline_commit) == (
        1000.0,
        shared["project_commit"],
    )  # what was to beat first; later it is the best so far
    assert states(loop) == [D, K, F, D, C]
    assert loop.cost_basis is CostBasis.UPPER_BOUND
    first = loop.experiments[0]
    assert (first.word, first.description, first.patch, first.duration_ms) == (
        "weak_signal",
        "fuse layers",
        patch.strip(),
        12_500,
    )
    assert (first.cost_usd, first.tokens, first.label) == (Decimal("0.25"), 1020, "iteration 1")


def test_a_bare_score_follows_the_decisions() -> None:
    def scored(place: int, score: float, status: str) -> dict[str, Any]:
        return {
            "iteration": place,
            "commit": f"{place:07x}",
            "score": score,
            "status": status,
            "description": "x",
        }

    steps = [
        scored(0, 900.0, "baseline"),
        scored(1, 700.0, "keep"),
        scored(2, 800.0, "discard"),
        scored(3, 500.0, "keep"),
    ]
    [loop] = loops_in(*steps)
    assert (loop.better, loop.better_from, states(loop)) == (
        Better.LOWER,
        "the decisions",
        [B, K, D, K],
    )
    [loop] = loops_in(*steps[:1], steps[2])
    assert (loop.better, loop.better_from) == (Better.HIGHER, "the metric's name")


@pytest.mark.parametrize(
    ("entry", "metric", "value"),
    [
        ({"primary": {"val_bpb": 0.99}, "secondary": {"vram_mb": 44.0}}, "val_bpb", 0.99),
        ({"metric": "latency_ms", "value": 9.5}, "latency_ms", 9.5),
        ({"metric": {"name": "latency_ms", "value": 9.5}}, "latency_ms", 9.5),
        ({"metrics": {"sharpe": 1.5}, "peak_vram_mb": 3}, "sharpe", 1.5),
        ({"val_bpb": "0.99", "metric_value": "0.97"}, "metric_value", 0.97),
        (
            {"val_bpb": 0.99, "val_loss": 0.7, "num_steps": 80, "total_seconds": 300},
            "val_bpb",
            0.99,
        ),
        ({"val_loss": 0.7, "val_acc": 0.9}, None, None),
        ({"objective": {"net": 1.0, "drawdown": -2.0}, "score": "net=1;drawdown=-2"}, None, None),
        (
            {
                "metrics_before": {"total_runtime_s": 50.0},
                "metrics_after": {"total_runtime_s": 40.0},
            },
            "total_runtime_s",
            40.0,
        ),
        (
            {
                "metrics_before": {"a_runtime_s": 5.0},
                "metrics_after": {"a_runtime_s": 4.0, "b_runtime_s": 2.0},
            },
            None,
            None,
        ),
        ({"params": {"depth": 8}, "accuracy": 0.8}, "accuracy", 0.8),
    ],
)
def test_the_metric_is_the_most_telling_number_or_none(
    entry: dict[str, Any], metric: str | None, value: float | None
) -> None:
    rows = [
        {"iteration": place, "status": "keep", "description": "x", **entry} for place in range(3)
    ]
    [loop] = loops_in(*rows)
    assert (loop.metric, values(loop)) == (metric, [value] * 3)
    assert bool(loop.no_gain) is (metric is None)


SPLITS = {
    "train": {"sharpe": 1.9, "drawdown": 0.1},
    "validation": {"sharpe": 1.1, "drawdown": 0.2},
}


@pytest.mark.parametrize(
    "champion",
    [
        {"champion_validation_sharpe": 1.1},
        {"best": {"validation": {"sharpe": 1.1}}},
        {"champion": {"number": 0, "key": "validation.sharpe"}},
    ],
)
def test_values_in_objects_are_found_and_the_key_of_the_champion_names_the_metric(
    champion: dict[str, Any],
) -> None:
    tries = [("baseline", 1.1), ("rejected", 1.0), ("accepted", 1.3)]
    lines = [
        {
            "number": number,
            "status": status,
            **SPLITS,
            "validation": {"sharpe": value, "drawdown": 0.2},
            **champion,
        }
        for number, (status, value) in enumerate(tries)
    ]
    [loop] = loops_in(*lines)
    assert (loop.metric, values(loop), states(loop)) == (
        "validation.sharpe",
        [1.1, 1.0, 1.3],
        [B, D, K],
    )
    assert loop.experiments[0].secondary["train.sharpe"] == 1.9
    without = [{key: value for key, value in each.items() if key not in champion} for each in lines]
    [unnamed] = loops_in(*without)
    assert (unnamed.metric, unnamed.no_gain) == (
        None,
        "It has several values, and does not say which one it improves.",
    )
    changing = ("validation.sharpe", "train.drawdown", "validation.drawdown")
    [changed] = loops_in(
        *(each | {"changed": text} for each, text in zip(without, changing, strict=True))
    )
    assert changed.metric is None, "a text that changes is what a try is about"


def test_numbers_of_labelled_data_are_no_tries() -> None:
    assert not loops_in(
        *({"number": number, "status": "accepted", "score": 0.5} for number in range(3))
    )
    assert not loops_in(
        *({"number": number, "status": "baseline", "score": 0.5} for number in (17, 12, 9))
    )


def test_objects_on_one_line_are_two_runs() -> None:
    assert [
        one.label
        for one in loops_in(json.dumps(run(1, 5.0)) + json.dumps(run(2, 4.0)), run(3, 3.0))[
            0
        ].experiments
    ] == [
        "run 1",
        "run 2",
        "run 3",
    ]


def test_values_before_and_after_tell_baseline_and_direction() -> None:
    shared = {"action": "Add tests", "note": "x"}
    [loop] = loops_in(
        {"iteration": 1, "before": 80.0, "after": 84.0, "result": "kept", **shared},
        {"iteration": 2, "before": 84.0, "after": 83.0, "result": "reverted", **shared},
        {"iteration": 3, "before": 84.0, "after": 85.0, "result": "kept", **shared},
    )
    assert (loop.baseline, loop.better, states(loop)) == (80.0, Better.HIGHER, [K, D, K])


def test_several_baselines_machines_or_models_make_no_series() -> None:
    def row(place: int, status: str, **more: Any) -> dict[str, Any]:
        return {
            "iteration": place,
            "commit": f"{place:07x}",
            "score": 10.0 + place,
            "status": status,
            **more,
        }

    [loop] = loops_in(row(0, "baseline"), row(1, "keep"), row(2, "baseline"), row(3, "keep"))
    assert (states(loop), loop.no_gain) == ([B, K, B, K], loop.no_gain)
    assert "2 baselines" in str(loop.no_gain)
    [loop] = loops_in(row(0, "baseline"), row(1, "baseline"), row(2, "keep"))
    assert loop.no_gain is None  # measured twice before anything was tried
    [loop] = loops_in(
        *(row(place, "keep", model="small" if place < 2 else "large") for place in range(4))
    )
    assert "2 different values of `model`" in str(loop.no_gain)
    [loop] = loops_in(*(row(place, "keep", model=f"model-{place}.pth") for place in range(4)))
    assert loop.no_gain is None  # what is tried, not what it is measured on
    [loop] = loops_in(
        row(0, "keep", machine="m4", parent_best_commit=None),
        row(1, "keep", machine="m4", parent_best_commit="0000000"),
    )
    assert (states(loop), "several machines" in str(loop.no_gain)) == ([K, K], True)


def test_changes_in_percent_have_no_baseline() -> None:
    [loop] = loops_in(
        {
            "iter": 1,
            "improvement_pct": "+0.15",
            "p_value": 0.66,
            "status": "discard",
            "description": "x",
        },
        {
            "iter": 2,
            "improvement_pct": -1.89,
            "p_value": 0.03,
            "status": "keep",
            "description": "y",
        },
    )
    assert (loop.metric, values(loop), bool(loop.no_gain), states(loop)) == (
        "improvement_pct",
        [0.15, -1.89],
        True,
        [D, K],
    )


def test_failed_checks_are_told_by_flags_and_their_value_is_none() -> None:
    [loop] = loops_in(
        {
            "ts": "2026-05-07",
            "n": 0,
            "hypothesis": "BASELINE",
            "metric_score": 0.7,
            "prev_best": None,
            "kept": True,
            "invariants_passed": True,
        },
        {
            "ts": "2026-05-07",
            "n": 1,
            "hypothesis": "a",
            "metric_score": -1,
            "prev_best": 0.7,
            "kept": False,
            "invariants_passed": False,
        },
        {
            "ts": "2026-05-07",
            "n": 2,
            "hypothesis": "b",
            "metric_score": -1,
            "prev_best": 0.7,
            "kept": False,
            "build_passed": False,
        },
        {
            "ts": "2026-05-07",
            "n": 3,
            "hypothesis": "c",
            "metric_score": 0.8,
            "prev_best": 0.7,
            "kept": True,
            "invariants_passed": True,
        },
        {"ts": "2026-05-07", "stop_reason": "8 reverts", "kept": 2},
    )
    assert (states(loop), values(loop), loop.baseline) == (
        [B, F, C, K],
        [0.7, None, None, 0.8],
        None,
    )
    assert {one.at for one in loop.experiments} == {None}  # a day is no time


def test_a_study_of_harnesses_has_the_cost_of_the_evaluated_agent() -> None:
    def job(name: str, passed: int, taskset: str | None) -> dict[str, Any]:
        told = {
            "harness_commit": "c" * 40,
            "taskset": taskset,
            "trials": 10,
            "passed": passed,
            "mean": passed / 10,
            "cost_usd": 0.5,
        }
        return {
            "job_name": name,
            "results_dir": f"results/{name}",
            "finished_at": "2026-08-08T11:52:19.7",
            **told,
        }

    [loop] = loops_in(job("smoke", 4, "--n 5"), job("baseline", 7, None), job("fix", 8, None))
    assert (states(loop), loop.metric, loop.better, loop.cost_basis) == (
        [O, O, O],
        "mean",
        Better.HIGHER,
        CostBasis.EVALUATED,
    )
    assert loop.no_gain is not None


def test_a_sweep_has_counts_only() -> None:
    def point(place: int, status: str, score: float | None) -> dict[str, Any]:
        return {
            "num": place,
            "status": status,
            "score": score,
            "description": f"batch {place}",
            "params": {"batch": place},
        }

    [loop] = loops_in(
        point(1, "ok", 1.0), point(2, "server_failed", None), point(3, "constraint_violated", 2.0)
    )
    assert (states(loop), values(loop), bool(loop.no_gain)) == ([O, C, F], [1.0, None, 2.0], True)


@pytest.mark.parametrize(
    "entry",
    [
        {"id": 1, "name": "test_a", "status": "failed", "duration_ms": 3},  # results of tests
        {"id": 1, "decision": "keep", "score": 0.8, "reason": "good"},  # labels of data
        {"n": 1, "verdict": "reject", "confidence": 7, "reasoning": "spam"},
        {"accepted": True, "score": 0.5, "text": "recognised"},
        {"ts": "2026-05-09T20:00:00Z", "source": "feedback", "kept": False, "reason": "bullets"},
        {"hypothesis": "means are equal", "verdict": "reject", "p_value": 0.01},
        {"status": "ok", "score": 0.5, "run": 1, "description": "a question"},
        {"experiment": "a", "epoch": 3, "val_loss": 0.5, "status": "running"},
        {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "result": "keep",
            "num_turns": 3,
        },
        {"iteration": 1, "level": "info", "msg": "keep alive", "status": "ok"},
    ],
)
def test_other_json_lines_are_no_loop(entry: dict[str, Any]) -> None:
    assert loops_in(*[entry] * 5) == []


@given(st.permutations(list(tried(1, True, 950, baseline_ns=1000, agent_idea="x", cost_usd=0.5))))
def test_the_order_of_keys_changes_nothing(keys: list[str]) -> None:
    rows = [
        tried(1, True, 950, baseline_ns=1000, agent_idea="x", cost_usd=0.5),
        tried(2, False, 990, "regression", baseline_ns=950),
    ]
    shuffled = [{key: rows[0][key] for key in keys}, rows[1]]
    assert loops_in(*rows) == loops_in(*shuffled)


# Broken files


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("begins", ["", "\ufeff", "\n\n"])
def test_line_ends_and_marks_change_nothing(end: str, begins: str) -> None:
    lines = text_of(config(), run(1, 2.0), run(2, 1.0))
    [loop] = PI_LOG.read(MeasuredFile("log.jsonl", begins + lines.replace("\n", end)))
    assert (values(loop), loop.notes) == ([2.0, 1.0], [])


def test_a_page_that_quotes_a_log_is_none() -> None:
    assert loops_in("# How it logs", "```jsonl", config(), run(1, 2.0), run(2, 3.0), "```") == []
    assert loops_in("Text", "more", "and more", "and more", config(), run(1, 2.0)) == []


def store_of(store: Store, folder: Path, **files: str) -> list[tuple[Any, ...]]:
    """Ingest texts as log files, and return (format, experiments, notes) of their loops."""
    for name, text in files.items():
        (folder / f"{name}.jsonl").write_text(text, newline="")
    ingest_paths(store, folder)
    with store.reading() as connection:
        return connection.execute(
            """
            select format, count(*), any_value(notes) from loops join experiments using (source_id, loop_no)
            group by source_id, loop_no, format
            """  # noqa: E501
        ).fetchall()


HALF = '{"run": 3, "commit": "abc'


@pytest.mark.parametrize(
    ("lines", "notes"),
    [
        ((config(), run(1, 2.0), run(2, 1.0), HALF), 1),
        (('": 1, "metric": 3}', config(), run(1, 2.0), run(2, 1.0)), 1),
        (("<<<<<<< HEAD", config(), run(1, 2.0), "=======", run(2, 1.0), ">>>>>>> other"), 3),
        ((config(), run(1, 2.0), run(2, 1.0), "[1, 2]", "null", "3"), 3),
    ],
)
def test_broken_lines_are_skipped_and_counted(
    store: Store, tmp_path: Path, lines: Iterable[dict[str, Any] | str], notes: int
) -> None:
    [(name, count, told)] = store_of(store, tmp_path, log=text_of(*lines).rstrip("\n"))
    assert (name, count) == ("Pi autoresearch log", 2)
    assert len(told) == 1
    assert told[0].startswith(f"{notes} ")


def test_absurd_values_end_no_reading(store: Store, tmp_path: Path) -> None:
    absurd = [
        '{"run": 3, "metric": 1' + "0" * 400 + ', "status": "keep"}',
        '{"run": 4, "metric": NaN, "status": "keep"}',
        (
            '{"run": 5, "metric": -Infinity, "status": "keep", "timestamp": 1e300, "cost_usd": '
            '1e300, "duration_ms": 1e300}'
        ),
        json.dumps(
            run(
                6,
                1.0,
                description="x" * 1_000_000,
                metrics={str(place): place for place in range(1000)},
            )
        ),
        json.dumps(
            {**run(7, 1.0), "asi": ["list"], "metrics": [1], "commit": 7, "description": None}
        ),
    ]
    [(_, count, _)] = store_of(
        store, tmp_path, log=text_of(config(), run(1, 2.0), run(2, 1.0), *absurd)
    )
    assert count == 7


def test_cost_and_duration_make_no_record_of_an_agent(store: Store, tmp_path: Path) -> None:
    spent: Entry = {"duration_ms": 1000, "cost_usd": 0.5, "num_turns": 3}
    own = text_of(
        {"iteration": 1, "kept": True, "score": 1.0, **spent},
        {"iteration": 2, "kept": False, "score": 0.9, **spent},
    )
    pi = text_of(config(), run(1, 2.0, **spent), run(2, 1.0, "discard", **spent))
    assert sorted(count for _, count, _ in store_of(store, tmp_path, own=own, pi=pi)) == [2, 2]
    with store.reading() as connection:
        assert connection.execute("select count(*) from runs").fetchone() == (0,)


def test_a_log_without_experiments_is_none(store: Store, tmp_path: Path) -> None:
    assert (
        store_of(store, tmp_path, header=text_of(config()), empty="", blank="\n\n", half=HALF) == []
    )


def test_a_log_that_grows_stays_one_loop(store: Store, tmp_path: Path) -> None:
    lines = [config(), *(run(number, 10.0 - number) for number in range(1, 4))]
    store_of(store, tmp_path, log=text_of(*lines[:3]))
    store_of(store, tmp_path, log=text_of(*lines)[:-20])  # a line is being written
    store_of(store, tmp_path, log=text_of(*lines))
    with store.reading() as connection:
        found = connection.execute(
            "select count(*) from v_loops join experiments using (source_id, loop_no)"
        ).fetchone()
    assert found == (3,)


def test_an_older_version_of_a_log_is_no_second_loop(store: Store, tmp_path: Path) -> None:
    lines = [config(), *(run(number, 10.0 - number) for number in range(1, 9))]
    store_of(store, tmp_path, old=text_of(*lines[:5]), new=text_of(*lines), copy=text_of(*lines))
    with store.reading() as connection:
        assert connection.execute("select count(*) from v_loops").fetchone() == (1,)


@pytest.mark.parametrize(
    ("text", "better"),
    [
        *(
            (text, Better.LOWER)
            for text in ("lower", "minimize", "MIN", "lower_is_better", " smaller is better")
        ),
        *(
            (text, Better.HIGHER)
            for text in ("higher", "maximize", "max", "higher_is_better", "up")
        ),
        *((text, Better.UNKNOWN) for text in (None, "", "fast", 1, True, "update", "target")),
    ],
)
def test_directions_as_logs_say_them(text: object, better: Better) -> None:
    assert better_said(text) is better


def test_may_hold_asks_little() -> None:
    assert not possible_formats("x = 1\n" * 1000)
    assert not possible_formats(
        '{"type":"assistant","message":{"role":"assistant","content":[]}}\n' * 100
    )
