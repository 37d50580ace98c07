"""airspeed velocity: result files, and the output of `asv run`, `asv continuous` and `asv dev`.

The files are `results/<machine>/<commit>-<environment>.json`.

Sources: https://asv.readthedocs.io/en/stable/dev.html, section "Benchmark suite layout and file
formats"; `asv/results.py` (`update_to_2` for version 1, `format_benchmark_result`), `asv/util.py`
(`human_value`, `format_text_table`). Units of `track` benchmarks and names of parameters are in
`results/benchmarks.json` alone. `date` is that of the commit, not of the run. In the text, times
have their unit, sizes in bytes a bare `k`, `M` or `G`, and `±` is half the distance of the
quartiles.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product, takewhile
from typing import Any

from ingest.measurements.base import MeasuredFile, Tool
from ingest.measurements.measured import (
    MOST_VALUES,
    Measured,
    Parameter,
    ResultOrigin,
    Spread,
    TooManyValues,
)
from ingest.measurements.words import joined, metric_name, number, numbers
from ingest.sources.times import unix_time
from schemas.claims import Scope
from schemas.rows.measurement import MeasuredStatus, SpreadKind
from schemas.units import Better

Fields = Mapping[str, Any]

_TYPES = {
    "time": ("time", "seconds"),
    "timeraw": ("time", "seconds"),
    "memory": ("memory", "bytes"),
    "peakmemory": ("memory", "bytes"),
}
"""Type of a benchmark -> metric and unit. Others, such as `track`, name their own quantity."""

_PREFIXES = {"mem": "memory", "peakmem": "peakmemory", "peak": "peakmemory"}
"""First word of a name -> type, if they differ: asv derives the one from the other (`name_regex` in
`asv_runner/benchmarks`), as in `mem_table`, `PeakMemTable`.
"""

_STEP = re.compile(r"\[ *+\d++\.\d++%\] (·++) ++(\S.*+)")
_NUMBER = r"[-+]?[\d.]++(?:e[-+]?\d++)?"
_VALUE = re.compile(rf"({_NUMBER})(?:±({_NUMBER}))?([nuµμm]?s|[mhkMGTP])?")
_UNITS = {"m": "min", "k": "kB", "M": "MB", "G": "GB", "T": "TB", "P": "PB"}
_NO_VALUE = {"failed": MeasuredStatus.FAILED, "n/a": MeasuredStatus.NOT_RUN}
_MOST_COLUMNS = 500
"""A bound, since each value of a table repeats all parameters on its left."""


def _is_result(file: MeasuredFile) -> bool:
    document = file.object
    is_result = {
        "commit_hash",
        "params",
        "requirements",
        "results",
    } <= document.keys() and isinstance(document["results"], dict)
    return is_result and ("result_columns" in document or document.get("version") == 1)


def _read_result(file: MeasuredFile) -> Iterator[Measured]:
    """Yield the values.

    Raises ValueError if the machine is not its folder's: asv ignores such a file
    (`iter_results_for_machine`).
    """
    document, names = file.object, file.object.get("result_columns")
    params, of_folder = document["params"] or {}, file.beside("machine.json").get("machine")
    machine = params.get("machine")
    if machine and of_folder and machine != of_folder:
        raise ValueError(
            f"its machine is {machine!r}, machine.json beside it says {of_folder!r}; asv ignores it"
        )
    definitions = file.beside("../benchmarks.json") or file.beside("benchmarks.json")
    environment = {
        "python": document.get("python"),
        **(document["requirements"] or {}),
        **(document.get("env_vars") or {}),
    }
    for name, written in document[
        "results"
    ].items():  # version 2 leaves empty columns at the end out
        columns = (
            dict(zip(names, written, strict=False))
            if names
            else _from_version_1(document, name, written)
        )
        version, definition = columns.get("version"), definitions.get(name)
        if not isinstance(definition, dict) or (
            version is not None and definition.get("version") not in (None, version)
        ):
            definition = {}  # another version of the benchmark was run, whose results asv ignores
        origin = ResultOrigin(
            benchmark=name,
            params=environment | {"benchmark_version": version},
            commit=document["commit_hash"],
            machine=joined(machine, params.get("cpu")),
            measured_at=unix_time(columns.get("started_at")),
            scope=Scope.MICRO,
        )
        parameters = columns.get("params") or []
        parameter_names = definition.get("param_names") or [
            f"param{place}" for place in range(1, len(parameters) + 1)
        ]
        if math.prod(map(len, parameters)) > MOST_VALUES:
            raise TooManyValues(
                f"the parameters of {name} have more than {MOST_VALUES:,} combinations"
            )
        for place, combination in enumerate(
            product(*parameters)
        ):  # the last parameter varies fastest
            chosen: dict[str, Parameter] = dict(zip(parameter_names, combination, strict=False))
            yield _measured(
                replace(origin, params={**origin.params, **chosen}), definition, columns, place
            )


def _from_version_1(document: Fields, name: str, written: Any) -> Fields:
    """Convert to the columns of version 2.

    Version 1 has a bare value, or an object with `result`, and optional `params` and `stats`.
    """
    found = written if isinstance(written, dict) else {"result": [written]}
    result, stats = found.get("result"), found.get("stats")
    each = [one or {} for one in (stats if isinstance(stats, list) else [stats])]
    return {
        "result": result if isinstance(result, list) or result is None else [result],
        "params": found.get("params"),
        "samples": found.get("samples"),
        "version": (document.get("benchmark_version") or {}).get(name),
        "started_at": (document.get("started_at") or {}).get(name),
        "stats_ci_99_a": [(one.get("ci_99") or [None])[0] for one in each],
        "stats_ci_99_b": [(one.get("ci_99") or [None])[-1] for one in each],
    } | {f"stats_{key}": [one.get(key) for one in each] for key in ("q_25", "q_75", "repeat")}


def _measured(origin: ResultOrigin, definition: Fields, columns: Fields, place: int) -> Measured:
    """Return the value of one combination of parameters. null, or no list, is a failure.

    NaN a benchmark that skipped itself.
    """

    def cell(column: str) -> Any:
        values = columns.get(column)
        return values[place] if isinstance(values, list) and place < len(values) else None

    value = number(cell("result"))
    if value is None or math.isnan(value):
        return Measured(
            origin, status=MeasuredStatus.FAILED if value is None else MeasuredStatus.NOT_RUN
        )
    samples, spread = numbers(cell("samples")), None
    # the 99 % interval, or the quartiles if there are too few samples for one
    for interval, low_column, high_column in (
        (SpreadKind.CI, "stats_ci_99_a", "stats_ci_99_b"),
        (SpreadKind.IQR, "stats_q_25", "stats_q_75"),
    ):
        low, high = number(cell(low_column)), number(cell(high_column))
        if (
            spread is None
            and low is not None
            and high is not None
            and math.isfinite(low)
            and math.isfinite(high)
        ):
            spread = Spread(kind=interval, low=low, high=high, level=0.99)
    name = str(origin.benchmark).rpartition(".")[2]
    kind = str(definition.get("type") or _type_of(name))
    metric, unit = _TYPES.get(kind) or (metric_name(name), None)
    unit = definition.get("unit") or unit
    return Measured(
        origin,
        metric,
        # with statistics the value is the median of the samples
        # (`asv_runner.statistics.compute_stats`)
        "max" if kind == "peakmemory" else None if cell("stats_q_25") is None else "median",
        value,
        None if unit == "unit" else unit,  # what asv writes for a `track` benchmark without one
        n=cell("stats_repeat") or len(samples) or None,
        better=None if kind in _TYPES else Better.UNKNOWN,
        spread=spread,
        samples=samples,
    )


def _type_of(name: str) -> str:
    prefix = metric_name(name).partition("_")[0]
    return _PREFIXES.get(prefix, prefix)


def _read_text(file: MeasuredFile) -> Iterator[Measured]:
    """Yield the value of each benchmark's line, or of the table under it if it has parameters."""
    commit = environment = None
    top, below = "", list[str]()
    origin = ResultOrigin(scope=Scope.MICRO)
    for line in chain(file.lines, ("",)):
        if top and line[:1].isspace() and line.strip():
            below.append(line)
            continue
        if top:
            for parameters, written in _cells(top, below):
                yield from _printed(
                    replace(origin, params={**origin.params, **parameters}), written
                )
            top, below = "", []
        step = _STEP.fullmatch(line)
        match [step[1], *step[2].split()] if step else []:
            case ["·", "For", *_, "commit", named, _] | ["·", "For", *_, "commit", named]:
                commit = named.rstrip(":")
            case ["··", "Benchmarking", named]:
                environment = named
            case ["···", rule, *_] if rule.startswith("="):
                top = line
            case ["···", "Running", name, *values] | ["···", name, *values]:
                params = {"environment": environment}
                origin = replace(origin, benchmark=name, commit=commit, params=params)
                yield from _printed(origin, " ".join(values))


def _printed(origin: ResultOrigin, written: str) -> Iterator[Measured]:
    """Yield a printed value; nothing for words such as `ok`, which a table of values follows."""
    if written in _NO_VALUE:
        yield Measured(origin, status=_NO_VALUE[written])
    elif found := _VALUE.fullmatch(written):
        name, value, suffix = str(origin.benchmark).rpartition(".")[2], float(found[1]), found[3]
        _, bare = _TYPES.get(_type_of(name), (None, None))
        unit = _UNITS.get(suffix, suffix) or ("B" if bare == "bytes" else None)
        is_memory = unit is not None and unit.endswith("B")
        metric = "memory" if is_memory else "time" if unit else metric_name(name)
        spread = Spread.around(value, float(found[2]), SpreadKind.IQR) if found[2] else None
        yield Measured(origin, metric, "median" if found[2] else None, value, unit, spread=spread)


def _cells(top: str, lines: Sequence[str]) -> Iterator[tuple[Mapping[str, str], str]]:
    """Yield each value of a table with its parameters before it.

    `top`: its first rule, which marks the columns; `lines`: those under it.

    The columns on the left are parameters. Columns of values have their own head only if other
    parameters run across:

    ====== ======== ========            ====== ========
    --        module                     n
    ------ -----------------            ------ --------
    n     numpy    scipy                10    21.1ms
    ====== ======== ========            ====== ========
    10    21.1ms   19.4ms
    ====== ======== ========
    """
    columns = [found.span() for found in re.finditer("=++", top)]
    if len(columns) > _MOST_COLUMNS:
        raise TooManyValues(f"a table has more than {_MOST_COLUMNS} columns")

    def cut(line: str) -> list[str]:
        return [line[start:end].strip() for start, end in columns]

    across, left = None, len(columns) - 1
    if lines[0].strip().startswith("--"):
        across = lines[0].strip().removeprefix("--").strip()
        rule = lines[1]  # whose first part is as wide as all parameters on the left
        left = sum(
            end <= len(rule) - len(rule.lstrip()) + len(rule.split(maxsplit=1)[0])
            for _, end in columns
        )
    heads = cut(lines[2 if across else 0])
    for line in takewhile(lambda one: "===" not in one, lines[4 if across else 2 :]):
        cells = cut(line)
        row = dict(zip(heads[:left], cells[:left], strict=True))
        for head, cell in zip(heads[left:], cells[left:], strict=True):
            yield (
                {
                    **row,
                    **(
                        dict(zip(across.split(" / "), head.split(" / "), strict=False))
                        if across
                        else {}
                    ),
                },
                cell,
            )


TOOLS = (
    Tool("asv", ('"commit_hash"', '"requirements"', '"results"'), _is_result, _read_result),
    Tool(
        "asv-text",
        ("%] ··· ",),
        lambda file: not file.is_page and any(_STEP.fullmatch(line) for line in file.lines),
        _read_text,
        marks_suffice=False,
    ),
)
