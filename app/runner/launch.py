"""One run from its start to its folder, and the several runs of one command.

Failures to record are reported and never change how a run ends.

A run's folder has its standard output, its patch, and the sidecar that says how it was started and
how it ended. Readers of logs are imported after the agent has ended, which makes its start three
times as fast.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shlex
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import chain, product
from pathlib import Path
from typing import NamedTuple

from app.runner.changes import Repository, repository_at
from app.runner.limits import Limits, Watch, plain_usd, with_own_options
from app.runner.process import NotStarted, Running, pass_through
from ingest.system.files import temporary_folder
from ingest.system.secrets import HIDDEN, is_secret, scrubbed_text, scrubbed_words
from ingest.system.signals import put_off
from schemas.agents import Agent, agent_of_program
from schemas.catalogue.figures import BRANCH, PULL_REQUEST
from schemas.errors import RejectReason, TachographError, UsageError
from schemas.rows.run import Outcome, RecordKind
from schemas.text import paired, plural
from schemas.wire.launch import (
    COMMIT_AFTER,
    ENDED_BY,
    EXIT_CODE,
    LAUNCH_FILE,
    MAX_USD,
    OUTPUT_FILE,
    PATCH_FILE,
    RUN_FILE,
    Launch,
    outcome_of_process,
)

REPEAT, EXPERIMENT = "repeat", "experiment"
"""Labels of the runs of an experiment, besides those of the matrix."""

PRIVATE = 0o600


@dataclass(frozen=True)
class LaunchOrder:
    """A command to run. `keep`: the parent folder of the runs' folders.

    `is_ours`: files of the store, which are no changes of the run.
    """

    command: Sequence[str]
    labels: Mapping[str, str]
    keep: Path
    limits: Limits
    is_ours: Callable[[Path], bool]


@dataclass(frozen=True)
class Recorded:
    """A run that has ended. `notes`: sentences about failures and deviations."""

    folder: Path
    exit_code: int
    launch: Launch
    notes: Sequence[str] = ()
    signalled: bool = False


class MatrixCell(NamedTuple):
    """One run of a matrix.

    `labels`: the value of each axis, and the number of the repetition if there are several.
    """

    command: tuple[str, ...]
    labels: dict[str, str]


def parse_axes(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Parse `model=a,b` as an axis and its values. Raises UsageError."""
    axes: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, _, listed = (part.strip() for part in text.partition("="))
        values = tuple(dict.fromkeys(filter(None, (value.strip() for value in listed.split(",")))))
        if not name or not values:
            raise UsageError(
                f"a matrix is written name=value,value, not {text!r}.",
                "For example: --matrix model=opus,sonnet.",
            )
        if name in axes or name in (REPEAT, EXPERIMENT):
            raise UsageError(
                f"--matrix {name} is taken.",
                "Name each axis once, and none of them repeat or experiment.",
            )
        axes[name] = values
    return axes


def cells(
    command: Sequence[str], axes: Mapping[str, Sequence[str]], repeats: int
) -> Iterator[MatrixCell]:
    """Yield the runs.

    Each combination comes once before any repeats, so that a slow hour affects all alike. Raises
    UsageError.
    """
    for name in axes:
        if not any(f"{{{name}}}" in word for word in command):
            raise UsageError(
                f"the command does not use --matrix {name}.",
                f"Write {{{name}}} where its value belongs.",
            )
    for repeat in range(1, repeats + 1):
        for values in product(*axes.values()):
            words = list(command)
            labels = {}
            for name, value in zip(axes, values, strict=True):
                words = [
                    word.replace(f"{{{name}}}", value) for word in words
                ]  # other braces are the command's own, as in JSON
                labels[name] = HIDDEN if is_secret(name, value) else scrubbed_text(value)
            yield MatrixCell(tuple(words), labels | ({REPEAT: str(repeat)} if repeats > 1 else {}))


def usual_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the default folder for runs, by the XDG Base Directory Specification."""
    named = Path(environment.get("XDG_DATA_HOME") or "")
    return (
        (named if named.is_absolute() else Path.home() / ".local" / "share") / "tachograph" / "runs"
    )


@dataclass
class _Run:
    """A run in progress with the facts for its record.

    `sessions`: sizes of the agent's session files before the run.
    """

    order: LaunchOrder
    folder: Path
    cwd: Path
    agent: Agent | None
    sessions: Mapping[Path, int]
    notes: list[str] = field(default_factory=list)

    @property
    def output(self) -> Path:
        return self.folder / OUTPUT_FILE


def launch(order: LaunchOrder) -> Recorded:
    """Run the command to its end and record it.

    Raises UsageError before the start if nothing could be recorded.
    """
    folder = (
        order.keep.absolute() / f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%SZ}-{secrets.token_hex(3)}"
    )
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise UsageError(
            f"cannot make {folder}: {error.strerror}.", "Choose another folder with --keep."
        ) from error
    try:
        cwd = Path(os.getcwd())  # noqa: PTH109
    except OSError as error:
        raise UsageError(
            f"the current folder cannot be used: {error.strerror}.", "Change to another folder."
        ) from error
    agent = agent_of_program(order.command[0])
    run = _Run(order, folder, cwd, agent, _sessions_of(agent))
    limited = with_own_options(order.command, agent.program if agent else None, order.limits)
    run.notes += limited.notes
    watch = Watch(limited.watched, lambda: [run.output])
    with ExitStack() as stack:
        repository = None
        keep = order.keep.absolute()
        try:
            repository = stack.enter_context(
                repository_at(cwd, lambda path: path.is_relative_to(keep) or order.is_ours(path))
            )
        except OSError as error:
            run.notes.append(f"the patch is unknown: {error.strerror}")
        started_at, started = datetime.now(UTC), time.monotonic()
        try:
            with ExitStack() as watched:
                running = pass_through(
                    limited.command,
                    run.output,
                    lambda one: watched.enter_context(watch.over(one.process.pid)),
                )
                ended_at, seconds = datetime.now(UTC), time.monotonic() - started
        except NotStarted as error:  # nothing ran: nothing is kept
            run.output.unlink(missing_ok=True)
            folder.rmdir()
            return Recorded(folder, error.exit_code, Launch(), (error.message,))
        name = agent.key if agent else Path(limited.command[0]).name
        facts = {
            "agent": name,
            "command": scrubbed_words(limited.command),
            "cwd": str(cwd),
            "host": socket.gethostname(),
        }
        made = Launch(
            tachograph_launch=folder.name,
            version=version("tachograph"),
            started_at=started_at.isoformat(),
            ended_at=ended_at.isoformat(),
            duration_s=round(seconds, 3),
            exit_code=running.exit_code,
            **paired(facts),
        )
        ended = Recorded(folder, running.exit_code, made, signalled=running.signalled is not None)
        try:
            with put_off():
                ended = _recorded(run, ended, running, watch, repository)
        except KeyboardInterrupt:  # which came meanwhile, and was put off
            return replace(ended, signalled=True)
        except (
            Exception
        ) as error:  # the agent has ended: its exit code stays, and what is in the folder
            return replace(ended, notes=(*run.notes, f"not recorded as a whole: {error}"))
    return ended


def _of_job(environment: Mapping[str, str]) -> dict[str, str]:
    """Return labels with branch and pull request of a job of GitHub Actions.

    Its checkout of a pull request is on no branch.
    """
    kind, _, rest = environment.get("GITHUB_REF", "").removeprefix("refs/").partition("/")
    if environment.get("GITHUB_ACTIONS") != "true" or kind not in ("pull", "heads"):
        return {}
    if kind == "heads":
        return {BRANCH: rest}
    repository, number = environment.get("GITHUB_REPOSITORY", ""), rest.partition("/")[0]
    return {
        BRANCH: environment.get("GITHUB_HEAD_REF", ""),
        PULL_REQUEST: f"{repository}#{number}",
    }


def _recorded(
    run: _Run, ended: Recorded, running: Running, watch: Watch, repository: Repository | None
) -> Recorded:
    """Write the folder of a run that has ended.

    Patch, sidecar and, without a record of the agent, a record of the run.
    """
    git = repository.changed(run.folder / PATCH_FILE) if repository else None
    if repository and repository.problem:
        run.notes.append(f"the patch is unknown: {repository.problem}")
    ended_by = watch.reached or (running.signalled.name if running.signalled else None)
    of_end = {
        ENDED_BY: ended_by,
        EXIT_CODE: str(ended.exit_code) if ended.exit_code else None,
        COMMIT_AFTER: git.after if git and git.after != git.before else None,
    }
    labels = {
        **_of_job(os.environ),
        **run.order.labels,
        "host": str(ended.launch.host),
        **{name: value for name, value in of_end.items() if value},
    }
    facts = {
        "git": git,
        "ended_by": ended_by,
        "labels": labels,
        "records": _records(run, ended.launch.command or ()),
    }
    made = ended.launch.model_copy(update=facts)
    try:
        written = {LAUNCH_FILE: made.model_dump_json(indent=2, exclude_none=True)}
        if not made.records:
            written[RUN_FILE] = _run_without_record(made)
        for name, text in written.items():
            (run.folder / name).touch(PRIVATE)
            (run.folder / name).write_text(f"{text}\n", encoding="utf-8")
    except (OSError, TachographError) as error:
        run.notes.append(f"the sidecar could not be written: {error}")
    if watch.reached:
        run.notes.append(f"ended by a signal: --{watch.reached} was reached")
    elif watch.limits.usd and watch.is_overspent(
        [run.folder / name for name in made.records or ()]
    ):
        why = (
            "its output told that only at its end"
            if watch.cost_unknown
            else "it ended before its cost was looked at again"
        )
        run.notes.append(f"its cost went over --{MAX_USD} {plain_usd(watch.limits.usd)}: {why}")
    elif watch.cost_unknown:
        run.notes.append(
            f"--{MAX_USD} could not be watched: the standard output did not tell a cost "
            "while it ran"
        )
    if running.unrecorded:
        run.notes.append(f"the log is not whole: {running.unrecorded}")
    return replace(ended, launch=made, notes=tuple(run.notes))


def _records(run: _Run, command: Sequence[str]) -> list[str]:
    """Return the files with records: the standard output, else copies of transcripts.

    Without any, report how to get one.
    """
    try:
        runs, is_cut = _content_of(run.output)
        if runs and not is_cut:
            return [OUTPUT_FILE]
        copies = []
        for path in _written_since(run):  # beside the sidecar, whose facts hold for them there
            copy = run.folder / path.name
            copy.touch(PRIVATE)
            shutil.copyfile(path, copy)
            shutil.copystat(path, copy)
            copy.chmod(PRIVATE)
            copies.append(copy)
        found = [copy.name for copy in copies if _content_of(copy)[0]]
    except (OSError, TachographError) as error:
        run.notes.append(f"the log could not be looked into: {error}")
        return []
    agent = run.agent
    if agent and found:
        detail = f"read {plural(len(found), 'transcript')} of {agent.label} from its home"
    elif is_cut or (
        agent and "stream-json" in " ".join(command)
    ):  # it was asked for its events and not for a record alone
        detail = (
            "the event stream ended without its result event; cost and tokens are lower bounds, "
            "or unknown"
        )
    else:
        option = agent.program.record_option if agent and agent.program else ""
        hint = (
            f". {agent.label} writes one with: {option}"
            if agent and not set(option.split()) <= set(command)
            else ""
        )
        detail = f"cost and tokens are unknown{hint}"
    run.notes.append(f"no record on standard output: {detail}")
    return [*([OUTPUT_FILE] if runs else []), *found]


def _content_of(path: Path) -> tuple[int, bool]:
    """Return the number of runs in a log, and whether it has events without a final result.

    Raises OSError.
    """
    import pyarrow.parquet as pq

    from ingest.reading.settings import Settings
    from ingest.reading.tasks import ReadingTask, work
    from ingest.sources.files import Source
    from ingest.sources.walking import read_paths

    sources = tuple(source for source in read_paths([path]) if isinstance(source, Source))
    with tempfile.TemporaryDirectory(dir=temporary_folder()) as spool:
        results = list(work(ReadingTask("found", sources), Settings(), Path(spool)))
        ends = [
            pq.read_table(file, columns=["record_kind", "outcome"]).to_pylist()
            for file in Path(spool).glob("runs-*.parquet")
        ]
    is_cut = any(
        reject.reason == RejectReason.NO_RECORD for result in results for reject in result.rejects
    )
    is_cut |= {
        "record_kind": RecordKind.STREAM,
        "outcome": Outcome.INTERRUPTED,
    } in chain.from_iterable(ends)
    return sum(result.records for result in results), is_cut


def _run_without_record(launch: Launch) -> str:
    """Return the facts known without a record: agent and command, duration, and outcome."""
    from ingest.agents.distilled import distilled

    outcome = outcome_of_process(launch.agent, launch.exit_code or 0, launch.ended_by)
    return distilled(
        {
            "run_id": hashlib.sha256(
                str(launch.tachograph_launch).encode()
            ).hexdigest(),  # no two begin with the same date
            "agent": launch.agent,
            "record_kind": RecordKind.SIDECAR,
            "rank": 0,
            "title": shlex.join(launch.command or []) or None,
            "duration_ms": round((launch.duration_s or 0) * 1000),
            "outcome": outcome,
            "is_error": outcome is Outcome.EXECUTION_ERROR,
            "ended_as": launch.ended_by or f"exit code {launch.exit_code}",
        }
    ).as_json()


def _sessions_of(agent: Agent | None) -> dict[Path, int]:
    """Return the session files of an agent on this machine → their sizes.

    None if the agent's folder is unknown.
    """
    sizes = {}
    for folder in agent.home.folders(os.environ) if agent and agent.home else ():
        for path in folder.rglob("*"):
            if path.suffix in (".jsonl", ".json", ".zst"):
                with suppress(OSError):
                    sizes[path] = path.stat().st_size
    return sizes


def _written_since(run: _Run) -> list[Path]:
    """Return session files begun during the run that name its folder, else files that have grown.

    Oldest name first.

    Other sessions may be active during the run, mostly in other folders.
    """
    now = _sessions_of(run.agent)
    named = json.dumps(str(run.cwd), ensure_ascii=False).encode(errors="surrogateescape")

    def is_about(path: Path) -> bool:
        """Return whether the beginning of a file names the folder.

        Compressed files cannot be checked and count.
        """
        if path.suffix == ".zst":
            return True
        with suppress(OSError), path.open("rb") as file:
            return named in file.read(1 << 20)
        return False

    begun = [path for path in sorted(now) if path not in run.sessions and is_about(path)]
    return begun or [
        path
        for path in sorted(now)
        if path in run.sessions and now[path] > run.sessions[path] and is_about(path)
    ]
