"""Limits that `tachograph check` knows, once: the option, the figure it bounds, and what it is called."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.catalogue.metrics import RUN_METRICS


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound on a metric of the runs, or of the worst group of a dimension (`per`). `name`: its name, else the metric's label."""

    key: str
    metric: str
    help: str
    name: str = ""
    per: str = ""
    is_least: bool = False

    @property
    def label(self) -> str:
        """What is bounded."""
        return self.name or RUN_METRICS[self.metric].label


LIMITS = {
    limit.key: limit
    for limit in (
        Limit("max-total-usd", "cost_usd", "Maximum total cost.", name="Total cost"),
        Limit("max-run-usd", "cost_max_usd", "Maximum cost of a single run."),
        Limit("max-day-usd", "cost_usd", "Maximum cost of one day (in --tz).", name="Max cost per day", per="day"),
        Limit("max-error-rate", "error_rate", "Maximum failure rate: 0.05 or 5%."),
        Limit("max-unpriced-share", "unpriced_share", "Maximum share of runs without a list-price cost: 0.05 or 5%."),
        Limit("min-runs", "runs", "Minimum number of runs that must match.", is_least=True),
    )
}
