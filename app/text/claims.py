"""Claims, findings, statements and measured results in words.

Every number is called *claimed* or *measured*.
"""

from __future__ import annotations

import shlex
from typing import Any

from app.queries import Row
from app.queries.filters import MIN_CONFIDENCE, RUN
from app.text.formatting import UNKNOWN, interval, percent, ratio, usd
from schemas.catalogue.metrics import BAND
from schemas.text import join_known, plural, quoted

EVIDENCE_NAMES = {
    "benchmarked": "method stated",
    "figures": "before–after",
    "stated": "number only",
    "estimated": "projected",
}
"""A word must not promise more than the text: "benchmarked" only means that the text states a
method.
"""

ORIGIN_NAMES = {"own": "own", "cited": "quoted"}
EVIDENCE_MEANINGS = {
    "benchmarked": "the summary says how the numbers were obtained",
    "figures": "before and after values, but no method",
    "stated": "a factor or percentage only",
    "estimated": "expected or projected, not observed",
}
"""Strongest evidence first."""

EVIDENCE = {
    "benchmarked": "#009E73",
    "figures": "#0072B2",
    "stated": "#B07D00",
    "estimated": "#C0649B",
}

STATEMENT_NAMES = {
    "commit": "Commit",
    "artefact": "Artefact",
    "tests_passed": "Tests passed",
    "tests_failed": "Tests failed",
    "files_changed": "Files changed",
    "lines_inserted": "Lines inserted",
    "lines_deleted": "Lines deleted",
}
VERDICT_NAMES = {
    "faster": "faster",
    "same": "same",
    "inside_noise": "inside noise",
    "slower": "slower",
    "failed": "failed",
    "not_measured": "not measured",
    "not_comparable": "not comparable",
}
CLAIM_VERDICT_NAMES = {
    "kept": "held",
    "over_claimed": "promised more",
    "under_claimed": "promised less",
    "wrong_sign": "became slower",
    "no_claim": "no claim",
}
NAMES = VERDICT_NAMES | CLAIM_VERDICT_NAMES
VERDICT_COLUMNS = ("verdict", "reference_verdict", "claim_verdict")
FAILURE_NAMES = {
    "patch": "the patch could not be applied",
    "crash": "the changed code crashed",
    "timeout": "the benchmark timed out",
    "infra": "machine, model or memory was missing",
    "incorrect": "the result of the changed code is wrong",
    "unknown": "the benchmark failed, and does not say why",
}
QUADRANT_NAMES = {
    "Q1": "true success (Q1)",
    "Q2": "good intent (Q2)",
    "Q3": "lucky win (Q3)",
    "Q4": "failure (Q4)",
}
_METRICS = {
    "itl": "time between tokens",
    "tpot": "time per output token",
    "ttft": "time to first token",
    "e2el": "end-to-end latency",
}
"""Metric of a serving benchmark → words; others are words already."""

MEASURED_ONCE = "measured once: how far two measurements of the same code differ is not known"

NOTHING_MEASURED = "Nothing was measured."
NOTHING_MATCHES = "None of the matching runs was measured."
WITHOUT_RUNS = "Results without runs: `tachograph verdicts --rule baseline`."
INGEST_HINT = (
    "Ingest benchmark results beside the runs: docs/measured.md says which are read, and how "
    "they are joined."
)
MEASURED_WITH = (
    "Ingest results of benchmarks beside the runs: those of vLLM, SGLang, hyperfine, "
    "pytest-benchmark, pyperf, asv, Go, Criterion, Google Benchmark, k6, wrk and ISO-Bench, or "
    "a table such as:"
)
EXAMPLE_TABLE = (
    "task,run_id,variant,metric,value,unit\nsort,,baseline,latency,100,ms\nsort,RUN,candidate,"
    "latency,80,ms"
)
"""The smallest valid table of measured values; RUN is the id of a run."""

LONGEST_NOTE = 600
"""Characters of a note on the page of a run, since some errors of benchmarks fill pages. The list
of measurements shows notes whole.
"""


def words(value: str) -> str:
    """Return a key with blanks in place of underscores: `end to end`."""
    return value.replace("_", " ")


def evidence_words(value: str, kind: str = "quantified") -> str:
    """Return the label of a claim's evidence: `method stated`; `no number` if it is qualitative."""
    return (
        "no number"
        if (value, kind) == ("stated", "qualitative")
        else EVIDENCE_NAMES.get(value, words(value))
    )


def interval_words(row: Row, low: str, high: str) -> str:
    """Return ` (1.10–1.36)`, or "" unless both ends are known."""
    if row[low] is None or row[high] is None:
        return ""
    return f" ({interval(row[low], row[high])})"


def claim_ratio(row: Row) -> str:
    """Return `3.17×`, `1.22× (1.10–1.36)`, `–` for a change that is no ratio."""
    return (
        UNKNOWN
        if row["ratio"] is None
        else ratio(row["ratio"]) + interval_words(row, "ratio_low", "ratio_high")
    )


def claim_title(row: Row) -> str:
    """Return a claim in one line.

    `claimed 3.17× (time) · method stated · micro-benchmark only · about the kernel`.
    """
    figure = words(row["direction"]) if row["ratio"] is None else claim_ratio(row)
    evidence = evidence_words(row["evidence"], row["kind"])
    parts = [f"claimed {figure} ({row['metric']})", evidence, row["caveat"] or words(row["scope"])]
    parts += ["quoted from others"] if row["origin"] == "cited" else []
    parts += [f"about {row['subject'].replace('`', '')}"] if row["subject"] else []
    return " · ".join(parts)


def hidden_words(count: int, how: str = f"--{MIN_CONFIDENCE} 0") -> str:
    verb, them = ("is", "it") if count == 1 else ("are", "them")
    return (
        f"{plural(count, 'claim')} of low confidence {verb} hidden; {how} lists {them}."
        if count
        else ""
    )


def all_claims_of(run_id: str) -> str:
    """Return the command that lists all claims of a run."""
    return f"claims --{RUN} {shlex.quote(run_id)} --{MIN_CONFIDENCE} 0"


def statement(row: Row) -> tuple[str, str]:
    """Return a statement of a summary as (label, value): (`Tests passed`, `12`)."""
    count = (
        None
        if row["count"] is None
        else f"{row['count']:,}{' lines' if row['kind'] == 'artefact' else ''}"
    )
    return STATEMENT_NAMES[row["kind"]], join_known(" · ", row["subject"], count) or row["quote"]


def expectation(row: Row) -> str:
    """Return what a rule expected and found, or "" if it recorded neither."""
    return ", ".join(
        f"{label} {row[key]}"
        for label, key in (("expected", "expected"), ("got", "actual"))
        if row[key]
    )


def verdict_words(verdict: str, *, is_beyond_noise: bool | None = None, band: float = BAND) -> str:
    """Return a verdict of v_verdicts or v_speedups in the words of every screen and command.

    `faster beyond noise`, `slower once`, `same (±5%)`, `not comparable`.
    """
    if verdict == "same":
        return f"same (±{percent(band)})"
    if verdict not in ("faster", "slower"):
        return VERDICT_NAMES.get(verdict, words(verdict))
    return f"{verdict} beyond noise" if is_beyond_noise else f"{verdict} once"


def beyond_words(faster: int, beyond_noise: int) -> str:
    """Return how many of the runs measured faster are so beyond noise: `1 beyond noise`."""
    if beyond_noise == faster:
        return "beyond noise" if faster == 1 else "all beyond noise"
    return f"{beyond_noise or 'none'} beyond noise"


def band_words(band: float = BAND) -> str:
    """Return the definition of faster and slower for notes."""
    return (
        f"Faster and slower mean beyond ±{percent(band)} of the baseline; beyond noise means more "
        "than two measurements of the same code may differ."
    )


def metric_words(metric: str | None) -> str:
    """Return `time to first token` for `ttft`."""
    return _METRICS.get(metric or "", words(metric or ""))


def value_words(verdict: Row) -> str:
    """Return `mean time to first token` for the value that decides."""
    return f"{words(verdict['statistic'] or '')} {metric_words(verdict['metric'])}".strip()


def decides_words(verdict: Row) -> str:
    """Return which of several values decides, and by what it goes before the others."""
    if not verdict["decided_by"]:
        return ""
    by = ", then ".join(verdict["decided_by"])
    values = plural(verdict["values_measured"], "value")
    return f"{value_words(verdict)}, of {values} the first by {by}."


def few_others(other_values: str | None, verdict: str = "", named: int = 1) -> str:
    """Return the first of the values that disagree with a verdict: `not by median +5`.

    `all values agree` if none does, "" without other values.
    """
    if other_values in (None, "", "agree"):
        return "all values agree" if other_values else ""
    values = [metric_words(key) for key in (other_values or "")[4:].split(", ")]
    more = f" +{len(values) - named}" if len(values) > named else ""
    return f"{f'not {verdict}'.strip()} by {', '.join(values[:named])}{more}"


def claim_facts(row: Row) -> list[tuple[str, str]]:
    """Return names and values of a claim for the page of its run."""
    if row["claimed_speedup"] is None:
        return [("Claimed speedup", "none")]
    figure = ratio(row["claimed_speedup"]) + interval_words(row, "claimed_low", "claimed_high")
    return [
        ("Claimed speedup", f"{figure} ({row['claimed_metric']})"),
        ("Evidence", evidence_words(row["claimed_evidence"])),
        ("Scope claimed", words(row["claimed_scope"])),
        ("Quote", quoted(row["claimed_quote"] or "")),
    ]


def measured_facts(row: Row) -> list[tuple[str, str]]:
    """Return names and known values of a measurement for the page of its run."""
    against = {}
    ends = interval_words(row, "measured_low", "measured_high")
    for key, verdict, beyond, low_high in (
        ("measured_speedup", "verdict", "is_beyond_noise", ends),
        ("measured_vs_reference", "reference_verdict", "is_reference_beyond_noise", ""),
    ):
        name = verdict_words(row[verdict], is_beyond_noise=row[beyond])
        against[verdict] = (
            name if row[key] is None else f"measured {ratio(row[key])}{low_high}: {name}"
        )
    note = "; ".join(
        filter(
            None,
            (
                MEASURED_ONCE if row["is_beyond_noise"] is False else "",
                failure_words(row["failure"], row["why"]),
            ),
        )
    )
    facts = [
        ("Against the baseline", against["verdict"]),
        ("Against the reference", against["reference_verdict"]),
        ("Other values", row["other_values"] or ""),
        ("Claim", CLAIM_VERDICT_NAMES.get(row["claim_verdict"], "")),
        (
            "Claimed ÷ measured",
            ratio(row["overclaim_factor"]) if row["overclaim_factor"] is not None else "",
        ),
        ("Quadrant", QUADRANT_NAMES.get(row["quadrant"], "")),
        ("Metric", join_known(" ", row["metric"], row["statistic"])),
        ("Decides", decides_words(row)),
        ("Scope measured", words(row["measured_scope"] or "")),
        (
            "Values",
            f"{row['values_measured']:,} ({row['values_comparable']:,} with a comparable baseline)",
        ),
        ("Note", cut(note)),
    ]
    return [(name, value) for name, value in facts if value]


def cut(note: str) -> str:
    """Return a note cut to LONGEST_NOTE."""
    return note if len(note) <= LONGEST_NOTE else f"{note[:LONGEST_NOTE].rstrip()} …"


def failure_words(failure: str | None, why: str | None) -> str:
    """Return why there is no measured ratio: the kind of failure, then the benchmark's message."""
    return join_known(": ", FAILURE_NAMES.get(failure or ""), why)


def cost_per(each: Any, cost: Any, counted: int, judged: int, bounds: str | None = None) -> str:
    """Return `$2.50`; `none for $7.79` if none of the judged runs counts.

    `–` if none was judged or the cost is unknown.
    """
    if each is not None and judged:
        return usd(each, bounds)
    return (
        f"none for {usd(cost, bounds)}" if cost is not None and judged and not counted else UNKNOWN
    )
