"""The agents whose records are read: how each is called, how it is drawn, and how its records are told from other text.

A new agent is one entry here, its marks and its wire models in `schemas/wire/`, and one reader in `ingest/agents/`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from schemas.wire import agent_marks
from schemas.wire.marks import Marks


@dataclass(frozen=True)
class Program:
    """How an agent is started on a command line: what `tachograph run` must know of it.

    `names`: of its programs. `max_usd` and `max_minutes`: its own option that ends a run, with `{usd}` or `{seconds}` for the limit.
    `record_option`: the words with which it writes a record to its standard output.
    """

    names: tuple[str, ...]
    max_usd: tuple[str, ...] = ()
    max_minutes: tuple[str, ...] = ()
    record_option: str = ""


@dataclass(frozen=True)
class Agent:
    """One agent. `key` is the value of `runs.agent`. `reads`: kinds of its records that are read, with the versions that were seen.

    `untold`: columns of `runs` that none of its records can fill. `is_cumulative`: whether a later record of a session includes the totals
    of earlier ones, so that they form chains. `has_whole_files`: whether the file of a session, whose run has the id of the session, holds
    what is in the streams of its processes, each of which is a run by itself. `logs_share_no_id`: whether it writes two logs of a
    session, a stream and a transcript, that have no id in common. `has_transcripts`: whether it writes a transcript of each session beside
    the result records of its processes. `has_late_ids`: whether a stream tells the id of its run only after its first events, so that a
    stream which was read before has a hash as its id. `colour` and `marker` are those of charts. `program`: how it is started, where that
    is known.
    """

    key: str
    label: str
    home: str
    colour: str
    marker: str
    marks: Marks
    reads: tuple[tuple[str, str], ...]
    untold: frozenset[str] = frozenset()
    is_cumulative: bool = False
    has_whole_files: bool = False
    logs_share_no_id: bool = False
    has_transcripts: bool = False
    has_late_ids: bool = False
    program: Program | None = None


CLAUDE_CODE = Agent(
    "claude-code",
    "Claude Code",
    "https://code.claude.com",
    "#cf6a48",
    "circle",
    agent_marks.CLAUDE_MARKS,
    (("result record, stream-json", "0.2–2.1"), ("session transcript", "1.0–2.1")),
    is_cumulative=True,
    has_transcripts=True,
    program=Program(("claude",), max_usd=("--max-budget-usd", "{usd}"), record_option="--output-format json"),
)
IFLOW = Agent(
    "iflow",
    "iFlow CLI",
    "https://cli.iflow.cn",
    "#1f8a8a",
    "circle-cross",
    Marks(),
    (("session transcript, as Claude Code's", "2026-01"),),
    untold=frozenset(
        {
            *("cost_reported_usd", "cost_own_usd", "duration_api_ms", "duration_api_own_ms"),
            *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
        }
    ),
)
"""Its transcripts look like Claude Code's, and say 0 for all tokens."""
CODEX = Agent(
    "codex",
    "Codex",
    "https://github.com/openai/codex",
    "#0f9d78",
    "square",
    agent_marks.CODEX_MARKS,
    (("exec --json", "2026"), ("rollout", "0.39–0.104"), ("app-server messages", "protocol 2"), ("text log", "0.58–0.87")),
    untold=frozenset(("cost_reported_usd", "cost_own_usd", "duration_api_ms", "duration_api_own_ms")),
    program=Program(("codex",), record_option="exec --json"),
)
TRAE = Agent(
    "trae-agent",
    "TRAE",
    "https://github.com/bytedance/trae-agent",
    "#4c6fff",
    "diamond",
    agent_marks.TRAE_MARKS,
    (("trajectory", "2025-09 to 2025-12"),),
    untold=frozenset(("cost_reported_usd", "cost_own_usd", "duration_api_ms", "duration_api_own_ms", "session_id", "agent_version")),
    program=Program(("trae-cli",)),
)
TRAE_CLI = Agent(
    "trae-cli",
    "TRAE CLI",
    "https://www.trae.ai",
    "#2f4fb0",
    "diamond-wide",
    Marks(),
    (("rollout, as Codex's", "0.200"),),
    untold=CODEX.untold,
)
"""A fork of Codex, and no relative of TRAE's agent."""
GEMINI = Agent(
    "gemini-cli",
    "Gemini CLI",
    "https://github.com/google-gemini/gemini-cli",
    "#7b61d6",
    "star",
    agent_marks.GEMINI_MARKS,
    (("-o json", "0.6–0.61"), ("-o stream-json", "2026"), ("chat file", "2025-10 to 2026-04")),
    untold=frozenset(("cost_reported_usd", "cost_own_usd", "agent_version", "cwd", "repo", "branch")),
    has_whole_files=True,
    program=Program(("gemini",), record_option="-o json"),
)
QWEN = Agent(
    "qwen-code",
    "Qwen Code",
    "https://github.com/QwenLM/qwen-code",
    "#b4468a",
    "triangle-down",
    agent_marks.QWEN_MARKS,
    (("-o json, stream-json", "0.15–0.20"), ("chat file", "0.18")),
    untold=frozenset(("cost_reported_usd", "cost_own_usd")),
    program=Program(("qwen",), max_minutes=("--max-wall-time", "{seconds}s"), record_option="-o json"),
)
CURSOR = Agent(
    "cursor",
    "Cursor",
    "https://cursor.com/cli",
    "#7a5195",
    "triangle-up",
    agent_marks.CURSOR_MARKS,
    (("-p --output-format json, stream-json", "2026-02 to 2026-08"),),
    untold=frozenset(
        ("cost_reported_usd", "cost_own_usd", "duration_api_ms", "duration_api_own_ms", "num_turns", "agent_version", "repo", "branch")
    ),
    has_late_ids=True,
    program=Program(("cursor-agent",), record_option="-p --output-format json"),
)
OPENCODE = Agent(
    "opencode",
    "OpenCode",
    "https://opencode.ai",
    "#5f6b7a",
    "pentagon",
    agent_marks.OPENCODE_MARKS,
    (("run --format json", "2025-12 to 2026-07"), ("export", "2026")),
    untold=frozenset(("duration_api_ms", "duration_api_own_ms", "repo", "branch")),
    has_whole_files=True,
    program=Program(("opencode",), record_option="run --format json"),
)
COPILOT = Agent(
    "copilot",
    "Copilot CLI",
    "https://github.com/features/copilot/cli",
    "#c2571a",
    "hexagram",
    agent_marks.COPILOT_MARKS,
    (("session events", "1.0"), ("-p --output-format json", "2026"), ("older session file", "2025")),
    has_whole_files=True,
    program=Program(("copilot",), record_option="-p --output-format json"),
)
GROK = Agent(
    "grok",
    "Grok Build",
    "https://github.com/xai-org/grok-build",
    "#6b6b6b",
    "square-cross",
    agent_marks.GROK_MARKS,
    (("-p --output-format json, streaming-json, streaming-messages-json", "1.0"),),
    untold=frozenset(("agent_version", "repo", "branch")),
    program=Program(("grok",), record_option="-p --output-format json"),
)
MINI_SWE_AGENT = Agent(
    "mini-swe-agent",
    "mini-swe-agent",
    "https://mini-swe-agent.com",
    "#b8860b",
    "triangle-left",
    agent_marks.MINI_SWE_AGENT_MARKS,
    (("trajectory", "1.15–2.4"),),
    untold=frozenset(("duration_api_ms", "duration_api_own_ms", "session_id", "score")),
    program=Program(("mini", "mini-swe-agent"), max_usd=("--cost-limit", "{usd}")),
)
SWE_AGENT = Agent(
    "swe-agent",
    "SWE-agent",
    "https://swe-agent.com",
    "#8f4a9e",
    "triangle-right",
    agent_marks.SWE_AGENT_MARKS,
    (("trajectory", "0.6–1.1"),),
    untold=frozenset(("duration_ms", "duration_api_ms", "duration_api_own_ms", "session_id", "started_at", "ended_at", "score")),
    program=Program(("sweagent",)),
)
HARBOR = Agent(
    "harbor",
    "Harbor",
    "https://harborframework.com",
    "#2f6f62",
    "hexagon",
    agent_marks.HARBOR_MARKS,
    (("trial", "0.21–0.25"), ("trajectory (ATIF)", "1.0–1.8")),
    untold=frozenset(("duration_api_ms", "duration_api_own_ms")),
    program=Program(("harbor",)),
)
"""A benchmark: its runs bear the name of the agent that it ran."""
TERMINAL_BENCH = Agent(
    "terminal-bench",
    "terminal-bench",
    "https://www.tbench.ai",
    "#5b6470",
    "hexagon2",
    agent_marks.TERMINAL_BENCH_MARKS,
    (("results", "0.2"),),
    untold=frozenset(
        ("cost_reported_usd", "cost_own_usd", "duration_api_ms", "duration_api_own_ms", "session_id", "agent_version", "model", "result")
    ),
    program=Program(("tb",)),
)
"""A benchmark, whose results do not name the agent that it ran."""
OPENHANDS = Agent(
    "openhands",
    "OpenHands",
    "https://github.com/OpenHands/OpenHands",
    "#9a7d00",
    "cross",
    agent_marks.OPENHANDS_MARKS,
    (("events", "SDK 1.x"), ("output.jsonl of evaluations", "0.59, SDK 1.x"), ("results by instance of the OpenHands Index", "2026")),
    untold=frozenset(("duration_ms",)),
    program=Program(("openhands",)),
)
INSPECT_AI = Agent(
    "inspect-ai",
    "Inspect AI",
    "https://inspect.aisi.org.uk",
    "#3a8fb7",
    "x",
    agent_marks.INSPECT_AI_MARKS,
    ((".json and .eval logs", "0.3.41–0.3.154"),),
    untold=frozenset(("session_id",)),
    program=Program(("inspect",)),
)
"""A framework of evaluations, most of them not of coding: its runs are told apart by their task."""
PI = Agent(
    "pi",
    "Pi",
    "https://pi.dev",
    "#a0455f",
    "diamond-tall",
    agent_marks.PI_MARKS,
    (("session file", "1 to 3"), ("--mode json", "2026")),
    untold=frozenset(("agent_version", "repo", "branch")),
    has_whole_files=True,
    program=Program(("pi",), record_option="--mode json"),
)
"""OpenClaw and oh-my-pi write the same: their runs bear its name."""
KIMI = Agent(
    "kimi-code",
    "Kimi Code",
    "https://www.kimi.com/code",
    "#3d6db5",
    "star-diamond",
    agent_marks.KIMI_MARKS,
    (("wire.jsonl of Kimi Code", "protocol 1.4"), ("wire.jsonl of Kimi CLI", "protocol 1.2 to 1.10")),
    untold=frozenset(
        ("cost_reported_usd", "cost_own_usd", "duration_api_ms", "duration_api_own_ms", "session_id", "agent_version", "repo", "branch")
    ),
    program=Program(("kimi",)),
)
"""Its predecessor is Kimi CLI."""
AIDER = Agent(
    "aider",
    "Aider",
    "https://aider.chat",
    "#4f8a3c",
    "bowtie",
    agent_marks.AIDER_MARKS,
    (("analytics log", "2025-08 to 2026-04"), ("benchmark result", "2026"), ("chat history", "0.47–0.48")),
    untold=frozenset(("duration_api_ms", "duration_api_own_ms", "session_id", "cwd", "repo", "branch", "result")),
    logs_share_no_id=True,
    program=Program(("aider",)),
)

AGENTS = {
    agent.key: agent
    for agent in (
        CLAUDE_CODE, CODEX, TRAE, TRAE_CLI, GEMINI, QWEN, IFLOW, GROK, CURSOR, OPENCODE, COPILOT, MINI_SWE_AGENT, SWE_AGENT, HARBOR,
        TERMINAL_BENCH, OPENHANDS, INSPECT_AI, PI, KIMI, AIDER,
    )
}  # fmt: skip
"""Every agent by its key."""


def agent_of_program(program: str) -> Agent | None:
    """The agent that a program is, by the name of its file: `/usr/bin/claude`, `claude.exe`. None for any other."""
    return _PROGRAMS.get(PurePath(program).name.lower().removesuffix(".exe").removesuffix(".cmd"))


_PROGRAMS = {name: agent for agent in AGENTS.values() if agent.program for name in agent.program.names}


def agent_key(written: str) -> str:
    """The key of an agent by its key, its label or its name in ISO-Bench: `Claude Code`, `claude_code`. Another name as it is written."""
    return _KEYS.get(_plain(written), written)


def _plain(name: str) -> str:
    return "-".join(name.lower().replace("_", " ").replace("-", " ").split())


_KEYS = {_plain(name): key for name, key in agent_marks.ISO_BENCH_AGENTS.items()} | {
    _plain(name): agent.key for agent in AGENTS.values() for name in (agent.label, agent.key)
}
