"""How far the figures can be trusted: what rules found, what is known of the runs, and what became of everything that was read."""

import streamlit as st

from app.charts import findings as chart
from app.queries import claims as claim_queries
from app.queries import quality as quality_queries
from app.screens import cache
from app.screens.parts import filter_bar, widgets
from app.text import file_kinds, grid_columns
from app.text.formatting import human
from app.text.presentation import code_span, plain, rule_meaning
from schemas.unit_names import Unit

st.title("Quality", anchor=False)
filters = filter_bar.chosen()
found = cache.ask(claim_queries.findings_by_rule, filters)
with st.container(border=True):
    if found.num_rows:
        caption = "Rules check each record for consistency. Findings are hints for review, not verdicts."
        _, touched = cache.ask(claim_queries.count_findings, filters, chart.COUNTED)
        widgets.drawing(chart.finding(found, touched, cache.count(filters)), caption, chart.rules(found, st.context.theme.type), "rules")
        rules = {row["rule"]: f"{row['rule']} · {row['runs']:,}" for row in found.to_pylist()}
        rule = widgets.pick("Rule", rules, "rule", width=360)
        [chosen] = [row for row in found.to_pylist() if row["rule"] == rule][:1]
        cost = f" Reported cost of these runs: {human(chosen['cost_usd'], Unit.USD)}."
        st.caption(f"{code_span(rule)}: {plain(rule_meaning(rule) + cost)}")
        listed = cache.ask(claim_queries.findings, filters, (), (rule,), cache.SHOWN)
        widgets.run_table(
            grid_columns.grid(listed, grid_columns.FINDINGS), listed, "findings", "Runs with a finding of this rule", "findings"
        )
    else:
        st.header("No findings", anchor=False)
        st.caption("Rules check each record for consistency.")
st.header("Data completeness", anchor=False, help="Missing values are unknown. They are never counted as 0.")
widgets.share_table(cache.ask(quality_queries.known, filters), "Share of runs that have each field")

documents = cache.ask(quality_queries.documents)
st.header("Ingestion", anchor=False, help="Not affected by filters: a rejected record has no model, task or cost.")
st.markdown(
    f"**{documents['documents']:,}** documents in {documents['sources']:,} files = {documents['accepted']:,} accepted"
    f" + {documents['duplicates']:,} duplicates + {documents['rejected']:,} rejected + {file_kinds.no_results(documents['ignored'])}"
)
if ignored := file_kinds.no_logs(cache.ask(quality_queries.no_logs)):
    st.caption(ignored)
if unread := file_kinds.unread(cache.ask(quality_queries.unread)):
    st.caption(unread)
if documents["rejected"]:
    with st.expander(f"Rejected records · {documents['rejected']:,}", icon=":material/block:", expanded=documents["rejected"] < 50):
        widgets.table(grid_columns.grid(cache.ask(quality_queries.rejects_by_reason), grid_columns.REASONS), "Rejected records by reason")
        widgets.table(grid_columns.grid(cache.ask(quality_queries.rejects, cache.SHOWN), grid_columns.REJECTS), "Rejected records")
with st.expander(f"Files · {documents['sources']:,}", icon=":material/folder_open:"):
    if documents["sources"] > cache.SHOWN:
        st.caption(f"Showing the newest {cache.SHOWN:,}. All files: {code_span(cache.command('sources --format csv'))}")
    widgets.table(grid_columns.grid(cache.ask(quality_queries.sources, cache.SHOWN), grid_columns.SOURCES), "Files, newest first")
