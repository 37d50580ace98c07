"""Limits that `tachograph check` knows, once: the option, the figure it bounds, and what it is called."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.catalogue.entry import Metric
from schemas.catalogue.metrics import RUN_METRICS
from schemas.catalogue.metrics_measured import VERDICT_METRICS


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound on a metric of the runs, or of the worst group of a dimension (`per`). `name`: its name, else the metric's label.

    `rests_on`: a count of runs without which the metric says nothing, where that is not the metric's own.
    """

    key: str
    metric: str
    help: str
    name: str = ""
    per: str = ""
    is_least: bool = False
    rests_on: str = ""

    @property
    def bounded(self) -> Metric:
        """The metric."""
        return RUN_METRICS.get(self.metric) or VERDICT_METRICS[self.metric]

    @property
    def is_of_measured(self) -> bool:
        """Whether the metric is about what was measured."""
        return self.metric not in RUN_METRICS

    @property
    def label(self) -> str:
        """What is bounded."""
        return self.name or self.bounded.label


LIMITS = {
    limit.key: limit
    for limit in (
        Limit("max-total-usd", "cost_usd", "Maximum total cost.", name="Total cost"),
        Limit("max-run-usd", "cost_max_usd", "Maximum cost of a single run."),
        Limit("max-day-usd", "cost_usd", "Maximum cost of one day (in --tz).", name="Max cost per day", per="day"),
        Limit("max-error-rate", "error_rate", "Maximum failure rate: 0.05 or 5%."),
        Limit("max-unpriced-share", "unpriced_share", "Maximum share of unpriced runs, which have no list-price cost: 0.05 or 5%."),
        Limit("min-runs", "runs", "Minimum number of runs that must match.", is_least=True),
        Limit(
            "min-verified-speedups",
            "runs_faster",
            "Minimum number of runs measured faster than the baseline.",
            name="Verified speedups",
            is_least=True,
            rests_on="runs_compared",
        ),
        Limit("max-overclaim", "overclaim_max", "Maximum over-claim of a run: claimed ÷ measured speedup, both of the same scope."),
    )
}
