"""What several screens place: cards, charts, grids, errors and empty states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import streamlit as st

from app.charts import CHARTS
from app.charts.looks import Looks
from app.columns import Column
from app.grids import grid_columns
from app.presentation import Card, Shown, plain
from schemas.errors import StoreMissing, TachographError
from schemas.unit_names import Unit

FORMATS: dict[Unit, Any] = {
    Unit.USD: "$%.4f",
    Unit.MILLISECONDS: "compact",
    Unit.RATIO: "%.2f×",
    Unit.SHARE: "%.1f %%",
    Unit.TOKENS: "localized",
    Unit.COUNT: "localized",
}
"""How a grid writes the units; its cells sort by value."""

_CHART_OPTIONS = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}


@contextmanager
def told_errors() -> Iterator[None]:
    """Tell what is wrong with the store, and what to do, in place of the rest of the screen."""
    try:
        yield
    except StoreMissing as error:
        empty_state("No runs yet", error.message)
    except TachographError as error:
        st.error(f"**{plain(error.message)}**\n\n{plain(error.hint)}", icon=":material/error:")
        st.stop()


def empty_state(title: str, why: str) -> None:
    """What to do where there is nothing to see; ends the screen."""
    with st.container(border=True):
        st.subheader(title, anchor=False)
        st.markdown(plain(why))
        st.markdown("Upload the result records that an agent wrote:")
        st.page_link("screens/upload.py", label="Upload logs", icon=":material/upload_file:")
        st.markdown("Or read them from a file or folder on this machine:")
        st.code("tachograph ingest PATH", language=None)
    st.stop()


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
                delta_color="off",
                delta_arrow="off",
            )


def chart(key: str, table: pa.Table, looks: Looks, *, whole: bool = True) -> None:
    """One chart under its finding, with what it leaves out below; a part of the rows allows no finding."""
    shown = CHARTS[key]
    note = shown.words(table).note
    with st.container(gap=None):
        st.subheader(plain(shown.heading(table, whole=whole)), anchor=False)
        if whole:
            st.caption(plain(shown.title))
    st.plotly_chart(
        shown.draw(table, looks, st.context.theme.type), key=f"chart-{key}", config=_CHART_OPTIONS, alt=shown.alt(table, whole=whole)
    )
    if note:
        st.caption(plain(note))


def column_config(table: pa.Table) -> dict[str, Any]:
    """How a grid shows the columns of `grids.grid`."""
    return {column.name: _config(column, meaning) for column, meaning in grid_columns(table)}


def _config(column: Column, meaning: str) -> Any:
    if column.unit in FORMATS:
        return st.column_config.NumberColumn(column.label, help=plain(meaning) or None, format=FORMATS[column.unit])
    if column.unit is Unit.TIME:
        return st.column_config.DatetimeColumn(column.label, help=plain(meaning) or None, format="YYYY-MM-DD HH:mm", timezone="UTC")
    return st.column_config.TextColumn(column.label, help=plain(meaning) or None)


def table(rows: pa.Table, alt: str) -> None:
    """A grid to read."""
    st.dataframe(rows, hide_index=True, column_config=column_config(rows), placeholder="–", alt=alt)


def cut_note(text: Shown) -> None:
    """That a text is cut, where it is."""
    if text.note:
        st.caption(text.note)
