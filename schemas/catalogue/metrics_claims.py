"""Figures of what summaries claim and of what the rules find, over `v_runs`. A part of `schemas.catalogue.metrics`."""

from __future__ import annotations

from schemas.catalogue.entry import Metric, by_key, over
from schemas.unit_names import Unit

_HEADLINE = "the run's headline claim (own, faster; measured before stated, then broadest scope)"
_WITH_CLAIM = "Runs whose summary claims, in figures, that its work made something faster."
_BENCHMARKED = "Runs whose headline claim says how its numbers came about: a benchmark, a profile, measured runs."
_MEDIAN = f"Half of the runs with a claimed speedup claim less: {_HEADLINE}. Claimed, not measured."
_FINDINGS = "Things that the rules noticed about the runs; see `tachograph findings`."

CLAIM_METRICS = by_key(
    over("claims", "claims", "Claims in figures", Unit.COUNT, "neither", "Quantified claims that summaries make about their own work."),
    Metric(
        "runs_with_claim", "Runs with a claimed speedup", Unit.COUNT, "neither", _WITH_CLAIM,
        sql="count(claimed_speedup)", known="count(claims)",
    ),
    Metric(
        "runs_benchmarked", "Benchmarked in runs", Unit.COUNT, "neither", _BENCHMARKED,
        sql="count(claimed_speedup) filter (claimed_evidence = 'benchmarked')", known="count(claims)",
    ),
    over("claimed_speedup", "claimed_speedup_median", "Claimed speedup, median", Unit.RATIO, "neither", _MEDIAN, "median"),
    over("findings", "findings", "Findings", Unit.COUNT, "lower", _FINDINGS),
    over("error_findings", "error_findings", "Error findings", Unit.COUNT, "lower", "Findings about figures that cannot be right."),
)  # fmt: skip
"""Claims are what agents say; nothing here was measured by Tachograph."""
