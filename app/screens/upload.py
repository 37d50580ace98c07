"""Upload logs: they are read as they arrive, each once, and the screen says what became of each. Recent ingests can be undone."""

from collections.abc import Mapping
from typing import Any
from zoneinfo import available_timezones

import streamlit as st

from app.queries import run_ids
from app.queries import runs as run_queries
from app.queries.grouping import UTC_ZONE
from app.screens import cache
from app.screens.parts import annotate, widgets
from app.server.uploads import Arrived, not_received, problem_words
from app.text import file_kinds, grid_columns
from app.text.formatting import human, short_id
from app.text.presentation import code_span, plain
from app.text.words.undo import about_ingest, came_in, took_back
from schemas.text import plural
from schemas.unit_names import Unit

LAST = "last-upload"
"""In the session: the number of the ingest of the last upload, None where it changed nothing."""

RECENT = 5
"""Ingests that are listed; the command line lists all."""

_TOLD = "undone"


def offer_undo_of_upload() -> None:
    """A button that takes the last upload of this session back."""
    number = st.session_state.get(LAST)
    if number is not None:
        _undo_button(number, "Undo this upload", "upload")


def recent() -> None:
    """The last ingests of the store, each with its undo; nothing where there is none."""
    if told := st.session_state.pop(_TOLD, ""):
        st.success(plain(told), icon=":material/undo:")
    rows = cache.ask(run_queries.ingests).to_pylist() if cache.store().exists() else []
    if not rows:
        return
    st.header("Recent ingests", anchor=False)
    for row in rows[:RECENT]:
        _line(row)
    if len(rows) > RECENT:
        st.caption(f"The last {RECENT} of {len(rows):,}. List all: {code_span(cache.command('ingests'))}")


def _line(row: Mapping[str, Any]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(f"{plain(about_ingest(row))} · {plain(came_in(row))}")
        _undo_button(row["ingest_id"], "Undo", "recent")


def _undo_button(number: int, label: str, place: str) -> None:
    with st.popover(label, icon=":material/undo:", key=f"undo-{place}-{number}"):
        st.markdown("Removes its runs and files. Runs of other ingests stay, and so do labels, notes, stars and exclusions.")
        if st.button(f"Undo ingest {number}", type="primary", key=f"undo-{place}-{number}-now"):
            _undo(number)


def _undo(number: int) -> None:
    """Take the ingest back and run the screen again. The files of the page count as ingested, so that none comes back by itself."""
    st.session_state[_TOLD] = took_back(cache.undo_ingest(number))
    if st.session_state.get(LAST) == number:
        file_ids = st.session_state.get("arrived", Arrived()).file_ids
        st.session_state["arrived"], st.session_state[LAST] = Arrived(file_ids), None
    st.rerun()


st.title("Upload", anchor=False)
st.markdown("Upload result records of agents: JSON, event streams, logs with other text around them, or archives of these.")
st.markdown('Any file name works, e.g. the output of `claude -p "…" --output-format json > run.json`.')
cache.let_upload(allowed=True)
with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
    labels = annotate.upload_labels()
    near = dict.fromkeys(filter(None, (UTC_ZONE, st.context.timezone)))
    zones = near | dict.fromkeys(sorted(available_timezones() - {"localtime"}))
    zone = widgets.pick("Time zone of file names", {name: name for name in zones}, "path-tz", width=220)
of_folder = widgets.choice("What to upload", {"files": "Files and archives", "folder": "A folder"}, "what") == "folder"
files = st.file_uploader(
    "Drag and drop a folder" if of_folder else "Drag and drop files",
    accept_multiple_files="directory" if of_folder else True,
    key="folder" if of_folder else "logs",
    help="Logs that are already in the store are skipped. For very large files: " + code_span(cache.command("ingest PATH")),
)
arrived = st.session_state.get("arrived", Arrived())
fresh = arrived.fresh(files)
problems = not_received(fresh)
for words in problem_words(fresh, problems):
    st.error(plain(words), icon=":material/error:")
fresh = [file for file in fresh if file.file_id not in problems]
if fresh:
    reading = f"Ingesting {plural(len(fresh), 'file')} …"
    with st.status(reading) as status:
        bar = st.progress(0.0)

        def told(share: float, name: str) -> None:
            status.update(label=reading)
            bar.progress(share, plain(name))

        report = cache.ingest_uploads(fresh, told, lambda said: status.update(label=plain(said)), labels, "" if zone == UTC_ZONE else zone)
        status.update(label=f"Ingested in {human(report.seconds * 1000, Unit.MILLISECONDS)}", state="complete")
    arrived = st.session_state["arrived"] = arrived.with_report(fresh, report)
    st.session_state[LAST] = report.ingest_id
if arrived.reports:
    st.header("Upload results", anchor=False)
    widgets.table(grid_columns.upload_grid(arrived.reports), "Status of each file")
    offer_undo_of_upload()
    if not arrived.runs:
        st.info(file_kinds.WHAT_IS_READ)
if arrived.run_ids:
    st.header("New runs", anchor=False)
    for one in cache.ask(run_ids.named, tuple(arrived.run_ids)):
        st.page_link(
            "screens/run.py",
            label=f"{plain(one.title)} · {plain(short_id(one.run_id))}",
            query_params={widgets.RUN_ID: one.run_id},
            icon=":material/arrow_forward:",
        )
    if arrived.new_runs > len(arrived.run_ids):
        st.caption(f"Showing {len(arrived.run_ids):,} of {arrived.new_runs:,} new runs.")
        st.page_link("screens/runs.py", label="See all runs", icon=":material/list:")
    st.page_link("screens/overview.py", label="See the overview", icon=":material/speed:")
rejects = grid_columns.reject_grid(arrived.reports)
if rejects.rows.num_rows:
    st.header("Rejected records", anchor=False)
    widgets.table(rejects, "Each rejected record with the reason")
recent()
