"""What became of runs' changes in a repository, read from a checkout by git.

Nothing of the repository runs: neither hooks nor filters, drivers or programs of its settings.
Nothing is guessed: what the checkout does not show is unknown.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePath

from ingest.store.ingests import whoami
from schemas.errors import UsageError
from schemas.rows.landing import Landed, LandingRow

_GIT = (
    *("git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "log.showSignature=false", "-c", "core.quotePath=true"),
)
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_PATCHES = ("-p", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--full-index")
_DAY = timedelta(days=1)
_SECONDS = 600
_MOST_SQUASHED = 200
"""Branches and runs whose whole change is compared with the commits of the main branch."""

_PULL_REQUEST = re.compile(r"Merge pull request #(\d+) from |.*\(#(\d+)\)$")
"""The subjects that GitHub gives to a merged, and to a squashed or rebased pull request."""
_REVERTED = re.compile(r"This reverts commit ([0-9a-f]{7,40})|^Reverts (?:[\w.-]+/[\w.-]+)?#(\d+)")
_CHECKPOINT = re.compile(r"^Entire-Checkpoint: *([0-9a-f]{12})$", re.MULTILINE)
_CHECKPOINTS = tuple(f"refs/{place}/entire/checkpoints/v1" for place in ("heads", "remotes/origin"))
_OF_SESSION = re.compile(r':(\w{2})/(\w{10})/\S*:\s*"session_id": *"([^"]+)"')
"""Entire keeps the checkpoints of sessions on a branch, and their ids in messages of commits:
https://docs.entire.io
"""
_PICKED = re.compile(r"\(cherry picked from commit ([0-9a-f]{40})\)")


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
class Reading:
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
    path: Path, runs: Sequence[RunChanges], branch: str = "", ticket: re.Pattern[str] | None = None
) -> Reading:
    """Return what became of the changes of the runs that worked in a checkout.

    `branch`: the main branch, by default that of the remote. `ticket`: looked for in a run's
    branch, its title and the messages of its landed commits. Raises UsageError if the folder is no
    checkout, or has no such branch.
    """
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
    main = _Main(checkout, began - _DAY if began else None)
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
        requests = {main.requests[one.hash] for one in landed if one.hash in main.requests}
        texts = (run.branch, run.title, *(f"{one.subject}\n{one.body}" for one in landed))
        found = (ticket.search(text) for text in texts if text) if ticket else ()
        rows.append(
            LandingRow(
                run_id=run.run_id,
                state=best.state,
                reason=best.reason,
                commits=tuple(run.commits),
                changes=tuple(sorted({main.requests.get(one.hash, one.hash) for one in landed})),
                landed_at=max((one.at for one in landed), default=None),
                pull_request=", ".join(sorted(requests | {*run.pull_requests})) or None,
                ticket=next((match[0] for match in found if match), None),
                repository=checkout.name,
                branch=checkout.branch,
                read_at=read_at,
                read_by=who,
            )
        )
    single = [one for one in main.commits.values() if len(one.parents) < 2]
    by_runs = sum(one.hash in landed_by_runs for one in single)
    return Reading(checkout.name, checkout.branch, rows, len(single), by_runs, checkout.is_shallow)


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
        url = (self._run("config", "--get", "remote.origin.url") or "").strip()
        parts = re.split(r"[/:]", url.rstrip("/").removesuffix(".git"))
        folder = Path(store.strip().removesuffix("/.git")).name.removesuffix(".git")
        self.name = "/".join(parts[-2:]) if len(parts) > 2 else parts[-1] or folder
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
        head = self._run("symbolic-ref", "--short", "--quiet", "refs/remotes/origin/HEAD")
        if head:
            return head.strip().removeprefix("origin/")
        for name in ("main", "master"):
            for ref in (f"refs/heads/{name}", f"refs/remotes/origin/{name}"):
                if self._run("rev-parse", "--verify", "--quiet", ref):
                    return name
        return (self._run("symbolic-ref", "--short", "--quiet", "HEAD") or "main").strip()

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
            begin and end and begin - _DAY <= known[commit].at <= end + _DAY
            for commit in run.commits
            if commit in known
        ) or any(map(self.owns, run.pull_requests))

    def owns(self, pull_request: str) -> bool:
        return pull_request.rpartition("#")[0].lower() == self.name.lower()

    def resolved(self, hashes: Iterable[str]) -> dict[str, _Commit]:
        """Return the commits that hashes name, by those hashes."""
        asked = sorted(one for one in hashes if re.fullmatch("[0-9a-f]{7,40}", one))
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
            for checkpoint in _CHECKPOINT.findall(one.body):
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
        text = self._run("log", "-z", "--format=%H%n%P%n%ct%n%s%n%b", *words, *more, given=stdin)
        for record in filter(None, (text or "").split("\0")):
            name, parents, at, subject, body = (*record.split("\n", 4), "")[:5]
            moment = datetime.fromtimestamp(int(at), UTC)
            yield _Commit(name, parents.split(), moment, subject, body)

    def sources(self, *refs: str) -> dict[str, str]:
        """Return the commits of refs that are not on the main branch, each with one of the refs."""
        text = self._run("log", "--format=%H %S", *refs, "--not", *self.tips) or ""
        return dict(line.split(" ", 1) for line in text.splitlines())

    def is_ancestor(self, commit: str) -> bool:
        return any(
            self._run("merge-base", "--is-ancestor", commit, tip) is not None for tip in self.tips
        )

    def patch_ids(self, *words: str, given: Iterable[str] | None = None) -> dict[str, str]:
        """Return the id of each commit's patch by commit (`git patch-id`); merges have none."""
        stdin = None if given is None else "".join(f"{one}\n" for one in given)
        if stdin == "":
            return {}
        more = () if stdin is None else ("--no-walk=unsorted", "--stdin")
        patches = self._bytes("log", *_PATCHES, "--no-merges", *words, *more, given=stdin)
        return {commit: patch for patch, commit in self._ids(patches or b"")}

    def whole_patch_id(self, commit: str) -> str:
        """Return the id of everything that a commit's branch changed since it left the main one."""
        base = self._run("merge-base", self.tips[-1], commit)
        if not base:
            return ""
        patch = self._bytes("diff", *_PATCHES, base.strip(), commit)
        return next((found for found, _ in self._ids(patch or b"")), "")

    def patch_id(self, patch: str) -> str:
        return next((found for found, _ in self._ids(patch.encode(errors="replace"))), "")

    def _ids(self, patches: bytes) -> Iterator[tuple[str, str]]:
        lines = self._bytes("patch-id", "--stable", given=patches) or b""
        for line in lines.decode().splitlines():
            patch, _, commit = line.partition(" ")
            yield patch, commit

    def _run(self, *words: str, given: str | None = None) -> str | None:
        done = self._bytes(*words, given=given)
        return None if done is None else done.decode(errors="replace")

    def _bytes(self, *words: str, given: str | bytes | None = None) -> bytes | None:
        """Return what git prints; None if it fails."""
        try:
            done = subprocess.run(  # noqa: S603  git with our words and hashes
                [*_GIT, "-C", str(self._path), *words],
                input=given.encode() if isinstance(given, str) else given or b"",
                capture_output=True,
                env=os.environ | _ENVIRONMENT,
                timeout=_SECONDS,
                check=False,
            )
        except FileNotFoundError:
            raise UsageError("there is no git on this machine.", "Install git.") from None
        except subprocess.TimeoutExpired:
            return None
        return None if done.returncode else done.stdout


@dataclass
class _Main:
    """The commits of the main branch since a moment (None: all), by hash, the newest first.

    `requests`: commit → its pull request. `reverted`: commit → what reverted it. `worded`: line of
    a message → its commit; a squash lists the subjects of what it holds.
    """

    checkout: _Checkout
    since: datetime | None
    commits: dict[str, _Commit] = field(init=False)
    requests: dict[str, str] = field(default_factory=dict)
    reverted: dict[str, str] = field(default_factory=dict)
    picked: dict[str, str] = field(default_factory=dict)
    worded: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.options = [f"--since={self.since:%s}"] if self.since else []
        log = self.checkout.log(*self.options, *self.checkout.tips)
        self.commits = {one.hash: one for one in log}
        merged = {}
        for one in self.commits.values():
            if found := _PULL_REQUEST.match(one.subject):
                merged[one.hash] = f"{self.checkout.name}#{found[1] or found[2]}"
            if one.hash not in self.reverted:  # a reverted revert takes nothing back
                for commit, number in _REVERTED.findall(one.body):
                    self.reverted[commit or f"#{number}"] = one.hash
            self.picked |= dict.fromkeys(_PICKED.findall(one.body), one.hash)
            lines = (line.lstrip("* ") for line in (one.subject, *one.body.split("\n")))
            self.worded |= dict.fromkeys(lines, one.hash)
        self._by_request = {name.rpartition("#")[2]: commit for commit, name in merged.items()}
        self._claim(merged)

    def _claim(self, merged: Mapping[str, str]) -> None:
        """Give the commits that a merge brought its pull request, the oldest merge first."""
        first = next(iter(self.commits), "")
        trunk: set[str] = set()
        while first in self.commits and first not in trunk:
            trunk.add(first)
            first = next(iter(self.commits[first].parents), "")
        self.requests |= merged
        for name in reversed([*merged]):
            waiting = [*self.commits[name].parents[1:]]
            while waiting:
                one = waiting.pop()
                if one in self.commits and one not in trunk and one not in self.requests:
                    self.requests[one] = merged[name]
                    waiting += self.commits[one].parents

    def landed(self, commit: str, reason: str) -> _Fate:
        """Return the fate of a change that is on the main branch as this commit."""
        number = self.requests.get(commit, "#").rpartition("#")[2]
        by = next(
            (by for key, by in self.reverted.items() if commit.startswith(key)),
            self.reverted.get(f"#{number}"),
        )
        if by:
            return _Fate(Landed.ABANDONED, f"reverted by {by[:9]}", commit)
        return _Fate(Landed.LANDED, reason, commit)

    def of_pull_request(self, name: str) -> _Fate:
        if at := self._by_request.get(name.rpartition("#")[2]):
            return self.landed(at, f"{name} is {at[:9]} on {self.checkout.branch}")
        return _Fate(
            Landed.UNKNOWN,
            f"{name} is not on {self.checkout.branch}; whether it is open, the checkout lacks",
        )


class _Side:
    """The commits that are not on the main branch, and what on it has the same patch."""

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
        away = {
            found.hash
            for run in runs
            for commit in run.commits
            if (found := known.get(commit)) and found.hash not in main.commits
        }
        self._older = {
            one
            for one in away
            if one not in self._branches and one not in self._others and checkout.is_ancestor(one)
        }
        away -= self._older
        self._patches = {run.run_id: checkout.patch_id(run.patch) for run in runs if run.patch}
        self._same: dict[str, str] = {}
        if not (away or self._patches):
            return
        theirs = checkout.patch_ids(*main.options, *checkout.tips)
        self._same = {patch: commit for commit, patch in theirs.items()}
        self._ids = checkout.patch_ids(given=away)
        ends = dict.fromkeys(
            known[run.commits[-1]].hash
            for run in runs
            if run.commits and run.commits[-1] in known and known[run.commits[-1]].hash in away
        )
        wholes = dict.fromkeys([*ends, *self._tips(away)])
        self._squashed: dict[str, str] = {}
        for tip in [*wholes][:_MOST_SQUASHED]:
            if at := self._same.get(checkout.whole_patch_id(tip)):
                self._squashed |= dict.fromkeys(self._behind(tip), at)

    def _tips(self, away: Iterable[str]) -> Iterator[str]:
        """Yield the branches that hold commits of runs."""
        refs = {self._branches[one] for one in away if one in self._branches}
        yield from sorted(refs)

    def _behind(self, tip: str) -> Iterator[str]:
        text = self._checkout.sources(tip)
        yield from text

    def of_commit(self, commit: str, found: _Commit | None) -> _Fate:
        """Return what became of a commit of a run."""
        branch, main = self._checkout.branch, self._main
        if found is None:
            return _Fate(Landed.UNKNOWN, f"{commit[:9]} is not in the checkout")
        name, short = found.hash, found.hash[:9]
        if name in main.commits:
            return main.landed(name, f"{short} is on {branch}")
        if name in self._older:
            main.commits[name] = found
            return main.landed(name, f"{short} is on {branch}")
        if at := main.picked.get(name):
            return main.landed(at, f"{short} was picked as {at[:9]} on {branch}")
        if at := self._same.get(self._ids.get(name, "")):
            return main.landed(at, f"{at[:9]} on {branch} has the patch of {short}")
        if at := self._squashed.get(name):
            return main.landed(at, f"{at[:9]} on {branch} has the changes of its whole branch")
        if ref := self._branches.get(name):
            ref = ref.removeprefix("refs/").removeprefix("heads/").removeprefix("remotes/")
            return _Fate(Landed.OPEN, f"{short} is on {ref}")
        if ref := self._others.get(name):
            return _Fate(Landed.UNKNOWN, f"{short} is only in {ref.removeprefix('refs/')}")
        if at := main.worded.get(found.subject):
            return _Fate(
                Landed.UNKNOWN, f"{short} is on no branch; {at[:9]} on {branch} has its message"
            )
        return _Fate(Landed.ABANDONED, f"{short} is on no branch")

    def of_patch(self, run: RunChanges) -> _Fate:
        if at := self._same.get(self._patches[run.run_id]):
            return self._main.landed(at, f"{at[:9]} on {self._checkout.branch} has its patch")
        return _Fate(Landed.UNKNOWN, f"no commit of {self._checkout.branch} has its patch")
