"""What is handed on of a store: without what was said in sessions, unless that is asked for.

A session's transcript is private: prompts, titles made of them, final texts, claims in them and excerpts of what could not be read are
shown on screens and in a terminal, and left out of files. Temporary views of the same names stand in for the tables, so that every query
of every export, also of one that nobody has written yet, reads no such text. Figures are the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import partial

import duckdb
import pyarrow as pa

from app.queries.filters.chosen import Filters
from app.queries.filters.registry import SEARCH
from app.queries.search import note_found
from ingest.store.database import Store
from ingest.store.opening.tables import VIEWS, view_sql
from ingest.store.statements import run, sql_of
from schemas.catalogue.failures import ERROR_SQL, STAND_IN_SQL, TOLD_SQL
from schemas.catalogue.rules import FINDING_RULES


class ExportedStore(Store):
    """A store whose texts of sessions can be left out of what its queries read."""

    searched: frozenset[str] | None = None
    """Words of the filter `search`, which are looked for before the texts go: `found` has their runs. None: nothing is left out."""

    def leave_out_texts(self, *filters: Filters) -> None:
        """Leave the texts of sessions out from the next reading on. `filters`: those of the queries: they choose the same runs."""
        self.searched = (self.searched or frozenset()) | {text for one in filters for text in one.values(SEARCH)}

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """As that of any store. Raises StoreError."""
        with super().reading() as connection:
            if self.searched is not None:
                _leave_out_texts(connection, self.searched)
            yield connection


def exported(store: Store, *filters: Filters) -> ExportedStore:
    """The same store without the texts of sessions, on connections of its own."""
    made = ExportedStore(store.location)
    made.leave_out_texts(*filters)
    return made


def _leave_out_texts(connection: duckdb.DuckDBPyConnection, searched: Collection[str]) -> None:
    for text in sorted(searched):
        note_found(connection, text)
    meanings = {name: rule.meaning for name, rule in FINDING_RULES.items() if not rule.is_of_record}
    strings = partial(pa.array, type=pa.string())  # for values without a type, pyarrow imports pandas: 0.3 s
    connection.register("rules_given", pa.table({"rule": strings(list(meanings)), "meaning": strings(list(meanings.values()))}))
    connection.execute("create or replace temp table summary_rules as from rules_given")
    connection.unregister("rules_given")
    sql = sql_of("reading/textless")
    for name, text in (("$stand_in", STAND_IN_SQL), ("$error_text", ERROR_SQL), ("$error_told", TOLD_SQL)):
        sql = sql.replace(name, text)
    run(connection, sql)
    for view in VIEWS:  # the same views, over those that stand in
        run(connection, view_sql(view).split("\ncomment on ")[0].replace("create or replace view", "create or replace temp view"))
