"""D1: logs that grow, shrink, vanish or are replaced while they are ingested.

Nothing is lost, and nothing is half counted in silence.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from app.cli.doctor import examine
from ingest.pipeline import IngestReport, Options, Progress, ingest
from ingest.sources.files import Source, spooled
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from schemas.errors import ExitCode
from tests.conftest import Run, record, record_text
from tests.examples import examples

HERE = Options(jobs=1)
"""Read in this process, where the sizes below hold."""

EVENT = json.dumps({"type": "system", "subtype": "init", "session_id": "s"})
NOTHING_LOADED = {"reading.read_source.SMALL_BYTES": 0, "reading.tasks.SMALL_BYTES": 0}
SIZES = {
    "whole": {},
    "in one go": NOTHING_LOADED,
    "portions": NOTHING_LOADED
    | {
        "reading.tasks.BIG_BYTES": 1,
        "sources.files.BIG_BYTES": 1,
        "sources.files.PORTION_BYTES": 1500,
    },
}
"""The ways a file is read, by the sizes at which each begins."""


@pytest.fixture(params=SIZES)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    read_in(request.param, monkeypatch)
    return str(request.param)


def read_in(way: str, patch: pytest.MonkeyPatch) -> None:
    for name, size in SIZES[way].items():
        patch.setattr(f"ingest.{name}", size)


def lines(*uuids: object) -> str:
    return "".join(record_text(uuid=str(uuid), session_id=str(uuid)) + "\n" for uuid in uuids)


def append(path: Path, text: str | bytes) -> None:
    with path.open("ab") as log:
        log.write(text.encode() if isinstance(text, str) else text)


def run_ids(store: Store) -> list[str]:
    with store.reading() as connection:
        return [
            run_id
            for (run_id,) in connection.execute(
                "select run_id from runs order by run_id"
            ).fetchall()
        ]


def rejects(store: Store) -> list[tuple[Any, ...]]:
    with store.reading() as connection:
        return connection.execute(
            "select name, position, reason, detail from rejects join sources using "
            "(source_id) order by all"
        ).fetchall()


def counts(report: IngestReport) -> tuple[int, ...]:
    return tuple(
        report.total(name)
        for name in ("documents", "accepted", "duplicates", "rejected", "ignored")
    )


def assert_balanced(store: Store) -> None:
    assert [finding for finding in examine(store) if finding.exit_code] == []
    with store.reading() as connection:
        unbalanced = (
            "select * from sources where documents <> accepted + duplicates + rejected + ignored"
        )
        assert connection.execute(unbalanced).fetchall() == []


def test_d1_what_is_appended_while_a_file_is_read_comes_with_the_next_ingest(
    store: Store, tmp_path: Path, way: str
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(lines(*range(10)))

    late: list[str] = []

    def grow(_: Progress) -> None:
        late.append(f"late{len(late)}")
        append(log, lines(late[-1]))

    first = ingest(read_paths([log]), store, HERE, grow)
    assert counts(first) == (10, 10, 0, 0, 0)
    second = ingest(read_paths([log]), store, HERE)
    assert counts(second) == (10 + len(late), len(late), 10, 0, 0)
    assert set(late) <= set(run_ids(store))
    assert_balanced(store)


@pytest.mark.parametrize("change", ["cut", "replaced", "written over", "gone"])
def test_d1_a_log_changed_while_its_portions_are_read_is_told_and_counts_nothing(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    read_in("portions", monkeypatch)
    log, new = tmp_path / "log.jsonl", tmp_path / "new.jsonl"
    log.write_text(lines(*range(10, 30)))
    changed = lines(*range(30, 50))

    def alter(_: Progress) -> None:
        if change == "cut":
            os.truncate(log, 2000)
        elif change == "replaced":
            new.write_text(changed)
            new.replace(log)
        elif change == "written over":
            log.write_text(changed)
        else:
            log.unlink(missing_ok=True)

    report = ingest(
        [*read_paths([log]), Source("other", lines("other").encode())], store, HERE, alter
    )
    said = (
        f"cannot read {log}: it became shorter while it was being read"
        if change == "cut"
        else f"cannot read {log}"
    )
    assert [said in error.message for error in report.unreadable] == [True]
    assert run_ids(store) == ["other"]
    if change in ("replaced", "written over"):
        assert counts(ingest(read_paths([log]), store, HERE)) == (20, 20, 0, 0, 0)
    assert_balanced(store)


def packed_as_zip(*texts: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number, text in enumerate(texts):
            archive.writestr(f"{number}.jsonl", text)
    return packed.getvalue()


def packed_as_tar(*texts: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for number, text in enumerate(texts):
            entry = tarfile.TarInfo(f"{number}.jsonl")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


@pytest.mark.parametrize("pack", [packed_as_zip, packed_as_tar])
def test_d1_an_archive_replaced_while_it_is_read_is_not_taken_for_read(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[..., bytes]
) -> None:
    """A member is handed on, and meanwhile the archive is packed anew in place.

    What was read is no whole archive's.
    """
    read_in("in one go", monkeypatch)
    packed = tmp_path / "packed"
    packed.write_bytes(pack(*(lines(number) for number in range(10, 20))))
    changed = pack(*(lines(number) for number in range(20, 30)))

    def disturbed(*given: Any) -> Any:
        packed.write_bytes(changed)
        return spooled(*given)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr("ingest.sources.archives.spooled", disturbed)
        report = ingest(read_paths([packed]), store, HERE)
    assert [error.message for error in report.unreadable] == [
        f"cannot read {packed}: it changed while it was being read"
    ]
    ingest(read_paths([packed]), store, HERE)
    assert set(map(str, range(20, 30))) <= set(run_ids(store))
    assert_balanced(store)


def test_d1_rejects_stay_where_a_file_did_not_grow_but_is_another(
    store: Store, tmp_path: Path
) -> None:
    log, other = tmp_path / "log.jsonl", tmp_path / "other.jsonl"
    log.write_text(lines("a") + lines("b")[:-100])
    ingest(read_paths([log]), store, HERE)
    log.write_text(lines("x", "y", "z"))
    other.write_text(lines("a", "b"))
    ingest(read_paths([tmp_path]), store, HERE)
    assert [row[2] for row in rejects(store)] == ["truncated"]
    assert_balanced(store)


def state(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """All that must not depend on how often a growing log was read on its way."""
    tables = {
        "runs": "select * exclude (source_id, ordinal) from runs order by run_id",
        "model_usage": "select * from model_usage order by run_id, model_id",
        "rejects": (
            "select regexp_extract(position, 'byte [0-9]+') as place, reason, detail, excerpt "
            "from rejects order by all"
        ),
    }
    with store.reading() as connection:
        return {table: connection.execute(sql).fetchall() for table, sql in tables.items()}


FINAL = "\n".join(
    [
        *(
            record_text(
                uuid=f"u{number}",
                session_id=f"s{number % 3}",
                num_turns=number,
                result="→ done" * number,
            )
            for number in range(12)
        ),
        "text between the lines",
        record_text(uuid="bad", num_turns="many"),
        record_text(uuid="u1", session_id="s1", num_turns=1, result="→ done"),
        json.dumps(record(uuid="last", result="“é”"), ensure_ascii=False),
        '{"type": "result", "cut": ',
    ]
).encode()


@pytest.fixture(scope="module")
def at_once(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What one ingest of the final log gives."""
    folder = tmp_path_factory.mktemp("once")
    (folder / "log.jsonl").write_bytes(FINAL)
    store = Store(folder / "once.duckdb")
    ingest(_dated(read_paths([folder / "log.jsonl"])), store, HERE)
    return state(store)


@settings(
    examples(1),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.explicit, Phase.generate],
)
@given(
    cuts=st.lists(st.integers(0, len(FINAL) - 1), min_size=1, max_size=2, unique=True).map(sorted),
    way=st.sampled_from(list(SIZES)),
)
@example(cuts=[0, len(FINAL) // 2], way="portions")
def test_d1_however_a_log_grew_the_store_is_that_of_one_ingest_of_all_of_it(
    tmp_path_factory: pytest.TempPathFactory, at_once: Any, cuts: list[int], way: str
) -> None:
    """The log is listed, grows to the next cut, is read, and so on.

    Then once more when it is complete.
    """
    folder = tmp_path_factory.mktemp("grown")
    log, store = folder / "log.jsonl", Store(folder / "grown.duckdb")
    with pytest.MonkeyPatch.context() as patch:
        read_in(way, patch)
        for cut in cuts:
            log.write_bytes(FINAL[: cut // 2])
            listed = list(read_paths([log]))
            log.write_bytes(FINAL[:cut])
            ingest(_dated(listed), store, HERE)
        assert_balanced(store)
        log.write_bytes(FINAL)
        ingest(_dated(read_paths([log])), store, HERE)
    assert state(store) == at_once
    assert_balanced(store)


def _dated(sources: Any) -> list[Source]:
    """Without the time of change, which is another one each time."""
    return [Source(source.name, path=source.path) for source in sources]


WRITER = """
import itertools, sys, time
with open(sys.argv[1], "a", buffering=1) as log:
    for number in itertools.count():
        text = sys.argv[2].replace("NEW", f"new{number}")
        for half in (text[:200], text[200:] + "\\n"):
            log.write(half)
            log.flush()
            time.sleep(0.002)
"""


@pytest.mark.thorough
def test_d1_a_big_log_that_grows_all_the_while_as_the_command_reads_it(
    tachograph: Run, tmp_path: Path
) -> None:
    """A log over 32 MB is read while a writer never stops and seldom ends a line.

    It is read in portions and by several processes.
    """
    log, store = tmp_path / "log.jsonl", Store(tmp_path / "tachograph.duckdb")
    filler = "x" * 200_000
    log.write_text(
        "".join(
            record_text(uuid=f"u{number}", session_id=f"s{number}", filler=filler) + "\n"
            for number in range(170)
        )
    )
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, log, record_text(uuid="NEW", session_id="NEW")]
    ) as writer:
        first = tachograph("ingest", log, "--json")
        writer.terminate()
    assert first.returncode == ExitCode.OK, first.stderr
    begun, whole = log.read_bytes().count(b'"type": "result"'), log.read_bytes().count(b"}\n")
    last = ingest(read_paths([log]), store)
    assert json.loads(first.stdout)["accepted"] + last.total("accepted") == whole > 170
    assert counts(last)[0] == begun
    assert len(run_ids(store)) == whole
    assert len(rejects(store)) == begun - whole
    assert_balanced(store)
