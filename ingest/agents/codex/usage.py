"""Codex's tokens in disjoint classes."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.rows.kept_run import KeptModel
from schemas.wire.codex import CodexUsage


@dataclass(frozen=True)
class CodexTokens:
    """Uncached input, cache reads, cache writes, output, and reasoning as a part of output (None where it is not recorded)."""

    uncached: int = 0
    read: int = 0
    written: int = 0
    output: int = 0
    reasoning: int | None = None

    @classmethod
    def of(cls, usage: CodexUsage) -> CodexTokens:
        """`input_tokens` includes cache reads and writes; a record with more of them than input would have excluded them."""
        read, written = usage.cached_input_tokens, usage.cache_write_input_tokens
        inside = read + written <= usage.input_tokens
        uncached = usage.input_tokens - read - written if inside else usage.input_tokens
        return cls(uncached, read, written, usage.output_tokens, usage.reasoning_output_tokens)

    @property
    def total(self) -> int:
        """All tokens; reasoning is a part of output."""
        return self.uncached + self.read + self.written + self.output

    def __add__(self, other: CodexTokens) -> CodexTokens:
        reasoning = None if self.reasoning is other.reasoning is None else (self.reasoning or 0) + (other.reasoning or 0)
        return CodexTokens(
            self.uncached + other.uncached, self.read + other.read, self.written + other.written, self.output + other.output, reasoning
        )

    def since(self, earlier: CodexTokens) -> CodexTokens:
        """What was used since an earlier total; everything where a count has fallen, since the counter began again."""
        parts = [mine - theirs for mine, theirs in zip(self._counts(), earlier._counts(), strict=True)]
        if any(part < 0 for part in parts) and self.total < earlier.total:
            return self
        reasoning = None if self.reasoning is None else max(0, parts[4])
        uncached, read, written, output, _ = (max(0, part) for part in parts)
        return CodexTokens(uncached, read, written, output, reasoning)

    def as_model(self, model: str | None, provider: str | None = None) -> KeptModel:
        """The tokens as those of a model."""
        return KeptModel(
            model_id=model,
            provider=provider,
            input_tokens=self.uncached,
            cache_read_tokens=self.read,
            cache_write_tokens=self.written,
            output_tokens=self.output,
            reasoning_tokens=self.reasoning,
        )

    def _counts(self) -> tuple[int, int, int, int, int]:
        return self.uncached, self.read, self.written, self.output, self.reasoning or 0
