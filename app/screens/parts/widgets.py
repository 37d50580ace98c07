"""What several screens place: cards, charts, grids, errors and empty states."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import pyarrow as pa
import streamlit as st
from streamlit.errors import FragmentHandledException

from app.queries import filter_inputs as filter_urls
from app.queries import runs as run_queries
from app.queries import runs as screen_queries
from app.queries.filters import Filters
from app.queries.reading import exported, read_transaction
from app.queries.runs import ORDERS
from app.reports.exports import EXPORTS
from app.screens import cache
from app.screens.parts import evidence, live
from app.text import html_parts
from app.text.columns import Column
from app.text.grid_columns import (
    TEXT_WIDTHS,
    WRAPPED_HEIGHT,
    Grid,
    Listing,
    chosen_row,
    clicked_run,
    grid_height,
    money_decimals,
    row_height,
)
from app.text.presentation import Shown, fact_words, plain
from app.text.sentences import Said
from ingest.system.defects import DEBUG, what_failed, written_down
from schemas.catalogue.columns import RUNS
from schemas.catalogue.cost_measures import BEST, COST_MEASURES, ON_SCREENS, CostMeasure
from schemas.errors import StoreBusy, StoreMissing, TachographError
from schemas.text import visible
from schemas.units import Unit

FORMATS: dict[Unit, Any] = {
    Unit.USD: "dollar",
    Unit.RATIO: "%.2f×",
    Unit.SHARE: "%.1f%%",
    Unit.TOKENS: "localized",
    Unit.COUNT: "localized",
}
"""How a grid writes the units; its cells sort by value."""

MINUTE = "YYYY-MM-DD HH:mm"
TIMES = {"at": f"{MINUTE}:ss"}
"""How a grid writes times, and those that follow one another within a minute."""

WIDTHS = TEXT_WIDTHS | {
    "title": 210, "run_id": 110, "session_id": 110, "evidence": 110, "source_name": 200, "excerpt": 250, "why": 220, "task_key": 130,
    "reason": 460,
}  # fmt: skip
"""Widths in pixels of columns of texts, where the longest of them would be too wide or is what the table is for."""

PHONE_TITLE = 150
"""The width of titles on a phone: two columns of figures have room beside them."""

CLAIM_TITLE = 210
"""The width of titles beside the sentence of a claim: then its caveat and confidence have room on a page of 1280 pixels."""

RUN_ID, ORDER = "run", "order"
"""The parameters of the address that name a run, and the order of the list from which it was opened."""

DEFAULT_ORDER = next(iter(ORDERS))

COST_WORDS = {"best": "Best known", "reported": "Reported", "list": "List price"}
"""The measures of cost as the filter bar names them."""

COST = "cost"
"""The parameter of the address that names the measure of cost."""

FORCED, FORCED_BY = "cost-forced", "cost-forced-by"
"""In the session: the choice where a screen forces a measure, and that measure."""

_COST = "cost-measure"
"""In the session: the measure that was chosen, for all screens."""

BARS = 50
"""The most bars a chart of single runs has room for."""

LOOKS_SECONDS = 1.5
"""How often a screen that gave up waiting looks whether the store is free."""

_CHART_OPTIONS = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}


@contextmanager
def told_errors() -> Iterator[None]:
    """Tell what is wrong with the store, and what to do, in place of the rest of the screen."""
    try:
        yield
    except StoreMissing as error:
        with told_errors():  # of the samples, which may be loaded from there
            empty_state("No runs yet", error.message)
    except TachographError as error:
        is_busy = isinstance(error, StoreBusy)
        hint = "Close the other program. This page continues automatically once the store is free." if is_busy else error.hint
        st.error(f"**{plain(error.message)}**\n\n{plain(hint)}", icon=":material/error:")
        if is_busy:
            _look_again()
        live.end_page()
    except Exception as error:  # a defect of ours: its particulars are for whoever serves this, and not for a visitor
        if os.environ.get(DEBUG) or isinstance(error, FragmentHandledException):  # the latter is shown already
            raise
        print(f"A screen failed: {what_failed(error)}. Details: {written_down(error)}", file=sys.stderr)  # noqa: T201
        st.error("**This screen cannot be shown.** The dashboard's terminal says why, and where the details are.", icon=":material/error:")
        live.end_page()


@st.fragment(run_every=LOOKS_SECONDS)
def _look_again() -> None:
    """Run the screen again once the store is free."""
    if cache.is_free():
        st.rerun()


def empty_state(title: str, why: str) -> None:
    """What to do where there is nothing to see; ends the screen."""
    with st.container(border=True):
        st.header(title, anchor=False)
        st.markdown(plain(why))
        if cache.is_read_only():
            st.markdown("This dashboard is read-only. The owner can add logs with:")
        else:
            _offer_logs()
            st.markdown("Or ingest a file or folder from the command line:")
        st.code(visible(cache.command("ingest PATH")), language=None)
    live.end_page()


def _offer_logs() -> None:
    """Two ways out of an empty store: the visitor's own logs, or ours to try."""
    st.markdown("Upload the result records of an agent, or load sample logs to look around:")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link("screens/data.py", label="Upload logs", icon=":material/upload_file:", query_params={"view": "Upload"})
        if cache.samples() and st.button("Load the sample logs", key="samples", icon=":material/science:"):
            cache.ingest_samples()
            st.rerun()


def cost_choice(forced: str = "") -> None:
    """The choice of the measure of cost, the same for all screens; kept in the address. `forced`: the one that a screen takes instead."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content", key="cost-choice"):
        st.html('<span class="t-n">Cost</span>', width="content")
        labels = {measure.key: COST_WORDS[measure.key] for measure in ON_SCREENS}
        if forced in labels:
            st.session_state[FORCED] = forced
            about = "Best-known costs would mix reported ones and list prices here."
            st.segmented_control(
                "Cost", list(labels), format_func=labels.__getitem__, key=FORCED, required=True, help=about,
                label_visibility="collapsed", on_change=_choose_cost,
            )  # fmt: skip
            return
        if COST not in st.session_state and COST not in st.query_params and st.session_state.get(_COST) in labels:
            st.session_state[COST] = st.session_state[_COST]
        chosen = st.session_state[_COST] = choice("Cost", labels, COST, label_visibility="collapsed")
        html_parts.KEPT.set({} if chosen == BEST.key else {COST: labels[chosen]})


def _choose_cost() -> None:
    """Take another measure than the one that a screen forces."""
    st.session_state[_COST] = st.session_state[FORCED]


def force_cost(measure: CostMeasure | None) -> None:
    """Show a measure as chosen on this screen, which takes it in place of the best-known cost; None: show the one that was chosen."""
    key = measure.key if measure else ""
    if st.session_state.get(FORCED_BY, "") != key:
        st.session_state[FORCED_BY] = key
        st.rerun()


def cost_in_force() -> CostMeasure:
    """The measure that was chosen, best known if none was."""
    return COST_MEASURES.get(str(st.session_state.get(_COST)), BEST)


def heading(said: Said, *, missing: bool = True) -> None:
    """The answer of a screen in its first lines, and what it rests on, with a link to what the logs lack."""
    address = html_parts.link("data", filter_bar_filters()) if missing else ""
    st.html(html_parts.heading(said.heading, said.second, said.coverage, address))


def filter_bar_filters() -> Filters:
    """The filters in the address."""
    return filter_urls.read_link(filters_kept()).filters


def titled(title: str, caption: str, drawn: Any, key: str, *, height: int = 0) -> None:
    """A figure under its finding and a line on how to read it; a click on a run's mark opens the run."""
    if height:
        drawn.update_layout(height=height)
    st.html(f'<h3 class="t-h3">{html_parts.text(title)}</h3><p class="t-cap">{html_parts.text(caption)}</p>')
    plotted(drawn, key, f"{title}. {caption}")


def subheading(title: str, caption: str = "") -> None:
    """What comes below on a screen, and how to read it."""
    about = f'<p class="t-cap">{html_parts.text(caption)}</p>' if caption else ""
    st.html(f'<h2 class="t-h3">{html_parts.text(title)}</h2>{about}')


def plotted(drawn: Any, key: str, alt: str) -> None:
    if any(trace.customdata is not None for trace in drawn.data):
        chosen = st.plotly_chart(
            drawn, key=f"chart-{key}", config=_CHART_OPTIONS, alt=visible(alt), on_select="rerun", selection_mode="points"
        )
        for point in chosen["selection"]["points"][:1]:
            open_run(clicked_run(point))
    else:
        st.plotly_chart(drawn, key=f"chart-{key}", config=_CHART_OPTIONS, alt=visible(alt))


def worded(groups: pa.Table, by: str) -> pa.Table:
    """The groups in words: outcomes are keys of ours."""
    named = [None if value is None else fact_words(value, by) for value in groups["group"].to_pylist()]
    return groups.set_column(groups.column_names.index("group"), "group", pa.array(named, pa.string()))


PHONE = "Mobi"
"""What browsers of phones have in their name (`User-Agent`), as MDN recommends to look for."""


def compact_toggle() -> bool:
    """Whether lists are compact: on a phone from the start. Kept in the address where somebody chooses otherwise."""
    about = "What identifies a run and its cost, for narrow screens."
    return st.toggle("Compact", value=is_phone(), key="compact", bind="query-params", help=about)


def is_phone() -> bool:
    """Whether the visitor's browser is that of a phone."""
    return PHONE in (st.context.headers.get("User-Agent") or "")


def columns_picker(usual: Listing, more: Sequence[str]) -> tuple[str, ...]:
    """Which columns the list of runs shows; kept in the address."""
    names = {key: usual.of[key].header for key in (*usual.keys, *more)}
    with st.popover("Columns", icon=":material/view_column:"):
        picked = st.multiselect(
            "Columns",
            list(names),
            default=list(usual.keys),
            format_func=lambda key: names[key],
            key="columns",
            width=420,
            bind="query-params",
        )
    return tuple(picked) or usual.keys


def download_runs(filters: Filters) -> None:
    """All the runs that match, as a file made when it is asked for."""

    def written() -> bytes:
        with read_transaction(exported(cache.store(), filters)) as transaction:
            return EXPORTS["csv"].write(run_queries.runs(transaction, transaction.searched(filters)), "runs")

    st.download_button(
        "CSV",
        written,
        "runs.csv",
        "text/csv",
        icon=":material/download:",
        on_click="ignore",
        help="All matching runs, with all columns and exact values. Prompts, titles and summaries of sessions are left out.",
    )


def choice(
    label: str, options: Mapping[str, str], key: str, *, label_visibility: Literal["visible", "hidden", "collapsed"] = "visible"
) -> str:
    """One of a few, by default the first; kept in the address."""
    _in_words(key, options)
    first = next(iter(options))
    picked = st.segmented_control(
        label,
        list(options),
        format_func=lambda option: visible(options[option]),
        key=key,
        default=first if st.session_state.get(key, first) == first else None,  # also where a run is cut short before it is drawn
        required=True,
        label_visibility=label_visibility,
        bind="query-params",
    )
    return str(picked) if picked in options else first


def _in_words(key: str, options: Mapping[str, str]) -> None:
    """A link that somebody wrote by hand may name a choice as the command line does: `group=day`. What is no choice here is dropped.

    Screens share some keys (`view`): what was chosen on one may be none of another's.
    """
    asked = st.query_params.get(key)
    if key not in st.session_state and asked in options:
        st.session_state[key] = asked
    if st.session_state.get(key) is not None and st.session_state[key] not in options:
        del st.session_state[key]
    if asked is not None and asked not in options and asked not in options.values():
        del st.query_params[key]


def pick(
    label: str,
    options: Mapping[str, str],
    key: str,
    *,
    width: int = 200,
    default: int = 0,
    label_visibility: Literal["visible", "hidden", "collapsed"] = "visible",
) -> str:
    """One of many, by default the one at `default`; kept in the address."""
    _in_words(key, options)
    place = min(default, len(options) - 1)
    picked = st.selectbox(
        label,
        list(options),
        index=place,
        format_func=lambda option: visible(options[option]),
        key=key,
        width=width,
        label_visibility=label_visibility,
        bind="query-params",
    )
    return str(picked)


def run_table(rows: Grid, runs: pa.Table, key: str, alt: str, order: str = "") -> None:
    """A grid of runs (`runs` has their ids, row for row) in one of ORDERS; a chosen one opens, at the claim where a row is one."""
    _open_chosen(runs, _selection(rows, key, alt, "single-row"), order)


def runs_beside(rows: Grid, runs: pa.Table, key: str, alt: str) -> tuple[list[str], str | None]:
    """A grid of runs: the ids of those that are ticked, and the one with a chosen cell. Where one may only look, nothing is ticked."""
    selection = _selection(rows, key, alt, None if cache.is_read_only() else "multi-row")
    ticked = [str(runs["run_id"][place].as_py()) for place in selection.get("rows", ()) if 0 <= place < runs.num_rows]
    place = chosen_row(runs, {"cells": selection.get("cells", ())})
    return ticked, None if place is None else str(runs["run_id"][place].as_py())


def _open_chosen(runs: pa.Table, selection: Mapping[str, Any], order: str) -> None:
    place = chosen_row(runs, selection)
    if place is not None:
        claim = {evidence.CLAIM_NO: [str(runs["claim_no"][place])]} if "claim_no" in runs.column_names else {}
        open_run(str(runs["run_id"][place]), order, claim)


def compact_run_table(rows: Grid, runs: pa.Table, key: str, alt: str, order: str = "") -> None:
    """A grid that a phone shows without moving it sideways: titles in three lines, no boxes to tick. A chosen cell opens its run."""
    days = st.column_config.DatetimeColumn(RUNS["dated_at"].header, format="YYYY-MM-DD", timezone="UTC", width=92)
    title = st.column_config.TextColumn(RUNS["title"].header, width=PHONE_TITLE)
    config = column_config(rows) | {"title": title, "dated_at": days}
    _open_chosen(runs, _selection(rows, key, alt, None, config, WRAPPED_HEIGHT), order)


def _selection(
    rows: Grid,
    key: str,
    alt: str,
    of_rows: Literal["single-row", "multi-row"] | None,
    config: Mapping[str, Any] | None = None,
    tall: int = 0,
) -> Mapping[str, Any]:
    tall = tall or row_height(rows.rows)
    chosen = st.dataframe(
        rows.rows,
        key=key,
        hide_index=True,
        column_config=dict(config or column_config(rows)),
        placeholder="–",
        height=grid_height(rows.rows, tall),
        row_height=tall,
        on_select="rerun",
        selection_mode=[of_rows, "single-cell"] if of_rows else ["single-cell"],
        alt=alt,
    )
    selection: Mapping[str, Any] = chosen["selection"]
    return selection


def open_run(run_id: str, order: str = "", claim: Mapping[str, list[str]] | None = None) -> None:
    """Go to the run's own page, at a claim where one is named; the address keeps the filters and the order of the list."""
    ordered = {ORDER: [order]} if order and order != DEFAULT_ORDER else {}
    st.switch_page("screens/run.py", query_params={RUN_ID: [run_id], **(claim or {}), **filters_kept(), **ordered})


def filters_kept() -> dict[str, list[str]]:
    """The filters in the address, for a link to another page."""
    return {word: st.query_params.get_all(word) for word in st.query_params if word in filter_urls.LINK_WORDS}


def neighbours(run_id: str, filters: Filters) -> None:
    """Buttons that open the previous and the next run of the list from which the run was opened, and its place in that list."""
    order = st.query_params.get(ORDER, DEFAULT_ORDER)
    order = order if order in screen_queries.ORDERS else DEFAULT_ORDER
    found = cache.ask(screen_queries.neighbours, filters, order, run_id)
    if found is None:
        return
    sides = (
        ("Previous", found.previous, ":material/keyboard_arrow_up:", "k"),
        ("Next", found.following, ":material/keyboard_arrow_down:", "j"),
    )
    for label, other, icon, shortcut in sides:
        about = f"{label} run by: {screen_queries.ORDERS[order].label}"
        if st.button(label, key=f"run-{label}", icon=icon, shortcut=shortcut, help=about, disabled=other is None) and other:
            open_run(other, order)
    st.caption(f"{found.place:,} of {found.total:,} · {screen_queries.ORDERS[order].label}", width="content")


def column_config(rows: Grid) -> dict[str, Any]:
    """How a grid shows its columns."""
    title = PHONE_TITLE if is_phone() else CLAIM_TITLE if "sentence" in rows.rows.column_names else WIDTHS["title"]
    return {column.name: _config(column, money_decimals(rows.rows[column.name]), title) for column in rows.columns}


def _config(column: Column, decimals: int, title: int) -> Any:
    about = plain(column.meaning) or None
    if column.unit is Unit.USD:
        return st.column_config.NumberColumn(column.header, help=about, format=FORMATS[Unit.USD], step=10.0**-decimals)
    if column.unit is Unit.MILLISECONDS or column.name in ("cost_shown", "measured"):
        return st.column_config.TextColumn(column.header, help=about, alignment="right")
    if column.unit in FORMATS:
        return st.column_config.NumberColumn(column.header, help=about, format=FORMATS[column.unit])
    if column.unit is Unit.TIME:
        return st.column_config.DatetimeColumn(column.header, help=about, format=TIMES.get(column.name, MINUTE), timezone="UTC")
    width = title if column.name == "title" else WIDTHS.get(column.name)
    return st.column_config.TextColumn(column.header, help=about, width=width)


def table(rows: Grid, alt: str) -> None:
    """A grid to read."""
    tall = row_height(rows.rows)
    height = grid_height(rows.rows, tall)
    st.dataframe(rows.rows, hide_index=True, column_config=column_config(rows), placeholder="–", height=height, row_height=tall, alt=alt)


def cut_note(text: Shown) -> None:
    """That a text is cut, where it is."""
    if text.note:
        st.caption(text.note)
