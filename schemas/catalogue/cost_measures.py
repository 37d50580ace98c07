"""What a cost is: as the agents report it, at list prices, or the one and else the other. All sums of an answer are of the same."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CostMeasure:
    """One way to count what runs cost. `key` is its word in links and for `--cost`.

    `column` holds it in runs and in rows of models. `noun` names it in a sentence where the other measure is the usual one, `lacks` says
    of how many runs it is unknown (a metric), and `prefix` begins the keys of its metrics.
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
        """The metric that adds it up."""
        return f"{self.prefix}usd"

    @property
    def share(self) -> str:
        """The metric of a group's share of the total."""
        return f"{self.prefix}share"

    def of(self, key: str) -> str:
        """The metric of the same kind by this measure: `cost_median_usd` → `cost_list_median_usd`. One of no cost is itself."""
        kind = key.removeprefix(REPORTED.prefix)
        return f"{self.prefix}{kind}" if kind != key and kind in KINDS else key

    def among(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        """The metrics by this measure, each once."""
        return tuple(dict.fromkeys(map(self.of, keys)))


KINDS = ("usd", "share", "mean_usd", "median_usd", "p90_usd", "max_usd", "per_turn_usd", "per_completed_usd")
"""Metrics that each measure has, without the prefix of their keys."""

REPORTED = CostMeasure("reported", "Reported cost", "cost_own_usd", "cost", "unreported_runs", "cost_")
LIST = CostMeasure("list", "List-price cost", "cost_list_usd", "list-price cost", "unlisted_runs", "cost_list_")

BEST = CostMeasure("best", "Best-known cost", "cost_best_usd", "cost", "costless_runs", "cost_best_")

COST_MEASURES = {measure.key: measure for measure in (BEST, REPORTED, LIST)}
"""All, the usual one first: what agents are compared by."""

ON_SCREENS = tuple(COST_MEASURES.values())
"""Those that screens offer to choose from."""

GROUP_COSTS = frozenset(f"{measure.prefix}{kind}" for measure in ON_SCREENS for kind in KINDS)
"""Columns of groups with a cost by one of the measures: known for so many of the runs that started."""

NEARLY_ALL = 0.9
"""Share of the started runs from which on a cost says nothing of how many it is known for."""

_BOUNDED = {LIST: ("token_bounds", "tokens_basis"), BEST: ("cost_best_bounds",)}
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
"""Column of a cost → the columns that say which bounds it includes, of groups or of a run. A reported cost has none.

A sum with a bound in it is a bound; a median is one where more than half of its runs are.
"""
