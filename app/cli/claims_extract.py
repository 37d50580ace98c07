"""`tachograph claims extract`: texts in, their claims out, one line of JSON each. No store is opened."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from ingest.claims import extract
from ingest.sources.walking import is_device, standard_input
from schemas.errors import InputUnreadable
from schemas.rows.confidence import SHOWN_FROM
from schemas.text import in_json

STDIN = "-"

LINE = '{"id": "…", "text": "…"}'
"""What a line of the input is."""

MOST_BYTES = 128 << 20
"""A longer line is refused before it fills the memory."""

HINT = "Give a file of JSON lines, or - for standard input."


def answers(path: Path, least_confidence: float = SHOWN_FROM) -> Iterator[bytes]:
    """A line of output for each line of the file; `-` is the standard input. Raises InputUnreadable, also at a line that is none."""
    for number, line in enumerate(_lines(path), 1):
        if line.strip():
            yield answer(*_parsed(line, f"{_name(path)}, line {number}"), least_confidence)


def answer(key: object, text: str, least_confidence: float = SHOWN_FROM) -> bytes:
    """`{"id", "claims"}` as a line of JSON in UTF-8. What UTF-8 cannot hold, or a terminal would obey, is escaped."""
    found = {"id": key, "claims": [claim._asdict() for claim in extract(text, least_confidence)]}
    return f"{in_json(json.dumps(found, ensure_ascii=False, separators=(',', ':')))}\n".encode()


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of the file. Raises InputUnreadable where it cannot be read, is a device, or has a line of more than MOST_BYTES."""
    try:
        with ExitStack() as stack:
            stream = standard_input() if str(path) == STDIN else stack.enter_context(path.open("rb"))
            if is_device(stream):
                raise InputUnreadable(f"cannot read {_name(path)}: it is a device.", HINT)
            while line := stream.readline(MOST_BYTES + 1):
                if len(line) > MOST_BYTES:
                    raise InputUnreadable(f"{_name(path)} has a line of more than {MOST_BYTES >> 20} MiB.", f"Each line is {LINE}.")
                yield line
    except OSError as error:
        raise InputUnreadable(f"cannot read {_name(path)}: {error.strerror or error}.", HINT) from error


def _parsed(line: bytes, where: str) -> tuple[object, str]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputUnreadable(f"{where} is not JSON: {error}.", f"Each line is {LINE}.") from error
    if not isinstance(row, dict) or "id" not in row or not isinstance(row.get("text"), str):
        raise InputUnreadable(f"{where} has no id, or its text is not a string.", f"Each line is {LINE}.")
    return row["id"], row["text"]


def _name(path: Path) -> str:
    return "standard input" if str(path) == STDIN else str(path)
