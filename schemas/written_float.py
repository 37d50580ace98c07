"""Numbers of JSON with all their digits."""

from __future__ import annotations

from typing import Self


class WrittenFloat(float):
    """A float that keeps its digits as written, for `json.loads(text, parse_float=WrittenFloat)`."""

    written: str

    def __new__(cls, written: str) -> Self:
        """The nearest float."""
        made = super().__new__(cls, written)
        made.written = written
        return made

    def __repr__(self) -> str:
        return self.written
