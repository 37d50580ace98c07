"""Shared widgets: charts, grids, choices, errors and empty states.

And how a page follows its store.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal, NoReturn
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import FragmentHandledException

from app.charts.images import Drawn, download_options, framed, mark_table
from app.charts.registry import Question
from app.queries import Row
from app.queries import filter_inputs as filter_urls
from app.queries import runs as run_queries
from app.queries.filters import Filters, this_moment
from app.queries.reading import exported, read_transaction
from app.queries.runs import ORDERS
from app.reports.exports import EXPORTS
from app.screens import cache
from app.text import html_parts
from app.text.answers import Answer
from app.text.columns import ShownColumn
from app.text.formatting import FORMS
from app.text.grids import (
    TEXT_WIDTHS,
    WRAPPED_HEIGHT,
    Grid,
    Listing,
    chosen_row,
    grid_height,
    row_height,
)
from app.text.html_parts import Shown, plain
from app.text.sentences import Doubt, Said
from ingest.system.defects import DEBUG, what_failed, written_down
from schemas.catalogue.columns import RUNS
from schemas.catalogue.cost_measures import (
    ALL_IN,
    BEST,
    COST_MEASURES,
    ON_SCREENS,
    CostMeasure,
)
from schemas.errors import StoreBusy, StoreMissing, TachographError
from schemas.text import visible
from schemas.units import Unit

Visibility = Literal["visible", "hidden", "collapsed"]

TIMES = {"at": "YYYY-MM-DD HH:mm:ss"}
"""Format of times in grids if they can be within the same minute."""

WIDTHS = TEXT_WIDTHS | {
    "title": 210,
    "run_id": 110,
    "session_id": 110,
    "evidence": 110,
    "source_name": 200,
    "excerpt": 250,
    "why": 220,
    "task_key": 130,
    "reason": 460,
    "verdict": 120,
}

DATE_WIDTH = 134
"""Width of dates: a grid takes that of its first rows, which may have none."""

PHONE_TITLE = 150
"""Width of titles on a phone, which leaves room for two columns of figures."""

RUN_ID, CLAIM_NO, ORDER, LOOP = "run", "claim", "order", "loop"
"""Parameters of the address for a run, one of its claims, the order of the list it was opened from,
and a loop.
"""

DEFAULT_ORDER = next(iter(ORDERS))

COST_WORDS = {
    "best": "Best known",
    "reported": "Reported",
    "list": "List price",
    "all-in": "All-in",
}

COST, FORCED_BY, _COST = "cost", "cost-forced-by", "cost-measure"
"""The parameter of the address that names the measure of cost; and session keys: the measure that a
screen forces, and the one chosen for all screens.
"""

IMAGE, IMAGES = "image", ("png", "svg")
"""The choice of how a chart is downloaded, and its values."""

NO_RUNS = "Point Tachograph at the logs of your agents. It only reads them."
START_WITH = {
    "~/.claude": "Claude Code on this machine",
    "logs/": "a folder or archive of any agent",
}
"""What a screen without runs says: a sentence, and paths to read with what they hold."""

LOOKS_SECONDS = 1.5
"""Seconds between checks whether the store is free, for a screen that gave up waiting."""

LOOK_SECONDS = float(os.environ.get("TACHOGRAPH_LOOK_SECONDS") or 2)
"""Seconds between checks of the store's file while it is written; 0 for none. A check takes the
browser 0.05 s.
"""
QUIET, RECENT_SECONDS = 15, 60
"""So many times longer is the pause once nothing was written for RECENT_SECONDS."""

MOST_WAITS = 3
"""Number of checks for which a page waits for a writer to finish."""

_CHART_OPTIONS: dict[str, Any] = {
    "displaylogo": False,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
}
_DRAWN, _WAITED = "live-drawn", "live-waited"
DOUBTS: ContextVar[tuple[Doubt, ...]] = ContextVar("doubts", default=())
"""What the filters leave out of every figure of a screen; each run of a page sets it anew."""

PICKED: ContextVar[dict[str, str]] = ContextVar("picked")
"""The choices of the screen by key that are not their default: what its shared page shows, too."""

_IS_FOLLOWING: ContextVar[bool] = ContextVar("is_following", default=False)


class _Ended(BaseException):
    """Ends the drawing of a page."""


def side_by_side(
    vertical_alignment: Literal["center", "bottom"] = "center", **how: Any
) -> DeltaGenerator:
    """Return a container of what stands in one line, or in several if there is no room."""
    return st.container(horizontal=True, vertical_alignment=vertical_alignment, **how)


def end_page() -> NoReturn:
    """End the page except for the line that follows the store; `st.stop` would end that as well."""
    if _IS_FOLLOWING.get():
        raise _Ended
    st.stop()


@contextmanager
def following() -> Iterator[None]:
    """Draw a page in the block, then show when the store last changed, also if the page ends early.

    The page is drawn again once the store has changed: marks of its file are checked every two
    seconds while it is written, else twice a minute. Filters, tabs, open rows and the place on the
    page stay as they are.
    """
    if not LOOK_SECONDS or not (marks := cache.marks()):
        yield
        return
    st.session_state[_DRAWN] = marks
    token = _IS_FOLLOWING.set(True)
    try:
        with suppress(_Ended):
            yield
    finally:
        _IS_FOLLOWING.reset(token)
    with st.container(key="live"):
        _follow()


@st.fragment(run_every=QUIET * LOOK_SECONDS or None)
def _follow() -> None:
    written = cache.marks()[0]
    is_recent = not written or time.time() - written / 1e9 < RECENT_SECONDS or cache.is_written()
    (st.fragment(_look, run_every=LOOK_SECONDS) if is_recent else _look)()


def _look() -> None:
    drawn = st.session_state[_DRAWN]
    has_changed = cache.marks() != drawn
    if has_changed and not is_ticked():
        waited = st.session_state.get(_WAITED, 0)
        is_written = (
            cache.is_written() and waited < MOST_WAITS
        )  # it pays to wait for a write that is about to end
        st.session_state[_WAITED] = waited + 1 if is_written else 0
        if not is_written:
            st.rerun()
    at, today = datetime.fromtimestamp(drawn[0] / 1e9, zone()), datetime.now(zone()).date()
    updated = (
        f"Updated {at:%H:%M:%S}"
        if at.date() == today
        else f"Updated {at:%Y-%m-%d}"
        if drawn[0]
        else "No store yet"
    )
    st.caption(
        f"{plain(updated)} · {'new runs are ready' if has_changed else 'follows the store'}",
        width="content",
    )


def is_ticked() -> bool:
    """Return whether rows of a list are ticked: new runs would move other rows under the ticks."""
    chosen = [
        value.get("selection")
        for key, value in st.session_state.items()
        if str(key).startswith("runs-") and isinstance(value, Mapping)
    ]
    return any(selection and selection.get("rows") for selection in chosen)


@contextmanager
def told_errors() -> Iterator[None]:
    """Show an error of the store with advice in place of the rest of the screen."""
    try:
        yield
    except StoreMissing:
        with told_errors():  # of the samples, which may be loaded from there
            no_runs_yet()
    except TachographError as error:
        is_busy = isinstance(error, StoreBusy)
        hint = (
            "Close the other program. This page continues automatically once the store is free."
            if is_busy
            else error.hint
        )
        st.error(f"**{plain(error.message)}**\n\n{plain(hint)}", icon=":material/error:")
        if is_busy:
            _look_again()
        end_page()
    # a defect of ours: its particulars are for whoever serves this, and not for a visitor
    except Exception as error:
        if os.environ.get(DEBUG) or isinstance(
            error, FragmentHandledException
        ):  # the latter is shown already
            raise
        print(  # noqa: T201
            f"A screen failed: {what_failed(error)}. Details: {written_down(error)}",
            file=sys.stderr,
        )
        st.error(
            (
                "**This screen cannot be shown.** The dashboard's terminal says why, and where "
                "the details are."
            ),
            icon=":material/error:",
        )
        end_page()


@st.fragment(run_every=LOOKS_SECONDS)
def _look_again() -> None:
    """Run the screen again once the store is free."""
    if cache.is_free():
        st.rerun()


def no_runs_yet() -> NoReturn:
    """Show how to start without runs, by command or upload, and end the screen."""
    with st.container(width=760):
        heading(Said("No runs yet.", NO_RUNS))
        for path, what in START_WITH.items():
            with side_by_side(gap="small"):
                st.code(visible(cache.command(f"ingest {path}")), language=None, width="content")
                st.html(f'<span class="t-n">{what}</span>', width="content")
        if cache.is_read_only():
            st.caption("This dashboard is read-only: its owner adds logs.")
            end_page()
        with side_by_side():
            st.page_link(
                "screens/data.py",
                label="Upload files",
                icon=":material/upload_file:",
                query_params={"view": "Upload"},
            )
            if cache.samples() and st.button(
                "Load the sample logs", key="samples", icon=":material/science:"
            ):
                cache.ingest_samples()
                st.rerun()
    end_page()


def cost_menu(forced: str = "") -> None:
    """Place the menu of the measure of cost, shared by all screens and kept in the address.

    `forced`: the screen's own measure.
    """
    has_rate = cache.ask(run_queries.has_machine_rates)
    labels = {
        measure.key: COST_WORDS[measure.key]
        for measure in ON_SCREENS
        if has_rate or measure is not ALL_IN
    }
    asked = st.query_params.get(COST, "")
    named = next((key for key, label in labels.items() if asked in (key, label)), "")
    chosen = st.session_state[_COST] = named or st.session_state.get(_COST, BEST.key)
    _write_cost(chosen)
    current = forced if forced in labels else chosen
    with (
        st.container(width=168, key="box-Cost"),
        st.popover(f"Cost: {labels[current].lower()}", key="popover-Cost", width="stretch"),
        st.container(gap=None, width=240, key="menu-Cost"),
    ):
        for key, label in labels.items():
            menu_row(label, "", f"cost-{key}", _choose_cost, (key,), is_on=key == current)
        if forced in labels:
            st.caption("Best-known costs would mix reported ones and list prices here.")


def _choose_cost(key: str) -> None:
    st.session_state[_COST] = key
    _write_cost(key)


def _write_cost(key: str) -> None:
    """Write the measure into the address and into the links of tables, if it is not the usual."""
    kept = {} if key == BEST.key else {COST: COST_WORDS[key]}
    html_parts.KEPT.set(kept)
    if not kept and COST in st.query_params:
        del st.query_params[COST]
    if kept and st.query_params.get(COST) != COST_WORDS[key]:
        st.query_params[COST] = COST_WORDS[key]


def menu_row(
    label: str,
    note: str,
    key: str,
    choose: Callable[..., None],
    arguments: tuple[Any, ...],
    *,
    is_on: bool,
) -> None:
    """Place a row of a menu, with a note at its right."""
    st.button(
        f"{plain(label)} :gray[{plain(note)}]" if note else plain(label),
        key=key,
        on_click=choose,
        args=arguments,
        type="secondary" if is_on else "tertiary",
        width="stretch",
        wrap=False,
    )


def zone() -> ZoneInfo:
    """Return the time zone of the visitor, UTC if unknown."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")


def last_look() -> datetime | None:
    """Return when this browser left the dashboard last; None without such a visit."""
    minutes = st.context.cookies.get("tachograph_looked", "")
    try:
        return datetime.fromtimestamp(int(minutes) * 60, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def force_cost(measure: CostMeasure | None) -> None:
    """Show `measure` as chosen, for a screen that replaces the best-known cost.

    None shows the visitor's choice.
    """
    key = measure.key if measure else ""
    if st.session_state.get(FORCED_BY, "") != key:
        st.session_state[FORCED_BY] = key
        st.rerun()


def cost_in_force() -> CostMeasure:
    """Return the chosen measure, best known by default."""
    return COST_MEASURES.get(str(st.session_state.get(_COST)), BEST)


def filters_kept() -> dict[str, list[str]]:
    """Return the filters in the address, for a link to another page."""
    return {
        word: st.query_params.get_all(word)
        for word in st.query_params
        if word in filter_urls.LINK_WORDS
    }


def heading(said: Said) -> None:
    """Place the answer of a screen at the top, with the doubts of the filter bar."""
    st.html(html_parts.heading(replace(said, doubts=(*DOUBTS.get(), *said.doubts))))


def subheading(title: str, caption: str = "") -> None:
    """Place the title of a section and how to read it."""
    about = f'<p class="t-cap">{html_parts.text(caption)}</p>' if caption else ""
    st.html(f'<h2 class="t-h3">{html_parts.text(title)}</h2>{about}')


def question(filters: Filters, measure: CostMeasure, of: str = "", **choices: str) -> Question:
    """Return the question that the charts of a screen answer, with choices of the screen."""
    return Question(cache.ask, filters, measure, st.context.theme.type, of, choices=choices)


def titled(drawn: Drawn | None, key: str, *, height: int = 0) -> Sequence[Row]:
    """Place a chart, if there is one, under its finding and a line on how to read it.

    A click on a run's mark opens the run.
    """
    if drawn is None:
        return ()
    if height:
        drawn.figure.update_layout(height=height)
    subheading(drawn.title, drawn.caption)
    return plotted(drawn, f"chart-{key}")


def plotted(drawn: Drawn, key: str, *, opens_run: bool = True) -> Sequence[Row]:
    """Place a figure and return the marks that were clicked.

    `opens_run`: their custom data is the id of a run, which a click opens.

    Its title and source are above the part that the page shows, so that only a downloaded picture
    has them.
    """
    page = st.context.theme.type
    figure, alt = framed(drawn, page), visible(f"{drawn.title}. {drawn.caption}")
    st.html(f"<style>.st-key-{key} {{ --t-head: {figure.layout.meta}px }}</style>")
    is_plain = all(trace.customdata is None for trace in figure.data)
    config = (
        _CHART_OPTIONS if opens_run else {"displaylogo": False, "modeBarButtons": [["toImage"]]}
    )
    config = config | {
        "toImageButtonOptions": download_options(
            drawn, figure, str(st.session_state.get(IMAGE) or IMAGES[0])
        )
    }
    if is_plain:
        st.plotly_chart(figure, theme=None, key=key, config=config, alt=alt)
        _figures(drawn, key)
        return ()
    figure.update_layout(
        clickmode="event+select", dragmode="pan"
    )  # which Streamlit sets as well, but only after it has drawn the figure
    chosen: Any = st.plotly_chart(
        figure,
        theme=None,
        key=key,
        config=config,
        alt=alt,
        on_select="rerun",
        selection_mode="points",
    )
    _figures(drawn, key)
    points: Sequence[Row] = chosen["selection"]["points"]
    if opens_run and points:
        found = points[0].get("customdata")
        open_run(str(found[0] if isinstance(found, list | tuple) else found))
    return points


def _figures(drawn: Drawn, key: str) -> None:
    """Place a fold with the figures of a chart as a table, which is made when it is opened."""
    if not drawn.n:
        return
    fold = st.expander("Figures", type="compact", key=f"figures-{key}", on_change="rerun")
    if not fold.open:
        return
    from app.text.text_tables import shown_table  # and rich, which no first page needs

    with fold:
        answer = Answer(mark_table(drawn), drawn.title)
        st.html(shown_table(answer).html(frame="t-scroll t-tall"))
        st.download_button(
            "CSV",
            partial(EXPORTS["csv"].write, answer),
            f"{drawn.file_name}.csv",
            "text/csv",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
            key=f"{key}-csv",
        )


def compact_toggle() -> bool:
    """Return whether lists are compact, by default on a phone.

    Kept in the address if chosen otherwise.
    """
    about = "What identifies a run and its cost, for narrow screens."
    return st.toggle("Compact", value=is_phone(), key="compact", bind="query-params", help=about)


def is_phone() -> bool:
    """Return whether the visitor's browser is on a phone.

    MDN recommends looking for `Mobi` in its name.
    """
    return "Mobi" in (st.context.headers.get("User-Agent") or "")


def columns_picker(usual: Listing, more: Sequence[str]) -> tuple[str, ...]:
    """Return the chosen columns of the list of runs; kept in the address."""
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
    """Offer all matching runs as a file that is made on request."""

    def written() -> bytes:
        with read_transaction(exported(cache.store(), filters)) as transaction:
            return EXPORTS["csv"].write(
                Answer(run_queries.runs(transaction, transaction.searched(filters)), "")
            )

    about = (
        "All matching runs, with all columns and exact values. Prompts, titles and summaries of "
        "sessions are left out."
    )
    st.download_button(
        "CSV",
        written,
        "runs.csv",
        "text/csv",
        icon=":material/download:",
        on_click="ignore",
        help=about,
    )


def choice(
    label: str,
    options: Mapping[str, str],
    key: str,
    *,
    first: str = "",
    label_visibility: Visibility = "visible",
) -> str:
    """Place a choice of a few options and return it, kept in the address.

    `first`: the option by default, else the first one.
    """
    _in_words(key, options)
    first = first or next(iter(options))
    picked = st.segmented_control(
        label,
        list(options),
        format_func=lambda option: visible(options[option]),
        key=key,
        default=first
        if st.session_state.get(key, first) == first
        else None,  # also if a run is cut short before it is drawn
        required=True,
        label_visibility=label_visibility,
        bind="query-params",
    )
    return _kept(key, str(picked) if picked in options else first, first)


def pick(
    label: str,
    options: Mapping[str, str],
    key: str,
    *,
    width: int = 200,
    label_visibility: Visibility = "visible",
) -> str:
    """Place a choice of many options and return it, by default the first; kept in the address."""
    _in_words(key, options)
    picked = st.selectbox(
        label,
        list(options),
        format_func=lambda option: visible(options[option]),
        key=key,
        width=width,
        label_visibility=label_visibility,
        bind="query-params",
    )
    return _kept(key, str(picked), next(iter(options)))


def _kept(key: str, chosen: str, first: str) -> str:
    """Return what is chosen, and keep it for the Share menu if it is not the default."""
    if chosen != first and (kept := PICKED.get(None)) is not None:
        kept[key] = chosen
    return chosen


def picked(options: Mapping[str, str], key: str, first: str) -> str:
    """Return what a choice that is placed further below has, by default `first`."""
    _in_words(key, options)
    return str(st.session_state.get(key) or first)


def _in_words(key: str, options: Mapping[str, str]) -> None:
    """Take the choice of a link, by the command line's word or its label; drop an unknown one.

    Screens share some keys (`view`), so the choice of one screen may be unknown on another.
    """
    asked = st.query_params.get(key)
    meant = next((one for one, label in options.items() if asked in (one, label)), None)
    if key not in st.session_state and meant:
        st.session_state[key] = meant
    if st.session_state.get(key) is not None and st.session_state[key] not in options:
        del st.session_state[key]
    if asked is not None and meant is None:
        del st.query_params[key]


def table(rows: Grid, alt: str) -> None:
    """Place a read-only grid."""
    tall = row_height(rows.rows)
    height = grid_height(rows.rows, tall)
    st.dataframe(
        rows.rows,
        hide_index=True,
        column_config=_config(rows),
        placeholder="–",
        height=height,
        row_height=tall,
        alt=alt,
    )


def run_table(rows: Grid, runs: pa.Table, key: str, alt: str, order: str = "") -> None:
    """Place a grid of runs (`runs` has their ids, row for row) in one of ORDERS.

    A chosen row opens its run, at the claim if it has one.
    """
    _open_chosen(runs, _selection(rows, key, alt, "single-row"), order)


def row_of(rows: Grid, key: str, alt: str) -> int | None:
    """Place a grid and return its chosen row."""
    return chosen_row(rows.rows, _selection(rows, key, alt, "single-row"))


def compact_run_table(rows: Grid, runs: pa.Table, key: str, alt: str, order: str = "") -> None:
    """Place a grid that fits a phone: titles in three lines, no boxes to tick.

    A chosen cell opens its run.
    """
    looks = _config(rows)
    looks["title"] = st.column_config.TextColumn(RUNS["title"].header, width=PHONE_TITLE)
    if "dated_at" in rows.rows.column_names:  # a grid has no empty columns
        looks["dated_at"] = st.column_config.DatetimeColumn(
            RUNS["dated_at"].header,
            format=_time_format(rows.rows["dated_at"]).partition(",")[0],
            timezone="UTC",
            width=92,
        )
    _open_chosen(
        runs,
        _selection(rows, key, alt, None, looks, WRAPPED_HEIGHT),
        order,
    )


def runs_beside(rows: Grid, runs: pa.Table, key: str, alt: str) -> tuple[list[str], str | None]:
    """Place a grid of runs; return the ids of ticked runs, and the run with a chosen cell.

    No run can be ticked if visitors may only read.
    """
    selection = _selection(rows, key, alt, None if cache.is_read_only() else "multi-row")
    ticked = [
        str(runs["run_id"][place].as_py())
        for place in selection.get("rows", ())
        if 0 <= place < runs.num_rows
    ]
    place = chosen_row(runs, {"cells": selection.get("cells", ())})
    return ticked, None if place is None else str(runs["run_id"][place].as_py())


def _open_chosen(runs: pa.Table, selection: Mapping[str, Any], order: str) -> None:
    place = chosen_row(runs, selection)
    if place is not None:
        claim = (
            {CLAIM_NO: [str(runs["claim_no"][place])]} if "claim_no" in runs.column_names else {}
        )
        open_run(str(runs["run_id"][place]), order, claim)


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
        column_config=dict(config or _config(rows)),
        placeholder="–",
        row_height=tall,
        height=grid_height(rows.rows, tall),
        on_select="rerun",
        selection_mode=[of_rows, "single-cell"] if of_rows else ["single-cell"],
        alt=alt,
    )
    selection: Mapping[str, Any] = chosen["selection"]
    return selection


def _config(rows: Grid) -> dict[str, Any]:
    return {column.name: _column(column, rows.rows[column.name]) for column in rows.columns}


def _column(column: ShownColumn, cells: pa.ChunkedArray) -> Any:
    about = plain(column.meaning) or None
    if pa.types.is_string(cells.type) and (
        column.is_figure or column.name in ("cost_shown", "measured")
    ):
        return st.column_config.TextColumn(column.header, help=about, alignment="right")
    if number_format := FORMS[column.unit].grid:
        return st.column_config.NumberColumn(column.header, help=about, format=number_format)
    if column.unit is Unit.TIME:
        return st.column_config.DatetimeColumn(
            column.header,
            help=about,
            format=TIMES.get(column.name) or _time_format(cells),
            timezone="UTC",
            width=DATE_WIDTH,
        )
    width = PHONE_TITLE if column.name == "title" and is_phone() else WIDTHS.get(column.name)
    return st.column_config.TextColumn(column.header, help=about, width=width)


def _time_format(times: pa.ChunkedArray) -> str:
    """Return the format of a grid's times: `19 March, 01:17`, with years if any is not this one."""
    years = set(pc.unique(pc.year(times)).to_pylist()) - {None}
    return "D MMMM, HH:mm" if years <= {this_moment().year} else "D MMM YYYY, HH:mm"


def open_run(run_id: str, order: str = "", claim: Mapping[str, list[str]] | None = None) -> None:
    """Go to the run's page, at a claim if given.

    The address keeps the filters and the order of the list.
    """
    ordered = {ORDER: [order]} if order and order != DEFAULT_ORDER else {}
    st.switch_page(
        "screens/run.py",
        query_params={RUN_ID: [run_id], **(claim or {}), **filters_kept(), **ordered},
    )


def cut_note(text: Shown) -> None:
    """Show that a text is cut."""
    if text.note:
        st.caption(text.note)
