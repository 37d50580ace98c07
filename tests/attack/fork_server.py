"""Runs `tachograph` commands in forks of itself, with everything imported: `python -m tests.attack.fork_server SOCKET`.

So a command starts in milliseconds, and a signal hits the command and not Python's start. Each connection to the socket is one command:
a line of JSON comes in (`tests.attack.forks.Request`), the command's process id goes out at once, and a line of JSON when it has ended.
Ends when its standard input does.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import select
import signal
import socket
import sys
import tempfile
import traceback
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NoReturn

# Heavy imports wait for `warm_up`: worker processes of a command import this module too, as their parent's main module.

SAMPLES = Path(__file__).parents[2] / "sample_logs"
WARMING = (("ingest", str(SAMPLES), "--jobs", "1"), ("rebuild",), ("reprice",), ("report",))


def warm_up() -> None:
    """Run commands here once, so that what they import and load on first use is there for all forks."""
    from app.cli.main import main  # noqa: PLC0415

    former = os.getcwd()  # noqa: PTH109
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:  # noqa: PTH123
        os.chdir(folder)
        with redirect_stdout(nowhere), redirect_stderr(nowhere):
            for arguments in WARMING:
                sys.argv = ["tachograph", *arguments]
                assert main() == 0, arguments
        os.chdir(former)


def serve(address: str) -> None:
    """Fork a keeper for each connection until the standard input ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers are nobody's to wait for
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(256)
        print("ready", flush=True)
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            with connection:
                if not os.fork():
                    listener.close()
                    keep(connection)


def keep(connection: socket.socket) -> NoReturn:
    """Fork the command, tell its id, wait for it, tell how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with connection.makefile("rw") as line:
        request = json.loads(line.readline())
        child = os.fork()
        if not child:
            connection.close()
            run(request)
        print(child, file=line, flush=True)
        _, status, usage = os.wait4(child, 0)
        ended = {
            "code": os.waitstatus_to_exitcode(status),
            "peak_bytes": usage.ru_maxrss * 1024,
            "cpu_seconds": usage.ru_utime + usage.ru_stime,
        }
        print(json.dumps(ended), file=line, flush=True)
    os._exit(0)


def run(request: dict[str, Any]) -> NoReturn:
    """Be the command."""
    code = 130  # what an interrupt after the command leaves
    try:
        _settle(request)
        from app.cli.main import main  # noqa: PLC0415

        code = main()
    except Exception:
        traceback.print_exc()
        code = 1
    finally:
        atexit._run_exitfuncs()  # as every interpreter ends
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _settle(request: dict[str, Any]) -> None:
    os.setpgid(0, 0)
    os.chdir(request["folder"])
    os.environ["TMPDIR"] = request["temporary"]
    os.environ.pop("TACHOGRAPH_DB", None)
    tempfile.tempdir = None
    for number, name in enumerate((os.devnull, f"{request['said']}.out", f"{request['said']}.err")):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND), number)
    if request["file_bytes"]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["file_bytes"], request["file_bytes"]))
    sys.argv = ["tachograph", *request["arguments"]]


if __name__ == "__main__":
    address = sys.argv[1]
    warm_up()
    serve(address)
