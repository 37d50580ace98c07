"""Every list of runs begins with what tells them apart: title, date, model, outcome, cost."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from app.cli.main import cli
from app.queries import runs as screen_queries
from app.queries.filters import choose
from app.queries.reading import read_transaction
from app.queries.runs import ORDERS
from app.reports.results import CLAIMS_SHOWN, FINDINGS_SHOWN, RUNS_KEPT, RUNS_SHOWN, by_measure
from app.text import grids
from ingest.pipeline import ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from schemas.catalogue.columns import RUNS
from schemas.catalogue.cost_measures import BEST
from tests.conftest import StoreOnce, page_text, record_text

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

LONG = (
    "Rewrite the block manager of the scheduler so that it shares pages between requests. Then "
    "stop."
)


def event(number: int) -> str:
    return json.dumps(
        {
            "type": "assistant",
            "session_id": str(number),
            "timestamp": f"2026-05-0{number}T12:00:00Z",
            "message": {},
        }
    )


def fill(store: Store) -> None:
    """Three runs on as many days: one of a long model name and outcome, one that never started."""
    usage = record_text()
    [model] = json.loads(usage)["modelUsage"].values()
    idle = {
        "total_cost_usd": 0,
        "duration_api_ms": 0,
        "modelUsage": {},
        "usage": ...,
        "result": "You've hit your limit",
        "is_error": True,
    }
    records = (
        record_text(
            uuid="aaaa0001-1234-5678",
            session_id="1",
            total_cost_usd=1.5,
            result=LONG,
            modelUsage={"claude-sonnet-4-5": model},
        ),
        record_text(
            uuid="aaaa0002-1234-5678", session_id="2", subtype="error_max_turns", result=...
        ),
        record_text(uuid="aaaa0003-1234-5678", session_id="3", **idle),
    )
    text = "".join(f"{event(number)}\n{record}\n" for number, record in enumerate(records, 1))
    ingest([Source("runs.jsonl", text.encode())], store)


@pytest.fixture(scope="module")
def listed(read_once: StoreOnce) -> Store:
    return read_once("lists-of-runs", fill)


def ask(store: Store, *words: str, width: int = 80) -> Result:
    return CliRunner(env={"COLUMNS": str(width)}).invoke(cli, [*words, "--db", store.location])


def test_title_date_model_outcome_and_cost_come_first_in_every_list() -> None:
    first = ("title", "dated_at", "model", "outcome", "cost_own_usd")
    for shown in (RUNS_KEPT, RUNS_SHOWN):
        assert shown[:5] == first
    assert grids.RUNS.keys[:2] == ("title", "agent")
    assert {"why", "cost_shown", "measured", "dated_at"} <= set(grids.RUNS.keys)
    assert {"time_source", "experiment"} <= set(grids.MORE_RUNS)
    assert {
        shown[0] for shown in (CLAIMS_SHOWN, FINDINGS_SHOWN, grids.CLAIMS, grids.FINDINGS.keys)
    } == {"title"}


@pytest.mark.parametrize(
    ("order", "second"),
    [("most-expensive", "cost_shown"), ("newest", "dated_at"), ("turns", "num_turns")],
)
def test_what_a_list_is_sorted_by_follows_the_title_and_columns_of_dashes_come_last(
    order: str, second: str
) -> None:
    """A run beside the list had covered the cost, and dashes had pushed the date out of sight."""
    few = {"why": [None] * 19 + ["a"], "task_key": [None] * 20}
    rows = {key: few.get(key, ["a"] * 20) for key in (*grids.RUNS.keys, "num_turns")}
    shown = grids.arranged(pa.table(rows), order)
    assert shown[:2] == ("title", second)
    assert shown[-2:] == ("why", "task_key")
    assert {*shown} == {*grids.RUNS.keys, second}


def test_exports_for_programs_have_the_title_behind_the_id_and_the_outcome_as_it_is(
    listed: Store,
) -> None:
    rows = list(csv.DictReader(ask(listed, "runs", "--format", "csv").stdout.splitlines()))
    assert list(rows[0])[:3] == ["run_id", "title", "dated_at"]
    assert [(row["outcome"], row["is_started"]) for row in rows][-1] == ("limit_reached", "false")


@pytest.mark.parametrize("width", [80, 90, 120])
def test_a_terminal_of_80_columns_shows_what_tells_runs_apart(width: int, listed: Store) -> None:
    done = ask(listed, "runs", width=width)
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= width
    header, kept = " ".join(lines[:3]), by_measure(RUNS_KEPT, BEST)
    assert all(word in header for column in kept for word in RUNS[column].label.split())
    assert not [
        column
        for column in kept
        if RUNS[column].label in done.stderr.partition("Hidden columns: ")[2].split(", ")
    ]
    assert all(
        word in done.stdout
        for word in ("Rewrite the", "2026-05-01", "12:01", "$1.50", "1m 00s", "aaaa0001")
    )


@pytest.mark.parametrize(
    ("other", "words"),
    [("claude-sonnet-4-5", ()), ("us.anthropic.claude-opus-4-6-v1", ("anthropic", "aws"))],
)
def test_models_of_one_name_are_told_apart_in_80_columns(
    other: str, words: tuple[str, ...], store: Store
) -> None:
    """Two rows of the same name look like a double count.

    The cause of a difference stays beside what tells them apart.
    """
    [model] = json.loads(record_text())["modelUsage"].values()
    text = record_text(modelUsage={"claude-opus-4-6": model, other: model}, total_cost_usd=0.5)
    ingest([Source("run.json", text.encode())], store)
    done = ask(store, "models")
    header, _, rows = done.stdout.partition("─")
    assert "Cause" in header
    assert "Region" not in header
    assert all(word in rows for word in words)


def test_a_finding_says_in_80_columns_what_was_found(store: Store) -> None:
    ingest([Source("run.json", record_text(result="").encode())], store)
    done = ask(store, "findings")
    [found] = json.loads(ask(store, "findings", "--format", "json").stdout)
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "Message" in done.stdout
    assert set(found["message"].split()) <= set(done.stdout.split())


def test_names_break_at_their_separators_and_titles_are_cut_after_two_lines(listed: Store) -> None:
    lines = ask(listed, "runs", "--run", "aaaa0001").stdout.splitlines()
    assert len(lines) <= 5
    assert [line for line in lines if "claude-" in line and "sonnet" not in line]
    assert any("…" in line.split("  ")[0] for line in lines)


def test_a_run_that_never_started_says_so(listed: Store, screens: Callable[..., AppTest]) -> None:
    assert "never" in ask(listed, "runs", "--outcome", "limit_reached").stdout
    assert "limit_reached, never started" in ask(listed, "runs", "--format", "md").stdout
    shown = screens(listed.location, "screens/runs.py").dataframe[0].value
    assert list(shown["outcome"]) == ["completed", "max turns", "limit reached, never started"]
    page = screens(listed.location, "screens/run.py", run="aaaa0003")
    assert "limit reached, never started" in page_text(page)


@pytest.mark.parametrize("order", ORDERS)
def test_the_runs_before_and_after_are_those_of_the_list(order: str, listed: Store) -> None:
    with read_transaction(listed) as store:
        for filters in (choose({}), choose({"min-cost": "0.1"})):
            ids = screen_queries.page_of_runs(store, filters, order, 10)["run_id"].to_pylist()
            for place, run_id in enumerate(ids):
                found = screen_queries.neighbours(store, filters, order, run_id)
                assert found == (
                    ids[place - 1] if place else None,
                    ids[place + 1] if place + 1 < len(ids) else None,
                    place + 1,
                    len(ids),
                )
        assert (
            screen_queries.neighbours(store, choose({"min-cost": "9"}), order, "aaaa0001-1234-5678")
            is None
        )


def test_the_cost_of_a_list_keeps_its_bound_and_sorts_as_a_text_by_its_size() -> None:
    rows = [
        {
            "run_id": str(number),
            "cost_best_usd": Decimal(usd),
            "cost_best_bounds": bound,
            "reason": None,
            "failure_message": None,
        }
        for number, (usd, bound) in enumerate(
            (("9.5", None), ("81.52", "upper_bound"), ("1250", None), ("0.034", None))
        )
    ]
    measured = {"0": ("faster", 1.5), "1": ("breaks", None)}
    shown = grids.with_answers(pa.Table.from_pylist(rows), measured, BEST)
    costs = shown["cost_shown"].to_pylist()
    assert [cost.strip() for cost in costs] == ["$9.50", "≤\u00a0$81.52", "$1,250", "$0.03"]
    assert [cost.strip() for cost in sorted(costs)][-1] == "$1,250"
    assert shown["measured"].to_pylist() == ["1.50×", "breaks", None, None]


def test_a_chosen_cell_shows_its_run_beside_the_list(
    listed: Store, screens: Callable[..., AppTest]
) -> None:
    """With its error, since it failed, and a link to its page; the row is not ticked."""
    app = screens(listed.location, "screens/runs.py")
    place = (
        app.dataframe[0].value["run_id"].tolist().index("aaaa0003-1234-5678")
        if "run_id" in app.dataframe[0].value
        else 2
    )
    app.session_state["runs-0"] = {
        "selection": {"rows": [], "columns": [], "cells": [(place, "title")]}
    }
    app.run()
    assert not app.exception
    beside = "".join(element.proto.body for element in app.get("html"))
    assert "Quota or usage limit used up" in beside
    assert 'href="run?run=aaaa0003' in beside
    assert not [text for text in app.markdown if "selected" in text.value]


def test_a_reason_opens_its_texts_and_a_text_its_runs(
    listed: Store, screens: Callable[..., AppTest]
) -> None:
    def body(**query: str) -> str:
        return "".join(
            element.proto.body
            for element in screens(
                listed.location, "screens/runs.py", view="failures", **query
            ).get("html")
        )

    assert "2 of 3 runs did not complete" in body()
    assert "Step limit reached" in body()
    assert "You&#x27;ve hit your limit" not in body()
    assert "You&#x27;ve hit your limit" in body(reason="quota")
    assert 'href="run?run=aaaa0003' in body(reason="quota", text="1")
    assert 'href="run?run=' not in body(reason="quota", text="99")
    assert "Rule:" not in body(reason="no such reason")
