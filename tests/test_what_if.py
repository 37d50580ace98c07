"""The same tokens at other prices: exact, by group, and never for a model that has none."""

from __future__ import annotations

from decimal import Decimal

import pytest

from app.queries import runs as run_queries
from app.queries.cost import what_if
from app.queries.filters import Filters, choose
from ingest.store.database import Store
from schemas.errors import UsageError
from tests.conftest import Run
from tests.test_pricing import put, rows, usage

ALL = Filters()


def test_the_samples_as_haiku_by_hand(sample_store: Store) -> None:
    """The cost of the sample tokens at 1, 5, 0.1 and 1.25 USD per million, computed by hand.

    89803 input, 43860 output, 3949958 cache read and 184401 cache write tokens.
    """
    found = what_if(sample_store, ALL, (), "claude-haiku-4-5")
    [row] = found.table.to_pylist()
    expected = (89_803 + 43_860 * 5 + Decimal("394995.8") + Decimal("230501.25")) / 10**6
    costs = ("cost_list_usd", "cost_what_if_usd", "cost_what_if_delta_usd")
    assert list(row) == ["runs", *(key for cost in costs for key in (cost, f"{cost}_known"))]
    assert (row["cost_what_if_usd"], row["cost_list_usd"]) == (expected, Decimal("3.102288565"))
    assert row["cost_what_if_delta_usd"] == expected - Decimal("3.102288565")
    assert "anthropic/claude-haiku-4-5" in found.words


def test_a_models_own_price_changes_nothing(store: Store) -> None:
    put(store, {"claude-opus-4-6": usage("1", 1234, 5678, 91_011, 12_131, webSearchRequests=3)})
    [row] = what_if(store, ALL, (), "claude-opus-4-6").table.to_pylist()
    assert row["cost_what_if_usd"] == row["cost_list_usd"] != 0


def test_groups_add_up_and_filters_hold(sample_store: Store) -> None:
    total = what_if(sample_store, ALL, (), "claude-sonnet-4-5@aws").table.to_pylist()[0]
    groups = what_if(
        sample_store, ALL, ("run", "label:a"), "claude-sonnet-4-5@aws"
    ).table.to_pylist()
    assert sum(row["cost_what_if_usd"] for row in groups) == total["cost_what_if_usd"]
    chosen = choose({"session": groups[0]["run"]})
    assert (
        what_if(sample_store, chosen, (), "claude-sonnet-4-5@aws").table.to_pylist()[0]["runs"] == 0
    )


def test_an_unpriced_run_has_a_what_if_but_no_difference(store: Store) -> None:
    put(store, {"a-model-of-ours": usage("1", 1_000_000)})
    [row] = what_if(store, ALL, (), "claude-haiku-4-5").table.to_pylist()
    assert (row["cost_list_usd"], row["cost_what_if_usd"], row["cost_what_if_delta_usd"]) == (
        None,
        1,
        None,
    )
    assert (
        row["cost_list_usd_known"],
        row["cost_what_if_usd_known"],
        row["cost_what_if_delta_usd_known"],
    ) == (0, 1, 0)


@pytest.mark.parametrize(
    ("model", "near"),
    [
        ("claude-opus-9", "claude-opus-5@anthropic"),
        ("glm-5.1@zhipu", "MODEL@PROVIDER"),
        ("claude-sonet-4-6@anthropic", "claude-sonnet-4-6"),
    ],
)
def test_an_unknown_model_is_an_error_with_names_that_come_near(
    sample_store: Store, model: str, near: str
) -> None:
    with pytest.raises(UsageError, match="no list price") as caught:
        what_if(sample_store, ALL, (), model)
    assert near in caught.value.hint


def test_the_store_is_left_as_it_was(sample_store: Store) -> None:
    before = rows(sample_store, "select * from model_usage order by all")
    what_if(sample_store, ALL, ("model",), "claude-haiku-4-5")
    assert rows(sample_store, "select * from model_usage order by all") == before
    assert run_queries.summary(sample_store, ALL).num_rows == 1


def test_the_report_says_that_it_is_a_thought(sample_store: Store, tachograph: Run) -> None:
    done = tachograph("report --reprice claude-haiku-4-5 --db", sample_store.location)
    assert "What if: the same tokens at the list prices of claude-haiku-4-5" in done.stdout
    assert "$0.93" in done.stdout
