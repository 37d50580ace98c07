"""A session of Pi that was resumed.

Its file and the streams of its processes are one run, and without the file each stream is one.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from app.queries.cost import doubtful
from app.queries.filters import Filters
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from ingest.store.undo import undo
from tests.conftest import ingest_paths
from tests.documents import ingested, runs_in_store
from tests.test_pi import SAID, SESSION, answer, header, message, session, stream

MORE = [message(900, "user", "Go on."), answer(901, "It is 3x faster.")]
LAST = [message(1800, "user", "And now?"), answer(1801, "It is 4x faster.")]
TEXTS = {
    "first": stream(),
    "second": stream(MORE),
    "third": stream(LAST),
    "older": session(said=[*SAID, *MORE]),
    "file": session(said=[*SAID, *MORE, *LAST]),
}


def files(place: Path) -> dict[str, Path]:
    place.mkdir(exist_ok=True)
    for name, text in TEXTS.items():
        (place / f"{name}.jsonl").write_text(text)
    return {name: place / f"{name}.jsonl" for name in TEXTS}


def outputs(store: Store) -> list[tuple[str, int]]:
    return sorted((run["record_kind"], run["output_tokens"]) for run in runs_in_store(store))


def test_without_its_file_each_stream_of_a_session_is_a_run(store: Store, tmp_path: Path) -> None:
    place = files(tmp_path / "pi")
    ingest_paths(store, place["first"], place["second"], place["third"])
    assert outputs(store) == [("stream", 5), ("stream", 5), ("stream", 10)]


def test_the_file_of_a_session_and_its_streams_are_one_run(store: Store, tmp_path: Path) -> None:
    place = files(tmp_path / "pi")
    report = ingest_paths(store, tmp_path / "pi")
    assert (report.total("accepted"), report.total("duplicates")) == (1, 4)
    [run] = runs_in_store(store)
    assert (run["run_id"], run["record_kind"], run["output_tokens"], run["result"]) == (
        SESSION,
        "transcript",
        20,
        "It is 4x faster.",
    )
    assert ingest_paths(store, place["second"]).total("accepted") == 0
    with store.reading() as connection:
        assert connection.sql(
            "select run_id, count(*) from run_records group by all"
        ).fetchall() == [(SESSION, 5)]
        assert connection.sql("select distinct run_id from model_usage").fetchall() == [(SESSION,)]
        assert connection.sql("select sum(accepted), sum(duplicates) from sources").fetchall() == [
            (1, 4)
        ]


def test_a_file_that_was_copied_before_the_last_stream_does_not_hold_it(
    store: Store, tmp_path: Path
) -> None:
    place = files(tmp_path / "pi")
    ingest_paths(store, place["third"])
    ingest_paths(store, place["second"], place["older"])
    assert outputs(store) == [("stream", 5), ("transcript", 15)]
    ingest_paths(store, place["file"])
    assert outputs(store) == [("transcript", 20)]


def test_a_stream_of_another_session_at_the_same_time_stays(store: Store, tmp_path: Path) -> None:
    other = header(session="019a0000-0000-7000-8000-000000000009")
    (tmp_path / "other.jsonl").write_text(stream(MORE, other))
    ingest_paths(store, tmp_path / "other.jsonl", files(tmp_path / "pi")["file"])
    assert outputs(store) == [("stream", 5), ("transcript", 20)]


FORK = header(1000, "019a0000-0000-7000-8000-000000000005")
COPIED = {
    "whole": TEXTS["file"],
    "fork": session(said=[*SAID, message(1100, "user", "Or so?"), answer(1101, "Yes.")], of=FORK),
}


def doubted(store: Store) -> list[str]:
    with store.reading() as connection:
        found = connection.sql(
            "select run_id from findings where rule = 'possible_duplicate' order by 1"
        ).fetchall()
    return [run_id for (run_id,) in found]


@pytest.mark.parametrize("order", [("whole", "fork"), ("fork", "whole")])
def test_sessions_that_begin_alike_are_probably_copies_of_one(
    order: tuple[str, str], store: Store, tmp_path: Path
) -> None:
    """A copy that was made while the session went on says nothing of it.

    Both stay, and the report says what may be counted twice.
    """
    for name in order:
        runs = ingested(store, tmp_path, **{name: COPIED[name]})
    assert [run["output_tokens"] for run in runs] == [20, 15]
    assert doubted(store) == [SESSION, FORK["id"]]
    found = doubtful(store, Filters())
    assert (found["copied_runs"], round(float(found["copied_usd"]), 6)) == (1, 0.9)
    if order[0] == "whole":  # a rebuild and an undo know no order
        assert (rebuild(store).rejects, doubted(store)) == (0, [SESSION, FORK["id"]])
        undo(store, 2)
        assert doubted(store) == []


def test_sessions_that_begin_otherwise_are_no_copies(store: Store, tmp_path: Path) -> None:
    later = message(1.001, "user", "Make it faster.")
    asked = message(1, "user", "Make it slower.")
    others = {
        name: session(said=[one, *SAID[1:]], of=header(0, f"{SESSION[:-1]}{name}"))
        for name, one in (("6", later), ("7", asked))
    }
    ingested(
        store,
        tmp_path,
        whole=TEXTS["file"],
        **{f"other_{name}": text for name, text in others.items()},
    )
    assert doubted(store) == []
