"""The screen Data: known and missing facts add up; facts an agent never logs are not missing.

The same holds for failures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from app.queries import quality as queries
from app.queries import runs as run_queries
from app.queries.cost import coverage
from app.queries.filters import NO_FILTERS, Filters
from app.queries.reading import fetch_value
from app.screens.parts.uploading import Arrived
from app.text import data as data_words
from app.text import data as sentences
from app.text import failures as failure_sentences
from ingest.mapped.propose import proposed
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from ingest.store.undo import undo
from schemas.catalogue.failures import WHOSE
from tests.conftest import ingest_paths, record_text
from tests.test_cost_measures import fill

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

    from tests.conftest import StoreOnce

NOTHING = {
    "sources": 0,
    "known": 0,
    "documents": 0,
    "accepted": 0,
    "duplicates": 0,
    "rejected": 0,
    "ignored": 0,
}


@pytest.fixture(scope="module")
def mixed(read_once: StoreOnce) -> Store:
    """Two runs of Claude Code, three of TRAE, one of them without tokens."""
    return read_once("cost_measures", fill)


def test_what_is_missing_is_counted_and_what_is_never_told_is_no_lack(
    mixed: Store, screens: Callable[..., AppTest]
) -> None:
    rows = queries.by_agent(mixed, Filters())
    total, *agents = rows
    assert sum(row.started for row in agents) == total.started == 4
    assert {key: sum(row.known[key] for row in agents) for key in queries.FACTS} == total.known
    assert (total.known["cost"], total.known["date"], total.runs) == (4, 2, 5)
    said = sentences.quality(rows, queries.documents(mixed))
    assert said.heading == "**All 4 started runs record** the cost, the wall time and the end."
    assert said.second == "Every record could be read."
    table = data_words.known_table(rows, Filters())
    assert "not recorded" in table, "TRAE logs no time of API calls"
    assert "2 of 4" in table, "the dates"
    unknown = [replace(rows[0], whole=2, known=rows[0].known | {"cost": 2, "end": 3}), *agents]
    assert sentences.quality(unknown, NOTHING).heading.endswith(
        "the wall time and the end; 2 lack the cost and 1 lacks the end."
    )
    app = screens(mixed.location, "screens/data.py")
    assert "<em>All 4 started runs record</em>" in "".join(
        element.proto.body for element in app.get("html")
    )


@pytest.mark.parametrize(
    ("parts", "heading"),
    [
        ({}, "Add logs of agents or results of benchmarks: **each is read once**."),
        ({"sources": 2, "accepted": 3}, "**3 of 3 records** are new runs."),
        (
            {"sources": 9, "accepted": 165, "duplicates": 161, "ignored": 7},
            "**165 of 326 records** are new runs; 161 repeat others or were there already.",
        ),
        (
            {"sources": 2, "accepted": 3, "duplicates": 1},
            "**3 of 4 records** are new runs; 1 repeats another or was there already.",
        ),
        ({"sources": 1, "rejected": 1}, "**No run** could be read: 1 is rejected."),
        (
            {"sources": 187, "known": 187, "duplicates": 224, "rejected": 3},
            "**Nothing is new**: all 224 records are here already.",
        ),
        ({"sources": 1, "known": 1}, "**Nothing is new**: the file is here already."),
        ({"sources": 4, "ignored": 4}, "**No run** was found in 4 files."),
    ],
)
def test_the_parts_of_an_upload_add_up(parts: dict[str, int], heading: str) -> None:
    said = sentences.upload(NOTHING | parts)
    assert said.heading == heading


@pytest.mark.parametrize(
    ("facts", "heading"),
    [
        (
            {"set-up": 4, "account": 2, "agent": 3},
            ("9 of 20 runs did not complete, **6 of them through set-up or account** and 3 by "
"the agent itself."),
        ),
        ({"agent": 2}, "2 of 20 runs did not complete, **all of them by the agent itself**."),
        ({"unknown": 1}, "1 of 20 runs did not complete."),
        ({}, "**None of the 20 runs failed**."),
    ],
)  # fmt: skip
def test_who_failed_is_said_as_far_as_it_is_known(facts: dict[str, int], heading: str) -> None:
    given: dict[str, Any] = dict.fromkeys(WHOSE, 0) | facts
    given |= {"runs": 20, "failed": sum(facts.values()), "never_started": 0}
    assert failure_sentences.failures(given, [], []).heading == heading


def test_documents_are_one_number_in_ingest_on_data_and_in_reports(
    store: Store, tmp_path: Path
) -> None:
    """Copies of files count on both; a second ingest changes nothing, undo restores."""
    (tmp_path / "a.json").write_text(record_text(uuid="a", session_id="a"))
    (tmp_path / "copy.json").write_bytes((tmp_path / "a.json").read_bytes())
    (tmp_path / "b.jsonl").write_text('{"type": "result", "subtype": "success"}\n{"x": 1}\n')
    (tmp_path / "c.jsonl").write_bytes((tmp_path / "b.jsonl").read_bytes())
    told = ingest_paths(store, tmp_path).counts()
    read = queries.documents(store)
    assert {key: read[key] for key in told} == told
    assert (read["sources"], read["copies"], read["accepted"], read["duplicates"]) == (4, 2, 1, 1)
    assert coverage(store, Filters())["sources"] == 4
    ingest_paths(store, tmp_path)
    assert queries.documents(store) == read
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "new.json").write_text(record_text(uuid="d", session_id="d"))
    ingest_paths(store, tmp_path / "d")
    undo(store, int(fetch_value(store, "select max(ingest_id) from ingests")))
    assert queries.documents(store) == read


def test_rows_that_no_reader_knows_are_mapped_and_read(
    tmp_path: Path, store: Store, screens: Callable[..., AppTest]
) -> None:
    """Fields to choose, the rows by them, and one button: no file to write."""
    rows = b"job,tool,model,cost_usd\na,codex,gpt-5,0.5\nb,codex,gpt-5,1.5\n"
    source = Source("rows.csv", rows)
    [report] = ingest([source], store, Options(jobs=1)).sources
    app = screens(store.location, "screens/data.py", view="upload")
    app.session_state["arrived"] = Arrived(reports=(report,))
    app.session_state["mapped-forms"] = proposed([source])
    app.run()
    assert next(box for box in app.selectbox if box.label == "Cost").value == "cost_usd"
    next(box for box in app.selectbox if box.label == "Agent").select("tool").run()
    next(box for box in app.selectbox if box.label == "Task").select("job").run()
    assert "$1.50" in "".join(element.proto.body for element in app.get("html"))
    next(button for button in app.button if button.label == "Read 2 rows").click().run()
    assert not app.exception
    found = run_queries.runs(store, NO_FILTERS).to_pylist()
    assert {(run["agent"], run["task"]) for run in found} == {("codex", "a"), ("codex", "b")}
