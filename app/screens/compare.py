"""Two cohorts side by side: what differs, how sure that is, and what the tasks say that both have."""

import streamlit as st

from app.charts import distributions
from app.queries import screens as screen_queries
from app.queries.comparisons import cohorts
from app.queries.comparisons import distributions as distribution_queries
from app.queries.filters.registry import FILTERS
from app.screens import cache
from app.screens.parts import filter_bar, live, widgets
from app.text import grid_columns
from app.text.columns import agent_name, untold
from app.text.presentation import code_span, fact_words, plain
from app.text.words import cohorts as cohort_words
from schemas.catalogue.columns import MEASURES, compared
from schemas.text import visible

COMPARED_BY = ("main-model", "outcome", "repo", "task", "experiment", "agent", "label")
MOST_COHORTS = 200
REPORTED_COST, LIST_COST = "cost", "list-cost"


def _compare_list_cost() -> None:
    st.session_state["compared"] = LIST_COST


st.title("Compare", anchor=False)
filters = filter_bar.chosen()
options = cache.options()
keys = [key for key in COMPARED_BY if len(options.get(key, ())) > 1]
if not keys:
    st.info("Nothing to compare yet: all runs have the same model, outcome, repository, task, experiment and labels.")
    st.markdown("Ingest with different labels to compare, for example before and after a prompt change:")
    st.code(
        visible(
            "\n".join(cache.command(f"ingest logs/{name} --label prompt={label}") for name, label in (("before", "old"), ("after", "new")))
        ),
        language=None,
        wrap_lines=True,
    )
    live.end_page()
with st.container(horizontal=True, gap="small"):
    by = widgets.pick("Compare by", {key: FILTERS[key].name for key in keys}, "compare-by")
    # labels add up, other values take one another's place
    kept = filters.values(by) if by == "label" else ()
    found_values = cache.ask(screen_queries.values_of, filters.with_values(by, kept), by, MOST_COHORTS)
    values = {value: fact_words(value, by) for value in found_values if value not in kept}
    if len(values) < 2:
        held = fact_words(found_values[0], by) if found_values else "unknown"
        st.info(plain(f"All matching runs have the same {FILTERS[by].name.lower()}: {held}. Choose another."))
        live.end_page()
    first = widgets.pick("Baseline", values, f"first-{by}", width=300)
    second = widgets.pick("Candidate", values, f"second-{by}", width=300, default=1)
    key = widgets.pick("Metric", {key: measure.label for key, measure in MEASURES.items()}, "compared")
sides = (filters.with_values(by, [*kept, first]), filters.with_values(by, [*kept, second]))
names, measure = (values[first], values[second]), MEASURES[key]
found = cache.ask(cohorts.compare_cohorts, sides[0], sides[1], (key,))
if first == second:
    st.info("Baseline and candidate are the same. Choose two different ones.")
if found.shared and first != second:
    st.caption(f":material/info: {found.shared:,} runs are in both.")
known = found.compared.get(key)
with st.container(border=True):
    if known is None:
        silent = " and ".join(agent_name(value) for value in (first, second) if by == "agent" and measure.key in untold(value))
        why = f" {plain(silent)} {'do' if ' and ' in silent else 'does'} not report it." if silent else ""
        st.markdown(f"Nothing to compare: at least one side has no run with **{plain(measure.label)}**.{why}")
        if key == REPORTED_COST and LIST_COST in found.compared:
            st.button("Compare list-price cost", key="compare-list-cost", on_click=_compare_list_cost)
    else:
        on = distribution_queries.joined([scale for side in sides if (scale := cache.ask(distribution_queries.scale, side, measure))])
        tables = [cache.ask(distribution_queries.bins, side, measure, on) for side in sides] if on else []
        drawn = distributions.histogram(measure, on, distributions.outlines(tables, names), {}, st.context.theme.type)
        widgets.drawing(
            cohort_words.finding(measure, known, names),
            f"Share of runs by {measure.label[0].lower()}{measure.label[1:]}. {measure.meaning}",
            drawn,
            "compared",
            " ".join(filter(None, (cohort_words.certainty(measure, known), cohort_words.task_words(measure, known)))),
        )
st.header("All metrics", anchor=False, help="Medians. The 95% CI of the ratio is estimated by bootstrap.")
words = cohort_words.as_words(found)
widgets.table(
    grid_columns.grid(words, grid_columns.Listing(compared(names), tuple(words.column_names))),
    "Each metric of baseline and candidate, with the change",
)
st.caption(f"{found.runs[0]:,} and {found.runs[1]:,} runs. CLI equivalent: {code_span(cohorts.command(sides, cache.location()))}")
