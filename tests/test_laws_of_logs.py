"""Laws that hold for the golden logs of every agent: order, division, undo, rebuild and cuts."""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.agents.aider import SESSIONS_OPEN
from ingest.agents.cursor import Cursor
from ingest.agents.readers import SESSIONS_KEPT
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from ingest.store.undo import undo
from schemas.rows.tables import TABLES
from tests import claude_lines
from tests.conftest import fetched
from tests.documents import kept_in, lines
from tests.examples import a_share, written_down
from tests.golden_logs import folders, lay_shared, text_of
from tests.test_undo import differences

pytestmark = pytest.mark.slow

AGENTS = [name for name in folders() if "/" not in name]
ASIDE = ("store_meta", "ingests", "sightings")
NUMBERS = ("ingest_id", "superseded_by", "received_at", "file_no", "modified_ns")

BY_ORDER = {"sources": ("name",), "run_records": ("told",)}
"""Bytes at several places are named after the first; a stream that is replaced by its result keeps
what it told alone, which includes its responses only if it came in an earlier ingest.
"""

CONTINUED = ("chains", "codex_responses", "opentelemetry")
"""Logs that go on with each other: what is cut off one of them is counted in another."""


def read(store: Store, paths: list[Path]) -> int:
    """The number of the ingest."""
    return ingest(read_paths(paths), store, Options(jobs=1)).ingest_id or 0


def stable(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """All tables, without the numbers and times of ingests."""
    found = {}
    with store.reading() as connection:
        for name in (name for name in TABLES if name not in ASIDE):
            aside = (*NUMBERS, *BY_ORDER.get(name, ()))
            table = connection.sql(
                f"select columns(lambda one: one not in {aside}) from {name}"
            ).to_arrow_table()
            found[name] = sorted((tuple(row.values()) for row in table.to_pylist()), key=str)
    return found


@pytest.mark.parametrize("folder", a_share(AGENTS, 5))
def test_order_division_and_repetition_change_nothing(folder: str, tmp_path: Path) -> None:
    """Nor does a rebuild."""
    paths = lay_shared(folder, tmp_path / folder)
    whole, parts = Store(tmp_path / "whole.duckdb"), Store(tmp_path / "parts.duckdb")
    read(whole, paths)
    expected = stable(whole)
    mixed = Random(folder).sample(paths, len(paths))
    for part in (mixed[::2], mixed[1::2], mixed[:3]):
        read(parts, part)
    assert differences(stable(parts), expected) == {}
    assert rebuild(whole).rejects == 0
    assert differences(stable(whole), expected) == {}


@given(st.sampled_from(AGENTS), st.integers(0, 1000))
@example("pi", 1)
@example("opentelemetry", 4)
@written_down()
def test_what_is_undone_is_as_if_it_had_never_come(folder: str, seed: int) -> None:
    with TemporaryDirectory() as place:
        paths = lay_shared(folder, Path(place) / folder)
        taken = set(Random(seed).sample(paths, len(paths) // 3))
        undone, other = Store(Path(place) / "one.duckdb"), Store(Path(place) / "other.duckdb")
        for store in (undone, other):
            read(store, [path for path in paths if path not in taken])
        undo(undone, read(undone, sorted(taken)))
        assert differences(stable(undone), stable(other)) == {}


@pytest.mark.parametrize("folder", a_share((one for one in AGENTS if one not in CONTINUED), 5))
@given(share=st.floats(0, 1))
@example(share=0.97)
@written_down()
def test_a_log_cut_anywhere_has_no_more_than_the_whole(folder: str, share: float) -> None:
    """A total that no event has would be one that the log does not say.

    What is left of an interrupted run is not exact.
    """
    with TemporaryDirectory() as place:
        paths = lay_shared(folder, Path(place) / folder)
        outputs: list[dict[str, int]] = []
        exact: list[dict[str, int]] = []
        for _ in range(2):
            store = Store(Path(place) / f"{len(outputs)}.duckdb")
            read(store, paths)
            rows = fetched(
                store,
                "select name, sum(output_tokens) from runs join sources using (source_id) "
                "group by all",
            )
            outputs.append({name: int(count or 0) for name, count in rows})
            sql = "select run_id, output_tokens, outcome from runs where tokens_basis = 'exact'"
            exact.append({run: used for run, used, _ in fetched(store, sql)})
            for path in paths:
                path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
        interrupted = {run for run, _, end in fetched(store, sql) if end == "interrupted"}
        (whole, cut), (before, after) = outputs, exact
        assert {name for name, count in cut.items() if count > whole.get(name, count)} == set()
        kept = interrupted & before.keys()
        assert {run: after[run] for run in kept} == {run: before[run] for run in kept}


@pytest.mark.parametrize(
    ("line", "many"),
    [
        (
            (
                '{"event": "message_send", "user_id": "u", "time": 177%06d, "properties": '
                '{"main_model": "m", "prompt_tokens": 1, "cost": 0.1, "total_cost": %d.1}}\n'
            ),
            SESSIONS_OPEN + 10,
        ),
        (
            (
                '{"type": "system", "subtype": "init", "apiKeySource": "login", "cwd": "/work", '
                '"model": "Composer", "permissionMode": "default", "session_id": "%06d-%06d"}\n'
            ),
            2 * max(Cursor.MOST_OPEN, SESSIONS_KEPT),
        ),
    ],
    ids=["aider", "cursor"],
)
def test_of_very_many_open_sessions_each_is_one_run(line: str, many: int) -> None:
    """More than a reader keeps in memory."""
    assert len(kept_in("".join(line % (number, number) for number in range(many)))) == many


CUT = {
    "claude": lines(*claude_lines.SESSION_LOG),
    **{
        name: text_of(f"{name}.jsonl")
        for name in (
            "codex/rollout_and_stream/rollout codex/app_server/thread "
            "copilot/a_crashed_session_is_a_lower_bound/resumed-and-crashed "
            "gemini/a_chat_counts_the_last_version_of_each_message/chat "
            "grok/a_stream_and_its_end_are_one_run/stream kimi/a_session_of_kimi_code/wire "
            "kimi/kimi_cli_counts_each_step_once/wire opencode/sums_of_steps pi/session pi/stream "
            "qwen/chat"
        ).split()
    },
}
"""A log of every agent that writes a line after the other."""


def within_its_last_line(text: str) -> bytes:
    """A log without the second half of its last line."""
    end = len(text.rstrip())
    return text[: (text.rindex("\n", 0, end) + end) // 2].encode()


def test_a_log_that_ends_within_a_line_is_a_lower_bound_and_the_line_its_reject(
    store: Store,
) -> None:
    found = [Source(name, within_its_last_line(text)) for name, text in CUT.items()]
    ingest(found, store, Options(jobs=1))
    runs = (
        "select name, tokens_basis, outcome, output_tokens > 0 from runs join sources "
        "using (source_id)"
    )
    rejects = "select name, reason from rejects join sources using (source_id)"
    doubted = (
        "select distinct name from findings join runs using (run_id) join sources on "
        "sources.source_id = runs.source_id where rule in ('doubtful_usage', 'cut_off')"
    )
    expected = sorted(CUT)
    assert sorted(fetched(store, runs)) == [
        (name, "lower_bound", "interrupted", True) for name in expected
    ]
    assert sorted(fetched(store, rejects)) == [(name, "truncated") for name in expected]
    assert sorted(fetched(store, doubted)) == [(name,) for name in expected]


def test_of_responses_the_last_one_is_the_bound_until_the_whole_log_is_there(
    store: Store,
) -> None:
    whole = text_of("codex/rollout.jsonl")
    ingest([Source("log.jsonl", whole[:-20].encode())], store, Options(jobs=1))
    bases = 'select tokens_basis from responses order by "at"'
    assert fetched(store, bases) == [("exact",), ("lower_bound",)]
    before = stable(store)
    rebuild(store)
    assert differences(stable(store), before) == {}
    ingest([Source("log.jsonl", whole.encode())], store, Options(jobs=1))
    assert fetched(store, "select tokens_basis, outcome from runs") == [("exact", "completed")]
    assert fetched(store, "select rule from findings") == [("unmeasured_claim",)]


def test_a_record_that_is_whole_is_not_doubted_for_the_line_behind_it(store: Store) -> None:
    """Only what was still open ends in that line."""
    both = text_of("codex/rollout.jsonl") + CUT["codex/rollout_and_stream/rollout"]
    ingest([Source("log.jsonl", within_its_last_line(both))], store, Options(jobs=1))
    bases = "select tokens_basis from runs order by ordinal"
    assert fetched(store, bases) == [("exact",), ("lower_bound",)]
