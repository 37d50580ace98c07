"""Claimed beside measured.

Which run a measurement belongs to, which values may be divided, and what follows from a ratio.

Every expected number is computed by hand from the table above it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.queries.measured import DECIDING, of_run, verdicts_of
from app.text.claims import decides_words
from app.text.ingests import took_back
from ingest.context.path_template import PathTemplate
from ingest.measurements.given import parse_given
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from ingest.store.opening import sql_of
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
    told = {
        "task": "sort",
        "variant": variant,
        "metric": "latency",
        "statistic": "mean",
        "unit": "ms",
        "value": value,
    } | columns
    return ",".join(str(told.get(name, "")) for name in HEADER.strip().split(",")) + "\n"


def table(*lines: str) -> bytes:
    """A long table."""
    return (HEADER + "".join(lines)).encode()


def run(
    claim: str = "The sort is 2x faster.", task: str = "sort", commit: str = COMMIT, uuid: str = "a"
) -> Source:
    """A record that claims something; its folders name task and commit."""
    told = record_text(
        result=claim,
        uuid=f"{(uuid * 8)[:8]}-0000-4000-8000-000000000000",
        session_id=f"session {uuid}",
    )
    return Source(f"{task}/{commit}/{uuid}.json", told.encode())


def stored(store: Store, *files: bytes | Source, measure: str = "") -> None:
    """Ingest records and tables at once."""
    sources = [
        Source(f"values-{number}", file) if isinstance(file, bytes) else file
        for number, file in enumerate(files)
    ]
    options = Options(
        template=PathTemplate.parse("{task}/{commit}/*"),
        measure=parse_given([measure] if measure else []),
    )
    ingest(sources, store, options)


def rows(store: Store, sql: str = "select * from v_verdicts order by run_id") -> list[Row]:
    """The rows of a query, by default of the verdicts."""
    with store.reading() as connection:
        found: list[Row] = connection.sql(sql).to_arrow_table().to_pylist()
    return found


def told(verdict: Row, *columns: str) -> tuple[Any, ...]:
    """These columns of a verdict."""
    return tuple(
        round(verdict[name], 4) if isinstance(verdict[name], float) else verdict[name]
        for name in columns
    )


def only(store: Store, *columns: str) -> tuple[Any, ...]:
    """These columns of the only verdict."""
    [verdict] = rows(store)
    return told(verdict, *columns)


VERDICT = ("verdict", "measured_speedup", "claim_verdict")
CASES: Mapping[str, Any] = json.loads(
    (Path(__file__).parent / "golden/verdicts.json").read_text(encoding="utf-8")
)
"""Values of the table `sort`, and what is expected of a run that claims something of them."""


@pytest.fixture(scope="module")
def verdicts(store_once: StoreOnce) -> Mapping[str, Row]:
    """The verdict of each of CASES.

    All are read and judged at once, which takes as long as one; none may change that of another.
    """

    def fill(store: Store) -> None:
        files: list[bytes | Source] = []
        for number, case in enumerate(CASES.values()):
            task = f"task {number}"
            files.append(
                run(case.get("claim", "The sort is 2x faster."), task, uuid=f"{number:08x}")
            )
            lines = (line.replace("sort,", f"{task},", 1) for line in case["values"])
            files.append(table(*(f"{line}\n" for line in lines)))
        stored(store, *files)

    judged = rows(store_once("verdicts", fill))
    assert len(judged) == len(CASES)
    return dict(zip(CASES, judged, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_a_verdict(name: str, verdicts: Mapping[str, Row]) -> None:
    """Ratios are baseline ÷ time and rate ÷ baseline; different or failed values have none."""
    expected = CASES[name]["expected"]
    assert dict(zip(expected, told(verdicts[name], *expected), strict=True)) == expected


def test_a_claim_has_a_factor_where_it_is_about_what_was_measured(store: Store) -> None:
    """One about a part is no claim about the whole."""
    part = "A micro-benchmark of the sort kernel went from 4.0 ms to 2.0 ms, a 2x speedup."
    values = table(
        line("baseline", 100),
        line("candidate", 100),
        line("baseline", 100, task="all"),
        line("candidate", 80, task="all"),
    )
    whole = run("End-to-end latency is 3x faster.", task="all", commit="f" * 40, uuid="bbbbbbbb")
    stored(store, run(part), whole, values, measure="scope=end_to_end")
    assert [
        told(verdict, *VERDICT, "claimed_scope", "scope_differs", "overclaim_factor")
        for verdict in rows(store)
    ] == [
        ("same", 1.0, "over_claimed", "micro", True, None),
        ("faster", 1.25, "over_claimed", "end_to_end", False, 2.4),
    ]


def test_the_band_can_be_chosen(store: Store) -> None:
    stored(store, run(), table(line("baseline", 110), line("candidate", 100)))
    with store.reading() as connection:
        found = []
        for band in (0.05, 0.2):
            connection.execute(f"set variable band = {band}")
            found += connection.execute("select verdict from v_verdicts").fetchall()
    assert found == [("faster",), ("same",)]


def test_what_decides_is_said_by_the_order_of_the_view(store: Store) -> None:
    """Breaks if the view orders by something that no word of DECIDING stands for."""
    order = " ".join(
        sql_of("views/v_verdicts").split("create_sort_key(")[1].split(") = 1")[0].split()
    )
    places = [order.find(sql) for sql in [*DECIDING.values()][:-1]]
    assert places == sorted(places)
    assert places[0] >= 0
    assert order.count("nulls") == len(DECIDING) + 1, "the last stands for file and number"
    other = {"metric": "throughput", "unit": "req/s"}
    values = table(
        line("baseline", 100),
        line("candidate", 50),
        line("baseline", 120, statistic="p99"),
        line("candidate", 50, statistic="p99"),
        line("baseline", 10, **other),
        line("candidate", 10, **other),
        line("candidate", 7, metric="ttft"),
    )
    alone = table(line("baseline", 100, task="all"), line("candidate", 80, task="all"))
    stored(store, run(), run(task="all", commit="f" * 40, uuid="b"), values, alone)
    several, one = verdicts_of(store, [row["run_id"] for row in rows(store)]).values()
    assert decides_words(several) == (
        "mean latency, of 4 values the first by a comparable baseline, then the kind that "
        "the run claims, then the mean before other statistics."
    )
    assert (one["decided_by"], decides_words(one)) == ([], "")


JOINED: tuple[tuple[Row, str | None], ...] = (
    ({"task": "", "commit": COMMIT}, None),
    ({"task": "", "commit": COMMIT[:8]}, None),
    ({"task": "", "commit": "fedcba98"}, "no run has its commit"),
    ({"task": "other"}, "no run has its task"),
    ({"agent": "Claude Code"}, None),
    ({"agent": "claude_code"}, None),
    ({"agent": "codex"}, "no run has its task and agent codex"),
    ({"task": ""}, "it names no run, patch, commit or task"),
)


def test_a_measurement_says_why_it_has_no_run(store: Store) -> None:
    """Each of JOINED beside a run of a task and a commit of its own."""
    files: list[bytes | Source] = []
    for number, (columns, _) in enumerate(JOINED):
        commit, task = f"{number}{COMMIT[1:]}", f"task {number}"
        own = {"task": task} | {
            name: str(value).replace(COMMIT[:8], commit[:8]) for name, value in columns.items()
        }
        files += [
            run(task=task, commit=commit, uuid=f"{number:08x}"),
            table(line("candidate", number, **own)),
        ]
    stored(store, *files)
    found = rows(store, "select run_id, unjoined from v_measured_runs")
    assert {int(row["run_id"][:8], 16) for row in found if row["run_id"]} == {
        number for number, (_, why) in enumerate(JOINED) if not why
    }
    assert sorted(row["unjoined"] for row in found if not row["run_id"]) == sorted(
        why for _, why in JOINED if why
    )


def test_a_short_hash_of_two_commits_joins_neither(store: Store) -> None:
    other = COMMIT[:8] + "f" * 32
    stored(
        store,
        run(),
        run(task="merge", commit=other, uuid="b"),
        table(line("candidate", 50, task="", commit=COMMIT[:8])),
    )
    [found] = rows(store, "select run_id, unjoined from v_measured_runs")
    assert found == {
        "run_id": None,
        "unjoined": "the hash 01234567 is short and that of several commits",
    }


def test_several_runs_of_a_task_are_ambiguous_until_one_is_named(store: Store) -> None:
    values = table(line("baseline", 100), line("candidate", 50))
    stored(store, run(uuid="a"), run(uuid="b"), values)
    assert [found["unjoined"] for found in rows(store, "from v_measured_runs")] == [
        "2 runs match by task: aaaaaaaa, bbbbbbbb"
    ]
    stored(store, values, measure="run=bbbb")
    assert [(verdict["run_id"][0], verdict["verdict"]) for verdict in rows(store)] == [
        ("a", "not_measured"),
        ("b", "faster"),
    ]


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
    assert took_back(undo(store, 1)) == "Undid ingest 1: removed 2 measured values of 1 file."
    assert only(store, "verdict", "values_measured") == ("not_measured", 0)
    assert rows(store, "from measurements") == []


def test_two_commands_of_one_file_are_told_apart_by_their_names(
    store: Store, tmp_path: Path
) -> None:
    results = [
        {"command": name, "mean": mean, "stddev": 0.01, "times": [mean - 0.01, mean + 0.01]}
        for name, mean in (("old", 2.0), ("new", 1.0))
    ]
    stored(
        store,
        run(),
        json.dumps({"results": results}).encode(),
        measure="baseline=old,candidate=new,task=sort",
    )
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
    line("baseline", 100, n=5, std=1),
    line("candidate", 80, n=5, std=1),
    line("reference", 70, n=5, std=1),
    line("baseline", 9, metric="ttft"),
    line("candidate", 9.1, metric="ttft"),
    line("baseline", 50, metric="memory", unit="MB"),
    line("candidate", 40, metric="memory", unit="MB"),
]
JUDGED = tuple(
    (
        "verdict measured_speedup measured_low measured_high measured_vs_reference hard "
        "claim_verdict metric"
    ).split()
)


@pytest.mark.slow
@given(
    seed=st.integers(0, 10**6),
    unit=st.sampled_from([("ms", 1.0), ("s", 1e-3), ("us", 1e3), ("ns", 1e6)]),
)
@examples(2)
def test_units_order_of_files_and_repeated_files_change_no_verdict(
    tmp_path_factory: pytest.TempPathFactory,
    store_once: StoreOnce,
    seed: int,
    unit: tuple[str, float],
) -> None:
    plain = store_once(
        "verdicts-in-ms", lambda store: stored(store, run(), table(*LINES[:3]), table(*LINES[3:]))
    )
    changed = Store(tmp_path_factory.mktemp("laws") / "store.duckdb")
    chance = random.Random(seed)
    first, second = (
        [_in_unit(one, *unit) for one in chance.sample(lines, len(lines))]
        for lines in (LINES[:3], LINES[3:])
    )
    files: list[bytes | Source] = [run(), table(*first), table(*second), table(*first) + b"\n"]
    stored(changed, *chance.sample(files, len(files)))
    assert only(plain, *JUDGED) == only(changed, *JUDGED)


def _in_unit(text: str, unit: str, factor: float) -> str:
    """The same line in another unit of time."""
    cells = dict(zip(HEADER.strip().split(","), text.strip().split(","), strict=True))
    if cells["unit"] != "ms":
        return text
    cells |= {
        "unit": unit,
        "value": repr(float(cells["value"]) * factor),
        "std": cells["std"] and repr(float(cells["std"]) * factor),
    }
    return ",".join(cells.values()) + "\n"


@given(
    values=st.lists(
        st.tuples(st.sampled_from(["latency", "ttft", "memory"]), st.floats(0.1, 1e6)),
        min_size=1,
        max_size=6,
    )
)
@pytest.mark.slow
@examples(2)
def test_a_missing_baseline_never_yields_a_ratio(
    tmp_path_factory: pytest.TempPathFactory, values: Sequence[tuple[str, float]]
) -> None:
    store = Store(tmp_path_factory.mktemp("laws") / "store.duckdb")
    stored(
        store, run(), table(*(line("candidate", value, metric=metric) for metric, value in values))
    )
    assert rows(store, "select * from v_speedups where ratio is not null") == []
    assert only(store, "verdict", "claim_verdict") == ("not_measured", None)


def test_where_nothing_is_measured_the_terminal_says_what_to_do(
    tachograph: Run, tmp_path: Path
) -> None:
    """Else `0 of 1 run measured` is all there is.

    Where other runs are measured, more benchmarks are no answer.
    """
    (tmp_path / "run.json").write_text(record_text())
    tachograph("ingest run.json")
    for words in ("verdicts", "verdicts --by model", "measurements"):
        assert (
            "Nothing was measured. Ingest benchmark results beside the runs: docs/measured.md"
            in tachograph(words).stderr
        )
    (tmp_path / "times.csv").write_text(
        "task,variant,metric,value,unit\nsort,baseline,latency,100,ms\n"
    )
    tachograph("ingest times.csv")
    for words in ("verdicts", "verdicts --by model"):
        assert "None of the matching runs was measured." in tachograph(words).stderr


@pytest.mark.parametrize(
    ("said", "count"),
    [("", 2), ("better=lower", 2), ("variant=baseline", 0), ("candidate=sort", 0)],
)
def test_an_ingest_counts_values_of_which_nobody_says_what_they_measured(
    store: Store, said: str, count: int
) -> None:
    result = json.dumps({"results": [{"command": "sort", "mean": 2.0, "median": 2.0}]}).encode()
    report = ingest(
        [Source("result", result)], store, Options(measure=parse_given([said] if said else []))
    )
    assert (report.total("measurements"), report.total("without_variant")) == (2, count)


def test_copies_of_a_value_in_several_files_are_one_value(store: Store) -> None:
    pair = line("baseline", 2), line("candidate", 1)
    tails = line("baseline", 9, statistic="p99"), line("candidate", 3, statistic="p99")
    copies = [table(*pair, line("baseline", number, task="other")) for number in (1, 2)]
    stored(store, run(), *copies, table(*pair, *tails))

    assert only(store, "values_measured", "values_comparable") == (2, 2)
    [run_id] = [row["run_id"] for row in rows(store)]
    [verdict] = verdicts_of(store, [run_id]).values()
    assert verdict["decided_by"] == ["the mean before other statistics"]
    values = of_run(store, run_id).to_pylist()
    assert [(row["statistic"], row["ratio"], row["files"]) for row in values] == [
        ("mean", 2.0, 3),
        ("p99", 3.0, 1),
    ]
