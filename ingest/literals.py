"""Searches of texts, each made ready at its first use.

A regular expression, and many literals at once.

Many literals in one pass (Aho-Corasick) take 7 µs for a text of 3,000 characters; a dozen
`str.find` take four times that. Up to 64 literals of three or more characters take 3 µs, since the
library then skips most of the text with vector instructions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub")


class _Pattern:
    """A regular expression that is compiled at its first use.

    Most texts need few of them, and compiling all takes a fifth of a second.
    """

    def __init__(self, expression: str, flags: int = 0) -> None:
        self._expression, self._flags = expression, flags

    def __getattr__(self, name: str) -> Any:
        """Return a method of the compiled expression, and keep all of them on this object."""
        if name.startswith("__"):  # asked by `copy` and `pickle`
            raise AttributeError(name)
        compiled = re.compile(self._expression, self._flags)
        vars(self).update({method: getattr(compiled, method) for method in _METHODS})
        return getattr(compiled, name)


if TYPE_CHECKING:
    pattern = re.compile
else:
    pattern = _Pattern


CHARACTERS_PER_WORD = 400
"""From so many characters for each literal on the faster automaton pays: to build it takes 3 µs
more for each, and it searches in half the time.
"""


class LiteralSearch:
    """Finds all literals of a list in texts. A match names its literal by its index.

    Of overlapping matches the one that ends first is reported; with `leftmost`, faster for few
    literals, the one that begins first.
    """

    def __init__(self, words: Sequence[str], *, leftmost: bool = False) -> None:
        self.words = words
        self._kind = MatchKind.LeftmostFirst if leftmost else MatchKind.Standard
        self._automaton: AhoCorasick | None = None
        self._characters, self._many = 0, CHARACTERS_PER_WORD * len(words)

    def find(self, text: str, *, overlapping: bool = False) -> list[tuple[int, int, int]]:
        """Return (index of the literal, start, end) of every match, by their ends.

        With `overlapping`, also those inside another.
        """
        if self._automaton is None:
            self._automaton = self._built(Implementation.ContiguousNFA)
        elif self._characters <= self._many < self._characters + len(text):
            self._automaton = self._built(Implementation.DFA)
        self._characters += len(text)
        try:
            return self._automaton.find_matches_as_indexes(text, overlapping)
        except UnicodeEncodeError:  # an unpaired surrogate, which UTF-8 cannot encode
            return self._automaton.find_matches_as_indexes(
                re.sub("[\ud800-\udfff]", "\ufffd", text), overlapping
            )

    def _built(self, how: Implementation) -> AhoCorasick:
        return AhoCorasick(self.words, matchkind=self._kind, implementation=how)

    @cached_property
    def _inside(self) -> dict[str, frozenset[str]]:
        return {one: frozenset(word for word in self.words if word in one) for one in self.words}

    def words_in(self, text: str) -> frozenset[str]:
        """Return the literals in a text, also those inside others."""
        found = {self.words[index] for index, _, _ in self.find(text)}
        return frozenset[str]().union(*(self._inside[word] for word in found))
