"""The Overview: a sentence, a row of figures per agent, and three charts of runs by agent."""

import streamlit as st

from app.charts import registry as charts
from app.queries import agents as queries
from app.queries import cost, failures
from app.queries.reading import undated
from app.screens import cache
from app.screens.parts import filter_bar, widgets
from app.screens.parts.run_body import show_run
from app.text import overview as sentences
from app.text.agents import agent_legend, agent_table
from app.text.overview import runs_table

filters, measure = filter_bar.chosen(), widgets.cost_in_force()
asked = widgets.question(filters, measure)
rows, points = asked.rows, asked.points
total, agents = rows[0], [row for row in rows if not row.is_all and not row.is_model]


def three_charts() -> None:
    """Show cost, wall time, and claimed against measured speedup by agent."""
    first, second, third = st.columns(3, gap="medium")
    with first:
        widgets.titled(charts.cost_per_run(asked), "agents-cost")
    with second:
        widgets.titled(charts.time_per_run(asked), "agents-time")
    with third:
        is_checked = total.checked >= sentences.ENOUGH_PAIRS
        drawn = (
            charts.claimed_and_measured(asked)
            if is_checked
            else charts.claims(asked) or charts.cost_per_turn(asked)
        )
        widgets.titled(drawn if points else None, "agents-claims")
    widgets.titled(charts.cost_and_success(asked), "agents-pareto")


def before_you_quote() -> None:
    """Show cautions about the figures, each with a link to details."""
    why = cache.ask(failures.never_started_because, filters) if total.never_started else []
    fastest = cache.ask(queries.fastest, filters, 2) if total.faster > 1 else []
    another = sentences.another_price(cache.ask(cost.at_another_price, filters), measure)
    found = sentences.cautions(rows, why, fastest, cache.ask(undated, filters), another)
    if drawn := sentences.cautions_html(found, filters):
        st.html(drawn)


def few_runs() -> None:
    """Show a few runs of one agent: bars of each run side by side, then a table."""
    widgets.heading(sentences.few_runs(rows, measure), missing=False)
    with st.container(key="wide"):
        if drawn := charts.few_runs(asked):
            widgets.plotted(drawn, "chart-few-runs")
    shown = sorted(points, key=lambda run: -float(run["cost_usd"] or 0))
    st.html(runs_table(shown, filters).on_any_screen(kind="t-grid"))
    if not total.runs_measured and total.claimed.known:
        st.markdown(
            "Add benchmark results to see what the claims are worth: "
            f"`{cache.command('ingest RESULTS')}`"
        )


if total.runs == 1 and not filters and points:
    show_run(points[0]["run_id"], alone=True)
elif 0 < total.runs <= charts.FEW and len(agents) == 1:
    few_runs()
else:
    widgets.heading(sentences.overview(rows, measure))
    shown = queries.shown_rows(rows)
    st.html(agent_table(shown, filters).on_any_screen(legend=agent_legend(shown)))
    if total.runs:
        three_charts()
if total.runs > 1 or filters:
    before_you_quote()
