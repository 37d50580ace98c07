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
        Limit("max-total-usd", "cost_usd", "Most that all runs together may report.", of="total"),
        Limit("max-run-usd", "cost_max_usd", "Most that a single run may report."),
        Limit("max-day-usd", "cost_usd", "Most that the runs of a day (of --tz) may report.", of="dearest day", per="day"),
        Limit("max-error-rate", "error_rate", "Largest share of runs that did not complete: 0.05 or 5%."),
        Limit("max-unpriced-share", "unpriced_share", "Largest share of runs whose list cost is unknown."),
        Limit("min-runs", "runs", "Least number of runs that must match, so that an empty store does not pass.", is_least=True),
    )
}
