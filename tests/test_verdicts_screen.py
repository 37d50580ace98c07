"""Claimed beside measured on screens, in charts, reports and checks: figures computed by hand from `tests.measured_runs`."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from app.charts import CHARTS
from app.charts.palette import SCOPES
from app.cli.main import cli
from app.queries import measured as queries
from app.queries.filters.chosen import Filters, choose
from app.queries.read_transaction import read_transaction
from app.queries.run_page import run_page
from app.reports.budget_file import budgets_of
from app.reports.budgets import check
from app.reports.cost_report import Request, report
from app.reports.exports import EXPORTS
from app.reports.measured_results import with_costs
from app.text import verdict_grids
from app.text.run_text import run_text
from app.text.words.claims import EVIDENCE
from app.text.words.measured import EXAMPLE_TABLE, FAILURE_NAMES, UNCOMPARED_NAMES, beside
from ingest.documents.contents import Source
from ingest.pipeline import ingest
from ingest.store.database import Store
from schemas.rows.measurement import Failure
from tests.conftest import StoreOnce, record_text
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
    """One transaction for all, as a request has one for all its queries: to plan the view of verdicts takes a quarter of a second."""
    with read_transaction(unread) as transaction:
        yield transaction


@pytest.fixture(scope="module")
def labelled(store_once: StoreOnce) -> Iterator[Store]:
    """The same with judgements of ISO-Bench's kind."""

    def fill_labelled(store: Store) -> None:
        fill(store, scope="end_to_end")
        label(store, kept="Q1", over="Q2", same="Q3", wrong="Q4", few="Q2")

    with read_transaction(store_once("labelled-runs", fill_labelled)) as transaction:
        yield transaction


def totals(store: Store, filters: Filters = EVERYTHING) -> dict[str, Any]:
    found = queries.totals(store, filters)
    assert found is not None
    return found


def costs(store: Store, filters: Filters = EVERYTHING) -> dict[str, Any]:
    [row] = with_costs(queries.summary(store, filters)).to_pylist()
    return dict(row)


def headings(app: AppTest) -> list[str]:
    return [heading.value.replace("\\", "") for heading in app.header]


def test_every_measured_run_is_in_one_count(measured: Store) -> None:
    row = totals(measured)
    kinds = ("faster", "same", "slower", "failed", "not_comparable", "without_baseline")
    assert [row[f"runs_{kind}"] for kind in kinds] == [3, 3, 1, 1, 1, 1]
    assert (row["runs"], row["runs_measured"], row["runs_compared"]) == (11, 10, 7)
    assert row["runs_measured"] == sum(row[f"runs_{kind}"] for kind in kinds)


def test_a_verified_speedup_costs_what_all_runs_cost_failed_ones_too(measured: Store) -> None:
    """11.50 ÷ 3 over all runs; 6.75 ÷ 3 over those with a comparable baseline; one run of 11.50 reached the reference."""
    row = totals(measured)
    assert row["cost_per_faster_usd"] == Decimal("3.833333333")
    assert row["cost_per_faster_compared_usd"] == Decimal("2.25")
    assert row["cost_per_reached_usd"] == Decimal("11.5")
    assert [costs(measured, OF_OPUS)[key] for key in ("cost_per_faster", "cost_per_faster_compared")] == ["$3.33", "$2.00"]


def test_no_verified_speedup_is_none_for_the_cost_and_never_infinity(measured: Store) -> None:
    row = costs(measured, OF_HAIKU)
    assert row["cost_per_faster_usd"] is None
    assert [row[key] for key in ("cost_per_faster", "cost_per_faster_compared", "cost_per_reached")] == [
        "none for $1.50",
        "none for $0.7500",
        "none for $1.50",
    ]


def test_a_speedup_of_unknown_cost_makes_the_others_no_cheaper(store: Store, unread: Store) -> None:
    shutil.copy(unread.location, store.location)
    with store.writing() as writer:
        writer.connection.execute("update runs set cost_own_usd = null, cost_list_usd = null where run_id = 'over'")
    row = totals(store)
    assert (row["runs_faster"], row["cost_per_faster_usd"]) == (3, Decimal("4.75")), "9.50 ÷ the two of known cost"
    assert row["cost_per_faster_usd_known"] == 10


def test_calibration_is_a_median_on_a_logarithmic_scale_from_five_pairs_on(measured: Store) -> None:
    """Opus: 0.6, 1, 1.875, 3 and 3.2, in the middle 1.875. Haiku has one pair, which is drawn."""
    rows = queries.calibration(measured, EVERYTHING, "model").to_pylist()
    assert [(row["group"], row["run_id"]) for row in rows] == [
        *((OPUS, run) for run in ("under", "kept", "wrong", "same", "over")),
        (HAIKU, "few"),
    ]
    assert [row["quotient"] for row in rows] == pytest.approx([0.6, 1, 1.875, 3, 3.2, 2])
    assert [row["claimed_over_measured"] for row in rows] == [*[pytest.approx(1.875)] * 5, None]
    assert (rows[0]["wrong_sign_share"], rows[0]["kept_share"]) == (0.2, 0.2)
    assert (rows[-1]["wrong_sign_share"], rows[-1]["kept_share"], rows[-1]["pairs"]) == (None, None, 1)
    assert (rows[0]["groups_found"], rows[0]["pairs_found"], rows[0]["differing_found"]) == (2, 6, 0)


@pytest.mark.parametrize("by", ["model", "agent", "evidence", "scope"])
def test_groups_of_a_calibration_say_what_the_same_groups_of_the_command_say(by: str, measured: Store) -> None:
    drawn = {row["group"]: row["claimed_over_measured"] for row in queries.calibration(measured, EVERYTHING, by).to_pylist()}
    listed = queries.summary(measured, EVERYTHING, (by,), having="pairs").to_pylist()
    assert drawn == {row[by]: row["claimed_over_measured"] for row in listed}


def test_what_does_not_compare_is_counted_by_reason(measured: Store) -> None:
    assert [tuple(row.values()) for row in queries.reasons(measured, EVERYTHING).to_pylist()] == [
        ("not_comparable", "another workload", 1),
        ("failed", "crash", 1),
        ("not_measured", "no baseline was measured", 1),
    ]
    assert verdict_grids.reason_grid(queries.reasons(measured, EVERYTHING)).rows["reason"].to_pylist() == [
        "another workload",
        "the changed code crashed",
        "no baseline was measured",
    ]
    assert list(FAILURE_NAMES) == [failure.value for failure in Failure]
    assert set(UNCOMPARED_NAMES) == set(queries.verdicts(measured, EVERYTHING, queries.UNCOMPARED)["verdict"].to_pylist())


def test_a_transaction_reads_the_verdicts_once_and_answers_the_same(unread: Store) -> None:
    alone = totals(unread)
    with read_transaction(unread) as transaction:
        assert totals(transaction) == alone
        assert queries.drawn(transaction, EVERYTHING, 9) == queries.drawn(unread, EVERYTHING, 9)
        transaction.end()
        assert totals(transaction) == alone, "of another transaction after its end"


def test_filters_choose_what_is_judged(measured: Store) -> None:
    assert totals(measured, OF_HAIKU)["runs_measured"] == 3
    assert queries.totals(measured, choose({"search": "unmeasured"})) is None
    assert queries.totals(measured, choose({"min-claim": "9"})) is None


def test_the_screen_of_verdicts_and_a_click_on_a_point_that_opens_its_run(measured: Store, screens: Open) -> None:
    app = screens(measured.location, "screens/verdicts.py")
    assert {metric.label: metric.value for metric in app.metric} == {
        "Measured": "10",
        "Measured faster": "3",
        "Measured same": "3",
        "Measured slower": "1",
        "Measurement failed": "1",
        "Not comparable": "1",
        "Without a baseline": "1",
        "Cost per verified speedup": "$3.83",
    }
    assert headings(app) == [
        "6 runs with a claimed and a measured speedup: 1 kept, 3 over-claimed, 1 under-claimed, 1 wrong sign",
        rf"{OPUS}: claimed 1.88× of what was measured, the median of 5 runs",
        "Cost per verified speedup",
        "Claimed and measured",
        "Without a measured ratio",
    ]
    calibrated, cost, verdicts, reasons, rest = (table.value for table in app.dataframe)
    assert calibrated["pairs"].tolist() == [5, 1]
    assert cost["cost_per_faster"].tolist() == ["$3.33", "none for $1.50"]
    assert cost["agent"].tolist() == ["Claude Code"] * 2
    assert verdicts[["claimed_speedup", "measured_speedup"]].iloc[0].tolist() == [1.5, 2.5]
    assert verdicts["claim_verdict"].tolist() == [
        "under-claimed",
        "kept",
        "over-claimed",
        "wrong sign",
        "over-claimed",
        "over-claimed",
        "no claim",
    ]
    assert reasons["runs"].tolist() == [1, 1, 1]
    assert rest["why"].tolist() == ["another workload", "the changed code crashed", "no baseline was measured"]

    app.session_state["chart-verdicts-pairs"] = {"selection": {"points": [{"customdata": ["over"]}], "point_indices": [0]}}
    app.run()
    assert not app.exception
    assert "Run over" in [caption.value for caption in app.caption]


def test_quadrants_are_counted_where_a_benchmark_published_them(labelled: Store, measured: Store, screens: Open) -> None:
    app = screens(labelled.location, "screens/verdicts.py")
    assert "ISO-Bench quadrants" in headings(app)
    table = app.dataframe[-1].value
    assert table[["runs_q1", "runs_q2", "runs_q3", "runs_q4"]].to_numpy().tolist() == [[1, 1, 1, 1], [0, 1, 0, 0]]
    assert table["true_success_share"].tolist() == [25.0, 0.0]
    assert table["hard_success_share"].tolist() == [50.0, 0.0]


def test_without_measurements_the_screen_says_what_to_ingest(read_samples: Store, screens: Open) -> None:
    app = screens(read_samples.location, "screens/verdicts.py")
    assert app.info[0].value == "Nothing was measured."
    assert app.code[1].value == f"tachograph ingest RESULTS --db {read_samples.location}"
    assert not app.metric


def test_the_table_that_an_empty_screen_shows_is_read(store: Store) -> None:
    log, results = record_text(uuid="abcd1234-run"), EXAMPLE_TABLE.replace("RUN", "abcd1234-run")
    ingest([Source("log.json", log.encode()), Source("results.csv", results.encode())], store)
    assert (totals(store)["runs_faster"], totals(store)["runs_compared"]) == (1, 1), "100 ÷ 80 = 1.25"


def test_filters_that_leave_no_measured_run_are_no_empty_store(measured: Store, screens: Open) -> None:
    app = screens(measured.location, "screens/verdicts.py", **{"min-claim": "9"})
    assert app.info[0].value == "None of the matching runs was measured."
    assert app.code[0].value == f"tachograph measurements --unjoined --db {measured.location}"


def test_the_page_of_a_run_has_claim_and_measurement_side_by_side(measured: Store, screens: Open) -> None:
    app = screens(measured.location, "screens/run.py", run="wrong")
    text = re.sub(r"<[^>]+>", " ", "".join(element.proto.body for element in app.get("html")))
    text = " ".join(text.split())
    assert "Claimed and measured" in headings(app)
    assert "Claimed speedup 1.50× (time) Evidence number only Scope claimed micro Quote 1.5x faster" in text
    assert "Against the baseline measured 0.80×: slower Against the reference measured 0.40×: slower Claim wrong sign" in text
    assert "Claimed ÷ measured 1.88×" in text
    assert "single runs: the ±5% band is a convention, not noise" in text
    values = next(table.value for table in app.dataframe if "base_value" in table.value)
    assert values[["base", "base_value", "candidate_value", "ratio"]].to_numpy().tolist() == [
        ["baseline", 100.0, 125.0, 0.8],
        ["reference", 50.0, 125.0, 0.4],
    ]


def test_a_run_that_nobody_measured_has_no_such_section(measured: Store, screens: Open) -> None:
    assert "Claimed and measured" not in headings(screens(measured.location, "screens/run.py", run="unmeasured"))


def test_the_overview_leads_to_the_verdicts(measured: Store, read_samples: Store, screens: Open) -> None:
    def lines(store: Store) -> list[str]:
        links = screens(store.location).get("page_link")
        return [link.proto.label.replace("\\", "") for link in links if "easured" in link.proto.label]

    assert lines(measured) == [
        "Measured: 10 runs, 7 against a comparable baseline: 3 faster, 3 same, 1 slower. Cost per verified speedup: $3.83"
    ]
    assert lines(read_samples) == []


def by_run(figure: Any, *what: str) -> dict[str, tuple[Any, ...]]:
    """What the points of a chart have, by the run that a click opens."""
    points = [trace for trace in figure.data if trace.customdata]
    return {run: tuple(trace[key][place] for key in what) for trace in points for place, (run,) in enumerate(trace.customdata)}


def drawn(store: Store, key: str = "verdicts-pairs") -> Any:
    table = queries.drawn(store, EVERYTHING, 100) if key == "verdicts-pairs" else queries.calibration(store, EVERYTHING, "model")
    return CHARTS[key].draw(table, {})


def test_a_pair_is_drawn_at_its_claim_and_its_measurement(measured: Store) -> None:
    points = by_run(drawn(measured), "x", "y")
    assert {run: place for run, place in points.items() if run != "silent"} == {
        "kept": (2, 2),
        "over": (4, 1.25),
        "same": (3, 1),
        "wrong": (1.5, 0.8),
        "under": (1.5, 2.5),
        "few": (2, 1),
    }
    [strip] = [trace for trace in drawn(measured).data if trace.name == "no claim"]
    assert (strip.customdata, strip.xaxis) == ((["silent"],), "x2")


def test_the_colour_is_that_of_the_evidence_and_the_shape_that_of_the_scope(measured: Store) -> None:
    [trace] = [trace for trace in drawn(measured).data if trace.customdata and trace.name != "no claim"]
    assert trace.marker.color == EVIDENCE["stated"]
    assert set(trace.marker.symbol) == {SCOPES["micro"]}


def test_hovering_says_claimed_and_measured_and_where_the_scope_differs(measured: Store, labelled: Store) -> None:
    def hover(store: Store) -> str:
        return str(by_run(drawn(store), "hovertext")["over"][0])

    assert hover(measured) == (
        "<b>claimed 4.00× (time) · measured 1.25×: faster · over-claimed</b><br>4x faster<br>Reported cost: $2<br>"
        "Run: The new kernel is 4x faster (over)"
    )
    assert "scope differs: claimed micro, measured end to end" in hover(labelled)


def test_only_a_group_with_five_pairs_has_a_median(measured: Store) -> None:
    figure = drawn(measured, "verdicts-calibration")
    medians = [shape for shape in figure.layout.shapes if shape.line.dash != "dash"]
    assert [(shape.x0, shape.y0 < 0 < shape.y1) for shape in medians] == [(pytest.approx(1.875), True)]
    assert [note.text for note in figure.layout.annotations] == ["median 1.88×"]
    assert figure.layout.yaxis.ticktext == (f"{OPUS}<br>n = 5", f"{HAIKU}<br>n = 1")
    of_few = CHARTS["verdicts-calibration"].words(queries.calibration(measured, OF_HAIKU, "model"))
    assert of_few.finding == "Fewer than 5 runs in every group: no median"


def changed(store: Store, **columns: Any) -> pa.Table:
    """The drawn runs that claim something, with other values in a column."""
    table = queries.drawn(store, EVERYTHING, 100).slice(0, 6)
    for name, value in columns.items():
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.array([value] * table.num_rows, table.schema.field(name).type))
    return table


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"claimed_speedup": None},
        {"measured_speedup": 1e-9},
        {"claimed_speedup": 1e12},
        {"measured_low": 0.5, "measured_high": 4.0},
        {"cost_own_usd": None},
        {"claimed_quote": '<a href="https://e.example">x</a>'},
    ],
    ids=str,
)
def test_the_chart_survives_what_a_store_may_hold(columns: dict[str, Any], measured: Store) -> None:
    for table in (changed(measured, **columns), changed(measured, **columns).slice(0, 0)):
        shown = CHARTS["verdicts-pairs"]
        assert "<a" not in shown.draw(table, {}).to_json().replace("\\u003c", "<")
        assert shown.alt(table)
    empty = queries.calibration(measured, EVERYTHING, "model").slice(0, 0)
    assert CHARTS["verdicts-calibration"].draw(empty, {}).layout.annotations, "an empty chart says why"


def test_an_interval_is_drawn_around_its_point(measured: Store) -> None:
    [trace] = [
        trace
        for trace in CHARTS["verdicts-pairs"].draw(changed(measured, measured_low=0.5, measured_high=4.0), {}).data
        if trace.customdata and trace.name != "no claim"
    ]
    assert [y + up for y, up in zip(trace.y, trace.error_y.array, strict=True)] == [4.0] * 6
    assert [y - down for y, down in zip(trace.y, trace.error_y.arrayminus, strict=True)] == [0.5] * 6


def test_words_without_a_claim_or_a_ratio() -> None:
    row = {"claimed_speedup": None, "claimed_metric": None, "verdict": "failed", "measured_speedup": None, "claim_verdict": "no_claim"}
    assert beside(row) == "no claimed speedup · failed"
    assert beside(row | {"claimed_speedup": 2.0, "claimed_metric": "time", "claim_verdict": None}) == "claimed 2.00× (time) · failed"


def test_a_report_has_what_was_measured_in_every_format(measured: Store) -> None:
    made = report(measured, Request(by=("model",)))
    figures = {one.label: (one.value, one.note) for one in made.first.figures}
    assert figures["Measured faster"] == ("3", "10 runs measured, 7 against a comparable baseline")
    assert figures["Cost per verified speedup"] == ("$3.83", "")
    assert made.first.as_dict()["measured"]["cost_per_faster_compared_usd"] == Decimal("2.25")
    assert made.section("measured").table["cost_per_faster"].to_pylist() == ["$3.33", "none for $1.50"]
    for name in ("md", "html", "json"):
        assert "none for $1.50" in EXPORTS[name].write_report(made).decode()


@pytest.mark.slow
def test_a_report_without_measurements_says_nothing_of_them(read_samples: Store) -> None:
    made = report(read_samples, Request(by=("model",)))
    assert not [one for one in made.first.figures if "easure" in one.label or "verified" in one.label]
    assert "measured" not in made.first.as_dict()
    assert "measured" not in [section.key for section in made.sections]


@pytest.mark.parametrize(
    ("allowed", "passed"),
    [
        ({"min-verified-speedups": "3"}, True),
        ({"min-verified-speedups": "4"}, False),
        ({"max-overclaim": "3.2"}, True),
        ({"max-overclaim": "3.19"}, False),
    ],
    ids=str,
)
def test_what_was_measured_can_be_a_limit(allowed: dict[str, str], passed: bool, measured: Store) -> None:
    done = check(measured, EVERYTHING, dict(budgets_of(allowed)))
    assert done.passed is passed
    known = {"min-verified-speedups": "Based on 7 of 11 runs.", "max-overclaim": "Based on 6 of 11 runs."}
    assert [verdict.note for verdict in done.verdicts] == [known[key] for key in allowed]


@pytest.mark.parametrize("key", ["min-verified-speedups", "max-overclaim"])
def test_a_limit_on_what_nobody_measured_has_not_passed(key: str, read_samples: Store) -> None:
    done = check(read_samples, EVERYTHING, dict(budgets_of({key: "1"})))
    assert not done.passed
    assert done.verdicts[0].note == "Unknown for all 3 runs, so it cannot be checked."


def test_limits_on_what_was_measured_come_from_options_and_from_a_file(measured: Store, tmp_path: Path) -> None:
    file = tmp_path / "budgets.toml"
    file.write_text("min-verified-speedups = 3\nmax-overclaim = 2.5\nmax-total-usd = 20\n")
    words = ["check", "--budgets", str(file), "--min-verified-speedups", "5", "--format", "json", "--db", measured.location]
    done = CliRunner().invoke(cli, words, standalone_mode=False)
    assert done.return_value == 1
    limits = {limit["limit"]: (limit["passed"], limit["found"]) for limit in json.loads(done.stdout)["limits"]}
    assert limits == {"max-total-usd": (True, 11.5), "min-verified-speedups": (False, 3), "max-overclaim": (False, 3.2)}


def test_show_tells_the_verdict(measured: Store) -> None:
    def shown(run: str, *words: str) -> str:
        return CliRunner().invoke(cli, ["show", run, *words, "--db", measured.location], standalone_mode=False).stdout

    lines = [" ".join(line.split()) for line in shown("over").splitlines()]
    at = lines.index("Claimed and measured")
    assert lines[at + 1 : at + 3] == ["Claimed speedup 4.00× (time)", "Against the baseline measured 1.25×: faster"]
    assert json.loads(shown("over", "--format", "json"))["measured"]["claim_verdict"] == "over_claimed"
    unmeasured = run_page(measured, "unmeasured")
    assert unmeasured is not None
    assert b"Claimed and measured" not in run_text(unmeasured, 100)
    assert unmeasured.as_dict()["measured"] is None
