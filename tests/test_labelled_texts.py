"""The labelled texts are sound, varied, and say what their README says."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import pytest

from schemas.claims import ClaimMetric
from tests.labelled.texts import LABELLED, Label, LabelledText, labelled_texts

TEXTS = labelled_texts()
NO_CLAIMS = ("trap-", "plain", "qualitative", "mechanism")


def labels() -> Iterator[tuple[LabelledText, Label]]:
    return ((text, label) for text in TEXTS for label in text.claims)


def test_texts_are_sorted_by_id_and_all_different() -> None:
    ids = [text.id for text in TEXTS]
    assert ids == sorted(set(ids))
    assert len({text.text for text in TEXTS}) == len(TEXTS)


def test_the_kinds_are_those_of_the_readme() -> None:
    section = LABELLED.with_name("README.md").read_text(encoding="utf-8").partition("## Kinds")[2]
    assert {text.kind for text in TEXTS} == set(re.findall("`([a-z-]+)`", section))


def test_traps_hold_no_claim() -> None:
    assert not [text.id for text in TEXTS if text.kind.startswith(NO_CLAIMS) and text.claims]


def test_ratios_follow_from_their_pairs() -> None:
    for text, label in labels():
        if label.before is not None and label.after is not None and label.ratio is not None:
            ratio = label.before / label.after
            if (
                label.metric is ClaimMetric.THROUGHPUT or label.unit == "%"
            ):  # of these, more is better
                ratio = 1 / ratio
            assert label.ratio == pytest.approx(ratio, rel=1e-3), text.id


def test_a_range_has_its_geometric_mean_as_ratio() -> None:
    ranges = [label for _, label in labels() if label.ratio_low and label.ratio_high]
    assert len(ranges) >= 8
    for label in ranges:
        assert label.ratio == pytest.approx(math.sqrt(label.ratio_low * label.ratio_high), rel=1e-3)  # type: ignore[operator]
        assert label.ratio_low < label.ratio_high  # type: ignore[operator]
