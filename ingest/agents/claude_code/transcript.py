"""Claude Code's session transcripts → one run for each file, with the responses that the file tells of.

A session has its file, `<session>.jsonl`, and its sub-agents have theirs: `agent-<id>.jsonl` beside it, or in `<session>/subagents/`. All
of them are records of one run, whose id is that of the session; the record of the session's own file ranks first. Which responses are
billed is decided across files, in the store: resumed and forked sessions repeat lines of others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, NamedTuple, cast

from ingest.agents.base import NO_FACTS, NO_SUBAGENT, NO_TYPE, AgentReader, ContextOf, Found
from ingest.agents.claude_code.transcript_facts import SessionFacts
from ingest.agents.claude_code.transcript_lines import is_line
from ingest.agents.claude_code.transcript_passing import PassedLines
from ingest.agents.claude_code.transcript_responses import Responses, Speaker, blocks_of, message_of
from ingest.agents.kept_run import ended
from ingest.agents.shared.runs import By, ToolCalls, ToolCounts, canonical_hash, merged, milliseconds_between
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time
from schemas.agents import CLAUDE_CODE
from schemas.rows.kept_run import KeptRun
from schemas.rows.run import RecordKind
from schemas.wire.claude_transcript import JOURNAL_TYPES, LINE_TYPES, SYNTHETIC, Line, Message

_OWN_RANK, _SUBAGENTS_RANK = 3, 1
_MAIN = Speaker(is_sidechain=False, agent_id=None)
_SUBAGENTS = re.compile(r"([^/\\!]+)[/\\]subagents[/\\]")
_STEM = re.compile(r"([^/\\!]*?)(?:\.jsonl?)?(?:\.(?:gz|zst|bz2|xz))?$")
_AGENT = "agent-"


class _FileName(NamedTuple):
    """What a path says: the session whose `subagents` folder it is in, the name without suffixes, and the id of the sub-agent."""

    session: str | None
    stem: str
    agent_id: str | None


class _Settled(NamedTuple):
    """A line from which a later reading can go on: a new response begins there, and every earlier tool call has its result."""

    lines: int
    passed: int
    responses: int
    messages: int
    calls: ToolCalls
    stamp: Any = None


class ClaudeTranscript(AgentReader):
    """Session transcripts, `~/.claude/projects/**/*.jsonl`, every version."""

    agent: ClassVar[str] = CLAUDE_CODE.key
    reads_unknown_types: ClassVar[bool] = True
    priority: ClassVar[int] = -1  # other agents' transcripts look like it
    event_types: ClassVar[frozenset[str]] = LINE_TYPES | JOURNAL_TYPES | {NO_TYPE}

    def __init__(self, context_of: ContextOf) -> None:
        super().__init__(context_of)
        self._facts = SessionFacts()
        self.passing: PassedLines = PassedLines(self._facts)
        self._responses = Responses()
        self._calls = ToolCounts()
        self._messages = self.lines = 0
        self.settled_at: int | None = None
        self._settled: _Settled | None = None
        self._left_at: _Settled | None = None
        self._last: Document | None = None

    @staticmethod
    def recognises(document: Document) -> bool:
        return is_line(document.value)

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        self._read(cast("Line", document.value))
        self.lines += 1
        self._last = document
        return ()

    def note(self, event: dict[str, Any]) -> bool:
        if not is_line(event):
            return False
        self._read(cast("Line", event))
        self.lines += 1
        return True

    def noted(self, last: Document) -> None:
        self._last = last

    def settle(self) -> None:
        self._left_at = self._settled

    def resume(self, kept: KeptRun) -> bool:
        if kept.resume is None:
            return False
        try:
            self.lines, self.passing.count, self._messages, self._responses.earlier = map(int, kept.resume["counts"])
            self._calls.counts = {tool: [calls, errors] for tool, calls, errors in kept.resume["calls"]}
            self._facts.restore(kept, kept.resume["facts"], kept.resume.get("texts", {}))
        except (KeyError, TypeError, ValueError):  # of another version
            return False
        self._left_at = _Settled(self.lines, self.passing.count, 0, self._messages, merged(self._calls))
        return True

    def _state(self) -> dict[str, Any] | None:
        """What `resume` needs: counts as they were before the line to go on from, and facts as they are.

        That line and those behind it will be read again, which changes no fact.
        """
        if (at := self._left_at) is None:
            return None
        counts = (at.lines, at.passed, at.messages, self._responses.counted(at.responses))
        active = self._facts.stamps.active.until(event_time(at.stamp))
        return {"counts": counts, "calls": at.calls, "facts": self._facts.state() | {"active": active}, "texts": self._facts.titles}

    def end(self) -> Iterator[Found | Unreadable]:
        """The run of the file. A file without prompts and responses makes none: titles, snapshots and commands alone."""
        if self._last and (len(self._responses) or self._messages or self._facts.prompt):
            yield self._ended(self._last)
        self._last = None

    def _read(self, line: Line) -> None:
        facts = self._facts
        message, kind = message_of(line), line.get("type")
        facts.stamps.note(line.get("timestamp"), _made_by(message, kind))
        facts.place(line)
        if message is not None:
            if kind == "assistant":
                self._assistant(line, message)
            elif kind == "user" or (kind is None and message.get("role") == "user"):
                self._user(line, message)
            else:
                self._assistant(line, message)
        elif kind == "progress":
            self._progress(line)
        elif isinstance(kind, str):
            facts.told(line, kind)

    def _assistant(self, line: Line, message: Message) -> None:
        is_own = line.get("isSidechain") is not True
        agent_id = line.get("agentId")
        speaker = _MAIN if is_own and agent_id is None else Speaker(not is_own, agent_id if isinstance(agent_id, str) else None)
        self._responses.close_calls(self.passing.answered)
        known, is_open = len(self._responses), bool(self._responses.open_calls)
        response = self._responses.add(line, message, speaker) if "usage" in message else None
        if len(self._responses) > known and not is_open:
            self.settled_at = self.lines
            self._settled = _Settled(
                self.settled_at,
                self.passing.count,
                known,
                self._messages,
                merged(self._calls) if self._calls.counts else (),
                line.get("timestamp"),
            )
        if response:
            self._facts.responded(line)
        elif message.get("model") != SYNTHETIC:
            self._count_calls(message)
        if is_own and (message.get("model") != SYNTHETIC or line.get("isApiErrorMessage") is True):
            self._messages += 1
            self._facts.assistant(line, message, response)

    def _count_calls(self, message: Message) -> None:
        """Tool calls of a message without tokens."""
        for block in blocks_of(message):
            tool, call = block.get("name"), block.get("id")
            if block.get("type") == "tool_use" and isinstance(tool, str) and tool:
                self._calls.called(call if isinstance(call, str) else None, tool)

    def _user(self, line: Line, message: Message) -> None:
        searches = line.get("toolUseResult")
        times = searches.get("searchCount") if type(searches) is dict else None
        is_answer = False
        for block in blocks_of(message):
            if block.get("type") == "tool_result":
                self._answer(block, times)
                times, is_answer = None, True
        if not is_answer and line.get("isSidechain") is not True:
            self._responses.open_calls.clear()  # results of calls before a prompt do not come any more
        self._facts.user(line)

    def _answer(self, block: dict[str, Any], searches: object) -> None:
        call = block.get("tool_use_id")
        if type(call) is str:
            self._responses.open_calls.discard(call)
        if block.get("is_error") is True and isinstance(call, str):
            self._responses.failed(call)
            self._calls.failed(call)
        elif searches is not None:
            self._responses.searched(call, searches)

    def _progress(self, line: Line) -> None:
        """A line of a sub-agent inside the progress of the tool call that started it."""
        data: Any = line.get("data")
        inner: Any = data.get("message") if type(data) is dict else None
        message = message_of(inner)
        if message is None:
            return
        if "usage" in message:
            agent_id = data.get("agentId")
            dated = cast("Line", {"timestamp": line.get("timestamp")} | inner)
            self._responses.add(dated, message, Speaker(True, agent_id if isinstance(agent_id, str) else None))
        for block in blocks_of(message):
            if block.get("type") == "tool_result":
                self._answer(block, None)

    def _ended(self, last: Document) -> Found | Unreadable:
        around = self._context_of(NO_FACTS, None)
        name = _file_name(around.name)
        is_subagents = name.session is not None or name.agent_id is not None or not self._facts.is_main
        run_id = self._run_id(name, last)
        run = ended(last, self._kept(run_id, is_subagents=is_subagents), self._context_of)
        if not isinstance(run, Found):
            return run
        agent_id = (self._facts.agent_id or name.agent_id) if is_subagents else None
        rows = tuple(self._responses.rows(run_id, agent_id, around.subagent or NO_SUBAGENT if is_subagents else NO_SUBAGENT))
        return run._replace(rows=run.rows._replace(response_copies=rows))

    def _run_id(self, name: _FileName, last: Document) -> str:
        """The session: by the folder of its sub-agents, by the name of its file, or by its last response.

        A resumed session has lines of the earlier one, with its id. A name proves nothing where no line has it.
        """
        facts = self._facts
        if name.session:
            return name.session
        if name.stem in facts.sessions:
            return name.stem
        return facts.last_session or next(iter(facts.sessions), None) or name.stem or canonical_hash(last.value)

    def _kept(self, run_id: str, *, is_subagents: bool) -> dict[str, Any]:
        facts = self._facts
        started_at, ended_at = facts.stamps.bounds
        values = {
            "run_id": run_id,
            "agent": self.agent,
            "record_kind": RecordKind.TRANSCRIPT,
            "rank": _SUBAGENTS_RANK if is_subagents else _OWN_RANK,
            "lines": self.lines + self.passing.count,
            "resume": self._state(),
            "agent_version": facts.version,
            "session_id": run_id,
            "started_at": started_at,
            "ended_at": ended_at,
            "duration_ms": milliseconds_between(started_at, ended_at),
            "cwd": facts.cwd,
            "branch": facts.branch,
            "tool_calls": merged(self._calls),
        }
        return values if is_subagents else values | self._told(run_id)

    def _told(self, run_id: str) -> dict[str, Any]:
        """What only the file of the session itself tells."""
        facts = self._facts
        cost, api_ms = facts.cost_of(run_id)
        return {
            "title": facts.title,
            "prompt": facts.prompt,
            "final_text": facts.final_text,
            "outcome": facts.outcome,
            "errors": (facts.error,) if facts.error else (),
            "is_error": True if facts.failed_as else None,
            "permission_mode": facts.permission_mode,
            "parent_session_id": facts.forked_from if facts.forked_from != run_id else None,
            "cost_usd": cost,
            "active_ms": facts.stamps.active.ms,
            "duration_api_ms": api_ms,
        }


def _made_by(message: Message | None, kind: object) -> By:
    """Who made what a line tells."""
    if message is None:
        return By.TOOL if kind == "progress" else By.OTHERS
    if kind == "assistant":
        return By.OTHERS if message.get("model") == SYNTHETIC else By.MODEL
    return By.TOOL if any(block.get("type") == "tool_result" for block in blocks_of(message)) else By.OTHERS


def _file_name(name: str) -> _FileName:
    folder, found = _SUBAGENTS.search(name), _STEM.search(name)
    stem = found[1] if found else ""
    agent_id = stem.removeprefix(_AGENT) if stem.startswith(_AGENT) else None
    return _FileName(folder[1] if folder else None, stem, agent_id)
