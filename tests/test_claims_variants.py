"""Claims are found however they are written: with other arrows, units, signs, bullets and words of the same meaning."""

from __future__ import annotations

from functools import cache

import pytest

from ingest.claims import extract
from tests.labelled.scoring import score
from tests.labelled.texts import LabelledText, labelled_texts
from tests.labelled.variants import VARIANTS, Variant, written_as

known = cache(extract)
"""What is found in the texts as they are, which every variant is compared with."""


@cache
def labelled() -> tuple[LabelledText, ...]:
    return labelled_texts()


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_other_ways_to_write_change_nothing(variant: Variant) -> None:
    rewritten = [(text, other) for text in labelled() if (other := written_as(variant, text))]
    assert rewritten
    originals, others = zip(*rewritten, strict=True)
    found = score(others, extract)
    assert found.f1 >= score(originals, known).f1 - 0.003, found.misses
