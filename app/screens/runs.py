"""Runs in a list with details of one of them; and reasons of failures."""

from functools import partial

import streamlit as st

from app.queries import agents as agent_queries
from app.queries import failures as failure_queries
from app.queries import measured as measured_queries
from app.queries import runs as run_queries
from app.queries import runs as screen_queries
from app.queries.filters import SEARCH, TIME, UNDATED
from app.queries.reading import read_transaction
from app.reports import results
from app.reports.exports import EXPORTS
from app.screens import cache
from app.screens.parts import annotate, filter_bar, widgets
from app.text import failures as failure_words
from app.text import grids
from app.text.answers import unreported_note
from app.text.html_parts import plain
from schemas.catalogue import columns as catalogue
from schemas.catalogue.failures import REASONS
from schemas.text import plural

BESIDE, TEXTS, OF_TEXT, MOST_IN_FULL = 430, 50, 100, 7
"""Pixels of a run next to the list; numbers of error texts, of runs per text, and of pages up to
which all are named.
"""

filters, measure = filter_bar.chosen(), widgets.cost_in_force()
agents = cache.ask(agent_queries.agents, filters, measure)
total = agents[0].runs
head = st.container()
tools = widgets.side_by_side(gap="small")
with tools:
    view = widgets.choice(
        "View", {"list": "List", "failures": "Failures"}, "view", label_visibility="collapsed"
    )


def show_list() -> None:
    """Show a page of the list; clicking a cell shows its run next to it."""
    with head:
        widgets.heading(failure_words.listed(agents, measure))
    with tools:
        order = widgets.pick(
            "Sort by",
            {key: order.label for key, order in screen_queries.ORDERS.items()},
            "order",
            width=250,
            label_visibility="collapsed",
        )
        is_compact = widgets.compact_toggle()
        shown = (
            grids.COMPACT_RUNS
            if is_compact
            else widgets.columns_picker(grids.RUNS, grids.MORE_RUNS)
        )
        pages = min(cache.PAGES, -(-total // cache.PAGE))
        few = (
            {str(page): str(page) for page in range(1, pages + 1)} if pages <= MOST_IN_FULL else {}
        )
        number = 1
        if pages > 1:
            paged = st.pagination(pages, key="page", bind="query-params") if not few else None
            number = paged or int(widgets.choice("Page", few, "page", label_visibility="collapsed"))
        widgets.download_runs(filters)
    runs = cache.ask(
        screen_queries.page_of_runs, filters, order, cache.PAGE, (number - 1) * cache.PAGE
    )
    measured = cache.ask(measured_queries.classes_of, tuple(runs["run_id"].to_pylist()))
    runs = grids.with_answers(runs, measured, measure)
    if shown == grids.RUNS.keys:
        shown = grids.arranged(runs, order)
    for text in filters.values(SEARCH):
        found = cache.ask(screen_queries.excerpts, tuple(runs["run_id"].to_pylist()), text)
        runs, shown = grids.with_excerpts(runs, found), (*shown[:1], "excerpt", *shown[1:])
    rows = grids.grid(runs, grids.Listing(grids.RUNS.of, shown))
    first, most = (number - 1) * cache.PAGE + 1, cache.PAGE * cache.PAGES
    ticks = (
        "Click a cell to read its run beside the list. Tick runs to label, date, star or exclude "
        "them; the topmost box ticks all of the page."
    )
    if filters.values(TIME) == (UNDATED,):
        ticks = "Tick runs and choose Date to date them; click a cell to read its run."
    how = (
        "Click a run to open it."
        if is_compact
        else "Click a cell to read its run beside the list."
        if cache.is_read_only()
        else ticks
    )
    cut = f" Showing the first {most:,}. Filter to narrow down." if total > most else ""
    part = f"{first:,}–{first - 1 + runs.num_rows:,} of " if pages > 1 else ""
    st.caption(f"{part}{plural(total, 'run')}. {how}{cut}")
    alt = (
        "Runs with title, agent, model, task, outcome, reason, cost, wall time, claimed and "
        "measured speedup, and date"
    )
    if is_compact:
        widgets.compact_run_table(rows, runs, "compact-runs", alt, order)
        return
    with st.container(horizontal=True, gap="medium"):
        with st.container(width="stretch"):
            ticked, chosen = widgets.runs_beside(
                rows, runs, f"runs-{st.session_state.get(cache.SELECTION, 0)}", alt
            )
        if chosen and (run := cache.ask(run_queries.run, chosen)):
            with st.container(width=BESIDE, key="beside"):
                st.html(failure_words.pane(run, measured.get(chosen), filters))
                st.button("Close", key="close-run", on_click=cache.forget_selection)
    if not cache.is_read_only():
        annotate.bulk_bar(ticked)
    if note := unreported_note(runs, shown, catalogue.RUNS):
        st.caption(plain(note))


def written(name: str, by: str) -> bytes:
    """Return the table of reasons as a file."""
    with read_transaction(cache.store()) as transaction:
        answer = results.failures(transaction, transaction.searched(filters), by)
    return EXPORTS[name].write(answer)


def show_failures() -> None:
    """Show reasons by agent, model, project or month; texts of a reason; runs of a text."""
    with tools:
        st.html('<span class="t-n">Columns</span>', width="content")
        by = widgets.choice(
            "Columns",
            {key: catalogue.GROUPS[key].label for key in failure_queries.COLUMNS},
            "per",
            label_visibility="collapsed",
        )
    table, whole = cache.ask(failure_queries.failures, filters, by)
    facts, reasons = cache.ask(failure_queries.totals, filters), table.to_pylist()
    with head:
        widgets.heading(failure_words.failures(facts, reasons, agents))
    if not reasons:
        return
    with tools, st.popover("Table", icon=":material/download:"):
        for name in ("csv", "md", "xlsx"):
            file = partial(written, name, by)
            st.download_button(
                name,
                file,
                f"failures.{name}",
                EXPORTS[name].mime,
                on_click="ignore",
                key=f"failures-{name}",
            )
    st.html(failure_words.reason_table(reasons, whole.to_pylist()[0], facts, by, filters))
    reason = st.query_params.get("reason", "")
    if reason not in REASONS:
        return
    texts = cache.ask(failure_queries.texts, filters, reason, TEXTS).to_pylist()
    widgets.subheading(
        REASONS[reason].label, f"Rule: {REASONS[reason].told}. {failure_words.found(texts)}"
    )
    st.html(failure_words.text_table(reason, texts, filters))
    place = st.query_params.get("text", "")
    if place.isdecimal() and 0 < int(place) <= len(texts):
        one = texts[int(place) - 1]
        runs = cache.ask(failure_queries.runs_of, filters, reason, one["text"], OF_TEXT).to_pylist()
        cut = f" The first {OF_TEXT}, by cost." if one["runs"] > OF_TEXT else ""
        widgets.subheading(
            f"{plural(one['runs'], 'run')} with this text", f"{one['text'] or 'no error text'}{cut}"
        )
        st.html(failure_words.run_list(runs, filters))


if view == "failures":
    show_failures()
else:
    show_list()
