"""Many runs at a glance: what they cost, how long they took, which model made it so, and how that changed."""

import streamlit as st

from app.charts import along_time, looks
from app.charts.legend import legend_html, without_legend
from app.charts.runs import CELLS, SCATTERS
from app.queries import runs as run_queries
from app.queries import screens as screen_queries
from app.screens import cache, filter_bar, widgets
from app.text import grid_columns
from app.text.presentation import cards, plain
from schemas.catalogue.columns import MEASURES

FIGURES = ("runs", "cost_usd", "duration_ms", "turns", "sessions", "error_rate", "parallelism", "cost_per_turn_usd")
STEPS = 60

st.title("Overview", anchor=False)
filters, page = filter_bar.chosen(), st.context.theme.type
asked = tuple(dict.fromkeys((*FIGURES, *widgets.CLAIM_FIGURES, *(scatter.metric for scatter in SCATTERS.values() if scatter.metric))))
row, options = cache.ask(run_queries.summary, filters, (), asked).to_pylist()[0], cache.options()
widgets.card_grid(cards(row, FIGURES))
widgets.claims_line(filters, row)
colours, is_few = looks(cache.models()), row["runs"] <= cache.MARKS

drawn = cache.ask(run_queries.model_rows, filters, cache.MARKS if is_few else widgets.BARS)
runs = cache.ask(run_queries.runs, filters, cache.MARKS) if is_few else None
if named := legend_html([*drawn["model"].to_pylist(), *(runs["model"].to_pylist() if runs else ())], colours):
    st.html(named)
with st.container(border=True):
    widgets.chart(
        "cost-models", drawn, colours, whole=is_few, note="" if is_few else f"Top {widgets.BARS} of {row['runs']:,} runs.", legend=False
    )
columns = st.columns(2)
for number, (key, scatter) in enumerate(SCATTERS.items()):
    with columns[number % len(columns)].container(border=True, height="stretch"):
        if runs:
            widgets.chart(key, runs, colours, legend=False)
        else:
            squares = cache.ask(screen_queries.density, filters, scatter.x.column, scatter.y.column, CELLS)
            widgets.drawing(scatter.said(row.get(scatter.metric)), scatter.squares_title, scatter.draw_squares(squares, page), key)
with st.container(border=True):
    with st.container(horizontal=True, gap="small"):
        key = widgets.pick("Metric", {key: measure.label for key, measure in MEASURES.items()}, "show")
        along = widgets.pick("Group by", widgets.axes(options), "along", width=240)
    measure = MEASURES[key]
    if along not in screen_queries.AXES:
        widgets.groups(measure, along, filters, colours)
    elif is_few:
        points = cache.ask(screen_queries.series, filters, measure, along)
        caption = f"One dot per run. {'Line: moving median. ' if points.num_rows >= along_time.LONG else ''}{measure.meaning}"
        drawn, note = along_time.points(points, measure, along, colours, page), along_time.undrawn_note(points, measure, along, row["runs"])
        widgets.drawing(along_time.finding(points, measure, along), caption, without_legend(drawn), "along", note)
    else:
        bands = cache.ask(screen_queries.bands, filters, measure, along, STEPS)
        caption = f"Line: median; band: p10–p90. {measure.meaning}"
        drawn, note = along_time.bands(bands, measure, along, page), along_time.undrawn_note(bands, measure, along, row["runs"])
        widgets.drawing(along_time.finding(bands, measure, along), caption, drawn, "along", note)
# a million runs have more model rows than a screen should count unasked: the list is open where it is quick
with st.expander("Models", icon=":material/smart_toy:", expanded=is_few, key=f"models-{is_few}", on_change="rerun") as models:
    if models.open:
        found = cache.ask(run_queries.models, filters, grid_columns.MODEL_GROUPS, grid_columns.MODEL_FIGURES)
        widgets.table(grid_columns.grid(found, grid_columns.MODELS), "Cost and tokens of each model, most expensive first")
st.caption(f"Store: {plain(cache.store().location)}")
