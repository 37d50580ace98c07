"""The Overview: a sentence, a row of figures per agent, and three charts of runs by agent."""

import streamlit as st

from app.charts import agents as charts
from app.queries import agents as queries
from app.queries import failures
from app.screens import cache
from app.screens.parts import filter_bar, widgets
from app.screens.parts.run_body import show_run
from app.text import html_parts
from app.text import overview as sentences
from app.text.brief import none_or
from app.text.overview import agent_table, runs_table
from schemas.units import Unit

FEW = 12

filters, measure, page = filter_bar.chosen(), widgets.cost_in_force(), st.context.theme.type
rows = cache.ask(queries.agents, filters, measure)
total, agents = rows[0], [row for row in rows if not row.is_all and not row.is_model]
points = widgets.points_of(total, filters, measure)


def three_charts() -> None:
    """Show cost, wall time, and claimed against measured speedup by agent."""
    drawn = charts.leaves(rows)[: widgets.MOST_ROWS]
    first, second, third = st.columns(3, gap="medium")
    with first:
        widgets.run_strips("cost", rows, filters, measure)
    with second:
        widgets.run_strips("time", rows, filters, measure)
    with third:
        if total.checked >= sentences.ENOUGH_PAIRS and points:
            about = "Speedup per run; hollow: measured another part than claimed"
            title = f"{none_or(total.held)} of the {total.checked:,} claims that can be checked held"
            widgets.titled(title, about, charts.claimed_against_measured(points, page), "agents-claims")
        elif total.claimed.known and points:
            about = "Claimed speedup per run, log scale; bar: median"
            widgets.titled(
                sentences.claims_title(total),
                about,
                charts.strips(charts.strips_of("claims", drawn, points), Unit.RATIO, page),
                "agents-claims",
            )
        elif points:
            about = f"{measure.label} per turn of each run, log scale; bar: median"
            widgets.titled(
                "No run claims a speedup", about, charts.strips(charts.strips_of("turns", drawn, points), Unit.USD, page), "agents-turns"
            )
    what, standings = charts.standings(drawn)
    if len(standings) > 2:
        about = f"Median cost of a run against the share of {what}, with its 95 % interval. Dotted: no other is both cheaper and better."
        about += " Hollow: an upper bound, not ranked." if any(one.is_bound for one in standings) else ""
        widgets.titled("What a run costs, and how many succeed", about, charts.pareto(what, standings, page), "agents-pareto")


def before_you_quote() -> None:
    """Show cautions about the figures, each with a link to details."""
    why = cache.ask(failures.never_started_because, filters) if total.never_started else []
    if found := sentences.cautions(rows, why, cache.ask(queries.fastest, filters, 2) if total.faster > 1 else []):
        items = ""
        for one in found:
            of = filters.with_values("agent", [one.agent]) if one.agent else filters
            to = html_parts.anchor(html_parts.link(one.page, of, **dict(one.more)), html_parts.text(one.label))
            items += f"<li><span>{html_parts.text(one.words)}</span>{to}</li>"
        st.html(f'<h2 class="t-h3">Before you quote these figures</h2><ul class="t-look">{items}</ul>')


def few_runs() -> None:
    """Show a few runs of one agent: bars of each run side by side, then a table."""
    widgets.heading(sentences.few_runs(rows, measure), missing=False)
    runs = sorted(points, key=lambda run: -float(run["cost_usd"] or 0))
    with st.container(key="wide"):
        drawn = charts.panels(runs, sentences.panel_titles(rows), agents[0].agent, page)
        widgets.plotted(drawn, "few-runs", "Cost, wall time and claimed speedup of each run")
    st.html(runs_table(runs, filters))
    if not total.runs_measured and total.claimed.known:
        st.markdown(f"Add benchmark results to see what the claims are worth: `{cache.command('ingest RESULTS')}`")


if total.runs == 1 and not filters and points:
    show_run(points[0]["run_id"], alone=True)
elif total.runs <= FEW and len(agents) == 1:
    few_runs()
else:
    widgets.heading(sentences.overview(rows, measure))
    st.html(agent_table(queries.shown_rows(rows), filters))
    three_charts()
if total.runs > 1 or filters:
    before_you_quote()
