"""Screen Tasks: those that nobody made faster, with the cost of a retry."""

import streamlit as st

from app.queries import tasks as queries
from app.queries.grouping import EFFORT, SIDES
from app.reports import results
from app.reports.exports import EXPORTS
from app.screens import cache
from app.screens.parts import filter_bar, widgets
from app.text import html_parts
from app.text import tasks as words
from app.text.agents import SIDE_NAMES
from schemas.catalogue.metrics import NOBODY, TASK_VERDICTS

filtered, measure = filter_bar.chosen(), widgets.cost_in_force()
verdict, filters = queries.without_verdict(filtered)
found, taskless = cache.ask(queries.standings, filters, measure)
if not found:
    widgets.heading(words.no_tasks(taskless))
    st.code(cache.command("ingest PATH --label task=NAME"), language=None)
    widgets.end_page()
counts = {verdict: len(queries.having(found, verdict)) for verdict in TASK_VERDICTS}
is_measured = counts["not_measured"] < len(found)
by = "agent"
show = "all"
lines = st.container()

with widgets.side_by_side(gap="small", key="task-choices"):
    known = ""
    if verdict:
        show = verdict if verdict == "faster" else NOBODY
    elif is_measured:
        st.html('<span class="t-n t-spare">Show</span>', width="content")
        labels = {
            "nobody": f"Nobody made it faster {counts['nobody']:,}",
            "faster": f"Made faster {counts['faster']:,}",
            "all": f"All {len(found):,}",
        }
        show = widgets.choice("Show", labels, "show", label_visibility="collapsed")
        groups = {
            group: f"{label} {counts[group]:,}"
            for group, label in words.KNOWN.items()
            if counts[group]
        }
        if show == NOBODY and groups:
            st.html('<span class="t-n">Known</span>', width="content")
            groups[NOBODY] = f"Any {counts['nobody']:,}"
            known = widgets.pick("Known", groups, "known", label_visibility="collapsed", width=170)
    st.space("stretch")
    if cache.options().get(EFFORT):
        by = widgets.choice("By", SIDE_NAMES, "by", label_visibility="collapsed")
    st.html('<span class="t-n">Order</span>', width="content")
    order = widgets.pick("Order", words.ORDERS, "sort", label_visibility="collapsed", width=180)
    downloads = st.popover("Table", icon=":material/download:")

verdict = verdict or (known if known in words.KNOWN else "" if show == "all" else show)
chosen = queries.having(found, verdict)
with lines:
    widgets.heading(words.tasks(found, show, taskless, filters))
cells = cache.ask(queries.few_columns, filters, SIDES[by], measure)
made = words.matrix(cells, chosen, order=order)
answer = results.tasks_answer(made, "result", filters, cache.location(), measure, SIDES[by])
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

is_whole = st.session_state.get("tasks-whole", False)
shown = words.MOST_ROWS if is_whole else words.FIRST_ROWS
if chosen:
    st.html(words.task_table(made, filters, shown=shown))
if len(chosen) > words.FIRST_ROWS:
    with widgets.side_by_side(gap="small"):
        rest = " (the table to download has all)" if len(chosen) > words.MOST_ROWS else ""
        st.html(html_parts.muted(f"{min(shown, len(chosen)):,} of {len(chosen):,}{rest}"))
        st.toggle("Show all", key="tasks-whole")
if show == NOBODY and is_measured and (why := words.unjudged_table(found)):
    st.html(why)
