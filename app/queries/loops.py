"""What optimization loops brought and what it cost.

Improvements, best, gain, noise, state, and cost per improvement.

The store holds what the logs say; everything here follows from it, and from the sessions that ran
the loops (`app.queries.loop_costs`).
"""

from __future__ import annotations

import json
import math
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from itertools import zip_longest
from typing import Any, NamedTuple

from app.queries import Row
from app.queries.loop_costs import LoopCosts, hash_of, loop_costs
from app.queries.loop_statistics import (
    LEAST_TRIES,
    LoopProgress,
    Noise,
    discarded_noise,
    is_beyond,
    luckiest,
    lucky_records,
    progress,
    repeat_noise,
    told_noise,
)
from app.queries.reading import fetch_rows, read_transaction
from ingest.store.database import Store
from schemas.rows.loop import State
from schemas.text import one_line
from schemas.units import Better

LoopKey = tuple[str, int]
"""(source_id, loop_no)"""


class LoopVerdict(StrEnum):
    """Whether a step is more than the noise."""

    BEYOND = "beyond_noise"
    INSIDE = "inside_noise"
    UNKNOWN = "noise_unknown"


class GainClass(StrEnum):
    """What is known of a loop's gain, the best known first."""

    BEYOND = "beyond"
    UNKNOWN = "unknown"
    INSIDE = "inside"
    NONE = "none"
    UNREAD = "unread"


@dataclass
class Try:
    """One experiment, with what follows from it.

    `step_pct`: against what was kept then, in percent, positive for better. `running_best`: of
    baseline and kept ones up to here. `verdict`: of an improvement.
    """

    row: Row
    is_improvement: bool = False
    step_pct: float | None = None
    running_best: float | None = None
    verdict: LoopVerdict | None = None
    cost_usd: Decimal | None = None
    tokens: int | None = None
    run_id: str | None = None
    evidence: str | None = None

    @property
    def number(self) -> int:
        return int(self.row["experiment_no"])

    @property
    def state(self) -> State:
        return State(self.row["state"])

    @property
    def value(self) -> float | None:
        return self.row["value"] if self.row["value"] is None else float(self.row["value"])


@dataclass
class LoopAnswer:
    """A loop with what follows from its experiments.

    Figures that cannot be known are None; `row["no_gain"]` says why.

    `noise`: of its metric. `gain_verdict`: whether the whole gain is more than the noise.
    `gain_after_luck_pct`: the gain less what the luckiest of so many tries brings by chance.
    `tries`: its experiments in order. `name`: that in its log, else its log's; unlike others.
    """

    row: Row
    tries: list[Try]
    costs: LoopCosts
    name: str
    counts: Mapping[State, int | None] = field(default_factory=dict)
    baseline: float | None = None
    best: float | None = None
    best_at: int | None = None
    gain_pct: float | None = None
    improvements: int | None = None
    beyond_noise: int | None = None
    noise: Noise | None = None
    measured: int = 0
    gain_verdict: LoopVerdict | None = None
    gain_after_luck_pct: float | None = None
    state: LoopProgress | None = None
    has_failed_last: bool = False

    @property
    def key(self) -> LoopKey:
        return self.row["source_id"], self.row["loop_no"]

    @property
    def counts_of_baseline(self) -> int:
        """Number of baseline experiments, which are no tries."""
        return sum(one.state is State.BASELINE for one in self.tries)

    @property
    def experiments(self) -> int | None:
        """Number of experiments, the baseline included.

        None where the log has only the best of them.
        """
        return len(self.tries) if self.row["is_history"] else None

    @property
    def cost_usd(self) -> Decimal | None:
        """What the loop cost: by its sessions, else as its log says; None if neither does."""
        return self.costs.total_usd

    @property
    def gain_class(self) -> GainClass:
        """What is known of the gain. Without a verdict on an improvement its noise is unknown."""
        if not self.improvements:
            return GainClass.UNREAD if self.improvements is None else GainClass.NONE
        return {
            LoopVerdict.BEYOND: GainClass.BEYOND,
            LoopVerdict.INSIDE: GainClass.INSIDE,
        }.get(self.gain_verdict or LoopVerdict.UNKNOWN, GainClass.UNKNOWN)

    @property
    def gain_ratio(self) -> float | None:
        """How many times as good the best is as the baseline; None unless both are positive."""
        if not self.baseline or not self.best or min(self.baseline, self.best) <= 0:
            return None
        return self.as_ratio(self.gain_pct)

    def as_ratio(self, gain_pct: float | None) -> float | None:
        """Return a gain in percent of the baseline as a ratio: 20% less time is 1.25×."""
        if gain_pct is None:
            return None
        if self.row["better"] != Better.LOWER:
            return 1 + gain_pct / 100
        left = 1 - gain_pct / 100
        return 1 / left if left > 0 else None  # too small for a float beside the baseline

    @property
    def log_noise(self) -> float | None:
        """The noise of one step on the scale of log(`gain_ratio`); None if it is unknown there."""
        return self.noise.units() if self.noise and self.noise.is_log else None

    @property
    def usd_since_improvement(self) -> Decimal | None:
        """What the tries after the last improvement cost."""
        if self.improvements is None or self.cost_usd is None:
            return None
        last = max(
            (place for place, one in enumerate(self.tries, 1) if one.is_improvement), default=0
        )
        return sum(
            (one.cost_usd for one in self.tries[last:] if one.cost_usd is not None), Decimal(0)
        )

    @property
    def expected_lucky_records(self) -> float:
        """How many improvements as many tries without any effect show on average."""
        return lucky_records(self.measured)

    def cost_per(self, count: float | None) -> Decimal | None:
        """Return the cost divided by a count.

        None where either is unknown or the count is not above 0.
        """
        return self._per(self.cost_usd, count)

    @property
    def all_in_per_improvement(self) -> Decimal | None:
        """What an improvement cost with the machine; None if unknown."""
        machine = self.costs.machine_usd
        if self.cost_usd is None or machine is None:
            return None
        return self._per(self.cost_usd + machine, self.improvements)

    @staticmethod
    def _per(cost: Decimal | None, count: float | None) -> Decimal | None:
        if cost is None or not count or count <= 0:
            return None
        return cost / Decimal(str(count))


_LOOPS = (
    "select * from v_loops order by last_at desc nulls last, modified_ns desc nulls last, "
    "source_name, loop_no"
)
_EXPERIMENTS = """
    select experiments.* from experiments semi join v_loops using (source_id, loop_no) order by
        source_id, loop_no, experiment_no"""


def loops(store: Store) -> list[LoopAnswer]:
    """Return every loop once, the latest first. Raises StoreError."""
    with read_transaction(store) as reading:
        rows = fetch_rows(reading, _LOOPS)
        if not rows:
            return []
        of_loop: dict[LoopKey, list[Row]] = defaultdict(list)
        for experiment in fetch_rows(reading, _EXPERIMENTS):
            of_loop[experiment["source_id"], experiment["loop_no"]].append(experiment)
        costs = loop_costs(reading, rows, of_loop)
    baselines = {
        (row["source_id"], row["loop_no"]): _baseline(
            row, of_loop[row["source_id"], row["loop_no"]]
        )
        for row in rows
    }
    of_code: dict[Hashable, set[float]] = defaultdict(set)
    for baseline in filter(None, baselines.values()):
        of_code[baseline.code].add(baseline.value)
    answers = []
    for row in rows:
        key = row["source_id"], row["loop_no"]
        own = baselines[key]
        peers = (
            sorted(of_code[own.code] - {own.value}) if own else []
        )  # an equal value is a copy, mostly
        answers.append(analysed(row, of_loop[key], costs[key], peers))
    _tell_apart(answers)
    return answers


def _name(row: Row) -> str:
    """Return the loop's name, else the folder of its log without owner and date, else its file."""
    *folders, file = re.split(r"[/\\!]", row["source_name"])
    folder = next(
        (
            part
            for part in reversed(folders)
            if part.strip(".") and part not in (".auto", "autoresearch", "logs")
        ),
        "",
    )
    repo = re.sub(r"^[\d._-]{8,}(?=.)", "", folder.rpartition("+")[2])
    return one_line(row["name"] or repo or file)


def _tell_apart(answers: Sequence[LoopAnswer]) -> None:
    """Add to equal names what they differ in.

    The metric, a part of their logs' paths, their place in the log, else the id.
    """
    called: dict[str, list[LoopAnswer]] = defaultdict(list)
    for answer in answers:
        called[answer.name].append(answer)
    for same in (same for same in called.values() if len(same) > 1):
        rows = [one.row for one in same]
        paths = zip_longest(
            *(re.split(r"[/\\!]", row["source_name"]) for row in rows), fillvalue=""
        )
        parts = [f"part {row['segment'] + 1}" for row in rows]
        words = ([row["metric"] for row in rows], *paths, parts, [row["loop_id"] for row in rows])
        differing = next(each for each in words if all(each) and len(set(each)) == len(same))
        for one, word in zip(same, differing, strict=True):
            one.name += f" · {one_line(word)}"


class LoopSort(NamedTuple):
    """One way to sort loops; those without the figure come last.

    `first`: those that come first, around their number.
    """

    label: str
    column: str
    figure: Callable[[LoopAnswer], Any]
    first: str
    falls: bool = True


_RANKS = {known: -place for place, known in enumerate(GainClass)}
ORDERS = {
    "gain": LoopSort(
        "Largest gain",
        "gain_ratio",
        lambda one: (
            None
            if one.gain_pct is None
            else (_RANKS[one.gain_class], one.gain_ratio or 1 + one.gain_pct / 100)
        ),
        "{} largest gains",
    ),
    "latest": LoopSort("Newest", "last_at", lambda one: one.row["last_at"], "{} latest"),
    "cost": LoopSort("Dearest", "cost_usd", lambda one: one.cost_usd, "{} most expensive"),
    "per-improvement": LoopSort(
        "Cheapest per improvement",
        "cost_per_improvement",
        lambda one: one.cost_per(one.improvements),
        "{} cheapest per improvement",
        falls=False,
    ),
    "per-percent": LoopSort(
        "Cheapest per percent",
        "usd_per_percent",
        lambda one: one.cost_per(one.gain_pct),
        "{} cheapest per percent",
        falls=False,
    ),
}


def ordered(answers: Sequence[LoopAnswer], order: str) -> list[LoopAnswer]:
    """Return the loops in one of ORDERS, equal ones as they were."""
    figure, falls = ORDERS[order].figure, ORDERS[order].falls
    known = [one for one in answers if figure(one) is not None]
    return [
        *sorted(known, key=figure, reverse=falls),
        *(one for one in answers if figure(one) is None),
    ]


_MACHINE = re.compile(r"(?:gpu|device|machine|hardware|host)(?:_?name|_?id)?", re.IGNORECASE)
"""Columns of a log that name where a try was measured."""


class _Baseline(NamedTuple):
    """The measured baseline of a loop. `code`: commit, metric and machine; loops may share it."""

    code: Hashable
    value: float


def _baseline(row: Row, experiments: Sequence[Row]) -> _Baseline | None:
    """Return the baseline of a loop; None without a value, a commit or a metric."""
    first: Row = next((one for one in experiments if one["state"] == State.BASELINE), {})
    commit = row["baseline_commit"] or first.get("commit")
    value = row["baseline"] if row["baseline"] is not None else first.get("value")
    if value is None or not row["metric"] or not (code := hash_of(commit)):
        return None
    secondary = json.loads(first.get("secondary") or "{}")
    # on another machine the same code is as much faster as that machine is: no noise
    machine = tuple(
        sorted((key, str(name)) for key, name in secondary.items() if _MACHINE.fullmatch(key))
    )
    return _Baseline((code, row["metric"], machine), float(value))


def chosen(answers: Sequence[LoopAnswer], text: str) -> list[LoopAnswer]:
    """Return the loops that a text names.

    By the beginning of their id, else by a part of their name or their log's path.
    """
    by_id = [one for one in answers if one.row["loop_id"].startswith(text.lower())]
    return by_id or [
        one for one in answers if text.lower() in f"{one.name}\n{one.row['source_name']}".lower()
    ]


def analysed(
    row: Row, experiments: Sequence[Row], costs: LoopCosts, peers: Sequence[float] = ()
) -> LoopAnswer:
    """Return what follows from the experiments of a loop.

    `peers`: values of the same baseline code in other loops.
    """
    tries = [Try(one) for one in experiments]
    for one in tries:
        part = costs.parts.get(one.number)
        if part:
            one.cost_usd, one.tokens, one.run_id, one.evidence = part
    counted = Counter(one.state for one in tries)
    unknown = (
        ()
        if row["has_decisions"]
        else (State.KEPT, State.DISCARDED, State.CHECKS_FAILED, State.OTHER)
    )
    answer = LoopAnswer(
        row,
        tries,
        costs,
        _name(row),
        {
            state: None if state in unknown or not row["is_history"] else counted[state]
            for state in State
        },
    )
    if not row["is_history"]:
        values = [one.value for one in tries if one.value is not None]
        answer.best = (
            min(values, default=None)
            if row["better"] == Better.LOWER
            else max(values, default=None)
        )
        return answer
    if row["no_gain"] or row["better"] == Better.UNKNOWN or not row["has_decisions"]:
        return answer
    first = next((place for place, one in enumerate(tries) if one.state is State.BASELINE), None)
    answer.baseline = (
        row["baseline"] if row["baseline"] is not None or first is None else tries[first].value
    )
    if answer.baseline is None and not any(
        one.state is State.KEPT and one.value is not None for one in tries
    ):
        return answer
    _note_steps(answer, -1 if row["better"] == Better.LOWER else 1, first)
    _judge(answer, Better(row["better"]), peers)
    return answer


def _note_steps(answer: LoopAnswer, sign: int, first: int | None) -> None:
    """Note improvements, running best and steps.

    `sign`: 1 if higher is better; `first`: index of the baseline's experiment.
    """
    best = answer.baseline
    answer.best_at = (
        None
        if best is None
        else 0
        if first is None or answer.row["baseline"] is not None
        else first + 1
    )
    answer.improvements = 0
    for place, one in enumerate(answer.tries, 1):
        if one.value is not None and best is not None and one.state is not State.BASELINE:
            one.step_pct = _percent(best, one.value, sign)
        if (
            one.state is State.KEPT
            and one.value is not None
            and (best is None or sign * one.value > sign * best)
        ):
            best, answer.best_at = one.value, place
            one.is_improvement = True
            answer.improvements += 1
        one.running_best = best
    answer.best = best
    if answer.baseline is not None and best is not None:
        answer.gain_pct = _percent(answer.baseline, best, sign)


def _percent(before: float, after: float, sign: int) -> float | None:
    return (
        sign * (after - before) / abs(before) * 100 + 0.0 if before else None
    )  # + 0.0: never -0.00%


def _judge(answer: LoopAnswer, better: Better, peers: Sequence[float]) -> None:
    """Set the noise, the verdicts on improvements and on the whole gain, and the loop's progress.

    Each improvement has a verdict. The progress is whether the loop still improves.
    """
    scale = _Scale.of(answer, better)
    codes = _measurements_of_code(answer, scale)
    code_of_baseline = next((one.number for one in answer.tries if one.state is State.BASELINE), 0)
    if answer.row["baseline"] is not None and answer.baseline is not None:
        code_of_baseline = 0
        codes[0] = [scale.unit(answer.baseline)]
    measured_elsewhere = [value for value in map(scale.unit_or_none, peers) if value is not None]
    with_peers = {
        **codes,
        code_of_baseline: [*codes.get(code_of_baseline, ()), *measured_elsewhere],
    }
    noise = (
        repeat_noise([*with_peers.values()], is_log=scale.is_log)
        or told_noise(answer.row["noise_floor"], is_log=scale.is_log)
        or discarded_noise(_distances(answer, scale), is_log=scale.is_log)
    )
    answer.noise = noise and replace(noise, sign=scale.sign)
    since, kept = None, code_of_baseline
    for one in answer.tries:
        # with a word that is not known it may be an estimate; without any, a search that only
        # compares scores has measured it
        is_doubtful = one.state is State.OTHER and one.row["word"]
        if one.value is None or one.state is State.BASELINE or is_doubtful:
            continue
        answer.measured += 1
        since = None if since is None else since + 1
        if not one.is_improvement:
            continue
        before, after = codes.get(kept), codes.get(one.number)
        one.verdict = LoopVerdict.UNKNOWN
        if one.row["repeats"]:
            one.verdict = LoopVerdict.INSIDE  # the same code as before
        elif answer.noise and before and after:
            step = statistics.fmean(after) - statistics.fmean(before)
            is_real = is_beyond(step, answer.noise, answer.measured, len(before), len(after))
            one.verdict = LoopVerdict.BEYOND if is_real else LoopVerdict.INSIDE
        if one.verdict is not LoopVerdict.INSIDE:
            since = 0
        kept = one.row["repeats"] or one.number
    if answer.noise:
        answer.beyond_noise = sum(one.verdict is LoopVerdict.BEYOND for one in answer.tries)
    if answer.gain_pct is not None and answer.improvements:
        _judge_gain(answer, scale)
    failed = next(
        (
            place
            for place, one in enumerate(reversed(answer.tries))
            if one.state not in (State.CRASHED, State.CHECKS_FAILED)
        ),
        len(answer.tries),
    )
    answer.has_failed_last = failed >= LEAST_TRIES
    answer.state = progress(answer.measured, since, failed)


@dataclass(frozen=True)
class _Scale:
    """How values become units of improvement: `is_log` where all settled ones are positive."""

    is_log: bool
    sign: int

    @classmethod
    def of(cls, answer: LoopAnswer, better: Better) -> _Scale:
        settled = [
            one.value
            for one in answer.tries
            if one.value is not None and one.state in (State.BASELINE, State.KEPT)
        ]
        known = settled if answer.baseline is None else [*settled, answer.baseline]
        return cls(bool(known) and min(known) > 0, -1 if better is Better.LOWER else 1)

    def unit(self, value: float) -> float:
        return self.sign * (math.log(value) if self.is_log else value)

    def unit_or_none(self, value: float | None) -> float | None:
        return None if value is None or (self.is_log and value <= 0) else self.unit(value)


def _measurements_of_code(answer: LoopAnswer, scale: _Scale) -> dict[int, list[float]]:
    """Return the measurements of each code, by number of the experiment that measured it first."""
    codes: dict[int, list[float]] = defaultdict(list)
    for one in answer.tries:
        if (value := scale.unit_or_none(one.value)) is not None:
            codes[one.row["repeats"] or one.number].append(value)
    return codes


def _distances(answer: LoopAnswer, scale: _Scale) -> list[float]:
    """Return how far each discarded try lies above the code that was kept then."""
    held, found = scale.unit_or_none(answer.baseline), []
    for one in answer.tries:
        value = scale.unit_or_none(one.value)
        if (
            value is not None
            and held is not None
            and one.state is State.DISCARDED
            and not one.row["repeats"]
        ):
            found.append(value - held)
        if one.is_improvement:
            held = value
    return found


def _judge_gain(answer: LoopAnswer, scale: _Scale) -> None:
    """Set whether the whole gain exceeds the noise, and the gain less the luck of many tries.

    This luck is that of the best of many.
    """
    before, after = scale.unit_or_none(answer.baseline), scale.unit_or_none(answer.best)
    answer.gain_verdict = LoopVerdict.UNKNOWN
    if answer.noise is None or before is None or after is None:
        return
    answer.gain_verdict = (
        LoopVerdict.BEYOND
        if is_beyond(after - before, answer.noise, answer.measured)
        else LoopVerdict.INSIDE
    )
    corrected = max(0.0, after - before - luckiest(answer.measured) * answer.noise.sigma)
    if scale.is_log:
        answer.gain_after_luck_pct = 100 * scale.sign * math.expm1(scale.sign * corrected)


def summary(answer: LoopAnswer) -> dict[str, Any]:
    """Return the figures of a loop by keys of LOOPS; None where unknown.

    `noise`: relative, 0.025 for 2.5 %.
    """
    counts = {state.value: answer.counts[state] for state in State if state is not State.BASELINE}
    row, costs = answer.row, answer.costs
    return {
        "loop": row["loop_id"],
        "name": answer.name,
        "metric": row["metric"],
        "unit": row["unit"],
        "better": row["better"],
        "experiments": answer.experiments,
        **counts,
        "improvements": answer.improvements,
        "baseline": answer.baseline,
        "best": answer.best,
        "best_at": answer.best_at,
        "gain_ratio": answer.gain_ratio,
        "gain_pct": answer.gain_pct,
        "noise": answer.noise.step() if answer.noise and answer.noise.is_log else None,
        "beyond_noise": answer.beyond_noise,
        "gain_verdict": answer.gain_verdict,
        "state": answer.state,
        "cost_usd": answer.cost_usd,
        "cost_basis": costs.basis,
        "cost_per_improvement": answer.cost_per(answer.improvements),
        "cost_per_improvement_beyond_noise": answer.cost_per(answer.beyond_noise),
        "cost_machine_usd": costs.machine_usd,
        "cost_all_per_improvement": answer.all_in_per_improvement,
        "usd_per_percent": answer.cost_per(answer.gain_pct),
        "usd_since_improvement": answer.usd_since_improvement,
        "sessions": len(costs.sessions),
        "last_at": row["last_at"],
        "log": row["source_name"],
        "no_gain": row["no_gain"],
    }
