"""Locations of stores as people may see them: without passwords, keys and tokens.

A location may be a connection string, and an error of DuckDB repeats it. Whatever is shown, logged or kept passes through here.
"""

from __future__ import annotations

import os
import re

SECRET_VARIABLES = ("PGPASSWORD", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "MOTHERDUCK_TOKEN")
"""Variables of the environment whose values are never shown."""

_LEAST_SECRET = 4
"""Characters of a secret that is looked for in a text: a shorter one would be found in words."""

_HIDDEN = "***"
_NAMES = r"\b\w*(?:password|passwd|token|secret|key_id)\w*"
_VALUES = r"'(?:[^'\\]|\\.)*'|\"[^\"]*\"|[^\s&;,'\")]*"
_ASSIGNED = re.compile(rf"(?P<name>{_NAMES})\s*=\s*(?P<value>{_VALUES})", re.IGNORECASE)
_IN_ADDRESS = re.compile(r"(?P<user>://[^/@\s:]*):(?P<value>[^/\s]*)@")


def without_secrets(location: str) -> str:
    """The location without the passwords in it: it names the same store, for whoever has the password elsewhere."""
    if not _may_hold_secrets(location):
        return location
    bare = _IN_ADDRESS.sub(r"\g<user>@", _ASSIGNED.sub("", location))
    bare = re.sub(r"(?<=[?&])&+", "", bare).rstrip("?& ")
    return re.sub(r"\s+", " ", re.sub(r":\s+", ":", bare, count=1))


def scrubbed(text: str, location: str = "") -> str:
    """A text, as of an error, with `***` for every secret: of the location, of the environment, and whatever looks like one."""
    named = [found["value"].strip("'\"") for pattern in (_ASSIGNED, _IN_ADDRESS) for found in pattern.finditer(location)]
    known = [os.environ.get(name, "") for name in SECRET_VARIABLES]
    text = _IN_ADDRESS.sub(rf"\g<user>:{_HIDDEN}@", _ASSIGNED.sub(rf"\g<name>={_HIDDEN}", text))
    for secret in sorted({*named, *known}, key=len, reverse=True):
        text = text.replace(secret, _HIDDEN) if len(secret) >= _LEAST_SECRET else text
    return text


def _may_hold_secrets(location: str) -> bool:
    return bool(re.match(r"(--db=)?[A-Za-z][\w+.-]+:", location))
