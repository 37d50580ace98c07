"""Logs of every agent in any order, in any batches, again and rebuilt: the same store. Together, since each ingest costs time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from tests import (
    test_aider,
    test_atif,
    test_codex,
    test_codex_app_server,
    test_copilot,
    test_cursor,
    test_gemini,
    test_grok,
    test_harbor,
    test_inspect_ai,
    test_kimi,
    test_mini_swe_agent,
    test_opencode,
    test_openhands,
    test_openhands_index,
    test_pi,
    test_qwen,
    test_swe_agent,
    test_terminal_bench,
    test_trae,
)
from tests.conftest import record_text
from tests.documents import ingested, lines, runs_in_store

FORK = test_pi.header(10, test_pi.PARENT, parentSession=f"x_{test_pi.SESSION}.jsonl")
OTHER = test_pi.header(0, "019a0000-0000-7000-8000-000000000003")
MORE = [test_pi.message(900, "user", "Go on."), test_pi.answer(901, "Done.")]
LOGS: dict[str, str] = {
    "claude": record_text(uuid="of-claude-code"),
    "pi": test_pi.session(),
    "pi_began": "".join(test_pi.session().splitlines(keepends=True)[:3]),
    "pi_stream": test_pi.stream(),
    "pi_header_began": lines(test_pi.header()),
    "pi_fork": test_pi.session(test_pi.entry(9, 4, test_pi.answer(12, "Done.")), of=FORK),
    "pi_resumed": test_pi.stream(MORE, OTHER),
    "pi_resumed_began": "".join(test_pi.stream(MORE, OTHER).splitlines(keepends=True)[:-2]),
    "pi_file": test_pi.session(of=OTHER, said=[*test_pi.SAID, *MORE]),
    "kimi": lines(*test_kimi.CODE),
    "kimi_began": lines(*test_kimi.CODE[:8]),
    "kimi_cli": lines(*test_kimi.CLI, *test_kimi.CLI),
    "aider": lines(*test_aider.LOG),
    "aider_began": lines(*test_aider.LOG[:4]),
    "aider_result": lines(test_aider.RESULT),
    "aider_history": test_aider.HISTORY,
    "aider_history_began": test_aider.HISTORY[:420],
}
for of_agent in (
    test_atif, test_codex, test_codex_app_server, test_copilot, test_cursor, test_gemini, test_grok, test_harbor, test_inspect_ai,
    test_mini_swe_agent, test_opencode, test_openhands, test_openhands_index, test_qwen, test_swe_agent, test_terminal_bench, test_trae,
):  # fmt: skip
    LOGS |= of_agent.LOGS

RUNS = {
    "aider": 5, "claude-code": 3, "codex": 3, "copilot": 3, "cursor": 3, "gemini-cli": 4, "grok": 2, "inspect-ai": 2, "kimi-code": 2,
    "mini-swe-agent": 2, "opencode": 2, "openhands": 3, "pi": 3, "qwen-code": 3, "swe-agent": 2, "terminus-2": 2, "trae-agent": 1,
    "unknown": 4,
}  # fmt: skip
"""Runs by agent. Harbor's trials are of Claude Code, ATIF's of Terminus; terminal-bench and the OpenHands Index do not name the agent."""

BATCHES = 3


def test_any_order_and_number_of_logs_gives_the_same_store(store: Store, tmp_path: Path) -> None:
    forwards = runs_of(ingested(store, tmp_path, **LOGS))
    assert Counter(run["agent"] for run in forwards) == RUNS
    assert sum(run["output_tokens"] for run in forwards if run["agent"] == "pi") == 30, "the fork without what it copied"
    others = Store(tmp_path / "others.duckdb")
    backwards = list(reversed(LOGS.items()))
    for first in range(BATCHES):
        ingested(others, tmp_path, **dict(backwards[first::BATCHES]))
    assert runs_of(ingested(others, tmp_path, **LOGS)) == forwards
    assert (rebuild(store).rejects, runs_of(runs_in_store(store))) == (0, forwards)


def runs_of(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The runs without what the time of a file says, which differs."""
    return [{name: value for name, value in row.items() if row["time_source"] != "file" or not name.endswith("_at")} for row in rows]
