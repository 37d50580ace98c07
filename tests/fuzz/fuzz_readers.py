"""Throws broken logs at the reader of every agent: `python -m tests.fuzz.fuzz_readers [SECONDS OF EACH READER] [SEED] [READER …]`.

Each begins with a log that is right: other values, torn bytes, repeated and reordered lines, deep nesting, huge numbers, other encodings,
versions that nobody knows. A log is wrong if reading it raises, is a defect of a reader, takes longer than a second, loses a document,
gives a reject of a record without a field, or gives anything else where each event is read as a document of its own. A log that is only
cut off must not have more tokens than the whole one.
"""

from __future__ import annotations

import json
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from unittest.mock import patch

from ingest.agents.base import Rows
from ingest.agents.readers import SourceReaders
from ingest.documents.document import Document
from ingest.reading.read_source import read_source
from ingest.reading.settings import Settings
from ingest.sources.files import Source, Unreadable
from ingest.store.read_result import PortionKey, ReadResult
from ingest.store.record_rows import checked_tables
from schemas.errors import RejectReason
from schemas.rows.run import TOKEN_CLASSES
from schemas.rows.source import RejectRow
from tests.fuzz import seeds
from tests.fuzz.fuzz_containers import SLOW_SECONDS
from tests.fuzz.fuzz_containers import mutated as with_other_bytes

HOSTILE: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1.5, 2**53, 2**53 + 1, 2**63, 10**30, 1e308, -1e308, 10**400, 1e-320, float("nan"), float("inf")),
    *("", "x", "\ud800", "\0", "2026-13-45", "9999-12-31T23:59:59Z", "NaN", "1e999", "v99.0.0-next", "x" * 3000, "</script>", "{}"),
    *([], [None], [[]], [1, "a"], {}, {"a": {}}, {"type": "result"}, {"": None}),
)
_ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1", "cp1252")


class Kept:
    """What a spool would write: runs with their documents, and rejects."""

    def __init__(self) -> None:
        self.runs: list[tuple[Document, Rows]] = []
        self.rejects: list[RejectRow] = []

    def add(self, result: ReadResult, document: Document, rows: Rows) -> None:
        """A run."""
        result.accept(rows.run.run_id)
        self.runs.append((document, rows))

    def reject(self, result: ReadResult, part: Unreadable) -> None:
        """A reject."""
        self.rejects.append(result.reject(part))

    def told(self) -> Any:
        """Everything, to be compared."""
        runs = [(one.ordinal, one.position, one.text, repr(rows)) for one, rows in self.runs]
        return runs, self.rejects

    def tokens(self) -> int:
        """The tokens of all runs."""
        return sum(getattr(rows.run, name) or 0 for _, rows in self.runs for name in TOKEN_CLASSES)


def read(data: bytes) -> tuple[ReadResult, Kept]:
    """All that becomes of a log."""
    kept = Kept()
    result = read_source(Source("log", data), PortionKey("log"), Settings(), kept)  # type: ignore[arg-type]
    return result, kept


def one_by_one(data: bytes) -> tuple[ReadResult, Kept]:
    """The same where each event is fed as a document of its own."""
    with patch.object(SourceReaders, "note", lambda *_: 0):
        return read(data)


def complaint(data: bytes) -> str:
    """What is wrong with how a log is read, or nothing."""
    started = time.process_time()
    result, kept = read(data)
    if time.process_time() - started > SLOW_SECONDS:
        return "it is slow"
    if said := _miscounted(result, kept) or _unexplained(kept):
        return said
    other, fed = one_by_one(data)
    is_same = fed.told() == kept.told() and other.documents == result.documents and other.kind == result.kind
    return "" if is_same else "another result where each event is a document"


def _miscounted(result: ReadResult, kept: Kept) -> str:
    numbers = [document.ordinal for document, _ in kept.runs] + [row.ordinal for row in kept.rejects]
    if len(set(numbers)) != len(numbers) or any(not 0 <= number < result.documents for number in numbers):
        return f"documents are miscounted: {sorted(numbers)} of {result.documents}"
    return "it comes to nothing" if result.ignored < 0 or (result.bytes and not result.documents) else ""


def _unexplained(kept: Kept) -> str:
    """A defect of a reader, or a reject of a record that names no field."""
    for row in kept.rejects:
        if row.reason is RejectReason.READER_DEFECT or (row.reason is RejectReason.INVALID_RECORD and ": " not in row.detail):
            return f"{row.reason}: {row.detail}"
    wrong = checked_tables([rows for _, rows in kept.runs])[1]
    return next((error.detail for error in wrong.values()), "")


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values inside a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield (*path, key)
        yield from paths(item, (*path, key))


def with_other_value(value: Any, chance: random.Random) -> None:
    """Replace, remove, rename or nest one of the values inside."""
    places = list(paths(value))
    if not places:
        return
    *outer, last = chance.choice(places)
    for key in outer:
        value = value[key]
    change = chance.random()
    if change < 0.7:
        value[last] = chance.choice(HOSTILE)
    elif change < 0.8:
        del value[last]
    elif change < 0.9:
        for _ in range(chance.choice((3, 50, 150))):
            value[last] = [value[last]] if chance.random() < 0.5 else {"a": value[last]}
    elif isinstance(value, dict):
        value[f"{last}_of_2099"] = value.pop(last)


def with_other_values(data: bytes, chance: random.Random) -> bytes:
    """The log with other values; as it is where it is no JSON."""
    with suppress(ValueError, RecursionError):
        events = [json.loads(line) for line in data.splitlines()] if data.startswith(b'{"') else [json.loads(data)]
        for _ in range(chance.choice((1, 1, 2, 5))):
            with_other_value(events, chance)
        indent = None if len(events) > 1 else chance.choice((None, 1, 2))
        return b"".join(json.dumps(event, indent=indent, separators=(",", ":")).encode() + b"\n" for event in events)
    return data


def with_other_lines(data: bytes, chance: random.Random) -> bytes:
    """Lines repeated, reordered, left out or joined."""
    lines = data.splitlines(keepends=True)
    first, last = sorted((chance.randrange(len(lines) + 1), chance.randrange(len(lines) + 1)))
    part = lines[first:last]
    changed: Callable[[], list[bytes]] = chance.choice(
        (
            lambda: lines[:last] + part + lines[last:],
            lambda: lines[:first] + lines[last:],
            lambda: lines[:first] + chance.sample(part, len(part)) + lines[last:],
            lambda: [*lines[:first], b"".join(part).replace(b"\n", b""), *lines[last:]],
            lambda: lines * chance.choice((2, 3)),
        )
    )
    return b"".join(changed())


def in_another_encoding(data: bytes, chance: random.Random) -> bytes:
    """The log in another encoding, or with the line ends of another system."""
    if chance.random() < 0.3:
        return data.replace(b"\n", b"\r\n")
    return data.decode("utf-8", "replace").encode(chance.choice(_ENCODINGS), "replace")


CHANGES = (with_other_values, with_other_values, with_other_lines, with_other_lines, with_other_bytes, with_other_bytes)


def made(reader: str, chance: random.Random) -> bytes:
    """A broken log of a reader, sometimes with one of another agent behind it."""
    data = seeds.seed(reader)
    for _ in range(chance.choice((1, 1, 2, 3, 4))):
        data = chance.choice(CHANGES)(data, chance)
    if chance.random() < 0.1:
        data += b"\n" + seeds.seed(chance.choice(seeds.NAMES))
    return in_another_encoding(data, chance) if chance.random() < 0.1 else data


def cut(reader: str, chance: random.Random) -> str:
    """What is wrong with a log that is cut off, or nothing."""
    data = seeds.seed(reader)
    at = chance.randrange(len(data))
    whole, part = read(data)[1].tokens(), read(data[:at])[1].tokens()
    return f"cut at byte {at} it has {part:,} tokens, as a whole {whole:,}" if part > whole else ""


def tried(reader: str, chance: random.Random) -> tuple[str, bytes]:
    """What is wrong with a log of a reader, or nothing; and the log."""
    data = made(reader, chance)
    try:
        return complaint(data) or cut(reader, chance), data
    except Exception:
        return traceback.format_exc(limit=-4, chain=False), data


def main(seconds: int = 60, number: int = 0, *only: str) -> int:
    """Try the readers, each for some seconds of CPU. Returns how many logs were wrong."""
    wrong = 0
    for reader in only or seeds.NAMES:
        chance, count, kinds = random.Random(f"{reader} {number}"), 0, set[str]()
        until = time.process_time() + seconds
        while time.process_time() < until:
            said, data = tried(reader, chance)
            count += 1
            if said and (kind := said[-120:]) not in kinds:
                print(f"{reader}, log {count}: {data[:20000]!r}\n{said}", flush=True)
                kinds.add(kind)
            wrong += bool(said)
        print(f"{reader}: {count:,} logs, {len(kinds)} kinds of wrong ones", flush=True)
    return wrong


if __name__ == "__main__":
    asked = [*sys.argv[1:], *("60", "0")[len(sys.argv) - 1 :]]
    sys.exit(1 if main(int(asked[0]), int(asked[1]), *asked[2:]) else 0)
