"""Responses at the price of their own day, size and service; sums that are exact.

What the agent reports beyond them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.queries.filters import NO_FILTERS
from app.queries.models import model_costs
from ingest.prices.price_file import parse_price_file
from ingest.store.database import Store, Writer, made
from ingest.store.pricing import price, reprice
from ingest.store.sessions import bill, note_sessions
from schemas.catalogue.cost_measures import LIST
from schemas.rows.price import PriceFileRow
from schemas.rows.response import ResponseCopyRow
from schemas.rows.run import ModelUsageRow, Outcome, RecordKind, RunRow, TokensBasis
from tests.examples import examples

OPUS_45, OPUS_46, SONNET_45 = "claude-opus-4-5", "claude-opus-4-6", "claude-sonnet-4-5"
NOON = datetime(2026, 2, 1, 12, tzinfo=UTC)
ZERO = {"input_tokens": 0, "output_tokens": 0, "cache_read_tokens": 0, "cache_write_tokens": 0}


def response(model: Any = OPUS_45, **told: Any) -> dict[str, Any]:
    provider = (
        "openai" if model.startswith("gpt") else "anthropic" if model.startswith("claude") else None
    )
    return ZERO | {"model_id": model, "model": model, "provider": provider, "at": NOON} | told


def transcript(session: str = "s", **more: Any) -> RunRow:
    told: dict[str, Any] = dict.fromkeys(("run_id", "session_id", "source_id", "chain_id"), session)
    told |= {
        "record_kind": RecordKind.TRANSCRIPT,
        "started_at": NOON,
        "outcome": Outcome.UNKNOWN,
        "agent": "claude-code",
        "raw": "{}",
    }
    return RunRow(**told | {"ordinal": 0, "chain_position": 1} | more)


def result(
    run_id: str, models: Sequence[dict[str, Any]], session: str = "s"
) -> tuple[RunRow, list[ModelUsageRow]]:
    """A result record of a session with some model rows, and its cost as their sum."""
    cost = sum((model["cost_own_usd"] for model in models), Decimal(0))
    run = transcript(
        session,
        run_id=run_id,
        chain_id=run_id,
        record_kind=RecordKind.RESULT,
        cost_reported_usd=cost,
        cost_own_usd=cost,
    )
    own = [{f"own_{name}": model[name] for name in ZERO} for model in models]
    return run, [
        ModelUsageRow(run_id=run_id, **model | more)
        for model, more in zip(models, own, strict=True)
    ]


def put(
    writer: Writer,
    responses: Sequence[dict[str, Any]],
    run: RunRow | None = None,
    models: Sequence[ModelUsageRow] = (),
) -> None:
    """A session with these responses, as a commit writes it."""
    run = run or transcript()
    session = run.session_id or ""
    writer.insert("runs", [run])
    writer.insert("model_usage", models)
    copies = [
        ResponseCopyRow(
            message_id=f"{session} {number}",
            source_id=session,
            session_id=session,
            response_no=number,
            **told,
        )
        for number, told in enumerate(responses)
    ]
    writer.insert("response_copies", copies)
    assert note_sessions(writer.connection, f"select '{session}' as session_id")
    made(writer.connection, "affected", "select null::varchar as run_id where false")
    bill(writer.connection)
    price(writer, "select run_id from runs")


@contextmanager
def reading(store: Store) -> Iterator[Any]:
    with store.reading() as connection:
        yield lambda sql: connection.sql(sql).to_arrow_table().to_pylist()


def priced(store: Store, *responses: dict[str, Any], **run: Any) -> list[dict[str, Any]]:
    """The responses of a transcript as they are priced, in order."""
    with store.writing() as writer:
        put(writer, responses, transcript(**run))
    with reading(store) as rows:
        return rows("select * from responses order by length(response_id), response_id")  # type: ignore[no-any-return]


PLAIN = "0.00255"  # 10 × 5 + 100 × 25 dollars per million
CASES = """
plain | claude-opus-4-5 | input 10 output 100 | 0.00255 |
costUSD 0 | claude-opus-4-5 | input 10 output 100 reported 0 | 0.00255 |
1-hour writes | claude-opus-4-5 | write 1000000 5m 0 1h 1000000 | 10 |
both lifetimes | claude-opus-4-5 | write 1000000 5m 600000 1h 400000 | 7.75 |
no lifetime | claude-opus-4-5 | write 1000000 | 6.25 | cache writes assumed 5-minute
the rest of a split at 5 minutes | claude-opus-4-5 | write 1000000 5m 100000 1h 300000 | 7.375 | cache writes assumed 5-minute
searches | claude-opus-4-5 | input 10 output 100 searches 3 | 0.03255 | web searches
fast mode × 6 | claude-opus-4-6 | input 10 output 100 speed fast | 0.0153 | fast mode
fast mode as the library has it | claude-opus-5 | input 10 output 100 speed fast | 0.0051 | fast mode
fast mode without a price | claude-haiku-4-5 | output 100 speed fast | 0.0005 | fast mode at the standard price
above 200,000: the whole request | claude-sonnet-4-5 | input 150000 output 1000 read 100000 | 0.9825 | long context
exactly 200,000: base | claude-sonnet-4-5 | input 100000 output 1000 read 100000 | 0.345 |
cache writes are a part of the prompt | claude-sonnet-4-5 | write 200001 5m 200001 1h 0 | 1.5000075 | long context
Sonnet 4, by its price page | claude-sonnet-4 | input 200001 output 1 | 1.2000285 | long context
Opus 4.6 before its tier ended | claude-opus-4-6 | at 2026-02-10 read 250000 | 0.25 | long context
Opus 4.6 since | claude-opus-4-6 | at 2026-03-13 read 250000 | 0.125 |
above 272,000 | gpt-5.5 | input 300000 output 1000 | 3.045 | long context
exactly 272,000: base | gpt-5.5 | input 272000 output 1000 | 1.39 |
no cached rate: the input rate | gpt-5-pro | read 1000 | 0.015 |
standard tier | claude-opus-4-5 | input 10 output 100 tier standard | 0.00255 |
batch | claude-opus-4-5 | input 10 output 100 tier batch | 0.001275 | batch
a tier without a price | claude-opus-4-5 | output 100 tier priority | 0.0025 | priority tier at the standard price
a tier with a price | gpt-5.5 | at 2026-10-20 output 100 tier priority | 0.0075 | priority tier
US inference | claude-opus-4-6 | input 10 output 100 geo us | 0.002805 | US inference
global inference | claude-opus-4-6 | input 10 output 100 geo global | 0.00255 |
no choice of region yet | claude-opus-4-5 | input 10 output 100 geo us | 0.00255 |
all: searches keep their price | claude-opus-4-6 | at 2026-02-10 read 250000 tier batch geo us searches 1 | 0.1475 | batch, US inference, long context, web searches
"""  # noqa: E501
"""Case | model | what its response has | its price in USD, by hand from the price pages | note."""

COLUMNS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "read": "cache_read_tokens",
    "write": "cache_write_tokens",
    "5m": "cache_write_5m_tokens",
    "1h": "cache_write_1h_tokens",
    "searches": "web_search_requests",
    "tier": "service_tier",
    "geo": "inference_geo",
    "reported": "cost_reported_usd",
}


def cases() -> Iterator[tuple[str, dict[str, Any], Decimal, str | None]]:
    """Yield each case: its name, its response, price and note."""
    for line in CASES.strip().splitlines():
        name, model, words, cost, note = (cell.strip() for cell in line.split("|"))
        pairs = zip(words.split()[::2], words.split()[1::2], strict=True)
        told: dict[str, Any] = {
            COLUMNS.get(key, key): int(value) if value.isdigit() else value for key, value in pairs
        }
        if "cost_reported_usd" in told:
            told["cost_reported_usd"] = Decimal(told["cost_reported_usd"])
        if "at" in told:
            told["at"] = datetime.fromisoformat(told["at"]).replace(tzinfo=UTC)
        yield name, response(model, **told), Decimal(cost), note or None


def test_what_decides_the_price_of_a_response(store: Store) -> None:
    """All cases are the responses of one session: a store for each would take longer."""
    found = priced(store, *(told for _, told, _, _ in cases()))
    for row, (name, told, cost, note) in zip(found, cases(), strict=True):
        assert (row["cost_list_usd"], row["price_note"], row["price_status"]) == (
            cost,
            note,
            "priced",
        ), name
        assert row["price_source"].startswith("genai-prices ")
        assert row["cost_reported_usd"] == told.get("cost_reported_usd"), (
            "what a line says stands beside the list price"
        )


def test_each_response_has_the_price_of_its_own_day_and_without_a_time_that_of_its_run(
    store: Store,
) -> None:
    """o3 cost $10 per million until 2025-06-09."""
    days = (datetime(2025, 6, 9, 23, 59, tzinfo=UTC), datetime(2025, 6, 10, tzinfo=UTC), None)
    found = priced(
        store,
        *(response("o3", provider="openai", input_tokens=1_000_000, at=day) for day in days),
        started_at=days[0],
    )
    assert [row["cost_list_usd"] for row in found] == [10, 2, 10]


def test_an_unknown_model_costs_nothing_known_and_never_0(store: Store) -> None:
    known, unknown = priced(
        store,
        response(output_tokens=100),
        response("acme-coder-9", input_tokens=10, output_tokens=100)
        | {"tokens_basis": TokensBasis.UPPER_BOUND},
    )
    assert (unknown["cost_list_usd"], unknown["price_status"], unknown["price_note"]) == (
        None,
        "unpriced",
        None,
    )
    assert known["cost_list_usd"] == Decimal("0.0025")
    with reading(store) as rows:
        [run] = rows("select cost_list_usd, price_status, unpriced_tokens from runs")
        assert run == {"cost_list_usd": None, "price_status": "unpriced", "unpriced_tokens": 110}
        assert [
            row["cost_list_usd"] for row in rows("select * from model_usage order by model_id")
        ] == [None, Decimal("0.0025")]
    unpriced = {"model": "acme-coder-9", "cost_usd": None, "bounds": None}
    assert unpriced in model_costs(store, NO_FILTERS, LIST).to_pylist()


def test_a_class_that_is_not_told_is_0_only_where_the_tokens_are_a_bound(store: Store) -> None:
    told = response(output_tokens=100, input_tokens=None)
    found = priced(
        store,
        told,
        told | {"tokens_basis": TokensBasis.UPPER_BOUND},
        told | {"output_is_final": False},
    )
    assert [row["cost_list_usd"] for row in found] == [None, Decimal("0.0025"), Decimal("0.0025")]
    with reading(store) as rows:
        assert rows("select cost_list_usd from model_usage") == [{"cost_list_usd": None}]


counts = st.one_of(st.integers(0, 400_000), st.sampled_from([0, 200_000, 200_001, 272_000]))
some_responses = st.builds(
    response,
    model=st.sampled_from([OPUS_45, OPUS_46, SONNET_45, "claude-haiku-5-5", "gpt-5.4"]),
    at=st.one_of(
        st.none(),
        st.sampled_from(
            [NOON, datetime(2026, 3, 13, tzinfo=UTC), datetime(2026, 10, 20, tzinfo=UTC)]
        ),
    ),
    **dict.fromkeys(ZERO, counts),
    cache_write_1h_tokens=st.one_of(st.none(), counts),
    web_search_requests=st.one_of(st.none(), st.integers(0, 3)),
    speed=st.sampled_from([None, "standard", "fast"]),
    service_tier=st.sampled_from([None, "standard", "batch", "priority"]),
    inference_geo=st.sampled_from([None, "us", "not_available"]),
    output_is_final=st.booleans(),
)

SUMS = """
with of_models as (
    select run_id, model_id, sum(cost_list_usd) as cost from responses group by run_id, model_id
)
select bool_and(model_usage.cost_list_usd = cost) and bool_and(model_usage.price_status = 'priced') as models,
       any_value(runs.cost_list_usd) = sum(cost) as run,
       bool_and(model_usage.cost_cache_write_usd <= cost)
       and any_value(runs.cost_uncached_usd) = sum(model_usage.cost_uncached_usd) as parts
from model_usage join of_models using (run_id, model_id) join runs using (run_id)
"""  # noqa: E501


@pytest.mark.slow
@examples(3)
@given(responses=st.lists(some_responses, min_size=1, max_size=12))
def test_responses_add_up_to_their_models_and_models_to_the_run_exactly(
    tmp_path_factory: pytest.TempPathFactory, responses: list[dict[str, Any]]
) -> None:
    store = Store(tmp_path_factory.mktemp("store") / "a.duckdb")
    before = priced(store, *responses)
    with reading(store) as rows:
        assert rows(SUMS) == [{"models": True, "run": True, "parts": True}]
    reprice(store)
    with reading(store) as rows:
        assert rows(SUMS) == [{"models": True, "run": True, "parts": True}]
        assert (
            rows("select * from responses order by length(response_id), response_id") == before
        ), "pricing again changes nothing"


def price_file(tmp_path: Path, text: str) -> PriceFileRow:
    parse_price_file("own.toml", text)
    return PriceFileRow(name="own.toml", text=text, read_at=NOON)


def test_a_price_of_the_users_own_holds_for_every_request_and_a_discount_for_every_tier(
    store: Store, tmp_path: Path
) -> None:
    long = {"input_tokens": 300_000, "service_tier": "batch"}
    assert [row["cost_list_usd"] for row in priced(store, response(SONNET_45, **long))] == [
        Decimal("0.9")
    ]
    reprice(store, price_file(tmp_path, f'[[price]]\nmodel = "{SONNET_45}"\ninput = 1\noutput = 2'))
    with reading(store) as rows:
        [found] = rows("select cost_list_usd, price_note, price_source from responses")
        assert found == {
            "cost_list_usd": Decimal("0.3"),
            "price_note": None,
            "price_source": "own.toml: [[price]] number 1",
        }
        assert rows("select cost_list_usd, price_source from model_usage") == [
            {"cost_list_usd": Decimal("0.3"), "price_source": "own.toml: [[price]] number 1"}
        ]
    reprice(store, price_file(tmp_path, '[[discount]]\nprovider = "anthropic"\npercent = 10'))
    with reading(store) as rows:
        [found] = rows("select cost_list_usd, price_note from responses")
        assert found == {"cost_list_usd": Decimal("0.81"), "price_note": "batch, long context"}
    reprice(store, forget=True)
    with reading(store) as rows:
        assert rows("select cost_list_usd from runs") == [{"cost_list_usd": Decimal("0.9")}]


def test_a_reported_total_above_the_responses_is_named_with_both_numbers(store: Store) -> None:
    """Requests for titles and summaries are in no transcript."""
    priced(
        store,
        response(input_tokens=10, output_tokens=100),
        cost_reported_usd=Decimal("0.25"),
        cost_own_usd=Decimal("0.25"),
    )
    with reading(store) as rows:
        [run] = rows("select cost_own_usd, cost_list_usd, cost_cause, findings from runs")
        assert run == {
            "cost_own_usd": Decimal("0.25"),
            "cost_list_usd": Decimal(PLAIN),
            "cost_cause": "outside_transcript",
            "findings": 1,
        }
        [finding] = rows("select rule, severity, expected, actual from findings")
        assert finding == {
            "rule": "cost_outside_transcript",
            "severity": "info",
            "expected": "$0.0026 at list prices over 1 response",
            "actual": "$0.2500 reported",
        }


def test_a_reported_total_up_to_that_of_the_responses(store: Store) -> None:
    for session, reported in (("a", PLAIN), ("b", "0.001"), ("c", None)):
        cost = reported and Decimal(reported)
        priced(
            store,
            response(input_tokens=10, output_tokens=100),
            session=session,
            cost_reported_usd=cost,
            cost_own_usd=cost,
        )
    with reading(store) as rows:
        found = {
            row["run_id"]: (row["cost_cause"], row["findings"])
            for row in rows("select run_id, cost_cause, findings from runs")
        }
    assert found == {"a": ("same", 0), "b": ("unexplained", 1), "c": (None, 0)}


def usage(model: str, cost: str, **told: Any) -> dict[str, Any]:
    return (
        response(model)
        | {"cost_own_usd": Decimal(cost), "cost_reported_usd": Decimal(cost), "at": None}
        | told
    )


def model_rows(
    store: Store, *models: dict[str, Any], responses: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    told = [{name: value for name, value in model.items() if name != "at"} for model in models]
    run, rows_of_models = result("r", told)
    with store.writing() as writer:
        put(writer, responses, run, rows_of_models)
    with reading(store) as rows:
        return rows("select * from model_usage order by model_id")  # type: ignore[no-any-return]


def test_responses_decide_the_tier_of_a_record_with_the_same_tokens(store: Store) -> None:
    """The transcript has the model's dated id, and how long cache writes were kept.

    It also has which requests were long.
    """
    dated = {"model_id": f"{SONNET_45}-20250929"}
    long = response(
        SONNET_45, **dated, input_tokens=250_000, cache_write_tokens=10, cache_write_1h_tokens=10
    )
    short = response(SONNET_45, **dated, input_tokens=100_000)
    [row] = model_rows(
        store,
        usage(SONNET_45, "1.80012", input_tokens=350_000, cache_write_tokens=10),
        responses=[long, short],
    )
    assert row["cost_list_usd"] == Decimal("1.5") + Decimal("0.00012") + Decimal("0.3")
    assert (row["cost_cause"], row["own_cache_write_1h_tokens"]) == ("same", 10)
    with reading(store) as rows:
        assert rows("select run_id, cost_list_usd from responses where run_id <> 'r'") == [], (
            "they belong to the run of the record"
        )
        assert rows("select rule from findings") == []


SHORT = {"cache_write_tokens": 190_000, "cache_write_1h_tokens": 190_000}
LONG = {"input_tokens": 250_000, "cache_write_tokens": 1_000, "cache_write_1h_tokens": 1_000}


DIFFERING: tuple[tuple[list[dict[str, Any]], str, str, str], ...] = (
    ([LONG], "0.756", "long_context", "without the long-context tier of some requests"),
    ([LONG], "0.75375", "long_context", "without the long-context tier of some requests"),
    (
        [LONG, *[SHORT] * 20],
        "15.00375",
        "1h_cache_writes",
        "with 1-hour cache writes at the 5-minute rate",
    ),
    (
        [{"output_tokens": 100, "speed": "fast"}],
        "0.0025",
        "fast_mode",
        "without fast mode of some requests",
    ),
    (
        [{"output_tokens": 100, "service_tier": "batch"}],
        "0.0025",
        "service_tier",
        "without the service tier of some requests",
    ),
    (
        [{"output_tokens": 100, "inference_geo": "us"}],
        "0.0025",
        "regional_endpoint",
        "the price of the global endpoint",
    ),
    ([LONG], "0.7", "unexplained", "no known price"),
)


def test_a_record_at_base_rates_has_the_cause_that_its_responses_tell(store: Store) -> None:
    """The second and third are also without the price of 1-hour cache writes.

    The smaller and the larger part of the difference.
    """
    with store.writing() as writer:
        for number, (responses, reported, *_) in enumerate(DIFFERING):
            model = SONNET_45 if responses[0] is LONG else OPUS_46
            told = [response(model, **one) for one in responses]
            sums = {name: sum(one.get(name) or 0 for one in told) for name in ZERO}
            used = {
                name: value
                for name, value in usage(model, reported, **sums).items()
                if name != "at"
            }
            put(writer, told, *result(f"r{number}", [used], f"s{number}"))
    with reading(store) as rows:
        found = rows(
            "select cost_cause, rule, message from model_usage join findings using (run_id) "
            "order by run_id"
        )
    for row, (_, _, cause, words) in zip(found, DIFFERING, strict=True):
        assert (row["cost_cause"], row["rule"]) == (cause, f"cost_{cause}")
        assert words in row["message"]


def test_a_model_row_with_other_tokens_than_its_responses_keeps_its_sum(store: Store) -> None:
    """A request that is in no transcript: what it was like is not known."""
    main = response(SONNET_45, input_tokens=250_000)
    [row] = model_rows(store, usage(SONNET_45, "0.78", input_tokens=260_000), responses=[main])
    assert (row["cost_list_usd"], row["cost_cause"]) == (Decimal("0.78"), "same")
    with reading(store) as rows:
        assert rows("select cost_list_usd from responses") == [{"cost_list_usd": Decimal("1.5")}]


def test_unfinished_output_is_told_beside_a_higher_total(store: Store) -> None:
    """Versions of early 2026 wrote the output count of the start of a message."""
    cut = response(input_tokens=10, output_tokens=1, output_is_final=False)
    priced(store, cut, cost_reported_usd=Decimal(PLAIN), cost_own_usd=Decimal(PLAIN))
    with reading(store) as rows:
        [finding] = rows("select rule, message from findings")
        assert finding["rule"] == "cost_outside_transcript"
        assert (
            "Of 1 of 1 responses only the output count of their start is known."
            in finding["message"]
        )
