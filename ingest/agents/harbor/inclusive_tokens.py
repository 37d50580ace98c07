"""Tokens of Harbor and ATIF, whose input holds everything, → disjoint classes."""

from __future__ import annotations

from typing import Any

from schemas.rows.run import TokensBasis

_WITH_WRITES = "Cache writes are not told apart: uncached input includes them."
_WITH_CACHE = "Cache reads and writes are not told apart: uncached input includes them."


def disjoint(
    given: int | None, read: int | None, written: int | None, output: int | None, reasoning: int | None = None
) -> dict[str, Any] | None:
    """Token columns of a `KeptModel`; None where nothing was counted. `given`: all input. Zero on both sides is not recorded."""
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
    return classes | {"basis": TokensBasis.UPPER_BOUND, "basis_reason": _WITH_CACHE if read is None else _WITH_WRITES}
