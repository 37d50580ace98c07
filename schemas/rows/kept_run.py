"""A run as a reader distilled it from a stream, a transcript or a trajectory: all that is needed to make its rows again.

Such logs have megabytes of messages and tool output. `runs.raw` keeps this record of them in place of the log; `runs.source_id` is the
hash of the file it was read from. It is checked when a reader makes it, since its values come from the log.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from schemas.rows.row import LARGEST_INT, LARGEST_USD
from schemas.rows.run import Outcome, RecordKind, TokensBasis

KEPT_START = '{"tachograph_run":'
"""The beginning of a kept run in JSON."""

Whole = Annotated[int, Field(ge=0, le=LARGEST_INT)]
Dollars = Annotated[Decimal, Field(ge=0, le=LARGEST_USD, allow_inf_nan=False)]


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class KeptModel(_Kept):
    """Tokens and cost of one model. `input_tokens` is uncached input; `reasoning_tokens` is a part of `output_tokens`.

    None: the log does not say. `basis`: how far the tokens can be trusted, and why if not exactly.
    """

    model_id: str | None = None
    provider: str | None = None
    input_tokens: Whole | None = None
    output_tokens: Whole | None = None
    reasoning_tokens: Whole | None = None
    cache_read_tokens: Whole | None = None
    cache_write_tokens: Whole | None = None
    cache_write_5m_tokens: Whole | None = None
    cache_write_1h_tokens: Whole | None = None
    cost_usd: Dollars | None = None
    basis: TokensBasis = TokensBasis.EXACT
    basis_reason: str | None = None


class KeptRun(_Kept):
    """One run. Durations in milliseconds. Naive times were local times of an unknown zone and are taken as UTC.

    `rank`: how complete the log is; of two logs of one run the higher one is kept, then the one with more `lines`, where they are counted,
    else the one with more tokens.
    """

    tachograph_run: int = 1
    run_id: str
    agent: str
    record_kind: RecordKind
    rank: Annotated[int, Field(ge=0, le=1000)] = 1
    lines: Whole | None = None
    agent_version: str | None = None
    session_id: str | None = None
    parent_session_id: str | None = None
    requested_model: str | None = None
    models: tuple[KeptModel, ...] = ()
    started_at: AwareDatetime | datetime | None = None
    ended_at: AwareDatetime | datetime | None = None
    duration_ms: Whole | None = None
    active_ms: Whole | None = None
    """Of a session that waited for its user: the time in which the agent worked (`ingest.agents.shared.runs`)."""
    duration_api_ms: Whole | None = None
    num_turns: Whole | None = None
    outcome: Outcome = Outcome.UNKNOWN
    is_error: bool | None = None
    ended_as: str | None = None
    """The end as the log words it: a status, a reason."""
    errors: tuple[str, ...] = ()
    cost_usd: Dollars | None = None
    credits: Annotated[float, Field(ge=0)] | None = None
    credits_unit: str | None = None
    score: float | None = None
    task: str | None = None
    repo: str | None = None
    branch: str | None = None
    base_commit: str | None = None
    cwd: str | None = None
    permission_mode: str | None = None
    title: str | None = None
    """What the log calls the run. Otherwise it is called after its prompt or its summary."""
    prompt: str | None = None
    final_text: str | None = None
    tool_calls: tuple[tuple[str, Whole, Whole | None], ...] = ()
    """(tool, calls, errors), sorted by tool."""
    part_ids: tuple[str, ...] = ()
    """Of a stream that was cut off: its ids, by which the run that it is a part of names it. Of another: the id of its end alone."""
    resume: dict[str, Any] | None = None
    """What its reader needs, besides all this, to go on where the log has grown. Only `texts` in it has any text."""
    is_textless: bool = False
    """Whether the ingest kept no text."""

    def textless(self) -> KeptRun:
        """The same run without anything that was said in it. Its end stays where it is one word."""
        resume = None if self.resume is None else {name: value for name, value in self.resume.items() if name != "texts"}
        is_word = self.ended_as is not None and self.ended_as.replace("_", "").replace("-", "").isalnum()
        said = {"title": None, "prompt": None, "final_text": None, "errors": ()}
        return self.model_copy(update=said | {"ended_as": self.ended_as if is_word else None, "resume": resume, "is_textless": True})

    def as_json(self) -> str:
        """The kept record, without fields that the log does not tell."""
        return KEPT_START + "1," + self.model_dump_json(exclude_defaults=True, exclude={"tachograph_run"})[1:]
