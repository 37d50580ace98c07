"""The marks of each agent's records, apart from the wire models, which take 0.15 s to make.

Whoever asks only whether a file may be a log needs no model.
"""

from __future__ import annotations

import re
from typing import Any

from schemas.wire.marks import Marks

AIDER_EVENT_NAMES = frozenset(("event", "properties", "user_id", "time"))
"""The names of every line of the analytics log."""
AIDER_RESULT_NAMES = frozenset(("testcase", "tests_outcomes", "edit_format"))
AIDER_MARKS = Marks(
    record_fields=("tests_outcomes", "main_model"),
    legible=("main_model", "prompt_tokens", "completion_tokens", "cost", "testcase"),
    names=(AIDER_EVENT_NAMES, AIDER_RESULT_NAMES),
    text_line="# aider chat started at ",
)

CLAUDE_FIRST_NAME = "parentUuid"
"""The name with which most lines of a transcript begin."""
CLAUDE_MARKS = Marks(
    event_types=frozenset(
        {
            *("system", "assistant", "user", "stream_event", "rate_limit_event", "tool_progress", "tool_use_summary", "auth_status"),
            *("keep_alive", "control_request", "control_response", "control_cancel_request"),
        }
    ),
    record_fields=("total_cost_usd", "duration_api_ms", "num_turns"),
    legible=("subtype", "is_error", "num_turns", "total_cost_usd", "duration_ms", "duration_api_ms"),
    first_names=(CLAUDE_FIRST_NAME,),
    names=(frozenset(("sessionId", "isSidechain")),),
)

CODEX_EXEC_TYPES = frozenset(
    ("thread.started", "turn.started", "turn.completed", "turn.failed", "item.started", "item.updated", "item.completed")
)
CODEX_ROLLOUT_TYPES = frozenset(("session_meta", "turn_context", "response_item", "event_msg", "compacted", "token_usage_record"))
_APP_SERVER_METHOD = re.compile(r"(?:thread|turn|item)/\w|codex/event|model/rerouted$|error$")


def app_server_message(value: dict[str, Any]) -> dict[str, Any] | None:
    """The JSON-RPC message of `codex app-server` that an object is or, in a log of messages, wraps; None for any other object."""
    for one in (value, *value.values()):
        if type(one) is dict and ("method" in one or "result" in one) and _is_app_servers(one):
            return one
    return None


def _is_app_servers(value: dict[str, Any]) -> bool:
    method, told = value.get("method"), value.get("params")
    if isinstance(method, str):
        return isinstance(told, dict) and _APP_SERVER_METHOD.match(method) is not None and (method != "error" or "threadId" in told)
    result = value.get("result")
    thread = result.get("thread") if isinstance(result, dict) else None
    return isinstance(thread, dict) and isinstance(thread.get("id"), str)


CODEX_MARKS = Marks(
    event_types=CODEX_EXEC_TYPES | CODEX_ROLLOUT_TYPES,
    record_fields=("cached_input_tokens", r'method"\s*:\s*"(?:thread|turn|item)/\w[\w/]{0,60}'),
    legible=("thread_id", "threadId", "input_tokens", "output_tokens"),
    text_start="OpenAI Codex v",
    looks=lambda value: app_server_message(value) is not None,
)

COPILOT_READ_TYPES = frozenset(
    {
        *("session.start", "session.resume", "session.model_change", "session.error", "session.task_complete", "session.shutdown", "abort"),
        "session.usage_checkpoint",
        *("user.message", "assistant.message", "tool.execution_start", "tool.execution_complete", "result"),
    }
)
"""Types of events that say something about a run."""
COPILOT_PASSED_TYPES = frozenset(
    {
        *("session.info", "session.warning", "session.idle", "session.mode_changed", "session.plan_changed", "session.context_changed"),
        *(
            "session.truncation",
            "session.compaction_start",
            "session.compaction_complete",
            "session.usage_info",
        ),
        *(
            "session.auto_mode_resolved",
            "session.title_changed",
            "session.handoff",
            "session.snapshot_rewind",
            "session.workspace_file_changed",
        ),
        *("assistant.turn_start", "assistant.turn_end", "assistant.message_start", "assistant.message_delta", "assistant.streaming_delta"),
        *("assistant.intent", "assistant.reasoning", "assistant.reasoning_delta", "assistant.usage", "tool.execution_progress"),
        *("tool.execution_partial_result", "tool.user_requested", "subagent.started", "subagent.completed", "subagent.failed"),
        *("subagent.selected", "subagent.deselected", "hook.start", "hook.end", "skill.invoked", "system.message", "system.notification"),
        *("permission.requested", "permission.completed", "pending_messages.modified"),
    }
)
"""Types of events of which only the time is read."""
COPILOT_MARKS = Marks(
    event_types=(COPILOT_READ_TYPES | COPILOT_PASSED_TYPES) - {"abort", "result"},
    record_fields=("copilotVersion", "modelMetrics", "totalPremiumRequests", "chatMessages"),
    legible=("sessionId", "copilotVersion", "totalPremiumRequests"),
    names=(frozenset(("sessionId", "chatMessages", "timeline")),),
)

CURSOR_OWN_TYPES = frozenset(("thinking", "tool_call"))
"""Types of events that Claude Code does not have."""
CURSOR_MARKS = Marks(
    event_types=CURSOR_OWN_TYPES,
    record_fields=("model_call_id", "request_id"),
    legible=("session_id", "request_id", "duration_ms", "inputTokens", "outputTokens"),
)

GEMINI_MARKS = Marks(
    event_types=frozenset(("init", "gemini")),
    record_fields=("projectHash", "totalLatencyMs"),
    legible=("session_id", "sessionId", "total_tokens"),
    names=(frozenset(("response", "stats")), frozenset(("sessionId", "projectHash")), frozenset(("$set",)), frozenset(("$rewindTo",))),
)

GROK_RESULT_NAMES = frozenset(("sessionId", "requestId", "stopReason"))
GROK_MARKS = Marks(
    event_types=frozenset(("thought", "tool_call_update")),
    record_fields=("total_cost_usd_ticks",),
    legible=("sessionId", "requestId", "stopReason", "num_turns", "total_cost_usd_ticks"),
    names=(GROK_RESULT_NAMES, frozenset(("total_cost_usd_ticks",))),
)

KIMI_MARKS = Marks(
    event_types=frozenset(("usage.record", "llm.request", "context.append_loop_event", "turn.prompt")),
    record_fields=("inputCacheRead", "input_cache_read", "usageScope"),
    legible=("model", "inputOther", "input_other", "output"),
)

MINI_SWE_AGENT_MARKS = Marks(
    record_fields=("mini_version", "trajectory_format", "model_stats"),
    legible=("mini_version", "exit_status", "instance_cost", "api_calls"),
    names=(frozenset(("trajectory_format", "messages")),),
)

OPENCODE_MARKS = Marks(
    event_types=frozenset(("step_start", "step_finish")),
    record_fields=("sessionID", "providerID", "modelID"),
    legible=("sessionID", "cost", "input", "output"),
    names=(frozenset(("info", "messages")),),
)

OPENHANDS_MARKS = Marks(
    record_fields=(
        *("usage_to_metrics", "accumulated_token_usage", "ConversationStateUpdateEvent"),
        r'cost"\s*:\s*(?:null|[\d.eE+-]{1,25})\s*,\s*"resolved',
    ),
    legible=("instance_id", "accumulated_cost", "execution_status", "model_name"),
    names=(
        frozenset(("kind", "source", "timestamp", "key", "value")),
        frozenset(("kind", "source", "timestamp", "tool_call_id", "tool_name")),
        frozenset(("kind", "source", "timestamp", "llm_message")),
        frozenset(("kind", "source", "timestamp", "system_prompt")),
        frozenset(("execution_status", "stats", "agent")),
        frozenset(("instance_id", "test_result", "history")),
        frozenset(("instance_id", "test_result", "metrics")),
    ),
)
"""The last record field: an instance of the OpenHands Index."""

PI_MARKS = Marks(
    event_types=frozenset(("message_end", "message_update", "thinking_level_change")),
    record_fields=("cacheRead", "thinkingLevel", "branchedFrom"),
    legible=("model", "totalTokens", "stopReason"),
)

QWEN_MARKS = Marks(record_fields=("qwen_code_version",), legible=("session_id", "sessionId"))

SWE_AGENT_MARKS = Marks(
    record_fields=("tokens_sent", "replay_config", "edited_files30", "trajectory"),
    legible=("exit_status", "instance_cost", "tokens_sent", "tokens_received"),
    names=(frozenset(("trajectory", "history", "info")),),
)

TRAE_MARKS = Marks(
    record_fields=("llm_interactions", "agent_steps", "trajectory_file"),
    legible=("model", "provider", "start_time", "max_steps"),
    names=(frozenset(("llm_interactions", "agent_steps")),),
)

HARBOR_MARKS = Marks(
    record_fields=("task_checksum", "trial_uri", r'schema_version"\s*:\s*"ATIF-v[\d.]{1,9}'),
    legible=("trial_name", "task_name", "schema_version", "session_id"),
    names=(frozenset(("trial_name", "agent_info", "task_checksum")), frozenset(("schema_version", "agent", "steps"))),
)
"""Of trials, and of trajectories in ATIF."""

INSPECT_AI_HEADER = frozenset(("version", "eval", "plan"))
"""Names of a whole log, of the header of an archive, and of the beginning of an unfinished one."""
INSPECT_AI_SAMPLE = frozenset(("id", "epoch", "target", "messages", "output"))
"""Names of a sample by itself, as archives hold it."""
INSPECT_AI_MARKS = Marks(
    record_fields=("task_version", "sample_reductions", "input_tokens_cache_read"),
    legible=("task", "model", "run_id", "total_time"),
    names=(INSPECT_AI_HEADER, INSPECT_AI_SAMPLE),
    zip_heads=("header.json", "_journal/start.json"),
    zip_parts="samples/",
)

TERMINAL_BENCH_MARKS = Marks(
    record_fields=("failure_mode", "parser_results"),
    legible=("trial_name", "task_id", "failure_mode"),
    names=(frozenset(("trial_name", "failure_mode")), frozenset(("results", "n_resolved"))),
)

ISO_BENCH_AGENTS = {"trae": "trae-agent", "codex": "codex", "codex_cli": "codex", "claude_code": "claude-code", "openhands": "openhands"}
"""The agent's name in the files and folders of ISO-Bench → the value of `runs.agent`."""
