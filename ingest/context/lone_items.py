"""Items of ISO-Bench in which no agent left a record: only the harness's journal says that there was a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ingest.context.sidecars import JOURNAL, SIDECAR_NAMES
from schemas.marks import RECORD_MARK, TEXT_STARTS

_ITEM_FILES = ("task.txt", "prompt.json")
"""Files of every item of the benchmark: beside them a journal is that of an item."""

_SNIFFED = 1 << 18
_LONGEST_ERROR = 2000
_ERRORS = "_stderr.txt"


def is_lone_journal(path: Path) -> bool:
    """Whether a file is the journal of an item whose other files hold no record of an agent. Raises nothing."""
    if path.name != JOURNAL or not any((path.parent / name).is_file() for name in _ITEM_FILES):
        return False
    return not any(_seems_record(file) for file in _logs(path.parent))


def error_beside(path: Path) -> str | None:
    """The end of what the agent's process wrote to its standard error."""
    for file in _logs(path.parent):
        if file.name.endswith(_ERRORS):
            with suppress(OSError), file.open("rb") as opened:
                opened.seek(max(0, file.stat().st_size - _LONGEST_ERROR))
                if text := opened.read().decode("utf-8", "replace").strip():
                    return text
    return None


def _logs(folder: Path) -> Iterator[Path]:
    """The files of an item that may be an agent's log."""
    with suppress(OSError):
        for file in sorted(folder.iterdir()):
            if file.name not in SIDECAR_NAMES and file.name not in _ITEM_FILES and file.is_file():
                yield file


def _seems_record(file: Path) -> bool:
    with suppress(OSError), file.open("rb") as opened:
        head = opened.read(_SNIFFED)
        return head.startswith(TEXT_STARTS) or RECORD_MARK.search(head.decode("utf-8", "replace")) is not None
    return False
