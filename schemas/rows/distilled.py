"""A run as a reader distilled it from a stream, a transcript or a trajectory.

Enough to make its rows again.

Such logs have megabytes of messages and tool output. `runs.raw` keeps this record instead of the
log; `runs.source_id` is the hash of its file. It is checked when a reader makes it, since its
values come from the log.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from schemas.rows.row import LARGEST_INT, LARGEST_USD
from schemas.rows.run import Outcome, RecordKind, TokensBasis

KEPT_START = '{"tachograph_run":'

Whole = Annotated[int, Field(ge=0, le=LARGEST_INT)]
Dollars = Annotated[Decimal, Field(ge=0, le=LARGEST_USD, allow_inf_nan=False)]


class _Distilled(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class ModelUse(_Distilled):
    """Tokens and cost of one model.

    `input_tokens` is uncached input; `reasoning_tokens` is a part of `output_tokens`.

    None: not in the log. `basis`: how far the tokens can be trusted, and the reason if they are not
    exact.
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


class Run(_Distilled):
    """One run. Durations in milliseconds.

    Naive times were local times of an unknown zone and are taken as UTC.

    `rank`: completeness of the log; of two logs of one run the higher rank is kept, then the one
    with more `lines` (if counted), else with more tokens. Below 0: a log of another program, behind
    every record of the agent itself.
    """

    tachograph_run: int = 1
    run_id: str
    agent: str
    record_kind: RecordKind
    rank: Annotated[int, Field(ge=-10, le=1000)] = 1
    lines: Whole | None = None
    agent_version: str | None = None
    session_id: str | None = None
    parent_session_id: str | None = None
    requested_model: str | None = None
    effort: str | None = None
    host: str | None = None
    models: tuple[ModelUse, ...] = ()
    started_at: AwareDatetime | datetime | None = None
    ended_at: AwareDatetime | datetime | None = None
    duration_ms: Whole | None = None
    active_ms: Whole | None = None
    """For a session that waited for its user: the time in which the agent worked
    (`ingest.agents.shared.runs`).
    """
    duration_api_ms: Whole | None = None
    num_turns: Whole | None = None
    is_answered: bool = True
    """Whether the model answered at all; False if the log says that the first request failed."""
    outcome: Outcome = Outcome.UNKNOWN
    is_error: bool | None = None
    ended_as: str | None = None
    """The end in the log's words: a status, a reason."""
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
    """The run's name in the log. Otherwise it is named after its prompt or its summary."""
    prompt: str | None = None
    final_text: str | None = None
    tool_calls: tuple[tuple[str, Whole, Whole | None], ...] = ()
    """(tool, calls, errors), sorted by tool."""
    part_ids: tuple[str, ...] = ()
    """For a cut-off stream: its ids, by which the run that includes it refers to it. Otherwise: the
    id of its end only.
    """
    resume: dict[str, Any] | None = None
    """The part of a telemetry run that its record contains. Only `texts` in it contains text."""
    row: Any = None
    """The row of a file that was read by a map, as it was written."""
    is_textless: bool = False

    def textless(self) -> Run:
        """Return the run without its texts. Its end stays if it is one word."""
        resume = (
            None
            if self.resume is None
            else {name: value for name, value in self.resume.items() if name != "texts"}
        )
        is_word = (
            self.ended_as is not None and self.ended_as.replace("_", "").replace("-", "").isalnum()
        )
        said = {"title": None, "prompt": None, "final_text": None, "errors": (), "row": None}
        return self.model_copy(
            update=said
            | {
                "ended_as": self.ended_as if is_word else None,
                "resume": resume,
                "is_textless": True,
            }
        )

    def as_json(self) -> str:
        """Return the kept record as JSON, without fields that are not in the log."""
        return (
            KEPT_START
            + "1,"
            + self.model_dump_json(exclude_defaults=True, exclude={"tachograph_run"})[1:]
        )
