"""`tachograph.open`: a store to query from Python.

Its filters, figures and errors are those of the command line and the dashboard.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from app.library.tables import Report, Row, Table, report_table, table
from app.queries.filter_inputs import FilterWords, filters_of
from app.queries.filters import FILTERS, MIN_CONFIDENCE, NO_FILTERS, Filters, parse
from app.queries.grouping import UTC_ZONE, filters_in
from app.queries.loops import ORDERS
from app.queries.reading import CheckedStore, read_transaction
from app.queries.rules import RULES
from app.queries.run_page import run_id_of, run_page, with_whole_ids
from app.queries.usage import HOURS, MONDAY, WEEK_STARTS, UsageRequest
from app.reports import REPORT_RUNS, comparison, cost_report, loop_tables, results
from app.reports import usage as usage_reports
from app.reports.first_page import FirstPageRequest
from app.text.answers import Answer, uncounted_notes
from app.text.filter_words import with_known_words
from ingest.claims import Claim, extract
from ingest.store.database import DEFAULT_WAIT_SECONDS
from ingest.system.command_lines import DEFAULT_STORE, on_disk
from schemas.catalogue.cost_measures import BEST, COST_MEASURES
from schemas.catalogue.metrics import BAND, RUN_METRICS
from schemas.claims import ClaimKind
from schemas.errors import InputUnreadable, UsageError, unknown_word
from schemas.rows.confidence import SHOWN_FROM
from schemas.rows.source import Severity
from schemas.text import did_you_mean, one_line, plural

Words = str | Sequence[str]
"""One word, several separated by commas, or a list of them."""

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

Choice = str | Mapping[str, object]
"""Filters for a side of a comparison: `'model=glm-5.1 project=vllm'` or `{"model": "glm-5.1",
"project": "vllm"}`.
"""

KINDS = tuple(map(str, ClaimKind))
COMMAND = "tachograph.open(…).ingest(…)"


class Ingested(NamedTuple):
    """The results of an ingest: `documents` = accepted + duplicates + rejected + ignored.

    `seconds`: wall time.
    """

    sources: int
    documents: int
    accepted: int
    duplicates: int
    rejected: int
    ignored: int
    seconds: float


class Store:
    """A store at one location.

    Each method opens the store, reads one state of it and closes it again.

    Texts of session transcripts are left out unless it is opened `with_text`, as in the files that
    commands write. Other keyword arguments are filters (`FilterWords`): an unknown filter or
    unreadable value raises UsageError. A store that cannot be used raises StoreError. `limit`: the
    most rows, None for all.
    """

    def __init__(
        self,
        location: str | os.PathLike[str],
        wait_seconds: float = DEFAULT_WAIT_SECONDS,
        *,
        with_text: bool = False,
    ) -> None:
        if not isinstance(location, str | os.PathLike):
            raise UsageError(f"open takes the path of a store, not {location!r}.")
        if (
            isinstance(wait_seconds, bool)
            or not isinstance(wait_seconds, int | float)
            or not wait_seconds >= 0
        ):
            raise UsageError(f"wait_seconds takes seconds of 0 or more, not {wait_seconds!r}.")
        self._location = on_disk(str(os.fspath(location)))
        self._wait_seconds = wait_seconds
        self._with_text = with_text

    def __repr__(self) -> str:
        return f"tachograph.open({self._location!r})"

    @property
    def location(self) -> str:
        """The location of the store."""
        return self._location

    def runs(
        self, *, limit: int | None = None, cost: str = "", **filters: Unpack[FilterWords]
    ) -> Table:
        """Return the runs, most expensive first.

        `cost`: best (reported, else list), reported or list; empty for best.
        """
        measure = _one_of("cost", cost, COST_MEASURES)
        return self._answer(
            filters, lambda store, chosen: results.runs(store, chosen, _rows(limit), measure)
        )

    def run(self, run_id: str) -> Row:
        """Return everything about one run: its columns, models, claims, findings, files and record.

        `run_id`: the id or its first 4 or more characters. Raises UsageError if no run has it, or
        several.
        """
        with read_transaction(self._checked()) as transaction:
            page = run_page(transaction, run_id_of(transaction, _text("run_id", run_id)))
        assert page is not None, "the id is that of a run of the same transaction"
        return page.as_dict()

    def models(self, *, cost: str = "", **filters: Unpack[FilterWords]) -> Table:
        """Return cost and tokens of each model, helper models included. `cost` as for `runs`."""
        measure = _one_of("cost", cost, COST_MEASURES)
        return self._answer(filters, lambda store, chosen: results.models(store, chosen, measure))

    def claims(
        self, *, kind: Words = KINDS, limit: int | None = None, **filters: Unpack[FilterWords]
    ) -> Table:
        """Return claims of summaries, quantified claims first, then by ratio, largest first.

        `kind`: quantified, qualitative or both.

        `evidence`, `min_claim` and `min_confidence` choose claims, all other filters choose runs.
        """
        kinds = _several("kind", kind, KINDS)
        return self._answer(
            filters, lambda store, chosen: results.claims(store, chosen, kinds, _rows(limit))
        )

    def findings(
        self,
        *,
        severity: Words = (),
        rule: Words = (),
        limit: int | None = None,
        **filters: Unpack[FilterWords],
    ) -> Table:
        """Return inconsistencies in records and their summaries, the most severe first.

        `severity`: error, warning, info.
        """
        severities, rules = (
            _several("severity", severity, tuple(map(str, Severity))),
            _words("rule", rule),
        )
        return self._answer(
            filters,
            lambda store, chosen: results.findings(store, chosen, severities, rules, _rows(limit)),
        )

    def tasks(
        self,
        *,
        by: Words = ("agent",),
        value: str = "result",
        order: str = "retry",
        **filters: Unpack[FilterWords],
    ) -> Table:
        """Return the matrix of tasks.

        A row per task, for each column `x` its text, `x_value` and `x_runs`.

        `value`: result (the measured ratio, else the outcome), outcome, measured, claimed, cost or
        duration. `verdict`, a filter, chooses tasks; `order`: retry, best, apart, cost or alphabet.
        """
        columns, which = (
            _words("by", by) or ("agent",),
            (_text("value", value), _text("order", order)),
        )
        return self._answer(
            filters, lambda store, chosen: results.tasks(store, chosen, columns, *which)
        )

    def failures(
        self, *, by: Words = "agent", texts: str = "", **filters: Unpack[FilterWords]
    ) -> Table:
        """Return why runs did not complete.

        A row per reason with its runs, a column per agent (or `by`), lost time and best-known cost.

        `texts`: a reason; then its error texts are listed instead, with numbers and ids masked.
        """
        column, reason = ",".join(_words("by", by)), _text("texts", texts)
        if reason:
            return self._answer(
                filters, lambda store, chosen: results.failure_texts(store, chosen, reason)
            )
        return self._answer(filters, lambda store, chosen: results.failures(store, chosen, column))

    def verdicts(  # noqa: PLR0913  the options of the command
        self,
        *,
        by: Words = (),
        pivot: str = "",
        every: bool = False,
        band: float = BAND,
        rule: str = "",
        steps: bool = False,
        tz: str = UTC_ZONE,
        limit: int | None = None,
        **filters: Unpack[FilterWords],
    ) -> Table:
        """Return claimed and measured speedups per run, or with `by` per group.

        `every`: also runs that were not measured.

        `band`: ratios within this distance from 1 are the same, such as 0.05. The values of
        `pivot`, one of `by`, become columns. `rule`: score agents by the rule of a benchmark
        instead, over everything measured: baseline, iso, gso, swe-fficiency, algotune, kernelbench,
        geometric, harmonic. `steps`: what leads from its score to that of the rule baseline.
        """
        if isinstance(band, bool) or not isinstance(band, int | float) or not 0 <= band < 1:
            raise UsageError(
                f"band takes a share from 0 to less than 1, such as 0.05, not {band!r}."
            )
        groups, most, zone, across = (
            _words("by", by),
            _rows(limit),
            _text("tz", tz),
            _text("pivot", pivot),
        )
        scored = _one_of("rule", rule, RULES)
        if scored and (groups or across or filters):
            raise UsageError(
                "rule counts everything measured; by, pivot and filters choose.", "Use one of them."
            )
        if steps and not scored:
            raise UsageError("steps needs rule: the one whose score they begin at.")

        def ask(store: CheckedStore, chosen: Filters) -> Answer:
            chosen = filters_in(chosen, zone)
            if scored:
                return (results.rule_path if steps else results.rules)(store, scored)
            if groups or across:
                return results.verdict_groups(store, chosen, groups, zone, float(band), across)
            return results.verdicts(store, chosen, most, every=every, band=float(band))

        return self._answer(filters, ask)

    def measurements(self, *, limit: int | None = None, **filters: Unpack[FilterWords]) -> Table:
        """Return measured values of benchmarks, and the runs whose changes they measured."""
        return self._answer(
            filters, lambda store, chosen: results.measurements(store, chosen, _rows(limit))
        )

    def loops(self, loop: str = "", *, sort: str = "latest", limit: int | None = None) -> Table:
        """Return optimization loops, what they brought and cost.

        With `loop` (id, name or log) the experiments of one.

        `sort`: latest, gain, cost, per-improvement or per-percent.
        """
        most, order = _rows(limit), _one_of("sort", sort, ORDERS) or "latest"

        def ask(store: CheckedStore, _: Filters) -> Answer:
            return (
                loop_tables.experiments(store, loop, most)
                if loop
                else loop_tables.loops(store, most, order)
            )

        return self._answer({}, ask)

    def usage(
        self,
        *,
        by: Words = "day",
        tz: str = UTC_ZONE,
        week_starts: str = MONDAY,
        session_length: int = HOURS,
        **filters: Unpack[FilterWords],
    ) -> Table:
        """Return responses, tokens and cost per group, such as day, block, project or model.

        Groups: day, week, month, hour, session, block, project, model, tool or agent.

        `session_length` is in hours. `since` and `until` choose responses by their own time.
        """
        groups, zone = _words("by", by), _text("tz", tz)
        starts = _one_of("week_starts", week_starts, WEEK_STARTS)
        if (
            isinstance(session_length, bool)
            or not isinstance(session_length, int)
            or not 1 <= session_length <= 24 * 7
        ):
            raise UsageError(f"session_length takes hours from 1 to 168, not {session_length!r}.")
        return self._answer(
            filters,
            lambda store, chosen: usage_reports.usage(
                store, UsageRequest(chosen, groups, zone, starts, session_length)
            ),
        )

    def rejects(self) -> Table:
        """Return records that could not be read, and why."""
        return table(results.rejects(self._checked()))

    def sources(self, *, limit: int | None = None) -> Table:
        """Return ingested files with their results, the newest first."""
        return table(results.sources(self._checked(), _rows(limit)))

    def report(  # noqa: PLR0913  the options of the command
        self,
        *,
        by: Words = (),
        pivot: str = "",
        metrics: Words = (),
        tz: str = UTC_ZONE,
        cost: str = "",
        reprice: str = "",
        title: str = "",
        owner: str = "",
        **filters: Unpack[FilterWords],
    ) -> Report:
        """Return the cost report.

        As a table it is the groups of `by`, or the totals; `.sections` has the rest,
        `.export("html")` a file.

        `metrics`: the figures of groups and totals, none for the usual ones. The values of `pivot`,
        one of `by`, become columns. `reprice`: MODEL or MODEL@PROVIDER with other prices for the
        same tokens.
        """
        figures, measure = (
            _several("metrics", metrics, tuple(RUN_METRICS)),
            _one_of("cost", cost, COST_MEASURES),
        )
        groups, zone, model = _words("by", by), _text("tz", tz), _text("reprice", reprice)
        page = FirstPageRequest(_text("title", title), _text("owner", owner))
        store, chosen = self._asked(filters)
        request = cost_report.ReportRequest(
            chosen, groups, figures, zone, REPORT_RUNS, model, measure, page, _text("pivot", pivot)
        )
        return report_table(cost_report.report(store, request), _notes(store))

    def compare(self, *groups: Choice, pair: str = "", cost: str = "best") -> Table:
        """Compare groups of runs with the first of them: a row per group and metric.

        Durations in milliseconds, money in US dollars.

        Without groups, the two agents and models with most to compare. `ratio` is the median over
        tasks that both have, with a 95 % interval; `pair="nothing"`: the ratio of the medians of
        all runs.
        """
        store = self._checked()
        chosen = [with_whole_ids(store, with_known_words(_chosen(group))) for group in groups]
        store.look_up(*(chosen or [NO_FILTERS]))
        measure = COST_MEASURES[_one_of("cost", cost, COST_MEASURES) or BEST.key]
        made = comparison.compare(store, chosen, _text("pair", pair), measure)
        return table(made.figures, [*made.notes, *_notes(store)], made.words)

    def ingest(
        self,
        paths: Paths,
        *,
        labels: Mapping[str, str] | None = None,
        path_template: str = "",
        jobs: int = 1,
    ) -> Ingested:
        """Read files, folders and archives into the store, in one transaction.

        Files that were read before change nothing.

        `labels` are given to all runs; `path_template` as of `tachograph ingest`. `jobs`: the
        number of reading processes; more than one only if the script has an `if __name__ ==
        "__main__":`. Raises InputUnreadable for a path that cannot be opened, after all others were
        ingested.
        """
        from ingest import pipeline
        from ingest.agents.homes import only_sessions
        from ingest.context.path_template import PathTemplate
        from ingest.sources.walking import read_paths
        from ingest.store.ingests import IngestOrigin

        listed: Any = [paths] if isinstance(paths, str | os.PathLike) else paths
        named = list(listed) if isinstance(listed, Iterable) else [listed]
        if not all(isinstance(path, str | os.PathLike) for path in named):
            raise UsageError(f"ingest takes a path or a list of paths, not {paths!r}.")
        if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 0:
            raise UsageError(
                f"jobs takes a number of processes, or 0 for one per core, not {jobs!r}."
            )
        given: Any = {} if labels is None else labels
        if not isinstance(given, Mapping) or not all(
            isinstance(part, str) for pair in given.items() for part in pair
        ):
            raise UsageError(f"labels takes texts such as {{'branch': 'main'}}, not {labels!r}.")
        template = (
            PathTemplate.parse(_text("path_template", path_template)) if path_template else None
        )
        options = pipeline.Options(
            tuple(given.items()), template, jobs, origin=IngestOrigin(command=COMMAND)
        )
        report = pipeline.ingest(
            read_paths(only_sessions([Path(path) for path in named])), self._store(), options
        )
        if report.unreadable:
            first, others = report.unreadable[0], len(report.unreadable) - 1
            more = f" and {plural(others, 'other path')}" if others else ""
            became = "All else was ingested." if report.sources else "Nothing was ingested."
            raise InputUnreadable(f"{first.message}{more}", f"{first.hint} {became}")
        return Ingested(**report.as_dict())  # type: ignore[arg-type]  # all but the seconds are whole

    def measure(
        self,
        run_id: str = "",
        *,
        command: Sequence[str],
        repo: str | os.PathLike[str] = ".",
        baseline: str = "",
        candidate: str = "",
        patch: str | os.PathLike[str] | None = None,
        **how: Any,
    ) -> Row:
        """Measure a patch or revision against its baseline and store it (`tachograph measure`).

        `command`: words of the benchmark; `{out}` is a file that it writes. `how`: setup, check,
        runs, until (0.02: ±2 %), max_minutes, metric, regex, unit, better. The row has verdict,
        ratio, ratio_low, ratio_high, noise_floor, runs, claimed, claim_verdict and more. Raises
        UsageError if the baseline cannot be measured, or scipy is not installed.
        """
        from app.runner.measure import Procedure  # scipy is optional, and takes a second
        from app.runner.verify import subject_of, verify
        from ingest.store.ingests import IngestOrigin

        if isinstance(command, str) or not all(isinstance(word, str) for word in command):
            raise UsageError(f"command takes a list of words, not {command!r}.")
        known = {each.name for each in fields(Procedure)} - {"command"}
        if unknown := next((name for name in how if name not in known), None):
            raise UsageError(
                f"measure has no option {unknown!r}.",
                f"{did_you_mean(unknown, sorted(known))}Options: {', '.join(sorted(known))}.",
            )
        store = self._store()
        subject = subject_of(
            store,
            run_id or None,
            Path(repo),
            baseline or None,
            candidate or None,
            Path(patch) if patch else None,
        )
        made = verify(
            store,
            subject,
            Procedure(tuple(command), **how),
            origin=IngestOrigin(command="tachograph.open(…).measure(…)"),
        )
        return Row(made.as_dict())

    def _store(self) -> CheckedStore:
        return CheckedStore(
            self._location,
            self._wait_seconds,
            lambda message: _LOG.warning("%s", one_line(message)),
        )

    def _checked(self) -> CheckedStore:
        """Return the store to query."""
        store = self._store()
        if not self._with_text:
            store.leave_out_texts()
        return store

    def _asked(self, words: FilterWords) -> tuple[CheckedStore, Filters]:
        """Return a store that looks the filters up, and the filters.

        Raises UsageError and StoreError.
        """
        store = self._checked()
        filters = with_whole_ids(store, with_known_words(filters_of(words)))
        store.look_up(filters)
        return store, filters

    def _answer(self, words: FilterWords, ask: Callable[[CheckedStore, Filters], Answer]) -> Table:
        store, filters = self._asked(words)
        return table(ask(store, filters), _notes(store))


_LOG = logging.getLogger("tachograph")


def open_store(
    store: str | os.PathLike[str] | None = None,
    *,
    wait_seconds: float = DEFAULT_WAIT_SECONDS,
    with_text: bool = False,
) -> Store:
    """Return the store at a path, or at anything else that DuckDB can attach.

    Default `$TACHOGRAPH_DB`, else `tachograph.duckdb` here.

    Nothing is opened yet: the first `ingest` creates a missing store. `wait_seconds`: how long to
    wait while another process locks the store. `with_text`: answers include prompts, titles,
    summaries and claims of session transcripts.
    """
    usual = os.environ.get("TACHOGRAPH_DB") or DEFAULT_STORE
    return Store(usual if store is None else store, wait_seconds, with_text=with_text)


def extract_claims(text: str, min_confidence: float = SHOWN_FROM) -> tuple[Claim, ...]:
    """Return the performance claims in a text, without a store.

    `min_confidence` applies to claims with a number, 0 returns all of them.
    """
    return tuple(
        extract(_text("extract_claims", text), FILTERS[MIN_CONFIDENCE].read(str(min_confidence)))
    )


def _notes(store: CheckedStore) -> list[str]:
    return [*map(str, store.unmatched), *uncounted_notes(store, "{}='all'")]


def _chosen(side: Choice) -> Filters:
    if isinstance(side, str):
        return parse(side)
    if not isinstance(side, Mapping):
        raise UsageError(
            f"compare takes filters such as {{'project': 'vllm'}} or 'project=vllm', not {side!r}."
        )
    return filters_of(side) if side else NO_FILTERS


def _rows(limit: object) -> int | None:
    """Return the most rows, None for all. Numbers beyond what a store can count mean all rows."""
    if limit is None:
        return None
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise UsageError(
            f"limit takes a number of rows of 0 or more, not {limit!r}.", "None: all rows."
        )
    return min(limit, sys.maxsize)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{name} takes a text, not {value!r}.")
    return value


def _words(name: str, value: object) -> tuple[str, ...]:
    """Return each word once."""
    listed = value.split(",") if isinstance(value, str) else value
    if not isinstance(listed, Sequence) or not all(isinstance(word, str) for word in listed):
        raise UsageError(f"{name} takes a word or a list of words, not {value!r}.")
    return tuple(dict.fromkeys(word.strip() for word in listed if word.strip()))


def _several(name: str, value: object, known: Sequence[str]) -> tuple[str, ...]:
    """Return words of a closed list."""
    return tuple(_one_of(name, word, known) for word in _words(name, value))


def _one_of(name: str, value: object, known: Collection[str]) -> str:
    """Return a word of a closed list, or none."""
    word = _text(name, value)
    if word and word not in known:
        raise unknown_word(name, word, known)
    return word
