"""The catalogue alone says what columns are called.

All that is shown has an entry, and a figure of a run is one entry.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.queries.filters import NO_FILTERS
from app.queries.usage import UsageRequest
from app.reports import comparison, results, usage
from app.reports.cost_report import ReportRequest, report
from app.text import grids, run_html
from app.text.answers import Answer
from app.text.columns import columns
from app.text.grids import Listing
from ingest.store.database import Store
from schemas.catalogue import columns as catalogue
from schemas.catalogue.columns import GROUPS, RUNS
from schemas.catalogue.entry import AGGREGATES, Columns, Entry, Figure, aggregates_of, by_key
from schemas.catalogue.figures import RUN_FIGURES
from schemas.catalogue.metrics import RUN_METRICS
from schemas.units import Unit
from tests.conftest import ROOT, fetched

SCOPES: dict[str, Columns] = {
    name: scope
    for name, scope in vars(catalogue).items()
    if isinstance(scope, dict)
    and name.isupper()
    and name[0] != "_"
    and name != "MEASURES"
    and isinstance(next(iter(scope.values())), Entry)
}


@pytest.fixture(scope="module")
def samples(samples_read: object) -> Store:
    return Store(samples_read(branch="main"))  # type: ignore[operator]


def answers(store: Store) -> Iterator[tuple[str, Answer]]:
    """Everything that a command shows or an export writes."""
    yield "runs", results.runs(store, NO_FILTERS, None)
    yield "models", results.models(store, NO_FILTERS)
    yield "rejects", results.rejects(store)
    yield "sources", results.sources(store)
    yield "claims", results.claims(store, NO_FILTERS, (), None)
    yield "findings", results.findings(store, NO_FILTERS, (), (), None)
    for by in ("day", "block", "tool"):
        yield f"usage: {by}", usage.usage(store, UsageRequest(by=(by,)))
    made = report(store, ReportRequest(by=("label:branch", "day"), reprice="claude-opus-4-6"))
    yield from ((f"report: {section.key}", section.answer) for section in made.sections)
    compared = comparison.compare(store, [NO_FILTERS, NO_FILTERS])
    yield from (("compare", compared.figures), ("compare in words", compared.words))


@pytest.mark.slow
def test_every_column_that_a_command_shows_has_an_entry(samples: Store) -> None:
    for name, answer in answers(samples):
        told = [column.name for column in columns(answer.table, answer.of)]
        assert not [key for key in told if key not in answer.of], name
        assert not [key for key in answer.shown if key not in answer.of], name


@pytest.mark.parametrize("module", [grids], ids=lambda module: module.__name__)
def test_every_column_of_a_grid_has_an_entry(module: object) -> None:
    listings = [listing for listing in vars(module).values() if isinstance(listing, Listing)]
    assert listings
    assert not [key for listing in listings for key in listing.keys if key not in listing.of]
    more = (*grids.MORE_RUNS, *run_html.RUN_CARDS, *run_html.RUN_ENDING, *run_html.RUN_ORIGIN)
    assert not [key for key in more if key not in RUNS]
    assert not [key for key in grids.CLAIMS if key not in catalogue.CLAIMS]


@pytest.mark.parametrize("scope", SCOPES)
def test_entries_explain_themselves(scope: str) -> None:
    for key, entry in SCOPES[scope].items():
        assert entry.key == key
        assert entry.label[:1].isupper() or entry.label.startswith("95"), entry
        assert not entry.meaning or entry.meaning.endswith((".", "…")), entry
    assert all(RUNS[figure.key] is figure for figure in catalogue.MEASURES.values())


def test_a_label_of_any_key_is_a_column_of_groups() -> None:
    assert (GROUPS["label:team"].label, "label:team" in GROUPS, "team" in GROUPS) == (
        "Label team",
        True,
        False,
    )
    with pytest.raises(KeyError):
        GROUPS["team"]


def test_the_unit_of_a_column_is_that_of_its_name() -> None:
    suffixes = {
        "_usd": (Unit.USD,),
        "_ms": (Unit.MILLISECONDS,),
        "_tokens": (Unit.TOKENS,),
        "_share": (Unit.SHARE, Unit.SCORE),
    }
    for scope in SCOPES.values():
        wrong = [
            entry
            for key, entry in scope.items()
            for end, units in suffixes.items()
            if key.endswith(end) and entry.unit not in units
        ]
        assert not wrong


@pytest.mark.parametrize("how", AGGREGATES)
def test_an_aggregate_of_a_figure_is_one_word(how: str, samples: Store) -> None:
    for unit, key in ((Unit.USD, "cost_own_usd"), (Unit.RATIO, "parallelism")):
        [metric] = aggregates_of(
            Figure(key, "Cost", unit, "lower", "What it cost.", aggregates=(how,))
        )
        [(value, known)] = fetched(samples, f"select {metric.sql}, {metric.known} from v_runs")
        assert (value is not None, known, metric.unit, metric.better) == (True, 3, unit, "lower")
        assert metric.meaning.startswith("What it cost. ")


def words_of_columns(path: Path) -> Iterator[str]:
    """Dicts of a file that say words or units of columns: {"num_turns": "Turns"}, {"num_turns".

    Unit.COUNT}.
    """
    of_other_things = set(
        (
            "title label format files at description name value state best baseline commit "
            "text experiments"
        ).split()
    )
    known = {key for scope in SCOPES.values() for key in scope} - of_other_things
    for node in ast.walk(ast.parse(path.read_text())):
        pairs = list(zip(node.keys, node.values, strict=True)) if isinstance(node, ast.Dict) else []
        pairs += (
            [(ast.Constant(word.arg), word.value) for word in node.keywords]
            if isinstance(node, ast.Call)
            else []
        )
        for key, value in (
            (key.value, value)
            for key, value in pairs
            if isinstance(key, ast.Constant) and key.value in known
        ):
            is_unit = (
                isinstance(value, ast.Attribute)
                and isinstance(value.value, ast.Name)
                and value.value.id == "Unit"
            )
            is_words = (
                isinstance(value, ast.Constant)
                and isinstance(value.value, str)
                and value.value[:1].isupper()
            )
            if is_unit or is_words:
                yield f"{path.name}:{value.lineno}: {key}"


def test_two_entries_of_one_key_are_refused() -> None:
    with pytest.raises(ValueError, match="two entries of one key among cost_usd, runs, cost_usd"):
        by_key(RUN_METRICS["cost_usd"], RUN_METRICS["runs"], RUN_METRICS["cost_usd"])


@pytest.mark.slow
def test_no_file_of_the_app_has_its_own_words_for_columns() -> None:
    assert not [
        found for path in sorted((ROOT / "app").rglob("*.py")) for found in words_of_columns(path)
    ]


def test_every_figure_of_a_run_that_is_listed_is_named_in_every_list() -> None:
    for key in (figure.key for figure in RUN_FIGURES.values() if figure.listed):
        assert key in results.RUNS_SHOWN
        assert key in (*grids.RUNS.keys, *grids.MORE_RUNS)
        assert key in run_html.RUN_CARDS
    assert {metric.key for metric in RUN_METRICS.values()} <= set(GROUPS)
