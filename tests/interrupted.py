"""Processes that a test interrupts as Ctrl-C does."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from tests.conftest import environment


@contextmanager
def interruptible(command: Sequence[str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    """The command as a terminal starts it.

    It takes interrupts, though whoever runs the tests may ignore them, as `nohup … &` does.

    It leads a process group. What of that still runs at the end of the block is killed: a test that
    gave up must not wait for it.
    """
    pipe, heeded = subprocess.PIPE, partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment(),
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
        process_group=0,
        preexec_fn=heeded,  # noqa: PLW1509  it starts no thread
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
