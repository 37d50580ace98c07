"""List prices of responses: each has the price of its own day, prompt size and way of being served. The arithmetic is SQL.

The steps in `sql/response_prices/` price the responses of the runs in the temporary table `touched`. Model rows that are the sums of
responses cost what these cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from ingest.store.database import run_step
from ingest.store.pricing.price_tables import rates_array, stored_book
from ingest.store.statements import run
from schemas.rows.price import ModelKey, Service

if TYPE_CHECKING:
    from ingest.prices.price_book import RequestPrice

_SERVICES = "select service_no, model_id, model, provider, region, speed, service_tier, inference_geo from services"


def price_responses(connection: duckdb.DuckDBPyConnection) -> bool:
    """Price the responses of the runs in `touched` and leave their sums in `response_sums`. Returns whether there are any."""
    if not run(connection, "select 1 from responses semi join touched using (run_id) limit 1").fetchone():
        return False
    for step in ("01_macros", "02_services"):
        run_step(connection, f"response_prices/{step}")
    connection.register("request_prices", _request_prices(connection))
    for step in ("03_written", "04_sums"):
        run_step(connection, f"response_prices/{step}")
    connection.unregister("request_prices")
    return True


def use_response_sums(connection: duckdb.DuckDBPyConnection) -> None:
    """Give the model rows in `priced` the costs of their responses."""
    run_step(connection, "response_prices/05_rows")


def explain_base_rates(connection: duckdb.DuckDBPyConnection) -> None:
    """Find the rows in `unlike` that the agent priced at base rates although their responses have others: `explained`."""
    run_step(connection, "response_prices/09_base_rates")


def note_outside(connection: duckdb.DuckDBPyConnection) -> None:
    """Write findings on reported totals that differ from what the responses of their transcripts cost, from `response_sums`."""
    for step in ("pricing/usd_text", "response_prices/06_outside", "response_prices/07_outside_findings"):
        run_step(connection, step)


def name_causes(connection: duckdb.DuckDBPyConnection) -> None:
    """Write the cause of what `note_outside` found into `priced_runs`."""
    run_step(connection, "response_prices/08_causes")


def _request_prices(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """The prices of all services: one row per service, period of time and size of the prompt."""
    book = stored_book(connection)
    services = [(number, ModelKey(*key[:4]), Service(*key[4:])) for number, *key in run(connection, _SERVICES).fetchall()]
    return _table([(number, price) for number, key, service in services for price in book.request_prices(key, service)])


def _table(prices: Sequence[tuple[int, RequestPrice]]) -> pa.Table:
    return pa.table(
        {
            "service_no": pa.array([number for number, _ in prices], pa.int64()),
            "since": pa.array([price.since for _, price in prices], pa.date32()),
            "until": pa.array([price.until for _, price in prices], pa.date32()),
            "above": pa.array([price.band.above for _, price in prices], pa.int64()),
            "up_to": pa.array([price.band.up_to for _, price in prices], pa.int64()),
            "rates": rates_array([price.band.rates for _, price in prices]),
            "source": pa.array([price.source for _, price in prices], pa.string()),
            "words": pa.array([", ".join(price.words) or None for _, price in prices], pa.string()),
        }
    )
