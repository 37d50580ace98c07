"""Records without their texts, for an ingest or a rebuild with `--no-text`.

Prompts, titles, final texts, patches, error messages and the excerpts of rejects are dropped.
Figures, times, paths, branches and the names of models, tools and sessions stay: every other table
can be rebuilt from them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ingest.agents.base import RESPONSE_COLUMNS, Rows
from ingest.agents.claude_code.results import result_without_text
from ingest.sources.document import Document
from ingest.sources.files import Unreadable
from schemas.errors import RejectReason
from schemas.rows.distilled import KEPT_START, Run

NOT_KEPT = "not kept (--no-text)"
"""Replaces the detail of a reject, which may quote a value."""

TEXTS: dict[str, Any] = {
    "title": None,
    "prompt": None,
    "errors": None,
    "result": None,
    "result_repaired": False,
}

TEXTS_OF_EXPERIMENTS = ("description", "hypothesis", "patch")

TEXTS_OF_RESPONSES = ("agent_description", "logged")

_PLACES_OF_TEXTS = tuple(map(RESPONSE_COLUMNS.index, TEXTS_OF_RESPONSES))


def without_text(rows: Rows) -> Rows:
    """Return a record's rows, before `complete`, without text: nothing is derived from texts."""
    raw, result = raw_without_text(rows.run.raw, rows.run.run_id)
    copies = rows.response_copies
    for place in _PLACES_OF_TEXTS:
        copies = tuple((*one[:place], None, *one[place + 1 :]) for one in copies)
    return rows._replace(
        run=rows.run.completed(TEXTS | {"raw": raw, "result": result}),
        response_copies=copies,
        patches=(),
    )


def raw_without_text(raw: str | bytes, run_id: str) -> tuple[str, str | None]:
    """Return a record as it is kept without text, and its summary."""
    document = Document(0, "kept record", raw)
    if document.starts_with(KEPT_START):
        return Run.model_validate_json(raw).textless().as_json(), None
    return result_without_text(document.written, run_id)


def reject_without_text(part: Unreadable) -> Unreadable:
    """Return a reject with only its place and reason.

    For a look-alike the name of its agent, for a missing reader the error, too.
    """
    is_told = part.reason in (RejectReason.LOOK_ALIKE, RejectReason.READER_MISSING)
    return replace(part, detail=part.detail if is_told else NOT_KEPT, excerpt="")
