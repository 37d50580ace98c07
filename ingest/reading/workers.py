"""Reading in worker processes: they get tasks and return results; only a few tasks per worker are handed out at a time.

A worker ends with its parent, however that ends. Only the parent handles Ctrl-C and SIGTERM, also where the whole group receives them.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from ingest.reading.arrow_without_pandas import spare_pandas
from ingest.reading.read_source import read_members, read_on, read_portion
from ingest.reading.settings import Settings
from ingest.reading.task import Task
from ingest.store.read_result import PortionKey, ReadResult
from ingest.store.spool import SpoolWriter
from ingest.system.files import temporary_folder, use_folder_of_parent
from ingest.system.signals import inherited_block, put_off
from schemas.errors import WorkerDied

UNDER_WAY = 3
"""Tasks per worker that are handed out at a time: enough to keep it busy, few enough to bound the memory."""


Tasks = Iterable[Task | list[ReadResult]]
"""Tasks to do, and between them results of sources that need no reading: those pass unchanged."""


def work(task: Task, settings: Settings, spool: Path) -> list[ReadResult]:
    """Do one task: write its rows into the spool. Returns the results of its sources."""
    writer = SpoolWriter(spool, f"{task.name}-{task.portion_number}", keeps_text=settings.keeps_text)
    if task.portion:
        results = [read_portion(task.sources[0], PortionKey(task.name, task.portion_number), task.portion, settings, writer)]
    else:
        results = []
        for number, source in enumerate(task.sources):
            beginning = task.beginnings.get(source.name)
            grown = beginning and read_on(source, PortionKey(f"{task.name}.part-{number}"), beginning, settings, writer)
            results += [grown] if grown else read_members(source, f"{task.name}.{number}", settings, writer)
    writer.flush()
    return results


def work_here(tasks: Tasks, settings: Settings, spool: Path) -> Iterator[list[ReadResult]]:
    """Do the tasks in this process, one after the other."""
    for task in tasks:
        if isinstance(task, Task):
            with _without_collector():
                done = work(task, settings, spool)
            yield done
        else:
            yield task


def work_in_processes(tasks: Tasks, settings: Settings, spool: Path, jobs: int) -> Iterator[list[ReadResult]]:
    """Do the tasks in worker processes; results come back as they are done. Closing the iterator early ends the workers at once."""
    with put_off(), inherited_block():  # it starts another process (multiprocessing's resource tracker)
        pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin, (settings, spool, _temporary()))
    try:
        yield from _bounded(partial(_submit, pool), tasks, jobs * UNDER_WAY)
    except BrokenProcessPool as error:
        _kill(pool)  # the pool itself only sends SIGTERM, which they ignore, and would wait for them
        raise WorkerDied(
            "a worker process was killed or crashed: nothing was written.", "Memory may be short: try again with --jobs 1."
        ) from error
    except BaseException:
        _kill(pool)
        raise
    finally:
        with suppress(RuntimeError):  # interrupted before the thread of the pool started: there is nothing to wait for
            pool.shutdown(wait=True, cancel_futures=True)


def _submit(pool: ProcessPoolExecutor, task: Task) -> Future[list[ReadResult]]:
    """Hand out a task. The pool starts its processes with the first tasks: signals wait until a start is complete."""
    with put_off(), inherited_block():
        return pool.submit(_work, task)


def _bounded(submit: Callable[[Task], Future[list[ReadResult]]], tasks: Tasks, most: int) -> Iterator[list[ReadResult]]:
    """The results of the tasks as they are done; at most so many tasks are under way at a time."""
    running: set[Future[list[ReadResult]]] = set()
    for task in tasks:
        if not isinstance(task, Task):
            yield task
            continue
        running.add(submit(task))
        if len(running) >= most:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    while running:
        done, running = wait(running, return_when=FIRST_COMPLETED)
        yield from (future.result() for future in done)


def _kill(pool: ProcessPoolExecutor) -> None:
    """Kill the workers: their results are not needed any more."""
    for process in list((pool._processes or {}).values()):  # no public way before Python 3.14
        process.kill()


_settings = Settings()
_spool = Path()


def _temporary() -> Path | None:
    """The folder for temporary files of workers, which is removed with ours however a worker ends; None where there is none."""
    try:
        return temporary_folder()
    except OSError:
        return None


def _begin(settings: Settings, spool: Path, temporary: Path | None) -> None:
    """Set up a worker process."""
    global _settings, _spool  # (sent once per process, not once per task: the set of known sources may be large)
    _settings, _spool = settings, spool
    if temporary:
        use_folder_of_parent(temporary)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where signals cannot be blocked
    spare_pandas()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(task: Task) -> list[ReadResult]:
    """Do a task in a worker."""
    with _without_collector():
        return work(task, _settings, _spool)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Without garbage collection, a twelfth of the time of reading: it makes no reference cycles.

    It is switched off for the whole process. In the dashboard, what other threads leave in cycles waits for the end of the task.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
