"""Messages of a task of Cline, Roo Code or Kilo Code: `ui_messages.json`, or `cline --json`.

Sources: cline/cline (ExtensionMessage.ts, getApiMetrics.ts, message-translator.ts and the
providers), RooCodeInc/Roo-Code (packages/types, shared/cost.ts) and files of 2025-10 to 2026-05.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from schemas.wire.values import Secondary, WireCount, WireModel, WireText, WireUsd


class ClineModel(WireModel):
    """The model that is in use."""

    provider_id: Secondary[WireText] = Field(
        default=None, alias="providerId", description="Provider."
    )
    model_id: Secondary[WireText] = Field(default=None, alias="modelId", description="Model.")


class ClineCondense(WireModel):
    """A compaction of the history, by Roo Code."""

    cost: WireUsd | None = Field(default=None, description="USD.")


class ClineMessage(WireModel):
    """One message. A message that is written again has the same time."""

    ts: Any = Field(default=None, description="Unix ms.")
    type: WireText = Field(description="say, ask.")
    say: Secondary[WireText] = Field(default=None, description="What it says: text, tool, …")
    ask: Secondary[WireText] = Field(default=None, description="What it asks: followup, tool, …")
    text: Secondary[WireText] = Field(default=None, description="A text, or JSON.")
    partial: Any = Field(default=None, description="True while it is being written.")
    model_info: Secondary[ClineModel] = Field(
        default=None, alias="modelInfo", description="Since 2025-11."
    )
    context_condense: ClineCondense | None = Field(
        default=None, alias="contextCondense", description="Of condense_context."
    )


class ClineRequest(WireModel):
    """The JSON in the text of a request, or of a sum of requests.

    Without tokens as long as it is under way.
    """

    tokens_in: WireCount | None = Field(
        default=None,
        alias="tokensIn",
        description=(
            "Input. Cline: without the cache, but of some providers with it. Roo Code since "
            "2025-10, and by OpenAI's protocol before: with the cache."
        ),
    )
    tokens_out: WireCount | None = Field(default=None, alias="tokensOut", description="Output.")
    cache_writes: WireCount | None = Field(
        default=None, alias="cacheWrites", description="Cache writes."
    )
    cache_reads: WireCount | None = Field(
        default=None, alias="cacheReads", description="Cache reads."
    )
    cost: WireUsd | None = Field(
        default=None, description="USD; 0 too where the model has no price or is in a subscription."
    )
    request: Secondary[WireText] = Field(
        default=None, description="What was sent, with the working directory, and Roo's model."
    )
    api_protocol: Secondary[WireText] = Field(
        default=None, alias="apiProtocol", description="Roo Code: anthropic, openai."
    )
    usage_missing: Any = Field(default=None, alias="usageMissing", description="Kilo Code.")
    cancel_reason: Secondary[WireText] = Field(
        default=None, alias="cancelReason", description="user_cancelled, streaming_failed, …"
    )
    streaming_failed_message: Secondary[WireText] = Field(
        default=None, alias="streamingFailedMessage", description="Why it failed."
    )
