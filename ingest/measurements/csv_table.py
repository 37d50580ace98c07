"""Plain tables of measured values, with commas, semicolons or tabs, in one of two forms.

Column names ignore case and spaces.

Long: one value per row, in `value`, with its `metric` and its `variant` (baseline|before|base,
reference|human|expert or candidate|agent|after|patched). Wide: a column `metric` or `name`, and one
column of values for at least two variants.

A unit is in the column `unit`, or behind the name of a column or metric, as in `value (ms)`,
`agent_ms`, `ttft_ms`. Optional columns are listed in `_TEXTS`, `_RUNS`, `_SPREADS` and `_STATUSES`.
`lower` and `upper` are a confidence interval. Any other column is a parameter of the benchmark,
unless its name marks it as a remark or as derived from the values. Everything else stays unknown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from ingest.measurements.base import MeasuredFile, TableLine, Tool, columns_of
from ingest.measurements.measured import (
    MOST_VALUES,
    Measured,
    ResultOrigin,
    Spread,
    TooManyValues,
)
from ingest.measurements.words import (
    NO_VALUE,
    VARIANTS,
    batch_of,
    metric_of_unit,
    quantity,
    snake_case,
    statistic_named,
    variant_named,
)
from schemas.rows.measurement import Failure, MeasuredStatus, SpreadKind, Variant
from schemas.rows.tables import shown
from schemas.units import UNITS, Better

_METRICS = ("metric", "metric_name", "measure")
_NAMES = ("benchmark", "name", "test", "benchmark_name")
_VARIANT, _VALUE = "variant", "value"

_TEXTS = {
    "repo": ("repo", "repository"),
    "task": ("task", "task_id"),
    "commit": ("commit", "commit_full", "commit_hash", "human_commit", "sha"),
    "parent": ("parent", "parent_commit", "parent_full", "base_commit"),
    "instance": ("instance", "instance_id"),
    "agent": ("agent", "agent_name"),
    "model": ("model", "agent_model"),
    "run_id": ("run_id", "run"),
    "run_path": ("run_path", "run_folder"),
    "patch_sha256": ("patch_sha256", "patch_hash"),
    "measured_by": ("measured_by",),
    "command": ("command",),
    "bench_model": ("bench_model", "served_model"),
    "machine": ("machine", "hardware", "gpu", "host"),
}

_UNIT = ("unit", "units")
_STATISTIC = ("statistic", "stat")
_BETTER = ("better", "direction")
_RUNS = ("n", "runs", "samples", "rounds")
_SPREADS = {
    SpreadKind.STD: ("std", "stdev", "stddev"),
    SpreadKind.SEM: ("sem", "stderr"),
    SpreadKind.MAD: ("mad",),
}
_BOUNDS = {
    SpreadKind.CI: (("lower", "ci_lower", "ci_low"), ("upper", "ci_upper", "ci_high")),
    SpreadKind.IQR: (("q1",), ("q3",)),
}
_STATUS, _DETAIL = ("status",), ("error", "failure_detail", "detail")
_REMARKS = frozenset(
    "author change comment comments date delta description diff file id improvement index "
    "link log note notes path percent pct ratio row "
    "speedup time timestamp url user verdict winner".split()
)
_KNOWN = frozenset(
    (
        *(
            *_METRICS,
            *_NAMES,
            *_UNIT,
            *_STATISTIC,
            *_BETTER,
            *_RUNS,
            *_STATUS,
            *_DETAIL,
            *_REMARKS,
            _VARIANT,
        ),
        *(
            name
            for names in (
                *_TEXTS.values(),
                *_SPREADS.values(),
                *(side for sides in _BOUNDS.values() for side in sides),
            )
            for name in names
        ),
    )
)

_UNITS_BEHIND_NAMES = UNITS.keys() - {"min", "x", "h", "b", "ratio", "speedup", "percent"}
"""Units allowed as a suffix: `agent_min` is a minimum, and `agent_speedup` no value of the agent's
code.
"""

_SIDES = {
    **dict.fromkeys(("lower", "smaller", "less"), Better.LOWER),
    **dict.fromkeys(("higher", "bigger", "more"), Better.HIGHER),
    "unknown": Better.UNKNOWN,
}
_STATUSES = {
    **dict.fromkeys(
        ("failed", "fail", "failure", "error"), (MeasuredStatus.FAILED, Failure.UNKNOWN)
    ),
    **dict.fromkeys(("patch", "patch_failed"), (MeasuredStatus.FAILED, Failure.PATCH)),
    **dict.fromkeys(("crash", "crashed"), (MeasuredStatus.FAILED, Failure.CRASH)),
    **dict.fromkeys(("infra", "oom"), (MeasuredStatus.FAILED, Failure.INFRASTRUCTURE)),
    "timeout": (MeasuredStatus.FAILED, Failure.TIMEOUT),
    "incorrect": (MeasuredStatus.FAILED, Failure.INCORRECT),
    **dict.fromkeys(("not_run", "skipped"), (MeasuredStatus.NOT_RUN, None)),
}
"""Words in a cell instead of a value, or in the column `status` -> status of the measurement."""

_SNIFFED_ROWS = 100


class _ValueColumn(NamedTuple):
    """A column with values. `variant`: of all of them, or None if each row has its own."""

    name: str
    variant: Variant | None
    unit: str | None


class _Table(NamedTuple):
    """A table's header. `values`: its columns with values; empty if it is in neither form."""

    is_long: bool
    values: tuple[_ValueColumn, ...]
    parameters: frozenset[str]


def _table(file: MeasuredFile) -> _Table:
    header = dict.fromkeys(file.columns)
    headed = []  # (column, its name without the unit behind it, that unit)
    for name in header:
        word, _, unit = name.partition("_")
        headed.append((name, word, unit) if unit in _UNITS_BEHIND_NAMES else (name, name, None))
    has_metric, has_name = (
        any(name in header for name in _METRICS),
        any(name in header for name in _NAMES),
    )
    is_long = has_metric and _VARIANT in header and any(word == _VALUE for _, word, _ in headed)
    if is_long:
        values = [_ValueColumn(name, None, unit) for name, word, unit in headed if word == _VALUE]
    else:
        values = [
            _ValueColumn(name, VARIANTS[word], unit)
            for name, word, unit in headed
            if word in VARIANTS
        ]
        if not (has_metric or has_name) or len({column.variant for column in values}) < 2:
            values = []
    known = {*_KNOWN, *(column.name for column in values)}
    parameters = frozenset(
        name for name in header if name and name not in known and name.split("_")[0] not in VARIANTS
    )
    return _Table(is_long, tuple(values), parameters)


def _recognises(file: MeasuredFile) -> bool:
    """Return whether the header has the structure, and the first rows fit it.

    Words for variants, or numbers.
    """
    table = _table(file)
    if not table.values:
        return False
    first = (line.cells for line in islice(file.rows, _SNIFFED_ROWS))
    if table.is_long:
        return any(variant_named(cells.get(_VARIANT)) for cells in first)
    return any(
        sum(_is_number(cells.get(column.name)) for column in table.values) > 1 for cells in first
    )


def _read(file: MeasuredFile) -> Iterator[Measured]:
    """Yield the values. A commit of several variants names the task, not the measured code."""
    table, rows = _table(file), list(file.rows)
    if len(rows) * len(table.values) > MOST_VALUES:
        raise TooManyValues(
            f"its {len(rows):,} lines have {len(table.values)} columns of values, more than "
            f"{MOST_VALUES:,} values"
        )
    found = [(line, column, _variant(line, column)) for line in rows for column in table.values]
    batch = batch_of(file.name, (variant for _, _, variant in found))
    variants: dict[str | None, set[Variant | None]] = defaultdict(set)
    for line, _, variant in found:
        variants[_first(line.cells, _TEXTS["commit"])].add(variant)
    taken = {column.name for column in table.values}
    for line, column, variant in found:
        texts = {
            field: _first(line.cells, [name for name in names if name not in taken])
            for field, names in _TEXTS.items()
        }
        if (
            not table.is_long and variant is not Variant.CANDIDATE
        ):  # in a wide table agent and model are those of the candidate
            texts |= {"agent": None, "model": None}
        name = _first(line.cells, _NAMES)
        if name and not _first(line.cells, _METRICS) and quantity(name).statistic:
            name = None  # without a column for metrics, a name with a metric names no test
        origin = ResultOrigin(
            variant,
            commit_names_task=bool(texts["commit"]) and len(variants[texts["commit"]]) > 1,
            benchmark=name,
            params={name: cell for name, cell in line.cells.items() if name in table.parameters},
            batch=batch,
            **texts,  # type: ignore[arg-type]  # every field is a text
        )
        if measured := _measured(line, column, origin):
            yield measured


def _variant(line: TableLine, column: _ValueColumn) -> Variant | None:
    """Return the variant of a value. Raises ValueError for an unknown word."""
    word = line.cells.get(_VARIANT)
    if column.variant or word is None:
        return column.variant
    if variant := variant_named(word):
        return variant
    raise ValueError(
        f"line {line.number}: the variant {shown(word)} is unknown; write one of "
        f"{', '.join(VARIANTS)}, or leave it empty"
    )


def _measured(line: TableLine, column: _ValueColumn, origin: ResultOrigin) -> Measured | None:
    """Return the value of a cell; a failure if the row or the cell is marked so.

    None if the cell is empty.
    """
    cells, written = line.cells, line.cells.get(column.name, "")
    named = quantity(_first(cells, _METRICS) or _first(cells, _NAMES) or "")
    unit = _first(cells, _UNIT) or column.unit or named.unit
    metric = named.metric if _first(cells, _METRICS) or named.statistic else metric_of_unit(unit)
    statistic = (
        statistic_named(_first(cells, _STATISTIC) or "")
        or _first(cells, _STATISTIC)
        or named.statistic
    )
    better = None
    if (side := _first(cells, _BETTER)) is not None:  # `lower`, or `lower is better`
        better = _SIDES.get(snake_case(side).partition("_")[0])
        if better is None:
            raise ValueError(
                f"line {line.number}: {shown(side)} does not say which way is better; write "
                f"one of {', '.join(_SIDES)}"
            )
    blank = Measured(origin, metric, statistic, unit=unit, better=better)
    is_of_status = column.variant in (
        None,
        Variant.CANDIDATE,
    )  # in a wide table the column `status` is about the candidate
    if failure := _failure(written) or (
        _failure(_first(cells, _STATUS) or "") if is_of_status else None
    ):
        return replace(blank, status=failure[0], failure=failure[1], detail=_first(cells, _DETAIL))
    if statistic == "std" or written.lower() in NO_VALUE:
        return None
    value = _number(line, column.name)
    runs, of_all = (
        _beside(line, column, _RUNS),
        next((name for name in _RUNS if name in cells), None),
    )
    if runs is None and of_all:  # in a wide table one column may say it for all variants
        runs = _number(line, of_all)
    return replace(
        blank,
        value=value,
        n=None if runs is None else int(runs),
        spread=_spread(line, column, value),
    )


def _failure(written: str) -> tuple[MeasuredStatus, Failure | None] | None:
    """Return the meaning of words such as `timeout` or `failed: out of memory`.

    None for a value, and for a success.
    """
    words = snake_case(written)
    return _STATUSES.get(words) or _STATUSES.get(words.partition("_")[0])


def _spread(line: TableLine, column: _ValueColumn, value: float) -> Spread | None:
    """Return the first kind of spread that the row has."""
    for kind, names in _SPREADS.items():
        if (distance := _beside(line, column, names)) is not None:
            return Spread.around(value, distance, kind)
    for kind, (lower, upper) in _BOUNDS.items():
        low, high = _beside(line, column, lower), _beside(line, column, upper)
        if low is not None and high is not None:
            return Spread(kind=kind, low=low, high=high)
    return None


def _beside(line: TableLine, column: _ValueColumn, names: tuple[str, ...]) -> float | None:
    """Return the number in the first of these columns that the row has.

    A wide table prefixes their names: `agent_std`.
    """
    own = names if column.variant is None else tuple(f"{column.name}_{name}" for name in names)
    name = next((name for name in own if name in line.cells), None)
    return _number(line, name) if name else None


def _first(cells: Mapping[str, str], names: Iterable[str]) -> str | None:
    return next((cells[name] for name in names if name in cells), None)


def _number(line: TableLine, column: str) -> float:
    """Return a cell as a number. Raises ValueError with its place."""
    try:
        return float(line.cells[column])
    except ValueError as error:
        raise ValueError(
            f"line {line.number}: {shown(line.cells[column])} in the column {column} is no number"
        ) from error


def _is_number(written: str | None) -> bool:
    try:
        return written is not None and float(written) is not None
    except ValueError:
        return False


TOOL = Tool(
    "csv_table",
    (),
    _recognises,
    _read,
    marks_suffice=False,
    looks=lambda beginning: len(columns_of(beginning)) > 1,
)
