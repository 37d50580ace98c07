"""The contents of a cost report: a first page, a header with its coverage, and sections of rows.

Formats only lay it out.

Everything is read from one state of the store, and every figure is one of
`schemas.catalogue.metrics`, so that the parts add up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from app.queries import Row, reading
from app.queries import claims as claim_queries
from app.queries import cost as cost_queries
from app.queries import measured as measured_queries
from app.queries import models as model_queries
from app.queries import runs as run_queries
from app.queries.filters import NO_FILTERS, SEARCH, Filters, this_moment, where
from app.queries.grouping import UTC_ZONE, filters_in, groups, known_zone
from app.queries.reading import read_transaction
from app.queries.runs import KNOWN_SUFFIX
from app.reports import REPORT_RUNS
from app.reports import first_page as first_pages
from app.reports.first_page import FirstPage, first_page, unknown_date_words
from app.reports.results import (
    RUNS_KEPT,
    RUNS_SHOWN,
    by_measure,
    models_note,
    pivoted,
    require_pivot,
    verdict_groups,
)
from app.text import costs
from app.text.answers import (
    Answer,
    heading,
    uncounted_words,
    unreported_groups_note,
    unreported_note,
)
from app.text.columns import BOUNDS_COLUMNS, STARTED, with_bounds
from app.text.formatting import UNKNOWN, known_of, short
from ingest.store.database import Store
from schemas.catalogue.columns import GROUPS, MODELS, RULES, RUNS
from schemas.catalogue.cost_measures import BEST, COST_MEASURES, REPORTED, CostMeasure
from schemas.catalogue.metrics import (
    DEFAULT_REPORT,
    HIGH,
    LOW,
    MEDIANS,
    RUN_METRICS,
    with_their_notes,
)
from schemas.text import join_known, plural
from schemas.units import Unit

TOTALS = tuple(
    key
    for key, metric in RUN_METRICS.items()
    if metric.unit is not Unit.TEXT
    and key not in {measure.share for measure in COST_MEASURES.values()}
    and key.removesuffix(LOW).removesuffix(HIGH) not in {*MEDIANS} - {key}
)
"""All metrics but shares of the total, which are trivial for the total."""

KEY_TOTALS = (
    "runs",
    "completed",
    "cost_usd",
    "cost_median_usd",
    "cost_per_completed_usd",
    "cost_list_usd",
    "cost_delta_usd",
    "cost_compared_usd",
    "cache_saved_usd",
    "duration_ms",
)
"""The ten most important totals, for people who do not ask for all figures."""

GROUPS_SHOWN = (
    "runs",
    "cost_usd",
    "cost_share",
    "cost_median_usd",
    "duration_ms",
    "error_rate",
    "cost_delta_usd",
    "cost_compared_usd",
    "cost_per_completed_usd",
)
"""Figures of groups for people, as many as fit on paper; formats for programs have DEFAULT_REPORT.
"""

MODELS_LISTED = (
    "model",
    "provider",
    "region",
    "runs",
    "cost_usd",
    "cost_list_usd",
    "cost_delta_usd",
    "cost_compared_usd",
    "causes",
    "output_tokens",
    "cache_hit_ratio",
)
RUNS_LISTED = RUNS_SHOWN[:10]
"""Columns that fit on paper; formats for programs have all."""

OF_MODELS = (
    "A run counts whole for its main model, the one that cost most in it; without a model, for "
    "the one asked for, else for the only one of its agent. Top models count what the tokens of "
    "each model cost."
)

FINDINGS_SHOWN = ("rule", "severity", "runs", "cost_usd", "findings", "example")


@dataclass(frozen=True)
class ReportRequest:
    """A request for a report.

    `by` are words of `app.queries.grouping`; no `metrics` means the usual ones; `runs` is the
    number to list; `reprice` is a model for prices of the same tokens (`app.queries.cost.what_if`);
    `cost` is the key of a measure of cost, "" for the best-known one; `first` is the request for
    the first page; values of `pivot`, one of `by`, become columns; no `sections` (keys) means all;
    `has_key_totals` asks for KEY_TOTALS alone.
    """

    filters: Filters = NO_FILTERS
    by: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    zone: str = UTC_ZONE
    runs: int = REPORT_RUNS
    reprice: str = ""
    cost: str = ""
    first: first_pages.FirstPageRequest = field(default_factory=first_pages.FirstPageRequest)
    pivot: str = ""
    sections: tuple[str, ...] = ()
    has_key_totals: bool = False

    @property
    def measure(self) -> CostMeasure:
        """The measure of its costs."""
        return COST_MEASURES[self.cost] if self.cost else BEST


@dataclass(frozen=True)
class Header:
    """What a report covers. `coverage` is that of `app.queries.cost`."""

    title: str
    store: str
    filters: Filters
    by: tuple[str, ...]
    zone: str
    made_at: datetime
    coverage: dict[str, Any]

    def lines(self) -> list[tuple[str, str]]:
        """Return the header for people as labels and texts."""
        covers = self.coverage
        runs = f"{covers['runs']:,} of {covers['stored_runs']:,} in the store"
        read = (
            f"{plural(covers['sources'], 'file')}, last ingested "
            f"{self._time(covers['last_read_at'])}"
        )
        rejected = f"{plural(covers['rejected'], 'record')} rejected"
        return [
            ("Runs", runs),
            ("Filters", self.filters.as_words() or "none"),
            ("Period", self._times()),
            *([("Dates", self.undated)] if self.undated else []),
            *([("Not counted", self.uncounted)] if self.uncounted else []),
            ("Store", f"{self.store}: {read}; {rejected}"),
            ("Generated", f"{self._time(self.made_at)} by tachograph {version('tachograph')}"),
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return the header for programs; times in UTC."""
        chosen = {key: list(values) for key, values in self.filters.chosen}
        made = {
            "title": self.title,
            "made_at": self.made_at,
            "tachograph": version("tachograph"),
            "store": self.store,
        }
        return (
            made | {"filters": chosen, "by": list(self.by), "time_zone": self.zone} | self.coverage
        )

    @property
    def undated(self) -> str:
        """Number and cost of runs without a date, which no day, week or month includes.

        "" if all have one.
        """
        return unknown_date_words(self.coverage)

    @property
    def uncounted(self) -> str:
        """Note on excluded runs and probable copies, which are not counted; "" without any."""
        return uncounted_words(self.coverage["excluded_runs"], self.coverage["uncounted_copies"])

    def _times(self) -> str:
        covers = self.coverage
        if not covers["timed_runs"]:
            return "unknown"
        known = known_of(covers["timed_runs"], covers["runs"])
        return (
            f"{self._time(covers['first_at'])} to "
            f"{self._time(covers['last_at'])}{known and f' ({known})'}"
        )

    def _time(self, time: datetime | None) -> str:
        return (
            UNKNOWN
            if time is None
            else f"{time.astimezone(known_zone(self.zone)):%Y-%m-%d %H:%M} {self.zone}"
        )


@dataclass(frozen=True)
class Section:
    """A part of a report: `answer` has its rows, `note` its omissions."""

    key: str
    title: str
    answer: Answer
    note: str = ""

    @property
    def table(self) -> pa.Table:
        """Its rows, exact and complete."""
        return self.answer.table


@dataclass(frozen=True)
class CostReport:
    """A whole report.

    `first` is its first page; `main` its section for formats with a single table.

    `measure` is that of its costs.
    """

    header: Header
    first: FirstPage
    sections: tuple[Section, ...]
    measure: CostMeasure = REPORTED

    def section(self, key: str) -> Section:
        """Return the section of this key."""
        return next(section for section in self.sections if section.key == key)

    @property
    def all_figures(self) -> Answer | None:
        """The totals with every known figure, for people who ask for more than KEY_TOTALS.

        None if the request chose figures.
        """
        totals = self.section("totals").answer
        return replace(totals, shown=TOTALS) if totals.shown else None

    @property
    def main(self) -> Section:
        """The groups, or the totals if there are none."""
        return self.section("groups" if self.header.by else "totals")

    @property
    def main_answer(self) -> Answer:
        """The rows of `main`, with a heading."""
        covered = plural(self.header.coverage["runs"], "run")
        return replace(
            self.main.answer, about=heading(covered, self.header.store, self.header.filters)
        )

    @property
    def shown(self) -> list[Section]:
        """Sections with content."""
        return [section for section in self.sections if section.table.num_rows]


def report(store: Store, request: ReportRequest) -> CostReport:
    """Return the report; days and times of its filters are in its zone.

    Raises StoreError, and UsageError for an unknown grouping, figure or time zone.
    """
    asked = _in_its_zone(request)
    with read_transaction(store, 1, _unread_columns(asked)) as transaction:
        request = replace(asked, filters=transaction.searched(asked.filters))
        coverage = cost_queries.coverage(transaction, request.filters)
        coverage["excluded_runs"], coverage["uncounted_copies"] = reading.uncounted(
            transaction, request.filters
        )
        coverage |= cost_queries.doubtful(transaction, request.filters)
        coverage |= cost_queries.at_another_price(transaction, request.filters)
        title = request.first.title or first_pages.TITLE
        header = Header(
            title, store.location, asked.filters, request.by, request.zone, this_moment(), coverage
        )
        totals, row = _totals(transaction, request)
        first = first_page(
            transaction,
            replace(request.first, measure=request.measure),
            request.filters,
            row,
            coverage,
            header.made_at,
            request.zone,
        )
        if not request.sections or "measured" in request.sections:
            first = replace(first, measured=measured_queries.totals(transaction, request.filters))
        makers: dict[str, Callable[[], Section | None]] = {
            "totals": lambda: totals,
            "groups": lambda: _groups(transaction, request),
            "models": lambda: _models(transaction, request, row),
            "what_if": lambda: _what_if(transaction, request),
            "measured": lambda: _measured(transaction, request) if first.measured else None,
            "runs": lambda: _most_expensive(
                transaction, request, coverage["runs"], row[request.measure.total]
            ),
            "unpriced": lambda: Section(
                "unpriced",
                "Models without a list-price cost",
                Answer(cost_queries.unpriced_models(transaction, request.filters), "", of=MODELS),
            ),
            "findings": lambda: Section(
                "findings",
                "Findings",
                Answer(
                    claim_queries.findings_by_rule(transaction, request.filters),
                    "",
                    FINDINGS_SHOWN,
                    of=RULES,
                ),
            ),
        }
        made = [
            make()
            for key, make in makers.items()
            if not request.sections or key in request.sections
        ]
        return CostReport(
            header, first, tuple(section for section in made if section), request.measure
        )


def brief(store: Store, request: ReportRequest) -> tuple[Answer, str]:
    """Return the groups of a report (totals if it has none), with a note on runs without a date.

    The note is for periods only.

    Raises as `report`.
    """
    asked = _in_its_zone(request)
    with read_transaction(store) as transaction:
        request = replace(asked, filters=transaction.searched(asked.filters))
        if request.reprice:
            cost_queries.require_price(transaction, request.reprice)
        if request.by:
            section = _groups(transaction, request)
            total = section.answer.total
            if total is None:  # of a pivoted table
                total = run_queries.summary(transaction, request.filters, (), ("runs",))
            covered = int(total["runs"][0].as_py())
        else:
            section, row = _totals(transaction, request)
            covered = row["runs"]
        note = ""
        if any(group.in_order for group in groups(request.by, request.zone)):
            note = unknown_date_words(cost_queries.coverage(transaction, request.filters))
    return replace(
        section.answer, about=heading(plural(covered, "run"), store.location, asked.filters)
    ), note


def _unread_columns(request: ReportRequest) -> Sequence[str]:
    """Return the columns of texts, and of patterns in them, that a page with KEY_TOTALS skips."""
    is_page = request.has_key_totals and request.sections and not request.metrics
    if not is_page or request.filters.values(SEARCH):
        return ()
    chosen = (group.sql for group in groups(request.by, request.zone))
    needed = " ".join((where(request.filters).sql, *chosen))
    texts = ("prompt", "result", "reason", "whose", "failure_message")
    return [column for column in texts if column not in needed]


def _in_its_zone(request: ReportRequest) -> ReportRequest:
    known_zone(request.zone)
    require_pivot(request.by, request.pivot)
    return replace(request, filters=filters_in(request.filters, request.zone))


def with_runs(metrics: Sequence[str]) -> tuple[str, ...]:
    """Return the figures after the number of runs, each once, with the bounds of costs.

    So every figure shows its basis.
    """
    return with_their_notes(("runs", "never_started_runs", *metrics))


def grouped(
    store: Store,
    filters: Filters,
    by: Sequence[str],
    metrics: Sequence[str],
    zone: str = UTC_ZONE,
    measure: CostMeasure = REPORTED,
) -> Answer:
    """Return labelled figures per group, always with the number of runs, and the overall total."""
    chosen = with_runs(metrics)
    total = run_queries.summary(store, filters, (), chosen, zone)
    return Answer(
        run_queries.summary(store, filters, by, chosen, zone, measure), "", total=total, of=GROUPS
    )


def _totals(store: Store, request: ReportRequest) -> tuple[Section, dict[str, Any]]:
    """Return the totals, and the figures of all runs for other parts of a report."""
    usual = request.measure.among(KEY_TOTALS)
    metrics = with_runs(request.metrics or (usual if request.has_key_totals else TOTALS))
    table = with_bounds(
        run_queries.summary(
            store, request.filters, (), tuple(dict.fromkeys((*metrics, *first_pages.METRICS)))
        )
    )
    unasked = (
        "never_started_runs"
        if request.metrics and "never_started_runs" not in request.metrics
        else ""
    )
    told = [
        name
        for key in metrics
        if RUN_METRICS[key].unit is not Unit.TEXT
        and not key.endswith((LOW, HIGH))
        and key != unasked
        for name in (key, f"{key}{KNOWN_SUFFIX}")
    ]
    listed = table.select(
        [*told, STARTED, *(bounds for cost, bounds in BOUNDS_COLUMNS.items() if cost in told)]
    )
    shown = () if request.metrics else usual
    return Section("totals", "Totals", Answer(listed, "", shown, of=GROUPS)), table.to_pylist()[0]


def _groups(store: Store, request: ReportRequest) -> Section:
    """Return the groups. With list prices, programs also get these metrics."""
    if not request.by:
        return Section("groups", "Groups", Answer(pa.table({}), ""))
    measure = request.measure
    title = "By " + " and ".join(
        group.label[0].lower() + group.label[1:] for group in groups(request.by, request.zone)
    )
    if request.pivot:
        metrics = request.metrics or ("runs", measure.total)
        answer = grouped(
            store, request.filters, request.by, with_their_notes(metrics), request.zone, measure
        )
        made = pivoted(answer, request.by, request.pivot, metrics)
        return Section("groups", title, made, made.note)
    bounds = () if measure is REPORTED else costs.bounded_by(measure)
    usual = tuple(dict.fromkeys((*DEFAULT_REPORT, *measure.among(DEFAULT_REPORT), *bounds)))
    answer = grouped(
        store, request.filters, request.by, request.metrics or usual, request.zone, measure
    )
    if request.metrics:
        figures = tuple(dict.fromkeys(("runs", *request.metrics)))
    elif measure is REPORTED:
        figures = GROUPS_SHOWN
    else:  # the difference from what is reported gives way to the other cost
        figures = tuple(
            key
            for key in measure.among(GROUPS_SHOWN)
            if key not in ("cost_delta_usd", "cost_compared_usd")
        )
    shown = (*request.by, *figures)
    silent = unreported_groups_note(answer.table, shown, GROUPS)
    note = join_known(" ", OF_MODELS if "model" in request.by else "", silent)
    return Section("groups", title, replace(answer, shown=shown, note=silent), note)


def _models(store: Store, request: ReportRequest, totals: Row) -> Section:
    table = model_queries.models(store, request.filters, measure=request.measure)
    total = model_queries.models(store, request.filters, by=())
    rest = models_note(store, request.filters, totals, total, request.measure)
    note = f"Cost and tokens per model, helper models included. {rest}".rstrip()
    return Section(
        "models", "Models", Answer(table, "", MODELS_LISTED, total, MODELS, note=rest), note
    )


def _what_if(store: Store, request: ReportRequest) -> Section | None:
    """Return the same tokens at another model's prices, in total and per group."""
    if not request.reprice:
        return None
    found = cost_queries.what_if(store, request.filters, request.by, request.reprice, request.zone)
    total = (
        cost_queries.what_if(store, request.filters, (), request.reprice, request.zone).table
        if request.by
        else None
    )
    return Section(
        "what_if",
        f"Repriced as {request.reprice}",
        Answer(found.table, "", total=total, of=GROUPS),
        found.words,
    )


def _measured(store: Store, request: ReportRequest) -> Section:
    """Return claims and measurements by the groups of the report, or by agent and model."""
    answer = verdict_groups(store, request.filters, request.by or ("agent", "model"), request.zone)
    return Section("measured", "Claimed and measured", answer, answer.note)


def _most_expensive(
    store: Store, request: ReportRequest, covered: int, spent: Decimal | None
) -> Section:
    measure = request.measure
    table = run_queries.runs(store, request.filters, request.runs, measure)
    note = f"Top {table.num_rows:,} of {plural(covered, 'run')}" if table.num_rows < covered else ""
    if note and spent:
        listed = sum(filter(None, table[measure.column].to_pylist()), Decimal(0))
        note += f" account for {short(listed / spent, Unit.SHARE)} of {measure.noun}."
    shown, kept = (by_measure(keys, measure) for keys in (RUNS_LISTED, RUNS_KEPT))
    note = join_known(" ", note, unreported_note(table, shown, RUNS))
    return Section(
        "runs", "Most expensive runs", Answer(table, "", shown, of=RUNS, kept=kept), note
    )
