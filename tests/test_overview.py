"""The Overview: each figure of its sentence, table and charts is checked by another computation.

Both are over the same runs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from app.charts import agents as charts
from app.charts import registry
from app.charts.images import mark_table
from app.queries import agents as queries
from app.queries import measured
from app.queries.agents import AgentFigures
from app.queries.filters import Filters
from app.queries.grouping import SIDES
from app.queries.reading import read_transaction
from app.reports.cost_report import ReportRequest, report
from app.reports.shared import question, shared
from app.text import overview as sentences
from app.text.agents import agent_table
from app.text.formatting import agent_name, usd
from ingest.store.database import Store
from schemas.catalogue.cost_measures import COST_MEASURES
from tests.conftest import ingest_paths
from tests.examples import examples
from tests.test_pricing import put, rows, usage

AGENTS = ("claude-code", "trae-agent", "codex", "openhands", "gemini-cli")
ENDS = ("completed", "limit_reached", "execution_error", "unknown")

_run = st.fixed_dictionaries(
    {
        "agent": st.sampled_from(AGENTS),
        "model_group": st.sampled_from(("m-one", "m-two", None)),
        "effort": st.sampled_from(("high", "max", None)),
        "is_started": st.booleans(),
        "outcome": st.sampled_from(ENDS),
        "cost_own_usd": st.none() | st.decimals(Decimal("0.01"), 50, places=2),
        "cost_list_usd": st.none() | st.decimals(Decimal("0.01"), 50, places=2),
        "tokens_basis": st.sampled_from(("exact", "upper_bound", "estimate")),
        "duration_ms": st.none() | st.integers(500, 5_000_000),
        "claimed_speedup": st.none() | st.floats(0.5, 50),
        "measured_class": st.sampled_from(
            ("faster", "same", "slower", "breaks", "no_baseline", "machine", "not_measured")
        ),
        "scope_differs": st.booleans(),
        "task_key": st.sampled_from(("a", "b", None)),
    }
)


_MONEY = pa.decimal128(18, 9)
_KINDS = {
    "agent": pa.string(),
    "model_group": pa.string(),
    "effort": pa.string(),
    "is_started": pa.bool_(),
    "outcome": pa.string(),
    "cost_own_usd": _MONEY,
    "cost_list_usd": _MONEY,
    "cost_best_usd": _MONEY,
    "cost_best_bounds": pa.string(),
    "cost_all_usd": _MONEY,
    "cost_all_bounds": pa.string(),
    "tokens_basis": pa.string(),
    "duration_ms": pa.int64(),
    "claimed_speedup": pa.float64(),
    "measured_speedup": pa.float64(),
    "measured_class": pa.string(),
    "claim_verdict": pa.string(),
    "scope_differs": pa.bool_(),
    "task_key": pa.string(),
}


class Runs:
    """A stand-in for a store.

    `v_runs` joined with `v_verdicts` as one table of generated runs, in a real DuckDB.
    """

    location = "generated"

    def __init__(self, runs: Sequence[dict[str, Any]]) -> None:
        self.connection = duckdb.connect()
        rows = pa.table(
            {name: pa.array([run[name] for run in runs], kind) for name, kind in _KINDS.items()}
        )
        self.connection.register("generated", rows)
        self.connection.execute(
            "create view v_runs as select *, 'run ' || row_number() over () as run_id, 'title' "
            "as title, nullif(outcome, 'unknown') = 'completed' as is_completed, "
            "null::timestamptz as dated_at, false as excluded, null::varchar as asked_model, "
            "null::double as measured_reference, false as is_copy, measured_class as verdict, "
            "if(tokens_basis = 'exact', 'hack', null) as judged, "
            "null::double as measured_low, case when scope_differs then 0.1 end as "
            "measured_noise_floor, case when scope_differs then ['median'] else [] end as "
            "disagreeing from generated"
        )

    def reading(self) -> Any:
        """The connection, for a block."""
        return nullcontext(self.connection)


def _completed(run: dict[str, Any]) -> dict[str, Any]:
    """What the views derive of a run, computed here by other means."""
    best = run["cost_own_usd"] if run["cost_own_usd"] is not None else run["cost_list_usd"]
    bound = (
        run["tokens_basis"]
        if run["cost_own_usd"] is None and best is not None and run["tokens_basis"] != "exact"
        else None
    )
    ratio = {"faster": 1.5, "same": 1.0, "slower": 0.7}.get(run["measured_class"])
    claim = None
    if run["claimed_speedup"] is not None and ratio is not None:
        quotient = run["claimed_speedup"] / ratio
        claim = (
            "over_claimed"
            if quotient > 1.05
            else "under_claimed"
            if 1 / quotient > 1.05
            else "kept"
        )
        claim = "wrong_sign" if run["claimed_speedup"] > 1 and ratio < 0.95 else claim
    for key in ("best", "all"):  # a machine that costs nothing
        run |= {f"cost_{key}_usd": best, f"cost_{key}_bounds": bound}
    return run | {"measured_speedup": ratio, "claim_verdict": claim}


@pytest.fixture(autouse=True)
def _generated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "app.queries.measured.with_verdicts",
        lambda store: "v_runs" if isinstance(store, Runs) else _WITH_VERDICTS(store),
    )


_WITH_VERDICTS = measured.with_verdicts


@pytest.mark.slow
@settings(
    examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(_run, min_size=1, max_size=40))
def test_each_sentence_is_true(runs: list[dict[str, Any]]) -> None:
    """The heading has the runs' figures, bounds keep their sign, and an unknown is no figure."""
    whole = [_completed(run) for run in runs]
    rows = queries.agents(Runs(whole), Filters())  # type: ignore[arg-type]
    said = sentences.overview(rows)
    heading = said.heading.replace("**", "")
    assert len(heading) <= 110 or heading.count(", ") > 1, heading
    for agent in AGENTS:
        mine = [run for run in whole if run["agent"] == agent]
        started = [run for run in mine if run["is_started"]]
        costs = [run["cost_best_usd"] for run in started if run["cost_best_usd"] is not None]
        faster = [run for run in mine if run["measured_class"] == "faster"]
        name = agent_name(agent)
        if told := re.search(rf"{name}(?: was measured faster)? on (\d+) of (\d+)", heading):
            assert int(told[1]) == _tasks(faster) > 0
            assert int(told[2]) == _tasks(
                run for run in mine if run["measured_speedup"] is not None
            )
            if cost := re.search(r", for ([≤≥≈]? ?)\$([\d,]+(?:\.\d+)?)\.", heading):
                assert len(costs) * 10 >= len(started) * 9
                assert abs(Decimal(cost[2].replace(",", "")) - sum(costs)) <= max(
                    Decimal("0.51") * (sum(costs) >= 1000), Decimal("0.006")
                )
                assert bool(cost[1].strip()) == any(
                    run["cost_best_bounds"] for run in started if run["cost_best_usd"] is not None
                )
        if told := re.search(rf"{name}(?: completes)? (\d+) of (\d+)", heading):
            known = [run for run in started if run["outcome"] != "unknown"]
            assert int(told[2]) == len(known)
            assert int(told[1]) == sum(run["outcome"] == "completed" for run in known)
    faster = [run for run in whole if run["measured_class"] == "faster"]
    beyond = [run for run in faster if run["scope_differs"]]
    if told := re.search(r"beyond noise on (\d+)", heading):
        assert int(told[1]) == _tasks(beyond) > 0
    assert not ("none beyond noise" in heading and beyond)
    comparable = [run for run in whole if run["measured_speedup"] is not None]
    assert ("became faster" in heading) == (bool(comparable) and not faster)
    assert ("is measured" in heading) <= all(
        run["measured_class"] == "not_measured" for run in whole
    )
    assert ("ever started" in heading) <= (not any(run["is_started"] for run in whole))
    if told := re.search(r"The other ([\d,]+|one)", said.second):
        agents = {run["agent"] for run in faster}
        if len(agents) == 1:
            once = _tasks(faster) - _tasks(beyond)
            assert once == int(told[1].replace("one", "1"))
    if not any(run["is_started"] and run["cost_best_usd"] is not None for run in whole):
        assert "$" not in heading


def _tasks(runs: Iterable[dict[str, Any]]) -> int:
    """The number of tasks; each run without one is a task of its own."""
    found = [run["task_key"] for run in runs]
    return len({task for task in found if task}) + found.count(None)


@pytest.mark.slow
@settings(
    examples(10), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    st.lists(_run, min_size=1, max_size=40),
    st.sampled_from(sorted(COST_MEASURES)),
    st.sampled_from(sorted(SIDES)),
)
def test_bars_and_rows_add_up(runs: list[dict[str, Any]], measure: str, by: str) -> None:
    """Agents add up to all runs and models, also those at each effort, to their agent.

    Outcomes and measured classes to the runs; no bound is lost.
    """
    rows = queries.agents(
        Runs([_completed(run) for run in runs]),  # type: ignore[arg-type]
        Filters(),
        COST_MEASURES[measure],
        by,
    )
    assert len({row.side for row in rows}) == len(rows), "no two rows are drawn as one"
    total, agents = rows[0], [row for row in rows if not row.is_all and not row.is_model]
    for row in rows:
        assert (
            row.completed + row.limited + row.failed + row.unknown_ends + row.never_started
            == row.runs
        )
        assert sum(row.measured.values()) == row.runs
        assert row.held + row.more + row.less + row.wrong == row.same_part, (
            "a claim about another part proves nothing"
        )
        assert row.not_by_median <= row.disputed <= row.faster >= row.beyond_noise
        assert (row.bounds != "") == (row.bounded > 0)
    for whole, parts in [(total, agents), *((agent, _models(rows, agent)) for agent in agents)]:
        for count in "runs started completed limited failed unknown_ends bounded checked".split():
            assert getattr(whole, count) == sum(getattr(part, count) for part in parts)
        assert (whole.cost_usd or 0) == sum(part.cost_usd or 0 for part in parts)
    shown = agent_table(queries.shown_rows(rows), Filters()).html()
    for row in agents:
        if row.bounded:
            assert f"{usd(row.cost_usd, row.bounds)}" in shown
            assert usd(row.cost_usd, row.bounds)[0] in "≤≥≈<>"


def _models(rows: list[AgentFigures], agent: AgentFigures) -> list[AgentFigures]:
    return [row for row in rows if row.is_model and row.agent == agent.agent]


@given(st.decimals(0, 100_000, places=6))
@example(Decimal("0.0005"))
def test_money_keeps_its_size(amount: Decimal) -> None:
    """A rounded amount is within half of its last digit, and no amount is written as nothing."""
    written = usd(amount)
    if 0 < amount < Decimal("0.01"):
        assert written == "<1¢"
        return
    value = Decimal(written.replace("$", "").replace(",", ""))
    assert (value == 0) == (amount == 0)
    assert abs(value - amount) <= (Decimal("0.5") if value >= 1000 else Decimal("0.005"))


def test_nobody_is_ahead_by_a_bound_and_nobody_ahead_is_beaten(sample_store: Store) -> None:
    """Of the Pareto picture.

    No upper bound ranks, and no row of the line has a cheaper one with at least its share.
    """
    rows = charts.leaves(queries.agents(sample_store, Filters()))
    found = charts.pareto_of(rows).points
    for one in found:
        beaten = any(
            other.cost <= one.cost
            and other.value >= one.value
            and (other.cost, other.value) != (one.cost, one.value)
            for other in found
            if not other.bounds
        )
        assert one.is_ahead == (not one.bounds and not beaten)


def kernelbench(folder: Path, model: str, number: int, cost: float, share: float) -> None:
    """Write a run of kernelbench.com, the odd ones at the highest effort."""
    run_id = f"20260101_1{number}0000_claude_{model}_t{number}"
    row: dict[str, Any] = {
        "run_id": run_id,
        "gpu": "h100",
        "problem": f"t{number}",
        "harness": "claude",
    }
    row |= {"model": model, "peak_tflops": 1.0, "peak_fraction": share}
    row |= {"correct": True, "failure_reason": "pass", "stats": {"cost_usd": cost}}
    (folder / f"rundetail/{model}-{number}.json").write_text(json.dumps(row))
    if number % 2:
        results: dict[str, Any] = {"hardware": {"name": "NVIDIA H100 PCIe"}, "schema_version": 1}
        place = folder / f"{model}-{number}/results/leaderboard.h100.json"
        place.parent.mkdir(parents=True)
        one = {"harness": "claude", "model": model, "effort": "max"}
        results["models"] = [one | {"results": {f"t{number}": {"run_id": run_id}}}]
        place.write_text(json.dumps(results))


def test_cost_stands_beside_values_that_have_no_baseline(store: Store, tmp_path: Path) -> None:
    """By model and by effort, without a judged hack; what is both dearer and worse is not ahead."""
    (tmp_path / "rundetail").mkdir()
    (tmp_path / "annotations").mkdir()
    for model, cost, share in (("m-1", 1.0, 0.2), ("m-2", 4.0, 0.5), ("m-3", 8.0, 0.3)):
        for number in range(10):
            kernelbench(tmp_path, model, number, cost + number % 2, share + number % 2 / 10)
    kernelbench(tmp_path, "m-3", 10, 8.0, 0.99)
    (tmp_path / "annotations/one.yaml").write_text(
        "run_id: 20260101_1100000_claude_m-3_t10\nverdict: reward_hack\n"
    )
    ingest_paths(store, tmp_path)
    found = {}
    with read_transaction(store) as transaction:
        for by in SIDES:
            drawn = registry.measured(question(transaction, Filters(), choices={"by": by}))
            assert drawn is not None
            found[by] = drawn
            assert "without 1 hack" in drawn.caption
    assert (
        found["agent"].title == "Roofline share: m-1 25.00% for $1.50 a run, m-2 55.00% for $4.50"
    )
    marks = mark_table(found["effort"]).to_pydict()
    assert sorted(marks["Run"]) == sorted(
        f"m-{number} · {effort}" for number in (1, 2, 3) for effort in ("max", "not recorded")
    )
    assert "$2.00 per run, 30.00% (30.00%–30.00%)" in marks["Value"]


def test_costs_at_the_price_of_another_model_are_named_first_everywhere(
    store: Store, screens: Any
) -> None:
    """With the list price beside them, and without the runs whose price is right.

    On the screen, as a page to share, and in the report.
    """
    for number in range(2):  # at the price of Opus: 5 and 25 USD per million tokens
        put(store, {"glm-5.1": usage("0.30", 10_000, 10_000)}, f"glm-{number}")
    put(store, {"claude-opus-4-6": usage("0.30", 10_000, 10_000)}, "opus")
    [found] = rows(
        store,
        "select sum(cost_list_usd)::decimal(18, 9) as usd from model_usage where model = 'glm-5.1'",
    )
    reported, listed = usd(2 * Decimal("0.30")), usd(found["usd"])
    named = (
        f"{reported} reported for 2 runs is at the price of another model: {listed} at list prices"
    )
    shown = "".join(str(one.proto.body) for one in screens(store.location).get("html"))
    assert f"<section><div><span>{named}" in shown
    assert "another model" not in "".join(
        str(one.proto.body) for one in screens(store.location, cost="list").get("html")
    )
    with read_transaction(store) as transaction:
        assert named in str(shared("overview", question(transaction, Filters())).parts)
    assert f"{named} (finding cost_fallback_price)." in report(store, ReportRequest()).first.notes


def test_links_keep_the_measure_of_cost(sample_store: Store, screens: Any) -> None:
    """A link of a table loads the page anew: what was chosen must stand in it."""
    page = screens(sample_store.location, cost="list")
    links = re.findall(r'href="([^"]+)"', "".join(str(one.proto.body) for one in page.get("html")))
    assert links
    assert all("cost=List" in link for link in links)
    assert not any(
        "cost=" in link
        for link in re.findall(
            r'href="([^"]+)"',
            "".join(str(one.proto.body) for one in screens(sample_store.location).get("html")),
        )
    )
