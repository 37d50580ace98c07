"""The protocol of a measuring tool: which files are its own, and what they measured."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ingest.measurements.measured import Measured


@dataclass(frozen=True)
class MeasuredFile:
    """A file that may hold measurements. `name`: path as the source is called; folders may say variant, agent or commit."""

    name: str
    text: str

    @cached_property
    def documents(self) -> list[Any]:
        """Its JSON values: the file itself, or several one after another (JSONL, appended objects). Empty for text that is no JSON.

        NaN and Infinity are read as Python's floats, since several tools write them.
        """
        found, at, decoder = [], 0, json.JSONDecoder()
        text = self.text.lstrip("\ufeff")
        try:
            while at < len(text):
                if text[at].isspace():
                    at += 1
                    continue
                value, at = decoder.raw_decode(text, at)
                found.append(value)
        except (ValueError, RecursionError):
            return []
        return found

    @cached_property
    def objects(self) -> list[dict[str, Any]]:
        """Its JSON values where all of them are objects, else none."""
        return self.documents if all(isinstance(value, dict) for value in self.documents) else []

    @cached_property
    def object(self) -> dict[str, Any]:
        """Its only JSON value where that is an object, else an empty one."""
        return self.objects[0] if len(self.objects) == 1 else {}

    @cached_property
    def folders(self) -> tuple[str, ...]:
        """The names of its folders, the outermost first; of a member of an archive with those inside."""
        return tuple(self.name.replace("!", "/").split("/")[:-1])

    @cached_property
    def file_name(self) -> str:
        """Its name without folders."""
        return self.name.replace("!", "/").rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Tool:
    """A measuring tool.

    `name`: `measurements.format`. `marks`: words of which a file of this tool has all within its first megabyte; cheap, so that most
    files are never parsed. `recognises`: whether the file is the tool's own, by content. `read`: its values; raises
    `ValueError` with a reason for people where the file is the tool's own and cannot be read. `read` sees only files it recognises.
    `marks_suffice`: whether broken JSON with all marks is surely a file of this tool, and is refused as one; else it is passed over.
    """

    name: str
    marks: tuple[str, ...]
    recognises: Callable[[MeasuredFile], bool]
    read: Callable[[MeasuredFile], Iterable[Measured]]
    marks_suffice: bool = True
