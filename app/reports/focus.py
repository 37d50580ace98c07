"""The FinOps Open Cost and Usage Specification (FOCUS) 1.3 and 1.2.

One row per run, model, token class and day of charge (UTC).

https://focus.finops.org/focus-specification/v1-3/. Tachograph issues no invoice: the billing
account is a showback account, and `x_CostBasis` says whether a cost is the agent's own report or
the list price of its tokens. The rows of a run add up to its best-known cost exactly: one cost of
several models is split by the list price of their tokens, that of a model over days by the list
price of their responses, and over classes by that of their tokens. `ListCost` of a run adds up to
its list-price cost.
"""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import pyarrow as pa

from app.queries.filters import Filters, where
from app.queries.reading import Undated, fetch, read_transaction, undated
from app.text.formatting import agent_name
from ingest.store.database import Store
from ingest.store.pricing import stored_book
from schemas.rows.price import ModelKey, Rates
from schemas.rows.row import NANODOLLAR

VERSIONS = ("1.2", "1.3")
NEWEST = VERSIONS[-1]

ACCOUNT_ID, ACCOUNT_NAME = "tachograph-showback", "Tachograph showback (no invoice)"

_RUNS = """
    select run_id, task, agent, repo, labels, dated_at, cost_best_usd, cost_own_usd is not null as
        is_reported,
        cost_list_usd is not null as is_priced, cost_best_bounds, verdict
    from v_runs left join (select run_id, verdict from v_verdicts) using (run_id)
    where {} order by dated_at nulls last, run_id"""

_MODELS = """
    select run_id, model_id, model, provider, region, cost_own_usd, cost_list_usd, own_input_tokens
        as input, own_output_tokens as output,
        own_cache_read_tokens as cache_read, own_cache_write_tokens -
            coalesce(own_cache_write_1h_tokens, 0) as cache_write_5m,
        own_cache_write_1h_tokens as cache_write_1h, own_web_search_requests as web_search
    from model_usage semi join (select run_id from v_runs where {}) as wanted using (run_id)
    order by run_id, model nulls last, model_id, provider, region"""

_DAYS = """
    select run_id, model_id, model, provider, region, ("at" at time zone 'UTC')::date as day,
        sum(cost_list_usd) as cost_list_usd,
        sum(input_tokens)::bigint as input, sum(output_tokens)::bigint as output,
            sum(cache_read_tokens)::bigint as cache_read,
        (sum(cache_write_tokens) - coalesce(sum(cache_write_1h_tokens), 0))::bigint as
            cache_write_5m,
        sum(cache_write_1h_tokens)::bigint as cache_write_1h, sum(web_search_requests)::bigint as
            web_search
    from responses semi join (select run_id from v_runs where {}) as wanted using (run_id)
    where "at" is not null
    group by all order by run_id, day"""


class TokenClass(NamedTuple):
    """What a provider charges for. `key`: of the columns above and of Rates."""

    key: str
    sku: str
    meter: str
    unit: str


CLASSES = (
    TokenClass("input", "input", "Input tokens", "Tokens"),
    TokenClass("output", "output", "Output tokens", "Tokens"),
    TokenClass("cache_read", "cache-read", "Cache read tokens", "Tokens"),
    TokenClass("cache_write_5m", "cache-write", "Cache write tokens", "Tokens"),
    TokenClass("cache_write_1h", "cache-write-1h", "Cache write tokens (1 hour)", "Tokens"),
    TokenClass("web_search", "web-search", "Web searches", "Requests"),
)
REST = TokenClass("", "other", "Usage beyond models and tokens", "Units")
"""The part of a run's cost beyond its tokens."""

ModelOfRun = tuple[str | None, str | None, str | None, str | None]
"""(model_id, model, provider, region)"""


class Charge(NamedTuple):
    """A part of a cost: of a class of tokens on a day."""

    day: date
    token_class: TokenClass
    quantity: int
    weight: Decimal


@dataclass(frozen=True)
class FocusExport:
    """The rows, the number of their runs, and the runs without a row.

    Undated ones, others of unknown cost, and of no cost.

    `total_usd` is the sum of the rows, `bounds` has the kinds of bounds in it, as `lower_bound,
    upper_bound`.
    """

    table: pa.Table
    runs: int
    undated: Undated
    unpriced: int
    costless: int
    total_usd: Decimal
    bounds: str


def focus(store: Store, filters: Filters, version: str = NEWEST) -> FocusExport:
    """Return the costs of the runs that the filters choose in a version of FOCUS.

    Raises StoreError.
    """
    with read_transaction(store) as reading:
        chosen = reading.searched(filters)
        condition = where(chosen)
        runs = fetch(reading, _RUNS.format(condition.sql), condition.parameters).to_pylist()
        models = _by_run(
            fetch(reading, _MODELS.format(condition.sql), condition.parameters).to_pylist()
        )
        days = _by_run(
            fetch(reading, _DAYS.format(condition.sql), condition.parameters).to_pylist()
        )
        without_date = undated(reading, chosen)
        with reading.reading() as connection:
            book = stored_book(connection)
    rates_of: dict[ModelKey, list[tuple[date, date, Rates]]] = {}

    def rates(model: ModelOfRun, day: date) -> Rates | None:
        """Return the list prices of a model on a day, None without any."""
        key = ModelKey(model[0] or "", model[1] or "", model[2], model[3])
        if key not in rates_of:
            rates_of[key] = (
                [(price.since, price.until, price.rates) for price in book.prices(key)]
                if model[1]
                else []
            )
        return next((found for since, until, found in rates_of[key] if since <= day < until), None)

    dated = [run for run in runs if run["dated_at"] is not None]
    known = [run for run in dated if run["cost_best_usd"] is not None]
    rows: list[dict[str, Any]] = []
    for run in known:
        rows += _rows_of(run, models.get(run["run_id"], ()), days.get(run["run_id"], ()), rates)
    charged = len({row["x_Run"] for row in rows})
    total = sum((row["BilledCost"] for row in rows), Decimal(0))
    bounds = ", ".join(sorted({row["x_CostBound"] for row in rows if row["x_CostBound"]}))
    columns = [name for name in COLUMNS if version != "1.2" or name not in _SINCE_1_3]
    table = _table(rows, columns)
    return FocusExport(
        table, charged, without_date, len(dated) - len(known), len(known) - charged, total, bounds
    )


def _by_run(rows: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    return {run_id: list(group) for run_id, group in groupby(rows, itemgetter("run_id"))}


def _rows_of(
    run: Mapping[str, Any],
    models: Sequence[Mapping[str, Any]],
    days: Sequence[Mapping[str, Any]],
    rates: Any,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a run: its cost by model, day and class."""
    run_day = run["dated_at"].astimezone(UTC).date()
    costs, rest = _costs(run, models)
    for model, cost in zip(models, costs, strict=True):
        key: ModelOfRun = (model["model_id"], model["model"], model["provider"], model["region"])
        of_days = [
            one
            for one in days
            if (one["model_id"], one["model"], one["provider"], one["region"]) == key
        ]
        charges = _charges(key, model, of_days, run_day, rates)
        if not charges:
            rest += cost
            continue
        listed = model["cost_list_usd"] if model["cost_list_usd"] is not None else cost
        for charge, billed, at_list in zip(
            charges, _over(charges, cost), _over(charges, listed), strict=True
        ):
            if billed or at_list or charge.quantity:
                yield _row(run, key, charge, billed, at_list)
    if rest:
        listed = rest
        if run[
            "is_reported"
        ]:  # the list price of tokens stands in their rows, also where their cost is in this one
            shown = sum(
                (
                    model["cost_list_usd"] or Decimal(0)
                    for model, cost in zip(models, costs, strict=True)
                    if not cost
                ),
                Decimal(0),
            )
            listed = Decimal(0) if run["is_priced"] else max(rest - shown, Decimal(0))
        yield _row(
            run, (None, None, None, None), Charge(run_day, REST, 1, Decimal(1)), rest, listed
        )


def _costs(
    run: Mapping[str, Any], models: Sequence[Mapping[str, Any]]
) -> tuple[list[Decimal], Decimal]:
    """Return the cost of each model, and the part of the run's cost that no model accounts for."""
    whole: Decimal = run["cost_best_usd"]
    recorded = [
        model["cost_own_usd" if run["is_reported"] else "cost_list_usd"] for model in models
    ]
    costs = [cost or Decimal(0) for cost in recorded]
    rest = whole - sum(costs, Decimal(0))
    if rest < 0:  # models above the total, mostly by rounding
        return split(whole, costs), Decimal(0)
    open_ = (
        [place for place, cost in enumerate(recorded) if cost is None] if run["is_reported"] else []
    )
    listed = [models[place]["cost_list_usd"] for place in open_]
    if rest and (len(open_) == 1 or (open_ and None not in listed and any(listed))):
        for place, part in zip(
            open_, split(rest, listed if len(open_) > 1 else [Decimal(1)]), strict=True
        ):
            costs[place] = part
        rest = Decimal(0)
    return costs, rest


def _charges(
    key: ModelOfRun,
    model: Mapping[str, Any],
    days: Sequence[Mapping[str, Any]],
    run_day: date,
    rates: Any,
) -> list[Charge]:
    """Return what a model was used for.

    Of its responses by day where they tell all of its tokens, else of the run's day.
    """
    told = sum(one[each.key] or 0 for one in days for each in CLASSES)
    parts = (
        [(one["day"], one) for one in days]
        if days and told >= sum(model[each.key] or 0 for each in CLASSES)
        else [(run_day, model)]
    )
    charges = []
    for day, tokens in parts:
        prices = rates(key, day)
        for each in CLASSES:
            quantity = tokens[each.key] or 0
            price = getattr(prices, each.key) if prices else Decimal(1)
            if quantity > 0:
                charges.append(Charge(day, each, quantity, quantity * (price or Decimal(0))))
    return charges


def _over(charges: Sequence[Charge], cost: Decimal) -> list[Decimal]:
    """Split the cost of a model over its charges, by quantity where no price is known."""
    weights = [charge.weight for charge in charges]
    return split(
        cost, weights if any(weights) else [Decimal(charge.quantity) for charge in charges]
    )


def split(cost: Decimal, weights: Sequence[Decimal]) -> list[Decimal]:
    """Split a cost by weight into whole nanodollars that add up to it.

    What rounding leaves goes to the largest part.
    """
    total = sum(weights, Decimal(0))
    parts = [(cost * weight / total).quantize(NANODOLLAR) for weight in weights]
    largest = max(range(len(parts)), key=parts.__getitem__)
    parts[largest] += cost - sum(parts, Decimal(0))
    return parts


def _row(
    run: Mapping[str, Any], model: ModelOfRun, charge: Charge, cost: Decimal, listed: Decimal
) -> dict[str, Any]:
    start = datetime.combine(charge.day, time(), UTC)
    month = start.replace(day=1)
    name = model[1] or model[0] or "no model"
    provider = _PROVIDERS.get(model[2] or "", (model[2] or "unknown").capitalize())
    sku = f"{name}/{charge.token_class.sku}"
    quantity = Decimal(charge.quantity)
    basis = "reported" if run["is_reported"] else "list"
    return {
        "BilledCost": cost,
        "EffectiveCost": cost,
        "ListCost": listed,
        "ContractedCost": cost,
        "BillingAccountId": ACCOUNT_ID,
        "BillingAccountName": ACCOUNT_NAME,
        "BillingAccountType": "Showback",
        "BillingCurrency": "USD",
        "BillingPeriodStart": month,
        "BillingPeriodEnd": (month + timedelta(days=32)).replace(day=1),
        "ChargePeriodStart": start,
        "ChargePeriodEnd": start + timedelta(days=1),
        "ChargeCategory": "Usage",
        "ChargeClass": None,
        "ChargeDescription": (
            f"{charge.token_class.meter} of {name}, by {agent_name(run['agent'])}; {_BASES[basis]}"
        ),
        "ChargeFrequency": "Usage-Based",
        "ConsumedQuantity": quantity,
        "ConsumedUnit": charge.token_class.unit,
        "HostProviderName": provider if model[2] else "Not Applicable",
        "InvoiceId": None,
        "InvoiceIssuerName": provider,
        "PricingCategory": "Standard",
        "PricingQuantity": quantity,
        "PricingUnit": charge.token_class.unit,
        "ProviderName": provider,
        "PublisherName": provider,
        "ResourceId": run["run_id"],
        "ResourceName": run["run_id"],
        "ResourceType": "Run of a coding agent",
        "ServiceCategory": "AI and Machine Learning",
        "ServiceName": f"{provider} models",
        "ServiceProviderName": provider,
        "ServiceSubcategory": "Generative AI",
        "SkuId": sku,
        "SkuMeter": charge.token_class.meter,
        "SkuPriceDetails": json.dumps({"x_Model": name, "x_TokenClass": charge.token_class.sku}),
        "SkuPriceId": sku,
        "SubAccountId": run["repo"],
        "SubAccountName": run["repo"],
        "SubAccountType": "Project" if run["repo"] else None,
        "Tags": json.dumps(dict(run["labels"] or ()), sort_keys=True),
        "x_Run": run["run_id"],
        "x_Task": run["task"],
        "x_Agent": run["agent"],
        "x_Repo": run["repo"],
        "x_CostBasis": basis,
        "x_CostBound": run["cost_best_bounds"],
        "x_Verdict": run["verdict"],
    }


_BASES = {"reported": "as the agent reported it", "list": "at list prices"}
_PROVIDERS = {
    "openai": "OpenAI",
    "aws": "AWS",
    "xai": "xAI",
    "openrouter": "OpenRouter",
    "deepseek": "DeepSeek",
}

_COST, _QUANTITY, _TIME = pa.decimal128(18, 9), pa.decimal128(20, 0), pa.timestamp("us", tz="UTC")
_TYPES = {
    **dict.fromkeys(("BilledCost", "EffectiveCost", "ListCost", "ContractedCost"), _COST),
    **dict.fromkeys(("ConsumedQuantity", "PricingQuantity"), _QUANTITY),
    **dict.fromkeys(
        ("BillingPeriodStart", "BillingPeriodEnd", "ChargePeriodStart", "ChargePeriodEnd"), _TIME
    ),
}
COLUMNS = tuple(
    _row(
        defaultdict(lambda: None, run_id="", is_reported=True),
        (None,) * 4,
        Charge(date(2026, 1, 1), REST, 1, Decimal(1)),
        Decimal(0),
        Decimal(0),
    )
)


_SINCE_1_3 = {"HostProviderName", "ServiceProviderName", "SkuPriceDetails", "SkuPriceId"}
"""Columns that a file of FOCUS 1.2 goes without. ProviderName and PublisherName are deprecated in
1.3, and must still be there.
"""


def _table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pa.Table:
    return pa.table(
        {
            name: pa.array([row[name] for row in rows], _TYPES.get(name, pa.string()))
            for name in columns
        }
    )


def as_csv(table: pa.Table) -> bytes:
    """Return the table as FOCUS wants CSV.

    Times as `2026-01-31T00:00:00Z`, unknown as empty, decimals plain.
    """

    def cell(value: Any) -> Any:
        if isinstance(value, datetime):
            return value.strftime("%Y-%m-%dT%H:%M:%SZ")
        # a quantity without a point would be read as a whole number, and FOCUS wants decimals
        return (
            f"{value:.1f}"
            if isinstance(value, Decimal) and value.as_tuple().exponent == 0
            else value
        )

    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows([cell(value) for value in row.values()] for row in table.to_pylist())
    return text.getvalue().encode()
