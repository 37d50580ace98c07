"""What the extractor skips for speed holds no claim: each cheap test beside the search that it stands for, on any text."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.claims.changes import idioms
from ingest.claims.find.passages import passage_at
from ingest.claims.find.triggers import find_triggers, triggers_beside_numbers
from ingest.claims.numbers import quantities as numbers
from ingest.claims.numbers.spelled import has_number_words
from ingest.claims.pairs import readings
from ingest.claims.patterns import lowered
from tests.test_claims import PIECES

WORDS = [
    "ten",
    "two",
    "One",
    "an hour",
    " to ",
    "from ",
    "minus ",
    "half a minute",
    "twice",
    "before",
    "old_",
    "baseline",
    "threshold",
    "code",
]
SIGNS = ["\n", "\n\n", " \n \n", "- ", "| ", "|---|", "x", "×", "-", "−", "~", "$", "<", "3", "12", "1.5", " ", ":", "=", "İ"]
TEXTS = st.lists(PIECES | st.sampled_from([*WORDS, *SIGNS]), max_size=30).map("".join)


@given(TEXTS)
@example("from ~ 3 s to −$4")
def test_without_number_words_only_figures_are_numbers(text: str) -> None:
    found = [list(expression.finditer(text)) for expression in (numbers.OF_FIGURES, numbers.OF_FIGURES_OR_WORDS)]
    if not has_number_words(text):
        assert [match.span() for match in found[0]] == [match.span() for match in found[1]]


@given(TEXTS)
@example("# Before\n\n- load: 30 s")
@example("Before: 30 s\n\nAfter: 10 s")
def test_a_trigger_without_numbers_around_it_is_in_no_passage_with_a_number(text: str) -> None:
    triggers = find_triggers(text)[0]
    for trigger in set(triggers) - set(triggers_beside_numbers(text, triggers)):
        passage = passage_at(text, trigger)
        assert not list(numbers.quantities(text, passage.start, passage.end))
        assert not list(idioms.idiom_effects(text, passage.start, passage.end))


@pytest.mark.parametrize("idiom", idioms.IDIOMS, ids=lambda idiom: idiom.example)
def test_an_idiom_is_searched_where_its_words_are(idiom: idioms.Idiom) -> None:
    assert any(hint in idiom.pattern for hint in idioms.HINTS)
    assert list(idioms.idiom_effects(idiom.example, 0, len(idiom.example)))


PLAIN = re.compile(r"\b(?:baseline|before|orig(?:inal)?|old|prior)(?:_\w|[^\n:={]{0,50}[:={≈])", re.IGNORECASE)


@given(TEXTS)
def test_words_for_the_baseline_are_found_as_by_the_plain_expression(text: str) -> None:
    skipping, plain = readings.SPEAKS_OF_BASELINE.search(text), PLAIN.search(text)
    assert (skipping and skipping.span()) == (plain and plain.span())


@given(st.text() | TEXTS)
def test_lower_case_keeps_the_offsets(text: str) -> None:
    assert len(lowered(text)) == len(text)
