"""Figures of what summaries claim and of what the rules find, over `v_runs`. A part of `schemas.catalogue.metrics`."""

from __future__ import annotations

from schemas.catalogue.entry import Metric, by_key, over
from schemas.unit_names import Unit

_HEADLINE = "the run's top claim (its own claim to be faster; before/after values first, then the broadest scope)"
_WITH_CLAIM = "Runs whose summary claims, with a number, that something became faster."
_BENCHMARKED = "Runs whose top claim says how its numbers were obtained: a benchmark, a profile or repeated runs."
_PARTIAL = "Runs whose top claim is about a micro-benchmark or one component only, not about the whole program."
_MEDIAN = f"Median (p50) of {_HEADLINE}. Claimed, not measured."
_FINDINGS = "Number of findings; see `tachograph findings`."

CLAIM_METRICS = by_key(
    over("claims", "claims", "Quantified claims", Unit.COUNT, "neither", "Claims with a number that summaries make about their own work."),
    Metric(
        "runs_with_claim", "Runs claiming a speedup", Unit.COUNT, "neither", _WITH_CLAIM,
        sql="count(claimed_speedup)", known="count(claims)",
    ),
    Metric(
        "runs_benchmarked", "With a stated benchmark", Unit.COUNT, "neither", _BENCHMARKED,
        sql="count(claimed_speedup) filter (claimed_evidence = 'benchmarked')", known="count(claims)",
    ),
    Metric(
        "runs_partial_claim", "Micro-benchmark or component only", Unit.COUNT, "neither", _PARTIAL,
        sql="count(claimed_speedup) filter (claimed_scope in ('micro', 'component'))", known="count(claims)",
    ),
    over("claimed_speedup", "claimed_speedup_median", "Claimed speedup (p50)", Unit.RATIO, "neither", _MEDIAN, "median"),
    over("findings", "findings", "Findings", Unit.COUNT, "lower", _FINDINGS),
    over("error_findings", "error_findings", "Errors found", Unit.COUNT, "lower", "Number of findings of severity error."),
)  # fmt: skip
"""Claims are what agents say; nothing here was measured by Tachograph."""
