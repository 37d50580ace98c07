"""Search for many literals in one pass (Aho-Corasick): 7 µs for a text of 3,000 characters; a dozen `str.find` take four times that.

Up to 64 literals of three or more characters take 3 µs, since the library then skips most of the text with vector instructions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from ingest.claims.patterns import pattern

_SURROGATES = pattern("[\ud800-\udfff]")


MANY_TEXTS = 4_000
"""From so many texts on the fastest automaton pays: that of the triggers takes 40 ms to make and 7 µs a text, the first one 8 and 16."""


class LiteralSearch:
    """Finds all of a list of literals in texts. A match names its literal by the index in the list.

    Of overlapping matches the one that ends first is reported; with `leftmost`, faster for few literals, the one that begins first.
    """

    def __init__(self, words: Sequence[str], *, leftmost: bool = False) -> None:
        self._words = words
        self._kind = MatchKind.LeftmostFirst if leftmost else MatchKind.Standard
        self._automaton = AhoCorasick(words, matchkind=self._kind, implementation=Implementation.ContiguousNFA)
        self._before_many = MANY_TEXTS

    def find(self, text: str, *, overlapping: bool = False) -> list[tuple[int, int, int]]:
        """(index of the literal, start, end) of every match, in order of their ends; offsets in code points, the end exclusive.

        With `overlapping`, also those that begin inside of another; not for a `leftmost` search.
        """
        self._before_many -= 1
        if not self._before_many:
            self._automaton = AhoCorasick(self._words, matchkind=self._kind, implementation=Implementation.DFA)
        try:
            return self._automaton.find_matches_as_indexes(text, overlapping)
        except UnicodeEncodeError:  # an unpaired surrogate, which UTF-8 cannot encode
            return self._automaton.find_matches_as_indexes(_SURROGATES.sub("\ufffd", text), overlapping)


class WordSearch:
    """Finds the matches of an expression that is an alternation of words, ten times as fast as `re` in a long text.

    An automaton finds the beginnings of the words, and the expression is tried only there. `words` are pieces of regular expressions:
    every match begins with one of them. The texts searched are in lower case, and so are the words.
    """

    def __init__(self, expression: str, words: Iterable[str]) -> None:
        self._expression, self._words = pattern(expression), tuple(words)

    @cached_property
    def _beginnings(self) -> LiteralSearch:
        """The search for the beginnings, made at the first use."""
        return LiteralSearch(sorted(set(map(literal_beginning, self._words))))

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """The matches, in order and without overlaps, as `re.finditer` gives them."""
        floor = 0
        for start in sorted({start for _, start, _ in self._beginnings.find(text, overlapping=True)}):
            if start >= floor and (found := self._expression.match(text, start)):
                floor = found.end()
                yield found

    def search(self, text: str) -> re.Match[str] | None:
        """The first match."""
        return next(self.finditer(text), None)


def whole_word(alternatives: str) -> WordSearch:
    r"""The search for whole words, given as the alternatives of a regular expression, without bars in groups: `tensors?|alloc\w*`."""
    return WordSearch(rf"\b(?:{alternatives})\b", alternatives.split("|"))


_LITERAL = re.compile(r"(?:\\b)?(?P<literal>(?:[^\W_]|[ /_-]){1,12})(?P<is_repeated>[?*+{])?")


def literal_beginning(piece: str) -> str:
    r"""The literal characters that every match of a piece begins with: `alloc` for `alloc\w*`, `tensor` for `tensors?`.

    Raises ValueError for a piece without any, such as `\d+ runs`.
    """
    found = _LITERAL.match(piece)
    literal = (found["literal"][:-1] if found["is_repeated"] else found["literal"]) if found else ""
    if not literal:
        raise ValueError(f"`{piece}` has no literal beginning: write its first characters out, one piece for each")
    return literal
