"""Commands that install a package for this program, whichever way it was installed itself: by pip, pipx or uv, from a wheel or a folder."""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.requirements import Requirement


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

    needed = map(Requirement, requires("tachograph") or ())
    return install_command(*(_bare(one) for one in needed if _is_only_of(extra, one)))


def _is_only_of(extra: str, one: Requirement) -> bool:
    return one.marker is not None and one.marker.evaluate({"extra": extra}) and not one.marker.evaluate({"extra": ""})


def _bare(one: Requirement) -> str:
    extras = f"[{','.join(sorted(one.extras))}]" if one.extras else ""
    return f"{one.name}{extras}{one.specifier}"
