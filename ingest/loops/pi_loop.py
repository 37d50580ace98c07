"""Logs of Pi's autoresearch and its ports.

JSON lines of configurations and runs, of events, or of measurements only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ingest.loops.base import Experiment, Loop, LoopFormat
from ingest.loops.json_lines import (
    NO_DECISIONS,
    Entry,
    finite,
    is_event,
    notes_of,
    objects_in,
    secondary_of,
    spent,
    text_of,
    time_of,
    without_copies,
)
from ingest.loops.words import (
    DECISIONS,
    better_by_decisions,
    better_by_name,
    direction_named,
    never_zero,
    state_of,
    with_repeats,
)
from ingest.measurements.base import MeasuredFile
from schemas.rows.loop import State
from schemas.units import Better

_NAMES = ("metricName", "metric_name")
_UNITS = ("metricUnit", "metric_unit", "unit")
_DIRECTIONS = (
    "bestDirection",
    "best_direction",
    "metricDirection",
    "metric_direction",
    "direction",
)
_NUMBERS, _STATES = ("run", "iteration"), ("status", "decision")
"""Of a run, as Pi writes it; and as agents write lines of their own behind a configuration."""

_INHERITED = ("name", *_NAMES, *_UNITS, *_DIRECTIONS)
"""What a configuration takes from the one before it, as Pi does."""

_LOST_CONFIG = (
    "Its configuration line is lost: what it measures, and which direction is better, is not known."
)
_INTERLEAVED = (
    "Two sessions wrote into the log at once: experiments of other segments stand among these."
)


@dataclass
class _Segment:
    """The runs behind one configuration. `number`: of configurations seen after a run."""

    number: int
    config: Mapping[str, Any]
    runs: list[Entry] = field(default_factory=list)

    @property
    def is_mixed(self) -> bool:
        """Return whether its runs say different segments."""
        return len({run["segment"] for run in self.runs if isinstance(run.get("segment"), int)}) > 1


def _may_hold_log(beginning: str) -> bool:
    return "{" in beginning[:4096] and ('"run"' in beginning or '"status"' in beginning)


def _read_log(file: MeasuredFile) -> Iterable[Loop]:
    entries, broken = objects_in(file)
    entries, copies = without_copies(entries)
    segments = _segments(entries)
    runs = [run for segment in segments for run in segment.runs]
    decided = sum(str(run.get("status")).strip().lower() in DECISIONS for run in runs)
    if (
        not runs
        or (not segments[0].config and decided < 0.2 * len(runs))
        or len(runs) * 2 < len(entries) - len(segments)
    ):
        return
    notes = [*notes_of(broken, copies), *_stale(file)]
    folder = None
    settings = "config.json" if file.folders[-1:] == (".auto",) else "autoresearch.config.json"
    if file.neighbour(settings):
        folder = text_of(file.beside(settings), ("workingDir", "working_dir"))
    is_mixed = False
    for segment in segments:
        is_mixed = (
            is_mixed or segment.is_mixed
        )  # from there on it is not known which session a run is of
        yield _loop_of(segment, folder, notes, is_mixed)


def _segments(entries: Iterable[Entry]) -> list[_Segment]:
    """Return the segments that have runs.

    Pi counts configurations, and ignores the segments that runs say.
    """
    segments: list[_Segment] = []
    current = _Segment(0, {})
    for entry in entries:
        if _is_config(entry):
            inherited = {key: current.config[key] for key in _INHERITED if key in current.config}
            config = {
                **inherited,
                **{key: value for key, value in entry.items() if value not in (None, "")},
            }
            current = _Segment(current.number + bool(current.runs or segments), config)
        elif _is_run(entry, is_configured=bool(current.config)):
            if not current.runs:
                segments.append(current)
            current.runs.append(entry)
    return segments


def _is_config(entry: Entry) -> bool:
    if entry.get("type") == "config":
        return any(key in entry for key in (*_NAMES, *_DIRECTIONS))
    return text_of(entry, _NAMES) is not None and "run" not in entry and "status" not in entry


def _is_run(entry: Entry, *, is_configured: bool) -> bool:
    """Return whether an entry is an experiment.

    Hooks, notes and summaries have neither a number nor a metric.
    """
    if is_event(entry):
        return False
    numbers, states = (_NUMBERS, _STATES) if is_configured else (_NUMBERS[:1], _STATES[:1])
    is_numbered = any(
        isinstance(entry.get(key), int) and not isinstance(entry[key], bool) for key in numbers
    )
    has_value = finite(entry.get("metric")) is not None
    has_state = any(isinstance(entry.get(key), str) for key in states)
    return is_numbered + has_value + has_state >= 2


def _loop_of(segment: _Segment, folder: str | None, notes: Sequence[str], is_mixed: bool) -> Loop:
    config = segment.config
    metric, unit = text_of(config, _NAMES), text_of(config, _UNITS)
    experiments = [_experiment(run, metric) for run in segment.runs]
    can_be_zero = not never_zero(metric or "", unit) and any(
        one.value == 0 and one.state is State.KEPT for one in experiments
    )
    if (
        not can_be_zero
    ):  # a failed run is logged with 0, and so is one that was stopped or measured nothing
        is_lower = direction_named(text_of(config, _DIRECTIONS)) is not Better.HIGHER
        experiments = [
            replace(one, value=None)
            if one.value == 0 and (is_lower or one.state in _FAILED)
            else one
            for one in experiments
        ]
    no_gain = _INTERLEAVED if is_mixed else None if config else _LOST_CONFIG
    if not no_gain:
        experiments = _with_first_as_baseline(experiments)
    better, better_from = _direction(config, metric, experiments)
    return Loop(
        experiments=with_repeats(experiments),
        name=text_of(config, ("name",)),
        metric=metric,
        unit=unit,
        better=better,
        better_from=better_from,
        segment=segment.number,
        folder=text_of(config, ("workingDir", "working_dir")) or folder,
        noise_floor=finite(config.get("noiseFloor")),
        no_gain=no_gain,
        notes=notes,
    )


_FAILED = (State.CRASHED, State.CHECKS_FAILED)


def _direction(
    config: Entry, metric: str | None, experiments: Sequence[Experiment]
) -> tuple[Better, str | None]:
    """Return the direction in the configuration.

    Without one, Pi judges as if lower were better, unless the log shows otherwise.
    """
    if not config:
        return Better.UNKNOWN, None
    if (declared := direction_named(text_of(config, _DIRECTIONS))) is not Better.UNKNOWN:
        return declared, "the log"
    if (named := better_by_name(metric or "")) is not Better.UNKNOWN:
        return named, "the metric's name"
    if (decided := better_by_decisions(experiments)) is not Better.UNKNOWN:
        return decided, "the decisions"
    return Better.LOWER, "the default of Pi"


def _with_first_as_baseline(experiments: Sequence[Experiment]) -> list[Experiment]:
    """Return the experiments, the first measured one as the baseline.

    In Pi it is, whatever its decision.
    """
    listed = list(experiments)
    declared = next(
        (place for place, one in enumerate(listed) if one.state is State.BASELINE), None
    )
    first = next(
        (
            place
            for place, one in enumerate(listed)
            if one.value is not None and one.state not in _FAILED
        ),
        None,
    )
    if declared is None and first is not None:
        listed[first] = replace(listed[first], state=State.BASELINE)
    return listed


def _experiment(run: Entry, metric: str | None) -> Experiment:
    metrics = run.get("metrics") if isinstance(run.get("metrics"), dict) else {}
    value = finite(run.get("metric"))
    if value is None and metric and isinstance(metrics, dict):
        value = finite(metrics.get(metric))
    secondary = secondary_of(metrics, metric)
    if (
        run.get("metricEligible") is False and value is not None and metric
    ):  # a port's run that must not be the best
        secondary[metric], value = value, None
    return Experiment(
        state=state_of(text_of(run, _STATES)),
        label=next(
            (f"{key} {run[key]}" for key in _NUMBERS if isinstance(run.get(key), int)), None
        ),
        word=text_of(run, _STATES),
        value=value,
        secondary=secondary,
        commit=text_of(run, ("commit",)),
        at=time_of(run),
        description=text_of(run, ("description",)),
        hypothesis=_learned(run.get("asi")),
        **spent(run),
    )


def _learned(asi: object) -> str | None:
    """Return the hypothesis, and the agent's other remarks on a run."""
    if isinstance(asi, str):
        return asi.strip() or None
    if not isinstance(asi, dict):
        return None
    first = text_of(asi, ("hypothesis",))
    others = [
        f"{key}: {value.strip()}"
        for key, value in asi.items()
        if key != "hypothesis" and isinstance(value, str) and value.strip()
    ]
    return "\n".join([*([first] if first else []), *others]) or None


def _stale(file: MeasuredFile) -> list[str]:
    """Return a note for a flat log that Pi no longer continues.

    Since its version 1.6 the files in `.auto` count.
    """
    is_flat = file.file_name == "autoresearch.jsonl" and file.folders[-1:] != (".auto",)
    place = file.neighbour(".auto/log.jsonl") if is_flat else None
    return (
        ["`.auto/log.jsonl` in the same folder continues this log"]
        if place and place.is_file()
        else []
    )


def _read_events(file: MeasuredFile) -> Iterable[Loop]:
    """Read runs and their results, two lines each.

    A run without a result stays open; a result without its run is an experiment, too.
    """
    entries, broken = objects_in(file)
    entries, copies = without_copies(entries)
    segments: list[tuple[Entry, list[tuple[Entry, Entry]]]] = []
    by_id: dict[str, tuple[int, int]] = {}
    for entry in entries:
        kind, config = entry.get("kind"), entry.get("config")
        if kind == "init" and isinstance(config, dict):
            segments.append((config, []))
        elif kind in ("run", "result") and segments:
            tries = segments[-1][1]
            place = by_id.get(str(entry.get("run_id"))) if kind == "result" else None
            if place:
                run, _ = segments[place[0]][1][place[1]]
                segments[place[0]][1][place[1]] = run, entry
            else:
                tries.append((entry, {}) if kind == "run" else ({}, entry))
                by_id[str(entry.get("id"))] = len(segments) - 1, len(tries) - 1
    number = 0
    for config, tries in segments:
        if not tries:
            continue
        experiments = [_of_events(run, result) for run, result in tries]
        is_open = experiments[0].value is None
        better = direction_named(text_of(config, _DIRECTIONS))
        yield Loop(
            experiments=with_repeats(
                experiments if is_open else _with_first_as_baseline(experiments)
            ),
            name=text_of(config, ("name",)),
            metric=text_of(config, ("metric", *_NAMES)),
            unit=text_of(config, _UNITS),
            better=better,
            better_from=None if better is Better.UNKNOWN else "the log",
            segment=number,
            folder=text_of(config, ("working_dir", "workingDir")),
            no_gain="Its baseline has no result." if is_open else None,
            notes=notes_of(broken, copies),
        )
        number += 1


def _of_events(run: Entry, result: Entry) -> Experiment:
    kept, value = result.get("kept"), finite(result.get("metric_value"))
    if not result:
        state, word = State.OTHER, None
    elif kept is True:
        state, word = State.KEPT, "kept"
    elif result.get("checks_passed") is False:
        state, word = State.CHECKS_FAILED, "checks failed"
    elif kept is False:
        state, word = (State.CRASHED if value is None else State.DISCARDED), "not kept"
    else:
        state, word = State.OTHER, None
    return Experiment(
        state=state,
        word=word,
        value=value,
        secondary=secondary_of(result.get("metrics")),
        commit=text_of(result, ("commit_after",)) or text_of(run, ("commit_before",)),
        at=time_of(result) or time_of(run),
        description=text_of(run, ("idea", "description")),
        identity=text_of(run, ("id",)) or text_of(result, ("run_id", "id")),
        **spent(result),
    )


def _read_measured(file: MeasuredFile) -> Iterable[Loop]:
    """Read measurements without decisions.

    Those of one commit repeat each other, unless there were changes beside it.
    """
    entries, broken = objects_in(file)
    entries, copies = without_copies(entries)
    runs = [
        entry
        for entry in entries
        if entry.get("type") == "run" and "primary" in entry and text_of(entry, _NAMES)
    ]
    if not runs or len(runs) * 2 < len(entries):
        return
    metrics = {text_of(run, _NAMES) for run in runs}
    better = {direction_named(text_of(run, _DIRECTIONS)) for run in runs}
    same = next(iter(better)) if len(better) == 1 and len(metrics) == 1 else Better.UNKNOWN
    experiments: list[Experiment] = []
    places: dict[str, int] = {}
    for place, run in enumerate(runs, 1):
        one = _of_measured(run)
        git = _part(run, "git")
        if one.commit and one.value is not None and git.get("dirty") is False:
            first = places.setdefault(one.commit, place)
            one = replace(one, repeats=first if first != place else None)
        experiments.append(one)
    yield Loop(
        experiments=experiments,
        name=text_of(runs[0], ("name", "id")),
        metric=next(iter(metrics)) if len(metrics) == 1 else None,
        unit=text_of(runs[0], _UNITS),
        better=same,
        better_from=None if same is Better.UNKNOWN else "the log",
        no_gain=NO_DECISIONS,
        notes=notes_of(broken, copies),
    )


def _of_measured(run: Entry) -> Experiment:
    measure, checks, git = _part(run, "measure"), _part(run, "checks"), _part(run, "git")
    value = finite(run.get("primary"))
    is_failed = value is None or measure.get("exit_code") not in (None, 0)
    has_failed_checks = checks.get("exit_code") not in (None, 0) or run.get("passed") is False
    return Experiment(
        state=State.CRASHED
        if is_failed
        else State.CHECKS_FAILED
        if has_failed_checks
        else State.OTHER,
        value=value,
        secondary=secondary_of(run.get("metrics"), text_of(run, _NAMES)),
        commit=text_of(git, ("commit",)),
        at=time_of(run),
        description=text_of(run, ("description", "note", "message")),
        **spent(measure),
    )


def _part(entry: Entry, key: str) -> Entry:
    value = entry.get(key)
    return value if isinstance(value, dict) else {}


PI_LOG = LoopFormat("Pi autoresearch log", _may_hold_log, _read_log, ('"metric',))
PI_EVENTS = LoopFormat(
    "pi-rs events", lambda beginning: '"kind"' in beginning, _read_events, ('"run_id"',)
)
HILL_CLIMBING = LoopFormat(
    "hill-climbing log",
    lambda beginning: '"metric_name"' in beginning or '"direction"' in beginning,
    _read_measured,
    ('"primary"',),
)
