"""The folder of a run: its standard output, its patch, and the sidecar that says how it was started and how it ended.

What reads logs is imported when the agent has ended: it starts in a third of the time.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ingest.system.files import temporary_folder
from schemas.errors import RejectReason, UsageError
from schemas.rows.run import Outcome, RecordKind
from schemas.wire.launch import LAUNCH_FILE, RUN_FILE, Launch, outcome_of_process

PRIVATE = 0o600
"""Permissions of the files of a run."""


def usual_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where runs are kept unless somebody says otherwise, by the XDG Base Directory Specification."""
    named = Path(environment.get("XDG_DATA_HOME") or "")
    return (named if named.is_absolute() else Path.home() / ".local" / "share") / "tachograph" / "runs"


def made_folder(keep: Path) -> Path:
    """A new folder for one run. Its name begins with the time, in UTC. Raises UsageError."""
    folder = keep.absolute() / f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%SZ}-{secrets.token_hex(3)}"
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise UsageError(f"cannot make {folder}: {error.strerror}.", "Choose another folder with --keep.") from error
    return folder


class Content(NamedTuple):
    """What is in a log. `runs`: of agents, as an ingest would find; `is_cut`: events of an agent without the result that ends them."""

    runs: int
    is_cut: bool


def content_of(path: Path) -> Content:
    """What is in a log. Nothing is written to a store. Raises OSError."""
    import pyarrow.parquet as pq

    from ingest.reading.tasks import Settings, Task, work
    from ingest.sources.files import Source
    from ingest.sources.walking import read_paths

    sources = tuple(source for source in read_paths([path]) if isinstance(source, Source))
    with tempfile.TemporaryDirectory(dir=temporary_folder()) as spool:
        results = list(work(Task("found", sources), Settings(), Path(spool)))
        ends = [pq.read_table(file, columns=["record_kind", "outcome"]).to_pylist() for file in Path(spool).glob("runs-*.parquet")]
    is_cut = any(reject.reason == RejectReason.NO_RECORD for result in results for reject in result.rejects)
    is_cut |= {"record_kind": RecordKind.STREAM, "outcome": Outcome.INTERRUPTED} in chain.from_iterable(ends)
    return Content(sum(result.records for result in results), is_cut)


def copied(transcripts: Sequence[Path], folder: Path) -> list[Path]:
    """Copies of transcripts beside the sidecar, whose facts hold for them there; those that hold runs. Raises OSError."""
    copies = [folder / path.name for path in transcripts]
    for path, copy in zip(transcripts, copies, strict=True):
        copy.touch(PRIVATE)
        shutil.copyfile(path, copy)
        shutil.copystat(path, copy)
        copy.chmod(PRIVATE)
    return [copy for copy in copies if content_of(copy).runs]


def write_sidecar(folder: Path, launch: Launch) -> None:
    """Write the sidecar and, where no agent left a record, the run by itself. Raises OSError."""
    written = {LAUNCH_FILE: launch.model_dump_json(indent=2, exclude_none=True)}
    if not launch.records:
        written[RUN_FILE] = _run_without_record(launch)
    for name, text in written.items():
        (folder / name).touch(PRIVATE)
        (folder / name).write_text(f"{text}\n", encoding="utf-8")


def _run_without_record(launch: Launch) -> str:
    """What is known without a record: who ran and with which words, how long, and how it ended."""
    from ingest.agents.kept_run import kept

    outcome = outcome_of_process(launch.exit_code or 0, launch.ended_by)
    return kept(
        {
            "run_id": hashlib.sha256(str(launch.tachograph_launch).encode()).hexdigest(),  # no two begin with the same date
            "agent": launch.agent,
            "record_kind": RecordKind.SIDECAR,
            "rank": 0,
            "title": shlex.join(launch.command or []) or None,
            "duration_ms": round((launch.duration_s or 0) * 1000),
            "outcome": outcome,
            "is_error": outcome is Outcome.EXECUTION_ERROR,
            "ended_as": launch.ended_by or f"exit code {launch.exit_code}",
        }
    ).as_json()
