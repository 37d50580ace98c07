"""Metrics against rows worked out by hand; filters in one grammar, bound and never pasted."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from app.queries import claims as claim_queries
from app.queries import models as model_queries
from app.queries import runs as run_queries
from app.queries.filters import FILTERS, Filters, choose, where
from app.queries.reading import ReadTransaction, read_transaction
from app.text.formatting import short
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from schemas.catalogue.dimensions import DIMENSIONS
from schemas.catalogue.metrics import MODEL_METRICS, RUN_METRICS
from schemas.errors import UsageError
from schemas.units import Unit
from tests.conftest import StoreOnce, record_text


def usage(model: str, cost: float, cache_read: int = 0) -> dict[str, Any]:
    return {
        model: {
            "inputTokens": 1,
            "outputTokens": 2,
            "cacheReadInputTokens": cache_read,
            "cacheCreationInputTokens": 0,
            "costUSD": cost,
        }
    }


OPUS, HAIKU = usage("claude-opus-4-6", 0.75), usage("claude-haiku-4-5-20251001", 0.25, 10)


def fill_four_runs(store: Store) -> None:
    """Costs 1, 2, 4 and unknown; turns 10, unknown, 30, 5; wall 10 s, 20 s, 60 s, unknown.

    The last one hit a limit.
    """
    first = record_text(
        uuid="a",
        total_cost_usd=1,
        num_turns=10,
        duration_ms=10_000,
        duration_api_ms=15_000,
        modelUsage=OPUS | HAIKU,
    )
    second = record_text(
        uuid="b",
        total_cost_usd=2,
        num_turns=...,
        duration_ms=20_000,
        duration_api_ms=15_000,
        modelUsage=usage("glm-5", 2),
    )
    third = record_text(
        uuid="c",
        total_cost_usd=4,
        num_turns=30,
        duration_ms=60_000,
        duration_api_ms=...,
        session_id="other",
        result="50% faster",
    )
    fourth = record_text(
        uuid="d",
        total_cost_usd=...,
        num_turns=5,
        duration_ms=...,
        is_error=True,
        result="You've hit your limit",
        modelUsage={},
    )
    ingest([Source("one", first.encode())], store, Options((("repo", "vllm"), ("team", "a"))))
    ingest([Source("rest", "\n".join([second, third, fourth]).encode())], store)


@pytest.fixture(scope="module")
def four_runs(store_once: StoreOnce) -> Store:
    return store_once("four_runs", fill_four_runs)


def test_metrics_leave_the_unknown_out_and_count_it(four_runs: Store) -> None:
    [row] = run_queries.summary(four_runs, Filters(), metrics=list(RUN_METRICS)).to_pylist()
    assert {
        key: row[key]
        for key in (
            "runs",
            "sessions",
            "cost_usd",
            "cost_mean_usd",
            "cost_median_usd",
            "cost_max_usd",
        )
    } == {
        "runs": 4,
        "sessions": 2,
        "cost_usd": Decimal(7),
        "cost_mean_usd": Decimal("2.333333333"),
        "cost_median_usd": Decimal(2),
        "cost_max_usd": Decimal(4),
    }
    assert (row["duration_ms"], row["turns"], row["turns_median"], row["error_rate"]) == (
        90_000,
        45,
        10,
        0.25,
    )
    assert (row["cost_usd_known"], row["duration_ms_known"], row["turns_known"]) == (3, 3, 3)


def test_ratios_rest_on_the_runs_that_have_both_sides(four_runs: Store) -> None:
    [row] = run_queries.summary(
        four_runs, Filters(), metrics=["parallelism", "cost_per_turn_usd"]
    ).to_pylist()
    assert (row["parallelism"], row["parallelism_known"]) == (1.0, 2)
    assert (row["cost_per_turn_usd"], row["cost_per_turn_usd_known"]) == (Decimal("0.125"), 2)


def test_groups_add_up_and_the_unknown_group_is_shown(four_runs: Store) -> None:
    rows = run_queries.summary(
        four_runs, Filters(), by=["model"], metrics=["runs", "cost_usd"]
    ).to_pylist()
    assert [(row["model"], row["runs"], row["cost_usd"]) for row in rows] == [
        ("claude-opus-4-6", 2, Decimal(5)),
        ("glm-5", 1, Decimal(2)),
        (None, 1, None),
    ]


def test_every_model_has_its_own_share(four_runs: Store) -> None:
    rows = model_queries.models(four_runs, Filters()).to_pylist()
    assert [
        (row["model"], row["runs"], row["cost_usd"], row["cache_read_tokens"]) for row in rows
    ] == [
        (None, 1, Decimal("3.75"), None),  # what a run cost beyond its models
        ("glm-5", 1, Decimal(2), 0),
        ("claude-opus-4-6", 2, Decimal(1), 30),
        ("claude-haiku-4-5", 1, Decimal("0.25"), 10),
    ]
    assert list(rows[0])[3:] == [
        name for metric in MODEL_METRICS for name in (metric, f"{metric}_known")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_every_dimension_groups_all_runs(four_runs: Store, dimension: str) -> None:
    assert sum(run_queries.summary(four_runs, Filters(), by=[dimension])["runs"].to_pylist()) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "found"),
    [
        ({}, "abcd"),
        ({"repo": "vllm"}, "a"),
        ({"repo": ["vllm", "sglang"]}, "a"),
        ({"model": "claude-haiku-4-5"}, "a"),
        ({"model": ["glm-5", "claude-opus-4-6"]}, "abc"),
        ({"outcome": "limit_reached"}, "d"),
        ({"session": "other"}, "c"),
        ({"label": "team=a"}, "a"),
        ({"label": ["team=a", "repo=sglang"]}, ""),
        ({"search": "50% FASTER"}, "c"),
        ({"search": "%"}, "c"),
        ({"search": "'; drop table runs; --"}, ""),
        ({"search": ["faster", "%"]}, "c"),
        ({"search": ["faster", "limit"]}, ""),
        ({"search": "limit", "model": ["glm-5", "claude-opus-4-6"]}, ""),
        ({"repo": "vllm", "outcome": "limit_reached"}, ""),
        ({"since": "2026-01-01"}, ""),
        ({"min-cost": "2"}, "bc"),
        ({"max-cost": "$2.00"}, "ab"),
        ({"min-cost": "0.5", "max-cost": "1"}, "a"),
    ],
)
def test_filters_find(four_runs: Store, words: dict[str, str], found: str) -> None:
    filters = choose(words)
    assert "".join(sorted(run_queries.runs(four_runs, filters)["run_id"].to_pylist())) == found
    assert run_queries.summary(four_runs, filters)["runs"].to_pylist() == [len(found)]
    transaction = ReadTransaction(four_runs)
    for _ in range(2 if "search" in words else 0):  # once more after the connection is gone
        searched = transaction.searched(filters)
        assert (
            "".join(sorted(run_queries.runs(transaction, searched)["run_id"].to_pylist())) == found
        )
        assert run_queries.summary(transaction, searched)["runs"].to_pylist() == [len(found)]
        transaction.end()


def test_a_list_that_is_read_in_parts_is_the_same(
    four_runs: Store,
    sample_store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also without a cost, with rows that only their id tells apart, a limit, and filters."""

    def lists() -> list[pa.Table]:
        found = []
        for limit in (None, 0, 1, 3, 4):
            for words in ({}, {"min-cost": "2"}, {"min-cost": "1000"}):
                found.append(run_queries.runs(four, choose(words), limit))
                found.append(claim_queries.claims(samples, choose(words), limit=limit))
        return found

    with (
        read_transaction(four_runs, copy_at=1) as four,
        read_transaction(sample_store, copy_at=1) as samples,
    ):
        at_once = lists()
        assert [table.num_rows > 3 for table in at_once[:3]] == [True, True, False]
        for rows in (1, 2, 3):
            monkeypatch.setattr("app.queries.reading.PART_ROWS", rows)
            monkeypatch.setattr("app.queries.runs.PART_ROWS", rows)
            assert lists() == at_once


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ({"colour": "red"}, "unknown filter 'colour'"),
        ({"label": "novalue"}, "key=value"),
        ({"since": "someday"}, "--since takes a date"),
        ({"min-cost": "cheap"}, "--min-cost takes an amount"),
        ({"max-cost": "-1"}, "--max-cost takes an amount"),
        ({"max-cost": "NaN"}, "--max-cost takes an amount"),
        ({"min-claim": "fast"}, "--min-claim takes a factor"),
        ({"min-claim": "0"}, "--min-claim takes a factor"),
        *(
            ({"min-confidence": text}, "--min-confidence takes a probability")
            for text in ("sure", "80", "-0.1", "101%", "nan", "%", "")
        ),
    ],
)
def test_bad_filters_say_what_is_right(words: dict[str, str], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        choose(words)


@pytest.mark.parametrize("key", FILTERS)
def test_values_are_bound_never_pasted(key: str) -> None:
    readable = {
        "label": "k=injected",
        "since": "2026-11-20",
        "until": "2026-11-20",
        "min-cost": "1",
        "max-cost": "1",
        "min-claim": "1",
    }
    readable |= {"starred": "yes", "excluded": "only", "copies": "only", "min-confidence": "80%"}
    readable |= {"verdict": "nobody", "judged": "hack", "time": "today", "landed": "open"}
    value = readable.get(key, "injected")
    condition = where(choose({key: value}))
    assert "injected" not in condition.sql
    assert len(condition.parameters) == 1


def test_a_cost_range_is_about_runs_also_where_models_are_counted(four_runs: Store) -> None:
    """The first run costs a dollar, of which its helper model made a quarter."""
    rows = model_queries.models(four_runs, choose({"max-cost": "1"})).to_pylist()
    assert [(row["model"], row["cost_usd"]) for row in rows] == [
        ("claude-opus-4-6", Decimal("0.75")),
        ("claude-haiku-4-5", Decimal("0.25")),
    ]
    assert not model_queries.models(four_runs, choose({"max-cost": "0.5"})).num_rows


def test_filters_write_themselves_as_the_command_line_does() -> None:
    assert (
        choose({"repo": ["a", "b"], "search": "x", "task": None}).as_words()
        == "--project a --project b --search x"
    )


def test_an_unknown_dimension_or_metric_lists_the_known_ones(four_runs: Store) -> None:
    with pytest.raises(UsageError, match=r"unknown dimension 'colour'(?s:.)*agent"):
        run_queries.summary(four_runs, Filters(), by=["colour"])
    with pytest.raises(UsageError, match="unknown metric 'x'"):
        run_queries.summary(four_runs, Filters(), metrics=["x"])


def test_a_run_that_does_not_exist_is_none(four_runs: Store) -> None:
    assert run_queries.run(four_runs, "' or true --") is None


@pytest.mark.parametrize(
    ("bounds", "shown"),
    [("lower_bound", "≥\u00a0$0"), ("upper_bound", "<1¢"), ("estimate", "≈\u00a0<1¢")],
)
def test_a_bound_below_a_cent_does_not_contradict_itself(bounds: str, shown: str) -> None:
    assert short(Decimal("0.004"), Unit.USD, bounds) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (None, Unit.USD, "–"),
        (Decimal("2.825104150"), Unit.USD, "$2.83"),
        (Decimal("0.000049200"), Unit.USD, "<1¢"),
        (Decimal("1234.5"), Unit.USD, "$1,234"),
        (0, Unit.USD, "$0"),
        (Decimal("0.99996"), Unit.USD, "$1.00"),
        (Decimal("-11.8192"), Unit.USD, "−$11.82"),
        (Decimal("-0.00214"), Unit.USD, "−<1¢"),
        (950, Unit.MILLISECONDS, "<1s"),
        (12_345, Unit.MILLISECONDS, "12s"),
        (253_963, Unit.MILLISECONDS, "4m 14s"),
        (11_131_411, Unit.MILLISECONDS, "3h 05m"),
        (59_970, Unit.MILLISECONDS, "1m 00s"),
        (999.7, Unit.MILLISECONDS, "<1s"),
        (999, Unit.TOKENS, "999"),
        (12_700, Unit.TOKENS, "13k"),
        (3_949_958, Unit.TOKENS, "3.9M"),
        (999_999, Unit.TOKENS, "1.0M"),
        (1.2111, Unit.RATIO, "1.21×"),
        (0.25, Unit.SHARE, "25%"),
        (20.5, Unit.COUNT, "20.5"),
        (Decimal(110), Unit.COUNT, "110"),
        ("text", Unit.TEXT, "text"),
        (2_500_000, Unit.BYTES, "2.5 MB"),
    ],
)
def test_values_are_written_for_people(value: object, unit: Unit, shown: str) -> None:
    assert short(value, unit) == shown
