"""Files not modified since they were read are known by path, size and time without being opened."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ingest.pipeline import Options, ingest
from ingest.reading import known_sources
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from tests.conftest import fetched, ingest_paths, record_text

RECORD = record_text(num_turns=1).encode()
OTHER = record_text(num_turns=2).encode()
OLD_NS = time.time_ns() - 60_000_000_000


def write(path: Path, content: bytes, modified_ns: int | None = OLD_NS) -> None:
    path.write_bytes(content)
    if modified_ns:
        os.utime(path, ns=(modified_ns, modified_ns))


def is_known(store: Store, path: Path) -> bool:
    [report] = ingest_paths(store, path).sources
    return report.known


def stamps(store: Store) -> list[int | None]:
    return [modified_ns for (modified_ns,) in fetched(store, "select modified_ns from sources")]


def test_an_unmodified_file_is_not_opened(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    write(path, RECORD)
    assert not is_known(store, path)
    write(path, b"x" * len(RECORD))  # which nobody can know without opening it
    assert is_known(store, path)


def test_a_copy_is_not_opened_again_and_a_touched_one_once(store: Store, tmp_path: Path) -> None:
    first, copy = tmp_path / "a.json", tmp_path / "b.json"
    write(first, RECORD)
    write(copy, RECORD, OLD_NS + 1)
    ingest_paths(store, tmp_path)
    write(copy, b"x" * len(RECORD), OLD_NS + 1)
    assert is_known(store, copy)
    write(copy, RECORD, OLD_NS + 2)
    assert is_known(store, copy)
    write(copy, b"x" * len(RECORD), OLD_NS + 2)
    assert is_known(store, copy)
    assert is_known(store, first)
    assert stamps(store) == [OLD_NS]


def test_sources_are_known_by_their_stamps(store: Store, tmp_path: Path) -> None:
    names = [tmp_path / f"{number}.json" for number in range(3)]
    for path in names:
        write(path, RECORD + b" " * int(path.stem))
    ingest_paths(store, tmp_path)
    known = known_sources.known_sources(store)
    stamps = [stamp for path in names if (stamp := known.stamp(str(path)))]
    assert [stamp.bytes for stamp in stamps] == [len(RECORD) + number for number in range(3)]
    assert {stamp.source_id for stamp in stamps} == set(known.kinds)


@pytest.mark.parametrize("change", [{"modified_ns": OLD_NS + 1}, {"content": OTHER + b"\n"}])
def test_another_time_or_size_is_read(
    store: Store, tmp_path: Path, change: dict[str, object]
) -> None:
    path = tmp_path / "log.json"
    write(path, RECORD)
    assert not is_known(store, path)
    write(path, **{"content": OTHER} | change)  # type: ignore[arg-type]
    assert not is_known(store, path)


def test_a_file_that_was_just_modified_may_change_within_the_same_step_of_the_clock(
    store: Store, tmp_path: Path
) -> None:
    path, now = tmp_path / "log.json", time.time_ns()
    write(path, RECORD, now)
    assert not is_known(store, path)
    assert stamps(store) == [None]
    write(path, OTHER, now)
    assert not is_known(store, path)


def test_a_file_of_the_future_is_always_opened(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    write(path, RECORD, time.time_ns() + 10**15)
    assert not is_known(store, path)
    assert stamps(store) == [None]


def test_a_touched_file_is_opened_once(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    write(path, RECORD)
    ingest_paths(store, path)
    os.utime(path, ns=(OLD_NS + 5, OLD_NS + 5))
    assert is_known(store, path)
    assert stamps(store) == [OLD_NS + 5]
    write(path, b"x" * len(RECORD), OLD_NS + 5)
    assert is_known(store, path)


def test_a_relative_name_may_be_another_file(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, content in (("a", RECORD), ("b", OTHER)):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "log.json", content)
        monkeypatch.chdir(tmp_path / folder)
        assert not is_known(store, Path("log.json"))


def test_a_file_with_rejects_is_read_again_on_request(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    write(path, RECORD + b'\n{"type":"result","subtype":"success","total_cost_usd":"x"}\n')
    ingest_paths(store, path)
    assert is_known(store, path)
    [report] = ingest(read_paths([path]), store, Options(retry_rejects=True)).sources
    assert (report.known, report.rejected) == (False, 1)
