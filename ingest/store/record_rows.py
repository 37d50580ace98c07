"""One record → its rows; the rows of many records → one Arrow table for each table of the store.

Values are checked when the tables are made, a column of many records at a time, which takes a fifth
of the time of a check row by row. A value that its column does not take, or an exception in a
reader, is a defect of the reader. It costs only the one record, which is rejected with the column
and the value.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pydantic import ValidationError

from ingest.agents.base import (
    CHILD_TABLES,
    FACTS,
    RESPONSE_COLUMNS,
    RESPONSES,
    Found,
    Rows,
)
from ingest.agents.distilled import of_trial
from ingest.agents.readers import SourceReaders
from ingest.agents.shared.costs import settled
from ingest.facts import Facts
from ingest.findings.summary_facts import complete
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from ingest.system.bounds import TooMuch, bounded
from schemas.errors import InvalidRecord, RejectReason
from schemas.rows.run import RunRow
from schemas.rows.tables import TABLES, WrongValue, arrow_columns, arrow_table, shown


class RowTable(NamedTuple):
    """Rows of one table. `records`: for each row, the index of its record."""

    name: str
    rows: pa.Table
    records: Sequence[int]


class Read(NamedTuple):
    """A run with its rows; `document` counts as its record."""

    document: Document
    rows: Rows


FactsOf = Callable[[Facts, int | None], Facts]
"""(facts in the log, wall time in ms) → the facts of all origins."""


def read_record(document: Document, facts: Facts) -> Rows | None:
    """Return the rows of a document that is one run by itself, before `complete`.

    `facts`: of all origins, as stored with it. None if it is no run. Raises InvalidRecord.
    """
    readers = SourceReaders(facts)
    fed = runs_with(readers, document, lambda *_: facts)
    at_end, failed = runs_at_end(readers, lambda *_: facts)
    if failed:
        raise failed
    read = [one for one in (*(fed or ()), *at_end) if isinstance(one, Read)]
    return of_trial(read[0].rows) if read else None


def runs_with(
    readers: SourceReaders, document: Document, facts_of: FactsOf
) -> Sequence[Read | Unreadable] | None:
    """Return the runs that end with a document, before `complete`, with unchecked values.

    None if it is no agent's document.

    Raises InvalidRecord.
    """
    try:
        found = readers.feed(document)
        return None if found is None else [made(one, facts_of, document) for one in found]
    except (InvalidRecord, MemoryError):
        raise
    except Exception as error:  # any kind, since it is a defect
        raise _refused(readers.agent, error) from error


def runs_at_end(
    readers: SourceReaders, facts_of: FactsOf
) -> tuple[Sequence[Read | Unreadable], InvalidRecord | None]:
    """Return the runs at the end of a source, rejects of events without a run, and an error.

    The error is that of the first reader that failed.
    """
    read: list[Read | Unreadable] = []
    failed = None
    for reader in readers.met():
        try:
            read += [made(one, facts_of) for one in reader.end()]
        except MemoryError:
            raise
        except Exception as error:  # any kind, since it is a defect
            failed = failed or (
                error if isinstance(error, InvalidRecord) else _refused(reader.agent, error)
            )
    return read, failed


def made(
    found: Found | Unreadable, facts_of: FactsOf, document: Document | None = None
) -> Read | Unreadable:
    """Return the run with its rows, or its reject.

    Raises InvalidRecord if the fed `document` is the record, and TypeError or AttributeError for
    anything that has no rows; values are checked later.
    """
    if isinstance(found, Unreadable):
        return found
    try:
        rows = found.rows(facts_of(found.log, found.duration_ms))
    except InvalidRecord as error:
        if found.document is document:
            raise
        return found.document.refused(error.reason, error.detail)
    if not (isinstance(rows.run, RunRow) and {*map(type, rows[1:])} == {tuple}):
        raise TypeError(f"{shown(rows)} are no rows of a run")
    return Read(found.document, rows)


MakeTables = Callable[[Sequence[Rows]], Iterable["RowTable"]]
"""Makes tables of the rows of records. Raises WrongValue, or another error for a row that does not
fit its table.
"""


def checked_tables(
    made: Sequence[Rows], make: MakeTables | None = None
) -> tuple[list[RowTable], Mapping[int, InvalidRecord]]:
    """Return the tables of the valid records.

    And for every other record, by its index, the reason of its reject.

    `RowTable.records` are indexes among the valid records. `make`: `tables_of` for complete rows
    (default), `completed_tables` for others.
    """
    make = make or tables_of
    tables = _tables_or_error(made, make)
    if not isinstance(tables, Exception):
        return tables, {}
    refused = dict(_refused_among(made, make))
    return list(make([rows for place, rows in enumerate(made) if place not in refused])), refused


def completed_tables(made: Sequence[Rows]) -> Iterator[RowTable]:
    """Yield the tables of records with their claims, statements, findings and the costs that count.

    A wrong value that these stumble over is reported as the cause.
    """
    try:
        completed = [settled(rows) for rows in complete(made)]
    except Exception:
        for _ in tables_of(made):
            pass
        raise
    return tables_of(completed)


def tables_of(made: Sequence[Rows]) -> Iterator[RowTable]:
    """Yield the non-empty tables of the records, responses without their source.

    Only the commit knows the source.

    Raises WrongValue, or another error for a row that does not fit its table.
    """
    if made:
        yield RowTable(
            "runs", arrow_table(TABLES["runs"], [rows.run for rows in made]), range(len(made))
        )
    for name in CHILD_TABLES:
        parts = [getattr(rows, name) for rows in made]
        if records := [place for place, part in enumerate(parts) for _ in part]:
            values = list(chain.from_iterable(parts))
            if name in FACTS:
                runs = tuple([made[place].run.run_id for place in records])
                numbers = (
                    (tuple([number for part in parts for number in range(1, len(part) + 1)]),)
                    if FACTS[name]
                    else ()
                )
                table = arrow_columns(TABLES[name], (runs, *numbers, *zip(*values, strict=True)))
            else:
                table = arrow_table(TABLES[name], values)
            yield RowTable(name, table, records)
    if records := [place for place, rows in enumerate(made) for _ in rows.response_copies]:
        columns = dict(
            zip(
                RESPONSE_COLUMNS,
                zip(*chain.from_iterable(rows.response_copies for rows in made), strict=True),
                strict=True,
            )
        )
        unknown = ("",) * len(records)
        table = arrow_columns(
            TABLES[RESPONSES], (columns.get(name, unknown) for name in TABLES[RESPONSES].columns)
        )
        yield RowTable(RESPONSES, table, records)


def _refused_among(
    made: Sequence[Rows], make: MakeTables, first: int = 0
) -> Iterator[tuple[int, InvalidRecord]]:
    """Yield (index, reason) of the records whose rows cannot be stored, found by halving.

    `first`: the index of the first record in `made`.
    """
    error = _tables_or_error(made, make)
    if not isinstance(error, Exception):
        return
    if len(made) == 1:
        yield first, _refused(getattr(made[0].run, "agent", "an agent"), error)
        return
    half = len(made) // 2
    yield from _refused_among(made[:half], make, first)
    yield from _refused_among(made[half:], make, first + half)


def _tables_or_error(made: Sequence[Rows], make: MakeTables) -> list[RowTable] | Exception:
    try:
        with bounded(lambda: sum(len(rows.run.raw) for rows in made)):
            return list(make(made))
    except MemoryError:
        raise
    except TooMuch as error:
        return InvalidRecord(*reason_of("", error))
    except Exception as error:  # any kind, since a wrong value may have any type
        return error


def _refused(agent: object, error: Exception) -> InvalidRecord:
    return InvalidRecord(*reason_of(agent, error))


def reason_of(agent: object, error: BaseException) -> tuple[RejectReason, str]:
    """Return the reason of a reject and its detail, for an error of an agent's reader."""
    if isinstance(error, InvalidRecord):
        return error.reason, error.detail
    if isinstance(error, TooMuch):
        return RejectReason.TOO_MUCH, f"reading stopped here: {error}"
    if isinstance(error, MemoryError):
        return RejectReason.TOO_MUCH, "reading stopped here: it takes more memory than there is"
    what = (
        f"{_in_words(error)}; this is a bug in Tachograph's reader for {agent}, not in the "
        "record: please report it"
    )
    return RejectReason.READER_DEFECT, what


def _in_words(error: BaseException) -> str:
    """Describe the error with its place: column and value, or the line of code that raised it."""
    if isinstance(error, WrongValue):
        return str(error)
    if isinstance(error, ValidationError):  # of a row that was checked as it was built
        [first, *_] = error.errors(include_url=False, include_context=False)
        return (
            f"{error.title}.{'.'.join(map(str, first['loc']))}: {first['msg']} (found "
            f"{shown(first['input'])})"
        )
    [*_, place] = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__} in {Path(place.filename).name}, line {place.lineno}: {error}"
