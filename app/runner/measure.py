"""Runs a benchmark in turns on a baseline and on a candidate, until what it shows is decided."""

from __future__ import annotations

import hashlib
import math
import os
import platform
import random
import re
import socket
import stat
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, NamedTuple

from app.runner import decision, trees
from app.runner.process import Reaper, ReaperDied
from ingest.measurements.base import MeasuredFile
from ingest.measurements.paired_benchmark import RUNS_OF_BLOCK, block_figures, mean_of
from ingest.measurements.tools import read_measurements
from ingest.system.files import temporary_folder
from ingest.system.secrets import scrubbed_text, scrubbed_words
from schemas.errors import UsageError
from schemas.rows.measurement import Failure, MeasuredStatus
from schemas.text import did_you_mean, one_line, paired, plural
from schemas.units import Better, stored_unit
from schemas.wire.paired_benchmark import (
    Arm,
    BenchmarkRun,
    Machine,
    MeasureVerdict,
    PairedBenchmark,
    Series,
)

OUT = "{out}"

USUAL_EFFECT = 1.10
"""The ratio that a measurement is planned to find, unless a smaller one is claimed."""

LEAST_EFFECT = 1.02
_LEAST_BLOCKS = 2
_NOISE_SHARE = 1 / 3
"""Least number of blocks of each phase, and the share of a time limit that the noise may take."""

_HANGS_AFTER = 5
"""A candidate hangs if its first run takes so many times as long as that of the baseline, and the
time limit ends it.
"""

_GRACE_SECONDS = 2.0
_MOST_OUTPUT = 64 << 20
"""Most bytes that are read of a benchmark's file, or of the end of its output."""

_MOST_NAMED = 3
_STATISTICS = ("median", "mean", "min", "total", "rate", None)
"""The statistic that speaks for a run of a benchmark, in this order."""


@dataclass(frozen=True)
class Subject:
    """What is measured: a repository, and the candidate as a revision or a patch of the baseline.

    `claimed`: the ratio to verify.
    """

    repo: Path
    baseline: str
    candidate: str | None = None
    patch: bytes | None = None
    patch_sha256: str | None = None
    run_id: str | None = None
    task: str | None = None
    claimed: float | None = None


@dataclass(frozen=True)
class Procedure:
    """How it is measured.

    `command` is run in each work tree; `{out}` in it is the file that the benchmark writes.

    `setup`, `check`: shell commands in each tree. `runs`: of each side; `until`: half-width of the
    interval (0.02: ±2 %). `metric`: the figure of a benchmark's output; `regex`: a pattern whose
    first group is the figure, in `unit`. Otherwise wall time is measured, or with `{out}` the main
    figures of the file.
    """

    command: Sequence[str]
    setup: str | None = None
    check: str | None = None
    runs: int | None = None
    until: float | None = None
    max_minutes: float | None = None
    metric: str | None = None
    regex: str | None = None
    unit: str | None = None
    better: Better | None = None


class Measurand(NamedTuple):
    """What a run measures: one benchmark's metric, in a stored unit."""

    benchmark: str | None
    metric: str
    statistic: str | None
    unit: str
    better: Better


class _Failed(Exception):
    """A command of one side failed. The text says how."""

    def __init__(self, arm: Arm, failure: Failure, detail: str) -> None:
        super().__init__(detail)
        self.arm, self.failure, self.detail = arm, failure, detail


@dataclass
class _Side:
    """The work tree of one side.

    `made`: its files by commit and patch; `files`: the same, then all that was seen in it last.
    """

    tree: Path
    made: Mapping[str, trees.TreeEntry] = field(default_factory=dict)
    files: Mapping[str, trees.TreeEntry] = field(default_factory=dict)


@dataclass
class _State:
    """A measurement in progress.

    `rewritten`: files of the commit that the commands change on the baseline, before the candidate
    ever ran.
    """

    subject: Subject
    procedure: Procedure
    folder: Path
    sides: Mapping[Arm, _Side]
    reaper: Reaper
    say: Callable[[str], None]
    advance: Callable[[int, int], None]
    deadline: float
    quantities: list[Measurand] = field(default_factory=list)
    runs: list[BenchmarkRun] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    planned: int = 0
    ended_by: str = ""
    rewritten: set[str] = field(default_factory=set)


def measure(
    subject: Subject,
    procedure: Procedure,
    say: Callable[[str], None] = lambda _: None,
    advance: Callable[[int, int], None] = lambda _done, _total: None,
) -> PairedBenchmark:
    """Measure, and return what was measured.

    `say` gets sentences about the progress, `advance` the runs that are done and planned.

    A candidate that does not apply, set up, pass its check or run is a failure in the result. An
    interrupt ends it early: whole blocks count. Raises UsageError if the baseline cannot be
    measured.
    """
    _check_procedure(procedure)
    baseline = trees.commit_of(subject.repo, subject.baseline)
    candidate = trees.commit_of(subject.repo, subject.candidate) if subject.candidate else None
    started_at = datetime.now(UTC)
    failed = None
    with ExitStack() as stack:
        folder, *places = (stack.enter_context(_folder()) for _ in range(1 + len(Arm)))
        sides = {arm: _Side(place / "tree") for arm, place in zip(Arm, places, strict=True)}
        deadline = (
            time.monotonic() + procedure.max_minutes * 60 if procedure.max_minutes else math.inf
        )
        state = _State(
            subject, procedure, folder, sides, stack.enter_context(Reaper()), say, advance, deadline
        )
        try:
            _make_trees(state, baseline, candidate)
            for arm in Arm:
                _set_up(state, arm)
                _warm_up(state, arm)
            _find_noise(state)
            _compare(state)
        except _Failed as error:
            if error.failure is Failure.TIMEOUT and state.runs:
                state.ended_by = "time"
            elif error.arm is Arm.BASELINE and len(_blocks(state, "compared", [0])) < 2:
                raise UsageError(
                    f"the baseline cannot be measured: {error.detail}",
                    "Try the command in a work tree of the baseline.",
                ) from None
            else:
                failed, state.ended_by = (
                    (error, "") if error.arm is Arm.CANDIDATE else (None, "baseline")
                )
        except KeyboardInterrupt:
            if not state.runs:
                raise
            state.ended_by = "interrupted"
    runs = _whole_blocks(state.runs)
    return PairedBenchmark(
        tachograph_measure=1,
        version=version("tachograph"),
        measured_at=started_at.isoformat(),
        ended_at=datetime.now(UTC).isoformat(),
        repo=trees.name_of(subject.repo),
        run_id=subject.run_id,
        task=subject.task,
        baseline_commit=baseline,
        candidate_commit=candidate,
        patch_sha256=subject.patch_sha256
        or (hashlib.sha256(subject.patch).hexdigest() if subject.patch is not None else None),
        command=scrubbed_words(procedure.command),
        setup=procedure.setup and scrubbed_text(procedure.setup),
        check=procedure.check and scrubbed_text(procedure.check),
        machine=_machine(),
        planned_blocks=state.planned,
        ended_by=state.ended_by,
        failure=failed.failure if failed else None,
        failure_detail=failed.detail if failed else None,
        series=[
            _series(state, members, runs, is_failed=failed is not None)
            for members in _parts(state.quantities)
        ],
        runs=runs,
    )


def _check_procedure(procedure: Procedure) -> None:
    """Raise UsageError for options that make no sense together."""
    if not procedure.command:
        raise UsageError(
            "no command to measure.",
            "Give it after two dashes: tachograph measure RUN -- pytest benchmarks/",
        )
    if procedure.regex is not None:
        try:
            groups = re.compile(procedure.regex).groups
        except re.error as error:
            raise UsageError(
                f"--regex {procedure.regex!r} is no regular expression: {error}."
            ) from error
        if groups != 1:
            raise UsageError(
                f"--regex {procedure.regex!r} has {plural(groups, 'group')}.",
                "Put the number in one group: --regex 'took ([0-9.]+) s'",
            )
        unit = stored_unit(procedure.unit)
        if unit is None:
            raise UsageError("--regex needs the unit of its number.", "For example: --unit ms")
        if not procedure.better and unit.better is Better.UNKNOWN:
            raise UsageError(
                f"whether more {procedure.unit} are better is unknown.",
                "Say it: --better lower or --better higher",
            )
    elif procedure.unit:
        raise UsageError("--unit is the unit of --regex.", "Give both, or neither.")


@contextmanager
def _folder() -> Iterator[Path]:
    """Yield a folder with a name that nobody can guess, which only this user may enter.

    Names of all of them are equally long.
    """
    with tempfile.TemporaryDirectory(
        prefix="measure-", dir=temporary_folder(), ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


def _make_trees(state: _State, baseline: str, candidate: str | None) -> None:
    """Make both work trees, and note what is in them."""
    state.say("Making two work trees of the repository")
    for arm, side in state.sides.items():
        trees.check_out(
            state.subject.repo,
            candidate if arm is Arm.CANDIDATE and candidate else baseline,
            side.tree,
        )
        if arm is Arm.CANDIDATE and state.subject.patch is not None:
            try:
                trees.apply_patch(side.tree, state.subject.patch)
            except trees.PatchRefused as error:
                raise _Failed(
                    Arm.CANDIDATE,
                    Failure.PATCH,
                    f"the patch does not apply to {baseline[:12]}: {error}",
                ) from error
        side.files = trees.entries(side.tree, {})
        side.made = {name: entry for name, entry in side.files.items() if not trees.is_of_git(name)}


def _set_up(state: _State, arm: Arm) -> None:
    """Set up a side, and check it."""
    steps = (
        ("set-up", state.procedure.setup, Failure.CRASH),
        ("check", state.procedure.check, Failure.INCORRECT),
    )
    for name, command, failure in steps:
        if not command:
            continue
        state.say(f"{name.capitalize()} of the {arm}")
        code, output, _ = _run(state, ["/bin/sh", "-c", command], arm)
        if code == _TIMED_OUT:  # says nothing of the candidate
            raise _too_short(state, f"the {name} of the {arm} takes longer")
        if code:
            raise _Failed(
                arm, failure, f"the {name} failed on the {arm} ({_how(code)}): {_tail(output)}"
            )
        _compare_trees(state, arm, is_first=True)


def _warm_up(state: _State, arm: Arm) -> None:
    """Run a side once without counting it.

    With the baseline, find what is measured, and say how long a run takes.
    """
    began = time.monotonic()
    try:
        values = _measured(state, arm, is_first=True)
    except _Failed as error:
        if error.failure is Failure.TIMEOUT and (
            not state.seconds or time.monotonic() - began < _HANGS_AFTER * state.seconds[0]
        ):
            raise _too_short(state, "no run of each side ends in it") from None
        raise
    if not state.quantities:
        state.quantities = list(values)
        about = {_named(quantity) for quantity in state.quantities}
        state.say(
            f"Measuring {', '.join(sorted(about)[:4])}{' …' if len(about) > 4 else ''}; a "
            f"run takes {_words(state.seconds[-1])}"
        )


def _compare_trees(state: _State, arm: Arm, *, is_first: bool = False) -> None:
    """Compare both trees with what they must be after a command ran in that of `arm`.

    Raises _Failed for a change that nothing allows.

    While the candidate runs, nothing in the tree of the baseline changes. Files of its own commit
    and patch change only as those of the baseline do, whose commands may rewrite some (a lock file,
    a table of results) as long as the candidate has not run: `is_first`. Anything else that a
    command writes into its own tree is its own affair.
    """
    baseline, candidate = state.sides[Arm.BASELINE], state.sides[Arm.CANDIDATE]
    now = trees.entries(baseline.tree, baseline.files)
    rewritten = {name for name in trees.changes(baseline.made, now) if name in baseline.made}
    if arm is Arm.CANDIDATE:
        if not state.folder.is_dir():
            raise _Failed(
                arm,
                Failure.INCORRECT,
                "the candidate removed the folder that the measurement writes to",
            )
        _refuse(
            trees.changes(baseline.files, now), "the baseline was changed while the candidate ran"
        )
        left = trees.entries(candidate.tree, candidate.made, candidate.made)
        _refuse(
            trees.changes(candidate.made, left) - state.rewritten,
            "the candidate changed what its patch does not",
        )
    elif is_first:
        state.rewritten |= rewritten
    else:
        _refuse(
            rewritten - state.rewritten, "the baseline was changed after the candidate ran first"
        )
    baseline.files = now


def _refuse(changed: set[str], what: str) -> None:
    if changed:
        named = ", ".join(one_line(paired(name)) for name in sorted(changed)[:_MOST_NAMED])
        more = f" and {len(changed) - _MOST_NAMED:,} more" if len(changed) > _MOST_NAMED else ""
        raise _Failed(
            Arm.CANDIDATE,
            Failure.INCORRECT,
            f"{what}: {named}{more}. Its times are not those of its code",
        )


def _too_short(state: _State, why: str) -> UsageError:
    return UsageError(
        f"--max-minutes {state.procedure.max_minutes:g} is too short: {why}.",
        "Allow more, or make it shorter.",
    )


def _find_noise(state: _State) -> None:
    """Run the baseline against itself, and plan the number of blocks from the noise."""
    procedure, subject = state.procedure, state.subject
    blocks = (
        decision.NOISE_BLOCKS
        if not procedure.runs
        else min(decision.NOISE_BLOCKS, max(2, math.ceil(procedure.runs / 4)))
    )
    if procedure.max_minutes:
        possible = int((state.deadline - time.monotonic()) / (4 * _typical(state)))
        if possible < 2 * _LEAST_BLOCKS:
            least = 8 * _LEAST_BLOCKS
            raise UsageError(
                (
                    f"--max-minutes {procedure.max_minutes:g} is too short: a run takes "
                    f"{_words(state.seconds[-1])}."
                ),
                (
                    f"{least} runs are the least: allow {_words(least * _typical(state))}, or "
                    "make the benchmark shorter."
                ),
            )
        blocks = min(blocks, max(_LEAST_BLOCKS, int(possible * _NOISE_SHARE)))
    state.say(
        f"The baseline against itself: {blocks * 2 * RUNS_OF_BLOCK} runs, about "
        f"{_words(blocks * 4 * _typical(state))}"
    )
    for number in range(1, blocks + 1):
        _block(state, "noise", number, blocks)
    noise = _blocks(state, "noise", _parts(state.quantities)[0])
    claimed = subject.claimed if subject.claimed and subject.claimed > 1 else USUAL_EFFECT
    effect = max(LEAST_EFFECT, min(USUAL_EFFECT, claimed))
    if procedure.runs:
        state.planned = max(2, math.ceil(procedure.runs / RUNS_OF_BLOCK))
    elif procedure.until:
        state.planned = decision.blocks_for_width(noise, math.log1p(procedure.until))
    else:
        state.planned = decision.blocks_needed(noise, math.log(effect))
        if state.planned == decision.MOST_BLOCKS:
            state.say(
                f"The noise is large: {2 * state.planned} runs of each side may leave a "
                f"difference of {effect - 1:.0%} undecided"
            )
    runs = plural(state.planned * RUNS_OF_BLOCK, "run")
    finds = (
        ""
        if procedure.runs or procedure.until or state.planned == decision.MOST_BLOCKS
        else f" find a difference of {effect - 1:.0%}"
    )
    seconds = min(state.planned * 4 * _typical(state), state.deadline - time.monotonic())
    state.say(f"Up to {runs} of each side{finds}: about {_words(seconds)}")


def _compare(state: _State) -> None:
    """Run both sides in turns until all blocks are done, a difference is decided, or time is up."""
    procedure = state.procedure
    looks = [state.planned] if procedure.runs else decision.looks(state.planned)
    for number in range(1, state.planned + 1):
        if number > 2 and time.monotonic() + 4 * _typical(state) > state.deadline:
            state.ended_by = "time"
            return
        _block(state, "compared", number, state.planned)
        if number in looks and number < state.planned:
            found = _estimate(state, _parts(state.quantities)[0])
            if procedure.until:
                is_enough, ended = found.half_width <= math.log1p(procedure.until), "until"
            else:
                is_enough, ended = (
                    found.verdict in (MeasureVerdict.FASTER, MeasureVerdict.SLOWER),
                    "decided",
                )
            if is_enough:
                state.ended_by = ended
                return


def _block(state: _State, phase: Literal["noise", "compared"], number: int, planned: int) -> None:
    """Run one block of four, A B B A or B A A B by chance."""
    first, second = random.sample([Arm.BASELINE, Arm.CANDIDATE], 2)
    for done, arm in enumerate((first, second, second, first)):
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
        side = Arm.BASELINE if phase == "noise" else arm
        values = _measured(state, side)
        missing = next((quantity for quantity in state.quantities if quantity not in values), None)
        if missing:
            raise _Failed(
                side,
                Failure.CRASH,
                f"the {side} gave no value of {_named(missing)} in block {number}",
            )
        state.runs.append(
            BenchmarkRun(
                phase=phase,
                block=number,
                arm=arm,
                load=load,
                values=[values[quantity] for quantity in state.quantities],
            )
        )
        state.advance((number - 1) * 4 + done + 1, planned * 4)


def _measured(state: _State, arm: Arm, *, is_first: bool = False) -> dict[Measurand, float]:
    """Run the command once, and return its figures. `is_first`: the run is its warm-up.

    Raises _Failed.
    """
    procedure = state.procedure
    with tempfile.TemporaryDirectory(dir=state.folder, ignore_cleanup_errors=True) as folder:
        out = Path(folder, "out.json")
        code, output, seconds = _run(
            state, [word.replace(OUT, str(out)) for word in procedure.command], arm
        )
        if code:
            failure = Failure.TIMEOUT if code == _TIMED_OUT else Failure.CRASH
            raise _Failed(
                arm, failure, f"the command failed on the {arm} ({_how(code)}): {_tail(output)}"
            )
        state.seconds.append(seconds)
        _compare_trees(state, arm, is_first=is_first)
        return _values(state, arm, out, output, seconds)


def _values(
    state: _State, arm: Arm, out: Path, output: str, seconds: float
) -> dict[Measurand, float]:
    """Return the figures of a run. Raises _Failed."""
    procedure = state.procedure
    if procedure.regex is not None:
        found = re.findall(procedure.regex, output)
        unit = stored_unit(procedure.unit)
        try:
            value = float(found[-1].replace(",", "")) if found else math.nan
        except ValueError:
            value = math.nan
        assert unit is not None, "checked at the start"
        if not value > 0:
            raise _Failed(
                arm,
                Failure.CRASH,
                (
                    f"the output of the {arm} has no number above 0 for --regex "
                    f"{procedure.regex}: {_tail(output)}"
                ),
            )
        return {
            Measurand(
                None, procedure.metric or "figure", None, unit.unit, procedure.better or unit.better
            ): value * unit.factor
        }
    uses_file = any(OUT in word for word in procedure.command)
    if not uses_file and not procedure.metric:
        return {Measurand(None, "time", None, "ms", Better.LOWER): seconds * 1000}
    return _figures(state, arm, out if uses_file else None, output)


def _figures(state: _State, arm: Arm, out: Path | None, output: str) -> dict[Measurand, float]:
    """Return the figures in a benchmark's file or output.

    They are read as its measuring tool writes them. Raises _Failed.
    """
    where = "the file {out}" if out else "the output"
    try:
        text = output if out is None else _text_of(out)
    except ValueError as error:
        raise _Failed(
            arm, Failure.CRASH, f"{where} of the {arm} cannot be read: {error}"
        ) from error
    except OSError as error:
        raise _Failed(
            arm, Failure.CRASH, f"the command wrote no file {OUT} on the {arm}: {error.strerror}"
        ) from error
    reading = read_measurements(MeasuredFile(str(out or "output.txt"), text), "")
    if reading is None or reading.refused:
        why = reading.refused if reading else "no measuring tool writes it so"
        raise _Failed(
            arm,
            Failure.CRASH,
            (
                f"{where} of the {arm} is not understood: {why}. Use --regex and --unit, or "
                "measure wall time"
            ),
        )
    rows = [
        row
        for row in reading.rows.to_pylist()
        if row["status"] == MeasuredStatus.OK and (row["value"] or 0) > 0 and row["metric"]
    ]
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    wanted = state.procedure.metric
    if wanted is None and metrics:
        wanted = next(
            (row["metric"] for row in rows if row["is_primary"]),
            "time" if "time" in metrics else metrics[0],
        )
    rows = [row for row in rows if row["metric"] == wanted]
    if not rows:
        hint = (
            f" {did_you_mean(str(wanted), metrics)}It has: {', '.join(metrics)}" if metrics else ""
        )
        raise _Failed(
            arm,
            Failure.CRASH,
            f"{where} of the {arm} has no values of {wanted or 'any metric'}.{hint}",
        )
    by_benchmark: dict[str | None, dict[str | None, dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        by_benchmark[row["benchmark"]].setdefault(row["statistic"], row)
    found: dict[Measurand, float] = {}
    for benchmark, by_statistic in by_benchmark.items():
        row = next(
            (by_statistic[name] for name in _STATISTICS if name in by_statistic),
            next(iter(by_statistic.values())),
        )
        better = state.procedure.better or Better(row["better"])
        if better is Better.UNKNOWN:
            raise _Failed(
                arm,
                Failure.UNKNOWN,
                (
                    f"whether a higher {row['metric']} is better is unknown. Say it: --better "
                    "lower or higher"
                ),
            )
        found[Measurand(benchmark, row["metric"], row["statistic"], row["unit"] or "", better)] = (
            row["value"]
        )
    return found


_TIMED_OUT = -1000


def _run(state: _State, words: Sequence[str], arm: Arm) -> tuple[int, str, float]:
    """Run a command in a tree.

    Return its exit code, the end of its output and its wall time in seconds.
    """
    place, tree = state.folder / "output.log", state.sides[arm].tree
    left = max(0.1, state.deadline - time.monotonic()) + _GRACE_SECONDS
    try:
        code, seconds, error = state.reaper.run(words, tree, place, left)
    except ReaperDied:
        raise _Failed(
            arm,
            Failure.CRASH,
            f"the {arm} ended or stopped the process that watches it, or answered in its place",
        ) from None
    if error:
        raise UsageError(
            f"cannot start {words[0]!r} in a work tree: {error}.",
            "Is it installed, or in the repository?",
        )
    with suppress(OSError), place.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _MOST_OUTPUT))
        output = file.read(_MOST_OUTPUT).decode("utf-8", "replace")
        return _TIMED_OUT if code is None else code, output.replace(f"{tree}{os.sep}", ""), seconds
    return _TIMED_OUT if code is None else code, "", seconds


def _text_of(out: Path) -> str:
    """Return the text of a regular file.

    Raises OSError, and ValueError for what is too large or no file, which could be read for ever.
    """
    if not stat.S_ISREG(out.stat().st_mode):
        raise ValueError("it is no regular file")
    with os.fdopen(os.open(out, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        body = file.read(_MOST_OUTPUT + 1)
    if len(body) > _MOST_OUTPUT:
        raise ValueError(f"it is larger than {_MOST_OUTPUT >> 20} MB")
    return body.decode("utf-8", "replace")


def _parts(quantities: Sequence[Measurand]) -> list[list[int]]:
    """Return the quantities to judge, as indexes.

    Of several benchmarks first all those of one unit together, then each.
    """
    alike = [
        index
        for index, one in enumerate(quantities)
        if (one.unit, one.better) == (quantities[0].unit, quantities[0].better)
    ]
    return [*([alike] if len(alike) > 1 else []), *([index] for index in range(len(quantities)))]


def _series(
    state: _State, members: list[int], runs: Sequence[BenchmarkRun], *, is_failed: bool
) -> Series:
    """Return a quantity, or the geometric mean of several, with what the whole blocks show."""
    quantity = state.quantities[members[0]]
    if len(members) > 1:
        quantity = quantity._replace(benchmark=f"geometric mean of {len(members)} benchmarks")
    verdict = MeasureVerdict.FAILED if is_failed else MeasureVerdict.NOT_MEASURED
    series = Series(**quantity._asdict(), members=members, verdict=verdict)
    if is_failed or len(_blocks(state, "compared", members)) < 2:
        return series
    found = _estimate(state, members)
    sides = [
        [mean_of(run, members) for run in runs if run.phase == "compared" and run.arm is arm]
        for arm in Arm
    ]
    median, low, high, p = decision.medians(
        *(sides if quantity.better is Better.LOWER else reversed(sides))
    )
    return series.model_copy(
        update={
            "verdict": found.verdict,
            "noise_floor": math.expm1(found.floor),
            "ratio": math.exp(found.mean),
            "ratio_low": math.exp(found.mean - found.half_width),
            "ratio_high": math.exp(found.mean + found.half_width),
            "median_ratio": median,
            "median_low": low,
            "median_high": high,
            "p_value": p,
        }
    )


def _estimate(state: _State, members: Sequence[int]) -> decision.Estimate:
    return decision.estimate(
        _blocks(state, "noise", members), _blocks(state, "compared", members), state.planned
    )


def _blocks(state: _State, phase: str, members: Sequence[int]) -> list[float]:
    """Return the figure of each whole block of a phase: above 0 where the candidate is better."""
    better = state.quantities[members[0]].better if state.quantities else Better.LOWER
    return block_figures([run for run in state.runs if run.phase == phase], members, better)


def _whole_blocks(runs: Sequence[BenchmarkRun]) -> list[BenchmarkRun]:
    """Return the runs without those of a block that was not finished."""
    counts = Counter((run.phase, run.block) for run in runs)
    return [run for run in runs if counts[run.phase, run.block] == 2 * RUNS_OF_BLOCK]


def more_runs_needed(made: PairedBenchmark, effect: float) -> int:
    """Return how many more runs of each side are needed to find an effect.

    The effect may be a claimed ratio such as 1.1; 0 if there were enough runs.
    """
    series = made.series[0]
    phases = [[run for run in made.runs if run.phase == phase] for phase in ("noise", "compared")]
    noise, compared = (block_figures(runs, series.members, series.better) for runs in phases)
    spread = [*noise, *(figure - statistics.fmean(compared) for figure in compared)]
    return max(0, decision.blocks_needed(spread, math.log(effect)) - len(compared)) * RUNS_OF_BLOCK


def _machine() -> Machine:
    processor = platform.processor() or platform.machine()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
        processor = next(
            (line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
            processor,
        )
    return Machine(
        name=socket.gethostname(),
        system=platform.platform(),
        processor=processor,
        cores=os.cpu_count() or 1,
    )


def _typical(state: _State) -> float:
    """Return the median seconds of the last runs."""
    return sorted(state.seconds[-8:])[len(state.seconds[-8:]) // 2]


def _named(quantity: Measurand) -> str:
    return (
        f"{quantity.metric} of {quantity.benchmark}"
        if quantity.benchmark
        else ("wall time" if quantity.metric == "time" else quantity.metric)
    )


def _words(seconds: float) -> str:
    """Return a duration in words that a person plans with: `12 ms`, `40 s`, `3 min`, `1.5 h`."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 100:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _how(code: int) -> str:
    if code == _TIMED_OUT:
        return "it took longer than --max-minutes"
    return f"exit code {code}" if code >= 0 else f"signal {-code}"


def _tail(output: str) -> str:
    """Return the last lines of a command's output, on one line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    # of a line of 64 MB only its end is searched for secrets, which takes seconds per 10 MB
    return scrubbed_text(" / ".join(lines[-4:])[-6000:])[-600:] or "it said nothing"
