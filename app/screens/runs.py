"""Every run in a table, in the order that matters; a chosen one opens."""

import streamlit as st

from app.queries import screens as screen_queries
from app.queries.filters.registry import SEARCH
from app.reports.results import by_measure
from app.screens import cache
from app.screens.parts import annotate, filter_bar, widgets
from app.text import grid_columns
from app.text.presentation import plain
from app.text.untold import untold_note
from app.text.words.measures import bounded_runs
from schemas.catalogue import columns as catalogue
from schemas.catalogue.cost_measures import LIST
from schemas.text import plural

st.title("Runs", anchor=False)
filters = filter_bar.chosen()
total = cache.count(filters)
with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
    order = widgets.pick("Sort by", {key: order.label for key, order in screen_queries.ORDERS.items()}, "order", width=260)
    is_compact = widgets.compact_toggle()
    shown = grid_columns.COMPACT_RUNS if is_compact else widgets.columns_picker(grid_columns.RUNS, grid_columns.MORE_RUNS)
    pages = min(cache.PAGES, -(-total // cache.PAGE))
    number = st.pagination(pages, key="page", bind="query-params") if pages > 1 else 1
    widgets.download_runs(filters)
runs = cache.ask(screen_queries.runs, filters, order, cache.PAGE, (number - 1) * cache.PAGE)
if is_compact:
    shown = by_measure(shown, LIST if order.startswith(LIST.key) else widgets.cost_in_force(filters))
for text in filters.values(SEARCH):
    found = cache.ask(screen_queries.excerpts, tuple(runs["run_id"].to_pylist()), text)
    runs, shown = grid_columns.with_excerpts(runs, found), (*shown[:1], "excerpt", *shown[1:])
rows = grid_columns.grid(runs, grid_columns.Listing(grid_columns.RUNS.of, shown))
first = (number - 1) * cache.PAGE + 1
listed = cache.PAGE * cache.PAGES
ticks = "Click a cell to open its run; tick runs to label, star or exclude them."
how = "Click a run to open it." if cache.is_read_only() or is_compact else ticks
cut = f" Showing the first {listed:,}. Filter to narrow down." if total > listed else ""
st.caption(f"{f'{first:,}–{first - 1 + runs.num_rows:,} of ' if pages > 1 else ''}{plural(total, 'run')}. {how}{cut}")
alt = "Runs with title, date, model, outcome, cost and duration"
if is_compact:
    widgets.compact_run_table(rows, runs, "compact-runs", alt, order)
elif cache.is_read_only():
    widgets.run_table(rows, runs, "runs", alt, order)
else:
    annotate.bulk_bar(widgets.ticked_runs(rows, runs, f"runs-{st.session_state.get(cache.SELECTION, 0)}", alt, order))
for note in filter(None, (untold_note(runs, shown, catalogue.RUNS), bounded_runs(runs) if "cost_list_usd" in shown else "")):
    st.caption(plain(note))
