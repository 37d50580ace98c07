"""Runs as other tools read them.

What `tachograph copy` writes as OTLP and ATIF is read back to the same figures, and says no more.
"""

from __future__ import annotations

import json
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from app.cli.main import cli
from ingest.store.annotations import Change, annotate
from ingest.store.database import Store
from schemas.errors import UsageError
from tests.claude_lines import SESSION, calling, reply, usage, user
from tests.conftest import Run, StoreOnce, fetched, ingest_paths, record
from tests.documents import lines, rejects_of
from tests.test_no_text import FILES, WORD, put, read

SAMPLES = Path(__file__).parents[1] / "sample_logs"
HAIKU, OPUS = "claude-haiku-4-5-20251001", "claude-opus-4-6"
TARGETS = ("otlp", "atif")
INIT = {
    "type": "system",
    "subtype": "init",
    "session_id": record()["session_id"],
    "uuid": "i",
    "model": OPUS,
}
"""The event that makes a stream of a file: the later result in it continues the totals of the
earlier one.
"""

_FIGURES = """
with used as (
    select run_id, list({
        'model': model_id, 'provider': provider, 'input': own_input_tokens, 'output': own_output_tokens, 'read': own_cache_read_tokens,
        'write': own_cache_write_tokens, 'reasoning': reasoning_tokens, 'cost': cost_own_usd, 'basis': tokens_basis
    } order by model_id) as used
    from model_usage group by run_id
)
select
    run_id, agent, agent_version, session_id, outcome, score, num_turns, duration_ms, active_ms, duration_api_own_ms, project, task, models,
    cost_own_usd, cost_list_usd, case when time_source <> 'file' then started_at end as started_at,
    case when time_source <> 'file' then ended_at end as ended_at, used
from runs
left join used using (run_id)
order by run_id
"""  # noqa: E501


def figures(store: Store) -> list[dict[str, Any]]:
    with store.reading() as connection:
        rows: list[dict[str, Any]] = connection.sql(_FIGURES).to_arrow_table().to_pylist()
    return rows


@pytest.fixture(scope="module")
def whole(read_once: StoreOnce) -> Store:
    """The samples, sessions, and records of several kinds.

    The records are of several models, of one process, without any model, and of a benchmark.
    """

    def fill(store: Store) -> None:
        folder = Path(store.location).parent / "logs"
        folder.mkdir()
        opus = record()["modelUsage"][OPUS]
        both = {OPUS: opus, HAIKU: opus | {"costUSD": 0.05, "cacheReadInputTokens": 0}}
        more = {
            OPUS: opus | {"inputTokens": 25, "outputTokens": 60, "costUSD": 0.6},
            HAIKU: both[HAIKU],
        }
        later = record(uuid="b", modelUsage=more, total_cost_usd=0.65, usage=record()["usage"])
        (folder / "stream.jsonl").write_text(
            lines(INIT, record(uuid="a", modelUsage=both, total_cost_usd=0.3), later)
        )
        (folder / "no turns.json").write_text(
            json.dumps(record(uuid="d", modelUsage=both, num_turns=0, session_id="d"))
        )
        (folder / "none.json").write_text(
            json.dumps(
                record(uuid="c", modelUsage={}, total_cost_usd=0, duration_api_ms=0, session_id="s")
            )
        )
        trial = {
            "testcase": "two-fer",
            "tests_outcomes": [True],
            "edit_format": "diff",
            "model": "gpt-5",
            "cost": 0.5,
            "prompt_tokens": 9,
        }
        (folder / ".aider.results.json").write_text(
            json.dumps(trial | {"completion_tokens": 3, "duration": 1.5})
        )
        ingest_paths(store, SAMPLES / "claude_code", SAMPLES / "sessions", folder)

    return read_once("handed-on", fill)


def copied(store: Store, folder: Path, target: str, *options: str) -> tuple[Path, Result]:
    place = folder / target
    done = CliRunner().invoke(cli, ["copy", str(store.location), f"{target}:{place}", *options])
    assert done.exit_code == 0, done.stderr
    return place, done


@pytest.mark.parametrize("target", TARGETS)
def test_what_was_written_is_read_back_to_the_same_figures(
    whole: Store, store: Store, tmp_path: Path, target: str
) -> None:
    place, _ = copied(whole, tmp_path, target)
    ingest_paths(store, place)
    assert rejects_of(store) == []
    written, read_back = figures(whole), figures(store)
    assert len(written) == len(read_back) > 8
    for one, other in zip(written, read_back, strict=True):
        assert one == other


@pytest.mark.parametrize("target", TARGETS)
def test_read_back_into_the_same_store_it_changes_nothing(
    whole: Store, store: Store, tmp_path: Path, target: str
) -> None:
    """Before and after the records themselves."""
    place, _ = copied(whole, tmp_path, target)
    shutil.copy(whole.location, store.location)
    assert ingest_paths(store, place).total("accepted") == 0
    assert figures(store) == figures(whole)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_the_records_take_the_place_of_their_copy(
    store: Store, tmp_path: Path, target: str
) -> None:
    (tmp_path / "one.json").write_text(json.dumps(record()))
    first, other = Store(tmp_path / "first.duckdb"), tmp_path / "one.json"
    ingest_paths(first, other)
    place, _ = copied(first, tmp_path, target)
    ingest_paths(store, place)
    ingest_paths(store, other)
    assert fetched(store, "select record_kind, result, cost_own_usd::double from runs") == [
        ("result", "Done.", 0.25)
    ]


def test_a_folder_has_one_copy_and_nothing_else(store: Store, tmp_path: Path) -> None:
    """An earlier copy is replaced whole, with the runs that the store no longer counts.

    Files of others are refused; a file is replaced.
    """
    for name, cost in (("a", 0.25), ("b", 0.75)):
        (tmp_path / f"{name}.json").write_text(json.dumps(record(uuid=name, total_cost_usd=cost)))
    ingest_paths(store, tmp_path / "a.json", tmp_path / "b.json")
    for target in TARGETS:
        copied(store, tmp_path, target)
    annotate(store, ["a"], Change(excluded=True))
    places, told = zip(*(copied(store, tmp_path, target) for target in TARGETS), strict=True)
    assert [path.name for path in places[1].iterdir()] == ["b.json"]
    assert "in place of the file that was there" in told[0].stderr
    assert "in place of the 2 files of an earlier copy" in told[1].stderr
    (places[1] / "notes.json").write_text("{}")
    refused = CliRunner().invoke(cli, ["copy", str(store.location), f"atif:{places[1]}"])
    assert "1 file that no copy wrote, such as notes.json" in str(refused.exception)
    assert sorted(path.name for path in places[1].iterdir()) == ["b.json", "notes.json"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("otpl:x.jsonl", "otlp:x.jsonl"),
        ("ATIF:out", "atif:out"),
        ("ducklak:a.sqlite", "ducklake:a.sqlite"),
    ],
)
def test_a_mistyped_target_is_told(store: Store, typed: str, meant: str) -> None:
    refused = CliRunner().invoke(cli, ["copy", str(store.location), typed])
    assert isinstance(refused.exception, UsageError)
    assert refused.exception.hint == f"Did you mean {meant}?"


def test_a_second_copy_has_the_same_bytes(whole: Store, tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()
    for target in TARGETS:
        first, second = (
            copied(whole, folder, target)[0] for folder in (tmp_path, tmp_path / "second")
        )
        if target == "otlp":
            assert first.read_bytes() == second.read_bytes()
        else:
            assert {path.name: path.read_bytes() for path in first.iterdir()} == {
                path.name: path.read_bytes() for path in second.iterdir()
            }


def told(span: dict[str, Any]) -> dict[str, Any]:
    return {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]}


def test_spans_follow_the_conventions(whole: Store, tmp_path: Path) -> None:
    """A span of the agent, and one of each model of several, with this run's figures alone.

    The agent's cached input is inside its input.
    """
    place, _ = copied(whole, tmp_path, "otlp")
    lists = [
        json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"]
        for line in place.read_text().splitlines()
    ]
    by_run = {told(agents[0])["tachograph.run_id"]: agents for agents in lists}
    agent, *models = by_run["b"]
    assert (agent["name"], told(agent)["gen_ai.operation.name"]) == (
        "invoke_agent claude-code",
        "invoke_agent",
    )
    assert len(agent["traceId"]) == 32 == 2 * len(agent["spanId"])
    assert [one["parentSpanId"] for one in models] == [agent["spanId"]] * 2
    names = (
        "gen_ai.response.model",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.cache_read.input_tokens",
    )
    assert [tuple(told(one).get(name) for name in names) for one in models] == [
        (OPUS, "15", "40", "0"),
        (HAIKU, "0", "0", "0"),
    ]
    assert (told(agent)["gen_ai.usage.cost"], told(agent)["gen_ai.provider.name"]) == (
        0.35,
        "anthropic",
    )
    assert told(by_run["a"][0])["gen_ai.usage.input_tokens"] == "130", (
        "10 uncached, 30 read, 40 written, and 10 and 40 of the other model"
    )
    assert by_run["a"][0]["status"] == {"code": 1}


def test_every_run_is_a_trajectory_with_steps(whole: Store, tmp_path: Path) -> None:
    place, _ = copied(whole, tmp_path, "atif")
    for path in place.iterdir():
        one = json.loads(path.read_text())
        assert one["schema_version"] == "ATIF-v1.7"
        assert {"name", "version"} <= one["agent"].keys()
        assert [step["step_id"] for step in one["steps"]] == list(range(1, len(one["steps"]) + 1))
        assert [step["source"] for step in one["steps"][:2]] == ["user", "agent"]
        assert all(isinstance(step["message"], str) for step in one["steps"])
        assert all(step.get("llm_call_count") != 0 for step in one["steps"] if "metrics" in step), (
            "Harbor's own model refuses it"
        )
        assert one["final_metrics"]["total_steps"] == len(one["steps"])
        for name, total in (
            ("prompt_tokens", "total_prompt_tokens"),
            ("completion_tokens", "total_completion_tokens"),
        ):
            known = [
                step["metrics"][name] for step in one["steps"] if name in step.get("metrics", {})
            ]
            assert (sum(known) if known else None) == one["final_metrics"].get(total)


def test_the_responses_of_a_session_are_steps(store: Store, tmp_path: Path) -> None:
    """With their times, their list prices and their tools."""
    log = tmp_path / f"projects/p/{SESSION}.jsonl"
    log.parent.mkdir(parents=True)
    first = reply("u1", "msg_a", "req_a", usage(9), second=10, inside=calling("Bash", "t1"))
    log.write_text(
        lines(user("Faster."), first, reply("u2", "msg_b", "req_b", usage(70), second=20))
    )
    ingest_paths(store, log)
    place, _ = copied(store, tmp_path, "atif")
    one = json.loads((place / f"{SESSION}.json").read_text())
    steps = [
        (
            step["timestamp"],
            step.get("metrics", {}).get("completion_tokens"),
            len(step.get("tool_calls", ())),
        )
        for step in one["steps"]
    ]
    assert steps == [
        ("2026-03-02T08:00:01Z", None, 0),
        ("2026-03-02T08:00:10Z", 9, 1),
        ("2026-03-02T08:00:20Z", 70, 0),
    ]
    assert sum(step["metrics"]["cost_usd"] for step in one["steps"][1:]) == pytest.approx(
        one["final_metrics"]["total_cost_usd"]
    )
    assert one["final_metrics"]["total_prompt_tokens"] == 2 * 954


@pytest.mark.parametrize("target", TARGETS)
def test_texts_are_there_when_asked_for(store: Store, tmp_path: Path, target: str) -> None:
    put(tmp_path / "logs", FILES)
    read(store, tmp_path / "logs", keeps_text=True)
    for options, is_there in (((), False), (("--with-text",), True)):
        place, _ = copied(store, tmp_path, target, *options)
        text = "".join(
            path.read_text() for path in ([place] if place.is_file() else place.iterdir())
        )
        assert (WORD in text) == is_there


def test_excluded_runs_stay_and_what_is_not_known_is_said(store: Store, tmp_path: Path) -> None:
    """A session has no reported cost, a record no date."""
    log = tmp_path / f"projects/p/{SESSION}.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text(lines(user("Faster."), reply("u1", "msg_a", "req_a", usage(70), second=10)))
    (tmp_path / "one.json").write_text(json.dumps(record(session_id="s")))
    (tmp_path / "two.json").write_text(json.dumps(record(uuid="r2", session_id="t")))
    ingest_paths(store, tmp_path)
    annotate(store, ["r2"], Change(excluded=True, reason="twice"))
    place, done = copied(store, tmp_path, "otlp")
    assert len(place.read_text().splitlines()) == 2
    assert "Copied 2 runs, $0.25, to otlp:" in done.stderr
    assert "1 cost is a list price, and marked so" in done.stderr
    assert "1 run without a date: no time; the spans have the time 0" in done.stderr
    printed = CliRunner().invoke(cli, ["copy", str(store.location), "otlp:-"])
    assert printed.stdout_bytes == place.read_bytes()


def test_words_that_make_no_sense_are_refused(
    tachograph: Run, whole: Store, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    for words, said in (
        (["atif:file"], "cannot write to file"),
        (["otlp:no/folder.jsonl"], "cannot write to no/folder.jsonl"),
        (["copy.duckdb", "--with-text"], "--with-text is for otlp: and atif:"),
    ):
        done = tachograph("copy", str(whole.location), *words)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr


HOSTILE: tuple[object, ...] = (
    "x",
    7,
    None,
    [],
    {"cost_usd": -1},
    {"cost_usd": "1"},
    {"tokens_basis": 5, "provider": []},
)


def test_facts_that_somebody_else_wrote_are_left_out(store: Store, tmp_path: Path) -> None:
    """At the top of a trajectory, and in one of its steps."""
    (tmp_path / "one.json").write_text(json.dumps(record()))
    first = Store(tmp_path / "first.duckdb")
    ingest_paths(first, tmp_path / "one.json")
    place, _ = copied(first, tmp_path, "atif")
    [path] = place.iterdir()
    cases = [*product(HOSTILE, ("step", "top"))]
    for number, (hostile, holder) in enumerate(cases):
        changed = json.loads(path.read_text())
        extra = changed["extra"] if holder == "top" else changed["steps"][-1]["metrics"]["extra"]
        extra["tachograph"] = hostile
        changed["session_id"] = changed["trajectory_id"] = (
            f"4ba0d6f5-8a2c-4f49-9a38-0f5d6f2f6c{number:02}"
        )
        if holder == "step":
            changed["extra"]["tachograph"]["run_id"] = changed["session_id"]
        (tmp_path / f"changed-{number}.json").write_text(json.dumps(changed))
    report = ingest_paths(store, *tmp_path.glob("changed-*"))
    assert (report.total("accepted"), rejects_of(store)) == (len(cases), [])
    assert fetched(store, "select distinct output_tokens from runs") == [(20,)]
