"""Claimed beside measured on screens, in charts, reports and checks.

Figures computed by hand from `tests.measured_runs`.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from app.charts import speedups as charts
from app.cli.main import cli
from app.queries import claims as claim_queries
from app.queries import measured as queries
from app.queries import measured as speedups
from app.queries.agents import AgentFigures, agents
from app.queries.filters import Filters, choose
from app.queries.measured import Range
from app.queries.reading import read_transaction
from app.queries.run_page import run_page
from app.reports.budgets import budgets_of, check
from app.reports.cost_report import ReportRequest, report
from app.reports.exports import EXPORTS
from app.reports.results import with_costs
from app.text import speedups as speedup_words
from app.text.claims import EXAMPLE_TABLE
from app.text.run_text import run_text
from app.text.speedups import speedups as sentence
from ingest.pipeline import ingest
from ingest.sources.files import Source
from ingest.store.database import Store
from schemas.catalogue.metrics import MEASURED_CLASSES
from schemas.text import one_line
from tests.conftest import StoreOnce, page_text, record_text
from tests.measured_runs import HAIKU, OPUS, fill, label

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

EVERYTHING = Filters()
OF_OPUS, OF_HAIKU = choose({"model": OPUS}), choose({"model": HAIKU})
Open = Callable[..., "AppTest"]


@pytest.fixture(scope="module")
def unread(store_once: StoreOnce) -> Store:
    """The store of `measured`, of which each query is a transaction of its own."""
    return store_once("measured-runs", fill)


@pytest.fixture(scope="module")
def measured(unread: Store) -> Iterator[Store]:
    """One transaction for all, as a request has one for all its queries.

    To plan the view of verdicts takes a quarter of a second.
    """
    with read_transaction(unread) as transaction:
        yield transaction


@pytest.fixture(scope="module")
def labelled(store_once: StoreOnce) -> Iterator[Store]:
    """The same with judgements of ISO-Bench's kind."""

    def fill_labelled(store: Store) -> None:
        fill(store, scope="end_to_end")
        label(store, kept="Q1", over="Q2", same="Q3", wrong="Q4", few="Q2")

    with read_transaction(store_once("labelled-runs", fill_labelled), copy_at=1) as transaction:
        yield transaction


def totals(store: Store, filters: Filters = EVERYTHING) -> dict[str, Any]:
    found = queries.totals(store, filters)
    assert found is not None
    return found


def costs(store: Store, filters: Filters = EVERYTHING) -> dict[str, Any]:
    [row] = with_costs(queries.summary(store, filters)).to_pylist()
    return dict(row)


def test_every_measured_run_is_in_one_count(measured: Store) -> None:
    row = totals(measured)
    kinds = ("faster", "same", "slower", "failed", "not_comparable", "without_baseline")
    assert [row[f"runs_{kind}"] for kind in kinds] == [3, 3, 1, 1, 1, 1]
    assert (row["runs"], row["runs_measured"], row["runs_compared"]) == (11, 10, 7)
    assert row["runs_measured"] == sum(row[f"runs_{kind}"] for kind in kinds)


def test_a_faster_run_costs_what_all_runs_cost_failed_ones_too(measured: Store) -> None:
    """11.50 ÷ 3 of all runs; 6.75 ÷ 3 of those with a baseline; one run of 11.50 reached it."""
    row = totals(measured)
    assert row["cost_per_faster_usd"] == Decimal("3.833333333")
    assert row["cost_per_faster_compared_usd"] == Decimal("2.25")
    assert row["cost_per_reached_usd"] == Decimal("11.5")
    assert [
        costs(measured, OF_OPUS)[key] for key in ("cost_per_faster", "cost_per_faster_compared")
    ] == ["$3.33", "$2.00"]


def test_no_faster_run_is_none_for_the_cost_and_never_infinity(measured: Store) -> None:
    row = costs(measured, OF_HAIKU)
    assert row["cost_per_faster_usd"] is None
    assert [
        row[key] for key in ("cost_per_faster", "cost_per_faster_compared", "cost_per_reached")
    ] == [
        "none for $1.50",
        "none for $0.75",
        "none for $1.50",
    ]


def test_a_speedup_of_unknown_cost_makes_the_others_no_cheaper(store: Store, unread: Store) -> None:
    shutil.copy(unread.location, store.location)
    with store.writing() as writer:
        writer.connection.execute(
            "update runs set cost_own_usd = null, cost_list_usd = null where run_id = 'over'"
        )
    row = totals(store)
    assert (row["runs_faster"], row["cost_per_faster_usd"]) == (3, Decimal("4.75")), (
        "9.50 ÷ the two of known cost"
    )
    assert row["cost_per_faster_usd_known"] == 10


def test_a_transaction_reads_the_verdicts_once_and_answers_the_same(unread: Store) -> None:
    alone = totals(unread)
    with read_transaction(unread) as transaction:
        assert totals(transaction) == alone
        assert queries.verdicts(transaction, EVERYTHING) == queries.verdicts(unread, EVERYTHING)
        transaction.end()
        assert totals(transaction) == alone, "of another transaction after its end"


def test_filters_choose_what_is_judged(measured: Store) -> None:
    assert totals(measured, OF_HAIKU)["runs_measured"] == 3
    assert queries.totals(measured, choose({"search": "unmeasured"})) is None
    assert queries.totals(measured, choose({"min-claim": "9"})) is None


def test_the_table_that_an_empty_screen_shows_is_read(store: Store) -> None:
    log, results = record_text(uuid="abcd1234-run"), EXAMPLE_TABLE.replace("RUN", "abcd1234-run")
    ingest([Source("log.json", log.encode()), Source("results.csv", results.encode())], store)
    assert (totals(store)["runs_faster"], totals(store)["runs_compared"]) == (1, 1), (
        "100 ÷ 80 = 1.25"
    )


def test_the_page_of_a_run_has_claim_and_measurement_side_by_side(
    measured: Store, screens: Open
) -> None:
    app = screens(measured.location, "screens/run.py", run="wrong")
    text = page_text(app)
    assert "Claimed 1.50× micro-benchmark, number only Measured 0.80×" in text
    assert "What was measured latency, lower is better; one run each" in text
    assert (
        "baseline 100 ms this run 125 ms 0.80× against the baseline: slower once reference 50 ms "
        "0.40× against it: slower once"
    ) in text
    assert "Measured once: how far two measurements" in text
    app.session_state["result"] = True
    app.run()
    values = next(table.value for table in app.dataframe if "base_value" in table.value)
    assert [*values["ratio"].str.strip()] == ["0.80×", "0.40×"]
    assert values[["base", "base_value", "candidate_value"]].to_numpy().tolist() == [
        ["baseline", 100.0, 125.0],
        ["reference", 50.0, 125.0],
    ]


def test_a_report_has_what_was_measured_in_every_format(measured: Store) -> None:
    made = report(measured, ReportRequest(by=("model",)))
    table = made.first.agent_table
    heads = [one_line(column.label) for column in table.columns]
    shown = dict(zip(heads, map(str, table.cells[0]), strict=True))
    assert (shown["Measured, strict"], shown["Cost per faster task"]) == (
        "3 once · 3 same · 1 slower · 1 breaks",
        "$3.83",
    )
    assert made.first.as_dict()["measured"]["cost_per_faster_compared_usd"] == Decimal("2.25")
    assert made.section("measured").table["cost_per_faster"].to_pylist() == [
        "$3.33",
        "none for $1.50",
    ]
    for name in ("md", "html", "json"):
        assert "none for $1.50" in EXPORTS[name].write_report(made).decode()


@pytest.mark.slow
def test_a_report_without_measurements_says_nothing_of_them(read_samples: Store) -> None:
    made = report(read_samples, ReportRequest(by=("model",)))
    assert not [one for one in made.first.figures if "easure" in one.label or "faster" in one.label]
    assert "measured" not in made.first.as_dict()
    assert "measured" not in [section.key for section in made.sections]


@pytest.mark.parametrize(
    ("allowed", "passed"),
    [
        ({"min-faster": "3"}, True),
        ({"min-faster": "4"}, False),
        ({"max-overclaim": "3.2"}, True),
        ({"max-overclaim": "3.19"}, False),
    ],
    ids=str,
)
def test_what_was_measured_can_be_a_limit(
    allowed: dict[str, str], passed: bool, measured: Store
) -> None:
    done = check(measured, EVERYTHING, dict(budgets_of(allowed)))
    assert done.passed is passed
    known = {
        "min-faster": "Based on 7 of 11 runs.",
        "max-overclaim": "Based on 6 of 11 runs.",
    }
    assert [verdict.note for verdict in done.verdicts] == [known[key] for key in allowed]


def test_show_tells_the_verdict(measured: Store) -> None:
    def shown(run: str, *words: str) -> str:
        return (
            CliRunner()
            .invoke(cli, ["show", run, *words, "--db", measured.location], standalone_mode=False)
            .stdout
        )

    lines = [" ".join(line.split()) for line in shown("over").splitlines()]
    at = lines.index("Claimed and measured")
    assert lines[at + 1 : at + 3] == [
        "Claimed speedup 4.00× (time)",
        "Against the baseline measured 1.25×: faster once",
    ]
    assert (
        json.loads(shown("over", "--format", "json"))["measured"]["claim_verdict"] == "over_claimed"
    )
    unmeasured = run_page(measured, "unmeasured")
    assert unmeasured is not None
    assert b"Claimed and measured" not in run_text(unmeasured, 100)
    assert unmeasured.as_dict()["measured"] is None


# the screen


def html_of(app: AppTest) -> str:
    return "".join(element.proto.body for element in app.get("html"))


def test_the_sentence_and_the_lists_have_the_figures_of_the_store(measured: Store) -> None:
    rows, counts = agents(measured, EVERYTHING), speedups.counts(measured, EVERYTHING)
    said = sentence(rows, speedups.to_measure_again(measured, EVERYTHING), EVERYTHING)
    assert said.heading == (
        "3 results are faster, **none beyond noise**. Repeating them shows which of them hold."
    )
    assert said.second == "No log has the command of the benchmark."
    assert said.coverage == "**7** of 10 results comparable · 6 have a claim"
    total = rows[0]
    assert (counts["pairs"], counts["comparable"], counts["claims"]) == (
        total.checked,
        total.comparable,
        total.claimed.known - total.checked,
    )
    for key, number in counts.items():
        assert len(speedups.runs(measured, EVERYTHING, key, 100)) == number
    [published] = [
        row
        for row in speedups.runs(measured, EVERYTHING, "uncompared", 100)
        if row["run_id"] == "other"
    ]
    assert published["ratio_published"] == pytest.approx(100 / 90)
    assert '<span class="t-n t-void">1.11×</span>' in speedup_words.run_table(
        [published], "uncompared", EVERYTHING
    )


def test_the_factor_of_a_claim_is_a_median_from_five_on(measured: Store, labelled: Store) -> None:
    """0.6, 1, 1.875, 2, 3 and 3.2: in the middle of the logarithms of 1.875 and 2."""
    [total, of_agent] = speedups.checks(measured, EVERYTHING)
    assert total.factor.median == of_agent.factor.median == pytest.approx((1.875 * 2) ** 0.5)
    assert [row.is_other_part for row in speedups.checks(labelled, EVERYTHING)] == [True, True]
    [cells] = speedup_words.divide_table([total, of_agent]).cells
    assert [str(cell) for cell in cells] == ["cover the same part", "1.94", "0.60 – 3.20", "6"]
    few = speedup_words.divide_table(speedups.checks(measured, OF_HAIKU))
    assert [one.label for one in few.columns] == ["Claim and benchmark", "from – to", "Claims"]
    assert [[str(cell) for cell in row] for row in few.cells] == [
        ["cover the same part", "2.00", "1"]
    ]


def test_a_command_of_a_log_is_repeated_word_by_word_and_runs_nothing_else() -> None:
    row: dict[str, Any] = {
        "run_id": "2edf17a7-0000-4000",
        "command": "python b.py --name 'a b'; rm -rf $HOME",
        "metric": "ttft",
        "needs_server": False,
    }
    said = speedup_words.command_of(row, lambda words: f"tachograph {words} --db s")
    assert said == (
        "tachograph measure 2edf17a7 --db s -- python b.py --name 'a b;' rm -rf '$HOME'"
    )
    assert shlex.split(said)[-2:] == ["-rf", "$HOME"]
    odd = speedup_words.command_of(row | {"run_id": "a; rm -r b c d e"}, str)
    assert shlex.split(odd)[:2] == ["measure", "a; rm -r"]
    assert not speedup_words.command_of(row | {"command": "unbalanced '"}, str)
    client = {"command": "vllm bench serve --port 81 --model 'a; rm b'", "needs_server": True}
    said = speedup_words.command_of(row | client, str)
    *before, script = shlex.split(said)
    assert before == ["measure", "2edf17a7", "--metric", "ttft", "--", "sh", "-c"]
    served, client_of_it = script.split(" && ")
    assert served.startswith("SERVER & curl ")
    assert served.endswith(" localhost:81/health")
    assert shlex.split(client_of_it) == [
        *("vllm", "bench", "serve", "--port", "81", "--model", "a; rm b"),
        *("--save-result", "--result-filename", "{out}"),
    ]


def test_results_measured_once_come_with_their_command_the_largest_first(
    store: Store, unread: Store, screens: Open
) -> None:
    shutil.copy(unread.location, store.location)
    with store.writing() as writer:
        run = "update measurements set command = 'python bench.py', machine = 'H100:1' "
        writer.connection.execute(f"{run} where task = 'over'")
    again = speedups.to_measure_again(store, EVERYTHING)
    assert again[0]["run_id"] == "over"
    assert [row["measured_speedup"] for row in again[1:]] == sorted(
        (row["measured_speedup"] for row in again[1:]), reverse=True
    )
    page = html_of(screens(store.location, "screens/speedups.py"))
    assert "1 of these 3 can be repeated now: its log has the command." in page
    assert f"tachograph measure over --db {store.location} -- python bench.py" in page
    assert "1 × H100" in page
    with store.writing() as writer:
        run = "update measurements set command = 'python bench_serving.py' where task = 'over'"
        writer.connection.execute(run)
    page = html_of(screens(store.location, "screens/speedups.py"))
    assert "1 of these 3 can be repeated with a server: its log has only the command" in page
    assert "repeated now" not in page
    assert "needs a server" in page


def test_claims_that_nobody_measured_are_told_with_their_sentences_and_open_there(
    read_samples: Store, screens: Open
) -> None:
    app = screens(read_samples.location, "screens/speedups.py", tab="sentences")
    assert "One run claims a speedup, 3.17×; <em>none was measured</em>." in html_of(app)
    assert app.code[-1].value == f"tachograph ingest RESULTS --db {read_samples.location}"
    listed = app.dataframe[0].value
    assert [*listed["ratio"].str.strip()] == ["3.17×", "1.42×"]
    assert (
        listed["sentence"][0]
        == "3.17x speedup for torch.empty vs torch.zeros/ones when tensors are overwritten"
    )
    app.session_state["claims-table"] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    app.run()
    assert (app.query_params["run"], app.query_params["claim"]) == (
        "5e0c031e-eef9-49db-91be-235c0b535201",
        str(listed_claim(read_samples)),
    )
    only = screens(read_samples.location, "screens/speedups.py", tab="Claims only 9")
    assert (
        "3.17x speedup for torch.empty vs torch.zeros/ones when tensors are overwritten"
        in html_of(only)
    ), "an older link, with its number"


def listed_claim(store: Store) -> int:
    number: int = claim_queries.claims(store, EVERYTHING, ("quantified",))["claim_no"][0].as_py()
    return number


def test_a_store_without_claims_and_measurements_says_how_to_measure(
    store: Store, screens: Open
) -> None:
    ingest([Source("a", record_text(result="Done.").encode())], store)
    app = screens(store.location, "screens/speedups.py")
    assert "<em>No run claims a speedup</em>, and none was measured." in html_of(app)
    assert not app.get("plotly_chart")


def pair(number: int, **changes: Any) -> dict[str, Any]:
    known = {
        "run_id": f"r{number}",
        "title": "<a href='x'>t</a>",
        "agent": "codex",
        "scope_differs": False,
        "found": 1,
    }
    return known | {"claimed_speedup": 2.0, "measured_speedup": 1.0} | changes


@pytest.mark.parametrize(
    "pairs",
    [
        [pair(1)],
        [pair(1, claimed_speedup=1e12), pair(2, measured_speedup=1e-9)],
        [pair(1, claimed_speedup=0.1, agent=None)],
        [
            pair(number, claimed_speedup=1 + number, scope_differs=bool(number % 2))
            for number in range(600)
        ],
    ],
    ids=["one", "extreme", "claimed slower", "many"],
)
def test_pairs_are_drawn_within_the_axis_and_hostile_titles_stay_text(
    pairs: list[dict[str, Any]],
) -> None:
    for page in ("light", "dark", None):
        drawn = charts.beside(pairs, page)
        low, high = drawn.layout.yaxis.range
        marks = [value for trace in drawn.data if trace.mode == "markers" for value in trace.y]
        assert 10**low < min(marks) <= max(marks) < 10**high
        assert "<a" not in drawn.to_json().replace("\\u003c", "<")
        assert drawn.layout.height == 240


def test_of_many_pairs_every_kth_is_drawn_by_rank(measured: Store) -> None:
    drawn = speedups.pairs(measured, EVERYTHING, 4).to_pylist()
    assert ([row["claimed_speedup"] for row in drawn], drawn[0]["found"]) == ([1.5, 2.0, 3.0], 6)


# the sentence, by an independent count over generated runs


@st.composite
def worlds(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Runs of up to five agents: what they claim, and what became of their measurements."""
    names = draw(
        st.lists(
            st.sampled_from(["claude-code", "codex", "trae-agent", "gemini", None]),
            max_size=5,
            unique=True,
        )
    )
    ratio = st.sampled_from([0.8, 1.0, 1.04, 1.2, 1.5, 2.0, 3.0, 40.0])
    run = st.fixed_dictionaries(
        {
            "agent": st.sampled_from(names or [None]),
            "claimed": st.none() | ratio,
            "measured": st.none() | ratio,
            "class": st.sampled_from(["breaks", "no_baseline", "machine", "not_measured"]),
            "other": st.booleans(),
        }
    )
    runs: list[dict[str, Any]] = draw(st.lists(run, min_size=1, max_size=14))
    for one in runs:
        one["other"] = one["other"] and one["claimed"] is not None
        if one["measured"] is not None:
            measured = float(one["measured"])
            one["class"] = (
                "faster" if measured > 1.05 else "slower" if measured < 1 / 1.05 else "same"
            )
    return runs


def spread(values: list[float]) -> Range:
    return Range(len(values), median(values), min(values), max(values)) if values else Range()


def row_of(runs: list[dict[str, Any]], agent: str | None, *, is_all: bool = False) -> AgentFigures:
    mine = [run for run in runs if is_all or run["agent"] == agent]
    pairs = [run for run in mine if run["claimed"] is not None and run["measured"] is not None]
    others = [run for run in pairs if run["other"]]
    pairs = [run for run in pairs if not run["other"]]
    return AgentFigures(
        agent=agent,
        model=None,
        is_all=is_all,
        is_model=False,
        runs=len(mine),
        tasks=0,
        models=1,
        started=len(mine),
        completed=0,
        limited=0,
        failed=0,
        unknown_ends=len(mine),
        undated=0,
        cost_usd=None,
        cost=Range(),
        bounds="",
        bounded=0,
        bounded_usd=None,
        wall=Range(),
        wall_ms=None,
        claimed=spread([run["claimed"] for run in mine if run["claimed"] is not None]),
        measured={name: sum(run["class"] == name for run in mine) for name in MEASURED_CLASSES},
        checked=len(pairs) + len(others),
        other_part=len(others),
        held=0,
        more=0,
        less=0,
        wrong=0,
    )


@given(worlds(), st.integers(0, 3))
def test_the_first_lines_are_never_stronger_than_the_runs(
    runs: list[dict[str, Any]], beyond: int
) -> None:
    names = sorted({run["agent"] for run in runs}, key=str)
    rows = [row_of(runs, None, is_all=True), *(row_of(runs, name) for name in names)]
    faster = [run for run in runs if run["class"] == "faster"]
    once = faster[beyond:]
    again = [
        {"command": "bench" if run["claimed"] else None, "needs_server": run["claimed"] == 2}
        for run in once
    ]
    told = sum(row["command"] is not None and not row["needs_server"] for row in again)
    said = sentence(rows, again, EVERYTHING)
    heading = said.heading.replace("**", "")
    assert len(heading) <= 110
    counted = Counter(run["class"] for run in runs)
    ratios = [run for run in runs if run["measured"] is not None]
    if faster:
        assert ("All" in heading or "The one" in heading) is (not once)
        number = re.match(r"(?:All )?(\d+|The one)", heading)
        assert number
        assert number[1] in (str(len(faster)), "The one" if len(faster) == 1 else "")
        assert (f"{len(faster) - len(once) or 'none'} beyond noise" in heading) is bool(once)
        assert ("can be repeated now" in said.second) is bool(told)
        assert str(told) in said.second or told in (0, 1, len(once))
    else:
        known = len(ratios) or sum(counted.values()) - counted["not_measured"]
        assert str(known) in heading or not known
        assert ("none was measured" in heading) is (not known)
    assert (f"{len(ratios)} of " in said.coverage.replace("*", "")) or not any(
        run["class"] != "not_measured" for run in runs
    )
    listed = [doubt for doubt in said.doubts if "another part" in doubt.text]
    others = [run for run in ratios if run["other"]]
    assert [doubt.text.split()[0] for doubt in listed] == ([str(len(others))] if others else [])
