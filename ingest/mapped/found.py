"""Valid maps: of people, and those that come with the tool."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ingest.system.files import parse_toml, read_small_text
from schemas.errors import InputUnreadable, UsageError
from schemas.text import did_you_mean
from schemas.wire.result_map import (
    MapField,
    MappedJudgement,
    MappedLoop,
    MappedRun,
    MappedValue,
    ResultMap,
    RowsMap,
)

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_HINT = "docs/map.md has every field; `tachograph map FILE` proposes a map."
_COMPLAINTS = 10
_PARTS = (ResultMap, RowsMap, MapField, MappedRun, MappedValue, MappedJudgement, MappedLoop)
_KEYS = [name for part in _PARTS for name in part.model_fields]
MARKED_CHARACTERS = 1 << 17
"""Characters at the beginning of a file that have the marks of its map."""

_PACKAGED = Path(__file__).parent / "maps"


@dataclass(frozen=True)
class KnownMap:
    """A valid map. `folder`: patterns of files begin there; None: at any folder."""

    content: ResultMap
    text: str
    folder: str | None = None

    def forms_for(self, name: str) -> Iterator[RowsMap]:
        """Yield the forms that a file of this path has, by the patterns of the map."""
        path = name.replace("\\", "/").removeprefix(self.folder or "").replace("!", "/")
        for form, spec in zip(self.content.rows, self._specs, strict=True):
            if spec is None or spec.match_file(path.lstrip("/")):
                yield form

    def only(self, form: RowsMap) -> KnownMap:
        """Return the map with one of its forms alone."""
        return replace(self, content=self.content.model_copy(update={"rows": (form,)}))

    @property
    def searched(self) -> tuple[str, ...]:
        return tuple(form.marks[0] for form in self.content.rows if form.marks)

    @property
    def is_json(self) -> bool:
        return False

    def may_read(self, beginning: str, met: frozenset[str]) -> bool:
        """Return whether a file with this beginning has all marks of one of its forms."""
        return not met.isdisjoint(self.searched) and any(
            _has_marks(form, beginning) for form in self.content.rows
        )

    def fits(self, name: str, beginning: str) -> bool:
        """Return whether a file has the path and the marks of one of its forms."""
        return any(_has_marks(form, beginning) for form in self.forms_for(name))

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @cached_property
    def _specs(self) -> Sequence[GitIgnoreSpec | None]:
        from pathspec import GitIgnoreSpec  # few files have a map

        at = "" if self.folder is not None else "**/"
        return [
            GitIgnoreSpec.from_lines(at + pattern.lstrip("/") for pattern in form.files)
            if form.files
            else None
            for form in self.content.rows
        ]


def _has_marks(form: RowsMap, beginning: str) -> bool:
    return all(mark in beginning[:MARKED_CHARACTERS] for mark in form.marks)


def read_map(path: Path) -> KnownMap:
    """Return the map that `--map` names. Raises InputUnreadable, UsageError."""
    try:
        text = read_small_text(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputUnreadable(f"cannot read the map {path}: {reason}") from error
    return KnownMap(parse_map(str(path), text), text)


def parse_map(name: str, text: str) -> ResultMap:
    """Return the map in a text. Raises UsageError with the line and the field of each mistake."""
    try:
        return ResultMap.model_validate(parse_toml(text))
    except ValidationError as error:
        details = error.errors(include_url=False)
        complaints = [_complaint(name, text, detail) for detail in details[:_COMPLAINTS]]
        more = f"; and {len(details) - _COMPLAINTS} more" if len(details) > _COMPLAINTS else ""
        raise UsageError("; ".join(complaints) + more, _HINT) from error
    except ValueError as error:
        raise UsageError(f"{name} is not valid TOML: {error}.", _HINT) from error


def error_in(path: Path, name: str) -> str:
    """Return the error in a map, called `name` in the message; "" if it is valid."""
    try:
        parse_map(name, read_small_text(path))
    except UsageError as error:
        return f"the files that it maps are not read: {error.message}"
    except (OSError, ValueError) as error:
        return f"the files that it maps are not read: {error}"
    return ""


def _complaint(name: str, text: str, detail: ErrorDetails) -> str:
    loc = [part for part in detail["loc"] if not (isinstance(part, str) and "[" in part)]
    path = ".".join(map(str, loc))
    line = _line_of(text, loc)
    place = f"{name}, line {line}" if line else name
    if detail["type"] == "missing":
        what = "is missing"
        if loc[-1:] == ["agent"]:
            what += ': write a field of the row, or agent = { value = "…" }'
    elif detail["type"] == "extra_forbidden":
        what = f"is no key of a map. {did_you_mean(str(loc[-1]), _KEYS)}".strip()
    else:
        message = detail["msg"].removeprefix("Value error, ").removeprefix("Input ")
        shown = (
            "" if isinstance(detail["input"], dict | list) else f" (found {detail['input']!s:.60})"
        )
        what = f"{message}{shown}"
    return f"{place}, `{path}`: {what}"


def _line_of(text: str, loc: Sequence[str | int]) -> int | None:
    """Return the line of a field, as far as its names are found one after another."""
    at, line = 0, None
    for part, following in zip(loc, [*loc[1:], None], strict=True):
        if isinstance(part, int):
            continue
        number = following if isinstance(following, int) else 0
        pattern = rf'^[ \t]*(?:\[+[\w. "]*)?\b{re.escape(part)}\b'
        found = list(re.finditer(pattern, text[at:], re.MULTILINE))
        if part == "rows":
            found = [one for one in found if one[0].strip().lower() == "[[rows"
                     and text[at + one.end() :].lstrip().startswith("]]")]  # fmt: skip
        if number >= len(found):
            found = list(re.finditer(rf"\b{re.escape(part)}\b", text[at:]))[:1]
            number = 0
        if found:
            at += found[number].start()
            at += len(text[at:]) - len(text[at:].lstrip())
            line = text.count("\n", 0, at) + 1
    return line


@cache
def packaged_maps() -> tuple[KnownMap, ...]:
    """Return the maps that come with the tool. Each of their forms has marks."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(_PACKAGED.iterdir())}
    return tuple(KnownMap(parse_map(name, text), text) for name, text in texts.items())
