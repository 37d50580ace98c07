"""Charts of what summaries claim beside what benchmarks measured. Rows as of `app.queries.measured.drawn` and `calibration`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from app.charts.base import Words, chart, figure, nothing, run_line, tick_name
from app.charts.claims.marks import GREY, Row, hover_lines, legend_of, no_change, ratio_axis, run_points
from app.charts.palette import PLAIN, Looks, name
from app.text.formatting import exact, human
from app.text.words.claims import EVIDENCE
from app.text.words.measured import CLAIM_VERDICT_NAMES, beside
from schemas.catalogue.columns import RUNS
from schemas.catalogue.metrics_measured import BAND, CLAIM_VERDICTS, MIN_PAIRS
from schemas.text import plural, quoted
from schemas.unit_names import Unit

HEIGHT, ROW = 520, 72
FACTOR = 1 + BAND
"""A claim within this factor of the measurement is kept (`v_verdicts`)."""

_STRIP, _PLOT = (0.0, 0.1), (0.16, 1.0)
"""Where the runs without a claim are, and the others, as parts of the width."""

_GOLDEN = 0.618034
_REACH = (1e-9, 1e12)


def _pairs_words(table: pa.Table) -> Words:
    if not table.num_rows:
        return Words("Claimed and measured speedups")
    [row] = table.slice(0, 1).to_pylist()
    counts = [f"{row[kind]:,} {CLAIM_VERDICT_NAMES[kind]}" for kind in CLAIM_VERDICTS if row[kind]]
    finding = f"{plural(row['pairs'], 'run')} with a claimed and a measured speedup: {', '.join(counts)}"
    others, cut = row["claims_uncompared"], row["runs_compared"] - table.num_rows
    notes = [f"Not shown: {plural(others, 'claim')} whose measurement failed or does not compare." if others else ""]
    notes += [f"{plural(cut, 'run')} with the smallest claims are not shown." if cut else ""]
    return Words(finding if row["pairs"] else "No run has both a claimed and a measured speedup", " ".join(filter(None, notes)))


@chart(
    "verdicts-pairs",
    "Speedup that each run claimed, and speedup measured against the baseline. Below the diagonal: over-claimed.",
    "One point per run: its claimed speedup to the right, its measured speedup upwards, both on log scales, with the diagonal and its ±5% "
    "band; runs without a claim in a strip on the left",
    _pairs_words,
)
def verdicts_pairs(table: pa.Table, _: Looks) -> go.Figure:
    """Measured over claimed speedup; runs without a claim have the measured one only."""
    rows = [_as_claim(row) for row in table.to_pylist()]
    pairs, others = [row for row in rows if _is_pair(row)], [row for row in rows if not _is_pair(row)]
    if not rows:
        return nothing("No run has a measured speedup against a baseline.")
    ends = [row[key] for row in rows for key in ("measured_speedup", "measured_low", "measured_high") if row[key]]
    groups = [(evidence, [row for row in pairs if row["evidence"] == evidence]) for evidence in EVIDENCE]
    traces = [_pair_points(evidence, found) for evidence, found in groups if found]
    x = ratio_axis([row["claimed_speedup"] for row in pairs]) | {"title": {"text": "Claimed speedup (log scale)"}}
    y = ratio_axis(ends) | {"title": {"text": "Measured speedup (log scale)"}}
    drawn = figure([*(_diagonal() if pairs else []), *traces, *legend_of(pairs)], xaxis=x, yaxis=y)
    if others:
        _add_strip(drawn, others, is_alone=not pairs)
    return drawn.update_layout(height=HEIGHT, showlegend=True).add_shape(no_change("y") | {"xref": "paper"})


def _as_claim(row: Row) -> dict[str, Any]:
    """The run with its claim's evidence, scope and hedging as the marks of claims have them."""
    return {**row, "evidence": row["claimed_evidence"], "scope": row["claimed_scope"], "hedged": row["claimed_hedged"]}


def _is_pair(row: Row) -> bool:
    return bool(row["claimed_speedup"] and row["claimed_speedup"] > 0)


def _pair_points(evidence: str, rows: Sequence[Row]) -> go.Scatter:
    x, y = ([row[key] for row in rows] for key in ("claimed_speedup", "measured_speedup"))
    return run_points(evidence, rows, x, y).update(hovertext=list(map(_hover, rows)), error_y=_intervals(rows))


def _intervals(rows: Sequence[Row]) -> dict[str, Any]:
    """The 95 % intervals of measured ratios; a ratio of single runs has none."""
    above, below = ([abs((row[key] or row["measured_speedup"]) - row["measured_speedup"]) for row in rows] for key in _ENDS)
    return {"type": "data", "array": above, "arrayminus": below, "visible": any(above) or any(below), "thickness": 1.5, "width": 0}


_ENDS = ("measured_high", "measured_low")


def _diagonal() -> list[go.Scatter]:
    """The line on which claim and measurement are the same, in its band."""
    low, high = _REACH
    band = go.Scatter(
        x=[low, high, high, low], y=[low * FACTOR, high * FACTOR, high / FACTOR, low / FACTOR],
        fill="toself", fillcolor="rgba(122,122,122,0.25)",
        mode="lines", line={"width": 0}, hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    line = {"color": GREY, "width": 1.5}
    same = go.Scatter(x=[low, high], y=[low, high], mode="lines", line=line, name="claimed = measured, ±5%", hoverinfo="skip")
    return [band, same.update(showlegend=True)]


def _add_strip(drawn: go.Figure, rows: Sequence[Row], *, is_alone: bool) -> None:
    """Runs that claim no speedup, in a strip beside the plot that shares its axis of measured speedups."""
    marks = {"color": GREY, "symbol": "circle-open", "size": 9, "line": {"width": 1.5, "color": GREY}}
    points = go.Scatter(
        x=_spread(len(rows)), y=[row["measured_speedup"] for row in rows], xaxis="x2", mode="markers", marker=marks, name="no claim",
        customdata=[[row["run_id"]] for row in rows], hovertext=list(map(_hover, rows)), hoverinfo="text", showlegend=True,
        cliponaxis=False, error_y=_intervals(rows) | {"color": GREY},
    )  # fmt: skip
    strip = {"range": [-1, 1], "tickvals": [0], "ticktext": ["no claim"], "showgrid": False, "zeroline": False, "title": {"text": ""}}
    drawn.add_trace(points).update_layout(
        xaxis={"domain": (0.99, 1.0) if is_alone else _PLOT, "visible": not is_alone},
        xaxis2=strip | {"domain": (0.0, 0.98) if is_alone else _STRIP, "anchor": "y"},
        yaxis={"anchor": "x2"},
    )


def _spread(count: int) -> list[float]:
    """Places from side to side, so that marks of equal height lie beside one another."""
    return [((place * _GOLDEN) % 1 - 0.5) * 1.4 if count > 1 else 0.0 for place in range(count)]


def _hover(row: Row) -> str:
    cost = f"{RUNS['cost_own_usd'].label}: {exact(row['cost_own_usd'], Unit.USD)}"
    return hover_lines(beside(row), quoted(row["claimed_quote"] or ""), row["why"] or "", cost, run_line(row))


def _calibration_words(table: pa.Table) -> Words:
    if not table.num_rows:
        return Words("Claimed ÷ measured")
    rows = table.to_pylist()
    first, silent = rows[0], rows[0]["groups_found"] - len({row["group"] for row in rows})
    said = human(first["claimed_over_measured"], Unit.RATIO)
    finding = f"{name(first['group'])}: claimed {said} of what was measured, the median of {plural(first['pairs'], 'run')}"
    claims, differing = plural(first["pairs_found"], "claim"), first["differing_found"]
    notes = [f"{differing:,} of {claims} cover another part of the software than the benchmark." if differing else ""]
    notes += [f"{plural(silent, 'group')} with fewer runs not shown." if silent else ""]
    few = f"Fewer than {MIN_PAIRS} runs in every group: no median"
    return Words(finding if first["claimed_over_measured"] else few, " ".join(filter(None, notes)))


@chart(
    "verdicts-calibration",
    f"Claimed ÷ measured speedup of each run; median from {MIN_PAIRS} runs on. Right of 1×: over-claimed. Colours and marks as above.",
    "One row per group, one point per run at its claimed divided by its measured speedup on a log scale, with a line at the median",
    _calibration_words,
)
def verdicts_calibration(table: pa.Table, _: Looks) -> go.Figure:
    """How far the claims of each group hold: points for runs, a line for the median."""
    rows = [_as_claim(row) for row in table.to_pylist()]
    if not rows:
        return nothing("No run has both a claimed and a measured speedup.")
    groups = [list(found) for _, found in groupby(rows, key=lambda row: row["group"])]
    places = {row["run_id"]: place + 0.35 * shift for place, found in enumerate(groups) for row, shift in _shifted(found)}
    of_evidence = [(evidence, [row for row in rows if row["evidence"] == evidence]) for evidence in EVIDENCE]
    traces = [_quotients(evidence, found, places) for evidence, found in of_evidence if found]
    names = {
        "tickvals": list(range(len(groups))),
        "ticktext": [f"{tick_name(found[0]['group'])}<br>n = {len(found):,}" for found in groups],
        "range": [len(groups) - 0.4, -0.6],
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
        "title": {"text": ""},
    }
    x = ratio_axis([row["quotient"] for row in rows]) | {"title": {"text": "Claimed ÷ measured"}}
    drawn = figure(traces, xaxis=x, yaxis=names, height=90 + ROW * len(groups)).add_shape(no_change("x"))
    for place, found in enumerate(groups):
        _add_median(drawn, place, found[0])
    return drawn


def _shifted(rows: Sequence[Row]) -> list[tuple[Row, float]]:
    return list(zip(rows, _spread(len(rows)), strict=True))


def _quotients(evidence: str, rows: Sequence[Row], places: dict[str, float]) -> go.Scatter:
    points = run_points(evidence, rows, [row["quotient"] for row in rows], [places[row["run_id"]] for row in rows])
    return points.update(hovertext=list(map(_hover, rows)))


def _add_median(drawn: go.Figure, place: int, row: Row) -> None:
    """A line across the row of a group that has enough pairs, with its figure."""
    median = row["claimed_over_measured"]
    if median is None:
        return
    drawn.add_shape(type="line", x0=median, x1=median, y0=place - 0.36, y1=place + 0.36, line={"color": PLAIN, "width": 4}, layer="below")
    drawn.add_annotation(
        x=math.log10(median), y=place - 0.36, text=f"median {human(median, Unit.RATIO)}", showarrow=False, yanchor="bottom",
        xanchor="left" if median >= 1 else "right", font={"size": 12},
    )  # fmt: skip
