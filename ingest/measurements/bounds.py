"""How much of one file is read as measurements: a small file must not become hours of work or gigabytes of rows."""

from __future__ import annotations

MOST_VALUES = 200_000
"""Measured values of one file; also its JSON documents, and the rows of a table."""

MOST_CHARACTERS = 1 << 26
"""Characters in all rows of one file, which may repeat a long parameter in each."""

MOST_JSON_VALUES = 1 << 22
"""Values in the JSON of one file: so many take less than half a gigabyte."""


class TooManyValues(ValueError):
    """A file is beyond a bound on its values. The text names the bound."""
