"""Logs that end in the middle of a line, of every agent that writes a line after the other.

What is read of them is a lower bound.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from tests import claude_lines
from tests.conftest import fetched
from tests.documents import lines, runs_in_store
from tests.golden_logs import text_of

LOGS = {
    "claude": lines(*claude_lines.SESSION_LOG),
    "codex": text_of("codex/rollout_and_stream/rollout.jsonl"),
    "codex app-server": text_of("codex/app_server/thread.jsonl"),
    "copilot": text_of("copilot/a_crashed_session_is_a_lower_bound/resumed-and-crashed.jsonl"),
    "gemini": text_of("gemini/a_chat_counts_the_last_version_of_each_message/chat.jsonl"),
    "grok": text_of("grok/a_stream_and_its_end_are_one_run/stream.jsonl"),
    "kimi": text_of("kimi/a_session_of_kimi_code/wire.jsonl"),
    "kimi cli": text_of("kimi/kimi_cli_counts_each_step_once/wire.jsonl"),
    "opencode": text_of("opencode/sums_of_steps.jsonl"),
    "pi": text_of("pi/session.jsonl"),
    "pi stream": text_of("pi/stream.jsonl"),
    "qwen": text_of("qwen/chat.jsonl"),
}


def cut(text: str) -> str:
    """Return a log without the second half of its last line."""
    end = len(text.rstrip())
    return text[: (text.rindex("\n", 0, end) + end) // 2]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The run of each log, by the name of the log; its rules and the reasons of its rejects."""
    found = {}
    for name, text in LOGS.items():
        store = Store(tmp_path_factory.mktemp("cut") / "s.duckdb")
        ingest([Source("log.jsonl", cut(text).encode())], store, Options(jobs=1))
        [run] = runs_in_store(store)
        with store.reading() as connection:
            rules = {rule for (rule,) in connection.sql("select rule from findings").fetchall()}
            reasons = connection.sql("select reason from rejects").fetchall()
        found[name] = run | {"rules": rules, "reasons": reasons}
    return found


@pytest.mark.parametrize("name", LOGS)
def test_the_counts_are_lower_bounds_and_the_line_is_the_reject(
    name: str, runs: dict[str, dict[str, Any]]
) -> None:
    run = runs[name]
    assert (run["tokens_basis"], run["outcome"], run["reasons"]) == (
        "lower_bound",
        "interrupted",
        [("truncated",)],
    )
    assert run["rules"] & {"doubtful_usage", "cut_off"}
    assert run["output_tokens"] > 0


def test_of_responses_the_last_one_is_the_bound_until_the_whole_log_is_there(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    whole = text_of("codex/rollout.jsonl")
    path.write_text(whole[:-20])
    ingest([Source("log.jsonl", path.read_bytes())], store, Options(jobs=1))
    bases = 'select tokens_basis from responses order by "at"'
    assert fetched(store, bases) == [("exact",), ("lower_bound",)]
    before = runs_in_store(store)
    rebuild(store)
    assert runs_in_store(store) == before
    ingest([Source("log.jsonl", whole.encode())], store, Options(jobs=1))
    [run] = runs_in_store(store)
    assert (run["tokens_basis"], run["outcome"]) == ("exact", "completed")
    assert fetched(store, "select rule from findings") == [("unmeasured_claim",)]


def test_a_record_that_is_whole_is_not_doubted_for_the_line_behind_it(store: Store) -> None:
    """Only what was still open ends in that line."""
    first, second = text_of("codex/rollout.jsonl"), LOGS["codex"]
    ingest([Source("log.jsonl", cut(first + second).encode())], store, Options(jobs=1))
    assert [run["tokens_basis"] for run in runs_in_store(store)] == ["exact", "lower_bound"]
