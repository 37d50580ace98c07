"""Upload logs: they are read as they arrive, each once, and the screen says what became of each."""

import streamlit as st

from app.screens import cache, widgets
from app.server.uploads import Arrived, not_received, problem_words
from app.text import file_kinds, grid_columns
from app.text.presentation import code_span, plain, short_id

st.title("Upload", anchor=False)
st.markdown("Result records as the agent wrote them: JSON, event streams, logs with text around them, archives of all that.")
st.markdown('What counts is the content, not the name. For example what `claude -p "…" --output-format json > run.json` writes.')
cache.let_upload(allowed=True)
of_folder = widgets.choice("What to upload", {"files": "Files and archives", "folder": "A folder"}, "what") == "folder"
files = st.file_uploader(
    "Drop a folder here, or choose one: all below it is read" if of_folder else "Drop logs here, or choose them",
    accept_multiple_files="directory" if of_folder else True,
    key="folder" if of_folder else "logs",
    help="Logs read before change nothing when read again. What is too large for a browser: " + code_span(cache.command("ingest PATH")),
)
arrived = st.session_state.get("arrived", Arrived())
fresh = arrived.fresh(files)
problems = not_received(fresh)
for words in problem_words(fresh, problems):
    st.error(plain(words), icon=":material/error:")
fresh = [file for file in fresh if file.file_id not in problems]
if fresh:
    reading = f"Reading {len(fresh):,} files …"
    with st.status(reading) as status:
        bar = st.progress(0.0)

        def told(share: float, name: str) -> None:
            status.update(label=reading)
            bar.progress(share, plain(name))

        report = cache.ingest_uploads(fresh, told, lambda said: status.update(label=plain(said)))
        status.update(label=f"Read in {report.seconds:.1f} s", state="complete")
    arrived = st.session_state["arrived"] = arrived.with_report(fresh, report)
if arrived.reports:
    st.header("What became of them", anchor=False)
    widgets.table(grid_columns.upload_grid(arrived.reports), "What became of each file")
    if not arrived.runs:
        st.info(file_kinds.WHAT_IS_READ)
if arrived.run_ids:
    st.header("Runs in these files", anchor=False)
    with st.container(horizontal=True):
        for run_id in arrived.run_ids:
            st.page_link(
                "screens/run.py",
                label=f"Run {plain(short_id(run_id))}",
                query_params={widgets.RUN_ID: run_id},
                icon=":material/arrow_forward:",
            )
    if arrived.runs > len(arrived.run_ids):
        st.caption(f"{len(arrived.run_ids):,} of {arrived.runs:,} in these files; all of them are under Runs.")
        st.page_link("screens/runs.py", label="See all runs", icon=":material/list:")
    st.page_link("screens/overview.py", label="See the overview", icon=":material/speed:")
rejects = grid_columns.reject_grid(arrived.reports)
if rejects.rows.num_rows:
    st.header("Rejected, and why", anchor=False)
    widgets.table(rejects, "Each rejected document with the reason")
