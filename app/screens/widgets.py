"""What several screens place: cards, charts, grids, errors and empty states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import streamlit as st

from app.charts import CHARTS, distributions
from app.charts.palette import Looks, group_looks
from app.queries import distributions as distribution_queries
from app.queries import quality as quality_queries
from app.queries import runs as run_queries
from app.queries.filters import FILTERS, Filters
from app.queries.grouping import group
from app.queries.screens import AXES
from app.reports.exports import EXPORTS
from app.screens import cache
from app.text.claim_words import overview_line
from app.text.columns import Column
from app.text.grid_columns import Grid, Listing, chosen_run, clicked_run, grid_height, money_decimals, with_percentages
from app.text.presentation import Card, Shown, fact_words, plain
from schemas.catalogue.columns import FACTS
from schemas.catalogue.dimensions import LABEL_PREFIX
from schemas.catalogue.entry import Figure
from schemas.errors import StoreBusy, StoreMissing, TachographError
from schemas.text import visible
from schemas.unit_names import Unit

FORMATS: dict[Unit, Any] = {
    Unit.USD: "dollar",
    Unit.MILLISECONDS: "localized",
    Unit.RATIO: "%.2f×",
    Unit.SHARE: "%.1f%%",
    Unit.TOKENS: "localized",
    Unit.COUNT: "localized",
}
"""How a grid writes the units; its cells sort by value."""

WIDTHS = {"run_id": 110, "session_id": 110, "message": 960, "quote": 320}
"""Widths in pixels of columns of texts, where the longest of them would be too wide or is what the table is for."""

RUN_ID = "run"
"""The parameter of the address that names a run."""

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
        st.stop()


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
    st.stop()


def _offer_logs() -> None:
    """Two ways out of an empty store: the visitor's own logs, or ours to try."""
    st.markdown("Upload the result records of an agent, or load sample logs to look around:")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link("screens/upload.py", label="Upload logs", icon=":material/upload_file:")
        if cache.samples() and st.button("Load the sample logs", key="samples", icon=":material/science:"):
            cache.ingest_samples()
            st.rerun()


def card_grid(cards: Sequence[Card]) -> None:
    """Figures side by side, as many as the page is wide."""
    with st.grid(4, min_column_width=150):
        for card in cards:
            st.metric(
                card.label,
                card.value,
                card.note or None,
                help=card.help,
                border=True,
                height="stretch",
                delta_color=card.colour,
                delta_arrow="off",
            )


def claims_line(filters: Filters) -> None:
    """What these runs claim, in a line that leads to the claims; nothing where none claims a speedup."""
    asked = ("runs", "runs_with_claim", "runs_benchmarked", "claimed_speedup_median")
    if said := overview_line(cache.ask(run_queries.summary, filters, (), asked).to_pylist()[0]):
        kept = {key: st.query_params.get_all(key) for key in st.query_params if key in FILTERS}
        st.page_link("screens/claims.py", label=plain(said), icon=":material/campaign:", query_params=kept)


def chart(key: str, table: pa.Table, looks: Looks, *, whole: bool = True, note: str = "") -> None:
    """One chart under its finding, with what it leaves out below; a part of the rows allows no finding."""
    shown = CHARTS[key]
    drawn = shown.draw(table, looks, st.context.theme.type)
    drawing(shown.heading(table, whole=whole), shown.title if whole else shown.shows, drawn, key, note or shown.words(table).note)


def drawing(finding: str, caption: str, drawn: Any, key: str, note: str = "") -> None:
    """A figure under its finding, with how to read it, and what it leaves out below; a click on a run's mark opens the run."""
    with st.container(gap=None):
        st.header(plain(finding), anchor=False)
        st.caption(plain(caption))
    alt = visible(" ".join(f"{part.rstrip('.')}." for part in (finding, caption, note) if part))
    if any(trace.customdata is not None for trace in drawn.data):
        chosen = st.plotly_chart(drawn, key=f"chart-{key}", config=_CHART_OPTIONS, alt=alt, on_select="rerun", selection_mode="points")
        for point in chosen["selection"]["points"][:1]:
            open_run(clicked_run(point))
    else:
        st.plotly_chart(drawn, key=f"chart-{key}", config=_CHART_OPTIONS, alt=alt)
    if note:
        st.caption(plain(note))


def groups(measure: Figure, by: str, filters: Filters, models: Looks) -> None:
    """A measure per group: boxes of quantiles, in the colours of models or outcomes where these are the groups."""
    quantiles = worded(cache.ask(distribution_queries.quantiles, filters, measure, by), by)
    drawing(
        distributions.groups_finding(measure, quantiles),
        "Box: p25–p75 with the median; whiskers: p5–p95. Up to 20 groups.",
        distributions.boxes(measure, quantiles, group_looks(by, models), st.context.theme.type),
        f"boxes-{by}",
    )


def worded(groups: pa.Table, by: str) -> pa.Table:
    """The groups in words: outcomes are keys of ours."""
    named = [None if value is None else fact_words(value, by) for value in groups["group"].to_pylist()]
    return groups.set_column(groups.column_names.index("group"), "group", pa.array(named, pa.string()))


def axes(options: Mapping[str, Mapping[str, int]]) -> dict[str, str]:
    """What runs can be drawn along: their time where any is known, the ingestion order, what they worked on, and any label."""
    facts = {row["fact"]: row["share"] for row in cache.ask(quality_queries.known, Filters()).to_pylist()}
    along = sorted(AXES, key=lambda key: key == "time" and facts[quality_queries.OWN_TIME] < 1)  # second where some runs have none
    named = {key: AXES[key].label for key in along if key != "time" or facts[quality_queries.OWN_TIME]}
    tasks = {key: FILTERS[key].name for key in ("task", "repo", "experiment") if key in options}
    labels = dict.fromkeys(label.partition("=")[0] for label in options.get("label", ()))
    return named | tasks | {word: group(word).label for word in ("outcome", "model", *(f"{LABEL_PREFIX}{key}" for key in labels))}


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
        return EXPORTS["csv"].write(cache.ask(run_queries.runs, filters), "runs")

    st.download_button(
        "CSV",
        written,
        "runs.csv",
        "text/csv",
        icon=":material/download:",
        on_click="ignore",
        help="All matching runs, with all columns and exact values.",
    )


def choice(label: str, options: Mapping[str, str], key: str) -> str:
    """One of a few, by default the first; kept in the address."""
    _in_words(key, options)
    picked = st.segmented_control(
        label,
        list(options),
        format_func=lambda option: visible(options[option]),
        key=key,
        default=next(iter(options)),
        required=True,
        bind="query-params",
    )
    return str(picked) if picked in options else next(iter(options))


def _in_words(key: str, options: Mapping[str, str]) -> None:
    """A link that somebody wrote by hand may name a choice as the command line does: `group=day`."""
    if key not in st.session_state and st.query_params.get(key) in options:
        st.session_state[key] = st.query_params[key]


def pick(label: str, options: Mapping[str, str], key: str, *, width: int = 200, default: int = 0) -> str:
    """One of many, by default the one at `default`; kept in the address."""
    _in_words(key, options)
    place = min(default, len(options) - 1)
    picked = st.selectbox(
        label, list(options), index=place, format_func=lambda option: visible(options[option]), key=key, width=width, bind="query-params"
    )
    return str(picked)


def run_table(rows: Grid, runs: pa.Table, key: str, alt: str) -> None:
    """A grid of runs (`runs` has their ids, row for row); a chosen one opens."""
    chosen = st.dataframe(
        rows.rows,
        key=key,
        hide_index=True,
        column_config=column_config(rows),
        placeholder="–",
        height=grid_height(rows.rows),
        on_select="rerun",
        selection_mode=["single-row", "single-cell"],
        alt=alt,
    )
    run_id = chosen_run(runs, chosen["selection"])
    if run_id is not None:
        open_run(run_id)


def open_run(run_id: str) -> None:
    """Go to the run's own page, the filters in the address as they are."""
    kept = {key: st.query_params.get_all(key) for key in st.query_params if key in FILTERS}
    st.switch_page("screens/run.py", query_params={RUN_ID: [run_id], **kept})


def column_config(rows: Grid) -> dict[str, Any]:
    """How a grid shows its columns."""
    return {column.name: _config(column, money_decimals(rows.rows[column.name])) for column in rows.columns}


def _config(column: Column, decimals: int) -> Any:
    about = plain(column.meaning) or None
    if column.unit is Unit.USD:
        return st.column_config.NumberColumn(column.header, help=about, format=FORMATS[Unit.USD], step=10.0**-decimals)
    if column.unit in FORMATS:
        return st.column_config.NumberColumn(column.header, help=about, format=FORMATS[column.unit])
    if column.unit is Unit.TIME:
        return st.column_config.DatetimeColumn(column.header, help=about, format="YYYY-MM-DD HH:mm", timezone="UTC")
    return st.column_config.TextColumn(column.header, help=about, width=WIDTHS.get(column.name))


def table(rows: Grid, alt: str) -> None:
    """A grid to read."""
    height = grid_height(rows.rows)
    st.dataframe(rows.rows, hide_index=True, column_config=column_config(rows), placeholder="–", height=height, alt=alt)


def share_table(rows: pa.Table, alt: str) -> None:
    """Fields with the share of runs that have them, as bars."""
    config = {
        "fact": st.column_config.TextColumn(FACTS["fact"].label, width="medium"),
        "known": st.column_config.NumberColumn(FACTS["known"].label, format="localized", width="small"),
        "share": st.column_config.ProgressColumn(FACTS["share"].label, format="%.1f%%", min_value=0, max_value=100, width="large"),
    }
    st.dataframe(with_percentages(rows), hide_index=True, column_config=config, height=grid_height(rows), alt=alt)


def cut_note(text: Shown) -> None:
    """That a text is cut, where it is."""
    if text.note:
        st.caption(text.note)
