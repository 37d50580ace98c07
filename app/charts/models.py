"""Charts of models: what each costs per run, and what a run's tokens are made of. Rows as of `queries.model_rows`."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from app.charts.axes import axis_layout, axis_of, is_wide
from app.charts.base import Words, chart, figure, hover, nothing, run_line, safe, tick_name
from app.charts.palette import OTHER_LOOK, SYMBOLS, Look, Looks, in_legend, name
from app.text.formatting import exact, human
from app.text.words.costs import TOKEN_CLASSES, percent
from schemas.catalogue.columns import GROUPS, RUNS
from schemas.catalogue.cost_measures import BEST, COST_MEASURES, LIST, ON_SCREENS, REPORTED, CostMeasure
from schemas.text import plural
from schemas.unit_names import Unit

MOST_BARS = 50
"""The most bars that can be distinguished; a note mentions the other runs."""

MOST_MODELS = 40
"""The most models of a run that are drawn: those with the most tokens."""

NAMED_BARS = 12
"""The most bars that are labelled with the title of their run."""

FEW_BARS = 6
"""The most bars below which a title has two lines."""

LONGEST_TICK, LONGEST_TITLE = 20, 80
"""The most characters of a title below one of many bars, and in hover text."""

COSTS, TOKENS = {key: axis_of(GROUPS[measure.total]) for key, measure in COST_MEASURES.items()}, axis_of(RUNS["total_tokens"])
PER_RUN = {BEST.key: "best-cost-models", REPORTED.key: "cost-models", LIST.key: "list-cost-models"}
"""The chart of what runs cost, by measure."""

Row = Mapping[str, Any]


def _cost_words(table: pa.Table, measure: CostMeasure) -> Words:
    rows, note = _priced(table), _cost_note(table, measure)
    total = sum((row["cost_usd"] for row in rows), Decimal(0))
    if not total:
        return Words(f"{measure.label} per run", note)
    shares = {model: cost for model, cost in _sums(rows, "model").items() if model is not None}
    if not shares:
        return Words("No run names its models", note)
    model, cost = max(shares.items(), key=lambda item: item[1])
    made = f"all {measure.noun}" if cost == total else f"{percent(cost / total)} of {measure.noun}"
    return Words(f"{name(model)} accounts for {made}, by own tokens", note)


def _cost_note(table: pa.Table, measure: CostMeasure) -> str:
    runs = _sums(_priced(table), "run_id")
    silent = len(set(table["run_id"].to_pylist()) - runs.keys())
    said = [f"Not shown: {plural(silent, 'run')} without a {measure.name}."] if silent else []
    if len(runs) > MOST_BARS:
        top = sum(sorted(runs.values(), reverse=True)[:MOST_BARS], Decimal(0))
        share = percent(top / sum(runs.values(), Decimal(0))) if top else "none"
        said.insert(0, f"Top {MOST_BARS} of {plural(len(runs), 'run')}: {share} of {measure.noun}.")
    return " ".join(said)


def _priced(table: pa.Table) -> list[Row]:
    rows: list[Row] = table.select(["run_id", "title", "model", "cost_usd"]).to_pylist()
    return [row for row in rows if row["cost_usd"] is not None]


def _sums(rows: Sequence[Row], key: str) -> dict[Any, Decimal]:
    sums: dict[Any, Decimal] = {}
    for row in rows:
        sums[row[key]] = sums.get(row[key], Decimal(0)) + row["cost_usd"]
    return sums


def cost_models(table: pa.Table, models: Looks, measure: CostMeasure) -> go.Figure:
    """Stacked bars of the most expensive runs."""
    rows = _priced(table)
    if not rows:
        return nothing(f"No run has a {measure.name}.")
    runs = sorted(_sums(rows, "run_id").items(), key=lambda item: (-item[1], item[0]))[:MOST_BARS]
    places = {run_id: place for place, (run_id, _) in enumerate(runs)}
    drawn = [row for row in rows if row["run_id"] in places]
    of_model: dict[str | None, list[Row]] = {}
    for row in drawn:
        of_model.setdefault(row["model"], []).append(row)
    traces = [_bars(*entry, places, dict(runs)) for entry in in_legend(of_model, models)]
    cost = axis_layout(COSTS[measure.key], [], logarithmic=False)
    titles = {row["run_id"]: row.get("title") or row["run_id"][:8] for row in drawn}
    return figure(traces, barmode="stack", bargap=0.25, xaxis=_run_axis([titles[run_id] for run_id in places]), yaxis=cost)


for _measure in ON_SCREENS:
    chart(
        PER_RUN[_measure.key],
        f"{_measure.label} per run, by model",
        f"One bar per run, most expensive first, its height the {_measure.name}, stacked by the models the run used",
        partial(_cost_words, measure=_measure),
    )(partial(cost_models, measure=_measure))


def _bars(label: str, look: Look, rows: Sequence[Row], places: Mapping[str, int], totals: Mapping[str, Decimal]) -> go.Bar:
    """The part of one entry of the legend in every bar."""
    return go.Bar(
        x=[places[row["run_id"]] for row in rows],
        y=[float(row["cost_usd"]) for row in rows],
        name=safe(label),
        hovertext=[_cost_hover(row, totals) for row in rows],
        customdata=[row["run_id"] for row in rows],
        hoverinfo="text",
        showlegend=True,
        marker={
            "color": look.colour,
            "line": {"width": 0},
            "pattern": {"shape": look.pattern, "bgcolor": look.colour, "fgcolor": "#FFFFFF"},
        },
    )


def _cost_hover(row: Row, totals: Mapping[str, Decimal]) -> str:
    whole = {"Whole run": (totals[row["run_id"]], Unit.USD)}
    title = textwrap.shorten(row["title"], LONGEST_TITLE, placeholder=" …") or row["title"][:LONGEST_TITLE]
    model = f"{safe(name(row['model']))}: {exact(row['cost_usd'], Unit.USD)}"
    return f"{hover(title, whole)}<br>{model}<br>{safe(run_line(row))}"


def _run_axis(titles: Sequence[str]) -> dict[str, Any]:
    """The axis of runs: few runs with their titles, many by rank. A fixed range keeps a single bar from filling the plot."""
    width = max(len(titles), 5)
    middle = (len(titles) - 1) / 2
    layout: dict[str, Any] = {"range": [middle - width / 2, middle + width / 2], "showgrid": False, "zeroline": False}
    if len(titles) > NAMED_BARS:
        places = [0, *range(9, len(titles) - 5, 10), len(titles) - 1]
        ranks = {"tickvals": places, "ticktext": [str(place + 1) for place in places]}
        return layout | ranks | {"title": {"text": "Runs, most expensive first"}, "automargin": True}
    ticks = [tick_name(title) if len(titles) <= FEW_BARS else _short_tick(title) for title in titles]
    return layout | {"title": {"text": "Run"}, "tickvals": list(range(len(ticks))), "ticktext": ticks, "automargin": True}


def _short_tick(title: str) -> str:
    return safe(title if len(title) <= LONGEST_TICK else f"{title[: LONGEST_TICK - 1]}…")


def _token_words(table: pa.Table) -> Words:
    sums = {label: sum(value for value in table[key].to_pylist() if value is not None) for key, label in TOKEN_CLASSES.items()}
    total, zero = sum(sums.values()), [label for label, value in sums.items() if not value]
    note = f"No tokens: {', '.join(zero).lower()}." if total and zero else ""
    if table.num_rows > MOST_MODELS:
        note = f"Showing the {MOST_MODELS} of {plural(table.num_rows, 'model')} with the most tokens. {note}".strip()
    if not total:
        return Words("Tokens by type and model", note)
    label, most = max(sums.items(), key=lambda item: item[1])
    return Words(f"{label}: {percent(Decimal(most) / total)} of {human(total, Unit.TOKENS)} tokens", note)


@chart("run-tokens", "Tokens by type and model", "One point per type of tokens and model, its number of tokens to the right", _token_words)
def run_tokens(table: pa.Table, models: Looks) -> go.Figure:
    """Tokens of one run as points: as bars on one scale, all types except cache reads would be too short to see."""
    rows = [row for row in table.to_pylist() if any(row[key] for key in TOKEN_CLASSES)]
    if not rows:
        return nothing("The record counts no tokens.")
    rows = sorted(rows, key=_tokens_of, reverse=True)[:MOST_MODELS] if len(rows) > MOST_MODELS else rows
    rows = sorted(rows, key=lambda row: models.get(row["model"], OTHER_LOOK).place)
    values = [float(row[key]) for row in rows for key in TOKEN_CLASSES if row[key]]
    tokens = axis_layout(TOKENS, values, logarithmic=is_wide(values))
    classes = {"categoryorder": "array", "categoryarray": list(reversed(TOKEN_CLASSES.values())), "automargin": True, "showgrid": True}
    return figure([_tokens(row, models, place) for place, row in enumerate(rows)], xaxis=tokens, yaxis=classes | {"title": {"text": ""}})


def _tokens_of(row: Row) -> int:
    return sum(row[key] or 0 for key in TOKEN_CLASSES)


def _tokens(row: Row, models: Looks, place: int) -> go.Scatter:
    """The points of one model; labels of neighbouring models are above and below in turn, so that they do not overlap."""
    look = models.get(row["model"], OTHER_LOOK)
    counts = {label: row[key] for key, label in TOKEN_CLASSES.items() if row[key]}
    return go.Scatter(
        x=[float(count) for count in counts.values()],
        y=list(counts),
        name=safe(name(row["model"])),
        mode="markers+text",
        text=[human(count, Unit.TOKENS) for count in counts.values()],
        textposition=("top center", "bottom center")[place % 2],
        hovertext=[hover(name(row["model"]), {label: (count, Unit.TOKENS)}) for label, count in counts.items()],
        hoverinfo="text",
        showlegend=True,
        marker={"color": look.colour, "symbol": SYMBOLS[place % len(SYMBOLS)] if look.is_other else look.symbol, "size": 13},
    )
