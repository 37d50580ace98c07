"""Two work trees of a git repository in a temporary folder: the baseline, and the candidate.

Each is a clone that borrows the objects of the repository: neither its checkout nor its `.git` changes.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from schemas.errors import UsageError

_SECONDS = 600


class PatchRefused(Exception):
    """The patch does not apply to the baseline. The text is git's."""


def commit_of(repo: Path, revision: str) -> str:
    """Return the full hash of a revision. Raises UsageError if the folder is no repository, or has no such commit."""
    top = _git(repo, "rev-parse", "--show-toplevel")
    if top.returncode:
        raise UsageError(f"{repo} is no git repository: {_said(top)}.", "Give the repository that was optimized: --repo DIR")
    found = _git(repo, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if found.returncode:
        raise UsageError(
            f"{repo} has no commit {revision!r}.", "Fetch it, or give another repository or revision: --repo DIR, --baseline REV"
        )
    return os.fsdecode(found.stdout).strip()


def name_of(repo: Path) -> str:
    """Return the name of the repository at `origin`, else of its folder."""
    url = os.fsdecode(_git(repo, "config", "--get", "remote.origin.url").stdout).strip()
    top = os.fsdecode(_git(repo, "rev-parse", "--show-toplevel").stdout).strip()
    return url.rstrip("/").replace(":", "/").rpartition("/")[2].removesuffix(".git") or Path(top).name


def check_out(repo: Path, commit: str, into: Path) -> None:
    """Make a work tree of a commit. Raises UsageError, also without room on the disk."""
    top = os.fsdecode(_git(repo, "rev-parse", "--show-toplevel").stdout).strip()
    for done in (
        _git(into.parent, "clone", "--quiet", "--shared", "--no-checkout", "--", top, str(into)),
        _git(into, "-c", "advice.detachedHead=false", "checkout", "--quiet", "--detach", commit),
    ):
        if done.returncode:
            raise UsageError(
                f"no work tree of {commit[:12]} could be made: {_said(done)}.", "Is there room in the temporary folder ($TMPDIR)?"
            )


def apply_patch(tree: Path, patch: bytes) -> None:
    """Apply a patch to a work tree. Raises PatchRefused."""
    applied = _git(tree, "apply", "--whitespace=nowarn", "-", given=patch)
    if applied.returncode and _git(tree, "apply", "--whitespace=nowarn", "--3way", "-", given=patch).returncode:
        raise PatchRefused(_said(applied))


def _git(folder: Path, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}  # as of a hook that calls us
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
        raise UsageError(f"git {words[0]} failed in {folder}: {error}.", "Is git installed, and does the folder exist?") from error


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = os.fsdecode(done.stderr).strip().splitlines()
    return lines[0].removeprefix("fatal: ").removeprefix("error: ").rstrip(".") if lines else f"exit code {done.returncode}"
