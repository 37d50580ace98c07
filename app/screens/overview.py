"""Many runs at a glance: what they cost, how long they took, which model made it so, and how that changed."""

import streamlit as st

from app.charts import along_time, looks, usage
from app.charts.legend import legend_html, without_legend
from app.charts.models import PER_RUN
from app.charts.periods import is_sparse
from app.charts.runs import CELLS, scatters
from app.queries import runs as run_queries
from app.queries import screens as screen_queries
from app.queries.usage import along as usage_along
from app.queries.usage import sessions as session_queries
from app.screens import cache
from app.screens.parts import filter_bar, widgets
from app.text import grid_columns
from app.text.presentation import cards, plain
from app.text.words import usage as usage_words
from schemas.catalogue.columns import MEASURES
from schemas.catalogue.cost_measures import BEST, LIST, REPORTED

FIGURES = ("runs", "cost_usd", "duration_ms", "turns", "sessions", "error_rate", "parallelism", "cost_per_turn_usd")
STEPS = 60
FIRST = {BEST.key: "best-cost", REPORTED.key: "cost", LIST.key: "list-cost"}
"""The metric over time that is shown at first, by measure of cost."""

filters, page = filter_bar.chosen(), st.context.theme.type
measure = widgets.cost_title("Overview", filters)
figures, shown = measure.among(FIGURES), scatters(measure)
asked = (*figures, *widgets.CLAIM_FIGURES, *(scatter.metric for scatter in shown.values() if scatter.metric))
row, options = widgets.totals(filters, asked), cache.options()
widgets.card_grid(cards(row, figures))
widgets.claims_line(filters, row)
widgets.measured_line(filters)
colours, is_few = looks(cache.models()), row["runs"] <= cache.MARKS

drawn = cache.ask(run_queries.model_rows, filters, cache.MARKS if is_few else widgets.BARS, measure)
runs = cache.ask(run_queries.runs, filters, cache.MARKS, measure) if is_few else None
if named := legend_html([*drawn["model"].to_pylist(), *(runs["model"].to_pylist() if runs else ())], colours):
    st.html(named)
with st.container(border=True):
    note = "" if is_few else f"Top {widgets.BARS} of {row['runs']:,} runs."
    widgets.chart(PER_RUN[measure.key], drawn, colours, whole=is_few, note=note, legend=False)
if cache.ask(session_queries.has_responses):
    found = cache.ask(usage_along.along, filters)
    of_usage = usage_words.usual(found)
    with st.container(border=True):
        chart_note = usage_words.along_note(found, is_sparse=is_sparse(usage_words.periods(found)))
        days = without_legend(usage.bars(found, of_usage, colours, page))
        widgets.drawing(usage_words.along_finding(found, of_usage), usage_words.PER_DAY, days, "usage", chart_note)
columns = st.columns(2)
for number, (key, scatter) in enumerate(shown.items()):
    with columns[number % len(columns)].container(border=True, height="stretch"):
        if runs:
            widgets.chart(key, runs, colours, legend=False)
        else:
            squares = cache.ask(screen_queries.density, filters, scatter.x.column, scatter.y.column, CELLS)
            widgets.drawing(scatter.said(row.get(scatter.metric)), scatter.squares_title, scatter.draw_squares(squares, page), key)
with st.container(border=True):
    with st.container(horizontal=True, gap="small"):
        key = widgets.pick(
            "Metric", {key: figure.label for key, figure in MEASURES.items()}, "show", default=list(MEASURES).index(FIRST[measure.key])
        )
        along = widgets.pick("Group by", widgets.axes(options), "along", width=240)
    figure = MEASURES[key]
    if along not in screen_queries.AXES:
        widgets.groups(figure, along, filters, colours)
    elif is_few:
        points = cache.ask(screen_queries.series, filters, figure, along)
        caption = f"One dot per run. {'Line: moving median. ' if points.num_rows >= along_time.LONG else ''}{figure.meaning}"
        drawn, note = along_time.points(points, figure, along, colours, page), along_time.undrawn_note(points, figure, along, row["runs"])
        widgets.drawing(along_time.finding(points, figure, along), caption, without_legend(drawn), "along", note)
    else:
        bands = cache.ask(screen_queries.bands, filters, figure, along, STEPS)
        caption = f"Line: median; band: p10–p90. {figure.meaning}"
        drawn, note = along_time.bands(bands, figure, along, page), along_time.undrawn_note(bands, figure, along, row["runs"])
        widgets.drawing(along_time.finding(bands, figure, along), caption, drawn, "along", note)
# a million runs have more model rows than a screen should count unasked: the list is open where it is quick
with st.expander("Models", icon=":material/smart_toy:", expanded=is_few, key=f"models-{is_few}", on_change="rerun") as models:
    if models.open:
        found = cache.ask(run_queries.models, filters, grid_columns.MODEL_GROUPS, grid_columns.MODEL_FIGURES, measure)
        widgets.table(grid_columns.grid(found, grid_columns.MODELS), "Cost and tokens of each model, most expensive first")
st.caption(f"Store: {plain(cache.store().location)}")
