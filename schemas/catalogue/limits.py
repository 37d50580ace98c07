"""Limits that `tachograph check` knows, once: the option, the figure it bounds, and what it is called."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound on a metric of the runs, or of the worst group of a dimension (`per`)."""

    key: str
    metric: str
    label: str
    help: str
    per: str = ""
    is_least: bool = False


LIMITS = {
    limit.key: limit
    for limit in (
        Limit("max-total-usd", "cost_usd", "Reported cost, total", "Most that all runs together may report."),
        Limit("max-run-usd", "cost_max_usd", "Reported cost, dearest run", "Most that a single run may report."),
        Limit("max-day-usd", "cost_usd", "Reported cost, dearest day", "Most that the runs of a day (of --tz) may report.", per="day"),
        Limit("max-error-rate", "error_rate", "Runs not completed", "Largest share of runs that did not complete: 0.05 or 5%."),
        Limit("max-unpriced-share", "unpriced_share", "Runs without a list cost", "Largest share of runs whose list cost is unknown."),
        Limit("min-runs", "runs", "Runs", "Least number of runs that must match, so that an empty store does not pass.", is_least=True),
    )
}
