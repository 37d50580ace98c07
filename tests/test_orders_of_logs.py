"""Logs of sessions in any order, again, grown or rebuilt: the same store. Pi, Kimi and Aider together, since each ingest costs time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from tests import test_aider, test_kimi, test_pi
from tests.documents import ingested, lines, runs_in_store

FORK = test_pi.header(10, test_pi.PARENT, parentSession=f"x_{test_pi.SESSION}.jsonl")
LOGS: dict[str, str] = {
    "pi": test_pi.session(),
    "pi_began": "".join(test_pi.session().splitlines(keepends=True)[:3]),
    "pi_stream": test_pi.stream(),
    "pi_header_began": lines(test_pi.header()),
    "pi_fork": test_pi.session(test_pi.entry(9, 4, test_pi.answer(12, "Done.")), of=FORK),
    "kimi": lines(*test_kimi.CODE),
    "kimi_began": lines(*test_kimi.CODE[:8]),
    "kimi_cli": lines(*test_kimi.CLI, *test_kimi.CLI),
    "aider": lines(*test_aider.LOG),
    "aider_began": lines(*test_aider.LOG[:4]),
    "aider_result": lines(test_aider.RESULT),
    "aider_history": test_aider.HISTORY,
    "aider_history_began": test_aider.HISTORY[:420],
}
RUNS = {"pi": 2, "kimi-code": 2, "aider": 5}


def test_any_order_and_number_of_logs_gives_the_same_store(store: Store, tmp_path: Path) -> None:
    forwards = runs_of(ingested(store, tmp_path, **LOGS))
    assert {agent: sum(run["agent"] == agent for run in forwards) for agent in RUNS} == RUNS
    assert sum(run["output_tokens"] for run in forwards if run["agent"] == "pi") == 15, "the fork without what it copied"
    backwards = Store(tmp_path / "backwards.duckdb")
    whole = {name: log for name, log in reversed(LOGS.items()) if not name.endswith("_began")}
    ingested(backwards, tmp_path, **whole)
    ingested(backwards, tmp_path, **LOGS)
    assert runs_of(runs_in_store(backwards)) == forwards
    assert (rebuild(store).rejects, runs_of(runs_in_store(store))) == (0, forwards)


def runs_of(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The runs without what the time of a file says, which differs."""
    return [{name: value for name, value in row.items() if row["time_source"] != "file" or not name.endswith("_at")} for row in rows]
