"""The benchmarks still run: their logs are read, their stages are those of the pipeline, their large store fits the tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingest.claims import extract
from schemas.rows.run import Outcome, RecordKind, TokensBasis
from tests.bench import big_store, logs
from tests.bench.stages import seconds_by_stage

pytestmark = pytest.mark.slow

RUNS = 2000


@pytest.fixture(scope="module")
def sampled() -> list[logs.Record]:
    """The records of the sample logs."""
    return logs.records_of()


def test_made_records_are_runs_of_their_own_that_say_what_the_real_ones_say(sampled: list[logs.Record]) -> None:
    made = [json.loads(line) for line in logs.made_of(sampled, 50)]
    assert len({record["uuid"] for record in made}) == len({record["session_id"] for record in made}) == 50
    said = {record["result"] for record in sampled}
    kept = [record["result"].rpartition(" ")[0] for record in made]
    assert said.issuperset(kept), "summaries of no real run"
    assert [len(extract(record["result"])) for record in made] == [len(extract(text)) for text in kept], "the number added is a claim"


def test_a_seed_gives_the_same_logs_each_time(sampled: list[logs.Record]) -> None:
    assert list(logs.made_of(sampled, 10)) == list(logs.made_of(sampled, 10)) != list(logs.made_of(sampled, 10, seed=2))


def test_the_stages_read_every_record_from_its_file_to_the_store(sampled: list[logs.Record]) -> None:
    found = seconds_by_stage(sampled, 20)
    assert all(seconds >= 0 for seconds in found.values())
    assert found["claims"] > 0


def test_the_large_store_fits_the_tables_as_they_are_now(tmp_path: Path) -> None:
    """A column that became required, or a new one of a type that has no default here, stops it."""
    store = big_store.make(tmp_path / "big.duckdb", RUNS)
    with store.reading() as connection:
        for table in big_store.ROWS_OF:
            assert connection.execute(f"select 1 from {table} limit 1").fetchall(), f"{table} is empty"
        assert connection.execute("select count(*), count(cost_list_usd) > 0 from v_runs").fetchall() == [(RUNS, True)]
        for column, names in {"outcome": Outcome, "record_kind": RecordKind, "tokens_basis": TokensBasis}.items():
            assert {value for (value,) in connection.execute(f"select distinct {column} from runs").fetchall()} <= set(names)
