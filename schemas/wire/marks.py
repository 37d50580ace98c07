"""What tells the records of one agent from any other text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Marks:
    """The marks of one agent's records.

    `event_types`: values of `type` in the events of its streams. `record_fields`: names that are rare in any other JSON, or patterns
    of a name and its value; a broken object with one of them was a record. `legible`: names whose values a reject quotes from a broken
    record.
    `first_names`: names with which lines of its logs begin; an object that begins so is one of its events, whole or broken.
    `text_start`: how its text log begins. `text_line`: how a line of its text log begins that stands near the beginning. `names`: sets of
    names; an object with all names of a set is a record of the agent. `looks`: whether an object is one, where names do not tell.
    `zip_heads`: members of a zip of which the first one that is there describes all `zip_parts`, members with that beginning of their name.
    """

    event_types: frozenset[str] = frozenset()
    record_fields: tuple[str, ...] = ()
    legible: tuple[str, ...] = ()
    first_names: tuple[str, ...] = ()
    text_start: str = ""
    text_line: str = ""
    names: tuple[frozenset[str], ...] = ()
    looks: Callable[[dict[str, Any]], bool] | None = None
    zip_heads: tuple[str, ...] = ()
    zip_parts: str = ""
