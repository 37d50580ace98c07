"""The closed lists of what a claim or another statement of a summary can be.

Separate from its rows: so the extractor needs no Arrow.
"""

from __future__ import annotations

from enum import StrEnum


class ClaimKind(StrEnum):
    """Whether a number states the size of the change."""

    QUANTIFIED = "quantified"
    QUALITATIVE = "qualitative"


class ClaimMetric(StrEnum):
    """The performance quantity of a claim."""

    TIME = "time"
    THROUGHPUT = "throughput"
    MEMORY = "memory"
    SIZE = "size"
    OPERATIONS = "operations"
    TOKENS = "tokens"
    COST = "cost"
    OTHER = "other"


class Direction(StrEnum):
    """Which way the quantity went, from its user's view."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"


class Evidence(StrEnum):
    """The basis of a claim, strongest first."""

    BENCHMARKED = "benchmarked"
    FIGURES = "figures"
    STATED = "stated"
    ESTIMATED = "estimated"


class Scope(StrEnum):
    """How much of the software a claim covers."""

    MICRO = "micro"
    COMPONENT = "component"
    END_TO_END = "end_to_end"
    UNSPECIFIED = "unspecified"


class Origin(StrEnum):
    """Whose number it is."""

    OWN = "own"
    CITED = "cited"


class StatementKind(StrEnum):
    """The closed list of kinds of statements."""

    COMMIT = "commit"
    ARTEFACT = "artefact"
    TESTS_PASSED = "tests_passed"
    TESTS_FAILED = "tests_failed"
    FILES_CHANGED = "files_changed"
    LINES_INSERTED = "lines_inserted"
    LINES_DELETED = "lines_deleted"
