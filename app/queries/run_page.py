"""One run: found by its id, with everything in the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from app.queries import Row, Rows, reading, run_money
from app.queries import claims as claim_queries
from app.queries import measured as measured_queries
from app.queries import runs as run_queries
from app.queries.claims import RunFacts
from app.queries.filters import EVERY_RUN, LEAST_OF_AN_ID, RUN, SESSION, Filters, where
from app.queries.reading import fetch, fetch_rows, read_transaction
from app.queries.run_money import RunMoney
from ingest.store.database import Store
from ingest.system.command_lines import command_line
from schemas.errors import UsageError
from schemas.text import did_you_mean, one_line, paired, plural

MOST_CANDIDATES = 10


LEAST_SHOWN = 8


class RunCandidate(NamedTuple):
    """A run whose id matches, and its title."""

    run_id: str
    title: str


@dataclass(frozen=True)
class FoundRuns:
    """The runs whose id begins with a text, or that have it as title.

    `total` in number, the first MOST_CANDIDATES listed.
    """

    total: int
    candidates: tuple[RunCandidate, ...]

    @property
    def run_id(self) -> str | None:
        """The id if the text matches exactly one run."""
        return self.candidates[0].run_id if self.total == 1 else None

    def lines(self) -> list[str]:
        """Return a line for each listed run: a unique beginning of its id, and its title."""
        ids = [one.run_id for one in self.candidates]
        shown = next(
            length
            for length in range(LEAST_SHOWN, 1 + max([LEAST_SHOWN, *map(len, ids)]))
            if len({one[:length] for one in ids}) == len(ids)
        )
        rest = self.total - len(ids)
        return [f"{one.run_id[:shown]}  {one_line(one.title)}" for one in self.candidates] + (
            [f"… and {rest:,} more"] if rest else []
        )


def find(store: Store, text: str) -> FoundRuns:
    """Return the runs that match a text as the filter `run` does, else those with this title.

    The text may be a copied short id with its `…`.

    Raises StoreError.
    """
    text = paired(text)
    by_id, rows = where(Filters(((RUN, (_bare(text),)), *EVERY_RUN.chosen))), Rows()
    by_title = (
        "lower(title) = lower($title)",
        {"title": text.strip()},
        "concat_ws(' · ', title, agent, model)",
    )
    for condition, values, title in ((by_id.sql, by_id.parameters, "title"), by_title):
        listed = (
            f"select run_id, {title} as title, count(*) over () as total from v_runs where "
            f"{condition}"
        )
        rows = rows or fetch_rows(
            store, f"{listed} order by run_id limit {MOST_CANDIDATES}", values
        )
    return FoundRuns(
        rows[0]["total"] if rows else 0,
        tuple(RunCandidate(row["run_id"], row["title"]) for row in rows),
    )


def run_id_of(store: Store, text: str) -> str:
    """Return the id of the run that a text names.

    Raises StoreError, and UsageError if none or several match.
    """
    found = find(store, text)
    if found.run_id is not None:
        return found.run_id
    shown = repr(_bare(text))
    if found.total:
        is_id = found.candidates[0].run_id.startswith(_bare(text))
        listed = "\n  ".join(["Give more characters:" if is_id else "Give an id:", *found.lines()])
        raise UsageError(
            (
                f"{plural(found.total, 'run')} have "
                f"{'an id that begins with' if is_id else 'the title'} {shown}."
            ),
            listed,
        )
    if len(_bare(text)) < LEAST_OF_AN_ID:
        raise UsageError(
            f"{shown} is too short for the id of a run.",
            f"Give the first {LEAST_OF_AN_ID} or more characters.",
        )
    # a typing mistake: ids that begin alike are compared
    bare, sql = (
        _bare(text),
        "select run_id from runs where starts_with(run_id, $beginning) order by run_id limit $most",
    )
    known = fetch(store, sql, {"beginning": bare[:2], "most": 1000})["run_id"].to_pylist()
    meant = did_you_mean(bare, sorted({str(run_id)[: len(bare)] for run_id in known}))
    listed = (
        f"List the runs with their ids: {command_line('runs', store.location)} (--search TEXT: "
        "those with a text)"
    )
    raise UsageError(
        f"no run has an id that begins with {shown}, or this title.", f"{meant}{listed}"
    )


def with_whole_ids(store: Store, filters: Filters) -> Filters:
    """Return the filters with whole ids of runs and sessions.

    Raises StoreError, and UsageError if several match.
    """
    return with_session_ids(store, with_run_ids(store, filters))


def with_run_ids(store: Store, filters: Filters) -> Filters:
    """Return the filters with whole ids of runs.

    Raises StoreError, and UsageError if none or several match.
    """
    texts = filters.values(RUN)
    return (
        filters.with_values(RUN, [run_id_of(store, text) for text in texts]) if texts else filters
    )


def with_session_ids(store: Store, filters: Filters) -> Filters:
    """Return the filters with whole ids of sessions. Unknown ids stay.

    Raises StoreError, and UsageError if several match.
    """
    texts = filters.values(SESSION)
    return (
        filters.with_values(SESSION, [_session_of(store, text) for text in texts])
        if texts
        else filters
    )


def _session_of(store: Store, text: str) -> str:
    """Return the session with this id, else the only one whose id begins so."""
    bare = _bare(text)
    sql = (
        "select distinct session_id from runs where starts_with(session_id, $beginning) order by "
        "session_id"
    )
    found = (
        [str(one) for one in fetch(store, sql, {"beginning": bare})["session_id"].to_pylist()]
        if bare
        else []
    )
    if bare in found or not found or len(bare) < LEAST_OF_AN_ID:
        return bare if bare in found else text
    if len(found) > 1:
        listed = "\n  ".join(["Give more characters:", *map(one_line, found[:MOST_CANDIDATES])])
        raise UsageError(
            f"{plural(len(found), 'session')} have an id that begins with {bare!r}.", listed
        )
    return found[0]


def named(store: Store, run_ids: Sequence[str]) -> list[RunCandidate]:
    """Return the runs with these ids and their titles, in the same order. Raises StoreError."""
    rows = fetch_rows(
        store,
        "select run_id, title from v_runs where list_contains($run_ids, run_id)",
        {"run_ids": list(run_ids)},
    )
    titles = {row["run_id"]: row["title"] for row in rows}
    return [RunCandidate(run_id, titles[run_id]) for run_id in run_ids if run_id in titles]


def latest(store: Store) -> str | None:
    """Return the id of the run that was ingested last, or None. Raises StoreError."""
    rows = fetch_rows(
        store,
        (
            "select run_id from v_runs order by received_at desc nulls last, source_name desc, "
            "ordinal desc limit 1"
        ),
    )
    return str(rows[0]["run_id"]) if rows else None


def _bare(text: str) -> str:
    return text.strip().removesuffix("…")


class RunPage(NamedTuple):
    """`run` as of `queries.runs.run`.

    `patch` has the files of the patch beside the record, with their lines, and `patch_text` its
    text.

    `verdict` as of `queries.measured.verdict_of`, None without a measurement. `location`: that of
    the store.
    """

    run: dict[str, Any]
    facts: RunFacts
    patch: pa.Table
    verdict: dict[str, Any] | None
    location: str
    money: RunMoney
    patch_text: dict[str, Any] | None = None

    @property
    def measure_command(self) -> str:
        """The command that measures its patch; "" if it was measured, or cannot be."""
        return (
            measure_command(self.run, self.patch_text, self.location)
            if self.verdict is None
            else ""
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the page for programs: the run's columns, and its tables as lists of objects."""
        tables = self.facts._asdict() | {"patch_files": self.patch}
        counts = {f"{name}_count": self.run[name] for name in tables if name in self.run}
        of_run = {
            name: value.to_pylist() if isinstance(value, pa.Table) else value
            for name, value in self.run.items()
        }
        return (
            of_run
            | counts
            | {name: table.to_pylist() for name, table in tables.items()}
            | {
                "patch": self.patch_text,
                "measured": self.verdict,
                "money": self.money.as_dict(),
                "measure_command": self.measure_command or None,
            }
        )


def measure_command(run: Row, patch: Row | None, location: str) -> str:
    """Return the command that measures a run's patch, to be completed by the benchmark.

    "" without a whole patch or its base commit.
    """
    if not patch or patch["is_cut"] or not patch["text"].strip() or not run["base_commit"]:
        return ""
    words = f"measure {run['run_id'][:8]} --repo ."
    return f"{command_line(words, location)} -- BENCHMARK"


def patch_of(store: Store, run_id: str) -> dict[str, Any] | None:
    """Return the patch of a run: `file_name`, `bytes`, `is_cut`, `text`; None if none is stored."""
    rows = reading.fetch_rows(
        store, "select * exclude (run_id) from patches where run_id = $run_id", {"run_id": run_id}
    )
    return rows[0] if rows else None


def patched_beside(store: Store, run_id: str) -> Rows:
    """Return the other runs of the same task whose patch is kept.

    `run_id`, `agent`, `model`, `measured_class`, `measured_speedup`.
    """
    sql = """
        select run_id, v_runs.agent, v_runs.model, measured_class, measured_speedup
        from v_runs
        join (select run_id from patches) as patched using (run_id)
        left join v_verdicts using (run_id)
        where task_key = (select task_key from v_runs where run_id = $run_id) and run_id <> $run_id
            and trim(coalesce(task_key, '')) <> ''
        order by v_runs.agent, v_runs.model, run_id
        limit 50"""
    return list(reading.fetch_rows(store, sql, {"run_id": run_id}))


def patch_files_of(store: Store, run_id: str) -> pa.Table:
    """Return the files of the patch next to the run's record, with their lines."""
    return patch_files_of_runs(store, [run_id])[run_id]


def patch_files_of_runs(store: Store, run_ids: Sequence[str]) -> dict[str, pa.Table]:
    """Return `patch_files_of` by run."""
    sql = """
        select run_id, path, insertions, deletions from patch_files where $chosen
        order by run_id, path"""
    return reading.fetch_by_run(store, sql, run_ids)


def run_page(store: Store, run_id: str) -> RunPage | None:
    """Return the page of a run, or None. Raises StoreError."""
    with read_transaction(store) as transaction:
        run = run_queries.run(transaction, run_id)
        if run is None:
            return None
        facts, verdict = (
            claim_queries.of_run(transaction, run_id),
            measured_queries.verdict_of(transaction, run_id),
        )
        files = patch_files_of(transaction, run_id)
        money = run_money.money_of(transaction, run)
        patch = patch_of(transaction, run_id)
        return RunPage(run, facts, files, verdict, store.location, money, patch)
