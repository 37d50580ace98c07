"""List prices of the runs in the store. Prices are looked up here; the arithmetic is SQL (`sql/pricing/`), always in DECIMAL.

The same steps price new runs at ingest, runs whose chain changed, and the whole store after a new price file or library.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from ingest.prices.price_file import parse_price_file
from ingest.store.database import Store, Writer, made, run_step
from ingest.store.statements import run
from schemas.rows.cost import COST_RULES
from schemas.rows.price import SMALLEST_RATE, ModelKey, PriceFileRow, Rates

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

PRICED = (
    "cost_list_usd", "cost_delta_usd", "cost_cause", "cost_uncached_usd", "cost_cache_write_usd", "price_status", "unpriced_tokens",
    "findings", "error_findings",
)  # fmt: skip
"""The columns of runs that pricing writes. Findings are among them, since pricing adds some."""

_FOUND = {
    "09_differing": "judged where cause is not null",
    "10_unlisted": "totals where unlisted > 0.000001",
    "11_unpriced": "touched left join totals using (run_id) where cost_list_usd is null",
}
"""The steps that write findings, and among which runs: most ingests have none for two of them, and to plan a step takes its time."""

_REGISTERED = ("prices", "alternatives", "rules")


def reprice(store: Store, own: PriceFileRow | None = None, *, forget: bool = False) -> int:
    """Price every run of the store again, without reading records. Returns the number of runs.

    `own`: a price file that replaces the one in the store; `forget`: from now on use no price file. Raises StoreError.
    """
    with store.writing(make=False) as writer:
        if own or forget:
            keep_price_file(writer, own)
        price(writer, "select run_id from runs")
        [(runs,)] = run(writer.connection, "select count(*) from runs").fetchall()
    return int(runs)


def keep_price_file(writer: Writer, own: PriceFileRow | None) -> bool:
    """Replace the price file of the store; None: remove it. Returns whether the prices changed."""
    before = run(writer.connection, "select text from price_files").fetchall()
    run(writer.connection, "delete from price_files")
    if own:
        writer.insert("price_files", [own])
    return before != ([(own.text,)] if own else [])


def stored_book(connection: duckdb.DuckDBPyConnection) -> PriceBook:
    """The prices of a store: its price file, then the library, which is imported only here (0.15 s)."""
    from ingest.prices.price_book import PriceBook

    rows = run(connection, "select name, text from price_files").fetchall()
    return PriceBook(parse_price_file(*rows[0]) if rows else None)


def price(writer: Writer, runs: str) -> None:
    """Price runs that are in the store (`runs`: SQL that selects their ids): model rows, sums, and findings on differences."""
    connection = writer.connection
    run(connection, f"delete from findings where rule in (select unnest($rules)) and run_id in ({runs})", {"rules": list(COST_RULES)})
    price_touched(
        connection,
        "select run_id, cost_own_usd, chain_position > 1 as continues, cast(coalesce(started_at, ended_at, received_at) as date) as day"
        f" from runs left join sources using (source_id) where run_id in ({runs})",
    )
    columns = ", ".join(f"{column} = priced_runs.{column}" for column in PRICED)
    run(connection, f"update runs set {columns} from priced_runs where runs.run_id = priced_runs.run_id")


def price_touched(connection: duckdb.DuckDBPyConnection, touched: str) -> None:
    """Price the model rows of some runs and write findings on differences. They have no such findings, and need not be in the store yet.

    `touched`: SQL that selects run_id, cost_own_usd, continues (another record) and the day of the prices. The columns PRICED of the runs
    are left in the temporary table `priced_runs`, by run_id.
    """
    made(connection, "touched", touched)
    run_step(connection, "pricing/01_costs_at")
    run_step(connection, "pricing/02_counted")
    prices = _prices(connection)
    for name, table in zip(_REGISTERED, (prices_table(prices), _alternatives_table(prices), _rules_table()), strict=True):
        connection.register(name, table)
    run_step(connection, "pricing/03_priced")
    is_any_unlike = run(connection, "select 1 from unlike limit 1").fetchone()
    for is_likely in (True, False) if is_any_unlike else ():
        [(near,)] = run_step(connection, "pricing/04_near", {"is_likely": is_likely})
        if near:
            run_step(connection, "pricing/05_explained")
    for step in ("06_unexplained", "07_model_rows", "08_totals"):
        run_step(connection, f"pricing/{step}")
    _note_findings(connection)
    run_step(connection, "pricing/12_runs")
    for name in _REGISTERED:
        connection.unregister(name)


def _note_findings(connection: duckdb.DuckDBPyConnection) -> None:
    found = [step for step, runs in _FOUND.items() if run(connection, f"select 1 from {runs} limit 1").fetchone()]
    for step in ["usd_text", *found] if found else []:
        run_step(connection, f"pricing/{step}")


def _prices(connection: duckdb.DuckDBPyConnection) -> list[Price]:
    keys = run(connection, "select distinct model_id, model, provider, region from counted where model_id is not null").fetchall()
    if not keys:
        return []
    book = stored_book(connection)
    return [found for key in sorted(keys, key=str) for found in book.prices(ModelKey(*key))]


def prices_table(prices: Sequence[Price]) -> pa.Table:
    """One row per price: its model, days, source and rates."""
    texts = {name: pa.array([getattr(price.key, name) for price in prices], pa.string()) for name in ModelKey._fields}
    days = {name: pa.array([getattr(price, name) for price in prices], pa.date32()) for name in ("since", "until")}
    others = {
        "price_no": pa.array(range(len(prices)), pa.int64()),
        "source": pa.array([price.source for price in prices], pa.string()),
        "has_tiers": pa.array([price.has_tiers for price in prices], pa.bool_()),
        "rates": rates_array([price.rates for price in prices]),
    }
    return pa.table(texts | days | others)


def _alternatives_table(prices: Sequence[Price]) -> pa.Table:
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


def _rules_table() -> pa.Table:
    severities = [rule.severity for rule in COST_RULES.values()]
    return pa.table({"rule": pa.array(list(COST_RULES), pa.string()), "severity": pa.array(severities, pa.string())})


def rates_array(rates: Sequence[Rates]) -> pa.StructArray:
    """Rates as SQL multiplies them: a struct of DECIMALs."""
    columns = {word: _exact([getattr(one, field) for one in rates]) for word, field in RATE_WORDS.items()}
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
