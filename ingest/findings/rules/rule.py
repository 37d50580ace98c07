"""A rule: an entry of `schemas.catalogue.rules` and a small pure function over the facts of one run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ingest.claims import Claim
from ingest.findings.statements import Statements
from ingest.findings.statements.lines import Lines, marked_lines
from schemas.catalogue.rules import FINDING_RULES
from schemas.rows.claim import ClaimKind, ClaimMetric, Direction, Evidence, Origin
from schemas.rows.run import ModelUsageRow, RunRow
from schemas.rows.source import Severity

_QUANTIFIED, _OWN, _BETTER = ClaimKind.QUANTIFIED, Origin.OWN, Direction.BETTER


class Finding(NamedTuple):
    """The values of a `schemas.rows.source.FindingRow`, without the run."""

    rule: str
    severity: Severity
    message: str
    expected: str | None = None
    actual: str | None = None


class Noticed(NamedTuple):
    """The outcome of a rule for one run: a message in plain words, the expected and the actual value."""

    message: str
    expected: str | None = None
    actual: str | None = None


class Facts(NamedTuple):
    """The facts of one run. `text`: its repaired summary; empty where it has none."""

    run: RunRow
    usage: Sequence[ModelUsageRow]
    text: str
    claims: Sequence[Claim]
    statements: Statements

    @property
    def lines(self) -> Lines:
        """The lines of the text with marks; those of the statements, if statements were read."""
        return self.statements.lines or marked_lines(self.text)


def is_own_improvement(claim: Claim) -> bool:
    """Whether it is a quantified claim that the run's own work made something better."""
    return claim.kind is _QUANTIFIED and claim.origin is _OWN and claim.direction is _BETTER


Check = Callable[[Facts], Iterator[Noticed]]


class Rule(NamedTuple):
    """A rule of FINDING_RULES with the function that checks it."""

    name: str
    severity: Severity
    meaning: str
    check: Check


def rule(check: Check) -> Rule:
    """Register a function in RULES as the rule of its name, which is an entry of FINDING_RULES."""
    about = FINDING_RULES[check.__name__]
    return Rule(check.__name__, about.severity, about.meaning, check)


MEASURED = frozenset((Evidence.BENCHMARKED, Evidence.FIGURES))
"""Evidence with figures behind it."""

SPEED = frozenset((ClaimMetric.TIME, ClaimMetric.THROUGHPUT))
"""Metrics in which better is faster."""


def ratio(value: float) -> str:
    """`3.17×`, `76,541×`, as people write it."""
    return f"{value:,.0f}×" if value >= 100 else f"{value:.3g}×"
