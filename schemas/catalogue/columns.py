"""Every visible column, by the kind of row of its table.

`RUNS["duration_ms"]`, `GROUPS["cost_usd"]`, `CLAIMS["ratio"]`.

One name may mean two things: `cost_list_usd` is a run's in RUNS and a sum in GROUPS. Stored columns
are described by the row models (title, unit of the type, description), derived ones in `figures`,
aggregates in `metrics`, and columns of a single table here.
"""

from __future__ import annotations

from dataclasses import replace

from schemas.catalogue.dimensions import DIMENSIONS, LABEL, LABEL_PREFIX, MODEL_DIMENSIONS, SYNONYMS
from schemas.catalogue.entry import Better, Columns, Entry, Figure, by_key
from schemas.catalogue.figures import MODEL_FIGURES, RUN_FIGURES
from schemas.catalogue.metrics import (
    MEASURED_CLASSES,
    MODEL_METRICS,
    RUN_METRICS,
    VERDICT_METRICS,
    VERDICT_TEXTS,
)
from schemas.catalogue.usage import LOWER_BOUNDS, TOOL_METRICS, USAGE_DIMENSIONS, USAGE_METRICS
from schemas.rows.annotation import AnnotationRow
from schemas.rows.claim import ClaimRow
from schemas.rows.landing import LandingRow
from schemas.rows.loop import ExperimentRow, LoopRow
from schemas.rows.measurement import MeasurementRow
from schemas.rows.response import ResponseRow
from schemas.rows.row import Row, stored_type
from schemas.rows.run import FileChangeRow, ModelUsageRow, RunRow, ToolCallRow
from schemas.rows.source import FindingRow, IngestRow, RejectRow, SourceRow
from schemas.units import Unit


class Groups(dict[str, Entry]):
    """Columns of groups; every `label:KEY` is one."""

    def __missing__(self, word: str) -> Entry:
        if not word.startswith(LABEL_PREFIX):
            raise KeyError(word)
        return Entry(
            word, f"{LABEL.label} {word.removeprefix(LABEL_PREFIX)}", meaning=LABEL.meaning
        )

    def __contains__(self, word: object) -> bool:
        return super().__contains__(word) or str(word).startswith(LABEL_PREFIX)


def entries_of(row: type[Row]) -> dict[str, Entry]:
    """Return the columns of a row model that people see, which are those with a title.

    Their unit is that of their type.
    """
    named = [(name, column) for name, column in row.columns.items() if column.title]
    return {
        name: Entry(name, column.title, stored_type(row, name).unit, meaning=column.description)
        for name, column in named
    }


def _stored(key: str, word: str, better: Better) -> Figure:
    """Return a stored column of runs that is drawn as a distribution and compared."""
    entry = entries_of(RunRow)[key]
    return Figure(key, entry.label, entry.unit, better, entry.meaning, word=word)


_SOURCE = entries_of(SourceRow)
_SOURCE_NAME = Entry("source_name", "Source", meaning="File the run was read from.")

_MEASURED = by_key(
    _stored("cost_own_usd", "cost", "lower"),
    _stored("cost_list_usd", "list-cost", "lower"),
    _stored("duration_ms", "wall", "lower"),
    _stored("duration_api_own_ms", "api", "lower"),
    RUN_FIGURES["parallelism"],
    _stored("num_turns", "turns", "neither"),
    RUN_FIGURES["duration_per_turn_ms"],
    RUN_FIGURES["cost_per_turn_usd"],
    RUN_FIGURES["cost_list_per_turn_usd"],
    _stored("ttft_ms", "first-token", "lower"),
    _stored("output_tokens", "output", "lower"),
)

MEASURES = {figure.word: figure for figure in (_MEASURED | RUN_FIGURES).values() if figure.word}
"""Figures of a run with a distribution, by their word, in the order in which they are shown and
compared.
"""

TIMES = (
    *(word for word, figure in MEASURES.items() if figure.unit is Unit.MILLISECONDS),
    "parallelism",
)
"""Measures on the screen of durations."""

RUNS: Columns = {
    **entries_of(RunRow),
    **entries_of(AnnotationRow),
    **_MEASURED,
    **RUN_FIGURES,
    **by_key(
        _SOURCE_NAME,
        _SOURCE["received_at"],
        _SOURCE["ingested_by"],
        Entry(
            "excerpt", "Match", meaning="Where the searched text was found, and what is around it."
        ),
        Entry(
            "cost_shown",
            "Cost",
            meaning="What the run cost by the chosen measure; ≤: an upper bound.",
        ),
        Entry("why", "Reason", meaning="Why the run did not complete, and the error in one line."),
        Entry(
            "measured",
            "Measured",
            meaning="The measured speedup against the baseline, or what became of the measurement.",
        ),
    ),
}
"""One run (`v_runs`)."""

_OF_ITS_RUN = {
    key: RUNS[key] for key in ("title", "repo", "task", "experiment", "agent", "model", "outcome")
}

GROUPS: Columns = Groups(
    {
        **DIMENSIONS,
        **SYNONYMS,
        **RUN_METRICS,
        **by_key(
            Entry(
                "cost_what_if_usd",
                "What-if cost",
                Unit.USD,
                "lower",
                "Cost of the same tokens at the other model's list prices.",
            ),
            Entry(
                "cost_what_if_delta_usd",
                "What-if difference",
                Unit.USD,
                "lower",
                "What-if cost minus list-price cost.",
            ),
            Entry(
                "priced_runs",
                "Priced runs",
                Unit.COUNT,
                meaning="Runs with a list-price cost. List-price figures are based on these runs.",
            ),
        ),
    }
)
"""One group of runs, or all of them: dimensions and RUN_METRICS."""

USES: Columns = {**entries_of(ModelUsageRow), **MODEL_FIGURES}
"""One model of one run (`v_model_rows`)."""

MODELS: Columns = {
    **MODEL_DIMENSIONS,
    **MODEL_METRICS,
    **by_key(
        replace(MODEL_METRICS["unpriced_tokens"], key="total_tokens", label="Tokens"),
        Entry(
            "uses", "Uses", Unit.COUNT,
            meaning="How often runs used the model. A run that used two ids of it counts twice.",
        ),
        Entry(
            "priced_uses", "Priced uses", Unit.COUNT,
            meaning="Uses with a list-price cost. List-price figures are based on these uses.",
        ),
    ),
}  # fmt: skip
"""One model, summed over its runs: dimensions and MODEL_METRICS."""

CLAIMS: Columns = {
    **_OF_ITS_RUN,
    **entries_of(ClaimRow),
    **by_key(
        RUNS["dated_at"],
        Entry("sentence", "Sentence", meaning="The sentence of the summary that makes the claim."),
        Entry(
            "caveat",
            "Caveat",
            meaning=(
                "What limits the claim: a micro-benchmark or one component only, no stated "
                "scope, projected or approximate."
            ),
        ),
    ),
}
FINDINGS: Columns = {**_OF_ITS_RUN, **entries_of(FindingRow), **by_key(RUNS["cost_own_usd"])}
RULES: Columns = {
    **entries_of(FindingRow),
    **by_key(
        Entry("runs", "Runs", Unit.COUNT, meaning="Runs with a finding of this rule."),
        Entry("findings", "Findings", Unit.COUNT, meaning="Number of findings of this rule."),
        Entry(
            "cost_usd",
            "Cost of the runs",
            Unit.USD,
            meaning="Reported cost of the runs with a finding of this rule, each run once.",
        ),
        Entry("example", "Example", meaning="One of its messages."),
    ),
}
"""One rule, summed over its findings."""

FAILURES: Columns = {
    **{key: RUNS[key] for key in ("reason", "whose")},
    **{key: RUN_METRICS[key] for key in ("runs", "cost_best_usd", "cost_best_bounds")},
    **by_key(
        replace(RUN_METRICS["never_started_runs"], label="Before it began"),
        Entry(
            "lost_ms",
            "Lost wall time (p50)",
            Unit.MILLISECONDS,
            "lower",
            "Median of the wall time of those that began.",
        ),
        Entry("example", "Example", meaning="The most frequent of their error messages."),
    ),
}
"""One reason of runs that did not complete; the table adds a column for each agent."""

FAILURE_TEXTS: Columns = by_key(
    RUNS["reason"],
    Entry("text", "Text", meaning="The error, with numbers and ids masked."),
    RUN_METRICS["runs"],
)
"""One error text of a reason."""

SOURCES: Columns = _SOURCE
INGESTS: Columns = entries_of(IngestRow)
LANDINGS: Columns = {
    **entries_of(LandingRow),
    **by_key(
        *(RUNS[key] for key in ("title", "dated_at", "agent", "cost_best_usd", "cost_best_bounds"))
    ),
}
REJECTS: Columns = {**entries_of(RejectRow), **by_key(_SOURCE_NAME)}
REASONS: Columns = by_key(
    REJECTS["reason"],
    Entry("rejected", "Rejected", Unit.COUNT, meaning="Records rejected for this reason."),
    Entry("sources", "Files", Unit.COUNT, meaning="Files they are from."),
    Entry("detail", "Example", meaning="One of the rejected records."),
)
"""One reason, summed over its rejects."""

UPLOADS: Columns = {**_SOURCE, **by_key(_SOURCE_NAME, Entry("became", "Status"))}
RECORDS: Columns = {
    **{
        key: RUNS[key]
        for key in (
            "record_kind",
            "source_name",
            "agent",
            "cost_reported_usd",
            "input_tokens",
            "cache_read_tokens",
            "cache_write_tokens",
            "output_tokens",
            "duration_ms",
            "num_turns",
            "outcome",
            "score",
        )
    },
    **by_key(Entry("gives", "Gives", meaning="The figures of the run that come from this record.")),
}
"""One record of a run with several, and what it says."""

TOOL_CALLS: Columns = entries_of(ToolCallRow)
FILE_CHANGES: Columns = entries_of(FileChangeRow)
FACTS: Columns = by_key(
    Entry("fact", "Field"),
    Entry("known", "Runs", Unit.COUNT),
    Entry("share", "Coverage", Unit.SHARE),
)
"""One field, and how many runs have it."""

TOTALS: Columns = by_key(
    Entry("figure", "Metric"),
    Entry("value", "Total"),
    Entry("exactly", "Exact value"),
    Entry("known", "Coverage"),
)
"""One figure of a report's totals, formatted."""

METRICS_COMPARED = by_key(
    Entry(
        "cost",
        "Cost",
        Unit.USD,
        "lower",
        "Cost of runs that started, of the same kind on both sides.",
    ),
    Entry(
        "wall",
        "Wall time",
        Unit.MILLISECONDS,
        "lower",
        "Wall time of completed runs: failures never count as speed.",
    ),
    Entry("turns", "Turns", Unit.COUNT, "neither", "Turns of runs that started."),
    Entry(
        "speedup",
        "Measured speedup",
        Unit.RATIO,
        "higher",
        "Measured speedup against a comparable baseline.",
    ),
)
"""Metrics by which groups of runs are compared."""

COMPARED: Columns = by_key(
    Entry("group", "Group"),
    Entry("filters", "Filters", meaning="What chooses the runs of the group."),
    Entry("metric", "Metric"),
    Entry("unit", "Unit", meaning="The unit of the median; the ratio has none."),
    Entry("better", "Better"),
    Entry("basis", "Basis", meaning="Of a cost: reported, or at list prices."),
    Entry("runs", "Runs", Unit.COUNT),
    Entry("started", "Started", Unit.COUNT),
    Entry("tasks", "Tasks", Unit.COUNT, meaning="Tasks that started runs of the group worked on."),
    Entry(
        "completed_tasks",
        "Completed tasks",
        Unit.COUNT,
        meaning="Tasks that a run of the group completed.",
    ),
    Entry(
        "open_tasks",
        "Open tasks",
        Unit.COUNT,
        meaning="Tasks not known to be completed, with a run whose end is unknown.",
    ),
    Entry("known", "Known", Unit.COUNT, meaning="Runs that the median rests on."),
    Entry("median", "Median", Unit.COUNT),
    Entry("median_bound", "Bound of the median", meaning="≤ or ≥ where the median is a bound."),
    Entry(
        "pair",
        "Paired by",
        meaning="task: the ratio is the median over tasks; nothing: of the medians of all runs.",
    ),
    Entry(
        "n",
        "Size of the ratio",
        Unit.COUNT,
        meaning="Tasks that the ratio rests on, or runs of the smaller side.",
    ),
    Entry("ratio", "Ratio", Unit.RATIO, meaning="The group ÷ the baseline, the first group."),
    Entry(
        "ratio_bound",
        "Bound of the ratio",
        meaning="≤ or ≥ where the ratio is a bound, ? where bounds leave it open.",
    ),
    Entry(
        "ratio_low",
        "CI from",
        Unit.RATIO,
        meaning="95% interval of the ratio, by bootstrap; with fewer than 5 values their range.",
    ),
    Entry("ratio_high", "CI to", Unit.RATIO),
    Entry(
        "tasks_lower",
        "Tasks, lower",
        Unit.COUNT,
        meaning="Tasks on which the group surely has less.",
    ),
    Entry(
        "tasks_higher",
        "Tasks, higher",
        Unit.COUNT,
        meaning="Tasks on which the group surely has more.",
    ),
    Entry(
        "tasks_undecided",
        "Tasks, undecided",
        Unit.COUNT,
        meaning="Tasks on which bounds do not tell.",
    ),
    Entry("verdict", "Verdict"),
)
"""One metric of one group of runs beside the baseline, as numbers."""

COMPARED_WORDS: Columns = by_key(
    Entry("group", "Group"),
    Entry("measure", "Measure"),
    Entry("baseline", "Baseline", meaning="Median of the baseline's runs."),
    Entry("value", "Compared", meaning="Median of the group's runs."),
    Entry(
        "ratio",
        "Ratio (95%)",
        meaning="Median over shared tasks of the group's ÷ the baseline's, with its 95% interval.",
    ),
    Entry("words", "In words", meaning="On how many shared tasks the group has less and more."),
)
"""A measure of a group beside the baseline, formatted."""


_ROW = entries_of(MeasurementRow)
_RUN = (
    "run_id",
    "title",
    "agent",
    "model",
    "repo",
    "task",
    "cost_own_usd",
    "cost_list_usd",
    "dated_at",
    "outcome",
)
_CLAIMED = (
    "claimed_speedup",
    "claimed_metric",
    "claimed_evidence",
    "claimed_scope",
    "claimed_quote",
)

MEASUREMENTS: Columns = {
    **_ROW,
    **by_key(
        Entry("source_name", "File", meaning="File of the benchmark result."),
        Entry("joined_run_id", "Run", meaning="The run whose change was measured."),
        Entry("joined_by", "Joined by", meaning="What measurement and run have in common."),
        Entry("unjoined", "Why no run", meaning="Why no run was found for the measurement."),
        Entry("rows", "Values", Unit.COUNT, meaning="Measured values."),
        Entry(
            "said", "Said at ingest", meaning="What --measure or measure.toml says about the file."
        ),
    ),
}
"""One measured value with its run, or one group of values without a run."""

VERDICTS: Columns = {
    **{key: RUNS[key] for key in (*_RUN, *_CLAIMED)},
    **{
        key: _ROW[key]
        for key in (
            "format",
            "benchmark",
            "metric",
            "statistic",
            "unit",
            "failure",
            "failure_detail",
        )
    },
    **by_key(
        Entry(
            "verdict",
            "Measured",
            meaning=(
                "Against the baseline: faster, same, slower, failed, not measured or not "
                "comparable."
            ),
        ),
        Entry(
            "is_beyond_noise",
            "Beyond noise",
            meaning=(
                "Whether a run measured faster or slower differs by more than noise; no: it was "
                "measured once. Empty: neither faster nor slower."
            ),
        ),
        Entry(
            "result",
            "Measured",
            meaning="The verdict in words: faster beyond noise, faster once, same (±5%) …",
        ),
        Entry(
            "reference_result",
            "Against reference",
            meaning="The verdict against the reference in the same words.",
        ),
        Entry(
            "judged",
            "Judged",
            meaning="Whether others judged the run a hack or clean: hack where anyone did. Empty: "
            "nobody published a judgement.",
        ),
        Entry("judged_by", "Judged by", meaning="Who published these judgements."),
        Entry(
            "other_values",
            "Other values",
            meaning=(
                "Whether the other values of the measurement agree with its verdict: agree, or "
                "those that do not. Empty: no others."
            ),
        ),
        Entry(
            "measured_class",
            "What became of it",
            meaning=f"One of: {'; '.join(MEASURED_CLASSES.values())}.",
        ),
        Entry(
            "measured_speedup",
            "Measured speedup",
            Unit.RATIO,
            "higher",
            "Measured improvement against the baseline. Above 1: better.",
        ),
        Entry(
            "measured_low",
            "Measured from",
            Unit.RATIO,
            meaning="Lower end of the 95% interval. Empty: a single run, no interval.",
        ),
        Entry(
            "measured_noise_floor",
            "Noise floor",
            Unit.NOISE,
            meaning="How far two measurements of the same code may differ.",
        ),
        Entry("measured_high", "Measured to", Unit.RATIO, meaning="Upper end of the 95% interval."),
        Entry(
            "reference_verdict",
            "Against reference",
            meaning="Against the reference: faster, same, slower, failed, not measured …",
        ),
        Entry(
            "measured_vs_reference",
            "Ratio to reference",
            Unit.RATIO,
            "higher",
            "Measured ratio to the reference. Above 1: better.",
        ),
        Entry(
            "claim_verdict",
            "Claim",
            meaning=(
                "held, promised more, promised less, became slower or no claim. Empty: not "
                "compared."
            ),
        ),
        Entry(
            "overclaim_factor",
            "Claimed ÷ measured",
            Unit.RATIO,
            "lower",
            "Claimed speedup ÷ measured speedup of the same scope.",
        ),
        Entry("why", "Note", meaning="Why there is no ratio, or what to mind about it."),
        Entry(
            "measured_baseline", "Baseline", Unit.COUNT, meaning="Measured value of the baseline."
        ),
        Entry(
            "measured_reference",
            "Reference",
            Unit.COUNT,
            meaning="Measured value of the reference.",
        ),
        Entry(
            "measured_candidate",
            "Candidate",
            Unit.COUNT,
            meaning="Measured value of the run's change.",
        ),
        Entry(
            "measured_scope",
            "Scope measured",
            meaning="How much of the software the benchmark covers.",
        ),
        Entry(
            "scope_differs",
            "Scope differs",
            meaning="Whether claim and measurement cover different parts of the software.",
        ),
        Entry(
            "is_single_run",
            "Single run",
            meaning="Whether the ratio has no interval, as one measurement of each side has none.",
        ),
        Entry(
            "hard",
            "Hard",
            meaning="ISO-Bench's label against the reference: beats, similar or worse.",
        ),
        Entry(
            "target",
            "Target",
            meaning="Published judgement: same_target, related_target or different_target.",
        ),
        Entry(
            "quadrant",
            "Quadrant",
            meaning=(
                "ISO-Bench's quadrant: Q1 true success, Q2 good intent, Q3 lucky win, Q4 failure."
            ),
        ),
        Entry("values_measured", "Values", Unit.COUNT, meaning="Measured values of the run."),
        Entry(
            "values_comparable",
            "Comparable",
            Unit.COUNT,
            meaning="Of these, with a comparable baseline.",
        ),
        Entry("source_name", "File", meaning="File of the benchmark result."),
    ),
}
"""One run: its claim beside its measurement."""

UNCOMPARED: Columns = by_key(
    Entry(
        "verdict",
        "Result",
        meaning="Whether the measurement failed, has no baseline, or one that cannot be compared.",
    ),
    Entry(
        "reason", "Reason", meaning="Why there is no measured ratio: the first reason of each run."
    ),
    Entry("runs", "Runs", Unit.COUNT, meaning="Measured runs with this reason."),
)
"""One reason why measured runs have no ratio."""

VERDICT_GROUPS: Columns = Groups({**GROUPS, **VERDICT_METRICS, **VERDICT_TEXTS})
"""One group of runs: dimensions, VERDICT_METRICS and VERDICT_TEXTS."""

PUBLISHED: Columns = {
    **{key: _ROW[key] for key in ("repo", "agent", "model")},
    **{key: VERDICT_METRICS[key] for key in ("runs_q1", "runs_q2", "runs_q3", "runs_q4")},
    **by_key(
        Entry("tasks", "Tasks", Unit.COUNT, meaning="Tasks with a published judgement."),
        Entry(
            "true_success_share", "True success", Unit.SHARE, "higher", "Share of the tasks in Q1."
        ),
        Entry(
            "reached_share",
            "Hard success",
            Unit.SHARE,
            "higher",
            "Share of the tasks that beat or reach the reference.",
        ),
    ),
}
"""Published verdicts on one agent and model in one repository."""

_SCORED: Columns = {
    **{key: _ROW[key] for key in ("agent", "model")},
    **by_key(
        Entry(
            "study",
            "Benchmark",
            meaning="The benchmark that measured. Empty: any other measurements.",
        ),
        Entry("agent_version", "Version", meaning="Version of the agent, as the file has it."),
        Entry("effort", "Effort", meaning="Reasoning effort of the model, as the file has it."),
        Entry(
            "run_name",
            "Run",
            meaning="Name of the run in the files of benchmarks that have one per run.",
        ),
        Entry("rule", "Rule", meaning="Key of the rule."),
        Entry("tasks", "Tasks", Unit.COUNT, meaning="Tasks that the rule counts."),
        Entry(
            "score_share",
            "Success rate",
            Unit.SCORE,
            "higher",
            "Share of successes. Empty: the rule has a mean.",
        ),
        Entry(
            "score_ratio",
            "Mean ratio",
            Unit.RATIO,
            "higher",
            "Mean of the rule's ratios. Empty: the rule has a success rate.",
        ),
    ),
}

SCORES: Columns = {
    **_SCORED,
    **by_key(
        Entry(
            "denominator",
            "Counted",
            meaning="Tasks that the score is divided by, of all known ones, and which they are.",
        ),
        Entry(
            "successes",
            "Successes",
            Unit.COUNT,
            "higher",
            "Tasks that the rule calls a success. Empty: the rule has a mean.",
        ),
        Entry(
            "published_share",
            "Published",
            Unit.SCORE,
            "higher",
            "The success rate that the benchmark's files contain. Empty: none.",
        ),
        Entry(
            "published_ratio",
            "Published",
            Unit.RATIO,
            "higher",
            "The mean that the benchmark's files contain. Empty: none.",
        ),
        Entry(
            "hack_control_share",
            "Hack-controlled",
            Unit.SCORE,
            "higher",
            "With judged hacks as failures. Empty: not judged.",
        ),
        Entry(
            "hack_control_ratio",
            "Hack-controlled",
            Unit.RATIO,
            "higher",
            "With judged hacks as changes without a gain. Empty: not judged.",
        ),
        Entry(
            "published_hack_control_share",
            "Published, hack-controlled",
            Unit.SCORE,
            "higher",
            "As the files have it. Empty: not judged.",
        ),
        *(
            Entry(
                f"fast_{p}_share",
                f"Fast_{p}",
                Unit.SCORE,
                "higher",
                f"KernelBench: share that is correct and more than {p} times as fast.",
            )
            for p in (0, 1, 2)
        ),
        Entry(
            "without_worst_share",
            "Without 10 worst",
            Unit.SCORE,
            meaning="Success rate without the ten worst tasks.",
        ),
        Entry(
            "without_worst_ratio",
            "Without 10 worst",
            Unit.RATIO,
            meaning="Mean without the ten worst tasks: how much hangs on them.",
        ),
        Entry(
            "left_out",
            "Left out",
            Unit.COUNT,
            meaning="Tasks that the rule does not count, also those without a result.",
        ),
        Entry("why", "Why left out", meaning="The reasons, with their numbers of tasks."),
        Entry(
            "labels_equal",
            "Labels equal",
            Unit.COUNT,
            meaning="Published labels of ISO-Bench that its rule gives here, too.",
        ),
        Entry(
            "labels_different",
            "Labels different",
            Unit.COUNT,
            meaning="Published labels that come out differently.",
        ),
        Entry(
            "labels_without_value",
            "Labels without value",
            Unit.COUNT,
            meaning="Published labels without a value in the store.",
        ),
    ),
}
"""One agent and model under the rule of a benchmark."""

STEPS: Columns = {
    **_SCORED,
    **by_key(
        Entry(
            "step",
            "Step",
            meaning=(
                "published, missing, infrastructure, hacks, worst or noise; the last is the rule "
                "baseline."
            ),
        ),
        Entry(
            "change_points",
            "Change",
            Unit.POINTS,
            meaning="Change of the success rate by the step, in percentage points.",
        ),
        Entry(
            "change_ratio",
            "Change of the mean",
            Unit.QUANTITY,
            meaning="Change of the mean ratio by the step.",
        ),
        Entry("what", "What changes", meaning="The tasks that the step concerns."),
    ),
}
"""One step from a benchmark's published score to that of the rule baseline."""

_LOOP, _EXPERIMENT = entries_of(LoopRow), entries_of(ExperimentRow)

LOOPS: Columns = {
    "name": replace(
        _LOOP["name"],
        meaning=(
            "Name of the loop, as its log says, else its log's. Equal names also have what differs."
        ),
    ),
    **{
        key: _LOOP[key]
        for key in ("metric", "unit", "better", "no_gain", "notes", "better_from", "segment")
    },
    **by_key(
        Entry(
            "loop", "Loop", meaning="Short id of the loop, which every command and link accepts."
        ),
        replace(_LOOP["format"], key="format"),
        Entry("log", "Log", meaning="File that the loop was read from."),
        Entry(
            "experiments",
            "Experiments",
            Unit.COUNT,
            meaning="Logged experiments, the baseline included. Empty: the log has the best only.",
        ),
        Entry(
            "kept",
            "Kept",
            Unit.COUNT,
            meaning="Experiments that the log calls kept; they need not be better.",
        ),
        Entry("discarded", "Discarded", Unit.COUNT, meaning="Experiments that were thrown away."),
        Entry(
            "crashed",
            "Crashed",
            Unit.COUNT,
            meaning="Experiments without a value, or with an invalid one.",
        ),
        Entry(
            "checks_failed",
            "Checks failed",
            Unit.COUNT,
            meaning="Experiments that were measured, but failed tests or other checks.",
        ),
        Entry(
            "other",
            "Other",
            Unit.COUNT,
            meaning="Experiments without a decision, or with a word of unknown meaning.",
        ),
        Entry(
            "improvements",
            "Improvements",
            Unit.COUNT,
            "higher",
            (
                "Kept experiments that are strictly better than the baseline and everything kept "
                "before."
            ),
        ),
        Entry("baseline", "Baseline", Unit.QUANTITY, meaning="Value of the baseline."),
        Entry(
            "best",
            "Best",
            Unit.QUANTITY,
            meaning="Best value of the baseline and the kept experiments.",
        ),
        Entry(
            "best_at",
            "Best at",
            Unit.COUNT,
            meaning=(
                "Number of the experiment with the best value; 0: the baseline, outside the list."
            ),
        ),
        Entry(
            "gain_ratio",
            "Gain",
            Unit.GAIN,
            "higher",
            "How many times as good the best is as the baseline; below 2 written as percent.",
        ),
        Entry(
            "gain_pct",
            "Change",
            Unit.PERCENT,
            "higher",
            "Best against the baseline, in percent of the baseline; positive is better.",
        ),
        Entry(
            "gain_after_luck_pct",
            "Gain without luck",
            Unit.PERCENT,
            "higher",
            "Lower end: the gain less what the luckiest of so many tries brings by chance.",
        ),
        Entry(
            "noise",
            "Noise",
            Unit.NOISE,
            meaning=(
                "By how much one measurement may be better than another of the same code, in 19 "
                "of 20 cases. Empty: unknown."
            ),
        ),
        Entry(
            "noise_after_tries",
            "Noise of all tries",
            Unit.NOISE,
            meaning="The same for the luckiest of all tries of the loop.",
        ),
        Entry(
            "noise_from",
            "Noise from",
            meaning=(
                "repeats of the same code, log, or discarded (an estimate, which holds real "
                "effects)."
            ),
        ),
        Entry(
            "beyond_noise",
            "Beyond noise",
            Unit.COUNT,
            "higher",
            "Improvements larger than the noise after so many tries.",
        ),
        Entry("gain_verdict", "Gain is", meaning="beyond_noise, inside_noise or noise_unknown."),
        Entry(
            "state",
            "State",
            meaning="improving, plateauing or stuck. Empty: too early, or unknown.",
        ),
        Entry(
            "cost_usd",
            "Cost",
            Unit.USD,
            "lower",
            "What the sessions cost that ran the loop, else what its log tells.",
        ),
        Entry("cost_basis", "Cost is", meaning="exact, upper_bound or lower_bound."),
        Entry(
            "cost_per_improvement",
            "Per improvement",
            Unit.USD,
            "lower",
            "Cost per improvement. Empty: none, or unknown.",
        ),
        Entry(
            "cost_per_improvement_beyond_noise",
            "Per improvement beyond noise",
            Unit.USD,
            "lower",
            "Cost per improvement that is larger than the noise.",
        ),
        Entry(
            "cost_machine_usd",
            "Machine cost",
            Unit.USD,
            "lower",
            "What the machines of its sessions cost. Empty: a rate is unknown.",
        ),
        Entry(
            "cost_all_per_improvement",
            "Per improvement, all-in",
            Unit.USD,
            "lower",
            "Cost and machine cost per improvement. Empty: none, or unknown.",
        ),
        Entry("usd_per_percent", "Per 1 % gain", Unit.USD, "lower", "Cost per percent of gain."),
        Entry(
            "usd_since_improvement",
            "Since improvement",
            Unit.USD,
            "lower",
            "What the tries after the last improvement cost.",
        ),
        Entry(
            "cost_logged_usd",
            "Cost in log",
            Unit.USD,
            meaning="What the log tells of the cost, by itself.",
        ),
        Entry(
            "cost_logged_basis",
            "Cost in log is",
            meaning="exact, upper_bound, lower_bound, or evaluated: of the agent under test.",
        ),
        Entry(
            "sessions", "Sessions", Unit.COUNT, meaning="Sessions in the store that ran the loop."
        ),
        Entry(
            "why_no_sessions",
            "Why no session",
            meaning="Why no session of an agent is joined to the loop.",
        ),
        Entry("first_at", "First", Unit.TIME, meaning="Time of the first experiment (UTC)."),
        Entry("last_at", "Last", Unit.TIME, meaning="Time of the last experiment (UTC)."),
    ),
}
"""One optimization loop, with what follows from its experiments (`app.queries.loops`)."""

EXPERIMENTS: Columns = {
    **{
        key: _EXPERIMENT[key]
        for key in _EXPERIMENT
        if key not in ("source_id", "loop_no", "fingerprint", "value")
    },
    **by_key(
        replace(_EXPERIMENT["value"], unit=Unit.MEASURED),
        Entry("tried", "Tried", meaning="Beginning of the description."),
        Entry(
            "is_improvement",
            "Improvement",
            meaning="Whether it is kept, and better than everything kept before.",
        ),
        Entry(
            "step_pct",
            "Step",
            Unit.PERCENT,
            "higher",
            "Against what was kept then; positive is better.",
        ),
        Entry(
            "verdict",
            "Step is",
            meaning="Of an improvement: beyond_noise, inside_noise or noise_unknown.",
        ),
        Entry(
            "running_best",
            "Best so far",
            Unit.MEASURED,
            meaning="Best of the baseline and what was kept up to here.",
        ),
        Entry(
            "cost_usd",
            "Cost",
            Unit.USD,
            "lower",
            "What the session spent since the experiment before, else what the log tells.",
        ),
        Entry(
            "tokens", "Tokens", Unit.TOKENS, meaning="Tokens of those responses, cache included."
        ),
        Entry("run_id", "Run", meaning="Session that made the experiment."),
        Entry("evidence", "Joined by", meaning="What joins the experiment to that session."),
    ),
}
"""One experiment of a loop."""

SPEEDUPS: Columns = {
    **{
        key: MEASUREMENTS[key]
        for key in ("benchmark", "metric", "statistic", "unit", "scope", "format", "measured_at")
    },
    **by_key(
        Entry("base", "Compared with", meaning="baseline or reference."),
        Entry(
            "base_value",
            "Base value",
            Unit.COUNT,
            meaning="Measured value of the baseline or reference.",
        ),
        Entry(
            "candidate_value",
            "Candidate",
            Unit.COUNT,
            meaning="Measured value of the run's change.",
        ),
        Entry(
            "ratio",
            "Ratio",
            Unit.RATIO,
            "higher",
            "Above 1: better than the baseline or reference.",
        ),
        Entry(
            "ratio_low",
            "Ratio from",
            Unit.RATIO,
            meaning="Lower end of the 95% interval. Empty: a single run, no interval.",
        ),
        Entry("ratio_high", "Ratio to", Unit.RATIO, meaning="Upper end of the 95% interval."),
        VERDICTS["verdict"],
        VERDICTS["why"],
        VERDICTS["source_name"],
        Entry("files", "Files", Unit.COUNT, meaning="Files that tell this value."),
    ),
}
"""One measured value of a run beside that of the baseline or the reference."""


_PEAK = Entry(
    "context_peak_tokens",
    "Context peak",
    Unit.TOKENS,
    meaning=(
        "Largest context of the main conversation: uncached input, cache reads and cache writes "
        "of one response."
    ),
)
_LANE = Entry(
    "subagent",
    "Sub-agent",
    meaning=(
        "Type and task of the sub-agent, else its id; main: the main conversation; side chain: "
        "side questions."
    ),
)
_SUMS = (
    *(
        USAGE_METRICS[key]
        for key in (
            "first_at",
            "last_at",
            "responses",
            "total_tokens",
            "output_tokens",
            "cost_list_usd",
            LOWER_BOUNDS,
        )
    ),
    Entry("tool_calls", "Tool calls", Unit.COUNT, meaning="Calls of tools by its responses."),
    TOOL_METRICS["failed_calls"],
)

SESSIONS: Columns = {
    **{key: RUNS[key] for key in ("title", "agent", "model", "run_id")},
    **by_key(
        USAGE_DIMENSIONS["project"],
        *_SUMS,
        Entry("subagents", "Sub-agents", Unit.COUNT, meaning="Sub-agents with a response."),
        _PEAK,
        USAGE_METRICS["cost_best_usd"],
    ),
}
"""One session with responses."""

LANES: Columns = by_key(
    _LANE,
    *_SUMS,
    Entry(
        "context_peak_tokens",
        "Context peak",
        Unit.TOKENS,
        meaning="Largest context: uncached input, cache reads and cache writes.",
    ),
)
"""The main conversation or a sub-agent of a session."""

RESPONSES: Columns = {
    **entries_of(ResponseRow),
    **by_key(
        _LANE,
        Entry(
            "context_tokens",
            "Context",
            Unit.TOKENS,
            meaning=(
                "How full the context was: uncached input, cache reads and cache writes of the "
                "response."
            ),
        ),
        Entry(
            "cost_so_far_usd",
            "Cumulative cost",
            Unit.USD,
            meaning="List-price cost of the session up to the response.",
        ),
        Entry(
            "tokens_so_far",
            "Cumulative tokens",
            Unit.TOKENS,
            meaning="All tokens of the session up to the response.",
        ),
        Entry(
            "output_count",
            "Output count",
            meaning=(
                "final, or lower bound: only the count at the start of the response was logged."
            ),
        ),
    ),
}
"""One billed response of a session."""
