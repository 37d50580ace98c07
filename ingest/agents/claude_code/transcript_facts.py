"""What a transcript says of its session besides its responses: whose it is, where and when it ran, what it was asked, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, cast

from ingest.agents.claude_code.following import FOLLOWING
from ingest.agents.claude_code.limits import reset_time
from ingest.agents.claude_code.outcome import is_limit
from ingest.agents.claude_code.transcript_responses import Response, Speaker, blocks_of
from ingest.agents.claude_code.transcript_times import Stamps
from ingest.agents.shared.texts import prompt_of
from ingest.sources.times import event_time
from schemas.rows.kept_run import KeptRun
from schemas.rows.row import LARGEST_INT
from schemas.rows.run import Outcome
from schemas.wire.claude_transcript import Line, Message, dollars, whole

SESSIONS_KEPT = 1000
"""Ids of sessions, and processes with costs, that are remembered of one file. Real files have a few."""

_INTERRUPTED = "[Request interrupted by user"
_OUTCOMES = {"end_turn": Outcome.COMPLETED, "stop_sequence": Outcome.COMPLETED, "refusal": Outcome.REFUSED}
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
"""Type of a line with a title → its field, the best first."""

_LONGEST = 100_000
"""Characters of an error that are kept."""


@dataclass
class SessionFacts:
    """The session so far. `sessions`: the ids on its lines; `last_session`: that of the last response.

    `is_woken`: whether nobody asked for the turn, as where a background task woke the agent. Version and branch are those of the last
    response, where the session ended; `cwd` is where it began.
    """

    stamps: Stamps = field(default_factory=Stamps)
    sessions: dict[str, None] = field(default_factory=dict)
    last_session: str | None = None
    is_main: bool = False
    agent_id: str | None = None
    cwd: str | None = None
    version: str | None = None
    branch: str | None = None
    permission_mode: str | None = None
    forked_from: str | None = None
    titles: dict[str, str] = field(default_factory=dict)
    prompt: str | None = None
    final_text: str | None = None
    error: str | None = None
    failed_as: Outcome | None = None
    last_response: Response | None = None
    is_interrupted: bool = False
    is_woken: bool = False
    costs: dict[tuple[Any, Any], tuple[Decimal, int]] = field(default_factory=dict)

    def place(self, line: Line) -> None:
        """Note whose line it is, and where the session began."""
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
        """Note where the session is at a response."""
        if (session := line.get("sessionId")) != self.last_session:
            self.last_session = _text(session) or self.last_session
        if (version := line.get("version")) != self.version:
            self.version = _text(version) or self.version
        if (branch := line.get("gitBranch")) != self.branch:
            self.branch = _text(branch) or self.branch
        if self.agent_id is None and "agentId" in line:
            self.agent_id = _text(line["agentId"])

    def user(self, line: Line) -> None:
        """A line in the user's role: a prompt, an interruption, or results of tools."""
        self.permission_mode = _text(line.get("permissionMode")) or self.permission_mode
        if line.get("isSidechain") is True:
            return
        origin = line.get("origin")
        is_human = not isinstance(origin, dict) or origin.get("kind") in (None, "human")
        if not any(block.get("type") == "tool_result" for block in blocks_of(line["message"])):
            self.is_woken = isinstance(origin, dict) and origin.get("kind") in FOLLOWING
        if self.prompt is None and is_human:
            self.prompt = prompt_of(cast("dict[str, Any]", line))
        self.is_interrupted = self.is_interrupted or _first_text(line["message"]).startswith(_INTERRUPTED)
        forked = line.get("forkedFrom")
        if self.forked_from is None and isinstance(forked, dict):
            self.forked_from = _text(forked.get("sessionId"))

    def assistant(self, line: Line, message: Message, response: Response | None) -> None:
        """A line of the main thread in the assistant's role."""
        self.is_interrupted = False
        text = _last_text(message)
        if line.get("isApiErrorMessage") is True:
            self.error = text[:_LONGEST]
            self.failed_as = Outcome.LIMIT_REACHED if is_limit(text) else Outcome.API_ERROR
            if self.last_response:
                self.last_response.limit_resets_at = (
                    reset_time(text, event_time(line.get("timestamp"))) or self.last_response.limit_resets_at
                )
            return
        self.error = self.failed_as = None
        self.final_text = self.final_text if self.is_woken and self.final_text else text or self.final_text
        self.last_response = response or self.last_response

    def told(self, line: Line, kind: str) -> None:
        """A line without a message."""
        if name := _TITLES.get(kind):
            self.titles[kind] = _text(line.get(name)) or self.titles.get(kind, "")
        elif kind == "cost-state":
            self._cost(line)
        elif kind == "permission-mode":
            self.permission_mode = _text(line.get("permissionMode")) or self.permission_mode

    def _cost(self, line: Line) -> None:
        """The cost of a process of the session so far, by the agent."""
        cost = dollars(line.get("totalCostUSD"))
        key = (_text(line.get("sessionId")), str(line.get("startTime")))
        if cost is not None and (key in self.costs or len(self.costs) < SESSIONS_KEPT):
            time = line.get("totalAPIDuration")
            api_ms = whole(round(time)) if isinstance(time, float) and 0 <= time <= LARGEST_INT else whole(time)
            self.costs[key] = max(self.costs.get(key, (cost, 0)), (cost, api_ms or 0))

    def cost_of(self, session: str) -> tuple[Decimal | None, int | None]:
        """The cost in US dollars and the API time in ms of all processes of a session, by the agent."""
        own = [value for (owner, _), value in self.costs.items() if owner in (session, None)]
        return (sum((cost for cost, _ in own), Decimal()), sum(time for _, time in own) or None) if own else (None, None)

    def state(self) -> dict[str, Any]:
        """The facts that a kept run does not have, for `restore`."""
        return {
            "sessions": list(self.sessions),
            "last_session": self.last_session,
            "is_main": self.is_main,
            "agent_id": self.agent_id,
            "forked_from": self.forked_from,
            "stop_reason": self.last_response.stop_reason if self.last_response else None,
            "is_interrupted": self.is_interrupted,
            "is_woken": self.is_woken,
            "failed_as": self.failed_as,
            "costs": [[session, start, str(cost), api_ms] for (session, start), (cost, api_ms) in self.costs.items()],
        }

    def restore(self, kept: KeptRun, state: Mapping[str, Any], titles: Mapping[str, str]) -> None:
        """Take over what an earlier reading of the file told; `titles` by type of line.

        Raises KeyError, TypeError, ValueError where it is of another version.
        """
        self.stamps.odd = [time for time in (kept.started_at, kept.ended_at) if time]
        self.stamps.active.before = state["active"] and (state["active"][0], state["active"][1])
        self.sessions = dict.fromkeys(state["sessions"])
        self.last_session, self.is_main, self.agent_id = state["last_session"], state["is_main"], state["agent_id"]
        self.cwd, self.version, self.branch = kept.cwd, kept.agent_version, kept.branch
        self.permission_mode, self.forked_from = kept.permission_mode, state["forked_from"]
        self.titles, self.prompt, self.final_text = dict(titles), kept.prompt, kept.final_text
        self.error = kept.errors[0] if kept.errors else None
        self.failed_as = state["failed_as"] and Outcome(state["failed_as"])
        self.is_interrupted, self.is_woken = state["is_interrupted"], state["is_woken"]
        self.last_response = Response("", None, None, Speaker(False, None), stop_reason=state["stop_reason"])
        self.costs = {(session, start): (Decimal(cost), api_ms) for session, start, cost, api_ms in state["costs"]}

    @property
    def title(self) -> str | None:
        """The best title."""
        return next(filter(None, map(self.titles.get, _TITLES)), None)

    @property
    def outcome(self) -> Outcome:
        """How the session ended, as far as the last lines of the main thread say."""
        if self.is_interrupted:
            return Outcome.INTERRUPTED
        if self.failed_as is not None:
            return self.failed_as
        stop_reason = self.last_response.stop_reason if self.last_response else None
        return _OUTCOMES.get(stop_reason or "", Outcome.UNKNOWN)


def _first_text(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return next((block["text"] for block in blocks_of(message) if isinstance(block.get("text"), str)), "")


def _last_text(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    found = ""
    for block in blocks_of(message):
        if block.get("type") == "text" and isinstance(text := block.get("text"), str) and text.strip():
            found = text
    return found


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= _LONGEST else None
