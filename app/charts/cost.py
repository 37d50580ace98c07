"""Charts of what groups of runs spent: by model, and by type of tokens. Rows as of `app.queries.cost`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from app.charts.axes import Axis, axis_layout, axis_of
from app.charts.base import HEIGHT, figure, hover, inked, nothing, safe, tick_name
from app.charts.palette import OTHER_LOOK, OTHERS, TOKENS, Look, Looks, name
from app.charts.periods import filled, labels
from app.queries.cost import Groups
from app.text.words.costs import TOKEN_CLASSES, group_names
from schemas.catalogue.columns import GROUPS, RUNS
from schemas.catalogue.cost_measures import COST_MEASURES, REPORTED, CostMeasure
from schemas.unit_names import Unit

COSTS, TOKEN_AXIS = {key: axis_of(GROUPS[measure.total]) for key, measure in COST_MEASURES.items()}, axis_of(RUNS["total_tokens"])
ROW = 28

Key = tuple[str | None, bool]
"""A model; or None and True for all other models together."""


def by_model(found: Groups, shares: pa.Table, looks: Looks, page: str | None, measure: CostMeasure = REPORTED) -> go.Figure:
    """A bar per group, stacked by model; horizontal, or vertical where the groups are in order of time."""
    key, cost = found.table.column_names[0], measure.total
    rows = [row for row in found.table.to_pylist() if row[cost] is not None]
    if not any(row[cost] for row in rows):
        return nothing(f"No run has a {measure.name} above 0.")
    groups = filled([row[key] for row in rows]) if found.in_order else [row[key] for row in rows]
    places = {group: place for place, group in enumerate(groups)}
    totals = {row[key]: row[cost] for row in rows}
    amounts = _amounts((row for row in shares.to_pylist() if row["group"] in totals), looks)
    names = dict(zip(places, group_names([{key: group} for group in groups], key), strict=True))
    traces = [_share(model, part, places, names, totals, looks, upright=found.in_order) for model, part in amounts.items()]
    return _bars(traces, list(names.values()), COSTS[measure.key], page, upright=found.in_order)


def _amounts(rows: Iterable[Mapping[str, Any]], looks: Looks) -> dict[Key, dict[Any, Decimal]]:
    """Model → group → cost, in the order of legends; models without a colour of their own are summed as one."""
    sums: dict[Key, dict[Any, Decimal]] = {}
    for row in rows:
        part = sums.setdefault(key_of(row["model"], looks), {})
        part[row["group"]] = part.get(row["group"], Decimal(0)) + row["cost_usd"]
    return dict(sorted(sums.items(), key=lambda item: look_of(item[0], looks).place))


def _share(
    key: Key,
    part: Mapping[Any, Decimal],
    places: Mapping[Any, int],
    labels: Mapping[Any, str],
    totals: Mapping[Any, Decimal],
    looks: Looks,
    *,
    upright: bool,
) -> go.Bar:
    """One model's part of every bar."""
    look = look_of(key, looks)
    texts = [
        hover(labels[group], {model_name(key): (cost, Unit.USD), "All models": (totals[group], Unit.USD)}) for group, cost in part.items()
    ]
    return _bar(
        [places[group] for group in part],
        [float(cost) for cost in part.values()],
        upright=upright,
        name=safe(model_name(key)),
        marker={
            "color": look.colour,
            "line": {"width": 0},
            "pattern": {"shape": look.pattern, "bgcolor": look.colour, "fgcolor": "#FFFFFF"},
        },
        hovertext=texts,
    )


def by_token_class(found: Groups, page: str | None, measure: CostMeasure = REPORTED) -> go.Figure:
    """A bar per group, stacked by type of tokens, in the order of the bars of cost."""
    key = found.table.column_names[0]
    rows = [row for row in found.table.to_pylist() if row[measure.total] is not None or any(row[column] for column in TOKEN_CLASSES)]
    groups = filled([row[key] for row in rows]) if found.in_order else [row[key] for row in rows]
    names, places = group_names(rows, key), {group: place for place, group in enumerate(groups)}
    traces = [
        _bar(
            [places[row[key]] for row in rows if row[column]],
            [float(row[column]) for row in rows if row[column]],
            upright=found.in_order,
            name=label,
            marker={"color": TOKENS[column], "line": {"width": 0}},
            hovertext=[hover(group, {label: (row[column], Unit.TOKENS)}) for group, row in zip(names, rows, strict=True) if row[column]],
        )
        for column, label in TOKEN_CLASSES.items()
    ]
    drawn = [trace for trace in traces if trace.hovertext]
    named = group_names([{key: group} for group in groups], key)
    return _bars(drawn, named, TOKEN_AXIS, page, upright=found.in_order) if drawn else nothing("No run counts its tokens.")


def _bar(places: Sequence[int], values: Sequence[float], *, upright: bool, **look: Any) -> go.Bar:
    x, y = (places, values) if upright else (values, places)
    return go.Bar(x=list(x), y=list(y), orientation="v" if upright else "h", hoverinfo="text", showlegend=True, **look)


def _bars(traces: Sequence[go.Bar], names: Sequence[str], axis: Axis, page: str | None, *, upright: bool) -> go.Figure:
    texts = [safe(name(text)) if upright else tick_name(text) for text in names]
    places: dict[str, Any] = labels(texts) if upright else {"tickvals": list(range(len(texts))), "ticktext": texts}
    places |= {"title": {"text": ""}, "automargin": True, "showgrid": False, "ticklabelstandoff": 6}
    places |= {"range": [-0.6, len(texts) - 0.4]} if upright else {}
    values = axis_layout(axis, [], logarithmic=False)
    layout = {"xaxis": places, "yaxis": values} if upright else {"xaxis": values, "yaxis": places | {"autorange": "reversed"}}
    drawn = figure(list(traces), barmode="stack", bargap=0.3, **layout)
    if not upright:
        drawn.update_layout(height=110 + drawn.layout.height - HEIGHT + ROW * max(len(names), 4))
    return inked(drawn, page)


def model_name(key: Key) -> str:
    """The label of a part of a bar or area."""
    model, is_other = key
    return OTHERS if is_other else name(model)


def key_of(model: str | None, looks: Looks, *, is_other: bool = False) -> Key:
    """Whose part a model's cost is drawn as."""
    return (None, True) if is_other or looks.get(model, OTHER_LOOK).is_other else (model, False)


def look_of(key: Key, looks: Looks) -> Look:
    """How a part looks."""
    model, is_other = key
    return OTHER_LOOK if is_other else looks.get(model, OTHER_LOOK)
