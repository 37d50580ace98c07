"""Several runs of one command: every combination of the values of a matrix, so many times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from ingest.system.secrets import HIDDEN, is_secret, scrubbed_text
from schemas.errors import UsageError

REPEAT, EXPERIMENT = "repeat", "experiment"
"""Labels of the runs of an experiment, beside those of the matrix."""

Axes = Mapping[str, Sequence[str]]


class Cell(NamedTuple):
    """One run. `labels`: the value of each axis, and the number of the repetition where there are several."""

    command: tuple[str, ...]
    labels: dict[str, str]


def parse_axes(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """`model=a,b` → the axis and its values. Raises UsageError."""
    axes: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, _, listed = (part.strip() for part in text.partition("="))
        values = tuple(dict.fromkeys(filter(None, (value.strip() for value in listed.split(",")))))
        if not name or not values:
            raise UsageError(f"a matrix is written name=value,value, not {text!r}.", "For example: --matrix model=opus,sonnet.")
        if name in axes or name in (REPEAT, EXPERIMENT):
            raise UsageError(f"--matrix {name} is taken.", "Name each axis once, and none of them repeat or experiment.")
        axes[name] = values
    return axes


def cells(command: Sequence[str], axes: Axes, repeats: int) -> Iterator[Cell]:
    """The runs, each combination once before any is repeated, so that a slow hour is no combination's own. Raises UsageError."""
    for name in axes:
        if not any(f"{{{name}}}" in word for word in command):
            raise UsageError(f"the command does not use --matrix {name}.", f"Write {{{name}}} where its value belongs.")
    return _cells(command, axes, repeats)


def _cells(command: Sequence[str], axes: Axes, repeats: int) -> Iterator[Cell]:
    for repeat in range(1, repeats + 1):
        for values in product(*axes.values()):
            chosen = dict(zip(axes, values, strict=True))
            shown = {name: HIDDEN if is_secret(name, value) else scrubbed_text(value) for name, value in chosen.items()}
            yield Cell(tuple(_filled(word, chosen) for word in command), shown | ({REPEAT: str(repeat)} if repeats > 1 else {}))


def _filled(word: str, values: Mapping[str, str]) -> str:
    """The word with `{name}` replaced. Other braces are the command's own, as in JSON."""
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", value)
    return word
