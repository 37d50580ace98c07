"""Two groups of runs on the same tasks: a sentence, a chart, and a table in words."""

import streamlit as st

from app.charts import registry as charts
from app.queries import comparison as queries
from app.queries.filter_inputs import LONGEST_VALUE
from app.queries.filters import FILTERS, Filters, parse
from app.screens import cache
from app.screens.parts import filter_bar, widgets
from app.text import compare as sentences
from app.text import html_parts
from app.text.columns import fact_words
from app.text.html_parts import code_span, plain
from app.text.sentences import Said
from schemas.errors import UsageError

GROUP = "groups"
"""The parameter of the address that names groups by their filters, once per group."""

OFFERED = ("effort", "experiment", "label", "outcome", "project")

MOST_VALUES = 30

PAIRS = {queries.TASK: "Task", queries.NOTHING: "Nothing"}

filters, cost = filter_bar.chosen(), widgets.cost_in_force()


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
    return [queries.as_text(one) for one in in_address()[0] or offer.opening]


def put(texts: list[str]) -> None:
    """Write the groups into the address."""
    st.query_params[GROUP] = texts


def put_chosen(place: int, key: str) -> None:
    """Put a chosen group at a place; one that is there already changes places with it."""
    texts, chosen = in_force(), st.session_state[key]
    there = [*texts, *[""] * (place + 1 - len(texts))]
    if chosen in there:
        there[there.index(chosen)] = there[place]
    there[place] = chosen
    put([one for one in there if one])


def put_typed() -> None:
    """Add the group with the typed filters; errors are shown."""
    if text := str(st.session_state["group-typed"]).strip():
        put([*in_force(), text])


def offered() -> dict[str, str]:
    """Return the groups to choose from by their filters: agents and models, values of filters."""
    found = {queries.as_text(one): " ".join(sentences.named(one)).strip() for one in offer.groups}
    for key in OFFERED:
        values = list(cache.options().get(key, ()))
        if len(values) > 1:
            found |= {
                queries.as_text(
                    Filters(((key, (value,)),))
                ): f"{FILTERS[key].name}: {fact_words(value, key)}"
                for value in values[:MOST_VALUES]
            }
    shown = zip(by_text, called, strict=True)
    return {text: plain(name) for text, name in found.items()} | {
        text: plain(name.whole) for text, name in shown
    }


def menu(label: str, place: int, options: dict[str, str], width: int = 250) -> None:
    """Place the menu of the group at a place."""
    key = f"group-{place}-{hash(tuple(by_text))}"
    texts = list(by_text)
    st.selectbox(
        label,
        list(options),
        index=list(options).index(texts[place]) if place < len(texts) else None,
        format_func=options.__getitem__,
        key=key,
        on_change=put_chosen,
        args=(place, key),
        placeholder="Agent and model, label, …",
        label_visibility="collapsed" if place < len(texts) else "visible",
        width=width,
    )


def choose_groups() -> str:
    """Place the menus of both groups, and return how they are paired."""
    with widgets.side_by_side(gap="small", key="compare-groups"):
        options = offered()
        st.html('<span class="t-n">Compare</span>', width="content")
        menu("Compare", 1, options)
        st.html('<span class="t-n">with</span>', width="content")
        menu("with", 0, options)
        texts = list(by_text)
        swapped = [*texts[1::-1], *texts[2:]]
        st.button("Swap", icon=":material/swap_horiz:", on_click=put, args=(swapped,))
        with st.popover("More", key="group-more"):
            for name, text in zip(called[2:], texts[2:], strict=True):
                left = [one for one in texts if one != text]
                label = f"Remove {plain(name.whole)}"
                st.button(label, key=f"drop-{text}", type="tertiary", on_click=put, args=(left,))
            if len(texts) < queries.MOST_GROUPS:
                menu("Add a group", len(texts), options, 320)
                st.text_input(
                    "Or by filters",
                    key="group-typed",
                    placeholder="agent=codex label=branch=next",
                    on_change=put_typed,
                    max_chars=LONGEST_VALUE,
                )
        st.space("stretch")
        st.html('<span class="t-n">Pair by</span>', width="content")
        return widgets.choice("Pair by", PAIRS, "pair", label_visibility="collapsed")


def too_few() -> None:
    """Show what a comparison needs."""
    found = cache.ask(queries.compare, [queries.narrowed(filters, one) for one in groups])
    name = sentences.names(found.groups, groups)[0].whole
    widgets.heading(Said(sentences.too_few_groups(found.baseline.runs, name)))
    st.markdown(
        "Ingest with labels and compare these, for example before and after a change of the prompt:"
    )
    st.code(
        "\n".join(
            cache.command(f"ingest logs/{name} --label prompt={label}")
            for name, label in (("before", "old"), ("after", "new"))
        ),
        language=None,
        wrap_lines=True,
    )


offer = cache.ask(queries.offered, filters)
named, unread = in_address()
groups = named or list(offer.opening)
by_text = {queries.as_text(one): one for one in groups}
if unread:
    st.html(html_parts.warning(f"Not readable, so left out: {html_parts.text(', '.join(unread))}"))
if len(groups) < 2:
    widgets.force_cost(None)
    if groups:
        too_few()
    else:
        widgets.heading(Said(sentences.too_few_groups(0, "")))
    widgets.end_page()
narrowed = [queries.narrowed(filters, one) for one in groups]
pair = str(st.session_state.get("pair") or queries.TASK)
found = cache.ask(queries.compare, narrowed, pair if pair in PAIRS else queries.TASK, cost)
called = sentences.names(found.groups, groups)
widgets.force_cost(found.basis if found.is_forced else None)
pair = choose_groups()
if pair != found.pair:
    found = cache.ask(queries.compare, narrowed, pair, cost)
widgets.heading(sentences.compare(found, called, filters))
asked = widgets.question(filters, cost)
drawn = charts.compared(asked, found, called, is_narrow=widgets.is_phone())
widgets.titled(drawn, "compare")
st.html(sentences.comparison_table(found, called))
if others := sentences.other_pairs(offer.pairs, groups, filters):
    st.html(others)
whole = [one for one in narrowed if one is not None]
if len(whole) == len(groups):
    st.caption(code_span(queries.command(whole, pair, cache.location())))
