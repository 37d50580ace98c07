"""What a lake stands on, for tests.

PostgreSQL in a temporary folder, and moto's server, which has the interface of S3.

moto is the only server of S3's interface that pip brings alone; it keeps its objects in memory.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

PASSWORD = "marker-of-a-password"
KEY, SECRET = "marker-of-a-key", "marker-of-a-secret"
USER = "lake"

PATIENCE_SECONDS = 60
HERE = "127.0.0.1"


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def program(name: str) -> Path | None:
    """A program of PostgreSQL, which Debian keeps out of the path."""
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    found = places[0] if places else shutil.which(name)
    return Path(found) if found else None


class PostgreSQL:
    """A server of its own in a folder. Root may not run it: then it runs as nobody.

    It listens at `host`, one address or several.
    """

    def __init__(self, folder: Path, host: str = HERE) -> None:
        self.port = free_port()
        self._host = host
        self._folder = folder
        self._as = {"user": "nobody"} if os.getuid() == 0 else {}
        if self._as:
            os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)
        (folder / "password").write_text(PASSWORD)
        self._run(
            "initdb",
            "-D",
            str(folder / "data"),
            "-U",
            USER,
            "-A",
            "scram-sha-256",
            "--pwfile",
            str(folder / "password"),
            "--no-sync",
        )
        if host != HERE:
            with (folder / "data" / "pg_hba.conf").open("a") as allowed:
                allowed.write("host all all samenet scram-sha-256\n")
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers; after a kill it recovers first."""
        options = (
            f"-p {self.port} -k {self._folder} -c listen_addresses={self._host} -c "
            "max_connections=200"
        )
        self._run(
            "pg_ctl",
            "-D",
            str(self._folder / "data"),
            "-o",
            options,
            "-l",
            str(self._folder / "log"),
            "-w",
            "-t",
            "60",
            "start",
        )

    def stop(self) -> None:
        """Stop it at once: connections end."""
        self._run("pg_ctl", "-D", str(self._folder / "data"), "-m", "fast", "-w", "stop")

    def kill(self) -> None:
        """`kill -9` of the server and of all its processes."""
        first = int((self._folder / "data/postmaster.pid").read_text().split()[0])
        os.kill(
            first, signal.SIGSTOP
        )  # so that it starts no other process meanwhile, which would keep the next server out
        own = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(first)], capture_output=True, text=True, check=False
        ).stdout.split()
        pids = (*map(int, own), first)
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        while any(map(_is_running, pids)):
            time.sleep(0.01)
        for lock in (
            "data/postmaster.pid",
            f".s.PGSQL.{self.port}.lock",
        ):  # a zombie that nobody waits for would pass for a running server
            (self._folder / lock).unlink(missing_ok=True)

    def database(self, name: str, host: str = HERE) -> str:
        """A new database.

        Returns the location of a lake in it, without the password, for those who see the server as
        `host`.
        """
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", USER, name)
        return f"ducklake:postgres:host={host} port={self.port} user={USER} dbname={name}"

    def query(self, name: str, sql: str) -> str:
        """The answer of psql."""
        return self._run(
            "psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", USER, "-d", name, "-qtAc", sql
        )

    def _run(self, name: str, *arguments: str) -> str:
        environment = os.environ | {"PGPASSWORD": PASSWORD, "LC_ALL": "C"}
        with (self._folder / "out").open("w") as out:  # no pipe: the server would keep it open
            ended = subprocess.run(
                [str(program(name)), *arguments],
                env=environment,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                check=False,
                timeout=PATIENCE_SECONDS,
                **self._as,
            )  # type: ignore[call-overload]
        said = (self._folder / "out").read_text()
        assert ended.returncode == 0, said
        return said.strip()


def _is_running(pid: int) -> bool:
    """Whether a process is there, and no zombie."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


class ObjectStorage:
    """moto's server behind a relay, so that it can go away and come back with its objects."""

    def __init__(self) -> None:
        self._port = free_port()
        self.port = free_port()
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self._port)]
        self._server = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._listener: socket.socket | None = None
        self._open: list[socket.socket] = []
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
                break
            time.sleep(0.1)
        self.come_back()

    def environment(self, host: str = HERE) -> dict[str, str]:
        """The variables that lead to it."""
        address = f"http://{host}:{self.port}"
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": address,
        }

    def bucket(self, name: str) -> str:
        """A new bucket. Returns the place of a lake's data in it."""
        signed = {
            "Authorization": (
                f"AWS4-HMAC-SHA256 Credential={KEY}/20260101/us-east-1/s3/aws4_request, "
                "SignedHeaders=host, Signature=0"
            )
        }
        urllib.request.urlopen(
            urllib.request.Request(
                f"http://127.0.0.1:{self._port}/{name}", method="PUT", headers=signed
            )
        ).close()
        return f"s3://{name}/lake"

    def go_away(self) -> None:
        """Refuse connections, and cut those that are open."""
        listener, self._listener = self._listener, None
        for one in (listener, *self._open):
            if one:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()
        self._open.clear()

    def come_back(self) -> None:
        """Listen again."""
        self._listener = self.listen(HERE)

    def listen(self, host: str) -> socket.socket:
        """Take connections to an address of this machine, until the socket is closed."""
        listener = socket.create_server((host, self.port), backlog=64)
        Thread(target=self._relay, args=(listener,), daemon=True).start()
        return listener

    def end(self) -> None:
        """End the server."""
        self.go_away()
        self._server.kill()
        self._server.wait()

    def _relay(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = socket.create_connection(("127.0.0.1", self._port))
                self._open += [near, far]
                for one, other in ((near, far), (far, near)):
                    Thread(target=_pass_on, args=(one, other), daemon=True).start()


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := one.recv(1 << 16):
            other.sendall(data)
    for end in (one, other):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@contextmanager
def postgresql(folder: Path, host: str = HERE) -> Iterator[PostgreSQL]:
    """A server for the block."""
    server = PostgreSQL(folder, host)
    try:
        yield server
    finally:
        with suppress(AssertionError):
            server.stop()


@contextmanager
def object_storage() -> Iterator[ObjectStorage]:
    """A server for the block."""
    server = ObjectStorage()
    try:
        yield server
    finally:
        server.end()
