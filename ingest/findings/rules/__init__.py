"""Rules that compare the figures and the summary of a record with each other.

A rule grades evidence and does not accuse: most claims of agents are true, and a false alarm costs more trust than a miss. So each
rule needs more than a hint, says what it expected and what it found, and is measured on real records.
"""

from __future__ import annotations

from ingest.findings.rules import claim_rules, counting_rules, record_rules, summary_rules
from ingest.findings.rules.rule import Facts, Finding, Rule

__all__ = ["RULES", "Facts", "Finding", "audit"]

_FILES = (record_rules, summary_rules, counting_rules, claim_rules)

RULES = {rule.name: rule for file in _FILES for rule in vars(file).values() if isinstance(rule, Rule)}
"""Every rule by its name, in the order in which findings are kept: that of the files, and of the rules in each."""

_RULES = tuple(RULES.values())


def audit(facts: Facts) -> tuple[Finding, ...]:
    """All findings about a run."""
    return tuple([Finding(rule.name, rule.severity, *noticed) for rule in _RULES for noticed in rule.check(facts)])
