"""The id of a record that has none: a hash of its content, independent of how the JSON is written."""

from __future__ import annotations

import hashlib
import json
import re
from decimal import Decimal
from typing import Any

_WHOLE_FLOAT = re.compile(r"\d(?:\.0|e\+\d+)[,}\]]")


def canonical_hash(value: Any) -> str:
    """sha256 (hex) of a JSON value, whatever its key order and white space, and however its numbers are spelled (1, 1.0, 10e-1)."""
    canonical = _canonical(value)
    if _WHOLE_FLOAT.search(canonical):
        canonical = _canonical(json.loads(canonical, parse_float=_whole_if_exact))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _whole_if_exact(number: str) -> int | float:
    """A float that is a whole number as an int, exactly as written: 1e23 is 10**23, though the nearest float is not."""
    exact = Decimal(number)
    return int(exact) if exact == exact.to_integral_value() else float(number)
