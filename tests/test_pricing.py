"""List prices against sums worked by hand; causes found only where they are.

Nothing priced that has no price.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from subprocess import run
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import TieredPrices, TimeOfDateConstraint, Usage
from hypothesis import given
from hypothesis import strategies as st

from app.queries import runs as run_queries
from app.queries.filters import Filters
from ingest.pipeline import Options, ingest
from ingest.prices import genai as library
from ingest.prices.library import periods
from ingest.prices.model_ids import parse_model_id
from ingest.prices.price_book import PriceBook
from ingest.sources.files import Source
from ingest.store.database import Store, run_step
from ingest.store.pricing import RATE_WORDS, rates_array, reprice
from ingest.store.rebuild import rebuild
from schemas.rows.cost import CAUSES, COST_RULES, CostCause, rule_of
from schemas.rows.price import ModelKey, Rates
from schemas.rows.source import Severity
from tests.claude_lines import SESSION, reply, user
from tests.claude_lines import usage as tokens_of
from tests.conftest import ROOT, SAMPLES, record_text
from tests.documents import lines
from tests.examples import examples

OPUS = "claude-opus-4-6"
DAY = date(2026, 6, 1)


def usage(
    cost: object, input_: int = 0, output: int = 0, read: int = 0, write: int = 0, **more: Any
) -> dict[str, Any]:
    tokens = {
        "inputTokens": input_,
        "outputTokens": output,
        "cacheReadInputTokens": read,
        "cacheCreationInputTokens": write,
    }
    return tokens | {"webSearchRequests": 0, "costUSD": float(str(cost))} | more


def put(store: Store, models: dict[str, dict[str, Any]], uuid: str = "a", **changes: Any) -> None:
    total = sum(model["costUSD"] for model in models.values())
    text = record_text(
        uuid=uuid,
        modelUsage=models,
        **{"total_cost_usd": total, "session_id": uuid, "usage": ...} | changes,
    )
    ingest([Source(uuid, text.encode())], store)


def rows(store: Store, sql: str) -> list[dict[str, Any]]:
    with store.reading() as connection:
        return connection.sql(sql).to_arrow_table().to_pylist()  # type: ignore[no-any-return]


def only(store: Store) -> dict[str, Any]:
    [row] = rows(store, "select * from model_usage")
    return row


def rates(model: str, provider: str = "anthropic", day: date = DAY) -> Rates:
    found = PriceBook().rates(ModelKey(model, model, provider), day)
    assert found
    return found


def test_a_model_id_without_a_name_has_no_price_and_keeps_no_other_record_out(
    store: Store,
) -> None:
    texts = {
        uuid: record_text(uuid=uuid, session_id=uuid, modelUsage={model: usage(0.25, 10)})
        for uuid, model in zip("abcd", (OPUS, "", "  ", "[1m]"), strict=True)
    }
    ingest([Source(uuid, text.encode()) for uuid, text in texts.items()], store)
    found = rows(
        store, "select run_id, price_status, cost_own_usd from model_usage order by run_id"
    )
    assert [tuple(map(str, row.values())) for row in found] == [
        ("a", "priced", "0.250000000"),
        *((uuid, "unpriced", "0.250000000") for uuid in "bcd"),
    ]


def test_the_samples_to_the_last_digit(sample_store: Store) -> None:
    """Worked by hand: tokens × USD per million.

    `us.` models cost 3.30, 16.50, 0.33 and 4.125, the `global.` one 5 and 25.
    """
    sonnet = [
        Decimal("50077.5")
        + Decimal("209401.5")
        + Decimal("411965.07")
        + Decimal("242314.875"),  # 15175, 12691, 1248379, 58743
        Decimal("152384.1")
        + Decimal("297346.5")
        + Decimal("516748.65")
        + Decimal("345782.25"),  # 46177, 18021, 1565905, 83826
        Decimal("67943.7")
        + Decimal("207735")
        + Decimal("374772.42")
        + Decimal("172557"),  # 20589, 12590, 1135674, 41832
    ]
    opus = [Decimal(12920 + 5850), Decimal(13470 + 5325), Decimal(12920 + 2775)]
    found = rows(
        sample_store,
        (
            "select model, cost_list_usd, cost_own_usd, cost_cause from model_usage order by "
            "model, cost_list_usd"
        ),
    )
    assert [row["cost_list_usd"] for row in found] == [
        cost / 10**6 for cost in sorted(opus) + sorted(sonnet)
    ]
    assert [row["cost_cause"] for row in found] == ["same"] * 3 + ["regional_endpoint"] * 3
    assert all(row["cost_list_usd"] == row["cost_own_usd"] * Decimal("1.1") for row in found[3:])
    [total] = run_queries.summary(
        sample_store,
        Filters(),
        metrics=["cost_usd", "cost_list_usd", "cost_delta_usd", "cost_delta_share"],
    ).to_pylist()
    assert (total["cost_usd"], total["cost_list_usd"]) == (
        Decimal("2.825104150"),
        Decimal("3.102288565"),
    )
    assert total["cost_delta_usd"] == Decimal("0.277184415")
    assert total["cost_delta_share"] == pytest.approx(0.277184415 / 2.82510415)


def test_each_difference_of_the_samples_is_a_finding_with_both_figures(sample_store: Store) -> None:
    found = rows(
        sample_store,
        "select * from findings where rule = 'cost_regional_endpoint' order by expected",
    )
    assert [(row["expected"], row["actual"]) for row in found] == [
        ("$0.8230 at list prices", "$0.7482 reported"),
        ("$0.9138 at list prices", "$0.8307 reported"),
        ("$1.31 at list prices", "$1.19 reported"),
    ]
    assert all(
        "list price is 10.0% higher than reported" in row["message"] and row["severity"] == "info"
        for row in found
    )
    assert (
        rows(
            sample_store,
            (
                "select run_id from runs where findings <> (select count(*) from findings f "
                "where f.run_id = runs.run_id)"
            ),
        )
        == []
    )


def test_what_caching_is_worth(sample_store: Store) -> None:
    metrics = ["cache_hit_ratio", "cost_uncached_usd", "cache_saved_usd", "cost_cache_write_usd"]
    [row] = run_queries.summary(sample_store, Filters(), metrics=metrics).to_pylist()
    writes = Decimal(58743 + 83826 + 41832) * Decimal("4.125") / 10**6
    reads = Decimal(1248379 + 1565905 + 1135674)
    saved = (
        reads * (Decimal("3.30") - Decimal("0.33"))
        - Decimal(58743 + 83826 + 41832) * (Decimal("4.125") - Decimal("3.30"))
    ) / 10**6
    assert (row["cost_cache_write_usd"], row["cache_saved_usd"]) == (writes, saved)
    assert row["cost_uncached_usd"] == Decimal("3.102288565") + saved
    assert row["cache_hit_ratio"] == pytest.approx(
        3949958 / (3949958 + 184401 + 17759 + 48871 + 23173)
    )


tokens = st.integers(0, 10**12)
amounts = st.decimals(0, 900, places=15, allow_nan=False)


@pytest.fixture(scope="module")
def arithmetic() -> Iterator[duckdb.DuckDBPyConnection]:
    """Where costs are added up: to start DuckDB takes longer than an example."""
    with duckdb.connect() as connection:
        run_step(connection, "pricing/01_costs_at")
        yield connection


@pytest.mark.slow
@examples(15)
@given(
    cases=st.lists(
        st.tuples(*[tokens] * 5, st.integers(0, 10**6), *[amounts] * 6), min_size=1, max_size=20
    )
)
def test_sql_multiplies_as_python_does(
    arithmetic: duckdb.DuckDBPyConnection, cases: list[tuple[Any, ...]]
) -> None:
    """Every sum exact, rounded once, half up; NULL beyond what the column holds."""
    words = [*list(RATE_WORDS)[:5], "searches"]
    own = pa.array([dict(zip(words, case[:6], strict=True)) for case in cases])
    table = pa.table(
        {
            "no": range(len(cases)),
            "own": own,
            "rates": rates_array([Rates(*case[6:]) for case in cases]),
        }
    )
    arithmetic.register("cases", table)
    found = [
        cost
        for (cost,) in arithmetic.execute(
            "select costs_at(own, rates) from cases order by no"
        ).fetchall()
    ]
    exact = [
        sum((count * rate for count, rate in zip(case[:6], case[6:], strict=True)), Decimal(0))
        for case in cases
    ]
    nano = [
        cost.quantize(Decimal("1e-9"), ROUND_HALF_UP) if cost < 10**12 else cost for cost in exact
    ]
    assert found == [cost if cost < 10**9 else None for cost in nano]


@pytest.mark.slow
def test_rates_are_the_librarys_own() -> None:
    """Every model the library can price by tokens.

    Its own sum of a request below all tiers is that of our rates.
    """
    counts = {
        "input": 1000,
        "output": 50,
        "cache_read": 300,
        "cache_write_5m": 200,
        "cache_write_1h": 100,
    }
    fields = {
        "input_tokens": 1600,
        "output_tokens": 50,
        "cache_read_tokens": 300,
        "cache_write_tokens": 300,
    }
    checked = 0
    for provider in get_snapshot().providers:
        for model in provider.models:
            found = [
                period
                for period in periods(ModelKey(model.id, model.id, provider.id))
                if period.since <= DAY
            ]
            if (
                not found
                or provider.find_model(model.id) is not model
                or is_by_hour_or_cheaper_kinds(model)
            ):
                continue
            usage_ = Usage(**fields, cache_write_5m_tokens=200, cache_write_1h_tokens=100)
            theirs = model.calc_price(
                usage_, provider, genai_request_timestamp=datetime(2026, 6, 1, 12, tzinfo=UTC)
            ).total_price
            ours = sum(getattr(found[-1].rates, name) * count for name, count in counts.items())
            assert ours == pytest.approx(theirs, abs=Decimal("1e-12")), (
                f"{provider.id}/{model.id}"
            )  # some of theirs were floats once
            checked += 1
    assert checked > 1000


LOOK_UP = """
import json, sys
from ingest.prices.library import claude_rates, keep_prices, periods
from schemas.rows.price import ModelKey
print(claude_rates(), *(periods(ModelKey(*key)) for key in json.load(sys.stdin)), sep="\\n")
keep_prices()
print("genai_prices" in sys.modules)
"""


@pytest.mark.slow
def test_prices_are_looked_up_in_the_library_once(tmp_path: Path) -> None:
    """Kept prices equal the library's, with tiers, variants and gateways."""
    keys = [
        *(
            (one.id, one.id, provider.id)
            for provider in get_snapshot().providers
            for one in provider.models[:9]
        ),
        ("claude-opus-4-6", "claude-opus-4-6", "my-gateway"),
        ("no-such-model", "no-such-model", None),
    ]

    def answered() -> list[str]:
        done = run(
            [sys.executable, "-c", LOOK_UP],
            input=json.dumps(keys),
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)},
        )
        return done.stdout.splitlines()

    *found, has_imported = answered()
    assert found[1:] == [str(library.periods(ModelKey(*key))) for key in keys]
    assert has_imported == "True"
    assert answered() == [*found, "False"]
    [kept] = (tmp_path / "tachograph").iterdir()
    kept.write_text("{")
    assert answered() == [*found, "True"]


def is_by_hour_or_cheaper_kinds(model: Any) -> bool:
    """Models with prices by the hour, or tiers that begin at once.

    Not what a run's sums can be priced by.
    """
    prices = (
        [one.prices for one in model.prices] if isinstance(model.prices, list) else [model.prices]
    )
    by_hour = isinstance(model.prices, list) and any(
        isinstance(one.constraint, TimeOfDateConstraint) for one in model.prices
    )
    values = [value for price in prices for value in price.__dict__.values()]
    return by_hour or any(
        isinstance(value, TieredPrices) and any(tier.start < 1600 for tier in value.tiers)
        for value in values
    )


PRICES = """
claude-opus-4-6[1m] anthropic - 5
us.anthropic.claude-opus-4-6-v1 aws us 5.5
eu.anthropic.claude-sonnet-4-5-20250929-v1:0 aws eu 3.3
global.anthropic.claude-sonnet-4-5-20250929-v1:0 aws global 3
arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-4-6-v1 aws us 5.5
claude-sonnet-4-5@20250929 google - 3
gpt-4o-2024-05-13 openai - 5     the first version of gpt-4o has its own price
gpt-4o openai - 2.5
glm-5.1 zhipuai - 0.828
anthropic/claude-sonnet-4.5 openrouter - 3
claude-opus-4-65 anthropic - -   only begins like claude-opus-4-6
us.anthropic.claude-opus-4-65-v1 aws us -
claude-sonnet-latest anthropic - -
claude-opus-4-6 - - -
a-model-of-ours openai - -
gpt-5.4 packyapi - 2.5           behind a gateway: as at the maker
claude-opus-4-6[1m] litellm - 5
claude-opus-4.6 openai - 5       behind a gateway that speaks OpenAI's protocol
claude-opus-4-65 openai - -
glm-4.6 anthropic - 0.6
anthropic/claude-4.6-opus-20260205 openrouter - 5
GLM-4.6 zai-coding-plan - 0.6
openrouter/openai/gpt-4o-mini openrouter - 0.15
claude-opus-4-65 packyapi - -
a-model-of-ours packyapi - -
minimax-m2.7-free packyapi - -
gpt-oss-120b ollama - -          on one's own machine
"""
"""Model id, provider, region, USD per million tokens of input, and why."""


@pytest.mark.parametrize("line", PRICES.strip().splitlines())
def test_which_price_a_model_id_has(line: str) -> None:
    model_id, *given = line.split()[:4]
    provider, region, price = (None if word == "-" else word for word in given)
    key = ModelKey(model_id, parse_model_id(model_id).model, provider, region)
    found = PriceBook().rates(key, DAY)
    assert (found and found.input * 10**6) == (Decimal(price) if price else None)


def test_a_price_is_that_of_the_day() -> None:
    assert rates("o3", "openai", date(2025, 6, 9)).input == Decimal("0.00001")
    assert rates("o3", "openai", date(2025, 6, 10)).input == Decimal("0.000002")


def test_no_price_is_null_and_counted_and_never_0(store: Store) -> None:
    put(store, {"a-model-of-ours": usage("0.5", 100, 20), OPUS: usage("0.005", 1000)})
    unknown, known = rows(store, "select * from model_usage order by model_id")
    assert [
        unknown[name]
        for name in ("cost_list_usd", "cost_cause", "cost_uncached_usd", "price_status")
    ] == [
        None,
        None,
        None,
        "unpriced",
    ]
    assert (known["cost_list_usd"], known["price_status"]) == (Decimal("0.005"), "priced")
    [run] = rows(
        store,
        "select cost_list_usd, cost_delta_usd, cost_cause, price_status, unpriced_tokens from runs",
    )
    assert list(run.values()) == [None, None, None, "unpriced", 120]
    [finding] = rows(store, "select message, actual from findings where rule = 'cost_unpriced'")
    assert "a-model-of-ours" in finding["message"]
    assert finding["actual"] == "$0.5000 reported"


LONG = "I rewrote the scheduler and measured it again. " * 20
"""160 words."""


def test_output_that_is_shorter_than_the_final_text_is_a_lower_bound(store: Store) -> None:
    """No tokenizer has tokens of several words: responses are missing from the count.

    So it stays, priced again and rebuilt.
    """
    cases: dict[str, tuple[int, int | None, dict[str, Any]]] = {
        "few": (3, 160, {"result": LONG}),
        "below": (79, 160, {"result": LONG}),
        "enough": (80, None, {"result": LONG}),
        "Chinese": (3, 40, {"result": "重写了调度器，并且重新测量了一遍。" * 20}),
        "a long word counts as its pieces": (3, 11, {"result": "x" * 321}),
        "one token may be many of the same signs": (3, None, {"result": "=" * 5000}),
        "an error's text is not the model's": (3, None, {"result": LONG, "is_error": True}),
        "silent": (3, None, {"result": ...}),
    }
    texts = {
        name: record_text(
            uuid=name,
            session_id=name,
            modelUsage={OPUS: usage("0.25", 100, output)},
            usage=...,
            **changes,
        )
        for name, (output, _, changes) in cases.items()
    }
    ingest([Source(name, text.encode()) for name, text in texts.items()], store)
    for again in (None, reprice, rebuild):
        if again:
            again(store)
        found = {
            row["run_id"]: row
            for row in rows(
                store,
                "select runs.run_id, runs.tokens_basis as basis, m.tokens_basis as of_model, "
                "runs.cost_list_usd as usd, f.message from runs join model_usage as m using "
                "(run_id) left join findings as f on f.run_id = runs.run_id and f.rule = "
                "'output_too_short'",
            )
        }
        assert found.keys() == cases.keys()
        for name, (output, words, _) in cases.items():
            row, basis = found[name], "lower_bound" if words else "exact"
            assert (row["basis"], row["of_model"]) == (basis, basis), name
            assert row["usd"] == Decimal("0.0005") + output * Decimal("0.000025")
            assert (row["message"] or "").split(":")[0] == (
                f"{output} output tokens are recorded, and the final text alone has {words} words"
                if words
                else ""
            )


def test_a_session_with_the_count_of_its_last_responses_alone_is_a_lower_bound(
    store: Store,
) -> None:
    text = lines(
        user("Go."),
        reply(tokens=tokens_of(3), inside={"content": [{"type": "text", "text": LONG}]}),
    )
    ingest([Source(f"projects/p/{SESSION}.jsonl", text.encode())], store)
    assert [
        (row["tokens_basis"], row["output_tokens"]) for row in rows(store, "select * from runs")
    ] == [("lower_bound", 3)]


def test_a_search_without_a_price_leaves_the_row_without_one(store: Store) -> None:
    put(store, {"claude-haiku-4-5": usage("0.021", 1000, webSearchRequests=2)}, "a")
    put(store, {"us.anthropic.claude-opus-4-6-v1": usage("0.02", 1000, webSearchRequests=2)}, "b")
    found = rows(store, "select cost_list_usd, cost_cause from model_usage order by run_id")
    assert [tuple(row.values()) for row in found] == [(Decimal("0.021"), "same"), (None, None)]
    [finding] = rows(store, "select message from findings where rule = 'cost_unpriced'")
    assert "claude-opus-4-6-v1, whose price does not cover web searches;" in finding["message"]


def test_a_class_that_is_not_known_is_not_taken_for_0(store: Store) -> None:
    model = usage("0.005", 1000)
    del model["cacheReadInputTokens"]
    put(store, {OPUS: model})
    assert (only(store)["cost_list_usd"], only(store)["price_status"]) == (None, "unpriced")
    [finding] = rows(store, "select message from findings where rule = 'cost_unpriced'")
    told = (
        f"No list-price cost for {OPUS}, whose record does not tell its cache reads; excluded "
        "from list-price totals."
    )
    assert finding["message"] == told


def test_uncounted_writes_matter_where_they_have_a_price(store: Store) -> None:
    """Logs of evaluations have no count of cache writes for makers that charge none."""
    counted = usage("0", 1000, 100, 2000)
    del counted["cacheCreationInputTokens"]
    put(store, {"gpt-4o-mini": counted, OPUS: counted})
    sql = "select model, cost_list_usd, cache_write_tokens from model_usage order by model"
    assert [tuple(row.values()) for row in rows(store, sql)] == [
        (OPUS, None, None),
        ("gpt-4o-mini", Decimal("0.00036"), None),
    ]


def test_cache_writes_of_unknown_lifetime_are_not_taken_for_a_split(store: Store) -> None:
    """`greatest` of an unknown difference and 0 is 0 in DuckDB.

    Writes without a split looked like 5-minute writes by the record.
    """
    split = {"cacheCreationEphemeral5mInputTokens": 300, "cacheCreationEphemeral1hInputTokens": 100}
    half = {"cacheCreationEphemeral5mInputTokens": 300}
    for uuid, more in (("split", split), ("half", half), ("unsplit", {})):
        put(store, {OPUS: usage("0.01", 1, 1, 1, 400, **more)}, uuid)
    found = rows(
        store,
        (
            "select run_id, own_cache_write_1h_tokens, assumed_5m_tokens from v_model_rows order "
            "by run_id"
        ),
    )
    assert [tuple(row.values()) for row in found] == [
        ("half", 100, 0),
        ("split", 100, 0),
        ("unsplit", None, 400),
    ]


def test_a_run_that_used_nothing_costs_nothing(store: Store) -> None:
    put(store, {}, duration_api_ms=0)
    [run] = rows(store, "select cost_list_usd, cost_cause, price_status from runs")
    assert list(run.values()) == [0, "same", "priced"]


def cost(of: Rates, input_: int, output: int, read: int, write: int, one_hour: int = 0) -> Decimal:
    """USD at some rates, by Python."""
    parts: Iterable[Decimal] = (
        input_ * of.input,
        output * of.output,
        read * of.cache_read,
        (write - one_hour) * of.cache_write_5m,
        one_hour * of.cache_write_1h,
    )
    return sum(parts, Decimal(0))


MANY = (1234, 5678, 91_011, 12_131)
SPLIT = {"cacheCreationEphemeral5mInputTokens": 0, "cacheCreationEphemeral1hInputTokens": 12_131}
AS_5M = cost(rates(OPUS), *MANY)
REGIONAL = PriceBook().rates(ModelKey("us.anthropic.claude-opus-4-6-v1", OPUS, "aws", "us"), DAY)
assert REGIONAL


CASES: list[tuple[str, Decimal, dict[str, Any], CostCause]] = [
    (OPUS, AS_5M, {}, CostCause.SAME),
    (OPUS, AS_5M + Decimal("0.0000009"), {}, CostCause.SAME),
    (OPUS, AS_5M + Decimal("0.0000031"), {}, CostCause.UNEXPLAINED),
    (OPUS, AS_5M, SPLIT, CostCause.ONE_HOUR_CACHE_WRITES),
    (OPUS, cost(rates(OPUS), *MANY, one_hour=12_131), SPLIT, CostCause.SAME),
    (OPUS, cost(rates(OPUS), *MANY, one_hour=12_131), {}, CostCause.ONE_HOUR_CACHE_WRITES),
    ("us.anthropic.claude-opus-4-6-v1", AS_5M, {}, CostCause.REGIONAL_ENDPOINT),
    ("us.anthropic.claude-opus-4-6-v1", cost(REGIONAL, *MANY), {}, CostCause.SAME),
    ("global.anthropic.claude-opus-4-6-v1", AS_5M, {}, CostCause.SAME),
    (OPUS, AS_5M * Decimal("1.1"), {}, CostCause.REGIONAL_ENDPOINT),
    (OPUS, AS_5M * 6, {}, CostCause.FAST_MODE),
    ("claude-opus-4-8", AS_5M * 2, {}, CostCause.FAST_MODE),
    (OPUS, AS_5M / 2, {}, CostCause.SERVICE_TIER),
    ("glm-5.1", cost(rates("claude-sonnet-4-5"), *MANY), {}, CostCause.FALLBACK_PRICE),
    ("claude-sonnet-4-6", AS_5M, {}, CostCause.FALLBACK_PRICE),
    (OPUS, Decimal("0.77"), {"costBasis": "unknown"}, CostCause.FALLBACK_PRICE),
    (OPUS, Decimal("0.77"), {}, CostCause.UNEXPLAINED),
    ("o3", cost(rates("o3", "openai", date(2025, 6, 1)), *MANY), {}, CostCause.PRICE_CHANGED_SINCE),
]


def test_a_cause_is_found_by_pricing_the_same_tokens_otherwise(store: Store) -> None:
    texts = [
        record_text(
            uuid=str(no),
            session_id=str(no),
            modelUsage={model: row},
            total_cost_usd=row["costUSD"],
            usage=...,
        )
        for no, (model, row) in enumerate(
            (model, usage(f"{reported:.9f}", *MANY, **more)) for model, reported, more, _ in CASES
        )
    ]
    ingest([Source("all", "\n".join(texts).encode())], store)
    found = {row["run_id"]: row for row in rows(store, "select * from model_usage")}
    rules = {
        row["run_id"]: row["rule"]
        for row in rows(
            store, f"select * from findings where rule in ({', '.join(map(repr, COST_RULES))})"
        )
    }
    for no, (model, reported, _, cause) in enumerate(CASES):
        row = found[str(no)]
        assert row["cost_cause"] == cause, f"{model} at {reported}"
        assert row["cost_delta_usd"] == row["cost_list_usd"] - row["cost_own_usd"]
        assert rules.get(str(no)) == (None if cause is CostCause.SAME else rule_of(cause)), (
            f"{model} at {reported}"
        )


def test_of_two_causes_the_larger_is_named_and_both_are_told(store: Store) -> None:
    """A regional endpoint with 1-hour writes, reported at the global 5-minute price.

    What weighs more depends on the tokens.
    """
    model = "us.anthropic.claude-opus-4-6-v1"
    for uuid, counts in (("a", (10, 10, 10, 100_000)), ("b", (10, 900_000, 10, 1_000))):
        split = {
            "cacheCreationEphemeral5mInputTokens": 0,
            "cacheCreationEphemeral1hInputTokens": counts[3],
        }
        put(store, {model: usage(f"{cost(rates(OPUS), *counts):.9f}", *counts, **split)}, uuid)
    found = rows(store, "select cost_cause from model_usage order by run_id")
    assert [row["cost_cause"] for row in found] == ["1h_cache_writes", "regional_endpoint"]
    told = rows(
        store,
        (
            "select message from findings where rule in ('cost_1h_cache_writes', "
            "'cost_regional_endpoint')"
        ),
    )
    assert all(
        "global endpoint, with 1-hour cache writes at the 5-minute rate" in row["message"]
        for row in told
    )


def test_a_total_above_its_models_misses_a_model(store: Store) -> None:
    put(store, {OPUS: usage("0.005", 1000)}, total_cost_usd=0.02)
    [run] = rows(store, "select cost_cause, cost_delta_usd from runs")
    assert (run["cost_cause"], run["cost_delta_usd"]) == ("helper_model_missing", Decimal("-0.015"))
    assert len(rows(store, "select 1 from findings where rule = 'cost_helper_model_missing'")) == 1


def test_numbers_beyond_reason_stop_nothing(store: Store) -> None:
    put(store, {OPUS: usage("1234", 246_800_000)}, "a")
    put(store, {OPUS: usage("1", 2**53, 2**53, 2**53, 2**53)}, "b")
    found = rows(
        store, "select cost_list_usd, cost_cause, price_status from model_usage order by run_id"
    )
    assert [tuple(row.values()) for row in found] == [
        (Decimal(1234), "same", "priced"),
        (None, None, "unpriced"),
    ]


def chain_of_three(split: bool) -> list[str]:
    """Three results of one session with totals so far."""
    made = []
    for number in (1, 2, 3):
        counts = [count * number for count in (100, 200, 3000, 400)]
        more = (
            {
                "cacheCreationEphemeral5mInputTokens": 0,
                "cacheCreationEphemeral1hInputTokens": counts[3],
            }
            if split
            else {}
        )
        model = usage(f"{cost(rates(OPUS), *counts):.9f}", *counts, **more)
        used = {
            "input_tokens": 100,
            "output_tokens": 200,
            "cache_read_input_tokens": 3000,
            "cache_creation_input_tokens": 400,
        }
        made.append(
            record_text(
                uuid=str(number),
                modelUsage={OPUS: model},
                total_cost_usd=model["costUSD"],
                usage=used,
            )
        )
    return made


@pytest.mark.slow
@pytest.mark.parametrize(("split", "order"), [(True, [2, 0, 1]), (False, [1, 2, 0])])
def test_the_list_cost_of_a_chain_is_that_of_its_last_record(
    store: Store, split: bool, order: list[int]
) -> None:
    """Each record is priced for what it added, in whatever order and batches they come."""
    records = chain_of_three(split)
    for number in order:
        ingest([Source(str(number), records[number].encode())], store)
    [found] = rows(
        store,
        (
            "select sum(cost_list_usd) as listed, sum(cost_own_usd) as own, count(distinct "
            "cost_list_usd) as kinds from runs"
        ),
    )
    assert (found["listed"], found["kinds"]) == (
        cost(rates(OPUS), 300, 600, 9000, 1200, 1200 if split else 0),
        1,
    )
    assert {row["cost_cause"] for row in rows(store, "select cost_cause from runs")} == {
        "1h_cache_writes" if split else "same"
    }


PRICED = "select * exclude (price_date) from model_usage order by run_id, model_id"
FOUND = "select * from findings order by all"


@pytest.mark.slow
def test_batches_rebuilds_and_pricing_anew_change_no_price(tmp_path: Path) -> None:
    texts = [(path.name, path.read_bytes()) for path in sorted(SAMPLES.iterdir())] + [
        ("x", "\n".join(chain_of_three(True)).encode())
    ]
    whole, parts = Store(tmp_path / "whole.duckdb"), Store(tmp_path / "parts.duckdb")
    ingest([Source(*text) for text in texts], whole)
    for text in reversed(texts):
        ingest([Source(*text)], parts)
    runs = (
        "select run_id, cost_list_usd, cost_delta_usd, cost_cause, cost_uncached_usd, "
        "cost_cache_write_usd, findings from runs order by 1"
    )
    expected = [rows(whole, sql) for sql in (PRICED, FOUND, runs)]
    assert [rows(parts, sql) for sql in (PRICED, FOUND, runs)] == expected
    assert reprice(whole) == 6
    assert [rows(whole, sql) for sql in (PRICED, FOUND, runs)] == expected
    rebuild(parts)
    assert [rows(parts, sql) for sql in (PRICED, FOUND, runs)] == expected


def test_the_day_of_a_price_is_that_of_the_run_else_of_its_first_reading(store: Store) -> None:
    text = json.dumps(
        {
            "type": "system",
            "subtype": "init",
            "timestamp": "2026-02-03T23:59:00Z",
            "session_id": "a",
        }
    )
    put(store, {OPUS: usage("0.005", 1000)}, "today")
    ingest(
        [Source("s", f"{text}\n{record_text(uuid='then', session_id='a')}".encode())],
        store,
        Options(),
    )
    found = {
        row["run_id"]: row["price_date"]
        for row in rows(store, "select run_id, price_date from model_usage")
    }
    received = rows(store, "select cast(max(received_at) as date) as day from sources")[0]["day"]
    assert found == {"today": received, "then": date(2026, 2, 3)}


def test_every_cause_has_a_meaning_and_a_severity_that_findings_know() -> None:
    assert set(CAUSES) == set(CostCause)
    assert {meaning.severity for meaning in COST_RULES.values()} <= {
        severity.value for severity in Severity
    }
    assert all(meaning.meaning.endswith(".") for meaning in COST_RULES.values())
    page = (ROOT / "docs" / "prices.md").read_text()
    assert all(f"`{cause}`" in page for cause in CostCause)
