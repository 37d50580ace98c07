"""What became of runs' changes in a repository, read from a checkout by git.

Nothing of the repository runs: neither hooks nor filters, drivers or programs of its settings.
Nothing is fetched, and patches are not held in memory.
Nothing is guessed: what the checkout does not show is unknown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from tempfile import TemporaryFile
from typing import IO

import duckdb

from ingest.store.ingests import whoami
from schemas.errors import UsageError
from schemas.rows.landing import Landed, LandingRow

_GIT = (
    *("git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "log.showSignature=false", "-c", "core.quotePath=true", "-c", "color.ui=false"),
    *("-c", "diff.orderFile=/dev/null", "-c", "diff.relative=false"),
)
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
"""Older versions of git know only the first of the settings against fetching what a clone lacks."""
_PATCHES = (
    *("-p", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--full-index"),
    *("--unified=3", "--diff-algorithm=myers", "--src-prefix=a/", "--dst-prefix=b/"),
    "--submodule=short",
)
"""Patches as git makes them by default: settings would make them unlike those beside records."""
_WORK = ("--exclude=entire/*", "--branches", "--exclude=origin/entire/*", "--remotes")
"""Branches of changes; those of Entire hold logs."""
_DAY = 86_400.0
_SECONDS = 600
_LATEST = 253_370_764_800
"""The year 9999; commits may claim any second."""

_PULL_REQUEST = re.compile(r"Merge pull request #(\d+) from |.*\(#(\d+)\)$")
"""The subjects that GitHub gives to a merged, and to a squashed or rebased pull request."""
_REVERTED = re.compile(
    r"This reverts commit ([0-9a-f]{7,64})|^Reverts ([\w.-]+/[\w.-]+)?#(\d+)", re.MULTILINE
)
_CHECKPOINT = re.compile(r"Entire-Checkpoint: *([0-9a-f]{12})\b")
_CHECKPOINTS = tuple(f"refs/{place}/entire/checkpoints/v1" for place in ("heads", "remotes/origin"))
_OF_SESSION = re.compile(r':(\w{2})/(\w{10})/\S*:\s*"session_id": *"(?:\d{4}-\d\d-\d\d-)?([^"]+)"')
"""Entire keeps the checkpoints of sessions on a branch, and their ids in messages of commits:
https://docs.entire.io
"""
_PICKED = re.compile(r"\(cherry picked from commit ([0-9a-f]{40,64})\)")


@dataclass(frozen=True)
class RunChanges:
    """What a run records of its changes, and where it worked.

    `commits`: hashes, in full or their beginnings. `pull_requests`: `owner/name#12`.
    """

    run_id: str
    session_id: str | None = None
    title: str = ""
    project: str | None = None
    cwd: str | None = None
    branch: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    commits: Sequence[str] = ()
    pull_requests: Sequence[str] = ()
    patch: str | None = None


@dataclass(frozen=True)
class Landings:
    """What a checkout shows: a row for each run that worked in it.

    `commits`: those of the main branch since the first of the runs began, without merges; `by_runs`
    of them came from runs. `is_shallow`: the checkout lacks older commits.
    """

    repository: str
    branch: str
    rows: Sequence[LandingRow]
    commits: int
    by_runs: int
    is_shallow: bool


@dataclass(frozen=True)
class _Commit:
    hash: str
    parents: Sequence[str]
    at: datetime
    subject: str
    body: str


@dataclass(frozen=True)
class _Fate:
    """What became of one commit, pull request or patch. `at`: its commit on the main branch."""

    state: Landed
    reason: str
    at: str = ""


_STATES = tuple(Landed)


def read_landings(
    path: Path, runs: Sequence[RunChanges], branch: str = "", ticket: str = ""
) -> Landings:
    """Return what became of the changes of the runs that worked in a checkout.

    `branch`: the main branch, by default that of the remote. `ticket`: a regular
    expression, looked for in a run's branch, its title and the messages of its landed commits.
    Raises UsageError if the folder is no checkout or has no such branch, or for the expression.
    """
    tickets = _Tickets(ticket)
    checkout = _Checkout(path, branch)
    linked = checkout.commits_of_sessions()
    runs = [
        replace(run, commits=[*run.commits, *linked[run.session_id]])
        if run.session_id in linked
        else run
        for run in runs
    ]
    known = checkout.resolved({commit for run in runs for commit in run.commits})
    own = [run for run in runs if checkout.is_place_of(run, known)]
    began = min((at for run in own if (at := run.started_at or run.ended_at)), default=None)
    main = _Main(checkout, began.timestamp() - _DAY if began else None)
    side = _Side(checkout, main, own, known)
    read_at, who = datetime.now(UTC), whoami()
    rows = []
    landed_by_runs: set[str] = set()
    for run in own:
        fates = [
            *(side.of_commit(commit, known.get(commit)) for commit in run.commits),
            *(main.of_pull_request(one) for one in run.pull_requests if checkout.owns(one)),
            *([side.of_patch(run)] if run.patch else []),
        ] or [_Fate(Landed.UNKNOWN, "no commit, pull request or patch is recorded")]
        best = min(fates, key=lambda fate: _STATES.index(fate.state))
        landed = [main.commits[fate.at] for fate in fates if fate.state is Landed.LANDED]
        landed_by_runs |= {commit.hash for commit in landed}
        requests = {found for one in landed if (found := main.request_of(one.hash))}
        texts = (run.branch, run.title, *(f"{one.subject}\n{one.body}" for one in landed))
        rows.append(
            LandingRow(
                run_id=run.run_id,
                state=best.state,
                reason=best.reason,
                commits=tuple(run.commits),
                changes=tuple(sorted({main.request_of(one.hash) or one.hash for one in landed})),
                landed_at=max((one.at for one in landed), default=None),
                pull_request=", ".join(sorted(requests | {*run.pull_requests})) or None,
                ticket=tickets.first(texts),
                repository=checkout.name,
                branch=checkout.branch,
                read_at=read_at,
                read_by=who,
            )
        )
    single = [one for one in main.commits.values() if len(one.parents) < 2]
    by_runs = sum(one.hash in landed_by_runs for one in single)
    return Landings(checkout.name, checkout.branch, rows, len(single), by_runs, checkout.is_shallow)


class _Tickets:
    """What a ticket looks like. DuckDB searches in linear time, whatever the expression."""

    def __init__(self, pattern: str) -> None:
        self._pattern, self._duckdb = pattern, duckdb.connect()
        try:
            self.first(("",))
        except duckdb.Error as error:
            raise UsageError(
                f"--ticket takes a regular expression, not {pattern!r}: "
                f"{str(error).partition(': ')[2]}.",
                r"For example: --ticket 'ABC-\d+'",
            ) from None

    def first(self, texts: Iterable[str | None]) -> str | None:
        """Return the first ticket in texts; None without any."""
        if not self._pattern:
            return None
        sql = "select nullif(regexp_extract($text, $pattern), '')"
        given = [{"text": text, "pattern": self._pattern} for text in texts if text is not None]
        found = (self._duckdb.execute(sql, one).fetchone() for one in given)
        return next((one[0] for one in found if one and one[0]), None)


def _name(url: str) -> str:
    """Return `owner/name` of the address of a remote, or the last folder of a path of a machine."""
    place = re.sub(r"^(?:[\w+.-]+://(?:.*@)?[^/]*/|(?:.*@)?[^/]*:)", "", url.strip())
    parts = [*filter(None, re.split(r"[/\\]", place.rstrip("/").removesuffix(".git")))]
    is_path = place == url.strip() or url.startswith("file:") or "\\" in url
    return "/".join(parts[-1:] if is_path else parts[-2:])


class _Checkout:
    """A checkout: its place, the name of its repository and its main branch.

    `tips`: the branch here and at the remote.
    """

    def __init__(self, path: Path, branch: str) -> None:
        self._path = path
        store = self._run("rev-parse", "--path-format=absolute", "--git-common-dir")
        if store is None:
            raise UsageError(
                f"{path} is no git repository, or git refuses to read it.",
                "Give the checkout that the runs worked in, or a clone of it: --repo PATH",
            )
        if top := self._run("rev-parse", "--show-toplevel"):
            self._path = Path(top.removesuffix("\n"))  # in a folder of it, paths are relative
        folder = Path(store.strip().removesuffix("/.git")).name.removesuffix(".git")
        self.name = _name(self._run("config", "--get", "remote.origin.url") or "") or folder
        listed = self._run("worktree", "list", "--porcelain") or ""
        self._folders = [
            PurePath(line.removeprefix("worktree "))
            for line in listed.splitlines()
            if line.startswith("worktree ")
        ]
        self.branch = branch or self._main_branch()
        refs = (f"refs/heads/{self.branch}", f"refs/remotes/origin/{self.branch}")
        self.tips = [ref for ref in refs if self._run("rev-parse", "--verify", "--quiet", ref)]
        if not self.tips:
            raise UsageError(
                f"{path} has no branch {self.branch!r}.",
                "Name the main branch, which the remote calls main or master: --branch NAME",
            )
        self.is_shallow = (self._run("rev-parse", "--is-shallow-repository") or "") == "true\n"

    def _main_branch(self) -> str:
        is_bare = self._run("rev-parse", "--is-bare-repository") == "true\n"
        at = "HEAD" if is_bare else "refs/remotes/origin/HEAD"
        if head := self._run("symbolic-ref", "--short", "--quiet", at):
            return head.strip().removeprefix("origin/")
        for name in ("main", "master"):
            for ref in (f"refs/heads/{name}", f"refs/remotes/origin/{name}"):
                if self._run("rev-parse", "--verify", "--quiet", ref):
                    return name
        heads = self._run("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads") or ""
        return heads.strip() if heads.count("\n") == 1 else "main"

    def is_place_of(self, run: RunChanges, known: Mapping[str, _Commit]) -> bool:
        """Return whether a run worked here: by its project, its folder or its commits.

        A short hash may be that of another repository, so that its date must be that of the run.
        """
        if run.project:
            theirs, ours = run.project.lower().split("/"), self.name.lower().split("/")
            if theirs[-1] == ours[-1] and (min(len(theirs), len(ours)) < 2 or theirs == ours):
                return True
        if run.cwd and any(PurePath(run.cwd).is_relative_to(one) for one in self._folders):
            return True
        begin, end = run.started_at or run.ended_at, run.ended_at or run.started_at
        return any(
            begin.timestamp() - _DAY <= known[commit].at.timestamp() <= end.timestamp() + _DAY
            for commit in run.commits
            if begin and end and commit in known
        ) or any(map(self.owns, run.pull_requests))

    def owns(self, pull_request: str) -> bool:
        return pull_request.rpartition("#")[0].lower() == self.name.lower()

    def resolved(self, hashes: Iterable[str]) -> dict[str, _Commit]:
        """Return the commits that hashes name, by those hashes."""
        asked = sorted(one for one in hashes if re.fullmatch("[0-9a-f]{7,64}", one))
        given = "".join(f"{one}^{{commit}}\n" for one in asked)
        answers = (self._run("cat-file", "--batch-check", given=given) or "").splitlines()
        full = {
            one: answer.split()[0]
            for one, answer in zip(asked, answers, strict=False)
            if answer.split()[1:2] == ["commit"]
        }
        found = {one.hash: one for one in self.log("--no-walk=unsorted", given={*full.values()})}
        return {one: found[name] for one, name in full.items() if name in found}

    def commits_of_sessions(self) -> dict[str | None, list[str]]:
        """Return the commits whose messages name a checkpoint of a session, by session."""
        refs = [ref for ref in _CHECKPOINTS if self._run("rev-parse", "--verify", "--quiet", ref)]
        made: dict[str, list[str]] = {}
        for one in self.log("--all", "--grep=^Entire-Checkpoint:") if refs else ():
            for checkpoint in _CHECKPOINT.findall(f"{one.subject}\n{one.body}"):
                made.setdefault(checkpoint, []).append(one.hash)
        found: dict[str | None, dict[str, None]] = {}
        for ref in refs:
            lines = self._run("grep", "-e", '"session_id"', ref, "--", "*metadata.json") or ""
            for first, rest, session in _OF_SESSION.findall(lines):
                found.setdefault(session, {}).update(dict.fromkeys(made.get(first + rest, ())))
        return {session: [*commits] for session, commits in found.items() if commits}

    def log(self, *words: str, given: Iterable[str] | None = None) -> Iterator[_Commit]:
        """Yield commits, the newest first. `given`: those to begin with, on standard input."""
        stdin = None if given is None else "".join(f"{one}\n" for one in given)
        if stdin == "":
            return
        more = () if stdin is None else ("--stdin",)
        text = self._must("log", "-z", "--format=%H%n%P%n%ct%n%s%n%b", *words, *more, given=stdin)
        for record in filter(None, text.split("\0")):
            name, parents, at, subject, body = (*record.split("\n", 4), "")[:5]
            moment = datetime.fromtimestamp(min(int(at), _LATEST), UTC)
            yield _Commit(name, parents.split(), moment, subject, body)

    def sources(self, *refs: str) -> dict[str, str]:
        """Return the commits of refs that are not on the main branch, each with one of the refs."""
        text = self._must("log", "--format=%H %S", *refs, "--not", *self.tips)
        return dict(line.split(" ", 1) for line in text.splitlines())

    def is_ancestor(self, commit: str) -> bool:
        return any(
            self._run("merge-base", "--is-ancestor", commit, tip) is not None for tip in self.tips
        )

    def patch_ids(self, *words: str, given: Iterable[str] | None = None) -> dict[str, str] | None:
        """Return the id of each commit's patch by commit (`git patch-id`); merges have none.

        None if the checkout lacks files of them.
        """
        more = () if given is None else ("--no-walk=unsorted", "--stdin")
        return self._ids("log", *_PATCHES, "--no-merges", *words, *more, given=given)

    def whole_patch_ids(self, commits: Iterable[str]) -> dict[str, str] | None:
        """Return the ids of everything that branches changed since they left the main one."""
        pairs = []
        for one in commits:
            tip, base = self._run("rev-parse", one), self._run("merge-base", self.tips[-1], one)
            if tip and base:
                pairs.append(f"{tip.strip()} {base.strip()}")
        return self._ids("diff-tree", "-r", "--stdin", *_PATCHES, given=pairs)

    def changed_since(self, commit: _Commit) -> str:
        """Return the last commit of the main branch that changed files of a commit after it."""
        names = ("log", "-1", "-z", "--format=", "--name-only", "--no-renames", "-m")
        files = self._must(*names, "--first-parent", commit.hash).strip("\0").split("\0")
        words = ("--literal-pathspecs", "log", "-1", "--format=%H", "--no-renames", "--stdin")
        since = f"--since=@{max(0, int(commit.at.timestamp()))}"
        return self._must(*words, since, given="\n".join((*self.tips, "--", *files))).strip()

    def patch_id(self, patch: str) -> str:
        return (self._run("patch-id", "--stable", given=patch) or "").partition(" ")[0]

    def _ids(self, *words: str, given: Iterable[str] | None) -> dict[str, str] | None:
        """Return ids of the patches that git prints, by commit, without holding the patches."""
        with TemporaryFile() as file:
            file.write("".join(f"{one}\n" for one in given or ()).encode())
            if given is not None and not file.tell():
                return {}
            file.seek(0)
            with self._started(*words, stdin=file, stderr=DEVNULL) as patches:
                with self._started("patch-id", "--stable", stdin=patches.stdout) as ids:
                    found, _ = self._ended(ids)
                if ids.returncode:
                    patches.kill()
        if patches.returncode or ids.returncode:
            return None
        pairs = (line.split() for line in found.decode().splitlines())
        return {commit: patch for patch, commit in pairs}

    def _run(self, *words: str, given: str | None = None) -> str | None:
        """Return what git prints; None if it fails."""
        with self._started(*words) as process:
            found, _ = self._ended(process, given)
        return None if process.returncode else found.decode(errors="replace")

    def _must(self, *words: str, given: str | None = None) -> str:
        """Return what git prints. Raises UsageError if it fails: half a history misleads."""
        with self._started(*words) as process:
            found, errors = self._ended(process, given)
        if process.returncode:
            why = errors.decode(errors="replace").strip().rpartition("\n")[2] or "it took too long"
            raise UsageError(f"git cannot read {self._path}: {why}.", "Look at it by: git fsck")
        return found.decode(errors="replace")

    def _started(
        self, *words: str, stdin: int | IO[bytes] | None = PIPE, stderr: int = PIPE
    ) -> Popen[bytes]:
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("GIT_") or name.startswith("GIT_CONFIG")
        }
        try:
            return Popen(  # noqa: S603  git with our words and hashes
                [*_GIT, "-C", str(self._path), *words],
                stdin=stdin,
                stdout=PIPE,
                stderr=stderr,
                env=environment | _ENVIRONMENT,
            )
        except FileNotFoundError:
            raise UsageError("there is no git on this machine.", "Install git.") from None

    def _ended(self, process: Popen[bytes], given: str | None = None) -> tuple[bytes, bytes]:
        """Return what a process prints, and its errors; too slow a one is ended."""
        try:
            return process.communicate((given or "").encode(errors="replace"), _SECONDS)
        except TimeoutExpired:
            process.kill()
            return process.communicate()


class _Main:
    """The commits of the main branch since a moment (None: all), by hash, the newest first.

    `picked`: commit → its copy.
    """

    def __init__(self, checkout: _Checkout, since: float | None) -> None:
        self.checkout = checkout
        since_when = [f"--since=@{max(0, int(since))}"] if since else []
        self.options = ["--date-order", *since_when]
        log = checkout.log(*self.options, *checkout.tips)
        self.commits = {one.hash: one for one in log}
        self.picked: dict[str, str] = {}
        self._requests: dict[str, str] = {}
        self._reverted: dict[str, str] = {}
        for one in self.commits.values():
            if found := _PULL_REQUEST.match(one.subject):
                self._requests[one.hash] = f"{checkout.name}#{found[1] or found[2]}"
            self.picked |= dict.fromkeys(_PICKED.findall(one.body), one.hash)
        self._by_request = {name: commit for commit, name in self._requests.items()}
        self._merges = self._merges_of_side_commits()
        for one in self.commits.values():
            if not self.revert_of(one.hash):  # a reverted revert takes nothing back
                for commit, name, number in _REVERTED.findall(one.body):
                    key = self._whole(commit) if commit else f"{name or checkout.name}#{number}"
                    self._reverted[key.lower()] = one.hash

    def _whole(self, commit: str) -> str:
        is_short = len(commit) < 40
        return next((one for one in self.commits if is_short and one.startswith(commit)), commit)

    def _merges_of_side_commits(self) -> dict[str, str]:
        """Return the merge that brought each commit off the first parents, the oldest of them."""
        first = next(iter(self.commits), "")
        trunk: set[str] = set()
        while first in self.commits and first not in trunk:
            trunk.add(first)
            first = next(iter(self.commits[first].parents), "")
        merges: dict[str, str] = {}
        for merge in reversed([*self.commits.values()]):
            waiting = [*merge.parents[1:]]
            while waiting:
                one = waiting.pop()
                if one in self.commits and one not in trunk and one not in merges:
                    merges[one] = merge.hash
                    waiting += self.commits[one].parents
        return merges

    def _brought_by(self, commit: str) -> Iterator[str]:
        """Yield a commit and the merges that brought it to the main branch."""
        while commit:
            yield commit
            commit = self._merges.get(commit, "")

    def request_of(self, commit: str) -> str | None:
        """Return the pull request that brought a commit of the main branch."""
        return next(filter(None, map(self._requests.get, self._brought_by(commit))), None)

    def revert_of(self, commit: str) -> str | None:
        """Return the commit that took a commit back, or its merge, or its pull request."""
        chain = [*self._brought_by(commit)]
        keys = (*chain, *(self._requests.get(one, "").lower() for one in chain))
        return next(filter(None, map(self._reverted.get, keys)), None)

    def landed(self, commit: str, reason: str) -> _Fate:
        """Return the fate of a change that is on the main branch as this commit."""
        if by := self.revert_of(commit):
            return _Fate(Landed.ABANDONED, f"reverted by {by[:9]}", commit)
        return _Fate(Landed.LANDED, reason, commit)

    def of_pull_request(self, name: str) -> _Fate:
        if at := self._by_request.get(self.checkout.name + "#" + name.rpartition("#")[2]):
            return self.landed(at, f"{name} is {at[:9]} on {self.checkout.branch}")
        return _Fate(
            Landed.UNKNOWN,
            f"{name} is not on {self.checkout.branch}; whether it is open, the checkout lacks",
        )


class _Side:
    """The commits of runs that are not on the main branch, and what has the same patch.

    `_ids`: commit → id of its patch; None if the checkout lacks files to make patches of. `_same`:
    id → commit of the main branch. `_squashed`: commit → the commit of the main branch with all
    changes of its branch. `_copies`: commit on no branch → one with its patch on a branch.
    """

    def __init__(
        self,
        checkout: _Checkout,
        main: _Main,
        runs: Sequence[RunChanges],
        known: Mapping[str, _Commit],
    ) -> None:
        self._checkout, self._main = checkout, main
        self._branches = checkout.sources("--branches", "--remotes")
        self._others = checkout.sources("--all")
        own = {known[one].hash for run in runs for one in run.commits if one in known}
        away = own - {*main.commits}
        lost = away - {*self._branches, *self._others}
        self._older = {*filter(checkout.is_ancestor, lost)}
        self._patches = {run.run_id: checkout.patch_id(run.patch) for run in runs if run.patch}
        self._same: dict[str, str] = {}
        self._squashed: dict[str, str] = {}
        self._copies: dict[str, str] = {}
        away, lost = away - self._older, lost - self._older
        compared = away | {*filter(main.revert_of, own)}
        self._ids = checkout.patch_ids(given=compared)
        if not (compared or self._patches) or self._ids is None:
            return
        theirs = checkout.patch_ids(*main.options, *checkout.tips)
        if theirs is None:
            self._ids = None
            return
        for commit, patch in theirs.items():
            if patch not in self._same or main.revert_of(self._same[patch]):
                self._same[patch] = commit
        beside = checkout.patch_ids(*main.options, *_WORK, "--not", *checkout.tips) if lost else {}
        copies = {patch: commit for commit, patch in (beside or {}).items()}
        self._copies = {one: found for one in lost if (found := copies.get(self._ids.get(one, "")))}
        made = ([known[one] for one in run.commits if one in known] for run in runs)
        ends = {max(commits, key=lambda one: one.at).hash for commits in made if commits}
        held = {*away, *self._copies.values()} & {*self._branches}
        tips = ends & away | {self._branches[one] for one in held}
        wholes = checkout.whole_patch_ids(tips)
        for tip, patch in (wholes or {}).items():
            if at := self._same.get(patch):
                self._squashed |= dict.fromkeys(checkout.sources(tip), at)
        if beside is None or wholes is None:
            self._ids = None

    def of_commit(self, commit: str, found: _Commit | None) -> _Fate:
        """Return what became of a commit of a run."""
        if found is None:
            return _Fate(Landed.UNKNOWN, f"{commit[:9]} is not in the checkout")
        if landed := [*self._as_landed(found)]:
            return min(landed, key=lambda fate: _STATES.index(fate.state))
        branch, name, short = self._checkout.branch, found.hash, found.hash[:9]
        if self._ids is None:
            why = "the checkout lacks files to compare its patch"
            return _Fate(Landed.UNKNOWN, f"{short} is not on {branch}, and {why}")
        copy = self._copies.get(name, name)
        if ref := self._branches.get(copy):
            ref = ref.removeprefix("refs/").removeprefix("heads/").removeprefix("remotes/")
            of = "" if copy == name else f" as {copy[:9]}"
            return _Fate(Landed.OPEN, f"{short} is on {ref}{of}")
        if ref := self._others.get(name):
            return _Fate(Landed.UNKNOWN, f"{short} is only in {ref.removeprefix('refs/')}")
        if at := self._checkout.changed_since(found):
            why = f"{at[:9]} on {branch} changed its files since"
            return _Fate(Landed.UNKNOWN, f"{short} is on no branch, and {why}")
        return _Fate(Landed.ABANDONED, f"{short} is on no branch")

    def _as_landed(self, found: _Commit) -> Iterator[_Fate]:
        """Yield the ways in which a commit came to the main branch, reverted or not."""
        branch, main = self._checkout.branch, self._main
        name, short = found.hash, found.hash[:9]
        if name in self._older:
            main.commits[name] = found
        if name in main.commits:
            yield main.landed(name, f"{short} is on {branch}")
        if at := main.picked.get(name):
            yield main.landed(at, f"{short} was picked as {at[:9]} on {branch}")
        if at := self._same.get((self._ids or {}).get(name, "")):
            yield main.landed(at, f"{at[:9]} on {branch} has the patch of {short}")
        if at := self._squashed.get(self._copies.get(name, name)):
            yield main.landed(at, f"{at[:9]} on {branch} has the changes of its whole branch")

    def of_patch(self, run: RunChanges) -> _Fate:
        if at := self._same.get(self._patches[run.run_id]):
            return self._main.landed(at, f"{at[:9]} on {self._checkout.branch} has its patch")
        return _Fate(Landed.UNKNOWN, f"no commit of {self._checkout.branch} has its patch")
