"""Every command that writes, struck at random moments.

By SIGKILL, and by SIGTERM and SIGINT, which it may answer.

A command is struck in a folder of its own. After a kill the store holds what it held before or what
the whole command makes of it, never anything between; the next call works and clears away what the
killed one left. After SIGTERM or SIGINT nothing is left from the start, and what the command says
about it is true.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.attack import logs, moments
from tests.attack.hashes import State, differences
from tests.attack.lab import Lab, Tally
from tests.attack.moments import Moment
from tests.forks import PATIENCE_SECONDS, Ended, Running

STORE = "runs.duckdb"
MOST_CHANGES = 10**9
ENDED_BY_SIGNAL = {signal.SIGINT: {0, 130}, signal.SIGTERM: {0, 130, 143}}
"""Exit codes that a signal may lead to; 0 where the command was quicker."""


@dataclass(frozen=True)
class Command:
    """A command that writes: `arguments` beside --db. `before`: a store made beforehand.

    `again`: what is called next, and succeeds.

    `again` is either the same ingest, which completes what was not done, or an ingest of known
    logs, which changes nothing. `rival` is a second command that writes to the same store at the
    same time, and is not struck.
    """

    name: str
    arguments: Sequence[str | Path]
    again: Sequence[str | Path]
    before: Path | None = None
    rival: Sequence[str | Path] = ()
    share: int = 2


@dataclass
class Undisturbed:
    """What a command does where nobody disturbs it.

    `outcomes`: the state of the store before it and after it (after its rival, where it has one).
    `changes`: how often the folder of the store changes meanwhile. `stays`: names that lie beside
    the store afterwards.
    """

    before: State
    outcomes: tuple[State, State]
    seconds: float
    changes: int
    stays: frozenset[str]


def commands(lab: Lab) -> Iterator[Command]:
    """All that write, each with logs and a store of its own."""
    room = lab.room("commands")
    few, more = (
        logs.write_logs(room / "few", "few"),
        logs.write_logs(room / "more", "more", chained=True),
    )
    prices, mended = room / "prices.toml", logs.write_logs(room / "mended", "mended")
    prices.write_text(logs.PRICES, encoding="utf-8")
    store, store_of_mended = room / "of-more" / STORE, room / "of-mended" / STORE
    for made, source in ((store, more), (store_of_mended, mended)):
        made.parent.mkdir()
        lab.forks.succeed(made.parent, *ingest(source), "--db", made)
    logs.mend(mended, "mended")
    known = ingest(mended / "mended.jsonl")
    yield Command("first ingest into no store", ingest(few), ingest(few))
    yield Command("ingest into a store", ingest(few), ingest(few), store)
    yield Command("rebuild", ["rebuild"], ingest(more), store)
    yield Command("reprice", ["reprice", "--prices", prices], ingest(more), store)
    yield Command(
        "ingest --retry-rejects",
        ["ingest", "--retry-rejects", "--jobs", "1"],
        known,
        store_of_mended,
    )
    yield Command(
        "one of two writers, no store", ingest(few), ingest(few), None, ingest(more), share=1
    )
    yield Command(
        "one of two writers, a store",
        ingest(few),
        ingest(few),
        store_of_mended,
        ingest(more),
        share=1,
    )


def ingest(source: Path) -> list[str | Path]:
    """An ingest in one process."""
    return ["ingest", source, "--jobs", "1"]


def attack(lab: Lab, kills: int) -> None:
    """Strike each command with SIGKILL, SIGTERM and SIGINT.

    SIGKILL strikes `kills` times in all; SIGTERM and SIGINT strike a twentieth as often each.
    """
    every = list(commands(lab))
    usual: dict[str, Undisturbed] = {}
    _strike_all(lab, every, usual, signal.SIGKILL, kills)
    for number in (signal.SIGTERM, signal.SIGINT):
        alone = [command for command in every if not command.rival]
        _strike_all(lab, alone, usual, number, kills // 20)


def _strike_all(
    lab: Lab,
    every: Sequence[Command],
    usual: dict[str, Undisturbed],
    number: signal.Signals,
    times: int,
) -> None:
    dealt = [command for turn in range(2) for command in every if turn < command.share]
    for command in every:
        share = sum(dealt[turn % len(dealt)] is command for turn in range(times))
        if share:
            if command.name not in usual:
                usual[command.name] = undisturbed(lab, command)
            _strike_one(lab, command, usual[command.name], number, share)


def _strike_one(
    lab: Lab, command: Command, usual: Undisturbed, number: signal.Signals, times: int
) -> None:
    after: Callable[[Blow, Undisturbed], None] = (
        _after_kill if number == signal.SIGKILL else _after_request
    )
    checked = KILL_CHECKED if number == signal.SIGKILL else REQUEST_CHECKED
    tally = lab.tally(f"{number.name}: {command.name}", checked)
    chance = lab.chance(f"{number.name} {command.name}")
    for _ in range(times):
        earliest = (
            0.0 if number == signal.SIGKILL else usual.seconds / 5
        )  # before it has begun, a command answers no signal
        moment = moments.chosen(chance, usual.seconds, usual.changes, earliest)
        strike(
            tally,
            Blow(lab, command, usual.stays, number, moment, is_same_again=chance.random() < 0.5),
            usual,
            after,
        )


KILL_CHECKED = (
    "hash of all columns as before or after; the next call ends at the hash of an undisturbed "
    "one and leaves nothing behind"
)
REQUEST_CHECKED = "clean at once; exit code; what is said of it is true by the hash of all columns"


@dataclass
class Blow:
    """One signal to one command at one moment, in a folder of its own, and how the command ended.

    `is_same_again`: what is called next is the struck command once more, in place of
    `Command.again`.
    """

    lab: Lab
    command: Command
    stays: frozenset[str]
    number: signal.Signals
    moment: Moment
    is_same_again: bool = False
    folder: Path = Path()
    ended: Ended | None = None

    @property
    def store(self) -> Path:
        """The store that the command writes to."""
        return self.folder / "of" / STORE

    def state(self) -> State:
        """What the store holds now."""
        return self.lab.hasher.state(self.store)

    def call(self, arguments: Sequence[str | Path]) -> Ended:
        """Another command on the same store, which must succeed."""
        return self.lab.forks.succeed(self.folder, *arguments, "--db", self.store)

    def start(self, arguments: Sequence[str | Path]) -> Running:
        """The same, to be waited for."""
        return self.lab.forks.start(self.folder, *arguments, "--db", self.store)

    def left_over(self) -> list[str]:
        """Names beside the store and in the temporary folder that no undisturbed command leaves.

        The write-ahead log is the store's.
        """
        beside = (
            {path.name for path in self.store.parent.iterdir()}
            - {STORE, f"{STORE}.wal"}
            - self.stays
        )
        return sorted(beside | {f"tmp/{path.name}" for path in (self.folder / "tmp").iterdir()})


def undisturbed(lab: Lab, command: Command) -> Undisturbed:
    """Run the command without disturbing it."""
    blow = Blow(
        lab, command, frozenset(), signal.SIGKILL, Moment(0), folder=lab.room("undisturbed")
    )
    _prepare(blow)
    before = blow.state()
    if command.rival:
        blow.call(command.rival)
    untouched = blow.state()
    with moments.watch(blow.store.parent) as watch:
        running = blow.start(command.arguments)
        watch.until(running, MOST_CHANGES, PATIENCE_SECONDS)
        ended = running.wait()
    assert ended.code == 0, f"{command.name} fails where nobody disturbs it: {ended.story}"
    return Undisturbed(
        before, (untouched, blow.state()), ended.seconds, watch.changes, frozenset(blow.left_over())
    )


def strike(
    tally: Tally, blow: Blow, usual: Undisturbed, after: Callable[[Blow, Undisturbed], None]
) -> None:
    """Start the command (and its rival), send the signal at the moment, and check the outcome."""
    shown = " ".join(str(word) for word in blow.command.arguments)
    with tally.attempt(
        f"{blow.number.name} to `tachograph {shown}` {blow.moment} (seed {blow.lab.seed})"
    ) as blow.folder:
        _prepare(blow)
        with moments.watch(blow.store.parent) as watch:
            running = blow.start(blow.command.arguments)
            rival = blow.start(blow.command.rival) if blow.command.rival else None
            blow.moment.wait(running, watch, 2 * usual.seconds + 1)
            running.send(blow.number)
            blow.ended = running.wait()
        if rival:
            ended = rival.wait()
            assert ended.code == 0, f"the other writer failed: {ended.story}"
        after(blow, usual)


def _prepare(blow: Blow) -> None:
    blow.store.parent.mkdir(parents=True)
    if blow.command.before:
        shutil.copy(blow.command.before, blow.store)


def _after_kill(blow: Blow, usual: Undisturbed) -> None:
    """As before or after; then the next call works, and clears what was left."""
    state, (untouched, done) = blow.state(), usual.outcomes
    is_as_before, _ = _is_like(state, usual)
    if _is_untouched(blow, usual, state):
        return  # the next call is the one that nobody disturbed
    completes = blow.is_same_again or blow.command.again == blow.command.arguments
    blow.call(blow.command.arguments if blow.is_same_again else blow.command.again)
    wanted = untouched if is_as_before and not completes else done
    found = blow.state()
    assert found.is_like(wanted), (
        f"after the next call the store is not as it should be: {differences(found, wanted)}"
    )
    left = blow.left_over()
    assert not left, f"the next call left {left}"


def _is_like(state: State, usual: Undisturbed) -> tuple[bool, bool]:
    """Whether the state is as before the command, and whether as after it.

    Raises AssertionError where it is neither.
    """
    untouched, done = usual.outcomes
    answers = state.is_like(untouched), state.is_like(done)
    wrong = (
        f"the store is neither as before ({differences(state, untouched)}) nor as after "
        f"({differences(state, done)})"
    )
    assert any(answers), wrong
    return answers


def _is_untouched(blow: Blow, usual: Undisturbed, state: State) -> bool:
    """Whether nothing was done to the folders."""
    files = {path.name for path in (*blow.store.parent.iterdir(), *(blow.folder / "tmp").iterdir())}
    return (
        not blow.command.rival
        and state.is_same(usual.before)
        and files == ({STORE} if blow.command.before else set())
    )


def _after_request(blow: Blow, usual: Undisturbed) -> None:
    """Clean at once, and true."""
    ended, state = blow.ended, blow.state()
    assert ended is not None
    assert "Traceback" not in ended.err, ended.story
    assert ended.code in ENDED_BY_SIGNAL[blow.number], ended.story
    is_as_before, is_as_after = _is_like(state, usual)
    assert is_as_after or ended.code, (
        f"it claims success, and the store is as before: {ended.story}"
    )
    assert is_as_before or "nothing was written" not in ended.err, (
        f"something was written: {ended.story}"
    )
    assert is_as_after or "everything was written" not in ended.err, (
        f"nothing was written: {ended.story}"
    )
    left = blow.left_over()
    assert not left, f"it left {left}: {ended.story}"
