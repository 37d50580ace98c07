"""Chains of records: which record continues an earlier one's totals, and what each record added.

Several results of one process carry cumulative totals. A process that resumes a session starts its
counters again, and its totals are often larger in every class than those of the process before. So
a record continues an earlier one of its session only if both come from one process. No field says
so; the evidence is:

- In one event stream: the order of the events, as long as no model's totals fall. Exception: if
  another process's stream was appended, the
  totals equal the record's own `usage` (the main loop of its last turn group), or are too small for
  the tokens of the earlier record plus
  those of the responses between the two.
- Elsewhere: figures that agree to the token, when one model's difference is exactly the record's
  `usage`. That is the same counter, and the
  process saved its results in separate files.

A process that clears its conversation continues under another session, with the same totals: see
`carries`.

If the totals are larger by at least the record's `usage` and nothing else shows that the process is
the same, the records are counted separately, and the later one gets a finding with both sums: see
`may_continue`. (A run with sub-agents uses less in its main loop than its totals. Larger totals
alone would have joined 31 pairs of separate processes among 163 real records, the condition on the
usage none.)

The order of the given records does not matter. `places` and everything above it is pure; `rechain`
writes the places into the store.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from types import MappingProxyType
from typing import Any

import duckdb
import pyarrow as pa

from ingest.store.database import made, registered, run_step
from schemas.agents import AGENTS
from schemas.catalogue.rules import MAY_CONTINUE
from schemas.rows.run import TOKEN_CLASSES
from schemas.rows.source import Severity


@dataclass(frozen=True)
class Totals:
    """Cumulative figures of one model: tokens by class in the order of TOKEN_CLASSES, and USD."""

    tokens: tuple[int, int, int, int] = (0, 0, 0, 0)
    cost: Decimal = Decimal(0)

    def covers(self, other: Totals) -> bool:
        return self.cost >= other.cost and all(
            mine >= theirs for mine, theirs in zip(self.tokens, other.tokens, strict=True)
        )

    def less(self, other: Totals) -> Totals:
        """Return this minus the other, figure by figure."""
        first, second, third, fourth = (
            mine - theirs for mine, theirs in zip(self.tokens, other.tokens, strict=True)
        )
        return Totals((first, second, third, fourth), self.cost - other.cost)


@dataclass(frozen=True)
class Link:
    """The columns of one record that chains depend on.

    `usage`: tokens by class of its last turn group, or None.

    `process`: records with the same process may share totals; mostly the session. `streamed`: all
    tokens that went into the responses in its stream since the result before.
    """

    run_id: str
    process: str
    source_id: str
    ordinal: int
    in_stream: bool
    models: Mapping[str, Totals]
    usage: tuple[int, int, int, int] | None
    streamed: int | None = None


@dataclass(frozen=True)
class ChainPlace:
    """The place of a record in its chain.

    `position` counts from 1; `earlier`: the run it continues, None at the start of a chain.
    """

    chain_id: str
    position: int
    earlier: str | None


CANDIDATES = 64
"""Limit of the smaller records of a session that one is compared with, which keeps the work linear.
(The longest real session has 48 records.)
"""


def places(
    links: Iterable[Link], carried: Mapping[str, str] = MappingProxyType({})
) -> tuple[dict[str, ChainPlace], dict[str, str]]:
    """Return the place of every record by run_id.

    And, for records that begin a chain but may continue another, the next smaller candidate.

    `carried`: records that continue one of another session (see `carries`) → that one.
    """
    smaller: dict[str, deque[Link]] = defaultdict(partial(deque, maxlen=CANDIDATES))
    found: dict[str, ChainPlace] = {}
    doubtful: dict[str, str] = {}
    for link in sorted(links, key=_size):
        nearest = list(reversed(smaller[link.process]))
        smaller[link.process].append(link)
        if earlier := carried.get(link.run_id) or next(
            (other.run_id for other in nearest if continues(link, other)), None
        ):
            found[link.run_id] = ChainPlace(
                found[earlier].chain_id, found[earlier].position + 1, earlier
            )
            continue
        found[link.run_id] = ChainPlace(link.run_id, 1, None)
        if other := next((other for other in nearest if may_continue(link, other)), None):
            doubtful[link.run_id] = other.run_id
    return found, doubtful


def continues(later: Link, earlier: Link) -> bool:
    """Return whether the later record's totals certainly include the earlier one's.

    Both are of one process.
    """
    if not _covers(later, earlier):
        return False
    if _share_stream(later, earlier):
        return later.ordinal > earlier.ordinal and not _began_anew(later, earlier)
    return _exceeds_by_usage(later, earlier) and _agrees(later, earlier)


def may_continue(later: Link, earlier: Link) -> bool:
    """Return whether a record may continue an earlier one of another stream, by their figures.

    Version, turns and times do not help: records outside streams have no version, turns are per
    result in both cases, and API time is cumulative only within a process.
    """
    if _share_stream(later, earlier) or not _covers(later, earlier):
        return False
    is_carried_over = later.usage == earlier.usage and any(
        _added(later, earlier)
    )  # a copy of the usage before says nothing
    return later.usage is None or is_carried_over or _exceeds_by_usage(later, earlier)


def _share_stream(later: Link, earlier: Link) -> bool:
    return later.in_stream and earlier.in_stream and later.source_id == earlier.source_id


def _began_anew(later: Link, earlier: Link) -> bool:
    """Return whether the totals in a stream are those of a new process.

    Either a model's totals are exactly the record's own usage, although the earlier record used
    that model too; or the totals are too small for the earlier record plus the responses since. A
    stream whose responses exceed all totals is not used as a measure.
    """
    went_in, before = (
        _sums(link)[0] + _sums(link)[2] + _sums(link)[3] for link in (later, earlier)
    )
    if later.streamed is not None and went_in - before < later.streamed <= went_in:
        return True
    if later.usage is None or later.usage == earlier.usage:
        return False
    return any(
        later.models[name].tokens == later.usage
        for name, totals in earlier.models.items()
        if any(totals.tokens)
    )


def carries(later: Link, earlier: Link) -> bool:
    """Return whether the next result certainly includes the earlier one's totals.

    It is the next result of a stream, of another session.

    The difference of the totals covers its usage, and either the difference of one model is exactly
    its usage, or it used no model of the earlier record. Otherwise a separate process would have
    used, to the token, as much as the earlier one.
    """
    return _covers(later, earlier) and _exceeds_by_usage(later, earlier) and _agrees(later, earlier)


def _exceeds_by_usage(later: Link, earlier: Link) -> bool:
    """Return whether the difference of the totals is at least the later record's own usage."""
    return later.usage is not None and all(
        more >= used for more, used in zip(_added(later, earlier), later.usage, strict=True)
    )


def _agrees(later: Link, earlier: Link) -> bool:
    """Return whether the totals differ by the record's usage for one model, or not at all.

    The model is one of the earlier record. The difference must be exactly the usage, or zero for
    all models.
    """
    gained = [
        later.models[name].less(totals)
        for name, totals in earlier.models.items()
        if any(totals.tokens)
    ]
    used = any(later.usage or ()) and any(gain.tokens == later.usage for gain in gained)
    return used or (bool(gained) and all(gain == Totals() for gain in gained))


def _covers(later: Link, earlier: Link) -> bool:
    """Return whether the earlier record has totals, and the later one's are at least as large.

    They are compared model by model.
    """
    if not any(totals.cost or any(totals.tokens) for totals in earlier.models.values()):
        return False
    return all(
        name in later.models and later.models[name].covers(totals)
        for name, totals in earlier.models.items()
    )


def _added(later: Link, earlier: Link) -> tuple[int, ...]:
    return tuple(mine - theirs for mine, theirs in zip(_sums(later), _sums(earlier), strict=True))


def _sums(link: Link) -> tuple[int, ...]:
    return tuple(
        sum(column)
        for column in zip(*(totals.tokens for totals in link.models.values()), strict=True)
    ) or (0, 0, 0, 0)


def _size(link: Link) -> tuple[Decimal, int, str, int, str]:
    """Return the sort key that puts a record after every record it may continue."""
    cost = sum((totals.cost for totals in link.models.values()), Decimal(0))
    return cost, sum(_sums(link)), link.source_id, link.ordinal, link.run_id


_PROCESS = "process_of(agent, session_id, in_stream, source_id)"
ALL_PROCESSES = f"select {_PROCESS} from runs"
RECHAINED = f"runs join rechained on {_PROCESS} = rechained.process"


def define_processes(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the SQL macros that say which records may share totals."""
    agents = ", ".join(f"'{agent.key}'" for agent in AGENTS.values() if agent.is_cumulative)
    connection.execute(f"create or replace temp macro is_cumulative(agent) as agent in ({agents})")
    run_step(connection, "commit/00_process")


def rechain(connection: duckdb.DuckDBPyConnection, processes: str) -> bool:
    """Recompute the chains of some processes and write what each record added.

    `processes`: SQL that selects some of ALL_PROCESSES.

    A process with one record is skipped, unless it had more before: new records are written as
    single chains. Returns whether any chain was written.
    """
    define_processes(connection)
    if not made(
        connection,
        "linked",
        f"select distinct process from ({processes}) as given(process) where process is not null",
    ):
        return False
    carried = _carried(connection)
    count = made(
        connection,
        "rechained",
        f"select {_PROCESS} as process from runs where {_PROCESS} in (select process from "
        "linked) group by process having count(*) > 1 or max(chain_position) > 1 or "
        "bool_or(run_id in (select unnest($carried)))",
        {"carried": [*carried.keys(), *carried.values()]},
    )
    if not count:
        return False
    links = _links(connection, f"select run_id from {RECHAINED} where record_kind = 'result'")
    found, doubtful = places(links, carried)
    placed = {
        "run_id": pa.array(found, pa.string()),
        "chain_id": pa.array([place.chain_id for place in found.values()], pa.string()),
        "position": pa.array([place.position for place in found.values()], pa.int64()),
        "earlier": pa.array([place.earlier for place in found.values()], pa.string()),
    }
    with registered(connection, places=pa.table(placed)):
        for step in (
            "records/counted_cost",
            "commit/07_added",
            "commit/08_chained_models",
            "commit/09_chained_runs",
        ):
            run_step(connection, step)
    of_chains = (
        f"delete from findings where rule = $rule and run_id in (select run_id from {RECHAINED})"
    )
    connection.execute(of_chains, {"rule": MAY_CONTINUE})
    if doubtful:
        pairs = {
            "run_id": pa.array(doubtful, pa.string()),
            "earlier": pa.array(doubtful.values(), pa.string()),
        }
        with registered(connection, doubtful=pa.table(pairs)):
            run_step(
                connection,
                "commit/10_doubtful",
                {"rule": MAY_CONTINUE, "severity": Severity.WARNING},
            )
    return True


def _carried(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return record → the record of another session that it continues in its stream.

    Adds the processes of both to the table `linked`.
    """
    while True:
        run_step(connection, "commit/06_neighbours")
        pairs: list[tuple[str, str]] = connection.execute(
            "select run_id, earlier from neighbours"
        ).fetchall()
        if not pairs:
            return {}
        links = {
            link.run_id: link
            for link in _links(connection, "select unnest([run_id, earlier]) from neighbours")
        }
        carried = {
            later: earlier for later, earlier in pairs if carries(links[later], links[earlier])
        }
        ends = {links[run_id].process for pair in carried.items() for run_id in pair}
        sql = "insert into linked select unnest($ends) except select process from linked"
        [(joined,)] = connection.execute(sql, {"ends": list(ends)}).fetchall()
        if not joined:
            return carried


def _links(connection: duckdb.DuckDBPyConnection, run_ids: str) -> list[Link]:
    classes = ", ".join(TOKEN_CLASSES)
    of_models = (
        f"select run_id, coalesce(model_id, ''), cost_reported_usd, {classes} from model_usage "
        f"where run_id in ({run_ids})"
    )
    models: dict[str, dict[str, Totals]] = defaultdict(dict)
    for run_id, model_id, cost, *tokens in connection.execute(of_models).fetchall():
        models[run_id][model_id] = Totals(_four(tokens), cost or Decimal(0))
    usages = ", ".join(f"usage_{name}" for name in TOKEN_CLASSES)
    sql = (
        f"select run_id, {_PROCESS}, source_id, ordinal, in_stream, streamed_tokens, {usages} "
        f"from runs where run_id in ({run_ids})"
    )
    links = []
    for run_id, process, source_id, ordinal, in_stream, streamed, *usage in connection.execute(
        sql
    ).fetchall():
        known = None if all(count is None for count in usage) else _four(usage)
        links.append(
            Link(run_id, process, source_id, ordinal, in_stream, models[run_id], known, streamed)
        )
    return links


def _four(counts: Sequence[Any]) -> tuple[int, int, int, int]:
    first, second, third, fourth = (count or 0 for count in counts)
    return first, second, third, fourth
