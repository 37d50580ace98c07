"""Charts of what summaries claim, not of what was measured.

Rows as of `app.queries.claims`. The colours of models play no part here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

import plotly.graph_objects as go
import pyarrow as pa

from app.charts.axes import axis_layout, axis_of, is_wide
from app.charts.base import Words, chart, figure, nothing, run_line, tick_name
from app.charts.claims.marks import Row, hover_lines, legend_of, no_change, ratio_axis, run_points
from app.charts.palette import Looks, name
from app.text.formatting import exact, human
from app.text.words.claims import EVIDENCE, EVIDENCE_MEANINGS, claim_title, evidence_words
from schemas.catalogue.columns import RUNS
from schemas.text import plural, quoted
from schemas.unit_names import Unit

ROW, LEAST_ROWS = 28, 2
HALVES = 10
"""The fewest runs for a finding on the less and the more expensive half."""

COST = axis_of(RUNS["cost_own_usd"])
RATIO = "Claimed ratio (log scale)"
_LONGEST_QUOTE = 50
_HOVERED = 300
"""The most characters of a quote in hover text."""

INK_ON_EVIDENCE = {"benchmarked": "#0B1012", "figures": "#FFFFFF", "stated": "#0B1012", "estimated": "#0B1012"}
"""Colour of figures on bars of evidence, at 4.5:1."""


def _forest_words(table: pa.Table) -> Words:
    if not table.num_rows:
        return Words("Claims across runs")
    [row] = table.slice(0, 1).to_pylist()
    claims, runs = plural(row["claims_found"], "claim"), plural(row["runs_found"], "run")
    benchmarked = f"{row['benchmarked_found']:,} with a stated benchmark"
    finding = {
        "headlines": f"{runs} claiming a speedup, {benchmarked}",
        "largest": f"{claims} of {runs} with a ratio, {benchmarked}",
        "worse": f"{claims} of {runs} that something got worse",
    }[row["pick"]]
    return Words(finding, f"Showing {table.num_rows:,} of {claims}." if table.num_rows < row["claims_found"] else "")


@chart(
    "claims-forest",
    "Claimed ratios with their ranges. Claims of the agents, not measured.",
    "One line per claim, named by its words, its point at the claimed ratio on a log scale; left of the line at 1×: regressions",
    _forest_words,
)
def claims_forest(table: pa.Table, _: Looks) -> go.Figure:
    """A forest plot: claims beneath one another, in the order of the rows."""
    rows = [(place, row) for place, row in enumerate(table.to_pylist()) if _is_drawable(row)]
    if not rows:
        return nothing("None of these claims states a ratio.")
    values = [row[key] for _, row in rows for key in ("ratio", "ratio_low", "ratio_high") if row[key]]
    quotes = {
        "tickvals": [place for place, _ in rows],
        "ticktext": [tick_name(quoted(row["quote"], _LONGEST_QUOTE)) for _, row in rows],
        "range": [max(table.num_rows, LEAST_ROWS) - 0.4, -1.2],
        "tickfont": {"size": 11},
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
        "title": {"text": ""},
    }
    groups = [(evidence, [(place, row) for place, row in rows if row["evidence"] == evidence]) for evidence in EVIDENCE]
    traces = [make(evidence, found) for make in (_ranges, _forest_points) for evidence, found in groups if found]
    drawn = figure([*traces, *legend_of([row for _, row in rows])], xaxis=ratio_axis(values) | {"title": {"text": RATIO}}, yaxis=quotes)
    drawn.update_layout(height=150 + ROW * max(table.num_rows, LEAST_ROWS), showlegend=True)
    return drawn.add_shape(no_change("x")).add_annotation(
        x=0, y=-1, text="no change", showarrow=False, xanchor="left", xshift=4, font={"size": 12}
    )


def _is_drawable(row: Row) -> bool:
    return row["ratio"] is not None and row["ratio"] > 0 and math.isfinite(row["ratio"])


def _forest_points(evidence: str, rows: Sequence[tuple[int, Row]]) -> go.Scatter:
    shown = [row for _, row in rows]
    points = run_points(evidence, shown, [row["ratio"] for row in shown], [place for place, _ in rows])
    return points.update(hovertext=[_claim_hover(row) for row in shown])


def _ranges(evidence: str, rows: Sequence[tuple[int, Row]]) -> go.Scatter:
    """A line from end to end of each claimed range, with gaps between the lines."""
    ranged = [(place, row) for place, row in rows if row["ratio_low"] and row["ratio_high"]]
    return go.Scatter(
        x=[value for _, row in ranged for value in (row["ratio_low"], row["ratio_high"], None)],
        y=[value for place, _ in ranged for value in (place, place, None)],
        mode="lines",
        line={"color": EVIDENCE[evidence], "width": 3},
        hoverinfo="skip",
        legendgroup=evidence,
        showlegend=False,
    )


def _claim_hover(row: Row) -> str:
    about = " · ".join(row[key] for key in ("title", "repo", "model") if row.get(key))
    return hover_lines(quoted(row["quote"], _HOVERED), claim_title(row), about, run_line(row))


def _mix_words(table: pa.Table) -> Words:
    if not table.num_rows:
        return Words("Evidence of claimed speedups")
    [row] = table.slice(0, 1).to_pylist()
    runs, found = plural(row["runs_found"], "run"), row["benchmarked_found"]
    silent = row["groups_found"] - table.num_rows
    note = f"Showing the {table.num_rows:,} of {row['groups_found']:,} groups with the most claims." if silent else ""
    return Words(f"{found:,} of {runs} {'has a speedup claim' if found == 1 else 'have speedup claims'} with a stated benchmark", note)


@chart(
    "claims-evidence",
    "Runs claiming a speedup by evidence of their top claim. Beside each name: runs with a claim, of all runs.",
    "One bar per group, divided by evidence from the strongest to the weakest, the number of runs in each part",
    _mix_words,
)
def claims_evidence(table: pa.Table, _: Looks) -> go.Figure:
    """Bars of equal length: the evidence of the claims of each group."""
    rows = [row for row in table.to_pylist() if row["claiming"]]
    if not rows:
        return nothing("No run claims a speedup with a number.")
    traces = [_share(evidence, rows) for evidence in EVIDENCE if any(row[evidence] for row in rows)]
    if len(traces) == 1:  # there is no legend to name it
        traces[0].update(texttemplate=f"%{{text}} {traces[0].name}")
    names = {
        "tickvals": list(range(len(rows))),
        "ticktext": [f"{tick_name(row['group'])} · {row['claiming']:,} of {row['runs']:,}" for row in rows],
        "range": [len(rows) - 0.4, -0.6],
        "automargin": True,
        "ticklabelstandoff": 6,
        "title": {"text": ""},
    }
    share = {"title": {"text": "Share of runs with a claim"}, "tickformat": ",.0%", "range": [0, 1]}
    drawn = figure(traces, barmode="stack", bargap=0.35, xaxis=share, yaxis=names)
    return drawn.update_layout(height=(130 if len(traces) > 1 else 105) + 34 * len(rows), showlegend=len(traces) > 1)


def _share(evidence: str, rows: Sequence[Row]) -> go.Bar:
    said = [f"{plural(row[evidence], 'run')} of {row['claiming']:,} with a speedup claim: {evidence_words(evidence)}" for row in rows]
    return go.Bar(
        x=[row[evidence] / row["claiming"] for row in rows],
        y=list(range(len(rows))),
        orientation="h",
        name=evidence_words(evidence),
        text=[f"{row[evidence]:,}" if row[evidence] else "" for row in rows],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        textfont={"color": INK_ON_EVIDENCE[evidence], "size": 13},
        hovertext=[hover_lines(_group(row), line, EVIDENCE_MEANINGS[evidence]) for row, line in zip(rows, said, strict=True)],
        hoverinfo="text",
        showlegend=True,
        marker={"color": EVIDENCE[evidence], "line": {"width": 0}},
    )


def _group(row: Row) -> str:
    return name(row["group"])


def _cost_words(table: pa.Table) -> Words:
    known = [row for row in table.to_pylist() if row["cost_own_usd"] is not None]
    unknown = table.num_rows - len(known)
    note = f"Not shown: {plural(unknown, 'run')} without a reported cost." if unknown else ""
    ratios = [row["ratio"] for row in sorted(known, key=lambda row: row["cost_own_usd"])]
    if len(ratios) < HALVES:
        return Words("Claimed speedup vs. reported cost", note)
    cheaper, expensive = (human(median(half), Unit.RATIO) for half in (ratios[: len(ratios) // 2], ratios[len(ratios) // 2 :]))
    if cheaper == expensive:
        return Words(f"Claimed speedup does not depend on cost: median {cheaper} in both halves", note)
    return Words(f"Median claimed speedup: {expensive} in the more expensive half of the runs, {cheaper} in the other", note)


@chart(
    "claims-cost",
    "Top claim of each run vs. its reported cost. Claimed, not measured.",
    "One point per run: its reported cost to the right, its claimed speedup upwards on a log scale, with a line at 1×",
    _cost_words,
)
def claims_cost(table: pa.Table, _: Looks) -> go.Figure:
    """Claimed speedup over reported cost: one point per run."""
    rows = [row for row in table.to_pylist() if _is_drawable(row) and row["cost_own_usd"] is not None]
    costs = [float(row["cost_own_usd"]) for row in rows]
    logarithmic = is_wide(costs) and min(costs) > 0
    if not rows:
        return nothing("No run has both a claimed speedup and a reported cost.")
    groups = [(evidence, [row for row in rows if row["evidence"] == evidence]) for evidence in EVIDENCE]
    traces = [_cost_points(evidence, found) for evidence, found in groups if found]
    x, y = axis_layout(COST, costs, logarithmic=logarithmic), ratio_axis([row["ratio"] for row in rows])
    drawn = figure([*traces, *legend_of(rows)], xaxis=x, yaxis=y | {"title": {"text": "Claimed speedup (log scale)"}})
    return drawn.update_layout(height=460 if len(rows) >= HALVES else 240, showlegend=True).add_shape(no_change("y"))


def _cost_points(evidence: str, rows: Sequence[Row]) -> go.Scatter:
    costs = [f"{RUNS[COST.column].label}: {exact(row[COST.column], COST.unit)}" for row in rows]
    told = [(claim_title(row), quoted(row["quote"] or ""), cost, run_line(row)) for row, cost in zip(rows, costs, strict=True)]
    hovertext = [hover_lines(*lines) for lines in told]
    x, y = [float(row["cost_own_usd"]) for row in rows], [row["ratio"] for row in rows]
    return run_points(evidence, rows, x, y).update(hovertext=hovertext)
