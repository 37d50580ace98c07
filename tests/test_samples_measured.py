"""All sample logs, as `make run` reads them.

Who ran, what was measured, and what their README says of them.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.queries import measured
from app.queries.filters import choose
from ingest.store.database import Store
from tests.conftest import ROOT, StoreOnce, fetched, ingest_paths

ALL = ROOT / "sample_logs"
README = (ALL / "README.md").read_text(encoding="utf-8")
MOST_BYTES = 3_000_000

EMAIL = re.compile(
    rb"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.(?!internal\b)(?:com|org|net|edu|ai|io|[a-z]{2})\b"
)
HOME = re.compile(rb"/(?:home|Users)/(?!ubuntu\b)\w+")
SECRET = re.compile(
    rb"\b(?:sk-(?:ant-|proj-)?\w{16,}|gh[ps]_\w{20,}|hf_[A-Za-z]{20,"
    rb"}|AKIA[0-9A-Z]{16})|-----BEGIN [A-Z ]*PRIVATE KEY"
)


@pytest.fixture(scope="module")
def store(read_once: StoreOnce) -> Store:
    """A store of all sample logs: to be read only."""
    return read_once("all-samples", lambda store: ingest_paths(store, ALL))


@pytest.fixture(scope="module")
def asked(store: Store) -> Callable[[str], list[Any]]:
    """Rows of an SQL query over the store."""

    def rows(sql: str) -> list[Any]:
        return fetched(store, sql)

    return rows


Asked = Callable[[str], list[Any]]


def files() -> Iterator[tuple[Path, bytes]]:
    """Each file with its text, decompressed."""
    for path in sorted(ALL.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            yield path, gzip.decompress(data) if path.suffix == ".gz" else data


def test_nothing_is_rejected_or_read_twice(asked: Asked) -> None:
    assert asked("select sum(accepted), sum(duplicates), sum(rejected) from sources") == [
        (52, 1, 0)
    ]  # the file of a sub-agent is another record of its session


def test_every_agent_is_there(asked: Asked) -> None:
    assert asked("select agent, count(*) from v_runs group by all order by all") == [
        ("claude-code", 26), ("codex", 15), ("openhands", 4), ("pi", 1), ("trae-agent", 6),
    ]  # fmt: skip


def test_every_run_of_the_benchmark_knows_its_commit_and_its_patch(asked: Asked) -> None:
    assert asked(
        "select count(*), count(head_commit) from v_runs where record_kind not in ('result', "
        "'transcript') or head_commit is not null"
    ) == [(46, 46)]
    assert asked(
        "select count(distinct left(head_commit, 8)) from v_runs where agent = 'claude-code'"
    ) == [(22,)]


def test_every_verdict_occurs(asked: Asked) -> None:
    found = asked(
        "select agent, verdict, count(*) from v_verdicts where values_measured > 0 group by "
        "all order by all"
    )
    assert found == [
        ("claude-code", "failed", 6),
        ("claude-code", "faster", 1),
        ("claude-code", "not_comparable", 1),
        ("claude-code", "not_measured", 9),
        ("claude-code", "same", 4),
        ("claude-code", "slower", 1),
        ("codex", "failed", 6),
        ("codex", "not_comparable", 3),
        ("codex", "not_measured", 2),
        ("trae-agent", "failed", 2),
    ]


def test_claims_stand_beside_measurements(asked: Asked) -> None:
    found = asked(
        "select left(head_commit, 8), claim_verdict, measured_speedup from v_verdicts join "
        "(select run_id, head_commit from v_runs) using (run_id) where claimed_speedup > 0 and "
        "measured_speedup > 0 order by all"
    )
    assert [(commit, verdict) for commit, verdict, _ in found] == [
        ("015069b0", "wrong_sign"),
        ("299ebb62", "over_claimed"),
        ("2deb029d", "over_claimed"),
        ("30172b49", "over_claimed"),
        ("310aca88", "over_claimed"),
    ]
    assert {commit: ratio for commit, _, ratio in found}["299ebb62"] == pytest.approx(
        25.71 / 22.93
    )  # ms in modal/299ebb62


def test_the_cost_per_faster_run_counts_the_runs_that_failed(store: Store) -> None:
    metrics = ("cost_best_usd", "runs_faster", "cost_per_faster_usd", "pairs", "wrong_sign_share")
    [row] = measured.summary(store, choose({"agent": ["claude-code"]}), (), metrics).to_pylist()
    assert {key: str(value) for key, value in row.items() if key in metrics} == {
        "cost_best_usd": "21.567033300",
        "runs_faster": "1",
        "cost_per_faster_usd": "21.567033300",
        "pairs": "5",
        "wrong_sign_share": "None",
    }


def test_a_patch_belongs_to_its_run_or_the_reason_is_told(asked: Asked) -> None:
    """Two results are of a task that TRAE tried twice.

    Nothing in them says which patch they measured.
    """
    found = asked(
        "select coalesce(unjoined, 'joined'), count(*) from v_measured_runs group by all order by 2"
    )
    assert [(re.sub("[0-9a-f]{8}", "…", why), count) for why, count in found] == [
        ("2 runs match by commit: …, …", 1),
        ("2 runs match by commit: …, …", 1),
        ("joined", 48),
    ]


@pytest.mark.slow
def test_they_hold_no_address_no_home_and_no_secret() -> None:
    assert [
        (path.name, found[0])
        for path, text in files()
        for rule in (EMAIL, HOME, SECRET)
        if (found := rule.search(text))
    ] == []


def test_their_licence_comes_along() -> None:
    licence = (ALL / "iso_bench" / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in licence
    assert "Copyright 2026 Anonymous" in licence
