"""Reports to hand on: the filtered runs, with a preview of the first page, in any format."""

from decimal import Decimal
from functools import partial
from zoneinfo import available_timezones

import streamlit as st

from app.queries import agents as agent_queries
from app.queries.cost import require_price
from app.queries.filters import Filters
from app.queries.grouping import UTC_ZONE, filters_in, group
from app.reports import report_files
from app.reports.budgets import budget_table, from_environment
from app.reports.cost_report import ReportRequest, report
from app.reports.exports import REPORTS
from app.reports.first_page import TITLE, TOTAL_BUDGET, FirstPageRequest, figure_table
from app.screens import cache
from app.screens.parts import filter_bar, widgets
from app.text.agents import agent_legend
from app.text.html_parts import plain
from app.text.overview import overview
from app.text.sentences import Said
from schemas.catalogue.cost_measures import BEST
from schemas.catalogue.dimensions import DIMENSIONS, LABEL_PREFIX
from schemas.catalogue.metrics import LIMITS
from schemas.numbers import LARGEST
from schemas.text import join_known, visible

NOT_OFFERED = ("session", "source", "run")
"""Groupings with nearly as many groups as runs; only the command line offers them."""

MOST_GROUPINGS = 2
LONGEST = 120

filters, options, measure = filter_bar.chosen(), cache.options(), widgets.cost_in_force()
rows = cache.ask(agent_queries.agents, filters, measure)
widgets.heading(overview(rows, measure))
labels = dict.fromkeys(label.partition("=")[0] for label in options.get("label", ()))
words = {key: dimension.label for key, dimension in DIMENSIONS.items() if key not in NOT_OFFERED}
words |= {f"{LABEL_PREFIX}{key}": group(f"{LABEL_PREFIX}{key}").label for key in labels}
with st.container(border=True):
    with widgets.side_by_side("bottom", gap="small"):
        by = st.multiselect(
            "Group by",
            list(words),
            default=["model"],
            format_func=lambda key: visible(words[key]),
            key="grouping",
            max_selections=MOST_GROUPINGS,
            placeholder="None: totals only",
            help="Up to two groupings. Runs without a value are grouped as Unknown.",
            bind="query-params",
            width=380,
        )
        near = dict.fromkeys(filter(None, (UTC_ZONE, st.context.timezone)))
        zones = near | dict.fromkeys(sorted(available_timezones() - {"localtime"}))
        zone = widgets.pick("Time zone", {name: name for name in zones}, "tz", width=220)
        reprice = st.selectbox(
            "Reprice as",
            list(options.get("model", ())),
            index=None,
            format_func=lambda model: visible(str(model)),
            key="reprice",
            placeholder="Select model",
            accept_new_options=True,
            help=(
                "Cost of the same tokens at the list prices of another MODEL or MODEL@PROVIDER. "
                "That model would use other tokens."
            ),
            bind="query-params",
            width=260,
        )
    with widgets.side_by_side("bottom", gap="small"):
        title = st.text_input(
            "Title",
            key="report-title",
            placeholder=TITLE,
            max_chars=LONGEST,
            bind="query-params",
            width=380,
        )
        owner = st.text_input(
            "Prepared for",
            key="owner",
            placeholder="Name or team",
            max_chars=LONGEST,
            bind="query-params",
            width=220,
        )
        given = dict(from_environment())
        total_budget = st.number_input(
            "Budget (USD)",
            min_value=0.0,
            max_value=float(LARGEST),
            value=float(given[TOTAL_BUDGET]) if TOTAL_BUDGET in given else None,
            step=10.0,
            format="%.2f",
            key="budget",
            placeholder="None",
            help=(
                "Budget for all runs of the report together. The first page says what is left of "
                "it."
            ),
            bind="query-params",
            width=260,
        )
    budgets = {key: allowed for key, allowed in given.items() if key != TOTAL_BUDGET}
    budgets |= {} if total_budget is None else {TOTAL_BUDGET: Decimal(repr(total_budget))}
    first = FirstPageRequest(
        title.strip(), owner.strip(), tuple((key, budgets[key]) for key in LIMITS if key in budgets)
    )
    export = REPORTS[widgets.choice("Format", report_files.formats(), "format")]
    what_if = (reprice or "").strip()
    if what_if:
        cache.ask(require_price, what_if)
    request = ReportRequest(
        filters,
        tuple(word for word in by if word in words),
        zone=zone,
        reprice=what_if,
        cost="" if measure is BEST else measure.key,
        first=first,
    )
    total, stored = cache.count(filters_in(filters, zone)), cache.count(Filters())
    with widgets.side_by_side(gap="medium"):
        st.download_button(
            f"Download {report_files.file_name(request, export)}",
            partial(report_files.written, cache.store(), request, export),
            report_files.file_name(request, export),
            export.mime,
            type="primary",
            icon=":material/download:",
            on_click="ignore",
            key=f"download-{export.name}",
        )
        st.markdown(plain(export.about))
    covers = f"{total:,} of {stored:,} runs (current filters)" if filters else f"all {total:,} runs"
    st.caption(f"Includes {covers}. CLI equivalent:")
    st.code(
        visible(report_files.command(request, export, cache.location())),
        language=None,
        wrap_lines=True,
    )

widgets.subheading("Preview", "What the file says. HTML and Excel files also have charts.")
if total > report_files.AT_ONCE and not st.toggle(f"Load preview ({total:,} runs)", key="preview"):
    widgets.end_page()
with st.spinner("Loading …", show_time=True):
    made = cache.ask(report, request)
page = made.first
widgets.heading(Said(page.title, "", " · ".join(f"{word}: {text}" for word, text in page.lines)))
st.html(page.agent_table.on_any_screen(legend=agent_legend(page.agents)))
sides = "".join(table.html() for table in (figure_table(page.figures), *page.top_tables))
st.html(f'<div class="t-side">{sides}</div>')
if page.budgets:
    st.html(budget_table(page.budgets).html())
st.markdown("\n".join(f"- {plain(note)}" for note in page.notes))
for section in made.shown:
    widgets.subheading(section.title, join_known(" ", section.note, report_files.cut_note(section)))
    grid = (
        report_files.totals_grid(section.answer)
        if section.key == "totals"
        else report_files.section_grid(section)
    )
    widgets.table(grid, f"{section.title} of the report")
    if section.key == "totals" and made.all_figures:
        with st.expander("All figures"):
            widgets.table(report_files.totals_grid(made.all_figures), "All figures of the report")
widgets.subheading("About this report")
st.markdown("  \n".join(f"**{word}** {plain(text)}" for word, text in made.header.lines()))
