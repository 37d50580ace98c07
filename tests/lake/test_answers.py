"""A lake answers as a file does.

Every command, every screen, and what rebuild, undo and the like leave.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ingest.store.database import Store, arrow
from tests.conftest import ROOT, SAMPLES, Run, ingest_paths
from tests.test_dashboard import SCREENS

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

ALL = ROOT / "sample_logs"

COMMANDS = (
    "report --by agent,model --all --format json",
    "runs --format json",
    "models --format json",
    "claims --format json",
    "findings --format json",
    "rejects --format json",
    "verdicts --format json",
    "verdicts --by agent --format json",
    "measurements --format json",
    "usage --by month,model --format json",
    "check --max-total-usd 100 --format json",
    "compare agent=claude-code agent=codex --format json",
    "runs --search kernel --format json",
    "report --format csv",
    "report --format html",
    "models --format md",
    "runs --since 2025-12-01 --format jsonl",
    "show --format json",
    "sources --format csv",
)


@pytest.fixture(scope="module")
def both(
    store_once: Any, tmp_path_factory: pytest.TempPathFactory, server: Any
) -> tuple[Store, Store]:
    """The same samples in a file and in a lake."""
    from ingest.store.copying import copy_store  # noqa: PLC0415
    from ingest.store.lake.upkeep import make_lake  # noqa: PLC0415

    file = store_once("all-samples-for-lakes", lambda store: ingest_paths(store, ALL))
    location = server.database("both")
    make_lake(location, str(tmp_path_factory.mktemp("both")))
    copy_store(file, location, 30)
    return file, Store(location)


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_answers_from_a_lake_as_from_a_file(
    both: tuple[Store, Store], tachograph: Run, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1760000000")
    said = []
    for store in both:
        ended = tachograph(words, "--db", store.location)
        assert ended.returncode == 0, ended.stderr
        said.append(ended.stdout.replace(store.location, "STORE"))
    assert said[0] == said[1]


@pytest.mark.parametrize("screen", SCREENS)
def test_a_screen_shows_a_lake(
    both: tuple[Store, Store], screens: Callable[..., AppTest], screen: str
) -> None:
    shown = [screens(store.location, screen) for store in both]
    assert [metric.value for metric in shown[0].metric] == [
        metric.value for metric in shown[1].metric
    ]


def test_ingest_undo_rebuild_and_reprice_leave_a_lake_as_they_leave_a_file(
    store: Store, lake: Store, tachograph: Run
) -> None:
    steps = (
        f"ingest {SAMPLES} --label team=a",
        f"ingest {ALL}",
        "star --repo vllm --yes",
        "undo 1 --yes",
        "reprice",
        f"ingest {ALL} --label team=b",
        "undo --yes",
        "rebuild",
    )
    for step in steps:
        for one in (store, lake):
            ended = tachograph(step, "--db", one.location)
            assert ended.returncode == 0, ended.stderr
    assert _content(store) == _content(lake)
    assert "problem" not in tachograph("doctor --db", lake.location).stdout


def _content(store: Store) -> list[Any]:
    """The runs with all their figures, and the counts of all files."""
    with store.reading() as connection:
        runs = arrow(
            connection, "select * exclude (place, received_at) from v_runs order by run_id"
        ).to_pylist()
        sources = arrow(
            connection,
            (
                "select * exclude (received_at, ingest_id, modified_ns) from sources order by "
                "source_id"
            ),
        ).to_pylist()
        children = [
            connection.execute(
                f"select count(*), sum(hash(one)::hugeint) from {table} as one"
            ).fetchall()
            for table in (
                "model_usage",
                "claims",
                "findings",
                "measurements",
                "tool_calls",
                "sightings",
            )
        ]
    return [runs, sources, children]


def test_a_lake_of_one_machine_needs_no_server(local_lake: Store, tachograph: Run) -> None:
    for words in (
        f"ingest {SAMPLES} --json",
        "rebuild",
        "undo --yes",
        f"ingest {SAMPLES} --json",
        "lake compact",
        "report --format json",
    ):
        ended = tachograph(words, "--db", local_lake.location)
        assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["report"]["runs"] == 3


def test_an_object_storage_keeps_the_data(stored_lake: Store, tachograph: Run) -> None:
    accepted = json.loads(
        tachograph("ingest", str(ALL), "--json", "--db", stored_lake.location).stdout
    )["accepted"]
    assert (
        json.loads(tachograph("report --format json --db", stored_lake.location).stdout)["report"][
            "runs"
        ]
        == accepted
        > 3
    )
    status = json.loads(tachograph("lake status --json --db", stored_lake.location).stdout)
    assert status["data_path"].startswith("s3://")
    assert status["bytes"]


def test_ingest_makes_no_lake(empty_database: str, tachograph: Run, tmp_path: Path) -> None:
    """Where its data lies must be decided by somebody.

    A mistyped name would begin a lake elsewhere.
    """
    ended = tachograph("ingest", str(SAMPLES), "--db", empty_database)
    assert ended.returncode == 4
    assert "There is no lake at" in ended.stderr
    assert "tachograph lake init --data FOLDER" in ended.stderr
    made = tachograph("lake init --data", str(tmp_path / "data"), "--db", empty_database)
    again = tachograph("lake init --db", empty_database)
    assert (made.returncode, again.returncode) == (0, 0)
    assert "Made the lake" in made.stderr
    assert "There is already the lake" in again.stderr
