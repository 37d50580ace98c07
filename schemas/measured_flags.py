"""What may be doubtful about a measured value. `v_speedups` says what follows from each: no ratio, or a warning.

Source of the list: traps met in published results of ISO-Bench, GSO and others.
"""

from __future__ import annotations

from enum import StrEnum


class Flagged(StrEnum):
    """A doubt about one measured value."""

    ZERO = "zero"
    """Nothing was measured, such as the time per output token of answers with one token. No ratio."""

    EMPTY_METRICS = "empty_metrics"
    """The file says success and has no values: the row is a failure."""

    QUANTISED = "quantised"
    """All values are whole multiples of one step, such as a rate read from a log window: too coarse for a ratio."""

    PERCENT_OF_TWO_KINDS = "percent_of_two_kinds"
    """The column mixes changes in percent with percent of the reference. No ratio."""

    SET_POINT = "set_point"
    """The rate was set, not measured. No ratio."""

    MERGED = "merged"
    """The row joins values that were measured on several set-ups. No ratio."""

    SAME_AS_BASELINE = "same_as_baseline"
    """Every value is exactly that of the baseline: the patch was probably not in the measured code. No ratio."""

    MODEL_SUBSTITUTED = "model_substituted"
    """The benchmark ran another model than its command names. A warning."""

    ERRORS = "errors"
    """The benchmark reports errors of its own requests. A warning."""
