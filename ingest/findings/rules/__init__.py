"""Rules that compare the figures and the summary of a record with each other.

A rule grades evidence and does not accuse: most claims of agents are true, and a false alarm costs more trust than a miss. So each
rule needs more than a hint, says what it expected and what it found, and is measured on real records.
"""

from __future__ import annotations

from ingest.findings.rules import claim_rules, counting_rules, record_rules, summary_rules
from ingest.findings.rules.rule import Facts, Finding, Rule
from schemas.rows.source import Severity

__all__ = ["RULES", "Facts", "Finding", "audit"]

ALARM, WARNING, INFO = Severity.ALARM, Severity.WARNING, Severity.INFO

RULES = {
    rule.name: rule
    for rule in (
        Rule("cost_sum", ALARM, "The models' costs do not add up to the reported total.", record_rules.cost_sum),
        Rule("usage_above_total", WARNING, "The main loop used more tokens than all models together.", record_rules.usage_above_total),
        Rule("cache_split", WARNING, "Cache writes by their lifetime exceed all cache writes.", record_rules.cache_split),
        Rule("free_of_charge", WARNING, "Tokens were used, but the reported cost is zero.", record_rules.free_of_charge),
        Rule("guessed_price", WARNING, "The agent says that it guessed the price of a model.", record_rules.guessed_price),
        Rule("silent_failure", WARNING, "The run failed, and its record gives no reason.", record_rules.silent_failure),
        Rule("success_claimed", WARNING, "The summary speaks of success; the run ended otherwise.", summary_rules.success_claimed),
        Rule("work_held_up", WARNING, "The run counts as completed; its summary says it was held up.", summary_rules.work_held_up),
        Rule("empty_summary", WARNING, "A long run that completed left no summary.", summary_rules.empty_summary),
        Rule("patch_size", WARNING, "The summary's line counts differ from the patch's.", summary_rules.patch_size),
        Rule("read_in_part", INFO, "The summary is too long to be read whole for claims.", summary_rules.read_in_part),
        Rule("text_repaired", INFO, "The summary's characters were damaged and were repaired.", summary_rules.text_repaired),
        Rule("headline_count", WARNING, "A count in the text differs from the sum of the items it lists.", counting_rules.headline_count),
        Rule("list_length", WARNING, "A heading counts more or fewer items than its list has.", counting_rules.list_length),
        Rule(
            "pair_and_percentage",
            WARNING,
            "Before and after say another ratio than the percentage beside.",
            claim_rules.pair_and_percentage,
        ),
        Rule("beyond_belief", WARNING, "A claimed factor above 100 without any figures.", claim_rules.beyond_belief),
        Rule("micro_benchmark_only", INFO, "The claimed speedup rests on a micro-benchmark alone.", claim_rules.micro_benchmark_only),
        Rule("unmeasured_claim", INFO, "None of the claimed improvements has a measurement behind it.", claim_rules.unmeasured_claim),
    )
}
"""Every rule by its name, in the order in which findings are kept."""

_RULES = tuple(RULES.values())


def audit(facts: Facts) -> tuple[Finding, ...]:
    """All findings about a run."""
    return tuple([Finding(rule.name, rule.severity, *noticed) for rule in _RULES for noticed in rule.check(facts)])
