"""Upload logs: they are read as they arrive, each once, and the screen says what became of each."""

import streamlit as st

from app.queries import run_ids
from app.screens import cache, widgets
from app.server.uploads import Arrived, not_received, problem_words
from app.text import file_kinds, grid_columns
from app.text.formatting import human, short_id
from app.text.presentation import code_span, plain
from schemas.text import plural
from schemas.unit_names import Unit

st.title("Upload", anchor=False)
st.markdown("Upload result records of agents: JSON, event streams, logs with other text around them, or archives of these.")
st.markdown('Any file name works, e.g. the output of `claude -p "…" --output-format json > run.json`.')
cache.let_upload(allowed=True)
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

        report = cache.ingest_uploads(fresh, told, lambda said: status.update(label=plain(said)))
        status.update(label=f"Ingested in {human(report.seconds * 1000, Unit.MILLISECONDS)}", state="complete")
    arrived = st.session_state["arrived"] = arrived.with_report(fresh, report)
if arrived.reports:
    st.header("Upload results", anchor=False)
    widgets.table(grid_columns.upload_grid(arrived.reports), "Status of each file")
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
    if arrived.runs > len(arrived.run_ids):
        st.caption(f"Showing {len(arrived.run_ids):,} of {arrived.runs:,} new runs.")
        st.page_link("screens/runs.py", label="See all runs", icon=":material/list:")
    st.page_link("screens/overview.py", label="See the overview", icon=":material/speed:")
rejects = grid_columns.reject_grid(arrived.reports)
if rejects.rows.num_rows:
    st.header("Rejected records", anchor=False)
    widgets.table(rejects, "Each rejected record with the reason")
