"""Texts whose claim is known because they are made from it.

Tables, sentences and pairs of lines, with either side first and either better.

    python -m tests.labelled.reversals

A claim with the wrong sign, a loss that is shown as a gain, is the worst error that the extractor
can make. Prints for each kind of text how many claims have the right ratio, the wrong sign, another
ratio, and how many texts give no claim.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

BASELINES = ("old", "original", "baseline", "unoptimized", "naive", "previous", "main")
CANDIDATES = ("new", "optimized", "patched", "improved", "tuned", "current")
MEASURES = (("Startup", "ms", False), ("Peak memory", "MB", False), ("Throughput", "req/s", True))
FACTORS = (0.25, 0.5, 0.8, 1.25, 2.0, 5.0)
TEXTS = 600
"""Texts of each kind."""


class Case(NamedTuple):
    """A text, and the improvement factor that it claims."""

    text: str
    ratio: float


def _figures(draw: random.Random, *, more_is_better: bool) -> tuple[int, int, float]:
    before = draw.randint(20, 900) * 20
    after = round(before * draw.choice(FACTORS))
    return before, after, after / before if more_is_better else before / after


def tables(draw: random.Random) -> Case:
    """A row with both figures and their change, below names that may say nothing."""
    names = draw.choice(
        [
            ("CPU", "GPU"),
            ("fp32", "int8"),
            ("Python", "Rust"),
            ("v1.2.0", "v1.3.0"),
            ("Before", "After"),
            ("main", "branch"),
        ]
    )
    subject, unit, more_is_better = draw.choice(MEASURES)
    before, after, ratio = _figures(draw, more_is_better=more_is_better)
    rise, gain = after / before - 1, after / before - 1 if more_is_better else 1 - after / before
    changes = [
        ("Change", f"{rise:+.1%}"),
        ("Improvement", f"{gain:+.1%}"),
        ("Gain", f"{gain:.1%}"),
        ("Reduction", f"{-rise:.1%}"),
        ("Speedup", f"{ratio:.2f}x"),
    ]
    header, change = draw.choice(changes)
    sides = [(names[0], f"{before} {unit}"), (names[1], f"{after} {unit}")]
    if draw.random() < 0.5:
        sides.reverse()
    head, row = zip(("Metric", subject), *sides, (header, change), strict=True)
    lines = [f"| {' | '.join(head)} |", "|---|---|---|---|", f"| {' | '.join(row)} |"]
    return Case("perf: lookups\n\n" + "\n".join(lines), ratio)


def changes(draw: random.Random) -> Case:
    """A table with nothing but the change.

    Of the figures, of how good they are, or of how much less they are.
    """
    subject, _, more_is_better = draw.choice(MEASURES)
    before, after, ratio = _figures(draw, more_is_better=more_is_better)
    rise, gain = after / before - 1, after / before - 1 if more_is_better else 1 - after / before
    header, change = draw.choice(
        [("Change", f"{rise:+.1%}"), ("Improvement", f"{gain:+.1%}"), ("Speedup", f"{ratio:.2f}x")]
    )
    if header == "Improvement":  # 20 % better, in whatever way
        ratio = 1 + gain if gain > 0 else 1 / (1 - gain)
    return Case(
        f"perf: lookups\n\n| Metric | {header} |\n|---|---|\n| {subject} | {change} |", ratio
    )


def named_sides(draw: random.Random) -> Case:
    """Both sides with their figures in one sentence, in any order."""
    before, after = draw.sample(range(2, 900), 2)
    noun, verb = (
        draw.choice(["execution time", "loop", "kernel", "version"]),
        draw.choice([" was ", " took ", " needs ", ": ", " at ", " ran in "]),
    )
    join = draw.choice([", ", "; ", " vs ", " and ", " whereas ", " compared to "])
    clauses = [
        f"{draw.choice(BASELINES)} {noun}{verb}{before} ms",
        f"{draw.choice(CANDIDATES)} {noun}{verb}{after} ms",
    ]
    if draw.random() < 0.5:
        clauses.reverse()
    return Case(f"perf: lookups\n\nOf a lookup, {join.join(clauses)}.", before / after)


_CHANGES = (
    ("{one} is 3x faster than {other}", 3),
    ("{one} is 3 times slower than {other}", 1 / 3),
    ("{one} is 25% faster than {other}", 1.25),
    ("{one} is 25% slower than {other}", 0.8),
    ("{one} uses 20% less memory than {other}", 1.25),
    ("{one} has 2x higher throughput than {other}", 2),
    ("{one} has 20% lower latency than {other}", 1.25),
    ("compared to {other}, {one} is 2x slower", 0.5),
    ("latency with {one} rises 25% compared to {other}", 0.8),
    ("throughput with {one} drops 20% compared to {other}", 0.8),
)


def subjects(draw: random.Random) -> Case:
    """A change of one side against the other.

    `the old parser is 3x slower than the new one` is a gain.
    """
    old = draw.choice(
        [
            "the old parser",
            "the baseline",
            "main",
            "the original version",
            "the naive loop",
            "the legacy path",
        ]
    )
    new = draw.choice(
        [
            "the new parser",
            "the optimized version",
            "this branch",
            "the patched build",
            "our version",
        ]
    )
    words, ratio = draw.choice(_CHANGES)
    is_of_baseline = draw.random() < 0.5
    one, other = (old, new) if is_of_baseline else (new, old)
    return Case(
        f"perf: lookups\n\nHere {words.format(one=one, other=other)}.",
        1 / ratio if is_of_baseline else ratio,
    )


_PAIRS = (
    "from {a} to {b}",
    "{a} → {b}",
    "{b} (was {a})",
    "{b} instead of {a}",
    "{b}, down from {a}",
    "went from {a} to {b}",
    "{a} before, {b} after",
    "{b} now, {a} before",
    "{a} on main, {b} with this PR",
    "{b} with this PR, {a} on main",
    "{b} vs {a} before",
    "used to be {a}, now {b}",
    "before: {a}, after: {b}",
    "{b} after, {a} before",
    "{b} compared to {a} on main",
)


def sentences(draw: random.Random) -> Case:
    """Two figures joined by the words that people use for it."""
    subject, unit, more_is_better = draw.choice(MEASURES)
    before, after, ratio = _figures(draw, more_is_better=more_is_better)
    words = draw.choice(
        _PAIRS if after < before else [words for words in _PAIRS if "down" not in words]
    )
    return Case(
        (
            f"perf: lookups\n\n{subject} of the lookup: "
            f"{words.format(a=f'{before} {unit}', b=f'{after} {unit}')}."
        ),
        ratio,
    )


def two_lines(draw: random.Random) -> Case:
    """A line for each side, in any order, perhaps with a third for the change."""
    subject, unit, more_is_better = draw.choice(MEASURES)
    before, after, ratio = _figures(draw, more_is_better=more_is_better)
    names = draw.choice(
        [
            ("Before", "After"),
            ("Old", "New"),
            ("Baseline", "Optimized"),
            ("main", "this branch"),
            ("Without cache", "With cache"),
        ]
    )
    bullet = draw.choice(["- ", "", "* "])
    lines = [f"{bullet}{names[0]}: {before} {unit}", f"{bullet}{names[1]}: {after} {unit}"]
    if draw.random() < 0.5:
        lines.reverse()
    if draw.random() < 0.3:
        lines.append(f"{bullet}Change: {after / before - 1:+.1%}")
    return Case(f"perf: lookups\n\n{subject}:\n" + "\n".join(lines), ratio)


KINDS: tuple[Callable[[random.Random], Case], ...] = (
    tables,
    changes,
    named_sides,
    subjects,
    sentences,
    two_lines,
)


def cases(kind: Callable[[random.Random], Case], count: int = TEXTS) -> Iterator[Case]:
    """So many texts of the kind, always the same ones."""
    draw = random.Random(kind.__name__)
    return (kind(draw) for _ in range(count))


def verdict(case: Case, found: list[float]) -> str:
    """`right`, `reversed`, `other` or `missed`, for the ratios of the claims found in the text.

    The worst counts.
    """
    sides = [math.log(ratio) * math.log(case.ratio) for ratio in found]
    if any(side < 0 for side in sides):
        return "reversed"
    if not found:
        return "missed"
    return "right" if all(abs(math.log(ratio / case.ratio)) < 0.05 for ratio in found) else "other"


def counted(
    kind: Callable[[random.Random], Case], extract: Callable[[str], tuple[object, ...]]
) -> Counter[str]:
    """How many texts of the kind are right, reversed, other or missed."""
    found = (
        (case, [claim.ratio for claim in extract(case.text) if claim.ratio])  # type: ignore[attr-defined]
        for case in cases(kind)
    )
    return Counter(verdict(case, ratios) for case, ratios in found)


def main() -> None:
    from ingest.claims import extract  # noqa: PLC0415  the generators know no extractor

    for kind in KINDS:
        count = counted(kind, extract)
        print(
            f"{kind.__name__:12}",
            *(f"{name} {count[name]:4}" for name in ("right", "reversed", "other", "missed")),
        )


if __name__ == "__main__":
    main()
