"""What responses wrote into logs of loops, and committed: short, and without text only hashes."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from app.queries.usage import UsageRequest, usage
from ingest.agents.shared.logged import LONGEST_LOGGED, logged_by
from ingest.pipeline import Options, ingest
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from tests.conftest import fetched, ingest_paths
from tests.golden_logs import LOGS


@given(
    st.text(min_size=1),
    st.text(),
    st.sampled_from(["Bash", "Write", "log_experiment", "apply_patch"]),
)
def test_what_is_kept_is_short_and_on_one_line(before: str, behind: str, tool: str) -> None:
    command = f"{before * 400}\necho 'b1946ac keep' >> results.tsv\n{behind * 400}"
    for arguments in (
        {"command": command},
        {"file_path": "r.tsv", "content": command},
        {"description": command},
        command,
    ):
        logged = logged_by(tool, arguments)
        assert logged is None or (
            0 < len(logged) <= LONGEST_LOGGED and logged == " ".join(logged.split())
        )
    assert "b1946ac" in (
        logged_by("Bash", {"command": f"{'x ' * 5000}echo b1946ac >> r.tsv{' x' * 5000}"}) or ""
    )


def test_without_text_only_hashes_stay(store: Store, tmp_path: Path) -> None:
    logs = [LOGS / agent / "loop_of_experiments.jsonl" for agent in ("pi", "claude_transcripts")]
    ingest_paths(store, *logs)
    logged, committed = logged_and_committed(store, "responses")
    assert (logged, committed) == (4, 3)
    rebuild(store, keeps_text=False)
    other = Store(tmp_path / "other.duckdb")
    ingest(read_paths(logs), other, Options(jobs=1, keeps_text=False))
    for one in (store, other):
        for table in ("responses", "response_copies"):
            assert logged_and_committed(one, table) == (0, 3)


def logged_and_committed(store: Store, table: str) -> tuple[int, int]:
    [(logged, committed)] = fetched(
        store, f"select count(logged), count(*) filter (len(commits) > 0) from {table}"
    )
    return logged, committed


def test_usage_has_the_run_that_is_not_in_the_file_of_its_session_yet(store: Store) -> None:
    """Its tokens have no responses, and a summary without tokens is a lower bound of the day."""
    ingest_paths(store, LOGS / "pi" / "responses_belong_to_the_file", LOGS / "pi" / "compaction")
    [used] = usage(store, UsageRequest(by=("agent",))).table.to_pylist()
    assert [used[name] for name in ("responses", "whole_runs", "lower_bounds")] == [10, 1, 1]
