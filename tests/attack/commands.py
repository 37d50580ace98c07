"""The command line in this process.

As `main` runs it, a hundred times faster than a process of its own.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import ExitStack, chdir
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from app.cli.main import main


class Done(NamedTuple):
    """What a call came to."""

    code: int
    stdout: bytes
    stderr: str


class Stream(io.TextIOWrapper):
    """A standard stream in memory, which says that it is a terminal or not."""

    def __init__(self, *, is_terminal: bool = False) -> None:
        super().__init__(
            io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True
        )
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def fileno(self) -> int:
        raise OSError("in memory")

    def taken(self) -> bytes:
        """What was written to it."""
        return self.buffer.getvalue()  # type: ignore[attr-defined, no-any-return]


def tachograph(line: str = "", *others: str | Path, cwd: Path, is_terminal: bool = False) -> Done:
    """Run a command in a folder. The first argument is a line of words.

    Any exception of it is the test's, as a traceback would be the user's.
    """
    out, err = Stream(is_terminal=is_terminal), Stream()
    with ExitStack() as stack:
        stack.enter_context(chdir(cwd))
        stack.enter_context(
            patch.object(sys, "argv", ["tachograph", *line.split(), *map(str, others)])
        )
        stack.enter_context(patch.object(sys, "stdout", out))
        stack.enter_context(patch.object(sys, "stderr", err))
        stack.enter_context(patch.dict(os.environ, {"COLUMNS": "100"}))
        os.environ.pop("TACHOGRAPH_DB", None)
        code = main()
    return Done(code, out.taken(), err.taken().decode())
