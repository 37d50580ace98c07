"""The matrix of tasks: a row per task, a column per agent and model, results of runs in cells."""

from typing import Any

import pandas as pd  # type: ignore[import-untyped]  # noqa: TID251  a grid has colours from its Styler only; Streamlit imports it anyway
import streamlit as st

from app.queries import filter_inputs as filter_urls
from app.queries import tasks as queries
from app.reports import results
from app.reports.exports import EXPORTS
from app.screens import cache
from app.screens.parts import filter_bar, widgets
from app.text import tasks as task_words
from app.text.formatting import model_name
from schemas.text import plural, visible

MOST_COLUMNS = 8

CONTENTS = dict(
    zip(
        ("result", "measured", "claimed", "cost", "duration"),
        ("Result", "Measured", "Claimed", "Cost", "Wall time"),
        strict=True,
    )
)
COLUMNS = {"agent-model": "Agent, model", "agent-alone": "Agent"}

NOTHING = "\u200b"
SHADE, INK = ("#F1EFE8", "#1A2226"), ("#000000", "#FFFFFF")
"""Backgrounds of headings and texts of pinned columns, light and dark, because a grid draws the
latter at 60 % opacity.
"""


def grid(made: task_words.Matrix, value: str, *, by_repo: bool) -> None:
    """Place the matrix as a grid of coloured cells; a click on one opens its run or runs."""
    night = st.context.theme.type == "dark"
    looks = task_words.looks_of(made.cells, value)
    rows: list[list[str]] = []
    styles: list[list[str]] = []
    places: list[task_words.Task | None] = []  # the task of each row; none of a heading
    for number, task in enumerate(made.tasks):
        if by_repo and (not number or made.tasks[number - 1].repo != task.repo):
            mine = [other for other in made.tasks if other.repo == task.repo]
            done = [task_words.done_of(mine, column) for column in made.columns]
            rows.append([visible(task.repo or "no project"), plural(len(mine), "task"), *done])
            styles.append(
                [f"background-color:{SHADE[night]};color:{INK[night]};font-weight:600"]
                * len(rows[-1])
            )
            places.append(None)
        cells = [task.cells.get(column) for column in made.columns]
        rows.append(
            [
                visible(task.name),
                visible(task.also_called),
                *(task_words.cell_words(cell, value) if cell else "" for cell in cells),
            ]
        )
        styles.append(
            [f"color:{INK[night]}"] * 2
            + [looks[id(cell)].style(dark=night) if cell else "" for cell in cells]
        )
        places.append(task)
    heads = [task_words.head_of(column) for column in made.columns]
    # a selection names the last level of a heading only: invisible blanks tell the models of two
    # agents apart
    lasts = [
        model_name(column[1]) if len(column) > 1 else head
        for column, head in zip(made.columns, heads, strict=True)
    ]
    names = [last + NOTHING * number for number, last in enumerate(lasts)]
    first = "Commit" if all("@" in task.key for task in made.tasks) else "Task"
    frame = pd.DataFrame(rows, columns=[first, "Also called", *names])
    styled = pd.DataFrame(styles, columns=frame.columns)
    if heads != lasts:
        frame.columns = styled.columns = pd.MultiIndex.from_tuples(
            [("", first), ("", "Also called"), *zip(heads, names, strict=True)]
        )
    config: Any = {
        1: st.column_config.TextColumn(pinned=True, width=110),
        2: st.column_config.TextColumn(pinned=True, width=180),
    }
    chosen = st.dataframe(
        frame.style.apply(lambda _: styled, axis=None),
        key="tasks",
        hide_index=True,
        height=min(620, 35 * (len(rows) + 2) + 3),
        row_height=35,
        on_select="rerun",
        selection_mode="single-cell",
        alt="Tasks beside agents: what became of the runs of each",
        column_config=config
        | {
            place + 3: st.column_config.TextColumn(alignment="center")
            for place in range(len(names))
        },
    )
    for row, name in chosen["selection"]["cells"][:1]:
        clicked, column = places[row], made.columns[names.index(name)] if name in names else None
        cell = clicked.cells.get(column) if clicked and column else None
        if cell and cell["run_id"]:
            widgets.open_run(cell["run_id"])
        elif cell and clicked and column:
            st.switch_page(
                "screens/runs.py",
                query_params=filter_urls.write_link(task_words.chosen_of(clicked, column, filters)),
            )


filters, measure = filter_bar.chosen(), widgets.cost_in_force()
totals = cache.ask(queries.totals, filters)
if not totals.tasks:
    widgets.heading(task_words.no_tasks(totals))
    st.code(cache.command("ingest PATH --label task=NAME"), language=None)
    widgets.end_page()
widgets.heading(task_words.tasks(totals))

with st.container(horizontal=True, vertical_alignment="center", gap="small", key="task-choices"):
    st.html('<span class="t-n t-spare">In the cells</span>', width="content")
    value = widgets.choice("In the cells", CONTENTS, "cells", label_visibility="collapsed")
    is_by_agent = False
    if len(totals.agents) > 1:  # of a single agent, the columns are its models
        st.html('<span class="t-n t-spare">Columns</span>', width="content")
        is_by_agent = (
            widgets.choice("Columns", COLUMNS, "columns", label_visibility="collapsed")
            == "agent-alone"
        )
    st.html('<span class="t-n t-spare">Order</span>', width="content")
    order = widgets.pick(
        "Order", task_words.ORDERS, "sort", width=210, label_visibility="collapsed"
    )
    by_repo = st.checkbox("By project", True, key="by-repo", bind="query-params")
    st.space("stretch")
    downloads = st.popover("Table", icon=":material/download:")

found = cache.ask(
    queries.cells, filters, ("agent",) if is_by_agent else ("agent", "model"), measure, MOST_COLUMNS
)
made = task_words.matrix(found, value, order, by_repo=by_repo)
answer = results.tasks_answer(made, value, filters, cache.location(), measure)
about = answer.heading.rpartition(" · ")[0]  # without the place of the store
with downloads:
    writers = {
        "csv": ("CSV", lambda: EXPORTS["csv"].write(answer)),
        "md": (
            "Markdown",
            lambda: EXPORTS["md"].write(answer) + f"\n{about}. {answer.note}\n".encode(),
        ),
        "tex": ("LaTeX (booktabs)", lambda: EXPORTS["latex"].write(answer)),
    }
    for suffix, (label, write) in writers.items():
        st.download_button(
            label,
            write,
            f"tasks.{suffix}",
            "text/plain",
            on_click="ignore",
            type="tertiary",
            key=f"table-{suffix}",
        )

st.html(task_words.legend(made, value))
if widgets.is_phone():
    st.html(task_words.task_list(made, value, filters))
else:
    grid(made, value, by_repo=by_repo)
