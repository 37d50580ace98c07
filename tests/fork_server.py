"""Runs `tachograph` commands in forks of itself, in which all is imported and warm.

An interpreter that starts anew takes a second.

`python -m tests.fork_server FD`, where FD is a socket: a `Request` comes in with four descriptors.
Three are the command's streams; on the fourth, a socket too, its process id goes out at once, and
an `End` when it has ended. The command starts and ends as `python -m` starts and ends it, many of
them side by side. Ends with the socket.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import re
import resource
import runpy
import select
import socket
import sys
import tempfile
import threading
import time
import tomllib
import traceback
from collections.abc import Iterable
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import NoReturn, TypedDict

ROOT = Path(__file__).parent.parent
MODULE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"][
    "tachograph"
].partition(":")[0]
"""What `python -m` runs."""

WARMING = (
    ("ingest", str(ROOT / "sample_logs" / "claude_code"), "--jobs", "1"),
    ("rebuild",),
    ("reprice",),
    ("report",),
)
"""Commands that leave warm what is loaded on first use, such as prices."""

LIBRARIES = (
    "ftfy",
    "genai_prices.data",
    "pyarrow.parquet",
    "rich.console",
    "rich.table",
    "xlsxwriter",
)
"""What other commands import late."""

INTERRUPTED = 130
_USES_STREAMLIT = re.compile(r"^\s*(?:import|from) streamlit\b", re.MULTILINE)
_MOST_BYTES = 1_000_000


class Request(TypedDict):
    """A command: its words, working folder, environment, and the most a file may hold.

    The words are those behind `tachograph`; all of the environment is given; 0 means any file size.
    """

    arguments: list[str]
    folder: str
    environment: dict[str, str]
    file_bytes: int


class End(TypedDict):
    """How a command ended, with what its processes took.

    `code` is negative for a signal, as in `subprocess`.
    """

    code: int
    peak_bytes: int
    cpu_seconds: float


def warm_up() -> None:
    """Import all that a command may import, except the command itself, which runs as `__main__`.

    And run some.
    """
    for package in ("schemas", "ingest", "app"):
        for module in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            source = ROOT.joinpath(
                *module.name.split("."), *(["__init__"] if module.ispkg else [])
            ).with_suffix(".py")
            if module.name != MODULE and not _USES_STREAMLIT.search(
                source.read_text(encoding="utf-8")
            ):
                importlib.import_module(module.name)
    for library in LIBRARIES:
        importlib.import_module(library)
    with ExitStack() as stack:
        tempfile.tempdir = stack.enter_context(
            tempfile.TemporaryDirectory()
        )  # what a command leaves is gone with it
        stack.enter_context(chdir(tempfile.tempdir))
        nowhere = stack.enter_context(Path(os.devnull).open("w", encoding="utf-8"))
        stack.enter_context(redirect_stdout(nowhere))
        stack.enter_context(redirect_stderr(nowhere))
        for words in WARMING:
            sys.argv = ["", *words]
            assert _exit_code() == 0, words
    tempfile.tempdir = None
    gc.collect()
    gc.freeze()  # else the first collection in each fork copies every page


def serve(channel: socket.socket) -> Request | None:
    """Fork a command for each request.

    Returns twice: in each fork what it is to do, and None here when the socket ends.
    """
    commands: dict[int, tuple[int, socket.socket]] = {}
    while True:
        watched: list[socket.socket | int] = [channel, *commands]
        for ready in select.select(watched, [], [])[0]:
            if isinstance(ready, int):
                _tell_end(*commands.pop(ready))
                os.close(ready)
                continue
            body, descriptors, _, _ = socket.recv_fds(channel, _MOST_BYTES, 4)
            if not body:
                return None
            *streams, fourth = descriptors
            report = socket.socket(fileno=fourth)
            child = os.fork()
            if not child:
                _take(
                    streams, [channel, report, *(other for _, other in commands.values())], commands
                )
                request: Request = json.loads(body)
                return request
            os.setpgid(child, child)
            for stream in streams:
                os.close(stream)
            report.send(b"%d" % child)
            commands[os.pidfd_open(child)] = child, report


def _take(streams: list[int], sockets: list[socket.socket], waited_for: Iterable[int]) -> None:
    """In a fork: take over the streams, lead a group, and close what belongs to the server."""
    os.setpgid(0, 0)
    for one in sockets:
        one.close()
    for descriptor in waited_for:
        os.close(descriptor)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)


def _tell_end(child: int, report: socket.socket) -> None:
    """To whoever asked for the command, if there is still somebody."""
    _, status, usage = os.wait4(child, 0)
    cpu_seconds = usage.ru_utime + usage.ru_stime
    end = End(
        code=os.waitstatus_to_exitcode(status),
        peak_bytes=usage.ru_maxrss * 1024,
        cpu_seconds=cpu_seconds,
    )
    with report, suppress(BrokenPipeError):
        report.send(json.dumps(end).encode())


def become(request: Request) -> NoReturn:
    """Be the command, to its end.

    Only the interpreter is not taken down: to free all that was imported takes longer than most
    commands.
    """
    code = INTERRUPTED  # what an interrupt before or behind the command leaves
    try:
        _settle(request)
        code = _exit_code()
        threading._shutdown()  # type: ignore[attr-defined]  # as every interpreter ends, and forks of multiprocessing do
    except Exception:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _settle(request: Request) -> None:
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    tempfile.tempdir = None
    os.chdir(request["folder"])
    sys.path[0] = request["folder"]  # as `python -m` has it
    sys.argv = ["", *request["arguments"]]
    if request["file_bytes"]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["file_bytes"], request["file_bytes"]))


def _exit_code() -> int:
    try:
        runpy.run_module(MODULE, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BaseException:  # as the interpreter would
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    channel = socket.socket(fileno=int(sys.argv[1]))
    warm_up()
    if found := serve(channel):
        become(found)
    os._exit(0)  # as quick as a command
