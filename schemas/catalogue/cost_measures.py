"""The ways to count a cost.

As the agents report it, at list prices, the former with the latter as a fallback, or that with the
machine that the run held.

All sums of one answer use the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class CostMeasure:
    """One way to count what runs cost. `key` is its word in links and for `--cost`.

    `column` holds it in runs and model rows. `noun` names it in sentences about another measure,
    `lacks` is the metric that counts the runs without it, and `prefix` begins the keys of its
    metrics.
    """

    key: str
    label: str
    column: str
    noun: str
    lacks: str
    prefix: str

    @property
    def name(self) -> str:
        """The label within a sentence."""
        return self.label[0].lower() + self.label[1:]

    @property
    def total(self) -> str:
        """Key of the metric that sums it."""
        return f"{self.prefix}usd"

    @property
    def share(self) -> str:
        """Key of the metric of a group's share of the total."""
        return f"{self.prefix}share"

    def of(self, key: str) -> str:
        """Return the key of the same metric by this measure.

        `cost_median_usd` → `cost_list_median_usd`.

        Other keys are returned unchanged.
        """
        kind = key.removeprefix(REPORTED.prefix)
        return f"{self.prefix}{kind}" if kind != key and kind in KINDS else key

    def among(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        """Return the metrics by this measure, each once."""
        return tuple(dict.fromkeys(map(self.of, keys)))


KINDS = (
    "usd",
    "share",
    "mean_usd",
    "median_usd",
    "p90_usd",
    "max_usd",
    "per_turn_usd",
    "per_completed_usd",
)
"""Metrics of each measure, without the prefix."""

REPORTED = CostMeasure(
    "reported", "Reported cost", "cost_own_usd", "cost", "unreported_runs", "cost_"
)
LIST = CostMeasure(
    "list", "List-price cost", "cost_list_usd", "list-price cost", "unlisted_runs", "cost_list_"
)

BEST = CostMeasure(
    "best", "Best-known cost", "cost_best_usd", "cost", "costless_runs", "cost_best_"
)

ALL_IN = CostMeasure(
    "all-in", "All-in cost", "cost_all_usd", "all-in cost", "machineless_runs", "cost_all_"
)

COST_MEASURES = {measure.key: measure for measure in (BEST, REPORTED, LIST, ALL_IN)}
"""All measures; the default, by which agents are compared, comes first."""

ON_SCREENS = tuple(COST_MEASURES.values())
"""Measures that screens offer; ALL_IN only where the rate of a machine is known."""

GROUP_COSTS = frozenset(f"{measure.prefix}{kind}" for measure in ON_SCREENS for kind in KINDS)
"""Columns of groups with a cost, which may be known for only some of the runs that started."""

NEARLY_ALL = Fraction(9, 10)
"""From this share of the started runs on, a cost is shown without the number of runs that have it.
"""

_BOUNDED = {
    LIST: ("token_bounds", "tokens_basis"),
    BEST: ("cost_best_bounds",),
    ALL_IN: ("cost_all_bounds",),
}
_MEDIAN = "median_usd"

BOUNDS = {
    **{measure.column: told for measure, told in _BOUNDED.items()},
    **{
        f"{measure.prefix}{kind}": (f"{measure.prefix}median_bounds",) if kind == _MEDIAN else told
        for measure, told in _BOUNDED.items()
        for kind in KINDS
        if kind != "share"
    },
}
"""Cost column (of groups or a run) → the columns that say which bounds it includes. A reported cost
has none.

A sum with a bound in it is a bound; a median is one if more than half of its runs are.
"""
