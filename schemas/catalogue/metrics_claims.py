"""Figures of what summaries claim and of what the rules find, over `v_runs`. A part of `schemas.catalogue.metrics`."""

from __future__ import annotations

from schemas.catalogue.metric import Metric, over, table
from schemas.catalogue.unit_names import Unit

_HEADLINE = "the run's headline claim (own, faster; measured before stated, then broadest scope)"

CLAIM_METRICS = table(
    over("claims", "claims", "Claims in figures", Unit.COUNT, "neither", "Quantified claims that summaries make about their own work."),
    Metric(
        "runs_with_claim",
        "Runs with a claimed speedup",
        "count(claimed_speedup)",
        "count(claims)",
        Unit.COUNT,
        "neither",
        "Runs whose summary claims, in figures, that its work made something faster.",
    ),
    Metric(
        "runs_benchmarked",
        "Benchmarked in runs",
        "count(claimed_speedup) filter (claimed_evidence = 'benchmarked')",
        "count(claims)",
        Unit.COUNT,
        "neither",
        "Runs whose headline claim says how its numbers came about: a benchmark, a profile, measured runs.",
    ),
    over(
        "claimed_speedup",
        "claimed_speedup_median",
        "Claimed speedup, median",
        Unit.RATIO,
        "neither",
        f"Half of the runs with a claimed speedup claim less: {_HEADLINE}. Claimed, not measured.",
        "median({})",
    ),
    over(
        "findings", "findings", "Findings", Unit.COUNT, "lower", "Things that the rules noticed about the runs; see `tachograph findings`."
    ),
    over("alarms", "alarms", "Alarms", Unit.COUNT, "lower", "Findings about figures that cannot be right."),
)
"""Claims are what agents say; nothing here was measured by Tachograph."""
