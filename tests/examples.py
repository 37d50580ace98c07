"""How many examples each law is tried with: few, so that the suite is quick.

Many times as many with `--hypothesis-profile=thorough`.

`make attack` runs so the attacks, and the laws that fill a store for each example;
`make lake-test PROFILE=thorough` the kills and crowds of writers on a lake.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from hypothesis import Phase, settings

T = TypeVar("T")

USUAL, THOROUGH = 15, 250
PROFILE = "usual"

settings.register_profile(
    PROFILE, deadline=None, max_examples=USUAL
)  # a test asserts no time; a busy machine is no failure
settings.register_profile("thorough", deadline=None, max_examples=THOROUGH)


def is_thorough() -> bool:
    """Whether more is tried than in the suite."""
    chosen = settings.default
    assert chosen is not None
    return chosen.max_examples != USUAL


def examples(usual: int) -> settings:
    """So many examples, for a law that needs others than the rest.

    More where the profile asks for more.
    """
    return settings(max_examples=10 * usual if is_thorough() else usual)


def size(usual: int, thorough: int) -> int:
    """How large a test is: `thorough` where the profile asks for more."""
    return thorough if is_thorough() else usual


def written_down() -> settings:
    """Only the examples of `@example`, for a law that takes seconds for each.

    Others too where the profile asks for more.
    """
    return examples(1) if is_thorough() else settings(phases=[Phase.explicit])


def a_share(cases: Iterable[T], step: int) -> Sequence[T]:
    """Every `step`-th case; all of them where the profile asks for more."""
    return tuple(cases)[:: 1 if is_thorough() else step]
