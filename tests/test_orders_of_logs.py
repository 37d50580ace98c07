"""Logs of every agent in any order, in any batches, again and rebuilt: the same store.

Together, since each ingest costs time.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from ingest.store.undo import undo
from schemas.rows.tables import TABLES
from tests import (
    claude_lines,
    test_aider,
    test_atif,
    test_codex,
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
    test_resumed_sessions,
    test_swe_agent,
    test_terminal_bench,
    test_trae,
)
from tests.conftest import record_text
from tests.documents import ingested, lines, runs_in_store
from tests.examples import examples, written_down
from tests.test_undo import differences

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
    test_atif, test_codex, test_copilot, test_cursor, test_gemini, test_grok, test_harbor, test_inspect_ai,  # noqa: E501
    test_mini_swe_agent, test_opencode, test_openhands, test_openhands_index, test_qwen, test_swe_agent, test_terminal_bench, test_trae,  # noqa: E501
):  # fmt: skip
    LOGS |= of_agent.LOGS

RUNS = {
    "aider": 5,
    "claude-code": 3,
    "codex": 3,
    "copilot": 3,
    "cursor": 3,
    "gemini-cli": 4,
    "grok": 2,
    "inspect-ai": 2,
    "kimi-code": 2,
    "mini-swe-agent": 2,
    "opencode": 2,
    "openhands": 3,
    "pi": 3,
    "qwen-code": 3,
    "swe-agent": 2,
    "terminus-2": 2,
    "trae-agent": 1,
    "unknown": 4,
}
"""Runs by agent. Harbor's trials are of Claude Code, ATIF's of Terminus; terminal-bench and the
OpenHands Index do not name the agent.
"""

BATCHES = 2

OF_SESSION = {"session_id": claude_lines.SESSION, "uuid": "of-the-session"}
BEGUN = {
    "type": "system",
    "subtype": "init",
    "session_id": claude_lines.SESSION,
    "cwd": "/srv/shop",
    "tools": ["Bash"],
}
SISTERS = {
    "claude": {
        "transcript": lines(*claude_lines.SESSION_LOG),
        "result": record_text(**OF_SESSION) + "\n",
        "stream": lines(BEGUN, claude_lines.reply("a1")) + record_text(**OF_SESSION) + "\n",
        "bare": record_text(**OF_SESSION, num_turns=..., result=...) + "\n",
    },
    "codex": {name: text for name, text in LOGS.items() if name.startswith("codex")},
    "gemini": {name: LOGS[f"gemini_{name}"] for name in ("chat", "same", "cut", "again")},
    "opencode": {name: text for name, text in LOGS.items() if name.startswith("opencode")},
    "pi": test_resumed_sessions.TEXTS,
}
"""Logs of the same runs. A record that replaces another has the figures that were made of the logs
beside it.
"""

ASIDE = ("store_meta", "ingests", "sightings")
NUMBERS = ("ingest_id", "superseded_by", "received_at", "file_no")


def test_any_order_and_number_of_logs_gives_the_same_store(store: Store, tmp_path: Path) -> None:
    forwards = runs_of(ingested(store, tmp_path, **LOGS))
    assert Counter(run["agent"] for run in forwards) == RUNS
    assert sum(run["output_tokens"] for run in forwards if run["agent"] == "pi") == 30, (
        "the fork without what it copied"
    )
    others = Store(tmp_path / "others.duckdb")
    backwards = list(reversed(LOGS.items()))
    for first in range(BATCHES):
        ingested(others, tmp_path, **dict(backwards[first::BATCHES]))
    assert runs_of(ingested(others, tmp_path, **LOGS)) == forwards
    assert (rebuild(store).rejects, runs_of(runs_in_store(store))) == (0, forwards)


@pytest.mark.slow
@given(st.data())
@examples(1)
def test_any_order_gives_the_same_tables(data: st.DataObject) -> None:
    """Not only the runs: also what is noted of each record, responses, model rows and findings."""
    logs = SISTERS[data.draw(st.sampled_from(sorted(SISTERS)))]
    with TemporaryDirectory() as folder:
        assert_same(logs, [data.draw(st.permutations(sorted(logs)))], Path(folder))


@pytest.mark.slow
@given(st.sampled_from(sorted(SISTERS)), st.integers(0, 1000))
@example("pi", 1)
@example("claude", 2)
@example("codex", 4)
@written_down()
def test_what_is_undone_is_as_if_it_had_never_come(agent: str, seed: int) -> None:
    logs = SISTERS[agent]
    order = Random(seed).sample(sorted(logs), len(logs))
    undone = seed % len(order)
    with TemporaryDirectory() as folder:
        store, other = Store(Path(folder) / "one.duckdb"), Store(Path(folder) / "other.duckdb")
        for place, name in enumerate(order):
            if place == undone > 0:  # so far the stores are the same
                shutil.copy(store.location, other.location)
            read(store, logs, [name])
            if place > undone:
                read(other, logs, [name])
        undo(store, undone + 1)
        assert differences(stable(store), stable(other)) == {}
        assert rebuild(store).rejects == 0
        assert differences(stable(store), stable(other)) == {}


@pytest.mark.slow
def test_a_record_that_replaces_another_has_what_the_transcript_tells(tmp_path: Path) -> None:
    """The result first, then the transcript, then the stream with the same result.

    Responses and sub-agents were lost.
    """
    claude = {name: text for name, text in SISTERS["claude"].items() if name != "bare"}
    assert_same(claude, [("result", "transcript", "stream")], tmp_path)
    with Store(tmp_path / "0.duckdb").reading() as connection:
        assert connection.sql("select responses, subagents, record_kind from runs").fetchall() == [
            (5, 1, "result")
        ]


def assert_same(logs: Mapping[str, str], orders: Sequence[Sequence[str]], folder: Path) -> None:
    """The tables are the same after one ingest of all logs, single ingests, and a rebuild.

    Single ingests take one log after the other, in each order.
    """
    whole = Store(folder / "whole.duckdb")
    read(whole, logs, sorted(logs))
    expected = stable(whole)
    for number, order in enumerate(orders):
        one = Store(folder / f"{number}.duckdb")
        for name in order:
            read(one, logs, [name])
        assert differences(stable(one), expected) == {}, order
    rebuild(whole)
    assert differences(stable(whole), expected) == {}


def read(store: Store, logs: Mapping[str, str], names: Sequence[str]) -> None:
    ingest([Source(f"{name}.jsonl", logs[name].encode()) for name in names], store, Options(jobs=1))


def stable(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """All tables, without the numbers of ingests."""
    found = {}
    with store.reading() as connection:
        for name in (name for name in TABLES if name not in ASIDE):
            table = connection.sql(
                f"select columns(lambda one: one not in {NUMBERS}) from {name}"
            ).to_arrow_table()
            found[name] = sorted((tuple(row.values()) for row in table.to_pylist()), key=str)
    return found


def runs_of(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The runs without what the time of a file says, which differs."""
    return [
        {
            name: value
            for name, value in row.items()
            if row["time_source"] != "file" or not name.endswith("_at")
        }
        for row in rows
    ]
