"""Chains of results whose totals are cumulative: laws of their places, and of their sums."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.queries import models as model_queries
from app.queries import runs as run_queries
from app.queries.filters import Filters
from ingest.store.chains import ChainPlace, Link, Totals, places
from ingest.store.database import Store
from tests.conftest import fetched, ingest_paths
from tests.examples import examples
from tests.golden_logs import LOGS


def test_the_totals_of_one_process_count_once(store: Store) -> None:
    """In the sums of runs and of models. API time too; time on the clock is each result's own."""
    ingest_paths(store, LOGS / "chains/totals_of_one_process.jsonl")
    names = ["cost_usd", "duration_api_ms", "duration_ms"]
    [summed] = run_queries.summary(store, Filters(), metrics=names).to_pylist()
    assert [summed[name] for name in names] == [Decimal("0.5826"), 249_110, 681_505]
    models = model_queries.models(store, Filters())["cost_usd"].to_pylist()
    assert sum(models) == Decimal("0.5826")


def test_the_models_of_a_run_cost_what_its_model_rows_say(store: Store) -> None:
    ingest_paths(store, LOGS / "chains/models_of_a_run_cost_what_their_rows_have")
    of_runs = (
        "select run_id, unnest(models) as model, unnest(model_costs_usd) as cost_usd from "
        "runs order by all"
    )
    of_rows = (
        "select run_id, model, sum(cost_own_usd) as cost_usd from model_usage where model is "
        "not null group by all order by all"
    )
    found = fetched(store, of_runs)
    assert found == fetched(store, of_rows)
    assert len(found) == 20


def link(number: int, output: int, usage: int | None) -> Link:
    totals = Totals((0, output, 0, 0), Decimal(output))
    return Link(
        f"r{number}",
        "s",
        f"source{number}",
        0,
        False,
        {"m": totals},
        None if usage is None else (0, usage, 0, 0),
    )


@given(
    st.lists(st.tuples(st.integers(0, 50), st.none() | st.integers(0, 50)), max_size=8),
    st.randoms(),
)
def test_places_are_a_function_of_the_records_alone(
    figures: list[tuple[int, int | None]], chance: Any
) -> None:
    session = [link(number, output, usage) for number, (output, usage) in enumerate(figures)]
    found, doubtful = places(session)
    chance.shuffle(session)
    assert places(session) == (found, doubtful)
    assert set(found) == {one.run_id for one in session}
    assert places([link(1, 5, 5), link(2, 8, 3)])[0]["r2"] == ChainPlace("r1", 2, "r1")


@given(st.lists(st.integers(0, 50), max_size=8))
def test_what_the_links_of_a_chain_added_is_its_largest_total(outputs: list[int]) -> None:
    """Where everything continues everything smaller, nothing is counted twice."""
    ordered = [
        (number, link(number, output, None)) for number, output in enumerate(sorted(outputs))
    ]
    session = [
        replace(one, ordinal=number, source_id="stream", in_stream=True) for number, one in ordered
    ]
    size = {one.run_id: one.models["m"].tokens[1] for one in session}
    found, _ = places(session)
    own = {
        run_id: size[run_id] - size.get(place.earlier or "", 0) for run_id, place in found.items()
    }
    assert sum(own.values()) == max(outputs, default=0)


counts = st.integers(0, 3).map(lambda size: 10**size)
invocations = st.tuples(
    st.lists(st.tuples(counts, counts, counts, counts), min_size=1, max_size=2), st.booleans()
)


@pytest.mark.slow
@given(st.lists(invocations, min_size=2, max_size=6))
@examples(100)
def test_of_processes_that_start_from_zero_none_is_joined(
    made: list[tuple[list[tuple[int, ...]], bool]],
) -> None:
    """Main loop and sub-agents of one model; usage tells the main loop alone, or nothing.

    A few odd tokens keep such round figures from agreeing to the token, which those of real runs do
    not by chance.
    """
    links = []
    for number, (loops, tells) in enumerate(made):
        main = tuple(count + 7**number for count in loops[0])
        tokens = tuple(map(sum, zip(main, *loops[1:], strict=True)))
        totals = Totals(tokens, Decimal(sum(tokens)))  # type: ignore[arg-type]  # four of them
        links.append(
            Link(f"r{number}", "s", f"f{number}", 0, False, {"m": totals}, main if tells else None)
        )
    assert all(place.earlier is None for place in places(links)[0].values())
