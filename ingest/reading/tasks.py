"""Sources → tasks, done in this process or in worker processes.

Small files together, big ones alone or in portions.

A worker never opens the store, and ends with its parent, however that ends. Only the parent handles
Ctrl-C and SIGTERM, even if the whole group receives them.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.reading.settings import SMALL_BYTES, Settings, known_result, known_source
from ingest.sources.archives import archive_kind
from ingest.sources.files import (
    BIG_BYTES,
    Identity,
    Portion,
    Source,
    identified,
    portions,
)
from ingest.store.read_result import PortionKey, ReadResult
from ingest.system.arrow import import_arrow_alone
from ingest.system.bounds import watched
from ingest.system.files import temporary_folder, use_folder_of_parent
from ingest.system.signals import inherited_block, put_off
from schemas.errors import WorkerDied

if TYPE_CHECKING:
    from ingest.reading.known_sources import KnownSources

TASK_SOURCES = 1000


@dataclass(frozen=True)
class ReadingTask:
    """Sources to read whole, or one portion of a big one. `name` is unique in the ingest."""

    name: str
    sources: tuple[Source, ...]
    portion: Portion | None = None
    portion_number: int = 0


Tasks = Iterable[ReadingTask | list[ReadResult]]
"""Tasks to do, and between them results of sources that need no reading, which pass unchanged."""


def tasks_of(
    sources: Iterator[Source], settings: Settings, known: KnownSources | None = None
) -> Iterator[ReadingTask | list[ReadResult]]:
    """Yield sources as tasks, in order, and results of unchanged files and known small files.

    Known small files are in the store. Hashing a small file costs less than sending it to a worker;
    if all files are known, no worker is started. The length of a source is fixed when its task is
    made: later bytes of its file are for the next ingest.
    """
    batch: list[Source] = []
    results: list[ReadResult] = []
    size = 0
    for number, given in enumerate(sources):
        source = _looked_up(given, f"known{number}", settings, known)
        if isinstance(source, ReadResult):
            results.append(source)
            if len(results) >= TASK_SOURCES:
                yield results
                results = []
        elif source.size >= BIG_BYTES:
            yield from _tasks_of_big(source, f"big{number}", settings)
        else:
            batch.append(source)
            size += source.size
            if size >= (1 << 24) or len(batch) >= TASK_SOURCES:
                yield ReadingTask(f"small{number}", tuple(batch))
                batch, size = [], 0
    if results:
        yield results
    if batch:
        yield ReadingTask("small", tuple(batch))


def _looked_up(
    source: Source, reading: str, settings: Settings, known: KnownSources | None
) -> Source | ReadResult:
    """Return the current source (loaded if small), or the result of one in the store.

    With a new store nothing is known, and the workers load the files. Errors here are left to the
    reader.
    """
    source_id = known.unchanged(source) if known else None
    if source_id and settings.is_known(source, source_id):
        return known_result(source, reading, Identity(source_id), settings)
    try:
        source = source.as_it_is_now()
        if not settings.known or source.size > SMALL_BYTES:
            return source
        source = source.loaded()
        return known_source(source, reading, settings) or source
    except Exception:
        return source


def _tasks_of_big(
    source: Source, name: str, settings: Settings
) -> Iterator[ReadingTask | list[ReadResult]]:
    parts: list[Portion] = []
    with suppress(Exception):  # reading it reports the error
        whole_only = archive_kind(source) or settings.maps_of(source)
        parts = [] if whole_only else portions(source)
        parts = identified(source, settings.earlier(source), parts) if len(parts) > 1 else []
    if not parts:
        yield ReadingTask(name, (source,))
    elif (whole := parts[0].whole) and settings.is_known(source, whole.source_id):
        yield [known_result(source, name, whole, settings)]
    else:
        for number, part in enumerate(parts):
            yield ReadingTask(name, (source,), part, number)


def work(task: ReadingTask, settings: Settings, spool: Path) -> list[ReadResult]:
    """Do one task: write its rows into the spool. Returns the results of its sources.

    Errors of a source are never raised. Garbage collection is off: it takes a twelfth of the time,
    and reading makes no reference cycles. In the dashboard, other threads' cycles wait for the end
    of the task.
    """
    from ingest.reading.read_source import read_members, read_or_failed
    from ingest.store.spool import SpoolWriter  # all that new sources need

    writer = SpoolWriter(
        spool, f"{task.name}-{task.portion_number}", keeps_text=settings.keeps_text
    )
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with watched():
            if task.portion:
                key = PortionKey(task.name, task.portion_number)
                results = [read_or_failed(task.sources[0], key, settings, writer, task.portion)]
            else:
                results = [
                    result
                    for number, source in enumerate(task.sources)
                    for result in read_members(source, f"{task.name}.{number}", settings, writer)
                ]
            writer.flush()
        return results
    finally:
        if was_enabled:
            gc.enable()


def work_here(tasks: Tasks, settings: Settings, spool: Path) -> Iterator[list[ReadResult]]:
    """Do the tasks in this process, one after the other."""
    for task in tasks:
        yield work(task, settings, spool) if isinstance(task, ReadingTask) else task


def work_in_processes(
    tasks: Tasks, settings: Settings, spool: Path, jobs: int
) -> Iterator[list[ReadResult]]:
    """Do the tasks in worker processes; yields results as they are done.

    Closing the iterator ends the workers at once.
    """
    import multiprocessing
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor

    others = [one for one in threading.enumerate() if one is not threading.current_thread()]
    is_forked = (
        sys.platform == "linux" and not others
    )  # no other thread can hold a lock that a fork would wait for
    if is_forked:
        import_module("ingest.reading.read_source")  # here, once, and not in each worker
    context = multiprocessing.get_context("fork" if is_forked else "spawn")
    with (
        put_off(),
        inherited_block(),
    ):  # it starts another process (multiprocessing's resource tracker)
        pool = ProcessPoolExecutor(jobs, context, begin_worker, (settings, spool, own_folder()))
    running: set[Future[list[ReadResult]]] = set()
    try:
        for task in tasks:
            if not isinstance(task, ReadingTask):
                yield task
                continue
            with (
                put_off(),
                inherited_block(),
            ):  # the first tasks start the processes: signals wait until a start is complete
                running.add(pool.submit(_work_as_begun, task))
            # Tasks handed out per worker: enough to keep it busy, few enough to bound the memory.
            if len(running) >= jobs * 3:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    except BaseException as error:
        for process in list(
            (pool._processes or {}).values()
        ):  # no public way before 3.14: https://github.com/python/cpython/pull/130849
            # the pool itself only sends SIGTERM, which they ignore, and would wait for them
            process.kill()
        if isinstance(error, BrokenProcessPool):
            raise WorkerDied(
                "a worker process was killed or crashed: nothing was written.",
                "Memory may be short: try again with --jobs 1.",
            ) from error
        raise
    finally:
        with suppress(
            RuntimeError
        ):  # interrupted before the thread of the pool started: there is nothing to wait for
            pool.shutdown(wait=True, cancel_futures=True)


def own_folder() -> Path | None:
    """Make the folder for temporary files of workers, removed with ours however a worker ends.

    None if it cannot be made.
    """
    try:
        return temporary_folder()
    except OSError:
        return None


_settings = Settings()
_spool = Path()


def begin_worker(settings: Settings, spool: Path, temporary: Path | None) -> None:
    """Set up a worker process.

    Settings are sent once, not per task: the set of known sources may be large.
    """
    import multiprocessing

    global _settings, _spool
    _settings, _spool = settings, spool
    if temporary:
        use_folder_of_parent(temporary)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where signals cannot be blocked
    import_arrow_alone()

    def end_with_parent() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def _work_as_begun(task: ReadingTask) -> list[ReadResult]:
    return work(task, _settings, _spool)
