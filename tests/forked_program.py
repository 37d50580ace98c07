"""`tachograph` as a program that scripts can start, each time in a fork of the tests' server.

In a hundredth of the time of an interpreter.

The program sends its words to a thread of the test, which runs the command, and gives what it said
and its exit code.
"""

from __future__ import annotations

import base64
import json
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

from tests.forks import Forks

_PROGRAM = """#!{python} -IS
import base64, json, os, socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect({address!r})
connection.sendall(json.dumps([os.getcwd(), sys.argv[1:], dict(os.environ)]).encode())
connection.shutdown(socket.SHUT_WR)
code, *said = json.load(connection.makefile())
for number, text in enumerate(said, 1):
    os.write(number, base64.b64decode(text))
os._exit(code)
"""


@contextmanager
def forked_program(path: Path, forks: Forks) -> Iterator[None]:
    """Write the program to a file, which works until the end of the block."""
    with (
        TemporaryDirectory() as short,
        socket.socket(socket.AF_UNIX) as listening,
    ):  # an address has at most 107 bytes
        address = Path(short, "socket")
        listening.bind(str(address))
        listening.listen()
        path.write_text(_PROGRAM.format(python=sys.executable, address=str(address)))
        path.chmod(0o755)
        server = Thread(target=_serve, args=(listening, forks), daemon=True)
        server.start()
        yield
        listening.shutdown(socket.SHUT_RDWR)
        server.join()


def _serve(listening: socket.socket, forks: Forks) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:  # the end
            return
        with connection:
            folder, words, environment = json.load(connection.makefile())
            ended = forks.run(Path(folder), *words, environment=environment)
            said = (base64.b64encode(text).decode() for text in (ended.stdout, ended.stderr))
            connection.sendall(json.dumps([ended.code, *said]).encode())
