"""Taking an ingest back: the store then holds what the other ingests alone would have brought."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from ingest.pipeline import IngestReport, Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from ingest.store.undo import undo
from schemas.errors import UsageError
from schemas.rows.tables import TABLES
from tests.conftest import record, record_text
from tests.examples import written_down

pytestmark = pytest.mark.slow

EVENT = json.dumps({"type": "system", "subtype": "init", "session_id": "s", "model": "claude-opus-4-6", "tools": ["Bash"]})
CALL = json.dumps(
    {"type": "assistant", "session_id": "s", "message": {"content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]}}
)
CUT = '{"type": "result", "total_cost_usd": 0.5, "num'


def grown(times: int, uuid: str, session: str = "s") -> str:
    """A record whose totals continue those of a record with fewer `times`."""
    figures = record()
    model = {name: value * times for name, value in figures["modelUsage"]["claude-opus-4-6"].items()} | {"contextWindow": 200_000}
    return record_text(uuid=uuid, session_id=session, total_cost_usd=0.25 * times, modelUsage={"claude-opus-4-6": model})


LOGS = {
    "chain.jsonl": [grown(1, "c1"), grown(2, "c2"), CUT, grown(3, "c3")],
    "stream.jsonl": [EVENT, CALL, grown(1, "c1"), grown(2, "c2"), grown(3, "d1", "t"), CUT],
    "list.jsonl": [json.dumps({"runs": [record(uuid="c2", session_id="s", result=..., modelUsage=..., usage=...)]}), record_text(uuid="x")],
    "other.jsonl": [grown(3, "c3"), record_text(uuid="x", result="Done. 2x faster."), record_text(uuid="y", session_id=...), CUT],
    "parts/run.jsonl": [record_text(uuid="x", result=None, modelUsage=...), grown(4, "c4")],
}
"""By name the lines of logs that grow: copies of one record with more and less in it, totals that continue, lines that are cut."""

LABELS: tuple[dict[str, str], ...] = ({}, {"team": "a"}, {"team": "b", "repo": "vllm"}, {"repo": "sglang", "kind": "night"})


@dataclass(frozen=True)
class Batch:
    """The files of one ingest, name → lines that are there already; labels; whether rejects are retried."""

    files: tuple[tuple[str, int], ...]
    labels: int = 0
    retries: bool = False

    def read(self, store: Store) -> IngestReport:
        sources = [Source(name, ("\n".join(LOGS[name][:lines]) + "\n").encode()) for name, lines in self.files]
        return ingest(sources, store, Options(tuple(LABELS[self.labels].items()), jobs=1, retry_rejects=self.retries))


FILES = st.sampled_from([(name, lines) for name, log in LOGS.items() for lines in range(1, len(log) + 1)])
BATCHES = st.builds(Batch, st.lists(FILES, min_size=1, max_size=3, unique=True).map(tuple), st.integers(0, 3), st.booleans())


def tables(store: Store, without: Sequence[str] = ("store_meta",)) -> dict[str, list[tuple[Any, ...]]]:
    """Every table as sorted rows. Ingests are counted from 1, and have no times."""
    with store.reading() as connection:
        ids = [number for (number,) in connection.execute("select ingest_id from ingests order by 1").fetchall()]
        found = {}
        for name in (name for name in TABLES if name not in without):
            table = connection.sql(f"select * from {name}").to_arrow_table()
            columns = [column for column in table.column_names if column not in ("received_at", "started_at", "finished_at")]
            rows = [tuple(_stable(row[column], column, ids) for column in columns) for row in table.to_pylist()]
            found[name] = sorted(rows, key=str)
        return found


def _stable(value: Any, column: str, ids: list[int]) -> Any:
    return ids.index(value) + 1 if column in ("ingest_id", "superseded_by") and value is not None else value


def differences(one: dict[str, list[Any]], other: dict[str, list[Any]]) -> dict[str, Any]:
    return {
        name: ([row for row in one[name] if row not in other[name]], [row for row in other[name] if row not in one[name]])
        for name in one
        if one[name] != other[name]
    }


def undo_is_as_if_never_ingested(batches: Sequence[Batch], place: int) -> None:
    with TemporaryDirectory() as folder:
        all_of_them, others = Store(Path(folder) / "all.duckdb"), Store(Path(folder) / "others.duckdb")
        reports = []
        for number, batch in enumerate(batches):
            if number == place and all_of_them.exists():  # so far the stores are the same
                shutil.copy(all_of_them.location, others.location)
            reports.append(batch.read(all_of_them))
        assume(reports[place].ingest_id)
        mine = {source.source_id for source in reports[place].sources if not source.known}
        for batch, report in list(zip(batches, reports, strict=True))[place + 1 :]:
            known = [source.source_id for source in report.sources if source.known]
            assume(not mine.intersection(known) and not (known and batch.labels))  # that ingest did not read them
        for batch in batches[place + 1 :]:
            batch.read(others)
        assume(others.exists())
        try:
            undo(all_of_them, reports[place].ingest_id or 0)
        except UsageError as error:
            assume("first" not in error.hint)
            raise
        told = ("store_meta",) if place == len(batches) - 1 else ("store_meta", "ingests")  # what a later ingest found new, it says still
        assert differences(tables(all_of_them, told), tables(others, told)) == {}


@given(st.lists(BATCHES, min_size=2, max_size=3), st.integers(0, 2))
@settings(parent=written_down(), suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@example([Batch((("list.jsonl", 1),)), Batch((("chain.jsonl", 2),), 1)], 1)
@example([Batch((("chain.jsonl", 3),)), Batch((("chain.jsonl", 4),), 2)], 1)
@example([Batch((("chain.jsonl", 3),)), Batch((("chain.jsonl", 3),), 2, retries=True)], 1)
@example([Batch((("stream.jsonl", 5),), 1), Batch((("chain.jsonl", 4), ("other.jsonl", 4)), 2)], 0)
@example([Batch((("stream.jsonl", 5),), 1), Batch((("stream.jsonl", 5),), 3), Batch((("other.jsonl", 1),))], 1)
def test_undo_is_as_if_it_had_never_been_ingested(batches: list[Batch], place: int) -> None:
    undo_is_as_if_never_ingested(batches, min(place, len(batches) - 1))
