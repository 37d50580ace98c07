"""Hostile inputs: families of bytes of any size, each the same for the same size."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.conftest import record_text


def families() -> dict[str, Callable[[int], bytes]]:
    """Name → a function of a size in bytes that gives about so many."""
    return {
        "file/noise": lambda size: random.Random(size).randbytes(size),
        "line/braces-quote": lambda size: b'{"' * (size // 2),
        "line/nested": lambda size: b'{"a":' * (size // 6) + b"1" + b"}" * (size // 6),
        "text/percent": lambda size: record_text(uuid="percent", result="50% " * (size // 4)).encode(),
        "file/models": lambda size: record_text(uuid="models", modelUsage={f"m{n}": {"costUSD": 0} for n in range(size // 20)}).encode(),
    }
