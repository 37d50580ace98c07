"""Regular expressions that are compiled when they are first used, with their alternatives arranged for speed.

The rules have some three hundred, and compiling them takes 0.3 s. Most texts need few of them, and a text without a trigger none.

Most of the time of a search goes into alternatives, `faster|fewer|slower|…`: `re` tries one after the other at each place. `regrouped` puts
those with the same first letter together, `f(?:aster|ewer)|slower`, so that each letter is tried once. The matches stay the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn")


class _Pattern:
    """Stands for a compiled expression, and becomes as fast as one: its methods replace this object's attributes at the first use."""

    def __init__(self, expression: str, flags: int = 0) -> None:
        self._expression, self._flags = expression, flags

    def __getattr__(self, name: str) -> Any:
        """An attribute of the compiled expression; called only for those not set yet."""
        if name.startswith("__"):  # asked by `copy` and `pickle`
            raise AttributeError(name)
        compiled = re.compile(regrouped(self._expression, self._flags), self._flags)
        vars(self).update({method: getattr(compiled, method) for method in _METHODS})
        return getattr(compiled, name)


if TYPE_CHECKING:

    def pattern(expression: str, flags: int = 0) -> re.Pattern[str]:
        """The expression, compiled when it is first used. A wrong one raises re.error only then: every rule has an example in the tests."""
else:
    pattern = _Pattern


def lowered(text: str) -> str:
    """The text in lower case, with the same offsets. A search in it is three times as fast as one with `re.IGNORECASE`."""
    return text.replace("İ", "i").lower()  # the only character that has two in lower case


# --- alternatives by their first letters

_TOKEN = re.compile(
    r"(?P<opens>\(\?\(\w+\)|\((?:\?(?:P<\w+>|[aimsx-]*:|<?[=!]))?)"  # of a group, also of a conditional one
    r"|[)|]|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[^()|\\\[]+",  # end of a group or alternative, escape, class of characters, other characters
    re.DOTALL,
)
_QUANTIFIERS = ("?", "*", "+", "{")


def regrouped(expression: str, flags: int = 0) -> str:
    """The expression with the alternatives of all its groups arranged by their first letters. It matches the same.

    Under `re.IGNORECASE`, a letter becomes a class, `(?-i:[fF])aster`: `re` skips an alternative fast only if no case is to be folded.
    """
    return _group(_TOKEN.finditer(expression), folds=bool(flags & re.IGNORECASE))


def _group(tokens: Iterator[re.Match[str]], *, folds: bool, is_conditional: bool = False) -> str:
    """The alternatives up to the end of the group, arranged; those of a conditional group, `(?(name)then|else)`, as they are."""
    alternatives = [""]
    for token in tokens:
        written = token[0]
        if written == ")":
            break
        if written == "|":
            alternatives.append("")
        elif token["opens"]:
            inside = _group(tokens, folds=folds and "-i" not in written, is_conditional=written.startswith("(?("))
            alternatives[-1] += f"{written}{inside})"
        else:
            alternatives[-1] += written
    return "|".join(alternatives) if is_conditional or len(alternatives) == 1 else _by_first_letter(alternatives, folds=folds)


def _by_first_letter(alternatives: Sequence[str], *, folds: bool) -> str:
    """The alternatives as one. Two change places only if they begin with different letters, so that never both match."""
    arranged: list[str] = []
    rests: dict[str, list[str]] = {}
    for alternative in alternatives:
        letter = alternative[:1].lower() if folds else alternative[:1]
        if letter.isalpha() and (letter.isascii() or not folds) and not alternative.startswith(_QUANTIFIERS, 1):
            rests.setdefault(letter, []).append(alternative[1:])
        else:  # begins with anything: what is before it stays before it
            arranged += [*_with_letters(rests, folds=folds), alternative]
            rests = {}
    return "|".join([*arranged, *_with_letters(rests, folds=folds)])


def _with_letters(rests: dict[str, list[str]], *, folds: bool) -> Iterator[str]:
    """One alternative for each letter: the letter with what follows it."""
    for letter, following in rests.items():
        first = f"(?-i:[{letter}{letter.upper()}])" if folds else letter
        yield first + (following[0] if len(following) == 1 else f"(?:{_by_first_letter(following, folds=folds)})")
