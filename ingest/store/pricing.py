"""List prices of the runs in the store.

Prices are looked up here; the arithmetic is SQL (`sql/pricing/`), always in DECIMAL.

Responses are priced one by one (`sql/response_prices/`), by day, prompt size and way of being
served. Model rows that sum responses cost as much as these. All other rows cost their sums of
tokens at the base rates. The same steps price new runs at ingest, runs whose chain or responses
changed, and the whole store after a new price file or library.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from ingest.prices.library import keep_prices
from ingest.store.database import Store, Writer, made, registered, run_step
from schemas.catalogue.figures import IS_DATED_BY_LABEL
from schemas.rows.cost import COST_RULES
from schemas.rows.price import SMALLEST_RATE, ModelKey, PriceFileRow, Rates, Service

if TYPE_CHECKING:
    from ingest.prices.price_book import Price, PriceBook

PRICED = (
    "model",
    "provider",
    "region",
    "cost_list_usd",
    "cost_delta_usd",
    "cost_cause",
    "cost_uncached_usd",
    "cost_cache_write_usd",
    "price_status",
    "unpriced_tokens",
    "tokens_basis",
    "findings",
    "error_findings",
)
"""Columns of runs that pricing writes, including the main model, which is the one that cost most,
and findings, since pricing adds some.
"""

WORDS = (
    "case when outcome in ('completed', 'unknown') and output_tokens > 0 and length(result) "
    "> 4 * output_tokens then coalesce(list_sum([(length(word) + 31) // 32 for word in "
    r"regexp_extract_all(result, '[\pL\pN_]+')]), 0)::bigint end as final_words"
)
"""SQL of the words of a run's final text, in pieces of up to 32 letters, where they may be more
than its tokens. An error's text is not the model's. (`{1,32}` in the pattern takes 50 ms to
compile, and fifty times as long to match.)
"""

RATE = pa.decimal128(18, 15)
"""USD per token: up to 999, with 15 decimals."""

RATE_WORDS = {
    "input": "input",
    "output": "output",
    "cache_read": "cache_read",
    "write_5m": "cache_write_5m",
    "write_1h": "cache_write_1h",
    "web_search": "web_search",
}


def reprice(store: Store, own: PriceFileRow | None = None, *, forget: bool = False) -> int:
    """Price every run of the store again, without reading records. Returns the number of runs.

    `own`: a price file that replaces the one in the store; `forget`: from now on use no price file.
    Raises StoreError.
    """

    def repriced(writer: Writer) -> int:
        if own or forget:
            keep_price_file(writer, own)
        price(writer, "select run_id from runs")
        [(runs,)] = writer.connection.execute("select count(*) from runs").fetchall()
        return int(runs)

    return store.write(repriced, make=False)


def keep_price_file(writer: Writer, own: PriceFileRow | None) -> bool:
    """Replace the price file of the store; None removes it. Returns whether the prices changed."""
    before = writer.connection.execute("select text from price_files").fetchall()
    writer.connection.execute("delete from price_files")
    if own:
        writer.insert("price_files", [own])
    return before != ([(own.text,)] if own else [])


def price(writer: Writer, runs: str) -> None:
    """Price runs of the store (`runs`: SQL that selects their ids).

    Model rows, sums, and findings on differences.
    """
    connection = writer.connection
    rules = {"rules": list(COST_RULES)}
    connection.execute(
        f"delete from findings where rule in (select unnest($rules)) and run_id in ({runs})", rules
    )
    price_touched(connection, _touched(runs))
    columns = ", ".join(f"{column} = priced_runs.{column}" for column in PRICED)
    connection.execute(
        f"update runs set {columns} from priced_runs where runs.run_id = priced_runs.run_id"
    )


def _touched(runs: str) -> str:
    """Return SQL of what prices need of runs of the store (`runs`: SQL that selects their ids)."""
    return (
        "select runs.run_id, cost_own_usd, chain_position > 1 as continues, tokens_basis as "
        f"run_basis, {WORDS}, cast(coalesce(case when {IS_DATED_BY_LABEL} then given_at end, "
        "started_at, ended_at, received_at) as date) as day from runs left join sources using "
        "(source_id) left join annotations on annotations.run_id = runs.run_id where "
        f"runs.run_id in ({runs})"
    )


@contextmanager
def with_prices(connection: duckdb.DuckDBPyConnection, run_ids: Sequence[str]) -> Iterator[None]:
    """Let SQL read how some runs of the store are priced, within the block; nothing is written.

    Model rows in `counted` with the table `prices`, responses in `requests`.
    """
    chosen = pa.table({"run_id": pa.array(list(run_ids), pa.string())})
    with registered(connection, chosen_runs=chosen):
        made(connection, "touched", _touched("select run_id from chosen_runs"))
    run_step(connection, "pricing/02_counted")
    run_step(connection, "response_prices/01_services")
    prices = prices_table(_model_prices(connection))
    with registered(connection, prices=prices, request_prices=_request_prices(connection)):
        run_step(connection, "response_prices/02_requests")
        yield


def _model_prices(connection: duckdb.DuckDBPyConnection) -> list[Price]:
    """Return the prices of the models in `counted`."""
    keys = connection.execute(
        "select distinct model_id, model, provider, region from counted where model_id is not null"
    ).fetchall()
    if not keys:
        return []
    book = stored_book(connection)
    found = [price for key in sorted(keys, key=str) for price in book.prices(ModelKey(*key))]
    keep_prices()
    return found


def _request_prices(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Return the prices of the requests in `services`, by day and size of the prompt."""
    services = (
        "select service_no, model_id, model, provider, region, speed, service_tier, "
        "inference_geo from services"
    )
    book = stored_book(connection)
    prices = [
        (number, price)
        for number, *key in connection.execute(services).fetchall()
        for price in book.request_prices(ModelKey(*key[:4]), Service(*key[4:]))
    ]
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


def price_touched(
    connection: duckdb.DuckDBPyConnection, touched: str, *, has_responses: bool = True
) -> None:
    """Price the model rows of some runs and write findings on differences. They must not have any.

    The runs need not be in the store yet. `touched`: SQL that selects run_id, cost_own_usd,
    continues (another record), run_basis (of its tokens), WORDS and the day of the prices. The
    columns PRICED of the runs are left in the temporary table `priced_runs`, by run_id.
    `has_responses`: whether runs may have responses; those are priced first.
    """
    made(connection, "touched", touched)
    run_step(connection, "pricing/01_costs_at")
    severities = {
        "rule": list(COST_RULES),
        "severity": [rule.severity for rule in COST_RULES.values()],
    }
    rules = pa.table({name: pa.array(values, pa.string()) for name, values in severities.items()})
    made(connection, "too_few", "select null::varchar as run_id limit 0")
    if connection.execute("select 1 from touched where final_words is not null limit 1").fetchall():
        with registered(connection, rules=rules):
            run_step(connection, "pricing/01_too_few")
    run_step(connection, "pricing/02_counted")
    prices = _model_prices(connection)
    with registered(
        connection,
        prices=prices_table(prices),
        alternatives=_alternatives_table(prices),
        rules=rules,
    ):
        run_step(connection, "pricing/03_priced")
        has_responses = has_responses and _price_responses(connection)
        if has_responses:
            run_step(connection, "response_prices/05_rows")
        _explain(connection, has_responses=has_responses)
        run_step(connection, "pricing/08_model_rows")
        run_step(connection, "pricing/09_totals")
        _note_findings(connection)
        if has_responses:
            for step in (
                "pricing/usd_text",
                "response_prices/06_outside",
                "response_prices/07_outside_findings",
            ):
                run_step(connection, step)
        run_step(connection, "pricing/13_runs")
        if has_responses:
            run_step(connection, "response_prices/08_causes")


def _price_responses(connection: duckdb.DuckDBPyConnection) -> bool:
    """Price the responses of the runs in `touched` and leave their sums in `response_sums`.

    Returns whether there are any.
    """
    if not connection.execute(
        "select 1 from responses semi join touched using (run_id) limit 1"
    ).fetchone():
        return False
    run_step(connection, "response_prices/01_services")
    with registered(connection, request_prices=_request_prices(connection)):
        for step in ("02_requests", "03_written", "04_sums"):
            run_step(connection, f"response_prices/{step}")
    return True


def _explain(connection: duckdb.DuckDBPyConnection, *, has_responses: bool) -> None:
    """Find the causes of differences, into the table `judged`."""
    run_step(connection, "pricing/04_unlike")
    if connection.execute("select 1 from unlike limit 1").fetchone():
        if has_responses:
            run_step(connection, "response_prices/09_base_rates")
        for is_likely in (True, False):
            [(near,)] = run_step(connection, "pricing/05_near", {"is_likely": is_likely})
            if near:
                run_step(connection, "pricing/06_explained")
    run_step(connection, "pricing/07_unexplained")


def _note_findings(connection: duckdb.DuckDBPyConnection) -> None:
    """Write findings.

    Steps without runs are skipped, since planning one takes time; most ingests skip two.
    """
    concerned = {
        "10_differing": "judged where cause is not null",
        "11_unlisted": "totals where unlisted > 0.000001",
        "12_unpriced": "touched left join totals using (run_id) where cost_list_usd is null",
    }
    steps = [
        step
        for step, runs in concerned.items()
        if connection.execute(f"select 1 from {runs} limit 1").fetchone()
    ]
    for step in ["usd_text", *steps] if steps else []:
        run_step(connection, f"pricing/{step}")


# Prices as the tables that SQL multiplies with: rates are DECIMALs


def stored_book(connection: duckdb.DuckDBPyConnection) -> PriceBook:
    """Return the prices of a store.

    Its price file, then those of the library.
    """
    from ingest.prices.price_book import PriceBook
    from ingest.prices.price_file import parse_price_file

    rows = connection.execute("select name, text from price_files").fetchall()
    return PriceBook(parse_price_file(*rows[0]) if rows else None)


def prices_table(prices: Sequence[Price]) -> pa.Table:
    """Return one row per price: model, days, source and rates."""
    texts = {
        name: pa.array([getattr(price.key, name) for price in prices], pa.string())
        for name in ModelKey._fields
    }
    days = {
        name: pa.array([getattr(price, name) for price in prices], pa.date32())
        for name in ("since", "until")
    }
    others = {
        "price_no": pa.array(range(len(prices)), pa.int64()),
        "source": pa.array([price.source for price in prices], pa.string()),
        "gateway": pa.array([price.gateway for price in prices], pa.string()),
        "has_tiers": pa.array([price.has_tiers for price in prices], pa.bool_()),
        "rates": rates_array([price.rates for price in prices]),
    }
    return pa.table(texts | days | others)


def _alternatives_table(prices: Sequence[Price]) -> pa.Table:
    """Return every alternative of every price, in the order of `rank`.

    `one_hour_from` is NULL where 1-hour writes are priced as such.

    `rough_rates`: the rates as floats, to select candidates for an exact sum; a search without a
    price counts as 0.
    """
    rows = [
        (number, rank, one)
        for number, price in enumerate(prices)
        for rank, one in enumerate(price.alternatives)
    ]
    found = [one for _, _, one in rows]
    rough = [
        pa.array([float(getattr(one.rates, field) or 0) for one in found], pa.float64())
        for field in RATE_WORDS.values()
    ]
    return pa.table(
        {
            "price_no": pa.array([number for number, _, _ in rows], pa.int64()),
            "rank": pa.array([rank for _, rank, _ in rows], pa.int64()),
            "cause": pa.array([str(one.cause) for one in found], pa.string()),
            "words": pa.array([one.words for one in found], pa.string()),
            "is_likely": pa.array([one.is_likely for one in found], pa.bool_()),
            "one_hour_from": _exact([one.one_hour_from for one in found]),
            "rates": rates_array([one.rates for one in found]),
            "rough_rates": pa.StructArray.from_arrays(rough, list(RATE_WORDS)),
        }
    )


def rates_array(rates: Sequence[Rates | None]) -> pa.StructArray:
    """Return rates as SQL multiplies them: a struct of DECIMALs, each NULL if rates are unknown."""
    columns = [
        _exact([None if one is None else getattr(one, field) for one in rates])
        for field in RATE_WORDS.values()
    ]
    return pa.StructArray.from_arrays(columns, list(RATE_WORDS))


def _exact(rates: Sequence[Decimal | None]) -> pa.Array:
    return pa.array([None if rate is None else _to_the_smallest(rate) for rate in rates], RATE)


@lru_cache(maxsize=4096)  # there are few prices: many models and alternatives share them
def _to_the_smallest(rate: Decimal) -> Decimal:
    return rate.quantize(SMALLEST_RATE)
