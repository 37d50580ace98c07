"""Sentences about a paired benchmark (`tachograph measure`), and its figures for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from app.queries import Row
from app.text.claims import CLAIM_VERDICT_NAMES, FAILURE_NAMES
from app.text.formatting import interval, ratio, short
from schemas.text import plural
from schemas.units import Unit
from schemas.wire.paired_benchmark import Arm, MeasureVerdict, PairedBenchmark, Series

_VERDICTS = {
    MeasureVerdict.FASTER: "Faster beyond noise",
    MeasureVerdict.SLOWER: "Slower beyond noise",
    MeasureVerdict.SAME: "The same (±5%)",
    MeasureVerdict.INSIDE_NOISE: "Inside noise",
}
_ENDED = {
    "decided": "It ended early, since the difference is decided.",
    "until": "It ended early, since the interval is as narrow as asked for.",
    "time": "It ended at --max-minutes.",
    "interrupted": "It was interrupted; the whole blocks until then count.",
    "baseline": (
        "It ended when the command failed on the baseline; the whole blocks until then count."
    ),
}
_MOST_LISTED = 20


def headline(made: PairedBenchmark) -> MeasureVerdict:
    """Return the verdict on the candidate.

    That of the first series, which combines several benchmarks.
    """
    if made.failure:
        return MeasureVerdict.FAILED
    return made.series[0].verdict if made.series else MeasureVerdict.NOT_MEASURED


def runs_of_side(made: PairedBenchmark) -> int:
    """Return the number of compared runs of the candidate."""
    return sum(run.phase == "compared" and run.arm is Arm.CANDIDATE for run in made.runs)


def as_dict(
    made: PairedBenchmark, claimed: float | None, claim_verdict: str | None
) -> dict[str, Any]:
    """Return the figures that `tachograph measure --json` prints.

    The keys of docs/measure.md, None for what is unknown.
    """
    first = made.series[0] if made.series and not made.failure else None
    keys = (
        "ratio",
        "ratio_low",
        "ratio_high",
        "noise_floor",
        "median_ratio",
        "median_low",
        "median_high",
        "p_value",
    )
    return {
        "verdict": str(headline(made)),
        **{key: getattr(first, key) if first else None for key in keys},
        "runs": runs_of_side(made),
        "claimed": claimed,
        "claim_verdict": claim_verdict,
        "failure": made.failure and str(made.failure),
        "failure_detail": made.failure_detail,
        "ended_by": made.ended_by or None,
        "run_id": made.run_id,
        "repo": made.repo,
        "baseline": made.baseline_commit,
        "candidate": made.candidate_commit,
        "patch_sha256": made.patch_sha256,
        "benchmarks": [
            series.model_dump(mode="json", exclude={"members"}) for series in made.series
        ],
    }


def lines(
    made: PairedBenchmark, claimed: float | None, claim: Row, more_runs: int
) -> Iterator[str]:
    """Yield the result in words. `claim`: `claim_verdict` and `scope_differs` of v_verdicts.

    `more_runs`: what the claimed effect needs.
    """
    if made.failure:
        yield (
            f"Failed: {made.failure} ({FAILURE_NAMES.get(made.failure, 'unknown')}): "
            f"{made.failure_detail}"
        )
        return
    first, runs = made.series[0], runs_of_side(made)
    yield f"{_VERDICTS[first.verdict]}: {_ratio_words(first)}; {plural(runs, 'run')} of each side"
    if first.noise_floor is not None:
        floor = short(first.noise_floor, Unit.NOISE) if first.noise_floor < 1 else "over 100%"
        yield (
            f"  noise floor {floor}: two measurements of the same code with as many runs may "
            "differ so much"
        )
    if first.median_ratio is not None:
        yield (
            f"  medians {ratio(first.median_ratio)} "
            f"({interval(first.median_low, first.median_high)}, bootstrap); "
            f"Mann-Whitney p = {first.p_value:.2g}"
        )
    for series in made.series[1 : _MOST_LISTED + 1]:
        yield f"  {series.benchmark}: {_VERDICTS[series.verdict].lower()}, {_ratio_words(series)}"
    if len(made.series) > 1:
        yield (
            f"  Of {len(made.series) - 1} benchmarks some differ by chance alone: the geometric "
            "mean counts."
        )
    if made.ended_by in _ENDED:
        yield f"  {_ENDED[made.ended_by]}"
    if claimed is not None:
        verdict = CLAIM_VERDICT_NAMES.get(claim.get("claim_verdict") or "", "not compared")
        if claim.get("scope_differs"):
            verdict = f"{verdict}, though claim and benchmark cover different parts"
        yield f"Claimed {ratio(claimed)}: {verdict}"
    if first.verdict is MeasureVerdict.INSIDE_NOISE and more_runs:
        effect = ratio(claimed) if claimed is not None else "a difference of 10%"
        yield (
            f"  To find {effect}, about {more_runs:,} more runs of each side are needed (--runs "
            f"{runs + more_runs})."
        )


def _ratio_words(series: Series) -> str:
    if series.ratio is None:
        return "no ratio"
    return f"{ratio(series.ratio)} ({interval(series.ratio_low, series.ratio_high)}, 95%)"
