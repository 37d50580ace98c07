"""Folders that a command writes whole: it refuses files of others, and replaces earlier ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from ingest.system.files import held_folder
from ingest.system.signals import put_off
from schemas.errors import UsageError
from schemas.text import one_line, plural

ASIDE = ".writing-"
"""Beginning of the name of a folder in which files lie until all are written."""

_FILE_NAME = re.compile(r"[A-Za-z0-9_-]{1,120}")


def file_stem(name: str) -> str:
    """Return an id as the name of a file: itself if every system takes it, else its hash."""
    return name if _FILE_NAME.fullmatch(name) else sha256(name.encode()).hexdigest()


@contextmanager
def replaced(folder: Path, is_ours: Callable[[Path], bool], writer: str) -> Iterator[Path]:
    """Yield an empty folder; what the block writes there replaces the content of `folder`.

    After an error or an interrupt the folder is as it was. `is_ours`: whether an earlier `writer`
    (`copy`, `site`) wrote an entry of it; raises UsageError for others and if it cannot be written.
    """
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with held_folder(folder, ASIDE) as aside:
            earlier = [one for one in folder.iterdir() if not one.name.startswith(ASIDE)]
            if others := sorted(one.name for one in earlier if not is_ours(one)):
                names = (
                    f"{plural(len(others), 'file')} that no {writer} wrote, such as "
                    f"{one_line(others[0])}"
                )
                raise UsageError(
                    f"{folder} has {names}: nothing was written.", "Name a new or an empty folder."
                )
            new, old = aside / "new", aside / "old"
            new.mkdir()
            old.mkdir()
            yield new
            with put_off():
                for path in earlier:
                    path.replace(old / path.name)
                for path in [*new.iterdir()]:
                    path.replace(folder / path.name)
                is_new = False
    except OSError as error:
        hint = "Nothing was written. Name another folder, or make room."
        raise UsageError(f"cannot write to {folder}: {error.strerror or error}.", hint) from error
    finally:
        if is_new:
            with suppress(OSError):
                folder.rmdir()
