"""Where the money of a run went: its cost by class of tokens, as it was priced.

And what its usual run is: the median of earlier runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import median
from typing import Any, NamedTuple

from app.queries import Row
from app.queries.filters import NO_FILTERS, where
from app.queries.reading import fetch_rows, read_transaction
from app.queries.sessions import LANED, MAIN
from ingest.store.database import Store, arrow
from ingest.store.pricing import with_prices
from schemas.rows.cost import CostCause

AGAIN, READ, OUTPUT, NEW, WRITTEN, INPUT = "again", "read", "output", "new", "written", "input"
SUBAGENTS, HELPERS, SEARCHES = "subagents", "helpers", "searches"
DIFFERENCE, NOT_EXPLAINED = "price_differs", "not_explained"
CLASSES = (AGAIN, READ, OUTPUT, NEW, WRITTEN, INPUT, SUBAGENTS, HELPERS, SEARCHES)
"""Parts of a cost. WRITTEN: to the cache, where no responses separate AGAIN from NEW."""

ENOUGH_RUNS, MOST_RUNS = 5, 200
"""Earlier runs from which on their median is the usual run, and the latest of more."""

_NANO = Decimal("1e-9")

_SAME_USD, _ROUNDED_USD = Decimal("0.000001"), Decimal("0.0000000005")
"""Differences that are none, as in pricing: of a sum of floats, and of each response."""

_SPLIT = f"""
with laned as ({LANED.format(condition="run_id in (select run_id from touched)")}),
answered as (
    select responses.run_id, response_id, responses.model, responses.again_tokens,
        responses.is_write_counted,
        responses.is_sidechain or responses.agent_id is not null as is_subagent, own, rates
    from laned as responses
    join requests using (response_id)
),
-- models whose tokens are those of their responses are split response by response, as they are
-- priced; the others as a whole, at base rates
summed as (
    select run_id, model, true as has_responses, own from answered
    union all select run_id, model, false, own from counted
),
compared as (
    select run_id, model, has_responses, sum(own.input) as input, sum(own.output) as output,
        sum(own.cache_read) as cache_read, sum(own.write_5m + own.write_1h) as written
    from summed group by run_id, model, has_responses
),
matching as (
    select run_id, model from compared
    group by run_id, model, coalesce(input, 0), coalesce(output, 0), coalesce(cache_read, 0),
        coalesce(written, 0)
    having count(*) = 2
),
paid as (
    select answered.run_id, response_id, case when is_subagent then 'subagents' end as lane,
        if(is_write_counted, least(again_tokens, own.write_5m), 0) as again_5m,
        if(is_write_counted, again_tokens - again_5m, 0) as again_1h,
        if(is_write_counted, 0, again_tokens) as again_input,
        'new' as written, own, rates
    from answered semi join matching
        on matching.run_id = answered.run_id and matching.model is not distinct from answered.model
    union all
    select counted.run_id, null as response_id,
        case when runs.model is not null and counted.model is distinct from runs.model
            then 'helpers' end,
        0, 0, 0, 'written', own, rates
    from counted
    join runs using (run_id)
    anti join matching
        on matching.run_id = counted.run_id and matching.model is not distinct from counted.model
    left join prices
        on counted.model_id = prices.model_id
        and counted.model is not distinct from prices.model
        and counted.provider is not distinct from prices.provider
        and counted.region is not distinct from prices.region
        and day >= since and day < until
),
parts as (
    select run_id, response_id, lane, unnest([
        {{'part': 'again', 'tokens': again_5m, 'rate': rates.write_5m,
            'beyond': rates.write_5m - rates.cache_read}},
        {{'part': 'again', 'tokens': again_1h, 'rate': rates.write_1h,
            'beyond': rates.write_1h - rates.cache_read}},
        {{'part': 'again', 'tokens': again_input, 'rate': rates.input,
            'beyond': rates.input - rates.cache_read}},
        {{'part': 'read', 'tokens': own.cache_read, 'rate': rates.cache_read, 'beyond': null}},
        {{'part': 'output', 'tokens': own.output, 'rate': rates.output, 'beyond': null}},
        {{'part': written, 'tokens': own.write_5m - again_5m, 'rate': rates.write_5m,
            'beyond': null}},
        {{'part': written, 'tokens': own.write_1h - again_1h, 'rate': rates.write_1h,
            'beyond': null}},
        {{'part': 'input', 'tokens': own.input - again_input, 'rate': rates.input,
            'beyond': null}},
        {{'part': 'searches', 'tokens': own.searches, 'rate': rates.web_search, 'beyond': null}}
    ], recursive := true)
    from paid
)
select run_id, case when part = 'searches' then part else coalesce(lane, part) end as key,
    sum(tokens)::bigint as tokens, count(distinct response_id) as times,
    sum(tokens * rate)::decimal(38, 15) as usd,
    min(rate) as low, max(rate) as high,
    sum(tokens * beyond)::decimal(38, 15) as saved_usd
from parts where tokens > 0 group by all
"""


class Part(NamedTuple):
    """A part of a cost: tokens (searches: their number), how many responses have some, and prices.

    `low`, `high`: USD per token, None without a price. `saved_usd`: what reading instead would
    have saved.
    """

    key: str
    tokens: int | None = None
    times: int = 0
    usd: Decimal | None = None
    low: Decimal | None = None
    high: Decimal | None = None
    saved_usd: Decimal | None = None


class UsualRun(NamedTuple):
    """The medians of the earlier `runs` that are alike by these columns.

    `tokens` and `usd`: by part of the cost.
    """

    by: tuple[str, ...]
    runs: int
    cost_usd: Decimal
    duration_ms: int | None
    num_turns: int | None = None
    output_tokens: int | None = None
    tokens: Mapping[str, int] = {}
    usd: Mapping[str, Decimal] = {}


@dataclass(frozen=True)
class RunMoney:
    """Where the money of a run went: parts that add up to its cost, dearest first.

    `cost_usd`: the best known cost, None if unknown; `bounds` of it.
    """

    cost_usd: Decimal | None
    bounds: str | None
    cause: str | None
    parts: tuple[Part, ...]
    usual: UsualRun | None = None

    def of(self, key: str) -> Part:
        """Return a part, empty if the run has none."""
        return next((part for part in self.parts if part.key == key), Part(key))

    def as_dict(self) -> dict[str, Any]:
        """Return it for programs."""
        usual = self.usual and self.usual._asdict() | {"by": [*self.usual.by]}
        return {
            "cost_best_usd": self.cost_usd,
            "cost_best_bounds": self.bounds,
            "parts": [part._asdict() for part in self.parts],
            "usual_run": usual,
        }


class Stretch(NamedTuple):
    """Consecutive responses of a session, numbered from 1, and why the stretch begins.

    `again`: how many of them paid for their context again. `contexts`: those of the first and the
    last response of the main conversation. `pause_ms`: before it.
    """

    first: int
    last: int
    lasted_ms: int | None
    again: int
    contexts: tuple[int, int] | None
    usd: Decimal | None
    began: str = ""
    pause_ms: int | None = None


MOST_STRETCHES, PAUSE_MS = 6, 300_000
"""Stretches of a session, and the pause after which a cache has expired."""

FIRST_AGAIN, COMPACTED, PAUSED, STARTED = "again", "compaction", "pause", "subagent"


def stretches(responses: Sequence[Row]) -> list[Stretch]:
    """Return the stretches of a session, its responses in order as of `sessions.timeline`.

    They begin at the first context paid again, at compactions, after pauses (the longest first),
    and at new sub-agents.
    """
    begins = dict[int, tuple[str, int]]()
    has_paid_again, lanes = False, set[str]()
    for place, row in enumerate(responses):
        is_main, is_new = row["subagent"] == MAIN, row["subagent"] not in lanes
        lanes.add(row["subagent"])
        pause = row["pause_ms"] or 0
        if row["again_tokens"] and is_main and not has_paid_again:
            has_paid_again, begins[place] = True, (FIRST_AGAIN, pause)
        elif row["is_fall"] and is_main:
            begins[place] = COMPACTED, pause
        elif pause > PAUSE_MS and is_main:
            begins[place] = PAUSED, pause
        elif is_new and not is_main:
            begins[place] = STARTED, 0
    kinds = (FIRST_AGAIN, COMPACTED, PAUSED, STARTED)
    ranked = sorted(begins, key=lambda one: (kinds.index(begins[one][0]), -begins[one][1], one))
    starts = sorted({0, *[one for one in ranked if one][: MOST_STRETCHES - 1]})
    made = []
    for start, end in zip(starts, [*starts[1:], len(responses)], strict=True):
        rows = responses[start:end]
        times = [row["at"] for row in rows if row["at"]]
        contexts = [
            row["context_tokens"]
            for row in rows
            if row["subagent"] == MAIN and row["context_tokens"]
        ]
        costs = [row["cost_list_usd"] for row in rows if row["cost_list_usd"] is not None]
        began, pause = begins.get(start, ("", 0)) if start else ("", 0)
        made.append(
            Stretch(
                start + 1,
                end,
                round((max(times) - min(times)).total_seconds() * 1000) if times else None,
                sum(row["again_tokens"] > 0 for row in rows),
                (contexts[0], contexts[-1]) if contexts else None,
                sum(costs, Decimal(0)) if costs else None,
                began,
                pause or None,
            )
        )
    return made if responses else []


_ALIKE = (("repo", "agent", "model"), ("repo", "agent"), ("agent", "model"), ("model",))
"""What runs have in common with the usual run, the first that enough of them have."""


_FACTS = (
    "run_id, repo, agent, model, dated_at, cost_own_usd, cost_best_usd, cost_best_bounds, "
    "cost_cause, duration_ms, num_turns, output_tokens"
)
"""Columns of v_runs about the money of a run."""

_LEVELS = ", ".join(
    f"if({' and '.join(f'earlier.{key} = asked.{key}' for key in by)}, {level}, null)"
    for level, by in enumerate(_ALIKE)
)
_EARLIER = f"""
with asked as (
    select run_id as of_run, repo, agent, model, dated_at from v_runs
    where run_id in (select unnest($run_ids))
),
earlier as (
    select {_FACTS} from v_runs
    where {where(NO_FILTERS).sql} and is_started and cost_best_usd is not null
),
alike as (
    select of_run, unnest([{_LEVELS}]) as level, earlier.*
    from asked join earlier
        on earlier.dated_at < asked.dated_at and (earlier.model = asked.model
            or earlier.repo = asked.repo and earlier.agent = asked.agent)
),
enough as (
    select * from alike where level is not null
    qualify count(*) over (partition by of_run, level) >= {ENOUGH_RUNS}
        and row_number() over (partition by of_run, level order by dated_at desc, run_id)
            <= {MOST_RUNS}
),
earlier_runs as (select * from enough qualify level = min(level) over (partition by of_run))
"""
"""The earlier runs that are most alike to each asked one (`of_run`), and by which of _ALIKE."""


def money_of(store: Store, run: Row) -> RunMoney:
    """Return where the money of a run (a row of v_runs) went, and its usual run.

    Raises StoreError.
    """
    return money_of_runs(store, [run])[run["run_id"]]


def money_of_runs(store: Store, runs: Iterable[Row]) -> dict[str, RunMoney]:
    """Return `money_of` by run."""
    by_id = {run["run_id"]: run for run in runs}
    alike: dict[str, list[dict[str, Any]]] = {run_id: [] for run_id in by_id}
    with read_transaction(store) as transaction:
        sql = f"{_EARLIER} select * from earlier_runs order by dated_at desc, run_id"
        for one in fetch_rows(transaction, sql, {"run_ids": [*by_id]}):
            alike[one["of_run"]].append(one)
        earlier = (one["run_id"] for several in alike.values() for one in several)
        found = split(transaction, [*dict.fromkeys([*by_id, *earlier])])
    made = {}
    for run_id, run in by_id.items():
        cause = run["cost_cause"] if run["cost_own_usd"] is not None else None
        made[run_id] = RunMoney(
            run["cost_best_usd"],
            run["cost_best_bounds"],
            cause,
            explained(found[run_id], run["cost_best_usd"], cause),
            _usual(alike[run_id], found) if alike[run_id] else None,
        )
    return made


def money_of_run(store: Store, run_id: str) -> RunMoney:
    """Return `money_of` of a run by its id. Raises StoreError, and KeyError for an unknown run."""
    return money_by_id(store, [run_id])[run_id]


def money_by_id(store: Store, run_ids: Sequence[str]) -> dict[str, RunMoney]:
    """Return `money_of` of runs by their ids, without unknown ones. Raises StoreError."""
    sql = f"select {_FACTS} from v_runs where run_id in (select unnest($ids))"
    return money_of_runs(store, fetch_rows(store, sql, {"ids": [*run_ids]}))


def split(store: Store, run_ids: Sequence[str]) -> dict[str, list[Part]]:
    """Return the parts of the costs of runs at list prices, exact to 15 decimals."""
    with store.reading() as connection, with_prices(connection, run_ids):
        rows = arrow(connection, _SPLIT).to_pylist()
    found: dict[str, list[Part]] = {run_id: [] for run_id in run_ids}
    for row in rows:
        found[row.pop("run_id")].append(Part(**row))
    return found


def explained(
    parts: Iterable[Part], cost: Decimal | None, cause: str | None = None
) -> tuple[Part, ...]:
    """Return the parts in nanodollars, dearest first, so that they add up to the cost.

    A rest is a part of its own, if it is more than what rounding makes.
    """
    rounded = [
        part._replace(usd=None if part.usd is None else part.usd.quantize(_NANO)) for part in parts
    ]
    rounded.sort(key=lambda part: (part.usd is None, -(part.usd or 0), CLASSES.index(part.key)))
    priced = [part.usd for part in rounded if part.usd is not None]
    if cost is None or (not priced and not cost):
        return tuple(rounded)
    rest = cost - sum(priced, Decimal(0))
    responses = max((part.times for part in rounded), default=0)
    if priced and abs(rest) <= _SAME_USD + 2 * responses * _ROUNDED_USD:
        first, *others = rounded
        return (first._replace(usd=priced[0] + rest), *others)
    is_known = cause not in (None, CostCause.SAME, CostCause.UNEXPLAINED)
    return (*rounded, Part(DIFFERENCE if is_known and priced else NOT_EXPLAINED, usd=rest))


def usual_runs(store: Store, run_ids: Sequence[str]) -> dict[str, UsualRun]:
    """Return the usual run of each run that has enough earlier ones. Raises StoreError."""
    sql = f"""{_EARLIER}
        select of_run, level, count(*) as runs, median(cost_best_usd) as cost_usd,
            if(count(duration_ms) >= {ENOUGH_RUNS},
                round_even(median(duration_ms), 0)::bigint, null) as duration_ms
        from earlier_runs group by of_run, level"""
    return {
        row["of_run"]: UsualRun(
            _ALIKE[row["level"]], row["runs"], row["cost_usd"], row["duration_ms"]
        )
        for row in fetch_rows(store, sql, {"run_ids": [*run_ids]})
    }


def _usual(runs: Sequence[Row], found: Mapping[str, Sequence[Part]]) -> UsualRun:
    """Return the medians of runs, of each part over the runs in which it is known."""

    def of(column: str) -> int | None:
        known = [run[column] for run in runs if run[column] is not None]
        return round(median(known)) if len(known) >= ENOUGH_RUNS else None

    known = [{part.key: part for part in found[run["run_id"]]} for run in runs]
    known = [parts for parts in known if parts]
    separate = [parts for parts in known if any(part.times for part in parts.values())]
    written = [
        {WRITTEN: Part(WRITTEN, *_sums(parts.get(key, Part(key)) for key in (AGAIN, NEW, WRITTEN)))}
        for parts in known
    ]
    tokens, usd = dict[str, int](), dict[str, Decimal]()
    for key in CLASSES:
        of_key = {AGAIN: separate, NEW: separate, WRITTEN: written}.get(key, known)
        here = [parts.get(key, Part(key, 0, 0, Decimal(0))) for parts in of_key]
        if len(here) >= ENOUGH_RUNS:
            tokens[key] = round(median(part.tokens or 0 for part in here))
            usd[key] = median(part.usd or Decimal(0) for part in here)
    return UsualRun(
        _ALIKE[runs[0]["level"]],
        len(runs),
        median(run["cost_best_usd"] for run in runs),
        of("duration_ms"),
        of("num_turns"),
        of("output_tokens"),
        tokens,
        usd,
    )


def _sums(parts: Iterable[Part]) -> tuple[int, int, Decimal]:
    several = list(parts)
    return (
        sum(part.tokens or 0 for part in several),
        sum(part.times for part in several),
        sum((part.usd or Decimal(0) for part in several), Decimal(0)),
    )
