"""Hostile inputs are ingested, each beside a good record, within bounds on time, memory and disk.

An input is a family of `tests.attack.hostile_inputs` at a size, in a wrapping: bare, compressed, in
a zip, in a text of a JSON object, in an event of a stream.
"""

from __future__ import annotations

import gzip
import io
import json
import select
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.attack.hashes import State
from tests.attack.hostile_inputs import FAMILIES
from tests.attack.kills import STORE
from tests.attack.lab import Lab
from tests.conftest import record_text
from tests.forks import Ended, Running

SIZES = (3_000, 200_000, 2_000_000)
SECONDS = 120
"""Time for one command: an input that takes no more than linear time needs a few seconds on any
machine.
"""

MEMORY_BYTES = 1 << 30
DISK_BYTES = 1 << 30
"""In the temporary folder and beside the store together."""

READ, UNREADABLE = 0, 3
COUNTS = ("accepted", "duplicates", "rejected", "ignored")
CHECKED = (
    f"no traceback; {SECONDS} s, 1 GiB of memory, 1 GiB of disk; counts balance per source; the "
    "good record is in; a report is made"
)
GOOD = "good"


def in_zip(data: bytes) -> bytes:
    """The bytes as the only member of a zip."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("a/b.json"), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def in_object(data: bytes) -> bytes:
    """The bytes as the text of a JSON object, as CI systems keep logs."""
    return json.dumps({"id": 1, "body": data.decode("utf-8", "replace")}).encode()


def in_event(data: bytes) -> bytes:
    """The bytes as what a tool said, in an event of a stream whose record follows."""
    block = {"type": "tool_result", "tool_use_id": "t", "content": data.decode("utf-8", "replace")}
    event = {"type": "user", "session_id": "stream", "message": {"content": [block]}}
    return f"{json.dumps(event)}\n{record_text(uuid='stream', session_id='stream')}\n".encode()


WRAPPINGS: dict[str, Callable[[bytes], bytes]] = {
    "bare": lambda data: data,
    "gzip": lambda data: gzip.compress(data, 1, mtime=0),
    "zip": in_zip,
    "object": in_object,
    "event": in_event,
}


@dataclass(frozen=True)
class Input:
    """One hostile file."""

    family: str
    size: int
    wrapping: str

    def made(self) -> bytes:
        """Its bytes."""
        return WRAPPINGS[self.wrapping](FAMILIES[self.family](self.size))

    def __str__(self) -> str:
        return f"{self.family} of {self.size:,} bytes, {self.wrapping}"


def attack(lab: Lab, inputs: int) -> None:
    """Ingest so many inputs, each by a process of its own.

    Every family first, then sizes and wrappings at random.
    """
    tally = lab.tally("hostile inputs, one process each", CHECKED)
    for one in _chosen(lab, inputs):
        with tally.attempt(f"ingest {one}, beside a good record") as folder:
            logs = folder / "logs"
            logs.mkdir()
            (logs / "hostile").write_bytes(one.made())
            _ingest(lab, folder, logs)


def attack_at_once(lab: Lab, inputs: int, size: int) -> None:
    """Ingest so many inputs of about this size by one process."""
    tally = lab.tally("hostile inputs, one process for all", CHECKED)
    names, wrappings = list(FAMILIES), list(WRAPPINGS)
    with tally.attempt(f"ingest {inputs} inputs of {size:,} bytes, beside a good record") as folder:
        logs = folder / "logs"
        logs.mkdir()
        for number in range(inputs):
            turn, place = divmod(number, len(names))
            one = Input(names[place], size, wrappings[(place + turn) % len(wrappings)])
            (logs / f"{number:03}-{one.family.replace('/', '-')}-{one.wrapping}").write_bytes(
                one.made()
            )
        _ingest(lab, folder, logs)
    tally.attempts = inputs


def _chosen(lab: Lab, inputs: int) -> Iterator[Input]:
    every = [
        Input(family, size, wrapping)
        for family in FAMILIES
        for size in SIZES
        for wrapping in WRAPPINGS
    ]
    lab.chance("inputs").shuffle(every)
    firsts = list({one.family: one for one in every}.values())
    yield from [*firsts, *(one for one in every if one not in firsts)][:inputs]


def _ingest(lab: Lab, folder: Path, logs: Path) -> None:
    (logs / f"{GOOD}.json").write_text(record_text(uuid=GOOD, session_id=GOOD), encoding="utf-8")
    store = folder / "of" / STORE
    store.parent.mkdir()
    ended = _within_bounds(
        lab.forks.start(folder, "ingest", logs, "--jobs", "1", "--json", "--db", store), folder
    )
    assert ended.code in (READ, UNREADABLE), ended.story
    counts = json.loads(ended.out)
    assert counts["documents"] == sum(counts[name] for name in COUNTS), counts
    _check_store(lab, store)
    told = _within_bounds(lab.forks.start(folder, "report", "--by", "model", "--db", store), folder)
    assert told.code == READ, told.story


def _within_bounds(running: Running, folder: Path) -> Ended:
    """How the command ended, if within all bounds."""
    deadline, fullest = time.monotonic() + SECONDS, 0
    while (
        not select.select([running], [], [], 0.1)[0]
        and time.monotonic() < deadline
        and fullest <= DISK_BYTES
    ):
        fullest = max(fullest, sum(map(_bytes_in, (folder / "tmp", folder / "of"))))
    if fullest > DISK_BYTES:
        running.end()
    ended = running.wait(1)
    assert fullest <= DISK_BYTES, f"it took {fullest:,} bytes of disk"
    assert ended.peak_bytes <= MEMORY_BYTES, f"it took {ended.peak_bytes:,} bytes of memory"
    assert "Traceback" not in ended.err, ended.story
    return ended


def _bytes_in(folder: Path) -> int:
    """Bytes of all files below, while they come and go."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.stat().st_size
    return total


def _check_store(lab: Lab, store: Path) -> None:
    assert lab.hasher.state(store) != State()
    unbalanced = (
        "select name, documents from sources where documents <> accepted + duplicates + rejected "
        "+ ignored"
    )
    assert not (found := lab.hasher.rows(store, unbalanced)), f"counts do not balance: {found}"
    assert lab.hasher.rows(store, f"select 1 from runs where run_id = '{GOOD}'"), (
        "the good record beside it is not in the store"
    )
