"""Throws broken input at the reader: `python -m tests.fuzz.fuzz_containers [INPUTS] [SEED]`; prints what was tried and what went wrong.

Mutations of records and streams, random bytes, every compression, archives in archives. An input is wrong if reading it raises,
comes to nothing, takes longer than a second, or gives other documents in small windows than in one.
"""

from __future__ import annotations

import bz2
import collections
import gzip
import io
import json
import lzma
import random
import sys
import tarfile
import time
import traceback
import zipfile
from collections.abc import Callable

import zstandard

from ingest.agents.base import Context
from ingest.sources.archives import members
from ingest.sources.byte_window import WINDOW_BYTES
from ingest.sources.contents import read
from ingest.sources.document import Document
from ingest.sources.files import Source, Unreadable
from schemas.errors import InvalidRecord
from tests.conftest import record
from tests.one_run import rows_of

SLOW_SECONDS = 1.0
TIME = "2026-03-01T10:11:12.123456789Z"
_TOKENS = (
    *(b"\x1b[0m", b'{"type":', b'"},\n'),
    *(b"{", b"}", b"[", b"]", b'"', b"\\", b",", b":", b"\n", b"\r\n", b"\0", b"\xff", b"//x\n", b"```json\n", b"null", b"-1", b"1e999"),
    *(b'{"type":"result"', b'"total_cost_usd":', b"\n[2025-11-30T17:40:06.201Z] [INFO] ", b"\xef\xbb\xbf", b"\xff\xfe", b"NaN"),
    *(b'{"a":' * 300, b"9" * 5000, "…🎉".encode(), b"\\ud800", b"PK\x03\x04", b"\x1f\x8b\x08"),
)


def compact(value: object) -> bytes:
    """JSON as agents write it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def seeds() -> list[bytes]:
    """Inputs that are right, of every kind."""
    one, event = record(result="Done {x} “ok” 🎉"), {"type": "assistant", "message": {"content": [{"type": "text", "text": "hi"}]}}
    quoted = {"type": "user", "message": {"content": [{"type": "tool_result", "content": compact(one).decode()}]}, "r": one}
    stream = b"\n".join(map(compact, ({"type": "system", "subtype": "init"}, event, quoted, one)))
    wrapper = {"body": "log\n" + json.dumps(one, indent=2) + "\nend", "deep": {"list": [{"x": one}]}}
    pretty = json.dumps(one, indent=2).encode()
    plain = [compact(one), pretty, stream, compact([event, one]), compact(one) * 3, b"# log\n```json\n" + pretty + b"\n```\n" + stream]
    docker = b"\n".join(
        compact({"log": piece, "stream": "stdout", "time": TIME}) for piece in (pretty.decode()[:300], pretty.decode()[300:], "\n")
    )
    kubernetes = b"\n".join(f"{TIME} stdout {tag} ".encode() + piece for tag, piece in (("P", stream[:100]), ("F", stream[100:])))
    plain += [docker, kubernetes, b"\x1b[1;39m{\x1b[0m" + pretty.replace(b"\n", b"\x1b[0m\n\x1b[32m")[1:]]
    return [*plain, compact(wrapper), json.dumps(one).encode("utf-16"), b"\xef\xbb\xbf" + stream.replace(b"\n", b"\r\n"), b"[1, 2]", b""]


def zipped(data: bytes) -> bytes:
    """The bytes in a zip."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("a/b.json"), data, zipfile.ZIP_DEFLATED)
        archive.writestr(zipfile.ZipInfo("../../c.json"), data[: len(data) // 2], zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def tarred(data: bytes) -> bytes:
    """The bytes in a tar."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in ("a.json", "../../b.json"):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


WRAPPERS: tuple[Callable[[bytes], bytes], ...] = (
    lambda data: gzip.compress(data, 1, mtime=0),
    lambda data: zstandard.compress(data, 1),
    lambda data: bz2.compress(data, 1),
    lambda data: lzma.compress(data, preset=0),
    zipped,
    tarred,
)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """The bytes with one thing wrong."""
    at, to = sorted((chance.randint(0, len(data)), chance.randint(0, len(data))))
    changes: tuple[Callable[[], bytes], ...] = (
        lambda: data[:at] + chance.choice(_TOKENS) + data[at:],
        lambda: data[:at] + chance.choice(_TOKENS) + data[at + 1 :],
        lambda: data[:at] + data[min(to, at + 40) :],
        lambda: data[:at],
        lambda: data[:at] + data[at : at + 200] * 2 + data[at:],
        lambda: data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :],
        lambda: data + chance.choice(SEEDS),
    )
    return chance.choice(changes)()


SEEDS = seeds()


def made(chance: random.Random) -> bytes:
    """One input."""
    if chance.random() < 0.1:
        return chance.randbytes(chance.randint(0, 300))
    if chance.random() < 0.1:
        return b"".join(chance.choices(_TOKENS, k=chance.randint(1, 30)))
    data = chance.choice(SEEDS)
    for _ in range(chance.randint(0, 4)):
        data = mutated(data, chance)
    if chance.random() < 0.25:
        for _ in range(chance.randint(1, 4)):
            data = chance.choice(WRAPPERS)(data)
        for _ in range(chance.choice((0, 0, 1, 3))):
            data = mutated(data, chance)
    return data


def told(source: Source, window_bytes: int) -> list[tuple[object, ...]]:
    """What a source comes to, record by record."""
    parts: list[tuple[object, ...]] = []
    for part in read(source, None, window_bytes):
        if isinstance(part, Document):
            parts.append((part.ordinal, part.position, part.text, _row_of(part)))
        else:
            parts.append((part.ordinal, part.position, part.reason, part.detail, part.excerpt))
    return parts


def _row_of(document: Document) -> str:
    try:
        rows = rows_of(document, Context("source"))
        return rows.run.run_id if rows else "ignored"
    except InvalidRecord as error:
        return error.reason


def tried(data: bytes, window_bytes: int) -> str:
    """What is wrong with how the bytes are read, or nothing."""
    for member in members(Source("input", data)):
        if isinstance(member, Unreadable):
            continue
        started = time.perf_counter()
        parts = told(member, WINDOW_BYTES)
        if time.perf_counter() - started > SLOW_SECONDS:
            return "it is slow"
        if not parts or [part[0] for part in parts] != list(range(len(parts))):
            return "it comes to nothing, or is misnumbered"
        if told(member, window_bytes) != parts:
            return f"windows of {window_bytes} bytes give other documents"
    return ""


def main(inputs: int = 200_000, seed: int = 0) -> int:
    """Try that many inputs. Returns how many went wrong."""
    chance = random.Random(seed)
    wrong: collections.Counter[str] = collections.Counter()
    started = time.monotonic()
    for number in range(inputs):
        data, size = made(chance), chance.choice((1, 7, 100, 1000))
        try:
            complaint = tried(data, size) and tried(data, size)  # slow only once is somebody else's doing
        except Exception:
            complaint = traceback.format_exc(limit=-3, chain=False)
        kind = complaint.rpartition(" line ")[0] or complaint
        if complaint and not wrong[kind]:
            print(f"input {number}: {data[:20000]!r}\n{complaint}", flush=True)
        wrong[kind] += bool(complaint)
    print(f"{inputs} inputs, seed {seed}, {time.monotonic() - started:.0f} s, {sum(wrong.values())} wrong")
    return sum(wrong.values())


if __name__ == "__main__":
    sys.exit(1 if main(*map(int, sys.argv[1:])) else 0)
