"""The Overview: a sentence, a row of figures per agent, and three charts of runs by agent."""

from dataclasses import replace
from datetime import timedelta

import streamlit as st

from app.charts import registry as charts
from app.queries import agents as queries
from app.queries import daily as daily_queries
from app.queries.filters import TIME, UNDATED, has_period
from app.queries.landed import landed_money
from app.queries.months import PROJECT, budgets_of_month
from app.queries.reading import undated
from app.reports.shared import overview_doubts
from app.screens import cache
from app.screens.parts import filter_bar, judging, widgets
from app.screens.parts.run_body import show_run
from app.text import daily as daily_words
from app.text import html_parts
from app.text import overview as sentences
from app.text.agents import SIDE_NAMES, agent_legend, agent_table
from app.text.landed import landed_line
from app.text.overview import runs_table

VIEW, DAILY, STUDY = "view", "daily", "study"
VIEWS = {DAILY: "Daily work", STUDY: "Study"}

filters, measure = filter_bar.chosen(), widgets.cost_in_force()
is_strict = judging.judged_by() == judging.STRICT  # a benchmark's rule goes by its own efforts
by = widgets.picked(SIDE_NAMES, "by", "agent") if is_strict else "agent"
asked = widgets.question(filters, measure, by=by)
rows, points = asked.rows, asked.points
total, agents = rows[0], [row for row in rows if not row.is_all and not row.is_model]


def three_charts() -> None:
    """Show cost and wall time by agent, and all measured results, else the claims."""
    first, second, third = st.columns(3, gap="medium")
    with first:
        widgets.titled(charts.cost_per_run(asked), "agents-cost")
    with second:
        widgets.titled(charts.time_per_run(asked), "agents-time")
    with third:
        widgets.titled(charts.measured(asked), "agents-measured")


def study() -> None:
    """Show which agent was worth it, strictly or by a benchmark's own rule."""
    studies = judging.studies(filters) if total.runs_measured else []
    own = judging.own_rule(studies, measure)
    widgets.heading(replace(sentences.overview(rows, measure, own), doubts=overview_doubts(asked)))
    shown = queries.shown_rows(rows)
    hidden = sentences.never_started_words(queries.hidden_rows(rows))
    has_efforts = is_strict and any(row.is_model and row.efforts > 1 for row in rows)
    if studies or hidden or is_dated or has_efforts:
        with widgets.side_by_side(key="t-controls"):
            if has_efforts:
                st.html('<span class="t-n t-spare">By</span>', width="content")
                widgets.choice("By", SIDE_NAMES, "by", label_visibility="collapsed")
            if studies:
                judging.choose(studies)
                st.space("stretch")
            st.html(f'<span class="t-n">{html_parts.text(hidden)}</span>', width="content")
            view_choice()
    table = agent_table(shown, filters, own)
    st.html(table.on_any_screen(legend=agent_legend(shown, own)))
    if total.runs:
        three_charts()


def few_runs() -> None:
    """Show a few runs of one agent in a table, and how to add what they lack."""
    shown = asked.few
    said = sentences.few_runs(rows, shown, measure)
    widgets.heading(replace(said, doubts=overview_doubts(asked)))
    if is_dated and not is_few:
        with st.container(horizontal=True, key="t-controls"):
            view_choice()
    more = sentences.more_of_few(total, cache.command)
    st.html(runs_table(total, shown, filters).on_any_screen() + more)


def view_choice() -> None:
    """Place the choice between daily work and a study at the right, if any run has a date."""
    st.space("stretch")
    if is_dated:
        widgets.choice("View", VIEWS, VIEW, first=first_view, label_visibility="collapsed")


def daily_work() -> None:
    """Show what the period cost by project, what needs a look, and the last runs."""
    found = cache.ask(daily_queries.daily, filters, cache.this_minute(), measure)
    budgets = cache.ask(budgets_of_month, "", PROJECT, measure=measure)
    doubts = daily_words.doubts(found, cache.ask(undated, filters), filters)
    widgets.heading(replace(daily_words.daily(found, filters), doubts=doubts))
    with widgets.side_by_side(key="t-controls"):
        st.html('<span class="t-n t-spare">Show</span>', width="content")
        filter_bar.choose_period(daily_words.SHOWN)
        view_choice()
    looked = None if has_period(filters) else widgets.last_look()
    if looked and looked < cache.this_minute() - timedelta(hours=1):
        since = filters.with_values("since", [looked.isoformat()])
        now = cache.this_minute()
        spend = cache.ask(daily_queries.spent_since, since, looked, now, measure)
        st.html(daily_words.since_look(spend, looked, since))
    rows = daily_words.project_rows(found)
    looks = daily_words.looks_html(daily_words.looks(found, budgets, filters))
    table = cards = ""
    if rows:
        table = daily_words.project_table(found, rows, budgets, filters).html(frame="t-wide")
        cards = daily_words.project_cards(found, rows, budgets, filters)
        cards = f'<h2 class="t-h3">Projects</h2>{cards}'
    within = daily_words.in_period(filters, found)
    table += landed_line(cache.ask(landed_money, within, cache.this_minute()), within)
    per_day, wide = charts.spend_per_day(asked, found), f'<div class="t-wide">{looks}</div>'
    st.html(f'{table}{"" if per_day else wide}<div class="t-phone">{looks}{cards}</div>')
    if per_day:
        left, right = st.columns([58, 42], gap="medium")
        left.html(wide)
        with right:
            widgets.titled(per_day, "spend-per-day")
    if found.recent:
        widgets.subheading("Last runs")
        table = daily_words.run_rows(found, filters).html(frame="t-wide")
        lines = f'<div class="t-phone">{daily_words.run_lines(found, filters)}</div>'
        st.html(table + lines + daily_words.runs_note(found, filters))


is_daily = cache.ask(daily_queries.is_daily, cache.this_minute())
is_dated = is_daily is not None and UNDATED not in filters.values(TIME)
first_view = DAILY if is_daily else STUDY
is_few = not filters and total.runs < daily_queries.ENOUGH_DAYS
if total.runs == 1 and not filters and points:
    show_run(points[0]["run_id"], alone=True)
elif is_dated and not is_few and widgets.picked(VIEWS, VIEW, first_view) == DAILY:
    daily_work()
elif not total.runs and total.cost_usd is None:
    filter_bar.no_match()
elif 0 < total.runs <= charts.FEW and len(agents) == 1:
    few_runs()
else:
    study()
