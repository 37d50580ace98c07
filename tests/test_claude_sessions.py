"""The sessions of Claude Code's transcripts: whose a file is, what its session was, and what of a damaged file counts."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.store.database import Store
from tests.claude_lines import PARENT, PATH, SESSION, at, calling, line, message, read_transcript, reply, user
from tests.conftest import ingest_paths
from tests.documents import lines, rejects_of, runs_in_store

WHOLE = lines(reply()).encode()
OTHER = lines(reply("u2", "msg_b", "req_b")).encode()


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(reply()).encode(),
        json.dumps(reply(), indent=1).encode(),
        WHOLE.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + WHOLE,
        b"\0" * 3 + WHOLE,
        b"\0" * 700 + WHOLE,
        WHOLE.replace(b'"text":"text"', b'"text":"\xff\xfe"'),
        WHOLE.replace(b'"text":"text"', b'"text":"\\ud83d"'),
        WHOLE.replace(b'"type":"assistant",', b""),
        WHOLE.replace(b'"sessionId"', b'"future":{"model":null,"id":null},"sessionId"'),
        WHOLE.replace(b'"2.1.60"', b'"unknown"'),
        WHOLE.replace(b'"/srv/shop"', b"null"),
        WHOLE.decode().encode("utf-16"),
        b"[1,2]\n" + WHOLE + b'3\n"x"\n',
        b"[" + WHOLE.strip() + b"]",
    ],
    ids=[
        "spaces",
        "indented",
        "crlf",
        "bom",
        "nul",
        "nuls",
        "no utf-8",
        "half a surrogate",
        "no type",
        "unknown fields",
        "version",
        "no cwd",
        "utf-16",
        "bare values",
        "array",
    ],
)
def test_damage_that_loses_nothing(content: bytes) -> None:
    told = read_transcript(content)
    assert (told.told("message_id", "output_tokens", "model"), told.rejects) == ([("msg_a", 70, "claude-opus-4-5")], [])


@pytest.mark.parametrize(
    ("content", "expected", "reject"),
    [
        (WHOLE + OTHER[:200], ["msg_a"], f"line 2, byte {len(WHOLE)}: truncated"),
        (WHOLE[:250] + b"\n" + OTHER, ["msg_b"], "line 1, byte 0: truncated"),
        (WHOLE[:250] + OTHER, ["msg_b"], "line 1, byte 0: truncated"),
        (b"[1]\n" + WHOLE + OTHER[:300] + b"\n", ["msg_a"], f"line 3, byte {len(WHOLE) + 4}: truncated"),
    ],
    ids=["at the end", "in the middle", "with the next one behind it", "among other values"],
)
def test_a_line_that_is_cut_off_is_rejected_with_its_place(content: bytes, expected: list[str], reject: str) -> None:
    """A process that is killed while it writes leaves half a line, and the next one appends to it."""
    told = read_transcript(content)
    assert (told.told("message_id"), told.rejects) == (expected, [reject])


@pytest.mark.parametrize(
    ("name", "sessions", "expected"),
    [
        (PATH, [PARENT, SESSION], SESSION),
        (PATH, [SESSION, PARENT], SESSION),
        ("projects/-srv-shop/copy.jsonl", [PARENT, SESSION], SESSION),
        (f"backup.zip!{PATH}.gz", [SESSION, PARENT], SESSION),
        (f"projects/-srv-shop/{PARENT}/subagents/agent-ag1.jsonl", [SESSION], PARENT),
        (f"projects/-srv-shop/{PARENT}/subagents/workflows/wf/agent-ag1.jsonl", [SESSION], PARENT),
        (f"C:\\projects\\{PARENT}\\subagents\\agent-ag1.jsonl", [SESSION], PARENT),
        ("projects/-srv-shop/agent-ag1.jsonl", [PARENT], PARENT),
    ],
)
def test_the_run_is_the_session(name: str, sessions: list[str], expected: str) -> None:
    """Lines of a resumed session have the id of the earlier one; the name of the file says whose it is, where a line has it."""
    events = [reply(f"u{number}", f"msg_{number}", f"req_{number}", sessionId=one) for number, one in enumerate(sessions)]
    told = read_transcript(lines(*events), name)
    assert told.run
    assert (told.run.run_id, told.run.session_id) == (expected, expected)
    assert set(told.told("session_id")) == {expected}
    assert set(told.told("agent_id")) == {"ag1" if "agent-" in name else None}
    bare = read_transcript(lines({"type": "assistant", "timestamp": at(2), "message": message(None)}), "projects/shop/first.jsonl")
    assert (bare.run and bare.run.run_id, bare.told("output_tokens")) == ("first", [70]), "no line has a session"


def test_a_sub_agents_file_tells_nothing_of_the_session_itself() -> None:
    """Its prompt was written by the main agent, and its text is no summary of the session."""
    told = read_transcript(
        lines(user("Look for tests.", isSidechain=True), reply(isSidechain=True, agentId="ag1", inside={"content": "It is 3x faster."})),
        f"projects/-srv-shop/{SESSION}/subagents/agent-ag1.jsonl",
    )
    assert told.run
    assert (told.run.prompt, told.run.title, told.run.result, told.run.outcome) == (None, None, None, "unknown")
    assert told.told("is_sidechain", "agent_id", "output_tokens") == [(True, "ag1", 70)]


def test_the_sessions_own_file_ranks_above_those_of_its_sub_agents(store: Store, tmp_path: Path) -> None:
    """Whichever is read first, there is one run, and it is called as the session is."""
    folder = tmp_path / SESSION / "subagents"
    folder.mkdir(parents=True)
    (tmp_path / f"{SESSION}.jsonl").write_text(lines(user("Make the shop faster."), reply(second=100)))
    (folder / "agent-ag1.jsonl").write_text(lines(reply(isSidechain=True, second=50)))
    (folder / "agent-ag1.meta.json").write_text(json.dumps({"agentType": "Explore", "toolUseId": "t1"}))
    (folder / "journal.jsonl").write_text(lines({"type": "started", "agentId": "ag1"}, {"type": "result", "agentId": "ag1", "result": {}}))
    (tmp_path / "history.jsonl").write_text(lines({"display": "/model", "timestamp": 1772438410000, "sessionId": SESSION}))
    ingest_paths(store, tmp_path)
    [run] = runs_in_store(store)
    assert (run["run_id"], run["title"], run["record_kind"], rejects_of(store)) == (SESSION, "Make the shop faster", "transcript", [])


def test_what_the_session_was() -> None:
    told = read_transcript(
        lines(
            user("<command-name>/clear</command-name>"),
            user("Caveat: …", isMeta=True),
            user(
                [{"type": "text", "text": "<ide_opened_file>a.py</ide_opened_file>"}, {"type": "text", "text": "Make it faster."}], "p2", 2
            ),
            reply("u1", version="2.1.60"),
            user("And now?", "p3", 30, permissionMode="plan"),
            reply("u2", "msg_b", "req_b", version="2.1.61", gitBranch="speed", second=70, inside={"content": "It is 3x faster."}),
            line("system", "x1", 80, subtype="turn_duration"),
        )
    )
    run = told.run
    assert run
    assert (run.prompt, run.result, run.claimed_speedup, run.outcome) == ("Make it faster.", "It is 3x faster.", 3, "completed")
    assert (run.agent_version, run.cwd, run.branch, run.permission_mode) == ("2.1.61", "/srv/shop", "speed", "plan")
    assert (run.duration_ms, run.record_kind, run.agent) == (79_000, "transcript", "claude-code")


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        ([], "Make it faster"),
        ([{"type": "summary", "summary": "Shop", "leafUuid": "u1"}], "Shop"),
        (
            [{"type": "ai-title", "aiTitle": "Speed up", "sessionId": SESSION}, {"type": "summary", "summary": "Shop", "leafUuid": "u"}],
            "Speed up",
        ),
        (
            [
                {"type": "custom-title", "customTitle": "Faster", "sessionId": SESSION},
                {"type": "ai-title", "aiTitle": "Speed up", "sessionId": SESSION},
            ],
            "Faster",
        ),
    ],
)
def test_titles(titles: list[dict[str, Any]], expected: str) -> None:
    told = read_transcript(lines(user("Make it faster."), reply(), *titles))
    assert told.run
    assert told.run.title == expected


API_ERROR = {
    "type": "assistant",
    "isApiErrorMessage": True,
    "message": message("x", content="API Error: 529 overloaded", model="<synthetic>"),
}


LIMIT = API_ERROR | {"message": message("x", content="Claude AI usage limit reached|1772438410", model="<synthetic>")}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([reply()], "completed"),
        ([reply(inside={"stop_reason": "refusal"})], "refused"),
        ([reply(inside={"stop_reason": None})], "unknown"),
        ([reply(inside=calling("Bash", "t1"))], "unknown"),
        ([reply(), reply("u2", "x", None) | API_ERROR], "api_error"),
        ([reply("u2", "x", None) | API_ERROR, reply()], "completed"),
        ([reply(), reply("u2", "x", None) | LIMIT], "limit_reached"),
        ([reply(), user([{"type": "text", "text": "[Request interrupted by user for tool use]"}])], "interrupted"),
        ([reply(), user("[Request interrupted by user]"), reply("u2", "msg_b", "req_b")], "completed"),
        ([reply(), reply("u2", "msg_b", "req_b", isSidechain=True, inside={"stop_reason": None})], "completed"),
    ],
)
def test_outcomes(events: list[dict[str, Any]], expected: str) -> None:
    told = read_transcript(lines(user("Make it faster."), *events))
    assert told.run
    assert told.run.outcome == expected


def test_the_agents_own_cost_is_that_of_all_its_processes() -> None:
    """It grows within one process, and starts again where the session is resumed; it also covers calls that the transcript lacks."""
    states = [(100, 0.1), (100, 0.3), (100, 0.2), (900, 0.05)]
    told = read_transcript(
        lines(
            reply(),
            *(
                {"type": "cost-state", "sessionId": SESSION, "startTime": start, "totalCostUSD": cost, "totalAPIDuration": 7}
                for start, cost in states
            ),
            {"type": "cost-state", "sessionId": PARENT, "startTime": 5, "totalCostUSD": 4},
        )
    )
    assert told.run
    assert (told.run.cost_own_usd, told.run.duration_api_ms, told.told("output_tokens")) == (Decimal("0.35"), 14, [70])


@pytest.mark.parametrize(
    "event",
    [
        {"type": "summary", "summary": "Shop", "leafUuid": "u1"},
        {"type": "file-history-snapshot", "messageId": "m1", "snapshot": {}},
        {"type": "kind-of-tomorrow", "sessionId": SESSION, "usage": 3},
        {"type": "cost-state", "sessionId": SESSION, "totalCostUSD": "free"},
        user("<command-name>/model</command-name>"),
    ],
)
def test_a_file_without_prompts_and_responses_is_no_run(event: dict[str, Any]) -> None:
    assert read_transcript(lines(event)) == (None, [], [])
    assert len(read_transcript(lines(reply(), event)).responses) == 1


def test_every_line_is_a_document(store: Store, tmp_path: Path) -> None:
    (tmp_path / f"{SESSION}.jsonl").write_bytes(WHOLE + OTHER[:200] + b"\n" + OTHER + lines(user("go")).encode())
    counts = ingest_paths(store, tmp_path).as_dict()
    assert [counts[name] for name in ("documents", "accepted", "rejected", "ignored")] == [4, 1, 1, 2]


def test_events_of_a_stream_are_not_lines_of_a_transcript(store: Store, tmp_path: Path) -> None:
    """`claude -p` writes its session's id in another way, and its assistant lines have the tokens of the start of the message."""
    event = {"type": "assistant", "session_id": SESSION, "uuid": "u1", "timestamp": at(1), "message": message()}
    (tmp_path / "log.jsonl").write_text(lines(event))
    ingest_paths(store, tmp_path)
    [run] = runs_in_store(store)
    assert (run["record_kind"], run["outcome"], run["tokens_basis"]) == ("stream", "interrupted", "lower_bound")


@given(st.integers(1, len(WHOLE + OTHER)))
def test_wherever_a_file_is_cut_its_whole_lines_count(cut: int) -> None:
    """A session that still runs."""
    whole = [name for name, end in (("msg_a", len(WHOLE)), ("msg_b", len(WHOLE + OTHER))) if cut >= end - 1]
    assert read_transcript((WHOLE + OTHER)[:cut]).told("message_id") == whole
