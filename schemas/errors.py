"""Every error Tachograph raises on purpose, as one tree.

    TachographError
    ├── UsageError            the command or its options make no sense           exit 2
    ├── InputUnreadable       a path that cannot be opened                        exit 3
    ├── InvalidRecord         a document that is no valid record: becomes a row of `rejects`
    └── StoreError            the store cannot be used                            exit 4
        ├── StoreMissing      nothing there yet
        ├── NotAStore         something else is there
        ├── StoreVersionMismatch
        ├── StoreBusy         another process holds it
        └── WorkerDied        a process that reads for it did not come to its end

Any other error is a defect of ours, told in a sentence by `ingest.system.defects`: exit 70.

A message says what was wrong and where; `hint` says what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum, StrEnum

from schemas.text import choices_for


class ExitCode(IntEnum):
    """Exit codes of the command line; scripts rely on them."""

    OK = 0
    CHECK_FAILED = 1
    USAGE = 2
    INPUT_UNREADABLE = 3
    STORE_UNUSABLE = 4
    INTERNAL_ERROR = 70
    """EX_SOFTWARE of sysexits.h. Not Python's exit code for a traceback, which here means a failed
    check.
    """


class RejectReason(StrEnum):
    """The reason of a row of `rejects`. A closed list; `detail` has the particulars.

    Only what looked like a run is rejected; a file that is no log is ignored with its kind
    (`schemas.file_kinds.FileKind`).
    """

    NOT_UNPACKED = "not_unpacked"
    """An archive or compressed data that is broken, encrypted or nested too deep; also members
    after a broken one.
    """

    TOO_MUCH = "too_much"
    """A limit of time, memory or disk was exceeded; the detail names it."""

    NOT_JSON = "not_json"
    TRUNCATED = "truncated"
    NO_RECORD = "no_record"
    LOOK_ALIKE = "look_alike"
    INVALID_RECORD = "invalid_record"

    READER_MISSING = "reader_missing"
    """A reader could not be imported, such as for a module that is not installed: the detail has
    the error.
    """

    READER_DEFECT = "reader_defect"
    """A bug in our reader: it raised, or built a row with a value that does not fit its column
    (named in the detail).
    """


class TachographError(Exception):
    """Base of all errors that are shown as a message instead of a traceback."""

    exit_code = ExitCode.CHECK_FAILED

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class UsageError(TachographError):
    """The command, a filter or an option makes no sense."""

    exit_code = ExitCode.USAGE


def unknown_word(kind: str, word: str, known: Iterable[str]) -> UsageError:
    """Return the error for a word that is not in a closed list, with similar ones and all of it."""
    return UsageError(f"unknown {kind} {word!r}.", choices_for(word, known))


class InputUnreadable(TachographError):
    """A path that does not exist or may not be read."""

    exit_code = ExitCode.INPUT_UNREADABLE

    def __init__(self, message: str, hint: str = "Check the path and its permissions.") -> None:
        super().__init__(message, hint)


class InvalidRecord(TachographError):
    """A document that cannot become a run; the pipeline turns it into a row of `rejects`."""

    def __init__(self, reason: RejectReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class StoreError(TachographError):
    """The store cannot be used."""

    exit_code = ExitCode.STORE_UNUSABLE


class StoreMissing(StoreError):
    """There is no store at the given place."""


class NotAStore(StoreError):
    """The file exists, but Tachograph did not write it."""


class StoreVersionMismatch(StoreError):
    """The store's tables have another version than this program's."""


class StoreBusy(StoreError):
    """Another process held the store for longer than we wait."""


class WorkerDied(StoreError):
    """A process that reads for the store was killed, or crashed: nothing was written."""
