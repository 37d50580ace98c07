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

BEST = CostMeasure("best", "Best-known cost", "cost_best_usd", "best-known cost", "costless_runs", "cost_best_")

COST_MEASURES = {measure.key: measure for measure in (REPORTED, LIST, BEST)}
"""All, the usual one first."""

ON_SCREENS = (BEST, REPORTED, LIST)
"""Those that screens offer to choose from."""

BOUNDS = {LIST.column: ("token_bounds", "tokens_basis"), BEST.column: ("cost_best_bounds",)}
"""Column of a cost → the columns that say which bounds it includes, of groups or of a run. A reported cost has none."""
