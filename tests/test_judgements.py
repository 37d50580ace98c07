"""Judgements that others published of runs, and the effort that models were asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tachograph
from app.queries.agents import agents
from app.queries.filters import NO_FILTERS
from app.queries.reading import Undated
from app.queries.rules import RULES, scores
from app.text.overview import doubts_about
from ingest.context.sidecars import _effort_in
from ingest.store.database import Store
from ingest.store.undo import undo
from tests.conftest import fetched, ingest_paths
from tests.golden_logs import LOGS
from tests.test_rules import gso_report

JUDGED = (
    LOGS / "harbor" / "a_reward_beside_a_trajectory_is_score_task_and_measured_speedup" / "jobs"
)


def test_a_judged_run_is_found_by_filter_verdict_task_and_rule(store: Store) -> None:
    """A hack that only its file knows would be counted as the best result of all."""
    ingest_paths(store, JUDGED)
    found = tachograph.open(store.location)
    by = {word: found.runs(judged=word).to_pylist() for word in ("hack", "clean")}
    assert [len(runs) for runs in by.values()] == [1, 1]
    [hack] = found.verdicts(judged="hack").to_pylist()
    assert (hack["run_id"], hack["judged"]) == (by["hack"][0]["run_id"], "hack")
    [cell] = found.tasks(judged="hack").to_pylist()
    assert any(", a hack" in str(value) for value in cell.values())
    [whole, *_] = agents(store, NO_FILTERS)
    assert (whole.faster, whole.hacks) == (1, 1)
    [doubt] = [
        one for one in doubts_about([whole], [], Undated(0), "", NO_FILTERS) if "hack" in one.text
    ]
    assert doubt.text == "1 of the 1 faster results was judged a hack by others"
    for key, without in (("kernelbench", 0.0), ("harmonic", 1.0)):
        adjusted = [one.hack_control for one in scores(store, [RULES[key]])]
        assert without in adjusted, key


def test_an_undone_judgement_is_gone_and_comes_back(store: Store, tmp_path: Path) -> None:
    report = gso_report(tmp_path, hacked=["numpy__numpy-0000000"])
    counts = []
    for _ in range(2):
        done = ingest_paths(store, report)
        counts += fetched(store, "select judged, count(*) from v_published group by 1")
        undo(store, done.ingest_id or 0)
        assert fetched(store, "select * from published") == []
    assert counts == [("hack", 1)] * 2


def test_two_efforts_of_one_model_are_two_scores_and_one_model(
    store: Store, tmp_path: Path
) -> None:
    """Else a run at one effort is judged by the measurement of another."""
    for name in ("gpt-5.4-high.json", "gpt-5.4-xhigh.json"):
        report = gso_report(tmp_path, name, hacked=[])
        report.write_text(report.read_text() + "\n" * len(name))  # equal bytes are one file
    ingest_paths(store, tmp_path)
    assert fetched(store, "select distinct model, effort from v_published order by all") == [
        ("gpt-5.4", "high"),
        ("gpt-5.4", "xhigh"),
    ]
    log = json.loads((LOGS / "harbor" / "the_score_is_the_reward.jsonl").read_text().split("\n")[0])
    log["config"], log["agent_info"]["model_info"] = {}, {"name": "gpt-5.4-xhigh"}
    (tmp_path / "result.json").write_text(json.dumps(log))
    ingest_paths(store, tmp_path / "result.json", commit="0000000")
    [run] = fetched(store, "select model, effort from v_runs")
    assert run == ("gpt-5.4", "xhigh")
    joined = fetched(
        store,
        "select distinct effort from v_published join v_measured_runs as found using (subject) "
        "where found.run_id is not null",
    )
    assert joined == [("xhigh",)]


@pytest.mark.parametrize(
    ("command", "effort"),
    [
        (["claude", "-p", "x", "--effort", "high"], "high"),
        (["codex", "exec", "-c", 'model_reasoning_effort = "xhigh"', "go"], "xhigh"),
        (["grok", "--reasoning-effort=low"], "low"),
        (["claude", "-p", "make an --effort high claim"], None),
    ],
)
def test_a_command_line_names_the_effort(command: list[str], effort: str | None) -> None:
    assert _effort_in(command) == effort
