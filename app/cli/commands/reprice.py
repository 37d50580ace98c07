"""`tachograph reprice`: other prices for what the store holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.cli import terminal
from app.cli.options import examples, with_store
from schemas.text import one_line, plural

if TYPE_CHECKING:
    from ingest.store.database import Store

prices_option = click.option(
    "--prices",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Price file (TOML) that overrides list prices: contracts, discounts, local models. Kept in the store.",
)


@click.command(epilog=examples("reprice", "reprice --prices contract.toml", "reprice --no-price-file"))
@prices_option
@click.option("--no-price-file", "forget", is_flag=True, help="Remove the price file; use list prices only.")
@with_store
def reprice(prices: Path | None, store: Store, *, forget: bool) -> None:
    """Reprice all runs: after an upgrade of the price library, or with other prices.

    List prices come from the library genai-prices, per provider, region and day of the run; the store's price file overrides them.
    Costs are computed at ingest and kept; no record is read again. Later ingests use the same price file.
    """
    if prices and forget:
        raise click.UsageError("--prices and --no-price-file cannot be used together.")
    with terminal.told_interrupts(store):
        from ingest.prices.price_file import read_price_file
        from ingest.store.pricing import reprice as reprice_store

        own = read_price_file(prices) if prices else None
        done = reprice_store(store, own, forget=forget)
        terminal.note(f"Repriced {plural(done, 'run')} in {one_line(store.location)}")
