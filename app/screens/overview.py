"""The Overview: a sentence, a row of figures per agent, and three charts of runs by agent."""

from dataclasses import replace

import streamlit as st

from app.charts import registry as charts
from app.queries import agents as queries
from app.queries import rules
from app.reports.shared import overview_doubts
from app.screens import cache
from app.screens.parts import filter_bar, widgets
from app.screens.parts.run_body import show_run
from app.text import html_parts
from app.text import overview as sentences
from app.text.agents import agent_legend, agent_table
from app.text.overview import runs_table

filters, measure = filter_bar.chosen(), widgets.cost_in_force()
asked = widgets.question(filters, measure)
rows, points = asked.rows, asked.points
STRICT, JUDGED = "strict", "judged"
total, agents = rows[0], [row for row in rows if not row.is_all and not row.is_model]


def three_charts() -> None:
    """Show cost and wall time by agent, and all measured results, else the claims."""
    first, second, third = st.columns(3, gap="medium")
    with first:
        widgets.titled(charts.cost_per_run(asked), "agents-cost")
    with second:
        widgets.titled(charts.time_per_run(asked), "agents-time")
    with third:
        drawn = charts.measured_ranks(asked) if total.comparable else charts.claims(asked)
        widgets.titled(drawn, "agents-measured")


def study() -> None:
    """Show which agent was worth it, strictly or by a benchmark's own rule."""
    rules_of = cache.ask(rules.studies) if total.runs_measured and not filters else []
    options = {STRICT: "Strict"} | {study: f"{study}'s own rule" for study in rules_of}
    judged = str(st.session_state.get(JUDGED) or st.query_params.get(JUDGED) or STRICT)
    own = cache.ask(rules.own_rule, judged, measure) if judged in rules_of else None
    widgets.heading(replace(sentences.overview(rows, measure, own), doubts=overview_doubts(asked)))
    shown = queries.shown_rows(rows)
    hidden = sentences.never_started_words(queries.hidden_rows(rows))
    if len(options) > 1 or hidden:
        with st.container(horizontal=True, vertical_alignment="center", key="t-controls"):
            if len(options) > 1:
                st.html('<span class="t-n">Judged by</span>', width="content")
                widgets.choice("Judged by", options, JUDGED, label_visibility="collapsed")
            st.space("stretch")
            st.html(f'<span class="t-n">{html_parts.text(hidden)}</span>', width="content")
    table = agent_table(shown, filters, own)
    st.html(table.on_any_screen(legend=agent_legend(shown, own)))
    if total.runs:
        three_charts()


def few_runs() -> None:
    """Show a few runs of one agent: bars of each run side by side, then a table."""
    widgets.heading(replace(sentences.few_runs(rows, measure), doubts=overview_doubts(asked)))
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
    study()
