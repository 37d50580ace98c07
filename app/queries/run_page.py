"""One run: found by its id, and all that the store knows of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from app.queries import claims as claim_queries
from app.queries import measured as measured_queries
from app.queries import reading
from app.queries import runs as run_queries
from app.queries.claims import RunFacts
from app.queries.filters import EXCLUDED, LEAST_OF_AN_ID, RUN, Filters, where
from app.queries.reading import fetch, read_transaction
from ingest.store.database import Store
from ingest.system.command_lines import command_line
from schemas.errors import UsageError
from schemas.text import did_you_mean, one_line, plural

MOST_CANDIDATES = 10
"""Runs that are listed where the beginning of an id is that of several."""

MOST_COMPARED = 1000
"""Ids that are compared with one that no run has."""

LEAST_SHOWN = 8
SESSION = "session"


class Candidate(NamedTuple):
    """A run whose id begins as asked, and what it is called."""

    run_id: str
    title: str


@dataclass(frozen=True)
class Found:
    """The runs whose id begins with a text: `total` of them, the first MOST_CANDIDATES listed."""

    total: int
    candidates: tuple[Candidate, ...]

    @property
    def run_id(self) -> str | None:
        """The id, where the text names one run."""
        return self.candidates[0].run_id if self.total == 1 else None

    def lines(self) -> list[str]:
        """Each run that is listed: the beginning of its id that tells it from the others, and its title."""
        ids = [one.run_id for one in self.candidates]
        shown = next(
            length
            for length in range(LEAST_SHOWN, 1 + max([LEAST_SHOWN, *map(len, ids)]))
            if len({one[:length] for one in ids}) == len(ids)
        )
        rest = self.total - len(ids)
        return [f"{one.run_id[:shown]}  {one_line(one.title)}" for one in self.candidates] + ([f"… and {rest:,} more"] if rest else [])


def find(store: Store, text: str) -> Found:
    """The runs that a text names, as the filter `run` does; also one that was copied with the `…` behind a short id. Raises StoreError."""
    condition = where(Filters(((RUN, (_bare(text),)), (EXCLUDED, ("all",)))))
    sql = f"select run_id, title, count(*) over () as total from v_runs where {condition.sql} order by run_id limit {MOST_CANDIDATES}"
    rows = fetch(store, sql, condition.parameters).to_pylist()
    return Found(rows[0]["total"] if rows else 0, tuple(Candidate(row["run_id"], row["title"]) for row in rows))


def run_id_of(store: Store, text: str) -> str:
    """The id of the run that a text names. Raises StoreError, and UsageError where it names none or several."""
    found = find(store, text)
    if found.run_id is not None:
        return found.run_id
    shown = repr(_bare(text))
    if found.total:
        listed = "\n  ".join(["Give more characters:", *found.lines()])
        raise UsageError(f"{plural(found.total, 'run')} have an id that begins with {shown}.", listed)
    if len(_bare(text)) < LEAST_OF_AN_ID:
        raise UsageError(f"{shown} is too short for the id of a run.", f"Give the first {LEAST_OF_AN_ID} or more characters.")
    # a typing mistake: ids that begin alike are compared
    bare, sql = _bare(text), "select run_id from runs where starts_with(run_id, $beginning) order by run_id limit $most"
    known = fetch(store, sql, {"beginning": bare[:2], "most": MOST_COMPARED})["run_id"].to_pylist()
    meant = did_you_mean(bare, sorted({str(run_id)[: len(bare)] for run_id in known}))
    listed = command_line("runs", store.location)
    raise UsageError(f"no run has an id that begins with {shown}.", f"{meant}List the runs with their ids: {listed}")


def with_whole_ids(store: Store, filters: Filters) -> Filters:
    """The filters with whole ids of runs and sessions. Raises StoreError, and UsageError where a text names several."""
    return with_session_ids(store, with_run_ids(store, filters))


def with_run_ids(store: Store, filters: Filters) -> Filters:
    """The filters with whole ids of runs. Raises StoreError, and UsageError where a text names no run or several."""
    texts = filters.values(RUN)
    return filters.with_values(RUN, [run_id_of(store, text) for text in texts]) if texts else filters


def with_session_ids(store: Store, filters: Filters) -> Filters:
    """The filters with whole ids of sessions. A text that names none stays. Raises StoreError, and UsageError where it names several."""
    texts = filters.values(SESSION)
    return filters.with_values(SESSION, [_session_of(store, text) for text in texts]) if texts else filters


def _session_of(store: Store, text: str) -> str:
    """The session of this id, else the only one whose id begins so."""
    bare = _bare(text)
    sql = "select distinct session_id from runs where starts_with(session_id, $beginning) order by session_id"
    found = [str(one) for one in fetch(store, sql, {"beginning": bare})["session_id"].to_pylist()] if bare else []
    if bare in found or not found or len(bare) < LEAST_OF_AN_ID:
        return bare if bare in found else text
    if len(found) > 1:
        listed = "\n  ".join(["Give more characters:", *map(one_line, found[:MOST_CANDIDATES])])
        raise UsageError(f"{plural(len(found), 'session')} have an id that begins with {bare!r}.", listed)
    return found[0]


def named(store: Store, run_ids: Sequence[str]) -> list[Candidate]:
    """The runs of these ids, in the same order, with their titles. Raises StoreError."""
    rows = fetch(store, "select run_id, title from v_runs where list_contains($run_ids, run_id)", {"run_ids": list(run_ids)}).to_pylist()
    titles = {row["run_id"]: row["title"] for row in rows}
    return [Candidate(run_id, titles[run_id]) for run_id in run_ids if run_id in titles]


def latest(store: Store) -> str | None:
    """The id of the run that was ingested last, None where there is none. Raises StoreError."""
    rows = fetch(
        store, "select run_id from v_runs order by received_at desc nulls last, source_name desc, ordinal desc limit 1"
    ).to_pylist()
    return str(rows[0]["run_id"]) if rows else None


def _bare(text: str) -> str:
    return text.strip().removesuffix("…")


class RunPage(NamedTuple):
    """`run` as of `queries.runs.run`; `patch` has the files of the patch beside the record, with their lines, and `patch_text` its text.

    `verdict` as of `queries.measured.verdict_of`, None where nothing was measured. `location` is that of the store.
    """

    run: dict[str, Any]
    facts: RunFacts
    patch: pa.Table
    verdict: dict[str, Any] | None
    location: str
    patch_text: dict[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """All of it for programs: the columns of the run, and its tables as lists of objects."""
        tables = self.facts._asdict() | {"patch_files": self.patch}
        counts = {f"{name}_count": self.run[name] for name in tables if name in self.run}
        of_run = {name: value.to_pylist() if isinstance(value, pa.Table) else value for name, value in self.run.items()}
        return (
            of_run
            | counts
            | {name: table.to_pylist() for name, table in tables.items()}
            | {"patch": self.patch_text, "measured": self.verdict}
        )


def patch_of(store: Store, run_id: str) -> dict[str, Any] | None:
    """The patch of a run: `file_name`, `bytes`, `is_cut` and `text`; None where none is kept."""
    rows = reading.fetch(store, "select * exclude (run_id) from patches where run_id = $run_id", {"run_id": run_id}).to_pylist()
    return rows[0] if rows else None


def patch_files_of(store: Store, run_id: str) -> pa.Table:
    """The files of the patch beside the run's record, with their lines."""
    sql = "select path, insertions, deletions from patch_files where run_id = $run_id order by path"
    return reading.fetch(store, sql, {"run_id": run_id})


def run_page(store: Store, run_id: str) -> RunPage | None:
    """The page of a run, None where there is none. Raises StoreError."""
    with read_transaction(store) as transaction:
        run = run_queries.run(transaction, run_id)
        if run is None:
            return None
        facts, verdict = claim_queries.of_run(transaction, run_id), measured_queries.verdict_of(transaction, run_id)
        files = patch_files_of(transaction, run_id)
        return RunPage(run, facts, files, verdict, store.location, patch_of(transaction, run_id))
