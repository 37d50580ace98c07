"""Facts of a run beside the standard fields, in what `tachograph copy` writes.

OTLP's attributes `tachograph.*`, ATIF's `extra.tachograph`.

The figures themselves are in the standard fields.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, FiniteFloat

from schemas.rows.run import Outcome, TokensBasis
from schemas.wire.values import Secondary, WireCount, WireModel, WireText, WireUsd


class HandedOnRun(WireModel):
    """What neither format says of a run."""

    run_id: WireText = Field(description="Id of the run in the store that it was copied from.")
    session_id: Secondary[WireText] = Field(
        default=None, description="Session, in ATIF, which asks for one of every run."
    )
    cost_basis: Secondary[WireText] = Field(
        default=None, description="reported: by the agent; list: list price."
    )
    outcome: Secondary[Outcome] = Field(default=None, description="How the run ended.")
    score: Secondary[FiniteFloat] = Field(
        default=None, description="Result of the task's evaluation."
    )
    duration_ms: Secondary[WireCount] = Field(
        default=None, description="Wall time, which may leave out waiting."
    )
    active_ms: Secondary[WireCount] = Field(
        default=None, description="Time in which the agent worked."
    )
    duration_api_ms: Secondary[WireCount] = Field(default=None, description="Time in API calls.")
    num_turns: Secondary[WireCount] = Field(default=None, description="Turns.")
    repo: Secondary[WireText] = Field(default=None, description="Repository.")
    task: Secondary[WireText] = Field(default=None, description="Task.")

    def values(self) -> dict[str, Any]:
        """Return the known ones as values of a `Run`."""
        return self.model_dump(exclude={"cost_basis"}, exclude_none=True)


class HandedOnModel(WireModel):
    """What neither format says of the tokens and the cost of a model."""

    cost_basis: Secondary[WireText] = Field(
        default=None, description="reported: by the agent; list: list price."
    )
    cost_usd: WireUsd | None = Field(
        default=None, description="Cost of the model, in ATIF where its steps have none."
    )
    tokens_basis: Secondary[TokensBasis] = Field(
        default=None, description="How far the tokens can be trusted."
    )
    tokens_basis_reason: Secondary[WireText] = Field(
        default=None, description="Why they are not exact."
    )
    cache_write_5m_tokens: Secondary[WireCount] = Field(
        default=None, description="Cache writes kept for 5 minutes."
    )
    cache_write_1h_tokens: Secondary[WireCount] = Field(
        default=None, description="Cache writes kept for an hour."
    )
    provider: Secondary[WireText] = Field(
        default=None, description="Provider by the name of the price library."
    )

    def values(self) -> dict[str, Any]:
        """Return them as values of a `ModelUse`."""
        named = {
            "basis": self.tokens_basis or TokensBasis.EXACT,
            "basis_reason": self.tokens_basis_reason,
        }
        return (
            self.model_dump(include={"cache_write_5m_tokens", "cache_write_1h_tokens", "provider"})
            | named
        )


LIST_PRICE = "list"
"""`cost_basis` of a cost that no agent reported."""

COPY = -4
"""`Run.rank` of what is read back: behind every other record of the run."""
