"""Limits that `tachograph check` knows, once: the option, the figure it bounds, and what it is called."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.catalogue.metrics import RUN_METRICS


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound on a metric of the runs, or of the worst group of a dimension (`per`). `of` says of what where the metric's name does not."""

    key: str
    metric: str
    help: str
    of: str = ""
    per: str = ""
    is_least: bool = False

    @property
    def label(self) -> str:
        """What is bounded: the name of the metric, and of what it is."""
        return ", ".join(filter(None, (RUN_METRICS[self.metric].label, self.of)))


LIMITS = {
    limit.key: limit
    for limit in (
        Limit("max-total-usd", "cost_usd", "Maximum total cost.", of="total"),
        Limit("max-run-usd", "cost_max_usd", "Maximum cost of a single run."),
        Limit("max-day-usd", "cost_usd", "Maximum cost of a day (time zone: --tz).", of="most expensive day", per="day"),
        Limit("max-error-rate", "error_rate", "Maximum failure rate (runs that did not complete): 0.05 or 5%."),
        Limit("max-unpriced-share", "unpriced_share", "Maximum share of runs without a list price."),
        Limit("min-runs", "runs", "Minimum number of runs.", is_least=True),
    )
}
