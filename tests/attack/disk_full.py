"""A disk that fills up while logs are ingested and while a store is rebuilt.

And a file that may not grow beyond a bound.

The disk is a small tmpfs with the store, the spool and the temporary folder on it. Where it may not
be mounted, only files are bounded. What is asserted after each: the store is as before or after,
what is said is a sentence, and with room the same call succeeds.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.attack import kills, logs
from tests.attack.hashes import State, differences
from tests.attack.kills import STORE
from tests.attack.lab import Lab, Tally
from tests.conftest import environment
from tests.forks import Ended

CHECKED = (
    "exit code 4 and a sentence; hash of all columns as before; with room the same call succeeds "
    "and leaves nothing behind"
)
ROOMY_BYTES = 256 << 20
STORE_UNUSABLE = 4


@contextmanager
def small_disk(place: Path, size: int) -> Iterator[None]:
    """A disk of so many bytes at a folder, with a folder `tmp`.

    On an error, what is on it is copied beside it.
    """
    place.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", place],
        check=True,
        capture_output=True,
    )
    try:
        (place / "tmp").mkdir()
        yield
    except BaseException:
        shutil.copytree(place, place.with_name("left-on-the-disk"))
        raise
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def refusal(folder: Path) -> str:
    """Why this machine lets us mount no disk; empty where it does."""
    try:
        with small_disk(folder / "tried", 1 << 20):
            return ""
    except (OSError, subprocess.CalledProcessError) as error:
        return (
            "no tmpfs may be mounted here "
            f"({getattr(error, 'stderr', b'').decode().strip() or error})"
        )


def resize(place: Path, size: int) -> None:
    """Give the disk another size."""
    subprocess.run(["mount", "-o", f"remount,size={size}", place], check=True)


@dataclass(frozen=True)
class Case:
    """A command on a store: `before` beforehand, `done` afterwards.

    `needs`: bytes of the disk it takes at its fullest, about.
    """

    name: str
    arguments: Sequence[str | Path]
    store: Path | None
    before: State
    done: State
    needs: int


def attack(lab: Lab, attempts: int) -> None:
    """Fill the disk of each command, and bound its files, `attempts` times each."""
    every, refused = list(_cases(lab)), refusal(lab.room("mounted"))
    for case in every:
        tally = lab.tally(f"disk full: {case.name}", CHECKED)
        tally.skipped = refused
        for size in [] if refused else _sizes(case, attempts):
            _fill(lab, tally, case, size)
    for case in every:
        tally = lab.tally(f"files bounded: {case.name}", CHECKED)
        for size in _sizes(case, attempts):
            _bound(lab, tally, case, size)


def _cases(lab: Lab) -> Iterator[Case]:
    """First ingest, another ingest, rebuild.

    Each with the states around it, from running it where there is room.
    """
    room = lab.room("full")
    few, more = logs.write_logs(room / "few", "few", 40), logs.write_logs(room / "more", "more", 40)
    store = room / "of-more" / STORE
    store.parent.mkdir()
    lab.forks.succeed(store.parent, *kills.ingest(more), "--db", store)
    commands: dict[str, tuple[Sequence[str | Path], Path | None]] = {
        "first ingest": (kills.ingest(few), None),
        "ingest": (kills.ingest(few), store),
        "rebuild": (["rebuild"], store),
    }
    for name, (arguments, before) in commands.items():
        folder = lab.room("roomy")
        if before:
            shutil.copy(before, folder / STORE)
        former = lab.hasher.state(folder / STORE)
        lab.forks.succeed(folder, *arguments, "--db", folder / STORE)
        size = (folder / STORE).stat().st_size
        needs = 2 * size if name == "rebuild" else size + (1 << 17)
        yield Case(name, arguments, before, former, lab.hasher.state(folder / STORE), needs)


def _sizes(case: Case, attempts: int) -> list[int]:
    """Sizes between what the store takes already and what the command needs, evenly.

    Where it is one, the middle.
    """
    least = (case.store.stat().st_size if case.store else 0) + (1 << 14)
    return [
        least + (case.needs - least) * (2 * step + 1) // (2 * attempts) for step in range(attempts)
    ]


def _fill(lab: Lab, tally: Tally, case: Case, size: int) -> None:
    with (
        tally.attempt(f"`tachograph {_shown(case)}` on a tmpfs of {size:,} bytes") as folder,
        small_disk(folder / "disk", size),
    ):
        _run(lab, case, folder)
        resize(folder / "disk", ROOMY_BYTES)
        _run_again(lab, case, folder)


def _bound(lab: Lab, tally: Tally, case: Case, size: int) -> None:
    with tally.attempt(f"`tachograph {_shown(case)}` with RLIMIT_FSIZE {size:,}") as folder:
        (folder / "disk" / "tmp").mkdir(parents=True)
        _run(lab, case, folder, file_bytes=size)
        _run_again(lab, case, folder)


def _shown(case: Case) -> str:
    return " ".join(map(str, case.arguments))


def _run(lab: Lab, case: Case, folder: Path, file_bytes: int = 0) -> None:
    """The command fails, saying so in a sentence, and the store is as before; or there was room."""
    store = folder / "disk" / STORE
    if case.store:
        shutil.copy(case.store, store)
    ended = lab.forks.run(
        folder,
        *case.arguments,
        "--db",
        store,
        environment=_on(folder / "disk"),
        file_bytes=file_bytes,
    )
    found = lab.hasher.state(store)
    if ended.code == 0:
        assert found.is_like(case.done), f"it claims success: {differences(found, case.done)}"
    else:
        require_sentence(ended)
        assert found.is_like(case.before), (
            f"the store is not as before: {differences(found, case.before)}"
        )


def _on(disk: Path) -> dict[str, str]:
    """Variables of a command whose temporary folder is on the disk too."""
    return environment(TMPDIR=str(disk / "tmp"))


def require_sentence(ended: Ended) -> None:
    """Exit code 4 and an error for people.

    No traceback, and nothing that an engine wrote for its log.
    """
    assert ended.code == STORE_UNUSABLE, ended.story
    assert ended.err.startswith("Error: "), ended.story
    assert not any(
        sign in ended.err for sign in ("Traceback", '{"', "Error: Error", "Exception")
    ), f"no sentence: {ended.story}"


def _run_again(lab: Lab, case: Case, folder: Path) -> None:
    """With room the same call succeeds; what the failed one left is gone."""
    disk, store = folder / "disk", folder / "disk" / STORE
    lab.forks.succeed(folder, *case.arguments, "--db", store, environment=_on(disk))
    found = lab.hasher.state(store)
    assert found.is_like(case.done), (
        f"with room it does not end as it should: {differences(found, case.done)}"
    )
    left = sorted(
        {path.name for path in (*disk.iterdir(), *(disk / "tmp").iterdir())} - {STORE, "tmp"}
    )
    assert not left, f"left over: {left}"
