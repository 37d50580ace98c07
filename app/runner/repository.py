"""The repository of a run at its start, to be compared at its end."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from app.runner.work_tree import GitFailed, WorkTree
from ingest.context.patches import read_patch
from ingest.system.files import temporary_folder
from schemas.text import paired
from schemas.wire.launch import LaunchGit, LaunchPatch


class Repository:
    """The repository as it was when this was made. `problem`: why git could not tell; empty also outside a repository."""

    def __init__(self, folder: Path, aside: Path, is_ours: Callable[[Path], bool]) -> None:
        self.problem = ""
        self._facts: LaunchGit | None = None
        self._before = ""
        try:
            self._tree = WorkTree(folder, aside, is_ours)
        except GitFailed:
            return
        self._facts = LaunchGit(**paired({"repo": self._tree.repo(), "branch": self._tree.branch()}), before=self._tree.commit())
        try:
            self._before = self._tree.tree()
        except GitFailed as error:
            self.problem = str(error)

    def changed(self, patch: Path) -> LaunchGit | None:
        """What is known of it now; the patch of all changes is written to a file. None outside a repository."""
        if not self._facts:
            return None
        size = None
        try:
            if self._before:
                self._tree.write_patch(self._before, self._tree.tree(), patch)
                size = _size(patch)
        except (GitFailed, OSError) as error:
            self.problem = str(error)
            patch.unlink(missing_ok=True)
        return self._facts.model_copy(update={"after": self._tree.commit(), "patch": size})


@contextmanager
def repository_at(folder: Path, is_ours: Callable[[Path], bool]) -> Iterator[Repository]:
    """The repository that a folder lies in, as it is now. Raises OSError where there is no room for temporary files."""
    with tempfile.TemporaryDirectory(prefix="git-", dir=temporary_folder()) as aside:
        yield Repository(folder, Path(aside), is_ours)


def _size(patch: Path) -> LaunchPatch:
    with patch.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        found = read_patch(lines)
    with patch.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest() if patch.stat().st_size else None
    return LaunchPatch(files=found.files, insertions=found.insertions, deletions=found.deletions, sha256=digest)
