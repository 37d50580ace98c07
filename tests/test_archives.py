"""Archives to members: every kind, nested, broken, hostile."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import resource
import tarfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import zstandard

from ingest.sources.archives import archive_kind, members
from ingest.sources.contents import read
from ingest.sources.files import IN_MEMORY_BYTES, Source, Unreadable
from schemas.errors import ExitCode, RejectReason
from tests.conftest import Run, record_text

LINES = "\n".join(record_text(uuid=str(number)) for number in range(200)).encode()
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "zst": zstandard.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}


def zipped(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def tarred(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(data), 1_000_000_000
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def members_of(data: bytes) -> list[tuple[str, object]]:
    """(name, data) of the members, (position, reason) of those that cannot be read."""
    return [
        (item.name, item.data) if isinstance(item, Source) else (item.position, item.reason)
        for item in members(Source("a", data))
    ]


@pytest.mark.parametrize(
    ("expected", "pack"),
    [
        ("zip", lambda: zipped(x=b"1", y=b"2")),
        ("tar", lambda: tarred(x=b"1", y=b"2")),
        *(
            (f"tar.{name}", lambda name=name: COMPRESSIONS[name](tarred(x=b"1", y=b"2")))
            for name in ("gz", "zst", "bz2", "xz")
        ),
    ],
)
def test_archives_give_their_members(expected: str, pack: Callable[[], bytes]) -> None:
    assert archive_kind(Source("a", pack())) == expected
    assert members_of(pack()) == [("a!x", b"1"), ("a!y", b"2")]


def test_archives_in_archives_are_followed_three_deep() -> None:
    three = zipped(b=gzip.compress(tarred(c=zipped(d=b"{}"))))
    assert members_of(three) == [("a!b!c!d", b"{}")]
    assert members_of(tarred(z=three)) == [("a!z!b!c", RejectReason.NOT_UNPACKED)]


def test_a_member_keeps_its_time() -> None:
    [member] = members(Source("a", tarred(x=b"1")))
    assert isinstance(member, Source)
    assert member.modified_at is not None
    assert member.modified_at.timestamp() == 1_000_000_000


def test_a_name_in_an_archive_is_only_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = tarred(**{"../../x": b"1", "/etc/y": b"2"})
    assert members_of(data) == [("a!../../x", b"1"), ("a!/etc/y", b"2")]
    assert list(tmp_path.rglob("*")) == []


def test_an_encrypted_member_is_told_and_the_others_are_read() -> None:
    data = bytearray(zipped(x=b"1", y=b"2"))
    for magic, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(magic) + flags] |= 1
    assert members_of(bytes(data)) == [("a!x", RejectReason.NOT_UNPACKED), ("a!y", b"2")]


def test_a_broken_archive_gives_what_comes_before_the_break() -> None:
    data = tarred(x=b"1" * 2000, y=b"2" * 2000)
    assert members_of(data[:3000])[0] == ("a!x", b"1" * 2000)
    assert all(reason in tuple(RejectReason) for _, reason in members_of(data[:3000])[1:])
    assert members_of(zipped(x=b"1")[:-30]) == [("a", RejectReason.TRUNCATED)]


@pytest.mark.slow
def test_a_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.sources.decoding.SUSPECT_BYTES", 1 << 20)
    monkeypatch.setattr("ingest.sources.decoding.SUSPECT_RATIO", 100)
    [part] = read(Source("a", gzip.compress(b" " * (1 << 24))))
    assert isinstance(part, Unreadable)
    assert "bomb" in part.detail
    [member] = members(Source("a", zipped(x=b" " * (1 << 24))))
    assert isinstance(member, Unreadable)
    assert "bomb" in member.detail


def test_a_big_member_waits_in_a_file_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.sources.files.IN_MEMORY_BYTES", 1000)
    seen = []
    for member in members(Source("a", zipped(x=LINES))):
        assert isinstance(member, Source)
        assert member.path
        assert member.temporary
        assert len(list(read(member))) == 200
        seen.append(member.path)
    assert [path.exists() for path in seen] == [False]


@pytest.mark.slow
def test_a_disk_without_room_is_no_fault_of_the_archive(tmp_path: Path, tachograph: Run) -> None:
    """A full disk is simulated by a limit of a few MB on unpacked files."""
    (tmp_path / "logs.zip").write_bytes(zipped(big=b"\n" * (IN_MEMORY_BYTES + 1) + LINES))
    (tmp_path / "other.json").write_text(record_text(uuid="other"))
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (1 << 24, 1 << 24))
    done = tachograph("ingest .", preexec_fn=limit)
    assert (done.returncode, done.stdout) == (ExitCode.INPUT_UNREADABLE, "")
    assert "cannot read logs.zip: File too large" in done.stderr
    assert "$TMPDIR" in done.stderr
    assert "1 document = 1 accepted + 0 duplicates + 0 rejected" in done.stderr
