"""Arrow values as the exports for programs write them: exact, and with one spelling in every format."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import simplejson

from schemas.text import first_shown, in_json

_SIGNS = tuple("=+-@＝＋－＠")  # those of full width too, which a spreadsheet takes for the others
_BLANKS = ("\t", "\r", "\n")


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may run a text as a formula: it begins with a sign of one, behind whatever is not seen or is a blank.

    Apostrophes before that count for nothing, so that who reads can take away the one that was added: `'` and then such a text.
    """
    bare = text.lstrip("'")
    return bare.startswith(_BLANKS) or first_shown(bare).startswith(_SIGNS)


def rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Rows as dicts, a batch at a time; a map (pairs, in Arrow) becomes a dict."""
    maps = [field.name for field in table.schema if pa.types.is_map(field.type)]
    for batch in table.to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            yield row | {name: dict(row[name]) for name in maps if row[name] is not None}


def decimal_text(value: Decimal) -> str:
    """All its digits and no exponent: `0.000000015`, where str() says `1.5E-8`."""
    return f"{value:f}"


def time_text(value: datetime) -> str:
    """ISO 8601 in UTC. A time without a zone is UTC: the store knows no other."""
    time = value if value.tzinfo else value.replace(tzinfo=UTC)
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")


def json_text(value: Any) -> str:
    """One value on one line. Decimals are numbers with all their digits; NaN and infinities, which JSON lacks, are null.

    What a terminal would obey is escaped.
    """
    return in_json(simplejson.dumps(_plain(value), ensure_ascii=False, ignore_nan=True))


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return simplejson.RawJSON(decimal_text(value))
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
