"""Columns of measurements and verdicts, as `schemas.catalogue.columns` has those of all else."""

from __future__ import annotations

from schemas.catalogue.columns import GROUPS, RUNS, Groups, entries_of
from schemas.catalogue.entry import Columns, Entry, by_key
from schemas.catalogue.metrics_measured import MEASURED_CLASSES, VERDICT_METRICS, VERDICT_TEXTS
from schemas.rows.measurement import MeasurementRow
from schemas.unit_names import Unit

_ROW = entries_of(MeasurementRow)
_RUN = ("run_id", "title", "agent", "model", "repo", "task", "cost_own_usd", "cost_list_usd", "dated_at", "outcome")
_CLAIMED = ("claimed_speedup", "claimed_metric", "claimed_evidence", "claimed_scope", "claimed_quote")

MEASUREMENTS: Columns = {
    **_ROW,
    **by_key(
        Entry("source_name", "File", meaning="File of the benchmark result."),
        Entry("joined_run_id", "Run", meaning="The run whose change was measured."),
        Entry("joined_by", "Joined by", meaning="What measurement and run have in common."),
        Entry("unjoined", "Why no run", meaning="Why no run was found for the measurement."),
        Entry("rows", "Values", Unit.COUNT, meaning="Measured values."),
        Entry("said", "Said at ingest", meaning="What --measure or measure.toml says about the file."),
    ),
}
"""One measured value, with the run it belongs to; or one group of values that belong to no run."""

VERDICTS: Columns = {
    **{key: RUNS[key] for key in (*_RUN, *_CLAIMED)},
    **{key: _ROW[key] for key in ("format", "benchmark", "metric", "statistic", "unit", "failure", "failure_detail")},
    **by_key(
        Entry("verdict", "Measured", meaning="Against the baseline: faster, same, slower, failed, not measured or not comparable."),
        Entry("measured_class", "What became of it", meaning=f"One of: {'; '.join(MEASURED_CLASSES.values())}."),
        Entry("measured_speedup", "Measured speedup", Unit.RATIO, "higher", "Measured improvement against the baseline. Above 1: better."),
        Entry("measured_low", "Measured from", Unit.RATIO, meaning="Lower end of the 95% interval. Empty: a single run, no interval."),
        Entry("measured_high", "Measured to", Unit.RATIO, meaning="Upper end of the 95% interval."),
        Entry("reference_verdict", "Against reference", meaning="Against the reference: faster, same, slower, failed, not measured …"),
        Entry("measured_vs_reference", "Ratio to reference", Unit.RATIO, "higher", "Measured ratio to the reference. Above 1: better."),
        Entry("claim_verdict", "Claim", meaning="kept, over-claimed, under-claimed, wrong sign or no claim; empty: not compared."),
        Entry("overclaim_factor", "Claimed ÷ measured", Unit.RATIO, "lower", "Claimed speedup ÷ measured speedup of the same scope."),
        Entry("why", "Note", meaning="Why there is no ratio, or what to mind about it."),
        Entry("measured_baseline", "Baseline", Unit.COUNT, meaning="Measured value of the baseline."),
        Entry("measured_reference", "Reference", Unit.COUNT, meaning="Measured value of the reference."),
        Entry("measured_candidate", "Candidate", Unit.COUNT, meaning="Measured value of the run's change."),
        Entry("measured_scope", "Scope measured", meaning="How much of the software the benchmark covers."),
        Entry("scope_differs", "Scope differs", meaning="Whether claim and measurement cover different parts of the software."),
        Entry("is_single_run", "Single run", meaning="Whether the ratio has no interval: the band is a convention then."),
        Entry("hard", "Hard", meaning="ISO-Bench's label against the reference: beats, similar or worse."),
        Entry("target", "Target", meaning="Published judgement: same_target, related_target or different_target."),
        Entry("quadrant", "Quadrant", meaning="ISO-Bench's quadrant: Q1 true success, Q2 good intent, Q3 lucky win, Q4 failure."),
        Entry("values_measured", "Values", Unit.COUNT, meaning="Measured values of the run."),
        Entry("values_comparable", "Comparable", Unit.COUNT, meaning="Of these, with a comparable baseline."),
        Entry("source_name", "File", meaning="File of the benchmark result."),
    ),
}
"""One run: what it claimed beside what was measured."""

UNCOMPARED: Columns = by_key(
    Entry("verdict", "Result", meaning="Whether the measurement failed, has no baseline, or one that cannot be compared."),
    Entry("reason", "Reason", meaning="Why there is no measured ratio: the first reason of each run."),
    Entry("runs", "Runs", Unit.COUNT, meaning="Measured runs with this reason."),
)
"""One reason why measured runs have no ratio."""

VERDICT_GROUPS: Columns = Groups({**GROUPS, **VERDICT_METRICS, **VERDICT_TEXTS})
"""One group of runs: dimensions, VERDICT_METRICS and their words."""

PUBLISHED: Columns = {
    **{key: _ROW[key] for key in ("repo", "agent", "model")},
    **{key: VERDICT_METRICS[key] for key in ("runs_q1", "runs_q2", "runs_q3", "runs_q4")},
    **by_key(
        Entry("tasks", "Tasks", Unit.COUNT, meaning="Tasks with a published judgement."),
        Entry("true_success_share", "True success", Unit.SHARE, "higher", "Share of the tasks in Q1."),
        Entry("reached_share", "Hard success", Unit.SHARE, "higher", "Share of the tasks that beat or reach the reference."),
    ),
}
"""Published judgements of one agent and model on one repository."""

SPEEDUPS: Columns = {
    **{key: MEASUREMENTS[key] for key in ("benchmark", "metric", "statistic", "unit", "scope", "format", "measured_at")},
    **by_key(
        Entry("base", "Compared with", meaning="baseline or reference."),
        Entry("base_value", "Base value", Unit.COUNT, meaning="Measured value of the baseline or reference."),
        Entry("candidate_value", "Candidate", Unit.COUNT, meaning="Measured value of the run's change."),
        Entry("ratio", "Ratio", Unit.RATIO, "higher", "Above 1: better than the baseline or reference."),
        Entry("ratio_low", "Ratio from", Unit.RATIO, meaning="Lower end of the 95% interval. Empty: a single run, no interval."),
        Entry("ratio_high", "Ratio to", Unit.RATIO, meaning="Upper end of the 95% interval."),
        VERDICTS["verdict"],
        VERDICTS["why"],
        VERDICTS["source_name"],
        Entry("files", "Files", Unit.COUNT, meaning="Files that tell this value."),
    ),
}
"""One measured value of a run beside that of the baseline or the reference."""
