"""Budgets: limits on what runs cost and how they end, in options and files, with a verdict on each.

Budgets are pairs of a key of `LIMITS` and the allowed value:`(("max-total-usd", Decimal(50)),)`. A
figure that is unknown for all runs does not pass; one that is known for some runs is judged by
these, and the verdict states their number. A check without any run fails unless that is allowed,
because it usually means a mistyped filter.

Budgets of a month are kept in the store, for a project or for the runs of another label.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from app.queries import Row, reading
from app.queries import loops as loop_queries
from app.queries import measured as measured_queries
from app.queries import runs as run_queries
from app.queries.filters import Filters, without_period
from app.queries.grouping import UTC_ZONE, filters_in
from app.queries.months import (
    MONTH,
    PROJECT,
    MonthBudget,
    budgets_of_month,
    kept_budgets,
    mistyped_budgets,
    this_month,
)
from app.queries.reading import ALL_DATED, Undated, read_transaction
from app.queries.runs import KNOWN_SUFFIX
from app.text.answers import NO_RUN_ENDED, heading, uncounted_words, undated_cost, undated_words
from app.text.formatting import bound_words, exact, short, usd
from app.text.table import Col, TextCell, TextTable
from ingest.store.annotations import Budgeted
from ingest.store.database import Store
from schemas.catalogue.cost_measures import BEST, BOUNDS, CostMeasure
from schemas.catalogue.dimensions import LABEL_PREFIX
from schemas.catalogue.metrics import LIMITS, Limit
from schemas.errors import UsageError
from schemas.numbers import amount, decimal, share
from schemas.text import choices_for, join_known, plural
from schemas.units import Unit


@dataclass(frozen=True)
class BudgetVerdict:
    """One limit, the figure found (None: unknown), and whether it held.

    `where` is the group with this figure. `mistyped`: a sentence if no run has the budget's name.
    """

    limit: Limit
    allowed: Decimal
    found: Decimal | None
    known: int
    runs: int
    where: str = ""
    undated: Undated = ALL_DATED
    noun: str = "run"
    bounds: str = ""
    mistyped: str = ""

    @property
    def passed(self) -> bool:
        if self.mistyped:
            return False
        if self.found is None:
            return (
                not self.runs and self.noun == "run"
            )  # without any run the check as a whole fails
        return self.found >= self.allowed if self.limit.is_least else self.found <= self.allowed

    @property
    def unit(self) -> Unit:
        return self.limit.bounded.unit

    @property
    def is_judged(self) -> bool:
        """Whether there is something to judge: runs, or money of runs that ended later."""
        return self.runs > 0 or (self.found is not None and self.unit is Unit.USD)

    @property
    def word(self) -> str:
        """PASS, FAIL, or that there is nothing to judge."""
        return ("PASS" if self.passed else "FAIL") if self.is_judged else f"NO {self.noun.upper()}S"

    @property
    def left(self) -> Decimal | None:
        """Rest of the budget, negative if exceeded; None if unknown or the limit is no maximum."""
        return None if self.found is None or self.limit.is_least else self.allowed - self.found

    @property
    def note(self) -> str:
        """Note on the verdict for people."""
        if self.mistyped:
            return self.mistyped
        if not self.is_judged:
            return (
                "No runs match."
                if self.noun == "run"
                else f"No {self.noun}s with known improvements."
            )
        if self.found is None:
            whom = f"all {self.runs:,} {self.noun}s" if self.runs > 1 else f"the {self.noun}"
            dates = (
                " Their dates are unknown: the modification time of a file may be the copy date."
            )
            why = dates if self.undated.runs == self.runs else ""
            return f"Unknown for {whom}, so it cannot be checked.{why}"
        over = short(abs(self.found - self.allowed), self.unit)
        notes = [
            f"over by {over}" if not self.passed and self.unit is Unit.USD else "",
            f"on {self.where}" if self.where else "",
            f"{NO_RUN_ENDED}: the money is of runs that ended at another time"
            if self.found and not self.runs
            else "",
            f"includes {bound_words(self.bounds)}" if self.bounds else "",
            (
                f"based on {self.known:,} of {self.runs:,} "
                f"{self.noun}s{' with known improvements' if self.noun == 'loop' else ''}"
            )
            if self.known < self.runs
            else "",
            (
                f"no date for {plural(self.undated.runs, 'run')}{undated_cost(self.undated)}, "
                "counted on no day"
            )
            if self.undated.runs
            else "",
        ]
        text = join_known("; ", *notes)
        return f"{text[0].upper()}{text[1:]}." if text else ""

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict for programs."""
        bound = "at_least" if self.limit.is_least else "at_most"
        judged = {
            "limit": self.limit.key,
            "passed": self.passed,
            "found": self.found,
            bound: self.allowed,
        }
        dated = self.undated.facts("undated") if self.limit.per else {}
        return (
            judged
            | {"where": self.where or None, "known": self.known, "runs": self.runs}
            | dated
            | {"note": self.note}
        )


@dataclass(frozen=True)
class Check:
    """All verdicts on the runs that match the filters.

    `is_empty`: there is no run, and no money of a period, to judge.
    """

    store: str
    filters: Filters
    zone: str
    runs: int
    verdicts: tuple[BudgetVerdict, ...]
    allow_empty: bool = False
    uncounted: tuple[int, int] = (0, 0)
    undated: Undated = ALL_DATED
    noun: str = "run"
    is_empty: bool = False

    @property
    def passed(self) -> bool:
        return not self.failure

    @property
    def failure(self) -> str:
        """Why the check fails; "" if it passes."""
        if self.is_empty and not self.allow_empty:
            why = (
                "no run matches the filters"
                if self.filters and self.noun == "run"
                else f"the store holds no {self.noun}"
            )
            return f"{why}; --allow-empty lets this pass"
        broken = sum(
            not verdict.passed and (verdict.is_judged or not self.allow_empty)
            for verdict in self.verdicts
        )
        return f"{broken} of {plural(len(self.verdicts), 'budget')} not met" if broken else ""

    @property
    def covers(self) -> str:
        """The number of judged runs, with store and filters."""
        return heading(plural(self.runs, self.noun), self.store, self.filters)

    @property
    def left_out(self) -> str:
        """Note on runs the budget ignores (excluded, copies, or undated in a period), or ""."""
        return join_known(" ", uncounted_words(*self.uncounted), undated_words(self.undated))

    @property
    def headline(self) -> str:
        """The outcome in a sentence."""
        if self.failure:
            return f"FAIL: {self.failure}"
        return f"PASS: {plural(len(self.verdicts), 'budget')} met"

    def as_dict(self) -> dict[str, Any]:
        """Return the check for programs."""
        chosen = {key: list(values) for key, values in self.filters.chosen}
        about = {
            "passed": self.passed,
            "store": self.store,
            "filters": chosen,
            "time_zone": self.zone,
            "runs": self.runs,
        }
        about |= {"excluded_runs": self.uncounted[0], "uncounted_copies": self.uncounted[1]}
        about |= self.undated.facts("undated")
        return about | {"limits": [verdict.as_dict() for verdict in self.verdicts]}


def check(
    store: Store,
    filters: Filters,
    allowed: Mapping[str, Decimal],
    zone: str = UTC_ZONE,
    *,
    allow_empty: bool = False,
    measure: CostMeasure = BEST,
) -> Check:
    """Judge the runs by limits (key → allowed value); times of the filters are in the zone.

    `allow_empty`: passes without runs.

    Limits on cost use the measure. Raises StoreError, and UsageError for an unknown time zone.
    """
    filters = filters_in(filters, zone)
    with read_transaction(store) as transaction:
        uncounted, undated = (
            reading.uncounted(transaction, filters),
            reading.left_out(transaction, filters),
        )
        [total] = run_queries.summary(transaction, filters, (), ("runs",)).to_pylist()
        judged = verdicts(transaction, filters, allowed, zone, measure)
        kept = kept_verdicts(transaction, filters, zone, measure)
    is_of_loops = bool(allowed) and all(
        LIMITS[key].is_of_loops for key in allowed
    )  # a store may have loops and no run
    runs, noun = (judged[0].runs, "loop") if is_of_loops else (total["runs"], "run")
    is_empty = not (runs or any(verdict.is_judged for verdict in judged))
    facts = allow_empty, uncounted, undated, noun, is_empty
    return Check(store.location, filters, zone, runs, judged + kept, *facts)


def verdicts(
    store: Store,
    filters: Filters,
    allowed: Mapping[str, Decimal],
    zone: str = UTC_ZONE,
    measure: CostMeasure = BEST,
) -> tuple[BudgetVerdict, ...]:
    """Return a verdict per limit (key → allowed value) on the runs that match the filters.

    Raises StoreError.
    """
    limits = [replace(LIMITS[key], metric=measure.of(LIMITS[key].metric)) for key in allowed]
    if not limits:
        return ()
    of_runs = [limit.metric for limit in limits if not (limit.is_of_measured or limit.is_of_loops)]
    metrics = tuple(
        dict.fromkeys(
            ("runs", *of_runs, *(column for metric in of_runs for column in BOUNDS.get(metric, ())))
        )
    )
    [total] = run_queries.summary(store, filters, (), metrics).to_pylist()
    total |= _measured(store, filters, [limit for limit in limits if limit.is_of_measured])
    undated = reading.undated(store, filters) if any(limit.per for limit in limits) else ALL_DATED
    days = {
        per: run_queries.summary(store, filters, (per,), metrics, zone).to_pylist()
        for per in {limit.per for limit in limits} - {""}
    }
    return tuple(
        _judge_loops(store, limit, allowed[limit.key])
        if limit.is_of_loops
        else judge(limit, allowed[limit.key], total, days.get(limit.per), undated)
        for limit in limits
    )


_BOUNDS = {"upper_bound": ", an upper bound", "lower_bound": ", a lower bound"}


def _judge_loops(store: Store, limit: Limit, allowed: Decimal) -> BudgetVerdict:
    """Return the verdict on the most expensive improvement of all loops.

    A loop without any counts with all of its cost.
    """
    judged = [one for one in loop_queries.loops(store) if one.improvements is not None]
    costs = [
        (
            one.cost_usd / (one.improvements or 1),
            f"{one.name}{_BOUNDS.get(one.costs.basis or '', '')}",
        )
        for one in judged
        if one.cost_usd is not None
    ]
    found, where = max(costs, default=(None, ""))
    return BudgetVerdict(limit, allowed, found, len(costs), len(judged), where, noun="loop")


def _measured(store: Store, filters: Filters, limits: Sequence[Limit]) -> dict[str, Any]:
    """Return the figures for limits on measurements.

    A figure that rests on no run is unknown, never 0.
    """
    metrics = tuple(
        dict.fromkeys(key for limit in limits for key in (limit.metric, limit.rests_on) if key)
    )
    if not metrics:
        return {}
    [row] = measured_queries.summary(store, filters, (), metrics).to_pylist()
    for limit in limits:
        if limit.rests_on:
            row[f"{limit.metric}{KNOWN_SUFFIX}"] = row[limit.rests_on]
            row[limit.metric] = row[limit.metric] if row[limit.rests_on] else None
    return dict(row)


def judge(
    limit: Limit,
    allowed: Decimal,
    total: Row,
    groups: Sequence[Row] | None = None,
    undated: Undated = ALL_DATED,
) -> BudgetVerdict:
    """Return the verdict on one limit, from the figures of all runs or of the worst group.

    The worst group counts if the limit is per group.

    `undated`: the runs that are in no group.
    """

    def bounds_of(row: Row) -> str:
        return next((row[column] for column in BOUNDS.get(limit.metric, ()) if row[column]), "")

    runs = total["runs"]
    if groups is None:
        return BudgetVerdict(
            limit,
            allowed,
            _number(total[limit.metric]),
            total[f"{limit.metric}{KNOWN_SUFFIX}"],
            runs,
            bounds=bounds_of(total),
        )
    named = [group for group in groups if group[limit.per] is not None]
    known = sum(group[f"{limit.metric}{KNOWN_SUFFIX}"] for group in named)
    worst = max(
        (group for group in named if group[limit.metric] is not None),
        key=lambda group: group[limit.metric],
        default=None,
    )
    if worst is None:
        return BudgetVerdict(limit, allowed, None, known, runs, "", undated)
    return BudgetVerdict(
        limit,
        allowed,
        _number(worst[limit.metric]),
        known,
        runs,
        worst[limit.per],
        undated,
        bounds=bounds_of(worst),
    )


def parse_allowed(limit: Limit, text: str) -> Decimal:
    """Parse the allowed value of a limit: `20`, `$20` or, for a share, `0.05` or `5%`.

    Raises UsageError.
    """
    unit = limit.bounded.unit
    if unit is Unit.SHARE:
        number, example = share(text.strip()), "a share such as 0.05 or 5%"
    elif unit is Unit.USD:
        number, example = amount(text), "an amount such as 20, with nine decimals at most"
    else:
        number, example = decimal(text), "a number such as 1"
    if number is None:
        raise UsageError(f"--{limit.key} takes {example}, not {text!r}.")
    return number


def budget_table(found: Sequence[BudgetVerdict]) -> TextTable:
    """Return verdicts as a table."""

    def figure(one: BudgetVerdict, value: Decimal | None, bound: str = "") -> TextCell:
        looks_equal = one.found != one.allowed and short(one.found, one.unit) == short(
            one.allowed, one.unit
        )
        write = exact if looks_equal or one.unit is Unit.COUNT else short
        return TextCell(bound + write(value, one.unit), number=(value, one.unit))

    looks = {"PASS": "t-good", "FAIL": "t-bad"}
    shown = (
        Col("Budget", lambda one: one.limit.label),
        Col("Actual", lambda one: figure(one, one.found), "r"),
        Col(
            "Limit",
            lambda one: figure(
                one, one.allowed, f"at {'least' if one.limit.is_least else 'most'} "
            ),
            "r",
        ),
        Col("Result", lambda one: TextCell(strong=one.word, kind=looks.get(one.word, "t-n"))),
        Col("Note", lambda one: TextCell(note=one.note)),
    )
    return TextTable(shown, found)


def _number(value: Any) -> Decimal | None:
    """Return a value as a Decimal. Shares arrive as floats; repr keeps their digits."""
    return (
        None
        if value is None
        else Decimal(repr(value))
        if isinstance(value, float)
        else Decimal(value)
    )


def kept_verdicts(
    store: Store,
    filters: Filters,
    zone: str = UTC_ZONE,
    measure: CostMeasure = BEST,
    month: str = "",
) -> tuple[BudgetVerdict, ...]:
    """Return a verdict on each kept budget of a month, the present one if none is given.

    It judges the runs that match the filters at any time of that month; with filters, a budget
    without any of them is left out. Raises StoreError.
    """
    month = month or this_month(zone)
    mistyped = {(of.dimension, of.name): why for of, why in mistyped_budgets(store).items()}
    judged = list[BudgetVerdict]()
    for dimension in dict.fromkeys(of.dimension for of in kept_budgets(store)):
        found = budgets_of_month(store, month, dimension, filters, zone, measure)
        for name, one in found.items():
            written, wrong = Budgeted(dimension, name).written, mistyped.get((dimension, name), "")
            limit = Limit(f"budget {written}", measure.total, "", f"{written} in {month}")
            if wrong:
                judged.append(BudgetVerdict(limit, one.budget, None, 0, 0, mistyped=wrong))
            elif one.runs or one.spent or not without_period(filters):
                figures = one.budget, one.spent, one.known, one.runs
                judged.append(BudgetVerdict(limit, *figures, bounds=one.bounds))
    return tuple(judged)


@dataclass(frozen=True)
class KeptBudget:
    """A kept budget, and how it stands in the present month (None: it is of another one)."""

    of: Budgeted
    usd: Decimal
    stands: MonthBudget | None

    def as_dict(self) -> dict[str, Any]:
        """Return it for programs."""
        about = {"of": self.of.written, "month": self.of.month, "budget_usd": self.usd}
        now = self.stands
        return about | {
            "spent_usd": now.spent if now else None,
            "left_usd": now.left if now else None,
            "pace_usd": now.pace if now else None,
        }


def standing(store: Store) -> list[KeptBudget]:
    """Return all kept budgets and how they stand now. Raises StoreError."""
    with read_transaction(store) as transaction:
        kept, month = kept_budgets(transaction), this_month()
        dimensions = {of.dimension for of in kept}
        now = {key: budgets_of_month(transaction, month, key) for key in dimensions}
    obeyed = {replace(of, month=None): of for of in kept if of.month in (None, month)}
    return [
        KeptBudget(of, allowed, now[of.dimension][of.name] if of in obeyed.values() else None)
        for of, allowed in kept.items()
    ]


def kept_table(found: Sequence[KeptBudget]) -> TextTable:
    """Return kept budgets as a table."""

    def now(one: KeptBudget, key: str) -> TextCell:
        value = getattr(one.stands, key) if one.stands else None
        text = usd(value, one.stands.bounds if one.stands and key == "spent" else "")
        return TextCell(text, number=(value, Unit.USD))

    shown = (
        Col("Of", lambda one: one.of.written),
        Col("Month", lambda one: one.of.month or "every month"),
        Col("Budget", lambda one: TextCell(usd(one.usd), number=(one.usd, Unit.USD)), "r"),
        Col("Spent this month", lambda one: now(one, "spent"), "r"),
        Col("Left", lambda one: now(one, "left"), "r"),
        Col("At an even pace", lambda one: now(one, "pace"), "r"),
    )
    return TextTable(shown, found)


_FOR_MONTH = re.compile(rf"(.*?)(?:/(month|{MONTH.pattern}))?", re.DOTALL)


def parse_budgeted(text: str) -> Budgeted:
    """Parse what a budget limits: `codeharness`, `person=anna` or `codeharness/2026-03`.

    Raises UsageError.
    """
    found = _FOR_MONTH.fullmatch(text.strip())
    name, month = found.groups() if found else (text, None)
    key, equals, value = name.partition("=")
    dimension = f"{LABEL_PREFIX}{key}" if equals and key not in (PROJECT, "repo") else PROJECT
    value = value if equals else name
    if not key or not value:
        raise UsageError(
            f"{text!r} names no project and no label.",
            "Name a project, e.g. codeharness, or a label, e.g. person=anna.",
        )
    return Budgeted(dimension, value, None if month == "month" else month)


def parse_budget(text: str) -> tuple[Budgeted, Decimal]:
    """Parse a budget: `codeharness=100/month`, `person=anna=$20/2026-03`, `codeharness=100`.

    Raises UsageError.
    """
    of, equals, rest = text.rpartition("=")
    found = _FOR_MONTH.fullmatch(rest.strip())
    allowed = amount(found[1]) if found and equals else None
    if found is None or not allowed:
        raise UsageError(
            f"{text!r} is no budget.",
            "A budget is written PROJECT=USD/month or KEY=VALUE=USD/month, e.g. "
            "codeharness=100/month; --remove codeharness takes it back.",
        )
    month = None if found[2] == "month" else found[2]
    return replace(parse_budgeted(of), month=month), allowed


Budgets = tuple[tuple[str, Decimal], ...]

VARIABLE = "TACHOGRAPH_BUDGETS"
"""Environment variable that passes budgets to the dashboard's process: `max-total-usd=50
max-run-usd=5`.
"""

EXAMPLE = "max-total-usd = 50"


def budgets_of(given: Mapping[str, str], file: Path | None = None) -> Budgets:
    """Return the budgets of a file, overridden by the options `given` (as written).

    Raises UsageError.
    """
    found = read_budgets(file) if file else {}
    found |= {key: parse_allowed(LIMITS[key], text) for key, text in given.items()}
    return tuple((key, found[key]) for key in LIMITS if key in found)


def read_budgets(file: Path) -> dict[str, Decimal]:
    """Read budgets from a TOML file: `max-total-usd = 50`, `max-error-rate = "10%"`.

    Raises UsageError that names what is wrong.
    """
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"), parse_float=Decimal)
    except OSError as error:
        raise UsageError(
            f"cannot read the budgets in {file}: {error.strerror}.",
            f"Write a file with a line such as: {EXAMPLE}",
        ) from error
    except ValueError as error:
        raise UsageError(
            f"cannot read the budgets in {file}: {error}.", f"A line is written: {EXAMPLE}"
        ) from error
    found = {}
    for key, value in values.items():
        if key not in LIMITS:
            raise UsageError(f"unknown budget {key!r} in {file}.", choices_for(key, LIMITS))
        try:
            found[key] = parse_allowed(LIMITS[key], str(value))
        except UsageError as error:
            raise UsageError(f"{file}: {error.message}", error.hint) from error
    return found


def as_options(budgets: Budgets) -> list[str]:
    """Return budgets as command line options: `--max-total-usd 50`."""
    return [word for key, allowed in budgets for word in (f"--{key}", f"{allowed.normalize():f}")]


def to_environment(budgets: Budgets) -> dict[str, str]:
    """Return the environment variable that passes budgets on."""
    return {VARIABLE: " ".join(f"{key}={allowed.normalize():f}" for key, allowed in budgets)}


def from_environment() -> Budgets:
    """Return the budgets of this process, possibly none. Raises UsageError."""
    pairs = (pair.partition("=") for pair in os.environ.get(VARIABLE, "").split())
    return budgets_of({key: text for key, _, text in pairs if key in LIMITS})
