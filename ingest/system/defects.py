"""Unexpected errors: a sentence for the user, and a file with the traceback for its fixer."""

from __future__ import annotations

import os
import secrets
import tempfile
import traceback
from datetime import UTC, datetime
from pathlib import Path

from ingest.system.secrets import scrubbed, scrubbed_text

DEBUG = "TACHOGRAPH_DEBUG"
"""Environment variable that `tachograph --debug` sets to show tracebacks."""


_LONGEST = 300


def what_failed(error: Exception) -> str:
    """Return the error in one line, no secrets: `KeyError: 'at' (ingest/agents/pi.py, line 20)`."""
    line = str(error).strip().partition("\n")[0]
    shown = scrubbed_text(scrubbed(line))
    place = traceback.extract_tb(error.__traceback__)
    where = (
        f" ({'/'.join(Path(place[-1].filename).parts[-3:])}, line {place[-1].lineno})"
        if place
        else ""
    )
    return f"{type(error).__name__}{': ' if shown else ''}{shown[:_LONGEST]}{where}"


def traceback_of(error: Exception) -> str:
    """Return the traceback, without secrets."""
    return scrubbed_text(scrubbed("".join(traceback.format_exception(error))))


def state_folder() -> Path:
    """Return our folder for state, by the XDG Base Directory Specification."""
    named = os.environ.get("XDG_STATE_HOME") or ""
    place = named if os.path.isabs(named) else os.path.expanduser("~/.local/state")  # noqa: PTH111, PTH117  Path fails without a home
    return Path(place, "tachograph")


def written_down(error: Exception) -> str:
    """Write the traceback to a file that only its owner may read.

    Returns its path, or "" if none could be made.

    The folder is `state_folder`, else that for temporary files.
    """
    for folder in (state_folder(), Path(tempfile.gettempdir(), "tachograph")):
        file = folder / f"error-{datetime.now(UTC):%Y-%m-%dT%H-%M-%SZ}-{secrets.token_hex(3)}.txt"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(
                os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600),
                "w",
                encoding="utf-8",
                errors="replace",
            ) as opened:
                opened.write(traceback_of(error))
            for old in sorted(folder.glob("error-*.txt"))[:-20]:
                old.unlink(missing_ok=True)
        except OSError:
            continue
        return str(file)
    return ""
