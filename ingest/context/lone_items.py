"""Items of ISO-Bench in which no agent left a record: only the harness's journal says that there was a run."""

from __future__ import annotations

import stat
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Protocol

from ingest.context.sidecars import JOURNAL, SIDECAR_NAMES
from ingest.context.small_files import split
from ingest.sources.decoding import Allowance, Broken, Opened
from ingest.sources.files import Source
from schemas.errors import InputUnreadable
from schemas.file_kinds import FileKind
from schemas.marks import RECORD_MARK, TEXT_STARTS

_ITEM_FILES = ("task.txt", "prompt.json")
"""Files of every item of the benchmark: beside them a journal is that of an item."""

_SNIFFED = 1 << 18
_LONGEST_ERROR = 2000
_ERRORS = "_stderr.txt"


def is_lone_journal(path: Path) -> bool:
    """Whether a file is the journal of an item whose other files hold no record of an agent. Raises nothing.

    A file that cannot be looked into may be that record: its run would be counted twice.
    """
    try:
        is_of_item = path.name == JOURNAL and any((path.parent / name).is_file() for name in _ITEM_FILES)
        return is_of_item and not any(map(_seems_record, _logs(path.parent)))
    except OSError:
        return False


def error_beside(path: Path) -> str | None:
    """The end of what the agent's process wrote to its standard error."""
    with suppress(OSError):
        for file in _logs(path.parent):
            if file.name.endswith(_ERRORS) and (text := _end_of(Source(file.name, path=file))):
                return text
    return None


class Result(Protocol):
    """What became of a source: its kind, and whether the store knew it."""

    name: str
    kind: FileKind
    known: bool


class Items:
    """The items of an archive, whose members come one by one: that an item has no record is known after its last file.

    `folders`: the folders of unpacked sidecars by their names in the archive.
    """

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = folders
        self._journals: list[tuple[str, datetime | None]] = []
        self._recorded: set[str] = set()
        self._errors: dict[str, str] = {}

    def hold(self, member: Source) -> bool:
        """Whether a member is the journal of an item: it waits for the others. Of any other, note what it says of an error."""
        folder, name = split(member.name)
        if folder not in self._folders:
            return False
        if is_lone_journal(self._folders[folder] / name):
            self._journals.append((member.name, member.modified_at))
            return True
        if name.endswith(_ERRORS) and folder not in self._errors and (text := _end_of(member)):
            self._errors[folder] = text
        return False

    def note(self, result: Result) -> None:
        """Note what became of a member."""
        if self._folders and (result.kind is FileKind.LOG or result.known):
            self._recorded.add(split(result.name)[0])

    def held(self, folders: Container[str]) -> Iterator[tuple[Source, Callable[[], str | None] | None]]:
        """The journals in some folders, which wait no longer, each with the error of its item.

        None instead of the function where the item has a record.
        """
        waited, self._journals = self._journals, [one for one in self._journals if split(one[0])[0] not in folders]
        for name, modified_at in waited:
            folder, file = split(name)
            if folder in folders:
                journal = Source(name, path=self._folders[folder] / file, modified_at=modified_at, temporary=True)
                yield journal, None if folder in self._recorded else partial(self._errors.get, folder)


def _end_of(source: Source) -> str:
    with suppress(OSError, InputUnreadable), source.open() as stream:
        stream.seek(max(0, source.size - _LONGEST_ERROR))
        return stream.read().decode("utf-8", "replace").strip()
    return ""


def _logs(folder: Path) -> Iterator[Path]:
    """The files of an item that may be an agent's log. Raises OSError."""
    for file in sorted(folder.iterdir()):
        if file.name not in SIDECAR_NAMES and file.name not in _ITEM_FILES:
            with suppress(FileNotFoundError):
                if stat.S_ISREG(file.stat().st_mode):
                    yield file


def _seems_record(file: Path) -> bool:
    """Whether a file begins like a log. Raises OSError."""
    with suppress(Broken), file.open("rb") as opened:
        head = Opened(opened, Allowance(file.stat().st_size)).beginning(_SNIFFED)
        return head.startswith(TEXT_STARTS) or RECORD_MARK.search(head.decode("utf-8", "replace")) is not None
    return False
