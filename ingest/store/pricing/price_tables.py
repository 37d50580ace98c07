"""Prices as the tables that SQL multiplies with: rates are DECIMALs."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from ingest.prices.price_file import parse_price_file
from ingest.store.statements import run
from schemas.rows.cost import COST_RULES
from schemas.rows.price import SMALLEST_RATE, ModelKey, Rates

if TYPE_CHECKING:
    from ingest.prices.price_book import Price, PriceBook

RATE = pa.decimal128(18, 15)
"""USD per token: up to 999, to 15 decimals."""

RATE_WORDS = {
    "input": "input",
    "output": "output",
    "cache_read": "cache_read",
    "write_5m": "cache_write_5m",
    "write_1h": "cache_write_1h",
    "web_search": "web_search",
}
"""A rate's name in SQL → its field in `Rates`."""


def stored_book(connection: duckdb.DuckDBPyConnection) -> PriceBook:
    """The prices of a store: its price file, then the library, which is imported only here (0.15 s)."""
    from ingest.prices.price_book import PriceBook

    rows = run(connection, "select name, text from price_files").fetchall()
    return PriceBook(parse_price_file(*rows[0]) if rows else None)


def prices_table(prices: Sequence[Price]) -> pa.Table:
    """One row per price: its model, days, source and rates."""
    texts = {name: pa.array([getattr(price.key, name) for price in prices], pa.string()) for name in ModelKey._fields}
    days = {name: pa.array([getattr(price, name) for price in prices], pa.date32()) for name in ("since", "until")}
    others = {
        "price_no": pa.array(range(len(prices)), pa.int64()),
        "source": pa.array([price.source for price in prices], pa.string()),
        "gateway": pa.array([price.gateway for price in prices], pa.string()),
        "has_tiers": pa.array([price.has_tiers for price in prices], pa.bool_()),
        "rates": rates_array([price.rates for price in prices]),
    }
    return pa.table(texts | days | others)


def alternatives_table(prices: Sequence[Price]) -> pa.Table:
    """Every alternative of every price, in the order of `rank`. `one_hour_from` is NULL where 1-hour writes are priced as such."""
    rows = [(number, rank, one) for number, price in enumerate(prices) for rank, one in enumerate(price.alternatives)]
    return pa.table(
        {
            "price_no": pa.array([number for number, _, _ in rows], pa.int64()),
            "rank": pa.array([rank for _, rank, _ in rows], pa.int64()),
            "cause": pa.array([str(one.cause) for _, _, one in rows], pa.string()),
            "words": pa.array([one.words for _, _, one in rows], pa.string()),
            "is_likely": pa.array([one.is_likely for _, _, one in rows], pa.bool_()),
            "one_hour_from": _exact([one.one_hour_from for _, _, one in rows]),
            "rates": rates_array([one.rates for _, _, one in rows]),
            "rough_rates": _rough_rates([one.rates for _, _, one in rows]),
        }
    )


def rules_table() -> pa.Table:
    severities = [rule.severity for rule in COST_RULES.values()]
    return pa.table({"rule": pa.array(list(COST_RULES), pa.string()), "severity": pa.array(severities, pa.string())})


def rates_array(rates: Sequence[Rates | None]) -> pa.StructArray:
    """Rates as SQL multiplies them: a struct of DECIMALs, each NULL where no rates are known."""
    columns = {word: _exact([None if one is None else getattr(one, field) for one in rates]) for word, field in RATE_WORDS.items()}
    return pa.StructArray.from_arrays(list(columns.values()), list(columns))


def _rough_rates(rates: Sequence[Rates]) -> pa.StructArray:
    """The same as floats, to find the rates that are worth an exact sum; a search without a price counts as 0."""
    columns = {word: pa.array([float(getattr(one, field) or 0) for one in rates], pa.float64()) for word, field in RATE_WORDS.items()}
    return pa.StructArray.from_arrays(list(columns.values()), list(columns))


def _exact(rates: Sequence[Decimal | None]) -> pa.Array:
    return pa.array([None if rate is None else _to_the_smallest(rate) for rate in rates], RATE)


@lru_cache(maxsize=4096)  # there are few prices: many models and alternatives share them
def _to_the_smallest(rate: Decimal) -> Decimal:
    return rate.quantize(SMALLEST_RATE)
