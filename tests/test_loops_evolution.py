"""Evolutionary searches as loops.

OpenEvolve's logs and checkpoints, AIDE's journals, ShinkaEvolve's databases.
"""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.loops.aide import AIDE_JOURNAL, AIDE_RUN
from ingest.loops.base import Experiment, Loop, LoopFormat
from ingest.loops.openevolve import OPENEVOLVE_CHECKPOINT, OPENEVOLVE_LOG
from ingest.loops.shinka import DATABASE, SHINKA
from ingest.measurements.base import MeasuredFile
from ingest.store.database import Store, arrow
from schemas.rows.loop import CostBasis, State
from schemas.units import Better
from tests.conftest import ingest_paths

# OpenEvolve's log


def line(message: str, *, at: int = 0, module: str = "openevolve.evaluator - ") -> str:
    return f"2026-03-01 10:{at // 60:02}:{at % 60:02},000 - {module}INFO - {message}"


def evaluated(program: str, metrics: str, at: int = 0) -> str:
    return line(f"Evaluated program {program} in 2.50s: {metrics}", at=at)


def completed(iteration: int, program: str, parent: str, at: int = 0) -> str:
    return line(
        f"Iteration {iteration}: Program {program} (parent: {parent}) completed in 12.00s",
        at=at,
        module="openevolve.main - ",
    )


HEADER = (
    line("Initialized LLM ensemble with models: small-model (weight: 1.00)"),
    line("Initialized OpenEvolve with kernels/start.py"),
    line("Adding initial program to database"),
)
LOG = (
    *HEADER,
    evaluated("p0", "combined_score=1.0000, geomean_us=90.0000"),
    evaluated("p1", "geomean_us=80.0000, combined_score=1.2000", 10),
    completed(1, "p1", "p0", 11),
    line("Metrics: geomean_us=80.0000, combined_score=1.2000", at=11),
    evaluated("p2", "combined_score=0.0000, error=Wrong result: max_diff=0.5, avg_diff=0.1", 20),
    completed(2, "p2", "p1", 21),
    line("Iteration 3 error: No valid diffs found in response", at=30),
    evaluated("p4", "combined_score=1.1000, geomean_us=85.0000", 40),
    completed(4, "p4", "p1", 41),
    evaluated("p5", "combined_score=-inf", 50),
    completed(5, "p5", "p1", 51),
    evaluated("p6", "combined_score=1.3000, validity=1.0000", 60),
    completed(6, "p6", "p4", 61),
    evaluated("p7", "combined_score=9.0000, validity=0.0000", 70),
    completed(7, "p7", "p6", 71),
    evaluated("p8", "combined_score=-1000.0000", 80),
    line("🌟 New best solution found at iteration 8: p8", at=81),
    completed(8, "p8", "p6", 81),
)


def loops_in(
    reader: LoopFormat, text: str | Sequence[str], name: str = "run/logs/x.log"
) -> list[Loop]:
    file = MeasuredFile(name, text if isinstance(text, str) else "\n".join(text) + "\n")
    return list(reader.read(file)) if reader.may_hold(file.text) else []


def told(experiments: Sequence[Experiment]) -> list[tuple[str | None, str, float | None]]:
    return [(one.label, one.state.value, one.value) for one in experiments]


def test_a_log_has_every_program_by_its_score() -> None:
    [loop] = loops_in(OPENEVOLVE_LOG, LOG)
    assert told(loop.experiments) == [
        ("initial program", "baseline", 1.0),
        ("iteration 1", "kept", 1.2),
        ("iteration 2", "crashed", None),
        ("iteration 4", "other", 1.1),
        ("iteration 5", "crashed", None),
        ("iteration 6", "kept", 1.3),
        ("iteration 7", "crashed", None),
        ("iteration 8", "crashed", None),
    ]
    assert (loop.name, loop.metric, loop.better) == (
        "kernels/start.py",
        "combined_score",
        Better.HIGHER,
    )
    assert loop.notes == [
        "iterations without a program, as the model's answer could not be used: 1"
    ]
    assert loop.experiments[1].parent == "initial program"
    assert loop.experiments[1].secondary == {"geomean_us": 80.0}
    assert loop.experiments[1].model == "small-model"
    assert (
        loop.experiments[2].word == "Wrong result: max_diff=0.5, avg_diff=0.1"
    )  # its numbers are no metrics
    assert loop.experiments[2].secondary == {}


def test_a_log_without_the_lines_of_its_workers_has_the_same_programs() -> None:
    """Where workers log elsewhere, a program's metrics stand only behind its iteration."""
    lines = [
        *HEADER,
        evaluated("p0", "score=0.6763, combined_score=0.6763"),
        completed(1, "p1", "p0", 10),
        line("Metrics: error=0.0000, timeout=1.0000", at=10),
        completed(2, "p2", "p0", 20) + " (llm: 4.30s, eval: 7.70s)",
        line("Metrics: score=0.7000, combined_score=0.7000", at=20),
    ]
    [loop] = loops_in(OPENEVOLVE_LOG, lines)
    assert told(loop.experiments) == [
        ("initial program", "baseline", 0.6763),
        ("iteration 1", "crashed", None),
        ("iteration 2", "kept", 0.7),
    ]
    assert loop.experiments[1].word == "timeout"


def test_the_first_releases_wrote_the_metrics_on_the_line_of_the_iteration() -> None:
    child = (
        "Iteration 1: Child p1 from parent p0 in 3.60s. Metrics: speed=0.4000, error=0.2000 (Δ: "
        "speed=+0.1000, error=-0.1000)"
    )
    [loop] = loops_in(
        OPENEVOLVE_LOG, [*HEADER, evaluated("p0", "speed=0.3000, error=0.3000"), line(child)]
    )
    assert loop.metric == "mean of the metrics"
    assert [(one.state, one.value) for one in loop.experiments] == [
        (State.BASELINE, 0.3),
        (State.OTHER, pytest.approx(0.3)),
    ]
    assert loop.experiments[1].secondary == {
        "speed": 0.4,
        "error": 0.2,
    }  # a metric of that name is no failure


def test_a_resumed_log_has_no_baseline_and_keeps_only_what_beats_the_population() -> None:
    lines = [
        line("Resuming from checkpoint at iteration 11"),
        line(
            "Skipping initial program addition (resuming from iteration 11 with 2 existing "
            "programs)"
        ),
        line(" * Island 0: 2 programs, best=1.5000, avg=1.2, diversity=0.0, gen=0 (best: p3)"),
        line("   Island 1: 0 programs, best=0.0000, avg=0.0, diversity=0.0, gen=0"),
        evaluated("p11", "combined_score=1.4000", 10),
        completed(11, "p11", "p3", 11),
        evaluated("p12", "combined_score=1.6000", 20),
        completed(12, "p12", "p11", 21),
    ]
    [loop] = loops_in(OPENEVOLVE_LOG, lines)
    assert told(loop.experiments) == [("iteration 11", "other", 1.4), ("iteration 12", "kept", 1.6)]
    assert loop.experiments[0].parent == "p3"
    assert "checkpoint" in loop.notes[0]
    [unknown] = loops_in(OPENEVOLVE_LOG, [*lines[:2], *lines[4:]])
    assert [one.state for one in unknown.experiments] == [State.OTHER, State.OTHER]
    assert not unknown.has_decisions, "nobody knows how many were better than the population"


def test_a_resumed_log_begins_with_the_best_score_of_its_checkpoint(tmp_path: Path) -> None:
    best = {"id": "p3", "metrics": {"combined_score": 1.5}}
    written(tmp_path, {"out/checkpoints/checkpoint_11/best_program_info.json": best})
    (tmp_path / "out" / "logs").mkdir()
    lines = [
        line(
            "Skipping initial program addition (resuming from iteration 11 with 2 existing "
            "programs)"
        ),
        evaluated("p11", "combined_score=1.4000", 10),
        evaluated("p12", "combined_score=1.6000", 20),
    ]
    [loop] = OPENEVOLVE_LOG.read(
        MeasuredFile("log", "\n".join(lines), (tmp_path / "out" / "logs").joinpath)
    )
    assert [one.state for one in loop.experiments] == [State.OTHER, State.KEPT]


def test_a_program_whose_flags_say_that_it_is_invalid_failed() -> None:
    """The mean of its numbers may be the highest of all."""
    lines = [
        *HEADER,
        evaluated("p0", "points=70.0000, time=0.4000, valid_solution=1.0000"),
        evaluated("p1", "points=900.0000, time=0.3000, valid_solution=0.0000", 1),
        evaluated("p2", "points=0.0000, time=263.0000, error=1.0000", 2),
        evaluated("p3", "points=75.0000, time=0.4000, valid_solution=1.0000", 3),
    ]
    [loop] = loops_in(OPENEVOLVE_LOG, lines)
    assert [one.state for one in loop.experiments] == [
        State.BASELINE,
        State.CRASHED,
        State.CRASHED,
        State.KEPT,
    ]
    measured = [each.replace("valid_solution=0.0000", "valid_solution=0.5000") for each in lines]
    [loop] = loops_in(OPENEVOLVE_LOG, measured)
    assert loop.experiments[1].state is State.KEPT, "a share is no flag"


def test_what_the_console_shows_is_read_and_two_runs_in_it_are_two_loops() -> None:
    console = [
        each.replace("openevolve.evaluator - ", "").replace("openevolve.main - ", "")
        for each in LOG
    ]
    second = [
        each.replace("program p", "program q")
        .replace("Program p", "Program q")
        .replace(": p", ": q")
        for each in console
    ]
    loops = loops_in(OPENEVOLVE_LOG, ["UserWarning: no GPU", *console, *second])
    assert [told(loop.experiments) for loop in loops] == [
        told(loops_in(OPENEVOLVE_LOG, LOG)[0].experiments)
    ] * 2


def test_a_failed_first_program_is_no_baseline() -> None:
    lines = [
        *HEADER,
        evaluated("p0", "error=it does not run"),
        evaluated("p1", "combined_score=0.1", 5),
        completed(1, "p1", "p0", 6),
    ]
    [loop] = loops_in(OPENEVOLVE_LOG, lines)
    assert [one.state for one in loop.experiments] == [State.CRASHED, State.KEPT]


def test_low_scores_are_failures_only_beside_scores_that_are_not_negative() -> None:
    """Some evaluators give -1000 or less to a program that fails.

    For others it is what they minimize, with its sign turned.
    """
    scores = {"p0": -2000.0, "p1": -1500.0, "p2": -1000.0, "p3": -1e6}
    lines = [evaluated(name, f"combined_score={score:.4f}") for name, score in scores.items()]
    [negative] = loops_in(OPENEVOLVE_LOG, [*HEADER, *lines])
    assert [one.state.value for one in negative.experiments] == [
        "baseline",
        "kept",
        "crashed",
        "other",
    ]
    [positive] = loops_in(OPENEVOLVE_LOG, [*HEADER, evaluated("p", "combined_score=0.5"), *lines])
    assert [one.state.value for one in positive.experiments] == ["baseline", *["crashed"] * 4]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n".join(HEADER),
        "# Report\n\nWhat happened is here.\nIt ran well.\nSee the log:\n\n```log\n"
        + LOG[3]
        + "\n"
        + LOG[4]
        + "\n```\n",
        "Evaluated program x in 3s: fast\nIteration 1: Program x\n",
        '{"nodes": [], "text": "Evaluated program p0 in 1.0s: a=1"}',
    ],
)
def test_other_texts_are_no_log(text: str) -> None:
    assert not loops_in(OPENEVOLVE_LOG, text)


@given(st.integers(0, len(LOG)), st.integers(0, 60))
def test_the_beginning_of_a_log_has_the_first_of_its_programs(lines: int, characters: int) -> None:
    [whole] = loops_in(OPENEVOLVE_LOG, LOG)
    text = (
        "".join(f"{each}\n" for each in LOG[:lines]) + "".join(LOG[lines : lines + 1])[:characters]
    )
    for loop in loops_in(OPENEVOLVE_LOG, text):
        found = [one.identity for one in loop.experiments]
        assert found == [one.identity for one in whole.experiments][: len(found)]


def test_line_ends_and_a_byte_order_mark_change_nothing() -> None:
    [whole] = loops_in(OPENEVOLVE_LOG, LOG)
    [other] = loops_in(OPENEVOLVE_LOG, "\ufeff" + "\r\n".join(LOG))
    assert other == whole


# OpenEvolve's checkpoints


def best(program: str, score: float, iteration: int) -> dict[str, Any]:
    return {
        "id": program,
        "iteration": iteration,
        "metrics": {"combined_score": score, "us": 9},
        "timestamp": 1781214324.5,
    }


def state(best_id: str, last: int) -> dict[str, Any]:
    return {
        "island_feature_maps": [{}],
        "islands": [[best_id]],
        "archive": [],
        "best_program_id": best_id,
        "last_iteration": last,
    }


def written(folder: Path, files: Mapping[str, Any]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            content if isinstance(content, str) else json.dumps(content), encoding="utf-8"
        )
    return folder


def run_of_openevolve(folder: Path) -> Path:
    return written(
        folder,
        {
            "out/logs/openevolve_1.log": "\n".join(LOG) + "\n",
            "out/checkpoints/checkpoint_2/metadata.json": state("p1", 2),
            "out/checkpoints/checkpoint_2/best_program_info.json": best("p1", 1.2, 1),
            "out/checkpoints/checkpoint_2/programs/p1.json": {
                "id": "p1",
                "code": "x = 1",
                "metrics": {"combined_score": 1.2},
            },
            "out/checkpoints/checkpoint_10/metadata.json": {
                "best_program_id": "p6",
                "last_iteration": 10,
            },  # as SkyDiscover writes it
            "out/checkpoints/checkpoint_10/best_program_info.json": best("p6", 1.3, 6),
            "out/best/best_program_info.json": best("p6", 1.3, 6),
        },
    )


def rows(store: Store, query: str) -> list[dict[str, Any]]:
    with store.reading() as connection:
        found: list[dict[str, Any]] = arrow(connection, query).to_pylist()
        return found


SHOWN = """
    select format, is_history, any_value(source_name) as log, count(*) as experiments, max(value) as best
    from v_loops join experiments using (source_id, loop_no) group by all order by format"""  # noqa: E501


def zipped(folder: Path, archive: Path) -> Path:
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(
            folder.rglob("*.*"), reverse=True
        ):  # a file comes before those that it is read with
            if path.is_file():
                file.write(path, path.relative_to(folder))
    return archive


@pytest.mark.slow
@pytest.mark.parametrize("is_packed", [False, True])
def test_the_log_stands_for_its_checkpoints_and_the_last_checkpoint_for_those_before(
    store: Store, tmp_path: Path, is_packed: bool
) -> None:
    folder = run_of_openevolve(tmp_path / "run")
    (folder / "out/logs/openevolve_1.log").rename(tmp_path / "kept.log")
    report = ingest_paths(store, zipped(folder, tmp_path / "run.zip") if is_packed else folder)
    assert report.total("rejected") == 0
    [shown] = rows(store, SHOWN)
    assert (shown["format"], shown["experiments"], shown["best"]) == (
        "openevolve-checkpoint",
        2,
        1.3,
    )
    assert shown["log"].endswith("checkpoint_10/metadata.json")
    ingest_paths(store, tmp_path / "kept.log")
    [shown] = rows(store, SHOWN)
    assert (shown["format"], shown["experiments"]) == ("openevolve-log", 8)
    assert not rows(store, "from measurements")


def test_a_checkpoint_without_its_best_program_is_none() -> None:
    assert not loops_in(
        OPENEVOLVE_CHECKPOINT, json.dumps(state("../../x", 3)), "checkpoint_3/metadata.json"
    )
    assert not loops_in(
        OPENEVOLVE_CHECKPOINT, '{"islands": ["Crete"], "best_program_id": 3}', "metadata.json"
    )


# AIDE's journals


def node(
    identity: str, step: int, metric: Any = None, *, is_buggy: bool | None = False, **more: Any
) -> dict[str, Any]:
    return {
        "id": identity,
        "step": step,
        "ctime": 1748448328.9 + step,
        "plan": f"try {identity}",
        "exec_time": 1.5,
        "exc_type": "KeyError" if is_buggy else None,
        "analysis": "it works",
        "metric": metric if isinstance(metric, dict) else {"value": metric, "maximize": True},
        "is_buggy": is_buggy,
        **more,
    }


def named_metric(name: str, value: float) -> dict[str, Any]:
    return {
        "value": {
            "metric_names": [
                {
                    "metric_name": name,
                    "lower_is_better": True,
                    "data": [{"dataset_name": "xor", "final_value": value}],
                }
            ]
        }
    }


def journal(*nodes: dict[str, Any], **parents: str) -> dict[str, Any]:
    return {"nodes": list(nodes), "node2parent": parents, "__version": "2"}


def test_a_journal_has_good_and_failed_nodes_and_no_decisions() -> None:
    text = json.dumps(
        journal(node("a", 0, 0.8), node("b", 1, is_buggy=True), node("c", 2, 0.9), b="a", c="b")
    )
    [loop] = loops_in(AIDE_JOURNAL, text, "logs/run-3/journal.json")
    assert told(loop.experiments) == [
        ("node 0", "other", 0.8),
        ("node 1", "crashed", None),
        ("node 2", "other", 0.9),
    ]
    assert [(one.word, one.parent) for one in loop.experiments] == [
        ("good", None),
        ("KeyError", "node 0"),
        ("good", "node 1"),
    ]
    assert (loop.name, loop.metric, loop.better, loop.has_decisions, loop.no_gain) == (
        "run-3",
        None,
        Better.HIGHER,
        False,
        None,
    )


def test_a_metric_has_the_name_and_direction_that_all_nodes_agree_on() -> None:
    rmse, mae = ({"value": 0.4, "maximize": False, "name": name} for name in ("rmse", "mae"))
    [loop] = loops_in(
        AIDE_JOURNAL,
        json.dumps(journal(node("a", 0, rmse), node("b", 1, rmse), node("c", 2, is_buggy=True))),
    )
    assert (loop.metric, loop.better) == ("rmse", Better.LOWER)
    [loop] = loops_in(
        AIDE_JOURNAL,
        json.dumps(journal(node("a", 0, rmse), node("b", 1, mae | {"maximize": True}))),
    )
    assert (loop.metric, loop.better) == (None, Better.UNKNOWN)


def test_nodes_that_name_their_own_metrics_make_no_series() -> None:
    text = json.dumps(
        journal(node("a", 0, named_metric("loss", 0.4)), node("b", 1, named_metric("CES", 0.2)))
    )
    [loop] = loops_in(AIDE_JOURNAL, text, "logs/0-run/stage_1_first/journal.json")
    assert loop.no_gain
    assert loop.better is Better.UNKNOWN
    assert [one.secondary for one in loop.experiments] == [{"loss (xor)": 0.4}, {"CES (xor)": 0.2}]


@pytest.mark.parametrize(
    "text",
    [
        '{"nodes": [{"id": 1, "is_buggy": true}, "x", {"is_buggy": null}]}',
        '{"nodes": {"is_buggy": 1}}',
        '{"nodes": [], "is_buggy": 0}',
        '{"nodes": [{"id": "a", "is_buggy"',
        '[{"nodes": 1}, {"is_buggy": 2}]',
    ],
)
def test_other_objects_are_no_journal(text: str) -> None:
    assert not loops_in(AIDE_JOURNAL, text)


WRONG = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["value", "metric_names", "data", "final_value", "maximize"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(WRONG)
def test_a_node_with_wrong_values_is_still_a_node(wrong: Any) -> None:
    names = (
        "step",
        "ctime",
        "plan",
        "exec_time",
        "exc_type",
        "analysis",
        "metric",
        "is_buggy",
        "parent",
        "is_seed_agg_node",
    )
    for name in names:
        [loop] = loops_in(
            AIDE_JOURNAL, json.dumps(journal(node("a", 0, 0.5) | {name: wrong}, node("b", 1, 0.6)))
        )
        assert [one.identity for one in loop.experiments] == ["a", "b"]


TRACKER = {
    "big-model": {
        "tokens": {"prompt": 5, "completion": 2, "reasoning": 1, "cached": 0},
        "cost (USD)": 1.25,
    },
    "small-model": {"tokens": {"prompt": 5, "completion": 2}, "cost (USD)": 0.5},
}


@pytest.mark.slow
@pytest.mark.parametrize("is_packed", [False, True])
def test_a_run_has_the_nodes_of_its_journals_each_once_and_its_cost(
    store: Store, tmp_path: Path, is_packed: bool
) -> None:
    stages = "idea_attempt_0/logs/0-run/stage_"
    folder = written(
        tmp_path / "run",
        {
            f"{stages}10_ablation/journal.json": journal(
                node("c", 0, named_metric("CES", 0.3)), node("e", 1, is_buggy=True), e="c"
            ),
            f"{stages}1_first/journal.json": journal(
                node("a", 0, named_metric("loss", 0.4)), node("b", 1, is_buggy=True), b="a"
            ),
            f"{stages}2_tuning/journal.json": journal(
                node("a", 0, named_metric("loss", 0.4)),
                node("c", 1, named_metric("CES", 0.3)),
                c="a",
            ),
            f"{stages}2_tuning/notes/stage_progress.json": {
                "total_nodes": 2,
                "buggy_nodes": 0,
                "best_metric": "CES↓(0.3)",
            },
            "idea_attempt_0/token_tracker.json": TRACKER,
        },
    )
    report = ingest_paths(store, zipped(folder, tmp_path / "run.zip") if is_packed else folder)
    assert report.total("rejected") == 0
    [shown] = rows(
        store, "select format, name, cost_reported_usd as cost, cost_basis, source_id from v_loops"
    )
    assert (shown["format"], shown["name"], shown["cost"], shown["cost_basis"]) == (
        "aide-run",
        "idea_attempt_0",
        Decimal("1.75"),
        "lower_bound",
    )
    found = rows(
        store,
        (
            "select label, parent, state from experiments where source_id = "
            f"'{shown['source_id']}' order by experiment_no"
        ),
    )
    assert [tuple(one.values()) for one in found] == [
        ("stage 1, node 0", None, "other"),
        ("stage 1, node 1", "stage 1, node 0", "crashed"),
        ("stage 2, node 1", "stage 1, node 0", "other"),
        ("stage 10, node 1", "stage 2, node 1", "crashed"),
    ]
    assert not rows(store, "from measurements")


def test_the_last_stage_of_a_run_has_the_nodes_of_all_each_once(
    store: Store, tmp_path: Path
) -> None:
    """Nothing counts its tokens.

    Each journal was a loop of its own, with a copy of the node that its stage began with.
    """
    stages = "idea_attempt_0/logs/0-run/stage_"
    folder = written(
        tmp_path / "run",
        {
            f"{stages}1_first/journal.json": journal(
                node("a", 0, is_buggy=True), node("b", 1, 0.4), b="a"
            ),
            f"{stages}2_tuning/journal.json": journal(
                node("b", 0, 0.4), node("c", 1, 0.5), node("d", 2, 0.6), c="b", d="b"
            ),
        },
    )
    ingest_paths(store, folder)
    [shown] = rows(store, "select name, source_id from v_loops")
    found = rows(
        store,
        (
            f"select label, parent from experiments where source_id = '{shown['source_id']}' "
            "order by experiment_no"
        ),
    )
    assert (shown["name"], [tuple(one.values()) for one in found]) == (
        "idea_attempt_0",
        [
            ("stage 1, node 0", None),
            ("stage 1, node 1", "stage 1, node 0"),
            ("stage 2, node 1", "stage 1, node 1"),
            ("stage 2, node 2", "stage 1, node 1"),
        ],
    )


def test_a_count_of_tokens_without_journals_is_no_loop() -> None:
    assert not loops_in(AIDE_RUN, json.dumps(TRACKER), "token_tracker.json")
    assert not loops_in(AIDE_RUN, '[{"cost (USD)": 1, "tokens": {}}]', "token_tracker.json")


# ShinkaEvolve's databases

COLUMNS = (
    "id text primary key, code text, parent_id text, generation integer, timestamp real, "
    "code_diff text, combined_score real"
)
COSTS = {"api_costs": 0.004, "embed_cost": 0.0000073125, "novelty_cost": 0.0, "meta_cost": None}


def database(
    path: Path, programs: Sequence[tuple[str, str | None, int, float | None, int, dict[str, Any]]]
) -> sqlite3.Connection:
    """A database of these programs: (id, parent, generation, score, correct, metadata)."""
    connection = sqlite3.connect(path)
    connection.execute("pragma journal_mode = wal")
    connection.execute(
        f"create table programs ({COLUMNS}, public_metrics text, correct boolean, metadata "
        "text, text_feedback text)"
    )
    for identity, parent, generation, score, correct, metadata in programs:
        values = (
            identity,
            "x",
            parent,
            generation,
            1759612372.5 + generation,
            "@@ -1 +1 @@",
            score,
            '{"pass": 3}',
            correct,
        )
        connection.execute(
            f"insert into programs values ({', '.join('?' * 11)})",
            (*values, json.dumps(metadata | COSTS), ""),
        )
    connection.commit()
    return connection


TILES = {
    "patch_name": "tiles",
    "model_name": "m",
    "compute_time": 2.5,
    "llm_result": {"input_tokens": 5, "output_tokens": 2},
}
PROGRAMS: Sequence[tuple[str, str | None, int, float | None, int, dict[str, Any]]] = (
    ("g0", None, 0, 1.0, 1, {"patch_type": "init", "patch_name": "initial_program"}),
    ("g0-copy", None, 0, 1.0, 1, {"_is_island_copy": True, "_original_program_id": "g0"}),
    ("g1", "g0-copy", 1, 1.5, 1, TILES),
    ("g2", "g1", 2, 0.0, 0, {}),
    ("g3", "g1", 3, 1.2, 1, {}),
    ("g4", "g1", 4, float("inf"), 1, {}),
    ("spawned", "g1", 5, 1.5, 1, {"_spawned_island": True, "_original_program_id": "g1"}),
)  # fmt: skip


def shinka_loops(path: Path) -> list[Loop]:
    return list(SHINKA.read(MeasuredFile(str(path), DATABASE, path.parent.joinpath)))


def test_a_database_has_its_programs_without_copies_for_islands(tmp_path: Path) -> None:
    database(tmp_path / "evolution_db.sqlite", PROGRAMS).close()
    [loop] = shinka_loops(tmp_path / "evolution_db.sqlite")
    assert told(loop.experiments) == [
        ("generation 0", "baseline", 1.0),
        ("generation 1", "kept", 1.5),
        ("generation 2", "crashed", None),
        ("generation 3", "other", 1.2),
        ("generation 4", "crashed", None),
    ]
    first = loop.experiments[1]
    assert (first.parent, first.model, first.tokens, first.duration_ms, first.description) == (
        "generation 0",
        "m",
        7,
        2500,
        "tiles",
    )
    assert first.cost_usd == Decimal("0.0040073125")
    assert first.secondary == {"pass": 3.0}
    assert loop.cost_basis is CostBasis.EXACT


def test_proposals_without_a_program_make_the_cost_a_lower_bound(tmp_path: Path) -> None:
    with closing(database(tmp_path / "programs.sqlite", PROGRAMS)) as connection:
        connection.execute(
            "create table attempt_log (id integer primary key, generation integer, stage "
            "text, status text, details text)"
        )
        for generation in (1, 2, 4, 6, 6, 8, 30):
            connection.execute(
                (
                    "insert into attempt_log (generation, stage, status) values (?, 'proposal', "
                    "'failed')"
                ),
                (generation,),
            )
        connection.execute("update programs set generation = 9 where id = 'g4'")
        connection.commit()
        [loop] = shinka_loops(tmp_path / "programs.sqlite")
    assert loop.cost_basis is CostBasis.LOWER_BOUND
    assert loop.notes[0].endswith(": 3")  # 4, 6 and 8; what is under way may still become a program


def test_a_first_program_that_failed_is_no_baseline(tmp_path: Path) -> None:
    database(
        tmp_path / "programs.sqlite", (("g0", None, 0, 0.0, 0, {}), ("g1", "g0", 1, 0.5, 1, {}))
    ).close()
    [loop] = shinka_loops(tmp_path / "programs.sqlite")
    assert [one.state for one in loop.experiments] == [State.CRASHED, State.KEPT]


@pytest.mark.slow
def test_a_database_is_read_with_the_log_beside_it_and_left_as_it_was(
    store: Store, tmp_path: Path
) -> None:
    """All of a run's programs may be in `-wal` alone: the run was killed, or still writes."""
    with closing(database(tmp_path / "evolution_db.sqlite", PROGRAMS)):
        before = {path.name: path.read_bytes() for path in tmp_path.glob("evolution_db*")}
        assert before["evolution_db.sqlite-wal"]
        report = ingest_paths(store, tmp_path)
        assert {path.name: path.read_bytes() for path in tmp_path.glob("evolution_db*")} == before
    assert report.total("rejected") == 0
    [cost] = rows(
        store,
        (
            "select sum(experiments.cost_reported_usd) as usd from experiments join v_loops "
            "using (source_id, loop_no)"
        ),
    )
    assert cost["usd"] == Decimal("0.020036560")  # of five programs, each to a billionth
    found = rows(store, "select kind from sources order by name")
    assert [one["kind"] for one in found] == [
        "loop",
        "binary",
        "loop",
    ]  # itself, -shm, -wal: both versions of one loop


@pytest.mark.slow
def test_what_a_run_adds_is_read_while_the_database_itself_stays_the_same(
    store: Store, tmp_path: Path
) -> None:
    with closing(database(tmp_path / "evolution_db.sqlite", PROGRAMS[:3])) as connection:
        ingest_paths(store, tmp_path)
        connection.execute(
            "insert into programs select 'g9', code, 'g1', 9, timestamp + 9, '', 2.5, '', 1, "
            "'', '' from programs limit 1"
        )
        connection.commit()
        ingest_paths(store, tmp_path)
        [shown] = rows(store, SHOWN)
    assert (shown["experiments"], shown["best"]) == (3, 2.5)


@pytest.mark.slow
def test_other_databases_are_binary_data_and_a_damaged_one_is_a_reject(
    store: Store, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as connection:
        connection.execute("create table programs (id, title)")
    with closing(sqlite3.connect(tmp_path / "view.sqlite")) as connection:
        connection.execute(
            "create view programs as select 1 as id, 0 as generation, 1 as combined_score, 1 "
            "as correct"
        )
    database(tmp_path / "damaged.sqlite", PROGRAMS).close()
    damaged = (tmp_path / "damaged.sqlite").read_bytes()
    (tmp_path / "damaged.sqlite").write_bytes(damaged[:4096] + b"\xff" * (len(damaged) - 4096))
    report = ingest_paths(store, tmp_path)
    assert report.total("rejected") == 1
    [reject] = rows(store, "select detail from rejects")
    assert "shinka-sqlite" in reject["detail"]
    assert {
        one["kind"]
        for one in rows(store, "select kind from sources where name not like '%damaged%'")
    } == {"binary"}
