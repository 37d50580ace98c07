"""Bounded work on any content, and what is said of what was not read (D9, D10, D11)."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from ingest.agents.claude_code.results import MOST_MODELS
from ingest.findings.summary_facts import READ_CHARACTERS
from ingest.pipeline import Options, ingest
from ingest.sources.archives import members
from ingest.sources.contents import read
from ingest.sources.document import Document
from ingest.sources.files import Source, Unreadable
from ingest.store.database import Store
from schemas.errors import RejectReason
from tests.conftest import record, record_text
from tests.examples import size
from tests.forks import Forks

SECONDS, MEMORY_BYTES = 120, 1 << 30
TEXTS = {
    "braces": "{",
    "objects": '{"a":',
    "brackets": "[",
    "quotes": '"',
    "escapes": "\\ud800",
    "backticks growing": "` `` ``` ",
    "strong": "**a",
    "fences": "```json\n{\n```\n",
    "list deeper and deeper": "- a\n  ",
    "rows": "| a | 1 ms | 2 ms |\n",
    "heads": "| Before | After |\n|---|---|\n",
    "box": "│ a │ 8 ms │ 2 ms │\n├───┼───┤\n",
    "percentages": "50% faster ",
    "figures": "from 10 ms to 5 ms → ",
    "labels": "Before: 10 ms\nAfter: 5 ms\n",
    "digits": "1234567890",
    "clock": "1:23:",
    "prefixes": '\n[2025-11-30T17:40:06.201Z] [INFO] {"a": 1,',
    "spelled": "twice as fast as ",
    "Chinese": "提升了50%，降低 3 倍。",
    "blanks": " \n \n",
    "colours": "\x1b[1;39m{\x1b[0m\n",
    "combining": "e\u0301\u0323",
    "paths": "- `src/a.py` (3 insertions, 2 deletions)\n",
    "marks": '{"type":"result","total_cost_usd": 1, ',
    "tags": "<a ",
}
"""What is repeated: in the summary of a record, and bare in a file."""


def bare(token: str) -> Callable[[int], bytes]:
    return lambda size: (token * (size // len(token.encode()) + 1)).encode()


def in_record(token: str) -> Callable[[int], bytes]:
    return lambda size: record_text(result=token * (size // len(token.encode()) + 1)).encode()


def many_models(size: int) -> bytes:
    [usage] = record()["modelUsage"].values()
    models = {f"claude-opus-4-6-{number}": usage for number in range(size // 130 + 1)}
    return record_text(modelUsage=models, total_cost_usd=0).encode()


def overlapping_zip(size: int) -> bytes:
    """A zip whose members are all the same bytes: what David Fifield showed."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    kernel = b" " * min(size * 300, 1 << 26)
    data = packer.compress(kernel) + packer.flush()
    first = zipfile.ZipInfo("000000")
    first.compress_type, first.CRC = zipfile.ZIP_DEFLATED, zlib.crc32(kernel)
    first.file_size, first.compress_size = len(kernel), len(data)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("good.json", record_text())
        first.header_offset = packed.tell()
        packed.write(first.FileHeader() + data)
        archive.start_dir = packed.tell()
        archive.filelist += [first] * max(2, (size - len(data)) // 52)
        archive._didModify = True  # type: ignore[attr-defined]
    return packed.getvalue()


def zip_of(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def tar_of(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


def zip_in_zips(size: int) -> bytes:
    data = b" " * size
    for _ in range(4):
        data = zip_of(**{f"{number}": data for number in range(10)})
    return data


LINE = record_text().encode() + b"\n"
FILES: dict[str, Callable[[int], bytes]] = {
    "many models": many_models,
    "many keys": lambda size: record_text(**{f"k{n}": 1 for n in range(size // 12)}).encode(),
    "deep field": lambda size: LINE[:-2] + b',"a":' + b"[" * size + b"]" * size + b"}",
    "deep objects": lambda size: b'{"a":' * (size // 6) + LINE + b"}" * (size // 6),
    "same record": lambda size: LINE * (size // 600 + 1),
    "cut records": lambda size: (LINE[:300] + b"\n") * (size // 300 + 1),
    "cut records in a line": lambda size: LINE[:300] * (size // 300 + 1),
    "open array": lambda size: b"[" + (LINE[:-1] + b",") * (size // 600 + 1),
    "long number": lambda size: LINE[:-2] + b',"total_cost_usd":0.' + b"1" * size + b"}",
    "zeros": lambda size: b"\0" * size + LINE,
    "UTF-16": lambda size: record_text(result="a" * size).encode("utf-16"),
    "members of the same bytes": overlapping_zip,
    "zip in zips": zip_in_zips,
    "cut tar": lambda size: tar_of(a=LINE * 9, b=b" " * size)[: size // 2],
    "gzip of blanks": lambda size: gzip.compress(b" " * (size * 900)),
    "gzip of braces": lambda size: gzip.compress(b'{"' * (size * 4)),
    "gzip of many members": lambda size: gzip.compress(b"{}\n") * (size // 23 + 1),
    "zstandard frames": lambda size: zstandard.compress(b"{}\n") * (size // 12 + 1),
}
HOSTILE = (
    {f"bare {name}": bare(token) for name, token in TEXTS.items()}
    | {f"summary of {name}": in_record(token) for name, token in TEXTS.items()}
    | FILES
)


def test_d9_hostile_inputs_are_read_within_bounds_and_harm_no_record_beside_them(
    forks: Forks, tmp_path: Path
) -> None:
    """Repeated tokens, deep nesting, many of everything, archives that grow: each is counted."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "good.json").write_text(record_text(uuid="good", session_id="good"))
    for name, make in HOSTILE.items():
        (tmp_path / "logs" / name).write_bytes(make(size(2_000, thorough=200_000)))
    store = tmp_path / "runs.db"
    words = ("ingest", tmp_path / "logs", "--jobs", "1", "--json", "--db", store)
    ended = forks.start(tmp_path, *words).wait(size(SECONDS, thorough=10 * SECONDS))
    assert ended.code == 0, ended.story
    assert ended.peak_bytes < MEMORY_BYTES
    with Store(store).reading() as connection:
        unbalanced = "documents <> accepted + duplicates + rejected + ignored"
        assert not connection.execute(f"select name from sources where {unbalanced}").fetchall()
        assert connection.execute("select 1 from runs where run_id = 'good'").fetchall()
    forks.succeed(tmp_path, "report", "--by", "model", "--db", store)


def unread(data: bytes) -> list[Unreadable]:
    return [part for part in members(Source("a", data)) if isinstance(part, Unreadable)]


def test_d9_braces_that_begin_no_object_are_passed_over_at_once() -> None:
    """40 MB of them took over 120 seconds; two megabytes would take 12 where each is looked at."""
    contents = read(Source("x", b'{"' * 1_000_000))
    assert not [part for part in contents if isinstance(part, Unreadable) and part.certain]


def test_d9_unread_members_are_named_up_to_a_bound_and_then_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A zip of 0.2 MB whose members share their bytes took over 120 seconds."""
    monkeypatch.setattr("ingest.sources.archives.MOST_NAMED", 5)
    found = unread(overlapping_zip(20_000))
    assert {part.reason for part in found} == {RejectReason.TOO_MUCH}
    assert len(found) == 6
    assert "more members skipped, not listed here" in found[-1].detail


def test_d9_a_record_of_very_many_models_is_a_reject_that_names_the_bound(store: Store) -> None:
    """One with 100,000 made a report take 84 seconds."""
    [reject] = ingest([Source("a.json", many_models(200_000))], store).sources[0].rejects
    assert reject.reason is RejectReason.TOO_MUCH
    assert f"the maximum is {MOST_MODELS:,}" in reject.detail


@pytest.mark.parametrize("pack", [zip_of, tar_of])
def test_d11_good_members_behind_a_bomb_are_named(
    pack: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.sources.decoding.SUSPECT_BYTES", 1 << 20)
    monkeypatch.setattr("ingest.sources.decoding.SUSPECT_RATIO", 100)
    bomb = zip_of(a=b" " * (1 << 22))
    found = unread(pack(**{"bomb.zip": bomb, "good.json": record_text().encode()}))
    assert ("a!good.json", RejectReason.TOO_MUCH) in [(one.position, one.reason) for one in found]


def test_d10_a_summary_beyond_the_bound_is_kept_whole_and_the_bound_is_a_finding(
    store: Store,
) -> None:
    text = "It is 50% faster → now.\n" * (READ_CHARACTERS // 20)
    ingest([Source("a.json", record_text(result=text).encode())], store, Options(jobs=1))
    with store.reading() as connection:
        assert connection.execute("select result from runs").fetchall() == [(text,)]
        assert ("read_in_part",) in connection.execute("select rule from findings").fetchall()


def test_d10_a_long_event_is_read_from_its_bytes() -> None:
    event = '{"type":"user","message":{"content":"' + "→ {" * 600_000 + '"}}'
    parts = list(read(Source("x", f"{event}\n{record_text()}\n".encode())))
    kinds = [part.value["type"] for part in parts if isinstance(part, Document)]
    assert kinds == ["user", "result"]
