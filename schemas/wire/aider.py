"""Aider's formats: the lines of `--analytics-log`, and the result of an exercise of its benchmark.

Its chat history is text.

Sources: Aider-AI/aider (aider/analytics.py, aider/coders/base_coder.py, benchmark/benchmark.py) and
a real log of 2025-08 to 2026-04.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from schemas.wire.values import (
    Secondary,
    WireCount,
    WireDollars,
    WireFlag,
    WireModel,
    WireSeconds,
    WireText,
    WireUsd,
)


class AiderMessage(WireModel):
    """Tokens and cost of a response."""

    main_model: Secondary[WireText] = Field(
        default=None, description="Model; of one that is not public only `provider/REDACTED`."
    )
    prompt_tokens: WireCount | None = Field(
        default=None, description="Input, including what was cached."
    )
    completion_tokens: WireCount | None = Field(
        default=None, description="Output, including reasoning."
    )
    cost: WireUsd | None = Field(
        default=None, description="USD; 0 too where the model has no price."
    )
    total_cost: WireDollars | None = Field(
        default=None, description="The same, of all messages of the process so far."
    )
    aider_version: Secondary[WireText] = Field(default=None, description="Version of Aider; 2024.")


class AiderEvent(WireModel):
    """One line of the analytics log."""

    event: WireText = Field(description="launched, cli session, message_send, exit, command_…")
    properties: AiderMessage = Field(description="Of message_send: what it used.")
    user_id: Secondary[WireText] = Field(default=None, description="The installation.")
    time: Any = Field(default=None, description="Unix seconds.")


class AiderResult(WireModel):
    """The result of an exercise, `.aider.results.json`."""

    testcase: Secondary[WireText] = Field(default=None, description="The exercise.")
    model: Secondary[WireText] = Field(default=None, description="Model.")
    tests_outcomes: list[WireFlag] = Field(
        default=[], description="Whether its tests passed, after each try."
    )
    cost: WireUsd | None = Field(
        default=None, description="USD; 0 too where the model has no price."
    )
    duration: WireSeconds | None = Field(default=None, description="Seconds.")
    commit_hash: Secondary[WireText] = Field(default=None, description="Commit of Aider.")
    prompt_tokens: WireCount | None = Field(
        default=None, description="Input, including what was cached; newer."
    )
    completion_tokens: WireCount | None = Field(
        default=None, description="Output, including reasoning; newer."
    )
    thinking_tokens: Any = Field(
        default=None, description="The budget of reasoning that was asked for, no count."
    )
