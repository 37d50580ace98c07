"""Logs of agents without a reader: one reject with their name, whatever else is in them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from app.queries import quality
from app.text import ingests
from ingest.store.database import Store
from schemas.unread_logs import AGENT_BY_DETAIL, OLDER_CODEX, UNREAD, UNREAD_RESULTS
from tests.conftest import Run, ingest_paths, record_text
from tests.documents import lines, rejects_of, runs_in, runs_in_store

GOLDEN = Path(__file__).parent / "golden"
LOGS: dict[str, Any] = json.loads((GOLDEN / "unread_logs.json").read_text(encoding="utf-8"))
TABLES: dict[str, str] = json.loads((GOLDEN / "unread_databases.json").read_text(encoding="utf-8"))


def test_every_kind_has_an_example() -> None:
    assert {log.what for log in UNREAD} == {*LOGS, *TABLES}


@pytest.mark.parametrize("what", LOGS)
def test_a_log_is_one_reject_with_its_name(what: str) -> None:
    log = LOGS[what]
    texts = (
        [lines(*log), json.dumps(log), json.dumps(log, indent=2)]
        if isinstance(log, list)
        else [json.dumps(log), json.dumps(log, indent=2)]
    )
    for text in texts:
        runs, rejects = runs_in(text.encode())
        verb = "is" if "telemetry" in what else "are"
        assert (runs, [detail.split(" not read yet")[0] for detail in rejects]) == (
            [],
            [f"{what} {verb}"],
        )


def test_a_record_quoted_in_such_a_log_is_no_run() -> None:
    quoted = json.loads(record_text())
    runs, [reject] = runs_in(
        json.dumps(LOGS["Amp's thread files"] | {"meta": {"found": quoted}}, indent=1).encode()
    )
    assert (runs, reject) == ([], "Amp's thread files are not read yet")


def test_databases_are_told_by_their_tables(store: Store, tmp_path: Path) -> None:
    """Of any other there is nothing to say."""
    for number, table in enumerate(
        [*TABLES.values(), "create table sessions (id text, total_tokens integer)"]
    ):
        connection = sqlite3.connect(tmp_path / f"{number}.db")
        connection.execute("create table settings (name text)")
        connection.executescript(table)
        connection.close()
    ingest_paths(store, *tmp_path.glob("*.db"))
    assert [detail.split(" is not read yet")[0] for _, detail in rejects_of(store)] == sorted(
        TABLES
    )
    assert {reason for reason, _ in rejects_of(store)} == {"look_alike"}
    assert runs_in_store(store) == []


def test_every_log_is_called_by_one_agent() -> None:
    """An ingest counts by the words of a reject."""
    assert len(AGENT_BY_DETAIL) == len({*UNREAD, *UNREAD_RESULTS, OLDER_CODEX})


@pytest.mark.parametrize("keeps_text", [True, False])
def test_files_are_counted_by_their_agent(
    tachograph: Run, tmp_path: Path, keeps_text: bool
) -> None:
    """At the end of an ingest, in the list of sources and on the screen of quality."""
    whose = {
        "a": "Kiro's session files",
        "b": "Kiro's chat files",
        "c": "Claude Code telemetry in a file",
    }
    (tmp_path / "logs").mkdir()
    for name, what in whose.items():
        log = LOGS[what]
        (tmp_path / "logs" / f"{name}.jsonl").write_text(
            lines(*log) if isinstance(log, list) else json.dumps(log)
        )
    (tmp_path / "logs" / "other.json").write_text('{"a": 1}')
    said = tachograph("ingest logs", *(() if keeps_text else ("--no-text",)))
    counted = "2 files of Kiro, 1 of Claude Code telemetry, which are not read"
    assert counted in said.stderr
    listed = json.loads(tachograph("sources --format json").stdout)
    kinds = {Path(row["name"]).stem: row["kind"] for row in listed}
    assert kinds == {
        "a": "not read: Kiro",
        "b": "not read: Kiro",
        "c": "not read: Claude Code telemetry",
        "other": "json",
    }
    store = Store(tmp_path / "tachograph.duckdb")
    assert ingests.unread(quality.unread(store)) == counted
    assert {row["kind"] for row in quality.sources(store, 9).to_pylist()} == set(kinds.values())
