"""What `tachograph compare` answers: two groups of runs, metric by metric, in numbers for programs and in words for people."""

from __future__ import annotations

from dataclasses import dataclass

from app.queries.comparisons.cohorts import as_figures, compare_cohorts
from app.queries.filters.chosen import Filters
from app.text.answers import Answer
from app.text.words.cohorts import as_words
from ingest.store.database import Store
from schemas.catalogue.columns import COMPARED, compared
from schemas.text import plural

NAMES = "Baseline", "Candidate"
NOTHING = "No metric is known in both groups."


@dataclass(frozen=True)
class Comparison:
    """The same rows twice, as `figures` and in `words`. `notes`: runs in both groups, and why there is no row."""

    figures: Answer
    words: Answer
    notes: tuple[str, ...]


def compare(store: Store, first: Filters, second: Filters, base: Store | None = None) -> Comparison:
    """Compare the runs that the filters choose; `first` is the baseline, in the store `base` where that is another. Raises StoreError."""
    cohorts = compare_cohorts(store, first, second, base=base)
    chosen = zip(NAMES, cohorts.runs, (first, second), strict=True)
    sides = [f"{name}: {plural(count, 'run')} ({words.as_words() or 'all'})" for name, count, words in chosen]
    heading = " · ".join([*sides, " vs. ".join(one.location for one in (base, store) if one)])
    notes = (f"{plural(cohorts.shared, 'run')} in both." if cohorts.shared else "", "" if cohorts.compared else NOTHING)
    return Comparison(
        Answer(as_figures(cohorts), heading, of=COMPARED),
        Answer(as_words(cohorts), heading, of=compared(NAMES)),
        tuple(filter(None, notes)),
    )
