"""What the extractor skips for speed holds no claim: each cheap test beside the search that it stands for, on any text."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.claims.changes import idioms
from ingest.claims.find.multi_search import WordSearch, literal_beginning
from ingest.claims.find.passages import passage_at
from ingest.claims.find.triggers import find_triggers, triggers_beside_numbers
from ingest.claims.judge import features, scope
from ingest.claims.numbers import quantities as numbers
from ingest.claims.numbers.effect import TwoFigures, first_result
from ingest.claims.numbers.spelled import has_number_words
from ingest.claims.pairs import readings, running_text
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


@pytest.mark.parametrize(
    ("in_vain", "of_a_claim"),
    [
        ("Bumped from 0.37.15 to 0.37.16.", "It went from 0.37 s to 0.16 s."),
        ("`updated` → 2026-05-17", "queries → 2026"),
        ("`pytest` → 1834 passed, 569 tests", "time → 1834 ms"),
        ("The sprint is **98.5% complete**.", "It completes 98.5% faster."),
        ("an icon of 24x24, id mp9xevr", "24x faster"),
    ],
)
def test_versions_dates_and_states_are_no_triggers(in_vain: str, of_a_claim: str) -> None:
    assert find_triggers(in_vain)[0] == []
    assert find_triggers(of_a_claim)[0]


@pytest.mark.parametrize("idiom", idioms.IDIOMS, ids=lambda idiom: idiom.example)
def test_an_idiom_is_searched_where_its_words_are(idiom: idioms.Idiom) -> None:
    assert any(hint in idiom.pattern for hint in idioms.HINTS)
    assert list(idioms.idiom_effects(idiom.example, 0, len(idiom.example)))


PLAIN = re.compile(r"\b(?:baseline|before|orig(?:inal)?|old|prior)(?:_\w|[^\n:={]{0,50}[:={≈])", re.IGNORECASE)


@given(TEXTS)
def test_words_for_the_baseline_are_found_as_by_the_plain_expression(text: str) -> None:
    skipping, plain = readings.SPEAKS_OF_BASELINE.search(text), PLAIN.search(text)
    assert (skipping and skipping.span()) == (plain and plain.span())


LINKS = [
    "to",
    "from",
    "was",
    "(was",
    "now",
    "takes",
    "vs",
    "and",
    "down",
    "queries",
    "renders;",
    "it",
    ",",
    ";",
    "→",
    "=>",
    "~~",
    "the",
    "a",
]
BETWEEN = st.lists(st.sampled_from(LINKS), max_size=5).map(" ".join)


@given(BETWEEN, BETWEEN)
@example("took", "to")
@example("issued", "renders; it now issues")
def test_two_bare_numbers_are_a_pair_only_with_a_link_between_them(left: str, between: str) -> None:
    text = f"{left} 40 {between} 4."
    first, second = (figure._replace(unit=None) for figure in [*numbers.quantities(text, 0, len(text))][:2])
    two = TwoFigures(text, first, second, text[first.end : second.start], text[: first.start])
    if not running_text._LINKS_BARE_NUMBERS.search(two.between):
        assert first_result(running_text.RULES, two) is None
        assert running_text._range_between(two) is None


SEARCHES = [features.SPEED, scope._WORDS, scope._MICRO_BENCHMARK, *scope._KINDS.values()]
WORDS_OF_SEARCHES = st.sampled_from([word for search in SEARCHES for word in map(literal_beginning, search._words)])


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search._words[0])
@given(text=st.lists(WORDS_OF_SEARCHES | PIECES | st.sampled_from([*SIGNS, "s", "ing", "-", "_"]), max_size=20).map("".join).map(str.lower))
@example(text="speedups of the microbenchmark: 3 allocs/op, per iteration")
def test_words_are_found_as_by_the_plain_expression(search: WordSearch, text: str) -> None:
    plain = re.compile(search._expression.pattern)
    assert [found.span() for found in search.finditer(text)] == [found.span() for found in plain.finditer(text)]


@pytest.mark.parametrize("piece", [r"\d+ runs", "(?:micro-?)?benchmark", "s?", "[km]b"])
def test_a_word_without_a_literal_beginning_is_refused(piece: str) -> None:
    with pytest.raises(ValueError, match="no literal beginning"):
        literal_beginning(piece)


@given(st.text() | TEXTS)
def test_lower_case_keeps_the_offsets(text: str) -> None:
    assert len(lowered(text)) == len(text)
