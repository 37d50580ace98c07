"""Cost & time: months against budgets, wall times and slow runs, and usage by session."""

from dataclasses import replace

import pyarrow as pa
import streamlit as st

from app.charts import registry as charts
from app.queries import cost as queries
from app.queries import sessions as session_queries
from app.queries.grouping import EFFORT, SIDES
from app.queries.landed import landed_money
from app.queries.months import (
    ALL_MONTHS,
    Months,
    kept_budgets,
    mistyped_budgets,
    months,
    within_month,
)
from app.queries.usage import PERIODS, UsageRequest, usage
from app.reports.budgets import budget_table, from_environment, parse_budgeted, verdicts
from app.screens import cache
from app.screens.parts import filter_bar, widgets
from app.text import costs, grids
from app.text import months as month_words
from app.text import usage as words
from app.text.formatting import whole_usd
from app.text.html_parts import anchor, code_span, link, plain
from app.text.landed import landed_line
from schemas.catalogue.usage import BLOCK, USAGE_DIMENSIONS
from schemas.errors import UsageError
from schemas.numbers import amount

FARTHEST, LISTED = 20, 1_000
"""Numbers of slow runs and sessions in lists."""

filters, measure = filter_bar.chosen(), widgets.cost_in_force()
asked = widgets.question(filters, measure, by=widgets.picked(month_words.BY, "by", "project"))
has_efforts = bool(cache.options().get(EFFORT))
has_responses = bool(cache.contents().responses)
views = {
    key: key.capitalize() for key in ("cost", "time", *(("sessions",) if has_responses else ()))
}
head = st.container()
with widgets.side_by_side(key="t-controls"):
    left = widgets.side_by_side(width="content")
    st.space("stretch")
    view = widgets.choice("View", views, "view", label_visibility="collapsed")
    right = st.container(width="content")


def show_cost() -> None:
    """Show a month by project, person or agent, against the one before and its budget."""
    with left:
        st.html('<span class="t-n">By</span>', width="content")
        names = {key: name for key, name in month_words.BY.items() if key != EFFORT or has_efforts}
        by = widgets.choice("By", names, "by", label_visibility="collapsed")
        every = cache.ask(months, filters, by, "", measure)
        month = ALL_MONTHS
        if every.month:
            shown = dict.fromkeys([every.month, *reversed(every.months)], "")
            names = {one: month_words.month_name(one, pattern="%B %Y", now=one) for one in shown}
            names |= {ALL_MONTHS: "All months"}
            month = widgets.pick("Month", names, "month", label_visibility="collapsed", width=150)
    found = every if month == every.month else cache.ask(months, filters, by, month, measure)
    with right, st.popover("Budgets", icon=":material/edit:"):
        edit_budgets(found)
    with head:
        widgets.heading(month_words.months_said(found, filters))
    if limits := dict(from_environment()):
        st.html(budget_table(cache.ask(verdicts, filters, limits, measure=measure)).html())
    st.html(month_words.month_table(found, filters).on_any_screen())
    within = within_month(filters, found.month) if found.month else filters
    if landed := landed_line(cache.ask(landed_money, within), within):
        st.html(landed)
    if by == "person" and not any(row.names[0] for row in found.costs):
        how = cache.command("label --project NAME person=anna")
        st.caption(f"No run has the label person. Give it by {code_span(how)}")
    wide, narrow = st.columns((58, 40), gap="medium")
    with wide:
        if len(found.months) > 1 or found.month:
            along(found)
        if by == "project":
            people = cache.ask(months, filters, "person", month, measure)
            if any(row.names[0] for row in people.costs):
                along(people)
    with narrow:
        if by in SIDES and (drawn := charts.cost_per_run(asked)):
            widgets.titled(drawn, "agents-cost", height=charts.LARGE)
        elif found.month:
            widgets.titled(charts.month_so_far(asked, found), "month")
        if missing := month_words.left_out(found, filters):
            st.html(missing)
    if prices := cache.ask(queries.list_prices, filters):
        with st.expander(costs.list_title(prices)):
            st.caption(
                "Runs with both costs; the same tokens at the list prices of the day of the run."
            )
            st.html(costs.price_table(prices, filters))


def along(found: Months) -> None:
    """Show costs month by month, with a button that has them as a table to copy."""
    widgets.subheading(month_words.along_title(found), month_words.along_caption(found))
    table = month_words.along_table(found, filters)
    few = month_words.along_table(found, filters, month_words.PHONE_MONTHS)
    st.html(f'<div class="t-wide">{table.html()}</div><div class="t-phone">{few.html()}</div>')
    with st.popover("Copy as table"):
        st.code(month_words.tab_separated(table), language=None)


def edit_budgets(found: Months) -> None:
    """Show the kept budgets, and let visitors who may write set and forget them."""
    may_write = not cache.is_read_only()
    kept, mistyped = cache.ask(kept_budgets), cache.ask(mistyped_budgets)
    for of, each in kept.items():
        when = month_words.month_name(of.month) if of.month else "each month"
        with widgets.side_by_side(width=340):
            st.text(f"{of.written}: {whole_usd(each)} {when}", width="stretch")
            if may_write and st.button("×", key=f"forget-{of}", help="Forget this budget"):
                cache.set_budget(of, None)
                st.rerun()
        if of in mistyped:
            st.caption(plain(mistyped[of]))
    if not kept:
        st.caption("No budget is kept.")
    if not may_write:
        return
    with st.form("set-budget", border=False, clear_on_submit=True):
        of_whom = st.text_input("Project, or label as person=anna", width=340)
        allowed = st.text_input("US dollars", width=340)
        choices = {None: "Each month"} | ({found.month: found.month} if found.month else {})
        month = st.radio("For", list(choices), format_func=choices.__getitem__, horizontal=True)
        if st.form_submit_button("Keep budget"):
            try:
                usd = amount(allowed)
                if not usd:
                    raise UsageError("A budget is an amount above 0.", "For example: 100")
                cache.set_budget(replace(parse_budgeted(of_whom), month=month), usd)
                st.rerun()
            except UsageError as error:
                st.error(plain(f"{error.message} {error.hint}"))


def show_time() -> None:
    """Show wall times by agent and model, and runs far slower than similar ones."""
    rows = cache.ask(queries.times, filters)
    with head:
        widgets.heading(costs.time(rows, asked.rows[0].tasks))
    if not rows[0].known:
        return
    st.html(costs.time_table(rows, filters))
    widgets.titled(
        charts.time_per_run(asked, costs.time_title(rows)), "agents-time", height=charts.LARGE
    )
    if far := cache.ask(queries.slow, filters, FARTHEST):
        widgets.subheading(
            "Slow outliers",
            (
                f"Completed runs that took {queries.FAR:g} times the median of their agent and "
                "model, or longer."
            ),
        )
        st.html(costs.slow_table(far, filters))


def list_sessions(listed: pa.Table) -> None:
    """Show sessions with responses, the latest first."""
    widgets.subheading("Sessions", "The latest first; click one to open its run. Times are UTC.")
    alt = "Sessions with tokens, cost, peak of the context and tool calls"
    if widgets.is_phone():
        widgets.compact_run_table(
            grids.grid(listed, grids.COMPACT_SESSIONS), listed, "sessions", alt
        )
    else:
        widgets.run_table(grids.grid(listed, grids.SESSIONS), listed, "sessions", alt)
    if note := words.listed(listed):
        st.caption(note)


def show_sessions() -> None:
    """Show billed responses at their own times, sessions, and blocks of five hours."""
    listed = cache.ask(session_queries.sessions, filters, LISTED)
    used = cache.ask(usage, UsageRequest(filters, (BLOCK,)), cache.this_minute())
    with head:
        widgets.heading(costs.sessions(used))
    if not used.table.num_rows and not listed.num_rows:
        widgets.end_page()
    with st.container(horizontal=True, gap="small"):
        by = widgets.choice(
            "Per", {key: USAGE_DIMENSIONS[key].label for key in PERIODS}, "usage-per"
        )
        choices = words.contents_of(used.total.to_pylist()[0])
        shown = widgets.choice(
            "Show", {key: one.label for key, one in choices.items()}, "usage-show"
        )
    widgets.titled(charts.usage_over_time(asked, by, shown), "usage")
    if said := " ".join(words.notes(used)):
        st.caption(plain(said))
    if listed.num_rows:
        list_sessions(listed)
    else:
        runs = anchor(link("runs", filters), "These runs")
        st.html(f'<p class="t-cap">{runs} have no responses in the store, so no sessions.</p>')
    widgets.subheading("Blocks of five hours", words.BLOCKS)
    widgets.table(
        grids.block_grid(used.table),
        "Blocks of five hours with responses, tokens, cost and burn rate, the latest first",
    )


{"cost": show_cost, "time": show_time, "sessions": show_sessions}[view]()
