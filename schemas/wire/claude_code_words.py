"""The words Claude Code is known to write, each with its meaning. Open sets: a word that is not here is still read.

Sources: typings of @anthropic-ai/claude-agent-sdk 0.1.1 to 0.3.328, the change logs of claude-code, and 1,055 real records.
"""

from __future__ import annotations

SUBTYPES = {
    "success": "The loop ended by itself; an API error may still stand in `result` (is_error true).",
    "error_max_turns": "The limit of turns was reached. is_error was false in older versions.",
    "error_during_execution": "The run broke, or was interrupted (then is_error is false).",
    "error_max_budget_usd": "The budget given with --max-budget-usd was spent.",
    "error_max_structured_output_retries": "The model did not produce the structured output asked for.",
}

TERMINAL_REASONS = {
    "completed": "The loop came to its end.",
    "max_turns": "The limit of turns was reached.",
    "budget_exhausted": "The budget was spent.",
    "structured_output_retry_exhausted": "The structured output asked for was not produced.",
    "blocking_limit": "A usage limit blocked the run.",
    "rapid_refill_breaker": "The context filled again too fast after compaction.",
    "prompt_too_long": "The prompt did not fit into the context window.",
    "image_error": "An image could not be used.",
    "model_error": "The model failed.",
    "api_error": "The API failed.",
    "malformed_tool_use_exhausted": "The model kept writing broken tool calls.",
    "aborted_streaming": "Interrupted while the model was answering.",
    "aborted_tools": "Interrupted while tools were running.",
    "stop_hook_prevented": "A stop hook kept the run from ending.",
    "hook_stopped": "A hook ended the run.",
    "tool_deferred": "The run paused for a tool call that its caller answers later.",
    "tool_deferred_unavailable": "The deferred tool was not there on resume.",
    "background_requested": "The run was sent to the background.",
    "turn_setup_failed": "The turn could not be set up.",
}

STOP_REASONS = {
    "end_turn": "The model had finished.",
    "max_tokens": "The limit of output tokens was reached.",
    "stop_sequence": "A stop sequence was met; also written with synthetic error messages.",
    "tool_use": "The model called a tool.",
    "pause_turn": "A long turn was paused by the API.",
    "compaction": "The context was compacted.",
    "refusal": "The model refused.",
    "model_context_window_exceeded": "The context window was full.",
}

FAST_MODE_STATES = {"off": "Not in use.", "cooldown": "Paused after a limit.", "on": "In use."}

FAST_MODE_DISABLED_REASONS = {
    "free": "Not part of the plan.",
    "preference": "Switched off by the user.",
    "extra_usage_disabled": "Extra usage is switched off.",
    "network_error": "Its state could not be asked for.",
    "unknown": "No reason known.",
    "not_first_party": "The provider does not offer it.",
    "disabled_by_env": "Switched off by an environment variable.",
    "model_not_allowed": "The model does not offer it.",
    "sdk_opt_in_required": "The SDK's caller did not ask for it.",
    "pending": "Not decided yet.",
}

PROVIDERS = {
    "firstParty": "Anthropic's own API.",
    "bedrock": "Amazon Bedrock.",
    "vertex": "Google Vertex AI.",
    "foundry": "Microsoft Foundry.",
    "anthropicAws": "Anthropic's API on AWS.",
    "anthropicGoogleCloud": "Anthropic's API on Google Cloud.",
    "mantle": "Amazon Bedrock's Mantle endpoint.",
    "gateway": "A gateway between the agent and the provider.",
}

COST_BASES = {
    "list": "Priced from the agent's list.",
    "managed": "Priced by managed settings.",
    "unknown": "A guess at the default model's rate.",
}

ORIGIN_KINDS = {
    "human": "A person.",
    "channel": "A channel message.",
    "peer": "Another agent.",
    "task-notification": "A background task that reported.",
    "coordinator": "A coordinating agent.",
    "unclassified": "Not classified.",
    "observer": "An observer.",
    "observer-activity": "Activity of an observer.",
    "auto-continuation": "The agent went on by itself.",
}

SERVICE_TIERS = {"standard": "Standard.", "priority": "Priority.", "batch": "Batch."}

SPEEDS = {"standard": "Standard.", "fast": "Fast mode."}

ITERATION_TYPES = {
    "message": "A message of the main loop.",
    "compaction": "A compaction; its tokens are not in the top-level sums.",
    "advisor_message": "A message of the advisor model.",
    "fallback_message": "A message of the fallback model.",
}
