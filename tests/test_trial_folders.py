"""A trial's folder: the result, a trajectory and the agent's own log are one run.

The result is that of the harness. They are one run in any way and order of ingest.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from ingest.store.undo import undo
from tests.conftest import ingest_paths, record
from tests.documents import lines, runs_in_store
from tests.test_atif import step, sums, trajectory
from tests.test_harbor import TRIAL, raised, trial
from tests.test_mini_swe_agent import reply
from tests.test_mini_swe_agent import second as mini_record
from tests.test_terminal_bench import results as terminal_results
from tests.test_terminal_bench import trial as terminal_trial

RESULT, ATIF, OWN = "result.json", "agent/trajectory.json", "agent/claude-code.txt"
USAGE = {
    "inputTokens": 6,
    "cacheReadInputTokens": 91_834,
    "cacheCreationInputTokens": 6_378,
    "outputTokens": 700,
    "costUSD": 0.45,
}
CLAUDE = {"name": "claude-code", "version": "2.1.0"}


def own_log(**changes: Any) -> str:
    """The agent's own stream, which knows all classes of tokens."""
    result = record(
        modelUsage={"claude-opus-4-1": USAGE},
        total_cost_usd=0.45,
        result="Decoding is 2x faster.",
        **changes,
    )
    return lines(
        {"type": "system", "subtype": "init", "session_id": result["session_id"], "cwd": "/app"},
        result,
    )


def folder(
    place: Path, files: Sequence[str] = (RESULT, ATIF, OWN), own: str | None = None, **changes: Any
) -> Path:
    """The folder of a trial with some of its files."""
    told = {
        RESULT: json.dumps(trial(**changes)),
        ATIF: json.dumps(trajectory(step(2), final=sums(98_218, 700, 91_834, 0.5), agent=CLAUDE)),
        OWN: own_log() if own is None else own,
    }
    for name in files:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(told[name])
    return place


def counts(run: dict[str, Any]) -> list[int | None]:
    return [run[f"{name}_tokens"] for name in ("input", "cache_read", "cache_write", "output")]


def test_the_agents_own_log_gives_the_tokens_and_the_harness_the_score(
    store: Store, tmp_path: Path
) -> None:
    report = ingest_paths(store, folder(tmp_path / "hello-world__AbCdEfG"))
    assert (report.total("accepted"), report.total("duplicates"), report.total("rejected")) == (
        1,
        2,
        0,
    )
    [run] = runs_in_store(store)
    assert (run["run_id"], run["agent"], run["record_kind"]) == (TRIAL, "claude-code", "result")
    assert (counts(run), run["tokens_basis"], run["cost_own_usd"]) == (
        [6, 91_834, 6378, 700],
        "exact",
        Decimal("0.45"),
    )
    assert (run["score"], run["task"], run["outcome"]) == (1.0, "hello-world", "completed")
    assert (run["agent_version"], run["claimed_speedup"], run["cwd"]) == ("2.1.0", 2.0, "/app")
    with store.reading() as connection:
        [(origins,)] = connection.sql("select origins from runs").fetchall()
        names = dict(connection.sql("select source_id, name from sources").fetchall())
        assert connection.sql(
            "select distinct run_id from model_usage union select distinct run_id from claims"
        ).fetchall() == [(TRIAL,)]
    assert {figure: Path(names[source]).name for figure, source in origins.items()} == {
        "score": "result.json",
        "prompt": "trajectory.json",
        "title": "trajectory.json",
        "times": "trajectory.json",
        "agent_version": "trajectory.json",
        "task": "result.json",
        "tool_calls": "trajectory.json",
    }


@pytest.mark.slow
def test_the_order_of_its_files_changes_nothing(tmp_path: Path) -> None:
    """Each file comes before each other one, and after it."""
    place = folder(tmp_path / "trial")
    seen = []
    for number, order in enumerate(((RESULT, ATIF, OWN), (OWN, ATIF, RESULT))):
        store = Store(str(tmp_path / f"{number}.duckdb"))
        for name in order:
            ingest_paths(store, place / name)
        seen.append(runs_in_store(store))
    assert all(runs == seen[0] for runs in seen)
    assert len(seen[0]) == 1
    assert (rebuild(store).rejects, runs_in_store(store)) == (0, seen[0])


def test_what_is_undone_is_as_if_it_had_never_come(store: Store, tmp_path: Path) -> None:
    place = folder(tmp_path / "trial")
    ingest_paths(store, place / OWN)
    alone = runs_in_store(store)
    ingest_paths(store, place / RESULT)
    [run] = runs_in_store(store)
    assert (alone[0]["score"], run["score"]) == (None, 1.0)
    undo(store, 2)
    assert runs_in_store(store) == alone
    ingest_paths(store, place / RESULT)
    undo(store, 1)
    [of_harness] = runs_in_store(store)
    assert (of_harness["run_id"], of_harness["record_kind"], counts(of_harness)) == (
        TRIAL,
        "trial",
        [6384, 91_834, None, 700],
    )


def test_a_log_without_tokens_leaves_them_to_the_harness(store: Store, tmp_path: Path) -> None:
    """And the harness says how a run ended whose log does not."""
    cut = lines(
        {"type": "thread.started", "thread_id": "0199a213-81c0-7800-8aa1-bbab2a035a53"},
        {"type": "turn.started"},
    )
    ingest_paths(
        store, folder(tmp_path / "trial", (RESULT, OWN), cut, **raised("AgentTimeoutError"))
    )
    [run] = runs_in_store(store)
    assert (run["run_id"], run["record_kind"], counts(run)) == (
        TRIAL,
        "trial",
        [6384, 91_834, None, 700],
    )
    assert (run["outcome"], run["score"], run["session_id"]) == (
        "limit_reached",
        1.0,
        "0199a213-81c0-7800-8aa1-bbab2a035a53",
    )


def test_the_harness_says_how_a_run_ended_whose_log_is_cut(store: Store, tmp_path: Path) -> None:
    usage = {"input_tokens": 98_218, "cached_input_tokens": 91_834, "output_tokens": 700}
    cut = lines(
        {"type": "thread.started", "thread_id": "0199a213-81c0-7800-8aa1-bbab2a035a53"},
        {"type": "turn.started"},
        {"type": "turn.completed", "usage": usage},
        {"type": "turn.started"},
    )
    ingest_paths(
        store, folder(tmp_path / "trial", (RESULT, OWN), cut, **raised("AgentTimeoutError"))
    )
    [run] = runs_in_store(store)
    assert (run["record_kind"], run["outcome"], run["terminal_reason"]) == (
        "stream",
        "limit_reached",
        "AgentTimeoutError",
    )
    assert (run["errors"], run["num_turns"]) == ("It took too long.", 2)


def test_a_cost_that_only_the_harness_tells_is_the_runs(store: Store, tmp_path: Path) -> None:
    usage = {"input_tokens": 98_218, "cached_input_tokens": 91_834, "output_tokens": 700}
    log = lines(
        {"type": "thread.started", "thread_id": "0199a213-81c0-7800-8aa1-bbab2a035a53"},
        {"type": "turn.started"},
        {"type": "turn.completed", "usage": usage},
    )
    place = folder(tmp_path / "trial", (RESULT, OWN), log)
    ingest_paths(store, place / OWN)
    [before] = runs_in_store(store)
    ingest_paths(store, place / RESULT)
    [run] = runs_in_store(store)
    assert (before["cost_own_usd"], run["cost_own_usd"], run["record_kind"]) == (
        None,
        Decimal("0.5"),
        "stream",
    )
    undo(store, 2)
    assert runs_in_store(store) == [before]


def test_a_log_of_several_runs_is_not_that_of_the_trial(store: Store, tmp_path: Path) -> None:
    ingest_paths(
        store, folder(tmp_path / "trial", own=own_log() + own_log(uuid="another", session_id="s-2"))
    )
    assert sorted(run["record_kind"] for run in runs_in_store(store)) == [
        "result",
        "result",
        "trajectory",
    ]
    assert sum(
        run["cost_own_usd"] for run in runs_in_store(store) if run["record_kind"] == "result"
    ) == Decimal("0.9")


def test_a_trial_of_several_steps_has_several_runs(store: Store, tmp_path: Path) -> None:
    """Each step has a log of its own, and the trial no sum of them."""
    ingest_paths(
        store,
        folder(
            tmp_path / "trial",
            (RESULT, OWN),
            step_results=[{"agent_result": None}],
            agent_result=None,
        ),
    )
    assert len(runs_in_store(store)) == 2


def test_an_archive_of_trials_is_read_as_its_folders_are(store: Store, tmp_path: Path) -> None:
    """The log may come before the result that says whose it is."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        archive.add(folder(tmp_path / "job/trial") / OWN, "job/trial/" + OWN)
        archive.add(tmp_path / "job/trial" / ATIF, "job/trial/" + ATIF)
        archive.add(tmp_path / "job/trial" / RESULT, "job/trial/" + RESULT)
    (tmp_path / "job.tar.gz").write_bytes(packed.getvalue())
    ingest_paths(store, tmp_path / "job.tar.gz")
    [run] = runs_in_store(store)
    assert (run["run_id"], counts(run), run["score"]) == (TRIAL, [6, 91_834, 6378, 700], 1.0)


def test_terminal_bench_names_agent_and_model_beside_its_results(
    store: Store, tmp_path: Path
) -> None:
    told = {
        "run_id": "run",
        "agent_name": "terminus",
        "model_name": "anthropic/claude-opus-4-1",
        "n_attempts": 1,
    }
    (tmp_path / "hello/hello.1-of-1.run").mkdir(parents=True)
    (tmp_path / "run_metadata.json").write_text(json.dumps(told))
    (tmp_path / "results.json").write_text(json.dumps(terminal_results(terminal_trial())))
    (tmp_path / "hello/hello.1-of-1.run/results.json").write_text(json.dumps(terminal_trial()))
    for name in ("results.json", "hello"):
        ingest_paths(store, tmp_path / name)
        [run] = runs_in_store(store)
        assert (run["agent"], run["model"], run["provider"], run["input_tokens"]) == (
            "terminus",
            "claude-opus-4-1",
            "anthropic",
            1000,
        )
        assert run["cost_list_usd"] is not None
    assert (rebuild(store).rejects, runs_in_store(store)) == (0, [run])


def test_trials_of_claude_code_in_one_file_are_no_results_of_one_process(
    store: Store, tmp_path: Path
) -> None:
    """Those would include the totals of the ones before."""
    told = {
        "run_id": "run",
        "agent_name": "claude-code",
        "model_name": "anthropic/claude-opus-4-1",
        "n_attempts": 1,
    }
    (tmp_path / "run_metadata.json").write_text(json.dumps(told))
    (tmp_path / "results.json").write_text(
        json.dumps(terminal_results(terminal_trial(1), terminal_trial(2, total_input_tokens=1500)))
    )
    ingest_paths(store, tmp_path)
    with store.reading() as connection:
        assert connection.sql("select own_input_tokens from model_usage order by 1").fetchall() == [
            (1000,),
            (1500,),
        ]


NAMELESS = lines(
    {"type": "thread.started", "thread_id": "0199a213-81c0-7800-8aa1-bbab2a035a53"},
    {"type": "turn.started"},
    {
        "type": "turn.completed",
        "usage": {"input_tokens": 98_218, "cached_input_tokens": 91_834, "output_tokens": 700},
    },
)
"""A stream of Codex, which names no model."""


def model_and_price(run: dict[str, Any]) -> tuple[str | None, str | None, bool]:
    return run["model"], run["provider"], run["cost_list_usd"] is not None


def test_the_harness_names_the_model_of_a_log_that_does_not(store: Store, tmp_path: Path) -> None:
    info = {
        "name": "codex",
        "version": "0.104.0",
        "model_info": {"name": "gpt-5", "provider": "openai"},
    }
    place = folder(tmp_path / "trial", (RESULT, OWN), NAMELESS, agent_info=info)
    ingest_paths(store, place / OWN)
    [run] = runs_in_store(store)
    assert (run["record_kind"], *model_and_price(run)) == ("stream", "gpt-5", "openai", True)
    assert (rebuild(store).rejects, runs_in_store(store)) == (0, [run])


def test_without_a_name_from_the_harness_a_model_stays_unknown(
    store: Store, tmp_path: Path
) -> None:
    """A configuration beside the log is none: the command line may have named another model."""
    place = folder(
        tmp_path / "trial",
        (RESULT, OWN),
        NAMELESS,
        agent_info={"name": "codex", "version": "1", "model_info": None},
    )
    (place / "agent/config.toml").write_text('model = "gpt-5"')
    (place / "agent/journal.json").write_text(
        json.dumps(
            {
                "task_id": "t",
                "commits": {},
                "status": "success",
                "run_metadata": {"agent": "codex", "model": "gpt-5"},
            }
        )
    )
    ingest_paths(store, place)
    [run] = runs_in_store(store)
    assert model_and_price(run) == (None, None, False)


@pytest.mark.parametrize("packed", [False, True])
def test_terminal_bench_names_the_model_of_the_logs_of_its_trials(
    packed: bool, store: Store, tmp_path: Path
) -> None:
    told = {"run_id": "run", "agent_name": "codex", "model_name": "openai/gpt-5", "n_attempts": 1}
    place = tmp_path / "job"
    logs = place / "hello/hello.1-of-1.run/agent-logs"
    logs.mkdir(parents=True)
    (place / "run_metadata.json").write_text(json.dumps(told))
    (logs.parent / "results.json").write_text(
        json.dumps(terminal_trial(total_input_tokens=0, total_output_tokens=0))
    )
    (logs / "codex.txt").write_text(NAMELESS)
    if packed:
        with tarfile.open(tmp_path / "job.tar", "w") as archive:
            archive.add(place, "job")
        place = tmp_path / "job.tar"
    ingest_paths(store, place)
    [run] = runs_in_store(store)
    assert (run["run_id"], run["agent"], run["score"]) == (terminal_trial()["id"], "codex", 1.0)
    assert model_and_price(run) == ("gpt-5", "openai", True)


@pytest.mark.parametrize(("under_its_name", "own"), [(True, False), (False, False), (False, True)])
def test_the_report_of_swe_bench_is_the_score_of_the_log_beside_it(
    under_its_name: bool, own: bool, store: Store, tmp_path: Path
) -> None:
    """`own`: each trajectory is in a folder of its own."""
    grade = {"patch_is_None": False, "patch_exists": True, "resolved": True}
    for name, resolved in (("django__django-1", True), ("django__django-2", False)):
        (tmp_path / "logs" / name).mkdir(parents=True)
        told = grade | {"resolved": resolved}
        (tmp_path / "logs" / name / "report.json").write_text(
            json.dumps({name: told} if under_its_name else told)
        )
        folder = tmp_path / "trajs" / (name if own else "")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.traj.json").write_text(
            json.dumps(mini_record(reply()) | {"instance_id": name})
        )
    report = ingest_paths(store, tmp_path)
    assert {run["task"]: run["score"] for run in runs_in_store(store)} == {
        "django__django-1": 1.0,
        "django__django-2": 0.0,
    }
    assert report.total("rejected") == 0
    assert (rebuild(store).rejects, len(runs_in_store(store))) == (0, 2)


def test_the_grade_counts_for_a_log_that_comes_behind_it_in_the_folder(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / "django__django-1").mkdir()
    (tmp_path / "django__django-1/report.json").write_text(
        json.dumps({"patch_exists": True, "patch_is_None": False, "resolved": True})
    )
    (tmp_path / "django__django-1/run.traj.json").write_text(json.dumps(mini_record(reply())))
    ingest_paths(store, tmp_path)
    assert [run["score"] for run in runs_in_store(store)] == [1.0]


def test_a_log_that_lies_elsewhere_is_a_run_of_its_own(store: Store, tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent/log.txt").write_text(own_log())
    (tmp_path / "result.json").write_text(json.dumps({"answer": 42}))
    ingest_paths(store, tmp_path / "agent/log.txt")
    assert [run["run_id"] == TRIAL for run in runs_in_store(store)] == [False]


def test_an_earlier_part_of_a_run_does_not_say_how_the_later_one_ended(
    store: Store, tmp_path: Path
) -> None:
    """A resumed thread that was cut is interrupted, although its first stream was completed."""
    begun: dict[str, Any] = {
        "type": "thread.started",
        "thread_id": "0199a213-81c0-7800-8aa1-bbab2a035a53",
    }
    first = [
        begun,
        {"type": "turn.started"},
        {"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 1}},
    ]
    resumed = [
        begun,
        {"type": "turn.started"},
        {"type": "turn.completed", "usage": {"input_tokens": 90, "output_tokens": 9}},
    ]
    (tmp_path / "first.jsonl").write_text(lines(*first))
    (tmp_path / "resumed.jsonl").write_text(lines(*resumed, {"type": "turn.started"}))
    ingest_paths(store, tmp_path)
    [run] = runs_in_store(store)
    assert (run["outcome"], run["input_tokens"]) == ("interrupted", 90)
