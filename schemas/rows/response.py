"""Model responses of sessions: responses as each transcript has them, and the billed ones."""

from __future__ import annotations

from schemas.rows.row import (
    Count,
    Flag,
    Names,
    Offset,
    Row,
    Text,
    Tokens,
    Usd,
    UtcTime,
    column,
    optional,
)
from schemas.rows.run import PriceStatusName, TokensBasis, TokensBasisName


class _Response(Row):
    """What a transcript says of a response.

    `input_tokens` is uncached input; `reasoning_tokens` is a part of `output_tokens`.
    """

    request_id: Text | None = optional("Request", "Id of the request to the model.")
    at: UtcTime | None = optional(
        "Time", "When the response was written (UTC). Empty: the transcript does not say."
    )
    agent_id: Text | None = optional(
        "Sub-agent", "Id of the sub-agent that asked for it. Empty: the main agent."
    )
    agent_type: Text | None = optional(
        "Type of sub-agent", "Type of the sub-agent, as the file beside its transcript names it."
    )
    agent_description: Text | None = optional(
        "Task of sub-agent", "What the sub-agent was asked for, in some words of that file."
    )
    is_sidechain: Flag = column(
        default=False,
        title="Side chain",
        description="Whether it belongs to a sub-agent or a side question.",
    )
    model_id: Text | None = optional("Model id", "Model id as logged.")
    model: Text | None = optional(
        "Model", "Canonical model, without date, region and context suffix of the id."
    )
    provider: Text | None = optional(
        "Provider", "Provider of the model: anthropic, aws, google, openai, …"
    )
    region: Text | None = optional("Region", "Region of the endpoint.")
    input_tokens: Tokens | None = optional(
        "Uncached input", "Input tokens neither read from nor written to the cache."
    )
    output_tokens: Tokens | None = optional("Output tokens", "Output tokens, including thinking.")
    reasoning_tokens: Tokens | None = optional(
        "Reasoning tokens", "Reasoning (thinking) tokens: a part of the output tokens."
    )
    cache_read_tokens: Tokens | None = optional("Cache reads", "Input tokens read from the cache.")
    cache_write_tokens: Tokens | None = optional(
        "Cache writes", "Input tokens written to the cache."
    )
    cache_write_5m_tokens: Tokens | None = optional(
        "Cache writes (5 min)", "Cache writes kept for 5 minutes. Empty: not split."
    )
    cache_write_1h_tokens: Tokens | None = optional(
        "Cache writes (1 hour)", "Cache writes kept for 1 hour. Empty: not split."
    )
    web_search_requests: Count | None = optional(
        "Web searches", "Web searches by the provider's server-side tool."
    )
    service_tier: Text | None = optional(
        "Service tier",
        (
            "`service_tier` of the response as logged: standard, priority, batch. What a request "
            "asked for is not it."
        ),
    )
    speed: Text | None = optional("Speed", "`speed` as logged: standard or fast.")
    inference_geo: Text | None = optional("Inference region", "`inference_geo` as logged.")
    stop_reason: Text | None = optional("Stop reason", "`stop_reason` as logged.")
    output_is_final: Flag = column(
        default=True,
        title="Output is final",
        description=(
            "Whether the output count is that of the whole response. Otherwise it is that of its "
            "start: a lower bound."
        ),
    )
    tokens_basis: TokensBasisName = column(
        default=TokensBasis.EXACT,
        title="Token basis",
        description="exact, upper_bound, lower_bound, estimate or unknown.",
    )
    tools: Names = column(
        default=(),
        title="Tools",
        description="Tools that the response called, one name per call, in order.",
    )
    failed_tools: Names = column(
        default=(),
        title="Failed tools",
        description="Of those calls, the tools of the calls that failed.",
    )
    cost_reported_usd: Usd | None = optional(
        "Cost as logged", "Cost of the response, where the agent logs it."
    )
    limit_resets_at: UtcTime | None = optional(
        "Limit resets",
        (
            "When the limit of the account resets that was reached after the response (UTC), as "
            "the agent says."
        ),
    )
    logged: Text | None = optional(
        "Logged",
        "What its tool calls wrote into an experiments' log, without line ends, at most 2,000 "
        "characters: the arguments of `log_experiment`, a command that appends to a .tsv, .csv "
        "or .jsonl file, or the new text of such a file.",
    )
    commits: Names | None = optional(
        "Commits", "Hashes of commits that its tool calls made, as git printed them. Empty: none."
    )
    pull_requests: Names | None = optional(
        "Pull requests",
        "Pull requests that its tool calls opened: `owner/name#12`. Empty: none.",
    )


class ResponseCopyRow(_Response):
    """One response as one transcript file tells it.

    Resumed, forked and sub-agents' files repeat responses of other files.
    """

    source_id: Text = column(description="Id of the file it was read from.")
    session_id: Text = column(description="Session of the file: the run of its transcript.")
    response_no: Offset = column(
        description="Number of the response within its reading of the file, from 0."
    )
    message_id: Text = column(
        description=(
            "Id of the response as logged; for Codex its turn and number, as no id is logged."
        )
    )
    line_id: Text | None = column(
        default=None,
        description=(
            "uuid of its first line. It tells responses apart whose message_id is not unique: "
            "some gateways write a constant one."
        ),
    )
    is_copied: Flag = column(
        default=False,
        description="Whether its line says that it was copied from another session (`forkedFrom`).",
    )
    stream_id: Text | None = column(
        default=None,
        description=(
            "Of a response in a stream without a result: the stream (in `runs.part_ids`). Empty: "
            "from a transcript."
        ),
    )


class ResponseRow(_Response):
    """One billed response of a session. A response that several files tell of is there once."""

    run_id: Text = column(title="Run", description="Id of the run.")
    session_id: Text = column(
        title="Session",
        description="Session that owns it: of those with a copy, the one that began first.",
    )
    response_id: Text = column(
        title="Response", description="Id of the response; unique in the store."
    )
    cost_list_usd: Usd | None = optional(
        "List-price cost",
        "Cost at list prices: those of its day, prompt size, speed and service tier.",
    )
    price_status: PriceStatusName | None = optional("Price status", "priced or unpriced.")
    price_note: Text | None = optional(
        "Price note",
        "What the price depends on besides tokens and day: long context, fast mode, batch, …",
    )
    price_source: Text | None = optional("Price source", "Origin of the price.")
