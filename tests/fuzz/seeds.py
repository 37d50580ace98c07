"""A log of every reader that is right: what the fuzzing of readers begins with."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests import test_atif, test_lookalikes
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
    "GeminiStream": _log("gemini/how_a_stream_ended/whole.jsonl"),
    "CodexExec": _log("codex/exec_stream.jsonl"),
    "CodexAppServer": _log("codex/app_server_status/interrupted.jsonl"),
    "CodexRollout": _log("codex/rollout.jsonl"),
    "CodexTextLog": _log("codex/text_log/total.txt"),
    "GeminiChat": _log("gemini/a_chat_counts_the_last_version_of_each_message/chat.jsonl"),
    "QwenStream": _log("qwen/stream.jsonl"),
    "QwenChat": _log("qwen/chat.jsonl"),
    "Grok": _log("grok/a_stream_and_its_end_are_one_run/stream.jsonl"),
    "Grok, messages": _log("grok/a_stream_like_claude_codes_is_its_own/stream.jsonl"),
    "IFlowTranscript": _of(*test_lookalikes.IFLOW),
    "Cursor": _log("cursor/a_stream.jsonl"),
    "OpenCodeRun": _log("opencode/ends/no_end.jsonl"),
    "CopilotEvents": _log("copilot/a_session_has_the_figures_of_its_shutdown/events.jsonl"),
    "CopilotEvents, printed": _log(
        "copilot/each_process_of_a_printed_session_counts/exit-code-1.jsonl"
    ),
    "OpenHandsEvents": _log("openhands/conversation.jsonl"),
    "OpenHandsOutput": _log("openhands/evaluation/critic.jsonl"),
    "Pi": _log("pi/session.jsonl"),
    "Pi, stream": _log("pi/stream.jsonl"),
    "ClaudeTranscript": _of(*SESSION_LOG),
    "KimiWire": _log("kimi/a_session_of_kimi_code/wire.jsonl"),
    "KimiWire, CLI": _log("kimi/kimi_cli_counts_each_step_once/wire.jsonl"),
    "AiderAnalytics": _log("aider/sessions_that_interleave.jsonl"),
    "AiderChatHistory": _log("aider/chat_history/.aider.chat.history.md"),
    "OpenTelemetry": _log("opentelemetry/sessions_that_share_lines.jsonl"),
    "OpenTelemetry, metrics": _log("opentelemetry/cumulative_counters/forwards.jsonl"),
    "OpenTelemetry, spans": _log("opentelemetry/requests_of_an_agent.jsonl"),
    "DistilledRuns": _kept_run,
}
_RECORDS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "Trae": _record("trae/figures.json"),
    "GeminiJson": _record("gemini/output_of_the_command/response-only.json"),
    "OpenCodeExported": _record("opencode/stream_and_export/export.json"),
    "CopilotHistories": _record("copilot/an_older_session_file_is_rewritten/later.json"),
    "MiniSweAgent": _record("mini_swe_agent/a_trajectory_has_its_figures_once.json"),
    "MiniSweAgent, second version": _record(
        "mini_swe_agent/messages_with_times_have_a_duration.json"
    ),
    "SweAgent": _record("swe_agent/figures.traj"),
    "Atif": lambda: test_atif.trajectory(
        test_atif.step(2), final=test_atif.sums(10, 1, 2, 0.5, reasoning_tokens=1)
    ),
    "HarborTrials": _record("harbor/a_trial_has_its_figures_once/result.json"),
    "TerminalBench": _record(
        "terminal_bench/results_of_a_run_and_of_its_trials_repeat_each_other/results.json"
    ),
    "OpenHandsEvents, of a state": _record("openhands/state_and_events/state.jsonl"),
    "OpenHandsIndex": _record("openhands_index/alone/results.json"),
    "AiderBenchmark": lambda: dict(
        json.loads(text_of("aider/exercises_of_the_benchmark.jsonl").splitlines()[0])
    ),
    "InspectAI": _record("inspect_ai/each_sample_is_a_run_with_its_own_tokens.json"),
}
"""Readers of one record, which they write indented."""


def seed(name: str) -> bytes:
    """A log by its name, which begins with the class of its reader."""
    made = _STREAMS.get(name)
    return (made() if made else json.dumps(_RECORDS[name](), indent=2)).encode()


NAMES = (*_STREAMS, *_RECORDS)
