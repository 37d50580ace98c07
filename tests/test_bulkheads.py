"""No file ends an ingest.

Whatever is raised by a reader, a commit or the file system is a reject of that file, and all others
are read.
"""

from __future__ import annotations

import builtins
import errno
import io
import json
import os
import random
import shutil
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import duckdb
import pytest

from app.queries import quality as quality_queries
from app.queries.reading import exported
from ingest.agents import readers
from ingest.agents.base import AgentReader, Found
from ingest.pipeline import IngestReport, Options, ingest
from ingest.reading import read_source
from ingest.sources import contents
from ingest.sources.document import Document
from ingest.sources.files import Source
from ingest.sources.walking import read_paths
from ingest.store import commit, cross_checks
from ingest.store.database import Store
from ingest.system import bounds
from schemas.agents import AGENTS, Format, words
from schemas.file_kinds import FileKind
from tests.conftest import SAMPLES, fetched, ingest_paths, record_text
from tests.examples import size

pytestmark = pytest.mark.slow


def rejects(store: Store) -> list[dict[str, Any]]:
    return list(quality_queries.every_reject(store).to_pylist())


def of_agent(
    monkeypatch: pytest.MonkeyPatch,
    feed: Callable[[], object],
    end: Callable[[], object] = lambda: (),
    event: str = "ticking",
) -> None:
    """Register an agent with `feed` for events of a type and `end` for source ends."""

    class Ticking(AgentReader):
        agent = f"{event}-agent"

        @staticmethod
        def recognises(document: Document) -> bool:
            return bool(document.value.get("type") == event)

        def feed(self, document: Document) -> Iterable[Found]:  # noqa: ARG002
            return cast("Iterable[Found]", feed())

        def end(self) -> Iterable[Found]:
            return cast("Iterable[Found]", end())

    monkeypatch.setitem(readers.BY_TYPE, event, (Ticking,))


def three_files(folder: Path, middle: str = '{"type": "ticking"}') -> Path:
    """Two records, and between them a file that is read by another reader."""
    (folder / "a.json").write_text(record_text(uuid="a"))
    (folder / "b.jsonl").write_text(middle)
    (folder / "c.json").write_text(
        record_text(uuid="c", session_id="22222222-2222-2222-2222-222222222222")
    )
    return folder


def endless() -> object:
    while True:
        pass


def hungry() -> object:
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def raising(error: BaseException) -> Callable[[], object]:
    def feed() -> object:
        raise error

    return feed


FAILING: tuple[tuple[Callable[[], object], str, str], ...] = (
    (endless, "too_much", "seconds of processor time"),
    (hungry, "too_much", "MB of memory"),
    (raising(MemoryError()), "too_much", "more memory than there is"),
    (raising(RecursionError("too deep")), "reader_defect", "reader for odd-3-agent"),
    (raising(SystemError("odd")), "reader_defect", "SystemError"),
)


def test_a_reader_costs_its_file_alone(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "SECONDS", 0.5)
    monkeypatch.setattr(bounds, "MEGABYTES", 100.0)
    for number, (feed, _, _) in enumerate(FAILING):
        of_agent(monkeypatch, feed, event=f"odd-{number}")
        (tmp_path / f"b{number}.jsonl").write_text(f'{{"type": "odd-{number}"}}')
    report = ingest_paths(store, three_files(tmp_path, record_text(uuid="b", session_id="b")))
    assert [report.total(name) for name in ("accepted", "rejected")] == [3, len(FAILING)]
    found = {Path(reject["source_name"]).stem: reject for reject in rejects(store)}
    for number, (_, reason, said) in enumerate(FAILING):
        reject = found[f"b{number}"]
        assert (reject["reason"], said in reject["detail"]) == (reason, True), reject


def test_a_reader_that_fails_at_the_end_costs_its_file_alone(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_agent(monkeypatch, lambda: (), raising(KeyError("usage")))
    report = ingest_paths(
        store, three_files(tmp_path, '{"type": "ticking"}\n' + record_text(uuid="b"))
    )
    assert [report.total(name) for name in ("accepted", "rejected", "ignored")] == [3, 1, 1]
    [reject] = rejects(store)
    assert "KeyError" in reject["detail"]


def test_a_reader_that_cannot_be_imported_is_named(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = replace(
        AGENTS["trae-agent"],
        formats=(Format("record", "1", "no_such_module.Reader", names=(words("acme_run"),)),),
    )
    monkeypatch.setitem(AGENTS, "acme", entry)
    monkeypatch.setattr(readers, "BY_TYPE", type(readers.BY_TYPE)())
    report = ingest_paths(store, three_files(tmp_path, '{"acme_run": 1}'))
    assert [report.total(name) for name in ("accepted", "rejected")] == [2, 1]
    for [reject] in (rejects(store), rejects(exported(store))):
        assert reject["reason"] == "reader_missing"
        assert (
            "no_such_module.Reader cannot be imported: ModuleNotFoundError: No module named"
            in reject["detail"]
        )


FILES = 3
"""Enough for two rounds of halving."""


@pytest.mark.parametrize("guilty", [{0, 2}, set(range(FILES))])
def test_a_source_that_the_store_does_not_take_is_rejected(
    guilty: set[int], store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A statement that fails because of some runs is found by halving.

    The others are one ingest, which can be undone.
    """
    sessions = [f"{number:08}-0000-4000-8000-000000000000" for number in range(FILES)]
    for number, session in enumerate(sessions):
        (tmp_path / f"{number:02}.json").write_text(
            record_text(uuid=f"u-{number}", session_id=session)
        )
    unwelcome = tuple(sessions[number] for number in guilty)
    note_cross_checks = cross_checks.note_cross_checks

    def failing(connection: duckdb.DuckDBPyConnection, touched: str) -> None:
        sql = (
            "select error('no such run') from runs semi join winners using (run_id) where "
            "list_contains($unwelcome, session_id)"
        )
        connection.execute(sql, {"unwelcome": unwelcome}).fetchall()
        note_cross_checks(connection, touched)

    monkeypatch.setattr(commit, "note_cross_checks", failing)
    report = ingest_paths(store, tmp_path)
    assert [report.total(name) for name in ("documents", "accepted", "rejected")] == [
        FILES,
        FILES - len(guilty),
        len(guilty),
    ]
    assert {Path(reject["source_name"]).stem for reject in rejects(store)} == {
        f"{number:02}" for number in guilty
    }
    assert all("no such run" in reject["detail"] for reject in rejects(store))
    with store.reading() as connection:
        [row] = connection.execute(
            "select ingest_id, sources, accepted, rejected from ingests"
        ).fetchall()
        assert row == (report.ingest_id, FILES, FILES - len(guilty), len(guilty))
        assert connection.execute("select count(*) from runs").fetchone() == (FILES - len(guilty),)
    monkeypatch.setattr(commit, "note_cross_checks", note_cross_checks)
    mended = ingest(
        [Source(str(path), path.read_bytes()) for path in sorted(tmp_path.glob("*.json"))],
        store,
        Options(retry_rejects=True),
    )
    assert mended.total("rejected") == 0
    with store.reading() as connection:
        assert connection.execute("select count(*) from runs").fetchone() == (FILES,)


_SECONDS = {
    "mean": 1.0,
    "stddev": 0.1,
    "median": 1.0,
    "user": 0.1,
    "system": 0.1,
    "min": 0.9,
    "max": 1.1,
    "times": [0.9, 1.0, 1.1],
}
MEASURED = json.dumps({"results": [{"command": "sleep 1"} | _SECONDS]})


@pytest.mark.parametrize("text", ['variant = "cand', 'variant = "sideways"', "a = 1\n" * 300_000])
def test_a_measure_toml_that_makes_no_sense_is_a_reject_of_its_own(
    text: str, store: Store, tmp_path: Path
) -> None:
    """Whether its folder is given, or only a result beside it, or an archive with both."""
    (tmp_path / "result.json").write_text(MEASURED)
    (tmp_path / "measure.toml").write_text(text)
    (tmp_path / "run.json").write_text(record_text())
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for name in ("result.json", "measure.toml"):
            archive.write(tmp_path / name, name)
    for number, paths in enumerate(([tmp_path / "result.json"], [tmp_path])):
        target = Store(f"{store.location}.{number}")
        report = ingest_paths(target, *paths)
        assert report.total("measurements") >= 1
        assert {
            Path(reject["source_name"].replace("!", "/")).name for reject in rejects(target)
        } == {"measure.toml"}
        assert report.total("documents") == sum(
            report.total(name) for name in ("accepted", "duplicates", "rejected", "ignored")
        )


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), os.mkdir])
def test_what_is_no_file_beside_a_result_is_not_opened(
    make: Callable[[Path], object], store: Store, tmp_path: Path
) -> None:
    """Otherwise the ingest waits for ever."""
    (tmp_path / "result.json").write_text(MEASURED)
    make(tmp_path / "measure.toml")
    assert ingest_paths(store, tmp_path).total("measurements") >= 1


FORMATS = (
    (b"PAR1\x15\x04" + b"plain text of a column, " * 400, FileKind.PARQUET),
    (b"ARROW1\0\0" + b"plain text " * 400, FileKind.BINARY),
    (b"\x7fELF\x02\x01" + b"strings " * 400, FileKind.BINARY),
    (b"%PDF-1.7\n" + b"stream of words " * 400, FileKind.BINARY),
    (b"PARTS of a text\n" * 40, FileKind.TEXT),
)


def test_binary_formats_are_never_read_as_text(store: Store) -> None:
    """Not even those that hold a record as text, as a table of results does."""
    files = [
        head + (record_text().encode() if kind is not FileKind.TEXT else b"")
        for head, kind in FORMATS
    ]
    report = ingest([Source(f"{number}.bin", file) for number, file in enumerate(files)], store)
    for source, (_, kind) in zip(
        sorted(report.sources, key=lambda one: one.name), FORMATS, strict=True
    ):
        assert source.kind is kind or (kind is FileKind.BINARY and source.rejected == 1)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], dict[str, str]]:
    """Some files of every kind with what lies beside them, and the source of each run in them."""
    folder = tmp_path_factory.mktemp("logs")
    more = shutil.ignore_patterns("vllm_*-00[0-9][1-9]", "modal", "docker", "separate_*")
    shutil.copytree(SAMPLES.parent, folder, ignore=more, dirs_exist_ok=True)
    store = Store(tmp_path_factory.mktemp("whole") / "runs.duckdb")
    ingest_paths(store, folder)
    return sorted(path for path in folder.rglob("*") if path.is_file()), runs_of(store)


CALLS: tuple[tuple[Any, str], ...] = (
    (os, "stat"),
    (os, "open"),
    (builtins, "open"),
    (io, "FileIO"),
    (os, "scandir"),
    (contents, "read"),
    (read_source, "gather"),
)
"""What is made to fail, one at a time."""


@pytest.mark.parametrize("number", range(size(len(CALLS), thorough=40)))
def test_an_error_of_the_file_system_costs_its_file_alone(
    number: int,
    store: Store,
    logs: tuple[list[Path], dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same file fails at one kind of call, with one kind of error; all others come in whole."""
    files, whole = logs
    chance = random.Random(number)
    victim = str(chance.choice(files))
    where, name = CALLS[number % len(CALLS)]
    error = chance.choice(
        [
            OSError(errno.EIO, "I/O error"),
            OSError(errno.EACCES, "Denied"),
            ValueError("odd"),
            AssertionError(),
        ]
    )
    actual = getattr(where, name)

    def failing(*args: Any, **options: Any) -> Any:
        if any(victim in (str(one), str(getattr(one, "name", ""))) for one in args[:2]):
            raise error
        return actual(*args, **options)

    found = list(read_paths([Path(os.path.commonpath(files))]))
    with monkeypatch.context() as patch:
        patch.setattr(where, name, failing)
        report = ingest(found, store)
    read = runs_of(store)
    lost = whole.keys() - read.keys()
    assert {whole[run] for run in lost} <= {victim}
    assert told(report, victim) or not lost
    assert read.keys() <= whole.keys()


def runs_of(store: Store) -> dict[str, str]:
    """run_id → name of its source."""
    return dict(fetched(store, "select run_id, name from runs join sources using (source_id)"))


def told(report: IngestReport, victim: str) -> bool:
    """Whether the report names the file among those that could not be read."""
    return any(victim in str(error) for error in report.unreadable) or any(
        source.name == victim and source.rejected for source in report.sources
    )
