"""One run from its start to its folder. What could not be recorded is told, and never changes how the run ends."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from app.runner import recording, sessions
from app.runner.limits import Limits, Watch, plain_usd, with_own_options
from app.runner.process import NotStarted, Running, pass_through
from app.runner.repository import Repository, repository_at
from ingest.system.secrets import scrubbed_words
from ingest.system.signals import put_off
from schemas.agents import Agent, agent_of_program
from schemas.errors import TachographError, UsageError
from schemas.text import paired, plural
from schemas.wire.launch import ENDED_BY, EXIT_CODE, MAX_USD, OUTPUT_FILE, PATCH_FILE, Launch, LaunchGit

HOST, COMMIT_AFTER = "host", "commit-after"
"""Labels of every run, and of one that made commits."""

_STREAM = "stream-json"
"""In the command of an agent that was asked for its events and not for a record alone."""


def current_folder() -> Path:
    """The folder that runs are started in. Raises UsageError where it was removed."""
    try:
        return Path(os.getcwd())  # noqa: PTH109
    except OSError as error:
        raise UsageError(f"the current folder cannot be used: {error.strerror}.", "Change to another folder.") from error


@dataclass(frozen=True)
class Order:
    """What to run. `keep`: the folder that gets a folder for each run. `is_ours`: files of the store, which are no changes of the run."""

    command: Sequence[str]
    labels: Mapping[str, str]
    keep: Path
    limits: Limits
    is_ours: Callable[[Path], bool]


@dataclass(frozen=True)
class Recorded:
    """A run that has ended. `told`: sentences about what could not be done as asked, or was done otherwise."""

    folder: Path
    exit_code: int
    launch: Launch
    told: Sequence[str] = ()
    signalled: bool = False


@dataclass
class _Run:
    """A run under way, with the facts that its record gets."""

    order: Order
    folder: Path
    agent: Agent | None
    cwd: Path = field(default_factory=current_folder)
    told: list[str] = field(default_factory=list)

    @property
    def output(self) -> Path:
        return self.folder / OUTPUT_FILE

    def is_ours(self, path: Path) -> bool:
        """Whether a file of the working tree belongs to the recording and not to the run."""
        return path.is_relative_to(self.order.keep.absolute()) or self.order.is_ours(path)


def launch(order: Order) -> Recorded:
    """Run the command to its end and record it. Raises UsageError before it is started, where nothing could be recorded."""
    run = _Run(order, recording.made_folder(order.keep), agent_of_program(order.command[0]))
    limited = with_own_options(order.command, run.agent.program if run.agent else None, order.limits)
    run.told += limited.told
    watch = Watch(limited.watched, lambda: [run.output])
    with ExitStack() as stack:
        repository = _repository(run, stack)
        before = sessions.sessions_of(run.agent)
        try:
            ran = _timed(limited.command, run.output, watch)
        except NotStarted as error:
            return _not_started(run, error)
        ended = Recorded(run.folder, ran.running.exit_code, _launch(run, limited.command, ran), signalled=ran.running.signalled is not None)
        try:
            with put_off():
                ended = _recorded(run, ended, ran, watch, repository, before)
        except KeyboardInterrupt:  # which came meanwhile, and was put off
            return replace(ended, signalled=True)
        except Exception as error:  # the agent has ended: its exit code stays, and what is in the folder
            return replace(ended, told=(*run.told, f"not recorded as a whole: {error}"))
    return ended


class _Ran(NamedTuple):
    """A command that has ended. `seconds`: by a clock that is never set."""

    running: Running
    started_at: datetime
    ended_at: datetime
    seconds: float


def _timed(command: Sequence[str], output: Path, watch: Watch) -> _Ran:
    with ExitStack() as watched:
        started_at, started = datetime.now(UTC), time.monotonic()
        running = pass_through(command, output, lambda one: watched.enter_context(watch.over(one.session)))
        return _Ran(running, started_at, datetime.now(UTC), time.monotonic() - started)


def _launch(run: _Run, command: Sequence[str], ran: _Ran) -> Launch:
    agent = run.agent.key if run.agent else Path(command[0]).name
    told = {"agent": agent, "command": scrubbed_words(command), "cwd": str(run.cwd), "host": socket.gethostname()}
    return Launch(
        tachograph_launch=run.folder.name,
        version=version("tachograph"),
        started_at=ran.started_at.isoformat(),
        ended_at=ran.ended_at.isoformat(),
        duration_s=round(ran.seconds, 3),
        exit_code=ran.running.exit_code,
        **paired(told),
    )


def _recorded(run: _Run, ended: Recorded, ran: _Ran, watch: Watch, repository: Repository | None, before: sessions.Sizes) -> Recorded:
    """Write the folder of a run that has ended."""
    git = repository.changed(run.folder / PATCH_FILE) if repository else None
    if repository and repository.problem:
        run.told.append(f"the patch is unknown: {repository.problem}")
    signal = ran.running.signalled
    ended_by = watch.reached or (signal.name if signal else None)
    labels = {**run.order.labels, HOST: str(ended.launch.host), **_labels_of_end(git, ended_by, ended.exit_code)}
    told = {"git": git, "ended_by": ended_by, "labels": labels, "records": _records(run, ended.launch.command or (), before)}
    written = ended.launch.model_copy(update=told)
    try:
        recording.write_sidecar(run.folder, written)
    except (OSError, TachographError) as error:
        run.told.append(f"the sidecar could not be written: {error}")
    _tell_limits(run, watch, ran.running, [run.folder / name for name in written.records or ()])
    return replace(ended, launch=written, told=tuple(run.told))


def _labels_of_end(git: LaunchGit | None, ended_by: str | None, exit_code: int) -> dict[str, str]:
    after = git.after if git and git.after != git.before else None
    labels = {ENDED_BY: ended_by, EXIT_CODE: str(exit_code) if exit_code else None, COMMIT_AFTER: after}
    return {name: value for name, value in labels.items() if value}


def _not_started(run: _Run, error: NotStarted) -> Recorded:
    """Nothing ran: nothing is kept."""
    run.output.unlink(missing_ok=True)
    run.folder.rmdir()
    return Recorded(run.folder, error.exit_code, Launch(), (error.message,))


def _repository(run: _Run, stack: ExitStack) -> Repository | None:
    try:
        return stack.enter_context(repository_at(run.cwd, run.is_ours))
    except OSError as error:
        run.told.append(f"the patch is unknown: {error.strerror}")
        return None


def _tell_limits(run: _Run, watch: Watch, running: Running, records: Sequence[Path]) -> None:
    if watch.reached:
        run.told.append(f"ended by a signal: --{watch.reached} was reached")
    elif watch.limits.usd and watch.is_overspent(records):
        run.told.append(f"its cost went over --{MAX_USD} {plain_usd(watch.limits.usd)}: its output told that only at its end")
    elif watch.cost_unknown:
        run.told.append(f"--{MAX_USD} could not be watched: the standard output did not tell a cost while it ran")
    if running.unrecorded:
        run.told.append(f"the log is not whole: {running.unrecorded}")


def _records(run: _Run, command: Sequence[str], before: sessions.Sizes) -> list[str]:
    """The files of the folder with records: the standard output, else copies of transcripts."""
    try:
        output = recording.content_of(run.output)
        if output.runs and not output.is_cut:
            return [OUTPUT_FILE]
        found = recording.copied(sessions.written_since(before, run.agent, run.cwd), run.folder)
    except (OSError, TachographError) as error:
        run.told.append(f"the log could not be looked into: {error}")
        return []
    run.told.append(_without_record(run.agent, command, len(found), is_cut=output.is_cut))
    return [*([OUTPUT_FILE] if output.runs else []), *(path.name for path in found)]


def _without_record(agent: Agent | None, command: Sequence[str], transcripts: int, *, is_cut: bool) -> str:
    """Why there is no record, and how to get one, unless the command asks for one already."""
    if agent and transcripts:
        return f"no record on standard output: read {plural(transcripts, 'transcript')} of {agent.label} from its home"
    if is_cut or (agent and _STREAM in " ".join(command)):
        return "no record on standard output: the event stream ended without its result event; cost and tokens are lower bounds, or unknown"
    option = agent.program.record_option if agent and agent.program else ""
    hint = f". {agent.label} writes one with: {option}" if agent and not set(option.split()) <= set(command) else ""
    return f"no record on standard output: cost and tokens are unknown{hint}"
