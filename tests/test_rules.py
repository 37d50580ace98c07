"""The rules of benchmarks on what was measured: who succeeds, who is left out and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli.claims import RULE_KEYS
from app.queries.rules import NO_BASELINE, NO_REFERENCE, NOT_RUN, NOT_THE_AGENTS, RULES, scores
from ingest.store.database import Store
from tests.conftest import Run, ingest_paths

LONG = "agent,task,variant,metric,value,unit,status,failure,machine,repo\n"


def a_store(store: Store, folder: Path, lines: str) -> Store:
    (folder / "results.csv").write_text(LONG + lines)
    ingest_paths(store, folder / "results.csv")
    return store


def test_the_command_line_has_the_rules() -> None:
    assert tuple(RULES) == RULE_KEYS


@pytest.fixture
def gso(store: Store, tmp_path: Path) -> Store:
    """A report of ten tasks: one reached the goal, four passed without it, three failed their tests, two have another end."""
    stats = {
        f"{short}_speedup_{pair}": value
        for short in ("gm", "hm", "am")
        for pair, value in (("patch_base", 1.6), ("patch_commit", 0.97), ("commit_base", 1.65))
    }
    names = [f"numpy__numpy-00000{number:02d}" for number in range(10)]
    sets = {"opt_commit_ids": names[:1], "passed_ids": names[:5], "test_failed_ids": names[5:8], "base_failed_ids": names[8:9]}
    report = {"summary": {}, "instance_sets": sets | {"error_ids": names[9:]}, "opt_stats": {names[0]: stats}}
    (tmp_path / "o3.json").write_text(json.dumps(report))
    ingest_paths(store, tmp_path / "o3.json")
    return store


def by_rule(store: Store) -> dict[str, tuple[int, float | None, dict[str, int]]]:
    """Rule → tasks, score and what is left out, of a store with one agent."""
    found = {one.rule.key: (one.cases, one.score, dict(one.left_out)) for one in scores(store)}
    assert len(found) == len(RULES) == len(scores(store))
    return found


def test_a_report_without_runs_is_judged_by_every_rule(gso: Store) -> None:
    """GSO counts its failed tests and those without the goal; a failed baseline and an unknown error are not the agent's."""
    rules = by_rule(gso)
    assert rules["gso"] == (8, 1 / 8, {NOT_THE_AGENTS: 2})
    assert rules["iso"][:2] == (10, 1 / 10), "it counts them as worse by definition"
    assert rules["baseline"] == (4, 1 / 4, {NO_BASELINE: 4, NOT_THE_AGENTS: 2})
    assert rules["geometric"][1] == pytest.approx(1.6 ** (1 / 4))
    assert rules["harmonic"][1] == pytest.approx(4 / (1 / 1.6 + 3))
    assert rules["swe-fficiency"][1] == pytest.approx(0.97)


def test_the_command_lists_a_rule_without_runs(gso: Store, tachograph: Run) -> None:
    done = tachograph("verdicts", "--rule", "gso", "--format", "json", "--db", gso.location)
    [row] = json.loads(done.stdout)
    assert {key: row[key] for key in ("study", "model", "tasks", "successes", "left_out")} == {
        "study": "GSO", "model": "o3", "tasks": 8, "successes": 1, "left_out": 2,
    }  # fmt: skip
    assert "--rule" in tachograph("verdicts", "--db", gso.location).stderr
    assert tachograph("verdicts", "--rule", "gso", "--by", "agent", "--db", gso.location).returncode == 2


def test_iso_bench_compares_with_the_human(store: Store, tmp_path: Path) -> None:
    """beats, similar and worse at 5 % of the human's value; a value that ours calls not comparable counts there."""
    lines = ""
    for task, human, agent, machine in (("a", 100, 90, "x"), ("b", 100, 104, "x"), ("c", 100, 106, "x"), ("d", 100, 90, "y")):
        lines += f"codex,{task},reference,ttft,{human},ms,ok,,x,vllm\ncodex,{task},candidate,ttft,{agent},ms,ok,,{machine},vllm\n"
    [iso] = [one for one in scores(a_store(store, tmp_path, lines)) if one.rule.key == "iso"]
    assert (iso.cases, iso.score) == (4, 3 / 4)
    [swe] = [one for one in scores(store) if one.rule.key == "swe-fficiency"]
    assert (swe.cases, swe.left_out) == (3, {NO_REFERENCE: 1})


def test_a_task_that_was_only_listed_is_left_out_as_not_run(store: Store, tmp_path: Path) -> None:
    lines = (
        "codex,a,reference,ttft,100,ms,ok,,x,vllm\ncodex,a,candidate,ttft,90,ms,ok,,x,vllm\ncodex,b,candidate,ttft,,ms,not_run,,x,vllm\n"
    )
    [iso] = [one for one in scores(a_store(store, tmp_path, lines)) if one.rule.key == "iso"]
    assert (iso.cases, iso.left_out) == (1, {NOT_RUN: 1})
