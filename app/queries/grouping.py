"""One grammar of groupings, for `--by`, links and widgets alike.

The key of a dimension, or `label:KEY` for any label.

Days, weeks and months are those of a time zone. The zone's name and a label's key are always bound
parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from app.queries.filters import Filters, in_zone
from schemas.catalogue.dimensions import DIMENSIONS, LABEL, LABEL_PREFIX, SYNONYMS
from schemas.catalogue.entry import Dimension
from schemas.errors import UsageError, unknown_word

UTC_ZONE = "UTC"

EFFORT = "effort"
SIDES = {"agent": ("agent", "model"), EFFORT: ("agent", "model", EFFORT)}
"""Words of addresses for runs by agent and model, and also by effort → their dimensions."""

_LONGEST_ZONE = 100


@dataclass(frozen=True)
class Grouping:
    """A chosen dimension.

    `word` is its column's name; `sql` has only bound parameters, never text of the word.
    """

    word: str
    label: str
    sql: str
    parameters: Mapping[str, Any]
    in_order: bool = False


def group(word: str, number: int = 0, zone: str = UTC_ZONE) -> Grouping:
    """Return the grouping that a word names, the `number`th of its query.

    Raises UsageError for an unknown one.
    """
    key = word.removeprefix(LABEL_PREFIX)
    if key != word and key:
        return bound(LABEL, word, f"{LABEL.label} {key}", {"key": key}, number)
    found = DIMENSIONS.get(word) or SYNONYMS.get(word)
    if not found:
        raise unknown_word("dimension", word, (*DIMENSIONS, f"{LABEL_PREFIX}KEY"))
    return bound(found, word, found.label, {"zone": zone}, number)


def groups(words: Sequence[str], zone: str = UTC_ZONE) -> list[Grouping]:
    """Return the groupings that words name, each once. Raises UsageError."""
    return [group(word, number, zone) for number, word in enumerate(dict.fromkeys(words))]


def filters_in(filters: Filters, zone: str) -> Filters:
    """Return the filters with their times in the zone (`chosen.in_zone`), unchanged for UTC.

    Raises UsageError for an unknown zone.
    """
    return filters if zone == UTC_ZONE else in_zone(filters, known_zone(zone))


@cache
def known_zone(name: str) -> ZoneInfo:
    """Return the time zone of an IANA name.

    Raises UsageError with similar names for an unknown one.
    """
    try:
        zone = ZoneInfo(
            name[:_LONGEST_ZONE]
        )  # more makes it look for ten thousand folders in one another
    except (ZoneInfoNotFoundError, ValueError, OSError):
        zone = None
    if zone is not None and name != UTC_ZONE:
        import duckdb

        with (
            duckdb.connect() as connection
        ):  # the system has zones that the store does not know, such as `localtime`
            is_known = connection.execute(
                "select true from pg_timezone_names() where name = $name", {"name": name}
            ).fetchall()
            zone = zone if is_known else None
    if zone is None:
        names = {known.lower(): known for known in available_timezones() if known != name}
        near = [names[found] for found in get_close_matches(name.lower(), names, 3)]
        hint = (
            f"Did you mean {' or '.join(near)}?"
            if near
            else "Zones have IANA names such as Europe/Berlin, America/New_York or UTC."
        )
        raise UsageError(f"there is no time zone {name!r}.", hint)
    return zone


def bound(
    dimension: Dimension, word: str, label: str, values: Mapping[str, str], number: int
) -> Grouping:
    """Return the dimension as the `number`th grouping of a query, and its SQL's bound values."""
    used = {name: value for name, value in values.items() if f"${name}" in dimension.sql}
    sql = dimension.sql
    for name in used:
        sql = sql.replace(f"${name}", f"$g{number}_{name}")
    return Grouping(
        word,
        label,
        sql,
        {f"g{number}_{name}": value for name, value in used.items()},
        dimension.in_order,
    )
