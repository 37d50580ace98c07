"""Tables of optimization loops.

`results.tsv` as autoresearch writes it, iteration tables, sweeps, and tables of changes in percent.

Their columns and words are free, so content decides. A table is a loop's log if a column has
decisions (keep, discard, crash …) in a fifth of its rows, another one has numbers, and a third one
names what was tried: a commit, a number, or a description.
"""

from __future__ import annotations

import csv
import re
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import cached_property, partial
from itertools import islice, pairwise
from statistics import median

from ingest.literals import LiteralSearch
from ingest.loops.base import Experiment, Loop, LoopFormat
from ingest.loops.words import (
    DECIDED,
    SIDE,
    baseline_first,
    better_by_decisions,
    better_by_name,
    direction_named,
    never_zero,
    number,
    several_baselines,
    state_of,
    unit_of,
    with_repeats,
)
from ingest.measurements.base import MeasuredFile, begins_json, lines_of
from ingest.measurements.words import is_hash, snake_case
from ingest.sources.times import unix_time, written_time
from schemas.rows.loop import CostBasis, State
from schemas.units import Better

_BEGINNING = 1 << 16
_WORDS = LiteralSearch(
    ("keep", "kept", "discard", "revert", "crash", "accept", "reject", "promote", "baseline"),
    leftmost=True,
)

_STRONG = re.compile(r"keep|kept|discard|revert|crash", re.IGNORECASE)
"""Words that hardly any table but a loop's has: papers, tests and chains of samples are accepted,
too, and trials have a baseline.
"""

_LEAST_DECIDED = 0.2
"""Share of the rows with a decision: at 0.3 real logs with stray rows are missed, and no foreign
table has so many.
"""

_TESTED = {
    "pass": State.KEPT,
    "fail": State.CHECKS_FAILED,
}

_LEAST_NUMBERS = 0.6
_LONGEST_WORD, _LONGEST_CELL, _LONGEST_NUMBER = 60, 300, 10
_MOST_COLUMNS = 100

_STATUS = re.compile(
    r"(?:.+_)?(?:status|decision|verdict|state|outcome|result|action|disposition|correctness)"
)
_COMMIT = re.compile(
    r"(?:\w+_)?(?:commit|sha|git|revision|rev)(?:_(?:hash|sha|id))?|(?:git_|short_)?hash"
)
_ITERATION = re.compile(
    r"(?:\w+_)?(?:iteration|iter|round|generation|gen|attempt|cycle)(?:_?(?:no|num|number|id|idx))?|it|#|no\.?|n"
)
_RUN = re.compile(
    r"(?:\w+_)?(?:run|exp|experiment|trial|candidate|config)(?:_?(?:no|num|number|id|idx|name))?|id"
)
_DESCRIPTIONS = (
    "description",
    "desc",
    "change_summary",
    "change",
    "changes",
    "summary",
    "what",
    "idea",
    "hypothesis",
    "rationale",
    "note",
    "notes",
    "comment",
    "comments",
    "reason",
    "details",
    "title",
    "label",
    "tag",
    "name",
    "experiment",
    "candidate",
)
"""Columns that say what was tried, the most telling first."""

_TIMES = (
    "timestamp",
    "datetime",
    "logged_at",
    "created_at",
    "started_at",
    "finished_at",
    "ts",
    "at",
    "time",
    "date",
)
_KNOWN = re.compile(
    "|".join(
        (
            *(each.pattern for each in (_STATUS, _COMMIT, _ITERATION, _RUN)),
            *_DESCRIPTIONS,
            *_TIMES,
        )
    ).replace("_", "[_ ]"),
    re.IGNORECASE,
)
_HYPOTHESES = ("hypothesis", "rationale", "why", "reason", "learning", "lesson")
_COSTS = ("cost_usd", "usd", "cost", "total_cost_usd", "api_cost_usd")
_TOKENS = ("tokens", "total_tokens", "tokens_used")
_GROUPS = re.compile(
    r"kernel(?:_type|_name)?|op|operator|(?:model|benchmark|workload|dataset|machine|gpu|device)(?:_?name|_?id)?|bench|task|problem|units?"
    r"|hardware|host|metric_name|metric|suite|scenario"
)
"""Columns that name what a row measures: values of two kernels make no common series."""

_MISSING = frozenset(
    ("", "-", "–", "—", "n/a", "na", "none", "null", "tbd", "nan", "?", "pending", "...")
)
_UNMEASURED = ("no-op", "hook-blocked", "metric-error")
"""States of rows that repeat the earlier value of the metric, or have none."""

_BARE = re.compile(r"(?:\w+_)?(?:score|metric|value|objective|fitness|result|total)")
"""Names without a direction: there are scores that should fall."""

_CHANGE = re.compile(
    r"(?:.+_)?(?:improvement|delta|gain|change)(?:_?(?:pct|percent|%))?|.*(?:delta|diff|speedup)_?(?:pct|percent|%)"
)
_REPLICATE = re.compile(r"(.+)[_-]r(?:ep)?\d+")

_BESIDE = ("program.md", "../program.md", "../../program.md")
_LONGEST_BESIDE = 1 << 20
_DIRECTION = re.compile(
    r"\b(?:(lower[ _-](?:is[ _-])?better|lowest\b|minimi[sz]|as low as\b)"
    r"|higher[ _-](?:is[ _-])?better|highest\b|maximi[sz]|as high as\b)"
)


@dataclass(frozen=True)
class _Table:
    """The rows below one line of headings.

    Without that line the columns are numbered, and `is_headless`.
    """

    headings: tuple[str, ...]
    rows: Sequence[list[str]]
    comments: Sequence[str]
    is_headless: bool = False

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(map(snake_case, self.headings))

    def column(self, at: int) -> list[str]:
        return [row[at] for row in self.rows]

    @cached_property
    def commit(self) -> int | None:
        """The column of commits.

        By its heading, or without headings the first one in which most values are hashes.
        """
        if not self.is_headless:
            return self.named(_COMMIT)
        for at in range(len(self.names)):
            known = [cell for cell in self.column(at) if cell.lower() not in _MISSING]
            hashes = [cell for cell in known if is_hash(cell) and not cell.isdigit()]
            if len(hashes) > 0.5 * len(known) and len(hashes) > _LEAST_DECIDED * len(self.rows):
                return at
        return None

    @property
    def is_of_iterations(self) -> bool:
        """Whether it has numbered iterations and a column `metric`."""
        return self.named(_ITERATION) is not None and bool(
            {"metric", "metric_value"} & set(self.names)
        )

    def named(self, wanted: re.Pattern[str]) -> int | None:
        return next((at for at, name in enumerate(self.names) if wanted.fullmatch(name)), None)

    def first_of(self, wanted: Sequence[str]) -> int | None:
        return next((self.names.index(name) for name in wanted if name in self.names), None)


@dataclass(frozen=True)
class _Decisions:
    """The experiments of a table. `at`: column of their decisions; `states`: what these mean."""

    table: _Table
    at: int
    states: Sequence[State]


@dataclass(frozen=True)
class _Metric:
    """A column that may be what the loop improves. `values`: None where nothing was measured."""

    at: int
    name: str
    values: Sequence[float | None]
    unit: str | None = None

    def steps(self, states: Sequence[State]) -> list[float]:
        """Return the changes from one kept value to the next."""
        return [
            after - before
            for before, after in pairwise(_kept(self.values, states))
            if after != before
        ]

    def follows(self, states: Sequence[State]) -> bool:
        """Return whether what was kept is better in this column.

        The direction is that of its name, or else either.
        """
        steps = self.steps(states)
        up = sum(step > 0 for step in steps)
        better = Better.UNKNOWN if _BARE.fullmatch(self.name) else better_by_name(self.name)
        right = {
            Better.HIGHER: up,
            Better.LOWER: len(steps) - up,
            Better.UNKNOWN: max(up, len(steps) - up),
        }[better]
        return right >= 0.7 * len(steps)


def _kept(values: Sequence[float | None], states: Sequence[State]) -> list[float]:
    return [
        value
        for value, state in zip(values, states, strict=True)
        if value is not None and state in (State.BASELINE, State.KEPT)
    ]


def _may_hold(beginning: str) -> bool:
    """Return whether one of the first lines has several cells, one with a word of decisions."""
    if begins_json(beginning):
        return False
    text, seen = f"{beginning[:_BEGINNING].lower()}\n", 0
    for _, start, end in _WORDS.find(text):
        if start >= seen:
            seen = text.index("\n", end)
            line = text[text.rfind("\n", 0, start) + 1 : seen]
            if line.count("\t") > 1 or line.count(",") > 1:
                return True
    return False


def _may_hold_iterations(beginning: str) -> bool:
    return "metric" in beginning[:_BEGINNING] and _may_hold(beginning)


def _read(file: MeasuredFile, *, iterations: bool) -> Iterator[Loop]:
    """Yield the loops of a file if its first loop is, or is not, one of numbered iterations.

    Such a loop has a column `metric`.
    """
    is_wanted: bool | None = None
    segment = 0
    for table in _tables(file.text):
        if decisions := _decisions(table):
            is_wanted = iterations == table.is_of_iterations if is_wanted is None else is_wanted
            if is_wanted:
                yield replace(_loop(decisions, file), segment=segment)
                segment += 1


ITERATION_TABLE = LoopFormat(
    "iteration table", _may_hold_iterations, partial(_read, iterations=True)
)
RESULTS_TABLE = LoopFormat("results table", _may_hold, partial(_read, iterations=False))


def _tables(text: str) -> Iterator[_Table]:
    """Yield the tables of a text: a line of headings begins one unless it repeats the last.

    Lines above the first headings are prose.
    """
    comments: list[str] = []
    headings: list[str] = []
    rows: list[list[str]] = []
    for cells in _lines_of_cells(text.lstrip("\ufeff"), comments):
        if not _are_headings(cells):
            rows.append(cells)
        elif cells != headings:
            if headings:
                yield _Table(tuple(headings), rows, comments)
            headings, rows = cells, []
    if headings:
        yield _Table(tuple(headings), rows, comments)
    elif rows:
        widths = Counter(map(len, rows))
        width = max(widths, key=lambda each: (widths[each], each))
        yield _Table(tuple(map(str, range(1, width + 1))), rows, comments, is_headless=True)


def _lines_of_cells(text: str, comments: list[str]) -> Iterator[list[str]]:
    """Yield the cells of each line that has some, and add comments to the list.

    The separator is a tab if a quarter of the lines has tabs, since a program may write into the
    same file; else a comma.
    """
    first = [line for line in islice(lines_of(text), 1000) if line.strip()][:200]
    tabs, commas = (sum(line.count(mark) > 1 for line in first) for mark in "\t,")
    separator = "\t" if tabs and tabs >= 0.25 * len(first) else ","
    if separator == "," and commas <= 0.5 * len(first):
        return
    lines = []
    for line in lines_of(text):
        if line.lstrip().startswith("#") and line.count(separator) < 2:
            comments.append(line.strip("# \t"))
        elif line.strip():
            lines.append(line)
    rows: Iterator[list[str]] = (line.split("\t") for line in lines)
    if separator == ",":
        rows = csv.reader((f"{line}\n" for line in lines), skipinitialspace=True)
    for row in rows:
        yield [cell.strip() for cell in row]


def _are_headings(cells: Sequence[str]) -> bool:
    """Return whether these cells name columns, at least two of which loops have."""
    if (
        not 3 <= len(cells) <= _MOST_COLUMNS
        or sum(_KNOWN.fullmatch(cell) is not None for cell in cells) < 2
    ):
        return False
    names = [snake_case(cell) for cell in cells if cell]
    return 3 <= len(set(names)) == len(names) and all(
        len(cell) <= _LONGEST_WORD and number(cell) is None for cell in cells
    )


def _decisions(table: _Table) -> _Decisions | None:
    """Return the experiments of a table, or None if it is no loop's log."""
    counts: list[tuple[int, bool, int, bool]] = []
    for at, name in enumerate(table.names):
        found = Counter(row[at].lower() for row in table.rows if len(row) > at)
        states = {word: state_of(word) for word in found}
        strong = sum(
            count
            for word, count in found.items()
            if states[word] is not State.OTHER and _STRONG.search(word)
        )
        decided = strong + sum(
            count
            for word, count in found.items()
            if states[word] in DECIDED and not _STRONG.search(word)
        )
        is_status = _STATUS.fullmatch(name) is not None
        if decided and (strong or is_status):
            counts.append((decided, is_status, -at, strong > 0))
    if not counts:
        return None
    decided, is_named, negative, is_strong = max(counts)
    at = -negative
    if not is_named:  # the rows may lack a column that the headings have
        at = next(
            (
                each
                for each, name in enumerate(table.names)
                if _STATUS.fullmatch(name) and abs(each - at) < 3
            ),
            at,
        )
    width = len(table.names)
    rows = [row for each in table.rows if _is_experiment(row := _aligned(each, width, at), at)]
    table = replace(table, rows=rows)
    is_counted = table.named(_ITERATION) is not None or table.named(_RUN) is not None
    is_described = table.first_of(_DESCRIPTIONS) is not None
    has_numbers = any(
        _are_numbers(table.column(each))
        for each in range(len(table.names))
        if each != at and not _is_of_row(table, each)
    )
    if not has_numbers or decided < max(1, _LEAST_DECIDED * len(rows)):
        return None
    if not (
        table.commit is not None
        or (is_strong and (is_counted or is_described))
        or (is_counted and is_described)
    ):
        return None
    words = [word.lower() for word in table.column(at)]
    more = _TESTED if "pass" in words else {}
    return _Decisions(table, at, [more.get(word) or state_of(word) for word in words])


def _aligned(cells: list[str], width: int, at: int) -> list[str]:
    """Return a cell for each column, the decision at its place.

    A row has more cells if its description has tabs, and one more or less before the decision after
    an agent changed the columns.
    """
    if len(cells) != width:
        places = [
            place
            for place, cell in enumerate(cells)
            if abs(place - at) < 3 and state_of(cell) is not State.OTHER
        ]
        strong = [place for place in places if _STRONG.search(cells[place])]
        for place in strong if len(strong) == 1 else places if len(places) == 1 else ():
            before = cells[: min(place, at)]
            cells = [*before, *[""] * (at - len(before)), *cells[place:]]
    if len(cells) > width:
        cells = [*cells[: width - 1], "\t".join(filter(None, cells[width - 1 :]))]
    return [*cells, *[""] * (width - len(cells))]


def _is_experiment(cells: Sequence[str], at: int) -> bool:
    """Return whether a row is an experiment.

    A remark has few cells, and what a benchmark writes into the same file has no word there.
    """
    word, filled = cells[at], sum(map(bool, cells))
    is_short = len(word) <= _LONGEST_WORD or state_of(word) is not State.OTHER
    is_word = bool(word) and is_short and number(word) is None
    return is_word and filled >= min(3, len(cells) - 1)


def _loop(decisions: _Decisions, file: MeasuredFile) -> Loop:
    """Return the loop of a table.

    Its metric, its direction, and its experiments, or why they make no common series.
    """
    table, states = decisions.table, decisions.states
    texts = list(_texts_beside(file))
    candidates = _candidates(decisions)
    groups = _groups(decisions)
    metric = (
        candidates[0]
        if candidates and groups
        else _metric(candidates, states, texts, table.is_headless)
    )
    notes: list[str] = []
    no_gain = None
    if not candidates:
        no_gain = "No column has values of a metric."
    elif not metric:
        names = ", ".join(table.headings[each.at] for each in candidates[:6])
        no_gain = (
            f"Several columns may be the metric ({names}), and the decisions do not tell which."
        )
    elif _CHANGE.fullmatch(metric.name):
        no_gain = (
            f"{metric.name} is a change, not a value: changes multiply, and there is no baseline."
        )
    elif groups:
        no_gain = f"Its rows measure different things ({groups})."
    elif not DECIDED & set(states):
        no_gain = "Nothing in it was kept or discarded."
    if table.is_headless:
        notes.append("It has no line of headings: the columns were recognised by their content.")
    experiments = list(_experiments(decisions, metric))
    no_gain = no_gain or several_baselines(experiments)
    if not no_gain:
        is_begun = (
            table.is_of_iterations
            and (number(table.rows[0][table.named(_ITERATION) or 0]) or 0) >= 1
        )
        experiments = baseline_first(experiments, is_named=is_begun)  # iteration 0 is the baseline
    better, better_from = (
        _direction(metric, experiments, table.comments, texts) if metric else (Better.UNKNOWN, None)
    )
    kept = _kept(metric.values, states) if metric and not no_gain else []
    if kept and max(kept) > 100 * min(kept) > 0:
        notes.append(
            "Kept values differ more than a hundredfold: they may not come from one benchmark."
        )
    settings = {
        key.strip().lower(): value.strip()
        for key, _, value in (comment.partition(":") for comment in table.comments)
    }
    has_costs = any(one.cost_usd is not None for one in experiments)
    return Loop(
        experiments=with_repeats(experiments),
        name=(settings.get("goal") or settings.get("name") or "")[:_LONGEST_CELL] or None,
        metric=None if not metric or table.is_headless else table.headings[metric.at],
        unit=metric.unit if metric else None,
        better=better,
        better_from=better_from,
        no_gain=no_gain,
        notes=notes,
        cost_basis=CostBasis.EVALUATED
        if has_costs and {"passed", "task_scores"} & set(table.names)
        else None,
    )


def _candidates(decisions: _Decisions) -> list[_Metric]:
    """Return the columns that may be the metric.

    Numbers, of a kind that loops improve, or else side values such as memory and changes.
    """
    table, states = decisions.table, decisions.states
    found: list[_Metric] = []
    for at, name in enumerate(table.names):
        if at == decisions.at or _is_of_row(table, at):
            continue
        cells = table.column(at)
        values = [number(cell) for cell in cells]
        if _are_numbers(cells):
            found.append(
                _Metric(
                    at,
                    name,
                    _measured(name, values, decisions),
                    unit_of(name),
                )
            )
    found = [each for each in found if any(value is not None for value in each.values)]
    varying = [each for each in found if len(set(each.values) - {None}) > 1]
    if len(states) > 2 and varying:  # parameters are the same in every row
        found = varying
    main = [
        each for each in found if not SIDE.search(each.name) and not _CHANGE.fullmatch(each.name)
    ]
    return main or [each for each in found if _CHANGE.fullmatch(each.name)][:1] or found


def _is_of_row(table: _Table, at: int) -> bool:
    """Return whether a column names, numbers or describes rows, so that it has no values.

    Without headings these are the commit and what stands before it.
    """
    if table.is_headless:
        return table.commit is not None and at <= table.commit
    name = table.names[at]
    return (
        name in _DESCRIPTIONS
        or name in _TIMES
        or any(each.fullmatch(name) for each in (_COMMIT, _ITERATION, _RUN))
    )


def _are_numbers(cells: Sequence[str]) -> bool:
    """Return whether most of the cells with a value have a number."""
    filled = sum(cell.lower() not in _MISSING and state_of(cell) is State.OTHER for cell in cells)
    known = sum(number(cell) is not None for cell in cells)
    return known > 0 and known >= _LEAST_NUMBERS * filled


def _measured(
    name: str, values: Sequence[float | None], decisions: _Decisions
) -> list[float | None]:
    """Return the values of a column, None for those that only say that nothing was measured.

    These are values of crashed tries that are zero; zeros of quantities that are never zero; zeros
    of discarded tries, written like the fractions of the others; and −1 where all others are
    positive.
    """
    words = decisions.table.column(decisions.at)
    rest = [value for value in values if value and value != -1]
    is_fraction = any(value is not None and not value.is_integer() for value in values)
    least = min(_kept(values, decisions.states), default=0)
    found: list[float | None] = []
    for value, state, word in zip(values, decisions.states, words, strict=True):
        is_failed = value == -1 and min(rest, default=-1) > 0 <= least
        if value == 0:
            is_stopped = state is State.DISCARDED and is_fraction and least > 0
            is_failed = state is State.CRASHED or is_stopped or never_zero(name)
        found.append(None if is_failed or word.lower() in _UNMEASURED else value)
    return found


def _metric(
    candidates: Sequence[_Metric],
    states: Sequence[State],
    texts: Sequence[tuple[str, str]],
    is_headless: bool,
) -> _Metric | None:
    """Return the metric of several candidates.

    What a text beside names, or the first one if the decisions follow it.

    Writers put the metric before the other values. If the decisions follow another column only, it
    is that one; if several, unknown.
    """
    if len(candidates) < 2:
        return candidates[0] if candidates else None
    for _, text in texts:
        sentences = list(filter(_DIRECTION.search, _sentences(text)))
        named = [
            each
            for each in candidates
            if not is_headless and any(_names(sentence, each.name) for sentence in sentences)
        ]
        if len(named) == 1:
            return named[0]
    if sum(_BARE.fullmatch(each.name) is not None for each in candidates) > 1 and not any(
        each.steps(states) for each in candidates
    ):
        return None
    if candidates[0].follows(states):
        return candidates[0]
    followed = [each for each in candidates if len(each.steps(states)) > 1 and each.follows(states)]
    return followed[0] if len(followed) == 1 and not is_headless else None


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s|\n", text.lower())


def _names(sentence: str, name: str) -> bool:
    """Return whether a sentence in lower case names a metric: `val_bpb`, or `val bpb`."""
    return (
        re.search(rf"(?<![a-z0-9]){re.escape(name).replace('_', '[ _-]')}(?![a-z0-9])", sentence)
        is not None
    )


def _direction(
    metric: _Metric,
    experiments: Sequence[Experiment],
    comments: Sequence[str],
    texts: Sequence[tuple[str, str]],
) -> tuple[Better, str | None]:
    """Return the direction of a metric, and its source.

    A comment, a text beside, the metric's name, or the decisions.
    """
    for comment in comments:
        key, _, value = comment.lower().partition(":")
        if "direction" in key and (better := direction_named(value)) is not Better.UNKNOWN:
            return better, "the log"
    for name, text in texts:
        falls = {
            bool(found[1])
            for sentence in _sentences(text)
            if _names(sentence, metric.name)
            for found in _DIRECTION.finditer(sentence)
        }
        if len(falls) == 1:
            return Better.LOWER if True in falls else Better.HIGHER, name
    by_name, by_decisions = better_by_name(metric.name), better_by_decisions(experiments)
    if _CHANGE.fullmatch(metric.name):
        if any(word in metric.name for word in ("improvement", "gain", "speedup")):
            by_name = Better.HIGHER
        kept, discarded = (
            [one.value for one in experiments if one.value is not None and one.state is state]
            for state in (State.KEPT, State.DISCARDED)
        )
        by_decisions = Better.UNKNOWN
        if kept and discarded and median(kept) != median(discarded):
            by_decisions = Better.HIGHER if median(kept) > median(discarded) else Better.LOWER
    elif _BARE.fullmatch(metric.name) and by_decisions is not Better.UNKNOWN:
        by_name = Better.UNKNOWN
    if by_name is not Better.UNKNOWN:
        return by_name, "the metric's name"
    return by_decisions, None if by_decisions is Better.UNKNOWN else "the decisions"


def _texts_beside(file: MeasuredFile) -> Iterator[tuple[str, str]]:
    """Yield name and text of the programs near a file, the nearest first.

    They are in the folder of the file and the two above it.
    """
    for name in _BESIDE:
        with suppress(OSError, ValueError):
            if (
                (path := file.neighbour(name))
                and stat.S_ISREG((status := path.stat()).st_mode)
                and status.st_size <= _LONGEST_BESIDE
            ):
                yield path.name, path.read_text("utf-8", "replace")


def _groups(decisions: _Decisions) -> str | None:
    """Return the column that groups rows, with its first values.

    Two or more of these values must stand in several rows.
    """
    table = decisions.table
    for at, name in enumerate(table.names):
        if not _GROUPS.fullmatch(name) or at == decisions.at:
            continue
        measured = [
            cell
            for cell, state in zip(table.column(at), decisions.states, strict=True)
            if cell.lower() not in _MISSING and state is not State.CRASHED
        ]
        found = Counter(measured)
        several = [
            value for value, count in found.most_common() if count > 1 and number(value) is None
        ]
        if len(several) > 1 and len(found) <= len(measured) / 2:
            return (
                f"{table.headings[at]}: "
                + ", ".join(value[:_LONGEST_WORD] for value in several[:3])
                + (" …" if len(found) > 3 else "")
            )
    return None


def _experiments(decisions: _Decisions, metric: _Metric | None) -> Iterator[Experiment]:
    """Yield the experiments of the rows; values without a column of their own are other values."""
    table = decisions.table
    commit = table.commit
    numbers = [
        at
        for each in (_ITERATION, _RUN)
        for at, name in enumerate(table.names)
        if each.fullmatch(name)
    ]
    if table.is_headless:
        numbers = [*range(commit or 0)]
    label = next((at for at in numbers if 2 * len(set(table.column(at))) > len(table.rows)), None)
    texts = [table.names.index(name) for name in _DESCRIPTIONS if name in table.names]
    free = [at for at in texts if at not in (decisions.at, label)] or [
        at for at in texts if at != decisions.at
    ]
    description = free[0] if free else len(table.names) - 1 if table.is_headless else None
    hypothesis = next((at for at in free[1:] if table.names[at] in _HYPOTHESES), None)
    parent = table.first_of(("parent", "parent_id"))
    time, cost, tokens = (table.first_of(each) for each in (_TIMES, _COSTS, _TOKENS))
    used = {
        decisions.at,
        metric.at if metric else None,
        commit,
        label,
        parent,
        description,
        hypothesis,
    }
    stems: dict[str, int] = {}

    def cell(at: int | None) -> str | None:
        return None if at is None or row[at].lower() in _MISSING else row[at]

    for place, row in enumerate(table.rows):
        value = metric.values[place] if metric else None
        found = next((found for at in texts if (found := _REPLICATE.fullmatch(row[at]))), None)
        first = stems.setdefault(found[1], place + 1) if found and value is not None else place + 1
        spent = number((cell(cost) or "").lstrip("$"))
        counted = number(cell(tokens))
        yield Experiment(
            state=decisions.states[place],
            label=(cell(label) or "")[:_LONGEST_CELL] or None,
            parent=(cell(parent) or "")[:_LONGEST_CELL] or None,
            word=row[decisions.at][:_LONGEST_CELL],
            value=value,
            secondary={
                table.headings[at]: text[:_LONGEST_CELL]
                if (figure := number(text)) is None
                else figure
                for at, text in enumerate(row)
                if at not in used and text.lower() not in _MISSING
            },
            commit=(cell(commit) or "")[:_LONGEST_CELL] or None,
            at=_time(cell(time)),
            description=cell(description),
            hypothesis=cell(hypothesis),
            cost_usd=None if spent is None else Decimal(str(spent)),
            tokens=round(counted) if counted is not None and counted >= 0 else None,
            repeats=first if first <= place else None,
        )


def _time(text: str | None) -> datetime | None:
    """Return the time in a cell: ISO 8601 with a time of day, or Unix time."""
    return written_time(text) if text and ":" in text else unix_time(number(text))
