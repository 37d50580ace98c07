"""How far the figures can be trusted: what rules found, what is known of the runs, and what became of everything that was read."""

import streamlit as st

from app.charts import findings as chart
from app.queries import claims as claim_queries
from app.queries import quality as quality_queries
from app.queries import reports as report_queries
from app.screens import cache, filter_bar, widgets
from app.text import file_kinds, grid_columns
from app.text.presentation import code_span, plain, rule_meaning

st.title("Quality", anchor=False)
filters = filter_bar.chosen()
found = cache.ask(report_queries.findings_by_rule, filters)
with st.container(border=True):
    if found.num_rows:
        caption = "Rules compare what a record says with what it adds up to. A finding asks for a look; it accuses nobody."
        widgets.drawing(chart.finding(found, cache.count(filters)), caption, chart.rules(found, st.context.theme.type), "rules")
        rules = {row["rule"]: f"{row['rule'].replace('_', ' ')} · {row['runs']:,}" for row in found.to_pylist()}
        rule = widgets.pick("Findings of the rule", rules, "rule", width=360)
        st.caption(plain(rule_meaning(rule)))
        listed = cache.ask(claim_queries.findings, filters, (), (rule,), cache.SHOWN)
        widgets.run_table(
            grid_columns.grid(listed, grid_columns.FINDINGS), listed, "findings", "The runs in which the rule found something"
        )
    else:
        st.header("The rules found nothing", anchor=False)
        st.caption("Rules compare what a record says with what it adds up to.")
st.header("What the runs tell", anchor=False, help="What a record and its surroundings do not say is unknown, and counted nowhere as 0.")
widgets.share_table(cache.ask(quality_queries.known, filters), "How many of the runs tell each fact")

documents = cache.ask(quality_queries.documents)
st.header("What was read", anchor=False, help="All sources, whatever the filters: a rejected document has no model, task or cost.")
st.markdown(
    f"**{documents['documents']:,}** documents in {documents['sources']:,} sources = {documents['accepted']:,} runs"
    f" + {documents['duplicates']:,} known already + {documents['rejected']:,} rejected + {documents['ignored']:,} ignored"
)
if ignored := file_kinds.no_logs(cache.ask(quality_queries.no_logs)):
    st.caption(ignored)
if documents["rejected"]:
    with st.expander(f"Rejected documents · {documents['rejected']:,}", icon=":material/block:", expanded=documents["rejected"] < 50):
        widgets.table(grid_columns.grid(cache.ask(quality_queries.rejects_by_reason), grid_columns.REASONS), "Rejected documents by reason")
        widgets.table(grid_columns.grid(cache.ask(quality_queries.rejects, cache.SHOWN), grid_columns.REJECTS), "Rejected documents")
with st.expander(f"Sources · {documents['sources']:,}", icon=":material/folder_open:"):
    if documents["sources"] > cache.SHOWN:
        st.caption(f"The newest {cache.SHOWN:,}. All of them: {code_span(cache.command('sources --format csv'))}")
    widgets.table(grid_columns.grid(cache.ask(quality_queries.sources, cache.SHOWN), grid_columns.SOURCES), "Sources, newest first")
