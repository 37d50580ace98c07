"""Prices as genai-prices has them: importing it takes a tenth of a second.

A price has a base tier, and for some models long-context tiers, which depend on the prompt of each
request. Prices by the time of day are ignored in favour of the standard ones.

The library multiplies one request in 0.15 ms, SQL a million in a second: so its rates are read
here, and a test compares the results with the library's own for every model that it has.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from importlib.metadata import version
from types import ModuleType

from ingest.prices.library import ANTHROPIC, PricePeriod
from ingest.prices.model_ids import LOCAL_PROVIDERS, is_free, makers, parse_model_id
from schemas.rows.price import (
    BEGINNING,
    MILLION,
    SMALLEST_RATE,
    THOUSAND,
    ModelKey,
    Rates,
    TieredRates,
)


def _spare_updates() -> None:
    """Import the library without its network updates.

    Their HTTP client and asyncio take half of the import time.

    A later import of the updates works.
    """
    if "genai_prices" in sys.modules:
        return
    name = "genai_prices.update_prices"
    nothing = ModuleType(name)
    nothing.__getattr__ = lambda _: None  # type: ignore[method-assign]  # for the names that the library imports from them
    sys.modules[name] = nothing
    try:
        import genai_prices  # noqa: F401, PLC0415
    finally:
        del sys.modules[name]


_spare_updates()

from genai_prices.data_snapshot import DataSnapshot, get_snapshot  # noqa: E402
from genai_prices.types import ModelInfo, ModelPrice, StartDateConstraint, TieredPrices  # noqa: E402

_LONG_INPUT, _LONG_OUTPUT = Decimal(2), Decimal("1.5")


_PROXY = re.compile(r"litellm|proxy|gateway", re.IGNORECASE)
_CONTEXT_SUFFIX = re.compile(r"\[[^\]]*\]$")


def periods(key: ModelKey) -> tuple[PricePeriod, ...]:
    """Return the model's prices in order of time; none for a model missing from the library."""
    found = _found(key)
    if found is None:
        return ()
    provider_id, model, gateway = found
    source = (
        f"genai-prices {version('genai-prices')}: "
        f"{provider_id}/{model.id}{f', behind the gateway {gateway}' if gateway else ''}"
    )
    made = (_period(model, day, source, provider_id) for day in _boundaries(model))
    return tuple(replace(period, gateway=gateway) for period in made if period)


def newest_price(until: date) -> date:
    """Return the last day up to `until` on which a price of the library begins.

    Its age, since the library has no date itself.
    """
    models = (model for provider in get_snapshot().providers for model in provider.models)
    return max(day for model in models for day in _boundaries(model) if day <= until)


def claude_rates() -> tuple[tuple[str, Rates], ...]:
    """Return every price that Anthropic ever charged for a Claude model, each once.

    Each comes with the first model (by name) that had it.
    """
    [provider] = [provider for provider in get_snapshot().providers if provider.id == ANTHROPIC]
    found: dict[Rates, str] = {}
    for model in sorted(provider.models, key=lambda model: model.id):
        for day in _boundaries(model):
            if period := _period(model, day, model.id):
                found.setdefault(period.rates, model.id)
    return tuple((name, rates) for rates, name in found.items())


@cache
def known_models() -> tuple[tuple[str, str], ...]:
    """Return (provider, model) of every priced model of the library, by name."""
    return tuple(
        (provider.id, model.id)
        for provider in sorted(get_snapshot().providers, key=lambda provider: provider.id)
        for model in provider.models
        if _period(model, date.max, "")
    )


def _found(key: ModelKey) -> tuple[str, ModelInfo, str | None] | None:
    """Return provider and entry of the library, and the gateway of a resold model.

    The gateway is returned if the price is that of the maker of the model.

    Without a provider there is no price, since prices differ between providers. A provider that the
    library does not have is a gateway: a proxy, a reseller, a coding plan.
    """
    if key.provider is None:
        return None
    snapshot = get_snapshot()
    is_listed = any(provider.id == key.provider for provider in snapshot.providers)
    is_proxy = not is_listed and _PROXY.search(
        key.provider
    )  # the library takes such a name for that of any provider
    if not is_proxy and (model := _entry(snapshot, _references(key), key.provider)):
        return key.provider, model, None
    if key.model_id == key.model and (named := _by_name(snapshot, key)):
        return key.provider, named, None
    # The first two resell the models of makers at the makers' prices. Gateways speak the API of the
    # other two: a model of another maker that goes by their name comes from a gateway.
    resellers = ("openrouter", "github-copilot", ANTHROPIC, "openai")
    if (
        (is_listed and key.provider not in resellers)
        or key.provider.lower() in LOCAL_PROVIDERS
        or is_free(key.model_id)
    ):
        return None
    names_behind = (_CONTEXT_SUFFIX.sub("", key.model_id.strip()).rpartition("/")[2], key.model)
    for maker in makers(key.model, key.provider):
        if not _PROXY.search(maker) and (model := _entry(snapshot, names_behind, maker)):
            return maker, model, None if maker == key.provider else key.provider
    return None


def _entry(snapshot: DataSnapshot, references: Iterable[str], provider: str) -> ModelInfo | None:
    """Return the provider's entry for the first of these names that it has."""
    for reference in references:
        model = _lookup(snapshot, reference, provider)
        if model is not None and not _is_cut_short(snapshot, reference, provider, model):
            return model
    return None


def _by_name(snapshot: DataSnapshot, key: ModelKey) -> ModelInfo | None:
    """Return the entry for the plain name of a model, for providers whose ids have more parts.

    `claude-sonnet-4-5` on aws.
    """
    wanted = key.region == "global"
    for provider in snapshot.providers:
        for model in provider.models if provider.id == key.provider else ():
            is_global = model.id.startswith("global.")
            if (
                is_global == wanted
                and parse_model_id(model.id.removeprefix("regional.")).model == key.model
            ):
                return model
    return None


def _lookup(snapshot: DataSnapshot, reference: str, provider: str) -> ModelInfo | None:
    try:
        return snapshot.find_provider_model(reference, None, provider, None)[1]
    except LookupError:
        return None


def _references(key: ModelKey) -> Iterator[str]:
    """Yield the names to look up, best first.

    The id as logged, unless the record says that it means another model.
    """
    canonical = (
        f"{key.region}.anthropic.{key.model}"
        if key.provider == "aws" and key.region and "claude" in key.model
        else key.model
    )
    logged = _CONTEXT_SUFFIX.sub("", key.model_id.strip())
    if logged.startswith("arn:"):
        logged = logged.rpartition("/")[2]
    elif "/" in logged and key.provider != "openrouter":
        logged = logged.partition("/")[2]
    yield from (
        (logged, canonical) if parse_model_id(key.model_id).model == key.model else (canonical,)
    )


def _is_cut_short(snapshot: DataSnapshot, reference: str, provider: str, model: ModelInfo) -> bool:
    """Return whether the library matched only a prefix of the name.

    `claude-opus-4-65` is not `claude-opus-4-6`.

    An unknown model must not get the price of another one.
    """
    shortened = re.sub(r"(?<![\d])(\d{1,2})\d(?=$|[-@:.](?!\d{1,3}\b))", r"\1", reference, count=1)
    return shortened != reference and _lookup(snapshot, shortened, provider) is model


def _boundaries(model: ModelInfo) -> list[date]:
    """Return the first days of the model's prices and of their variants."""
    dated = [
        *(model.prices if isinstance(model.prices, list) else ()),
        *(model.price_variants or ()),
    ]
    starts = (
        price.constraint.start_date
        for price in dated
        if isinstance(price.constraint, StartDateConstraint)
    )
    return sorted({BEGINNING, *starts})


def _period(
    model: ModelInfo, day: date, source: str, provider: str | None = None
) -> PricePeriod | None:
    prices = _standard(model, day)
    tiered = _tiered(prices)
    if tiered is None:
        return None
    # (provider, model) without tiers in the library → prompt size above which input of all kinds
    # costs twice and output 1.5 times as much. Anthropic's price page had it for Sonnet 4 with the
    # 1M context window, as for Sonnet 4.5.
    long = {(ANTHROPIC, "claude-sonnet-4-0"): 200_000}.get((provider or "", model.id))
    if long and not tiered.tiers:
        tiered = TieredRates(tiered.base, ((long, tiered.base.times(_LONG_INPUT, _LONG_OUTPUT)),))
    return PricePeriod(day, tiered, source, tuple(_variants(model, prices, day)))


def _standard(model: ModelInfo, day: date) -> ModelPrice:
    """Return the price of the day, as the library chooses it, without prices by the time of day."""
    if isinstance(model.prices, ModelPrice):
        return model.prices
    dated = [
        conditional
        for conditional in model.prices
        if conditional.constraint is None
        or (
            isinstance(conditional.constraint, StartDateConstraint)
            and conditional.constraint.start_date <= day
        )
    ]
    return (dated[-1] if dated else model.prices[0]).prices


def _variants(
    model: ModelInfo, standard: ModelPrice, day: date
) -> Iterator[tuple[str, TieredRates]]:
    """Yield prices for another speed, tier or processing, by name.

    `speed=fast`, `processing=batch`, `service_tier=priority`.
    """
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    for variant in model.price_variants or ():
        if variant.constraint is None or variant.constraint.active(noon):
            merged = ModelPrice(
                **{
                    **standard.__dict__,
                    **{
                        key: price
                        for key, price in variant.prices.__dict__.items()
                        if price is not None
                    },
                }
            )
            tiered = _tiered(merged)
            if tiered is not None:
                yield (
                    ", ".join(f"{key}={value}" for key, value in sorted(variant.when.items())),
                    tiered,
                )


def _tiered(prices: ModelPrice) -> TieredRates | None:
    """Return the rates of every tier.

    Its tiers apply to the whole request, above their start, by all input tokens.
    """
    base = _rates(prices, 0)
    starts = sorted(
        {
            tier.start
            for price in prices.__dict__.values()
            if isinstance(price, TieredPrices)
            for tier in price.tiers
        }
    )
    above = [(start, _rates(prices, start + 1)) for start in starts]
    return (
        TieredRates(base, tuple((start, rates) for start, rates in above if rates))
        if base
        else None
    )


def _rates(prices: ModelPrice, prompt: int) -> Rates | None:
    """Return the rates per token of a request with so many input tokens.

    A kind of token without a price costs as much as the more general kind, as in the library. None
    if tokens have no price, or if requests have one: a record does not count requests.
    """

    def at(price: Decimal | TieredPrices | None) -> Decimal | None:
        if not isinstance(price, TieredPrices):
            return price
        return next(
            (tier.price for tier in reversed(price.tiers) if prompt > tier.start), price.base
        )

    def per_token(*prices: Decimal | TieredPrices | None) -> Decimal:
        """Return the first of these prices that exists, per token."""
        found = next(price for price in map(at, prices) if price is not None)
        return (found / MILLION).quantize(SMALLEST_RATE)

    input_, write, search = (
        prices.input_mtok,
        prices.cache_write_mtok,
        at(prices.web_searches_kcount),
    )
    if at(input_) is None or at(prices.output_mtok) is None or prices.requests_kcount is not None:
        return None
    return Rates(
        input=per_token(input_),
        output=per_token(prices.output_mtok),
        cache_read=per_token(prices.cache_read_mtok, input_),
        cache_write_5m=per_token(prices.cache_write_5m_mtok, write, input_),
        cache_write_1h=per_token(prices.cache_write_1h_mtok, write, input_),
        web_search=None if search is None else search / THOUSAND,
    )
