"""From a run's claim to its verdict.

Measure the run's patch, keep the result as a file, and store it beside the run.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.queries import Row
from app.queries.measured import verdict_of
from app.queries.run_page import patch_of, run_id_of
from app.queries.runs import run as run_row
from app.runner.launch import usual_folder
from app.runner.measure import USUAL_EFFECT, Procedure, Subject, measure, more_runs_needed
from app.text.paired import as_dict, headline, lines
from ingest.pipeline import Options, ingest
from ingest.sources.walking import read_paths
from ingest.store.database import Store
from ingest.store.ingests import IngestOrigin
from ingest.system.command_lines import command_line
from schemas.errors import TachographError, UsageError
from schemas.wire.paired_benchmark import MeasureVerdict, PairedBenchmark


@dataclass(frozen=True)
class MeasuredPatch:
    """What was measured. `file`: None if it ended before anything was compared.

    `claim`: `claim_verdict` and `scope_differs`, if any.

    `problem`: what went wrong after the measurement.
    """

    made: PairedBenchmark
    file: Path | None
    claimed: float | None = None
    claim: Row = field(default_factory=dict)
    problem: str = ""

    @property
    def verdict(self) -> MeasureVerdict:
        """The verdict on the candidate."""
        return headline(self.made)

    def as_dict(self) -> dict[str, Any]:
        """Return the figures for programs."""
        return as_dict(self.made, self.claimed, self.claim.get("claim_verdict")) | {
            "file": str(self.file) if self.file else None
        }

    def words(self) -> list[str]:
        """Return the result in lines of words."""
        effect = self.claimed if self.claimed and self.claimed > 1 else USUAL_EFFECT
        more = (
            more_runs_needed(self.made, effect)
            if self.verdict is MeasureVerdict.INSIDE_NOISE
            else 0
        )
        return list(lines(self.made, self.claimed, self.claim, more))


def subject_of(
    store: Store,
    run: str | None,
    repo: Path,
    baseline: str | None = None,
    candidate: str | None = None,
    patch_file: Path | None = None,
) -> Subject:
    """Return what to measure, from a run or from revisions. Raises UsageError, StoreError."""
    if candidate and patch_file:
        raise UsageError("a candidate and a patch both say what to measure.", "Give one of them.")
    patch = None
    if patch_file:
        try:
            patch = patch_file.read_bytes()
        except OSError as error:
            raise UsageError(f"cannot read {patch_file}: {error.strerror}.") from error
    if run is None:
        if not baseline or not (candidate or patch_file):
            raise UsageError(
                "nothing to measure.",
                "Give RUN, or --baseline REV with --candidate REV or --patch FILE.",
            )
        return Subject(repo, baseline, candidate, patch)
    run_id = run_id_of(store, run)
    found = run_row(store, run_id) or {}
    patch_sha256 = None
    if not candidate and patch is None:
        kept = patch_of(store, run_id)
        if kept is None or kept["is_cut"]:
            why = "is too long to be kept whole" if kept else "is not in the store"
            raise UsageError(
                f"the patch of run {run_id[:12]} {why}.",
                "Give it: --patch FILE, or --candidate REV",
            )
        patch, patch_sha256 = kept["text"].encode(), found["patch_sha256"]
    baseline = baseline or found["base_commit"]
    if not baseline:
        raise UsageError(
            f"the commit that run {run_id[:12]} started from is unknown.", "Give it: --baseline REV"
        )
    return Subject(
        repo,
        baseline,
        candidate,
        patch,
        patch_sha256,
        run_id,
        found["task"],
        found["claimed_speedup"],
    )


def verify(
    store: Store,
    subject: Subject,
    procedure: Procedure,
    keep: Path | None = None,
    origin: IngestOrigin | None = None,
    say: Callable[[str], None] = lambda _: None,
    advance: Callable[[int, int], None] = lambda _done, _total: None,
) -> MeasuredPatch:
    """Measure, keep the result below `keep`, and ingest it.

    Raises UsageError if the baseline cannot be measured, or nothing can be kept.

    If the store cannot be written, the result has the problem, and its file stays.
    """
    folder = (
        keep or usual_folder().with_name("measured")
    ).absolute() / f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%SZ}-{secrets.token_hex(3)}"
    try:
        folder.mkdir(mode=0o700, parents=True)
    except OSError as error:
        raise UsageError(
            f"cannot make {folder}: {error.strerror}.", "Choose another folder with --keep."
        ) from error
    file, made = folder / "tachograph-measure.json", None
    try:
        made = measure(subject, procedure, say, advance)
    finally:
        if made is None or headline(made) is MeasureVerdict.NOT_MEASURED:
            folder.rmdir()
    if headline(made) is MeasureVerdict.NOT_MEASURED:
        return MeasuredPatch(made, None)
    try:
        file.write_text(f"{made.model_dump_json(indent=1)}\n", "utf-8")
    except OSError as error:
        return MeasuredPatch(
            made,
            None,
            subject.claimed,
            problem=f"Not kept: {file} cannot be written: {error.strerror}",
        )
    try:
        ingest(read_paths([file]), store, Options(jobs=1, origin=origin or IngestOrigin()))
        claim = (subject.run_id and verdict_of(store, subject.run_id)) or {}
    except TachographError as error:
        again = command_line(f"ingest {file}", store.location)
        return MeasuredPatch(
            made, file, subject.claimed, problem=f"Not stored: {error.message}. Ingest it: {again}"
        )
    return MeasuredPatch(made, file, subject.claimed, claim)
