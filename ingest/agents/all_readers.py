"""All readers, in the order in which they are asked. Importing them takes a quarter of the start of an ingest; Claude Code's needs none."""

from __future__ import annotations

from ingest.agents.aider.analytics import AiderAnalytics
from ingest.agents.aider.benchmark import AiderBenchmark
from ingest.agents.aider.chat_history import AiderChatHistory
from ingest.agents.base import AgentReader
from ingest.agents.claude_code.reader import ClaudeCode
from ingest.agents.claude_code.transcript import ClaudeTranscript
from ingest.agents.codex.app_server import CodexAppServer
from ingest.agents.codex.exec_stream import CodexExec
from ingest.agents.codex.rollout import CodexRollout
from ingest.agents.codex.text_log import CodexTextLog
from ingest.agents.copilot.events import CopilotEvents
from ingest.agents.copilot.history import CopilotHistories
from ingest.agents.cursor import Cursor
from ingest.agents.gemini.chat import GeminiChat
from ingest.agents.gemini.output import GeminiJson
from ingest.agents.gemini.stream import GeminiStream
from ingest.agents.grok import Grok
from ingest.agents.harbor.atif import Atif
from ingest.agents.harbor.terminal_bench import TerminalBench
from ingest.agents.harbor.trial import HarborTrials
from ingest.agents.iflow import IFlowTranscript
from ingest.agents.inspect_ai import InspectAI
from ingest.agents.kept_run import KeptRuns
from ingest.agents.kimi.wire import KimiWire
from ingest.agents.opencode.export import OpenCodeExported
from ingest.agents.opencode.run_stream import OpenCodeRun
from ingest.agents.openhands.events import OpenHandsEvents, OpenHandsState
from ingest.agents.openhands.index import OpenHandsIndex
from ingest.agents.openhands.output import OpenHandsOutput
from ingest.agents.pi import Pi
from ingest.agents.qwen.chat import QwenChat
from ingest.agents.qwen.stream import QwenStream
from ingest.agents.swe_agent.mini import MiniSweAgent
from ingest.agents.swe_agent.trajectory import SweAgent
from ingest.agents.trae import Trae
from ingest.agents.unread import UnreadLogs

READERS: tuple[type[AgentReader], ...] = (
    ClaudeCode,
    GeminiStream,
    Grok,
    CodexExec,
    CodexAppServer,
    CodexRollout,
    CodexTextLog,
    Trae,
    GeminiJson,
    GeminiChat,
    QwenStream,
    QwenChat,
    Cursor,
    OpenCodeRun,
    OpenCodeExported,
    CopilotEvents,
    CopilotHistories,
    MiniSweAgent,
    SweAgent,
    Atif,
    HarborTrials,
    TerminalBench,
    OpenHandsEvents,
    OpenHandsState,
    OpenHandsOutput,
    OpenHandsIndex,
    InspectAI,
    Pi,
    KimiWire,
    AiderAnalytics,
    AiderBenchmark,
    AiderChatHistory,
    IFlowTranscript,
    ClaudeTranscript,
    UnreadLogs,
    KeptRuns,
)
"""Every reader. A document with a `type` goes to a reader of such events, any other to the first that recognises it."""

OF_UNKNOWN_TYPES: tuple[type[AgentReader], ...] = (CodexAppServer, IFlowTranscript, ClaudeTranscript)
"""Readers of events whose type no reader names: newer versions of a transcript have them, and logs that wrap messages."""
