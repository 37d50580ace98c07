"""Work trees of a git repository in temporary folders, and what has changed in them since.

Each is a clone that borrows the objects of the repository: neither its checkout nor its `.git`
changes. What has changed is found by our own hashes: the `.git` of a tree belongs to the code that
runs in it.
"""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from schemas.errors import UsageError

_SECONDS = 600

_MOST_HASHED = 64 << 20
"""Largest file whose content is compared; of a larger one, its size and time are."""


class TreeEntry(NamedTuple):
    """A file, folder or link of a tree.

    `status`: by it, an unchanged one is not read again; `content`: its kind, rights and a hash.
    """

    status: tuple[int, ...]
    content: tuple[int | bytes | str, ...]


class PatchRefused(Exception):
    """The patch does not apply to the baseline. The text is git's."""


def commit_of(repo: Path, revision: str) -> str:
    """Return the full hash of a revision.

    Raises UsageError if the folder is no repository, or has no such commit.
    """
    top = _git(repo, "rev-parse", "--show-toplevel")
    if top.returncode:
        raise UsageError(
            f"{repo} is no git repository: {_message(top)}.",
            "Give the repository that was optimized: --repo DIR",
        )
    found = _git(
        repo, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
    )
    if found.returncode:
        raise UsageError(
            f"{repo} has no commit {revision!r}.",
            "Fetch it, or give another repository or revision: --repo DIR, --baseline REV",
        )
    return os.fsdecode(found.stdout).strip()


def name_of(repo: Path) -> str:
    """Return the name of the repository at `origin`, else of its folder."""
    url = os.fsdecode(_git(repo, "config", "--get", "remote.origin.url").stdout).strip()
    top = os.fsdecode(_git(repo, "rev-parse", "--show-toplevel").stdout).strip()
    return (
        url.rstrip("/").replace(":", "/").rpartition("/")[2].removesuffix(".git") or Path(top).name
    )


def check_out(repo: Path, commit: str, into: Path) -> None:
    """Make a work tree of a commit. Raises UsageError, also without room on the disk."""
    top = os.fsdecode(_git(repo, "rev-parse", "--show-toplevel").stdout).strip()
    for folder, words in (
        (into.parent, ("clone", "--quiet", "--shared", "--no-checkout", "--", top, str(into))),
        (into, ("checkout", "--quiet", "--detach", commit)),
    ):
        if (done := _git(folder, *words)).returncode:
            raise UsageError(
                f"no work tree of {commit[:12]} could be made: {_message(done)}.",
                "Is there room in the temporary folder ($TMPDIR)?",
            )


def apply_patch(tree: Path, patch: bytes) -> None:
    """Apply a patch to a work tree. Raises PatchRefused."""
    applied = _git(tree, "apply", "--whitespace=nowarn", "-", given=patch)
    if (
        applied.returncode
        and _git(tree, "apply", "--whitespace=nowarn", "--3way", "-", given=patch).returncode
    ):
        raise PatchRefused(_message(applied))


def entries(
    tree: Path, before: Mapping[str, TreeEntry], names: Iterable[str] | None = None
) -> dict[str, TreeEntry]:
    """Return the entries of a tree, or those of `names` that still exist, by path below it.

    `before`: entries of an earlier call; unchanged files are not read again.
    """
    found = {}
    for name in _names(tree) if names is None else names:
        with suppress(OSError):  # gone, or not to be read: its rights are compared
            path = tree / name
            seen = path.lstat()
            status = (
                seen.st_mode,
                seen.st_ino,
                seen.st_size,
                seen.st_mtime_ns,
                seen.st_ctime_ns,
            )  # nobody can set the last one
            known = before.get(name)
            found[name] = (
                known
                if known and known.status == status
                else TreeEntry(status, _content(path, seen))
            )
    return found


def changes(before: Mapping[str, TreeEntry], now: Mapping[str, TreeEntry]) -> set[str]:
    """Return the paths whose entries are new, gone or of other content."""
    either = {name for name in before if name not in now} | {
        name for name in now if name not in before
    }
    return either | {
        name for name in now if name in before and now[name].content != before[name].content
    }


def is_of_git(name: str) -> bool:
    """Return whether a path below a tree is that of the clone's own data."""
    return name == ".git" or name.startswith(f".git{os.sep}")


def _names(tree: Path) -> Iterator[str]:
    """Yield `.` and all paths below a tree, without following links."""
    yield "."
    folders = [""]
    while folders:
        folder = folders.pop()
        with suppress(OSError), os.scandir(tree / folder) as listed:
            for one in listed:
                yield folder + one.name
                if one.is_dir(follow_symlinks=False):
                    folders.append(f"{folder}{one.name}{os.sep}")


def _content(path: Path, seen: os.stat_result) -> tuple[int | bytes | str, ...]:
    if stat.S_ISLNK(seen.st_mode):
        return seen.st_mode, os.fsencode(path.readlink())
    if not stat.S_ISREG(seen.st_mode):
        return (seen.st_mode,)
    if seen.st_size > _MOST_HASHED:
        return seen.st_mode, seen.st_size, seen.st_mtime_ns
    with (
        suppress(OSError),
        os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file,
    ):
        return seen.st_mode, hashlib.file_digest(file, "sha256").digest()
    return seen.st_mode, seen.st_size, seen.st_mtime_ns


def _git(folder: Path, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_")
    }  # as of a hook that calls us
    try:
        return subprocess.run(  # noqa: S603  revisions follow --end-of-options
            ["git", *words],  # noqa: S607  the git of the user
            cwd=folder,
            env=environment | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
            input=given,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(
            f"git {words[0]} failed in {folder}: {error}.",
            "Is git installed, and does the folder exist?",
        ) from error


def _message(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = os.fsdecode(done.stderr).strip().splitlines()
    return (
        lines[0].removeprefix("fatal: ").removeprefix("error: ").rstrip(".")
        if lines
        else f"exit code {done.returncode}"
    )
