"""ShinkaEvolve's databases: read with the log beside them, and left as they were."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ingest.loops.base import Loop
from ingest.loops.shinka import DATABASE, SHINKA
from ingest.measurements.base import MeasuredFile
from ingest.store.database import Store, arrow
from schemas.rows.loop import CostBasis, State
from tests.conftest import ingest_paths


def rows(store: Store, query: str) -> list[dict[str, Any]]:
    with store.reading() as connection:
        found: list[dict[str, Any]] = arrow(connection, query).to_pylist()
        return found


COLUMNS = (
    "id text primary key, code text, parent_id text, generation integer, timestamp real, "
    "code_diff text, combined_score real"
)
COSTS = {"api_costs": 0.004, "embed_cost": 0.0000073125, "novelty_cost": 0.0, "meta_cost": None}


def database(
    path: Path, programs: Sequence[tuple[str, str | None, int, float | None, int, dict[str, Any]]]
) -> sqlite3.Connection:
    """A database of these programs: (id, parent, generation, score, correct, metadata)."""
    connection = sqlite3.connect(path)
    connection.execute("pragma journal_mode = wal")
    connection.execute(
        f"create table programs ({COLUMNS}, public_metrics text, correct boolean, metadata "
        "text, text_feedback text)"
    )
    for identity, parent, generation, score, correct, metadata in programs:
        values = (
            identity,
            "x",
            parent,
            generation,
            1759612372.5 + generation,
            "@@ -1 +1 @@",
            score,
            '{"pass": 3}',
            correct,
        )
        connection.execute(
            f"insert into programs values ({', '.join('?' * 11)})",
            (*values, json.dumps(metadata | COSTS), ""),
        )
    connection.commit()
    return connection


TILES = {
    "patch_name": "tiles",
    "model_name": "m",
    "compute_time": 2.5,
    "llm_result": {"input_tokens": 5, "output_tokens": 2},
}
PROGRAMS: Sequence[tuple[str, str | None, int, float | None, int, dict[str, Any]]] = (
    ("g0", None, 0, 1.0, 1, {"patch_type": "init", "patch_name": "initial_program"}),
    ("g0-copy", None, 0, 1.0, 1, {"_is_island_copy": True, "_original_program_id": "g0"}),
    ("g1", "g0-copy", 1, 1.5, 1, TILES),
    ("g2", "g1", 2, 0.0, 0, {}),
    ("g3", "g1", 3, 1.2, 1, {}),
    ("g4", "g1", 4, float("inf"), 1, {}),
    ("spawned", "g1", 5, 1.5, 1, {"_spawned_island": True, "_original_program_id": "g1"}),
)  # fmt: skip


def shinka_loops(path: Path) -> list[Loop]:
    return list(SHINKA.read(MeasuredFile(str(path), DATABASE, path.parent.joinpath)))


def test_a_database_has_its_programs_without_copies_for_islands(tmp_path: Path) -> None:
    database(tmp_path / "evolution_db.sqlite", PROGRAMS).close()
    [loop] = shinka_loops(tmp_path / "evolution_db.sqlite")
    assert [(one.label, one.state.value, one.value) for one in loop.experiments] == [
        ("generation 0", "baseline", 1.0),
        ("generation 1", "kept", 1.5),
        ("generation 2", "crashed", None),
        ("generation 3", "other", 1.2),
        ("generation 4", "crashed", None),
    ]
    first = loop.experiments[1]
    assert (first.parent, first.model, first.tokens, first.duration_ms, first.description) == (
        "generation 0",
        "m",
        7,
        2500,
        "tiles",
    )
    assert first.cost_usd == Decimal("0.0040073125")
    assert first.secondary == {"pass": 3.0}
    assert loop.cost_basis is CostBasis.EXACT


def test_proposals_without_a_program_make_the_cost_a_lower_bound(tmp_path: Path) -> None:
    with closing(database(tmp_path / "programs.sqlite", PROGRAMS)) as connection:
        connection.execute(
            "create table attempt_log (id integer primary key, generation integer, stage "
            "text, status text, details text)"
        )
        for generation in (1, 2, 4, 6, 6, 8, 30):
            connection.execute(
                (
                    "insert into attempt_log (generation, stage, status) values (?, 'proposal', "
                    "'failed')"
                ),
                (generation,),
            )
        connection.execute("update programs set generation = 9 where id = 'g4'")
        connection.commit()
        [loop] = shinka_loops(tmp_path / "programs.sqlite")
    assert loop.cost_basis is CostBasis.LOWER_BOUND
    assert loop.notes[0].endswith(": 3")  # 4, 6 and 8; what is under way may still become a program


def test_a_first_program_that_failed_is_no_baseline(tmp_path: Path) -> None:
    database(
        tmp_path / "programs.sqlite", (("g0", None, 0, 0.0, 0, {}), ("g1", "g0", 1, 0.5, 1, {}))
    ).close()
    [loop] = shinka_loops(tmp_path / "programs.sqlite")
    assert [one.state for one in loop.experiments] == [State.CRASHED, State.KEPT]


@pytest.mark.slow
def test_a_database_is_read_with_the_log_beside_it_and_left_as_it_was(
    store: Store, tmp_path: Path
) -> None:
    """All of a run's programs may be in `-wal` alone: the run was killed, or still writes."""
    with closing(database(tmp_path / "evolution_db.sqlite", PROGRAMS)):
        before = {path.name: path.read_bytes() for path in tmp_path.glob("evolution_db*")}
        assert before["evolution_db.sqlite-wal"]
        report = ingest_paths(store, tmp_path)
        assert {path.name: path.read_bytes() for path in tmp_path.glob("evolution_db*")} == before
    assert report.total("rejected") == 0
    [cost] = rows(
        store,
        (
            "select sum(experiments.cost_reported_usd) as usd from experiments join v_loops "
            "using (source_id, loop_no)"
        ),
    )
    assert cost["usd"] == Decimal("0.020036560")  # of five programs, each to a billionth
    found = rows(store, "select kind from sources order by name")
    assert [one["kind"] for one in found] == [
        "loop",
        "binary",
        "loop",
    ]  # itself, -shm, -wal: both versions of one loop


@pytest.mark.slow
def test_what_a_run_adds_is_read_while_the_database_itself_stays_the_same(
    store: Store, tmp_path: Path
) -> None:
    with closing(database(tmp_path / "evolution_db.sqlite", PROGRAMS[:3])) as connection:
        ingest_paths(store, tmp_path)
        connection.execute(
            "insert into programs select 'g9', code, 'g1', 9, timestamp + 9, '', 2.5, '', 1, "
            "'', '' from programs limit 1"
        )
        connection.commit()
        ingest_paths(store, tmp_path)
        [shown] = rows(
            store,
            "select count(*) as experiments, max(value) as best "
            "from v_loops join experiments using (source_id, loop_no)",
        )
    assert (shown["experiments"], shown["best"]) == (3, 2.5)


@pytest.mark.slow
def test_other_databases_are_binary_data_and_a_damaged_one_is_a_reject(
    store: Store, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as connection:
        connection.execute("create table programs (id, title)")
    with closing(sqlite3.connect(tmp_path / "view.sqlite")) as connection:
        connection.execute(
            "create view programs as select 1 as id, 0 as generation, 1 as combined_score, 1 "
            "as correct"
        )
    database(tmp_path / "damaged.sqlite", PROGRAMS).close()
    damaged = (tmp_path / "damaged.sqlite").read_bytes()
    (tmp_path / "damaged.sqlite").write_bytes(damaged[:4096] + b"\xff" * (len(damaged) - 4096))
    report = ingest_paths(store, tmp_path)
    assert report.total("rejected") == 1
    [reject] = rows(store, "select detail from rejects")
    assert "shinka-sqlite" in reject["detail"]
    assert {
        one["kind"]
        for one in rows(store, "select kind from sources where name not like '%damaged%'")
    } == {"binary"}
