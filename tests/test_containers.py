"""Bytes to documents: what is found, where, and what is told of the rest."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ingest.sources.archives import archive_kind
from ingest.sources.contents import read
from ingest.sources.document import Document
from ingest.sources.files import Portion, Source, Unreadable, portions
from ingest.sources.walking import read_paths
from schemas.errors import InputUnreadable, RejectReason
from schemas.file_kinds import NO_LOGS, FileKind
from tests.conftest import record, record_text
from tests.examples import examples


def parts_of(data: str | bytes) -> list[Document | Unreadable]:
    return list(read(Source("a file", data.encode() if isinstance(data, str) else data)))


def file_kind(data: str | bytes) -> FileKind:
    """What a source is in which nothing looks like a run."""
    contents = read(Source("x", data if isinstance(data, bytes) else data.encode()))
    list(contents)
    return contents.file_kind


def kind(data: str) -> str:
    contents = read(Source("a file", data.encode()))
    assert list(contents)
    return contents.kind


def documents(data: str | bytes) -> list[dict[str, object]]:
    return [part.value for part in parts_of(data) if isinstance(part, Document)]


def reasons(data: str | bytes) -> list[RejectReason]:
    return [part.reason for part in parts_of(data) if isinstance(part, Unreadable)]


ONE, TWO = record(uuid="1"), record(uuid="2")


@pytest.mark.parametrize(
    ("expected", "data"),
    [
        ("object", json.dumps(ONE)),
        ("object", json.dumps(ONE, indent=2) + "\n"),
        ("object", "\ufeff" + json.dumps(ONE)),
        ("array", json.dumps([ONE])),
        ("jsonl", "\n\n" + json.dumps(ONE) + '\r\n\r\n{"broken'),
        ("mixed", "starting\n" + json.dumps(ONE) + "\ndone in 3 s\n"),
    ],
)
def test_one_record_is_found_whatever_lies_around_it(expected: str, data: str) -> None:
    assert (kind(data), documents(data)) == (expected, [ONE])


@pytest.mark.parametrize("text", ["a\0b\n{}\n", "\0\n{}\0\n\0", "Café \0\0\0\n> {}\n"])
def test_the_odd_nul_makes_no_binary_of_a_log(text: str) -> None:
    assert documents(text.replace("{}", json.dumps(ONE))) == [ONE]


@pytest.mark.parametrize("text", ["H{}\n", "log\nH{}\n", "log\n{}\nH", "{}\nH\nlog"])
def test_a_hole_in_a_log_makes_no_binary_of_it_either(text: str) -> None:
    """Such as a log has that was truncated while it was written, or that a crash cut off."""
    assert documents(text.replace("{}", json.dumps(ONE)).replace("H", "\0" * 20_000)) == [ONE]


@pytest.mark.parametrize(
    "data", [b"\0" * 20_000, b"SQLite format 3\0" + b"\0" * 4000 + b"create table runs (cost);" * 9]
)
def test_nothing_but_nuls_and_a_database_are_binary(data: bytes) -> None:
    assert (file_kind(data), reasons(data)) == (FileKind.BINARY, [])


@pytest.mark.parametrize(
    "data",
    [
        json.dumps([ONE, TWO], indent=1),
        f"{json.dumps(ONE)}\n{json.dumps(TWO)}",
        json.dumps(ONE) + json.dumps(TWO),
    ],
)
def test_several_records_keep_their_order(data: str) -> None:
    assert documents(data) == [ONE, TWO]


def test_documents_know_where_they_stand() -> None:
    parts = parts_of("noise\n" + record_text() + "\n" + record_text())
    assert [(part.ordinal, part.position.partition(",")[0]) for part in parts] == [
        (0, "line 2"),
        (1, "line 3"),
    ]


def test_a_document_keeps_the_text_as_it_was() -> None:
    text = '{"total_cost_usd": 0.8494599499999997,   "type": "result"}'
    [part] = parts_of(f"[{text}]")
    assert isinstance(part, Document)
    assert part.text == text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"text \0\0\0\0 " * 200 + record_text().encode(), RejectReason.NOT_JSON),
        (record_text()[:-20].encode(), RejectReason.TRUNCATED),
        (json.dumps(record(), indent=2)[:-20].encode(), RejectReason.TRUNCATED),
        (b'{"type":"assistant","message":{', RejectReason.TRUNCATED),
        (b'{"type": "result", "num_turns": x}', RejectReason.NOT_JSON),
    ],
)
def test_what_looks_like_a_run_is_told_with_its_reason(data: bytes, reason: RejectReason) -> None:
    assert reasons(data) == [reason]
    assert documents(data) == []


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("x", b"", FileKind.EMPTY),
        ("x", b"\x00\x01\x02\xff" * 100, FileKind.BINARY),
        ("x", "text → é 🎉\n".encode("utf-16-le") * 20, FileKind.BINARY),
        ("run.json", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" * 9, FileKind.PICTURE),
        ("a.jpg", b"\xff\xd8\xff\xe0\x00\x10JFIF" * 9, FileKind.PICTURE),
        (
            "a",
            b"<?xml version='1.0'?>\n<svg xmlns='http://www.w3.org/2000/svg'/>",
            FileKind.PICTURE,
        ),
        ("x", b"hello", FileKind.TEXT),
        ("notes.md", b'# Notes\n\nAn object: {"a": 1}\n', FileKind.TEXT),
        ("run", b"#!/bin/sh\necho hello\n", FileKind.SOURCE),
        ("settings.toml", b"[a]\nb = 1\n", FileKind.SOURCE),
        (
            "a.txt",
            b'diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{"a": 1}\n',
            FileKind.PATCH,
        ),
        ("a.txt", b"a,b,c\n1,2,3\n4,5,6\n7,8,9\n", FileKind.CSV),
        ("x", b"[1, 2, 3", FileKind.JSON),
        ("x", b'{"a": 1}\n{"a": 2}\n', FileKind.JSON),
        ("tsconfig.json", b'{\n  // comment\n  "a": {"b": 1,},\n}', FileKind.JSON),
        ("cut.json", b'{"name": "x", "scripts": {"a":', FileKind.JSON),
    ],
)
def test_a_file_that_is_no_log_has_a_kind(name: str, data: bytes, expected: FileKind) -> None:
    contents = read(Source(name, data))
    assert not [part for part in contents if isinstance(part, Unreadable) and part.certain]
    assert contents.file_kind is expected


@pytest.mark.parametrize("data", ["[1, 2.5]", "12", '"text"', "[" + "1, " * 9000 + "1]"])
def test_json_without_an_object_is_json(data: str) -> None:
    assert (file_kind(data), reasons(data)) == (FileKind.JSON, [])


@pytest.mark.slow
@examples(100)
@given(
    st.binary(max_size=400)
    | st.text(alphabet='{}[]",:\\ \n1ae\u2028é', max_size=200).map(lambda text: text.encode())
)
def test_any_bytes_are_accounted_for(data: bytes) -> None:
    """No input raises, and what holds no document has a kind."""
    contents = read(Source("x", data))
    parts = list(contents)
    assert parts or contents.file_kind in NO_LOGS
    assert [part.ordinal for part in parts] == list(range(len(parts)))


@pytest.mark.slow
def test_deep_nesting_is_no_crash() -> None:
    assert file_kind("[" * 100_000) is FileKind.JSON
    assert file_kind('{"a":' * 100_000) is FileKind.JSON
    assert reasons('{"type":"result","a":' + '{"a":' * 100_000) == [RejectReason.NOT_JSON]


def test_folders_are_walked_in_order_hidden_ones_too(tmp_path: Path) -> None:
    for name in ("b/2.json", "a.json", ".hidden/1.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    found = [
        str(one.path.relative_to(tmp_path))
        for one in read_paths([tmp_path])
        if isinstance(one, Source) and one.path
    ]
    assert found == [".hidden/1.json", "a.json", "b/2.json"]


def test_looping_and_dangling_links_are_survived(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text("{}")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    assert [one.path for one in read_paths([tmp_path]) if isinstance(one, Source)] == [
        tmp_path / "log.json"
    ]


def test_a_missing_path_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text("{}")
    missing, found = read_paths([tmp_path / "nowhere", tmp_path / "log.json"])
    assert isinstance(missing, InputUnreadable)
    assert "nowhere: No such file or directory" in missing.message
    assert isinstance(found, Source)


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "zst": zstandard.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "gz twice": lambda data: gzip.compress(gzip.compress(data)),
    "gz in members": lambda data: gzip.compress(data[:100]) + gzip.compress(data[100:]),
}
LINES = "\n".join(record_text(uuid=str(number)) for number in range(200)).encode()


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_compressed_files_are_read_by_their_content(compression: str) -> None:
    source = Source("a file without suffix", COMPRESSIONS[compression](LINES))
    assert len(list(read(source))) == 200
    assert archive_kind(source) is None


@pytest.mark.slow
@pytest.mark.parametrize("compression", ["gz", "zst", "bz2", "xz"])
def test_a_compressed_file_that_ends_early_gives_what_it_held_and_says_so(compression: str) -> None:
    lines = b"\n".join(
        record_text(uuid=str(number), result=str(hash(str(number))) * 40).encode()
        for number in range(2000)
    )
    data = COMPRESSIONS[compression](lines)
    parts = parts_of(data[: len(data) * 9 // 10])
    assert isinstance(parts[-1], Unreadable)
    assert parts[-1].reason == RejectReason.TRUNCATED
    assert [part.ordinal for part in parts] == list(range(len(parts)))
    assert compression == "bz2" or len(parts) > 10


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_every_encoding_and_line_break_is_read(encoding: str, line_break: str) -> None:
    text = line_break.join(
        json.dumps(record(uuid=uuid, result="→ é 🎉"), ensure_ascii=False) for uuid in "ab"
    )
    assert [value["uuid"] for value in documents(text.encode(encoding))] == ["a", "b"]


class Standard(io.TextIOWrapper):
    """Standard input that holds some bytes."""


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Standard(io.BytesIO(LINES)))
    [source] = read_paths([Path("-")])
    assert isinstance(source, Source)
    assert (source.name, len(list(read(source)))) == ("stdin", 200)


QUOTED: list[dict[str, object]] = [
    {"type": "user", "message": {"content": [{"type": "tool_result", "content": record_text()}]}},
    {"type": "user", "tool_use_result": record()},
    {"role": "tool", "tool_call_id": "1", "content": record_text()},
    {"messages": [{"role": "user", "content": [{"text": record_text()}, {"json": record()}]}]},
    {"contents": [{"role": "user", "parts": [{"text": record_text()}]}]},
    {"body": json.dumps({"role": "tool", "content": record_text()})},
]


def test_records_quoted_in_an_event_are_no_documents() -> None:
    assert documents("\n".join(map(json.dumps, QUOTED))) == QUOTED
    assert documents("log: " + "\n".join(map(json.dumps, QUOTED))) == [
        value for value in QUOTED if "type" in value
    ]


@pytest.mark.parametrize(
    "wrapper",
    [
        {"a": {"b": [{"c": ONE}]}},
        {"body": "```\nlog " + json.dumps(ONE, indent=2) + "\n```"},
        {"body": json.dumps({"inner": json.dumps(ONE)})},
        {"role": "runner", "output": json.dumps(ONE)},
        {"role": "assistant", "content": "done", "run": ONE},
        [{"name": "x", "output": json.dumps(ONE)}],
        {
            "data": {
                "result": [
                    {"stream": {"app": "x"}, "values": [["1772359872123456789", json.dumps(ONE)]]}
                ]
            }
        },
    ],
)
def test_a_record_in_a_wrapper_is_found(wrapper: object) -> None:
    assert documents(json.dumps(wrapper)) == [ONE]


def test_a_wrapped_record_keeps_its_figures_to_the_last_digit() -> None:
    cost = "0.849459999999999712345"
    [part] = parts_of('{"data": ' + record_text().replace("0.25", cost, 1) + "}")
    assert isinstance(part, Document)
    assert cost in part.text


@pytest.mark.parametrize("depth", [940, 970, 985, 1000])
def test_a_wrapped_record_at_the_limit_of_nesting_is_told_or_read(depth: int) -> None:
    data = (
        '{"w":{"type":"result","duration_ms":1,"num_turns":2,"x":'
        + "[" * depth
        + "]" * depth
        + "}}"
    )
    [part] = parts_of(data)
    assert isinstance(part, Unreadable) or part.value["num_turns"] == 2


def test_a_wrapped_record_with_figures_out_of_range_is_no_crash() -> None:
    body = json.dumps({"inner": record_text().replace("60000", "1e999")})
    assert [value["duration_ms"] for value in documents(body)] == [float("inf")]


def test_a_stream_in_a_wrapper_keeps_its_events() -> None:
    event = {"type": "system", "subtype": "init"}
    assert documents(json.dumps({"messages": [event, ONE], "other": [event]})) == [event, ONE]


def test_a_big_file_of_records_is_read_in_portions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.sources.files.BIG_BYTES", 1000)
    monkeypatch.setattr("ingest.sources.files.PORTION_BYTES", 7000)
    (tmp_path / "log").write_bytes(LINES)
    source = Source("log", path=tmp_path / "log")
    parts = portions(source)
    assert len(parts) > 5
    assert sum(part.length for part in parts) == source.size
    texts = [
        document.text
        for part in parts
        for document in read(source, part)
        if isinstance(document, Document)
    ]
    assert "\n".join(texts).encode() == LINES
    [first, *_] = read(source, parts[1])
    assert first.position == f"byte {parts[1].offset}"


def test_a_big_stream_that_begins_with_a_record_is_read_in_one_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.sources.files.BIG_BYTES", 1000)
    monkeypatch.setattr("ingest.sources.files.PORTION_BYTES", 7000)
    event = json.dumps({"type": "assistant", "message": {}}).encode()
    data = LINES + b"\n" + b"\n".join([event, *LINES.splitlines()])
    assert portions(Source("log", data)) == [Portion(0, len(data))]


@pytest.mark.parametrize("data", [b"# log\n" + LINES, gzip.compress(LINES), b""])
def test_other_files_are_one_portion(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.sources.files.BIG_BYTES", 0)
    assert portions(Source("log", data)) == [Portion(0, len(data))]


def test_the_hash_of_a_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(LINES)
    assert Source("x", path=tmp_path / "log").source_id == Source("y", LINES).source_id


RECORD = record_text()


@pytest.mark.parametrize(
    ("line", "time"),
    [
        (f"[2025-11-30T17:40:06.182Z] [INFO] {RECORD}", "2025-11-30T17:40:06.182000+00:00"),
        (f"2025-11-30 18:40:06,182+01:00 agent: {RECORD} end", "2025-11-30T17:40:06.182000+00:00"),
        (f"2025-11-30 17:40:06 text of the line before\n{RECORD}", None),
        (RECORD, None),
    ],
)
def test_a_log_says_in_front_of_a_record_when_it_was_written(line: str, time: str | None) -> None:
    [document] = read(Source("log", f"first\n{line}\n".encode()))
    assert isinstance(document, Document)
    assert document.logged_at == (datetime.fromisoformat(time) if time else None)
