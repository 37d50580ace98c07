"""The labelled texts are sound, varied, and say what their README says."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import pairwise

import pytest

from schemas.rows.claim import ClaimMetric, Direction, Evidence, Origin, Scope
from tests.labelled.texts import LABELLED, Label, LabelledText, labelled_texts

TEXTS = labelled_texts()
NO_CLAIMS = ("trap-", "plain", "qualitative", "mechanism")


def labels() -> Iterator[tuple[LabelledText, Label]]:
    return ((text, label) for text in TEXTS for label in text.claims)


def test_there_are_enough_texts_and_a_fair_share_without_a_claim() -> None:
    assert len(TEXTS) >= 120
    assert 0.25 <= sum(not text.claims for text in TEXTS) / len(TEXTS) <= 0.40


def test_texts_are_sorted_by_id_and_all_different() -> None:
    ids = [text.id for text in TEXTS]
    assert ids == sorted(set(ids))
    assert len({text.text for text in TEXTS}) == len(TEXTS)


@pytest.mark.parametrize("values", [ClaimMetric, Direction, Evidence, Scope, Origin])
def test_every_value_of_every_field_occurs(values: type[ClaimMetric | Direction | Evidence | Scope | Origin]) -> None:
    seen = {value for _, label in labels() for value in (label.metric, label.direction, label.evidence, label.scope, label.origin)}
    assert seen >= set(values)


def test_the_kinds_are_those_of_the_readme() -> None:
    section = LABELLED.with_name("README.md").read_text(encoding="utf-8").partition("## Kinds")[2]
    assert {text.kind for text in TEXTS} == set(re.findall("`([a-z-]+)`", section))


def test_traps_hold_no_claim() -> None:
    assert not [text.id for text in TEXTS if text.kind.startswith(NO_CLAIMS) and text.claims]


def test_a_quote_is_trimmed_and_holds_a_number() -> None:
    words = "halve|doubl|twice|half|magnitude|third|three|five|fold|drei|forever|measurable"
    for text, label in labels():
        quote = text.quote(label)
        assert quote == quote.strip(), text.id
        assert re.search(rf"\d|{words}", quote, re.IGNORECASE), (text.id, quote)


def test_ratios_follow_from_their_pairs() -> None:
    for text, label in labels():
        if label.before is not None and label.after is not None and label.ratio is not None:
            ratio = label.before / label.after
            if label.metric is ClaimMetric.THROUGHPUT or label.unit == "%":  # of these, more is better
                ratio = 1 / ratio
            assert label.ratio == pytest.approx(ratio, rel=1e-3), text.id


def test_a_range_has_its_geometric_mean_as_ratio() -> None:
    ranges = [label for _, label in labels() if label.ratio_low and label.ratio_high]
    assert len(ranges) >= 8
    for label in ranges:
        assert label.ratio == pytest.approx(math.sqrt(label.ratio_low * label.ratio_high), rel=1e-3)  # type: ignore[operator]
        assert label.ratio_low < label.ratio_high  # type: ignore[operator]


def figures_in(quote: str) -> set[float]:
    """Every number of a quote, read with either decimal sign, as "1 min 20 s" too, and in the neighbouring units."""
    numbers = re.findall(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", quote)
    read = [float(number.replace(",", sign)) for sign in ("", ".") for number in numbers if sign != "." or number.count(",") < 2]
    sixties = [60 * first + second for first, second in pairwise(read)]
    return {round(number * unit, 9) for number in (*read, *sixties) for unit in (1, 60, 1e3, 1e6)}


def test_the_figures_of_a_pair_are_in_its_quote() -> None:
    for text, label in labels():
        if label.before is not None and label.after is not None and not label.optional:
            missing = {label.before, label.after} - figures_in(text.quote(label))
            assert not missing, (text.id, missing)
