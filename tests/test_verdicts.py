"""Claimed beside measured: which run a measurement belongs to, which values may be divided, and what follows from a ratio.

Every expected number is computed by hand from the table above it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text.ingests import took_back
from ingest.context.path_template import PathTemplate
from ingest.measurements.given import parse_given
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from ingest.store.undo import undo
from schemas.errors import UsageError
from tests.conftest import Run, StoreOnce, record_text
from tests.examples import examples

HEADER = "task,commit,agent,variant,metric,statistic,unit,value,n,std,bench_model,machine,command\n"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
Row = dict[str, Any]


def line(variant: str, value: object, **columns: object) -> str:
    """One line of a table of measured values."""
    told = {"task": "sort", "variant": variant, "metric": "latency", "statistic": "mean", "unit": "ms", "value": value} | columns
    return ",".join(str(told.get(name, "")) for name in HEADER.strip().split(",")) + "\n"


def table(*lines: str) -> bytes:
    """A long table."""
    return (HEADER + "".join(lines)).encode()


def run(claim: str = "The sort is 2x faster.", task: str = "sort", commit: str = COMMIT, uuid: str = "a") -> Source:
    """A record that claims something; its folders name task and commit."""
    told = record_text(result=claim, uuid=f"{uuid * 8}-0000-4000-8000-000000000000", session_id=f"session {uuid}")
    return Source(f"{task}/{commit}/{uuid}.json", told.encode())


def stored(store: Store, *files: bytes | Source, measure: str = "") -> None:
    """Ingest records and tables at once."""
    sources = [Source(f"values-{number}", file) if isinstance(file, bytes) else file for number, file in enumerate(files)]
    options = Options(template=PathTemplate.parse("{task}/{commit}/*"), measure=parse_given([measure] if measure else []))
    ingest(sources, store, options)


def rows(store: Store, sql: str = "select * from v_verdicts order by run_id") -> list[Row]:
    """The rows of a query, by default of the verdicts."""
    with store.reading() as connection:
        found: list[Row] = connection.sql(sql).to_arrow_table().to_pylist()
    return found


def told(verdict: Row, *columns: str) -> tuple[Any, ...]:
    """These columns of a verdict."""
    return tuple(round(verdict[name], 4) if isinstance(verdict[name], float) else verdict[name] for name in columns)


def only(store: Store, *columns: str) -> tuple[Any, ...]:
    """These columns of the only verdict."""
    [verdict] = rows(store)
    return told(verdict, *columns)


@dataclass(frozen=True)
class Case:
    """A run of a task of its own with what it claims, and lines of values of the task "sort", which become values of its task."""

    lines: tuple[str, ...]
    claim: str = "The sort is 2x faster."


def verdicts_at_once(store_once: StoreOnce, name: str, cases: Mapping[str, Case]) -> Mapping[str, Row]:
    """The verdict of each case. All are read and judged at once, which takes as long as one; none may change that of another."""

    def fill(store: Store) -> None:
        files: list[bytes | Source] = []
        for letter, case in zip(ascii_lowercase, cases.values(), strict=False):
            task = f"task {letter}"
            files.append(run(case.claim, task=task, uuid=letter))
            files.append(table(*(line.replace("sort,", f"{task},", 1) for line in case.lines)))
        stored(store, *files)

    judged = rows(store_once(name, fill))
    assert len(judged) == len(cases)
    return dict(zip(cases, judged, strict=True))


UNKNOWN_DIRECTION = "which way is better is unknown: say it with --measure better=lower"
VERDICT = ("verdict", "measured_speedup", "claim_verdict")


TIMES: tuple[tuple[float, float, str, tuple[Any, ...]], ...] = (
    (100, 50, "2x faster", ("faster", 2.0, "kept")),
    (100, 100, "2x faster", ("same", 1.0, "over_claimed")),
    (100, 95.3, "2x faster", ("same", 1.0493, "over_claimed")),
    (100, 95.2, "2x faster", ("faster", 1.0504, "over_claimed")),
    (100, 200, "2x faster", ("slower", 0.5, "wrong_sign")),
    (100, 25, "2x faster", ("faster", 4.0, "under_claimed")),
    (100, 50, "cleaner", ("faster", 2.0, "no_claim")),
)


@pytest.fixture(scope="module")
def of_times(store_once: StoreOnce) -> Mapping[str, Row]:
    """The verdicts on TIMES, by baseline, candidate and claim."""
    cases = {
        f"{baseline} {candidate} {claim}": Case((line("baseline", baseline), line("candidate", candidate)), f"The sort is {claim}.")
        for baseline, candidate, claim, _ in TIMES
    }
    return verdicts_at_once(store_once, "verdicts-of-times", cases)


@pytest.mark.parametrize(("baseline", "candidate", "claim", "expected"), TIMES)
def test_a_time_is_divided_into_that_of_the_baseline(
    of_times: Mapping[str, Row], baseline: float, candidate: float, claim: str, expected: tuple[Any, ...]
) -> None:
    assert told(of_times[f"{baseline} {candidate} {claim}"], *VERDICT) == expected


def test_a_rate_is_divided_by_that_of_the_baseline(store: Store) -> None:
    rate = {"metric": "throughput", "unit": "req/s"}
    stored(store, run(), table(line("baseline", 10, **rate), line("candidate", 15, **rate), line("reference", 30, **rate)))
    assert only(store, *VERDICT, "measured_vs_reference", "reference_verdict", "hard") == (
        "faster", 1.5, "over_claimed", 0.5, "slower", "worse",
    )  # fmt: skip


OF_REFERENCE = (
    ("ttft", "ms", 100.0, 105.0, "similar"),
    ("ttft", "ms", 100.0, 105.1, "worse"),
    ("ttft", "ms", 100.0, 95.0, "similar"),
    ("ttft", "ms", 100.0, 94.9, "beats"),
    ("throughput", "tok/s", 100.0, 105.0, "similar"),
    ("throughput", "tok/s", 100.0, 105.1, "beats"),
    ("throughput", "tok/s", 100.0, 94.9, "worse"),
)


@pytest.fixture(scope="module")
def of_reference(store_once: StoreOnce) -> Mapping[str, Row]:
    """The verdicts on OF_REFERENCE, by metric and value."""
    cases = {
        f"{metric} {agent}": Case((line("reference", human, metric=metric, unit=unit), line("candidate", agent, metric=metric, unit=unit)))
        for metric, unit, human, agent, _ in OF_REFERENCE
    }
    return verdicts_at_once(store_once, "verdicts-of-reference", cases)


@pytest.mark.parametrize(("metric", "agent", "label"), [(metric, agent, label) for metric, _, _, agent, label in OF_REFERENCE])
def test_the_label_against_the_reference_is_in_percent_of_it(
    of_reference: Mapping[str, Row], metric: str, agent: float, label: str
) -> None:
    assert told(of_reference[f"{metric} {agent}"], "hard", "verdict") == (label, "not_measured")


@pytest.mark.parametrize(
    ("status", "hard"),
    [("not run", None), ("crash", "worse"), ("timeout", "worse"), ("infra", None), ("failed", None)],
)
def test_only_a_benchmark_that_failed_by_the_change_is_worse_than_the_reference(store: Store, status: str, hard: str | None) -> None:
    """A missing machine or model is no fault of the change, nor is a failure that nobody can explain."""
    header = "task,variant,metric,statistic,unit,value,status\n"
    rows = f"sort,reference,latency,mean,ms,100,ok\nsort,candidate,latency,mean,ms,,{status}\n"
    stored(store, run(), (header + rows).encode())
    assert only(store, "hard") == (hard,)


DIFFERENT: tuple[tuple[Row, Row, str], ...] = (
    ({"bench_model": "Llama"}, {"bench_model": "Qwen"}, "another model was served (Llama, not Qwen)"),
    ({"machine": "A100"}, {"machine": "H100"}, "another machine"),
    ({"command": "bench -n 1"}, {"command": "bench -n 2"}, "another workload"),
    ({"command": "bench -n 1"}, {}, "workload known for one side only"),
    ({}, {"bench_model": "Qwen"}, "served model known for one side only"),
    ({"machine": "A100"}, {}, "machine known for one side only"),
    ({"value": 0}, {}, "a value is 0"),
    (
        {"unit": "", "metric": "score"},
        {"unit": "", "metric": "score"},
        "which way is better is unknown: say it with --measure better=lower",
    ),
    ({"value": "timeout"}, {}, "the baseline failed"),
    ({"metric": "ttft"}, {}, "no baseline was measured"),
    ({"statistic": "median"}, {}, "no baseline was measured"),
)


@pytest.fixture(scope="module")
def of_different(store_once: StoreOnce) -> Mapping[str, Row]:
    """The verdicts on DIFFERENT, by what differs."""
    cases = {
        f"{of_baseline} {of_candidate}": Case((line("baseline", **{"value": 100} | of_baseline), line("candidate", 50, **of_candidate)))
        for of_baseline, of_candidate, _ in DIFFERENT
    }
    return verdicts_at_once(store_once, "verdicts-of-different", cases)


@pytest.mark.parametrize(("of_baseline", "of_candidate", "reason"), DIFFERENT)
def test_what_differs_is_never_divided(of_different: Mapping[str, Row], of_baseline: Row, of_candidate: Row, reason: str) -> None:
    verdict, ratio, why = told(of_different[f"{of_baseline} {of_candidate}"], "verdict", "measured_speedup", "not_comparable")
    assert (verdict in ("not_comparable", "not_measured"), ratio, why) == (True, None, reason)


def test_what_is_unknown_on_both_sides_is_a_warning(store: Store) -> None:
    stored(store, run(), table(line("baseline", 100), line("candidate", 50)))
    assert only(store, *VERDICT, "warnings") == ("faster", 2.0, "kept", ["workload unknown"])


def test_a_failure_is_a_verdict_of_its_own(store: Store) -> None:
    stored(store, run(), table(line("baseline", 100), line("candidate", "crash")))
    assert only(store, *VERDICT, "failure") == ("failed", None, None, "crash")


CLASSES: Mapping[str, tuple[str, ...]] = {
    "faster": (line("baseline", 100), line("candidate", 50)),
    "same": (line("baseline", 100), line("candidate", 99)),
    "slower": (line("baseline", 100), line("candidate", 200)),
    "breaks": (line("baseline", 100), line("candidate", "crash")),
    "breaks, slowly": (line("baseline", 100), line("candidate", "timeout")),
    "breaks the result": (line("baseline", 100), line("candidate", "incorrect")),
    "failed_unknown": (line("baseline", 100), line("candidate", "failed")),
    "no_baseline": (line("candidate", 50),),
    "no_baseline, it failed": (line("baseline", "crash"), line("candidate", 50)),
    "no_baseline, so not run": (line("candidate", "skipped"),),
    "other_setup": (line("baseline", 100, machine="A100"), line("candidate", 50, machine="H100")),
    "machine": (line("candidate", "infra"),),
    "not_measured": (),
    "not_measured, not run": (line("baseline", 100), line("candidate", "skipped")),
}  # fmt: skip


@pytest.fixture(scope="module")
def of_classes(store_once: StoreOnce) -> Mapping[str, Row]:
    """The verdicts on CLASSES."""
    return verdicts_at_once(store_once, "verdicts-of-classes", {name: Case(lines) for name, lines in CLASSES.items()})


@pytest.mark.parametrize("name", CLASSES)
def test_what_became_of_a_measurement_is_one_of_nine(of_classes: Mapping[str, Row], name: str) -> None:
    """A machine that was missing is no change that breaks."""
    assert name.startswith(of_classes[name]["measured_class"])


def test_a_change_that_changes_no_value_was_not_measured(store: Store) -> None:
    metrics = ("latency", "ttft", "tpot")
    same = [line(variant, value, metric=metric) for variant in ("baseline", "candidate") for value, metric in enumerate(metrics, 10)]
    stored(store, run(), table(*same))
    assert only(store, "verdict", "not_comparable") == ("not_comparable", "every value is exactly that of the baseline")


def test_a_claim_about_a_part_is_no_claim_about_the_whole(store: Store) -> None:
    claim = "A micro-benchmark of the sort kernel went from 4.0 ms to 2.0 ms, a 2x speedup."
    stored(store, run(claim), table(line("baseline", 100), line("candidate", 100)), measure="scope=end_to_end")
    assert only(store, *VERDICT, "claimed_scope", "scope_differs", "overclaim_factor") == ("same", 1.0, "over_claimed", "micro", True, None)


def test_the_factor_of_a_claim_of_the_same_scope(store: Store) -> None:
    stored(store, run("End-to-end latency is 3x faster."), table(line("baseline", 100), line("candidate", 80)), measure="scope=end_to_end")
    assert only(store, "scope_differs", "overclaim_factor") == (False, 2.4)


def test_an_interval_comes_from_the_spread_of_runs(store: Store) -> None:
    """By hand: errors of the logarithms 2/100/2 = 0.01 and 2/50/2 = 0.02; 3 degrees each, together 4.41, so t = 2.7764 at 4."""
    spread = {"n": 4, "std": 2}
    stored(store, run(), table(line("baseline", 100, **spread), line("candidate", 50, **spread)))
    assert only(store, "measured_low", "measured_high", "is_single_run") == (1.8796, 2.1281, False)


def test_a_ratio_within_the_noise_is_the_same(store: Store) -> None:
    spread = {"n": 3, "std": 20}
    stored(store, run(), table(line("baseline", 100, **spread), line("candidate", 90, **spread)))
    assert only(store, *VERDICT) == ("same", 1.1111, "over_claimed")


def test_the_band_can_be_chosen(store: Store) -> None:
    stored(store, run(), table(line("baseline", 110), line("candidate", 100)))
    with store.reading() as connection:
        found = []
        for band in (0.05, 0.2):
            connection.execute(f"set variable band = {band}")
            found += connection.execute("select verdict from v_verdicts").fetchall()
    assert found == [("faster",), ("same",)]


@pytest.mark.parametrize(
    ("candidate", "why"),
    [
        ({"task": "", "commit": COMMIT}, None),
        ({"task": "", "commit": COMMIT[:8]}, None),
        ({"task": "", "commit": "fedcba98"}, "no run has its commit"),
        ({"task": "other"}, "no run has its task"),
        ({"agent": "Claude Code"}, None),
        ({"agent": "claude_code"}, None),
        ({"agent": "codex"}, "no run has its task and agent codex"),
        ({"task": ""}, "it names no run, patch, commit or task"),
    ],
)
def test_a_measurement_says_why_it_has_no_run(store: Store, candidate: Row, why: str | None) -> None:
    stored(store, run(), table(line("candidate", 50, **candidate)))
    [found] = rows(store, "select run_id is null as is_lonely, unjoined from v_measured_runs")
    assert found == {"is_lonely": why is not None, "unjoined": why}


def test_a_short_hash_of_two_commits_joins_neither(store: Store) -> None:
    other = COMMIT[:8] + "f" * 32
    stored(store, run(), run(task="merge", commit=other, uuid="b"), table(line("candidate", 50, task="", commit=COMMIT[:8])))
    [found] = rows(store, "select run_id, unjoined from v_measured_runs")
    assert found == {"run_id": None, "unjoined": "the hash 01234567 is short and that of several commits"}


def test_several_runs_of_a_task_are_ambiguous_until_one_is_named(store: Store) -> None:
    values = table(line("baseline", 100), line("candidate", 50))
    stored(store, run(uuid="a"), run(uuid="b"), values)
    assert [found["unjoined"] for found in rows(store, "from v_measured_runs")] == ["2 runs match by task: aaaaaaaa, bbbbbbbb"]
    stored(store, values, measure="run=bbbb")
    assert [(verdict["run_id"][0], verdict["verdict"]) for verdict in rows(store)] == [("a", "not_measured"), ("b", "faster")]


def test_what_is_said_counts_until_its_ingest_is_undone(store: Store) -> None:
    values = table(line("baseline", 100, unit=""), line("candidate", 50, unit=""))
    stored(store, run(), values)
    assert only(store, "verdict") == ("not_comparable",)
    stored(store, values, measure="unit=s")
    assert only(store, "verdict", "measured_baseline", "unit") == ("faster", 100_000.0, "ms")
    undo(store, 2)
    assert only(store, "verdict", "measured_baseline", "unit") == ("not_comparable", 100.0, None)


def test_a_rebuild_keeps_verdicts_and_an_undo_takes_measurements_back(store: Store) -> None:
    stored(store, table(line("baseline", 100), line("candidate", 50)))
    stored(store, run())
    judged = rows(store)
    assert judged[0]["verdict"] == "faster"
    rebuild(store)
    assert rows(store) == judged
    assert took_back(undo(store, 1)) == "Undid ingest 1: removed 0 runs and 2 measured values of 1 file."
    assert only(store, "verdict", "values_measured") == ("not_measured", 0)
    assert rows(store, "from measurements") == []


def test_two_commands_of_one_file_are_told_apart_by_their_names(store: Store, tmp_path: Path) -> None:
    results = [
        {"command": name, "mean": mean, "stddev": 0.01, "times": [mean - 0.01, mean + 0.01]} for name, mean in (("old", 2.0), ("new", 1.0))
    ]
    stored(store, run(), json.dumps({"results": results}).encode(), measure="baseline=old,candidate=new,task=sort")
    assert only(store, *VERDICT, "statistic") == ("faster", 2.0, "kept", "mean")


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("variant=candidat", "Did you mean candidate"),
        ("varient=candidate", "Did you mean variant"),
        ("candidate", "--measure takes key=value"),
        ("unit=", "--measure takes key=value"),
    ],
)
def test_a_mistake_in_what_is_said_is_an_error(said: str, error: str) -> None:
    with pytest.raises(UsageError, match=error):
        parse_given([said])


LINES = [
    line("baseline", 100, n=5, std=1), line("candidate", 80, n=5, std=1), line("reference", 70, n=5, std=1),
    line("baseline", 9, metric="ttft"), line("candidate", 9.1, metric="ttft"),
    line("baseline", 50, metric="memory", unit="MB"), line("candidate", 40, metric="memory", unit="MB"),
]  # fmt: skip
JUDGED = ("verdict", "measured_speedup", "measured_low", "measured_high", "measured_vs_reference", "hard", "claim_verdict", "metric")


@pytest.mark.slow
@given(seed=st.integers(0, 10**6), unit=st.sampled_from([("ms", 1.0), ("s", 1e-3), ("us", 1e3), ("ns", 1e6)]))
@examples(2)
def test_units_order_of_files_and_repeated_files_change_no_verdict(
    tmp_path_factory: pytest.TempPathFactory, store_once: StoreOnce, seed: int, unit: tuple[str, float]
) -> None:
    plain = store_once("verdicts-in-ms", lambda store: stored(store, run(), table(*LINES[:3]), table(*LINES[3:])))
    changed = Store(tmp_path_factory.mktemp("laws") / "store.duckdb")
    chance = random.Random(seed)
    first, second = ([_in_unit(one, *unit) for one in chance.sample(lines, len(lines))] for lines in (LINES[:3], LINES[3:]))
    files: list[bytes | Source] = [run(), table(*first), table(*second), table(*first) + b"\n"]
    stored(changed, *chance.sample(files, len(files)))
    assert only(plain, *JUDGED) == only(changed, *JUDGED)


def _in_unit(text: str, unit: str, factor: float) -> str:
    """The same line in another unit of time."""
    cells = dict(zip(HEADER.strip().split(","), text.strip().split(","), strict=True))
    if cells["unit"] != "ms":
        return text
    cells |= {"unit": unit, "value": repr(float(cells["value"]) * factor), "std": cells["std"] and repr(float(cells["std"]) * factor)}
    return ",".join(cells.values()) + "\n"


@given(values=st.lists(st.tuples(st.sampled_from(["latency", "ttft", "memory"]), st.floats(0.1, 1e6)), min_size=1, max_size=6))
@pytest.mark.slow
@examples(2)
def test_a_missing_baseline_never_yields_a_ratio(tmp_path_factory: pytest.TempPathFactory, values: Sequence[tuple[str, float]]) -> None:
    store = Store(tmp_path_factory.mktemp("laws") / "store.duckdb")
    stored(store, run(), table(*(line("candidate", value, metric=metric) for metric, value in values)))
    assert rows(store, "select * from v_speedups where ratio is not null") == []
    assert only(store, "verdict", "claim_verdict") == ("not_measured", None)


def test_where_nothing_is_measured_the_terminal_says_what_to_do(tachograph: Run, tmp_path: Path) -> None:
    """Else `0 of 1 run measured` is all there is; where other runs are measured, more benchmarks are no answer."""
    (tmp_path / "run.json").write_text(record_text())
    tachograph("ingest", "run.json")
    for words in ("verdicts", "verdicts --by model", "measurements"):
        assert "Nothing was measured. Ingest benchmark results beside the runs: docs/measured.md" in tachograph(*words.split()).stderr
    (tmp_path / "times.csv").write_text("task,variant,metric,value,unit\nsort,baseline,latency,100,ms\n")
    tachograph("ingest", "times.csv")
    for words in ("verdicts", "verdicts --by model"):
        assert "None of the matching runs was measured." in tachograph(*words.split()).stderr


@pytest.mark.parametrize(("said", "count"), [("", 2), ("better=lower", 2), ("variant=baseline", 0), ("candidate=sort", 0)])
def test_an_ingest_counts_values_of_which_nobody_says_what_they_measured(store: Store, said: str, count: int) -> None:
    result = json.dumps({"results": [{"command": "sort", "mean": 2.0, "median": 2.0}]}).encode()
    report = ingest([Source("result", result)], store, Options(measure=parse_given([said] if said else [])))
    assert (report.total("measurements"), report.total("without_variant")) == (2, count)
