"""Figures of what was measured beside what was claimed, over `v_runs` joined with `v_verdicts`: one row is one run.

Cost per verified speedup counts what all started runs of a group cost, failed ones included, as best known. Calibration compares claims
with measurements of the same run; with fewer than MIN_PAIRS pairs it says nothing.
"""

from __future__ import annotations

from schemas.catalogue.entry import Entry, Metric, by_key
from schemas.catalogue.metrics import RUN_METRICS
from schemas.unit_names import Unit

BAND = 0.05
"""Distance from 1 within which a measured ratio is called the same, unless another is chosen; `v_speedups` has the same."""

MIN_PAIRS = 5
"""Fewest pairs of claim and measurement that a calibration rests on."""


MEASURED_CLASSES = {
    "faster": "faster",
    "same": "same",
    "slower": "slower",
    "breaks": "the change breaks",
    "failed_unknown": "failed, reason unknown",
    "no_baseline": "no baseline",
    "other_setup": "other set-up or workload",
    "machine": "machine or model missing",
    "not_measured": "not measured",
}
"""What became of a run's measurement, and what people call it: each run is in exactly one of these, of several obstacles the first."""

PAIR = "claimed_speedup > 0 and measured_speedup > 0"
"""The condition on a run that has a claim and a measurement to compare."""

_ENOUGH = f"case when count(*) filter ({PAIR}) >= {MIN_PAIRS} then {{}} end"
_LOG = f"exp(median(ln(claimed_speedup / measured_speedup)) filter ({PAIR}))"
_MONEY = "cast({} as decimal(38, 9))"
_COMPARED = "measured_speedup is not null"
_LABELLED = "quadrant is not null"
_REACHED = "hard in ('beats', 'similar')"


def _count(key: str, label: str, condition: str, meaning: str, short: str = "") -> Metric:
    return Metric(key, label, Unit.COUNT, "neither", meaning, short=short, sql=f"count(*) filter ({condition})", known="count(*)")


def _share(key: str, label: str, condition: str, meaning: str) -> Metric:
    share = f"count(*) filter ({condition}) / nullif(count(*) filter ({PAIR}), 0)"
    return Metric(key, label, Unit.SHARE, "neither", meaning, sql=_ENOUGH.format(share), known=f"count(*) filter ({PAIR})")


def _quadrants(key: str, label: str, condition: str, meaning: str) -> Metric:
    share = f"count(*) filter ({condition}) / nullif(count(*) filter ({_LABELLED}), 0)"
    return Metric(key, label, Unit.SHARE, "higher", meaning, sql=share, known=f"count(*) filter ({_LABELLED})")


def _cost_per(key: str, label: str, condition: str, meaning: str, of_runs: str = "is_started") -> Metric:
    # a speedup of unknown cost makes the others no cheaper
    per = f"sum(cost_best_usd) filter ({of_runs}) / nullif(count(cost_best_usd) filter ({condition}), 0)"
    return Metric(key, label, Unit.USD, "lower", meaning, sql=_MONEY.format(per), known=f"count(cost_best_usd) filter ({of_runs})")


VERDICT_METRICS = by_key(
    RUN_METRICS["runs"],
    RUN_METRICS["never_started_runs"],
    RUN_METRICS["cost_best_usd"],
    RUN_METRICS["cost_best_bounds"],
    _count("runs_measured", "Measured", "values_measured > 0", "Runs whose change a benchmark measured, or tried to."),
    _count("runs_compared", "Compared with baseline", _COMPARED, "Measured runs with a comparable value of the baseline.", "Compared"),
    _count("runs_faster", "Measured faster", "verdict = 'faster'", "Runs measured faster than the baseline: verified speedups."),
    _count("runs_same", "Measured same", "verdict = 'same'", "Runs measured within the band around the baseline."),
    _count("runs_slower", "Measured slower", "verdict = 'slower'", "Runs measured slower than the baseline."),
    _count("runs_failed", "Measurement failed", "verdict = 'failed'", "Runs whose patch, benchmark or machine failed."),
    _count(
        "runs_not_comparable", "Not comparable", "verdict = 'not_comparable'",
        "Measured runs whose values cannot be compared with those of the baseline.",
    ),
    _count(
        "runs_without_baseline", "Without a baseline", "values_measured > 0 and verdict = 'not_measured'",
        "Measured runs whose baseline was not measured, or whose own benchmark was not run.",
    ),
    _count(
        "runs_reached", "Reached the reference", _REACHED, "Runs measured at least as good as the reference, within 5% of it.",
        "Reached",
    ),
    _count("runs_q1", "True success (Q1)", "quadrant = 'Q1'", "Runs that reached the reference and worked on the same bottleneck."),
    _count("runs_q2", "Good intent (Q2)", "quadrant = 'Q2'", "Runs that worked on the bottleneck and did not reach the reference."),
    _count("runs_q3", "Lucky win (Q3)", "quadrant = 'Q3'", "Runs that reached the reference by working on something else."),
    _count("runs_q4", "Failure (Q4)", "quadrant = 'Q4'", "Runs that neither reached the reference nor worked on the bottleneck."),
    _count("runs_labelled", "With a quadrant", _LABELLED, "Runs with one of ISO-Bench's quadrants."),
    _quadrants("true_success_share", "True success", "quadrant = 'Q1'", "Share of Q1 in the runs with a quadrant."),
    _quadrants("hard_success_share", "Hard success", "quadrant in ('Q1', 'Q3')", "Share of Q1 and Q3 in the runs with a quadrant."),
    _cost_per(
        "cost_per_faster_usd", "Cost per verified speedup", "verdict = 'faster'",
        "Best-known cost of all runs that started divided by the number of runs measured faster than the baseline.",
    ),
    _cost_per(
        "cost_per_faster_compared_usd", "Cost per verified speedup, compared runs", "verdict = 'faster'",
        "Best-known cost of the runs with a comparable baseline divided by the number measured faster.", _COMPARED,
    ),
    Metric(
        "cost_compared_runs_usd", "Cost of compared runs", Unit.USD, "neither", "Best-known cost of the runs with a comparable baseline.",
        sql=f"sum(cost_best_usd) filter ({_COMPARED})", known=f"count(cost_best_usd) filter ({_COMPARED})",
    ),
    Metric(
        "cost_compared_runs_bounds", "Bounds in the cost of compared runs", Unit.TEXT, "neither", "Which bounds that cost includes.",
        sql=f"string_agg(distinct cost_best_bounds, ', ' order by cost_best_bounds) filter ({_COMPARED})", known="count(*)",
    ),
    _cost_per(
        "cost_per_reached_usd", "Cost per reference reached", _REACHED,
        "Best-known cost of all runs that started divided by the number that reached the reference.",
    ),
    _count("pairs", "Claimed and measured", PAIR, "Runs with a claimed and a measured ratio against the baseline."),
    Metric(
        "claimed_over_measured", "Claimed ÷ measured (p50)", Unit.RATIO, "neither",
        f"Median of claimed speedup ÷ measured speedup, on a logarithmic scale. Unknown below {MIN_PAIRS} pairs.",
        sql=_ENOUGH.format(_LOG), known=f"count(*) filter ({PAIR})",
    ),
    _share("wrong_sign_share", "Wrong sign", "claim_verdict = 'wrong_sign'", "Share of the pairs claimed faster and measured slower."),
    _share("kept_share", "Claims kept", "claim_verdict = 'kept'", "Share of the pairs whose claim was measured within the band."),
    Metric(
        "overclaim_max", "Max claimed ÷ measured", Unit.RATIO, "lower",
        "Largest claimed speedup ÷ measured speedup of the same scope.", sql="max(overclaim_factor)", known="count(overclaim_factor)",
    ),
)  # fmt: skip

QUADRANTS = ("runs_q1", "runs_q2", "runs_q3", "runs_q4")
"""Runs by ISO-Bench's quadrants."""


VERDICT_TEXTS = by_key(
    Entry(
        "cost_per_faster",
        "Cost per verified speedup",
        meaning=VERDICT_METRICS["cost_per_faster_usd"].meaning,
        short="Cost per speedup, all runs",
    ),
    Entry(
        "cost_per_faster_compared",
        "Cost per verified speedup, compared runs",
        meaning=VERDICT_METRICS["cost_per_faster_compared_usd"].meaning,
        short="Cost per speedup, compared runs",
    ),
    Entry("cost_per_reached", "Cost per reference reached", meaning=VERDICT_METRICS["cost_per_reached_usd"].meaning),
)
"""The same for people: `none for $7.79` where there is none."""
