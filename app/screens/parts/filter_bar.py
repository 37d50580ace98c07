"""The filter bar of every screen.

The same filters everywhere, kept across screens and always in the address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal, NoReturn
from urllib.parse import parse_qs, urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.queries import Row, reading, rules
from app.queries import filter_inputs as filter_urls
from app.queries import runs as screen_queries
from app.queries.filters import (
    COPIES,
    EVERY_RUN,
    EXCLUDED,
    FILTERS,
    SEARCH,
    TIME,
    TIME_WORDS,
    TIMES,
    UNDATED,
    Filter,
    FilterKind,
    Filters,
    has_period,
    moment,
    period,
    this_moment,
    without_period,
)
from app.queries.sessions import runs_with_usage
from app.screens import cache
from app.screens.parts import share_menu, widgets
from app.text import html_parts, speedups
from app.text.answers import uncounted_words, undated_words
from app.text.columns import fact_words, period_words, value_words
from app.text.html_parts import code_span, plain
from app.text.sentences import Doubt
from schemas.text import plural, visible

BOXES = {
    "Project": ("project",),
    "Agent": ("agent", "model", "effort", "main-model"),
    "Task": ("task",),
    "Outcome": ("outcome", "failure"),
    "Time": (TIME, "since", "until"),
}
"""The common filters, each with a box; SEARCH is next to them, all others are under MORE."""

MORE = "More"

LONGEST_VIEW_NAME = 60

_FILTERS, _LEFT_OUT, _ADDRESS, _ROUND = (
    "filters",
    "filters-left-out",
    "filters-address",
    "filters-round",
)
Options = Mapping[str, Mapping[str, int]]


def chosen() -> Filters:
    """Return the current filters."""
    filters: Filters = st.session_state.get(_FILTERS, Filters())
    return filters


SCREEN_WORDS = frozenset(
    (
        widgets.RUN_ID,
        widgets.CLAIM_NO,
        widgets.ORDER,
        widgets.COST,
        widgets.LOOP,
        "baseline",
        "budget",
        "columns",
        "by",
        "compact",
        "format",
        "group",
        "grouping",
        "judged-by",
        "groups",
        "known",
        "loop-along",
        "month",
        "owner",
        "page",
        "pair",
        "path-tz",
        "per",
        "reason",
        "report-title",
        "reprice",
        "rule",
        "session-along",
        "show",
        "sort",
        "tab",
        "text",
        "tz",
        "usage-per",
        "usage-show",
        "view",
        "what",
    )
)
"""Parameters in addresses that belong to widgets of screens. Any other that is no filter was
mistyped.
"""


def follow_address() -> None:
    """Take the filters of an opened link.

    Keep the current ones if the menu was used, which drops them from the address.

    Call it before `st.navigation`, so that the browser writes the new page and the filters into the
    address at once.
    """
    link = filter_urls.read_link(
        {word: st.query_params.get_all(word) for word in filter_urls.LINK_WORDS}
    )
    ours, address = chosen(), st.context.url
    is_first, has_stayed = (
        _FILTERS not in st.session_state,
        address is not None and st.session_state.get(_ADDRESS) == address,
    )
    if is_first or (link.filters != ours and (link.filters or has_stayed)):
        _choose(link.filters, link.left_out)
    st.session_state[_ADDRESS] = address
    _write_address()


def rules_tables(scores: Sequence[Row], steps: Sequence[Row]) -> None:
    """Draw the scores by the rules of benchmarks, and the steps from published ones to ours."""
    st.caption(speedups.RULES_CAPTION)
    st.html(speedups.rules_table(scores))
    if steps:
        st.caption(speedups.STEPS_CAPTION)
        st.html(speedups.steps_table(steps))


def show(
    what: str,
    *,
    by_responses: bool = False,
    of_money: bool = False,
    may_be_empty: bool = False,
    forced_cost: str = "",
) -> None:
    """Place the bar; ends the screen if there are no runs, or none that match. Raises StoreError.

    `what`: the screen, to share it.
    `by_responses`: a period matches the times of responses, which may be long before a run's end;
    `of_money`: it matches either. `may_be_empty`: the screen also shows a period without runs.
    `forced_cost`: the screen's own measure of cost.
    """
    total, filters = cache.count(Filters()), chosen()
    if not total and not cache.count(EVERY_RUN):
        scores, steps = (table.to_pylist() for table in cache.ask(rules.tables))
        if scores:
            st.html(f'<h1 class="t-h1">{html_parts.text(speedups.only_measured(scores))}</h1>')
            rules_tables(scores, steps)
        if found := cache.contents().loops:
            label = f"{plural(found, 'optimization loop')}: what each brought and cost"
            st.page_link("screens/loops.py", label=label, icon=":material/autorenew:")
        widgets.no_runs_yet()
    if total == 1 and not filters and not st.query_params:  # nothing to choose among
        return
    options = cache.options()
    named = {key for keys in BOXES.values() for key in keys} | {SEARCH}
    boxes = BOXES | {MORE: tuple(key for key in FILTERS if key not in named)}
    with _bar():
        with st.container(width=186, key="box-Search"):
            st.text_input(
                "Search",
                key=_seed(SEARCH, next(iter(filters.values(SEARCH)), "")),
                on_change=_changed,
                args=(SEARCH,),
                placeholder="Search runs",
                icon=":material/search:",
                label_visibility="collapsed",
                max_chars=filter_urls.LONGEST_VALUE,
            )
        for label, keys in boxes.items():
            if any(_has_choice(key, options) for key in keys):
                _box(label, keys, options)
        with st.container(horizontal=True, key="box-clear"):
            st.button(
                "",
                icon=":material/filter_alt_off:",
                help="Clear all filters",
                type="tertiary",
                key="clear-filters",
                on_click=_choose,
                args=(Filters(),),
                disabled=not filters,
            )
        widgets.cost_menu(forced_cost)
        share_menu.show(what)
    _warn_of_words(options)
    if not filters:
        _doubt_uncounted(by_responses=False)
        if not total:
            with st.container(border=True):
                st.header("All runs are excluded", anchor=False)
                only = Filters(((EXCLUDED, ("only",)),))
                st.button(
                    "Show them", type="primary", key="show-excluded", on_click=_choose, args=(only,)
                )
            widgets.end_page()
        return
    cache.ask(reading.choose_anew, filters)
    with st.spinner("Searching …", show_time=True) if filters.values(SEARCH) else nullcontext():
        found = (
            (not by_responses and cache.count(filters)) or cache.ask(runs_with_usage, filters)
            if (by_responses or of_money) and has_period(filters)
            else cache.count(filters)
        )
    _doubt_uncounted(by_responses=by_responses)
    if not found and not (may_be_empty and cache.count(without_period(filters))):
        no_match()


def no_match() -> NoReturn:
    """Offer to clear the filters, in place of the rest of the screen."""
    with st.container(border=True):
        st.header("No runs match", anchor=False)
        st.markdown(
            f"Remove a filter or clear all. CLI equivalent: {code_span(chosen().as_words())}"
        )
        for doubt in widgets.DOUBTS.get():
            st.caption(plain(doubt.text))
        st.button(
            "Clear all filters",
            type="primary",
            key="clear-no-match",
            on_click=_choose,
            args=(Filters(),),
        )
    widgets.end_page()


def _warn_of_words(options: Options) -> None:
    """Warn about address words that are no filters, unreadable, or match nothing in this store."""
    whole = {
        key: values for key, values in options.items() if len(values) < cache.MOST_OPTIONS
    }  # a list that is cut cannot tell
    none: dict[str, Mapping[str, int]] = {
        key: {} for key, filter_ in FILTERS.items() if filter_.options and key not in options
    }
    unknown = filter_urls.unknown_words(st.query_params, SCREEN_WORDS.__contains__)
    were = (
        "These filters are unknown and were ignored"
        if len(unknown) > 1
        else "This filter is unknown and was ignored"
    )
    warnings = {
        "Not readable, so left out": st.session_state.get(_LEFT_OUT) or (),
        "Not in this store": filter_urls.unknown_names(chosen(), whole | none),
        were: unknown,
    }
    for why, words in warnings.items():
        if words:
            st.html(html_parts.warning(f"{why}: {', '.join(map(html_parts.text, words))}"))


def _doubt_uncounted(*, by_responses: bool) -> None:
    """Note how many runs are not counted, or without a date in a period, under *How sure?*.

    With responses, the latter is shown next to the figures.
    """
    found = []
    filters, counted = chosen(), cache.ask(reading.uncounted, chosen())
    if words := uncounted_words(*counted):
        key = EXCLUDED if counted[0] else COPIES
        found.append(
            Doubt(words, "See them", html_parts.link("runs", filters.with_values(key, ["only"])))
        )
    if not by_responses and (words := undated_words(cache.ask(reading.left_out, filters))):
        undated = without_period(filters).with_values(TIME, [UNDATED])
        found.append(Doubt(words, "See them", html_parts.link("runs", undated)))
    widgets.DOUBTS.set(tuple(found))


def _has_choice(key: str, options: Options) -> bool:
    """Return whether a filter has options or was set by a link."""
    return not FILTERS[key].options or bool(options.get(key)) or bool(chosen().values(key))


def _bar(begins: Literal["left", "right"] = "left") -> DeltaGenerator:
    """Return the row of the bar, of fixed boxes."""
    return st.container(
        horizontal=True,
        wrap=False,
        horizontal_alignment=begins,
        vertical_alignment="center",
        gap="xsmall",
        key="filter-bar",
    )


def show_share(what: str) -> None:
    """Place the bar of a screen without filters: only how to share it."""
    with _bar("right"):
        share_menu.show(what)


def _box(label: str, keys: Sequence[str], options: Options) -> None:
    """Place the box of some filters: its menu and, if one is set, a cross that removes them.

    The value is in the box, and its width is always the same.
    """
    values = [value_words(key, value) for key in keys for value in chosen().values(key)]
    shown = f"{values[0]}{f' +{len(values) - 1}' if values[1:] else ''}" if values else label
    times = [one for key in TIMES for one in chosen().values(key)]
    if TIME in keys and len(times) == len(values) == len(TIMES):
        shown = period_words(*times) or shown
    with st.container(horizontal=True, wrap=False, gap=None, width=124, key=f"box-{label}"):
        with st.popover(
            plain(shown),
            key=f"popover-{label}",
            width="stretch",
            wrap=False,
        ):
            if TIME in keys:
                _periods()
            for key in keys:
                if key not in BOXES["Time"] and _has_choice(key, options):
                    _widget(FILTERS[key], options.get(key, {}))
            if label == MORE:
                _saved_views()
        if values:
            without = chosen()
            for key in keys:
                without = without.with_values(key, ())
            st.button(
                "×",
                key=f"drop-{label}",
                on_click=_choose,
                args=(without,),
                help=plain(f"Remove {label}: {', '.join(values)}"),
                width=26,
            )


def _periods() -> None:
    """Place the menu of periods, a calendar, and the runs without a date."""
    now, zone = this_moment(), widgets.zone()
    current = next(iter(chosen().values(TIME)), "").partition(" in ")[0]
    undated = cache.ask(reading.undated, Filters()).runs
    with st.container(gap=None, width=280, key="menu-Time"):
        for name in TIME_WORDS:
            _period(name, _period_note(name, now.astimezone(zone)), is_on=name == current)
        with st.container(horizontal=True, wrap=False, gap="xsmall", key="calendar"):
            for key in TIMES:
                _widget(FILTERS[key], {})
        if undated or current == UNDATED:
            _period(UNDATED, plural(undated, "run"), is_on=current == UNDATED)
        hours = _period_note("last night", now.astimezone(zone))
        st.caption(f"Times in {plain(str(zone))} · night is {hours}")


def _period_note(name: str, now: datetime) -> str:
    """Return what a period means today: `Wed 18 Mar`, `1–19 Mar`, `February`, `18:00–08:00`."""
    begin, end = period(name, now, now.tzinfo or UTC) or (None, None)
    if begin is None or end is None or name == "last 24 hours":
        return ""
    if name == "last night":
        return f"{begin:%H:%M}–{end:%H:%M}"
    last = min(end - timedelta(microseconds=1), now)
    if begin.date() == last.date():
        return f"{begin:%a %-d %b}"
    if begin.day == 1 and begin.month != end.month and last < now:
        return f"{begin:%B}"
    months = "" if begin.month == last.month else f" {begin:%b} "
    return f"{begin:%-d}{months}–{' ' if months else ''}{last:%-d %b}"


def _period(name: str, note: str, *, is_on: bool) -> None:
    found = without_period(chosen()).with_values(TIME, [_here(name)])
    label = name[0].upper() + name[1:]
    widgets.menu_row(label, note, f"period-{name}", _choose, (found,), is_on=is_on)


def _here(period: str) -> str:
    """Return the period in the time zone of the visitor, which an address keeps."""
    zone = st.context.timezone
    return (
        period if zone in (None, "UTC", "Etc/UTC") or period == UNDATED else f"{period} in {zone}"
    )


def choose_period(options: Mapping[str, str]) -> None:
    """Place a choice of periods (name → label), which is the filter on time; "" is none."""
    now = next(iter(chosen().values(TIME)), "").partition(" in ")[0]
    current = now if now in options and (now or not has_period(chosen())) else None
    key = _seed("shown-period", current)

    def choose() -> None:
        period = str(st.session_state[key] or "")
        _choose(without_period(chosen()).with_values(TIME, [_here(period)] if period else []))

    st.segmented_control(
        "Show",
        list(options),
        format_func=options.__getitem__,
        key=key,
        on_change=choose,
        required=current is not None,
        label_visibility="collapsed",
    )


def _saved_views() -> None:
    """Place saved views: to open, and, if visitors may write, to save and to delete."""
    saved, may_write = cache.ask(screen_queries.saved_views), not cache.is_read_only()
    if saved or (may_write and chosen()):
        st.caption("Saved views")
    for name, address in saved.items():
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", width=320):
            filters = filter_urls.read_link(parse_qs(address)).filters
            st.button(
                plain(name),
                key=f"view-{name}",
                on_click=_choose,
                args=(filters,),
                icon=":material/bookmark:",
                width="stretch",
            )
            if may_write and st.button("×", key=f"forget-{name}", help="Forget this view"):
                cache.save_view(name, "")
                st.rerun()
    if may_write and chosen():
        with st.form("save-view", border=False, clear_on_submit=True):
            name = st.text_input(
                "Save these filters as", max_chars=LONGEST_VIEW_NAME, placeholder="Name", width=320
            )
            if st.form_submit_button("Save view") and name.strip():
                cache.save_view(
                    name.strip(), urlencode(filter_urls.write_link(chosen()), doseq=True)
                )
                st.rerun()


def _widget(filter_: Filter, options: Mapping[str, int]) -> None:
    key, kind, values = filter_.key, filter_.kind, chosen().values(filter_.key)
    first = next(iter(values), "")
    more: dict[str, Any] = {"help": plain(filter_.help), "on_change": _changed, "args": (key,)}
    if kind.is_many:
        st.multiselect(
            filter_.name,
            [*options, *(value for value in values if value not in options)],
            format_func=lambda value: (
                f"{fact_words(value, key)} · {options[value]:,}"
                if value in options
                else visible(value)
            ),
            key=_seed(key, list(values)),
            placeholder="Any",
            accept_new_options=not filter_.options or len(options) >= cache.MOST_OPTIONS,
            select_all=False,
            width=320,
            **more,
        )
    elif (
        kind is FilterKind.TIME
    ):  # a link may name an hour, which the calendar cannot show and leaves alone
        time = moment(first) if first else None
        st.date_input(
            filter_.name,
            None,
            key=_seed(key, time.date() if time else None),
            format="YYYY-MM-DD",
            min_value=date(2000, 1, 1),
            max_value=date(2100, 1, 1),
            width="stretch",
            **more,
        )
    elif kind is FilterKind.USD:
        st.number_input(
            filter_.name,
            min_value=0.0,
            value=None,
            step=0.5,
            format="%.4g",
            icon=":material/attach_money:",
            placeholder="USD",
            width=240,
            key=_seed(key, float(Decimal(first.removeprefix("$"))) if first else None),
            **more,
        )
    elif kind in (FilterKind.CHOICE, FilterKind.FLAG):
        usual = filter_.words[0] if kind is FilterKind.CHOICE else None
        st.segmented_control(
            filter_.name, filter_.words, key=_seed(key, first or usual), width=240, **more
        )
    else:
        st.text_input(filter_.name, key=_seed(key, first), width=240, **more)


def _seed(key: str, value: Any) -> str:
    """Set the widget to the current filter and return its key.

    A change from elsewhere (a link, a chip) makes new widgets, because the browser keeps the value
    of one in a closed popover and would send it again.
    """
    widget = f"filter-{key}-{st.session_state.get(_ROUND, 0)}"
    if widget not in st.session_state:
        st.session_state[widget] = value
    return widget


def _changed(key: str) -> None:
    """Apply the value of a changed widget to its filter."""
    value = st.session_state[f"filter-{key}-{st.session_state.get(_ROUND, 0)}"]
    unset = (None, "", FILTERS[key].words[0] if FILTERS[key].kind is FilterKind.CHOICE else None)
    values = value if isinstance(value, list) else [] if value in unset else [value]
    # as the command line writes it: of an amount every digit that was typed, and no more
    typed = [
        f"{Decimal(repr(one)).normalize():f}" if isinstance(one, float) else str(one)
        for one in values
    ]
    link = filter_urls.read_link({FILTERS[key].link or key: typed})
    st.session_state[_FILTERS], st.session_state[_LEFT_OUT] = (
        chosen().with_values(key, link.filters.values(key)),
        link.left_out,
    )
    _write_address()


def _choose(filters: Filters, left_out: tuple[str, ...] = ()) -> None:
    st.session_state[_FILTERS], st.session_state[_LEFT_OUT] = filters, left_out
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
    _write_address()


def _write_address() -> None:
    """Write the filters into the address, changing only what differs.

    Other parameters belong to widgets of the screens.
    """
    ours = filter_urls.write_link(chosen())
    for key in [
        word for word in filter_urls.LINK_WORDS if word in st.query_params and word not in ours
    ]:
        del st.query_params[key]
    if changed := {
        key: values for key, values in ours.items() if st.query_params.get_all(key) != values
    }:
        st.query_params.update(changed)
