"""The responses of a rollout → rows of `response_copies`.

Codex logs no id of a response beside its tokens. A response is named by its session, its turn and its number within the turn. So are the
copies that forks and sub-agents have of it: by the session they were copied from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from ingest.agents.base import RESPONSE_COLUMNS
from ingest.agents.codex.usage import Counts
from ingest.agents.shared.runs import CALLS_KEPT, LONGEST_NAME, is_uuid
from ingest.agents.shared.tokens import Tokens
from schemas.rows.response import ResponseCopyRow
from schemas.rows.run import ModelUsageRow
from schemas.text import paired

RECORDS_KEPT = 64
"""Records of usage that are remembered, beside totals: one of a compaction comes just before it."""

_DEFAULTS = {
    name: info.get_default(call_default_factory=True) for name, info in ResponseCopyRow.model_fields.items() if not info.is_required()
}


@dataclass(slots=True)
class _Call:
    """One tool call."""

    tool: str
    failed: bool = False


class Response(NamedTuple):
    """One response. `turn`, `number` in it and `total` (the running total of tokens with it) name it; a compaction's `response_id` does.

    `calls`: which of the session's tool calls are its own, from and up to. `copied`: it stands among lines that were copied.
    """

    turn: str | None
    number: int
    total: int
    at: datetime | None
    model: str | None
    used: Counts
    calls: tuple[int, int]
    copied: bool
    response_id: str | None = None


class Moment(NamedTuple):
    """When and where in a session a response was logged."""

    turn: str | None
    at: datetime | None
    model: str | None
    copied: bool


@dataclass
class Responses:
    """The responses of a session so far: those that the totals tell of, and `recorded` ones, which have a line of their own.

    A recorded response counts in two cases: where there are no totals at all, and where it is one of a compaction, which the totals leave
    out (Codex's issue 47003).
    """

    has_totals: bool = False
    told: list[Response] = field(default_factory=list)
    recorded: dict[str, Response] = field(default_factory=dict)
    calls: list[_Call] = field(default_factory=list)
    open_calls: dict[str, _Call] = field(default_factory=dict)
    reported_calls: int = 0
    numbers: Counter[str | None] = field(default_factory=Counter)
    record_numbers: Counter[str | None] = field(default_factory=Counter)
    compacted: Counts | None = None

    def called(self, call_id: str | None, tool: str) -> None:
        """Note a tool call, once per id."""
        if call_id is not None and call_id in self.open_calls:
            return
        call = _Call(str(paired(tool[:LONGEST_NAME])))
        self.calls.append(call)
        if call_id is not None:
            if len(self.open_calls) >= CALLS_KEPT:
                del self.open_calls[next(iter(self.open_calls))]
            self.open_calls[call_id] = call

    def failed(self, call_id: str) -> None:
        """Note that a call failed."""
        if call := self.open_calls.get(call_id):
            call.failed = True

    def own_begin(self) -> None:
        """The lines behind this one are the session's own: calls before it are none of its responses'."""
        self.reported_calls = len(self.calls)

    def grew(self, used: Counts, total: Counts, moment: Moment) -> None:
        """Note that the totals grew by what a response used."""
        self.has_totals = True
        if used == self.compacted:
            self.compacted = None  # the totals do tell of the compaction
            return
        self.compacted = None
        calls = (self.reported_calls, len(self.calls))
        self.reported_calls = len(self.calls)
        self.numbers[moment.turn] += 1
        number = self.numbers[moment.turn]
        self.told.append(Response(moment.turn, number, total.total, moment.at, moment.model, used, calls, moment.copied))

    def record(self, response_id: str | None, used: Counts, moment: Moment) -> None:
        """Note a line that states the usage of one response."""
        name = response_id or f"#{len(self.recorded)}"
        if name in self.recorded:
            return
        if self.has_totals and len(self.recorded) >= RECORDS_KEPT:
            del self.recorded[next(iter(self.recorded))]
        before = next(reversed(self.recorded.values())).calls[1] if self.recorded else self.reported_calls
        calls = (before, len(self.calls))
        self.record_numbers[moment.turn] += 1
        number = self.record_numbers[moment.turn]
        self.recorded[name] = Response(moment.turn, number, 0, moment.at, moment.model, used, calls, moment.copied)

    def compaction(self, response_id: str) -> None:
        """Note that the history was compacted by this response."""
        record = self.recorded.get(response_id)
        if record is None or (self.told and self.told[-1].used == record.used):
            return
        if self.has_totals:
            self.compacted = record.used
            self.told.append(record._replace(calls=(0, 0), response_id=response_id))
            del self.recorded[response_id]
        else:
            self.recorded[response_id] = record._replace(response_id=response_id)

    def chosen(self, *, copied: bool) -> list[Response]:
        """The responses that count, in order: those among copied lines, or the session's own."""
        all_ = self.told if self.has_totals else list(self.recorded.values())
        return [one for one in all_ if one.copied == copied and one.used.total]

    def tools(self, response: Response) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The tools that it called, and those of them whose call failed."""
        calls = self.calls[slice(*response.calls)]
        return tuple(call.tool for call in calls), tuple(call.tool for call in calls if call.failed)


def by_model(responses: Sequence[Response]) -> dict[str | None, Tokens]:
    """The tokens of some responses by model, in the order of their first use."""
    sums: dict[str | None, Tokens] = {}
    for one in responses:
        sums[one.model] = sums.get(one.model, Tokens()) + one.used.tokens()
    return sums


class Owner(NamedTuple):
    """Whose responses they are: the run, the session that its responses are named after, and its own id where it is a sub-agent."""

    run_id: str
    origin: str
    agent_id: str | None


def rows_of(responses: Sequence[Response], told: Responses, owner: Owner, usage: Sequence[ModelUsageRow]) -> tuple[tuple[Any, ...], ...]:
    """The responses as values of RESPONSE_COLUMNS. `usage`: tokens of their run by model; one alone names a model that the log does not."""
    models = {row.model_id: row for row in usage}
    if len(usage) == 1:
        models.setdefault(None, usage[0])
    rows = (_DEFAULTS | _row(one, told, owner, models) | {"response_no": number} for number, one in enumerate(responses))
    return tuple(tuple(row[name] for name in RESPONSE_COLUMNS) for row in rows)


def _row(response: Response, told: Responses, owner: Owner, models: Mapping[str | None, ModelUsageRow]) -> dict[str, Any]:
    tokens, model = response.used.tokens(), models[response.model]
    tools, failed_tools = told.tools(response)
    return {
        "session_id": owner.run_id,
        "message_id": response.response_id or _name(response, owner.origin),
        "at": response.at,
        "agent_id": owner.agent_id,
        "is_sidechain": owner.agent_id is not None,
        "model_id": model.model_id,
        "model": model.model,
        "provider": model.provider,
        "region": model.region,
        "input_tokens": tokens.uncached,
        "output_tokens": tokens.output,
        "reasoning_tokens": tokens.reasoning,
        "cache_read_tokens": tokens.read,
        "cache_write_tokens": tokens.written,
        "tokens_basis": model.tokens_basis,
        "tools": tools,
        "failed_tools": failed_tools,
    }


def _name(response: Response, origin: str) -> str:
    """Where ids of turns are no UUIDs, a fork goes on with the same numbers as its parent does: only the total tells the two apart."""
    place = f"{origin}/{response.turn}" if response.turn else origin
    return f"{place}/{response.number}" if is_uuid(response.turn) else f"{place}/{response.number}/{response.total}"
