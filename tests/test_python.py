"""`import tachograph`: the command line's figures, the registry's filters, and usable answers.

Any library takes the answers, and pages run.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shutil
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, assert_type

import duckdb
import pyarrow as pa
import pytest
from click.testing import CliRunner

import tachograph
from app.cli.main import cli
from app.library.store import KINDS
from app.queries.filter_inputs import WORDS, FilterWords, filters_of
from app.queries.filters import FILTERS, SYNONYMS, FilterKind, choose
from ingest.store.database import Store
from schemas import errors
from schemas.errors import ExitCode
from tests import notebook
from tests.conftest import FILE, ROOT, SAMPLES, TOTAL_COST, StoreOnce, ingest_paths, record_text
from tests.python_blocks import run_block

HOSTILE = "<script>alert(1)</script> & \u202egpj.exe"


@pytest.fixture(scope="module")
def all_samples(read_once: StoreOnce) -> Store:
    """A store of all sample logs: to be read only."""
    return read_once("all-samples", lambda store: ingest_paths(store, ROOT / "sample_logs"))


@pytest.fixture
def opened(all_samples: Store) -> tachograph.Store:
    return tachograph.open(all_samples.location, wait_seconds=5)


SESSION, TITLE = "7d1f4c1e-52c7-4a51-9a0e-3b6f0e2c9d41", "Faster monthly report"
"""A session of the sample logs."""

Ask = Callable[[tachograph.Store], tachograph.Table]
ASKED: Mapping[str, Ask] = {
    (
        "runs --cost list --limit 3 --repo vllm --model claude-sonnet-4-5 --since 2025-12"
    ): lambda store: store.runs(
        cost="list", limit=3, repo="vllm", model="claude-sonnet-4-5", since=date(2025, 12, 1)
    ),
    "models --agent claude-code --agent codex": lambda store: store.models(
        agent=["claude-code", "codex"]
    ),
    "claims --min-claim 2 --kind quantified": lambda store: store.claims(
        min_claim=2, kind="quantified"
    ),
    "findings --severity warning --severity error": lambda store: store.findings(
        severity=["warning", "error"]
    ),
    "verdicts --all --band 10%": lambda store: store.verdicts(every=True, band=0.1),
    "verdicts --by agent,day --tz Asia/Tokyo --since 2025-12-23": lambda store: store.verdicts(
        by=("agent", "day"), tz="Asia/Tokyo", since="2025-12-23"
    ),
    "measurements --task vllm_core-0009": lambda store: store.measurements(task="vllm_core-0009"),
    "usage --by model,agent --tz Europe/Berlin": lambda store: store.usage(
        by="model,agent", tz="Europe/Berlin"
    ),
    "report --by agent --tz Asia/Tokyo --since 2025-12": lambda store: store.report(
        by="agent", tz="Asia/Tokyo", since="2025-12"
    ),
    "compare repo=vllm min-cost=1": lambda store: store.compare({"repo": "vllm"}, "min-cost=1"),
    "sources": lambda store: store.sources(),
    "rejects": lambda store: store.rejects(),
}
"""Words of the command line → the same question in Python."""


@pytest.mark.parametrize("words", ASKED)
def test_every_question_has_the_answer_of_the_command_line(
    words: str, opened: tachograph.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byte for byte: a figure of its own in one of them would differ."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    asked = [*words.split(), "--format", "json", "--db", opened.location]
    said = CliRunner().invoke(cli, asked)
    assert (said.exit_code, ASKED[words](opened).export("json").decode()) == (0, said.stdout)


def test_a_run_is_that_of_show(opened: tachograph.Store) -> None:
    [first] = opened.runs(limit=1)
    run = opened.run(first["run_id"][:8])
    shown = json.loads(
        CliRunner()
        .invoke(cli, ["show", first["run_id"], "--format", "json", "--db", opened.location])
        .stdout
    )
    assert (run.keys(), run["cost_own_usd"], run["result"]) == (
        shown.keys(),
        first["cost_own_usd"],
        shown["result"],
    )


def test_what_was_said_in_sessions_is_there_only_if_it_is_asked_for(
    opened: tachograph.Store,
) -> None:
    """Answers are handed on, as files are."""
    with_text = tachograph.open(opened.location, with_text=True)
    assert TITLE not in str(opened.runs().to_pylist())
    assert TITLE not in str(opened.run(SESSION))
    assert TITLE.encode() not in opened.runs().export("html")
    assert TITLE in str(with_text.runs().to_pylist())
    assert with_text.run(SESSION)["title"] == TITLE
    assert opened.run(SESSION)["cost_own_usd"] == with_text.run(SESSION)["cost_own_usd"] > 0


def test_the_words_of_type_checkers_are_those_of_the_registry() -> None:
    words = [word for word in FilterWords.__annotations__ if word not in SYNONYMS]
    assert words == [key.replace("-", "_") for key in FILTERS] == [*WORDS]
    told = {
        FilterKind.NAMES: "Names",
        FilterKind.LABELS: "Labels",
        FilterKind.TIME: "Moment",
        FilterKind.PERIOD: "str",
        FilterKind.FLAG: "bool",
        FilterKind.TEXT: "str",
    }
    types = {word: kind.__forward_arg__ for word, kind in FilterWords.__annotations__.items()}
    for word, one in WORDS.items():
        choices = f"Literal{[*one.words]}" if one.kind is FilterKind.CHOICE else "Number"
        assert types[word] == f"{told.get(one.kind, choices)} | None"


def test_types_are_known_to_a_checker(opened: tachograph.Store) -> None:
    """`make check` reads this.

    A filter that does not exist, or a value of another type, is an error of mypy.
    """

    def read_by_mypy() -> None:
        assert_type(opened.runs(model="x"), tachograph.Table)
        assert_type(opened.report(by="model"), tachograph.Report)
        assert_type(tachograph.extract_claims(""), tuple[tachograph.Claim, ...])

    with pytest.raises(tachograph.UsageError):
        opened.runs(modle="x")  # type: ignore[call-arg]
    with pytest.raises(tachograph.UsageError):
        opened.runs(model=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"model": ["a", "b"]}, {"model": ["a", "b"]}),
        ({"main_model": ("a",)}, {"main-model": "a"}),
        (
            {"label": {"team": "kernels", "branch": "main"}},
            {"label": ["team=kernels", "branch=main"]},
        ),
        ({"label": "team=kernels"}, {"label": "team=kernels"}),
        (
            {"since": date(2026, 3, 1), "until": datetime(2026, 4, 1, 12, tzinfo=UTC)},
            {"since": "2026-03-01", "until": "2026-04-01T12:00:00+00:00"},
        ),
        (
            {"min_cost": 1e-7, "max_cost": Decimal("2.50")},
            {"min-cost": "0.0000001", "max-cost": "2.50"},
        ),
        ({"min_claim": 2, "min_confidence": 0.8}, {"min-claim": "2", "min-confidence": "0.8"}),
        (
            {"starred": True, "excluded": "all", "search": "moe"},
            {"starred": "yes", "excluded": "all", "search": "moe"},
        ),
        ({"starred": False, "repo": None, "model": []}, {}),
    ],
)
def test_values_of_python_are_words_of_the_command_line(
    values: Mapping[str, object], words: Mapping[str, str]
) -> None:
    assert filters_of(values) == choose(words)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (
            lambda store: store.runs(min_costs=1),
            "unknown filter 'min_costs'.\nDid you mean min_cost",
        ),
        (
            lambda store: store.runs(outcome="complete"),
            "unknown outcome 'complete'.\nDid you mean completed",
        ),
        (lambda store: store.runs(since="soon"), "takes a date or time, not 'soon'"),
        (lambda store: store.runs(min_cost=True), "min_cost takes a number, not True"),
        (lambda store: store.runs(min_cost=float("nan")), "an amount in US dollars"),
        (lambda store: store.runs(search="\ud800"), "search takes text that UTF-8 can hold"),
        (lambda store: store.runs(limit=-1), "limit takes a number of rows of 0 or more, not -1"),
        (lambda store: store.runs(cost="lst"), "unknown cost 'lst'.\nDid you mean list"),
        (lambda store: store.report(by="modle"), "unknown dimension 'modle'"),
        (lambda store: store.report(metrics="cost"), "unknown metrics 'cost'"),
        (lambda store: store.verdicts(band=5), "band takes a share"),
        (lambda store: store.usage(session_length=0), "session_length takes hours"),
        (lambda store: store.runs().export("cvs"), "unknown format 'cvs'.\nDid you mean csv"),
        (lambda store: store.run("zzzz"), "no run has an id that begins with 'zzzz'"),
        (lambda store: store.compare({"modle": "a"}, ""), "unknown filter 'modle'"),
    ],
)
def test_what_makes_no_sense_is_told(
    opened: tachograph.Store, ask: Callable[[Any], object], said: str
) -> None:
    with pytest.raises(tachograph.UsageError) as raised:
        ask(opened)
    assert said in str(raised.value)


def test_all_errors_are_there(tmp_path: Path) -> None:
    """One that is added to the tree is exported."""
    tree = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.TachographError)
    }
    assert tree <= set(tachograph.__all__)
    with pytest.raises(tachograph.UsageError, match="':memory:' is not a store on disk"):
        tachograph.open(":memory:")
    with pytest.raises(tachograph.StoreMissing):
        tachograph.open(tmp_path / "none.duckdb").runs()


def test_a_name_that_no_run_has_is_noted(opened: tachograph.Store) -> None:
    found = opened.runs(model="claude-sonet-4-5")
    assert (len(found), found.notes[0]) == (
        0,
        (
            "No run has model 'claude-sonet-4-5'. Did you mean claude-sonnet-4-5 or "
            "claude-sonnet-5 or claude-opus-4-5?"
        ),
    )


def test_a_table_is_taken_by_other_libraries(opened: tachograph.Store) -> None:
    """Money stays exact, unknowns stay unknown, and pandas is needed only for its frames."""
    found = opened.runs(limit=30)
    assert (len(found), found.available, len(pa.table(found))) == (30, 52, 30)
    with duckdb.connect() as connection:
        assert connection.sql("select sum(cost_own_usd) from found").fetchall() == [
            (sum(filter(None, (row["cost_own_usd"] for row in found)), Decimal(0)),)
        ]
        times = connection.sql("select started_at from found").fetchall()
    assert times == [(row["started_at"],) for row in found]
    known = [row["cost_own_usd"] for row in found if row["cost_own_usd"] is not None]
    frame = found.df()
    assert (frame["cost_own_usd"].sum(), frame["cost_own_usd"].isna().sum()) == (
        sum(known),
        len(found) - len(known),
    )


def test_a_library_that_is_missing_is_named(
    opened: tachograph.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(tachograph.UsageError, match="-m pip install polars"):
        opened.runs().pl()


def test_a_table_does_not_change(opened: tachograph.Store) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        opened.runs(limit=1).heading = "other"  # type: ignore[misc]


def test_texts_of_logs_are_no_markup_in_a_notebook(store: Store, tmp_path: Path) -> None:
    (tmp_path / "hostile.json").write_text(
        record_text(result=f"{HOSTILE} is 3x faster, measured: 3 s before, 1 s after.")
    )
    ingest_paths(store, tmp_path / "hostile.json", team=HOSTILE, task=HOSTILE)
    opened = tachograph.open(store.location)
    for html in (
        opened.runs()._repr_html_(),
        opened.claims()._repr_html_(),
        opened.report(by="label:team", title=HOSTILE)._repr_html_(),
    ):
        assert "&lt;script&gt;" in html
        assert "<script" not in html
        assert "\u202e" not in html


def test_a_long_table_shows_its_beginning(opened: tachograph.Store) -> None:
    html = opened.measurements()._repr_html_()
    assert (html.count("<tr"), "more rows not shown." in html) == (51, True)


@pytest.mark.slow
def test_ingest_counts_and_changes_nothing_the_second_time(tmp_path: Path) -> None:
    opened = tachograph.open(tmp_path / "runs.duckdb")
    first, again = (opened.ingest(SAMPLES, labels={"branch": "main"}) for _ in range(2))
    assert (first.accepted, again.duplicates, again.documents) == (3, 3, first.documents)
    assert [str(row["labels"]) for row in opened.runs()] == ["{'branch': 'main'}"] * 3
    assert str(opened.models().total["cost_usd"]) == TOTAL_COST  # type: ignore[index]


@pytest.mark.slow
def test_a_path_that_cannot_be_opened_is_told_after_the_others(tmp_path: Path) -> None:
    opened = tachograph.open(tmp_path / "runs.duckdb")
    with pytest.raises(tachograph.InputUnreadable, match="All else was ingested") as raised:
        opened.ingest([tmp_path / "none", SAMPLES])
    assert (raised.value.exit_code, len(opened.runs())) == (ExitCode.INPUT_UNREADABLE, 3)


def test_where_no_path_can_be_opened_nothing_else_is_said_to_be_ingested(tmp_path: Path) -> None:
    with pytest.raises(tachograph.InputUnreadable, match="Nothing was ingested"):
        tachograph.open(tmp_path / "runs.duckdb").ingest(tmp_path / "lgos")


WRONG: dict[str, Callable[[tachograph.Store], object]] = {
    "limit takes a number of rows": lambda store: store.runs(limit="x"),  # type: ignore[arg-type]
    "limit takes a number of rows of 0 or more, not True": lambda store: store.sources(limit=True),
    "band takes a share": lambda store: store.verdicts(band="5%"),  # type: ignore[arg-type]
    ("by takes a word or a list of words, not 5"): lambda store: store.report(by=5),  # type: ignore[arg-type]
    ("kind takes a word or a list of words"): lambda store: store.claims(kind=[5]),  # type: ignore[list-item]
    ("session_length takes hours"): lambda store: store.usage(by="block", session_length=1.5),  # type: ignore[arg-type]
    "tz takes a text": lambda store: store.usage(tz=5),  # type: ignore[arg-type]
    "cost takes a text": lambda store: store.models(cost=5),  # type: ignore[arg-type]
    "run_id takes a text": lambda store: store.run(None),  # type: ignore[arg-type]
    "format takes a text": lambda store: store.runs().export(5),  # type: ignore[arg-type]
    "compare takes filters": lambda store: store.compare(5, {}),  # type: ignore[arg-type]
    "ingest takes a path": lambda store: store.ingest([SAMPLES, None]),  # type: ignore[list-item]
    ("labels takes texts"): lambda store: store.ingest(SAMPLES, labels={"a": 5}),  # type: ignore[dict-item]
    "jobs takes a number of processes": lambda store: store.ingest(SAMPLES, jobs=-1),
    ("wait_seconds takes seconds"): lambda store: tachograph.open(store.location, wait_seconds="x"),  # type: ignore[arg-type]
    "open takes the path of a store": lambda _: tachograph.open(5),  # type: ignore[arg-type]
    "extract_claims takes a text": lambda _: tachograph.extract_claims(5),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("said", WRONG)
def test_an_argument_of_another_type_is_told_in_a_sentence(
    said: str, opened: tachograph.Store
) -> None:
    """As docs/python.md promises: a script need not catch what Python or DuckDB makes of it."""
    with pytest.raises(tachograph.UsageError, match=said):
        WRONG[said](opened)


def test_sources_have_a_limit_as_runs_have(opened: tachograph.Store) -> None:
    every, some = opened.sources(), opened.sources(limit=2)
    assert (len(some), some.available, len(every)) == (2, len(every), every.available)
    assert some.to_pylist() == every.to_pylist()[:2]
    said = CliRunner().invoke(cli, ["sources", "--limit", "2", "--db", opened.location])
    assert said.stderr.startswith(f"the 2 newest of {len(every)} files")


def test_claims_are_those_of_the_command() -> None:
    text = "Parsing is 3.2x faster (8.0 s → 2.5 s), and memory use fell by 20 %."
    said = CliRunner().invoke(
        cli, ["claims", "extract", "-"], input=json.dumps({"id": 1, "text": text}) + "\n"
    )
    ours = [claim._asdict() for claim in tachograph.extract_claims(text)]
    assert (len(ours), json.loads(said.stdout)["claims"]) == (2, json.loads(json.dumps(ours)))


def test_kinds_are_listed() -> None:
    assert KINDS == ("quantified", "qualitative")


@pytest.mark.slow
def test_the_page_on_python_runs(tmp_path: Path) -> None:
    """In one namespace, from top to bottom; every value behind an arrow is compared."""
    (tmp_path / "logs").symlink_to(SAMPLES)
    page, namespace = (ROOT / "docs" / "python.md").read_text(), dict[str, Any]()
    blocks = [block.partition("\n```")[0] for block in page.split("```python\n")[1:]]
    with contextlib.chdir(tmp_path):
        compared = [pair for block in blocks for pair in run_block(block, namespace)]
    assert [found for found, _ in compared] == [written for _, written in compared]
    assert len(compared) == page.count("# → ")
    assert not [word for word in WORDS if f"`{word}`" not in page]
    methods = {name for name in vars(tachograph.Store) if not name.startswith("_")} - {"location"}
    assert not [name for name in methods if f"`{name}" not in page]


def test_the_notebook_runs_and_shows_what_it_has(all_samples: Store, tmp_path: Path) -> None:
    """Its outputs are those in the file. What pandas draws is pandas' own."""
    (tmp_path / "sample_logs").symlink_to(ROOT / "sample_logs")
    shutil.copy(all_samples.location, tmp_path / FILE)
    written = json.loads(notebook.NOTEBOOK.read_text(encoding="utf-8"))
    made = notebook.run(written, tmp_path)
    for cell, outputs in zip(notebook.cells(written), made, strict=True):
        drawn_by_pandas = any(
            "dataframe" in "".join(output["data"].get("text/html", "")) for output in outputs
        )
        drawn = json.loads(
            json.dumps(outputs).replace(f"{ROOT}/", "")
        )  # the store was filled from there
        assert drawn_by_pandas or drawn == cell["outputs"], (
            "write it anew: python -m tests.notebook --write"
        )
