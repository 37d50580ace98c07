"""Hostile archives: members that share bytes, bombs, very many members."""

from __future__ import annotations

import io
import tarfile
import zipfile
import zlib

from tests.conftest import record_text


def overlapping_zip(size: int) -> bytes:
    """A zip whose entries all point to the same data: what David Fifield showed. A third of the size is that data."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    kernel = b" " * min(size * 300, 1 << 26)
    data = compressor.compress(kernel) + compressor.flush()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("good.json", record_text())
        first = zipfile.ZipInfo("000000")
        first.compress_type, first.CRC, first.file_size, first.compress_size = 8, zlib.crc32(kernel), len(kernel), len(data)
        first.header_offset = archive.fp.tell()  # type: ignore[union-attr]
        archive.fp.write(first.FileHeader() + data)  # type: ignore[union-attr]
        archive.start_dir = archive.fp.tell()  # type: ignore[union-attr]
        for _ in range(max(2, (size - len(data)) // 52)):
            archive.filelist.append(first)
        archive._didModify = True  # type: ignore[attr-defined]
    return buffer.getvalue()


def zip_of(count: int, data: bytes) -> bytes:
    """A zip with so many members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(count):
            archive.writestr(zipfile.ZipInfo(f"{number:06}.json"), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def tar_of(count: int, data: bytes) -> bytes:
    """A tar with so many members."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for number in range(count):
            entry = tarfile.TarInfo(f"{number:06}.json")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def zip_in_zips(size: int) -> bytes:
    """Zips in zips, each with ten times the next one."""
    data = zip_of(10, b" " * size)
    for _ in range(3):
        data = zip_of(10, data)
    return data


def bomb_and_good(size: int) -> bytes:
    """A zip with a member that grows a thousandfold, and good ones behind it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.json", b" " * (size * 1000))
        for number in range(20):
            archive.writestr(f"good{number}.json", record_text(uuid=f"{number}"))
    return buffer.getvalue()
