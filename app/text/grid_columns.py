"""Tables as a screen's grid shows them: which columns, and as types a grid can sort."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from app.queries.cost import MODEL_FIGURES as COSTS_OF_MODELS
from app.queries.filters import SEARCHED
from app.text import brief
from app.text.columns import Column, columns, with_starts
from app.text.formatting import UNKNOWN_NAME, sortable_duration
from app.text.html_parts import MEASURED as CLASSES
from app.text.presentation import fact_words, upload_words
from app.text.words.claims import ORIGIN_NAMES, evidence_words, words
from app.text.words.measures import BOUNDS as KINDS
from schemas.catalogue import columns as catalogue
from schemas.catalogue.cost_measures import BEST, LIST, CostMeasure
from schemas.catalogue.entry import Columns
from schemas.catalogue.failures import REASONS as FAILURES
from schemas.catalogue.figures import MORE, listed
from schemas.text import quoted, visible
from schemas.units import Unit

if TYPE_CHECKING:
    from ingest.pipeline import SourceReport


@dataclass(frozen=True)
class Listing:
    """Which columns a grid shows, in order, and the catalogue's columns that they are."""

    of: Columns
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Grid:
    """Rows as types that a browser's grid can sort, and what their columns are called and count."""

    rows: pa.Table
    columns: tuple[Column, ...]


RUNS = Listing(
    {**catalogue.RUNS, "task_key": replace(catalogue.RUNS["task_key"], label=catalogue.RUNS["task"].label)},
    ("title", "agent", "model", "task_key", "outcome", "why", "cost_shown", "duration_ms", "claimed_speedup", "measured", "dated_at"),
)
COMPACT_RUNS = ("title", "cost_shown", "dated_at", "agent", "outcome", "duration_ms")
"""What a phone shows of a run, most important first: three columns have room at once."""

MORE_RUNS = listed(
    "reason", "repo", "task", "experiment", "cost_own_usd",
    "cost_list_usd", "num_turns", "output_tokens", "cache_read_share", "cost_per_turn_usd",
    "parallelism", MORE, "time_source", "source_name", "session_id", "run_id", "started_at", "agent_version", "tokens_basis",
    "cost_delta_usd", "cost_cause", "cost_list_per_turn_usd", "score", "provider", "region", "duration_api_own_ms", "input_tokens",
    "cache_read_tokens", "cache_write_tokens", "permission_denials", "claimed_caveat", "claimed_evidence", "claimed_quote",
    "claimed_confidence", "findings", "ended_at", "subtype", "stop_reason", "terminal_reason", "received_at", "starred", "note", "excluded",
    "excluded_reason",
)  # fmt: skip
"""Further columns that the list of runs can show."""

MODEL_GROUPS = ("model", "provider", "region")
MODEL_FIGURES = (
    "runs",
    "cost_usd",
    "cost_list_usd",
    "bounded_list_usd",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
)
MODELS = Listing(catalogue.MODELS, (*MODEL_GROUPS, *MODEL_FIGURES))
MODEL_COSTS = Listing(catalogue.MODELS, (*MODEL_GROUPS, "uses", *COSTS_OF_MODELS, "priced_uses"))
UNPRICED = Listing(catalogue.MODELS, ("model-id", "provider", "region", "runs", "total_tokens", "cost_usd"))
USAGE = Listing(
    catalogue.USES,
    (
        "model", "provider", "region", "cost_reported_usd", "cost_list_usd", "cost_delta_usd", "cost_cause", "input_tokens",
        "output_tokens", "cache_read_tokens", "cache_write_tokens", "tokens_basis", "tokens_basis_reason", "web_search_requests",
        "context_window", "price_source", "model_id",
    ),
)  # fmt: skip
CLAIMS = (
    "title", "ratio", "metric", "sentence", "evidence", "caveat", "confidence", "repo", "dated_at", "quote", "ratio_low", "ratio_high",
    "direction", "scope", "hedged", "origin", "kind", "subject", "model", "run_id",
)  # fmt: skip
"""What says what is claimed, on what evidence and by whom comes first: a page shows eight columns without scrolling."""

FILE_CHANGES = Listing(catalogue.FILE_CHANGES, ("path", "insertions", "deletions"))
RECORDS = Listing(
    catalogue.RECORDS,
    (
        "record_kind", "source_name", "gives", "agent", "cost_reported_usd", "input_tokens", "cache_read_tokens", "cache_write_tokens",
        "output_tokens", "duration_ms", "num_turns", "outcome", "score",
    ),
)  # fmt: skip
TOOL_CALLS = Listing(catalogue.TOOL_CALLS, ("tool", "calls", "errors"))
FINDINGS = Listing(catalogue.FINDINGS, ("title", "message", "severity", "cost_own_usd", "expected", "actual", "model", "run_id"))
REASONS = Listing(catalogue.REASONS, ("reason", "rejected", "sources", "detail"))
REJECTS = Listing(catalogue.REJECTS, ("source_name", "reason", "detail", "position", "excerpt"))
SOURCES = Listing(
    catalogue.SOURCES,
    ("name", "kind", "documents", "accepted", "duplicates", "rejected", "ignored", "bytes", "container", "received_at"),
)
WORDED = ("agent", "outcome", "tokens_basis", "cost_cause", "causes", "cause", "claimed_evidence", "evidence", "time_source")
"""Columns whose values are keys, shown as words."""

ROW_HEIGHT, MOST_ROWS = 35, 18
LINE_HEIGHT, WRAPPED_HEIGHT = 19, 66
"""Pixels of a further line of a text, and the least height of rows from which a grid wraps texts."""

CHARACTER, PADDING, MOST_LINES = 6.5, 16, 8
"""Pixels of a character, and what is left free in a cell."""

TEXT_WIDTHS = {"message": 640, "detail": 420, "sentence": 300, "caveat": 148}
"""Widths in pixels of columns of sentences, which wrap."""

LONGEST_SENTENCE = 126
"""The most characters of a claim's sentence in a grid: three lines."""

LONGEST_PATH = 32

_NOTED = ("detail", "position", "excerpt")
_COUNTS = ("accepted", "duplicates", "rejected", "ignored")
_NAMES = pa.list_(pa.string())


def grid(table: pa.Table, listing: Listing) -> Grid:
    """The columns of a grid. A column of which nothing is known is left out."""
    table = with_starts(table)
    kept = [key for key in _with_caveat(listing.keys, table) if not table.num_rows or table[key].null_count < table.num_rows]
    shown = tuple(columns(table.select(kept), listing.of))
    return Grid(pa.table({column.name: _named(table[column.name], column) for column in shown}), shown)


def _named(values: pa.ChunkedArray, column: Column) -> pa.ChunkedArray:
    """The cells of a column; a group without a name is called unknown, as in charts."""
    cells = _cells(values, column.name, column.unit)
    return pc.fill_null(cells, UNKNOWN_NAME) if column.is_name and pa.types.is_string(cells.type) else cells


def _with_caveat(keys: Sequence[str], table: pa.Table) -> list[str]:
    """A claimed speedup is followed by what limits it, whoever chose the columns."""
    chosen = [key for key in keys if key != "claimed_caveat"]
    if "claimed_speedup" in chosen and "claimed_caveat" in table.column_names:
        chosen.insert(chosen.index("claimed_speedup") + 1, "claimed_caveat")
    return chosen


def _cells(values: pa.ChunkedArray, name: str, unit: Unit) -> pa.ChunkedArray:
    """Money as floats, milliseconds as `21m 19s`, shares as percentages, outcomes as words: as a grid sorts and shows them."""
    if unit is Unit.MILLISECONDS:
        return pa.chunked_array([[None if value is None else sortable_duration(value) for value in values.to_pylist()]], pa.string())
    if unit is Unit.SHARE:
        return pc.multiply(values, 100.0)
    if pa.types.is_decimal(values.type):
        # rounded here, as `formatting` does: of a float a browser would make another last digit than cards show
        wide = values.cast(pa.decimal128(38, values.type.scale))  # the largest amount rounds up to one that its own type cannot hold
        return pc.round(wide, money_decimals(values), "half_to_even").cast(pa.float64())
    if name in WORDED or name == "source_name":
        return pa.chunked_array([[None if value is None else _worded(value, name) for value in values.to_pylist()]], pa.string())
    if pa.types.is_string(values.type) or values.type == _NAMES:
        return pa.chunked_array([_readable(values.to_pylist())], values.type)
    return values


def _worded(value: Any, name: str) -> str:
    return fact_words(value, name) if name in WORDED else _ending(visible(value))


def _ending(path: str) -> str:
    """The last two parts of a long path: they differ from row to row."""
    parts = path.rsplit("/", 2)
    return path if len(path) <= LONGEST_PATH or len(parts) < 3 else "/".join(["…", *parts[1:]])


def _readable(values: Iterable[Any]) -> list[Any]:
    """Texts, also in lists, without what deceives; all else as it is."""
    return [visible(one) if isinstance(one, str) else _readable(one) if isinstance(one, list) else one for one in values]


PLACES = {"path": catalogue.FILE_CHANGES["path"].label} | {column: catalogue.RUNS[column].label for column in SEARCHED}
"""What the texts are called in which a search finds something."""


def with_excerpts(runs: pa.Table, excerpts: Mapping[str, tuple[str, str]]) -> pa.Table:
    """The runs with a column `excerpt`: the part of a run in which the search matches, and the text around the match."""
    found = [excerpts.get(run_id) for run_id in runs["run_id"].to_pylist()]
    return runs.append_column("excerpt", pa.array([one and f"{PLACES[one[0]]}: {one[1]}" for one in found], pa.string()))


def with_answers(runs: pa.Table, measured: Mapping[str, tuple[str, float | None]], measure: CostMeasure) -> pa.Table:
    """The runs with `cost_shown` by the measure, `why` they failed, and what was `measured` (run id → class and speedup), in words."""
    bound = {BEST: "cost_best_bounds", LIST: "tokens_basis"}.get(measure)
    costs, whys, found = [], [], []
    for row in runs.to_pylist():
        cost = row[measure.column]
        written = "" if cost is None else brief.usd(cost, row[bound] if bound and row[bound] in KINDS else "")
        costs.append(f"{' ' * (12 - len(written.split('.')[0].lstrip('≤≥≈ ')))}{written}" if written else None)  # as texts sort by size
        label = FAILURES[row["reason"]].label if row["reason"] else ""
        whys.append(": ".join(filter(None, (label, row["failure_message"]))) or None)
        kind, speedup = measured.get(row["run_id"], ("not_measured", None))
        words = (
            None if kind == "not_measured" else brief.ratio(speedup) if speedup is not None else CLASSES.get(kind, kind.replace("_", " "))
        )
        found.append(words)
    for name, cells in (("cost_shown", costs), ("why", whys), ("measured", found)):
        runs = runs.append_column(name, pa.array(cells, pa.string()))
    return runs


def claim_grid(claims: pa.Table) -> Grid:
    """Claims, as `app.queries.claims` finds them."""
    spoken = {
        "hedged": ["yes" if hedged else "no" for hedged in claims["hedged"].to_pylist()],
        "evidence": list(map(evidence_words, claims["evidence"].to_pylist(), claims["kind"].to_pylist())),
        "scope": [words(scope) for scope in claims["scope"].to_pylist()],
        "origin": [ORIGIN_NAMES.get(origin, origin) for origin in claims["origin"].to_pylist()],
    }
    spoken["quote"] = [quoted(quote) for quote in claims["quote"].to_pylist()]
    if "sentence" in claims.column_names:
        spoken["sentence"] = list(map(_short, claims["sentence"].to_pylist(), spoken["quote"]))
    for name, cells in spoken.items():
        claims = claims.set_column(claims.column_names.index(name), name, pa.array(cells, pa.string()))
    return grid(claims, Listing(catalogue.CLAIMS, tuple(key for key in CLAIMS if key in claims.column_names)))


def _short(sentence: str | None, quote: str) -> str | None:
    """The sentence around a claim as a quote, a long one cut."""
    if sentence is None:
        return None
    sentence = quoted(sentence)
    if len(sentence) <= LONGEST_SENTENCE:
        return sentence
    first = max(sentence.find(quote[:20]) - LONGEST_SENTENCE // 3, 0)
    cut = sentence[first : first + LONGEST_SENTENCE]
    return f"{'…' if first else ''}{cut}{'…' if first + len(cut) < len(sentence) else ''}"


def money_decimals(amounts: pa.ChunkedArray) -> int:
    """Decimals of a column of money, one number for all of it: four where every amount is below $1."""
    if not pa.types.is_floating(amounts.type) and not pa.types.is_decimal(amounts.type):
        return 2
    largest = pc.max(pc.abs(amounts)).as_py()
    return 4 if largest is not None and largest < 1 else 2


def row_height(rows: pa.Table) -> int:
    """Height in pixels of a grid's rows: the longest sentence of a column of TEXT_WIDTHS wraps and is readable in full."""
    lines = max((_lines(rows[name], width) for name, width in TEXT_WIDTHS.items() if name in rows.column_names), default=1)
    return ROW_HEIGHT if lines == 1 else max(WRAPPED_HEIGHT, ROW_HEIGHT + LINE_HEIGHT * (lines - 1))


def _lines(texts: pa.ChunkedArray, width: int) -> int:
    longest = int(pc.max(pc.utf8_length(texts)).as_py() or 1)
    return min(ceil(longest * CHARACTER / (width - PADDING)), MOST_LINES)


def grid_height(rows: pa.Table, tall: int = ROW_HEIGHT) -> int:
    """Height in pixels that shows the rows, or as many as a page has room for."""
    return int(ROW_HEIGHT + 2 + min(rows.num_rows * tall, (MOST_ROWS - 1) * ROW_HEIGHT))


def upload_grid(reports: Sequence[SourceReport]) -> Grid:
    """The status of each file."""
    getters = {"source_name": lambda report: report.name, "became": upload_words} | {name: _attribute(name) for name in _COUNTS}
    types = dict.fromkeys(_COUNTS, pa.int64())
    return _grid(reports, getters, catalogue.UPLOADS, types)


def reject_grid(reports: Sequence[SourceReport]) -> Grid:
    """What was rejected, why and where."""
    rejects = [(report.name, reject) for report in reports for reject in report.rejects]
    getters = {"source_name": lambda pair: pair[0]} | {name: _attribute(name, 1) for name in _NOTED}
    return _grid(rejects, getters, catalogue.REJECTS, {})


def chosen_row(runs: pa.Table, selection: Mapping[str, Any]) -> int | None:
    """The row of the run or cell that is selected in a grid of these runs; None where nothing is, or the table has changed since."""
    places = [*selection.get("rows", ()), *(row for row, _ in selection.get("cells", ()))]
    return int(places[0]) if places and 0 <= places[0] < runs.num_rows else None


def clicked_run(point: Mapping[str, Any]) -> str:
    """The run of a mark that was clicked: its id is the mark's custom data."""
    found = point.get("customdata")
    return str(found[0] if isinstance(found, list | tuple) else found)


def _attribute(name: str, at: int | None = None) -> Callable[[Any], Any]:
    return lambda item: getattr(item if at is None else item[at], name)


def _grid(items: Iterable[Any], getters: Mapping[str, Callable[[Any], Any]], of: Columns, types: Mapping[str, pa.DataType]) -> Grid:
    rows = list(items)
    cells = {name: pa.array(_readable(get(row) for row in rows), types.get(name, pa.string())) for name, get in getters.items()}
    return Grid(pa.table(cells), tuple(columns(pa.table(cells), of)))
