"""Tokens in disjoint classes, as readers add them up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from schemas.rows.run import TokensBasis


def unrecorded(model: str | None, reason: str, provider: str | None = None) -> dict[str, Any]:
    """The values of a `KeptModel` whose tokens the log does not tell, and why."""
    return {"model_id": model, "provider": provider, "basis": TokensBasis.UNKNOWN, "basis_reason": reason}


@dataclass(frozen=True)
class Tokens:
    """Uncached input, cache reads, cache writes, output, and reasoning as a part of output (None where it is not recorded)."""

    uncached: int = 0
    read: int = 0
    written: int = 0
    output: int = 0
    reasoning: int | None = None

    @classmethod
    def of_whole_input(cls, given: int, read: int, written: int, output: int, reasoning: int | None) -> Tokens:
        """Of counts whose input includes the cache; a record with more cached than input would have excluded it."""
        inside = read + written <= given
        return cls(given - read - written if inside else given, read, written, output, reasoning)

    @property
    def total(self) -> int:
        """All tokens; reasoning is a part of output."""
        return self.uncached + self.read + self.written + self.output

    def __add__(self, other: Tokens) -> Tokens:
        reasoning = None if self.reasoning is other.reasoning is None else (self.reasoning or 0) + (other.reasoning or 0)
        return Tokens(
            self.uncached + other.uncached, self.read + other.read, self.written + other.written, self.output + other.output, reasoning
        )

    def minus(self, other: Tokens) -> tuple[int, int, int, int, int]:
        """The difference of each class, in the order of the fields; reasoning that is not recorded counts as none."""
        return (
            self.uncached - other.uncached,
            self.read - other.read,
            self.written - other.written,
            self.output - other.output,
            (self.reasoning or 0) - (other.reasoning or 0),
        )

    def as_model(
        self, model: str | None, provider: str | None = None, basis: TokensBasis = TokensBasis.EXACT, reason: str | None = None
    ) -> dict[str, Any]:
        """The values of a `KeptModel`: the tokens as those of a model, and how far they can be trusted."""
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
