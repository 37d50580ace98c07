"""OpenCode's streams and exports: steps summed once, reasoning inside output, a session once."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.sources.contents import read
from ingest.sources.document import Document
from ingest.sources.files import Source
from ingest.store.database import Store
from tests.conftest import record_text
from tests.documents import ingested, kept_in, lines, read_log, runs_in, tools_of

BEGAN = 1_767_036_055_000


def session_id(ms: int = BEGAN) -> str:
    """An id of a session: 12 digits with its time, counting backwards."""
    return f"ses_{(~(ms << 12)) & 0xFFFFFFFFFFFF:012x}abcdefghijklmn"


def message_id(ms: int) -> str:
    return f"msg_{(ms << 12) & 0xFFFFFFFFFFFF:012x}abcdefghijklmn"


SESSION = session_id()


def tokens(
    uncached: int = 100,
    read: int = 0,
    output: Any = 10,
    reasoning: int = 0,
    total: int | None = None,
) -> dict[str, Any]:
    told = {
        "input": uncached,
        "output": output,
        "reasoning": reasoning,
        "cache": {"read": read, "write": 0},
    }
    return told if total is None else told | {"total": total}


def step(
    number: int,
    reason: str = "stop",
    cost: float = 0.001,
    session: str = SESSION,
    after_ms: int = 50,
    **used: Any,
) -> list[dict[str, Any]]:
    """The events of one step, the first of them that much after the session was made."""
    at = BEGAN + after_ms + 1000 * number
    same = {"sessionID": session, "messageID": message_id(at)}

    def event(kind: str, later: int, **part: Any) -> dict[str, Any]:
        return {
            "type": kind,
            "timestamp": at + later,
            "sessionID": session,
            "part": {"id": f"prt_{number}{later}{after_ms}"} | same | part,
        }

    state: dict[str, Any] = {
        "status": "error" if number else "completed",
        "input": {},
        "output": record_text(),
    }
    return [
        event("step_start", 0, type="step-start"),
        event("tool_use", 100, type="tool", callID=f"c{number}", tool="bash", state=state),
        event("text", 200, type="text", text=f"Step {number}: it is 2x faster."),
        event(
            "step_finish", 300, type="step-finish", reason=reason, cost=cost, tokens=tokens(**used)
        ),
    ]


def answer(number: int, after_ms: int = 50, **info: Any) -> dict[str, Any]:
    """A message of the model in an export, with one step."""
    at = BEGAN + after_ms + 1000 * number
    told = {
        "id": message_id(at),
        "role": "assistant",
        "modelID": "gpt-5",
        "providerID": "openai",
        "cost": 0.001,
        "tokens": tokens(),
    }
    parts = [event["part"] for event in step(number, after_ms=after_ms)]
    return {"info": told | {"time": {"created": at, "completed": at + 300}} | info, "parts": parts}


def export(*messages: dict[str, Any], session: str = SESSION, **info: Any) -> dict[str, Any]:
    asked = {
        "info": {"role": "user", "time": {"created": BEGAN + 1}},
        "parts": [{"type": "text", "text": "Make it faster."}],
    }
    told = {
        "id": session,
        "title": "Speed",
        "version": "1.0.2",
        "directory": "/work",
        "time": {"created": BEGAN, "updated": BEGAN + 5000},
    }
    return {"info": told | info, "messages": [asked, *messages]}


def test_a_stream_is_a_run_with_the_sums_of_its_steps(store: Store, tmp_path: Path) -> None:
    """A record in the output of a tool is none of ours, and neither are lines before the events."""
    text = "Loading plugins\n" + lines(
        *step(0, "tool-calls", uncached=100, read=5), *step(1, output=20)
    )
    [run] = ingested(store, tmp_path, log=text)
    assert (run["agent"], run["run_id"], run["outcome"], run["num_turns"]) == (
        "opencode",
        SESSION,
        "completed",
        2,
    )
    assert (
        run["input_tokens"],
        run["cache_read_tokens"],
        run["output_tokens"],
        run["tokens_basis"],
    ) == (200, 5, 30, "exact")
    assert (float(run["cost_own_usd"]), run["duration_ms"], run["model"]) == (0.002, 1300, None)
    assert (run["result"], run["claimed_speedup"], run["record_kind"]) == (
        "Step 1: it is 2x faster.",
        2,
        "stream",
    )
    assert tools_of(store) == [("bash", 2, 1)]


def doubled(
    number: int, given: int, read: int, written: int, output: int = 5
) -> list[dict[str, Any]]:
    """A step whose input includes the cache, and whose total counts it twice."""
    events = step(number, "tool-calls")
    cache = {"read": read, "write": written}
    total = given + read + written + output
    events[-1]["part"]["tokens"] = {
        "total": total,
        "input": given,
        "output": output,
        "reasoning": 0,
        "cache": cache,
    }
    return events


def test_an_input_that_includes_the_cache_in_every_step_is_counted_without_it() -> None:
    """As Bedrock reports GPT-5.6.

    Once it may be by chance, and among others it is: then it is a bound, if it is one.
    """
    first, second = doubled(0, 4998, 3000, 2000), doubled(1, 9011, 5000, 4008, output=7)
    [run] = kept_in(lines(*first, *second))
    [model] = run.models
    assert (
        model.input_tokens,
        model.cache_read_tokens,
        model.cache_write_tokens,
        model.output_tokens,
    ) == (3, 8000, 6008, 12)
    assert model.basis == "estimate"
    [run] = kept_in(lines(*first))
    assert (run.models[0].input_tokens, run.models[0].basis) == (4998, "upper_bound")
    [run] = kept_in(lines(*first, *doubled(1, 100, 5000, 4000)))
    assert (run.models[0].input_tokens, run.models[0].basis) == (5098, "exact")


def test_a_response_without_counts_makes_the_rest_a_lower_bound() -> None:
    """Zeros are no counts: some versions print them, and an interrupted message keeps them.

    One that failed at once used nothing.
    """
    [run] = kept_in(lines(*step(0, "tool-calls"), *step(1, uncached=0, output=0)))
    assert (run.models[0].input_tokens, run.models[0].basis) == (100, "lower_bound")
    [run] = kept_in(lines(*step(0, uncached=0, output=0)))
    assert (run.models[0].input_tokens, run.models[0].basis) == (None, "unknown")
    cut = answer(1, tokens=tokens(uncached=0, output=0))
    cut["parts"] = [part for part in cut["parts"] if part["type"] != "step-finish"]
    failed = cut | {"parts": []}
    bases = [
        kept_in(json.dumps(export(answer(0), last)))[0].models[0].basis for last in (cut, failed)
    ]
    assert bases == ["lower_bound", "exact"]


@pytest.mark.parametrize(
    ("used", "output", "basis"),
    [
        ({"output": 328, "reasoning": 64}, 328, "lower_bound"),
        ({"output": 2, "reasoning": 27}, 29, "lower_bound"),
        ({"output": 328, "reasoning": 64, "total": 428}, 328, "exact"),
        ({"output": 2, "reasoning": 27, "total": 129}, 29, "exact"),
        ({"output": 10, "reasoning": 5, "total": 7}, 10, "exact"),
    ],
)
def test_reasoning_is_a_part_of_the_output_once(
    used: dict[str, Any], output: int, basis: str
) -> None:
    """Inside in older versions, outside in newer ones; the total decides, unless it is absurd."""
    [run] = read_log(lines(*step(0, **used)))
    assert (run["output_tokens"], run["tokens_basis"]) == (output, basis)


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        (
            [{"name": "APIError", "data": {"message": "Too Many Requests", "statusCode": 429}}],
            "limit_reached",
        ),
        ([{"name": "UnknownError", "data": {"message": "ModelNotFound"}}], "execution_error"),
        ([{"name": "MessageAbortedError", "data": {"message": "aborted"}}], "interrupted"),
        ([], "interrupted"),
    ],
)
def test_a_run_that_did_not_stop_says_why(end: list[dict[str, Any]], outcome: str) -> None:
    errors = [
        {"type": "error", "timestamp": BEGAN + 9000, "sessionID": SESSION, "error": error}
        for error in end
    ]
    [run] = read_log(lines(*step(0, "tool-calls"), *errors))
    assert (run["outcome"], run["input_tokens"]) == (outcome, 100)
    assert (run["errors"] is not None) == bool(end)


def test_a_run_that_failed_at_once_has_no_tokens() -> None:
    error = {"name": "ProviderAuthError", "data": {"message": "no api key"}}
    [run] = read_log(
        lines({"type": "error", "timestamp": BEGAN, "sessionID": SESSION, "error": error})
    )
    assert (run["outcome"], run["input_tokens"], run["tokens_basis"], run["cost_own_usd"]) == (
        "api_error",
        None,
        "unknown",
        None,
    )
    assert not run["is_answered"]


def test_events_that_a_log_repeats_count_once() -> None:
    [run] = read_log(lines(*step(0), *step(0)))
    assert (run["input_tokens"], run["num_turns"]) == (100, 1)


def test_a_stream_that_continues_a_session_is_another_run(store: Store, tmp_path: Path) -> None:
    """Its steps are not in the first stream, but both are in the export."""
    runs = ingested(store, tmp_path, later=lines(*step(0, after_ms=60_000)), first=lines(*step(0)))
    assert (len(runs), sum(run["input_tokens"] for run in runs)) == (2, 200)
    assert SESSION in {run["run_id"] for run in runs}


def test_a_stream_that_continued_a_session_is_in_its_export_alone(
    store: Store, tmp_path: Path
) -> None:
    """An export from before the stream does not hold it.

    The time of the session's last change may be older than its last answer.
    """
    later, first, second = lines(*step(0, after_ms=60_000)), answer(0), answer(0, after_ms=60_000)
    runs = ingested(store, tmp_path, later=later, older=json.dumps(export(first)))
    assert (len(runs), sum(run["input_tokens"] for run in runs)) == (2, 200)
    runs = ingested(store, tmp_path, whole=json.dumps(export(first, second)))
    assert [(run["run_id"], run["input_tokens"], float(run["cost_own_usd"])) for run in runs] == [
        (SESSION, 200, 0.002)
    ]


def test_sub_agents_are_missing_in_a_stream() -> None:
    [run] = read_log(lines(*step(0)).replace('"tool":"bash"', '"tool":"task"'))
    assert run["tokens_basis"] == "lower_bound"


def test_an_export_is_a_run_and_so_is_its_stream(store: Store, tmp_path: Path) -> None:
    [run] = ingested(
        store,
        tmp_path,
        stream=lines(*step(0), *step(1)),
        export=json.dumps(export(answer(0), answer(1)), indent=2),
    )
    assert (run["run_id"], run["record_kind"], run["outcome"], run["model"]) == (
        SESSION,
        "transcript",
        "completed",
        "gpt-5",
    )
    assert (
        run["input_tokens"],
        run["output_tokens"],
        run["num_turns"],
        float(run["cost_own_usd"]),
    ) == (200, 20, 2, 0.002)
    assert (run["agent_version"], run["cwd"], run["prompt"], run["duration_ms"]) == (
        "1.0.2",
        "/work",
        "Make it faster.",
        5000,
    )
    assert (run["result"], run["cost_list_usd"] is not None) == ("Step 1: it is 2x faster.", True)


def test_a_message_of_several_steps_counts_each() -> None:
    """Its own tokens are those of the last step."""
    message = answer(0)
    message["parts"] += answer(1)["parts"]
    [run] = read_log(json.dumps(export(message)))
    assert (run["input_tokens"], run["num_turns"]) == (200, 2)


def test_a_fork_counts_only_its_own_messages(store: Store, tmp_path: Path) -> None:
    """The copies keep their times; the fork has another id and began later."""
    parent = export(answer(0))
    fork = export(
        answer(0),
        answer(100),
        session=session_id(BEGAN + 60_000),
        time={"created": BEGAN + 60_000, "updated": BEGAN + 200_000},
    )
    runs = ingested(store, tmp_path, parent=json.dumps(parent), fork=json.dumps(fork))
    assert sum(run["input_tokens"] for run in runs) == 200


def test_a_sub_agents_session_names_its_parent(store: Store, tmp_path: Path) -> None:
    child = session_id(BEGAN + 1000)
    [_, run] = sorted(
        ingested(
            store,
            tmp_path,
            a=json.dumps(export(answer(0))),
            b=json.dumps(export(answer(9), session=child, parentID=SESSION)),
        ),
        key=lambda run: run["parent_run_id"] or "",
    )
    assert (run["run_id"], run["parent_run_id"]) == (child, SESSION)


@pytest.mark.parametrize(
    ("info", "outcome"),
    [
        ({"error": {"name": "MessageAbortedError", "data": {"message": "stop"}}}, "interrupted"),
        (
            {"error": {"name": "APIError", "data": {"message": "overloaded", "statusCode": 529}}},
            "api_error",
        ),
        ({"finish": "tool-calls"}, "interrupted"),
    ],
)
def test_the_last_message_says_how_an_export_ended(info: dict[str, Any], outcome: str) -> None:
    [run] = read_log(json.dumps(export(answer(0), answer(1, **info))))
    assert run["outcome"] == outcome


@given(st.integers(0, 1000))
def test_a_stream_cut_anywhere_has_the_steps_before_the_cut(cut: int) -> None:
    text = lines(*step(0, "tool-calls"), *step(1)).encode()
    data = text[: len(text) * cut // 1000]
    runs, _ = runs_in(data)
    assert len(runs) <= 1
    for run in runs:
        whole = data.rstrip() == text.rstrip()
        ends = sum(
            isinstance(part, Document) and part.value["type"] == "step_finish"
            for part in read(Source("log", data))
        )
        assert (run.outcome, run.input_tokens) == (
            "completed" if whole else "interrupted",
            100 * ends or None,
        )


def test_a_figure_that_is_none_is_rejected_with_its_name(store: Store, tmp_path: Path) -> None:
    """What is left of the run is a bound."""
    wrong = lines(*step(0, "tool-calls"), *step(1, output="many"))
    [run] = ingested(
        store, tmp_path, log=wrong, other=json.dumps(export(answer(0, tokens=tokens(uncached=-1))))
    )
    assert (run["tokens_basis"], run["input_tokens"], run["outcome"]) == (
        "lower_bound",
        100,
        "interrupted",
    )
    with store.reading() as connection:
        rejects = connection.sql("select reason, detail from rejects order by detail").fetchall()
    assert [(reason, detail.split(":")[0]) for reason, detail in rejects] == [
        ("invalid_record", "messages.1.info.tokens.input"),
        ("invalid_record", "part.tokens.output"),
    ]


def test_a_cost_between_two_nanodollars_is_rounded_once(store: Store, tmp_path: Path) -> None:
    """A float alone does not tell which way: the digits as written do."""
    other = export(answer(0, cost=0.0012345675), session=session_id(BEGAN + 9_000_000))
    runs = ingested(
        store, tmp_path, log=lines(*step(0, cost=0.0012345675)), other=json.dumps(other)
    )
    assert [run["cost_own_usd"] for run in runs] == [Decimal("0.001234568")] * 2


LOGS = {
    "opencode_run": lines(*step(0, "tool-calls")),
    "opencode_export": json.dumps(export(answer(0), session=session_id(BEGAN + 9_000_000))),
}
"""Logs of two runs: see `test_orders_of_logs`."""
