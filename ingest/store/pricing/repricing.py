"""List prices of the runs in the store. Prices are looked up here; the arithmetic is SQL (`sql/pricing/`), always in DECIMAL.

Responses are priced one by one (`response_prices`), and model rows that are their sums cost what they cost. All other rows cost their sums
of tokens at the base rates. The same steps price new runs at ingest, runs whose chain or responses changed, and the whole store after a
new price file or library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

from ingest.store.database import Store, Writer, made, run_step
from ingest.store.pricing.price_tables import alternatives_table, prices_table, rules_table, stored_book
from ingest.store.pricing.response_prices import (
    explain_base_rates,
    name_causes,
    note_outside,
    price_responses,
    use_response_sums,
)
from ingest.store.statements import run
from schemas.rows.cost import COST_RULES
from schemas.rows.price import ModelKey, PriceFileRow

if TYPE_CHECKING:
    from ingest.prices.price_book import Price

PRICED = (
    "cost_list_usd", "cost_delta_usd", "cost_cause", "cost_uncached_usd", "cost_cache_write_usd", "price_status", "unpriced_tokens",
    "findings", "error_findings",
)  # fmt: skip
"""The columns of runs that pricing writes. Findings are among them, since pricing adds some."""

_FOUND = {
    "10_differing": "judged where cause is not null",
    "11_unlisted": "totals where unlisted > 0.000001",
    "12_unpriced": "touched left join totals using (run_id) where cost_list_usd is null",
}
"""The steps that write findings, and among which runs: most ingests have none for two of them, and to plan a step takes its time."""

_REGISTERED = ("prices", "alternatives", "rules")


def reprice(store: Store, own: PriceFileRow | None = None, *, forget: bool = False) -> int:
    """Price every run of the store again, without reading records. Returns the number of runs.

    `own`: a price file that replaces the one in the store; `forget`: from now on use no price file. Raises StoreError.
    """

    def repriced(writer: Writer) -> int:
        if own or forget:
            keep_price_file(writer, own)
        price(writer, "select run_id from runs")
        [(runs,)] = run(writer.connection, "select count(*) from runs").fetchall()
        return int(runs)

    return store.write(repriced, make=False)


def keep_price_file(writer: Writer, own: PriceFileRow | None) -> bool:
    """Replace the price file of the store; None: remove it. Returns whether the prices changed."""
    before = run(writer.connection, "select text from price_files").fetchall()
    run(writer.connection, "delete from price_files")
    if own:
        writer.insert("price_files", [own])
    return before != ([(own.text,)] if own else [])


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


def price_touched(connection: duckdb.DuckDBPyConnection, touched: str, *, has_responses: bool = True) -> None:
    """Price the model rows of some runs and write findings on differences. They have no such findings, and need not be in the store yet.

    `touched`: SQL that selects run_id, cost_own_usd, continues (another record) and the day of the prices. The columns PRICED of the runs
    are left in the temporary table `priced_runs`, by run_id. `has_responses`: whether runs may have responses; those are priced first.
    """
    made(connection, "touched", touched)
    run_step(connection, "pricing/01_costs_at")
    run_step(connection, "pricing/02_counted")
    prices = _prices(connection)
    for name, table in zip(_REGISTERED, (prices_table(prices), alternatives_table(prices), rules_table()), strict=True):
        connection.register(name, table)
    run_step(connection, "pricing/03_priced")
    if has_responses := has_responses and price_responses(connection):
        use_response_sums(connection)
    _explain(connection, has_responses=has_responses)
    for step in ("08_model_rows", "09_totals"):
        run_step(connection, f"pricing/{step}")
    _note_findings(connection)
    if has_responses:
        note_outside(connection)
    run_step(connection, "pricing/13_runs")
    if has_responses:
        name_causes(connection)
    for name in _REGISTERED:
        connection.unregister(name)


def _explain(connection: duckdb.DuckDBPyConnection, *, has_responses: bool) -> None:
    """Find the causes of differences: `judged`."""
    run_step(connection, "pricing/04_unlike")
    is_any_unlike = run(connection, "select 1 from unlike limit 1").fetchone()
    if is_any_unlike and has_responses:
        explain_base_rates(connection)
    for is_likely in (True, False) if is_any_unlike else ():
        [(near,)] = run_step(connection, "pricing/05_near", {"is_likely": is_likely})
        if near:
            run_step(connection, "pricing/06_explained")
    run_step(connection, "pricing/07_unexplained")


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
