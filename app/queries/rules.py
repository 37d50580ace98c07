"""The rules by which benchmarks judge agents, on everything that a store has measured, with or without records of runs.

A case is a task that a benchmark tried with an agent and model. Each rule scores the cases of an agent, or leaves them out and says why.
A failure of the machine, or of unknown cause, is not the agent's: every rule leaves it out but ISO-Bench's, which counts it by definition.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, geometric_mean, harmonic_mean
from typing import Any, NamedTuple

import pyarrow as pa

from app.queries.reading import fetch
from ingest.store.database import Store
from schemas.rows.measurement import Failure

WORST = 10
"""Cases that a second score leaves out, which shows how much hangs on them."""

ISO_BAND = 0.05
GSO_GAIN, GSO_REACHED = 1.2, 0.95

NO_BASELINE, NO_REFERENCE, NOT_THE_AGENTS = "no comparable baseline", "no value of the reference", "failed by machine or unknown cause"
NOT_RUN = "listed by the benchmark and not run"

_OWN_FAILURES = frozenset((Failure.PATCH, Failure.CRASH, Failure.TIMEOUT, Failure.INCORRECT))
_GEOMETRIC, _HARMONIC = "geometric_mean", "harmonic_mean"

_ROWS = """
    select
        coalesce(v_speedups.agent, '') as agent,
        coalesce(runs.model, v_speedups.model, case when v_speedups.agent is null then run_path end, '') as model,
        coalesce(v_speedups.repo, '') as repo, about, base, benchmark, metric, statistic, better,
        candidate_value, base_value, ratio, verdict, v_speedups.status, failure,
        patch_applied, is_primary, is_same_file, len(reasons) as doubts, v_speedups.scope, format, measured_at
    from v_speedups
    left join runs using (run_id)
    where about <> ''
    order by measured_at desc nulls last, v_speedups.source_id, measurement_no, base"""

_LABELS = """
    select
        coalesce(agent, '') as agent, coalesce(model, case when agent is null then run_path end, '') as model, coalesce(repo, '') as repo,
        case when commit_names_task then left(commit_full, 7) else coalesce(task, instance, left(commit_full, 7), '') end as about,
        format, max(label) as label
    from v_measurements
    where label is not null and metric = 'hard'
    group by all
    having about <> ''
    order by all"""

_HUMANS = """
    select coalesce(task, instance) as about, arg_max(value, coalesce(measured_at, timestamp '2000-01-01')) as ratio
    from v_measurements
    where variant = 'reference' and ratio_base = 'baseline' and value > 0 and coalesce(statistic, 'mean') in ('mean', 'geometric_mean')
    group by all"""

ISO_BENCH, GSO = "ISO-Bench", "GSO"
_STUDIES = {"iso_bench": ISO_BENCH, "gso": GSO, "swefficiency": "SWE-fficiency", "algotune": "AlgoTune"}
"""Beginning of a format → the benchmark that publishes it. All other measurements are one study without a name."""

_METRICS = ("ttft", "output_throughput", "throughput", "total_throughput", "request_throughput", "latency", "e2el", "time")
_SCOPES = ("end_to_end", "component", "micro", "unspecified")

Row = Mapping[str, Any]


@dataclass
class Case:
    """A task tried with an agent and model: its rows against the baseline and against the reference, the best comparable first."""

    study: str
    repo: str
    about: str
    label: str | None = None
    """A published label against the human's patch: beats, similar or worse."""
    rows: dict[str, list[Row]] = field(default_factory=lambda: {"baseline": [], "reference": []})

    def ratio(self, base: str) -> float | None:
        """Return the ratio that speaks for the case; None if none is comparable."""
        return next((float(row["ratio"]) for row in self.rows[base] if row["ratio"] is not None), None)

    @property
    def has_reference(self) -> bool:
        """Whether a human's patch was measured, or a label against it is published."""
        return self.label is not None or any(row["ratio"] or row["base_value"] for row in self.rows["reference"])

    @property
    def is_run(self) -> bool:
        """Whether anything was run: a benchmark may list tasks that it never gave to any agent."""
        return self.label is not None or any(row["status"] != "not_run" for rows in self.rows.values() for row in rows)

    @property
    def has_failed(self) -> bool:
        """Whether a benchmark failed, for whatever reason."""
        return any(row["status"] == "failed" for rows in self.rows.values() for row in rows)

    @property
    def is_broken(self) -> bool:
        """Whether the agent's change failed, and nothing else was measured."""
        every = [*self.rows["baseline"], *self.rows["reference"]]
        return not any(row["status"] == "ok" for row in every) and any(
            row["failure"] in _OWN_FAILURES and row["patch_applied"] != "no" for row in every
        )


class Judged(NamedTuple):
    """A case under a rule. `value`: 1 or 0 for a share, else a ratio; None: left out for the reason `why`."""

    value: float | None
    why: str = ""


@dataclass(frozen=True)
class Rule:
    """A rule. `meaning`: a sentence for people. `score`: of the values of an agent's cases; `is_share`: the share of successes."""

    key: str
    label: str
    meaning: str
    judge: Callable[[Case], Judged]
    score: Callable[[Sequence[float]], float]
    is_share: bool = False
    needs_reference: bool = True
    """Without any value of a human's patch, even failures do not count."""


def _left_out(case: Case, why: str) -> Judged:
    return Judged(None, NOT_THE_AGENTS if case.has_failed else why)


def _baseline(case: Case) -> Judged:
    """A verified speedup: measured faster than the baseline, beyond the noise."""
    if case.ratio("baseline") is None:
        return Judged(0.0) if case.is_broken else _left_out(case, NO_BASELINE)
    [first, *_] = [row for row in case.rows["baseline"] if row["ratio"] is not None]
    return Judged(float(first["verdict"] == "faster"))


def iso_label(case: Case) -> str | None:
    """Return `beats`, `similar` or `worse`: the change against the human's value, in percent of it, comparable or not.

    The metric is the time to first token where it was measured, else a throughput, else the latency; of SGLang the throughput first. A
    failed run is worse. None without a value of the human's patch.
    """
    first = "throughput" if "sglang" in case.repo else "ttft"
    rows = [
        row for row in case.rows["reference"] if row["status"] == "ok" and (row["ratio"] or (row["candidate_value"] and row["base_value"]))
    ]
    if not rows:
        if case.study == GSO:
            return case.label
        failed = any(row["status"] == "failed" for row in case.rows["reference"])
        return "worse" if failed else None

    def order(row: Row) -> tuple[Any, ...]:
        metric, is_mean = row["metric"] or "", row["statistic"] in ("mean", None)
        kind = (
            "throughput" if "throughput" in metric else metric if metric == "ttft" and is_mean else "latency" if metric == "latency" else ""
        )
        place = [first, *(name for name in ("ttft", "throughput", "latency") if name != first), ""].index(kind)
        return place, row["format"] != "iso_bench_table", row["ratio"] is None, row["doubts"]

    row = min(rows, key=order)
    if row["base_value"]:
        change = (row["base_value"] - row["candidate_value"]) / row["base_value"] * (1 if row["better"] == "lower" else -1)
    else:
        change = row["ratio"] - 1
    return "beats" if change > ISO_BAND else "worse" if change < -ISO_BAND else "similar"


def _iso(case: Case) -> Judged:
    label = iso_label(case)
    return Judged(None, NO_REFERENCE) if label is None else Judged(float(label != "worse"))


def _gso(case: Case) -> Judged:
    gained, reached = (_ratios(case, base, name) for base, name in (("baseline", _GEOMETRIC), ("reference", _HARMONIC)))
    if gained and reached:
        return Judged(float(round(geometric_mean(gained), 1) >= GSO_GAIN and harmonic_mean(reached) > GSO_REACHED))
    if case.is_broken or (case.study == GSO and case.label == "worse" and not case.has_failed):
        return Judged(0.0)
    return _left_out(case, NO_REFERENCE if gained else NO_BASELINE)


def _ratios(case: Case, base: str, statistic: str) -> list[float]:
    """Return the mean that a report gives in place of values, else the comparable ratio of each benchmark by its first metric."""
    rows = [row for row in case.rows[base] if row["ratio"] is not None]
    given = [float(row["ratio"]) for row in rows if row["statistic"] == statistic]
    if given:
        return given[:1]
    first: dict[str | None, float] = {}
    for row in rows:
        first.setdefault(row["benchmark"], float(row["ratio"]))
    return list(first.values())


def _swefficiency(case: Case) -> Judged:
    """The agent's speedup ÷ the human's. A failed change leaves the code as it was, which is 1 ÷ the human's speedup."""
    against, gained = case.ratio("reference"), case.ratio("baseline")
    if against is not None:
        return Judged(against)
    human = next((float(row["ratio_of_reference"]) for row in case.rows["baseline"] if row.get("ratio_of_reference")), None)
    if case.is_broken and human:
        return Judged(1 / human)
    if gained is not None and human:
        return Judged(gained / human)
    return _left_out(case, NO_REFERENCE)


def _gain(case: Case) -> Judged:
    ratio = case.ratio("baseline")
    if ratio is not None:
        return Judged(ratio)
    return Judged(1.0) if case.is_broken else _left_out(case, NO_BASELINE)


RULES = {
    rule.key: rule
    for rule in (
        Rule("baseline", "Verified speedup", "Share measured faster than the baseline, beyond the noise.", _baseline, fmean, True, False),
        Rule(
            "iso",
            "ISO-Bench",
            "Share at most 5% worse than the human's patch. Failed runs are worse, also if the machine failed, and values of different "
            "set-ups are compared all the same.",
            _iso,
            fmean,
            is_share=True,
        ),
        Rule(
            "gso",
            "GSO",
            "Share with a geometric mean of 1.2 or more over the baseline, and a harmonic mean above 0.95 against the human's patch.",
            _gso,
            fmean,
            is_share=True,
        ),
        Rule(
            "swe-fficiency",
            "SWE-fficiency",
            "Harmonic mean of the agent's speedup ÷ the human's. A change that fails counts as none.",
            _swefficiency,
            harmonic_mean,
        ),
        Rule(
            "geometric",
            "Geometric mean",
            "Geometric mean of the ratios to the baseline. A change that fails counts as 1.",
            _gain,
            geometric_mean,
            needs_reference=False,
        ),
        Rule(
            "harmonic",
            "Harmonic mean",
            "Harmonic mean of the same ratios, in which slow cases weigh most.",
            _gain,
            harmonic_mean,
            needs_reference=False,
        ),
    )
}


class Score(NamedTuple):
    """An agent and model under a rule. `study`: the benchmark. `cases`: those that count; `worst_out`: the score without the WORST."""

    rule: Rule
    study: str
    agent: str
    model: str
    cases: int
    score: float | None
    worst_out: float | None
    left_out: Counter[str]
    labels: Counter[str]
    """Only of ISO-Bench's rule: its published labels that are `equal` to ours, `different`, or have `no value` here."""


Key = tuple[str, str, str]
"""(study, agent, model)"""


def cases_of(store: Store) -> dict[Key, dict[str, Case]]:
    """Return the cases of each agent and model in each benchmark, by task. Raises StoreError."""
    rows: list[dict[str, Any]] = fetch(store, _ROWS, {}).to_pylist()
    labels: list[dict[str, Any]] = fetch(store, _LABELS, {}).to_pylist()
    humans: dict[str, float] = {row["about"]: row["ratio"] for row in fetch(store, _HUMANS, {}).to_pylist()}
    models: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in (*rows, *labels):
        row["study"] = next((name for prefix, name in _STUDIES.items() if row["format"].startswith(prefix)), "")
        row["model"] = _model_name(row["model"])
        models[row["study"], row["agent"]].add(row["model"])
    found: dict[Key, dict[str, Case]] = defaultdict(dict)

    def case_of(row: Row) -> Case:
        known = models[row["study"], row["agent"]] - {""}
        model = row["model"] or (next(iter(known)) if len(known) == 1 else "")
        return found[row["study"], row["agent"], model].setdefault(row["about"], Case(row["study"], row["repo"], row["about"]))

    for row in rows:
        case_of(row).rows[row["base"]].append(row | {"ratio_of_reference": humans.get(row["about"])})
    for row in labels:
        case_of(row).label = row["label"]
    for cases in found.values():
        for case in cases.values():
            for ordered in case.rows.values():
                ordered.sort(key=_order)
    return found


def scores(store: Store, rules: Iterable[Rule] = tuple(RULES.values())) -> list[Score]:
    """Return the score of every agent and model by every rule, the most cases first. Raises StoreError."""
    ordered = sorted(cases_of(store).items(), key=lambda item: (item[0][0], -len(item[1]), item[0]))
    made = []
    for rule in rules:
        for (study, agent, model), cases in ordered:
            judged = [rule.judge(case) for case in cases.values()]
            if rule.needs_reference and not any(case.has_reference for case in cases.values()):
                judged = [Judged(None, NO_REFERENCE)] * len(cases)
            judged = [
                one if one.value is not None or case.is_run else Judged(None, NOT_RUN)
                for one, case in zip(judged, cases.values(), strict=True)
            ]
            values = sorted(one.value for one in judged if one.value is not None)
            score, worst_out = (rule.score(some) if some else None for some in (values, values[WORST:]))
            left_out = Counter(one.why for one in judged if one.value is None)
            labels: Counter[str] = Counter()
            for case in cases.values() if rule.key == "iso" and study == ISO_BENCH else ():
                if case.label:
                    mine = iso_label(case)
                    labels["no value" if mine is None else "equal" if mine == case.label else "different"] += 1
            made.append(Score(rule, study, agent, model, len(values), score, worst_out, left_out, labels))
    return made


def _order(row: Row) -> tuple[Any, ...]:
    """The order of v_verdicts: comparable, end to end before a part, the benchmark's own metric, then the usual ones."""

    def place(word: str | None, words: Sequence[str]) -> int:
        return words.index(word) if word in words else len(words)

    scope, metric = place(row["scope"], _SCOPES), place(row["metric"], _METRICS)
    return row["ratio"] is None, row["status"] != "ok", scope, not row["is_primary"], metric, row["statistic"] not in ("mean", None)


def _model_name(name: str) -> str:
    """Return one name for the spellings of a model in benchmarks: `sonnet-4.5` is `claude-sonnet-4-5`."""
    plain = name.lower().replace(".", "-")
    return f"claude-{plain}" if plain.startswith(("sonnet", "opus", "haiku")) else plain


def table(store: Store) -> pa.Table:
    """Return the scores by all rules. Raises StoreError."""
    return table_of(scores(store))


def table_of(found: Sequence[Score]) -> pa.Table:
    """Return scores as rows: study, agent, model, rule, tasks, scores, what is left out and why, and published labels."""
    rows = [
        {
            "study": one.study or None,
            "agent": one.agent or None,
            "model": one.model or None,
            "rule": one.rule.key,
            "tasks": one.cases,
            "successes": round(one.score * one.cases) if one.rule.is_share and one.score is not None else None,
            "score_share": one.score if one.rule.is_share else None,
            "score_ratio": None if one.rule.is_share else one.score,
            "without_worst_share": one.worst_out if one.rule.is_share else None,
            "without_worst_ratio": None if one.rule.is_share else one.worst_out,
            "left_out": sum(one.left_out.values()),
            "why": "; ".join(f"{number:,} {why}" for why, number in sorted(one.left_out.items())) or None,
            "labels_equal": one.labels["equal"] if one.labels else None,
            "labels_different": one.labels["different"] if one.labels else None,
            "labels_without_value": one.labels["no value"] if one.labels else None,
        }
        for one in found
    ]
    types = {name: pa.int64() for name in ("tasks", "successes", "left_out", "labels_equal", "labels_different", "labels_without_value")}
    types |= {name: pa.float64() for name in ("score_share", "score_ratio", "without_worst_share", "without_worst_ratio")}
    names = (*rows[0],) if rows else ()
    return pa.Table.from_pylist(rows, pa.schema([(name, types.get(name, pa.string())) for name in names]))
