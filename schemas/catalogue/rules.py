"""The rules of findings, with severity and meaning.

`rules` or `patch_hints` of `ingest.findings` has the function of the same name.
"""

from __future__ import annotations

from dataclasses import dataclass

from schemas.rows.cost import COST_RULES
from schemas.rows.source import Severity


@dataclass(frozen=True, slots=True)
class FindingRule:
    """One rule. `meaning`: a sentence for people.

    Findings of rules about records (`is_of_record`) quote no words of a summary.
    """

    severity: Severity
    meaning: str
    is_of_record: bool = False


PATCH_HINTS = {
    "tests_weakened": FindingRule(
        Severity.WARNING, "The patch makes tests check less: skips, inputs, assertions."
    ),
    "benchmark_changed": FindingRule(
        Severity.WARNING, "The patch changes a benchmark that was there before it."
    ),
    "measuring_detected": FindingRule(
        Severity.WARNING,
        "The patched code asks whether it is timed, or reads files of the benchmark.",
    ),
    "checks_removed": FindingRule(
        Severity.INFO, "The patch removes assertions or validation from the code."
    ),
    "no_code": FindingRule(
        Severity.INFO, "The patch changes only documentation, settings or comments."
    ),
    "large_speedup": FindingRule(
        Severity.INFO, "The summary claims a factor above 10, and not for a micro-benchmark."
    ),
}
"""Hints in a patch, never verdicts (`ingest.findings.patch_hints`): each names a line that a reader
should look at.
"""

FINDING_RULES = {
    "cost_sum": FindingRule(
        Severity.ERROR, "The models' costs do not add up to the reported total.", is_of_record=True
    ),
    "usage_above_total": FindingRule(
        Severity.WARNING,
        "The main loop has more tokens than all models together.",
        is_of_record=True,
    ),
    "cache_split": FindingRule(
        Severity.WARNING,
        "5-minute and 1-hour cache writes exceed the total of cache writes.",
        is_of_record=True,
    ),
    "doubtful_usage": FindingRule(
        Severity.WARNING,
        "The token counts cannot be whole, or cannot be right: a bound.",
        is_of_record=True,
    ),
    "zero_cost": FindingRule(
        Severity.WARNING, "Tokens were used, but the reported cost is $0.", is_of_record=True
    ),
    "guessed_price": FindingRule(
        Severity.WARNING, "The agent guessed the price of a model.", is_of_record=True
    ),
    "silent_failure": FindingRule(
        Severity.WARNING, "The run failed without an error message.", is_of_record=True
    ),
    "exit_code": FindingRule(
        Severity.WARNING,
        "The record says that the run completed, but its process failed.",
        is_of_record=True,
    ),
    "success_claimed": FindingRule(
        Severity.WARNING, "The summary claims success, but the run did not complete."
    ),
    "blocked_but_completed": FindingRule(
        Severity.WARNING, "The outcome is completed, but the summary says the agent was blocked."
    ),
    "empty_summary": FindingRule(Severity.WARNING, "A long completed run has no summary."),
    "patch_size": FindingRule(
        Severity.WARNING, "The summary's line counts do not match the patch."
    ),
    "read_in_part": FindingRule(
        Severity.INFO, "The summary is too long; only its beginning was searched for claims."
    ),
    "text_repaired": FindingRule(
        Severity.INFO, "The summary had encoding errors, which were repaired."
    ),
    "count_mismatch": FindingRule(
        Severity.WARNING, "A count in the summary does not match the items listed below it."
    ),
    "list_length": FindingRule(
        Severity.WARNING, "The count in a heading does not match the length of its list."
    ),
    "ratio_mismatch": FindingRule(
        Severity.WARNING, "Before/after values contradict the stated percentage or factor."
    ),
    "implausible_speedup": FindingRule(
        Severity.WARNING, "A claimed factor above 100 without numbers to support it."
    ),
    "micro_benchmark_only": FindingRule(
        Severity.INFO, "The claimed speedup is based on a micro-benchmark only."
    ),
    "unmeasured_claim": FindingRule(
        Severity.INFO, "No claimed improvement is backed by a measurement."
    ),
    **PATCH_HINTS,
}
"""Rules by name, in the order in which findings are kept."""

CROSS_CHECKS = {
    "api_time_beyond_wall": (
        "More API time than fits into the wall time: cost and API time seem to include calls of "
        "an earlier process."
    ),
    "cut_off": (
        "The stream of the run ends without its result: tokens and cost are lower bounds, or not "
        "known."
    ),
    "possible_duplicate": (
        "Another run has the same figures, or begins alike: probably a copy, or the agent's "
        "other log of the session."
    ),
    "probable_copy": (
        "Another run has the same figures and is counted in its place: probably a copy, or the "
        "other log of the session."
    ),
    "transcript_differs": (
        "The result records of a session and its transcript have different tokens: calls outside "
        "the transcript, mostly."
    ),
}
"""Rules that compare runs and records in the store (`ingest.store.cross_checks`) → meaning."""

MAY_CONTINUE = "cumulative_possible"

RULE_MEANINGS = {
    **{name: rule.meaning for name, rule in FINDING_RULES.items()},
    **CROSS_CHECKS,
    MAY_CONTINUE: (
        "The record's totals may continue those of an earlier record of the session; nothing "
        "shows that both are of one process."
    ),
    **{name: rule.meaning for name, rule in COST_RULES.items()},
}
"""What every rule looks for: those above, and those of prices."""
