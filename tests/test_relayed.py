"""Logs that keep lines in a form of their own.

A record in them is found whole, with its time and the events around it.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.pipeline import ingest
from ingest.sources.contents import read
from ingest.sources.document import Document
from ingest.sources.files import Source, Unreadable
from ingest.store.database import Store
from schemas.errors import RejectReason
from schemas.file_kinds import NO_LOGS, FileKind
from tests.conftest import record

TIME = "2026-03-01T10:11:12.123456789Z"
SUMMARY = 'Das "Größte" – 3.17x\n' * 60
RECORD = record(result=SUMMARY)
EVENTS = [
    {"type": "system", "subtype": "init", "session_id": RECORD["session_id"], "model": "m"},
    RECORD,
]

Write = Callable[[bytes, bool], str]
"""(a piece of a line, whether the line ends with it) → how the log keeps it."""


def docker(piece: bytes, ended: bool) -> str:
    line = {"log": piece.decode() + "\n" * ended, "stream": "stdout", "time": TIME}
    return json.dumps(line, separators=(",", ":"), ensure_ascii=False)


def journal(piece: bytes, ended: bool) -> str:
    line = {
        "__CURSOR": "s=1",
        "__REALTIME_TIMESTAMP": "1772359872123456",
        "_PID": "7",
        "MESSAGE": list(piece),
    }
    return json.dumps(line if ended else line | {"_LINE_BREAK": "line-max"})


def journal_text(piece: bytes, ended: bool) -> str:
    return json.dumps(json.loads(journal(piece, ended)) | {"MESSAGE": piece.decode()})


def cri(piece: bytes, ended: bool) -> str:
    return f"{TIME} stdout {'F' if ended else 'P'} {piece.decode('utf-8', 'surrogateescape')}"


LOGS: dict[str, tuple[Write, str]] = {
    "docker": (
        docker,
        json.dumps({"log": "oh\n", "stream": "stderr", "time": TIME}, separators=(",", ":")),
    ),
    "journal": (
        journal,
        json.dumps({"__REALTIME_TIMESTAMP": "1772359872000000", "_PID": "8", "MESSAGE": "oh"}),
    ),
    "journal_text": (
        journal_text,
        json.dumps({"__REALTIME_TIMESTAMP": "1772359872000000", "_PID": "8", "MESSAGE": "oh"}),
    ),
    "cri": (cri, f"{TIME} stderr F oh"),
}
BYTEWISE = ("journal", "cri")
"""Logs that cut where they like, in the middle of a character too."""


def kept(name: str, text: str, size: int, *, alone: bool = False) -> bytes:
    """The text as such a log keeps it, in pieces of at most so many bytes or characters.

    With another writer's lines, or `alone`.
    """
    write, other = LOGS[name]
    lines = []
    for line in text.split("\n"):
        pieces: list[Any] = [line[at : at + size].encode() for at in range(0, len(line), size)] or [
            b""
        ]
        if name in BYTEWISE:
            pieces = [
                line.encode()[at : at + size] for at in range(0, len(line.encode()), size)
            ] or [b""]
        for number, piece in enumerate(pieces, 1):
            lines += [write(piece, number == len(pieces)), *(() if alone else (other,))]
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")


def values(data: bytes) -> list[object]:
    return [part.value for part in read(Source("a.log", data)) if isinstance(part, Document)]


@pytest.mark.parametrize("size", [100, 101, 1 << 14])
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", LOGS)
def test_a_record_is_found_whole_however_it_was_cut(
    name: str, indent: int | None, size: int
) -> None:
    text = "begin\n" + json.dumps(RECORD, indent=indent, ensure_ascii=False) + "\nend"
    assert values(kept(name, text, size, alone=indent is not None)) == [RECORD]


@pytest.mark.parametrize("name", LOGS)
def test_its_events_and_the_time_of_its_line_are_known(name: str, store: Store) -> None:
    report = ingest(
        [Source("a.log", kept(name, "\n".join(map(json.dumps, EVENTS)), 1 << 14))], store
    )
    assert (report.total("accepted"), report.total("ignored"), report.total("rejected")) == (
        1,
        1,
        0,
    )
    with store.reading() as connection:
        found = connection.execute(
            "select in_stream, requested_model, time_source, started_at::varchar from runs"
        ).fetchall()
    assert found == [(True, "m", "stream", "2026-03-01 10:11:12.123456+00")]


@pytest.mark.parametrize("name", LOGS)
def test_a_line_that_never_ends_is_told_and_what_is_no_line_of_the_log_is_read(name: str) -> None:
    write, _ = LOGS[name]
    begun = (
        write(b"start", True)
        + "\n"
        + write(json.dumps(RECORD, separators=(",", ":")).encode()[:200], False)
        + "\n"
    )
    found = list(
        read(Source("a.log", begun.encode() + json.dumps(RECORD | {"uuid": "other"}).encode()))
    )
    assert [part.value["uuid"] for part in found if isinstance(part, Document)] == ["other"]
    assert [part.reason for part in found if isinstance(part, Unreadable)] == [
        RejectReason.TRUNCATED
    ]


@pytest.mark.slow
def test_a_log_cut_off_while_it_was_compressed_gives_what_it_held() -> None:
    data = gzip.compress(
        kept("docker", json.dumps(RECORD) + "\n" + "\n".join(map(str, range(9000))), 100)
    )
    found = list(read(Source("a.log.gz", data[: len(data) // 2])))
    assert found[0].value == RECORD if isinstance(found[0], Document) else False
    assert [part.reason for part in found[1:] if isinstance(part, Unreadable)] == [
        RejectReason.TRUNCATED
    ]


def test_a_log_without_a_record_is_text() -> None:
    contents = read(Source("a.log", kept("docker", "begin\nend", 100)))
    assert (list(contents), contents.file_kind) == ([], FileKind.TEXT)


@pytest.mark.parametrize("begun", [True, False])
def test_a_line_of_the_log_that_was_cut_off_is_told(begun: bool) -> None:
    text = json.dumps(RECORD, separators=(",", ":"))
    lines = [
        docker(text.encode(), True),
        *([docker(text[:200].encode(), False)] if begun else []),
        docker(text[200:].encode(), True)[:-90],
    ]
    found, *told = read(Source("a.log", "\n".join(lines).encode()))
    assert isinstance(found, Document)
    assert [part.reason for part in told if isinstance(part, Unreadable)] == [
        RejectReason.TRUNCATED
    ] * (1 + begun)


def test_messages_that_journalctl_left_out_are_told() -> None:
    """All of more than 4096 bytes, unless it was asked for them."""
    left_out = json.dumps(json.loads(journal(b"", True)) | {"MESSAGE": None})
    data = "\n".join([left_out, journal_text(json.dumps(RECORD).encode(), True), left_out])
    found, told = read(Source("a.log", data.encode()))
    assert isinstance(found, Document)
    assert isinstance(told, Unreadable)
    assert (told.reason, "omitted 2 long messages" in told.detail) == (RejectReason.TRUNCATED, True)


def test_a_record_in_another_field_of_such_a_line_is_found_too() -> None:
    line = {"log": "done\n", "stream": "stdout", "time": TIME, "output": RECORD}
    assert values((docker(b"begin", True) + "\n" + json.dumps(line)).encode()) == [RECORD]


def test_an_event_that_a_wrapper_was_put_around_is_one_of_the_stream(store: Store) -> None:
    other = {"type": "result", "session_id": "s", "status": "not a record"}
    lines = [json.dumps({"at": TIME, "event": event}) for event in (*EVENTS, other)]
    report = ingest([Source("a.log", "\n".join(lines).encode())], store)
    assert (report.total("accepted"), report.total("rejected"), report.total("ignored")) == (
        1,
        0,
        2,
    )
    with store.reading() as connection:
        assert connection.execute("select in_stream, requested_model from runs").fetchall() == [
            (True, "m")
        ]


HOSTILE = (
    '{"log":"\\ud800","stream":"x","time":"\\udfff"}',
    '{"__REALTIME_TIMESTAMP":"99999999999999999999","MESSAGE":[1e99,300,true]}',
    '{"__REALTIME_TIMESTAMP":"1","MESSAGE":[10000000000000000000000]}',
    f"{TIME} stdout P ",
)


@given(
    st.sampled_from(HOSTILE), st.lists(st.sampled_from(HOSTILE) | st.text(max_size=20), max_size=6)
)
def test_no_line_however_made_is_a_crash(first: str, lines: list[str]) -> None:
    contents = read(Source("a.log", "\n".join([first, *lines]).encode("utf-8", "replace")))
    assert list(contents) or contents.file_kind in NO_LOGS
