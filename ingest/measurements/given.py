"""Facts that people state about measured results.

`--measure KEY=VALUE,…` or `measure.toml` beside the file.

`measure.toml` has the same keys. A table in it applies to files whose name matches the table's
name, such as `["*_before.json"]`. The command line overrides the table, and the table overrides the
top of the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from ingest.context.small_files import MEASURE_FILE
from ingest.system.files import parse_toml, read_small_text
from schemas.agents import agent_key
from schemas.errors import UsageError
from schemas.text import did_you_mean
from schemas.units import Better, stored_unit

_TEXT = (
    "repo",
    "task",
    "commit",
    "agent",
    "model",
    "run",
    "metric",
    "unit",
    "benchmark",
    "bench_model",
    "machine",
    "batch",
    "baseline",
    "reference",
    "candidate",
)
_LISTED = ("variant", "better", "scope")

KEYS = (*_LISTED, *_TEXT)
"""`run`: the id of the measured run, or the end of its folder. `baseline`, `reference`,
`candidate`: the name of the benchmark that measures this variant, for a file that compares two
commands.
"""

_EXAMPLE = "For example: --measure variant=candidate,better=lower,unit=ms"


def parse_given(texts: Iterable[str]) -> dict[str, str]:
    """Parse `variant=baseline,unit=ms` into values by key. Raises UsageError."""
    given: dict[str, str] = {}
    for text in texts:
        for part in text.split(","):
            key, sign, value = part.partition("=")
            if not sign or not value.strip():
                raise UsageError(
                    f"--measure takes key=value, not {part.strip()!r}.", f"{_EXAMPLE}."
                )
            given |= _checked("--measure", key.strip(), value.strip())
    return given


def says_variant(said: Mapping[str, str]) -> bool:
    """Return whether the facts include the measured variant."""
    return bool(said) and bool({"variant", *_words("variant")} & said.keys())


def _words(key: str) -> tuple[str, ...]:
    from schemas.claims import (
        Scope,  # the models of rows, which an ingest without anything said does not need
    )
    from schemas.rows.measurement import Variant

    better = tuple(word for word in Better if word is not Better.UNKNOWN)
    return {"variant": tuple(Variant), "better": better, "scope": tuple(Scope)}[key]


def _checked(where: str, key: str, value: str) -> dict[str, str]:
    """Return the entries to keep for one key.

    A unit becomes the stored one, with its factor and its better direction.
    """
    if key not in KEYS:
        raise UsageError(
            f"{where} has no key {key!r}.",
            f"{did_you_mean(key, KEYS)}Choose from: {', '.join(KEYS)}.",
        )
    if key in _LISTED and value not in (words := _words(key)):
        raise UsageError(
            f"{where}: {key} cannot be {value!r}.",
            f"{did_you_mean(value, words)}Choose from: {', '.join(words)}.",
        )
    if key == "unit" and (unit := stored_unit(value)):
        return {"unit": unit.unit, "unit_factor": str(unit.factor), "unit_better": str(unit.better)}
    return {key: agent_key(value) if key == "agent" else value}


class SaidBeside:
    """Reads `measure.toml` in the folder of a file, once per folder."""

    def __init__(self) -> None:
        self._folders: dict[str, list[tuple[str, dict[str, str]]]] = {}
        self.broken: list[Path] = []
        """Files ignored as unreadable; `error_in` returns the reason."""

    def of(self, path: Path) -> dict[str, str]:
        """Return the facts about a file; empty if there is no `measure.toml`, or an invalid one."""
        folder, name = os.path.split(path)
        if folder not in self._folders:
            place = Path(folder, MEASURE_FILE)
            try:
                self._folders[folder] = _tables(place, str(place))
            except UsageError:
                self._folders[folder] = []
                self.broken.append(place)
        tables = self._folders[folder]
        return (
            {
                key: value
                for pattern, table in tables
                if fnmatchcase(name, pattern)
                for key, value in table.items()
            }
            if tables
            else {}
        )


def error_in(place: Path, name: str) -> str:
    """Return the error in a `measure.toml`, called `name` in the message; "" if it is valid."""
    try:
        _tables(place, name)
    except UsageError as error:
        return f"what it says about the results beside it is left out: {error.message} {error.hint}"
    return ""


def _tables(place: Path, name: str) -> list[tuple[str, dict[str, str]]]:
    """Return (name pattern, facts) of a `measure.toml`, the top of the file first.

    Raises UsageError for an invalid one.
    """
    try:
        if not place.is_file():  # a pipe or a device may have no end
            return []
        written = parse_toml(read_small_text(place))
    except OSError:
        return []
    except ValueError as error:
        raise UsageError(f"{name} cannot be read: {error}.", "Correct it, or remove it.") from error
    common = {key: value for key, value in written.items() if not isinstance(value, dict)}
    tables = [
        ("*", common),
        *((pattern, table) for pattern, table in written.items() if isinstance(table, dict)),
    ]
    return [
        (
            pattern,
            {
                kept: fact
                for key, value in table.items()
                for kept, fact in _checked(name, key, str(value)).items()
            },
        )
        for pattern, table in tables
    ]
