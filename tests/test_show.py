"""`tachograph show`: the page of a run in a terminal, and all of it for programs."""

from __future__ import annotations

import json
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli.main import cli
from app.queries.run_page import run_page
from app.text.run_text import run_text
from ingest.pipeline import ingest
from ingest.sources.files import Source
from ingest.store.annotations import Change, annotate
from ingest.store.database import Store
from schemas.rows.run import RunRow
from tests.conftest import record_text

RUN = "5e0c031e-eef9-49db-91be-235c0b535201"


def shown(store: Store, *words: str) -> str:
    done = CliRunner().invoke(cli, ["show", *words, "--db", store.location])
    assert done.exit_code == 0, done.exception
    return done.stdout


@pytest.mark.slow
def test_the_page_of_a_run_tells_what_its_screen_tells(sample_store: Store) -> None:
    text = shown(sample_store, "5e0c")
    lines = text.splitlines()
    assert (
        lines[0]
        == "I have successfully optimized the MLA attention performance in the vLLM codebase"
    )
    assert lines[1] == f"{RUN} · claude-sonnet-4-5 · completed"
    headings = [
        line
        for before, line in pairwise(lines)
        if not before and line and not line.startswith((" ", "#", "-", "*"))
    ]
    assert [heading for heading in headings if heading in SECTIONS] == SECTIONS
    for words in (
        "Reported cost         $1.21",
        "Cause of the difference   regional endpoint",
        "claude-opus-4-5       $0.02",
    ):
        assert words in text
    for words in (
        "claimed 3.17× (time) · method stated · micro",
        "    3.17x speedup",
        "vllm/attention/backends/mla/common.py             37",
    ):
        assert words in text
    assert max(len(line) for line in lines[: lines.index("Summary")]) <= 80


SECTIONS = [
    "Figures",
    "Cost",
    "Models",
    "Result",
    "Details",
    "Claims (from the summary, not checked)",
    "Findings",
    "Other statements",
    "Files changed (per summary)",
    "Summary",
]


@pytest.mark.slow
def test_json_has_every_column_and_every_row_of_the_run(sample_store: Store) -> None:
    found = json.loads(shown(sample_store, RUN, "--format", "json"), parse_float=Decimal)
    counted = {"claims", "findings", "patch_files"}
    assert (
        RunRow.columns.keys() - {"project"} | {"title", "source_name", "parallelism"}
    ) <= found.keys()
    assert all(f"{name}_count" in found for name in counted)
    assert (str(found["cost_own_usd"]), found["run_id"]) == ("1.211760000", RUN)
    assert (len(found["model_usage"]), len(found["claims"]), found["claims_count"]) == (2, 5, 2)
    assert json.loads(found["raw"])["uuid"] == RUN


@pytest.mark.slow
def test_star_note_and_exclusion_are_on_the_page_and_in_the_list_that_asks_for_them(
    sample_store: Store,
) -> None:
    assert "Star, note" not in shown(sample_store, "5e0c")
    annotate(
        sample_store,
        [RUN],
        Change(note="warm cache", starred=True, excluded=True, reason="wrong model"),
    )
    text = shown(sample_store, "5e0c")
    said = text[text.index("\nStar, note and exclusion\n") : text.index("\nFigures\n")]
    for words in (
        "  Starred ",
        "  Note                  warm cache\n",
        "  Excluded ",
        "  Reason for exclusion  wrong model\n",
    ):
        assert words in said
    for chosen, heading, told in (
        (("--starred", "--excluded", "all"), "Note", "warm"),
        (("--excluded", "only"), "Reason for", "wrong"),
    ):
        listed = (
            CliRunner()
            .invoke(cli, ["runs", *chosen, "--db", sample_store.location], env={"COLUMNS": "80"})
            .stdout
        )
        assert heading in listed, listed
        assert told in listed


def test_without_an_id_the_run_that_was_ingested_last_is_shown(store: Store) -> None:
    for number in (1, 2):
        ingest(
            [
                Source(
                    f"{number}.json",
                    record_text(
                        uuid=f"run-{number}", session_id=str(number), result=f"Kernel {number}."
                    ).encode(),
                )
            ],
            store,
        )
    assert shown(store).startswith("Kernel 2\nrun-2 · ")
    assert shown(store, "run-1", "-o", f"{store.location}.txt") == ""
    assert Path(f"{store.location}.txt").read_text().startswith("Kernel 1\nrun-1 · ")


def test_a_store_without_runs_says_what_to_do(store: Store) -> None:
    ingest([Source("a", b"no record")], store)
    done = CliRunner().invoke(cli, ["show", "--db", store.location])
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == f"No runs. Ingest with: tachograph ingest PATH --db {store.location}\n"


def test_a_run_that_never_started_says_so_and_a_hostile_text_stays_text(store: Store) -> None:
    hostile = "\x1b[2J\x1b]0;owned\x07 [bold]x[/bold] \u202eevil\n\x9b31m"
    changes = {"total_cost_usd": 0, "duration_api_ms": 0, "modelUsage": {}, "usage": ...}
    ingest(
        [
            Source(
                "a", record_text(uuid="idle", result=hostile, subtype=hostile, **changes).encode()
            )
        ],
        store,
    )
    page = run_page(store, "idle")
    assert page is not None
    text = run_text(page, 80).decode()
    assert "unknown, never started" in text.splitlines()[1]
    assert "[bold]x[/bold]" in text
    assert not [character for character in text if character in "\x1b\x07\x9b\u202e"]
