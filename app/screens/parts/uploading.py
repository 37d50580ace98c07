"""Uploads of logs: each file is read on arrival, once, and the page shows its result.

Recent ingests can be undone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from zoneinfo import available_timezones

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from app.queries import quality as quality_queries
from app.queries import run_page
from app.queries.grouping import UTC_ZONE
from app.screens import cache
from app.screens.parts import annotate, mapping, widgets
from app.text import data as sentences
from app.text import grids, html_parts, ingests
from app.text.formatting import short, short_id
from app.text.html_parts import code_span, plain
from app.text.ingests import about_ingest, came_in, took_back
from ingest.pipeline import IngestReport, SourceReport
from schemas.text import paired, plural
from schemas.units import Unit

LAST = "last-upload"
"""Session key for the number of the last upload's ingest, None if it changed nothing."""

RECENT = 5

_TRUST_HELP = (
    "Date runs without another date by their file in an archive: the agent wrote it then. A "
    "browser sends no times of single files."
)

LINKED_RUNS = 24
SHOWN_REJECTS = 200


@dataclass(frozen=True)
class Arrived:
    """The ingested uploads of a session, newest report first.

    Screens rerun at every click; no file is ingested twice.
    """

    file_ids: frozenset[str] = frozenset()
    reports: tuple[SourceReport, ...] = ()

    def with_report(self, uploads: Sequence[UploadedFile], report: IngestReport) -> Arrived:
        """Return this with the report of a batch.

        Long lists are cut, since a session is kept in memory.
        """
        light = (
            replace(
                source, run_ids=source.run_ids[:LINKED_RUNS], rejects=source.rejects[:SHOWN_REJECTS]
            )
            for source in report.sources
        )
        now = {source.source_id for source in report.sources}  # some are read by a map, again
        before = (one for one in self.reports if one.source_id not in now)
        file_ids = self.file_ids | {upload.file_id for upload in uploads}
        return Arrived(file_ids, (*light, *before))

    @property
    def counts(self) -> dict[str, int]:
        """The number of files and the results of their documents.

        `documents` is the sum of the parts.
        """
        parts = {
            name: sum(getattr(one, name) for one in self.reports)
            for name in ("accepted", "duplicates", "rejected", "ignored")
        }
        known = sum(one.known for one in self.reports)
        return {
            "sources": len(self.reports),
            "documents": sum(parts.values()),
            "known": known,
        } | parts


def show(head: Any) -> None:
    """Place the view Upload of the screen Data; `head` is the container of its heading."""
    cache.let_upload(allowed=True)
    with widgets.side_by_side("bottom", gap="small"):
        labels = annotate.upload_labels()
        near = dict.fromkeys(filter(None, (UTC_ZONE, st.context.timezone)))
        zones = near | dict.fromkeys(sorted(available_timezones() - {"localtime"}))
        zone = widgets.pick(
            "Time zone of file names", {name: name for name in zones}, "path-tz", width=220
        )
        trusts = st.checkbox("Trust file times", key="trust-file-times", help=_TRUST_HELP)
    of_folder = (
        widgets.choice(
            "What to upload", {"files": "Files and archives", "folder": "A folder"}, "what"
        )
        == "folder"
    )
    files = st.file_uploader(
        "Drag and drop a folder" if of_folder else "Drag and drop files",
        accept_multiple_files="directory" if of_folder else True,
        key="folder" if of_folder else "logs",
        help="Logs that are already in the store are skipped. For very large files: "
        + code_span(cache.command("ingest PATH")),
    )
    arrived: Arrived = st.session_state.get("arrived", Arrived())
    if fresh := [file for file in files if file.file_id not in arrived.file_ids]:
        small = {
            paired(file.name): file.getvalue() for file in fresh if file.size <= mapping.MOST_BYTES
        }
        reading = f"Ingesting {plural(len(fresh), 'file')} …"
        with st.status(reading) as status:
            bar = st.progress(0.0)

            def told(share: float, name: str) -> None:
                status.update(label=reading)
                bar.progress(share, plain(name))

            def told_wait(said: str) -> None:
                status.update(label=plain(said))

            path_zone = "" if zone == UTC_ZONE else zone
            report = cache.ingest_uploads(
                fresh, told, told_wait, labels, path_zone, trust_file_times=trusts
            )
            status.update(
                label=f"Ingested in {short(report.seconds * 1000, Unit.MILLISECONDS)}",
                state="complete",
            )
        arrived = st.session_state["arrived"] = arrived.with_report(fresh, report)
        st.session_state[LAST] = report.ingest_id
        mapping.hold(report, small)
    with head:
        wrong = next((reject.detail or "" for one in arrived.reports for reject in one.rejects), "")
        widgets.heading(sentences.upload(arrived.counts, wrong))
    if arrived.reports:
        _results(arrived)
    else:
        st.caption(ingests.WHAT_IS_READ)
    _recent()


def _results(arrived: Arrived) -> None:
    """Place the result of each file, its runs, and its rejects."""
    annotate.tell_saved()
    results = grids.upload_grid(arrived.reports)
    if results.rows.num_rows:
        widgets.table(results, "Status of each file that brought something")
    if note := ingests.nothing_new(arrived.reports):
        st.caption(note)
    if mapped := mapping.offer():
        st.session_state["arrived"] = arrived.with_report((), mapped)
        st.session_state[LAST] = mapped.ingest_id
        st.rerun()
    if (number := st.session_state.get(LAST)) is not None:
        _undo_button(number, "Undo this upload", "upload")
    ids = list(dict.fromkeys(run_id for report in arrived.reports for run_id in report.run_ids))[
        :LINKED_RUNS
    ]
    counts = arrived.counts
    if not ids and not counts["rejected"] and counts["known"] < counts["sources"]:
        st.info(ingests.WHAT_IS_READ)
    elif ids:
        sources = tuple(report.source_id for report in arrived.reports)
        if undated := cache.ask(quality_queries.without_date, sources):
            st.html(html_parts.warning(html_parts.text(sentences.without_date(len(undated)))))
            annotate.date_form(undated, "upload-date")
        records = arrived.counts["accepted"] + arrived.counts["duplicates"]
        widgets.subheading(
            "Runs in these files",
            f"The first {len(ids):,} of {records:,} records." if records != len(ids) else "",
        )
        for one in cache.ask(run_page.named, tuple(ids)):
            st.page_link(
                "screens/run.py",
                label=f"{plain(one.title)} · {plain(short_id(one.run_id))}",
                query_params={widgets.RUN_ID: one.run_id},
                icon=":material/arrow_forward:",
            )
        st.page_link("screens/overview.py", label="See the overview", icon=":material/speed:")
    rejects = grids.reject_grid(arrived.reports)
    if rejects.rows.num_rows:
        widgets.subheading("Rejected records")
        widgets.table(rejects, "Each rejected record with the reason")


def _recent() -> None:
    """Place the last ingests of the store, each with its undo; nothing if there are none."""
    if told := st.session_state.pop("undone", ""):
        st.success(plain(told), icon=":material/undo:")
    rows = cache.ask(quality_queries.ingests).to_pylist() if cache.store().exists() else []
    if not rows:
        return
    widgets.subheading("Recent ingests")
    for row in rows[:RECENT]:
        with widgets.side_by_side(border=True):
            st.markdown(f"{plain(about_ingest(row))} · {plain(came_in(row))}")
            _undo_button(row["ingest_id"], "Undo", "recent")
    if len(rows) > RECENT:
        st.caption(
            f"The last {RECENT} of {len(rows):,}. List all: {code_span(cache.command('ingests'))}"
        )


def _undo_button(number: int, label: str, place: str) -> None:
    """Place an undo button with confirmation.

    The page's files still count as ingested, so that they do not return by themselves.
    """
    with st.popover(label, icon=":material/undo:", key=f"undo-{place}-{number}"):
        st.markdown(
            "Removes what it brought. Runs of other ingests stay, and so do labels, notes, "
            "stars and exclusions."
        )
        if st.button(f"Undo ingest {number}", type="primary", key=f"undo-{place}-{number}-now"):
            st.session_state["undone"] = took_back(cache.undo_ingest(number))
            if st.session_state.get(LAST) == number:
                file_ids = st.session_state.get("arrived", Arrived()).file_ids
                st.session_state["arrived"], st.session_state[LAST] = Arrived(file_ids), None
            st.rerun()
