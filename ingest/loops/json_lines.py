"""Logs of loops that write one JSON object per experiment.

Each project its own keys, recognised by a decision and a number.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from math import isfinite
from typing import Any

from ingest.loops.base import Experiment, Loop, LoopFormat
from ingest.loops.words import (
    DECIDED,
    DECISIONS,
    SIDE,
    baseline_first,
    better_by_decisions,
    better_by_name,
    direction_named,
    number,
    several_baselines,
    state_of,
    unit_of,
    with_repeats,
)
from ingest.measurements.base import MeasuredFile
from ingest.sources.times import unix_time, written_time
from schemas.rows.loop import CostBasis, State
from schemas.units import Better

Entry = Mapping[str, Any]


NO_DECISIONS = "It says of no experiment whether it was kept."

_LABEL_WORDS = {
    "iter": "iteration",
    "gen": "generation",
    **dict.fromkeys(("exp", "num", "number", "n"), "experiment"),
}
_DURATIONS = {
    **dict.fromkeys(("duration_ms", "durationMs", "elapsed_ms", "wall_ms"), 1),
    **dict.fromkeys(
        (
            "agent_time_s",
            "duration_s",
            "duration_seconds",
            "durationSeconds",
            "duration_sec",
            "wall_seconds",
            "wall_s",
            "wall_time_s",
            "elapsed_s",
            "elapsed_seconds",
            "time_s",
            "total_seconds",
            "training_seconds",
            "duration",
        ),
        1000,
    ),
}
KEYS: Mapping[str, tuple[str, ...]] = {
    "decision": (
        "decision",
        "verdict",
        "status",
        "outcome",
        "result",
        "kept",
        "accepted",
        "is_kept",
        "promoted",
    ),
    "label": (
        "iteration",
        "iter",
        "run",
        "experiment",
        "exp",
        "trial",
        "round",
        "attempt",
        "cycle",
        "generation",
        "gen",
        "num",
        "number",
        "n",
    ),
    "id": ("experiment_id", "exp_id", "trial_id", "run_id", "id"),
    "flag": ("kept", "accepted", "is_kept", "promoted"),
    "commit": (
        "commit",
        "commit_hash",
        "experiment_commit",
        "commit_after",
        "commit_sha",
        "git_commit",
        "git_sha",
        "sha",
        "harness_commit",
    ),
    "commit before": (
        "baseline_commit",
        "commit_hash_before",
        "commit_before",
        "base_commit",
        "parent_commit",
    ),
    "idea": (
        "hypothesis",
        "agent_idea",
        "idea",
        "rationale",
        "change_description",
        "changes",
        "mutation",
        "mutation_type",
        "diff",
        "patch",
    ),
    "description": (
        "description",
        "summary",
        "title",
        "change",
        "change_description",
        "change_summary",
        "action",
        "agent_idea",
        "idea",
        "diff_summary",
        "experiment_name",
        "experiment",
        "name",
        "job_name",
        "note",
        "notes",
    ),
    "lesson": (
        "hypothesis",
        "rationale",
        "reasoning",
        "diagnosis",
        "reason",
        "failure_reason",
        "feedback",
        "comment",
    ),
    "time": (
        "timestamp",
        "ts",
        "time",
        "finished_at",
        "ended_at",
        "logged_at",
        "created_at",
        "generated_at",
        "date",
        "started_at",
    ),
    "tokens": ("total_tokens", "tokens_used", "iterationTokens", "iteration_tokens"),
    "cost": ("cost_usd", "total_cost_usd", "costUsd", "usd", "cost"),
    "patch": ("diff", "patch"),
    # Keys of what the loop improves, the most telling first.
    "metric": (
        "metric_value",
        "metric",
        "primary",
        "primary_metric",
        "primary_value",
        "score",
        "value",
        "objective",
        "fitness",
        "metric_score",
        "mean",
        "after",
        "metric_after",
        "score_after",
        "value_after",
        "new_score",
        "new_value",
        "candidate_score",
        "overall_score",
        "avg_score",
        "composite",
        "avg",
        "average",
        "overall",
    ),
    "baseline": (
        "baseline",
        "baseline_value",
        "baseline_score",
        "baseline_metric",
        "before",
        "metric_before",
        "score_before",
        "value_before",
        "prev",
        "previous",
        "prev_best",
        "previous_best",
        "best_before",
        "incumbent",
        "incumbent_score",
    ),
    # Keys of what is measured on or with: values of several make no common series.
    "kind": (
        "machine",
        "host",
        "hardware",
        "gpu",
        "device",
        "kernel",
        "kernel_type",
        "benchmark",
        "dataset",
        "corpus",
        "taskset",
        "model",
        "module",
    ),
}
"""Field of an experiment → its keys in the logs of all projects, the most telling first."""

_NO_RESULT = re.compile(
    r"before|baseline|prev|old|parent|incumbent|champion|best|param|config|setting|env|candidate|gate|check",
    re.IGNORECASE,
)
_EVIDENCE = (
    *(key for key in KEYS["label"] if key not in ("n", "num", "number")),
    "experiment_id",
    "exp_id",
    *KEYS["commit"],
    *KEYS["idea"],
)
_EVENT = re.compile(
    r"init\w*|start\w*|config|session\w*|header|meta\w*|summary|notes?|hook|end|stop\w*|finish\w*|human\w*|heartbeat"
)

_BARE = frozenset(KEYS["metric"]) | {"result"}
"""Names of metrics that say nothing of their direction: a bare `score` was lower in a real log."""

_NAMED_METRIC = re.compile(
    r"(?:score|metric|val|valid|validation|eval|test|dev|holdout|bench|new|candidate)_\w+"
)
_RELATIVE = re.compile(r"(?:^|_)(?:delta|improvement|gain|change)(?:_|$)|_pct$|_percent$")
_FAILED_CHECK = re.compile(
    r"(?:tests?|checks?|guard|conformance|invariants?|gate|lint)(?:_|\b).*fail|fail\w*_(?:tests?|checks?|gate)"
)
_FAILED_RUN = re.compile(
    r"crash|timed?_?out|compile|build_fail|error|oom|server_failed|benchmark_failed|launch_failed"
)
_SWEPT = re.compile(
    r"ok|success|succeeded|completed|done|pass(?:ed)?|oom|crash(?:ed)?|(?:\w+_)?(?:timeout|error|failed)|\w+_violated"
)

_TELLING = re.compile(
    r"\"(?:decision|verdict|status|outcome|result)\"\s*:\s*\"(?:"
    + "|".join(sorted(map(re.escape, DECISIONS)))
    + r"|gate_fail|(?:discard|reject|keep)\w*)\"|\"(?:kept|accepted|is_kept|promoted)\"\s*:\s*(?:true|false)|\"harness_commit\"\s*:",  # noqa: E501
    re.IGNORECASE,
)


def objects_in(file: MeasuredFile) -> tuple[list[Entry], int]:
    """Return the JSON objects of a log, one per line, and the number of lines that are none.

    Nothing for a page that quotes a log.

    A line may be half written, or broken by two writers or a merge: the others stand. It may hold
    several objects, if the end of a line was not written.
    """
    found: list[Entry] = []
    broken = 0
    decoder = json.JSONDecoder()
    for line in file.lines:
        text = line.strip("\ufeff \t\x00")
        if not text:
            continue
        whole = len(found)
        try:
            while text and text[0] == "{":
                value, end = decoder.raw_decode(text)
                found.append(value)
                text = text[end:].lstrip()
        except (ValueError, RecursionError):
            del found[whole:]
        broken += bool(text)
    return ([], broken) if broken > len(found) or file.is_page else (found, broken)


def without_copies(entries: Iterable[Entry]) -> tuple[list[Entry], int]:
    """Return the entries, each once, and the number of copies.

    An interrupted writer logs a line twice. Without a time, none is a copy.
    """
    seen: set[str] = set()
    kept: list[Entry] = []
    copies = 0
    for entry in entries:
        text = (
            json.dumps(entry, sort_keys=True) if any(key in entry for key in KEYS["time"]) else ""
        )
        if text and text in seen:
            copies += 1
            continue
        seen.add(text)
        kept.append(entry)
    return kept, copies


def notes_of(broken: int, copies: int) -> list[str]:
    """Return what people should know of lines that are no experiments."""
    notes = []
    if broken:
        notes.append(f"{broken} {'line is' if broken == 1 else 'lines are'} no JSON and skipped")
    if copies:
        notes.append(
            f"{copies} {'line is' if copies == 1 else 'lines are'} logged twice and counted once"
        )
    return notes


def finite(value: object) -> float | None:
    """Return the number in a value, or None.

    Also for NaN, infinity, and an integer beyond all floats.
    """
    try:
        found = number(value)
    except OverflowError:
        return None
    return found if found is not None and isfinite(found) else None


def text_of(entry: Entry, keys: Iterable[str]) -> str | None:
    """Return the first text that is not empty."""
    return next(
        (
            text
            for key in keys
            if isinstance(value := entry.get(key), str) and (text := value.strip())
        ),
        None,
    )


def time_of(entry: Entry) -> datetime | None:
    """Return when an entry was logged.

    A date alone is no time: it would put the experiment before all others of its day.
    """
    for key in KEYS["time"]:
        value = entry.get(key)
        if (
            found := written_time(value)
            if isinstance(value, str) and len(value) > len("2026-01-01")
            else unix_time(value)
        ):
            return found
    return None


def spent(entry: Entry) -> dict[str, Any]:
    """Return duration, cost, tokens and model of an entry, as fields of an experiment."""
    duration = next(
        (
            ms * scale
            for key, scale in _DURATIONS.items()
            if (ms := finite(entry.get(key))) is not None and ms > 0
        ),
        None,
    )
    cost = next(
        (usd for key in KEYS["cost"] if (usd := finite(entry.get(key))) is not None and usd >= 0),
        None,
    )
    tokens = next(
        (count for key in KEYS["tokens"] if (count := finite(entry.get(key))) is not None), None
    )
    parts = [finite(entry.get(key)) for key in ("input_tokens", "output_tokens")]
    if tokens is None and None not in parts:
        tokens = sum(part for part in parts if part is not None)
    return {
        "duration_ms": round(duration) if duration is not None and duration < 1e13 else None,
        "cost_usd": None if cost is None else Decimal(repr(cost)),
        "tokens": round(tokens) if tokens is not None and 0 <= tokens < 1e15 else None,
        "model": text_of(entry, ("model", "agent_model")),
    }


def secondary_of(values: object, without: str | None = None) -> dict[str, float | str]:
    """Return numbers and short texts among values of other metrics; ports put texts there, too."""
    found: dict[str, float | str] = {}
    for key, value in values.items() if isinstance(values, dict) else ():
        is_short = isinstance(value, str) and 0 < len(value) <= 200
        if key != without and (
            is_short or (not isinstance(value, str) and finite(value) is not None)
        ):
            found[key] = value
            if len(found) == 100:
                break
    return found


def _may_hold(beginning: str) -> bool:
    if "{" not in beginning[:4096]:
        return False
    is_sweep = re.search(r"\"status\"\s*:\s*\"(?:ok|success|completed)\"", beginning)
    return bool(_TELLING.search(beginning)) or (
        is_sweep is not None
        and any(f'"{key}"' in beginning for key in ("params", "config", "settings"))
    )


def _read(file: MeasuredFile) -> Iterable[Loop]:
    entries, broken = objects_in(file)
    entries, copies = without_copies(entries)
    rows, are_decided = _experiments_among(entries)
    if not rows:
        return
    metric = _metric(rows, entries)
    values = [None if metric is None else _value(row, metric.key) for row in rows]
    experiments = [_experiment(row, value, metric) for row, value in zip(rows, values, strict=True)]
    no_gain = _no_gain(rows, experiments, metric) if are_decided else NO_DECISIONS
    baseline = (
        None if no_gain or not metric else _baseline_apart(rows[0], experiments[0], metric.key)
    )
    if not no_gain and baseline is None:
        experiments = baseline_first(experiments)
    better, better_from = Better.UNKNOWN, None
    if metric and metric.key:
        first = [Experiment(state=State.BASELINE, value=baseline)] if baseline is not None else []
        better, better_from = _direction(rows, [*first, *experiments], metric)
    yield Loop(
        experiments=with_repeats(experiments) if are_decided else experiments,
        name=text_of(rows[0], ("loop", "loop_name", "session", "study", "project")),
        metric=metric.name if metric else None,
        unit=text_of(rows[0], ("unit", "metric_unit", "metricUnit"))
        or unit_of((metric and metric.name) or ""),
        better=better,
        better_from=better_from,
        baseline=baseline,
        baseline_commit=None
        if baseline is None
        else _constant_commit(rows) or text_of(rows[0], KEYS["commit before"]),
        no_gain=no_gain,
        notes=notes_of(broken, copies),
        cost_basis=_cost_basis(rows),
    )


def _experiments_among(entries: Sequence[Entry]) -> tuple[list[Entry], bool]:
    """Return the entries that are experiments, and whether they have decisions.

    None for results of tests, jobs, labels of data.

    A loop counts its tries, names commits or ideas, and decides on one in five; it may also be a
    study of harnesses, or a sweep.
    """
    rows = [
        entry
        for entry in entries
        if (_decisions(entry) or _is_undecided(entry)) and not is_event(entry)
    ]
    decided = sum(
        any(state in DECIDED or word.lower() == "crash" for state, word in _decisions(row))
        for row in rows
    )
    are_tries = sum(map(_is_try, rows)) * 2 >= len(rows) or _are_numbered_tries(rows)
    if (
        decided
        and decided >= 0.2 * len(rows)
        and are_tries
        and len(rows) * 2 >= len(entries)
        and any(map(_has_value, rows))
    ):
        return rows, True
    if entries and all(
        "harness_commit" in entry and "results_dir" in entry for entry in entries
    ):  # one job of a benchmark per line
        return list(entries), False
    swept = [
        entry
        for entry in entries
        if isinstance(word := entry.get("status"), str)
        and _SWEPT.fullmatch(word.lower())
        and text_of(entry, KEYS["description"])
        and any(key in entry for key in KEYS["label"])
        and any(map(entry.get, ("params", "config", "settings")))
    ]
    is_sweep = len(swept) == len(entries) and any(
        finite(entry.get(key)) is not None for entry in swept for key in KEYS["metric"]
    )
    return (swept, False) if is_sweep else ([], False)


def _is_try(entry: Entry) -> bool:
    """Return whether an entry counts tries, or names a commit or an idea.

    Labels of data and results of tests have decisions, too.
    """
    return any(entry.get(key) not in (None, "") for key in _EVIDENCE)


def _are_numbered_tries(rows: Sequence[Entry]) -> bool:
    """Return whether entries are numbered from a baseline on.

    Labels of data have numbers as well, and no baseline.
    """
    numbers = [row.get("number") for row in rows]
    is_first_baseline = any(
        state is State.BASELINE for row in rows[:1] for state, _ in _decisions(row)
    )
    return (
        is_first_baseline
        and numbers[0] in (0, 1)
        and numbers == [*range(numbers[0], numbers[0] + len(rows))]
    )


def _is_undecided(entry: Entry) -> bool:
    return _is_try(entry) and any(key in entry and entry[key] is None for key in KEYS["decision"])


def is_event(entry: Entry) -> bool:
    """Return whether an entry is marked as something else than an experiment.

    A start, a summary.
    """
    return any(
        isinstance(word := entry.get(key), str) and _EVENT.fullmatch(word.lower())
        for key in ("event", "type", "kind")
    )


def _decisions(row: Entry) -> list[tuple[State, str]]:
    """Return what the keys of decisions say: state and word.

    A count, such as `"kept": 3` in a summary, is no decision.
    """
    found = []
    for key in KEYS["decision"]:
        value = row.get(key)
        if isinstance(value, str) and value.strip():
            found.append((state_of(value), value.strip()))
        elif isinstance(value, bool) and key in KEYS["flag"]:
            found.append((State.KEPT, key) if value else (State.DISCARDED, f"not {key}"))
    return found


def _has_value(row: Entry) -> bool:
    """Return whether an entry has a number that a loop could improve, or a change of one."""
    numbers = {key: value for key, value in _flat(row).items() if finite(value) is not None}
    return any(
        key in KEYS["metric"]
        or _RELATIVE.search(key)
        or not (isinstance(value, str) or _is_side(key))
        for key, value in numbers.items()
    )


def _flat(row: Entry) -> dict[str, Any]:
    """Return the values of an entry with those in its objects, by their keys.

    `loss` for `{"metrics": {"loss": 1}}`.

    A key that several objects have is `validation.sharpe`. What was measured before the try, and
    what it was given, are no results.
    """
    found = dict(row)
    inside = [
        (path, value)
        for path, value in _leaves(row)
        if len(path) > 1 and not any(map(_NO_RESULT.search, path[:-1]))
    ]
    times = Counter(path[-1] for path, _ in inside)
    for path, value in inside:
        found.setdefault(path[-1] if times[path[-1]] == 1 else ".".join(path[-2:]), value)
    return found


def _leaves(row: Entry, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield keys and value of each value of an entry, also in its objects; objects are left out."""
    for name, value in row.items():
        if isinstance(value, dict) and len(above) < 3:
            yield from _leaves(value, (*above, name))
        else:
            yield (*above, name), value


def _state(row: Entry) -> tuple[State, str | None]:
    """Return the state and the word for it: the decision, or why a try was not kept."""
    reason = text_of(row, ("reason", "failure_reason")) or ""
    found = _decisions(row)
    ranked = (
        State.BASELINE,
        State.CRASHED,
        State.CHECKS_FAILED,
        State.KEPT,
        State.DISCARDED,
        State.OTHER,
    )
    state, word = min(found, key=lambda one: ranked.index(one[0]), default=(State.OTHER, ""))
    if word.removeprefix("not ") in KEYS["flag"] and re.fullmatch(r"[\w-]{1,40}", reason):
        word = reason
    if state is State.DISCARDED:
        words = f"{word} {reason}".lower().replace(" ", "_")[:80]
        if row.get("build_passed") is False or _FAILED_RUN.search(word.lower()):
            state = State.CRASHED
        elif _FAILED_CHECK.search(words):
            state = State.CHECKS_FAILED
    elif state is State.OTHER and _FAILED_RUN.search(word.lower()):
        state = State.CRASHED
    elif state is State.OTHER and word.lower().endswith("_violated"):
        state = State.CHECKS_FAILED
    return state, word or None


@dataclass(frozen=True)
class _Metric:
    """What a log improves. `key` is empty if it has several values and none is the main one."""

    key: str
    name: str | None
    is_relative: bool = False


def _metric(rows: Sequence[Entry], entries: Sequence[Entry]) -> _Metric | None:
    """Return the metric by its key.

    The most telling one that has numbers, else the only number that is no count, time or cost.

    Of several such numbers it is the one whose name all entries have as a text.
    """
    counts: Counter[str] = Counter()
    known: dict[str, None] = {}  # in order
    for flat in map(_flat, rows):
        known.update(dict.fromkeys(flat))
        counts.update(
            key
            for key, value in flat.items()
            if not isinstance(value, str) and finite(value) is not None
        )
    enough = 0.3 * max((counts[key] for key in counts), default=0)
    for key in filter(known.__contains__, KEYS["metric"]):
        of_key = sum(_value(row, key) is not None for row in rows)
        if of_key and of_key >= enough:
            names = {name for row in rows if (name := _name(row, key))} or {key}
            return _Metric(key, names.pop() if len(names) == 1 else None)
    numeric = [key for key in known if counts[key] and not _is_side(key)]
    most = max((counts[key] for key in numeric), default=0)
    usual = [key for key in numeric if counts[key] >= 0.6 * most]
    texts_of: dict[str, set[object]] = {}
    for path, value in (leaf for entry in entries for leaf in _leaves(entry) if len(usual) > 1):
        texts_of.setdefault("_".join(path), set()).add(value if isinstance(value, str) else None)
    texts = {
        text for texts in texts_of.values() if len(texts) == 1 for text in texts
    }  # others say what a try changes
    if len(named := [key for key in usual if key in texts]) == 1:
        return _Metric(named[0], named[0])
    inside = {key for key in usual if not any(key in row for row in rows)}
    own = [
        key
        for key in usual
        if key not in inside and counts[key] >= max(map(counts.__getitem__, inside), default=0)
    ]
    for candidates in ([key for key in own if _NAMED_METRIC.fullmatch(key)], own, usual):
        directions = {better_by_name(key) for key in candidates}
        is_first_telling = (
            candidates is not usual and len(directions) == 1 and Better.UNKNOWN not in directions
        )
        if len(candidates) == 1 or is_first_telling:
            return _Metric(candidates[0], candidates[0])
        if candidates:
            return _Metric("", None)
    relative = [
        key
        for key in counts
        if _RELATIVE.search(key) and not re.search(r"token|cost|time|memory|vram", key)
    ]
    first = next((key for row in rows for key in row if key in relative), None)
    return _Metric(first, first, is_relative=True) if first else None


def _is_side(key: str) -> bool:
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower()
    known = (
        key in KEYS["label"]
        or key in KEYS["baseline"]
        or key in KEYS["time"]
        or key in _DURATIONS
        or name.startswith(("baseline", "best", "prev", "champion", "incumbent"))
    )
    return known or bool(SIDE.search(name))


def _value(row: Entry, key: str) -> float | None:
    """Return the value of a metric: a number, an object of one number, or one with a `value`.

    `metric` may name what `value` is.
    """
    if not key:
        return None
    value = row.get(key)
    if isinstance(value, dict):
        numbers = [
            one for one in value.values() if not isinstance(one, str) and finite(one) is not None
        ]
        return (
            finite(value.get("value"))
            if "value" in value
            else finite(numbers[0])
            if len(numbers) == 1
            else None
        )
    if key in row:
        return finite(value)
    return finite(_flat(row).get(key))


def _name(row: Entry, key: str) -> str | None:
    """Return what an entry itself calls its metric."""
    value = row.get(key)
    if isinstance(value, dict):
        return text_of(value, ("name", "metric")) or next(
            (name for name, one in value.items() if finite(one) is not None), None
        )
    written = row.get("metric")
    is_name = isinstance(written, str) and finite(written) is None and key != "metric"
    return text_of(row, ("metric",) if is_name else ("metric_name", "metricName"))


def _direction(
    rows: Sequence[Entry], experiments: Sequence[Experiment], metric: _Metric
) -> tuple[Better, str | None]:
    for key in ("direction", "metric_direction", "bestDirection", "better", "goal"):
        if (declared := direction_named(rows[0].get(key))) is not Better.UNKNOWN:
            return declared, "the log"
    if metric.key == "mean" and "passed" in rows[0]:
        return Better.HIGHER, "the share of passed tasks"
    by_name = better_by_name(metric.name or ""), "the metric's name"
    by_decisions = better_by_decisions(experiments), "the decisions"
    is_bare = metric.key in _BARE and metric.name == metric.key
    order = (by_decisions, by_name) if is_bare or metric.is_relative else (by_name, by_decisions)
    return next(
        (found for found in order if found[0] is not Better.UNKNOWN), (Better.UNKNOWN, None)
    )


def _experiment(row: Entry, value: float | None, metric: _Metric | None) -> Experiment:
    state, word = _state(row)
    if value is not None and value in (0, -1) and state in (State.CRASHED, State.CHECKS_FAILED):
        value = None
    label = next(
        (
            key
            for key in KEYS["label"]
            if isinstance(row.get(key), int | str) and not isinstance(row.get(key), bool)
        ),
        None,
    )
    description = text_of(row, KEYS["description"]) or text_of(row, ("hypothesis",))
    if isinstance(row.get("candidate"), dict):
        description = description or text_of(row["candidate"], ("description", "name"))
    patch = text_of(row, KEYS["patch"])
    lessons = [
        text
        for key in KEYS["lesson"]
        if (text := text_of(row, (key,))) and text not in (description, word)
    ]
    used = {
        *KEYS["decision"],
        *KEYS["cost"],
        *_DURATIONS,
        *KEYS["tokens"],
        *KEYS["patch"],
        *KEYS["commit"],
        *KEYS["lesson"],
        *KEYS["description"],
        "model",
        "timestamp",
        "ts",
    }
    used |= {metric.key, metric.name or ""} if metric else set()
    rest = {key: one for key, one in _flat(row).items() if key not in used and key != label}
    return Experiment(
        state=state,
        label=f"{_LABEL_WORDS.get(label, label)} {row[label]}"
        if label
        else text_of(row, KEYS["id"]),
        parent=text_of(row, ("parent", "parent_id", "parent_best_commit")),
        word=word,
        value=value,
        secondary=secondary_of(rest),
        commit=text_of(row, KEYS["commit"]),
        at=time_of(row),
        description=description,
        hypothesis="\n".join(lessons) or None,
        patch=patch if patch and "\n" in patch else None,
        **spent(row),
    )


def _baseline_apart(first: Entry, experiment: Experiment, key: str) -> float | None:
    """Return the first entry's value to beat, or None if that entry is the baseline itself."""
    begins = f"{experiment.description or ''}\n{experiment.hypothesis or ''}".lower()
    if (
        experiment.state is State.BASELINE
        or begins.startswith("baseline")
        or "\nbaseline" in begins
    ):
        return None
    unit = key.rpartition("_")[2]
    for name in (f"baseline_{key}", f"{key}_before", f"baseline_{unit}", *KEYS["baseline"]):
        if name != key and (found := finite(first.get(name))) is not None:
            return found
    return None


def _constant_commit(rows: Sequence[Entry]) -> str | None:
    """Return the commit of the measured project if all entries name the same: `plonky3_commit`."""
    for key, value in rows[0].items():
        if (
            key.endswith("_commit")
            and key not in KEYS["commit"]
            and isinstance(value, str)
            and all(row.get(key) == value for row in rows)
        ):
            return value
    return None


def _no_gain(
    rows: Sequence[Entry], experiments: Sequence[Experiment], metric: _Metric | None
) -> str | None:
    """Return why the values make no common series, or None."""
    if metric is None:
        return "It has no value that every experiment measures."
    if not metric.key:
        return "It has several values, and does not say which one it improves."
    if metric.name is None:
        return "It improves several metrics."
    if metric.is_relative:
        return "Its values are changes against what was kept then, without a value of the baseline."
    if any(
        "machine" in row and ("parent_best_commit" in row or "delta_vs_best" in row) for row in rows
    ):
        return "It is a ledger of several machines: each one's values are relative to its own best."
    for key in KEYS["kind"]:
        kinds = {
            row[key]
            for row in rows
            if isinstance(row.get(key), str) or (key == "taskset" and key in row)
        }
        if 1 < len(kinds) <= len(rows) / 2:
            return f"Its experiments were measured with {len(kinds)} different values of `{key}`."
    return several_baselines(experiments)


def _cost_basis(rows: Sequence[Entry]) -> CostBasis | None:
    """Return what the costs are: of a benchmark's agent.

    Or all input tokens at full price, where cached ones are not counted apart.
    """
    if not any(finite(row.get(key)) is not None for row in rows for key in KEYS["cost"]):
        return None
    if any(
        key in row
        for row in rows
        for key in ("passed", "task_scores", "trials", "taskset", "n_tasks")
    ):
        return CostBasis.EVALUATED
    keys = {key for row in rows for key in row}
    return (
        CostBasis.UPPER_BOUND
        if "input_tokens" in keys and not any("cache" in key for key in keys)
        else None
    )


JSON_LINES = LoopFormat("experiments in JSON lines", _may_hold, _read)
