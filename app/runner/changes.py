"""What a run changed in its git repository.

The working tree before and after as trees, and the patch between them.

Trees and files are written to a temporary folder: index, objects and references of the repository
do not change. Ignored files and too large new files are left out.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ingest.patches import read_patch
from ingest.system.files import temporary_folder
from schemas.text import paired
from schemas.wire.launch import LaunchGit, LaunchPatch

LARGEST_NEW_FILE = 10 << 20
MOST_NEW_BYTES = 200 << 20
"""Bytes per file and in all of untracked files that are compared: a patch is no place for data
sets.
"""

_SECONDS = 120

_SETTINGS = (
    "core.looseCompression=0",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.quotePath=true",
)
_DIFF = (
    "diff-tree",
    "-r",
    "-p",
    "--binary",
    "--full-index",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
"""Options for a patch that does not depend on the user's settings."""


class GitFailed(Exception):
    """A git command failed, or there is none."""


class Repository:
    """The repository at the time of creation.

    `problem`: why git failed; "" also outside a repository.
    """

    def __init__(self, folder: Path, aside: Path, is_ours: Callable[[Path], bool]) -> None:
        self.problem = ""
        self._facts: LaunchGit | None = None
        self._before = ""
        try:
            self._tree = WorkTree(folder, aside, is_ours)
        except GitFailed:
            return
        self._facts = LaunchGit(
            **paired({"repo": self._tree.repo(), "branch": self._tree.branch()}),
            before=self._tree.commit(),
        )
        try:
            self._before = self._tree.tree()
        except GitFailed as error:
            self.problem = str(error)

    def changed(self, patch: Path) -> LaunchGit | None:
        """Return the changes until now and write the patch to a file. None outside a repository."""
        if not self._facts:
            return None
        size = None
        try:
            if self._before:
                self._tree.write_patch(self._before, self._tree.tree(), patch)
                with patch.open(encoding="utf-8", errors="replace", newline="\n") as lines:
                    found = read_patch(lines)
                with patch.open("rb") as file:
                    digest = (
                        hashlib.file_digest(file, "sha256").hexdigest()
                        if patch.stat().st_size
                        else None
                    )
                size = LaunchPatch(
                    files=found.files,
                    insertions=found.insertions,
                    deletions=found.deletions,
                    sha256=digest,
                )
        except (GitFailed, OSError) as error:
            self.problem = str(error)
            patch.unlink(missing_ok=True)
        return self._facts.model_copy(update={"after": self._tree.commit(), "patch": size})


@contextmanager
def repository_at(folder: Path, is_ours: Callable[[Path], bool]) -> Iterator[Repository]:
    """Yield the repository that contains a folder, as it is now.

    Raises OSError without room for temporary files.
    """
    with tempfile.TemporaryDirectory(prefix="git-", dir=temporary_folder()) as aside:
        yield Repository(folder, Path(aside), is_ours)


class WorkTree:
    """The repository that contains a folder.

    `aside`: a folder for git's output; `is_ours`: files of the recording itself.
    """

    def __init__(self, folder: Path, aside: Path, is_ours: Callable[[Path], bool]) -> None:
        """Raise GitFailed if the folder is in no repository, or git is not installed."""
        self._aside = aside
        self._is_ours = is_ours
        self._environment = {
            **os.environ,
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }
        self._top = folder
        self._top = Path(self._line("rev-parse", "--show-toplevel"))
        index, objects = (
            self._top / self._line("rev-parse", "--git-path", name) for name in ("index", "objects")
        )
        self._index = Path(os.environ.get("GIT_INDEX_FILE") or index)
        (aside / "objects").mkdir(parents=True, exist_ok=True)
        self._environment |= {
            "GIT_INDEX_FILE": str(aside / "index"),
            "GIT_OBJECT_DIRECTORY": str(aside / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects),
        }

    def commit(self) -> str | None:
        """Return the checked-out commit; None before the first one."""
        return self._known("rev-parse", "--verify", "--quiet", "HEAD")

    def branch(self) -> str | None:
        """Return the branch; None for a detached head."""
        return self._known("symbolic-ref", "--quiet", "--short", "HEAD")

    def repo(self) -> str:
        """Return the name of the repository at `origin`, else of its folder."""
        url = self._known("config", "--get", "remote.origin.url") or ""
        return (
            url.rstrip("/").replace(":", "/").rpartition("/")[2].removesuffix(".git")
            or self._top.name
        )

    def tree(self) -> str:
        """Return the current working tree as the id of a tree. Raises GitFailed."""
        with suppress(FileNotFoundError):
            shutil.copy2(
                self._index, self._aside / "index"
            )  # with its time, by which git knows which files to look into
        self._git("add", "--update", "--ignore-errors", "--", ".", is_strict=False)
        if new := b"\0".join(self._new_files()):
            self._git(
                "--literal-pathspecs",
                "add",
                "--ignore-errors",
                "--pathspec-from-file=-",
                "--pathspec-file-nul",
                given=new,
                is_strict=False,
            )
        return self._line("write-tree")

    def write_patch(self, before: str, after: str, into: Path) -> None:
        """Write the patch from one tree to another. Raises GitFailed, OSError."""
        into.touch(0o600)
        with into.open("wb") as file:
            self._git(*_DIFF, before, after, to=file.fileno())

    def _new_files(self) -> Iterator[bytes]:
        """Yield untracked files that are not ignored, up to the bounds.

        Nested repositories are left out.
        """
        room = MOST_NEW_BYTES
        for name in self._git("ls-files", "--others", "--exclude-standard", "-z").split(b"\0"):
            path = self._top / os.fsdecode(name)
            if not name or name.endswith(b"/") or self._is_ours(path):
                continue
            with suppress(OSError):
                size = path.lstat().st_size
                if size <= min(LARGEST_NEW_FILE, room):
                    room -= size
                    yield name

    def _line(self, *words: str) -> str:
        return os.fsdecode(self._git(*words)).removesuffix("\n")

    def _known(self, *words: str) -> str | None:
        with suppress(GitFailed):
            return self._line(*words) or None
        return None

    def _git(
        self, *words: str, given: bytes = b"", to: int = subprocess.PIPE, is_strict: bool = True
    ) -> bytes:
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        try:
            done = subprocess.run(  # noqa: S603  names of files are read from its input
                ["git", *settings, *words],  # noqa: S607  the git of the user
                cwd=self._top,
                env=self._environment,
                input=given,
                stdout=to,
                stderr=subprocess.PIPE,
                timeout=_SECONDS,
                check=False,
                start_new_session=True,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise GitFailed(f"git {words[0]}: {error}") from error
        if is_strict and done.returncode:
            raise GitFailed(
                f"git {words[0]}: {os.fsdecode(done.stderr).strip() or done.returncode}"
            )
        return done.stdout or b""
