"""Every column that people see, by what a row of its table is: `RUNS["duration_ms"]`, `GROUPS["cost_usd"]`, `CLAIMS["ratio"]`.

One name may mean two things: `cost_list_usd` is a run's in RUNS and a sum in GROUPS. What the store keeps is described by the row
models (title, unit of the type, description), what views derive in `figures`, what aggregates them in `metrics`. Columns of neither
kind, which a single table makes, are described here.
"""

from __future__ import annotations

from dataclasses import replace

from schemas.catalogue.dimensions import DIMENSIONS, LABEL, LABEL_PREFIX, MODEL_DIMENSIONS
from schemas.catalogue.entry import Better, Columns, Entry, Figure, by_key
from schemas.catalogue.figures import MODEL_FIGURES, RUN_FIGURES
from schemas.catalogue.metrics import MODEL_METRICS, RUN_METRICS
from schemas.rows.claim import ClaimRow
from schemas.rows.row import Row
from schemas.rows.run import FileChangeRow, ModelUsageRow, RunRow, ToolCallRow
from schemas.rows.source import FindingRow, RejectRow, SourceRow
from schemas.rows.tables import stored_type
from schemas.unit_names import Unit


class _Groups(dict[str, Entry]):
    """Columns of groups; any label is one, as `label:KEY`."""

    def __missing__(self, word: str) -> Entry:
        if not word.startswith(LABEL_PREFIX):
            raise KeyError(word)
        return Entry(word, f"{LABEL.label} {word.removeprefix(LABEL_PREFIX)}", meaning=LABEL.meaning)

    def __contains__(self, word: object) -> bool:
        return super().__contains__(word) or str(word).startswith(LABEL_PREFIX)


def _entries(row: type[Row]) -> dict[str, Entry]:
    """The columns of a row model that people see: those with a title. Their unit is that of their type."""
    named = [(name, info.title, info.description or "") for name, info in row.model_fields.items() if info.title]
    return {name: Entry(name, title, stored_type(row, name).unit, meaning=meaning) for name, title, meaning in named}


def _stored(key: str, word: str, better: Better) -> Figure:
    """A column of runs that is drawn as a distribution and compared."""
    entry = _entries(RunRow)[key]
    return Figure(key, entry.label, entry.unit, better, entry.meaning, word=word)


_SOURCE = _entries(SourceRow)
_SOURCE_NAME = Entry("source_name", "Source", meaning="File the record was read from.")

_MEASURED = by_key(
    _stored("cost_own_usd", "cost", "lower"),
    _stored("duration_ms", "wall", "lower"),
    _stored("duration_api_own_ms", "api", "lower"),
    RUN_FIGURES["parallelism"],
    _stored("num_turns", "turns", "neither"),
    RUN_FIGURES["duration_per_turn_ms"],
    RUN_FIGURES["cost_per_turn_usd"],
    _stored("ttft_ms", "first-token", "lower"),
    _stored("output_tokens", "output", "lower"),
)

MEASURES = {figure.word: figure for figure in (_MEASURED | RUN_FIGURES).values() if figure.word}
"""Figures of a run whose distribution is worth a look, by their words, in the order in which they are shown and compared."""

TIMES = (*(word for word, figure in MEASURES.items() if figure.unit is Unit.MILLISECONDS), "parallelism")
"""The measures of the screen on durations."""

RUNS: Columns = {
    **_entries(RunRow),
    **_MEASURED,
    **RUN_FIGURES,
    **by_key(_SOURCE_NAME, _SOURCE["received_at"], Entry("excerpt", "Where the text stands")),
}
"""One run: columns of `v_runs`."""

_OF_ITS_RUN = {key: RUNS[key] for key in ("repo", "task", "experiment", "agent", "model", "outcome")}

GROUPS: Columns = _Groups(
    {
        **DIMENSIONS,
        **RUN_METRICS,
        **by_key(
            Entry("cost_what_if_usd", "What if: list cost", Unit.USD, "lower", "List cost of the same tokens at another model's prices."),
            Entry("cost_what_if_delta_usd", "What if, less list cost", Unit.USD, "lower", "That less the list cost, of runs with both."),
            Entry(
                "priced_runs", "Runs with a list cost", Unit.COUNT,
                meaning="Runs that have a list cost; where they are fewer than all, the figures at list prices rest on these.",
            ),
        ),
    }
)  # fmt: skip
"""One group of runs, or all of them: dimensions and RUN_METRICS."""

USES: Columns = {**_entries(ModelUsageRow), **MODEL_FIGURES}
"""One model of one run: columns of `v_model_rows`."""

MODELS: Columns = {
    **MODEL_DIMENSIONS,
    **MODEL_METRICS,
    **by_key(
        replace(MODEL_METRICS["unpriced_tokens"], key="total_tokens", label="Tokens"),
        Entry(
            "uses", "Uses", Unit.COUNT,
            meaning="How often runs used one id of the model: a run that used two ids of it counts twice.",
        ),
        Entry(
            "priced_uses", "Uses with a list cost", Unit.COUNT,
            meaning="Uses that have a list cost; where they are fewer than all, the figures at list prices rest on these.",
        ),
    ),
}  # fmt: skip
"""One model over its runs: dimensions and MODEL_METRICS."""

CLAIMS: Columns = {**_OF_ITS_RUN, **_entries(ClaimRow)}
FINDINGS: Columns = {**_OF_ITS_RUN, **_entries(FindingRow)}
RULES: Columns = {
    **_entries(FindingRow),
    **by_key(
        Entry("runs", "Runs", Unit.COUNT, meaning="Runs in which the rule found something."),
        Entry("findings", "Findings", Unit.COUNT, meaning="How often the rule found something."),
        Entry("example", "Example", meaning="One of its messages."),
    ),
}
"""One rule over its findings."""

SOURCES: Columns = _SOURCE
REJECTS: Columns = {**_entries(RejectRow), **by_key(_SOURCE_NAME)}
REASONS: Columns = by_key(
    REJECTS["reason"],
    Entry("rejected", "Rejected", Unit.COUNT, meaning="Documents rejected for the reason."),
    Entry("sources", "Sources", Unit.COUNT, meaning="Sources they are of."),
    Entry("detail", "For example", meaning="One of their details."),
)
"""One reason over its rejects."""

UPLOADS: Columns = {**_SOURCE, **by_key(_SOURCE_NAME, Entry("became", "What became of it"))}
TOOL_CALLS: Columns = _entries(ToolCallRow)
FILE_CHANGES: Columns = _entries(FileChangeRow)
FACTS: Columns = by_key(Entry("fact", "Fact"), Entry("known", "Runs", Unit.COUNT), Entry("share", "Share of runs", Unit.SHARE))
"""One fact, and how many runs tell it."""

TOTALS: Columns = by_key(Entry("figure", "Figure"), Entry("value", "Total"), Entry("exactly", "Exactly"), Entry("known", "Known for"))
"""One figure of a report's totals, in words."""

CHECKS: Columns = by_key(
    Entry("limit", "Limit"), Entry("found", "Found"), Entry("allowed", "Allowed"), Entry("verdict", "Verdict"), Entry("note", "Note")
)
"""One limit and its verdict, in words."""


def outliers(measure: Entry) -> Columns:
    """One run that is far from the usual."""
    far = Entry("usual", "Median of its model", measure.unit), Entry("times_usual", "Times the median", Unit.RATIO)
    return {**RUNS, **by_key(replace(measure, key="value"), *far)}


def compared(names: tuple[str, str] = ("First", "Second")) -> Columns:
    """One measure in two cohorts of these names, in words."""
    sides = Entry("first", names[0]), Entry("second", names[1])
    interval = Entry("interval", "95% interval")
    said = Entry("verdict", "Second against first"), Entry("ratio", "Second ÷ first"), interval, Entry("tasks", "Task by task")
    return by_key(Entry("measure", "Measure"), *sides, *said)


_ENDS = {"": "", "_low": ", from", "_high": ", to"}
_ESTIMATES = {
    "difference": Entry("difference", "Second less first", Unit.COUNT),
    "ratio": Entry("ratio", "Second ÷ first", Unit.RATIO),
    "task_difference": Entry("task_difference", "Second less first, task by task", Unit.COUNT),
    "task_ratio": Entry("task_ratio", "Second ÷ first, task by task", Unit.RATIO),
}
COMPARED: Columns = by_key(
    *(Entry(key, label) for key, label in (("measure", "Measure"), ("unit", "Unit"), ("better", "Better"), ("verdict", "Verdict"))),
    *(Entry(f"{side}_known", f"{side.capitalize()}, known", Unit.COUNT) for side in ("first", "second")),
    *(Entry(f"tasks{end}", f"Tasks{words}", Unit.COUNT) for end, words in (("", ""), ("_lower", ", lower"), ("_higher", ", higher"))),
    *(Entry(f"{side}_median", f"{side.capitalize()}, median", Unit.COUNT) for side in ("first", "second")),
    *(replace(one, key=f"{key}{end}", label=f"{one.label}{words}") for key, one in _ESTIMATES.items() for end, words in _ENDS.items()),
)
"""One measure in two cohorts, in numbers: medians and differences are in the unit that `unit` names."""
