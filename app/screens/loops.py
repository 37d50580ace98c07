"""Optimization loops: gains, whether these exceed the noise, costs, and each loop's experiments."""

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from app.charts import registry as charts
from app.queries import loops as queries
from app.queries import run_page
from app.queries.filters import has_period
from app.queries.loops import LoopAnswer, Try
from app.reports.exports import EXPORTS
from app.reports.loop_tables import experiments_table, loops_table
from app.screens import cache
from app.screens.parts import filter_bar, widgets
from app.text import html_parts, run_html
from app.text import loop_html as words
from app.text.answers import Answer
from app.text.html_parts import plain
from app.text.loops import NO_LOOPS, heading_of
from app.text.sentences import Said
from schemas.catalogue.columns import EXPERIMENTS, LOOPS
from schemas.catalogue.cost_measures import BEST
from schemas.text import join_known, plural

BESIDE = 460
"""Pixels of an experiment next to the list."""

FORMATS = ("csv", "md", "xlsx")
_CHOSEN = "loop-experiment"

filters = filter_bar.chosen()
asked_charts = widgets.question(filters, BEST)
answers = cache.ask(queries.loops)
asked = st.query_params.get(widgets.LOOP, "")
named = queries.chosen(answers, asked)[:1] if asked else []


def downloads(name: str, table: Any, heading: str, of: Any) -> None:
    """Offer a table as files that are made on request."""
    with st.popover("Table", icon=":material/download:"):
        for kind in FORMATS:
            st.download_button(
                kind,
                partial(EXPORTS[kind].write, Answer(table, heading, of=of)),
                f"{name}.{kind}",
                EXPORTS[kind].mime,
                on_click="ignore",
                key=f"{name}-{kind}",
            )


def several(answers: list[LoopAnswer]) -> None:
    """Show the loops of one class of gains, those beyond noise first, and a chart of them."""
    with widgets.side_by_side(gap="small", key="loop-shown"):
        st.html('<span class="t-n t-spare">Show</span>', width="content")
        show = widgets.choice("Show", words.classes(answers), "show", label_visibility="collapsed")
        st.space("stretch")
        st.html('<span class="t-n t-spare">Order</span>', width="content")
        labels = {key: one.label for key, one in queries.ORDERS.items()}
        order = widgets.pick("Order", labels, "sort", width=210, label_visibility="collapsed")
        downloads("loops", loops_table(answers), plural(len(answers), "loop"), LOOPS)
    shown = [one for one in queries.ordered(answers, order) if one.gain_class == show]
    st.html(words.loop_list(shown, filters))
    if drawn := charts.loop_gains(asked_charts, shown):
        if widgets.is_phone():  # words beside the marks would leave no room for these
            drawn.figure.update_layout(annotations=[], margin_r=8)
        widgets.subheading(drawn.title, drawn.caption)
        widgets.plotted(drawn, "chart-loops")


def one_loop(answer: LoopAnswer) -> None:
    """Show the figures of a loop, its chart, what is to be known about it, and its experiments."""
    if strip := words.strip(answer):
        st.html(strip)
    clicked = None
    if words.is_drawn(answer):
        axes = words.axes(answer)
        axis = next(iter(axes))
        with widgets.side_by_side("bottom", horizontal_alignment="distribute"):
            said = st.container()
            if len(axes) > 1:
                axis = widgets.choice("Along", axes, "loop-along", label_visibility="collapsed")
        drawn = charts.loop(asked_charts, answer, axis)
        assert drawn is not None
        with said:
            widgets.subheading(drawn.title, drawn.caption)
        points = widgets.plotted(drawn, f"loop-{answer.row['loop_id']}", opens_run=False)
        clicked = int(points[0]["customdata"][0]) if points else None
    if known := words.about_html(answer):
        st.html(known)
    if answer.costs.sessions:
        st.html(words.session_table(answer, filters))
    if answer.tries:
        experiments(answer, clicked)


def experiments(answer: LoopAnswer, clicked: int | None) -> None:
    """Show the list of experiments, and the one that was chosen in it or in the chart beside it."""
    table = experiments_table(answer)
    with widgets.side_by_side("bottom", horizontal_alignment="distribute"):
        widgets.subheading(
            "Experiments", "The latest first. Click a row, or a mark of the chart, to read it."
        )
        downloads("experiments", table, heading_of(answer), EXPERIMENTS)
    with st.container(horizontal=True, gap="medium"):
        with st.container(width="stretch"):
            alt = "Experiments with state, value, step, cost and description"
            # a row that was chosen would be another one in a longer list
            key = f"experiments-{answer.row['loop_id']}-{len(answer.tries)}"
            place = widgets.row_of(words.experiment_grid(table, answer), key, alt)
        number = chosen(answer, clicked, None if place is None else len(answer.tries) - place)
        if number and number <= len(answer.tries):
            with st.container(width=BESIDE, key="beside"):
                one_experiment(answer.tries[number - 1], answer)


def chosen(answer: LoopAnswer, clicked: int | None, listed: int | None) -> int | None:
    """Return the experiment that was chosen last, in the chart or in the list.

    It stays when the log grows, which undoes both choices.
    """
    now = (answer.row["loop_id"], len(answer.tries), clicked, listed)
    number: int | None
    before, number = st.session_state.get(_CHOSEN, (None, None))
    if before is None or before[0] != now[0]:
        number = listed or clicked
    elif clicked and clicked != before[2]:
        number = clicked
    elif listed and listed != before[3]:
        number = listed
    elif before[1] == now[1] and before != now:
        number = listed or clicked
    st.session_state[_CHOSEN] = now, number
    return number


def one_experiment(one: Try, answer: LoopAnswer) -> None:
    """Show an experiment, with its patch if the log has it or its session made nothing else."""
    st.html(words.experiment_pane(one, answer, filters))
    patch = one.row["patch"]
    if not patch and one.run_id and sum(other.run_id == one.run_id for other in answer.tries) == 1:
        kept = cache.ask(run_page.patch_of, one.run_id)
        patch = kept and kept["text"]
    if patch:
        if drawn := run_html.diff_html(patch):
            st.html(drawn)
        else:
            st.code(patch, language="diff", height=320)


if not answers:
    widgets.heading(Said("No optimization loop is in the store."))
    st.markdown(plain(NO_LOOPS))
    st.code(cache.command("ingest PATH"), language=None)
    widgets.end_page()
shown = named or (answers if len(answers) == 1 else [])
heading = Said(heading_of(shown[0])) if shown else words.loops_said(answers, filters)
if has_period(filters):
    coverage = join_known(" · ", heading.coverage, "the time filter does not choose loops")
    heading = replace(heading, coverage=coverage)
if len(answers) > 1 and shown:
    every = html_parts.anchor(html_parts.link("loops", filters), f"All {len(answers):,} loops")
    st.html(f'<p class="t-cap">{every}</p>')
widgets.heading(heading)
if asked and not named:
    st.warning(f"No loop is called {plain(asked)}.", icon=":material/search_off:")
if shown:
    one_loop(shown[0])
else:
    several(answers)
