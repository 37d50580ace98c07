"""Token counts of all agents in disjoint classes.

They are converted from inclusive counts, Google's API and litellm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.run import TokensBasis
from schemas.wire.handed_on import LIST_PRICE, HandedOnModel

# kept runs and Claude Code's reader need no wire model of another agent, which takes time to make
if TYPE_CHECKING:
    from schemas.wire.gemini import SessionMetrics
    from schemas.wire.litellm import CallUsage

Number = TypeVar("Number", int, Decimal)


def known_sum(values: Iterable[Number | None]) -> Number | None:
    """Return the sum of the known values, or None if none is known."""
    known = [value for value in values if value is not None]
    return sum(known[1:], known[0]) if known else None


def in_range(total: Number, largest: Number, unit: str) -> Number:
    """Return a sum over models, limited like a single figure. Raises InvalidRecord."""
    if total > largest:
        detail = f"modelUsage: its models add up to {total:,} {unit}; the maximum is {largest:,}"
        raise InvalidRecord(RejectReason.INVALID_RECORD, detail)
    return total


def unrecorded(model: str | None, reason: str, provider: str | None = None) -> dict[str, Any]:
    """Return the values of a `ModelUse` without token counts, with the reason."""
    return {
        "model_id": model,
        "provider": provider,
        "basis": TokensBasis.UNKNOWN,
        "basis_reason": reason,
    }


def output_alone(model: str | None, output: int) -> dict[str, Any]:
    """Return the values of a `ModelUse` from a log that counts only the output of its messages."""
    if not output:
        return unrecorded(model, "The log has no token counts.")
    return {
        "model_id": model,
        "output_tokens": output,
        "basis": TokensBasis.LOWER_BOUND,
        "basis_reason": OUTPUT_ALONE,
    }


# Counts that cannot be whole, or cannot be right. The rule `doubtful_usage` notices runs that have
# one of these reasons.

OUTPUT_ALONE = "The log counts only the output of its messages: the input is not known."
CUT_SHORT = "cut-off"
"""`runs.terminal_reason` of a run whose log ends in the middle of a line."""
CUT_OFF = "The log ends in the middle of a line: what came behind it is not known."
CACHE_INSIDE = "The input equals the cached tokens and hardly more: it seems to include them."
CACHE_TAKEN_OUT = (
    "In every step the input equals the cached tokens and hardly more: it includes them, and "
    "they were taken out."
)

DOUBTS = (OUTPUT_ALONE, CUT_OFF, CACHE_INSIDE, CACHE_TAKEN_OUT)

_LEAST_CACHED = 1000
_BESIDE = 500


def includes_cache(given: int | None, read: int | None, written: int | None) -> bool:
    """Return whether an input that should leave out the cache equals all that was cached.

    The two may differ by one in 500 tokens.

    Bedrock counts the cache of GPT-5.6 so, and adds it again to the total
    (anomalyco/opencode#47296, maximhq/bifrost#6942).
    """
    cached = (read or 0) + (written or 0)
    return cached >= _LEAST_CACHED and abs((given or 0) - cached) <= cached // _BESIDE


@dataclass(frozen=True)
class Tokens:
    """Uncached input, cache reads, cache writes, output, and reasoning as a part of output.

    Reasoning is None if not recorded.
    """

    uncached: int = 0
    read: int = 0
    written: int = 0
    output: int = 0
    reasoning: int | None = None

    @classmethod
    def of_whole_input(
        cls, given: int, read: int, written: int, output: int, reasoning: int | None
    ) -> Tokens:
        """Convert counts with the cache inside the input.

        If more is cached than input, the cache was beside it.
        """
        inside = read + written <= given
        return cls(given - read - written if inside else given, read, written, output, reasoning)

    @property
    def total(self) -> int:
        """Return all tokens; reasoning is a part of output."""
        return self.uncached + self.read + self.written + self.output

    def __add__(self, other: Tokens) -> Tokens:
        reasoning = (
            None
            if self.reasoning is other.reasoning is None
            else (self.reasoning or 0) + (other.reasoning or 0)
        )
        return Tokens(
            self.uncached + other.uncached,
            self.read + other.read,
            self.written + other.written,
            self.output + other.output,
            reasoning,
        )

    def as_model(
        self,
        model: str | None,
        provider: str | None = None,
        basis: TokensBasis = TokensBasis.EXACT,
        reason: str | None = None,
    ) -> dict[str, Any]:
        """Return the values of a `ModelUse` with these tokens and how far they can be trusted."""
        return {
            "model_id": model,
            "provider": provider,
            "input_tokens": self.uncached,
            "cache_read_tokens": self.read,
            "cache_write_tokens": self.written,
            "output_tokens": self.output,
            "reasoning_tokens": self.reasoning,
            "basis": basis,
            "basis_reason": reason,
        }


# Counts with the cache inside the input, some of them unknown


class Counts(NamedTuple):
    """Tokens and cost of a run or a part of it; None if not logged. `given`: all input."""

    given: int | None = None
    read: int | None = None
    written: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cost: Decimal | None = None


def disjoint(
    given: int | None,
    read: int | None,
    written: int | None,
    output: int | None,
    reasoning: int | None = None,
) -> dict[str, Any] | None:
    """Return the token columns of a `ModelUse`; None if nothing was counted. `given`: all input.

    Zero on both sides means not recorded.
    """
    if not given and not output:
        return None
    cached = (read or 0) + (written or 0)
    if given is not None and cached > given:
        cached = 0 if (read or 0) > given else read or 0
    classes = {
        "input_tokens": None if given is None else given - cached,
        "cache_read_tokens": read,
        "cache_write_tokens": written,
        "output_tokens": output,
        "reasoning_tokens": reasoning,
    }
    if written is not None and read is not None:
        return classes
    unknown = "Cache writes are" if read is not None else "Cache reads and writes are"
    return classes | {
        "basis": TokensBasis.UPPER_BOUND,
        "basis_reason": f"{unknown} not separated: uncached input includes them.",
    }


def handed_on(model_id: str | None, counts: Counts, facts: HandedOnModel) -> dict[str, Any]:
    """Return the values of a `ModelUse` that `tachograph copy` wrote.

    Every count as it was, zero and unknown ones, too.
    """
    own = (
        None if counts.given is None else counts.given - (counts.read or 0) - (counts.written or 0)
    )
    tokens = {
        "input_tokens": own,
        "cache_read_tokens": counts.read,
        "cache_write_tokens": counts.written,
        "output_tokens": counts.output,
        "reasoning_tokens": counts.reasoning,
    }
    return (
        {"model_id": model_id, "cost_usd": None if facts.cost_basis == LIST_PRICE else counts.cost}
        | tokens
        | facts.values()
    )


def summed(several: Iterable[Counts]) -> Counts:
    """Return the sum; its cost is known if each one with tokens has one."""
    counts = list(several)
    tokens = (
        (known_sum(column) for column in zip(*(each[:5] for each in counts), strict=True))
        if counts
        else ()
    )
    has_price = all(each.cost is not None for each in counts if each.given or each.output)
    return Counts(*tokens)._replace(
        cost=known_sum(each.cost for each in counts) if has_price else None
    )


def models_of(
    total: Counts, by_model: Mapping[str | None, Counts], main: str | None
) -> dict[str | None, Counts]:
    """Return the counts of a run by model.

    Those of its parts if they name several and do not exceed the total, else all for the main one.

    What the parts leave of the total belongs to the main model.
    """
    parts = summed(by_model.values())
    left = [(mine or 0) - (theirs or 0) for mine, theirs in zip(total[:5], parts[:5], strict=True)]
    cost = (total.cost or Decimal()) - (parts.cost or Decimal())
    if len(by_model) < 2 or min(left) < 0 or cost < 0:
        return {main or next(iter(by_model), None): total}
    if left[0] or left[3]:  # input or output
        return {
            **by_model,
            main: summed((by_model.get(main, Counts()), Counts._make((*left, cost or None)))),
        }
    return dict(by_model)


# Google's API, and the agents that descend from Gemini CLI

NOT_RECORDED = "The log has no token counts for this model."


def google_tokens(
    prompt: int | None,
    cached: int | None,
    candidates: int | None,
    thoughts: int | None,
    tool: int | None,
    total: int | None,
) -> Tokens:
    """Return the counts of one or more responses.

    The prompt includes cache reads; `tool` is input beside it.

    Thoughts are beside the candidates, but inside them through OpenAI's API: then the total is
    prompt plus candidates.
    """
    outside, answered, reasoning = tool or 0, candidates or 0, thoughts or 0
    inside = reasoning <= answered and total == (prompt or 0) + outside + answered
    tokens = Tokens.of_whole_input(
        prompt or 0, cached or 0, 0, answered if inside else answered + reasoning, thoughts
    )
    return replace(tokens, uncached=tokens.uncached + outside)


def google_tokens_by_total(
    prompt: int | None, cached: int | None, output: int | None, total: int | None
) -> Tokens:
    """Return counts logged without reasoning: it is the total minus prompt and output.

    If that is zero, it may be inside.
    """
    rest = max(0, (total or 0) - (prompt or 0) - (output or 0))
    return Tokens.of_whole_input(prompt or 0, cached or 0, 0, (output or 0) + rest, rest or None)


def google_model(
    tokens: Tokens,
    model: str | None,
    basis: TokensBasis = TokensBasis.EXACT,
    reason: str | None = None,
) -> dict[str, Any]:
    """Return the values of a `ModelUse`. If all counts are zero, none were recorded."""
    return (
        tokens.as_model(model, None, basis, reason)
        if tokens.total
        else unrecorded(model, NOT_RECORDED)
    )


class ResponseTokens:
    """Sums over a chat's responses by model.

    Responses without counts make the sums of their model a lower bound.
    """

    def __init__(self) -> None:
        self.sums: dict[str | None, Tokens] = {}
        self._lower_bounds: dict[str | None, str] = {}

    def add(self, model: str | None, tokens: Tokens | None) -> None:
        if tokens is None or not tokens.total:
            self._lower_bounds[model] = "Some responses of this model have no token counts."
        self.sums[model] = self.sums.get(model, Tokens()) + (tokens or Tokens())

    def models(self, unread: str | None = None) -> list[dict[str, Any]]:
        """Return the values of a `ModelUse` per model.

        `unread`: a reason why all are lower bounds.
        """
        reasons: Mapping[str | None, str] = (
            dict.fromkeys(self.sums, unread) if unread else self._lower_bounds
        )
        return [
            google_model(
                tokens,
                model,
                *((TokensBasis.LOWER_BOUND, reasons[model]) if model in reasons else ()),
            )
            for model, tokens in self.sums.items()
        ]


def metrics_values(metrics: SessionMetrics) -> dict[str, Any]:
    """Return Gemini's metrics of a session as values of a `Run`.

    Models, API time and tool calls.
    """
    models = []
    for name, model in metrics.models.items():
        counts = model.tokens
        if counts is None:
            models.append(unrecorded(name or None, NOT_RECORDED))
        else:
            tokens = google_tokens(
                counts.prompt,
                counts.cached,
                counts.candidates,
                counts.thoughts,
                counts.tool,
                counts.total,
            )
            models.append(google_model(tokens, name or None))
    latencies = [
        model.api.total_latency_ms
        for model in metrics.models.values()
        if model.api and model.api.total_latency_ms is not None
    ]
    tools = sorted(metrics.tools.by_name.items()) if metrics.tools else ()
    return {
        "models": models,
        "duration_api_ms": round(sum(latencies)) if latencies else None,
        "tool_calls": [(tool, calls.count, calls.fail) for tool, calls in tools],
    }


# litellm

_PROVIDERS = {
    "anthropic": "anthropic",
    "azure": "azure",
    "azure_ai": "azure",
    "bedrock": "aws",
    "deepseek": "deepseek",
    "fireworks_ai": "fireworks",
    "gemini": "google",
    "google": "google",
    "groq": "groq",
    "mistral": "mistral",
    "moonshot": "moonshotai",
    "openai": "openai",
    "openrouter": "openrouter",
    "together_ai": "together",
    "vertex_ai": "google",
    "xai": "x-ai",
}
"""litellm's provider name → the price library's."""


def provider_named(name: str | None) -> str | None:
    """Return the provider by litellm's name; an unknown name is returned unchanged."""
    return _PROVIDERS.get(name.lower(), name) if name else None


def provider_of(model: str | None) -> str | None:
    """Return the known provider in front of a model's name (`openai/gpt-5`), or None.

    Portkey writes `@` before it.

    It is the provider that serves the request, not the maker as in OpenRouter's catalogue.
    """
    first, slash, _ = (model or "").partition("/")
    return _PROVIDERS.get(first.removeprefix("@").lower()) if slash else None


def litellm_tokens(calls: Sequence[CallUsage]) -> dict[str, Any]:
    """Return the token columns of a `ModelUse` with their basis; {} if no call has counts.

    Cache reads are inside the input. Cache writes of Anthropic's models are inside it by version:
    in litellm 1.65, beside it in 1.70 to
    1.74, inside again since 1.78. More cached than input proves that they are beside; otherwise
      they are assumed to be inside, and the
    basis records that. Anthropic's own counts leave the cache out, and so does a call with more
    reads than input.
    """
    uncached: list[tuple[int, int]] = []
    read = written = output = 0
    reasoning: list[int | None] = []
    tells_cache = reasoning_beside = through_litellm = False
    writes_inside = True
    for call in calls:
        given = call.prompt_tokens if call.prompt_tokens is not None else call.input_tokens
        came_out = (
            call.completion_tokens if call.completion_tokens is not None else call.output_tokens
        )
        if given is None and came_out is None:
            continue
        details = call.prompt_tokens_details or call.input_tokens_details
        parts = call.completion_tokens_details or call.output_tokens_details
        cached = details.cached_tokens if details else None
        own_read = cached or call.cache_read_input_tokens or 0
        own_written = (
            call.cache_creation_input_tokens
            or (details and (details.cache_creation_tokens or details.cache_write_tokens))
            or 0
        )
        own_reasoning = parts.reasoning_tokens if parts else None
        is_anthropics_own = call.prompt_tokens is None and call.cache_read_input_tokens is not None
        is_beside = is_anthropics_own or own_read > (given or 0)
        uncached.append((given or 0, 0) if is_beside else ((given or 0) - own_read, own_written))
        read, written, output = read + own_read, written + own_written, output + (came_out or 0)
        reasoning.append(own_reasoning)
        tells_cache = tells_cache or cached is not None or call.cache_read_input_tokens is not None
        writes_inside = writes_inside and (given or 0) >= own_read + own_written
        reasoning_beside = reasoning_beside or (own_reasoning or 0) > (came_out or 0)
        through_litellm = through_litellm or (
            call.prompt_tokens is not None and bool(call.cache_creation_input_tokens)
        )
    if not uncached:
        return {}
    basis: dict[str, Any] = {}
    if reasoning_beside:
        reason = "Some calls have more reasoning than output: their output leaves reasoning out."
        basis = {"basis": TokensBasis.LOWER_BOUND, "basis_reason": reason}
    elif not tells_cache:
        reason = "The calls do not say what was cached: uncached input includes it."
        basis = {"basis": TokensBasis.UPPER_BOUND, "basis_reason": reason}
    elif writes_inside and through_litellm:
        reason = (
            "Cache writes are taken to be a part of the input, as litellm counts them in most "
            "versions."
        )
        basis = {"basis": TokensBasis.LOWER_BOUND, "basis_reason": reason}
    return {
        "input_tokens": sum(given - (inside if writes_inside else 0) for given, inside in uncached),
        "cache_read_tokens": read if tells_cache else None,
        "cache_write_tokens": written if tells_cache else None,
        "output_tokens": output,
        "reasoning_tokens": known_sum(reasoning),
    } | basis
