"""Inspect AI's format: the log of an evaluation with its samples, which are the runs.

One JSON document, or members of an `.eval` zip.

Source: inspect_ai 0.3.285 (`log/_log.py`, `model/_model_output.py`); logs of 0.3.41 to 0.3.154.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from schemas.wire.values import Secondary, WireCount, WireDollars, WireModel, WireSeconds, WireText


class InspectUsage(WireModel):
    """Tokens of one model.

    Until 0.3.184 OpenAI's input includes cache reads: then total_tokens = input + output.
    """

    input_tokens: WireCount | None = Field(default=None, description="Input.")
    output_tokens: WireCount | None = Field(
        default=None, description="Output, including reasoning."
    )
    total_tokens: WireCount | None = Field(
        default=None, description="Sum, which tells whether the cache is inside the input."
    )
    input_tokens_cache_read: WireCount | None = Field(default=None, description="Cache reads.")
    input_tokens_cache_write: WireCount | None = Field(default=None, description="Cache writes.")
    reasoning_tokens: WireCount | None = Field(
        default=None, description="Reasoning, inside the output."
    )
    total_cost: WireDollars | None = Field(
        default=None, description="USD; only where a price table was set."
    )


class InspectError(WireModel):
    """An error of a sample."""

    message: Secondary[WireText] = Field(default=None, description="Text.")


class InspectLimit(WireModel):
    """The limit that ended a sample."""

    type: Secondary[WireText] = Field(
        default=None,
        description="message, token, time, working, cost, turn, context, operator, custom.",
    )


class InspectMessage(WireModel):
    """A message."""

    content: Any = Field(default=None, description="Text, attachment://…, or a list of parts.")


class InspectChoice(WireModel):
    """An answer of the model."""

    message: Secondary[InspectMessage] = Field(default=None, description="The message.")


class InspectOutput(WireModel):
    """An output of the model."""

    completion: Secondary[WireText] = Field(
        default=None, description="Text; not in the oldest logs."
    )
    choices: Secondary[list[InspectChoice]] = Field(default=None, description="Answers.")
    usage: InspectUsage | None = Field(default=None, description="Tokens of this call.")
    time: Secondary[WireSeconds] = Field(default=None, description="Seconds of this call.")


class InspectScore(WireModel):
    """A score."""

    value: Any = Field(default=None, description="C, I, P, N, a number, an object or a list.")


class InspectTranscript(WireModel):
    """The events of the oldest samples."""

    events: Secondary[list[Any]] = Field(default=None, description="Events.")
    content: Secondary[dict[str, Any]] = Field(default=None, description="Long texts.")


class InspectEvent(WireModel):
    """An event of a sample."""

    event: Secondary[WireText] = Field(
        default=None, description="model, tool, sample_init, score, …"
    )
    timestamp: Any = Field(default=None, description="With a zone.")
    model: Secondary[WireText] = Field(default=None, description="Of a model call.")
    output: Secondary[InspectOutput] = Field(default=None, description="Of a model call.")
    cache: Secondary[WireText] = Field(
        default=None,
        description="Of a model call: read, if Inspect's own cache answered; or write.",
    )
    id: Secondary[WireText] = Field(default=None, description="Of a tool call.")
    function: Secondary[WireText] = Field(default=None, description="The tool.")
    error: Any = Field(default=None, description="Why the tool failed.")


class InspectSample(WireModel):
    """A sample: one run of an agent on one task."""

    id: int | WireText = Field(description="Which sample of the data set.")
    epoch: WireCount = Field(default=1, description="Which repetition.")
    uuid: Secondary[WireText] = Field(default=None, description="Globally unique id, since 0.3.70.")
    input: Any = Field(default=None, description="The prompt: text or messages.")
    output: InspectOutput | None = Field(default=None, description="The last output.")
    scores: Secondary[dict[str, InspectScore]] = Field(default=None, description="Scorer → score.")
    model_usage: dict[str, InspectUsage] | None = Field(
        default=None, description="Model → its tokens, since 0.3.42."
    )
    started_at: Any = Field(default=None, description="When it began (newer).")
    completed_at: Any = Field(
        default=None, description="When it ended (newer); empty where it did not."
    )
    total_time: WireSeconds | None = Field(
        default=None, description="Seconds, waits included, since 0.3.71."
    )
    error: Secondary[InspectError] = Field(default=None, description="What failed.")
    limit: Secondary[InspectLimit] = Field(default=None, description="The limit that ended it.")
    events: Secondary[list[Any]] = Field(default=None, description="Events.")
    transcript: Secondary[InspectTranscript] = Field(
        default=None, description="Events of the oldest samples."
    )
    attachments: Secondary[dict[str, Any]] = Field(
        default=None, description="Long texts, which others refer to as attachment://…"
    )
    turn_count: Secondary[WireCount] = Field(
        default=None, description="Calls of the model (newer)."
    )


class InspectGeneration(WireModel):
    """How the model was asked."""

    reasoning_effort: Secondary[WireText] = Field(default=None, description="Reasoning effort.")


class InspectEval(WireModel):
    """The evaluation's task and model."""

    run_id: Secondary[WireText] = Field(default=None, description="Id of the evaluation.")
    task: Secondary[WireText] = Field(default=None, description="The task.")
    model: Secondary[WireText] = Field(
        default=None, description="The model that was asked for: openai/gpt-4o."
    )
    model_generate_config: Secondary[InspectGeneration] = Field(
        default=None, description="How it was asked."
    )
    packages: Secondary[dict[str, Any]] = Field(default=None, description="Package → version.")


class InspectHeader(WireModel):
    """A log without its samples."""

    eval: InspectEval = Field(description="What is evaluated.")
    status: Secondary[WireText] = Field(
        default=None, description="started, success, cancelled, error."
    )
