"""What two cohorts of runs cost together, and how many of them were measured faster. `app.text.words.totals` says it in a sentence."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from decimal import Decimal

from app.queries import measured as measured_queries
from app.queries.cost import COST_FACTS, is_comparable
from app.queries.filters.chosen import Filters
from app.queries.read_transaction import read_transaction
from app.queries.runs import KNOWN_SUFFIX, summary
from ingest.store.database import Store
from schemas.catalogue.cost_measures import BEST, BOUNDS, LIST, CostMeasure


@dataclass(frozen=True)
class Totals:
    """The runs of one cohort. `known`: how many of them have a cost, which includes these `bounds`.

    `verified`: runs measured faster, None where none was compared.
    """

    runs: int
    cost_usd: Decimal | None
    known: int
    verified: int | None
    bounds: str | None = None


@dataclass(frozen=True)
class TwoTotals:
    """Both cohorts. `measure`: the cost that both are counted by."""

    baseline: Totals
    candidate: Totals
    measure: CostMeasure
    is_comparable: bool

    @property
    def change(self) -> Decimal | None:
        """Relative change of the cost; None where the sums are of different kinds, rest on less than five values, or there was none."""
        before, after = self.baseline.cost_usd, self.candidate.cost_usd
        return None if not self.is_comparable or after is None or not before else after / before - 1


def two_totals(baseline: tuple[Store, Filters], candidate: tuple[Store, Filters]) -> TwoTotals:
    """Totals of two cohorts, each of its store, by the best-known cost; at list prices where only these compare. Raises StoreError."""
    is_same = baseline[0].location == candidate[0].location
    with read_transaction(candidate[0]) as second, nullcontext(second) if is_same else read_transaction(baseline[0]) as first:
        sides = ((first, baseline[1]), (second, candidate[1]))
        facts = [summary(store, filters, metrics=COST_FACTS).to_pylist()[0] for store, filters in sides]
        # one basis on both sides: list prices where the best-known costs are of different kinds
        measure = BEST if is_comparable(facts[0], facts[1], BEST) else LIST if is_comparable(facts[0], facts[1], LIST) else BEST
        measured = [measured_queries.totals(store, filters) for store, filters in sides]
    one, two = (
        Totals(
            row["runs"],
            row[measure.total],
            row[f"{measure.total}{KNOWN_SUFFIX}"] or 0,
            found["runs_faster"] if found and found["runs_compared"] else None,
            row[BOUNDS[measure.total][0]] if measure.total in BOUNDS else None,
        )
        for row, found in zip(facts, measured, strict=True)
    )
    return TwoTotals(one, two, measure, is_comparable(facts[0], facts[1], measure))
