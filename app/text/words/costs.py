"""Words for shares of cost, types of tokens, and the difference to list prices. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from app.queries.runs import KNOWN_SUFFIX
from app.text.formatting import human
from schemas.catalogue.columns import GROUPS
from schemas.units import Unit

TOKEN_CLASSES = {key: GROUPS[key].label for key in ("cache_read_tokens", "cache_write_tokens", "input_tokens", "output_tokens")}
"""Classes of tokens and what charts call them, those of which there are most first."""

Row = Mapping[str, Any]


def percent(share: Decimal) -> str:
    """`98%`; never rounded up to a whole that it is not, nor down to nothing."""
    if share > Decimal("0.99"):
        return "100%" if share == 1 else "over 99%"
    return f"{share * 100:.0f}%" if share >= Decimal("0.01") or not share else "under 1%"


def base_words(row: Row) -> str:
    """`vs. $487.02 reported, 415 runs`."""
    runs = int(row[f"cost_compared_usd{KNOWN_SUFFIX}"])
    return f"vs. {human(row['cost_compared_usd'], Unit.USD)} reported, {runs:,} run{'' if runs == 1 else 's'}"
