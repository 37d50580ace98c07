"""Codex's counts of tokens, and what was used between two running totals."""

from __future__ import annotations

from typing import NamedTuple

from ingest.agents.shared.tokens import Tokens
from schemas.wire.codex import CodexUsage


class Counts(NamedTuple):
    """Tokens as Codex counts them: `given` includes cache reads and writes, `output` includes reasoning (None where it is not recorded)."""

    given: int = 0
    cached: int = 0
    written: int = 0
    output: int = 0
    reasoning: int | None = None

    @classmethod
    def of(cls, usage: CodexUsage) -> Counts:
        """The counts of one request, or a running total."""
        return cls(
            usage.input_tokens,
            usage.cached_input_tokens,
            usage.cache_write_input_tokens,
            usage.output_tokens,
            usage.reasoning_output_tokens,
        )

    @property
    def total(self) -> int:
        """All tokens; cached ones and reasoning are parts of the others."""
        return self.given + self.output

    def plus(self, other: Counts) -> Counts:
        """The sum of each count."""
        reasoning = None if self.reasoning is other.reasoning is None else (self.reasoning or 0) + (other.reasoning or 0)
        return Counts(
            self.given + other.given, self.cached + other.cached, self.written + other.written, self.output + other.output, reasoning
        )

    def since(self, earlier: Counts) -> Counts:
        """What was used between two running totals; all of this one where input or output has fallen: the counter began again."""
        if self.given < earlier.given or self.output < earlier.output:
            return self
        return Counts(
            self.given - earlier.given,
            max(0, self.cached - earlier.cached),
            max(0, self.written - earlier.written),
            self.output - earlier.output,
            None if self.reasoning is None else max(0, self.reasoning - (earlier.reasoning or 0)),
        )

    def tokens(self) -> Tokens:
        """In disjoint classes. No more is cached than was given."""
        read = min(self.cached, self.given)
        written = min(self.written, self.given - read)
        return Tokens(self.given - read - written, read, written, self.output, self.reasoning)


def tokens_of(usage: CodexUsage) -> Tokens:
    """The tokens of one request, or a running total, in disjoint classes."""
    return Counts.of(usage).tokens()
