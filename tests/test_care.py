"""Looking after runs: labels, notes, stars and exclusions, from command line to every number."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from app.queries import claims as claim_queries
from app.queries import models as model_queries
from app.queries import quality as quality_queries
from app.queries import reading, run_page
from app.queries import runs as run_queries
from app.queries import runs as screen_queries
from app.queries.filters import NO_FILTERS, Filters, choose
from app.queries.reading import read_transaction
from app.queries.usage import UsageRequest, usage
from app.reports.budgets import check
from app.reports.cost_report import ReportRequest, report
from ingest.pipeline import ingest
from ingest.sources.files import Source
from ingest.store.annotations import Change, annotate
from ingest.store.database import Store
from ingest.store.rebuild import rebuild
from ingest.store.undo import undo
from schemas.errors import StoreError, UsageError
from schemas.numbers import decimal
from tests.conftest import FILE, SAMPLES, Run, fetched, ingest_paths, record_text

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

RUN = "5e0c031e-eef9-49db-91be-235c0b535201"
OTHERS = ["e0907656-0f88-4d94-a707-0a29685a0799", "f7ae19ec-21c0-43c6-982f-dcd845ef4ac1"]
ALL = choose({"excluded": "all"})


def run(store: Store, run_id: str = RUN) -> dict[str, Any]:
    found = run_queries.run(store, run_id)
    assert found is not None
    return found


def said(store: Store, run_id: str = RUN) -> tuple[Any, ...]:
    found = run(store, run_id)
    return (
        found["labels"],
        found["repo"],
        found["note"],
        found["starred"],
        found["excluded"],
        found["excluded_reason"],
    )


def heading(app: AppTest) -> str:
    """Return the HTML of a screen's first lines."""
    bodies = (str(html.proto.body) for html in app.get("html"))
    return next(body for body in bodies if body.startswith("<h1"))


def test_labels_take_the_place_of_ingested_ones_and_can_hide_them(
    store: Store, samples_read: Callable[..., Path]
) -> None:
    shutil.copy(samples_read(team="a", repo="vllm"), store.location)
    assert annotate(store, [RUN], Change({"team": "b", "kind": "night"}, ("repo",))) == 1
    assert said(store)[:2] == ({"kind": "night", "team": "b"}, None)
    assert said(store, OTHERS[0])[:2] == ({"repo": "vllm", "team": "a"}, "vllm")
    annotate(store, [RUN], Change({"repo": "sglang"}, ("team", "kind", "never")))
    assert said(store)[:2] == ({"repo": "sglang"}, "sglang")
    assert [
        row["run_id"] for row in run_queries.runs(store, choose({"repo": "sglang"})).to_pylist()
    ] == [RUN]
    groups = run_queries.summary(store, NO_FILTERS, ("repo",), ("runs",)).to_pylist()
    assert {row["repo"]: row["runs"] for row in groups} == {"vllm": 2, "sglang": 1}
    assert screen_queries.options_by_filter(store, 10)["project"] == {"vllm": 2, "sglang": 1}


@pytest.mark.slow
def test_what_people_say_survives_rebuild_reingest_and_undo(sample_store: Store) -> None:
    everything = Change(
        {"team": "b"}, note="warm cache", starred=True, excluded=True, reason="wrong model"
    )
    annotate(sample_store, [RUN], everything)
    before = said(sample_store)
    assert before == ({"team": "b"}, None, "warm cache", True, True, "wrong model")
    rebuild(sample_store)
    assert said(sample_store) == before
    undo(sample_store, 1)
    assert run_queries.run(sample_store, RUN) is None
    ingest_paths(sample_store, SAMPLES)
    assert said(sample_store) == before
    annotate(sample_store, [RUN], Change(removed=("team",), note="", starred=False, excluded=False))
    assert fetched(sample_store, "select count(*) from annotations") == [(0,)]


def dates(store: Store, *run_ids: str) -> list[tuple[Any, Any]]:
    return [
        (found["time_source"], found["dated_at"])
        for found in (run(store, run_id) for run_id in run_ids)
    ]


def test_a_date_by_hand_counts_wherever_a_date_does_and_can_be_taken_back(
    tmp_path: Path, store: Store
) -> None:
    """Also through rebuild, undo and ingest, and against the date of a log, which stays beside."""
    logs = tmp_path / "bare.json", tmp_path / "out_2026-01-27_15-16-21.json"
    logs[0].write_text(record_text(uuid="bare", total_cost_usd=2))
    logs[1].write_text(record_text(uuid="told", total_cost_usd=1))
    ingest_paths(store, *logs)
    undated, told = dates(store, "bare", "told")
    assert (undated, told[0]) == (("file", None), "path")
    november = choose({"since": "2026-11-01", "until": "2026-11-02"})
    assert annotate(store, ["bare", "told"], Change({"date": "2026-11-01"})) == 2
    for again in (
        lambda: rebuild(store),
        lambda: undo(store, 1),
        lambda: ingest_paths(store, *logs),
    ):
        again()
        if run_queries.run(store, "bare"):
            for source, at in dates(store, "bare", "told"):
                assert (source, at.date().isoformat()) == ("label", "2026-11-01")
            assert run(store, "told")["logged_at"] == told[1]
            assert sorted(run_queries.ids(store, november)) == ["bare", "told"]
    annotate(store, ["told"], Change({"date": ""}))
    months = report(store, ReportRequest(by=("month",))).section("groups").table.to_pylist()
    assert {row["month"]: row["cost_usd"] for row in months} == {"2026-01": 1, "2026-11": 2}
    days = run_queries.summary(store, NO_FILTERS, ("day",), ("runs",), "Pacific/Honolulu")
    assert "2026-11-01" in days["day"].to_pylist()
    used = usage(store, UsageRequest(by=("day",))).table.to_pylist()
    assert {row["day"]: row["cost_reported_usd"] for row in used} == {
        "2026-01-27": 1,
        "2026-11-01": 2,
    }
    annotate(store, ["bare"], Change({"date": ""}))
    assert dates(store, "bare", "told") == [undated, told]
    annotate(store, ["bare"], Change({"date": "2026-11-01T01:00+02:00"}))
    assert (run(store, "bare")["labels"], run(store, "bare")["started_at"].day) == (
        {"date": "2026-11-01T01:00:00+02:00"},
        31,
    )


@pytest.mark.parametrize(
    "text", ["soon", "2026-13-01", "2026-11", "1970-01-01", "9999-12-31T23:00-05:00"]
)
def test_what_is_no_date_is_refused_and_nothing_changes(sample_store: Store, text: str) -> None:
    with pytest.raises(UsageError, match="the label date takes a day or a time"):
        annotate(sample_store, [RUN], Change({"date": text, "team": "a"}))
    assert run(sample_store)["labels"] == {}


def test_the_prices_are_those_of_a_date_by_hand(tmp_path: Path, store: Store) -> None:
    """o3 cost $10 per million until 2025-06-09, then $2."""
    model = {
        "o3": {
            "inputTokens": 1_000_000,
            "outputTokens": 0,
            "cacheReadInputTokens": 0,
            "cacheCreationInputTokens": 0,
        }
    }
    (tmp_path / "bare.json").write_text(
        record_text(uuid="bare", modelUsage=model, total_cost_usd=None)
    )
    ingest_paths(store, tmp_path / "bare.json")
    costs = []
    for day in ("2025-06-01", "2026-11-01", "2025-06-01", ""):
        annotate(store, ["bare"], Change({"date": day}))
        costs.append(run(store, "bare")["cost_list_usd"])
    assert costs[0] == costs[2] != costs[1] == costs[3]


@pytest.mark.slow
def test_an_annotation_says_who_changed_it_and_the_same_again_changes_nothing(
    sample_store: Store,
) -> None:
    assert annotate(sample_store, [RUN], Change(note="x"), "ann@example.org") == 1
    assert annotate(sample_store, [RUN], Change(note="x"), "bob@example.org") == 0
    assert fetched(sample_store, "select changed_by from annotations") == [("ann@example.org",)]


def figures(store: Store, filters: Filters) -> list[Any]:
    """An answer of every question about runs."""
    with read_transaction(store, copy_at=1) as transaction:
        return _figures(transaction, filters)


def _figures(store: Store, filters: Filters) -> list[Any]:
    limits = {"max-total-usd": decimal("5")}
    return [
        run_queries.summary(store, filters, (), ("runs", "cost_usd")).to_pylist(),
        model_queries.models(store, filters).to_pylist(),
        sorted(run_queries.runs(store, filters)["run_id"].to_pylist()),
        claim_queries.claims(store, filters)["run_id"].to_pylist(),
        claim_queries.count_claims(store, filters),
        claim_queries.findings(store, filters).num_rows,
        quality_queries.by_agent(store, filters)[0],
        check(
            store, filters, {key: value for key, value in limits.items() if value is not None}
        ).runs,
        report(store, ReportRequest(filters)).section("totals").table["runs"].to_pylist(),
    ]


@pytest.mark.slow
def test_excluded_runs_are_counted_nowhere_unless_asked(
    sample_store: Store, tmp_path: Path
) -> None:
    store = sample_store
    without = Store(tmp_path / "without.duckdb")
    ingest_paths(without, *(path for path in SAMPLES.iterdir() if RUN not in path.read_text()))
    whole = figures(store, NO_FILTERS)
    annotate(store, [RUN], Change(excluded=True))
    assert figures(store, NO_FILTERS) == figures(without, NO_FILTERS) != whole
    assert figures(store, ALL) == whole
    assert run_queries.ids(store, choose({"excluded": "only"})) == [RUN]
    assert reading.uncounted(store, NO_FILTERS) == (1, 0)
    assert reading.uncounted(store, ALL) == (0, 0)
    assert screen_queries.options_by_filter(store, 10)["agent"] == {"claude-code": 2}


def test_a_search_finds_excluded_runs_where_they_are_asked_for(sample_store: Store) -> None:
    annotate(sample_store, [RUN], Change(excluded=True))
    with read_transaction(sample_store) as transaction:
        found = [
            run_queries.ids(
                transaction, transaction.searched(choose({"search": "3.17x", "excluded": words}))
            )
            for words in ("no", "only")
        ]
    assert found == [[], [RUN]]


@pytest.mark.slow
def test_a_task_given_by_hand_is_the_title(sample_store: Store) -> None:
    """And an excluded run is still found by the beginning of its id."""
    annotate(sample_store, [RUN], Change({"task": "Faster grammars"}, excluded=True))
    found = run_page.find(sample_store, "5e0c")
    assert found.candidates == (run_page.RunCandidate(RUN, "Faster grammars"),)


def test_labels_note_star_and_exclusion_in_the_terminal(tachograph: Run, filled: Path) -> None:
    said = [
        tachograph("label 5e0c031e team=kernels --remove branch").stderr,
        tachograph("note 5e0c031e", "warm cache").stderr,
        tachograph("star 5e0c031e e0907656").stderr,
        tachograph("exclude f7ae --reason", "wrong model").stderr,
    ]
    assert [text.splitlines()[0] for text in said] == [
        "Labelled 1 run",
        "Noted on 1 run",
        "Starred 2 runs",
        "Excluded 1 run",
    ]
    title = "I have successfully optimized the MLA attention performance in the vLLM codebase"
    assert said[0].splitlines()[1:] == [f"  5e0c031e  {title}"]
    assert [line[:12] for line in said[2].splitlines()[1:]] == ["  5e0c031e  ", "  e0907656  "]
    done = tachograph("runs --starred --format json")
    assert {
        row["run_id"][:8]: (row["labels"], row["note"], row["starred"])
        for row in json.loads(done.stdout)
    } == {
        "5e0c031e": ({"team": "kernels"}, "warm cache", True),
        "e0907656": ({"branch": "main"}, None, True),
    }
    for command in (("check", "--max-total-usd", "50"), ("claims",)):
        assert (
            "1 excluded run is not counted. Count them with --excluded all."
            in tachograph(*command).stderr
        )
    reported = tachograph("report")
    assert "1 excluded run is not counted. Count them with --excluded all." in reported.stderr
    assert "1 excluded run is not counted." in reported.stdout
    assert "not counted" not in tachograph("runs --excluded all").stderr


def test_bulk_changes_say_how_many_runs_and_ask(tachograph: Run, filled: Path) -> None:
    refused = tachograph("label --label branch=main quarter=Q4")
    assert (
        refused.returncode,
        "This changes 3 runs (--label branch=main)" in refused.stderr,
        "--yes" in refused.stderr,
    ) == (2, True, True)
    assert refused.stderr.splitlines()[1:] == [
        "Error: add --yes to change them.",
        "Nothing was changed.",
    ]
    assert tachograph("label --label branch=main quarter=Q4 --yes").stderr.startswith(
        "Labelled 3 runs\n  5e0c031e  "
    )
    assert json.loads(tachograph("report --by label:quarter --brief --format json").stdout)
    assert tachograph("exclude --label branch=main --yes").stderr.startswith(
        "Excluded 3 runs (no reason given)\n"
    )
    assert "3 excluded runs are not counted" in tachograph("report").stderr
    assert tachograph("exclude --remove --label branch=main --yes").stderr.startswith(
        "Counting again: 3 runs\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("label", "5e0c031e"), "No label"),
        (("label", "team=a"), "No run"),
        (("star",), "No run"),
        (("star", "5e0c031e", "--repo", "x"), "not both"),
        (("star", "5e0d031e"), "Did you mean 5e0c031e?"),
        (("star", "--repo", "nope", "--yes"), "no run matches --project nope"),
        (("runs", "--excluded", "maybe"), "'maybe'"),
    ],
)
def test_what_makes_no_sense_changes_nothing(
    words: tuple[str, ...], message: str, tachograph: Run, filled: Path
) -> None:
    done = tachograph(*words)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


def test_the_beginning_of_a_session_s_id_is_enough_where_lists_take_it(
    tachograph: Run, filled: Path
) -> None:
    """It is what lists show.

    To `runs` it was enough, to `label` and `compare` it was a session that no run has.
    """
    assert (
        tachograph("label --session 0b550201 team=kernels --yes").stderr.splitlines()[0]
        == "Labelled 1 run"
    )
    compared = tachograph("compare session=0b550201 session=90350c2d").stderr.splitlines()[0]
    assert [part.split("-", 1)[0] for part in compared.split(" · ")[:2]] == ["0b550201", "90350c2d"]
    assert compared.count(": 1 run ·") == 2


def test_undo_in_the_terminal_asks_says_and_takes_back(tachograph: Run, filled: Path) -> None:
    (filled / "more.json").write_text(record_text(uuid="new1"))
    tachograph("ingest more.json --label team=a")
    listed = json.loads(tachograph("ingests --format json").stdout)
    assert [(row["ingest_id"], row["accepted"], row["labels"]) for row in listed] == [
        (2, 1, {"team": "a"}),
        (1, 3, {"branch": "main"}),
    ]
    assert listed[0]["command"] == "tachograph ingest more.json --label team=a"
    asked = tachograph("undo")
    assert asked.returncode == 2
    assert asked.stderr.startswith("Ingest 2, ")
    assert asked.stderr.endswith(
        " Undo removes 1 run of 1 file.\nError: add --yes to undo it.\nNothing was changed.\n"
    )
    assert tachograph("undo --yes").stderr == "Undid ingest 2: removed 1 run of 1 file.\n"
    store = Store(filled / FILE)
    assert quality_queries.ingests(store)["ingest_id"].to_pylist() == [1]
    assert "there is no ingest 2" in tachograph("undo 2 --yes").stderr
    assert ingest_paths(store, filled / "more.json").ingest_id == 3


def test_an_ingest_that_set_the_prices_is_undone_after_they_are_set_otherwise(
    tachograph: Run, tmp_path: Path
) -> None:
    (tmp_path / "prices.toml").write_text(
        '[[price]]\nmodel = "claude-sonnet-4-5"\ninput = 1\noutput = 2\n'
    )
    shown = tachograph("ingest", SAMPLES, "--prices", "prices.toml").stderr
    refused = tachograph("undo --yes")
    assert refused.returncode == 2, shown
    assert "reprice --no-price-file" in refused.stderr
    tachograph("reprice --no-price-file")
    assert "removed 3 runs" in tachograph("undo --yes").stderr


@pytest.mark.slow
def test_an_ingest_that_changes_nothing_is_not_listed(sample_store: Store) -> None:
    assert ingest_paths(sample_store, SAMPLES).ingest_id is None
    assert ingest_paths(sample_store, SAMPLES, team="a").ingest_id == 2
    assert ingest_paths(sample_store, SAMPLES, team="a").ingest_id is None
    undo(sample_store, 2)
    assert run(sample_store)["labels"] == {}


@pytest.mark.slow
def test_a_failed_undo_leaves_the_store_as_it_was(
    sample_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest([Source("a.json", record_text().encode())], sample_store)
    monkeypatch.setattr("ingest.store.undo.note_cross_checks", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        undo(sample_store, 2)
    assert run_queries.runs(sample_store, NO_FILTERS).num_rows == 4
    assert quality_queries.ingests(sample_store).num_rows == 2


def test_the_page_of_a_run_without_a_date_takes_one(
    tmp_path: Path, store: Store, screens: Callable[..., AppTest]
) -> None:
    (tmp_path / "bare.json").write_text(record_text(uuid="bare"))
    ingest_paths(store, tmp_path / "bare.json")
    app = screens(store.location, "screens/run.py", run="bare")
    app.date_input[0].set_value(date(2026, 11, 1))
    next(button for button in app.button if button.label == "Save date").click().run()
    assert not app.exception
    assert dates(store, "bare")[0][1].date() == date(2026, 11, 1)
    assert app.date_input[0].value == date(2026, 11, 1)


def test_a_label_that_is_no_date_is_refused_on_the_page_of_a_run(
    sample_store: Store, screens: Callable[..., AppTest]
) -> None:
    app = screens(sample_store.location, "screens/run.py", run=RUN)
    app.multiselect(key="run-labels").set_value(["date=soon"])
    next(button for button in app.button if button.label == "Add labels").click().run()
    assert not app.exception
    assert "the label date takes a day or a time" in app.error[0].value


def test_the_page_of_a_run_takes_labels_a_note_a_star_and_an_exclusion(
    sample_store: Store, screens: Callable[..., AppTest]
) -> None:
    app = screens(sample_store.location, "screens/run.py", run=RUN)
    [cost] = [
        html.proto.body for html in app.get("html") if "List-price difference" in html.proto.body
    ]
    assert "regional endpoint" in cost
    app.text_area[0].set_value("warm cache")
    app.toggle[0].set_value(True)
    app.toggle[1].set_value(True)
    next(one for one in app.text_input if one.label == "Reason").set_value("wrong model")
    next(button for button in app.button if button.label == "Save").click().run()
    assert not app.exception
    assert [toast.value for toast in app.toast] == ["Saved."]
    assert said(sample_store)[2:] == ("warm cache", True, True, "wrong model")
    assert "Excluded: this run is not counted" in app.warning[0].value
    app = screens(sample_store.location, "screens/runs.py")
    assert "1 excluded run is not counted." in heading(app)
    app = app.from_string(
        "from app.screens.parts import widgets\n"
        "from app.text.sentences import Doubt, Said\n"
        "widgets.DOUBTS.set([Doubt('1 excluded run', '', '')])\n"
        "widgets.heading(Said('', doubts=[Doubt('another', '', '')] * 9))"
    )
    assert "1 excluded run" in heading(app.run()), "however many others a screen has"


def test_a_read_only_dashboard_changes_nothing(
    sample_store: Store, screens: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    annotate(sample_store, [RUN], Change(note="warm cache"))
    monkeypatch.setenv("TACHOGRAPH_READ_ONLY", "1")
    app = screens(sample_store.location, "screens/run.py", run=RUN)
    assert not app.text_area
    assert any("warm cache" in html.proto.body for html in app.get("html"))


def test_rows_that_are_ticked_are_changed_together(
    sample_store: Store, screens: Callable[..., AppTest]
) -> None:
    app = screens(sample_store.location, "screens/runs.py")
    app.session_state["runs-0"] = {"selection": {"rows": [0, 1], "columns": [], "cells": []}}
    app.run()
    next(button for button in app.button if button.label == "Star").click().run()
    assert not app.exception
    assert len(run_queries.ids(sample_store, choose({"starred": "yes"}))) == 2
    app.session_state["runs-1"] = {"selection": {"rows": [0, 1], "columns": [], "cells": []}}
    app.run()
    day = next(field for field in app.date_input if field.label == "Day of these runs")
    day.set_value(date(2026, 3, 4))
    next(button for button in app.button if button.label == "Save date").click().run()
    assert not app.exception
    assert len(run_queries.ids(sample_store, choose({"label": ["date=2026-03-04"]}))) == 2


def test_a_star_that_cannot_be_saved_is_told_like_any_change(
    sample_store: Store, screens: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within the callback of a button nobody caught the error: the page showed a traceback."""

    def locked(*_: object) -> int:
        raise StoreError("the store is locked.", "Try again.")

    app = screens(sample_store.location, "screens/runs.py")
    app.session_state["runs-0"] = {"selection": {"rows": [0, 1], "columns": [], "cells": []}}
    app.run()
    monkeypatch.setattr("app.screens.cache.annotate", locked)
    next(button for button in app.button if button.label == "Star").click().run()
    assert not app.exception
    assert "the store is locked" in app.error[0].value


def test_a_recent_ingest_is_undone_on_the_screen_upload(
    sample_store: Store, screens: Callable[..., AppTest]
) -> None:
    app = screens(sample_store.location, "screens/data.py", view="upload")
    next(button for button in app.button if button.label == "Undo ingest 1").click().run()
    assert not app.exception
    assert "removed 3 runs of 3 files" in app.success[0].value
    assert run_queries.runs(sample_store, NO_FILTERS).num_rows == 0


def test_a_link_shows_excluded_and_starred_runs_and_the_bar_says_so(
    sample_store: Store, screens: Callable[..., AppTest]
) -> None:
    annotate(sample_store, [RUN], Change(excluded=True, starred=True))
    app = screens(sample_store.location, "screens/runs.py", excluded="only", starred="yes")
    assert list(app.dataframe[0].value["title"]) == [
        "I have successfully optimized the MLA attention performance in the vLLM codebase"
    ]
    assert "not counted" not in heading(app)
    annotate(sample_store, OTHERS, Change(excluded=True))
    app = screens(sample_store.location, "screens/cost.py")
    assert [header.value for header in app.header] == ["All runs are excluded"]
