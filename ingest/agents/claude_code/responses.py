"""The model responses of a transcript, each counted once.

A response has one line per content block, and every line repeats the tokens of the whole response.
Lines belong to one response if they have

- the same message id and request id;
- the same message id under two requests, and the same input, or one of them is a side chain (a side
  question sends the parent's message
again): the copy of the main thread counts;
- no request id, as gateways write it, the same message id, and the same line, parent or moment.
  Some gateways write one constant id, so an
id alone proves nothing.

The line with the largest output counts as a whole; ties go to the larger total. Requests to an
advisor are responses of their own.

Stream events have neither parent nor time: there, lines with the same message id and the same input
are one response.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple, TypeGuard

from ingest.agents.shared.logged import (
    commits_in,
    joined,
    logged_by,
    opens_pull_request,
    pull_requests_in,
)
from ingest.agents.shared.runs import LONGEST_NAME, canonical_hash
from ingest.facts import NO_SUBAGENT, Subagent
from ingest.prices.model_ids import ModelId, parse_model_id
from ingest.sources.times import event_time
from schemas.rows.run import TokensBasis
from schemas.text import paired
from schemas.wire.claude_code import (
    ADVISOR,
    SYNTHETIC,
    WEB_SEARCH,
    Line,
    Message,
    TokenUsage,
    dollars,
    whole,
)

PLAIN_LENGTH = len("2026-02-01T10:00:00.000Z")
_NO_MODEL = ModelId("", None, None)


def is_plain(stamp: object) -> TypeGuard[str]:
    """Return whether a time has Claude Code's format.

    Such times are compared as text, which takes a tenth of the time of parsing them.
    """
    return (
        type(stamp) is str and len(stamp) == PLAIN_LENGTH and stamp[-1] == "Z" and stamp[0] == "2"
    )


class ClaudeCounts(NamedTuple):
    """Tokens of a line by class; None if not logged."""

    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None

    @classmethod
    def of(cls, usage: TokenUsage) -> ClaudeCounts:
        """Return the counts of a line.

        Cache writes are at least the sum of their split by time to live.
        """
        read, written = (
            whole(usage.get("cache_read_input_tokens")),
            whole(usage.get("cache_creation_input_tokens")),
        )
        split = usage.get("cache_creation")
        if type(split) is dict:
            total = (whole(split.get("ephemeral_5m_input_tokens")) or 0) + (
                whole(split.get("ephemeral_1h_input_tokens")) or 0
            )
            written = whole(total) if written is None or total > written else written
        return cls(
            whole(usage.get("input_tokens")), whole(usage.get("output_tokens")), read, written
        )

    def size(self) -> tuple[int, ...]:
        """Return the sort key between two copies: larger output first, then larger total."""
        known = [-1 if count is None else count for count in self]
        return (known[1], sum(filter(None, self)), *known)

    def went_in(self) -> tuple[int, int, int]:
        """Return uncached input, cache reads and cache writes."""
        return self.input or 0, self.cache_read or 0, self.cache_write or 0


NO_COUNTS = ClaudeCounts(None, None, None, None)


class Speaker(NamedTuple):
    """Origin of a response: the main agent, a side chain, or the sub-agent with that id."""

    is_sidechain: bool
    agent_id: str | None


class _Extras(NamedTuple):
    """Other fields of a response's line.

    `split`: cache writes for 5 minutes and for 1 hour. `advice`: requests to an advisor, which are
    billed in addition.
    """

    split: tuple[int, int] | None = None
    reasoning: int | None = None
    web_searches: int | None = None
    service_tier: str | None = None
    speed: str | None = None
    geo: str | None = None
    cost: Decimal | None = None
    advice: tuple[TokenUsage, ...] | None = None

    @classmethod
    def of(cls, line: Line, usage: TokenUsage) -> _Extras:
        details, used, iterations = (
            usage.get("output_tokens_details"),
            usage.get("server_tool_use"),
            usage.get("iterations"),
        )
        listed = iterations if isinstance(iterations, list) else ()
        advice = tuple(
            one for one in listed if isinstance(one, dict) and one.get("type") == ADVISOR
        )
        return cls(
            _split_of(usage),
            whole(details.get("thinking_tokens")) if type(details) is dict else None,
            whole(used.get("web_search_requests")) if type(used) is dict else None,
            _text(usage.get("service_tier")),
            _text(usage.get("speed")),
            _text(usage.get("inference_geo")),
            dollars(line["costUSD"]) if "costUSD" in line else None,
            advice or None,
        )

    def completed(self, other: _Extras) -> _Extras:
        """Return these extras, with gaps filled from the other line."""
        if other is _NO_EXTRAS or self is other:
            return self
        pairs: Any = zip(self, other, strict=True)
        return _Extras(*(theirs if own is None else own for own, theirs in pairs))


_NO_EXTRAS = _Extras()


@dataclass(slots=True)
class ClaudeResponse:
    """One response so far.

    `searches`: number of provider searches by its WEB_SEARCH calls. `logged`, `commits` and
    `pull_requests`: what its tool calls wrote into an experiments' log, committed and opened.
    `is_copied`: copied from another session. `lines`: its lines, if it has no request id.
    """

    message_id: str
    line_id: str | None
    request_id: str | None
    speaker: Speaker
    stamp: Any = None
    counts: ClaudeCounts = NO_COUNTS
    extras: _Extras = _NO_EXTRAS
    model: str | None = None
    stop_reason: str | None = None
    tools: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    searches: int = 0
    logged: str | None = None
    commits: tuple[str, ...] = ()
    pull_requests: tuple[str, ...] = ()
    is_copied: bool = False
    limit_resets_at: datetime | None = None
    lines: set[str] = field(default_factory=set)

    def opened(self, *pull_requests: str) -> None:
        """Store pull requests, each once."""
        self.pull_requests = tuple(dict.fromkeys((*self.pull_requests, *pull_requests)))

    def note(
        self,
        line: Line,
        message: Message,
        usage: TokenUsage,
        counts: ClaudeCounts,
        speaker: Speaker,
    ) -> None:
        """Read the figures of a line, unless it is a side chain's copy of a main-thread response.

        Fields missing in the better copy come from the other one.
        """
        request_id = line.get("requestId")
        if speaker.is_sidechain is not self.speaker.is_sidechain and request_id != self.request_id:
            if not self.speaker.is_sidechain:
                return
            self.request_id, self.speaker, self.counts, self.extras = (
                request_id or "",
                speaker,
                NO_COUNTS,
                _NO_EXTRAS,
            )
        if counts == self.counts:
            if (
                self.extras.split
                and (self.extras.speed or "speed" not in usage)
                and "costUSD" not in line
            ):
                return  # it repeats the line before, as most lines do
        elif self.counts is NO_COUNTS or counts.size() > self.counts.size():
            self.counts = counts
            self.model = _text(message.get("model")) or self.model
            self.extras = _Extras.of(line, usage).completed(self.extras)
            return
        self.extras = self.extras.completed(_Extras.of(line, usage))

    def note_time(self, stamp: object) -> None:
        """Keep the earliest time. Lines of a response usually have the same time, as UTC text."""
        earlier = self.stamp
        if stamp is None:
            return
        if is_plain(stamp) and is_plain(earlier):
            self.stamp = min(stamp, earlier)
        elif (now := event_time(stamp)) and ((then := event_time(earlier)) is None or now < then):
            self.stamp = stamp

    def advised(self) -> Iterator[ClaudeResponse]:
        """Yield the requests to advisors as responses; this response's tokens exclude them."""
        for place, advice in enumerate(self.extras.advice or (), 1):
            one = ClaudeResponse(
                f"{self.message_id}/advisor-{place}",
                None,
                self.request_id,
                self.speaker,
                self.stamp,
            )
            one.line_id = f"{self.line_id}/advisor-{place}" if self.line_id else None
            one.is_copied = self.is_copied
            one.counts, one.model, one.stop_reason = (
                ClaudeCounts.of(advice),
                _text(advice.get("model")),
                self.stop_reason,
            )
            one.extras = _Extras(
                _split_of(advice), service_tier=self.extras.service_tier, geo=self.extras.geo
            )
            yield one

    def row(
        self, session_id: str, number: int, subagent: Subagent, stream_id: str | None
    ) -> tuple[Any, ...]:
        """Return the values of RESPONSE_COLUMNS."""
        model = parse_model_id(self.model) if self.model else _NO_MODEL
        extras = self.extras
        short, long = extras.split or (None, None)
        is_final = self.stop_reason is not None
        return (
            self.request_id,
            event_time(self.stamp),
            self.speaker.agent_id,
            *(subagent if self.speaker.agent_id else NO_SUBAGENT),
            self.speaker.is_sidechain,
            self.model,
            model.model or None,
            model.provider,
            model.region,
            self.counts.input,
            self.counts.output,
            extras.reasoning,
            self.counts.cache_read,
            self.counts.cache_write,
            short,
            long,
            self.searches if self.searches and not extras.web_searches else extras.web_searches,
            extras.service_tier,
            extras.speed,
            extras.geo,
            self.stop_reason,
            is_final,
            TokensBasis.EXACT if is_final and not stream_id else TokensBasis.LOWER_BOUND,
            tuple(self.tools),
            tuple(self.failed),
            extras.cost or None,  # $0 for tokens is no cost
            self.limit_resets_at,
            self.logged,
            self.commits or None,
            self.pull_requests or None,
            session_id,
            number,
            self.message_id,
            self.line_id,
            self.is_copied,
            stream_id,
        )


class ClaudeResponses:
    """The responses of one transcript, in the order of their first lines.

    `earlier`: number of rows of other streams in the file. `in_stream`: the lines are stream
    events, in which zeros mean that a gateway does not count.
    """

    def __init__(self, *, in_stream: bool = False) -> None:
        self._in_stream = in_stream
        self._all: list[ClaudeResponse] = []
        self._by_request: dict[tuple[Any, Any], ClaudeResponse] = {}
        self._by_id: dict[str, list[ClaudeResponse]] = {}
        self._calls: dict[str, tuple[ClaudeResponse, str]] = {}
        self._opening: set[str] = set()
        self._answered: set[str] = set()
        self._last: tuple[ClaudeResponse | None, TokenUsage] = None, {}
        self.earlier = 0

    def __len__(self) -> int:
        return len(self._all)

    def add(self, line: Line, message: Message, speaker: Speaker) -> ClaudeResponse | None:
        """Read a line with `message.usage` and return its response.

        None if the agent wrote the message or it has no figures.
        """
        usage = message.get("usage")
        if type(usage) is not dict or message.get("model") == SYNTHETIC:
            return None
        message_id, request_id = message.get("id"), line.get("requestId")
        response = (
            self._by_request.get((message_id, request_id))
            if type(request_id) is str and type(message_id) is str
            else None
        )
        if (
            response is None
            or response is not self._last[0]
            or usage != self._last[1]
            or "costUSD" in line
        ):
            counts = ClaudeCounts.of(usage)
            if counts == NO_COUNTS or (self._in_stream and not any(counts)):
                return None
            response = response or self._placed(line, message_id, request_id, speaker, counts)
            response.note(line, message, usage, counts, speaker)
            self._last = response, usage
        if stop_reason := message.get("stop_reason"):
            response.stop_reason = _text(stop_reason) or response.stop_reason
        if (stamp := line.get("timestamp")) != response.stamp:
            response.note_time(stamp)
        for block in blocks_of(message):
            if block.get("type") != "tool_use":
                continue
            call, tool = block.get("id"), block.get("name")
            if type(tool) is str and tool and not (isinstance(call, str) and call in self._calls):
                name = str(paired(tool[:LONGEST_NAME]))
                response.tools.append(name)
                if text := logged_by(name, block.get("input")):
                    response.logged = joined((response.logged, text))
                if type(call) is str:
                    self._calls[call] = response, name
                    if opens_pull_request(block.get("input")):
                        self._opening.add(call)
        return response

    def _placed(
        self, line: Line, message_id: Any, request_id: Any, speaker: Speaker, counts: ClaudeCounts
    ) -> ClaudeResponse:
        """Return the response of a line with a new pair of message id and request id."""
        uuid = _text(line.get("uuid"))
        name = _text(message_id) or uuid or canonical_hash(line)
        request = _text(request_id)
        same = self._by_id.setdefault(name, [])
        if self._in_stream:
            found = next((one for one in same if _has_same_input(one.counts, counts)), None)
        else:
            found = next(
                (one for one in same if _is_same(one, line, uuid, request, speaker, counts)), None
            )
        if found is None:
            is_taken = request is not None and bool(same)
            line_id = uuid if request is None else None
            found = ClaudeResponse(
                f"{name}/{request}" if is_taken else name, line_id, request, speaker
            )
            found.is_copied = "forkedFrom" in line
            same.append(found)
            self._all.append(found)
        if request is None:
            found.lines.add(uuid or name)
        else:
            found.request_id = found.request_id or request
            self._by_request[name, request] = found
        return found

    def failed(self, call: object) -> None:
        """Count the failure of a tool call, once."""
        if (
            isinstance(call, str)
            and call not in self._answered
            and (called := self._calls.get(call))
        ):
            self._answered.add(call)
            called[0].failed.append(called[1])

    def committed(self, call: object, output: object) -> None:
        """Store the commits and pull requests that a tool call made, by its output."""
        called = self._calls.get(call) if isinstance(call, str) else None
        if called and (found := commits_in(output)):
            called[0].commits = tuple(dict.fromkeys((*called[0].commits, *found)))
        if called and call in self._opening:
            called[0].opened(*pull_requests_in(output))

    def searched(self, call: object, times: object) -> None:
        """Store the number of provider searches of a WEB_SEARCH call, once."""
        if (
            isinstance(call, str)
            and call not in self._answered
            and (called := self._calls.get(call))
            and called[1] == WEB_SEARCH
        ):
            self._answered.add(call)
            called[0].searches += whole(times) or 0

    def went_in(self) -> int:
        """Return the total input tokens: uncached, cache reads and cache writes."""
        return sum(sum(response.counts.went_in()) for response in self._all)

    @property
    def first_id(self) -> str | None:
        """Return the message id of the first response."""
        return self._all[0].message_id if self._all else None

    def rows(
        self,
        session_id: str,
        agent_id: str | None = None,
        subagent: Subagent = NO_SUBAGENT,
        stream_id: str | None = None,
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the values of RESPONSE_COLUMNS of each response.

        `agent_id`: default sub-agent for responses that name none; `subagent`: its description.
        `stream_id`: the stream they come from.
        """
        number = self.earlier
        for response in self._all:
            if agent_id and response.speaker.agent_id is None:
                response.speaker = Speaker(response.speaker.is_sidechain, agent_id)
            for one in (response, *response.advised()):
                yield one.row(session_id, number, subagent, stream_id)
                number += 1


def message_of(line: Any) -> Message | None:
    """Return the message of a line, or None."""
    message = line.get("message") if type(line) is dict else None
    return message if type(message) is dict else None


def blocks_of(message: Message) -> Sequence[dict[str, Any]]:
    """Return the blocks of a message's content; none for plain text."""
    content = message.get("content")
    return [block for block in content if type(block) is dict] if type(content) is list else ()


def _is_same(
    one: ClaudeResponse,
    line: Line,
    uuid: str | None,
    request: str | None,
    speaker: Speaker,
    counts: ClaudeCounts,
) -> bool:
    """Return whether a line with the same message id belongs to the response."""
    if one.request_id and request:
        return (
            one.speaker.is_sidechain is not speaker.is_sidechain
            or one.counts.went_in() == counts.went_in()
        )
    stamp, parent = line.get("timestamp"), line.get("parentUuid")
    return (
        uuid in one.lines
        or (isinstance(parent, str) and parent in one.lines)
        or (stamp is not None and stamp == one.stamp)
    )


def _has_same_input(one: ClaudeCounts, other: ClaudeCounts) -> bool:
    """Return whether the inputs match as far as both are logged.

    The event that begins a response may have zeros.
    """
    own, theirs = one.went_in(), other.went_in()
    return own == theirs or not any(own) or not any(theirs)


def _split_of(usage: TokenUsage) -> tuple[int, int] | None:
    """Return cache writes for 5 minutes and for 1 hour, or None if neither is logged."""
    split = usage.get("cache_creation")
    if type(split) is not dict:
        return None
    short, long = (
        whole(split.get("ephemeral_5m_input_tokens")),
        whole(split.get("ephemeral_1h_input_tokens")),
    )
    return None if short is long is None else (short or 0, long or 0)


def _text(value: object) -> str | None:
    return str(paired(value)) if isinstance(value, str) and value else None
