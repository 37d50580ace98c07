"""An agent for the tests of `tachograph run`: does what its arguments say, one after the other.

It imports next to nothing, to start at once.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

OUT, ERR = 1, 2
EVERY_BYTE = bytes(range(256)) * 40
MEGABYTES = 5


def put(block: bytes, to: int = OUT) -> None:
    """Write all of it."""
    while block:
        block = block[os.write(to, block) :]


def large(_: str) -> None:
    for number in range(MEGABYTES):
        put(bytes([65 + number]) * (1 << 20))


def echo(_: str) -> None:
    while block := os.read(0, 1 << 16):
        put(block)


def copy(path: str) -> None:
    """Write a file to the standard output."""
    with open(path, "rb") as file:  # noqa: PTH123  pathlib takes longer to import than all else
        put(file.read())


def write(text: str) -> None:
    """`PATH=TEXT`: write a file."""
    path, _, content = text.partition("=")
    with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(content)


def wait_for(path: str) -> None:
    while not os.path.exists(path):  # noqa: PTH110
        time.sleep(0.01)


def leave_running(path: str) -> None:
    """Start a process that holds the standard output, and write its id."""
    started = subprocess.Popen([sys.executable, "-ISc", "import time; time.sleep(600)"])
    write(f"{path}={started.pid}")


def ignore(name: str) -> None:
    signal.signal(getattr(signal, name), signal.SIG_IGN)


def shell(line: str) -> None:
    subprocess.run(line, shell=True, check=True, stdout=ERR)


def catch(name: str) -> None:
    """Say which signal came, and end with exit code 9."""

    def caught(number: int, _frame: object) -> None:
        put(f"caught {signal.Signals(number).name}\n".encode())
        os._exit(9)

    signal.signal(getattr(signal, name), caught)


WORDS: dict[str, Callable[[str], object]] = {
    "bytes": lambda _: put(EVERY_BYTE),
    "large": large,
    "echo": echo,
    "copy": copy,
    "write": write,
    "wait-for": wait_for,
    "leave-running": leave_running,
    "ignore": ignore,
    "catch": catch,
    "shell": shell,
    "say": lambda text: put(f"{text}\n".encode()),
    "complain": lambda text: put(f"{text}\n".encode(), ERR),
    "sleep": lambda seconds: time.sleep(float(seconds)),
    "close": lambda _: os.close(OUT),
    "terminals": lambda _: put(f"{[os.isatty(number) for number in range(3)]}\n".encode()),
    "size": lambda _: put(f"{os.get_terminal_size(OUT)}\n".encode()),
    "exit": lambda code: os._exit(int(code)),
    "kill": lambda name: os.kill(os.getpid(), getattr(signal, name)),
}


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        word, _, value = argument.partition(":")
        if word in WORDS:
            WORDS[word](value)
