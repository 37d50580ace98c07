"""How well claims are found: the labelled texts against what an extractor makes of them.

    python -m tests.labelled.scoring [--misses N]

A prediction is right if it overlaps a labelled claim (one to one, right ratios first, then the
larger overlap) and the ratios agree within 2 % or are both unknown. Optional claims are neither
asked for nor punished. A text weighs at most as much as eight claims, so that one long table does
not decide. Qualitative predictions are passed over: only claims with a number are scored.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

from schemas.claims import ClaimKind, ClaimMetric
from tests.labelled.texts import Label, LabelledText, labelled_texts

FIELDS = ("metric", "direction", "evidence", "scope", "hedged", "origin")
SPEEDUPS = frozenset({ClaimMetric.TIME, ClaimMetric.THROUGHPUT})
TOLERANCE = math.log(1.02) + 1e-9
CLAIMS_THAT_COUNT = 8


Found = Any
"""What an extractor returns for one claim: the fields of a label, and its kind."""


class Pair(NamedTuple):
    """A label and the prediction that it was matched with."""

    label: Label
    found: Found
    right: bool


class Miss(NamedTuple):
    """What went wrong: a claim `missed`, one with another `ratio`, or an unlabelled `stray`."""

    text_id: str
    what: str
    quote: str
    wanted: float | None
    got: float | None


@dataclass(frozen=True)
class Verdict:
    """One text, scored.

    Counts are weighted; `fields` counts agreements of right claims per field and under "claims" all
    of them.
    """

    right: float
    wanted: float
    wrong: float
    silent: bool
    misses: tuple[Miss, ...]
    fields: Counter[str]

    @property
    def false_alarm(self) -> bool:
        """Whether something was found in a text that holds no claim, optional ones included."""
        return self.silent and self.wrong > 0


@dataclass(frozen=True)
class Score:
    """All texts together."""

    verdicts: tuple[Verdict, ...] = field(repr=False)

    @property
    def right(self) -> float:
        return sum(verdict.right for verdict in self.verdicts)

    @property
    def wanted(self) -> float:
        return sum(verdict.wanted for verdict in self.verdicts)

    @property
    def precision(self) -> float:
        return _share(self.right, self.right + sum(verdict.wrong for verdict in self.verdicts))

    @property
    def recall(self) -> float:
        return _share(self.right, self.wanted)

    @property
    def f1(self) -> float:
        return _share(2 * self.precision * self.recall, self.precision + self.recall)

    @property
    def false_alarms(self) -> float:
        """Share of the texts without any claim in which one was found."""
        return _share(
            sum(verdict.false_alarm for verdict in self.verdicts),
            sum(verdict.silent for verdict in self.verdicts),
        )

    @property
    def misses(self) -> tuple[Miss, ...]:
        return tuple(miss for verdict in self.verdicts for miss in verdict.misses)

    def accuracy(self, field: str) -> float:
        """Share of the rightly found claims whose field agrees with the label."""
        fields = sum((verdict.fields for verdict in self.verdicts), Counter[str]())
        return _share(fields[field], fields["claims"])


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _weight(claims: int) -> float:
    return min(1.0, CLAIMS_THAT_COUNT / claims) if claims else 1.0


def ratio_agrees(label: Label, found: Found) -> bool:
    """Within 2 % of the labelled ratio or of its other reading.

    An unknown ratio agrees with an unknown one only.
    """
    if label.ratio is None or found.ratio is None:
        return label.ratio is None and found.ratio is None
    readings = [label.ratio, label.ratio_alt or label.ratio]
    return found.ratio > 0 and any(
        abs(math.log(found.ratio / reading)) <= TOLERANCE for reading in readings
    )


def overlap(label: Label, found: Found) -> float:
    """Shared characters over those from the first start to the last end.

    0 where the spans do not touch.
    """
    shared = min(label.end, found.end) - max(label.start, found.start)
    return float(max(0, shared) / (max(label.end, found.end) - min(label.start, found.start)))


def matches(labels: Sequence[Label], predictions: Sequence[Found]) -> dict[int, int]:
    """Index of the label -> index of its prediction, one to one."""
    candidates = sorted(
        (
            (ratio_agrees(label, found), overlap(label, found), i, j)
            for i, label in enumerate(labels)
            for j, found in enumerate(predictions)
            if overlap(label, found)
        ),
        reverse=True,
    )
    chosen: dict[int, int] = {}
    for _, _, i, j in candidates:
        if i not in chosen and j not in chosen.values():
            chosen[i] = j
    return chosen


def judge(
    text: LabelledText,
    predictions: Iterable[Found],
    metrics: frozenset[ClaimMetric] = frozenset(ClaimMetric),
) -> Verdict:
    """Score one text.

    Labels of other metrics than those asked for count as optional, predictions of others not at
    all.
    """
    candidates = [
        found
        for found in predictions
        if found.kind is ClaimKind.QUANTIFIED and found.metric in metrics
    ]
    chosen = matches(text.claims, candidates)
    required = {
        i for i, label in enumerate(text.claims) if not label.optional and label.metric in metrics
    }
    pairs = [_pair(text.claims[i], candidates[j]) for i, j in chosen.items() if i in required]
    right = [pair for pair in pairs if pair.right]
    strays = [found for j, found in enumerate(candidates) if j not in chosen.values()]
    weight = _weight(len(required))
    return Verdict(
        right=weight * len(right),
        wanted=weight * len(required),
        wrong=weight * (len(pairs) - len(right)) + _weight(len(strays)) * len(strays),
        silent=not text.claims,
        misses=(
            *(
                Miss(text.id, "missed", text.quote(text.claims[i]), text.claims[i].ratio, None)
                for i in sorted(required - chosen.keys())
            ),
            *(
                Miss(text.id, "ratio", text.quote(pair.label), pair.label.ratio, pair.found.ratio)
                for pair in pairs
                if not pair.right
            ),
            *(
                Miss(text.id, "stray", text.text[found.start : found.end], None, found.ratio)
                for found in strays
            ),
        ),
        fields=Counter(field for pair in right for field in ("claims", *_agreeing(pair))),
    )


def _pair(label: Label, found: Found) -> Pair:
    return Pair(label, found, ratio_agrees(label, found))


def _agreeing(pair: Pair) -> list[str]:
    return [field for field in FIELDS if getattr(pair.label, field) == getattr(pair.found, field)]


def score(
    texts: Iterable[LabelledText],
    extract: Callable[[str], Iterable[Found]],
    metrics: frozenset[ClaimMetric] = frozenset(ClaimMetric),
) -> Score:
    """Score an extractor over texts."""
    return Score(tuple(judge(text, extract(text.text), metrics) for text in texts))


def table(scores: dict[str, Score]) -> str:
    """One column per score, one row per figure."""
    figures: dict[str, Callable[[Score], float]] = {
        "precision": attrgetter("precision"),
        "recall": attrgetter("recall"),
        "F1": attrgetter("f1"),
        "claims wanted": attrgetter("wanted"),
        "false alarms": attrgetter("false_alarms"),
        **{f"{field} agrees": partial(Score.accuracy, field=field) for field in FIELDS},
    }
    rows = [
        ("", *scores),
        *(
            (name, *(f"{figure(score):.3f}" for score in scores.values()))
            for name, figure in figures.items()
        ),
    ]
    return "\n".join(
        f"{name:<16}" + "".join(f"{cell:>12}" for cell in cells) for name, *cells in rows
    )


def main() -> None:
    from ingest.claims import extract  # noqa: PLC0415  the scorer itself knows no extractor

    parser = argparse.ArgumentParser(
        description="Score the extractor of claims against the labelled texts."
    )
    parser.add_argument(
        "--misses",
        type=int,
        default=0,
        metavar="N",
        help="print so many misses, wrong ratios and strays",
    )
    options = parser.parse_args()
    texts = labelled_texts()
    everything = score(texts, extract)
    print(table({"all": everything, "speedups": score(texts, extract, SPEEDUPS)}))
    for miss in everything.misses[: options.misses]:
        print(f"{miss.text_id} {miss.what:<7} wanted {miss.wanted} got {miss.got}: {miss.quote!r}")


if __name__ == "__main__":
    main()
