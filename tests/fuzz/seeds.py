"""A log of every reader that is right: what the fuzzing of readers begins with."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests import (
    test_aider,
    test_atif,
    test_codex,
    test_copilot,
    test_cursor,
    test_gemini,
    test_grok,
    test_harbor,
    test_inspect_ai,
    test_kimi,
    test_lookalikes,
    test_mini_swe_agent,
    test_opencode,
    test_openhands,
    test_openhands_index,
    test_opentelemetry,
    test_pi,
    test_qwen,
    test_swe_agent,
    test_terminal_bench,
    test_trae,
)
from tests.claude_lines import SESSION_LOG
from tests.conftest import record
from tests.documents import lines, runs_in


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
    [run], _ = runs_in(test_codex.thread(test_codex.completed(uncached=10, output=5)).encode())
    return str(run.raw)


def _state() -> dict[str, Any]:
    told = [
        event["value"] for event in test_openhands.conversation() if event.get("key") == "stats"
    ]
    return {
        "id": "c",
        "execution_status": "finished",
        "agent": {"llm": {"model": "gpt-5"}},
        "stats": told[-1],
    }


def _of(*events: dict[str, Any]) -> Callable[[], str]:
    return lambda: lines(*events)


_STREAMS: Mapping[str, Callable[[], str]] = {
    "ClaudeCode": _claude_code,
    "GeminiStream": lambda: test_gemini.stream(test_gemini.result(6)),
    "CodexExec": lambda: test_codex.thread(
        test_codex.completed(uncached=10, output=5), test_codex.completed(uncached=30, output=9)
    ),
    "CodexAppServer": _of(*test_codex.LOG, *test_codex.worked(number=2)),
    "CodexRollout": _of(
        test_codex.meta("a"),
        *test_codex.turn(1, uncached=10, output=5),
        *test_codex.turn(9, uncached=20, output=9),
    ),
    "CodexTextLog": lambda: test_codex.TEXT_LOG.format(
        session=test_codex.uuid7(test_codex.STARTED), end="tokens used\n1,234\n"
    ),
    "GeminiChat": lambda: test_gemini.CHAT,
    "QwenStream": lambda: lines(*test_qwen.stream(test_qwen.result())),
    "QwenChat": _of(*test_qwen.CHAT),
    "Grok": _of(*test_grok.STREAM),
    "Grok, messages": _of(*test_grok.MESSAGES),
    "IFlowTranscript": _of(*test_lookalikes.IFLOW),
    "Cursor": lambda: lines(*test_cursor.stream()),
    "OpenCodeRun": _of(*test_opencode.step(0, "tool-calls"), *test_opencode.step(1)),
    "CopilotEvents": lambda: lines(*test_copilot.whole()),
    "CopilotEvents, printed": lambda: lines(*test_copilot.printed()),
    "OpenHandsEvents": lambda: lines(*test_openhands.conversation()),
    "OpenHandsOutput": lambda: lines(test_openhands.line()),
    "Pi": test_pi.session,
    "Pi, stream": test_pi.stream,
    "ClaudeTranscript": _of(*SESSION_LOG),
    "KimiWire": _of(*test_kimi.CODE),
    "KimiWire, CLI": _of(*test_kimi.CLI),
    "AiderAnalytics": _of(*test_aider.LOG),
    "AiderChatHistory": lambda: test_aider.HISTORY,
    "OpenTelemetry": lambda: test_opentelemetry.FILES["events.jsonl"],
    "OpenTelemetry, metrics": lambda: test_opentelemetry.FILES["metrics.jsonl"],
    "OpenTelemetry, spans": lambda: test_opentelemetry.FILES["trace.jsonl"],
    "DistilledRuns": _kept_run,
}
_RECORDS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "Trae": lambda: test_trae.trajectory(
        test_trae.call("openai", "gpt-5"), test_trae.call("bedrock", "gpt-5", 1)
    ),
    "GeminiJson": test_gemini.output,
    "OpenCodeExported": lambda: test_opencode.export(
        test_opencode.answer(0), test_opencode.answer(1)
    ),
    "CopilotHistories": test_copilot.history,
    "MiniSweAgent": lambda: test_mini_swe_agent.trajectory(
        test_mini_swe_agent.reply(cost=0.1), test_mini_swe_agent.observed()
    ),
    "MiniSweAgent, second version": lambda: test_mini_swe_agent.second(
        test_mini_swe_agent.reply(actions=[{}], timestamp=1.8e9)
    ),
    "SweAgent": lambda: test_swe_agent.trajectory(test_swe_agent.step()),
    "Atif": lambda: test_atif.trajectory(
        test_atif.step(2), final=test_atif.sums(10, 1, 2, 0.5, reasoning_tokens=1)
    ),
    "HarborTrials": lambda: test_harbor.trial(
        agent_result=test_harbor.used(model_usage={"m": test_harbor.used()})
    ),
    "TerminalBench": lambda: test_terminal_bench.results(
        test_terminal_bench.trial(1), test_terminal_bench.trial(2)
    ),
    "OpenHandsEvents, of a state": _state,
    "OpenHandsIndex": lambda: test_openhands_index.results(1.5, None, 2.0),
    "AiderBenchmark": lambda: test_aider.RESULT,
    "InspectAI": lambda: test_inspect_ai.log(test_inspect_ai.sample(1), test_inspect_ai.sample(2)),
}
"""Readers of one record, which they write indented."""


def seed(name: str) -> bytes:
    """A log by its name, which begins with the class of its reader."""
    made = _STREAMS.get(name)
    return (made() if made else json.dumps(_RECORDS[name](), indent=2)).encode()


NAMES = (*_STREAMS, *_RECORDS)
