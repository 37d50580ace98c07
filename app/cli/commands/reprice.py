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
    help="Price file (TOML) that wins over list prices: contracts, discounts, local models. The store keeps it.",
)


@click.command(epilog=examples("reprice", "reprice --prices contract.toml", "reprice --no-price-file"))
@prices_option
@click.option("--no-price-file", "forget", is_flag=True, help="Forget the store's price file: list prices alone from now on.")
@with_store
def reprice(prices: Path | None, store: Store, *, forget: bool) -> None:
    """Price all runs anew, after an upgrade of the price library or with other prices.

    List costs come from the library genai-prices, per provider, region and day of the run, and from the store's price file, which
    wins. They are computed at ingest and kept; no record is read again here. Later ingests use the same price file.
    """
    if prices and forget:
        raise click.UsageError("--prices and --no-price-file exclude each other.")
    with terminal.told_interrupts(store):
        from ingest.prices.price_file import read_price_file
        from ingest.store.repricing import reprice as reprice_store

        own = read_price_file(prices) if prices else None
        done = reprice_store(store, own, forget=forget)
        terminal.note(f"Priced {plural(done, 'run')} anew in {one_line(store.location)}")
