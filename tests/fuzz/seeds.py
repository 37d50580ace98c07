"""A log of every reader that is right: what the fuzzing of readers begins with."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests import (
    test_aider,
    test_atif,
    test_copilot,
    test_cursor,
    test_gemini,
    test_grok,
    test_harbor,
    test_inspect_ai,
    test_kimi,
    test_lookalikes,
    test_mini_swe_agent,
    test_terminal_bench,
)
from tests.claude_lines import SESSION_LOG
from tests.conftest import record
from tests.documents import lines, runs_in
from tests.golden_logs import text_of


def _claude_code() -> str:
    session = {"session_id": record()["session_id"]}
    init = session | {
        "type": "system",
        "subtype": "init",
        "cwd": "/work",
        "claude_code_version": "2.1.0",
    }
    said = session | {
        "type": "assistant",
        "message": {"content": [{"type": "tool_use", "id": "c", "name": "Bash"}]},
    }
    return lines(init, said, record(result="It is 2x faster."))


def _kept_run() -> str:
    [run], _ = runs_in(text_of("codex/exec_stream.jsonl").encode())
    return str(run.raw)


def _log(name: str) -> Callable[[], str]:
    return lambda: text_of(name)


def _record(name: str) -> Callable[[], dict[str, Any]]:
    return lambda: dict(json.loads(text_of(name)))


def _of(*events: dict[str, Any]) -> Callable[[], str]:
    return lambda: lines(*events)


_STREAMS: Mapping[str, Callable[[], str]] = {
    "ClaudeCode": _claude_code,
    "GeminiStream": lambda: test_gemini.stream(test_gemini.result(6)),
    "CodexExec": _log("codex/exec_stream.jsonl"),
    "CodexAppServer": _log("codex/app_server_status/interrupted.jsonl"),
    "CodexRollout": _log("codex/rollout.jsonl"),
    "CodexTextLog": _log("codex/text_log/total.txt"),
    "GeminiChat": lambda: test_gemini.CHAT,
    "QwenStream": _log("qwen/stream.jsonl"),
    "QwenChat": _log("qwen/chat.jsonl"),
    "Grok": _of(*test_grok.STREAM),
    "Grok, messages": _of(*test_grok.MESSAGES),
    "IFlowTranscript": _of(*test_lookalikes.IFLOW),
    "Cursor": lambda: lines(*test_cursor.stream()),
    "OpenCodeRun": _log("opencode/ends/no_end.jsonl"),
    "CopilotEvents": lambda: lines(*test_copilot.whole()),
    "CopilotEvents, printed": lambda: lines(*test_copilot.printed()),
    "OpenHandsEvents": _log("openhands/conversation.jsonl"),
    "OpenHandsOutput": _log("openhands/evaluation/critic.jsonl"),
    "Pi": _log("pi/session.jsonl"),
    "Pi, stream": _log("pi/stream.jsonl"),
    "ClaudeTranscript": _of(*SESSION_LOG),
    "KimiWire": _of(*test_kimi.CODE),
    "KimiWire, CLI": _of(*test_kimi.CLI),
    "AiderAnalytics": _of(*test_aider.LOG),
    "AiderChatHistory": lambda: test_aider.HISTORY,
    "OpenTelemetry": _log("opentelemetry/sessions_that_share_lines.jsonl"),
    "OpenTelemetry, metrics": _log("opentelemetry/cumulative_counters/forwards.jsonl"),
    "OpenTelemetry, spans": _log("opentelemetry/requests_of_an_agent.jsonl"),
    "DistilledRuns": _kept_run,
}
_RECORDS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "Trae": _record("trae/figures.json"),
    "GeminiJson": test_gemini.output,
    "OpenCodeExported": _record("opencode/stream_and_export/export.json"),
    "CopilotHistories": test_copilot.history,
    "MiniSweAgent": lambda: test_mini_swe_agent.trajectory(
        test_mini_swe_agent.reply(cost=0.1), test_mini_swe_agent.observed()
    ),
    "MiniSweAgent, second version": lambda: test_mini_swe_agent.second(
        test_mini_swe_agent.reply(actions=[{}], timestamp=1.8e9)
    ),
    "SweAgent": _record("swe_agent/figures.traj"),
    "Atif": lambda: test_atif.trajectory(
        test_atif.step(2), final=test_atif.sums(10, 1, 2, 0.5, reasoning_tokens=1)
    ),
    "HarborTrials": lambda: test_harbor.trial(
        agent_result=test_harbor.used(model_usage={"m": test_harbor.used()})
    ),
    "TerminalBench": lambda: test_terminal_bench.results(
        test_terminal_bench.trial(1), test_terminal_bench.trial(2)
    ),
    "OpenHandsEvents, of a state": _record("openhands/state_and_events/state.jsonl"),
    "OpenHandsIndex": _record("openhands_index/alone/results.json"),
    "AiderBenchmark": lambda: test_aider.RESULT,
    "InspectAI": lambda: test_inspect_ai.log(test_inspect_ai.sample(1), test_inspect_ai.sample(2)),
}
"""Readers of one record, which they write indented."""


def seed(name: str) -> bytes:
    """A log by its name, which begins with the class of its reader."""
    made = _STREAMS.get(name)
    return (made() if made else json.dumps(_RECORDS[name](), indent=2)).encode()


NAMES = (*_STREAMS, *_RECORDS)
