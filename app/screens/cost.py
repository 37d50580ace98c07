"""What the runs cost: who made it so, when, how it compares with list prices, and what caching saved."""

import streamlit as st

from app.charts import CHARTS, cost, cost_along_time, list_cost, looks
from app.charts.base import level
from app.charts.models import PER_RUN
from app.charts.palette import group_looks
from app.charts.spending import with_budget
from app.queries import cost as cost_queries
from app.queries import reports as report_queries
from app.queries.filters.registry import FILTERS
from app.queries.grouping import group
from app.reports.budget_cards import budget_cards
from app.reports.budget_file import from_environment
from app.reports.budgets import verdicts
from app.reports.first_page import TOTAL_BUDGET
from app.screens import cache
from app.screens.parts import filter_bar, widgets
from app.text import cost_grids
from app.text.grid_columns import grid
from app.text.presentation import code_span, plain
from app.text.untold import untold_groups_note, untold_note
from app.text.words import costs as cost_words
from schemas.catalogue import columns as catalogue
from schemas.catalogue.cost_measures import REPORTED
from schemas.catalogue.dimensions import LABEL_PREFIX

CARDS = (
    "cost_usd", "cost_list_usd", "cost_delta_usd", "cache_saved_usd",
    "cost_per_completed_usd", "cost_median_usd", "cost_per_turn_usd", "unpriced_runs",
)  # fmt: skip
RECONCILED = ("cost_usd", "cost_delta_usd")
"""What only runs have that report a cost."""

FIGURES = ("runs", "cost_compared_usd", "cost_delta_share", "cache_saved_share")
GROUPS = ("model", "repo", "task", "experiment", "outcome", "agent", "day", "week", "month")
MAIN = " A run counts whole for its main model, the one that cost most in it."
DRAWN, LISTED, MOST_EXPENSIVE = 24, 500, 20

filters, options, page = filter_bar.chosen(), cache.options(), st.context.theme.type
colours = looks(cache.models())
measure = widgets.cost_title("Cost", filters)
totals = widgets.totals(filters, (*FIGURES, *CARDS, *map(measure.of, CARDS)))
# what is counted first comes first: the reported cost stays beside the list-price cost
cards = CARDS if measure is REPORTED else tuple(dict.fromkeys((measure.total, *RECONCILED, *map(measure.of, CARDS))))
cards = tuple(key for key in cards if key not in RECONCILED or totals["cost_usd"] is not None)
budgets = dict(from_environment())
judged = cache.ask(verdicts, filters, budgets) if budgets else ()
widgets.card_grid([*budget_cards(judged), *cost_words.cost_cards(totals, cards)])

words = {word: group(word).label for word in GROUPS if word not in FILTERS or word in options}
words |= {word: group(word).label for word in (f"{LABEL_PREFIX}{one.partition('=')[0]}" for one in options.get("label", ()))}
by = widgets.pick("Group by", words, "group", width=260)
name = cost_words.lower(words[by])
found = cache.ask(cost_queries.groups, filters, by, DRAWN, measure=measure)
about = cache.ask(cost_queries.times, filters, measure)
shares = cache.ask(cost_queries.shares, filters, by, DRAWN, measure)
if measure is not REPORTED:
    budgets = {}  # they are for what is reported: no line of theirs belongs into a chart of list-price cost
per_day = budgets.get("max-day-usd") if by == "day" else None
drawn = cost.by_model(found, shares, colours, page, measure)
groups, classes = with_budget(drawn, per_day, page), cost.by_token_class(found, page, measure)
level(groups, classes)
left, right = st.columns(2)
with left.container(border=True, height="stretch"):
    widgets.drawing(
        cost_words.groups_finding(found, words[by], measure),
        f"{measure.label} by {name}, stacked by model (own tokens, helper models included).{MAIN if by == 'model' else ''}",
        groups,
        "cost-groups",
        cost_words.groups_note(found, words[by], about, measure),
    )
with right.container(border=True, height="stretch"):
    widgets.drawing(
        cost_words.tokens_finding(found.table),
        f"Tokens by {name} and type. Click a legend entry to hide it.",
        classes,
        "token-classes",
    )
details = st.expander(f"All metrics by {name} · {found.total:,}", icon=":material/table:", key="all-groups", on_change="rerun")
if details.open:
    listed = cache.ask(cost_queries.groups, filters, by, LISTED, cost_queries.GROUP_METRICS, measure)
    with details:
        widgets.table(cost_grids.group_grid(listed, measure), f"Cost, list-price cost, cache savings and tokens by {name}")
        silent = untold_groups_note(listed.table, listed.table.column_names, catalogue.GROUPS)
        st.caption(plain(" ".join(filter(None, (cost_words.groups_note(listed, words[by], about, measure), silent)))))

with st.container(border=True):
    axes = cost_words.along(about)
    axis = widgets.choice("Cumulative by", axes, "axis") if len(axes) > 1 else next(iter(axes))
    spent = cache.ask(cost_queries.spending, filters, axis, about, measure)
    is_whole = axis != cost_queries.TIME or about["timed"] == about["runs"]  # a budget is for all runs
    widgets.drawing(
        cost_words.spending_finding(spent, axis, measure),
        f"Cumulative {measure.name}, by main model.",
        with_budget(cost_along_time.spending(spent, axis, colours, page, measure), budgets.get(TOTAL_BUDGET) if is_whole else None, page),
        "spending",
        cost_words.spending_note(about, axis),
    )

if totals["cost_usd"] is not None:
    causes = cache.ask(cost_queries.by_cause, filters)
    priced, explained = list_cost.prices(found, group_looks(by, colours), page), list_cost.causes(causes, page)
    level(priced, explained)
    left, right = st.columns(2)
    with left.container(border=True, height="stretch"):
        widgets.drawing(
            cost_words.prices_finding(found),
            "Filled: reported cost; open: list-price cost of the same tokens (on the day of the run).",
            priced,
            "list-prices",
            cost_words.prices_note(found, words[by]),
        )
    with right.container(border=True, height="stretch"):
        widgets.drawing(
            cost_words.list_finding(totals, causes),
            "List-price difference (list − reported) by cause (recomputed); one cause per run, the largest.",
            explained,
            "causes",
            cost_words.causes_note(totals, causes),
        )
details = st.expander("All models: reported cost, list-price cost, cause", icon=":material/table:", key="all-models", on_change="rerun")
if details.open:
    with details:
        models = cache.ask(cost_queries.models, filters, measure)
        widgets.table(grid(models, cost_grids.MODELS), "Reported cost, list-price cost and cause of the difference of each model")
unpriced = cache.ask(report_queries.unpriced_models, filters) if totals["unpriced_runs"] else None
if unpriced and unpriced.num_rows:
    with st.expander(f"Models without a list price · {unpriced.num_rows:,}", icon=":material/money_off:"):
        widgets.table(grid(unpriced, cost_grids.UNPRICED), "Models without a list price, with their tokens")
        st.caption(f"Excluded from list-price totals. Add prices with: {code_span(cache.command('reprice --prices FILE'))}")

with st.container(border=True):
    widgets.drawing(
        cost_words.caching_finding(totals),
        f"List-price cost and cache savings by {name}.",
        list_cost.caching(found, page),
        "caching",
        cost_words.caching_note(totals),
    )

top = cache.ask(cost_queries.most_expensive, filters, MOST_EXPENSIVE, measure)
if top.num_rows:
    with st.container(border=True):
        shown = cache.ask(cost_queries.models_of, tuple(top["run_id"].to_pylist()), measure)
        drawn = CHARTS[PER_RUN[measure.key]].draw(shown, colours, page)
        widgets.drawing(
            cost_words.most_expensive_finding(top, totals, measure),
            f"{measure.label} per run, by model. Click a bar to open its run.",
            drawn,
            "most-expensive",
        )
        alt = "Most expensive runs, with list-price cost, cause and savings"
        widgets.run_table(cost_grids.most_expensive_grid(top, measure), top, "most-expensive-runs", alt)
        if silent := untold_note(top, cost_grids.MOST_EXPENSIVE.keys, catalogue.RUNS):
            st.caption(plain(silent))
