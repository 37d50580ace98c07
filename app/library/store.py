"""`tachograph.open`: a store to ask from Python. The same filters, figures and errors as the command line and the dashboard."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Unpack

from app.library import arguments
from app.library.arguments import Paths, Words
from app.library.tables import Report, Row, Table, report_table, table
from app.queries.filter_inputs import FilterWords, filters_of
from app.queries.filters import MIN_CONFIDENCE, NO_FILTERS, Filters, parse, probability
from app.queries.grouping import UTC_ZONE, filters_in
from app.queries.reading import CheckedStore, read_transaction
from app.queries.run_page import run_id_of, run_page, with_whole_ids
from app.queries.usage import HOURS, MONDAY, WEEK_STARTS
from app.queries.usage import Request as UsageRequest
from app.reports import comparison, cost_report, results
from app.reports import usage as usage_reports
from app.reports.exports import REPORT_RUNS
from app.reports.first_page import Request as FirstPage
from app.text.answers import Answer
from app.text.words.closed_lists import with_known_words
from app.text.words.filters import uncounted_notes
from ingest.claims import Claim, extract
from ingest.store.database import DEFAULT_WAIT_SECONDS
from ingest.system.command_lines import DEFAULT_STORE, on_disk
from schemas.catalogue.cost_measures import BEST, COST_MEASURES
from schemas.catalogue.metrics import BAND, RUN_METRICS
from schemas.errors import InputUnreadable, UsageError
from schemas.rows.claim import ClaimKind
from schemas.rows.confidence import SHOWN_FROM
from schemas.rows.source import Severity
from schemas.text import one_line, plural

if TYPE_CHECKING:
    from ingest.pipeline import IngestReport

Choice = str | Mapping[str, object]
"""Filters of a side of a comparison: `'model=glm-5.1 repo=vllm'` or `{"model": "glm-5.1", "repo": "vllm"}`."""

KINDS = tuple(map(str, ClaimKind))
COMMAND = "tachograph.open(…).ingest(…)"
"""What the list of ingests says of one from here."""


class Ingested(NamedTuple):
    """What became of the documents of an ingest: `documents` = accepted + duplicates + rejected + ignored. `seconds`: wall time."""

    sources: int
    documents: int
    accepted: int
    duplicates: int
    rejected: int
    ignored: int
    seconds: float


class Store:
    """A store at one location. It holds no connection: each method opens the store, reads one state of it and closes it again.

    Texts of session transcripts are left out unless it is opened `with_text`, as they are in the files that commands write.
    Keyword arguments that no method names are filters (`FilterWords`): an unknown one is a UsageError, as is a value that cannot be
    read. A store that cannot be used is a StoreError. `limit`: the most rows, None for all.
    """

    def __init__(self, location: str | os.PathLike[str], wait_seconds: float = DEFAULT_WAIT_SECONDS, *, with_text: bool = False) -> None:
        self._location = on_disk(arguments.location(location))
        self._wait_seconds = arguments.seconds("wait_seconds", wait_seconds)
        self._with_text = with_text

    def __repr__(self) -> str:
        return f"tachograph.open({self._location!r})"

    @property
    def location(self) -> str:
        """Where the store is."""
        return self._location

    def runs(self, *, limit: int | None = None, cost: str = "", **filters: Unpack[FilterWords]) -> Table:
        """The runs, most expensive first. `cost`: best (reported, else list), reported or list; empty for best."""
        measure = arguments.one_of("cost", cost, COST_MEASURES)
        return self._answer(filters, lambda store, chosen: results.runs(store, chosen, arguments.rows(limit), measure))

    def run(self, run_id: str) -> Row:
        """All that is known of one run: its columns, models, claims, findings, files and record.

        `run_id`: the id or its first 4 or more characters. Raises UsageError where no run has it, or several.
        """
        with read_transaction(self._checked()) as transaction:
            page = run_page(transaction, run_id_of(transaction, arguments.text("run_id", run_id)))
        assert page is not None, "the id is that of a run of the same transaction"
        return page.as_dict()

    def models(self, *, cost: str = "", **filters: Unpack[FilterWords]) -> Table:
        """Cost and tokens of each model, helper models included. `cost` as for `runs`."""
        measure = arguments.one_of("cost", cost, COST_MEASURES)
        return self._answer(filters, lambda store, chosen: results.models(store, chosen, measure))

    def claims(self, *, kind: Words = KINDS, limit: int | None = None, **filters: Unpack[FilterWords]) -> Table:
        """What summaries claim, quantified claims first, largest first. `kind`: quantified, qualitative or both.

        `evidence`, `min_claim` and `min_confidence` choose claims, all other filters choose runs.
        """
        kinds = arguments.several("kind", kind, KINDS)
        return self._answer(filters, lambda store, chosen: results.claims(store, chosen, kinds, arguments.rows(limit)))

    def findings(self, *, severity: Words = (), rule: Words = (), limit: int | None = None, **filters: Unpack[FilterWords]) -> Table:
        """What does not add up in a record or its summary, the severest first. `severity`: error, warning, info."""
        severities, rules = arguments.several("severity", severity, tuple(map(str, Severity))), arguments.words("rule", rule)
        return self._answer(filters, lambda store, chosen: results.findings(store, chosen, severities, rules, arguments.rows(limit)))

    def tasks(self, *, by: Words = ("agent",), value: str = "result", **filters: Unpack[FilterWords]) -> Table:
        """Tasks beside those who worked on them: a row per task, for each column `x` its text, `x_value` and `x_runs`.

        `value`: result (the measured ratio, else how runs ended), outcome, measured, claimed, cost or duration.
        """
        columns, shown = arguments.words("by", by) or ("agent",), arguments.text("value", value)
        return self._answer(filters, lambda store, chosen: results.tasks(store, chosen, columns, shown))

    def failures(self, *, by: str = "agent", texts: str = "", **filters: Unpack[FilterWords]) -> Table:
        """Why runs did not complete: a row per reason with its runs, a column per agent (or `by`), lost time and best-known cost.

        `texts`: a reason, whose error texts are listed instead, with numbers and ids masked.
        """
        column, reason = arguments.text("by", by), arguments.text("texts", texts)
        if reason:
            return self._answer(filters, lambda store, chosen: results.failure_texts(store, chosen, reason))
        return self._answer(filters, lambda store, chosen: results.failures(store, chosen, column))

    def verdicts(
        self,
        *,
        by: Words = (),
        every: bool = False,
        band: float = BAND,
        tz: str = UTC_ZONE,
        limit: int | None = None,
        **filters: Unpack[FilterWords],
    ) -> Table:
        """Claimed beside measured speedups: per run, or with `by` per group. `every`: also runs that were not measured.

        `band`: ratios within this distance from 1 are the same, such as 0.05.
        """
        band, groups, most = arguments.share("band", band), arguments.words("by", by), arguments.rows(limit)

        zone = arguments.text("tz", tz)

        def ask(store: CheckedStore, chosen: Filters) -> Answer:
            chosen = filters_in(chosen, zone)
            if groups:
                return results.verdict_groups(store, chosen, groups, zone, band)
            return results.verdicts(store, chosen, most, every=every, band=band)

        return self._answer(filters, ask)

    def measurements(self, *, limit: int | None = None, **filters: Unpack[FilterWords]) -> Table:
        """Measured values of benchmarks, and the runs whose changes they measured."""
        return self._answer(filters, lambda store, chosen: results.measurements(store, chosen, arguments.rows(limit)))

    def usage(
        self,
        *,
        by: Words = "day",
        tz: str = UTC_ZONE,
        week_starts: str = MONDAY,
        session_length: int = HOURS,
        **filters: Unpack[FilterWords],
    ) -> Table:
        """Responses, tokens and cost per day, week, month, hour, session, block, project, model, tool or agent; `session_length` in hours.

        `since` and `until` choose responses by their own time.
        """
        groups, zone = arguments.words("by", by), arguments.text("tz", tz)
        starts = arguments.one_of("week_starts", week_starts, WEEK_STARTS)
        length = arguments.hours("session_length", session_length)
        return self._answer(
            filters,
            lambda store, chosen: usage_reports.usage(store, UsageRequest(chosen, groups, zone, starts, length)),
        )

    def rejects(self) -> Table:
        """Records that could not be read, and why."""
        return table(results.rejects(self._checked()))

    def sources(self, *, limit: int | None = None) -> Table:
        """Ingested files, the newest first, and what became of them."""
        return table(results.sources(self._checked(), arguments.rows(limit)))

    def report(
        self,
        *,
        by: Words = (),
        metrics: Words = (),
        tz: str = UTC_ZONE,
        cost: str = "",
        reprice: str = "",
        title: str = "",
        owner: str = "",
        **filters: Unpack[FilterWords],
    ) -> Report:
        """The cost report. As a table it is the groups of `by`, or the totals; `.sections` has the rest, `.export("html")` makes the file.

        `metrics`: the figures of groups and totals, none for the usual ones. `reprice`: MODEL or MODEL@PROVIDER at whose prices the same
        tokens are shown as well.
        """
        figures, measure = arguments.several("metrics", metrics, tuple(RUN_METRICS)), arguments.one_of("cost", cost, COST_MEASURES)
        groups, zone, model = arguments.words("by", by), arguments.text("tz", tz), arguments.text("reprice", reprice)
        page = FirstPage(arguments.text("title", title), arguments.text("owner", owner))
        store, chosen = self._asked(filters)
        request = cost_report.Request(chosen, groups, figures, zone, REPORT_RUNS, model, measure, page)
        return report_table(cost_report.report(store, request), _notes(store))

    def compare(self, *groups: Choice, pair: str = "", cost: str = "best") -> Table:
        """Groups of runs beside the first of them: a row per group and metric. Durations in milliseconds, money in US dollars.

        Without groups, the largest of an agent with a model. `ratio` is the median over tasks that both have, with a 95 % interval;
        `pair="nothing"`: of the medians of all runs.
        """
        store = self._checked()
        chosen = [with_whole_ids(store, with_known_words(_chosen(group))) for group in groups]
        store.look_up(*(chosen or [NO_FILTERS]))
        measure = COST_MEASURES[arguments.one_of("cost", cost, COST_MEASURES) or BEST.key]
        made = comparison.compare(store, chosen, arguments.text("pair", pair), measure)
        return table(made.figures, [*made.notes, *_notes(store)], made.words)

    def ingest(
        self,
        paths: Paths,
        *,
        labels: Mapping[str, str] | None = None,
        path_template: str = "",
        jobs: int = 1,
    ) -> Ingested:
        """Read files, folders and archives into the store, in one transaction. What was read before changes nothing.

        `labels` are given to all runs; `path_template` as of `tachograph ingest`. `jobs`: processes that read; more than one only where
        the script has an `if __name__ == "__main__":`. Raises InputUnreadable, after all else was ingested, for a path that cannot be
        opened.
        """
        from ingest import pipeline
        from ingest.agents.homes import only_sessions
        from ingest.context.path_template import PathTemplate
        from ingest.sources.walking import read_paths
        from ingest.store.ingests import Origin

        named = arguments.paths(paths)
        template = PathTemplate.parse(arguments.text("path_template", path_template)) if path_template else None
        options = pipeline.Options(arguments.labels(labels), template, arguments.processes("jobs", jobs), origin=Origin(command=COMMAND))
        report = pipeline.ingest(read_paths(only_sessions(named)), self._store(), options)
        if report.unreadable:
            raise _unreadable(report)
        return Ingested(**report.as_dict())  # type: ignore[arg-type]  # all but the seconds are whole

    def _store(self) -> CheckedStore:
        return CheckedStore(self._location, self._wait_seconds, lambda message: _LOG.warning("%s", one_line(message)))

    def _checked(self) -> CheckedStore:
        """The store to ask."""
        store = self._store()
        if not self._with_text:
            store.leave_out_texts()
        return store

    def _asked(self, words: FilterWords) -> tuple[CheckedStore, Filters]:
        """A store that looks the filters up, and the filters. Raises UsageError and StoreError."""
        store = self._checked()
        filters = with_whole_ids(store, with_known_words(filters_of(words)))
        store.look_up(filters)
        return store, filters

    def _answer(self, words: FilterWords, ask: Callable[[CheckedStore, Filters], Answer]) -> Table:
        store, filters = self._asked(words)
        return table(ask(store, filters), _notes(store))


_LOG = logging.getLogger("tachograph")


def open_store(
    store: str | os.PathLike[str] | None = None, *, wait_seconds: float = DEFAULT_WAIT_SECONDS, with_text: bool = False
) -> Store:
    """The store at a location: a path, or whatever else DuckDB can attach. Without one `$TACHOGRAPH_DB`, else `tachograph.duckdb` here.

    Nothing is opened yet: a store that does not exist is made by its first `ingest`. `wait_seconds`: how long to wait while another
    process locks the store. `with_text`: answers have prompts, titles, summaries and claims of session transcripts, too.
    """
    usual = os.environ.get("TACHOGRAPH_DB") or DEFAULT_STORE
    return Store(usual if store is None else store, wait_seconds, with_text=with_text)


def extract_claims(text: str, min_confidence: float = SHOWN_FROM) -> tuple[Claim, ...]:
    """The performance claims of a text, without a store; those with a number only where they are at least so sure, 0 for all of them."""
    return tuple(extract(arguments.text("extract_claims", text), probability(str(min_confidence), MIN_CONFIDENCE)))


def _unreadable(report: IngestReport) -> InputUnreadable:
    first, others = report.unreadable[0], len(report.unreadable) - 1
    more = f" and {plural(others, 'other path')}" if others else ""
    became = "All else was ingested." if report.sources else "Nothing was ingested."
    return InputUnreadable(f"{first.message}{more}", f"{first.hint} {became}")


def _notes(store: CheckedStore) -> list[str]:
    return [*map(str, store.unmatched), *uncounted_notes(store, "Count them with excluded='all'.")]


def _chosen(side: Choice) -> Filters:
    if isinstance(side, str):
        return parse(side)
    if not isinstance(side, Mapping):
        raise UsageError(f"compare takes filters such as {{'repo': 'vllm'}} or 'repo=vllm', not {side!r}.")
    return filters_of(side) if side else NO_FILTERS
