"""Streams of Claude Code that end without a result: interrupted runs, which join their result or the transcript of their session."""

from __future__ import annotations

import json
from decimal import Decimal
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from ingest.store.database import Store
from ingest.store.history.undo import undo
from ingest.store.rebuild import rebuild
from tests.claude_lines import SESSION, reply, usage, user
from tests.conftest import Run, ingest_paths, record
from tests.documents import ingested, lines, rejects_of, runs_in_store
from tests.examples import is_thorough

SONNET = "claude-sonnet-4-6"


def init(number: int = 1, session: str = SESSION, **changes: Any) -> dict[str, Any]:
    told = {"cwd": "/srv/shop", "tools": ["Bash"], "mcp_servers": [], "model": SONNET, "permissionMode": "default"}
    own = {"claude_code_version": "2.1.221", "uuid": f"init-{number}"}
    event = {"type": "system", "subtype": "init", "session_id": session} | told | own | changes
    return {name: value for name, value in event.items() if value is not ...}


def says(message: str, output: int = 7, read: int = 1000, session: str = SESSION, **changes: Any) -> dict[str, Any]:
    """An event of a response: one line for each block, with the output count of its beginning."""
    used = {"input_tokens": 3, "output_tokens": output, "cache_read_input_tokens": read, "cache_creation_input_tokens": 100}
    content = [{"type": "text", "text": f"This is {message}."}]
    body = {"id": message, "model": SONNET, "role": "assistant", "content": content, "stop_reason": None, "usage": used}
    return {"type": "assistant", "message": body, "session_id": session, "parent_tool_use_id": None, "uuid": f"of-{message}"} | changes


def ends(number: int, read: int, cost: float, **changes: Any) -> dict[str, Any]:
    """The result of a process that used so many tokens from the cache."""
    used = {"inputTokens": 90, "outputTokens": 4000, "cacheReadInputTokens": read, "cacheCreationInputTokens": 900, "costUSD": cost}
    main = {"input_tokens": 9, "output_tokens": 3000, "cache_read_input_tokens": read, "cache_creation_input_tokens": 900}
    told = {"uuid": f"r{number}", "session_id": SESSION, "total_cost_usd": cost, "modelUsage": {SONNET: used}, "usage": main}
    return record(**told | changes)


CUT = [init(), says("msg_a"), says("msg_a", 9), says("msg_b", 40, 2000), says("msg_c", 5, 500, parent_tool_use_id="toolu_1")]
WHOLE = [*CUT, says("msg_d", 8, 4000), ends(1, 7500, 0.5)]


def figures(store: Store) -> list[tuple[Any, ...]]:
    columns = ("outcome", "tokens_basis", "output_tokens", "cache_read_tokens", "num_turns")
    return [tuple(run[column] for column in columns) for run in runs_in_store(store)]


def found(store: Store) -> list[tuple[str, str]]:
    with store.reading() as connection:
        return connection.sql("select rule, severity from findings where rule = 'cut_off' order by all").fetchall()


def as_array(events: list[dict[str, Any]], left_out: int) -> str:
    text = json.dumps(events, indent=1)
    return text[: len(text) - left_out]


@pytest.mark.parametrize(
    "text",
    [
        lines(*CUT),
        "npm warn deprecated {x}\n" + lines(*CUT).replace("\n", "\nError: (node) at foo {\n"),
        as_array(CUT, 0),
        as_array(CUT, 2),
        lines(*CUT) + json.dumps(says("msg_z"))[:200],
    ],
    ids=["lines", "noise between", "array", "cut array", "cut line"],
)
def test_a_killed_stream_is_one_interrupted_run(store: Store, tmp_path: Path, text: str) -> None:
    [run] = ingested(store, tmp_path, log=text)
    assert figures(store) == [("interrupted", "lower_bound", 54, 3500, 2)]
    assert (run["cost"], run["record_kind"], run["subagents"], run["result"]) == (None, "stream", 1, "This is msg_b.")
    assert run["cost_list_usd"] == Decimal("0.003012")  # 9 × 3 + 54 × 15 + 3500 × 0.3 + 300 × 3.75 dollars a million
    assert found(store) == [("cut_off", "warning")]


def test_a_report_says_that_a_run_was_cut_off(tachograph: Run, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(lines(*CUT))
    tachograph("ingest", tmp_path / "log.jsonl")
    told = " ".join(tachograph("report").stdout.split())
    assert "1 run was cut off before the result: tokens and cost are lower bounds, or not known (finding cut_off)." in told
    assert "incl. $0.0030 lower bounds" in told


def piece(kind: str, agent: str | None = None, **told: Any) -> dict[str, Any]:
    return {"type": "stream_event", "event": {"type": kind} | told, "session_id": SESSION, "parent_tool_use_id": agent, "uuid": kind}


@pytest.mark.parametrize("starts_with_zeros", [False, True])
def test_partial_messages_tell_the_whole_output(store: Store, tmp_path: Path, *, starts_with_zeros: bool) -> None:
    """Some gateways tell what went in only at the end of a response."""
    begun, other = says("msg_a")["message"], says("msg_s", 2, 300)["message"]
    used = begun["usage"] | {"output_tokens": 480} if starts_with_zeros else {"output_tokens": 480}
    if starts_with_zeros:
        begun = begun | {"usage": dict.fromkeys(begun["usage"], 0)}
    delta: dict[str, Any] = {"delta": {"stop_reason": "tool_use"}, "usage": used}
    events = [
        init(),
        piece("message_start", message=begun),
        piece("message_start", "toolu_1", message=other),
        piece("message_delta", delta={}, usage={"output_tokens": 120}),
        piece("message_delta", **delta),
        says("msg_a") if not starts_with_zeros else piece("ping"),
    ]
    ingested(store, tmp_path, log=lines(*events))
    assert figures(store) == [("interrupted", "lower_bound", 482, 1300, 1)]


@pytest.mark.parametrize(
    "events",
    [
        [init()],
        [init(), says("msg_a") | {"message": {"id": "msg_a", "content": []}}],
        [init(), says("msg_a") | {"message": says("msg_a")["message"] | {"usage": {"input_tokens": 0, "output_tokens": 0}}}],
    ],
    ids=["init alone", "no usage", "zeros"],
)
def test_tokens_that_no_response_tells_are_unknown(store: Store, tmp_path: Path, events: list[dict[str, Any]]) -> None:
    ingested(store, tmp_path, log=lines(*events))
    assert figures(store) == [("interrupted", "unknown", None, None, None)]


def test_events_of_an_unknown_agent_are_no_run_of_claude_code(store: Store, tmp_path: Path) -> None:
    of_qwen = says("1") | {"message": says("1")["message"] | {"usage": {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4}}}
    of_amp = says("msg_a", session="T-1")
    assert (
        ingested(store, tmp_path, one=lines(of_qwen), other=lines({"type": "system", "subtype": "init", "session_id": "s"}, of_amp)) == []
    )
    assert [reason for reason, _ in rejects_of(store)] == ["no_record"] * 2


TRANSCRIPT = lines(
    user("Make the shop faster."),
    *(reply(f"of-{name}", name, f"req_{name}", usage(output) | {"cache_read_input_tokens": read}, second=second)
      for second, (name, output, read) in enumerate([("msg_a", 90, 1000), ("msg_b", 400, 2000), ("msg_d", 800, 4000)], 1)),
)  # fmt: skip

FILES = {
    "stream then whole": ({"cut": lines(*CUT), "longer": lines(*WHOLE[:-1]), "whole": lines(*WHOLE)}, [("completed", 4000, 7500)]),
    "result by itself": ({"cut": lines(*CUT), "result": lines(WHOLE[-1])}, [("completed", 4000, 7500)]),
    "no id of the init": (
        {"begun": lines(init(uuid=...)), "cut": lines(init(uuid=...), *CUT[1:]), "whole": lines(init(uuid=...), *WHOLE[1:])},
        [("completed", 4000, 7500)],
    ),
    "transcript": ({"cut": lines(*CUT), "transcript": TRANSCRIPT}, [("interrupted", 1295, 7500)]),
    "two cut, and a transcript": (
        {"cut": lines(*CUT), "again": lines(init(2), says("msg_d", 8, 4000), says("msg_e", 8, 100)), "transcript": TRANSCRIPT},
        [("interrupted", 495, 3500), ("interrupted", 808, 4100)],
    ),
    "resumed": (
        {"cut": lines(*CUT), "again": lines(init(2), says("msg_n", 8, 9000), ends(2, 9000, 0.7)), "transcript": TRANSCRIPT},
        [("interrupted", 495, 3500), ("completed", 4000, 9000)],
    ),
    "appended": (
        {"log": lines(*CUT, init(2), says("msg_n", 8, 9000), ends(2, 9000, 0.7), init(3), says("msg_o", 6, 300))},
        [("interrupted", 6, 300), ("interrupted", 54, 3500), ("completed", 4000, 9000)],
    ),
    "one process that began twice": (
        {"log": lines(init(), init(2), *CUT[1:], says("msg_n", 8, 9000), ends(1, 12500, 0.7))},
        [("completed", 4000, 12500)],
    ),
    "a process that was killed, and one that resumed and used more": (
        {"begun": lines(*CUT, init(2), says("msg_n", 8, 9000)), "log": lines(*CUT, init(2), says("msg_n", 8, 9000), ends(1, 32500, 0.7))},
        [("interrupted", 54, 3500), ("completed", 4000, 32500)],
    ),
}
"""Logs of one session → (outcome, output, tokens read from the cache) of its runs."""


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_stream_joins_what_tells_more_in_any_order(name: str, tmp_path: Path) -> None:
    texts, expected = FILES[name]
    for file, text in texts.items():
        (tmp_path / f"{file}.jsonl").write_text(text)
    seen = set()
    orders = [*permutations(texts)] if is_thorough() else [tuple(texts), tuple(texts)[::-1]]
    one_by_one: list[list[tuple[str, ...]]] = [[(name,) for name in order] for order in orders if len(texts) > 1]
    for number, order in enumerate([[tuple(texts)], *one_by_one]):
        store = Store(tmp_path / f"{number}.duckdb")
        for batch in order:
            ingest_paths(store, *(tmp_path / f"{file}.jsonl" for file in batch))
        told = [(run["outcome"], run["output_tokens"], run["cache_read_tokens"]) for run in runs_in_store(store)]
        assert sorted(told, key=str) == sorted(expected, key=str), order
        with store.reading() as connection:
            sums = "select sum(documents) - sum(accepted) - sum(duplicates) - sum(rejected) - sum(ignored), sum(accepted) from sources"
            assert connection.sql(sums).fetchall() == [(0, len(expected))]
        seen.add(repr((figures(store), found(store))))
    assert len(seen) == 1
    rebuild(store)
    assert repr((figures(store), found(store))) in seen


@pytest.mark.slow
def test_an_undone_result_leaves_the_stream_that_was_cut_off(store: Store, tmp_path: Path) -> None:
    before: list[list[tuple[Any, ...]]] = []
    for name, text in (("cut", lines(*CUT)), ("transcript", TRANSCRIPT), ("whole", lines(*WHOLE))):
        before.append(figures(store) if before else [])
        ingested(store, tmp_path, **{name: text})
    assert [row[0] for row in figures(store)] == ["completed"]
    for number in (3, 2):
        undo(store, number)
        assert figures(store) == before[number - 1]


def test_a_result_that_is_taken_for_that_of_a_cut_stream_says_so(store: Store, tmp_path: Path) -> None:
    """Another process may have written it; one with fewer tokens certainly did."""
    ingested(store, tmp_path, cut=lines(*CUT), result=lines(ends(1, 7500, 0.5)), small=lines(ends(2, 2000, 0.1, uuid="r2")))
    assert [(run["run_id"], run["output_tokens"]) for run in runs_in_store(store)] == [("r1", 4000), ("r2", 4000)]
    assert ("cut_off", "warning") in found(store)


WOKEN = {"origin": {"kind": "task-notification"}}
ANSWER = ends(1, 7500, 0.5, num_turns=20, duration_ms=60_000, result="Sorting is 3.2x faster.")
MORE = ends(2, 8000, 0.6, num_turns=1, duration_ms=3_000, result="Nothing new.", **WOKEN)


@pytest.mark.parametrize("order", [("log",), ("first", "log"), ("log", "first"), ("log", "last"), ("last", "first", "log")])
def test_what_follows_from_an_answer_is_of_its_run(store: Store, tmp_path: Path, order: tuple[str, ...]) -> None:
    """A background task woke the agent, twice; the first result and the last one may also have been saved apart."""
    last = ends(3, 9000, 0.7, num_turns=2, duration_ms=2_000, result="Still nothing.", **WOKEN)
    then = ends(4, 9900, 0.9, num_turns=5, result="The next prompt's answer.")
    stream = [init(), says("msg_a"), ANSWER, init(), says("msg_b"), MORE, last, init(), says("msg_c", read=300), then]
    texts = {"log": lines(*stream), "first": lines(*stream[:3]), "last": lines(last)}
    for name in order:
        ingested(store, tmp_path, **{name: texts[name]})
    runs = [(run["run_id"], run["cost"], run["cache_read_tokens"], run["num_turns"], run["result"]) for run in runs_in_store(store)]
    assert runs == [("r1", 0.7, 9000, 23, "Sorting is 3.2x faster."), ("r4", pytest.approx(0.2), 900, 5, "The next prompt's answer.")]
    assert runs_in_store(store)[0]["duration_ms"] == 65_000


@pytest.mark.parametrize("changes", [{"origin": {"kind": "human"}}, {"origin": {"kind": "coordinator"}}, {"total_cost_usd": 0.1}])
def test_a_prompt_and_a_new_process_begin_a_run(store: Store, tmp_path: Path, changes: dict[str, Any]) -> None:
    assert len(ingested(store, tmp_path, log=lines(init(), ANSWER, MORE | changes))) == 2


def test_usage_counts_a_process_that_resumed_the_session_of_a_cut_stream(tachograph: Run, tmp_path: Path) -> None:
    """The responses of one process say nothing of the other: the record of that counts too, and nothing of it is outside a transcript."""
    (tmp_path / "cut.jsonl").write_text(lines(*CUT))
    (tmp_path / "resumed.json").write_text(json.dumps(ends(2, 100, 0.3)))
    tachograph("ingest", "cut.jsonl", "resumed.json")
    used = json.loads(tachograph("usage", "--by", "model", "--format", "json").stdout)
    runs = json.loads(tachograph("runs", "--format", "json").stdout)
    assert len(runs) == 2
    for column in ("output_tokens", "cache_read_tokens"):
        assert sum(row[column] for row in used) == sum(row[column] for row in runs) > 0
    assert sum(row["cost_reported_usd"] or 0 for row in used) == 0.3


def test_a_resumed_process_that_nobody_prompted_is_a_run_of_its_own(store: Store, tmp_path: Path) -> None:
    """Its totals are larger, but they are what its own turn used: they began anew."""
    own = {"input_tokens": 90, "output_tokens": 4000, "cache_read_input_tokens": 9000, "cache_creation_input_tokens": 900}
    woken = ends(2, 9000, 0.9, usage=own, origin={"kind": "auto-continuation"})
    (tmp_path / "log.jsonl").write_text(lines(*WHOLE, init(2), says("msg_e"), woken))
    ingest_paths(store, tmp_path)
    assert [run["cost_own_usd"] for run in runs_in_store(store)] == [Decimal("0.5"), Decimal("0.9")]


def test_a_transcript_without_a_model_is_a_run(store: Store, tmp_path: Path) -> None:
    """Its findings are about no result record, and a model without a name is no reason to lose it."""
    line = reply(tokens=usage(output=5))
    del line["message"]["model"]
    folder = tmp_path / "projects" / "-srv-shop"
    folder.mkdir(parents=True)
    (folder / f"{SESSION}.jsonl").write_text(lines(user("Go on."), line))
    assert ingest_paths(store, tmp_path).total("rejected") == 0
    [run] = runs_in_store(store)
    assert (run["record_kind"], run["model"], run["output_tokens"]) == ("transcript", None, 5)
