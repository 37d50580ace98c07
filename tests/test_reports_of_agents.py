"""What reports and commands say of runs that only some agents have."""

from __future__ import annotations

import json
import shutil
from decimal import Decimal
from pathlib import Path

import pytest

from app.queries import models as model_queries
from app.queries import runs as run_queries
from app.queries.cost import doubtful
from app.queries.filters import EVERY_RUN, Filters
from app.queries.reading import uncounted
from ingest.store.database import Store
from ingest.store.undo import undo
from schemas.catalogue.metrics import RUN_METRICS
from tests.conftest import Run, fetched, ingest_paths, record_text
from tests.golden_logs import LOGS, text_of


@pytest.mark.parametrize(
    ("case", "copies", "usd"),
    [
        ("analytics_and_history_are_one_session", 1, "0.12"),
        ("launches_of_one_process_are_one_session", 2, "0.22"),
    ],
)
def test_a_probable_copy_is_not_counted_until_the_other_log_is_undone(
    case: str, copies: int, usd: str | None, store: Store
) -> None:
    """Nothing in the logs proves it, so a report says what may be counted twice."""
    for path in sorted((LOGS / "aider" / case).iterdir()):
        ingest_paths(store, path)
    assert uncounted(store, Filters()) == (0, copies)
    assert doubtful(store, Filters())["copied_runs"] == 0
    found = doubtful(store, EVERY_RUN)
    assert (found["copied_runs"], found["copied_usd"]) == (copies, usd and Decimal(usd))
    undo(store, 1)
    assert uncounted(store, Filters()) == (0, 0)


CUT = "claude_code/a_cut_off_stream_is_a_lower_bound/lines.jsonl"


def test_a_report_says_that_a_run_was_cut_off(tachograph: Run) -> None:
    tachograph("ingest", LOGS / CUT)
    report = " ".join(tachograph("report").stdout.split())
    assert (
        "1 run was cut off before the result: tokens and cost are lower bounds, or not known "
        "(finding cut_off)."
    ) in report
    assert "incl. <1¢ lower bounds" in report


def test_usage_counts_a_process_that_resumed_the_session_of_a_cut_stream(
    tachograph: Run, store: Store
) -> None:
    """The responses of one process say nothing of the other.

    The record of that counts too, and nothing of it is outside a transcript.
    """
    session = json.loads(text_of(CUT).splitlines()[0])["session_id"]
    resumed = Path(store.location).parent / "resumed.json"
    used = {
        "inputTokens": 90,
        "outputTokens": 4000,
        "cacheReadInputTokens": 100,
        "cacheCreationInputTokens": 900,
        "costUSD": 0.3,
    }
    resumed.write_text(
        record_text(session_id=session, total_cost_usd=0.3, modelUsage={"claude-sonnet-4-6": used})
    )
    tachograph("ingest", LOGS / CUT, resumed)
    by_model = json.loads(tachograph("usage --by model --format json").stdout)
    runs = json.loads(tachograph("runs --format json").stdout)
    assert len(runs) == 2
    for column in ("output_tokens", "cache_read_tokens"):
        assert sum(row[column] for row in by_model) == sum(row[column] for row in runs) > 0
    assert sum(row["cost_reported_usd"] or 0 for row in by_model) == 0.3


def test_the_cache_hit_rate_is_that_of_runs_with_all_classes_of_input(store: Store) -> None:
    """Cache reads do not count without the input that they are a share of."""
    ingest_paths(store, LOGS / "harbor/a_trial_has_its_figures_once/result.json")
    ingest_paths(store, LOGS / CUT)
    [of_runs] = run_queries.summary(store, Filters(), metrics=["cache_hit_ratio"]).to_pylist()
    models = model_queries.models(store, Filters()).to_pylist()
    [of_model] = [row for row in models if row["cache_hit_ratio_known"]]
    for row in (of_runs, of_model):
        assert row["cache_hit_ratio"] == pytest.approx(3500 / 3809)
        assert row["cache_hit_ratio_known"] == 1


def test_a_failure_of_the_harness_is_none_of_the_agent(store: Store) -> None:
    """The rate of failures is that of the runs whose end is known: 5 of 10."""
    ingest_paths(store, LOGS / "terminal_bench/a_failure_is_the_outcome_and_not_the_score.json")
    [(rate,)] = fetched(store, f"select {RUN_METRICS['error_rate'].sql} from v_runs")
    ends = fetched(store, "select distinct is_error from v_runs where is_completed is null")
    assert rate == 0.5
    assert ends == [(None,)]


REWARDED = "harbor/a_reward_beside_a_trajectory_is_score_task_and_measured_speedup"
MEASURED = "harbor/a_trial_with_a_result_has_the_measured_values_of_its_reward"


def test_a_reward_is_a_verdict_on_its_trajectory(tachograph: Run, store: Store) -> None:
    shutil.copytree(LOGS / REWARDED, Path(store.location).parent / "logs")
    ingest_paths(store, Path(store.location).parent / "logs")
    assert fetched(
        store,
        "select metric, claimed_speedup, measured_speedup, measured_class from v_verdicts"
        " order by all",
    ) == [
        ("speedup_vs_lib", 2.4, 2.5, "faster"),
        ("speedup_vs_lib", 2.4, None, "breaks"),
    ]
    db = ("--db", str(store.location))
    matrix = tachograph("tasks --by model --format csv", *db).stdout.splitlines()
    assert len(matrix) == 2, "one task"
    assert all(name in matrix[0] for name in ("gpt-5", "claude-opus-4-6")), "of two models"
    solved = tachograph("report --by model --metrics solved --format json", *db)
    assert '"solved": 1' in solved.stdout


def test_a_metric_without_a_unit_gets_better_towards_its_reference(store: Store) -> None:
    ingest_paths(store, LOGS / MEASURED)
    assert fetched(
        store,
        "select measured_baseline, measured_candidate, measured_reference, measured_speedup, "
        "measured_vs_reference from v_verdicts",
    ) == [(8.0, 4.0, 2.0, 2.0, 0.5)]
