"""Fits the weights of a claim's confidence to labelled texts.

    python -m tests.labelled.fitting [FILE.jsonl …] [--write]

Reads the labelled texts of this folder and those given: a line `{"id", "text", "claims": […]}` each, labels as README.md says. Every
candidate that the extractor finds becomes one example: right, if it overlaps a label and the ratios agree; wrong, if it does not;
left out, if the label is optional. Prints what the threshold does to each file, each text judged by weights fitted without it, and how
well the probabilities are calibrated. `--write` fits to all texts and writes `ingest/claims/judge/confidence.toml`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from ingest.claims.claim import Claim
from ingest.claims.extraction import judged
from ingest.claims.judge import confidence
from ingest.claims.judge.confidence import FEATURES
from schemas.rows.claim import SHOWN_FROM, ClaimMetric
from tests.labelled.scoring import SPEEDUPS, Score, judge, matches, ratio_agrees
from tests.labelled.texts import LABELLED, Label, LabelledText

WEIGHTS = Path(confidence.__file__).with_name("confidence.toml")
FOLDS, REGULARIZATION = 10, 0.5
"""Parts of the cross-validation, and the inverse strength of the L2 penalty, chosen by the log loss of the parts left out."""

LEAST_WEIGHT = 0.02
"""Smaller weights are left out of the table."""


class Example(NamedTuple):
    """A candidate: its claim, its features, and whether a reader agrees (None: optional)."""

    claim: Claim
    features: tuple[float, ...]
    is_right: bool | None


class Text(NamedTuple):
    """A labelled text with its examples."""

    source: str
    labelled: LabelledText
    examples: tuple[Example, ...]


def lax(row: dict[str, Any]) -> LabelledText:
    """A text whose labels have further fields, or break the rules of our own: their known fields."""
    claims = tuple(Label.model_construct(**_known(claim)) for claim in row["claims"])
    return LabelledText.model_construct(id=row["id"], kind=row.get("kind", ""), text=row["text"], claims=claims)


def _known(claim: dict[str, Any]) -> dict[str, Any]:
    fields = {name: claim[name] for name in Label.model_fields if name in claim}
    return fields | {"metric": ClaimMetric(claim["metric"])}


def read(path: Path) -> list[Text]:
    """The texts of a file with their examples."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [Text(path.stem if path != LABELLED else "written", one, tuple(examples(one))) for one in map(lax, rows)]


def examples(text: LabelledText) -> Iterable[Example]:
    """The candidates of a text, each compared with the labels."""
    found = judged(text.text)
    claims = [claim for claim, _ in found]
    labels = {j: text.claims[i] for i, j in matches(text.claims, claims).items()}
    for index, (claim, candidate) in enumerate(found):
        label = labels.get(index)
        is_right = None if label and label.optional else label is not None and ratio_agrees(label, claim)
        yield Example(claim, tuple(feature.value(candidate) for feature in FEATURES), is_right)


class Table(NamedTuple):
    """The examples as arrays: features, outcomes, weights (a text counts at most as eight examples), and the index of the text."""

    features: np.ndarray
    outcomes: np.ndarray
    weights: np.ndarray
    groups: np.ndarray


def table(texts: Sequence[Text]) -> Table:
    """All examples but the optional ones."""
    rows = [
        (example.features, example.is_right, min(1.0, 8 / len(text.examples)), group)
        for group, text in enumerate(texts)
        for example in text.examples
        if example.is_right is not None
    ]
    features, outcomes, weights, groups = zip(*rows, strict=True)
    return Table(np.array(features), np.array(outcomes, dtype=int), np.array(weights), np.array(groups))


def fitted(data: Table, rows: np.ndarray | slice = slice(None)) -> LogisticRegression:
    """The model fitted to those rows."""
    model = LogisticRegression(C=REGULARIZATION, max_iter=2000)
    return model.fit(data.features[rows], data.outcomes[rows], sample_weight=data.weights[rows])


def left_out(texts: Sequence[Text], data: Table) -> dict[int, float]:
    """The probability of each example, by its position in the table, from a model that has not seen its text."""
    found: dict[int, float] = {}
    for train, test in GroupKFold(n_splits=FOLDS).split(data.features, groups=data.groups):
        probabilities = fitted(data, train).predict_proba(data.features[test])[:, 1]
        found.update(zip(test.tolist(), probabilities.tolist(), strict=True))
    return found


def scored(texts: Sequence[Text], probabilities: dict[int, float], threshold: float) -> dict[str, tuple[Score, Score]]:
    """By file, the score of all claims and of speedups with at least that probability; optional candidates are kept as they are."""
    position = 0
    verdicts: dict[str, tuple[list[Any], list[Any]]] = {}
    for text in texts:
        kept = []
        for example in text.examples:
            if example.is_right is None:
                kept.append(example.claim)
                continue
            if probabilities[position] >= threshold:
                kept.append(example.claim)
            position += 1
        both = verdicts.setdefault(text.source, ([], []))
        both[0].append(judge(text.labelled, kept))
        both[1].append(judge(text.labelled, kept, SPEEDUPS))
    return {source: (Score(tuple(all_)), Score(tuple(speed))) for source, (all_, speed) in verdicts.items()}


def calibration(data: Table, probabilities: dict[int, float]) -> list[str]:
    """Lines that compare the probabilities with the outcomes, in ten parts, and the Brier score."""
    given = np.array([probabilities[i] for i in range(len(data.outcomes))])
    lines = []
    for low in np.arange(0, 1, 0.1):
        inside = (given >= low) & (given < low + 0.1 + (low > 0.85))
        if inside.any():
            weights = data.weights[inside]
            lines.append(
                f"{low:.1f}-{low + 0.1:.1f}: {inside.sum():4} candidates, said {np.average(given[inside], weights=weights):.2f}, "
                f"right {np.average(data.outcomes[inside], weights=weights):.2f}"
            )
    brier = np.average((given - data.outcomes) ** 2, weights=data.weights)
    loss = -np.average(data.outcomes * np.log(given) + (1 - data.outcomes) * np.log(1 - given), weights=data.weights)
    return [*lines, f"Brier score {brier:.4f}, log loss {loss:.4f}"]


def as_toml(model: LogisticRegression, texts: Sequence[Text], data: Table) -> str:
    """The weights, largest first, each with its meaning."""
    ranked = sorted(zip(FEATURES, model.coef_[0], strict=True), key=lambda pair: -abs(pair[1]))
    rows = [f'"{feature.name}" = {weight:+.2f}  # {feature.meaning}' for feature, weight in ranked if abs(weight) >= LEAST_WEIGHT]
    return (
        "# Weights of the confidence of a claim, in log odds. Written by `python -m tests.labelled.fitting --write`; do not edit.\n"
        f"# Fitted to {len(data.outcomes)} candidates of {len(texts)} labelled texts; docs/claims-confidence.md is the model card.\n"
        f"intercept = {model.intercept_[0]:+.2f}\n\n[weights]\n" + "\n".join(rows) + "\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit the confidence of claims to labelled texts.")
    parser.add_argument("files", nargs="*", type=Path, help="further labelled texts, JSON lines")
    parser.add_argument("--write", action="store_true", help="write the weights")
    parser.add_argument("--threshold", type=float, default=SHOWN_FROM, metavar="P", help="the confidence from which claims are shown")
    options = parser.parse_args()
    texts = [text for path in (LABELLED, *options.files) for text in read(path)]
    data = table(texts)
    probabilities = left_out(texts, data)
    print(f"{len(data.outcomes)} candidates of {len(texts)} texts, {data.outcomes.mean():.0%} of them right")
    for source, (everything, speedups) in scored(texts, probabilities, options.threshold).items():
        print(
            f"{source:12} all P {everything.precision:.3f} R {everything.recall:.3f} F1 {everything.f1:.3f}   "
            f"speedups P {speedups.precision:.3f} R {speedups.recall:.3f} F1 {speedups.f1:.3f}   false alarms {everything.false_alarms:.3f}"
        )
    print("\n".join(calibration(data, probabilities)))
    if options.write:
        WEIGHTS.write_text(as_toml(fitted(data), texts, data), encoding="utf-8")


if __name__ == "__main__":
    main()
