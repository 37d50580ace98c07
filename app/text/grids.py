"""Tables as grids of a screen: the columns to show, as types that a browser can sort."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from app.queries.filters import SEARCHED
from app.queries.runs import ORDERS
from app.text.claims import ORIGIN_NAMES, evidence_words, verdict_words, words
from app.text.columns import (
    BOUNDS_COLUMNS,
    SCREEN_WORDS,
    ShownColumn,
    columns,
    fact_words,
    with_bounds,
    with_starts,
)
from app.text.formatting import FORMS, NAMELESS, UNKNOWN_NAME, model_name, ratio, sortable
from app.text.html_parts import MEASURED
from app.text.ingests import brought, upload_words
from schemas.catalogue import columns as catalogue
from schemas.catalogue.cost_measures import BEST, BOUNDS, CostMeasure
from schemas.catalogue.entry import Columns
from schemas.catalogue.failures import REASONS as FAILURES
from schemas.catalogue.figures import MORE, listed
from schemas.catalogue.usage import LOWER_BOUNDS, RESETS, USAGE, WHOLE_RUNS
from schemas.text import join_known, one_line, quoted, visible
from schemas.units import Unit

if TYPE_CHECKING:
    from ingest.pipeline import SourceReport


@dataclass(frozen=True)
class Listing:
    """The columns a grid shows, in order, and their entries in the catalogue."""

    of: Columns
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Grid:
    """Rows as types that a browser's grid can sort, and the catalogue entries of their columns."""

    rows: pa.Table
    columns: tuple[ShownColumn, ...]


RUNS = Listing(
    {
        **catalogue.RUNS,
        "task_key": replace(catalogue.RUNS["task_key"], label=catalogue.RUNS["task"].label),
    },
    (
        "title",
        "agent",
        "model",
        "task_key",
        "outcome",
        "why",
        "cost_shown",
        "duration_ms",
        "claimed_speedup",
        "measured",
        "dated_at",
    ),
)
COMPACT_RUNS = ("title", "cost_shown", "dated_at", "agent", "outcome", "duration_ms")
"""Columns of a run on a phone, most important first; three fit at once."""

MORE_RUNS = listed(
    "reason",
    "repo",
    "task",
    "experiment",
    "cost_own_usd",
    "cost_list_usd",
    "num_turns",
    "output_tokens",
    "cache_read_share",
    "cost_per_turn_usd",
    "parallelism",
    MORE,
    "time_source",
    "source_name",
    "session_id",
    "run_id",
    "started_at",
    "agent_version",
    "tokens_basis",
    "cost_delta_usd",
    "cost_cause",
    "cost_list_per_turn_usd",
    "score",
    "provider",
    "region",
    "duration_api_own_ms",
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "permission_denials",
    "claimed_caveat",
    "claimed_evidence",
    "claimed_quote",
    "claimed_confidence",
    "findings",
    "ended_at",
    "subtype",
    "stop_reason",
    "terminal_reason",
    "received_at",
    "starred",
    "note",
    "excluded",
    "excluded_reason",
)

MODELS_OF_RUN = Listing(
    catalogue.USES,
    (
        "model",
        "provider",
        "region",
        "cost_reported_usd",
        "cost_list_usd",
        "cost_delta_usd",
        "cost_cause",
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "tokens_basis",
        "tokens_basis_reason",
        "web_search_requests",
        "context_window",
        "price_source",
        "model_id",
    ),
)
CLAIMS = (
    "title",
    "ratio",
    "metric",
    "sentence",
    "evidence",
    "caveat",
    "confidence",
    "repo",
    "dated_at",
    "quote",
    "ratio_low",
    "ratio_high",
    "direction",
    "scope",
    "hedged",
    "origin",
    "kind",
    "subject",
    "model",
    "run_id",
)
"""Columns of claims. Claim, evidence and agent come first: a page shows eight columns without
scrolling.
"""

FILE_CHANGES = Listing(catalogue.FILE_CHANGES, ("path", "insertions", "deletions"))
RECORDS = Listing(
    catalogue.RECORDS,
    (
        "record_kind",
        "source_name",
        "gives",
        "agent",
        "cost_reported_usd",
        "input_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "output_tokens",
        "duration_ms",
        "num_turns",
        "outcome",
        "score",
    ),
)
TOOL_CALLS = Listing(catalogue.TOOL_CALLS, ("tool", "calls", "errors"))
FINDINGS = Listing(
    catalogue.FINDINGS,
    ("title", "message", "severity", "cost_own_usd", "expected", "actual", "model", "run_id"),
)
REASONS = Listing(catalogue.REASONS, ("reason", "rejected", "sources", "detail"))
REJECTS = Listing(catalogue.REJECTS, ("source_name", "reason", "detail", "position", "excerpt"))
SOURCES = Listing(
    catalogue.SOURCES,
    (
        "name",
        "kind",
        "documents",
        "accepted",
        "duplicates",
        "rejected",
        "ignored",
        "bytes",
        "container",
        "received_at",
    ),
)
QUADRANTS = Listing(
    catalogue.VERDICT_GROUPS,
    (
        "repo",
        "agent",
        "model",
        "runs_q1",
        "runs_q2",
        "runs_q3",
        "runs_q4",
        "true_success_share",
        "hard_success_share",
    ),
)
VALUES = Listing(
    catalogue.SPEEDUPS,
    (
        "base",
        "metric",
        "statistic",
        "base_value",
        "candidate_value",
        "unit",
        "ratio",
        "verdict",
        "why",
        "benchmark",
        "ratio_low",
        "ratio_high",
        "measured_at",
        "format",
        "files",
        "source_name",
    ),
)
BLOCKS = Listing(
    USAGE,
    (
        "block_start",
        "block_end",
        RESETS,
        "block_state",
        "responses",
        "total_tokens",
        "cost_best_usd",
        LOWER_BOUNDS,
        "usd_per_hour",
        "tokens_per_minute",
        "output_tokens",
        "sessions",
        WHOLE_RUNS,
        "models",
    ),
)
SESSIONS = Listing(
    catalogue.SESSIONS,
    (
        "title",
        "last_at",
        "cost_best_usd",
        "total_tokens",
        "responses",
        "context_peak_tokens",
        "tool_calls",
        "failed_calls",
        "subagents",
        LOWER_BOUNDS,
        "model",
        "agent",
        "project",
        "output_tokens",
        "first_at",
        "run_id",
    ),
)
COMPACT_SESSIONS = Listing(
    catalogue.SESSIONS, ("title", "cost_best_usd", "last_at", "total_tokens", "responses", "run_id")
)
LANES = Listing(
    catalogue.LANES,
    (
        "subagent",
        "first_at",
        "last_at",
        "responses",
        "total_tokens",
        "output_tokens",
        "cost_list_usd",
        LOWER_BOUNDS,
        "context_peak_tokens",
        "tool_calls",
        "failed_calls",
    ),
)
RESPONSES = Listing(
    catalogue.RESPONSES,
    (
        "at",
        "subagent",
        "model",
        "cost_list_usd",
        "input_tokens",
        "cache_write_tokens",
        "cache_read_tokens",
        "output_tokens",
        "output_count",
        "tools",
        "failed_tools",
        "price_note",
        "context_tokens",
        "cost_so_far_usd",
        "stop_reason",
    ),
)
_ONLY_IF_ANY = (LOWER_BOUNDS, WHOLE_RUNS, "subagents", "failed_calls", RESETS)

ROW_HEIGHT, MOST_ROWS, LINE_HEIGHT, WRAPPED_HEIGHT = 35, 18, 19, 66
"""Pixels of a row, rows per page, pixels of a further line, and the least height of rows with
wrapped text.
"""

CHARACTER, PADDING, MOST_LINES = 6.5, 16, 8
"""Pixels of a character and of a cell's padding, and the most lines of a cell."""

TEXT_WIDTHS = {"message": 640, "detail": 420, "sentence": 300, "caveat": 148}

LONGEST_SENTENCE, LONGEST_NOTE, LONGEST_PATH = 126, 160, 32
"""Characters: of a claim's sentence (three lines), of a note on a measured value (errors of
benchmarks fill pages), and of a path.
"""

PLACES = {"path": catalogue.FILE_CHANGES["path"].label} | {
    column: catalogue.RUNS[column].label for column in SEARCHED
}


def grid(table: pa.Table, listing: Listing) -> Grid:
    """Return the grid of a table without empty columns.

    A claimed speedup is always followed by its caveat.
    """
    table = with_starts(table)
    keys = [key for key in listing.keys if key != "claimed_caveat"]
    if "claimed_speedup" in keys and "claimed_caveat" in table.column_names:
        keys.insert(keys.index("claimed_speedup") + 1, "claimed_caveat")
    keys = [key for key in keys if not table.num_rows or table[key].null_count < table.num_rows]
    keys = [key for key in keys if key not in _ONLY_IF_ANY or any(table[key].to_pylist())]
    shown = tuple(columns(table.select(keys), listing.of))
    bounds = with_bounds(table, keys)
    cells = {
        column.name: _cells(table[column.name], column, bounds.column(kinds).to_pylist())
        if (kinds := BOUNDS_COLUMNS.get(column.name)) in bounds.column_names
        else _cells(table[column.name], column)
        for column in shown
    }
    for column in shown:
        if column.is_name and pa.types.is_string(cells[column.name].type):
            cells[column.name] = pc.fill_null(
                cells[column.name], NAMELESS.get(column.name, UNKNOWN_NAME)
            )
    return Grid(pa.table(cells), shown)


def _cells(
    values: pa.ChunkedArray, column: ShownColumn, bounds: Sequence[str | None] = ()
) -> pa.ChunkedArray:
    """Return cells for a browser.

    Figures without a number format as `sortable` texts, shares as percentages, keys as words, texts
    made safe.
    """
    if column.unit in (Unit.SHARE, Unit.NOISE):
        return pc.multiply(values, 100.0)
    write: Callable[[Any], str]
    if column.is_figure and not FORMS[column.unit].grid:
        kinds = bounds or [""] * len(values)
        pairs = zip(values.to_pylist(), kinds, strict=True)
        texts = [
            None if value is None else sortable(value, column.unit, kind) for value, kind in pairs
        ]
        return pa.chunked_array([texts], pa.string())
    if column.name in SCREEN_WORDS:
        write = partial(fact_words, key=column.name)
    elif column.name == "model":
        write = model_name
    elif column.name == "source_name":
        write = _ending
    elif pa.types.is_string(values.type) or values.type == pa.list_(pa.string()):
        return pa.chunked_array([_readable(values.to_pylist())], values.type)
    else:
        return values
    return pa.chunked_array(
        [[None if value is None else write(value) for value in values.to_pylist()]], pa.string()
    )


def _ending(path: str) -> str:
    """Return the last two parts of a long path, which differ most."""
    path = visible(path)
    parts = path.rsplit("/", 2)
    return path if len(path) <= LONGEST_PATH or len(parts) < 3 else "/".join(["…", *parts[1:]])


def _readable(values: Iterable[Any]) -> list[Any]:
    return [
        visible(one) if isinstance(one, str) else _readable(one) if isinstance(one, list) else one
        for one in values
    ]


def with_cells(table: pa.Table, cells: Mapping[str, Any]) -> pa.Table:
    """Return the table with these columns replaced or added. Lists are texts."""
    for name, values in cells.items():
        values = pa.array(values, pa.string()) if isinstance(values, list) else values  # noqa: PLW2901
        if name in table.column_names:
            table = table.set_column(table.column_names.index(name), name, values)
        else:
            table = table.append_column(name, values)
    return table


RARE = 0.1
"""Share of rows with a value below which a column comes last."""


def arranged(runs: pa.Table, order: str) -> tuple[str, ...]:
    """Return the usual columns of a list of runs in one of ORDERS, as keys of RUNS.

    The column of the order follows the title, so it stays in sight when a run is read beside the
    list. Columns with few values come last, so dashes push nothing out of sight.
    """
    by = ORDERS[order].columns[0]
    by = "cost_shown" if by == BEST.column else by
    title, *others = (key for key in RUNS.keys if key != by)
    empty = {key: runs[key].null_count for key in others}
    most = (1 - RARE) * len(runs)
    return (title, by, *sorted(others, key=lambda key: empty[key] if empty[key] > most else 0))


def with_excerpts(runs: pa.Table, excerpts: Mapping[str, tuple[str, str]]) -> pa.Table:
    """Return the runs with a column `excerpt`.

    The field that matches the search, and the text around the match.
    """
    found = [excerpts.get(run_id) for run_id in runs["run_id"].to_pylist()]
    return with_cells(runs, {"excerpt": [one and f"{PLACES[one[0]]}: {one[1]}" for one in found]})


def with_answers(
    runs: pa.Table, measured: Mapping[str, tuple[str, float | None]], measure: CostMeasure
) -> pa.Table:
    """Return the runs with `cost_shown` by the measure, `why` they failed, and `measured`.

    `measured` is the result (from id → class and speedup).
    """
    bound = BOUNDS.get(measure.column, ("",))[-1]
    costs, whys, found = list[str | None](), list[str | None](), list[str | None]()
    for row in runs.to_pylist():
        cost = row[measure.column]
        costs.append(
            None if cost is None else sortable(cost, Unit.USD, row[bound] if bound else "")
        )
        label = FAILURES[row["reason"]].label if row["reason"] else ""
        whys.append(join_known(": ", label, row["failure_message"]) or None)
        found.append(measured_cell(*measured.get(row["run_id"], ("not_measured", None))))
    return with_cells(runs, {"cost_shown": costs, "why": whys, "measured": found})


def measured_cell(kind: str, speedup: float | None) -> str | None:
    """Return `1.25×`, or the class of the measurement in words.

    None for a run that was not measured.
    """
    if kind == "not_measured":
        return None
    return ratio(speedup) if speedup is not None else MEASURED.get(kind, words(kind))


def claim_grid(claims: pa.Table) -> Grid:
    """Return the claims of `app.queries.claims` as a grid."""
    cells = {
        "hedged": ["yes" if hedged else "no" for hedged in claims["hedged"].to_pylist()],
        "evidence": list(
            map(evidence_words, claims["evidence"].to_pylist(), claims["kind"].to_pylist())
        ),
        "scope": list(map(words, claims["scope"].to_pylist())),
        "origin": [ORIGIN_NAMES.get(origin, origin) for origin in claims["origin"].to_pylist()],
        "quote": list(map(quoted, claims["quote"].to_pylist())),
    }
    if "sentence" in claims.column_names:
        cells["sentence"] = list(map(_short, claims["sentence"].to_pylist(), cells["quote"]))
    return grid(
        with_cells(claims, cells),
        Listing(catalogue.CLAIMS, tuple(key for key in CLAIMS if key in claims.column_names)),
    )


def _short(sentence: str | None, quote: str) -> str | None:
    """Return the sentence around a claim as a quote; a long one is cut around the claim."""
    if sentence is None or len(quoted(sentence)) <= LONGEST_SENTENCE:
        return sentence and quoted(sentence)
    sentence = quoted(sentence)
    first = max(sentence.find(quote[:20]) - LONGEST_SENTENCE // 3, 0)
    cut = sentence[first : first + LONGEST_SENTENCE]
    return f"{'…' if first else ''}{cut}{'…' if first + len(cut) < len(sentence) else ''}"


def value_grid(values: pa.Table) -> Grid:
    """Return the measured values of a run as a grid."""
    notes = list[str | None]()
    for why in values["why"].to_pylist():
        note = one_line(why or "")
        notes.append(
            textwrap.shorten(note, LONGEST_NOTE, placeholder=" …") or note[:LONGEST_NOTE] or None
        )
    verdicts = [
        verdict_words(verdict, is_beyond_noise=is_beyond)
        for verdict, is_beyond in zip(
            values["verdict"].to_pylist(), values["is_beyond_noise"].to_pylist(), strict=True
        )
    ]
    return grid(with_cells(values, {"why": notes, "verdict": verdicts}), VALUES)


def block_grid(blocks: pa.Table) -> Grid:
    """Return the five-hour blocks that have a time, latest first, without gaps."""
    dated = blocks.filter(pc.fill_null(pc.not_equal(blocks["block_state"], "gap"), False)).sort_by(
        [("block_start", "descending")]
    )
    models = [", ".join(models or ()) for models in dated["models"].to_pylist()]
    return grid(
        with_cells(
            dated, {"tokens_per_minute": pc.round(dated["tokens_per_minute"]), "models": models}
        ),
        BLOCKS,
    )


def response_grid(responses: pa.Table) -> Grid:
    """Return the responses of a session in order, with tools as `Bash, Read ×2`.

    Lanes are shown if there are several.
    """
    cells: dict[str, Any] = {
        "output_count": pc.if_else(responses["output_is_final"], "final", "lower bound")
    }
    for name in ("tools", "failed_tools"):
        counted = (Counter(tools).items() for tools in responses[name].to_pylist())
        cells[name] = [
            ", ".join(f"{tool} ×{count}" if count > 1 else tool for tool, count in one) or None
            for one in counted
        ]
    has_lanes = len(set(responses["subagent"].to_pylist())) > 1
    keys = tuple(key for key in RESPONSES.keys if has_lanes or key != "subagent")
    return grid(with_cells(responses, cells), Listing(RESPONSES.of, keys))


def upload_grid(reports: Sequence[SourceReport]) -> Grid:
    """Return the status of each file that brought something or was rejected in part."""
    listed = [report for report in reports if brought(report)]
    every = ("accepted", "duplicates", "rejected", "ignored")
    counts = [name for name in every if any(getattr(one, name) for one in listed)]
    rows = [
        {"name": _ending(report.name), "became": upload_words(report)}
        | {name: getattr(report, name) or None for name in counts}
        for report in listed
    ]
    texts = [(name, pa.string()) for name in ("name", "became")]
    made = pa.Table.from_pylist(rows, pa.schema([*texts, *((name, pa.int64()) for name in counts)]))
    return Grid(made, tuple(columns(made, catalogue.UPLOADS)))


def reject_grid(reports: Sequence[SourceReport]) -> Grid:
    """Return rejected documents with reason and position."""
    keys = ("detail", "position", "excerpt")
    rejects = [
        (report.name, *(getattr(reject, key) for key in keys))
        for report in reports
        for reject in report.rejects
    ]
    cells = zip(*rejects, strict=True) if rejects else [()] * 4
    made = pa.table(
        {
            key: pa.array(_readable(values), pa.string())
            for key, values in zip(("source_name", *keys), cells, strict=True)
        }
    )
    return Grid(made, tuple(columns(made, catalogue.REJECTS)))


def row_height(rows: pa.Table) -> int:
    """Return the height in pixels of a grid's rows, for the longest sentence in a text column.

    The sentence is wrapped; the text columns are those of TEXT_WIDTHS.
    """
    lines = 1
    for name, width in TEXT_WIDTHS.items():
        if name in rows.column_names:
            longest = int(pc.max(pc.utf8_length(rows[name])).as_py() or 1)
            lines = max(lines, min(ceil(longest * CHARACTER / (width - PADDING)), MOST_LINES))
    return ROW_HEIGHT if lines == 1 else max(WRAPPED_HEIGHT, ROW_HEIGHT + LINE_HEIGHT * (lines - 1))


def grid_height(rows: pa.Table, tall: int = ROW_HEIGHT) -> int:
    """Return the height in pixels that shows the rows, or as many as a page has room for."""
    return int(ROW_HEIGHT + 2 + min(rows.num_rows * tall, (MOST_ROWS - 1) * ROW_HEIGHT))


def chosen_row(runs: pa.Table, selection: Mapping[str, Any]) -> int | None:
    """Return the row that is selected in a grid of these runs.

    None if nothing is, or if the table has changed since.
    """
    places = [*selection.get("rows", ()), *(row for row, _ in selection.get("cells", ()))]
    return int(places[0]) if places and 0 <= places[0] < runs.num_rows else None
