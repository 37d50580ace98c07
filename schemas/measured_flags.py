"""What may be doubtful about a measured value, or about two of them beside each other. Each has a sentence for people.

Source of the list: traps met in published results of ISO-Bench, GSO and others.
"""

from __future__ import annotations

from enum import StrEnum


class Flagged(StrEnum):
    """A doubt about one measured value. `BARRING` ones leave no ratio."""

    ZERO = "zero"
    EMPTY_METRICS = "empty_metrics"
    QUANTISED = "quantised"
    PERCENT_OF_TWO_KINDS = "percent_of_two_kinds"
    MODEL_SUBSTITUTED = "model_substituted"
    SET_POINT = "set_point"
    ERRORS = "errors"
    SAME_AS_BASELINE = "same_as_baseline"


BARRING = frozenset((Flagged.ZERO, Flagged.QUANTISED, Flagged.PERCENT_OF_TWO_KINDS, Flagged.SET_POINT))
"""With one of these a value is shown, but never divided."""

SENTENCES: dict[Flagged, str] = {
    Flagged.ZERO: "The value is 0: nothing was measured, such as the time per output token of answers with one token.",
    Flagged.EMPTY_METRICS: "The file says success but has no values.",
    Flagged.QUANTISED: "All values are whole multiples of one step: a rate read from a log window, too coarse for a ratio.",
    Flagged.PERCENT_OF_TWO_KINDS: "The column mixes changes in percent with percent of the reference.",
    Flagged.MODEL_SUBSTITUTED: "The benchmark ran another model than its command names.",
    Flagged.SET_POINT: "The rate was set, not measured.",
    Flagged.ERRORS: "The benchmark reports errors in its own requests.",
    Flagged.SAME_AS_BASELINE: "The value is exactly that of the baseline: the patch was probably not in the measured code.",
}
