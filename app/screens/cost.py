"""Money and hours by agent, model and month; wall times and slow runs.

Usage by day and session if transcripts are in the store.
"""

import streamlit as st

from app.charts import registry as charts
from app.queries import cost as queries
from app.queries import cost as report_queries
from app.queries import sessions as session_queries
from app.queries.usage import PERIODS, UsageRequest, usage
from app.reports.budgets import budget_table, from_environment, verdicts
from app.screens import cache
from app.screens.parts import filter_bar, widgets
from app.text import costs, grids
from app.text import usage as words
from app.text.grids import MODEL_COSTS, UNPRICED, grid
from app.text.html_parts import code_span, plain
from app.text.sentences import Said
from schemas.catalogue.usage import BLOCK, USAGE_DIMENSIONS

FARTHEST, LISTED = 20, 1_000
"""Numbers of slow runs and sessions in lists."""

filters, measure = filter_bar.chosen(), widgets.cost_in_force()
asked = widgets.question(filters, measure)
has_responses = bool(cache.contents().responses)
views = {
    key: key.capitalize() for key in ("cost", "time", *(("sessions",) if has_responses else ()))
}
head = st.container()
view = widgets.choice("View", views, "view", label_visibility="collapsed")


def show_cost() -> None:
    """Show costs by agent and model, by month and per run, and list against reported costs."""
    rows = asked.rows
    with head:
        widgets.heading(costs.cost(rows, measure))
    if budgets := dict(from_environment()):
        judged = cache.ask(verdicts, filters, budgets, measure=measure)
        st.html(budget_table(judged).html())
    months = cache.ask(queries.by_month, filters, measure)
    if not months:
        return
    st.html(costs.month_table(months, filters))
    if any(row.month is None for row in months):
        by_hand, by_file = (
            code_span(cache.command(how))
            for how in ("label RUN date=2026-11-01", "ingest --trust-file-times PATH")
        )
        st.caption(
            "The logs of runs without a date tell none. Date them on their page or by "
            f"{by_hand}. Where the times of their files can be trusted, undo their ingest, then: "
            f"{by_file}"
        )
    if rows[0].cost.known:
        widgets.titled(charts.cost_per_run(asked), "agents-cost", height=charts.LARGE)
    if prices := cache.ask(queries.list_prices, filters):
        widgets.subheading(
            costs.list_title(prices),
            "Runs with both costs; the same tokens at the list prices of the day of the run.",
        )
        st.html(costs.price_table(prices, filters))
    details = st.expander(
        "Models: cost and tokens of each, helper models included",
        key="all-models",
        on_change="rerun",
    )
    if details.open:
        with details:
            widgets.table(
                grid(cache.ask(queries.models, filters, measure), MODEL_COSTS),
                "Cost, list-price cost and its cause of each model",
            )
    unpriced = cache.ask(report_queries.unpriced_models, filters)
    if unpriced.num_rows:
        with st.expander(f"Models without a list-price cost · {unpriced.num_rows:,}"):
            widgets.table(
                grid(unpriced, UNPRICED), "Models without a list-price cost, with their tokens"
            )
            st.caption(
                "Excluded from list-price totals. Add prices with: "
                f"{code_span(cache.command('reprice --prices FILE'))}"
            )


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


def show_sessions() -> None:
    """Show billed responses at their own times, sessions, and blocks of five hours."""
    listed = cache.ask(session_queries.sessions, filters, LISTED)
    if not listed.num_rows:
        with head:
            widgets.heading(Said("None of these runs has billed responses of its own."))
        widgets.end_page()
    used = cache.ask(usage, UsageRequest(filters, (BLOCK,)), cache.this_minute())
    with head:
        widgets.heading(costs.sessions(used))
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
    widgets.subheading("Blocks of five hours", words.BLOCKS)
    widgets.table(
        grids.block_grid(used.table),
        "Blocks of five hours with responses, tokens, cost and burn rate, the latest first",
    )


{"cost": show_cost, "time": show_time, "sessions": show_sessions}[view]()
