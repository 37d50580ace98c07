"""What a run has from another record than the kept one and that is more than a figure: the text of its summary, the name of its model.

The kept record is read again with them, so that claims, statements and findings are those of the run as it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

import pyarrow as pa

from ingest.agents.base import FACTS, Rows
from ingest.sources.document import Document
from ingest.store.database import Writer, run_step
from ingest.store.history.read_again import read_one
from ingest.store.history.records import BATCH, context
from ingest.store.record_rows import checked_tables, completed_tables
from schemas.catalogue.rules import FINDING_RULES
from schemas.errors import InvalidRecord
from schemas.rows.run import ModelUsageRow, Outcome
from schemas.rows.tables import arrow_schema
from schemas.wire.launch import EXIT_CODE


def borrow(writer: Writer) -> None:
    """Write the runs of the temporary table `borrowing` again, and note them in `repriced`. One that cannot be read stays as it is."""
    connection = writer.connection
    run_step(connection, "records/borrowed")
    [(last,)] = connection.execute("select coalesce(max(number), 0) from borrowed").fetchall()
    for first in range(1, last + 1, BATCH):
        records = f"select * from borrowed where number between {first} and {first + BATCH - 1} order by number, is_kept desc"
        tables, _ = checked_tables(list(_merged(connection.sql(records).to_arrow_table().to_pylist())), completed_tables)
        _write(writer, {table.name: table.rows for table in tables})


def _write(writer: Writer, tables: Mapping[str, pa.Table]) -> None:
    if "runs" not in tables:
        return
    connection = writer.connection
    connection.register("completed_runs", tables["runs"])
    connection.register("summary_rules", pa.table({"rule": list(FINDING_RULES)}))
    run_step(connection, "records/completed")
    connection.unregister("completed_runs")
    connection.unregister("summary_rules")
    for name in FACTS.keys() & tables.keys():
        writer.insert_table(name, tables[name])
    connection.register("usage", tables.get("model_usage", arrow_schema(ModelUsageRow).empty_table()))
    connection.execute("insert into model_usage by name select * from usage semi join nameless using (run_id)")
    connection.unregister("usage")


def _merged(records: Sequence[Mapping[str, Any]]) -> Iterator[Rows]:
    """The rows of each run, of its kept record and that with its text."""
    for _, of_run in groupby(records, key=lambda row: row["run_id"]):
        with suppress(InvalidRecord):
            kept, *others = [(row, _read(row)) for row in of_run]
            row, rows = kept
            text = {name: getattr(others[0][1].run, name) for name in ("result", "result_repaired")} if others else {}
            code = row["exit_code"] or ""  # a rule compares it with what the kept record says
            outcome = rows.run.outcome if code else Outcome(row["merged"]["outcome"])
            yield rows._replace(run=rows.run.completed(row["merged"] | text | {"outcome": outcome, "labels": {EXIT_CODE: code}}))


def _read(row: Mapping[str, Any]) -> Rows:
    around = context(row)
    named = around._replace(model=row["model_id"]) if row["is_kept"] else around
    return read_one(Document(row["ordinal"], "kept record", row["raw"]), named)
