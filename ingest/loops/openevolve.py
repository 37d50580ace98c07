"""OpenEvolve and its forks: the text log of a run, and its checkpoints.

A log has every program that was evaluated. A checkpoint is a population: replaced programs are
gone, so only its best one is read. Score: `combined_score`, else the mean of all numbers; higher is
better, always. Nothing is kept or discarded by a word: kept is a new best score. The lines "New
best" are no evidence: an old release announced a program with a score of -1000.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from ingest.context.small_files import json_object
from ingest.loops.base import Experiment, Loop, LoopFormat
from ingest.loops.words import json_number, milliseconds, new_bests_kept, number
from ingest.measurements.base import MeasuredFile
from ingest.sources.times import unix_time
from schemas.rows.loop import State
from schemas.units import Better

SCORE = "combined_score"
_BY_WRITER = "OpenEvolve maximizes its score"

_LINE = re.compile(
    r"\ufeff?(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[,.]\d{1,6})?) - (?:[\w.]+ - )?[A-Z]+ - (.*)"
)
"""The log file names the module, the console does not."""

_EVALUATED = re.compile(r"Evaluated program (\S+) in (\d+(?:\.\d+)?)s: (.*)")
_COMPLETED = re.compile(
    r"Iteration (\d{1,18}): (?:Program (\S+) \(parent: (\S+)\) completed|Child (\S+) from "
    r"parent (\S+)) in (\d+(?:\.\d+)?)s"
    r"(?:\. Metrics: (.*))?"
)
_FAILED = re.compile(
    r"(?:\S+ )?Iteration (\d{1,18})(?: error\b| failed\b| timed out|: No valid|: Generated code)"
    r"|Error (?:in|processing) .*?iteration (\d{1,18})",
    re.IGNORECASE,
)
_ENSEMBLE = "Initialized LLM ensemble with models: "
_ISLAND = re.compile(r"[ *]*Island \d+: ([1-9]\d*) programs, best=(-?\d+(?:\.\d+)?)")
_PROGRAM = "Initialized OpenEvolve with "
_FIRST_PROGRAM = "Adding initial program to database"
_RESUMED = re.compile(
    r"Skipping initial program addition(?: \(resuming from iteration (\d{1,18}))?|Resuming "
    r"from checkpoint"
)

_FLAGS = (0.0, 1.0, -1.0, "True", "False")
_PENALTY = -1000
"""Scores of failed programs are this or lower, if the first score is not negative."""


@dataclass
class _Program:
    """A program, as far as the log has its lines."""

    identity: str
    at: datetime
    iteration: int | None = None
    parent: str | None = None
    seconds: float | None = None
    metrics: Mapping[str, float | str] = field(default_factory=dict)


@dataclass
class _Run:
    """A run of OpenEvolve in a log.

    `standing`: the best score of the population that it resumes from.
    """

    name: str | None = None
    is_resumed: bool = False
    standing: float | None = None
    models: set[str] = field(default_factory=set)
    programs: dict[str, _Program] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)


def _read_log(file: MeasuredFile) -> Iterator[Loop]:
    """Yield a loop for each run in the log.

    Of several that were written to one file, each begins with its first program.
    """
    run, runs, completed = _Run(), list[_Run](), None
    logged = others = 0
    for line in file.lines:
        found = _LINE.fullmatch(line)
        if not found:
            others += bool(line.strip())
            continue
        logged += 1
        at, message = datetime.fromisoformat(found[1].replace(",", ".")), found[2]
        if message == _FIRST_PROGRAM and run.programs:
            runs.append(run)
            run = _Run(run.name, models=run.models)
        elif evaluated := _EVALUATED.fullmatch(message):
            program = run.programs.setdefault(evaluated[1], _Program(evaluated[1], at))
            program.seconds, program.metrics = float(evaluated[2]), _metrics(evaluated[3])
        elif iteration := _COMPLETED.match(message):
            identity, parent = iteration[2] or iteration[4], iteration[3] or iteration[5]
            completed = run.programs.setdefault(identity, _Program(identity, at))
            completed.iteration, completed.parent, completed.at = int(iteration[1]), parent, at
            completed.seconds = float(iteration[6])
            if iteration[7] and not completed.metrics:
                completed.metrics = _metrics(iteration[7].partition(" (Δ: ")[0])
        elif (
            message.startswith("Metrics: ") and completed and not completed.metrics
        ):  # workers' own lines may be missing
            completed.metrics = _metrics(message.removeprefix("Metrics: "))
        elif failed := _FAILED.match(message):
            run.failed.add(int(failed[1] or failed[2]))
        elif message.startswith(_PROGRAM):
            run.name = message.removeprefix(_PROGRAM)
        elif message.startswith(_ENSEMBLE):
            models = message.removeprefix(_ENSEMBLE).split(", ")
            run.models |= {model.partition(" (weight")[0].strip() for model in models}
        elif resumed := _RESUMED.match(message):
            run.is_resumed = True
            run.standing = _standing(file, resumed[1], run.standing)
        elif not run.programs and (island := _ISLAND.match(message)):
            run.standing = max(
                float(island[2]), -math.inf if run.standing is None else run.standing
            )
        if not runs and len(run.programs) == 1 and others > logged:  # a page that quotes a log
            return
    for each in (*runs, run):
        if each.programs:
            yield _loop_of(each)


def _standing(file: MeasuredFile, iteration: str | None, known: float | None) -> float | None:
    """Return the best score of the population that a run resumes from.

    As its log has it, else the checkpoint beside the log.
    """
    best = file.beside(f"../checkpoints/checkpoint_{iteration}/best_program_info.json").get(
        "metrics"
    )
    return (
        known
        if known is not None
        else json_number(best.get(SCORE))
        if isinstance(best, dict)
        else None
    )


def _loop_of(run: _Run) -> Loop:
    programs = list(run.programs.values())
    has_score = any(SCORE in program.metrics for program in programs)
    values: dict[str, list[float | str]] = {}
    for program in programs:
        for name, value in program.metrics.items():
            values.setdefault(name, []).append(value)
    flags = {
        name
        for name in values
        if {"valid", "validity"} & {*name.split("_")}
        and all(value in _FLAGS for value in values[name])
    }
    if len(values.get("error", programs)) < len(programs):  # otherwise what all measure
        flags.add("error")
    baseline = programs[0] if programs[0].iteration is None and not run.is_resumed else None
    first = _score(baseline.metrics, has_score) if baseline else run.standing
    if baseline and _failure(baseline.metrics, first, None, flags):
        first = None
    labels = {
        program.identity: f"iteration {program.iteration}"
        for program in programs
        if program.iteration is not None
    }
    if baseline:
        labels[baseline.identity] = "initial program"
    experiments = []
    for program in programs:
        score = _score(program.metrics, has_score)
        state, word = (State.BASELINE, None) if program is baseline else (State.OTHER, None)
        if reason := _failure(program.metrics, score, first, flags):
            state, word, score = State.CRASHED, reason, None
        experiments.append(
            Experiment(
                state=state,
                label=labels.get(program.identity),
                parent=labels.get(program.parent, program.parent) if program.parent else None,
                word=word,
                value=score,
                secondary={
                    name: value
                    for name, value in program.metrics.items()
                    if name != SCORE and value != word
                },
                at=program.at,
                model=next(iter(run.models))
                if len(run.models) == 1 and program is not baseline
                else None,
                duration_ms=milliseconds(program.seconds),
                identity=program.identity,
            )
        )
    notes = []
    if run.is_resumed:
        notes.append(
            "it resumes from a checkpoint: its first program and earlier ones are in another log"
        )
    if lost := run.failed - {program.iteration for program in programs}:
        notes.append(
            f"iterations without a program, as the model's answer could not be used: {len(lost)}"
        )
    is_start_known = not run.is_resumed or run.standing is not None
    return Loop(
        experiments=new_bests_kept(experiments, run.standing) if is_start_known else experiments,
        name=run.name,
        metric=SCORE if has_score else "mean of the metrics",
        better=Better.HIGHER,
        has_decisions=is_start_known,
        better_from=_BY_WRITER,
        notes=notes,
    )


def _metrics(text: str) -> dict[str, float | str]:
    """Return the metrics in `score=0.5000, error=max_diff=0.03, avg_diff=0.01`.

    After the first text all is text: it may hold further names and numbers.
    """
    found: dict[str, float | str] = {}
    parts = text.split(", ")
    for place, part in enumerate(parts):
        name, sign, written = part.partition("=")
        if not sign or not 0 < len(name) <= 100 or name[0].isspace():
            continue
        value = _number(written)
        if (
            value is None
            and not written.startswith(("[", "(", "{"))
            and written not in ("True", "False", "None")
        ):
            rest = ", ".join([written, *parts[place + 1 :]])
            score = _number(rest.partition(f", {SCORE}=")[2].partition(",")[0])
            return ({} if score is None else {SCORE: score}) | found | {name: rest}
        found[name] = written if value is None else value
    return found


def _number(text: str) -> float | None:
    return float(text) if text.lower().lstrip("+-") in ("inf", "nan") else number(text)


def _score(metrics: Mapping[str, float | str], has_score: bool) -> float | None:
    """Return the score of a program.

    Without `combined_score` in the whole log, the mean of its numbers, by which OpenEvolve goes
    then.
    """
    numbers = [
        value for value in metrics.values() if isinstance(value, float) and not math.isnan(value)
    ]
    score = (
        metrics.get(SCORE)
        if has_score
        else round(sum(numbers) / len(numbers), 9)
        if numbers
        else None
    )
    return score if isinstance(score, float) else None


def _failure(
    metrics: Mapping[str, float | str],
    score: float | None,
    first: float | None,
    flags: Collection[str],
) -> str | None:
    """Return why a program is invalid, in the words of the log; None for a valid one.

    `flags`: metrics that say nothing but whether it is.

    `error` may be a metric, too: as a number it shows a failure only without a score.
    """
    for name in ("error", "error_message"):
        error = metrics.get(name)
        if isinstance(error, str) and error not in ("", "None") and (score is None or score <= 0):
            return error
    if metrics.get("error") in (0.0, 1.0 if "error" in flags else 0.0) and (
        not score or SCORE not in metrics
    ):
        return "timeout" if metrics.get("timeout") else "error"
    if metrics.get("timeout") in (1.0, "True") and not score:
        return "timeout"
    if score is not None and not math.isfinite(score):
        return f"score {score}"
    if any(metrics.get(name) in (0.0, -1.0, "False") for name in flags if name != "error"):
        return "invalid"
    if score is not None and (
        score == _PENALTY or (score < _PENALTY and first is not None and first >= 0)
    ):
        return f"score {score:g}"
    return None


def _read_checkpoint(file: MeasuredFile) -> Iterable[Loop]:
    """Return the loop of a checkpoint.

    Its best program, then those of the checkpoints before it, which its loop so contains.

    A fork writes nothing but these two fields.
    """
    state = file.object
    best_id, last = state.get("best_program_id"), state.get("last_iteration")
    if not isinstance(best_id, str) or type(last) is not int:
        return ()
    candidates = map(
        file.beside,
        (
            "best_program_info.json",
            "../../best/best_program_info.json",
            f"programs/{Path(best_id).name}.json",
        ),
    )
    best = next(
        (
            one
            for one in candidates
            if one.get("id") == best_id and isinstance(one.get("metrics"), dict)
        ),
        None,
    )
    if best is None:
        return ()
    bests = {best_id: best}
    for place in sorted(
        file.nearby("../checkpoint_*/best_program_info.json"), key=_iteration_of, reverse=True
    ):
        earlier = json_object(place)
        if (
            _iteration_of(place) < last
            and isinstance(earlier.get("id"), str)
            and isinstance(earlier.get("metrics"), dict)
        ):
            bests.setdefault(earlier["id"], earlier)
    has_score = SCORE in best["metrics"]
    experiments = [_best_program(program, has_score, last) for program in bests.values()]
    return (
        Loop(
            experiments=experiments,
            name=next(
                (name for name in reversed(file.folders) if not name.startswith("checkpoint")), None
            ),
            metric=SCORE if has_score else "mean of the metrics",
            better=Better.HIGHER,
            better_from=_BY_WRITER,
            is_history=False,
            notes=(
                "a checkpoint has a population, not the history: only the best program is known",
            ),
        ),
    )


def _iteration_of(place: Path) -> int:
    digits = re.search(r"checkpoint_(\d{1,18})$", place.parent.name)
    return int(digits[1]) if digits else 0


def _best_program(program: Mapping[str, Any], has_score: bool, last: int) -> Experiment:
    metrics = {
        str(name): float(value)
        if isinstance(value, int | float) and not isinstance(value, bool)
        else str(value)
        for name, value in program["metrics"].items()
    }
    found_in = program.get("iteration", program.get("iteration_found"))
    return Experiment(
        state=State.KEPT,
        label=program["id"],
        parent=parent if isinstance(parent := program.get("parent_id"), str) else None,
        value=_score(metrics, has_score),
        secondary={name: value for name, value in metrics.items() if name != SCORE},
        at=unix_time(program.get("timestamp")),
        description=f"found in iteration {found_in}, the best up to iteration {last}"
        if type(found_in) is int
        else None,
        identity=program["id"],
    )


OPENEVOLVE_LOG = LoopFormat(
    "openevolve-log",
    lambda _: True,
    _read_log,
    ("Evaluated program ", "Iteration 1: Program ", "Initialized OpenEvolve with"),
)
OPENEVOLVE_CHECKPOINT = LoopFormat(
    "openevolve-checkpoint", lambda _: True, _read_checkpoint, ('"best_program_id"', '"islands"')
)
