"""The rules of benchmarks on what was measured: who succeeds, who is left out and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.queries.rules import (
    NO_BASELINE,
    NO_REFERENCE,
    NO_RESULT,
    NOT_RUN,
    NOT_THE_AGENTS,
    RULES,
    scores,
)
from ingest.store.database import Store
from tests.conftest import Run, fetched, ingest_paths
from tests.examples import a_share

LONG = "agent,task,variant,metric,value,unit,status,failure,machine,repo\n"


def a_store(store: Store, folder: Path, lines: str) -> Store:
    (folder / "results.csv").write_text(LONG + lines)
    ingest_paths(store, folder / "results.csv")
    return store


def gso_report(folder: Path, name: str = "o3.json", *, hacked: list[str] | None = None) -> Path:
    """A report of twelve tasks.

    One reached the goal, four passed without it, three failed their tests, two have another end,
    two none.
    """
    stats = {
        f"{short}_speedup_{pair}": value
        for short in ("gm", "hm", "am")
        for pair, value in (("patch_base", 1.6), ("patch_commit", 0.97), ("commit_base", 1.65))
    }
    names = [f"numpy__numpy-00000{number:02d}" for number in range(10)]
    sets = {
        "opt_commit_ids": names[:1],
        "passed_ids": names[:5],
        "test_failed_ids": names[5:8],
        "base_failed_ids": names[8:9],
    }
    judged = {} if hacked is None else {"hacked_ids": hacked}
    summary = {"total_instances": 12, "score": 8.33} | (
        {} if hacked is None else {"score_hack_control": 0.0 if hacked else 8.33}
    )
    report = {
        "summary": summary,
        "instance_sets": sets | {"error_ids": names[9:]} | judged,
        "opt_stats": {names[0]: stats},
    }
    (folder / name).write_text(json.dumps(report))
    return folder / name


@pytest.fixture
def gso(store: Store, tmp_path: Path) -> Store:
    """The report of one model."""
    ingest_paths(store, gso_report(tmp_path))
    return store


def by_rule(store: Store) -> dict[str, tuple[int, float | None, dict[str, int]]]:
    """Rule → tasks, score and what is left out, of a store with one agent."""
    found = {one.rule.key: (one.cases, one.score, dict(one.left_out)) for one in scores(store)}
    assert len(found) == len(RULES) == len(scores(store))
    return found


def test_a_report_without_runs_is_judged_by_every_rule(gso: Store) -> None:
    """GSO counts every task.

    Other rules leave out a failed baseline, an unknown error, and tasks without a prediction.
    """
    rules = by_rule(gso)
    assert rules["gso"] == (12, 1 / 12, {})
    assert rules["iso"] == (10, 1 / 10, {NO_RESULT: 2}), "it counts failures as worse by definition"
    assert rules["baseline"] == (4, 1 / 4, {NO_BASELINE: 4, NOT_THE_AGENTS: 2, NO_RESULT: 2})
    assert rules["geometric"][1] == pytest.approx(1.6 ** (1 / 4))
    assert rules["harmonic"][1] == pytest.approx(4 / (1 / 1.6 + 3))
    assert rules["algotune"][0] == 6
    assert rules["algotune"][1] == pytest.approx(6 / (1 / 1.6 + 5))


def test_an_impossible_number_of_tasks_is_no_denominator(store: Store, tmp_path: Path) -> None:
    report = json.loads(gso_report(tmp_path).read_text())
    for name, total in (("a", 1e300), ("b", -5), ("c", "many"), ("d", float("nan"))):
        (tmp_path / f"{name}.json").write_text(
            json.dumps(report | {"summary": {"total_instances": total}})
        )
    ingest_paths(store, tmp_path)
    assert {one.who.model: one.cases for one in scores(store, [RULES["gso"]])} == {
        "o3": 12
    } | dict.fromkeys("abcd", 10)


def answer(tachograph: Run, store: Store, *words: str) -> list[dict[str, Any]]:
    done = tachograph("verdicts", *words, "--format", "json", "--db", store.location)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_the_command_lists_a_rule_without_runs(gso: Store, tachograph: Run) -> None:
    [row] = answer(tachograph, gso, "--rule", "gso")
    assert {
        key: row[key]
        for key in (
            "study",
            "model",
            "tasks",
            "successes",
            "left_out",
            "published_share",
            "hack_control_share",
        )
    } == {
        "study": "GSO",
        "model": "o3",
        "tasks": 12,
        "successes": 1,
        "left_out": 0,
        "published_share": 0.0833,
        "hack_control_share": None,
    }
    assert row["denominator"].startswith("12 of 12: all tasks")
    assert "--rule" in tachograph("verdicts --db", gso.location).stderr
    assert tachograph("verdicts --rule gso --by agent --db", gso.location).returncode == 2
    assert tachograph("verdicts --steps --db", gso.location).returncode == 2


def test_hacks_and_efforts_are_columns(store: Store, tmp_path: Path, tachograph: Run) -> None:
    """One model at two efforts; the judged one has a second score, the other none."""
    reports = (
        gso_report(tmp_path, "gpt-9-high.json", hacked=["numpy__numpy-0000000"]),
        gso_report(tmp_path, "gpt-9-xhigh.json"),
    )
    ingest_paths(store, *reports)
    keys = ("model", "effort", "score_share", "hack_control_share", "published_hack_control_share")
    assert [
        tuple(row[key] for key in keys) for row in answer(tachograph, store, "--rule", "gso")
    ] == [
        ("gpt-9", "high", 1 / 12, 0.0, 0.0),
        ("gpt-9", "xhigh", 1 / 12, None, None),
    ]
    assert [row["score_share"] for row in answer(tachograph, store, "--rule", "baseline")] == [
        0.0,
        1 / 4,
    ]


def test_the_steps_lead_from_the_published_score_to_the_rule_baseline(
    store: Store, tmp_path: Path, tachograph: Run
) -> None:
    """Each is a named change; all but the side step without the worst add up."""
    ingest_paths(store, gso_report(tmp_path, hacked=["numpy__numpy-0000000"]))
    rows = answer(tachograph, store, "--rule", "gso", "--steps")
    assert [(row["step"], row["tasks"], row["score_share"]) for row in rows] == [
        ("published", 12, 1 / 12),
        ("missing", 10, 1 / 10),
        ("infrastructure", 8, 1 / 8),
        ("hacks", 8, 0.0),
        ("worst", 0, None),
        ("noise", 4, 0.0),
    ]
    [baseline] = answer(tachograph, store, "--rule", "baseline")
    changes = sum(row["change_points"] or 0 for row in rows if row["step"] != "worst")
    assert changes / 100 == pytest.approx(baseline["score_share"] - rows[0]["score_share"])
    assert answer(tachograph, store, "--rule", "baseline", "--steps") == rows
    refused = tachograph("verdicts --rule harmonic --steps --db", store.location)
    assert refused.returncode == 2
    assert "algotune" in refused.stderr


def test_a_store_without_comparable_measurements_has_a_sentence(
    store: Store, tmp_path: Path, tachograph: Run
) -> None:
    (tmp_path / "run.json").write_text(
        json.dumps({"type": "result", "subtype": "success", "session_id": "s", "duration_ms": 9})
    )
    ingest_paths(store, tmp_path / "run.json")
    for rule in a_share(RULES, 3):
        done = tachograph("verdicts --rule", rule, "--db", store.location)
        assert (done.returncode, "Nothing was measured" in done.stderr) == (0, True), rule
    (tmp_path / "results.csv").write_text("metric,baseline,candidate,unit\nstart,12.5,10,ms\n")
    ingest_paths(store, tmp_path / "results.csv")
    for words in (("--rule", "baseline"), ("--rule", "gso", "--steps")):
        done = tachograph("verdicts", *words, "--db", store.location)
        assert done.returncode == 0
    assert (
        "2 measured values, none of a candidate of known task"
        in tachograph("verdicts --rule iso --db", store.location).stderr
    )


def test_swefficiency_counts_every_row_and_its_names_are_columns(
    store: Store, tmp_path: Path, tachograph: Run
) -> None:
    """A failed patch, or one without a runtime, is no edit: 1 ÷ the human's speedup."""
    header = (
        "instance_id,raw_pred_speedup_ratio,pred_speedup_ratio,gold_speedup_ratio,"
        "human_speedup_ratio,correctness,pre_edit_runtime\n"
    )
    rows: tuple[str, ...] = (
        "a,3.0,3.0,2.0,1.5,1.0,0.25",
        "b,90.5,1.0,4.0,0.25,0.0,1.5",
        "c,,1.0,5.0,0.2,0.0,2.5",
    )
    for run in (
        "some-model_maxiter_100_N_v0.51.1-no-hint-run_1",
        "some-model_maxiter_100_N_v0.51.1-no-hint-run_2",
    ):
        (tmp_path / f"eval_report_{run}.csv").write_text(header + "\n".join(rows) + "\n")
        rows = rows[1:]
    ingest_paths(store, tmp_path)
    found = answer(tachograph, store, "--rule", "swe-fficiency")
    assert [
        (row["agent"], row["agent_version"], row["model"], row["tasks"], row["left_out"])
        for row in found
    ] == [
        ("openhands", "0.51.1", "some-model", 3, 0),
        ("openhands", "0.51.1", "some-model", 2, 0),
    ]
    assert [row["score_ratio"] for row in found] == [
        pytest.approx(3 / (1 / 1.5 + 4 + 5)),
        pytest.approx(2 / 9),
    ]
    few = tachograph("verdicts --rule iso --db", store.location)
    assert "Not shown: 1 row, of 2 tasks that the rule cannot judge (--all)." in few.stderr
    whole = answer(tachograph, store, "--rule", "iso", "--all")
    assert [row["tasks"] for row in whole] == [3, 0]
    steps = answer(tachograph, store, "--rule", "swe-fficiency", "--steps")
    assert [step["tasks"] for step in steps[:6]] == [3, 3, 2, 2, 0, 2]
    assert steps[4]["what"].startswith("no task is left")
    assert steps[5]["score_share"] == 1 / 2, "from a mean to a share"
    assert steps[5]["change_points"] is steps[5]["change_ratio"] is None


def test_algotune_counts_what_is_no_speedup_as_one(store: Store, tmp_path: Path) -> None:
    """N/A, below 1, and a task that the model lacks; the times of the baseline name the tasks."""
    summary = {
        "a": {"m": {"final_speedup": "4.0"}},
        "b": {"m": {"final_speedup": "0.5"}},
        "c": {"m": {"final_speedup": "N/A"}},
    }
    (tmp_path / "agent_summary.json").write_text(
        json.dumps(summary | {"d": {"other": {"final_speedup": "2"}}})
    )
    ingest_paths(store, tmp_path / "agent_summary.json")
    found = scores(store, [RULES["algotune"]])
    assert [(one.who.model, one.cases) for one in found] == [("m", 4), ("other", 4)]
    assert [one.score for one in found] == [pytest.approx(4 / 3.25), pytest.approx(4 / 3.5)]
    runs = {"0": {"success": True, "avg_min_ms": 20.5}}
    (tmp_path / "generation.json").write_text(
        json.dumps({name: {"baseline_runs": runs, "dataset_size": 1} for name in "abcde"})
    )
    ingest_paths(store, tmp_path / "generation.json")
    assert [one.cases for one in scores(store, [RULES["algotune"]])] == [5, 5]


def test_kernelbench_has_fast_p_of_all_problems_of_a_level(
    store: Store, tmp_path: Path, tachograph: Run
) -> None:
    """Wrong kernels and those without a result count; exactly twice as fast is not over twice."""

    def baseline(hardware: str) -> str:
        times = {
            "mean": 4.0,
            "std": 0.1,
            "min": 3.9,
            "max": 4.1,
            "num_trials": 100,
            "hardware": hardware,
            "device": "0",
        }
        return json.dumps(
            {
                "level1": {f"{number}_Problem.py": times for number in range(1, 7)},
                "level2": {"1_Other.py": times},
            }
        )

    def kernel(runtime: float, *, correct: bool = True) -> list[dict[str, Any]]:
        found = {
            "sample_id": 0,
            "compiled": True,
            "correctness": correct,
            "runtime": runtime,
            "metadata": {"hardware": "L4"},
        }
        return [found | {"runtime_stats": {"std": 0.1, "num_trials": 100} if correct else {}}]

    (tmp_path / "m_level1").mkdir()
    (tmp_path / "baseline_time_torch.json").write_text(baseline("H100"))
    kernels = {
        "1": kernel(1.0),
        "2": kernel(2.0),
        "3": kernel(8.0),
        "4": kernel(-1.0, correct=False),
        "5": kernel(-1.0),
    }
    (tmp_path / "m_level1" / "eval_results.json").write_text(json.dumps(kernels))
    ingest_paths(store, tmp_path)
    [row] = answer(tachograph, store, "--rule", "kernelbench")
    keys = tuple(
        "study run_name tasks fast_0_share fast_1_share fast_2_share score_share left_out".split()
    )
    assert [row[key] for key in keys] == [
        "KernelBench, level 1",
        "m_level1",
        6,
        3 / 6,
        2 / 6,
        1 / 6,
        2 / 6,
        0,
    ]
    assert "3 compared across machines" in row["denominator"]
    (tmp_path / "baseline_time_torch.json").write_text(baseline("L4"))
    ingest_paths(store, tmp_path / "baseline_time_torch.json")
    assert "across" not in answer(tachograph, store, "--rule", "kernelbench")[0]["denominator"]


def test_labels_without_a_model_join_that_which_tried_the_task(
    store: Store, tmp_path: Path
) -> None:
    """The agents are called as ISO-Bench's folders are; its table need not name their models."""
    lines = "agent,model,commit,variant,metric,value,unit\n"
    agents = (
        ("claude_code", "sonnet-4.5"),
        ("codex_cli", "gpt-5"),
        ("trae", "gpt-5"),
        ("trae", "sonnet-4.5"),
        ("claude_code", "haiku-9"),
    )
    for agent, model in agents:
        commit = "b1b2c3d4" if model == "haiku-9" else "a1b2c3d4"
        for variant, value in (("reference", 100), ("candidate", 90)):
            lines += f"{agent},{model},{commit},{variant},ttft,{value},ms\n"
    (tmp_path / "results.csv").write_text(lines)
    (tmp_path / "labels.csv").write_text(
        "repo,commit,agent,hard,target\n"
        + "".join(
            f"vllm,a1b2c3d4,{agent},beats,same_target\n"
            for agent in ("claude_code", "codex_cli", "trae_sonnet", "trae_gpt5")
        )
    )
    ingest_paths(store, tmp_path)
    labels = fetched(
        store, "select agent, model from measurements where metric = 'hard' order by all"
    )
    assert labels == [
        ("claude-code", None),
        ("codex", None),
        ("trae-agent", "gpt-5"),
        ("trae-agent", "sonnet-4.5"),
    ]


def test_iso_bench_compares_with_the_human(store: Store, tmp_path: Path) -> None:
    """beats, similar and worse at 5 % of the human's value.

    A value that ours calls not comparable counts there.
    """
    lines = ""
    for task, human, agent, machine in (
        ("a", 100, 90, "x"),
        ("b", 100, 104, "x"),
        ("c", 100, 106, "x"),
        ("d", 100, 90, "y"),
    ):
        lines += (
            f"codex,{task},reference,ttft,{human},ms,ok,,x,vllm\ncodex,{task},candidate,ttft,"
            f"{agent},ms,ok,,{machine},vllm\n"
        )
    [iso] = [one for one in scores(a_store(store, tmp_path, lines)) if one.rule.key == "iso"]
    assert (iso.cases, iso.score) == (4, 3 / 4)
    [swe] = [one for one in scores(store) if one.rule.key == "swe-fficiency"]
    assert (swe.cases, swe.left_out) == (3, {NO_REFERENCE: 1})


def test_a_task_that_was_only_listed_is_left_out_as_not_run(store: Store, tmp_path: Path) -> None:
    lines = (
        "codex,a,reference,ttft,100,ms,ok,,x,vllm\ncodex,a,candidate,ttft,90,ms,ok,,x,"
        "vllm\ncodex,b,candidate,ttft,,ms,not_run,,x,vllm\n"
    )
    [iso] = [one for one in scores(a_store(store, tmp_path, lines)) if one.rule.key == "iso"]
    assert (iso.cases, iso.left_out) == (1, {NOT_RUN: 1})
