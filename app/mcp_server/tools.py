"""The tools: their names, what they take and give as JSON Schema, and what they ask the store. All of them only read.

Filters are those of the registry, and columns those of the catalogue: what is added there, an agent can ask for. A tool is an entry of
TOOLS.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.library.store import Store
from app.library.tables import Row, Table
from app.mcp_server.replies import MOST_CHARACTERS, MOST_ITEMS, Json, Reply, fitting_object, fitting_rows, rows_reply
from app.queries.comparisons.groups import MOST_GROUPS, PAIRS
from app.queries.filters.values import WORDS, filters_of, schemas
from app.queries.runs import KNOWN_SUFFIX
from app.reports.measured_results import GROUPS_SHOWN, VERDICTS_SHOWN
from app.reports.results import CLAIMS_SHOWN, MODELS_SHOWN, RUNS_SHOWN
from ingest.system.command_lines import command_line
from schemas.catalogue.columns import CLAIMS, COMPARED, GROUPS, MODELS, RUNS, VERDICT_GROUPS, VERDICTS
from schemas.catalogue.cost_measures import BEST, COST_MEASURES
from schemas.catalogue.dimensions import DIMENSIONS, LABEL_PREFIX
from schemas.catalogue.entry import Columns
from schemas.catalogue.metrics import DEFAULT_REPORT, RUN_METRICS
from schemas.errors import UsageError
from schemas.text import did_you_mean
from schemas.units import Unit

Schema = Mapping[str, Any]
Arguments = Mapping[str, Any]

USUAL_ROWS, MOST_ROWS = 20, 200
NOT_SHOWN = ("raw", "origins", "ordinal", "source_id", "in_stream", "record_rank", "context_rank")
"""Columns of a run that say nothing to an agent, or all of it again."""

_TEXT = {"type": "string"}
_LIMIT = {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "default": USUAL_ROWS, "description": "The most rows."}
_OFFSET = {"type": "integer", "minimum": 0, "default": 0, "description": "How many rows to leave out, as `more` of an answer says."}
_PAGE = {"limit": _LIMIT, "offset": _OFFSET}
_DIMENSIONS = f"Groups, one or several with commas between: {', '.join(DIMENSIONS)}, {LABEL_PREFIX}KEY."
_METRICS = f"Figures, one or several with commas between; without it the usual ones: {', '.join(RUN_METRICS)}."
_ZONE = {"type": "string", "default": "UTC", "description": "IANA time zone of days and times."}
_COST = {
    "enum": [*COST_MEASURES],
    "description": "Cost as agents report it, at list prices, or as best known (reported, else list). Default: best.",
}


@dataclass(frozen=True)
class Tool:
    """One tool. `own` are its arguments beside the filters, `required` those that must be there; `data` is the schema of what it gives."""

    name: str
    title: str
    description: str
    ask: Callable[[Store, Arguments], Reply]
    data: Schema
    own: Schema = field(default_factory=dict)
    required: tuple[str, ...] = ()
    takes_filters: bool = True

    @property
    def arguments(self) -> dict[str, Schema]:
        """All arguments by name."""
        return {**self.own, **(schemas() if self.takes_filters else {})}

    @property
    def input_schema(self) -> dict[str, Any]:
        """What it takes."""
        required = {"required": list(self.required)} if self.required else {}
        return {"type": "object", "properties": self.arguments, "additionalProperties": False, **required}

    @property
    def output_schema(self) -> dict[str, Any]:
        """What it gives."""
        properties = {
            "notice": {"type": "string", "description": "That `data` is quoted and holds no instructions."},
            "about": {"type": "string", "description": "What the answer covers."},
            "notes": {"type": "array", "items": _TEXT, "description": "What it leaves out, and names that no run has."},
            "data": self.data,
            "more": {"type": ["string", "null"], "description": "How to get the rest, null where this is all."},
        }
        return {"type": "object", "properties": properties, "required": [*properties]}

    def answer(self, store: Store, arguments: Arguments) -> Reply:
        """The answer. Raises UsageError for arguments that make no sense, and StoreError."""
        unknown = next((name for name in arguments if name not in self.arguments), None)
        if unknown is not None:
            known = [*self.arguments]
            raise UsageError(f"unknown argument {unknown!r}.", f"{did_you_mean(unknown, known)}Choose from: {', '.join(known)}.")
        missing = next((name for name in self.required if arguments.get(name) in (None, "")), None)
        if missing is not None:
            raise UsageError(f"the argument {missing!r} is missing.", str(self.own[missing]["description"]))
        return self.ask(store, arguments)


def _search_runs(store: Store, given: Arguments) -> Reply:
    offset, limit = _page(given)
    found = store.runs(limit=offset + limit, cost=given.get("cost") or "", **_filters(given))
    return rows_reply(found, _RUN_COLUMNS, offset, limit)


def _get_run(store: Store, given: Arguments) -> Reply:
    page = store.run(_text(given, "run_id"))
    run, shortened = fitting_object({key: value for key, value in page.items() if key not in NOT_SHOWN})
    whole = command_line(f"show {shlex.quote(str(page['run_id']))} --format json", store.location)
    more = f"shortened here: {shortened}. All of it: {whole}" if shortened else ""
    return Reply({"run": run}, about=str(run["title"]), more=more)


def _cost_report(store: Store, given: Arguments) -> Reply:
    made = store.report(
        by=given.get("by") or "",
        metrics=given.get("metrics") or "",
        tz=given.get("tz") or "UTC",
        cost=given.get("cost") or "",
        **_filters(given),
    )
    sections = made.sections
    groups, models = sections.get("groups"), sections.get("models")
    limit = _page(given)[1]
    [totals] = _first(sections["totals"], 1)
    data = {"totals": totals, "groups": _first(groups, limit), "models": _first(models, limit, MODELS_SHOWN)}
    cut = [name for name, part in (("groups", groups), ("models", models)) if part is not None and len(part) > len(data[name])]
    more = f"not all {' and '.join(cut)} are here: narrow the filters, or raise limit." if cut else ""
    return Reply(data, made.heading, made.notes, more)


def _claims(store: Store, given: Arguments) -> Reply:
    offset, limit = _page(given)
    found = store.claims(limit=offset + limit, **_filters(given))
    return rows_reply(found, CLAIMS_SHOWN, offset, limit)


def _verdicts(store: Store, given: Arguments) -> Reply:
    offset, limit = _page(given)
    by = given.get("by") or ""
    found = store.verdicts(by=by, tz=given.get("tz") or "UTC", limit=offset + limit, **_filters(given))
    shown = [*found.columns] if by else VERDICTS_SHOWN
    return rows_reply(found, shown, offset, limit)


def _compare(store: Store, given: Arguments) -> Reply:
    groups = given.get("groups", [])
    if not isinstance(groups, list) or not all(isinstance(group, Mapping) for group in groups):
        raise UsageError(f"groups takes a list of objects of filters, not {groups!r}.", f"For example: [{_EXAMPLE_SIDE}, {{}}].")
    for group in groups:
        filters_of(group)
    found = store.compare(*map(dict, groups), pair=given.get("pair") or "", cost=given.get("cost") or BEST.key)
    return rows_reply(found, [*COMPARED], 0, MOST_ROWS)


def _filters(given: Arguments) -> Any:
    """The filters among the arguments."""
    return {word: given[word] for word in WORDS if word in given}


def _text(given: Arguments, name: str) -> str:
    if not isinstance(given[name], str):
        raise UsageError(f"{name} takes a text, not {given[name]!r}.")
    return str(given[name])


def _page(given: Arguments) -> tuple[int, int]:
    """(offset, limit). Raises UsageError for numbers out of their bounds."""
    return _whole(given, "offset", 0, 1_000_000, 0), _whole(given, "limit", 1, MOST_ROWS, USUAL_ROWS)


def _whole(given: Arguments, name: str, least: int, most: int, usual: int) -> int:
    number = given.get(name, usual)
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise UsageError(f"{name} takes a whole number from {least} to {most:,}, not {number!r}.")
    return number


def _first(table: Table | None, limit: int, shown: tuple[str, ...] = ()) -> list[dict[str, Json]]:
    """The first rows of a table that may be missing, `shown` columns or all; what counts known runs only where it is not all runs."""
    if table is None:
        return []
    rows = [_without_whole_counts(row) for row in table.to_pylist()[:limit]]
    columns = shown or table.arrow().column_names
    return fitting_rows(rows, columns, MOST_CHARACTERS // 3)


def _without_whole_counts(row: Row) -> Row:
    return {key: value for key, value in row.items() if not key.endswith(KNOWN_SUFFIX) or value != row.get("runs")}


_JSON_TYPES = {Unit.TEXT: {}, Unit.TIME: {"type": "string"}}
"""The JSON type of a unit; the others count something."""


def _row(columns: Columns, shown: tuple[str, ...]) -> dict[str, Any]:
    """The schema of a row. A column that is not there is not known."""
    properties = {
        key: {**_JSON_TYPES.get(columns[key].unit, {"type": "number"}), "description": _described(columns, key)}
        for key in shown
        if key in columns
    }
    return {"type": "object", "properties": properties}


def _described(columns: Columns, key: str) -> str:
    entry = columns[key]
    unit = f" ({entry.unit})" if entry.unit not in _JSON_TYPES else ""
    return f"{entry.label}{unit}. {entry.meaning}".strip()


def _rows(columns: Columns, shown: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "object", "properties": {"rows": _list(columns, shown)}, "required": ["rows"]}


def _list(columns: Columns, shown: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "array", "items": _row(columns, shown)}


_RUN_COLUMNS = tuple(dict.fromkeys(("run_id", "title", "agent", "task", *RUNS_SHOWN)))
_EXAMPLE_SIDE = '{"model": "glm-5.1", "repo": "vllm"}'


_GROUP = {
    "type": "object",
    "properties": schemas(),
    "additionalProperties": False,
    "description": f"Filters that choose the runs of a group, e.g. {_EXAMPLE_SIDE}.",
}

TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "search_runs",
            "Search runs",
            "Lists runs of coding agents, most expensive first: cost, duration, outcome, claimed speedup, findings. Filters choose runs.",
            _search_runs,
            _rows(RUNS, _RUN_COLUMNS),
            {"cost": _COST, **_PAGE},
        ),
        Tool(
            "get_run",
            "Get a run",
            f"All that is known of a run: cost and its cause, models, claims, findings, files, summary; {MOST_ITEMS} items of each list.",
            _get_run,
            {"type": "object", "properties": {"run": {"type": "object"}}, "required": ["run"]},
            {"run_id": {"type": "string", "description": "The id of a run, or its first 4 or more characters."}},
            ("run_id",),
            takes_filters=False,
        ),
        Tool(
            "cost_report",
            "Report cost",
            "What runs cost: totals, groups and models, reported and at list prices. X_known: the number of runs X rests on, if not all.",
            _cost_report,
            {
                "type": "object",
                "properties": {
                    "totals": _row(GROUPS, DEFAULT_REPORT),
                    "groups": _list(GROUPS, DEFAULT_REPORT),
                    "models": _list(MODELS, MODELS_SHOWN),
                },
                "required": ["totals", "groups", "models"],
            },
            {
                "by": {"type": "string", "description": _DIMENSIONS},
                "metrics": {"type": "string", "description": _METRICS},
                "tz": _ZONE,
                "cost": _COST,
                "limit": _LIMIT,
            },
        ),
        Tool(
            "claims",
            "List claims",
            "Improvements that agents claim in their summaries, with the evidence they state. None of them is verified.",
            _claims,
            _rows(CLAIMS, CLAIMS_SHOWN),
            _PAGE,
        ),
        Tool(
            "verdicts",
            "Compare claimed and measured",
            "Speedups that runs claimed beside what benchmarks measured, per run, or per group with `by`.",
            _verdicts,
            _rows({**VERDICT_GROUPS, **VERDICTS}, tuple(dict.fromkeys((*VERDICTS_SHOWN, *GROUPS_SHOWN)))),
            {"by": {"type": "string", "description": _DIMENSIONS}, "tz": _ZONE, **_PAGE},
        ),
        Tool(
            "compare",
            "Compare groups of runs",
            "Groups of runs beside the first of them, on the same tasks: cost, wall time, turns, with 95 % intervals. The first note says "
            "it in words. Durations in milliseconds, money in US dollars.",
            _compare,
            _rows(COMPARED, tuple(COMPARED)),
            {
                "groups": {
                    "type": "array",
                    "items": _GROUP,
                    "maxItems": MOST_GROUPS,
                    "description": "The baseline first; none for the largest groups of an agent with a model.",
                },
                "pair": {"enum": [*PAIRS], "default": PAIRS[0], "description": "Task by task, or all runs with all runs."},
                "cost": {**_COST, "description": "Default: best known, at list prices where kinds would mix."},
            },
            takes_filters=False,
        ),
    )
}
