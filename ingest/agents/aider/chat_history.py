"""Aider's chat history, `.aider.chat.history.md` → runs, one for each launch that asked a model.

A launch has a header with its local time. Behind each answer stand its tokens, from 10,000 on in thousands, and its cost in cents. The cost
of the session runs on over the header of a launch inside the same process, so that the costs of the answers count; the run of the launch
before is the parent of such a run. `sent` includes cache writes and not cache hits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar

from ingest.agents.base import AgentReader, Found
from ingest.agents.kept_run import ended
from ingest.agents.shared.runs import canonical_hash
from ingest.agents.shared.texts import LONGEST_PROMPT
from ingest.agents.shared.tokens import Tokens
from ingest.sources.document import Document, TextDocument
from ingest.sources.files import Unreadable
from ingest.sources.times import written_time
from schemas.agents import AIDER
from schemas.rows.run import RecordKind, TokensBasis

_HEADER = re.compile(rf"{re.escape(AIDER.marks.text_line)}(20\d\d-\d\d-\d\d \d\d:\d\d:\d\d)\s*", re.ASCII)
_VERSION = re.compile(r"> Aider v(\S{1,100})\s*")
_MODEL = re.compile(r"> (?:Main model|Models?): (\S{1,300}) with .+ edit format.*")
_COUNT = r"(\d[\d,]{0,20}|\d{1,12}(?:\.\d)?k|\d{1,12}(?:\.\d)?M)"
_PRICE = r"\$(\d{1,9}(?:\.\d{1,12})?)"
_TOKENS = re.compile(
    rf"> Tokens: {_COUNT} sent(?:, {_COUNT} cache write)?(?:, {_COUNT} cache hit)?, {_COUNT} received\."
    rf"(?: Cost: {_PRICE} (?:request|message), {_PRICE} session\.)?\s*",
    re.ASCII,
)
_ASKED = "#### "
_THOUSANDS = {"k": 1000, "M": 1_000_000}
_ROUNDED = Decimal("0.015")
"""The total of a session differs by no more from what the next launch goes on with, in USD: three figures in cents."""
_PRINTED = "Aider prints token counts rounded or estimated, and costs in cents."


@dataclass
class _Launch:
    """One launch so far. `before`: the cost of the session when it began. `total`: after its last answer that was paid."""

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


class AiderChatHistory(AgentReader):
    """Chat histories."""

    agent: ClassVar[str] = AIDER.key

    @staticmethod
    def recognises(document: Document) -> bool:
        return isinstance(document, TextDocument) and document.contains(AIDER.marks.text_line)

    def feed(self, document: Document) -> Iterator[Found | Unreadable]:
        assert isinstance(document, TextDocument)
        launch: _Launch | None = None
        for line in document.lines:
            if header := _HEADER.fullmatch(line):
                yield from self._ended(document, launch)
                launch = _Launch(header[1], _paid(launch))
            elif launch:
                _note(launch, line)
        yield from self._ended(document, launch)

    def _ended(self, document: Document, launch: _Launch | None) -> Iterator[Found | Unreadable]:
        """A launch that asked no model is no run."""
        if launch and launch.answers:
            yield ended(document, _kept(launch), self._context_of)

    def end(self) -> Iterator[Found]:
        yield from ()


def _note(launch: _Launch, line: str) -> None:
    if line.startswith("> "):
        _note_said(launch, line)
    elif line.startswith(_ASKED):
        _note_asked(launch, line.removeprefix(_ASKED).strip())
    elif line.strip():
        launch.is_asking = False


def _note_asked(launch: _Launch, text: str) -> None:
    """The first thing the user asked for, on one line or several; commands are none."""
    begins = not launch.prompt and not text.startswith("/")
    launch.is_asking = launch.is_asking or begins
    if launch.is_asking and sum(map(len, launch.prompt)) < LONGEST_PROMPT:
        launch.prompt.append(text)


def _note_said(launch: _Launch, line: str) -> None:
    launch.is_asking = False
    if told := _TOKENS.fullmatch(line):
        _count(launch, told)
    elif told := _VERSION.fullmatch(line):
        launch.version = told[1]
    elif told := _MODEL.fullmatch(line):
        launch.model = told[1]


def _count(launch: _Launch, told: re.Match[str]) -> None:
    sent, written, read, received = (_number(text) for text in told.groups()[:4])
    tokens = Tokens(sent - written if written <= sent else sent, read, written, received)
    launch.answers += 1
    launch.first = launch.first or told[0].rstrip()
    launch.used[launch.model] = launch.used.get(launch.model, Tokens()) + tokens
    if told[5]:
        launch.before = launch.before if launch.costs else Decimal(told[6]) - Decimal(told[5])
        launch.total = Decimal(told[6])
        launch.costs[launch.model] = launch.costs.get(launch.model, Decimal()) + Decimal(told[5])


def _number(text: str | None) -> int:
    """`5,244`, `12k`, `2.4k`."""
    if not text:
        return 0
    times = _THOUSANDS.get(text[-1])
    return round(Decimal(text[:-1]) * times) if times else int(text.replace(",", ""))


def _kept(launch: _Launch) -> dict[str, Any]:
    """What is known of a launch. Its time is local time."""
    return {
        "run_id": _run_id(launch),
        "agent": AIDER.key,
        "record_kind": RecordKind.TRANSCRIPT,
        "rank": 1,
        "parent_session_id": _parent(launch),
        "agent_version": launch.version,
        "models": [
            tokens.as_model(model, None, TokensBasis.ESTIMATE, _PRINTED) | {"cost_usd": launch.costs.get(model)}
            for model, tokens in launch.used.items()
        ],
        "started_at": written_time(launch.time),
        "num_turns": launch.answers,
        "cost_usd": sum(launch.costs.values()) if launch.costs else None,
        "prompt": "\n".join(launch.prompt) or None,
    }


def _run_id(launch: _Launch) -> str:
    return canonical_hash({"aider": launch.time, "first": launch.first})


def _paid(launch: _Launch | None) -> _Launch | None:
    """The launch itself, or the last one before it that was paid."""
    if launch is None or not launch.costs:
        return launch.earlier if launch else None
    launch.earlier = None
    return launch


def _parent(launch: _Launch) -> str | None:
    """The run of the launch with whose session this one goes on: its cost begins with the total of that."""
    earlier = launch.earlier
    goes_on = earlier is not None and launch.before > 0 and abs(launch.before - earlier.total) <= _ROUNDED
    return _run_id(earlier) if earlier and goes_on else None
