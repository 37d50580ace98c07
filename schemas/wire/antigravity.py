"""What the command line of Antigravity prints: `agy -p --output-format json` and `stream-json`.

Sources: streams of 2026-08 to 2026-10 (1.1.20 to 1.2.13) that three tools keep as test data. Its
transcripts and databases have no such counts. Tool input and output are skipped.
"""

from __future__ import annotations

from pydantic import Field

from schemas.wire.values import Secondary, WireCount, WireModel, WireSeconds, WireText


class AgyUsage(WireModel):
    """Tokens. `total_tokens` is input plus output: the cache is beside it."""

    input_tokens: WireCount = Field(default=0, description="Uncached input.")
    output_tokens: WireCount = Field(default=0, description="Output, with thinking.")
    thinking_tokens: WireCount = Field(default=0, description="Thinking.")
    cache_read_tokens: WireCount = Field(default=0, description="Cache reads.")


class AgyResult(WireModel):
    """The end of a run. It may sum up all turns of a conversation that was resumed."""

    conversation_id: WireText = Field(description="A UUID; empty for a command such as /usage.")
    status: Secondary[WireText] = Field(default=None, description="SUCCESS, ERROR, CANCELLED.")
    response: Secondary[WireText] = Field(default=None, description="The answer.")
    error: Secondary[WireText] = Field(default=None, description="Why it failed.")
    duration_seconds: WireSeconds | None = Field(default=None, description="Wall time.")
    num_turns: WireCount | None = Field(default=None, description="Prompts.")
    usage: AgyUsage = Field(default=AgyUsage(), description="All tokens.")


class AgyToolInfo(WireModel):
    """A tool call."""

    error: Secondary[dict[str, object]] = Field(default=None, description="Why it failed.")


class AgyStep(WireModel):
    """A step, written again as it goes on."""

    step_index: WireCount | None = Field(default=None, description="Number in the conversation.")
    state: Secondary[WireText] = Field(default=None, description="ACTIVE, DONE, ERROR.")
    step_type: Secondary[WireText] = Field(
        default=None, description="user_input, agent_response, tool, checkpoint, unknown."
    )
    text_delta: Secondary[WireText] = Field(default=None, description="Of agent_response.")
    tool_name: Secondary[WireText] = Field(default=None, description="Of tool.")
    tool_info: Secondary[AgyToolInfo] = Field(default=None, description="Of tool.")
    usage: AgyUsage | None = Field(default=None, description="Of agent_response, once it is done.")


class AgyInit(WireModel):
    """How a run began."""

    model: Secondary[WireText] = Field(default=None, description="Since 1.2, with its effort.")
    cwd: Secondary[WireText] = Field(default=None, description="Working directory.")
    permission_mode: Secondary[WireText] = Field(default=None, description="Permissions.")


class AgyEvent(WireModel):
    """One line of the stream."""

    event: WireText = Field(description="init, step_update, result.")
    conversation_id: Secondary[WireText] = Field(default=None, description="Of init.")
    init: Secondary[AgyInit] = Field(default=None, description="Of init.")
    step_update: AgyStep | None = Field(default=None, description="Of step_update.")
    result: AgyResult | None = Field(default=None, description="Of result.")
