"""Several machines write to one lake: each a network namespace with an address and a host name of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from ingest.store.database import Store
from ingest.store.lake.upkeep import make_lake
from tests.conftest import environment, ingest_paths, record_text
from tests.forks import command
from tests.lake.servers import HERE, ObjectStorage, PostgreSQL, postgresql
from tests.lake.writers import end, totals, write_logs

MACHINES = 4
NETWORK = "10.213.77"
CATALOG = f"{NETWORK}.1"
"""The address of the machine with PostgreSQL and the object storage: this one."""

pytestmark = pytest.mark.skipif(os.getuid() != 0 or not shutil.which("ip"), reason="namespaces of networks need root and the program ip")


def ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True, capture_output=True, text=True)


@pytest.fixture
def machines() -> Iterator[Sequence[str]]:
    """The names of machines, in a network with this one."""
    number = os.getpid() % 10_000
    bridge, names = f"tg{number}", [f"tg{number}-{machine}" for machine in range(MACHINES)]
    with ExitStack() as ending:
        try:
            ip(f"link add {bridge} type bridge")
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no networks can be made here: {error.stderr}")
        ending.callback(ip, f"link del {bridge}")
        ip(f"addr add {CATALOG}/24 dev {bridge}")
        ip(f"link set {bridge} up")
        for machine, name in enumerate(names):
            ending.enter_context(_machine(name, bridge, f"{NETWORK}.{10 + machine}"))
        yield names


@contextmanager
def _machine(name: str, bridge: str, address: str) -> Iterator[None]:
    ip(f"netns add {name}")
    try:
        ip(f"link add {name}o type veth peer name {name}i netns {name}")
        ip(f"link set {name}o master {bridge} up")
        ip(f"-n {name} addr add {address}/24 dev {name}i")
        ip(f"-n {name} link set {name}i up")
        ip(f"-n {name} link set lo up")
        yield
    finally:
        ip(f"netns del {name}")


@pytest.fixture
def own_server(servers_folder: Path, server: PostgreSQL, machines: Sequence[str]) -> Iterator[PostgreSQL]:
    """A PostgreSQL that other machines may connect to, with the password of the shared one."""
    folder = servers_folder / "machines"
    folder.mkdir()
    with postgresql(folder, host=f"{HERE},{CATALOG}") as running:
        yield running


def test_machines_that_write_at_once_leave_what_one_alone_leaves(
    machines: Sequence[str], own_server: PostgreSQL, storage: ObjectStorage, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has a log of its own, and those of its neighbours. No machine sees 127.0.0.1 of this one."""
    keys = storage.environment(CATALOG)
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    storage.listen(CATALOG)
    location = own_server.database("machines", CATALOG)
    make_lake(location, storage.bucket("machines"))
    folders = [write_logs(tmp_path / name, first=100 * number, runs=200) for number, name in enumerate(machines)]
    for name, folder in zip(machines, folders, strict=True):
        (folder / "own.json").write_text(record_text(uuid=name, session_id=name))
    started = []
    for name, folder in zip(machines, folders, strict=True):
        words = " ".join(map(str, command("ingest", folder, "--db", f"'{location}'", "--wait", "200")))
        alone = ["ip", "netns", "exec", name, "unshare", "--uts", "sh", "-c", f"hostname {name}; exec {words}"]
        started.append(subprocess.Popen(alone, env=environment() | keys, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    ended = end(started)
    assert [code for code, _, _ in ended] == [0] * MACHINES, ended
    ingest_paths(store, *folders)
    lake = Store(location)
    assert totals(lake) == totals(store)
    with lake.reading() as connection:
        hosts = connection.execute("select distinct split_part(ingested_by, '@', 2) as host from sources order by host").fetchall()
    assert hosts == [(name,) for name in machines]
