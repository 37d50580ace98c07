"""The rules by which benchmarks judge agents, on all that a store has measured.

Records of the runs are not needed.

A case is a task that a benchmark tried with an agent and model. Each rule scores the cases of an
agent, or leaves them out and says why. A rule that bears the name of a benchmark gives the number
that the benchmark publishes of its own files: it counts failures of the machine as the agent's, and
tasks without any result. The other rules leave out what is not the agent's; `steps` leads from the
one to the other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain
from statistics import fmean, geometric_mean, harmonic_mean
from typing import Any, NamedTuple

import pyarrow as pa

from app.queries import Row
from app.queries.filters import NO_FILTERS, where
from app.queries.reading import fetch_rows
from app.queries.runs import bound_of
from ingest.prices.model_ids import parse_model_id
from ingest.store.database import Store
from schemas.catalogue.cost_measures import NEARLY_ALL, CostMeasure
from schemas.catalogue.figures import kinds_in
from schemas.catalogue.metrics import FEWEST_VALUES
from schemas.rows.measurement import Failure

WORST = 10
"""Cases that a second score leaves out, which shows how much hangs on them."""

ISO_BAND = 0.05
GSO_GAIN, GSO_REACHED = 1.2, 0.95
FAST = (0, 1, 2)
"""The speedups of KernelBench's fast_p that have a column each."""

NO_BASELINE, NO_REFERENCE, NOT_THE_AGENTS = (
    "no comparable baseline",
    "no value of the reference",
    "failed by machine or unknown cause",
)
NOT_RUN, NO_RESULT, OTHER_SET_UP = (
    "listed by the benchmark and not run",
    "without a result",
    "compared across machines",
)

NOT_JUDGED = "not judged"

_OWN_FAILURES = frozenset((Failure.PATCH, Failure.CRASH, Failure.TIMEOUT, Failure.INCORRECT))

_ROWS = """
    select
        coalesce(v_speedups.agent, '') as agent, coalesce(v_speedups.agent_version, '') as
            agent_version,
        coalesce(runs.model, v_speedups.model, '') as model,
        coalesce(v_speedups.effort, '') as effort, coalesce(run_path, '') as run,
        coalesce(v_speedups.repo, '') as repo, about, base, benchmark, metric, statistic, better,
        candidate_value, base_value, ratio, verdict, v_speedups.status, failure,
            v_speedups.source_id,
        patch_applied, is_primary, is_same_file, len(reasons) as doubts, v_speedups.scope, format,
            measured_at
    from v_speedups
    left join runs using (run_id)
    where about <> ''
    order by measured_at desc nulls last, v_speedups.source_id, measurement_no, base"""

_LABELS = """
    select
        coalesce(agent, '') as agent, coalesce(agent_version, '') as agent_version,
        coalesce(model_of_run, model, '') as model,
        coalesce(effort, '') as effort,
        coalesce(run_path, '') as run, coalesce(repo, '') as repo,
        case when commit_names_task then left(commit_full, 7)
            else coalesce(task, instance, left(commit_full, 7), '') end as about,
        format, max(label) as label, max(judged) as hack
    from (
        select * from v_measurements
        where label is not null and metric = 'hard'
        union all by name
        select v_published.* exclude (label, score), runs.model as model_of_run
        from v_published
        left join v_measured_runs as found using (subject)
        left join runs on runs.run_id = found.run_id
        where judged is not null
    )
    group by all
    having about <> ''
    order by all"""

_HUMANS = """
    select source_id, coalesce(task, instance) as about, arg_max(value, coalesce(measured_at,
        timestamp '2000-01-01')) as ratio
    from v_measurements
    where variant = 'reference' and ratio_base = 'baseline' and value > 0 and coalesce(statistic,
        'mean') in ('mean', 'geometric_mean')
    group by all"""

_PUBLISHED = """
    select
        format, coalesce(agent, '') as agent, coalesce(agent_version, '') as agent_version,
            coalesce(model, '') as model,
        coalesce(effort, '') as effort, coalesce(run_path, '') as run, metric, max(value) as value
    from v_measurements
    where
        metric in ('score', 'score_hack_control', 'tasks') and variant = 'candidate' and
            coalesce(task, instance) is null
        -- no benchmark has so many tasks: each is counted on its own
        and value >= 0 and (metric <> 'tasks' or value <= 100000)
    group by all"""

_LISTED = (
    "select distinct format, task from v_measurements where format in ('algotune_baseline', "
    "'kernelbench') order by all"
)

ISO_BENCH, GSO, SWEFFICIENCY, ALGOTUNE, KERNELBENCH = (
    "ISO-Bench",
    "GSO",
    "SWE-fficiency",
    "AlgoTune",
    "KernelBench",
)
_STUDIES = {
    "iso_bench": ISO_BENCH,
    "gso": GSO,
    "swefficiency": SWEFFICIENCY,
    "algotune": ALGOTUNE,
    "kernelbench": KERNELBENCH,
}
"""Beginning of a format → the benchmark that publishes it. All other measurements are one study
without a name.
"""

_BY_RUN = (SWEFFICIENCY, KERNELBENCH)
"""Benchmarks with a file per run, named after the run."""

_METRICS = (
    "ttft",
    "output_throughput",
    "throughput",
    "total_throughput",
    "request_throughput",
    "latency",
    "e2el",
    "time",
)


@dataclass
class Case:
    """A task tried with an agent and model.

    Its rows against the baseline and against the reference, the best comparable first.
    """

    study: str
    repo: str
    about: str
    label: str | None = None
    """A published label against the human's patch: beats, similar or worse."""
    hack: str | None = None
    """A published judgement of a success: hack or clean. None: nobody judged it."""
    rows: dict[str, list[Row]] = field(default_factory=lambda: {"baseline": [], "reference": []})

    def compared(self, base: str) -> list[Row]:
        """Return the comparable rows, the one that speaks for the case first."""
        return [row for row in self.rows[base] if row["ratio"] is not None]

    def ratio(self, base: str) -> float | None:
        """Return the ratio that speaks for the case; None if none is comparable."""
        return next((float(row["ratio"]) for row in self.compared(base)), None)

    @property
    def every(self) -> list[Row]:
        """The rows against the baseline, then those against the reference."""
        return [row for rows in self.rows.values() for row in rows]

    @property
    def has_reference(self) -> bool:
        """Whether a human's patch was measured, or a label against it is published."""
        return self.label is not None or any(
            row["ratio"] or row["base_value"] for row in self.rows["reference"]
        )

    @property
    def is_run(self) -> bool:
        """Whether anything was run: a benchmark may list tasks that it never gave to any agent."""
        return self.label is not None or any(row["status"] != "not_run" for row in self.every)

    @property
    def has_failed(self) -> bool:
        """Whether a benchmark failed, for whatever reason."""
        return any(row["status"] == "failed" for row in self.every)

    @property
    def is_measured(self) -> bool:
        """Whether a benchmark ended with a value."""
        return any(row["status"] == "ok" for row in self.every)

    @property
    def is_excused(self) -> bool:
        """Whether it failed, and not by the agent's change as far as is known."""
        return self.has_failed and not self.is_broken and not self.is_measured

    @property
    def is_broken(self) -> bool:
        """Whether the agent's change failed, and nothing else was measured."""
        return not self.is_measured and any(
            row["failure"] in _OWN_FAILURES and row["patch_applied"] != "no" for row in self.every
        )


class Rated(NamedTuple):
    """A case under a rule.

    `value`: 1 or 0 for a share, else a ratio; None: left out for the reason `why`, else a doubt.
    """

    value: float | None
    why: str = ""


@dataclass(frozen=True)
class Rule:
    """A rule. `meaning`, `counts`: for people.

    `score`: of the values of an agent's cases; `is_share`: the share of successes.
    """

    key: str
    label: str
    meaning: str
    judge: Callable[[Case], Rated]
    score: Callable[[Sequence[float]], float]
    counts: str
    """The tasks that it divides by."""
    is_share: bool = False
    needs_reference: bool = True
    """Without any value of a human's patch, even failures do not count."""
    study: str = ""
    """The benchmark whose name it bears."""
    counts_own: str = ""
    """The tasks that it divides by in the files of that benchmark."""
    nothing: float = 0.0
    """The value of a task without a gain; in the benchmark's own files also without a result."""


def _left_out(case: Case, why: str) -> Rated:
    return Rated(None, NOT_THE_AGENTS if case.has_failed else why)


def _baseline(case: Case) -> Rated:
    """Measured faster than the baseline, once or beyond noise, and not judged a hack."""
    if case.hack == "hack":
        return Rated(0.0)
    if compared := case.compared("baseline"):
        return Rated(float(compared[0]["verdict"] == "faster"))
    return Rated(0.0) if case.is_broken else _left_out(case, NO_BASELINE)


def iso_label(case: Case) -> str | None:
    """Return `beats`, `similar` or `worse`.

    The change against the human's value, in percent of it, comparable or not.

    The metric is the time to first token where it was measured, else a throughput, else the
    latency; of SGLang the throughput first. A failed run is worse. None without a value of the
    human's patch.
    """
    first = "throughput" if "sglang" in case.repo else "ttft"
    rows = [
        row
        for row in case.rows["reference"]
        if row["status"] == "ok"
        and (row["ratio"] or (row["candidate_value"] and row["base_value"]))
    ]
    if not rows:
        if case.study == GSO:
            return case.label
        failed = any(row["status"] == "failed" for row in case.rows["reference"])
        return "worse" if failed else None

    def order(row: Row) -> tuple[Any, ...]:
        kind = row["metric"] or ""
        if "throughput" in kind:
            kind = "throughput"
        elif kind == "ttft" and row["statistic"] not in ("mean", None):
            kind = ""
        usual = dict.fromkeys((first, "ttft", "throughput", "latency"))
        place = [*usual].index(kind) if kind in usual else len(usual)
        return place, row["format"] != "iso_bench_table", row["ratio"] is None, row["doubts"]

    row = min(rows, key=order)
    if row["base_value"]:
        change = (
            (row["base_value"] - row["candidate_value"])
            / row["base_value"]
            * (1 if row["better"] == "lower" else -1)
        )
    else:
        change = row["ratio"] - 1
    return "beats" if change > ISO_BAND else "worse" if change < -ISO_BAND else "similar"


def _iso(case: Case) -> Rated:
    label = iso_label(case)
    return Rated(None, NO_REFERENCE) if label is None else Rated(float(label != "worse"))


def _gso(case: Case) -> Rated:
    if case.study == GSO and case.label:
        return Rated(float(case.label != "worse"))
    gained, reached = (
        _ratios(case, base, name)
        for base, name in (("baseline", "geometric_mean"), ("reference", "harmonic_mean"))
    )
    if gained and reached:
        return Rated(
            float(
                round(geometric_mean(gained), 1) >= GSO_GAIN
                and harmonic_mean(reached) > GSO_REACHED
            )
        )
    return Rated(0.0) if case.has_failed else Rated(None, NO_REFERENCE if gained else NO_BASELINE)


def _ratios(case: Case, base: str, statistic: str) -> list[float]:
    """Return the mean that a report gives, else the ratio of each benchmark by its first metric.

    The mean stands in place of values. The ratios are the comparable ones.
    """
    rows = case.compared(base)
    given = [float(row["ratio"]) for row in rows if row["statistic"] == statistic]
    if given:
        return given[:1]
    first: dict[str | None, float] = {}
    for row in rows:
        first.setdefault(row["benchmark"], float(row["ratio"]))
    return list(first.values())


def _swefficiency(case: Case) -> Rated:
    """The agent's speedup ÷ the human's.

    A failed change leaves the code as it was, which is 1 ÷ the human's speedup.
    """
    against, gained = case.ratio("reference"), case.ratio("baseline")
    if against is not None:
        return Rated(against)
    human = next(
        (
            float(row["ratio_of_reference"])
            for row in case.rows["baseline"]
            if row.get("ratio_of_reference")
        ),
        None,
    )
    if human and (gained is not None or case.has_failed):
        return Rated((1 if gained is None else gained) / human)
    return Rated(None, NO_REFERENCE)


def _algotune(case: Case) -> Rated:
    ratio = case.ratio("baseline")
    if ratio is None and not case.has_failed and case.study != ALGOTUNE:
        return Rated(None, NO_BASELINE)
    return Rated(max(ratio or 1.0, 1.0))


def _kernelbench(case: Case) -> Rated:
    """The speedup over PyTorch, of whatever machine, as the benchmark divides.

    0 if the kernel is wrong.
    """
    rows = case.rows["baseline"]
    for row in rows:
        if row["status"] == "ok" and row["ratio"] is not None:
            return Rated(row["ratio"])
        if (
            row["status"] == "ok"
            and row["candidate_value"]
            and row["base_value"]
            and row["metric"] == "time"
        ):
            return Rated(row["base_value"] / row["candidate_value"], OTHER_SET_UP)
    is_timed = any(row["base_value"] for row in rows) or not case.study.startswith(KERNELBENCH)
    return Rated(0.0) if case.has_failed and is_timed else Rated(None, NO_BASELINE)


def fast(p: float) -> Callable[[Sequence[float]], float]:
    """Return KernelBench's fast_p: the share of speedups above `p`, where a wrong kernel has 0."""
    return lambda values: fmean(value > p for value in values)


def _gain(case: Case) -> Rated:
    ratio = case.ratio("baseline")
    if ratio is not None:
        return Rated(ratio)
    return Rated(1.0) if case.is_broken else _left_out(case, NO_BASELINE)


_COMPARED = "tasks with a comparable baseline, or broken by the change"
_BASELINE = "tasks with a comparable baseline, or failed"

RULES = {
    rule.key: rule
    for rule in (
        Rule(
            "baseline",
            "Measured faster",
            (
                "Share measured faster than the baseline, once or beyond noise. What was judged a "
                "hack counts as not faster."
            ),
            _baseline,
            fmean,
            _COMPARED,
            is_share=True,
            needs_reference=False,
        ),
        Rule(
            "iso",
            "ISO-Bench",
            "Share at most 5% worse than the human's patch. Failed runs are worse, also if the "
            "machine failed, and values of different set-ups are compared all the same.",
            _iso,
            fmean,
            "tasks with a value beside the human's, or failed",
            is_share=True,
            study=ISO_BENCH,
        ),
        Rule(
            "gso",
            "GSO",
            (
                "Share with a geometric mean of 1.2 or more over the baseline, and a harmonic "
                "mean above 0.95 against the human's patch."
            ),
            _gso,
            fmean,
            "tasks measured against both, or failed",
            is_share=True,
            study=GSO,
            counts_own="all tasks of the benchmark, also those without a prediction",
        ),
        Rule(
            "swe-fficiency",
            "SWE-fficiency",
            (
                "Harmonic mean of the agent's speedup ÷ the human's. A change that fails, for "
                "whatever reason, counts as none."
            ),
            _swefficiency,
            harmonic_mean,
            "tasks with a value of the human's patch",
            study=SWEFFICIENCY,
            counts_own="all rows of the report",
        ),
        Rule(
            "algotune",
            "AlgoTune",
            (
                "Harmonic mean of the speedups over the baseline. No speedup, and any below 1, "
                "counts as 1."
            ),
            _algotune,
            harmonic_mean,
            _BASELINE,
            needs_reference=False,
            study=ALGOTUNE,
            counts_own="all tasks of the benchmark, also those without a speedup",
            nothing=1.0,
        ),
        Rule(
            "kernelbench",
            "KernelBench",
            (
                "fast_p: share that is correct and more than p times as fast as PyTorch; the "
                "success rate is fast_1."
            ),
            _kernelbench,
            fast(1),
            _BASELINE,
            is_share=True,
            needs_reference=False,
            study=KERNELBENCH,
            counts_own="all problems of the level that PyTorch was timed on",
        ),
        Rule(
            "geometric",
            "Geometric mean",
            "Geometric mean of the ratios to the baseline. A change that fails counts as 1.",
            _gain,
            geometric_mean,
            _COMPARED,
            needs_reference=False,
            nothing=1.0,
        ),
        Rule(
            "harmonic",
            "Harmonic mean",
            "Harmonic mean of the same ratios, in which slow cases weigh most.",
            _gain,
            harmonic_mean,
            _COMPARED,
            needs_reference=False,
            nothing=1.0,
        ),
    )
}


class Who(NamedTuple):
    """What is scored: an agent and model in a benchmark. An empty text is unknown.

    `run_name`: where one run is all that a file has.
    """

    study: str
    agent: str
    agent_version: str
    model: str
    effort: str
    run_name: str

    @property
    def benchmark(self) -> str:
        """Return the benchmark without a level."""
        return self.study.partition(",")[0]


@dataclass
class Tried:
    """The cases of one agent and model by task, with its published scores by metric.

    It also has the number of tasks without a result of that agent and model.
    """

    cases: dict[str, Case] = field(default_factory=dict)
    missing: int = 0
    published: dict[str, float] = field(default_factory=dict)


class Score(NamedTuple):
    """An agent and model under a rule.

    `cases`: those that count, of `total`; `worst_out`: the score without the WORST.
    """

    rule: Rule
    who: Who
    cases: int
    total: int
    score: float | None
    worst_out: float | None
    hack_control: float | None
    """The score in which judged hacks count as failed; None if nobody judged."""
    published: dict[str, float]
    """Of the benchmark's own rule: `score` and `score_hack_control` as its files have them."""
    fast: tuple[float, ...]
    """Of KernelBench's rule: fast_p for each of FAST."""
    left_out: Counter[str]
    doubts: Counter[str]
    """Why cases that count are doubtful."""
    labels: Counter[str]
    """Only of ISO-Bench's rule: its published labels that are `equal` to ours, `different`, or are
    `without_value` here.
    """


def cases_of(store: Store) -> dict[Who, Tried]:
    """Return what each agent and model tried in each benchmark. Raises StoreError."""
    rows, labels, published, listed = (
        fetch_rows(store, sql, {}) for sql in (_ROWS, _LABELS, _PUBLISHED, _LISTED)
    )
    humans: dict[tuple[str, str], float] = {
        (row["source_id"], row["about"]): row["ratio"] for row in fetch_rows(store, _HUMANS, {})
    }
    of_any = {about: ratio for (_, about), ratio in humans.items()}
    models: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in (*rows, *labels, *published, *listed):
        row["study"] = next(
            (name for prefix, name in _STUDIES.items() if row["format"].startswith(prefix)), ""
        )
        if row["study"] == KERNELBENCH and "/" in (
            task := row.get("about") or row.get("task") or ""
        ):
            row["study"] += f", {task.partition('/')[0].replace('level', 'level ')}"
    for row in (*rows, *labels, *published):
        row["model"] = _model_name(row["model"])
        models[row["study"], row["agent"]].add(row["model"])
    found: dict[Who, Tried] = defaultdict(Tried)

    def who_of(row: Row) -> Who:
        known = models[row["study"], row["agent"]] - {""}
        model = row["model"] or (next(iter(known)) if len(known) == 1 else "")
        has_run = row["study"].startswith(_BY_RUN) or not (row["agent"] or model)
        return Who(
            row["study"],
            row["agent"],
            row["agent_version"],
            model,
            row["effort"],
            row["run"] if has_run else "",
        )

    def case_in(who: Who, row: Row) -> Case:
        return found[who].cases.setdefault(
            row["about"], Case(row["study"], row["repo"], row["about"])
        )

    for row in rows:
        human = humans.get((row["source_id"], row["about"]), of_any.get(row["about"]))
        case_in(who_of(row), row).rows[row["base"]].append(row | {"ratio_of_reference": human})
    for row in labels:
        who = who_of(row)
        # a label need not name the model: it is of the one that tried the task, most of all of that
        # which tried most
        if not who.model:
            tried = [
                one
                for one in found
                if one[:2] == who[:2] and one.model and row["about"] in found[one].cases
            ]
            who = max(tried, key=lambda one: (len(found[one].cases), one), default=who)
        case = case_in(who, row)
        case.label, case.hack = row["label"] or case.label, row["hack"] or case.hack
    for row in published:
        if (who := who_of(row)) in found:
            found[who].published[row["metric"]] = row["value"]
    tasks: dict[str, set[str]] = defaultdict(set)
    for row in listed:
        tasks[row["study"]].add(row["task"])
    for who, one in found.items():
        for case in one.cases.values():
            for ordered in case.rows.values():
                ordered.sort(key=_order)
        if who.benchmark == ALGOTUNE:
            every = tasks[ALGOTUNE] or {
                about
                for other, tried in found.items()
                if other.study == who.study
                for about in tried.cases
            }
            one.missing = len(every - one.cases.keys())
        else:
            one.missing = len(tasks[who.study] - one.cases.keys())
        one.missing = max(one.missing, round(one.published.get("tasks", 0)) - len(one.cases))
    return found


def _judged(rule: Rule, who: Who, tried: Tried) -> list[tuple[Case | None, Rated]]:
    """Return each task under a rule, also the tasks without a result."""
    is_own = rule.study == who.benchmark and bool(rule.counts_own)
    has_reference = (
        is_own
        or not rule.needs_reference
        or any(case.has_reference for case in tried.cases.values())
    )
    found: list[tuple[Case | None, Rated]] = []
    for case in tried.cases.values():
        one = rule.judge(case) if has_reference else Rated(None, NO_REFERENCE)
        found.append((case, one if one.value is not None or case.is_run else Rated(None, NOT_RUN)))
    absent = Rated(rule.nothing) if is_own else Rated(None, NO_RESULT)
    return [*found, *[(None, absent)] * tried.missing]


def scores(store: Store, rules: Iterable[Rule] = tuple(RULES.values())) -> list[Score]:
    """Return the score of every agent and model by every rule, the most cases first.

    Raises StoreError.
    """
    return scores_of(cases_of(store), rules)


def scores_of(
    found: Mapping[Who, Tried], rules: Iterable[Rule] = tuple(RULES.values())
) -> list[Score]:
    """Return the scores of `cases_of`."""
    made = []
    for rule in rules:
        for who, tried in sorted(_ordered(found), key=lambda item: rule.study != item[0].benchmark):
            judged = _judged(rule, who, tried)
            is_own = rule.study == who.benchmark
            values = sorted(one.value for _, one in judged if one.value is not None)
            score, worst_out = (
                rule.score(some) if some else None for some in (values, values[WORST:])
            )
            is_judged = any(case.hack for case in tried.cases.values())
            honest = [one.value for _, one in _without_hacks(rule, judged) if one.value is not None]
            labels: Counter[str] = Counter()
            for case in tried.cases.values() if rule.key == "iso" and is_own else ():
                if case.label:
                    mine = iso_label(case)
                    same = "equal" if mine == case.label else "different"
                    labels["without_value" if mine is None else same] += 1
            made.append(
                Score(
                    rule,
                    who,
                    len(values),
                    len(judged),
                    score,
                    worst_out,
                    rule.score(honest) if is_judged and honest else None,
                    tried.published if is_own else {},
                    tuple(fast(p)(values) for p in FAST)
                    if rule.key == "kernelbench" and values
                    else (),
                    Counter(one.why for _, one in judged if one.value is None),
                    Counter(one.why for _, one in judged if one.value is not None and one.why),
                    labels,
                )
            )
    return made


class OwnScore(NamedTuple):
    """An agent and model by the own rule of a benchmark.

    `successes` of `tasks`, only of rules that are shares. `cost_usd`: of the started runs on these
    tasks, None if it is unknown for one in ten.
    """

    agent: str
    model: str
    score: float
    successes: int
    tasks: int
    cost_usd: Decimal | None
    bounds: str

    @property
    def usd_per_success(self) -> Decimal | None:
        """Cost of the judged tasks' runs per success; None without any."""
        return self.cost_usd / self.successes if self.cost_usd and self.successes else None


class OwnRule(NamedTuple):
    """The scores of everything measured for a benchmark by its own rule, the best first."""

    study: str
    meaning: str
    is_share: bool
    scores: list[OwnScore]

    @property
    def succeeds(self) -> str:
        """When a task counts as a success: `at most 5% worse than the human's patch`."""
        return self.meaning.partition(". ")[0].removeprefix("Share ").rstrip(".")

    @property
    def lets_in(self) -> str:
        """What the rule counts that a strict one would leave out."""
        return self.meaning.partition(". ")[2] or self.meaning

    def of(self, row: Any) -> OwnScore | None:
        """Return the score of a row of `app.queries.agents`, which names agent and model."""
        return next(
            (one for one in self.scores if one.agent == row.agent and one.model == row.model), None
        )


def studies(store: Store) -> list[str]:
    """Return the benchmarks with a rule of their own that have results of agents."""
    sql = "select distinct format from measurements where variant = 'candidate'"
    formats = [row["format"] or "" for row in fetch_rows(store, sql, {})]
    named = {
        study for prefix, study in _STUDIES.items() for name in formats if name.startswith(prefix)
    }
    return sorted(named)


def own_rule(store: Store, study: str, measure: CostMeasure) -> OwnRule:
    """Return the scores by a benchmark's own rule. Raises StoreError."""
    rule = next(rule for rule in RULES.values() if rule.study == study)
    made = []
    for who, tried in _ordered(cases_of(store)):
        judged = [one for one in _judged(rule, who, tried) if one[1].value is not None]
        if who.benchmark != study or len(judged) < FEWEST_VALUES or not who.agent:
            continue
        values = [float(one.value or 0) for _, one in judged]
        sql = f"""
            select sum({measure.column}) as cost_usd, count({measure.column}) as known,
                count(*) as started,
                coalesce({kinds_in(bound_of(measure))}, '') as bounds
            from v_runs where {where(NO_FILTERS).sql}
                and is_started and agent = $agent and model_group = $model
                and list_has_any($about, [task, left(head_commit, 7), left(base_commit, 7)])"""
        about = [case.about for case, _ in judged if case]
        chosen = {"agent": who.agent, "model": who.model, "about": about}
        cost = fetch_rows(store, sql, chosen)[0]
        is_known = bool(cost["started"]) and cost["known"] >= NEARLY_ALL * cost["started"]
        made.append(
            OwnScore(
                who.agent,
                who.model,
                rule.score(values),
                round(sum(values)) if rule.is_share else 0,
                len(judged),
                cost["cost_usd"] if is_known else None,
                cost["bounds"],
            )
        )
    made.sort(key=lambda one: -one.score)
    return OwnRule(study, rule.meaning, rule.is_share, made)


def _ordered(found: Mapping[Who, Tried]) -> list[tuple[Who, Tried]]:
    return sorted(found.items(), key=lambda item: (item[0].study, -len(item[1].cases), item[0]))


_Ratings = Sequence[tuple[Case | None, Rated]]


def _without_hacks(rule: Rule, judged: _Ratings) -> _Ratings:
    """Return the judgements with each hack as a change without a gain."""
    return [
        (case, _as_no_gain(rule, case, one.value))
        if case and case.hack == "hack" and one.value is not None
        else (case, one)
        for case, one in judged
    ]


def _as_no_gain(rule: Rule, case: Case, value: float) -> Rated:
    gained = case.ratio("baseline")
    if rule.study == SWEFFICIENCY and gained:  # whose values are divided by the human's speedup
        return Rated(value / gained)
    return Rated(rule.nothing)


class Step(NamedTuple):
    """A named change of a score from the published number to the one of the rule `baseline`.

    `score`: the score after the change.

    `change`: None of the first step, of one from a mean to a share, and where nobody judged hacks.
    """

    who: Who
    rule: Rule
    key: str
    tasks: int
    score: float | None
    is_share: bool
    change: float | None
    what: str


STEPS = {
    "published": ("Own rule", "By the rule of the benchmark"),
    "missing": ("− missing", "Without tasks of no result"),
    "infrastructure": ("− infrastructure", "Without failures by machine or unknown cause"),
    "hacks": ("− hacks", "Judged hacks fail"),
    "worst": (f"− {WORST} worst", f"Without the {WORST} worst"),
    "noise": ("− noise: ours", "Only what was measured faster, and not inside noise"),
}
"""Key of a step → its short name, and what it does. That without the worst is a side step: the one
after it has them again. The last is the rule `baseline`."""


def steps(store: Store, rules: Iterable[Rule]) -> list[Step]:
    """Return the steps of every agent and model in the benchmarks whose names the rules bear.

    Raises StoreError.
    """
    return steps_of(cases_of(store), rules)


def steps_of(found: Mapping[Who, Tried], rules: Iterable[Rule]) -> list[Step]:
    """Return the steps of `cases_of`, by published score; of none where the rule has no task."""
    made: list[Step] = []
    for rule in rules:
        paths = [
            _steps(rule, who, tried)
            for who, tried in _ordered(found)
            if rule.study and rule.study == who.benchmark
        ]
        having = [path for path in paths if path[0].score is not None]
        having.sort(key=lambda path: -(path[0].score or 0))
        made += chain.from_iterable(having)
    return made


def _steps(rule: Rule, who: Who, tried: Tried) -> list[Step]:
    judged = [(case, one) for case, one in _judged(rule, who, tried) if one.value is not None]
    there = [(case, one) for case, one in judged if case and case.is_run]
    own = [(case, one) for case, one in there if case and not case.is_excused]
    honest = _without_hacks(rule, own)
    baseline = RULES["baseline"]
    noise = [(case, one) for case, one in _judged(baseline, who, tried) if one.value is not None]
    mine, ours = ({id(case) for case, _ in some} for some in (own, noise))
    joining = f", {more:,} more have one" if (more := len(ours - mine)) else ""
    hacks = sum(case is not None and case.hack == "hack" for case, _ in own)
    is_judged = any(case.hack for case in tried.cases.values())
    whats = {
        "published": rule.counts_own or rule.counts,
        "missing": f"{len(judged) - len(there):,} {NO_RESULT}",
        "infrastructure": f"{len(there) - len(own):,} {NOT_THE_AGENTS}",
        "hacks": f"{hacks:,} judged a hack" if is_judged else NOT_JUDGED,
        "worst": f"{min(WORST, len(honest)):,} of the lowest values left out; counted again below",
        "noise": (
            f"faster than the baseline and not inside noise; {len(mine - ours):,} left out: "
            f"{NO_BASELINE}{joining}"
        ),
    }
    values = {
        key: sorted(one.value for _, one in some if one.value is not None)
        for key, some in (
            ("published", judged),
            ("missing", there),
            ("infrastructure", own),
            ("hacks", honest),
            ("noise", noise),
        )
    }
    values["worst"] = values["hacks"][WORST:]
    made: list[Step] = []
    before: float | None = None
    for key in STEPS:
        by = baseline if key == "noise" else rule
        score = by.score(values[key]) if values[key] else None
        change = (
            score - before
            if score is not None and before is not None and by.is_share == rule.is_share
            else None
        )
        change = None if key == "hacks" and not is_judged else change
        what = whats[key] if values[key] else f"no task is left; {whats[key]}"
        made.append(Step(who, rule, key, len(values[key]), score, by.is_share, change, what))
        before = before if key == "worst" else score
    return made


def _order(row: Row) -> tuple[Any, ...]:
    """The order of v_verdicts.

    Comparable, end to end before a part, the benchmark's own metric, then the usual ones.
    """

    def place(word: str | None, words: Sequence[str]) -> int:
        return words.index(word) if word in words else len(words)

    scope, metric = (
        place(row["scope"], ("end_to_end", "component", "micro", "unspecified")),
        place(row["metric"], _METRICS),
    )
    return (
        row["ratio"] is None,
        row["status"] != "ok",
        scope,
        not row["is_primary"],
        metric,
        row["statistic"] not in ("mean", None),
    )


def _model_name(name: str) -> str:
    """Return one name for the spellings of a model in benchmarks.

    `sonnet-4.5` is `claude-sonnet-4-5`.
    """
    plain = parse_model_id(name).model.lower() if name else ""
    plain = f"claude-{plain}" if plain.startswith(("sonnet", "opus", "haiku")) else plain
    return plain.replace(".", "-") if plain.startswith("claude") else plain


def tables(store: Store) -> tuple[pa.Table, pa.Table]:
    """Return the scores by all rules, and the steps from those of benchmarks to ours.

    Raises StoreError.
    """
    found = cases_of(store)
    return table_of(scores_of(found)), steps_table(steps_of(found, RULES.values()))


_LABELS_OF = ("equal", "different", "without_value")
_COUNTS = (
    *("tasks", "successes", "left_out"),
    *(f"labels_{kind}" for kind in _LABELS_OF),
)
_FAST = tuple(f"fast_{p}_share" for p in FAST)
_SCORE_COLUMNS = (
    *("rule", "tasks", "denominator", "successes", "score_share", "score_ratio"),
    *("published_share", "published_ratio", "hack_control_share", "hack_control_ratio"),
    *("published_hack_control_share", *_FAST, "without_worst_share", "without_worst_ratio"),
    *("left_out", "why", *_COUNTS[3:]),
)


def _who(who: Who) -> dict[str, Any]:
    return {name: value or None for name, value in who._asdict().items()}


def _reasons(found: Counter[str]) -> list[str]:
    return [f"{number:,} {why}" for why, number in sorted(found.items())]


def table_of(found: Sequence[Score]) -> pa.Table:
    """Return scores as rows.

    Who, rule, tasks, scores, what they are shares of, what is left out and why, and published
    labels.
    """
    rows = []
    for one in found:
        is_share = one.rule.is_share
        counts = one.rule.counts_own if one.rule.study == one.who.benchmark else ""
        of = f"{one.cases:,} of {one.total:,}: {counts or one.rule.counts}"
        per = 100 if is_share else 1
        published = {key: value / per for key, value in one.published.items()}
        controlled = published.get("score_hack_control")
        rows.append(
            _who(one.who)
            | {
                "rule": one.rule.key,
                "tasks": one.cases,
                "denominator": "; ".join((of, *_reasons(one.doubts))),
                "successes": None
                if one.score is None or not is_share
                else round(one.score * one.cases),
                "published_hack_control_share": controlled if is_share else None,
                "left_out": sum(one.left_out.values()),
                "why": "; ".join(_reasons(one.left_out)) or None,
            }
            | _scored("score", one.score, is_share=is_share)
            | _scored("published", published.get("score"), is_share=is_share)
            | _scored("hack_control", one.hack_control, is_share=is_share)
            | _scored("without_worst", one.worst_out, is_share=is_share)
            | dict(zip(_FAST, one.fast, strict=False))
            | {f"labels_{kind}": one.labels[kind] for kind in _LABELS_OF if one.labels}
        )
    return _table(rows, _SCORE_COLUMNS)


def _scored(name: str, value: float | None, *, is_share: bool) -> dict[str, float | None]:
    """Return the column of a score: `NAME_share` or `NAME_ratio`."""
    return {f"{name}_{'share' if is_share else 'ratio'}": value}


def _table(rows: list[dict[str, Any]], columns: Sequence[str]) -> pa.Table:
    """Return rows with who was scored and these columns, as the kinds that their names say."""

    def kind(name: str) -> pa.DataType:
        if name in _COUNTS:
            return pa.int64()
        is_figure = name.endswith(("_share", "_ratio", "_points"))
        return pa.float64() if is_figure else pa.string()

    return pa.Table.from_pylist(
        rows, pa.schema([(name, kind(name)) for name in (*Who._fields, *columns)])
    )


def steps_table(found: Sequence[Step]) -> pa.Table:
    """Return steps as rows: who, rule, step, tasks, score after it, change, and what it does."""
    rows = [
        _who(one.who)
        | {"rule": one.rule.key, "step": one.key, "tasks": one.tasks, "what": one.what}
        | _scored("score", one.score, is_share=one.is_share)
        | {
            "change_points": one.change * 100 if one.is_share and one.change is not None else None,
            "change_ratio": None if one.is_share else one.change,
        }
        for one in found
    ]
    scored = ("score_share", "score_ratio", "change_points", "change_ratio")
    return _table(rows, ("rule", "step", "tasks", *scored, "what"))
