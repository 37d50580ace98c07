"""Aider's analytics log, results of its benchmark, and its chat history → runs.

Analytics: several processes write one log, and no line names its session. A message belongs to the
session if that session's total plus the message's own cost is the message's total. Without any
cost, a launch ends the session, since totals of zero identify nothing.

Chat history: a launch that called a model is a run. Its header has its local time. Each answer is
followed by its tokens (in thousands from 10,000 on) and its cost in cents. Within one process the
session's cost continues over the header of the next launch: such a run uses the costs of its
answers, and the run of the previous launch is its parent. `sent` includes cache writes but not
cache hits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar

from ingest.agents.base import AgentReader, Found
from ingest.agents.distilled import ended
from ingest.agents.shared.runs import By, OpenRun, RecordReader, canonical_hash, wire_record
from ingest.agents.shared.texts import LONGEST_PROMPT
from ingest.agents.shared.tokens import Tokens, unrecorded
from ingest.sources.document import Document, TextDocument
from ingest.sources.files import Unreadable
from ingest.sources.times import event_time, written_time
from schemas.agents import AIDER, AIDER_CHAT_LINE, AIDER_EVENT_NAMES
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from schemas.wire.aider import AiderEvent, AiderResult

_INCLUSIVE = "Aider does not tell cache reads and writes apart: uncached input includes them."
_NOT_TOLD = {"cache_read_tokens": None, "cache_write_tokens": None}

# The analytics log

SESSIONS_OPEN = 256
"""Maximum number of sessions kept open; beyond it, the one idle the longest is closed."""
_ROUNDED = 1e-8
"""Tolerance in USD between a total and the sum of its parts."""


@dataclass
class _Session(OpenRun):
    """One open session. `total`: its total cost after the last message.

    `is_whole`: the log contains its beginning.
    """

    user: str | None = None
    first: list[Any] = field(default_factory=list)
    total: float = 0.0
    is_whole: bool = True
    messages: int = 0
    used: dict[str | None, Tokens] = field(default_factory=dict)
    costs: dict[str | None, Decimal] = field(default_factory=dict)

    def note(self, line: AiderEvent) -> None:
        properties = line.properties
        self.messages += 1
        self.total = properties.total_cost or self.total
        self.agent_version = properties.aider_version or self.agent_version
        self.note_time(event_time(line.time), By.MODEL)
        tokens = Tokens(properties.prompt_tokens or 0, output=properties.completion_tokens or 0)
        self.used[properties.main_model] = self.used.get(properties.main_model, Tokens()) + tokens
        if properties.cost is not None:
            self.costs[properties.main_model] = (
                self.costs.get(properties.main_model, Decimal()) + properties.cost
            )

    def values(self) -> dict[str, Any]:
        basis = (TokensBasis.UPPER_BOUND, _INCLUSIVE)
        if not self.is_whole:
            basis = (TokensBasis.ESTIMATE, f"{_INCLUSIVE} The log begins after the session did.")
        models = [
            tokens.as_model(name, None, *basis) | _NOT_TOLD | {"cost_usd": self.costs.get(name)}
            for name, tokens in self.used.items()
        ]
        return super().values() | {
            "run_id": canonical_hash({"aider": self.user, "first": self.first}),
            "agent": AIDER.key,
            "record_kind": RecordKind.STREAM,
            "rank": 2,
            "models": models,
            "num_turns": self.messages,
            "cost_usd": sum(self.costs.values()) if self.costs else None,
        }


class AiderAnalytics(AgentReader):
    """Logs of `--analytics-log`."""

    agent: ClassVar[str] = AIDER.key

    def __init__(self) -> None:
        super().__init__()
        self._open: list[_Session] = []

    @staticmethod
    def recognises(document: Document) -> bool:
        value = document.value
        return (
            value.keys() >= AIDER_EVENT_NAMES
            and isinstance(value["event"], str)
            and isinstance(value["properties"], dict)
        )

    def feed(self, document: Document) -> Iterable[Found | Unreadable]:
        name = document.value["event"]
        if name == "launched":
            return self._closed([session for session in self._open if not session.total])
        if name != "message_send":
            return ()
        line = wire_record(AiderEvent, document)
        properties = line.properties
        before = (properties.total_cost or 0.0) - float(properties.cost or 0)
        # It continues the last session that fits, and rather one with this model.
        fitting = [
            one
            for one in self._open
            if one.user == line.user_id and abs(one.total - before) < _ROUNDED
        ]
        same = [one for one in fitting if properties.main_model in one.used]
        if fitting:
            session = (same or fitting)[-1]
            self._open = [one for one in self._open if one is not session]
        else:
            first = [line.time, properties.model_dump(mode="json")]
            session = _Session(
                document, user=line.user_id, first=first, is_whole=abs(before) < _ROUNDED
            )
        session.last = document
        session.note(line)
        self._open.append(session)  # the last one that said something is the last one
        return self._closed(self._open[:-SESSIONS_OPEN])

    def end(self) -> Iterable[Found | Unreadable]:
        return self._closed(self._open)

    def _closed(self, sessions: list[_Session]) -> tuple[Found | Unreadable, ...]:
        closed = [id(one) for one in sessions]
        self._open = [one for one in self._open if id(one) not in closed]
        return tuple(ended(one.last, one.values()) for one in sessions)


# The benchmark


class AiderBenchmark(RecordReader):
    """Results of exercises, `.aider.results.json`.

    The benchmark's tables (`_data/*.yml`) only sum them up.
    """

    agent: ClassVar[str] = AIDER.key

    def _values(self, document: Document) -> dict[str, Any]:
        """Return the values of the run; the exercise is solved if its tests passed after a try."""
        result = wire_record(AiderResult, document)
        if result.prompt_tokens is None or result.completion_tokens is None:
            model = unrecorded(
                result.model, "Older results of Aider's benchmark have no token counts."
            )
        else:
            tokens = Tokens(result.prompt_tokens, output=result.completion_tokens)
            model = (
                tokens.as_model(result.model, None, TokensBasis.UPPER_BOUND, _INCLUSIVE) | _NOT_TOLD
            )
        return {
            "run_id": canonical_hash(document.value),
            "agent": self.agent,
            "record_kind": RecordKind.TRIAL,
            "agent_version": result.commit_hash,
            "models": [model | {"cost_usd": result.cost}],
            "duration_ms": None if result.duration is None else round(result.duration * 1000),
            "num_turns": len(result.tests_outcomes) or None,
            "outcome": Outcome.COMPLETED,
            "is_error": False,
            "cost_usd": result.cost,
            "score": float(any(result.tests_outcomes)) if result.tests_outcomes else None,
            "task": result.testcase,
        }


# The chat history

_HEADER = re.compile(rf"{AIDER_CHAT_LINE}(20\d\d-\d\d-\d\d \d\d:\d\d:\d\d)\s*", re.ASCII)
_VERSION = re.compile(r"> Aider v(\S{1,100})\s*")
_MODEL = re.compile(r"> (?:Main model|Models?): (\S{1,300}) with .+ edit format.*")
_COUNT = r"(\d[\d,]{0,20}|\d{1,12}(?:\.\d)?k|\d{1,12}(?:\.\d)?M)"
_PRICE = r"\$(\d{1,9}(?:\.\d{1,12})?)"
_TOKENS = re.compile(
    rf"> Tokens: {_COUNT} sent(?:, {_COUNT} cache write)?(?:, {_COUNT} cache hit)?, {_COUNT} "
    r"received\."
    rf"(?: Cost: {_PRICE} (?:request|message), {_PRICE} session\.)?\s*",
    re.ASCII,
)
_ASKED = "#### "
_CENTS = Decimal("0.015")
"""Tolerance in USD between a session's total and the amount the next launch continues from: three
amounts rounded to cents.
"""
_PRINTED = "Aider prints token counts rounded or estimated, and costs in cents."


@dataclass
class _Launch:
    """One open launch. `before`: the session's cost when it began.

    `total`: the cost after its last paid answer.
    """

    time: str
    earlier: _Launch | None = None
    version: str | None = None
    model: str | None = None
    first: str | None = None
    answers: int = 0
    prompt: list[str] = field(default_factory=list)
    is_asking: bool = False
    used: dict[str | None, Tokens] = field(default_factory=dict)
    costs: dict[str | None, Decimal] = field(default_factory=dict)
    before: Decimal = Decimal()
    total: Decimal = Decimal()

    @property
    def run_id(self) -> str:
        """Return a hash of the launch time and the first answer."""
        return canonical_hash({"aider": self.time, "first": self.first})

    def note(self, line: str) -> None:
        """Read a line.

        The user's first request, which may span lines, is the prompt; commands are not prompts.
        """
        if line.startswith(_ASKED):
            text = line.removeprefix(_ASKED).strip()
            self.is_asking = self.is_asking or not (self.prompt or text.startswith("/"))
            if self.is_asking and sum(map(len, self.prompt)) < LONGEST_PROMPT:
                self.prompt.append(text)
        elif line.strip():
            self.is_asking = False
        if line.startswith("> "):
            if found := _TOKENS.fullmatch(line):
                self._count(found)
            elif found := _VERSION.fullmatch(line):
                self.version = found[1]
            elif found := _MODEL.fullmatch(line):
                self.model = found[1]

    def _count(self, found: re.Match[str]) -> None:
        sent, written, read, received = (_number(text) for text in found.groups()[:4])
        tokens = Tokens(sent - written if written <= sent else sent, read, written, received)
        self.answers += 1
        self.first = self.first or found[0].rstrip()
        self.used[self.model] = self.used.get(self.model, Tokens()) + tokens
        if found[5]:
            self.before = self.before if self.costs else Decimal(found[6]) - Decimal(found[5])
            self.total = Decimal(found[6])
            self.costs[self.model] = self.costs.get(self.model, Decimal()) + Decimal(found[5])

    def values(self) -> dict[str, Any]:
        """Return the values of the `Run`.

        An earlier launch is its parent if this one's cost starts from that launch's total.
        """
        earlier = self.earlier
        goes_on = (
            earlier is not None and self.before > 0 and abs(self.before - earlier.total) <= _CENTS
        )
        models = [
            tokens.as_model(model, None, TokensBasis.ESTIMATE, _PRINTED)
            for model, tokens in self.used.items()
        ]
        return {
            "run_id": self.run_id,
            "agent": AIDER.key,
            "record_kind": RecordKind.TRANSCRIPT,
            "rank": 1,
            "parent_session_id": earlier.run_id if earlier and goes_on else None,
            "agent_version": self.version,
            "models": [model | {"cost_usd": self.costs.get(model["model_id"])} for model in models],
            "started_at": written_time(self.time),
            "num_turns": self.answers,
            "cost_usd": sum(self.costs.values()) if self.costs else None,
            "prompt": "\n".join(self.prompt) or None,
        }


class AiderChatHistory(AgentReader):
    """Chat histories, `.aider.chat.history.md`."""

    agent: ClassVar[str] = AIDER.key

    def feed(self, document: Document) -> Iterator[Found | Unreadable]:
        """Yield the runs; a launch that called no model is skipped."""
        assert isinstance(document, TextDocument)
        launch: _Launch | None = None
        for line in document.lines:
            if header := _HEADER.fullmatch(line):
                if launch and launch.answers:
                    yield ended(document, launch.values())
                earlier = launch  # the last launch that was paid, and none before that
                if launch and launch.costs:
                    launch.earlier = None
                elif launch:
                    earlier = launch.earlier
                launch = _Launch(header[1], earlier)
            elif launch:
                launch.note(line)
        if launch and launch.answers:
            yield ended(document, launch.values())


def _number(text: str | None) -> int:
    """Parse a count such as `5,244`, `12k` or `2.4k`."""
    if not text:
        return 0
    times = {"k": 1000, "M": 1_000_000}.get(text[-1])
    return round(Decimal(text[:-1]) * times) if times else int(text.replace(",", ""))
