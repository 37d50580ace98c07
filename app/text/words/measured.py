"""Measured results in words, for terminal, screens and charts. Everywhere *claimed* and *measured* stand beside the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.text.formatting import human
from app.text.words.claims import evidence_words, ratio, words
from app.text.words.measures import sign_of
from schemas.catalogue.metrics import BAND
from schemas.text import quoted
from schemas.units import Unit

Row = Mapping[str, Any]

VERDICT_NAMES = {
    "faster": "faster",
    "same": "same",
    "slower": "slower",
    "failed": "failed",
    "not_measured": "not measured",
    "not_comparable": "not comparable",
}
"""What people call a verdict."""

CLAIM_VERDICT_NAMES = {
    "kept": "kept",
    "over_claimed": "over-claimed",
    "under_claimed": "under-claimed",
    "wrong_sign": "wrong sign",
    "no_claim": "no claim",
}
"""What people call the comparison of a claim with the measurement."""

NAMES = VERDICT_NAMES | CLAIM_VERDICT_NAMES

FAILURE_NAMES = {
    "patch": "the patch could not be applied",
    "crash": "the changed code crashed",
    "timeout": "the benchmark timed out",
    "infra": "machine, model or memory was missing",
    "incorrect": "the result of the changed code is wrong",
    "unknown": "the benchmark failed, and does not say why",
}
"""What people call a failure."""


VERDICT_COLUMNS = ("verdict", "reference_verdict", "claim_verdict")


def band_words(band: float = BAND) -> str:
    """What faster and slower mean, for notes."""
    beyond = f"Faster and slower mean beyond ±{human(band, Unit.SHARE).replace('.0%', '%')} of the baseline"
    return f"{beyond}; where a ratio rests on single runs that band is a convention, not noise."


NOTHING_MEASURED = "Nothing was measured."
NOTHING_MATCHES = "None of the matching runs was measured."
INGEST_HINT = "Ingest benchmark results beside the runs: docs/measured.md says which are read, and how they are joined."
"""What to do where nothing was measured."""

MEASURED_WITH = (
    "Ingest results of benchmarks beside the runs: those of vLLM, SGLang, hyperfine, pytest-benchmark, pyperf, asv, Go, Criterion, Google "
    "Benchmark, k6, wrk and ISO-Bench, or a table such as:"
)
EXAMPLE_TABLE = "task,run_id,variant,metric,value,unit\nsort,,baseline,latency,100,ms\nsort,RUN,candidate,latency,80,ms"
"""The least that a table of measured values says; RUN is the id of a run."""


def measured(row: Row) -> str:
    """`measured 0.98× (0.95× to 1.01×)`; the verdict where there is no ratio."""
    if row["measured_speedup"] is None:
        return VERDICT_NAMES[row["verdict"]]
    ends = [human(row[key], Unit.RATIO) for key in ("measured_low", "measured_high") if row[key] is not None]
    interval = f" ({' to '.join(ends)})" if len(ends) == 2 else ""
    return f"measured {human(row['measured_speedup'], Unit.RATIO)}{interval}"


def claimed(row: Row) -> str:
    """`claimed 2.00× (time)`, `no claimed speedup`."""
    if row["claimed_speedup"] is None:
        return "no claimed speedup"
    return f"claimed {human(row['claimed_speedup'], Unit.RATIO)} ({row['claimed_metric']})"


def claim_facts(row: Row) -> list[tuple[str, str]]:
    """What a run claims, for its page: names and values."""
    if row["claimed_speedup"] is None:
        return [("Claimed speedup", "none")]
    return [
        ("Claimed speedup", f"{ratio(_claim(row))} ({row['claimed_metric']})"),
        ("Evidence", evidence_words(row["claimed_evidence"])),
        ("Scope claimed", words(row["claimed_scope"])),
        ("Quote", quoted(row["claimed_quote"] or "")),
    ]


def _claim(row: Row) -> Row:
    return {"ratio": row["claimed_speedup"], "ratio_low": row["claimed_low"], "ratio_high": row["claimed_high"]}


def measured_facts(row: Row) -> list[tuple[str, str]]:
    """What was measured of a run, for its page: names and values, only those that are known."""
    facts = [
        ("Against the baseline", against_baseline(row)),
        ("Against the reference", against_reference(row)),
        ("Claim", CLAIM_VERDICT_NAMES.get(row["claim_verdict"], "")),
        ("Claimed ÷ measured", human(row["overclaim_factor"], Unit.RATIO) if row["overclaim_factor"] is not None else ""),
        ("Quadrant", QUADRANT_NAMES.get(row["quadrant"], "")),
        ("Metric", " ".join(filter(None, (row["metric"], row["statistic"])))),
        ("Scope measured", words(row["measured_scope"] or "")),
        ("Values", f"{row['values_measured']:,} ({row['values_comparable']:,} with a comparable baseline)"),
        ("Note", cut("; ".join(filter(None, (SINGLE_RUNS if row["is_single_run"] else "", failure_words(row["failure"], row["why"])))))),
    ]
    return [(name, value) for name, value in facts if value]


QUADRANT_NAMES = {"Q1": "true success (Q1)", "Q2": "good intent (Q2)", "Q3": "lucky win (Q3)", "Q4": "failure (Q4)"}
"""What ISO-Bench calls its quadrants."""

SINGLE_RUNS = "single runs: the ±5% band is a convention, not noise"


LONGEST_NOTE = 600
"""Characters of a note on the page of a run: errors of benchmarks have pages. The list of measurements has them whole."""


def cut(note: str) -> str:
    """A note as far as a page shows it."""
    return note if len(note) <= LONGEST_NOTE else f"{note[:LONGEST_NOTE].rstrip()} …"


def failure_words(failure: str | None, why: str | None) -> str:
    """Why there is no measured ratio: the kind of a failure, then what the benchmark says."""
    return ": ".join(filter(None, (FAILURE_NAMES.get(failure or ""), why)))


def against_baseline(row: Row) -> str:
    """`measured 0.98× (0.95× to 1.01×): same`; only the verdict where there is no ratio: `not comparable`."""
    verdict = VERDICT_NAMES[row["verdict"]]
    return verdict if row["measured_speedup"] is None else f"{measured(row)}: {verdict}"


def against_reference(row: Row) -> str:
    """The same against the reference."""
    verdict = VERDICT_NAMES[row["reference_verdict"]]
    found = row["measured_vs_reference"]
    return verdict if found is None else f"measured {human(found, Unit.RATIO)}: {verdict}"


def cost_per(usd: Any, cost: Any, counted: int, judged: int, bounds: str | None = None) -> str:
    """`$2.50`, or `none for $7.79` where none of the runs that were judged counts; `–` where none was judged or the cost is unknown."""
    if usd is not None and judged:
        return sign_of(bounds) + human(usd, Unit.USD)
    return f"none for {sign_of(bounds)}{human(cost, Unit.USD)}" if cost is not None and judged and not counted else human(None)
