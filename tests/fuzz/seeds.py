"""A log of every reader that is right: what the fuzzing of readers begins with."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from ingest.sources.databases import session_documents
from ingest.sources.document import Document
from tests.claude_lines import SESSION_LOG
from tests.conftest import record
from tests.documents import lines, runs_in
from tests.golden_logs import lay_shared, text_of


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


def _crush_session() -> str:
    with TemporaryDirectory() as place:
        lay_shared("crush", Path(place))
        path = Path(place, "sub_agents_count_once", "crush.db")
        [document, *_] = session_documents(path, path.name)
        return _indented(document.text) if isinstance(document, Document) else ""


_STREAMS: Mapping[str, str] = {
    "GeminiStream": "gemini/how_a_stream_ended/whole.jsonl",
    "CodexExec": "codex/exec_stream.jsonl",
    "CodexAppServer": "codex/app_server_status/interrupted.jsonl",
    "CodexRollout": "codex/rollout.jsonl",
    "CodexTextLog": "codex/text_log/total.txt",
    "GeminiChat": "gemini/a_chat_counts_the_last_version_of_each_message/chat.jsonl",
    "QwenStream": "qwen/stream.jsonl",
    "QwenChat": "qwen/chat.jsonl",
    "Grok": "grok/a_stream_and_its_end_are_one_run/stream.jsonl",
    "Grok, messages": "grok/a_stream_like_claude_codes_is_its_own/stream.jsonl",
    "IFlowTranscript": "iflow/tokens_one_day/session-00000000-0000-4000-8000-000000000002.jsonl",
    "Cursor": "cursor/a_stream.jsonl",
    "OpenCodeRun": "opencode/ends/no_end.jsonl",
    "CopilotEvents": "copilot/a_session_has_the_figures_of_its_shutdown/events.jsonl",
    "CopilotEvents, printed": "copilot/each_process_of_a_printed_session_counts/exit-code-1.jsonl",
    "OpenHandsEvents": "openhands/conversation.jsonl",
    "OpenHandsOutput": "openhands/evaluation/critic.jsonl",
    "Pi": "pi/session.jsonl",
    "Pi, stream": "pi/stream.jsonl",
    "Antigravity": "antigravity/a_result_has_all_steps.jsonl",
    "ManagedAgents": "managed_agents/a_total_has_the_grader_too.jsonl",
    "KimiWire": "kimi/a_session_of_kimi_code/wire.jsonl",
    "KimiWire, CLI": "kimi/kimi_cli_counts_each_step_once/wire.jsonl",
    "AiderAnalytics": "aider/sessions_that_interleave.jsonl",
    "AiderChatHistory": "aider/chat_history/.aider.chat.history.md",
    "OpenTelemetry": "opentelemetry/sessions_that_share_lines.jsonl",
    "OpenTelemetry, metrics": "opentelemetry/cumulative_counters/forwards.jsonl",
    "OpenTelemetry, spans": "opentelemetry/requests_of_an_agent.jsonl",
}
_RECORDS: Mapping[str, str] = {
    "Cline": "cline/kilo_code_names_the_model_in_the_request.json",
    "Trae": "trae/figures.json",
    "GeminiJson": "gemini/output_of_the_command/response-only.json",
    "OpenCodeExported": "opencode/stream_and_export/export.json",
    "CopilotHistories": "copilot/an_older_session_file_is_rewritten/later.json",
    "MiniSweAgent": "mini_swe_agent/a_trajectory_has_its_figures_once.json",
    "MiniSweAgent, second version": "mini_swe_agent/messages_with_times_have_a_duration.json",
    "SweAgent": "swe_agent/figures.traj",
    "Atif": "atif/figures_once.json",
    "HarborTrials": "harbor/a_trial_has_its_figures_once/result.json",
    "TerminalBench": (
        "terminal_bench/results_of_a_run_and_of_its_trials_repeat_each_other/results.json"
    ),
    "OpenHandsEvents, of a state": "openhands/state_and_events/state.jsonl",
    "OpenHandsIndex": "openhands_index/alone/results.json",
    "InspectAI": "inspect_ai/each_sample_is_a_run_with_its_own_tokens.json",
}
"""Readers of one record, which they write indented."""


_MADE: Mapping[str, Callable[[], str]] = {
    "ClaudeCode": _claude_code,
    "ClaudeTranscript": lambda: lines(*SESSION_LOG),
    "DistilledRuns": _kept_run,
    "CrushDatabase": _crush_session,
    "AiderBenchmark": lambda: _indented(
        text_of("aider/exercises_of_the_benchmark.jsonl").splitlines()[0]
    ),
}


def _indented(text: str) -> str:
    return json.dumps(json.loads(text), indent=2)


def seed(name: str) -> bytes:
    """A log by its name, which begins with the class of its reader."""
    if made := _MADE.get(name):
        return made().encode()
    log = _STREAMS.get(name)
    return (text_of(log) if log else _indented(text_of(_RECORDS[name]))).encode()


NAMES = (*_STREAMS, *_RECORDS, *_MADE)
