"""Figures of what was measured beside what was claimed, over `v_runs` joined with `v_verdicts`: one row is one run.

Cost per verified speedup counts the cost of all runs of a group, those that failed included. Calibration compares claims with
measurements of the same run; with fewer than MIN_PAIRS pairs it says nothing.
"""

from __future__ import annotations

from schemas.catalogue.entry import Entry, Metric, by_key
from schemas.catalogue.metrics import RUN_METRICS
from schemas.unit_names import Unit

MIN_PAIRS = 5
"""Fewest pairs of claim and measurement that a calibration rests on."""

_PAIR = "claimed_speedup > 0 and measured_speedup > 0"
_ENOUGH = f"case when count(*) filter ({_PAIR}) >= {MIN_PAIRS} then {{}} end"
_LOG = f"exp(median(ln(claimed_speedup / measured_speedup)) filter ({_PAIR}))"
_MONEY = "cast({} as decimal(38, 9))"
_COMPARED = "measured_speedup is not null"
_REACHED = "hard in ('beats', 'similar')"


def _count(key: str, label: str, condition: str, meaning: str) -> Metric:
    return Metric(key, label, Unit.COUNT, "neither", meaning, sql=f"count(*) filter ({condition})", known="count(*)")


def _share(key: str, label: str, condition: str, meaning: str) -> Metric:
    share = f"count(*) filter ({condition}) / nullif(count(*) filter ({_PAIR}), 0)"
    return Metric(key, label, Unit.SHARE, "neither", meaning, sql=_ENOUGH.format(share), known=f"count(*) filter ({_PAIR})")


def _cost_per(key: str, label: str, condition: str, meaning: str, of_runs: str = "true") -> Metric:
    cost = f"sum(cost_own_usd) filter ({of_runs}) / nullif(count(*) filter ({condition}), 0)"
    return Metric(key, label, Unit.USD, "lower", meaning, sql=_MONEY.format(cost), known=f"count(cost_own_usd) filter ({of_runs})")


VERDICT_METRICS = by_key(
    RUN_METRICS["runs"],
    RUN_METRICS["cost_usd"],
    _count("runs_measured", "Measured", "values_measured > 0", "Runs whose change a benchmark measured, or tried to."),
    _count("runs_compared", "Compared with baseline", _COMPARED, "Measured runs with a comparable value of the baseline."),
    _count("runs_faster", "Measured faster", "verdict = 'faster'", "Runs measured faster than the baseline: verified speedups."),
    _count("runs_same", "Measured same", "verdict = 'same'", "Runs measured within the band around the baseline."),
    _count("runs_slower", "Measured slower", "verdict = 'slower'", "Runs measured slower than the baseline."),
    _count("runs_failed", "Measurement failed", "verdict = 'failed'", "Runs whose patch, benchmark or machine failed."),
    _count(
        "runs_not_comparable", "Not comparable", "verdict = 'not_comparable'", "Measured runs without a comparable value of the baseline."
    ),
    _count("runs_reached", "Reached the reference", _REACHED, "Runs measured at least as good as the reference, within 5% of it."),
    _count("runs_q1", "True success (Q1)", "quadrant = 'Q1'", "Runs that reached the reference and worked on the same bottleneck."),
    _count("runs_q2", "Good intent (Q2)", "quadrant = 'Q2'", "Runs that worked on the bottleneck and did not reach the reference."),
    _count("runs_q3", "Lucky win (Q3)", "quadrant = 'Q3'", "Runs that reached the reference by working on something else."),
    _count("runs_q4", "Failure (Q4)", "quadrant = 'Q4'", "Runs that neither reached the reference nor worked on the bottleneck."),
    _cost_per(
        "cost_per_faster_usd", "Cost per verified speedup", "verdict = 'faster'",
        "Reported cost of all runs divided by the number measured faster than the baseline.",
    ),
    _cost_per(
        "cost_per_faster_compared_usd", "Cost per verified speedup, compared runs", "verdict = 'faster'",
        "Reported cost of the runs with a comparable baseline divided by the number measured faster.", _COMPARED,
    ),
    Metric(
        "cost_compared_runs_usd", "Cost of compared runs", Unit.USD, "neither", "Reported cost of the runs with a comparable baseline.",
        sql=f"sum(cost_own_usd) filter ({_COMPARED})", known=f"count(cost_own_usd) filter ({_COMPARED})",
    ),
    _cost_per(
        "cost_per_reached_usd", "Cost per reference reached", _REACHED,
        "Reported cost of all runs divided by the number that reached the reference.",
    ),
    _count("pairs", "Claimed and measured", _PAIR, "Runs with a claimed and a measured ratio against the baseline."),
    Metric(
        "claimed_over_measured", "Claimed ÷ measured (p50)", Unit.RATIO, "neither",
        f"Median of claimed speedup ÷ measured speedup, on a logarithmic scale. Unknown below {MIN_PAIRS} pairs.",
        sql=_ENOUGH.format(_LOG), known=f"count(*) filter ({_PAIR})",
    ),
    _share("wrong_sign_share", "Wrong sign", "claim_verdict = 'wrong_sign'", "Share of the pairs claimed faster and measured slower."),
    _share("kept_share", "Claims kept", "claim_verdict = 'kept'", "Share of the pairs whose claim was measured within the band."),
    Metric(
        "overclaim_max", "Max claimed ÷ measured", Unit.RATIO, "lower",
        "Largest claimed speedup ÷ measured speedup of the same scope.", sql="max(overclaim_factor)", known="count(overclaim_factor)",
    ),
)  # fmt: skip

VERDICT_TEXTS = by_key(
    Entry("cost_per_faster", "Cost per verified speedup", meaning=VERDICT_METRICS["cost_per_faster_usd"].meaning),
    Entry(
        "cost_per_faster_compared",
        "Cost per verified speedup, compared runs",
        meaning=VERDICT_METRICS["cost_per_faster_compared_usd"].meaning,
    ),
    Entry("cost_per_reached", "Cost per reference reached", meaning=VERDICT_METRICS["cost_per_reached_usd"].meaning),
)
"""The same for people: `none for $7.79` where there is none."""
