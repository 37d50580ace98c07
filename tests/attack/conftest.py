"""A dashboard for visitors who are no browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.server.access import Access
from tests.serving import served

PROXY = "runs.example.com"
WATCH = """
import sys
def note(event, arguments):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.connect", "socket.sendto"):
        with open({log!r}, "a") as log:
            log.write(f"{{event}} {{arguments}}\\n")
sys.addaudithook(note)
"""  # noqa: E501
"""A `sitecustomize` that writes down whom the process asks or connects to."""


@dataclass(frozen=True)
class Server:
    """A dashboard of the sample runs where everybody uploads, with two files about it.

    The files hold the server's messages and its network contacts.
    """

    address: str
    log: Path
    asked: Path

    @property
    def port(self) -> str:
        return self.address.rpartition(":")[2]


@pytest.fixture(scope="session")
def server(
    tmp_path_factory: pytest.TempPathFactory, samples_read: Callable[..., Path]
) -> Iterator[Server]:
    """One for all: tests that use it are of the xdist group "web"."""
    folder = tmp_path_factory.mktemp("doors")
    store = Path(shutil.copy(samples_read(), folder))
    asked = folder / "asked"
    asked.touch()
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(WATCH.format(log=str(asked)))
    access = Access(hosts=(PROXY, "other.example:8443"))
    with served(
        store, folder / "log", access, PYTHONPATH=str(folder / "site"), TMPDIR=str(folder)
    ) as (address, _):
        yield Server(address, folder / "log", asked)
    assert "Traceback" not in (folder / "log").read_text()
