"""Bytes to documents: what is found, where, and what is told of the rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.containers import Contents, Document, Source, Unreadable, find_files, read, read_paths
from schemas.errors import InputUnreadable, RejectReason
from tests.conftest import record, record_text


def contents(data: str | bytes) -> Contents:
    return read(Source("a file", data.encode() if isinstance(data, str) else data))


def documents(data: str | bytes) -> list[dict[str, object]]:
    return [part.value for part in contents(data).parts if isinstance(part, Document)]


def reasons(data: str | bytes) -> list[RejectReason]:
    return [part.reason for part in contents(data).parts if isinstance(part, Unreadable)]


ONE, TWO = record(uuid="1"), record(uuid="2")


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("object", json.dumps(ONE)),
        ("object", json.dumps(ONE, indent=2) + "\n"),
        ("object", "\ufeff" + json.dumps(ONE)),
        ("array", json.dumps([ONE])),
        ("jsonl", "\n\n" + json.dumps(ONE) + "\r\n\r\n{broken"),
        ("mixed", "starting\n" + json.dumps(ONE) + "\ndone in 3 s\n"),
    ],
)
def test_one_record_is_found_whatever_lies_around_it(kind: str, data: str) -> None:
    assert (contents(data).kind, documents(data)) == (kind, [ONE])


def test_utf_16_is_text() -> None:
    assert documents(json.dumps(ONE).encode("utf-16")) == [ONE]


@pytest.mark.parametrize(
    "data", [json.dumps([ONE, TWO], indent=1), f"{json.dumps(ONE)}\n{json.dumps(TWO)}", json.dumps(ONE) + json.dumps(TWO)]
)
def test_several_records_keep_their_order(data: str) -> None:
    assert documents(data) == [ONE, TWO]


def test_documents_know_where_they_stand() -> None:
    parts = contents("noise\n" + record_text() + "\n" + record_text()).parts
    assert [(part.ordinal, part.position.partition(",")[0]) for part in parts] == [(0, "line 2"), (1, "line 3")]


def test_a_document_keeps_the_text_as_it_was() -> None:
    text = '{"total_cost_usd": 0.8494599499999997,   "type": "result"}'
    [part] = contents(f"[{text}]").parts
    assert isinstance(part, Document)
    assert part.text == text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", RejectReason.EMPTY),
        (b" \r\n\t", RejectReason.EMPTY),
        (b"\x00\x01\x02\xff" * 100, RejectReason.BINARY),
        (bytes(range(128, 256)) * 20, RejectReason.BINARY),
        (b"hello", RejectReason.NOT_JSON),
        (record_text()[:-20].encode(), RejectReason.TRUNCATED),
        (json.dumps(record(), indent=2)[:-20].encode(), RejectReason.TRUNCATED),
        (b'{"type": result}', RejectReason.NOT_JSON),
        (b"[]", RejectReason.NO_RECORD),
        (b"[1, 2, 3", RejectReason.TRUNCATED),
    ],
)
def test_what_is_no_document_is_told_with_its_reason(data: bytes, reason: RejectReason) -> None:
    assert reasons(data) == [reason]
    assert documents(data) == []


def test_a_list_of_numbers_is_refused_number_by_number() -> None:
    assert reasons("[1, 2.5]") == [RejectReason.NO_RECORD, RejectReason.NO_RECORD]


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400) | st.text(alphabet='{}[]",:\\ \n1ae\u2028é', max_size=200).map(lambda text: text.encode()))
def test_any_bytes_are_accounted_for(data: bytes) -> None:
    """No input raises, and none comes to nothing."""
    parts = contents(data).parts
    assert parts
    assert [part.ordinal for part in parts] == list(range(len(parts)))


def test_deep_nesting_is_a_reject_not_a_crash() -> None:
    assert reasons("[" * 100_000) != []
    assert reasons('{"a":' * 100_000) != []


def test_folders_are_walked_in_order_hidden_ones_too(tmp_path: Path) -> None:
    for name in ("b/2.json", "a.json", ".hidden/1.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    found = [str(path.relative_to(tmp_path)) for path in find_files([tmp_path]) if isinstance(path, Path)]
    assert found == [".hidden/1.json", "a.json", "b/2.json"]


def test_looping_and_dangling_links_are_survived(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text("{}")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    assert list(find_files([tmp_path])) == [tmp_path / "log.json"]


def test_a_missing_path_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text("{}")
    missing, found = read_paths([tmp_path / "nowhere", tmp_path / "log.json"])
    assert isinstance(missing, InputUnreadable)
    assert "nowhere: No such file or directory" in missing.message
    assert isinstance(found, Source)
