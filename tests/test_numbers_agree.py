"""One number, one definition: what two places say of the same runs is the same."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import simplejson

from app.cli.doctor import examine
from app.queries import claims as claim_queries
from app.queries import cost as report_queries
from app.queries import measured as measured_queries
from app.queries import models as model_queries
from app.queries import quality, reading
from app.queries import runs as run_queries
from app.queries.comparison import two_totals
from app.queries.filters import EVERY_RUN, Filters, choose
from app.queries.usage import UsageRequest, usage
from app.reports import results
from app.reports.budgets import check
from app.reports.cost_report import ReportRequest, report
from app.reports.exports import EXPORTS
from app.text.columns import columns
from app.text.costs import base_words, totals_words
from app.text.formatting import bound_sign, short, usd
from app.text.grids import RUNS, Listing, grid
from app.text.text_tables import for_people
from ingest.pipeline import Options, ingest
from ingest.sources.files import Source
from ingest.sources.walking import read_paths
from ingest.store.annotations import Change, annotate
from ingest.store.cross_checks import note_cross_checks
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from ingest.store.undo import undo
from schemas.catalogue.cost_measures import REPORTED
from schemas.catalogue.metrics import FEWEST_VALUES
from schemas.units import Unit
from tachograph import open as open_store
from tests.conftest import ROOT, Run, StoreOnce, ingest_paths, record, record_text
from tests.measured_runs import fill as fill_measured
from tests.reporting import READERS
from tests.test_mcp import asked

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.slow

COPY_DATE = 1_795_000_000
"""A modification time, 2026-11-18."""


def put(store: Store, *records: str, name: str = "log") -> None:
    ingest([Source(name, "\n".join(records).encode())], store)


def golden(name: str) -> str:
    return (ROOT / "tests/golden" / name).read_text(encoding="utf-8")


def rows(store: Store, sql: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = reading.fetch(store, sql).to_pylist()
    return found


def total(store: Store, *metrics: str) -> dict[str, Any]:
    [row] = run_queries.summary(store, Filters(), (), metrics).to_pylist()
    return dict(row)


@pytest.fixture(scope="module")
def mixed(read_once: StoreOnce) -> Store:
    """Five runs: two usual, one of an unpriced model, one without a model, one never started."""
    return read_once("numbers_mixed", lambda store: put(store, golden("mixed_runs.jsonl")))


# unpriced runs


def test_unpriced_runs_are_the_same_for_metric_share_finding_and_table(mixed: Store) -> None:
    found = total(mixed, "runs", "unpriced_runs", "unpriced_share")
    noticed = rows(
        mixed, "select run_id from findings where rule = 'cost_unpriced' order by run_id"
    )
    models = report_queries.unpriced_models(mixed, Filters()).to_pylist()
    assert (found["unpriced_runs"], found["unpriced_share"]) == (2, 0.4)
    assert [row["run_id"] for row in noticed] == ["c", "d"]
    assert {row["model-id"]: (row["runs"], row["cost_usd"]) for row in models} == {
        "a-model-of-ours": (1, 3),
        None: (1, 5),
    }


# the base of the list-price difference


def test_the_difference_to_list_prices_is_that_of_list_cost_to_the_base_beside_it(
    mixed: Store,
) -> None:
    found = total(mixed, "cost_usd", "cost_list_usd", "cost_delta_usd", "cost_compared_usd")
    assert found["cost_list_usd"] - found["cost_compared_usd"] == found["cost_delta_usd"]
    assert (found["cost_compared_usd"], found["cost_compared_usd_known"], found["cost_usd"]) == (
        Decimal("0.5"),
        2,
        Decimal("8.5"),
    )
    for row in model_queries.models(mixed, Filters()).to_pylist():
        assert (
            row["cost_list_usd"] is None
            or row["cost_list_usd"] - row["cost_compared_usd"] == row["cost_delta_usd"]
        )


# runs that never started


def test_a_run_that_never_started_is_counted_and_left_out_of_medians_and_means(
    mixed: Store,
) -> None:
    found = total(
        mixed,
        "runs",
        "never_started_runs",
        "cost_median_usd",
        "cost_mean_usd",
        "duration_median_ms",
        "turns_median",
    )
    assert (found["runs"], found["never_started_runs"]) == (5, 1)
    assert (found["cost_median_usd"], found["cost_median_usd_known"]) == (Decimal("1.625"), 4)
    assert (found["cost_mean_usd"], found["cost_mean_usd_known"]) == (Decimal("2.125"), 4)
    assert (found["duration_median_ms"], found["turns_median"]) == (60_000, 3)
    assert rows(mixed, "select run_id from v_runs where not is_started") == [{"run_id": "e"}]


# API time beyond belief


def test_api_time_beyond_the_wall_time_is_found_and_stays_out_of_figures_per_turn_and_hour(
    store: Store,
) -> None:
    usual = record_text(
        uuid="a",
        session_id="a",
        total_cost_usd=0.5,
        num_turns=5,
        duration_ms=3_600_000,
        duration_api_ms=36_000_000,
    )
    carried = record_text(
        uuid="b",
        session_id="b",
        total_cost_usd=5,
        num_turns=1,
        duration_ms=3_000,
        duration_api_ms=700_000,
    )
    put(store, usual, carried)
    [finding] = rows(
        store,
        (
            "select run_id, severity, expected, actual from findings where rule = "
            "'api_time_beyond_wall'"
        ),
    )
    assert (finding["run_id"], finding["severity"]) == ("b", "warning")
    assert finding["actual"] == "233.3 times: 700000 ms of API time in 3000 ms"
    found = total(store, "cost_per_turn_usd", "cost_per_hour_usd", "parallelism")
    assert (found["cost_per_turn_usd"], found["cost_per_turn_usd_known"]) == (Decimal("0.1"), 1)
    assert (found["cost_per_hour_usd"], found["cost_per_hour_usd_known"]) == (Decimal("0.5"), 1)
    assert found["parallelism_known"] == 2
    assert [
        row["cost_per_turn_usd"]
        for row in rows(store, "select cost_per_turn_usd from v_runs order by run_id")
    ] == [
        Decimal("0.1"),
        None,
    ]


def test_cumulative_api_time_of_a_stream_is_not_beyond_belief(store: Store) -> None:
    """The second result of a process has the API time of both, and the wall time of its own."""
    start = {"type": "system", "subtype": "init", "session_id": "s", "model": "claude-opus-4-6"}

    def result(uuid: str, cost: float, wall: int, api: int) -> str:
        usage = record()["modelUsage"]["claude-opus-4-6"] | {
            "costUSD": cost,
            "inputTokens": round(cost * 1000),
        }
        return record_text(
            uuid=uuid,
            session_id="s",
            total_cost_usd=cost,
            duration_ms=wall,
            duration_api_ms=api,
            modelUsage={"claude-opus-4-6": usage},
        )

    put(
        store,
        json.dumps(start),
        result("a", 0.5, 600_000, 300_000),
        result("b", 0.6, 4_000, 303_000),
    )
    assert [
        row["duration_api_own_ms"]
        for row in rows(store, "select duration_api_own_ms from v_runs order by run_id")
    ] == [300_000, 3_000]
    assert not rows(store, "select * from findings where rule = 'api_time_beyond_wall'")


# possible duplicates


def _doubts(store: Store) -> list[tuple[str, str, int]]:
    found = rows(
        store,
        "select run_id, message, runs.findings from findings join runs using (run_id)"
        " where rule in ('possible_duplicate', 'probable_copy') order by run_id",
    )
    return [(row["run_id"], row["message"], row["findings"]) for row in found]


def test_a_copy_of_a_record_without_its_id_is_found_in_any_order_and_after_a_rebuild(
    tmp_path: Path,
) -> None:
    with_id = record_text(uuid="with-id", session_id="s", modelUsage=...)
    without = json.dumps(
        {
            key: value
            for key, value in json.loads(with_id).items()
            if key not in ("uuid", "usage", "permission_denials")
        }
    )
    other = record_text(uuid="other", session_id="t", modelUsage=...)
    found = []
    for name, order in (("one", (with_id, without, other)), ("two", (other, without, with_id))):
        store = Store(tmp_path / f"{name}.duckdb")
        for number, text in enumerate(order if name == "one" else ("\n".join(order),)):
            put(store, text, name=str(number))
        found.append(_doubts(store))
    rebuild(store)
    found.append(_doubts(store))
    copy_id = next(run_id for run_id, _, _ in found[0] if run_id != "with-id")
    assert found == [found[0]] * 3
    messages = {run_id: message for run_id, message, _ in found[0]}
    assert messages.keys() == {"with-id", copy_id}
    assert f"Run {copy_id[:8]}… has the same session" in messages["with-id"]
    assert "Run with-id has the same session" in messages[copy_id]
    [counted] = {findings for run_id, _, findings in found[0] if run_id == "with-id"}
    assert counted >= 1
    assert rows(store, "select run_id from runs where is_copy") == [{"run_id": copy_id}]


def test_thousands_of_copies_are_found_in_little_memory(store: Store) -> None:
    """A message lists the first of them only.

    A list of all for each is more than a commit may take, and nothing would be stored.
    """
    put(store, record_text(uuid="0", session_id="s"))
    with store.writing() as writer:
        writer.connection.execute("set memory_limit = '500MB'")
        writer.connection.execute(
            "insert into runs select runs.* replace (number::varchar as run_id) from runs, "
            "range(1, 20000) as _(number)"
        )
        note_cross_checks(writer.connection, "select run_id from runs")
    doubts = _doubts(store)
    assert len(doubts) == 20000
    assert doubts[0][1].startswith(
        "Run 1, 10, 100, 1000, 10000 and 19994 more have the same session"
    )
    assert doubts[-1][1].startswith("Run 0, 1, 10, 100, 1000 and 19994 more have")


# dates


@pytest.fixture(scope="module")
def copied(read_once: StoreOnce) -> Store:
    """A run whose path has a date, and one whose file has a modification time only.

    To be read only.
    """

    def fill(store: Store) -> None:
        folder = Path(store.location).parent
        dated, copied = folder / "run_2026-03-19_02-03-27.log", folder / "copied.json"
        dated.write_text(record_text(uuid="dated", session_id="a", total_cost_usd=1))
        copied.write_text(record_text(uuid="copied", session_id="b", total_cost_usd=2))
        for file in (dated, copied):
            os.utime(file, (COPY_DATE, COPY_DATE))
        ingest_paths(store, dated, copied)

    return read_once("dated-and-copied", fill)


@pytest.mark.parametrize(
    ("by", "day"), [("day", "2026-03-19"), ("week", "2026-W12"), ("month", "2026-03")]
)
def test_a_run_that_only_its_file_dates_is_in_the_group_of_unknown_dates(
    copied: Store, by: str, day: str
) -> None:
    found = run_queries.summary(copied, Filters(), (by,), ("runs", "cost_usd")).to_pylist()
    assert [(row[by], row["runs"], row["cost_usd"]) for row in found] == [(day, 1, 1), (None, 1, 2)]


def test_reports_and_exports_say_how_many_runs_have_no_date_and_what_they_cost(
    copied: Store,
) -> None:
    made = report(copied, ReportRequest(by=("month",)))
    said = "No date: 1 run ($2.00). No day, week or month includes them."
    assert made.header.undated.startswith(said)
    assert "may be the copy date" in made.header.undated
    assert made.header.coverage["last_at"] == datetime(2026, 3, 19, 2, 4, 27, tzinfo=UTC)
    for name in ("md", "html"):
        assert said in EXPORTS[name].write_report(made).decode().replace("\\", "")
    whole = simplejson.loads(EXPORTS["json"].write_report(made), use_decimal=True)["report"]
    assert (
        whole["undated_runs"],
        whole["undated_usd"],
        whole["file_dated_runs"],
        whole["timed_runs"],
    ) == (1, 2, 1, 1)
    [*_, last] = simplejson.loads(EXPORTS["json"].write_report(made), use_decimal=True)["groups"]
    assert (last["month"], last["cost_usd"]) == (None, 2)


def test_the_command_warns_of_unknown_dates_beside_any_format(
    tachograph: Run, copied: Store
) -> None:
    by_day = tachograph("report --by day --format csv --db", copied.location)
    assert "No date: 1 run" in by_day.stderr
    assert (
        "No date" not in tachograph("report --by model --format csv --db", copied.location).stderr
    )


def test_a_check_of_days_leaves_out_and_tells_runs_without_a_date(copied: Store) -> None:
    [verdict] = check(copied, Filters(), {"max-day-usd": Decimal("1.5")}).verdicts
    assert verdict.passed
    assert verdict.found == 1
    assert (
        verdict.note
        == "On 2026-03-19; based on 1 of 2 runs; no date for 1 run ($2.00), counted on no day."
    )
    assert (verdict.as_dict()["undated_runs"], verdict.as_dict()["undated_usd"]) == (1, 2)


def test_a_check_of_days_without_any_date_has_not_passed(tmp_path: Path, store: Store) -> None:
    (tmp_path / "copied.json").write_text(record_text())
    ingest_paths(store, tmp_path / "copied.json")
    [verdict] = check(store, Filters(), {"max-day-usd": Decimal(100)}).verdicts
    assert not verdict.passed
    assert "dates are unknown" in verdict.note


@pytest.mark.parametrize(
    "period",
    [{"since": ["2026-03"]}, {"until": ["2027-01"]}, {"since": ["2026-11"], "until": ["2026-12"]}],
)
def test_a_period_leaves_out_runs_without_a_date_and_says_so(
    copied: Store, period: dict[str, list[str]]
) -> None:
    """The modification time of the file is in each of these periods."""
    filters = choose(period)
    found = run_queries.runs(copied, filters)["run_id"].to_pylist()
    assert "copied" not in found
    assert reading.left_out(copied, filters) == (1, Decimal(2), "")
    assert not reading.undated(copied, filters).runs
    said = "1 run without a recorded date ($2.00) is in no period and left out."
    assert (
        said in EXPORTS["md"].write_report(report(copied, ReportRequest(filters=filters))).decode()
    )
    assert check(copied, filters, {"max-total-usd": Decimal(1)}).left_out == said


def test_without_a_period_nothing_is_left_out(copied: Store) -> None:
    assert reading.left_out(copied, Filters()) == (0, None, "")


def test_what_undated_runs_cost_is_one_figure_everywhere(tmp_path: Path, tachograph: Run) -> None:
    """One run reports its cost, of one only the responses before it was cut off are known.

    The best-known cost is a lower bound.
    """
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "reported.json").write_text(record_text(session_id="done"))
    used = {
        "input_tokens": 60_000,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 4_000,
    }
    message: dict[str, Any] = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-4-6",
        "stop_reason": None,
        "content": [],
        "usage": used,
    }
    init = {
        "type": "system",
        "subtype": "init",
        "session_id": "cut",
        "tools": ["Bash"],
        "mcp_servers": [],
        "permissionMode": "default",
    }
    events = [init, {"type": "assistant", "message": message, "session_id": "cut"}]
    (tmp_path / "logs" / "cut.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in events))
    tachograph("ingest logs")
    usd, said = Decimal("0.65"), "2 runs without a recorded date (≥\u00a0$0.65)"
    [facts] = [json.loads(tachograph("report --format json").stdout, parse_float=Decimal)["report"]]
    assert (facts["undated_runs"], facts["undated_usd"], facts["undated_bounds"]) == (
        2,
        usd,
        "lower_bound",
    )
    assert "2 runs (≥\u00a0$0.65)" in tachograph("report").stdout
    since = "--since 2000-01"
    for words in (
        "report --format focus",
        f"runs {since}",
        f"check --max-total-usd 9 --allow-empty {since}",
    ):
        assert said in tachograph(words).stderr
    judged = json.loads(
        tachograph("check --max-day-usd 9 --format json").stdout, parse_float=Decimal
    )
    assert (judged["limits"][0]["undated_usd"], judged["limits"][0]["undated_bounds"]) == (
        usd,
        "lower_bound",
    )
    assert "2 runs without a date (≥\u00a0$0.65)" in tachograph(f"usage {since}").stderr


def test_whoever_trusts_the_times_of_files_has_dates(tmp_path: Path, tachograph: Run) -> None:
    log = tmp_path / "run.json"
    log.write_text(record_text(uuid="fresh", total_cost_usd=2))
    os.utime(log, (COPY_DATE, COPY_DATE))
    tachograph("ingest", str(log), "--trust-file-times")
    [run] = json.loads(tachograph("runs --since 2026-11 --format json").stdout)
    assert (run["time_source"], run["dated_at"][:10]) == ("trusted_file", "2026-11-18")
    assert tachograph("check --max-day-usd 3").returncode == 0
    tachograph("rebuild")
    assert [run] == json.loads(tachograph("runs --format json").stdout)


def test_only_files_that_were_written_while_somebody_watched_have_trusted_times(
    store: Store, tmp_path: Path
) -> None:
    for name, time in (("copied", COPY_DATE - 1), ("written", COPY_DATE)):
        (tmp_path / name).write_text(record_text(uuid=name))
        os.utime(tmp_path / name, (time, time))
    ingest(
        read_paths([tmp_path / "copied", tmp_path / "written"]),
        store,
        Options(trusted_since=datetime.fromtimestamp(COPY_DATE, UTC)),
    )
    found = {
        row["run_id"]: row["time_source"]
        for row in rows(store, "select run_id, time_source from runs")
    }
    assert found == {"copied": "file", "written": "trusted_file"}


def test_trusted_times_of_files_in_archives_are_dates_too(tmp_path: Path, tachograph: Run) -> None:
    with zipfile.ZipFile(tmp_path / "runs.zip", "w") as archive:
        archive.writestr(
            zipfile.ZipInfo("run.json", (2026, 11, 18, 9, 0, 0)),
            record_text(uuid="packed", total_cost_usd=2),
        )
    tachograph("ingest", str(tmp_path / "runs.zip"), "--trust-file-times")
    [run] = json.loads(tachograph("runs --since 2026-11 --format json").stdout)
    assert (run["time_source"], run["dated_at"]) == ("trusted_file", "2026-11-18T09:00:00Z")


def _cost(store: Store, filters: Filters) -> Decimal | None:
    [usd] = run_queries.summary(store, filters, (), ("cost_usd",))["cost_usd"].to_pylist()
    return usd  # type: ignore[no-any-return]


def _copies(store: Store) -> list[str]:
    return [
        row["run_id"]
        for row in rows(store, "select run_id from runs where is_copy order by run_id")
    ]


def test_a_report_says_what_its_total_may_count_twice(store: Store) -> None:
    usual = {"session_id": "s", "total_cost_usd": 2, "duration_ms": 5000, "num_turns": 3}
    put(
        store,
        record_text(uuid="one", **usual),
        record_text(uuid=..., **usual),
        record_text(uuid="two", session_id="t", total_cost_usd=1),
    )
    assert _cost(store, Filters()) == 3
    assert "1 probably copied run is not counted." in report(store, ReportRequest()).first.notes
    assert _cost(store, EVERY_RUN) == 5
    assert "1 run is probably a copy of others: $2.00 may be counted twice" in "\n".join(
        report(store, ReportRequest(EVERY_RUN)).first.notes
    )


def test_of_copies_one_that_is_not_excluded_is_counted(store: Store) -> None:
    usual = {"session_id": "s", "total_cost_usd": 2, "duration_ms": 5000, "num_turns": 3}
    put(store, record_text(uuid="one", **usual), record_text(uuid=..., **usual))
    [copy] = _copies(store)
    annotate(store, ["one"], Change(excluded=True))
    assert (_copies(store), _cost(store, Filters()), reading.uncounted(store, Filters())) == (
        [],
        Decimal(2),
        (1, 0),
    )
    annotate(store, [copy], Change(excluded=True))
    assert (_cost(store, Filters()), reading.uncounted(store, Filters())) == (None, (2, 0))
    annotate(store, ["one", copy], Change(excluded=False))
    assert (_copies(store), _cost(store, Filters()), reading.uncounted(store, Filters())) == (
        [copy],
        Decimal(2),
        (0, 1),
    )
    undo(store, 1)
    assert _copies(store) == []


def test_lists_mark_a_time_that_is_only_the_files(copied: Store) -> None:
    shown = grid(
        run_queries.runs(copied, Filters()), Listing(RUNS.of, ("run_id", "time_source"))
    ).rows.to_pylist()
    assert {row["run_id"]: row["time_source"] for row in shown} == {
        "copied": "file modification time",
        "dated": "file path",
    }
    listed = for_people(results.runs(copied, Filters(), None)).to_pylist()
    assert {row["run_id"]: row["time_source"] for row in listed} == {
        "copied": "file",
        "dated": "path",
    }


# one figure on screens, charts and the terminal


def test_the_difference_names_its_base(mixed: Store) -> None:
    [row] = run_queries.summary(
        mixed, Filters(), (), ("runs", "cost_delta_usd", "cost_compared_usd")
    ).to_pylist()
    assert base_words(row) == "vs. $0.50 reported, 2 runs"
    shown = report(mixed, ReportRequest(by=("model",))).section("groups").table.column_names
    assert (
        shown.index("cost_compared_usd") - shown.index("cost_delta_usd") == 2
    )  # with how many runs it rests on between


def test_doctor_and_report_say_the_same_of_cost_without_a_model(mixed: Store) -> None:
    [*_, rest] = [finding.found for finding in examine(mixed) if finding.subject == "cost"]
    assert rest == "$5.00 of 1 run has no model attribution"
    assert (
        "$5.00 of 1 run has no model attribution."
        in report(mixed, ReportRequest()).section("models").note
    )


# the cost of odd runs, everywhere


def _odd(store: Store) -> None:
    """Runs whose totals and models disagree, also in a chain.

    That cost nothing, $0 for tokens, or an unknown part; and a bound.
    """
    for name in ("chain.jsonl", "runs.jsonl", "gateway.json", "bound.json"):
        put(store, golden(f"odd_{name}"), name=name)


GATEWAY = str(json.loads(golden("odd_gateway.json"))["info"]["id"])
ODD_USD = sum(map(Decimal, "1.9 0.25 1.47 1 5 0.4 2 0.25".split()))
ODD_BEYOND = Decimal("1.4") + Decimal("1.17")


@pytest.fixture(scope="module")
def odd(read_once: StoreOnce) -> Store:
    return read_once("odd_costs", _odd)


def test_each_odd_run_costs_what_its_figures_prove(odd: Store) -> None:
    found = rows(
        odd,
        (
            "select run_id, cost_own_usd, cost_beyond_total_usd as beyond from v_runs where "
            "agent = 'claude-code' order by run_id"
        ),
    )
    assert {row["run_id"]: (row["cost_own_usd"], row["beyond"]) for row in found} == {
        "chain-1": (Decimal("1.47"), Decimal("1.17")),
        "chain-2": (Decimal("0.43"), Decimal("0.23")),
        "free": (0, None),
        "half": (2, None),
        "idle": (0, None),
        "killed": (Decimal("1.47"), Decimal("1.17")),
        "nameless": (5, None),
        "part": (1, None),
        "untotalled": (Decimal("0.4"), None),
        "usual": (Decimal("0.25"), None),
        "zero": (None, None),
    }
    logged = rows(odd, "select run_id from v_runs where cost_reported_usd is null order by run_id")
    assert [row["run_id"] for row in logged] == sorted(["untotalled", "zero", GATEWAY])
    noticed = rows(
        odd,
        (
            "select rule, list_sort(list(run_id)) as runs from findings where rule in "
            "('cost_sum', 'zero_cost') group by rule"
        ),
    )
    assert {row["rule"]: row["runs"] for row in noticed} == {
        "cost_sum": ["chain-1", "chain-2", "killed", "part"],
        "zero_cost": sorted(["half", "zero", GATEWAY]),
    }


def test_a_rebuild_and_another_order_give_the_same_costs(odd: Store, tmp_path: Path) -> None:
    costs = (
        "select run_id, cost_own_usd, cost_reported_usd, cost_beyond_total_usd from runs order "
        "by run_id"
    )
    other = Store(tmp_path / "other.duckdb")
    shutil.copy(odd.location, other.location)
    rebuild(other)
    assert rows(other, costs) == rows(odd, costs)


def test_every_place_says_the_same_of_what_odd_runs_cost(
    odd: Store, tachograph: Run, screens: Callable[..., AppTest], tmp_path: Path
) -> None:
    """Odd runs cost the same in every place.

    Places: the report, its groups and exports, lists of runs and models, budgets, usage, MCP,
    Python, the charts and the Overview.
    """
    made, everything = report(odd, ReportRequest(by=("agent",), cost="reported")), Filters()
    [whole] = made.section("totals").table.to_pylist()
    assert (whole["cost_usd"], whole["cost_beyond_total_usd"]) == (ODD_USD, ODD_BEYOND)
    sums = {
        name: sum(filter(None, table["cost_usd"].to_pylist()))
        for name, table in {
            "agent": made.section("groups").table,
            "models": made.section("models").table,
            "all models": model_queries.models(odd, everything, by=()),
            **{
                by: run_queries.summary(odd, everything, (by,), ("cost_usd",))
                for by in ("model", "day", "repo", "outcome", "cause")
            },
        }.items()
    }
    sums["runs"] = sum(filter(None, run_queries.runs(odd, everything)["cost_own_usd"].to_pylist()))
    sums["top models"] = sum(share.usd for share in made.first.tops[0].shares)
    allowed = {"max-total-usd": Decimal(1), "max-run-usd": Decimal(5)}
    [verdict, single] = check(odd, everything, allowed, measure=REPORTED).verdicts
    sums["budget"] = verdict.found
    used = usage(odd, UsageRequest(by=("model",)))
    sums["usage"] = used.total["cost_reported_usd"][0].as_py()
    sums["usage by model"] = sum(filter(None, used.table["cost_reported_usd"].to_pylist()))
    reported = report(odd, ReportRequest(cost="reported"))
    sums |= {
        name: read(EXPORTS[name].write_report(reported))["cost_usd"]
        for name, read in READERS.items()
        if name in EXPORTS and name not in ("md", "latex")  # which round
    }
    library = open_store(odd.location)
    sums["python"] = library.report().sections["totals"].to_pylist()[0]["cost_usd"]
    sums["python runs"] = sum(row["cost_own_usd"] or 0 for row in library.runs().to_pylist())
    sums["python models"] = sum(row["cost_usd"] or 0 for row in library.models().to_pylist())
    [answer] = asked(odd.location, ("cost_report", {}))
    sums["mcp"] = Decimal(str(answer.structured_content["data"]["totals"]["cost_usd"]))
    listed = simplejson.loads(
        tachograph("models --format json --db", odd.location).stdout, use_decimal=True
    )
    sums["models, printed"] = sum(row["cost_usd"] or 0 for row in listed)
    assert sums == dict.fromkeys(sums, ODD_USD)
    assert single.found == 5
    shares = [
        share.share for top in made.first.tops for share in top.shares if share.share is not None
    ]
    assert max(shares) <= 1
    for screen in ("screens/overview.py", "screens/cost.py"):
        assert usd(ODD_USD) in "".join(
            element.proto.body
            for element in screens(odd.location, screen, cost="reported", month="all").get("html")
        )


def test_a_report_says_what_is_beyond_totals_and_what_zero_is(odd: Store) -> None:
    notes = "\n".join(report(odd, ReportRequest()).first.notes)
    assert (
        "The models of 3 runs cost $2.57 more than their totals, which counts (finding cost_sum)."
        in notes
    )
    assert (
        "2 runs report $0 for tokens that cost something: their cost is unknown (finding "
        "zero_cost)."
    ) in notes
    assert (
        "1 run cost more than reported: $0 for the tokens of some models (finding zero_cost)."
        in notes
    )
    assert "1 run used a model behind a gateway" in notes


def test_a_sum_with_a_bound_in_it_is_a_bound(odd: Store) -> None:
    """In each total, group and list, and not in what agents report."""
    [whole] = run_queries.summary(odd, Filters(), (), ("cost_list_usd", "token_bounds")).to_pylist()
    assert whole["token_bounds"] == "lower_bound"
    sum_ = f"≥\u00a0{short(whole['cost_list_usd'], Unit.USD)}"
    made = report(odd, ReportRequest(by=("agent",), cost="list"))
    page = EXPORTS["md"].write_report(made).decode()
    assert page.count(sum_) >= 2, "the first page and the total of the groups"
    assert (
        "≥\u00a0$"
        not in EXPORTS["md"]
        .write_report(report(odd, ReportRequest(by=("agent",))))
        .decode()
        .split("## Details")[0]
    )
    listed = for_people(answer := results.runs(odd, Filters(), None, "list"))
    [cost] = [column for column in columns(listed, answer.of) if column.name == "cost_list_usd"]
    assert sum(cost.text(row) == "≥\u00a0$0" for row in listed.to_pylist()) == 1
    assert (
        bound_sign(whole | {"token_bounds": "lower_bound, upper_bound"}, "cost_list_usd")
        == "≈\u00a0"
    )


# one meaning each: what two places said differently


def test_claims_are_counted_once(store: Store) -> None:
    """In the metric, the count, the list and a file.

    What a summary cites of others is no claim of its own.
    """
    put(
        store,
        record_text(
            result="The sort is 2x faster. The paper reports a 3x speedup of its own method.",
            uuid="a",
            session_id="a",
        ),
    )
    with store.writing() as writer:
        writer.connection.execute(
            "insert into claims select * replace (claim_no + 100 as claim_no, 'cited' as "
            "origin) from claims"
        )
    counted = total(store, "claims")["claims"]
    listed = results.claims(store, Filters(), ("quantified",), None)
    assert (
        counted
        == claim_queries.count_claims(store, Filters(), ("quantified",))[0]
        == listed.table.num_rows
        > 0
    )
    assert f"{counted} claim" in listed.heading


def test_a_wall_time_is_known_for_as_many_runs_everywhere(mixed: Store) -> None:
    """A run that never started took no time.

    It is in no total, no median and no share of what is known.
    """
    known = quality.by_agent(mixed, Filters())[0].known["wall"]
    found = total(mixed, "duration_ms", "cost_usd", "cost_best_usd", "duration_median_ms")
    assert (
        known
        == found["duration_ms_known"]
        == found["cost_usd_known"]
        == found["cost_best_usd_known"]
        == 4
    )
    assert found["duration_median_ms_known"] == 4


def test_a_faster_run_costs_the_same_in_verdicts_report_and_groups(measured: Store) -> None:
    whole = measured_queries.totals(measured, Filters())
    assert whole is not None
    first = report(measured, ReportRequest()).first.as_dict()["measured"]["cost_per_faster_usd"]
    answer = results.verdict_groups(measured, Filters(), ("repo",))
    assert answer.total is not None
    listed = answer.total["cost_per_faster_usd"].to_pylist()[0]
    grouped = total(measured, "cost_best_usd")["cost_best_usd"] / whole["runs_faster"]
    assert whole["cost_per_faster_usd"] == first == listed == grouped.quantize(first)


def test_what_became_of_measurements_adds_up(measured: Store) -> None:
    """Each run once: in the classes, and in the verdicts."""
    counts = {
        row["measured_class"]: row["n"]
        for row in rows(measured, "select measured_class, count(*) as n from v_verdicts group by 1")
    }
    whole = measured_queries.totals(measured, Filters())
    assert whole is not None
    assert sum(counts.values()) == whole["runs"]
    assert sum(counts.get(key, 0) for key in ("faster", "same", "slower")) == whole["runs_compared"]


@pytest.fixture(scope="module")
def measured(read_once: StoreOnce) -> Store:
    return read_once("measured-runs", fill_measured)


def _costing(day: str, *costs: float | None) -> list[Source]:
    """Runs of a day with these reported costs; one without a cost has tokens alone."""
    usage = {
        "inputTokens": 1000,
        "outputTokens": 100,
        "cacheReadInputTokens": 0,
        "cacheCreationInputTokens": 0,
    }
    sources = []
    for number, cost in enumerate(costs):
        name = f"{day}-{number}"
        begun = json.dumps({"type": "user", "timestamp": f"{day}T12:00:00Z", "session_id": name})
        told = {"claude-opus-4-6": usage | ({"costUSD": cost} if cost else {})}
        text = record_text(uuid=name, session_id=name, total_cost_usd=cost or ..., modelUsage=told)
        sources.append(Source(name, f"{begun}\n{text}".encode()))
    return sources


CHANGES: dict[int, tuple[tuple[float, ...], tuple[float | None, ...], str]] = {
    2021: ((1, 1, 1, 1, 1), (2, 2, 2, 2, 2), "+100%"),
    2022: ((1,), (2, 2, 2, 2, 2), ""),
    2023: ((1, 1, 1, 1), (2, 2, 2, 2), ""),
    2024: ((1, 1, 1, 1, 1), (None, None, None, None, None), ""),
}
"""Year → costs of a month and of the next, and the change that is said."""


def test_a_change_in_percent_rests_on_five_costs_of_one_kind(store: Store) -> None:
    """+16869.2 % came from one run of the month before."""
    days = (
        (f"{year}-0{month}-10", CHANGES[year][month - 1]) for year in CHANGES for month in (1, 2)
    )
    ingest([source for day, costs in days for source in _costing(day, *costs)], store)
    for year, (before, after, share) in CHANGES.items():
        sides = (
            choose({"since": f"{year}-01", "until": f"{year}-02"}),
            choose({"since": f"{year}-02", "until": f"{year}-03"}),
        )
        first = report(store, ReportRequest(sides[1])).first
        assert (
            f"({share})" in first.figures[1].value if share else "%" not in first.figures[1].value
        )
        said = totals_words(two_totals((store, sides[0]), (store, sides[1])))
        # list prices are known on both sides, where five runs are
        assert (
            share in said
            if share
            else "%" not in said
            or ("at list prices" in said and min(len(before), len(after)) == FEWEST_VALUES)
        )
