"""`tachograph-map.toml`: which fields of a result file are the columns of runs and measured values.

    [[rows]]
    files = "results/**/*.json"              # below the map's folder; default: all
    each = "results[*]"                      # a row of a file; default: each object, line or record
    where = { status = ["passed", "failed"] }  # other rows are ignored

    [rows.run]
    agent = "harness"                        # a path into the row
    model = { path = ["model", "^.model"] }  # of several the first known; ^: in what encloses it
    cost = { path = "stats.cents", unit = "¢" }
    duration = { path = "wall_s", unit = "s" }
    outcome = { path = "status", words = { passed = "completed", "*" = "unknown" } }
    task = { folder = 1 }                    # the folder that the file is in

    [[rows.measurement]]
    value = "speedup"
    over = "baseline"

docs/map.md has all of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

Scalar = str | int | float | bool


class _MapPart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


def _pattern(text: Any) -> Any:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError, TypeError) as error:
        raise ValueError(f"is no regular expression ({error})") from error
    return text


Pattern = Annotated[str, BeforeValidator(_pattern)]

STEP = re.compile(r'(?:^|\.)(?:"([^"]+)"|([^."\[\]]+))|\[(\d{1,9}|\*)\]|^(\[\*\])')
"""A step of a path: a name (in quotes if it has a dot), or a place in a list."""


def steps(path: str) -> tuple[str | int, ...]:
    """Return the steps of a path: names, places in lists, and "*" for all. Raises ValueError."""
    found: list[str | int] = []
    at = 0
    while at < len(path):
        step = STEP.match(path, at) if at == 0 or path[at] in ".[" else None
        if not step or step.end() == at:
            raise ValueError(f"is no path: {path!r} cannot be read from {path[at:]!r} on")
        quoted, name, place, _ = step.groups()
        found.append(int(place) if place and place != "*" else quoted or name or "*")
        at = step.end()
    return tuple(found)


def _path(text: Any) -> Any:
    if not isinstance(text, str) or not text:
        raise ValueError("is no path")
    steps(text)
    return text


Path = Annotated[str, BeforeValidator(_path)]


def _paths(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


class MapField(_MapPart):
    """Where a value comes from: exactly one of the first six, then what is made of it.

    `path`: in the row; beginning with `$`, in the whole document; with `^`, in the nearest object
    around the row that has it. `file`: a pattern searched in the file's path, `folder`: the name of
    the n-th folder above the file, 0 for its own name without ending. `key`: the name of the row in
    the n-th object around it. `search`: a pattern searched in the file's text. The first group of a
    pattern counts, else the whole.
    """

    path: Annotated[tuple[Path, ...], BeforeValidator(_paths)] | None = None
    value: Scalar | None = None
    file: Pattern | None = None
    folder: Annotated[int, Field(ge=0, le=50)] | None = None
    key: Annotated[int, Field(ge=1, le=10)] | None = None
    search: Pattern | None = None
    pattern: Pattern | None = None
    words: Mapping[str, Scalar] | None = None
    unit: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, written: Any) -> Any:
        if isinstance(written, str):
            return {"path": written}
        if isinstance(written, list):
            return {"path": written}
        return {"value": written} if isinstance(written, int | float) else written

    @model_validator(mode="after")
    def _of_one_origin(self) -> Self:
        origins = ("path", "value", "file", "folder", "key", "search")
        if sum(getattr(self, name) is not None for name in origins) != 1:
            raise ValueError(f"takes exactly one of {', '.join(origins)}")
        return self


def _in(units: tuple[str, ...], *, is_needed: bool) -> BeforeValidator:
    """Return a check that a field has one of these units."""

    def check(written: Any) -> Any:
        unit = written.get("unit") if isinstance(written, dict) else None
        if unit is None and not is_needed:
            return written
        if unit not in units:
            said = f"unit {unit!r}" if unit is not None else "no unit"
            example = f'{{ path = "…", unit = "{units[0]}" }}'
            raise ValueError(f"has {said}: write {example}, or one of {', '.join(units)}")
        return written

    return BeforeValidator(check)


MILLISECONDS = {"s": 1000.0, "ms": 1.0, "us": 1e-3, "ns": 1e-6, "min": 60_000.0, "h": 3_600_000.0}
"""Unit of a duration in a map → its milliseconds."""

USD = {"$": "1", "usd": "1", "¢": "0.01", "cents": "0.01", "m$": "0.001"}
"""Unit of a cost in a map → its dollars."""


def _several(written: Any) -> Any:
    return written if isinstance(written, list | tuple) else (written,)


Duration = Annotated[MapField, _in(tuple(MILLISECONDS), is_needed=True)]
Cost = Annotated[MapField, _in(tuple(USD), is_needed=False)]


class MappedRun(_MapPart):
    """The fields of a row that is a run. Each is a column of `runs` or of its model."""

    agent: MapField
    """Never guessed: a field of the row, or `{ value = "codex" }`."""
    agent_version: MapField | None = None
    run_id: Annotated[tuple[MapField, ...], BeforeValidator(_several)] = ()
    """Of several, all joined. Otherwise the hash of the row."""
    session_id: MapField | None = None
    title: MapField | None = None
    prompt: MapField | None = None
    result: MapField | None = None
    model: MapField | None = None
    effort: MapField | None = None
    input_tokens: MapField | None = None
    """Uncached input. `whole_input_tokens`: with the cached."""
    whole_input_tokens: MapField | None = None
    output_tokens: MapField | None = None
    reasoning_tokens: MapField | None = None
    cache_read_tokens: MapField | None = None
    cache_write_tokens: MapField | None = None
    cost: Cost | None = None
    credits: MapField | None = None
    credit_usd: Mapping[date, Annotated[Decimal, Field(ge=0, le=1_000_000)]] = Field(default={})
    """First day (UTC) → dollars of a credit from then on, where the row has no cost."""
    duration: Duration | None = None
    api_duration: Duration | None = None
    turns: MapField | None = None
    started_at: MapField | None = None
    ended_at: MapField | None = None
    outcome: MapField | None = None
    error: MapField | None = None
    score: MapField | None = None
    task: MapField | None = None
    repo: MapField | None = None
    branch: MapField | None = None
    base_commit: MapField | None = None
    cwd: MapField | None = None
    experiment: MapField | None = None
    labels: Mapping[str, MapField] = Field(default_factory=dict)


class _OfRun(_MapPart):
    """What a value or judgement is of: as the row's run has it unless given here."""

    run_id: MapField | None = None
    task: MapField | None = None
    repo: MapField | None = None
    commit: MapField | None = None
    agent: MapField | None = None
    model: MapField | None = None
    effort: MapField | None = None
    batch: MapField | None = None


class MappedValue(_OfRun):
    """A measured value of a row, with that of its baseline or reference where the row has them."""

    value: MapField
    metric: MapField | None = None
    unit: MapField | None = None
    statistic: MapField | None = None
    variant: MapField | None = None
    baseline: MapField | None = None
    reference: MapField | None = None
    over: Literal["baseline", "reference"] | None = None
    """What a value that is a ratio is over: a speedup."""
    better: Literal["lower", "higher"] | None = None
    n: MapField | None = None
    std: MapField | None = None
    failed: MapField | None = None
    """Why there is no value, or true. Empty or false: there is one."""
    benchmark: MapField | None = None
    machine: MapField | None = None
    params: Mapping[str, MapField] = Field(default_factory=dict)


class MappedJudgement(_OfRun):
    """A judgement that somebody published of the row's run or task.

    `hack`: true, hack or reward_hack, or false or clean; anything else is another judgement.
    """

    label: MapField
    hack: MapField | None = None
    score: MapField | None = None
    detail: MapField | None = None
    judged_by: MapField | None = None
    judged_at: MapField | None = None


class MappedLoop(_MapPart):
    """The rows are experiments of an optimization loop: one loop of a file, or one of each name."""

    value: MapField
    state: MapField | None = None
    metric: str | None = None
    unit: str | None = None
    better: Literal["lower", "higher"] | None = None
    name: MapField | None = None
    label: MapField | None = None
    commit: MapField | None = None
    at: MapField | None = None
    description: MapField | None = None
    model: MapField | None = None
    cost: Cost | None = None
    tokens: MapField | None = None
    duration: Duration | None = None


class RowsMap(_MapPart):
    """Files of one form, and what their rows are.

    `line`: a pattern with named groups; each match in a text is a row (`take`: all of them, or only
    the first or the last). `table`: that of an SQLite database. `marks`: texts that such a file
    has for sure.
    """

    files: Annotated[tuple[str, ...], BeforeValidator(_paths)] = ()
    marks: tuple[str, ...] = ()
    table: str | None = None
    line: Pattern | None = None
    take: Literal["all", "first", "last"] = "all"
    each: Path | None = None
    where: Mapping[Path, Scalar | tuple[Scalar, ...]] = Field(default_factory=dict)
    run: MappedRun | None = None
    measurement: tuple[MappedValue, ...] = ()
    judgement: tuple[MappedJudgement, ...] = ()
    loop: MappedLoop | None = None

    @model_validator(mode="after")
    def _maps_something(self) -> Self:
        if not (self.run or self.measurement or self.judgement or self.loop):
            parts = "[rows.run], [[rows.measurement]], [[rows.judgement]] or [rows.loop]"
            raise ValueError(f"needs {parts}")
        return self


class ResultMap(_MapPart):
    """A whole map. `name`: what its rows are called (`measurements.format`)."""

    name: str = Field(default="map", min_length=1, max_length=60)
    rows: tuple[RowsMap, ...]
