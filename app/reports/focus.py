"""The FinOps Open Cost and Usage Specification (FOCUS) 1.3 and 1.2.

One row per run, model, token class and day of charge (UTC).

https://focus.finops.org/focus-specification/v1-3/. Tachograph issues no invoice: the billing
account is a showback account, and `x_CostBasis` says whether a cost is the agent's own report or
the list price of its tokens. The rows of a run add up to its best-known cost exactly, and those of
a day to what was spent on it (`app.queries.spending`): that of a response belongs to its model, one
cost of several models is split by the list price of their tokens, and that of a model over classes
by that of their tokens. `ListCost` of a run adds up to its list-price cost. What its machine cost
has rows of its own, one per day.
"""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import pyarrow as pa

from app.queries import Row, Rows
from app.queries.filters import Filters
from app.queries.reading import Undated, fetch_rows, read_transaction, undated
from app.queries.spending import spent
from app.text.formatting import agent_name
from ingest.store.database import Store
from ingest.store.pricing import stored_book
from schemas.rows.price import ModelKey, Rates
from schemas.rows.row import NANODOLLAR

VERSIONS = ("1.2", "1.3")
NEWEST = VERSIONS[-1]

ACCOUNT_ID, ACCOUNT_NAME = "tachograph-showback", "Tachograph showback (no invoice)"

_SPENT = """
    with spendings as materialized (
        select * replace (map_concat(
                map_from_entries(list_filter(
                    [{{'key': 'pull-request', 'value': pull_request}},
                        {{'key': 'ticket', 'value': ticket}}],
                    lambda one: one.value is not null
                )), labels
            ) as labels), (dated_at at time zone 'UTC')::date as day
        from {}
    )"""

_RUNS = """
    select spendings.*, verdict
    from (
        select run_id, task, agent, repo, labels, min(day) as day,
            sum(cost_best_usd) as cost_best_usd, sum(cost_list_usd) as cost_list_usd,
            bool_or(cost_own_usd is not null) as is_reported, cost_best_bounds,
            bool_and(response_id is null) as is_whole, min(dated_at) as first_at
        from spendings where day is not null group by all
    ) as spendings
    left join (select run_id, verdict from v_verdicts) using (run_id)
    order by first_at, run_id"""

_MODELS = """
    select run_id, model_id, model, provider, region, cost_own_usd, cost_list_usd, own_input_tokens
        as input, own_output_tokens as output,
        own_cache_read_tokens as cache_read, own_cache_write_tokens -
            coalesce(own_cache_write_1h_tokens, 0) as cache_write_5m,
        own_cache_write_1h_tokens as cache_write_1h, own_web_search_requests as web_search
    from model_usage
    semi join (select run_id from spendings where response_id is null) as whole using (run_id)
    order by run_id, model nulls last, model_id, provider, region"""

_DAYS = """
    select run_id, model_id, responses.model, responses.provider, responses.region, day,
        sum(parts.cost_best_usd) as cost_best_usd, sum(parts.cost_list_usd) as cost_list_usd,
        sum(responses.input_tokens)::bigint as input,
        sum(responses.output_tokens)::bigint as output,
        sum(responses.cache_read_tokens)::bigint as cache_read,
        (sum(responses.cache_write_tokens) - coalesce(sum(cache_write_1h_tokens), 0))::bigint as
            cache_write_5m,
        sum(cache_write_1h_tokens)::bigint as cache_write_1h,
        sum(responses.web_search_requests)::bigint as web_search
    from responses
    join (
        select run_id, response_id, day, cost_best_usd, cost_list_usd from spendings
        where day is not null
    ) as parts using (run_id, response_id)
    group by all order by run_id, day, model nulls last, model_id, provider, region"""


_MACHINES = """
    select run_id, task, agent, repo, labels, day, machine_rate_usd, cost_own_usd is not null as
        is_reported, null as cost_best_bounds, verdict, sum(cost_machine_usd) as cost_machine_usd
    from spendings left join (select run_id, verdict from v_verdicts) using (run_id)
    where day is not null and cost_machine_usd > 0
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

MACHINE = TokenClass("", "machine", "Machine time", "Seconds")

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
        of = spent(reading, chosen)

        def asked(sql: str) -> Rows:
            return fetch_rows(reading, _SPENT.format(of.sql) + sql, of.parameters)

        runs, models, days = asked(_RUNS), _by_run(asked(_MODELS)), _by_run(asked(_DAYS))
        machines = asked(_MACHINES)
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

    known = [run for run in runs if run["cost_best_usd"] is not None]
    rows: Rows = []
    for run in known:
        if run["is_whole"]:
            rows += _rows_of(run, models.get(run["run_id"], ()), rates)
        else:
            rows += _rows_along(run, days[run["run_id"]], rates)
    charged = len({row["x_Run"] for row in rows})
    rows += map(_machine_row, machines)
    total = sum((row["BilledCost"] for row in rows), Decimal(0))
    bounds = ", ".join(sorted({row["x_CostBound"] for row in rows if row["x_CostBound"]}))
    columns = [name for name in COLUMNS if version != "1.2" or name not in _SINCE_1_3]
    table = _table(rows, columns)
    return FocusExport(
        table, charged, without_date, len(runs) - len(known), len(known) - charged, total, bounds
    )


def _by_run(rows: Iterable[dict[str, Any]]) -> dict[str, Rows]:
    return {run_id: list(group) for run_id, group in groupby(rows, itemgetter("run_id"))}


def _rows_along(run: Row, days: Sequence[Row], rates: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of a run with responses: what it spent by model, day and class."""
    for of_day in days:
        model = _model_of(of_day)
        charges = _charges(model, of_day, of_day["day"], rates)
        cost: Decimal = of_day["cost_best_usd"]
        if not charges:
            charges, model = [Charge(of_day["day"], REST, 1, Decimal(1))], (None,) * 4
        yield from _charged(run, model, charges, cost, of_day["cost_list_usd"])


def _charged(
    run: Row,
    model: ModelOfRun,
    charges: Sequence[Charge],
    cost: Decimal,
    listed: Decimal | None,
) -> Iterator[dict[str, Any]]:
    """Yield a row per charge of a model, with its part of the cost and of the list-price cost."""
    lists = _over(charges, cost if listed is None else listed)
    for charge, billed, at_list in zip(charges, _over(charges, cost), lists, strict=True):
        if billed or at_list or charge.quantity:
            yield _row(run, model, charge, billed, at_list)


def _model_of(row: Row) -> ModelOfRun:
    return row["model_id"], row["model"], row["provider"], row["region"]


def _rows_of(run: Row, models: Sequence[Row], rates: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of a run without responses: its cost by model and class, when it ended."""
    costs, rest = _costs(run, models)
    for model, cost in zip(models, costs, strict=True):
        charges = _charges(_model_of(model), model, run["day"], rates)
        if charges:
            yield from _charged(run, _model_of(model), charges, cost, model["cost_list_usd"])
        else:
            rest += cost
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
            listed = (
                Decimal(0) if run["cost_list_usd"] is not None else max(rest - shown, Decimal(0))
            )
        yield _row(run, (None,) * 4, Charge(run["day"], REST, 1, Decimal(1)), rest, listed)


def _costs(run: Row, models: Sequence[Row]) -> tuple[list[Decimal], Decimal]:
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


def _charges(key: ModelOfRun, tokens: Row, day: date, rates: Any) -> list[Charge]:
    """Return what a model was used for on a day, by class of tokens."""
    prices, charges = rates(key, day), []
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
    run: Row, model: ModelOfRun, charge: Charge, cost: Decimal, listed: Decimal
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


def _machine_row(held: Row) -> dict[str, Any]:
    """Return the row of the machine that a run held on a day."""
    cost: Decimal = held["cost_machine_usd"]
    seconds = max(round(cost / held["machine_rate_usd"] * 3600), 1)
    charge = Charge(held["day"], MACHINE, seconds, Decimal(1))
    rate = f"machine/{held['machine_rate_usd'].normalize():f}"
    return _row(held, (None,) * 4, charge, cost, cost) | {
        "ChargeDescription": f"Machine of a run of {agent_name(held['agent'])}, by its wall time",
        "ServiceCategory": "Compute",
        "ServiceName": "Machines of runs",
        "ServiceSubcategory": "Virtual Machines",
        "SkuId": rate,
        "SkuPriceDetails": json.dumps({"x_UsdPerHour": f"{held['machine_rate_usd']:f}"}),
        "SkuPriceId": rate,
        "x_CostBasis": "machine",
        "x_CostBound": None,
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


def _table(rows: Sequence[Row], columns: Sequence[str]) -> pa.Table:
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
