"""Fits the weights of a claim's confidence to labelled texts, and shows each threshold's effect.

    python -m tests.labelled.fitting [FILE.jsonl …] [--write]

Reads the labelled texts of this folder and those given, a line `{"id", "text", "claims": […]}`
each, labels as README.md says. Every candidate that the extractor finds is one example: right if it
overlaps a label and the ratios agree, wrong if not, left out if the label is optional. The weights
are the maximum of the posterior, with a normal prior around the weights that are there. Each file
is judged by weights that were moved without it; the last lines pool these. `--write` fits to all
texts and writes the table into `weights.toml`.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ingest.claims
from ingest.claims.extraction import effects_of, judged, measured_of
from ingest.claims.model import features_of, weights
from ingest.claims.search import find_triggers
from schemas.claims import ClaimMetric
from tests.labelled.scoring import SPEEDUPS, Score, judge, matches, ratio_agrees
from tests.labelled.texts import LABELLED, Label, LabelledText

WEIGHTS = Path(ingest.claims.__file__).parent / "weights.toml"
FIRMNESS = 5.0
"""How firmly the weights that are there are held: one over the variance of the prior."""

LEAST_WEIGHT = 0.05
"""Smaller weights are left out of the table."""

THRESHOLDS = (0.0, 0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)


class Text(NamedTuple):
    """A labelled text, the claims found in it, their features, and whether each is right.

    None if its label is optional.
    """

    labelled: LabelledText
    claims: list[Any]
    features: list[dict[str, float]]
    are_right: list[bool | None]


def read(path: Path) -> list[Text]:
    """Return the texts of a file.

    Fields of labels that are unknown here are passed over, and rules of our own are not asked for.
    """
    texts = []
    for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        known = (
            {name: claim[name] for name in Label.model_fields if name in claim}
            for claim in row["claims"]
        )
        labels = tuple(
            Label.model_construct(**{**fields, "metric": ClaimMetric(fields["metric"])})
            for fields in known
        )
        found = judged(
            row["text"], measured_of(effects_of(row["text"], find_triggers(row["text"])[0]))
        )
        claims = [claim for claim, _ in found]
        label_of = {j: labels[i] for i, j in matches(labels, claims).items()}
        rights = [
            False
            if (label := label_of.get(j)) is None
            else None
            if label.optional
            else ratio_agrees(label, claim)
            for j, claim in enumerate(claims)
        ]
        labelled = LabelledText.model_construct(
            id=row["id"], kind="", text=row["text"], claims=labels
        )
        texts.append(
            Text(labelled, claims, [features_of(candidate) for _, candidate in found], rights)
        )
    return texts


def table(texts: Sequence[Text], names: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features (the intercept first), outcomes and weights of all examples.

    A text counts at most as eight.
    """
    rows = [
        (
            [1.0, *(features.get(name, 0.0) for name in names)],
            float(is_right),
            min(1.0, 8 / len(text.claims)),
        )
        for text in texts
        for features, is_right in zip(text.features, text.are_right, strict=True)
        if is_right is not None
    ]
    features, outcomes, counted = zip(*rows, strict=True)
    return np.array(features), np.array(outcomes), np.array(counted)


def moved(texts: Sequence[Text], names: Sequence[str], start: np.ndarray) -> np.ndarray:
    """Return the weights, the intercept first, moved from the given ones by the texts."""
    features, outcomes, counted = table(texts, names)
    found = start.copy()
    for _ in range(50):
        given = 1 / (1 + np.exp(-features @ found))
        slope = features.T @ (counted * (given - outcomes)) + FIRMNESS * (found - start)
        curvature = (features.T * (counted * given * (1 - given))) @ features + FIRMNESS * np.eye(
            len(found)
        )
        found -= (step := np.linalg.solve(curvature, slope))
        if np.abs(step).max() < 1e-6:
            break
    return np.asarray(found)


def scored(
    texts: Sequence[Text], names: Sequence[str], by: np.ndarray, threshold: float
) -> tuple[Score, Score]:
    """Return the scores of all claims and of speedups with at least that confidence."""
    verdicts: tuple[list[Any], list[Any]] = [], []
    for text in texts:
        sums = [
            by[0]
            + sum(
                weight * features.get(name, 0.0) for name, weight in zip(names, by[1:], strict=True)
            )
            for features in text.features
        ]
        shown = [
            claim
            for claim, value in zip(text.claims, sums, strict=True)
            if 1 / (1 + np.exp(-value)) >= threshold
        ]
        verdicts[0].append(judge(text.labelled, shown))
        verdicts[1].append(judge(text.labelled, shown, SPEEDUPS))
    return Score(tuple(verdicts[0])), Score(tuple(verdicts[1]))


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit the confidence of claims to labelled texts.")
    parser.add_argument("files", nargs="*", type=Path, help="further labelled texts, JSON lines")
    parser.add_argument("--write", action="store_true", help="write the weights")
    options = parser.parse_args()
    files = {path.stem: read(path) for path in (LABELLED, *options.files)}
    every = [text for texts in files.values() for text in texts]
    there = weights()["confidence"]
    names = sorted(there.keys() - {"intercept"})
    start = np.array([there["intercept"], *(there.get(name, 0.0) for name in names)])
    others = {
        name: moved(
            [text for other, texts in files.items() if other != name for text in texts] or every,
            names,
            start,
        )
        for name in files
    }
    for threshold in THRESHOLDS:
        both = {
            name: scored(texts, names, others[name], threshold) for name, texts in files.items()
        }
        pooled = [
            Score(tuple(verdict for scores in both.values() for verdict in scores[index].verdicts))
            for index in (0, 1)
        ]
        for name, (one, speedups) in {**both, "all": (pooled[0], pooled[1])}.items():
            alarms = sum(verdict.false_alarm for verdict in one.verdicts)
            figures = (
                f"P {one.precision:.3f} R {one.recall:.3f} F1 {one.f1:.3f} speedups "
                f"{speedups.f1:.3f} alarms {alarms}"
            )
            print(f"{threshold:.2f} {name:8} {figures}")
    if options.write:
        found = dict(zip(["intercept", *names], moved(every, names, start), strict=True))
        ranked = sorted(found.items(), key=lambda pair: (pair[0] != "intercept", -abs(pair[1])))
        lines = [
            f'"{name}" = {weight:+.2f}' for name, weight in ranked if abs(weight) >= LEAST_WEIGHT
        ]
        written = "[confidence]\n" + "\n".join(lines).replace('"intercept"', "intercept") + "\n\n"
        text = WEIGHTS.read_text(encoding="utf-8")
        WEIGHTS.write_text(
            re.sub(r"\[confidence\].*?\n\n", lambda _: written, text, flags=re.DOTALL),
            encoding="utf-8",
        )


if __name__ == "__main__":
    main()
