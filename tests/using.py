"""Stores with responses of sessions: rows of our own, put there as ingest would."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from ingest.store.database import Store
from schemas.rows.response import ResponseRow
from tests.conftest import ingest_paths, record

LONG_AGO = "2025-12-01T00:00:00Z"


def at(text: str) -> datetime:
    """`2026-02-01 10:15` or with seconds, in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def response(session: str, number: int, time: str | None, **changes: Any) -> ResponseRow:
    """A response of 10 uncached, 20 written, 30 read and 100 output tokens, with changes.

    It costs $0.01.
    """
    fields = {
        "run_id": session,
        "session_id": session,
        "response_id": f"{session}-{number}",
        "at": time and at(time),
        "model_id": "claude-opus-4-6",
        "model": "claude-opus-4-6",
        "input_tokens": 10,
        "cache_write_tokens": 20,
        "cache_read_tokens": 30,
        "output_tokens": 100,
        "cost_list_usd": Decimal("0.01"),
    }
    return ResponseRow(**fields | changes)


def run_of(
    session: str,
    folder: Path,
    store: Store,
    *,
    run_id: str = "",
    time: str | None = LONG_AGO,
    **changes: Any,
) -> None:
    """Ingest a result record of the session, with this id and end time (None: unknown).

    The id is `run_id` or else that of the session.
    """
    ingest_paths(store, log_of(session, folder, run_id=run_id, time=time, **changes))


def log_of(
    session: str, folder: Path, *, run_id: str = "", time: str | None = LONG_AGO, **changes: Any
) -> Path:
    """The log of such a run: those of several are read by one ingest."""
    name = run_id or session
    dated = {"timestamp": time} if time else {}
    lines = [
        {
            "type": "system",
            "subtype": "init",
            "session_id": session,
            "cwd": "/home/me/kernels",
            "model": "claude-opus-4-6",
        }
        | dated
    ]
    result = record(uuid=name, session_id=session, **changes) | dated
    (file := folder / f"{name}.jsonl").write_text(
        "".join(f"{json.dumps(line)}\n" for line in [*lines, result])
    )
    return file


def add(store: Store, responses: Sequence[ResponseRow]) -> None:
    """Put responses into the store; their runs are made of them, as of a transcript."""
    with store.writing() as writer:
        writer.insert("responses", responses)
        writer.connection.execute(_SUMMED)


_SUMMED = """
update runs set
    input_tokens = sums.input_tokens, output_tokens = sums.output_tokens,
    cache_read_tokens = sums.cache_read_tokens, cache_write_tokens = sums.cache_write_tokens,
    cost_list_usd = sums.cost_list_usd, cost_own_usd = null,
    tokens_basis = if(sums.is_final, 'exact', 'lower_bound')
from (
    select
        run_id, sum(input_tokens)::bigint as input_tokens,
        sum(output_tokens)::bigint as output_tokens,
        sum(cache_read_tokens)::bigint as cache_read_tokens,
        sum(cache_write_tokens)::bigint as cache_write_tokens,
        sum(cost_list_usd)::decimal(18, 9) as cost_list_usd, bool_and(output_is_final) as is_final
    from responses group by run_id
) as sums
where runs.run_id = sums.run_id
"""


def uploaded(name: str, content: bytes) -> Any:
    """A file as the framework hands it to a screen."""
    from streamlit.proto.Common_pb2 import FileURLs  # noqa: PLC0415  takes a second
    from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec  # noqa: PLC0415

    return UploadedFile(UploadedFileRec(name, name, "", content), FileURLs())
