"""Fits the weights of a claim's confidence and of its scope to labelled texts.

    python -m tests.labelled.fitting [FILE.jsonl …] [--go-on] [--write]

Reads the labelled texts of this folder and those given: a line `{"id", "text", "claims": […]}` each, labels as README.md says. Every
candidate that the extractor finds becomes one example: right, if it overlaps a label and the ratios agree; wrong, if it does not;
left out, if the label is optional. Prints what the threshold does to each file, each text judged by weights fitted without it, and how
well the probabilities are calibrated; then how often the scope agrees. `--write` fits to all texts and writes `confidence.toml` and
`scope.toml` in `ingest/claims/judge/`.

`--go-on` is for new texts when the old ones are not at hand: the weights of the confidence that are there are moved as far as the texts
given ask for (a normal prior around each weight). Of the scope, the weights of its phrases are fitted beside the others, which stay.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from ingest.claims.claim import Claim
from ingest.claims.extraction import judged
from ingest.claims.judge import confidence, scope
from ingest.claims.judge.features import Candidate, Feature
from schemas.rows.claim import ClaimMetric, Scope
from schemas.rows.confidence import SHOWN_FROM
from tests.labelled.scoring import SPEEDUPS, Score, judge, matches, ratio_agrees
from tests.labelled.texts import LABELLED, Label, LabelledText

ROOM = Path(confidence.__file__).parent
WRITTEN = "written"
"""The name of our own file of labelled texts."""

FOLDS = 10
"""Parts of the cross-validation; no text is in two of them."""

STRENGTHS = {"confidence": 0.6, "scope": 0.3}
"""The inverse strengths of the L1 penalty, which leaves most features without a weight; chosen by the log loss of the parts left out."""

LEAST_WEIGHT = 0.02
"""Smaller weights are left out of the tables."""

ANCHOR = 5.0
"""How firmly `--go-on` holds the weights that are there: one over the variance of the prior. Chosen by the log loss of files left out."""

WRITTEN_WEIGHT = 2.0
"""Weight of our own texts in `--go-on`: they stand for the sets of texts whose numbers look like claims and are none. Chosen likewise."""

ANCHOR_OF_PHRASES = 3.0
"""The same for the phrases of the scope, whose prior is around zero."""

SCOPES = sorted(one.value for one in Scope)

STEPS = 50
"""Newton steps of `--go-on` at most; some ten are enough."""


class Example(NamedTuple):
    """A candidate with its claim, the label that it overlaps, and whether a reader agrees with it (None: the label is optional)."""

    claim: Claim
    candidate: Candidate
    label: Label | None
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
    return [Text(path.stem if path != LABELLED else WRITTEN, one, tuple(examples(one))) for one in map(lax, rows)]


def examples(text: LabelledText) -> Iterable[Example]:
    """The candidates of a text, each compared with the labels."""
    found = judged(text.text)
    claims = [claim for claim, _ in found]
    labels = {j: text.claims[i] for i, j in matches(text.claims, claims).items()}
    for index, (claim, candidate) in enumerate(found):
        label = labels.get(index)
        is_right = None if label and label.optional else label is not None and ratio_agrees(label, claim)
        yield Example(claim, candidate, label, is_right)


class Table(NamedTuple):
    """Examples as arrays: features, outcomes, weights (a text counts at most as eight examples), and the index of the text."""

    features: np.ndarray
    outcomes: np.ndarray
    weights: np.ndarray
    groups: np.ndarray

    def fitted(self, strength: float, rows: np.ndarray | slice = slice(None)) -> LogisticRegression:
        """The model fitted to those rows."""
        model = LogisticRegression(C=strength, l1_ratio=1, solver="saga", max_iter=5000, tol=1e-3, random_state=0)
        return model.fit(self.features[rows], self.outcomes[rows], sample_weight=self.weights[rows])

    def left_out(self, strength: float) -> np.ndarray:
        """The probabilities of the outcomes of each row, from a model that has not seen its text."""
        found = np.zeros((len(self.outcomes), len(set(self.outcomes))))
        for train, test in GroupKFold(n_splits=FOLDS).split(self.features, groups=self.groups):
            found[test] = self.fitted(strength, train).predict_proba(self.features[test])
        return found


def table(texts: Sequence[Text], features: Sequence[Feature], outcome: Callable[[Example], str | None]) -> Table:
    """The examples with an outcome."""
    rows = [
        ([feature.value(example.candidate) for feature in features], known, min(1.0, 8 / len(text.examples)), group)
        for group, text in enumerate(texts)
        for example in text.examples
        if (known := outcome(example)) is not None
    ]
    return Table(*(np.array(column) for column in zip(*rows, strict=True)))


def rightness(example: Example) -> str | None:
    """`wrong`, `right`, or None for an optional label."""
    return None if example.is_right is None else ("right" if example.is_right else "wrong")


def moved(texts: Sequence[Text], start: np.ndarray) -> np.ndarray:
    """Weights, the intercept first, that start from those given and are moved by the texts: the maximum of the posterior."""
    data = table(texts, confidence.FEATURES, rightness)
    features = np.column_stack([np.ones(len(data.features)), data.features])
    written = np.array([texts[group].source == WRITTEN for group in data.groups])
    counted = data.weights * np.where(written, WRITTEN_WEIGHT, 1.0)
    outcomes, weights = (data.outcomes == "right").astype(float), start.copy()
    for _ in range(STEPS):
        given = 1 / (1 + np.exp(-features @ weights))
        slope = features.T @ (counted * (given - outcomes)) + ANCHOR * (weights - start)
        curvature = (features.T * (counted * given * (1 - given))) @ features + ANCHOR * np.eye(len(weights))
        weights -= (step := np.linalg.solve(curvature, slope))
        if np.abs(step).max() < 1e-6:
            break
    return np.asarray(weights)


def shown_by(texts: Sequence[Text], weights: np.ndarray) -> np.ndarray:
    """The probability of each candidate that is not optional, by those weights."""
    data = table(texts, confidence.FEATURES, rightness)
    return np.asarray(1 / (1 + np.exp(-(weights[0] + data.features @ weights[1:]))))


def scope_of_label(example: Example) -> str | None:
    """The labelled scope of a claim that was read rightly."""
    return Scope(example.label.scope).value if example.label and example.is_right else None


def scored(texts: Sequence[Text], probabilities: np.ndarray, threshold: float) -> dict[str, tuple[Score, Score]]:
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


def calibration(data: Table, given: np.ndarray) -> list[str]:
    """Lines that compare the probabilities with the outcomes, in ten parts, and the Brier score."""
    outcomes = (data.outcomes == "right").astype(float)
    lines = []
    for low in np.arange(0, 1, 0.1):
        inside = (given >= low) & (given < low + 0.1 + (low > 0.85))
        if inside.any():
            said, right = (np.average(column[inside], weights=data.weights[inside]) for column in (given, outcomes))
            lines.append(f"{low:.1f} to {low + 0.1:.1f}: {inside.sum():4} candidates, said {said:.2f}, right {right:.2f}")
    brier = np.average((given - outcomes) ** 2, weights=data.weights)
    loss = -np.average(outcomes * np.log(given) + (1 - outcomes) * np.log(1 - given), weights=data.weights)
    return [*lines, f"Brier score {brier:.4f}, log loss {loss:.4f}"]


def agreement(texts: Sequence[Text], data: Table, given: np.ndarray, classes: Sequence[str]) -> list[str]:
    """By file, how often the likeliest scope is the labelled one."""
    agrees = np.array(classes)[given.argmax(axis=1)] == data.outcomes
    sources = np.array([texts[group].source for group in data.groups])
    lines = [
        f"{source:12} scope {agrees[sources == source].mean():.3f} of {(sources == source).sum()}" for source in dict.fromkeys(sources)
    ]
    return [*lines, f"all          scope {np.average(agrees, weights=data.weights):.3f}"]


def lines_of(features: Sequence[Feature], weights: Iterable[float]) -> list[str]:
    """The weights, largest first, each with its meaning."""
    ranked = sorted(zip(features, weights, strict=True), key=lambda pair: -abs(pair[1]))
    return [f'"{feature.name}" = {weight:+.2f}  # {feature.meaning}' for feature, weight in ranked if abs(weight) >= LEAST_WEIGHT]


AGAIN = "Then moved by"
"""How the table of weights says what `--go-on` did."""


def head(what: str, data: Table, texts: Sequence[Text], how: str = "Fitted to") -> str:
    """The first lines of a table of weights; what an earlier fit said of itself is kept by one that goes on from it."""
    first = f"# Weights of the {what} of a claim, in log odds. Written by `python -m tests.labelled.fitting --write`; do not edit.\n"
    earlier = (ROOM / f"{what}.toml").read_text(encoding="utf-8").splitlines() if how == AGAIN else []
    kept = "".join(f"{line}\n" for line in earlier[1:] if line.startswith("#"))
    return (
        f"{first}{kept}# {how} {len(data.outcomes)} claims of {len(texts)} labelled texts; docs/claims-confidence.md is the model card.\n"
    )


def fit_confidence(texts: Sequence[Text], threshold: float) -> tuple[list[str], str]:
    """What to print, and the table of weights."""
    data = table(texts, confidence.FEATURES, rightness)
    probabilities = data.left_out(STRENGTHS["confidence"])[:, 0]  # `right` comes before `wrong`
    lines = [f"{len(data.outcomes)} candidates of {len(texts)} texts, {(data.outcomes == 'right').mean():.0%} of them right"]
    for source, (everything, speedups) in scored(texts, probabilities, threshold).items():
        figures = (
            f"{name} P {one.precision:.3f} R {one.recall:.3f} F1 {one.f1:.3f}"
            for name, one in (("all", everything), ("speedups", speedups))
        )
        lines.append(f"{source:12} {'   '.join(figures)}   false alarms {everything.false_alarms:.3f}")
    model = data.fitted(STRENGTHS["confidence"])
    weights = lines_of(confidence.FEATURES, -model.coef_[0])
    toml = f"{head('confidence', data, texts)}intercept = {-model.intercept_[0]:+.2f}\n\n[weights]\n" + "\n".join(weights) + "\n"
    return [*lines, *calibration(data, probabilities)], toml


def go_on(texts: Sequence[Text], threshold: float) -> tuple[list[str], str]:
    """What to print, each file judged by weights that were moved without it, and the table of weights that all files moved."""
    there = tomllib.loads((ROOM / "confidence.toml").read_text(encoding="utf-8"))
    start = np.array([there["intercept"], *(there["weights"].get(feature.name, 0.0) for feature in confidence.FEATURES)])
    lines = []
    for source in dict.fromkeys(text.source for text in texts):
        mine, others = ([text for text in texts if (text.source == source) is is_mine] for is_mine in (True, False))
        for name, weights in (("before", start), ("moved", moved(others, start))):
            [(everything, speedups)] = scored(mine, shown_by(mine, weights), threshold).values()
            figures = f"all {everything.f1:.3f} speedups {speedups.f1:.3f} false alarms {everything.false_alarms:.3f}"
            lines.append(f"{source:12} {name:7} {figures}")
    data, weights = table(texts, confidence.FEATURES, rightness), moved(texts, start)
    table_of = "\n".join(lines_of(confidence.FEATURES, weights[1:]))
    return lines, f"{head('confidence', data, texts, AGAIN)}intercept = {weights[0]:+.2f}\n\n[weights]\n{table_of}\n"


def phrases_fitted(data: Table, sums: np.ndarray, phrases: np.ndarray, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
    """Weights of the phrases for each scope, a column each, beside the `sums` of the other features: the maximum of the posterior."""
    outcomes = (data.outcomes[rows, None] == np.array(SCOPES)).astype(float)
    counted, present, other = data.weights[rows, None], phrases[rows], sums[rows]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(present.shape[1], len(SCOPES))
        given = softmax(other + present @ weights, axis=1)
        slope = present.T @ (counted * (given - outcomes)) + ANCHOR_OF_PHRASES * weights
        return -float((counted * outcomes * np.log(given + 1e-12)).sum()) + ANCHOR_OF_PHRASES / 2 * float((weights**2).sum()), slope.ravel()

    found = minimize(loss, np.zeros(present.shape[1] * len(SCOPES)), jac=True, method="L-BFGS-B")
    return np.asarray(found.x).reshape(present.shape[1], len(SCOPES))


def go_on_scope(texts: Sequence[Text]) -> tuple[list[str], str]:
    """What to print, each file judged by phrases that were fitted without it, and the weights that are there with those of the phrases."""
    there = tomllib.loads((ROOM / "scope.toml").read_text(encoding="utf-8"))
    data = table(texts, scope.FEATURES, scope_of_label)
    names = [feature.name for feature in scope.FEATURES]
    are_phrases = np.isin(names, [feature.name for feature in scope.PHRASE_FEATURES])
    phrases = data.features[:, are_phrases]
    weights = np.array(
        [
            [0.0 if is_phrase else there[one]["weights"].get(name, 0.0) for one in SCOPES]
            for name, is_phrase in zip(names, are_phrases, strict=True)
        ]
    )
    sums = data.features @ weights + np.array([there[one]["intercept"] for one in SCOPES])
    sources = np.array([texts[group].source for group in data.groups])
    lines = []
    for source in dict.fromkeys(sources):
        mine = sources == source
        fitted = sums + phrases @ phrases_fitted(data, sums, phrases, ~mine)
        agree = [(np.array(SCOPES)[each[mine].argmax(axis=1)] == data.outcomes[mine]).mean() for each in (sums, fitted)]
        lines.append(f"{source:12} scope {agree[0]:.3f} with phrases {agree[1]:.3f} of {mine.sum()}")
    weights[are_phrases] = phrases_fitted(data, sums, phrases)
    parts = (
        "\n".join([f"\n[{one}]", f"intercept = {there[one]['intercept']:+.2f}", f"\n[{one}.weights]", *lines_of(scope.FEATURES, column)])
        for one, column in zip(SCOPES, weights.T, strict=True)
    )
    return lines, head("scope", data, texts, AGAIN) + "\n".join(parts) + "\n"


def fit_scope(texts: Sequence[Text]) -> tuple[list[str], str]:
    """What to print, and the table of weights."""
    data = table(texts, scope.FEATURES, scope_of_label)
    model = data.fitted(STRENGTHS["scope"])
    parts = (
        "\n".join([f"\n[{name}]", f"intercept = {intercept:+.2f}", f"\n[{name}.weights]", *lines_of(scope.FEATURES, weights)])
        for name, intercept, weights in zip(model.classes_, model.intercept_, model.coef_, strict=True)
    )
    return agreement(texts, data, data.left_out(STRENGTHS["scope"]), model.classes_), head("scope", data, texts) + "\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit the confidence and the scope of claims to labelled texts.")
    parser.add_argument("files", nargs="*", type=Path, help="further labelled texts, JSON lines")
    parser.add_argument("--write", action="store_true", help="write the weights")
    parser.add_argument("--go-on", action="store_true", help="start from the weights that are there")
    parser.add_argument("--threshold", type=float, default=SHOWN_FROM, metavar="P", help="the confidence from which claims are shown")
    options = parser.parse_args()
    texts = [text for path in (LABELLED, *options.files) for text in read(path)]
    fits = (
        {"confidence": go_on(texts, options.threshold), "scope": go_on_scope(texts)}
        if options.go_on
        else {"confidence": fit_confidence(texts, options.threshold), "scope": fit_scope(texts)}
    )
    for name, (lines, toml) in fits.items():
        print("\n".join(lines))
        if options.write:
            (ROOM / f"{name}.toml").write_text(toml, encoding="utf-8")


if __name__ == "__main__":
    main()
