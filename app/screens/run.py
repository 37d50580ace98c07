"""One run, as /run?run=ID."""

import streamlit as st

from app.queries import run_page
from app.queries import runs as run_queries
from app.screens import cache
from app.screens.parts import annotate, filter_bar, share_menu, widgets
from app.screens.parts.run_body import show_run
from app.text.html_parts import plain
from app.text.run_html import run_id_of

asked = run_id_of(st.query_params.get(widgets.RUN_ID))
found = cache.ask(run_page.find, asked) if asked else None
run = cache.ask(run_queries.run, found.run_id) if found and found.run_id else None
if found and found.total > 1:
    st.title("Several runs", anchor=False)
    st.markdown(f"The link has the beginning of {found.total:,} ids. Choose a run:")
    for one in found.candidates:
        st.page_link(
            "screens/run.py",
            label=f"{plain(one.title)} · {plain(one.run_id)}",
            query_params={widgets.RUN_ID: one.run_id},
        )
    widgets.end_page()
if run is None:
    st.title("Run not found", anchor=False)
    st.markdown("The link may be incomplete or belong to another store.")
    st.page_link("screens/runs.py", label="See all runs", icon=":material/list:")
    widgets.end_page()
with widgets.side_by_side(gap="small", key="run-bar"):
    ordered = {widgets.ORDER: st.query_params.get_all(widgets.ORDER)}
    kept = widgets.filters_kept() | (ordered if ordered[widgets.ORDER] else {})
    st.page_link("screens/runs.py", label="Runs", icon=":material/arrow_back:", query_params=kept)
    order = st.query_params.get(widgets.ORDER, widgets.DEFAULT_ORDER)
    order = order if order in run_queries.ORDERS else widgets.DEFAULT_ORDER
    if beside := cache.ask(run_queries.neighbours, filter_bar.chosen(), order, run["run_id"]):
        sorted_by = run_queries.ORDERS[order].label
        sides = (
            ("Previous", beside.previous, "arrow_up", "k"),
            ("Next", beside.following, "arrow_down", "j"),
        )
        for side, other, icon, shortcut in sides:
            about, icon = (f"{side} run by: {sorted_by}"), f":material/keyboard_{icon}:"  # noqa: PLW2901
            if (
                st.button(
                    side,
                    key=f"run-{side}",
                    icon=icon,
                    shortcut=shortcut,
                    help=about,
                    disabled=other is None,
                )
                and other
            ):
                widgets.open_run(other, order)
        st.caption(f"{beside.place:,} of {beside.total:,} · {sorted_by}", width="content")
    st.space("stretch")
    with widgets.side_by_side(gap="small", width="content", key="run-tools"):
        annotate.quick(run)
        share_menu.show("run")
        if run["task_key"] and (others := cache.ask(run_queries.of_task, run["task_key"]) - 1) > 0:
            label = f"Other runs of this task {others:,}"
            st.page_link(
                "screens/runs.py",
                label=label,
                icon=":material/compare_arrows:",
                query_params={"task": run["task_key"]},
            )
show_run(run["run_id"])
