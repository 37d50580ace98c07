"""The user's own price file (TOML): contracts, discounts, local models.

    [[price]]                     # USD per million tokens
    model = "qwen3-coder"         # the model, or its id as logged
    provider = "local"            # provider, region, from and until are optional
    from = 2026-03-01             # first day (UTC) of the price
    until = 2027-01-01            # first day (UTC) after it
    input = 0.20
    output = 0.80
    cache_read = 0.02             # else as input
    cache_write = 0.25            # else as input
    cache_write_1h = 0.40         # else as cache_write
    web_search = 10 # USD per 1,000 searches; without it, rows with searches have no price

    [[discount]]                  # off the list prices of the library
    provider = "aws"
    percent = 12

    [machines]                    # USD per hour of a run's wall time
    any = 1.20                    # of a run that nothing else fits
    "gpu=h100" = 3.00             # of runs with this label
    "host=box1" = 2.40            # of runs on this host

Of several entries for a day, the most specific one wins, then the one that began last, then the
last in the file.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from ingest.system.files import parse_toml, read_small_text
from schemas.errors import InputUnreadable, UsageError
from schemas.rows.price import BEGINNING, ModelKey, PriceFileRow
from schemas.wire.price_file import ANY_MACHINE, DiscountEntry, PriceEntry, PriceFile

_TABLES: dict[str, type[BaseModel]] = {"price": PriceEntry, "discount": DiscountEntry}
_EXAMPLE = (
    'An entry looks like this: [[price]] model = "glm-5.1", input = 0.6, output = 2.2 (USD per '
    "million tokens)."
)

_COMPLAINTS = 10

_WORDS = {
    "is_instance_of": "must be a number",
    "decimal_type": "must be a number",
    "string_type": "must be a string",
}

E = TypeVar("E", PriceEntry, DiscountEntry)


@dataclass(frozen=True)
class PriceList:
    """A parsed price file."""

    name: str = ""
    entries: PriceFile = field(default_factory=PriceFile)

    def price(self, key: ModelKey, day: date) -> tuple[int, PriceEntry] | None:
        """Return the entry for a model on a day, with its number in the file from 1."""
        return _best(self.entries.price, key, day)

    def discount(self, key: ModelKey, day: date) -> tuple[int, DiscountEntry] | None:
        """Return the discount for a model on a day, with its number in the file from 1."""
        return _best(self.entries.discount, key, day)

    def boundaries(self) -> set[date]:
        """Return the days on which an entry begins or ends."""
        entries = (*self.entries.price, *self.entries.discount)
        return {day for entry in entries for day in (entry.since, entry.until) if day}


def read_price_file(path: Path) -> PriceFileRow:
    """Read the price file as a row of the store.

    Raises InputUnreadable if it cannot be opened, UsageError if it is no price file.
    """
    try:
        text = read_small_text(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputUnreadable(f"cannot read the price file {path}: {reason}") from error
    rates = parse_price_file(str(path), text).entries.machines
    machines = {"" if key == ANY_MACHINE else key: f"{rate:f}" for key, rate in rates.items()}
    return PriceFileRow(name=str(path), text=text, read_at=datetime.now(UTC), machines=machines)


def parse_price_file(name: str, text: str) -> PriceList:
    """Parse a price file. Raises UsageError with the line, the key, and what would be right."""
    try:
        return PriceList(name, PriceFile.model_validate(parse_toml(text, Decimal)))
    except ValidationError as error:
        complaints = [
            _complaint(name, text, detail)
            for detail in error.errors(include_url=False)[:_COMPLAINTS]
        ]
        more = (
            f"; and {error.error_count() - _COMPLAINTS} more mistakes"
            if error.error_count() > _COMPLAINTS
            else ""
        )
        raise UsageError("; ".join(complaints) + more, _EXAMPLE) from error
    except ValueError as error:
        raise UsageError(f"{name} is not valid TOML: {error}.", _EXAMPLE) from error


def _best(entries: tuple[E, ...], key: ModelKey, day: date) -> tuple[int, E] | None:
    """Return the most specific fitting entry, or of several the last begun, with its number.

    The number is that in the file.
    """
    fitting = [
        (number, entry)
        for number, entry in enumerate(entries, 1)
        if entry.holds(day)
        and entry.model in (None, key.model_id, key.model)
        and entry.provider in (None, key.provider)
        and entry.region in (None, key.region)
    ]

    def weight(item: tuple[int, E]) -> tuple[int, int, date, int]:
        number, entry = item
        model = (
            0 if entry.model is None else 2 if entry.model == key.model_id else 1
        )  # an id as logged is more specific than a name
        return (
            model,
            (entry.provider is not None) + (entry.region is not None),
            entry.since or BEGINNING,
            number,
        )

    return max(fitting, key=weight, default=None)


def _complaint(name: str, text: str, detail: ErrorDetails) -> str:
    table, number, *rest = (*detail["loc"], None)
    line = _line(text, str(table), number)
    place = f"{name}, line {line}" if line else name
    entry = f"[[{table}]] number {number + 1}" if isinstance(number, int) else f"`{table}`"
    key = [number] if isinstance(number, str) else []  # of a table that is no list
    path = ".".join(str(part) for part in (*key, *rest) if part is not None)
    return f"{place}, {entry}{f', `{path}`' if path else ''}: {_what(detail, str(table), path)}"


def _what(detail: ErrorDetails, table: str, path: str) -> str:
    if detail["type"] == "missing":
        return "is missing"
    if detail["type"] != "extra_forbidden":
        found = "" if isinstance(detail["input"], dict) else f" (found {detail['input']!s:.60})"
        message = detail["msg"].removeprefix("Value error, ").removeprefix("Input ")
        return f"{_WORDS.get(detail['type'], message)}{found}"
    is_inside = table in _TABLES and path
    words = (
        [info.alias or name for name, info in _TABLES[table].model_fields.items()]
        if is_inside
        else list(_TABLES)
    )
    close = difflib.get_close_matches(path or table, words, 1)
    return (
        f"unknown key; {f'did you mean `{close[0]}`?' if close else ''} Keys are: "
        f"{', '.join(words)}"
    )


def _line(text: str, table: str, number: object) -> int | None:
    """Return the line of an entry's header; None if it is written in another form."""
    headers: Iterable[re.Match[str]] = re.finditer(
        rf"^[ \t]*\[\[[ \t]*{re.escape(table)}[ \t]*\]\]", text, re.MULTILINE
    )
    found = [text.count("\n", 0, match.end()) + 1 for match in headers]
    return found[number] if isinstance(number, int) and number < len(found) else None
