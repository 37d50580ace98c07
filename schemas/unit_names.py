"""The names of units, apart from the scalars that carry them: help texts and labels need no pydantic and no Arrow."""

from __future__ import annotations

from enum import StrEnum


class Unit(StrEnum):
    """What a figure counts; decides how people see it (`app.text.formatting`)."""

    TEXT = "text"
    COUNT = "count"
    USD = "usd"
    MILLISECONDS = "milliseconds"
    TOKENS = "tokens"
    RATIO = "ratio"
    SHARE = "share"
    BYTES = "bytes"
    TIME = "time"
