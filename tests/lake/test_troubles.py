"""A lake's errors: a sentence with exit code 4, without passwords or keys."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from ingest.store.database import Store
from ingest.store.lake import access
from ingest.store.lake.upkeep import make_lake
from ingest.system.command_lines import extra_command
from schemas.errors import StoreError
from tests.conftest import SAMPLES, Run, ingest_paths
from tests.lake.servers import KEY, PASSWORD, SECRET, ObjectStorage, PostgreSQL, free_port
from tests.lake.writers import runs

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

WRONG = "marker-of-a-wrong-password"
MARKERS = (WRONG, PASSWORD, KEY, SECRET)

COMMANDS = (
    f"ingest {SAMPLES}",
    "report",
    "runs",
    "lake status",
    "lake compact",
    "rebuild",
    "doctor",
    "undo --yes",
    "reprice",
    "sources",
    "usage",
)


def told(tachograph: Run, words: str, location: str) -> str:
    """What a command says that cannot use its lake."""
    ended = tachograph(words, "--db", location)
    said = ended.stdout + ended.stderr
    assert ended.returncode == 4, said
    assert "Traceback" not in said
    assert not [marker for marker in MARKERS if marker in said]
    return said


@pytest.mark.parametrize("words", COMMANDS)
def test_a_wrong_password(lake: Store, tachograph: Run, words: str) -> None:
    _, _, place = lake.location.partition("postgres:")
    assert "the catalog refused the password" in told(
        tachograph, words, f"ducklake:postgres:{place} password='{WRONG}'"
    )


def test_a_wrong_password_in_an_address(server: PostgreSQL, tachograph: Run) -> None:
    said = told(
        tachograph,
        "report",
        f"ducklake:postgres:postgresql://lake:{WRONG}@127.0.0.1:{server.port}/lake",
    )
    assert (
        f"postgresql://lake@127.0.0.1:{server.port}/lake: the catalog refused the password" in said
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda place, _: place.replace("dbname=", "dbname=none_"),
            "the catalog has no such database",
        ),
        (
            lambda place, port: place.replace(f"port={port}", f"port={free_port()}"),
            "the catalog cannot be reached",
        ),
        (
            lambda place, _: place.replace("host=127.0.0.1", "host=none.invalid"),
            "the catalog cannot be reached: could not translate host name",
        ),
        (
            lambda place, _: place.replace("user=lake", "user=nobody_known"),
            "the catalog refused the password",
        ),
    ],
)
def test_a_catalog_that_cannot_be_used(
    lake: Store,
    server: PostgreSQL,
    tachograph: Run,
    change: Callable[[str, int], str],
    sentence: str,
) -> None:
    for words in ("report", f"ingest {SAMPLES}"):
        assert sentence in told(tachograph, words, change(lake.location, server.port))


def test_no_bucket_a_wrong_key_and_no_object_storage(
    empty_database: str,
    in_bucket: str,
    storage: ObjectStorage,
    tachograph: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = "lake init --data s3://there-is-no-such-bucket/lake"
    assert "the object storage has no such bucket" in told(tachograph, words, empty_database)
    make_lake(empty_database, in_bucket)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    many = " ".join([f"ingest {SAMPLES.parent}"])
    assert "the object storage cannot be reached" in told(tachograph, many, empty_database)
    monkeypatch.setenv("AWS_ENDPOINT_URL", storage.environment()["AWS_ENDPOINT_URL"])
    assert tachograph("ingest", str(SAMPLES.parent), "--db", empty_database).returncode == 0


def test_a_lake_of_a_newer_ducklake(lake: Store, server: PostgreSQL, tachograph: Run) -> None:
    server.query(
        lake.location.rpartition("=")[2],
        "update ducklake_metadata set value = '9.9' where key = 'version'",
    )
    assert "take its version of Tachograph here too" in told(tachograph, "report", lake.location)


def test_a_lake_of_a_newer_tachograph(lake: Store, tachograph: Run) -> None:
    lake.write(
        lambda writer: writer.connection.execute("update store_meta set schema_version = 99")
    )
    for words in ("report", f"ingest {SAMPLES}"):
        assert "was written by a newer Tachograph" in told(tachograph, words, lake.location)


@pytest.mark.parametrize(("minutes", "words"), [(63, "ahead of"), (-63, "behind")])
def test_a_clock_that_is_wrong(
    lake: Store, monkeypatch: pytest.MonkeyPatch, minutes: int, words: str
) -> None:
    """Of this process only: nothing here changes the clock of a machine."""
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 60 * minutes)
    with pytest.raises(
        StoreError,
        match=rf"clock of this machine is 1:0[23]:\d\d \(.*\) {words} that of the catalog: nothing",
    ) as raised:
        ingest_paths(lake, SAMPLES)
    assert raised.value.exit_code == 4
    monkeypatch.undo()
    assert runs(lake) == 0
    ingest_paths(lake, SAMPLES)
    assert runs(lake) == 3


def test_a_user_who_may_only_look(lake: Store, server: PostgreSQL, tachograph: Run) -> None:
    """Reads go on; a write says what is missing."""
    name = lake.location.rpartition("=")[2]
    server.query(name, f"create role looker login password '{PASSWORD}'")
    server.query(name, "grant select on all tables in schema public to looker")
    location = lake.location.replace("user=lake", "user=looker")
    try:
        assert tachograph("report --db", location).returncode == 0
        assert "the user of the catalog may not do that" in told(
            tachograph, f"ingest {SAMPLES}", location
        )
    finally:
        server.query(name, "drop owned by looker; drop role looker")


def test_a_catalog_of_somebody_else(
    server: PostgreSQL, empty_database: str, tmp_path: Path, tachograph: Run
) -> None:
    make_lake(empty_database, str(tmp_path / "data"))
    with Store(empty_database).writing() as writer:
        writer.connection.execute("drop table store_meta")
    assert "not a Tachograph store" in told(tachograph, "report", empty_database)


def test_without_the_extensions_it_is_said_what_to_install(
    lake: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(access, "packaged", lambda _: None)
    connection = duckdb.connect(config={"extension_directory": str(tmp_path)})
    with pytest.raises(StoreError, match="a lake needs DuckDB's extension ducklake") as caught:
        access.load(connection, "ducklake")
    assert extra_command("lake") in caught.value.hint


def test_screens_and_commands_never_show_a_password(
    lake: Store, tachograph: Run, screens: Callable[..., AppTest]
) -> None:
    location = f"{lake.location} password={PASSWORD}"
    assert tachograph("ingest", str(SAMPLES), "--db", location).returncode == 0
    for words in (
        "report --format json",
        "report --format html",
        "runs",
        "ingests --format json",
        "doctor",
        "show",
        "sources",
        "lake status",
    ):
        ended = tachograph(words, "--db", location)
        assert ended.returncode == 0, ended.stderr
        assert PASSWORD not in ended.stdout + ended.stderr
    for screen in (
        "screens/overview.py",
        "screens/compare.py",
        "screens/reports.py",
        "screens/run.py",
    ):
        shown = screens(location, screen)
        assert PASSWORD not in "".join(
            str(element.value) for element in (*shown.markdown, *shown.caption, *shown.code)
        )
    wrong = screens(location.replace(PASSWORD, WRONG), "screens/overview.py")
    assert WRONG not in "".join(
        str(element.value) for element in (*wrong.markdown, *wrong.caption, *wrong.error)
    )
