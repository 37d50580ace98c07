"""Summary, tool calls, patch and model of a run whose kept record has none.

Those of another record, in whatever order they come.
"""

from __future__ import annotations

import hashlib
import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from ingest.store.undo import undo
from tests.codex_lines import STARTED, context, exec_stream, meta, turn, uuid7
from tests.conftest import fetched, ingest_paths
from tests.documents import ingested, lines, runs_in_store
from tests.examples import a_share
from tests.golden_logs import text_of
from tests.test_iso_bench_items import JOURNAL, item

RESULT, ATIF, OWN = "result.json", "agent/trajectory.json", "agent/codex.txt"
SAID = "Decoding is 2x faster. The suite takes 10 s instead of 30 s."
THREAD = uuid7(STARTED, 7)
SILENT = lines(
    {"type": "thread.started", "thread_id": THREAD},
    {"type": "turn.started"},
    {
        "type": "turn.completed",
        "usage": {"input_tokens": 98_218, "cached_input_tokens": 91_834, "output_tokens": 700},
    },
)
"""A stream with tokens, and neither text nor tool calls."""
PATCH = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1,2 @@\n-a\n+b\n+c\n"

_ABOUT = "where run_id in (select run_id from runs)"
_TABLES = tuple(
    "claims statements file_changes tool_calls patch_files patches findings model_usage".split()
)


def folder(place: Path) -> Path:
    trajectory = json.loads(text_of("atif/figures_once.json"))
    trajectory["steps"][-1]["message"] = SAID
    trajectory["final_metrics"] = {
        "total_prompt_tokens": 98_218,
        "total_completion_tokens": 700,
        "total_cached_tokens": 91_834,
    }
    told = {
        RESULT: json.dumps(
            json.loads(text_of("harbor/a_trial_has_its_figures_once/result.json"))
            | {
                "agent_info": {
                    "name": "codex",
                    "version": "1",
                    "model_info": {"name": "gpt-5", "provider": "openai"},
                }
            }
        ),
        ATIF: json.dumps(trajectory),
        OWN: SILENT,
    }
    for name, text in told.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return place


def everything(store: Store) -> dict[str, Any]:
    """The runs, and all that was found in them."""
    with store.reading() as connection:
        found = {
            name: sorted(connection.sql(f"select * from {name} {_ABOUT}").fetchall(), key=str)
            for name in _TABLES
        }
        return (
            found
            | {
                "texts": connection.sql(
                    "select run_id, result, claimed_quote, findings from runs order by 1"
                ).fetchall()
            }
            | {"runs": runs_in_store(store)}
        )


def test_the_claims_are_those_of_the_text_that_another_record_has(
    store: Store, tmp_path: Path
) -> None:
    ingest_paths(store, folder(tmp_path / "trial"))
    [run] = runs_in_store(store)
    assert (run["record_kind"], run["output_tokens"], run["result"]) == ("stream", 700, SAID)
    assert (run["claims"], run["claimed_speedup"], run["claimed_quote"] in SAID) == (2, 3.0, True)
    found = everything(store)
    assert len(found["claims"]) == 2
    assert [row[1:] for row in found["tool_calls"]] == [("bash", 2, None)]
    [(origins,)] = fetched(store, "select origins from runs")
    names = dict(fetched(store, "select source_id, name from sources"))
    assert {figure: Path(names[origins[figure]]).name for figure in ("result", "tool_calls")} == {
        "result": "trajectory.json",
        "tool_calls": "trajectory.json",
    }


@pytest.mark.slow
def test_order_batches_and_a_rebuild_change_nothing(tmp_path: Path) -> None:
    place = folder(tmp_path / "trial")
    seen = []
    for number, order in enumerate(a_share(permutations((RESULT, ATIF, OWN)), 3)):
        store = Store(str(tmp_path / f"{number}.duckdb"))
        ingest_paths(store, *(place / name for name in order[: number % 3]))
        for name in order[number % 3 :]:
            ingest_paths(store, place / name)
        seen.append(everything(store))
        if number == 0:  # of stores that are alike
            assert rebuild(store).rejects == 0
            seen.append(everything(store))
    assert all(found == seen[0] for found in seen)


def test_a_text_that_is_undone_leaves_no_claim(store: Store, tmp_path: Path) -> None:
    place = folder(tmp_path / "trial")
    ingest_paths(store, place / OWN)
    alone = everything(store)
    ingest_paths(store, place / ATIF)
    both = everything(store)
    ingest_paths(store, place / RESULT)
    undo(store, 3)
    assert everything(store) == both
    undo(store, 2)
    assert everything(store) == alone
    assert (alone["claims"], alone["runs"][0]["claims"]) == ([], None)
    other = Store(tmp_path / "other.duckdb")
    ingest_paths(other, place / ATIF)
    alone = everything(other)
    ingest_paths(other, place / OWN)
    undo(other, 2)
    assert everything(other) == alone, "the text stays when the kept record is undone"


def test_an_earlier_part_of_a_thread_lends_no_text(store: Store, tmp_path: Path) -> None:
    """Its summary is not that of the whole."""
    [run] = ingested(
        store,
        tmp_path,
        first=exec_stream(THREAD, uncached=10, output=5),
        resumed=SILENT,
    )
    assert (run["output_tokens"], run["result"], run["claims"]) == (700, None, None)


def test_a_patch_comes_and_goes_with_its_record(store: Store, tmp_path: Path) -> None:
    """The rollout is the fullest record, the stream lies beside the patch.

    Whichever is there first, or undone first.
    """
    place = item(tmp_path / "item", 1, JOURNAL, model_patch__diff=PATCH)
    (place / "codex_stdout.txt").write_text(exec_stream(THREAD, uncached=10, read=90, output=5))
    (tmp_path / "rollout").mkdir()
    (tmp_path / "rollout/rollout.jsonl").write_text(
        lines(meta(THREAD), *turn(1, uncached=10, read=90, output=5))
    )
    other = Store(tmp_path / "other.duckdb")
    ingest_paths(store, tmp_path / "item")
    ingest_paths(other, tmp_path / "rollout")
    alone = everything(store)
    ingest_paths(store, tmp_path / "rollout")
    ingest_paths(other, tmp_path / "item")
    found = everything(store)
    assert everything(other) == found
    assert [row[1:] for row in found["patches"]] == [("model_patch.diff", len(PATCH), False, PATCH)]
    assert [row[1:] for row in found["patch_files"]] == [("x.py", 2, 1)]
    [run] = found["runs"]
    assert (
        run["record_kind"],
        run["patch_files"],
        run["patch_insertions"],
        run["patch_deletions"],
    ) == ("transcript", 1, 2, 1)
    assert run["patch_sha256"] == hashlib.sha256(PATCH.encode()).hexdigest()
    assert (rebuild(store).rejects, everything(store)) == (0, found)
    undo(store, 2)
    assert everything(store) == alone
    assert len(alone["patches"]) == 1
    undo(other, 2)
    assert not everything(other)["patches"]
    rebuild(store, keeps_text=False)
    assert fetched(store, "select count(*) from patches") == [(0,)]
    assert fetched(store, "select count(*) from run_records where contains(context, '@@')") == [
        (0,)
    ]


def test_a_rollout_without_tokens_names_the_model_of_the_stream(
    store: Store, tmp_path: Path
) -> None:
    """What it has not is the stream's: tokens."""
    began = lines(meta(THREAD), context(1))
    stream = exec_stream(THREAD, uncached=10, read=90, output=5)
    ingested(store, tmp_path, rollout=began)
    ingested(store, tmp_path, stream=stream)
    before = everything(store)
    [run] = before["runs"]
    assert (run["record_kind"], run["output_tokens"], run["model"], run["models"]) == (
        "stream",
        5,
        "gpt-5-codex",
        ["gpt-5-codex"],
    )
    assert run["cost_list_usd"] is not None
    assert rebuild(store).rejects == 0
    assert everything(store) == before
    undo(store, 1)
    assert [(one["model"], one["cost_list_usd"]) for one in runs_in_store(store)] == [(None, None)]
    ingested(store, tmp_path, rollout=began)
    assert everything(store) == before
