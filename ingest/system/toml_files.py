"""TOML files written by people: read with a bound on their size; every mistake in one is a ValueError."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from decimal import DecimalException
from pathlib import Path
from typing import Any

LARGEST_BYTES = 1 << 20
"""A larger file was not written by hand; and a device could be read without end."""


def read_text(path: Path) -> str:
    """The text of a file. Raises OSError where it cannot be read, ValueError where it is no text or too large."""
    with path.open("rb") as file:
        body = file.read(LARGEST_BYTES + 1)
    if len(body) > LARGEST_BYTES:
        raise ValueError(f"it is larger than {LARGEST_BYTES:,} bytes")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError("it is not UTF-8 text") from error


def parse(text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """The tables of a text. Raises ValueError that says what is wrong and where."""
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise ValueError("its values are nested too deep") from None
    except DecimalException:
        raise ValueError("a number has an exponent that is too large") from None
