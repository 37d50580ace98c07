"""Charts of optimization loops: the way of one loop to its best, and several loops on one scale."""

from __future__ import annotations

import math
import textwrap
from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import plotly.graph_objects as go

from app.charts.base import (
    FAILED,
    FAILED_AT_NIGHT,
    LONGEST_LINE,
    PLAIN,
    dots,
    figure,
    grid,
    hover,
    ink,
    line,
    linear_axis,
    path,
    safe,
)
from app.queries.loops import LoopAnswer, Try
from app.text.formatting import short
from app.text.loop_html import is_filled, times_its_noise, times_words
from app.text.loops import STATES, step_words
from schemas.catalogue.columns import EXPERIMENTS, LOOPS
from schemas.rows.loop import State
from schemas.text import join_known, one_line, told_apart
from schemas.units import Better, Unit

HEIGHT = 400
CUT = 0.15
"""Share of the way from baseline to best that the axis goes beyond either."""

MOST_LINEAR = 10.0
"""Times that baseline and best may differ on a linear axis."""

GAIN_TICKS = {
    math.log(1.001): "0.1%",
    math.log(1.01): "1%",
    math.log(1.1): "10%",
    math.log(2): "2×",
    math.log(10): "10×",
    math.log(1000): "1,000×",
}
"""Logarithm of a ratio → its label on the axis of gains."""

_CHECKS_FAILED = ("#6B4A8A", "#9C7FBD")
_DISCARDED = ("#A9ABA6", "#737C7E")
_TICKED = {State.CRASHED: (FAILED, FAILED_AT_NIGHT), State.CHECKS_FAILED: _CHECKS_FAILED}
_DESCRIBED, _LINE = 220, 64


def places(answer: LoopAnswer, axis: str) -> list[Any]:
    """Return where each experiment lies along an axis of AXES.

    Its number, its time (None: unknown), or the dollars spent until then.
    """
    if axis == "time":
        return [one.row["at"] for one in answer.tries]
    if axis != "usd":
        return [one.number for one in answer.tries]
    setups = {session.run_id: session.setup_usd for session in answer.costs.sessions}
    spent, found = Decimal(0), []
    for one in answer.tries:
        spent += setups.pop(one.run_id or "", Decimal(0)) + (one.cost_usd or Decimal(0))
        found.append(float(spent))
    return found


def progress(answer: LoopAnswer, axis: str, page: str | None) -> go.Figure:
    """Return every experiment of a loop.

    The best so far as steps in its band of noise, points kept and discarded, failures as ticks.
    """
    night = page == "dark"
    drawn = [
        (at, one)
        for at, one in zip(places(answer, axis), answer.tries, strict=True)
        if at is not None
    ]
    best = [(at, one.running_best) for at, one in drawn if one.running_best is not None]
    if (
        best
        and answer.row["baseline"] is not None
        and answer.baseline is not None
        and axis != "time"
    ):
        best.insert(0, (0, answer.baseline))  # which the log has apart from the experiments
    low, high = _cut(answer)
    is_lower = answer.row["better"] == Better.LOWER
    traces = list[Any]()
    if best and answer.noise and answer.noise.sigma:
        step = answer.noise.step()
        ends = [
            (value / (1 + step), value * (1 + step))
            if answer.noise.is_log
            else (value - step, value + step)
            for _, value in best
        ]
        for number, fill in ((0, "none"), (1, "tonexty")):
            traces.append(
                path(
                    [at for at, _ in best],
                    [pair[number] for pair in ends],
                    {"width": 0, "shape": "hv"},
                    fill=fill,
                    fillcolor="rgba(15,138,132,0.13)",
                )
            )
    if best:
        style = {"color": PLAIN, "width": 2, "shape": "hv"}
        traces.append(path([at for at, _ in best], [value for _, value in best], style))
    groups: dict[str, list[tuple[Any, Try]]] = defaultdict(list)
    for at, one in drawn:
        if one.value is not None and one.state not in _TICKED:
            groups[_kind(one)].append((at, one))
    for kind, colour, symbol, size in (
        ("quiet", _DISCARDED[night], "circle", 6),
        ("hollow", PLAIN, "circle-open", 9),
        ("filled", PLAIN, "circle", 9),
        ("first", ink(page), "diamond", 8),
    ):
        if group := groups[kind]:
            look = {"color": colour, "size": size, "line": {"color": colour, "width": 1.6}}
            traces.append(_marks(group, answer, low, high, look, symbol))
    edge = high if is_lower else low
    for state, colours in _TICKED.items():
        failed = [(at, one) for at, one in drawn if one.state is state]
        if failed:
            marker = {
                "symbol": "line-ns",
                "size": 11,
                "line": {"color": colours[night], "width": 2},
            }
            traces.append(_dots(failed, [edge] * len(failed), answer, marker))
    is_log = _is_log(answer)
    limits = [math.log10(low), math.log10(high)] if is_log else [low, high]
    notes, shapes = _levels(answer, limits, page, is_log=is_log)
    room = 16 + 7 * max(
        (len(part) for note in notes for part in note["text"].split("<br>")), default=0
    )
    return figure(
        traces,
        page,
        height=HEIGHT,
        margin={"l": 4, "r": room, "t": 14, "b": 4},
        shapes=shapes,
        annotations=notes,
        hovermode="closest",
        xaxis=_along(answer, axis, page),
        yaxis={
            "title": {"text": safe(answer.row["metric"] or "value")},
            "type": "log" if is_log else "linear",
            "range": limits,
            "fixedrange": True,
            "automargin": True,
            "zeroline": False,
            "gridcolor": grid(page),
            "tickformat": ",~g" if max(abs(low), abs(high)) < 1e4 else ",~f",
        },
    )


def _levels(
    answer: LoopAnswer, ends: Sequence[float], page: str | None, *, is_log: bool
) -> tuple[list[dict[str, Any]], list[Any]]:
    """Return baseline and best as words at the right edge, and the line of the baseline.

    `ends`: of the axis, as Plotly has them.
    """
    if answer.improvements is None:
        return [], []
    named = (("baseline", answer.baseline), ("best", answer.best if answer.improvements else None))
    places = [
        (math.log10(value) if is_log else value, value, name)
        for name, value in named
        if value is not None
    ]
    places.sort()
    is_close = len(places) == 2 and places[1][0] - places[0][0] < 0.1 * (
        ends[1] - ends[0]
    )  # words would lie upon each other
    notes = [
        {
            "xref": "paper",
            "x": 1,
            "xanchor": "left",
            "xshift": 6,
            "y": at,
            "yshift": (2 * place - 1) * 15 if is_close else 0,
            "text": f"{name}<br>{safe(short(value, Unit.QUANTITY))}",
            "showarrow": False,
            "align": "left",
            "font": {"color": ink(page)},
        }
        for place, (at, value, name) in enumerate(places)
    ]
    base = answer.baseline
    return notes, [line(0, base, 1, base, dash="dash", xref="paper")] if base is not None else []


def _along(answer: LoopAnswer, axis: str, page: str | None) -> dict[str, Any]:
    """Return Plotly's layout of the axis that experiments lie along."""
    shared = {
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
        "automargin": True,
        "showline": True,
        "linecolor": grid(page),
    }
    if axis == "time":
        return {"title": {"text": "Time (UTC)"}, "type": "date"} | shared
    if axis == "usd":
        return (
            linear_axis(LOOPS["cost_usd"])
            | {"title": {"text": "Spent until then (USD), set-up included"}}
            | shared
        )
    first = 0 if answer.row["baseline"] is not None else 1
    return {
        "title": {"text": "Experiment"},
        "range": [first - 0.7, len(answer.tries) + 0.7],
        "tickformat": ",d",
    } | shared


def _cut(answer: LoopAnswer) -> tuple[float, float]:
    """Return the ends of the axis of values.

    Baseline, best and the noise around them, and a little more.

    A discarded try may be ten times worse; it lies at the edge.
    """
    settled = [one.running_best for one in answer.tries if one.running_best is not None]
    settled += (
        [answer.baseline] if answer.baseline is not None and answer.improvements is not None else []
    )
    if settled and answer.noise and answer.noise.sigma:
        step = answer.noise.step()
        low, high = min(settled), max(settled)
        settled += (
            [low / (1 + step), high * (1 + step)]
            if answer.noise.is_log
            else [low - step, high + step]
        )
    if not settled or min(settled) == max(settled):
        settled += [
            one.value for one in answer.tries if one.value is not None and one.state not in _TICKED
        ]
    if not settled:
        return 0.0, 1.0
    low, high = min(settled), max(settled)
    if _is_log(answer):
        margin = (high / low) ** CUT
        return low / margin, high * margin
    margin = CUT * (high - low) or abs(high) * CUT or 1.0
    return low - margin, high + margin


def _is_log(answer: LoopAnswer) -> bool:
    """Return whether baseline and best are so far apart that a linear axis flattens later steps."""
    if answer.improvements is None or answer.baseline is None or answer.best is None:
        return False
    low, high = sorted((answer.baseline, answer.best))
    return low > 0 and high >= MOST_LINEAR * low


def is_cut(answer: LoopAnswer) -> bool:
    """Return whether values lie beyond the axis."""
    low, high = _cut(answer)
    return any(
        one.value is not None and one.state not in _TICKED and not low <= one.value <= high
        for one in answer.tries
    )


def _marks(
    group: Sequence[tuple[Any, Try]],
    answer: LoopAnswer,
    low: float,
    high: float,
    look: dict[str, Any],
    symbol: str,
) -> go.Scatter:
    """Return experiments as points; those beyond the axis are triangles at its ends."""
    values = [float(one.value or 0) for _, one in group]
    pointing = [
        (f"triangle-{'up' if value > high else 'down'}-open")
        if not low <= value <= high
        else symbol
        for value in values
    ]
    within = [min(max(value, low), high) for value in values]
    return _dots(group, within, answer, look | {"symbol": pointing})


def _dots(
    group: Sequence[tuple[Any, Try]], y: Sequence[float], answer: LoopAnswer, marker: Any
) -> go.Scatter:
    words = [_hover(one, answer) for _, one in group]
    return dots([at for at, _ in group], y, words, [one.number for _, one in group], marker)


def _kind(one: Try) -> str:
    """Return how an experiment with a value is drawn."""
    if one.state is State.BASELINE:
        return "first"
    if one.state is not State.KEPT:
        return "quiet"
    return "filled" if is_filled(one) else "hollow"


def _hover(one: Try, answer: LoopAnswer) -> str:
    """Return what was tried, its value, its step and its cost."""
    state = join_known(", ", STATES[one.state], step_words(one))
    figures: dict[str, tuple[Any, Unit]] = {
        answer.row["metric"] or "value": (one.value, Unit.QUANTITY)
    }
    figures |= {
        EXPERIMENTS[key].label: (value, EXPERIMENTS[key].unit)
        for key, value in (("step_pct", one.step_pct), ("cost_usd", one.cost_usd))
        if value is not None
    }
    text = textwrap.shorten(one_line(one.row["description"] or ""), _DESCRIBED, placeholder=" …")
    described = "".join(f"<br>{safe(part)}" for part in textwrap.wrap(text, _LINE))
    return f"{hover(f'Experiment {one.number:,}: {state}', figures)}{described}"


def gains(answers: Sequence[LoopAnswer], page: str | None) -> go.Figure:
    """Return the gain of each loop and the noise of its benchmark, as logarithms of ratios.

    Lengths beyond the noise compare, since the axis is logarithmic, too.
    """
    names = told_apart([one.name for one in answers], LONGEST_LINE)
    least = min(GAIN_TICKS)
    rows = list(range(len(answers)))[::-1]
    found = [math.log(one.gain_ratio or 1) for one in answers]
    noises = [max(one.log_noise or 0, least) for one in answers]
    bar = {"color": "#4B575D" if page == "dark" else "#CFCABC", "width": 7}
    traces = [
        path(x, [y, y], style)
        for y, noise, gain in zip(rows, noises, found, strict=True)
        for x, style in (([least / 2, noise], bar), ([noise, gain], {"color": PLAIN, "width": 1.6}))
    ]
    figures = [
        {LOOPS[key].label: (value, LOOPS[key].unit) for key, value in shown}
        for one in answers
        for shown in [
            (
                ("gain_ratio", one.gain_ratio),
                ("noise", one.noise and one.noise.step()),
                ("cost_usd", one.cost_usd),
            )
        ]
    ]
    traces.append(
        go.Scatter(
            mode="markers",
            x=found,
            y=rows,
            marker={"size": 10, "color": PLAIN},
            hoverinfo="text",
            hovertext=[hover(one.name, of) for one, of in zip(answers, figures, strict=True)],
            showlegend=False,
        )
    )
    beside = {"xref": "paper", "x": 1, "xanchor": "left", "xshift": 8, "showarrow": False}
    notes = [
        beside | {"y": y, "text": f"{times_words(times_its_noise(one))} its noise"}
        for y, one in zip(rows, answers, strict=True)
    ]
    ticks = [tick for tick in GAIN_TICKS if tick <= 2 * max(found)]
    return figure(
        traces,
        page,
        height=30 + 30 * len(answers),
        margin={"l": 4, "r": 120, "t": 4, "b": 4},
        annotations=notes,
        xaxis={
            "type": "log",
            "range": [math.log10(least / 2), math.log10(1.3 * max(*found, least))],
            "tickvals": ticks,
            "ticktext": [GAIN_TICKS[tick] for tick in ticks],
            "showgrid": True,
            "fixedrange": True,
        },
        yaxis={
            "tickvals": rows,
            "ticktext": [safe(name) for name in names],
            "range": [-0.6, len(answers) - 0.4],
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
    )
