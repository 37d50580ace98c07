"""Taking an ingest back: the store then holds what the other ingests alone would have brought."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile, ZipInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.context.path_template import PathTemplate
from ingest.pipeline import IngestReport, Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from ingest.store.undo import undo
from schemas.errors import UsageError
from schemas.rows.tables import TABLES
from tests.conftest import record, record_text
from tests.examples import a_share, size

pytestmark = pytest.mark.slow

EVENT = json.dumps(
    {
        "type": "system",
        "subtype": "init",
        "session_id": "s",
        "model": "claude-opus-4-6",
        "tools": ["Bash"],
    }
)
CALL = json.dumps(
    {
        "type": "assistant",
        "session_id": "s",
        "message": {"content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]},
    }
)
CUT = '{"type": "result", "total_cost_usd": 0.5, "num'


def grown(times: int, uuid: str, session: str = "s") -> str:
    """A record whose totals continue those of a record with fewer `times`."""
    figures = record()
    model = {
        name: value * times for name, value in figures["modelUsage"]["claude-opus-4-6"].items()
    } | {"contextWindow": 200_000}
    return record_text(
        uuid=uuid,
        session_id=session,
        total_cost_usd=0.25 * times,
        modelUsage={"claude-opus-4-6": model},
    )


LOGS = {
    "chain.jsonl": [grown(1, "c1"), grown(2, "c2"), CUT, grown(3, "c3")],
    "stream.jsonl": [EVENT, CALL, grown(1, "c1"), grown(2, "c2"), grown(3, "d1", "t"), CUT],
    "list.jsonl": [
        json.dumps(
            {"runs": [record(uuid="c2", session_id="s", result=..., modelUsage=..., usage=...)]}
        ),
        record_text(uuid="x"),
    ],
    "other.jsonl": [
        grown(3, "c3"),
        record_text(uuid="x", result="Done. 2x faster."),
        record_text(uuid="y", session_id=...),
        CUT,
    ],
    "parts/run.jsonl": [record_text(uuid="x", result=None, modelUsage=...), grown(4, "c4")],
}
"""By name the lines of logs that grow: copies of one record with more and less in it, totals that
continue, lines that are cut.
"""

LABELS: tuple[dict[str, str], ...] = (
    {},
    {"team": "a"},
    {"team": "b", "repo": "vllm"},
    {"repo": "sglang", "kind": "night"},
)


@dataclass(frozen=True)
class Batch:
    """The files of one ingest, name → lines that are there already; labels.

    Whether they are in an archive, and rejects are retried.

    `place`: the folder that they are in, which tells a task and labels by the template, and a time.
    """

    files: tuple[tuple[str, int], ...]
    labels: int = 0
    packed: bool = False
    retries: bool = False
    place: str = ""

    def read(self, store: Store) -> IngestReport:
        texts = {
            self.place + name: ("\n".join(LOGS[name][:lines]) + "\n").encode()
            for name, lines in self.files
        }
        sources = (
            [Source("logs.zip", zipped(texts))]
            if self.packed
            else [Source(name, data) for name, data in texts.items()]
        )
        template = (
            PathTemplate.parse("{kind}/{task}/{effort}/{timestamp}/**") if self.place else None
        )
        return ingest(
            sources,
            store,
            Options(
                tuple(LABELS[self.labels].items()), template, jobs=1, retry_rejects=self.retries
            ),
        )


def zipped(texts: dict[str, bytes]) -> bytes:
    """The same archive of the same files at any time."""
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for name, data in texts.items():
            archive.writestr(ZipInfo(name), data)
    return packed.getvalue()


REBUILD = "rebuild"
FILE = st.sampled_from(
    [(name, lines) for name, log in LOGS.items() for lines in range(1, len(log) + 1)]
)
FILES = st.lists(FILE, min_size=1, max_size=3, unique_by=lambda file: file[0]).map(tuple)
PLACES = st.sampled_from(
    ("", "", "night/t1/high/2026-01-27_15-16-21/", "day/t2/low/2026-02-01_10-00-00/")
)
BATCHES = st.builds(Batch, FILES, st.integers(0, 3), st.booleans(), st.booleans(), PLACES)
STEPS = st.lists(
    st.one_of(BATCHES, BATCHES, st.integers(0, 3), st.just(REBUILD)), min_size=3, max_size=7
)
"""Ingests, undos of the n-th ingest that is left, and rebuilds."""


def tables(
    store: Store, without: Sequence[str] = ("store_meta", "ingests")
) -> dict[str, list[tuple[Any, ...]]]:
    """Every table as sorted rows. Ingests are counted from 1, and have no times."""
    with store.reading() as connection:
        ids = [
            number
            for (number,) in connection.execute(
                "select ingest_id from ingests order by 1"
            ).fetchall()
        ]
        found = {}
        for name in (name for name in TABLES if name not in (*without, "found_files")):
            rows_of = "sightings join found_files using (file_no)" if name == "sightings" else name
            table = connection.sql(f"select * from {rows_of}").to_arrow_table()
            columns = [
                one
                for one in table.column_names
                if one not in ("received_at", "started_at", "finished_at", "file_no")
            ]
            rows = [
                tuple(_stable(row[column], column, ids) for column in columns)
                for row in table.to_pylist()
            ]
            found[name] = sorted(rows, key=str)
        return found


def _stable(value: Any, column: str, ids: list[int]) -> Any:
    if column == "context" and value:  # an unknown time may be left out
        return sorted(
            (name, str(told)) for name, told in json.loads(value).items() if told is not None
        )
    return (
        ids.index(value) + 1
        if column in ("ingest_id", "superseded_by") and value is not None
        else value
    )


def differences(one: dict[str, list[Any]], other: dict[str, list[Any]]) -> dict[str, Any]:
    return {
        name: (
            [row for row in one[name] if row not in other[name]],
            [row for row in other[name] if row not in one[name]],
        )
        for name in one
        if one[name] != other[name]
    }


def undo_is_as_if_never_ingested(steps: Sequence[Batch | int | str]) -> None:
    """After the steps, the store equals one with only the ingests that were not undone."""
    with TemporaryDirectory() as folder:
        store, others = Store(Path(folder) / "all.duckdb"), Store(Path(folder) / "others.duckdb")
        left: dict[int, Batch] = {}
        for step in steps:
            if isinstance(step, Batch):
                if number := step.read(store).ingest_id:
                    left[number] = step
            elif step == REBUILD and left:
                rebuild(store)
            elif isinstance(step, int) and left:
                number = list(left)[step % len(left)]
                with suppress(UsageError):  # a later one read its files again, and is undone first
                    undo(store, number)
                    del left[number]
        for batch in left.values():
            assert batch.read(others).ingest_id
        if left:
            assert differences(tables(store), tables(others)) == {}


ONE, TWO = ("chain.jsonl", 2), ("other.jsonl", 3)


NIGHT = "night/t1/high/2026-01-27_15-16-21/"
CASES: tuple[list[Batch | int | str], ...] = (
    # an archive that has all of an earlier one
    [Batch((ONE,), 1, packed=True), Batch((ONE, TWO), 2, packed=True), 0, REBUILD],
    # labels for a known archive
    [Batch((ONE, TWO), packed=True), Batch((ONE, TWO), 1, packed=True), Batch((TWO,), 2), 0, 0],
    # facts of a path
    [Batch((ONE, TWO), 1, place=NIGHT), Batch((ONE, TWO, ("list.jsonl", 1))), 0],
    [Batch((ONE, TWO)), Batch((ONE, ("list.jsonl", 1)), place=NIGHT), 0],
    [Batch((("chain.jsonl", 3),)), Batch((("chain.jsonl", 4),), 2), REBUILD, 1],
    # the same labels again
    [Batch((ONE,), 1), Batch((ONE, TWO), 1), 0],
    [Batch((("chain.jsonl", 3),)), Batch((("chain.jsonl", 3),), 2, retries=True), 1],
    [Batch((("list.jsonl", 1),)), Batch((("chain.jsonl", 2),), 1), 1],
    [Batch((("stream.jsonl", 5),), 1), Batch((("chain.jsonl", 4), ("other.jsonl", 4)), 2), 0],
    [Batch((("stream.jsonl", 5),), 1), Batch((("stream.jsonl", 5),), 3), Batch((TWO,)), 1],
)


@pytest.mark.parametrize("steps", a_share(CASES, 2))
def test_an_ingest_is_undone_as_if_it_had_never_been(steps: list[Batch | int | str]) -> None:
    undo_is_as_if_never_ingested(steps)


@given(STEPS)
@settings(max_examples=size(1, 40))
def test_any_ingests_are_undone_as_if_they_had_never_been(steps: list[Batch | int | str]) -> None:
    undo_is_as_if_never_ingested(steps)
