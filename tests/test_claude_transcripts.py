"""Claude Code's session transcripts.

Each response once, whose a file is, what its session was, and lines that are not parsed.
"""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.store.database import Store
from tests.claude_lines import (
    ADVICE,
    PARENT,
    PATH,
    SESSION,
    answer,
    at,
    calling,
    line,
    message,
    outputs,
    progress,
    read_transcript,
    reply,
    usage,
    user,
)
from tests.conftest import ingest_paths
from tests.documents import lines, rejects_of, runs_in_store, tools_of


def test_lines_of_one_response_are_one() -> None:
    """One line per block, each with the tokens of the whole.

    Their sum would be three times too high.
    """
    blocks = (
        {"content": "Let me see.", "stop_reason": None},
        calling("Read", "t1"),
        calling("Bash", "t2"),
    )
    told = read_transcript(
        lines(*(reply(f"u{number}", inside=one) for number, one in enumerate(blocks)))
    )
    assert told.told("message_id", "output_tokens", "tools", "stop_reason") == [
        ("msg_a", 70, ("Read", "Bash"), "tool_use")
    ]


@pytest.mark.parametrize("written", [(8, 8, 300), (300, 8), (8, 300, 8)])
def test_the_largest_output_counts_whole(written: tuple[int, ...]) -> None:
    """Lines are written while the response still grows; a later line may be smaller."""
    told = read_transcript(
        lines(
            *(
                reply(f"u{number}", tokens=usage(count, input_tokens=count + 1))
                for number, count in enumerate(written)
            )
        )
    )
    assert told.told("output_tokens", "input_tokens") == [(300, 301)]
    told = read_transcript(lines(reply("u1", tokens=usage(cache_read_input_tokens=0)), reply("u2")))
    assert told.told("output_tokens", "cache_read_tokens") == [(70, 900)], (
        "of equal outputs the largest total counts"
    )


def test_lines_of_two_responses_may_alternate() -> None:
    """With the same tokens in both, as constant figures of a gateway are."""
    first, second = reply("u1", tokens=usage(9)), reply("u2", "msg_b", "req_b")
    assert outputs(first, second, reply("u3")) == [70, 70]


@pytest.mark.parametrize("place", [0, 1])
def test_what_only_one_line_says_stays(place: int) -> None:
    """The line with the split, the speed or the region need not be the one that counts."""
    split = {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 30}
    both = [
        reply("u1", tokens=usage(8, cache_creation=split, speed="fast", inference_geo="us")),
        reply("u2"),
    ]
    told = read_transcript(lines(*both[:: 1 - 2 * place]))
    assert told.told(
        "output_tokens", "cache_write_5m_tokens", "cache_write_1h_tokens", "speed", "inference_geo"
    ) == [(70, 20, 30, "fast", "us")]


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (reply("u2", request="req_b"), [70]),
        (reply("u2", request="req_b", tokens=usage(90)), [90]),
        (reply("u2", request="req_b", tokens=usage(90, input_tokens=7)), [70, 90]),
        (reply("u2", request="req_b", tokens=usage(90), isSidechain=True), [70]),
        (reply("u2", message_id="msg_b", request="req_a"), [70, 70]),
    ],
    ids=["same input", "grown", "other input", "side question", "other id"],
)
@pytest.mark.parametrize("order", [1, -1])
def test_one_id_under_two_requests(second: dict[str, Any], expected: list[int], order: int) -> None:
    """A side question sends the parent's message again, with more tokens.

    Elsewhere the same input means the same response.
    """
    assert sorted(map(int, outputs(*[reply(), second][::order]))) == expected  # type: ignore[arg-type]


def test_requests_without_ids_are_told_apart_by_their_lines() -> None:
    """Gateways write one constant message id and no request id.

    Only a line that goes on belongs to the response before it.
    """
    one = [
        reply("u1", "chat", None, usage(5)),
        reply("u2", "chat", None, parentUuid="u1", second=11),
    ]
    two = [reply("u3", "chat", None, second=60), reply("u3", "chat", None, second=60)]
    told = read_transcript(lines(*one, *two, reply("u5", "chat", None, second=90)))
    assert told.told("message_id", "line_id", "output_tokens") == [
        ("chat", "u1", 70),
        ("chat", "u3", 70),
        ("chat", "u5", 70),
    ]


@pytest.mark.parametrize(("uuid", "expected"), [("u1", "u1"), (None, None)])
def test_a_response_without_an_id_has_that_of_its_line(
    uuid: str | None, expected: str | None
) -> None:
    event = {
        name: value for name, value in reply("u1", None, None).items() if uuid or name != "uuid"
    }
    told = read_transcript(lines(event, event))
    assert [expected or found for found in told.told("message_id")] == told.told("message_id")
    assert len(told.responses) == 1


def test_lines_of_a_sub_agent_inside_the_main_file() -> None:
    """Files of sub-agents are deleted, or were never kept.

    The progress of their tool call has their messages.
    """
    told = read_transcript(
        lines(
            reply(),
            progress(reply("s1", "msg_s", "req_s", usage(2), second=12)),
            progress(reply("s2", "msg_s", "req_s")),
        )
    )
    assert told.told("message_id", "output_tokens", "is_sidechain", "agent_id") == [
        ("msg_a", 70, False, None),
        ("msg_s", 70, True, "ag1"),
    ]


def test_what_is_no_response() -> None:
    """What the agent wrote itself, and messages without counts."""
    failed = reply(
        "u2", "x", None, usage(0), inside={"model": "<synthetic>"}, isApiErrorMessage=True
    )
    without = line(
        "assistant",
        "u3",
        message={"role": "assistant", "content": "API Error"},
        isApiErrorMessage=True,
    )
    uncounted = [
        reply("u4", "msg_b", "req_b", inside={"usage": one})
        for one in ({}, None, "none", {"output_tokens": None})
    ]
    assert outputs(reply(), failed, without, *uncounted) == [70]


def test_sums_of_other_responses_are_not_added() -> None:
    """Sub-agent results, response iterations and session costs repeat the responses' counts.

    So they are not added.
    """
    rolled = answer("t1", toolUseResult={"totalTokens": 9000, "usage": usage(8000)})
    iterations = [{"type": "message", **usage(40)}, {"type": "message", **usage(30)}]
    assert outputs(reply(tokens=usage(iterations=iterations)), rolled) == [70]


def test_an_advisor_is_billed_beside_its_response() -> None:
    tokens = usage(iterations=[{"type": "message", **usage()}, ADVICE])
    told = read_transcript(
        lines(reply("u1", tokens=tokens, costUSD=1.25), reply("u2", tokens=tokens))
    )
    expected = [
        ("msg_a", "claude-opus-4-5", 4, 70, Decimal("1.25")),
        ("msg_a/advisor-1", "claude-sonnet-4-5", 11, 3, None),
    ]
    assert (
        told.told("message_id", "model", "input_tokens", "output_tokens", "cost_reported_usd")
        == expected
    )


@pytest.mark.parametrize(
    ("creation", "written", "expected"),
    [
        (None, 50, (50, None, None)),
        ({"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 30}, 50, (50, 10, 30)),
        ({"ephemeral_1h_input_tokens": 80}, 50, (80, 0, 80)),
        ({"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 30}, None, (40, 10, 30)),
        ({}, 50, (50, None, None)),
        (
            {"ephemeral_5m_input_tokens": 2**53, "ephemeral_1h_input_tokens": 1},
            50,
            (None, 2**53, 1),
        ),
    ],
    ids=["not split", "short of all", "more than all", "only split", "empty", "beyond any count"],
)
def test_cache_writes(creation: Any, written: int | None, expected: tuple[int | None, ...]) -> None:
    tokens = usage(cache_creation_input_tokens=written) | (
        {} if creation is None else {"cache_creation": creation}
    )
    told = read_transcript(lines(reply(tokens=tokens)))
    assert told.told("cache_write_tokens", "cache_write_5m_tokens", "cache_write_1h_tokens") == [
        expected
    ]


@pytest.mark.parametrize(
    ("counted", "tool", "expected"),
    [
        (2, "WebSearch", 2),
        (0, "WebSearch", 3),
        (None, "WebSearch", 3),
        (0, "WebFetch", 0),
        (None, "Bash", None),
    ],
)
def test_web_searches(counted: int | None, tool: str, expected: int | None) -> None:
    """The own counter wins; if it is zero, the search results give the number of searches.

    The number is how often the provider searched.
    """
    tokens = usage() if counted is None else usage(server_tool_use={"web_search_requests": counted})
    events = [
        reply(tokens=tokens, inside=calling(tool, "t1")),
        answer("t1", toolUseResult={"searchCount": 3}),
    ]
    told = read_transcript(
        lines(*events, events[1], reply("u2", "msg_b", "req_b", inside=calling("WebSearch", "t2")))
    )
    assert told.told("web_search_requests") == [expected, None]
    calls = [reply(f"u{number}", inside=calling("WebSearch", f"t{number}")) for number in (1, 2)]
    results = [answer(f"t{number}", toolUseResult={"searchCount": number}) for number in (1, 2)]
    assert read_transcript(lines(*calls, *results)).told("web_search_requests") == [3], (
        "those of one response add up"
    )


def test_failed_calls_are_those_of_their_response() -> None:
    events = [
        reply(inside=calling("Bash", "t1")),
        answer("t1", is_error=True),
        reply("u2", "msg_b", "req_b", inside=calling("Read", "t2")),
    ]
    told = read_transcript(
        lines(*events, answer("t1", is_error=True), answer("t2"), answer("other", is_error=True))
    )
    assert told.told("tools", "failed_tools") == [(("Bash",), ("Bash",)), (("Read",), ())]


def test_calls_of_messages_without_tokens_are_counted(store: Store, tmp_path: Path) -> None:
    """Some programs that write transcripts leave the tokens out."""
    bare = line(
        "assistant",
        "u1",
        message={
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "Bash"}],
        },
    )
    (tmp_path / "log.jsonl").write_text(lines(bare, answer("t1", is_error=True)))
    ingest_paths(store, tmp_path / "log.jsonl")
    assert tools_of(store) == [("Bash", 1, 1)]


def test_an_output_without_a_stop_reason_is_a_lower_bound() -> None:
    """Versions 2.1.9 to 2.1.50 recorded the count at the start of the message."""
    told = read_transcript(
        lines(reply(inside={"stop_reason": None}), reply("u2", "msg_b", "req_b"))
    )
    assert told.told("output_is_final", "tokens_basis") == [(False, "lower_bound"), (True, "exact")]


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("2026-03-02T08:00:10.000Z", "2026-03-02T08:00:10+00:00"),
        ("2026-03-02T17:00:10+09:00", "2026-03-02T08:00:10+00:00"),
        ("2026-03-02T08:00:10Z", "2026-03-02T08:00:10+00:00"),
        (1772438410000, "2026-03-02T08:00:10+00:00"),
        ("yesterday", None),
        (None, None),
    ],
)
def test_times(stamp: Any, expected: str | None) -> None:
    """A response without a time keeps its tokens."""
    told = read_transcript(lines(reply(timestamp=stamp)))
    assert [
        (found and found.isoformat(), told.told("output_tokens")) for found in told.told("at")
    ] == [(expected, [70])]
    told = read_transcript(
        lines(reply("u1", second=12), reply("u2", second=10), reply("u3", second=14))
    )
    assert [found.isoformat() for found in told.told("at")] == ["2026-03-02T08:00:10+00:00"], (
        "that of its first line"
    )


@pytest.mark.parametrize(
    ("logged", "expected"),
    [
        ("70", 70),
        (70.0, 70),
        ("7e1", 70),
        (None, None),
        (-1, None),
        (1e300, None),
        (True, None),
        ("many", None),
        ([], None),
    ],
)
def test_counts_as_they_are_written(logged: Any, expected: int | None) -> None:
    assert outputs(reply(tokens=usage(logged))) == [expected]


RESPONSE = st.tuples(st.integers(0, 5), st.integers(0, 400), st.booleans())


@pytest.mark.slow
@given(st.lists(RESPONSE, max_size=12), st.randoms(use_true_random=False))
def test_order_and_repetition_of_lines_change_no_count(
    told: list[tuple[int, int, bool]], random: Any
) -> None:
    events = [
        reply(f"u{number}", f"msg_{one}", f"req_{one}", usage(output), isSidechain=is_side)
        for number, (one, output, is_side) in enumerate(told)
    ]
    counted = sorted(read_transcript(lines(*events)).told("message_id", "output_tokens"))
    assert counted == sorted(
        {f"msg_{one}": max(out for each, out, _ in told if each == one) for one, *_ in told}.items()
    )
    mixed = [*events, *random.choices(events, k=4)] if events else []
    random.shuffle(mixed)
    assert sorted(read_transcript(lines(*mixed)).told("message_id", "output_tokens")) == counted


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
    assert (told.told("message_id", "output_tokens", "model"), told.rejects) == (
        [("msg_a", 70, "claude-opus-4-5")],
        [],
    )


@pytest.mark.parametrize(
    ("content", "expected", "reject"),
    [
        (WHOLE + OTHER[:200], ["msg_a"], f"line 2, byte {len(WHOLE)}: truncated"),
        (WHOLE[:250] + b"\n" + OTHER, ["msg_b"], "line 1, byte 0: truncated"),
        (WHOLE[:250] + OTHER + WHOLE, ["msg_a"], "line 1, byte 0: not_json"),
        (
            b"[1]\n" + WHOLE + OTHER[:300] + b"\n",
            ["msg_a"],
            f"line 3, byte {len(WHOLE) + 4}: truncated",
        ),
    ],
    ids=["at the end", "in the middle", "with the next one behind it", "among other values"],
)
def test_a_line_that_is_cut_off_is_rejected_with_its_place(
    content: bytes, expected: list[str], reject: str
) -> None:
    """A process that is killed while writing leaves half a line, and the next one appends to it."""
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
    """Lines of a resumed session have the id of the earlier one.

    The name of the file says whose it is, where a line has it.
    """
    events = [
        reply(f"u{number}", f"msg_{number}", f"req_{number}", sessionId=one)
        for number, one in enumerate(sessions)
    ]
    told = read_transcript(lines(*events), name)
    assert told.run
    assert (told.run.run_id, told.run.session_id) == (expected, expected)
    assert set(told.told("session_id")) == {expected}
    assert set(told.told("agent_id")) == {"ag1" if "agent-" in name else None}
    bare = read_transcript(
        lines({"type": "assistant", "timestamp": at(2), "message": message(None)}),
        "projects/shop/first.jsonl",
    )
    assert (bare.run and bare.run.run_id, bare.told("output_tokens")) == ("first", [70]), (
        "no line has a session"
    )


def test_a_sub_agents_file_tells_nothing_of_the_session_itself() -> None:
    """Its prompt was written by the main agent, and its text is no summary of the session."""
    told = read_transcript(
        lines(
            user("Look for tests.", isSidechain=True),
            reply(isSidechain=True, agentId="ag1", inside={"content": "It is 3x faster."}),
        ),
        f"projects/-srv-shop/{SESSION}/subagents/agent-ag1.jsonl",
    )
    assert told.run
    assert (told.run.prompt, told.run.title, told.run.result, told.run.outcome) == (
        None,
        None,
        None,
        "unknown",
    )
    assert told.told("is_sidechain", "agent_id", "output_tokens") == [(True, "ag1", 70)]


def test_the_sessions_own_file_ranks_above_those_of_its_sub_agents(
    store: Store, tmp_path: Path
) -> None:
    """Whichever is read first, there is one run, and it is called as the session is."""
    folder = tmp_path / SESSION / "subagents"
    folder.mkdir(parents=True)
    (tmp_path / f"{SESSION}.jsonl").write_text(
        lines(user("Make the shop faster."), reply(second=100))
    )
    (folder / "agent-ag1.jsonl").write_text(lines(reply(isSidechain=True, second=50)))
    (folder / "agent-ag1.meta.json").write_text(
        json.dumps({"agentType": "Explore", "toolUseId": "t1"})
    )
    (folder / "journal.jsonl").write_text(
        lines(
            {"type": "started", "agentId": "ag1"},
            {"type": "result", "agentId": "ag1", "result": {}},
        )
    )
    (tmp_path / "history.jsonl").write_text(
        lines({"display": "/model", "timestamp": 1772438410000, "sessionId": SESSION})
    )
    ingest_paths(store, tmp_path)
    [run] = runs_in_store(store)
    assert (run["run_id"], run["title"], run["record_kind"], rejects_of(store)) == (
        SESSION,
        "Make the shop faster",
        "transcript",
        [],
    )


def test_what_the_session_was() -> None:
    told = read_transcript(
        lines(
            user("<command-name>/clear</command-name>"),
            user("Caveat: …", isMeta=True),
            user(
                [
                    {"type": "text", "text": "<ide_opened_file>a.py</ide_opened_file>"},
                    {"type": "text", "text": "Make it faster."},
                ],
                "p2",
                2,
            ),
            reply("u1", version="2.1.60"),
            user("And now?", "p3", 30, permissionMode="plan"),
            reply(
                "u2",
                "msg_b",
                "req_b",
                version="2.1.61",
                gitBranch="speed",
                second=70,
                inside={"content": "It is 3x faster."},
            ),
            line("system", "x1", 80, subtype="turn_duration"),
        )
    )
    run = told.run
    assert run
    assert (run.prompt, run.result, run.claimed_speedup, run.outcome) == (
        "Make it faster.",
        "It is 3x faster.",
        3,
        "completed",
    )
    assert (run.agent_version, run.cwd, run.branch, run.permission_mode) == (
        "2.1.61",
        "/srv/shop",
        "speed",
        "plan",
    )
    assert (run.duration_ms, run.record_kind, run.agent) == (79_000, "transcript", "claude-code")


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        ([], "Make it faster"),
        ([{"type": "summary", "summary": "Shop", "leafUuid": "u1"}], "Shop"),
        (
            [
                {"type": "ai-title", "aiTitle": "Speed up", "sessionId": SESSION},
                {"type": "summary", "summary": "Shop", "leafUuid": "u"},
            ],
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


LIMIT = API_ERROR | {
    "message": message("x", content="Claude AI usage limit reached|1772438410", model="<synthetic>")
}


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
        (
            [
                reply(),
                user([{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
            ],
            "interrupted",
        ),
        (
            [reply(), user("[Request interrupted by user]"), reply("u2", "msg_b", "req_b")],
            "completed",
        ),
        (
            [
                reply(),
                reply("u2", "msg_b", "req_b", isSidechain=True, inside={"stop_reason": None}),
            ],
            "completed",
        ),
    ],
)
def test_outcomes(events: list[dict[str, Any]], expected: str) -> None:
    told = read_transcript(lines(user("Make it faster."), *events))
    assert told.run
    assert told.run.outcome == expected


def test_the_agents_own_cost_is_that_of_all_its_processes() -> None:
    """It grows within one process, and starts again where the session is resumed.

    It also covers calls that the transcript lacks.
    """
    states = [(100, 0.1), (100, 0.3), (100, 0.2), (900, 0.05)]
    told = read_transcript(
        lines(
            reply(),
            *(
                {
                    "type": "cost-state",
                    "sessionId": SESSION,
                    "startTime": start,
                    "totalCostUSD": cost,
                    "totalAPIDuration": 7,
                }
                for start, cost in states
            ),
            {"type": "cost-state", "sessionId": PARENT, "startTime": 5, "totalCostUSD": 4},
        )
    )
    assert told.run
    assert (told.run.cost_own_usd, told.run.duration_api_ms, told.told("output_tokens")) == (
        Decimal("0.35"),
        14,
        [70],
    )


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
    (tmp_path / f"{SESSION}.jsonl").write_bytes(
        WHOLE + OTHER[:200] + b"\n" + OTHER + lines(user("go")).encode()
    )
    counts = ingest_paths(store, tmp_path).as_dict()
    assert [counts[name] for name in ("documents", "accepted", "rejected", "ignored")] == [
        4,
        1,
        1,
        2,
    ]


def test_events_of_a_stream_are_not_lines_of_a_transcript(store: Store, tmp_path: Path) -> None:
    """`claude -p` writes the session's id differently, and its lines have early token counts.

    The lines are those of the assistant; the counts are those at the start of the message.
    """
    event = {
        "type": "assistant",
        "session_id": SESSION,
        "uuid": "u1",
        "timestamp": at(1),
        "message": message(),
    }
    (tmp_path / "log.jsonl").write_text(lines(event))
    ingest_paths(store, tmp_path)
    [run] = runs_in_store(store)
    assert (run["record_kind"], run["outcome"], run["tokens_basis"]) == (
        "stream",
        "interrupted",
        "lower_bound",
    )


@given(st.integers(1, len(WHOLE + OTHER)))
def test_wherever_a_file_is_cut_its_whole_lines_count(cut: int) -> None:
    """A session that still runs."""
    whole = [
        name
        for name, end in (("msg_a", len(WHOLE)), ("msg_b", len(WHOLE + OTHER)))
        if cut >= end - 1
    ]
    assert read_transcript((WHOLE + OTHER)[:cut]).told("message_id") == whole
