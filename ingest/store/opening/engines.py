"""DuckDB engines: instances in memory that stores are attached to, one store after the other.

To start an engine and to end it takes 20 ms, to attach a store to it one. So an engine is kept for its next user. It has one at a
time, whose temporary tables end with the connection. After an error it is not kept, since nobody knows what it still holds. To attach a
lake takes 150 ms and many questions to its catalog: it stays attached for the next reader of that lake.
"""

from __future__ import annotations

import atexit
import os
import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import NamedTuple

import duckdb

from ingest.store.lake.settings import SECRET
from ingest.system.signals import put_off

_KEPT = 4
"""Most engines that are kept: the requests that a dashboard serves at once."""

_CONFIG: dict[str, str | int | float | list[str]] = {
    "checkpoint_threshold": "1MB",
    "enable_external_file_cache": False,  # of files of the spool, which the next user never reads
    "threads": 1,
}
_TIME_ZONE = "set global timezone = 'UTC'"  # no part of a configuration: it belongs to an extension


MANY_BYTES = 16 << 20
"""A store of this size, or texts to be written, have work for several threads (`use_all_cores`).

With 3,000 runs, 6 MB, one thread takes three quarters of the time of two; with 10,000, 10 MB, it takes as long (`tests.bench.questions`).
"""


class _KeptLake(NamedTuple):
    """A lake that stays attached to an engine, and the name under which it is."""

    name: str
    location: str


class _Engine(NamedTuple):
    """An engine by its first connection, which nobody else uses.

    `folder`: that of its temporary files, which cannot be changed. `lake`: what is attached to it.
    """

    first: duckdb.DuckDBPyConnection
    folder: str
    lake: _KeptLake | None = None


_idle: deque[_Engine] = deque(maxlen=_KEPT)


@contextmanager
def connected(store: str, lake: str = "") -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to an engine of its own, in memory.

    `store`: the name by which one may be attached to it. `lake`: the location of a lake that is only read: it may be attached already,
    and stays so.
    """
    kept = _KeptLake(store, lake) if lake else None
    with ExitStack() as ending:
        engine = _idle_engine(kept) or _new_engine()
        ending.callback(engine.first.close)
        with closing(engine.first.cursor()) as connection:
            yield connection
        with suppress(duckdb.Error):
            engine.first.execute("reset memory_limit; reset preserve_insertion_order; set threads = 1")
            if not kept:
                engine.first.execute(f"detach database if exists {store}")
            engine.first.execute(f"drop temporary secret if exists {SECRET}")
            ending.pop_all()
            _idle.append(engine._replace(lake=kept))


def use_all_cores(connection: duckdb.DuckDBPyConnection) -> None:
    """Work with as many threads as there are cores, until the connection is closed. Otherwise it is one, which does not wait for others."""
    connection.execute("reset threads")


def _new_engine() -> _Engine:
    folder = tempfile.gettempdir()
    first = duckdb.connect(config={**_CONFIG, "temp_directory": folder})
    first.execute(_TIME_ZONE)
    return _Engine(first, folder)


def _idle_engine(lake: _KeptLake | None) -> _Engine | None:
    """One that is kept with the lake, else one with nothing attached. Those with another folder of temporary files than is used now end."""
    folder = tempfile.gettempdir()
    for engine in tuple(_idle):
        if engine.folder != folder and _taken(engine):
            engine.first.close()
    for wanted in (lake, None):
        for engine in tuple(_idle):
            if engine.lake == wanted and _taken(engine):
                return engine
    return None


def _taken(engine: _Engine) -> bool:
    """Take an engine out of those that are kept; False where another thread did."""
    with suppress(ValueError):
        _idle.remove(engine)
        return True
    return False


def end_idle() -> None:
    """End all engines that are kept: before a fork, which their threads do not survive, and with the process."""
    while _idle:
        with suppress(IndexError):
            _idle.pop().first.close()


@atexit.register
def _end_with_process() -> None:
    """The command has ended: an interrupt changes nothing any more, and would be told as an error of ours."""
    with suppress(KeyboardInterrupt), put_off():
        end_idle()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=end_idle)
