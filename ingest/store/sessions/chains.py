"""Chains of records: which record continues the totals of an earlier one, and what each record added.

Several results of one process carry cumulative totals; so do, in newer versions, the results of a resumed session. In older
versions every invocation starts from zero, although all share a session. The record does not say which case it is, so the figures
decide: a record continues an earlier one of its session if

- every model's token classes and cost are at least those of the earlier record, and
- the difference is at least the record's own `usage` (the main loop of its last turn group), class by class.

The second condition separates resumed sessions of older versions: their later invocations are often larger in every class, but the usage
accounts for all of it. (Among 163 real records the first condition alone would have joined 31 pairs of separate invocations, the second
none.) In one event stream the order of the events and the first condition are enough, unless the figures prove that another process
was started and its stream appended.

A process that clears its conversation continues under another session, with the same totals. The stream of another process that was
appended to the same file may look alike. There growth proves nothing, and figures must agree to the token: see `carries`.

Outside a stream the two conditions may be true by chance, rarely. A record that continues another one by them alone gets a finding with
its cost in either case: see `is_assumed`.

The order in which records are given does not matter. `places` and what is above it are pure; `rechain` writes the places into the store.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from types import MappingProxyType
from typing import Any

import duckdb
import pyarrow as pa

from ingest.store.database import made, run_step
from ingest.store.statements import run
from schemas.agents import AGENTS
from schemas.rows.run import TOKEN_CLASSES
from schemas.rows.source import Severity


@dataclass(frozen=True)
class Totals:
    """Cumulative figures of one model: tokens by class in the order of TOKEN_CLASSES, and USD."""

    tokens: tuple[int, int, int, int] = (0, 0, 0, 0)
    cost: Decimal = Decimal(0)

    def covers(self, other: Totals) -> bool:
        """Whether every figure is at least that of the other."""
        return self.cost >= other.cost and all(mine >= theirs for mine, theirs in zip(self.tokens, other.tokens, strict=True))

    def less(self, other: Totals) -> Totals:
        """The difference to the other."""
        first, second, third, fourth = (mine - theirs for mine, theirs in zip(self.tokens, other.tokens, strict=True))
        return Totals((first, second, third, fourth), self.cost - other.cost)


@dataclass(frozen=True)
class Link:
    """The columns of one record that chains depend on. `usage`: tokens by class of its last turn group, None where it has none.

    `process`: records with the same process may share totals; mostly the session.
    """

    run_id: str
    process: str
    source_id: str
    ordinal: int
    in_stream: bool
    models: Mapping[str, Totals]
    usage: tuple[int, int, int, int] | None


@dataclass(frozen=True)
class Place:
    """The place of a record in its chain. `position` counts from 1; `earlier`: the run it continues, None at the start of a chain."""

    chain_id: str
    position: int
    earlier: str | None


CANDIDATES = 64
"""Most of the next smaller records of a session that are compared, so that the work is linear in the length of a session. (The longest real
one has 48 records.)"""


def places(links: Iterable[Link], carried: Mapping[str, str] = MappingProxyType({})) -> dict[str, Place]:
    """The place of every record, by run_id. `carried`: records that continue one of another session (see `carries`) → that one."""
    smaller: dict[str, deque[Link]] = defaultdict(partial(deque, maxlen=CANDIDATES))
    found: dict[str, Place] = {}
    for link in sorted(links, key=_size):
        nearest = reversed(smaller[link.process])
        earlier = carried.get(link.run_id) or next((other.run_id for other in nearest if continues(link, other)), None)
        smaller[link.process].append(link)
        found[link.run_id] = (
            Place(found[earlier].chain_id, found[earlier].position + 1, earlier) if earlier else Place(link.run_id, 1, None)
        )
    return found


def continues(later: Link, earlier: Link) -> bool:
    """Whether the totals of the later record include those of the earlier one."""
    if not _covers(later, earlier):
        return False
    if later.in_stream and earlier.in_stream and later.source_id == earlier.source_id:
        return later.ordinal > earlier.ordinal and not _began_anew(later, earlier)
    added = _added(later, earlier)
    if later.usage is None or (
        later.usage == earlier.usage and any(added)
    ):  # a copy of the usage before: it says nothing about the later record
        return True
    return all(more >= used for more, used in zip(added, later.usage, strict=True))


def _began_anew(later: Link, earlier: Link) -> bool:
    """Whether the totals of a model are exactly the record's own usage, although the earlier record had used that model too."""
    if later.usage is None or later.usage == earlier.usage:
        return False
    return any(later.models[name].tokens == later.usage for name, totals in earlier.models.items() if any(totals.tokens))


def carries(later: Link, earlier: Link) -> bool:
    """Whether the next result of a stream, of another session, certainly includes the totals of the earlier one.

    The difference of the totals covers its usage, and either the difference of one model is exactly its usage, or it used
    no model of the earlier record. A separate process would have to have used, to the token, as much as the earlier one.
    """
    if later.usage is None or not _covers(later, earlier):
        return False
    if not all(more >= used for more, used in zip(_added(later, earlier), later.usage, strict=True)):
        return False
    return _agrees(later, earlier)


def is_assumed(later: Link, earlier: Link) -> bool:
    """Whether a record that `continues` another might also have started from zero: larger figures are the only evidence.

    One stream is one process, and figures that agree to the token are no chance. All other cases are doubtful: no usage, a copy of the
    usage before, or a main loop that used less than the difference. Version, turns and times cannot decide: records outside streams have
    no version, turns are per result in both cases, and API time is cumulative only within a process.
    """
    if later.in_stream and earlier.in_stream and later.source_id == earlier.source_id:
        return False
    return not _agrees(later, earlier)


def _agrees(later: Link, earlier: Link) -> bool:
    """Whether the difference of one of the earlier record's models is exactly the record's usage, or every difference is zero."""
    gained = [later.models[name].less(totals) for name, totals in earlier.models.items() if any(totals.tokens)]
    used = any(later.usage or ()) and any(gain.tokens == later.usage for gain in gained)
    return used or (bool(gained) and all(gain == Totals() for gain in gained))


def _covers(later: Link, earlier: Link) -> bool:
    """Whether the earlier record has totals, and those of the later one are at least as large, model by model."""
    if not any(totals.cost or any(totals.tokens) for totals in earlier.models.values()):
        return False
    return all(name in later.models and later.models[name].covers(totals) for name, totals in earlier.models.items())


def _added(later: Link, earlier: Link) -> tuple[int, ...]:
    return tuple(mine - theirs for mine, theirs in zip(_sums(later), _sums(earlier), strict=True))


def _sums(link: Link) -> tuple[int, ...]:
    return tuple(sum(column) for column in zip(*(totals.tokens for totals in link.models.values()), strict=True)) or (0, 0, 0, 0)


def _size(link: Link) -> tuple[Decimal, int, str, int, str]:
    """The sort key: a record comes after every record that it may continue."""
    cost = sum((totals.cost for totals in link.models.values()), Decimal(0))
    return cost, sum(_sums(link)), link.source_id, link.ordinal, link.run_id


_USAGE = ", ".join(f"usage_{name}" for name in TOKEN_CLASSES)
_PROCESS = "process_of(agent, session_id, in_stream, source_id)"
ALL_PROCESSES = f"select {_PROCESS} from runs"
RECHAINED = f"runs join rechained on {_PROCESS} = rechained.process"
"""The runs whose chains `rechain` found again."""

ASSUMED, ASSUMED_MEANING = (
    "cumulative_assumed",
    "The record's totals are assumed to continue an earlier record's; the record does not say so.",
)
"""The rule of findings on chains, and what it means."""

_LINKS = f"select run_id, {_PROCESS}, source_id, ordinal, in_stream, {_USAGE} from runs where run_id in "
_MODELS = (
    f"select run_id, coalesce(model_id, '') as model_id, {', '.join(TOKEN_CLASSES)}, cost_reported_usd from model_usage where run_id in "
)


def define_processes(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the macros that say which records may share totals."""
    agents = ", ".join(f"'{agent.key}'" for agent in AGENTS.values() if agent.is_cumulative)
    run(connection, f"create or replace temp macro is_cumulative(agent) as agent in ({agents})")
    run_step(connection, "commit/00_process")


def rechain(connection: duckdb.DuckDBPyConnection, processes: str) -> bool:
    """Find the chains of some processes again (`processes`: SQL that selects some of ALL_PROCESSES) and write what each record added.

    A process with one record is skipped, unless it had more before: new records are written as single chains. Returns whether any chain
    was written.
    """
    define_processes(connection)
    if not made(connection, "linked", f"select distinct process from ({processes}) as given(process) where process is not null"):
        return False
    carried = _carried(connection)
    count = made(
        connection,
        "rechained",
        f"select {_PROCESS} as process from runs where {_PROCESS} in (select process from linked)"
        " group by process having count(*) > 1 or max(chain_position) > 1 or bool_or(run_id in (select unnest($carried)))",
        {"carried": [*carried.keys(), *carried.values()]},
    )
    if not count:
        return False
    links = _links(connection, f"select run_id from {RECHAINED}")
    found = places(links, carried)
    connection.register("places", _places_table(list(found.items())))
    for step in ("records/counted_cost", "commit/07_added", "commit/08_chained_models", "commit/09_chained_runs"):
        run_step(connection, step)
    connection.unregister("places")
    _note_assumed(connection, _assumed({link.run_id: link for link in links}, found))
    return True


def _assumed(links: Mapping[str, Link], found: Mapping[str, Place]) -> dict[str, str]:
    """Records that may have started from zero → the record that each is assumed to continue."""
    continued = {run_id: place.earlier for run_id, place in found.items() if place.earlier in links}
    return {run_id: earlier for run_id, earlier in continued.items() if earlier and is_assumed(links[run_id], links[earlier])}


def _note_assumed(connection: duckdb.DuckDBPyConnection, assumed: Mapping[str, str]) -> None:
    run(connection, f"delete from findings where rule = $rule and run_id in (select run_id from {RECHAINED})", {"rule": ASSUMED})
    columns = {"run_id": list(assumed), "earlier": list(assumed.values())}
    connection.register("assumed", pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()}))
    run_step(connection, "commit/10_assumed", {"rule": ASSUMED, "severity": Severity.INFO})
    connection.unregister("assumed")


def _carried(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Records that continue one of another session in their stream → that one. The processes of both are added to the table `linked`."""
    while True:
        run_step(connection, "commit/06_neighbours")
        pairs: list[tuple[str, str]] = run(connection, "select run_id, earlier from neighbours").fetchall()
        if not pairs:
            return {}
        links = {link.run_id: link for link in _links(connection, "select unnest([run_id, earlier]) from neighbours")}
        carried = {later: earlier for later, earlier in pairs if carries(links[later], links[earlier])}
        ends = {links[run_id].process for pair in carried.items() for run_id in pair}
        sql = "insert into linked select unnest($ends) except select process from linked"
        [(joined,)] = run(connection, sql, {"ends": list(ends)}).fetchall()
        if not joined:
            return carried


def _links(connection: duckdb.DuckDBPyConnection, run_ids: str) -> list[Link]:
    models: dict[str, dict[str, Totals]] = defaultdict(dict)
    for run_id, model_id, *tokens, cost in run(connection, f"{_MODELS} ({run_ids})").fetchall():
        models[run_id][model_id] = Totals(_four(tokens), cost or Decimal(0))
    rows = run(connection, f"{_LINKS} ({run_ids})").fetchall()
    return [_link(row, models[row[0]]) for row in rows]


def _link(row: tuple[Any, ...], models: dict[str, Totals]) -> Link:
    run_id, process, source_id, ordinal, in_stream, *usage = row
    known = None if all(count is None for count in usage) else _four(usage)
    return Link(run_id, process, source_id, ordinal, in_stream, models, known)


def _four(counts: list[Any]) -> tuple[int, int, int, int]:
    first, second, third, fourth = (count or 0 for count in counts)
    return first, second, third, fourth


def _places_table(found: list[tuple[str, Place]]) -> pa.Table:
    return pa.table(
        {
            "run_id": pa.array([run_id for run_id, _ in found], pa.string()),
            "chain_id": pa.array([place.chain_id for _, place in found], pa.string()),
            "position": pa.array([place.position for _, place in found], pa.int64()),
            "earlier": pa.array([place.earlier for _, place in found], pa.string()),
        }
    )
