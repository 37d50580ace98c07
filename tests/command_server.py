"""Runs `tachograph` commands in forks of itself, in which everything is imported already: an interpreter that starts anew takes a second.

`python -m tests.command_server FD`, where FD is a socket: a `Request` comes in with three descriptors, the id of the command's process
goes out, and its exit code as soon as it ends. The command itself starts and ends as `python -m` starts and ends it. Ends with the socket.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import re
import runpy
import socket
import sys
import threading
import time
import tomllib
import traceback
from pathlib import Path
from typing import NoReturn, TypedDict

ROOT = Path(__file__).parent.parent
MODULE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]["tachograph"].partition(":")[0]
"""What `python -m` runs."""

LIBRARIES = ("ftfy", "genai_prices.data", "pyarrow.parquet", "rich.console", "rich.table", "xlsxwriter")
"""What commands import late."""

_USES_STREAMLIT = re.compile(r"^\s*(?:import|from) streamlit\b", re.MULTILINE)
_MOST_BYTES = 1_000_000


class Request(TypedDict):
    """A command: the words behind `tachograph`, its working folder and all of its environment."""

    arguments: list[str]
    cwd: str
    environment: dict[str, str]


def warm_up() -> None:
    """Import all that a command may import, except the command itself, which runs as `__main__`."""
    for package in ("schemas", "ingest", "app"):
        for module in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            source = ROOT.joinpath(*module.name.split("."), *(["__init__"] if module.ispkg else [])).with_suffix(".py")
            if module.name != MODULE and not _USES_STREAMLIT.search(source.read_text(encoding="utf-8")):
                importlib.import_module(module.name)
    for library in LIBRARIES:
        importlib.import_module(library)
    gc.collect()
    gc.freeze()  # else the first collection in each fork copies every page


def serve(channel: socket.socket) -> Request | None:
    """Answer requests, one after the other. Returns twice: in each fork what it is to do, and None here when the socket ends."""
    while True:
        body, streams, _, _ = socket.recv_fds(channel, _MOST_BYTES, 3)
        if not body:
            return None
        child = os.fork()
        if not child:
            channel.close()
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
                os.close(stream)
            request: Request = json.loads(body)
            return request
        for stream in streams:
            os.close(stream)
        channel.send(b"%d" % child)
        _, status = os.waitpid(child, 0)
        channel.send(b"%d" % os.waitstatus_to_exitcode(status))


def become(request: Request) -> NoReturn:
    """Be the command, to its end. Only the interpreter is not taken down: to free all that was imported takes longer than most commands."""
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    os.chdir(request["cwd"])
    sys.path[0] = request["cwd"]  # as `python -m` has it
    sys.argv = ["", *request["arguments"]]
    code = _exit_code()
    threading._shutdown()  # type: ignore[attr-defined]  # as every interpreter ends, and forks of multiprocessing do
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _exit_code() -> int:
    try:
        runpy.run_module(MODULE, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # as the interpreter would
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    warm_up()
    found = serve(socket.socket(fileno=int(sys.argv[1])))
    if found is not None:
        become(found)
