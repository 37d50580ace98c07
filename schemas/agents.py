"""The supported agents: name and symbol, marks of their records, and the class that reads them.

A new agent is one entry of AGENTS, its wire models in `schemas/wire/`, and one reader in
`ingest/agents/`. Nothing is imported here, so that asking for a name, or whether a file may be a
log, loads neither models nor readers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, NamedTuple

Names = frozenset[str]

NO_TYPE = ""
"""Entry of `Format.types` for documents without a type."""


def words(text: str) -> Names:
    return frozenset(text.split())


class Format(NamedTuple):
    """One kind of an agent's records, and the documents that its reader is offered.

    `versions`: those seen so far. `reader`: its class, as `module.Class` in `ingest.agents`.
    `types`: values of `type` in its events; empty if its documents have no type, with NO_TYPE if
    only some have one. `names`: sets of names; an object with all names of a set is such a record,
    also inside other JSON. `looks`: a test for records that neither types nor names identify. The
    reader's `recognises` chooses among the documents; by default, a type or a set of names
    suffices. `text_start`: the beginning of a text log. `text_line`: the beginning of a line near
    the start of one. `zip_heads`: header members of a zip, the first existing one counts; it
    describes `zip_parts`, the members with that prefix.
    """

    name: str
    versions: str
    reader: str
    types: Names = frozenset()
    names: tuple[Names, ...] = ()
    looks: Callable[[dict[str, Any]], bool] | None = None
    text_start: str = ""
    text_line: str = ""
    zip_heads: tuple[str, ...] = ()
    zip_parts: str = ""


class Marks(NamedTuple):
    """Marks of the agent in a broken object or line, besides the types of its events.

    `fields`: names that are rare in other JSON, or patterns of a name and its value. `legible`:
    names with values that the reject quotes. `first_names`: first names in lines of its logs.
    """

    fields: tuple[str, ...] = ()
    legible: tuple[str, ...] = ()
    first_names: tuple[str, ...] = ()


NO_MARKS = Marks()


@dataclass(frozen=True)
class Program:
    """How `tachograph run` starts an agent on a command line.

    `names`: its programs. `max_usd` and `max_minutes`: its own option that ends a run, with `{usd}`
    or `{seconds}` for the limit. `record_option`: the words with which it writes a record to its
    standard output.
    """

    names: tuple[str, ...]
    max_usd: tuple[str, ...] = ()
    max_minutes: tuple[str, ...] = ()
    record_option: str = ""


@dataclass(frozen=True)
class Home:
    """The folder with an agent's settings, credentials and sessions.

    `variable`: the environment variable with its path, or several paths separated by commas; empty
    if the agent has none.
    `usual`: the default path. `sessions`: its folders with transcripts, or its database. `others`:
    files and folders, at least one of which is beside them.
    """

    variable: str
    usual: tuple[str, ...]
    sessions: tuple[str, ...]
    others: tuple[str, ...]

    def folders(self, environment: Mapping[str, str]) -> Iterator[Path]:
        """Yield the existing folders with transcripts, and files that hold all of them.

        The variable may also name one of them directly.
        """
        named = [
            part.strip() for part in environment.get(self.variable, "").split(",") if part.strip()
        ]
        for home in map(Path, named or self.usual):
            place = home.expanduser()
            yield from (
                [place] if place.name in self.sessions and _exists(place) else self.inside(place)
            )

    def inside(self, home: Path) -> list[Path]:
        """Return the folders with transcripts in a home, and files that hold all of them."""
        return [place for place in (home / name for name in self.sessions) if _exists(place)]

    def is_at(self, path: Path) -> bool:
        """Return whether a folder is such a home: by its usual name or by its contents."""
        is_usual = path.name in {
            Path(usual).name for usual in self.usual if Path(usual).name.startswith(".")
        }
        return is_usual or any(_exists(path / name) for name in self.others)


def is_folder(path: Path) -> bool:
    """Return whether a folder exists; False also if access is forbidden."""
    return os.path.isdir(path)  # noqa: PTH112  Path.is_dir() may raise, as in a folder without permission


def _exists(path: Path) -> bool:
    """Return whether a path exists; False also if access is forbidden."""
    return os.path.exists(path)  # noqa: PTH110  Path.exists() may raise


NIGHT_COLOURS = {
    "claude-code": "#E08A6B",
    "codex": "#2FBF9B",
    "trae-agent": "#8EA3FF",
    "openhands": "#C4A83A",
    "pi": "#E07F8C",
}


@dataclass(frozen=True)
class Agent:
    """One agent. `key` is the value of `runs.agent`. `colour` and `marker` are those of charts.

    `unrecorded`: columns of `runs` that its records never fill. `is_cumulative`: a later record of
    a session includes the totals of earlier ones, so they form chains. `has_whole_files`: a
    session's file (whose run has the session's id) includes the streams of its processes, which are
    runs of their own. `logs_share_no_id`: the stream and the transcript of a session have no id in
    common. `has_transcripts`: it writes a transcript of each session beside the result records of
    its processes. `has_late_ids`: a stream names its run only after some events, so that one read
    earlier has a hash as its id. `exits_zero`: its exit code is 0 however it ended. `program` and
    `home`: None if unknown.
    """

    key: str
    label: str
    url: str
    colour: str
    marker: str
    formats: tuple[Format, ...]
    marks: Marks = NO_MARKS
    unrecorded: frozenset[str] = frozenset()
    is_cumulative: bool = False
    has_whole_files: bool = False
    logs_share_no_id: bool = False
    has_transcripts: bool = False
    has_late_ids: bool = False
    exits_zero: bool = False
    program: Program | None = None
    home: Home | None = None

    @property
    def night(self) -> str:
        """The colour on a dark page: one drawn for it, else a lighter one."""
        channels = (int(self.colour[at : at + 2], 16) for at in (1, 3, 5))
        lighter = "".join(f"{round(one + (255 - one) * 0.4):02X}" for one in channels)
        return NIGHT_COLOURS.get(self.key, f"#{lighter}")


_COST = ("cost_reported_usd", "cost_own_usd")
_API_TIME = ("duration_api_ms", "duration_api_own_ms")


CLAUDE_EVENT_TYPES = words(
    "system assistant user stream_event rate_limit_event tool_progress tool_use_summary auth_status"
    " keep_alive control_request control_response control_cancel_request"
)
CLAUDE_JOURNAL_TYPES = words("journal started result")
"""Types of lines in the journal of a workflow, which lies among the transcripts of its sub-agents.
"""
CLAUDE_LINE_TYPES = CLAUDE_JOURNAL_TYPES | words(
    "user assistant system progress attachment summary ai-title custom-title last-prompt "
    "agent-name mode permission-mode cost-state queue-operation file-history-snapshot "
    "file-history-delta pr-link worktree-state relocated tag agent-color agent-setting"
)
"""An open list: version 2.1 writes about forty types, and a line of another type is a line as well.
"""

CLAUDE_CODE = Agent(
    "claude-code",
    "Claude Code",
    "https://code.claude.com",
    "#cf6a48",
    "circle",
    (
        Format(
            "result record, stream-json",
            "0.2–2.1",
            "claude_code.results.ClaudeCode",
            CLAUDE_EVENT_TYPES | {"result"},
        ),
        Format(
            *(
                "session transcript",
                "1.0–2.1",
                "claude_code.transcript.ClaudeTranscript",
                CLAUDE_LINE_TYPES | {NO_TYPE},
            ),
            names=(words("sessionId isSidechain"),),
        ),
    ),
    Marks(
        fields=("total_cost_usd", "duration_api_ms", "num_turns"),
        legible=(
            "subtype",
            "is_error",
            "num_turns",
            "total_cost_usd",
            "duration_ms",
            "duration_api_ms",
        ),
        first_names=("parentUuid",),
    ),
    is_cumulative=True,
    has_transcripts=True,
    program=Program(
        ("claude",), max_usd=("--max-budget-usd", "{usd}"), record_option="--output-format json"
    ),
    home=Home(
        "CLAUDE_CONFIG_DIR",
        ("~/.config/claude", "~/.claude"),
        ("projects",),
        (
            "settings.json",
            ".credentials.json",
            "history.jsonl",
            "stats-cache.json",
            "shell-snapshots",
        ),
    ),
)


CODEX_ROLLOUT_TYPES = words(
    "session_meta turn_context response_item event_msg compacted token_usage_record"
)
_APP_SERVER_METHOD = re.compile(r"(?:thread|turn|item)/\w|codex/event|model/rerouted$|error$")


def app_server_message(value: dict[str, Any]) -> dict[str, Any] | None:
    """Return the JSON-RPC message of `codex app-server` in an object; else None.

    It is bare or wrapped in a log of messages.
    """
    for one in (value, *value.values()):
        if type(one) is dict and ("method" in one or "result" in one) and _is_app_servers(one):
            return one
    return None


def _is_app_servers(value: dict[str, Any]) -> bool:
    method, told = value.get("method"), value.get("params")
    if isinstance(method, str):
        return (
            isinstance(told, dict)
            and _APP_SERVER_METHOD.match(method) is not None
            and (method != "error" or "threadId" in told)
        )
    result = value.get("result")
    thread = result.get("thread") if isinstance(result, dict) else None
    return isinstance(thread, dict) and isinstance(thread.get("id"), str)


CODEX = Agent(
    "codex",
    "Codex",
    "https://github.com/openai/codex",
    "#0f9d78",
    "square",
    (
        Format(
            *("exec --json", "2026", "codex.streams.CodexExec"),
            words(
                "thread.started turn.started turn.completed turn.failed item.started "
                "item.updated item.completed error"
            ),
        ),
        Format("rollout", "0.39–0.171", "codex.rollout.CodexRollout", CODEX_ROLLOUT_TYPES),
        Format(
            *("app-server messages", "protocol 2", "codex.streams.CodexAppServer"),
            looks=lambda value: app_server_message(value) is not None,
        ),
        Format("text log", "0.58–0.87", "codex.streams.CodexTextLog", text_start="OpenAI Codex v"),
    ),
    Marks(
        fields=("cached_input_tokens", r'method"\s*:\s*"(?:thread|turn|item)/\w[\w/]{0,60}'),
        legible=("thread_id", "threadId", "input_tokens", "output_tokens"),
    ),
    unrecorded=frozenset((*_COST, *_API_TIME)),
    program=Program(("codex",), record_option="exec --json"),
    home=Home(
        "CODEX_HOME",
        ("~/.codex",),
        ("sessions", "archived_sessions"),
        ("config.toml", "auth.json", "history.jsonl"),
    ),
)

TRAE = Agent(
    "trae-agent",
    "TRAE",
    "https://github.com/bytedance/trae-agent",
    "#4c6fff",
    "diamond",
    (
        Format(
            "trajectory",
            "2025-09 to 2025-12",
            "trae.Trae",
            names=(words("llm_interactions agent_steps"),),
        ),
    ),
    Marks(
        fields=("llm_interactions", "agent_steps", "trajectory_file"),
        legible=("model", "provider", "start_time", "max_steps"),
    ),
    unrecorded=frozenset((*_COST, *_API_TIME, "session_id", "agent_version")),
    # of 677 trajectories of ISO-Bench with exit code 0, 71 say that the agent completed
    exits_zero=True,
    program=Program(("trae-cli",)),
)

TRAE_CLI = Agent(
    "trae-cli",
    "TRAE CLI",
    "https://www.trae.ai",
    "#2f4fb0",
    "diamond-wide",
    (Format("rollout, as Codex's", "0.200", "codex.rollout.CodexRollout", CODEX_ROLLOUT_TYPES),),
    unrecorded=CODEX.unrecorded,
)
"""A fork of Codex, and no relative of TRAE's agent."""

GEMINI = Agent(
    "gemini-cli",
    "Gemini CLI",
    "https://github.com/google-gemini/gemini-cli",
    "#7b61d6",
    "star",
    (
        Format("-o json", "0.6–0.61", "gemini.GeminiJson", names=(words("response stats"),)),
        Format(
            "-o stream-json",
            "2026",
            "gemini.GeminiStream",
            words("init message tool_use tool_result error result"),
        ),
        Format(
            *(
                "chat file",
                "2025-10 to 2026-04",
                "gemini.GeminiChat",
                words("user gemini info error warning") | {NO_TYPE},
            ),
            names=(words("sessionId projectHash"), words("$set"), words("$rewindTo")),
        ),
    ),
    Marks(
        fields=("projectHash", "totalLatencyMs"),
        legible=("session_id", "sessionId", "total_tokens"),
    ),
    unrecorded=frozenset((*_COST, "agent_version", "cwd", "repo", "branch")),
    has_whole_files=True,
    program=Program(("gemini",), record_option="-o json"),
)

QWEN = Agent(
    "qwen-code",
    "Qwen Code",
    "https://github.com/QwenLM/qwen-code",
    "#b4468a",
    "triangle-down",
    (
        Format(
            "-o json, stream-json",
            "0.15–0.20",
            "qwen.QwenStream",
            words("system assistant user stream_event result"),
        ),
        Format("chat file", "0.18", "qwen.QwenChat", words("system assistant user tool_result")),
    ),
    Marks(fields=("qwen_code_version",), legible=("session_id", "sessionId")),
    unrecorded=frozenset(_COST),
    program=Program(
        ("qwen",), max_minutes=("--max-wall-time", "{seconds}s"), record_option="-o json"
    ),
)

ANTIGRAVITY = Agent(
    "antigravity",
    "Antigravity CLI",
    "https://antigravity.google",
    "#b3446c",
    "triangle-up-dot",
    (
        Format(
            "-p --output-format json, stream-json",
            "1.1–1.2",
            "antigravity.Antigravity",
            names=(
                words("conversation_id duration_seconds usage"),
                words("conversation_id status response error"),
                words("event conversation_id init"),
                words("event step_update"),
            ),
            looks=lambda value: (
                value.get("event") == "result"
                and isinstance(value.get("result"), dict)
                and "conversation_id" in value["result"]
            ),
        ),
    ),
    Marks(fields=("step_update", "thinking_tokens"), legible=("conversation_id",)),
    unrecorded=frozenset(
        (*_COST, *_API_TIME, "started_at", "ended_at", "agent_version", "repo", "branch")
    ),
    program=Program(("agy",), record_option="-p --output-format json"),
)
"""The successor of Gemini CLI. Its transcripts and databases are not read."""

IFLOW = Agent(
    "iflow",
    "iFlow CLI",
    "https://cli.iflow.cn",
    "#1f8a8a",
    "circle-cross",
    (
        Format(
            "session transcript, as Claude Code's",
            "2026-01",
            "iflow.IFlowTranscript",
            CLAUDE_LINE_TYPES | {NO_TYPE},
        ),
    ),
    unrecorded=frozenset(
        (
            *_COST,
            *_API_TIME,
            "input_tokens",
            "output_tokens",
            "cache_read_tokens",
            "cache_write_tokens",
        )
    ),
)
"""Its transcripts look like Claude Code's, with 0 for all tokens."""

GROK_RESULT_NAMES = words("sessionId requestId stopReason")

GROK = Agent(
    "grok",
    "Grok Build",
    "https://github.com/xai-org/grok-build",
    "#6b6b6b",
    "square-cross",
    (
        Format(
            *(
                "-p --output-format json, streaming-json, streaming-messages-json",
                "1.0",
                "grok.Grok",
            ),
            words(
                "text thought tool_call tool_call_update usage end error max_turns_reached "
                "plan available_commands system result"
            )
            | {NO_TYPE},
            names=(GROK_RESULT_NAMES, words("total_cost_usd_ticks")),
        ),
    ),
    Marks(
        fields=("total_cost_usd_ticks",),
        legible=("sessionId", "requestId", "stopReason", "num_turns", "total_cost_usd_ticks"),
    ),
    unrecorded=frozenset(("agent_version", "repo", "branch")),
    program=Program(("grok",), record_option="-p --output-format json"),
)

CURSOR = Agent(
    "cursor",
    "Cursor",
    "https://cursor.com/cli",
    "#7a5195",
    "triangle-up",
    (
        Format(
            "-p --output-format json, stream-json",
            "2026-02 to 2026-08",
            "cursor.Cursor",
            words("system thinking tool_call result"),
        ),
    ),
    Marks(
        fields=("model_call_id", "request_id"),
        legible=("session_id", "request_id", "duration_ms", "inputTokens", "outputTokens"),
    ),
    unrecorded=frozenset((*_COST, *_API_TIME, "num_turns", "agent_version", "repo", "branch")),
    has_late_ids=True,
    program=Program(("cursor-agent",), record_option="-p --output-format json"),
)

OPENCODE = Agent(
    "opencode",
    "OpenCode",
    "https://opencode.ai",
    "#5f6b7a",
    "pentagon",
    (
        Format(
            *("run --format json", "2025-12 to 2026-07", "opencode.OpenCodeRun"),
            words("step_start text reasoning tool_use step_finish error"),
        ),
        Format(
            *("export, database", "2026", "opencode.OpenCodeExported"),
            names=(words("info messages"),),
        ),
    ),
    Marks(
        fields=("sessionID", "providerID", "modelID"),
        legible=("sessionID", "cost", "input", "output"),
    ),
    unrecorded=frozenset((*_API_TIME, "repo", "branch")),
    has_whole_files=True,
    program=Program(("opencode",), record_option="run --format json"),
    home=Home(
        "OPENCODE_DB",
        ("~/.local/share/opencode",),
        ("opencode.db", "opencode.db-wal"),
        ("opencode.db", "auth.json", "storage"),
    ),
)

CRUSH = Agent(
    "crush",
    "Crush",
    "https://github.com/charmbracelet/crush",
    "#a855c7",
    "asterisk",
    (
        Format(
            "database, also of the OpenCode that it began as",
            "2025-04 to 2026-07",
            "crush.CrushDatabase",
            names=(words("crush_session messages"),),
        ),
    ),
    unrecorded=frozenset(
        (
            *_API_TIME,
            *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
            *("agent_version", "branch"),
        )
    ),
    program=Program(("crush",)),
)

COPILOT_READ_TYPES = words(
    "session.start session.resume session.model_change session.error session.task_complete "
    "session.shutdown abort session.usage_checkpoint user.message assistant.message "
    "tool.execution_start tool.execution_complete result"
)
"""Types of events with facts about a run."""
_COPILOT_TYPES = COPILOT_READ_TYPES | words(
    "session.info session.warning session.idle session.mode_changed session.plan_changed "
    "session.context_changed session.truncation session.compaction_start "
    "session.compaction_complete session.usage_info session.auto_mode_resolved "
    "session.title_changed session.handoff session.snapshot_rewind "
    "session.workspace_file_changed assistant.turn_start assistant.turn_end "
    "assistant.message_start assistant.message_delta assistant.streaming_delta assistant.intent "
    "assistant.reasoning assistant.reasoning_delta assistant.usage tool.execution_progress "
    "tool.execution_partial_result tool.user_requested subagent.started subagent.completed "
    "subagent.failed subagent.selected subagent.deselected hook.start hook.end skill.invoked "
    "system.message system.notification permission.requested permission.completed "
    "pending_messages.modified"
)
"""The others have nothing but the time of interest."""

COPILOT = Agent(
    "copilot",
    "Copilot CLI",
    "https://github.com/features/copilot/cli",
    "#c2571a",
    "hexagram",
    (
        Format("session events", "1.0", "copilot.CopilotEvents", _COPILOT_TYPES),
        Format("-p --output-format json", "2026", "copilot.CopilotEvents", _COPILOT_TYPES),
        Format(
            "older session file",
            "2025",
            "copilot.CopilotHistories",
            names=(words("sessionId chatMessages timeline"),),
        ),
    ),
    Marks(
        fields=("copilotVersion", "modelMetrics", "totalPremiumRequests", "chatMessages"),
        legible=("sessionId", "copilotVersion", "totalPremiumRequests"),
    ),
    has_whole_files=True,
    program=Program(("copilot",), record_option="-p --output-format json"),
)

MINI_SWE_AGENT = Agent(
    "mini-swe-agent",
    "mini-swe-agent",
    "https://mini-swe-agent.com",
    "#b8860b",
    "triangle-left",
    (
        Format(
            "trajectory",
            "1.15–2.4",
            "swe_agent.MiniSweAgent",
            names=(words("trajectory_format messages"),),
        ),
    ),
    Marks(
        fields=("mini_version", "trajectory_format", "model_stats"),
        legible=("mini_version", "exit_status", "instance_cost", "api_calls"),
    ),
    unrecorded=frozenset((*_API_TIME, "session_id", "score")),
    program=Program(("mini", "mini-swe-agent"), max_usd=("--cost-limit", "{usd}")),
)

SWE_AGENT = Agent(
    "swe-agent",
    "SWE-agent",
    "https://swe-agent.com",
    "#8f4a9e",
    "triangle-right",
    (
        Format(
            "trajectory", "0.6–1.1", "swe_agent.SweAgent", names=(words("trajectory history info"),)
        ),
    ),
    Marks(
        fields=("tokens_sent", "replay_config", "edited_files30", "trajectory"),
        legible=("exit_status", "instance_cost", "tokens_sent", "tokens_received"),
    ),
    unrecorded=frozenset(
        (*_API_TIME, "duration_ms", "session_id", "started_at", "ended_at", "score")
    ),
    program=Program(("sweagent",)),
)

HARBOR_TRIAL_NAMES = words("trial_name agent_info task_checksum")

HARBOR = Agent(
    "harbor",
    "Harbor",
    "https://harborframework.com",
    "#2f6f62",
    "hexagon",
    (
        Format("trial", "0.21–0.25", "harbor.HarborTrials", names=(HARBOR_TRIAL_NAMES,)),
        Format(
            "trajectory (ATIF)",
            "1.0–1.8",
            "harbor.Atif",
            names=(words("schema_version agent steps"),),
        ),
    ),
    Marks(
        fields=("task_checksum", "trial_uri", r'schema_version"\s*:\s*"ATIF-v[\d.]{1,9}'),
        legible=("trial_name", "task_name", "schema_version", "session_id"),
    ),
    unrecorded=frozenset(_API_TIME),
    program=Program(("harbor",)),
)
"""A benchmark: its runs are attributed to the agent that it ran."""

TERMINAL_BENCH = Agent(
    "terminal-bench",
    "terminal-bench",
    "https://www.tbench.ai",
    "#5b6470",
    "hexagon2",
    (
        Format(
            "results",
            "0.2",
            "harbor.TerminalBench",
            names=(words("trial_name failure_mode"), words("results n_resolved")),
        ),
    ),
    Marks(
        fields=("failure_mode", "parser_results"),
        legible=("trial_name", "task_id", "failure_mode"),
    ),
    unrecorded=frozenset((*_COST, *_API_TIME, "session_id", "agent_version", "model", "result")),
    program=Program(("tb",)),
)
"""A benchmark whose results do not name the agent that it ran."""

OPENHANDS = Agent(
    "openhands",
    "OpenHands",
    "https://github.com/OpenHands/OpenHands",
    "#9a7d00",
    "cross",
    (
        Format(
            *("events", "SDK 1.x", "openhands.OpenHandsEvents"),
            names=(
                words("kind source timestamp key value"),
                words("kind source timestamp tool_call_id tool_name"),
                words("kind source timestamp llm_message"),
                words("kind source timestamp system_prompt"),
                words("execution_status stats agent"),
            ),
        ),
        Format(
            *("output.jsonl of evaluations", "0.59, SDK 1.x", "openhands.OpenHandsOutput"),
            names=(
                words("instance_id test_result history"),
                words("instance_id test_result metrics"),
            ),
        ),
        Format("results by instance of the OpenHands Index", "2026", "openhands.OpenHandsIndex"),
    ),
    Marks(
        fields=(
            *("usage_to_metrics", "accumulated_token_usage", "ConversationStateUpdateEvent"),
            # an instance of the OpenHands Index
            r'cost"\s*:\s*(?:null|[\d.eE+-]{1,25})\s*,\s*"resolved',
        ),
        legible=("instance_id", "accumulated_cost", "execution_status", "model_name"),
    ),
    unrecorded=frozenset(("duration_ms",)),
    program=Program(("openhands",)),
)

INSPECT_AI_HEADER = words("version eval plan")
"""Names in a whole log, in the header of an archive, and in the beginning of an unfinished log."""
INSPECT_AI_SAMPLE = words("id epoch target messages output")
"""Names in a single sample, as archives hold it."""

INSPECT_AI = Agent(
    "inspect-ai",
    "Inspect AI",
    "https://inspect.aisi.org.uk",
    "#3a8fb7",
    "x",
    (
        Format(
            *(".json and .eval logs", "0.3.41–0.3.285", "inspect_ai.InspectAI"),
            names=(INSPECT_AI_HEADER, INSPECT_AI_SAMPLE),
            zip_heads=("header.json", "_journal/start.json"),
            zip_parts="samples/",
        ),
    ),
    Marks(
        fields=("task_version", "sample_reductions", "input_tokens_cache_read"),
        legible=("task", "model", "run_id", "total_time"),
    ),
    unrecorded=frozenset(("session_id",)),
    program=Program(("inspect",)),
)
"""An evaluation framework, mostly not for coding: its runs are distinguished by their task."""

_PI_TYPES = words(
    "session message message_end message_update compaction branch_summary model_change "
    "thinking_level_change custom custom_message label session_info"
)

PI = Agent(
    "pi",
    "Pi",
    "https://pi.dev",
    "#a0455f",
    "diamond-tall",
    (
        Format("session file", "1 to 3", "pi.Pi", _PI_TYPES),
        Format("--mode json", "2026", "pi.Pi", _PI_TYPES),
    ),
    Marks(
        fields=("cacheRead", "thinkingLevel", "branchedFrom"),
        legible=("model", "totalTokens", "stopReason"),
    ),
    unrecorded=frozenset(("agent_version", "repo", "branch")),
    has_whole_files=True,
    program=Program(("pi",), record_option="--mode json"),
)
"""OpenClaw and oh-my-pi write the same format, so their runs are attributed to Pi."""

KIMI = Agent(
    "kimi-code",
    "Kimi Code",
    "https://www.kimi.com/code",
    "#3d6db5",
    "star-diamond",
    (
        Format(
            *("wire.jsonl of Kimi Code", "protocol 1.4", "kimi.KimiWire"),
            words(
                "metadata forked config.update turn.prompt turn.ended turn.cancel "
                "llm.request usage.record context.append_loop_event"
            ),
        ),
        Format("wire.jsonl of Kimi CLI", "protocol 1.2 to 1.10", "kimi.KimiWire"),
    ),
    Marks(
        fields=("inputCacheRead", "input_cache_read", "usageScope"),
        legible=("model", "inputOther", "input_other", "output"),
    ),
    unrecorded=frozenset((*_COST, *_API_TIME, "session_id", "agent_version", "repo", "branch")),
    program=Program(("kimi",)),
)
"""Its predecessor is Kimi CLI."""

_CLINE_TYPES = words("say ask")
_EDITORS = (
    "~/.config/Code/User/globalStorage",
    "~/.vscode-server/data/User/globalStorage",
    "~/Library/Application Support/Code/User/globalStorage",
    "~/.config/Cursor/User/globalStorage",
    "~/Library/Application Support/Cursor/User/globalStorage",
)


def _extension(variable: str, name: str, *others: str) -> Home:
    """Return where an editor's extension keeps its tasks."""
    usual = (*others, *(f"{folder}/{name}" for folder in _EDITORS))
    return Home(variable, usual, ("tasks",), ("state/taskHistory.json", "tasks/_index.json"))


CLINE = Agent(
    "cline",
    "Cline",
    "https://cline.bot",
    "#7a6a4f",
    "square-x",
    (
        Format(
            "ui_messages.json of a task, --json", "2025-10 to 2026-02", "cline.Cline", _CLINE_TYPES
        ),
    ),
    Marks(
        fields=(
            *("conversationHistoryIndex", "lastCheckpointHash"),
            r'ts"\s*:\s*\d{13}\s*,\s*"type"\s*:\s*"(?:say|ask)',
        )
    ),
    unrecorded=frozenset((*_API_TIME, "session_id", "agent_version", "repo", "branch")),
    program=Program(("cline",)),
    home=_extension("CLINE_DATA_DIR", "saoudrizwan.claude-dev", "~/.cline/data"),
)

ROO_CODE = Agent(
    "roo-code",
    "Roo Code",
    "https://roocode.com",
    "#8c7a1f",
    "square-dot",
    (Format("ui_messages.json of a task", "2025-10 to 2026-05", "cline.Cline", _CLINE_TYPES),),
    unrecorded=CLINE.unrecorded,
    program=Program(("roo",)),
    home=_extension("", "rooveterinaryinc.roo-cline"),
)
"""A fork of Cline."""

KILO_CODE = Agent(
    "kilo-code",
    "Kilo Code",
    "https://kilo.ai",
    "#7f7b2c",
    "circle-x",
    (Format("ui_messages.json of a task", "2025-10", "cline.Cline", _CLINE_TYPES),),
    unrecorded=CLINE.unrecorded,
    program=Program(("kilo", "kilocode")),
    home=_extension("", "kilocode.kilo-code"),
)
"""A fork of Roo Code."""

_MANAGED_TYPES = words(
    "user.message user.interrupt user.custom_tool_result user.tool_confirmation "
    "user.define_outcome user.tool_result agent.message agent.thinking agent.tool_use "
    "agent.tool_result agent.mcp_tool_use agent.mcp_tool_result agent.custom_tool_use "
    "agent.thread_context_compacted agent.thread_message_received agent.thread_message_sent "
    "session.status_running session.status_idle session.status_rescheduled "
    "session.status_terminated session.deleted session.updated session.error session.usage "
    "session.thread_created session.thread_status_running session.thread_status_idle "
    "session.thread_status_rescheduled session.thread_status_terminated "
    "span.model_request_start span.model_request_end span.outcome_evaluation_start "
    "span.outcome_evaluation_ongoing span.outcome_evaluation_end"
)


def managed_event(value: dict[str, Any]) -> dict[str, Any] | None:
    """Return the event of Claude Managed Agents in an object, bare or wrapped in `raw`; else None.

    Copilot CLI has events of the same types, with other ids.
    """
    event = value.get("raw", value)
    if not isinstance(event, dict):
        return None
    kind, identity = event.get("type"), event.get("id")
    if not isinstance(kind, str) or not isinstance(identity, str):
        return None
    return event if kind in _MANAGED_TYPES and identity.startswith("sevt_") else None


MANAGED_AGENTS = Agent(
    "claude-managed-agents",
    "Claude Managed Agents",
    "https://platform.claude.com/docs/en/managed-agents/overview",
    "#b5563a",
    "circle-dot",
    (
        Format(
            "events of a session",
            "2026-08",
            "managed_agents.ManagedAgents",
            _MANAGED_TYPES | {NO_TYPE},
            looks=lambda value: managed_event(value) is not None,
        ),
    ),
    Marks(fields=(r'id"\s*:\s*"sevt_\w{1,40}', "model_request_start_id")),
    unrecorded=frozenset(
        (*_API_TIME, "session_id", "agent_version", "model", "cwd", "repo", "branch")
    ),
)
"""Sessions that Anthropic hosts."""

AIDER_EVENT_NAMES = words("event properties user_id time")
"""Names in every line of the analytics log."""
AIDER_CHAT_LINE = "# aider chat started at "

AIDER = Agent(
    "aider",
    "Aider",
    "https://aider.chat",
    "#4f8a3c",
    "bowtie",
    (
        Format(
            "analytics log",
            "2025-08 to 2026-04",
            "aider.AiderAnalytics",
            names=(AIDER_EVENT_NAMES,),
        ),
        Format(
            "benchmark result",
            "2026",
            "aider.AiderBenchmark",
            names=(words("testcase tests_outcomes edit_format"),),
        ),
        Format("chat history", "0.47–0.48", "aider.AiderChatHistory", text_line=AIDER_CHAT_LINE),
    ),
    Marks(
        fields=("tests_outcomes", "main_model"),
        legible=("main_model", "prompt_tokens", "completion_tokens", "cost", "testcase"),
    ),
    unrecorded=frozenset((*_API_TIME, "session_id", "cwd", "repo", "branch", "result")),
    logs_share_no_id=True,
    program=Program(("aider",)),
)

OPEN_TELEMETRY = Agent(
    "opentelemetry",
    "OpenTelemetry",
    "https://opentelemetry.io",
    "#425cc7",
    "hourglass",
    (
        Format(
            *(
                (
                    "OTLP/JSON: Claude Code, Codex, Gemini CLI, Qwen Code; GenAI conventions, "
                    "OpenInference"
                ),
                "2026",
            ),
            "opentelemetry.OpenTelemetry",
            names=(words("resourceLogs"), words("resourceMetrics"), words("resourceSpans")),
        ),
    ),
    Marks(
        fields=(
            *(
                r"claude_code\.(?:api_request|token\.usage|cost\.usage)",
                r"codex\.sse_event",
                r"(?:gemini_cli|qwen-code)\.api_response",
            ),
            *(r"gen_ai\.usage\.input_tokens", r"llm\.token_count\.prompt"),
        ),
    ),
    unrecorded=frozenset(("score", "cwd", "repo", "branch")),
)
"""A standard of telemetry: its runs are attributed to the agents that it tells of."""


def by_key(*agents: Agent) -> dict[str, Agent]:
    return {agent.key: agent for agent in agents}


AGENTS = by_key(
    CLAUDE_CODE,
    CODEX,
    TRAE,
    TRAE_CLI,
    GEMINI,
    ANTIGRAVITY,
    QWEN,
    IFLOW,
    GROK,
    CURSOR,
    OPENCODE,
    CRUSH,
    CLINE,
    ROO_CODE,
    KILO_CODE,
    COPILOT,
    MINI_SWE_AGENT,
    SWE_AGENT,
    HARBOR,
    TERMINAL_BENCH,
    OPENHANDS,
    INSPECT_AI,
    PI,
    KIMI,
    MANAGED_AGENTS,
    AIDER,
    OPEN_TELEMETRY,
)

_PROGRAMS = {
    name: agent for agent in AGENTS.values() if agent.program for name in agent.program.names
}


def agent_of_program(program: str) -> Agent | None:
    """Return the agent of a program by its file name: `/usr/bin/claude`, `claude.exe`.

    None for any other.
    """
    return _PROGRAMS.get(PurePath(program).name.lower().removesuffix(".exe").removesuffix(".cmd"))


def _plain(name: str) -> str:
    return "-".join(name.lower().replace("_", " ").replace("-", " ").split())


ISO_BENCH_AGENTS = {
    "trae": "trae-agent",
    "codex": "codex",
    "codex_cli": "codex",
    "claude_code": "claude-code",
    "openhands": "openhands",
}
"""The agent's name in files and folders of ISO-Bench → `runs.agent`."""

_KEYS = {_plain(name): key for name, key in ISO_BENCH_AGENTS.items()} | {
    _plain(name): agent.key for agent in AGENTS.values() for name in (agent.label, agent.key)
}


def agent_key(written: str) -> str:
    """Return the key of an agent given its key, its label or its name in ISO-Bench.

    `Claude Code`, `claude_code`, `claude_code_cli`.

    Other names are unchanged.
    """
    plain = _plain(written)
    return _KEYS.get(plain) or _KEYS.get(plain.removesuffix("-cli"), written)
