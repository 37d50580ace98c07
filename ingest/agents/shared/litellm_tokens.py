"""The calls of one model as litellm counts them → tokens in disjoint classes.

Cache reads are inside the input. Cache writes of Anthropic's models are inside it by version: in litellm 1.65, beside it in 1.70 to
1.74, inside again since 1.78. A call with more cached than input proves that they are beside; else they are taken to be inside, and the
basis says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ingest.agents.shared.known_sums import known_sum
from schemas.rows.run import TokensBasis
from schemas.wire.litellm import CallUsage, InputDetails, OutputDetails

_NO_DETAILS = "The calls do not say what was cached: uncached input includes it."
_ASSUMED_INSIDE = "Cache writes are taken to be a part of the input, as litellm counts them in most versions."
_REASONING_BESIDE = "Some calls have more reasoning than output: their output leaves reasoning out."


def tokens_of(calls: Sequence[CallUsage]) -> dict[str, Any]:
    """Token columns of a `KeptModel` with their basis; none where no call has counts."""
    counted = [call for call in calls if _input(call) is not None or _output(call) is not None]
    if not counted:
        return {}
    tells_cache = any(map(_tells_cache, counted))
    writes_inside = all((_input(call) or 0) >= _read(call) + _written(call) for call in counted)
    return {
        "input_tokens": sum(_uncached(call, writes_inside=writes_inside) for call in counted),
        "cache_read_tokens": sum(map(_read, counted)) if tells_cache else None,
        "cache_write_tokens": sum(map(_written, counted)) if tells_cache else None,
        "output_tokens": sum(_output(call) or 0 for call in counted),
        "reasoning_tokens": known_sum(map(_reasoning, counted)),
    } | _basis(counted, tells_cache=tells_cache, writes_inside=writes_inside)


def _basis(calls: Sequence[CallUsage], *, tells_cache: bool, writes_inside: bool) -> dict[str, Any]:
    if any((_reasoning(call) or 0) > (_output(call) or 0) for call in calls):
        return {"basis": TokensBasis.LOWER_BOUND, "basis_reason": _REASONING_BESIDE}
    if not tells_cache:
        return {"basis": TokensBasis.UPPER_BOUND, "basis_reason": _NO_DETAILS}
    if writes_inside and any(map(_is_of_anthropic_through_litellm, calls)):
        return {"basis": TokensBasis.LOWER_BOUND, "basis_reason": _ASSUMED_INSIDE}
    return {}


def _is_of_anthropic_through_litellm(call: CallUsage) -> bool:
    return call.prompt_tokens is not None and bool(call.cache_creation_input_tokens)


def _uncached(call: CallUsage, *, writes_inside: bool) -> int:
    """Input without the cache. Anthropic's own counts, and any with more reads than input, leave the cache out."""
    given, read, written = _input(call) or 0, _read(call), _written(call)
    is_anthropics_own = call.prompt_tokens is None and call.cache_read_input_tokens is not None
    if is_anthropics_own or read > given:
        return given
    return given - read - (written if writes_inside else 0)


def _input(call: CallUsage) -> int | None:
    return call.prompt_tokens if call.prompt_tokens is not None else call.input_tokens


def _output(call: CallUsage) -> int | None:
    return call.completion_tokens if call.completion_tokens is not None else call.output_tokens


def _details(call: CallUsage) -> InputDetails:
    return call.prompt_tokens_details or call.input_tokens_details or InputDetails()


def _tells_cache(call: CallUsage) -> bool:
    return _details(call).cached_tokens is not None or call.cache_read_input_tokens is not None


def _read(call: CallUsage) -> int:
    return _details(call).cached_tokens or call.cache_read_input_tokens or 0


def _written(call: CallUsage) -> int:
    details = _details(call)
    return call.cache_creation_input_tokens or details.cache_creation_tokens or details.cache_write_tokens or 0


def _reasoning(call: CallUsage) -> int | None:
    return (call.completion_tokens_details or call.output_tokens_details or OutputDetails()).reasoning_tokens
