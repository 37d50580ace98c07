"""Commands that messages and screens print: each runs as printed, on the store that the reader looks at, or in this very environment."""

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
    """The location of a store that somebody named. Raises UsageError for one that would be gone with the process."""
    if not location.strip() or location.startswith(":memory:"):
        raise UsageError(f"{location!r} is not a store on disk.", "Give a file, e.g. runs.duckdb.")
    return location


def command_line(words: str, location: str) -> str:
    """`tachograph WORDS`, with `--db` unless the store at `location` is the one that the command takes without it.

    `words` are quoted for a shell already. The store is not opened and need not exist.
    """
    shown = without_secrets(location)
    return f"tachograph {words}{'' if is_default(location) else f' --db {shlex.quote(shown)}'}"


def is_default(location: str) -> bool:
    """Whether a command in this folder uses this store without `--db`, in a shell with our $TACHOGRAPH_DB and in one without it."""
    given = os.environ.get("TACHOGRAPH_DB") or DEFAULT_STORE
    return all(os.path.realpath(name) == os.path.realpath(location) for name in (given, DEFAULT_STORE))


def install_command(*requirements: str) -> str:
    """The command that adds requirements to the environment of this very process, quoted for a shell.

    It names the interpreter: the `pip` of a shell may belong to another environment. What `uv tool` makes has no pip, but its maker has.
    """
    installer = [sys.executable, "-m", "pip", "install"] if find_spec("pip") else ["uv", "pip", "install", "--python", sys.executable]
    return shlex.join([*installer, *requirements])


def extra_command(extra: str) -> str:
    """The same for what the extra needs: named one by one, since our own package is on no index that pip could take it from."""
    from importlib.metadata import requires

    from packaging.requirements import Requirement

    needed = []
    for one in map(Requirement, requires("tachograph") or ()):
        if one.marker is not None and one.marker.evaluate({"extra": extra}) and not one.marker.evaluate({"extra": ""}):
            extras = f"[{','.join(sorted(one.extras))}]" if one.extras else ""
            needed.append(f"{one.name}{extras}{one.specifier}")
    return install_command(*needed)
