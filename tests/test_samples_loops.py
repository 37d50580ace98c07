"""The sample loop, against the plan that its two files were written from."""

from __future__ import annotations

from decimal import Decimal

import pytest

from app.queries import runs as run_queries
from app.queries.loop_statistics import LoopProgress, NoiseFrom
from app.queries.loops import LoopVerdict, loops
from app.text.loops import heading_of
from ingest.store.database import Store
from schemas.rows.loop import State
from tests.conftest import ROOT, StoreOnce, ingest_paths

SESSION, TOTAL_USD = "01a1528f-6c1b-7d02-9a41-5e0f6b2c7d18", Decimal("0.7829")


@pytest.fixture(scope="module")
def store(read_once: StoreOnce) -> Store:
    """A store of the loop's log and its session: to be read only."""
    return read_once(
        "sample-loop", lambda store: ingest_paths(store, ROOT / "sample_logs" / "loops")
    )


def test_the_loop_is_that_of_the_plan(store: Store) -> None:
    [found] = loops(store)
    assert heading_of(found).startswith(
        "Faster product search: 5 of 13 tries kept, +37%, beyond noise (1.3%)"
    )
    assert {state: found.counts[state] for state in State} == {
        State.BASELINE: 1,
        State.KEPT: 5,
        State.DISCARDED: 5,
        State.CRASHED: 2,
        State.CHECKS_FAILED: 1,
        State.OTHER: 0,
    }
    assert (found.baseline, found.best, found.best_at) == (812.4, 592.6, 10)
    improved = {one.number: one.verdict for one in found.tries if one.is_improvement}
    assert improved == {2: LoopVerdict.BEYOND, 7: LoopVerdict.BEYOND, 10: LoopVerdict.INSIDE}
    assert found.noise is not None
    assert (found.noise.source, found.noise.degrees) == (NoiseFrom.REPEATS, 2), (
        "experiments 5 and 13 measure 2 and 10 again"
    )
    assert found.state is LoopProgress.IMPROVING


def test_its_session_costs_what_its_responses_cost(store: Store) -> None:
    run = run_queries.run(store, SESSION)
    assert run is not None
    assert run["cost_own_usd"].quantize(Decimal("0.0001")) == TOTAL_USD


def test_set_up_experiments_and_rest_are_the_sessions_cost(store: Store) -> None:
    """To the cent: the session wrote every line of the log itself."""
    [found] = loops(store)
    [session] = found.costs.sessions
    assert (session.run_id, session.evidence, session.experiments, found.costs.basis) == (
        SESSION,
        "wrote the log",
        14,
        "exact",
    )
    assert (
        session.setup_usd + session.experiments_usd + session.rest_usd
        == session.cost_usd
        == found.cost_usd
    )
    assert (
        sum(one.cost_usd for one in found.tries if one.cost_usd)
        == session.experiments_usd
        > session.setup_usd
        > session.rest_usd
        > 0
    )
