"""Uploaded files that no reader knows: their fields to choose, the rows by them, and one button."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from app.screens import cache
from app.screens.parts import widgets
from app.text.html_parts import code_span, plain
from app.text.mapping import preview
from ingest.mapped.found import KnownMap
from ingest.mapped.propose import ProposedForm, map_of, proposed
from ingest.pipeline import IngestReport
from ingest.sources.files import Source
from schemas.file_kinds import FileKind
from schemas.text import join_known, plural, visible

MOST_BYTES, MOST_FILES = 8 << 20, 50
_FORMS = "mapped-forms"
_KINDS = (FileKind.ROWS, FileKind.JSON, FileKind.CSV, FileKind.PARQUET, FileKind.BINARY)
_FIELDS = (
    "agent model effort task run_id cost duration input_tokens output_tokens outcome score "
    "started_at"
).split()
_NOT_THERE = ""
_LABELS = {_NOT_THERE: "not in the file", "^": "the row's name"}


def hold(report: IngestReport, small: Mapping[str, bytes]) -> None:
    """Propose maps for the unread files of an upload, and keep them."""
    unread = [
        Source(one.name, small[one.name])
        for one in report.sources
        if one.kind in _KINDS and one.name in small
    ]
    st.session_state[_FORMS] = proposed(unread[:MOST_FILES])


def offer() -> IngestReport | None:
    """Place the fields of files without a reader, and the rows by them; return their ingest."""
    forms: list[ProposedForm] = st.session_state.get(_FORMS, [])
    if not forms:
        return None
    form = forms[0]
    widgets.subheading(
        f"{plural(form.rows, 'row')} in {plural(len(form.files), 'file')} that no reader knows",
        "Say what its fields are: the rows then come in as runs.",
    )
    chosen = dict(form.chosen)
    with st.container(horizontal=True, gap="small"):
        for name in _FIELDS:
            options = [_NOT_THERE, *form.paths]
            at = options.index(chosen[name]) if chosen.get(name) in options else 0
            path = st.selectbox(
                name.replace("_", " ").capitalize(),
                options,
                at,
                format_func=lambda one: _LABELS.get(one) or visible(one),
                key=f"map-{name}",
                width=180,
            )
            chosen.pop(name, None)
            if path:
                chosen[name] = path
        if "agent" not in chosen:
            agent = st.text_input(
                "Agent of all rows", key="map-agent-of-all", placeholder="codex", width=180
            )
            chosen |= {"agent": f"={agent.strip()}"} if agent.strip() else {}
    if not (made := form.again(chosen)):
        st.caption("Choose an agent or a model, and a figure of the run.")
        return None
    known = map_of([made], "upload")
    known = KnownMap(known.content, known.text)
    shown = preview(known, form.files)
    for table in shown.tables:
        st.html(table.html())
    st.caption(plain(join_known(". ", shown.found, shown.refused, *made.doubts)))
    with st.expander("The map"):
        st.code(known.text, language="toml")
        st.caption(f"Saved as {code_span('tachograph-map.toml')} it reads such files by itself.")
    ready = made.form.run is not None
    if st.button(f"Read {plural(form.rows, 'row')}", type="primary", disabled=not ready):
        st.session_state[_FORMS] = forms[1:]
        return cache.ingest_mapped(form.files, known)
    return None
