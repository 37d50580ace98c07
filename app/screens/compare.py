"""Groups of runs against a baseline.

Differences on the same tasks, a chart per metric, and a table with n in every row.
"""

import streamlit as st

from app.charts.registry import CHARTS
from app.queries import comparison as queries
from app.queries.filter_inputs import LONGEST_VALUE
from app.queries.filters import FILTERS, Filters, parse
from app.screens import cache
from app.screens.parts import filter_bar, widgets
from app.text import compare as sentences
from app.text import html_parts
from app.text.columns import fact_words
from app.text.compare import comparison_table, names
from app.text.html_parts import code_span, plain
from app.text.sentences import Said
from app.text.table import TextCell
from schemas.errors import UsageError

GROUP = "groups"
"""The parameter of the address that names groups by their filters, once per group."""

OFFERED = ("agent", "main-model", "experiment", "label", "outcome", "project")

MOST_OFFERED = 30

filters, cost = filter_bar.chosen(), widgets.cost_in_force()
asked = widgets.question(filters, cost)


def in_address() -> tuple[list[Filters], list[str]]:
    """Return (the groups in the address, its unreadable words)."""
    found, unread = list[Filters](), list[str]()
    for text in st.query_params.get_all(GROUP)[: queries.MOST_GROUPS]:
        try:
            found.append(parse(text[:LONGEST_VALUE]))
        except UsageError as error:
            unread.append(f"{text[:40]}: {error.message}")
    return list(dict.fromkeys(found)), unread


def in_force() -> list[str]:
    """Return the current groups of the address; a screen that is still drawn has older ones."""
    return [queries.as_text(one) for one in in_address()[0] or usual]


def put(texts: list[str]) -> None:
    """Write the groups into the address."""
    st.query_params[GROUP] = texts


def put_typed() -> None:
    """Add the group with the typed filters; errors are shown."""
    if text := str(st.session_state["group-typed"]).strip():
        put([*in_force(), text])


def drop(text: str) -> None:
    put([other for other in in_force() if other != text])


def put_first(key: str) -> None:
    first = st.session_state[key]
    put([first, *(other for other in in_force() if other != first)])


def offered() -> dict[str, Filters]:
    """Return groups to add by name: agents with a model first, then values of filters."""
    found = dict[str, Filters]()
    for one in cache.ask(queries.largest, filters, MOST_OFFERED)[0]:
        found[
            " · ".join(fact_words(value, key) for key, values in one.chosen for value in values)
        ] = one
    for key in OFFERED:
        values = list(cache.options().get(key, ()))
        if len(values) > 1:
            found |= {
                f"{FILTERS[key].name}: {fact_words(value, key)}": Filters(((key, (value,)),))
                for value in values[:MOST_OFFERED]
            }
    return {
        name: one
        for one, name in {one: name for name, one in reversed(found.items())}.items()
        if one not in groups
    }


def add_group() -> None:
    """Place a button with a list of groups, and a field for the filters of any other."""
    with st.popover("Group", icon=":material/add:", key="group-add", wrap=False):
        more = offered()
        picked = st.selectbox(
            "Add a group",
            list(more),
            index=None,
            placeholder="Agent and model, label, …",
            key=f"group-pick-{hash(tuple(by_text))}",
            width=320,
        )
        if picked is not None:
            put([*in_force(), queries.as_text(more[picked])])
            st.rerun()
        example = "agent=codex label=branch=next"
        st.text_input(
            "Or by filters",
            key="group-typed",
            placeholder=example,
            on_change=put_typed,
            max_chars=LONGEST_VALUE,
        )


named, unread = in_address()
usual, usual_pair = cache.ask(queries.largest, filters)
groups = named or usual
by_text = {queries.as_text(one): one for one in groups}
if unread:
    st.html(html_parts.warning(f"Not readable, so left out: {html_parts.text(', '.join(unread))}"))
pair = usual_pair
with st.container(
    horizontal=True,
    vertical_alignment="center",
    horizontal_alignment="distribute",
    gap="small",
    key="groups-bar",
):
    chips = st.container(
        horizontal=True,
        vertical_alignment="center",
        gap="xsmall",
        width="content",
        key="group-chips",
    )
    if len(groups) > 1:
        with st.container(
            horizontal=True,
            vertical_alignment="center",
            gap="xsmall",
            width="content",
            key="group-pairs",
        ):
            first = st.container(
                horizontal=True, vertical_alignment="center", gap="xsmall", width="content"
            )
            st.html('<span class="t-n">Pair by</span>', width="content")
            pairs = {queries.TASK: "Task", queries.NOTHING: "Nothing"}
            usual_first = (
                pairs if named or usual_pair == queries.TASK else dict(reversed(pairs.items()))
            )
            pair = widgets.choice("Pair by", usual_first, "pair", label_visibility="collapsed")
found = (
    cache.ask(queries.compare, [queries.narrowed(filters, one) for one in groups], pair, cost)
    if groups
    else None
)
called = names(found.groups, groups) if found else []
widgets.force_cost(found.basis if found and found.is_forced and len(groups) > 1 else None)
with chips:
    st.html('<span class="t-n">Groups</span>', width="content")
    for place, (one, name) in enumerate(zip(groups, called, strict=True)):
        with st.container(
            horizontal=True,
            gap=None,
            vertical_alignment="center",
            width="content",
            key=f"group-chip-{place}",
        ):
            st.html(
                TextCell(name.label, name.detail, mark=html_parts.mark(name.agent)).html,
                width="content",
            )
            if len(groups) > 1:
                text, key = queries.as_text(one), f"group-drop-{place}"
                st.button(
                    "×",
                    key=key,
                    type="tertiary",
                    on_click=drop,
                    args=(text,),
                    help="Remove the group",
                    width="content",
                )
    if len(groups) < queries.MOST_GROUPS:
        add_group()
if len(groups) > 1:
    with first:
        st.html('<span class="t-n">Baseline</span>', width="content")
        labels = {
            text: plain(f"{name.label} {name.detail}".strip())
            for text, name in zip(by_text, called, strict=True)
        }
        key = f"baseline-{hash(tuple(by_text))}"
        st.selectbox(
            "Baseline",
            list(labels),
            format_func=labels.__getitem__,
            key=key,
            on_change=put_first,
            args=(key,),
            label_visibility="collapsed",
            width=190,
        )

if found is None or len(groups) < 2:
    widgets.heading(
        Said(
            sentences.too_few_groups(
                found.baseline.runs if found else 0, called[0].said if called else ""
            )
        ),
        missing=False,
    )
    st.markdown(
        "Add a group above, or ingest with labels and compare these, for example before and "
        "after a change of the prompt:"
    )
    st.code(
        "\n".join(
            cache.command(f"ingest logs/{name} --label prompt={label}")
            for name, label in (("before", "old"), ("after", "new"))
        ),
        language=None,
        wrap_lines=True,
    )
else:
    widgets.heading(sentences.compare(found, called), missing=False)
    for place, (column, metric) in enumerate(
        zip(
            st.columns([1.22, *[1] * (len(found.metrics) - 1)], gap="medium"),
            found.metrics,
            strict=True,
        )
    ):
        with column:
            drawn = CHARTS[f"compare-{metric}"].draw(
                asked, found, called, with_names=place == 0 or widgets.is_phone()
            )
            widgets.titled(drawn, f"compare-{metric}")
    st.html(comparison_table(found, called))
    said = " ".join(sentences.notes(found, called))
    st.caption(plain(said)) if said else None
    whole = [
        one for one in (queries.narrowed(filters, group) for group in groups) if one is not None
    ]
    if len(whole) == len(groups):
        st.caption(f"CLI equivalent: {code_span(queries.command(whole, pair, cache.location()))}")
