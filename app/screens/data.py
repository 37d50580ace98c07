"""Quality of the data: known facts by agent, findings, and results of all that was read.

And uploads.
"""

import streamlit as st

from app.queries import claims as claim_queries
from app.queries import quality as queries
from app.screens import cache
from app.screens.parts import filter_bar, uploading, widgets
from app.text import data as sentences
from app.text import grids, ingests
from app.text.html_parts import code_span, plain

filters = filter_bar.chosen()
views = {"quality": "Quality"} | ({} if cache.is_read_only() else {"upload": "Upload"})
head = st.container()
view = (
    widgets.choice("View", views, "view", label_visibility="collapsed")
    if len(views) > 1
    else "quality"
)


def quality() -> None:
    """Show known facts by agent, findings, and the result of every document."""
    rows, documents = cache.ask(queries.by_agent, filters), cache.ask(queries.documents)
    with head:
        widgets.heading(sentences.quality(rows, documents))
    if rows[0].runs:
        st.html(sentences.known_table(rows, filters))
    found = cache.ask(claim_queries.findings_by_rule, filters).to_pylist()
    widgets.subheading(
        "Findings" if found else "No findings",
        "Rules check each record for consistency: hints for review, not verdicts.",
    )
    if found:
        st.html(sentences.rule_table(found, filters))
        rule = st.query_params.get("rule", "")
        if rule in {row["rule"] for row in found}:
            widgets.subheading(f"Runs with the finding {rule.replace('_', ' ')}")
            listed = cache.ask(claim_queries.findings, filters, (), (rule,), cache.SHOWN)
            shown = grids.grid(listed, grids.FINDINGS)
            widgets.run_table(
                shown, listed, "findings", "Runs with a finding of this rule", "findings"
            )
    widgets.subheading(
        "What was read", "Whatever the filters are: a rejected record has no model, task or cost."
    )
    for words in (
        ingests.no_logs(cache.ask(queries.no_logs)),
        ingests.unread(cache.ask(queries.unread)),
    ):
        if words:
            st.caption(plain(words))
    if documents["rejected"]:
        with st.expander(
            f"Rejected records · {documents['rejected']:,}", expanded=documents["rejected"] < 50
        ):
            reasons = grids.grid(cache.ask(queries.rejects_by_reason), grids.REASONS)
            widgets.table(reasons, "Rejected records by reason")
            widgets.table(
                grids.grid(cache.ask(queries.rejects, cache.SHOWN), grids.REJECTS),
                "Rejected records",
            )
    with st.expander(f"Files · {documents['sources']:,}"):
        if documents["sources"] > cache.SHOWN:
            st.caption(
                f"Showing the newest {cache.SHOWN:,}. All files: "
                f"{code_span(cache.command('sources --format csv'))}"
            )
        if documents["copies"]:
            st.caption(f"Not listed: {documents['copies']:,} with the bytes of another file.")
        widgets.table(
            grids.grid(cache.ask(queries.sources, cache.SHOWN), grids.SOURCES),
            "Files, newest first",
        )


if view == "upload":
    uploading.show(head)
else:
    quality()
