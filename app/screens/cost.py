"""What the runs cost: who made it so, when, how it compares with list prices, and what caching saved."""

import streamlit as st

from app import cost_grids, cost_words, data, queries, queries_cost, queries_reports
from app.charts import CHARTS, cost, cost_over, list_cost, looks
from app.charts.looks import group_looks
from app.filters import FILTERS
from app.grouping import LABEL_PREFIX, group
from app.presentation import plain
from app.screens import bar, parts

CARDS = (
    "cost_usd", "cost_list_usd", "cost_delta_usd", "cache_saved_usd",
    "cost_per_completed_usd", "cost_median_usd", "cost_per_turn_usd", "unpriced_runs",
)  # fmt: skip
FIGURES = ("runs", *CARDS, "cost_delta_share", "cache_saved_share")
GROUPS = ("model", "repo", "task", "experiment", "outcome", "agent", "day", "week", "month")
DRAWN, LISTED, DEAREST = 24, 500, 20

st.title("Cost", anchor=False)
filters, options, page = bar.chosen(), data.options(), st.context.theme.type
colours = looks(options.get("model", ()))
[totals] = data.ask(queries.summary, filters, (), FIGURES).to_pylist()
parts.card_grid(cost_words.cost_cards(totals, CARDS))

words = {word: group(word).label for word in GROUPS if word not in FILTERS or word in options}
words |= {f"{LABEL_PREFIX}{key}": f"Label {key}" for key in dict.fromkeys(one.partition("=")[0] for one in options.get("label", ()))}
by = parts.pick("Group by", words, "group", width=260)
name = cost_words.lower(words[by])
found, about = data.ask(queries_cost.groups, filters, by, DRAWN), data.ask(queries_cost.times, filters)
shares = data.ask(queries_cost.shares, filters, by, DRAWN)
left, right = st.columns(2)
with left.container(border=True, height="stretch"):
    parts.drawing(
        cost_words.groups_finding(found, words[by]),
        f"Reported cost by {name}, stacked by each model's own share, helper models included.",
        cost.by_model(found, shares, colours, page),
        "cost-groups",
        cost_words.groups_note(found, words[by], about),
    )
with right.container(border=True, height="stretch"):
    parts.drawing(
        cost_words.tokens_finding(found.table),
        "Tokens of the same groups by class. A click on a class in the legend hides it, so that the others can be seen.",
        cost.by_token_class(found, page),
        "token-classes",
    )
details = st.expander(f"All figures by {name} · {found.total:,}", icon=":material/table:", key="all-groups", on_change="rerun")
if details.open:
    listed = data.ask(queries_cost.groups, filters, by, LISTED, queries_cost.GROUP_METRICS)
    with details:
        parts.table(cost_grids.group_grid(listed, words[by]), f"Cost, list cost, savings and tokens by {name}")
        st.caption(plain(cost_words.groups_note(listed, words[by], about)))

with st.container(border=True):
    axes = cost_words.along(about)
    axis = parts.choice("Added up along", axes, "axis") if len(axes) > 1 else next(iter(axes))
    spent = data.ask(queries_cost.spending, filters, axis, about)
    parts.drawing(
        cost_words.spending_finding(spent, axis),
        "Reported cost added up, by main model.",
        cost_over.spending(spent, axis, colours, page),
        "spending",
        cost_words.spending_note(about, axis),
    )

causes = data.ask(queries_cost.by_cause, filters)
left, right = st.columns(2)
with left.container(border=True, height="stretch"):
    parts.drawing(
        cost_words.prices_finding(found),
        "Filled: what agents report; open: what the same tokens cost at list prices (base tier, of the day of the run).",
        list_cost.prices(found, group_looks(by, colours), page),
        "list-prices",
        cost_words.prices_note(found, words[by]),
    )
with right.container(border=True, height="stretch"):
    parts.drawing(
        cost_words.list_finding(totals, causes),
        "List cost less reported cost, by the cause that recomputing found; of several in a run, by the largest.",
        list_cost.causes(causes, page),
        "causes",
        cost_words.causes_note(totals, causes),
    )
details = st.expander("Every model: reported cost, list cost, cause", icon=":material/table:", key="all-models", on_change="rerun")
if details.open:
    with details:
        models = data.ask(queries_cost.models, filters)
        parts.table(cost_grids.model_grid(models), "Each model's reported cost, list cost and the cause of their difference")
unpriced = data.ask(queries_reports.unpriced_models, filters) if totals["unpriced_runs"] else None
if unpriced and unpriced.num_rows:
    with st.expander(f"Models without a list price · {unpriced.num_rows:,}", icon=":material/money_off:"):
        parts.table(cost_grids.unpriced_grid(unpriced), "Models that no price list knows, with their tokens")
        st.caption("Their list cost is unknown and counted nowhere. A price file can name them: `tachograph reprice --prices FILE`.")

with st.container(border=True):
    parts.drawing(
        cost_words.caching_finding(totals),
        f"By {name}: what the tokens cost at list prices, and what caching saved of their cost without it.",
        list_cost.caching(found, page),
        "caching",
        cost_words.caching_note(totals),
    )

dearest = data.ask(queries_cost.dearest, filters, DEAREST)
if dearest.num_rows:
    with st.container(border=True):
        shown = data.ask(queries_cost.models_of, tuple(dearest["run_id"].to_pylist()))
        drawn = CHARTS["cost-models"].draw(shown, colours, page)
        parts.drawing(
            cost_words.dearest_finding(dearest, totals), "Reported cost per run, by model. A click opens the run.", drawn, "dearest"
        )
        parts.run_table(cost_grids.run_grid(dearest), dearest, "dearest-runs", "The dearest runs, with list cost, cause and savings")
