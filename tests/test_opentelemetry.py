"""OpenTelemetry: a session's figures count once, over all signals, files and other records.

Other programs are no runs.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.agents.shared.telemetry import joined
from ingest.pipeline import IngestReport, Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from ingest.store.undo import undo
from tests.claude_lines import SESSION, reply, usage, user
from tests.conftest import ingest_paths, record_text
from tests.documents import kept_in, lines, rejects_of, runs_in, runs_in_store, tools_of
from tests.examples import written_down
from tests.test_undo import differences, tables

OTHER = "6a0c1b52-1111-4222-8333-444455556666"
THIRD = "7a0c1b52-1111-4222-8333-444455556666"
SONNET, HAIKU = "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"
BEGAN = 1_790_000_000


def attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    kinds = {bool: "boolValue", int: "intValue", float: "doubleValue", str: "stringValue"}
    return [
        {"key": name, "value": {kinds[type(value)]: str(value) if type(value) is int else value}}
        for name, value in values.items()
    ]


CLAUDE = {"attributes": attributes({"service.name": "claude-code", "service.version": "2.1.217"})}


def nanoseconds(second: float) -> str:
    return str(int((BEGAN + second) * 1000) * 10**6)


def event(name: str, second: float, session: str = SESSION, **told: Any) -> dict[str, Any]:
    """One of Claude Code's events."""
    own = {"session.id": session, "event.name": name, "event.sequence": int(second)} | told
    return {
        "timeUnixNano": nanoseconds(second),
        "body": {"stringValue": f"claude_code.{name}"},
        "attributes": attributes(own),
    }


def request(
    second: float, session: str = SESSION, model: str = SONNET, cost: float = 0.25, **told: Any
) -> dict[str, Any]:
    tokens = {
        "input_tokens": 10,
        "output_tokens": 20,
        "cache_read_tokens": 300,
        "cache_creation_tokens": 40,
    }
    own = {
        "model": model,
        **tokens,
        "cost_usd": cost,
        "duration_ms": 1500,
        "request_id": f"req_{session[:2]}_{second}",
    }
    return event("api_request", second, session, **own | told)


def logs(*records: dict[str, Any], resource: dict[str, Any] = CLAUDE) -> dict[str, Any]:
    return {
        "resourceLogs": [
            {
                "resource": resource,
                "scopeLogs": [{"scope": {"name": "events"}, "logRecords": list(records)}],
            }
        ]
    }


def point(
    value: float, until: float, since: float = 0, session: str = SESSION, **told: Any
) -> dict[str, Any]:
    times = {"startTimeUnixNano": nanoseconds(since), "timeUnixNano": nanoseconds(until)}
    return times | {
        "attributes": attributes({"session.id": session, "model": SONNET} | told),
        "asDouble": value,
    }


def counter(name: str, *points: dict[str, Any], temporality: Any = 2) -> dict[str, Any]:
    told = {
        "name": f"claude_code.{name}",
        "sum": {
            "aggregationTemporality": temporality,
            "isMonotonic": True,
            "dataPoints": list(points),
        },
    }
    return {"resourceMetrics": [{"resource": CLAUDE, "scopeMetrics": [{"metrics": [told]}]}]}


def span(
    name: str,
    span_id: str,
    parent: str = "",
    trace: str = "a" * 32,
    seconds: float = 2,
    **told: Any,
) -> dict[str, Any]:
    """A span; names of attributes have `__` for a dot."""
    own = {key.replace("__", "."): value for key, value in told.items()}
    ids = {"traceId": trace, "spanId": span_id, "parentSpanId": parent, "name": name}
    return ids | {
        "startTimeUnixNano": nanoseconds(0),
        "endTimeUnixNano": nanoseconds(seconds),
        "attributes": attributes(own),
    }


def spans(*several: dict[str, Any], service: str = "my-app") -> dict[str, Any]:
    resource = {"attributes": attributes({"service.name": service})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(several)}]}]}


def agents_span(span_id: str = "01", parent: str = "", **told: Any) -> dict[str, Any]:
    own = {"gen_ai__operation__name": "invoke_agent", "gen_ai__agent__name": "Coder"}
    return span("invoke_agent Coder", span_id, parent, **own | told)


TURN_2, TURN_3 = "b" * 32, "c" * 32


def chat(
    span_id: str, parent: str = "01", given: int = 100, output: int = 10, **told: Any
) -> dict[str, Any]:
    own = {
        "gen_ai__operation__name": "chat",
        "gen_ai__provider__name": "openai",
        "gen_ai__request__model": "gpt-5",
    }
    tokens = {"gen_ai__usage__input_tokens": given, "gen_ai__usage__output_tokens": output}
    return span("chat gpt-5", span_id, parent, **own | tokens | told)


def one_model(text: str) -> Any:
    """The only model of the only run in a text."""
    [run] = kept_in(text)
    [model] = run.models
    return model


# Claude Code's events and metrics


def test_sessions_of_a_file_are_apart_and_whole() -> None:
    """Although they share lines, one is sent again, and what a person typed is not in them."""
    typed = event("user_prompt", 0, prompt="<REDACTED>")
    bash = event("tool_result", 4, tool_name="Bash", success="false", tool_use_id="toolu_1")
    told = [
        logs(typed, request(2), request(3, OTHER, cost=0.5)),
        logs(bash, request(6, model=HAIKU, cost=0.001), bash),
        logs(request(6, model=HAIKU, cost=0.001)),
    ]
    first, second = sorted(kept_in(lines(*told)), key=lambda run: run.session_id or "")
    assert (first.session_id, first.agent, first.agent_version, first.record_kind) == (
        SESSION,
        "claude-code",
        "2.1.217",
        "telemetry",
    )
    assert [
        (
            one.model_id,
            one.input_tokens,
            one.cache_read_tokens,
            one.cache_write_tokens,
            one.output_tokens,
        )
        for one in first.models
    ] == [
        (SONNET, 10, 300, 40, 20),
        (HAIKU, 10, 300, 40, 20),
    ]
    assert (first.cost_usd, first.num_turns, first.duration_ms, first.duration_api_ms) == (
        Decimal("0.251"),
        2,
        6000,
        3000,
    )
    assert (first.prompt, first.tool_calls, first.outcome) == (None, (("Bash", 1, 1),), "unknown")
    assert (second.session_id, second.cost_usd, second.num_turns) == (OTHER, Decimal("0.5"), 1)


def test_documents_of_runs_that_share_a_line_add_up(store: Store, tmp_path: Path) -> None:
    (tmp_path / "logs.jsonl").write_text(
        lines(logs(request(1), request(2, OTHER), request(3, THIRD)), logs(event("user_prompt", 0)))
    )
    report = ingest_paths(store, tmp_path / "logs.jsonl")
    counts = [
        report.total(name)
        for name in ("documents", "accepted", "duplicates", "rejected", "ignored")
    ]
    assert (counts, counts[0]) == ([3, 3, 0, 0, 0], sum(counts[1:]))
    assert len(runs_in_store(store)) == 3


@pytest.mark.parametrize("as_text", [True, False])
def test_numbers_may_be_texts(as_text: bool) -> None:
    """Early versions send all attributes as texts, and some exporters whole numbers as numbers."""
    record = request(1, cost=0.000123)
    for each in record["attributes"]:
        kind, value = next(iter(each["value"].items()))
        if kind in ("intValue", "doubleValue"):
            each["value"] = (
                {"stringValue": str(value)}
                if as_text
                else {kind: float(value) if kind == "doubleValue" else int(value)}
            )
    model = one_model(lines(logs(record)))
    assert (model.input_tokens, model.cost_usd) == (10, Decimal("0.000123"))


def test_the_event_is_named_in_any_of_three_places() -> None:
    for names in (
        {"eventName": "claude_code.api_request"},
        {"body": {"stringValue": "claude_code.api_request"}},
        {},
    ):
        record = {name: value for name, value in request(1).items() if name != "body"} | names
        assert len(kept_in(lines(logs(record, resource={})))) == 1


CUMULATIVE = (
    counter("token.usage", point(10, 60, type="input"), point(5, 60, type="output")),
    counter(
        "token.usage",
        point(30, 120, type="input"),
        point(15, 120, type="output"),
        point(1000, 120, type="cacheRead"),
    ),
    counter("token.usage", point(7, 300, 200, type="input")),
    counter("cost.usage", point(0.2, 60), point(0.25, 120)),
)
"""A process, and another one of the session, whose counters begin again."""


@pytest.mark.parametrize("order", [1, -1])
def test_cumulative_counters_count_their_last_value(order: int) -> None:
    model = one_model(lines(*CUMULATIVE[::order]))
    assert (
        model.input_tokens,
        model.output_tokens,
        model.cache_read_tokens,
        model.cache_write_tokens,
    ) == (37, 15, 1000, 0)
    assert (model.cost_usd, model.basis) == (Decimal("0.25"), "exact")


def test_deltas_are_added_and_a_point_that_was_sent_twice_counts_once() -> None:
    points = (point(10, 60, 0, type="input"), point(20, 120, 60, type="input"))
    for temporality in (1, "AGGREGATION_TEMPORALITY_DELTA"):
        told = counter("token.usage", *points, points[1], temporality=temporality)
        assert one_model(lines(told, told)).input_tokens == 30


def test_metrics_count_only_without_events() -> None:
    assert one_model(lines(*CUMULATIVE, logs(request(1)))).input_tokens == 10
    told = span(
        "claude_code.llm_request",
        "01",
        session__id=SESSION,
        model=SONNET,
        input_tokens=7,
        output_tokens=1,
        cache_read_tokens=2,
    )
    assert one_model(lines(*CUMULATIVE, spans(told))).input_tokens == 37
    assert one_model(lines(spans(told))).input_tokens == 7


def test_the_error_that_ended_a_session_is_told() -> None:
    error = event("api_error", 9, error="429 rate limit reached", status_code="429")
    ended, went_on = (
        kept_in(lines(logs(request(1), error, *more)))[0] for more in ((), (request(12),))
    )
    assert (ended.outcome, ended.errors, ended.is_error) == (
        "limit_reached",
        ("429 rate limit reached",),
        True,
    )
    assert (went_on.outcome, went_on.errors) == ("unknown", ())


# Other agents' events


def of_agent(name: str, **told: Any) -> dict[str, Any]:
    record = {"timeUnixNano": nanoseconds(1), "attributes": attributes({"event.name": name} | told)}
    return logs(record, resource={"attributes": attributes({"service.name": "x"})})


def test_codex_counts_the_cache_inside_the_input() -> None:
    told = {
        "conversation.id": THIRD,
        "model": "gpt-5",
        "input_token_count": "100",
        "cached_token_count": "40",
        "output_token_count": "9",
    }
    done = of_agent(
        "codex.sse_event",
        **told | {"event.kind": "response.completed", "reasoning_token_count": "5"},
    )
    [run] = kept_in(
        lines(of_agent("codex.sse_event", **told | {"event.kind": "response.created"}), done)
    )
    [model] = run.models
    assert (run.agent, run.session_id, run.num_turns, run.cost_usd) == ("codex", THIRD, 1, None)
    counts = (
        model.input_tokens,
        model.cache_read_tokens,
        model.cache_write_tokens,
        model.output_tokens,
        model.reasoning_tokens,
    )
    assert (counts, model.basis) == ((60, 40, 0, 9, 5), "exact")


@pytest.mark.parametrize(
    ("prefix", "agent"), [("gemini_cli", "gemini-cli"), ("qwen-code", "qwen-code")]
)
def test_gemini_counts_thoughts_beside_the_output(prefix: str, agent: str) -> None:
    counts = {
        "input": 100,
        "cached_content": 40,
        "output": 9,
        "thoughts": 5,
        "tool": 0,
        "total": 114,
    }
    told = {"session.id": THIRD, "model": "gemini-2.5-pro"} | {
        f"{name}_token_count": count for name, count in counts.items()
    }
    [run] = kept_in(lines(of_agent(f"{prefix}.api_response", **told)))
    [model] = run.models
    assert (
        run.agent,
        model.input_tokens,
        model.cache_read_tokens,
        model.output_tokens,
        model.reasoning_tokens,
    ) == (agent, 60, 40, 14, 5)


# Spans


def test_requests_of_an_agent_are_its_run() -> None:
    """By model, with cached input taken out; the agent's own span repeats their sums."""
    cached: dict[str, Any] = {
        "gen_ai__usage__cache_read__input_tokens": 60,
        "gen_ai__usage__cache_creation__input_tokens": 0,
    }
    mini = chat(
        "03",
        given=50,
        output=5,
        gen_ai__response__model="gpt-5-mini",
        gen_ai__usage__cost=0.01,
        **cached | {"gen_ai__usage__cache_read__input_tokens": 20},
    )
    tool = span(
        "execute_tool bash",
        "04",
        "01",
        gen_ai__operation__name="execute_tool",
        gen_ai__tool__name="bash",
        error__type="TimeoutError",
    )
    whole = agents_span(
        gen_ai__usage__input_tokens=150,
        gen_ai__usage__output_tokens=15,
        gen_ai__conversation__id="conv_1",
    )
    [run] = kept_in(
        lines(spans(chat("02", gen_ai__usage__cost=0.2, **cached), mini, tool), spans(whole))
    )
    assert (run.agent, run.session_id, run.record_kind, run.outcome, run.num_turns) == (
        "Coder",
        "conv_1",
        "telemetry",
        "completed",
        2,
    )
    counts = [
        (one.model_id, one.provider, one.input_tokens, one.cache_read_tokens, one.output_tokens)
        for one in run.models
    ]
    assert counts == [("gpt-5", "openai", 40, 60, 10), ("gpt-5-mini", "openai", 30, 20, 5)]
    assert (run.cost_usd, run.tool_calls, run.duration_ms) == (
        Decimal("0.21"),
        (("bash", 1, 1),),
        2000,
    )


def test_without_requests_the_outermost_agent_counts() -> None:
    inner = agents_span("02", "03", gen_ai__usage__input_tokens=40, gen_ai__usage__output_tokens=4)
    tool = span("execute_tool task", "03", "01", gen_ai__operation__name="execute_tool")
    outer = agents_span(
        "01",
        gen_ai__usage__input_tokens=100,
        gen_ai__usage__output_tokens=9,
        gen_ai__request__model="gpt-5",
    )
    model = one_model(lines(spans(inner, tool, outer)))
    assert (model.model_id, model.input_tokens, model.output_tokens) == ("gpt-5", 100, 9)
    assert (model.basis, model.cache_read_tokens) == ("upper_bound", None), (
        "it does not say what was cached"
    )


def test_cached_input_beside_the_input_is_told_by_its_size() -> None:
    told: dict[str, Any] = {
        "gen_ai__usage__cache_read__input_tokens": 900,
        "gen_ai__usage__cache_creation__input_tokens": 50,
    }
    model = one_model(lines(spans(agents_span(), chat("02", given=10, **told))))
    assert (model.input_tokens, model.cache_read_tokens, model.cache_write_tokens) == (10, 900, 50)


def test_turns_of_a_conversation_are_one_run() -> None:
    first = [agents_span(gen_ai__conversation__id="conv_1"), chat("02")]
    second = [
        one
        | {
            "traceId": "b" * 32,
            "spanId": f"1{one['spanId']}",
            "parentSpanId": one["parentSpanId"] and "101",
        }
        for one in first
    ]
    [run] = kept_in(lines(spans(*first), spans(*second), spans(*second)))
    [model] = run.models
    assert (model.input_tokens, run.num_turns) == (200, 2)


def test_openinference_is_read() -> None:
    counts: dict[str, Any] = {
        "llm__token_count__prompt": 100,
        "llm__token_count__completion": 9,
        "llm__token_count__prompt_details__cache_read": 30,
    }
    model = span(
        "LLM",
        "02",
        "01",
        openinference__span__kind="LLM",
        llm__model_name="gpt-5",
        llm__cost__total=0.5,
        **counts,
    )
    agent = span(
        "run",
        "01",
        openinference__span__kind="AGENT",
        agent__name="Coder",
        session__id="s1",
        input__value="Go.",
        output__value="Done.",
    )
    [run] = kept_in(lines(spans(model, agent)))
    [used] = run.models
    assert (run.agent, run.session_id, run.prompt, run.final_text) == (
        "Coder",
        "s1",
        "Go.",
        "Done.",
    )
    assert (used.model_id, used.input_tokens, used.cache_read_tokens, used.cost_usd) == (
        "gpt-5",
        70,
        30,
        Decimal("0.5"),
    )


def test_a_failed_agent_says_why() -> None:
    failed = agents_span(gen_ai__request__model="gpt-5", error__type="RateLimitError")
    failed["status"] = {"code": 2, "message": "too many requests"}
    [run] = kept_in(lines(spans(failed)))
    assert (run.outcome, run.errors) == ("limit_reached", ("RateLimitError: too many requests",))


@pytest.mark.parametrize(
    "told",
    [
        spans(chat("02", parent="")),
        spans(span("GET /", "01", http__method="GET")),
        counter("session.count", point(1, 60)),
        logs(
            event("hook", 1)["attributes"]
            and {"body": {"stringValue": "started"}, "attributes": []},
            resource={},
        ),
        {
            "resourceMetrics": [
                {
                    "resource": {},
                    "scopeMetrics": [{"metrics": [{"name": "http.requests", "gauge": {}}]}],
                }
            ]
        },
    ],
    ids=["a model without an agent", "a web server", "no tokens", "a log line", "a gauge"],
)
def test_other_telemetry_is_no_run(told: dict[str, Any]) -> None:
    assert runs_in(lines(told).encode()) == ([], [])


def test_an_agents_telemetry_without_tokens_says_so(store: Store, tmp_path: Path) -> None:
    (tmp_path / "logs.jsonl").write_text(
        lines(logs(event("user_prompt", 0)), logs(event("hook", 1)))
    )
    (tmp_path / "more.jsonl").write_text(
        lines(logs(request(1), request(2, "")), logs(event("tool_result", 1, "", tool_name="Bash")))
    )
    ingest_paths(store, tmp_path)
    [(reason, detail)] = rejects_of(store)
    assert (reason, detail) == (
        "no_record",
        "telemetry of Claude Code without the session or the tokens of any request",
    )
    assert tools_of(store) == []


def test_a_line_that_is_cut_off_is_a_reject(store: Store, tmp_path: Path) -> None:
    """Of an agent's telemetry: it may have had figures."""
    (tmp_path / "logs.jsonl").write_text(lines(logs(request(1)), logs(request(2)))[:-40])
    (tmp_path / "others.jsonl").write_text(
        lines(spans(span("GET /", "01", http__method="GET")))[:-40]
    )
    ingest_paths(store, tmp_path)
    assert ([run["num_turns"] for run in runs_in_store(store)], len(rejects_of(store))) == ([1], 1)


def test_gzip_is_read_and_protobuf_is_refused(store: Store, tmp_path: Path) -> None:
    (tmp_path / "logs.jsonl.gz").write_bytes(gzip.compress(lines(logs(request(1))).encode()))
    service = b"\x0a\x1b\x0a\x0cservice.name\x12\x0b\x0a\x09some-tool"
    body = b"\x0a" + bytes([len(service) + 2]) + b"\x0a" + bytes([len(service)]) + service
    (tmp_path / "logs.pb").write_bytes(len(body).to_bytes(4, "big") + body)
    (tmp_path / "bare.pb").write_bytes(body + b"\x00")
    ingest_paths(store, tmp_path)
    assert len(runs_in_store(store)) == 1
    assert {detail for _, detail in rejects_of(store)} == {
        "OpenTelemetry in protobuf is not read: let the exporter write `format: json`"
    }
    assert len(rejects_of(store)) == 2


# Cut into files

HTTP = span("POST /run", "77", http__method="POST")
CHAIN = span("chain", "23", "21", trace=TURN_3, openinference__span__kind="CHAIN")
OPEN_INFERENCE: dict[str, Any] = {
    "openinference__span__kind": "LLM",
    "llm__model_name": "gpt-5",
    "llm__token_count__prompt": 70,
}
PARTS = [
    *(logs(request(second, session)) for session in (SESSION, OTHER) for second in (2, 5)),
    logs(
        event("user_prompt", 0, prompt="Go."),
        event("tool_result", 4, tool_name="Bash", success="false", tool_use_id="toolu_1"),
    ),
    logs(event("api_error", 9, OTHER, error="429 rate limit reached")),
    *(
        counter("token.usage", point(count, until, session=THIRD, type="input"))
        for count, until in ((10, 60), (30, 120))
    ),
    counter("token.usage", point(7, 90, 60, session=THIRD, type="output"), temporality=1),
    spans(chat("02", output=7)),
    spans(
        chat("03", output=7),
        span("bash", "06", "01", gen_ai__operation__name="execute_tool", gen_ai__tool__name="bash"),
    ),
    spans(chat("04", "05"), agents_span("05", "01", gen_ai__agent__name="Helper")),
    spans(
        agents_span("01", "77", gen_ai__conversation__id="conv_1", gen_ai__usage__output_tokens=24),
        HTTP,
    ),
    spans(agents_span("11", trace=TURN_2, gen_ai__conversation__id="conv_1")),
    spans(chat("12", "11", trace=TURN_2, gen_ai__conversation__id="conv_1")),
    spans(span("LLM", "22", "23", trace=TURN_3, **OPEN_INFERENCE), CHAIN),
    spans(
        span(
            "run",
            "21",
            trace=TURN_3,
            openinference__span__kind="AGENT",
            session__id="s1",
            input__value="Go.",
            output__value="Done.",
        )
    ),
    spans(
        span("LLM", "31", "30", trace="d" * 32, **OPEN_INFERENCE),
        span("GET /", "30", trace="d" * 32),
    ),
    spans(chat("41", "40", trace="e" * 32)),
]
"""Sessions, a conversation of two traces, one of OpenInference, a web server that asks a model, and
a request whose agent never comes.
"""


def read_apart(files: Iterable[Sequence[Any]]) -> dict[str, Any]:
    """Return the runs of files, each read by itself and then joined as in a store."""
    records = [run for file in files for run in kept_in(lines(*file))]
    homes = {part_id: run.run_id for run in records for part_id in run.part_ids}
    by_run: dict[str, list[str]] = {}
    for run in records:
        by_run.setdefault(homes.get(run.run_id, run.run_id), []).append(run.as_json())
    return {run_id: joined(several, run_id) for run_id, several in by_run.items()}


@given(
    st.lists(st.sampled_from(PARTS), max_size=6),
    st.randoms(use_true_random=False),
    st.integers(1, 6),
)
def test_neither_order_nor_files_nor_repetition_matter(
    repeated: list[Any], random: Random, files: int
) -> None:
    sent = random.sample([*PARTS, *repeated], len(PARTS) + len(repeated))
    dealt: list[list[Any]] = [[] for _ in range(files)]
    for line in sent:
        random.choice(dealt).append(line)
    assert read_apart(dealt) == read_apart([PARTS])


def test_what_an_agent_never_told_is_a_lower_bound() -> None:
    """Requests without their agent, and an agent with some of its requests, are runs marked so."""
    [alone] = kept_in(lines(spans(chat("02"))))
    assert (alone.agent, alone.outcome, alone.models[0].output_tokens) == ("my-app", "unknown", 10)
    assert "No span of the agent was read" in (alone.models[0].basis_reason or "")
    cached: dict[str, Any] = {
        "gen_ai__usage__cache_read__input_tokens": 0,
        "gen_ai__usage__cache_creation__input_tokens": 0,
    }
    told = agents_span(gen_ai__usage__input_tokens=200, gen_ai__usage__output_tokens=20)
    half, whole = (
        one_model(lines(spans(told, *(chat(f"1{n}", **cached) for n in range(chats)))))
        for chats in (1, 2)
    )
    assert (half.output_tokens, half.basis, whole.output_tokens, whole.basis) == (
        10,
        "lower_bound",
        20,
        "exact",
    )


# With other records of the session

FILES = {
    f"projects/p/{SESSION}.jsonl": lines(
        user("Make it faster."), reply("u1", "msg_a", "req_a", usage(70), second=10)
    ),
    "one.json": record_text(uuid="r1", session_id=SESSION) + "\n",
    "two.json": record_text(uuid="r2", session_id=SESSION, total_cost_usd=0.75) + "\n",
    "events.jsonl": lines(logs(request(1), request(2)), logs(request(3, OTHER))),
    "events-2.jsonl": lines(logs(request(31, cost=1.0), request(32, OTHER, cost=1.0))),
    "metrics.jsonl": lines(
        *CUMULATIVE,
        *(
            counter("token.usage", point(count, 60, session=id_, type="input"))
            for count, id_ in ((90, OTHER), (7, THIRD))
        ),
    ),
    "trace.jsonl": lines(spans(agents_span(gen_ai__conversation__id="conv_1"), chat("02"))),
    "chats.jsonl": lines(
        spans(chat("03", trace=TURN_2), chat("04", trace=TURN_2)),
        spans(agents_span("05", trace=TURN_3)),
    ),
    "agent.jsonl": lines(
        spans(agents_span(trace=TURN_2, gen_ai__conversation__id="conv_1")),
        spans(chat("06", "05", trace=TURN_3)),
    ),
}

DERIVED = ("store_meta", "sources", "ingests", "run_records", "sightings")
"""Tables that tell of ingests and files, and not of sessions."""


def read(store: Store, names: Sequence[str]) -> IngestReport:
    return ingest([Source(name, FILES[name].encode()) for name in names], store, Options(jobs=1))


def at_once(folder: str, names: Iterable[str]) -> dict[str, Any]:
    store = Store(Path(folder) / "at-once.duckdb")
    read(store, sorted(names))
    return tables(store, DERIVED)


def told(store: Store) -> list[tuple[Any, ...]]:
    with store.reading() as connection:
        columns = (
            "session_id, record_kind, count(*), sum(cost_own_usd)::double, sum(input_tokens)::int"
        )
        return connection.sql(f"select {columns} from runs group by 1, 2 order by 1, 2").fetchall()


def test_nothing_of_a_session_counts_twice(store: Store) -> None:
    """Results count before a transcript, and both before telemetry.

    Of that, events before metrics, in every file that has a part.
    """
    read(store, ["metrics.jsonl"])
    assert told(store) == [
        (SESSION, "telemetry", 1, 0.25, 37),
        (OTHER, "telemetry", 1, None, 90),
        (THIRD, "telemetry", 1, None, 7),
    ]
    read(store, ["events.jsonl", "events-2.jsonl"])
    assert told(store)[:2] == [
        (SESSION, "telemetry", 1, 1.5, 30),
        (OTHER, "telemetry", 1, 1.25, 20),
    ]
    read(store, [f"projects/p/{SESSION}.jsonl"])
    assert told(store)[0] == (SESSION, "transcript", 1, None, 4)
    read(store, ["one.json", "two.json"])
    assert told(store) == [
        (SESSION, "result", 2, 1.0, 20),
        (OTHER, "telemetry", 1, 1.25, 20),
        (THIRD, "telemetry", 1, None, 7),
    ]
    with store.reading() as connection:
        kinds = connection.sql(
            "select run_id, list(record_kind order by record_kind) from run_records where "
            "run_id like 'r_' group by 1 order by 1"
        )
        assert kinds.fetchall() == [
            ("r1", ["result"]),
            ("r2", ["result", *["telemetry"] * 3, "transcript"]),
        ]


@pytest.mark.slow
@given(st.permutations(sorted(FILES)), st.lists(st.integers(1, len(FILES) - 1), max_size=3))
@example([*sorted(FILES)[::-1]], [1, 2, 3])
@written_down()
def test_order_and_division_change_nothing(order: list[str], cuts: list[int]) -> None:
    with TemporaryDirectory() as folder:
        store = Store(Path(folder) / "parts.duckdb")
        for first, last in zip([0, *sorted(cuts)], [*sorted(cuts), len(order)], strict=True):
            if first < last:
                read(store, order[first:last])
        assert differences(tables(store, DERIVED), at_once(folder, FILES)) == {}


@pytest.mark.slow
@given(st.sets(st.sampled_from(sorted(FILES)), min_size=1, max_size=len(FILES) - 1))
@example({"one.json", "two.json", f"projects/p/{SESSION}.jsonl"})
@example({"events.jsonl", "events-2.jsonl"})
@written_down()
def test_an_undo_leaves_what_the_other_files_alone_would_have_brought(taken_back: set[str]) -> None:
    with TemporaryDirectory() as folder:
        store = Store(Path(folder) / "undone.duckdb")
        staying = sorted(set(FILES) - taken_back)
        read(store, staying)
        read(store, sorted(taken_back))
        undo(store, 2)
        assert differences(tables(store, DERIVED), at_once(folder, staying)) == {}


def test_a_rebuild_makes_the_same_runs(store: Store) -> None:
    read(store, sorted(FILES))
    before = tables(store, DERIVED)
    assert rebuild(store).rejects == 0
    assert differences(tables(store, DERIVED), before) == {}


def test_a_file_that_grew_takes_the_place_of_its_beginning(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    for requests in ((request(1),), (request(1), request(2))):
        path.write_text(lines(*map(logs, requests)))
        ingest_paths(store, path)
    [run] = runs_in_store(store)
    assert (run["cost"], run["num_turns"]) == (0.5, 2)
    with store.reading() as connection:
        assert connection.sql("select count(goes_on) from sources").fetchall() == [(1,)], (
            "a long file is not joined with each of its beginnings"
        )


def test_a_part_that_cannot_be_read_again_costs_no_other_run(store: Store, tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}.jsonl").write_text(lines(logs(request(number))))
    ingest_paths(store, tmp_path / "1.jsonl")
    with store.writing() as writer:
        writer.connection.execute("update runs set raw = replace(raw, 'heard', 'herd')")
    (tmp_path / "other.json").write_text(record_text(uuid="other", session_id="other"))
    assert ingest_paths(store, tmp_path / "2.jsonl", tmp_path / "other.json").total("rejected") == 0
    assert sorted(run["cost"] for run in runs_in_store(store)) == [0.25, 0.25]


def test_telemetry_tells_when_a_result_was(store: Store, tmp_path: Path) -> None:
    """A record by itself has no time."""
    (tmp_path / "one.json").write_text(FILES["one.json"])
    (tmp_path / "events.jsonl").write_text(lines(logs(request(1))))
    ingest_paths(store, tmp_path)
    [run] = runs_in_store(store)
    assert (run["run_id"], run["time_source"], run["agent_version"]) == ("r1", "stream", "2.1.217")
    assert json.loads(json.dumps(run["started_at"], default=str)).startswith("2026-09-21")


# What cannot be read, and who has no cache writes


@pytest.mark.parametrize(
    ("provider", "model", "basis"),
    [
        ("openai", "gpt-5", "exact"),
        ("openai", "gpt-5.6-sol", "upper_bound"),  # has a price for cache writes
        ("openai", "gpt-of-tomorrow", "upper_bound"),
        ("anthropic", SONNET, "upper_bound"),
        ("gcp.gemini", "gemini-2.5-pro", "exact"),
        ("my-gateway", "gpt-5", "upper_bound"),
        ("unknown", "gpt-5", "upper_bound"),
    ],
)
def test_who_has_no_cache_writes_is_not_unsure_of_them(
    provider: str, model: str, basis: str
) -> None:
    told: dict[str, Any] = {"gen_ai__provider__name": provider, "gen_ai__request__model": model}
    told |= {"gen_ai__usage__cache_read__input_tokens": 60}
    found = one_model(lines(spans(agents_span("01"), chat("02", **told))))
    assert (found.basis, found.input_tokens, found.cache_read_tokens) == (basis, 40, 60)
    assert found.cache_write_tokens == (0 if basis == "exact" else None)


def test_a_line_that_cannot_be_read_leaves_nothing_behind(store: Store, tmp_path: Path) -> None:
    """Beside it are two runs, one of which has spans on the same line as the damage."""
    good, bad = (
        agents_span("01", trace=letter * 32, gen_ai__usage__input_tokens=9) for letter in "ab"
    )
    broken = agents_span("02", trace="a" * 32, tachograph__run_id=7)
    (tmp_path / "spans.jsonl").write_text(
        lines(spans(good), spans(bad, broken), spans(agents_span("01", trace="c" * 32)))
    )
    (tmp_path / "other.jsonl").write_text(lines(spans(agents_span("01", trace="d" * 32)), {"a": 1}))
    report = ingest_paths(store, tmp_path)
    assert [
        report.total(name)
        for name in ("documents", "accepted", "duplicates", "rejected", "ignored")
    ] == [5, 3, 0, 1, 1]
    [(reason, detail)] = rejects_of(store)
    assert (reason, "tachograph.…: run_id" in detail) == ("invalid_record", True)
