"""Processes that a test interrupts as Ctrl-C does."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.conftest import environment


@contextmanager
def interruptible(command: Sequence[str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    """The command as a terminal starts it: it takes interrupts, though whoever runs the tests may ignore them, as `nohup … &` does.

    What still runs at the end of the block is killed: a test that gave up must not wait for it.
    """
    pipe, heeded = subprocess.PIPE, partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(command, cwd=folder, env=environment(), stdout=pipe, stderr=pipe, text=True, preexec_fn=heeded) as process:  # noqa: PLW1509  it starts no thread
        try:
            yield process
        finally:
            process.kill()
