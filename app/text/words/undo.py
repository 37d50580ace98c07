"""Ingests and undoing them, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from schemas.text import one_line, plural

if TYPE_CHECKING:
    from ingest.store.undo import Undone


def about_ingest(ingest: Mapping[str, Any]) -> str:
    """`Ingest 3, 2026-11-22 09:30 UTC by ann@host: upload`."""
    by = f" by {one_line(ingest['who'])}" if ingest["who"] else ""
    what = f": {one_line(ingest['command'])}" if ingest["command"] else ""
    return f"Ingest {ingest['ingest_id']}, {ingest['finished_at']:%Y-%m-%d %H:%M} UTC{by}{what}"


def came_in(ingest: Mapping[str, Any]) -> str:
    """`3 new runs, 2 duplicates of 4 files`."""
    parts = [plural(ingest["accepted"], "new run"), plural(ingest["duplicates"], "duplicate")]
    parts += [f"{ingest['rejected']:,} rejected"] if ingest["rejected"] else []
    return f"{', '.join(parts)} of {plural(ingest['sources'], 'file')}"


def takes_back(undone: Undone) -> str:
    """What an undo would take back."""
    return f"Undo removes {_counts(undone)}.{_staying(undone)}"


def took_back(undone: Undone) -> str:
    """What an undo took back."""
    return f"Undid ingest {undone.ingest_id}: removed {_counts(undone)}.{_staying(undone)}"


def _counts(undone: Undone) -> str:
    labelled = f", its labels for {plural(undone.labelled_files, 'file')}" if undone.labelled_files else ""
    rejected = f", {plural(undone.rejects, 'reject')}" if undone.rejects else ""
    measured = f" and {plural(undone.measurements, 'measured value')}" if undone.measurements else ""
    return f"{plural(undone.gone, 'run')}{measured} of {plural(undone.files, 'file')}{rejected}{labelled}"


def _staying(undone: Undone) -> str:
    return f" {plural(undone.staying, 'run')} of another ingest {'stays' if undone.staying == 1 else 'stay'}." if undone.staying else ""
