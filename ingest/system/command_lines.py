"""Commands that messages and screens print.

Each runs as printed, on the same store and in the same environment.
"""

from __future__ import annotations

import os
import shlex
import sys
from importlib.util import find_spec

from ingest.system.secrets import without_secrets
from schemas.errors import UsageError

DEFAULT_STORE = "tachograph.duckdb"
"""The store of a command without `--db`, unless $TACHOGRAPH_DB names another."""


def on_disk(location: str) -> str:
    """Return the location of a named store.

    Raises UsageError for an in-memory one, which would end with the process.
    """
    if not location.strip() or location.startswith(":memory:"):
        raise UsageError(f"{location!r} is not a store on disk.", "Give a file, e.g. runs.duckdb.")
    return location


def command_line(words: str, location: str) -> str:
    """Return `tachograph WORDS`, with `--db` unless the store at `location` is the default.

    `words` are already quoted for a shell. The store is not opened and need not exist.
    """
    shown = without_secrets(location)
    return f"tachograph {words}{'' if is_default(location) else f' --db {shlex.quote(shown)}'}"


def is_default(location: str) -> bool:
    """Return whether a command in this folder uses this store without `--db`.

    Its shell may or may not have our $TACHOGRAPH_DB.
    """
    given = os.environ.get("TACHOGRAPH_DB") or DEFAULT_STORE
    return all(
        os.path.realpath(name) == os.path.realpath(location) for name in (given, DEFAULT_STORE)
    )


def install_command(*requirements: str) -> str:
    """Return the command that adds requirements to this process's environment, quoted for a shell.

    It names the interpreter: the `pip` of a shell may belong to another environment. An environment
    of `uv tool` has no pip, but uv has.
    """
    installer = (
        [sys.executable, "-m", "pip", "install"]
        if find_spec("pip")
        else ["uv", "pip", "install", "--python", sys.executable]
    )
    return shlex.join([*installer, *requirements])


def extra_command(extra: str = "all") -> str:
    """Return the command that installs an extra.

    It works though our own package is on no index: pip and uv find it installed, and add what the
    extra needs.
    """
    return install_command(f"tachograph[{extra}]")
