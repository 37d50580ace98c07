"""Vocabulary of loops' logs: decisions, names of metrics, numbers, and directions.

What follows from the decisions of a log: its direction, its baseline, and repeated measurements.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from ingest.loops.base import Experiment
from ingest.measurements.words import is_hash
from schemas.rows.loop import State
from schemas.units import Better

STATES = {
    **dict.fromkeys(
        ("keep", "kept", "accept", "accepted", "promote", "promoted", "keep (reworked)"), State.KEPT
    ),
    **dict.fromkeys(
        ("discard", "discarded", "reject", "rejected", "revert", "reverted"), State.DISCARDED
    ),
    **dict.fromkeys(
        ("crash", "crashed", "oom", "error", "timeout", "timed_out", "failed", "fail"),
        State.CRASHED,
    ),
    **dict.fromkeys(
        ("checks_failed", "checks-failed", "tests_failed", "gate_fail"), State.CHECKS_FAILED
    ),
    "baseline": State.BASELINE,
}
"""Decision or status in lower case → state. Any other word is OTHER, never KEPT."""

DECIDED = frozenset((State.KEPT, State.DISCARDED, State.BASELINE))

DECISIONS = frozenset(word for word, state in STATES.items() if state in DECIDED) | {"crash"}
"""Words that show a column to be one of decisions: others, such as `failed`, stand in any table of
test results, too.
"""

_LESS = (
    "loss|bpb|bpc|nll|ppl|perplexity|latency|ttft|tpot|duration|elapsed|runtime|time|size|bytes"
    "|words|ns|us|µs|ms|sec|secs|seconds|s|min|mins|minutes|[kmg]i?b"
)
"""Quantities that should fall, and that nothing has none of: their 0 shows that nothing was
measured.
"""

_MORE = "tok|toks|tps|qps|rps|ops|tflops|gflops|flops|throughput|bandwidth"
"""Rates: they should rise, and are never 0 either."""

_LOWER = re.compile(
    rf"(?:^|_)(?:{_LESS}|wer|cer|err|error|errors|rmse|mse|mae|rate_of_errors|allocs|allocations"
    r"|cycles|instructions|miss|misses|p50|p90|p95|p99)(?:_|$)|(?:loss|bpb)$|_rate_of_error"
)
_HIGHER = re.compile(
    rf"(?:^|_)(?:{_MORE}|acc|accuracy|auc|roc|f1|f05|f2|score|tokens_per_sec|tokens_per_second"
    r"|sharpe|elo|coverage|pass|passed|passing|reward|win|winrate|bleu|rouge|precision|recall"
    r"|speedup|hits)(?:_|$)|per_s(?:ec|econd)?$|/s$"
)
_NEVER_ZERO = re.compile(rf"(?:^|_)(?:{_LESS}|{_MORE})(?:_|$)|(?:loss|bpb)$|per_s")

RATE = re.compile(
    r"(?:per_(?:s|sec|second)|/s(?:ec)?|_tps|_rps|_qps|(?:^|_)(?:toks?|tokens?|reqs?|requests?|samples|images|items|ops|frames|msgs|rows|[kmg]i?b)"
    r"_(?:s|sec))$"
)
"""Names of rates, which end like times: `tok_s`, `tokens_per_s`."""

SIDE = re.compile(
    r"(?:^|_)(?:memory|mem|vram|ram|peak|ttft|wall|mfu|num|params|batch|n|seed|p|delta|improvement|cost|usd|tokens|run|iter|iteration|exp"
    r"|experiment|no|step|steps|z|sd|std|stdev|stddev|id|index|epoch|epochs|threshold|lr|pct|duration|elapsed|lines|loc|complexity|confidence|improvements)(?:_|$)"
    r"|_mb$|_gb$|^time_s$|p_value|^#$"
)
"""Columns of numbers that are not what a loop improves, unless nothing else is there."""

_REMARK = re.compile(r"\s*(?:[(\[:;,—–]|\s-\s).*")
_LONGER = re.compile(
    r"(?:\w+_)?(?<!no_)(?<!not_)(?:(?:discard|reject|revert)(?:ed)?|(?P<crashed>crash(?:ed)?))(?:[_-][\w-]+)?"
)

_NUMBER = re.compile(
    r"[+-]?(?:(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE
)

_DIRECTION = re.compile(
    r"(lower|min|less|smaller|down|decreas)|higher|max|more|larger|greater|up\b|increas",
    re.IGNORECASE,
)

_REMEASURED = re.compile(
    (
        r"\b(?:re-?(?:run|ran|measure[ds]?|measurement|test|bench(?:mark)?|validat\w+)|confirm\w*"
        r"|verif\w+|sanity|noise check|replicate)\b"
    ),
    re.I,
)


def state_of(word: str | None) -> State:
    """Return the state for a decision or status as written.

    `KEEP`, `**keep**`, `discard (noise)`, `reverted_worse`.

    A longer word is discarded, or crashed, but never kept: `keep-candidate` may not be.
    """
    text = " ".join((word or "").lower().split())
    if text not in STATES:
        text = _REMARK.sub("", text).strip("*_`~!. \u2705\u274c\u2714\u2713\u2717\ufe0f")
    if text in STATES:
        return STATES[text]
    found = _LONGER.fullmatch(text)
    return State.OTHER if not found else State.CRASHED if found["crashed"] else State.DISCARDED


def better_by_name(metric: str) -> Better:
    """Return the better direction by the words in a metric's name, or UNKNOWN.

    Examples: `val_loss`, `tok_per_sec`. UNKNOWN without any such words, or with both kinds.
    """
    name = re.sub(r"[^a-z0-9µ/]+", "_", metric.lower())
    is_higher, is_lower = bool(_HIGHER.search(name)), bool(_LOWER.search(name))
    if RATE.search(name):
        return Better.HIGHER
    if name.endswith(("_ns", "_us", "_µs", "_ms")):  # `score_ns`
        return Better.LOWER
    return Better.UNKNOWN if is_higher == is_lower else Better.HIGHER if is_higher else Better.LOWER


def unit_of(metric: str) -> str | None:
    """Return the unit at the end of a metric's name: `ms` of `parse_ms`; a rate has none there."""
    stem, _, unit = metric.rpartition("_")
    units = ("ns", "us", "µs", "ms", "s", "sec", "seconds", "bytes", "kb", "mb")
    return unit if stem and unit in units and not RATE.search(metric) else None


def direction_named(text: object) -> Better:
    """Return the direction that a word names: `lower`, `maximize`, `higher_is_better`.

    UNKNOWN for anything else.
    """
    found = _DIRECTION.match(text.strip()) if isinstance(text, str) else None
    return Better.UNKNOWN if not found else Better.LOWER if found[1] else Better.HIGHER


def never_zero(metric: str, unit: str | None = None) -> bool:
    """Return whether a metric cannot be 0, by its name or unit: a loss, a time, a size, a rate.

    Its 0 means that nothing was measured.
    """
    name = re.sub(r"[^a-z0-9µ]+", "_", f"{metric} {unit or ''}".lower())
    return bool(_NEVER_ZERO.search(name))


def better_by_decisions(experiments: Sequence[Experiment]) -> Better:
    """Return the direction in which at least 70 % of the kept steps go.

    A single step counts unless most of the discarded tries went the same way. UNKNOWN otherwise:
    discarded tries alone show nothing, since another value may be the reason.
    """
    kept: list[float] = []
    discarded: list[float] = []
    held: float | None = None
    for one in experiments:
        if one.value is not None and one.state in (State.BASELINE, State.KEPT):
            kept.append(one.value)
            held = one.value
        elif (
            one.value is not None
            and held is not None
            and one.state is State.DISCARDED
            and one.value != held
        ):
            discarded.append(one.value - held)
    steps = [after - before for before, after in pairwise(kept) if after != before]
    up, worse_below = sum(step > 0 for step in steps), sum(step < 0 for step in discarded)
    if len(steps) > 1:
        share, least = up / len(steps), 0.7
    elif steps and (
        not discarded
        or (worse_below >= 0.5 * len(discarded)) is (up == 1)
        or worse_below * 2 == len(discarded)
    ):
        share, least = up, 1
    else:
        return Better.UNKNOWN
    return (
        Better.HIGHER if share >= least else Better.LOWER if share <= 1 - least else Better.UNKNOWN
    )


def number(cell: object) -> float | None:
    """Return the number in a cell.

    `0.98`, `1,024`, `12.5 %`, `~1890`, `+3.1`.

    None for anything else, "-", "n/a" and NaN.
    """
    if isinstance(cell, bool) or cell is None:
        return None
    if isinstance(cell, int | float):
        return float(cell) if abs(cell) < sys.float_info.max else None
    text = str(cell).strip().lstrip("~≈").rstrip("%").strip()
    if not _NUMBER.fullmatch(text):
        return None
    figure = float(text.replace(",", ""))
    return figure if math.isfinite(figure) else None


def json_number(value: object) -> float | None:
    """Return a finite number in JSON; None for anything else, true and false too."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e300 else None


def milliseconds(seconds: object) -> int | None:
    """Return a duration in seconds, in JSON, as whole milliseconds; None for anything else."""
    number_of_seconds = json_number(seconds)
    return (
        round(number_of_seconds * 1000)
        if number_of_seconds is not None and 0 <= number_of_seconds < 1e9
        else None
    )


def json_text(value: object) -> str | None:
    """Return a text in JSON without blanks around it; None for an empty one and all else."""
    return value.strip() or None if isinstance(value, str) else None


def with_repeats(experiments: Sequence[Experiment]) -> list[Experiment]:
    """Return the experiments with `repeats` set for those that measure the same code again.

    `repeats` is the place of the first experiment of this code.

    The same code is: a kept or unknown state with the commit of an earlier kept one or of the
    baseline, or a description with "baseline", "re-run", "confirm" directly after what it
    confirms. A discarded try often names the commit it began from: never the same.
    """
    found: list[Experiment] = []
    by_commit: dict[str, int] = {}
    settled = [
        (one.commit or "").lower()[:7]
        for one in experiments
        if one.state is State.BASELINE or (one.state is State.KEPT and not _is_called_baseline(one))
    ]
    are_committed = len(settled) < 2 or len({*settled}) * 2 >= len(
        settled
    )  # otherwise the agent keeps without a commit
    held = 0  # place of the code that is kept now
    for place, one in enumerate(experiments, 1):
        commit = (one.commit or "").lower()
        is_settled = one.state in (State.BASELINE, State.KEPT)
        is_telling = (
            (are_committed or _is_called_baseline(one))
            and is_hash(commit)
            and one.state in (State.BASELINE, State.KEPT, State.OTHER)
        )
        earlier = by_commit.get(commit[:7]) if is_telling else None
        # "verification loop slower than scan" measures nothing again
        begins = (one.description or "")[:30]
        if (
            earlier is None
            and held
            and one.value is not None
            and _REMEASURED.search(begins)
            and not one.patch
        ):
            earlier = found[held - 1].repeats or held
        if one.repeats is None and earlier is not None and one.value is not None:
            found.append(replace(one, repeats=earlier))
        else:
            found.append(one)
        if is_settled and one.value is not None:
            held = place
            if is_hash(commit):
                by_commit.setdefault(commit[:7], place)
    return found


def _is_called_baseline(one: Experiment) -> bool:
    return (one.description or "").strip().lower().startswith("baseline")


def baseline_first(
    experiments: Iterable[Experiment], *, is_named: bool = False
) -> list[Experiment]:
    """Return the experiments with one baseline.

    The first called so (state, description, commit, label), else the first kept with a value.

    Its status is mostly `keep`, which would count it as an improvement. `is_named`: no other than
    one called so.
    """
    listed = list(experiments)
    declared = [place for place, one in enumerate(listed) if one.state is State.BASELINE]
    called = [
        place
        for place, one in enumerate(listed)
        if one.value is not None
        and any(
            (text or "").lower().startswith("baseline")
            for text in (one.description, one.commit, one.label)
        )
    ]
    measured = [place for place, one in enumerate(listed) if one.value is not None and not is_named]
    chosen = next(iter([*declared, *called[:1], *measured]), None)
    if chosen is not None and listed[chosen].state in (State.BASELINE, State.KEPT):
        listed[chosen] = replace(listed[chosen], state=State.BASELINE)
    return listed


def several_baselines(experiments: Sequence[Experiment]) -> str | None:
    """Return a reason if a second baseline splits the tries, else None.

    A baseline behind all tries is the last measurement of what was kept.
    """
    places = [place for place, one in enumerate(experiments) if one.state is State.BASELINE]
    last = max(
        (place for place, one in enumerate(experiments) if one.state is not State.BASELINE),
        default=-1,
    )
    if not any(places[0] + count < place < last for count, place in enumerate(places)):
        return None
    return (
        f"It has {len(places)} baselines: what the values are compared with was measured anew or "
        "changed again and again."
    )


def new_bests_kept(
    experiments: Sequence[Experiment], standing: float | None = None
) -> list[Experiment]:
    """Return the experiments, those without a decision that set a new highest value as kept.

    For searches that keep the best score.

    `standing`: the highest value before them.
    """
    found, best = list[Experiment](), standing
    for one in experiments:
        is_best = (
            one.value is not None
            and one.state in (State.OTHER, State.BASELINE)
            and (best is None or one.value > best)
        )
        found.append(
            replace(one, state=State.KEPT) if is_best and one.state is State.OTHER else one
        )
        best = one.value if is_best else best
    return found
