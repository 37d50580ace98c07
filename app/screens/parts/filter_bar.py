"""The filter bar over every screen: the same filters everywhere, kept while moving about, and always in the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import date
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs, urlencode

import streamlit as st

from app.queries import filter_inputs as filter_urls
from app.queries import reading
from app.queries import runs as screen_queries
from app.queries.filters import EXCLUDED, FILTERS, PRESETS, SEARCH, Filter, Filters, Kind, moment
from app.queries.sessions import runs_with_usage
from app.queries.usage import has_period
from app.screens import cache
from app.screens.parts import evidence, live, widgets
from app.text import html_parts
from app.text.answers import excluded_words, undated_words
from app.text.presentation import code_span, fact_words, plain
from schemas.text import visible

POPOVERS = {
    "Agent": ("agent",),
    "Model": ("model", "main-model"),
    "Task": ("task",),
    "Outcome": ("outcome", "failure"),
    "Time": ("since", "until"),
}
"""The common filters, each with a button; SEARCH is beside them, all others are under MORE."""

MORE = "More"

LONGEST_VIEW_NAME = 60

_FILTERS, _LEFT_OUT, _ADDRESS, _ROUND = "filters", "filters-left-out", "filters-address", "filters-round"
Options = Mapping[str, Mapping[str, int]]


def chosen() -> Filters:
    """The filters in force."""
    filters: Filters = st.session_state.get(_FILTERS, Filters())
    return filters


SCREEN_WORDS = frozenset(
    (
        widgets.RUN_ID, evidence.CLAIM_NO, widgets.ORDER, widgets.COST, "baseline", "budget", "by-repo", "cells", "columns", "compact",
        "format", "group", "grouping", "groups", "owner", "page", "pair", "path-tz", "per", "reason", "report-title", "reprice", "rule",
        "session-along", "sort", "tab", "text", "tz", "usage-per", "usage-show", "view", "what",
    )
)  # fmt: skip
"""Words in addresses that screens keep their widgets in. Any other word that is no filter is one that somebody mistyped."""


def follow_address() -> None:
    """Take the filters of a link that was opened; keep ours where the menu was used, which leads to an address without any.

    Call it before `st.navigation`: the browser then writes the new page and the filters into the address at once.
    """
    link = filter_urls.read_link({word: st.query_params.get_all(word) for word in filter_urls.LINK_WORDS})
    ours, address = chosen(), st.context.url
    is_first, has_stayed = _FILTERS not in st.session_state, address is not None and st.session_state.get(_ADDRESS) == address
    if is_first or (link.filters != ours and (link.filters or has_stayed)):
        _choose(link.filters, link.left_out)
    st.session_state[_ADDRESS] = address
    _write_address()


def show(*, by_responses: bool = False, forced_cost: str = "") -> None:
    """Place the bar; ends the screen where there are no runs, or none that match. Raises StoreError.

    `by_responses`: a period matches the times of responses, which a run may have long before it ends. `forced_cost`: the measure of cost
    that the screen takes.
    """
    total = cache.count(Filters())
    if not total and not cache.count(Filters(((EXCLUDED, ("all",)),))):
        widgets.empty_state("No runs yet", f"The store at {cache.store().location} holds no runs.")
    if total == 1 and not chosen() and not st.query_params:  # nothing to choose among
        return
    options = cache.options()
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", gap="small", key="filter-bar"):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content", key="filters"):
            _search()
            for label, keys in (POPOVERS | {MORE: _others()}).items():
                if any(_has_choice(key, options) for key in keys):
                    _popover(label, keys, options)
            if chosen():
                st.button("Clear all", type="tertiary", key="clear-filters", on_click=_choose, args=(Filters(),))
        widgets.cost_choice(forced_cost)
    _tell_left_out(_unknown_names(options))
    if unknown := filter_urls.unknown_words(st.query_params, _is_of_screen):
        are = "These filters are unknown and were ignored" if len(unknown) > 1 else "This filter is unknown and was ignored"
        st.html(html_parts.warning(f"{are}: {', '.join(map(html_parts.text, unknown))}"))
    if chosen():
        with st.spinner("Searching …", show_time=True) if chosen().values(SEARCH) else nullcontext():
            found = _count(by_responses=by_responses)
        _tell_excluded(by_responses=by_responses)
        if not found:
            _no_match()
    else:
        _tell_excluded()
        if not total:
            _all_excluded()


def _count(*, by_responses: bool) -> int:
    """How many runs match."""
    is_of_responses = by_responses and has_period(chosen())
    return cache.ask(runs_with_usage, chosen()) if is_of_responses else cache.count(chosen())


def _is_of_screen(word: str) -> bool:
    return word in SCREEN_WORDS


def _others() -> tuple[str, ...]:
    named = {key for keys in POPOVERS.values() for key in keys} | {SEARCH}
    return tuple(key for key in FILTERS if key not in named)


def _has_choice(key: str, options: Options) -> bool:
    """Whether there is anything to choose: nobody needs a list without entries, unless a link has put one there."""
    return not FILTERS[key].options or bool(options.get(key)) or bool(chosen().values(key))


def _popover(label: str, keys: Sequence[str], options: Options) -> None:
    """The button of some filters; where one is set, a chip that names what is chosen, with a cross to take it away."""
    values = [fact_words(value, key) for key in keys for value in chosen().values(key)]
    text = label if not values else f"{label}: {values[0]}" if len(values) == 1 else f"{label}: {len(values)}"
    with st.container(horizontal=True, gap=None, vertical_alignment="center", width="content", key=f"chip-{label}" if values else None):
        with st.popover(plain(text if len(text) <= 32 else f"{text[:31]}…"), type="secondary", key=f"popover-{label}", wrap=False):
            if "since" in keys:
                _presets()
            for key in keys:
                if _has_choice(key, options):
                    _WIDGETS[FILTERS[key].kind](FILTERS[key], options.get(key, {}))
            if label == MORE:
                _saved_views()
        if values:
            without = chosen()
            for key in keys:
                without = without.with_values(key, ())
            st.button("×", key=f"drop-{label}", on_click=_choose, args=(without,), help=f"Remove the filter {label}", width="content")


def _saved_views() -> None:
    """Sets of filters with a name: to open, and, unless visitors may only look, to save and to forget."""
    saved, may_write = cache.ask(screen_queries.saved_views), not cache.is_read_only()
    if saved or (may_write and chosen()):
        st.caption("Saved views")
    for name, address in saved.items():
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", width=320):
            filters = filter_urls.read_link(parse_qs(address)).filters
            st.button(plain(name), key=f"view-{name}", on_click=_choose, args=(filters,), icon=":material/bookmark:", width="stretch")
            if may_write and st.button("×", key=f"forget-{name}", help="Forget this view"):
                cache.save_view(name, "")
                st.rerun()
    if may_write and chosen():
        with st.form("save-view", border=False, clear_on_submit=True):
            name = st.text_input("Save these filters as", max_chars=LONGEST_VIEW_NAME, placeholder="Name", width=320)
            if st.form_submit_button("Save view") and name.strip():
                cache.save_view(name.strip(), urlencode(filter_urls.write_link(chosen()), doseq=True))
                st.rerun()


def _presets() -> None:
    """Periods that are chosen by one click."""
    with st.container(horizontal=True, gap="small", width=240):
        for label, (since, until) in PRESETS.items():
            period = chosen().with_values("since", [since]).with_values("until", [until] if until else [])
            st.button(label, key=f"period-{since}", on_click=_choose, args=(period,))


def _search() -> None:
    widget = _seed(SEARCH, next(iter(chosen().values(SEARCH)), ""))
    st.text_input(
        "Search",
        key=widget,
        on_change=_changed,
        args=(SEARCH,),
        placeholder="Search runs",
        icon=":material/search:",
        label_visibility="collapsed",
        max_chars=filter_urls.LONGEST_VALUE,
        width=230,
    )


def _names(filter_: Filter, options: Mapping[str, int]) -> None:
    values = chosen().values(filter_.key)
    widget = _seed(filter_.key, list(values))
    offered = [*options, *(value for value in values if value not in options)]
    st.multiselect(
        filter_.name,
        offered,
        format_func=lambda value: f"{fact_words(value, filter_.key)} · {options[value]:,}" if value in options else visible(value),
        key=widget,
        help=plain(filter_.help),
        on_change=_changed,
        args=(filter_.key,),
        placeholder="Any",
        accept_new_options=not filter_.options or len(options) >= cache.MOST_OPTIONS,
        select_all=False,
        width=320,
    )


def _time(filter_: Filter, _: Mapping[str, int]) -> None:
    widget = _seed(filter_.key, _date(next(iter(chosen().values(filter_.key)), "")))
    st.date_input(
        filter_.name,
        None,
        key=widget,
        format="YYYY-MM-DD",
        min_value=date(2000, 1, 1),
        max_value=date(2100, 1, 1),
        help=plain(filter_.help),
        on_change=_changed,
        args=(filter_.key,),
        width=240,
    )


def _usd(filter_: Filter, _: Mapping[str, int]) -> None:
    text = next(iter(chosen().values(filter_.key)), None)
    widget = _seed(filter_.key, None if text is None else float(Decimal(text.removeprefix("$"))))
    st.number_input(
        filter_.name,
        min_value=0.0,
        value=None,
        step=0.5,
        format="%.4g",
        key=widget,
        icon=":material/attach_money:",
        placeholder="USD",
        help=plain(filter_.help),
        on_change=_changed,
        args=(filter_.key,),
        width=240,
    )


def _text(filter_: Filter, _: Mapping[str, int]) -> None:
    widget = _seed(filter_.key, next(iter(chosen().values(filter_.key)), ""))
    st.text_input(filter_.name, key=widget, help=plain(filter_.help), on_change=_changed, args=(filter_.key,), width=240)


def _choice(filter_: Filter, _: Mapping[str, int]) -> None:
    usual = filter_.words[0] if filter_.kind is Kind.CHOICE else None
    widget = _seed(filter_.key, next(iter(chosen().values(filter_.key)), usual))
    st.segmented_control(
        filter_.name, filter_.words, key=widget, help=plain(filter_.help), on_change=_changed, args=(filter_.key,), width=240
    )


_WIDGETS = dict.fromkeys(Kind, _text) | {
    Kind.NAMES: _names,
    Kind.LABELS: _names,
    Kind.TIME: _time,
    Kind.USD: _usd,
    Kind.CHOICE: _choice,
    Kind.FLAG: _choice,
}


def _seed(key: str, value: Any) -> str:
    """Let the widget show what is chosen; gives its key.

    What is chosen elsewhere (a link, a chip) makes new widgets: the browser keeps the value of one in a closed popover and would
    send it again.
    """
    widget = f"filter-{key}-{st.session_state.get(_ROUND, 0)}"
    if widget not in st.session_state:
        st.session_state[widget] = value
    return widget


def _date(text: str) -> date | None:
    """The day of a time; a link may name an hour, which the calendar cannot show and leaves alone."""
    time = moment(text) if text else None
    return time.date() if time else None


def _changed(key: str) -> None:
    """A widget was used: its value is the filter's now."""
    value = st.session_state[f"filter-{key}-{st.session_state.get(_ROUND, 0)}"]
    unset = (None, "", FILTERS[key].words[0] if FILTERS[key].kind is Kind.CHOICE else None)
    values = value if isinstance(value, list) else [] if value in unset else [value]
    link = filter_urls.read_link({FILTERS[key].link or key: [_typed(value) for value in values]})
    st.session_state[_FILTERS], st.session_state[_LEFT_OUT] = chosen().with_values(key, link.filters.values(key)), link.left_out
    _write_address()


def _typed(value: Any) -> str:
    """What a widget holds as the command line writes it; of an amount every digit that was typed, and no more."""
    return f"{Decimal(repr(value)).normalize():f}" if isinstance(value, float) else str(value)


def _choose(filters: Filters, left_out: tuple[str, ...] = ()) -> None:
    st.session_state[_FILTERS], st.session_state[_LEFT_OUT] = filters, left_out
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
    _write_address()


def _write_address() -> None:
    """Change what differs only: other parameters belong to the screens' own widgets."""
    ours = filter_urls.write_link(chosen())
    for key in [word for word in filter_urls.LINK_WORDS if word in st.query_params and word not in ours]:
        del st.query_params[key]
    if changed := {key: values for key, values in ours.items() if st.query_params.get_all(key) != values}:
        st.query_params.update(changed)


def _unknown_names(options: Options) -> tuple[str, ...]:
    """What a stale or mistyped link names and this store has not; lists that are cut cannot tell."""
    whole = {key: values for key, values in options.items() if len(values) < cache.MOST_OPTIONS}
    none: dict[str, Mapping[str, int]] = {key: {} for key, filter_ in FILTERS.items() if filter_.options and key not in options}
    return filter_urls.unknown_names(chosen(), whole | none)


def _tell_left_out(unknown: Sequence[str]) -> None:
    if left_out := st.session_state.get(_LEFT_OUT):
        st.html(html_parts.warning(f"Not readable, so left out: {html_parts.text(', '.join(left_out))}"))
    if unknown:
        st.html(html_parts.warning(f"Not in this store: {html_parts.text(', '.join(unknown))}"))


def _tell_excluded(*, by_responses: bool = False) -> None:
    if words := excluded_words(cache.ask(reading.excluded, chosen())):
        st.caption(f":material/block: {words}")
    if by_responses:  # what has no time is told beside the figures
        return
    if words := undated_words(*cache.ask(reading.undated, chosen())):
        st.caption(f":material/event_busy: {plain(words)}")


def _all_excluded() -> None:
    with st.container(border=True):
        st.header("All runs are excluded", anchor=False)
        st.button("Show them", type="primary", key="show-excluded", on_click=_choose, args=(Filters(((EXCLUDED, ("only",)),)),))
    live.end_page()


def _no_match() -> None:
    with st.container(border=True):
        st.header("No runs match", anchor=False)
        st.markdown(f"Remove a filter or clear all. CLI equivalent: {code_span(chosen().as_words())}")
        st.button("Clear all filters", type="primary", key="clear-no-match", on_click=_choose, args=(Filters(),))
    live.end_page()
