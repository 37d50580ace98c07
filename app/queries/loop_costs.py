"""The cost of loops: which session ran a loop, and what it spent between two experiments.

A session is joined to a loop by the best evidence there is: what its tool calls wrote into the log,
else the commits that they made, else that it worked in the log's folder at the time of the
experiments, else that it worked there when the log was last written. The session's responses are
cut at the experiments of all its loops: what lies before the first baseline is set-up, what lies
behind the last experiment is the rest. Both, the experiments and what the session's own total has
beyond its responses add up to the session's cost.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple

from app.queries import Row
from app.queries.filters import NO_FILTERS, where
from app.queries.reading import fetch_rows
from ingest.store.database import Store
from ingest.store.opening import ALIAS
from schemas.catalogue.cost_measures import NEARLY_ALL
from schemas.catalogue.figures import MACHINE_RATE, rate_written
from schemas.rows.loop import CostBasis, State
from schemas.rows.row import usd

LoopKey = tuple[str, int]

WROTE, COMMITTED, FOLDER_AND_TIME, FOLDER_AND_FILE_TIME = (
    "wrote the log",
    "made the commits",
    "folder and time",
    "folder and time of the file",
)
"""Evidence that joins a session to a loop, the best first."""

NEAR = timedelta(minutes=10)
"""How far an experiment may lie outside a session's first and last message."""

_DESCRIBED, _TELLING = 60, 12
"""Shortest description that matches an experiment to a session by its text; shorter ones match by a
commit that only one experiment names.
"""

_HASH_LENGTH, _HASH = 7, re.compile(r"[0-9a-f]{7}")


class TryCost(NamedTuple):
    """The cost of one experiment: of the responses since the one before.

    `evidence`: what joins it; None: the cost is the log's.

    Of experiments that one response wrote, each has an equal share.
    """

    cost_usd: Decimal | None
    tokens: int | None
    run_id: str | None
    evidence: str | None


@dataclass
class LoopSession:
    """A session that ran a loop.

    `setup_usd`, `experiments_usd`, `other_loops_usd`, `rest_usd` and `beyond_usd` add up to
    `cost_usd`.

    `beyond_usd`: what the session's own total has beyond its responses. `machine_usd`: what its
    machine cost, in all, beside `cost_usd`. `is_lower_bound`: some
    responses have no price. `shared`: number of experiments that were written at once with others,
    and have an equal share of their cost.
    """

    run_id: str
    title: str
    evidence: str
    experiments: int = 0
    cost_usd: Decimal | None = None
    machine_usd: Decimal | None = None
    setup_usd: Decimal = Decimal(0)
    experiments_usd: Decimal = Decimal(0)
    other_loops_usd: Decimal = Decimal(0)
    rest_usd: Decimal = Decimal(0)
    beyond_usd: Decimal = Decimal(0)
    is_lower_bound: bool = False
    shared: int = 0


@dataclass
class LoopCosts:
    """The cost of a loop. `parts`: by number of the experiment.

    `total_usd`: of its sessions, set-up and rest included, else of its log. `machine_usd`: what
    their machines cost, where the rate of all is known; without a session, that of the time of the
    experiments.

    `reported_usd`: the log's own. `why_not`: the reason if no session is joined.
    """

    parts: dict[int, TryCost] = field(default_factory=dict)
    sessions: list[LoopSession] = field(default_factory=list)
    total_usd: Decimal | None = None
    basis: str | None = None
    machine_usd: Decimal | None = None
    reported_usd: Decimal | None = None
    reported_basis: str | None = None
    why_not: str | None = None


_RUNS = f"""
    select run_id, title, cwd, started_at, ended_at, cost_best_usd as cost_usd,
        cost_machine_usd as machine_usd
    from v_runs
    where {where(NO_FILTERS).sql} and run_id in (select run_id from responses)
    order by started_at nulls last, run_id"""

_RESPONSES = f"""
    select run_id, "at", coalesce(cost_reported_usd, cost_list_usd) as cost_usd, logged,
        coalesce(commits, []) as commits,
        coalesce(input_tokens, 0) + coalesce(output_tokens, 0) + coalesce(cache_read_tokens, 0) +
            coalesce(cache_write_tokens, 0) as tokens
    from {ALIAS}.responses
    where run_id in (select unnest($run_ids::varchar[]))
    order by run_id, "at" nulls last, response_id"""
"""From the table itself: an answer without texts of sessions has the same costs, and nothing of
`logged` leaves this module.
"""

_EVIDENCE = f"""
    select run_id, coalesce(string_agg(lower(logged), ' '), '') as logged,
        flatten(list(coalesce(commits, []))) as commits
    from {ALIAS}.responses
    where logged is not null or len(commits) > 0
    group by run_id"""


_RATES = f"""
    with named as (
        select source_id, unnest(map_entries(labels)) as label from found_files
        semi join loops using (source_id)
    )
    select source_id, coalesce(
        max({rate_written("label.value")}) filter (label.key = '{MACHINE_RATE}'),
        max({rate_written("machines[label.key || '=' || label.value]")}),
        any_value({rate_written("machines['']")})
    ) as usd
    from (select distinct source_id from loops) left join named using (source_id)
    cross join (select any_value(machines) as machines from price_files)
    group by source_id"""
"""USD per hour of the machine of a log: by the labels of its ingest, as of runs."""


def loop_costs(
    store: Store, rows: Sequence[Row], of_loop: Mapping[LoopKey, Sequence[Row]]
) -> dict[LoopKey, LoopCosts]:
    """Return the costs of each loop. `rows`: of `v_loops`. Raises StoreError."""
    costs = {
        (row["source_id"], row["loop_no"]): _as_logged(
            row, of_loop[row["source_id"], row["loop_no"]]
        )
        for row in rows
    }
    runs = fetch_rows(store, _RUNS)
    if not runs:
        for cost in costs.values():
            cost.why_not = "no session with responses is in the store"
        _hold_machines(store, of_loop, costs)
        return costs
    wrote = {row["run_id"]: row for row in fetch_rows(store, _EVIDENCE)}
    pairs = [
        (row, run)
        for row in rows
        for run in runs
        if _is_in_folder(row, run)
        or _names_some(wrote.get(run["run_id"]), of_loop[row["source_id"], row["loop_no"]])
    ]
    responses: dict[str, list[Row]] = defaultdict(list)
    wanted = sorted({run["run_id"] for _, run in pairs})
    for response in fetch_rows(store, _RESPONSES, {"run_ids": wanted}) if wanted else ():
        responses[response["run_id"]].append(response)

    joined = _joined(pairs, of_loop, responses)
    # for each experiment the session and response that ends it, by the best evidence
    ends: dict[tuple[LoopKey, int], tuple[int, int, str, int]] = {}
    for join in joined:
        for rank, places in enumerate((join.wrote, join.by_time)):
            for number, place in places.items():
                found = (
                    rank,
                    -len(join.run["cwd"] or ""),
                    join.run["run_id"],
                    place,
                )  # of two folders the nearer
                ends[join.key, number] = min(found, ends.get((join.key, number), found))
    of_run: dict[str, list[tuple[int, int, LoopKey, int, str]]] = defaultdict(list)
    place_of = {(row["source_id"], row["loop_no"]): place for place, row in enumerate(rows)}
    evidence_of = {(join.key, join.run["run_id"]): join.evidence for join in joined}
    for (key, number), (rank, _, run_id, place) in ends.items():
        of_run[run_id].append(
            (place, place_of[key], key, number, evidence_of[key, run_id] if rank else WROTE)
        )
    by_id = {run["run_id"]: run for run in runs}
    for run_id, cuts in of_run.items():
        _cut(by_id[run_id], sorted(cuts), responses[run_id], of_loop, costs)
    taken = set(of_run)  # a session's cost is that of one loop
    for key, cost in costs.items():
        if not cost.sessions:
            _join_whole(
                [join for join in joined if join.key == key and join.run["run_id"] not in taken],
                cost,
            )
            taken |= {session.run_id for session in cost.sessions}
    for cost in costs.values():
        _add_up(cost)
    _hold_machines(store, of_loop, costs)
    return costs


def _hold_machines(
    store: Store, of_loop: Mapping[LoopKey, Sequence[Row]], costs: Mapping[LoopKey, LoopCosts]
) -> None:
    """Add what the machines of loops without a session cost: the logged time of their experiments.

    The wall time of a session includes that of its experiments. Unknown where the time of one
    experiment in ten is.
    """
    rates = {row["source_id"]: row["usd"] for row in fetch_rows(store, _RATES)}
    for key, cost in costs.items():
        times = [one["duration_ms"] for one in of_loop[key]]
        known, rate = [time for time in times if time is not None], rates.get(key[0])
        is_known = known and len(known) >= NEARLY_ALL * len(times)
        if not cost.sessions and rate is not None and is_known:
            cost.machine_usd = usd(rate * sum(known) / 3_600_000)


def _as_logged(row: Row, experiments: Sequence[Row]) -> LoopCosts:
    """Return the cost that the log itself records."""
    recorded = [
        one["cost_reported_usd"] for one in experiments if one["cost_reported_usd"] is not None
    ]
    total = (
        row["cost_reported_usd"]
        if row["cost_reported_usd"] is not None
        else sum(recorded, Decimal(0))
        if recorded
        else None
    )
    basis = row["cost_basis"] or (CostBasis.EXACT if total is not None else None)
    cost = LoopCosts(reported_usd=total, reported_basis=basis)
    if total is not None and basis != CostBasis.EVALUATED:
        cost.total_usd, cost.basis = total, basis
        cost.parts = {
            one["experiment_no"]: TryCost(
                one["cost_reported_usd"], one["tokens_reported"], None, None
            )
            for one in experiments
            if one["cost_reported_usd"] is not None
        }
    return cost


def _is_in_folder(row: Row, run: Row) -> bool:
    """Return whether the log lies in the session's working directory or below it."""
    cwd = (run["cwd"] or "").rstrip("/\\")
    if not cwd:
        return False
    if row["folder"] and (
        row["folder"].rstrip("/\\") == cwd or row["folder"].startswith((f"{cwd}/", f"{cwd}\\"))
    ):
        return True
    return str(row["source_name"]).startswith((f"{cwd}/", f"{cwd}\\"))


def _names_some(wrote: Row | None, experiments: Sequence[Row]) -> bool:
    """Return whether a session's logged texts or its commits name any experiment of a loop."""
    if wrote is None:
        return False
    committed = {commit[:7].lower() for commit in wrote["commits"]}
    commits = {commit for one in experiments if (commit := hash_of(one["commit"]))}
    if commits & committed or any(commit in wrote["logged"] for commit in commits):
        return True
    return any(
        len(text := _beginning(one)) >= _TELLING and text in wrote["logged"] for one in experiments
    )


def hash_of(written: str | None) -> str:
    """Return the first seven digits of a commit as a log names it.

    "" for none, and for a stand-in such as 0000000 or `baseline`.
    """
    commit = (written or "")[:_HASH_LENGTH].lower()
    return commit if _HASH.fullmatch(commit) and len(set(commit)) > 1 else ""


def _beginning(experiment: Row) -> str:
    """Return the beginning of an experiment's description as `responses.logged` has it."""
    return " ".join((experiment["description"] or "").lower().split())[:_DESCRIBED]


@dataclass
class _Join:
    """What joins a session to a loop.

    `wrote`, `by_time`: number of an experiment → index of the response that ends it.

    `commits`: how many of its commits the session wrote into the log or made.
    """

    key: LoopKey
    run: Row
    is_in_folder: bool
    wrote: dict[int, int]
    by_time: dict[int, int]
    commits: int
    has_made_commits: bool
    is_last_writer: bool

    @property
    def evidence(self) -> str:
        return COMMITTED if self.has_made_commits else FOLDER_AND_TIME


def _joined(
    pairs: Sequence[tuple[Row, Row]],
    of_loop: Mapping[LoopKey, Sequence[Row]],
    responses: Mapping[str, Sequence[Row]],
) -> list[_Join]:
    """Return what joins sessions to loops.

    What a session wrote is of one log only: of that with most of its evidence.
    """
    found = [
        _join(row, run, of_loop[row["source_id"], row["loop_no"]], responses[run["run_id"]])
        for row, run in pairs
    ]
    taken: dict[tuple[str, int], str] = {}
    for join in sorted(
        found, key=lambda join: (-join.is_in_folder, -join.commits, -len(join.wrote), join.key)
    ):
        run_id, source_id = join.run["run_id"], join.key[0]
        join.wrote = {
            number: place
            for number, place in join.wrote.items()
            if taken.get((run_id, place), source_id) == source_id
        }
        is_sure = (
            join.is_in_folder
            or join.commits
            or 2 * len(join.wrote) >= max(_FEW, len(of_loop[join.key]))
        )
        if not is_sure:  # other loops try the same things
            join.wrote = {}
        taken |= {(run_id, place): source_id for place in join.wrote.values()}
        if not (join.wrote or join.is_in_folder or join.has_made_commits):
            join.by_time = {}
    return found


_FEW = 4
"""Half of so many descriptions alone join a session to a loop, at least."""


def _join(row: Row, run: Row, experiments: Sequence[Row], responses: Sequence[Row]) -> _Join:
    """Return what joins a session to a loop, whatever other loops it may have run."""
    logged = [
        (place, response["logged"].lower())
        for place, response in enumerate(responses)
        if response["logged"]
    ]
    made = {
        commit[:_HASH_LENGTH].lower()
        for response in responses
        for commit in response["commits"] or ()
    }
    named = Counter(hash_of(one["commit"]) for one in experiments)
    wrote: dict[int, int] = {}
    commits = at = (
        # the log's order: what is written again, as a whole table is, ends the next experiment that
        # it names
        0
    )
    for one in experiments:
        commit, text = hash_of(one["commit"]), _beginning(one)
        is_own = bool(commit) and named[commit] == 1  # others began several tries
        by_text = (
            place
            for place in range(at, len(logged))
            if len(text) >= _TELLING and text in logged[place][1]
        )
        by_commit = (
            place for place in range(at, len(logged)) if is_own and commit in logged[place][1]
        )
        place = next(by_text, None)
        place = next(by_commit, None) if place is None else place
        if place is not None:
            wrote[one["experiment_no"]] = logged[place][0]
            commits += bool(commit) and commit in logged[place][1]
            at = place
    has_made_commits = bool(made & (named.keys() - {""}))
    times = [response["at"] for response in responses if response["at"]]
    by_time = {
        one["experiment_no"]: _last_until(times, one["at"])
        for one in experiments
        if one["experiment_no"] not in wrote
        and times
        and one["at"]
        and times[0] - NEAR <= one["at"] <= times[-1] + NEAR
    }
    is_in_folder = _is_in_folder(row, run)
    return _Join(
        (row["source_id"], row["loop_no"]),
        run,
        is_in_folder,
        wrote,
        by_time,
        commits + has_made_commits,
        has_made_commits,
        is_in_folder and _wrote_last(row, run, experiments),
    )


def _join_whole(joins: Sequence[_Join], cost: LoopCosts) -> None:
    """Join the sessions that made the loop's commits, as a whole.

    Without such sessions, join the only one that worked in the loop's folder when the loop was last
    written.

    A commit comes before its measurement, mostly: it says whose the loop is, and not where an
    experiment ends.
    """
    whole = [(join.run, COMMITTED) for join in joins if join.has_made_commits]
    whole = whole or [(join.run, FOLDER_AND_FILE_TIME) for join in joins if join.is_last_writer]
    if len(whole) > 1 and whole[0][1] == FOLDER_AND_FILE_TIME:
        cost.why_not = "several sessions worked in its folder when it was last written"
        return
    for run, evidence in whole:
        cost.sessions.append(
            LoopSession(
                run["run_id"],
                run["title"],
                evidence,
                cost_usd=run["cost_usd"],
                machine_usd=run["machine_usd"],
                rest_usd=run["cost_usd"] or Decimal(0),
            )
        )


def _last_until(times: Sequence[datetime], moment: datetime) -> int:
    """Return the index of the last response that was written by then; -1 before the first."""
    return sum(time <= moment for time in times) - 1


def _wrote_last(row: Row, run: Row, experiments: Sequence[Row]) -> bool:
    """Return whether a log without times of its own was last written while the session ran."""
    if (
        any(one["at"] for one in experiments)
        or not row["modified_ns"]
        or not run["started_at"]
        or not run["ended_at"]
    ):
        return False
    modified = row["modified_ns"] / 1e9
    return bool(
        (run["started_at"] - NEAR).timestamp() <= modified <= (run["ended_at"] + NEAR).timestamp()
    )


def _cut(
    run: Row,
    cuts: Sequence[tuple[int, int, LoopKey, int, str]],
    responses: Sequence[Row],
    of_loop: Mapping[LoopKey, Sequence[Row]],
    costs: Mapping[LoopKey, LoopCosts],
) -> None:
    """Cut a session's responses at the experiments that end with them, and note each part."""
    sessions: dict[LoopKey, LoopSession] = {}
    states = {
        (key, one["experiment_no"]): one["state"]
        for _, _, key, number, _ in cuts
        for one in of_loop[key]
        if one["experiment_no"] == number
    }
    spent_on: dict[LoopKey, Decimal] = defaultdict(Decimal)
    setup, at = Decimal(0), 0
    is_partly_unknown = any(response["cost_usd"] is None for response in responses)
    for place, together in groupby(cuts, key=lambda cut: cut[0]):
        written = list(together)
        part = responses[at : place + 1]
        is_setup = not sessions and states[written[0][2:4]] == State.BASELINE
        at = max(at, place + 1)
        known_costs = [one["cost_usd"] for one in part if one["cost_usd"] is not None]
        cost, tokens = sum(known_costs, Decimal(0)), sum(one["tokens"] for one in part)
        share = (cost / len(written)).quantize(Decimal("1e-9")) if known_costs else None
        for left, (_, _, key, number, evidence) in zip(
            range(len(written), 0, -1), written, strict=True
        ):
            session = sessions.setdefault(
                key,
                LoopSession(
                    run["run_id"], run["title"], evidence, is_lower_bound=is_partly_unknown
                ),
            )
            session.experiments += 1
            if is_setup:
                setup = cost
                costs[key].parts[number] = TryCost(None, None, run["run_id"], evidence)
                continue
            session.shared += len(written) > 1
            own = cost - share * (len(written) - 1) if share is not None and left == 1 else share
            spent_on[key] += own or 0
            own_tokens = tokens // len(written) + (tokens % len(written) if left == 1 else 0)
            costs[key].parts[number] = TryCost(own, own_tokens, run["run_id"], evidence)
    rest = sum(
        (one["cost_usd"] for one in responses[at:] if one["cost_usd"] is not None), Decimal(0)
    )
    in_responses = sum(
        (one["cost_usd"] for one in responses if one["cost_usd"] is not None), Decimal(0)
    )
    first = cuts[0][2]
    last = cuts[-1][2]
    known = any(one["cost_usd"] is not None for one in responses)
    total = run["cost_usd"] if run["cost_usd"] is not None else in_responses if known else None
    for key, session in sessions.items():
        session.cost_usd, session.machine_usd = total, run["machine_usd"]
        session.is_lower_bound |= run["cost_usd"] is None
        session.experiments_usd = spent_on[key]
        session.setup_usd = setup if key == first else Decimal(0)
        session.rest_usd = rest if key == last else Decimal(0)
        if total is not None:
            session.beyond_usd = total - in_responses if key == last else Decimal(0)
            session.other_loops_usd = (
                total
                - session.setup_usd
                - session.experiments_usd
                - session.rest_usd
                - session.beyond_usd
            )
        costs[key].sessions.append(session)


def _add_up(cost: LoopCosts) -> None:
    """Sum the shares of the sessions."""
    if not cost.sessions:
        cost.why_not = cost.why_not or (
            "no session in the store wrote it, made its commits, or worked in its folder at "
            "that time"
        )
        return
    known = [one for one in cost.sessions if one.cost_usd is not None]
    shares = [one.setup_usd + one.experiments_usd + one.rest_usd + one.beyond_usd for one in known]
    cost.total_usd = sum(shares, Decimal(0)) if known else None
    machines = [  # a session of several loops holds its machine for each as long as it spends on it
        one.machine_usd * share / one.cost_usd
        for one, share in zip(known, shares, strict=True)
        if one.machine_usd is not None and one.cost_usd
    ]
    if machines and len(machines) == len(cost.sessions):
        cost.machine_usd = usd(sum(machines, Decimal(0)))
    is_lower = len(known) < len(cost.sessions) or any(one.is_lower_bound for one in known)
    cost.basis = (
        None if cost.total_usd is None else CostBasis.LOWER_BOUND if is_lower else CostBasis.EXACT
    )
