"""Claude Code's session transcripts → one run per file, with its responses.

A session has the file `<session>.jsonl`, and each sub-agent has `agent-<id>.jsonl` beside it or in
`<session>/subagents/`. All of them are records of one run with the session's id; the session's own
file ranks first. The store decides across files which responses are billed: resumed and forked
sessions repeat lines of others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar

from ingest.agents.base import AgentReader, Found
from ingest.agents.claude_code.responses import (
    ClaudeResponse,
    ClaudeResponses,
    Speaker,
    blocks_of,
    is_plain,
    message_of,
)
from ingest.agents.claude_code.results import FOLLOWING, is_limit, reset_time
from ingest.agents.distilled import ended
from ingest.agents.shared.runs import (
    ActiveTime,
    By,
    ToolCounts,
    canonical_hash,
    merged,
    milliseconds_between,
)
from ingest.agents.shared.texts import prompt_of
from ingest.facts import NO_SUBAGENT
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import CLAUDE_CODE, CLAUDE_JOURNAL_TYPES
from schemas.marks import FIGURES
from schemas.rows.row import LARGEST_INT
from schemas.rows.run import Outcome, RecordKind
from schemas.wire.claude_code import SYNTHETIC, Line, Message, dollars, whole

SESSIONS_KEPT = 1000
"""Maximum number of session ids, and processes with costs, remembered per file. Real files have a
few.
"""

# Which objects are lines of a transcript

_OF_OTHERS = ("session_id", "parent_tool_use_id", "usageMetadata", "systemPayload")
"""Fields of stream events, and of Qwen Code's chat files."""


def is_line(value: dict[str, Any]) -> bool:
    """Return whether an object is a line of a transcript. Never raises."""
    if "isSidechain" in value and "sessionId" in value:  # as nearly all have
        return "session_id" not in value
    kind, message = value.get("type"), value.get("message")
    if any(name in value for name in _OF_OTHERS) or not (kind is None or isinstance(kind, str)):
        return False
    has_session = isinstance(value.get("sessionId"), str)
    if isinstance(message, dict):  # a damaged line may lack its type
        is_known = (
            has_session or "isSidechain" in value or (kind is not None and "timestamp" in value)
        )
        return is_known and kind in ("user", "assistant", None) and "parts" not in message
    if kind == "summary":
        return "leafUuid" in value
    if kind == "file-history-snapshot":
        return "messageId" in value
    if kind in CLAUDE_JOURNAL_TYPES:
        return "agentId" in value and FIGURES.isdisjoint(value)
    return isinstance(kind, str) and has_session


# What a transcript says of its session besides its responses

_INTERRUPTED = "[Request interrupted by user"
_OUTCOMES = {
    "end_turn": Outcome.COMPLETED,
    "stop_sequence": Outcome.COMPLETED,
    "refusal": Outcome.REFUSED,
}
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
"""Type of a line with a title → its field, in order of preference."""
_LONGEST = 100_000
"""Maximum number of characters kept of a text."""


@dataclass
class SessionFacts:
    """The session so far: its id, place, times, prompts and end.

    `sessions`: the ids on its lines; `last_session`: the id of the last response. `is_woken`:
    nobody asked for the turn, for example after a background task woke the agent. Version and
    branch are those of the last response, `cwd` is that of the first line. `first_stamp` and
    `last_stamp`: times in Claude Code's format; `odd_times`: the first and last time in any other
    format.
    """

    first_stamp: str = "9"
    last_stamp: str = ""
    odd_times: list[datetime] = field(default_factory=list)
    active: ActiveTime = field(default_factory=ActiveTime)
    sessions: dict[str, None] = field(default_factory=dict)
    last_session: str | None = None
    is_main: bool = False
    agent_id: str | None = None
    cwd: str | None = None
    version: str | None = None
    branch: str | None = None
    permission_mode: str | None = None
    effort: str | None = None
    forked_from: str | None = None
    titles: dict[str, str] = field(default_factory=dict)
    prompt: str | None = None
    final_text: str | None = None
    error: str | None = None
    failed_as: Outcome | None = None
    last_response: ClaudeResponse | None = None
    is_interrupted: bool = False
    is_woken: bool = False
    costs: dict[tuple[Any, Any], tuple[Decimal, int]] = field(default_factory=dict)

    def note_time(self, stamp: Any, by: By = By.OTHERS) -> None:
        """Read the time of a line in any format, and who made the line's content."""
        if stamp is None:
            return
        time = event_time(stamp)
        self.active.note(time, by)
        if is_plain(stamp):
            self.last_stamp = max(self.last_stamp, stamp)
            self.first_stamp = min(self.first_stamp, stamp)
        elif time:
            self.odd_times = [min((*self.odd_times, time)), max((*self.odd_times, time))]

    def times(self) -> tuple[datetime | None, datetime | None]:
        times = [
            time
            for time in (event_time(self.first_stamp), event_time(self.last_stamp), *self.odd_times)
            if time
        ]
        return min(times, default=None), max(times, default=None)

    def place(self, line: Line) -> None:
        """Read the session and the folder of a line."""
        session = line.get("sessionId")
        if self.is_main and self.cwd and type(session) is str and session in self.sessions:
            return
        if isinstance(session, str) and session and len(self.sessions) < SESSIONS_KEPT:
            self.sessions.setdefault(session)
        self.is_main = self.is_main or line.get("isSidechain", "message" not in line) is not True
        self.cwd = self.cwd or _text(line.get("cwd"))
        self.version = self.version or _text(line.get("version"))
        self.branch = self.branch or _text(line.get("gitBranch"))

    def responded(self, line: Line) -> None:
        """Read version, branch and session from the line of a response."""
        if (session := line.get("sessionId")) != self.last_session:
            self.last_session = _text(session) or self.last_session
        if (version := line.get("version")) != self.version:
            self.version = _text(version) or self.version
        if (branch := line.get("gitBranch")) != self.branch:
            self.branch = _text(branch) or self.branch
        if "effort" in line:  # since 2.1.267
            self.effort = _text(line["effort"]) or self.effort
        if self.agent_id is None and "agentId" in line:
            self.agent_id = _text(line["agentId"])

    def user(self, line: Line) -> None:
        """Read a line in the user's role: a prompt, an interruption, or tool results."""
        self.permission_mode = _text(line.get("permissionMode")) or self.permission_mode
        if line.get("isSidechain") is True:
            return
        origin, message, forked = line.get("origin"), line["message"], line.get("forkedFrom")
        content, blocks = message.get("content"), blocks_of(message)
        is_human = not isinstance(origin, dict) or origin.get("kind") in (None, "human")
        if not any(block.get("type") == "tool_result" for block in blocks):
            self.is_woken = isinstance(origin, dict) and origin.get("kind") in FOLLOWING
        if self.prompt is None and is_human:
            self.prompt = prompt_of(line)
        first_text = next(
            (block["text"] for block in blocks if isinstance(block.get("text"), str)), ""
        )
        first_text = content if isinstance(content, str) else first_text
        self.is_interrupted = self.is_interrupted or first_text.startswith(_INTERRUPTED)
        if self.forked_from is None and isinstance(forked, dict):
            self.forked_from = _text(forked.get("sessionId"))

    def assistant(self, line: Line, message: Message, response: ClaudeResponse | None) -> None:
        """Read a main-thread line in the assistant's role."""
        self.is_interrupted = False
        content = message.get("content")
        text = content if isinstance(content, str) else ""
        for block in blocks_of(message):
            if (
                block.get("type") == "text"
                and isinstance(block_text := block.get("text"), str)
                and block_text.strip()
            ):
                text = block_text
        if line.get("isApiErrorMessage") is True:
            self.error = text[:_LONGEST]
            self.failed_as = Outcome.LIMIT_REACHED if is_limit(text) else Outcome.API_ERROR
            if last := self.last_response:
                last.limit_resets_at = (
                    reset_time(text, event_time(line.get("timestamp"))) or last.limit_resets_at
                )
            return
        self.error = self.failed_as = None
        self.final_text = (
            self.final_text if self.is_woken and self.final_text else text or self.final_text
        )
        self.last_response = response or self.last_response

    def other(self, line: Line, kind: str) -> None:
        """Read a line without a message.

        A title, the permission mode, or the cost of a process as the agent counted it.
        """
        if name := _TITLES.get(kind):
            self.titles[kind] = _text(line.get(name)) or self.titles.get(kind, "")
        elif kind == "permission-mode":
            self.permission_mode = _text(line.get("permissionMode")) or self.permission_mode
        elif kind == "pr-link" and self.last_response:
            name, number = _text(line.get("prRepository")), whole(line.get("prNumber"))
            if name and number:
                self.last_response.opened(f"{name}#{number}")
        elif kind == "cost-state":
            cost, time = dollars(line.get("totalCostUSD")), line.get("totalAPIDuration")
            key = (_text(line.get("sessionId")), str(line.get("startTime")))
            if cost is not None and (key in self.costs or len(self.costs) < SESSIONS_KEPT):
                api_ms = (
                    whole(round(time))
                    if isinstance(time, float) and 0 <= time <= LARGEST_INT
                    else whole(time)
                )
                self.costs[key] = max(self.costs.get(key, (cost, 0)), (cost, api_ms or 0))

    def cost_of(self, session: str) -> tuple[Decimal | None, int | None]:
        """Return the cost in USD and API time in ms of all processes of a session.

        They are as the agent counted them.
        """
        own = [value for (owner, _), value in self.costs.items() if owner in (session, None)]
        return (
            (sum((cost for cost, _ in own), Decimal()), sum(time for _, time in own) or None)
            if own
            else (None, None)
        )

    def outcome(self) -> Outcome:
        """Return how the session ended, judged by the last lines of the main thread."""
        if self.is_interrupted:
            return Outcome.INTERRUPTED
        if self.failed_as is not None:
            return self.failed_as
        stop_reason = self.last_response.stop_reason if self.last_response else None
        return _OUTCOMES.get(stop_reason or "", Outcome.UNKNOWN)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= _LONGEST else None


# The reader

_OWN_RANK, _SUBAGENTS_RANK = 3, 1
_MAIN = Speaker(is_sidechain=False, agent_id=None)
_SUBAGENTS = re.compile(r"([^/\\!]+)[/\\]subagents[/\\]")
_STEM = re.compile(r"([^/\\!]*?)(?:\.jsonl?)?(?:\.(?:gz|zst|bz2|xz))?$")
_AGENT = "agent-"


class ClaudeTranscript(AgentReader):
    """Session transcripts, `~/.claude/projects/**/*.jsonl`, every version."""

    agent: ClassVar[str] = CLAUDE_CODE.key
    priority: ClassVar[int] = -1  # other agents' transcripts look like it

    def __init__(self) -> None:
        self._facts = SessionFacts()
        self._responses = ClaudeResponses()
        self._calls = ToolCounts()
        self._messages = self._lines = 0
        self._last: Document | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        return is_line(document.value)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        self._read(document.value)
        self._lines += 1
        self._last = document
        return ()

    def note(self, event: dict[str, Any]) -> bool:
        if not is_line(event):
            return False
        self._read(event)
        self._lines += 1
        return True

    def noted(self, last: Document) -> None:
        self._last = last

    def _read(self, line: Line) -> None:
        facts = self._facts
        message, kind = message_of(line), line.get("type")
        if message is None:
            facts.note_time(line.get("timestamp"), By.TOOL if kind == "progress" else By.OTHERS)
            facts.place(line)
            if kind == "progress":
                self._progress(line)
            elif isinstance(kind, str):
                facts.other(line, kind)
            return
        has_results = kind != "assistant" and any(
            block.get("type") == "tool_result" for block in blocks_of(message)
        )
        by = By.TOOL if has_results else By.OTHERS
        if kind == "assistant" and message.get("model") != SYNTHETIC:
            by = By.MODEL
        facts.note_time(line.get("timestamp"), by)
        facts.place(line)
        if kind == "user" or (kind is None and message.get("role") == "user"):
            self._user(line, message)
        else:
            self._assistant(line, message)

    def _assistant(self, line: Line, message: Message) -> None:
        is_own = line.get("isSidechain") is not True
        agent_id = line.get("agentId")
        speaker = (
            _MAIN
            if is_own and agent_id is None
            else Speaker(not is_own, agent_id if isinstance(agent_id, str) else None)
        )
        response = self._responses.add(line, message, speaker) if "usage" in message else None
        if response:
            self._facts.responded(line)
        elif message.get("model") != SYNTHETIC:  # tool calls of a message without tokens
            for block in blocks_of(message):
                tool, call = block.get("name"), block.get("id")
                if block.get("type") == "tool_use" and isinstance(tool, str) and tool:
                    self._calls.called(call if isinstance(call, str) else None, tool)
        if is_own and (message.get("model") != SYNTHETIC or line.get("isApiErrorMessage") is True):
            self._messages += 1
            self._facts.assistant(line, message, response)

    def _user(self, line: Line, message: Message) -> None:
        searches = line.get("toolUseResult")
        times = searches.get("searchCount") if type(searches) is dict else None
        for block in blocks_of(message):
            if block.get("type") == "tool_result":
                self._answer(block, times)
                times = None
        self._facts.user(line)

    def _answer(self, block: dict[str, Any], searches: object) -> None:
        call = block.get("tool_use_id")
        self._responses.committed(call, block.get("content"))
        if block.get("is_error") is True and isinstance(call, str):
            self._responses.failed(call)
            self._calls.failed(call)
        elif searches is not None:
            self._responses.searched(call, searches)

    def _progress(self, line: Line) -> None:
        """Read a sub-agent's line inside the progress of the tool call that started it."""
        data: Any = line.get("data")
        inner: Any = data.get("message") if type(data) is dict else None
        message = message_of(inner)
        if message is None:
            return
        if "usage" in message:
            agent_id = data.get("agentId")
            dated = {"timestamp": line.get("timestamp")} | inner
            self._responses.add(
                dated, message, Speaker(True, agent_id if isinstance(agent_id, str) else None)
            )
        for block in blocks_of(message):
            if block.get("type") == "tool_result":
                self._answer(block, None)

    def end(self) -> Iterator[Found | Unreadable]:
        """Yield the run of the file.

        A file without prompts and responses (only titles, snapshots, commands) makes none.

        The session id comes from the folder of sub-agents, the file name, or the last response,
        since a resumed session contains lines of the earlier one with its id. A name counts only if
        some line has it.
        """
        facts, last, self._last = self._facts, self._last, None
        if last is None or not (len(self._responses) or self._messages or facts.prompt):
            return
        folder, found = _SUBAGENTS.search(self.around.name), _STEM.search(self.around.name)
        stem = found[1] if found else ""
        is_subagents = folder is not None or stem.startswith(_AGENT) or not facts.is_main
        if folder or stem in facts.sessions:
            run_id = folder[1] if folder else stem
        else:
            run_id = (
                facts.last_session
                or next(iter(facts.sessions), None)
                or stem
                or canonical_hash(last.value)
            )
        run = ended(last, self._kept(run_id, is_subagents=is_subagents))
        if isinstance(run, Found):
            agent_id, subagent = None, NO_SUBAGENT
            if is_subagents:
                agent_id = facts.agent_id or (
                    stem.removeprefix(_AGENT) if stem.startswith(_AGENT) else None
                )
                subagent = self.around.subagent or subagent
            rows = tuple(self._responses.rows(run_id, agent_id, subagent))
            run = run._replace(responses=lambda _: rows)
        yield run

    def _kept(self, run_id: str, *, is_subagents: bool) -> dict[str, Any]:
        """Return the values of the Run.

        Titles, texts, end and costs only from the session's own file.
        """
        facts = self._facts
        started_at, ended_at = facts.times()
        values = {
            "run_id": run_id,
            "agent": self.agent,
            "record_kind": RecordKind.TRANSCRIPT,
            "rank": _SUBAGENTS_RANK if is_subagents else _OWN_RANK,
            "lines": self._lines,
            "agent_version": facts.version,
            "session_id": run_id,
            "started_at": started_at,
            "ended_at": ended_at,
            "duration_ms": milliseconds_between(started_at, ended_at),
            "effort": facts.effort,
            "cwd": facts.cwd,
            "branch": facts.branch,
            "tool_calls": merged(self._calls),
        }
        if is_subagents:
            return values
        cost, api_ms = facts.cost_of(run_id)
        return values | {
            "title": next(filter(None, map(facts.titles.get, _TITLES)), None),
            "prompt": facts.prompt,
            "final_text": facts.final_text,
            "outcome": facts.outcome(),
            "errors": (facts.error,) if facts.error else (),
            "is_error": True if facts.failed_as else None,
            "permission_mode": facts.permission_mode,
            "parent_session_id": facts.forked_from if facts.forked_from != run_id else None,
            "cost_usd": cost,
            "active_ms": facts.active.ms,
            "duration_api_ms": api_ms,
        }
