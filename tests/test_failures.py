"""Why runs did not complete.

The infrastructure apart from the agent, the same in lists, groups and exports.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import duckdb
import pytest

import tachograph
from app.queries.failures import totals
from app.queries.filters import Filters
from app.reports.results import failures as failure_answer
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from schemas.catalogue.failures import MASKED_SQL, REASONS, STAND_IN_SQL, TOLD_SQL, WHOSE
from tests.conftest import ROOT, Run, StoreOnce, ingest_paths, record_text
from tests.golden_logs import text_of
from tests.test_iso_bench_items import JOURNAL, item

ERRORS = {
    "quota": (
        "Error code: 429 - {'error': {'message': 'You exceeded your current quota, please check "
        "your plan'}}"
    ),
    "api_key": "Error code: 401 - {'error': {'message': 'Incorrect API key provided'}}",
    "sign_in_expired": "Error when retrieving token from sso: Token has expired and refresh failed",
    "conversation": (
        "Error code: 400 - {'message': 'messages.9.content.0.tool_result: content cannot be empty'}"
    ),
    "request": (
        "Error code: 400 - {'error': {'message': \"Missing required parameter: 'tools[0].type'.\"}}"
    ),
    "provider": "Connection error.",
    "model": "Error code: 404 - {'error': {'message': 'The model `gpt-9` does not exist'}}",
    "answer": "Unterminated string starting at: line 1 column 401 (char 500)",
    "machine": "ENOSPC: no space left on device, write",
    "other": (
        "Something that no rule knows, such as a file that was not found: /app/main.py, no such "
        "file or directory"
    ),
}
"""Errors of runs that had begun to work."""

TRACEBACK = (
    'Traceback (most recent call last):\n  File "cli.py", line 529, in main\n    '
    "retry_network()\n{}: No module named 'click'"
)


def failing(error: str, number: int) -> str:
    """A trajectory of TRAE that ends with the error."""
    return json.dumps(
        json.loads(text_of("trae/providers/openai.json"))
        | {
            "success": False,
            "final_result": None,
            "start_time": f"2025-10-{number + 1:02}T16:31:09",
            "end_time": f"2025-10-{number + 1:02}T16:41:09",
            "agent_steps": [{"step_number": 1, "state": "error", "error": error}],
        }
    )


BEFORE_IT_BEGAN = {
    TRACEBACK.format("ModuleNotFoundError"): (
        "start_crash",
        "ModuleNotFoundError: No module named 'click'",
    ),
    "I/O operation on closed file.": ("other", "I/O operation on closed file."),
    "[Errno 2] No such file or directory: '/bin/python'": (
        "no_program",
        "[Errno 2] No such file or directory: '/bin/python'",
    ),
    "[Errno 32] Broken pipe": ("interrupted", "[Errno 32] Broken pipe"),
    "docker: Error response from daemon: no such container": (
        "harness",
        "docker: Error response from daemon: no such container",
    ),
}
"""Errors of processes that never got to work → their reason and message."""


def fill(store: Store) -> None:
    """A run for each of ERRORS and BEFORE_IT_BEGAN, one with too many turns, and one completed."""
    folder = Path(store.location).parent / "logs"
    for number, error in enumerate(BEFORE_IT_BEGAN):
        item(
            folder,
            number,
            JOURNAL | {"timestamps": {"written": 1766476999.5 + number}},
            trae_stderr__txt=error,
        )
    ingest_paths(store, folder)
    ingest(
        [
            Source(f"{reason}.json", failing(error, number).encode())
            for number, (reason, error) in enumerate(ERRORS.items())
        ],
        store,
    )
    turns = record_text(
        uuid="turns", session_id="turns", subtype="error_max_turns", is_error=True, result=...
    )
    ingest(
        [Source("turns.json", turns.encode()), Source("done.json", record_text().encode())], store
    )


@pytest.fixture(scope="module")
def failed(read_once: StoreOnce) -> Store:
    return read_once("failures", fill)


def test_the_reason_follows_from_outcome_start_and_the_words_of_the_error(failed: Store) -> None:
    """A number in a traceback is no HTTP error, and a missing file is no missing program.

    This is a file that was not found after the run had begun.
    """
    runs = tachograph.open(failed.location, with_text=True).runs()
    found = {
        Path(run["source_name"]).stem: run["reason"]
        for run in runs
        if run["agent"] == "trae-agent" and run["record_kind"] != "sidecar"
    }
    assert found == {reason: reason for reason in ERRORS}
    told = {
        (run["reason"], run["failure_message"]) for run in runs if run["record_kind"] == "sidecar"
    }
    assert told == set(BEFORE_IT_BEGAN.values())
    assert [run["reason"] for run in runs if run["agent"] == "claude-code"] == [None, "max_turns"]


@pytest.mark.parametrize("keeps_text", [True, False])
def test_an_answer_longer_than_the_agent_allows_met_a_limit(store: Store, keeps_text: bool) -> None:
    """Not a limit of the account, with and without its text."""
    error = (
        "API Error: Claude's response exceeded the 32000 output token maximum. To configure this "
        "behavior, set the variable."
    )
    ingest(
        [Source("a.json", record_text(is_error=True, result=error).encode())],
        store,
        Options(keeps_text=keeps_text),
    )
    [run] = tachograph.open(store.location).runs()
    assert (run["outcome"], run["reason"]) == ("limit_reached", "limit")


def test_failures_are_counted_the_same_everywhere(failed: Store) -> None:
    """Failures have the same counts in tables, sums, totals, groups, by filter and without texts.

    Without texts, something else stands for the texts of sessions.
    """
    opened = tachograph.open(failed.location)
    listed = list(opened.failures())
    whose = {key: sum(row["runs"] for row in listed if row["whose"] == key) for key in WHOSE}
    facts = totals(failed, Filters())
    assert (
        whose
        == {"set-up": 7, "account": 1, "agent": 4, "provider": 1, "person": 1, "unknown": 2}
        == {key: facts[key] for key in WHOSE}
    )
    grouped = {row["whose"]: row["runs"] for row in opened.report(by="whose", metrics="runs")}
    assert grouped == whose | {None: 1}
    assert all(row["runs"] == row["trae-agent"] + row["claude-code"] for row in listed)
    assert [len(opened.runs(failure=row["reason"])) for row in listed[:2]] == [
        row["runs"] for row in listed[:2]
    ]
    assert (
        sum(row["never_started_runs"] for row in listed)
        == facts["never_started"]
        == len(BEFORE_IT_BEGAN)
    )
    assert [row["reason"] for row in listed][-1] == "other", (
        "what is not known comes last, however often it is"
    )
    table = failure_answer(failed, Filters()).total
    assert table is not None
    [total] = table.to_pylist()
    assert (total["runs"], total["trae-agent"], total["claude-code"]) == (16, 15, 1)
    known = [row["cost_best_usd"] for row in listed if row["cost_best_usd"] is not None]
    costs = [
        run["cost_best_usd"]
        for run in opened.runs()
        if run["reason"] and run["cost_best_usd"] is not None
    ]
    assert sum(known) == sum(costs) == total["cost_best_usd"] > 0


def test_the_command_counts_by_reason_takes_filters_and_lists_the_texts(
    failed: Store, tachograph: Run
) -> None:
    said = tachograph("failures --db", failed.location)
    assert said.returncode == 0, said.stderr
    assert (
        "16 of 17 runs did not complete: Set-up 7, Account 1, Agent 4, Provider 1, Person 1, "
        "Unknown 2"
    ) in said.stderr
    rows = json.loads(
        tachograph(
            "failures --db",
            failed.location,
            "--agent",
            "claude-code",
            "--format",
            "json",
            "--by",
            "model",
        ).stdout
    )
    assert [(row["reason"], row["claude-opus-4-6"], row["runs"]) for row in rows] == [
        ("max_turns", 1, 1)
    ]
    texts = json.loads(
        tachograph(
            "failures --db", failed.location, "--texts", "conversation", "--format", "json"
        ).stdout
    )
    masked = (
        "Error code: # - {'message': 'messages.#.content.#.tool_result: content cannot be empty'}"
    )
    assert texts == [{"reason": "conversation", "text": masked, "runs": 1}]


def test_texts_that_differ_by_an_id_are_one() -> None:
    error = "No tool output for call call_{} of 0123abcdef{}: invalid_request_error"
    with duckdb.connect() as connection:
        told = connection.execute(
            f"select distinct {MASKED_SQL} from (select unnest($errors) as failure_message)",
            {"errors": [error.format("DZXbfMNcLXSt", 1), error.format("aHoSxnYHFwLd", 23)]},
        ).fetchall()
    assert told == [("No tool output for call … of …: invalid_request_error",)]


def test_the_docs_list_every_rule() -> None:
    lines = {
        line.partition(" | ")[0]: line
        for line in (ROOT / "docs" / "failures.md").read_text().splitlines()
        if line.startswith("| `")
    }
    assert [*lines.values()] == [
        f"| `{one.key}` | {one.label} | {WHOSE[one.whose]} | {one.told} |"
        for one in REASONS.values()
    ]


def test_what_stands_for_the_text_of_a_session_tells_the_same_reason() -> None:
    """Files leave out what was said in sessions: their reasons are those of the terminal."""
    patterns = {one.key: one.pattern for one in REASONS.values() if one.words}
    for key in patterns:
        assert [other for other, pattern in patterns.items() if re.search(pattern, f"[{key}]")] == [
            key
        ]
    for text in (*ERRORS.values(), *BEFORE_IT_BEGAN):
        with duckdb.connect() as connection:
            of_text = "select *, " + TOLD_SQL + " as error_told from (select $text as error_text)"
            [(told, stand_in)] = connection.execute(
                f"select error_told, {STAND_IN_SQL} from ({of_text})", {"text": text}
            ).fetchall()
        matched = {key for key, pattern in patterns.items() if re.search(pattern, told)}
        assert {
            key for key, pattern in patterns.items() if re.search(pattern, stand_in)
        } == matched, text
