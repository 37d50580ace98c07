"""How far the figures can be trusted: what rules found, what is known of the runs, and what became of everything that was read."""

import streamlit as st

from app import data, file_kinds, grids, queries_claims, queries_quality, queries_reports
from app.charts import findings as chart
from app.presentation import plain, rule_meaning
from app.screens import bar, parts

st.title("Quality", anchor=False)
filters = bar.chosen()
found = data.ask(queries_reports.findings_by_rule, filters)
with st.container(border=True):
    if found.num_rows:
        caption = "Rules compare what a record says with what it adds up to. A finding asks for a look; it accuses nobody."
        parts.drawing(chart.finding(found, data.count(filters)), caption, chart.rules(found, st.context.theme.type), "rules")
        rules = {row["rule"]: f"{row['rule'].replace('_', ' ')} · {row['runs']:,}" for row in found.to_pylist()}
        rule = parts.pick("Findings of the rule", rules, "rule", width=360)
        st.caption(plain(rule_meaning(rule)))
        listed = data.ask(queries_claims.findings, filters, (), (rule,), data.SHOWN)
        parts.run_table(grids.grid(listed, grids.FINDINGS), listed, "findings", "The runs in which the rule found something")
    else:
        st.header("The rules found nothing", anchor=False)
        st.caption("Rules compare what a record says with what it adds up to.")
st.header("What the runs tell", anchor=False, help="What a record and its surroundings do not say is unknown, and counted nowhere as 0.")
parts.share_table(data.ask(queries_quality.known, filters), "How many of the runs tell each fact")

documents = data.ask(queries_quality.documents)
st.header("What was read", anchor=False, help="All sources, whatever the filters: a rejected document has no model, task or cost.")
st.markdown(
    f"**{documents['documents']:,}** documents in {documents['sources']:,} sources = {documents['accepted']:,} runs"
    f" + {documents['duplicates']:,} known already + {documents['rejected']:,} rejected + {documents['ignored']:,} ignored"
)
if ignored := file_kinds.no_logs(data.ask(queries_quality.no_logs)):
    st.caption(ignored)
if documents["rejected"]:
    with st.expander(f"Rejected documents · {documents['rejected']:,}", icon=":material/block:", expanded=documents["rejected"] < 50):
        parts.table(
            grids.grid(data.ask(queries_quality.rejects_by_reason), grids.REASONS, detail="For example"), "Rejected documents by reason"
        )
        parts.table(
            grids.grid(data.ask(queries_quality.rejects, data.SHOWN), grids.REJECTS, detail="Why", position="Where", excerpt="Beginning"),
            "Rejected documents",
        )
with st.expander(f"Sources · {documents['sources']:,}", icon=":material/folder_open:"):
    if documents["sources"] > data.SHOWN:
        st.caption(f"The newest {data.SHOWN:,}. All of them: `tachograph sources --format csv`")
    parts.table(grids.grid(data.ask(queries_quality.sources, data.SHOWN), grids.SOURCES), "Sources, newest first")
