"""Token counts of one call from litellm and OpenRouter.

In the form of OpenAI's chat or Responses API, or of Anthropic's.

`ingest.agents.shared.tokens` describes which counts include others.
"""

from __future__ import annotations

from pydantic import Field

from schemas.wire.values import WireCount, WireModel, WireUsd


class InputDetails(WireModel):
    """Cached parts of the input."""

    cached_tokens: WireCount | None = Field(
        default=None, description="Cache reads, inside the input."
    )
    cache_creation_tokens: WireCount | None = Field(
        default=None, description="Cache writes; litellm since 1.70."
    )
    cache_write_tokens: WireCount | None = Field(
        default=None, description="Cache writes; OpenRouter and OpenAI."
    )


class OutputDetails(WireModel):
    """Reasoning part of the output."""

    reasoning_tokens: WireCount | None = Field(
        default=None,
        description="Reasoning; Gemini behind some gateways counts it beside the output.",
    )


class CallUsage(WireModel):
    """Tokens of one call. Chat: prompt, completion. Responses and Anthropic: input, output."""

    prompt_tokens: WireCount | None = Field(
        default=None,
        description="All input, with cache reads; with cache writes by version of litellm.",
    )
    completion_tokens: WireCount | None = Field(default=None, description="All output.")
    prompt_tokens_details: InputDetails | None = Field(
        default=None, description="What of prompt_tokens was cached."
    )
    completion_tokens_details: OutputDetails | None = Field(
        default=None, description="What of completion_tokens was reasoning."
    )
    input_tokens: WireCount | None = Field(
        default=None,
        description="The same as prompt_tokens; from Anthropic itself without the cache.",
    )
    output_tokens: WireCount | None = Field(
        default=None, description="The same as completion_tokens."
    )
    input_tokens_details: InputDetails | None = Field(
        default=None, description="What of input_tokens was cached."
    )
    output_tokens_details: OutputDetails | None = Field(
        default=None, description="What of output_tokens was reasoning."
    )
    cache_creation_input_tokens: WireCount | None = Field(
        default=None, description="Cache writes of Anthropic's models."
    )
    cache_read_input_tokens: WireCount | None = Field(
        default=None, description="Cache reads of Anthropic's models."
    )
    cost: WireUsd | None = Field(default=None, description="What the call cost; OpenRouter only.")
