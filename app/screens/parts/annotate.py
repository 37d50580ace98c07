"""Annotations of runs: the block on a run's page, and the bar below the list of runs.

Hidden if visitors may only read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import streamlit as st

from app.queries import Row
from app.screens import cache
from app.text.filter_words import label_list, read_labels
from app.text.html_parts import plain
from app.text.run_html import facts_html
from app.text.sentences import upper_first
from ingest.store.annotations import Change
from schemas.catalogue.figures import DATE
from schemas.errors import UsageError
from schemas.text import plural, visible

LONGEST_NOTE = 5_000

_TOLD = "annotated"
_LABELS_HELP = "key=value. project, task and experiment take the place of the run's own."


def quick(run: Row) -> None:
    """Place star and labels on the page of a run."""
    tell_saved()
    if cache.is_read_only():
        return
    if st.button("Starred" if run["starred"] else "Star", key="run-star", icon=":material/star:"):
        _save([run["run_id"]], Change(starred=not run["starred"]))
    with st.popover("Label", icon=":material/sell:"), st.form("run-label", border=False):
        _add_labels([run["run_id"]], "run-labels")
    with st.popover("Date", icon=":material/event:"):
        date_form([run["run_id"]], "run-date", run["labels"].get(DATE, ""))


def _add_labels(run_ids: Sequence[str], key: str) -> None:
    """Place a choice of labels with its button beside it: above and below its menu may open."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        labels = _labels([], key, width=300)
        is_asked = st.form_submit_button("Add labels")
    st.caption("For a date: date=2026-11-30.")
    if is_asked:
        _save(run_ids, Change(_read(labels)))


def date_form(run_ids: Sequence[str], key: str, given: str = "") -> None:
    """Show a form that sets the date of runs. Empty removes it.

    `given`: their label `date`.
    """
    with st.form(key, border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        day = st.date_input(
            "Day of the run" if len(run_ids) == 1 else "Day of these runs",
            given[:10] or None,
            width=200,
        )
        if st.form_submit_button("Save date"):
            _save(run_ids, Change({DATE: day.isoformat()} if day else {}, () if day else (DATE,)))


def run_block(run: Row) -> None:
    """Place labels, note, star and exclusion of one run."""
    if cache.is_read_only():
        if run["note"]:
            st.html(facts_html(run, ("note",)))
        return
    with st.form("annotation"):
        labels = _labels(label_list(run["labels"]), "labels")
        note = st.text_area("Note", run["note"] or "", max_chars=LONGEST_NOTE, height=80)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            starred = st.toggle("Starred", run["starred"])
            excluded = st.toggle("Exclude from all numbers", run["excluded"])
            reason = st.text_input(
                "Reason",
                run["excluded_reason"] or "",
                max_chars=LONGEST_NOTE,
                placeholder="Why is it excluded?",
            )
        if st.form_submit_button("Save", type="primary"):
            after = _read(labels)
            given = {key: value for key, value in after.items() if run["labels"].get(key) != value}
            removed = tuple(key for key in run["labels"] if key not in after)
            _save(
                [run["run_id"]],
                Change(given, removed, note.strip(), starred, excluded, reason.strip()),
            )


def bulk_bar(run_ids: Sequence[str]) -> None:
    """Place a bar to label, star or exclude the ticked runs of a list; nothing without any."""
    tell_saved()
    if not run_ids:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="bulk-bar"):
        st.markdown(f"**{plural(len(run_ids), 'run')} selected**", width="content")
        with st.popover("Label", icon=":material/label:"), st.form("bulk-label", border=False):
            _add_labels(run_ids, "bulk-labels")
        with st.popover("Date", icon=":material/event:"):
            date_form(run_ids, "bulk-date")
        if st.button("Star", icon=":material/star:"):
            _save(run_ids, Change(starred=True))
        with st.popover("Exclude", icon=":material/block:"), st.form("bulk-exclude", border=False):
            reason = st.text_input("Reason", max_chars=LONGEST_NOTE)
            if st.form_submit_button("Exclude"):
                _save(run_ids, Change(excluded=True, reason=reason.strip()))
        if st.button("Include", icon=":material/undo:", help="Count them again."):
            _save(run_ids, Change(excluded=False))


def tell_saved() -> None:
    """Confirm that the change before this rerun was saved."""
    if told := st.session_state.pop(_TOLD, ""):
        st.toast(told, icon=":material/check:")


def upload_labels() -> dict[str, str]:
    """Return labels for the next uploads.

    Ends the screen if one is unreadable, so that no file is ingested without it.
    """
    return _read(_labels([], "upload-labels", "Labels for these files"))


def _labels(
    given: Sequence[str],
    key: str,
    name: str = "Labels",
    width: int | Literal["stretch"] = "stretch",
) -> list[str]:
    known = list(dict.fromkeys([*given, *cache.label_options()]))
    return st.multiselect(
        name,
        known,
        default=list(given),
        format_func=visible,
        key=key,
        help=_LABELS_HELP,
        placeholder="key=value",
        accept_new_options=True,
        select_all=False,
        width=width,
    )


def _read(labels: Sequence[str]) -> dict[str, str]:
    try:
        return read_labels(labels)
    except UsageError as error:
        st.error(
            plain(f"{upper_first(error.message)} For example: branch=main."),
            icon=":material/error:",
        )
        st.stop()


def _save(run_ids: Sequence[str], change: Change) -> None:
    try:
        changed = cache.annotate(run_ids, change)
    except UsageError as error:
        st.error(plain(str(error)), icon=":material/error:")
        st.stop()
    saved = f"Saved for {plural(changed, 'run')}." if len(run_ids) > 1 else "Saved."
    st.session_state[_TOLD] = saved
    cache.forget_selection()
    st.rerun()
