"""Why runs did not complete: the infrastructure apart from the agent, the same in lists, groups and exports."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import tachograph
from app.queries.failures import totals
from app.queries.filters.chosen import Filters
from ingest.documents.contents import Source
from ingest.pipeline import ingest
from ingest.store.database import Store
from schemas.catalogue.failures import AGENT, CAUSES, INFRASTRUCTURE, STAND_INS, UNATTRIBUTED
from tests.conftest import Run, StoreOnce, ingest_paths, record_text
from tests.test_iso_bench_items import JOURNAL, item
from tests.test_trae import call, trajectory

ERRORS = {
    "quota": "Error code: 429 - {'error': {'message': 'You exceeded your current quota, please check your plan'}}",
    "credentials": "Error code: 401 - {'error': {'message': 'Incorrect API key provided'}}",
    "request": "Error code: 400 - {'message': 'messages.9.content.0.tool_result: content cannot be empty'}",
    "network": "Connection error.",
    "model": "Error code: 404 - {'error': {'message': 'The model `gpt-9` does not exist'}}",
    "error": "Unterminated string starting at: line 1 column 401 (char 500)",
    "machine": "ENOSPC: no space left on device, write",
}
"""Errors of runs that had begun to work."""

TRACEBACK = "Traceback (most recent call last):\n  File \"cli.py\", line 529, in main\n    retry_network()\n{}: No module named 'click'"


def failing(error: str, number: int) -> str:
    """A trajectory of TRAE that ends with the error."""
    begun = {"start_time": f"2025-10-{number + 1:02}T16:31:09", "end_time": f"2025-10-{number + 1:02}T16:41:09"}
    return json.dumps(
        trajectory(call("openai", "gpt-5"), success=False, final_result=None, **begun)
        | {"agent_steps": [{"step_number": 1, "state": "error", "error": error}]}
    )


def fill(store: Store) -> None:
    """A run for each of ERRORS, two that never started, one with too many turns, and one that completed."""
    folder = Path(store.location).parent / "logs"
    item(folder, 1, JOURNAL, trae_stderr__txt=TRACEBACK.format("ModuleNotFoundError"))
    item(folder, 2, JOURNAL | {"timestamps": {"written": 1766476999.5}}, trae_stderr__txt="I/O operation on closed file.")
    ingest_paths(store, folder)
    ingest([Source(f"{cause}.json", failing(error, number).encode()) for number, (cause, error) in enumerate(ERRORS.items())], store)
    turns = record_text(uuid="turns", session_id="turns", subtype="error_max_turns", is_error=True, result=...)
    ingest([Source("turns.json", turns.encode()), Source("done.json", record_text().encode())], store)


@pytest.fixture(scope="module")
def failed(store_once: StoreOnce) -> Store:
    return store_once("failures", fill)


def test_the_cause_follows_from_outcome_start_and_the_words_of_the_error(failed: Store) -> None:
    """A number in a traceback is no HTTP error, nor is a module that was not found a host that was not found."""
    runs = tachograph.open(failed.location, with_text=True).runs()
    found = {
        Path(run["source_name"]).stem: run["failure_cause"]
        for run in runs
        if run["agent"] == "trae-agent" and run["record_kind"] != "sidecar"
    }
    assert found == {cause: cause for cause in ERRORS}
    told = {run["failure_message"]: run["failure_cause"] for run in runs if run["record_kind"] == "sidecar"}
    assert told == {"ModuleNotFoundError: No module named 'click'": "machine", "I/O operation on closed file.": "never_started"}
    assert [run["failure_cause"] for run in runs if run["agent"] == "claude-code"].count("max_turns") == 1


def test_failures_are_counted_the_same_everywhere(failed: Store) -> None:
    opened = tachograph.open(failed.location)
    listed = list(opened.failures())
    by = {one: sum(row["runs"] for row in listed if row["failed_by"] == one) for one in (INFRASTRUCTURE, AGENT, UNATTRIBUTED)}
    facts = totals(failed, Filters())
    assert by == {INFRASTRUCTURE: 7, AGENT: 3, UNATTRIBUTED: 0} == {one: facts[one] for one in by}
    grouped = {row["failed-by"]: row["runs"] for row in opened.report(by="failed-by", metrics="runs")}
    assert grouped == {INFRASTRUCTURE: 7, AGENT: 3, None: 1}
    known = [row["cost_best_usd"] for row in listed if row["cost_best_usd"] is not None]
    costs = [run["cost_best_usd"] for run in opened.runs() if run["failure_cause"] and run["cost_best_usd"] is not None]
    assert sum(known) == sum(costs) > 0


def test_the_command_counts_by_cause_and_agent_and_takes_filters(failed: Store, tachograph: Run) -> None:
    said = tachograph("failures", "--db", failed.location)
    assert said.returncode == 0, said.stderr
    assert "10 of 11 runs did not complete: 7 by the infrastructure, 3 by the agent itself" in said.stderr
    rows = json.loads(tachograph("failures", "--db", failed.location, "--agent", "claude-code", "--format", "json").stdout)
    assert [(row["failed_by"], row["failure_cause"], row["runs"]) for row in rows] == [(AGENT, "max_turns", 1)]


def test_every_cause_has_somebody_who_failed() -> None:
    assert {cause.by for cause in CAUSES.values()} == {INFRASTRUCTURE, AGENT, UNATTRIBUTED}


def test_what_stands_for_the_text_of_a_session_tells_the_same_cause() -> None:
    """Files leave out what was said in sessions: their causes are those of the terminal."""
    for words, stand_in in STAND_INS.items():
        told = {other for other in STAND_INS if re.search(other, stand_in)}
        assert told - {CAUSES["machine"].words} == {words} - {CAUSES["machine"].words}, stand_in
        assert words in told
