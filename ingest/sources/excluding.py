"""Which files under a folder are left out: by patterns of the call, and by `.tachographignore` in folders, as git reads `.gitignore`."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import pathspec

from schemas.errors import UsageError

IGNORE_FILE = ".tachographignore"

LARGEST = 1 << 20
"""Bytes of such a file that are read."""

MOST_STARS = 2
"""Stars in one segment of a pattern: with each more, a name that does not fit is tried in as many more ways as it has characters."""

_HARD = re.compile(rf"(?:\*(?!\*)[^/*]*){{{MOST_STARS + 1}}}|(?:\*\*.*){{3}}")


Specs = tuple[tuple[str, pathspec.GitIgnoreSpec], ...]


class Excluding:
    """The patterns of one call; `count`: the files and folders that were left out. Ignore files are read once."""

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        """Raises UsageError for a pattern that cannot be read."""
        self._given = _spec(patterns, "--exclude")
        self._of_folders: dict[tuple[str, str], Specs] = {}
        self.count = 0
        self.problems: list[UsageError] = []
        """Ignore files that cannot be read, and so leave nothing out: to be told, and taken out of this list."""

    def leaves_out(self, root: str, path: str, *, is_folder: bool = False) -> bool:
        """Whether a path under the folder `root` is left out, and count it. Of several patterns that fit, the nearest to it holds."""
        specs = self._specs(root, os.path.dirname(path)) if path != root else ()  # noqa: PTH120
        if not specs and not self._given:
            return False
        end = "/" if is_folder else ""
        for folder, spec in (*([(root, self._given)] if self._given else []), *specs):
            if (is_out := spec.check_file(os.path.relpath(path, folder) + end).include) is not None:
                self.count += is_out
                return is_out
        return False

    def leaves_out_file(self, path: str) -> bool:
        """The same of a file that was named itself: by its name, and by the patterns of the call alone."""
        is_out = bool(self._given and self._given.match_file(os.path.basename(path)))  # noqa: PTH119
        self.count += is_out
        return is_out

    def leaves_out_below(self, root: str, path: str) -> bool:
        """Whether a path, or a folder on the way to it from `root`, is left out: for a change that is heard of. A root may be a file."""
        if path == root:
            return os.path.isfile(path) and self.leaves_out_file(path)  # noqa: PTH113
        parts = Path(os.path.relpath(path, root)).parts
        places = [os.path.join(root, *parts[:count]) for count in range(1, len(parts) + 1)]  # noqa: PTH118
        return any(self.leaves_out(root, place, is_folder=place != path) for place in places)

    def _specs(self, root: str, folder: str) -> Specs:
        """The ignore files of a folder and those above it up to `root`, the nearest first."""
        if (known := self._of_folders.get((root, folder))) is not None:
            return known
        above = os.path.dirname(folder)  # noqa: PTH120
        outer = self._specs(root, above) if folder not in (root, above) else ()
        try:
            spec = _of_folder(folder)
        except UsageError as error:
            spec = None
            self.problems.append(error)
        found = self._of_folders[root, folder] = ((folder, spec), *outer) if spec else outer
        return found


def _of_folder(folder: str) -> pathspec.GitIgnoreSpec | None:
    file = os.path.join(folder, IGNORE_FILE)  # noqa: PTH118
    with suppress(OSError, ValueError):
        status = os.stat(file)  # noqa: PTH116
        if stat.S_ISREG(status.st_mode):
            return _read(file, status.st_size)
    return None


def _read(file: str, size: int) -> pathspec.GitIgnoreSpec | None:
    try:
        lines = Path(file).read_text(encoding="utf-8", errors="surrogateescape").splitlines() if size <= LARGEST else None
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.", "Mend it, or take it away.") from error
    if lines is None:
        raise UsageError(f"{file} is larger than a megabyte.", "Mend it, or take it away.")
    return _spec(lines, file)


def _spec(patterns: Iterable[str], source: str) -> pathspec.GitIgnoreSpec | None:
    given = [line for line in patterns if line.strip() and not line.startswith("#")]
    for line in given:
        if _HARD.search(line):
            raise UsageError(
                f"the pattern {line!r} of {source} has too many stars.", f"Use {MOST_STARS} in a segment at most, and ** twice at most."
            )
    try:
        return pathspec.GitIgnoreSpec.from_lines(given) if given else None
    except ValueError as error:
        raise UsageError(f"{source} has a pattern that cannot be read: {error}.", "Patterns are written as in .gitignore.") from error
